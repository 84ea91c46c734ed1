"""Logarithms of integers and fractions, certified: to any number of bits, with bounds.

Everything is integer arithmetic: ``Logs.of`` gives two integers with the binary
logarithm times ``2**bits`` between them. Sorted numbers are reached from each other by
``ln(b/a) = 2 atanh((b - a)/(b + a))``, a series whose terms shrink fast.

Comparisons with logarithms and entropies are decided for certain: a logarithm of a
rational number other than 1 is never rational, so enough digits tell it from any;
entropies may tie, and are then compared as integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd

Bracket = tuple[int, int]
"""A lower and an upper bound."""

SLACK = 40
"""Bits beyond those asked for; more than all roundings together can spoil."""


class Logs:
    """Logarithms of many numbers at once, scaled by ``2**bits``.

    >>> Logs([Fraction(8), Fraction(1, 2)], 10).bracket(Fraction(8))
    (3072, 3072)
    """

    def __init__(self, numbers: Iterable[Fraction], bits: int) -> None:
        wanted = {n for x in numbers for n in (x.numerator, x.denominator)}
        if any(n <= 0 for n in wanted):
            raise ValueError("logarithms are of positive numbers")
        self.bits = bits
        self._fine = bits + SLACK + len(wanted).bit_length() + bits.bit_length()
        self._logs = self._chain(wanted)

    def _chain(self, wanted: set[int]) -> dict[int, Bracket]:
        """Natural logarithms of the odd parts' mantissas, each from the one below."""
        ordered = sorted({_split_odd(n)[0] for n in wanted}, key=_mantissa)
        two = _atanh(1, 3, self._fine)
        found: dict[int, Bracket] = {}
        below, log = 1, (0, 0)  # of the mantissa, between 1 and 2
        for n in ordered:
            a, b = (
                below << _floor_log2(n),
                n << _floor_log2(below),
            )  # both mantissas, same scale
            if a != b:
                step = _atanh(b - a, b + a, self._fine)
                log = log[0] + 2 * step[0], log[1] + 2 * step[1]
            found[n], below = log, n
        scale = self.bits + SLACK
        return {
            n: ((low << scale) // (2 * two[1]), -(-(high << scale) // (2 * two[0])))
            for n, (low, high) in found.items()
        }

    def bracket(self, x: Fraction) -> Bracket:
        """The binary logarithm of one of the numbers, scaled; bounds."""
        twos = (_floor_log2(x.numerator) - _floor_log2(x.denominator)) << self.bits
        top = self._logs[_split_odd(x.numerator)[0]]
        bottom = self._logs[_split_odd(x.denominator)[0]]
        low, high = top[0] - bottom[1], top[1] - bottom[0]
        return twos + (low >> SLACK), twos - (-high >> SLACK)


def _split_odd(n: int) -> tuple[int, int]:
    """An integer as an odd one and how often to double it."""
    twos = (n & -n).bit_length() - 1
    return n >> twos, twos


def _floor_log2(n: int) -> int:
    return n.bit_length() - 1


def _mantissa(n: int) -> Fraction:
    return Fraction(n, 1 << _floor_log2(n))


def _atanh(a: int, b: int, bits: int) -> Bracket:
    """atanh(a/b) times ``2**bits`` for 0 <= a/b <= 1/3, bounds."""
    square, other = a * a, b * b
    term = (a << bits) // b
    low, k, terms = 0, 1, 0
    while term:
        low += term // k
        term = term * square // other
        k, terms = k + 2, terms + 1
    # Each term was rounded down by less than 2 in all that follows from it; what is
    # left of the series is less than the last term's rounding.
    return low, low + 3 * terms + 3


def is_at_most_log(number: Fraction, x: Fraction) -> bool:
    """Whether a number is at most the binary logarithm of x, exactly.

    >>> tuple(is_at_most_log(Fraction(x), Fraction(8)) for x in (3, 4))
    (True, False)
    """
    odd_top, odd_bottom = _split_odd(x.numerator), _split_odd(x.denominator)
    if odd_top[0] == odd_bottom[0] == 1:
        return number <= odd_top[1] - odd_bottom[1]
    bits = 64
    while True:  # the logarithm is irrational, so this ends
        low, high = Logs([x], bits).bracket(x)
        if number <= Fraction(low, 1 << bits):
            return True
        if number > Fraction(high, 1 << bits):
            return False
        bits *= 2


@lru_cache(maxsize=64)
def log_bracket(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Bounds on the binary logarithm of x."""
    low, high = Logs([x], bits).bracket(x)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


# Comparisons ------------------------------------------------------------------------

DIGITS = (30, 100, 400, 1600)
"""Digits tried, one after the other."""


def log_reaches(x: Fraction, level: Fraction) -> bool:
    """Whether the natural logarithm of x is at least a level.

    >>> log_reaches(Fraction(3), Fraction(1)), log_reaches(Fraction(2), Fraction(1))
    (True, False)
    """
    if x == 1 or level == 0:
        return (x >= 1) if level == 0 else (level <= 0)
    for digits in DIGITS:
        with localcontext() as context:
            context.prec = digits
            log = (Decimal(x.numerator) / Decimal(x.denominator)).ln()
            gap = log - Decimal(level.numerator) / Decimal(level.denominator)
            if abs(gap) > Decimal(10) ** (5 - digits) * (1 + abs(log)):
                return gap > 0
    raise ArithmeticError("a logarithm is too close to its level")


def entropy_reaches(counts: Sequence[int], level: Fraction) -> bool:
    """Whether the exponential of the entropy of some counts is at least a level.

    >>> entropy_reaches([5, 5], Fraction(2)), entropy_reaches([5, 4], Fraction(2))
    (True, False)
    """
    common = reduce(gcd, counts)
    small = [n // common for n in counts]
    people = sum(small)
    with localcontext() as context:
        context.prec = 60
        logs = sum(n * Decimal(n).ln() for n in small)
        held = people * Decimal(people).ln() - logs
        wanted = people * (Decimal(level.numerator) / Decimal(level.denominator)).ln()
        if abs(held - wanted) > Decimal(10) ** -45 * (1 + abs(held)):
            return held > wanted
    # exp(H) >= p/q  <=>  (N q)**N >= p**N times the product of n**n
    product = 1
    for n in small:
        product *= n**n
    left = (people * level.denominator) ** people
    return bool(left >= level.numerator**people * product)
