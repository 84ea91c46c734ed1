"""Intervals hold as often as they say: by sums over all outcomes."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import privet as pv
from privet.responses.estimate import estimate_share
from privet.responses.intervals import MOST_EXACT, hoeffding, sure_interval, wilson

GRID = [Fraction(i, 40) for i in range(41)]


def coverage(share: Fraction, n: int, ends: list[tuple[float, float]]) -> Fraction:
    """How often an interval holds a share, over all outcomes."""
    return sum(
        (
            comb(n, k) * share**k * (1 - share) ** (n - k)
            for k, (low, high) in enumerate(ends)
            if low <= share <= high
        ),
        Fraction(0),
    )


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_certain_intervals_hold_at_least_as_often(n: int, confidence: float) -> None:
    ends = [sure_interval(k, n, confidence) for k in range(n + 1)]
    found = [coverage(p, n, ends) for p in GRID]
    assert min(found) >= confidence
    assert min(found) < confidence + 0.2  # and are not all there is
    assert sorted(ends) == ends


def test_wilsons_do_not_always() -> None:
    ends = [wilson(k, 7, 1.959964) for k in range(8)]
    assert min(coverage(p, 7, ends) for p in GRID) < 0.95


def test_many_answers_have_an_interval_without_sums() -> None:
    """Chernoff's is wider than the exact one beside it, by about two fifths."""
    part = MOST_EXACT * 3 // 10
    low, high = sure_interval(part, MOST_EXACT, 0.95)
    wide = sure_interval(part + 1, MOST_EXACT + 1, 0.95)
    assert wide[0] < low < high < wide[1]
    assert (wide[1] - wide[0]) / (high - low) == pytest.approx(1.39, abs=0.05)
    assert (0.0, 1.0) == (
        sure_interval(0, 10**6, 0.95)[0],
        sure_interval(10**6, 10**6, 0.95)[1],
    )


@pytest.mark.parametrize("truth", ["0.8", "0.25"])
def test_a_shares_interval_is_sure(truth: str) -> None:
    """A disguised yes-or-no question, every outcome of ten answers."""
    question = pv.Question("q", ["0", "1"])
    design = pv.Design([question], [pv.Group("q", pv.KAry(truth))])
    pieces, where = design.pieces(["q"]), np.array([False, True])
    ends = [
        estimate_share(pieces, np.array([10 - k, k]), where, confidence=0.9).sure
        for k in range(11)
    ]
    for share in GRID:
        seen = share * Fraction(truth) + (1 - share) * (1 - Fraction(truth))
        held = sum(
            comb(10, k) * seen**k * (1 - seen) ** (10 - k)
            for k, (low, high) in enumerate(ends)
            if low - 1e-12 <= share <= high + 1e-12
        )
        assert held >= 0.9


def test_hoeffdings_is_as_the_specification_says() -> None:
    assert 0.0135810 == pytest.approx(hoeffding(1.0, 10_000, 0.95), abs=1e-6)
