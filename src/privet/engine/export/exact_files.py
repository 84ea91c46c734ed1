"""Files of Excel, SPSS and Stata: what they hold is what was handed over, or an error.

These formats know fewer values than Parquet. So every cell is one of a few kinds before
it is written, what a format cannot hold is refused, and the file is read again at once:
each column must be, to the bit, the one that was written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from privet.engine.export.file_kinds import EXACT, KINDS, ROWS, kind_of_values
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError

DIGITS = 15
"""Digits of decimal numbers that a float keeps."""

FIRST_DAY, LAST_DAY, DAY = -719_162, 2_932_896, 86_400_000_000
"""The first of January of the year 1 and the last of December of 9999, in days since
1970; and the microseconds of a day."""

INSTEAD = "Write Parquet or CSV instead."

Batches = tuple[pa.Schema, Iterator[pa.RecordBatch]]
"""What is read of a file: its columns, and the rows some at a time."""


class FileWriter(Protocol):
    """Writes a file of one of these formats."""

    def write(self, columns: Sequence[pa.Array]) -> None:
        """Some rows."""

    def close(self) -> None:
        """The last row was written."""

    def abandon(self) -> None:
        """Nothing is wanted of it."""


# Cells ------------------------------------------------------------------------------


class ExactFile:
    """A new file that takes batches, and is read again when it is closed."""

    def __init__(
        self, path: str, format_: str, names: Sequence[str], kinds: Sequence[str]
    ) -> None:
        if "" in names:
            raise InputError(
                f"A column must have a name to be written as {EXACT[format_]}; one has "
                "none. Name it, or write Parquet."
            )
        self._path, self._format, self._names = path, format_, tuple(names)
        self._kinds = tuple(kinds)
        self._told = [ColumnDigest() for _ in names]
        self._file: FileWriter = _choose_format(format_)[0](path, names, kinds)

    def __enter__(self) -> ExactFile:
        return self

    def __exit__(self, kind: object, *_error: object) -> None:
        if kind is not None:
            self._file.abandon()
        else:
            self._file.close()
            self._compare()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows; an error where the format cannot hold one of them."""
        for start in range(0, len(batch), ROWS):
            part = batch.slice(start, ROWS)
            columns = [
                self._prepare(i, column) for i, column in enumerate(part.columns)
            ]
            for told, column in zip(self._told, columns, strict=True):
                told.update(column)
            self._file.write(columns)

    def _prepare(self, i: int, column: pa.Array) -> pa.Array:
        """A column as its kind has it, with nothing in it that no format holds."""
        name, kind = self._names[i], self._kinds[i]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if kind == "number" and not pa.types.is_floating(column.type):
            self._require(i, _have_few_digits(column), f"up to {DIGITS} digits")
        try:
            found = column.cast(KINDS[kind])
        except pa.ArrowInvalid:
            found = None
        if found is None:  # only an integer of more than 64 bits, or a time in between
            moment = kind == "datetime"
            raise self._refuse(
                name, "whole microseconds" if moment else "values of 64 bits"
            )
        for fits, rule in _RULES.get(kind, ()):
            self._require(i, fits(found), rule)
        return found

    def _require(self, i: int, fits: pa.Array, rule: str) -> None:
        if pc.all(fits).as_py() is False:
            raise self._refuse(self._names[i], rule)

    def _refuse(self, column: str, rule: str) -> InputError:
        return InputError(
            f"Column {column!r} must hold {rule} to be written as "
            f"{EXACT[self._format]}; it does not. {INSTEAD}"
        )

    def _compare(self) -> None:
        """What is in the file must be what was written, column by column."""
        schema, batches = read_exactly(Path(self._path))
        found = [ColumnDigest() for _ in schema]
        for batch in batches:
            for told, column in zip(found, batch.columns, strict=True):
                told.update(column)
        kinds = [kind_of_values(t) for t in schema.types]
        if schema.names != list(self._names) or kinds != list(self._kinds):
            raise InputError(
                f"Columns must keep their names and types as {EXACT[self._format]}; "
                f"they do not. {INSTEAD}"
            )
        for name, told, read in zip(self._names, self._told, found, strict=True):
            if told.digest() != read.digest():
                raise self._refuse(name, "values that stay as they are")


