"""Files that Spark reads give the codes and integers that DuckDB finds in them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.servers import spark, spark_frame
from engines.tables import cells
from privet.engine.protocol import Run
from privet.engine.remote import remote_writer

pytestmark = pytest.mark.spark

TEXT = (
    'job,age,born,zip,note\nCook,40,1960-01-01,00501,"a, ""b"""\n'
    'Jüdge,+9,1999-12-31,501,""\nCook,,,0501,\n"=1+1",1e1,2024-02-29,501,"two\nlines"\n'
)


def same(source: Any, names: list[str], **options: Any) -> None:
    """Both engines read the same."""
    spark()
    with (
        pv.read(source, **options) as here,
        pv.read(source, engine="spark", **options) as there,
    ):
        assert here.schema.names == there.schema.names
        expected, found = here.domains(names), there.domains(names)
        for name in names:
            assert list(expected[name].labels) == list(found[name].labels)
            assert expected[name].kind == found[name].kind
        *by, about = names
        assert cells(here, by, about) == cells(there, by, about)
        assert [c.kind for c in here.engine.describe(Run())] == [
            c.kind for c in there.engine.describe(Run())
        ]


def test_text_files(tmp_path: Path) -> None:
    place = tmp_path / "a folder {1} [x] 50%"
    place.mkdir()
    (place / "people.csv").write_text(TEXT, encoding="utf-8")
    same(place / "people.csv", ["job", "age", "born", "zip", "note"])


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of PySpark, about pandas
def test_what_stands_for_missing_values(tmp_path: Path) -> None:
    lines = 'job,age\nCook,40\n"?",?\n?,NA\n,"NA"\n"",1e1\n'
    (tmp_path / "1.csv").write_text(lines, encoding="utf-8")
    (tmp_path / "2.csv").write_text("job,age\nJüdge,?\n", encoding="utf-8")
    same(str(tmp_path / "*.csv"), ["job", "age"], null=["?", "NA"])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"job": "Cook", "age": 40, "ills": ["flu", "hiv"]}',
        '{"age": 40.0, "job": "C\\u006fok", "ills": [], "more": {"x": 1}}',
        '{"job": null, "age": "40"}',
        '{"job": "Jüdge", "age": 1e1, "born": "1999-12-31"}',
    ]
    (tmp_path / "1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    alike = [  # those above again, but for their age
        '{"job": "", "age": -1}',
        '{"job": "", "age": "-1.5"}',
        '{"job": "Cook", "age": "x", "ills": ["flu", "hiv"]}',
        '{"job": "Cook", "age": 7, "ills": [], "more": {"x": 1}}',
        '{"job": null, "age": null}',
        '{"job": "Jüdge", "age": 0.1, "born": "1999-12-31"}',
    ]
    (tmp_path / "2.jsonl").write_text("\n".join(alike) + "\n", encoding="utf-8")
    pattern = str(tmp_path / "*.jsonl")
    same(pattern, ["job", "age", "ills", "born", "more"])
    promise = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), "age")
    known = {"quasi": "job", "sensitive": "age", "other": ["ills", "born", "more"]}
    shown = []
    for engine in ("duckdb", "spark"):
        with pv.read(pattern, engine=engine, **known) as table:
            out = tmp_path / engine
            pv.publish(table, promise).write(out, custody=tmp_path / f"v {engine}")
            written = pq.read_table(out / "table.parquet")
            shown.append((written.schema, sorted(map(str, written.to_pylist()))))
    assert shown[0] == shown[1]


def test_partitioned_parquet_in(tmp_path: Path) -> None:
    table = pa.table(
        {
            "year": ["2023", "2024", "2024", "007"],
            "job": ["Cook", None, "Judge", "Cook"],
            "born": [date(1960, 1, 1), None, date(2000, 1, 1), date(1960, 1, 1)],
        }
    )
    ds.write_dataset(
        table,
        tmp_path / "d",
        format="parquet",
        partitioning=["year"],
        partitioning_flavor="hive",
    )
    same(tmp_path / "d", ["job", "born", "year"])


