"""Global recoding with a budget: the same cuts for everybody, a few people starred.

A cut everywhere is allowed if the groups that fail fit the budget and the starred
people, who are one more group, pass; of all cuts the one that lowers the cost most is
made. Failing people may become fewer again, so that a cut which was refused is tried
again after every one that is made. Cost is the mean NCP of all people, for starred ones
their price; groups are rolled up from counts, as full-domain search does it.
Fung, Wang, Yu 2005 (top-down specialization); `full_domain/suppression_pool.py`.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np

from privet.microdata.full_domain.group_judge import ConstraintJudge
from privet.microdata.full_domain.node_counts import CountCube, measure_widths
from privet.microdata.full_domain.suppression_pool import (
    Pool,
    PoolSearch,
    Suppression,
    star,
)
from privet.microdata.generalisation.constraints import Constraints
from privet.microdata.generalisation.domain_order import OrderedDomain, pack_domains
from privet.microdata.generalisation.global_recoding import RecodingState
from privet.microdata.generalisation.mondrian import SplitStep
from privet.microdata.generalisation.partition import measure_range
from privet.microdata.generalisation.splits.prefix_cuts import (
    OccurringPlaces,
    find_cuts,
    sum_weights,
)
from privet.microdata.generalisation.splits.split_task import Cells, make_criterion
from privet.microdata.generalisation.splits.tallies import count_parts, keep_surest
from privet.microdata.level_choice import NEAR
from privet.microdata.skyline.incremental import RunningMinima
from privet.release.refine import Refinement, Watcher, find_end, refine
from privet.values.arrays import Floats, Ints
from privet.values.contingency import find_distinct

MOST_COUNTS = 2**27
"""Distinct known rows times protected values that are rolled up."""


@dataclass(frozen=True, eq=False)
class StarredCut:
    """A cut of one column for everybody, and who is starred then."""

    column: int
    start: int
    """Where the range begins, in positions."""
    cut: int
    """The last position on the left."""
    stop: int
    """The first position behind the range."""
    pool: Pool
    """Who is starred, and what the release costs."""
    cube: CountCube
    """The groups."""
    name: str

    def __str__(self) -> str:
        return f"cutting {self.name} everywhere"


def refine_with_stars(
    state: StarredState,
    plain: RecodingState,
    watcher: Watcher | None,
    *,
    blank: bool = False,
) -> tuple[StarredState, Refinement[SplitStep]]:
    """The better of two ways: cuts with stars from the top, or after those without.

    These come first, however little time there is: a budget never makes a release
    worse. Where stars are empty cells (`blank`), a missing value no longer tells that
    it is one, and nobody starred may be better.
    """
    before = refine(plain, watcher=watcher)
    other = state.start_from(plain.blocks)
    after = Refinement[SplitStep]((), before.ended, before.left)
    if before.ended == "finished":
        after = _refine_in_time(other, watcher)
    steps = *before.steps, *after.steps
    found = other, Refinement(steps, after.ended, after.left)
    if after.ended == "finished" or not other.pool.feasible:
        first = _refine_in_time(state, watcher)
        most = other.find_cost(blank) if other.pool.feasible else float("inf")
        if state.find_cost(blank) <= most + NEAR:
            found = state, first
        else:
            found = other, Refinement(steps, first.ended, first.left)
    if blank:
        nobody = state.start_from(plain.blocks, Suppression(0))
        if nobody.pool.cost < found[0].find_cost(blank) - NEAR:
            return nobody, Refinement(before.steps, found[1].ended, found[1].left)
    return found


def _refine_in_time(
    state: StarredState, watcher: Watcher | None
) -> Refinement[SplitStep]:
    """As `refine`; a single move may try so many cuts that the time ends in it."""
    found = refine(state, watcher=watcher)
    if state.late and found.ended == "finished":
        return Refinement(found.steps, "time", state.count_left())
    return found


def can_star(rows: Cells, known: int, judge: Constraints) -> bool:
    """Whether groups can be judged from sums of histograms, and these are few."""
    windows = judge.windows or len(judge.rules.window)
    single = all(isinstance(m, RunningMinima) for m in judge.minima.values())
    values = max(int(judge.rules.offset[-1]), 1)
    return bool(not windows and single and len(rows) * values <= MOST_COUNTS and known)


class StarredState:
    """Ranges for everybody, and who is starred; see `privet.release.refine`."""

    late = False
    """Whether the time was over before every cut was tried."""

    def __init__(
        self,
        cells: Cells,
        attributes: list[OrderedDomain],
        judge: Constraints,
        stars: Suppression,
    ) -> None:
        self.cells, self.attributes, self.judge = cells, attributes, judge
        people = cells[:, -1].astype(np.int64)
        everybody = np.zeros(len(cells), dtype=np.int64)
        hist = count_parts(cells, people, everybody, 1, judge.rules)
        judge.begin(hist[0], int(people.sum()), cells)
        self._base, self._of_cell = self._count(people)
        self._pools = PoolSearch(ConstraintJudge(judge), stars)
        self._margins = [
            self._base.count_margin(d, len(a)) for d, a in enumerate(attributes)
        ]
        self._start([np.zeros(len(a), dtype=np.int64) for a in attributes])

    def _start(self, blocks: list[Ints]) -> None:
        """Begin with these ranges."""
        self.blocks = blocks
        self._rolled: dict[int, CountCube] = {}
        self._round = 0
        self._pending: list[tuple[float, int, int, int, int, int]] = []
        self._refused: list[tuple[int, int, int, int]] = []
        self._tried = -1
        self._widths = [np.empty(len(a)) for a in self.attributes]
        for d, block in enumerate(blocks):
            edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1))
            for start, stop in pairwise(edges.tolist()):
                self._widths[d][start:stop] = self._measure(d, start, stop)
                self._queue_range(d, start, stop)
        self.cube = self._base.roll_up(blocks)
        self.pool = self._choose(self.cube, self._widths)

    def start_from(
        self, blocks: list[Ints], stars: Suppression | None = None
    ) -> StarredState:
        """The same table from other ranges on, which nobody has to be starred for."""
        other = copy(self)
        if stars is not None:
            other._pools = PoolSearch(ConstraintJudge(self.judge), stars)
        other._start([block.copy() for block in blocks])
        return other

    def _count(self, people: Ints) -> tuple[CountCube, Ints]:
        """Distinct known rows with their histograms, and which each cell belongs to."""
        known = len(self.attributes)
        codes = [self.cells[:, d] for d in range(known)]
        sizes = [len(a) for a in self.attributes]
        first, group = find_distinct(codes, sizes, len(self.cells))
        group = group.astype(np.int64)
        hist = count_parts(self.cells, people, group, len(first), self.judge.rules)
        totals = sum_weights(group, people, len(first))
        at = self.cells[first, :known].astype(np.int64)
        return CountCube(at, hist, totals), group

    def find_cost(self, blank: bool) -> float:
        """What the release costs, with what missing values lose beside empty cells."""
        assert self.pool.out is not None
        if not blank or not self.pool.out.any():
            return self.pool.cost
        shown, lost = ~self.pool.out[self._base.number_groups(self.blocks)], 0
        for d, (attribute, block) in enumerate(
            zip(self.attributes, self.blocks, strict=True)
        ):
            missing = np.array([text is None for text in attribute.texts])
            if missing.any() and (block == block[missing]).sum() == 1:
                own = missing[self._base.positions[:, d]]
                lost += int(self._base.totals[shown & own].sum())
        return self.pool.cost + lost / (len(self.attributes) * self._base.people)

    def _measure(self, d: int, start: int, stop: int) -> Floats:
        """How wide the range is that each position is in: all in one here."""
        width = measure_range(self.attributes[d], np.arange(start, stop))
        return np.full(stop - start, width)

    def _choose(self, cube: CountCube, widths: list[Floats]) -> Pool:
        """Who is starred: the groups that fail, and whom they need beside them."""
        shares = np.full(len(widths), 1 / len(widths))
        return self._pools.choose(cube, measure_widths(cube, widths, shares))

    def _queue_range(self, d: int, start: int, stop: int) -> None:
        """Take every cut of a range in, by what it could save."""
        margin = self._margins[d][start:stop]
        place = start + np.flatnonzero(margin)
        if len(place) < 2:
            return
        one = np.zeros(len(place), dtype=np.int64)
        places = OccurringPlaces(one, place, self._margins[d][place][:, None])
        shape = pack_domains([self.attributes[d]])
        cuts, _ = find_cuts(places, 0, shape, make_criterion(-1, 1))
        whole = self._measure(d, start, stop)[0]
        for cut in cuts.cut.tolist():
            left = self._margins[d][start : cut + 1].sum()
            right = self._margins[d][cut + 1 : stop].sum()
            saved = left * (whole - self._measure(d, start, cut + 1)[0])
            saved += right * (whole - self._measure(d, cut + 1, stop)[0])
            saved /= len(self.attributes) * self._base.people
            heappush(self._pending, (-float(saved), -1, d, start, cut, stop))

    def find_best_move(self) -> StarredCut | None:
        """The cut that lowers the cost most, as far as counts before tell."""
        move: StarredCut | None = None
        end = find_end(None)
        while True:
            self.late = end is not None and monotonic() > end
            if self.late:
                return move
            if not self._pending and not self._requeue():
                return None
            _, when, d, start, cut, stop = self._pending[0]
            if when == self._round:  # all others saved less when they were judged last
                return move
            heappop(self._pending)
            found = self._judge(d, start, cut, stop)
            if found is None:
                self._refused.append((d, start, cut, stop))
                continue
            saved = self.pool.cost - found.pool.cost
            heappush(self._pending, (-saved, self._round, d, start, cut, stop))
            if move is None or found.pool.cost < move.pool.cost:
                move = found

    def _requeue(self) -> bool:
        """Try what was refused again, once after every cut that was made."""
        if self._tried == self._round or not self._refused:
            return False
        self._tried = self._round
        for span in self._refused:
            heappush(self._pending, (0.0, -1, *span))
        self._refused = []
        return True

    def _judge(self, d: int, start: int, cut: int, stop: int) -> StarredCut | None:
        """What a cut comes to; None where it is refused, or lowers nothing."""
        blocks, widths = self._cut(d, start, cut, stop)
        cube = self._roll_up(d).roll_up(blocks)
        pool = self._choose(cube, widths)
        if not pool.feasible or pool.cost >= self.pool.cost - NEAR:
            return None
        name = self.attributes[d].name
        return StarredCut(d, start, cut, stop, pool, cube, name)

    def _roll_up(self, d: int) -> CountCube:
        """The groups with every position of one column by itself."""
        if d not in self._rolled:
            labels = list(self.blocks)
            labels[d] = np.arange(len(self.attributes[d]))
            self._rolled[d] = self._base.roll_up(labels)
        return self._rolled[d]

    def _cut(
        self, d: int, start: int, cut: int, stop: int
    ) -> tuple[list[Ints], list[Floats]]:
        """Ranges and widths with one more cut."""
        blocks, widths = list(self.blocks), list(self._widths)
        blocks[d], widths[d] = blocks[d].copy(), widths[d].copy()
        blocks[d][cut + 1 : stop] = blocks[d].max() + 1
        widths[d][start : cut + 1] = self._measure(d, start, cut + 1)
        widths[d][cut + 1 : stop] = self._measure(d, cut + 1, stop)
        return blocks, widths

    def apply(self, move: StarredCut) -> SplitStep:
        """Cut a column for everybody."""
        span = move.column, move.start, move.stop
        self.blocks, self._widths = self._cut(
            move.column, move.start, move.cut, move.stop
        )
        self.cube, self.pool = move.cube, move.pool
        self._round += 1
        kept = self._rolled.get(move.column)
        self._rolled = {} if kept is None else {move.column: kept}
        self._pending = [p for p in self._pending if (p[2], p[3], p[5]) != span]
        self._pending.sort()
        self._refused = [r for r in self._refused if (r[0], r[1], r[3]) != span]
        self._queue_range(move.column, move.start, move.cut + 1)
        self._queue_range(move.column, move.cut + 1, move.stop)
        return SplitStep(move.name, self._base.people, len(self._star_groups()[1]))

    def count_left(self) -> dict[str, int]:
        """How many cuts of each column were not tried yet."""
        return dict(Counter(self.attributes[p[2]].name for p in self._pending))

    def _star_groups(self) -> tuple[Ints, Ints]:
        """Histograms and people of the groups, the starred ones as the last."""
        assert self.pool.out is not None
        return star(self.cube, self.pool.out)

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        hist, totals = self._star_groups()
        rules = self.judge.rules
        worst = np.tile(np.array([0, 1]), (len(rules.of), 1))
        keep_surest(worst, hist, totals, rules)
        found = [Fraction(int(a), int(b)) for a, b in worst]
        for j, minima in self.judge.minima.items():
            assert isinstance(minima, RunningMinima)
            own = self.judge.slice_histograms(j, hist)
            found += minima.without_groups().with_groups(own).beliefs()
        return max(found, default=Fraction(0))

    def collect_leaves(self) -> tuple[Ints, int]:
        """Bring the cells of a group together; how many people are starred, last."""
        assert self.pool.out is not None
        group = self._base.number_groups(self.blocks)
        out = self.pool.out[group][self._of_cell]
        number = np.where(out, len(self.pool.out), group[self._of_cell])
        order = np.argsort(number, kind="stable")
        rows: Any = self.cells
        rows[:] = rows[order]
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        people = np.add.reduceat(rows[:, -1].astype(np.int64), starts)
        leaves = np.column_stack([starts, np.append(starts[1:], len(rows)), people])
        return leaves, int(people[-1]) if out.any() else 0
