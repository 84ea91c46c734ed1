"""Who has the protected values of a promise: sparse counts by group, and by part of it.

A promise about one value needs a number per group; one about many needs the largest of
many, of a group, of a part and of what is left of the group without the part.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from privet.microdata.suppression.cubes.count_cube import sum_running
from privet.values.arrays import Flags, Floats, Ints

DENSE = 16
"""Keys have each their place while there are so many places per key."""


class ShareBound(NamedTuple):
    """The highest share that is allowed, num / den; no term is above the people."""

    num: int
    den: int
    whole: Any
    """The type of products: 64 bits, or Python's integers where they do not do."""

    def find_beyond(self, part: Ints, whole: Ints) -> Flags:
        """Which shares are too high, exactly; nobody of nobody is none."""
        left = part.astype(self.whole) * self.den
        return np.asarray(left > whole.astype(self.whole) * self.num, dtype=bool)

    def weigh(self, part: Ints, whole: Ints) -> Any:
        """What is left until the bound is reached; negative: beyond."""
        return whole.astype(self.whole) * self.num - part.astype(self.whole) * self.den


class ProtectedPeople(NamedTuple):
    """Rows of a cube with people who have a protected value of one promise."""

    row: Ints
    """Which row of the cube."""
    value: Ints
    """Which of the values."""
    n: Ints
    """How many people."""
    values: int
    """How many values there are."""

    def keep(self, kept: Flags) -> ProtectedPeople:
        """Without the rows of the cube that are dropped."""
        at = np.flatnonzero(kept[self.row])
        place = np.cumsum(kept) - 1
        return ProtectedPeople(
            place[self.row[at]], self.value[at], self.n[at], self.values
        )


def number_keys(key: Ints, size: int | None) -> tuple[Ints, Ints]:
    """Keys as places among those that occur, in order; and those.

    >>> [a.tolist() for a in number_keys(np.array([7, 2, 7]), 9)]
    [[1, 0, 1], [2, 7]]
    """
    if size is None or size > DENSE * len(key):
        found, place = np.unique(key, return_inverse=True)
        return place.ravel(), found
    there = np.zeros(size, dtype=bool)
    there[key] = True
    found = np.flatnonzero(there)
    number = np.zeros(size, dtype=np.int64)
    number[found] = np.arange(len(found))
    return number[key], found


def sum_by_key(key: Ints, n: Ints | Floats, size: int) -> Ints:
    """Sums per key; floats add integers below 2**53 exactly."""
    sums: Ints = np.bincount(key, weights=n, minlength=size).astype(np.int64)
    return sums


