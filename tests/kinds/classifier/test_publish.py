"""A published classifier: written whole, read back, judged, proved, and attacked."""

from __future__ import annotations

import json
import random
import stat
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB

import privet as pv
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from oracle.test_limited_knowledge import Attacker, random_case
from oracle.test_safety import every_row
from privet.classifier.transforms.r_closeness import balance_classes

PROMISE = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.7"), name="no mind is moved")


def adults(seed: int = 0, rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    dice = np.random.default_rng(seed)
    age, job = dice.integers(2, 8, rows) * 10, dice.choice(list("abc"), rows)
    rich = dice.random(rows) < (age / 100 + (job == "a") / 4)
    home = dice.choice(["W", "P"], rows).astype(object)
    home[::17] = None
    frame = pd.DataFrame({"age": age, "job": job, "home": home})
    return frame, np.where(rich, "rich", "poor")


@pytest.fixture
def model() -> pv.NaiveBayes:
    return pv.NaiveBayes().fit(*adults())


def test_the_journey(model: pv.NaiveBayes, tmp_path: Path) -> None:
    frame, _ = adults(1)
    safe = pv.publish(model, [PROMISE])
    assert (model.predict(frame) == safe.classifier().predict(frame)).all()
    safe.write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    loaded = pv.load(tmp_path / "out")
    assert (model.predict(frame) == loaded.classifier().predict(frame)).all()
    assert pv.verify(tmp_path / "out").good
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    assert pv.audit(loaded, [PROMISE]).safe
    assert loaded.exponent is None
    assert "flattened" in (tmp_path / "out" / "README.txt").read_text()


def test_probabilities_are_flattened_not_reordered(model: pv.NaiveBayes) -> None:
    frame, _ = adults(2)
    safe = pv.publish(model, [PROMISE]).classifier()
    before, after = model.predict_proba(frame)[:, 0], safe.predict_proba(frame)[:, 0]
    assert np.abs(after - 0.5).max() < np.abs(before - 0.5).max()
    apart = np.abs(before[:, None] - before[None, :]) > 1e-9
    order = np.sign(before[:, None] - before[None, :])
    assert (order == np.sign(after[:, None] - after[None, :]))[apart].all()


@pytest.mark.engines
@pytest.mark.parametrize(
    "extras", [{"counts": True}, {"rows": 500}, {"rows": 700, "views": True}]
)
def test_everything_that_is_written_keeps_the_promise(
    model: pv.NaiveBayes, tmp_path: Path, extras: dict[str, object]
) -> None:
    safe = pv.publish(model, [PROMISE])
    safe.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        **extras,
    )
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    names = {p.name for p in (tmp_path / "out").iterdir()}
    if "views" in extras:
        assert {"view-01.parquet", "view-02.parquet", "view-03.parquet"} <= names
        frame = pd.read_parquet(tmp_path / "out" / "view-01.parquet")
        assert ["age", "class"] == list(frame.columns)
        assert 700 == len(frame)


def many_attributes(number: int) -> pv.ClassifierViews:
    dice = random.Random(0)
    told = {}
    for i in range(number):
        first = {"a": dice.randint(1, 39), "b": dice.randint(1, 42)}
        rest = {"a": 40 - first["a"], "b": 43 - first["b"]}
        told[f"x{i:02}"] = {"0": first, "1": rest}
    return pv.ClassifierViews.from_counts({"a": 40, "b": 43}, told).smoothed()


@pytest.mark.parametrize("number", [38, 39, 40])
def test_counts_are_written_or_too_long(number: int, tmp_path: Path) -> None:
    """Of 39 attributes they have 13,592 bits: more digits than anybody reads back."""
    release = pv.publish(many_attributes(number), [PROMISE])
    where = {"custody": tmp_path / "vault", "accept": {"inversion": "a test"}}
    if number == 38:
        release.write(tmp_path / "out", counts=True, **where)
        assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
        return
    with pytest.raises(pv.InputError, match="must have at most 13,287 bits"):
        release.write(tmp_path / "out", counts=True, **where)
    assert not (tmp_path / "out").exists()
    release.write(tmp_path / "out", **where)
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_read_back_under_every_promise(seed: int, tmp_path: Path) -> None:
    dice, _, _, views = random_case(seed)
    against = dice.choice([pv.Bayesian(averaging="worlds"), pv.Bayesian(), None])
    against = Attacker(dice, views).adversary if against is None else against
    promise = pv.Promise(against, pv.Ceiling(Fraction(dice.randint(13, 19), 20)))
    bits = dice.choice([None, dice.randint(1, 8)])
    try:
        release = pv.publish(views, promise, method=pv.SafetyTransform(bits=bits))
    except pv.Infeasible:
        return
    accept = {"inversion": "a test"}
    release.write(tmp_path / "o", custody=tmp_path / "v", counts=True, accept=accept)
    assert pv.verify(tmp_path / "o", custody=tmp_path / "v").good


