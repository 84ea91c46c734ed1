"""Full-domain generalisation: the node of the lattice that costs least, proved so.

Nodes come in the order of what they cost by generalisation alone, which no choice of
suppressed rows undercuts by more than their price. The first node beyond the best
release ends the search: that release is optimal. Boxes of nodes wait for their turn;
what is ruled out leaves smaller ones. A node that needs more suppressed
rows than allowed, by numbers of people or of values alone, rules out all finer nodes;
nothing else may be inferred from one node for others where rows may be suppressed.
Where none may, and merging groups keeps what is asked for, each unsafe node does. A
walk down from the top comes first: a search that is stopped has something to show.
El Emam and others 2009 (OLA); Kohlmayer and others 2012 (Flash).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np

from privet.microdata.full_domain.lattice import Lattice, Node, NodeBox
from privet.microdata.full_domain.node_counts import (
    CountCube,
    NodeCounts,
    measure_widths,
)
from privet.microdata.full_domain.suppression_pool import Pool, PoolSearch, Suppression
from privet.microdata.level_choice import NEAR
from privet.values.arrays import Ints

MOST_JUDGED = 2**14
"""Nodes that are judged; what is found by then is the best, with a bound."""

MOST_LISTED = 2**18
"""Boxes of nodes that are looked at."""

GLANCE = 64
"""Boxes that are looked at before somebody looks at the clock."""

Stop = Callable[[int, float | None, float], bool]
"""Asked after each node: how many were judged, the best cost, the least one that is
possible; True ends the search."""


@dataclass(frozen=True, eq=False)
class FullDomainResult:
    """The best node that was found."""

    node: Node | None
    """A level per column; None: no node keeps every promise."""
    cost: float
    """Mean NCP of all rows, suppressed ones at their price."""
    bound: float
    """No node costs less; equal to the cost if the node is proved optimal."""
    pool: Pool | None
    """Which of the node's groups are suppressed."""
    judged: int
    """How many nodes were judged."""
    nodes: int
    """How many there are."""
    ended: str = "finished"
    """"finished", or why not all nodes were excluded: "time" or "nodes"."""
    best: tuple[Node, ...] = ()
    """The best nodes, the first of them first; `subtrees.py` starts from them."""

    @property
    def optimal(self) -> bool:
        """Whether no other node can cost less."""
        return self.node is not None and self.cost <= self.bound + NEAR


