"""Grouping sets: one statement of the database counts several sets of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from privet.engine import arrow, sql
from privet.engine.counting.coded_rows import Tables
from privet.engine.counting.strategy import CountStrategy
from privet.engine.protocol import CountQuery


class GroupingSets(CountStrategy):
    """All sets of columns in one scan; counts weights, people and precounts, too."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """All queries from one result."""
        rows = self._rows
        sets = rows.list_all_sets(queries)
        used = sorted({c for o in sets for c in o})
        statement = sql.count_sets(
            sets, rows.sizes, rows.select(used), rows.sums, rows.dialect
        )
        table = rows.fetch(statement, self._limits.cells_at_once, self._step)
        # Lines are ordered by their set's mark g, then by key: each set is a slice.
        marks = arrow.numbers(table["g"])
        found: Tables = {}
        for order in sets:
            mark = sql.mask(order, used)
            start, stop = np.searchsorted(marks, [mark, mark + 1])
            found[order] = table.slice(start, stop - start)
        yield from ((query, found) for query in queries)
