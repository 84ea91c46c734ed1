"""Numbers are what their written digits say, and are compared as fractions."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InputError
from privet.values import exact

fractions = st.fractions()
shares = st.fractions(0, 1)


# Reading ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
        (1e22, Fraction(10**22)),
        ("1/3", Fraction(1, 3)),
        (" 0.50 ", Fraction(1, 2)),
        ("50%", Fraction(1, 2)),
        ("12.5 %", Fraction(1, 8)),
        ("1/3 %", Fraction(1, 300)),
        ("-2", Fraction(-2)),
        ("1e-3", Fraction(1, 1000)),
        (3, Fraction(3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(5, 24), Fraction(5, 24)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int16(7), Fraction(7)),
    ],
)
def test_numbers_mean_their_digits(value: exact.Number, expected: Fraction) -> None:
    assert expected == exact.fraction(value)


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")),
        *(Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN")),
        *(True, False, np.True_, None, 1j, [], {}, b"1", object),
        *("", " ", "%", "a half", "1/0", "1/2/3", "nan", "inf", "0x10", "1,5", "½"),
        *("1e999999999", "1e-999999999", Decimal("1e-99999999"), "1e4001"),
    ],
)
def test_nonsense_is_refused(value: exact.Number) -> None:
    with pytest.raises(InputError, match="at_most must be a number such as") as caught:
        exact.fraction(value, "at_most")
    assert f"got {exact.quote_value(value)}." in str(caught.value)
    assert caught.value.__cause__ is None


@given(fractions)
def test_fractions_survive_being_written(number: Fraction) -> None:
    assert number == exact.fraction(number)
    assert number == exact.fraction(str(number))
    assert number / 100 == exact.fraction(f"{number} %")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_read_as_printed(number: float) -> None:
    assert Fraction(repr(number)) == exact.fraction(number)
    assert number == float(exact.fraction(number))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=9))
def test_decimals_are_exact(number: Decimal) -> None:
    assert Fraction(number) == exact.fraction(number) == exact.fraction(str(number))


@pytest.mark.parametrize("value", [-0.1, "1.0001", 2, Decimal("-1e-30")])
def test_probabilities_lie_between_0_and_1(value: exact.Number) -> None:
    with pytest.raises(InputError, match="prior must lie between 0 and 1; got"):
        exact.probability(value, "prior")


def test_the_ends_are_probabilities() -> None:
    assert [0, 1] == [exact.probability(0), exact.probability("100 %")]


# Comparing --------------------------------------------------------------------------

NEAR = 2**53
counts = st.one_of(
    st.integers(1, 12), st.integers(1, 10**6), st.integers(NEAR - 50, NEAR - 1)
)
pairs = st.tuples(counts, counts).map(sorted)
groups = st.lists(pairs, min_size=1, max_size=12)
limits = st.one_of(
    shares,
    st.fractions(0, 1, max_denominator=20),
    st.integers(1, 10**40).map(lambda d: Fraction(d // 3, d)),
    pairs.map(lambda p: Fraction(*p)),
)


def columns(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    part, whole = np.array(groups, dtype=np.int64).T
    return part, whole


@given(groups, limits)
def test_comparisons_are_those_of_fractions(
    groups: list[list[int]], limit: Fraction
) -> None:
    part, whole = columns(groups)
    real = [Fraction(p, w) for p, w in groups]
    assert [r > limit for r in real] == exact.exceeds(part, whole, limit).tolist()
    assert [r >= limit for r in real] == exact.reaches(part, whole, limit).tolist()


@given(groups, st.integers(0, 11))
def test_a_group_reaches_its_own_share_and_does_not_exceed_it(
    groups: list[list[int]], which: int
) -> None:
    part, whole = columns(groups)
    at = which % len(groups)
    own = Fraction(*groups[at])
    assert exact.reaches(part, whole, own)[at]
    assert not exact.exceeds(part, whole, own)[at]


@given(groups)
def test_the_highest_are_all_of_the_highest(groups: list[list[int]]) -> None:
    real = [Fraction(p, w) for p, w in groups]
    expected = [i for i, r in enumerate(real) if r == max(real)]
    assert expected == exact.find_highest(*columns(groups)).tolist()


def test_the_highest_where_floats_are_equal() -> None:
    """Five shares that one float stands for; the last is the largest."""
    part = [NEAR - 7, NEAR - 6, NEAR - 5, NEAR - 4, NEAR - 3]
    whole = [p + 1 for p in part]
    assert 1 == len({p / w for p, w in zip(part, whole, strict=True)})
    assert [4] == exact.find_highest(np.array(part), np.array(whole)).tolist()


def test_comparing_with_a_huge_denominator() -> None:
    tiny = Fraction(1, 2**70)
    none, one = np.array([0]), np.array([1])
    assert [False] == exact.exceeds(none, one, tiny).tolist()
    assert [True] == exact.exceeds(one, np.array([NEAR]), tiny).tolist()


def test_a_loss_never_exceeds_a_limit() -> None:
    """Far below 0, where multiplying by the limit's denominator would turn round."""
    lost = np.array([-(2**40), 1])
    whole = np.array([2**40, 2**40])
    tiny = Fraction(1, 3 * 2**22)
    assert [False, False] == exact.exceeds(lost, whole, tiny).tolist()


