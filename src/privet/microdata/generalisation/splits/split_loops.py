"""The loops of Mondrian as numba compiles them; see `kernels.py`.

They run in plain Python, too, where a test wants to follow them. A group that is split
as far as it goes tries the best cut of each column first; where none is allowed, every
cut of every column, by walking through the column with the counts of both sides.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation.domain_order import ORDERED, TREE, DomainArrays
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    CUT,
    EVERYBODY,
    LEFT,
    LINE,
    PEOPLE,
    START,
    STOP,
    BestSplits,
    Cells,
    GroupRules,
    SplitCriterion,
    SplitTask,
)
from privet.microdata.generalisation.splits.tallies import (
    find_fullest_loop,
    rank_places,
    tally_loop,
)
from privet.microdata.skyline.minima_loops import (
    LOOPS as MINIMA_LOOPS,
)
from privet.microdata.skyline.minima_loops import (
    MinimaTables,
    lower_minima,
    restore_minima,
)
from privet.values.arrays import Flags, Floats, Ints


class Room(NamedTuple):
    """What the loops write in."""

    hist: Ints
    """People by column, position and class; left empty after each use."""
    seen: Ints
    """As many places as a column has positions."""
    head: Ints
    """The last row at each position, and -1 after each use."""


# Splitting as far as it goes --------------------------------------------------------


def finish_loop(
    cells: Cells,
    start: int,
    stop: int,
    task: SplitTask,
    worst: Ints,
    minima: MinimaTables,
    room: Room,
) -> Ints:
    """Split a group until no split is allowed; a line per node of the tree.

    `worst` (a line per rule: holders, whole) rises to the surest belief met, `minima`
    fall to those of all groups there ever were.
    """
    rules = task.rules
    people = tally_loop(cells, start, stop, 0, EVERYBODY, rules)[1]
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
        totals[0], totals[1] = 0, people
        d, cut = find_split(cells, begin, end, task, totals, found, minima, room)
        if d < 0:
            continue
        keep_worst(worst, found)
        middle = part_loop(cells, begin, end, d, cut)
        lines[at, COLUMN], lines[at, CUT], lines[at, LEFT] = d, cut, used
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


def find_split(
    cells: Cells,
    begin: int,
    end: int,
    task: SplitTask,
    totals: Ints,
    found: Ints,
    minima: MinimaTables,
    room: Room,
) -> tuple[int, int]:
    """The first split that is allowed: its column and cut; -1: none is.

    `totals` are the people on both sides: all on the right before, parted after. The
    minima fall as if the split was made.
    """
    shape, aim, rules = task
    seen = survey_loop(cells, begin, end, shape, aim, room)
    people = totals[0] + totals[1]
    hist = np.zeros((2, rules.offset[-1]), dtype=np.int64)
    rank = np.zeros(len(seen.cut), dtype=np.int64)  # the columns in the order tried
    tried = 0
    d = find_best_column(seen)
    while d >= 0:
        totals[0], totals[1] = seen.left[d], people - seen.left[d]
        if min(totals[0], totals[1]) >= rules.least:
            if len(rules.about) > 0:
                hist, _ = tally_loop(cells, begin, end, d, seen.cut[d], rules)
            fine = is_allowed(hist, totals, rules, found)
            if fine and lower_minima(hist, minima, False) >= 0:
                return d, seen.cut[d]
            rank[tried] = d
            tried += 1
        elif aim.target >= 0:
            rank[tried] = d  # a split that tells less may leave enough people
            tried += 1
        seen.cut[d] = -1
        d = find_best_column(seen)
    for i in range(tried):
        d = rank[i]
        cut = find_cut(cells, begin, end, d, task, minima, room)
        if cut >= 0:
            hist, left = tally_loop(cells, begin, end, d, cut, rules)
            totals[0], totals[1] = left, people - left
            is_allowed(hist, totals, rules, found)
            lower_minima(hist, minima, False)
            return d, cut
    return -1, -1


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
            a, whole = find_surest_belief_loop(
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


# Every cut of a column ---------------------------------------------------------------


def find_cut(
    cells: Cells,
    begin: int,
    end: int,
    d: int,
    task: SplitTask,
    minima: MinimaTables,
    room: Room,
) -> Any:
    """The best cut of a column that is allowed, of equals the first; -1: none is."""
    shape, aim, rules = task
    following = np.empty(end - begin, dtype=np.int64)
    several, people, whole = link_rows(cells, begin, end, d, task, room, following)
    seen, level = room.seen[:several], -1
    if shape.kind[d] == TREE:
        level = find_level(seen[0], seen[-1], d, shape)
    # Everybody is right of the first cut.
    hist = tally_loop(cells, begin, end, d, -1, rules)[0]
    windows = start_windows(cells, begin, end, rules)
    totals = np.zeros(2, dtype=np.int64)
    found = np.zeros((2, len(rules.of), 2), dtype=np.int64)
    part = np.zeros(aim.classes, dtype=np.int64)
    cut, top, left = np.int64(-1), -1.0, np.int64(0)
    for i in range(several):
        least = min(left, people - left)
        if (
            i > 0
            and least >= rules.least
            and may_cut_before(seen, i, shape.nodes, level)
        ):
            score = float(least)
            if aim.target >= 0:
                score = info_gain_loop(left, people, part, whole, aim.logs)
            if score > top:
                totals[0], totals[1] = left, people - left
                read_windows(hist, windows, rules)
                if is_allowed(hist, totals, rules, found):
                    wrote = lower_minima(hist, minima, False)
                    if wrote >= 0:
                        restore_minima(minima, wrote)
                        cut, top = seen[i - 1], score
        for c in range(aim.classes):
            left += room.hist[d, seen[i], c]
            part[c] += room.hist[d, seen[i], c]
            room.hist[d, seen[i], c] = 0
        row = room.head[seen[i]]
        while row >= 0:
            move_row(cells, begin + row, row, hist, windows, rules)
            row = following[row]
    for i in range(begin, end):  # of every row, be it nobody's
        room.head[np.uint64(cells[i, d])] = -1
    return cut


def link_rows(
    cells: Cells,
    begin: int,
    end: int,
    d: int,
    task: SplitTask,
    room: Room,
    following: Ints,
) -> tuple[int, Any, Ints]:
    """Rows by position, each followed by the next; people by class, and positions."""
    aim = task.aim
    people, whole = np.int64(0), np.zeros(aim.classes, dtype=np.int64)
    for i in range(begin, end):
        c = np.uint64(cells[i, aim.target]) if aim.target >= 0 else np.uint64(0)
        p, n = np.uint64(cells[i, d]), np.int64(cells[i, -1])
        people += n
        whole[c] += n
        room.hist[d, p, c] += n
        following[i - begin] = room.head[p]
        room.head[p] = i - begin
    column = cells[begin:end, d]
    several = list_occurring(room.hist[d], task.shape.size[d], column, room.seen)
    return several, people, whole


def move_row(
    cells: Cells,
    at: int,
    row: int,
    hist: Ints,
    windows: WindowTrees,
    rules: GroupRules,
) -> None:
    """Take a row from the right of a cut to its left."""
    n = np.int64(cells[at, -1])
    for j in range(len(rules.about)):
        if j >= len(rules.window) or rules.window[j] < 0:
            v = rules.offset[j] + np.int64(cells[at, rules.about[j]])
            hist[0, v] += n
            hist[1, v] -= n
        elif windows.high[j, row] >= 0:
            low, high = windows.low[j, row], windows.high[j, row]
            add_range(windows.most[j, 0], windows.more[j, 0], low, high, n)
            add_range(windows.most[j, 1], windows.more[j, 1], low, high, -n)


class WindowTrees(NamedTuple):
    """How many people are in each window on both sides of a cut, as trees of maxima."""

    low: Ints
    """The first window that each row is in, by protected column; …"""
    high: Ints
    """… and the last one; -1: in none."""
    most: Ints
    """By column and side: the fullest window below each node of the tree."""
    more: Ints
    """What was added to all windows below a node."""


def start_windows(cells: Cells, begin: int, end: int, rules: GroupRules) -> WindowTrees:
    """The windows of rows that are all on the right."""
    rows = end - begin if len(rules.window) > 0 else 0
    columns = len(rules.window)
    low = np.full((columns, rows), -1, dtype=np.int64)
    high = np.full((columns, rows), -1, dtype=np.int64)
    most = np.zeros((columns, 2, 2 * rows), dtype=np.int64)
    more = np.zeros((columns, 2, 2 * rows), dtype=np.int64)
    place = np.empty(rows, dtype=np.int64)
    for j in range(columns):
        if rules.window[j] < 0:
            continue
        for i in range(rows):
            code = np.int64(cells[begin + i, rules.about[j]])
            place[i] = rules.place[rules.window[j] + code]
        number_windows(place, rules.stop[rules.window[j] :], low[j], high[j])
        for i in range(rows):
            if high[j, i] >= 0:
                n = np.int64(cells[begin + i, -1])
                add_range(most[j, 1], more[j, 1], low[j, i], high[j, i], n)
    return WindowTrees(low, high, most, more)


def number_windows(place: Ints, stop: Ints, low: Ints, high: Ints) -> None:
    """The first and the last window that each place is in; they start at places."""
    order = rank_places(place)
    number, first = -1, 0
    starts = np.empty(len(place), dtype=np.int64)
    for i in range(len(order)):
        own = place[order[i]]
        if own < 0:
            continue
        if number < 0 or starts[number] != own:
            number += 1
            starts[number] = own
        while stop[starts[first]] <= own:
            first += 1
        low[order[i]], high[order[i]] = first, number


def add_range(most: Ints, more: Ints, low: int, high: int, n: Any) -> None:
    """Add to windows from one to another; the tree's leaves are its second half."""
    size = len(most) // 2
    left, right = low + size, high + size + 1
    while left < right:
        if left & 1:
            most[left] += n
            more[left] += n
            left += 1
        if right & 1:
            right -= 1
            most[right] += n
            more[right] += n
        left >>= 1
        right >>= 1
    for leaf in (low + size, high + size):
        at = leaf >> 1
        while at > 0:
            most[at] = max(most[2 * at], most[2 * at + 1]) + more[at]
            at >>= 1


def read_windows(hist: Ints, windows: WindowTrees, rules: GroupRules) -> None:
    """Put the fullest windows of both sides into their places of the histograms."""
    for j in range(len(rules.window)):
        if rules.window[j] >= 0:
            for side in range(2):
                hist[side, rules.offset[j]] = windows.most[j, side, 1]


def find_level(low: int, high: int, d: int, shape: DomainArrays) -> Any:
    """The level of the children of the lowest node above two positions."""
    level = shape.first[d]
    while shape.nodes[level + 1, low] != shape.nodes[level + 1, high]:
        level += 1
    return level


# What a group has -------------------------------------------------------------------


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
            level = find_level(low, high, d, shape)
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


LOOPS = (
    *(finish_loop, survey_loop, tally_loop, part_loop, find_fullest_loop),
    rank_places,
    *(put_line, find_split, find_best_column, is_allowed, keep_worst),
    *(find_cut, link_rows, move_row, start_windows, number_windows, add_range),
    *(read_windows, find_level, list_occurring, sort_positions, may_cut_before),
    *(find_most_even_split, find_most_informative_split, info_gain_loop),
    *(times_log_loop, count_values, find_surest_belief_loop, *MINIMA_LOOPS),
)
"""What is compiled together."""
