"""Held-out accuracy: naive Bayes for the target, of a table and of its release.

Rows are sorted by the target and by every other column and dealt in turn to five folds;
each fold is predicted from the others. A cell that stands for several values counts as
a part of each, in training and in prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.languages import say
from privet.microdata.information_loss.cell_counts import (
    CellCounts,
    MeasuredColumn,
)
from privet.microdata.information_loss.row_samples import RowSample
from privet.microdata.information_loss.value_sets import ValueSets
from privet.values.arrays import Floats, Ints
from privet.values.exact import percent

FOLDS = 5
BUCKETS = 20
"""Values of a column that are told apart; of more, those near or rare are one."""
FEWEST_ROWS, MOST_CLASSES = 20, 50
"""In fewer rows a cross-validation says nothing; more classes are no classes."""


@dataclass(frozen=True)
class HeldOutAccuracy:
    """How often naive Bayes is right about rows it was not trained on."""

    target: str
    """What is predicted, from all other columns."""
    rows: int
    """How many rows were trained and tested on."""
    before: Fraction
    """Trained on the table, tested on rows of the table."""
    after: Fraction | None
    """Trained on the release, tested on rows as they are released; None: none is."""
    on_originals: Fraction
    """Trained on the release, tested on rows of the table as they are."""
    majority: Fraction
    """Right without any column: the share of the commonest class."""
    drawn: bool = False
    """Whether only some rows of the table were used, drawn by a hash."""
    folds: int = FOLDS
    """Into how many parts the rows were cut, each predicted from the others."""

    def to_dict(self) -> dict[str, Any]:
        """For machines; shares as fractions in text."""
        shares = ("before", "after", "on_originals", "majority")
        told = {s: getattr(self, s) for s in shares}
        return {
            "target": self.target,
            **{s: None if v is None else str(v) for s, v in told.items()},
            "rows": self.rows,
            "drawn": self.drawn,
            "folds": self.folds,
        }

    def __str__(self) -> str:
        after = "nothing" if self.after is None else percent(self.after)
        return f"{self.target} {after} instead of {percent(self.before)}"


@dataclass(frozen=True, eq=False)
class Feature:
    """One column as a classifier sees it: what every row gives to each bucket."""

    before: Floats
    """By place of the value: all of it to one bucket."""
    after: Floats
    """By released text: a part to each bucket that has some of its values."""
    place: Ints
    """The place of each row's value."""
    label: Ints
    """Its released text."""


def cross_validate_bayes(
    columns: Sequence[MeasuredColumn],
    counts: Mapping[str, CellCounts],
    target: str,
    sample: RowSample,
) -> HeldOutAccuracy:
    """Accuracy before and after, on rows that no model was trained on."""
    order = _sort_rows(columns, target, sample)
    n, released = sample.n[order], sample.released[order]
    fold = deal_into_folds(n)
    features = [
        _build_feature(c, counts[c.name], sample, order)
        for c in columns
        if c.name != target
    ]
    aim = next(c for c in columns if c.name == target)
    truth, label = sample.places[target][order], sample.labels[target][order]
    exact = ValueSets.singles(aim.places)
    each = np.arange(aim.places)
    known = exact.average_columns(each, aim.places)[truth]
    shown = aim.sets.average_columns(each, aim.places)[label]
    right = np.zeros(3, dtype=np.int64)
    for part in range(FOLDS):
        train = (n - fold[part]).astype(np.float64)
        own = _train(features, known * train[:, None], released=False)
        theirs = _train(features, shown * (train * released)[:, None], released=True)
        tests = [(own, False), (theirs, True), (theirs, False)]
        for at, (model, as_released) in enumerate(tests):
            guess = _predict(features, model, len(n), as_released=as_released)
            # Ties go to the value that comes first among the target's codes.
            good = _choose(guess, aim.codes) == truth
            rows = fold[part] * released if as_released else fold[part]
            right[at] += int(rows[good].sum())
    total = int(n.sum())
    seen = int(n[released].sum())
    most = int(np.bincount(truth, weights=n).max())
    return HeldOutAccuracy(
        target,
        total,
        Fraction(int(right[0]), total),
        Fraction(int(right[1]), seen) if seen else None,
        Fraction(int(right[2]), total),
        Fraction(most, total),
        sample.drawn,
    )


