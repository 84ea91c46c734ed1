"""Count cubes of quasi-identifiers (QID-trees), and Conf once a value were disclosed.

A cube has one row per combination of values of a QID that occurs, with its count and,
for each template (called a rule here), the count of people with the protected value.
Rows form groups: the equivalence classes of the release, those that look alike in it.
The paper's value indexed partitions (VIP) over all QIDs together are not needed.
Disclosing a value only ever splits groups, hence

* a group without any protected value can never become a worse one: it is dropped;
* the confidence after disclosing x is the larger of the confidence now and that of the
  two parts of each group that holds x: no released table is ever built;
* these maxima may keep entries of groups that were split since, for a group is never
  worse than the worse of its parts. After a move only the split groups need a look.

Wang, Fung, Yu 2007, §4.2 (disclosing the winner), §4.3 (QID-trees, updating Conf);
corrected as documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from privet.microdata.suppression import kernels
from privet.microdata.suppression.group_histograms import GroupHistograms
from privet.microdata.suppression.kernels import (
    ConfidenceLimits,
    CubeGroups,
    CubeRows,
    ValueCells,
)
from privet.values import exact
from privet.values.arrays import Codes, Flags, Floats, Ints
from privet.values.beliefs import Ceiling


@dataclass
class ConfAfterDisclosure:
    """Conf_x: what disclosing each value x of one attribute would make of one cube."""

    confidence: Floats
    """Per rule and value: the confidence afterwards, as far as it is above the one
    now; for an ordered attribute per cut after the value."""
    broken: Flags
    """Per value: whether some promise would be broken."""

    @classmethod
    def empty(cls, values: int, rules: int) -> ConfAfterDisclosure:
        """Nothing seen yet."""
        return cls(np.zeros((rules, values)), np.zeros(values, dtype=bool))


class Cube:
    """The equivalence classes of one quasi-identifier while values are disclosed."""

    _histograms: GroupHistograms | None = None
    _split = False

    def __init__(
        self,
        attributes: Sequence[int],
        codes: Sequence[Ints],
        fixed: Ints,
        total: Ints,
        protected: Ints,
        limits: Sequence[Sequence[Ceiling]],
    ) -> None:
        self.attributes = tuple(attributes)
        self.limits = [tuple(of_rule) for of_rule in limits]
        self._rows, self._groups = group_rows(codes, fixed, total, protected)
        self._limits = kernels.compile_limits(self.limits, int(total.sum()))
        self._worst = [(0, 1)] * self.rules
        self._groups = self._judge_groups(self._groups)

    @property
    def rules(self) -> int:
        """How many rules, templates of its QID, the cube is judged by."""
        return len(self.limits)

    @property
    def confidences(self) -> list[Fraction]:
        """Conf(QID → value), the highest confidence, of each rule now."""
        return [Fraction(part, whole) for part, whole in self._worst]

    def holds(self) -> bool:
        """Whether every rule holds now."""
        return not any(
            limit.level <= now if limit.strict else limit.level < now
            for now, limits in zip(self.confidences, self.limits, strict=True)
            for limit in limits
        )

    def worst_group(self, rule: int) -> tuple[int, int]:
        """The counts of the group that attains a rule's confidence."""
        return self._worst[rule]

    def _judge_groups(self, groups: CubeGroups) -> CubeGroups:
        """Take the confidences of new groups to heart; those that may do harm yet."""
        for r, (part, whole) in enumerate(self._worst):
            found = _find_highest(groups.counts[:, r + 1], groups.counts[:, 0])
            if Fraction(*found) > Fraction(part, whole):
                self._worst[r] = found
        return groups.take(_find_harmful(groups))

    # Looking ahead ------------------------------------------------------------------

    def view(self) -> CubeGroups:
        """All groups that may still do harm."""
        return self._groups

    def look_ahead(
        self, groups: CubeGroups, wanted: Sequence[Flags], ordered: Sequence[bool]
    ) -> list[ConfAfterDisclosure]:
        """What disclosing each wanted value would do, as far as some groups tell.

        Wanted values and outlooks are given per attribute of the cube. Of an ordered
        attribute, what cutting after each value would do.
        """
        offset = np.cumsum([0, *map(len, wanted)])
        found = ConfAfterDisclosure.empty(int(offset[-1]), self.rules)
        own = [
            ConfAfterDisclosure(found.confidence[:, i:j], found.broken[i:j])
            for i, j in pairwise(offset.tolist())
        ]
        if len(groups.start) == 0:
            return own
        asked = [a for a, w in enumerate(wanted) if w.any() and not ordered[a]]
        held = self._hold_histograms(groups, wanted, ordered)
        if held is not None:
            for a in asked:
                cells = held.list_cells(a, wanted[a])
                kernels.try_values(
                    cells, groups, self._limits, own[a].confidence, own[a].broken
                )
        elif asked:
            every = kernels.ValuesToTry(np.array(asked), offset, np.concatenate(wanted))
            kernels.look_ahead(
                self._rows,
                groups,
                every,
                self._limits,
                found.confidence,
                found.broken,
            )
        if any(ordered):
            seen = kernels.GatheredRows.of(self._rows, groups)
            for a in np.flatnonzero(ordered).tolist():
                cells = kernels.count_value_cells(seen, a, wanted[a])
                _try_cuts(cells, groups, self._limits, own[a])
        return own

    def _hold_histograms(
        self, groups: CubeGroups, wanted: Sequence[Flags], ordered: Sequence[bool]
    ) -> GroupHistograms | None:
        """The histograms of some groups, begun with all of them; None: of no use."""
        held = self._histograms
        if held is None and groups is self._groups and not self._split:
            sizes = [0 if o else len(w) for w, o in zip(wanted, ordered, strict=True)]
            if GroupHistograms.fit(sizes, self._rows, len(groups.start)):
                self._histograms = held = GroupHistograms(sizes, self._rows, groups)
        return held if held is not None and held.knows(groups) else None

    # Moving -------------------------------------------------------------------------

    def split(self, attribute: int, low: int, high: int) -> CubeGroups:
        """Part the rows with codes from low to high from the rest of their groups.

        What became of the groups that were split is returned, unless it is harmless.
        """
        at, groups, self._split = self.attributes.index(attribute), self._groups, True
        if self._histograms is not None and not self._histograms.has_room():
            self._histograms = None
        looked = self._find_parted(at, low, high)
        moved = kernels.split(at, low, high, self._rows, groups.take(looked))
        parted = moved.rows > 0
        touched = np.zeros(len(groups.start), dtype=bool)
        touched[looked[parted]] = True
        before, taken = groups.take(touched), moved.counts[parted]
        # Rows from start to middle stay, those from middle to stop went.
        middle = before.stop - moved.rows[parted]
        outside = CubeGroups(before.start, middle, before.counts - taken)
        inside = CubeGroups(middle, before.stop, taken)
        parts = self._judge_groups(outside.join(inside))
        if self._histograms is not None:
            self._histograms.split(touched, outside, inside)
            kept = _find_harmful(outside.join(inside))
            self._histograms.keep(len(middle), kept, parts.start)
        self._groups = groups.take(~touched).join(parts)
        return parts

    def _find_parted(self, at: int, low: int, high: int) -> Ints:
        """Groups that a split may part: those that are known to be, or all."""
        if self._histograms is None or not self._histograms.counts(at):
            return np.arange(len(self._groups.start))
        people = self._groups.counts[:, 0]
        return self._histograms.find_parted(at, low, high, people)


