"""The loops of Mondrian that take the time, in numpy, and the choice of who runs them.

`survey` finds the best split of each column of a group, `tally` counts what a split
would leave on both sides, `part` makes it, `finish` splits a group as far as it goes.
Each exists twice with one signature: here, and in `mondrian_loops.py` in a form that
numba compiles where it is installed (`pip install "privet[fast]"`). Both give the same
integers and the same floats, hence the same groups.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation import mondrian_loops
from privet.microdata.generalisation.domain_order import (
    FLAT,
    ORDERED,
    TREE,
    DomainArrays,
)
from privet.values.arrays import Flags, Floats, Ints
from privet.values.jit import compile_module, import_numba

LOGS = 2**20
"""Numbers whose logarithm is looked up; larger ones by their leading digits."""

Cells = NDArray[Any]
"""The distinct rows, those of a group side by side: positions of the known columns,
codes of the others, and last how many people have the row."""


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


@dataclass(frozen=True)
class SplitKernels:
    """The loops, by one of the ways to run them."""

    name: str
    survey: Callable[[Cells, int, int, DomainArrays, SplitCriterion], BestSplits]
    tally: Callable[[Cells, int, int, int, int, GroupRules], tuple[Ints, int]]
    part: Callable[[Cells, int, int, int, int], int]
    finish: Callable[
        [Cells, int, int, DomainArrays, SplitCriterion, GroupRules, Ints], Ints
    ]


# numpy ------------------------------------------------------------------------------


def times_log(n: Ints, logs: Floats) -> Floats:
    """See `mondrian_loops.times_log`."""
    shift = np.zeros(len(n), dtype=np.int64)
    while (large := (n >> shift) >= len(logs)).any():
        shift += large
    return np.asarray(n * (shift + logs[n >> shift]))


def survey(
    cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
) -> BestSplits:
    """Look at every column of a group: its best split, width and gain."""
    rows, n = cells[start:stop], _read_people(cells[start:stop])
    columns = len(shape.kind)
    found = BestSplits.of(columns)
    for d in range(columns):
        _survey_column(found, d, rows, n, shape, aim)
    return found


def _survey_column(
    found: BestSplits,
    d: int,
    rows: NDArray[Any],
    n: Ints,
    shape: DomainArrays,
    aim: SplitCriterion,
) -> None:
    classes = rows[:, aim.target].astype(np.int64) if aim.target >= 0 else 0
    key = rows[:, d].astype(np.int64) * aim.classes + classes
    keys, at = np.unique(key, return_inverse=True)
    positions, line = np.unique(keys // aim.classes, return_inverse=True)
    if len(positions) < 2:
        return
    counts = np.zeros((len(positions), aim.classes), dtype=np.int64)
    sums = np.bincount(at, weights=n).astype(np.int64)
    counts[line, keys % aim.classes] = sums
    new, values = _find_starts(positions, d, shape)
    ends = np.flatnonzero(new[1:])  # the last position before each new child
    left = np.cumsum(counts, axis=0)[ends]
    people, whole = left.sum(axis=1), counts.sum(axis=0)
    if aim.target < 0:
        best = int(np.argmax(np.minimum(people, whole.sum() - people)))
    else:
        worth = _info_gain(left, whole, aim.logs)
        best = int(np.argmax(worth))
        found.gain[d] = worth[best]
    found.cut[d], found.left[d] = positions[ends[best]], people[best]
    if shape.kind[d] == ORDERED:
        found.width[d] = shape.at[d, positions[-1]] - shape.at[d, positions[0]]
    else:
        found.width[d] = (values - 1) / (shape.size[d] - 1)


def _find_starts(positions: Ints, d: int, shape: DomainArrays) -> tuple[Flags, int]:
    """Where a child of the lowest common node begins; how many values they have."""
    if shape.kind[d] in (ORDERED, FLAT):
        return np.ones(len(positions), dtype=bool), len(positions)
    assert shape.kind[d] == TREE
    level = shape.first[d]
    ends = positions[[0, -1]]
    while len(set(shape.nodes[level + 1, ends].tolist())) > 1:
        level += 1
    above = shape.nodes[level, positions]
    new = np.ones(len(positions), dtype=bool)
    new[1:] = above[1:] != above[:-1]
    return new, int(shape.spread[level, positions[new]].sum())


def _info_gain(left: Ints, whole: Ints, logs: Floats) -> Floats:
    """What each split tells about the target; summed by class, as the loop does."""
    people, everybody = left.sum(axis=1), whole.sum()
    of_all = times_log(np.array([everybody]), logs)
    of_left = times_log(people, logs)
    of_right = times_log(everybody - people, logs)
    for c in range(len(whole)):
        of_all = of_all - times_log(whole[c : c + 1], logs)
        of_left = of_left - times_log(left[:, c], logs)
        of_right = of_right - times_log(whole[c] - left[:, c], logs)
    return np.asarray(of_all - of_left - of_right)


def tally(
    cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
) -> tuple[Ints, int]:
    """The protected values on both sides of a split, and how many people are left."""
    rows, n = cells[start:stop], _read_people(cells[start:stop])
    left = rows[:, column] <= cut
    values = int(rules.offset[-1])
    hist = np.zeros((2, values), dtype=np.int64)
    for j, c in enumerate(rules.about.tolist()):
        code = rows[:, c].astype(np.int64) + rules.offset[j] + values * ~left
        hist += (
            np.bincount(code, weights=n, minlength=2 * values)
            .astype(np.int64)
            .reshape(2, values)
        )
    return hist, int(n[left].sum())


def part(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
    """Bring the rows left of a split before the others; where those begin."""
    left = cells[start:stop, column] <= cut
    order = np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
    cells[start:stop] = cells[start:stop][order]  # at once, lest Ctrl-C tears rows
    return start + int(left.sum())


def _read_people(rows: Cells) -> Ints:
    return rows[:, -1].astype(np.int64)


def is_allowed(hist: Ints, totals: Ints, rules: GroupRules, found: Ints) -> bool:
    """Whether both sides of a split keep every rule that looks at one group alone."""
    if totals.min() < rules.least:
        return False
    for side in range(2):
        for r, j in enumerate(rules.of.tolist()):
            values = hist[side, rules.offset[j] : rules.offset[j + 1]]
            mask = rules.mask[r, rules.offset[j] : rules.offset[j + 1]]
            a, whole = find_surest_belief(
                values, mask, rules.ruled[r], rules.known[r], totals[side]
            )
            if a * rules.den[r] > rules.num[r] * whole:
                return False
            found[side, r] = a, whole
    return True


def find_surest_belief(
    hist: Ints, mask: Flags, ruled: int, known: int, total: int
) -> tuple[int, int]:
    """The surest belief in one group: holders, and who else might be the victim."""
    a = int(hist[mask].max(initial=0))
    if a == 0:
        return 0, 1
    largest = np.sort(hist)[::-1][: ruled + 1]
    gone = int(largest[:ruled].sum())
    if ruled < len(largest):
        gone += min(int(largest[ruled]), a)
    return a, a + max(int(total) - gone - int(known), 0)


def finish(
    cells: Cells,
    start: int,
    stop: int,
    shape: DomainArrays,
    aim: SplitCriterion,
    rules: GroupRules,
    worst: Ints,
) -> Ints:
    """Split a group until no split is allowed; see `mondrian_loops.finish`."""
    lines = [[start, stop, -1, 0, 0, int(_read_people(cells[start:stop]).sum())]]
    pending = [0]
    found = np.zeros((2, len(rules.of), 2), dtype=np.int64)
    while pending:
        line = lines[pending.pop()]
        begin, end, *_, people = line
        if people < 2 * rules.least or end - begin < 2:
            continue
        seen = survey(cells, begin, end, shape, aim)
        for d in seen.rank_columns():
            cut, left = int(seen.cut[d]), int(seen.left[d])
            if min(left, people - left) < rules.least:
                continue
            hist, _ = tally(cells, begin, end, d, cut, rules)
            totals = np.array([left, people - left])
            if not is_allowed(hist, totals, rules, found):
                continue
            keep_worst(worst, found)
            middle = part(cells, begin, end, d, cut)
            line[2:5] = d, cut, len(lines)
            pending += [len(lines) + 1, len(lines)]
            lines.append([begin, middle, -1, 0, 0, left])
            lines.append([middle, end, -1, 0, 0, people - left])
            break
    return np.array(lines, dtype=np.int64)


def keep_worst(worst: Ints, found: Ints) -> None:
    """Remember the surest belief of each rule on either side of a split."""
    for part in found.tolist():
        for r, (a, whole) in enumerate(part):
            if a * int(worst[r, 1]) > int(worst[r, 0]) * whole:
                worst[r] = a, whole


NUMPY = SplitKernels("numpy", survey, tally, part, finish)


# numpy or numba ---------------------------------------------------------------------

WORTH = 20_000
"""Tables with fewer cells are split before numba is imported."""


def choose_kernels(cells: int) -> SplitKernels:
    """The loops for a table with so many cells."""
    return NUMPY if cells < WORTH else compile_kernels() or NUMPY


@cache
def compile_kernels() -> SplitKernels | None:
    """The compiled loops; None without numba."""
    return (
        None
        if import_numba() is None
        else wrap_loops("numba", compile_module(mondrian_loops))
    )


def wrap_loops(name: str, of: dict[str, Any] | None = None) -> SplitKernels:
    """The loops one step at a time behind the same signatures."""
    loops = SimpleNamespace(**(of or vars(mondrian_loops)))

    def do_survey(
        cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
    ) -> BestSplits:
        found = BestSplits.of(len(shape.kind))
        loops.survey(
            cells,
            start,
            stop,
            *_select_arrays(shape),
            *aim,
            *_reuse_scratch(shape, aim),
            *found,
        )
        return found

    def do_tally(
        cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
    ) -> tuple[Ints, int]:
        hist = np.zeros((2, int(rules.offset[-1])), dtype=np.int64)
        left = loops.tally(
            cells, start, stop, column, cut, rules.about, rules.offset, hist
        )
        return hist, int(left)

    def do_part(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
        return int(loops.part(cells, start, stop, column, cut))

    def do_finish(
        cells: Cells,
        start: int,
        stop: int,
        shape: DomainArrays,
        aim: SplitCriterion,
        rules: GroupRules,
        worst: Ints,
    ) -> Ints:
        scratch = _reuse_scratch(shape, aim)
        lines: Ints = loops.finish(
            cells, start, stop, *_select_arrays(shape), *aim, *scratch, *rules, worst
        )
        return lines

    return SplitKernels(name, do_survey, do_tally, do_part, do_finish)


def _select_arrays(shape: DomainArrays) -> tuple[Any, ...]:
    """What the loops need of a shape."""
    return (shape.kind, shape.size, shape.at, shape.first, shape.nodes, shape.spread)


def _reuse_scratch(shape: DomainArrays, aim: SplitCriterion) -> tuple[Ints, Ints]:
    """Room for a histogram of each column, left empty, and for positions that occur."""
    return _allocate_scratch(len(shape.kind), shape.at.shape[1], aim.classes)


@cache
def _allocate_scratch(columns: int, positions: int, classes: int) -> tuple[Ints, Ints]:
    hist = np.zeros((columns, positions, classes), dtype=np.int64)
    return hist, np.zeros(positions, dtype=np.int64)
