"""Excel workbooks: written row by row, and read again as strictly as they are written.

The first sheet is the table, the second one says what each column holds. Texts are
texts, never formulas. A number is written with every digit it has; what a number of
Excel cannot hold, such as a day of 1850 or an integer of 17 digits, stands in its cell
as a text. Reading takes nothing but what is written here: no other sheet, no formula,
no part that somebody could hide something in; and never more than some rows at a time.
"""

from __future__ import annotations

import codecs
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from privet.engine.export.exact_files import DAY, INSTEAD, Batches
from privet.engine.export.file_kinds import KINDS, ROWS
from privet.errors import InputError, MissingExtra

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767
"""What a sheet may have: rows, the header included; columns; and letters of a cell."""

MOST_WHOLE = 10**15
"""Integers from here on are changed by Excel."""

EPOCH, FIRST_SERIAL = 25_569, 61
"""The day 1970-01-01, and 1900-03-01: before that, Excel counts otherwise."""

SHEETS = ("table", "columns")
HEADER = ("column", "type")

FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "integer": "0"}
"""How Excel shows numbers of a kind."""


def _require_xlsxwriter() -> Any:
    try:
        import xlsxwriter  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra(
            "Excel files need the extra 'files': pip install 'privet[files]'."
        ) from None
    return xlsxwriter


# Writing ----------------------------------------------------------------------------


class ExcelWriter:
    """Writes a workbook; one row is in memory at a time."""

    def __init__(self, path: str, names: Sequence[str], kinds: Sequence[str]) -> None:
        _refuse_wide(names)
        library = _require_xlsxwriter()
        options = {"constant_memory": True, "tmpdir": str(Path(path).parent)}
        self._book = library.Workbook(path, options)
        self._book.set_properties({"created": datetime(2000, 1, 1)})
        self._formats = {
            k: self._book.add_format({"num_format": f}) for k, f in FORMATS.items()
        }
        sheet = _make_sheet_class()
        self._sheet, about = (self._book.add_worksheet(s, sheet) for s in SHEETS)
        self._names, self._kinds = tuple(names), tuple(kinds)
        self._row = 0
        self._write_texts(self._sheet, 0, names)
        for row, cells in enumerate([HEADER, *zip(names, kinds, strict=True)]):
            self._write_texts(about, row, cells)

    def _write_texts(self, sheet: Any, row: int, texts: Sequence[str]) -> None:
        for column, text in enumerate(texts):
            sheet.write_string(row, column, text)

    def write(self, columns: Sequence[pa.Array]) -> None:
        """Write some rows."""
        if self._row + len(columns[0]) >= MOST_ROWS:
            raise InputError(
                f"A table must have at most {MOST_ROWS - 1:,} rows to be written as "
                f"Excel; it has more. {INSTEAD}"
            )
        cells = [
            _as_cells(name, kind, column)
            for name, kind, column in zip(
                self._names, self._kinds, columns, strict=True
            )
        ]
        for line in zip(*cells, strict=True):
            self._row += 1
            self._write_row(line)

    def _write_row(self, line: tuple[Any, ...]) -> None:
        sheet, row, some = self._sheet, self._row, False
        for column, value in enumerate(line):
            if value is None:
                continue
            some = True
            if isinstance(value, str):
                sheet.write_string(row, column, value)
            elif isinstance(value, bool):
                sheet.write_boolean(row, column, value)
            else:
                shown = self._formats.get(self._kinds[column])
                sheet.write_number(row, column, value, shown)
        if not some:  # a row without any value would not be there
            sheet.write_blank(row, 0, None, self._formats["integer"])

    def close(self) -> None:
        """Put the workbook together."""
        self._book.close()

    def abandon(self) -> None:
        """Let go of the rows that wait to be put together."""
        for sheet in self._book.worksheets():
            sheet.row_data_fh.close()


def _refuse_wide(names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"A table must have at most {MOST_COLUMNS:,} columns to be written as "
            f"Excel; it has {len(names):,}. {INSTEAD}"
        )
    for name in names:
        if _count_units(name) > MOST_LETTERS or "\0" in name:
            raise InputError(
                f"Column names must have at most {MOST_LETTERS:,} letters to be "
                f"written as Excel; one has more. {INSTEAD}"
            )


