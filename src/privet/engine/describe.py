"""How many rows there are and what columns hold: asked the same way everywhere."""

from __future__ import annotations

from functools import partial

from privet.engine import sql
from privet.engine.protocol import ColumnSummary, Run
from privet.engine.run import StatementRunner

PRECISE_ROWS = 1_000_000
"""Up to this many rows different values are counted exactly for a description."""


def rows_at(place: StatementRunner, run: Run) -> int:
    """How many rows there are; counted once."""
    if place.total is None:
        ask = partial(place.fetch, "SELECT count(*) AS n FROM pv_people")
        table = place.watched(ask, run, "counting rows", (1, 1))
        place.total = int(table["n"][0].as_py())
    return place.total


def is_empty_at(place: StatementRunner) -> bool:
    """Whether there are no rows at all."""
    return len(place.ask("SELECT 1 AS one FROM pv_people LIMIT 1")) == 0


def numbers_at(
    place: StatementRunner, c: int, precise: bool, run: Run, step: tuple[int, int]
) -> tuple[int, int, int]:
    """Of one column: rows, present values, and about how many of those differ."""
    statement = sql.describe(f"c{c}", "pv_people", [], precise, place.dialect)
    work = partial(place.fetch, statement)
    table = place.watched(work, run, "reading columns", step)
    rows, present, different = (col[0].as_py() for col in table.columns)
    return rows, present, different


def summary(
    name: str, kind: str, rows: int, present: int, different: int
) -> ColumnSummary:
    """A column by its numbers; what is missing is a value of its own."""
    values = min(different, present) + (present < rows)
    return ColumnSummary(name, kind, rows, values, rows - present)
