"""Sort-based counting: the keys of all rows are sorted, and runs of equal ones counted.

Where most rows differ, a hash table of groups would be as large and slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.counting.coded_rows import CodedRows, Step, Tables, make_table
from privet.engine.counting.strategy import LIMITS, CountStrategy, Limits
from privet.engine.protocol import CountQuery


class SortedKeys(CountStrategy):
    """The keys of all rows at once, for each set of columns."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """All queries from one scan."""
        sets = self._rows.list_all_sets(queries)
        keys = self._rows.fetch_keys(sets, self._step)
        found = {o: count_keys(k) for o, k in zip(sets, keys, strict=True)}
        yield from ((query, found) for query in queries)


class SortedBlocks(CountStrategy):
    """The keys of all rows of one set, sorted at once, but counted in blocks."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """Each query some groups at a time."""
        for query in queries:
            (order,) = self._rows.list_sets(query)
            (keys,) = self._rows.fetch_keys([order], self._step)
            values = self._rows.sizes[order[-1]]
            for table in count_in_blocks(keys, values, self._limits.cells_at_once):
                yield query, {order: table}


def mostly_differ(
    rows: CodedRows, query: CountQuery, step: Step, limits: Limits = LIMITS
) -> bool:
    """Whether the first rows have more than half as many different keys.

    Grouping would find that out after it has held more cells than fit.
    """
    (some,) = rows.fetch_keys(
        rows.list_sets(query)[:1], step, f"LIMIT {limits.sampled_rows}"
    )
    ordered = np.sort(some)  # np.unique hashes, which takes ten times as long
    return bool(2 * (np.count_nonzero(np.diff(ordered)) + 1) > len(some))


def count_keys(keys: NDArray[np.int64]) -> pa.Table:
    """The different keys, in order, and how often each occurs."""
    return _count_sorted(np.sort(keys))


def _count_sorted(keys: NDArray[np.int64]) -> pa.Table:
    # Keys 3 3 5 8 8: runs begin at 0, 2, 3; with the end, 5, they are 2, 1, 2 long.
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    n = np.diff(np.r_[first, len(keys)])
    return make_table(key=keys[first], n=n)


def count_in_blocks(
    keys: NDArray[np.int64], size: int, most: int
) -> Iterator[pa.Table]:
    """The same, so many keys at a time, but those of a group together; sorts them.

    A group has so many keys, one after the other: with 4 values, group 2 has the keys
    8 to 11. A group of more rows than a block comes by itself.
    """
    ordered, start = keys if keys.flags.writeable else keys.copy(), 0
    ordered.sort()
    while start < len(ordered):
        stop = min(start + most, len(ordered))
        if stop < len(ordered):
            # Cut where the group of the next key begins: 1 2 | 5 6 9 with 4 values, 3
            # at a time. If it began the block, it comes whole.
            group = ordered[stop] // size
            edges = np.searchsorted(ordered, [group * size, (group + 1) * size])
            stop = int(edges[0] if edges[0] > start else edges[1])
        yield _count_sorted(ordered[start:stop])
        start = stop
