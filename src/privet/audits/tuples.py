"""Tables behind any set of small views: the tuples of their join, part by part.

A table that gives the views is a set of join tuples that leaves no view tuple bare.
Parts that share no view tuple are independent. Small parts are listed; for others a
share is bounded by Harris' inequality below and a union bound above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.audits.chances import BITS, Share
from privet.errors import TooLarge

MOST_LISTED = 18
"""Join tuples of a part whose subsets are listed."""

MOST_JOINED = 300_000
"""Join tuples that are looked at."""

Row = Mapping[str, int]
"""A tuple, by column."""


@dataclass(frozen=True)
class Joined:
    """A connected part of a join."""

    tuples: tuple[tuple[int, ...], ...]
    """For each join tuple the numbers of the view tuples it needs."""
    people: tuple[int, ...]
    """For each join tuple whom it is about …"""
    values: tuple[int, ...]
    """… and the private value."""

    @property
    def small(self) -> bool:
        """Whether all tables can be listed."""
        return len(self.tuples) <= MOST_LISTED

    @cached_property
    def worlds(self) -> NDArray[np.uint32]:
        """All sets of join tuples that cover the view tuples, as bit masks."""
        found = np.arange(1 << len(self.tuples), dtype=np.uint32)
        needs: dict[int, int] = defaultdict(int)
        for bit, needed in enumerate(self.tuples):
            for t in needed:
                needs[t] |= 1 << bit
        for mask in needs.values():
            found = found[(found & np.uint32(mask)) != 0]
        return found

    def mask(self, person: int, value: int | None = None) -> int:
        """The join tuples of a person, perhaps with one value."""
        return sum(
            1 << bit
            for bit, (i, p) in enumerate(zip(self.people, self.values, strict=True))
            if i == person and value in (None, p)
        )

    def share(self, person: int, value: int) -> Share:
        """The share of worlds that hold an association."""
        if self.small:
            having = (self.worlds & np.uint32(self.mask(person, value))) != 0
            return Share.of(Fraction(int(having.sum()), len(self.worlds)))
        return self._bounded(person, value)

    def restricted(self, person: int, value: int) -> Fraction | None:
        """Among worlds in which the person has one value only; None: there is none."""
        others = self.mask(person) & ~self.mask(person, value)
        mine = self.worlds & np.uint32(self.mask(person))
        fitting = 0
        for p in {
            p for i, p in zip(self.people, self.values, strict=True) if i == person
        }:
            own = np.uint32(self.mask(person, p))
            fitting += int(((mine & own) == mine).sum())
        having = int(((mine & np.uint32(others)) == 0).sum())
        return Fraction(having, fitting) if fitting else None

    def functional(self, person: int, value: int) -> Fraction | None:
        """Among worlds in which everybody has one value only."""
        fits = np.ones(len(self.worlds), dtype=bool)
        for i in set(self.people):
            mine = self.worlds & np.uint32(self.mask(i))
            one = np.zeros(len(mine), dtype=bool)
            for p in set(self.values):
                one |= (mine & np.uint32(self.mask(i, p))) == mine
            fits &= one
        left = self.worlds[fits]
        having = (left & np.uint32(self.mask(person, value))) != 0
        return Fraction(int(having.sum()), len(left)) if len(left) else None

    def _bounded(self, person: int, value: int) -> Share:
        """Harris below, a union bound over view tuples above."""
        supports = [
            needed
            for needed, i, p in zip(self.tuples, self.people, self.values, strict=True)
            if (i, p) == (person, value)
        ]
        kept: dict[int, int] = defaultdict(int)
        for needed in self.tuples:
            for t in needed:
                kept[t] += 1
        for needed in supports:
            for t in needed:
                kept[t] -= 1
        scale = 1 << BITS
        delta = Fraction(sum(max(scale >> k, 1) for k in kept.values()), scale)
        miss = Fraction(1, 1 << len(supports)) if len(supports) < BITS else Fraction(0)
        low = 1 - Fraction(1, 1 << min(len(supports), BITS))
        return Share(low, 1 - miss * max(Fraction(0), 1 - delta))


def join(views: Sequence[Sequence[Row]]) -> list[tuple[Row, tuple[int, ...]]]:
    """The natural join, each tuple with the numbers of the view tuples it needs."""
    found: list[tuple[Row, tuple[int, ...]]] = [({}, ())]
    offset = 0
    for view in views:
        shared = sorted(set(found[0][0]) & set(view[0])) if found and view else []
        by: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, row in enumerate(view):
            by[tuple(row[c] for c in shared)].append(number)
        more: list[tuple[Row, tuple[int, ...]]] = []
        for left, needed in found:
            for number in by[tuple(left[c] for c in shared)]:
                more.append(({**left, **view[number]}, (*needed, offset + number)))
            if len(more) > MOST_JOINED:
                raise TooLarge(
                    "More than two views that no key links are judged up to "
                    f"{MOST_JOINED} tuples of their join; there are more."
                )
        found, offset = more, offset + len(view)
    return found


def parts(
    joined: Iterable[tuple[Row, tuple[int, ...]]], person: str, secret: str
) -> list[Joined]:
    """The connected parts of a join."""
    rows = list(joined)
    root: dict[int, int] = {}

    def find(t: int) -> int:
        while root.setdefault(t, t) != t:
            root[t] = root[root[t]]
            t = root[t]
        return t

    for _, needed in rows:
        first = find(needed[0])
        for t in needed[1:]:
            root[find(t)] = first
    groups: dict[int, list[tuple[Row, tuple[int, ...]]]] = defaultdict(list)
    for row, needed in rows:
        groups[find(needed[0])].append((row, needed))
    return [
        Joined(
            tuple(needed for _, needed in group),
            tuple(row[person] for row, _ in group),
            tuple(row[secret] for row, _ in group),
        )
        for group in groups.values()
    ]


def check_covered(
    joined: Collection[tuple[Row, tuple[int, ...]]], views: Sequence[Sequence[Row]]
) -> bool:
    """Whether every view tuple occurs in the join; else no table gives the views."""
    used = {t for _, needed in joined for t in needed}
    return len(used) == sum(len(view) for view in views)
