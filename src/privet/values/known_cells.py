"""What somebody knows of a person, and what they take the rest for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from privet.errors import InputError
from privet.values import exact
from privet.values.exact import Number
from privet.values.frozen_dict import FrozenDict


def as_cell(value: object) -> str:
    """A cell as engines show it: its text.

    >>> as_cell(True), as_cell(4), as_cell("x")
    ('true', '4', 'x')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal | date | np.number):
        return str(value)
    raise InputError(f"A value must be text, a number or a date; got {value!r}.")


def read_cells(cells: Mapping[str, object] | None) -> FrozenDict[str, str] | None:
    """Values by name, as texts; None: nothing is known."""
    if cells is None:
        return None
    if not isinstance(cells, Mapping) or not all(isinstance(c, str) for c in cells):
        raise InputError(
            f"What is known must be a value per name, such as {{'Ed': 'Flu'}}; "
            f"got {cells!r}."
        )
    return FrozenDict({c: as_cell(v) for c, v in cells.items()})


READINGS = ("any", "model")
"""Readings of the unknown that have a name: anything at all, or the published model."""

DECLARED = ("shares", "marginals", "table")
"""Readings of the unknown that are declared by numbers or rows."""

Reading = str | FrozenDict[str, Any]
"""What somebody takes the attributes for that are not known."""


def read_unknown(unknown: str | Mapping[str, Any]) -> Reading:
    """A reading by its name, or by what it declares."""
    if isinstance(unknown, str) and unknown in READINGS:
        return unknown
    if not isinstance(unknown, Mapping) or len(unknown) != 1:
        raise InputError(_say_readings(unknown))
    ((way, told),) = unknown.items()
    if way not in DECLARED:
        raise InputError(_say_readings(unknown))
    return FrozenDict({way: _read_rows(told) if way == "table" else _read_each(told)})


def _say_readings(unknown: object) -> str:
    return (
        "unknown must be 'any', 'model', or one of shares, marginals and table, such "
        f"as {{'shares': {{'sex': {{'f': '1/2', 'm': '1/2'}}}}}}; got {unknown!r}."
    )


def _read_each(told: Any) -> FrozenDict[str, FrozenDict[str, Fraction]]:
    """A share for each value of each attribute."""
    if not isinstance(told, Mapping) or not told:
        raise InputError(f"Shares of the unknown must be per attribute; got {told!r}.")
    found = {}
    for name, shares in told.items():
        if not isinstance(shares, Mapping) or not shares:
            raise InputError(f"Shares of {name!r} must be per value; got {shares!r}.")
        each = {
            as_cell(v): exact.probability(p, f"share of {v} in {name}")
            for v, p in shares.items()
        }
        if (total := sum(each.values())) != 1:
            raise InputError(f"Shares of {name!r} must sum to 1; got {total}.")
        found[name] = FrozenDict(each)
    return FrozenDict(found)


def _read_rows(told: Any) -> tuple[FrozenDict[str, str], ...]:
    """Rows of a public table, each with a value per attribute."""
    rows = told if isinstance(told, Sequence) and not isinstance(told, str) else ()
    found = tuple(read_cells(row) for row in rows if isinstance(row, Mapping))
    if not found or len(found) < len(rows):
        raise InputError(
            "A table of the unknown must be rows, such as "
            f"[{{'sex': 'f', 'age': 'old'}}]; got {told!r}."
        )
    return tuple(row for row in found if row is not None)


def read_tilt(tilt: Number) -> Fraction:
    """How many times as likely as its share anything may be; at least 1."""
    found = exact.fraction(tilt, "tilt")
    if found < 1:
        raise InputError(f"tilt must be at least 1; got {tilt!r}.")
    return found
