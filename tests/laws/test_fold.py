"""Laws of counting and of folding, on random tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.microdata.linkage import WorstLinkage
from privet.values.contingency import Counts, packed
from privet.values.equivalence_classes import EquivalenceClasses, group_counts

CELL = st.sampled_from(["x", "y", "z", None])
ROW = st.tuples(CELL, CELL, CELL)
ROWS = st.lists(ROW, min_size=1, max_size=20)
COLUMNS = ["a", "b", "s"]
LIMIT = pv.Ceiling("1/2")


def counted(rows: list[tuple[str | None, ...]]) -> Counts:
    cells: dict[tuple[str | None, ...], int] = {}
    for row in rows:
        cells[row] = cells.get(row, 0) + 1
    return Counts.from_cells(COLUMNS, cells)


def part(whole: EquivalenceClasses, groups: list[int]) -> EquivalenceClasses:
    """Some of the groups, with the domains of all of them."""
    return whole.take(np.array(groups, dtype=np.intp))


@given(ROWS, ROWS)
def test_counts_of_parts_add_up(left: list, right: list) -> None:
    assert counted(left + right) == counted(left) + counted(right)


@settings(max_examples=25)
@given(ROWS, ROWS)
def test_the_engine_counts_parts_as_it_counts_the_whole(
    left: list, right: list
) -> None:
    from privet.engine.protocol import CountQuery

    def cells(rows: list) -> dict:
        table = pa.table(
            {
                c: pa.array([r[i] for r in rows], pa.string())
                for i, c in enumerate("abs")
            }
        )
        with pv.read(table) as people:
            ((_, g),) = people.count([CountQuery(("a", "b"), "s")])
        return {
            (*g.labels(i), v): n
            for i in range(len(g))
            for v, n in g.histogram(i).items()
        }

    both = Counts.from_cells(COLUMNS, cells(left)) + Counts.from_cells(
        COLUMNS, cells(right)
    )
    assert cells(left + right) == both.to_dict()


@given(ROWS, st.sampled_from([["a"], ["b", "s"], ["s", "a"], []]))
def test_marginals_keep_the_total(rows: list, columns: list[str]) -> None:
    counts = counted(rows)
    marginal = counts.over(columns)
    assert counts.total == marginal.total
    at = [COLUMNS.index(c) for c in columns]
    slow: dict[tuple[str | None, ...], int] = {}
    for row in rows:
        key = tuple(row[i] for i in at)
        slow[key] = slow.get(key, 0) + 1
    assert slow == marginal.to_dict()


@given(ROWS, st.data())
def test_folds_merge_in_any_grouping(rows: list, data: st.DataObject) -> None:
    whole = group_counts(counted(rows), ["a", "b"], "s")
    cut = data.draw(
        st.lists(st.integers(0, 2), min_size=len(whole), max_size=len(whole))
    )
    pieces = [
        WorstLinkage(LIMIT).add(
            part(whole, [g for g in range(len(whole)) if cut[g] == k])
        )
        for k in range(3)
    ]
    at_once = WorstLinkage(LIMIT).add(whole)
    a, b, c = pieces
    assert at_once == (a | b) | c == a | (b | c) == (c | b) | a
    assert at_once == at_once | WorstLinkage(LIMIT) == WorstLinkage(LIMIT) | at_once


@given(ROWS)
def test_the_fold_finds_the_largest_share(rows: list) -> None:
    whole = group_counts(counted(rows), ["a", "b"], "s")
    slow = max(
        Fraction(n, int(whole.total[g]))
        for g in range(len(whole))
        for n in whole.histogram(g).values()
    )
    assert slow == WorstLinkage(LIMIT).add(whole).case.belief


@given(
    st.lists(
        st.tuples(st.integers(0, 2**40), st.integers(0, 2**40), st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_packing_orders_rows_as_their_codes_even_where_it_would_overflow(
    rows: list[tuple[int, int, int]],
) -> None:
    codes = [np.array(c, dtype=np.int64) for c in zip(*rows, strict=True)]
    key = packed(codes, [2**40 + 1, 2**40 + 1, 4], len(rows))
    by_key = sorted(range(len(rows)), key=lambda i: (int(key[i]), i))
    by_code = sorted(range(len(rows)), key=lambda i: (rows[i], i))
    assert by_code == by_key
    assert all(
        (rows[i] == rows[j]) == (key[i] == key[j])
        for i in range(len(rows))
        for j in range(len(rows))
    )


@pytest.mark.engines
@settings(max_examples=25)
@given(st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=16))
def test_knowing_more_never_lowers_the_worst_case(rows: list) -> None:
    table = pa.table(
        {c: pa.array([r[i] for r in rows], pa.string()) for i, c in enumerate("abcs")}
    )
    with pv.read(table, quasi=list("abc"), sensitive="s") as people:
        chain = [pv.Linker([]), pv.Linker(["b"]), pv.Linker(["b", "a"]), pv.Linker()]
        by_knowledge = [pv.belief(people, k).posterior for k in chain]
        by_number = [
            pv.belief(people, pv.Linker(knows_any=k)).posterior for k in (1, 2, 3)
        ]
    assert sorted(by_knowledge) == by_knowledge
    assert sorted(by_number) == by_number
    assert by_knowledge[-1] == by_number[-1]
