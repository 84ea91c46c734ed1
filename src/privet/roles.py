"""What each column is for: identifier, quasi, sensitive, target; and public bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import pairwise

from privet.errors import ColumnNotFound, InputError, RoleConflict, what_exists
from privet.exact import Number, fraction

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


@dataclass(frozen=True)
class Bins:
    """Public cut points: a value v falls into the bin with edge <= v < next edge.

    >>> Bins([18, 65]).labels()
    ('below 18', '18 to below 65', '65 and more')
    """

    edges: tuple[Fraction, ...] | tuple[date, ...]
    """Increasing; all numbers or all dates."""

    def __init__(self, edges: Sequence[Edge | str]) -> None:
        if isinstance(edges, str) or not edges:
            raise InputError(f"bins must be a list of edges; got {edges!r}.")
        cuts = _edges(edges)
        if any(b <= a for a, b in pairwise(cuts)):  # type: ignore[operator]
            raise InputError(f"bins must be increasing edges; got {list(edges)!r}.")
        object.__setattr__(self, "edges", cuts)

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


def _edges(edges: Sequence[Edge | str]) -> tuple[Fraction, ...] | tuple[date, ...]:
    if any(isinstance(e, date) or _is_iso_date(e) for e in edges):
        return tuple(_as_date(e) for e in edges)
    return tuple(fraction(e, "a bin's edge") for e in edges)  # type: ignore[arg-type]


def _is_iso_date(edge: object) -> bool:
    return isinstance(edge, str) and edge.count("-") == 2 and len(edge) == 10


def _as_date(edge: object) -> date:
    try:
        return edge if isinstance(edge, date) else date.fromisoformat(str(edge))
    except ValueError:
        raise InputError(
            f"a bin's edges must be all dates such as 1960-01-01, or all numbers; "
            f"got {edge!r} among dates."
        ) from None


def _show(edge: Fraction | date) -> str:
    if isinstance(edge, Fraction):
        shortest = float(edge)
        exact = Fraction(repr(shortest)) == edge
        return (
            f"{shortest:g}"
            if exact and shortest == float(f"{shortest:g}")
            else str(edge)
        )
    return edge.isoformat()


@dataclass(frozen=True)
class Roles:
    """Which column is what, before any table is at hand."""

    identifier: tuple[str, ...] = ()
    """Columns that name a person; never counted, never released."""
    quasi: tuple[str, ...] = ()
    """Columns an outsider may know about a person."""
    sensitive: tuple[str, ...] = ()
    """Columns nobody should learn about a person."""
    target: str | None = None
    """The column the analyst wants to explain; may be a sensitive one."""
    unit: str | None = None
    """The column that tells people apart where somebody has several rows."""
    weight: str | None = None
    """The column that says how many rows each row stands for."""
    bins: Mapping[str, Bins] = field(default_factory=dict)
    """Public cut points of numeric and date columns."""

    def __post_init__(self) -> None:
        for role in ("identifier", "quasi", "sensitive"):
            object.__setattr__(self, role, names(getattr(self, role), role))
        cuts = {c: b if isinstance(b, Bins) else Bins(b) for c, b in self.bins.items()}
        object.__setattr__(self, "bins", cuts)
        self._refuse_two_roles()
        if self.unit and self.weight:
            raise RoleConflict(
                "unit and weight must not be given together: distinct people are "
                "counted, or multiplicities added, not both."
            )

    def __hash__(self) -> int:
        return hash((self.identifier, self.quasi, self.sensitive, self.target))

    def _refuse_two_roles(self) -> None:
        for column, roles in self._claims().items():
            if len(roles) > 1:
                raise RoleConflict(
                    f"Column {column!r} must have one role; got {' and '.join(roles)}."
                )

    def _claims(self) -> dict[str, list[str]]:
        claims: dict[str, list[str]] = {}
        for role in ("identifier", "quasi", "sensitive"):
            for column in getattr(self, role):
                claims.setdefault(column, []).append(role)
        if self.target in self.identifier:
            claims[str(self.target)].append("target")
        if self.weight:
            claims.setdefault(self.weight, []).append("weight")
            if self.target == self.weight:
                claims[self.weight].append("target")
        if self.unit and self.unit not in self.identifier:
            claims.setdefault(self.unit, []).append("unit")
        return claims

    def columns(self) -> tuple[str, ...]:
        """Every column that is named, each once."""
        single = [c for c in (self.target, self.unit, self.weight) if c]
        named = (*self.identifier, *self.quasi, *self.sensitive, *single, *self.bins)
        return tuple(dict.fromkeys(named))


def names(value: str | Iterable[str] | None, what: str) -> tuple[str, ...]:
    """One name or several, as a tuple without repetition.

    >>> names("job", "quasi"), names(["job", "country"], "quasi")
    (('job',), ('job', 'country'))
    """
    listed = () if value is None else (value,) if isinstance(value, str) else value
    try:
        result = tuple(listed)
    except TypeError:
        result = (value,)  # type: ignore[assignment]
    if not all(isinstance(n, str) for n in result):
        raise InputError(f"{what} must be column names; got {value!r}.")
    if len(set(result)) < len(result):
        twice = next(n for n in result if result.count(n) > 1)
        raise InputError(f"{what} must name each column once; got {twice!r} twice.")
    return result


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
                    f"Column {c!r} must exist. {what_exists(c, self.names)}"
                    for c in missing
                )
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(c.name for c in self.columns)

    def role(self, name: str) -> str:
        """The role of a column in a word, or an empty text."""
        roles = self.roles
        for role in ("identifier", "quasi", "sensitive"):
            if name in getattr(roles, role):
                return role
        single = {roles.target: "target", roles.unit: "unit", roles.weight: "weight"}
        return single.get(name, "")
