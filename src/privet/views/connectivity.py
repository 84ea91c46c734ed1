"""The connectivity graph of views, and the association cover of somebody, as values.

Nodes are what is left of the tuples of each view once columns that nothing asks for and
only one view shows are gone; edges join those that stand together in a tuple of the
join. The cover of somebody is every private value that the join gives them. Both quote
the table, and are located through the views, not through the table.
Wang, Lakshmanan 2006, sections 3.1 (Definition 3.1) and 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import attrs

from privet.display import Displayed
from privet.engine.protocol import Run
from privet.errors import InputError, TooLarge
from privet.policy import Promise
from privet.values.adversaries import Reconstructor
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain
from privet.values.converters import freeze
from privet.views.counting.general_join import (
    GeneralJoin,
    Needing,
    Row,
    split_connected,
)
from privet.views.private_associations import (
    PrivateAssociation,
    read_private_association,
    reduce_views,
)
from privet.views.release import Views
from privet.views.sql.view_tuples import ViewTuples

MOST_NODES = 5_000
"""Nodes of a graph that are listed."""

MOST_EDGES = 200_000
"""Edges that are."""

MOST_TUPLES = 200_000
"""Tuples of a view that are looked at."""


@attrs.frozen
class GraphNode:
    """What is left of one tuple of a view."""

    view: int
    """The number of the view, from 0, among those of the graph."""
    cells: Mapping[str, str | None] = attrs.field(converter=freeze)
    """Its values; None: missing."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {"view": self.view, "cells": dict(self.cells)}


@attrs.frozen(repr=False)
class ConnectivityGraph(Displayed):
    """Which tuples of the views can belong together; `Views.connectivity` makes it."""

    person: str
    """The column that says whom it is about."""
    secret: str
    """The private column."""
    views: tuple[tuple[str, ...], ...]
    """The columns of each view that bear on them."""
    nodes: tuple[GraphNode, ...]
    """The tuples, view by view."""
    edges: tuple[tuple[int, int], ...]
    """Pairs of nodes that stand together in a tuple of the join, by their numbers."""

    def __attrs_post_init__(self) -> None:
        if any(not 0 <= a < b < len(self.nodes) for a, b in self.edges):
            raise InputError("Edges must link two nodes of the graph, the first first.")

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        shown = "; ".join(", ".join(columns) for columns in self.views)
        return (
            f"ConnectivityGraph({len(self.nodes)} nodes, {len(self.edges)} edges: "
            f"{shown})"
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines; it quotes the table."""
        return {
            "person": self.person,
            "secret": self.secret,
            "views": [list(columns) for columns in self.views],
            "nodes": [node.to_dict() for node in self.nodes],
            "edges": [list(edge) for edge in self.edges],
        }


@attrs.frozen(repr=False)
class AssociationCover:
    """Every private value the join of the views gives somebody; `Views.cover`."""

    person: str | None
    """Whom it is about."""
    column: str
    """The private column."""
    values: tuple[str | None, ...]
    """The values, in the order of the column."""

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, value: object) -> bool:
        return value in self.values

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.values[:5]))
        more = ", …" if len(self.values) > 5 else ""
        return f"AssociationCover({self.person}: {shown}{more})"

    def to_dict(self) -> dict[str, Any]:
        """For machines; it quotes the table."""
        return {
            "person": self.person,
            "column": self.column,
            "values": list(self.values),
        }


# From views -------------------------------------------------------------------------


def draw_connectivity(views: Views, about: object = None) -> ConnectivityGraph:
    """The connectivity graph around those an association is about; "*": everybody."""
    found = _JoinedAssociation(views, about)
    kept = found.select_parts()
    numbers = sorted({t for _, needed in kept for t in needed})
    edges = {
        (a, b)
        for _, needed in kept
        for a, b in combinations(sorted(needed), 2)
        if found.share_columns(a, b)
    }
    if len(numbers) > MOST_NODES or len(edges) > MOST_EDGES:
        raise TooLarge(
            f"A connectivity graph must have at most {MOST_NODES:,} nodes and "
            f"{MOST_EDGES:,} edges to be listed; this one has {len(numbers):,} and "
            f"{len(edges):,}. Name somebody in about."
        )
    place = {t: at for at, t in enumerate(numbers)}
    return ConnectivityGraph(
        found.secret.person,
        found.secret.secret,
        tuple(t.columns for t in found.seen),
        tuple(found.make_node(t) for t in numbers),
        tuple(sorted((place[a], place[b]) for a, b in edges)),
    )


def list_cover(views: Views, about: object = None) -> AssociationCover:
    """The association cover of the one person an association is about."""
    found = _JoinedAssociation(views, about)
    people = found.people
    if people is None or len(people) != 1:
        raise InputError(
            "about must name one person for an association cover, such as "
            "{'name': 'George', 'problem': '*'}; it does not."
        )
    (code,) = people
    person, secret = found.secret.person, found.secret.secret
    codes = {row[secret] for row, _ in found.joined if row[person] == code}
    assert found.secret.people is not None
    (named,) = found.secret.people
    shown = named if code is None else found.domain(person)[code]
    values = tuple(found.domain(secret)[c] for c in sorted(codes))
    return AssociationCover(None if shown is None else str(shown), secret, values)


class _JoinedAssociation:
    """The join of the views that bear on an association."""

    def __init__(self, views: Views, about: object) -> None:
        promise = Promise(Reconstructor(), Ceiling(1), about)
        self.secret: PrivateAssociation = read_private_association(promise, views)
        asked = {self.secret.person, self.secret.secret}
        if not asked <= set(views.columns):
            raise InputError(
                f"Views must show {self.secret.person!r} and {self.secret.secret!r} to "
                "connect them; they do not show both."
            )
        parts = reduce_views(views, asked, full=False)
        self.seen: list[ViewTuples] = [
            views.tuples(p.number, sorted(p.columns), Run(), most=MOST_TUPLES)
            for p in parts
        ]
        rows: list[list[Row]] = [
            [dict(zip(t.columns, row, strict=True)) for row in t.rows]
            for t in self.seen
        ]
        self._rows = [(k, row) for k, view in enumerate(rows) for row in view]
        self.joined: Sequence[Needing] = GeneralJoin(
            rows, self.secret.person, self.secret.secret
        ).joined

    def domain(self, column: str) -> Domain:
        return next(t.domains[column] for t in self.seen if column in t.columns)

    @property
    def people(self) -> set[int | None] | None:
        """The people asked for; None: everybody."""
        asked = self.secret.people
        if asked is None:
            return None
        return {self.domain(self.secret.person).code(v) for v in asked}

    def select_parts(self) -> list[Needing]:
        """The join tuples that hang together with somebody who is asked for."""
        people = self.people
        if people is None:
            return list(self.joined)
        groups: Iterable[list[Any]] = split_connected(
            [(row, needed, True) for row, needed in self.joined]
        )
        return [
            (row, needed)
            for group in groups
            if any(row[self.secret.person] in people for row, _, _ in group)
            for row, needed, _ in group
        ]

    def share_columns(self, a: int, b: int) -> bool:
        """Whether two view tuples are linked; all are where views share nothing."""
        left, right = self._rows[a][1].keys(), self._rows[b][1].keys()
        return bool(left & right) or len(self.seen) == 2

    def make_node(self, t: int) -> GraphNode:
        view, row = self._rows[t]
        return GraphNode(view, {c: self.domain(c)[code] for c, code in row.items()})
