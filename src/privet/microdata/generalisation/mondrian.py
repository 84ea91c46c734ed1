"""SkylineAnonymize: Mondrian's multidimensional splits, the most blurred group first.

This is the search of local recoding: everybody is one equivalence class, and a group is
split by its widest column, or by the one that tells most, at its best cut; where none
of these is allowed, at any other cut of any column. Group-local checks would be unsound
where an insider has companions, so that every split is judged on the whole release
(`constraints.py`). A split that is refused once is refused for ever: each is tried
once, and in the end no cut of any column of any group is left.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm"; LeFevre, DeWitt,
Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import heappop, heappush
from typing import Any

import numpy as np

from privet.microdata.generalisation.constraints import Constraints, SplitTrial
from privet.microdata.generalisation.domain_order import DomainArrays
from privet.microdata.generalisation.splits.kernels import SplitKernels
from privet.microdata.generalisation.splits.prefix_cuts import find_allowed
from privet.microdata.generalisation.splits.split_ahead import (
    SplitsAhead,
    split_ahead,
)
from privet.microdata.generalisation.splits.split_levels import finish_levels
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    CUT,
    EVERYBODY,
    LEFT,
    LINE,
    PEOPLE,
    START,
    STOP,
    BestSplits,
    SplitCriterion,
    SplitTask,
)
from privet.microdata.generalisation.splits.tallies import keep_surest
from privet.values.arrays import Ints

AT_ONCE = 200_000
"""Cells of a group whose splits are made in one move, where order is no matter."""

IN_ORDER = 2_000
"""The same where minima over all groups are carried along: from left to right."""

AHEAD = 100_000
"""Cells of the groups that numpy splits ahead, before each is finished in its turn."""

LARGE = 20_000
"""Cells of a table whose groups are finished in order; below it the most blurred one is
always the next."""


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
        self.task = SplitTask(shape, aim, judge.rules)
        self.names = names
        self._most = AT_ONCE if at_once is None else at_once
        hist, people = self.cutter.tally(
            cells, 0, len(cells), 0, EVERYBODY, judge.rules
        )
        judge.begin(hist[0], people, cells)
        self._lines = np.empty((64, LINE), dtype=np.int64)
        self._used = 0
        self._add([[0, len(cells), -1, 0, 0, people]])
        self._pending: list[tuple[float, int, BestSplits | None]] = []
        self._ahead: dict[int, SplitsAhead] = {}
        self.queue_group(0)

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

    def queue_group(self, line: int) -> None:
        """Take a group in, by how blurred it is."""
        start, stop, *_, people = self.tree[line].tolist()
        if people < 2 * self.judge.least or stop - start < 2:
            return
        if self._can_finish_at_once(line):
            heappush(self._pending, (0.0, line, None))
            return
        survey = self.cutter.survey(self.cells, start, stop, self.shape, self.aim)
        order = survey.rank_columns()
        if order:
            # 10 people, widths 0.5 and 0.1: 6. The heap gives the least: - blur.
            blur = people * survey.loss if self.aim.target < 0 else max(survey.gain)
            heappush(self._pending, (-float(blur), line, survey))

    def _can_finish_at_once(self, line: int) -> bool:
        """Whether order is no matter, or the group is small."""
        start, stop = self.tree[line, :2].tolist()
        if self.judge.is_by_minima and len(self.cells) >= LARGE:
            return bool(stop - start <= IN_ORDER)
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
        """The first split that is allowed: the best of each column, then all others."""
        if self.judge.is_exhausted:
            return None
        columns = survey.rank_columns()
        for d in columns:
            move = self._try_cut(line, d, int(survey.cut[d]), int(survey.left[d]))
            if move is not None:
                return move
        for d in columns:
            move = self._try_every_cut(line, d, survey)
            if move is not None:
                return move
        return None

    def _try_cut(self, line: int, d: int, cut: int, left: int) -> Split | None:
        """A split, if the whole release stays safe."""
        start, stop, *_, people = self.tree[line].tolist()
        if min(left, people - left) < self.judge.least:
            return None
        hist, _ = self.cutter.tally(self.cells, start, stop, d, cut, self.judge.rules)
        totals = np.array([left, people - left])
        parted = partial(self._part_rows, start, stop, d, cut)
        trial = self.judge.try_parts(hist, totals, parted)
        if trial is None:
            return None
        return Split(line, d, cut, left, trial, self.names[d])

    def _try_every_cut(self, line: int, d: int, survey: BestSplits) -> Split | None:
        """The best split by one column that is allowed."""
        start, stop, *_, people = self.tree[line].tolist()
        cuts, fetch = self.cutter.sweep(self.cells, start, stop, d, self.task)
        enough = np.minimum(cuts.left, people - cuts.left) >= self.judge.least
        cuts = cuts.select(enough & (cuts.cut != survey.cut[d]))
        judge = self.judge
        cuts = cuts.select(find_allowed(cuts, fetch, judge.rules, judge.find_failing))
        for i in cuts.rank():
            move = self._try_cut(line, d, int(cuts.cut[i]), int(cuts.left[i]))
            if move is not None:
                return move
        return None

    def _part_rows(
        self, start: int, stop: int, column: int, cut: int
    ) -> tuple[Any, Ints, int]:
        """The rows of a group, and on which side of a cut each is."""
        rows = self.cells[start:stop]
        return rows, (rows[:, column] > cut).astype(np.int64), 2

    def apply(self, move: Split) -> SplitStep:
        """Split a group."""
        people = int(self.tree[move.line, PEOPLE])
        if move.trial is None:
            return self._finish(move.line)
        first = self._make(move)
        heappop(self._pending)
        self.queue_group(first)
        self.queue_group(first + 1)
        return SplitStep(move.name, people, 2)

    def _make(self, move: Split) -> int:
        """Part the rows of a group; the line of its left part."""
        assert move.trial is not None
        first = self.part_group(move.line, move.column, move.cut, move.left)
        self.judge.accept(move.trial)
        return first

    def part_group(self, line: int, column: int, cut: int, left: int) -> int:
        """Part a group as somebody judged it; the line of its left part."""
        start, stop = self.tree[line, :2].tolist()
        middle = self.cutter.part(self.cells, start, stop, column, cut)
        return self._add_parts(line, (column, cut), middle, left)

    def _add_parts(
        self, line: int, split: tuple[int, int], middle: int, left: int
    ) -> int:
        """Put down both parts of a group that was split; the line of the left one."""
        start, stop, *_, people = self.tree[line].tolist()
        first = self._used
        self._add(
            [
                [start, middle, -1, 0, 0, left],
                [middle, stop, -1, 0, 0, people - left],
            ]
        )
        self.tree[line, COLUMN : LEFT + 1] = *split, first
        return first

    def _finish(self, line: int) -> SplitStep:
        start, stop, *_, people = self.tree[line].tolist()
        worst = self.judge.worst_found.copy()
        judge, given = self.judge, (self.cells, start, stop, self.task, worst)
        if judge.is_by_minima:
            if self.cutter.finish_in_order is None:
                return self._finish_by_splits(line)
            tables = judge.pack_minima()
            below = self.cutter.finish_in_order(*given, tables)
            judge.take_minima(tables)
        elif judge.is_by_rules:
            below = self.cutter.finish(*given)
        else:
            below = finish_levels(*given, judge.find_failing)
        # The group keeps its line; line 1 of its own tree becomes line `_used`.
        shift = self._used - 1
        split = below[:, COLUMN] >= 0
        below[split, LEFT] += shift
        self.judge.worst_found = worst
        self._add(below[1:])
        self.tree[line] = below[0]  # last: stopped before, the group is whole
        heappop(self._pending)
        return SplitStep("", people, int((~split).sum()))

    def _finish_by_splits(self, line: int) -> SplitStep:
        """What the loops do, split by split: the left part first.

        Where what was tried ahead is refused in its turn, the rest of the group is
        split without.
        """
        if line not in self._ahead:
            self._split_ahead()
        ahead, used = self._ahead.pop(line), self._used
        start, stop, *_, people = self.tree[line].tolist()
        self.cells[start:stop] = np.take(self.cells[start:stop], ahead.order, axis=0)
        waiting = [(line, 0)]
        while waiting:
            at, own = waiting.pop()
            first = self._split_alone(at) if own < 0 else self._follow(at, own, ahead)
            if first >= 0:
                followed = own >= 0 and self._follows(at, own, ahead)
                left = int(ahead.lines[own, LEFT]) if followed else -2
                waiting += [(first + 1, left + 1), (first, left)]
        heappop(self._pending)
        return SplitStep("", people, 1 + (self._used - used) // 2)

    def _split_ahead(self) -> None:
        """Split this group and those that follow by what the minima are now."""
        several, cells, spans = list[int](), 0, list[tuple[int, int, int]]()
        most = max(AHEAD // max(int(self.judge.rules.offset[-1]), 16) * 16, 1)
        for _, line, survey in sorted(self._pending, key=lambda each: each[:2]):
            start, stop, *_, people = self.tree[line].tolist()
            if survey is not None or (several and cells + stop - start > most):
                break
            several.append(line)
            spans.append((start, stop, people))
            cells += stop - start
        judge = self.judge
        tried = (judge.find_hopeless, judge.find_lowering)
        found = split_ahead(self.cells, spans, self.task, *tried)
        self._ahead = dict(zip(several, found, strict=True))

    def _follow(self, at: int, own: int, ahead: SplitsAhead) -> int:
        """Split a group as was tried ahead, if it may be; the line of its left part."""
        d, cut, left = ahead.lines[own, COLUMN : LEFT + 1].tolist()
        if d < 0:
            return -1
        start, people = self.tree[at, [START, PEOPLE]].tolist()
        hist, of_left = ahead.hist[left : left + 2], int(ahead.lines[left, PEOPLE])
        totals = np.array([of_left, people - of_left])
        if ahead.lowers[own]:
            trial = self.judge.try_parts(hist, totals)
            if trial is None:
                return self._split_alone(at)
            self.judge.accept(trial)
        else:
            keep_surest(self.judge.worst_found, hist, totals, self.judge.rules)
        middle = start + int(ahead.lines[left, STOP] - ahead.lines[left, START])
        return self._add_parts(at, (d, cut), middle, of_left)

    def _follows(self, at: int, own: int, ahead: SplitsAhead) -> bool:
        """Whether a group was split as was tried ahead."""
        made = self.tree[at, COLUMN : CUT + 1].tolist()
        return bool(made == ahead.lines[own, COLUMN : CUT + 1].tolist())

    def _split_alone(self, at: int) -> int:
        """Try every split of a group in its turn; the line of its left part, or -1."""
        start, stop, *_, people = self.tree[at].tolist()
        if people < 2 * self.judge.least or stop - start < 2:
            return -1
        survey = self.cutter.survey(self.cells, start, stop, self.shape, self.aim)
        move = self._try(at, survey)
        return -1 if move is None else self._make(move)

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        return self.judge.find_worst_belief()

    def list_leaves(self) -> Ints:
        """The lines of the groups, as they lie in the cells."""
        lines, at = self.tree, np.array([0])
        found = []
        while len(at):  # level by level; what was cut short is not reached
            whole = lines[at, COLUMN] < 0
            found.append(at[whole])
            left = lines[at[~whole], LEFT]
            at = np.concatenate([left, left + 1])
        leaves = np.concatenate(found)
        return leaves[np.argsort(lines[leaves, START])]

    def collect_leaves(self) -> Ints:
        """The groups, as they lie in the cells: start, stop and people of each."""
        return self.tree[self.list_leaves()][:, [START, STOP, PEOPLE]]
