"""Three views in a chain: how many tables give them, where that can be counted.

The middle view is a graph between keys b (with m_b people) and keys c (with n_c
values). Counting is #P-hard in general; forests, and graphs one side of which has few
choices, are counted exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import comb, prod

MOST_CHOICES = 20_000
"""Choices of one side of a graph with cycles that are listed."""

MOST_STEPS = 300_000
"""Terms of the sums over a forest."""

MOST_BITS = 20_000
"""Digits of the largest power of two."""

Node = tuple[int, int]
"""A key: its side (0 for people, 1 for values) and its number."""

State = tuple[int, int, int]
"""How many tuples of a key are allowed, whether the given one is, and the sign times
the number of such choices."""


@dataclass(frozen=True)
class Graph:
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

    def without(self, mine: Iterable[int], theirs: Iterable[int]) -> int | None:
        """Tables in which a person of the keys `mine` meets no value of `theirs`.

        With no keys: all tables. None where that is too much to count.
        """
        states = self._states(set(mine), set(theirs))
        if not self._is_small():
            return None
        if self._is_forest():
            steps = sum(len(states[0, b]) * len(states[1, c]) for b, c in self.edges)
            return self._along(states) if steps <= MOST_STEPS else None
        for side in (0, 1):
            if prod(len(s) for n, s in states.items() if n[0] == side) <= MOST_CHOICES:
                return self._listing(states, side)
        return None

    def share(self, mine: Iterable[int], theirs: Iterable[int]) -> Fraction | None:
        """The share of tables in which they meet; None where it is not counted."""
        whole, missed = self.without((), ()), self.without(mine, theirs)
        if whole is None or missed is None:
            return None
        return 1 - Fraction(missed, whole)

    def _is_small(self) -> bool:
        return all(self.people[b] * self.values[c] <= MOST_BITS for b, c in self.edges)

    def _is_forest(self) -> bool:
        return len(self.edges) == len(self.people) + len(self.values) - 1

    def _states(self, mine: set[int], theirs: set[int]) -> dict[Node, list[State]]:
        both = ((0, self.people, mine), (1, self.values, theirs))
        return {
            (side, k): list(_choices(size, k in given))
            for side, sizes, given in both
            for k, size in sizes.items()
        }

    def _along(self, states: Mapping[Node, Sequence[State]]) -> int:
        """From the leaves of the tree to its root."""
        root = next(iter(states))
        order, before = [root], {root: root}
        for node in order:
            for other in self._near[node]:
                if other not in before:
                    before[other] = node
                    order.append(other)
        # For each node: what its subtree comes to, by the node's state.
        weight = {n: [w for _, _, w in s] for n, s in states.items()}
        for node in reversed(order[1:]):
            above = before[node]
            own = list(zip(states[node], weight[node], strict=True))
            for i, (s, e, _) in enumerate(states[above]):
                total = sum(w * ((1 << (s * r - e * f)) - 1) for (r, f, _), w in own)
                weight[above][i] *= total
        return sum(weight[root])

    def _listing(self, states: Mapping[Node, Sequence[State]], side: int) -> int:
        """Every choice of one side; the keys of the other are independent then."""
        listed = [n for n in states if n[0] == side]
        others = [n for n in states if n[0] != side]
        total = 0
        for choice in product(*(states[n] for n in listed)):
            chosen = dict(zip(listed, choice, strict=True))
            term = prod(w for _, _, w in choice)
            for node in others:
                near = [chosen[n] for n in self._near[node]]
                term *= sum(
                    w * prod((1 << (s * r - e * f)) - 1 for s, e, _ in near)
                    for r, f, w in states[node]
                )
                if not term:
                    break
            total += term
        return total


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
) -> list[Graph]:
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
        Graph(
            {b: people[b] for b, _ in part},
            {c: values[c] for _, c in part},
            tuple(part),
        )
        for part in parts.values()
    ]
