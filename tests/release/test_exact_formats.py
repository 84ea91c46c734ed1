"""Releases as Excel, SPSS and Stata hold every value as it is, or are refused."""

from __future__ import annotations

import math
import os
import random
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from click.testing import CliRunner
from python_calamine import CalamineWorkbook

import privet as pv
from privet.cli import cli
from privet.engine.export.exact_files import ExactFile, read_exactly
from privet.engine.export.exact_statistics import PACKAGES, rename_columns
from privet.engine.export.file_kinds import kind_of_values
from release import hostile_folders as hostile

FORMATS = ("xlsx", "sav", "dta")
CASES = int(os.environ.get("PRIVET_CASES", "2"))
CANARY = "Wilhelmina Canary"

TEXTS = [
    *("01234", "=1+1", "+1", "-1", "@x", "'q", '"q"', "a\nb", "a\r\nb", "\tx", " lead"),
    *("<r>x</r>", "a&b<c>", "_x000D_", "_x0041_", "é", "😀", "\u200b", "\x01", "⊥"),
    *("1 to 5", "true", "nan", "1e5", "x" * 300, "\ufffe", "]]>", "&amp;", "ß" * 1000),
]


def random_table(seed: int) -> pa.Table:
    """A table of every kind of column, with nothing that a format cannot hold."""
    draw = random.Random(seed)
    rows = draw.choice([30, 2, 200])

    def column(make: Callable[[], Any], kind: pa.DataType) -> pa.Array:
        some = [make() if draw.random() < 0.8 else None for _ in range(rows)]
        return pa.array(some, kind)

    first = date(1, 1, 1).toordinal()
    last = date(9999, 12, 31).toordinal()
    moments = datetime(1800, 1, 1), datetime(2060, 1, 1)
    span = (moments[1] - moments[0]) // timedelta(milliseconds=1)
    return pa.table(
        {
            "job": ["Cook", "Cook"] * (rows // 2),
            "ill": ["x", "y"] * (rows // 2),
            "text": column(lambda: draw.choice(TEXTS), pa.string()),
            "whole": column(
                lambda: draw.randint(-(10 ** draw.randint(0, 15)), 10**15), pa.int64()
            ),
            "small": column(lambda: draw.randint(-128, 127), pa.int8()),
            "huge": column(
                lambda: Decimal(draw.randint(0, 99999)) / 100, pa.decimal128(18, 2)
            ),
            "number": column(
                lambda: draw.uniform(-1, 1) * 10.0 ** draw.randint(-300, 300),
                pa.float64(),
            ),
            "round": column(lambda: float(draw.randint(-5, 5)), pa.float64()),
            "narrow": column(lambda: draw.uniform(-9, 9), pa.float32()),
            "truth": column(lambda: draw.random() < 0.5, pa.bool_()),
            "day": column(
                lambda: date.fromordinal(draw.randint(first, last)), pa.date32()
            ),
            "moment": column(
                lambda: moments[0] + timedelta(milliseconds=draw.randint(0, span)),
                pa.timestamp("us"),
            ),
            "nothing": pa.nulls(rows, pa.string()),
        }
    )


def publish(table: pa.Table) -> pv.Release:
    """A release of which nobody is surer than one half of anything."""
    other = [c for c in table.column_names if c not in ("job", "ill", "name")]
    known = [c for c in table.column_names if c == "name"]
    source = pv.read(table, identifier=known, quasi="job", sensitive="ill", other=other)
    promise = pv.Promise(pv.Linker(knows=["job"]), pv.Ceiling("1/2"))
    return pv.publish(source, [promise])


def write(table: pa.Table, place: Path, form: str) -> Path:
    folder = place / form
    custody, accept = place / f"vault-{form}", {"ill": "nobody knows the others"}
    publish(table).write(folder, custody=custody, format=form, accept=accept)
    return folder


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    def told(value: Any) -> Any:
        return value.hex() if isinstance(value, float) else value

    columns = [c.to_pylist() for c in table.columns]
    return Counter(tuple(map(told, row)) for row in zip(*columns, strict=True))


def read_back(path: Path) -> pa.Table:
    schema, batches = read_exactly(path)
    return pa.Table.from_batches(batches, schema)


def simplify(table: pa.Table) -> pa.Table:
    """What Parquet holds, in the types that the other formats have."""
    wanted = {
        "small": pa.int64(),
        "huge": pa.float64(),
        "narrow": pa.float64(),
    }
    for name, kind in wanted.items():
        at = table.column_names.index(name)
        by_text = table[name].cast(pa.string()).cast(kind)
        table = table.set_column(at, name, by_text)
    return table


@pytest.mark.parametrize("form", FORMATS)
def test_every_value_stays_as_parquet_has_it(form: str, tmp_path: Path) -> None:
    for seed in range(CASES):
        place = tmp_path / str(seed)
        place.mkdir()
        table = random_table(seed)
        parquet = pq.read_table(write(table, place, "parquet") / "table.parquet")
        folder = write(table, place, form)
        found = read_back(folder / f"table.{form}")
        assert parquet.column_names == found.column_names
        assert rows_of(simplify(parquet)) == rows_of(found)
        assert ((), True) == ((v := pv.verify(folder)).problems, v.good)
        with pv.load(folder).table as loaded:
            assert table.num_rows == len(loaded)


def test_strangers_see_the_same_in_a_workbook(tmp_path: Path) -> None:
    table = random_table(1)
    path = write(table, tmp_path, "xlsx") / "table.xlsx"
    found = read_back(path)
    sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_name("table")
    names, *rows = sheet.to_python(skip_empty_area=False)
    assert found.column_names == names
    for name in ("job", "number", "whole", "truth"):
        at = names.index(name)
        seen = [None if row[at] == "" else row[at] for row in rows]
        expected = [
            str(v) if name == "whole" and v is not None and abs(v) >= 10**15 else v
            for v in found[name].to_pylist()
        ]
        assert expected == seen
    at, known = names.index("text"), {"\ufffe": "_xFFFE_"}  # no library undoes it
    texts = [known.get(t or "", t or "") for t in found["text"].to_pylist()]
    assert texts == [row[at] for row in rows]
    book = openpyxl.load_workbook(path)
    assert ["table", "columns"] == book.sheetnames
    assert not any(
        cell.data_type == "f" for row in book["table"].iter_rows() for cell in row
    )
    about = [tuple(row) for row in book["columns"].iter_rows(values_only=True)]
    kinds = [kind_of_values(t) for t in found.schema.types]
    assert [("column", "type"), *zip(names, kinds, strict=True)] == about


def test_strangers_see_the_same_in_statistics_packages(tmp_path: Path) -> None:
    table = random_table(2)
    for form, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        path = write(table, tmp_path, form) / f"table.{form}"
        found = read_back(path)
        frame, about = read(str(path), apply_value_formats=True)
        assert found.column_names == about.column_labels
        assert [v or "" for v in found["text"].to_pylist()] == list(frame["text"])
        days = [None if pd.isna(v) else v for v in frame["day"]]
        assert found["day"].to_pylist() == days
        truth = [None if pd.isna(v) else v == "true" for v in frame["truth"]]
        assert found["truth"].to_pylist() == truth


REFUSED: dict[str, tuple[tuple[str, ...], pa.Array, str]] = {
    "empty texts": (FORMATS, pa.array(["", "a"]), "no empty texts"),
    "NUL": (FORMATS, pa.array(["a\0b", "a"]), "without NUL"),
    "no number": (FORMATS, pa.array([math.nan, 1.0]), "finite"),
    "no end": (FORMATS, pa.array([math.inf, 1.0]), "finite"),
    "a space at the end": (("sav",), pa.array(["a ", "a"]), "end in no space"),
    "long texts": (FORMATS, pa.array(["x" * 33_000, "a"]), "texts of at most"),
    "large integers": (("sav", "dta"), pa.array([2**53 + 1, 1]), "at most 15 digits"),
    "many digits": (
        FORMATS,
        pa.array([Decimal("1234567890123456.78"), None], pa.decimal128(20, 2)),
        "up to 15 digits",
    ),
    "large numbers": (("dta",), pa.array([1e308, 1.0]), "numbers of at most"),
    "microseconds": (
        ("sav", "dta"),
        pa.array([datetime(2020, 1, 1, 0, 0, 0, 7), None], pa.timestamp("us")),
        "whole milliseconds",
    ),
    "years": (FORMATS, pa.array([-800_000, 0], pa.int32()).cast(pa.date32()), "1 to"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_a_format_would_change_is_refused(why: str, tmp_path: Path) -> None:
    forms, values, words = REFUSED[why]
    table = pa.table({"job": ["Cook"] * 2, "ill": ["x", "y"], "more": values})
    for form in forms:
        with pytest.raises(pv.InputError, match=words) as told:
            write(table, tmp_path, form)
        assert "Column 'more' must hold" in str(told.value)
        assert "Write Parquet or CSV" in str(told.value)
        assert [] == [p for p in tmp_path.rglob("*") if p.is_file()]


def test_what_is_too_much_for_a_number_of_excel_is_its_text(tmp_path: Path) -> None:
    whole = [10**15 - 1, 10**15, -(2**63), 2**63 - 1]
    moments = [datetime(1850, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1), None, None]
    table = pa.table(
        {
            "job": ["Cook"] * 4,
            "ill": ["x", "y"] * 2,
            "whole": pa.array(whole),
            "moment": pa.array(moments, pa.timestamp("us")),
        }
    )
    found = read_back(write(table, tmp_path, "xlsx") / "table.xlsx")
    assert rows_of(table) == rows_of(found)


def test_a_row_without_any_value_is_a_row(tmp_path: Path) -> None:
    path = str(tmp_path / "table.xlsx")
    batch = pa.record_batch({"a": pa.array([None, "x", None], pa.string())})
    with ExactFile(path, "xlsx", ["a"], ["text"]) as file:
        file.write_batch(batch)
    assert [None, "x", None] == read_back(Path(path))["a"].to_pylist()


def test_a_sheet_takes_a_million_rows_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privet.engine.export import excel_files

    monkeypatch.setattr(excel_files, "MOST_ROWS", 5)
    good = pa.table({"job": ["Cook"] * 4, "ill": ["x", "y"] * 2})
    assert pv.verify(write(good, tmp_path, "xlsx")).good
    (tmp_path / "more").mkdir()
    with pytest.raises(pv.InputError, match="at most 4 rows to be written as Excel"):
        write(pa.concat_tables([good, good]), tmp_path / "more", "xlsx")


@pytest.mark.parametrize("form", ["sav", "dta"])
def test_names_are_changed_by_rule_and_kept_as_labels(
    form: str, tmp_path: Path
) -> None:
    names = ["birth year", "2024", "BY", "Größe", "a" * 40, "A" * 40, "=1+1", "_all"]
    columns = {n: pa.array(["x", "y"]) for n in names}
    table = pa.table({"job": ["Cook"] * 2, "ill": ["x", "y"], **columns})
    folder = write(table, tmp_path, form)
    found = read_back(folder / f"table.{form}")
    assert table.column_names == found.column_names
    read = pyreadstat.read_sav if form == "sav" else pyreadstat.read_dta
    _, about = read(str(folder / f"table.{form}"), metadataonly=True)
    assert table.column_names == about.column_labels
    assert rename_columns(table.column_names, PACKAGES[form]) == about.column_names
    folded = {n.casefold() for n in about.column_names}
    assert len(table.column_names) == len(folded)
    assert all(len(n) <= 32 for n in about.column_names)
    assert pv.verify(folder).good


def test_names_too_long_for_a_label_are_refused(tmp_path: Path) -> None:
    table = pa.table({"job": ["Cook"] * 2, "ill": ["x", "y"], "n" * 200: ["x", "y"]})
    for form in ("sav", "dta"):
        with pytest.raises(pv.InputError, match="labels of"):
            write(table, tmp_path, form)
    assert pv.verify(write(table, tmp_path, "xlsx")).good


@pytest.mark.parametrize("form", FORMATS)
def test_private_cells_are_not_in_the_file(form: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "name": [CANARY, "b", "c", "d"],
            "job": ["Cook"] * 4,
            "ill": ["x", "y"] * 2,
        }
    )
    folder = write(table, tmp_path, form)
    for path in folder.iterdir():
        data = path.read_bytes()
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as book:
                data = b"".join(book.read(n) for n in book.namelist())
        assert CANARY.encode() not in data


# What others made -------------------------------------------------------------------


def swap_parts(folder: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Change the parts of a workbook, and what the manifest says of it."""
    path = folder / "table.xlsx"
    with zipfile.ZipFile(path) as book:
        parts = {n: book.read(n) for n in book.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in parts.items():
            book.writestr(name, data)
    hostile.restate_file(folder)


SHEET = "xl/worksheets/sheet1.xml"


def in_sheet(old: bytes, new: bytes) -> Callable[[dict[str, bytes]], object]:
    def change(parts: dict[str, bytes]) -> None:
        assert old in parts[SHEET]
        parts[SHEET] = parts[SHEET].replace(old, new, 1)

    return change


SPOILT: dict[str, Callable[[dict[str, bytes]], object]] = {
    "another part": lambda p: p.update({"xl/vault.xml": b"Anna has it"}),
    "a part less": lambda p: p.pop("xl/styles.xml"),
    "a formula": in_sheet(b"<is><t", b"<f>1+1</f><is><t"),
    "a far cell": in_sheet(b'<row r="2"><c r="A2"', b'<row r="2"><c r="XFD1048576"'),
    "rows out of order": in_sheet(b'<row r="2">', b'<row r="9999999">'),
    "a comment": in_sheet(b"<sheetData>", b"<sheetData><!-- Anna -->"),
    "entities": in_sheet(b">Cook<", b">&#67;ook<"),
    "rows after the end": in_sheet(
        b"</sheetData>", b'</sheetData><row r="9"></row><c r="A9"/>'
    ),
    "a bomb": lambda p: p.update({SHEET: p[SHEET] + b" " * 2**25}),
    "no end": lambda p: p.update({SHEET: p[SHEET].partition(b"</sheetData>")[0]}),
    "no UTF-8": in_sheet(b">Cook<", b">\xff\xfe<"),
    "a large theme": lambda p: p.update({"xl/theme/theme1.xml": b" " * 2**17}),
    "other types": lambda p: p.update(
        {
            "xl/worksheets/sheet2.xml": p["xl/worksheets/sheet2.xml"].replace(
                b">text<", b">date<", 1
            )
        }
    ),
}


def refuse(folder: Path) -> str:
    """Verify says what is wrong in words, and nothing opens it."""
    done = CliRunner().invoke(cli, ["verify", str(folder)])
    assert 1 == done.exit_code, done.output
    assert "Traceback" not in done.output
    with pytest.raises(pv.InputError):
        pv.load(folder)
    return done.output


TABLE = pa.table(
    {"job": ["Cook", "Smith"] * 4, "ill": ["x", "x", "y", "y"] * 2, "n": range(8)}
)


@pytest.mark.forgeries
@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_workbook_is_refused(how: str, tmp_path: Path) -> None:
    folder = write(TABLE, tmp_path, "xlsx")
    swap_parts(folder, SPOILT[how])
    assert "must be an Excel file as privet writes it" in refuse(folder)


def test_a_forged_cell_is_recounted(tmp_path: Path) -> None:
    folder = write(TABLE, tmp_path, "xlsx")

    def all_ill(parts: dict[str, bytes]) -> None:
        parts[SHEET] = parts[SHEET].replace(b">y<", b">x<")

    swap_parts(folder, all_ill)
    assert "Excel file" not in refuse(folder)


def more_said(form: str, frame: pl.DataFrame, path: str) -> None:
    labels = dict(zip(frame.columns, frame.columns, strict=True))
    if form == "sav":
        pyreadstat.write_sav(frame, path, column_labels=labels, note="Anna has it")
    else:
        pyreadstat.write_dta(frame, path, column_labels=labels, file_label="Anna")


def labelled(form: str, frame: pl.DataFrame, path: str) -> None:
    labels = dict(zip(frame.columns, frame.columns, strict=True))
    save = pyreadstat.write_sav if form == "sav" else pyreadstat.write_dta
    save(frame, path, column_labels=labels, variable_value_labels={"n": {1: "Anna"}})


def renamed(form: str, frame: pl.DataFrame, path: str) -> None:
    save = pyreadstat.write_sav if form == "sav" else pyreadstat.write_dta
    save(frame, path, column_labels={"job": "ill", "ill": "job", "n": "n"})


def cut_short(form: str, frame: pl.DataFrame, path: str) -> None:
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) * 3 // 4])


def packed(form: str, frame: pl.DataFrame, path: str) -> None:
    pyreadstat.write_sav(frame, path, compress=True)


def noise(form: str, frame: pl.DataFrame, path: str) -> None:
    Path(path).write_bytes(b"$FL2" + bytes(range(256)) * 20)


@pytest.mark.forgeries
@pytest.mark.parametrize("form", ["sav", "dta"])
@pytest.mark.parametrize(
    "harm", [more_said, labelled, renamed, cut_short, packed, noise]
)
def test_a_spoilt_file_of_statistics_is_refused(
    form: str, harm: Callable[[str, pl.DataFrame, str], None], tmp_path: Path
) -> None:
    folder = write(TABLE, tmp_path, form)
    harm(form, pl.from_arrow(TABLE), str(folder / f"table.{form}"))  # type: ignore[arg-type]
    hostile.restate_file(folder)
    refuse(folder)


@pytest.mark.parametrize("form", FORMATS)
def test_bytes_that_were_changed_give_words(form: str, tmp_path: Path) -> None:
    folder = write(TABLE, tmp_path, form)
    path = folder / f"table.{form}"
    good, draw = path.read_bytes(), random.Random(7)
    for _ in range(3 * CASES):
        data = bytearray(good)
        for _ in range(draw.choice([1, 4, 30])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        hostile.restate_file(folder)
        found = pv.verify(folder)
        assert found.good or found.problems


# Commands ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_commands_write_and_verify_it(form: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("job,ill\n" + "Cook,x\nCook,y\n" * 3)
    (tmp_path / "p.toml").write_text(
        '[columns]\nquasi = ["job"]\nsensitive = ["ill"]\n'
        '[[promise]]\nagainst = "linker"\nat_most = "1/2"\n'
    )
    words = ["publish", str(tmp_path / "people.csv"), "-p", str(tmp_path / "p.toml")]
    out = tmp_path / "out" / f"people.{form}"
    out.parent.mkdir()
    places = ["-o", str(out), "--custody", str(tmp_path / "vault")]
    done = CliRunner().invoke(cli, [*words, *places])
    assert 0 == done.exit_code, done.output
    assert out.is_file()
    assert 0 == CliRunner().invoke(cli, ["verify", str(out.parent)]).exit_code


@pytest.mark.parametrize("form", FORMATS)
def test_disguised_rows_are_written_so(form: str, tmp_path: Path) -> None:
    answers = pv.read(pa.table({"smokes": [0, 1, 1, 0] * 5, "job": ["a", "b"] * 10}))
    design = pv.Design(
        [pv.Question("smokes", ["0", "1"]), pv.Question("job", ["a", "b"])],
        [pv.Group("smokes", pv.KAry("3/4")), pv.Group("job", pv.KAry("3/4"))],
    )
    policy = pv.Policy([pv.Promise(pv.Bayesian(), pv.Ratio("9"), about="smokes")])
    found = pv.disguise(
        answers,
        design,
        tmp_path / "told",
        custody=tmp_path / "kept",
        policy=policy,
        format=form,
    )
    assert 20 == found.manifest["files"][0]["rows"]
    assert pv.verify(tmp_path / "told").good
    found.close()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "method",
    [
        pv.Mondrian(ranges="columns", hidden="null"),
        pv.TopDownDisclosure(hidden="null", ordered=()),
    ],
    ids=["ranges", "hidden"],
)
def test_ends_of_ranges_and_empty_cells_have_types(
    method: Any, form: str, tmp_path: Path
) -> None:
    days = [date(1980, 1, 1 + i % 8) for i in range(24)]
    rows = {"age": [31 + i % 6 for i in range(24)], "born": days}
    rows |= {"ill": [("flu", "HIV", "cold")[i * i % 3] for i in range(24)]}
    table = pv.read(pa.table(rows), quasi=["age", "born"], sensitive="ill")
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/4"), {"ill": "HIV"})
    release = pv.publish(table, promise, method=method)
    release.write(tmp_path / "out", custody=tmp_path / "kept", format=form)
    assert pv.verify(tmp_path / "out").good
    (file,) = (tmp_path / "out").glob(f"*.{form}")
    schema, _ = read_exactly(file)
    kinds = {kind_of_values(f.type) for f in schema if f.name.startswith("age")}
    assert {"integer"} == kinds


@pytest.mark.parametrize("form", FORMATS)
def test_lists_are_written_as_json_has_them(form: str, tmp_path: Path) -> None:
    sets = [["flu"], ["HIV", "flu"], ["cold, bad"], [], ["flu"], ["[x]"]]
    rows = {"job": ["Cook"] * 12, "ill": sets * 2}
    kinds = {"job": pa.string(), "ill": pa.list_(pa.string())}
    people = pa.table({c: pa.array(v, kinds[c]) for c, v in rows.items()})
    table = pv.read(people, quasi="job", sensitive="ill")
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "HIV"})
    release = pv.publish(table, promise)
    release.write(tmp_path / "out", custody=tmp_path / "kept", format=form)
    found = pv.verify(tmp_path / "out")
    assert found.good, found.problems
    (file,) = (tmp_path / "out").glob(f"*.{form}")
    _, batches = read_exactly(file)
    texts = {row["ill"] for batch in batches for row in batch.to_pylist()}
    assert {'["flu"]', '["HIV","flu"]', '["cold, bad"]', "[]", '["[x]"]'} == texts
