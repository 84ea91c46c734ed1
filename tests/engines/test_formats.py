"""What `read` takes: paths, patterns, folders, text files of all dialects, frames."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.tables import cells

pytestmark = pytest.mark.engines

LINES = "job,ill\nCook,flu\nCook,\n,flu\n"
CELLS = {("Cook", "flu"): 1, ("Cook", None): 1, (None, "flu"): 1}


def read_cells(source: Any, **options: Any) -> dict[Any, int]:
    with pv.read(source, **options) as table:
        return cells(table, table.schema.names[:-1], table.schema.names[-1])


# Paths ------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder with two files of the same table."""
    (tmp_path / "1.csv").write_text("job,ill\nCook,flu\n")
    (tmp_path / "2.csv").write_text("job,ill\nCook,\n,flu\n")
    return tmp_path


def test_paths_patterns_and_lists(
    two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.csv").write_text(LINES)
    monkeypatch.chdir(tmp_path)
    for source in (
        "all.csv",
        Path("all.csv"),
        str(tmp_path / "all.csv"),
        str(two / "[12].csv"),
        "?.csv",
        [two / "1.csv", str(two / "2.csv")],
        (two / "2.csv", "1.csv"),
        ["1.csv", "2*.csv"],
    ):
        assert CELLS == read_cells(source), source


def test_the_home_folder(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(two))
    assert CELLS == read_cells("~/?.csv")


@pytest.mark.parametrize(
    "name", ["d[1].csv", "d*.csv", "d?.csv", "d'x\".csv", "dé .csv"]
)
def test_a_name_that_looks_like_a_pattern_is_a_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "d1.csv").write_text("job,ill\nwrong,wrong\n")
    (tmp_path / name).write_text(LINES)
    assert CELLS == read_cells(tmp_path / name)


def test_folders_whose_names_have_equal_signs_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "run=3"
    folder.mkdir()
    (folder / "t.csv").write_text(LINES)
    (folder / "t.jsonl").write_text('{"job":"Cook","ill":"flu"}\n')
    pq.write_table(pa.table({"job": ["Cook"], "ill": ["flu"]}), folder / "t.parquet")
    for ending in ("csv", "jsonl", "parquet"):
        with pv.read(folder / f"t.{ending}") as table:
            assert ("job", "ill") == table.schema.names


def test_a_folder_of_parquet_files(tmp_path: Path) -> None:
    spark = tmp_path / "people.parquet"
    spark.mkdir()
    (spark / "_SUCCESS").touch()
    pq.write_table(pa.table({"a": ["x"], "s": [1]}), spark / "part-0.parquet")
    pq.write_table(pa.table({"s": [1], "a": ["x"]}), spark / "part-1.PARQUET")
    expected = {("x", "1"): 2}
    assert expected == read_cells(spark)
    assert expected == read_cells(str(tmp_path / "*"))
    assert expected == read_cells([spark])


@pytest.mark.parametrize("above", ["plain", "run=9"])
def test_folders_below_the_one_that_is_named_may_be_columns(
    above: str, tmp_path: Path
) -> None:
    whole = pa.table(
        {
            "z": ["1", "2", "2", None, "a/b c"],
            "k": ["07", "7", "7", "7", "7"],
            "v": [1, 2, 2, 3, 4],
        }
    )
    root = tmp_path / above / "people"
    ds.write_dataset(
        whole,
        root,
        format="parquet",
        partitioning=ds.partitioning(
            pa.schema([("z", pa.string()), ("k", pa.string())]), flavor="hive"
        ),
    )
    for source in (root, str(root / "z=*")):
        with pv.read(source) as table:
            assert ("v", "z", "k") == table.schema.names
            expected = {
                ("1", "07", "1"): 1,
                ("2", "7", "2"): 2,
                (None, "7", "3"): 1,
                ("a/b c", "7", "4"): 1,
            }
            assert expected == cells(table, ["z", "k"], "v")


# Text files -------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_delimiters_line_ends_and_marks(
    delimiter: str, end: str, mark: bytes, tmp_path: Path
) -> None:
    rows = [["job", "ill"], ['"two\nlines"', "flu"], ['"a""b"', ""], ["", "flu"]]
    text = end.join(delimiter.join(row) for row in rows) + end
    (tmp_path / "t.csv").write_bytes(mark + text.encode())
    expected = {("two\nlines", "flu"): 1, ('a"b', None): 1, (None, "flu"): 1}
    assert expected == read_cells(tmp_path / "t.csv")
    assert expected == read_cells(tmp_path / "t.csv", delimiter=delimiter)


