"""Private associations and secret queries: what a promise about views protects.

A private association is a person (the paper's ID) with a value of a private column (P).
A promise names it by columns and values, or by a secret query, whose condition must
hold too. Views that do not bear on it, and columns that nothing asks for and only one
view shows, are left out before worlds are formed, as in the connectivity graph.
Wang, Lakshmanan 2006, sections 3.1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from privet.errors import InputError
from privet.policy import Promise
from privet.policy.promises import is_query
from privet.table import require_columns
from privet.values.adversaries import Reconstructor
from privet.values.beliefs import Ceiling
from privet.views.release import Views
from privet.views.sql.secret_query import Condition, Constant, Query, read_query

TABLE = "T"
"""What secret queries may always call the table."""

Values = tuple[object, ...] | None
"""Some values of a column; None: all of them."""


@dataclass(frozen=True)
class PrivateAssociation:
    """Private associations: of people with values that nobody should learn."""

    promise: Promise
    """What was promised."""
    person: str
    """The column that says whom it is about."""
    secret: str
    """The private column."""
    people: Values
    """Which people; None: everybody."""
    values: Values
    """Which values; None: all that are not missing."""
    query: Query | None
    """A secret query, whose condition must hold too."""
    limit: Ceiling
    published: bool = False
    """Whether one view shows people and values side by side."""
    worlds: str = ""
    """What tables are made of: one of `WORLDS`; empty: as the promise says."""

    @property
    def against(self) -> Reconstructor:
        """Who must not learn it."""
        assert isinstance(self.promise.against, Reconstructor)
        return self.promise.against

    @property
    def model(self) -> str:
        """The attack model, which worlds count; what is published holds in all."""
        return "unrestricted" if self.published else self.against.model

    @property
    def full(self) -> bool:
        """Whether worlds are over whole tuples, not over the connectivity graph's."""
        worlds = self.worlds or self.against.worlds
        return worlds == "full" and not self.published

    @property
    def condition(self) -> Condition | None:
        """What else must hold of a tuple."""
        where = self.query.where if self.query else None
        return None if where is None else Condition(where)

    @property
    def everything(self) -> bool:
        """Whether every association is meant."""
        return self.people is None and self.values is None and self.condition is None

    def list_equalities(self) -> list[tuple[str, str]]:
        """Columns and the values the condition asks for by name."""
        return [
            (test.column, constant.text)
            for test in (self.query.tests() if self.query else ())
            if test.sign in ("=", "IN")
            for constant in (
                test.other if isinstance(test.other, tuple) else (test.other,)
            )
            if isinstance(constant, Constant) and constant.text is not None
        ]

    def list_used_columns(self) -> set[str]:
        """The columns the condition looks at."""
        return self.query.list_used_columns() if self.query else set()


def read_private_association(promise: Promise, views: Views) -> PrivateAssociation:
    """What a promise about views protects."""
    if not isinstance(promise.limit, Ceiling):
        raise InputError(
            "A promise against a reconstructor must be limited by at_most or below; "
            f"got {promise.limit!r}."
        )
    about = promise.about
    if is_query(about) and about not in views.table.schema.names:
        assert isinstance(about, str)
        return _read_secret_query(promise, views, about, promise.limit)
    named = _find_named_columns(promise, views)
    person, secret = _put_person_first(list(named), views)
    return PrivateAssociation(
        promise, person, secret, named[person], named[secret], None, promise.limit
    )


def _find_named_columns(promise: Promise, views: Views) -> dict[str, Values]:
    """The columns a promise names, with their values; those it leaves out are found."""
    about, table = promise.about, views.table
    if isinstance(about, dict):
        named: dict[str, Values] = {c: _as_values(v) for c, v in about.items()}
    elif isinstance(about, str):
        named = {about: None}
    else:
        named = {table.protected(): None if about is None else tuple(about)}
    if len(named) == 1:
        named = {_find_person_column(views): None, **named}
    if len(named) != 2:
        raise InputError(
            "about must name two columns for a reconstructor, the one that names "
            f"people and the private one; got {', '.join(map(repr, named))}."
        )
    if views.marker is None:  # files lack the columns that no view shows
        require_columns(list(named), table.schema, "about")
    return named


