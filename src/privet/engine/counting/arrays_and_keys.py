"""Dense arrays for narrow sets of columns, sorted keys for wide ones, in one scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.coded_rows import Tables
from privet.engine.counting.dense_arrays import add_up, find_nonzero
from privet.engine.counting.sorted_keys import count_in_blocks
from privet.engine.counting.strategy import CountStrategy, Limits
from privet.engine.protocol import CountQuery
from privet.engine.run import DoesNotFit, Taker, check_complete


def split_widths(
    cells: Sequence[int], rows: int, limits: Limits
) -> tuple[list[int], list[int]]:
    """The numbers of the sets that get an array, and of those whose keys are sorted.

    The smallest first: of 10, 900 and 30 cells, where 50 fit, the first and the last.
    """
    narrow, left = [], min(limits.cells_at_once, limits.cells_per_row * rows)
    for at in sorted(range(len(cells)), key=lambda i: cells[i]):
        if cells[at] <= left:
            narrow.append(at)
            left -= cells[at]
    return sorted(narrow), [at for at in range(len(cells)) if at not in narrow]


class ArraysAndKeys(CountStrategy):
    """Each set of columns in its own way, from one scan of the rows."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """All queries from one scan; wide ones some groups at a time."""
        rows = self._rows
        sets = rows.list_all_sets(queries)
        cells = [rows.count_cells(order) for order in sets]
        narrow, wide = split_widths(cells, rows.total, self._limits)
        arrays = {at: np.zeros(cells[at], dtype=np.int64) for at in narrow}
        if any(len(sets[at]) == 1 for at in wide):  # one group, which cannot be cut
            raise DoesNotFit
        keys = {at: _KeptKeys(rows.total) for at in wide}
        takers: list[Taker] = [
            partial(add_up, arrays[at]) if at in arrays else keys[at].take
            for at in range(len(sets))
        ]
        work = partial(rows.session.take_columns, rows.select_keys(sets), takers)
        rows.watch(work, self._step)
        for query in queries:
            (order,) = rows.list_sets(query)
            at = sets.index(order)
            if at in arrays:
                yield query, {order: find_nonzero(arrays[at])}
                continue
            size, most = rows.sizes[order[-1]], self._limits.cells_at_once
            for table in count_in_blocks(keys[at].read(), size, most):
                yield query, {order: table}


class _KeptKeys:
    """The keys of all rows, batch after batch."""

    def __init__(self, rows: int) -> None:
        self._keys = np.empty(rows, dtype=np.int64)
        self._taken = 0

    def take(self, keys: NDArray[Any]) -> None:
        """Keep a batch; rows beyond those that were counted are only counted."""
        start, self._taken = self._taken, self._taken + len(keys)
        self._keys[start : self._taken] = keys[: max(len(self._keys) - start, 0)]

    def read(self) -> NDArray[np.int64]:
        """All of them, unless rows came or went."""
        check_complete(self._taken, len(self._keys))
        return self._keys
