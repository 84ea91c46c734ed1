"""Three and more releases of the same rows, where a tree of them gives a closed form.

Join the releases by a tree. On each edge the two releases have what neither tells apart
less finely than the other: their common coarsening. If in every column the number of
raw values of each combination of labels is the product over releases of the values of
its label, divided by the product over edges of the values of its coarsening, then the
releases meet edge by edge as in a shuffle, and the people of a combination are, on
average over worlds, the same product of people. It is the junction tree of decomposable
models. Counts of (attribute, class) around the class are such a tree, and so are
chains; three releases of two columns each, in a circle, are none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import prod

from privet.release.joint.same_rows import JointColumn, Labels, SameRows

Edge = tuple[int, int]
Tree = tuple[Edge, ...]
CountedRow = tuple[Labels, int]
"""A row as a release shows it, and how many people have it."""

FEW = 5
"""Releases of which all trees are tried: 125 of five."""


def list_trees(releases: int, weights: Mapping[Edge, int]) -> Iterator[Tree]:
    """Trees to try: all of few releases, else those that are likely to do."""
    if releases <= FEW:
        yield from (_read_pruefer(code, releases) for code in _list_codes(releases))
        return
    yield _find_heaviest(releases, weights)
    for center in range(releases):
        yield tuple((center, k) for k in range(releases) if k != center)


def _list_codes(releases: int) -> Iterator[Labels]:
    return product(range(releases), repeat=max(releases - 2, 0))


def _read_pruefer(code: Labels, releases: int) -> Tree:
    """The tree of a Pruefer code: the least leaf hangs on the next number of it.

    0 0 of four: 1 hangs on 0, then 2 on 0, and 0 and 3 are left.
    """
    degree = Counter(range(releases))
    degree.update(code)
    edges = []
    for at in code:
        leaf = min(k for k in range(releases) if degree[k] == 1)
        edges.append((at, leaf))
        degree[leaf] -= 1
        degree[at] -= 1
    if releases > 1:
        left = [k for k in range(releases) if degree[k] == 1]
        edges.append((left[0], left[1]))
    return tuple(edges)


def _find_heaviest(releases: int, weights: Mapping[Edge, int]) -> Tree:
    """The tree whose edges share most, as junction trees of sets are found."""
    inside, edges = {0}, []
    while len(inside) < releases:
        crossing = [(i, j) for i in inside for j in range(releases) if j not in inside]
        edge = max(crossing, key=lambda e: weights[min(e), max(e)])
        edges.append(edge)
        inside.add(edge[1])
    return tuple(edges)


def coarsen(column: JointColumn, edge: Edge) -> JointColumn:
    """The column as two of the releases show it; its blocks are what they share."""
    return JointColumn(column.name, tuple(column.labels[k] for k in edge))


def find_tree(columns: Sequence[JointColumn]) -> Tree | None:
    """A tree for which the closed form holds; None if none was found."""
    releases = len(columns[0].labels)
    shared = {
        (e, c.name): coarsen(c, e).blocks
        for e in combinations(range(releases), 2)
        for c in columns
    }
    weights = {
        e: sum(len(set(shared[e, c.name])) - 1 for c in columns)
        for e in combinations(range(releases), 2)
    }
    for tree in list_trees(releases, weights):
        if all(
            _decomposes(c, [shared[(min(e), max(e)), c.name] for e in tree])
            for c in columns
        ):
            return tree
    return None


def _decomposes(column: JointColumn, edges: Sequence[Labels]) -> bool:
    """Whether raw values are spread over labels as the tree says, w * edges = labels.

    Four values shown as two bits in releases 1 and 2 and as whether the bits are equal
    in release 3 fail: pairs are spread evenly, but two labels tell the third.
    """
    labels = [Counter(shown) for shown in column.labels]
    blocks = [Counter(shown) for shown in edges]
    together = Counter(
        zip(zip(*column.labels, strict=True), _lines(edges), strict=False)
    )
    return all(
        w * prod(b[at] for b, at in zip(blocks, on, strict=True))
        == prod(n[s] for n, s in zip(labels, shown, strict=True))
        for (shown, on), w in together.items()
    )


def _lines(edges: Sequence[Labels]) -> Iterator[Labels]:
    """The blocks of each raw value; nothing of each, where there is no edge."""
    if edges:
        yield from zip(*edges, strict=True)
        return
    while True:
        yield ()


@dataclass(frozen=True, eq=False)
class ReleaseTree:
    """Releases joined by a tree, and what somebody makes of their files."""

    releases: SameRows
    tree: Tree
    """Edges of a tree for which the closed form holds; see `find_tree`."""

    @cached_property
    def _shared(self) -> dict[Edge, list[tuple[dict[int, int], ...]]]:
        """For each edge and column the block of each label, in both releases."""
        return {
            e: [coarsen(c, e).block_of for c in self.releases.columns]
            for e in self.tree
        }

    def _find_block(self, edge: Edge, k: int, row: Labels) -> Labels:
        side = edge.index(k)
        return tuple(of[side][s] for of, s in zip(self._shared[edge], row, strict=True))

    @cached_property
    def _people(self) -> dict[Edge, Counter[Labels]]:
        """How many people lie in each block of each edge."""
        found: dict[Edge, Counter[Labels]] = {e: Counter() for e in self.tree}
        for e in self.tree:
            for row, n in self.releases.files[e[0]].items():
                found[e][self._find_block(e, e[0], row)] += n
        return found

    @cached_property
    def _children(self) -> dict[int, list[tuple[Edge, int]]]:
        """The releases below each one, with release 0 on top."""
        found: dict[int, list[tuple[Edge, int]]] = defaultdict(list)
        todo, seen = [0], {0}
        while todo:
            at = todo.pop()
            for e in self.tree:
                other = e[1] if e[0] == at else e[0]
                if at in e and other not in seen:
                    found[at].append((e, other))
                    seen.add(other)
                    todo.append(other)
        return found

    def beliefs(
        self, known: Sequence[int], about: int, values: Labels
    ) -> dict[int, Fraction]:
        """How sure one is of each raw value of a person with these known values."""
        asked = self.releases.columns[about]
        shared = Counter(zip(*asked.labels, strict=True))
        fits = [self._select(k, known, values) for k in range(len(self.releases.files))]
        expected = {shown: self._expect(0, fits, shown, about) for shown in shared}
        total = sum(expected.values())
        return {
            value: expected[shown] / shared[shown] / total
            for value, shown in enumerate(zip(*asked.labels, strict=True))
            if total
        }

    @cached_property
    def _indexes(self) -> dict[tuple[int, Labels], dict[Labels, list[CountedRow]]]:
        """Rows of a release by their labels of some columns, once they were asked."""
        return {}

    def _select(self, k: int, known: Sequence[int], values: Labels) -> list[CountedRow]:
        asked = k, tuple(known)
        if asked not in self._indexes:
            index: dict[Labels, list[CountedRow]] = defaultdict(list)
            for row, n in self.releases.files[k].items():
                index[tuple(row[i] for i in known)].append((row, n))
            self._indexes[asked] = index
        labels = (
            self.releases.columns[i].labels[k][v]
            for i, v in zip(known, values, strict=True)
        )
        return self._indexes[asked].get(tuple(labels), [])

    def _expect(
        self,
        k: int,
        fits: Sequence[Sequence[CountedRow]],
        shown: Labels,
        about: int,
        up: Edge | None = None,
    ) -> Fraction:
        """X: people with these labels, on average; from release k downwards."""
        return sum(
            self._expect_by_block(k, fits, shown, about, up).values(), Fraction(0)
        )

    def _expect_by_block(
        self,
        k: int,
        fits: Sequence[Sequence[CountedRow]],
        shown: Labels,
        about: int,
        up: Edge | None,
    ) -> dict[Labels, Fraction]:
        """The same, apart for each block that release k shares with the one above."""
        below = [
            (e, self._expect_by_block(j, fits, shown, about, e))
            for e, j in self._children[k]
        ]
        found: dict[Labels, Fraction] = defaultdict(Fraction)
        for row, n in fits[k]:
            if row[about] != shown[k]:
                continue
            weight = Fraction(n)
            for e, sent in below:
                block = self._find_block(e, k, row)
                # Of the n_e people of a block, those below that fit.
                weight *= sent.get(block, Fraction(0)) / self._people[e][block]
            if weight:
                found[self._find_block(up, k, row) if up else ()] += weight
        return found
