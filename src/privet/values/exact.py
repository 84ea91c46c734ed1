"""Exact numbers: fractions read, compared and shown, and matrices of them inverted."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError

Number = str | int | float | Decimal | Fraction
"""What a probability may be written as; a float is taken at its printed digits."""

MAX_COUNT = 2**53
"""Counts stay below this, so that dividing two of them as floats rounds correctly."""

MOST_DIGITS = 1_000
"""Digits of a number as it is written; 1e-999999999 would fill the memory."""

CHANCE_DIGITS = 100
"""Digits of a probability as it is written: what is computed from forty of them still
has no more digits than Python writes, which are 4,300."""

LONGEST_QUOTE = 60
"""Letters of a value that an error quotes."""


def fraction(value: Number, what: str = "number") -> Fraction:
    """Read a number as the fraction its written digits mean.

    >>> fraction(0.1), fraction("3/4"), fraction("12.5 %")
    (Fraction(1, 10), Fraction(3, 4), Fraction(1, 8))
    """
    try:
        return _read(value)
    except (ValueError, TypeError, ArithmeticError):
        raise InputError(
            f"{what} must be a number such as 0.5, '1/2' or '50 %'; got "
            f"{quote_value(value)}."
        ) from None


def _read(value: object) -> Fraction:
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        value = Decimal(str(value))  # 0.1 is 1/10, not 3602879701896397/2**55
    if isinstance(value, str):
        return _read_text(value.strip())
    if isinstance(value, Decimal):
        if count_written(value) > MOST_DIGITS:
            raise ValueError("too long")
        return Fraction(value)
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Fraction(value)
    raise TypeError("not a number")


def _read_text(text: str) -> Fraction:
    if text.endswith("%"):
        return _read_text(text[:-1].strip()) / 100
    return Fraction(text) if "/" in text else _read(Decimal(text))


def count_written(value: Decimal) -> int:
    """How many digits it takes to write a number in full, on one side of the point.

    >>> count_written(Decimal("0.25")), count_written(Decimal("1e-300"))
    (2, 300)
    """
    _, digits, exponent = value.as_tuple()
    behind = -exponent if isinstance(exponent, int) else 0
    return max(len(digits), behind, value.adjusted() + 1 if behind or digits else 0)


def quote_value(value: object) -> str:
    """Anything as an error quotes it: numbers by their digits.

    >>> quote_value(Decimal("1.50")), quote_value("x"), quote_value(Fraction(5, 4))
    ('1.50', "'x'", '5/4')
    """
    numeric = isinstance(value, Decimal | Fraction | np.number)
    try:
        text = str(value) if numeric else repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number of thousands of digits"
    if len(text) <= LONGEST_QUOTE or not (numeric or isinstance(value, str | int)):
        return text
    return f"{text[:LONGEST_QUOTE]}… ({len(text)} letters)"


def count_decimals(x: Fraction) -> int | None:
    """How many digits a fraction has behind the point; None: they have no end.

    >>> count_decimals(Fraction(7, 8)), count_decimals(Fraction(1, 3))
    (3, None)
    """
    rest, twos, fives = x.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def all_digits(x: Fraction) -> str:
    """All digits of a number, or the fraction where they have no end.

    >>> all_digits(Fraction("-0.00000000012345678901")), all_digits(Fraction(1, 3))
    ('-0.00000000012345678901', '1/3')
    """
    after = count_decimals(x)
    if not after:
        return str(x)
    digits = str(abs(x.numerator) * 10**after // x.denominator).zfill(after + 1)
    sign = "-" if x < 0 else ""
    return f"{sign}{digits[:-after]}.{digits[-after:]}"


def level(value: Number, what: str) -> Fraction:
    """Read a number that promises are made of: one that people could have written."""
    found = fraction(value, what)
    written = not isinstance(value, int | Fraction)
    if written and found.denominator > 10**CHANCE_DIGITS:
        raise InputError(
            f"{what} must have at most {CHANCE_DIGITS} digits; got "
            f"{quote_value(value)}."
        )
    return found


def probability(value: Number, what: str = "probability") -> Fraction:
    """Read a number between 0 and 1, both included.

    >>> probability("5/24")
    Fraction(5, 24)
    """
    p = level(value, what)
    if not 0 <= p <= 1:
        raise InputError(f"{what} must lie between 0 and 1; got {quote_value(value)}.")
    return p


def as_float(p: Fraction) -> float:
    """The nearest float: for showing and plotting, never for deciding."""
    try:
        return float(p)
    except OverflowError:
        return inf if p > 0 else -inf


def percent(p: Fraction, *, unlike: Fraction | None = None) -> str:
    """A probability as people read it, never rounded onto 0, onto 1 or onto `unlike`.

    >>> percent(Fraction(4, 5)), percent(Fraction(5, 24)), percent(Fraction(1, 10**6))
    ('80 %', '20.8 %', 'less than 0.1 %')
    >>> percent(Fraction(999_999, 10**6))
    'more than 99.9 %'
    >>> percent(Fraction(1251, 2500), unlike=Fraction(1, 2))
    '50.04 %'
    """
    text = _format_percent(p)
    if unlike is None or p == unlike or text != (other := _format_percent(unlike)):
        return text
    # 7.4 % is no answer where the other is read as 7.4 %, be both 7.40 and 7.37.
    taken = (other,) if p in (0, 1) else (other, "0 %", "100 %")
    for digits in range(2, 7):
        if (text := _rounded(p, digits)) not in (*taken, _rounded(unlike, digits)):
            return text
    return f"slightly {'more' if p > unlike else 'less'} than {write_in_full(unlike)}"


def _format_percent(p: Fraction) -> str:
    if 0 < p < 1 and round(p * 1000) in (0, 1000):
        return "less than 0.1 %" if p < Fraction(1, 2) else "more than 99.9 %"
    return _rounded(p, 1)


def _rounded(p: Fraction, digits: int) -> str:
    """In hundredths, rounded to so many digits behind the point."""
    # 5/24 to 1 digit: round(208.33) = 208 tenths, 20 and 8.
    whole, rest = divmod(round(p * 100 * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}}".rstrip("0").removesuffix(".") + " %"


def write_in_full(p: Fraction) -> str:
    """A limit in full: in hundredths where a few digits say it, else as a fraction.

    >>> write_in_full(Fraction(1, 2000)), write_in_full(Fraction(1, 3))
    ('0.05 %', '1/3')
    """
    few = 10**6 % p.denominator == 0
    return _rounded(p, 4) if few else str(p)


# Shares compared in integers --------------------------------------------------------


def exceeds(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> NDArray[np.bool_]:
    """Where part / whole is above the limit, decided in integers.

    >>> exceeds(np.array([4, 3]), np.array([5, 6]), Fraction(1, 2))
    array([ True, False])
    """
    left, right = _multiply_out(part, whole, limit)
    return np.asarray(left > right, dtype=bool)


def reaches(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> NDArray[np.bool_]:
    """Where part / whole is at the limit or above it, decided in integers."""
    left, right = _multiply_out(part, whole, limit)
    return np.asarray(left >= right, dtype=bool)


def _multiply_out(
    part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both sides of part / whole against the limit, multiplied out."""
    num, den = limit.numerator, limit.denominator
    # At least 1 each, so that the factors themselves fit into 64 bits too.
    most = max(int(part.max(initial=1)), -int(part.min(initial=0)))
    largest = max(most * den, int(whole.max(initial=1)) * num)
    if largest < 2**63:
        return part if den == 1 else part * den, whole if num == 1 else whole * num
    # A limit such as 0.333333333333 against a billion rows.
    return part.astype(object) * den, whole.astype(object) * num


