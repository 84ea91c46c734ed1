"""Draws are exact: proved word by word, and seen in samples with enough power."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

import privet as pv
from oracle.responses import reports
from privet.engine.randomise import exact_sampling
from privet.engine.randomise.exact_sampling import (
    WORD,
    ExactChoice,
    ExactCoin,
    RandomBits,
)
from privet.responses.channels import Keep
from privet.responses.disguise import disguise_codes
from privet.responses.estimate import estimate_share

N = 200_000


class Listed(RandomBits):
    """Bits whose words are given, so that every outcome can be listed."""

    def __init__(self, words: list[int]) -> None:
        super().__init__()
        self.given = list(words)

    def draw_words(self, number: int) -> np.ndarray:
        return np.array([self.given.pop(0) for _ in range(number)], dtype=np.uint16)

    def draw_word(self) -> int:
        return self.given.pop(0)


SHARES = [
    [Fraction(1, 3), Fraction(2, 3)],
    [Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)],
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)],
    [Fraction(0), Fraction(1, 100_000), Fraction(99_999, 100_000)],
    [Fraction(1, 2**20), 1 - Fraction(1, 2**20)],
]


@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_choices_have_exactly_their_probabilities(shares: list[Fraction]) -> None:
    """All first words, and all second words where the first leaves it open.

    What two words leave open is less than 2⁻³² of the probability per boundary.
    """
    choice = ExactChoice(shares)
    found = [Fraction(0)] * len(shares)
    open_ = Fraction(0)
    table = choice._table
    for i, n in Counter(table.tolist()).items():
        if i >= 0:
            found[i] += Fraction(n, WORD)
    for first in np.flatnonzero(table < 0):
        for second in range(WORD):
            try:
                i = choice.settle(int(first), Listed([second]))
                found[i] += Fraction(1, WORD**2)
            except IndexError:  # a third word would decide
                open_ += Fraction(1, WORD**2)
    assert 1 == sum(found) + open_
    assert open_ <= Fraction(len(shares), WORD**2)
    for stated, counted in zip(shares, found, strict=True):
        assert counted <= stated <= counted + open_


def test_coins_agree_with_choices_on_every_word() -> None:
    p = Fraction(4, 5)
    coin, choice = ExactCoin(p), ExactChoice([p, 1 - p])
    words = list(range(WORD))
    heads = coin.toss(WORD, Listed([*words, 7]))
    settled = choice._table
    sure = settled >= 0
    assert ((settled == 0) == heads)[sure].all()
    assert 1 == (~sure).sum()


def test_boundaries_between_words_are_settled_by_more_bits() -> None:
    """1/3 lies inside of a word: whether the next words are below decides."""
    choice = ExactChoice([Fraction(1, 3), Fraction(2, 3)])
    inside = WORD // 3
    assert 0 == choice.settle(inside, Listed([0]))
    assert 1 == choice.settle(inside, Listed([WORD - 1]))
    assert 0 == choice.settle(inside, Listed([inside, inside, 0]))


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**31, 2**33])
def test_whole_numbers_stay_below_their_bound(bound: int) -> None:
    found = RandomBits().draw_below(bound, 1000)
    assert 0 <= found.min() <= found.max() < bound


def test_whole_numbers_are_even() -> None:
    found = np.bincount(RandomBits(b"x").draw_below(3, 30_000), minlength=3)
    assert (abs(found - 10_000) < 5 * sqrt(10_000 * 2 / 3)).all()


def test_seeds_repeat_and_the_system_does_not() -> None:
    assert (RandomBits(b"1").draw_words(50) == RandomBits(b"1").draw_words(50)).all()
    assert (RandomBits(b"1").draw_words(50) != RandomBits(b"2").draw_words(50)).any()
    assert (RandomBits().draw_words(50) != RandomBits().draw_words(50)).any()


# Samples ----------------------------------------------------------------------------

ASKED = [pv.Question("a", ["0", "1"]), pv.Question("b", ["0", "1", "2"])]
MATRIX = pv.Matrix([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
DESIGNS: dict[str, Callable[[Fraction], pv.Design]] = {
    "independent": lambda p: pv.Design(
        ASKED, [pv.Group("a", pv.Flip(p)), pv.Group("b", pv.KAry(p))]
    ),
    "together": lambda p: pv.Design(ASKED, [pv.Group(["a", "b"], pv.KAry(p))]),
    "replaced": lambda p: pv.Design(
        ASKED,
        [pv.Group(["a", "b"], pv.Replace(p, [Fraction(i, 21) for i in range(1, 7)]))],
    ),
    "matrix": lambda p: pv.Design(
        ASKED, [pv.Group("a", pv.KAry(p)), pv.Group("b", MATRIX)]
    ),
    "public": lambda p: pv.Design(
        ASKED, [pv.Group("a", pv.KAry(p)), pv.Group("b", Keep())]
    ),
}


def distance(design: pv.Design, stated: pv.Design, seed: bytes) -> float:
    """Chi-square of disguised rows against a stated design, in standard deviations."""
    total, freedom = 0.0, 0
    for record in product(range(2), range(3)):
        true = {c: np.full(N // 6, v) for c, v in zip("ab", record, strict=True)}
        seen = disguise_codes(design, true, RandomBits(seed + bytes(record)))
        counts = Counter(zip(seen["a"].tolist(), seen["b"].tolist(), strict=True))
        expected = reports(stated, record)
        if not set(counts) <= set(expected):
            return float("inf")
        for row, p in expected.items():
            total += (counts[row] - p * (N // 6)) ** 2 / float(p * (N // 6))
        freedom += len(expected) - 1
    return (total - freedom) / sqrt(2 * max(freedom, 1))


@pytest.mark.parametrize("name", DESIGNS)
def test_reports_follow_the_design(name: str) -> None:
    design = DESIGNS[name](Fraction(7, 10))
    assert abs(distance(design, design, b"1")) < 5


@pytest.mark.parametrize("name", DESIGNS)
def test_a_wrong_truth_would_be_seen(name: str) -> None:
    """Power: already a tenth of the error that must not pass is seen."""
    stated, wrong = DESIGNS[name](Fraction(7, 10)), DESIGNS[name](Fraction(73, 100))
    assert distance(wrong, stated, b"1") > 10


@pytest.mark.parametrize("p", [0, 1])
def test_the_ends_are_certain(p: int) -> None:
    design = DESIGNS["independent"](Fraction(p))
    true = {"a": np.array([0, 1] * 500), "b": np.array([0, 1] * 500)}
    seen = disguise_codes(design, true, RandomBits())
    assert ((seen["a"] == true["a"]) == bool(p)).all()
    assert ((seen["b"] == true["b"]) == bool(p)).all()


def test_one_question_of_several() -> None:
    groups = [pv.Group("a", pv.KAry(0.9)), pv.Group("b", pv.KAry(0.9))]
    design = pv.Design(ASKED, groups, one_of=True)
    true = {"a": np.ones(N, dtype=np.int64), "b": np.ones(N, dtype=np.int64)}
    seen = disguise_codes(design, true, RandomBits(b"7"))
    asked = seen["a"] >= 0
    assert (asked == (seen["b"] < 0)).all()
    assert abs(asked.sum() - N / 2) < 5 * sqrt(N / 4)
    assert abs(seen["a"][asked].mean() - 0.9) < 5 * sqrt(0.09 / (N / 2))


# Estimates --------------------------------------------------------------------------


SURVEYS, PEOPLE = 3000, 400


def z_scores(shown: pv.Design, assumed: pv.Design) -> np.ndarray:
    """Errors of an estimate in stated standard errors, over many surveys."""
    rng = np.random.default_rng(5)
    rows = SURVEYS * PEOPLE
    true = {"a": (rng.random(rows) < 0.8) * 1, "b": rng.integers(0, 3, rows)}
    seen = disguise_codes(shown, true, RandomBits(b"z"))
    cells = (seen["a"] * 3 + seen["b"]).reshape(SURVEYS, PEOPLE)
    event = np.zeros((2, 3), dtype=bool)
    event[1, 2] = True
    found = []
    for survey in cells:
        counts = np.bincount(survey, minlength=6).reshape(2, 3)
        e = estimate_share(assumed.pieces(["a", "b"]), counts, event, confidence=0.95)
        found.append((e.unbiased - 0.8 / 3) / e.standard_error)
    return np.array(found)


def calibrated(scores: np.ndarray) -> bool:
    """Mean 0 and variance 1, within four standard deviations of what chance does."""
    n = len(scores)
    centred = abs(scores.mean()) < 4 / sqrt(n)
    return bool(centred and abs(scores.var(ddof=1) - 1) < 4 * sqrt(2 / n))


def test_standard_errors_are_right_and_a_wrong_one_would_be_seen() -> None:
    design = DESIGNS["independent"](Fraction(7, 10))
    scores = z_scores(design, design)
    assert calibrated(scores)
    assert not calibrated(scores / sqrt(1.3))  # a stated variance 30 % too large
    assert not calibrated(scores / sqrt(0.7))
    assert abs((abs(scores) < 1.96).mean() - 0.95) < 4 * sqrt(0.05 * 0.95 / SURVEYS)


def test_a_wrong_truth_biases_estimates() -> None:
    """Power: a truth 30 % too large does not pass."""
    shown = DESIGNS["independent"](Fraction(7, 10))
    assert not calibrated(z_scores(shown, DESIGNS["independent"](Fraction(91, 100))))


def test_kept_columns_are_untouched() -> None:
    codes = [np.arange(5)]
    assert codes is exact_sampling.report_truth(codes, RandomBits())
