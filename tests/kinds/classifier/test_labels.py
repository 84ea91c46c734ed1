"""Classes stay what they were: whole numbers, numbers and truth values are no texts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import CategoricalNB

import privet as pv
from privet.classifier.predict import PublishedNaiveBayes
from privet.classifier.scorecard import Scorecard
from privet.cli import cli
from privet.release.manifest import digest_content
from privet.release.verify import digest

PROMISE = pv.Promise(pv.Bayesian(), pv.Ceiling("0.9"), name="nobody is sure")
ACCEPT = {"inversion": "a test"}

CLASSES = {
    "integer": [10, 9, -3],
    "number": [2.0, -1.0, 2.0**40],
    "boolean": [True, False],
    "text": ["b", "a", "10"],
}


def rows(classes: list[Any], seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows whose attributes tell something of the class."""
    dice = np.random.default_rng(seed)
    at = np.concatenate([np.arange(len(classes)), dice.integers(0, len(classes), 120)])
    hint = np.where(dice.random(len(at)) < 0.7, at, dice.integers(0, 3, len(at)))
    frame = pd.DataFrame({"hint": hint, "noise": dice.choice(list("ab"), len(at))})
    return frame, np.array(classes)[at]


def written(y: list[Any], place: Path, **extras: Any) -> pv.NaiveBayes:
    model = pv.NaiveBayes().fit(*rows(y))
    release = pv.publish(model, [PROMISE])
    release.write(place / "out", custody=place / "vault", accept=ACCEPT, **extras)
    return model


@pytest.mark.parametrize("kind", CLASSES)
def test_a_published_classifier_scores_as_any_estimator(
    kind: str, tmp_path: Path
) -> None:
    frame, y = rows(CLASSES[kind], 1)
    model = written(CLASSES[kind], tmp_path, counts=True)
    expected = accuracy_score(y, model.predict(frame))
    safe = pv.publish(model, [PROMISE]).classifier()
    for published in (safe, pv.load(tmp_path / "out").classifier(), clone(safe)):
        assert model.classes_.tolist() == published.classes_.tolist()
        assert model.classes_.dtype.kind == published.classes_.dtype.kind
        assert model.predict(frame).tolist() == published.predict(frame).tolist()
        assert y.dtype.kind == published.predict(frame).dtype.kind
        assert expected == published.score(frame, y)
        assert expected == published.score(frame, y.tolist())
        best = published.classes_[published.predict_proba(frame).argmax(axis=1)]
        assert published.predict(frame).tolist() == best.tolist()


@pytest.mark.parametrize("kind", CLASSES)
def test_the_files_say_what_the_classes_are(kind: str, tmp_path: Path) -> None:
    written(CLASSES[kind], tmp_path, counts=True, rows=2000)
    out = tmp_path / "out"
    manifest = json.loads((out / "release.json").read_text())
    assert {"role": "target", "type": kind} == manifest["columns"]["class"]
    for name in ("scorecard.json", "counts.json"):
        stated = json.loads((out / name).read_text())
        assert kind == stated.get("target_type", "text")
    kept = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert kind == kept["counts"].get("target_type", "text")
    assert pv.verify(out, custody=tmp_path / "vault").good


def forge(out: Path, name: str, change: dict[str, Any]) -> None:
    """Change a file, and whatever the manifest says of it."""
    path, stated = out / name, json.loads((out / "release.json").read_text())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    at = [f["path"] for f in stated["files"]].index(name)
    stated["files"][at] |= {"sha256": digest(path), "bytes": path.stat().st_size}
    stated["columns"]["class"]["type"] = change["target_type"]
    stated["digest"] = digest_content(stated)
    (out / "release.json").write_text(json.dumps(stated))


@pytest.mark.parametrize("told", ["text", "number", "boolean", "date"])
def test_another_type_is_found_by_verify(told: object, tmp_path: Path) -> None:
    written(CLASSES["integer"], tmp_path)
    out, vault = tmp_path / "out", tmp_path / "vault"
    forge(out, "scorecard.json", {"target_type": told})
    found = pv.verify(out, custody=vault)
    assert not found.good
    if told in ("text", "number"):  # without the custody record it might be so
        assert pv.verify(out).good
        why = "The custody record must be of this classifier; it is another one's."
        assert why in found.problems
    else:
        assert not pv.verify(out).good


