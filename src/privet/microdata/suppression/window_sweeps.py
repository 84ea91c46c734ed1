"""The loops of top-down disclosure for a number within a window, in numpy.

Each group's numbers stand in the order in which windows are runs; C(s) is how many
people lie in the window that starts at s. A person at place y raises C from the first
window that holds y up to the one that starts there. So what one value takes out of C is
a few steps, and the fullest window of the rest is the largest C between two steps, less
the step: one look into a table of maxima. Cuts of an ordered column are prefixes of its
values: halves of halves, of whose steps only those of the half at hand are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.microdata.suppression.kernels import concatenate_ranges
from privet.values.arrays import Ints
from privet.values.windows import Windows


@dataclass(frozen=True, eq=False)
class WindowField:
    """The numbers of some groups, and C over the windows that start at them."""

    windows: Windows
    key: Ints
    """Group times places, and place, of each number that occurs in a group."""
    count: Ints
    """C: people in the window that starts there."""
    at: Ints
    """The number of each row, as a place in `key`."""

    @classmethod
    def of(cls, windows: Windows, group: Ints, place: Ints, n: Ints) -> WindowField:
        """From rows of people with numbers, in the order of groups and places."""
        size = max(len(windows), 1)
        every = group * size + place
        new = np.diff(every, prepend=-1) != 0
        first = np.flatnonzero(new)
        key = every[first]
        before = np.append(np.concatenate([[0], np.cumsum(n)])[first], n.sum())
        stop = key - key % size + windows.stop[key % size]
        count = before[np.searchsorted(key, stop)] - before[:-1]
        return cls(windows, key, np.asarray(count), np.cumsum(new) - 1)

    def __len__(self) -> int:
        return len(self.key)

    def find_begin(self, group: Ints) -> Ints:
        """Where the numbers of each group begin."""
        return np.searchsorted(self.key, group * max(len(self.windows), 1))

    def find_largest(self, groups: int) -> Ints:
        """People in the fullest window of each group."""
        begin = self.find_begin(np.arange(groups + 1))
        found = np.zeros(groups, dtype=np.int64)
        some = np.flatnonzero(begin[1:] > begin[:-1])
        if len(some):
            found[some] = np.maximum.reduceat(self.count, begin[some])
        return found

    def list_steps(self) -> tuple[Ints, Ints]:
        """From which window to before which one the people of each row are counted."""
        size = max(len(self.windows), 1)
        place = self.key % size
        low = np.searchsorted(self.key, self.key - place + self.windows.first[place])
        return low[self.at], self.at + 1

    @cached_property
    def _maxima(self) -> list[Ints]:
        """The largest of 1, 2, 4 … entries of C from each on."""
        found = [self.count]
        while 2 ** len(found) <= len(self):
            half = 2 ** (len(found) - 1)
            found.append(np.maximum(found[-1][:-half], found[-1][half:]))
        return found

    def find_highest(self, start: Ints, stop: Ints) -> Ints:
        """The largest C from start to before stop, which is behind it."""
        depth = np.frexp((stop - start).astype(np.float64))[1] - 1
        found = np.zeros(len(start), dtype=np.int64)
        for d in np.unique(depth).tolist():
            at, table = np.flatnonzero(depth == d), self._maxima[d]
            found[at] = np.maximum(table[start[at]], table[stop[at] - 2**d])
        return found


@dataclass(frozen=True, eq=False)
class Steps:
    """How C changes by what some parts of groups hold: steps at windows."""

    part: Ints
    """The part each step belongs to; those of a part have the sum 0."""
    at: Ints
    """The window from which on it counts."""
    rise: Ints
    """By how much."""

    @classmethod
    def of(cls, part: Ints, low: Ints, high: Ints, n: Ints, size: int) -> Steps:
        """Steps up and down, by part and window, each place once."""
        keys = np.concatenate([part * (size + 1) + low, part * (size + 1) + high])
        key, same = np.unique(keys, return_inverse=True)
        rise = np.bincount(same, weights=np.concatenate([n, -n]), minlength=len(key))
        return cls(key // (size + 1), key % (size + 1), rise.astype(np.int64))

    @property
    def level(self) -> Ints:
        """What C has of the part from each step on."""
        return np.asarray(np.cumsum(self.rise))


def take_out(
    field: WindowField, steps: Steps, group: Ints, whole: Ints
) -> tuple[Ints, Ints]:
    """The fullest window of each part, and of the rest of its group.

    `group` is the group of each part, `whole` the fullest window of each group.
    """
    inside = np.zeros(len(group), dtype=np.int64)
    rest = whole[group].copy()
    if not len(steps.part):
        return inside, rest
    first = np.flatnonzero(np.diff(steps.part, prepend=-1))
    own = steps.part[first]
    inside[own] = np.maximum.reduceat(steps.level, first)
    # From each step to the next, or to the end of the group; and before the first.
    begin, end = field.find_begin(group[own]), field.find_begin(group[own] + 1)
    stop = np.append(steps.at[1:], 0)
    stop[np.append(first[1:], len(stop)) - 1] = end
    rest[own] = 0
    for part, start, to, level in (
        (steps.part, steps.at, stop, steps.level),
        (own, begin, steps.at[first], np.zeros(len(own), dtype=np.int64)),
    ):
        some = np.flatnonzero(to > start)
        left = field.find_highest(start[some], to[some]) - level[some]
        np.maximum.at(rest, part[some], left)
    return inside, rest


def sweep(group: Ints, rank: Ints, low: Ints, high: Ints, n: Ints, size: int) -> Ints:
    """The fullest window of the people of each group up to each rank.

    People have a group, a rank among its values, and windows from low to before high.
    One number per group and rank that occur, in this order. Somebody must be counted
    from 0 on, or nobody (n = 0), in each group and rank: there the first piece begins.
    """
    depth = int(rank.max(initial=0)).bit_length()
    # A node is a group and the leading digits of ranks; at first a whole group. Its
    # pieces begin at its steps; `value` is the largest C there of all ranks before it.
    steps = Steps.of(group, low, high, n, size)
    node, at = steps.part, steps.at
    value = np.zeros(len(node), dtype=np.int64)
    for digit in range(depth - 1, -1, -1):
        half = (group << (depth - digit)) | (rank >> digit)
        steps = Steps.of(half, low, high, n, size)
        node, at, value = _halve(node, at, value, steps, size)
    value = value + _look_up(steps, node, at, size)
    return np.maximum.reduceat(value, np.flatnonzero(np.diff(node, prepend=-1)))


def _look_up(steps: Steps, node: Ints, at: Ints, size: int) -> Ints:
    """What C has of a node's people at a window."""
    key = steps.part * (size + 1) + steps.at
    # Each node's steps have the sum 0: running sums begin anew by themselves.
    level = np.concatenate([[0], steps.level])
    return np.asarray(level[np.searchsorted(key, node * (size + 1) + at, "right")])


def _halve(
    node: Ints, at: Ints, value: Ints, steps: Steps, size: int
) -> tuple[Ints, Ints, Ints]:
    """The pieces of both halves of each node, which begin at steps of the half."""
    child = steps.part[np.flatnonzero(np.diff(steps.part, prepend=-1))]
    key = steps.part * (size + 1) + steps.at
    start = np.searchsorted(node, child >> 1)
    stop = np.searchsorted(node, child >> 1, "right")
    own = concatenate_ranges(start, stop)
    of = np.repeat(child, stop - start)
    # The second half comes behind the first: its people are counted before.
    before = np.where(of & 1, _look_up(steps, of - 1, at[own], size), 0)
    piece = np.searchsorted(key, of * (size + 1) + at[own], "right") - 1
    first = np.flatnonzero(np.diff(piece, prepend=-1))
    largest = np.maximum.reduceat(value[own] + before, first)
    return steps.part, steps.at, largest
