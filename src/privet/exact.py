"""Exact numbers: fractions in, fractions compared, and the one place they are shown."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError

Number = str | int | float | Decimal | Fraction
"""What a probability may be written as; a float is taken at its printed digits."""

MAX_COUNT = 2**53
"""Counts stay below this, so that dividing two of them as floats rounds correctly."""


def fraction(value: Number, what: str = "number") -> Fraction:
    """Read a number as the fraction its written digits mean.

    >>> fraction(0.1), fraction("3/4"), fraction("12.5 %")
    (Fraction(1, 10), Fraction(3, 4), Fraction(1, 8))
    """
    try:
        return _read(value)
    except (ValueError, TypeError, ZeroDivisionError, InvalidOperation) as error:
        raise InputError(
            f"{what} must be a number such as 0.5, '1/2' or '50 %'; got {value!r}."
        ) from error


def _read(value: object) -> Fraction:
    if isinstance(value, bool):
        raise TypeError("a truth value is not a number")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("not finite")
        return Fraction(repr(value))  # 0.1 is 1/10, not 3602879701896397/2**55
    if isinstance(value, str):
        text = value.strip()
        if text.endswith("%"):
            return Fraction(text[:-1].strip()) / 100
        return Fraction(text)
    if isinstance(value, int | Decimal | Fraction):
        return Fraction(value)
    raise TypeError("not a number")


def probability(value: Number, what: str = "probability") -> Fraction:
    """Read a number between 0 and 1, both included.

    >>> probability("5/24")
    Fraction(5, 24)
    """
    p = fraction(value, what)
    if not 0 <= p <= 1:
        raise InputError(f"{what} must lie between 0 and 1; got {value!r}.")
    return p


def as_float(p: Fraction) -> float:
    """The nearest float: for showing and plotting, never for deciding."""
    return float(p)


def percent(p: Fraction) -> str:
    """A probability as people read it, never rounded onto 0 or 1.

    >>> percent(Fraction(4, 5)), percent(Fraction(5, 24)), percent(Fraction(1, 10**6))
    ('80 %', '20.8 %', 'less than 0.1 %')
    >>> percent(Fraction(999_999, 10**6))
    'more than 99.9 %'
    """
    if 0 < p < Fraction(1, 2000):
        return "less than 0.1 %"
    if Fraction(1999, 2000) < p < 1:
        return "more than 99.9 %"
    return f"{as_float(p * 100):.1f}".removesuffix(".0") + " %"


def exceeds(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> NDArray[np.bool_]:
    """Where part / whole is above the limit, decided in integers.

    >>> exceeds(np.array([4, 3]), np.array([5, 6]), Fraction(1, 2))
    array([ True, False])
    """
    return _compare(part, whole, limit)[0]


def reaches(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> NDArray[np.bool_]:
    """Where part / whole is at the limit or above it, decided in integers."""
    above, equal = _compare(part, whole, limit)
    return above | equal


def _compare(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    num, den = limit.numerator, limit.denominator
    largest = max(int(part.max(initial=0)) * den, int(whole.max(initial=0)) * num)
    if largest < 2**63:
        left, right = part * den, whole * num
    else:  # a limit such as 0.333333333333 against a billion rows
        left, right = part.astype(object) * den, whole.astype(object) * num
    return np.asarray(left > right, dtype=bool), np.asarray(left == right, dtype=bool)


def highest(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.intp]:
    """Positions where part / whole is largest, all of them, exactly.

    Division of integers below 2**53 rounds monotonically, so the exact maximum is
    among the positions with the largest float; those are compared as fractions.

    >>> highest(np.array([4, 1, 8]), np.array([5, 2, 10]))
    array([0, 2])
    """
    share = part / whole
    at = np.flatnonzero(share == share.max())
    pairs, which = np.unique(
        np.stack([part[at], whole[at]]), axis=1, return_inverse=True
    )
    exact = [Fraction(int(a), int(b)) for a, b in pairs.T]
    best = np.array([e == max(exact) for e in exact])
    found: NDArray[np.intp] = at[best[which.ravel()]]
    return found
