"""Spreadsheets: sheets of .xlsx, .xlsb, .xls and .ods files, read by calamine.

Cells have types. A column keeps its type if all of its cells have it; else it is text.
"""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from privet.engine.sources.header_line import MOST_RECORDS, decide_header, fill_names
from privet.engine.sources.reader_process import Records
from privet.engine.sources.sheet_formulas import count_open_formulas
from privet.engine.sources.source import TextOptions, refuse_twice
from privet.errors import EmptyTable, InputError, suggest_names

ROWS = 20_000
"""Rows that are looked at together."""

MOST_CELLS = 1 << 31
"""Cells of a sheet: more than this no table of people has."""

NUMBERS, DAYS = frozenset({int, float}), frozenset({dt.date, dt.datetime})

Row = Sequence[Any]


def read_records(request: Mapping[str, Any]) -> Records:
    """The rows of one sheet."""
    from python_calamine import CalamineError, CalamineWorkbook

    called = repr(request["called"])
    _refuse_bomb(request["path"], request["memory"], called)
    try:
        book = CalamineWorkbook.from_path(request["path"])
        sheet = _find_sheet(book, request.get("table"), called)
    except (CalamineError, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        sheet = None
    if sheet is None:
        raise InputError(
            f"File {called} must be a spreadsheet that can be read; it is damaged, "
            "locked by a password, or none."
        )
    return _read_sheet(sheet, request, called)


def _refuse_bomb(path: str, memory: int, called: str) -> None:
    """A packed file whose contents do not fit into memory is not unpacked at all."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(i.file_size for i in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return
    if size > memory:
        raise InputError(
            f"File {called} must fit into memory when it is unpacked; it does not. "
            "Raise memory_limit, or save it as CSV."
        )


def _find_sheet(book: Any, wanted: str | None, called: str) -> Any:
    names = list(book.sheet_names)
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"Sheet {wanted!r} must exist in {called}. "
                f"{suggest_names(wanted, names)}"
            )
        return book.get_sheet_by_name(wanted)
    sheets = [book.get_sheet_by_name(name) for name in names]
    filled = [sheet for sheet in sheets if sheet.height > 0]
    if len(filled) > 1:
        raise InputError(
            f"table must name one sheet of {called}, since several hold rows. "
            f"{suggest_names('', [s.name for s in filled])}"
        )
    if not filled:
        raise EmptyTable(f"A table must have rows; {called} has none.")
    return filled[0]


def _read_sheet(sheet: Any, request: Mapping[str, Any], called: str) -> Records:
    if sheet.height * sheet.width > MOST_CELLS:
        raise InputError(
            f"A sheet of {called} must have fewer than {MOST_CELLS:,} cells."
        )
    first = [list(map(spell, row)) for row in islice(_list_rows(sheet), MOST_RECORDS)]
    if not first:
        raise EmptyTable(f"A table must have rows; {called} has none.")
    text = TextOptions(header=request.get("header"), names=request.get("names"))
    header = decide_header(first, text, request["called"])
    names = fill_names(first[0], text, called, header=header)
    refuse_twice(names, called)
    _refuse_merged(sheet, called)
    _refuse_open_formulas(request["path"], sheet.name, called)
    skip = 1 if header else 0
    kinds = _find_kinds(islice(_list_rows(sheet), skip, None), len(names))
    fields = [pa.field(f"c{i}", TYPES[kind]) for i, kind in enumerate(kinds)]
    schema = pa.schema(fields)
    rows = islice(_list_rows(sheet), skip, None)
    return Records(
        tuple(names),
        schema,
        _make_batches(rows, kinds, schema),
        tuple(i for i, kind in enumerate(kinds) if kind == "text"),
    )


def _refuse_merged(sheet: Any, called: str) -> None:
    """Cells merged over rows: all rows but the first would seem to have no value."""
    ranges = sheet.merged_cell_ranges or ()
    if merged := sum(first[0] < last[0] for first, last in ranges):
        raise InputError(
            f"A sheet of {called} must have a cell for each row; number of cells that "
            f"are merged with others below them: {merged}. Unmerge and fill them."
        )


def _refuse_open_formulas(path: str, sheet: str, called: str) -> None:
    """Formulas without a result: their cells would seem to have no value."""
    if several := count_open_formulas(path, sheet):
        raise InputError(
            f"Formulas of {called} must have been worked out; number of those without "
            f"a result: {several}. Open the file in a spreadsheet program and save it."
        )


def _list_rows(sheet: Any) -> Iterator[Row]:
    """The rows that have a cell."""
    return (row for row in sheet.iter_rows() if row.count("") < len(row))


# Types ------------------------------------------------------------------------------

TYPES = {
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "text": pa.large_string(),
}
"""What cells become."""


def _find_kinds(rows: Iterator[Row], width: int) -> list[str]:
    """What all cells of each column have in common."""
    found: list[set[type]] = [set() for _ in range(width)]
    texts = [False] * width
    while some := list(islice(rows, ROWS)):
        for i, cells in enumerate(zip(*some, strict=True)):
            own = set(map(type, cells))
            texts[i] = texts[i] or (str in own and _has_text(cells))
            found[i] |= own
    return [
        _name_kind(types - {str}, text)
        for types, text in zip(found, texts, strict=True)
    ]


def _has_text(cells: Sequence[Any]) -> bool:
    return any(type(cell) is str and cell for cell in cells)


def _name_kind(types: set[type], text: bool) -> str:
    if text or not types:
        return "text"
    if types <= NUMBERS:
        return "number"
    if types == {bool}:
        return "boolean"
    if types <= DAYS:
        return "date" if types == {dt.date} else "datetime"
    return "text"


def spell(cell: Any) -> str:
    """A cell as text; nothing where it is empty.

    >>> spell(39.0), spell(1.5), spell(True), spell(dt.date(2020, 1, 31))
    ('39', '1.5', 'true', '2020-01-31')
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def _as_datetime(cell: Any) -> Any:
    if isinstance(cell, dt.date) and not isinstance(cell, dt.datetime):
        return dt.datetime(cell.year, cell.month, cell.day)
    return cell


CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "text": spell,
    "datetime": _as_datetime,
    "number": float,
}
"""How cells become values of a kind, where they are not already."""


def _make_batches(
    rows: Iterator[Row], kinds: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    while some := list(islice(rows, ROWS)):
        columns = [
            _make_column(cells, kind)
            for cells, kind in zip(zip(*some, strict=True), kinds, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _make_column(cells: Sequence[Any], kind: str) -> pa.Array:
    convert = CONVERT.get(kind)
    if convert is None:
        values = [None if cell == "" else cell for cell in cells]
    else:
        values = [None if cell == "" else convert(cell) for cell in cells]
    return pa.array(values, TYPES[kind], from_pandas=False)
