"""Statements that run in a worker thread: watched, and stopped when asked to.

What goes wrong in the engine is said in words that cannot quote a cell.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, ClassVar, TypeVar

import pyarrow as pa
from numpy.typing import NDArray

from privet.engine.protocol import Progress, Run
from privet.engine.sql import Dialect
from privet.errors import EngineError, InputError

# Failures ---------------------------------------------------------------------------

EXPECTED = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
LINE = re.compile(r"CSV Error on Line: (\d+)")
JSON_LINE = re.compile(r"Malformed JSON .* in line (\d+)", re.DOTALL)


class DoesNotFit(Exception):
    """The memory limit was reached although the engine may spill to disk."""


class TooLittleMemory(EngineError):
    """Not even the smallest part of the work fits the memory limit."""


def explain_error(error: BaseException, words: str) -> BaseException:
    """What an error of DuckDB means for the source that messages call `words`.

    Errors that arise while a result is streamed reach us through Arrow, as an OSError
    with DuckDB's text; so the text decides, and none of it is passed on.
    """
    text = str(error)
    if text.startswith("Out of Memory Error"):
        return DoesNotFit()
    if text.startswith("INTERRUPT Error"):
        return KeyboardInterrupt()
    if "CSV" in text or "nicode" in text or "utf-" in text.lower():
        return InputError(_explain_text_file(text, words))
    if found := JSON_LINE.search(text):
        return InputError(
            f"Each line of {words} must be a JSON object; "
            f"the one before line {found[1]} is not."
        )
    if "duplicate key" in text:
        return InputError(f"Each key of an object in {words} must stand there once.")
    return _explain_other(type(error).__name__.removesuffix("Exception"), text, words)


def _explain_text_file(text: str, words: str) -> str:
    line = LINE.search(text)
    place = f"line {line[1]}" if line else "a line"
    if found := EXPECTED.search(text):
        return (
            f"Each line of {words} must have {found[1]} values, as the header has; "
            f"{place} has {found[2]}."
        )
    if "Maximum line size" in text:
        return (
            f"Each line of {words} must be shorter than 2 MB; {place} is not. Look "
            "for a quote that is never closed."
        )
    if "unterminated quote" in text:
        return f"Quotes in {words} must be closed; the one of {place} is not."
    if "utf-16" in text.lower() and "utf-8" not in text.lower():
        return (
            f"Text of {words} must be UTF-16 of letters that take one unit each; it "
            "is not, or has signs such as emoji. Convert it to UTF-8."
        )
    if "nicode" in text or "utf-8" in text.lower():
        return (
            f"Text of {words} must be UTF-8; {place} is not. Give its encoding, "
            "such as encoding='latin-1'."
        )
    return (
        f"The file {words} must be regular CSV; it cannot be read at {place}. "
        "Look for mixed line ends and stray quotes."
    )


def _explain_other(kind: str, text: str, words: str) -> Exception:
    if "lock on file" in text:
        return EngineError(
            f"The database of {words} is open for writing in another process. Close "
            "it there, or read a copy."
        )
    if "Unique file handle conflict" in text:
        return InputError(
            f"The database of {words} must not be open in this program already. Close "
            "it, or hand over a relation such as con.table('people')."
        )
    if "disabled by configuration" in text or "disabled through configuration" in text:
        return InputError(
            f"A view must read tables of its own database only; {words} asks for a "
            "file that was not named. Nothing of it was read."
        )
    if kind in ("IO", "OSError"):
        return EngineError(
            f"DuckDB could not read {words}. It may have been moved, cut short or "
            "damaged since it was opened. DuckDB's own message is withheld, since it "
            "may quote people's data."
        )
    return EngineError(
        f"DuckDB could not read {words} ({kind} error). Its own message is withheld, "
        "since it may quote people's data."
    )


# Statements that run ----------------------------------------------------------------

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at a running statement."""


Taker = Callable[[NDArray[Any]], None]
"""Takes a batch of a column of numbers."""


