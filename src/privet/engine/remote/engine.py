"""The remote engine: rows stay in a database or a cluster, and are counted there.

Values are coded here, by the same statements as those of files, so that every engine
gives the same codes; the place gets small dictionaries and sends counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from privet.engine import sql
from privet.engine.counting.weights import check_counted
from privet.engine.describe import kind_of
from privet.engine.dictionaries import Dictionary
from privet.engine.digests import DigestQuery, write_cell, write_digests
from privet.engine.duckdb.session import Session
from privet.engine.export.row_writer import find_file_types
from privet.engine.person_statement import PeopleAsked
from privet.engine.protocol import CountUnit, NameList, Recodings, Run, WriteQuery
from privet.engine.randomise.randomise_rows import DisguiseBatches, Randomisation
from privet.engine.remote.connection import Connection
from privet.engine.remote.partitioned_counts import PartitionedCounts
from privet.engine.remote.remote_writer import RemoteWriter, require_complete
from privet.engine.remote.transfer import (
    FetchedTuples,
    RemoteRowFilter,
    RemoteValues,
    upload_selected,
)
from privet.engine.run import check_complete
from privet.engine.sources.source import Source, refuse_twice
from privet.engine.sql_engine import PEOPLE, CountedRows, SqlEngine
from privet.values.schema import Column


class Remote(SqlEngine):
    """One source of rows in a place that counts them."""

    _connection: Connection

    def __init__(
        self,
        source: Source,
        *,
        where: Mapping[str, Sequence[object]] | None = None,
        people: PeopleAsked | None = None,
        **local: Any,
    ) -> None:
        assert source.address is not None
        session = Session(source.words, **local)
        try:
            connection: Connection = source.address.open(source.words)
        except BaseException:
            session.close()
            raise
        self.name = connection.name
        self.version = connection.version
        self._sent: set[str] = set()  # tables that the place has
        super().__init__(source, where, session, connection, people)

    def _look_at(self, source: Source) -> None:
        self._cells = self._connection.list_columns()
        names = tuple(c.name for c in self._cells)
        refuse_twice(names, source.words)
        shape = self._connection.ask("SELECT * FROM pv_everybody WHERE 1 = 0")
        self.session.register("pv_shape", shape)
        types = self.session.ask("DESCRIBE SELECT * FROM pv_shape")["column_type"]
        self._types = types.to_pylist()
        self.session.unregister("pv_shape")
        texts = frozenset(i for i, c in enumerate(self._cells) if c.textual)
        self._source = replace(source, names=names, mixed=texts)
        self._columns = tuple(
            Column(c.name, c.kind or ("text" if c.textual else kind_of(t)))
            for c, t in zip(self._cells, self._types, strict=True)
        )

    def _make_row_filter(self) -> RemoteRowFilter:
        return RemoteRowFilter(
            self._connection, self.session, self._source, self._columns, self._types
        )

    def _make_distinct_values(self) -> RemoteValues:
        return RemoteValues(self.session, self._connection)

    def list_types(self) -> dict[str, str]:
        """The same, and of numbers that come as texts, too: those of `numeric(9,2)`."""
        known = {c.name: c.written for c in self._cells if c.written}
        return super().list_types() | known

    def hold(
        self, columns: NameList, amount: CountUnit, recodings: Recodings, run: Run
    ) -> PartitionedCounts | None:
        """The combinations of some columns, kept by the machines that counted them."""
        at = [self._position(c) for c in columns]
        made = self._code_columns(at, recodings, run)
        rows = CountedRows(PEOPLE, self.rows(run), 0)
        if amount.weight is not None:
            rows = self._weigh_rows(amount.weight, PEOPLE, run, 0)
        dialect = self._connection.dialect
        extra = f"{rows.weight} AS w" if rows.weight else ""
        coded = sql.coded({c: made[c].table for c in at}, rows.people, extra, dialect)
        sums = sql.amounts(False, bool(amount.weight), dialect)
        counted = sql.count_set(at, "", coded, sums, "", dialect)
        held = self._connection.hold(counted, [len(made[c].domain) for c in at], run)
        if held is not None:
            check_complete(held.people, rows.total)
        return held

    def _write_rows(
        self, writing: WriteQuery, made: Mapping[int, Dictionary], run: Run
    ) -> int:
        people = PEOPLE
        if (weight := writing.weight or writing.only) is not None:
            people = self._weigh_rows(weight, people, run, 0).people
        writer = RemoteWriter(
            self._connection,
            self.session,
            self._position,
            made,
            writing,
            people,
            json=self._source.json,
        )
        typed = partial(self._find_file_type, run=run)
        return writer.write(typed, self.rows(run), run)

    def _write_reports(
        self, codes: str, change: DisguiseBatches, drawing: Randomisation, run: Run
    ) -> int:
        with self._connection.draw(codes, change, run) as drawn:
            return require_complete(change.write(drawn), self.rows(run))

    def _write_digests(self, query: DigestQuery, run: Run) -> int:
        """The rows come here, and the key stays here."""
        named = [*query.person, *query.columns, *filter(None, [query.weight])]
        at = {name: self._position(name) for name in dict.fromkeys(named)}
        cells = ", ".join(f"s.c{c} AS o{c}" for c in at.values())

        def call_cell(name: str) -> str:
            c, source = at[name], self._source
            return write_cell(f"s.o{c}", textual=source.is_text(c), json=source.json)

        select, path = f"SELECT {cells} FROM {PEOPLE} s", Path(query.path)
        scratch = path.with_name(f".{path.name}.rows")
        with self._connection.stream(select, scratch, run) as stream:
            self.session.register("pv_stream", stream)
            try:
                return write_digests(self.session, query, "pv_stream", call_cell, run)
            finally:
                self.session.unregister("pv_stream")

    def open_projection(
        self, columns: NameList, weight: str | None, recodings: Recodings, run: Run
    ) -> FetchedTuples:
        """The different tuples of some columns, fetched."""
        at = [self._position(n) for n in dict.fromkeys(columns)]
        made = self._code_columns(at, recodings, run)
        people = PEOPLE
        if weight is not None:
            people = self._weigh_rows(weight, people, run, 0).people
        here = FetchedTuples(
            self.session,
            self._columns,
            self._source,
            self._dictionaries,
            {c: made[c] for c in at},
            self.rows(run),
        )
        return here.bring(self._connection, people, weight is not None, run)

    # Pieces -------------------------------------------------------------------------

    def _code_columns(
        self, columns: Sequence[int], recodings: Recodings, run: Run
    ) -> dict[int, Dictionary]:
        """Dictionaries that the place has, too."""
        made = super()._code_columns(columns, recodings, run)
        for c, dictionary in made.items():
            table = dictionary.table
            codes = f"SELECT v, CAST(code AS INTEGER) AS code FROM {table}"
            self._send(table, codes, c)
        return made

    def _weigh_rows(self, name: str, people: str, run: Run, before: int) -> CountedRows:
        """The people with their weight `w`."""
        c = self._position(name)
        self._values.gather([c], run)
        total = check_counted(
            self.session, f"pv_values_{c}", self._columns[c], run, (1, 2)
        )
        table = f"pv_weights_{c}"
        self._send(table, f"SELECT v, CAST(v AS BIGINT) AS w FROM pv_values_{c}", c)
        same = self._connection.dialect.same.format(a=f"p.c{c}", b="m.v")
        small = sql.hint_small(["m"], self._connection.dialect)
        joined = f"SELECT {small}p.*, m.w AS w FROM {people} p JOIN {table} m ON {same}"
        return CountedRows(f"({joined})", total, before, "s.w")

    def _send(self, table: str, select: str, column: int) -> None:
        """Upload what is selected here, unless the place has it."""
        if table not in self._sent:
            upload_selected(self._connection, self.session, table, select, column)
            self._sent.add(table)

    def _find_file_type(self, c: int, run: Run) -> str:
        """The type that the texts of a column have in files; empty: text."""
        if not self._source.is_text(c):
            return ""
        self._values.gather([c], run)
        values, wanted = f"pv_values_{c}", self._cells[c].written
        if not wanted:
            json = self._source.json
            return find_file_types(self.session, ["v"], values, run, json=json)["v"]
        fits = f"SELECT bool_and(v IS NULL OR TRY_CAST(v AS {wanted}) IS NOT NULL)"
        return wanted if self.session.fetch_one(f"{fits} FROM {values}") else "DOUBLE"