class FullDomainSearch:
    """Judges nodes in order, and remembers what rules others out."""

    def __init__(
        self, base: CountCube, lattice: Lattice, pools: PoolSearch, asked: Suppression
    ) -> None:
        self._counts = NodeCounts(base, lattice.columns)
        self._lattice = lattice
        self._pools = pools
        self._asked = asked
        self._known: dict[Node, Pool] = {}
        self._best = float("inf")
        self._too_fine = _NodeList(len(lattice.columns))
        self._needing = _NodeList(len(lattice.columns))
        self._people = base.people

    def run(self, stop: Stop | None = None) -> FullDomainResult:
        """The best node; or the best so far, when stopped."""
        # The top is what can be shown if anything can; what stops a search has it.
        if self._judge(self._lattice.top).too_fine:
            return self._conclude("finished", float("inf"))
        if not self._walk_down(stop):
            bottom = (0,) * len(self._lattice.columns)
            least = self._asked.floor * self._lattice.blur(bottom)
            return self._conclude("time", least)
        return self._conclude(*self._take_boxes(stop))

    def _take_boxes(self, stop: Stop | None) -> tuple[str, float]:
        """Judge node after node; how that ended, and what the others cost at least."""
        waiting = [(self._bound(self._lattice.whole), self._lattice.whole)]
        looked = 0
        for listed in count():
            if not waiting or waiting[0][0] >= self._best - NEAR:
                return "finished", float("inf")
            bound, box = heappop(waiting)
            if len(self._known) >= MOST_JUDGED or listed >= MOST_LISTED:
                return "nodes", bound
            # Many are passed over, which takes its time, too.
            if looked < len(self._known) or listed % GLANCE == 0:
                looked = len(self._known)
                if self._is_stopped(stop, bound):
                    return "time", bound
            for rest in box.part(self._rule_out(box.low)):
                least = max(bound, self._bound(rest))
                if least < self._best - NEAR:
                    heappush(waiting, (least, rest))
        raise AssertionError  # boxes are counted without end

    def _bound(self, box: NodeBox) -> float:
        """What every node of a box costs at least."""
        low = self._lattice.blur(box.low)
        if self._asked.price < 1:
            return self._asked.floor * low
        # What a coarser node must suppress, a finer one must, too; and each such row
        # costs its price where it would have cost at most the widest label.
        need = max(self._needing.find_most(box.high), 0)
        more = self._asked.price - self._lattice.widest(box.high)
        return low + need * max(more, 0.0) / self._people

    def _rule_out(self, node: Node) -> Node:
        """Judge a node unless that is in vain; it and all finer ones are ruled out.

        Finer ones were before; so it is the node itself, or a coarser one, too fine.
        """
        above = self._too_fine.find_above(node)
        if above is not None:
            return above
        may_be_best = self._bound(NodeBox(node, node)) < self._best - NEAR
        if node in self._known or not may_be_best:
            return node
        return self._tag(node) if self._judge(node).too_fine else node

    def find_groups(self, node: Node) -> CountCube:
        """The groups of a node."""
        return self._counts.find_groups(node)

    def _judge(self, node: Node) -> Pool:
        if node in self._known:
            return self._known[node]
        cube = self._counts.find_groups(node)
        widths = [
            c.widths[level]
            for c, level in zip(self._lattice.columns, node, strict=True)
        ]
        wide = measure_widths(cube, widths, self._lattice.shares)
        found = self._known[node] = self._pools.choose(cube, wide)
        self._best = min(self._best, found.cost)
        if found.small:
            self._needing.append(node, found.small)
        return found

    def _walk_down(self, stop: Stop | None) -> bool:
        """Finer and finer nodes that keep everything, by what saves most; to the end?

        A column that could not be shown finer once is not tried again.
        """
        node, open_ = self._lattice.top, set(range(len(self._lattice.columns)))
        while open_:
            finer = {c: self._lattice.lower(node, c) for c in open_ if node[c]}
            open_ &= finer.keys()
            if not finer:
                break
            column = min(finer, key=lambda c: (self._lattice.blur(finer[c]), c))
            found = self._judge(finer[column])
            if found.feasible:
                node = finer[column]
            else:
                open_.discard(column)
            if found.too_fine:
                self._too_fine.append(finer[column], 0)
            if self._is_stopped(stop, 0.0):
                return False
        return True

    def _is_stopped(self, stop: Stop | None, least: float) -> bool:
        """Whether to end, with the best so far."""
        known = None if self._best == float("inf") else self._best
        return stop is not None and stop(len(self._known), known, least)

    def _tag(self, node: Node) -> Node:
        """The coarsest too fine node of a chain: all below it are out."""
        chain = self._lattice.climb(node)
        low, high = 0, len(chain)
        while high - low > 1:
            middle = (low + high) // 2
            if self._judge(chain[middle]).too_fine:
                low = middle
            else:
                high = middle
        self._too_fine.append(chain[low], 0)
        return chain[low]

    def _conclude(self, ended: str, reached: float) -> FullDomainResult:
        ranked = sorted(
            ((p.cost, n) for n, p in self._known.items() if p.feasible),
            key=lambda found: (found[0], found[1]),
        )
        best = tuple(n for _, n in ranked)
        cost = ranked[0][0] if ranked else float("inf")
        # A node without a release, or with a dear one, might have a cheaper choice.
        open_ = [p.bound for p in self._known.values() if p.bound < p.cost - NEAR]
        bound = min([cost, reached, *open_])
        node = best[0] if best else None
        return FullDomainResult(
            node,
            cost,
            bound,
            None if node is None else self._known[node],
            len(self._known),
            len(self._lattice),
            ended,
            best,
        )


class _NodeList:
    """Nodes with a number each."""

    def __init__(self, columns: int) -> None:
        self._nodes = np.zeros((16, columns), dtype=np.int32)
        self._numbers = np.zeros(16, dtype=np.int64)
        self._size = 0

    def append(self, node: Node, number: int) -> None:
        if self._size == len(self._numbers):
            self._nodes = np.concatenate([self._nodes, self._nodes])
            self._numbers = np.concatenate([self._numbers, self._numbers])
        self._nodes[self._size], self._numbers[self._size] = node, number
        self._size += 1

    def find_most(self, node: Node) -> int:
        """The largest number of nodes that are at least as coarse; -1: none is."""
        return int(self._numbers[self._find_coarser(node)].max(initial=-1))

    def find_above(self, node: Node) -> Node | None:
        """The node that is coarser by the most levels, or the same; None: none is."""
        coarser = self._find_coarser(node)
        if not len(coarser):
            return None
        levels = self._nodes[coarser].sum(axis=1)
        return tuple(self._nodes[coarser[int(levels.argmax())]].tolist())

    def _find_coarser(self, node: Node) -> Ints:
        above = (self._nodes[: self._size] >= np.array(node)).all(axis=1)
        return np.flatnonzero(above)
