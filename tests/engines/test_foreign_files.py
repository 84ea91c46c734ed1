"""Files of other programs, written by their own libraries, read through the door."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
import sqlite3
import tempfile
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest
import xlsxwriter

import privet as pv
from engines.tables import cells
from privet.engine.sources import sheet_formulas

pytestmark = pytest.mark.engines

JOBS = ["Cook", "Cook", "Köchin", None, "Smith"]
AGES = [39, 40, None, 39, 51]
BORN = [dt.date(1980, 12, 3), None, dt.date(1990, 1, 31), dt.date(1980, 12, 3)]
BORN += [dt.date(2000, 2, 29)]
ILL = ["flu", "flu", "HIV", "flu", None]
EXPECTED = {
    ("Cook", "39", "1980-12-03", "flu"): 1,
    ("Cook", "40", None, "flu"): 1,
    ("Köchin", None, "1990-01-31", "HIV"): 1,
    (None, "39", "1980-12-03", "flu"): 1,
    ("Smith", "51", "2000-02-29", None): 1,
}
NAMES = ("job", "age", "born", "ill")
ROWS = list(zip(JOBS, AGES, BORN, ILL, strict=True))
FRAME = pd.DataFrame(ROWS, columns=list(NAMES))


def write_openpyxl(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(list(NAMES))
    for row in ROWS:
        book.active.append(list(row))
    book.create_sheet("empty")
    book.save(path)


def write_xlsxwriter(path: Path) -> None:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("people")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, NAMES)
        for i, row in enumerate(ROWS, start=1):
            for j, cell in enumerate(row):
                if isinstance(cell, dt.date):
                    sheet.write_datetime(i, j, cell, day)
                elif cell is not None:
                    sheet.write(i, j, cell)


ODS = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">'
    '<office:body><office:spreadsheet><table:table table:name="people">{}'
    "</table:table></office:spreadsheet></office:body></office:document-content>"
)
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def write_ods(path: Path) -> None:
    """As small as such a file can be."""

    def write_cell(cell: object) -> str:
        if cell is None:
            return "<table:table-cell/>"
        kind = {int: "float", dt.date: "date"}.get(type(cell), "string")
        value = {"float": "value", "date": "date-value"}.get(kind)
        told = f' office:{value}="{cell}"' if value else ""
        return (
            f'<table:table-cell office:value-type="{kind}"{told}>'
            f"<text:p>{cell}</text:p></table:table-cell>"
        )

    lines = "".join(
        f"<table:table-row>{''.join(map(write_cell, row))}</table:table-row>"
        for row in (NAMES, *ROWS)
    )
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:'
        f'manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{ODS_TYPE}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", ODS_TYPE)
        archive.writestr("content.xml", ODS.format(lines))
        archive.writestr("META-INF/manifest.xml", manifest)


def write_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE people (job TEXT, age INT, born DATE, ill TEXT)")
        rows = [(j, a, b and str(b), i) for j, a, b, i in ROWS]
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    database.close()


def write_feather(path: Path, **how: Any) -> None:
    table = pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in ROWS])
    pyarrow.feather.write_feather(table, path, **how)


def write_stream(path: Path) -> None:
    table = pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in ROWS])
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


def as_csv() -> str:
    lines = (",".join("" if c is None else str(c) for c in row) for row in ROWS)
    return "\n".join([",".join(NAMES), *lines]) + "\n"


def as_objects() -> list[dict[str, Any]]:
    rows = (dict(zip(NAMES, row, strict=True)) for row in ROWS)
    return [{k: str(v) if k == "born" and v else v for k, v in r.items()} for r in rows]


def write_zip(path: Path, name: str = "in/people.csv", text: str | None = None) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/readme.md", "nothing")
        archive.writestr("__MACOSX/in/._people.csv", "x")
        archive.writestr(name, as_csv() if text is None else text)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "openpyxl.xlsx": write_openpyxl,
    "xlsxwriter.xlsx": write_xlsxwriter,
    "people.ods": write_ods,
    "people.sav": lambda p: pyreadstat.write_sav(FRAME, p),
    "people.zsav": lambda p: pyreadstat.write_sav(FRAME, p, compress=True),
    "people.por": lambda p: pyreadstat.write_por(FRAME.replace("Köchin", "Kochin"), p),
    "people.dta": lambda p: pyreadstat.write_dta(FRAME, p),
    "people.xpt": lambda p: pyreadstat.write_xport(FRAME, p, file_format_version=8),
    "people.sqlite": write_sqlite,
    "people.db": write_sqlite,
    "people.feather": write_feather,
    "people.arrow": lambda p: write_feather(p, compression="uncompressed"),
    "people.ipc": write_stream,
    "people.json": lambda p: p.write_text(json.dumps(as_objects(), indent=1)),
    "people.csv.bz2": lambda p: p.write_bytes(bz2.compress(as_csv().encode())),
    "people.csv.xz": lambda p: p.write_bytes(lzma.compress(as_csv().encode())),
    "people.zip": write_zip,
    "people.csv.zip": write_zip,
    "list.zip": lambda p: write_zip(p, "a.json", json.dumps(as_objects())),
    "lines.zip": lambda p: write_zip(
        p, "a.jsonl", "\n".join(map(json.dumps, as_objects()))
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_formats(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[name](tmp_path / name)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pv.read(tmp_path / name) as table:
        names = table.schema.names
        found = cells(table, names[:-1], names[-1])
        assert len(ROWS) == len(table)
        kinds = [table.domains([n])[n].kind for n in names]
        assert ["text", "integer", "date", "text"] == kinds
    assert NAMES == tuple(n.lower() for n in names)
    expected = {
        tuple("Kochin" if v == "Köchin" and name.endswith("por") else v for v in key): n
        for key, n in EXPECTED.items()
    }
    assert expected == found
    assert not [p for p in scratch.rglob("*") if p.suffix == ".parquet"]


# Spreadsheets -----------------------------------------------------------------------


def save_sheet(path: Path, rows: list[list[Any]], **more: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in rows:
        book.active.append(row)
    for name, others in more.items():
        sheet = book.create_sheet(name)
        for row in others:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_asked_for(tmp_path: Path) -> None:
    path = save_sheet(
        tmp_path / "t.xlsx", [["a", "b"], ["x", 1]], other=[["c", "d"], ["y", 2]]
    )
    with pytest.raises(pv.InputError, match=r"table must name one sheet.*first.*other"):
        pv.read(path)
    with pytest.raises(pv.InputError, match=r"Sheet 'othr' must exist.*'other'"):
        pv.read(path, table="othr")
    with pv.read(path, table="other") as table:
        assert ("c", "d") == table.schema.names


def test_columns_of_several_types_are_text(tmp_path: Path) -> None:
    rows = [
        ["a", "b", "c", "d"],
        [1, True, 1.5, dt.datetime(2020, 1, 1, 12, 30)],
        ["x", False, 2, dt.datetime(2020, 1, 2)],
        [None, None, None, None],
        [2.5, None, None, None],
    ]
    with pv.read(save_sheet(tmp_path / "t.xlsx", rows)) as table:
        assert 3 == len(table)
        kinds = [c.kind for c in table.schema.columns]
        assert ["text", "boolean", "number", "datetime"] == kinds
        assert ["1", "2.5", "x"] == list(table.domains(["a"])["a"].labels)


def test_a_sheet_without_a_header_is_asked(tmp_path: Path) -> None:
    path = save_sheet(tmp_path / "t.xlsx", [["Cook", 31], ["Cook", 40], ["Smith", 52]])
    with pytest.raises(pv.InputError, match="must be known to name columns") as caught:
        pv.read(path)
    assert "Cook" not in str(caught.value)
    with pv.read(path, names=["job", "age"]) as table:
        assert 3 == len(table)
    with pv.read(path, header=False) as table:
        assert ("column1", "column2") == table.schema.names
    with pytest.raises(pv.InputError, match="delimiter must be left out"):
        pv.read(path, delimiter=";")


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
@pytest.mark.parametrize(
    "above", [[["Patients of 2020"], []], [["who", None, "what"]]], ids=["title", "two"]
)
def test_a_title_above_the_names_is_asked(
    above: list[list[Any]], ending: str, tmp_path: Path
) -> None:
    rows = [*above, ["job", "age", "ill"], ["Cook", 39, "flu"], ["Smith", 40, "HIV"]]
    place = tmp_path / f"people.{ending}"
    if ending == "xlsx":
        save_sheet(place, rows)
    else:
        full = [[*row, *[None] * (3 - len(row))] for row in rows]
        pd.DataFrame(full).to_csv(place, index=False, header=False)
    with pytest.raises(pv.InputError, match="must name all columns") as told:
        len(pv.read(place))
    assert "Patients" not in str(told.value)
    with pv.read(place, header=True) as table:
        assert "column2" in table.schema.names


def test_numbers_of_rows_need_no_name(tmp_path: Path) -> None:
    FRAME.to_excel(tmp_path / "people.xlsx")
    with pv.read(tmp_path / "people.xlsx") as table:
        assert ("column1", *NAMES) == tuple(table.schema.names)


def test_merged_cells_are_refused(tmp_path: Path) -> None:
    place = save_sheet(tmp_path / "people.xlsx", [["job", "ill"], ["Cook", "flu"]])
    book = openpyxl.load_workbook(place)
    book.active.append([None, "HIV"])
    book.active.merge_cells("A2:A3")
    book.save(place)
    with pytest.raises(pv.InputError, match="merged with others below them: 1") as told:
        len(pv.read(place))
    assert "Cook" not in str(told.value)


def test_formulas_without_a_result_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As openpyxl leaves them: the cell would seem to be missing."""
    place = tmp_path / "people.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "Notes & more"
    people = book.create_sheet("People")
    rows = [["job", "pay"], ["Cook", 10], ["Judge", "=B2*2"], ["Clerk", "=B3+1"]]
    for row in rows:
        people.append(row)
    book.save(place)
    with pytest.raises(pv.InputError, match="without a result: 2") as told:
        len(pv.read(place, table="People"))
    assert "B2" not in str(told.value)
    for piece in (1, 7, 100):  # wherever the file is cut
        monkeypatch.setattr(sheet_formulas, "PIECE", piece)
        assert 2 == sheet_formulas.count_open_formulas(str(place), "People")
    book.active.append(["a"])
    book.active.append([1])
    book.save(place)
    with pv.read(place, table="Notes & more", header=True) as table:
        assert 1 == len(table)


