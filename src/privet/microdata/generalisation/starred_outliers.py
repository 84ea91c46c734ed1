"""Local recoding with a budget: outliers that keep a group wide are starred.

When Mondrian ends, no group has a cut left of which both sides are allowed. A cut of
which one side keeps every rule may *shed* the other: whoever is there joins the starred
people, who are one more group and judged like all others, and the side that stays is
cut on. A shed is worth what labels of those who stay gain, less what stars cost those
who go; those worth most per person go first, as many as the starred group passes with.
Where it passes with none of these, a few more go who are not worth it by themselves, as
long as all together are: a budget never makes a release worse.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian; `full_domain/suppression_pool.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from privet.microdata.full_domain.suppression_pool import Suppression
from privet.microdata.generalisation.constraints import SplitTrial
from privet.microdata.generalisation.domain_order import OrderedDomain
from privet.microdata.generalisation.mondrian import MondrianState, SplitStep
from privet.microdata.generalisation.partition import Partition
from privet.microdata.generalisation.splits.prefix_cuts import find_cuts, list_places
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    LINE,
    PEOPLE,
    START,
    STOP,
    Cells,
    make_criterion,
)
from privet.microdata.generalisation.splits.tallies import count_parts
from privet.microdata.level_choice import NEAR
from privet.microdata.suppression.kernels import concatenate_ranges
from privet.release.refine import Refinement, Watcher, find_end, refine
from privet.values.arrays import Flags, Floats, Ints

AT_ONCE = 2**20
"""Rows of groups that are looked at together, or counts of their values."""

MOST_COUNTS = 2**24
"""Counts of values of all groups that are shed together."""

ALL_CUTS = 64
"""Cuts of a column that are all tried, and half as many of each doubling of these."""

TRIES = 16
"""Choices of sheds that are judged on the whole release one after the other."""

HELPERS = 256
"""Groups, the widest ones, of which people may go for the sake of others."""


class Sheds(NamedTuple):
    """Cuts of groups, each with the side that would be starred."""

    table: Ints
    """A line per shed: the group's line in the tree; the column, and the last position
    on the left; how many people go left; whether the right side is starred, and how
    many people that are."""
    worth: Floats
    """What all people together gain, in columns' widths."""

    @classmethod
    def of(cls, *fields: Ints) -> Sheds:
        """Nobody knows yet what they are worth."""
        table = np.column_stack(fields).astype(np.int64)
        return cls(table, np.zeros(len(table)))

    @classmethod
    def join(cls, parts: Sequence[Sheds]) -> Sheds:
        """All of them; of no part none."""
        none = cls(np.zeros((0, 6), dtype=np.int64), np.zeros(0))
        tables, worth = zip(none, *parts, strict=True)
        return cls(np.concatenate(tables), np.concatenate(worth))

    def select(self, which: Flags | Ints) -> Sheds:
        """Some of them."""
        return Sheds(self.table[which], self.worth[which])

    @property
    def line(self) -> Ints:
        """The group of each."""
        return self.table[:, 0]

    @property
    def people(self) -> Ints:
        """How many people would be starred."""
        return self.table[:, 5]

    def rank(self) -> Sheds:
        """The best of each group, those worth most per person first."""
        _, column, cut, *_ = self.table.T
        order = np.lexsort((cut, column, self.people, -self.worth, self.line))
        first = order[np.diff(self.line[order], prepend=-1) > 0]
        each = self.worth[first] / self.people[first]
        return self.select(first[np.lexsort((self.line[first], -each))])


class StarredGroups(NamedTuple):
    """What a release comes to with people starred."""

    leaves: Ints
    """Start, stop and people of each group; starred people are the last one."""
    people: int
    """How many people are starred."""
    lines: tuple[int, ...]
    """Where they came from: lines of the tree."""


