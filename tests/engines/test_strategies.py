"""Each strategy of counting by itself, and the choice among them.

Random small tables are counted by every strategy, with limits so low that parts are
cut, and by a plain loop over the rows.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product, zip_longest

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.engine.counting import precount as precounting
from privet.engine.counting.arrays_and_keys import ArraysAndKeys, split_widths
from privet.engine.counting.choose_strategy import (
    CountTask,
    choose_strategy,
    fits_one_statement,
)
from privet.engine.counting.coded_rows import CodedRows, Tables
from privet.engine.counting.counted_cells import CountedCells, add_cells
from privet.engine.counting.dense_arrays import DenseArrays
from privet.engine.counting.grouping_sets import GroupingSets
from privet.engine.counting.hash_partitions import (
    FinerPartitions,
    HashPartitions,
    MergedPartitions,
)
from privet.engine.counting.precount import Precount
from privet.engine.counting.sorted_keys import SortedBlocks, SortedKeys, mostly_differ
from privet.engine.counting.strategy import CountStrategy, Limits
from privet.engine.dictionaries import Dictionaries, DistinctValues
from privet.engine.duckdb.session import Session
from privet.engine.protocol import CountQuery, CountUnit, Run
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.values.schema import Column

pytestmark = pytest.mark.engines

Row = tuple[int | None, ...]
Cells = dict[Row, int]

STEP = (1, 1)
NAMES = ("a", "b", "c", "s")
FEW = Limits(cells_at_once=20, sampled_rows=50)
"""Limits that a table of a few hundred rows reaches."""

GROUPED = (CountQuery(("a", "b"), "s"), CountQuery(("b", "c"), "s"))
WHOLE = (CountQuery((), "s"), CountQuery((), "a"))

ONCE = (DenseArrays, SortedKeys, ArraysAndKeys, GroupingSets)
"""Several sets from one scan, each in one part."""

IN_PARTS = (SortedBlocks, ArraysAndKeys, HashPartitions, FinerPartitions)
"""Query by query, groups in several parts."""


@dataclass(frozen=True)
class SmallTable:
    """Rows of small numbers; the last two columns are a weight and a person."""

    rows: list[Row]

    @classmethod
    def draw(cls, seed: int) -> SmallTable:
        dice = random.Random(seed)
        sizes = [dice.randint(1, 6) for _ in NAMES]
        cells = [[None, *range(n)] for n in sizes]
        return cls(
            [
                (*map(dice.choice, cells), dice.randint(0, 3), dice.randint(0, 40))
                for _ in range(dice.randint(150, 400))
            ]
        )

    def count(self, query: CountQuery, weight: bool = False) -> Cells:
        """The cells of a query, by looking at every row."""
        at = [NAMES.index(c) for c in (*sorted(query.by), query.about)]
        found: Counter[Row] = Counter()
        for row in self.rows:
            found[tuple(row[i] for i in at)] += (row[4] or 0) if weight else 1
        return {cell: n for cell, n in found.items() if n}

    def people(self, columns: Sequence[str]) -> Cells:
        """The different people of each combination."""
        at = [NAMES.index(c) for c in columns]
        found: dict[Row, set[int | None]] = defaultdict(set)
        for row in self.rows:
            found[tuple(row[i] for i in at)].add(row[5])
        return {cell: len(who) for cell, who in found.items()}


@contextmanager
def coded(
    table: SmallTable,
    *,
    weight: bool = False,
    people: bool = False,
    few: Sequence[Sequence[int]] = (),
) -> Iterator[CodedRows]:
    """The rows of a table in a session of their own, coded; perhaps counted before."""
    names = (*NAMES, "w", "u")
    columns = [pa.array(c, pa.int64()) for c in zip(*table.rows, strict=True)]
    session = Session("the table")
    session.register("frame", pa.table(columns, [f"c{i}" for i in range(6)]))
    session.view("pv_people", "SELECT * FROM frame")
    values = DistinctValues(session)
    precount = Precount(session, values) if few else None
    if precount is not None:
        assert precount.prepare([frozenset(columns) for columns in few], Run())
    kinds = tuple(Column(n, "integer") for n in names)
    dictionaries = Dictionaries(session, kinds, Source(None), values)
    try:
        yield CodedRows(
            session,
            dictionaries.code_columns(range(4), {}, Run()),
            names.index,
            Run(),
            amount=CountUnit("u" if people else None, "w" if weight else None),
            weight="s.c4" if weight else "",
            precount=precount,
        )
    finally:
        session.close()


def read_cells(rows: CodedRows, order: tuple[int, ...], table: pa.Table) -> Cells:
    """The values of each key, and its number."""
    labels = [d.labels for d in rows.domains(order)]
    keys = list(product(*labels))  # the last column varies fastest
    found = table["key"].to_pylist()
    assert sorted(found) == found, "keys come in order"
    return {
        tuple(None if v is None else int(v) for v in keys[k]): n
        for k, n in zip(found, table["n"].to_pylist(), strict=True)
    }


def count(
    strategy: type[CountStrategy],
    rows: CodedRows,
    queries: Sequence[CountQuery],
    limits: Limits = FEW,
) -> tuple[dict[CountQuery, Cells], Counter[CountQuery]]:
    """The cells of each query, and in how many parts they came; groups are whole."""
    cells: dict[CountQuery, Cells] = {q: {} for q in queries}
    parts: Counter[CountQuery] = Counter()
    groups: dict[CountQuery, set[Row]] = defaultdict(set)
    for query, tables in strategy(rows, STEP, limits).count(queries):
        order = rows.list_sets(query)[0]
        part = read_cells(rows, order, tables[order])
        own = {cell[:-1] for cell in part}
        assert not own & groups[query]
        groups[query] |= own
        cells[query] |= part
        parts[query] += 1
    return cells, parts


# Each strategy alone ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", ONCE, ids=lambda s: s.__name__)
def test_sets_are_counted_in_one_scan(strategy: type[CountStrategy], seed: int) -> None:
    table, queries = SmallTable.draw(seed), (*GROUPED, *WHOLE)
    with coded(table) as rows:
        cells, parts = count(strategy, rows, queries, Limits())
    assert {q: table.count(q) for q in queries} == cells
    assert {1} == set(parts.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", IN_PARTS, ids=lambda s: s.__name__)
def test_groups_are_counted_in_parts(strategy: type[CountStrategy], seed: int) -> None:
    table = SmallTable.draw(seed)
    with coded(table) as rows:
        cells, parts = count(strategy, rows, GROUPED)
    assert {q: table.count(q) for q in GROUPED} == cells
    cut = [q for q in GROUPED if len(cells[q]) > FEW.cells_at_once]
    assert all(parts[q] > 1 for q in cut)


@pytest.mark.parametrize("people", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_one_group_are_merged(
    seed: int, people: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody in one part does not fit here; eight parts do."""
    table, whole, doing = SmallTable.draw(seed), CodedRows.fetch, []

    def fetch(self: CodedRows, *given: object, **named: object) -> pa.Table:
        doing.append(given[-1])
        if given[-1] == "counting":
            raise DoesNotFit
        return whole(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(CodedRows, "fetch", fetch)
    with coded(table, people=people) as rows:
        cells, parts = count(MergedPartitions, rows, WHOLE)
    expected = {q: table.people([q.about]) if people else table.count(q) for q in WHOLE}
    assert expected == cells
    assert {1} == set(parts.values())
    assert "counting part 8 of 8" == doing[-1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "strategy", [GroupingSets, HashPartitions, FinerPartitions, MergedPartitions]
)
def test_weights_are_added_up(strategy: type[CountStrategy], seed: int) -> None:
    table = SmallTable.draw(seed)
    queries = WHOLE if strategy is MergedPartitions else GROUPED
    limits = Limits() if strategy is GroupingSets else FEW
    with coded(table, weight=True) as rows:
        cells, _ = count(strategy, rows, queries, limits)
    assert {q: table.count(q, weight=True) for q in queries} == cells


@pytest.mark.parametrize("strategy", [GroupingSets, HashPartitions, FinerPartitions])
def test_people_are_counted_once_per_cell_and_per_group(
    strategy: type[CountStrategy],
) -> None:
    """Somebody with two values is two people of cells, but one of the group."""
    table, (query, _) = SmallTable.draw(7), GROUPED
    limits = Limits() if strategy is GroupingSets else FEW
    found: list[Cells] = [{}, {}]
    with coded(table, people=True) as rows:
        orders = rows.list_sets(query)
        for _, tables in strategy(rows, STEP, limits).count([query]):
            for i, order in enumerate(orders):
                found[i] |= read_cells(rows, order, tables[order])
    assert [table.people("abs"), table.people("ab")] == found


@pytest.mark.parametrize(
    "strategy", [CountedCells, GroupingSets, HashPartitions, MergedPartitions]
)
def test_combinations_counted_before_are_counted_further(
    strategy: type[CountStrategy],
) -> None:
    table = SmallTable.draw(3)
    queries = WHOLE if strategy is MergedPartitions else GROUPED
    with coded(table, few=[range(4)]) as rows:
        rows.session.ask("CREATE OR REPLACE TEMP VIEW pv_people AS SELECT 1 AS c0")
        cells, _ = count(strategy, rows, queries, Limits())
    assert {q: table.count(q) for q in queries} == cells


SEVERAL = [(0, 1, 3), (1, 2, 3), (0,)]
"""Sets of columns: those of `GROUPED`, and one that a wider one holds."""


def refuse_union(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sets be counted one by one, as where all columns together have too much."""
    monkeypatch.setattr(Precount, "_choose_sets", lambda self, sets, run: sets)


@pytest.mark.parametrize("seed", range(8))
def test_sets_counted_before_are_fetched_together(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NULL is a value, and also what a column holds that is not of a line's set."""
    table, queries = SmallTable.draw(seed), (*GROUPED, *WHOLE, CountQuery(("b",), "s"))
    refuse_union(monkeypatch)
    with coded(table, few=SEVERAL) as rows:
        rows.session.ask("CREATE OR REPLACE TEMP VIEW pv_people AS SELECT 1 AS c0")
        sets = rows.list_all_sets(queries)
        assert fits_one_statement(rows, sets)
        cells, parts = count(CountedCells, rows, queries)
        monkeypatch.setattr(precounting, "CELLS_HELD", 0)
        assert not fits_one_statement(rows, sets)
        with pytest.raises(DoesNotFit):
            count(CountedCells, rows, queries)
        by_itself, _ = count(HashPartitions, rows, GROUPED)
    assert {q: table.count(q) for q in queries} == cells
    assert {q: table.count(q) for q in GROUPED} == by_itself
    assert {1} == set(parts.values())


def test_sets_of_two_scans_are_not_fetched_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuse_union(monkeypatch)
    table = SmallTable.draw(5)
    with coded(table, few=[(0, 1, 3)]) as rows:
        assert rows.precount is not None
        assert rows.precount.prepare([frozenset((1, 2, 3))], Run())
        assert rows.precount.find_few([(0, 1, 3)]) is not None
        assert rows.precount.find_few(SEVERAL) is None
        assert not fits_one_statement(rows, rows.list_all_sets(GROUPED))
        cells, _ = count(HashPartitions, rows, GROUPED)
    assert {q: table.count(q) for q in GROUPED} == cells


def test_a_value_without_a_code_is_missed() -> None:
    """As by a join: the rows no longer add up, and whoever counts says so."""
    codes = {0: np.array([0, 1, -1, 1]), 1: np.array([2, -1, 0, 0])}
    n = np.array([5, 7, 11, 13])
    found = add_cells((0, 1), codes, n, {0: 2, 1: 3})
    assert {"key": [2, 3], "n": [5, 13]} == found.to_pydict()


@pytest.mark.parametrize("seed", range(4))
def test_all_strategies_give_the_same_integers(seed: int) -> None:
    table, query = SmallTable.draw(seed), GROUPED[0]
    with coded(table) as rows:
        found = [
            count(strategy, rows, [query], limits)[0][query]
            for strategies, limits in ((ONCE, Limits()), (IN_PARTS, FEW))
            for strategy in strategies
        ]
        alone = [
            count(strategy, rows, [WHOLE[0]], Limits())[0][WHOLE[0]]
            for strategy in (*ONCE, MergedPartitions)
        ]
    assert [table.count(query)] * 8 == found
    assert [table.count(WHOLE[0])] * 5 == alone


def test_what_does_not_fit_says_so_before_the_first_part() -> None:
    """So that another strategy can begin anew."""
    with coded(SmallTable([(i, i, i, i, 1, i) for i in range(30)])) as rows:
        given: Iterator[tuple[CountQuery, Tables]]
        given = GroupingSets(rows, STEP, FEW).count(GROUPED)
        with pytest.raises(DoesNotFit):
            next(given)


def test_packed_rows_are_forgotten_even_if_nobody_reads_to_the_end() -> None:
    table = SmallTable.draw(1)
    with coded(table) as rows:
        parts = FinerPartitions(rows, STEP, FEW).count(GROUPED)
        next(parts)
        listed = "SELECT count(*) FROM duckdb_tables() WHERE table_name ^@ 'pv_packed'"
        assert 1 == rows.session.fetch_one(listed)
        parts.close()  # type: ignore[attr-defined]
        assert 0 == rows.session.fetch_one(listed)


def test_two_counts_in_parts_do_not_mix() -> None:
    """Each keeps the keys of all rows under a name of its own."""
    table = SmallTable.draw(2)
    found: dict[CountQuery, Cells] = {q: {} for q in GROUPED}
    with coded(table) as rows:
        counts = [FinerPartitions(rows, STEP, FEW).count([q]) for q in GROUPED]
        for pair in zip_longest(*counts):
            for query, tables in filter(None, pair):
                order = rows.list_sets(query)[0]
                found[query] |= read_cells(rows, order, tables[order])
    assert {q: table.count(q) for q in GROUPED} == found


# The choice -------------------------------------------------------------------------

TASK = CountTask(
    cells=(1000,), grouped=True, rows=10_000, plain=True, one_statement=True
)
MANY = replace(TASK, rows=10_000_000, cells=(10**9,))
"""More rows than are sorted at once, and more cells than rows."""

CHOICES = {
    "tried alone, does not fit": (replace(TASK, tried_sets=1), FinerPartitions),
    "tried together, does not fit": (replace(TASK, tried_sets=2), HashPartitions),
    "not one statement": (replace(TASK, one_statement=False), HashPartitions),
    "tried, one group": (replace(TASK, tried_sets=1, grouped=False), MergedPartitions),
    "not one statement, one group": (
        replace(TASK, one_statement=False, grouped=False),
        MergedPartitions,
    ),
    "few cells": (TASK, DenseArrays),
    "four cells per row": (replace(TASK, cells=(30_000, 10_000)), DenseArrays),
    "more cells per row": (replace(TASK, cells=(30_000, 10_001)), SortedKeys),
    "cells of a large table": (
        replace(TASK, rows=10**8, cells=(8_000_000,)),
        DenseArrays,
    ),
    "as many keys as are sorted at once": (
        replace(TASK, rows=4_000_000, cells=(10**9, 10**9)),
        SortedKeys,
    ),
    "many rows that differ": (MANY, SortedBlocks),
    "many rows in two sets": (replace(MANY, cells=(10**9, 10**9)), GroupingSets),
    "many rows, some sets narrow": (
        replace(MANY, cells=(10**9, 1000, 10**9)),
        ArraysAndKeys,
    ),
    "many rows, most sets wide": (
        replace(MANY, cells=(10**9, 1000, 10**9, 10**9, 10**9)),
        GroupingSets,
    ),
    "many rows in one group": (replace(MANY, grouped=False), GroupingSets),
    "few combinations counted before": (
        replace(TASK, plain=False, few_cells=True),
        CountedCells,
    ),
    "such that did not fit": (
        replace(TASK, plain=False, few_cells=True, tried_sets=2),
        HashPartitions,
    ),
    "weights, people or precounts": (replace(TASK, plain=False), GroupingSets),
    "many weighted rows": (replace(MANY, plain=False), GroupingSets),
}
"""A case for each line of the table, and one beyond each limit."""


def choose(task: CountTask, *, room: int = 10**9, differ: bool = True) -> type:
    return choose_strategy(task, room=lambda: room, mostly_differ=lambda: differ)


@pytest.mark.parametrize("case", CHOICES)
def test_the_choice(case: str) -> None:
    task, expected = CHOICES[case]
    assert expected is choose(task)


def test_many_rows_are_sorted_only_where_there_is_room_and_most_differ() -> None:
    assert SortedBlocks is choose(MANY, room=24 * MANY.rows)
    assert GroupingSets is choose(MANY, room=24 * MANY.rows - 1)
    assert GroupingSets is choose(MANY, differ=False)


def test_keys_of_wide_sets_are_sorted_only_where_there_is_room() -> None:
    task = replace(MANY, cells=(10**9, 1000))
    assert ArraysAndKeys is choose(task, room=24 * MANY.rows)
    assert GroupingSets is choose(task, room=24 * MANY.rows - 1)
    # As without narrow sets: so few keys are sorted at once, whatever the room.
    few = replace(task, rows=Limits().keys_at_once)
    assert ArraysAndKeys is choose(few, room=0)


def test_narrow_sets_get_arrays_while_they_fit() -> None:
    limits = Limits(cells_at_once=50)
    assert ([0, 2], [1]) == split_widths([10, 900, 30], 1000, limits)
    assert ([0], [1]) == split_widths([30, 30], 1000, limits)
    assert ([], [0]) == split_widths([30], 7, limits)


@pytest.mark.parametrize("seed", range(6))
def test_narrow_and_wide_sets_in_one_scan(seed: int) -> None:
    """With few cells at once one of the sets has an array, the other sorted keys."""
    table = SmallTable.draw(seed)
    queries = (*GROUPED, CountQuery(("c",), "a"), CountQuery(("b", "a"), "s"))
    with coded(table) as rows:
        for most in (1, 10, 40, 100):
            limits = Limits(cells_at_once=most)
            cells, _ = count(ArraysAndKeys, rows, queries, limits)
            assert {q: table.count(q) for q in queries} == cells


def test_rows_that_came_or_went_are_noticed() -> None:
    table = SmallTable.draw(4)
    with coded(table) as rows:
        for more in (1, -1):
            rows.session.total = len(table.rows) + more
            with pytest.raises(pv.EngineError, match="changed while it was read"):
                count(ArraysAndKeys, rows, GROUPED, Limits(cells_at_once=1))


def test_nothing_is_asked_of_the_rows_unless_it_matters() -> None:
    def never() -> bool:
        raise AssertionError

    for task, expected in CHOICES.values():
        if expected not in (SortedBlocks, ArraysAndKeys):
            choose_strategy(task, room=never, mostly_differ=never)
    choose_strategy(MANY, room=lambda: 0, mostly_differ=never)


def test_the_table_names_every_strategy_and_each_has_a_case() -> None:
    every = {*ONCE, *IN_PARTS, CountedCells, MergedPartitions}
    assert every == {expected for _, expected in CHOICES.values()}
    text = choose_strategy.__doc__ or ""
    assert all(strategy.__name__ in text for strategy in every)


@pytest.mark.parametrize(("values", "expected"), [(1, False), (30, True)])
def test_a_few_rows_tell_whether_most_differ(values: int, expected: bool) -> None:
    table = SmallTable([(i % values, i % values, 0, 0, 1, i) for i in range(30)])
    with coded(table) as rows:
        assert expected == mostly_differ(rows, GROUPED[0], STEP)


def test_what_fits_one_statement() -> None:
    table = SmallTable.draw(5)
    with coded(table) as rows:
        assert fits_one_statement(rows, [(0, 1, 3), (1, 2, 3)])
        rows.sizes[0] = 2**62  # the keys of (0, 1) would take more than 63 bits
        assert not fits_one_statement(rows, [(0, 1, 3)])
    with coded(table, few=[range(4)]) as rows:
        assert fits_one_statement(rows, [(0, 1, 2, 3)])
        assert not fits_one_statement(rows, [(0, 4)])


def test_many_columns_are_more_than_one_statement() -> None:
    names = [f"c{i}" for i in range(61)]
    one = pa.table({n: ["x"] for n in names})
    with pv.read(one) as table:
        ((_, part),) = table.count([CountQuery(tuple(names[:-1]), names[-1])])
    assert {"x": 1} == part.histogram(0)
