"""Partitioned counts: they stay on the machines that made them, and are split there.

A line is a combination of codes and how many people have it. Parts of the lines are
named by a tree of splits (Mondrian's, where it runs on a cluster); what is done to them
goes to the machines as a small value, and only sums, or the lines of a part, come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.protocol import CountUnit, NameList, Recodings, Run

Ints = NDArray[np.int64]
Lines = NDArray[np.int32]
"""One line per combination: its codes, and last how many people have it.

Of shape (combinations, columns + 1).
"""

AT_ONCE = 2**20
"""Lines that are looked at together."""

BLOCK = 2**18
"""Lines of a part that come back together, where nothing was done to them."""

Work = Callable[[Lines], bytes]
"""What is done to the lines of a part, which it may reorder; and what it tells."""


class SplitTree(NamedTuple):
    """Splits of lines: at or before the cut goes left, the rest right."""

    column: Ints
    """Which column a node is cut by; -1: it is a leaf."""
    cut: Ints
    """The last code on the left."""
    left: Ints
    """The left child; the right one follows it."""

    def find_leaves(self, lines: Lines) -> Ints:
        """The leaf each line is in: all lines go down the tree a level at a time."""
        node = np.zeros(len(lines), dtype=np.int64)
        # (lines,): the node each is at; `on` are the lines that are not at a leaf yet.
        on = np.flatnonzero(self.column[node] >= 0)
        while len(on):
            at = node[on]
            right = lines[on, self.column[at]] > self.cut[at]
            node[on] = self.left[at] + right
            on = on[self.column[node[on]] >= 0]
        return node


@dataclass(frozen=True, eq=False)
class Selection:
    """Which lines are meant; it goes to the machines that keep them."""

    width: int
    """Columns of codes."""
    positions: tuple[Ints, ...] = ()
    """What stands for each code of the first columns."""
    tree: SplitTree | None = None
    """How lines are parted; None: not at all."""
    wanted: tuple[int, ...] = (0,)
    """The leaves that are meant."""

    def select_lines(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[Lines, NDArray[np.int64]]]:
        """The lines that are meant, many at a time, and the number of each one's leaf.

        Leaves are numbered in the order of `wanted`.
        """
        for whole in self._gather_blocks(batches):
            for d, position in enumerate(self.positions):
                whole[:, d] = position[whole[:, d]]
            if self.tree is None:
                yield whole, np.zeros(len(whole), dtype=np.int64)
                continue
            # Per node its place in `wanted`, else -1: wanted (5, 2) of 6 nodes gives
            # -1 -1 1 -1 -1 0.
            number = np.full(len(self.tree.column), -1, dtype=np.int64)
            number[list(self.wanted)] = np.arange(len(self.wanted))
            own = number[self.tree.find_leaves(whole)]
            inside = own >= 0
            yield whole[inside], own[inside]

    def _gather_blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Lines]:
        waiting: list[Lines] = []
        for batch in batches:
            block = np.empty((len(batch), self.width + 1), dtype=np.int32)
            for j, column in enumerate(batch.columns):
                block[:, j] = column.to_numpy()
            waiting.append(block)
            if sum(map(len, waiting)) >= AT_ONCE:
                yield np.concatenate(waiting)
                waiting = []
        if waiting:
            yield np.concatenate(waiting)


class ColumnPair(NamedTuple):
    """Two columns that are counted together; the second may be none: -1."""

    first: int
    second: int


class Histogram(NamedTuple):
    """The counts of a pair of columns in one part."""

    first: Ints
    """Codes, or positions, of the first column …"""
    second: Ints
    """… and of the second."""
    n: Ints
    """People."""
    lines: Ints
    """Different combinations."""


@runtime_checkable
class PartitionedEngine(Protocol):
    """An engine whose machines can keep what they count."""

    def hold(
        self, columns: NameList, amount: CountUnit, recodings: Recodings, run: Run
    ) -> PartitionedCounts | None:
        """The combinations of some columns, where they were counted; or None."""


class PartitionedCounts:
    """Lines that machines keep."""

    lines: int
    """How many combinations there are."""
    people: int
    """How many people there are."""
    sizes: tuple[int, ...]
    """How many codes each column has."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.meant = Selection(len(self.sizes))

    def move_to_positions(self, positions: Sequence[Ints]) -> None:
        """Let something stand for the codes of the first columns from now on."""
        self.meant = replace(self.meant, positions=tuple(positions))

    def count(
        self,
        tree: SplitTree | None,
        wanted: Sequence[int],
        pairs: Sequence[ColumnPair],
        run: Run,
    ) -> dict[tuple[int, ColumnPair], Histogram]:
        """The histogram of each pair in each of some leaves."""
        look = PairCounter(self._select_leaves(tree, wanted), self.sizes, tuple(pairs))
        found = self._count_pairs(look, run)
        pair, key, n, lines = (
            found[c].to_numpy().astype(np.int64) for c in ("pair", "key", "n", "lines")
        )
        made = {}
        for p, columns in enumerate(pairs):
            own = np.flatnonzero(pair == p)
            own = own[np.argsort(key[own])]
            # The leaf is a key's first digit: in sorted keys each leaf is a slice.
            leaf, first, second = look.split_keys(key[own], p)
            edges = np.searchsorted(leaf, np.arange(len(wanted) + 1))
            for i, node in enumerate(wanted):
                part = slice(edges[i], edges[i + 1])
                made[node, columns] = Histogram(
                    first[part], second[part], n[own][part], lines[own][part]
                )
        return made

    def map_leaves(
        self, tree: SplitTree, wanted: Sequence[int], work: Work, run: Run
    ) -> LeafResults:
        """Do something to each of some leaves, where they are, all at once."""
        raise NotImplementedError

    def fetch_blocks(
        self, tree: SplitTree | None, wanted: Sequence[int], run: Run, take: Take
    ) -> None:
        """Hand over the lines of some leaves, as they are, some at a time."""
        raise NotImplementedError

    def close(self) -> None:
        """Forget the lines."""
        raise NotImplementedError

    def _select_leaves(
        self, tree: SplitTree | None, wanted: Sequence[int]
    ) -> Selection:
        return replace(self.meant, tree=tree, wanted=tuple(wanted))

    def _count_pairs(self, look: PairCounter, run: Run) -> pa.Table:
        """Sums of what a look tells of all lines."""
        raise NotImplementedError


