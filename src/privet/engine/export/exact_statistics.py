"""Files of SPSS and Stata: written with labels, and read again as strictly.

Both know texts and floats. What else there is, is a float with a format that says what
it means: whole numbers, days, times; truth is 0 or 1 with labels. A name that a package
does not take is changed, and the column's label is its own name, always.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from privet.engine.export.exact_files import DAY, INSTEAD, Batches
from privet.engine.export.file_kinds import EXACT, KINDS
from privet.errors import EngineError, InputError, MissingExtra

MOST_WHOLE = 2**53
"""Up to here a float is every integer."""

MOST_BYTES = 2**31
"""Bytes of values that are held until they are written: the libraries take no less."""

ROWS = 100_000
"""Rows that are read together."""

TRUTH = {0.0: "false", 1.0: "true"}
"""The labels of true and false."""


@dataclass(frozen=True)
class Package:
    """What one statistics package does in its own way."""

    formats: Mapping[str, str]
    """How numbers of each kind are shown, which tells them apart."""
    epoch: int
    """Its first day, in days before 1970."""
    ticks: int
    """Its ticks of a day, in the times of this package."""
    daily: int
    """Its ticks of a day, in the days of this package."""
    longest: int
    """Bytes of a text."""
    largest: float
    """The largest number."""
    label: int
    """Letters of a label."""
    letters: str
    """What a name may have besides letters and digits."""
    reserved: frozenset[str]
    """What no column is called."""


SPSS = Package(
    {
        "integer": "F20.0",
        "number": "F20.6",
        "boolean": "F1.0",
        "date": "SDATE10",
        "datetime": "DATETIME23.3",
    },
    epoch=141_428,
    ticks=86_400,
    daily=86_400,
    longest=32_767,
    largest=1.79e308,
    label=120,
    letters="_.$#@",
    reserved=frozenset(
        (
            *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or"),
            *("to", "with"),
        )
    ),
)
STATA = Package(
    {
        "integer": "%20.0f",
        "number": "%18.0g",
        "boolean": "%5.0f",
        "date": "%td",
        "datetime": "%tc",
    },
    epoch=3_653,
    ticks=86_400_000,
    daily=1,
    longest=2_045,
    largest=8.9e307,
    label=80,
    letters="_",
    reserved=frozenset(
        (
            *("byte", "double", "float", "if", "in", "int", "long", "strl", "using"),
            *("with", "_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc"),
            "_skip",
        )
    ),
)
PACKAGES = {"sav": SPSS, "dta": STATA}

LONGEST_NAME, LONGEST_BYTES = 32, 64
"""Letters and bytes of a name in both packages."""


def _require_pyreadstat(format_: str) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra(
            f"{EXACT[format_]} files need the extra 'files': "
            "pip install 'privet[files]'."
        ) from None
    return pyreadstat


# Names ------------------------------------------------------------------------------


def rename_columns(names: Sequence[str], package: Package) -> list[str]:
    """What columns are called in a file: their names, changed where a rule asks.

    >>> rename_columns(["age", "birth year", "2024", "AGE", "by"], SPSS)
    ['age', 'birth_year', 'v_2024', 'AGE_2', 'v_by']
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = _cut_name(_spell_name(name, package), "")
        again, called = 1, plain
        while called.casefold() in taken:
            again += 1
            called = _cut_name(plain, f"_{again}")
        taken.add(called.casefold())
        found.append(called)
    return found


def _spell_name(name: str, package: Package) -> str:
    spelled = "".join(
        c if c.isascii() and (c.isalnum() or c in package.letters) else _spell_letter(c)
        for c in name
    ).rstrip(".")
    first = spelled[:1]
    fine = first.isalpha() or (first == "_" and package is STATA)
    stata_text = package is STATA and spelled[:3] == "str" and spelled[3:].isdigit()
    if fine and not stata_text and spelled.lower() not in package.reserved:
        return spelled
    return f"v_{spelled.lstrip('_')}"


def _spell_letter(letter: str) -> str:
    return letter if letter.isalpha() and len(letter.casefold()) == 1 else "_"


def _cut_name(name: str, ending: str) -> str:
    for length in range(LONGEST_NAME - len(ending), 0, -1):
        cut = name[:length] + ending
        if len(cut.encode()) <= LONGEST_BYTES:
            return cut
    return name[:1] + ending


# Writing ----------------------------------------------------------------------------


