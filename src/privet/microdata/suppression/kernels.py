"""The loops of top-down disclosure that take the time, in numpy.

`look_ahead` computes Conf_x, the confidence of each template once x were disclosed;
`split` discloses the winner. Rows of a cube stand group by group: group g has the rows
order[start[g]:stop[g]].
Wang, Fung, Yu 2007, §4.2, §4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.values.arrays import Codes, Flags, Floats, Ints
from privet.values.beliefs import Ceiling

DENSE = 16
"""A table of all group-value pairs is used while it has this many cells per row."""


class ConfidenceLimits(NamedTuple):
    """h of each template: what no confidence may exceed; one entry each."""

    rule: Ints
    """Which rule (template) it limits."""
    near: Floats
    """The limit, rounded to the nearest float."""
    num: NDArray[Any]
    """Its numerator."""
    den: NDArray[Any]
    """Its denominator."""
    strict: Flags
    """Whether reaching it is too much already."""


def compile_limits(rules: Sequence[Sequence[Ceiling]], people: int) -> ConfidenceLimits:
    """The limits of rules on so many people.

    A confidence never exceeds 1, so a limit of 1 is no limit. Products of a limit
    with many digits and a count may pass 64 bits; Python's integers hold them.
    """
    found = [
        (r, limit)
        for r, ceilings in enumerate(rules)
        for limit in ceilings
        if limit.level < 1 or limit.strict
    ]
    levels = [limit.level for _, limit in found]
    largest = max((level.denominator for level in levels), default=1)
    # No numerator is above its denominator: this bounds both products.
    whole = np.int64 if largest * max(people, 1) < 2**63 else object
    return ConfidenceLimits(
        np.array([r for r, _ in found], dtype=np.int64),
        np.array([float(level) for level in levels], dtype=np.float64),
        np.array([level.numerator for level in levels], dtype=whole),
        np.array([level.denominator for level in levels], dtype=whole),
        np.array([limit.strict for _, limit in found], dtype=np.bool_),
    )


class CubeRows(NamedTuple):
    """The rows of a cube."""

    codes: Codes
    """Per row and attribute."""
    counts: Ints
    """Per row: people, then those with each rule's value."""
    order: Ints
    """The rows, group by group."""


class CubeGroups(NamedTuple):
    """Some groups of a cube."""

    start: Ints
    """Where each begins in the order of rows."""
    stop: Ints
    """Where it ends."""
    counts: Ints
    """Per group: people, then those with each rule's value."""

    def take(self, which: Any) -> CubeGroups:
        """Some of them."""
        return CubeGroups(self.start[which], self.stop[which], self.counts[which])

    def join(self, other: CubeGroups) -> CubeGroups:
        """These, then those."""
        return CubeGroups(
            np.concatenate([self.start, other.start]),
            np.concatenate([self.stop, other.stop]),
            np.concatenate([self.counts, other.counts]),
        )


class ValuesToTry(NamedTuple):
    """Which values to look at; those of all attributes are numbered together."""

    attributes: Ints
    """Attributes with such values."""
    offset: Ints
    """The number of each attribute's first value; in the end, how many there are."""
    wanted: Flags
    """Per value: whether to look at it."""


class SplitOff(NamedTuple):
    """What a split took out of each group."""

    rows: Ints
    """How many rows; 0 where the group stays whole."""
    counts: Ints
    """People, then those with each rule's value."""


def concatenate_ranges(start: Ints, stop: Ints) -> Ints:
    """The numbers from start to stop of each group, one after the other.

    >>> concatenate_ranges(np.array([3, 9]), np.array([5, 10]))
    array([3, 4, 9])
    """
    size = stop - start
    ends = np.cumsum(size)
    # In the result groups begin at 0 and 2: shifts of 3 and 7, so 3 4 and 9.
    shift = np.repeat(start - (ends - size), size)
    return np.asarray(np.arange(len(shift)) + shift, dtype=np.int64)


