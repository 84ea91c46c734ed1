"""PostgreSQL counts: a table of a database, which stays there, through ADBC."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from privet.engine import arrow, sql
from privet.engine.protocol import Run
from privet.engine.remote.connection import Connection, RemoteColumn
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import (
    EmptyTable,
    EngineError,
    InputError,
    MissingExtra,
    suggest_names,
)

T = TypeVar("T")

DIALECT = sql.Dialect(
    # Arrays with nothing in them are equal, and unlike IS NOT DISTINCT FROM their
    # equality can be hashed: else each join would compare everybody with every value.
    same="ARRAY[{a}] = ARRAY[{b}]",
    text="TEXT",
    big="BIGINT",
    hash="(hashtextextended(concat_ws(',', {columns}), 0) & 9223372036854775807)",
    grouping_sets=False,  # they are not counted in parallel
)
"""How PostgreSQL spells what databases spell differently."""

PLAIN = ("bool", "int2", "int4", "int8", "date", "timestamp", "timestamptz", "bytea")
"""Types whose values arrive as they are."""

TABLES = (
    "SELECT n.nspname AS s, c.relname AS t FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT LIKE 'pg\\_%' "
    "AND n.nspname <> 'information_schema' ORDER BY s, t"
)

COLUMNS = (
    "SELECT a.attname AS name, coalesce(b.typname, t.typname) AS type, "
    "CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END AS modifier, "
    "CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) "
    "END AS base FROM pg_catalog.pg_attribute a "
    "JOIN pg_catalog.pg_type t ON t.oid = a.atttypid "
    "LEFT JOIN pg_catalog.pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype "
    "WHERE a.attrelid = CAST({table} AS regclass) AND a.attnum > 0 "
    "AND NOT a.attisdropped ORDER BY a.attnum"
)


@dataclass(frozen=True)
class DatabaseAddress:
    """A table of a database; what it takes to be let in is never shown."""

    uri: str = field(repr=False)
    """Host, database, user, and perhaps a password."""
    table: str
    """The table, with its schema unless that is public."""

    def open(self, words: str) -> Postgres:
        """A connection of our own."""
        return Postgres(self.uri, self.table, words)


def from_address(uri: str, table: str | None) -> Source:
    """A table of a PostgreSQL database."""
    if not table:
        raise InputError(
            "table must name a table of the PostgreSQL database, such as 'people' or "
            "'hospital.visits'; got none."
        )
    words = f"the table {table!r} of the PostgreSQL database"
    return Source(None, address=DatabaseAddress(uri, table), words=words)


class Postgres(Connection):
    """One table of a database, seen in one snapshot from beginning to end."""

    name = "postgres"
    dialect = DIALECT

    def __init__(self, uri: str, table: str, words: str) -> None:
        super().__init__(words)
        adbc = require_adbc()
        self.failures = (adbc.Error, pa.ArrowException, OSError)  # type: ignore[misc]
        self._con = _connect(adbc, uri)
        self._cursor: Any = None
        try:
            self._begin(table)
        except BaseException:
            self.close()
            raise

    def _begin(self, table: str) -> None:
        snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ"
        self.run_guarded(partial(self._execute, snapshot))
        self.ask("SET LOCAL TIME ZONE 'UTC'")
        self.ask("SET LOCAL datestyle = 'ISO, YMD'")
        self.ask("SET LOCAL extra_float_digits = 1")
        version = self.fetch_one("SELECT current_setting('server_version') AS v")
        self.version = f"PostgreSQL {version.split()[0]}"
        called = self._find_table(table)
        columns = self.ask(COLUMNS.format(table=sql.literal(called))).to_pylist()
        self._cells = tuple(
            _describe_column(c["name"], c["type"], c["modifier"]) for c in columns
        )
        if not columns:
            raise EmptyTable(f"A table must have columns; {self.words} has none.")
        cells = ", ".join(
            f"{_make_comparable(sql.quoted(c['name']), c)} AS c{i}"
            for i, c in enumerate(columns)
        )
        self.view("pv_everybody", f"SELECT {cells} FROM {called}")

    def _find_table(self, table: str) -> str:
        """How statements call the table; an error lists those there are."""
        found = {
            r["t"] if r["s"] == "public" else f"{r['s']}.{r['t']}": (r["s"], r["t"])
            for r in self.ask(TABLES).to_pylist()
        }
        wanted = found.get(table) or found.get(table.removeprefix("public."))
        if wanted is None:
            raise InputError(
                f"Table {table!r} must exist in the PostgreSQL database. "
                f"{suggest_names(table, list(found))}"
            )
        return ".".join(map(sql.quoted, wanted))

    def _disconnect(self) -> None:
        """End the snapshot; what we made ends with it."""
        self._con.close()

    def list_columns(self) -> tuple[RemoteColumn, ...]:
        """The columns of the table."""
        return self._cells

    # Statements ---------------------------------------------------------------------

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement in this thread; what it selects, or an empty table."""
        return self._run_in_savepoint(partial(self._fetch_batches, statement, most))

    def _fetch_batches(self, statement: str, most: int | None) -> pa.Table:
        with self._con.cursor() as self._cursor:
            self._cursor.execute(statement)
            if self._cursor.description is None:
                return arrow.frame()
            reader = self._cursor.fetch_record_batch()
            batches, rows = [], 0
            for batch in reader:
                batches.append(batch)
                rows += len(batch)
                if most is not None and rows > most:
                    self._cursor.adbc_cancel()
                    raise DoesNotFit
            return pa.Table.from_batches(batches, reader.schema)

    def _run_in_savepoint(self, work: Callable[[], T]) -> T:
        """Run work; if it fails, the snapshot and what we made stay."""
        self._execute("SAVEPOINT pv_before")
        try:
            done = work()
        except BaseException:
            with suppress(*self.failures):
                self._execute("ROLLBACK TO SAVEPOINT pv_before")
            raise
        self._execute("RELEASE SAVEPOINT pv_before")
        return done

    def _execute(self, statement: str) -> None:
        with self._con.cursor() as cursor:
            cursor.execute(statement)

    def interrupt(self) -> None:
        """Stop the statement that runs, if any does."""
        with suppress(Exception):  # nothing runs
            self._con.adbc_cancel()

    def explain(self, error: BaseException) -> BaseException:
        """What an error of the server means; none of its text is passed on."""
        state = getattr(error, "sqlstate", None) or ""
        if state == "57014" or "canceling statement" in str(error):
            return KeyboardInterrupt()
        if state.startswith("53"):
            return DoesNotFit()
        if state in ("42501", "25006"):
            return InputError(
                f"The database must let its user read {self.words} and make temporary "
                "tables; it does not. Ask for the rights SELECT and TEMPORARY, and "
                "connect to a server that is no standby."
            )
        why = f"SQLSTATE {state}" if re.fullmatch(r"\w{5}", state) else "no connection"
        return EngineError(
            f"PostgreSQL could not read {self.words} ({why}). Its own message is "
            "withheld, since it may quote people's data."
        )

    def upload(self, name: str, frame: pa.Table, column: int) -> None:
        """Let statements see a small table."""
        self._run_in_savepoint(partial(self._ingest, name, frame))

    def _ingest(self, name: str, frame: pa.Table) -> None:
        with self._con.cursor() as cursor:
            cursor.adbc_ingest(name, frame, mode="create", temporary=True)
        if pa.types.is_string(frame.schema.field("v").type):
            self._execute(f'ALTER TABLE {name} ALTER v TYPE text COLLATE "C"')
        self._execute(f"ANALYZE {name}")

    def drop(self, name: str) -> None:
        """Take an uploaded table away again; views of it, too."""
        self.ask(f"DROP TABLE IF EXISTS {name} CASCADE")

    # Writing ------------------------------------------------------------------------

    @contextmanager
    def stream(self, select: str, scratch: Path, run: Run) -> Iterator[Any]:
        """Rows, recoded by the server, as they arrive."""
        cursor = self._con.cursor()
        try:
            self.run_watched(partial(cursor.execute, select), run, "writing", (1, 2))
            yield cursor.fetch_record_batch()
        finally:
            cursor.close()


