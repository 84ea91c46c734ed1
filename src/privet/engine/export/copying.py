"""Writing what is selected to a file, under the names that its columns have.

DuckDB does not tell `Age` from `age`: where names differ by case only, its COPY calls
the second one `age_1`. Such rows are handed to Arrow, which keeps every name.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import duckdb
import pyarrow as pa

from privet.engine import sql
from privet.engine.duckdb.session import ROWS_AT_ONCE
from privet.engine.protocol import WriteQuery
from privet.engine.sources.source import differ
from privet.errors import InputError


def copied(con: duckdb.DuckDBPyConnection, select: str, writing: WriteQuery) -> int:
    """Write what is selected as `o0`, `o1`, …, in this thread; how many rows it has."""
    names = [named(name, writing.format) for name in writing.columns]
    if "" in names and writing.format == "csv":
        raise InputError(
            "A column must have a name to be written as CSV; one has none. Name it, or "
            "write Parquet."
        )
    if "" in names or not differ(names):
        return _streamed(con, select, names, writing)
    cells = ", ".join(f"o{i} AS {sql.quoted(name)}" for i, name in enumerate(names))
    copy = sql.copy(f"SELECT {cells} FROM ({select})", writing.path, writing.format)
    return int(con.execute(copy).fetchall()[0][0])


def _streamed(
    con: duckdb.DuckDBPyConnection,
    select: str,
    names: Sequence[str],
    writing: WriteQuery,
) -> int:
    if writing.format == "csv":  # Arrow would write numbers and times otherwise
        cells = ", ".join(f"CAST(o{i} AS VARCHAR) AS o{i}" for i in range(len(names)))
        select = f"SELECT {cells} FROM ({select})"
    rows = 0
    with closing(con.sql(select).to_arrow_reader(ROWS_AT_ONCE)) as reader:
        types = [field.type for field in reader.schema]
        schema = pa.schema(list(zip(names, types, strict=True)))
        with file_of(writing.path, writing.format, schema) as file:
            for batch in reader:
                shown = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                file.write_batch(shown)
                rows += len(batch)
    return rows


def named(name: str, format_: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return sql.guarded_name(name) if format_ == "csv" else name


# Files ------------------------------------------------------------------------------


def file_of(path: str, format_: str, schema: pa.Schema) -> Any:
    """A new file that takes batches."""
    if format_ == "csv":
        from pyarrow import csv

        plain = pa.schema([pa.field(f.name, pa.string()) for f in schema])
        return _CsvWriter(csv.CSVWriter(path, plain), plain)
    from pyarrow import parquet

    return parquet.ParquetWriter(path, schema, compression="zstd")


class _CsvWriter:
    """Writes CSV, which has no dictionaries."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(self, *_error: object) -> None:
        self._writer.close()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows, every cell as a text."""
        plain = [c.cast(pa.string()) for c in batch.columns]
        self._writer.write_batch(pa.record_batch(plain, schema=self._schema))