def deal_into_folds(n: Ints) -> Ints:
    """Rows dealt in turn, one line after the other: rows of each line, by fold.

    >>> deal_into_folds(np.array([2, 6])).tolist()
    [[1, 1], [1, 1], [0, 2], [0, 1], [0, 1]]
    """
    stop = np.cumsum(n)
    start = stop - n
    each = np.arange(FOLDS)[:, None]
    # Of places 2 to 7 fold 0 gets 5: those below 8 less those below 2.
    found = (stop - each + FOLDS - 1) // FOLDS - (start - each + FOLDS - 1) // FOLDS
    return np.asarray(found, dtype=np.int64)


def _sort_rows(
    columns: Sequence[MeasuredColumn], target: str, sample: RowSample
) -> Ints:
    """By the target's value, then by each column's, as the source orders them."""
    first = [c for c in columns if c.name == target]
    keys = [*first, *(c for c in columns if c.name != target)]
    codes = [c.codes[sample.places[c.name]] for c in keys]
    return np.lexsort(codes[::-1])  # goes by its last key first


def _build_feature(
    column: MeasuredColumn, counts: CellCounts, sample: RowSample, order: Ints
) -> Feature:
    rows = np.bincount(counts.places[0], weights=counts.n, minlength=column.places)
    bucket = put_into_buckets(rows.astype(np.float64), column.codes, column.ordered)
    many = int(bucket.max()) + 1
    exact = ValueSets.singles(column.places)
    return Feature(
        exact.average_columns(bucket, many),
        column.sets.average_columns(bucket, many),
        sample.places[column.name][order],
        sample.labels[column.name][order],
    )


def put_into_buckets(rows: Floats, codes: Ints, ordered: bool) -> Ints:
    """The bucket of each place: itself, or one of twenty where there are more.

    Ordered values are cut into stretches of about as many rows; of others the commonest
    stay alone, and the rest is one.
    """
    if len(rows) <= BUCKETS:
        return np.arange(len(rows))
    if ordered:
        below = np.cumsum(rows) - rows
        cut = np.floor(BUCKETS * below / rows.sum()).astype(np.int64)
        return np.unique(cut, return_inverse=True)[1].ravel()
    found = np.full(len(rows), BUCKETS - 1)
    found[np.lexsort([codes, -rows])[: BUCKETS - 1]] = np.arange(BUCKETS - 1)
    return found


Model = tuple[Floats, list[Floats]]
"""Logarithms of the classes' shares, and by column the shares of buckets by class."""


def _train(features: Sequence[Feature], classes: Floats, *, released: bool) -> Model:
    """Naive Bayes with one row added to each bucket; classes is rows by classes."""
    people = classes.sum(axis=0)
    shares = []
    for feature in features:
        table = feature.after if released else feature.before
        at = feature.label if released else feature.place
        sums = np.stack(
            [np.bincount(at, weights=c, minlength=len(table)) for c in classes.T]
        )
        inside = sums @ table  # classes by buckets
        shares.append((inside + 1) / (people + table.shape[1])[:, None])
    with np.errstate(divide="ignore"):  # nobody has the class: never chosen
        return np.log(people / max(people.sum(), 1e-300)), shares


def _predict(
    features: Sequence[Feature], model: Model, rows: int, *, as_released: bool
) -> Floats:
    """How likely each class is for each row, up to a factor: rows by classes."""
    prior, shares = model
    found = np.tile(prior, (rows, 1))
    for feature, inside in zip(features, shares, strict=True):
        table = feature.after if as_released else feature.before
        at = feature.label if as_released else feature.place
        with np.errstate(divide="ignore"):
            found += np.log(table @ inside.T)[at]
    return found


def _choose(scores: Floats, codes: Ints) -> Ints:
    """The likeliest class of each row; of equals the one with the least code."""
    order = np.argsort(codes)
    return np.asarray(order[np.argmax(np.round(scores[:, order], 9), axis=1)])


def explain_unfit(classes: int, rows: int) -> str:
    """Why no classifier is trained; empty: one can be."""
    if rows < FEWEST_ROWS:
        return say(
            "Accuracy is left out: fewer than {n} rows say nothing.", n=FEWEST_ROWS
        )
    if classes > MOST_CLASSES:
        return say(
            "Accuracy is left out: the target has more than {n} values.", n=MOST_CLASSES
        )
    return ""