# Looking ahead ----------------------------------------------------------------------


@dataclass(frozen=True)
class GatheredRows:
    """The rows of some groups, gathered for several questions."""

    groups: CubeGroups
    """The groups."""
    local: Ints
    """Which of them each row belongs to."""
    codes: Codes
    """Per row and attribute."""
    total: Floats
    """People per row; as floats, which is how numpy sums by key. Exact below 2**53."""
    having: tuple[tuple[Ints, Floats], ...]
    """Per rule: the rows with people of its value, and how many. Often few."""

    @classmethod
    def of(cls, rows: CubeRows, groups: CubeGroups) -> GatheredRows:
        """Gather the rows of some groups."""
        # Rows of the cube, group after group.
        at = rows.order.take(concatenate_ranges(groups.start, groups.stop))
        local = np.repeat(np.arange(len(groups.start)), groups.stop - groups.start)
        counts = rows.counts.take(at, axis=0)  # several times faster than [at]
        some = [(np.flatnonzero(n), n) for n in counts.T[1:]]
        return cls(
            groups,
            local,
            _take_rows(rows.codes, at),
            counts[:, 0].astype(np.float64),
            tuple((i, n[i].astype(np.float64)) for i, n in some),
        )


def _take_rows(codes: Codes, at: Ints) -> Codes:
    """The codes of some rows, column by column, as they are in memory."""
    taken: Codes = np.empty((len(at), codes.shape[1]), dtype=codes.dtype, order="F")
    for a, column in enumerate(codes.T):
        taken[:, a] = column.take(at)
    return taken


@dataclass(frozen=True)
class ValueCells:
    """People of groups by value: where they are, how many, how many are protected."""

    group: Ints
    """Which of the groups; in increasing order."""
    value: Ints
    """Which value; in increasing order within the group."""
    total: Ints
    """People in the cell."""
    having: tuple[Ints, ...]
    """Those with each rule's value."""