def _count_units(text: str) -> int:
    """Letters as Excel counts them: an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _make_sheet_class() -> type:
    """A worksheet that writes every digit, and takes no text for anything else."""
    from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

    class ExactSheet(Worksheet):  # type: ignore[misc]
        def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
            told = "".join(f' {key}="{value}"' for key, value in attributes)
            self.fh.write(f"<c{told}><v>{number!r}</v></c>")

        def _xml_inline_string(
            self, string: str, preserve: bool, attributes: Any = ()
        ) -> None:
            told = "".join(f' {key}="{value}"' for key, value in attributes)
            text = _NO_XML.sub(lambda m: f"_x{ord(m[0]):04X}_", string)
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            self.fh.write(
                f'<c{told} t="inlineStr"><is><t xml:space="preserve">{text}</t></is>'
                "</c>"
            )

        def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
            self._xml_inline_string(string, True, attributes)

    return ExactSheet


_NO_XML = re.compile("[\ufffe\uffff\r]")
"""What XML does not hold, or changes, beside what the library knows itself."""


def _as_cells(name: str, kind: str, column: pa.Array) -> list[Any]:
    """The values of a column as they go into cells."""
    if kind == "date":
        return [_as_day(v) for v in column.cast(pa.int32()).to_pylist()]
    if kind == "datetime":
        return [_as_moment(v) for v in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    if kind == "integer":
        return [str(v) if v is not None and abs(v) >= MOST_WHOLE else v for v in values]
    if kind == "text":
        for value in values:
            if value is not None and _count_units(value) > MOST_LETTERS:
                raise InputError(
                    f"Column {name!r} must hold texts of at most {MOST_LETTERS:,} "
                    f"letters to be written as Excel; it does not. {INSTEAD}"
                )
    return values


def _as_day(days: int | None) -> int | str | None:
    if days is None or days + EPOCH >= FIRST_SERIAL:
        return None if days is None else days + EPOCH
    return (_FIRST_DATE + timedelta(days=days)).isoformat()


_FIRST_DATE, _FIRST_MOMENT = date(1970, 1, 1), datetime(1970, 1, 1)


def _as_moment(moment: int | None) -> float | str | None:
    if moment is None:
        return None
    since = moment + EPOCH * DAY
    serial = since / DAY
    if serial >= FIRST_SERIAL and _round_serial(serial) == moment:
        return serial
    return (_FIRST_MOMENT + timedelta(microseconds=moment)).isoformat(" ")


def _round_serial(serial: float) -> int:
    """The microsecond nearest to a day of Excel, by exact integers."""
    above, below = serial.as_integer_ratio()
    return (2 * above * DAY + below) // (2 * below) - EPOCH * DAY


# Reading ----------------------------------------------------------------------------

PARTS = {
    *("[Content_Types].xml", "_rels/.rels", "docProps/app.xml", "docProps/core.xml"),
    *("xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/styles.xml"),
    *("xl/theme/theme1.xml", "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"),
}
"""What is in a workbook that was written here; nothing else may be."""

MOST_PART = 2**16
"""Bytes of parts that are no sheet."""

MOST_PER_BYTE, ALWAYS = 250, 2**24
"""Bytes that one byte unpacks to; rows that are all alike come to sixty. So many bytes
are never too many."""

MOST_LINE, CHUNK = 2**26, 2**18
"""Letters of one row, and bytes that are unpacked at once."""

_ROW = re.compile(r'<row r="([0-9]{1,7})">(.*?)</row>', re.DOTALL)
_CELL = re.compile(
    r'<c r="([A-Z]{1,3})([0-9]{1,7})"(?: s="[0-9]{1,2}")?'
    r'(?:/>|(?: t="(b|inlineStr)")?>'
    r'(?:<v>([^<]{1,30})</v>|<is><t xml:space="preserve">([^<]*)</t></is>)</c>)'
)
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_STRANGE = re.compile("&(?!amp;|lt;|gt;)|\r")
_WHOLE = re.compile("-?(0|[1-9][0-9]{0,18})")

Cell = tuple[str, str]
"""What a cell says it is: n, b or s; and its text."""


class _Unreadable(Exception):
    """What is there is not what is written here."""


def read_xlsx_batches(path: Path) -> Batches:
    """The table of a workbook that privet wrote: its columns, and rows in batches."""
    with _refuse_strange(path), zipfile.ZipFile(path) as book:
        _check_parts(book, path.stat().st_size)
        about = [_as_texts(line, 2) for line in _read_rows(book, 2)]
    with _refuse_strange(path):
        if len(about) < 2 or tuple(about[0]) != HEADER:
            raise _Unreadable
        names, kinds = zip(*about[1:], strict=True)
        if len(names) > MOST_COLUMNS or not {*kinds} <= {*KINDS} or None in names:
            raise _Unreadable
        fields = [(n, KINDS[k]) for n, k in zip(names, kinds, strict=True)]
        schema = pa.schema(fields)
    return schema, _read_batches(path, schema, kinds)


FAILURES = (
    *(_Unreadable, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, OSError),
    *(ValueError, LookupError, EOFError, RuntimeError, OverflowError),
    pa.ArrowException,
)
"""What goes wrong in a file of others."""


@contextmanager
def _refuse_strange(path: Path) -> Iterator[None]:
    """Whatever goes wrong in a file of others is one error, without its cells."""
    try:
        yield
    except FAILURES:
        raise InputError(
            f"File {path.name!r} must be an Excel file as privet writes it; it is not."
        ) from None


def _check_parts(book: zipfile.ZipFile, size: int) -> None:
    """Nothing but what is written here, of a size that fits the bytes there are."""
    parts = book.infolist()
    names = [p.filename for p in parts]
    if len(names) != len(PARTS) or {*names} != PARTS:
        raise _Unreadable
    for part in parts:
        sheet = part.filename.startswith("xl/worksheets/")
        most = max(ALWAYS, size * MOST_PER_BYTE) if sheet else MOST_PART
        if part.file_size > most or part.flag_bits & 1:
            raise _Unreadable


def _read_batches(
    path: Path, schema: pa.Schema, kinds: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    with _refuse_strange(path), zipfile.ZipFile(path) as book:
        lines = _read_rows(book, 1)
        if _as_texts(next(lines, ()), len(kinds)) != schema.names:
            raise _Unreadable
        parsers = [_PARSERS[k] for k in kinds]
        columns: list[list[Any]] = [[] for _ in kinds]
        for line in lines:
            for column in columns:
                column.append(None)
            for at, cell in line:
                columns[at][-1] = parsers[at](cell)  # an IndexError is a stray cell
            if len(columns[0]) == ROWS:
                yield _as_batch(columns, schema)
                columns = [[] for _ in kinds]
        yield _as_batch(columns, schema)


def _as_batch(columns: list[list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _as_texts(line: Sequence[tuple[int, Cell]], cells: int) -> list[str]:
    """A line of so many texts, all of them there."""
    if [at for at, _ in line] != list(range(cells)):
        raise _Unreadable
    return [_parse_text(cell) for _, cell in line]


def _read_rows(book: zipfile.ZipFile, sheet: int) -> Iterator[list[tuple[int, Cell]]]:
    """The rows of a sheet: which cells have a value, and what it is."""
    text, number, begun = "", 0, False
    decode = codecs.getincrementaldecoder("utf-8")().decode
    with book.open(f"xl/worksheets/sheet{sheet}.xml") as file:
        while data := file.read(CHUNK):
            text += decode(data)
            if not begun:
                head, begins, rest = text.partition("<sheetData>")
                if "<row" in head or (not begins and len(text) > MOST_PART):
                    raise _Unreadable
                if not begins:
                    continue
                text, begun = rest, True
            at = 0
            while found := _ROW.match(text, at):
                number += 1
                if number > MOST_ROWS or int(found[1]) != number:
                    raise _Unreadable
                yield list(_read_cells(found[2], number))
                at = found.end()
            text = text[at:]
            if len(text) > MOST_LINE:
                raise _Unreadable
    if not begun or not text.startswith("</sheetData>") or len(text) > MOST_PART:
        raise _Unreadable
    if "<c " in text or "<row" in text:
        raise _Unreadable


def _read_cells(text: str, row: int) -> Iterator[tuple[int, Cell]]:
    at, before = 0, -1
    while at < len(text):
        found = _CELL.match(text, at)
        if found is None or int(found[2]) != row:
            raise _Unreadable
        column = _number_column(found[1])
        if not before < column < MOST_COLUMNS:
            raise _Unreadable
        at, before = found.end(), column
        sort, value, string = found[3], found[4], found[5]
        if string is not None and sort == "inlineStr":
            yield column, ("s", string)
        elif value is not None and sort in (None, "b"):
            yield column, (sort or "n", value)
        elif value is not None or string is not None or sort is not None:
            raise _Unreadable


def _number_column(letters: str) -> int:
    """Which column letters stand for.

    >>> _number_column("A"), _number_column("AB")
    (0, 27)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _parse_text(cell: Cell) -> str:
    sort, text = cell
    if sort != "s" or _STRANGE.search(text):
        raise _Unreadable
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _parse_whole(cell: Cell) -> int:
    sort, text = cell
    if sort == "b" or not _WHOLE.fullmatch(text):
        raise _Unreadable
    if (abs(int(text)) >= MOST_WHOLE) != (sort == "s"):
        raise _Unreadable
    return int(text)


