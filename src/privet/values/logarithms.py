"""Logarithms of integers and fractions, certified: to any number of bits, with bounds.

Everything is integer arithmetic: ``Logs.bracket`` gives two integers with the binary
logarithm times ``2**bits`` between them. Sorted numbers are reached from each other by
``ln(b/a) = 2 atanh((b - a)/(b + a))``, a series whose terms shrink fast.

Comparisons are decided for certain: a logarithm of a rational number is irrational but
for powers of the base, so enough bits tell it from any level; entropies may tie, and
are then compared as integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd, prod

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
        odd = {_split_odd(n)[0] for n in wanted}
        # Mantissas in one scale: of 5 and 3, that is 5/4 and 3/2, 5 and 6.
        longest = max(map(_floor_log2, odd), default=0)
        ordered = sorted(odd, key=lambda n: n << (longest - _floor_log2(n)))
        two = _atanh(1, 3, self._fine)
        found: dict[int, Bracket] = {}
        below, log = 1, (0, 0)  # of the mantissa, between 1 and 2
        for n in ordered:
            # Both mantissas in one scale; 5/4 after 9/8: b/a = 40/36.
            a, b = below << _floor_log2(n), n << _floor_log2(below)
            if a != b:
                step = _atanh(b - a, b + a, self._fine)
                log = log[0] + 2 * step[0], log[1] + 2 * step[1]
            found[n], below = log, n
        # Divided by ln 2 = 2 atanh(1/3), outwards: binary logarithms.
        scale = self.bits + SLACK
        return {
            n: ((low << scale) // (2 * two[1]), -(-(high << scale) // (2 * two[0])))
            for n, (low, high) in found.items()
        }

    def bracket(self, x: Fraction) -> Bracket:
        """The binary logarithm of one of the numbers, scaled; bounds."""
        # 5/3 is 2**(2 - 1) times 5/4 over 3/2.
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


@lru_cache(maxsize=64)
def log_bracket(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Bounds on the binary logarithm of x."""
    low, high = Logs([x], bits).bracket(x)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


# Comparisons ------------------------------------------------------------------------


def is_at_most_log(number: Fraction, x: Fraction) -> bool:
    """Whether a number is at most the binary logarithm of x, exactly.

    >>> tuple(is_at_most_log(Fraction(x), Fraction(8)) for x in (3, 4))
    (True, False)
    """
    odd_top, odd_bottom = _split_odd(x.numerator), _split_odd(x.denominator)
    if odd_top[0] == odd_bottom[0] == 1:
        return number <= odd_top[1] - odd_bottom[1]
    return _reaches(lambda bits: log_bracket(x, bits), number)


def log_reaches(x: Fraction, level: Fraction) -> bool:
    """Whether the natural logarithm of x is at least a level.

    >>> log_reaches(Fraction(3), Fraction(1)), log_reaches(Fraction(2), Fraction(1))
    (True, False)
    """
    if x == 1 or level == 0:
        return (x >= 1) if level == 0 else (level <= 0)
    return _reaches(lambda bits: natural_log_bracket(x, bits), level)


def natural_log_bracket(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds on the natural logarithm: the binary one times that of 2."""
    two = [Fraction(2 * end, 1 << bits) for end in _atanh(1, 3, bits)]
    ends = [log * end for log in log_bracket(x, bits) for end in two]
    return min(ends), max(ends)


def _reaches(
    enclose: Callable[[int], tuple[Fraction, Fraction]], level: Fraction
) -> bool:
    """Whether a number is at least a level that it is not equal to."""
    bits = 64
    while True:  # bounds come as close as one likes, so this ends
        low, high = enclose(bits)
        if low >= level or high < level:
            return low >= level
        bits *= 2


ENTROPY_BITS = 200
"""Entropies closer to a level than these bits tell are compared as integers."""


def entropy_reaches(counts: Sequence[int], level: Fraction) -> bool:
    """Whether the exponential of the entropy of some counts is at least a level.

    >>> entropy_reaches([5, 5], Fraction(2)), entropy_reaches([5, 4], Fraction(2))
    (True, False)
    """
    if min(counts) == max(counts):  # the usual tie: all values as common
        return len(counts) >= level
    common = gcd(*counts)
    small = [n // common for n in counts]
    people = sum(small)
    logs = Logs([Fraction(people), level, *map(Fraction, small)], ENTROPY_BITS)
    # N log N - (the sum of n log n) against N log level
    # 5 and 4 against 2, in bits: 28.53 - 11.61 - 8 = 8.92, less than 9.
    whole, wanted = logs.bracket(Fraction(people)), logs.bracket(level)
    parts = [(n, logs.bracket(Fraction(n))) for n in small]
    low = people * (whole[0] - wanted[1]) - sum(n * log[1] for n, log in parts)
    high = people * (whole[1] - wanted[0]) - sum(n * log[0] for n, log in parts)
    if low > 0 or high < 0:
        return low > 0
    # exp(H) >= p/q  <=>  (N q)**N >= p**N times the product of n**n
    left = (people * level.denominator) ** people
    return bool(left >= level.numerator**people * prod(n**n for n in small))
