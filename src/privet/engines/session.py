"""A private DuckDB connection whose statements can be watched and stopped."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import PythonUDFType

from privet.engines import arrays, kinds, sql
from privet.engines.base import Progress, Run
from privet.engines.failures import DoesNotFit, explained
from privet.errors import EngineError, InputError

T = TypeVar("T")

FEW = 1_000
"""Texts that are looked at before all of them are."""

POLL = 0.05
"""Seconds between two looks at a running statement."""

ROWS_AT_ONCE = 1_000_000
"""Rows of a result that are fetched together."""

SETTINGS: dict[str, object] = {
    "enable_progress_bar": True,
    "enable_progress_bar_print": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "preserve_insertion_order": False,
    "TimeZone": "UTC",
    # Joins are written with the people first and small dictionaries after them. Where
    # DuckDB does not know how many rows a stream has it would hold all people in
    # memory instead: 1.5 GB and three times as slow for 4 million rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
    # Python objects were looked at when the frame was handed over; see frames.py.
    "pandas_analyze_sample": 0,
}
"""How our database differs from others."""


class Session:
    """One in-memory database of our own.

    Statements run in a worker thread, so that progress can be watched, a time limit
    kept, and Ctrl-C obeyed at once.
    """

    def __init__(
        self,
        words: str,
        *,
        memory_limit: str | None = None,
        spill: str | os.PathLike[str] | None = None,
        spill_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.words = words
        self.total: int | None = None  # rows that were counted
        self.expected: int | None = None  # rows that a scan will read
        if spill is not None and not Path(spill).is_dir():
            raise InputError(f"spill must be a folder; {str(spill)!r} is not.")
        folder = tempfile.mkdtemp(prefix="privet-", dir=spill)
        self.con = duckdb.connect()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="privet-duckdb")
        self._close = weakref.finalize(self, _close, self.con, folder, self._worker)
        wanted = {
            "temp_directory": folder,
            "memory_limit": memory_limit,
            "max_temp_directory_size": spill_limit,
            "threads": threads,
        }
        try:
            self._configure({**SETTINGS, **wanted})
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database and remove what it spilled; once or more often."""
        self._close()

    def _configure(self, settings: dict[str, object]) -> None:
        for key, value in settings.items():
            if value is None:
                continue
            text = sql.literal(value) if isinstance(value, str) else str(value)
            try:
                self.con.execute(f"SET {key} = {text}")
            except duckdb.Error:
                name = OPTIONS.get(key, key)
                raise InputError(
                    f"{name} must be a value DuckDB takes, such as "
                    f"memory_limit='4GB', spill_limit='50GB' or threads=2; "
                    f"got {value!r}."
                ) from None

    def register(self, name: str, frame: object) -> None:
        """Let statements see a frame under a name."""
        self._guarded(lambda: self.con.register(name, frame))

    def unregister(self, name: str) -> None:
        """Take a frame away again."""
        self._guarded(lambda: self.con.unregister(name))

    @contextmanager
    def drawing(self) -> Iterator[str]:
        """Let statements draw a number for each row from the system's secure source.

        Gives the name of the function; its argument means nothing.
        """
        self._guarded(
            lambda: self.con.create_function(
                DRAWN,
                _drawn,
                ["INTEGER"],
                "UBIGINT",
                type=PythonUDFType.ARROW,
                side_effects=True,
            )
        )
        try:
            yield DRAWN
        finally:
            self._guarded(lambda: self.con.remove_function(DRAWN))

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement in this thread; what it selects, or an empty table.

        A result of more than `most` rows does not fit.
        """
        relation = self.con.sql(statement)
        if relation is None:
            return arrays.frame()
        reader = relation.to_arrow_reader(ROWS_AT_ONCE)
        batches: list[pa.RecordBatch] = []
        rows = 0
        try:
            for batch in reader:
                batches.append(batch)
                rows += len(batch)
                if most is not None and rows > most:
                    raise DoesNotFit
        finally:
            reader.close()  # an open reader would block the connection
        return pa.Table.from_batches(batches, reader.schema)

    def ask(self, statement: str) -> pa.Table:
        """Run a small statement."""
        try:
            return self.watched(lambda: self.fetch(statement), Run(), "opening", (1, 1))
        except DoesNotFit:
            raise too_little_memory() from None

    def possible_kinds(self, column: str, *, json: bool) -> list[str]:
        """The kinds of `kinds.TEXT_KINDS` that a few texts of a column allow.

        Matching patterns is slow, and most columns of texts are ruled out at once.
        """
        few = f"(SELECT {column} FROM pv_people WHERE {column} IS NOT NULL LIMIT {FEW})"
        fits = kinds.fitting(column, json=json)
        found = self.ask(sql.describe(column, few, fits, precise=False))
        _, texts, _, _, *n = (col[0].as_py() for col in found.columns)
        return kinds.possible(texts, *n)

    def one(self, statement: str) -> Any:
        """The one value a small statement selects."""
        return self.ask(statement)[0][0].as_py()

    def _guarded(self, work: Callable[[], T]) -> T:
        """Run work; an error of the engine is replaced by one without cells."""
        failure: BaseException
        try:
            return work()
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            failure = explained(error, self.words)
        raise failure  # outside of the handler: the engine's own error is forgotten

    def watched(
        self,
        work: Callable[[], T],
        run: Run,
        doing: str,
        step: tuple[int, int] = (1, 2),
    ) -> T:
        """Run work in the worker; report progress; stop it on Ctrl-C or time-out."""
        run.check()
        if not self._close.alive:
            raise InputError(
                f"A table must be open to be counted; {self.words} was closed."
            )
        run.tell(Progress(doing, *step, 0.0, None))
        future: Future[T] = self._worker.submit(self._guarded, work)
        try:
            return self._awaited(future, run, doing, step)
        except BaseException:
            if not future.cancel():
                self._interrupt(future)
            raise

    def _awaited(
        self, future: Future[T], run: Run, doing: str, step: tuple[int, int]
    ) -> T:
        while True:
            try:
                return future.result(POLL)
            except NotYet:
                if future.done():
                    raise
            run.check()
            run.tell(self._progress(doing, step))

    def _interrupt(self, future: Future[T]) -> None:
        """Stop the statement and wait until it has really stopped.

        Asked for repeatedly, since between two statements nobody listens.
        """
        while not future.done():
            self.con.interrupt()
            wait([future], POLL)

    def _progress(self, doing: str, step: tuple[int, int]) -> Progress:
        percent = self.con.query_progress()
        share = None if percent < 0 else min(percent / 100, 1.0)
        rows = self.total if self.expected is None else self.expected
        read = None if share is None or rows is None else int(share * rows)
        return Progress(doing, *step, share, read)


DRAWN = "pv_drawn"
"""What statements call the secure source."""


def _drawn(rows: pa.ChunkedArray) -> pa.Array:
    """As many numbers as there are rows; nobody can guess or repeat them."""
    return arrays.integers(np.frombuffer(os.urandom(8 * len(rows)), np.uint64))


OPTIONS = {"max_temp_directory_size": "spill_limit"}
"""What we call DuckDB's settings, where that differs."""


def too_little_memory() -> EngineError:
    """What to say when even the smallest part of a count does not fit."""
    return EngineError(
        "The memory limit is too low for this table: the count does not fit, not even "
        "in parts. Raise memory_limit, or give the spill folder more room."
    )


def _close(
    con: duckdb.DuckDBPyConnection, folder: str, worker: ThreadPoolExecutor
) -> None:
    worker.shutdown(wait=False, cancel_futures=True)
    con.close()
    shutil.rmtree(folder, ignore_errors=True)
