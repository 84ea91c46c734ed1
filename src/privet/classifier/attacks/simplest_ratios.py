"""Whole counts from ratios, value by value: the least whole numbers with a ratio.

Two counts of thousands have a ratio that hardly any smaller numbers have: the fraction
with the least denominator near it gives them away, or a divisor of both. What is then
missing of the classes is a multiple of some of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from privet.classifier.attacks.whole_counts import AttributeShown, Counts

FINEST = 1e-13
"""How precisely a ratio can be known at all."""

LARGEST = 2.0**53
"""Counts beyond this are no longer told apart."""


def solve_simplest(shown: AttributeShown) -> list[Counts]:
    """The counts of an attribute by the simplest ratios; 0 where there is no guess."""
    ratios = [[float(x / row[0]) for x in row] for row in shown.ratios]
    wholes = [float(w) for w in shown.wholes]
    if len(ratios) <= len(wholes):  # as many equations as unknowns
        matrix = np.array(ratios).T
        scales = np.linalg.lstsq(matrix, np.array(wholes), rcond=None)[0].tolist()
    else:
        scales = _fit_scales(_list_least(shown, ratios, wholes[0]), ratios, wholes)
    return [
        tuple(
            _round_count(s * x - shown.smoothing, n)
            for x, n in zip(row, shown.sizes, strict=True)
        )
        for s, row in zip(scales, ratios, strict=True)
    ]


def _list_least(
    shown: AttributeShown, ratios: Sequence[Sequence[float]], whole: float
) -> list[float]:
    """The least smoothed count of the first class, by value."""
    unit = Fraction(shown.smoothing).limit_denominator(1000).denominator
    most = max(1, int(min(whole, LARGEST) * unit))
    sure = [max(float(e.max()), FINEST) for e in shown.errors]
    return [
        _find_denominator(row, most, p) / unit
        for row, p in zip(ratios, sure, strict=True)
    ]


def _round_count(count: float, size: int) -> int:
    if not abs(count) < LARGEST:
        return 0
    return min(max(round(count), 0), size)


def _find_denominator(row: Sequence[float], most: int, precision: float) -> int:
    """The least whole number that makes whole numbers of all ratios, nearly."""
    best = 1
    for x in row[1:]:
        # 2/3 asks for 3; then 3/4 * 3 = 9/4 asks for 4 times as much: 12.
        off = min(2 * precision, 0.5)
        _, found = find_simplest_fraction(x * best * (1 - off), x * best * (1 + off))
        if found * best > most:
            nearest = Fraction(x * best).limit_denominator(max(1, most // best))
            found = nearest.denominator
        best *= found
    return best


def find_simplest_fraction(low: float, high: float, depth: int = 60) -> tuple[int, int]:
    """The fraction between two positive numbers with the least denominator.

    >>> between = (0.33, 0.34), (2.9, 3.1), (0.142857, 0.142858)
    >>> [find_simplest_fraction(low, high) for low, high in between]
    [(1, 3), (3, 1), (1, 7)]
    """
    whole = ceil(low)
    if whole <= high or not depth or low > 2**40:
        return whole, 1
    # No whole number lies between: take the whole part off and turn it round.
    # Of 0.33 to 0.34 that is 2.94 to 3.03, where 3 lies: 1/3.
    below = whole - 1
    part, parts = find_simplest_fraction(
        1 / (high - below), 1 / (low - below), depth - 1
    )
    return below * part + parts, part


def _fit_scales(
    least: list[float], ratios: list[list[float]], wholes: Sequence[float]
) -> list[float]:
    """Multiply some of the numbers so that all add up to what is known."""
    scales = list(least)
    for _ in range(len(least)):
        missing = [
            w - sum(s * row[c] for s, row in zip(scales, ratios, strict=True))
            for c, w in enumerate(wholes)
        ]
        if missing[0] < 0.5:
            break
        # A value whose true count is a multiple of the least one: it fills what is
        # missing in the first class, and so in the last.
        fits = [
            (abs(round(missing[0] / s) * s * row[c] - missing[c]), t, missing[0] / s)
            for c in (len(wholes) - 1,)
            for t, (s, row) in enumerate(zip(least, ratios, strict=True))
            if abs(missing[0] / s - round(missing[0] / s)) < 1e-3
        ]
        close = [f for f in fits if f[0] < 0.5]
        if not close:
            break
        _, t, times = min(close)
        scales[t] += round(times) * least[t]
    return scales
