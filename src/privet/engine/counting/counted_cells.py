"""Counted cells: combinations that were counted before are fetched, and added up here.

One statement codes those of all sets of columns; one for each set would spend more time
on being planned than on its few combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.counting.coded_rows import Order, Tables, make_table, numbers
from privet.engine.counting.strategy import CountStrategy
from privet.engine.protocol import CountQuery
from privet.engine.run import DoesNotFit
from privet.values.contingency import sum_by_key

Ints = NDArray[np.int64]


class CountedCells(CountStrategy):
    """All sets from the few combinations of one precount."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """All queries from one result."""
        rows = self._rows
        sets = rows.list_all_sets(queries)
        cells = rows.precount.find_few(sets) if rows.precount else None
        if cells is None:
            raise DoesNotFit
        used = sorted({c for o in sets for c in o})
        fetched = rows.fetch(rows.select_cells(cells.name, used), None, self._step)
        marks, n = numbers(fetched, "g"), numbers(fetched, "n")
        codes = {c: numbers(fetched, f"k{c}") for c in used}
        found: Tables = {}
        for order in sets:
            own = np.flatnonzero(marks == cells.find_mark(order))
            part = {c: codes[c][own] for c in order}
            found[order] = add_cells(order, part, n[own], rows.sizes)
        yield from ((query, found) for query in queries)


def add_cells(
    order: Order, codes: Mapping[int, Ints], n: Ints, sizes: Mapping[int, int]
) -> pa.Table:
    """Keys and counts of one set of columns; a value without a code counts nowhere."""
    coded = np.logical_and.reduce([codes[c] >= 0 for c in order])
    first, *others = order
    # Codes (2, 1) of sizes (3, 4) make the key 2·4 + 1.
    key = reduce(lambda k, c: k * sizes[c] + codes[c], others, codes[first])
    keys, sums = sum_by_key(key[coded], n[coded])
    return make_table(key=keys, n=sums)
