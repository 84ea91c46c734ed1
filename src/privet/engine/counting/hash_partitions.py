"""Hash partitions: a count is cut into parts, by a hash, until each of them fits.

One part is a plain GROUP BY, which any database runs, whatever it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import ClassVar

import numpy as np
import pyarrow as pa

from privet.engine import sql
from privet.engine.counting.coded_rows import (
    CodedRows,
    Order,
    Step,
    Tables,
    make_table,
    numbers,
)
from privet.engine.counting.strategy import CountStrategy
from privet.engine.protocol import CountQuery
from privet.engine.run import DoesNotFit, too_little_memory
from privet.engine.sql import PARTS, Part

_numbers = count()


class PartitionedStrategy(CountStrategy):
    """Counts the parts of one query after the other."""

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """Each query by itself."""
        for query in queries:
            yield from ((query, found) for found in self._count_query(query))

    def _count_query(self, query: CountQuery) -> Iterator[Tables]:
        raise NotImplementedError

    def _count_part(
        self, sets: Sequence[Order], key: str, part: Part, most: int | None
    ) -> Tables:
        """Each set of columns among the rows of a part."""
        return {o: self._count_set(o, part.only(key), part, most) for o in sets}

    def _count_set(
        self, order: Order, only: str, part: Part, most: int | None
    ) -> pa.Table:
        rows, dialect = self._rows, self._rows.dialect
        packs = rows.packs(order)
        key = sql.packed(order, rows.sizes, dialect) if packs else ""
        statement = sql.count_set(
            order, key, rows.select(order), rows.sums, only, dialect
        )
        counted = self._fetch_part(statement, part, most)
        return counted if dialect.sorts or not packs else sort_by_key(counted)

    def _fetch_part(self, statement: str, part: Part, most: int | None) -> pa.Table:
        doing = "counting" if part.is_whole else f"counting {part.words}"
        return self._rows.fetch(statement, most, self._step, doing)


class HashPartitions(PartitionedStrategy):
    """Parts by a hash of the group, so that each group is in one part, whole."""

    first_depth: ClassVar[int] = 0
    """Which of `PARTS` is tried first."""

    def _count_query(self, query: CountQuery) -> Iterator[Tables]:
        """Part p of P is part p + i·P of a finer cut: 3 of 8 is 3, 11, … 59 of 64.

        So a part that does not fit is cut again without losing or repeating a group.
        """
        sets = self._rows.list_sets(query)
        packed = PackedRows(self._rows, sets, self._step)
        first = range(PARTS[self.first_depth])
        # A stack: the finer parts of a part come before the next part.
        pending = [(self.first_depth, p) for p in reversed(first)]
        try:
            while pending:
                depth, number = pending.pop()
                try:
                    found = self._count_at(depth, number, sets, packed)
                except DoesNotFit:
                    if depth + 1 == len(PARTS):
                        raise too_little_memory() from None
                    finer = range(number, PARTS[depth + 1], PARTS[depth])
                    pending += [(depth + 1, p) for p in reversed(finer)]
                else:
                    yield found
        finally:
            packed.drop()

    def _count_at(
        self, depth: int, number: int, sets: Sequence[Order], packed: PackedRows
    ) -> Tables:
        """One part, as far as it can be held if it can be cut again."""
        part = Part(number, PARTS[depth])
        most = self._limits.cells_at_once if depth + 1 < len(PARTS) else None
        if depth and (table := packed.find_table()):
            rows, order = self._rows, sets[0]
            values = rows.sizes[order[-1]]
            statement = sql.count_packed(table, values, rows.sums, part, rows.dialect)
            return {order: self._fetch_part(statement, part, most)}
        key = sql.hashed([f"k{c}" for c in sets[0][:-1]], self._rows.dialect)
        return self._count_part(sets, key, part, most)


class FinerPartitions(HashPartitions):
    """The same, begun with several parts: the whole was tried and does not fit."""

    first_depth = 1


class MergedPartitions(PartitionedStrategy):
    """Parts of one group that is everybody, put together again.

    Values are cut by their hash, or people where distinct ones are counted: each is in
    one part, so the parts add up.
    """

    def _count_query(self, query: CountQuery) -> Iterator[Tables]:
        sets = self._rows.list_sets(query)
        cut = "u" if self._rows.unit else f"k{sets[0][-1]}"
        key = sql.hashed([cut], self._rows.dialect)
        for of in PARTS:
            try:
                parts = [Part(number, of) for number in range(of)]
                found = [self._count_part(sets, key, part, None) for part in parts]
            except DoesNotFit:
                continue
            yield {o: merge_parts([f[o] for f in found]) for o in sets}
            return
        raise too_little_memory()


class PackedRows:
    """The keys of all rows, kept beside, since every part would read the rows again."""

    def __init__(self, rows: CodedRows, sets: Sequence[Order], step: Step) -> None:
        self._rows = rows
        self._sets = sets
        self._step = step
        self._table: str | None = None  # None: not tried yet; empty: no room

    def find_table(self) -> str:
        """What the keys stand in, made when first asked for; empty: nowhere."""
        if self._table is None:
            self._table = ""
            if len(self._sets) == 1 and self._rows.packs(self._sets[0]):
                self._make()
        return self._table

    def _make(self) -> None:
        rows, (order,) = self._rows, self._sets
        if not rows.dialect.at_hand:
            return
        key = sql.packed(order, rows.sizes, rows.dialect)
        chosen = f"{key} AS key" + (", w" if rows.is_weighted else "")
        name = f"pv_packed_{next(_numbers)}"
        select = f"SELECT {chosen} FROM ({rows.select(order)})"
        make = f"CREATE TEMP TABLE {name} AS {select}"
        with suppress(DoesNotFit):
            rows.fetch(make, None, self._step, "coding rows")
            self._table = name

    def drop(self) -> None:
        """Forget the keys."""
        if self._table and self._rows.session.is_open:
            self._rows.session.ask(f"DROP TABLE {self._table}")


def merge_parts(parts: Sequence[pa.Table]) -> pa.Table:
    """Parts of one count put together: what two parts have in common is added."""
    if len(parts) == 1:
        return parts[0]
    whole = pa.concat_tables(parts)
    key, at = np.unique(numbers(whole, "key"), return_inverse=True)
    columns = {"key": key}
    for name in whole.column_names[1:]:
        columns[name] = np.zeros(len(key), dtype=np.int64)
        np.add.at(columns[name], at, numbers(whole, name))
    return make_table(**columns)


def sort_by_key(counted: pa.Table) -> pa.Table:
    """The same by increasing keys."""
    order = np.argsort(numbers(counted, "key"), kind="stable")
    return make_table(**{c: numbers(counted, c)[order] for c in counted.column_names})
