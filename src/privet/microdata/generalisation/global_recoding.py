"""Global recoding by top-down specialization: the same cuts of a column for everybody.

One set of ranges per column is refined from the top. A move splits one range of one
column in all groups at once. What it is worth depends on the column alone, so that each
split is tried once, the best of each range first, then all others; one that is refused
is refused for ever, since groups only become smaller. Splits are judged on the whole
release.
Fung, Wang, Yu 2005 (top-down specialization).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from privet.microdata.generalisation.constraints import Constraints, SplitTrial
from privet.microdata.generalisation.domain_order import OrderedDomain, pack_domains
from privet.microdata.generalisation.mondrian import SplitStep
from privet.microdata.generalisation.splits.kernels import survey, sweep
from privet.microdata.generalisation.splits.split_task import (
    Cells,
    SplitCriterion,
    SplitTask,
    count_no_rules,
)
from privet.microdata.generalisation.splits.tallies import count_parts
from privet.values.arrays import Ints


@dataclass(frozen=True, eq=False)
class GlobalSplit:
    """A split of one column in all groups."""

    column: int
    """Which column."""
    start: int
    """Where the range begins, in positions."""
    cut: int
    """The last position on the left."""
    stop: int
    """Where the range ends; this position is not in it."""
    groups: Ints
    """The groups that fall into two."""
    trial: SplitTrial
    """What the release comes to."""
    name: str
    """The column's name."""

    def __str__(self) -> str:
        return f"cutting {self.name} everywhere"


