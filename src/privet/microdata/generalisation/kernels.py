"""The loops of Mondrian that take the time, in numpy and compiled by numba.

`survey` finds the best split of each column of a group, `tally` counts what a split
would leave on both sides, `part` makes it, `finish` splits a group as far as it goes.
What looks at single rows exists twice with one signature: in numpy, and as a loop that
numba compiles where it is installed (`pip install "privet[fast]"`); all else is written
once and runs both ways. Both give the same integers and the same floats, hence the same
groups. The loops are 2 to 16 times faster, so that they are worth the second copy.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation.domain_order import (
    FLAT,
    ORDERED,
    TREE,
    DomainArrays,
)
from privet.values.arrays import Flags, Floats, Ints
from privet.values.jit import compile_together, import_numba, jit

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


@dataclass(frozen=True)
class SplitKernels:
    """The loops, by one of the ways to run them."""

    name: str
    survey: Callable[[Cells, int, int, DomainArrays, SplitCriterion], BestSplits]
    tally: Callable[[Cells, int, int, int, int, GroupRules], tuple[Ints, int]]
    part: Callable[[Cells, int, int, int, int], int]
    finish: Callable[[Cells, int, int, SplitTask, Ints], Ints]


class Room(NamedTuple):
    """What the compiled loops write in; numpy needs none."""

    hist: Ints
    """People by column, position and class; left empty after each use."""
    seen: Ints
    """As many places as a column has positions."""


# Written once, for both ways --------------------------------------------------------


def finish(
    cells: Cells,
    start: int,
    stop: int,
    task: SplitTask,
    worst: Ints,
    room: Room | None = None,
) -> Ints:
    """Split a group until no split is allowed; a line per node of the tree.

    `worst` (a line per rule: holders, whole) rises to the surest belief met.
    """
    shape, aim, rules = task
    hist, people = tally(cells, start, stop, 0, EVERYBODY, rules)
    # A tree of so many groups has twice as many nodes, but one.
    groups = min(stop - start, people // rules.least)
    lines = np.empty((2 * max(groups, 1), LINE), dtype=np.int64)
    put_line(lines, 0, start, stop, people)
    used, pending = 1, [0]
    totals = np.zeros(2, dtype=np.int64)  # people left and right of a split
    found = np.zeros((2, len(rules.of), 2), dtype=np.int64)  # side, rule, part of whole
    while len(pending) > 0:
        at = pending.pop()
        begin, end, people = lines[at, START], lines[at, STOP], lines[at, PEOPLE]
        if people < 2 * rules.least or end - begin < 2:
            continue
        seen = survey(cells, begin, end, shape, aim, room)
        d = find_best_column(seen)
        while d >= 0:
            totals[0], totals[1] = seen.left[d], people - seen.left[d]
            if min(totals[0], totals[1]) >= rules.least:
                if len(rules.about) > 0:
                    hist, _ = tally(cells, begin, end, d, seen.cut[d], rules)
                if is_allowed(hist, totals, rules, found):
                    break
            seen.cut[d] = -1
            d = find_best_column(seen)
        if d < 0:
            continue
        keep_worst(worst, found)
        middle = part(cells, begin, end, d, seen.cut[d])
        lines[at, COLUMN], lines[at, CUT], lines[at, LEFT] = d, seen.cut[d], used
        put_line(lines, used, begin, middle, totals[0])
        put_line(lines, used + 1, middle, end, totals[1])
        pending.append(used + 1)
        pending.append(used)
        used += 2
    return lines[:used]


def put_line(lines: Ints, at: int, start: int, stop: int, people: int) -> None:
    """A group that is whole so far."""
    lines[at, START], lines[at, STOP], lines[at, PEOPLE] = start, stop, people
    lines[at, COLUMN], lines[at, CUT], lines[at, LEFT] = -1, 0, 0


def find_best_column(seen: BestSplits) -> int:
    """The column to try next: the highest gain, then the widest, then the first."""
    cut, _, width, gain = seen
    d = -1
    for c in range(len(cut)):
        if cut[c] >= 0 and (
            d < 0 or gain[c] > gain[d] or (gain[c] == gain[d] and width[c] > width[d])
        ):
            d = c
    return d


def is_allowed(hist: Ints, totals: Ints, rules: GroupRules, found: Ints) -> bool:
    """Whether both sides of a split keep every rule that looks at one group alone."""
    for side in range(2):
        if totals[side] < rules.least:
            return False
        for r in range(len(rules.of)):
            low, high = rules.offset[rules.of[r]], rules.offset[rules.of[r] + 1]
            a, whole = find_surest_belief(
                hist[side, low:high],
                rules.mask[r, low:high],
                rules.ruled[r],
                rules.known[r],
                totals[side],
            )
            # Counts and both terms of the limit are below 2**31: products fit 64 bits.
            if a * rules.den[r] > rules.num[r] * whole:
                return False
            found[side, r, 0], found[side, r, 1] = a, whole
    return True


def keep_worst(worst: Ints, found: Ints) -> None:
    """Remember the surest belief of each rule on any side of a split."""
    for side in range(len(found)):
        for r in range(len(worst)):
            a, whole = found[side, r, 0], found[side, r, 1]
            if a * worst[r, 1] > worst[r, 0] * whole:  # a / whole is the higher
                worst[r, 0], worst[r, 1] = a, whole


# numpy ------------------------------------------------------------------------------


def survey(
    cells: Cells,
    start: int,
    stop: int,
    shape: DomainArrays,
    aim: SplitCriterion,
    _room: Room | None = None,
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
    # One key per position and class: of 3 classes, class 2 at position 4 has 14.
    key = rows[:, d].astype(np.int64) * aim.classes + classes
    keys, at = np.unique(key, return_inverse=True)
    positions, line = np.unique(keys // aim.classes, return_inverse=True)
    if len(positions) < 2:
        return
    # A line per position that occurs, a column per class: how many people.
    counts = np.zeros((len(positions), aim.classes), dtype=np.int64)
    sums = np.bincount(at, weights=n).astype(np.int64)
    counts[line, keys % aim.classes] = sums
    new, values = _find_starts(positions, d, shape)
    ends = np.flatnonzero(new[1:])  # the last position before each new child
    left = np.cumsum(counts, axis=0)[ends]  # a row per split: its left side by class
    people, whole = left.sum(axis=1), counts.sum(axis=0)
    if aim.target < 0:
        # The smaller side is as large as can be; of equals the first, as in the loop.
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
    # Below a node positions are a stretch: the ends agree only where all do.
    while len(set(shape.nodes[level + 1, ends].tolist())) > 1:
        level += 1
    above = shape.nodes[level, positions]
    new = np.ones(len(positions), dtype=bool)
    new[1:] = above[1:] != above[:-1]
    return new, int(shape.spread[level, positions[new]].sum())


def _info_gain(left: Ints, whole: Ints, logs: Floats) -> Floats:
    """What each split tells about the target; summed by class, as the loop does."""
    people, everybody = left.sum(axis=1), whole.sum()
    # n times the entropy is n log n less the sum of n_c log n_c. Two yes and two no
    # taken apart: 8 - 2 - 2 = 4, for four people one bit each. Floats are added in
    # one order, so that both ways choose the same split.
    of_all = times_log(np.array([everybody]), logs)
    of_left = times_log(people, logs)
    of_right = times_log(everybody - people, logs)
    for c in range(len(whole)):
        of_all = of_all - times_log(whole[c : c + 1], logs)
        of_left = of_left - times_log(left[:, c], logs)
        of_right = of_right - times_log(whole[c] - left[:, c], logs)
    return np.asarray(of_all - of_left - of_right)


def times_log(n: Ints, logs: Floats) -> Floats:
    """Numbers times their logarithm to base 2, alike on every machine.

    Numbers beyond the table lose their last binary digits: close enough to compare
    splits by, and the same everywhere.
    """
    shift = np.zeros(len(n), dtype=np.int64)
    while (large := (n >> shift) >= len(logs)).any():
        shift += large
    return np.asarray(n * (shift + logs[n >> shift]))


def tally(
    cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
) -> tuple[Ints, int]:
    """The protected values on both sides of a split, and how many people are left."""
    rows, n = cells[start:stop], _read_people(cells[start:stop])
    left = rows[:, column] <= cut
    values = int(rules.offset[-1])
    hist = np.zeros((2, values), dtype=np.int64)
    for j, c in enumerate(rules.about.tolist()):
        # Left values first, then right ones: a bool times `values` is their shift.
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


def find_surest_belief(
    hist: Ints, mask: Flags, ruled: int, known: int, total: int
) -> tuple[int, int]:
    """The surest belief in one group: holders, and who else might be the victim.

    Of 5, 3 and 2 people with three values, one of which is ruled out: the 3 are gone,
    so that 5 of 7 have the first.
    """
    a = int(hist[mask].max(initial=0))
    if a == 0:
        return 0, 1
    # The value believed takes one of the ruled + 1 places if it is that frequent.
    # Of 5, 3, 2 with the 2 believed: 5 + min(3, 2) gone, so 2 of 2 + 3.
    largest = np.sort(hist)[::-1][: ruled + 1]
    gone = int(largest[:ruled].sum())
    if ruled < len(largest):
        gone += min(int(largest[ruled]), a)
    return a, a + max(int(total) - gone - int(known), 0)


NUMPY = SplitKernels("numpy", survey, tally, part, finish)


# Loops for numba --------------------------------------------------------------------


def survey_loop(
    cells: Cells,
    start: int,
    stop: int,
    shape: DomainArrays,
    aim: SplitCriterion,
    room: Room,
) -> BestSplits:
    """See `survey`."""
    columns = len(shape.kind)
    cut, left = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    width, gain = np.zeros(columns), np.zeros(columns)
    hist = room.hist
    whole, total = np.zeros(aim.classes, dtype=np.int64), np.int64(0)
    for i in range(start, stop):  # row by row: columns do not wait for each other
        c = np.uint64(cells[i, aim.target]) if aim.target >= 0 else np.uint64(0)
        n = np.int64(cells[i, -1])
        total += n
        if aim.target >= 0:
            whole[c] += n
        for d in range(columns):
            hist[d, np.uint64(cells[i, d]), c] += n  # unsigned: never from the end
    for d in range(columns):
        cut[d] = -1
        several = list_occurring(
            hist[d], shape.size[d], cells[start:stop, d], room.seen
        )
        seen = room.seen[:several]
        low, high = seen[0], seen[-1]
        if low == high:
            hist[d, low, :] = 0
            continue
        level = -1
        if shape.kind[d] == TREE:  # children below the lowest node above all values
            level = shape.first[d]
            while shape.nodes[level + 1, low] != shape.nodes[level + 1, high]:
                level += 1
        if aim.target < 0:
            cut[d], left[d] = find_most_even_split(
                hist[d], seen, total, shape.nodes, level
            )
        else:
            cut[d], left[d], gain[d] = find_most_informative_split(
                hist[d], seen, total, whole, shape.nodes, level, aim.logs
            )
        if shape.kind[d] == ORDERED:
            width[d] = shape.at[d, high] - shape.at[d, low]
        else:
            values = count_values(seen, shape.nodes, shape.spread, level)
            width[d] = (values - 1) / (shape.size[d] - 1)
    return BestSplits(cut, left, width, gain)


def list_occurring(hist: Ints, size: Any, column: Cells, seen: Ints) -> int:
    """Write down the positions of a column that occur, in order; how many they are."""
    count = 0
    if size > 16 * len(column):  # few rows: sorting them beats looking everywhere
        sort_positions(column, seen)
        for i in range(len(column)):
            if i == 0 or seen[i] != seen[count - 1]:
                seen[count] = seen[i]
                count += 1
        return count
    for p in range(size):
        for c in range(hist.shape[1]):
            if hist[p, c] > 0:
                seen[count] = p
                count += 1
                break
    return count


def sort_positions(column: Cells, seen: Ints) -> None:
    """Shell's sort: numba would take seconds to compile numpy's."""
    for i in range(len(column)):
        seen[i] = column[i]
    gap = len(column) // 2
    while gap > 0:
        for i in range(gap, len(column)):
            kept, j = seen[i], i
            while j >= gap and seen[j - gap] > kept:
                seen[j] = seen[j - gap]
                j -= gap
            seen[j] = kept
        gap //= 2


def may_cut_before(seen: Ints, i: int, nodes: NDArray[Any], level: int) -> bool:
    """Whether a split may be before this position: with a level, between its nodes."""
    return level < 0 or nodes[level, seen[i - 1]] != nodes[level, seen[i]]


def find_most_even_split(
    hist: Ints, seen: Ints, total: Any, nodes: NDArray[Any], level: int
) -> tuple[Any, Any]:
    """The most even split, how many people are left of it; empties the histogram."""
    cut, before, top = np.int64(-1), np.int64(0), np.int64(-1)
    left = np.int64(0)
    for i in range(len(seen)):
        if i > 0 and may_cut_before(seen, i, nodes, level):
            smaller = min(left, total - left)
            if smaller > top:
                cut, before, top = seen[i - 1], left, smaller
        left += hist[seen[i], 0]
        hist[seen[i], 0] = 0
    return cut, before


def find_most_informative_split(
    hist: Ints,
    seen: Ints,
    total: Any,
    whole: Ints,
    nodes: NDArray[Any],
    level: int,
    logs: Floats,
) -> tuple[Any, Any, float]:
    """The split that tells most, who is left of it, what it tells; empties likewise."""
    cut, before, top = np.int64(-1), np.int64(0), -1.0
    left, part = np.int64(0), np.zeros(len(whole), dtype=np.int64)
    for i in range(len(seen)):
        if i > 0 and may_cut_before(seen, i, nodes, level):
            bits = info_gain_loop(left, total, part, whole, logs)
            if bits > top:
                cut, before, top = seen[i - 1], left, bits
        for c in range(len(whole)):
            left += hist[seen[i], c]
            part[c] += hist[seen[i], c]
            hist[seen[i], c] = 0
    return cut, before, top


def info_gain_loop(
    left: Any, total: Any, part: Ints, whole: Ints, logs: Floats
) -> float:
    """What a split tells about the target, in bits times people."""
    of_all = times_log_loop(total, logs)
    of_left = times_log_loop(left, logs)
    of_right = times_log_loop(total - left, logs)
    for c in range(len(whole)):
        of_all -= times_log_loop(whole[c], logs)
        of_left -= times_log_loop(part[c], logs)
        of_right -= times_log_loop(whole[c] - part[c], logs)
    return float(of_all - of_left - of_right)


def times_log_loop(n: Any, logs: Floats) -> Any:
    """See `times_log`: one number."""
    shift = 0
    while (n >> shift) >= len(logs):
        shift += 1
    return n * (shift + logs[n >> shift])


def count_values(seen: Ints, nodes: NDArray[Any], spread: Ints, level: int) -> Any:
    """How many values the positions have, or the nodes of a level above them."""
    if level < 0:
        return len(seen)
    values = spread[level, seen[0]]
    for i in range(1, len(seen)):
        if may_cut_before(seen, i, nodes, level):
            values += spread[level, seen[i]]
    return values


def tally_loop(
    cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
) -> tuple[Ints, Any]:
    """See `tally`."""
    hist, left = np.zeros((2, rules.offset[-1]), dtype=np.int64), np.int64(0)
    for i in range(start, stop):
        side = 0 if cells[i, column] <= cut else 1
        if side == 0:
            left += cells[i, -1]
        for j in range(len(rules.about)):
            hist[side, rules.offset[j] + cells[i, rules.about[j]]] += cells[i, -1]
    return hist, left


def part_loop(cells: Cells, start: int, stop: int, column: int, cut: int) -> int:
    """See `part`; rows of a side may change their order."""
    i, j = start, stop - 1
    while i <= j:  # all before i are left, all behind j are right
        if cells[i, column] <= cut:
            i += 1
        elif cells[j, column] > cut:
            j -= 1
        else:
            for c in range(cells.shape[1]):
                kept = cells[i, c]
                cells[i, c] = cells[j, c]
                cells[j, c] = kept
            i += 1
            j -= 1
    return i


def find_surest_belief_loop(
    hist: Ints, mask: Flags, ruled: int, known: int, total: int
) -> tuple[int, int]:
    """See `find_surest_belief`."""
    a = 0
    for v in range(len(hist)):
        if mask[v] and hist[v] > a:
            a = hist[v]
    if a == 0:
        return 0, 1
    if ruled == 0:
        return a, max(total - known, a)
    largest = np.zeros(ruled + 1, dtype=np.int64)
    for v in range(len(hist)):
        count = hist[v]
        # Sinks through the falling counts; the least of them drops out.
        for i in range(ruled + 1):
            if count > largest[i]:
                other = largest[i]
                largest[i] = count
                count = other
    gone = 0
    for i in range(ruled):
        gone += largest[i]
    # The value believed is ruled out of the others' count once, wherever it stands.
    gone += largest[ruled] if a >= largest[ruled] else a
    return a, a + max(total - gone - known, 0)


LOOPS: dict[str, Callable[..., Any]] = {
    "survey": survey_loop,
    "tally": tally_loop,
    "part": part_loop,
    "find_surest_belief": find_surest_belief_loop,
}
"""What is compiled in place of numpy's."""