def test_what_spark_does_not_read(tmp_path: Path) -> None:
    spark()
    (tmp_path / "t.jsonl").write_text("[1]\n")
    with pytest.raises(pv.InputError, match="must be a JSON object"):
        pv.read(tmp_path / "t.jsonl", engine="spark")
    (tmp_path / "t.duckdb").write_bytes(b"no database")
    with pytest.raises(pv.InputError, match="Convert it to Parquet"):
        pv.read(tmp_path / "t.duckdb", engine="spark")
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(pv.InputError, match="null must be left out"):
        pv.read("s3a://bucket/people.csv", engine="spark", null="?")
    with pytest.raises(pv.InputError, match="table must be left out"):
        pv.read(tmp_path / "t.csv", engine="spark", table="x")
    with pytest.raises(pv.InputError, match="master must be left out"):
        pv.read(tmp_path / "t.csv", master="local[2]")
    with pytest.raises(pv.InputError, match="engine must be one of"):
        pv.read(tmp_path / "t.csv", engine="dask")
    with pytest.raises(pv.InputError, match="must be able to read") as error:
        pv.read("s3a://key:canary@bucket/people.parquet", engine="spark")
    assert "canary" not in str(error.value)


def test_types_only_spark_has(tmp_path: Path) -> None:
    frame = spark().sql(
        "SELECT map('a', 1) AS m, array(1, 2) AS a, struct(1 AS x) AS s, "
        "X'4142' AS b, TIMESTAMP '2024-05-01 12:00:00 UTC' AS t, NULL AS n, "
        "CAST(1.5 AS DECIMAL(38, 10)) AS d, 'x' COLLATE UTF8_LCASE AS c "
        "UNION ALL SELECT map('a', 1), array(1, 2), struct(1 AS x), X'4142', "
        "TIMESTAMP '2024-05-01 14:00:00 +02:00', NULL, 1.5, 'X' COLLATE UTF8_LCASE"
    )
    with pv.read(frame) as table:
        found = {n: list(d.labels) for n, d in table.domains(list("mastbnd")).items()}
        assert ["2024-05-01 12:00:00+00"] == found["t"]
        assert [None] == found["n"]
        assert ['{"a":1}'] == found["m"]
        assert ["1.5000000000"] == found["d"]
        assert [1] * 3 == [len(found[n]) for n in "asb"]
        assert ["X", "x"] == list(table.domains(["c"])["c"].labels)
        assert {("X", '{"a":1}'): 1, ("x", '{"a":1}'): 1} == cells(table, ["c"], "m")


@pytest.fixture
def case_sensitive() -> Iterator[None]:
    spark().conf.set("spark.sql.caseSensitive", "true")
    yield
    spark().conf.unset("spark.sql.caseSensitive")


@pytest.mark.usefixtures("case_sensitive")
def test_columns_that_differ_by_case(tmp_path: Path) -> None:
    table = pa.table([["1"], ["2"], ["3"]], names=["a", "A", "b"])
    pq.write_table(table, tmp_path / "t.parquet")
    frame = spark().read.parquet(str(tmp_path / "t.parquet"))
    with pv.read(frame) as there:
        assert {("1", "2", "3"): 1} == cells(there, ["a", "A"], "b")


@pytest.mark.parametrize("parts", [1, 3])
def test_odd_names_and_several_files_out(
    parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_writer, "ROWS_PER_FILE", 300 if parts == 1 else 100)
    names = ["a", "a.b", "`t`", "sp ace", "=1", "when"]
    rows = [  # threes of people who are alike but for what is sensitive
        (f"{i % 7}", f"{j}", "x", i, i / 8, datetime(2024, 1, 1, i % 24))
        for i in range(100)
        for j in range(3)
    ]
    table = pa.table(list(map(list, zip(*rows, strict=True))), names=names)
    roles = {"quasi": "a", "sensitive": "a.b", "other": names[2:]}
    with pv.read(spark_frame(table), **roles) as there:
        promise = pv.Promise(pv.Linker("a"), pv.Ceiling("1/2"), "a.b")
        pv.publish(there, promise).write(tmp_path / "out", custody=tmp_path / "v")
    shown = pq.read_table(tmp_path / "out" / "table.parquet")
    assert names == shown.column_names
    assert sorted(rows) == sorted(tuple(r.values()) for r in shown.to_pylist())
    assert rows != [tuple(r.values()) for r in shown.to_pylist()], "in the same order"
    assert pv.verify(tmp_path / "out").good
    kept = tmp_path / "out" / "table.parquet"
    if parts == 1:
        assert kept.is_file()
        return
    expected = [f"part-{i:05}.parquet" for i in range(parts)]
    assert expected == sorted(p.name for p in kept.iterdir())
    (kept / "part-00001.parquet").unlink()
    found = pv.verify(tmp_path / "out")
    assert not found.good
    assert "digest differs" in found.problems[0]
