"""Files of statistics packages: SPSS, Stata and SAS, read by pyreadstat.

Value labels are the shown values: 1 labelled "female" is read as female. Values that
the file declares missing are missing. Dates are dates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow
from privet.engine.sources.reader_process import Records
from privet.engine.sources.source import refuse_twice
from privet.errors import EmptyTable, InputError

CELLS = 1_000_000
"""Cells that are read together."""

READ = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""What pyreadstat calls the reader of each format."""

SECONDS = 86_400
"""Of a day."""

EPOCHS = {"spss": -141_428, "stata": -3_653, "sas": -3_653}
"""The day from which a package counts, counted from 1970-01-01."""

FORMATS = {
    "spss": (
        r"(DATE|ADATE|EDATE|JDATE|SDATE)[0-9]*",
        r"(DATETIME|YMDHMS)[0-9.]*",
        SECONDS,
        1,
    ),
    "stata": (r"%-?(td|d).*", r"%-?tc.*", 1, 1_000),
    "sas": (
        r"(DATE|DDMMYY|MMDDYY|YYMMDD|E8601DA|B8601DA|WEEKDATE|WEEKDATX|WORDDATE|"
        r"WORDDATX|JULIAN|NLDATE|IS8601DA)[BCDNPSX]?[0-9.]*",
        r"(DATETIME|E8601DT|B8601DT|NLDATM|DATEAMPM|IS8601DT)[0-9.]*",
        1,
        1,
    ),
}
"""Formats of dates and of times with dates; units per day, and per second."""

SPANS = {"w": 52, "m": 12, "q": 4, "h": 2}
"""Weeks, months, quarters and halves of a year, which Stata counts from 1960."""

PACKAGES = {".sav": "spss", ".zsav": "spss", ".por": "spss", ".dta": "stata"}

Convert = Callable[[Sequence[Any]], pa.Array]
"""Makes values of what pyreadstat gives for a column."""


@dataclass(frozen=True)
class _Variable:
    """How a column is read."""

    type: pa.DataType
    convert: Convert


def read_records(request: Mapping[str, Any]) -> Records:
    """The rows of a file, some at a time."""
    reading = _Reading(request["path"], request["called"], request.get("encoding"))
    about = reading.read_about()
    names = list(about.column_names)
    if not names:
        raise EmptyTable(f"A table must have columns; {reading.called!r} has none.")
    refuse_twice(names, repr(reading.called))
    package = PACKAGES.get(reading.ending, "sas")
    variables = [_find_variable(name, about, package) for name in names]
    schema = pa.schema([(f"c{i}", v.type) for i, v in enumerate(variables)])
    return Records(
        tuple(names),
        schema,
        reading.read_batches(names, variables, schema),
        tuple(i for i, v in enumerate(variables) if pa.types.is_large_string(v.type)),
        {n: str(t) for n, t in about.column_names_to_labels.items() if t},
    )


