"""What a promise costs a classifier of more than two classes: two rules, one table.

    python studies/many_classes.py

Adult, one column after another as the class, predicted from the others. The gain rule
looks at the odds of two classes; the search finds the largest exponent that is safe.
Prints a table, in seconds. PRIVET_DATA names the folder of the UCI files; without it
the study says so and ends.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
import pandas as pd
import uci

import classifier
import privet as pv

LIMIT = pv.Shift("0.5", "0.8")
GAIN = 4
"""The odds of two classes that surely keep it: 0.8 (1 - 0.5) / (0.5 (1 - 0.8))."""
TARGETS = uci.sized(("race", "relationship", "marital-status", "workclass"), ("race",))
FROM = ("age", "education", "occupation", "sex", "hours-per-week", "income")


@dataclass(frozen=True)
class Line:
    """One class column: exponents and log losses of both rules."""

    target: str
    classes: int
    gain: float
    """The exponent of the gain rule."""
    tight: float
    """The exponent of the release."""
    before: float
    """Log loss of the original on test rows."""
    by_gain: float
    """The same by the gain rule."""
    by_search: float
    """The same of the release."""
    same: bool
    """Whether every test row is predicted as before."""


def measured(target: str, train: pd.DataFrame, test: pd.DataFrame) -> Line:
    """Publish one classifier, and see what is left by either rule."""
    names = [c for c in FROM if c != target]
    bins = {k: v for k, v in classifier.BINS.items() if k in names}
    model = pv.NaiveBayes(bins=bins).fit(train[names], train[target].to_numpy())
    known = pv.Accepted(of="inversion", why="it is studied", who="the reader")
    promise = pv.Promise(pv.Bayesian(), LIMIT)
    safe = pv.publish(model, pv.Policy([promise], accepted=[known]))
    assert safe.exponent is not None
    assert safe.made is not None
    gain = log2(GAIN) / worst_odds(safe.made.views.scores)
    matrix, truth = test[names], test[target].to_numpy()
    shares = model.predict_proba(matrix)
    published = safe.classifier()
    return Line(
        target,
        len(model.classes_),
        gain,
        float(safe.exponent),
        log_loss(truth, shares, model.classes_, 1.0),
        log_loss(truth, shares, model.classes_, gain),
        log_loss(truth, published.predict_proba(matrix), published.classes_, 1.0),
        bool((published.predict(matrix) == model.predict(matrix)).all()),
    )


def worst_odds(scores: Any) -> float:
    """The worst odds of two classes, in doublings."""
    found = np.subtract.outer(scores.log_weights, scores.log_weights)
    for table in scores.log_factors:
        found = found + (table[:, :, None] - table[:, None, :]).max(axis=0)
    np.fill_diagonal(found, 0)
    return float(found.max())


def log_loss(truth: Any, shares: Any, classes: Any, power: float) -> float:
    """The mean of -ln p of what is true, beliefs raised to a power."""
    raised = shares**power
    raised /= raised.sum(axis=1, keepdims=True)
    at = np.searchsorted(classes, truth)
    return float(-np.log(raised[np.arange(len(at)), at]).mean())


def main() -> int:
    """Run the study and print its table."""
    folder = uci.find_checked()
    if folder is None:
        return 0
    train, test = classifier.rows(folder)
    print("class            K  exponent: gain  search  log loss: before   gain  search")
    for target in TARGETS:
        x = measured(target, train, test)
        print(
            f"{x.target:15} {x.classes:2}           {x.gain:.3f}   {x.tight:.3f}"
            f"             {x.before:.3f}  {x.by_gain:.3f}   {x.by_search:.3f}"
            f"{'' if x.same else '  predictions differ'}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