def test_the_manifest_says_what_the_card_says(tmp_path: Path) -> None:
    written(CLASSES["integer"], tmp_path)
    path = tmp_path / "out" / "release.json"
    stated = json.loads(path.read_text())
    stated["columns"]["class"]["type"] = "text"
    stated["digest"] = digest_content(stated)
    path.write_text(json.dumps(stated))
    assert not pv.verify(tmp_path / "out").good


def test_counts_must_be_of_the_card_s_type(tmp_path: Path) -> None:
    written(CLASSES["integer"], tmp_path, counts=True)
    forge(tmp_path / "out", "scorecard.json", {"target_type": "number"})
    found = pv.verify(tmp_path / "out")
    assert ("counts.json must be of the scorecard's classes and values.",) == tuple(
        found.problems
    )


def test_a_card_without_a_type_has_texts(tmp_path: Path) -> None:
    written(CLASSES["integer"], tmp_path)
    stated = json.loads((tmp_path / "out" / "scorecard.json").read_text())
    assert "integer" == stated.pop("target_type")
    old = PublishedNaiveBayes(Scorecard.from_dict(stated))
    assert ["-3", "10", "9"] == old.classes_.tolist()
    for odd in (7, ["integer"], None):
        with pytest.raises(pv.InputError, match="must be a scorecard"):
            Scorecard.from_dict({**stated, "target_type": odd})


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["1", "2"], "integer"),
        (["1.0", "2"], "number"),
        (["True", "False"], "boolean"),
        (["true", "false"], "boolean"),
        (["yes", "no"], "text"),
        (["01", "2"], "text"),
        (["2020-01-01", "2021-01-01"], "text"),
        (["1e400", "2"], "text"),
        ([str(2**70), "2"], "text"),
    ],
)
@pytest.mark.engines
def test_a_file_s_target_has_the_type_of_its_values(
    labels: list[str], told: str, tmp_path: Path
) -> None:
    frame, y = rows(labels)
    path = tmp_path / "people.csv"
    frame.assign(got=y).to_csv(path, index=False)
    with pv.read(path, quasi=["hint", "noise"], target="got") as table:
        model = pv.NaiveBayes().fit_table(table)
    assert told == model.views_.target_type
    again = pd.read_csv(path, dtype=None if told != "text" else str)
    plain = pv.NaiveBayes().fit(again[["hint", "noise"]], again["got"])
    assert plain.classes_.tolist() == model.classes_.tolist()
    assert plain.class_count_.tolist() == model.class_count_.tolist()
    assert plain.score(frame, again["got"]) == model.score(frame, again["got"])


@pytest.mark.engines
@pytest.mark.parametrize("kind", ["integer", "number", "boolean"])
def test_the_command_keeps_the_type_of_the_target(kind: str, tmp_path: Path) -> None:
    frame, y = rows(CLASSES[kind])
    frame.assign(got=y).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "policy.toml").write_text(
        '[columns]\nquasi = ["hint", "noise"]\ntarget = "got"\n'
        '[[promise]]\nagainst = "bayesian"\nat_most = 0.9\n'
        '[[accepted]]\nof = "inversion"\nwhy = "a test"\nwho = "S"\n'
    )
    asked = ["-p", tmp_path / "policy.toml", "-o", tmp_path / "out"]
    asked += ["--custody", tmp_path / "vault"]
    found = CliRunner().invoke(
        cli, ["classifier", *map(str, [tmp_path / "people.csv", *asked])]
    )
    assert 0 == found.exit_code, found.output
    published = pv.load(tmp_path / "out").classifier()
    again = pd.read_csv(tmp_path / "people.csv")
    assert sorted(CLASSES[kind]) == published.classes_.tolist()
    model = pv.NaiveBayes().fit(frame, y)
    assert model.score(frame, y) == published.score(frame, again["got"])


def test_a_prior_and_a_precedence_go_by_the_classes() -> None:
    frame, y = rows([10, 9, -3])
    setting = {"class_prior": [0.2, 0.3, 0.5], "precedence": [9]}
    model = pv.NaiveBayes(**setting).fit(frame, y)
    with pv.read(frame.assign(got=y), quasi=["hint", "noise"], target="got") as table:
        there = pv.NaiveBayes(**setting).fit_table(table)
    assert [-3, 9, 10] == there.classes_.tolist()
    assert "9" == there.views_.precedence[0]
    assert np.allclose(model.predict_proba(frame), there.predict_proba(frame))