def test_comparing_nothing() -> None:
    nothing = np.array([], dtype=np.int64)
    assert [] == exact.exceeds(nothing, nothing, Fraction(1, 2)).tolist()
    assert [] == exact.reaches(nothing, nothing, Fraction(1, 2**80)).tolist()


# Showing ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        ("4/5", "80 %"),
        ("5/24", "20.8 %"),
        ("161/265", "60.8 %"),
        ("0", "0 %"),
        ("1", "100 %"),
        ("1/2000", "less than 0.1 %"),
        ("1999/2000", "more than 99.9 %"),
        ("0.0006", "0.1 %"),
        ("0.9994", "99.9 %"),
    ],
)
def test_percent(share: str, expected: str) -> None:
    assert expected == exact.percent(Fraction(share))


@given(shares)
def test_percent_never_rounds_onto_0_or_1(share: Fraction) -> None:
    text = exact.percent(share)
    assert (share == 0) == (text == "0 %")
    assert (share == 1) == (text == "100 %")


@given(shares)
def test_percent_is_right_to_its_last_digit(share: Fraction) -> None:
    text = exact.percent(share)
    if text[0].isdigit():
        assert abs(exact.fraction(text) - share) <= Fraction(1, 2000)


@given(shares, shares)
def test_percent_tells_apart_what_it_should(share: Fraction, other: Fraction) -> None:
    text = exact.percent(share, unlike=other)
    if share != other:
        assert text != exact.percent(other)
    else:
        assert text == exact.percent(other)


@pytest.mark.parametrize(
    ("share", "unlike", "expected"),
    [
        ("1251/2500", "1/2", "50.04 %"),
        ("299/4038", "26/353", "7.405 %"),
        ("4999/10000", "1/2", "49.99 %"),
        ("0.0004", "0.0003", "0.04 %"),
        ("50000000001/100000000000", "1/2", "slightly more than 50 %"),
        ("4/5", "1/2", "80 %"),
        ("1/2", "1/2", "50 %"),
        ("999999/1000000", "9995/10000", "99.9999 %"),
        ("1/1000000", "1/2500", "0.0001 %"),
        ("1", "99999/100000", "100 %"),
    ],
)
def test_percent_beside_a_limit(share: str, unlike: str, expected: str) -> None:
    shown = exact.percent(Fraction(share), unlike=Fraction(unlike))
    assert expected == shown


@pytest.mark.parametrize(
    ("level", "expected"),
    [("1/2", "50 %"), ("0.0005", "0.05 %"), ("1/3", "1/3"), ("1e-9", "1/1000000000")],
)
def test_limits_are_shown_in_full(level: str, expected: str) -> None:
    assert expected == exact.write_in_full(exact.fraction(level))


@given(shares)
def test_limits_shown_are_not_rounded(level: Fraction) -> None:
    assert level == exact.fraction(exact.write_in_full(level))
