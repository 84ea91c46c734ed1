"""NaiveBayes is a scikit-learn classifier, and counts as one does by hand."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import privet as pv


@parametrize_with_checks([pv.NaiveBayes(), pv.NaiveBayes(alpha=0)])
def test_scikit_learn_s_own_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def people(seed: int, rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    dice = random.Random(seed)
    frame = pd.DataFrame(
        {
            "home": [dice.choice(["W", "P", None]) for _ in range(rows)],
            "age": [dice.choice([30, 40, 50]) for _ in range(rows)],
            "job": [dice.choice("abcd") for _ in range(rows)],
        }
    )
    return frame, np.array([dice.choice(["x", "y", "z"]) for _ in range(rows)])


@pytest.mark.parametrize("seed", range(20))
def test_it_predicts_as_categorical_nb_does(seed: int) -> None:
    dice = np.random.default_rng(seed)
    matrix, y = dice.integers(0, 4, (80, 4)), dice.integers(0, 3, 80)
    theirs = CategoricalNB().fit(matrix, y)
    ours = pv.NaiveBayes().fit(matrix, y)
    assert ours.predict_proba(matrix) == pytest.approx(theirs.predict_proba(matrix))
    from_theirs = pv.NaiveBayes.from_sklearn(theirs)
    assert (from_theirs.predict(matrix) == ours.predict(matrix)).all()
    assert from_theirs.predict_proba(matrix) == pytest.approx(
        theirs.predict_proba(matrix)
    )


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("alpha", [0, "1/2", 1])
def test_predictions_are_the_exact_best(seed: int, alpha: object) -> None:
    frame, y = people(seed)
    model = pv.NaiveBayes(alpha=alpha).fit(frame, y)
    for row, label in zip(frame.to_dict("records"), model.predict(frame), strict=True):
        known = {c: None if pd.isna(v) else str(v) for c, v in row.items()}
        assert label == model.views_.predict(known)


def test_ties_go_to_the_first_unless_told_otherwise() -> None:
    rows, y = [["a"], ["a"]], ["no", "yes"]
    assert ["no"] == pv.NaiveBayes().fit(rows, y).predict([["a"]])
    model = pv.NaiveBayes(precedence=["yes"]).fit(rows, y)
    assert ["yes"] == model.predict([["a"]])


def test_unseen_values_tell_nothing() -> None:
    frame, y = people(1)
    model = pv.NaiveBayes().fit(frame, y)
    one = frame.iloc[[0]].assign(job="never seen")
    known = {"home": frame["home"][0], "age": str(frame["age"][0])}
    known = {c: None if pd.isna(v) else v for c, v in known.items()}
    shares = model.views_.posterior(known)
    assert [float(shares[c]) for c in model.classes_] == pytest.approx(
        model.predict_proba(one)[0]
    )


def test_missing_is_a_value() -> None:
    model = pv.NaiveBayes().fit([["a"], [None], [None]], [0, 1, 1])
    assert [1] == model.predict([[None]])
    assert (None,) == model.views_.attributes[0].values[-1:]


@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up(seed: int) -> None:
    frame, y = people(seed)
    whole = pv.NaiveBayes().fit(frame, y)
    parts = pv.NaiveBayes()
    for part in np.array_split(np.arange(len(y)), 4):
        parts.partial_fit(frame.iloc[part], y[part], classes=["x", "y", "z"])
    assert whole.views_.to_dict() == parts.views_.to_dict()


def test_weights_count_as_rows_do() -> None:
    frame, y = people(3)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    a = pv.NaiveBayes().fit(frame.iloc[repeated], y[repeated])
    b = pv.NaiveBayes().fit(frame, y, sample_weight=times)
    assert a.views_.to_dict() == b.views_.to_dict()


def test_half_rows_are_fractions() -> None:
    model = pv.NaiveBayes().fit([["a"], ["b"]], ["x", "y"], sample_weight=[0.5, 1])
    assert {Fraction(1, 2), 1} == set(model.views_.sizes)


@pytest.mark.engines
@pytest.mark.parametrize("seed", range(4))
def test_a_table_counts_as_its_rows_do(seed: int) -> None:
    frame, y = people(seed)
    model = pv.NaiveBayes().fit(frame, y)
    with pv.read(
        frame.assign(pay=y), quasi=["home", "age", "job"], target="pay"
    ) as table:
        there = pv.NaiveBayes().fit_table(table)
    assert (model.predict(frame) == there.predict(frame)).all()
    assert model.predict_proba(frame) == pytest.approx(there.predict_proba(frame))


@pytest.mark.engines
def test_bins_are_the_same_everywhere() -> None:
    frame, y = people(2)
    model = pv.NaiveBayes(bins={"age": [35, 45]}).fit(frame, y)
    assert ("below 35", "35 to below 45", "45 and more") == tuple(
        v for v in model.views_.attributes[1].values
    )
    with pv.read(
        frame.assign(pay=y),
        quasi=["home", "age", "job"],
        target="pay",
        bins={"age": [35, 45]},
    ) as table:
        there = pv.NaiveBayes().fit_table(table)
    assert (model.predict(frame) == there.predict(frame)).all()


def test_several_classes_are_joined() -> None:
    y = np.array([["a", "1"], ["b", "2"], ["a", "2"]])
    model = pv.NaiveBayes().fit([["p"], ["q"], ["r"]], y)
    assert ["a + 1", "a + 2", "b + 2"] == model.classes_.tolist()


def test_it_goes_where_estimators_go() -> None:
    frame, y = people(5)
    model = pv.NaiveBayes(class_prior=["1/2", "1/4", "1/4"]).fit(frame, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(frame) == model.predict(frame)).all()
    assert clone(model).get_params() == model.get_params()
    pipe = make_pipeline(FunctionTransformer(), pv.NaiveBayes()).fit(frame, y)
    assert len(y) == len(pipe.predict(frame))
    search = GridSearchCV(pv.NaiveBayes(), {"alpha": [0, 1, 2]}, cv=3).fit(frame, y)
    assert search.best_params_["alpha"] in (0, 1, 2)
    assert (model.predict(pl.from_pandas(frame)) == model.predict(frame)).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -1}, "alpha must not be negative"),
        ({"class_prior": [1]}, "class_prior must be a positive number for every class"),
        ({"precedence": ["q"]}, "precedence must hold classes"),
        ({"bins": {"nope": [1]}}, "bins must be of columns"),
    ],
)
def test_nonsense_is_refused(options: dict[str, object], words: str) -> None:
    frame, y = people(1)
    with pytest.raises(pv.InputError, match=words):
        pv.NaiveBayes(**options).fit(frame, y)


WITHOUT = """
import sys
sys.modules["sklearn"] = None
import privet as pv
try:
    pv.NaiveBayes()
