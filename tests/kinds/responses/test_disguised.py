"""Learning from disguised records: what is odd is refused, and clones keep learning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import privet as pv

RNG = np.random.default_rng(0)
TRUE = pd.DataFrame({"a": RNG.integers(0, 2, 400), "b": RNG.integers(0, 2, 400)})
TRUE["y"] = (RNG.random(400) < 0.2 + 0.6 * TRUE["a"]).astype(int)
DISGUISE = pv.RandomizedResponse(truth=0.9, seed=1)
SEEN = DISGUISE.fit_transform(TRUE)
X, Y = SEEN[["a", "b"]], SEEN["y"]


def learner(**more: object) -> pv.DisguisedNaiveBayes:
    return pv.DisguisedNaiveBayes(DISGUISE, **more)


def public() -> pv.DisguisedNaiveBayes:
    return learner(public_class=True)


ODD: dict[str, tuple[str, Callable[[], object]]] = {
    "labels too few": ("as many", lambda: learner().fit(X, Y[:9])),
    "no records": ("there are none", lambda: learner().fit(X[:0], Y[:0])),
    "no name": ("must have a name", lambda: learner().fit(X, Y.to_numpy())),
    "no name of a test": (
        "must have a name",
        lambda: pv.score_disguised(learner().fit(X, Y), X, Y.to_numpy(), DISGUISE),
    ),
    "another name": ("must be a question", lambda: learner().fit(X, Y.rename("Y"))),
    "another class": (
        "that was learnt",
        lambda: learner().fit(X, Y).score_disguised(X, Y.rename("b")),
    ),
    "not public": ("no question", lambda: learner(public_class=True).fit(X, Y)),
    "one class": ("at least two", lambda: public().fit(X, [1] * 400)),
    "labels missing": ("missing", lambda: public().fit(X, pd.Series([None] * 400))),
    "a label missing": ("missing", lambda: public().fit(X, [np.nan, *[1.0] * 399])),
    "smoothing": ("smoothing", lambda: learner(smoothing=-1).fit(X, Y)),
    "smoothing nan": ("smoothing", lambda: learner(smoothing=np.nan).fit(X, Y)),
    "not learnt": ("learnt first", lambda: learner().predict(X)),
    "nothing to score": (
        "records",
        lambda: learner().fit(X, Y).score_disguised(X[:0], Y[:0]),
    ),
    "no classifier": ("predict", lambda: pv.score_disguised(object(), X, Y, DISGUISE)),
    "no design": ("must be a Design", lambda: pv.DisguisedNaiveBayes().fit(X, Y)),
    "a label missing in the test": (
        "must not be missing",
        lambda: learner().fit(X, Y).score_disguised(X, Y.where(Y.index > 3)),
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_input_is_refused(name: str) -> None:
    words, work = ODD[name]
    with pytest.raises((pv.InputError, pv.EmptyTable), match=words):
        work()


def test_a_clone_knows_how_its_records_were_disguised() -> None:
    found = clone(learner()).fit(X, Y)
    assert (found.predict(X) == learner().fit(X, Y).predict(X)).all()
    scores = cross_val_score(learner(), X, Y, cv=3)
    assert scores.mean() > 0.6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = 5", "title of a design must be text"),
        ('one_of = "yes"', "true or false"),
        ("", "instead of question 1 must come with replace"),
    ],
)
def test_keys_of_a_design_are_of_their_kind(
    tmp_path: Path, text: str, words: str
) -> None:
    question = '[[question]]\nname = "a"\nvalues = ["0", "1"]\ntruth = 0.8\n'
    more = "" if text else "instead = [0.5, 0.5]\n"
    path = tmp_path / "d.toml"
    path.write_text(f"{text}\n{question}{more}")
    with pytest.raises(pv.InputError, match=words):
        pv.Design.load(path)
    path.write_text("\ufeff" + question, encoding="utf-8")  # as some editors save it
    assert ("a",) == pv.Design.load(path).columns
    with pytest.raises(pv.InputError, match="must be a file"):
        pv.Design.load(tmp_path)