def _have_few_digits(texts: pa.Array) -> pa.Array:
    digits = pc.utf8_ltrim(pc.replace_substring_regex(texts, "[^0-9]", ""), "0")
    return pc.less_equal(pc.utf8_length(digits), DIGITS)


def _is_within_years(column: pa.Array) -> pa.Array:
    if pa.types.is_date(column.type):
        days = column.cast(pa.int32())
        return pc.and_(pc.greater_equal(days, FIRST_DAY), pc.less_equal(days, LAST_DAY))
    moments = column.cast(pa.int64())
    return pc.and_(
        pc.greater_equal(moments, FIRST_DAY * DAY),
        pc.less(moments, (LAST_DAY + 1) * DAY),
    )


_RULES: dict[str, tuple[tuple[Callable[[pa.Array], pa.Array], str], ...]] = {
    "text": (
        (
            lambda c: pc.greater(pc.binary_length(c), 0),
            "no empty texts, which would be missing values,",
        ),
        (lambda c: pc.invert(pc.match_substring(c, "\0")), "texts without NUL"),
    ),
    "number": ((pc.is_finite, "numbers that are finite"),),
    "date": ((_is_within_years, "days of the years 1 to 9999"),),
    "datetime": ((_is_within_years, "times of the years 1 to 9999"),),
}
"""What none of these formats holds."""


class ColumnDigest:
    """A digest of the values of a column, however many come at once."""

    def __init__(self) -> None:
        self._parts = [hashlib.sha256() for _ in range(3)]

    def update(self, column: pa.Array) -> None:
        """Further values: which are missing, how long texts are, and what they are."""
        present, lengths, values = self._parts
        present.update(pc.is_valid(column).cast(pa.uint8()).to_numpy().tobytes())
        some = column.drop_null()
        if pa.types.is_string(some.type):
            lengths.update(pc.binary_length(some).to_numpy().tobytes())
            values.update("".join(some.to_pylist()).encode())
            return
        if pa.types.is_boolean(some.type):
            some = some.cast(pa.uint8())
        elif pa.types.is_date(some.type):
            some = some.cast(pa.int32())
        elif pa.types.is_timestamp(some.type):
            some = some.cast(pa.int64())
        values.update(some.to_numpy(zero_copy_only=False).tobytes())

    def digest(self) -> tuple[bytes, ...]:
        """What tells it from other columns."""
        return tuple(part.digest() for part in self._parts)


# Reading ----------------------------------------------------------------------------


def read_exactly(path: Path) -> Batches:
    """The rows of a file that privet wrote; an error where it is another one."""
    found: Batches = _choose_format(path.suffix.lower().removeprefix("."))[1](path)
    return found


def convert_to_parquet(path: Path) -> tuple[Path, ScratchFolder]:
    """The rows of such a file as Parquet, in a folder that lives as long as it is held.

    Engines read a source several times; this way it is taken apart once.
    """
    from pyarrow import parquet

    folder = ScratchFolder()
    try:
        schema, batches = read_exactly(path)
        place = folder.path / f"{path.stem}.parquet"
        with parquet.ParquetWriter(
            place, schema, compression="zstd", write_statistics=False
        ) as file:
            for batch in batches:
                file.write_batch(batch)
    except BaseException:
        folder.close()
        raise
    return place, folder


def _choose_format(format_: str) -> tuple[Any, Any]:
    """What writes a format, and what reads it."""
    if format_ == "xlsx":
        from privet.engine.export import excel_files

        return excel_files.ExcelWriter, excel_files.read_xlsx_batches
    from functools import partial

    from privet.engine.export import exact_statistics

    writer = partial(exact_statistics.StatisticsWriter, format_)
    return writer, exact_statistics.read_statistics_batches
