"""Weights: whole numbers that can be added up exactly."""

from __future__ import annotations

from functools import partial

from privet.engine.duckdb.session import Session
from privet.engine.protocol import Run
from privet.errors import EmptyTable, InputError
from privet.values.exact import MAX_COUNT
from privet.values.schema import Column


def check_weights(
    session: Session, position: int, column: Column, run: Run, step: tuple[int, int]
) -> int:
    """Weights must be whole numbers whose sum can be counted exactly; the sum."""
    rows = f"SELECT c{position} AS v, 1 AS n FROM pv_people"
    return check_counted(session, f"({rows})", column, run, step)


def check_counted(
    session: Session, values: str, column: Column, run: Run, step: tuple[int, int]
) -> int:
    """The same for weights `v` that occur `n` times each."""
    if column.kind not in ("integer", "number", "text"):
        raise InputError(
            f"Weight column {column.name!r} must hold whole numbers; it holds values "
            f"of kind {column.kind}."
        )
    work = partial(session.fetch, _build_statement("v", values))
    table = session.run_watched(work, run, "checking weights", step)
    bad, total = table["bad"][0].as_py(), int(table["total"][0].as_py() or 0)
    if bad:
        raise InputError(
            f"Weight column {column.name!r} must hold whole numbers of at least 0; "
            f"{bad} {'row does' if bad == 1 else 'rows do'} not."
        )
    if total >= MAX_COUNT:
        raise InputError(
            f"Weight column {column.name!r} must sum to less than 2**53; "
            f"it sums to at least {total:.3g}."
        )
    if total == 0:
        raise EmptyTable(
            f"Weight column {column.name!r} must count somebody; all weights are 0."
        )
    return total


def _build_statement(cell: str, values: str) -> str:
    """Weights that are too large count as 2**53, lest their sum overflows."""
    number = f"TRY_CAST({cell} AS HUGEINT)"
    return (
        f"SELECT coalesce(CAST(sum(n) FILTER (WHERE {number} IS NULL OR {number} < 0 "
        f"OR TRY_CAST({cell} AS DOUBLE) <> {number}) AS BIGINT), 0) AS bad, "
        f"CAST(sum(n * least({number}, {MAX_COUNT})) AS VARCHAR) AS total FROM {values}"
    )
