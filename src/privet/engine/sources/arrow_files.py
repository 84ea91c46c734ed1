"""Arrow files: the IPC format, also called Feather, as files and as streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from privet.engine.sources.file_stamps import WatchedFiles
from privet.engine.sources.source import Source, refuse_twice
from privet.errors import EmptyTable, InputError

BROKEN = (pa.ArrowException, OSError, ValueError, EOFError, KeyError, TypeError)
"""What goes wrong in a file that is cut short, damaged or of another kind."""


class ArrowFile:
    """The rows of a file as a stream that can be read repeatedly."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = WatchedFiles([str(path)])
        self._files.hold()
        self.rows, found = 0, None
        for batch in self._read():
            batch.validate(full=True)  # a stranger's offsets may lead anywhere
            self.rows += len(batch)
            found = batch.schema
        schema = found or self._open().schema
        self.names = list(schema.names)
        kinds = [_choose_type(field.type) for field in schema]
        self.mixed = frozenset(
            i for i, f in enumerate(schema) if pa.types.is_decimal256(f.type)
        )
        self.schema = pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.schema, self._convert())
        return reader.__arrow_c_stream__(requested_schema)

    def _convert(self) -> Iterator[pa.RecordBatch]:
        for batch in self._read():
            columns = [
                column if column.type == field.type else column.cast(field.type)
                for column, field in zip(batch.columns, self.schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _open(self) -> Any:
        file = pa.memory_map(str(self._path))
        try:
            return pa.ipc.open_file(file)
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file)

    def _read(self) -> Iterator[pa.RecordBatch]:
        """The rows of the file that was validated, and of no other."""
        self._files.check()
        yield from self._read_batches()
        self._files.check()

    def _read_batches(self) -> Iterator[pa.RecordBatch]:
        reader = self._open()
        if isinstance(reader, pa.RecordBatchStreamReader):
            yield from reader
            return
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _choose_type(type_: pa.DataType) -> pa.DataType:
    """A type that DuckDB reads, which holds the same values."""
    if pa.types.is_float16(type_):
        return pa.float32()
    return pa.string() if pa.types.is_decimal256(type_) else type_


def from_arrow_file(path: Path, words: str) -> Source:
    """One file, which is read where it is."""
    try:
        file = ArrowFile(path)
    except BROKEN:
        file = None
    if file is None:
        raise InputError(
            f"File {str(path)!r} must be an Arrow file (IPC, or Feather version 2); it "
            "cannot be read as one."
        )
    if not file.names:
        raise EmptyTable(f"A table must have columns; {words} has none.")
    refuse_twice(file.names, words)
    return Source(
        tuple(file.names), frame=file, mixed=file.mixed, words=words, rows=file.rows
    )
