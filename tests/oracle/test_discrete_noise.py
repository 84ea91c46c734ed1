"""Discrete noise has the distribution of its formula, and the loss it is sold for."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import exp, log

import pytest

from privet.engine.randomise.discrete_noise import (
    draw_gaussian,
    draw_laplace,
    flip_exp,
)
from privet.values.noise.binomial import bound_by_clopper_pearson

DRAWS = 40_000


def chi_square(drawn: list[int], weigh: Callable[[int], float]) -> tuple[float, int]:
    """How far draws are from a distribution, and from how many cells that is told."""
    weights = {z: weigh(z) for z in range(-400, 401)}
    whole = sum(weights.values())
    expected = {z: w / whole * len(drawn) for z, w in weights.items()}
    often = [z for z, n in expected.items() if n >= 10]
    found = Counter(drawn)
    tail = len(drawn) - sum(found[z] for z in often)
    rare = len(drawn) - sum(expected[z] for z in often)
    sum_ = sum((found[z] - expected[z]) ** 2 / expected[z] for z in often)
    return sum_ + (tail - rare) ** 2 / max(rare, 1), len(often)


def is_likely(found: tuple[float, int]) -> bool:
    """Within six deviations of a chi square, which a right one nearly always is."""
    value, cells = found
    return value < cells + 6 * (2 * cells) ** 0.5


@pytest.mark.parametrize("scale", ["1/2", "3", "10/3"])
def test_laplace_noise_is_laplace_noise(scale: str) -> None:
    dice, size = random.Random(1), Fraction(scale)
    drawn = [draw_laplace(size, dice.randrange) for _ in range(DRAWS)]
    assert is_likely(chi_square(drawn, lambda z: exp(-abs(z) / float(size))))
    # The test has the power to see an error of 30 %.
    assert not is_likely(chi_square(drawn, lambda z: exp(-abs(z) / float(size) / 1.3)))


@pytest.mark.parametrize("variance", ["1/3", "4", "50/3"])
def test_gaussian_noise_is_gaussian_noise(variance: str) -> None:
    dice, size = random.Random(2), Fraction(variance)
    drawn = [draw_gaussian(size, dice.randrange) for _ in range(DRAWS)]
    assert is_likely(chi_square(drawn, lambda z: exp(-z * z / 2 / float(size))))
    assert not is_likely(chi_square(drawn, lambda z: exp(-z * z / 2.6 / float(size))))


@pytest.mark.parametrize("x", ["0", "1/7", "1", "13/4"])
def test_a_coin_falls_as_often_as_it_says(x: str) -> None:
    dice = random.Random(3)
    share = sum(flip_exp(Fraction(x), dice.randrange) for _ in range(DRAWS)) / DRAWS
    expected = exp(-float(Fraction(x)))
    assert abs(share - expected) < 5 * (expected * (1 - expected) / DRAWS) ** 0.5 + 1e-9


def loses_more(epsilon: float, scale: Fraction, columns: int, runs: int) -> bool:
    """Whether counts with and without a person give the loss away, nearly certainly.

    The event is that all cells of one person are at least as large as with them: it
    is e to the epsilon times as likely with them as without.
    """
    dice = random.Random(columns)

    def count(change: int) -> int:
        return sum(
            all(
                draw_laplace(scale, dice.randrange) + change >= 1
                for _ in range(columns)
            )
            for _ in range(runs)
        )

    miss = 1e-6 / 2
    low = bound_by_clopper_pearson(count(1), runs, miss)
    high = 1 - bound_by_clopper_pearson(runs - count(0), runs, miss)
    return log(low / high) > epsilon


@pytest.mark.parametrize(("columns", "runs"), [(1, 3_000), (3, 14_000)])
def test_an_audit_of_epsilon(columns: int, runs: int) -> None:
    right = Fraction(columns)
    assert not loses_more(1.0, right, columns, runs)
    # Noise that is too small by a factor of 1.3 is seen.
    assert loses_more(1.0, right / Fraction("1.3"), columns, runs)