def _connect(adbc: Any, uri: str) -> Any:
    try:
        # The driver's own transactions end with the first error; ours do not.
        return adbc.connect(uri, autocommit=True)
    except (adbc.Error, OSError, ValueError):
        pass
    raise InputError(
        "The PostgreSQL database must be there and let us in; it is not, or does not. "
        "Check host, port, database and user of the address, and the password, which "
        "is best kept in PGPASSWORD or in a password file."
    )


def require_adbc() -> Any:
    """The driver; or what to install."""
    try:
        import adbc_driver_postgresql.dbapi as adbc
    except ImportError:
        raise MissingExtra(
            "PostgreSQL needs the extra 'postgres': pip install 'privet[postgres]'."
        ) from None
    return adbc


# Types ------------------------------------------------------------------------------


def _describe_column(name: str, type_: str, modifier: int) -> RemoteColumn:
    if type_ != "numeric":
        return RemoteColumn(name)
    digits, scale = _unpack_digits(modifier)
    fits = digits is not None and digits <= 38 and 0 <= scale <= digits
    written = f"DECIMAL({digits},{scale})" if fits else ""
    return RemoteColumn(name, "number", textual=True, written=written)


def _unpack_digits(modifier: int) -> tuple[int | None, int]:
    """Digits in all and after the point of a numeric type.

    >>> _unpack_digits((15 << 16) + 2 + 4), _unpack_digits(-1)
    ((15, 2), (None, 0))
    """
    if modifier < 0:
        return None, 0
    scale = (modifier - 4) & 0x7FF
    return (modifier - 4) >> 16, scale - 2048 if scale >= 1024 else scale


def _make_comparable(cell: str, column: dict[str, Any]) -> str:
    """A column whose values can be compared and sent."""
    type_ = column["type"]
    if column["base"]:
        cell = f"CAST({cell} AS {column['base']})"
    if type_ in PLAIN:
        return cell
    if type_ in ("float4", "float8"):
        return f"({cell} + CAST(0 AS {type_}))"  # of two zeros one
    if type_ == "numeric":
        shown = cell if column["modifier"] >= 0 else f"trim_scale({cell})"
        return (
            f"(CASE {cell} WHEN 'NaN' THEN 'nan' WHEN 'Infinity' THEN 'inf' WHEN "
            f"'-Infinity' THEN '-inf' ELSE CAST({shown} AS text) END COLLATE \"C\")"
        )
    return f'(CAST({cell} AS text) COLLATE "C")'
