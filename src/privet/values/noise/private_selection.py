"""Private selection of values: those few people hold hardly ever appear.

A value that nobody declared is published with a chance that grows with the people who
hold it, as fast as a privacy loss allows and no faster. It is the best there is: no
other rule with that loss publishes any value more often. All in fractions: e to the
epsilon is bounded from below, and chances are rounded down, which only hides more.
Desfontaines, Voss, Gipson, Mandayam 2022, theorem 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import expm1

from privet.errors import InputError
from privet.values.logarithms import natural_log_bracket

FINE = 2**80
"""Chances are multiples of one in this."""

MOST_HOLDERS = 10**5
"""Where a value is not certain to appear by then, epsilon and delta are too small."""


@dataclass(frozen=True)
class PrivateSelection:
    """Which values are published, by how many people hold them.

    >>> rule = PrivateSelection.plan(Fraction(1), Fraction(1, 1000))
    >>> rule.even, rule.certain
    (7, 14)
    """

    epsilon: Fraction
    """The loss by one person who holds one value."""
    delta: Fraction
    """But for this chance."""
    chances: tuple[int, ...]
    """How likely a value with 0, 1, 2 … holders is published, of `FINE`; afterwards it
    is certain."""

    @classmethod
    def plan(cls, epsilon: Fraction, delta: Fraction) -> PrivateSelection:
        """The rule for a loss by one person who holds one value."""
        if not (epsilon > 0 and 0 < delta < 1):
            raise InputError(
                "A private selection must have an epsilon above 0, and a delta above 0 "
                f"and below 1; got {epsilon} and {delta}."
            )
        return cls(epsilon, delta, list_chances(epsilon, delta))

    @property
    def certain(self) -> int:
        """From how many holders on a value is published for certain."""
        return len(self.chances)

    @property
    def even(self) -> int:
        """From how many holders on it is as likely as not."""
        half = (k for k, chance in enumerate(self.chances) if 2 * chance >= FINE)
        return next(half, self.certain)

    def chance(self, holders: int) -> Fraction:
        """How likely a value with so many holders is published."""
        if holders >= self.certain:
            return Fraction(1)
        return Fraction(self.chances[max(0, holders)], FINE)


@lru_cache(maxsize=32)
def list_chances(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """The chances of 0, 1, 2 … holders, of `FINE`, until one is certain."""
    # In whole numbers of one in FINE, each rounded down.
    growth, more = int(bound_exp(epsilon) * FINE), int(delta * FINE)
    found = [0]
    while True:
        now = found[-1]
        # At most e times as likely as with one holder less, and not published at
        # least 1/e as likely, but for delta each.
        often = growth * now // FINE + more
        rarely = FINE + (now + more - FINE) * FINE // growth
        if min(often, rarely) >= FINE:
            return tuple(found)
        found.append(min(often, rarely))
        if len(found) > MOST_HOLDERS or found[-1] == found[-2]:
            raise InputError(
                "epsilon and delta must be larger for values to be selected by; "
                f"{MOST_HOLDERS:,} people who hold one would not be enough."
            )


def bound_exp(x: Fraction) -> Fraction:
    """A fraction just below e to the x, for x above 0."""
    guess = Fraction(expm1(float(x)))
    while True:
        guess -= guess / 2**40
        # A number is below e to the x where its logarithm is below x for certain.
        if natural_log_bracket(1 + guess, 128)[1] <= x:
            return 1 + guess
