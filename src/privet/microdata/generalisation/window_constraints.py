"""What a split must keep of a number within a window, counted from the rows split.

A column of numbers has too many values for a histogram per split. So the windows of
each side are counted from its own rows: sorted by number, with a difference of running
sums per window. Merging groups never raises the share of a window, hence a split that
is refused once is refused for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.window_insiders import (
    NOTHING,
    WindowMinima,
    WindowOdds,
)
from privet.microdata.window_counts import WindowCounts, sort_cells
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Belief, Ceiling, largest_fraction_within
from privet.values.contingency import packed
from privet.values.windows import Windows

if TYPE_CHECKING:
    from privet.microdata.generalisation.constraints import GroupConstraint

Cells = NDArray[Any]

Parted = Callable[[], tuple[Cells, Ints, int]]
"""The rows that are split, the part of each, and how many parts there are."""


@dataclass(frozen=True)
class WindowsSoFar:
    """How sure somebody is by now of a number within a window."""

    belief: Fraction = Fraction(0)
    """The highest belief in one group."""
    minima: WindowMinima = NOTHING
    """Of an insider with companions: the least factors over all groups."""


@dataclass(frozen=True, eq=False)
class WindowConstraint:
    """A promise about a number within a window, for the cells of a table."""

    rule: GroupConstraint
    """The promise."""
    windows: Windows
    """The windows of its column."""
    column: int
    """Where that stands in the cells."""
    beside: tuple[tuple[int, ...], ...]
    """Columns that a linker knows besides, and groups show as they are."""
    sizes: tuple[int, ...]
    """How many values each column of the cells has."""
    people: int
    """How many people there are."""

    @property
    def _limit(self) -> Ceiling:
        return self.rule.limit

    @property
    def point(self) -> Point:
        """l, k and m, of which nobody knows more than there are."""
        return self.rule.cap_knowledge(self.sizes[self.column], self.people).point

    def try_parts(
        self, rows: Cells, part: Ints, parts: int, before: WindowsSoFar
    ) -> WindowsSoFar | None:
        """What some new groups come to; None if they break the promise."""
        found = before
        for known in ((), *self.beside):
            counts = self._count(rows, *self._divide(rows, part, parts, known))
            if self.point.m:
                after = self._add_minima(counts, found)
            else:
                after = self._add_beliefs(counts, found)
            if after is None:
                return None
            found = after
        return found

    def find_beyond(self, rows: Cells, part: Ints, parts: int) -> Flags:
        """Which parts break the promise by themselves."""
        found = np.zeros(parts, dtype=bool)
        for known in ((), *self.beside):
            finer, several = self._divide(rows, part, parts, known)
            counts = self._count(rows, finer, several)
            odds = WindowOdds.from_counts(counts, self.point)
            found[part[odds.find_beyond(self._limit)[finer]]] = True
        return found

    def find_belief(self, rows: Cells, known: Sequence[int] = ()) -> Fraction:
        """How sure somebody is at worst if all rows are one group."""
        whole = np.zeros(len(rows), dtype=np.int64)
        counts = self._count(rows, *self._divide(rows, whole, 1, known))
        odds = WindowOdds.from_counts(counts, self.point)
        return odds.minima().bound_belief(self.point.m)

    def _divide(
        self, rows: Cells, part: Ints, parts: int, known: Sequence[int]
    ) -> tuple[Ints, int]:
        """Parts as whoever knows some columns sees them, and how many there are."""
        if not known:
            return part, parts
        # Whoever knows a ward looks at the people of one part and one ward.
        codes = [rows[:, j].astype(np.int64) for j in known]
        sizes = [self.sizes[j] for j in known]
        every = packed([part, *codes], [parts, *sizes], len(rows))
        kept, finer = np.unique(every, return_inverse=True)
        return finer.ravel(), len(kept)

    def _count(self, rows: Cells, part: Ints, parts: int) -> WindowCounts:
        n = rows[:, -1].astype(np.int64)
        total = np.bincount(part, weights=n, minlength=parts).astype(np.int64)
        # Rows of a part with the same number are one cell: it is ruled out as a whole.
        size = self.sizes[self.column]
        key = part * size + rows[:, self.column].astype(np.int64)
        cells, at = np.unique(key, return_inverse=True)
        people = np.bincount(at.ravel(), weights=n).astype(np.int64)
        place = self.windows.place[cells % size]
        return sort_cells(self.windows, cells // size, place, people, total)

    def _add_beliefs(
        self, counts: WindowCounts, before: WindowsSoFar
    ) -> WindowsSoFar | None:
        """Without companions: a / (a + max(T - k, 0)) of every window, in integers."""
        l, k, _ = self.point
        assert isinstance(l, int)
        a = counts.count
        if not len(a):
            return before
        whole = a + np.maximum(counts.count_tail(l) - k, 0)
        # Counts and both terms of the limit are below 2**31: products fit 64 bits.
        most = largest_fraction_within(self._limit, self.people)
        if (a * most.denominator > most.numerator * whole).any():
            return None
        best = int(np.argmax(a / whole))
        here = Fraction(int(a[best]), int(whole[best]))
        return WindowsSoFar(max(before.belief, here), before.minima)

    def _add_minima(
        self, counts: WindowCounts, before: WindowsSoFar
    ) -> WindowsSoFar | None:
        """With companions: the bound over all groups, these included."""
        found = WindowOdds.from_counts(counts, self.point).minima()
        minima = before.minima | found
        belief = minima.bound_belief(self.point.m)
        if not self._limit.holds(Belief(0, belief)):
            return None
        return WindowsSoFar(belief, minima)
