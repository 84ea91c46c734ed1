"""Certified logarithms hold what the standard library's correctly rounded ones say."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, log, log2

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from privet.values.logarithms import (
    Logs,
    entropy_reaches,
    is_at_most_log,
    log_bracket,
    log_reaches,
)

BITS = [4, 64, 300]
DIGITS = 130
"""Of the oracle: more than the bits of any case here."""

POSITIVE = st.builds(Fraction, st.integers(1, 10**12), st.integers(1, 10**12))
COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=6)


def enclosed_log2(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds from `Decimal.ln`, which is correctly rounded."""
    with localcontext() as context:
        context.prec = DIGITS
        value = (Decimal(x.numerator).ln() - Decimal(x.denominator).ln()) / Decimal(
            2
        ).ln()
    wrong = Fraction(1, 10 ** (DIGITS - 5))
    return Fraction(value) - wrong, Fraction(value) + wrong


@pytest.mark.parametrize("bits", BITS)
@given(numbers=st.lists(POSITIVE, min_size=1, max_size=8))
@example(numbers=[Fraction(1), Fraction(2**70, 3), Fraction(1 + 2**40, 2**40)])
def test_brackets_hold_the_logarithm_and_are_one_unit_wide(
    bits: int, numbers: list[Fraction]
) -> None:
    logs = Logs(numbers, bits)
    for x in numbers:
        low, high = logs.bracket(x)
        least, most = enclosed_log2(x)
        assert Fraction(low, 2**bits) <= most
        assert Fraction(high, 2**bits) >= least
        assert high - low <= 1


def test_many_numbers_in_one_chain_stay_one_unit_wide() -> None:
    """Errors add up from number to number; the slack holds all of them."""
    numbers = [Fraction(n) for n in range(1, 5000)]
    logs = Logs(numbers, 64)
    for x in numbers:
        low, high = logs.bracket(x)
        assert high - low <= 1
        assert abs(low / 2**64 - log2(x)) < 1e-12


@pytest.mark.parametrize("power", [-70, -1, 0, 1, 3, 64])
def test_powers_of_two_are_exact(power: int) -> None:
    x = Fraction(2) ** power
    assert (power << 64, power << 64) == Logs([x], 64).bracket(x)
    assert is_at_most_log(Fraction(power), x)
    assert not is_at_most_log(Fraction(power) + Fraction(1, 10**99), x)


@given(POSITIVE, st.integers(1, 200))
def test_a_level_a_hair_away_is_told_from_a_logarithm(x: Fraction, bits: int) -> None:
    assume(x.numerator & (x.numerator - 1) or x.denominator & (x.denominator - 1))
    low, high = log_bracket(x, bits)
    assert is_at_most_log(low, x)
    assert not is_at_most_log(high, x)


@pytest.mark.parametrize("digits", [20, 60, 120])
@given(x=POSITIVE)
def test_natural_logarithms_are_told_from_their_own_digits(
    digits: int, x: Fraction
) -> None:
    assume(x != 1)
    with localcontext() as context:
        context.prec = digits + 30
        value = Decimal(x.numerator).ln() - Decimal(x.denominator).ln()
    hair = Fraction(1, 10**digits)
    assert log_reaches(x, Fraction(value) - hair)
    assert not log_reaches(x, Fraction(value) + hair)


def test_a_logarithm_of_two_thousand_digits_is_told_from_its_level() -> None:
    """No number of bits is the last one that is tried."""
    with localcontext() as context:
        context.prec = 2000
        level = Fraction(Decimal(3).ln())
    hair = Fraction(1, 10**1990)
    assert log_reaches(Fraction(3), level - hair)
    assert not log_reaches(Fraction(3), level + hair)


def test_the_logarithm_of_one_is_zero() -> None:
    one = Fraction(1)
    assert [True, True, False] == [log_reaches(one, Fraction(n)) for n in (-1, 0, 1)]
    assert [False, True] == [
        log_reaches(x, Fraction(0)) for x in (Fraction(1, 2), Fraction(2))
    ]


@given(COUNTS, st.integers(1, 10**6))
def test_entropies_are_compared_as_powers_of_integers_are(
    counts: list[int], denominator: int
) -> None:
    n = sum(counts)
    value = exp(log(n) - sum(c * log(c) for c in counts) / n)
    near = Fraction(value).limit_denominator(denominator)
    for level in (near, near + Fraction(1, 10**9), Fraction(max(round(value), 1))):
        right = level**n
        for c in counts:
            right *= Fraction(c) ** c
        assert (Fraction(n) ** n >= right) == entropy_reaches(counts, level)


@pytest.mark.parametrize("several", [1, 2, 7])
@pytest.mark.parametrize("size", [1, 5, 10**12])
def test_values_as_common_as_each_other_tie_with_their_number(
    several: int, size: int
) -> None:
    assert entropy_reaches([size] * several, Fraction(several))
    assert not entropy_reaches([size] * several, several + Fraction(1, 10**50))


def test_one_person_more_in_a_trillion_is_seen() -> None:
    assert not entropy_reaches([10**12, 10**12 + 1], Fraction(2))
    assert entropy_reaches([10**12, 10**12 + 1], 2 - Fraction(1, 10**20))
