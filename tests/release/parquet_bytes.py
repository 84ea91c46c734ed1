"""Every part of a Parquet file that is not rows: pages, dictionaries, statistics.

pyarrow shows the footer and the rows. What stands in dictionary pages, in which order,
is read here from the bytes: page headers are in Thrift's compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DICTIONARY, DATA, DATA_2 = 2, 0, 3
"""Types of pages."""


class Thrift:
    """Reads Thrift's compact protocol."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def varint(self) -> int:
        shift = value = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while (head := self.data[self.at]) != 0:
            self.at += 1
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            found[field] = self.value(head & 15)
        self.at += 1
        return found

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == 12:
            return self.struct()
        raise AssertionError(f"a field of type {kind} in a page header")


@dataclass(frozen=True)
class Page:
    """A page of a column."""

    kind: int
    header: dict[int, Any]
    body: bytes


def list_pages(data: bytes, column: pq.ColumnChunkMetaData) -> Iterator[Page]:
    """The pages of one column of a row group, in their order."""
    start = column.dictionary_page_offset or column.data_page_offset
    at, end = start, start + column.total_compressed_size
    while at < end:
        thrift = Thrift(data, at)
        header = thrift.struct()
        body = data[thrift.at : thrift.at + header[3]]
        at = thrift.at + header[3]
        yield Page(header[1], header, body)
    assert at == end


def read_dictionary(page: Page, column: pq.ColumnChunkMetaData) -> list[Any]:
    """The values of a dictionary page, in their order."""
    body = page.body
    if column.compression != "UNCOMPRESSED":
        codec = column.compression.lower()
        body = pa.decompress(body, page.header[2], codec=codec, asbytes=True)
    count = page.header[7][1]
    if column.physical_type == "BYTE_ARRAY":
        found, at = [], 0
        for _ in range(count):
            (size,) = struct.unpack_from("<I", body, at)
            found.append(body[at + 4 : at + 4 + size].decode())
            at += 4 + size
        assert at == len(body)
        return found
    form = {"INT32": "i", "INT64": "q", "DOUBLE": "d", "FLOAT": "f"}
    return list(struct.unpack(f"<{count}{form[column.physical_type]}", body))


@dataclass(frozen=True)
class Chunk:
    """A column of a row group: everything about it but the rows."""

    name: str
    rows: list[Any]
    dictionary: list[Any] | None
    told: dict[str, Any]


def list_chunks(path: Path) -> Iterator[Chunk]:
    """Every column of every row group."""
    data, file = path.read_bytes(), pq.ParquetFile(path)
    for group in range(file.metadata.num_row_groups):
        rows = file.read_row_group(group)
        for i in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(i)
            pages = list(list_pages(data, column))
            known = [read_dictionary(p, column) for p in pages if p.kind == DICTIONARY]
            stats = column.statistics
            told = {
                "encodings": sorted(column.encodings),
                "compression": column.compression,
                "pages": [p.kind for p in pages],
                "rows": column.num_values,
                "statistics": None if stats is None else stats.to_dict(),
                "metadata": column.metadata,
            }
            cells = rows.column(i).to_pylist()
            yield Chunk(column.path_in_schema, cells, known[0] if known else None, told)


def describe_file(path: Path) -> dict[str, Any]:
    """What a file says of itself, whatever the order of its rows."""
    found = pq.read_metadata(path)
    return {
        "created_by": found.created_by,
        "version": found.format_version,
        "metadata": found.metadata,
        "schema": str(found.schema).partition("\n")[2],  # the first line has an address
        "groups": [found.row_group(i).num_rows for i in range(found.num_row_groups)],
        "columns": [
            (c.name, sorted(c.dictionary or (), key=repr), c.told)
            for c in list_chunks(path)
        ],
    }