def _parse_number(cell: Cell) -> float:
    sort, text = cell
    if sort != "n" or repr(float(text)) != text:
        raise _Unreadable
    return float(text)


def _parse_boolean(cell: Cell) -> bool:
    if cell not in (("b", "0"), ("b", "1")):
        raise _Unreadable
    return cell[1] == "1"


def _parse_day(cell: Cell) -> int:
    sort, text = cell
    if sort == "s":
        days = (date.fromisoformat(text) - _FIRST_DATE).days
    else:
        days = _parse_whole(cell) - EPOCH
    if _as_day(days) != (text if sort == "s" else int(text)):
        raise _Unreadable
    return days


def _parse_moment(cell: Cell) -> int:
    sort, text = cell
    if sort == "s":
        since = datetime.fromisoformat(text) - _FIRST_MOMENT
        moment = since // timedelta(microseconds=1)
    else:
        moment = _round_serial(_parse_number(cell))
    if _as_moment(moment) != (text if sort == "s" else float(text)):
        raise _Unreadable
    return moment


_PARSERS: dict[str, Callable[[Cell], Any]] = {
    "text": _parse_text,
    "integer": _parse_whole,
    "number": _parse_number,
    "boolean": _parse_boolean,
    "date": _parse_day,
    "datetime": _parse_moment,
}
"""What a cell of each kind means."""
