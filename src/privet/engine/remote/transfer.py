"""What comes from a place and goes there: values, tuples, small tables, conditions.

Distinct values come here to be coded; so do the different tuples of some columns,
counted in the place: views are joined here, by the same statements as those of files.
Rows stay where they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import NamedTuple

import pyarrow as pa

from privet.engine import arrow, sql
from privet.engine.dictionaries import Dictionary, DistinctValues
from privet.engine.duckdb.session import Session, too_little_memory
from privet.engine.projections import Projection
from privet.engine.protocol import NameList, Recodings, Run
from privet.engine.remote.connection import Connection
from privet.engine.row_filter import RowFilter, list_spellings
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.engine.sql import PARTS, Part
from privet.values.schema import Column

VALUES_AT_ONCE = 2_000_000
"""Values of a column that come together."""

EASY = ("text", "integer", "number", "date", "datetime", "boolean")
"""Kinds of which the values asked for can be told without seeing those there are."""


class RemoteValues(DistinctValues):
    """Tables of the values of each column here, filled from a place."""

    def __init__(self, session: Session, connection: Connection) -> None:
        super().__init__(session)
        self._connection = connection

    def _collect(self, columns: Sequence[int], run: Run, step: tuple[int, int]) -> None:
        for c in columns:
            total = fetch_values(
                self._session, self._connection, c, f"pv_values_{c}", run
            )
            self._connection.total = total
            self._collected.add(c)


def fetch_values(
    local: Session,
    connection: Connection,
    column: int,
    table: str,
    run: Run,
    source: str = "pv_people",
) -> int:
    """Make a table of a column's values here, each with its rows; how many in all."""
    for parts in PARTS:
        try:
            return _fetch_in_parts(local, connection, column, table, run, source, parts)
        except DoesNotFit:
            continue
    raise DoesNotFit


def _fetch_in_parts(
    local: Session,
    connection: Connection,
    column: int,
    table: str,
    run: Run,
    source: str,
    parts: int,
) -> int:
    for number in range(parts):
        part = Part(number, parts)
        statement = sql.select_values_in_part(column, part, connection.dialect, source)
        arrival = Arrival(table, "reading values", VALUES_AT_ONCE)
        arrival.bring(connection, local, statement, part, run)
    return int(local.fetch_one(f"SELECT CAST(sum(n) AS BIGINT) FROM {table}") or 0)


class Arrival(NamedTuple):
    """What a statement selects in a place, part by part, put into a table here."""

    table: str
    """The table here."""
    doing: str
    """What is reported meanwhile."""
    most: int
    """Lines of a part that come together, if it can be cut again."""

    def bring(
        self,
        connection: Connection,
        local: Session,
        statement: str,
        part: Part,
        run: Run,
    ) -> None:
        """Fetch a part; the first makes the table anew."""
        doing = self.doing if part.is_whole else f"{self.doing}, {part.words}"
        most = self.most if part.of < PARTS[-1] else None
        work = partial(connection.fetch, statement, most=most)
        found = connection.run_watched(work, run, doing, (1, 2))
        local.register("pv_arrived", found)
        head = f"INSERT INTO {self.table}"
        if part.number == 0:
            head = f"CREATE OR REPLACE TEMP TABLE {self.table} AS"
        try:
            local.run(f"{head} SELECT * FROM pv_arrived", run, doing, (1, 2))
        finally:
            local.unregister("pv_arrived")


def upload_selected(
    connection: Connection, local: Session, table: str, select: str, column: int
) -> None:
    """Upload what a statement selects here, under a name of the place."""
    frame = local.ask(select)
    connection.run_watched(
        partial(connection.upload, table, cast_texts(frame), column),
        Run(),
        "coding values",
    )


def cast_texts(frame: pa.Table) -> pa.Table:
    """The same table with texts as everybody reads them."""
    wanted = [
        f.with_type(pa.string())
        if pa.types.is_string_view(f.type) or pa.types.is_large_string(f.type)
        else f
        for f in frame.schema
    ]
    return frame.cast(pa.schema(wanted))


