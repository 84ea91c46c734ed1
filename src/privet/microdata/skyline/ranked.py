"""Histograms with the most frequent value first, and the rows that can decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.microdata.skyline.closed_forms import Ints, Ruling
from privet.values.contingency import Codes
from privet.values.equivalence_classes import EquivalenceClasses

Rows = NDArray[np.intp]

DENSE = 2**22
"""Cells of a table of (value, count) pairs that is filled instead of sorting rows."""


@dataclass(frozen=True, eq=False)
class RankedValues:
    """Rows (group, value, count) by group, the most frequent value first."""

    start: Rows
    """Where each group begins; one entry more than there are groups."""
    value: Ints
    """The value's code."""
    a: Ints
    """People of the group who have it."""
    total: Ints
    """People of the group, one entry per group."""

    @cached_property
    def group(self) -> Rows:
        """The group of each row."""
        return np.repeat(np.arange(len(self.total)), np.diff(self.start))

    @cached_property
    def b(self) -> Ints:
        """People of the group without the value."""
        return self.total[self.group] - self.a

    @cached_property
    def rank(self) -> Rows:
        """The row's place in its group, from 0."""
        return np.arange(len(self.a)) - self.start[self.group]

    @cached_property
    def _before(self) -> Ints:
        """People counted before each row, with one entry behind the last."""
        return np.concatenate([[0], np.cumsum(self.a)])

    def largest(self, several: int) -> Ints:
        """The sum of each group's largest counts."""
        stop = np.minimum(self.start[:-1] + several, self.start[1:])
        return self._before[stop] - self._before[self.start[:-1]]

    def tail(self, ruling: Ruling) -> Ints:
        """T: people with neither the row's value nor one that is ruled out.

        A group whose people have several values each may have fewer in the tail than
        it has values: T is never below 0.
        """
        if isinstance(ruling, tuple):
            return self._tail_without(ruling)
        with_it = self.largest(ruling + 1)[self.group]
        beside = self.largest(ruling)[self.group] + self.a
        gone = np.where(self.rank <= ruling, with_it, beside)
        return np.maximum(self.total[self.group] - gone, 0)

    def _tail_without(self, codes: tuple[int, ...]) -> Ints:
        out = np.isin(self.value, codes)
        gone = np.zeros(len(self.total), dtype=np.int64)
        np.add.at(gone, self.group[out], self.a[out])
        beside = gone[self.group] + np.where(out, 0, self.a)
        left: Ints = np.maximum(self.total[self.group] - beside, 0)
        return left

    def first(self, rows: Rows) -> Rows:
        """The most frequent of some rows (in their order) in each group."""
        group = self.group[rows]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = group[1:] != group[:-1]
        return rows[new]


def ranked(batch: EquivalenceClasses) -> RankedValues:
    """Sort a batch; equal counts stand in the order of their codes."""
    order = _by_count(batch.group, batch.n, batch.value)
    return RankedValues(
        batch.start,
        batch.value[order].astype(np.int64, copy=False),
        batch.n[order],
        batch.total,
    )


def _by_count(group: Rows, n: Ints, value: Codes) -> Rows:
    """The order of rows by group, falling count, value."""
    if not len(n):
        return np.zeros(0, dtype=np.intp)
    top = int(n.max())
    bits = [int(group[-1]).bit_length(), top.bit_length(), len(n).bit_length()]
    if sum(bits) > 62:
        return np.lexsort((value, -n, group))
    # One integer per row that sorts as (group, -count, row); rows of a group stand in
    # the order of their values already. Sorting integers beats sorting positions.
    key = (group << (bits[1] + bits[2])) | ((top - n) << bits[2]) | np.arange(len(n))
    key.sort()
    return key & ((1 << bits[2]) - 1)


def lowest(value: Ints, a: Ints, x: Ints) -> Rows:
    """Rows where no other row of the value has a larger (or equal) a and lower x.

    Of equal rows the first stays.

    >>> lowest(np.array([0, 0, 0, 1]), np.array([2, 1, 3, 1]), np.array([4, 3, 4, 9]))
    array([1, 2, 3])
    """
    rows = np.arange(len(a))
    values = int(value.max(initial=0)) + 1
    limit = max(DENSE // values, 1)
    if len(a) > 1000 and limit > 1:
        rows = np.concatenate([_dense(value, a, x, values, limit), rows[a >= limit]])
    return np.sort(rows[_staircase(value[rows], a[rows], x[rows], rows)])


def _dense(value: Ints, a: Ints, x: Ints, values: int, limit: int) -> Rows:
    """Rows with a below the limit that no other such row makes superfluous."""
    limit = min(limit, int(a.max()) + 1)
    small = np.flatnonzero(a < limit)
    cell = value[small] * limit + a[small]
    least = np.full(values * limit, np.iinfo(np.int64).max)
    np.minimum.at(least, cell, x[small])
    table = least.reshape(values, limit)
    above = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
    beaten = np.zeros_like(table, dtype=bool)
    beaten[:, :-1] = table[:, :-1] >= above[:, 1:]
    table[beaten] = -1
    found: Rows = small[least[cell] == x[small]]
    return found


def _staircase(value: Ints, a: Ints, x: Ints, rank: Rows) -> Rows:
    order = np.lexsort((rank, x, -a, value))
    value, x = value[order], x[order]
    # Lower than every value's numbers before it, so that each value starts afresh.
    step = x - value * (int(x.max(initial=0)) + 1)
    best = np.minimum.accumulate(step)
    new = np.ones(len(step), dtype=bool)
    new[1:] = step[1:] < best[:-1]
    found: Rows = order[new]
    return found


def lowest_of_three(a: Ints, b: Ints, tail: Ints) -> Rows:
    """Rows where no other has a larger or equal a and a lower or equal b and tail."""
    order = np.lexsort((b, tail, -a))
    keep: list[int] = []
    while len(order):
        score = (tail[order] + b[order] + 1.0) / a[order]
        best = order[int(np.argmin(score))]
        keep.append(int(best))
        worse = (a[order] <= a[best]) & (b[order] >= b[best])
        order = order[~(worse & (tail[order] >= tail[best]))]
    return np.sort(np.array(keep, dtype=np.intp))
