"""Mondrian in numpy, level by level: all groups of a level are split at once.

Where every constraint looks at one group alone the order of splits is no matter, so
that a level of the tree is one count per column, whatever the number of its groups. The
tree is the one that splitting group after group arrives at, line by line.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from privet.microdata.generalisation.domain_order import TREE
from privet.microdata.generalisation.splits.column_widths import ColumnWidths
from privet.microdata.generalisation.splits.prefix_cuts import (
    AT_ONCE,
    ColumnCuts,
    CutRows,
    EvenCuts,
    FindFailing,
    find_allowed,
    find_cuts,
    find_even_cuts,
    list_places,
)
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    CUT,
    LEFT,
    LINE,
    PEOPLE,
    START,
    STOP,
    Cells,
    SplitTask,
)
from privet.microdata.generalisation.splits.tallies import (
    count_codes,
    find_beyond,
    keep_surest,
)
from privet.values.arrays import Flags, Floats, Ints


def finish_levels(
    cells: Cells,
    start: int,
    stop: int,
    task: SplitTask,
    worst: Ints,
    fails: FindFailing | None = None,
) -> Ints:
    """Split a group until no split is allowed; a line per node of the tree.

    `worst` (a line per rule: holders, whole) rises to the surest belief met. `fails`
    judges groups by more than the task's rules.
    """
    levels = Levels(cells[start:stop], task, fails)
    lines = levels.split()
    # Beliefs in a group are never above those in its parts: the last parts will do.
    levels.note_worst(lines[lines[:, COLUMN] < 0], worst)
    # Last, lest Ctrl-C tears rows.
    cells[start:stop] = np.take(cells[start:stop], levels.order, axis=0)
    lines[:, [START, STOP]] += start
    return lines


class _Groups(NamedTuple):
    """Some groups of a level, and their rows."""

    span: Ints
    """Start, stop and people of each."""
    row: Ints
    """Their rows, group by group."""

    @property
    def sizes(self) -> Ints:
        """How many rows each has."""
        return np.asarray(self.span[:, 1] - self.span[:, 0])

    @property
    def begin(self) -> Ints:
        """Where each begins among the rows."""
        sizes = self.sizes
        return np.asarray(np.cumsum(sizes) - sizes)

    @property
    def group(self) -> Ints:
        """The group of each row."""
        return np.repeat(np.arange(len(self.span)), self.sizes)

    def spread(self, values: Ints) -> Ints:
        """What each group has, at each of its rows."""
        return np.repeat(values, self.sizes)

    def select(self, wanted: Flags) -> _Groups:
        """Some of the groups."""
        if wanted.all():
            return self
        return _Groups(self.span[wanted], self.row[np.repeat(wanted, self.sizes)])


class _Best(NamedTuple):
    """The best split of each column (a line) in each group (a column)."""

    cut: Ints
    left: Ints
    width: Floats
    gain: Floats

    @classmethod
    def of(cls, columns: int, groups: int) -> _Best:
        """Nothing to split yet."""
        none = np.full((columns, groups), -1, dtype=np.int64)
        return cls(none, np.zeros_like(none), *np.zeros((2, columns, groups)))

    def rank_columns(self) -> Ints:
        """The columns of each group, the best first; a line per rank."""
        return np.lexsort((-self.width, -self.gain, self.cut < 0), axis=0)


class Levels:
    """The groups of a table, and the splits that were made."""

    def __init__(self, rows: Cells, task: SplitTask, fails: FindFailing | None) -> None:
        self._columns = np.ascontiguousarray(rows.T)
        self._n = self._columns[-1].astype(np.float64)
        self._task = task
        self._fails = fails or partial(find_beyond, rules=task.rules)
        self.order = np.arange(len(rows))
        self._widths: ColumnWidths | None = None
        if task.aim.target < 0 and self._n.all():  # values that nobody has do not occur
            self._widths = ColumnWidths(self._columns, task.shape)

    def split(self) -> Ints:
        """Split until no split is allowed; the lines of the tree."""
        everybody = [[0, len(self.order), int(self._n.sum())]]
        return _number_lines(self.split_groups(np.array(everybody)))

    def split_groups(self, span: Ints) -> Ints:
        """The same of groups (start, stop, people) side by side; level by level."""
        groups = _Groups(span, np.arange(len(self.order)))
        levels, used = [], 0
        while len(groups.span):
            lines = np.zeros((len(groups.span), LINE), dtype=np.int64)
            lines[:, [START, STOP, PEOPLE]], lines[:, COLUMN] = groups.span, -1
            levels.append(lines)
            used += len(lines)
            groups = self._split_level(groups, lines, used)
        return np.concatenate(levels)

    def _split_level(self, groups: _Groups, lines: Ints, used: int) -> _Groups:
        """Split the groups of a level, where they may; the groups of the next."""
        open_ = groups.span[:, 2] >= 2 * max(self._task.rules.least, 1)
        open_ &= groups.sizes > 1
        if not open_.any():
            return self._close(groups, open_)
        column, cut, left = np.full((3, len(open_)), -1, dtype=np.int64)
        column[open_], cut[open_], left[open_] = self._choose(groups.select(open_))
        made = column >= 0
        at = np.flatnonzero(made)
        lines[at, COLUMN], lines[at, CUT] = column[made], cut[made]
        lines[at, LEFT] = used + 2 * np.arange(len(at))
        groups = self._close(groups, made)
        return self._part(groups, column[made], cut[made], left[made])

    def _close(self, groups: _Groups, split: Flags) -> _Groups:
        """Put down the rows of groups that stay whole; the others."""
        whole = groups.select(~split)
        if len(whole.span):
            self.order[_list_lines(whole)] = whole.row
        return groups.select(split)

    def _part(self, groups: _Groups, column: Ints, cut: Ints, left: Ints) -> _Groups:
        """Bring the rows left of each split before the others."""
        right = self._find_right(groups, column, cut)
        sizes, begin = groups.sizes, groups.begin
        lefts, rights = np.flatnonzero(~right), np.flatnonzero(right)
        found = np.searchsorted(lefts, np.append(begin, len(right)))
        of_left = np.diff(found)
        of_right = sizes - of_left
        row = np.empty_like(groups.row)
        # Of L R L R, R L: the third row is behind one right row less than stands there.
        behind = np.repeat(np.cumsum(of_right) - of_right, of_left)
        row[np.arange(len(lefts)) + behind] = groups.row[lefts]
        behind = np.repeat(np.cumsum(of_left), of_right)
        row[np.arange(len(rights)) + behind] = groups.row[rights]
        first, last, people = groups.span.T
        middle = first + of_left
        parts = [first, middle, left, middle, last, people - left]
        return _Groups(np.column_stack(parts).reshape(-1, 3), row)

    def _find_right(self, groups: _Groups, column: Ints, cut: Ints) -> Flags:
        """Which rows are right of the split of their group."""
        return np.asarray(self._read(groups, column) > groups.spread(cut))

    def _read(self, groups: _Groups, column: Ints) -> Ints:
        """The position of each row in the column of its group."""
        at = groups.spread(column * self._columns.shape[1])
        at += groups.row
        return self._columns.ravel()[at]

    # Which split ----------------------------------------------------------------------

    def _choose(self, groups: _Groups) -> tuple[Ints, Ints, Ints]:
        """The first split of each group that is allowed: column, cut, people left."""
        chosen = np.full((3, len(groups.span)), -1, dtype=np.int64)
        if self._widths is None:
            best = self._survey(groups)
            rank = best.rank_columns()
            for columns in rank:
                self._try_best(groups, best, columns, chosen)
        else:
            widths = self._widths.measure(groups.row, groups.begin)
            best, rank = _Best.of(*widths.width.shape), widths.rank_columns()
            for columns in rank:
                self._find_even(groups, columns, widths.several, best, chosen)
                self._try_best(groups, best, columns, chosen)
        if len(self._task.rules.about) or self._task.aim.target >= 0:
            for columns in rank:
                self._try_every(groups, best, columns, chosen)
        return chosen[0], chosen[1], chosen[2]

    def _find_even(
        self,
        groups: _Groups,
        columns: Ints,
        several: Flags,
        best: _Best,
        chosen: Ints,
    ) -> None:
        """The most even split of a column in each group that has none yet."""
        here = (chosen[0] < 0) & several[columns, np.arange(len(columns))]
        trees = self._task.shape.kind[columns] == TREE
        for d in np.unique(columns[here & trees]):
            own = here & (columns == d)
            cuts = self._list_cuts(groups.select(own), d)[0].find_best()
            best.cut[d, own], best.left[d, own] = cuts.cut, cuts.left
        own = here & ~trees
        if own.any():
            some = groups.select(own)
            cut, left = self._find_middles(some, columns[own])
            best.cut[columns[own], own], best.left[columns[own], own] = cut, left

    def _find_middles(self, groups: _Groups, column: Ints) -> EvenCuts:
        """The most even split of each group by a column that may be cut anywhere."""
        base = np.append(0, np.cumsum(self._task.shape.size[column]))
        keys = groups.spread(base[:-1])
        keys += self._read(groups, column)
        return find_even_cuts(keys, self._n[groups.row], base, groups.span[:, 2])

    def _survey(self, groups: _Groups) -> _Best:
        """The best split of every column."""
        shape, aim, _ = self._task
        best = _Best.of(len(shape.kind), len(groups.span))
        for d in range(len(shape.kind)):
            cuts, width = self._list_cuts(groups, d)
            top = cuts.find_best()
            best.cut[d, top.group], best.left[d, top.group] = top.cut, top.left
            best.width[d] = width
            if aim.target >= 0:
                best.gain[d, top.group] = top.score
        return best

    def _list_cuts(self, groups: _Groups, d: int) -> tuple[ColumnCuts, Floats]:
        """Every cut of a column, and how wide it is in each group."""
        shape, aim, _ = self._task
        size = int(shape.size[d])
        keys = (groups.group * size + self._columns[d][groups.row]) * aim.classes
        if aim.target >= 0:
            keys += self._columns[aim.target][groups.row]
        many = len(groups.span)
        places = list_places(keys, size, self._n[groups.row], many, aim.classes)
        return find_cuts(places, d, shape, aim)

    def _try_best(
        self, groups: _Groups, best: _Best, columns: Ints, chosen: Ints
    ) -> None:
        """Try the best split of a column in each group that has none yet."""
        every = np.arange(len(columns))
        cut, left = best.cut[columns, every], best.left[columns, every]
        smaller = np.minimum(left, groups.span[:, 2] - left)
        tried = (chosen[0] < 0) & (cut >= 0) & (smaller >= self._task.rules.least)
        if not tried.any():
            return
        fine = self._judge(
            groups.select(tried), columns[tried], cut[tried], left[tried]
        )
        taken = np.flatnonzero(tried)[fine]
        chosen[:, taken] = columns[taken], cut[taken], left[taken]

    def _judge(self, groups: _Groups, column: Ints, cut: Ints, left: Ints) -> Flags:
        """Which groups may be split so: both sides keep every rule."""
        rules = self._task.rules
        fine = np.ones(len(cut), dtype=bool)
        if not len(rules.about):
            return fine
        part = groups.spread(2 * np.arange(len(cut)))
        part += self._find_right(groups, column, cut)
        totals = np.column_stack([left, groups.span[:, 2] - left]).ravel()
        step = max(AT_ONCE // max(2 * int(rules.offset[-1]), 1), 1)
        edges = np.append(groups.begin, len(part))
        for first in range(0, len(cut), step):
            last = min(first + step, len(cut))
            low, high = edges[first], edges[last]
            own = part[low:high] - 2 * first
            hist = self._count(groups.row[low:high], own, 2 * (last - first))
            failing = self._fails(hist, totals[2 * first : 2 * last])
            fine[first:last] = ~failing.reshape(-1, 2).any(axis=1)
        return fine

    def _count(self, row: Ints, part: Ints, parts: int) -> Ints:
        """The protected values of each part of some rows."""
        n, rules = self._n[row], self._task.rules
        return count_codes(lambda c: self._columns[c][row], n, part, parts, rules)

    def _try_every(
        self, groups: _Groups, best: _Best, columns: Ints, chosen: Ints
    ) -> None:
        """Try every split of a column in each group that has none yet."""
        rules = self._task.rules
        for d in range(len(self._task.shape.kind)):
            here = (chosen[0] < 0) & (columns == d) & (best.cut[d] >= 0)
            if self._task.aim.target < 0:  # the most even split has the most people
                rest = groups.span[:, 2] - best.left[d]
                here &= np.minimum(best.left[d], rest) >= rules.least
            if not here.any():
                continue
            some = groups.select(here)
            cuts, _ = self._list_cuts(some, d)
            rest = some.span[cuts.group, 2] - cuts.left
            cuts = cuts.select(np.minimum(cuts.left, rest) >= rules.least)
            fetch = partial(self._fetch, some, d)
            allowed = find_allowed(cuts, fetch, rules, self._fails)
            top = cuts.select(allowed).find_best()
            at = np.flatnonzero(here)[top.group]
            chosen[0, at], chosen[1, at], chosen[2, at] = d, top.cut, top.left

    def _fetch(self, groups: _Groups, d: int, j: int) -> CutRows:
        """Rows with their position in a column, and a protected value."""
        code = self._columns[self._task.rules.about[j]]
        position = self._columns[d][groups.row].astype(np.int64)
        n = self._n[groups.row].astype(np.int64)
        return CutRows(groups.group, position, code[groups.row].astype(np.int64), n)

    def note_worst(self, leaves: Ints, worst: Ints) -> None:
        """Let `worst` rise to the surest beliefs in some groups."""
        rules = self._task.rules
        if not len(rules.of):
            return
        leaves = leaves[np.argsort(leaves[:, START])]
        step = max(AT_ONCE // max(int(rules.offset[-1]), 1), 1)
        for first in range(0, len(leaves), step):
            some = leaves[first : first + step]
            row = self.order[some[0, START] : some[-1, STOP]]  # side by side
            part = np.repeat(np.arange(len(some)), some[:, STOP] - some[:, START])
            hist = self._count(row, part, len(some))
            keep_surest(worst, hist, some[:, PEOPLE], rules)

    def count_leaves(self, leaves: Ints) -> Ints:
        """The protected values of groups that tile the rows, in their order."""
        part = np.repeat(np.arange(len(leaves)), leaves[:, STOP] - leaves[:, START])
        return self._count(self.order, part, len(leaves))


def _list_lines(groups: _Groups) -> Ints:
    """Where the rows of groups lie in the end."""
    shift = groups.spread(groups.span[:, 0] - groups.begin)
    shift += np.arange(len(shift))
    return shift


def _number_lines(lines: Ints) -> Ints:
    """Lines by level become lines group after group, the left parts first."""
    split = np.flatnonzero(lines[:, COLUMN] >= 0)
    # Whoever begins first comes first, of several the one that ends last.
    split = split[np.lexsort((-lines[split, STOP], lines[split, START]))]
    number = np.zeros(len(lines), dtype=np.int64)
    number[lines[split, LEFT]] = 1 + 2 * np.arange(len(split))
    number[lines[split, LEFT] + 1] = 2 + 2 * np.arange(len(split))
    lines[split, LEFT] = number[lines[split, LEFT]]
    found = np.empty_like(lines)
    found[number] = lines
    return found
