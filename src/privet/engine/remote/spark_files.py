"""Text files that the machines of a cluster read as one machine would: by DuckDB.

Spark's own readers do not tell a text in quotes from one without, and give JSON values
types of their own. The scan that reads a file here goes to the machines instead, a file
to each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from privet.engine.duckdb.engine import ignore_folder_names, name_files, read_json_names
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Run
from privet.engine.sources.source import Source
from privet.engine.sources.text_files import check_whole, json_scan

ROWS = 100_000
"""Rows that are handed over together."""


@dataclass(frozen=True)
class SparkReader:
    """Reads files, where they are asked for; every value is the text it has."""

    scan: str
    """What to select from; the files are a variable."""
    columns: int
    """How many there are."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the files that are named."""
        for batch in batches:
            for path in batch["path"].to_pylist():
                yield from self.read_rows(path)

    def read_rows(self, path: str) -> Iterator[pa.RecordBatch]:
        """The rows of one file."""
        schema = pa.schema([(f"c{i}", pa.string()) for i in range(self.columns)])
        names = ", ".join(f"c{i}" for i in range(self.columns))
        cells = ", ".join(f"CAST(c{i} AS VARCHAR) AS c{i}" for i in range(self.columns))
        session = Session("a file", reads=[path], threads=1)
        try:
            name_files(session, [path])
            statement = f"SELECT {cells} FROM {self.scan} AS t({names})"
            reader = session.con.sql(statement).to_arrow_reader(ROWS)
            for batch in reader:
                yield batch.cast(schema)
            reader.close()
        finally:
            session.close()


def read_spread(spark: Any, found: Source) -> tuple[Any, tuple[str, ...]]:
    """Files as a DataFrame of texts, and the names of its columns."""
    check_whole(found.paths, Run())
    names, scan = found.names or (), found.scan
    if found.json:
        names = tuple(_read_names(found))
        scan = json_scan(names, found)
    reading = SparkReader(ignore_folder_names(scan), len(names))
    files = spark.createDataFrame([(p,) for p in found.paths], "path STRING")
    schema = ", ".join(f"c{i} STRING" for i in range(len(names)))
    apart = files.repartition(len(found.paths))
    return apart.mapInArrow(_wrap_reader(reading), schema).toDF(*names), names


def _wrap_reader(reading: SparkReader) -> Any:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reading(batches)

    return read


def _read_names(found: Source) -> Sequence[str]:
    """The keys of all objects, which are looked for here."""
    session = Session(found.words, reads=found.paths)
    try:
        name_files(session, found.paths)
        return read_json_names(session, found)
    finally:
        session.close()
