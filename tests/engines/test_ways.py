"""However rows are counted, the integers are the same: those one gets by looking.

Combinations are counted as they are where they are few; else codes are added up in
arrays, or sorted where there are few rows or most differ, in blocks if there are many,
or both where sets are narrow and wide; else they are grouped, in parts if need be.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.engine.counting import counter
from privet.engine.counting import precount as combining
from privet.engine.counting.arrays_and_keys import ArraysAndKeys
from privet.engine.counting.dense_arrays import DenseArrays
from privet.engine.counting.sorted_keys import SortedBlocks, count_in_blocks
from privet.engine.counting.strategy import Limits
from privet.engine.duckdb.session import Session
from privet.engine.protocol import CountQuery
from privet.engine.run import DoesNotFit
from privet.values.equivalence_classes import EquivalenceClasses

pytestmark = pytest.mark.engines

Row = tuple[str | None, ...]
Cells = dict[Row, int]

WAYS = ("combined", "set by set", "added", "sorted", "both", "grouped", "in parts")
WAYS += ("in blocks",)


def choose(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables of a few rows be counted as larger ones would be."""
    if way == "combined":
        return
    monkeypatch.setattr(combining, "FEW_ROWS", 100)
    monkeypatch.setattr(combining, "LESS", 2 if way == "set by set" else 1000)
    limits = Limits()
    if way == "both":  # arrays for narrow sets, sorted keys for wide ones
        limits = replace(limits, cells_at_once=50, keys_at_once=0)
    elif way not in ("set by set", "added"):
        limits = replace(limits, cells_per_row=0)
    if way in ("grouped", "in parts", "in blocks"):
        limits = replace(limits, keys_at_once=0)
    if way in ("in parts", "in blocks"):
        limits = replace(limits, cells_at_once=5)
    if way == "in blocks":  # a single row is like no other
        limits = replace(limits, sampled_rows=1)
    monkeypatch.setattr(counter, "LIMITS", limits)


def as_frame(names: list[str], rows: list[Row]) -> pa.Table:
    return pa.table([list(c) for c in zip(*rows, strict=True)], names=names)


def some_rows(seed: int) -> tuple[list[str], list[Row]]:
    dice = random.Random(seed)
    names = [f"column {i}" for i in range(dice.randint(2, 4))]
    sizes = [dice.randint(1, 5) for _ in names]
    rows = [
        tuple(dice.choice([None, *(f"v{v}" for v in range(n))]) for n in sizes)
        for _ in range(dice.randint(150, 400))
    ]
    return names, rows


def by_looking(rows: list[Row], at: list[int]) -> Cells:
    return dict(Counter(tuple(row[i] for i in at) for row in rows))


def joined(
    parts: Iterable[tuple[CountQuery, EquivalenceClasses]],
) -> dict[CountQuery, Cells]:
    """The cells of all parts of each tally; none may come twice."""
    cells: dict[CountQuery, Cells] = defaultdict(dict)
    for tally, part in parts:
        for g in range(len(part)):
            for value, n in part.histogram(g).items():
                assert (*part.labels(g), value) not in cells[tally]
                cells[tally][*part.labels(g), value] = n
    return cells


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_every_way_counts_the_same(
    way: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(way, monkeypatch)
    added = noted(DenseArrays, "count", monkeypatch)
    both = noted(ArraysAndKeys, "count", monkeypatch)
    sorted_ = noted(SortedBlocks, "count", monkeypatch)
    names, rows = some_rows(seed)
    tallies = {
        CountQuery(tuple(names[i] for i in by), names[about]): [*by, about]
        for size in range(2 if way == "set by set" else len(names))
        for by in combinations(range(len(names)), size)
        for about in range(len(names))
        if about not in by
    }
    with pv.read(as_frame(names, rows)) as table:
        cells = joined(table.count(list(tallies)))
        assert {t: by_looking(rows, at) for t, at in tallies.items()} == cells
        for tally in list(tallies)[::4]:
            assert {tally: cells[tally]} == joined(table.count([tally]))
        assert len(rows) == len(table)
    assert bool(added) == (way == "added") or way == "both"
    assert bool(sorted_) == (way == "in blocks")
    assert bool(both) or way != "both" or seed  # the table of seed 0 is wide enough


def noted(kind: type, name: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The arguments a method is called with from now on."""
    calls: list[object] = []
    method = getattr(kind, name)

    def note(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return method(*given, **named)

    monkeypatch.setattr(kind, name, note)
    return calls


def test_combinations_that_do_not_fit_are_counted_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, refused = Session.make, []

    def full(self: Session, select: str, table: str, *rest: Any) -> int:
        if table.startswith("pv_cells"):
            refused.append(table)
            raise DoesNotFit
        return make(self, select, table, *rest)

    monkeypatch.setattr(Session, "make", full)
    names, rows = some_rows(0)
    with pv.read(as_frame(names, rows)) as table:
        both = CountQuery((names[0],), names[1]), CountQuery((names[1],), names[2])
        for _ in range(2):
            cells = joined(table.count(both))
            assert by_looking(rows, [0, 1]) == cells[both[0]]
            assert by_looking(rows, [1, 2]) == cells[both[1]]
    assert 1 == len(refused)  # and are not tried again


def test_few_combinations_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values, counts, and further counts of the same columns take one scan of all."""
    file = tmp_path / "people.csv"
    file.write_text("a,b\n" + "x,1\ny,2\n" * 200)
    monkeypatch.setattr(combining, "FEW_ROWS", 100)
    tallies = [CountQuery(("a",), "b"), CountQuery((), "b")]
    with pv.read(str(file)) as table:
        table.domains(["b"], before=tallies)
        file.unlink()  # whoever reads it again will fail
        cells = joined(table.count([*tallies, CountQuery((), "a")]))
    assert {("x", "1"): 200, ("y", "2"): 200} == cells[tallies[0]]
    assert {("1",): 200, ("2",): 200} == cells[tallies[1]]
    assert {("x",): 200, ("y",): 200} == cells[CountQuery((), "a")]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
def test_blocks_keep_groups_whole(most: int) -> None:
    """Groups have four keys each; the second one has more rows than a block."""
    keys = np.array([0, 4, 4, 5, 5, 5, 6, 7, 4, 9, 11, 9, 16, 3], dtype=np.int64)
    found = [
        dict(zip(*(c.to_pylist() for c in t.columns), strict=True))
        for t in count_in_blocks(keys, 4, most)
    ]
    groups = [{key // 4 for key in block} for block in found]
    assert sum(map(len, groups)) == len(set[int]().union(*groups))
    assert Counter(keys.tolist()) == {k: n for block in found for k, n in block.items()}
    assert len(found) == 1 or most < 14
    assert all(
        len(g) == 1 or sum(b.values()) <= most
        for g, b in zip(groups, found, strict=True)
    )
