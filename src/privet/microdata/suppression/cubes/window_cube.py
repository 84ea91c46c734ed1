"""The count cube of a quasi-identifier for a number within a window.

Its rows are the combinations of known values with each number they occur with. Conf is
the share of the fullest window of a group. Merging groups never raises it, for each
window's share is then a mean, so that showing never lowers it: what breaks a promise
once does so for ever, as with single values.
Wang, Fung, Yu 2007, §4.2, §4.3, with a window in the place of a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from privet.microdata.suppression import kernels
from privet.microdata.suppression.cubes.count_cube import (
    ConfAfterDisclosure,
    Cube,
    group_rows,
    mark_covered,
    raise_ranges,
    sum_running,
)
from privet.microdata.suppression.kernels import (
    CubeGroups,
    CubeRows,
    concatenate_ranges,
)
from privet.microdata.suppression.window_sweeps import (
    Steps,
    WindowField,
    sweep,
    take_out,
)
from privet.values.arrays import Flags, Floats, Ints
from privet.values.beliefs import Ceiling
from privet.values.windows import Windows


@dataclass(frozen=True, eq=False)
class GatheredNumbers:
    """The rows of some groups, and their windows."""

    groups: CubeGroups
    local: Ints
    """Which of them each row belongs to."""
    codes: Ints
    """Per row and attribute."""
    people: Ints
    """People of each row's combination, at its first row; else 0."""
    n: Ints
    """People with the row's number."""
    number: Ints
    """The rows that have a number …"""
    field: WindowField
    low: Ints
    """… and from which window …"""
    high: Ints
    """… to before which one each of them is counted."""


