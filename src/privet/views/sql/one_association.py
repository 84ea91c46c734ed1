"""One private association of two views: its keys, and what each attack model asks.

The tables of what all keys show are read past the few keys of one person, so that a
witness and what other models say of it cost no further look at the rows.
Wang, Lakshmanan 2006, sections 3.1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from privet.views.sql.join import JoinedViews

MOST_SHOWN = 20
"""Keys and values that a witness lists."""

Meeting = tuple[Any, ...]
"""The sizes of one key, in the order of `FIELDS`; last, where there is a condition,
the pairs of tuples that satisfy it."""

FIELDS = {
    "unrestricted": ("m", "n", "s", "t"),
    "restricted": ("m", "n", "s", "t"),
    "functional": ("m", "n"),
    "bag": ("rows", "holders", "own"),
}
"""What each model needs to know of a key."""


@dataclass(frozen=True)
class AssociationKind:
    """Associations that meet in keys of the same sizes."""

    number: int
    """Tells kinds apart."""
    meetings: tuple[Meeting, ...] | None
    """The keys; None where a person's other keys rule the value out."""
    candidates: tuple[tuple[tuple[Meeting, ...], int], ...] = ()
    """Restricted: how many values a person could have, by the sizes of the keys."""
    pairs: int = 0
    """How many associations."""


@dataclass(frozen=True)
class Example:
    """One association, as the table shows it."""

    person: str | None
    """Whom it is about."""
    secret: str | None
    """The value."""
    keys: tuple[dict[str, str | None], ...]
    """The keys in which they meet: with both, the join tuples that support it."""
    cover: int = 0
    """How many values the join gives the person in all."""
    shown: tuple[str | None, ...] = field(default=())
    """Some of them."""


@dataclass(frozen=True)
class NodeTables:
    """Tables of what two views show, or statements in brackets that select it."""

    left: str
    """People of each key, with their rows: h, i, own."""
    right: str
    """Values of each key, with their rows: h, p, holders."""
    sizes: str
    """Both numbers, and the rows: h, m, n, rows."""
    keys: str
    """What each key h shows; perhaps several times."""
    which: str = "p IS NOT NULL"
    """The values that are asked for."""


@dataclass(frozen=True)
class OneAssociation:
    """Somebody and a value, where everybody and every value has one node in a key."""

    relation: JoinedViews
    """The two views."""
    nodes: NodeTables
    """What they show, at least in all keys of this person."""
    chosen: str
    """A statement that selects the two: i, p."""

    @cached_property
    def _left(self) -> str:
        """A table of the person's keys."""
        select = (
            f"SELECT l.h, l.i, l.own, f.p FROM {self.nodes.left} l "
            f"JOIN ({self.chosen}) f ON l.i = f.i"
        )
        return self.relation.make("own_keys", lambda _: select, "", "reading keys")

    @cached_property
    def _right(self) -> str:
        """A table of the values in them."""
        select = (
            f"SELECT r.h, r.p, r.holders FROM {self.nodes.right} r "
            f"SEMI JOIN {self._left} l ON r.h = l.h"
        )
        return self.relation.make("own_values", lambda _: select, "", "reading keys")

    def fetch_example(self) -> Example:
        """The association as it is shown, with its keys and the person's cover."""
        relation, sides = self.relation, self.relation.sides
        shown = relation.select_key_columns("k")
        cells = [
            f"{relation.text(sides.person, 'l.i')} AS i",
            f"{relation.text(sides.secret, 'l.p')} AS p",
        ]
        names = ", ".join(f"k.{x}" for x in [*relation.keys, "h"])
        keys = (
            f"SELECT DISTINCT {names} FROM {self.nodes.keys} k "
            f"SEMI JOIN {self._left} l ON k.h = l.h"
        )
        found = relation.ask(
            f"SELECT {', '.join([*cells, *shown])} FROM {self._left} l "
            f"JOIN {self._right} r ON r.h = l.h AND r.p IS NOT DISTINCT FROM l.p "
            f"JOIN ({keys}) k ON k.h = l.h ORDER BY ALL LIMIT {MOST_SHOWN}"
        ).to_pylist()
        cover = relation.ask(
            f"SELECT DISTINCT {relation.text(sides.secret, 'r.p')} AS p "
            f"FROM {self._right} r ORDER BY 1"
        )["p"].to_pylist()
        return Example(
            relation.label(sides.person, found[0]["i"]),
            relation.label(sides.secret, found[0]["p"]),
            tuple(
                {
                    name: relation.label(name, row[x])
                    for x, name in zip(relation.keys, sides.key, strict=True)
                }
                for row in found
            ),
            len(cover),
            tuple(relation.label(sides.secret, p) for p in cover[:MOST_SHOWN]),
        )

    @cached_property
    def _keys(self) -> list[dict[str, Any]]:
        """The person's keys: their sizes, and whether the value is in them."""
        # A value that all keys have could be the only one of somebody.
        common = (
            f"SELECT p FROM {self._right} GROUP BY p HAVING count(*) = (SELECT "
            f"count(*) FROM {self._left})"
        )
        found: list[dict[str, Any]] = self.relation.ask(
            "SELECT z.m, z.n, 1 AS s, 1 AS t, z.rows, r.holders, l.own, r.h IS NOT "
            f"NULL AS met, (SELECT count(*) FROM ({common})) AS common FROM "
            f"{self.nodes.sizes} z JOIN {self._left} l ON l.h = z.h LEFT JOIN "
            f"{self._right} r ON r.h = l.h AND r.p IS NOT DISTINCT FROM l.p"
        ).to_pylist()
        return found

    def find_kind(self, model: str) -> AssociationKind:
        """What a model needs to know of it."""
        keys, fields = self._keys, FIELDS[model]
        met = _read_sizes([key for key in keys if key["met"]], fields)
        if model != "restricted":
            return AssociationKind(1, met, pairs=1)
        every, common = _read_sizes(keys, fields), keys[0]["common"]
        could = ((every, common),) if common else ()
        return AssociationKind(1, met if met == every else None, could, 1)


def _read_sizes(
    keys: list[dict[str, Any]], fields: tuple[str, ...]
) -> tuple[Meeting, ...]:
    return tuple(sorted(tuple(key[f] for f in fields) for key in keys))
