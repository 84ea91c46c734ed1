"""The cells of a table beside what its release shows of them, counted.

Of values that are hidden, or cut into intervals, columns and pairs of the private table
are counted, from its distinct rows where these are not too many; what stands for each
value is known. Of groups the distinct rows are
at hand, and each is in a group, which shows the same of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import CountedClasses, CountQuery, CountRequest, Run
from privet.microdata.generalisation import domain_order
from privet.microdata.generalisation.domain_order import OrderedDomain, parse_number
from privet.microdata.generalisation.forms import BUCKETS
from privet.microdata.information_loss import row_samples
from privet.microdata.information_loss.pair_tables import Pair, sum_pairs
from privet.microdata.information_loss.row_samples import RowSample, draw_rows
from privet.microdata.information_loss.value_sets import ValueSets
from privet.microdata.release import Release
from privet.table import Table
from privet.values.arrays import Flags, Floats, Ints
from privet.values.contingency import (
    JOINT_ROWS,
    Domain,
    find_distinct,
    sum_columns,
    sum_equal_rows,
)
from privet.values.equivalence_classes import EquivalenceClasses

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of columns whose codes are in the order of their values."""

MOST_WHOLE = 2_000_000
"""Tables with more rows are not counted by all columns at once."""

MOST_KEPT = 500_000
"""Columns of tables with more distinct rows are read anew for each figure, …"""

NARROW = 2
"""… unless their integers take so few bytes."""


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """A column, and what each of its released texts stands for."""

    name: str
    """As the table calls it."""
    domain: Domain
    """Its values."""
    codes: Ints
    """The code of the value at each place."""
    sets: ValueSets
    """What the released texts stand for, in places."""
    ordered: bool
    """Whether places are in an order that means something."""
    known: bool
    """Whether it may be known from outside: only these make groups."""
    parted: bool = False
    """Whether buckets show its values apart from people."""
    label: Ints | None = None
    """The released text of each place, where that depends on nothing else."""

    @property
    def places(self) -> int:
        """How many values it has."""
        return len(self.domain)

    @cached_property
    def numbers(self) -> Floats | None:
        """The number at each place, missing ones aside; None: it has no numbers."""
        if not self.ordered or self.domain.kind not in ORDERED:
            return None
        labels = [self.domain[int(code)] for code in self.codes]
        found = np.array(
            [np.nan if v is None else parse_number(v, self.domain.kind) for v in labels]
        )
        there = found[[v is not None for v in labels]]
        fine = bool(len(there)) and bool(np.isfinite(there).all())
        return found if fine and bool((np.diff(there) >= 0).all()) else None

    @cached_property
    def midpoints(self) -> Floats | None:
        """Halfway between the least and the largest number each text stands for."""
        numbers, sets = self.numbers, self.sets
        if numbers is None:
            return None
        missing = int(np.isnan(numbers[0]))
        start, last = np.maximum(sets.start, missing), sets.stop - 1
        there = last >= start
        low, high = np.full(sets.count, np.inf), np.full(sets.count, -np.inf)
        owner = sets.owner[there]
        np.minimum.at(low, owner, numbers[start[there]])
        np.maximum.at(high, owner, numbers[last[there]])
        found, some = np.full(sets.count, np.nan), low <= high
        found[some] = low[some] / 2 + high[some] / 2
        return found


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many rows have which values, and how many show which texts, in one or two
    columns; the same may stand in several lines.
    """

    places: tuple[Ints, ...]
    """The place of the value, one array per column."""
    n: Ints
    """How many rows have it."""
    labels: tuple[Ints, ...]
    """The released text, one array per column."""
    released: Ints
    """How many released rows show it."""
    apart: tuple[Ints, ...] = ()
    """Of two columns that buckets show together: the places of released values."""
    joint: Floats | None = None
    """Rows by their values, an axis per column, where they were added up already."""
    shown: Floats | None = None
    """Released rows by their texts, the same."""


@dataclass(frozen=True, eq=False)
class WholeRows:
    """What only whole rows tell."""

    groups: Ints | None
    """The sizes of groups of released rows that look alike in the known columns; None:
    no column may be known."""
    blank: Ints | None
    """Those of them that show nothing in any of them."""
    changed: int
    """Released rows with a cell that is not as it was."""
    before: Ints | None = None
    """Rows of the table that are alike in all columns; None: not counted."""
    after: Ints | None = None
    """Released rows that are alike in all columns."""
    parted: float = 0.0
    """Bits, of all rows together, that tell who has which of a group's values: buckets
    do not."""


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


def number_texts(texts: Sequence[str | None]) -> tuple[dict[str | None, int], Ints]:
    """The number of each different text, in the order they come, and of each text."""
    numbers: dict[str | None, int] = {}
    label = [numbers.setdefault(text, len(numbers)) for text in texts]
    return numbers, np.array(label, dtype=np.int64)


def find_changed(column: MeasuredColumn) -> Flags:
    """Which released texts are not the one value they stand for."""
    sets = column.sets
    return np.asarray(sets.blank | (sets.size > 1))


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


# Groups -----------------------------------------------------------------------------


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