Take = Callable[[int, Lines], None]
"""Takes some lines of a leaf."""


class LeafResults(Protocol):
    """What was done to parts."""

    def fetch_results(self, run: Run) -> dict[int, bytes]:
        """What the work told of each leaf."""

    def fetch_blocks(self, run: Run, take: Take) -> None:
        """Hand over the lines of every leaf, in the order the work gave them."""

    def close(self) -> None:
        """Forget it."""


# What runs on the machines ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairCounter:
    """Histograms of pairs of columns, from batches of lines."""

    look: Selection
    sizes: tuple[int, ...]
    pairs: tuple[ColumnPair, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sums of some lines: pair, key, people and lines."""
        for lines, leaf in self.look.select_lines(batches):
            n = lines[:, -1].astype(np.int64)
            for p, (first, second) in enumerate(self.pairs):
                # One key per line, in mixed radix: leaf, first code, second code.
                key = leaf * self.sizes[first] + lines[:, first]
                if second >= 0:
                    key = key * self.sizes[second] + lines[:, second]
                keys, at = np.unique(key, return_inverse=True)
                people = np.zeros(len(keys), dtype=np.int64)
                np.add.at(people, at, n)
                yield pa.record_batch(
                    {
                        "pair": pa.array(np.full(len(keys), p, dtype=np.int32)),
                        "key": pa.array(keys),
                        "n": pa.array(people),
                        "lines": pa.array(np.bincount(at).astype(np.int64)),
                    }
                )

    def split_keys(self, key: Ints, pair: int) -> tuple[Ints, Ints, Ints]:
        """Leaf, first and second code of keys."""
        first, second = self.pairs[pair]
        other = np.zeros_like(key)
        if second >= 0:
            key, other = np.divmod(key, self.sizes[second])
        leaf, own = np.divmod(key, self.sizes[first])
        return leaf, own, other


@dataclass(frozen=True, eq=False)
class LeafLabels:
    """Lines with the leaf they are in."""

    look: Selection

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Leaf, codes and people of each line."""
        names = ["leaf", *(f"h{j}" for j in range(self.look.width + 1))]
        for lines, leaf in self.look.select_lines(batches):
            columns = [leaf.astype(np.int32), *lines.T.copy()]
            yield pa.record_batch([pa.array(c) for c in columns], names=names)


@dataclass(frozen=True, eq=False)
class LeafWork:
    """Work on the lines of one leaf."""

    width: int
    work: Work

    def __call__(self, part: pa.Table) -> pa.Table:
        """The lines as the work leaves them, and what it tells."""
        lines = np.empty((len(part), self.width + 1), dtype=np.int32)
        for j in range(self.width + 1):
            lines[:, j] = part[f"h{j}"].to_numpy()
        told = self.work(lines)
        leaf = int(part["leaf"][0].as_py())
        return _pack_block(leaf, lines, told)


@dataclass(frozen=True, eq=False)
class LeafBlocks:
    """Lines as they are, in blocks of one leaf each."""

    look: Selection

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Blocks of lines."""
        for lines, leaf in self.look.select_lines(batches):
            order = np.argsort(leaf, kind="stable")
            edges = np.searchsorted(leaf[order], np.arange(len(self.look.wanted) + 1))
            for i in range(len(self.look.wanted)):
                for start in range(edges[i], edges[i + 1], BLOCK):
                    own = order[start : min(start + BLOCK, edges[i + 1])]
                    (batch,) = _pack_block(i, lines[own], b"").to_batches()
                    yield batch


BLOCKS = "leaf INT, lines BINARY, told BINARY"
"""The columns of blocks."""


def _pack_block(leaf: int, lines: Lines, told: bytes) -> pa.Table:
    return pa.table(
        {
            "leaf": pa.array([leaf], pa.int32()),
            "lines": pa.array([lines.tobytes()], pa.binary()),
            "told": pa.array([told], pa.binary()),
        }
    )
