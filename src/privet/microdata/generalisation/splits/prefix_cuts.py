"""Every cut of a column, in many groups at once: where, how good, what it leaves.

A cut parts the positions of a column at or before it from those behind it; below a
hierarchy it stands between two children of the lowest node above all values of the
group. All is counted in numpy, for one group or for thousands side by side.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from privet.microdata.generalisation.domain_order import ORDERED, TREE, DomainArrays
from privet.microdata.generalisation.splits.split_task import GroupRules, SplitCriterion
from privet.microdata.generalisation.splits.tallies import find_fullest
from privet.values.arrays import Flags, Floats, Ints

AT_ONCE = 2**21
"""Counts that are made and judged together."""

FindFailing = Callable[[Ints, Ints], Flags]
"""Which groups fail: takes histograms, a line per group, and numbers of people."""


class OccurringPlaces(NamedTuple):
    """The positions of a column that occur in some groups, group by group."""

    group: Ints
    """The group of each; every group has one, and they rise."""
    place: Ints
    """The position; they rise within a group."""
    n: Ints
    """How many people have it: a column per class of the target."""

    @property
    def begin(self) -> Ints:
        """Where each group begins."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))


class ColumnCuts(NamedTuple):
    """Every cut of a column in some groups, group by group."""

    group: Ints
    """The group of each."""
    cut: Ints
    """The last position on the left; they rise within a group."""
    left: Ints
    """How many people go left."""
    score: Floats
    """How good it is: people on the smaller side, or bits times people."""

    def select(self, which: Flags | Ints) -> ColumnCuts:
        """Some of them."""
        group, cut, left, score = self
        return ColumnCuts(group[which], cut[which], left[which], score[which])

    def find_best(self) -> ColumnCuts:
        """The best cut of each group that has one, of equals the first."""
        if not len(self.group):
            return self
        first = np.flatnonzero(np.diff(self.group, prepend=-1))
        best = np.maximum.reduceat(self.score, first)
        spans = np.diff(first, append=len(self.group))
        good = np.flatnonzero(self.score == np.repeat(best, spans))
        return self.select(good[np.diff(self.group[good], prepend=-1) > 0])

    def rank(self) -> Ints:
        """The cuts of one group, the best first, of equals the first."""
        return np.argsort(-self.score, kind="stable")


# Where a column may be cut ----------------------------------------------------------


