"""Dense arrays: rows are added up in arrays with one axis per column.

Where codes of all rows are in memory, each set of columns is added up from them; sorted
where most of an array would stay empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from math import prod
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.counting.coded_rows import Order, Tables, make_table
from privet.engine.counting.strategy import CountStrategy
from privet.engine.protocol import CountQuery
from privet.values.contingency import MOST_KEYS, Counts, sum_by_key

Ints = NDArray[np.int64]

MOST_CELLS = 2**26
"""Cells of an array that is filled from codes in memory: half a gigabyte."""

CELLS_PER_ROW = 8
"""With more cells than that for each row, rows are sorted instead."""

BLOCK = 2**16
"""Rows whose keys are worked out at once: as many as stay in the processor's cache."""


class DenseArrays(CountStrategy):
    """One cell per combination of codes, whether it occurs or not.

    A set of columns that is part of a wider one is added up from its array.
    """

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """All queries from one scan."""
        sets = self._rows.list_all_sets(queries)
        wide = {o: find_widest(o, sets) for o in sets}
        added = list(dict.fromkeys(wide.values()))
        shapes = [tuple(self._rows.sizes[c] for c in o) for o in added]
        counted = [np.zeros(prod(shape), dtype=np.int64) for shape in shapes]
        takers = [partial(add_up, n) for n in counted]
        statement = self._rows.select_keys(added)
        work = partial(self._rows.session.take_columns, statement, takers)
        self._rows.watch(work, self._step)
        # Keys in mixed radix are positions in C order: flat arrays get their axes back.
        made = zip(added, counted, shapes, strict=True)
        cubes = {o: n.reshape(shape) for o, n, shape in made}
        found = {
            o: find_nonzero(project_counts(cubes[w], w, o)) for o, w in wide.items()
        }
        yield from ((query, found) for query in queries)


def add_up(n: NDArray[np.int64], keys: NDArray[Any]) -> None:
    """Add what a batch of keys counts; several times faster than grouping."""
    # Keys 3 0 3 add 1 0 0 2.
    np.add.at(n, keys, 1)


def find_widest(order: Order, orders: Sequence[Order]) -> Order:
    """The order itself, or one of more columns that has all of its columns."""
    return max((o for o in orders if {*order} <= {*o}), key=len)


def project_counts(
    cube: NDArray[np.int64], wide: Order, order: Order
) -> NDArray[np.int64]:
    """The counts of some columns, from those of more.

    Of columns (0, 3, 5) with shape (2, 4, 3), the order (5, 0) has shape (3, 2).
    """
    if wide == order:
        return cube
    rest = tuple(i for i, c in enumerate(wide) if c not in order)
    kept = [c for c in wide if c in order]
    fewer: NDArray[np.int64] = cube.sum(axis=rest)
    return fewer.transpose([kept.index(c) for c in order])


def find_nonzero(cube: NDArray[np.int64]) -> pa.Table:
    """The cells that somebody is in: their keys, in order, and counts.

    A key is the position in the flat array: cell [2, 1, 1] of shape (3, 4, 2) is 19.
    """
    n = cube.ravel()
    key = np.flatnonzero(n)
    return make_table(key=key, n=n[key])


# Codes in memory ----------------------------------------------------------------------


class CodeTally:
    """Counts sets of columns from the codes of rows, or of combinations, in memory."""

    def __init__(self, counts: Counts, most_cells: int = MOST_CELLS) -> None:
        self._counts = counts
        self._most_cells = most_cells
        self._lock = Lock()
        self._sizes = {d.name: max(len(d), 1) for d in counts.domains}
        self._codes = dict(zip(counts.columns, counts.codes, strict=True))

    @cached_property
    def _weights(self) -> NDArray[np.float64] | None:
        """How many each code stands for; None: one. Sums below 2**53 are exact."""
        n = self._counts.n
        return None if bool((n == 1).all()) else n.astype(np.float64)

    @cached_property
    def _key(self) -> NDArray[np.intp]:
        """Room for one key per row, used again for each set of columns."""
        return np.empty(len(self._counts), dtype=np.intp)

    def packs(self, columns: Sequence[str]) -> bool:
        """Whether the codes of some columns fit one 64-bit integer."""
        return self._count_cells(columns) < MOST_KEYS

    def _count_cells(self, columns: Sequence[str]) -> int:
        return prod(self._sizes[c] for c in columns)

    def count(self, columns: Sequence[str]) -> tuple[Ints, Ints]:
        """Keys of the combinations that occur, in order, and how often each does.

        The last column varies fastest.
        """
        cells, rows = self._count_cells(columns), len(self._counts)
        with self._lock:
            key = self._pack(columns, cells)
            if cells > min(self._most_cells, CELLS_PER_ROW * rows):
                return sum_by_key(key, self._counts.n)
            sums = np.bincount(key, weights=self._weights, minlength=cells)
        found = np.flatnonzero(sums)
        return found, sums[found].astype(np.int64)

    def _pack(self, columns: Sequence[str], cells: int) -> NDArray[np.intp]:
        """One key per row, worked out block by block."""
        first, *others = columns
        narrow = np.dtype(np.int32 if cells < 2**31 else np.int64)
        for start in range(0, len(self._key), BLOCK):
            rows = slice(start, start + BLOCK)
            key: NDArray[Any] = self._codes[first][rows].astype(narrow)
            for column in others:
                key *= self._sizes[column]
                key += self._codes[column][rows].astype(narrow, copy=False)
            self._key[rows] = key
        return self._key
