"""How close two different scores of one tuple can be, before they are rounded.

Mozafari, Zaniolo 2009, section 6.2.2; replaces Statement 8. Finding the least ratio is
NP-hard; integers bound it, and where half of the attributes have few combinations, the
true one is found by meeting in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, lcm, log2, prod
from typing import Any

import numpy as np

from privet.classifier.scores import GUARD, Floats, Scores, log_of
from privet.errors import TooLarge

MOST_TUPLES = 1_000_000
"""Tuples that are looked at one by one."""

MOST_HALF = 1_000_000
"""Combinations of one half of the attributes that are listed."""

MOST_NEAR = 20_000
"""Tuples so near to a tie that they are compared as fractions."""

NEAR, NOISE = 1e-10, 1e-12
"""Natural logarithms this close need fractions; and how wrong a sum of them may be."""


def gap_bound(scores: Scores) -> int:
    """B such that different positive scores of a tuple differ by at least 1 + 1/B.

    Two scores multiplied out are integers, so they differ by at least one.
    """
    whole = [_Whole(scores, c) for c in range(scores.classes)]
    pairs = [(a, b) for a in whole for b in whole if a is not b]
    return max((a.bound(b) for a, b in pairs), default=1)


class _Whole:
    """The scores of one class as integers times one fraction."""

    def __init__(self, scores: Scores, c: int) -> None:
        self.unit = scores.weights[c]
        self.numbers: list[list[int]] = []
        for table in scores.factors:
            common = lcm(*(row[c].denominator for row in table))
            self.unit /= common
            column = [
                row[c].numerator * (common // row[c].denominator) for row in table
            ]
            self.numbers.append(column)
        self.largest = [max(column) for column in self.numbers]
        self.zeros = any(n == 0 for column in self.numbers for n in column)

    def bound(self, other: _Whole) -> int:
        """What a tuple's scores multiplied out never pass, where both are positive."""
        ratio = self.unit / other.unit
        tops = list(zip(self.largest, other.largest, strict=True))
        if self.zeros or other.zeros:
            tops = []
            for mine, theirs in zip(self.numbers, other.numbers, strict=True):
                both = [(a, b) for a, b in zip(mine, theirs, strict=True) if a and b]
                if not both:
                    return 1  # no tuple has both
                tops.append((max(a for a, _ in both), max(b for _, b in both)))
        return min(
            ratio.numerator * prod(t[0] for t in tops),
            ratio.denominator * prod(t[1] for t in tops),
        )


def true_gap(scores: Scores) -> int | None:
    """The same B, from the tuples themselves; None where that is too much work."""
    pairs = [(c, d) for c in range(scores.classes) for d in range(c)]
    found = 1
    for c, d in pairs:
        b = _least(scores, c, d, MOST_HALF // max(1, len(pairs) // 4))
        if b is None:
            return None
        found = max(found, b)
    return found


def _least(scores: Scores, c: int, d: int, most: int) -> int | None:
    if _halves_at_least(scores, c, d) > 2 * log2(most):
        return None
    ratios = [
        sorted({row[c] / row[d] for row in table if row[c] and row[d]})
        for table in scores.factors
    ]
    if not all(ratios):
        return 1
    left, right = _halves([r for r in ratios if len(r) > 1])
    single = prod((r[0] for r in ratios if len(r) == 1), start=Fraction(1))
    start = single * scores.weights[c] / scores.weights[d]
    if max(prod(map(len, left)), prod(map(len, right))) > most:
        return None
    sums = _sums(left) + _ln(start)
    others = _sums(right)
    order = np.argsort(others)
    return _nearest(sums, others[order], order, (left, right, start))


def _halves_at_least(scores: Scores, c: int, d: int) -> float:
    """How many combinations two halves have together at least, in doublings."""
    found = 0.0
    for table in scores.log_factors:
        with np.errstate(invalid="ignore"):
            ratios = table[:, c] - table[:, d]
        seen = np.unique(ratios[np.isfinite(ratios)].round(9))
        found += log2(max(len(seen), 1))
    return found


def _halves(
    ratios: list[list[Fraction]],
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Two lists of attributes with about as many combinations each."""
    halves: tuple[list[list[Fraction]], list[list[Fraction]]] = ([], [])
    sizes = [1, 1]
    for r in sorted(ratios, key=len, reverse=True):
        at = sizes.index(min(sizes))
        halves[at].append(r)
        sizes[at] *= len(r)
    return halves


def _ln(x: Fraction) -> float:
    return log_of(x) * float(np.log(2))


def _sums(ratios: list[list[Fraction]]) -> Floats:
    """Logarithms of all products, the last attribute varying fastest."""
    found: Floats = np.zeros(1)
    for r in ratios:
        found = np.add.outer(found, np.array([_ln(x) for x in r])).ravel()
    return found


Exactly = tuple[list[list[Fraction]], list[list[Fraction]], Fraction]


def _nearest(sums: Floats, others: Floats, order: Any, parts: Exactly) -> int | None:
    low = np.searchsorted(others, -sums - NEAR)
    high = np.searchsorted(others, -sums + NEAR)
    padded = np.concatenate([[-np.inf], others, [np.inf]])
    outside = np.minimum(-(sums + padded[low]), sums + padded[high + 1]).min()
    found = ceil(1 / (outside - NOISE)) if np.isfinite(outside) else 1
    near = high - low
    if near.sum() > MOST_NEAR:
        return None
    left, right, start = parts
    for i in np.flatnonzero(near).tolist():
        first = start * _product(left, i)
        for j in range(int(low[i]), int(high[i])):
            ratio = first * _product(right, int(order[j]))
            if ratio != 1:
                found = max(found, ceil(1 / (max(ratio, 1 / ratio) - 1)))
    return max(found, 1)


def _product(ratios: list[list[Fraction]], index: int) -> Fraction:
    found = Fraction(1)
    for r in reversed(ratios):
        index, at = divmod(index, len(r))
        found *= r[at]
    return found


# Where one class is moved against another -------------------------------------------


def led_by_less(
    scores: Scores, pair: tuple[int, int], doublings: float
) -> Mapping[int, int] | None:
    """A row where the first class is above the second by less than so many doublings.

    None where there is none; `TooLarge` where there are too many rows to look at.
    """
    c, d = pair
    tables = [np.append(t[:, c] - t[:, d], 0.0) for t in scores.log_factors]
    if (whole := prod(map(len, tables))) > MOST_TUPLES:
        raise TooLarge(f"{whole:,} rows would have to be looked at one by one.")
    leads: Floats = np.array([scores.log_weights[c] - scores.log_weights[d]])
    for table in tables:
        leads = np.add.outer(leads, table).ravel()
    near = np.flatnonzero((leads >= -GUARD) & (leads < max(doublings, GUARD)))
    for index in sorted(near[:MOST_NEAR].tolist(), key=lambda i: -leads[i]):
        at = np.unravel_index(index, [len(t) for t in tables])
        known = {i: int(t) for i, t in enumerate(at) if t < len(tables[i]) - 1}
        x = scores.of(known)
        if (x[c], c) > (x[d], d):
            return known
    if len(near) > MOST_NEAR:
        raise TooLarge(f"{len(near):,} rows are too near to a tie.")
    return None