def test_the_private_numbers_stay_in_custody(
    model: pv.NaiveBayes, tmp_path: Path
) -> None:
    safe = pv.publish(model, [PROMISE])
    safe.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        counts=True,
    )
    kept = tmp_path / "vault" / "custody.json"
    assert 0o600 == stat.S_IMODE(kept.stat().st_mode)
    record = json.loads(kept.read_text())
    assert str(safe.exponent) == record["certificate"]["exponent"]
    public = "".join(
        p.read_text() for p in (tmp_path / "out").iterdir() if p.suffix != ".parquet"
    )
    assert str(safe.exponent) not in public
    assert '"exponent"' not in public
    assert '"smoothing": "1"' not in public


@pytest.mark.parametrize("change", ["points", "base", "scale", "rule", "form"])
def test_a_forged_card_is_refused(
    model: pv.NaiveBayes, tmp_path: Path, change: str
) -> None:
    pv.publish(model, [PROMISE]).write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    path = tmp_path / "out" / "scorecard.json"
    card = json.loads(path.read_text())
    if change == "points":
        card["attributes"][0]["values"][0]["points"][0] += len(card["classes"])
    elif change == "rule":
        card["rule"] = dict.fromkeys(card["classes"], 0)
    elif change == "base":
        card["base"][card["classes"][0]] += 1
    else:
        card[change] = 7
    path.write_text(json.dumps(card))
    assert not pv.verify(tmp_path / "out").good
    with pytest.raises(pv.InputError, match="digest differs"):
        pv.load(tmp_path / "out")
    from privet.release.verify import digest

    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    manifest["files"][0]["sha256"] = digest(path)
    (tmp_path / "out" / "release.json").write_text(json.dumps(manifest))
    assert not pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [
        ("out/counts.json", ["cells", 0, 0, 0], "x"),
        ("out/counts.json", ["cells"], None),
        ("out/counts.json", ["sizes"], [[]]),
        ("out/counts.json", ["attributes", 0], {}),
        ("out/release.json", ["files", 0, "path"], "9" * 5000),
        ("vault/custody.json", ["certificate", "shifts"], [1]),
        ("vault/custody.json", ["certificate", "shifts"], [[], []]),
        ("vault/custody.json", ["certificate", "jitter"], 10),
        ("vault/custody.json", ["counts", "cells", 0, 0, 0], 10**6),
        ("vault/custody.json", ["counts", "labels"], ["rich"]),
        ("vault/custody.json", ["prepared", "cells", 0, 0, 0], 10**6),
        ("vault/custody.json", ["method"], 7),
    ],
)
def test_nonsense_in_files_is_refused_in_words(
    model: pv.NaiveBayes, tmp_path: Path, file: str, path: list[object], value: object
) -> None:
    from privet.release.manifest import digest_content
    from privet.release.verify import digest

    safe = pv.publish(model, [PROMISE])
    safe.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        counts=True,
    )
    place = tmp_path / file
    content = json.loads(place.read_text())
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    place.write_text(json.dumps(content))
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    if file == "out/counts.json":  # the forger mends the digest, too
        manifest["files"][1]["sha256"] = digest(place)
        manifest["files"][1]["bytes"] = place.stat().st_size
        manifest["digest"] = digest_content(manifest)
        (tmp_path / "out" / "release.json").write_text(json.dumps(manifest))
        with pytest.raises(pv.InputError, match=r"counts.json must be counts"):
            pv.load(tmp_path / "out")
    if file == "out/release.json":
        with pytest.raises(pv.InputError, match=r"files of release.json must be as"):
            pv.verify(tmp_path / "out", custody=tmp_path / "vault")
        return
    checked = pv.verify(tmp_path / "out", custody=tmp_path / "vault")
    assert not checked.good
    assert checked.problems


def test_nothing_is_written_over(model: pv.NaiveBayes, tmp_path: Path) -> None:
    safe = pv.publish(model, [PROMISE])
    safe.write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    with pytest.raises(pv.InputError, match="must not exist yet"):
        safe.write(
            tmp_path / "out", custody=tmp_path / "other", accept={"inversion": "a test"}
        )
    with pytest.raises(pv.InputError, match="belongs to another"):
        safe.write(
            tmp_path / "new", custody=tmp_path / "vault", accept={"inversion": "a test"}
        )
    with pytest.raises(pv.InputError, match="must not be inside"):
        safe.write(
            tmp_path / "new",
            custody=tmp_path / "new" / "vault",
            accept={"inversion": "a test"},
        )
    safe.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        replace=True,
    )
    assert {"out", "vault"} == {p.name for p in tmp_path.iterdir()}


def with_noise(
    model: pv.NaiveBayes, epsilon: object, **more: object
) -> pv.DifferentialPrivacy:
    """Noise on the values that occur, as if they were declared."""
    views = model.views_
    domain = {a.name: a.values for a in views.attributes} | {"class": views.labels}
    return pv.DifferentialPrivacy(epsilon, domain=domain, **more)


