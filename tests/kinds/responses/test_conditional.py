"""Shares among some people, and two samples of an unrelated question."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.responses.channel_inverse import covariance
from privet.responses.channels import Keep
from privet.responses.estimate import SolvedCounts
from privet.responses.unrelated_question import estimate_from_two_samples


def design(*, public: bool) -> pv.Design:
    questions = [pv.Question("a", ["0", "1"]), pv.Question("c", ["0", "1", "2"])]
    own = Keep() if public else pv.KAry("0.9")
    return pv.Design(questions, [pv.Group("a", pv.KAry("0.8")), pv.Group("c", own)])


COUNTS = np.array([[50, 10, 31], [20, 41, 8]])


def test_the_delta_method_is_that_of_the_specification() -> None:
    """Gradient (1 - R)/P on (a, c), -R/P on the others of c; by the whole matrix."""
    pieces = design(public=False).pieces(["a", "c"])
    given = np.zeros((2, 3), bool)
    given[:, 1] = True
    both = given.copy()
    both[0] = False
    found = SolvedCounts(pieces, COUNTS).ratio(both, given, confidence=0.95)
    n = COUNTS.sum()
    exact = np.vectorize(Fraction, otypes=[object])(COUNTS) / n
    sigma = covariance(pieces, exact, int(n)).astype(float)
    shares = SolvedCounts(pieces, COUNTS).undone.astype(float) / n
    whole, part = shares[:, 1].sum(), shares[1, 1]
    slope = np.zeros((2, 3))
    slope[0, 1], slope[1, 1] = -part / whole**2, (whole - part) / whole**2
    error = np.sqrt(slope.ravel() @ sigma @ slope.ravel())
    assert part / whole == pytest.approx(found.unbiased)
    assert error == pytest.approx(found.standard_error)


def test_a_public_class_is_as_a_table_of_its_own() -> None:
    """Among the people of a public class: the estimate from their rows alone."""
    stated = design(public=True)
    rows = [(a, c) for (a, c), n in np.ndenumerate(COUNTS) for _ in range(n)]
    names = {"a": [str(a) for a, _ in rows], "c": [str(c) for _, c in rows]}
    found = pv.estimate(pa.table(names), stated).share("a = 1", given="c = 1")
    mine = [a for a, c in rows if c == 1]
    alone = pv.Design([stated.questions[0]], [stated.groups[0]])
    some = pa.table({"a": [str(a) for a in mine]})
    wanted = pv.estimate(some, alone).share(a=1)
    assert wanted.value == pytest.approx(found.value, abs=1e-9)
    assert wanted == replace(found, value=wanted.value)
    assert 51 == found.n
    with pytest.raises(pv.InputError, match="declared values"):
        pv.estimate(some, alone).share("a = 1", given="a = 7")


def test_few_answers_that_agree_are_not_certain() -> None:
    """Five equal answers have no spread, and prove nothing yet."""
    seen = pv.estimate(pa.table({"a": ["1"] * 5, "c": ["0"] * 5}), design(public=False))
    for found in (
        seen.share("a = 1 and c = 0"),
        seen.share("a = 1", given="c = 0"),
    ):
        assert 0 == found.standard_error
        low, high = found.interval
        assert low < 0.6
        assert 1 == high
        assert found.sure == found.interval


def test_the_sure_interval_of_a_quotient_holds() -> None:
    """Both bounds at once; wider than the delta method's, and around it."""
    pieces = design(public=False).pieces(["a", "c"])
    given = np.zeros((2, 3), bool)
    given[:, 0] = True
    both = given.copy()
    both[1] = False
    found = SolvedCounts(pieces, COUNTS * 400).ratio(both, given, confidence=0.95)
    assert found.sure is not None
    assert found.sure[0] < found.interval[0] < found.interval[1] < found.sure[1]
    assert found.sure[1] - found.sure[0] < 0.2


def test_nobody_given_is_not_estimable() -> None:
    rows = pa.table({"a": ["1"] * 9, "c": ["0"] * 9})
    with pytest.raises(pv.InputError, match="Not estimable"):
        pv.estimate(rows, design(public=False)).share("a = 1", given="c = 2")
    with pytest.raises(pv.EmptyTable):
        pv.estimate(rows, design(public=True)).share("a = 1", given="c = 2")


@pytest.mark.parametrize("truths", [("3/4", "1/4"), ("9/10", "1/2"), ("1/3", "2/3")])
def test_two_samples_are_unbiased(truths: tuple[str, str]) -> None:
    """Over every outcome of two small samples, as the specification states it."""
    p, q = map(Fraction, truths)
    pi, other = Fraction(1, 5), Fraction(2, 3)
    seen = p * pi + (1 - p) * other, q * pi + (1 - q) * other
    mean = [0.0, 0.0]
    variance = [0.0, 0.0]
    stated = [0.0, 0.0]
    for a in range(4):
        for b in range(6):
            chance = float(_binomial(a, 3, seen[0]) * _binomial(b, 5, seen[1]))
            found = estimate_from_two_samples((a, 3), (b, 5), truths)
            for i, e in enumerate(found):
                mean[i] += chance * e.unbiased
                variance[i] += chance * e.unbiased**2
                stated[i] += chance * e.standard_error**2
                assert 0 <= e.value <= 1
    assert [float(pi), float(other)] == pytest.approx(mean)
    spread = [v - m * m for v, m in zip(variance, mean, strict=True)]
    assert spread == pytest.approx(stated)


def _binomial(k: int, n: int, p: Fraction) -> Fraction:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def test_two_samples_stay_in_the_square() -> None:
    """No pair of shares on a grid is likelier than the one that is given."""
    first, second, truths = (2, 40), (25, 40), ("0.8", "0.3")
    best, other = (e.value for e in pv.Estimate.unrelated(first, second, truths))

    def likely(x: float, y: float) -> float:
        total = 0.0
        for t, (yes, n) in ((0.8, first), (0.3, second)):
            p = min(max(t * x + (1 - t) * y, 1e-12), 1 - 1e-12)
            total += yes * np.log(p) + (n - yes) * np.log(1 - p)
        return total

    grid = np.linspace(0, 1, 41)
    assert likely(best, other) >= max(likely(x, y) for x in grid for y in grid) - 1e-9
    with pytest.raises(pv.InputError, match="must differ"):
        estimate_from_two_samples(first, second, ("0.5", "1/2"))
    with pytest.raises(pv.InputError, match="at least two"):
        estimate_from_two_samples((3, 2), second, truths)