class RemoteRowFilter(RowFilter):
    """The same for rows of a place.

    Which values are meant is decided here, as for files; the place gets those.
    """

    def __init__(
        self,
        connection: Connection,
        session: Session,
        source: Source,
        columns: Sequence[Column],
        types: Sequence[str],
    ) -> None:
        super().__init__(session, source, columns, types)
        self._connection = connection

    def _write_test(
        self, c: int, values: Sequence[object], table: str, people: str
    ) -> str:
        self._gather(c, values, people)
        meant = super()._write_test(c, values, "pv_meant", "pv_candidate")
        select = f"SELECT e.c{c} AS v FROM pv_candidate e WHERE {meant}"
        self._connection.drop(table)
        upload_selected(self._connection, self._session, table, select, c)
        same = self._connection.dialect.same.format(a=f"e.c{c}", b="w.v")
        return f"EXISTS (SELECT 1 FROM {table} w WHERE {same})"

    def _gather(self, c: int, values: Sequence[object], people: str) -> None:
        """Values of a column among which those that are meant are found."""
        local = self._session
        if self._source.is_text(c) or self._columns[c].kind not in EASY:
            fetch_values(local, self._connection, c, "pv_candidates", Run(), people)
        else:
            given = arrow.texts(t for v in values for t in list_spellings(v))
            local.register("pv_asked", arrow.frame(v=given))
            cast = f"SELECT DISTINCT TRY_CAST(v AS {self._types[c]}) AS v FROM pv_asked"
            local.make(cast, "pv_candidates", Run(), "opening", (1, 1))
            local.unregister("pv_asked")
        local.view("pv_candidate", f"SELECT v AS c{c} FROM pv_candidates")


# Tuples -----------------------------------------------------------------------------

TUPLES_AT_ONCE = 2_000_000
"""Tuples that come together."""

_numbers = count()


@dataclass(eq=False)
class FetchedTuples(Projection):
    """Columns whose tuples are here: in codes k0, k1, …, each with its number n."""

    made: Mapping[int, Dictionary]
    """The dictionaries of the columns that are here."""
    rows: int
    """How many rows the place has."""

    holds_codes = True

    def __post_init__(self) -> None:
        self.people = f"pv_tuples_{next(_numbers)}"

    @property
    def total(self) -> int:
        """How many rows the place has."""
        return self.rows

    def code_needed(
        self, names: NameList, recodings: Recodings, run: Run
    ) -> dict[str, Dictionary]:
        """Dictionaries of all columns that are here."""
        return {n: self.made[self.position(n)] for n in dict.fromkeys(names)}

    code_all = code_needed

    def weight(self, name: str | None) -> str:
        """How many rows a tuple stands for."""
        return "s.n"

    def check_weight(self, name: str, run: Run) -> None:
        """Weights were looked at when they were added up."""

    def close(self) -> None:
        """Drop the tuples."""
        self.session.ask(f"DROP TABLE IF EXISTS {self.people}")

    def bring(
        self, connection: Connection, people: str, weighted: bool, run: Run
    ) -> FetchedTuples:
        """Fill the table with the tuples of some people of a place."""
        for parts in PARTS:
            try:
                for number in range(parts):
                    part = Part(number, parts)
                    self._bring_part(connection, people, weighted, run, part)
            except DoesNotFit:
                continue
            return self
        raise too_little_memory()

    def _bring_part(
        self,
        connection: Connection,
        people: str,
        weighted: bool,
        run: Run,
        part: Part,
    ) -> None:
        dialect, codes = connection.dialect, list(self.made)
        tables = {c: made.table for c, made in self.made.items()}
        rows = sql.coded(tables, people, "s.w AS w" if weighted else "", dialect)
        key = sql.hashed([f"k{c}" for c in codes], dialect)
        amounts = sql.amounts(False, weighted, dialect)
        statement = sql.count_set(codes, "", rows, amounts, part.only(key), dialect)
        arrival = Arrival(self.people, "reading views", TUPLES_AT_ONCE)
        arrival.bring(connection, self.session, statement, part, run)
