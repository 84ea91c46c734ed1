"""SkylineCheck: how sure an insider can be at worst, by a fold that serves all points.

By the congregation property the people known are all in one group, and so are the
companions. The odds against the victim's value fall to the least of three attacks:
everybody who is known in the victim's group (CF1); the companions in another group
(CF2 times CF3); the companions and the people known in another group (CF4 times CF5).
Each needs minima per value over the groups, which only few groups can attain, whatever
k and m are: the fold keeps those equivalence classes whole.
Chen, LeFevre, Ramakrishnan 2007, "SkylineCheck Algorithm"; corrected: minima per value,
and the third attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Floats, Ints, Point, Ruling
from privet.values.contingency import Codes, find_distinct
from privet.values.equivalence_classes import EquivalenceClasses

Rows = NDArray[np.intp]

DENSE = 2**22
"""Cells of a table of (value, count) pairs that is filled instead of sorting rows."""


@dataclass(frozen=True, eq=False)
class RankedValues:
    """Rows (group, value, count) by group, the most frequent value first."""

    start: Rows
    """Where each group begins; one entry more than there are groups."""
    value: Ints
    """The value's code."""
    a: Ints
    """People of the group who have it."""
    total: Ints
    """People of the group, one entry per group."""

    @cached_property
    def group(self) -> Rows:
        """The group of each row."""
        return np.repeat(np.arange(len(self.total)), np.diff(self.start))

    @cached_property
    def b(self) -> Ints:
        """People of the group without the value."""
        return self.total[self.group] - self.a

    @cached_property
    def rank(self) -> Rows:
        """The row's place in its group, from 0."""
        return np.arange(len(self.a)) - self.start[self.group]

    @cached_property
    def _before(self) -> Ints:
        """People counted before each row, with one entry behind the last."""
        return np.concatenate([[0], np.cumsum(self.a)])

    def sum_largest(self, several: int) -> Ints:
        """The sum of each group's largest counts."""
        # Groups 3 2 1 and 4 4: `_before` is 0 3 5 6 10 14; two each are 5 and 8.
        stop = np.minimum(self.start[:-1] + several, self.start[1:])
        return self._before[stop] - self._before[self.start[:-1]]

    def count_tail(self, ruling: Ruling) -> Ints:
        """T: people with neither the row's value nor one that is ruled out.

        A group whose people have several values each may have fewer in the tail than
        it has values: T is never below 0.
        """
        if isinstance(ruling, tuple):
            return self._count_tail_without(ruling)
        # Counts 4 3 2 1 and one value ruled out: T is 3 3 4 5.
        with_it = self.sum_largest(ruling + 1)[self.group]
        beside = self.sum_largest(ruling)[self.group] + self.a
        gone = np.where(self.rank <= ruling, with_it, beside)
        return np.maximum(self.total[self.group] - gone, 0)

    def _count_tail_without(self, codes: tuple[int, ...]) -> Ints:
        out = np.isin(self.value, codes)
        gone = np.zeros(len(self.total), dtype=np.int64)
        np.add.at(gone, self.group[out], self.a[out])
        beside = gone[self.group] + np.where(out, 0, self.a)
        left: Ints = np.maximum(self.total[self.group] - beside, 0)
        return left

    def select_modes(self, rows: Rows) -> Rows:
        """The most frequent of some rows (in their order) in each group."""
        group = self.group[rows]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = group[1:] != group[:-1]  # counts fall: the first is the largest
        return rows[new]


def rank_values(batch: EquivalenceClasses) -> RankedValues:
    """Sort a batch; equal counts stand in the order of their codes."""
    order = _order_by_count(batch.group, batch.n, batch.value)
    return RankedValues(
        batch.start,
        batch.value[order].astype(np.int64, copy=False),
        batch.n[order],
        batch.total,
    )


def _order_by_count(group: Rows, n: Ints, value: Codes) -> Rows:
    """The order of rows by group, falling count, value."""
    if not len(n):
        return np.zeros(0, dtype=np.intp)
    top = int(n.max())
    # Groups rise, so that the last one has the largest number.
    bits = [int(group[-1]).bit_length(), top.bit_length(), len(n).bit_length()]
    if sum(bits) > 62:
        return np.lexsort((value, -n, group))
    # One integer per row that sorts as (group, -count, row); rows of a group stand in
    # the order of their values already. Sorting integers beats sorting positions.
    key = (group << (bits[1] + bits[2])) | ((top - n) << bits[2]) | np.arange(len(n))
    key.sort()
    return key & ((1 << bits[2]) - 1)


