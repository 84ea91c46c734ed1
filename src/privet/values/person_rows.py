"""How several rows of a person become one: what is taken of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from privet.errors import ColumnNotFound, InputError, suggest_names
from privet.values.converters import name_fields
from privet.values.schema import Roles, as_names

RULES = ("first", "last", "least", "most", "commonest", "set", "count")
"""What may be taken of a column's values, of all rows of a person."""


@attrs.frozen(field_transformer=name_fields)
class PersonRows:
    """What is taken of each column; a column without a rule must not vary."""

    by: str | None = None
    """The column that tells people apart; None: the one that is the unit."""
    order: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """The columns of numbers or dates that say which row of a person is the first."""
    first: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns whose cell in the first row is taken."""
    last: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns whose cell in the last row is taken."""
    least: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns of numbers, dates or truths whose least value is taken."""
    most: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns whose largest value is taken."""
    commonest: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns whose commonest value is taken; the least of those as common."""
    set: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns of which the list of different values is taken."""
    count: tuple[str, ...] = attrs.field(default=(), converter=as_names)
    """Columns of which it is taken how many rows have a value there."""

    def __attrs_post_init__(self) -> None:
        if self.by is not None and (not isinstance(self.by, str) or not self.by):
            raise InputError(f"by must be one column name; got {self.by!r}.")
        ruled = [column for _, column in self.list_ruled()]
        for column in dict.fromkeys(ruled):
            if ruled.count(column) > 1:
                rules = [rule for rule, c in self.list_ruled() if c == column]
                raise InputError(
                    f"Column {column!r} must have one rule; got {' and '.join(rules)}."
                )
        if self.by in (*ruled, *self.order):
            raise InputError(
                f"Column {self.by!r} must only tell people apart; it has a rule, or "
                "orders rows, too."
            )
        if (self.first or self.last) and not self.order:
            raise InputError(
                "order must name the columns that say which row is the first, where "
                "first or last is asked for; got none."
            )

    def list_ruled(self) -> Iterator[tuple[str, str]]:
        """Each rule with each of its columns."""
        for rule in RULES:
            for column in getattr(self, rule):
                yield rule, column

    def find_rule(self, column: str) -> str:
        """The rule of a column; empty: it has none."""
        return next((rule for rule, c in self.list_ruled() if c == column), "")

    def columns(self) -> tuple[str, ...]:
        """Every column that is named, each once."""
        ruled = (column for _, column in self.list_ruled())
        named = dict.fromkeys((self.by, *self.order, *ruled))
        return tuple(c for c in named if c)

    def resolve(self, roles: Roles) -> PersonRows:
        """The same, with the column that tells people apart in these roles."""
        by = self.by or roles.unit
        if by is None:
            raise InputError(
                "person must have by, the column that tells people apart; got none, "
                "and no column is the unit."
            )
        if roles.unit not in (None, by):
            raise InputError(
                f"by of person must be the unit; got {by!r}, and the unit is "
                f"{roles.unit!r}. Leave one of them out."
            )
        if roles.weight:
            raise InputError(
                "weight must be left out where rows become people, who are counted "
                f"once each; got {roles.weight!r}."
            )
        if by in (*roles.quasi, *roles.sensitive, *roles.other, roles.target):
            raise InputError(
                f"by of person must not be released; {by!r} is {roles.role(by)}. Make "
                "it an identifier."
            )
        return attrs.evolve(self, by=by)

    def settle(self, roles: Roles) -> Roles:
        """The roles of people: who they are is an identifier, and nothing else."""
        by = self.resolve(roles).by
        assert by is not None
        more = () if by in roles.withheld else (by,)
        return attrs.evolve(roles, unit=None, identifier=(*roles.identifier, *more))

    def check(self, names: Sequence[str]) -> None:
        """Every column must exist."""
        for column in self.columns():
            if column not in names:
                raise ColumnNotFound(
                    f"Column {column!r} of person must exist. "
                    f"{suggest_names(column, names)}"
                )

    def to_dict(self) -> dict[str, Any]:
        """As a policy has it."""
        told: dict[str, Any] = {"by": self.by} if self.by else {}
        if self.order:
            told["order"] = list(self.order)
        return told | {r: list(c) for r in RULES if (c := getattr(self, r))}


def read_person(stated: Mapping[str, Any] | PersonRows | None) -> PersonRows | None:
    """What was said of rows and people, as a dictionary or already read.

    >>> read_person({"by": "id", "order": "visit", "last": "town"}).last
    ('town',)
    """
    if stated is None or isinstance(stated, PersonRows):
        return stated
    known = [a.name for a in attrs.fields(PersonRows)]
    if not isinstance(stated, Mapping):
        raise InputError(
            f"person must be a dictionary with {', '.join(known)}; got {stated!r}."
        )
    for key in stated:
        if key not in known:
            raise InputError(
                f"{key!r} is not a key of person. {suggest_names(str(key), known)}"
            )
    return PersonRows(**stated)


@attrs.frozen
class PeopleMade:
    """How many rows stood for how many people."""

    rows: int
    """The rows there were."""
    people: int
    """The people they became."""
    most: int
    """The most rows that one person had."""
    tied: int = 0
    """People whose first or last row had to be chosen among several."""

    def to_dict(self) -> dict[str, int]:
        """For custody and for machines."""
        return attrs.asdict(self)