def test_formulas_with_a_result_are_read(tmp_path: Path) -> None:
    place = tmp_path / "people.xlsx"
    book = xlsxwriter.Workbook(str(place))
    sheet = book.add_worksheet()
    for i, row in enumerate([["job", "pay"], ["Cook", 10]]):
        sheet.write_row(i, 0, row)
    sheet.write_formula(2, 0, "=A2", None, "Cook")
    sheet.write_formula(2, 1, "=B2*2", None, 20)
    book.close()
    with pv.read(place) as table:
        assert ["10", "20"] == list(table.domains(["pay"])["pay"].labels)


# Statistics packages ----------------------------------------------------------------


def test_labels_are_shown_and_missing_codes_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sex": [1.0, 2, 2, 9], "income": [10.5, -99, 20, 30]})
    pyreadstat.write_sav(
        frame,
        tmp_path / "t.sav",
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={
            "sex": {1: "male", 2: "female", 9: "not asked"},
            "income": {-99: "refused"},
        },
        missing_ranges={"sex": [9], "income": [{"lo": -99, "hi": -90}]},
    )
    with pv.read(tmp_path / "t.sav") as table:
        assert [None, "female", "male"] == list(table.domains(["sex"])["sex"].labels)
        income = table.domains(["income"])["income"]
        assert ("number", [None, "10.5", "20.0", "30.0"]) == (
            income.kind,
            list(income.labels),
        )
        assert {"sex": "Sex of the person"} == dict(table.source.labels)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_codes_with_one_label_stay_two_values(ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4, 5], "b": [1, 1, 1, 1, 1]})
    labels = {"a": {1: "yes", 2: "yes", 3: "4", 5: "no"}}
    write = getattr(pyreadstat, f"write_{ending}")
    write(frame, tmp_path / f"x.{ending}", variable_value_labels=labels)
    with pv.read(tmp_path / f"x.{ending}") as table:
        found = set(table.domains(["a"])["a"].labels)
    assert {"yes (1)", "yes (2)", "4", "4 (4)", "no"} == found


