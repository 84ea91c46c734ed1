"""SkylineCheck of sets under splits: whether lists stay safe once a group is split.

Running minima, as those of single values: per point the least CF1, and per point and
value the least CF2 to CF5, over all groups that ever were. Merging never raises what
they say, be it exact or a bound; so a split that was refused once is refused for ever.
CF1 needs every value, not only the most frequent one: which values may be ruled out
beside it differs.
Chen, LeFevre, Ramakrishnan 2007, set-valued attributes; "SkylineAnonymize Algorithm".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from privet.microdata.list_columns import Set
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.incremental import Requirement
from privet.microdata.skyline.set_counts import Choices, GroupSets, index_sets
from privet.values.arrays import Flags, Ints
from privet.values.contingency import Domain

CLOSE = 1e-9
"""Ratios of floats that are closer than this are compared as fractions."""


class ValueMinima(NamedTuple):
    """The least CF2 to CF5 of one value; no group has more of it to offer."""

    known: Fraction
    """CF2: the victim beside the people known."""
    companions: Fraction
    """CF3: companions alone."""
    victim: Fraction
    """CF4: the victim alone."""
    both: Fraction
    """CF5: companions beside the people known."""

    def lower(self, other: ValueMinima) -> ValueMinima:
        """The least of each."""
        return ValueMinima(*map(min, self, other))

    @property
    def odds(self) -> Fraction:
        """The least odds of the two attacks on two groups."""
        return min(self.known * self.companions, self.victim * self.both)


@dataclass(frozen=True, eq=False)
class SetPointMinima:
    """The minima of one skyline point (l, k, m)."""

    asked: Requirement
    """Protected values are codes of members here."""
    one: Fraction | None = None
    """CF1; None while no value that matters was seen."""
    values: Mapping[int, ValueMinima] = field(default_factory=dict)
    """CF2 to CF5 of each value; left out without companions, who add nothing then."""

    def with_group(self, counts: GroupSets) -> SetPointMinima:
        """With one more group."""
        l, k, m = self.asked.point
        assert isinstance(l, int)
        best, values = self.one, dict(self.values)
        for s in np.flatnonzero(counts.having).tolist():
            if self.asked.protect is not None and s not in self.asked.protect:
                continue
            a = int(counts.having[s])
            b = counts.people - a
            choices = counts.list_choices(s, l)
            near = find_least(choices, k)
            one = near * closed_forms.cf5(a, b, k + 1, m)
            best = one if best is None else min(best, one)
            if m:
                new = ValueMinima(
                    near,
                    closed_forms.cf5(a, b, 0, m),
                    find_least(choices, 0),
                    closed_forms.cf5(a, b, k, m),
                )
                values[s] = new.lower(values[s]) if s in values else new
        return SetPointMinima(self.asked, best, values)

    def odds(self) -> Fraction | None:
        """The least odds; None while no value that matters was seen."""
        if self.one is None:
            return None
        return min([self.one, *(v.odds for v in self.values.values())])

    def is_safe(self) -> bool:
        """Whether every attack keeps the limit."""
        odds = self.odds()
        return odds is None or self.asked.holds(odds)


def find_least(choices: Choices, k: int) -> Fraction:
    """The least max(T - k, 0) / A, exactly."""
    left = np.maximum(choices.tail - k, 0)
    ratio = left / choices.holders
    near = np.flatnonzero(ratio <= ratio.min() * (1 + CLOSE))
    pairs = set(zip(left[near].tolist(), choices.holders[near].tolist(), strict=True))
    return min(Fraction(t, a) for t, a in pairs)


@dataclass(frozen=True, eq=False)
class SetMinima:
    """The minima of several points about one column of sets.

    It is asked as `skyline/incremental.py: RunningMinima` is, in counts of sets.

    >>> from privet.values.beliefs import Ceiling
    >>> from privet.microdata.skyline.closed_forms import Point
    >>> asked = [Requirement(Point(0, 0, 0), Ceiling("1/2"))]
    >>> index = SetIndex.of([("a", "b"), ("a",), ()])
    >>> root = SetMinima.empty(asked, index).with_groups(np.array([[1, 1, 2]]))
    >>> root.is_safe(), root.beliefs()
    (True, [Fraction(1, 2)])
    >>> root.split(np.array([[1, 1, 0], [0, 0, 2]])) is None
    True
    """

    index: SetIndex
    points: tuple[SetPointMinima, ...]

    @classmethod
    def empty(cls, asked: Sequence[Requirement], index: SetIndex) -> SetMinima:
        """No group yet."""
        return cls(index, tuple(SetPointMinima(a) for a in asked))

    def without_groups(self) -> SetMinima:
        """The same points, no group yet."""
        return SetMinima.empty([p.asked for p in self.points], self.index)

    def with_groups(self, histograms: Ints) -> SetMinima:
        """With more groups: one row each, a count per set."""
        after = list(self.points)
        for histogram in histograms:
            counts = self.index.count(histogram)
            after = [p.with_group(counts) for p in after]
        return SetMinima(self.index, tuple(after))

    def is_safe(self) -> bool:
        """Whether every point keeps its limit."""
        return all(p.is_safe() for p in self.points)

    def find_unsafe(self, histograms: Ints, asked: Flags) -> Flags:
        """Which of the groups asked for tell too much by themselves."""
        found, empty = np.zeros(len(histograms), dtype=bool), self.without_groups()
        for g in np.flatnonzero(asked).tolist():
            found[g] = not empty.with_groups(histograms[g : g + 1]).is_safe()
        return found

    def split(self, parts: Ints) -> SetMinima | None:
        """The minima once a group falls into these parts; None if that is unsafe."""
        after = self.with_groups(parts)
        return after if after.is_safe() else None

    def beliefs(self) -> list[Fraction]:
        """How sure the insider of each point can be by now."""
        found = [p.odds() for p in self.points]
        return [
            Fraction(0) if r is None else closed_forms.belief_from_odds(r)
            for r in found
        ]


@dataclass(frozen=True, eq=False)
class SetIndex:
    """Which values the set behind each code holds."""

    values: list[str | None]
    """The values, each at its code."""
    has: Flags
    """(sets, values)."""

    @classmethod
    def of(cls, sets: Sequence[Set]) -> SetIndex:
        """The values of some sets."""
        return cls(*index_sets(sets))

    def members(self, name: str) -> Domain:
        """The values as a column has them."""
        return Domain(name, self.values)

    def count(self, histogram: Ints) -> GroupSets:
        """The sets of a group with so many people per set."""
        used = np.flatnonzero(histogram)
        return GroupSets(self.has[used], histogram[used].astype(np.int64))
