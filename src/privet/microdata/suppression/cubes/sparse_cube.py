"""Count cubes whose protected values are sparse rows, judged for whole sweeps.

A cube has one row per combination of values of a QID that occurs. Who has a protected
value stands beside it as rows (combination, value, people), at most as many as the
table has, however many values a promise protects; one rule per promise, whose Conf is
the largest over its values. Rows form groups: those that look alike in the release.
Groups that hold no protected value, or one combination only, are dropped: no later
disclosure makes them worse.
Wang, Fung, Yu 2007, §4.2, §4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from privet.microdata.suppression.cubes.count_cube import (
    mark_covered,
    raise_ranges,
    sum_running,
)
from privet.microdata.suppression.cubes.protected_counts import (
    PairCounts,
    ProtectedPeople,
    RuleCells,
    RunningCounts,
    ShareBound,
    count_parts,
    number_keys,
    sum_by_key,
)
from privet.values import exact
from privet.values.arrays import Codes, Flags, Floats, Ints
from privet.values.beliefs import Ceiling, largest_fraction_within

PER_ROW = 4
"""All cells have a place while there are at most so many for each row."""

FEW = 0.8
"""Rows are copied without the dropped ones once no more than this share is left."""


@dataclass(frozen=True)
class SweepOutlook:
    """What showing each of some values, or each cut of a column, would do."""

    confidence: Floats
    """Per rule and value: Conf of the groups it splits."""
    broken: Flags
    """Per value: whether a promise would be broken."""


class PartCells(NamedTuple):
    """The parts of groups that have each candidate value: one cell each."""

    value: Ints
    """Which candidate, in increasing order."""
    group: Ints
    """Which group."""
    total: Ints
    """People in the cell."""
    of: Ints
    """The cell of each row of the cube; -1: none."""

    def select(self, values: Flags) -> PartCells:
        """The cells of some values."""
        kept = values[self.value]
        place = np.where(kept, np.cumsum(kept) - 1, -1)
        of = np.where(self.of >= 0, place[self.of], -1) if len(place) else self.of
        return PartCells(self.value[kept], self.group[kept], self.total[kept], of)


class SweptRule(Protocol):
    """What judges the rests of groups while cells are taken out of them."""

    def fits(self, low: int, high: int, left: Ints) -> bool:
        """Whether the groups keep it without the cells of one value."""

    def fit(self, low: int, high: int, left: Ints) -> bool:
        """Whether they surely do without the cells of several values."""

    def take(self, low: int, high: int) -> None:
        """Take these cells out of their groups."""


class SparseCube:
    """The equivalence classes of one quasi-identifier while columns are swept."""

    one_by_one = False
    """Whether a few cuts are looked at faster than all of them."""

    def __init__(
        self,
        attributes: Sequence[int],
        codes: Sequence[Ints],
        fixed: Ints,
        total: Ints,
        protected: Sequence[ProtectedPeople],
        limits: Sequence[Sequence[Ceiling]],
    ) -> None:
        self.attributes = tuple(attributes)
        self.limits = [tuple(of_rule) for of_rule in limits]
        self._codes: list[Codes] = [np.asarray(c, dtype=np.int32) for c in codes]
        # As floats, which is how numpy sums by key: exact below 2**53.
        self._total = np.asarray(total, dtype=np.float64)
        self._protected = list(protected)
        people = int(self._total.sum())
        self._bounds = [find_bound(of_rule, people) for of_rule in self.limits]
        self._worst = [(0, 1)] * self.rules
        group, groups = number_keys(np.asarray(fixed, dtype=np.int64), None)
        self._settle(group, len(groups))

    @property
    def rules(self) -> int:
        """How many rules, one per promise, the cube is judged by."""
        return len(self.limits)

    @property
    def rows(self) -> int:
        """How many combinations may do harm yet."""
        return len(self._total)

    @property
    def confidences(self) -> list[Fraction]:
        """Conf, the highest confidence, of each rule now."""
        return [Fraction(part, whole) for part, whole in self._worst]

    def worst_group(self, rule: int) -> tuple[int, int]:
        """The counts of the group that attains a rule's confidence."""
        return self._worst[rule]

    def copy(self) -> SparseCube:
        """The same state; what is shown later in one is not shown in the other."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._codes, other._protected = [*self._codes], [*self._protected]
        other._worst = [*self._worst]
        return other

    # Groups -------------------------------------------------------------------------

    def _settle(self, group: Ints, groups: int) -> None:
        """Take new groups to heart, and drop those that do no harm any more."""
        rows = np.bincount(group, minlength=groups)
        size = sum_by_key(group, self._total, groups)
        live = self._find_harmful(group, groups, size) & (rows > 1)
        if live[group].mean() <= FEW if len(group) else False:
            group = self._keep_rows(live[group], group)
            group, kept = number_keys(group, groups)
            size = size[kept]
        self._group, self._size = group, size

    def _find_harmful(self, group: Ints, groups: int, size: Ints) -> Flags:
        """Groups that hold protected values; what is known of the worst grows."""
        found = np.zeros(groups, dtype=bool)
        for r, people in enumerate(self._protected):
            pairs = PairCounts.of_rows(people, group, groups)
            found[pairs.group] = True
            self._raise_worst(r, pairs.n, size[pairs.group])
        return found

    def _raise_worst(self, rule: int, part: Ints, whole: Ints) -> None:
        if not len(whole):
            return
        at = exact.find_highest(part, whole)[0]
        found = int(part[at]), int(whole[at])
        if Fraction(*found) > Fraction(*self._worst[rule]):
            self._worst[rule] = found

    def _keep_rows(self, kept: Flags, group: Ints) -> Ints:
        self._codes = [c[kept] for c in self._codes]
        self._total = self._total[kept]
        self._protected = [people.keep(kept) for people in self._protected]
        return np.asarray(group[kept])

    # Values -------------------------------------------------------------------------

    def _count_cells(self, attribute: int, place: Ints, several: int) -> PartCells:
        """The parts of groups with each candidate; `place` is that of each value."""
        code = self._codes[self.attributes.index(attribute)]
        groups = len(self._size)
        size = several * groups
        if size + groups > PER_ROW * self.rows:
            return self._count_few_cells(place[code], size)
        # Rows of no candidate come behind all others: of 2 candidates and 3 groups,
        # group 1 has the keys 1 and 4, and 7 for the rest.
        key = np.where(place >= 0, place, several).take(code) * groups
        key += self._group
        people = np.bincount(key, weights=self._total, minlength=size + groups)
        found = np.flatnonzero(people[:size])
        number = np.full(size + groups, -1, dtype=np.int64)
        number[found] = np.arange(len(found))
        total = people[found].astype(np.int64)
        return PartCells(found // groups, found % groups, total, number.take(key))

    def _count_few_cells(self, every: Ints, size: int) -> PartCells:
        """The same where few of so many cells occur, by each row's candidate."""
        at, groups = np.flatnonzero(every >= 0), len(self._size)
        key, found = number_keys(every[at] * groups + self._group[at], size)
        of = np.full(self.rows, -1, dtype=np.int64)
        of[at] = key
        total = sum_by_key(key, self._total[at], len(found))
        return PartCells(found // groups, found % groups, total, of)

    def look_at_values(self, attribute: int, place: Ints, several: int) -> SweepOutlook:
        """What showing each of several candidates would do, one at a time.

        `place` is the candidate that each value of the column belongs to; -1: none.
        """
        found = SweepOutlook(
            np.zeros((self.rules, several)), np.zeros(several, dtype=bool)
        )
        if not self.rows:
            return found
        cells = self._count_cells(attribute, place, several)
        left = self._size[cells.group] - cells.total
        # A value that fills its group changes nothing.
        some = np.flatnonzero(left > 0)
        value, whole, rest = cells.value[some], cells.total[some], left[some]
        for r, people in enumerate(self._protected):
            parts = self._count_rule(people, cells)
            one, other = parts.largest_inside()[some], parts.largest_outside()[some]
            share = np.maximum(one / whole, other / rest)
            np.maximum.at(found.confidence[r], value, share)
            bound = self._bounds[r]
            if bound is not None:
                bad = bound.find_beyond(one, whole) | bound.find_beyond(other, rest)
                found.broken[value[bad]] = True
        return found

    def _count_rule(self, people: ProtectedPeople, cells: PartCells) -> RuleCells:
        return count_parts(people, cells.of, cells.group, self._group, len(self._size))

    def _find_broken_parts(self, cells: PartCells) -> Flags:
        """Cells that break a promise whatever else is shown."""
        broken = np.zeros(len(cells.total), dtype=bool)
        for people, bound in zip(self._protected, self._bounds, strict=True):
            if bound is not None:
                inside = self._count_rule(people, cells).largest_inside()
                broken |= bound.find_beyond(inside, cells.total)
        return broken

    def _begin_rules(self, cells: PartCells, left: Ints) -> list[SweptRule]:
        """What judges a sweep over cells, in groups with so many people."""
        rules: list[SweptRule] = []
        for people, bound in zip(self._protected, self._bounds, strict=True):
            if bound is not None:
                parts = self._count_rule(people, cells)
                parts.begin(bound, cells.total, left)
                rules.append(parts)
        return rules

    def open_sweep(self, attribute: int, place: Ints, several: int) -> CubeSweep:
        """Candidates shown one after the other, where that is allowed."""
        return CubeSweep(self, attribute, place, several)

    def _show_cells(self, cells: PartCells, shown: Flags) -> None:
        """Each cell shown becomes a group of its own."""
        if not shown.any():
            return
        groups = len(self._size)
        at = np.flatnonzero(cells.of >= 0)
        at = at[shown[cells.of[at]]]
        group = self._group.copy()
        group[at] = groups + cells.of[at]
        group, found = number_keys(group, groups + len(cells.total))
        self._settle(group, len(found))

    # Cuts ---------------------------------------------------------------------------

    def look_at_cuts(self, attribute: int, asked: Flags) -> SweepOutlook:
        """What cutting an ordered column after some of its values would do.

        A cut between two values that occur in a group cuts it as one right after the
        lower of them would, so what is found there holds for a range of cuts.
        """
        values = len(asked)
        found = SweepOutlook(
            np.zeros((self.rules, values)), np.zeros(values, dtype=bool)
        )
        if not self.rows:
            return found
        code = self._codes[self.attributes.index(attribute)].astype(np.int64)
        of, keys = number_keys(self._group * values + code, len(self._size) * values)
        group, value = keys // values, keys % values
        # Cells with a later one in their group: those a cut can come after.
        inner = np.flatnonzero(group[1:] == group[:-1])
        if not len(inner):
            return found
        first, last = value[inner], value[inner + 1] - 1
        total = sum_by_key(of, self._total, len(keys))
        left = sum_running(group, total)[inner]
        right = self._size[group[inner]] - left
        for r, people in enumerate(self._protected):
            running = RunningCounts.of(people, of, group)
            one, other = running.below[inner], running.above[inner]
            share = np.maximum(one / left, other / right)
            raise_ranges(found.confidence[r], first, last, share)
            bound = self._bounds[r]
            if bound is not None:
                bad = bound.find_beyond(one, left) | bound.find_beyond(other, right)
                found.broken[:] |= mark_covered(first[bad], last[bad], values)
        return found

    def part(self, attribute: int, side: Ints) -> None:
        """Part groups by the sides, 0 or more, that a column's values lie on."""
        if not self.rows:
            return
        group, several = self._number_sides(attribute, side)
        if several > len(self._size):
            self._settle(group, several)

    def _number_sides(self, attribute: int, side: Ints) -> tuple[Ints, int]:
        """The groups that such sides would make, and how many."""
        several = int(side.max()) + 1
        code = self._codes[self.attributes.index(attribute)]
        key = self._group * several + side[code]
        group, found = number_keys(key, len(self._size) * several)
        return group, len(found)


class CubeSweep:
    """One sweep over the cells of a cube.

    The part with a value has its confidence whatever else of the column is shown; only
    the rest of a group couples values. So a running rest per group is all there is.
    """

    def __init__(
        self, cube: SparseCube, attribute: int, place: Ints, several: int
    ) -> None:
        self._cube = cube
        self._cells = cells = cube._count_cells(attribute, place, several)
        self.broken = np.zeros(several, dtype=bool)
        """Which values break a promise whatever else is shown."""
        self.broken[cells.value[cube._find_broken_parts(cells)]] = True

    def begin(self, tried: Flags) -> None:
        """Only some of the values are tried; places are counted among these."""
        cube, place = self._cube, np.cumsum(tried) - 1
        if not tried.all():
            self._cells = self._cells.select(tried)
        cells = self._cells
        value = place[cells.value]
        several = int(tried.sum())
        self._start = np.searchsorted(value, np.arange(several + 1)).tolist()
        self._shown = np.zeros(len(cells.total), dtype=bool)
        self._left = cube._size.copy()
        self._rules = cube._begin_rules(cells, self._left)

    def allows(self, i: int, j: int) -> bool:
        """Whether the values from i to before j surely keep all limits together.

        Of a single value the answer is exact. Where all of them are allowed together,
        each is allowed after those before it, for no state on the way is finer.
        """
        low, high = self._start[i], self._start[j]
        if j - i == 1:
            return all(rule.fits(low, high, self._left) for rule in self._rules)
        return all(rule.fit(low, high, self._left) for rule in self._rules)

    def take(self, i: int, j: int) -> None:
        """Show them."""
        low, high = self._start[i], self._start[j]
        self._shown[low:high] = True
        np.subtract.at(
            self._left, self._cells.group[low:high], self._cells.total[low:high]
        )
        for rule in self._rules:
            rule.take(low, high)

    def close(self) -> None:
        """The sweep is over: what was shown makes groups."""
        self._cube._show_cells(self._cells, self._shown)


def find_bound(limits: Sequence[Ceiling], people: int) -> ShareBound | None:
    """The highest share of at most so many people that keeps all limits; None: any."""
    most = max(people, 1)
    shares = [largest_fraction_within(limit, most) for limit in limits]
    least = min(shares, default=Fraction(1))
    if least >= 1:
        return None
    whole = np.int64 if most * most < 2**62 else object
    return ShareBound(least.numerator, least.denominator, whole)