@pytest.mark.parametrize("kind", ["integer", "number", "boolean", "text"])
def test_the_classes_of_categorical_nb_stay(kind: str) -> None:
    frame, y = rows(CLASSES[kind])
    matrix = frame.assign(noise=frame["noise"].map({"a": 0, "b": 1})).to_numpy()
    theirs = CategoricalNB().fit(matrix, y)
    ours = pv.NaiveBayes.from_sklearn(theirs)
    safe = pv.publish(theirs, [PROMISE]).classifier()
    for model in (ours, safe):
        assert theirs.classes_.tolist() == model.classes_.tolist()
        assert theirs.predict(matrix).tolist() == model.predict(matrix).tolist()


@pytest.mark.parametrize("seed", range(25))
def test_whatever_the_numbers_are(seed: int) -> None:
    dice = random.Random(seed)
    draw = dice.choice([lambda: dice.randint(-200, 200), lambda: dice.uniform(-9, 9)])
    classes = sorted({round(draw()) * dice.choice([1, 1.0]) for _ in range(4)})
    if len(classes) < 2:
        classes = [0, 1]
    frame, y = rows(classes, seed)
    model = pv.NaiveBayes().fit(frame, y)
    safe = pv.publish(model, [PROMISE]).classifier()
    assert model.predict(frame).tolist() == safe.predict(frame).tolist()
    assert model.score(frame, y) == safe.score(frame, y)


@pytest.mark.parametrize("kind", ["integer", "number", "boolean", "text"])
def test_counts_by_hand_have_classes_of_any_type(kind: str, tmp_path: Path) -> None:
    first, second = CLASSES[kind][:2]
    counts = {"home": {"W": {first: 3, second: 1}, "P": {first: 1, second: 4}}}
    views = pv.ClassifierViews.from_counts(
        {first: 4, second: 5}, counts, precedence=[second]
    )
    assert kind == views.target_type
    release = pv.publish(views.smoothed(), [PROMISE])
    release.write(tmp_path / "out", custody=tmp_path / "vault", accept=ACCEPT)
    found = pv.load(tmp_path / "out").classifier()
    assert [first, second] == found.predict([["W"], ["P"]]).tolist()


def test_classes_that_are_no_numbers_are_refused() -> None:
    counts = {"a": {"x": {"1": 1, "1.0": 1}}}
    views = pv.ClassifierViews.from_counts({"1": 1, "1.0": 1}, counts).to_dict()
    for told, why in [
        ("number", "must differ"),
        ("boolean", "must be written as such"),
        ("date", "must be text, integer"),
    ]:
        with pytest.raises(pv.InputError, match=why):
            pv.ClassifierViews.from_dict(views | {"target_type": told})


# Rows without a class ---------------------------------------------------------------


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(6))
def test_rows_without_a_class_are_left_out(seed: int) -> None:
    frame, y = rows(["a", "b", "c"], seed)
    dice = np.random.default_rng(seed)
    one = pd.Series(np.where(dice.random(len(y)) < 0.2, None, y), dtype=object)
    two = pd.Series(dice.choice(["x", "y", None], len(y), p=[0.5, 0.4, 0.1]))
    whole = frame.assign(one=one, two=two)
    for target in ("one", ["one", "two"]):
        gone = whole[target].isna()
        gone = gone if gone.ndim == 1 else gone.any(axis=1)
        asked = {"quasi": ["hint", "noise"], "target": "one", "other": "two"}
        with pv.read(whole, **asked) as table, pv.read(whole[~gone], **asked) as kept:
            with pytest.raises(pv.InputError, match="drop_missing_target=True"):
                pv.NaiveBayes().fit_table(table, target=target)
            model = pv.NaiveBayes().fit_table(
                table, target=target, drop_missing_target=True
            )
            plain = pv.NaiveBayes().fit_table(kept, target=target)
        told = model.views_.to_dict()
        assert gone.sum() == told.pop("dropped") == model.views_.dropped
        assert plain.views_.to_dict() == told
