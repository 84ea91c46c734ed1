"""Roles of columns: identifier, quasi-identifier, sensitive, target; public bins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any

import attrs

from privet.errors import ColumnNotFound, InputError, RoleConflict, suggest_names
from privet.values.converters import name_fields
from privet.values.exact import Number, all_digits, fraction
from privet.values.frozen_dict import FrozenDict

KINDS = ("text", "integer", "number", "date", "datetime", "boolean", "other")
"""The kinds of values a column may hold, as far as privet tells them apart."""

Edge = Number | date
"""One cut point of a bin."""


@dataclass(frozen=True)
class Column:
    """A column as the engine sees it."""

    name: str
    """As the source writes it."""
    kind: str = "text"
    """One of `KINDS`."""


LARGEST_EDGE = 10**300
"""Numbers of tables are floats at the most, which end soon after."""


def _read_edges(edges: Sequence[Edge | str]) -> tuple[Fraction, ...] | tuple[date, ...]:
    if isinstance(edges, str) or not isinstance(edges, Sequence) or not edges:
        raise InputError(
            f"bins must be a list of edges such as [18, 65]; got {edges!r}."
        )
    dated = any(isinstance(e, date) or _is_iso_date(e) for e in edges)
    cuts: tuple[Any, ...] = tuple(map(_as_date if dated else _as_number, edges))
    if any(b <= a for a, b in pairwise(cuts)):
        shown = ", ".join(_show(c) for c in cuts)
        raise InputError(f"bins must be increasing edges; got {shown}.")
    return cuts


def _is_iso_date(edge: object) -> bool:
    return isinstance(edge, str) and bool(re.fullmatch(r"....-..-..", edge))


def _as_date(edge: object) -> date:
    if isinstance(edge, date) and not isinstance(edge, datetime):
        return edge
    try:
        return date.fromisoformat(str(edge))
    except ValueError:
        raise InputError(
            "bins must have edges that are all dates such as 1960-01-01, or all "
            f"numbers; got {edge!r} among dates."
        ) from None


def _as_number(edge: object) -> Fraction:
    number = fraction(edge, "an edge of bins")  # type: ignore[arg-type]
    if abs(number) > LARGEST_EDGE:
        raise InputError(f"an edge of bins must be at most 1e300; got {edge!r}.")
    return number


def _show(edge: Fraction | date) -> str:
    if not isinstance(edge, Fraction):
        return edge.isoformat()
    shortest = repr(float(edge)).removesuffix(".0")
    return shortest if Fraction(shortest) == edge else all_digits(edge)


@attrs.frozen
class Bins:
    """Public cut points: a value v falls into the bin with edge <= v < next edge.

    >>> Bins([18, 65]).labels()
    ('below 18', '18 to below 65', '65 and more')
    """

    edges: tuple[Fraction, ...] | tuple[date, ...] = attrs.field(converter=_read_edges)
    """Increasing; all numbers or all dates."""

    @property
    def are_dates(self) -> bool:
        """Whether the edges are dates rather than numbers."""
        return isinstance(self.edges[0], date)

    def labels(self) -> tuple[str, ...]:
        """The bins in words, in order: one more than there are edges."""
        first, last = (
            ("before", "from {}") if self.are_dates else ("below", "{} and more")
        )
        text = [_show(e) for e in self.edges]
        inner = [f"{a} to {first} {b}" for a, b in pairwise(text)]
        return (f"{first} {text[0]}", *inner, last.format(text[-1]))

    def to_list(self) -> list[str]:
        """The edges as text."""
        return [_show(e) for e in self.edges]


def as_names(
    value: str | Iterable[str] | None,
    what: str = "names",
    *,
    noun: str = "column name",
) -> tuple[str, ...]:
    """One name or several, as a tuple without repetition.

    >>> as_names("job", "quasi"), as_names(["job", "country"], "quasi")
    (('job',), ('job', 'country'))
    """
    listed = () if value is None else (value,) if isinstance(value, str) else value
    if isinstance(listed, set | frozenset):
        listed = sorted(listed, key=str)
    result: tuple[Any, ...] = tuple(listed) if _is_list(listed) else (listed,)
    if not all(isinstance(n, str) for n in result):
        raise InputError(f"{what} must be {noun}s; got {value!r}.")
    if len(set(result)) < len(result):
        twice = next(n for n in result if result.count(n) > 1)
        raise InputError(f"{what} must hold each {noun} once; got {twice!r} twice.")
    return result


def _is_list(value: object) -> bool:
    """A dictionary could be iterated too, but it says more than its keys."""
    return isinstance(value, Iterable) and not isinstance(value, Mapping)


def _require_name(_roles: Any, role: attrs.Attribute[Any], value: object) -> None:
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(f"{role.name} must be one column name; got {value!r}.")


def _read_bins(
    bins: Mapping[str, Bins | Sequence[Edge | str]],
) -> FrozenDict[str, Bins]:
    if not isinstance(bins, Mapping):
        raise InputError(
            f"bins must be edges per column such as {{'age': [18, 65]}}; got {bins!r}."
        )
    return FrozenDict(
        {c: b if isinstance(b, Bins) else Bins(b) for c, b in bins.items()}
    )


SEVERAL = ("identifier", "quasi", "sensitive", "other", "drop")
"""Roles that several columns may have; they exclude each other."""


@attrs.frozen(field_transformer=name_fields)
class Roles:
    """Which column is what, before any table is at hand."""

    identifier: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns that name a person; never counted, never released."""
    quasi: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Quasi-identifiers: columns an outsider may know about a person."""
    sensitive: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns nobody should learn about a person."""
    other: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns that are published as they are; they may be known, and are no secret."""
    drop: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns that are left out of every release."""
    target: str | None = attrs.field(default=None, validator=_require_name)
    """The column the analyst wants to explain; may be a sensitive one."""
    unit: str | None = attrs.field(default=None, validator=_require_name)
    """The column that tells people apart where somebody has several rows."""
    weight: str | None = attrs.field(default=None, validator=_require_name)
    """The column that says how many rows each row stands for."""
    bins: Mapping[str, Bins] = attrs.field(factory=dict, converter=_read_bins)
    """Public cut points of numeric and date columns."""

    def __attrs_post_init__(self) -> None:
        wrong = [rule for _, rule in find_conflicts(attrs.asdict(self, recurse=False))]
        if wrong:
            raise RoleConflict("\n".join(wrong))

    def columns(self) -> tuple[str, ...]:
        """Every column that is named, each once."""
        single = [c for c in (self.target, self.unit, self.weight) if c]
        several = [c for role in SEVERAL for c in getattr(self, role)]
        return tuple(dict.fromkeys((*several, *single, *self.bins)))

    def role(self, name: str) -> str:
        """The role of a column in a word, or an empty text; bins are none."""
        for role in SEVERAL:
            if name in getattr(self, role):
                return role
        single = {self.target: "target", self.unit: "unit", self.weight: "weight"}
        return single.get(name, "")

    @property
    def withheld(self) -> tuple[str, ...]:
        """Columns that no release shows: they name people, or are left out."""
        return (*self.identifier, *self.drop)

    def list_known(self, about: str | None = None) -> tuple[str, ...]:
        """Known columns: all that somebody may know who asks about this one.

        Quasi-identifiers, the other columns that are published, and the target.
        """
        target = (self.target,) if self.target else ()
        named = dict.fromkeys((*self.quasi, *self.other, *target))
        return tuple(c for c in named if c != about and c not in self.drop)


