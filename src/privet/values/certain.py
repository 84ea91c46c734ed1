"""Comparisons with logarithms, decided for certain.

A logarithm of a rational number other than 1 is never rational, so enough digits tell
it from any; entropies may tie, and are then compared as integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import gcd

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