class StatementRunner:
    """Where statements run, one at a time.

    They run in a worker thread, so that progress can be watched, a time limit kept,
    and Ctrl-C obeyed at once.
    """

    dialect: ClassVar[Dialect]
    """How statements are spelled here."""
    failures: ClassVar[tuple[type[BaseException], ...]] = ()
    """What goes wrong here; such messages may quote cells and are never passed on."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.total: int | None = None  # rows that were counted
        self.expected: int | None = None  # rows that a scan will read
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="privet-engine")

    # What each place does in its own way ---------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether statements can still be run."""
        raise NotImplementedError

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement in this thread; what it selects, or an empty table.

        A result of more than `most` rows does not fit.
        """
        raise NotImplementedError

    def take_columns(self, statement: str, takers: Sequence[Taker]) -> None:
        """Run a statement in this thread; who takes a column gets it in batches.

        Only where the dialect says that rows are at hand.
        """
        raise NotImplementedError

    def explain(self, error: BaseException) -> BaseException:
        """What a failure means, in words that cannot quote a cell."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Stop the statement that runs, if any does."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of everything; once or more often."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Bytes that may be held beside what the engine holds itself."""
        return 0

    def share(self) -> float | None:
        """How much of the running statement is done; None where nobody knows."""
        return None

    # What is the same everywhere ------------------------------------------------------

    def ask(self, statement: str) -> pa.Table:
        """Run a small statement."""
        try:
            return self.run_watched(
                lambda: self.fetch(statement), Run(), "opening", (1, 1)
            )
        except DoesNotFit:
            raise too_little_memory() from None

    def view(self, name: str, select: str) -> None:
        """Let statements see what is selected under a name; anew, if it has one."""
        self.ask(f"CREATE OR REPLACE TEMP VIEW {name} AS {select}")

    def fetch_one(self, statement: str) -> Any:
        """The one value a small statement selects."""
        return self.ask(statement)[0][0].as_py()

    def run_guarded(self, work: Callable[[], T]) -> T:
        """Run work; an error of the engine is replaced by one without cells."""
        failure: BaseException
        try:
            return work()
        except self.failures as error:
            failure = self.explain(error)
        raise failure  # outside of the handler: the engine's own error is forgotten

    def run_watched(
        self,
        work: Callable[[], T],
        run: Run,
        doing: str,
        step: tuple[int, int] = (1, 2),
    ) -> T:
        """Run work in the worker; report progress; stop it on Ctrl-C or time-out."""
        run.check()
        self._require_open()
        run.tell(Progress(doing, *step, 0.0, None))
        with self._submit(work) as future:
            while not wait([future], POLL).done:
                run.check()
                run.tell(self._measure_progress(doing, step))
            found = future.result()
            run.tell(Progress(doing, *step, 1.0, self._count_rows()))
            return found

    def run_apart(self, work: Callable[[], T]) -> T:
        """Run small work in the worker, too.

        In the main thread the engine may hear Ctrl-C itself, and fail in its own way.
        """
        if threading.current_thread() is not threading.main_thread():
            return self.run_guarded(work)
        self._require_open()
        with self._submit(work) as future:
            return future.result()

    def _require_open(self) -> None:
        if not self.is_open:
            raise InputError(
                f"A table must be open to be counted; {self.words} was closed."
            )

    @contextmanager
    def _submit(self, work: Callable[[], T]) -> Iterator[Future[T]]:
        """What the worker will have found; whoever stops waiting for it stops it."""
        future = self._worker.submit(self.run_guarded, work)
        try:
            yield future
        except BaseException:
            if not future.cancel():
                self._interrupt(future)
            raise

    def _interrupt(self, future: Future[T]) -> None:
        """Stop the statement and wait until it has really stopped.

        Asked for repeatedly, since between two statements nobody listens. Another
        Ctrl-C meanwhile asks for what is being done.
        """
        while not future.done():
            with suppress(KeyboardInterrupt):
                self.interrupt()
                wait([future], POLL)

    def _measure_progress(self, doing: str, step: tuple[int, int]) -> Progress:
        share, rows = self.share(), self._count_rows()
        read = None if share is None or rows is None else int(share * rows)
        # The whole share is told once, when the statement is over.
        return Progress(doing, *step, None if share is None else min(share, 0.99), read)

    def _count_rows(self) -> int | None:
        return self.total if self.expected is None else self.expected


def too_little_memory() -> EngineError:
    """What to say when even the smallest part of a count does not fit."""
    return TooLittleMemory(
        "The memory limit is too low for this table: the count does not fit, not even "
        "in parts. Raise memory_limit, or give the spill folder more room."
    )


def check_complete(counted: int, expected: int | None) -> None:
    """Everybody must have been counted once; a file may change under our hands."""
    if expected is not None and counted != expected:
        raise EngineError(
            f"The table changed while it was read: {expected} in all at first, "
            f"{counted} when counting. Count a copy that nobody writes to."
        )
