"""The loops of `privet.publishers.cutting` one step at a time, for numba to compile.

They import nothing but numpy and run without numba too, only slowly. Rows of a group
are rows[start:stop]: the places of the known columns, codes of others, and last how
many people have the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.publishers.loops import Flags, Floats

Ints = NDArray[Any]
"""Integers, as narrow as they come."""


def times_log(n: Any, logs: Floats) -> Any:
    """The number times its logarithm to base 2, alike on every machine.

    Numbers beyond the table lose their last binary digits: close enough to compare
    cuts by, and the same everywhere.
    """
    shift = 0
    while (n >> shift) >= len(logs):
        shift += 1
    return n * (shift + logs[n >> shift])


def worth(
    left: Any, total: Any, part: Ints, whole: Ints, informative: bool, logs: Floats
) -> float:
    """What a cut is worth: people on its smaller side, or what it tells, in bits."""
    if not informative:
        return float(min(left, total - left))
    of_all = times_log(total, logs)
    of_left = times_log(left, logs)
    of_right = times_log(total - left, logs)
    for c in range(len(whole)):
        of_all -= times_log(whole[c], logs)
        of_left -= times_log(part[c], logs)
        of_right -= times_log(whole[c] - part[c], logs)
    return float(of_all - of_left - of_right)


def search(
    hist: Ints,
    seen: Ints,
    whole: Ints,
    nodes: Ints,
    spread: Ints,
    level: int,
    informative: bool,
    logs: Floats,
) -> tuple[int, float, int]:
    """The best place to cut, what it is worth, and how many values there are.

    The histogram is empty afterwards. With a level, cuts are between its nodes.
    """
    total, left = whole.sum(), np.int64(0)
    part = np.zeros(len(whole), dtype=np.int64)
    cut, top, last, values = -1, -1.0, -1, 0
    for p in seen:
        here = hist[p].sum()
        if here == 0:
            continue
        new = last < 0 or level < 0 or nodes[level, last] != nodes[level, p]
        if new:
            values += spread[level, p] if level >= 0 else 1
            if last >= 0:
                score = worth(left, total, part, whole, informative, logs)
                if score > top:
                    top, cut = score, last
        left += here
        for c in range(len(whole)):
            part[c] += hist[p, c]
            hist[p, c] = 0
        last = p
    return cut, top, values


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
    cut: Ints,
    width: Floats,
    gain: Floats,
) -> None:
    """Look at every column of a group: its best cut, width and gain."""
    whole = np.zeros(classes, dtype=np.int64)
    for i in range(start, stop):
        c = rows[i, target] if target >= 0 else 0
        whole[c] += rows[i, -1]
    for d in range(len(kind)):
        cut[d], width[d], gain[d] = -1, 0.0, 0.0
        low = high = np.int64(rows[start, d])
        for i in range(start + 1, stop):
            low = min(low, np.int64(rows[i, d]))
            high = max(high, np.int64(rows[i, d]))
        if low == high:
            continue
        for i in range(start, stop):
            c = rows[i, target] if target >= 0 else 0
            hist[rows[i, d], c] += rows[i, -1]
        level = -1
        if kind[d] == 2:  # the children below the lowest node above all values
            level = first[d]
            while nodes[level + 1, low] != nodes[level + 1, high]:
                level += 1
        if high - low > 16 * (stop - start):
            seen = np.unique(rows[start:stop, d].astype(np.int64))
        else:
            seen = np.arange(low, high + 1)
        cut[d], top, values = search(
            hist, seen, whole, nodes, spread, level, target >= 0, logs
        )
        if kind[d] == 0:
            width[d] = at[d, high] - at[d, low]
        else:
            width[d] = (values - 1) / (size[d] - 1)
        if target >= 0:
            gain[d] = top


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
    """Count the protected values on both sides of a cut; how many people are left."""
    left = np.int64(0)
    for i in range(start, stop):
        side = 0 if rows[i, column] <= cut else 1
        if side == 0:
            left += rows[i, -1]
        for j in range(len(about)):
            hist[side, offset[j] + rows[i, about[j]]] += rows[i, -1]
    return left


def part(rows: Ints, start: int, stop: int, column: int, cut: int) -> int:
    """Bring the rows left of a cut before the others; where those begin."""
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


def worst_of(
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


def allowed(
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
    """Whether both sides of a cut keep every rule that looks at one group alone."""
    for side in range(2):
        if totals[side] < least:
            return False
        for r in range(len(of)):
            a, whole = worst_of(
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


def grown(array: Ints) -> Ints:
    """Twice the room."""
    larger = np.zeros((2 * len(array), array.shape[1]), dtype=np.int64)
    larger[: len(array)] = array
    return larger


def best_column(cut: Ints, width: Floats, gain: Floats) -> int:
    """The column to try next: the highest gain, then the widest, then the first."""
    d = -1
    for c in range(len(cut)):
        if cut[c] >= 0 and (
            d < 0 or gain[c] > gain[d] or (gain[c] == gain[d] and width[c] > width[d])
        ):
            d = c
    return d


def keep_worst(worst: Ints, found: Ints) -> None:
    """Remember the surest belief of each rule on either side of a cut."""
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
    """Cut a group until no cut is allowed; a line per node of the tree.

    A line holds start, stop, column, cut, the line of the left child (the right one
    follows it), people; the column is -1 where the group stays whole.
    """
    columns = len(kind)
    cut = np.zeros(columns, dtype=np.int64)
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
        survey(
            rows, begin, end, *form, target, classes, logs, scratch, cut, width, gain
        )
        d = best_column(cut, width, gain)
        while d >= 0:
            hist[:, :] = 0
            left = tally(rows, begin, end, d, cut[d], about, offset, hist)
            totals[0], totals[1] = left, people - left
            rules = (offset, of, ruled, known, num, den, mask)
            if allowed(hist, totals, least, *rules, found):
                break
            cut[d] = -1
            d = best_column(cut, width, gain)
        if d < 0:
            continue
        keep_worst(worst, found)
        middle = part(rows, begin, end, d, cut[d])
        if used + 2 > len(lines):
            lines = grown(lines)
        lines[line, 2], lines[line, 3], lines[line, 4] = d, cut[d], used
        lines[used, 0], lines[used, 1], lines[used, 5] = begin, middle, left
        lines[used + 1, 0], lines[used + 1, 1] = middle, end
        lines[used + 1, 5] = people - left
        pending.append(used + 1)
        pending.append(used)
        used += 2
    return lines[:used]