class StatisticsWriter:
    """Writes a file once all rows have come."""

    def __init__(
        self, format_: str, path: str, names: Sequence[str], kinds: Sequence[str]
    ) -> None:
        self._library = _require_pyreadstat(format_)
        self._format, self._package = format_, PACKAGES[format_]
        self._path, self._names, self._kinds = path, tuple(names), tuple(kinds)
        self._called = rename_columns(names, self._package)
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0
        for name in names:
            if len(name.encode()) > self._package.label:
                raise InputError(
                    f"Column names must have at most {self._package.label} bytes to be "
                    f"labels of {EXACT[format_]}; {name!r} has more. {INSTEAD}"
                )

    def write(self, columns: Sequence[pa.Array]) -> None:
        """Take some rows."""
        found = [
            self._as_values(name, kind, column)
            for name, kind, column in zip(
                self._names, self._kinds, columns, strict=True
            )
        ]
        batch = pa.RecordBatch.from_arrays(found, names=self._called)
        self._bytes += batch.nbytes
        if self._bytes > MOST_BYTES:
            raise InputError(
                f"A table must have at most {MOST_BYTES:,} bytes of values to be "
                f"written as {EXACT[self._format]}; it has more. {INSTEAD}"
            )
        self._batches.append(batch)

    def _as_values(self, name: str, kind: str, column: pa.Array) -> pa.Array:
        """A column as texts or floats."""
        package = self._package
        if kind == "text":
            self._require(
                name,
                pc.less_equal(pc.binary_length(column), package.longest),
                f"texts of at most {package.longest:,} bytes",
            )
            if package is SPSS:
                spaced = pc.ends_with(column, pattern=" ")
                self._require(name, pc.invert(spaced), "texts that end in no space")
            return column
        if kind == "date":
            days = column.cast(pa.int32()).cast(pa.int64())
            return _times(pc.add(days, package.epoch), package.daily)
        if kind == "datetime":
            moments = pc.add(column.cast(pa.int64()), package.epoch * DAY)
            whole = pc.equal(pc.multiply(pc.divide(moments, 1000), 1000), moments)
            self._require(name, whole, "times in whole milliseconds")
            milliseconds = pc.divide(moments, 1000).cast(pa.float64())
            return pc.divide(milliseconds, 86_400_000 / package.ticks)
        if kind == "integer":
            small = pc.less_equal(
                pc.abs(column.cast(pa.float64(), safe=False)), MOST_WHOLE - 1
            )
            self._require(name, small, "integers of at most 15 digits")
            return column.cast(pa.float64(), safe=False)
        found = column.cast(pa.float64())
        small = pc.less_equal(pc.abs(found), package.largest)
        self._require(name, small, f"numbers of at most {package.largest}")
        return found

    def _require(self, name: str, fits: pa.Array, rule: str) -> None:
        if pc.all(fits).as_py() is False:
            raise InputError(
                f"Column {name!r} must hold {rule} to be written as "
                f"{EXACT[self._format]}; it does not. {INSTEAD}"
            )

    def abandon(self) -> None:
        """Let go of the rows."""
        self._batches = []

    def close(self) -> None:
        """Write the file."""
        types = [pa.string() if k == "text" else pa.float64() for k in self._kinds]
        schema = pa.schema(list(zip(self._called, types, strict=True)))
        table = pa.Table.from_batches(self._batches, schema)
        self._batches = []
        about = dict(zip(self._called, self._kinds, strict=True))
        shown = {c: self._package.formats[k] for c, k in about.items() if k != "text"}
        told = {c: TRUTH for c, k in about.items() if k == "boolean"}
        library = self._library
        write = library.write_sav if self._format == "sav" else library.write_dta
        failed = False
        try:
            write(
                _as_frame(table, self._format),
                self._path,
                column_labels=dict(zip(self._called, self._names, strict=True)),
                variable_format=shown,
                variable_value_labels=told,
            )
        except (library.ReadstatError, library.PyreadstatError, OSError):
            failed = True
        if failed:  # what the library says may quote a cell
            raise EngineError(
                f"The file of {EXACT[self._format]} could not be written. {INSTEAD}"
            )


def _times(whole: pa.Array, ticks: int) -> pa.Array:
    return pc.multiply(whole, ticks).cast(pa.float64())


def _as_frame(table: pa.Table, format_: str) -> Any:
    """The frame that the library takes."""
    try:
        import polars as pl
    except ImportError:
        pass
    else:
        return pl.from_arrow(table)
    try:
        return table.to_pandas()
    except ImportError:
        raise MissingExtra(
            f"{EXACT[format_]} files need polars or pandas: pip install polars."
        ) from None


# Reading ----------------------------------------------------------------------------


