"""Weighted cells of a table, as they are and as a release shows them, and trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]

MARKER = "⊥"
"""How a release shows a hidden value."""


@dataclass(frozen=True)
class Domain:
    """The values of a column, in their order."""

    name: str
    """The column."""
    labels: tuple[str, ...]
    """The values as texts."""
    ordered: bool = False
    """Whether they are numbers."""

    def __len__(self) -> int:
        return len(self.labels)

    def code(self, label: str) -> int:
        """Where a value stands; -1 if it never occurs."""
        return self.labels.index(label) if label in self.labels else -1


@dataclass(frozen=True, eq=False)
class Cells:
    """Combinations of values that occur together with a class, and how often."""

    domains: tuple[Domain, ...]
    """One per column."""
    codes: tuple[Ints, ...]
    """The code of each cell, one array per column."""
    classes: Ints
    """The code of the class in each cell."""
    n: Ints
    """Rows of each cell."""

    def __len__(self) -> int:
        return len(self.n)

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.n.sum())

    def at(self, column: str) -> int:
        """Where a column stands."""
        return [d.name for d in self.domains].index(column)

    def over(self, columns: Sequence[str]) -> Cells:
        """Only some columns; cells that look alike now stay apart."""
        at = [self.at(c) for c in columns]
        return replace(
            self,
            domains=tuple(self.domains[j] for j in at),
            codes=tuple(self.codes[j] for j in at),
        )

    def matrix(self) -> NDArray[np.float32]:
        """One row per cell: numbers by rank, others one column per value."""
        parts = [
            codes[:, None] if domain.ordered else codes[:, None] == range(len(domain))
            for domain, codes in zip(self.domains, self.codes, strict=True)
        ]
        return np.hstack(parts).astype(np.float32)


def cells_of(rows: pa.Table, columns: Sequence[str], target: str, weight: str) -> Cells:
    """The cells of a table whose rows have weights."""
    coded = [_coded(rows, c) for c in columns]
    _, classes = _coded(rows, target)
    found = Cells(
        tuple(d for d, _ in coded),
        tuple(codes for _, codes in coded),
        classes,
        rows[weight].to_numpy(),
    )
    return _together(found)


def _coded(rows: pa.Table, column: str) -> tuple[Domain, Ints]:
    values, codes = np.unique(rows[column].to_pylist(), return_inverse=True)
    numbers = pa.types.is_floating(rows[column].type)
    return Domain(column, tuple(map(str, values)), numbers), codes


def _together(cells: Cells) -> Cells:
    """Cells that look alike put together, in the order of their codes."""
    keys = np.stack([*cells.codes, cells.classes], axis=1)
    order = np.lexsort(keys.T[::-1])
    keys, n = keys[order], cells.n[order]
    new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    first = np.flatnonzero(new)
    columns = keys[first].T
    return Cells(
        cells.domains, tuple(columns[:-1]), columns[-1], np.add.reduceat(n, first)
    )


def shown(
    cells: Cells,
    hidden: Mapping[str, Sequence[str | None]],
    cuts: Mapping[str, Sequence[str | None]],
) -> Cells:
    """The cells as a release shows them: values hidden, or in intervals."""
    domains, columns = [], []
    for domain, codes in zip(cells.domains, cells.codes, strict=True):
        texts = list(domain.labels)
        if domain.name in hidden:
            out = set(hidden[domain.name])
            texts = [MARKER if t in out else t for t in texts]
        if domain.name in cuts:
            texts = _intervals(texts, cuts[domain.name])
        labels = list(dict.fromkeys(texts))
        new = np.array([labels.index(t) for t in texts])
        ordered = domain.ordered and texts == list(domain.labels)
        domains.append(Domain(domain.name, tuple(labels), ordered))
        columns.append(new[codes])
    return _together(replace(cells, domains=tuple(domains), codes=tuple(columns)))


def _intervals(texts: Sequence[str], after: Sequence[str | None]) -> list[str]:
    """The interval of each number; no cut hides them all."""
    ends = [float(a) for a in after if a is not None]
    if not ends:
        return [MARKER] * len(texts)
    return [str(np.searchsorted(ends, float(t))) for t in texts]


# Trees ------------------------------------------------------------------------------


def predicted(matrix: Any, classes: Ints, train: Ints, *, leaf: int) -> Ints:
    """The class of every cell, by a tree grown on some rows of them.

    A leaf has at least so many rows: the larger, the simpler the tree.
    """
    from sklearn.tree import DecisionTreeClassifier

    here = np.flatnonzero(train)
    # Half a row less: the tree compares sums of floats with a product of floats.
    fewest = min((leaf - 0.5) / float(train.sum()), 0.5)
    tree = DecisionTreeClassifier(
        criterion="entropy", min_weight_fraction_leaf=fewest, random_state=0
    )
    tree.fit(matrix[here], classes[here], sample_weight=train[here])
    found: Ints = tree.predict(matrix)
    return found


def split(cells: Cells, folds: int, seed: int) -> Ints:
    """Rows of each cell per fold; every fold gets its share of each class."""
    rng = np.random.default_rng(seed)
    parts = np.zeros((folds, len(cells)), dtype=np.int64)
    for label in np.unique(cells.classes):
        here = np.flatnonzero(cells.classes == label)
        left = cells.n[here].copy()
        for fold in range(folds):
            size = int(left.sum()) // (folds - fold)
            part = rng.multivariate_hypergeometric(left, size, method="marginals")
            parts[fold, here] = part
            left = left - part
    return parts


def best_leaf(cells: Cells, leaves: Sequence[int], *, repeats: int) -> int:
    """The size of leaves that predicts best in cross-validation; the largest of those.

    Ten folds, dealt as often as said.
    """
    matrix = cells.matrix()
    rounds = [split(cells, 10, seed) for seed in range(repeats)]

    def right(leaf: int) -> int:
        found = 0
        for part in (part for parts in rounds for part in parts):
            said = predicted(matrix, cells.classes, cells.n - part, leaf=leaf)
            found += int(part[said == cells.classes].sum())
        return found

    return max(leaves, key=lambda leaf: (right(leaf), leaf))
