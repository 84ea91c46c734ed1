"""Sliding counts: how many people of each group lie in each window of a number.

The cells (group, place, people) of a count stand by group, in each by the place that
`values/windows.py` gives their number; what is no number stands behind. The people in
the window that starts at a cell are then a difference of running sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.errors import TooLarge
from privet.values.arrays import Flags, Ints
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Span, Windows

MOST_LARGEST = 2**25
"""Cells times values ruled out that are kept at once."""


@dataclass(frozen=True, eq=False)
class WindowCounts:
    """The cells of some groups, and the people in the window that starts at each.

    Cells that are no number come last in their group, and start no window.
    """

    windows: Windows
    group: Ints
    """The group of each cell; they rise."""
    place: Ints
    """The place of its number; they rise within a group."""
    n: Ints
    """People in the cell."""
    total: Ints
    """People of each group."""

    @cached_property
    def _before(self) -> Ints:
        """People in the cells before each, with one entry behind the last."""
        return np.concatenate([[0], np.cumsum(self.n)])

    @cached_property
    def at(self) -> Ints:
        """The cells that start a window: those with a number."""
        return np.flatnonzero(self.place < len(self.windows))

    @cached_property
    def end(self) -> Ints:
        """For each window the cell behind its last one."""
        span = len(self.windows) + 1
        key = self.group * span + self.place
        stops = self.windows.stop[self.place[self.at]]
        return np.searchsorted(key, self.group[self.at] * span + stops)

    @cached_property
    def count(self) -> Ints:
        """People in each window."""
        # Counts 2 1 1 with windows of two cells: sums 0 2 3 4, so 3 2 1. Where people
        # have several values each, no more are in a window than in the group.
        found = self._before[self.end] - self._before[self.at]
        return np.asarray(np.minimum(found, self.whole))

    @cached_property
    def whole(self) -> Ints:
        """People in the group of each window."""
        return np.asarray(self.total[self.group[self.at]])

    def find_largest(self) -> Ints:
        """People in the fullest window of each group."""
        most = np.zeros(len(self.total), dtype=np.int64)
        np.maximum.at(most, self.group[self.at], self.count)
        return most

    def name_span(self, window: int) -> Span:
        """The lowest and the highest number in a window."""
        first, last = self.at[window], self.end[window] - 1
        return self.windows.name_span(int(self.place[first]), int(self.place[last]))

    def sum_outside(self, several: int) -> Ints:
        """For each window the people of the so many largest values outside it."""
        if not several:
            return np.zeros(len(self.at), dtype=np.int64)
        if len(self.n) * several > MOST_LARGEST:
            raise TooLarge(
                f"rules_out must be at most {MOST_LARGEST // len(self.n):,} for a "
                f"number within a window, where groups hold {len(self.n):,} numbers; "
                f"got {several:,}."
            )
        new = np.ones(len(self.n) + 1, dtype=bool)
        new[1:-1] = self.group[1:] != self.group[:-1]
        before = _scan_largest(self.n, new[:-1], several)
        after = _scan_largest(self.n[::-1], new[1:][::-1], several)[::-1]
        none = np.zeros((1, several), dtype=np.int64)
        # Left of a window is its group up to the cell before, unless that is another's.
        left = np.where(new[self.at][:, None], 0, np.vstack([none, before])[self.at])
        right = np.where(new[self.end][:, None], 0, np.vstack([after, none])[self.end])
        both = np.sort(np.hstack([left, right]), axis=1)
        return np.asarray(both[:, -several:].sum(axis=1))

    def count_tail(self, several: int) -> Ints:
        """T: people neither in a window nor with one of the values ruled out."""
        left = self.whole - self.count - self.sum_outside(several)
        return np.asarray(np.maximum(left, 0))

    def find_covered(self, windows: Flags) -> int:
        """People in some of these windows, each counted once; no more than there are.

        Who has several numbers may be counted with each of them.
        """
        edges = np.zeros(len(self.n) + 1, dtype=np.int64)
        np.add.at(edges, self.at[windows], 1)
        np.add.at(edges, self.end[windows], -1)
        inside = np.cumsum(edges[:-1]) > 0
        found = np.zeros(len(self.total), dtype=np.int64)
        np.add.at(found, self.group[inside], self.n[inside])
        return int(np.minimum(found, self.total).sum())


def _scan_largest(n: Ints, new: Flags, several: int) -> Ints:
    """The largest counts of each group up to each cell; `new` marks where one begins.

    By doubling: what is known of 1, 2, 4 … cells is joined with as many before them.
    """
    found = np.zeros((len(n), several), dtype=np.int64)
    found[:, -1] = n
    first = np.maximum.accumulate(np.where(new, np.arange(len(n)), 0))
    length, longest = 1, int((np.arange(len(n)) - first).max(initial=0)) + 1
    while length < longest:
        at = np.flatnonzero(np.arange(len(n)) - length >= first)
        both = np.sort(np.hstack([found[at], found[at - length]]), axis=1)
        found[at] = both[:, -several:]
        length *= 2
    return found


def count_windows(
    batch: EquivalenceClasses, windows: Windows, ruled: tuple[int, ...] = ()
) -> WindowCounts:
    """The windows of whole groups, once people with values ruled out are gone."""
    total, rows = batch.total, slice(None)
    if ruled:
        out = np.isin(batch.value, ruled)
        total = total - np.bincount(
            batch.group[out], weights=batch.n[out], minlength=len(batch)
        ).astype(np.int64)
        rows = ~out  # type: ignore[assignment]
    group = batch.group[rows].astype(np.int64)
    return sort_cells(
        windows, group, windows.place[batch.value[rows]], batch.n[rows], total
    )


def sort_cells(
    windows: Windows, group: Ints, place: Ints, n: Ints, total: Ints
) -> WindowCounts:
    """Cells in the order in which windows are runs."""
    order = np.argsort(group * (len(windows) + 1) + place, kind="stable")
    return WindowCounts(windows, group[order], place[order], n[order], total)
