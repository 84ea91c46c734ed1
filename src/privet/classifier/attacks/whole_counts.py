"""Whole counts from ratios: what integrality and known sums tell of one attribute.

The inverter knows, of each value, the counts in all classes up to one factor, each as
precisely as the release shows it. Smoothed counts are whole steps, and those of a class
add up to its size: for each value the factors are listed that make all its counts
whole, then choices are combined, half with half, that add up in every class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.classifier.scores import Floats

Counts = tuple[int, ...]
"""Counts of one value, by class."""

SIGMAS = 2.0
"""How many times its own error a count may be off."""

MOST_SUMS, MOST_FACTORS = 20_000, 400
"""Sums that are kept while values are combined; factors of one value."""

LARGEST = 2**50
"""Rows of a class; counts of larger ones have more digits than a release tells."""

MOST_ROWS = 3_000_000
"""Counts up to which every one is tried; of larger ones shares alone are told."""

MANY, TOO_MANY = 9, 48
"""From so many values on, fewer sums are kept; and none are."""


@dataclass(frozen=True, eq=False)
class AttributeShown:
    """What is told of the smoothed counts of one attribute."""

    ratios: Floats
    """By value and class: smoothed counts up to a factor per value."""
    errors: Floats
    """By value and class: how far each may be off, as a share."""
    sizes: Sequence[int]
    """Rows per class."""
    smoothing: float
    """What was added to every count."""
    slack: float = 0.02
    """A count is whole if it is this near, and as many times its own error."""

    @property
    def wholes(self) -> Floats:
        """What smoothed counts add up to, by class."""
        return np.array(self.sizes) + self.smoothing * len(self.ratios)


def solve_counts(shown: AttributeShown) -> list[Counts]:
    """The counts of an attribute, value by value: whole ones that add up, if found."""
    if max(shown.sizes) > LARGEST:
        return [(0,) * len(shown.sizes)] * len(shown.ratios)
    values = [_list_factors(shown, t) for t in range(len(shown.ratios))]
    if all(values) and len(values) > TOO_MANY:
        return _take_least(shown, values)
    if all(values):
        found = _combine(values, tuple(shown.sizes))
        if found is not None:
            return list(found)
    return _estimate(shown)


def _take_least(
    shown: AttributeShown, values: Sequence[list[tuple[float, Counts]]]
) -> list[Counts]:
    """The least counts that are whole, of very many values; if they do not add up, what
    they are up to where nothing else is known.
    """
    least = [min((counts for _, counts in v), key=sum) for v in values]
    sums = tuple(sum(column) for column in zip(*least, strict=True))
    return least if sums == tuple(shown.sizes) else _estimate(shown)


def _list_factors(shown: AttributeShown, t: int) -> list[tuple[float, Counts]]:
    """Counts of one value that are nearly whole in every class, the nearest first."""
    least = int(shown.ratios[t].argmin())
    row = shown.ratios[t] / shown.ratios[t, least]
    most = int((shown.wholes / row).min() - shown.smoothing + 1e-6)
    if not 0 <= most <= MOST_ROWS:
        return []
    scale = np.arange(most + 1) + shown.smoothing  # of the least class
    smoothed = np.outer(scale, row)
    counts = np.rint(smoothed - shown.smoothing)
    off = np.abs(smoothed - shown.smoothing - counts)
    # A count is told by its own ratio and by that of the least class: both are off.
    doubtful = shown.errors[t] + shown.errors[t, least]
    doubt = shown.slack + SIGMAS * smoothed * doubtful
    within = (counts >= 0) & (counts <= np.array(shown.sizes))
    fits = ((off <= doubt) & within).all(axis=1)
    score = np.minimum(off / doubt, 1.0).sum(axis=1)
    # What is known so badly that anything is whole tells nothing; few are kept.
    at = np.flatnonzero(fits)
    at = at[np.argsort(score[at], kind="stable")][:MOST_FACTORS]
    return [(float(score[i]), tuple(map(int, counts[i]))) for i in at]


def _combine(
    values: Sequence[list[tuple[float, Counts]]], sizes: Counts
) -> tuple[Counts, ...] | None:
    """One choice per value that adds up in every class, the best fit; None: none."""
    order = sorted(range(len(values)), key=lambda t: len(values[t]))
    halves: list[list[int]] = [order[::2], order[1::2]]
    one, two = (_add_up([values[t] for t in half], sizes) for half in halves)
    # What is left of the classes after the first half is looked up in the second.
    rest = {tuple(t): j for j, t in enumerate(two.totals.tolist())}
    wanted = (np.array(sizes) - one.totals).tolist()
    pairs = [
        (i, j) for i, t in enumerate(wanted) if (j := rest.get(tuple(t))) is not None
    ]
    if not pairs:
        return None
    i, j = min(pairs, key=lambda pair: one.scores[pair[0]] + two.scores[pair[1]])
    chosen = [*one.trace(i), *two.trace(j)]
    placed = dict(zip([*halves[0], *halves[1]], chosen, strict=True))
    return tuple(placed[t] for t in range(len(values)))


@dataclass(eq=False)
class _Sums:
    """Sums of choices so far, the best fit of each, and how it came about."""

    totals: NDArray[np.int64]
    """By sum and class."""
    scores: Floats
    """How badly each fits at best."""
    steps: list[tuple[NDArray[np.intp], NDArray[np.intp], list[Counts]]]
    """By value: which sum before and which counts made each sum."""

    def trace(self, at: int) -> list[Counts]:
        """The counts of each value that make a sum."""
        found = []
        for before, chosen, options in reversed(self.steps):
            found.append(options[chosen[at]])
            at = int(before[at])
        return found[::-1]


def _add_up(half: Sequence[list[tuple[float, Counts]]], sizes: Counts) -> _Sums:
    """The sums of every choice, each with the best fit; the best of too many."""
    start = np.zeros((1, len(sizes)), dtype=np.int64)
    found = _Sums(start, np.zeros(1), [])
    most = MOST_SUMS if len(half) < MANY else MOST_SUMS // 20
    for options in half:
        few = options[: max(8, 400_000 // max(1, min(len(found.totals), most)))]
        _add_one(found, few if len(half) < MANY else few[:40], np.array(sizes), most)
    return found


def _add_one(
    sums: _Sums, options: Sequence[tuple[float, Counts]], sizes: Any, most: int
) -> None:
    """Add the counts of one more value to the sums that fit best so far."""
    kept = np.argsort(sums.scores, kind="stable")[:most]
    counts = np.array([c for _, c in options], dtype=np.int64)
    # (sums, options, classes), of which those stay that are within the classes.
    totals = sums.totals[kept][:, None] + counts[None]
    before, chosen = np.nonzero((totals <= sizes).all(axis=2))
    totals = totals[before, chosen]
    scores = sums.scores[kept][before] + np.array([x for x, _ in options])[chosen]
    # Of equal sums the best fit: sorted by fit, the first of each stays.
    order = np.argsort(scores, kind="stable")
    _, first = np.unique(_number_rows(totals[order], sizes), return_index=True)
    at = order[first]
    sums.steps.append((kept[before[at]], chosen[at], [c for _, c in options]))
    sums.totals, sums.scores = totals[at], scores[at]


def _number_rows(totals: NDArray[np.int64], sizes: Any) -> NDArray[Any]:
    """A number for each row of sums, equal for equal rows."""
    places = [int(p) + 1 for p in sizes]
    if prod(places) < 2**62:
        return np.asarray(np.ravel_multi_index(tuple(totals.T), places))
    return np.unique(totals, axis=0, return_inverse=True)[1].ravel()


def _estimate(shown: AttributeShown) -> list[Counts]:
    """Counts that add up nearly, from the ratios alone."""
    ratios, wholes = shown.ratios, shown.wholes
    # (values, classes): factors of values, corrected until the sums of classes fit.
    factors = np.full(len(ratios), wholes.sum() / ratios.sum())
    for _ in range(200):
        sums = factors @ ratios
        factors = factors * (ratios @ (wholes / sums)) / ratios.sum(axis=1)
    counts = np.rint(factors[:, None] * ratios - shown.smoothing)
    counts = np.clip(counts, 0, np.array(shown.sizes))
    return [tuple(map(int, row)) for row in counts]