def _as_values(values: object) -> Values:
    if values == "*":
        return None
    return tuple(values) if isinstance(values, tuple) else (values,)


def _find_person_column(views: Views) -> str:
    """The one column that names people."""
    found = [c for c in views.roles.identifier if c in views.columns]
    found = found or list(views.roles.identifier) or [views.roles.unit or ""]
    if len(found) != 1 or not found[0]:
        have = f"got {', '.join(map(repr, found))}" if found[0] else "got none"
        raise InputError(
            "about must name the column of people too, such as {'name': '*', "
            f"'problem': '*'}}, unless one is an identifier; {have}."
        )
    return found[0]


def _put_person_first(columns: list[str], views: Views) -> tuple[str, str]:
    """The column of people first: an identifier, else the one named first."""
    first, second = columns
    names = {*views.roles.identifier, views.roles.unit}
    turned = second in names and first not in names
    return (second, first) if turned else (first, second)


def _read_secret_query(
    promise: Promise, views: Views, text: str, limit: Ceiling
) -> PrivateAssociation:
    names = [c.name for c in views.table.engine.columns()]
    query = read_query(views.engine.session, text, names, _list_table_names(views))
    if query.columns[0] == query.columns[1]:
        raise InputError("A secret query must select two different columns.")
    person, secret = _put_person_first(list(query.columns), views)
    return PrivateAssociation(promise, person, secret, None, None, query, limit)


def _list_table_names(views: Views) -> list[str]:
    """What a query may call the table: T, its file's name, its name in a database."""
    source = views.table.source
    stems = [Path(p).name.split(".")[0] for p in source.paths[:1]]
    called = [source.scan] if source.attach else stems
    return list(dict.fromkeys([TABLE, *(c for c in called if c)]))


# Which views bear on an association -------------------------------------------------


@dataclass(frozen=True)
class RemainingView:
    """What is left of a view for the connectivity graph."""

    number: int
    """The number of the view."""
    columns: frozenset[str]
    """The columns that matter."""


def reduce_views(views: Views, asked: set[str], *, full: bool) -> list[RemainingView]:
    """The views that matter for what is asked, with the columns that do.

    A column of one view only, which is not asked about, is projected away, as in the
    connectivity graph (unless worlds are over whole tuples); a view that another one
    contains adds nothing.
    """
    # Where a view goes a column may be left in one view only; so until all stay.
    parts = [RemainingView(i, frozenset(v.columns)) for i, v in enumerate(views.views)]
    while True:
        kept = _drop_contained(parts)
        if not full:
            kept = _select_connected(_project_columns(kept, asked), asked)
        if kept == parts:
            return parts
        parts = kept


def _drop_contained(parts: list[RemainingView]) -> list[RemainingView]:
    kept: list[RemainingView] = []
    for i, part in enumerate(parts):
        others = [p.columns for j, p in enumerate(parts) if j != i]
        twin = any(part.columns == p.columns for p in parts[:i])
        inside = any(part.columns < o for o in others)
        if not (twin or inside):
            kept.append(part)
    return kept


def _project_columns(
    parts: list[RemainingView], asked: set[str]
) -> list[RemainingView]:
    kept = []
    for i, part in enumerate(parts):
        others = frozenset().union(*(p.columns for j, p in enumerate(parts) if j != i))
        columns = part.columns & (others | asked)
        if columns or len(parts) == 1:
            kept.append(RemainingView(part.number, columns or part.columns))
    return kept


def _select_connected(
    parts: list[RemainingView], asked: set[str]
) -> list[RemainingView]:
    """Views that a chain of shared columns leads to from what is asked."""
    reached = set(asked)
    while more := {
        c for p in parts if p.columns & reached for c in p.columns if c not in reached
    }:
        reached |= more
    return [p for p in parts if p.columns & reached]


def check_condition(used: set[str], parts: list[RemainingView], full: bool) -> None:
    """A condition may look only at what worlds are made of."""
    known = frozenset().union(*(p.columns for p in parts))
    if wrong := sorted(used - known):
        hint = (
            "No view shows it."
            if full
            else "The others are projected away; ask with worlds = 'full'."
        )
        raise InputError(
            f"The condition of a secret query must use {', '.join(sorted(known))}; it "
            f"uses {wrong[0]!r}. {hint}"
        )
