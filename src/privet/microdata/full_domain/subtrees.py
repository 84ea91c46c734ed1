"""Subtree recoding: each branch of a hierarchy at a level of its own, for everybody.

From the best nodes of the lattice on, one label at a time is replaced by its children,
or labels by their parent, whichever lowers the cost most, until nothing does. That is a
local optimum, never worse than the node it starts from.
LeFevre, DeWitt, Ramakrishnan 2005 (full-subtree recoding).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.microdata.full_domain.lattice import Lattice, LevelledColumn, Node
from privet.microdata.full_domain.node_counts import CountCube, measure_widths
from privet.microdata.full_domain.suppression_pool import Pool, PoolSearch, Suppression
from privet.microdata.level_choice import NEAR
from privet.values.arrays import Floats, Ints

MOST_ROLLED = 2**27
"""Distinct known rows that are rolled up, for all cuts together."""


@dataclass(frozen=True, eq=False)
class SubtreeCut:
    """The level at which each position of each column is shown."""

    levels: tuple[Ints, ...]
    """By column: a level per position; positions below one label share it."""

    @property
    def key(self) -> bytes:
        """What tells cuts apart."""
        return b"".join(own.tobytes() for own in self.levels)

    @classmethod
    def of_node(cls, node: Node, columns: Sequence[LevelledColumn]) -> SubtreeCut:
        """The same level everywhere."""
        return cls(
            tuple(
                np.full(c.nodes.shape[1], level, dtype=np.int64)
                for c, level in zip(columns, node, strict=True)
            )
        )

    def number_labels(self, columns: Sequence[LevelledColumn]) -> list[Ints]:
        """Which label each position has, by column."""
        return [_number(c, own) for c, own in zip(columns, self.levels, strict=True)]

    def list_widths(self, columns: Sequence[LevelledColumn]) -> list[Floats]:
        """How wide the label of each position is, by column."""
        return [
            c.widths[own, np.arange(len(own))]
            for c, own in zip(columns, self.levels, strict=True)
        ]

    def list_moves(self, columns: Sequence[LevelledColumn]) -> Iterator[SubtreeCut]:
        """Every label replaced by its children, every set of labels by their parent."""
        for c, column in enumerate(columns):
            seen: set[bytes] = {self.levels[c].tobytes()}
            for own in _list_column_moves(column, self.levels[c]):
                if own.tobytes() not in seen:
                    seen.add(own.tobytes())
                    yield SubtreeCut((*self.levels[:c], own, *self.levels[c + 1 :]))


@dataclass(frozen=True, eq=False)
class SubtreeResult:
    """Where the exchange of labels ended."""

    cut: SubtreeCut
    """The level of each position."""
    cost: float
    """What it costs."""
    pool: Pool
    """Which groups are suppressed."""
    cube: CountCube
    """Its groups."""


class SubtreeSearch:
    """Lowers the cost label by label."""

    def __init__(
        self, base: CountCube, lattice: Lattice, pools: PoolSearch, asked: Suppression
    ) -> None:
        self._base = base
        self._lattice = lattice
        self._pools = pools
        self._asked = asked
        self._known: dict[bytes, Pool] = {}
        self._margins = [
            base.count_margin(c, column.nodes.shape[1]) / base.people
            for c, column in enumerate(lattice.columns)
        ]

    @property
    def exhausted(self) -> bool:
        """Whether no more cuts are judged."""
        return len(self._known) * len(self._base) >= MOST_ROLLED

    def descend(
        self, node: Node, stop: Callable[[], bool] | None = None
    ) -> SubtreeResult:
        """From a node to a cut none of whose neighbours costs less."""
        columns = self._lattice.columns
        cut = SubtreeCut.of_node(node, columns)
        pool = self._judge(cut)
        while True:
            best = None
            for other in cut.list_moves(columns):
                if self.exhausted or (stop is not None and stop()):
                    break
                if self._asked.floor * self._blur(other) >= pool.cost - NEAR:
                    continue
                found = self._judge(other)
                least = pool.cost if best is None else best[1].cost
                if found.feasible and found.cost < least - NEAR:
                    best = other, found
            if best is None:
                cube = self._base.roll_up(cut.number_labels(columns))
                return SubtreeResult(cut, pool.cost, pool, cube)
            cut, pool = best

    def _blur(self, cut: SubtreeCut) -> float:
        """The mean NCP of all rows if none is suppressed."""
        widths = cut.list_widths(self._lattice.columns)
        each = zip(self._lattice.shares, widths, self._margins, strict=True)
        return float(sum(share * (own @ margin) for share, own, margin in each))

    def _judge(self, cut: SubtreeCut) -> Pool:
        if cut.key not in self._known:
            columns = self._lattice.columns
            cube = self._base.roll_up(cut.number_labels(columns))
            widths = cut.list_widths(columns)
            wide = measure_widths(cube, widths, self._lattice.shares)
            self._known[cut.key] = self._pools.choose(cube, wide)
        return self._known[cut.key]


def _number(column: LevelledColumn, own: Ints) -> Ints:
    """A number for each label: nodes of different levels are different labels."""
    node = column.nodes[own, np.arange(len(own))].astype(np.int64)
    key = own * column.nodes.shape[1] + node
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _list_column_moves(column: LevelledColumn, own: Ints) -> Iterator[Ints]:
    nodes = column.nodes
    label = _number(column, own)
    for which in range(int(label.max(initial=-1)) + 1):
        inside = np.flatnonzero(label == which)
        level = int(own[inside[0]])
        # Down to where the values fall apart; a label of one child says the same.
        down = level
        while down > 0 and len(np.unique(nodes[down, inside])) == 1:
            down -= 1
        if len(np.unique(nodes[down, inside])) > 1:
            yield np.where(label == which, down, own)
        if level + 1 < column.levels:
            parent = nodes[level + 1] == nodes[level + 1, inside[0]]
            if (own[parent] <= level + 1).all():
                yield np.where(parent, level + 1, own)
