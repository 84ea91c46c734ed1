"""Every kind of source gives the same integers, and cells as they were written."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.engine.protocol import CountQuery

pytestmark = pytest.mark.engines

ROWS = [
    ("012345", "Köln", "flu"),
    ("012345", 'say "no", twice', "hiv"),
    ("12345", None, "flu"),
    ("12345", "a\nb", None),
    ("012345", "Köln", "flu"),
]
TABLE = pa.table(
    {n: [r[i] for r in ROWS] for i, n in enumerate(("zip", "town", "ill"))}
)


def csv(folder: Path) -> Path:
    path = folder / "t.csv"
    pa_csv.write_csv(TABLE, path)
    return path


def gz(folder: Path) -> Path:
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(csv(folder).read_bytes()))
    return path


def zst(folder: Path) -> Path:
    path = folder / "t.csv.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(csv(folder).read_bytes())
    return path


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "t.parquet")
    return folder / "t.parquet"


def halves(folder: Path) -> str:
    pq.write_table(TABLE.slice(0, 2), folder / "p-1.parquet")
    pq.write_table(TABLE.slice(2), folder / "p-2.parquet")
    return str(folder / "p-*.parquet")


def jsonl(folder: Path) -> Path:
    path = folder / "t.jsonl"
    rows = [json.dumps(r) for r in TABLE.to_pylist()]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def tsv(folder: Path) -> Path:
    path = folder / "t.tsv"
    pa_csv.write_csv(TABLE, path, pa_csv.WriteOptions(delimiter="\t"))
    return path


def relation(folder: Path) -> Any:
    return duckdb.connect().from_arrow(TABLE)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": csv,
    "csv.gz": gz,
    "csv.zst": zst,
    "tsv": tsv,
    "parquet": parquet,
    "glob": halves,
    "json lines": jsonl,
    "relation": relation,
    "arrow": lambda _: TABLE,
    "batch": lambda _: TABLE.combine_chunks().to_batches()[0],
    "reader": lambda _: TABLE.to_reader(),
    "dataset": lambda folder: ds.dataset(parquet(folder)),
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.from_arrow(TABLE),
}


def cells(table: pv.Table, by: tuple[str, ...], about: str) -> dict[Any, int]:
    ((_, grouped),) = table.count([CountQuery(by, about)])
    return {
        (*grouped.labels(g), value): n
        for g in range(len(grouped))
        for value, n in grouped.histogram(g).items()
    }


@pytest.mark.parametrize("kind", SOURCES)
def test_all_sources_give_the_same_integers(kind: str, tmp_path: Path) -> None:
    with pv.read(SOURCES[kind](tmp_path)) as table:
        assert dict(Counter(ROWS)) == cells(table, ("zip", "town"), "ill")
        assert len(ROWS) == len(table)


def test_a_table_of_a_database_file(tmp_path: Path) -> None:
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as con:
        con.register("t", TABLE)
        con.execute("CREATE TABLE visits AS SELECT * FROM t")
    with pv.read(path, table="visits") as table:
        assert dict(Counter(ROWS)) == cells(table, ("zip", "town"), "ill")
    with pytest.raises(pv.PrivetError):
        pv.read(path, table="visit")
    with pytest.raises(pv.InputError, match="table must name"):
        pv.read(path)


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_numbers_are_grouped_as_numbers_and_shown_as_written(tmp_path: Path) -> None:
    path = write(tmp_path, "x,s\n1.50,a\n1.5,a\n2,b\n0.1,c\n0.10000000000000000001,c\n")
    with pv.read(path) as table:
        counts = cells(table, (), "x")
    assert sorted([2, 1, 1, 1]) == sorted(counts.values())
    assert ("0.10000000000000000001",) in counts


def test_a_leading_zero_makes_a_code_of_a_number(tmp_path: Path) -> None:
    with pv.read(write(tmp_path, "zip\n012345\n12345\n")) as table:
        domain = table.domains(["zip"])["zip"]
    assert ("text", ["012345", "12345"]) == (domain.kind, list(domain.labels))


def test_huge_integers_stay_apart(tmp_path: Path) -> None:
    big = [2**53, 2**53 + 1, 2**63, 2**63 + 1, 10**40, 10**40 + 1]
    path = write(tmp_path, "n\n" + "\n".join(map(str, big)) + "\n")
    with pv.read(path) as table:
        assert len(big) == len(cells(table, (), "n"))


def test_order_is_by_value_and_missing_comes_first(tmp_path: Path) -> None:
    with pv.read(write(tmp_path, "n,s\n10,a\n9,b\n,c\n")) as table:
        assert [None, "9", "10"] == list(table.domains(["n"])["n"].labels)


def test_bins_hold_their_lower_edge(tmp_path: Path) -> None:
    path = write(tmp_path, "age,s\n17.9,a\n18,a\n64,a\n65,a\n-1,a\n,a\n")
    with pv.read(path, bins={"age": [18, 65]}) as table:
        counts = {k[0]: n for k, n in cells(table, (), "age").items()}
    assert {None: 1, "below 18": 2, "18 to below 65": 2, "65 and more": 1} == counts


def test_bins_of_what_is_no_number_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "age,s\n17,a\nCANARY,a\n")
    with pv.read(path, bins={"age": [18]}) as table:
        with pytest.raises(pv.InputError, match="must hold numbers") as error:
            table.domains(["age"])
    assert "CANARY" not in str(error.value)


def test_delimiters_marks_and_missing_texts(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_bytes(b"\xef\xbb\xbf39, ?, x\r\n40, y, ?\r\n")
    options = {"names": ["age", "job", "s"], "delimiter": ", ", "null": "?"}
    with pv.read(tmp_path / "u.data", **options) as table:
        assert {(None, "x"): 1, ("y", None): 1} == cells(table, ("job",), "s")
    with pv.read(write(tmp_path, "a;b\n1;2\n", "v.csv")) as table:
        assert ("a", "b") == table.schema.names
    (tmp_path / "l.csv").write_bytes("a\né\n".encode("latin-1"))
    with pv.read(tmp_path / "l.csv", encoding="latin-1") as table:
        assert {("é",): 1} == cells(table, (), "a")


def test_pandas_integers_with_missing_values_are_warned_of() -> None:
    frame = pd.DataFrame({"n": [39.0, None], "s": ["a", "b"]})
    with pv.read(frame) as table:
        with pytest.warns(pv.PrivacyWarning, match="Int64"):
            table.domains(["n"])


def test_pandas_objects_of_mixed_types() -> None:
    frame = pd.DataFrame({"x": [1, "one", None], "s": ["a", "b", "c"]}, dtype=object)
    with pytest.warns(pv.PrivacyWarning, match="several"):
        table = pv.read(frame)
    with table:
        assert {("1",): 1, ("one",): 1, (None,): 1} == cells(table, (), "x")


@pytest.mark.parametrize("rows", [4, 6])
def test_a_parquet_file_that_is_replaced_is_read_anew(
    rows: int, tmp_path: Path
) -> None:
    """Even where nobody sees by its time that it is another one."""
    file, other = tmp_path / "people.parquet", tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": ["x"] * 4, "b": ["1", "2"] * 2}), file)
    pq.write_table(pa.table({"a": ["y"] * rows, "b": ["3"] * rows}), other)
    stamp = file.stat()
    with pv.read(file) as table:
        other.replace(file)
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        ((_, part),) = table.count([CountQuery(("a",), "b")])
        assert ("y",) == tuple(part.labels(0))
        assert {"3": rows} == part.histogram(0)


def write_over(file: Path, value: str, *, rows: int = 4) -> None:
    """Write another table over a file, in the same place and at the same time.

    One row group of one value, so that its statistics tell what is not there.
    """
    stamp = file.stat() if file.exists() else None
    table = pa.table({"a": [value] * rows, "b": ["1", "2"] * (rows // 2)})
    sink = pa.BufferOutputStream()
    if file.suffix == ".parquet":
        pq.write_table(table, sink)
    elif file.suffix == ".csv":
        pa_csv.write_csv(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    with file.open("r+b" if stamp else "wb") as handle:
        handle.write(sink.getvalue())
        handle.truncate()
    if stamp:
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def write_parts(folder: Path, *parts: dict[str, pa.Array]) -> str:
    """Parquet files, each with columns of its own; what names them all."""
    for i, part in enumerate(parts):
        pq.write_table(pa.table(part), folder / f"part{i}.parquet")
    return str(folder / "part*.parquet")


def test_names_that_are_alike_but_for_case_in_files_of_another_order(
    tmp_path: Path,
) -> None:
    """DuckDB would call the second of them A_1 in one file and a_1 in the other."""
    capital, small = {"A": pa.array(["u"])}, {"a": pa.array(["l"])}
    files = write_parts(tmp_path, capital | small, small | capital)
    with pytest.raises(pv.InputError, match=r"'A' and 'a', .* must stand in the same"):
        pv.read(files)
    files = write_parts(tmp_path, capital | small, capital | small)
    with pv.read(files) as table:
        assert {("u",): 2} == cells(table, (), "A")
        assert {("l",): 2} == cells(table, (), "a")


def test_fields_that_are_alike_but_for_case_in_files_of_another_order(
    tmp_path: Path,
) -> None:
    def nest(*names: str) -> dict[str, pa.Array]:
        type_ = pa.struct([(n, pa.string()) for n in names])
        return {"s": pa.array([{"A": "u", "a": "l", "b": None}], type_)}

    with pytest.raises(pv.InputError, match=r"'s\.A' and 's\.a', .* must stand in the"):
        pv.read(write_parts(tmp_path, nest("A", "a"), nest("a", "A")))
    with pv.read(write_parts(tmp_path, nest("a", "b"), nest("b", "a"))) as table:
        assert 2 == len(table)


def test_a_further_file_with_a_column_twice(tmp_path: Path) -> None:
    files = write_parts(tmp_path, {"a": pa.array(["u"])}, {"a": pa.array(["u"])})
    twice = pa.table([pa.array(["u"]), pa.array(["v"])], names=["a", "a"])
    pq.write_table(twice, tmp_path / "part1.parquet")
    with pytest.raises(pv.InputError, match="more than once"):
        pv.read(files)


FORMATS = [".csv", ".parquet", ".arrow"]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("rows", [4, 6])
def test_a_file_that_is_written_to_between_two_counts(
    ending: str, rows: int, tmp_path: Path
) -> None:
    """A promise judged on the old rows and one on the new ones hold for neither."""
    file = tmp_path / f"people{ending}"
    write_over(file, "x")
    with pv.read(file) as table:
        assert {("1",): 2, ("2",): 2} == cells(table, (), "b")
        write_over(file, "y", rows=rows)
        with pytest.raises(pv.EngineError):
            cells(table, ("b",), "a")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_is_written_to_before_it_is_counted(
    ending: str, tmp_path: Path
) -> None:
    """The end of a Parquet file is known by then; where only one time tells that there
    is another one, old statistics would rule out what is there now."""
    file = tmp_path / f"people{ending}"
    write_over(file, "x")
    with pv.read(file) as table:
        write_over(file, "y")
        with pytest.raises(pv.EngineError):
            cells(table, ("b",), "a")


def test_a_file_that_changes_during_a_count(tmp_path: Path) -> None:
    """The same with sets of columns that are counted by a statement each."""
    file = tmp_path / "people.csv"
    columns = [f"c{i}" for i in range(70)]
    rows = [[*"01"] * 35, [*"10"] * 35]
    lines = [",".join(line) for line in (columns, *rows)]
    file.write_text("\n".join(lines))
    queries = [CountQuery(tuple(columns[:-1]), "c69"), CountQuery((), "c69")]
    with pv.read(file) as table:
        counts = iter(table.count(queries))
        next(counts)
        file.write_text("\n".join([lines[0], lines[1], lines[1]]))
        with pytest.raises(pv.EngineError, match="changed while it was read"):
            list(counts)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    file = csv(tmp_path)
    with pv.read(file) as table:
        file.unlink()
        with pytest.raises(pv.EngineError, match=f"{file.name}.* it is gone"):
            len(table)


def test_where_chooses_rows(tmp_path: Path) -> None:
    with pv.read(csv(tmp_path), where={"zip": "12345"}) as table:
        assert 2 == len(table)
    with pytest.raises(pv.EmptyTable, match="where"):
        pv.read(csv(tmp_path), where={"zip": "x"})
    with pytest.raises(pv.ColumnNotFound, match="'zip'"):
        pv.read(csv(tmp_path), where={"zpi": "x"})


def test_weights_must_be_whole_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "s,n\na,1\nb,-2\nc,1.5\n")
    with pv.read(path, sensitive="s", weight="n") as table:
        with pytest.raises(pv.InputError, match="2 rows do not"):
            pv.belief(table, pv.Linker([]))
    path = write(tmp_path, "s,n\na,0\n")
    with pv.read(path, sensitive="s", weight="n") as table:
        with pytest.raises(pv.EmptyTable):
            pv.belief(table, pv.Linker([]))


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("t.csv", b"", "empty"),
    "header only": ("t.csv", b"a,b\n", "must have rows"),
    "ragged": ("t.csv", b"a,b\n1,2\n1,2,CANARY\n", "line 3 has 3"),
    "quote": ("t.csv", b'a,b\n1,"CANARY\n', "uotes"),
    "encoding": ("t.csv", b"a,b\n1,CANARY\xe9\n", "UTF-8"),
    "twice": ("t.csv", b"a,a\n1,2\n", "must differ"),
    "no parquet": ("t.parquet", b"CANARY", "Parquet"),
    "ending": ("t.pdf", b"CANARY", "must end in"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_files_have_clear_errors_that_quote_no_cell(
    what: str, tmp_path: Path
) -> None:
    name, content, words = BAD[what]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(pv.InputError, match=words) as error:
        with pv.read(tmp_path / name, sensitive="b") as table:
            pv.belief(table, pv.Linker(["a"]))
    assert "CANARY" not in str(error.value)


def test_a_missing_file_is_answered_with_near_names(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "loans.csv")
    with pytest.raises(pv.InputError, match=r"loans\.csv"):
        pv.read(tmp_path / "loan.csv")
    with pytest.raises(pv.InputError, match="nothing matches"):
        pv.read(str(tmp_path / "x-*.csv"))
    with pytest.raises(pv.InputError, match="collect"):
        pv.read(pl.LazyFrame({"a": [1]}))
    with pytest.raises(pv.InputError, match="starts with s3://"):
        pv.read("s3://bucket/people.parquet")
    with pytest.raises(pv.InputError, match="must name a table of the PostgreSQL"):
        pv.read("postgresql://host/db")


def test_names_that_differ_by_case_only(tmp_path: Path) -> None:
    with pv.read(write(tmp_path, "a,A\n1,x\n")) as table:
        assert {("1", "x"): 1} == cells(table, ("a",), "A")
