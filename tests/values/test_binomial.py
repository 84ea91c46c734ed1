"""Bounds of a binomial share lie on the safe side of exact sums, and close to them."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.responses.intervals import MOST_EXACT, sure_interval
from privet.values.noise.binomial import bound_by_chernoff, bound_by_clopper_pearson

HITS = st.integers(1, 120).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n))
)  # part of whole
MISSES = ["0.4", "0.1", "0.025", "0.0005", "0.0000000005"]


def tail(part: int, whole: int, share: Fraction) -> Fraction:
    """How likely so many hits are, or more."""
    return sum(
        (
            comb(whole, i) * share**i * (1 - share) ** (whole - i)
            for i in range(part, whole + 1)
        ),
        Fraction(0),
    )


@settings(max_examples=60)
@given(hits=HITS, miss=st.sampled_from(MISSES))
def test_no_bound_is_too_high_by_the_exact_sum(hits: tuple[int, int], miss: str):
    part, whole = hits
    exact = bound_by_clopper_pearson(part, whole, float(miss))
    wide = bound_by_chernoff(part, whole, float(miss))
    if part:
        assert tail(part, whole, Fraction(wide)) <= Fraction(miss)
        assert tail(part, whole, Fraction(exact)) <= Fraction(miss)
        near = Fraction(exact) * (1 + Fraction(1, 10**9))
        assert tail(part, whole, near) > Fraction(miss)
    else:
        assert 0.0 == exact == wide


@settings(max_examples=60)
@given(hits=HITS, confidence=st.sampled_from(["0.5", "0.9", "0.95", "0.999999", "0.1"]))
def test_both_ends_of_a_sure_interval_are_sure(hits: tuple[int, int], confidence: str):
    part, whole = hits
    low, high = map(Fraction, sure_interval(part, whole, float(confidence)))
    miss = (1 - Fraction(confidence)) / 2
    if part:
        assert tail(part, whole, low) <= miss
    if part < whole:
        assert tail(whole - part, whole, 1 - high) <= miss


@pytest.mark.parametrize("part", [1, 2, 40, 6_000, 10_000, 19_999, 20_000])
@pytest.mark.parametrize("miss", [0.25, 0.025, 1e-9])
def test_many_draws_agree_with_the_incomplete_beta_function(part: int, miss: float):
    special = pytest.importorskip("scipy.special")
    found = bound_by_clopper_pearson(part, MOST_EXACT, miss)
    beta = float(special.betaincinv(part, MOST_EXACT - part + 1, miss))
    assert beta == pytest.approx(found, rel=1e-8)
    assert found < beta


@pytest.mark.parametrize("whole", [10**5, 10**8, 10**12])
def test_chernoffs_bound_of_many_draws_stays_close_to_the_share(whole: int):
    low = bound_by_chernoff(whole // 2, whole, 0.025)
    half = sqrt(-log(0.025) / (2 * whole))  # Hoeffding's, nearly the same at 1/2
    assert 0.5 - half * 1.002 <= low < 0.5 - half * 0.99
