"""What Mondrian splits, how, and what must hold: plain tuples that loops can take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation.domain_order import DomainArrays
from privet.values.arrays import Flags, Floats, Ints

LOGS = 2**20
"""Numbers whose logarithm is looked up; larger ones by their leading digits."""

EVERYBODY = np.iinfo(np.int64).max
"""A cut with nobody right of it."""

LINE = 6
START, STOP, COLUMN, CUT, LEFT, PEOPLE = range(LINE)
"""What a line of the split tree says: the rows of a group; by which column and after
which position it was split, -1 where it stays whole; the line of its left part, which
the right one follows; how many people it has."""

Cells = NDArray[Any]
"""The distinct rows, those of a group side by side: positions of the known columns,
codes of the others, and last how many people have the row."""

NONE: Ints = np.zeros(0, dtype=np.int64)
"""Nothing."""


class SplitCriterion(NamedTuple):
    """What a good split is: an even one, or one with information about the target."""

    target: int
    """The target's column in the cells; -1: even splits."""
    classes: int
    """How many values the target has."""
    logs: Floats
    """Logarithms to base 2."""


class GroupRules(NamedTuple):
    """Constraints every group must keep by itself: at least so many people, (l, k)."""

    about: Ints
    """The protected columns in the cells."""
    offset: Ints
    """Where the values of each begin in a histogram, and the end."""
    least: int
    """People a group must have."""
    of: Ints
    """Which protected column each rule is about."""
    ruled: Ints
    """l: values that are ruled out."""
    known: Ints
    """k: people whose value is known."""
    num: Ints
    """The highest belief that is allowed: its numerator …"""
    den: Ints
    """… and denominator."""
    mask: Flags
    """Which values matter, one line per rule."""
    window: Ints = NONE
    """For each protected column, where its windows begin in `place` and `stop`, -1
    where values are counted; a column of windows has one value, the fullest one."""
    place: Ints = NONE
    """The place of each code in the order in which windows are runs; -1: no number."""
    stop: Ints = NONE
    """The first place beyond the window that starts at each."""


def count_no_rules() -> GroupRules:
    """No rules: any group will do."""
    flags, end = np.zeros((0, 0), dtype=bool), np.zeros(1, dtype=np.int64)
    return GroupRules(NONE, end, 1, NONE, NONE, NONE, NONE, NONE, flags)


class SplitTask(NamedTuple):
    """What is split, how, and what must hold of every group."""

    shape: DomainArrays
    """The columns that are split."""
    aim: SplitCriterion
    """Which split is the best."""
    rules: GroupRules
    """What both sides of it must keep."""


def make_criterion(target: int, classes: int) -> SplitCriterion:
    """Even splits, or informative ones."""
    logs = np.zeros(1)
    if target >= 0:
        logs = np.log2(np.maximum(np.arange(LOGS, dtype=np.float64), 1))
    return SplitCriterion(target, max(classes, 1), logs)


class BestSplits(NamedTuple):
    """The best split of each column of a group: where to split it."""

    cut: Ints
    """The last position on the left; -1: there is nothing to split."""
    left: Ints
    """How many people go left."""
    width: Floats
    """How wide the column is, from 0 to 1."""
    gain: Floats
    """What the split tells about the target, in bits times people."""

    @classmethod
    def of(cls, columns: int) -> BestSplits:
        """Nothing to split yet."""
        none = np.full(columns, -1, dtype=np.int64)
        return cls(none, np.zeros_like(none), np.zeros(columns), np.zeros(columns))

    def rank_columns(self) -> list[int]:
        """The columns worth trying, the best first."""
        open_ = [d for d in range(len(self.cut)) if self.cut[d] >= 0]
        return sorted(open_, key=lambda d: (-self.gain[d], -self.width[d], d))

    @property
    def loss(self) -> float:
        """NCP: how much one person's row is blurred, the sum of all widths."""
        total = 0.0
        for w in self.width.tolist():
            total += w
        return total
