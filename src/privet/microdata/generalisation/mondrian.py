"""SkylineAnonymize: Mondrian's multidimensional splits, the most blurred group first.

This is the search of local recoding: everybody is one equivalence class, and a group is
split by its widest column, or by the one that tells most. Group-local checks would be
unsound where an insider has companions, so that every split is judged on the whole
release (`constraints.py`). A split that is refused once is refused for ever: each is
tried once, and in the end none is left.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm"; LeFevre, DeWitt,
Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np

from privet.microdata.generalisation.constraints import Constraints, SplitTrial
from privet.microdata.generalisation.domain_order import DomainArrays
from privet.microdata.generalisation.kernels import (
    COLUMN,
    EVERYBODY,
    LEFT,
    LINE,
    PEOPLE,
    START,
    STOP,
    BestSplits,
    SplitCriterion,
    SplitKernels,
    SplitTask,
)
from privet.values.arrays import Ints

AT_ONCE = 200_000
"""Cells of a group whose splits are made in one move, where order is no matter."""


@dataclass(frozen=True, eq=False)
class Split:
    """A group to split, or to split as far as it goes."""

    line: int
    """The group's line in the tree."""
    column: int = -1
    """By which column; -1: as far as it goes."""
    cut: int = -1
    """The last position on the left."""
    left: int = 0
    """How many people go left."""
    trial: SplitTrial | None = None
    """What the release comes to."""
    name: str = ""
    """The column's name."""

    def __str__(self) -> str:
        return f"cutting {self.name}" if self.name else "cutting a part of the table"


@dataclass(frozen=True)
class SplitStep:
    """A move that was made; it tells no values."""

    column: str
    """Which column was split; empty where a part was split as far as it goes."""
    people: int
    """How many people the group had."""
    groups: int
    """Into how many it fell."""

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        return {"column": self.column, "people": self.people, "groups": self.groups}


class MondrianState:
    """The partition: everybody in one group at first; see `privet.release.refine`."""

    def __init__(
        self,
        cells: Any,
        shape: DomainArrays,
        aim: SplitCriterion,
        judge: Constraints,
        cutter: SplitKernels,
        names: tuple[str, ...],
        at_once: int | None = None,
    ) -> None:
        self.cells = cells
        self.shape = shape
        self.aim = aim
        self.judge = judge
        self.cutter = cutter
        self.names = names
        self._most = AT_ONCE if at_once is None else at_once
        hist, people = self.cutter.tally(
            cells, 0, len(cells), 0, EVERYBODY, judge.rules
        )
        judge.begin(hist[0], people)
        self._lines = np.empty((64, LINE), dtype=np.int64)
        self._used = 0
        self._add([[0, len(cells), -1, 0, 0, people]])
        self._pending: list[tuple[float, int, BestSplits | None]] = []
        self._queue_group(0)

    @property
    def tree(self) -> Ints:
        """Every group there ever was; see `LINE`."""
        return self._lines[: self._used]

    def _add(self, lines: Any) -> None:
        used = self._used + len(lines)
        if used > len(self._lines):
            room = np.empty((max(used, 2 * len(self._lines)), LINE), dtype=np.int64)
            room[: self._used] = self.tree
            self._lines = room
        self._lines[self._used : used] = lines
        self._used = used

    def _queue_group(self, line: int) -> None:
        """Take a group in, by how blurred it is."""
        start, stop, *_, people = self.tree[line].tolist()
        if people < 2 * self.judge.least or stop - start < 2:
            return
        if self._can_finish_at_once(line):  # order is no matter
            heappush(self._pending, (0.0, line, None))
            return
        survey = self.cutter.survey(self.cells, start, stop, self.shape, self.aim)
        order = survey.rank_columns()
        if order:
            # 10 people, widths 0.5 and 0.1: 6. The heap gives the least: - blur.
            blur = people * survey.loss if self.aim.target < 0 else max(survey.gain)
            heappush(self._pending, (-float(blur), line, survey))

    def _can_finish_at_once(self, line: int) -> bool:
        start, stop = self.tree[line, :2].tolist()
        return self.judge.is_local and stop - start <= self._most

    def find_best_move(self) -> Split | None:
        """The most blurred group that may be split, by its widest column."""
        while self._pending:
            _, line, survey = self._pending[0]
            move = Split(line) if survey is None else self._try(line, survey)
            if move is not None:
                return move
            heappop(self._pending)
        return None

    def count_left(self) -> dict[str, int]:
        """How many groups were not tried yet."""
        return {"groups": len(self._pending)}

    def _try(self, line: int, survey: BestSplits) -> Split | None:
        start, stop, *_, people = self.tree[line].tolist()
        for d in survey.rank_columns():
            cut, left = int(survey.cut[d]), int(survey.left[d])
            if min(left, people - left) < self.judge.least:
                continue
            hist, _ = self.cutter.tally(
                self.cells, start, stop, d, cut, self.judge.rules
            )
            trial = self.judge.try_split(hist, left, people)
            if trial is not None:
                return Split(line, d, cut, left, trial, self.names[d])
        return None

    def apply(self, move: Split) -> SplitStep:
        """Split a group."""
        start, stop, *_, people = self.tree[move.line].tolist()
        if move.trial is None:
            return self._finish(move.line)
        middle = self.cutter.part(self.cells, start, stop, move.column, move.cut)
        first = self._used
        self.judge.accept(move.trial)
        self._add(
            [
                [start, middle, -1, 0, 0, move.left],
                [middle, stop, -1, 0, 0, people - move.left],
            ]
        )
        self.tree[move.line, COLUMN : LEFT + 1] = move.column, move.cut, first
        heappop(self._pending)
        self._queue_group(first)
        self._queue_group(first + 1)
        return SplitStep(move.name, people, 2)

    def _finish(self, line: int) -> SplitStep:
        start, stop, *_, people = self.tree[line].tolist()
        worst = self.judge.worst_found.copy()
        task = SplitTask(self.shape, self.aim, self.judge.rules)
        below = self.cutter.finish(self.cells, start, stop, task, worst)
        # The group keeps its line; line 1 of its own tree becomes line `_used`.
        shift = self._used - 1
        split = below[:, COLUMN] >= 0
        below[split, LEFT] += shift
        self.judge.worst_found = worst
        self._add(below[1:])
        self.tree[line] = below[0]  # last: stopped before, the group is whole
        heappop(self._pending)
        return SplitStep("", people, int((~split).sum()))

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        return self.judge.find_worst_belief()

    def collect_leaves(self) -> Ints:
        """The groups, as they lie in the cells: start, stop and people of each."""
        lines, at = self.tree, np.array([0])
        found = []
        while len(at):  # level by level; what was cut short is not reached
            whole = lines[at, COLUMN] < 0
            found.append(lines[at[whole]][:, [START, STOP, PEOPLE]])
            left = lines[at[~whole], LEFT]
            at = np.concatenate([left, left + 1])
        leaves = np.concatenate(found)
        return leaves[np.argsort(leaves[:, 0])]
