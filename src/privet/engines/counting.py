"""Counting coded columns: all sets at once, else set by set, else in hash parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from privet.counts import Counts, Grouped
from privet.engines import sql
from privet.engines.base import Amount, Run, Tally
from privet.engines.coding import COLUMNS_AT_ONCE, Dictionary
from privet.engines.session import DoesNotFit, Session, too_little_memory
from privet.errors import EngineError, InputError
from privet.exact import MAX_COUNT

Set = tuple[int, ...]
"""Columns counted together, by their position in the source."""

PARTS = (1, 8, 64, 512)
"""Into how many parts a count is cut when it does not fit, one after the other."""

CELLS_AT_ONCE = 8_000_000
"""Cells of a count that are held in memory at once."""

SETS_AT_ONCE = 64
"""Grouping sets per statement."""


class Counter:
    """Counts groups of one source over its coded columns."""

    def __init__(
        self,
        session: Session,
        position: Callable[[str], int],
        dictionaries: Mapping[int, Dictionary],
        amount: Amount,
        run: Run,
    ) -> None:
        self._session = session
        self._position = position
        self._dictionaries = dictionaries
        self._amount = amount
        self._run = run
        self._sum = sql.amount(bool(amount.unit), bool(amount.weight), sql.DUCKDB)

    def count(self, tallies: Sequence[Tally]) -> Iterator[tuple[Tally, Grouped]]:
        """One statement for many tallies; what does not fit goes tally by tally."""
        self._check_weights()
        starts = range(0, len(tallies), SETS_AT_ONCE)
        for i, start in enumerate(starts):
            few = tallies[start : start + SETS_AT_ONCE]
            step = (2 + i, 1 + len(starts))
            try:
                tables = self._together(few, step)
            except DoesNotFit:
                for tally in few:
                    yield from self._in_parts(tally, step)
                continue
            for tally in few:
                yield tally, self._grouped(tally, tables)

    def _check_weights(self) -> None:
        """Weights must be whole numbers whose sum can be counted exactly."""
        if self._amount.weight is None:
            return
        w = f"c{self._position(self._amount.weight)}"
        number = f"TRY_CAST({w} AS HUGEINT)"
        statement = (
            f"SELECT count(*) FILTER (WHERE {number} IS NULL OR {number} < 0 OR "
            f"TRY_CAST({w} AS DOUBLE) <> {number}) AS bad, "
            f"CAST(sum({number}) AS DOUBLE) AS total FROM people"
        )
        table = self._session.watched(
            partial(self._session.fetch, statement), self._run, "checking weights"
        )
        bad, total = table["bad"][0].as_py(), table["total"][0].as_py() or 0
        name = self._amount.weight
        if bad:
            raise InputError(
                f"Weight column {name!r} must hold whole numbers of at least 0; "
                f"{bad} rows do not."
            )
        if total >= MAX_COUNT:
            raise InputError(
                f"Weight column {name!r} must sum to less than 2**53; "
                f"it sums to about {total:.3g}."
            )

    # Statements ---------------------------------------------------------------------

    def _together(
        self, tallies: Sequence[Tally], step: tuple[int, int]
    ) -> dict[Set, Counts]:
        sets = self._sets(tallies)
        used = sorted({c for s in sets for c in s})
        if len(used) > COLUMNS_AT_ONCE:
            raise DoesNotFit
        statement = sql.count_sets(sets, self._rows(used), self._sum)
        table = self._watched(statement, "counting", step)
        marks = table["g"].to_numpy()
        return {
            s: self._counts(s, table.filter(pa.array(marks == sql.mask(s, used))))
            for s in sets
        }

    def _in_parts(
        self, tally: Tally, step: tuple[int, int]
    ) -> Iterator[tuple[Tally, Grouped]]:
        """The same count, cut by a hash of the group until each part fits.

        Part p of P is part p + i·P of a finer cut, so a part that does not fit is
        cut again without losing or repeating a group.
        """
        pending = [(0, 0)]  # (index into PARTS, which part)
        while pending:
            depth, part = pending.pop()
            try:
                tables = self._part(tally, part, PARTS[depth], step)
            except DoesNotFit:
                if depth + 1 == len(PARTS) or not tally.by:
                    raise too_little_memory() from None
                times = PARTS[depth + 1] // PARTS[depth]
                finer = [part + i * PARTS[depth] for i in range(times)]
                pending += [(depth + 1, p) for p in reversed(finer)]
                continue
            yield tally, self._grouped(tally, tables)

    def _part(
        self, tally: Tally, part: int, of: int, step: tuple[int, int]
    ) -> dict[Set, Counts]:
        only = sql.in_part(self._set(tally.by), part, of, sql.DUCKDB)
        doing = "counting" if of == 1 else f"counting part {part + 1} of {of}"
        found = {}
        for s in self._sets([tally]):
            statement = sql.count_set(s, self._rows(s), self._sum, only)
            found[s] = self._counts(s, self._watched(statement, doing, step))
        return found

    def _watched(self, statement: str, doing: str, step: tuple[int, int]) -> pa.Table:
        return self._session.watched(
            partial(self._read, statement), self._run, doing, step
        )

    def _read(self, statement: str) -> pa.Table:
        """The result of a count, unless it is too large to hold."""
        reader = self._session.con.sql(statement).to_arrow_reader(1_000_000)
        batches: list[pa.RecordBatch] = []
        for batch in reader:
            batches.append(batch)
            if sum(len(b) for b in batches) > CELLS_AT_ONCE:
                raise DoesNotFit
        return pa.Table.from_batches(batches, reader.schema)

    # Pieces -------------------------------------------------------------------------

    def _sets(self, tallies: Sequence[Tally]) -> list[Set]:
        sets = [self._set((*t.by, t.about)) for t in tallies]
        if self._amount.unit:  # people of a group are not the sum over its values
            sets += [self._set(t.by) for t in tallies]
        return list(dict.fromkeys(sets))

    def _set(self, columns: Sequence[str]) -> Set:
        return tuple(sorted(self._position(c) for c in columns))

    def _rows(self, columns: Sequence[int]) -> str:
        extra = ""
        if self._amount.unit:
            extra = f"s.c{self._position(self._amount.unit)} AS u"
        if self._amount.weight:
            weight = f"s.c{self._position(self._amount.weight)}"
            extra = f"CAST({weight} AS {sql.DUCKDB.big}) AS w"
        tables = {c: self._dictionaries[c].table for c in columns}
        return sql.coded(tables, "people", extra, sql.DUCKDB)

    def _counts(self, columns: Set, table: pa.Table) -> Counts:
        domains = tuple(self._dictionaries[c].domain for c in columns)
        codes = tuple(table[f"k{c}"].to_numpy() for c in columns)
        return Counts(domains, codes, table["n"].to_numpy().astype(np.int64))

    def _grouped(self, tally: Tally, tables: dict[Set, Counts]) -> Grouped:
        counts = tables[self._set((*tally.by, tally.about))]
        totals = tables[self._set(tally.by)] if self._amount.unit else None
        return Grouped.of(counts, tally.by, tally.about, totals)


def check_complete(counted: int, rows: int | None) -> None:
    """Every row must have been counted once; a file may change under our hands."""
    if rows is not None and counted != rows:
        raise EngineError(
            f"The table changed while it was read: {rows} rows at first, {counted} "
            "when counting. Count a copy that nobody writes to."
        )