except pv.MissingExtra as error:
    print(error)
print(pv.ClassifierViews.from_counts({"a": 1}, {"x": {"1": {"a": 1}}}).predict({}))
"""


def test_without_scikit_learn_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert "" == done.stderr
    assert "pip install 'privet[learn]'" in done.stdout
    assert done.stdout.endswith("\na\n")


@pytest.mark.engines
@pytest.mark.parametrize(
    "setting",
    [
        {"bins": {"age": [35, 55]}},
        {"class_prior": [0.9, 0.1]},
        {"precedence": ["b"]},
        {"alpha": 0},
        {"alpha": "1/2", "bins": {"age": [35]}, "class_prior": ["1/4", "3/4"]},
    ],
)
def test_a_table_is_counted_as_a_frame_is(setting: dict[str, object]) -> None:
    frame = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "y": list("aabbab")})
    with pv.read(frame, quasi=["age"], target="y") as table:
        counted = pv.NaiveBayes(**setting).fit_table(table)
    fitted = pv.NaiveBayes(**setting).fit(frame[["age"]], frame["y"])
    assert fitted.views_.cells == counted.views_.cells
    assert fitted.views_.prior == counted.views_.prior
    assert fitted.views_.attributes[0].values == counted.views_.attributes[0].values
    found = counted.predict_proba(frame[["age"]])
    assert np.allclose(fitted.predict_proba(frame[["age"]]), found)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"alpha": -1}, "must not be negative"),
        ({"bins": [3]}, "bins must be edges per column"),
        ({"bins": {"nope": [3]}}, "nope"),
        ({"class_prior": [1]}, "class_prior must be a positive number"),
    ],
)
def test_a_table_is_refused_what_a_frame_is(
    setting: dict[str, object], said: str
) -> None:
    frame = pd.DataFrame({"age": [20, 30], "y": list("ab")})
    with (
        pv.read(frame, quasi=["age"], target="y") as table,
        pytest.raises(pv.InputError, match=said),
    ):
        pv.NaiveBayes(**setting).fit_table(table)
