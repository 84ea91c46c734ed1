"""SQLite counts: an engine in one file, as a newcomer would write one.

It is the example of CONTRIBUTING's recipe: an address, a dialect and a connection. All
that a package would have besides is a line in `find_source.py:DATABASES`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from privet.engine import sql
from privet.engine.protocol import Run
from privet.engine.remote.connection import Connection, RemoteColumn
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import EngineError, InputError, suggest_names

DIALECT = sql.Dialect(
    same="{a} IS {b}",
    text="TEXT",
    big="INTEGER",
    hash="pv_hash({columns})",  # a function of ours
    grouping_sets=False,  # it has none
)

TYPES = {
    "INTEGER": pa.int64(),
    "REAL": pa.float64(),
    "TEXT": pa.string(),
    "DATE": pa.string(),
}
"""What columns arrive as."""

COLUMNS = "SELECT name, type FROM pragma_table_info(?)"
TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"


@dataclass(frozen=True)
class SqliteAddress:
    """A table of a file."""

    path: str
    table: str

    def open(self, words: str) -> Sqlite:
        """A connection of our own."""
        return Sqlite(self.path, self.table, words)


def from_address(uri: str, table: str | None) -> Source:
    """A table of the file at sqlite:///…"""
    if not table:
        raise InputError("table must name a table of the SQLite file; got none.")
    path = uri.removeprefix("sqlite://")
    words = f"the table {table!r} of {Path(path).name!r}"
    return Source(None, address=SqliteAddress(path, table), words=words)


class Sqlite(Connection):
    """One table of a file, seen in one transaction."""

    name = "sqlite"
    dialect = DIALECT
    failures = (sqlite3.Error, pa.ArrowException)
    version = f"SQLite {sqlite3.sqlite_version}"

    def __init__(self, path: str, table: str, words: str) -> None:
        super().__init__(words)
        # Statements run in a thread of their own, one at a time.
        self._con = sqlite3.connect(
            f"file:{path}?mode=ro",
            uri=True,
            check_same_thread=False,
            isolation_level=None,
        )
        self._con.create_function("pv_hash", -1, _hash, deterministic=True)
        try:
            self._begin(table)
        except BaseException:
            self.close()
            raise

    def _begin(self, table: str) -> None:
        self.ask("BEGIN")
        tables = self.ask(TABLES)["name"].to_pylist()
        if table not in tables:
            raise InputError(
                f"Table {table!r} must exist in {self.words}. "
                f"{suggest_names(table, tables)}"
            )
        columns = self._con.execute(COLUMNS, [table]).fetchall()
        self._cells = tuple(_describe_column(name, type_) for name, type_ in columns)
        cells = ", ".join(
            f"{sql.quoted(name)} AS c{i}" for i, (name, _) in enumerate(columns)
        )
        self.view("pv_everybody", f"SELECT {cells} FROM main.{sql.quoted(table)}")

    def list_columns(self) -> tuple[RemoteColumn, ...]:
        """The columns of the table."""
        return self._cells

    def _disconnect(self) -> None:
        self._con.close()

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement; its rows as Arrow, which SQLite does not know."""
        cursor = self._con.execute(statement)
        if cursor.description is None:
            return pa.table({})
        names = [column for column, *_ in cursor.description]
        types = self._find_types(statement)
        rows = cursor.fetchmany(most + 1) if most is not None else cursor.fetchall()
        if most is not None and len(rows) > most:
            raise DoesNotFit
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return pa.table(
            [
                pa.array(cells, TYPES.get(type_) or _guess_type(cells))
                for type_, cells in zip(types, columns, strict=True)
            ],
            names,
        )

    def _find_types(self, select: str) -> list[str]:
        """The types of what is selected, also where there are no rows."""
        self._con.execute(f"CREATE TEMP VIEW pv_shape AS {select}")
        found = self._con.execute(COLUMNS, ["pv_shape"]).fetchall()
        self._con.execute("DROP VIEW pv_shape")
        return [type_ for _, type_ in found]

    def view(self, name: str, select: str) -> None:
        """Let statements see what is selected; SQLite replaces no views."""
        self.ask(f"DROP VIEW IF EXISTS temp.{name}")
        self.ask(f"CREATE TEMP VIEW {name} AS {select}")

    def upload(self, name: str, frame: pa.Table, column: int) -> None:
        """Let statements see a small table."""
        names = ", ".join(frame.column_names)
        values = ", ".join("?" for _ in frame.column_names)
        self._con.execute(f"CREATE TEMP TABLE {name} ({names})")
        rows = zip(*(c.to_pylist() for c in frame.columns), strict=True)
        self._con.executemany(f"INSERT INTO {name} VALUES ({values})", rows)

    def drop(self, name: str) -> None:
        """Take an uploaded table away again."""
        self.ask(f"DROP TABLE IF EXISTS temp.{name}")

    @contextmanager
    def stream(self, select: str, scratch: Path, run: Run) -> Iterator[Any]:
        """Rows that are to be written."""
        rows = self.run_watched(partial(self.fetch, select), run, "writing", (1, 2))
        yield rows.to_reader()

    def interrupt(self) -> None:
        """Stop the statement that runs, if any does."""
        self._con.interrupt()

    def explain(self, error: BaseException) -> BaseException:
        """What an error of SQLite means; none of its text is passed on."""
        if "interrupted" in str(error):
            return KeyboardInterrupt()
        return EngineError(
            f"SQLite could not read {self.words} ({type(error).__name__}). Its own "
            "message is withheld, since it may quote people's data."
        )


def _describe_column(name: str, type_: str) -> RemoteColumn:
    if type_ == "DATE":  # a text such as 2024-05-01
        return RemoteColumn(name, "date", textual=True, written="DATE")
    return RemoteColumn(name)


def _guess_type(cells: Sequence[Any]) -> pa.DataType | None:
    """The type of what was computed: counts are whole numbers, also of no rows."""
    if not cells:
        return pa.int64()
    return pa.string() if all(c is None for c in cells) else None


def _hash(*cells: object) -> int:
    return crc32(repr(cells).encode())