def group_rows(
    codes: Sequence[Ints], fixed: Ints, total: Ints, protected: Ints
) -> tuple[CubeRows, CubeGroups]:
    """Rows in the order of their groups; what is fixed makes the first groups."""
    counts = np.column_stack([total, protected]).astype(np.int64)
    order = np.argsort(fixed, kind="stable")
    sorted_ = fixed[order]
    # A group begins wherever the fixed number changes.
    start = np.flatnonzero(np.diff(sorted_, prepend=sorted_[:1] - 1))
    stop = np.append(start[1:], len(total))[: len(start)]
    sums = np.add.reduceat(counts[order], start) if len(start) else counts
    rows = CubeRows(_stack_codes(codes, len(total)), counts, order)
    return rows, CubeGroups(start, stop, sums)


def _stack_codes(codes: Sequence[Ints], rows: int) -> Codes:
    """Codes as one table, a row each; narrow, and column by column in memory."""
    most = max((int(c.max(initial=0)) for c in codes), default=0)
    table: Codes = np.empty((rows, len(codes)), np.min_scalar_type(most), order="F")
    for a, column in enumerate(codes):
        table[:, a] = column
    return table


def _find_harmful(groups: CubeGroups) -> Flags:
    """Which groups have protected values; parts of others have none either."""
    return np.asarray(groups.counts[:, 1:].any(axis=1))