def test_times_of_the_day_do_not_hide_in_dates(tmp_path: Path) -> None:
    times = [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 18)]
    frame = pd.DataFrame({"t": times, "ill": ["flu", "HIV"]})
    pyreadstat.write_sav(frame, tmp_path / "x.sav", variable_format={"t": "DATE11"})
    with pytest.raises(pv.InputError, match="'t' must hold whole days"):
        len(pv.read(tmp_path / "x.sav"))
    pyreadstat.write_sav(frame, tmp_path / "y.sav", variable_format={"t": "DATETIME20"})
    with pv.read(tmp_path / "y.sav") as table:
        assert 2 == len(table.domains(["t"])["t"])


@pytest.mark.parametrize(
    ("span", "first"),
    [
        ("tw", ["1959-12-24", "2020-02-26"]),
        ("tm", ["1959-12-01", "2020-02-01"]),
        ("tq", ["1959-10-01", "2020-01-01"]),
        ("th", ["1959-07-01", "2020-01-01"]),
    ],
)
def test_months_of_stata_are_their_first_days(
    tmp_path: Path, span: str, first: list[str]
) -> None:
    """pandas wrote them, and reads them so; they were the numbers that count them."""
    moments = pd.to_datetime(["1959-12-27", "2020-02-29", None])
    path, frame = tmp_path / "t.dta", pd.DataFrame({"at": moments})
    frame.to_stata(path, write_index=False, convert_dates={"at": span})
    assert first == [str(d.date()) for d in pd.read_stata(path)["at"].dropna()]
    with pv.read(path) as table:
        found = table.domains(["at"])["at"]
    assert ("date", [None, *first]) == (found.kind, list(found.labels))


