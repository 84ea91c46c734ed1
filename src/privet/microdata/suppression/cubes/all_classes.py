"""Insiders with companions, who look at all classes of a cube at once.

The victim may be in one class and the companions in another, so that no class can be
judged by itself. Running minima over all classes that ever were decide: they only fall
while classes are split, so that what is refused once is refused for ever.
Chen, LeFevre, Ramakrishnan 2007, "SkylineCheck Algorithm".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from privet.microdata.skyline.incremental import Requirement, RunningMinima
from privet.values.arrays import Flags, Ints

TABLE = 2_000_000
"""Cells of a table of classes and values that is filled at once."""


class ClassRows(NamedTuple):
    """People of so many classes: which class, which value, how many."""

    group: Ints
    value: Ints
    n: Ints
    groups: int

    def join(self, other: ClassRows) -> ClassRows:
        """The classes of both, those of the other behind these."""
        return ClassRows(
            np.concatenate([self.group, other.group + self.groups]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.n, other.n]),
            self.groups + other.groups,
        )

    def list_tables(self, values: int) -> Iterator[tuple[int, Ints]]:
        """Tables of some classes, a line each, with the number of the first."""
        lines = max(TABLE // max(values, 1), 1)
        for first in range(0, self.groups, lines):
            several = min(lines, self.groups - first)
            own = np.flatnonzero((self.group >= first) & (self.group < first + lines))
            table = np.zeros((several, values), dtype=np.int64)
            np.add.at(table, (self.group[own] - first, self.value[own]), self.n[own])
            yield first, table


class AllClasses:
    """What insiders can learn by now of a column with so many values."""

    def __init__(self, minima: RunningMinima, values: int) -> None:
        self._minima, self._values = minima, values

    @classmethod
    def empty(cls, asked: Sequence[Requirement], values: int) -> AllClasses:
        """No class yet."""
        return cls(RunningMinima.empty(asked, values), values)

    def find_hopeless(self, rows: ClassRows) -> Flags:
        """Classes that break a limit beyond doubt, be others as they may."""
        hopeless = np.zeros(rows.groups, dtype=bool)
        if self._minima.points:
            for first, table in rows.list_tables(self._values):
                found = self._minima.find_hopeless(table)
                hopeless[first : first + len(table)] = found
        return hopeless

    def add(self, rows: ClassRows) -> AllClasses:
        """With more classes, safe or not."""
        minima = self._minima
        for _, table in rows.list_tables(self._values) if minima.points else ():
            minima = minima.with_groups(table[minima.find_lowering(table)])
        return AllClasses(minima, self._values)

    def is_safe(self) -> bool:
        """Whether every insider is kept unsure, exactly."""
        return self._minima.is_safe()