def test_a_file_without_header_and_with_a_blank_after_each_comma(
    tmp_path: Path,
) -> None:
    (tmp_path / "adult.data").write_text(
        "39, State-gov, Bachelors, <=50K\n"
        "50, ?, Bachelors, <=50K\n"
        "39, State-gov, Bachelors, >50K\n\n"
    )
    names = ["age", "workclass", "education", "income"]
    options: dict[str, Any] = {"names": names, "null": "?", "delimiter": ", "}
    expected = {
        ("39", "State-gov", "Bachelors", "<=50K"): 1,
        ("50", None, "Bachelors", "<=50K"): 1,
        ("39", "State-gov", "Bachelors", ">50K"): 1,
    }
    assert expected == read_cells(tmp_path / "adult.data", **options)


def test_several_texts_for_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,s\nNA,x\n?,x\n"NA",x\n"",x\n,x\n')
    expected = {(None, "x"): 3, ("NA", "x"): 1, ("", "x"): 1}
    assert expected == read_cells(tmp_path / "t.csv", null=["NA", "?"])


def test_a_header_without_names(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("job,,ill\na,b,c\n")
    with pv.read(tmp_path / "t.csv") as table:
        assert ("job", "column2", "ill") == table.schema.names


@pytest.mark.parametrize(
    ("wrote", "given"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf8"),
        ("utf-8-sig", "utf-8-sig"),
        ("latin-1", "iso-8859-1"),
        ("latin-1", "latin-1"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"),
    ],
)
def test_encodings(wrote: str, given: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("prénom,s\nÉlodie,ß\n".encode(wrote))
    with pv.read(tmp_path / "t.csv", encoding=given) as table:
        assert ("prénom", "s") == table.schema.names
        assert {("Élodie", "ß"): 1} == cells(table, ["prénom"], "s")


@pytest.mark.parametrize("inner", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("outer", ["gz", "zst"])
def test_compressed_texts(inner: str, outer: str, tmp_path: Path) -> None:
    text = {
        "csv": LINES,
        "tsv": LINES.replace(",", "\t"),
        "jsonl": '{"job":"Cook","ill":"flu"}\n{"job":"Cook"}\n{"ill":"flu"}\n',
    }[inner].encode()
    packed = (
        # several members, one after the other, are one file
        gzip.compress(text[:9]) + gzip.compress(text[9:])
        if outer == "gz"
        else pa.compress(text, "zstd", asbytes=True)
    )
    path = tmp_path / f"t.{inner}.{outer}"
    path.write_bytes(packed)
    assert CELLS == read_cells(path)


def test_json_tells_texts_from_numbers_and_keys_by_case(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"a":"1.50","A":1.50,"m":5}\n{"a":"1.5","A":1.5,"m":"5"}\n'
        '{"A":null,"a":"","m":true}\n{"":9,"b/c~\\"d":1}\n'
    )
    with pv.read(path) as table:
        assert {"a", "A", "m", "", 'b/c~"d'} == set(table.schema.names)
        assert {("1.5",): 1, ("1.50",): 1, ("",): 1, (None,): 1} == cells(
            table, [], "a"
        )
        assert {("1.5",): 2, (None,): 2} == cells(table, [], "A")
        mixed = {('"5"',): 1, ("5",): 1, ("true",): 1, (None,): 1}
        assert mixed == cells(table, [], "m")
        assert {("9",): 1, (None,): 3} == cells(table, [], "")
        assert {("1",): 1, (None,): 3} == cells(table, [], 'b/c~"d')


def test_json_keys_that_come_late(tmp_path: Path) -> None:
    lines = ['{"a":1}'] * 50_000 + ['{"late":"x"}']
    (tmp_path / "t.ndjson").write_text("\n".join(lines))
    assert {("1", None): 50_000, (None, "x"): 1} == read_cells(tmp_path / "t.ndjson")


# Databases and relations ------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE people AS SELECT 'a' AS x, 1 AS s")
        con.execute('CREATE SCHEMA old; CREATE TABLE old."odd.name" AS SELECT 2 AS s')
        con.execute("CREATE VIEW seen AS SELECT * FROM people")
    return path


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("people", {("a", "1"): 1}),
        ("main.people", {("a", "1"): 1}),
        ("seen", {("a", "1"): 1}),
        ("old.odd.name", {("2",): 1}),
    ],
)
def test_a_table_of_a_database(
    table: str, expected: dict[Any, int], database: Path
) -> None:
    assert expected == read_cells(database, table=table)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_relation_is_read_again_for_every_count(place: str, tmp_path: Path) -> None:
    path = ":memory:" if place == "memory" else str(tmp_path / "own.duckdb")
    with duckdb.connect(path) as con:
        con.execute("CREATE TABLE t AS SELECT i % 3 AS a, 'x' AS s FROM range(9) r(i)")
        con.execute("CREATE SEQUENCE runs")
        rows = con.sql("SELECT a, s, nextval('runs') > 0 AS seen FROM t")
        with pv.read(rows) as table:
            assert {("0", "x"): 3, ("1", "x"): 3, ("2", "x"): 3} == cells(
                table, ["a"], "s"
            )
            assert [(1,)] == con.sql("SELECT 1").fetchall()  # still usable
            assert {("true",): 9} == cells(table, [], "seen")
        con.execute("DELETE FROM t WHERE a = 0")
        with pv.read(con.table("t")) as table:
            assert {("1", "x"): 3, ("2", "x"): 3} == cells(table, ["a"], "s")


class Stream:
    """Rows that count how often they are asked for."""

    def __init__(self) -> None:
        self.runs = 0
        self.rows = pa.table({"a": ["x"] * 10, "s": range(10)})

    def batches(self) -> Iterator[pa.RecordBatch]:
        self.runs += 1
        yield from self.rows.to_batches()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.rows.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


def test_a_relation_runs_once_per_scan() -> None:
    stream = Stream()
    with duckdb.connect() as con:
        con.register("stream", stream)
        with pv.read(con.sql("SELECT * FROM stream")) as table:
            before = stream.runs
            assert 1 == len(table.domains(["a"])["a"])
            assert before + 1 == stream.runs
            assert {("x",): 10} == cells(table, [], "a")
            assert before + 2 == stream.runs


def test_a_relation_of_types_that_arrow_lacks() -> None:
    most = str(2**128 - 1)
    with duckdb.connect() as con:
        rows = con.sql(
            f"SELECT unnest(['{most}', '5', '5']::UHUGEINT[]) AS big, "
            "unnest(['1:00:00+01', '1:00:00+02', '1:00:00+02']::TIMETZ[]) AS t, "
            f"unnest(['01', '1', '1']::BIT[]) AS b, {2**127 - 1}::HUGEINT AS h"
        )
        with pv.read(rows) as table:
            assert {("5",): 2, (most,): 1} == cells(table, [], "big")
            assert {("01:00:00+01",): 1, ("01:00:00+02",): 2} == cells(table, [], "t")
            assert {("01",): 1, ("1",): 2} == cells(table, [], "b")
            assert {(str(2**127 - 1),): 3} == cells(table, [], "h")


# Frames are not copied --------------------------------------------------------------

MEASURE = """
import resource, sys
import numpy as np, pyarrow as pa, privet as pv
from privet.engine.protocol import CountQuery

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

rows = 1_000_000
rng = np.random.default_rng(1)
words = pa.array([f"job {i} " + 60 * "long " for i in range(40)])
columns = {f"c{i}": words.take(pa.array(rng.integers(0, 40, rows))) for i in range(2)}
table = pa.table({**columns, "n": rng.integers(0, 9, rows)})
size = table.nbytes
if sys.argv[1] == "pandas":
    import pandas as pd
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
elif sys.argv[1] == "polars":
    import polars as pl
    frame = pl.from_arrow(table)
else:
    frame = table
small = pv.read(frame[:10])
list(small.count([CountQuery(("c0",), "n")]))
before = peak()
with pv.read(frame, threads=2) as people:
    for _, batch in people.count([CountQuery(("c0", "c1"), "n"), CountQuery((), "n")]):
        assert rows == batch.total.sum()
print(size, peak() - before)
"""


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_frames_are_not_copied(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, kind],
        capture_output=True,
        text=True,
        check=True,
    )
    size, grown = map(int, done.stdout.split())
    assert size > 600e6
    assert grown < size / 6, f"{grown / 1e6:.0f} of {size / 1e6:.0f} MB"


