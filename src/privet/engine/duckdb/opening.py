"""The first steps with a source: attach, register, and learn its columns' names."""

from __future__ import annotations

import glob
from collections.abc import Sequence

import pyarrow as pa

from privet.engine import arrow
from privet.engine.duckdb.session import Session
from privet.engine.failures import TooLittleMemory
from privet.engine.sources.source import Source
from privet.engine.sources.text_files import JSON_KEYS, OTHER_LINES
from privet.engine.sql import literal, quoted
from privet.errors import EmptyTable, EngineError, InputError, what_exists

DATABASE = "source_database"
"""What we call a database file that was attached."""


def names_files(session: Session, paths: Sequence[str]) -> None:
    """Tell the engine which files, outside of any statement.

    Folders such as ``city=Bonn`` hold values; and a name may look like a pattern.
    """
    files = arrow.frame(path=arrow.texts(map(glob.escape, paths)))
    session.register("paths", files)
    session.ask("SET VARIABLE files = (SELECT list(path) FROM paths)")
    session.unregister("paths")


def plain_folders(scan: str) -> str:
    """A scan for which the names of folders mean nothing, unless it says so."""
    if not scan.startswith("read_") or "hive_partitioning" in scan:
        return scan
    return scan.removesuffix(")") + ", hive_partitioning = false)"


# Databases --------------------------------------------------------------------------


def attached(session: Session, path: str, table: str) -> str:
    """The table of a database file; an error lists those there are."""
    try:
        session.ask(f"ATTACH {literal(path)} AS {DATABASE} (READ_ONLY, TYPE duckdb)")
    except EngineError as error:
        if "could not read" not in str(error):
            raise
    else:
        return _found(_tables(session), table, path)
    raise InputError(
        f"File {path!r} must be a DuckDB database that this version of DuckDB reads; "
        "it is not."
    )


def _tables(session: Session) -> dict[str, str]:
    """What tables and views are called, and how a statement calls them."""
    rows = session.ask(
        "SELECT schema_name AS s, table_name AS t FROM duckdb_tables() "
        f"WHERE database_name = '{DATABASE}' AND NOT internal UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() "
        f"WHERE database_name = '{DATABASE}' AND NOT internal ORDER BY s, t"
    ).to_pylist()
    return {
        row["t"] if row["s"] == "main" else f"{row['s']}.{row['t']}": ".".join(
            quoted(part) for part in (DATABASE, row["s"], row["t"])
        )
        for row in rows
    }


def _found(tables: dict[str, str], table: str, path: str) -> str:
    if not tables:
        raise EmptyTable(f"Database {path!r} must have tables; it has none.")
    for name in (table, table.removeprefix("main.")):
        if name in tables:
            return tables[name]
    if not table:
        raise InputError(
            f"table must name a table of the database {path!r}; got none. "
            f"{what_exists('', list(tables))}"
        )
    raise InputError(
        f"Table {table!r} must exist in {path!r}. {what_exists(table, list(tables))}"
    )


# JSON and frames --------------------------------------------------------------------


def json_names(session: Session, words: str) -> list[str]:
    """All keys of all objects."""
    if others := session.one(OTHER_LINES):
        raise InputError(
            f"Each line of {words} must be a JSON object; {others} lines are not."
        )
    names: list[str] = session.ask(JSON_KEYS)["k"].to_pylist()
    if not names:
        raise EmptyTable(f"A table must have columns; {words} has none.")
    return names


def register_frame(session: Session, source: Source) -> None:
    """Let statements see a frame; an error names the columns that do not fit."""
    try:
        session.register("frame", source.frame)
        session.ask("DESCRIBE SELECT * FROM frame")
        return
    except TooLittleMemory:
        raise
    except EngineError:
        wrong = [
            n for i, n in enumerate(source.names or ()) if not _fits(session, source, i)
        ]
    if not wrong:
        raise InputError(f"DuckDB must be able to read {source.words}; it is not.")
    raise InputError(
        "Columns must have types that DuckDB reads; "
        + ", ".join(map(repr, wrong))
        + " have others. Convert them to text."
    )


def _fits(session: Session, source: Source, column: int) -> bool:
    frame = source.frame
    if isinstance(frame, pa.Table):
        one = frame.select([column]).slice(0, 0)
    elif hasattr(frame, "iloc"):
        one = frame.iloc[:0, [column]]
    else:
        one = pa.schema([frame.schema.field(column)]).empty_table()
    try:
        session.register("one_column", one)
        session.ask("DESCRIBE SELECT * FROM one_column")
    except EngineError:
        return False
    return True