def find_conflicts(roles: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each role that excludes an earlier one, and the rule it breaks.

    >>> find_conflicts({"quasi": ("job",), "sensitive": ("job",)})
    [('sensitive', "Column 'job' must have one role; got quasi and sensitive.")]
    """
    claims: dict[str, list[str]] = {}
    for role in (*SEVERAL, "weight", "unit", "target"):
        for column in as_names(roles.get(role), role):
            claims.setdefault(column, []).append(role)
    found = [
        (said[-1], f"Column {column!r} must have one role; got {' and '.join(said)}.")
        for column, said in claims.items()
        if len(said) > 1 and tuple(said) not in TOGETHER
    ]
    if roles.get("unit") and roles.get("weight"):
        rule = (
            "unit and weight must not be given together: distinct people are counted, "
            "or multiplicities added, not both."
        )
        found.append(("weight", rule))
    return found


TOGETHER = {
    ("quasi", "target"),
    ("sensitive", "target"),
    ("other", "target"),
    ("identifier", "unit"),
    ("drop", "unit"),
}
"""Roles one column may have at the same time."""


@dataclass(frozen=True)
class Schema:
    """The columns a table has, joined with their roles."""

    columns: tuple[Column, ...]
    """In the order of the source."""
    roles: Roles = field(default_factory=Roles)
    """Each named column exists."""

    def __post_init__(self) -> None:
        missing = [c for c in self.roles.columns() if c not in self.names]
        if missing:
            raise ColumnNotFound(
                "\n".join(
                    f"Column {c!r} must exist. {suggest_names(c, self.names)}"
                    for c in missing
                )
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(c.name for c in self.columns)

    def role(self, name: str) -> str:
        """The role of a column in a word, or an empty text."""
        return self.roles.role(name)

    def list_undecided(self) -> tuple[str, ...]:
        """Columns without a role, in the order of the source."""
        return tuple(c for c in self.names if not self.role(c))
