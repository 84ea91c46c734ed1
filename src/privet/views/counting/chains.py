"""Chains of three views: their connectivity graph, and its possible worlds.

The middle view is a graph between keys b (with m_b people) and keys c (with n_c
values). Counting its possible worlds is #P-hard in general; graphs that come apart
easily (forests, and others of small width) are counted exactly, key by key, and others
are bounded by Harris' inequality and a union bound.
Wang, Lakshmanan 2006, section 6, leave K views as future work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from privet.errors import InputError
from privet.views.counting.elimination import (
    Factor,
    make_table,
    order_variables,
    sum_product,
)
from privet.views.counting.share import (
    Share,
    block_share,
    combine_independent,
    harris_bounds,
    union_bound,
)
from privet.views.private_associations import PrivateAssociation
from privet.views.sql.view_tuples import ViewTuples

MOST_BITS = 20_000
"""Digits of the largest power of two."""

Node = tuple[int, int]
"""A key: its side (0 for people, 1 for values) and its number."""

State = tuple[int, int, int]
"""How many tuples of a key are allowed, whether the given one is, and the sign times
the number of such choices."""


@dataclass(frozen=True)
class ChainGraph:
    """The connectivity graph of a chain: one connected part of its middle view."""

    people: Mapping[int, int]
    """m_b: tuples of the first view by key."""
    values: Mapping[int, int]
    """n_c: tuples of the last view by key."""
    edges: tuple[tuple[int, int], ...]
    """Which keys the middle view links."""

    @cached_property
    def _near(self) -> dict[Node, list[Node]]:
        near: dict[Node, list[Node]] = defaultdict(list)
        for b, c in self.edges:
            near[0, b].append((1, c))
            near[1, c].append((0, b))
        return dict(near)

    def share(
        self, person_keys: Iterable[int], value_keys: Iterable[int]
    ) -> Share | None:
        """The share of tables in which a person of some keys meets a value of others;
        None where it is not counted.
        """
        person_keys, value_keys = set(person_keys), set(value_keys)
        if (found := self.reduce_to_two_views(person_keys, value_keys)) is not None:
            return found
        # They never meet: an edge has all pairs but the one of both given tuples.
        missed = self._count(person_keys, value_keys, lambda s, e, r, f: s * r - e * f)
        if missed is None or self.whole is None:
            return None
        return Share.of(1 - Fraction(missed, self.whole))

    @cached_property
    def whole(self) -> int | None:
        """All possible worlds; None where they are too many to count."""
        return self._count(set(), set(), lambda s, e, r, f: s * r)

    def count_restricted(
        self, person_keys: Iterable[int], value_keys: Iterable[int]
    ) -> int | None:
        """Restricted worlds: a person of some keys meets no value but that of others;
        None where that is too much to count.
        """
        # Other people's tuples meet all r, the given one only the given value's.
        return self._count(
            set(person_keys), set(value_keys), lambda s, e, r, f: (s - e) * r + e * f
        )

    def bound_share(
        self, person_keys: Iterable[int], value_keys: Iterable[int]
    ) -> Share:
        """Bounds on the share of tables in which they meet, for any graph."""
        person_keys, value_keys = set(person_keys), set(value_keys)
        met = {(b, c) for b, c in self.edges if b in person_keys and c in value_keys}
        # View tuples by how many join tuples they have left without those of the pair,
        # of which each edge that is met has one.
        left: Counter[int] = Counter()
        both = (
            (0, self.people, person_keys, self.values),
            (1, self.values, value_keys, self.people),
        )
        for side, sizes, given, across in both:
            for k, size in sizes.items():
                near = [o for _, o in self._near[side, k]]
                whole = sum(across[o] for o in near)
                lost = sum(((k, o), (o, k))[side] in met for o in near)
                left[whole] += size - (k in given)
                left[whole - lost] += k in given
        for b, c in self.edges:
            left[self.people[b] * self.values[c] - ((b, c) in met)] += 1
        return harris_bounds(len(met), union_bound(left))

    @property
    def tuples(self) -> int:
        """How many tuples the join of the three views has here."""
        return sum(self.people[b] * self.values[c] for b, c in self.edges)

    def meets(self, person_keys: Iterable[int], value_keys: Iterable[int]) -> bool:
        """Whether the middle view links any of these keys."""
        wanted = {(1, c) for c in value_keys}
        return any(not wanted.isdisjoint(self._near[0, b]) for b in person_keys)

    @cached_property
    def steps(self) -> int:
        """How many terms a sum has, about; longer numbers count more."""
        states = self._list_states(set(), set())
        found = _order_keys(states, self.edges)
        return 1 if found is None else found[1] * (1 + self.tuples // 10_000)

    def reduce_to_two_views(
        self, person_keys: Collection[int], value_keys: Collection[int]
    ) -> Share | None:
        """Graphs that are like two views, whatever their size: one key on a side, or
        one tuple in every key of a side.
        """
        person_keys, value_keys = set(person_keys), set(value_keys)
        m, n = sum(self.people.values()), sum(self.values.values())
        if len(self.people) == 1:
            return block_share(m, n, 1, len(value_keys))
        if len(self.values) == 1:
            return block_share(m, n, len(person_keys), 1)
        # One tuple in each b: every c is two views by itself, of its keys b and its
        # values, with UPW(keys, n_c) worlds.
        if m == len(self.people):
            met = [(c, {b for _, b in self._near[1, c]}) for c in sorted(value_keys)]
            return combine_independent(
                block_share(len(near), self.values[c], len(near & person_keys), 1)
                for c, near in met
                if near & person_keys
            )
        if n == len(self.values):
            met = [(b, {c for _, c in self._near[0, b]}) for b in sorted(person_keys)]
            return combine_independent(
                block_share(self.people[b], len(near), 1, len(near & value_keys))
                for b, near in met
                if near & value_keys
            )
        return None

    def _count(
        self, person_keys: set[int], value_keys: set[int], cells: Cells
    ) -> int | None:
        """The tables whose tuples each edge may take from so many `cells`."""
        if any(self.people[b] * self.values[c] > MOST_BITS for b, c in self.edges):
            return None
        states = self._list_states(person_keys, value_keys)
        if (found := _order_keys(states, self.edges)) is None:
            return None
        return _sum_over_keys(states, self.edges, found[0], cells)

    def _list_states(
        self, person_keys: set[int], value_keys: set[int]
    ) -> dict[Node, list[State]]:
        both = ((0, self.people, person_keys), (1, self.values, value_keys))
        return {
            (side, k): list(_list_choices(size, k in given))
            for side, sizes, given in both
            for k, size in sizes.items()
        }


# Sums over keys ---------------------------------------------------------------------

Cells = Callable[[int, int, int, int], int]
"""How many tuples an edge may take: from s and r allowed ones, e and f the given."""


def _order_keys(
    states: Mapping[Node, Sequence[State]], edges: Iterable[tuple[int, int]]
) -> tuple[list[Node], int] | None:
    """In which order keys are summed over, and the terms; None: too many."""
    scopes = (((0, b), (1, c)) for b, c in edges)
    return order_variables({n: len(s) for n, s in states.items()}, scopes)


def _sum_over_keys(
    states: Mapping[Node, Sequence[State]],
    edges: Iterable[tuple[int, int]],
    order: Sequence[Node],
    cells: Cells,
) -> int:
    """The sum over all states of the product of their weights and those of edges."""
    factors: list[Factor] = [
        ((n,), make_table([[w for _, _, w in s]])[0]) for n, s in states.items()
    ]
    for b, c in edges:
        left, right = states[0, b], states[1, c]
        # states of b x states of c; an edge takes a set of its tuples, not empty
        table = [
            [(1 << cells(s, e, r, f)) - 1 for r, f, _ in right] for s, e, _ in left
        ]
        # Of 2 tuples each: [[1, 3], [3, 15]]; with the weights -2 and 1 of both keys
        # 4 - 12 + 15 = 7 = UPW(2, 2).
        factors.append((((0, b), (1, c)), make_table(table)))
    return sum_product(factors, order)


def _list_choices(size: int, given: bool) -> Iterator[State]:
    """By inclusion and exclusion, as if some tuples of the key were not there.

    >>> list(_list_choices(2, given=False)), list(_list_choices(2, given=True))
    ([(1, 0, -2), (2, 0, 1)], [(1, 0, -1), (1, 1, -1), (2, 1, 1)])
    """
    # No choice is of no tuple: its edges would be empty, their factor 2**0 - 1 = 0.
    if not given:
        for s in range(1, size + 1):
            yield s, 0, (-1) ** (size - s) * comb(size, s)
        return
    for e in (0, 1):
        for s in range(size):
            if s + e:
                yield s + e, e, (-1) ** (size - s - e) * comb(size - 1, s)


def split_chain_graphs(
    people: Mapping[int, int],
    values: Mapping[int, int],
    edges: Iterable[tuple[int, int]],
) -> list[ChainGraph]:
    """The connectivity graphs of a chain: the connected parts of its middle view."""
    near: dict[Node, list[Node]] = defaultdict(list)
    for b, c in edges:
        near[0, b].append((1, c))
        near[1, c].append((0, b))
    parts = []
    seen: set[Node] = set()
    for start in near:
        if start not in seen:
            parts.append(_reach(start, near, seen))
    return [
        ChainGraph(
            {b: people[b] for b, _ in part},
            {c: values[c] for _, c in part},
            tuple(part),
        )
        for part in parts
    ]


def _reach(
    start: Node, near: Mapping[Node, Sequence[Node]], seen: set[Node]
) -> list[tuple[int, int]]:
    """The edges of the part that a key is in, each once."""
    waiting, found = [start], []
    seen.add(start)
    while waiting:
        side, key = node = waiting.pop()
        for other in near[node]:
            if side == 0:
                found.append((key, other[1]))
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


# From the tuples of views to graphs -------------------------------------------------

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
    graphs: list[ChainGraph]
    """The connected parts of the middle view."""

    def find_supported(self) -> set[tuple[int, int]]:
        """Who can meet which value at all."""
        of_b = _invert(self.people)
        return {
            (i, p)
            for graph in self.graphs
            for b, c in graph.edges
            for i in of_b[b]
            for p in self.holders[c]
        }

    def shares(self, person: int, value: int) -> list[Share | None]:
        """The share of each part in which they can meet."""
        return [
            self._look_up_share(graph, person_keys, value_keys)
            for graph, person_keys, value_keys in self._find_meetings(person, value)
        ]

    def bound_share(self, person: int, value: int) -> list[Share]:
        """The same, between bounds where it is not counted."""
        return [
            self._look_up_share(graph, person_keys, value_keys)
            or graph.bound_share(person_keys, value_keys)
            for graph, person_keys, value_keys in self._find_meetings(person, value)
        ]

    def restricted(self, person: int, value: int) -> tuple[int, int] | None:
        """Restricted worlds: interesting ones, and all possible ones.

        None where that is not counted.
        """
        keys = self.people[person]
        near = self._find_graphs(keys)
        values = {
            p for g in near for b, c in g.edges if b in keys for p in self.holders[c]
        }
        weights = {}
        for p in values:
            if (weight := self._count_restricted(near, keys, p)) is None:
                return None
            weights[p] = weight
        return weights.get(value, 0), sum(weights.values())

    def find_refuted(self) -> set[int]:
        """People who cannot have one value only: no table has them so."""
        return {i for i in self.people if not self._is_open(i)}

    def _is_open(self, person: int) -> bool:
        """Whether some value leaves nothing bare if it is all that a person has."""
        keys = self.people[person]
        near = self._find_graphs(keys)
        values = {
            p for g in near for b, c in g.edges if b in keys for p in self.holders[c]
        }
        return any(
            all(self._leaves_none(g, keys, self.values[p]) for g in near)
            for p in values
        )

    @staticmethod
    def _leaves_none(graph: ChainGraph, keys: set[int], value_keys: set[int]) -> bool:
        """Whether everything is covered if the person of some keys meets only a value
        of others: all tables may be as large as the join is.
        """
        alone = {b for b in keys & graph.people.keys() if graph.people[b] == 1}
        met = {b for b, c in graph.edges if b in keys and c in value_keys}
        if met != keys & graph.people.keys():
            return False
        if any(b in alone and c not in value_keys for b, c in graph.edges):
            return False  # an edge that only they use
        helped = {c for b, c in graph.edges if b not in alone}
        return all(n == 1 or c in helped for c, n in graph.values.items())

    def _count_restricted(
        self, near: Sequence[ChainGraph], keys: set[int], value: int
    ) -> int | None:
        whole = 1
        for graph in near:
            person_keys = frozenset(keys & graph.people.keys())
            value_keys = frozenset(self.values[value] & graph.values.keys())
            at = id(graph), person_keys, value_keys
            if at not in self._weights:
                self._weights[at] = (
                    graph.count_restricted(person_keys, value_keys)
                    if self._affords(graph)
                    else None
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
        return _invert(self.values)

    def _find_meetings(
        self, person: int, value: int
    ) -> Iterator[tuple[ChainGraph, frozenset[int], frozenset[int]]]:
        """The parts in which they can meet, and the keys of both there."""
        keys = self.people[person]
        for graph in self._find_graphs(keys):
            person_keys = keys & graph.people.keys()
            value_keys = self.values[value] & graph.values.keys()
            if graph.meets(person_keys, value_keys):
                yield graph, frozenset(person_keys), frozenset(value_keys)

    def _find_graphs(self, keys: set[int]) -> list[ChainGraph]:
        """The parts that have some keys of people."""
        return list({id(g): g for b in sorted(keys) for g in (self._home[b],)}.values())

    @cached_property
    def _home(self) -> dict[int, ChainGraph]:
        return {b: graph for graph in self.graphs for b in graph.people}

    @cached_property
    def _weights(self) -> dict[Pattern, int | None]:
        return {}

    @cached_property
    def _kept(self) -> dict[Pattern, Share | None]:
        return {}

    def _look_up_share(
        self,
        graph: ChainGraph,
        person_keys: frozenset[int],
        value_keys: frozenset[int],
    ) -> Share | None:
        """People in the same keys are alike."""
        at = id(graph), person_keys, value_keys
        if at not in self._kept:
            self._kept[at] = graph.reduce_to_two_views(person_keys, value_keys)
            if self._kept[at] is None and self._affords(graph):
                self._kept[at] = graph.share(person_keys, value_keys)
        return self._kept[at]

    def _affords(self, graph: ChainGraph) -> bool:
        """Whether there is still time to count; what is refused is charged, too."""
        self._spent.append(graph.steps)
        return sum(self._spent) <= MOST_WORK

    @cached_property
    def _spent(self) -> list[int]:
        return []


def _invert(keys: Mapping[int, Iterable[int]]) -> dict[int, list[int]]:
    """Who has each key."""
    found: dict[int, list[int]] = defaultdict(list)
    for node, own in keys.items():
        for k in own:
            found[k].append(node)
    return dict(found)


def find_chain(secret: PrivateAssociation, seen: Sequence[ViewTuples]) -> Chain | None:
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
    people, sizes_b = _number_keys(first, secret.person, b, number_b)
    values, sizes_c = _number_keys(last, secret.secret, c, number_c)
    at_b = [middle.columns.index(x) for x in b]
    at_c = [middle.columns.index(x) for x in c]
    edges = [
        (number_b[tuple(r[j] for j in at_b)], number_c[tuple(r[j] for j in at_c)])
        for r in middle.rows
    ]
    if {x for x, _ in edges} != set(sizes_b) or {y for _, y in edges} != set(sizes_c):
        raise InputError("Views must be of one table: their keys must be the same.")
    return Chain(people, values, split_chain_graphs(sizes_b, sizes_c, edges))


class _Numbers(dict[tuple[int, ...], int]):
    """Numbers things as they come."""

    def __missing__(self, key: tuple[int, ...]) -> int:
        self[key] = len(self)
        return self[key]


def _number_keys(
    table: ViewTuples, node: str, key: Sequence[str], number: _Numbers
) -> tuple[dict[int, set[int]], dict[int, int]]:
    """The keys of each node, and how many nodes each key has."""
    at, person_keys = [table.columns.index(c) for c in key], table.columns.index(node)
    keys: dict[int, set[int]] = defaultdict(set)
    sizes: dict[int, int] = defaultdict(int)
    for row in table.rows:
        k = number[tuple(row[j] for j in at)]
        keys[row[person_keys]].add(k)
        sizes[k] += 1
    return dict(keys), dict(sizes)
