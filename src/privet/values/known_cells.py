"""What somebody knows of a person, and what they take the rest for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from operator import index
from typing import Any, TypeGuard

import numpy as np

from privet.errors import InputError
from privet.values import exact
from privet.values.exact import Number
from privet.values.frozen_dict import FrozenDict
from privet.values.schema import as_names


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


# Amounts and priors ------------------------------------------------------------------


def require_whole(value: Any, what: str, *, least: int) -> int:
    """A whole number from the least on."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if number < least:
        raise InputError(
            f"{what} must be a whole number of at least {least}; got {value!r}."
        )
    return number


def is_several(value: object) -> TypeGuard[Any]:
    """Whether something is the knowledge itself rather than a number."""
    return isinstance(value, str | Mapping | Sequence | set | frozenset)


def read_amount(
    given: int | Sequence[str], what: str = "same_as"
) -> int | tuple[str, ...]:
    """A number stays one; anything else is the knowledge itself."""
    if is_several(given):
        return as_names(given, what, noun="value" if what == "rules_out" else "name")
    return require_whole(given, what, least=0)


def read_others(given: int | Mapping[str, object]) -> int | Mapping[str, str] | None:
    """A number of people, or who has what."""
    if is_several(given):
        return read_cells(given)
    return require_whole(given, "knows_others", least=0)


def read_attributes(
    known: Mapping[str, object] | Sequence[str] | int | None,
) -> Mapping[str, str] | tuple[str, ...] | int | None:
    """One victim's attributes, some of them by name, or how many."""
    if known is None or isinstance(known, Mapping):
        return read_cells(known)
    if is_several(known):
        return as_names(known, "knows")
    return require_whole(known, "knows", least=0)


PRIORS = ("uniform", "any")
"""Priors that have a name; any: the worst of all, for disguised rows."""


def read_prior(
    prior: str | Mapping[str, Number],
) -> str | FrozenDict[str, Fraction]:
    """A prior by its name, or a probability per class."""
    if isinstance(prior, str) and prior in PRIORS:
        return prior
    if not isinstance(prior, Mapping) or not all(isinstance(c, str) for c in prior):
        raise InputError(
            "prior must be 'uniform', a probability per class, or 'any' for disguised "
            f"rows; got {prior!r}."
        )
    shares = {c: exact.probability(p, f"prior of {c}") for c, p in prior.items()}
    if (total := sum(shares.values())) != 1:
        raise InputError(f"prior must sum to 1 over the classes; got {total}.")
    return FrozenDict(shares)


def read_near(near: Mapping[str, Number] | None) -> FrozenDict[str, Fraction] | None:
    """How near a guess is, and which share of them may be."""
    if near is None:
        return None
    if not isinstance(near, Mapping) or set(near) != {"within", "at_most"}:
        raise InputError(
            "near must be within and at_most, such as { within = '10 %', at_most = "
            f"0.3 }}; got {near!r}."
        )
    within = near["within"]
    if isinstance(within, str) and within.endswith("%"):
        within = exact.fraction(within[:-1].strip(), "within") / 100
    found = {
        "within": exact.probability(within, "within"),
        "at_most": exact.probability(near["at_most"], "at_most"),
    }
    return FrozenDict(found)


# What the rest is taken for ---------------------------------------------------------

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


# What an insider is only fairly sure of ----------------------------------------------


def read_sure(sure: Any) -> tuple[Fraction, ...] | None:
    """How surely values are ruled out: once for all, or one by one; None: for certain.

    >>> read_sure("90 %"), read_sure(["0.9", 0.5])
    ((Fraction(9, 10),), (Fraction(9, 10), Fraction(1, 2)))
    """
    if sure is None:
        return None
    several = sure if isinstance(sure, list | tuple) else [sure]
    found = tuple(exact.probability(p, "sure") for p in several)
    if not found or 0 in found:
        raise InputError(
            "sure must be above 0, as one probability or a list with one for each "
            f"value ruled out; got {exact.quote_value(sure)}."
        )
    return found


def read_evidence(evidence: Number) -> Fraction:
    """How many times likelier evidence is if something is true; at least 1."""
    found = exact.fraction(evidence, "evidence")
    if found < 1:
        raise InputError(
            f"evidence must be at least 1; got {exact.quote_value(evidence)}."
        )
    if max(found.numerator, found.denominator) >= 10**exact.CHANCE_DIGITS:
        raise InputError(
            f"evidence must have at most {exact.CHANCE_DIGITS} digits; got more."
        )
    return found


SHARE, EXCLUDE = "share", "exclude"
"""Members have one value; no two have the same."""

Members = str | FrozenDict[str, Any]
"""What is known of the values of people who belong together."""


def read_members(members: str | Mapping[str, Any]) -> Members:
    """That members share, exclude, are alike with a probability, or go in pairs."""
    if isinstance(members, str) and members in (SHARE, EXCLUDE):
        return members
    given = set(members) if isinstance(members, Mapping) else set()
    if isinstance(members, Mapping) and given == {"alike"}:
        return FrozenDict(alike=exact.probability(members["alike"], "alike"))
    if isinstance(members, Mapping) and {"pairs"} <= given <= {"pairs", "otherwise"}:
        rest = exact.probability(members.get("otherwise", 1), "otherwise")
        return FrozenDict(pairs=_read_pairs(members["pairs"]), otherwise=rest)
    raise InputError(
        "members must be 'share', 'exclude', { alike = 0.9 }, or pairs of values with "
        "weights, such as { pairs = { A = { B = 0 } }, otherwise = 1 }; "
        f"got {members!r}."
    )


def _read_pairs(given: Any) -> FrozenDict[str, FrozenDict[str, Fraction]]:
    """A weight for each pair of values, in both orders."""
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"pairs must be weights per pair of values; got {given!r}.")
    found: dict[str, dict[str, Fraction]] = {}
    for one, others in given.items():
        if not isinstance(others, Mapping) or not others:
            raise InputError(f"pairs of {one!r} must be weights; got {others!r}.")
        for other, weight in others.items():
            v, w = as_cell(one), as_cell(other)
            each = exact.probability(weight, f"weight of {v} with {w}")
            if found.get(v, {}).get(w, each) != each:
                raise InputError(
                    f"The pair of {v!r} and {w!r} must have one weight; got two."
                )
            found.setdefault(v, {})[w] = each
            found.setdefault(w, {})[v] = each
    return FrozenDict({v: FrozenDict(others) for v, others in found.items()})
