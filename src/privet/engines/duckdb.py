"""The embedded engine: files, frames and relations, counted by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from os import PathLike

import pyarrow as pa

from privet.counts import Domain, Grouped
from privet.engines import sql
from privet.engines.base import (
    Amount,
    ColumnSummary,
    Recoding,
    Run,
    Tally,
    Writing,
)
from privet.engines.coding import Dictionaries
from privet.engines.counting import Counter, check_complete
from privet.engines.files import DATABASE, Source, json_scan
from privet.engines.session import Session
from privet.engines.writing import Writer
from privet.errors import ColumnNotFound, what_exists
from privet.roles import Column

PRECISE_ROWS = 1_000_000
"""Up to this many rows different values are counted exactly for a description."""


class DuckDB:
    """One source of rows in one private in-memory database."""

    name = "duckdb"

    def __init__(
        self,
        source: Source,
        *,
        where: Mapping[str, Sequence[object]] | None = None,
        memory_limit: str | None = None,
        spill: str | PathLike[str] | None = None,
        threads: int | None = None,
    ) -> None:
        self._source = source
        self._session = Session(
            source.words, memory_limit=memory_limit, spill=spill, threads=threads
        )
        try:
            self._columns = self._open(where or {})
        except BaseException:
            self.close()
            raise
        self._dictionaries = Dictionaries(
            self._session,
            self._columns,
            textual=source.textual,
            pandas=type(source.frame).__module__.startswith("pandas"),
        )

    def close(self) -> None:
        """Close the database and remove what it spilled."""
        self._session.close()

    def columns(self) -> tuple[Column, ...]:
        """The columns of the source, in its order."""
        return self._columns

    def rows(self, run: Run) -> int:
        """How many rows there are."""
        if self._session.total is None:
            ask = partial(self._session.fetch, "SELECT count(*) AS n FROM people")
            table = self._session.watched(ask, run, "counting rows", (1, 1))
            self._session.total = int(table["n"][0].as_py())
        return self._session.total

    def is_empty(self) -> bool:
        """Whether there are no rows at all."""
        return len(self._session.ask("SELECT 1 FROM people LIMIT 1")) == 0

    def describe(self, run: Run) -> tuple[ColumnSummary, ...]:
        """Every column with its kind and numbers of values, column by column."""
        precise = self.rows(run) <= PRECISE_ROWS
        return tuple(
            self._described(c, column, precise, run)
            for c, column in enumerate(self._columns)
        )

    def _described(
        self, c: int, column: Column, precise: bool, run: Run
    ) -> ColumnSummary:
        statement = sql.describe(c, "people", self._source.textual, precise)
        table = self._session.watched(
            partial(self._session.fetch, statement),
            run,
            "reading columns",
            (c + 1, len(self._columns)),
        )
        rows, present, distinct, *fits = (col[0].as_py() for col in table.columns)
        kind = sql.recognised(present, fits) if fits else column.kind
        values = min(distinct, present) + (present < rows)
        return ColumnSummary(column.name, kind, rows, values, rows - present)

    def domains(
        self, columns: Sequence[str], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[str, Domain]:
        """The values of some columns, coded once; NULL has a code of its own."""
        at = [self._position(c) for c in columns]
        made = self._dictionaries.of(at, recodings, run)
        return {c: made[i].domain for c, i in zip(columns, at, strict=True)}

    def count(
        self,
        tallies: Sequence[Tally],
        amount: Amount,
        recodings: Mapping[str, Recoding],
        run: Run,
    ) -> Iterator[tuple[Tally, Grouped]]:
        """Count; a tally may come in several parts, each with whole groups."""
        wanted = list(dict.fromkeys(tallies))
        names = dict.fromkeys(c for t in wanted for c in (*t.by, t.about))
        at = [self._position(c) for c in names]
        made = self._dictionaries.of(at, recodings, run)
        counter = Counter(self._session, self._position, made, amount, run)
        plain = amount == Amount()
        seen = dict.fromkeys(wanted, 0)
        for tally, grouped in counter.count(wanted):
            seen[tally] += int(grouped.total.sum())
            yield tally, grouped
        for counted in seen.values():
            check_complete(counted, self._session.total if plain else None)

    def write(
        self, writing: Writing, recodings: Mapping[str, Recoding], run: Run
    ) -> int:
        """Write rows out, recoded and shuffled; how many were written."""
        changed = [c for c in writing.columns if c in recodings]
        at = [self._position(c) for c in changed]
        made = self._dictionaries.of(at, recodings, run)
        writer = Writer(
            self._session, self._position, made, writing, textual=self._source.textual
        )
        return writer.write(run)

    # Opening ------------------------------------------------------------------------

    def _position(self, name: str) -> int:
        return [c.name for c in self._columns].index(name)

    def _open(self, where: Mapping[str, Sequence[object]]) -> tuple[Column, ...]:
        source, session = self._source, self._session
        scan, names = source.scan, source.names
        if source.attach:
            path = sql.literal(source.attach)
            session.ask(f"ATTACH {path} AS {DATABASE} (READ_ONLY)")
        if source.json:
            names = tuple(c for c, _ in self._describe(json_scan(source.json)))
            scan = json_scan(source.json, names)
        if source.frame is not None:
            session.register("frame", source.frame)
            scan = "frame"
        described = self._describe(scan)
        names = names or tuple(c for c, _ in described)
        spelled = sql.unguarded if source.guarded else str
        chosen = ", ".join(
            f"{spelled(sql.quoted(c))} AS c{i}" for i, (c, _) in enumerate(described)
        )
        session.ask(f"CREATE TEMP VIEW everybody AS SELECT {chosen} FROM {scan}")
        only = self._filter(where, names)
        session.ask(f"CREATE TEMP VIEW people AS SELECT * FROM everybody e {only}")
        return tuple(
            Column(name, "text" if source.textual else kind_of(type_))
            for name, (_, type_) in zip(names, described, strict=True)
        )

    def _describe(self, scan: str) -> list[tuple[str, str]]:
        table = self._session.ask(f"DESCRIBE SELECT * FROM {scan}")
        columns = (table["column_name"], table["column_type"])
        return list(zip(*(c.to_pylist() for c in columns), strict=True))

    def _filter(
        self, where: Mapping[str, Sequence[object]], names: Sequence[str]
    ) -> str:
        tests = []
        for i, (name, values) in enumerate(where.items()):
            if name not in names:
                raise ColumnNotFound(
                    f"Column {name!r} of where must exist. {what_exists(name, names)}"
                )
            texts = [None if v is None else str(v) for v in values]
            wanted = pa.table({"v": pa.array(texts, pa.string())})
            self._session.register(f"wanted_{i}", wanted)
            cell = f"CAST(e.c{list(names).index(name)} AS VARCHAR)"
            same = sql.DUCKDB.same.format(a=cell, b="w.v")
            tests.append(f"EXISTS (SELECT 1 FROM wanted_{i} w WHERE {same})")
        return "WHERE " + " AND ".join(tests) if tests else ""


def kind_of(type_: str) -> str:
    """The kind of values a DuckDB type holds.

    >>> kind_of("DECIMAL(10,2)"), kind_of("UBIGINT"), kind_of("VARCHAR[]")
    ('number', 'integer', 'other')
    """
    name = type_.split("(", maxsplit=1)[0]
    kinds = {
        "VARCHAR": "text",
        "ENUM": "text",
        "DATE": "date",
        "BOOLEAN": "boolean",
        "DOUBLE": "number",
        "FLOAT": "number",
        "DECIMAL": "number",
    }
    if type_.endswith("]"):
        return "other"
    if name.endswith(("INT", "INTEGER")):
        return "integer"
    if name.startswith("TIMESTAMP"):
        return "datetime"
    return kinds.get(name, "other")
