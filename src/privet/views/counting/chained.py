"""Chains of three views: from their tuples to the graph that is counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from privet.engine.projections import ViewTuples
from privet.errors import InputError
from privet.views.counting.chains import ConnectivityGraph, graphs
from privet.views.counting.share import Share
from privet.views.private_associations import Secret

Pattern = tuple[int, frozenset[int], frozenset[int]]
"""A part of a chain, and the keys of a person and a value in it."""

MOST_WORK = 30_000_000
"""Terms of all sums together; more would take minutes."""


@dataclass(frozen=True)
class Chain:
    """Three views, the outer two of which share columns with the middle one only."""

    people: dict[int, set[int]]
    """The keys b of each person."""
    values: dict[int, set[int]]
    """The keys c of each value."""
    graphs: list[ConnectivityGraph]
    """The connected parts of the middle view."""

    def supported(self) -> set[tuple[int, int]]:
        """Who can meet which value at all."""
        of_b, of_c = defaultdict(list), defaultdict(list)
        for i, bs in self.people.items():
            for b in bs:
                of_b[b].append(i)
        for p, cs in self.values.items():
            for c in cs:
                of_c[c].append(p)
        return {
            (i, p)
            for graph in self.graphs
            for b, c in graph.edges
            for i in of_b[b]
            for p in of_c[c]
        }

    def shares(self, person: int, value: int) -> list[Share | None]:
        """The share of each part in which they can meet."""
        return [
            self._known(graph, mine, theirs)
            for graph, mine, theirs in self._meeting(person, value)
        ]

    def bounded(self, person: int, value: int) -> list[Share]:
        """The same, between bounds where it is not counted."""
        return [
            self._known(graph, mine, theirs) or graph.bounded(mine, theirs)
            for graph, mine, theirs in self._meeting(person, value)
        ]

    def restricted(self, person: int, value: int) -> tuple[int, int] | None:
        """Tables in which a person has one value only: with this one, of all.

        None where that is not counted.
        """
        keys = self.people[person]
        near = self._near(keys)
        values = {
            p for g in near for b, c in g.edges if b in keys for p in self.holders[c]
        }
        weights = {}
        for p in values:
            if (weight := self._only(near, keys, p)) is None:
                return None
            weights[p] = weight
        return weights.get(value, 0), sum(weights.values())

    def _only(
        self, near: Sequence[ConnectivityGraph], keys: set[int], value: int
    ) -> int | None:
        whole = 1
        for graph in near:
            mine = frozenset(keys & graph.people.keys())
            theirs = frozenset(self.values[value] & graph.values.keys())
            at = id(graph), mine, theirs
            if at not in self._weights:
                self._weights[at] = (
                    graph.only(mine, theirs) if self._affords(graph) else None
                )
            if (weight := self._weights[at]) is None:
                return None
            whole *= weight
        return whole

    @property
    def tuples(self) -> int:
        """How many tuples the join has."""
        return sum(g.tuples for g in self.graphs)

    @cached_property
    def holders(self) -> dict[int, list[int]]:
        """The values of each key c."""
        found: dict[int, list[int]] = defaultdict(list)
        for p, cs in self.values.items():
            for c in cs:
                found[c].append(p)
        return dict(found)

    def _meeting(
        self, person: int, value: int
    ) -> Iterator[tuple[ConnectivityGraph, frozenset[int], frozenset[int]]]:
        """The parts in which they can meet, and the keys of both there."""
        keys = self.people[person]
        for graph in self._near(keys):
            mine = keys & graph.people.keys()
            theirs = self.values[value] & graph.values.keys()
            if graph.meets(mine, theirs):
                yield graph, frozenset(mine), frozenset(theirs)

    def _near(self, keys: set[int]) -> list[ConnectivityGraph]:
        """The parts that have some keys of people."""
        return list({id(g): g for b in sorted(keys) for g in (self._home[b],)}.values())

    @cached_property
    def _home(self) -> dict[int, ConnectivityGraph]:
        return {b: graph for graph in self.graphs for b in graph.people}

    @cached_property
    def _weights(self) -> dict[Pattern, int | None]:
        return {}

    @cached_property
    def _kept(self) -> dict[Pattern, Share | None]:
        return {}

    def _known(
        self, graph: ConnectivityGraph, mine: frozenset[int], theirs: frozenset[int]
    ) -> Share | None:
        """People in the same keys are alike."""
        at = id(graph), mine, theirs
        if at not in self._kept:
            self._kept[at] = graph.apart(mine, theirs)
            if self._kept[at] is None and self._affords(graph):
                self._kept[at] = graph.share(mine, theirs)
        return self._kept[at]

    def _affords(self, graph: ConnectivityGraph) -> bool:
        """Whether there is still time to count; other parts than this go on."""
        self._spent.append(graph.steps)
        return sum(self._spent) <= MOST_WORK

    @cached_property
    def _spent(self) -> list[int]:
        return []


def chain_of(secret: Secret, seen: Sequence[ViewTuples]) -> Chain | None:
    """The chain that three views make, if they make one."""
    if len(seen) != 3:
        return None
    first = next(t for t in seen if secret.person in t.columns)
    last = next(t for t in seen if secret.secret in t.columns)
    (middle,) = [t for t in seen if t is not first and t is not last]
    b = sorted(set(first.columns) & set(middle.columns))
    c = sorted(set(last.columns) & set(middle.columns))
    plain = (
        {secret.person, *b} == set(first.columns)
        and {secret.secret, *c} == set(last.columns)
        and {*b, *c} == set(middle.columns)
        and secret.person not in middle.columns
        and secret.secret not in middle.columns
    )
    if not plain or not b or not c:
        return None
    number_b, number_c = _Numbers(), _Numbers()
    people, sizes_b = _keyed(first, secret.person, b, number_b)
    values, sizes_c = _keyed(last, secret.secret, c, number_c)
    at_b = [middle.columns.index(x) for x in b]
    at_c = [middle.columns.index(x) for x in c]
    edges = [
        (number_b[tuple(r[j] for j in at_b)], number_c[tuple(r[j] for j in at_c)])
        for r in middle.rows
    ]
    if {x for x, _ in edges} != set(sizes_b) or {y for _, y in edges} != set(sizes_c):
        raise InputError("Views must be of one table: their keys must be the same.")
    return Chain(people, values, graphs(sizes_b, sizes_c, edges))


class _Numbers(dict[tuple[int, ...], int]):
    """Numbers things as they come."""

    def __missing__(self, key: tuple[int, ...]) -> int:
        self[key] = len(self)
        return self[key]


def _keyed(
    table: ViewTuples, node: str, key: Sequence[str], number: _Numbers
) -> tuple[dict[int, set[int]], dict[int, int]]:
    """The keys of each node, and how many nodes each key has."""
    at, mine = [table.columns.index(c) for c in key], table.columns.index(node)
    keys: dict[int, set[int]] = defaultdict(set)
    sizes: dict[int, int] = defaultdict(int)
    for row in table.rows:
        k = number[tuple(row[j] for j in at)]
        keys[row[mine]].add(k)
        sizes[k] += 1
    return dict(keys), dict(sizes)