def star_outliers(
    state: MondrianState,
    attributes: Sequence[OrderedDomain],
    stars: Suppression,
    refined: Refinement[SplitStep],
    watcher: Watcher | None,
    *,
    blank: bool = False,
) -> tuple[StarredGroups, Refinement[SplitStep]]:
    """Star people where that pays, and cut on; the groups, and all that was done.

    Where stars are empty cells (`blank`), a missing value tells nothing beside them.
    """
    before = state.collect_leaves()
    if refined.ended != "finished" or not stars.budget:
        return StarredGroups(before, 0, ()), refined
    search = OutlierSearch(state, attributes, stars, blank=blank)
    after = search.run(watcher)
    # A part of a group may need a wider label than the whole: sets of many values.
    if not search.starred or search.find_cost() >= search.cost_before - NEAR:
        ended = Refinement(refined.steps, after.ended, after.left)
        return StarredGroups(before, 0, ()), ended
    steps = (*refined.steps, *after.steps)
    return search.collect_groups(), Refinement(steps, after.ended, after.left)


class OutlierSearch:
    """Sheds, round after round, until none pays or the budget is spent."""

    def __init__(
        self,
        state: MondrianState,
        attributes: Sequence[OrderedDomain],
        stars: Suppression,
        *,
        blank: bool,
    ) -> None:
        self._state, self._attributes, self._stars = state, tuple(attributes), stars
        self._blank = blank
        self.starred: list[int] = []
        self._left = stars.budget
        self._end = find_end(None)
        self._sheds, self._looked = Sheds.join([]), 0
        self.cost_before = self.find_cost()

    @property
    def _cells(self) -> Cells:
        cells: Cells = self._state.cells
        return cells

    def run(self, watcher: Watcher | None) -> Refinement[SplitStep]:
        """Shed people and cut on; what was done."""
        steps = list[SplitStep]()
        while True:
            self._look_at_groups()
            if self._is_late():  # what was looked at is not all there is
                return Refinement(tuple(steps), "time")
            made = self._shed_best()
            if not made:
                return Refinement(tuple(steps), "finished")
            steps += made
            after = refine(self._state, watcher=watcher)
            steps += after.steps
            if after.ended != "finished":
                return Refinement(tuple(steps), after.ended, after.left)

    def _is_late(self) -> bool:
        return self._end is not None and monotonic() > self._end

    # What a shed is worth -------------------------------------------------------------

    def _look_at_groups(self) -> None:
        """Take in the sheds of groups that were made since the last time."""
        tree, lines = self._state.tree, self._list_leaves()
        whole = tree[self._sheds.line, COLUMN] < 0
        new = lines[lines >= self._looked]
        self._looked = len(tree)
        found = [self._list_sheds(some) for some in self._split_blocks(new)]
        self._sheds = Sheds.join([self._sheds.select(whole), *found])

    def _list_leaves(self) -> Ints:
        """The lines of all groups but the starred people's."""
        lines = self._state.list_leaves()
        return lines[~np.isin(lines, self.starred)]

    def _split_blocks(self, lines: Ints) -> Iterator[Ints]:
        """Some lines at a time: about as many rows as may be looked at together."""
        yield from _split_evenly(lines, self._measure_work(lines))

    def _measure_work(self, lines: Ints) -> Ints:
        """How much there is to look at in each group: rows, or counts of values."""
        start, stop = self._state.tree[lines][:, [START, STOP]].T
        work: Ints = np.maximum(stop - start, self._values)
        return work

    @property
    def _values(self) -> int:
        return max(int(self._state.judge.rules.offset[-1]), 1)

    def _list_sheds(self, lines: Ints, least: float = 0.0) -> Sheds:
        """All sheds of some groups worth more than that; who stays keeps every rule."""
        loss = self._measure_lines(lines)
        # Who goes costs the price, and nobody who stays gains more than the loss.
        people = self._state.tree[lines, PEOPLE]
        open_ = people * loss > self._price + least
        open_ &= people > self._state.judge.least
        lines, loss = lines[open_], loss[open_]
        if not len(lines):
            return Sheds.join([])
        columns = range(len(self._attributes))
        sheds = Sheds.join([self._list_sides(lines, loss, d, least) for d in columns])
        blocks = self._split_sheds(sheds)
        some = takewhile(lambda _: not self._is_late(), blocks)
        return Sheds.join([self._weigh(block, least) for block in some])

    def _split_sheds(self, sheds: Sheds) -> Iterator[Sheds]:
        """The same, of sheds: each has the rows of its group."""
        every, work = np.arange(len(sheds.line)), self._measure_work(sheds.line)
        for some in _split_evenly(every, work):
            yield sheds.select(some)

    @property
    def _price(self) -> float:
        """What a starred person costs, in columns' widths."""
        return self._stars.price * len(self._attributes)

    def _measure_lines(self, lines: Ints) -> Floats:
        """How blurred some groups are, the sum of their labels' widths."""
        tree = self._state.tree
        order = np.argsort(tree[lines, START])
        leaves = tree[lines[order]][:, [START, STOP, PEOPLE]]
        loss = np.empty(len(lines))
        loss[order] = self._measure(self._cells, leaves)
        return loss

    def _measure(self, cells: Cells, leaves: Ints) -> Floats:
        none = np.empty((0, LINE), dtype=np.int64)
        return Partition(self._attributes, (), cells, leaves, none).loss

    def _list_sides(self, lines: Ints, loss: Floats, d: int, least: float) -> Sheds:
        """Both sides of every cut of a column, as far as stars may pay."""
        tree, shape = self._state.tree, self._state.shape
        start, stop = tree[lines, START], tree[lines, STOP]
        rows = self._cells[concatenate_ranges(start, stop)]
        group = np.repeat(np.arange(len(lines)), stop - start)
        size, even = int(shape.size[d]), make_criterion(-1, 1)
        keys = group * size + rows[:, d]
        n = rows[:, -1].astype(np.float64)
        places = list_places(keys, size, n, len(lines), 1)
        cuts, _ = find_cuts(places, d, shape, even)
        whole, parts = tree[lines, PEOPLE][cuts.group], list[Sheds]()
        for right_goes in (False, True):
            goes = whole - cuts.left if right_goes else cuts.left
            fine = (goes <= self._left) & (whole - goes >= self._state.judge.least)
            fine &= goes * self._price + least < whole * loss[cuts.group]
            fine &= _thin_out_cuts(cuts.group, right_goes)
            own, one = cuts.select(fine), np.ones(int(fine.sum()), dtype=np.int64)
            given = d * one, own.cut, own.left, right_goes * one
            parts.append(Sheds.of(lines[own.group], *given, goes[fine]))
        return Sheds.join(parts)

    def _weigh(self, sheds: Sheds, least: float) -> Sheds:
        """Those that pay, and whose other side keeps every rule."""
        rows, part = self._gather_sides(sheds, stay=True)
        failing = self._find_failing(rows, part, len(sheds.line))
        sheds, kept = sheds.select(~failing), ~failing[part]
        rows, part = rows[kept], part[kept]
        if not len(rows):
            return Sheds.join([])
        lines, of = np.unique(sheds.line, return_inverse=True)
        loss = self._measure_lines(lines)[of]
        start = np.flatnonzero(np.diff(part, prepend=-1))
        stay = self._state.tree[sheds.line, PEOPLE] - sheds.people
        leaves = np.column_stack([start, np.append(start[1:], len(rows)), stay])
        gain = stay * (loss - self._measure(rows, leaves))
        worth = gain - sheds.people * (self._price - loss)
        pays = worth > least + NEAR * len(self._attributes)
        return Sheds(sheds.table, worth).select(pays)

    def _gather_sides(self, sheds: Sheds, *, stay: bool) -> tuple[Cells, Ints]:
        """The rows of those who stay, or who go; and the shed of each."""
        tree = self._state.tree
        start, stop = tree[sheds.line, START], tree[sheds.line, STOP]
        rows = self._cells[concatenate_ranges(start, stop)]
        part = np.repeat(np.arange(len(start)), stop - start)
        _, column, cut, _, right_goes, _ = sheds.table[part].T
        goes = (rows[np.arange(len(rows)), column] > cut) == right_goes
        chosen = ~goes if stay else goes
        return rows[chosen], part[chosen]

    def _find_failing(self, rows: Cells, part: Ints, parts: int) -> Flags:
        """Which parts break a rule by themselves."""
        judge = self._state.judge
        hist, totals = self._count(rows, part, parts)
        failing = judge.find_failing(hist, totals)
        for each in judge.windows:
            failing |= each.find_beyond(rows, part, parts)
        return failing

    def _count(self, rows: Cells, part: Ints, parts: int) -> tuple[Ints, Ints]:
        n = rows[:, -1].astype(np.int64)
        hist = count_parts(rows, n, part, parts, self._state.judge.rules)
        totals = np.bincount(part, weights=n, minlength=parts).astype(np.int64)
        return hist, totals

    # Who goes -------------------------------------------------------------------------

    def _shed_best(self) -> list[SplitStep]:
        """Shed as many people as may be; nothing where none may."""
        sheds = self._sheds.select(self._sheds.people <= self._left).rank()
        for chosen in self._list_choices(sheds):
            trial = self._try(chosen)
            if trial is not None:
                return self._apply(chosen, trial)
        return []

    def _list_choices(self, sheds: Sheds) -> Iterator[Sheds]:
        """Sheds to try together, with which the starred group passes by itself.

        The first ones, as many as may be; else one alone; else more beside them all.
        """
        several = int((np.cumsum(sheds.people) <= self._left).sum())
        several = min(several, max(MOST_COUNTS // self._values, 1))
        if not several:
            return
        first, alone = sheds.select(np.arange(several)), np.arange(len(sheds.line))
        passing = np.flatnonzero(self._find_passing(first, together=True))
        for n in _thin_out((passing[::-1] + 1).tolist()):
            yield sheds.select(np.arange(n))
        passing = np.flatnonzero(self._find_passing(sheds, together=False))
        for i in passing[:TRIES].tolist():
            yield sheds.select(alone[i : i + 1])
        if several == len(alone):
            both = Sheds.join([sheds, self._list_helpers(sheds)])
            passing = np.flatnonzero(self._find_passing(both, together=True))
            for n in (passing[passing >= several][:TRIES] + 1).tolist():
                yield both.select(np.arange(n))

    def _list_helpers(self, sheds: Sheds) -> Sheds:
        """Sheds of other groups that cost something, but less than all these gain."""
        gained = float(sheds.worth.sum())
        lines = np.setdiff1d(self._list_leaves(), sheds.line)
        widest = np.argsort(-self._measure_lines(lines), kind="stable")[:HELPERS]
        found = self._list_sheds(np.sort(lines[widest]), -gained)
        room = self._left - int(sheds.people.sum())
        helpers = found.select(found.people <= room).rank()
        fits = np.cumsum(helpers.people) <= room
        return helpers.select(fits & (np.cumsum(helpers.worth) > NEAR - gained))

    def _find_passing(self, sheds: Sheds, *, together: bool) -> Flags:
        """With which sheds the starred people pass: with each, or with all up to it."""
        judge, passing = self._state.judge, np.ones(len(sheds.line), dtype=bool)
        if len(judge.rules.window):  # the fullest windows of two sides do not add up
            return passing
        (pool, people), first = self._count_starred(), 0
        for some in self._split_sheds(sheds):
            several = len(some.line)
            hist, totals = self._count(*self._gather_sides(some, stay=False), several)
            if together:
                hist, totals = np.cumsum(hist, axis=0), np.cumsum(totals)
            failing = judge.find_failing(pool + hist, people + totals)
            passing[first : first + several], first = ~failing, first + several
            if together:
                pool, people = pool + hist[-1], people + totals[-1]
        return passing

    def _gather_starred(self) -> Cells:
        """The rows of those who are starred already."""
        lines = self._state.tree[self.starred]
        return self._cells[concatenate_ranges(lines[:, START], lines[:, STOP])]

    def _count_starred(self) -> tuple[Ints, Ints]:
        rows = self._gather_starred()
        return self._count(rows, np.zeros(len(rows), dtype=np.int64), 1)

    def _try(self, sheds: Sheds) -> SplitTrial | None:
        """What the release comes to; None: unsafe."""
        stay, part = self._gather_sides(sheds, stay=True)
        go, _ = self._gather_sides(sheds, stay=False)
        several = len(sheds.line)
        rows: Cells = np.concatenate([stay, go, self._gather_starred()])
        starred = np.full(len(rows) - len(stay), several)
        parts = np.concatenate([part, starred])
        hist, totals = self._count(rows, parts, several + 1)
        parted = partial(_as_parts, rows, parts, several + 1)
        more = int(not self.starred)
        return self._state.judge.try_groups(hist, totals, parted, more)

    def _apply(self, sheds: Sheds, trial: SplitTrial) -> list[SplitStep]:
        state, steps = self._state, list[SplitStep]()
        state.judge.accept(trial)
        for line, column, cut, left, right_goes, _ in sheds.table.tolist():
            first = state.part_group(line, column, cut, left)
            self.starred.append(first + right_goes)
            state.queue_group(first + 1 - right_goes)
            people = int(state.tree[line, PEOPLE])
            steps.append(SplitStep(state.names[column], people, 2))
        self._left -= int(sheds.people.sum())
        return steps

    # What comes of it -----------------------------------------------------------------

    def find_cost(self) -> float:
        """What all people together lose, in columns' widths."""
        tree, none = self._state.tree, np.empty((0, LINE), dtype=np.int64)
        kept = tree[self._list_leaves()][:, [START, STOP, PEOPLE]]
        gone = int(tree[self.starred, PEOPLE].sum())
        # One group more stands for the starred people: what others show depends on it.
        leaves = np.vstack([kept, kept[-1:]]) if gone else kept
        given = self._attributes, (), self._cells, leaves, none
        loss = Partition(*given, starred=gone, blank=self._blank).loss[: len(kept)]
        return float((kept[:, 2] * loss).sum()) + gone * self._price

    def collect_groups(self) -> StarredGroups:
        """Bring the rows of starred people to the end, behind all groups."""
        cells, tree = self._cells, self._state.tree
        starred: Any = self._gather_starred()
        kept = tree[self._list_leaves()][:, [START, STOP, PEOPLE]]
        to, first = 0, 0
        while first < len(kept):
            # Groups side by side move together, some at a time.
            beside = np.flatnonzero(kept[first + 1 :, 0] != kept[first:-1, 1])
            run = int(beside[0]) + 1 if len(beside) else len(kept) - first
            start, stop = int(kept[first, 0]), int(kept[first + run - 1, 1])
            for low in range(start, stop, AT_ONCE) if to < start else ():
                high = min(low + AT_ONCE, stop)
                cells[to + low - start : to + high - start] = cells[low:high].copy()
            kept[first : first + run, :2] += to - start
            to, first = to + stop - start, first + run
        cells[to:] = starred
        people = int(starred[:, -1].sum(dtype=np.int64))
        last = [[to, len(cells), people]]
        return StarredGroups(np.vstack([kept, last]), people, tuple(self.starred))


def _split_evenly(items: Ints, sizes: Ints) -> Iterator[Ints]:
    """Runs of items that are together about as large as may be."""
    block = (np.cumsum(sizes) - sizes) // AT_ONCE
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1))
    for first, last in pairwise(edges.tolist()):
        yield items[first:last]