def test_leap_seconds_of_stata_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"at": [1e12, 2e12]})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format={"at": "%tC"})
    with pytest.raises(pv.InputError, match=r"'at' must count times .* cofC"):
        pv.read(tmp_path / "t.dta")


def test_letters_of_stata_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1, 2, "a", "z"], "y": [1, 1, 1, 1]})
    pyreadstat.write_dta(
        frame,
        tmp_path / "t.dta",
        missing_user_values={"x": ["a", "z"]},
        variable_value_labels={"x": {"a": "refused"}},
    )
    with pv.read(tmp_path / "t.dta") as table:
        assert {("1", "1"): 1, ("2", "1"): 1, (None, "1"): 2} == cells(
            table, ["x"], "y"
        )


def test_more_rows_than_are_read_together(tmp_path: Path) -> None:
    many = 1_000_007
    pyreadstat.write_sav(pd.DataFrame({"x": range(many)}), tmp_path / "t.sav")
    with pv.read(tmp_path / "t.sav") as table:
        assert many == len(table)
        assert many == len(table.domains(["x"])["x"])


# SQLite -----------------------------------------------------------------------------


def test_bytes_beside_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE people (job, ill)")
        rows = [("Cook", "flu"), ("Judge", b"HIV")]
        database.executemany("INSERT INTO people VALUES (?, ?)", rows)
    with pytest.raises(pv.InputError, match="'ill' must hold bytes, or none") as told:
        len(pv.read(path, table="people"))
    assert "flu" not in str(told.value)


def test_tables_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE one (a, b)")
        database.execute('CREATE TABLE "other" (a, "b ""c")')
        database.executemany("INSERT INTO one VALUES (?, ?)", [(None, None)] * 3000)
        database.execute("INSERT INTO one VALUES (1, 2.5), ('x', 3)")
        database.execute("INSERT INTO other VALUES (x'ff', 1)")
    database.close()
    with pytest.raises(pv.InputError, match=r"table must name.*one.*other"):
        pv.read(path)
    with pytest.raises(pv.InputError, match="Table 'on' must exist"):
        pv.read(path, table="on")
    with pv.read(path, table="one") as table:
        assert {(None, None): 3000, ("1", "2.5"): 1, ("x", "3.0"): 1} == cells(
            table, ["a"], "b"
        )
    with pv.read(path, table="other") as table:
        assert {("FF", "1"): 1} == cells(table, ["a"], 'b "c')


# Encodings --------------------------------------------------------------------------

TEXT = "name;ort\nMüller;Köln\nJäger;Lübeck\nWeiß;Gießen\n"


