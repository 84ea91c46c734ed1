"""Columns whose names differ by case only stay two columns, read and written."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.servers import postgres, postgres_table, spark, spark_frame
from engines.tables import cells
from privet.responses.collect.store import Store
from privet.table import Table

pytestmark = pytest.mark.engines

ROWS = range(24)
PAIRS = [i // 2 for i in ROWS]
"""Two people each are alike but for what they have: nothing need be hidden."""
NAMES = ["Id", "Age", "age", "ÄGE", "äge", "Ill", "ILL"]
PEOPLE = pa.table(
    [
        pa.array([f"n{i}" for i in ROWS]),
        pa.array([20 + i % 2 for i in PAIRS]),
        pa.array([i % 3 / 8 if i else None for i in PAIRS]),
        pa.array([["a,b", 'say "x"', "two\nlines", None][i // 2 % 4] for i in PAIRS]),
        pa.array([date(2024, 2, 28 + i // 3 % 2) for i in PAIRS]),
        pa.array([f"i{i % 5}" for i in ROWS]),
        pa.array([f"j{i // 2 % 3}" for i in PAIRS]),
    ],
    names=NAMES,
)
LINKER = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), about="Ill")
VIEWS = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("9/10"), about="Ill")


def read(source: Any = PEOPLE, **options: Any) -> Table:
    roles: dict[str, Any] = {"identifier": "Id", "quasi": "ÄGE", "sensitive": "Ill"}
    roles |= options
    named = {
        "Id",
        "Ill",
        *([roles["quasi"]] if isinstance(roles["quasi"], str) else roles["quasi"]),
    }
    return pv.read(source, other=[c for c in NAMES if c not in named], **roles)


def write(table: Table, folder: Path, form: str, method: Any = None) -> None:
    """Write a release, which is read back before it appears."""
    promise = VIEWS if isinstance(method, pv.SplitViews) else LINKER
    if method is None:  # a promise about numbers and dates would show intervals
        promise = pv.Promise(pv.Linker("ÄGE"), pv.Ceiling("1/2"), about="Ill")
    release = pv.publish(table, [promise], method=method)
    release.write(folder / "out", custody=folder / "vault", format=form)


def rows_of(table: Table) -> Counter[tuple[str | None, ...]]:
    """Every row but the identifier, as texts."""
    *by, about = NAMES[1:]
    return Counter(cells(table, by, about))


@pytest.mark.parametrize(
    ("method", "form"),
    [
        (pv.Mondrian(), "csv"),
        (pv.Mondrian(form="buckets"), "csv"),
        (pv.SplitViews(leave_out=["ÄGE", "äge"], proposals=1), "parquet"),
    ],
    ids=["groups", "buckets", "views"],
)
def test_every_publisher_keeps_both(form: str, method: Any, tmp_path: Path) -> None:
    with read(quasi=["Age", "age"]) as table:
        write(table, tmp_path, form, method)
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "place",
    [
        "here",
        pytest.param("spark", marks=pytest.mark.spark),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ],
)
def test_what_is_written_is_what_was_read(
    form: str, place: str, tmp_path: Path
) -> None:
    with read() as table:
        expected = rows_of(table)
    if place == "postgres":
        types = ["text", "bigint", "float8", "text", "date", "text", "text"]
        with postgres_table(PEOPLE, types) as name, read(postgres(), table=name) as t:
            write(t, tmp_path, form)
    else:
        with read(spark_frame(PEOPLE) if place == "spark" else PEOPLE) as table:
            write(table, tmp_path, form)
    released = pv.load(tmp_path / "out")
    assert tuple(NAMES[1:]) == released.table.schema.names
    assert expected == rows_of(released.table)


@pytest.mark.spark
def test_spark_says_where_it_cannot(tmp_path: Path) -> None:
    spark()
    pq.write_table(PEOPLE, tmp_path / "t.parquet")
    for source in (str(tmp_path / "t.parquet"), f"file://{tmp_path}/t.parquet"):
        with pytest.raises(pv.InputError, match="must differ by more than case"):
            pv.read(source, engine="spark")


def test_folders_named_like_a_column(tmp_path: Path) -> None:
    (tmp_path / "year=2024").mkdir()
    pq.write_table(pa.table({"Year": [1]}), tmp_path / "year=2024" / "p.parquet")
    with pytest.raises(pv.InputError, match="must not be named like the column 'Year'"):
        pv.read(tmp_path)


def test_a_column_without_a_name(tmp_path: Path) -> None:
    table = pa.table({"": ["a", "b"] * 2, "ill": ["u", "v", "v", "u"]})
    with pv.read(table, quasi="", sensitive="ill") as people:
        release = pv.publish(people, [pv.Promise(pv.Linker(), pv.Ceiling("1/2"))])
        with pytest.raises(pv.InputError, match="must have a name to be written as CS"):
            release.write(tmp_path / "out", custody=tmp_path / "v", format="csv")
        release.write(tmp_path / "out", custody=tmp_path / "v", format="parquet")
    assert pv.verify(tmp_path / "out").good


def test_questions_are_collected_by_names_that_differ(tmp_path: Path) -> None:
    asked = [pv.Question("Age", ["a", "b"]), pv.Question("age", ["a", "b"])]
    design = pv.Design(
        asked, [pv.Group(["Age"], pv.Flip("0.8")), pv.Group(["age"], pv.Flip("0.8"))]
    )
    with pytest.raises(pv.InputError, match="differ by more than case"):
        Store(tmp_path / "answers.duckdb", design)
    assert not list(tmp_path.iterdir())
