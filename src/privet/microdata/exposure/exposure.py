"""Exposure: of how many people a release tells something, whether promised or not.

A promise asks for the worst case within what it names. Exposure counts people: who is
unique on all that may be known, of whom somebody who has all of it is certain, and of
whom somebody is surer than each limit of the policy; the same for two or three columns,
whichever tell most. It is a fold over disjoint groups, as the worst case is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.display import Displayed
from privet.errors import TooLarge
from privet.microdata.list_columns import HeldMembers
from privet.microdata.window_counts import count_windows
from privet.policy import Accepted
from privet.values import exact
from privet.values.beliefs import Ceiling
from privet.values.contingency import packed
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Windows, Within

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

BINS = 20
"""Beliefs are counted in steps of a twentieth, and those of exactly 1 on their own."""
MOST_SETS = 5_000
"""Sets of columns that are looked at for one figure."""
MOST_WORK = 50_000_000
"""Groups times sets of columns that are looked at where no time is given for it."""


@dataclass(frozen=True)
class Beyond:
    """How many people are beyond one limit of the policy."""

    limit: Ceiling
    values: tuple[int, ...] | Windows | None = None
    """Codes of the values it is about, or the windows; None: every value."""
    about: tuple[object, ...] | Within | None = None
    """The same values as the policy names them."""
    people: int = 0
    """People in groups in which somebody is surer than this of a value."""
    true: int = 0
    """Those of them who have the value; of a list, who have such a value in it."""

    def add(
        self, groups: EquivalenceClasses, held: HeldMembers | None = None
    ) -> Beyond:
        """With some more whole groups."""
        inside, true = self.find_groups(groups, held)
        return replace(
            self,
            people=self.people + int(groups.total[inside].sum()),
            true=self.true + true,
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"limit": self.limit.to_dict(), "people": self.people, "true": self.true}

    def find_groups(
        self, groups: EquivalenceClasses, held: HeldMembers | None = None
    ) -> tuple[Flags, int]:
        """In which groups somebody is too sure, and of how many people rightly."""
        compare = exact.reaches if self.limit.strict else exact.exceeds
        inside = np.zeros(len(groups), dtype=bool)
        if isinstance(self.values, Windows):
            found = count_windows(groups, self.values)
            sure = compare(found.count, found.whole, self.limit.level)
            inside[found.group[found.at[sure]]] = True
            return inside, found.find_covered(sure)
        sure = compare(groups.n, groups.total[groups.group], self.limit.level)
        if self.values is not None:
            sure &= np.isin(groups.value, self.values)
        inside[groups.group[sure]] = True
        if held is None:
            return inside, _count_people(groups, sure)
        return inside, _count_people(held.lists, held.mark_holders(sure))


@dataclass(frozen=True)
class ColumnExposure:
    """What the groups of all known columns tell of one sensitive column.

    ``ColumnExposure("ill")`` is the empty fold; `add` takes disjoint whole groups.
    """

    column: str
    """The sensitive column."""
    beyond: tuple[Beyond, ...] = ()
    """A count for each limit the policy sets for this column."""
    known: tuple[str, ...] = ()
    """The known columns."""
    people: int = 0
    """People seen."""
    groups: int = 0
    """Groups of people who look alike."""
    unique: int = 0
    """People whom nobody looks like."""
    certain: int = 0
    """People in groups where everybody has the same value, which is not missing; of
    lists, where some value is in everybody's."""
    own: tuple[int, ...] = (0,) * (BINS + 1)
    """People by how sure one is of their own value: in [0, 1/20), …, and exactly 1.
    Of a list, of that value in it that one is surest of; of an empty one, 0."""
    few: tuple[FewColumns, ...] = ()
    """The same for at most one, two and three columns, as far as it was counted."""
    at_most: bool = False
    """Whether the figures are bounds: who has several rows counts in each group."""

    def add(
        self, groups: EquivalenceClasses, held: HeldMembers | None = None
    ) -> ColumnExposure:
        """With some more whole groups; of lists, by single value and as `held`."""
        own = _count_own(groups, held)
        return replace(
            self,
            beyond=tuple(b.add(groups, held) for b in self.beyond),
            people=self.people + int(groups.total.sum()),
            groups=self.groups + len(groups),
            unique=self.unique + int((groups.total == 1).sum()),
            certain=self.certain + int(groups.total[are_certain(groups)].sum()),
            own=tuple(a + b for a, b in zip(self.own, own, strict=True)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Numbers and names of columns only: no value of a cell is in it."""
        return {
            "known": list(self.known),
            "people": self.people,
            "groups": self.groups,
            "unique": self.unique,
            "certain": self.certain,
            "beyond": [b.to_dict() for b in self.beyond],
            "own_belief": list(self.own),
            "few": [f.to_dict() for f in self.few],
            "at_most": self.at_most,
        }


def are_certain(groups: EquivalenceClasses) -> Flags:
    """Whether everybody in a group has some value, the same, that is not missing."""
    shared = groups.n == groups.total[groups.group]
    missing = groups.about.code(None)
    if missing is not None:
        shared &= groups.value != missing
    pure: Flags = np.zeros(len(groups), dtype=bool)
    pure[groups.group[shared]] = True
    return pure


def _count_own(groups: EquivalenceClasses, held: HeldMembers | None) -> list[int]:
    """People by how sure one is of what they have: 3 of 4 are in bin 15 of 20."""
    people = groups if held is None else held.lists
    alike = groups.n if held is None else held.find_commonest(groups.n)
    at = alike * BINS // people.total[people.group]
    counted = np.zeros(BINS + 1, dtype=np.int64)
    np.add.at(counted, at, people.n)
    return [int(n) for n in counted]


def _count_people(groups: EquivalenceClasses, rows: Flags) -> int:
    """People in some rows of histograms.

    Who has several values is in several rows, but no more people than a group has.
    """
    found = np.zeros(len(groups), dtype=np.int64)
    np.add.at(found, groups.group[rows], groups.n[rows])
    return int(np.minimum(found, groups.total).sum())


@dataclass(frozen=True)
class Exposure(Displayed):
    """What a release tells of how many people, whether promised or not."""

    columns: tuple[ColumnExposure, ...] = ()
    """What somebody who has all known columns learns of each sensitive column."""
    people: int = 0
    """Everybody in the table."""
    unique: int = 0
    """People whom nobody looks like on the known columns."""
    known: tuple[str, ...] = ()
    """All known columns: quasi, other and target."""
    notes: tuple[str, ...] = ()
    """What was not counted, and why."""
    accepted: tuple[Accepted, ...] = ()
    """What no promise covers, and somebody accepted by name."""

    def to_dict(self) -> dict[str, Any]:
        """Numbers and names of columns only."""
        return {
            "people": self.people,
            "known": list(self.known),
            "unique": self.unique,
            "columns": {c.column: c.to_dict() for c in self.columns},
            "accepted": [a.to_public() for a in self.accepted],
            "notes": list(self.notes),
        }

    def explain(self) -> list[str]:
        """In plain words, a line each."""
        from privet.microdata.exposure.report import describe_exposure

        return describe_exposure(self)

    def name_limits(self) -> dict[str, list[str]]:
        """What each limit of a column is about; nothing where it is every value.

        It quotes the policy, and is for those who have the table: `to_dict` does not.
        """
        from privet.microdata.exposure.report import describe_limit

        return {
            c.column: [describe_limit(c.column, b) for b in c.beyond]
            for c in self.columns
        }

    def __repr__(self) -> str:
        return "\n".join(self.explain())


# Two and three columns --------------------------------------------------------------


@dataclass(frozen=True)
class FewColumns:
    """What few columns tell, whichever they are."""

    columns: int
    """How many one may know."""
    certain: int
    """People of whom somebody who knows some so many columns, or fewer, is certain."""
    beyond: tuple[int, ...]
    """People beyond each limit, the same way."""
    worst: tuple[str, ...] = field(default=())
    """The set of exactly so many columns that makes most people certain."""
    worst_certain: int = 0
    """How many those are."""

    def to_dict(self) -> dict[str, Any]:
        """Numbers, and the names of columns."""
        return {
            "columns": self.columns,
            "certain": self.certain,
            "beyond": list(self.beyond),
            "worst": list(self.worst),
            "worst_certain": self.worst_certain,
        }


def expose_few_columns(
    groups: EquivalenceClasses,
    limits: Sequence[Beyond],
    sizes: Sequence[int] = (1, 2, 3),
    *,
    check: Callable[[], None] = lambda: None,
) -> Iterator[FewColumns]:
    """What sets of so many columns tell, size by size; from all groups at once.

    Sizes must begin with the smallest and leave none out, since a figure is a union
    over all sets of at most so many columns. `check` may raise to stop.
    """
    names = [d.name for d in groups.by]
    codes, lengths = groups.keys.columns(), groups.keys.sizes
    # Marks of the groups of all columns, which only ever rise with more sets.
    certain = np.zeros(len(groups), dtype=bool)
    beyond = [np.zeros(len(groups), dtype=bool) for _ in limits]
    if 0 not in sizes:
        _mark(groups, (), codes, lengths, limits, certain, beyond)
    for size in (s for s in sizes if s <= len(names)):
        if comb(len(names), size) > MOST_SETS:
            raise TooLarge(
                f"{size} of {len(names)} columns are {comb(len(names), size)} sets; at "
                f"most {MOST_SETS} are looked at."
            )
        worst: tuple[int, tuple[int, ...]] = (-1, ())
        for chosen in combinations(range(len(names)), size):
            check()
            sure = _mark(groups, chosen, codes, lengths, limits, certain, beyond)
            people = int(groups.total[sure].sum())
            if people > worst[0]:
                worst = people, chosen
        yield FewColumns(
            size,
            int(groups.total[certain].sum()),
            tuple(int(groups.total[b].sum()) for b in beyond),
            tuple(names[i] for i in worst[1]),
            worst[0],
        )


def _mark(
    groups: EquivalenceClasses,
    chosen: Sequence[int],
    codes: Sequence[NDArray[Any]],
    lengths: Sequence[int],
    limits: Sequence[Beyond],
    certain: Flags,
    beyond: Sequence[Flags],
) -> Flags:
    """Mark the groups of whose people somebody who knows these columns is sure.

    Returns the groups that are certain by these columns alone.
    """
    few, at = merge_groups(groups, chosen, codes, lengths)
    sure: Flags = are_certain(few)[at]
    np.logical_or(certain, sure, out=certain)
    for limit, marks in zip(limits, beyond, strict=True):
        inside, _ = limit.find_groups(few)
        np.logical_or(marks, inside[at], out=marks)
    return sure


SPARSE = 8
"""Keys are marked in an array where it has at most so many places per key."""


def number_keys(keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different keys in order, and the number of each key among them.

    Sorting, which other keys need, takes ten times as long as marking.

    >>> number_keys(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1]))
    """
    most = int(keys.max(initial=-1)) + 1
    if most > SPARSE * len(keys) or int(keys.min(initial=0)) < 0:
        kept, at = np.unique(keys, return_inverse=True)
        return kept, at
    seen = np.zeros(most, dtype=bool)
    seen[keys] = True
    numbers = np.cumsum(seen, dtype=np.int64) - 1
    return np.flatnonzero(seen), numbers[keys]


def merge_groups(
    groups: EquivalenceClasses,
    chosen: Sequence[int],
    codes: Sequence[NDArray[Any]],
    lengths: Sequence[int],
) -> tuple[EquivalenceClasses, NDArray[np.intp]]:
    """The groups of some of the columns, and in which of them each group lies."""
    if len(chosen) == len(groups.by):
        return groups, np.arange(len(groups))
    key = packed([codes[i] for i in chosen], [lengths[i] for i in chosen], len(groups))
    kept, at = number_keys(key)
    # One row per (merged group, value): values below, so rows of a group stay together.
    span = max(len(groups.about), 1)
    cell, row = number_keys(at[groups.group] * span + groups.value)
    n = np.zeros(len(cell), dtype=np.int64)
    np.add.at(n, row, groups.n)
    total = np.zeros(len(kept), dtype=np.int64)
    np.add.at(total, at, groups.total)
    start = np.searchsorted(cell, np.arange(len(kept) + 1) * span)
    merged = replace(
        groups,
        by=tuple(groups.by[i] for i in chosen),
        # Only counted, never named: merged groups need no keys.
        keys=groups.keys.take(np.zeros(0, dtype=np.intp)),
        total=total,
        start=start,
        value=cell % span,
        n=n,
    )
    return merged, at
