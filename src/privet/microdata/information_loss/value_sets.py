"""What each released text of a column stands for: a set of values, with their shares.

Values stand at places, from 0. A set is kept as runs of neighbouring places, so that a
range takes one line however wide it is, and spreading rows over it is a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.values.arrays import Flags, Floats, Ints
from privet.values.contingency import sum_by_key

AT_ONCE = 4_000_000
"""Numbers that are spread at once."""


@dataclass(frozen=True, eq=False)
class ValueSets:
    """Sets of values, each a number of runs; a share for every value of a run."""

    values: int
    """How many values the column has."""
    count: int
    """How many sets there are."""
    owner: Ints
    """The set of each run, in order."""
    start: Ints
    """The first place of each run."""
    stop: Ints
    """The place after its last."""
    share: Floats
    """What each of its values gets of a row; in a set they add up to 1."""
    blank: Flags
    """Which sets show nothing: the marker, or any value."""

    @classmethod
    def singles(cls, values: int) -> ValueSets:
        """Every value stands for itself."""
        each = np.arange(values)
        return cls(
            values,
            values,
            each,
            each,
            each + 1,
            np.ones(values),
            np.zeros(values, dtype=bool),
        )

    @classmethod
    def evenly(
        cls, values: int, runs: Sequence[tuple[int, int, int]], blank: Flags
    ) -> ValueSets:
        """Sets whose values get even shares; a run is set, first and last place."""
        owner, start, last = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        size = np.bincount(owner, weights=last - start + 1, minlength=len(blank))
        return cls(
            values, len(blank), owner, start, last + 1, 1 / size[owner], np.array(blank)
        )

    @classmethod
    def from_labels(cls, label: Ints, blank: Flags) -> ValueSets:
        """Sets that part the values: the set of each value is given."""
        order = np.argsort(label, kind="stable")
        owner = label[order]
        size = np.bincount(label, minlength=len(blank))
        return cls(
            len(label), len(blank), owner, order, order + 1, 1 / size[owner], blank
        )

    @classmethod
    def from_histograms(
        cls, group: Ints, value: Ints, n: Ints, values: int
    ) -> ValueSets:
        """A set per group: the values its rows have, each by how many have it."""
        groups = int(group.max(initial=-1)) + 1
        keys, rows = sum_by_key(group * values + value, n)
        owner, place = keys // values, keys % values
        total = np.bincount(owner, weights=rows, minlength=groups)
        share = rows / total[owner]
        blank = np.zeros(groups, dtype=bool)
        return cls(values, groups, owner, place, place + 1, share, blank)

    @cached_property
    def size(self) -> Ints:
        """How many values each set has."""
        found = np.bincount(
            self.owner, weights=self.stop - self.start, minlength=self.count
        )
        return found.astype(np.int64)

    @cached_property
    def first_run(self) -> Ints:
        """Where the runs of each set begin; one entry more than there are sets."""
        found = np.searchsorted(self.owner, np.arange(self.count + 1))
        return found.astype(np.int64)

    def sum_inside(self, numbers: Floats) -> Floats:
        """The sum of the numbers of each set's values."""
        before = np.concatenate([[0.0], np.cumsum(numbers)])
        runs = before[self.stop] - before[self.start]
        found = np.bincount(self.owner, weights=runs, minlength=self.count)
        return found.astype(np.float64)

    def average_columns(self, bucket: Ints, buckets: int) -> Floats:
        """What each set gives to some buckets of values: sets by buckets."""
        ones = np.zeros((self.values + 1, buckets))
        ones[np.arange(self.values) + 1, bucket] = 1
        before = np.cumsum(ones, axis=0)
        found = np.zeros((self.count, buckets))
        runs = (before[self.stop] - before[self.start]) * self.share[:, None]
        filled = np.flatnonzero(np.diff(self.first_run))
        if len(filled):
            found[filled] = np.add.reduceat(runs, self.first_run[filled], axis=0)
        return found

    def spread(self, weights: Floats) -> Floats:
        """Weights of sets (a line each) given to their values (a line each)."""
        width = weights.shape[1]
        rise = np.zeros((self.values + 1, width))
        step = max(AT_ONCE // max(width, 1), 1)
        for at in range(0, len(self.owner), step):
            part = slice(at, at + step)
            given = weights[self.owner[part]] * self.share[part, None]
            _add_lines(rise, self.start[part], given)
            _add_lines(rise, self.stop[part], -given)
        # A range from 2 to 4 rises at 2 and falls at 5; sums leave noise below 0.
        return np.maximum(np.cumsum(rise, axis=0)[:-1], 0.0)

    def expand(self, at: Ints) -> tuple[Ints, Ints]:
        """The runs of some sets: which of these each belongs to, and its number."""
        many = np.diff(self.first_run)[at]
        owner = np.repeat(np.arange(len(at)), many)
        # Of sets with 2 and 3 runs: 0 1, then 0 1 2, each from where the set begins.
        offset = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
        return owner, self.first_run[at][owner] + offset


def _add_lines(table: Floats, at: Ints, lines: Floats) -> None:
    """Add each line to the line of a table; several may go to one."""
    if not len(at):
        return
    order = np.argsort(at, kind="stable")
    sorted_ = at[order]
    first = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])
    table[sorted_[first]] += np.add.reduceat(lines[order], first, axis=0)
