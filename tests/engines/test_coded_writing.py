"""Rows whose values are coded by now are written by their codes: cells as they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.engine.export import shuffle
from privet.engine.protocol import CountQuery, Relabel, Run, WriteQuery

pytestmark = pytest.mark.engines

ROWS = 300
NAMES = ("zip", "job", "age", "born", "here", "few")
PEOPLE = pa.table(
    {
        "zip": [f"0{i % 7}" for i in range(ROWS)],
        "job": [None if i % 5 == 0 else f"job {i % 5}" for i in range(ROWS)],
        "age": pa.array([i % 11 - 3 for i in range(ROWS)], pa.int16()),
        "born": [None if i % 13 == 0 else date(1, 1, 1 + i % 13) for i in range(ROWS)],
        "here": [i % 3 == 0 for i in range(ROWS)],
        "few": pa.array([i % 2 for i in range(ROWS)], pa.uint8()),
    }
)
ARROW = "parquet-cpp-arrow"
"""Who wrote a file whose rows were held as codes; others are DuckDB's."""


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows need not be many."""
    monkeypatch.setattr(shuffle, "LEAST_CODED", 1)


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, path)
    return str(path)


@pytest.fixture
def table(source: str) -> Iterator[pv.Table]:
    with pv.read(source, quasi=list(NAMES)) as opened:
        yield opened


def code(table: pv.Table, *names: str) -> None:
    """Count columns, so that they have dictionaries."""
    list(table.count([CountQuery((), name) for name in names], Run()))


def write(table: pv.Table, to: Path, **options: Any) -> tuple[bool, pa.Table]:
    """Whether rows were written by their codes, and what the file holds."""
    writing = WriteQuery(str(to), "parquet", NAMES, **options)
    assert ROWS == table.engine.write(writing, table.recodings, Run())
    by_codes = pq.ParquetFile(to).metadata.created_by.startswith(ARROW)
    return by_codes, pq.read_table(to)


def rows_of(found: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(c.to_pylist() for c in found.columns), strict=True))


def test_cells_and_types_are_as_they_were(table: pv.Table, tmp_path: Path) -> None:
    sorted_, one = write(table, tmp_path / "one.parquet")
    code(table, *NAMES)
    by_codes, two = write(table, tmp_path / "two.parquet")
    assert (False, True) == (sorted_, by_codes)
    assert rows_of(PEOPLE) == rows_of(one) == rows_of(two)
    assert PEOPLE.schema.types == one.schema.types == two.schema.types
    assert ["job", "born"] == [f.name for f in two.schema if f.nullable]


def test_rows_come_in_another_order(table: pv.Table, tmp_path: Path) -> None:
    code(table, *NAMES)
    orders = [write(table, tmp_path / f"{i}.parquet")[1] for i in range(2)]
    assert len({str(o.to_pydict()) for o in [PEOPLE, *orders]}) == 3


def test_changed_columns_are_written_as_their_labels(
    table: pv.Table, tmp_path: Path
) -> None:
    code(table, *NAMES)
    ages = table.domains(["age"], Run())["age"].labels
    jobs = table.domains(["job"], Run())["job"].labels
    shown = {"age": [None if a == "-3" else a for a in ages], "job": ["*"] * len(jobs)}
    relabels = {c: Relabel(tuple(texts)) for c, texts in shown.items()}
    by_codes, found = write(
        table.relabelled(relabels), tmp_path / "x.parquet", types={"age": "SMALLINT"}
    )
    assert by_codes
    cells = PEOPLE.to_pylist()
    expected = Counter(
        tuple({**r, "job": "*", "age": None if r["age"] == -3 else r["age"]}.values())
        for r in cells
    )
    assert expected == rows_of(found)
    assert pa.int16() == found.schema.field("age").type


def test_values_that_are_equal_and_not_the_same_are_sorted(tmp_path: Path) -> None:
    """0.0 and -0.0 have one code; the file must have both."""
    pq.write_table(pa.table({"x": [0.0, -0.0, 1.5]}), tmp_path / "in.parquet")
    with pv.read(str(tmp_path / "in.parquet"), quasi=["x"]) as table:
        code(table, "x")
        writing = WriteQuery(str(tmp_path / "out.parquet"), "parquet", ("x",))
        assert 3 == table.engine.write(writing, {}, Run())
    found = pq.read_table(tmp_path / "out.parquet")["x"].to_pylist()
    assert ["-0.0", "0.0", "1.5"] == sorted(map(str, found))


def test_texts_that_a_collation_takes_for_equal_are_sorted(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "in.duckdb")) as con:
        con.execute("CREATE TABLE people (x VARCHAR COLLATE NOCASE)")
        con.execute("INSERT INTO people VALUES ('A'), ('a'), ('B')")
    with pv.read(str(tmp_path / "in.duckdb"), table="people", quasi=["x"]) as table:
        code(table, "x")
        writing = WriteQuery(str(tmp_path / "out.parquet"), "parquet", ("x",))
        assert 3 == table.engine.write(writing, {}, Run())
    found = pq.read_table(tmp_path / "out.parquet")["x"].to_pylist()
    assert ["A", "B", "a"] == sorted(found)


def test_texts_of_a_text_file_are_written_as_they_came(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x,y\n1.5,a\n1.50,a\nb,a\n01,a\n")
    with pv.read(str(tmp_path / "in.csv"), quasi=["x", "y"]) as table:
        code(table, "x", "y")
        writing = WriteQuery(str(tmp_path / "out.parquet"), "parquet", ("x",))
        assert 4 == table.engine.write(writing, {}, Run())
    found = pq.read_table(tmp_path / "out.parquet")["x"].to_pylist()
    assert ["01", "1.5", "1.50", "b"] == sorted(found)


def test_what_does_not_fit_is_sorted(
    table: pv.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code(table, *NAMES)
    monkeypatch.setattr(type(table.engine.session), "room", 10)
    by_codes, found = write(table, tmp_path / "x.parquet")
    assert not by_codes
    assert rows_of(PEOPLE) == rows_of(found)
