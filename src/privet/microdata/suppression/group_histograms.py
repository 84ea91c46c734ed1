"""Histograms of the groups of a count cube, kept while groups are split.

Of the two parts of a group only the smaller one is counted, from its rows: the other
has the rest. So a look ahead after a move costs as much as the rows that moved, and not
as all rows of the groups that were split.
Wang, Fung, Yu 2007, §4.3 (updating Conf).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.microdata.suppression.kernels import (
    CubeGroups,
    CubeRows,
    GatheredRows,
    ValueCells,
)
from privet.values.arrays import Flags, Ints

PER_ROW = 8
"""Histograms have at most so many numbers for each row of the cube."""


class GroupHistograms:
    """People by value of each attribute, and those with each rule's value."""

    def __init__(self, sizes: Sequence[int], rows: CubeRows, groups: CubeGroups):
        """Count the first groups; an attribute of size 0 is not counted."""
        self._rows = rows
        self._offset = np.cumsum([0, *sizes]).tolist()
        self._slots = np.arange(len(groups.start))
        self._used = len(groups.start)
        self._tables = self._count(groups)
        self._fresh = groups.start, self._slots

    @staticmethod
    def fit(sizes: Sequence[int], rows: CubeRows, groups: int) -> bool:
        """Whether histograms of so many groups are small beside the rows."""
        numbers = groups * sum(sizes) * rows.counts.shape[1]
        return bool(0 < numbers <= PER_ROW * len(rows.order))

    def has_room(self) -> bool:
        """Whether all groups could be split, and histograms were still small."""
        sizes = np.diff(self._offset).tolist()
        return self.fit(sizes, self._rows, self._used + len(self._slots))

    def _count(self, groups: CubeGroups) -> list[Ints]:
        """A table for people and one for each rule: groups by values."""
        several, seen = len(groups.start), GatheredRows.of(self._rows, groups)
        rules = range(len(seen.having))
        shape = several, self._offset[-1]
        tables = [np.zeros(shape, dtype=np.int64) for _ in (0, *rules)]
        for a, (low, high) in enumerate(
            zip(self._offset[:-1], self._offset[1:], strict=True)
        ):
            size = high - low
            if not size:
                continue
            key = seen.local * size + seen.codes[:, a]
            asked = [(key, seen.total), *((key[at], n) for at, n in seen.having)]
            for table, (own, n) in zip(tables, asked, strict=True):
                sums = np.bincount(own, weights=n, minlength=several * size)
                table[:, low:high] = sums.reshape(several, size)
        return tables

    def counts(self, attribute: int) -> bool:
        """Whether an attribute is counted."""
        return bool(self._offset[attribute] < self._offset[attribute + 1])

    # Splitting ----------------------------------------------------------------------

    def find_parted(self, attribute: int, low: int, high: int, people: Ints) -> Ints:
        """Which groups have both people with values from low to high, and others."""
        first = self._offset[attribute]
        inside = self._tables[0][self._slots, first + low : first + high + 1]
        moved = inside.sum(axis=1)
        return np.flatnonzero((moved > 0) & (moved < people))

    def split(self, touched: Flags, outside: CubeGroups, inside: CubeGroups) -> None:
        """Groups that were touched become what is outside, and what is inside."""
        old = self._slots[touched]
        new = np.arange(self._used, self._used + len(old))
        self._used += len(old)
        fewer = _count_rows(inside) <= _count_rows(outside)
        counted = self._count(inside if fewer else outside)
        for i, part in enumerate(counted):
            table = _extend(self._tables[i], self._used)
            whole = table[old]
            table[new if fewer else old] = part
            table[old if fewer else new] = whole - part
            self._tables[i] = table
        self._slots = np.concatenate([self._slots[~touched], old, new])

    def keep(self, touched: int, kept: Flags, start: Ints) -> None:
        """Of the parts of the touched groups only some are kept, which begin there."""
        behind = len(self._slots) - 2 * touched
        fresh = self._slots[behind:][kept]
        self._slots = np.concatenate([self._slots[:behind], fresh])
        self._fresh = start, fresh

    # Looking ahead ------------------------------------------------------------------

    def knows(self, groups: CubeGroups) -> bool:
        """Whether these are the groups that came last."""
        return groups.start is self._fresh[0]

    def list_cells(self, attribute: int, wanted: Flags) -> ValueCells:
        """Sums by group and wanted value of an attribute, of the groups that came last.

        See `kernels.count_value_cells`.
        """
        values = np.flatnonzero(wanted)
        at = np.ix_(self._fresh[1], self._offset[attribute] + values)
        total, *having = (table[at].ravel() for table in self._tables)
        there = np.flatnonzero(total)
        return ValueCells(
            there // len(values),
            values[there % len(values)],
            total[there],
            tuple(n[there] for n in having),
        )


def _count_rows(groups: CubeGroups) -> int:
    return int((groups.stop - groups.start).sum())


def _extend(table: Ints, lines: int) -> Ints:
    """A table with room for so many lines, and for some more."""
    if lines <= len(table):
        return table
    wider = np.empty((lines + lines // 2, table.shape[1]), dtype=table.dtype)
    wider[: len(table)] = table
    return wider
