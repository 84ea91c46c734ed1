"""Groups of a node of the lattice, rolled up from counts; rows are never seen again.

The cube has each distinct combination of known values once, with the histogram of the
protected values. A coarser node adds up the groups of any finer one, so that the
smallest that was counted before is taken.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.microdata.full_domain.lattice import LevelledColumn, Node
from privet.values.arrays import Floats, Ints
from privet.values.contingency import packed

CACHED_CELLS = 2**24
"""Numbers that groups of earlier nodes may hold in memory."""

LARGE, SPARSE = 2**18, 16
"""Histograms of so many numbers are added up by those that are not 0, where these are
at most one in sixteen."""


@dataclass(frozen=True, eq=False)
class CountCube:
    """Groups: one of their positions in each column, histograms and numbers."""

    positions: Ints
    """A line per group: where one of its rows stands in each column."""
    hist: Ints
    """A line per group: how many people have each protected value."""
    totals: Ints
    """How many people each group has."""

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def people(self) -> int:
        """How many there are in all."""
        return int(self.totals.sum())

    def count_margin(self, column: int, values: int) -> Ints:
        """How many people stand at each position of a column."""
        n = np.bincount(self.positions[:, column], self.totals, minlength=values)
        return n.astype(np.int64)

    def _pack_labels(self, labels: Sequence[Ints]) -> Ints:
        codes = [own[self.positions[:, c]] for c, own in enumerate(labels)]
        sizes = [int(own.max(initial=0)) + 1 for own in labels]
        return packed(codes, sizes, len(self))

    def number_groups(self, labels: Sequence[Ints]) -> Ints:
        """Which group of `roll_up` each of these groups falls into."""
        return np.unique(self._pack_labels(labels), return_inverse=True)[1]

    def roll_up(self, labels: Sequence[Ints]) -> CountCube:
        """Groups of rows with the same labels; labels are given by position."""
        key = self._pack_labels(labels)
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return CountCube(
            self.positions[order[starts]],
            self._sum_lines(order, starts),
            np.add.reduceat(self.totals[order], starts),
        )

    @cached_property
    def _occurring(self) -> tuple[Ints, Ints] | None:
        """Group and value wherever somebody is; None: nearly everywhere."""
        if self.hist.size < LARGE:
            return None
        line, value = np.nonzero(self.hist)
        return (line, value) if len(line) * SPARSE <= self.hist.size else None

    def _sum_lines(self, order: Ints, starts: Ints) -> Ints:
        """Histograms of groups in this order, added up from each start to the next."""
        if self._occurring is None:
            return np.asarray(np.add.reduceat(self.hist[order], starts, axis=0))
        # A million cells of a number's thousand values are empty but for a thousand.
        line, value = self._occurring
        group = np.empty(len(order), dtype=np.int64)
        group[order] = np.searchsorted(starts, np.arange(len(order)), "right") - 1
        cell, at = np.unique(
            group[line] * self.hist.shape[1] + value, return_inverse=True
        )
        total = np.zeros(len(cell), dtype=np.int64)
        np.add.at(total, at, self.hist[line, value])
        found = np.zeros((len(starts), self.hist.shape[1]), dtype=np.int64)
        found.reshape(-1)[cell] = total
        return found


def measure_widths(cube: CountCube, widths: Sequence[Floats], shares: Floats) -> Floats:
    """NCP of a row of each group; widths are given by position, shares by column."""
    total = np.zeros(len(cube))
    for c, own in enumerate(widths):
        total += shares[c] * own[cube.positions[:, c]]
    return total


class NodeCounts:
    """Groups of any node, kept for those that are coarser."""

    def __init__(self, base: CountCube, columns: Sequence[LevelledColumn]) -> None:
        self.base = base
        self._columns = columns
        bottom = tuple(0 for _ in columns)
        self._kept: OrderedDict[Node, CountCube] = OrderedDict({bottom: base})
        self._cells = 0

    def find_groups(self, node: Node) -> CountCube:
        """The groups of a node."""
        if node in self._kept:
            return self._kept[node]
        finer = [
            known
            for known in self._kept
            if all(a <= b for a, b in zip(known, node, strict=True))
        ]
        source = min((self._kept[known] for known in finer), key=len)
        labels = [c.nodes[level] for c, level in zip(self._columns, node, strict=True)]
        found = source.roll_up(labels)
        self._keep(node, found)
        return found

    def _keep(self, node: Node, found: CountCube) -> None:
        """Remember groups that are few enough to spare later counts something."""
        if 2 * len(found) > len(self.base):
            return
        self._kept[node] = found
        self._cells += found.hist.size
        while self._cells > CACHED_CELLS:
            oldest = next(n for n in self._kept if any(n))
            self._cells -= self._kept.pop(oldest).hist.size
