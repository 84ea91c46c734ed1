"""A secure shuffle: rows of codes written in an order nobody knows.

Those of a stream are written as often as each says. Rows are numbers until they are
written, and the file holds each text once. A row's place is drawn from the system's
secure source: first one of so many parts, each of which fits the memory limit, then its
place there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from privet.engine import arrow
from privet.engine.duckdb.session import ROWS_AT_ONCE, Session
from privet.engine.export.row_writer import find_file_types
from privet.engine.protocol import Progress, Run, WriteQuery
from privet.engine.sources.dataframes import Stream, StreamColumn

BYTES = 40
"""What a row takes while it gets its place."""

MOST_PARTS = 2**16

GROUP_ROWS = 2**17
"""Rows of a row group: whoever reads the file reads several at the same time."""

Shown = Callable[[NDArray[Any]], pa.Array]
"""What some rows of a column show, by their numbers."""


def is_streamed(writing: WriteQuery) -> bool:
    """Whether rows are written like this: repeated, and to a file with types."""
    return writing.times is not None and writing.format == "parquet"


def is_coded(writing: WriteQuery, rows: int) -> bool:
    """Whether so many rows are written by their codes: each once, to a typed file."""
    merged = writing.weight or writing.times or writing.only or writing.distinct
    plain = writing.format == "parquet" and not merged and not writing.spread
    return plain and rows >= LEAST_CODED


LEAST_CODED = 20_000
"""Fewer rows are sorted in no time."""

AS_TEXT = {"VARCHAR", "BOOLEAN", "DATE"} | {
    f"{u}{size}INT" for u in ("", "U") for size in ("TINY", "SMALL", "BIG")
}
AS_TEXT |= {"INTEGER", "UINTEGER"}
"""Types whose values are equal only if they are the same, and survive as texts."""


def write_coded(
    session: Session,
    columns: Sequence[tuple[StreamColumn, str]],
    writing: WriteQuery,
    run: Run,
) -> int:
    """Write the codes of all rows as the texts they stand for, each as its type."""
    shown = [_encode_column(session, c, wanted, run) for c, wanted in columns]
    times, room = np.ones(len(columns[0][0].numbers), dtype=np.int64), session.room
    return session.run_guarded(lambda: _write_batches(shown, times, room, writing, run))


def write_stream(
    session: Session, stream: Stream, writing: WriteQuery, run: Run
) -> int:
    """Write the file; how many rows it has."""
    column = {c.name: c for c in stream.columns}
    chosen = [c for name in writing.columns for c in _spread(column[name], writing)]
    shown = [_encode_column(session, c, wanted, run) for c, wanted in chosen]
    assert writing.times is not None
    times = column[writing.times].in_rows()
    room = session.room
    return session.run_guarded(lambda: _write_batches(shown, times, room, writing, run))


def _spread(
    column: StreamColumn, writing: WriteQuery
) -> Iterator[tuple[StreamColumn, str]]:
    """A column with its type, or those that are written in its place."""
    spread = writing.spread.get(column.name)
    if spread is None:
        yield column, writing.types.get(column.name, "")
        return
    cells = [spread.cells[text] for text in column.texts]
    for j, (name, wanted) in enumerate(zip(spread.names, spread.types, strict=True)):
        texts = [c[j] for c in cells]
        yield replace(column, name=name, texts=texts, kind="text"), wanted


def _write_batches(
    shown: list[tuple[StreamColumn, Shown]],
    times: NDArray[np.int64],
    room: int,
    writing: WriteQuery,
    run: Run,
) -> int:
    schema = pa.schema(
        [
            pa.field(c.name, show(c.numbers[:0]).type, _has_missing(c))
            for c, show in shown
        ]
    )
    done, total = 0, int(times.sum())
    with pq.ParquetWriter(
        writing.path,
        schema,
        compression="zstd",
        store_schema=False,
        write_statistics=False,  # as long as everything else, for nobody
    ) as file:
        for rows in _shuffle_rows(times, total, room):
            run.check()
            run.tell(Progress("writing", 1, 1, done / total, done))
            numbers = _look_up_numbers([column for column, _ in shown], rows)
            found = [show(n) for (_, show), n in zip(shown, numbers, strict=True)]
            batch = pa.RecordBatch.from_arrays(found, schema=schema)
            file.write_batch(batch, row_group_size=GROUP_ROWS)
            done += len(rows)
    return done


def _shuffle_rows(
    times: NDArray[np.int64], total: int, room: int
) -> Iterator[NDArray[Any]]:
    """Which row stands where, some at a time.

    Every order is as likely as any other: parts are drawn for each row by itself.
    """
    narrow = np.int32 if len(times) < 2**31 else np.int64
    # times 2 0 3 give the rows 0 0 2 2 2: as long as what is written.
    row = np.repeat(np.arange(len(times), dtype=narrow), times)
    for part in _draw_parts(total, room):
        own = row if part is None else row[part]
        order = _draw_order(len(own))
        for start in range(0, len(own), ROWS_AT_ONCE):
            yield own[order[start : start + ROWS_AT_ONCE]]


def _draw_parts(total: int, room: int) -> Iterator[NDArray[np.bool_] | None]:
    """Which rows are in each part; None: all are in one."""
    wanted = ceil(total * BYTES / max(room, 1))
    if wanted <= 1:
        yield None
        return
    # Up to a power of two: 5 parts become 8.
    parts = min(1 << (wanted - 1).bit_length(), MOST_PARTS)
    drawn = _draw_numbers(total, np.uint8 if parts <= 2**8 else np.uint16)
    drawn = drawn & (parts - 1)  # a power of two: all are as likely
    for part in range(parts):
        yield drawn == part


def _draw_order(rows: int) -> NDArray[np.int64]:
    """A drawn order of so many rows: numbers are drawn, and sorted with the rows.

    Sorted as one integer, which takes a third of the time of sorting positions; rows
    whose numbers are equal beyond the bits that hold the row draw again. Of a million
    rows 20 bits hold the row, 44 the drawn number.
    """
    bits = np.uint64(rows.bit_length())
    both = _draw_numbers(rows, np.uint64) >> bits << bits
    both |= np.arange(rows, dtype=np.uint64)
    both.sort()
    number = both >> bits
    equal = np.flatnonzero(number[1:] == number[:-1])  # i: places i and i + 1
    both &= (np.uint64(1) << bits) - np.uint64(1)
    order = both.view(np.int64)
    # 4 and 5 in `equal` are one run: places 4, 5 and 6 have the same number.
    for run in np.split(equal, np.flatnonzero(np.diff(equal) > 1) + 1):
        if len(run):
            same = slice(run[0], run[-1] + 2)
            order[same] = order[same][
                np.argsort(_draw_numbers(len(run) + 1, np.uint64))
            ]
    return order


def _draw_numbers(rows: int, kind: Any) -> NDArray[Any]:
    """Numbers that nobody can guess or repeat."""
    return np.frombuffer(os.urandom(rows * np.dtype(kind).itemsize), kind)


def _encode_column(
    session: Session, column: StreamColumn, wanted: str, run: Run
) -> tuple[StreamColumn, Shown]:
    """How a column is written, as the type that is wanted or that fits all texts."""
    if not column.texts:
        return column, arrow.integers
    if column.lists:
        listed = [None if t is None else json.loads(t) for t in column.texts]
        sets = pa.array(listed, pa.list_(pa.string()))
        return column, lambda numbers: sets.take(arrow.integers(numbers))
    values, typed = arrow.texts(column.texts), None
    if wanted or not column.coded:
        typed = _cast_texts(session, values, wanted, run)
    if typed is not None:
        return column, lambda numbers: typed.take(arrow.integers(numbers))
    return _encode_by_label(column)


def _encode_by_label(column: StreamColumn) -> tuple[StreamColumn, Shown]:
    """How texts are written once, in the order of the alphabet.

    The order they come in may be that of how many people have them, which is private.
    Groups get the places of their texts at once: there are fewer of them than rows.
    """
    texts, grouped = column.texts, column.of is not None
    labels = sorted({t for t in texts if t is not None})
    place = {label: i for i, label in enumerate(labels)}
    # Texts b, none, a: labels a, b; of the numbers 0 1 2 the places are 1 -1 0.
    places = np.array([-1 if t is None else place[t] for t in texts], dtype=np.int32)
    known = _shorten_offsets(arrow.texts(labels))
    missing = None in texts

    def encode_texts(numbers: NDArray[Any]) -> pa.Array:
        found = numbers if grouped else places[numbers]
        at = arrow.integers(found.clip(min=0) if missing else found)
        if missing:
            at = arrow.mask_values(at, found < 0)
        return pa.DictionaryArray.from_arrays(at, known)

    if grouped:
        named = [*labels, None]
        column = replace(column, numbers=places[column.numbers], texts=named)
    return column, encode_texts


def _shorten_offsets(texts: pa.Array) -> pa.Array:
    """The usual type of texts; a cast would first import all that Arrow computes."""
    valid, ends, letters = texts.buffers()
    if letters.size >= 2**31:
        return texts
    short = pa.py_buffer(np.frombuffer(ends, np.int64).astype(np.int32))
    return pa.Array.from_buffers(pa.string(), len(texts), [valid, short, letters])


def _has_missing(column: StreamColumn) -> bool:
    """Whether a row may have no value; a file of none is read in less time."""
    missing = [-1, *(i for i, text in enumerate(column.texts) if text is None)]
    return bool(column.texts) and bool(np.isin(column.numbers, missing).any())


def _look_up_numbers(
    columns: list[StreamColumn], rows: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """The numbers of some rows, column by column; groups are looked up once."""
    groups: dict[int, NDArray[Any]] = {}
    for column in columns:
        if column.of is None:
            yield column.numbers[rows]
            continue
        if id(column.of) not in groups:
            groups[id(column.of)] = column.of[rows]
        yield column.numbers[groups[id(column.of)]]


def _cast_texts(
    session: Session, values: pa.Array, wanted: str, run: Run
) -> pa.Array | None:
    """Texts as a type, or as what they mean, where files have a type for it."""
    code = arrow.integers(np.arange(len(values)))
    session.register("pv_values", arrow.frame(code=code, v=values))
    try:
        kind = wanted or find_file_types(session, ["v"], "pv_values", run)["v"]
        if not kind:
            return None
        cast = f"SELECT CAST(v AS {kind}) AS v FROM pv_values ORDER BY code"
        return session.ask(cast)["v"].combine_chunks()
    finally:
        session.unregister("pv_values")
