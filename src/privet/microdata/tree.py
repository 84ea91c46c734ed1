"""A decision tree on weighted cells; needs the extra `learn`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import MissingExtra
from privet.microdata.cells import ClassCells, Floats, Ints, split


def predicted(
    matrix: Floats, classes: Ints, train: Ints, *, leaf: int
) -> NDArray[np.int64]:
    """The class of every cell, by a tree grown on some rows of them.

    Parameters
    ----------
    matrix, classes
        The cells and their classes.
    train
        How many rows of each cell the tree is grown on.
    leaf
        The fewest rows a leaf may have: the larger, the simpler the tree.
    """
    here = np.flatnonzero(train)
    # Half a row less: the tree compares sums of floats with a product of floats.
    fewest = min((leaf - 0.5) / float(train.sum()), 0.5)
    tree = _learner()(
        criterion="entropy", min_weight_fraction_leaf=fewest, random_state=0
    )
    tree.fit(matrix[here], classes[here], sample_weight=train[here])
    found: NDArray[np.int64] = tree.predict(matrix)
    return found


def tested(
    matrix: Floats, classes: Ints, parts: Ints, *, leaf: int
) -> tuple[Ints, list[NDArray[np.int64]]]:
    """Cross-validation: rows of each fold predicted rightly, and the predictions."""
    everybody = parts.sum(axis=0)
    guesses = [
        predicted(matrix, classes, everybody - part, leaf=leaf) for part in parts
    ]
    right = [
        part[guess == classes].sum() for part, guess in zip(parts, guesses, strict=True)
    ]
    return np.array(right, dtype=np.int64), guesses


def best_leaf(
    cells: ClassCells, candidates: Sequence[int], *, folds: int = 10, repeats: int = 1
) -> int:
    """The size of leaves that predicts best in cross-validation; the largest of those.

    >>> from privet.counts import Domain
    >>> alike = Cells((Domain("a", "x"),), (np.zeros(2, int),), Domain("b", "yn"),
    ...               np.array([0, 1]), np.array([30, 20]))
    >>> best_leaf(alike, [1, 5])
    5
    """
    matrix = cells.matrix()
    rounds = [split(cells, folds, seed) for seed in range(repeats)]

    def right(leaf: int) -> int:
        found = (tested(matrix, cells.classes, parts, leaf=leaf) for parts in rounds)
        return sum(int(rows.sum()) for rows, _ in found)

    return max(candidates, key=lambda leaf: (right(leaf), leaf))


def _learner() -> Any:
    try:
        return import_module("sklearn.tree").DecisionTreeClassifier
    except ImportError:
        raise MissingExtra(
            "A classifier must have scikit-learn to be trained; it is not installed. "
            "Install privet with the extra learn: pip install 'privet[learn]'."
        ) from None
