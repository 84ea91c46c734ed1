"""Dense arrays: rows are added up in arrays with one axis per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.counting.coded_rows import Order, Tables, make_table
from privet.engine.counting.strategy import CountStrategy
from privet.engine.protocol import CountQuery


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
        work = partial(
            self._rows.session.tally_columns,
            self._rows.select_keys(added),
            [prod(shape) for shape in shapes],
        )
        counted = self._rows.watch(work, self._step)
        # Keys in mixed radix are positions in C order: flat arrays get their axes back.
        made = zip(added, counted, shapes, strict=True)
        cubes = {o: n.reshape(shape) for o, n, shape in made}
        found = {
            o: find_nonzero(project_counts(cubes[w], w, o)) for o, w in wide.items()
        }
        yield from ((query, found) for query in queries)


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
