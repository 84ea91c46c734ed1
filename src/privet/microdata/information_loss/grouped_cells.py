"""The cells of a table in groups: each distinct row is in one, which shows one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet.engine.protocol import Run
from privet.microdata.generalisation import domain_order
from privet.microdata.generalisation.domain_order import OrderedDomain
from privet.microdata.generalisation.forms import BUCKETS
from privet.microdata.information_loss.cell_counts import (
    ORDERED,
    CellCounts,
    MeasuredColumn,
    WholeRows,
    find_changed,
)
from privet.microdata.information_loss.pair_tables import Pair, sum_pairs
from privet.microdata.information_loss.row_samples import RowSample, draw_rows
from privet.microdata.information_loss.value_sets import ValueSets
from privet.microdata.release import Release
from privet.values.arrays import Floats, Ints
from privet.values.contingency import (
    JOINT_ROWS,
    find_distinct,
    sum_columns,
    sum_equal_rows,
)

MOST_KEPT = 500_000
"""Columns of tables with more distinct rows are read anew for each figure, …"""

NARROW = 2
"""… unless their integers take so few bytes."""


class GroupedCells:
    """A table in groups: its distinct rows, and what each group shows."""

    def __init__(self, release: Release) -> None:
        """Look at the groups of a release."""
        assert release.grouped is not None
        self._partition = release.grouped.partition
        self._cells = self._partition.cells
        self._group = _find_groups(len(self._cells), self._partition.leaves)
        self._n = self._cells[:, -1].astype(np.int64)
        whole = bool((self._group >= 0).all())
        self._released = self._n if whole else np.where(self._group >= 0, self._n, 0)
        self._people = self._partition.leaves[:, 2].astype(np.int64)
        self._shown = release.grouped.rows
        self._parted = parted = self._list_parted(release)
        self._at = {
            d.name: j
            for j, d in enumerate(
                [
                    *(a.domain for a in self._partition.attributes),
                    *self._partition.others,
                ]
            )
        }
        names = [c for c in release._private.schema.names if c in self._at]
        self._of_group: dict[str, Ints] = {}
        self._kept: dict[tuple[str, str], Ints] = {}
        self.columns = tuple(
            self._describe_known(self._partition.attributes[self._at[c]], release)
            if self._at[c] < len(self._partition.attributes)
            else self._describe_other(c, c in parted)
            for c in names
        )

    @staticmethod
    def _list_parted(release: Release) -> tuple[str, ...]:
        grouped = release.grouped
        assert grouped is not None
        return release._private.roles.sensitive if grouped.form == BUCKETS else ()

    def _describe_known(
        self, attribute: OrderedDomain, release: Release
    ) -> MeasuredColumn:
        grouped, size = release.grouped, len(attribute)
        assert grouped is not None
        sets, label = ValueSets.singles(size), np.arange(size)
        if grouped.form != BUCKETS:
            runs, self._of_group[attribute.name] = self._partition.list_sets(
                self._at[attribute.name]
            )
            lines = [(i, a, b) for i, run in enumerate(runs) for a, b in run]
            sets = ValueSets.evenly(size, lines, np.zeros(len(runs), dtype=bool))
            if size > 1:
                sets = replace(sets, blank=sets.size == size)
        return MeasuredColumn(
            attribute.name,
            attribute.domain,
            attribute.codes,
            sets,
            ordered=attribute.kind == domain_order.ORDERED,
            known=True,
            label=label if grouped.form == BUCKETS else None,
        )

    def _describe_other(self, column: str, parted: bool) -> MeasuredColumn:
        at = self._at[column]
        domain = self._partition.others[at - len(self._partition.attributes)]
        sets = ValueSets.singles(len(domain))
        if parted:
            there = self._group >= 0
            value = self._cells[there, at].astype(np.int64)
            sets = ValueSets.from_histograms(
                self._group[there], value, self._n[there], len(domain)
            )
            self._of_group[column] = np.arange(len(self._partition))
        return MeasuredColumn(
            column,
            domain,
            np.arange(len(domain)),
            sets,
            ordered=domain.kind in ORDERED,
            known=False,
            parted=parted,
        )

    def _places(self, column: str) -> Ints:
        """The place of each row's value, in integers as narrow as those of the cells.

        Side by side in memory, unless the cells are in a file for want of it.
        """
        own: Ints = self._cells[:, self._at[column]]
        if isinstance(self._cells, np.memmap):
            return own
        return self._keep(("place", column), lambda: np.ascontiguousarray(own))

    def _labels(self, column: str) -> Ints:
        """The released text of each row; of those left out the first."""
        of_group = self._of_group.get(column)
        if of_group is None:
            return self._places(column)
        return self._keep(("text", column), lambda: self._show_groups(of_group))

    def _show_groups(self, of_group: Ints) -> Ints:
        """What each group shows, at each of its rows."""
        few = of_group.max(initial=0) < 2**15
        narrow: Ints = of_group.astype(np.int16 if few else np.int32)
        return narrow[np.maximum(self._group, 0)]

    def _keep(self, key: tuple[str, str], find: Callable[[], Any]) -> Ints:
        """A column side by side in memory; kept where the table is not large."""
        if key in self._kept:
            return self._kept[key]
        found: Ints = find()
        if len(found) <= MOST_KEPT or found.itemsize <= NARROW:
            self._kept[key] = found
        return found

    def _tell(self, names: Sequence[str]) -> CellCounts:
        places = tuple(self._places(c) for c in names)
        apart = places if all(c in self._parted for c in names) else ()
        if not apart and all(c in self._of_group for c in names):
            # A group shows the same of all its people: there are fewer of these.
            labels = tuple(self._of_group[c] for c in names)
            return CellCounts(places, self._n, labels, self._people)
        labels = tuple(self._labels(c) for c in names)
        return CellCounts(places, self._n, labels, self._released, apart)

    def count_columns(self, run: Run) -> dict[str, CellCounts]:
        """Every column alone."""
        places = [self._places(c.name) for c in self.columns]
        sums = sum_columns(places, [c.places for c in self.columns], self._n)
        return {
            c.name: replace(self._tell([c.name]), joint=own)
            for c, own in zip(self.columns, sums, strict=True)
        }

    def count_pairs(
        self, pairs: Sequence[Pair], run: Run
    ) -> Iterator[tuple[Pair, CellCounts]]:
        """Two columns at a time; of many rows several columns are added up at once."""
        many = len(self._n) > JOINT_ROWS and not self._parted
        joint = self._join_values(pairs) if many else {}
        run.check()
        shown = self._join_texts(pairs) if many else {}
        for pair in pairs:
            run.check()
            counts = self._tell(pair)
            yield pair, replace(counts, joint=joint.get(pair), shown=shown.get(pair))

    def _join_values(self, pairs: Sequence[Pair]) -> dict[Pair, Floats]:
        """Rows by the values of each pair."""
        places = {c.name: self._places(c.name) for c in self.columns}
        return sum_pairs(
            places, {c.name: c.places for c in self.columns}, self._n, pairs
        )

    def _join_texts(self, pairs: Sequence[Pair]) -> dict[Pair, Floats]:
        """Released rows by the texts of pairs that groups do not tell alone."""
        size = {c.name: c.sets.count for c in self.columns}
        found: dict[Pair, Floats] = {}
        for column in self._of_group:
            own = [p for p in pairs if column in p and not {*p} <= {*self._of_group}]
            texts = {
                c: self._labels(c) for c in dict.fromkeys(c for p in own for c in p)
            }
            found |= sum_pairs(texts, size, self._released, own)
        return found

    def count_whole(self, run: Run) -> WholeRows:
        """Groups and whole rows, as the file shows them."""
        known = [c for c in self.columns if c.known]
        if self._parted or any(c.name not in self._of_group for c in known):
            return self._count_rows_apart(run)
        codes = [self._of_group[c.name] for c in known]
        first, look = find_distinct(
            codes, [c.sets.count for c in known], len(self._people)
        )
        # Other columns show every value as it is.
        blank = np.ones(len(first), dtype=bool)
        changed = np.zeros(len(first), dtype=bool)
        for column, code in zip(known, codes, strict=True):
            blank &= column.sets.blank[code[first]]
            changed |= find_changed(column)[code[first]]
        people = np.bincount(look, weights=self._people).astype(np.int64)
        run.check()
        after = self._count_rows_alike(look, len(first))
        return WholeRows(
            people,
            people[blank],
            int(people[changed].sum()),
            self._count_distinct_rows(),
            after,
        )

    def _count_rows_alike(self, look: Ints, looks: int) -> Ints:
        """Released rows by what their group looks like, and the values beside it.

        Those of a group were added up when it was shown: where no two groups look
        alike they only change their order.
        """
        rows = self._shown
        assert rows is not None
        if looks < len(look):
            return _sum_alike([look[rows.group], *rows.codes], rows.n)
        return rows.n[rows.list_lines(np.argsort(look))]

    def _count_distinct_rows(self) -> Ints:
        """Rows of the table that are alike; those of the cells are distinct."""
        if len(self.columns) == self._cells.shape[1] - 1:
            return self._n
        return _sum_alike([self._places(c.name) for c in self.columns], self._n)

    def _count_rows_apart(self, run: Run) -> WholeRows:
        """The same for buckets, which show people's known values as they are."""
        there = self._group >= 0
        n = self._n[there]
        labels = {c.name: self._labels(c.name)[there] for c in self.columns}
        changed = np.zeros(len(n), dtype=bool)
        for column in self.columns:
            changed |= find_changed(column)[labels[column.name]]
        people, blank = self._size_groups(labels, n)
        run.check()
        before = _sum_alike([self._places(c.name) for c in self.columns], self._n)
        # Buckets show no row whole: who has which value is open inside a group.
        beside = [labels[c.name] for c in self.columns if not c.parted]
        parted = [self._places(c.name)[there] for c in self.columns if c.parted]
        after = _sum_alike([*beside, *parted], n)
        open_ = _measure_parted(self._group[there], parted, n) if parted else 0.0
        return WholeRows(people, blank, int(n[changed].sum()), before, after, open_)

    def _size_groups(self, labels: Mapping[str, Ints], n: Ints) -> tuple[Ints, Ints]:
        """Rows that look alike in the known columns; those that show nothing."""
        known = [c for c in self.columns if c.known]
        if any(c.parted for c in self.columns):
            return self._people, self._people[:0]
        sizes = [c.sets.count for c in known]
        codes, people = sum_equal_rows([labels[c.name] for c in known], sizes, n)
        blank = np.ones(len(people), dtype=bool)
        for column, code in zip(known, codes, strict=True):
            blank &= column.sets.blank[code]
        return people, people[blank]

    def sample(self, run: Run) -> RowSample | None:
        """Rows drawn by what they hold, so that it is always the same ones."""
        codes = [c.codes[self._places(c.name)] for c in self.columns]
        kept = draw_rows(codes, self._n)
        there = kept > 0
        return RowSample(
            {
                c.name: self._places(c.name)[there].astype(np.int64)
                for c in self.columns
            },
            {
                c.name: self._labels(c.name)[there].astype(np.int64)
                for c in self.columns
            },
            kept[there],
            self._group[there] >= 0,
            bool(kept.sum() < self._n.sum()),
        )


def _find_groups(rows: int, leaves: Ints) -> Ints:
    """The group of each distinct row; -1: it is left out."""
    spans = (leaves[:, 1] - leaves[:, 0]).astype(np.int64)
    number: Ints = np.arange(len(leaves)).astype(np.int32)
    owner = np.repeat(number, spans)
    if len(owner) == rows and (leaves[1:, 0] == leaves[:-1, 1]).all():
        return owner
    found: Ints = np.full(rows, -1).astype(np.int32)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(spans) - spans, spans)
    found[leaves[:, 0][owner] + offset] = owner
    return found


def _sum_alike(codes: Sequence[Ints], n: Ints) -> Ints:
    """How many rows are alike in all of these."""
    sizes = [int(c.max(initial=0)) + 1 for c in codes]
    return sum_equal_rows(codes, sizes, n)[1]


def _measure_parted(group: Ints, values: Sequence[Ints], n: Ints) -> float:
    """Bits that tell which of a group's values a person has, on average over rows."""
    both = _sum_alike([group, *values], n)
    alone = _sum_alike([group], n)
    return float((alone * np.log2(alone)).sum() - (both * np.log2(both)).sum())
