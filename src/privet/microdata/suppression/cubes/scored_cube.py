"""Cubes of classes over all quasi columns, each judged as an audit judges it.

A rule about confidences needs the largest count of a group; a measure such as
t-closeness, or an insider who rules values out, needs all of its values. So whatever a
move would make of a group, the part that is shown and the rest, is written down as a
histogram, and judged by the very code of the audit; see `leading_rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.skyline.incremental import Requirement
from privet.microdata.suppression.cubes.all_classes import AllClasses, ClassRows
from privet.microdata.suppression.cubes.count_cube import mark_covered, sum_running
from privet.microdata.suppression.cubes.protected_counts import (
    ProtectedPeople,
    number_keys,
    sum_by_key,
)
from privet.microdata.suppression.cubes.sparse_cube import (
    PartCells,
    SparseCube,
    SweepOutlook,
    SweptRule,
)
from privet.microdata.suppression.kernels import concatenate_ranges
from privet.microdata.suppression.leading_rules import FindBeyond
from privet.values import contingency
from privet.values.arrays import Flags, Ints
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

AT_ONCE = 2_000_000
"""Numbers of histograms that are written down together."""


class ClassScores:
    """Rules about one column, and how many of everybody have each of its values."""

    def __init__(self, rules: Sequence[FindBeyond], grouped: EquivalenceClasses):
        self._rules = tuple(rules)
        self._about = grouped.about
        everybody = np.zeros(self.values, dtype=np.int64)
        np.add.at(everybody, grouped.value, grouped.n)
        self._everybody = everybody

    @property
    def values(self) -> int:
        """How many values the column has."""
        return len(self._about)

    def find_beyond(self, rows: ClassRows) -> Flags:
        """Which groups break a rule; those of nobody do not."""
        group, value, n, groups = rows
        some = n > 0
        beyond = np.zeros(groups, dtype=bool)
        if not some.any():
            return beyond
        keys, sums = contingency.sum_by_key(
            group[some] * self.values + value[some], n[some]
        )
        domains = Domain("", range(groups)), self._about  # type: ignore[arg-type]
        classes = EquivalenceClasses.from_sorted(domains, keys, sums)
        batch = Batch(classes, self._everybody)
        (number,) = classes.keys.columns()
        for find_beyond in self._rules:
            beyond[number[find_beyond(batch)]] = True
        return beyond


class Histograms(NamedTuple):
    """People by group and value, group after group."""

    value: Ints
    n: Ints
    start: Ints
    """Where each group begins; one more than there are groups."""
    of: Ints
    """The place of each row of people."""

    @classmethod
    def of_groups(cls, people: ProtectedPeople, group: Ints, groups: int) -> Histograms:
        """Count the values of each group."""
        values = people.values
        of, found = number_keys(
            group[people.row] * values + people.value, groups * values
        )
        start = np.searchsorted(found // values, np.arange(groups + 1))
        return cls(found % values, sum_by_key(of, people.n, len(found)), start, of)

    def count_cells(
        self, people: ProtectedPeople, of: Ints, cells: int
    ) -> CellHistograms:
        """Who of them is in which cell, where `of` is the cell of each row."""
        inside = np.flatnonzero(of[people.row] >= 0)
        several = max(len(self.n), 1)
        key, found = number_keys(
            of[people.row[inside]] * several + self.of[inside], cells * several
        )
        n = sum_by_key(key, people.n[inside], len(found))
        cell = found // several
        start = np.searchsorted(cell, np.arange(cells + 1))
        return CellHistograms(cell, found % several, n, start)

    def list_rows(self) -> ClassRows:
        """The same as rows."""
        groups = len(self.start) - 1
        group = np.repeat(np.arange(groups), np.diff(self.start))
        return ClassRows(group, self.value, self.n, groups)


class CellHistograms(NamedTuple):
    """People by cell and place among the histograms, cell after cell."""

    cell: Ints
    place: Ints
    n: Ints
    start: Ints
    """Where each cell begins; one more than there are cells."""

    def list_rows(self, held: Histograms, low: int, high: int) -> ClassRows:
        """Some of the cells as rows."""
        lines = slice(self.start[low], self.start[high])
        value = held.value[self.place[lines]]
        return ClassRows(self.cell[lines] - low, value, self.n[lines], high - low)


class ScoredCube(SparseCube):
    """The equivalence classes over all quasi columns, each judged as a whole.

    It counts as no rule of the search: no confidence of it is a loss of privacy.
    """

    one_by_one = True

    def __init__(
        self,
        attributes: Sequence[int],
        codes: Sequence[Ints],
        fixed: Ints,
        grouped: EquivalenceClasses,
        rules: Sequence[FindBeyond],
        companions: Sequence[Requirement] = (),
    ) -> None:
        self._scores = ClassScores(rules, grouped)
        self._all = AllClasses.empty(companions, self._scores.values)
        self.counts_all = bool(companions)
        self._people = ProtectedPeople(
            np.asarray(grouped.group, dtype=np.int64),
            np.asarray(grouped.value, dtype=np.int64),
            grouped.n,
            self._scores.values,
        )
        super().__init__(attributes, codes, fixed, grouped.total, [], [])

    @classmethod
    def is_needed(
        cls,
        grouped: EquivalenceClasses,
        rules: Sequence[FindBeyond],
        companions: Sequence[Requirement] = (),
    ) -> bool:
        """Whether the classes as they are break a rule; if not, none ever will."""
        scores = ClassScores(rules, grouped)
        group = np.asarray(grouped.group, dtype=np.int64)
        value = np.asarray(grouped.value, dtype=np.int64)
        rows = ClassRows(group, value, grouped.n, len(grouped))
        if scores.find_beyond(rows).any():
            return True
        return not AllClasses.empty(companions, scores.values).add(rows).is_safe()

    def _find_harmful(self, group: Ints, groups: int, size: Ints) -> Flags:
        if self.counts_all:
            held = Histograms.of_groups(self._people, group, groups)
            self._all = self._all.add(held.list_rows())
        return np.ones(groups, dtype=bool)

    def _keep_rows(self, kept: Flags, group: Ints) -> Ints:
        self._people = self._people.keep(kept)
        return super()._keep_rows(kept, group)

    def _count_histograms(self) -> Histograms:
        return Histograms.of_groups(self._people, self._group, len(self._size))

    # Values -------------------------------------------------------------------------

    def _find_broken_parts(self, cells: PartCells) -> Flags:
        cell = cells.of[self._people.row]
        inside = np.flatnonzero(cell >= 0)
        value, n = self._people.value[inside], self._people.n[inside]
        return self._find_beyond(ClassRows(cell[inside], value, n, len(cells.total)))

    def _find_beyond(self, rows: ClassRows) -> Flags:
        """Classes that may not come to be, whatever else there is."""
        beyond = self._scores.find_beyond(rows)
        return beyond | self._all.find_hopeless(rows) if self.counts_all else beyond

    def _begin_rules(self, cells: PartCells, left: Ints) -> list[SweptRule]:
        held, all_ = self._count_histograms(), self._all if self.counts_all else None
        return [ScoredRests(self._scores, all_, held, self._people, cells)]

    def look_at_values(self, attribute: int, place: Ints, several: int) -> SweepOutlook:
        """See `SparseCube`."""
        found = SweepOutlook(np.zeros((0, several)), np.zeros(several, dtype=bool))
        if not self.rows:
            return found
        cells = self._count_cells(attribute, place, several)
        # A value that fills its group changes nothing.
        some = self._size[cells.group] > cells.total
        bad = self._find_broken_parts(cells)
        bad |= self._find_broken_rests(cells, some & ~bad)
        found.broken[cells.value[bad & some]] = True
        return found

    def _find_broken_rests(self, cells: PartCells, asked: Flags) -> Flags:
        """Cells without which the rest of their group breaks a rule.

        A group that keeps every rule without several cells, each of which keeps it,
        keeps it without any one: the others merge with the rest. So all are tried at
        once, and halves where they may not.
        """
        held = self._count_histograms()
        own = held.count_cells(self._people, cells.of, len(cells.total))
        beyond = np.zeros(len(asked), dtype=bool)
        at = np.flatnonzero(asked)
        at = at[np.argsort(cells.group[at], kind="stable")]
        several = np.bincount(cells.group[at])
        several = several[several > 0]
        while len(at):
            bad = self._try_without(held, own, cells.group, at, several)
            alone = bad & (several == 1)
            beyond[at[np.repeat(alone, several)]] = True
            again = bad & ~alone
            at, several = at[np.repeat(again, several)], several[again]
            several = np.stack([several // 2, several - several // 2], axis=1).ravel()
        return beyond

    def _try_without(
        self,
        held: Histograms,
        own: CellHistograms,
        group: Ints,
        at: Ints,
        several: Ints,
    ) -> Flags:
        """Runs of so many cells each without which their group breaks a rule."""
        start = np.cumsum(several) - several
        groups, number = group[at[start]], np.repeat(np.arange(len(several)), several)
        beyond = np.zeros(len(several), dtype=bool)
        for part in split_evenly(np.diff(held.start)[groups]):
            cells = slice(start[part[0]], start[part[-1]] + several[part[-1]])
            rests = subtract_cells(
                held, own, groups[part], at[cells], number[cells] - part[0]
            )
            beyond[part] = self._find_beyond(rests)
        return beyond

    # Cuts ---------------------------------------------------------------------------

    def look_at_cuts(self, attribute: int, asked: Flags) -> SweepOutlook:
        """See `SparseCube`; only what is asked for is looked at."""
        values = len(asked)
        found = SweepOutlook(np.zeros((0, values)), np.zeros(values, dtype=bool))
        cuts = np.flatnonzero(asked)
        if not self.rows or not len(cuts):
            return found
        # Of 5 values with cuts after 1 and 3, the parts are 0 0 1 1 2.
        part = np.searchsorted(cuts, np.arange(values))
        code, parts = part[self._codes[self.attributes.index(attribute)]], len(cuts) + 1
        of, keys = number_keys(self._group * parts + code, len(self._size) * parts)
        group, value = keys // parts, keys % parts
        bad = self._find_broken_cuts(of, group)
        # Behind the last cell of a group nothing is cut off.
        inner = np.flatnonzero(bad[:-1] & (group[1:] == group[:-1]))
        covered = mark_covered(value[inner], value[inner + 1] - 1, parts)
        found.broken[cuts] = covered[:-1]
        return found

    def _find_broken_cuts(self, of: Ints, group: Ints) -> Flags:
        """Cells behind which a cut of their group breaks a rule, on either side."""
        held = self._count_histograms()
        own = held.count_cells(self._people, of, len(group))
        below = np.zeros(len(held.n), dtype=np.int64)  # people of the cells before
        beyond = np.zeros(len(group), dtype=bool)
        for part in split_evenly(np.diff(held.start)[group]):
            cell, place, n = _add_running(held, own, group, part, below)
            value, several = held.value[place], len(part)
            for side in (n, held.n[place] - n):
                rows = ClassRows(cell, value, side, several)
                beyond[part] |= self._find_beyond(rows)
        return beyond

    def allows_sides(self, attribute: int, side: Ints) -> bool:
        """Whether all classes together may be parted so; see `part`."""
        if not (self.counts_all and self.rows):
            return True
        group, several = self._number_sides(attribute, side)
        held = Histograms.of_groups(self._people, group, several)
        return self._all.add(held.list_rows()).is_safe()


def _add_running(
    held: Histograms, own: CellHistograms, group: Ints, part: Ints, below: Ints
) -> tuple[Ints, Ints, Ints]:
    """People up to each cell of a part, by cell and place; `below` grows by the part.

    Of a group with 2 values and 3 cells: 3 numbers for one value, then for the other.
    """
    first, last = int(part[0]), int(part[-1]) + 1
    groups, begin, several = np.unique(
        group[first:last], return_index=True, return_counts=True
    )
    width = np.diff(held.start)[groups]
    place = concatenate_ranges(held.start[groups], held.start[groups + 1])
    cells = np.repeat(several, width)  # per place, how many cells it has here
    offset = np.cumsum(cells) - cells
    start = np.repeat(begin, width)
    number = np.zeros(len(held.n), dtype=np.int64)
    number[place] = np.arange(len(place))
    lines = slice(own.start[first], own.start[last])
    line = number[own.place[lines]]
    n = np.zeros(int(cells.sum()), dtype=np.int64)
    n[offset[line] + own.cell[lines] - first - start[line]] = own.n[lines]
    each = np.repeat(np.arange(len(place)), cells)
    running = sum_running(each, n) + below[place][each]
    np.add.at(below, own.place[lines], own.n[lines])
    cell = np.arange(len(n)) - offset[each] + start[each]
    return cell, place[each], running


class ScoredRests:
    """What is left of groups while cells are taken out of them; see `SweptRule`."""

    def __init__(
        self,
        scores: ClassScores,
        all_: AllClasses | None,
        held: Histograms,
        people: ProtectedPeople,
        cells: PartCells,
    ) -> None:
        self._scores, self._group = scores, cells.group
        self._all = self._after = all_
        self._own = held.count_cells(people, cells.of, len(cells.total))
        self._held = held._replace(n=held.n.copy())

    def fits(self, low: int, high: int, left: Ints) -> bool:
        """Whether groups keep every rule without the cells from low to before high.

        Each state on the way does, too: it merges the rest with cells that do.
        """
        groups, number = np.unique(self._group[low:high], return_inverse=True)
        rests = subtract_cells(
            self._held, self._own, groups, np.arange(low, high), number
        )
        if self._scores.find_beyond(rests).any():
            return False
        if self._all is None:
            return True
        parts = self._own.list_rows(self._held, low, high)
        self._after = self._all.add(parts.join(rests))
        return self._after.is_safe()

    fit = fits

    def take(self, low: int, high: int) -> None:
        """Take these cells out of their groups, as was found to fit just before."""
        self._all = self._after
        lines = slice(self._own.start[low], self._own.start[high])
        np.subtract.at(self._held.n, self._own.place[lines], self._own.n[lines])


def subtract_cells(
    held: Histograms,
    own: CellHistograms,
    groups: Ints,
    cells: Ints,
    number: Ints | None = None,
) -> ClassRows:
    """Groups without cells.

    Cell i is taken from the group at `number[i]`, or at i.
    """
    width = np.diff(held.start)[groups]
    group = np.repeat(np.arange(len(groups)), width)
    place = concatenate_ranges(held.start[groups], held.start[groups + 1])
    n = held.n[place]
    lines = concatenate_ranges(own.start[cells], own.start[cells + 1])
    each = np.arange(len(cells)) if number is None else number
    of = np.repeat(each, np.diff(own.start)[cells])
    offset = np.cumsum(width) - width
    at = offset[of] + own.place[lines] - held.start[groups][of]
    np.subtract.at(n, at, own.n[lines])
    return ClassRows(group, held.value[place], n, len(groups))


def split_evenly(width: Ints) -> Iterator[Ints]:
    """Runs of places that are together about as wide as may be."""
    part = (np.cumsum(width) - width) // AT_ONCE
    ends = np.flatnonzero(np.diff(part, append=-1))
    start = 0
    for end in ends.tolist():
        yield np.arange(start, end + 1)
        start = end + 1