def _thin_out_cuts(group: Ints, from_right: bool) -> Flags:
    """Which cuts of each group are tried, counted from the side that goes.

    All of the first ones; of 64 to 127 every second, of 128 to 255 every fourth: in a
    group of many values each cut is about as good as the next, and costs all its rows.
    """
    first = np.flatnonzero(np.diff(group, prepend=-1))
    spans = np.diff(first, append=len(group))
    place = np.arange(len(group)) - np.repeat(first, spans)
    if from_right:
        place = np.repeat(spans, spans) - 1 - place
    doubled = np.log2(np.maximum(place, ALL_CUTS / 2) / (ALL_CUTS / 2)).astype(np.int64)
    return np.asarray(place % 2**doubled == 0)


def _thin_out(numbers: Sequence[int]) -> list[int]:
    """The first ones, and of the rest the one in the middle, again and again.

    >>> _thin_out(range(40, 0, -1))[-6:]
    [26, 25, 12, 6, 3, 1]
    """
    tried, rest = list(numbers[:TRIES]), list(numbers[TRIES:])
    while rest:
        rest = rest[len(rest) // 2 :]
        tried.append(rest.pop(0))
    return tried


def _as_parts(rows: Cells, parts: Ints, several: int) -> tuple[Cells, Ints, int]:
    return rows, parts, several
