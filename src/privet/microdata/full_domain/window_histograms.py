"""Numbers within windows, judged on histograms of the numbers themselves.

A group's fullest window is no sum of what smaller groups hold; its numbers are. So the
count cube has a histogram of the numbers, together with the columns that somebody knows
beside groups, and windows slide over those of a group that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.microdata.generalisation.constraints import GroupConstraint
from privet.microdata.generalisation.distinct_rows import DistinctRows
from privet.microdata.generalisation.window_constraints import (
    Cells,
    WindowConstraint,
    WindowsSoFar,
)
from privet.values.arrays import Flags, Ints
from privet.values.contingency import find_distinct
from privet.values.windows import Windows, Within


@dataclass(frozen=True, eq=False)
class WindowHistogram:
    """A promise about a number within a window, and where its histogram stands."""

    constraint: WindowConstraint
    """The promise; its cells are the lines of `codes`, with their people behind."""
    codes: Ints
    """A line per entry of the histogram: the number, then what is known beside it."""
    number: Ints
    """The entry of each distinct row."""
    start: int
    """Its first entry among all histograms of a group."""

    def __len__(self) -> int:
        return len(self.codes)

    def count_everybody(self, people: Ints) -> Cells:
        """The cells of one group of everybody; people are those of each row."""
        n = np.bincount(self.number, people, minlength=len(self)).astype(np.int64)
        return np.column_stack([self.codes, n])

    def find_failing(self, hist: Ints) -> Flags:
        """Groups that break the promise by themselves."""
        rows, group = self._list_cells(hist)
        return self.constraint.find_beyond(rows, group, len(hist))

    def is_safe(self, hist: Ints) -> bool:
        """Whether groups that keep it by themselves keep it together."""
        if not self.constraint.point.m:
            return True
        rows, group = self._list_cells(hist)
        found = self.constraint.try_parts(rows, group, len(hist), WindowsSoFar())
        return found is not None

    def _list_cells(self, hist: Ints) -> tuple[Cells, Ints]:
        own = hist[:, self.start : self.start + len(self)]
        group, entry = np.nonzero(own)
        return np.column_stack([self.codes[entry], own[group, entry]]), group


def make_window_histograms(
    rules: Sequence[GroupConstraint], cells: DistinctRows, start: int
) -> list[WindowHistogram]:
    """The histograms of all promises about windows, from one entry on."""
    found = []
    for rule in rules:
        if isinstance(rule.values, Within) and rule.forbids_something:
            made = _make_histogram(rule, rule.values, cells, start)
            found.append(made)
            start += len(made)
    return found


def _make_histogram(
    rule: GroupConstraint, within: Within, cells: DistinctRows, start: int
) -> WindowHistogram:
    names = list(dict.fromkeys([rule.column, *(c for s in rule.beside for c in s)]))
    at = {d.name: j for j, d in enumerate(cells.domains)}
    columns = [at[c] for c in names]
    sizes = tuple(len(cells.domains[j]) for j in columns)
    codes = cells.rows[:, columns].astype(np.int64)
    first, number = find_distinct(list(codes.T), sizes, len(codes))
    beside = tuple(tuple(names.index(c) for c in known) for known in rule.beside)
    constraint = WindowConstraint(
        rule,
        Windows.of(cells.domains[at[rule.column]], within),
        0,
        beside,
        sizes,
        cells.people,
    )
    return WindowHistogram(constraint, codes[first], number.astype(np.int64), start)
