"""Connections to places where rows stay: a cluster or a server that counts for us."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import RandomBits
from privet.engine.randomise.randomise_rows import DisguiseBatches
from privet.engine.remote.partitioned_counts import PartitionedCounts
from privet.engine.run import StatementRunner


@dataclass(frozen=True)
class RemoteColumn:
    """A column as a place hands it over."""

    name: str
    """As the source writes it."""
    kind: str | None = None
    """What its texts mean; None: what its type says, or what all texts allow."""
    textual: bool = False
    """Whether values arrive as texts that may mean more."""
    written: str = ""
    """The DuckDB type such texts have in files; empty: what all texts allow."""


class Connection(StatementRunner):
    """Somewhere else, where statements run; only what they count comes here.

    Its rows are called pv_everybody, with columns c0, c1, …
    """

    name: ClassVar[str]
    """As the command line calls the engine."""
    version: str
    """Which software, and which version of it."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self._open = True

    @property
    def is_open(self) -> bool:
        """Whether statements can still be run."""
        return self._open

    def close(self) -> None:
        """Let go of the place; what we made there is forgotten."""
        if not self._open:
            return
        self._open = False
        self._worker.shutdown(wait=False, cancel_futures=True)
        with suppress(Exception):  # it may be gone already
            self._disconnect()

    # What each place does in its own way ---------------------------------------------

    def _disconnect(self) -> None:
        """Forget what was made, and end the connection."""
        raise NotImplementedError

    def list_columns(self) -> tuple[RemoteColumn, ...]:
        """The columns, in the order of the source."""
        raise NotImplementedError

    def upload(self, name: str, frame: pa.Table, column: int) -> None:
        """Let statements see a small table; its `v` are values of a column."""
        raise NotImplementedError

    def drop(self, name: str) -> None:
        """Take an uploaded table away again."""
        raise NotImplementedError

    def stream(
        self, select: str, scratch: Path, run: Run
    ) -> AbstractContextManager[Any]:
        """Rows that are to be written here, as a frame that DuckDB reads once.

        Files may be put into the folder `scratch`, which does not exist yet.
        """
        raise NotImplementedError

    # What a place may do in its own way -----------------------------------------------

    @contextmanager
    def draw(
        self, select: str, change: DisguiseBatches, run: Run
    ) -> Iterator[Iterable[pa.RecordBatch]]:
        """Reports of rows of codes, drawn as they arrive."""
        source = change.bits or RandomBits()
        with self.stream(select, change.scratch, run) as rows:
            yield (change.draw(batch, source) for batch in rows)

    def hold(
        self, statement: str, sizes: Sequence[int], run: Run
    ) -> PartitionedCounts | None:
        """Keep what a statement counts where it was counted: codes, and last people.

        A place that has no machines for that keeps nothing.
        """
        return None

    def write_parts(
        self, select: str, names: list[str], folder: Path, parts: int
    ) -> int:
        """Write what is selected as files of a new folder; how many rows they have.

        Rows stand there in an order that says nothing about the source. A place that
        cannot do that writes none.
        """
        return 0
