"""A private DuckDB connection whose statements can be watched and stopped."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from privet.engines import sql
from privet.engines.base import Progress, Run
from privet.errors import EngineError, InputError

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at a running statement."""


class DoesNotFit(Exception):
    """The memory limit was reached although the engine may spill to disk."""


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
        spill: str | PathLike[str] | None = None,
        threads: int | None = None,
    ) -> None:
        self.words = words
        self.total: int | None = None
        if spill is not None and not Path(spill).is_dir():
            raise InputError(f"spill must be a folder; {str(spill)!r} is not.")
        folder = tempfile.mkdtemp(prefix="privet-", dir=spill)
        self.con = duckdb.connect()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="privet-duckdb")
        self._close = weakref.finalize(self, _close, self.con, folder, self._worker)
        try:
            self._configure(folder, memory_limit, threads)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database and remove what it spilled; once or more often."""
        self._close()

    def _configure(
        self, folder: str, memory_limit: str | None, threads: int | None
    ) -> None:
        settings: dict[str, object] = {
            "enable_progress_bar": True,
            "enable_progress_bar_print": False,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "preserve_insertion_order": False,
            "TimeZone": "UTC",
            "memory_limit": memory_limit,
            "threads": threads,
        }
        for key, value in settings.items():
            if value is None:
                continue
            text = sql.literal(value) if isinstance(value, str) else str(value)
            try:
                self.con.execute(f"SET {key} = {text}")
            except duckdb.Error:
                raise InputError(
                    f"{key} must be a value DuckDB takes, such as memory_limit='4GB' "
                    f"or threads=2; got {value!r}."
                ) from None

    def fetch(self, statement: str) -> pa.Table:
        """Run a statement in this thread; what it selects, or an empty table."""
        relation = self.con.sql(statement)
        return pa.table({}) if relation is None else relation.to_arrow_table()

    def ask(self, statement: str) -> pa.Table:
        """Run a small statement at once."""
        return self._guarded(lambda: self.fetch(statement))

    def one(self, statement: str) -> Any:
        """The one value a small statement selects."""
        return self.ask(statement)[0][0].as_py()

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except duckdb.OutOfMemoryException:
            raise DoesNotFit from None
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise _explained(error, self.words) from None

    def watched(
        self,
        work: Callable[[], T],
        run: Run,
        doing: str,
        step: tuple[int, int] = (1, 2),
    ) -> T:
        """Run work in the worker; report progress; stop it on Ctrl-C or time-out."""
        run.check()
        future: Future[T] = self._worker.submit(self._guarded, work)
        try:
            while True:
                try:
                    return future.result(POLL)
                except NotYet:
                    if future.done():
                        raise
                    run.check()
                    run.tell(self._progress(doing, step))
        except BaseException:
            if not future.done():
                self.con.interrupt()
                future.exception()  # wait until the statement has really stopped
            raise

    def _progress(self, doing: str, step: tuple[int, int]) -> Progress:
        percent = self.con.query_progress()
        share = None if percent < 0 else min(percent / 100, 1.0)
        known = share is not None and self.total is not None
        rows = int(share * self.total) if known else None  # type: ignore[operator]
        return Progress(doing, *step, share, rows)


def too_little_memory() -> EngineError:
    """What to say when even the smallest part of a count does not fit."""
    return EngineError(
        "The memory limit is too low for this table: the count does not fit, not even "
        "in parts. Raise memory_limit, or give the spill folder more room."
    )


def _explained(error: duckdb.Error, words: str) -> Exception:
    """What went wrong, without the engine's own words, which may quote a cell."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    place = f"line {line[1]}" if line else "a line"
    if found := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return InputError(
            f"Each line of {words} must have {found[1]} values, as the header has; "
            f"{place} has {found[2]}."
        )
    if "unicode" in text.lower() or "utf-8" in text.lower():
        return InputError(
            f"Text of {words} must be UTF-8; {place} is not. Give its encoding, "
            "such as encoding='latin-1'."
        )
    if "unterminated quote" in text:
        return InputError(
            f"Quotes in {words} must be closed; the one of {place} is not."
        )
    if "CSV" in text:
        return InputError(
            f"The file {words} must be regular CSV; it cannot be read at {place}. "
            "Look for mixed line ends and stray quotes."
        )
    kind = type(error).__name__.removesuffix("Exception")
    return EngineError(
        f"DuckDB could not read {words} ({kind} error). Its own message is withheld, "
        "since it may quote people's data."
    )


def _close(
    con: duckdb.DuckDBPyConnection, folder: str, worker: ThreadPoolExecutor
) -> None:
    worker.shutdown(wait=False, cancel_futures=True)
    con.close()
    shutil.rmtree(folder, ignore_errors=True)
