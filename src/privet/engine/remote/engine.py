"""An engine for rows that stay elsewhere: they are counted where they are.

Values are coded here, by the same statements as those of files, so that every engine
gives the same codes; the place gets small dictionaries and sends counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from privet.engine import sql
from privet.engine.counting.counter import Counter
from privet.engine.counting.weights import check_counted
from privet.engine.describe import (
    PRECISE_ROWS,
    is_empty_at,
    numbers_at,
    rows_at,
    summary,
)
from privet.engine.dictionaries import Dictionaries, Dictionary
from privet.engine.duckdb.engine import kind_of
from privet.engine.duckdb.session import Session
from privet.engine.export.row_writer import types_in_files
from privet.engine.protocol import (
    ColumnSummary,
    CountQuery,
    CountUnit,
    Recoding,
    Run,
    WriteQuery,
)
from privet.engine.randomise.randomise_rows import (
    Cells,
    DisguiseBatches,
    Randomisation,
    counted_cells,
)
from privet.engine.remote.connection import Connection
from privet.engine.remote.partitioned_counts import PartitionedCounts
from privet.engine.remote.remote_writer import RemoteWriter, complete
from privet.engine.remote.transfer import (
    FetchedTuples,
    RemoteRowFilter,
    RemoteValues,
    sent,
)
from privet.engine.run import check_complete
from privet.engine.sources.source import Source, refuse_twice
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.schema import Column


class Remote:
    """One source of rows in a place that counts them."""

    def __init__(
        self,
        source: Source,
        *,
        where: Mapping[str, Sequence[object]] | None = None,
        **local: Any,
    ) -> None:
        self.session = Session(source.words, **local)
        try:
            self._place: Connection = source.place.opened(source.words)
        except BaseException:
            self.session.close()
            raise
        self.name: str = self._place.name
        self.version: str = self._place.version
        try:
            self._open(source, where or {})
        except BaseException:
            self.close()
            raise

    def _open(self, source: Source, where: Mapping[str, Sequence[object]]) -> None:
        cells = self._place.cells()
        names = tuple(c.name for c in cells)
        refuse_twice(names, source.words)
        shape = self._place.ask("SELECT * FROM pv_everybody WHERE 1 = 0")
        self.session.register("pv_shape", shape)
        types = self.session.ask("DESCRIBE SELECT * FROM pv_shape")["column_type"]
        self._types: list[str] = types.to_pylist()
        self.session.unregister("pv_shape")
        texts = frozenset(i for i, c in enumerate(cells) if c.textual)
        self._source = replace(source, names=names, mixed=texts)
        self._cells = cells
        self._columns = tuple(
            Column(c.name, c.kind or ("text" if c.textual else kind_of(t)))
            for c, t in zip(cells, self._types, strict=True)
        )
        self._positions = {c.name: i for i, c in enumerate(self._columns)}
        self._sent: set[str] = set()
        self._chosen = RemoteRowFilter(
            self._place, self.session, self._source, self._columns, self._types
        )
        only = self._chosen.condition(where, "pv_wanted", "pv_everybody")
        self._place.view("pv_people", f"SELECT * FROM pv_everybody e {only}")
        self._values = RemoteValues(self.session, self._place)
        self._dictionaries = Dictionaries(
            self.session, self._columns, self._source, self._values
        )

    def close(self) -> None:
        """Let go of the place, and of what was kept here."""
        self._place.close()
        self.session.close()

    def columns(self) -> tuple[Column, ...]:
        """The columns of the source, in its order."""
        return self._columns

    def rows(self, run: Run) -> int:
        """How many rows there are."""
        return rows_at(self._place, run)

    def is_empty(self) -> bool:
        """Whether there are no rows at all."""
        return is_empty_at(self._place)

    def describe(self, run: Run) -> tuple[ColumnSummary, ...]:
        """Every column with its kind and numbers of values, column by column."""
        precise = self.rows(run) <= PRECISE_ROWS
        return tuple(
            self._summary(c, column, precise, run)
            for c, column in enumerate(self._columns)
        )

    def _summary(
        self, c: int, column: Column, precise: bool, run: Run
    ) -> ColumnSummary:
        step = (c + 1, len(self._columns))
        numbers = numbers_at(self._place, c, precise, run, step)
        textual = self._source.is_text(c)
        kind = self._dictionaries.kind(c, run) if textual else column.kind
        return summary(column.name, kind, *numbers)

    def domains(
        self,
        columns: Sequence[str],
        recodings: Mapping[str, Recoding],
        run: Run,
        before: Sequence[CountQuery] = (),
    ) -> dict[str, Domain]:
        """The values of some columns, coded once; NULL has a code of its own."""
        at = [self._position(c) for c in columns]
        made = self._dictionaries.of(at, recodings, run)
        return {c: made[i].domain for c, i in zip(columns, at, strict=True)}

    def count(
        self,
        tallies: Sequence[CountQuery],
        amount: CountUnit,
        recodings: Mapping[str, Recoding],
        run: Run,
        only: Mapping[str, Sequence[object]] | None = None,
    ) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        """Count; a tally may come in several parts, each with whole groups."""
        wanted = list(dict.fromkeys(tallies))
        names = dict.fromkeys(c for t in wanted for c in (*t.by, t.about))
        made = self._coded([self._position(c) for c in names], recodings, run)
        expected, people, weight = self._place.total, "pv_people", ""
        if only:
            people = "pv_some"
            condition = self._chosen.condition(only, "pv_only", "pv_people")
            self._place.view(people, f"SELECT * FROM pv_people e {condition}")
        if amount.weight is not None:
            expected, people = self._weighted(amount.weight, people, run)
            weight = "s.w"
        counter = Counter(
            self._place, self._position, made, amount, run, people, weight
        )
        yield from counter.count(wanted, None if only else expected, len(names))

    def hold(
        self,
        columns: Sequence[str],
        amount: CountUnit,
        recodings: Mapping[str, Recoding],
        run: Run,
    ) -> PartitionedCounts | None:
        """The combinations of some columns, kept by the machines that counted them."""
        at = [self._position(c) for c in columns]
        made = self._coded(at, recodings, run)
        expected, people, extra = self.rows(run), "pv_people", ""
        if amount.weight is not None:
            expected, people = self._weighted(amount.weight, people, run)
            extra = "s.w AS w"
        dialect = self._place.dialect
        tables = {c: made[c].table for c in at}
        rows = sql.coded(tables, people, extra, dialect)
        sums = sql.amounts(False, bool(amount.weight), dialect)
        counted = sql.count_set(at, "", rows, sums, "", dialect)
        held = self._place.hold(counted, [len(made[c].domain) for c in at], run)
        if held is not None:
            check_complete(held.people, expected)
        return held

    def write(
        self, writing: WriteQuery, recodings: Mapping[str, Recoding], run: Run
    ) -> int:
        """Write rows out, recoded and shuffled; how many were written."""
        changed = [self._position(c) for c in writing.columns if c in recodings]
        made = self._dictionaries.of(changed, recodings, run)
        people = "pv_people"
        if (weight := writing.weight or writing.only) is not None:
            _, people = self._weighted(weight, people, run)
        rewriter = RemoteWriter(
            self._place,
            self.session,
            self._position,
            made,
            writing,
            people,
            json=self._source.json,
        )
        typed = partial(self._typed, run=run)
        return rewriter.write(typed, self.rows(run), run)

    def draw(
        self, drawing: Randomisation, recodings: Mapping[str, Recoding], run: Run
    ) -> int:
        """Write rows out, disguised by exact draws; how many were written."""
        at = [self._position(c) for c in drawing.columns]
        made = self._coded(at, recodings, run)
        change = DisguiseBatches(drawing, self._position)
        tables = {c: made[c].table for c in change.columns}
        statement = sql.coded(tables, "pv_people", "", self._place.dialect)
        scratch = Path(drawing.path).with_name(f".{Path(drawing.path).name}.rows")
        with self._place.draw(statement, change, drawing.bits, scratch, run) as drawn:
            return complete(change.write(drawn), self.rows(run))

    def tabulate(self, sets: Sequence[Sequence[str]], run: Run) -> Iterator[Cells]:
        """Rows per combination of few values, for each set of columns."""
        return counted_cells(self, sets, run)

    def projection(
        self,
        columns: Sequence[str],
        weight: str | None,
        recodings: Mapping[str, Recoding],
        run: Run,
    ) -> FetchedTuples:
        """The different tuples of some columns, fetched."""
        at = [self._position(n) for n in dict.fromkeys(columns)]
        made = self._coded(at, recodings, run)
        people = "pv_people"
        if weight is not None:
            _, people = self._weighted(weight, people, run)
        here = FetchedTuples(
            self.session,
            self._columns,
            self._source,
            self._dictionaries,
            {c: made[c] for c in at},
            self.rows(run),
        )
        return here.bring(self._place, people, weight is not None, run)

    # Pieces -------------------------------------------------------------------------

    def _position(self, name: str) -> int:
        return self._positions[name]

    def _coded(
        self, columns: Sequence[int], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[int, Dictionary]:
        """Dictionaries that the place has, too."""
        made = self._dictionaries.of(columns, recodings, run)
        for c, dictionary in made.items():
            table = dictionary.table
            if table not in self._sent:
                codes = f"SELECT v, CAST(code AS INTEGER) AS code FROM {table}"
                sent(self._place, self.session, table, codes, c)
                self._sent.add(table)
        return made

    def _weighted(self, name: str, people: str, run: Run) -> tuple[int, str]:
        """The sum of all weights, and the people with their weight `w`."""
        c = self._position(name)
        self._values.gather([c], run)
        total = check_counted(
            self.session, f"pv_values_{c}", self._columns[c], run, (1, 2)
        )
        table = f"pv_weights_{c}"
        if table not in self._sent:
            whole = f"SELECT v, CAST(v AS BIGINT) AS w FROM pv_values_{c}"
            sent(self._place, self.session, table, whole, c)
            self._sent.add(table)
        same = self._place.dialect.same.format(a=f"p.c{c}", b="m.v")
        small = sql.smalls(["m"], self._place.dialect)
        joined = f"SELECT {small}p.*, m.w AS w FROM {people} p JOIN {table} m ON {same}"
        return total, f"({joined})"

    def _typed(self, c: int, run: Run) -> str:
        """The type that the texts of a column have in files; empty: text."""
        if not self._source.is_text(c):
            return ""
        self._values.gather([c], run)
        values, wanted = f"pv_values_{c}", self._cells[c].written
        if not wanted:
            json = self._source.json
            return types_in_files(self.session, ["v"], values, run, json=json)["v"]
        fits = f"SELECT bool_and(v IS NULL OR TRY_CAST(v AS {wanted}) IS NOT NULL)"
        return wanted if self.session.one(f"{fits} FROM {values}") else "DOUBLE"
