"""What a split leaves on both sides: histograms of values, or the fullest window.

Written twice with one signature, in numpy and as a loop that numba compiles; see
`kernels.py`. Of a number within a window the window that most people of a side lie in
is all that a linker's promise asks, so that it stands in the place of a histogram.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.values.arrays import Flags, Ints

if TYPE_CHECKING:
    from privet.microdata.generalisation.splits.split_task import GroupRules

Cells = NDArray[Any]


MOST = 2**31
"""Counts are below this."""

NEAR = 1e-9
"""Shares that floats may not tell apart."""


def tally(
    cells: Cells, start: int, stop: int, column: int, cut: int, rules: GroupRules
) -> tuple[Ints, int]:
    """The protected values on both sides of a split, and how many people are left."""
    rows = cells[start:stop]
    n, left = rows[:, -1].astype(np.int64), rows[:, column] <= cut
    hist = count_parts(rows, n, (~left).astype(np.int64), 2, rules)
    return hist, int(n[left].sum())


def count_parts(
    rows: Cells, n: Ints, part: Ints, parts: int, rules: GroupRules
) -> Ints:
    """The protected values of each part of some rows: a line per part."""
    return count_codes(lambda c: rows[:, c], n, part, parts, rules)


def count_codes(
    fetch: Callable[[int], Cells], n: Ints, part: Ints, parts: int, rules: GroupRules
) -> Ints:
    """The same of rows whose codes are fetched column by column."""
    values = int(rules.offset[-1])
    hist = np.zeros(parts * values, dtype=np.int64)
    for j, c in enumerate(rules.about.tolist()):
        code = fetch(c).astype(np.int64)
        if j < len(rules.window) and rules.window[j] >= 0:
            place = rules.place[rules.window[j] + code]
            most = find_fullest(part, parts, place, rules.stop[rules.window[j] :], n)
            hist.reshape(parts, values)[:, rules.offset[j]] = most
            continue
        # Of 5 values, the second one in the third part has key 11.
        key = part * values + rules.offset[j] + code
        hist += np.bincount(key, weights=n, minlength=len(hist)).astype(np.int64)
    return hist.reshape(parts, values)


def find_fullest(part: Ints, parts: int, place: Ints, stop: Ints, n: Ints) -> Ints:
    """People of each part in the window that most of them lie in.

    Places below 0 are no numbers.
    """
    most = np.zeros(parts, dtype=np.int64)
    number = np.flatnonzero(place >= 0)
    if not len(number):
        return most
    size = int(place.max()) + 2
    key = part[number] * size + place[number]
    order = np.argsort(key, kind="stable")
    key, people = key[order], n[number][order]
    before = np.concatenate([[0], np.cumsum(people)])
    end = np.minimum(stop[key % size], size - 1)
    inside = before[np.searchsorted(key, key - key % size + end)] - before[:-1]
    np.maximum.at(most, key // size, inside)
    return most


# Whether groups keep the rules ------------------------------------------------------


def find_surest_beliefs(
    hist: Ints, totals: Ints, rules: GroupRules, r: int
) -> tuple[Ints, Ints]:
    """The surest belief of a rule in each group: holders, and who else it might be.

    Of 5, 3 and 2 people with three values, one of which is ruled out: the 3 are gone,
    so that 5 of 7 have the first.
    """
    own = slice(int(rules.offset[rules.of[r]]), int(rules.offset[rules.of[r] + 1]))
    values, l = hist[:, own], int(rules.ruled[r])
    a = values[:, rules.mask[r, own]].max(axis=1, initial=0)
    # The value believed takes one of the l + 1 largest places if it is that frequent.
    # Of 5, 3, 2 with the 2 believed and one ruled out: 5 + min(3, 2) gone, so 2 of
    # 2 + 3.
    gone = a
    if l > 0:
        falling = -np.sort(-values, axis=1)[:, : l + 1]
        gone = falling[:, :l].sum(axis=1)
        if falling.shape[1] > l:
            gone = gone + np.minimum(falling[:, l], a)
    whole = a + np.maximum(totals - gone - int(rules.known[r]), 0)
    return a, np.where(a == 0, 1, whole)


def find_beyond(hist: Ints, totals: Ints, rules: GroupRules) -> Flags:
    """Which groups are too small, or break a rule."""
    beyond = totals < rules.least
    for r in range(len(rules.of)):
        beyond |= breaks_rule(hist, totals, rules, r)
    return beyond


def breaks_rule(hist: Ints, totals: Ints, rules: GroupRules, r: int) -> Flags:
    """Which groups break one of the rules."""
    a, whole = find_surest_beliefs(hist, totals, rules, r)
    # Counts and both terms of the limit are below 2**31: products fit 64 bits.
    return np.asarray(a * rules.den[r] > rules.num[r] * whole)


def keep_surest(worst: Ints, hist: Ints, totals: Ints, rules: GroupRules) -> None:
    """Let the surest belief of each rule so far (holders, whole) rise, exactly."""
    for r in range(len(rules.of)):
        a, whole = find_surest_beliefs(hist, totals, rules, r)
        share = a / whole
        near = np.flatnonzero(share >= share.max(initial=0) * (1 - NEAR))
        for i in near[np.unique(a[near] * MOST + whole[near], return_index=True)[1]]:
            if int(a[i]) * int(worst[r, 1]) > int(worst[r, 0]) * int(whole[i]):
                worst[r] = a[i], whole[i]


# Loops for numba --------------------------------------------------------------------


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
            if j >= len(rules.window) or rules.window[j] < 0:
                hist[side, rules.offset[j] + cells[i, rules.about[j]]] += cells[i, -1]
    for j in range(len(rules.window)):
        if rules.window[j] >= 0:
            for side in range(2):
                hist[side, rules.offset[j]] = find_fullest_loop(
                    cells, start, stop, column, cut, side, j, rules
                )
    return hist, left


def rank_places(places: Ints) -> Ints:
    """Where the places stand in order; Shell's sort, for numpy's takes long to compile.

    Places of 31 bits and where they stand are one number.
    """
    keys = np.empty(len(places), dtype=np.int64)
    for i in range(len(places)):
        keys[i] = (places[i] + 1) * 2**31 + i
    gap = len(keys) // 2
    while gap > 0:
        for i in range(gap, len(keys)):
            kept, j = keys[i], i
            while j >= gap and keys[j - gap] > kept:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = kept
        gap //= 2
    for i in range(len(keys)):
        keys[i] %= 2**31
    return keys


def find_fullest_loop(
    cells: Cells,
    start: int,
    stop: int,
    column: int,
    cut: int,
    side: int,
    j: int,
    rules: GroupRules,
) -> int:
    """See `find_fullest`; one side of a split."""
    shift, c = rules.window[j], rules.about[j]
    places = np.empty(stop - start, dtype=np.int64)
    people = np.empty(stop - start, dtype=np.int64)
    used = 0
    for i in range(start, stop):
        if (0 if cells[i, column] <= cut else 1) == side:
            place = rules.place[shift + np.int64(cells[i, c])]
            if place >= 0:
                places[used], people[used] = place, cells[i, -1]
                used += 1
    order = rank_places(places[:used])
    end, inside, most = 0, 0, 0
    for i in range(used):
        # The window takes in people at its end, and lets the first ones go.
        behind = rules.stop[shift + places[order[i]]]
        while end < used and places[order[end]] < behind:
            inside += people[order[end]]
            end += 1
        most = max(most, inside)
        inside -= people[order[i]]
    return most