@pytest.mark.parametrize(
    ("encoding", "text", "told"),
    [
        ("cp1252", TEXT, "cp1252"),
        ("mac-roman", TEXT, "mac-roman"),
        ("utf-16-be", TEXT, "utf-16-be"),
        ("cp1251", "имя;город\nИван;Москва\nМария;Казань\n", "cp1251"),
        ("cp1250", "imie;miasto\nŁukasz;Łódź\nMałgorzata;Kraków\n", "cp1250"),
    ],
)
def test_encodings_are_told(
    encoding: str, text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    with pytest.warns(pv.PrivacyWarning, match=f"read as {told}"):
        table = pv.read(path)
    with table:
        assert told == table.source.text.to_dict()["encoding"]
        rows = [tuple(line.split(";")) for line in text.splitlines()]
        names = table.schema.names
        assert rows[0] == names
        assert dict.fromkeys(rows[1:], 1) == cells(table, names[:1], names[1])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_says_the_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((TEXT + "Zoë 😀;Bonn\n").encode(encoding))
    with pv.read(path) as table:
        assert ("name", "ort") == table.schema.names
        assert 4 == len(table)
        assert "Zoë 😀" in list(table.domains(["name"])["name"].labels)


def test_two_encodings_that_fit_are_asked(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("név;város\nÁgnes;Győr\nLászló;Eger\n".encode("cp1250"))
    with pytest.raises(pv.InputError, match=r"--encoding.*cp1252, cp1250") as caught:
        pv.read(path)
    assert "Eger" not in str(caught.value)
    with pv.read(path, encoding="cp1250") as table:
        assert {("Ágnes", "Győr"): 1, ("László", "Eger"): 1} == cells(
            table, ["név"], "város"
        )


def test_a_letter_far_below_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    text = "name,ort\n" + "Meier,Bonn\n" * 200_000 + "Müller,Köln\n"
    path.write_bytes(gzip.compress(text.encode("cp1252")))
    with pytest.warns(pv.PrivacyWarning, match="read as cp1252"):
        table = pv.read(path)
    with table:
        assert {("Meier", "Bonn"): 200_000, ("Müller", "Köln"): 1} == cells(
            table, ["name"], "ort"
        )


def test_a_wrong_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\nx,1\n" + "\u0416\n".encode("cp1251") * 3)
    with pytest.raises(pv.InputError, match="must be euc_jp text"):
        pv.read(path, encoding="euc_jp")


# Broken and hostile files -----------------------------------------------------------


CUT = ("xlsxwriter.xlsx", "people.sav", "people.dta", "people.sqlite", "list.zip")
CUT += (
    "people.feather",
    "people.ipc",
    "people.json",
    "people.csv.bz2",
    "people.csv.xz",
)


@pytest.mark.parametrize("name", CUT)
def test_a_file_that_is_cut_short_is_refused(name: str, tmp_path: Path) -> None:
    whole, path = tmp_path / f"whole-{name}", tmp_path / name
    WRITERS[name](whole)
    data = whole.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(pv.PrivetError) as caught, pv.read(path) as table:
        len(table)
    assert "Smith" not in str(caught.value)


@pytest.mark.parametrize("ending", ["xls", "sas7bdat", "sqlite"])
def test_a_file_that_is_something_else_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"job,ill\nCook,flu\n" * 100)
    with pytest.raises(pv.InputError, match=f"'t.{ending}|t.{ending}'"):
        pv.read(path)


def test_a_bomb_ends_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,b\n" + "0,0\n" * 5_000_000)
    with pytest.raises(pv.InputError, match="Raise spill_limit"):
        pv.read(path, spill_limit="2MB")


def test_a_line_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"a" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(pv.InputError, match="its first line is not, or is too"):
            pv.read(tmp_path / "t.csv.gz")
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()


def test_members_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
        archive.writestr("b.csv", "z,y\n1,2\n")
    with pytest.raises(pv.InputError, match=r"table must name one file.*a.csv.*b.csv"):
        pv.read(path)
    with pytest.raises(pv.InputError, match=r"File 'c.csv' must exist"):
        pv.read(path, table="c.csv")
    with pv.read(path, table="b.csv") as table:
        assert ("z", "y") == table.schema.names


def test_nothing_runs_on(tmp_path: Path) -> None:
    write_xlsxwriter(tmp_path / "t.xlsx")
    write_zip(tmp_path / "t.zip")
    for name in ("t.xlsx", "t.zip"):
        with pv.read(tmp_path / name) as table:
            some = table.meant_by({"ill": ["flu"]})
            assert 3 == len(some)
        with some:
            assert 3 == len(some)
    assert not [t for t in threading.enumerate() if t.name == "privet-feeder"]


def test_a_missing_extra_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_xlsxwriter(tmp_path / "t.xlsx")
    monkeypatch.setattr(
        "privet.engine.sources.foreign_files.find_spec", lambda package: None
    )
    with pytest.raises(pv.MissingExtra, match=r"privet\[files\]"):
        pv.read(tmp_path / "t.xlsx")
