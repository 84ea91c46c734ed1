"""What all strategies of counting have in common, and the limits they keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from privet.engine.counting.coded_rows import CodedRows, Step, Tables
from privet.engine.protocol import CountQuery


@dataclass(frozen=True)
class Limits:
    """What is held in memory at once."""

    cells_at_once: int = 8_000_000
    """Cells of a count."""
    cells_per_row: int = 4
    """With more cells than that for each row, most of an array would stay empty."""
    keys_at_once: int = 8_000_000
    """Keys of rows that are sorted here, whether they differ or not."""
    keys_in_room: int = 32_000_000
    """Keys of wide sets that are sorted beside arrays of narrow ones; with many more a
    database with many cores groups them sooner."""
    key_bytes: int = 24
    """What a key takes while it is sorted."""
    sampled_rows: int = 1_000_000
    """Rows that tell whether most differ."""


LIMITS = Limits()


class CountStrategy:
    """A way to count queries over coded rows; all ways give the same integers."""

    def __init__(self, rows: CodedRows, step: Step, limits: Limits = LIMITS) -> None:
        self._rows = rows
        self._step = step
        self._limits = limits

    def count(
        self, queries: Sequence[CountQuery]
    ) -> Iterator[tuple[CountQuery, Tables]]:
        """What each query needs counted; in several parts, each with whole groups.

        Whatever does not fit raises `DoesNotFit` before the first part is given.
        """
        raise NotImplementedError
