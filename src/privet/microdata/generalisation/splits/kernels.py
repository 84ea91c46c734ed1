"""The loops of Mondrian that take the time, in numpy and compiled by numba.

`survey` finds the best split of each column of a group, `tally` counts what a split
would leave on both sides, `sweep` lists every cut of a column, `part` makes a split,
`finish` splits a group as far as it goes. All but `sweep` exists twice with one
signature: in numpy, and as a loop that numba compiles where it is installed
(`pip install "privet[fast]"`; `split_loops.py`). numpy finishes all small groups of a
level of the tree at once (`split_levels.py`), numba one after the other. Both give the
same integers and the same floats, hence the same groups.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from privet.microdata.generalisation.domain_order import DomainArrays
from privet.microdata.generalisation.splits import split_loops
from privet.microdata.generalisation.splits.prefix_cuts import (
    ColumnCuts,
    CutRows,
    FetchRows,
    OccurringPlaces,
    find_cuts,
    list_places,
    read_table,
)
from privet.microdata.generalisation.splits.split_levels import finish_levels
from privet.microdata.generalisation.splits.split_loops import Room
from privet.microdata.generalisation.splits.split_task import (
    BestSplits,
    Cells,
    GroupRules,
    SplitCriterion,
    SplitTask,
)
from privet.microdata.generalisation.splits.tallies import tally
from privet.microdata.skyline.incremental import pack_minima
from privet.microdata.skyline.minima_loops import MinimaTables
from privet.values.arrays import Floats, Ints
from privet.values.contingency import JOINT_CELLS, sum_columns
from privet.values.jit import compile_together, import_numba, jit

Sweep = tuple[ColumnCuts, FetchRows]
"""Every cut of a column, and the rows that tell what each leaves."""


FinishInOrder = Callable[[Cells, int, int, SplitTask, Ints, MinimaTables], Ints]


@dataclass(frozen=True)
class SplitKernels:
    """The loops, by one of the ways to run them."""

    name: str
    survey: Callable[[Cells, int, int, DomainArrays, SplitCriterion], BestSplits]
    tally: Callable[[Cells, int, int, int, int, GroupRules], tuple[Ints, int]]
    sweep: Callable[[Cells, int, int, int, SplitTask], Sweep]
    part: Callable[[Cells, int, int, int, int], int]
    finish: Callable[[Cells, int, int, SplitTask, Ints], Ints]
    finish_in_order: FinishInOrder | None = None
    """The same with minima over all groups; None: split by split."""


# numpy ------------------------------------------------------------------------------


def survey(
    cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
) -> BestSplits:
    """Look at every column of a group: its best split, width and gain."""
    found = BestSplits.of(len(shape.kind))
    for d, places in _list_all_places(cells[start:stop], shape, aim):
        cuts, (width,) = find_cuts(places, d, shape, aim)
        best = cuts.find_best()
        if not len(best.cut):
            continue
        found.cut[d], found.left[d], found.width[d] = best.cut[0], best.left[0], width
        if aim.target >= 0:
            found.gain[d] = best.score[0]
    return found


def _list_all_places(
    rows: Cells, shape: DomainArrays, aim: SplitCriterion
) -> Iterator[tuple[int, OccurringPlaces]]:
    """The positions that occur in each column of one group."""
    columns = range(len(shape.kind))
    few = [d for d in columns if aim.target < 0 and shape.size[d] <= JOINT_CELLS]
    sizes = [int(shape.size[d]) for d in few]
    for d, n in zip(
        few, sum_columns([rows[:, d] for d in few], sizes, rows[:, -1]), strict=True
    ):
        yield d, read_table(n.reshape(1, -1, 1))
    if len(few) < len(columns):
        people = rows[:, -1].astype(np.float64)  # as sums are
        for d in columns:
            if d not in few:
                yield d, _list_places(rows, d, people, shape, aim)


def _list_places(
    rows: Cells, d: int, n: Ints | Floats, shape: DomainArrays, aim: SplitCriterion
) -> OccurringPlaces:
    """The positions that occur in a column of one group."""
    keys = rows[:, d].astype(np.int64)
    if aim.classes > 1:
        keys *= aim.classes
    if aim.target >= 0:
        keys += rows[:, aim.target]
    return list_places(keys, int(shape.size[d]), n, 1, aim.classes)


def sweep(cells: Cells, start: int, stop: int, column: int, task: SplitTask) -> Sweep:
    """Every cut of one column of a group, and its rows."""
    shape, aim, rules = task
    rows = cells[start:stop]
    nobody = np.zeros(len(rows), dtype=np.int64)
    position, n = rows[:, column].astype(np.int64), rows[:, -1].astype(np.int64)

    def fetch(j: int) -> CutRows:
        return CutRows(nobody, position, rows[:, rules.about[j]].astype(np.int64), n)

    places = _list_places(rows, column, n, shape, aim)
    return find_cuts(places, column, shape, aim)[0], fetch


def part(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
    """Bring the rows left of a split before the others; where those begin."""
    left = cells[start:stop, column] <= cut
    order = np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
    # At once, lest Ctrl-C tears rows; `take` is twice as fast as an index.
    cells[start:stop] = np.take(cells[start:stop], order, axis=0)
    return start + int(left.sum())


NUMPY = SplitKernels("numpy", survey, tally, sweep, part, finish_levels)


# numpy or numba ---------------------------------------------------------------------

NO_MINIMA = pack_minima([], [], 0)
"""Nobody has companions."""

WORTH = 10_000_000
"""Tables with fewer cells are split by numpy before numba has compiled its loops; these
take half the time of numpy, and once half a minute to be compiled."""

WORTH_IN_ORDER = 100_000
"""The same where splits must be tried one after the other."""


def choose_kernels(cells: int, in_order: bool = False) -> SplitKernels:
    """The loops for a table with so many cells."""
    worth = min(WORTH, WORTH_IN_ORDER) if in_order else WORTH
    return NUMPY if cells < worth else compile_kernels() or NUMPY


@cache
def compile_kernels() -> SplitKernels | None:
    """The compiled loops; None without numba."""
    return None if import_numba() is None else link_loops("numba", jit)


def link_loops(name: str, make: Callable[[Any], Any]) -> SplitKernels:
    """The loops in place of what numpy does, each as `make` makes it."""
    made = compile_together({f.__name__: f for f in split_loops.LOOPS}, make)

    def do_survey(
        cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
    ) -> BestSplits:
        room, do = lend_room(shape, aim), made["survey_loop"]
        found: BestSplits = do(cells, start, stop, shape, aim, room)
        return found

    def do_finish(
        cells: Cells,
        start: int,
        stop: int,
        task: SplitTask,
        worst: Ints,
        minima: MinimaTables = NO_MINIMA,
    ) -> Ints:
        room, do = lend_room(task.shape, task.aim), made["finish_loop"]
        lines: Ints = do(cells, start, stop, task, worst, minima, room)
        return lines

    loops = made["tally_loop"], sweep, made["part_loop"]
    return SplitKernels(name, do_survey, *loops, do_finish, do_finish)


def lend_room(shape: DomainArrays, aim: SplitCriterion) -> Room:
    """Room for every column, position and class; the same to whoever comes next."""
    return _allocate_room(len(shape.kind), shape.at.shape[1], aim.classes)


@cache
def _allocate_room(columns: int, positions: int, classes: int) -> Room:
    hist = np.zeros((columns, positions, classes), dtype=np.int64)
    nowhere = np.full(positions, -1, dtype=np.int64)
    return Room(hist, np.zeros(positions, dtype=np.int64), nowhere)