# Rows that can decide ---------------------------------------------------------------


def pareto_front(value: Ints, a: Ints, x: Ints) -> Rows:
    """The Pareto front: no other row of the value has a larger or equal a, lower x.

    Of equal rows the first stays.

    >>> value, a, b = np.array([[0, 0, 0, 1], [2, 1, 3, 1], [4, 3, 4, 9]])
    >>> pareto_front(value, a, b)
    array([1, 2, 3])
    """
    rows = np.arange(len(a))
    values = int(value.max(initial=0)) + 1
    limit = max(DENSE // values, 1)
    if len(a) > 1000 and limit > 1:
        rows = np.concatenate(
            [_find_dense_front(value, a, x, values, limit), rows[a >= limit]]
        )
    return np.sort(rows[_find_staircase(value[rows], a[rows], x[rows], rows)])


def _find_dense_front(value: Ints, a: Ints, x: Ints, values: int, limit: int) -> Rows:
    """Rows with a below the limit that no other such row makes superfluous."""
    limit = min(limit, int(a.max()) + 1)
    small = np.flatnonzero(a < limit)
    # table[value, a]: the least x of such rows; above: of those with as large an a.
    cell = value[small] * limit + a[small]
    least = np.full(values * limit, np.iinfo(np.int64).max)
    np.minimum.at(least, cell, x[small])
    table = least.reshape(values, limit)
    above = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1]
    beaten = np.zeros_like(table, dtype=bool)
    beaten[:, :-1] = table[:, :-1] >= above[:, 1:]
    # A view of `least`: no x is -1, so that rows of these cells match no more.
    table[beaten] = -1
    found: Rows = small[least[cell] == x[small]]
    return found


def _find_staircase(value: Ints, a: Ints, x: Ints, rank: Rows) -> Rows:
    order = np.lexsort((rank, x, -a, value))
    value, x = value[order], x[order]
    # Lower than every value's numbers before it, so that each value starts afresh.
    step = x - value * (int(x.max(initial=0)) + 1)
    best = np.minimum.accumulate(step)
    new = np.ones(len(step), dtype=bool)
    new[1:] = step[1:] < best[:-1]
    found: Rows = order[new]
    return found


def pareto_front_of_three(a: Ints, b: Ints, tail: Ints) -> Rows:
    """Rows where no other has a larger or equal a and a lower or equal b and tail."""
    order = np.lexsort((b, tail, -a))
    keep: list[int] = []
    while len(order):
        # The least score cannot be beaten, and beats many others at once.
        # With + 1 a larger a scores lower even where tail and b are 0: 1/3 < 1/2.
        score = (tail[order] + b[order] + 1.0) / a[order]
        best = order[int(np.argmin(score))]
        keep.append(int(best))
        worse = (a[order] <= a[best]) & (b[order] >= b[best])
        order = order[~(worse & (tail[order] >= tail[best]))]
    return np.sort(np.array(keep, dtype=np.intp))


# The fold ---------------------------------------------------------------------------

TOGETHER, WITH_KNOWN, APART = "together", "with known", "apart"
"""Who shares the victim's group: all; those whose value is known; nobody."""


@dataclass(frozen=True)
class InsiderCase:
    """The best attack at one point."""

    odds: Fraction
    """Against the value: R."""
    shape: str
    """Who shares the victim's group: `TOGETHER`, `WITH_KNOWN` or `APART`."""
    value: int
    """The code of the value believed."""
    victim: int
    """The victim's group, among those kept."""
    other: int
    """The companions' group, among those kept."""

    @property
    def belief(self) -> Fraction:
        """How sure the insider is."""
        return closed_forms.belief_from_odds(self.odds)


