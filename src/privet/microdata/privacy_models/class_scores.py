"""Equivalence classes as privacy models score them: one number for each, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, TooLarge
from privet.microdata.privacy_models.t_closeness import Ratio
from privet.microdata.skyline.closed_forms import NEAR, Floats, Ints
from privet.microdata.skyline.skyline import RankedValues, rank_values
from privet.policy import Measure
from privet.policy.measures import AT_LEAST, AT_MOST
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import exceeds, find_highest_among, reaches

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some equivalence classes, and how many of everybody have each value."""

    groups: EquivalenceClasses
    everybody: Ints | None = None
    """A count per code; None where no measure asks for it."""
    sizes: Ints | None = None
    """People each group could be taken for, where that is not its own number."""

    @cached_property
    def rows(self) -> RankedValues:
        """The histograms, most frequent value first."""
        return rank_values(self.groups)

    @cached_property
    def modes(self) -> Ints:
        """The count of each group's most frequent value."""
        return self.rows.a[self.rows.start[:-1]]

    @property
    def people(self) -> Ints:
        """How many look alike, group by group."""
        return self.groups.total if self.sizes is None else self.sizes

    @property
    def matches(self) -> Fraction:
        """Rows somebody gets right on average who matches all of them."""
        if self.sizes is None:
            return Fraction(len(self.groups))
        sizes, at = np.unique(self.sizes, return_inverse=True)
        # One fraction per size: two groups of 3 rows, each among 4 people, are 6/4.
        rows = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(rows, at, self.groups.total)
        each = zip(rows.tolist(), sizes.tolist(), strict=True)
        return sum((Fraction(n, size) for n, size in each), Fraction(0))

    @property
    def uniques(self) -> Fraction:
        """Rows that look like no other row."""
        return Fraction(int((self.people == 1).sum()))

    def require_one_value(self) -> None:
        """Shares of values need people who have just one each."""
        if int(self.groups.n.sum()) != int(self.groups.total.sum()):
            raise InputError(
                "Each person must have one value to be compared with everybody; some "
                "have several."
            )

    def distribution(self) -> Ints:
        """How many of everybody have each value, where everybody has just one."""
        assert self.everybody is not None
        self.require_one_value()
        most = int(self.groups.total.max()) * int(self.everybody.sum())
        if most * 4 * len(self.everybody) >= 2**63:
            raise TooLarge(
                "A group must not be so large that its comparison with everybody "
                f"passes 64 bits; got {int(self.groups.total.max()):,} people in one."
            )
        return self.everybody


@dataclass(frozen=True, eq=False)
class GroupScores:
    """One number per group, as a fraction, and which groups are beyond the level."""

    part: Ints
    whole: Ints
    beyond: Flags

    def find_worst(self, smallest: bool) -> int:
        """The group with the worst number, the first of equals; exactly."""
        part = -self.part if smallest else self.part
        if (self.whole == self.whole[0]).all():  # sizes, most often: of many groups
            return int(np.argmax(part))
        share = part / self.whole
        top = share.max()
        near = np.flatnonzero(share >= top - NEAR * abs(top))
        return int(find_highest_among(part, self.whole, near)[0])


def score_ratio(part: Ints, whole: Ints, measure: Measure) -> GroupScores:
    """These fractions as scores; which are beyond the level is decided exactly."""
    if measure.sense == AT_MOST:
        return GroupScores(part, whole, exceeds(part, whole, measure.level))
    high = reaches(part, whole, measure.level)
    return GroupScores(part, whole, ~high if measure.sense == AT_LEAST else high)


def broadcast_one(numbers: Ints) -> Ints:
    """What whole numbers are divided by; it takes no room."""
    return np.broadcast_to(np.int64(1), numbers.shape)


def compare_shares(batch: Batch) -> tuple[Ints, Ints, Ints]:
    """p/q of every row as a fraction, and the share of its value as a count."""
    groups, everybody = batch.groups, batch.distribution()
    share = everybody[groups.value]
    # p/q = (n / total) / (share / everybody)
    part = groups.n * int(everybody.sum())
    return part, share * groups.total[groups.group], share


def find_largest(x: Floats, start: NDArray[np.intp]) -> NDArray[np.intp]:
    """The row of each group with the largest number, the first of equals."""
    most = np.maximum.reduceat(x, start[:-1])
    size = np.diff(start)
    top = np.flatnonzero(x == np.repeat(most, size))
    group = np.repeat(np.arange(len(size)), size)[top]
    first = np.ones(len(top), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    return top[first]


def as_float(level: Fraction) -> float:
    """A level as a float, or one that no logarithm of counts reaches."""
    return float(min(level, Fraction(2**100)))


SHOWN = 10**9
"""Numbers that are no fractions are shown to so many parts."""


def as_ratio(x: Floats) -> Ratio:
    """Numbers as the fractions they are shown as."""
    part = np.rint(x * SHOWN).astype(np.int64)
    return part, np.full_like(part, SHOWN)
