"""The generalisation lattice: a level of each column's hierarchy is a node.

What a node costs by generalisation alone is a sum over its columns, known before
anything is counted, and no release at that node costs less (`Lattice.blur`). So nodes
are taken in its order: the lattice is a box of nodes, which falls apart into smaller
ones without the nodes that are ruled out, however many these are.
Samarati 2001; El Emam and others 2009 (OLA); Kohlmayer and others 2012 (Flash).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.values.arrays import Floats, Ints

Node = tuple[int, ...]
"""A level per column, 0 for the values themselves."""


class NodeBox(NamedTuple):
    """All nodes between two: a range of levels per column."""

    low: Node
    """The finest of them; none costs less by generalisation."""
    high: Node
    """The coarsest."""

    def part(self, ruled_out: Node) -> Iterator[NodeBox]:
        """What is left without a node and all finer ones, in boxes that share nothing.

        Whoever is left is coarser in some column; the first such column tells its box.
        Without (1, 0) the box from (0, 0) to (2, 2) is (2, 0) to (2, 2), where the
        first column is coarser, and (0, 1) to (1, 2), where it is not.
        """
        high = self.high
        for c, level in enumerate(ruled_out):
            if level < high[c]:
                yield NodeBox(_replace(self.low, c, level + 1), high)
                high = _replace(high, c, level)


@dataclass(frozen=True, eq=False)
class LevelledColumn:
    """A column below its hierarchy."""

    name: str
    """What it is called."""
    nodes: NDArray[np.int32]
    """The node above each position: a line per level, the values themselves first."""
    weight: float = 1.0
    """How much its precision is worth beside that of other columns."""

    @property
    def levels(self) -> int:
        """How many levels there are, the values included."""
        return len(self.nodes)

    @cached_property
    def widths(self) -> Floats:
        """NCP of the label each position has, a line per level.

        It is (leaves - 1) / (values - 1), where leaves are values that occur. A column
        with one value is never wide.
        """
        values = self.nodes.shape[1]
        if values < 2:
            return np.zeros(self.nodes.shape)
        # The node {a, b} of the values a b c is 1/2 wide.
        leaves = [np.bincount(above)[above] for above in self.nodes]
        return np.asarray((np.array(leaves) - 1) / (values - 1))


class Lattice:
    """All nodes, and what each costs by generalisation alone."""

    def __init__(
        self, columns: Sequence[LevelledColumn], margins: Sequence[Ints]
    ) -> None:
        """Columns, and how many people have each of their values, by position."""
        self.columns = tuple(columns)
        whole = sum(c.weight for c in columns)
        self.shares = np.array([c.weight / whole for c in columns])
        """What each column adds to the width of a row, at most; 1 in all."""
        people = int(margins[0].sum())
        self._blur = [
            (share * (c.widths @ margin) / people).tolist()
            for c, share, margin in zip(columns, self.shares, margins, strict=True)
        ]
        self._widest = [
            (share * c.widths.max(axis=1)).tolist()
            for c, share in zip(columns, self.shares, strict=True)
        ]

    def __len__(self) -> int:
        return prod(c.levels for c in self.columns)

    @property
    def top(self) -> Node:
        """Where every column shows the top of its hierarchy."""
        return tuple(c.levels - 1 for c in self.columns)

    def blur(self, node: Node) -> float:
        """The mean NCP of all rows at a node if none is suppressed."""
        total = 0.0
        for own, level in zip(self._blur, node, strict=True):
            total += own[level]
        return total

    def widest(self, node: Node) -> float:
        """The NCP no row of a node exceeds."""
        total = 0.0
        for own, level in zip(self._widest, node, strict=True):
            total += own[level]
        return total

    @property
    def whole(self) -> NodeBox:
        """All nodes."""
        return NodeBox((0,) * len(self.columns), self.top)

    def lower(self, node: Node, column: int) -> Node:
        """The node that shows a column a level finer."""
        return _replace(node, column, node[column] - 1)

    def climb(self, node: Node) -> list[Node]:
        """A chain to the top: always the level that adds the least blur."""
        chain, top = [node], self.top
        while node != top:
            open_ = [c for c in range(len(node)) if node[c] < top[c]]
            coarser = (_replace(node, c, node[c] + 1) for c in open_)
            node = min(coarser, key=self.blur)
            chain.append(node)
        return chain


def _replace(node: Node, column: int, level: int) -> Node:
    return (*node[:column], level, *node[column + 1 :])