class RecodingState:
    """The ranges of global recoding: one each at first; see `privet.release.refine`."""

    def __init__(
        self,
        cells: Cells,
        attributes: list[OrderedDomain],
        aim: SplitCriterion,
        judge: Constraints,
    ) -> None:
        self.cells = cells
        self.attributes = attributes
        self.aim = aim
        self.judge = judge
        self.people = cells[:, -1].astype(np.int64)
        self.group = np.zeros(len(cells), dtype=np.int64)
        self.groups = 1
        self.blocks = [np.zeros(len(a), dtype=np.int64) for a in attributes]
        self._alone = [self._count_margin(d) for d in range(len(attributes))]
        self._pending: list[tuple[float, int, int, int, int]] = []
        self._refused: list[tuple[float, int, int, int, int]] = []
        hist = self._count_histograms(
            np.zeros(len(cells), dtype=np.int64), slice(None), 1
        )
        judge.begin(hist[0], int(self.people.sum()), cells)
        for d, attribute in enumerate(attributes):
            self._queue_range(d, 0, len(attribute))

    def _count_margin(self, d: int) -> Cells:
        """How many people of each class have each value of one column."""
        target = self.cells[:, self.aim.target] if self.aim.target >= 0 else 0
        # One key per position and class: of 2 classes, class 1 at position 3 has key 7.
        key = self.cells[:, d].astype(np.int64) * self.aim.classes + target
        n = np.bincount(key, weights=self.people).astype(np.int64)
        there = np.flatnonzero(n)
        return np.column_stack(
            [there // self.aim.classes, there % self.aim.classes, n[there]]
        )

    def _queue_range(self, d: int, start: int, stop: int) -> None:
        """Take a range of a column in, by what its best split is worth."""
        margin = self._alone[d]
        low, high = np.searchsorted(margin[:, 0], [start, stop])
        if high - low < 2:
            return
        one = pack_domains([self.attributes[d]])
        seen = survey(margin, int(low), int(high), one, self._own_aim)
        if seen.cut[0] < 0:
            return
        people = float(margin[low:high, -1].sum())
        worth = seen.gain[0] if self.aim.target >= 0 else people * seen.width[0]
        entry = (-float(worth), d, start, int(seen.cut[0]), stop)
        heappush(self._pending, entry)

    def find_best_move(self) -> GlobalSplit | None:
        """The best split that leaves the whole release safe.

        Where the best splits of all ranges are refused, every other one is tried.
        """
        while self._pending:
            _, d, start, cut, stop = self._pending[0]
            move = self._try(d, start, cut, stop)
            if move is not None:
                return move
            heappush(self._refused, heappop(self._pending))
        while self._refused:
            _, d, start, cut, stop = self._refused[0]
            for other in self._list_cuts(d, start, stop):
                move = None if other == cut else self._try(d, start, other, stop)
                if move is not None:
                    return move
            heappop(self._refused)
        return None

    def _list_cuts(self, d: int, start: int, stop: int) -> list[int]:
        """Every cut of a range, the best first."""
        low, high = np.searchsorted(self._alone[d][:, 0], [start, stop])
        nothing = count_no_rules()
        task = SplitTask(pack_domains([self.attributes[d]]), self._own_aim, nothing)
        cuts, _ = sweep(self._alone[d], int(low), int(high), 0, task)
        return [int(c) for c in cuts.cut[cuts.rank()]]

    @property
    def _own_aim(self) -> SplitCriterion:
        """The criterion for margins: position, class and people, the target second."""
        return self.aim._replace(target=1 if self.aim.target >= 0 else -1)

    def count_left(self) -> dict[str, int]:
        """How many ranges of each column were not tried yet."""
        waiting = [*self._pending, *self._refused]
        return dict(Counter(self.attributes[p[1]].name for p in waiting))

    def _try(self, d: int, start: int, cut: int, stop: int) -> GlobalSplit | None:
        position = self.cells[:, d]
        inside = np.flatnonzero((position >= start) & (position < stop))
        right = (position[inside] > cut).astype(np.int64)
        # People of each group left and right of the cut, a line per group.
        sizes = np.bincount(
            2 * self.group[inside] + right,
            weights=self.people[inside],
            minlength=2 * self.groups,
        ).reshape(-1, 2)
        # Who is outside the range is in other groups: all of a group are in one range.
        split = np.flatnonzero((sizes > 0).all(axis=1))
        number = np.full(self.groups, -1)
        number[split] = np.arange(len(split))
        own = number[self.group[inside]]
        # The first group that falls apart has parts 0 and 1; a whole one has -1.
        part = np.where(own < 0, -1, 2 * own + right)
        kept = part >= 0
        hist = self._count_histograms(part[kept], inside[kept], 2 * len(split))
        totals = sizes[split].astype(np.int64).ravel()
        trial = self.judge.try_parts(
            hist,
            totals,
            lambda: (self.cells[inside[kept]], part[kept], 2 * len(split)),
        )
        if trial is None:
            return None
        name = self.attributes[d].name
        return GlobalSplit(d, start, cut, stop, split, trial, name)

    def _count_histograms(self, part: Ints, rows: Ints | slice, parts: int) -> Ints:
        """The protected values of each part."""
        own = self.cells[rows], self.people[rows]
        return count_parts(*own, part, parts, self.judge.rules)

    def apply(self, move: GlobalSplit) -> SplitStep:
        """Split a column in all groups."""
        position = self.cells[:, move.column]
        # The left part keeps the number of its group, the right one gets a new one.
        number = np.full(self.groups, -1)
        number[move.groups] = self.groups + np.arange(len(move.groups))
        right = (
            (position > move.cut) & (position < move.stop) & (number[self.group] >= 0)
        )
        group = np.where(right, number[self.group], self.group)
        block = self.blocks[move.column].copy()
        block[move.cut + 1 : move.stop] = block.max() + 1
        self.judge.accept(move.trial)
        heappop(self._pending or self._refused)
        self.group, self.blocks[move.column] = group, block
        self.groups += len(move.groups)
        self._queue_range(move.column, move.start, move.cut + 1)
        self._queue_range(move.column, move.cut + 1, move.stop)
        return SplitStep(move.name, int(self.people.sum()), self.groups)

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        return self.judge.find_worst_belief()

    def collect_leaves(self) -> Ints:
        """Bring the cells of a group together: start, stop and people of each."""
        order = np.argsort(self.group, kind="stable")
        self.cells[:] = self.cells[order]
        sizes = np.bincount(self.group, minlength=self.groups)
        people = np.bincount(self.group, weights=self.people, minlength=self.groups)
        stop = np.cumsum(sizes)
        return np.column_stack([stop - sizes, stop, people.astype(np.int64)])