def test_frames_keep_their_buffers() -> None:
    column = pa.array(["flu", "hiv"] * 1000)
    with pv.read(pa.table({"s": column})) as table:
        seen = table.source.frame["c0"].chunk(0)
        assert column.buffers()[2].address == seen.buffers()[2].address
    frame = pd.DataFrame({"n": np.arange(2000) % 7})
    with pv.read(frame) as table:
        assert np.shares_memory(
            frame["n"].to_numpy(), table.source.frame["c0"].to_numpy()
        )
    views = pl.Series("s", ["a text of more than twelve bytes"] * 1000)
    with pv.read(pl.DataFrame({"s": views})) as table:
        seen = table.source.frame["c0"].chunk(0)
        given = views.to_arrow(compat_level=pl.CompatLevel.newest())
        assert given.buffers()[1].address == seen.buffers()[1].address


def test_a_frame_is_left_as_it_was() -> None:
    frame = pd.DataFrame({"a b": ["x", None], 7: [1, 2]}, index=["i", "j"])
    frame["o"] = pd.Series([1, None], index=["i", "j"], dtype=object)
    before = frame.copy()
    with pv.read(frame) as table:
        assert {("x", "1"): 1, (None, "2"): 1} == cells(table, ["a b"], "7")
        assert {("1",): 1, (None,): 1} == cells(table, [], "o")
    pd.testing.assert_frame_equal(before, frame)