def _find_highest(part: Ints, whole: Ints) -> tuple[int, int]:
    if len(whole) == 0:
        return 0, 1
    at = exact.find_highest(part, whole)[0]
    return int(part[at]), int(whole[at])


# Cuts of ordered attributes ---------------------------------------------------------


def _try_cuts(
    cells: ValueCells,
    groups: CubeGroups,
    limits: ConfidenceLimits,
    found: ConfAfterDisclosure,
) -> None:
    """Each group cut after each of its values but the last.

    A cut between two values that occur in the group cuts it as one right after the
    lower of them would, so what is found there holds for a range of cuts.
    """
    # Cells with a later one in their group: those a cut can come after.
    inner = np.flatnonzero(cells.group[1:] == cells.group[:-1])
    if len(inner) == 0:
        return
    # A group with values 3 and 7 is cut alike after 3, 4, 5 and 6.
    first, last = cells.value[inner], cells.value[inner + 1] - 1
    left = sum_running(cells.group, cells.total)[inner]
    right = groups.counts[cells.group[inner], 0] - left
    for r, having in enumerate(cells.having):
        part = sum_running(cells.group, having)[inner]
        other = groups.counts[cells.group[inner], r + 1] - part
        one, two = part / left, other / right
        raise_ranges(found.confidence[r], first, last, np.maximum(one, two))
        for i in np.flatnonzero(limits.rule == r).tolist():
            bad = kernels.find_beyond(one, part, left, limits, i)
            bad |= kernels.find_beyond(two, other, right, limits, i)
            found.broken |= mark_covered(first[bad], last[bad], len(found.broken))


def sum_running(group: Ints, n: Ints) -> Ints:
    """Running sums that begin anew with each group."""
    # Groups 0 0 1 with 2 3 4 people: 2 5 9, less 0 0 5 from before.
    sums = np.cumsum(n)
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    before = np.repeat(sums[first] - n[first], np.diff(np.r_[first, len(group)]))
    return np.asarray(sums - before)


def raise_ranges(level: Floats, first: Ints, last: Ints, to: Floats) -> None:
    """Raise level[first..last] to at least `to`, for many ranges at once.

    Each range is covered by two blocks whose length is a power of two; blocks are
    then pushed down level by level.
    """
    size = len(level)
    # From 2 to 7 are 6: two blocks of 4 = 2**depth, which begin at 2 and at 4.
    depth = np.frexp((last - first + 1).astype(np.float64))[1].astype(np.int64) - 1
    blocks = np.zeros((int(depth.max()) + 1, size))
    np.maximum.at(blocks, (depth, first), to)
    np.maximum.at(blocks, (depth, last - (1 << depth) + 1), to)
    for d in range(len(blocks) - 1, 0, -1):
        # A block of 4 at 2 is one of 2 at 2 and one of 2 at 4.
        half = 1 << (d - 1)
        np.maximum(blocks[d - 1], blocks[d], out=blocks[d - 1])
        np.maximum(
            blocks[d - 1][half:], blocks[d][: size - half], out=blocks[d - 1][half:]
        )
    np.maximum(level, blocks[0], out=level)


def mark_covered(first: Ints, last: Ints, size: int) -> Flags:
    """Which positions lie in some range."""
    # One more where a range begins, one less behind its end.
    edges = np.zeros(size + 1, dtype=np.int64)
    np.add.at(edges, first, 1)
    np.add.at(edges, last + 1, -1)
    return np.cumsum(edges[:-1]) > 0
