"""Three views in a chain: how many tables give them, where that can be counted.

The middle view is a graph between keys b (with m_b people) and keys c (with n_c
values). Counting is #P-hard in general; graphs that come apart easily (forests, and
others of small width) are counted exactly, key by key.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from heapq import heapify, heappop, heappush
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.views.counting.share import Share, block_share, either, harris, union_bound

MOST_STEPS = 300_000
"""Terms of a sum over the keys of a graph."""

MOST_BITS = 20_000
"""Digits of the largest power of two."""

MOST_NEAR = 30
"""Keys whose states are looked at together."""

Node = tuple[int, int]
"""A key: its side (0 for people, 1 for values) and its number."""

State = tuple[int, int, int]
"""How many tuples of a key are allowed, whether the given one is, and the sign times
the number of such choices."""


@dataclass(frozen=True)
class ConnectivityGraph:
    """A connected part of the middle view."""

    people: Mapping[int, int]
    """m_b: tuples of the first view by key."""
    values: Mapping[int, int]
    """n_c: tuples of the last view by key."""
    edges: tuple[tuple[int, int], ...]
    """Which keys the middle view links."""
    _near: dict[Node, list[Node]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        near: dict[Node, list[Node]] = defaultdict(list)
        for b, c in self.edges:
            near[0, b].append((1, c))
            near[1, c].append((0, b))
        object.__setattr__(self, "_near", dict(near))

    def share(self, mine: Iterable[int], theirs: Iterable[int]) -> Share | None:
        """The share of tables in which a person of the keys `mine` meets a value of
        `theirs`; None where it is not counted.
        """
        mine, theirs = set(mine), set(theirs)
        if (found := self.apart(mine, theirs)) is not None:
            return found
        missed = self._count(mine, theirs, lambda s, e, r, f: s * r - e * f)
        if missed is None or self.whole is None:
            return None
        return Share.of(1 - Fraction(missed, self.whole))

    @cached_property
    def whole(self) -> int | None:
        """All tables that give the views; None where that is too much to count."""
        return self._count(set(), set(), lambda s, e, r, f: s * r)

    def only(self, mine: Iterable[int], theirs: Iterable[int]) -> int | None:
        """Tables in which a person of the keys `mine` meets no value but that of
        `theirs`; None where that is too much to count.
        """
        return self._count(
            set(mine), set(theirs), lambda s, e, r, f: (s - e) * r + e * f
        )

    def bounded(self, mine: Iterable[int], theirs: Iterable[int]) -> Share:
        """Bounds on the share of tables in which they meet, for any graph."""
        mine, theirs = set(mine), set(theirs)
        met = {(b, c) for b, c in self.edges if b in mine and c in theirs}
        left: Counter[int] = Counter()
        both = (
            (0, self.people, mine, self.values),
            (1, self.values, theirs, self.people),
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
        return harris(len(met), union_bound(left))

    @property
    def tuples(self) -> int:
        """How many tuples the join of the three views has here."""
        return sum(self.people[b] * self.values[c] for b, c in self.edges)

    def meets(self, mine: Iterable[int], theirs: Iterable[int]) -> bool:
        """Whether the middle view links any of these keys."""
        wanted = {(1, c) for c in theirs}
        return any(not wanted.isdisjoint(self._near[0, b]) for b in mine)

    @cached_property
    def steps(self) -> int:
        """How many terms a sum has, about; longer numbers count more."""
        states = self._states(set(), set())
        found = _order({n: len(s) for n, s in states.items()}, self.edges)
        return 1 if found is None else found[1] * (1 + self.tuples // 10_000)

    def apart(self, mine: Collection[int], theirs: Collection[int]) -> Share | None:
        """Graphs that are like two views, whatever their size: one key on a side, or
        one tuple in every key of a side.
        """
        mine, theirs = set(mine), set(theirs)
        m, n = sum(self.people.values()), sum(self.values.values())
        if len(self.people) == 1:
            return block_share(m, n, 1, len(theirs))
        if len(self.values) == 1:
            return block_share(m, n, len(mine), 1)
        if m == len(self.people):
            met = [(c, {b for _, b in self._near[1, c]}) for c in sorted(theirs)]
            return either(
                block_share(len(near), self.values[c], len(near & mine), 1)
                for c, near in met
                if near & mine
            )
        if n == len(self.values):
            met = [(b, {c for _, c in self._near[0, b]}) for b in sorted(mine)]
            return either(
                block_share(self.people[b], len(near), 1, len(near & theirs))
                for b, near in met
                if near & theirs
            )
        return None

    def _count(self, mine: set[int], theirs: set[int], cells: Cells) -> int | None:
        """The tables whose tuples each edge may take from so many `cells`."""
        if any(self.people[b] * self.values[c] > MOST_BITS for b, c in self.edges):
            return None
        states = self._states(mine, theirs)
        sizes = {n: len(s) for n, s in states.items()}
        if (found := _order(sizes, self.edges)) is None:
            return None
        return _eliminated(states, self.edges, found[0], cells)

    def _states(self, mine: set[int], theirs: set[int]) -> dict[Node, list[State]]:
        both = ((0, self.people, mine), (1, self.values, theirs))
        return {
            (side, k): list(_choices(size, k in given))
            for side, sizes, given in both
            for k, size in sizes.items()
        }


Cells = Callable[[int, int, int, int], int]
"""How many tuples an edge may take: from s and r allowed ones, e and f the given."""

Factor = tuple[tuple[Node, ...], NDArray[Any]]
"""A table of whole numbers by the states of some keys."""


def _order(
    sizes: Mapping[Node, int], edges: Iterable[tuple[int, int]]
) -> tuple[list[Node], int] | None:
    """In which order keys are summed over, smallest tables first, and the terms.

    None where there are too many.
    """
    near: dict[Node, set[Node]] = {n: set() for n in sizes}
    for b, c in edges:
        near[0, b].add((1, c))
        near[1, c].add((0, b))
    order: list[Node] = []
    steps = 0
    waiting = [(_cost(n, near, sizes), n) for n in near]
    heapify(waiting)
    while waiting:
        cost, node = heappop(waiting)
        if node not in near or cost != _cost(node, near, sizes):
            continue  # it came in again when a neighbour went
        steps += cost
        around = near.pop(node)
        if steps > MOST_STEPS or len(around) > MOST_NEAR:
            return None
        for other in around:
            near[other] |= around - {other}
            near[other].discard(node)
        for other in around:
            heappush(waiting, (_cost(other, near, sizes), other))
        order.append(node)
    return order, steps


def _cost(node: Node, near: Mapping[Node, set[Node]], sizes: Mapping[Node, int]) -> int:
    found = sizes[node]
    for other in near[node]:
        found *= sizes[other]
        if found > MOST_STEPS:
            break
    return found


def _eliminated(
    states: Mapping[Node, Sequence[State]],
    edges: Iterable[tuple[int, int]],
    order: Sequence[Node],
    cells: Cells,
) -> int:
    """The sum over all states of the product of their weights and those of edges."""
    whole = 1
    factors: dict[Node, list[Factor]] = {
        n: [((n,), _table([[w for _, _, w in s]])[0])] for n, s in states.items()
    }
    place = {n: at for at, n in enumerate(order)}
    for b, c in edges:
        left, right = states[0, b], states[1, c]
        table = [
            [(1 << cells(s, e, r, f)) - 1 for r, f, _ in right] for s, e, _ in left
        ]
        nodes: tuple[Node, ...] = ((0, b), (1, c))
        factors[min(nodes, key=place.__getitem__)].append((nodes, _table(table)))
    for node in order:
        nodes, product = reduce(_times, factors.pop(node))
        at = nodes.index(node)
        left_over, total = nodes[:at] + nodes[at + 1 :], product.sum(axis=at)
        if left_over:
            first = min(left_over, key=place.__getitem__)
            factors[first].append((left_over, total))
        else:
            whole *= int(total)
    return whole


def _table(rows: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Whole numbers of any size."""
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    made[:] = rows
    return made


