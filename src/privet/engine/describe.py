"""What columns hold: asked and told the same way everywhere."""

from __future__ import annotations

from functools import partial

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
