"""What columns hold: asked and told the same way everywhere."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from privet.engine import sql
from privet.engine.protocol import ColumnSummary, Run
from privet.engine.run import StatementRunner

PRECISE_ROWS = 1_000_000
"""Up to this many rows different values are counted exactly for a description."""


def count_values(
    place: StatementRunner, c: int, precise: bool, run: Run, step: tuple[int, int]
) -> tuple[int, int, int]:
    """Of one column: rows, present values, and about how many of those differ."""
    statement = sql.describe(f"c{c}", "pv_people", [], precise, place.dialect)
    work = partial(place.fetch, statement)
    table = place.run_watched(work, run, "reading columns", step)
    rows, present, different = (col[0].as_py() for col in table.columns)
    return rows, present, different


def summarise_column(
    name: str, kind: str, rows: int, present: int, different: int
) -> ColumnSummary:
    """A column by its numbers; what is missing is a value of its own."""
    values = min(different, present) + (present < rows)
    return ColumnSummary(name, kind, rows, values, rows - present)


def read_json_cell(cell: str | None) -> str | None:
    """The text that a cell of a JSON file means; it may be cut off at its end.

    >>> read_json_cell('"a b"'), read_json_cell("1.5"), read_json_cell("null")
    ('a b', '1.5', None)
    """
    if cell is None or cell == "null":
        return None
    if not cell.startswith('"'):
        return cell
    try:
        return str(json.loads(cell))
    except ValueError:
        return cell.strip('"')


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


PARQUET = {
    "STRING": "text",
    "INT": "integer",
    "DATE": "date",
    "DECIMAL": "number",
    "TIMESTAMP": "datetime",
    "INT32": "integer",
    "INT64": "integer",
    "DOUBLE": "number",
    "FLOAT": "number",
    "BOOLEAN": "boolean",
}
"""The kinds of plain types of Parquet, logical and physical, as DuckDB reads them."""


def read_parquet_kinds(path: Path) -> dict[str, str] | None:
    """The kind of each column of a file, by its footer; None where that is not plain.

    Opening a table for it would take a database of its own. What is wrong with a file
    is said by whoever opens it then.
    """
    if not path.is_file():  # several parts
        return None
    try:
        return _list_plain_kinds(pq.read_metadata(path).schema)
    except (OSError, ValueError, pa.ArrowException):
        return None


def _list_plain_kinds(schema: Any) -> dict[str, str] | None:
    kinds: dict[str, str] = {}
    for i in range(len(schema)):
        column = schema.column(i)
        type_ = column.logical_type.type
        kind = PARQUET.get(column.physical_type if type_ == "NONE" else type_)
        if kind is None or column.max_repetition_level or column.path != column.name:
            return None
        kinds[column.name] = kind
    alike = {name.casefold() for name in kinds}
    return kinds if len(alike) == len(schema) else None
