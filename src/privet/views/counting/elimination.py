"""Sums over many variables of a product of small tables, one variable after the other.

Worlds are counted by inclusion and exclusion: a sum over how many tuples of each kind
are allowed, of a product in which each table has few of these variables. Summing a
variable out leaves one table of its neighbours, so graphs that come apart easily
(forests, and others of small width) are summed exactly whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 300_000
"""Terms of one sum."""

MOST_NEAR = 30
"""Variables whose states are looked at together; arrays have few axes."""

MOST_WORK = 10_000_000
"""Terms of all sums of one question; more would take minutes."""

Variable = Any
"""What tells variables apart: anything that sorts and hashes."""

Factor = tuple[tuple[Variable, ...], NDArray[Any]]
"""A table of whole numbers by the states of some variables."""


class Budget:
    """How many terms may still be added, over many sums."""

    def __init__(
        self, left: int | None = None, check: Callable[[], None] = lambda: None
    ) -> None:
        """Take the terms that are left, and what raises once the time is over."""
        self.left = MOST_WORK if left is None else left
        self.check = check

    def affords(self, terms: int) -> bool:
        """Whether there is still room; what is refused is charged, too."""
        self.check()
        self.left -= terms
        return self.left >= 0


def order_variables(
    sizes: Mapping[Variable, int], scopes: Iterable[Iterable[Variable]]
) -> tuple[list[Variable], int] | None:
    """In which order variables are summed out, smallest tables first, and the terms.

    None where there are too many.
    """
    most = MOST_STEPS
    near: dict[Variable, set[Variable]] = {n: set() for n in sizes}
    for scope in scopes:
        around = set(scope)
        for node in around:
            near[node] |= around - {node}
    order: list[Variable] = []
    steps = 0
    waiting = [(_cost(n, near, sizes, most), n) for n in near]
    heapify(waiting)
    while waiting:
        cost, node = heappop(waiting)
        if node not in near or cost != _cost(node, near, sizes, most):
            continue  # it came in again when a neighbour went
        steps += cost
        around = near.pop(node)
        # A neighbour of one state adds no steps, but an axis; arrays have few of those.
        if steps > most or len(around) > MOST_NEAR:
            return None
        # Summing over it leaves one table of all its neighbours: they are near now.
        for other in around:
            near[other] |= around - {other}
            near[other].discard(node)
        for other in around:
            heappush(waiting, (_cost(other, near, sizes, most), other))
        order.append(node)
    return order, steps


def _cost(
    node: Variable,
    near: Mapping[Variable, set[Variable]],
    sizes: Mapping[Variable, int],
    most: int,
) -> int:
    found = sizes[node]
    for other in near[node]:
        found *= sizes[other]
        if found > most:
            break
    return found


def sum_product(factors: Iterable[Factor], order: Sequence[Variable]) -> int:
    """The sum, over all states of the variables, of the product of all tables.

    >>> edge = make_table([[1, 3], [3, 15]])  # 2**(s r) - 1 for s, r = 1, 2
    >>> signs = make_table([[-2, 1]])[0]
    >>> sum_product([(("b",), signs), (("c",), signs), (("b", "c"), edge)], ["b", "c"])
    7
    """
    whole = 1
    place = {n: at for at, n in enumerate(order)}
    waiting: dict[Variable, list[Factor]] = {n: [] for n in order}
    for nodes, table in factors:  # each waits with the variable that goes first
        waiting[min(nodes, key=place.__getitem__)].append((nodes, table))
    for node in order:
        nodes, product = reduce(_multiply, waiting.pop(node))  # an axis per variable
        at = nodes.index(node)
        left_over, total = nodes[:at] + nodes[at + 1 :], product.sum(axis=at)
        if left_over:
            waiting[min(left_over, key=place.__getitem__)].append((left_over, total))
        else:
            whole *= int(total)
    return whole


def make_table(rows: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Whole numbers of any size."""
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    made[:] = rows
    return made


def _multiply(left: Factor, right: Factor) -> Factor:
    nodes = (*left[0], *(n for n in right[0] if n not in left[0]))
    return nodes, _spread(left, nodes) * _spread(right, nodes)


def _spread(factor: Factor, nodes: tuple[Hashable, ...]) -> NDArray[Any]:
    """A table with an axis for each of these variables, in their order."""
    have = [n for n in nodes if n in factor[0]]
    turned = factor[1].transpose([factor[0].index(n) for n in have])
    # A variable that the table lacks gets an axis of length 1.
    return turned[tuple(slice(None) if n in have else None for n in nodes)]
