"""Limits as fractions of small numbers: exact for all groups of a table."""

from __future__ import annotations

from fractions import Fraction

from privet.values.beliefs import Ceiling

NEVER = Fraction(-1)
"""No belief is low enough."""


def most(limit: Ceiling, people: int) -> Fraction:
    """The highest belief that keeps a limit, among fractions of at most so many people.

    A share of N people, N at most `people`, keeps the limit just if it is not above
    this fraction, whose terms are small whatever digits the limit has.

    >>> most(Ceiling("0.3333333333333333333333"), 10), most(Ceiling(below="1/2"), 7)
    (Fraction(3, 10), Fraction(3, 7))
    """
    near = limit.level.limit_denominator(people)
    if near < limit.level or (near == limit.level and not limit.strict):
        return near
    return _before(near, people)


def _before(share: Fraction, people: int) -> Fraction:
    """The next lower fraction whose denominator is at most so large."""
    if share == 0:
        return NEVER
    a, b = share.numerator, share.denominator
    step = pow(a, -1, b) if b > 1 else 0
    d = people - (people - step) % b
    return Fraction(a * d - 1, b * d)
