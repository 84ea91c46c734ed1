"""Rows of a stream are written as often as they say, in an order that is drawn."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from privet.engine.duckdb.session import Session
from privet.engine.export import shuffle
from privet.engine.protocol import Run, WriteQuery
from privet.engine.sources.dataframes import Stream, StreamColumn

pytestmark = pytest.mark.engines
DAYS = ["1970-01-01", "1999-12-31"]


def stream() -> Stream:
    group = np.array([0, 0, 1, 1, 1])
    return Stream(
        [
            StreamColumn("job", ["Cook", None, "ärzte"], np.array([2, 1]), group),
            StreamColumn(
                "age", ["31", None, "7"], np.array([0, 1, 2, 2, 0]), kind="integer"
            ),
            StreamColumn(
                "born", ["1970-01-01", "1999-12-31"], np.array([1, 0]), group, "date"
            ),
            StreamColumn("zip", ["01", "2"], np.array([0, 1, 0, 0, 0]), kind="number"),
            StreamColumn("people", (), np.array([3, 1, 2, 0, 1])),
        ]
    )


def written(tmp_path: Path, columns: tuple[str, ...]) -> Any:
    path = tmp_path / "table.parquet"
    writing = WriteQuery(str(path), "parquet", columns, times="people")
    session = Session("the release")
    try:
        rows = shuffle.write_stream(session, stream(), writing, Run())
    finally:
        session.close()
    table = pq.read_table(path)
    assert len(table) == rows == 7
    return table


def test_rows_are_repeated_and_typed(tmp_path: Path) -> None:
    table = written(tmp_path, ("zip", "job", "age", "born"))
    found = Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))
    old, new = date(1970, 1, 1), date(1999, 12, 31)
    assert found == {
        ("01", "ärzte", 31, new): 3,
        ("2", "ärzte", None, new): 1,
        ("01", None, 7, old): 2,
        ("01", None, 31, old): 1,
    }


@pytest.mark.parametrize("room", [10**9, 100, 1, 0])
def test_every_row_is_in_one_part(room: int) -> None:
    times = np.array([0, 5, 1, 0, 40, 2])
    found = np.concatenate(list(shuffle._shuffle_rows(times, 48, room)))
    assert Counter(found.tolist()) == {1: 5, 2: 1, 4: 40, 5: 2}


def test_every_order_occurs_in_parts_and_without() -> None:
    for room in (10**9, 60):
        found = Counter(
            tuple(np.concatenate(list(shuffle._shuffle_rows(np.ones(3, int), 3, room))))
            for _ in range(900)
        )
        assert set(permutations(range(3))) == set(found)
        assert min(found.values()) > 90  # 150 are expected; 5 standard deviations


def test_rows_that_draw_the_same_draw_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = shuffle._draw_numbers

    def alike(rows: int, kind: Any) -> Any:
        """Five rows draw two numbers; whoever draws again draws anew."""
        if rows == 5:
            return np.array([9, 1, 9, 1, 9], dtype=kind) << np.uint64(40)
        return drawn(rows, kind)

    monkeypatch.setattr(shuffle, "_draw_numbers", alike)
    found = Counter(tuple(shuffle._draw_order(5).tolist()) for _ in range(600))
    assert {
        (*a, *b) for a in permutations((1, 3)) for b in permutations((0, 2, 4))
    } == set(found)


def test_nobody_at_all(tmp_path: Path) -> None:
    none = np.zeros(0, dtype=np.int64)
    empty = Stream(
        [StreamColumn("job", ["Cook"], none), StreamColumn("people", (), none)]
    )
    path = tmp_path / "table.parquet"
    writing = WriteQuery(str(path), "parquet", ("job",), times="people")
    session = Session("the release")
    try:
        assert shuffle.write_stream(session, empty, writing, Run()) == 0
    finally:
        session.close()
    assert pq.read_table(path).column_names == ["job"]