def list_places(
    keys: Ints, size: int, n: Ints | Floats, groups: int, classes: int
) -> OccurringPlaces:
    """The positions that occur, from one key (group, position, class) per row.

    Of 9 positions and 2 classes, class 1 at position 4 of group 2 has key 45.
    """
    whole = groups * size * classes
    if whole <= max(4 * len(keys), AT_ONCE // 16):
        return read_table(sum_weights(keys, n, whole).reshape(-1, size, classes))
    different, at = np.unique(keys, return_inverse=True)
    people = sum_weights(at, n, len(different))
    where, line = np.unique(different // classes, return_inverse=True)
    counts = np.zeros((len(where), classes), dtype=np.int64)
    counts[line, different % classes] = people
    return OccurringPlaces(where // size, where % size, counts)


def read_table(counts: Ints | Floats) -> OccurringPlaces:
    """The same from a table of people by group, position and class."""
    groups, size, classes = counts.shape
    flat = counts.reshape(groups * size, classes)
    where = np.flatnonzero(flat[:, 0] if classes == 1 else flat.any(axis=1))
    return OccurringPlaces(where // size, where % size, flat[where].astype(np.int64))


def sum_weights(keys: Ints, n: Ints | Floats, size: int) -> Ints:
    """The sum of all numbers with each key."""
    # Sums below 2**53 are exact.
    return np.bincount(keys, weights=n, minlength=size).astype(np.int64)


def find_cuts(
    places: OccurringPlaces, d: int, shape: DomainArrays, aim: SplitCriterion
) -> tuple[ColumnCuts, Floats]:
    """Every cut of a column, and how wide the column is in each group."""
    begin = places.begin
    new, width = measure_places(places, begin, d, shape)
    # The last position before each new child of the same group.
    ends = np.flatnonzero(new[1:] & (places.group[1:] == places.group[:-1]))
    sums = np.cumsum(places.n, axis=0)
    before = sums[begin] - places.n[begin]
    group = places.group[ends]
    left = sums[ends] - before[group]  # a line per cut, a column per class
    whole = np.add.reduceat(places.n, begin, axis=0)
    people, everybody = left.sum(axis=1), whole.sum(axis=1)[group]
    if aim.target < 0:
        score = np.minimum(people, everybody - people).astype(np.float64)
    else:
        score = compute_info_gain(left, whole[group], aim.logs)
    return ColumnCuts(group, places.place[ends], people, score), width


def measure_places(
    places: OccurringPlaces, begin: Ints, d: int, shape: DomainArrays
) -> tuple[Flags, Floats]:
    """Where a child of the lowest common node begins; how wide the column is."""
    place, end = places.place, np.append(begin[1:], len(places.place)) - 1
    low, high = place[begin], place[end]
    if shape.kind[d] == ORDERED:
        return np.ones(len(place), dtype=bool), shape.at[d, high] - shape.at[d, low]
    new = np.ones(len(place), dtype=bool)
    values = end - begin + 1
    if shape.kind[d] == TREE:
        level = _find_levels(low, high, d, shape)[places.group]
        above = shape.nodes[level, place]
        new[1:] = (above[1:] != above[:-1]) | (places.group[1:] != places.group[:-1])
        values = np.add.reduceat(np.where(new, shape.spread[level, place], 0), begin)
    return new, (values - 1) / max(int(shape.size[d]) - 1, 1)


def _find_levels(low: Ints, high: Ints, d: int, shape: DomainArrays) -> Ints:
    """The level of the children of the lowest node above two positions."""
    level = np.full(len(low), shape.first[d])
    # Below a node positions are a stretch: the ends agree only where all do.
    while (apart := shape.nodes[level + 1, low] != shape.nodes[level + 1, high]).any():
        level[apart] += 1
    return level


def compute_info_gain(left: Ints, whole: Ints, logs: Floats) -> Floats:
    """What each split tells about the target; summed by class, as the loop does."""
    people, everybody = left.sum(axis=1), whole.sum(axis=1)
    # n times the entropy is n log n less the sum of n_c log n_c. Two yes and two no
    # taken apart: 8 - 2 - 2 = 4, for four people one bit each. Floats are added in
    # one order, so that both ways choose the same split.
    of_all = times_log(everybody, logs)
    of_left = times_log(people, logs)
    of_right = times_log(everybody - people, logs)
    for c in range(left.shape[1]):
        of_all = of_all - times_log(whole[:, c], logs)
        of_left = of_left - times_log(left[:, c], logs)
        of_right = of_right - times_log(whole[:, c] - left[:, c], logs)
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


class EvenCuts(NamedTuple):
    """The most even cut of each group by a column of its own."""

    cut: Ints
    """The last position on the left."""
    left: Ints
    """How many people go left; with none, or all, there is nothing to cut."""


def find_even_cuts(keys: Ints, n: Floats, base: Ints, people: Ints) -> EvenCuts:
    """The most even cut of each group, of equals the first, between any positions.

    A key is the position of a row, and before it where those of its group begin: `base`
    says that of each group, and last the end of all.
    """
    places, before = _sum_places(keys, n, int(base[-1]))
    # Sums rise over all groups, so that one search finds the middle of each.
    sums = np.cumsum(before)
    if places is None:
        first = np.concatenate([[0.0], sums])[base[:-1]]
    else:
        first = np.concatenate([[0.0], sums])[np.searchsorted(places, base[:-1])]
    high = np.searchsorted(sums, first + (people + 1) // 2)
    upper = sums[high] - first
    lower = sums[np.maximum(high - 1, 0)] - first
    lower[high == 0] = 0
    # Of 2, 1, 1 and 4 people the middle is behind the third position: 4 and 4. Of 3, 1
    # and 4 nobody's place may come before it: the first with as many is meant.
    use = (lower > 0) & (lower >= people - upper)
    at = np.where(use, np.searchsorted(sums, first + lower), high)
    place = at if places is None else places[at]
    left = np.where(use, lower, upper)
    return EvenCuts(place - base[:-1], left.astype(np.int64))


def _sum_places(keys: Ints, n: Floats, whole: int) -> tuple[Ints | None, Floats]:
    """People at each position, or at those that occur, where there are many."""
    different, at, size = None, keys, whole
    if whole > max(4 * len(keys), AT_ONCE // 16):
        different, at = np.unique(keys, return_inverse=True)
        size = len(different)
    return different, np.asarray(
        np.bincount(at, weights=n, minlength=size), dtype=np.float64
    )


# What a cut leaves ------------------------------------------------------------------


class CutRows(NamedTuple):
    """Rows of some groups: where they are in a column, and a protected value."""

    group: Ints
    position: Ints
    code: Ints
    n: Ints


FetchRows = Callable[[int], CutRows]
"""The rows with the codes of one protected column, by its number."""


def find_allowed(
    cuts: ColumnCuts, fetch: FetchRows, rules: GroupRules, fails: FindFailing
) -> Flags:
    """Which cuts leave nothing but groups that keep every rule by themselves."""
    totals = _count_people(cuts, fetch(0)) if len(rules.about) else None
    allowed = np.ones(len(cuts.group), dtype=bool)
    for block, left, right in _count_sides(cuts, fetch, rules):
        assert totals is not None
        here = cuts.left[block]
        allowed[block] = ~fails(left, here) & ~fails(right, totals[block] - here)
    return allowed


def _count_people(cuts: ColumnCuts, own: CutRows) -> Ints:
    """How many people each cut's group has."""
    size = int(max(own.group.max(), cuts.group.max(initial=0))) + 1
    return sum_weights(own.group, own.n, size)[cuts.group]


def _count_sides(
    cuts: ColumnCuts, fetch: FetchRows, rules: GroupRules
) -> Iterator[tuple[slice, Ints, Ints]]:
    """Histograms left and right of some cuts at a time, a line per cut."""
    values, many = int(rules.offset[-1]), len(cuts.group)
    step = max(AT_ONCE // max(values, 1), 1)
    columns = [_Sides.of(cuts, fetch(j), j, rules) for j in range(len(rules.about))]
    for start in range(0, many if columns else 0, step):
        block = slice(start, min(start + step, many))
        left = np.empty((block.stop - start, values), dtype=np.int64)
        right = np.empty_like(left)
        for j, column in enumerate(columns):
            own = slice(rules.offset[j], rules.offset[j + 1])
            left[:, own], right[:, own] = column.count(block)
        yield block, left, right


class _Sides:
    """Counts one protected column on both sides of cuts, block after block."""

    def __init__(self, cuts: ColumnCuts, own: CutRows, size: int) -> None:
        self._group, self._size = cuts.group, size
        # The first cut at or behind each row's position; behind the last: none.
        span = int(max(own.position.max(), cuts.cut.max(initial=0))) + 1
        keys = cuts.group * span + cuts.cut
        at = np.searchsorted(keys, own.group * span + own.position)
        inside = at < len(keys)
        inside[inside] = cuts.group[at[inside]] == own.group[inside]
        order = np.argsort(at[inside], kind="stable")
        self._at = at[inside][order]
        self._key = self._at * size + own.code[inside][order]
        self._n = own.n[inside][order]
        groups = int(max(own.group.max(), cuts.group.max(initial=0))) + 1
        whole = sum_weights(own.group * size + own.code, own.n, groups * size)
        self._whole = whole.reshape(groups, size)
        self._carry = np.zeros(size, dtype=np.int64)

    @classmethod
    def of(
        cls, cuts: ColumnCuts, own: CutRows, j: int, rules: GroupRules
    ) -> _Sides | _WindowSides:
        if j < len(rules.window) and rules.window[j] >= 0:
            return _WindowSides(cuts, own, j, rules)
        return cls(cuts, own, int(rules.offset[j + 1] - rules.offset[j]))

    def count(self, block: slice) -> tuple[Ints, Ints]:
        """Histograms left and right of the next cuts."""
        first, last = np.searchsorted(self._at, [block.start, block.stop])
        keys = self._key[first:last] - block.start * self._size
        many = block.stop - block.start
        own = sum_weights(keys, self._n[first:last], many * self._size)
        sums = np.cumsum(own.reshape(many, self._size), axis=0)
        group = self._group[block]
        begin = np.flatnonzero(np.diff(group, prepend=-1))
        before = np.vstack([np.zeros_like(self._carry), sums])[begin]
        if block.start and self._group[block.start - 1] == group[0]:
            before[0] -= self._carry  # the first group began in the block before
        spans = np.diff(begin, append=many)
        left = sums - np.repeat(before, spans, axis=0)
        self._carry = left[-1]
        return left, self._whole[group] - left


class _WindowSides:
    """The fullest window on both sides of cuts: rows are repeated, sums do not do."""

    def __init__(
        self, cuts: ColumnCuts, own: CutRows, j: int, rules: GroupRules
    ) -> None:
        self._cuts, self._own = cuts, own
        shift = int(rules.window[j])
        self._place, self._stop = rules.place[shift + own.code], rules.stop[shift:]
        self._begin = np.searchsorted(own.group, np.arange(own.group[-1] + 2))

    def count(self, block: slice) -> tuple[Ints, Ints]:
        """The fullest windows left and right of the next cuts."""
        many = block.stop - block.start
        found = np.zeros((many, 2), dtype=np.int64)
        group = self._cuts.group[block]
        rows = self._begin[group + 1] - self._begin[group]
        start = 0
        while start < many:
            # As many cuts as their rows can be repeated for at once, or one.
            run = np.searchsorted(np.cumsum(rows[start:]), AT_ONCE, side="right")
            stop = start + max(int(run), 1)
            found[start:stop] = self._count_some(block.start + start, rows[start:stop])
            start = stop
        return found[:, :1], found[:, 1:]

    def _count_some(self, first: int, rows: Ints) -> Ints:
        cut = np.repeat(np.arange(len(rows)), rows)
        begin = self._begin[self._cuts.group[first : first + len(rows)]]
        behind = np.cumsum(rows) - rows
        at = np.arange(len(cut)) + np.repeat(begin - behind, rows)
        right = self._own.position[at] > self._cuts.cut[first + cut]
        part = 2 * cut + right
        most = find_fullest(
            part, 2 * len(rows), self._place[at], self._stop, self._own.n[at]
        )
        return most.reshape(-1, 2)