def find_highest(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.intp]:
    """Positions where part / whole is largest, all of them, exactly.

    Division of integers below 2**53 rounds monotonically, so the exact maximum is
    among the positions with the largest float; those are compared as fractions.

    >>> find_highest(np.array([4, 1, 8]), np.array([5, 2, 10]))
    array([0, 2])
    """
    share = part / whole
    at = np.flatnonzero(share == share.max())
    return find_highest_among(part, whole, at)


def find_highest_among(
    part: NDArray[np.int64], whole: NDArray[np.int64], at: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The same among some positions, whatever their floats are."""
    part, whole = part[at], whole[at]
    best = Fraction(int(part[0]), int(whole[0]))
    # Each turn finds a larger share of finitely many, so this ends.
    while (above := exceeds(part, whole, best)).any():
        first = int(np.argmax(above))
        best = Fraction(int(part[first]), int(whole[first]))
    found: NDArray[np.intp] = at[reaches(part, whole, best)]
    return found


# Matrices of fractions --------------------------------------------------------------

Rows = tuple[tuple[Fraction, ...], ...]
"""A matrix, row by row."""

EXACT = 40
"""Rows up to which an inverse is worked out in fractions; beyond, they grow long."""

PRIMES = (2**31 - 1, 2**31 - 19, 2**31 - 61)


def invert_matrix(rows: Rows) -> Rows | None:
    """The inverse of a matrix, exactly; None if it has none.

    By Bareiss's elimination, in integers. Columns are multiplied out before it and rows
    of the inverse after it: a column of a channel has one denominator, a row many.
    """
    size = len(rows)
    scales = [
        lcm(*(v.denominator for v in column)) for column in zip(*rows, strict=True)
    ]
    whole = [[int(v * s) for v, s in zip(row, scales, strict=True)] for row in rows]
    # (size, 2 size): left the matrix, right what becomes its inverse times `last`. Of
    # 1/2 1/3; 1/2 2/3 the integers are 1 1; 1 2, the inverse is 4 -2; -3 3.
    work = np.hstack([np.array(whole, dtype=object), np.eye(size, dtype=int)])
    last = 1
    for i in range(size):
        found = np.flatnonzero(work[i:, i])
        if not len(found):
            return None
        pivot = i + int(found[0])
        work[[i, pivot]] = work[[pivot, i]]
        own, below = work[i].copy(), work[:, i].copy()
        # Every 2 x 2 determinant is a multiple of the pivot before: nothing is lost.
        work = (own[i] * work - np.outer(below, own)) // last
        work[i], last = own, own[i]
    return tuple(
        tuple(Fraction(int(v) * scale, int(last)) for v in row)
        for row, scale in zip(work[:, size:], scales, strict=True)
    )


def is_singular(rows: Rows) -> bool:
    """Whether the determinant is 0.

    If it is not 0 modulo one prime it is not 0. If it is 0 modulo three of 31 bits,
    a small matrix is worked out, and a large one taken as singular.
    """
    if all(_vanishes(rows, prime) for prime in PRIMES):
        return len(rows) > EXACT or invert_matrix(rows) is None
    return False


def _vanishes(rows: Rows, prime: int) -> bool:
    """Whether the determinant, times a number, is 0 modulo a prime."""
    whole = [
        [_reduce_row(row, lcm(*(v.denominator for v in row)), prime)] for row in rows
    ]
    work = np.array(whole, dtype=np.int64).reshape(len(rows), len(rows))
    for i in range(len(rows)):
        found = np.flatnonzero(work[i:, i])
        if not len(found):
            return True
        pivot = i + int(found[0])
        work[[i, pivot]] = work[[pivot, i]]
        work[i] = work[i] * pow(int(work[i, i]), -1, prime) % prime
        # Residues are below 2**31, products of two below 2**62: int64 holds them.
        below = work[i + 1 :, i : i + 1]
        work[i + 1 :] = (work[i + 1 :] - below * work[i] % prime) % prime
    return False


def _reduce_row(row: tuple[Fraction, ...], scale: int, prime: int) -> list[int]:
    return [v.numerator * (scale // v.denominator) % prime for v in row]