class PairCounts(NamedTuple):
    """People by group and protected value, as far as there are any."""

    group: Ints
    """In increasing order."""
    n: Ints
    of: Ints
    """The pair of each row of protected people."""

    @classmethod
    def of_rows(cls, people: ProtectedPeople, group: Ints, groups: int) -> PairCounts:
        """Count the people of each group."""
        key, found = number_keys(
            group[people.row] * people.values + people.value, groups * people.values
        )
        return cls(found // people.values, sum_by_key(key, people.n, len(found)), key)


class RuleCells(Protocol):
    """A promise's people in cells, each a part of a group."""

    def largest_inside(self) -> Ints:
        """Per cell: the people of its commonest protected value."""

    def largest_outside(self) -> Ints:
        """Per cell: the same of the rest of its group."""

    def begin(self, bound: ShareBound, total: Ints, left: Ints) -> None:
        """Begin a sweep: of cells with so many people, in groups with so many."""

    def fits(self, low: int, high: int, left: Ints) -> bool:
        """Whether the groups keep the bound without the cells of one value."""

    def fit(self, low: int, high: int, left: Ints) -> bool:
        """Whether they surely do without the cells of several values."""

    def take(self, low: int, high: int) -> None:
        """Take these cells out of their groups."""


def count_parts(
    people: ProtectedPeople, of: Ints, cell_group: Ints, group: Ints, groups: int
) -> RuleCells:
    """A promise's people by cell, where `of` is the cell of each row."""
    if people.values == 1:
        return OneValue(people, of, cell_group, group, groups)
    return SeveralValues(people, of, cell_group, group, groups)


class OneValue:
    """A promise about one value: see `RuleCells`."""

    def __init__(
        self,
        people: ProtectedPeople,
        of: Ints,
        cell_group: Ints,
        group: Ints,
        groups: int,
    ) -> None:
        self._cell_group = cell_group
        self._held = sum_by_key(group[people.row], people.n, groups)
        inside = np.flatnonzero(of[people.row] >= 0)
        cell = of[people.row[inside]]
        self._part = sum_by_key(cell, people.n[inside], len(cell_group))

    def largest_inside(self) -> Ints:
        """See `RuleCells`."""
        return self._part

    def largest_outside(self) -> Ints:
        """See `RuleCells`."""
        return np.asarray(self._held[self._cell_group] - self._part)

    def begin(self, bound: ShareBound, total: Ints, left: Ints) -> None:
        """See `RuleCells`."""
        # At most 2/5: a group of 10 with 3 has a slack of 2 * 10 - 5 * 3 = 5, and a
        # cell of 4 with 1 takes 2 * 4 - 5 * 1 = 3 of it.
        self._slack = bound.weigh(self._held, left)
        self._taken = bound.weigh(self._part, total)

    def fits(self, low: int, high: int, left: Ints) -> bool:
        """See `RuleCells`."""
        own = self._cell_group[low:high]
        return bool((self._slack[own] >= self._taken[low:high]).all())

    def fit(self, low: int, high: int, left: Ints) -> bool:
        """See `RuleCells`."""
        own, taken = self._cell_group[low:high], self._taken[low:high]
        np.subtract.at(self._slack, own, taken)
        enough = bool((self._slack[own] >= 0).all())
        np.add.at(self._slack, own, taken)
        return enough

    def take(self, low: int, high: int) -> None:
        """See `RuleCells`."""
        np.subtract.at(self._slack, self._cell_group[low:high], self._taken[low:high])


class SeveralValues:
    """A promise about many values, each of which is bounded: see `RuleCells`."""

    def __init__(
        self,
        people: ProtectedPeople,
        of: Ints,
        cell_group: Ints,
        group: Ints,
        groups: int,
    ) -> None:
        self._cell_group = cell_group
        pairs = PairCounts.of_rows(people, group, groups)
        self._held = pairs.n.copy()
        self._pair_start = np.searchsorted(pairs.group, np.arange(groups + 1))
        inside = np.flatnonzero(of[people.row] >= 0)
        several = max(len(pairs.n), 1)
        key, found = number_keys(
            of[people.row[inside]] * several + pairs.of[inside],
            len(cell_group) * several,
        )
        self._pair, self._n = (
            found % several,
            sum_by_key(key, people.n[inside], len(found)),
        )
        self._cell = found // several
        self._start = np.searchsorted(self._cell, np.arange(len(cell_group) + 1))

    def largest_inside(self) -> Ints:
        """See `RuleCells`."""
        largest = np.zeros(len(self._cell_group), dtype=np.int64)
        np.maximum.at(largest, self._cell, self._n)
        return largest

    def largest_outside(self) -> Ints:
        """See `RuleCells`."""
        rest = self._find_others()
        np.maximum.at(rest, self._cell, self._held[self._pair] - self._n)
        return rest

    def _find_others(self) -> Ints:
        """Per cell: people of the group's commonest value that the cell lacks."""
        group = np.repeat(
            np.arange(len(self._pair_start) - 1), np.diff(self._pair_start)
        )
        order = np.lexsort((-self._held, group))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - self._pair_start[group]
        # A cell with the values of ranks 0, 1 and 3 lacks the one of rank 2.
        by_rank = np.lexsort((rank[self._pair], self._cell))
        place = np.arange(len(by_rank)) - self._start[self._cell]
        odd = np.flatnonzero(rank[self._pair[by_rank]] != place)
        lacking = np.diff(self._start)
        np.minimum.at(lacking, self._cell[odd], place[odd])
        at = self._pair_start[self._cell_group] + lacking
        there = at < self._pair_start[self._cell_group + 1]
        held = self._held[order]
        found = np.zeros(len(at), dtype=np.int64)
        found[there] = held[at[there]]
        return found

    def begin(self, bound: ShareBound, total: Ints, left: Ints) -> None:
        """See `RuleCells`."""
        self._bound, self._total = bound, total
        groups = len(self._pair_start) - 1
        self._most = np.zeros(groups, dtype=np.int64)
        group = np.repeat(np.arange(groups), np.diff(self._pair_start))
        np.maximum.at(self._most, group, self._held)

    def fits(self, low: int, high: int, left: Ints) -> bool:
        """See `RuleCells`."""
        own = self._cell_group[low:high]
        rest = left[own] - self._total[low:high]
        # The largest count may have fallen since it was looked at: then look again.
        doubtful = np.flatnonzero(self._bound.find_beyond(self._most[own], rest))
        return all(self._fits_cell(low + k, int(rest[k])) for k in doubtful.tolist())

    def fit(self, low: int, high: int, left: Ints) -> bool:
        """See `RuleCells`."""
        own = self._cell_group[low:high]
        rest = left.copy()
        np.subtract.at(rest, own, self._total[low:high])
        return not self._bound.find_beyond(self._most[own], rest[own]).any()

    def _fits_cell(self, cell: int, rest: int) -> bool:
        group = self._cell_group[cell]
        first, last = self._pair_start[group], self._pair_start[group + 1]
        held = self._held[first:last].copy()
        if not len(held):
            return True
        self._most[group] = held.max()
        mine = slice(self._start[cell], self._start[cell + 1])
        held[self._pair[mine] - first] -= self._n[mine]
        return int(held.max()) * self._bound.den <= rest * self._bound.num

    def take(self, low: int, high: int) -> None:
        """See `RuleCells`."""
        mine = slice(self._start[low], self._start[high])
        np.subtract.at(self._held, self._pair[mine], self._n[mine])


class RunningCounts(NamedTuple):
    """People of the commonest protected value up to each cell of a group, and after."""

    below: Ints
    above: Ints

    @classmethod
    def of(cls, people: ProtectedPeople, of: Ints, group: Ints) -> RunningCounts:
        """Count along the cells of each group, where `of` is the cell of each row."""
        cells = len(group)
        key, found = number_keys(
            people.value * cells + of[people.row], people.values * cells
        )
        n = sum_by_key(key, people.n, len(found))
        value, cell = found // cells, found % cells
        if not cells or not len(n):
            none = np.zeros(cells, dtype=np.int64)
            return cls(none, none)
        # By value, group and cell; a run is a value in a group.
        own = group[cell]
        run = np.cumsum(np.diff(value * (int(group[-1]) + 1) + own, prepend=-1) != 0)
        below = sum_running(run, n)
        whole = sum_by_key(run, n, int(run[-1]) + 1)[run]
        return cls(
            _raise_onwards(below, cell, group),
            _raise_before(whole - below, whole, cell, run, group),
        )


def _raise_onwards(n: Ints, cell: Ints, group: Ints) -> Ints:
    """The largest number seen up to each cell of a group: running sums only grow."""
    level = np.zeros(len(group), dtype=np.int64)
    np.maximum.at(level, cell, n)
    return _accumulate(level, group)


def _accumulate(level: Ints, group: Ints) -> Ints:
    """Running maxima that begin anew with each group; groups are in some order."""
    # Each group begins above all that was seen before; ranks do where numbers are huge.
    step, known = int(level.max(initial=0)) + 1, None
    if step * len(group) >= 2**62:
        known, level = np.unique(level, return_inverse=True)
        step = len(known)
    place = np.cumsum(np.diff(group, prepend=group[:1]) != 0) * step
    found = np.maximum.accumulate(level + place) - place
    return np.asarray(found if known is None else known[found])


def _raise_before(after: Ints, whole: Ints, cell: Ints, run: Ints, group: Ints) -> Ints:
    """The largest number left behind each cell of a group: it only falls.

    What a value has left counts from before its next cell back to the one before;
    before its first cell all of it is left.
    """
    level = np.zeros(len(group), dtype=np.int64)
    last = np.append(run[1:] != run[:-1], True)
    first = np.append(True, run[1:] != run[:-1])
    inner = np.flatnonzero(~last)
    np.maximum.at(level, cell[inner + 1] - 1, after[inner])
    begins = np.flatnonzero(first)
    before = begins[cell[begins] > 0]
    inside = before[group[cell[before] - 1] == group[cell[before]]]
    np.maximum.at(level, cell[inside] - 1, whole[inside])
    return np.asarray(_accumulate(level[::-1], group[::-1])[::-1])
