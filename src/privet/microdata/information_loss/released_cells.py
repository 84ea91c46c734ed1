"""The cells of a table beside what its release shows of them.

Of values that are hidden, or cut into intervals, columns and pairs of the private table
are counted, from its distinct rows where these are not too many; what stands for each
value is known. Of groups see `grouped_cells.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import CountedClasses, CountQuery, CountRequest, Run
from privet.microdata.information_loss import row_samples
from privet.microdata.information_loss.cell_counts import (
    ORDERED,
    CellCounts,
    MeasuredColumn,
    WholeRows,
    find_changed,
    number_texts,
)
from privet.microdata.information_loss.grouped_cells import GroupedCells
from privet.microdata.information_loss.pair_tables import Pair
from privet.microdata.information_loss.row_samples import RowSample, draw_rows
from privet.microdata.information_loss.value_sets import ValueSets
from privet.microdata.release import Release
from privet.table import Table
from privet.values.arrays import Ints
from privet.values.contingency import (
    Domain,
    sum_equal_rows,
)
from privet.values.equivalence_classes import EquivalenceClasses

MOST_WHOLE = 2_000_000
"""Tables with more rows are not counted by all columns at once."""


class ReleasedCells(Protocol):
    """The cells of a table and of its release."""

    @property
    def columns(self) -> tuple[MeasuredColumn, ...]:
        """All columns that are released, as the source orders them."""

    def count_columns(self, run: Run) -> dict[str, CellCounts]:
        """Every column alone."""

    def count_pairs(
        self, pairs: Sequence[Pair], run: Run
    ) -> Iterator[tuple[Pair, CellCounts]]:
        """Two columns at a time."""

    def count_whole(self, run: Run) -> WholeRows:
        """Groups and whole rows."""

    def sample(self, run: Run) -> RowSample | None:
        """Some rows, always the same; None: they cannot be drawn."""


def open_cells(release: Release, run: Run) -> ReleasedCells:
    """The cells of a release that was made here."""
    if release.grouped is not None:
        return GroupedCells(release)
    return SuppressedCells.count(release, run)


# Hidden values ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SuppressedCells:
    """A table of which values are hidden or cut: each text stands for some values."""

    release: Release
    """What is released."""
    plain: Table
    """The same rows as they are."""
    columns: tuple[MeasuredColumn, ...]
    """All columns that are released."""
    _held: list[tuple[InMemory, InMemory]] = field(default_factory=list)

    @classmethod
    def count(cls, release: Release, run: Run) -> SuppressedCells:
        """Look the values of all columns up."""
        plain = replace(release._table, relabels={})
        weight = release._table.roles.weight
        names = [c for c in release.columns() if c != weight]
        domains = plain.domains(names, run)
        made = tuple(_describe_hidden(release, domains[c]) for c in names)
        return cls(release, plain, made)

    @cached_property
    def _of(self) -> dict[str, MeasuredColumn]:
        return {c.name: c for c in self.columns}

    def _label(self, column: str, places: Ints | slice) -> Ints:
        label = self._of[column].label
        assert label is not None
        return label[places]

    def _tell(self, names: Sequence[str], part: EquivalenceClasses) -> CellCounts:
        places = [code.astype(np.int64) for code in _read_codes(part, names)]
        labels = [self._label(c, at) for c, at in zip(names, places, strict=True)]
        return CellCounts(tuple(places), part.n, tuple(labels), part.n)

    def _count(self, queries: Sequence[CountQuery], run: Run) -> CountedClasses:
        """Count the table: its distinct rows, where they are not too many to list."""
        if not self._lists_rows(run):
            return self.plain.count(queries, run)
        return self._hold_rows(run)[0].count(CountRequest(tuple(queries)), run)

    def _count_shown(self, names: Sequence[str], run: Run) -> tuple[list[Ints], Ints]:
        """What the release shows of some columns, and how often."""
        query = CountQuery(tuple(names[:-1]), names[-1])
        if not self._lists_rows(run):
            return _gather(self.release._table.count([query], run), names)
        return _gather(
            self._hold_rows(run)[1].count(CountRequest((query,)), run), names
        )

    def _lists_rows(self, run: Run) -> bool:
        return self.plain.engine.rows(run) <= MOST_WHOLE

    def _hold_rows(self, run: Run) -> tuple[InMemory, InMemory]:
        """The distinct rows of the table, and what is shown of each; counted once."""
        if not self._held:
            names = [c.name for c in self.columns]
            query = CountQuery(tuple(names[:-1]), names[-1])
            codes, n = _gather(self.plain.count([query], run), names)
            texts = [Domain(c, list(self._texts[c])) for c in names]
            labels = [_narrow(self._label(d.name, slice(None)), d) for d in texts]
            shown = [label[code] for label, code in zip(labels, codes, strict=True)]
            plain = InMemory([c.domain for c in self.columns], codes, n)
            self._held.append((plain, InMemory(texts, shown, n)))
        return self._held[0]

    def count_columns(self, run: Run) -> dict[str, CellCounts]:
        """Every column alone."""
        tallies = [CountQuery((), c.name) for c in self.columns]
        parts: dict[str, list[EquivalenceClasses]] = {c.name: [] for c in self.columns}
        for tally, part in self._count(tallies, run):
            parts[tally.about].append(part)
        return {c: _join([self._tell([c], p) for p in parts[c]]) for c in parts}

    def count_pairs(
        self, pairs: Sequence[Pair], run: Run
    ) -> Iterator[tuple[Pair, CellCounts]]:
        """Two columns at a time."""
        parts: dict[Pair, list[CellCounts]] = {pair: [] for pair in pairs}
        for tally, part in self._count([CountQuery((a,), b) for a, b in pairs], run):
            run.check()
            pair = tally.by[0], tally.about
            parts[pair].append(self._tell(pair, part))
        for pair in pairs:
            yield pair, _join(parts.pop(pair))

    def count_whole(self, run: Run) -> WholeRows:
        """Groups as the release shows them; whole rows where they are not too many."""
        found = self._count_groups(run)
        if not self._lists_rows(run):
            return found
        _, after = self._count_shown([c.name for c in self.columns], run)
        before = self._hold_rows(run)[0].list_sizes()
        return replace(found, before=before, after=after)

    def _count_groups(self, run: Run) -> WholeRows:
        """Rows by the known columns and all others that are not as they were."""
        changed = {c.name: find_changed(c) for c in self.columns}
        known = [c.name for c in self.columns if c.known]
        names = [c for c in changed if c in known or changed[c].any()]
        if not names:
            return WholeRows(None, None, 0)
        labels, n = self._count_labels(names, run)
        other = np.zeros(len(n), dtype=bool)
        for column in names:
            other |= changed[column][labels[column]]
        if not known:
            return WholeRows(None, None, int(n[other].sum()))
        sizes = [self._of[c].sets.count for c in known]
        codes, people = sum_equal_rows([labels[c] for c in known], sizes, n)
        blank = np.ones(len(people), dtype=bool)
        for column, code in zip(known, codes, strict=True):
            blank &= self._of[column].sets.blank[code]
        return WholeRows(people, people[blank], int(n[other].sum()))

    def _count_labels(
        self, names: Sequence[str], run: Run
    ) -> tuple[dict[str, Ints], Ints]:
        """Released rows by the texts of some columns, numbered as the sets are."""
        codes, n = self._count_shown(names, run)
        domains = self.release._table.domains(names, run)
        numbers = {
            c: np.array([self._texts[c][t] for t in domains[c].labels], dtype=np.int64)
            for c in names
        }
        return {c: numbers[c][code] for c, code in zip(names, codes, strict=True)}, n

    @cached_property
    def _texts(self) -> dict[str, dict[str | None, int]]:
        """The number of each released text, by column."""
        return {
            c.name: number_texts(_list_texts(self.release, c.domain))[0]
            for c in self.columns
        }

    def sample(self, run: Run) -> RowSample | None:
        """Rows drawn by what they hold, so that it is always the same ones."""
        names = [c.name for c in self.columns]
        if not self._lists_rows(run):
            if self.plain.roles.weight:
                return None
            drawn = self.plain.engine.sample_rows(
                names, self.plain.recodings, row_samples.SAMPLE, run
            )
            return self._show_sample(dict(drawn.codes), drawn.n, drawn=True)
        rows = self._hold_rows(run)[0]
        codes, n = [code for _, code in rows.list_codes()], rows.list_sizes()
        kept = draw_rows(codes, n)
        some = np.flatnonzero(kept)
        at = [code[some].astype(np.int64) for code in codes]
        places = dict(zip(names, at, strict=True))
        return self._show_sample(places, kept[some], drawn=bool(kept.sum() < n.sum()))

    def _show_sample(
        self, places: dict[str, Ints], n: Ints, *, drawn: bool
    ) -> RowSample:
        labels = {c: self._label(c, at) for c, at in places.items()}
        return RowSample(places, labels, n, np.ones(len(n), dtype=bool), drawn)


def _describe_hidden(release: Release, domain: Domain) -> MeasuredColumn:
    """A column of a table with hidden values or intervals."""
    roles = release._table.roles
    assert release.recipe is not None
    numbers, label = number_texts(_list_texts(release, domain))
    altered = domain.name in release.recipe.columns
    blank = np.array(
        [altered and text == release.recipe.marker for text in numbers], dtype=bool
    )
    return MeasuredColumn(
        domain.name,
        domain,
        np.arange(len(domain)),
        ValueSets.from_labels(label, blank),
        ordered=domain.kind in ORDERED or domain.name in roles.bins,
        known=domain.name in (*roles.quasi, *release.recipe.columns),
        label=label,
    )


def _list_texts(release: Release, domain: Domain) -> Sequence[str | None]:
    """What is shown for each value of a column."""
    relabel = release._table.relabels.get(domain.name)
    return domain.labels if relabel is None else relabel.texts


def _read_codes(part: EquivalenceClasses, names: Sequence[str]) -> list[Ints]:
    """The codes of a count's rows, in the order of the names, as narrow as they are."""
    keys, group = part.keys.columns() if part.by else (), part.group
    found = {d.name: _narrow(k, d)[group] for d, k in zip(part.by, keys, strict=True)}
    found[part.about.name] = _narrow(part.value, part.about)
    return [found[c] for c in names]


def _narrow(codes: NDArray[Any], domain: Domain) -> Ints:
    narrow: Ints = codes.astype(np.min_scalar_type(max(len(domain) - 1, 0)))
    return narrow


def _join(parts: Sequence[CellCounts]) -> CellCounts:
    """Parts of one count put together, without what nobody has."""
    there = np.concatenate([p.n for p in parts]) > 0

    def put(arrays: Sequence[Ints]) -> Ints:
        return np.concatenate(arrays)[there]

    return CellCounts(
        tuple(put(p) for p in zip(*(p.places for p in parts), strict=True)),
        put([p.n for p in parts]),
        tuple(put(p) for p in zip(*(p.labels for p in parts), strict=True)),
        put([p.released for p in parts]),
    )


def _gather(counted: CountedClasses, names: Sequence[str]) -> tuple[list[Ints], Ints]:
    """All rows of a count, without what nobody has."""
    codes: list[list[Ints]] = [[] for _ in names]
    n: list[Ints] = []
    for _, part in counted:
        there = slice(None) if (part.n > 0).all() else part.n > 0
        n.append(part.n[there])
        for found, code in zip(codes, _read_codes(part, names), strict=True):
            found.append(code[there])
    return [np.concatenate(c) for c in codes], np.concatenate(n)
