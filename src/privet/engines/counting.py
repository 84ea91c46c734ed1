"""Counting coded columns: all sets at once, else set by set, else in hash parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.counts import MOST_KEYS, Counts, Domain
from privet.engines import sql
from privet.engines.base import Amount, Run, Tally
from privet.engines.coding import COLUMNS_AT_ONCE, Dictionary
from privet.engines.failures import DoesNotFit
from privet.engines.session import Session, too_little_memory
from privet.errors import EngineError, InputError
from privet.exact import MAX_COUNT
from privet.grouped import Grouped, Keys

Order = tuple[int, ...]
"""Columns counted together, by their position; the one counted in groups is last."""

Tables = dict[Order, pa.Table]
"""What the engine counted."""

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
        rounds = self._rounds(tallies)
        for i, few in enumerate(rounds):
            step = (2 + i, 1 + len(rounds))
            try:
                tables = self._together(few, step)
            except DoesNotFit:
                for tally in few:
                    yield from self._in_parts(tally, step)
                continue
            for tally in few:
                yield tally, self._grouped(tally, tables)

    def _rounds(self, tallies: Sequence[Tally]) -> list[list[Tally]]:
        """Tallies for one statement each: no set of columns in two orders."""
        rounds: list[tuple[list[Tally], dict[frozenset[int], Order]]] = []
        for tally in tallies:
            own = {frozenset(o): o for o in self._orders(tally)}
            at = next((i for i, (_, o) in enumerate(rounds) if _agree(o, own)), None)
            if at is None:
                at = len(rounds)
                rounds.append(([], {}))
            rounds[at][0].append(tally)
            rounds[at][1].update(own)
        return [few for few, _ in rounds]

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

    def _together(self, tallies: Sequence[Tally], step: tuple[int, int]) -> Tables:
        orders = list(dict.fromkeys(o for t in tallies for o in self._orders(t)))
        used = sorted({c for o in orders for c in o})
        if len(used) > COLUMNS_AT_ONCE or not all(map(self._packs, orders)):
            raise DoesNotFit
        statement = sql.count_sets(
            orders, self._sizes, self._rows(used), self._sum, sql.DUCKDB
        )
        table = self._watched(statement, "counting", step)
        marks = table["g"].to_numpy()
        found: Tables = {}
        for order in orders:
            mark = sql.mask(order, used)
            start, stop = np.searchsorted(marks, [mark, mark + 1])
            found[order] = table.slice(start, stop - start)
        return found

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

    def _part(self, tally: Tally, part: int, of: int, step: tuple[int, int]) -> Tables:
        only = sql.in_part(self._orders(tally)[0][:-1], part, of, sql.DUCKDB)
        doing = "counting" if of == 1 else f"counting part {part + 1} of {of}"
        found: Tables = {}
        for order in self._orders(tally):
            key = ""
            if self._packs(order):
                key = sql.packed(order, self._sizes, sql.DUCKDB)
            rows = self._rows(order)
            statement = sql.count_set(order, key, rows, self._sum, only)
            found[order] = self._watched(statement, doing, step)
        return found

    def _watched(self, statement: str, doing: str, step: tuple[int, int]) -> pa.Table:
        """The result of a count, unless it is too large to hold."""
        work = partial(self._session.fetch, statement, most=CELLS_AT_ONCE)
        return self._session.watched(work, self._run, doing, step)

    # Pieces -------------------------------------------------------------------------

    def _orders(self, tally: Tally) -> list[Order]:
        """What a tally needs counted; the groups by themselves for people."""
        by = tuple(sorted(self._position(c) for c in tally.by))
        cells = (*by, self._position(tally.about))
        # People of a group are not the sum over its values: somebody may have two.
        return [cells, by] if self._amount.unit else [cells]

    @cached_property
    def _sizes(self) -> dict[int, int]:
        return {c: len(d.domain) for c, d in self._dictionaries.items()}

    def _packs(self, order: Order) -> bool:
        return prod(self._sizes[c] for c in order) < MOST_KEYS

    def _rows(self, columns: Sequence[int]) -> str:
        extra = ""
        if self._amount.unit:
            extra = f"s.c{self._position(self._amount.unit)} AS u"
        if self._amount.weight:
            weight = f"s.c{self._position(self._amount.weight)}"
            extra = f"CAST({weight} AS {sql.DUCKDB.big}) AS w"
        tables = {c: self._dictionaries[c].table for c in columns}
        return sql.coded(tables, "people", extra, sql.DUCKDB)

    def _grouped(self, tally: Tally, tables: Tables) -> Grouped:
        cells, *groups = self._orders(tally)
        if self._packs(cells):
            n = _numbers(tables[cells], "n")
            total = _numbers(tables[groups[0]], "n") if groups else None
            key = _numbers(tables[cells], "key")
            return Grouped.from_sorted(self._domains(cells), key, n, total)
        counts = [self._counts(order, tables[order]) for order in (cells, *groups)]
        names = [d.name for d in self._domains(cells)]
        return Grouped.of(counts[0], names[:-1], names[-1], *counts[1:])

    def _domains(self, order: Order) -> tuple[Domain, ...]:
        return tuple(self._dictionaries[c].domain for c in order)

    def _counts(self, order: Order, table: pa.Table) -> Counts:
        if self._packs(order) and order:  # the groups of cells that do not pack
            codes = Keys(
                tuple(self._sizes[c] for c in order), _numbers(table, "key")
            ).columns()
        else:
            codes = tuple(table[f"k{c}"].to_numpy() for c in order)
        return Counts(self._domains(order), codes, _numbers(table, "n"))


def _agree(
    orders: Mapping[frozenset[int], Order], own: Mapping[frozenset[int], Order]
) -> bool:
    """Whether more sets fit into a statement that has some already."""
    same = all(orders.get(s, o) == o for s, o in own.items())
    return same and len(orders) + len(own) <= SETS_AT_ONCE


def _numbers(table: pa.Table, column: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = table[column].to_numpy().astype(np.int64, copy=False)
    return found


def check_complete(counted: int, rows: int | None) -> None:
    """Every row must have been counted once; a file may change under our hands."""
    if rows is not None and counted != rows:
        raise EngineError(
            f"The table changed while it was read: {rows} rows at first, {counted} "
            "when counting. Count a copy that nobody writes to."
        )