@dataclass(frozen=True)
class _Reading:
    """One file and how to read it."""

    path: str
    called: str
    encoding: str | None

    @property
    def ending(self) -> str:
        return Path(self.path).suffix.lower()

    def read_about(self) -> Any:
        """What the file says of itself."""
        how = {"metadataonly": True, "user_missing": True, "output_format": "dict"}
        return self._read(**how)[1]

    def read_batches(
        self, names: Sequence[str], variables: Sequence[_Variable], schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        """The rows; each time those after the ones that were read."""
        at, most = 0, max(1_000, CELLS // len(names))
        while True:
            cells, _ = self._read(
                row_offset=at,
                row_limit=most,
                output_format="dict",
                disable_datetime_conversion=True,
            )
            columns = [
                v.convert(cells[n]) for n, v in zip(names, variables, strict=True)
            ]
            rows = len(columns[0])
            if rows:
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
            if rows < most:
                return
            at += rows

    def _read(self, **how: Any) -> tuple[Any, Any]:
        import pyreadstat

        read = getattr(pyreadstat, READ[self.ending])
        if self.ending in (".por", ".xpt"):
            how.pop("user_missing", None)
        if self.encoding is not None and self.ending != ".por":
            how["encoding"] = self.encoding
        try:
            found: tuple[Any, Any] = read(self.path, **how)
            return found
        except MemoryError:
            raise
        except Exception:
            pass
        raise InputError(
            f"File {self.called!r} must be a file of SPSS, Stata or SAS that can be "
            "read; it is damaged, or its text has another encoding than it says: then "
            "say --encoding (encoding=...)."
        )


# Variables --------------------------------------------------------------------------


def _find_variable(name: str, about: Any, package: str) -> _Variable:
    """How a column is read, by what the file says of it."""
    labels = _list_labels(name, about)
    kind = about.readstat_variable_types.get(name, "double")
    if labels:
        return _Variable(pa.large_string(), lambda cells: _label(cells, labels))
    if kind == "string":
        return _Variable(pa.large_string(), _make_texts)
    days, moments, per_day, per_second = FORMATS[package]
    written = about.original_variable_types.get(name) or ""
    shape = written if package == "stata" else written.upper()
    epoch = EPOCHS[package]
    if re.fullmatch(days, shape):
        return _Variable(
            pa.date32(), lambda cells: _make_days(name, cells, epoch, per_day)
        )
    if re.fullmatch(moments, shape):
        return _Variable(
            pa.timestamp("us"), lambda cells: _make_moments(cells, epoch, per_second)
        )
    if package == "stata" and (span := re.match(r"%-?t([wmqhC])", shape)):
        return _find_span(name, span[1])
    type_ = pa.float32() if kind == "float" else pa.float64()
    return _Variable(type_, lambda cells: _make_numbers(cells, type_))


def _find_span(name: str, span: str) -> _Variable:
    """How weeks, months, quarters and half-years are read: as their first days."""
    if span == "C":
        raise InputError(
            f"Column {name!r} must count times without leap seconds (%tc) to be read; "
            "its format is %tC. Convert it in Stata with cofC()."
        )
    return _Variable(pa.date32(), lambda cells: _make_first_days(name, cells, span))


def _list_labels(name: str, about: Any) -> dict[Any, str]:
    """The labels of values that are not missing."""
    found = about.variable_value_labels.get(name) or {}
    ranges = (about.missing_ranges or {}).get(name) or []
    letters = set((about.missing_user_values or {}).get(name) or [])
    return tell_apart(
        {
            code: str(label)
            for code, label in found.items()
            if code not in letters and not _is_missing(code, ranges)
        }
    )


def tell_apart(labels: Mapping[Any, str]) -> dict[Any, str]:
    """Labels of which no two are alike: readers of the file see the codes, too.

    >>> tell_apart({1.0: "yes", 2.0: "yes", 3.0: "no", 4.0: ""})
    {1.0: 'yes (1)', 2.0: 'yes (2)', 3.0: 'no', 4.0: '4'}
    """
    times = Counter(labels.values())
    taken = {label for label, n in times.items() if label and n == 1}
    shown = dict(labels)
    for code, label in labels.items():
        if label not in taken or times[label] > 1:
            text = str(_as_text(code))
            shown[code] = _find_free(
                f"{label} ({text})" if label else text, text, taken
            )
            taken.add(shown[code])
    return shown


def _find_free(wanted: str, code: str, taken: Collection[str]) -> str:
    """A text that stands for nothing else, with a code behind it where it must be.

    >>> _find_free("4", "4", {"4", "yes"})
    '4 (4)'
    """
    while wanted in taken:
        wanted += f" ({code})"
    return wanted


def _is_missing(code: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a value is one of those that the file declares missing."""
    for between in ranges:
        try:
            if between["lo"] <= code <= between["hi"]:
                return True
        except TypeError:
            continue
    return False


def _make_texts(cells: Sequence[Any]) -> pa.Array:
    return arrow.texts(_as_text(cell) for cell in cells)


def _label(cells: Sequence[Any], labels: Mapping[Any, str]) -> pa.Array:
    taken = frozenset(labels.values())
    return arrow.texts(
        labels[cell] if cell in labels else _show_code(cell, taken) for cell in cells
    )


def _show_code(cell: Any, taken: Collection[str]) -> str | None:
    """A value without a label, which must not look like the label of another one."""
    text = _as_text(cell)
    return None if text is None else _find_free(text, text, taken)


def _as_text(cell: Any) -> str | None:
    """A value without a label; nothing is missing.

    >>> _as_text(3.0), _as_text(2.5), _as_text("x"), _as_text("")
    ('3', '2.5', 'x', None)
    """
    if cell is None or cell == "" or cell != cell:  # noqa: PLR0124 - not a number
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _make_numbers(cells: Sequence[Any], type_: pa.DataType) -> pa.Array:
    numbers, missing = _as_numbers(cells)
    wide = arrow.integers(numbers)
    return arrow.mask_values(wide, missing).cast(type_)


def _make_days(name: str, cells: Sequence[Any], epoch: int, per_day: int) -> pa.Array:
    numbers, missing = _as_numbers(cells)
    parts = np.where(missing, 0, numbers) / per_day
    if np.any(parts != np.floor(parts)):  # not shown, and in the file even so
        raise InputError(
            f"Column {name!r} must hold whole days, as its format says; it also has "
            "times of the day, which its readers find. Round it, or give it a format "
            "with times."
        )
    days = parts.astype(np.int64) + epoch
    whole = arrow.mask_values(arrow.integers(days.astype(np.int32)), missing)
    return whole.view(pa.date32())


def _make_first_days(name: str, cells: Sequence[Any], span: str) -> pa.Array:
    """The first day of each span: month 721 is the second of 2020, 2020-02-01."""
    numbers, missing = _as_numbers(cells)
    whole = np.where(missing, 0, numbers)
    if np.any(whole != np.floor(whole)):
        raise InputError(
            f"Column {name!r} must hold whole weeks, months or quarters, as its format "
            "says; it also has parts of them. Round it."
        )
    year, part = np.divmod(whole.astype(np.int64), SPANS[span])
    month = np.zeros_like(part) if span == "w" else part * (12 // SPANS[span])
    first = ((year - 10) * 12 + month).astype("datetime64[M]").astype("datetime64[D]")
    days = first.astype(np.int64) + (part * 7 if span == "w" else 0)
    known = arrow.mask_values(arrow.integers(days.astype(np.int32)), missing)
    return known.view(pa.date32())


def _make_moments(cells: Sequence[Any], epoch: int, per_second: int) -> pa.Array:
    numbers, missing = _as_numbers(cells)
    micro = np.rint(np.where(missing, 0, numbers) * (1_000_000 // per_second))
    shifted = micro.astype(np.int64) + epoch * SECONDS * 1_000_000
    return arrow.mask_values(arrow.integers(shifted), missing).view(pa.timestamp("us"))


def _as_numbers(cells: Sequence[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Floats, and where there are none."""
    numbers = np.array(cells, dtype=np.float64)  # None becomes not a number
    return numbers, np.isnan(numbers)