def _deduplicate(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    return tuple(dict.fromkeys(rulings))


def _sort_codes(protect: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if protect is None else tuple(sorted(set(protect)))


@attrs.frozen(eq=False)
class SkylineCheck:
    """The groups that can decide some skyline point, out of all groups seen.

    ``SkylineCheck(range(4))`` is the empty fold for up to three values ruled out;
    ``left | right`` merges disjoint groups.
    """

    rulings: tuple[Ruling, ...] = attrs.field(converter=_deduplicate)
    """How many values, or which, may be ruled out."""
    protect: tuple[int, ...] | None = attrs.field(default=None, converter=_sort_codes)
    """The codes of the values that matter; None: every value."""
    kept: EquivalenceClasses | None = None
    """The groups that can decide."""
    groups: int = 0
    """Groups seen."""
    people: int = 0
    """People seen."""
    smallest: int = 0
    """People of the smallest group."""
    fewest: int = 0
    """The fewest different values of a group."""

    def add(
        self, batch: EquivalenceClasses, rows: RankedValues | None = None
    ) -> SkylineCheck:
        """With some more whole groups; `rows` are theirs, where they are ranked."""
        if not len(batch):
            return self
        rows = rows or rank_values(batch)
        few = batch.take(find_deciding_groups(rows, self.rulings, self.protect))
        here = attrs.evolve(
            self,
            kept=few,
            groups=len(batch),
            people=int(batch.total.sum()),
            smallest=int(batch.total.min()),
            fewest=int(np.diff(batch.start).min()),
        )
        return self | here

    def __or__(self, other: SkylineCheck) -> SkylineCheck:
        if self.kept is None or other.kept is None:
            return self if other.kept is None else other
        both = self.kept + other.kept
        # Who was beaten in a part is beaten in the whole: only the kept are compared.
        few = both.take(
            find_deciding_groups(rank_values(both), self.rulings, self.protect)
        )
        return attrs.evolve(
            self,
            kept=few,
            groups=self.groups + other.groups,
            people=self.people + other.people,
            smallest=min(self.smallest, other.smallest),
            fewest=min(self.fewest, other.fewest),
        )

    @cached_property
    def _rows(self) -> RankedValues:
        assert self.kept is not None
        return rank_values(self.kept)

    @cached_property
    def _deciding(self) -> dict[Ruling, Rows]:
        return {}

    def _find_deciding_rows(self, ruling: Ruling) -> Rows:
        """The rows that can decide; worked out once per ruling."""
        known = self._deciding
        if ruling not in known:
            parts = find_fronts(self._rows, ruling, self.protect)
            known[ruling] = np.unique(np.concatenate(parts))
        return known[ruling]

    def find_worst(self, point: Point) -> InsiderCase | None:
        """The best attack at a point, exactly; None where no value matters."""
        if self.kept is None:
            return None
        rows, at = self._rows, self._find_deciding_rows(point.l)
        if isinstance(point.l, tuple):
            at = at[~np.isin(rows.value[at], point.l)]
        columns = rows.value[at], rows.a[at], rows.b[at], rows.count_tail(point.l)[at]
        return find_best_attack(columns, rows.group[at], point)

    def belief(self, point: Point) -> Fraction:
        """How sure an insider can be at worst; 0 where no value matters."""
        case = self.find_worst(point)
        return case.belief if case else Fraction(0)


# Groups that attain a minimum -------------------------------------------------------


def select_protected_rows(rows: RankedValues, protect: Sequence[int] | None) -> Rows:
    """The rows whose value is protected."""
    if protect is None:
        return np.arange(len(rows.a))
    return np.flatnonzero(np.isin(rows.value, protect))


def find_deciding_groups(
    rows: RankedValues, rulings: Iterable[Ruling], protect: Sequence[int] | None
) -> Rows:
    """Groups that attain some minimum, for whatever k and m."""
    at = select_protected_rows(rows, protect)
    found = [find_companion_front(rows, at)]
    for ruling in rulings:
        found += find_victim_fronts(rows, at, ruling)
    return np.unique(rows.group[np.concatenate(found)])


def find_fronts(
    rows: RankedValues, ruling: Ruling, protect: Sequence[int] | None
) -> list[Rows]:
    """The rows that attain some minimum of a ruling, for whatever k and m."""
    at = select_protected_rows(rows, protect)
    return [find_companion_front(rows, at), *find_victim_fronts(rows, at, ruling)]


def find_companion_front(rows: RankedValues, at: Rows) -> Rows:
    """The rows where the companions' attacks may be best: CF3 and CF5."""
    return at[pareto_front(rows.value[at], rows.a[at], rows.b[at])]


def find_victim_fronts(rows: RankedValues, at: Rows, ruling: Ruling) -> list[Rows]:
    """The rows where the victim's group may be best: CF2 and CF4; CF1."""
    if isinstance(ruling, tuple):
        at = at[~np.isin(rows.value[at], ruling)]
    tail = rows.count_tail(ruling)
    steps = at[pareto_front(rows.value[at], rows.a[at], tail[at])]
    # The most frequent value of a group is its best for the attack in one group.
    modes = rows.select_modes(at)
    return [steps, modes[find_triple_front(rows.a[modes], rows.b[modes], tail[modes])]]


class Modes(NamedTuple):
    """The most frequent value that matters, group by group."""

    group: Rows
    a: Ints
    b: Ints
    tail: Ints


def find_modes(
    rows: RankedValues, ruling: Ruling, protect: Sequence[int] | None
) -> Modes:
    """The best row of each group for the attack inside it."""
    at = select_protected_rows(rows, protect)
    if isinstance(ruling, tuple):
        at = at[~np.isin(rows.value[at], ruling)]
    at = rows.select_modes(at)
    return Modes(rows.group[at], rows.a[at], rows.b[at], rows.count_tail(ruling)[at])


def find_triple_front(a: Ints, b: Ints, tail: Ints) -> Rows:
    """The front of (a, b, tail), each triple looked at once."""
    # Many groups have the same (a, b, tail).
    first = (
        np.sort(
            find_distinct(
                [a, b, tail], [int(c.max()) + 1 for c in (a, b, tail)], len(a)
            )[0]
        )
        if len(a)
        else np.zeros(0, dtype=np.intp)
    )
    found: Rows = first[pareto_front_of_three(a[first], b[first], tail[first])]
    return found


# From groups to the best attack -----------------------------------------------------


def find_best_attack(
    columns: tuple[Ints, Ints, Ints, Ints], group: Rows, point: Point
) -> InsiderCase | None:
    """The exact least odds over the rows (value, a, b, tail)."""
    value, a, b, tail = columns
    if not len(value):
        return None
    k, m = point.k, point.m
    # Floats find the rows near the least; among those, fractions decide.
    one = closed_forms.cf1_floats(tail, a, b, k, m)
    with_known = _TwoGroupMinima(
        value, closed_forms.cf2_floats(tail, a, k), _compute_cf5(a, b, 0, m)
    )
    apart = _TwoGroupMinima(
        value, closed_forms.cf2_floats(tail, a, 0), _compute_cf5(a, b, k, m)
    )
    least = min(one.min(), with_known.least, apart.least)
    found = [
        (_compute_cf1(tail, a, b, r, point), 0, int(value[r]), r, r)
        for r in np.flatnonzero(one <= _add_tolerance(least)).tolist()
    ]
    for order, (two, near, far) in enumerate([(with_known, k, 0), (apart, 0, k)], 1):
        for s in two.find_near_values(least):
            own = [
                (closed_forms.cf2(int(tail[r]), int(a[r]), near), int(r))
                for r in two.find_near_rows(s, two.left)
            ]
            others = [
                (closed_forms.cf5(int(a[r]), int(b[r]), far, m), int(r))
                for r in two.find_near_rows(s, two.right)
            ]
            # Both minima may fall on one group: its CF1, found above, is no higher.
            (x, r), (y, o) = min(own), min(others)
            found.append((x * y, order, s, r, o))
    best, order, s, r, o = min(found)
    shape = (TOGETHER, WITH_KNOWN, APART)[order]
    return InsiderCase(best, shape, s, int(group[r]), int(group[o]))


def _compute_cf1(tail: Ints, a: Ints, b: Ints, row: int, point: Point) -> Fraction:
    own = int(tail[row]), int(a[row]), int(b[row])
    return closed_forms.cf1(*own, point.k, point.m)


def _compute_cf5(a: Ints, b: Ints, k: int, m: int) -> Floats:
    return closed_forms.cf5_floats(a, b, k, m)


def _add_tolerance(least: float) -> float:
    return float(least * (1 + NEAR))


class _TwoGroupMinima:
    """The minima per value of an attack on two groups, as floats."""

    def __init__(self, value: Ints, left: Floats, right: Floats) -> None:
        self.value, self.left, self.right = value, left, right
        several = int(value.max()) + 1
        self._lefts = np.full(several, np.inf)
        self._rights = np.full(several, np.inf)
        # Per value: the victim's least factor, and the companions', in any two groups.
        np.minimum.at(self._lefts, value, left)
        np.minimum.at(self._rights, value, right)
        self._present = np.flatnonzero(np.isfinite(self._lefts))
        self._products = self._lefts[self._present] * self._rights[self._present]
        self.least = float(self._products.min())

    def find_near_values(self, least: float) -> list[int]:
        """The values whose product may be the least."""
        found: list[int] = self._present[
            self._products <= _add_tolerance(least)
        ].tolist()
        return found

    def find_near_rows(self, s: int, factor: Floats) -> list[int]:
        """The rows of a value whose factor may be its least."""
        rows = np.flatnonzero(self.value == s)
        return rows[factor[rows] <= _add_tolerance(factor[rows].min())].tolist()  # type: ignore[no-any-return]
