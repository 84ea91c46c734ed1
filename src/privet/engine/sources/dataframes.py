"""Data frames as sources: pandas, polars, pyarrow, and relations of DuckDB.

Also the rows of a release, made from counts when they are read, some at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow
from privet.engine.sources.source import Source, differ, refuse_twice
from privet.engine.sql import quoted
from privet.errors import EmptyTable, InputError, warn
from privet.languages import say

BATCH = 100_000
"""Rows of a relation that are handed over together."""

LOSSY = ("UHUGEINT", "TIME WITH TIME ZONE", "BIT")
"""Types of DuckDB that Arrow cannot hold."""

OBJECTS = {
    *("boolean", "bytes", "date", "datetime", "datetime64", "decimal", "floating"),
    *("integer", "mixed-integer-float", "time", "timedelta", "timedelta64"),
}
"""What pandas calls columns of Python objects that have an Arrow type in common."""


LISTS = (list, tuple, set, frozenset, np.ndarray)
"""Python objects that are read as lists."""


def from_frame(frame: Any) -> Source:
    """A table in memory; nothing of it is copied, except what no engine reads."""
    kind = type(frame)
    if _is_a(frame, "pandas", "DataFrame"):
        return _from_pandas(frame)
    if _is_a(frame, "polars", "DataFrame"):
        return _from_polars(frame)
    if isinstance(frame, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return _from_arrow(frame)
    if _is_a(frame, "pyarrow.dataset", "Dataset"):
        return _from_arrow(frame)
    if kind.__name__ == "DuckDBPyRelation":
        return _from_relation(frame)
    if kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark."):
        return _from_spark(frame)
    called = f"{kind.__module__.split('.')[0]}.{kind.__name__}"
    raise InputError(
        "A source must be a path, a list of paths, a pandas, polars or pyarrow table, "
        f"a DuckDB relation or a Spark DataFrame; got {called}."
        + (" Call collect() first." if kind.__name__ == "LazyFrame" else "")
    )


PANDAS_TAKES = ("dates", "decimal")
"""Which options of text files go with a frame of pandas, whose texts may mean more."""


def list_frame_options(value: object) -> tuple[str, ...]:
    """Which options of text files go with a frame.

    >>> list_frame_options(pa.table({"job": ["Cook"]}))
    ()
    """
    return PANDAS_TAKES if _is_a(value, "pandas", "DataFrame") else ()


FRAMES = ("pandas", "polars", "pyarrow", "duckdb", "pyspark")
"""Packages whose tables can be read."""


def is_frame(value: object) -> bool:
    """Whether a value is of a package whose tables can be read.

    >>> is_frame(pa.table({"job": ["Cook"]})), is_frame("people.csv")
    (True, False)
    """
    return type(value).__module__.partition(".")[0] in (*FRAMES, "_duckdb")


def _is_a(frame: object, module: str, name: str) -> bool:
    """Whether it is an instance of a class, which is not imported for that."""
    return module in sys.modules and isinstance(
        frame, getattr(sys.modules[module], name)
    )


def _number_columns(columns: int) -> list[str]:
    return [f"c{i}" for i in range(columns)]


def _check_names(names: Sequence[str], words: str) -> None:
    if not names:
        raise EmptyTable(f"A table must have columns; {words} has none.")
    refuse_twice(names, words)


# pandas -----------------------------------------------------------------------------


def _from_pandas(frame: Any) -> Source:
    words = "the data frame"
    names = [str(c) for c in frame.columns]
    _check_names(names, words)
    shown = frame.copy(deep=False)
    shown.columns = _number_columns(len(names))
    shown.index = range(len(frame))  # else DuckDB may take it for a column
    mixed, several = set(), []
    for i, name in enumerate(names):
        column = shown[f"c{i}"]
        if _is_of_spans(column):  # DuckDB may take their numbers for the values
            column = column.astype(object)
        kind = _infer_objects(column)
        if kind == "string" or _is_text(column):  # looked at as those of files are
            mixed.add(i)
        if kind in ("", "string", "empty"):
            continue
        typed = _convert_objects(column, kind, name)
        shown[f"c{i}"] = typed
        if pa.types.is_string(typed.dtype.pyarrow_dtype):
            mixed.add(i)
            several += [name] if kind.startswith("mixed") else []
    if several:
        _warn_of_several(several)
    return Source(
        tuple(names),
        frame=shown,
        mixed=frozenset(mixed),
        words=words,
        rows=len(frame),
        takes=PANDAS_TAKES,
    )


def _infer_objects(column: Any) -> str:
    """What kind of Python objects a column holds; empty: it has a type."""
    import pandas as pd

    return (
        pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""
    )


def _is_of_spans(column: Any) -> bool:
    """Whether a column holds months or intervals, as pandas has and no engine."""
    import pandas as pd

    type_ = column.dtype
    if isinstance(type_, pd.CategoricalDtype):
        type_ = type_.categories.dtype
    return isinstance(type_, pd.PeriodDtype | pd.IntervalDtype)


def _is_text(column: Any) -> bool:
    """Whether pandas itself says that a column holds texts."""
    import pandas as pd

    typed = column.dtype != object and pd.api.types.is_string_dtype(column.dtype)
    return typed and not isinstance(column.dtype, pd.CategoricalDtype)


def _convert_objects(column: Any, kind: str, name: str) -> Any:
    """Python objects as Arrow values; as texts where they have no type in common.

    DuckDB would guess the type from some of the objects, at each statement anew, and
    fail on others later.
    """
    import pandas as pd

    values: pa.Array = _convert_lists(column) if kind == "mixed" else None
    if kind in OBJECTS:
        try:
            values = pa.array(column, from_pandas=True)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            values = None  # such as integers of more than 64 bits
    if values is None:
        values = _convert_to_texts(column, name)
    return pd.Series(pd.arrays.ArrowExtensionArray(values), index=column.index)


def _convert_lists(column: Any) -> pa.Array | None:
    """Lists as lists, of texts if need be; None: there are other objects, too.

    As texts nobody would find the values in them.
    """
    missing = column.isna()
    cells = [None if m else v for v, m in zip(column, missing, strict=True)]
    if not all(v is None or isinstance(v, LISTS) for v in cells):
        return None
    lists = [None if v is None else _order(v) for v in cells]
    try:
        return pa.array(lists, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        pass
    texts = [None if v is None else list(map(_value_as_text, v)) for v in lists]
    return pa.array(texts, pa.list_(pa.string()))


def _order(values: Any) -> list[Any]:
    return sorted(values, key=str) if isinstance(values, set | frozenset) else [*values]


def _value_as_text(value: object) -> str | None:
    return None if value is None else _object_as_text(value)


def _warn_of_several(names: Sequence[str]) -> None:
    warn(
        say(
            "A column should hold values of one type. Read as text, so that "
            "1 and '1' are one value, since there are several: {columns}. "
            "Convert them first.",
            columns=", ".join(map(repr, names)),
        )
    )


def _convert_to_texts(column: Any, name: str) -> pa.Array:
    missing = column.isna()
    texts = [
        None if m else _object_as_text(v) for v, m in zip(column, missing, strict=True)
    ]
    try:
        return pa.array(texts, pa.string())
    except UnicodeError:
        pass
    raise InputError(f"Column {name!r} must hold text that UTF-8 can encode.")


# polars and pyarrow -----------------------------------------------------------------


def _from_polars(frame: Any) -> Source:
    import polars as pl

    for name, kind in frame.schema.items():
        if kind == pl.Object:
            raise InputError(
                f"Column {name!r} must have a type of its own; it holds Python "
                "objects. Convert it to text."
            )
    return _from_arrow(frame.to_arrow(compat_level=pl.CompatLevel.newest()))


def _from_arrow(frame: Any) -> Source:
    words = "the table"
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()  # a stream can be read once only
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    names = list(frame.schema.names)
    _check_names(names, words)
    if not isinstance(frame, pa.Table):
        return Source(tuple(names), frame=frame, words=words)
    mixed = set()
    for i, field in enumerate(frame.schema):
        if pa.types.is_float16(field.type):
            frame = _cast_column(frame, i, pa.float32())
        if pa.types.is_decimal256(field.type):
            frame = _cast_column(frame, i, pa.string())
            mixed.add(i)
    return Source(
        tuple(names),
        frame=frame.rename_columns(_number_columns(len(names))),
        mixed=frozenset(mixed),
        words=words,
        rows=len(frame),
    )


def _cast_column(table: pa.Table, column: int, wanted: pa.DataType) -> pa.Table:
    """A column that DuckDB does not read, as one with the same values that it reads."""
    values = table.column(column).cast(wanted)
    return table.set_column(column, table.field(column).with_type(wanted), values)


def _from_spark(frame: Any) -> Source:
    from privet.engine.remote.spark import DataFrameAddress

    if type(frame).__module__.startswith("pyspark.pandas"):
        frame = frame.to_spark()
    names, words = list(frame.columns), "the DataFrame"
    _check_names(names, words)
    return Source(tuple(names), address=DataFrameAddress(frame), words=words)


# Relations --------------------------------------------------------------------------


class RepeatableRelation:
    """A relation of another connection as a stream that can be read repeatedly."""

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        names = _number_columns(len(relation.columns))
        schema = relation.limit(0).to_arrow_table().schema
        self.schema = pa.schema(
            [f.with_name(n) for f, n in zip(schema, names, strict=True)]
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # The stream is asked for three times per statement, and read once: the
        # relation must not run before the first batch is wanted.
        reader = pa.RecordBatchReader.from_batches(self.schema, self._read_batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _read_batches(self) -> Iterator[pa.RecordBatch]:
        reader = self._relation.to_arrow_reader(BATCH)
        try:
            for batch in reader:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self.schema)
        finally:
            reader.close()


def _from_relation(relation: Any) -> Source:
    import duckdb

    words, names = "the relation", list(relation.columns)
    _check_names(names, words)
    lossy = {i for i, t in enumerate(relation.types) if str(t) in LOSSY}
    if lossy:
        relation = _as_texts(relation, names, lossy)
    try:
        frame = RepeatableRelation(relation)
    except duckdb.Error:
        frame = None
    if frame is None:
        raise InputError("The relation must be usable; its connection refuses it.")
    return Source(tuple(names), frame=frame, mixed=frozenset(lossy), words=words)


def _as_texts(relation: Any, names: list[str], columns: set[int]) -> Any:
    """The relation with some columns as text, since Arrow would change their values."""
    if not differ(names):
        raise InputError(
            "Column names of the relation must differ by more than case, since it has "
            f"columns of type {', '.join(LOSSY)}."
        )
    chosen = (
        f"CAST({quoted(n)} AS VARCHAR) AS {quoted(n)}" if i in columns else quoted(n)
        for i, n in enumerate(names)
    )
    return relation.project(", ".join(chosen))


def _object_as_text(value: object) -> str:
    """An object as text; what it says where it cannot be told is withheld."""
    with suppress(Exception):
        return str(value)
    raise InputError(
        "A data frame must hold values that can be written as text; an object of type "
        f"{type(value).__name__} cannot."
    )


# Rows made from counts --------------------------------------------------------------

ROWS = 100_000
"""Rows that are handed over together."""


@dataclass(frozen=True, eq=False)
class StreamColumn:
    """A column as numbers, and the text each of them stands for."""

    name: str
    texts: Sequence[str | None]
    """The different texts; empty: the numbers are meant themselves."""
    numbers: NDArray[Any]
    """Which text each row (or group) has."""
    of: NDArray[Any] | None = None
    """Where numbers are given per group: the group of each row."""
    kind: str = "text"
    """What kind of values the texts are."""
    lists: bool = False
    """Whether the texts are lists as JSON writes them."""

    @property
    def coded(self) -> bool:
        """Whether the engine sees numbers; texts that mean more are handed over."""
        return self.kind == "text" and bool(self.texts)

    def in_rows(self) -> NDArray[Any]:
        """The numbers, one per row."""
        return self.numbers if self.of is None else self.numbers[self.of]


class Stream:
    """Columns as a stream that can be read repeatedly."""

    def __init__(self, columns: Sequence[StreamColumn]) -> None:
        self.columns = list(columns)
        first = self.columns[0]
        self.rows = len(first.numbers if first.of is None else first.of)
        self._texts = [
            arrow.texts(c.texts) if c.texts and not c.coded else None for c in columns
        ]
        kinds = [pa.int64() if t is None else pa.large_string() for t in self._texts]
        self.schema = pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._read_batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _read_batches(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, self.rows, ROWS):
            part = slice(start, start + ROWS)
            found = [self._slice_column(i, part) for i in range(len(self.columns))]
            yield pa.RecordBatch.from_arrays(found, schema=self.schema)

    def _slice_column(self, i: int, part: slice) -> pa.Array:
        column, texts = self.columns[i], self._texts[i]
        numbers = (
            column.numbers[part]
            if column.of is None
            else column.numbers[column.of[part]]
        )
        whole = arrow.integers(numbers.astype(np.int64, copy=False))
        return whole if texts is None else texts.take(whole)

    def as_source(self, words: str) -> Source:
        """The rows as an engine reads them."""
        texts = [i for i, text in enumerate(self._texts) if text is not None]
        return Source(
            tuple(c.name for c in self.columns),
            frame=self,
            mixed=frozenset(texts),
            words=words,
            rows=self.rows,
        )
