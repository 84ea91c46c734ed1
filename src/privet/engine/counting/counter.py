"""Counts of equivalence classes over coded columns, by the way that fits the memory.

All sets of columns at once where that fits, else set by set, else in hash parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from math import prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow, sql
from privet.engine.counting.cells import (
    Order,
    count_in_blocks,
    count_keys,
    find_nonzero,
    find_widest,
    merge_parts,
    numbers,
    project_counts,
    sort_by_key,
)
from privet.engine.counting.precount import COLUMNS_AT_ONCE, Precount, agree
from privet.engine.dictionaries import Dictionary
from privet.engine.protocol import CountQuery, CountUnit, Run
from privet.engine.run import (
    DoesNotFit,
    StatementRunner,
    check_complete,
    too_little_memory,
)
from privet.errors import TooLarge
from privet.values.contingency import MOST_KEYS, Counts, Domain
from privet.values.equivalence_classes import ClassKeys, EquivalenceClasses

Tables = dict[Order, pa.Table]
"""What the engine counted."""

PARTS = (1, 8, 64, 512)
"""Into how many parts a count is cut when it does not fit, one after the other."""

CELLS_AT_ONCE = 8_000_000
"""Cells of a count that are held in memory at once."""

CELLS_PER_ROW = 4
"""With more cells than that for each row, most would stay empty."""

KEYS_AT_ONCE = 8_000_000
"""Keys of rows that are sorted here, whether they differ or not."""

KEY_BYTES, SOME = 24, 1_000_000
"""What a key takes while it is sorted; rows that tell whether most differ."""

MOST_COLUMNS = 100
"""Columns of one group; planning more joins than that takes longer than counting."""


class Counter:
    """Counts equivalence classes of one source over its coded columns."""

    def __init__(
        self,
        session: StatementRunner,
        position: Callable[[str], int],
        dictionaries: Mapping[int, Dictionary],
        amount: CountUnit,
        run: Run,
        people: str = "pv_people",
        weight: str = "",
        cells: Precount | None = None,
    ) -> None:
        self._session = session
        self._people = people
        self._weight = weight
        self._cells = cells
        self._kept: dict[CountQuery, str] = {}
        self._dialect = session.dialect
        self._position = position
        self._dictionaries = dictionaries
        self._amount = amount
        self._run = run
        weighted = bool(amount.weight) or cells is not None
        self._sums = sql.amounts(bool(amount.unit), weighted, self._dialect)

    def count(
        self, tallies: Sequence[CountQuery], expected: int | None, statements: int
    ) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        """One statement for many tallies; what does not fit goes tally by tally.

        Parameters
        ----------
        expected
            The rows, or the sum of weights, that each tally must cover.
        statements
            How many were run before; for progress.
        """
        rounds = self._plan_rounds(tallies)
        for i, few in enumerate(rounds):
            step = (statements + 1 + i, statements + len(rounds))
            covered = dict.fromkeys(few, 0)
            for tally, tables in self._count_round(few, step):
                covered[tally] += self._sum_covered(tally, tables)
                yield tally, self._group_cells(tally, tables)
            for number in covered.values():
                check_complete(number, expected)

    def _count_round(
        self, few: Sequence[CountQuery], step: tuple[int, int]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        together = self._is_one_statement(few)
        if together and len(few) == 1 and self._mostly_differ(few[0], step):
            yield from self._count_in_blocks(few[0], step)
            return
        if together:
            try:
                tables = self._count_together(few, step)
            except DoesNotFit:
                pass
            else:
                yield from ((tally, tables) for tally in few)
                return
        for tally in few:
            again = together and len(few) == 1 and len(self._list_orders(tally)) == 1
            yield from self._count_in_parts(tally, step, first=int(again))

    def _plan_rounds(self, tallies: Sequence[CountQuery]) -> list[list[CountQuery]]:
        """Tallies for one statement each: no set of columns in two orders."""
        rounds: list[tuple[list[CountQuery], dict[frozenset[int], Order]]] = []
        for tally in tallies:
            own = {frozenset(o): o for o in self._list_orders(tally)}
            at = next((i for i, (_, o) in enumerate(rounds) if agree(o, own)), None)
            if at is None or not self._is_one_statement([tally]):
                at = len(rounds)
                rounds.append(([], {}))
            rounds[at][0].append(tally)
            rounds[at][1].update(own)
        return [few for few, _ in rounds]

    def _is_one_statement(self, few: Sequence[CountQuery]) -> bool:
        orders = [o for tally in few for o in self._list_orders(tally)]
        used = {c for o in orders for c in o}
        if self._cells is not None and self._cells.find_table(used) is None:
            return False
        fits = len(used) <= COLUMNS_AT_ONCE and all(map(self._packs, orders))
        return fits and self._dialect.grouping_sets

    # Statements ---------------------------------------------------------------------

    def _count_together(
        self, tallies: Sequence[CountQuery], step: tuple[int, int]
    ) -> Tables:
        orders = list(dict.fromkeys(o for t in tallies for o in self._list_orders(t)))
        used = sorted({c for o in orders for c in o})
        if self._adds_up(orders):
            return self._sum_in_arrays(orders, used, step)
        if self._is_plain and (self._session.total or 0) * len(orders) <= KEYS_AT_ONCE:
            return self._sort_keys(orders, used, step)
        statement = sql.count_sets(
            orders, self._sizes, self._select_rows(used), self._sums, self._dialect
        )
        table = self._fetch_counts(statement, "counting", step, CELLS_AT_ONCE)
        marks = arrow.numbers(table["g"])
        found: Tables = {}
        for order in orders:
            mark = sql.mask(order, used)
            start, stop = np.searchsorted(marks, [mark, mark + 1])
            found[order] = table.slice(start, stop - start)
        return found

    def _adds_up(self, orders: Sequence[Order]) -> bool:
        """Whether rows can be added up in arrays: not many more cells than rows."""
        rows = self._session.total or 0
        cells = sum(prod(self._sizes[c] for c in o) for o in orders)
        return self._is_plain and cells <= min(CELLS_AT_ONCE, CELLS_PER_ROW * rows)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether rows are at hand and counted as they are."""
        rows = sql.amounts(False, False, self._dialect)
        return self._dialect.at_hand and self._sums == rows

    def _sum_in_arrays(
        self, orders: Sequence[Order], used: Sequence[int], step: tuple[int, int]
    ) -> Tables:
        """Rows added up in arrays; what is part of another count is added from it."""
        wide = {o: find_widest(o, orders) for o in orders}
        added = list(dict.fromkeys(wide.values()))
        statement = sql.select_keys(
            added, self._sizes, self._select_rows(used), self._dialect
        )
        shapes = [tuple(self._sizes[c] for c in o) for o in added]
        work = partial(
            self._session.tally_columns, statement, [prod(s) for s in shapes]
        )
        counted = self._session.run_watched(work, self._run, "counting", step)
        made = zip(added, counted, shapes, strict=True)
        cubes = {o: n.reshape(shape) for o, n, shape in made}
        return {
            o: find_nonzero(project_counts(cubes[w], w, o)) for o, w in wide.items()
        }

    def _sort_keys(
        self, orders: Sequence[Order], used: Sequence[int], step: tuple[int, int]
    ) -> Tables:
        """Keys of all rows, sorted: where most rows differ, grouping them is slower."""
        statement = sql.select_keys(
            orders, self._sizes, self._select_rows(used), self._dialect
        )
        table = self._fetch_counts(statement, "counting", step, None)
        found = {}
        for order, column in zip(orders, table.columns, strict=True):
            found[order] = count_keys(arrow.numbers(column))
        return found

    def _mostly_differ(self, tally: CountQuery, step: tuple[int, int]) -> bool:
        """Whether there are many rows, few of them alike, and room for their keys.

        Grouping would find that out after it has held more cells than fit.
        """
        orders, rows = self._list_orders(tally), self._session.total or 0
        if not tally.by or not self._is_plain or self._adds_up(orders):
            return False
        if rows <= KEYS_AT_ONCE or rows * KEY_BYTES > self._session.room:
            return False
        some = self._fetch_keys(orders[0], step, f"LIMIT {SOME}")
        return 2 * len(np.unique(some)) > len(some)

    def _count_in_blocks(
        self, tally: CountQuery, step: tuple[int, int]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """Keys of all rows, sorted, some groups at a time."""
        (order,) = self._list_orders(tally)
        keys = self._fetch_keys(order, step)
        for table in count_in_blocks(keys, self._sizes[order[-1]], CELLS_AT_ONCE):
            yield tally, {order: table}

    def _fetch_keys(
        self, order: Order, step: tuple[int, int], only: str = ""
    ) -> NDArray[np.int64]:
        rows = self._select_rows(order)
        statement = sql.select_keys([order], self._sizes, rows, self._dialect)
        found = self._fetch_counts(f"{statement} {only}", "counting", step, None)
        return arrow.numbers(found.column(0))

    def _count_in_parts(
        self, tally: CountQuery, step: tuple[int, int], first: int
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """The same count, cut by a hash of the group until each part fits.

        Part p of P is part p + i·P of a finer cut, so a part that does not fit is
        cut again without losing or repeating a group.
        """
        if not tally.by:
            yield tally, self._count_one_group(tally, step)
            return
        codes = [f"k{c}" for c in self._list_orders(tally)[0][:-1]]
        key = sql.hashed(codes, self._dialect)
        pending = [(first, p) for p in reversed(range(PARTS[first]))]
        while pending:
            depth, part = pending.pop()
            if depth:
                self._pack_rows(tally, step)
            try:
                tables = self._count_part(tally, key, (part, PARTS[depth]), step)
            except DoesNotFit:
                tables = {}
            if tables:
                yield tally, tables
            elif depth + 1 == len(PARTS):
                raise too_little_memory()
            else:
                times = PARTS[depth + 1] // PARTS[depth]
                finer = [part + i * PARTS[depth] for i in range(times)]
                pending += [(depth + 1, p) for p in reversed(finer)]
        if kept := self._kept.pop(tally, ""):
            self._session.ask(f"DROP TABLE {kept}")

    def _pack_rows(self, tally: CountQuery, step: tuple[int, int]) -> None:
        """Pack all rows once, since each part reads them again; where there is room."""
        if tally in self._kept:
            return
        self._kept[tally] = ""
        order = self._list_orders(tally)[0]
        if not self._dialect.at_hand or self._amount.unit or not self._packs(order):
            return
        key = sql.packed(order, self._sizes, self._dialect)
        chosen = f"{key} AS key" + (", w" if "w" in self._sums["n"] else "")
        name = f"pv_packed_{len(self._kept)}"
        rows = f"SELECT {chosen} FROM ({self._select_rows(order)})"
        make = f"CREATE OR REPLACE TEMP TABLE {name} AS {rows}"
        work = partial(self._session.fetch, make)
        with suppress(DoesNotFit):
            self._session.run_watched(work, self._run, "coding rows", step)
            self._kept[tally] = name

    def _count_one_group(self, tally: CountQuery, step: tuple[int, int]) -> Tables:
        """Everybody is one group, which stays whole: its parts are put together.

        Values are cut by their hash, or people where distinct ones are counted: each
        is in one part, so the parts add up.
        """
        cut = "u" if self._amount.unit else f"k{self._position(tally.about)}"
        for parts in PARTS:
            try:
                key = sql.hashed([cut], self._dialect)
                found = [
                    self._count_part(tally, key, (p, parts), step) for p in range(parts)
                ]
            except DoesNotFit:
                continue
            return {
                o: merge_parts([f[o] for f in found]) for o in self._list_orders(tally)
            }
        raise too_little_memory()

    def _count_part(
        self, tally: CountQuery, key: str, part: tuple[int, int], step: tuple[int, int]
    ) -> Tables:
        """One part of so many, as far as it can be held if it can be cut again."""
        number, of = part
        doing = "counting" if of == 1 else f"counting part {number + 1} of {of}"
        only = f"WHERE {key} % {of} = {number}" if of > 1 else ""
        most = CELLS_AT_ONCE if tally.by and of < PARTS[-1] else None
        found: Tables = {}
        if kept := self._kept.get(tally):
            order = self._list_orders(tally)[0]
            statement = sql.count_packed(
                kept, self._sizes[order[-1]], self._sums, (number, of), self._dialect
            )
            return {order: self._fetch_counts(statement, doing, step, most)}
        for order in self._list_orders(tally):
            packs = self._packs(order)
            packed = sql.packed(order, self._sizes, self._dialect) if packs else ""
            rows = self._select_rows(order)
            statement = sql.count_set(
                order, packed, rows, self._sums, only, self._dialect
            )
            counted = self._fetch_counts(statement, doing, step, most)
            in_order = self._dialect.sorts or not packs
            found[order] = counted if in_order else sort_by_key(counted)
        return found

    def _fetch_counts(
        self, statement: str, doing: str, step: tuple[int, int], most: int | None
    ) -> pa.Table:
        """The result of a count, unless it is too large to hold."""
        work = partial(self._session.fetch, statement, most=most)
        return self._session.run_watched(work, self._run, doing, step)

    # Pieces -------------------------------------------------------------------------

    def _list_orders(self, tally: CountQuery) -> list[Order]:
        """What a tally needs counted; the groups by themselves for people."""
        if len(tally.by) > MOST_COLUMNS:
            raise TooLarge(
                f"Groups must be made by at most {MOST_COLUMNS} columns; "
                f"got {len(tally.by)}. Name those that somebody may know."
            )
        by = tuple(sorted(self._position(c) for c in tally.by))
        cells = (*by, self._position(tally.about))
        # People of a group are not the sum over its values: somebody may have two.
        return [cells, by] if self._amount.unit else [cells]

    @cached_property
    def _sizes(self) -> dict[int, int]:
        return {c: len(d.domain) for c, d in self._dictionaries.items()}

    def _packs(self, order: Order) -> bool:
        return prod(self._sizes[c] for c in order) < MOST_KEYS

    def _select_rows(self, columns: Sequence[int]) -> str:
        extra, people = "", self._people
        if self._cells is not None:
            extra, people = "s.n AS w", self._cells.find_table(columns) or people
        if self._amount.unit:
            extra = f"s.c{self._position(self._amount.unit)} AS u"
        if self._weight:
            extra = f"{self._weight} AS w"
        tables = {c: self._dictionaries[c].table for c in columns}
        return sql.coded(tables, people, extra, self._dialect)

    def _sum_covered(self, tally: CountQuery, tables: Tables) -> int:
        """How many rows, or which sum of weights, a part of a tally holds."""
        cells = tables[self._list_orders(tally)[0]]
        return int(numbers(cells, "r" if self._amount.unit else "n").sum())

    def _group_cells(self, tally: CountQuery, tables: Tables) -> EquivalenceClasses:
        cells, *groups = self._list_orders(tally)
        if self._packs(cells):
            n = numbers(tables[cells], "n")
            total = numbers(tables[groups[0]], "n") if groups else None
            key = numbers(tables[cells], "key")
            return EquivalenceClasses.from_sorted(self._domains(cells), key, n, total)
        counts = [self._read_counts(order, tables[order]) for order in (cells, *groups)]
        names = [d.name for d in self._domains(cells)]
        return EquivalenceClasses.from_counts(
            counts[0], names[:-1], names[-1], *counts[1:]
        )

    def _domains(self, order: Order) -> tuple[Domain, ...]:
        return tuple(self._dictionaries[c].domain for c in order)

    def _read_counts(self, order: Order, table: pa.Table) -> Counts:
        if self._packs(order) and order:  # the groups of cells that do not pack
            codes = ClassKeys(
                tuple(self._sizes[c] for c in order), numbers(table, "key")
            ).columns()
        else:
            codes = tuple(arrow.numbers(table[f"k{c}"]) for c in order)
        return Counts(self._domains(order), codes, numbers(table, "n"))
