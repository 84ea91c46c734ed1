"""Staging: rows that DuckDB cannot read where they are, converted once.

They go some at a time into encrypted Parquet files of a scratch folder, whose key only
this process has. All who read the same source share them; the last one removes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from privet.engine.scratch import ScratchFolder
from privet.engine.sources.source import FilePart, Source
from privet.engine.sql import literal

KEY = "pv_key"
"""What statements call the key of the files."""


@dataclass(frozen=True)
class StagedRows:
    """Converted rows, and what was learnt of them."""

    folder: ScratchFolder = field(repr=False)
    """Where the files are."""
    key: str = field(repr=False)
    """What they are encrypted with."""
    paths: tuple[str, ...] = ()
    """The files."""
    rows: int = 0
    """How many rows they have."""
    names: tuple[str, ...] | None = None
    """The columns, where the source does not say them."""
    mixed: frozenset[int] = frozenset()
    """Columns of texts that may mean more."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the file says of columns, in words."""
    whole: frozenset[int] = frozenset()
    """Columns of floating numbers that are all whole."""

    @property
    def scan(self) -> str:
        """What to select the rows from."""
        files = ", ".join(map(literal, self.paths))
        scan = f"read_parquet([{files}], {name_key()}, hive_partitioning = false)"
        if not self.whole:
            return scan
        casts = ", ".join(f"CAST(c{c} AS BIGINT) AS c{c}" for c in sorted(self.whole))
        return f"(SELECT * REPLACE ({casts}) FROM {scan})"

    def describe(self, source: Source) -> Source:
        """The source, with what is known of it by now."""
        names = source.names if self.names is None else self.names
        return replace(
            source,
            names=names,
            mixed=self.mixed,
            labels=self.labels,
            rows=self.rows,
        )


class Staging:
    """Converts the rows of one source when they are first read."""

    def __init__(self, parts: Sequence[FilePart], words: str) -> None:
        self._parts, self._words = parts, words
        self._lock, self._users = Lock(), 0
        self._kept: StagedRows | None = None

    def hold(self, options: Mapping[str, Any]) -> StagedRows:
        """The converted rows; whoever holds them lets go of them."""
        from privet.engine.duckdb.conversion import convert

        with self._lock:
            if self._kept is None:
                self._kept = convert(self._parts, self._words, options)
            self._users += 1
            return self._kept

    def release(self) -> None:
        """Let go of the rows; nobody may need them any more."""
        with self._lock:
            self._users -= 1
            if not self._users and self._kept is not None:
                self._kept.folder.close()
                self._kept = None


def name_key(sign: str = "=") -> str:
    """What a statement says of the key."""
    return f"encryption_config {sign} {{footer_key: '{KEY}'}}"