def _times(left: Factor, right: Factor) -> Factor:
    nodes = (*left[0], *(n for n in right[0] if n not in left[0]))
    return nodes, _spread(left, nodes) * _spread(right, nodes)


def _spread(factor: Factor, nodes: tuple[Node, ...]) -> NDArray[Any]:
    """A table with an axis for each of these keys, in their order."""
    have = [n for n in nodes if n in factor[0]]
    turned = factor[1].transpose([factor[0].index(n) for n in have])
    return turned[tuple(slice(None) if n in have else None for n in nodes)]


def _choices(size: int, given: bool) -> Iterator[State]:
    if not given:
        for s in range(1, size + 1):
            yield s, 0, (-1) ** (size - s) * comb(size, s)
        return
    for e in (0, 1):
        for s in range(size):
            if s + e:
                yield s + e, e, (-1) ** (size - s - e) * comb(size - 1, s)


def graphs(
    people: Mapping[int, int],
    values: Mapping[int, int],
    edges: Iterable[tuple[int, int]],
) -> list[ConnectivityGraph]:
    """The connected parts of a middle view."""
    group: dict[Node, int] = {}
    parts: dict[int, list[tuple[int, int]]] = {}
    for number, (b, c) in enumerate(edges):
        mine = {group[n] for n in ((0, b), (1, c)) if n in group}
        into = min(mine, default=number)
        parts.setdefault(into, []).append((b, c))
        group[0, b] = group[1, c] = into
        for other in mine - {into}:
            parts[into] += parts.pop(other)
            for x, y in parts[into]:
                group[0, x] = group[1, y] = into
    return [
        ConnectivityGraph(
            {b: people[b] for b, _ in part},
            {c: values[c] for _, c in part},
            tuple(part),
        )
        for part in parts.values()
    ]
