"""Counts of equivalence classes over coded columns; how, is `choose_strategy`'s say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from privet.engine import arrow
from privet.engine.counting.choose_strategy import (
    CountTask,
    choose_strategy,
    fits_one_statement,
)
from privet.engine.counting.coded_rows import CodedRows, Order, Step, Tables, numbers
from privet.engine.counting.precount import COLUMNS_AT_ONCE, SETS_AT_ONCE
from privet.engine.counting.sorted_keys import mostly_differ
from privet.engine.counting.strategy import LIMITS, CountStrategy
from privet.engine.protocol import CountQuery
from privet.engine.run import DoesNotFit, check_complete
from privet.values.contingency import Counts
from privet.values.equivalence_classes import ClassKeys, EquivalenceClasses

Sets = dict[frozenset[int], Order]
"""Sets of columns, and the order in which each is counted."""


class Counter:
    """Counts equivalence classes of one source."""

    def __init__(self, rows: CodedRows) -> None:
        self._rows = rows
        self._limits = LIMITS

    def count(
        self, queries: Sequence[CountQuery], expected: int | None, statements: int
    ) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        """One statement for many queries; what does not fit goes query by query.

        Parameters
        ----------
        expected
            The rows, or the sum of weights, that each query must cover.
        statements
            How many were run before; for progress.
        """
        rounds = self._plan_rounds(queries)
        for i, few in enumerate(rounds):
            step = (statements + 1 + i, statements + len(rounds))
            covered = dict.fromkeys(few, 0)
            for query, tables in self._count_round(few, step):
                covered[query] += self._sum_covered(query, tables)
                yield query, self._group_cells(query, tables)
            for number in covered.values():
                check_complete(number, expected)

    def _plan_rounds(self, queries: Sequence[CountQuery]) -> list[list[CountQuery]]:
        """Queries for one statement each: no set of columns in two orders."""
        rounds: list[tuple[list[CountQuery], Sets]] = []
        for query in queries:
            orders = self._rows.list_sets(query)
            own = {frozenset(o): o for o in orders}
            at = next((i for i, (_, o) in enumerate(rounds) if agree(o, own)), None)
            if at is None or not fits_one_statement(self._rows, orders):
                at = len(rounds)
                rounds.append(([], {}))
            rounds[at][0].append(query)
            rounds[at][1].update(own)
        return [few for few, _ in rounds]

    def _count_round(
        self, few: Sequence[CountQuery], step: Step
    ) -> Iterator[tuple[CountQuery, Tables]]:
        sets, tried = self._rows.list_all_sets(few), 0
        one_statement = fits_one_statement(self._rows, sets)
        if one_statement and len(few) > 1 and self._will_overflow(few, step):
            for query in few:
                yield from self._count_round([query], step)
            return
        if one_statement:
            try:
                yield from self._open_strategy(few, step, True).count(few)
                return
            except DoesNotFit:
                tried = len(sets)
        for query in few:
            way = self._open_strategy([query], step, one_statement, tried)
            yield from way.count([query])

    def _will_overflow(self, few: Sequence[CountQuery], step: Step) -> bool:
        """Whether one query has more cells than fit, so that each goes by itself.

        One statement for all would find that out at its end; a sample does at once.
        """
        rows, limits = self._rows, self._limits
        if not rows.is_plain or rows.total <= 2 * limits.cells_at_once:
            return False
        widest = max(few, key=lambda q: rows.count_cells(rows.list_sets(q)[0]))
        if rows.count_cells(rows.list_sets(widest)[0]) <= limits.cells_at_once:
            return False
        return mostly_differ(rows, widest, step, limits)

    def _open_strategy(
        self,
        few: Sequence[CountQuery],
        step: Step,
        one_statement: bool,
        tried_sets: int = 0,
    ) -> CountStrategy:
        """The strategy that is chosen for some queries."""
        rows = self._rows
        sets = rows.list_all_sets(few)
        task = CountTask(
            cells=tuple(map(rows.count_cells, sets)),
            grouped=len(sets[0]) > 1,
            rows=rows.total,
            plain=rows.is_plain,
            one_statement=one_statement,
            few_cells=rows.precount is not None
            and rows.precount.find_few(sets) is not None,
            tried_sets=tried_sets,
        )
        chosen = choose_strategy(
            task,
            room=lambda: rows.session.room,
            mostly_differ=lambda: mostly_differ(rows, few[0], step, self._limits),
            limits=self._limits,
        )
        return chosen(rows, step, self._limits)

    # Equivalence classes ------------------------------------------------------------

    def _sum_covered(self, query: CountQuery, tables: Tables) -> int:
        """How many rows, or which sum of weights, a part of a query holds."""
        cells = tables[self._rows.list_sets(query)[0]]
        return int(numbers(cells, "r" if self._rows.unit else "n").sum())

    def _group_cells(self, query: CountQuery, tables: Tables) -> EquivalenceClasses:
        cells, *groups = self._rows.list_sets(query)
        domains = self._rows.domains(cells)
        if self._rows.packs(cells):
            n = numbers(tables[cells], "n")
            total = numbers(tables[groups[0]], "n") if groups else None
            key = numbers(tables[cells], "key")
            return EquivalenceClasses.from_sorted(domains, key, n, total)
        counts = [self._read_counts(order, tables[order]) for order in (cells, *groups)]
        names = [d.name for d in domains]
        return EquivalenceClasses.from_counts(
            counts[0], names[:-1], names[-1], *counts[1:]
        )

    def _read_counts(self, order: Order, table: pa.Table) -> Counts:
        if self._rows.packs(order) and order:  # the groups of cells that do not pack
            sizes = tuple(self._rows.sizes[c] for c in order)
            codes = ClassKeys(sizes, numbers(table, "key")).columns()
        else:
            codes = tuple(arrow.numbers(table[f"k{c}"]) for c in order)
        return Counts(self._rows.domains(order), codes, numbers(table, "n"))


def agree(
    orders: Mapping[frozenset[int], Order], own: Mapping[frozenset[int], Order]
) -> bool:
    """Whether more sets fit into a statement that has some already."""
    same = all(orders.get(s, o) == o for s, o in own.items())
    both = {**orders, **own}
    columns = frozenset[int]().union(*both)
    return same and len(both) <= SETS_AT_ONCE and len(columns) <= COLUMNS_AT_ONCE