def test_a_seeded_release_is_not_publishable(
    model: pv.NaiveBayes, tmp_path: Path
) -> None:
    noise = with_noise(model, 1, seed=1)
    safe = pv.publish(model, [PROMISE], method=pv.SafetyTransform(privacy=noise))
    with pytest.raises(pv.InputError, match="seed must not be published"):
        safe.write(
            tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
        )
    assert [] == list(tmp_path.iterdir())


def test_noise_first_predicts_as_the_noisy_counts_do(model: pv.NaiveBayes) -> None:
    method = pv.SafetyTransform(privacy=with_noise(model, "1/2", seed=5))
    safe = pv.publish(model, [PROMISE], method=method)
    scores = safe.made.views.scores
    assert safe.made.views.cells != model.views_.cells
    for known in every_row(scores):
        assert scores.ranking(known) == safe.card.ranking(known)


def test_categorical_nb_is_published_too() -> None:
    dice = np.random.default_rng(3)
    matrix, y = dice.integers(0, 4, (200, 3)), dice.integers(0, 3, 200)
    model = CategoricalNB().fit(matrix, y)
    safe = pv.publish(model, [PROMISE]).classifier()
    assert (safe.predict(matrix) == model.predict(matrix)).all()


@pytest.mark.parametrize("seed", range(12))
def test_written_and_read_back_every_ranking_is_the_same(
    seed: int, tmp_path: Path
) -> None:
    sizes, cells = random_views(random.Random(seed))
    views = named(sizes, cells)
    made = pv.publish(views, [PROMISE])
    made.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept={"inversion": "a test"},
        counts=True,
    )
    loaded, original = pv.load(tmp_path / "out"), made.made.views.scores
    for known in every_row(original):
        assert original.ranking(known) == loaded.card.ranking(known)


def test_one_class_is_nothing_to_publish() -> None:
    views = pv.ClassifierViews.from_counts({"a": 2}, {"x": {"1": {"a": 2}}})
    assert 1 == pv.belief(views, pv.Bayesian()).posterior
    with pytest.raises(pv.InputError, match="must tell classes apart"):
        pv.publish(views, [PROMISE])


def test_one_class_has_nothing_to_balance() -> None:
    views = pv.ClassifierViews.from_counts({"a": 2}, {"x": {"1": {"a": 2}}})
    assert ([0.0], 0.0) == balance_classes(views.scores)


# The red team -----------------------------------------------------------------------


def test_the_inverter_recovers_the_sixteen_rows() -> None:
    """The example of the specification: all counts, from ratios to a power alone."""
    views = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
    safe = pv.publish(views.smoothed(), [PROMISE])
    found = pv.Inverter({"c0": 7, "c1": 9}).attack(safe)
    assert float(safe.exponent) == pytest.approx(found.exponent, rel=1e-4)
    assert 1 == found.right(views)


def test_fewer_bits_and_noise_leave_the_inverter_less() -> None:
    model = pv.NaiveBayes().fit(*adults(rows=3000))
    sizes = dict(zip(model.views_.labels, model.views_.sizes, strict=True))

    def recovered(**options: object) -> Fraction:
        safe = pv.publish(model, [PROMISE], method=pv.SafetyTransform(**options))
        return pv.Inverter(sizes).attack(safe).right(model.views_)

    precise = recovered()
    assert Fraction(1, 3) <= precise
    assert recovered(bits=10) < precise
    assert recovered(privacy=with_noise(model, "1/10", seed=3)) < precise


def test_the_inverter_must_know_every_class(model: pv.NaiveBayes) -> None:
    safe = pv.publish(model, [PROMISE])
    with pytest.raises(pv.InputError, match="class_sizes must name every class"):
        pv.Inverter({"rich": 3}).attack(safe)


def test_another_column_is_not_taken_for_a_missing_one(model: pv.NaiveBayes) -> None:
    frame, _ = adults(1)
    shown = pv.publish(model, [PROMISE]).classifier()
    moved = frame[["home", "age", "job"]].assign(more=1)
    assert list(shown.predict(frame)) == list(shown.predict(moved))
    with pytest.raises(pv.InputError, match=r"'home'; there is no 'home'\.$"):
        shown.predict(frame.rename(columns={"home": "town"}))


def test_names_are_free_where_an_array_was_learnt_from() -> None:
    frame, y = adults()
    codes = frame.fillna("").apply(lambda c: c.astype("category").cat.codes)
    shown = pv.publish(CategoricalNB().fit(codes.to_numpy(), y), [PROMISE]).classifier()
    assert list(shown.predict(codes.to_numpy())) == list(shown.predict(codes))


def test_the_note_has_the_limit(model: pv.NaiveBayes, tmp_path: Path) -> None:
    pv.publish(model, [PROMISE]).write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    told = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert "- no mind is moved: not from below 51 % to 70 % or back; the worst" in told
