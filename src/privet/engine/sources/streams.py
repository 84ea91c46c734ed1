"""Rows of a release made from counts when they are read, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow
from privet.engine.sources.source import Source

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
        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, self.rows, ROWS):
            part = slice(start, start + ROWS)
            found = [self._part(i, part) for i in range(len(self.columns))]
            yield pa.RecordBatch.from_arrays(found, schema=self.schema)

    def _part(self, i: int, part: slice) -> pa.Array:
        column, texts = self.columns[i], self._texts[i]
        numbers = (
            column.numbers[part]
            if column.of is None
            else column.numbers[column.of[part]]
        )
        whole = arrow.integers(numbers.astype(np.int64, copy=False))
        return whole if texts is None else texts.take(whole)

    def source(self, words: str) -> Source:
        """The rows as an engine reads them."""
        texts = [i for i, text in enumerate(self._texts) if text is not None]
        return Source(
            tuple(c.name for c in self.columns),
            frame=self,
            mixed=frozenset(texts),
            words=words,
            rows=self.rows,
        )