@dataclass(frozen=True, eq=False)
class WindowCells:
    """People of groups by value of an attribute, in order, and the cell of each row."""

    group: Ints
    value: Ints
    of: Ints
    people: Ints

    @classmethod
    def count(cls, seen: GatheredNumbers, code: Ints, rows: Ints) -> WindowCells:
        """The cells of some rows."""
        span = int(code.max(initial=0)) + 1
        key, of = np.unique(seen.local[rows] * span + code[rows], return_inverse=True)
        people = np.bincount(of, weights=seen.people[rows], minlength=len(key))
        return cls(key // span, key % span, of.ravel(), people.astype(np.int64))


class WindowCube(Cube):
    """The equivalence classes of one QID, judged by windows of one column."""

    def __init__(
        self,
        attributes: Sequence[int],
        codes: Sequence[Ints],
        fixed: Ints,
        people: Ints,
        place: Ints,
        n: Ints,
        windows: Windows,
        limits: Sequence[Ceiling],
    ) -> None:
        self.attributes = tuple(attributes)
        self.limits = [tuple(limits)]
        self.windows = windows
        # By place, which stays so in every group: splits keep the order of rows.
        order = np.argsort(place, kind="stable")
        codes, fixed = [c[order] for c in codes], fixed[order]
        self._place = place[order]
        self._rows, groups = group_rows(codes, fixed, people[order], n[order])
        self._limits = kernels.compile_limits(self.limits, int(people.sum()))
        self._worst = [(0, 1)]
        self._groups = self._judge_groups(groups)

    def _judge_groups(self, groups: CubeGroups) -> CubeGroups:
        """See `Cube`; the fullest windows of new groups are counted."""
        if not len(groups.start):
            return groups
        seen = self._gather(groups)
        most = seen.field.find_largest(len(groups.start))
        most = np.minimum(most, groups.counts[:, 0])
        counts = np.column_stack([groups.counts[:, 0], most])
        found = super()._judge_groups(groups._replace(counts=counts))
        return found.take(_find_several(self._rows, found))

    def _gather(self, groups: CubeGroups) -> GatheredNumbers:
        at = self._rows.order.take(concatenate_ranges(groups.start, groups.stop))
        size = groups.stop - groups.start
        local = np.repeat(np.arange(len(groups.start)), size)
        counts, place = self._rows.counts.take(at, axis=0), self._place.take(at)
        n = counts[:, 1]
        number = np.flatnonzero(place < len(self.windows))
        field = WindowField.of(self.windows, local[number], place[number], n[number])
        low, high = field.list_steps()
        codes = self._rows.codes.take(at, axis=0).astype(np.int64)
        return GatheredNumbers(
            groups, local, codes, counts[:, 0], n, number, field, low, high
        )

    # Looking ahead ------------------------------------------------------------------

    def look_ahead(
        self, groups: CubeGroups, wanted: Sequence[Flags], ordered: Sequence[bool]
    ) -> list[ConfAfterDisclosure]:
        """See `Cube`."""
        offset = np.cumsum([0, *map(len, wanted)]).tolist()
        own = [ConfAfterDisclosure.empty(j - i, 1) for i, j in pairwise(offset)]
        if not len(groups.start):
            return own
        seen = self._gather(groups)
        for a, found in enumerate(own):
            if ordered[a]:
                self._try_cuts(seen, a, found)
            elif wanted[a].any():
                self._try_values(seen, a, wanted[a], found)
        return own

    def _try_values(
        self, seen: GatheredNumbers, a: int, wanted: Flags, found: ConfAfterDisclosure
    ) -> None:
        """Each value wanted taken out of each group."""
        code = seen.codes[:, a]
        rows = np.flatnonzero(wanted[code])
        cells = WindowCells.count(seen, code, rows)
        part = np.full(len(code), -1)
        part[rows] = cells.of
        inside = np.flatnonzero(part[seen.number] >= 0)
        at = seen.number[inside]
        steps = Steps.of(
            part[at], seen.low[inside], seen.high[inside], seen.n[at], len(seen.field)
        )
        one, other = take_out(seen.field, steps, cells.group, seen.groups.counts[:, 1])
        rest = seen.groups.counts[cells.group, 0] - cells.people
        # A value that fills its group changes nothing.
        some = np.flatnonzero(rest > 0)
        value = cells.value[some]
        share, over = self._judge(one[some], cells.people[some])
        left, beyond = self._judge(other[some], rest[some])
        np.maximum.at(found.confidence[0], value, np.maximum(share, left))
        found.broken[value[over | beyond]] = True

    def _try_cuts(
        self, seen: GatheredNumbers, a: int, found: ConfAfterDisclosure
    ) -> None:
        """Each group cut after each of its values but the last; see `count_cube`."""
        code = seen.codes[:, a]
        cells = WindowCells.count(seen, code, np.arange(len(code)))
        inner = np.flatnonzero(cells.group[1:] == cells.group[:-1])
        if not len(inner):
            return
        below = sum_running(cells.group, cells.people)
        above = seen.groups.counts[cells.group, 0] - below
        first = np.flatnonzero(np.diff(cells.group, prepend=-1))
        size = np.diff(np.append(first, len(cells.group)))
        rank = np.arange(len(cells.group)) - np.repeat(first, size)
        last = np.repeat(size, size) - 1
        left = self._sweep(seen, cells, rank)
        # From the other end; group by group the results stand the other way round.
        right = self._sweep(seen, cells, last - rank)[
            np.repeat(first, size) + last - rank
        ]
        share, over = self._judge(left[inner], below[inner])
        # Right of a cut after a value is what begins with the next one.
        rest, beyond = self._judge(right[inner + 1], above[inner])
        start, stop = cells.value[inner], cells.value[inner + 1] - 1
        raise_ranges(found.confidence[0], start, stop, np.maximum(share, rest))
        bad = over | beyond
        found.broken |= mark_covered(start[bad], stop[bad], len(found.broken))

    def _sweep(self, seen: GatheredNumbers, cells: WindowCells, rank: Ints) -> Ints:
        """The fullest window up to each cell, by ranks within its group."""
        own, none = cells.of[seen.number], np.zeros(len(rank), dtype=np.int64)
        # Nobody, once per cell: those without any number have a result, too.
        return sweep(
            np.concatenate([cells.group[own], cells.group]),
            np.concatenate([rank[own], rank]),
            np.concatenate([seen.low, none]),
            np.concatenate([seen.high, none]),
            np.concatenate([seen.n[seen.number], none]),
            len(seen.field),
        )

    def _judge(self, part: Ints, whole: Ints) -> tuple[Floats, Flags]:
        """The share of a window, and whether it is beyond a limit."""
        part = np.minimum(part, whole)
        share: Floats = part / whole
        over: Flags = np.zeros(len(part), dtype=bool)
        for i in range(len(self._limits.rule)):
            over |= kernels.find_beyond(share, part, whole, self._limits, i)
        return share, over


def _find_several(rows: CubeRows, groups: CubeGroups) -> Flags:
    """Groups with more than one combination: the others are never parted."""
    if not len(groups.start) or not rows.codes.shape[1]:
        return np.zeros(len(groups.start), dtype=bool)
    codes = rows.codes.take(
        rows.order.take(concatenate_ranges(groups.start, groups.stop)), axis=0
    )
    size = groups.stop - groups.start
    first = np.cumsum(size) - size
    low, high = (f.reduceat(codes, first) for f in (np.minimum, np.maximum))
    return np.asarray((low != high).any(axis=1))
