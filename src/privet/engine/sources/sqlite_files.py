"""SQLite databases, read by ADBC.

A column of SQLite may hold values of several types. It keeps its type here if all of
its values have it; else it is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from privet.engine.sources.reader_process import Records
from privet.engine.sources.source import refuse_twice
from privet.engine.sql import quoted
from privet.errors import EmptyTable, InputError, suggest_names

TABLES = (
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)

KINDS = ("integer", "real", "text", "blob")
"""What SQLite calls the types of values."""

SELECT = {
    "integer": ("0", "CAST({c} AS INTEGER)"),
    "real": ("0.0", "CAST({c} AS REAL)"),
    "text": ("''", "CAST({c} AS TEXT)"),
    "blob": ("''", "CASE WHEN {c} IS NULL THEN NULL ELSE hex({c}) END"),
}
"""A value of each type that tells ADBC the type, and how cells become of it."""

COLUMNS_AT_ONCE = 250
"""Columns that one statement looks at; SQLite selects 2,000 values at the most."""

TYPES = {"integer": pa.int64(), "real": pa.float64()}


def read_records(request: Mapping[str, Any]) -> Records:
    """The rows of one table."""
    import adbc_driver_manager as adbc

    called = repr(request["called"])
    try:
        database = _Database(f"file:{quote(request['path'])}?mode=ro")
        tables = [str(row["name"]) for row in database.ask(TABLES)]
        table = _find_table(tables, request.get("table"), called)
        return _read_table(database, quoted(table), called)
    except (adbc.Error, pa.ArrowException, OSError):
        pass
    raise InputError(
        f"File {called} must be a SQLite database that can be read; it is damaged or "
        "none."
    )


class _Database:
    """A connection; below the interface that would import data frames."""

    def __init__(self, uri: str) -> None:
        import adbc_driver_manager as adbc
        import adbc_driver_sqlite as sqlite

        self._adbc = adbc
        self._database = sqlite.connect(uri)
        self._connection = adbc.AdbcConnection(self._database)

    def stream(self, statement: str) -> pa.RecordBatchReader:
        """What a statement selects, some rows at a time."""
        asked = self._adbc.AdbcStatement(self._connection)
        asked.set_sql_query(statement)
        handle, _ = asked.execute_query()
        return pa.RecordBatchReader._import_from_c(handle.address)

    def ask(self, statement: str) -> list[dict[str, Any]]:
        """The few rows a statement selects."""
        found: list[dict[str, Any]] = self.stream(statement).read_all().to_pylist()
        return found


def _find_table(tables: Sequence[str], wanted: str | None, called: str) -> str:
    if not tables:
        raise EmptyTable(f"Database {called} must have tables; it has none.")
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted is None:
        raise InputError(
            f"table must name a table of the database {called}; got none. "
            f"{suggest_names('', tables)}"
        )
    if wanted not in tables:
        raise InputError(
            f"Table {wanted!r} must exist in {called}. {suggest_names(wanted, tables)}"
        )
    return wanted


def _read_table(database: _Database, table: str, called: str) -> Records:
    names = list(database.stream(f"SELECT * FROM {table} LIMIT 0").schema.names)
    refuse_twice(names, called)
    kinds = _find_kinds(database, table, names)
    types = [TYPES.get(kind, pa.large_string()) for kind in kinds]
    schema = pa.schema([(f"c{i}", type_) for i, type_ in enumerate(types)])
    texts = (i for i, kind in enumerate(kinds) if kind == "text")
    batches = _read_rows(database, table, dict(zip(names, kinds, strict=True)), schema)
    return Records(tuple(names), schema, batches, tuple(texts))


def _find_kinds(database: _Database, table: str, names: Sequence[str]) -> list[str]:
    """The type that all values of each column fit."""
    found: list[str] = []
    for start in range(0, len(names), COLUMNS_AT_ONCE):
        few = names[start : start + COLUMNS_AT_ONCE]
        tests = ", ".join(
            f"coalesce(max(typeof({quoted(n)}) = '{kind}'), 0) AS t{i}_{kind}"
            for i, n in enumerate(few)
            for kind in KINDS
        )
        row = list(database.ask(f"SELECT {tests} FROM {table}")[0].values())
        several = [row[i : i + 4] for i in range(0, len(row), 4)]
        for name, types in zip(few, several, strict=True):
            _refuse_bytes_among_others(name, types)
        found += [_name_kind(types) for types in several]
    return found


def _refuse_bytes_among_others(name: str, found: Sequence[int]) -> None:
    """Bytes are shown as digits; texts beside them would be, too, unseen."""
    *others, blob = found
    if blob and any(others):
        raise InputError(
            f"Column {name!r} must hold bytes, or none; it holds some beside other "
            "values. Cast them to text in a view, and read that."
        )


def _name_kind(found: Sequence[int]) -> str:
    """The kind of a column with values of some types.

    >>> _name_kind([1, 0, 0, 0]), _name_kind([1, 1, 0, 0]), _name_kind([1, 0, 1, 0])
    ('integer', 'real', 'text')
    """
    integer, real, text, blob = found
    if blob:
        return "blob"
    if text or not (integer or real):
        return "text"
    return "real" if real else "integer"


def _read_rows(
    database: _Database, table: str, kinds: Mapping[str, str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    # ADBC takes the types from the first rows: a row of ours comes before all others.
    first = ", ".join(SELECT[kind][0] for kind in kinds.values())
    cells = ", ".join(SELECT[k][1].format(c=quoted(n)) for n, k in kinds.items())
    begun = False
    for batch in database.stream(
        f"SELECT {first} UNION ALL SELECT {cells} FROM {table}"
    ):
        rows = batch if begun else batch.slice(1)
        begun = True
        columns = [c.cast(f.type) for c, f in zip(rows.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