SHARED: tuple[Callable[..., Any], ...] = (
    *(finish, put_line, find_best_column, is_allowed, keep_worst),
    *(list_occurring, sort_positions, may_cut_before, find_most_even_split),
    *(find_most_informative_split, info_gain_loop, times_log_loop, count_values),
)
"""What is compiled with them."""


# numpy or numba ---------------------------------------------------------------------

WORTH = 20_000
"""Tables with fewer cells are split before numba is imported."""


def choose_kernels(cells: int) -> SplitKernels:
    """The loops for a table with so many cells."""
    return NUMPY if cells < WORTH else compile_kernels() or NUMPY


@cache
def compile_kernels() -> SplitKernels | None:
    """The compiled loops; None without numba."""
    return None if import_numba() is None else link_loops("numba", jit)


def link_loops(name: str, make: Callable[[Any], Any]) -> SplitKernels:
    """The loops in place of what numpy does, each as `make` makes it."""
    made = compile_together({f.__name__: f for f in SHARED} | LOOPS, make)

    def do_survey(
        cells: Cells, start: int, stop: int, shape: DomainArrays, aim: SplitCriterion
    ) -> BestSplits:
        room, do = lend_room(shape, aim), made["survey"]
        found: BestSplits = do(cells, start, stop, shape, aim, room)
        return found

    def do_finish(
        cells: Cells, start: int, stop: int, task: SplitTask, worst: Ints
    ) -> Ints:
        room, do = lend_room(task.shape, task.aim), made["finish"]
        lines: Ints = do(cells, start, stop, task, worst, room)
        return lines

    return SplitKernels(name, do_survey, made["tally"], made["part"], do_finish)


def lend_room(shape: DomainArrays, aim: SplitCriterion) -> Room:
    """Room for every column, position and class; the same to whoever comes next."""
    return _allocate_room(len(shape.kind), shape.at.shape[1], aim.classes)


@cache
def _allocate_room(columns: int, positions: int, classes: int) -> Room:
    hist = np.zeros((columns, positions, classes), dtype=np.int64)
    return Room(hist, np.zeros(positions, dtype=np.int64))
