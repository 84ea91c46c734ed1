"""What another program released: a name per known cell, beside the private rows.

It is measured as our own releases are, and judged as a stranger would: the rows as they
are shown, read as a table in groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import attrs
import numpy as np
import pyarrow as pa

from privet.comparison.peers.coded_table import NUMBERS, CodedTable
from privet.engine.protocol import Run
from privet.findings import Audit
from privet.microdata.information_loss.cell_counts import (
    CellCounts,
    MeasuredColumn,
    WholeRows,
    find_changed,
)
from privet.microdata.information_loss.pair_tables import Pair
from privet.microdata.information_loss.row_samples import RowSample, draw_rows
from privet.microdata.information_loss.value_sets import ValueSets
from privet.policy import Policy
from privet.release.audit import audit
from privet.table import ReleasedAs, Table, read
from privet.values.arrays import Flags, Ints
from privet.values.contingency import sum_equal_rows
from privet.values.schema import Roles


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """What a program shows of one known column."""

    label: Ints
    """The name of each row, by number; of rows left out any."""
    places: tuple[tuple[int, ...], ...]
    """The values that each name stands for, as places in order."""


@dataclass(frozen=True, eq=False)
class LabelledCells:
    """Rows as they are and as another program shows them."""

    table: CodedTable
    """The private rows."""
    shown: tuple[NamedColumn, ...]
    """The known columns, as they are shown."""
    there: Flags
    """Which rows are released."""
    binned: frozenset[str] = frozenset()
    """Columns whose values are bins."""

    @cached_property
    def columns(self) -> tuple[MeasuredColumn, ...]:
        """All columns that are released, the known ones first."""
        made = []
        for i, domain in enumerate(self.table.rows.domains):
            known = i < len(self.shown)
            sets = ValueSets.singles(len(domain))
            if known:
                sets = _make_sets(len(domain), self.shown[i].places)
            made.append(
                MeasuredColumn(
                    domain.name,
                    domain,
                    np.arange(len(domain)),
                    sets,
                    ordered=domain.kind in NUMBERS or domain.name in self.binned,
                    known=known,
                )
            )
        return tuple(made)

    @cached_property
    def _lines(self) -> tuple[list[Ints], list[Ints], Ints, Flags]:
        """Distinct rows: their places, their names, how many, whether released."""
        codes = list(self.table.rows.codes)
        names = [np.where(self.there, s.label, 0) for s in self.shown]
        both = [*codes, *names, self.there.astype(np.int64)]
        sizes = [int(c.max(initial=0)) + 1 for c in both]
        found, n = sum_equal_rows(both, sizes, self.table.rows.n)
        places = [np.asarray(c, dtype=np.int64) for c in found[: len(codes)]]
        label = [np.asarray(c, dtype=np.int64) for c in found[len(codes) : -1]]
        return places, [*label, *places[len(label) :]], n, found[-1] > 0

    def _tell(self, at: Sequence[int]) -> CellCounts:
        places, labels, n, there = self._lines
        shown = np.where(there, n, 0)
        return CellCounts(
            tuple(places[i] for i in at), n, tuple(labels[i] for i in at), shown
        )

    def count_columns(self, run: Run) -> dict[str, CellCounts]:
        """Every column alone."""
        return {c.name: self._tell([i]) for i, c in enumerate(self.columns)}

    def count_pairs(
        self, pairs: Sequence[Pair], run: Run
    ) -> Iterator[tuple[Pair, CellCounts]]:
        """Two columns at a time."""
        at = {c.name: i for i, c in enumerate(self.columns)}
        for pair in pairs:
            run.check()
            yield pair, self._tell([at[c] for c in pair])

    def count_whole(self, run: Run) -> WholeRows:
        """Groups and whole rows."""
        places, labels, n, there = self._lines
        names, left = [label[there] for label in labels], n[there]
        changed = np.zeros(len(left), dtype=bool)
        for column, name in zip(self.columns, names, strict=True):
            changed |= find_changed(column)[name]
        known = [c for c in self.columns if c.known]
        sizes = [c.sets.count for c in known]
        codes, people = sum_equal_rows(names[: len(known)], sizes, left)
        blank = np.ones(len(people), dtype=bool)
        for column, code in zip(known, codes, strict=True):
            blank &= column.sets.blank[code]
        return WholeRows(
            people,
            people[blank],
            int(left[changed].sum()),
            _sum_alike(places, n),
            _sum_alike(names, left),
        )

    def sample(self, run: Run) -> RowSample | None:
        """Rows drawn by what they hold, so that it is always the same ones."""
        places, labels, n, there = self._lines
        kept = draw_rows(places, n)
        some = kept > 0
        called = [c.name for c in self.columns]
        return RowSample(
            {c: p[some] for c, p in zip(called, places, strict=True)},
            {c: label[some] for c, label in zip(called, labels, strict=True)},
            kept[some],
            there[some],
            bool(kept.sum() < n.sum()),
        )

    def judge(self, private: Table, policy: Policy) -> Audit:
        """Our audit of what was released."""
        with self._open(private) as shown:
            asked = attrs.evolve(
                policy,
                roles=shown.roles,
                where={},
                person=None,
                hierarchies={},
                views=(),
                earlier=(),
                ledger="",
                origin=None,
            )
            return audit(shown, asked)

    def _open(self, private: Table) -> Table:
        """The released rows as a table in groups; names in place of values."""
        columns: dict[str, list[str | None]] = {}
        for i, domain in enumerate(self.table.rows.domains):
            if i < len(self.shown):
                code = self.shown[i].label[self.there].tolist()
                columns[domain.name] = [f"#{name}" for name in code]
            else:
                texts = list(domain.labels)
                code = self.table.rows.codes[i][self.there].tolist()
                columns[domain.name] = [texts[c] for c in code]
        made = pa.table({c: pa.array(v, pa.string()) for c, v in columns.items()})
        opened = read(made)
        roles = _keep_roles(private.roles, opened.schema.names)
        shown = ReleasedAs(roles.quasi, roles.quasi)
        return replace(opened.with_roles(roles), shown=shown, derived=private.derived)


def _keep_roles(roles: Roles, names: Sequence[str]) -> Roles:
    """The roles of the columns that are released."""
    target = roles.target if roles.target in names else None
    return Roles(
        quasi=tuple(c for c in roles.quasi if c in names),
        sensitive=tuple(c for c in roles.sensitive if c in names),
        other=tuple(c for c in roles.other if c in names),
        target=target,
    )


def _make_sets(values: int, places: Sequence[tuple[int, ...]]) -> ValueSets:
    runs = [
        (i, first, last)
        for i, some in enumerate(places)
        for first, last in _list_runs(some)
    ]
    blank = np.array([values > 1 and len(some) == values for some in places])
    return ValueSets.evenly(values, runs, blank)


def _list_runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbours as one run: 1 2 3 7 are 1 to 3 and 7 to 7."""
    first = last = places[0]
    for place in places[1:]:
        if place != last + 1:
            yield first, last
            first = place
        last = place
    yield first, last


def _sum_alike(codes: Sequence[Ints], n: Ints) -> Ints:
    sizes = [int(c.max(initial=0)) + 1 for c in codes]
    return sum_equal_rows(codes, sizes, n)[1]