def read_statistics_batches(path: Path) -> Batches:
    """The table of a file that privet wrote: its columns, and rows in batches."""
    format_ = path.suffix.lower().removeprefix(".")
    library = _require_pyreadstat(format_)
    _refuse_packed(path)
    about = _read(library, path, metadataonly=True)[1]
    problems = _check_about(about, path.stat().st_size, PACKAGES[format_])
    if problems is None:
        raise _strange(path)
    names, kinds = problems
    schema = pa.schema([(n, KINDS[k]) for n, k in zip(names, kinds, strict=True)])
    rows = int(about.number_rows)
    return schema, _read_batches(library, path, schema, kinds, rows)


def _read(library: Any, path: Path, **options: Any) -> Any:
    """What the library reads; whatever goes wrong there is one error."""
    sav = path.suffix.lower() == ".sav"
    read = library.read_sav if sav else library.read_dta
    found = None
    try:
        found = read(
            str(path),
            output_format="dict",
            disable_datetime_conversion=True,
            user_missing=True,
            **options,
        )
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception:
        found = None
    if found is None:
        raise _strange(path)
    return found


def _strange(path: Path) -> InputError:
    package = EXACT[path.suffix.lower().removeprefix(".")]
    return InputError(
        f"File {path.name!r} must be a file of {package} as privet writes it; it is "
        "not."
    )


def _refuse_packed(path: Path) -> None:
    """Files are written as they are, so that their bytes tell how much they hold."""
    with path.open("rb") as file:
        if file.read(4) == b"$FL3":
            raise _strange(path)


def _check_about(
    about: Any, size: int, package: Package
) -> tuple[list[str], list[str]] | None:
    """Names and kinds of columns; None where a file says what is not written here."""
    called, rows = list(about.column_names), about.number_rows
    names = [about.column_names_to_labels.get(c) for c in called]
    if not called or rows is None or rows < 0 or rows * len(called) > size:
        return None
    if not all(isinstance(n, str) and n for n in names) or len({*names}) < len(names):
        return None
    if rename_columns(names, package) != called:
        return None
    kinds = [_find_kind(about, c, package) for c in called]
    labels = {
        c: {float(v): t for v, t in told.items()}
        for c, told in about.variable_value_labels.items()
    }
    expected = {c: TRUTH for c, k in zip(called, kinds, strict=True) if k == "boolean"}
    more = about.file_label or about.notes or about.missing_ranges
    more = more or about.missing_user_values
    return (names, kinds) if labels == expected and all(kinds) and not more else None


def _find_kind(about: Any, called: str, package: Package) -> str:
    if about.readstat_variable_types[called] == "string":
        return "text"
    shown = about.original_variable_types[called]
    return next((k for k, f in package.formats.items() if f == shown), "")


def _read_batches(
    library: Any, path: Path, schema: pa.Schema, kinds: Sequence[str], rows: int
) -> Iterator[pa.RecordBatch]:
    package = PACKAGES[path.suffix.lower().removeprefix(".")]
    for start in range(0, rows, ROWS):
        values = _read(library, path, row_offset=start, row_limit=ROWS)[0]
        try:
            arrays = [
                _as_column(values[called], kind, package)
                for called, kind in zip(values, kinds, strict=True)
            ]
            batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            batch = None
        if batch is None or len(batch) != min(ROWS, rows - start):
            raise _strange(path)
        yield batch


def _as_column(values: Sequence[Any], kind: str, package: Package) -> pa.Array:
    """Texts or floats as what they mean; an error where they mean nothing."""
    if kind == "text":
        return pa.array([v or None for v in values], pa.string())
    numbers = pa.array(values, pa.float64(), from_pandas=True)
    if kind == "number":
        return numbers
    if kind == "boolean":
        return _as_whole(numbers).cast(pa.uint8()).cast(pa.bool_())
    if kind == "integer":
        return _as_whole(numbers)
    if kind == "date":
        ticks = _as_whole(numbers)
        days = pc.divide(ticks, package.daily)
        if pc.all(pc.equal(pc.multiply(days, package.daily), ticks)).as_py() is False:
            raise ValueError
        return pc.subtract(days, package.epoch).cast(pa.int32()).cast(pa.date32())
    milliseconds = _as_whole(pc.round(pc.multiply(numbers, 86_400_000 / package.ticks)))
    moments = pc.subtract(pc.multiply(milliseconds, 1000), package.epoch * DAY)
    return moments.cast(pa.timestamp("us"))


def _as_whole(numbers: pa.Array) -> pa.Array:
    return numbers.cast(pa.int64())  # an error where one is not whole
