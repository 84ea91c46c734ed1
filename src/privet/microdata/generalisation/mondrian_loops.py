"""The loops of Mondrian in `kernels.py` one step at a time, for numba to compile.

They need nothing but numpy and run without numba too, only slowly. Rows of a group are
rows[start:stop]: the positions of the quasi-identifiers, codes of others, and last how
many people have the row.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.values.arrays import Flags, Floats

Ints = NDArray[Any]
"""Integers, as narrow as they come."""


def times_log(n: Any, logs: Floats) -> Any:
    """The number times its logarithm to base 2, alike on every machine.

    Numbers beyond the table lose their last binary digits: close enough to compare
    splits by, and the same everywhere.
    """
    shift = 0
    while (n >> shift) >= len(logs):
        shift += 1
    return n * (shift + logs[n >> shift])


def info_gain(left: Any, total: Any, part: Ints, whole: Ints, logs: Floats) -> float:
    """What a split tells about the target, in bits times people."""
    of_all = times_log(total, logs)
    of_left = times_log(left, logs)
    of_right = times_log(total - left, logs)
    for c in range(len(whole)):
        of_all -= times_log(whole[c], logs)
        of_left -= times_log(part[c], logs)
        of_right -= times_log(whole[c] - part[c], logs)
    return float(of_all - of_left - of_right)


def list_occurring(hist: Ints, size: Any, column: Ints, seen: Ints) -> int:
    """Write down the positions of a column that occur, in order; how many they are."""
    count = 0
    if size > 16 * len(column):
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


def sort_positions(column: Ints, seen: Ints) -> None:
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


def may_cut_before(seen: Ints, i: int, nodes: Ints, level: int) -> bool:
    """Whether a split may be before this position: with a level, between its nodes."""
    return level < 0 or nodes[level, seen[i - 1]] != nodes[level, seen[i]]


def find_most_even_split(
    hist: Ints, seen: Ints, total: Any, nodes: Ints, level: int
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
    nodes: Ints,
    level: int,
    logs: Floats,
) -> tuple[Any, Any, float]:
    """The split that tells most, who is left of it, what it tells; empties likewise."""
    cut, before, top = np.int64(-1), np.int64(0), -1.0
    left, part = np.int64(0), np.zeros(len(whole), dtype=np.int64)
    for i in range(len(seen)):
        if i > 0 and may_cut_before(seen, i, nodes, level):
            bits = info_gain(left, total, part, whole, logs)
            if bits > top:
                cut, before, top = seen[i - 1], left, bits
        for c in range(len(whole)):
            left += hist[seen[i], c]
            part[c] += hist[seen[i], c]
            hist[seen[i], c] = 0
    return cut, before, top


def count_values(seen: Ints, nodes: Ints, spread: Ints, level: int) -> Any:
    """How many values the positions have, or the nodes of a level above them."""
    if level < 0:
        return len(seen)
    values = spread[level, seen[0]]
    for i in range(1, len(seen)):
        if may_cut_before(seen, i, nodes, level):
            values += spread[level, seen[i]]
    return values


def survey(
    rows: Ints,
    start: int,
    stop: int,
    kind: Ints,
    size: Ints,
    at: Floats,
    first: Ints,
    nodes: Ints,
    spread: Ints,
    target: int,
    classes: int,
    logs: Floats,
    hist: Ints,
    room: Ints,
    cut: Ints,
    left: Ints,
    width: Floats,
    gain: Floats,
) -> None:
    """Look at every column of a group: best split, who is left of it, width, gain."""
    whole, total = np.zeros(classes, dtype=np.int64), np.int64(0)
    for i in range(start, stop):  # row by row: columns do not wait for each other
        c = np.uint64(rows[i, target]) if target >= 0 else np.uint64(0)
        n = np.int64(rows[i, -1])
        total += n
        if target >= 0:
            whole[c] += n
        for d in range(len(kind)):
            hist[d, np.uint64(rows[i, d]), c] += n  # unsigned: never from the end
    for d in range(len(kind)):
        cut[d], left[d], width[d], gain[d] = -1, 0, 0.0, 0.0
        seen = room[: list_occurring(hist[d], size[d], rows[start:stop, d], room)]
        low, high = seen[0], seen[-1]
        if low == high:
            hist[d, low, :] = 0
            continue
        level = -1
        if kind[d] == 2:  # the children below the lowest node above all values
            level = first[d]
            while nodes[level + 1, low] != nodes[level + 1, high]:
                level += 1
        if target < 0:
            cut[d], left[d] = find_most_even_split(hist[d], seen, total, nodes, level)
        else:
            cut[d], left[d], gain[d] = find_most_informative_split(
                hist[d], seen, total, whole, nodes, level, logs
            )
        if kind[d] == 0:
            width[d] = at[d, high] - at[d, low]
        else:
            values = count_values(seen, nodes, spread, level)
            width[d] = (values - 1) / (size[d] - 1)


def tally(
    rows: Ints,
    start: int,
    stop: int,
    column: int,
    cut: int,
    about: Ints,
    offset: Ints,
    hist: Ints,
) -> Any:
    """Count the protected values on both sides of a split; how many people are left."""
    left = np.int64(0)
    for i in range(start, stop):
        side = 0 if rows[i, column] <= cut else 1
        if side == 0:
            left += rows[i, -1]
        for j in range(len(about)):
            hist[side, offset[j] + rows[i, about[j]]] += rows[i, -1]
    return left


def part(rows: Ints, start: int, stop: int, column: int, cut: int) -> int:
    """Bring the rows left of a split before the others; where those begin."""
    i, j = start, stop - 1
    while i <= j:
        if rows[i, column] <= cut:
            i += 1
        elif rows[j, column] > cut:
            j -= 1
        else:
            for c in range(rows.shape[1]):
                kept = rows[i, c]
                rows[i, c] = rows[j, c]
                rows[j, c] = kept
            i += 1
            j -= 1
    return i


def find_surest_belief(
    hist: Ints, low: int, high: int, mask: Flags, ruled: int, known: int, total: int
) -> tuple[int, int]:
    """The surest belief in one group: holders, and who else might be the victim."""
    a = 0
    for v in range(low, high):
        if mask[v] and hist[v] > a:
            a = hist[v]
    if a == 0:
        return 0, 1
    if ruled == 0:
        return a, max(total - known, a)
    largest = np.zeros(ruled + 1, dtype=np.int64)
    for v in range(low, high):
        count = hist[v]
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


def is_allowed(
    hist: Ints,
    totals: Ints,
    least: int,
    offset: Ints,
    of: Ints,
    ruled: Ints,
    known: Ints,
    num: Ints,
    den: Ints,
    mask: Flags,
    found: Ints,
) -> bool:
    """Whether both sides of a split keep every rule that looks at one group alone."""
    for side in range(2):
        if totals[side] < least:
            return False
        for r in range(len(of)):
            a, whole = find_surest_belief(
                hist[side],
                offset[of[r]],
                offset[of[r] + 1],
                mask[r],
                ruled[r],
                known[r],
                totals[side],
            )
            if a * den[r] > num[r] * whole:
                return False
            found[side, r, 0], found[side, r, 1] = a, whole
    return True


def double_room(array: Ints) -> Ints:
    """Twice the room."""
    larger = np.zeros((2 * len(array), array.shape[1]), dtype=np.int64)
    for i in range(len(array)):  # numba compiles a slice ten times as long
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


def find_best_column(cut: Ints, width: Floats, gain: Floats) -> int:
    """The column to try next: the highest gain, then the widest, then the first."""
    d = -1
    for c in range(len(cut)):
        if cut[c] >= 0 and (
            d < 0 or gain[c] > gain[d] or (gain[c] == gain[d] and width[c] > width[d])
        ):
            d = c
    return d


def keep_worst(worst: Ints, found: Ints) -> None:
    """Remember the surest belief of each rule on either side of a split."""
    for side in range(2):
        for r in range(len(worst)):
            a, whole = found[side, r, 0], found[side, r, 1]
            if a * worst[r, 1] > worst[r, 0] * whole:
                worst[r, 0], worst[r, 1] = a, whole


def finish(
    rows: Ints,
    start: int,
    stop: int,
    kind: Ints,
    size: Ints,
    at: Floats,
    first: Ints,
    nodes: Ints,
    spread: Ints,
    target: int,
    classes: int,
    logs: Floats,
    scratch: Ints,
    room: Ints,
    about: Ints,
    offset: Ints,
    least: int,
    of: Ints,
    ruled: Ints,
    known: Ints,
    num: Ints,
    den: Ints,
    mask: Flags,
    worst: Ints,
) -> Ints:
    """Split a group until no split is allowed; a line per node of the tree.

    A line holds start, stop, column, cut, the line of the left child (the right one
    follows it), people; the column is -1 where the group stays whole.
    """
    columns = len(kind)
    cut, lefts = np.zeros(columns, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    width, gain = np.zeros(columns), np.zeros(columns)
    hist = np.zeros((2, offset[-1]), dtype=np.int64)
    totals = np.zeros(2, dtype=np.int64)
    found = np.zeros((2, len(of), 2), dtype=np.int64)
    lines = np.zeros((64, 6), dtype=np.int64)
    lines[0, 0], lines[0, 1] = start, stop
    for i in range(start, stop):
        lines[0, 5] += rows[i, -1]
    used, pending = 1, [0]
    form = (kind, size, at, first, nodes, spread)
    while len(pending) > 0:
        line = pending.pop()
        begin, end, people = lines[line, 0], lines[line, 1], lines[line, 5]
        lines[line, 2] = -1
        if people < 2 * least or end - begin < 2:
            continue
        toward = (target, classes, logs, scratch, room)
        survey(rows, begin, end, *form, *toward, cut, lefts, width, gain)
        left, d = np.int64(0), find_best_column(cut, width, gain)
        while d >= 0:
            left = lefts[d]
            totals[0], totals[1] = left, people - left
            if min(left, people - left) >= least:
                if len(about) > 0:
                    hist[:, :] = 0
                    tally(rows, begin, end, d, cut[d], about, offset, hist)
                rules = (offset, of, ruled, known, num, den, mask)
                if is_allowed(hist, totals, least, *rules, found):
                    break
            cut[d] = -1
            d = find_best_column(cut, width, gain)
        if d < 0:
            continue
        keep_worst(worst, found)
        middle = part(rows, begin, end, d, cut[d])
        if used + 2 > len(lines):
            lines = double_room(lines)
        lines[line, 2], lines[line, 3], lines[line, 4] = d, cut[d], used
        lines[used, 0], lines[used, 1], lines[used, 5] = begin, middle, left
        lines[used + 1, 0], lines[used + 1, 1] = middle, end
        lines[used + 1, 5] = people - left
        pending.append(used + 1)
        pending.append(used)
        used += 2
    return lines[:used]
