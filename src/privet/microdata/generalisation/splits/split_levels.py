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

from privet.microdata.generalisation.splits.prefix_cuts import (
    AT_ONCE,
    ColumnCuts,
    CutRows,
    FindFailing,
    find_allowed,
    find_cuts,
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
    count_parts,
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
    levels = _Levels(cells[start:stop], task, fails)
    lines = levels.split()
    # Beliefs in a group are never above those in its parts: the last parts will do.
    levels.note_worst(lines[lines[:, COLUMN] < 0], worst)
    cells[start:stop] = cells[start:stop][levels.order]  # lest Ctrl-C tears rows: last
    lines[:, [START, STOP]] += start
    return lines


class _Groups(NamedTuple):
    """Some groups of a level, and their rows."""

    span: Ints
    """Start, stop and people of each."""
    row: Ints
    """Their rows, group by group."""
    group: Ints
    """The group of each row."""
    n: Ints
    """The people of each row."""

    def select(self, wanted: Flags) -> _Groups:
        """Some of the groups, numbered anew."""
        kept = wanted[self.group]
        number = np.cumsum(wanted) - 1
        rows = self.row[kept], number[self.group[kept]], self.n[kept]
        return _Groups(self.span[wanted], *rows)


class _Best(NamedTuple):
    """The best split of each column (a line) in each group (a column)."""

    cut: Ints
    left: Ints
    width: Floats
    gain: Floats

    def rank_columns(self) -> Ints:
        """The columns of each group, the best first; a line per rank."""
        return np.lexsort((-self.width, -self.gain, self.cut < 0), axis=0)


class _Levels:
    """The groups of a table, and the splits that were made."""

    def __init__(self, rows: Cells, task: SplitTask, fails: FindFailing | None) -> None:
        self._rows = rows
        self._columns = np.ascontiguousarray(rows.T)
        self._task = task
        self._fails = fails or partial(find_beyond, rules=task.rules)
        self.order = np.arange(len(rows))

    def split(self) -> Ints:
        """Split until no split is allowed; the lines of the tree."""
        people = int(self._columns[-1].sum(dtype=np.int64))
        level = np.array([[0, len(self._rows), people]])
        levels, used = [], 0
        while len(level):
            lines = np.zeros((len(level), LINE), dtype=np.int64)
            lines[:, [START, STOP, PEOPLE]], lines[:, COLUMN] = level, -1
            levels.append(lines)
            used += len(lines)
            level = self._split_level(lines, used)
        return _number_lines(np.concatenate(levels))

    def _split_level(self, lines: Ints, used: int) -> Ints:
        """Split the groups of a level, where they may; the groups of the next."""
        span = lines[:, [START, STOP, PEOPLE]]
        open_ = span[:, 2] >= 2 * max(self._task.rules.least, 1)
        open_ &= span[:, 1] - span[:, 0] > 1
        if not open_.any():
            return np.zeros((0, 3), dtype=np.int64)
        groups = self._gather(span[open_])
        column, cut, left = self._choose(groups)
        made = column >= 0
        at = np.flatnonzero(open_)[made]
        lines[at, COLUMN], lines[at, CUT] = column[made], cut[made]
        lines[at, LEFT] = used + 2 * np.arange(len(at))
        return self._part(groups.select(made), column[made], cut[made], left[made])

    def _gather(self, span: Ints) -> _Groups:
        """The rows of some groups."""
        sizes = span[:, 1] - span[:, 0]
        group = np.repeat(np.arange(len(span)), sizes)
        behind = span[:, 0] - (np.cumsum(sizes) - sizes)
        row = self.order[np.arange(len(group)) + behind[group]]
        return _Groups(span, row, group, self._columns[-1][row].astype(np.int64))

    def _part(self, groups: _Groups, column: Ints, cut: Ints, left: Ints) -> Ints:
        """Bring the rows left of each split before the others."""
        right = self._find_right(groups, column, cut)
        first = groups.span[:, 0]
        sizes = groups.span[:, 1] - first
        begin = np.cumsum(sizes) - sizes
        gone = np.cumsum(~right)  # left ones so far, this one included
        before = gone[begin] - ~right[begin]
        middle = first + gone[begin + sizes - 1] - before
        rank = gone - before[groups.group]
        # Of L R L R the ranks are 1 1 2 2: places 0, 2, 1, 3.
        own = np.arange(len(right)) - begin[groups.group]
        to = np.where(
            right,
            middle[groups.group] + own - rank,
            first[groups.group] + rank - 1,
        )
        self.order[to] = groups.row
        people = groups.span[:, 2]
        parts = [first, middle, left, middle, groups.span[:, 1], people - left]
        return np.column_stack(parts).reshape(-1, 3)

    def _find_right(self, groups: _Groups, column: Ints, cut: Ints) -> Flags:
        """Which rows are right of the split of their group."""
        position = self._columns[column[groups.group], groups.row]
        return np.asarray(position > cut[groups.group])

    # Which split ----------------------------------------------------------------------

    def _choose(self, groups: _Groups) -> tuple[Ints, Ints, Ints]:
        """The first split of each group that is allowed: column, cut, people left."""
        best = self._survey(groups)
        rank = best.rank_columns()
        chosen = np.full((3, len(groups.span)), -1, dtype=np.int64)
        for columns in rank:
            self._try_best(groups, best, columns, chosen)
        if len(self._task.rules.about) or self._task.aim.target >= 0:
            for columns in rank:
                self._try_every(groups, best, columns, chosen)
        return chosen[0], chosen[1], chosen[2]

    def _survey(self, groups: _Groups) -> _Best:
        """The best split of every column."""
        shape, aim, _ = self._task
        many = len(shape.kind), len(groups.span)
        best = _Best(
            np.full(many, -1), np.zeros(many, dtype=np.int64), *np.zeros((2, *many))
        )
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
        places = list_places(keys, size, groups.n, many, aim.classes)
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
        part = 2 * groups.group + self._find_right(groups, column, cut)
        totals = np.column_stack([left, groups.span[:, 2] - left]).ravel()
        step = max(AT_ONCE // max(2 * int(rules.offset[-1]), 1), 1)
        for first in range(0, len(cut), step):
            last = min(first + step, len(cut))
            low, high = np.searchsorted(groups.group, [first, last])
            rows, n = groups.row[low:high], groups.n[low:high]
            own = part[low:high] - 2 * first
            hist = count_parts(self._rows[rows], n, own, 2 * (last - first), rules)
            failing = self._fails(hist, totals[2 * first : 2 * last])
            fine[first:last] = ~failing.reshape(-1, 2).any(axis=1)
        return fine

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
        return CutRows(
            groups.group, position, code[groups.row].astype(np.int64), groups.n
        )

    def note_worst(self, leaves: Ints, worst: Ints) -> None:
        """Let `worst` rise to the surest beliefs in some groups."""
        rules = self._task.rules
        if not len(rules.of):
            return
        leaves = leaves[np.argsort(leaves[:, START])]
        step = max(AT_ONCE // max(int(rules.offset[-1]), 1), 1)
        for first in range(0, len(leaves), step):
            some = leaves[first : first + step]
            groups = self._gather(some[:, [START, STOP, PEOPLE]])
            own = self._rows[groups.row], groups.n, groups.group, len(some)
            keep_surest(worst, count_parts(*own, rules), some[:, PEOPLE], rules)


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