def count_value_cells(seen: GatheredRows, attribute: int, wanted: Flags) -> ValueCells:
    """Sums by group and wanted value of an attribute, in their order."""
    values, code = len(wanted), np.ascontiguousarray(seen.codes[:, attribute])
    # One key per group and value: of 5 values, code 3 in group 2 has key 13.
    key, total = seen.local * values + code, seen.total
    kept = key
    if not wanted.all():
        inside = np.flatnonzero(wanted.take(code))
        kept, total = key.take(inside), total.take(inside)
    there, sums = _sum_occurring(kept, total, len(seen.groups.start) * values)
    having = []
    for some, n in seen.having:
        inside = np.flatnonzero(wanted[code[some]])
        # Whoever has the protected value is in a cell that occurs.
        cell = np.searchsorted(there, key[some[inside]])
        having.append(_sum_by_key(cell, n[inside], len(there)))
    return ValueCells(there // values, there % values, sums, tuple(having))


def _sum_occurring(key: Ints, n: Floats, size: int) -> tuple[Ints, Ints]:
    """The keys that occur, in order, and their sums."""
    # Few rows among many possible keys are sorted; else each key has its place.
    if size > DENSE * len(key):
        there, key = np.unique(key, return_inverse=True)
        return there, _sum_by_key(key.ravel(), n, len(there))
    sums = np.bincount(key, weights=n, minlength=size)
    there = np.flatnonzero(sums)
    return there, sums[there].astype(np.int64)


def _sum_by_key(key: Ints, n: Floats, size: int) -> Ints:
    sums: Ints = np.bincount(key, weights=n, minlength=size).astype(np.int64)
    return sums


def look_ahead(
    rows: CubeRows,
    groups: CubeGroups,
    asked: ValuesToTry,
    limits: ConfidenceLimits,
    confidence: Floats,
    broken: Flags,
) -> None:
    """Conf_x: each value wanted taken out of each group, and what remains of it.

    Raises `confidence` (per rule and value) and marks `broken` (per value). A value
    that fills its group changes nothing.
    """
    seen = GatheredRows.of(rows, groups)
    for a in asked.attributes.tolist():
        own = slice(asked.offset[a], asked.offset[a + 1])
        found = count_value_cells(seen, a, asked.wanted[own])
        try_values(found, groups, limits, confidence[:, own], broken[own])


def try_values(
    found: ValueCells,
    groups: CubeGroups,
    limits: ConfidenceLimits,
    confidence: Floats,
    broken: Flags,
) -> None:
    """Conf_x for the values of one attribute, by its cells in some groups."""
    # Arrays have an entry per cell: the value is inside, the rest of its group outside.
    rest = groups.counts[found.group, 0] - found.total
    for r, part in enumerate(found.having):
        held = groups.counts[found.group, r + 1]
        at = np.flatnonzero((rest > 0) & (held > 0))
        one, other = part[at], held[at] - part[at]
        inside, outside, value = found.total[at], rest[at], found.value[at]
        # 3 of 4 inside and 1 of 8 outside: the confidence would be 3/4.
        first, second = one / inside, other / outside
        np.maximum.at(confidence[r], value, np.maximum(first, second))
        for i in np.flatnonzero(limits.rule == r).tolist():
            over = find_beyond(first, one, inside, limits, i)
            over |= find_beyond(second, other, outside, limits, i)
            broken[value[over]] = True


def find_beyond(
    share: Floats, part: Ints, whole: Ints, limits: ConfidenceLimits, i: int
) -> Flags:
    """Which shares, part / whole rounded, are beyond a limit.

    Rounding keeps the order, so only those that round to the limit itself need a look
    at the integers.
    """
    over = np.asarray(share > limits.near[i])
    ties = np.flatnonzero(share == limits.near[i])
    left = part[ties].astype(limits.den.dtype) * limits.den[i]
    right = whole[ties].astype(limits.num.dtype) * limits.num[i]
    over[ties] = left >= right if limits.strict[i] else left > right
    return over


# Moving -----------------------------------------------------------------------------


def split(
    attribute: int, low: int, high: int, rows: CubeRows, groups: CubeGroups
) -> SplitOff:
    """Disclose a value: rows with codes from low to high go behind the others.

    Rows change places in `rows.order`; apart from that they keep their order.
    """
    row = rows.order.take(concatenate_ranges(groups.start, groups.stop))
    code = rows.codes[:, attribute].take(row)
    inside = (code >= low) & (code <= high)
    size = groups.stop - groups.start
    ends = np.cumsum(size)
    # Per group: how many of its rows go; all of them is none.
    count = np.diff(np.cumsum(inside)[ends - 1], prepend=0)
    count[count == size] = 0
    moved = SplitOff(count, np.zeros_like(groups.counts))
    which = np.flatnonzero(count)
    if len(which):
        inside = inside[concatenate_ranges((ends - size)[which], ends[which])]
        moved.counts[which] = _move_behind(
            inside, groups.take(which), count[which], rows
        )
    return moved


def _move_behind(
    inside: Flags, groups: CubeGroups, moved: Ints, rows: CubeRows
) -> Ints:
    """Put the rows inside behind the others; the sums of their counts by group."""
    size, at = groups.stop - groups.start, concatenate_ranges(groups.start, groups.stop)
    first = np.cumsum(size) - size
    # Rows a b c d with b and d inside: 0 0 1 1 are inside before each, so that a and c
    # move up by 0 and 1, while b and d go 0 and 1 behind the middle: a c b d.
    before: Ints = np.cumsum(inside) - inside
    behind = before - np.repeat(before[first], size)
    middle = np.repeat(groups.stop - moved, size)
    row = rows.order.take(at)
    rows.order[np.where(inside, middle + behind, at - behind)] = row
    taken = rows.counts.take(row[inside], axis=0)
    # Every group here moves at least one row, as reduceat needs.
    sums: Ints = np.add.reduceat(taken, np.cumsum(moved) - moved)
    return sums
