"""Only some rows: what `where` asks for, without a value in any statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np

from privet.engine import arrow, sql, text_types
from privet.engine.duckdb.session import Session
from privet.engine.sources.national_formats import respell
from privet.engine.sources.source import Source
from privet.errors import ColumnNotFound, InputError, suggest_names
from privet.values.schema import Column

TYPED = ("integer", "number", "date", "datetime", "boolean")
"""Kinds whose values are compared as what they are, not as texts."""


class RowFilter:
    """The rows whose columns have one of the values asked for."""

    def __init__(
        self,
        session: Session,
        source: Source,
        columns: Sequence[Column],
        types: Sequence[str],
    ) -> None:
        self._session = session
        self._source = source
        self._columns = columns
        self._types = types

    def write_condition(
        self, where: Mapping[str, Sequence[object]], table: str, people: str
    ) -> str:
        """A condition on the rows `e` of `people`, by small tables called `table`_0, …

        Empty if nothing is asked for.
        """
        names = [c.name for c in self._columns]
        tests = []
        for i, (name, values) in enumerate(where.items()):
            check_where(name, values, names)
            c = names.index(name)
            tests.append(self._write_test(c, values, f"{table}_{i}", people))
        return "WHERE " + " AND ".join(tests) if tests else ""

    def _write_test(
        self, c: int, values: Sequence[object], table: str, people: str
    ) -> str:
        """A condition on one column."""
        wanted = arrow.texts(t for v in values for t in list_spellings(v))
        self._session.register(f"{table}_given", arrow.frame(v=wanted))
        cell = f"e.c{c}"
        if self._source.is_text(c):
            cell = text_types.text_of(cell, textual=True, json=self._source.json)
            value = respell("v", self._source.respelled.get(c))
            if any(_is_number(v) for v in values):  # 2024 also means 2024.0
                cell, value = (
                    text_types.normalise_number(cell),
                    text_types.normalise_number(value),
                )
            select = f"SELECT DISTINCT {value} AS v FROM {table}_given"
        elif self._columns[c].kind in TYPED:
            select = select_typed(
                f"{table}_given", self._types[c], self._columns[c].kind
            )
        else:
            cell = text_types.text_of(cell, textual=False, json=False)
            select = f"SELECT DISTINCT v FROM {table}_given"
        self._session.ask(f"CREATE OR REPLACE TEMP TABLE {table} AS {select}")
        self._session.unregister(f"{table}_given")
        same = sql.DUCKDB.same.format(a=cell, b="w.v")
        return f"EXISTS (SELECT 1 FROM {table} w WHERE {same})"


def check_where(name: str, values: Sequence[object], names: Sequence[str]) -> None:
    """A column of `where` must exist and have values."""
    if name not in names:
        raise ColumnNotFound(
            f"Column {name!r} of where must exist. {suggest_names(name, names)}"
        )
    if not values:
        raise InputError(f"where must give a value for column {name!r}.")


def select_typed(given: str, type_: str, kind: str) -> str:
    """The values that the column's type can hold exactly; others match no row."""
    value = f"TRY_CAST(v AS {type_})"
    fits = f"{value} IS NOT NULL"
    if kind in ("integer", "number"):
        same = text_types.normalise_number(f"CAST({value} AS VARCHAR)")
        fits = f"{same} = {text_types.normalise_number('v')}"
    return f"SELECT DISTINCT {value} AS v FROM {given} WHERE v IS NULL OR {fits}"


def _is_number(value: object) -> bool:
    number = isinstance(value, int | float | Decimal | np.number)
    return number and not isinstance(value, bool)


def list_spellings(value: object) -> list[str | None]:
    """How a value may be written in a file."""
    if value is None:
        return [None]
    if isinstance(value, bool | np.bool_):
        return [str(value), str(value).lower(), str(value).upper()]
    return [str(value)]
