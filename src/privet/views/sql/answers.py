"""Associations of two views by kind: how many, for example which, and the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privet.views.sql.join import Relation

MOST_SHOWN = 20
"""Keys and values that a witness lists."""

Meeting = tuple[Any, ...]
"""The sizes of one key, in the order of `FIELDS`; last, where there is a condition,
the pairs of tuples that satisfy it."""


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
    people: int = 0
    """Of how many people."""


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
class ListedAssociation:
    """One association of a kind."""

    number: int
    """The kind."""
    person: str | None
    """Whom it is about …"""
    secret: str | None
    """… and the value."""
    held: bool | None
    """Whether a row of the table has both; None where that is not known."""


class ListedAssociations:
    """Associations listed by kind."""

    def __init__(
        self, relation: Relation, pairs: str, kinds: str, tables: Mapping[str, str]
    ) -> None:
        self._relation = relation
        self._pairs, self._kinds = pairs, kinds
        self._left, self._right = tables["left"], tables["right"]
        self._keys = tables["keys"]

    def kinds(self) -> list[AssociationKind]:
        """Every kind of association there is."""
        found = self._relation.ask(
            f"SELECT z, k, c, pairs, people FROM {self._kinds} ORDER BY z"
        )
        return [
            AssociationKind(
                r["z"],
                None if r["k"] is None else _meetings(r["k"]),
                tuple((_meetings(c["k"]), c["n"]) for c in r["c"] or ()),
                r["pairs"],
                r["people"],
            )
            for r in found.to_pylist()
        ]

    def people(self, kinds: Sequence[int]) -> int:
        """How many people have an association of these kinds."""
        if not kinds:
            return 0
        among = ", ".join(str(int(z)) for z in kinds)
        found = self._relation.one(
            f"SELECT count(DISTINCT e.i) AS n FROM {self._pairs} e "
            f"JOIN {self._kinds} z ON e.k IS NOT DISTINCT FROM z.k "
            "AND e.c IS NOT DISTINCT FROM z.c "
            f"WHERE z.z IN ({among})"
        )
        return int(found["n"])

    def example(self, kind: AssociationKind) -> Example:
        """An association of a kind, with its keys and the person's cover."""
        relation, sides = self._relation, self._relation.sides
        shown = relation.shown("k")
        cells = [
            f"{relation.text(sides.person, 'f.i')} AS i",
            f"{relation.text(sides.secret, 'f.p')} AS p",
        ]
        found = relation.ask(
            f"SELECT {', '.join([*cells, *shown])} FROM {self._kinds} f "
            f"JOIN {self._left} l ON l.i = f.i JOIN {self._right} r ON r.h = l.h "
            f"AND r.p IS NOT DISTINCT FROM f.p JOIN {self._keys} k ON k.h = l.h "
            f"WHERE f.z = {int(kind.number)} ORDER BY ALL LIMIT {MOST_SHOWN}"
        ).to_pylist()
        cover = relation.ask(
            f"SELECT DISTINCT {relation.text(sides.secret, 'r.p')} AS p FROM "
            f"{self._kinds} f JOIN {self._left} l ON l.i = f.i "
            f"JOIN {self._right} r ON r.h = l.h WHERE f.z = {int(kind.number)} "
            f"ORDER BY 1"
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

    def first(self, order: Mapping[int, int], most: int) -> list[ListedAssociation]:
        """Associations by the ranks of their kinds, a few; and whether they are true.

        The table says that; views that come as files do not (None).
        """
        relation, sides = self._relation, self._relation.sides
        ranks = relation.given(
            {
                "z": np.fromiter(order.keys(), np.int64),
                "rank": np.fromiter(order.values(), np.int64),
            }
        )
        some = relation.make(
            "first",
            lambda _: (
                f"SELECT k.z, e.i, e.p, g.rank FROM {self._pairs} e "
                f"JOIN {self._kinds} k ON e.k IS NOT DISTINCT FROM k.k "
                f"AND e.c IS NOT DISTINCT FROM k.c JOIN {ranks} g ON k.z = g.z "
                f"ORDER BY g.rank, e.i, e.p LIMIT {int(most)}"
            ),
            "",
            "listing associations",
        )
        true = "NULL"
        if not sides.marker:
            held = (
                f"SELECT DISTINCT r.i, r.p FROM ({relation.rows(2)}) r JOIN {some} s "
                "ON r.i = s.i AND r.p IS NOT DISTINCT FROM s.p"
            )
            true = (
                f"EXISTS (SELECT 1 FROM ({held}) t WHERE t.i = f.i "
                "AND t.p IS NOT DISTINCT FROM f.p)"
            )
        found = relation.ask(
            f"SELECT f.z, {relation.text(sides.person, 'f.i')} AS i, "
            f"{relation.text(sides.secret, 'f.p')} AS p, {true} AS held "
            f"FROM {some} f ORDER BY f.rank, f.i, f.p"
        )
        return [
            ListedAssociation(
                r["z"],
                relation.label(sides.person, r["i"]),
                relation.label(sides.secret, r["p"]),
                r["held"],
            )
            for r in found.to_pylist()
        ]


def _meetings(listed: list[dict[str, Any]]) -> tuple[Meeting, ...]:
    return tuple(
        tuple(_plain(v) if name == "f" else v for name, v in one.items())
        for one in listed
    )


def _plain(pairs: list[dict[str, int]]) -> tuple[int, ...]:
    """Bit masks of left tuples, one per right tuple."""
    masks: dict[int, int] = {}
    for pair in pairs:
        masks[pair["b"]] = masks.get(pair["b"], 0) | 1 << (pair["a"] - 1)
    return tuple(masks[b] for b in sorted(masks))
