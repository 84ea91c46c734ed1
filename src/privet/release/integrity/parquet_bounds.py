"""Parquet files that strangers wrote: how much they unpack to, before any row is read.

A page of a kilobyte can say that it unpacks to gigabytes, and a footer that it has a
billion rows; a footer may also say less than its pages do. So the footer and the head
of every page are read, and no page is unpacked. What the manifest says of rows must be
what the footer says, and nothing may be out of all proportion to the bytes there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

MOST_PER_BYTE = 1_000
"""Bytes that one byte unpacks to; what privet writes unpacks to a hundred at most."""

MOST_ROWS_PER_BYTE = 10_000
"""Rows that one byte stands for; a million rows that are all alike take a kilobyte."""

ALWAYS = 2**24
"""So many unpacked bytes, and rows, are never too many."""

HEADS = (2**9, 2**20)
"""Bytes to read of the head of a page: as it mostly is, and with the least and the
largest value in it, which may be long."""


def find_excess(path: Path, rows: int) -> list[str]:
    """What of a file, or a folder of parts, must not be read."""
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    found, unpacked, size = 0, 0, 0
    for part in parts:
        try:
            footer = pq.read_metadata(part, memory_map=False)
            with part.open("rb") as file:
                unpacked += sum(_measure_chunks(file, footer))
        except (OSError, ValueError, KeyError, IndexError, pa.ArrowException):
            return [f"File {path.name!r} must be a Parquet file; it is not."]
        found += footer.num_rows
        size += part.stat().st_size
    if found != rows:
        return [f"File {path.name!r} must have {rows:,} rows; it has {found:,}."]
    most = max(ALWAYS, size * MOST_PER_BYTE), max(ALWAYS, size * MOST_ROWS_PER_BYTE)
    if unpacked > most[0] or found > most[1]:
        return [
            f"File {path.name!r} must not unpack to more than {MOST_PER_BYTE:,} times "
            "its bytes; it says so."
        ]
    return []


def _measure_chunks(file: BinaryIO, footer: Any) -> Iterator[int]:
    """What each column of each row group unpacks to, by its pages or its footer."""
    for i in range(footer.num_row_groups):
        group = footer.row_group(i)
        for j in range(group.num_columns):
            column = group.column(j)
            yield max(column.total_uncompressed_size, _measure_pages(file, column))


def _measure_pages(file: BinaryIO, column: Any) -> int:
    """What the pages of a column say they unpack to."""
    at = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset:
        at = min(at, column.dictionary_page_offset)
    end, unpacked = at + column.total_compressed_size, 0
    while at < end:
        length, fields = _read_head(file, at, end)
        whole, packed = fields[2], fields[3]
        if whole < 0 or packed < 0:
            raise ValueError("a page of less than nothing")
        unpacked += whole
        at += length + packed
    return unpacked


def _read_head(file: BinaryIO, at: int, end: int) -> tuple[int, dict[int, int]]:
    """How long the head of a page is, and what it says."""
    for size in HEADS:
        file.seek(at)
        head = _PageHead(file.read(min(size, end - at)))
        with suppress(IndexError):
            fields = head.read_fields()
            return head.at, fields
    raise ValueError("a page without an end")


class _PageHead:
    """The head of a page, in Thrift's compact protocol; only its integers are kept."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def read_fields(self, depth: int = 0) -> dict[int, int]:
        """The integers of a record by their numbers; records within are passed over."""
        if depth > 4:
            raise ValueError("a page with records within records")
        found: dict[int, int] = {}
        number = 0
        while head := self._read_byte():
            number = number + (head >> 4) if head >> 4 else self._read_integer()
            kind = head & 15
            if kind in (1, 2):  # true and false, which have no bytes of their own
                continue
            if kind in (4, 5, 6):
                found[number] = self._read_integer()
            elif kind == 8:
                length = self._read_varint()
                self.at += length
            elif kind == 12:
                self.read_fields(depth + 1)
            else:
                raise ValueError("a page that says what no page says")
        return found

    def _read_byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _read_varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._read_byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number without an end")

    def _read_integer(self) -> int:
        value = self._read_varint()
        return (value >> 1) ^ -(value & 1)
