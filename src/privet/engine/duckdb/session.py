"""A private DuckDB connection: statements watched and stopped, memory limited.

It reads the files it is told of and no others, whatever a statement or a view inside a
foreign database asks for; see docs/decisions/0045-files-that-were-named.md.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from duckdb.func import PythonUDFType
from numpy.typing import NDArray

from privet.engine import arrow, sql, text_types
from privet.engine.protocol import Run
from privet.engine.run import (
    POLL,
    DoesNotFit,
    StatementRunner,
    T,
    Taker,
    explain_error,
    too_little_memory,
)
from privet.engine.scratch import ScratchFolder
from privet.engine.sources.file_stamps import WatchedFiles
from privet.errors import InputError, PrivetError

# Sizes of memory --------------------------------------------------------------------

SHARE = 4
"""What is held beside the database may take one part in so many of its limit."""

UNITS = {
    "": 1,
    "B": 1,
    "BYTES": 1,
    **{f"{p}B": 1000**i for i, p in enumerate("KMGTPE", 1)},
    **{f"{p}IB": 1024**i for i, p in enumerate("KMGTPE", 1)},
}


def parse_size(limit: str) -> int:
    """Bytes of a memory limit as DuckDB takes it.

    >>> parse_size("4GB"), parse_size("1.5 KiB")
    (4000000000, 1536)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(limit))
    unit = found[2].upper() if found else "?"
    if found is None or unit not in UNITS:
        raise InputError(f"memory_limit must be a size such as 4GB; got {limit!r}.")
    return int(float(found[1]) * UNITS[unit])


def memory_here() -> int:
    """The bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# The session ------------------------------------------------------------------------

__all__ = ["Session", "too_little_memory"]

FEW = 1_000
"""Texts that are looked at before all of them are."""

MIN_AT_ONCE, MAX_AT_ONCE, CELLS_AT_ONCE = 4, 250, 5_000_000
"""Columns that share a scan: fewer of long ones, whose values need memory."""

ROWS_AT_ONCE = 1_000_000
"""Rows of a result that are fetched together."""

PROGRESS = ("enable_progress_bar", "enable_progress_bar_print")
"""Without these nothing is told between two statements, and all else is as it was."""

SETTINGS: dict[str, object] = {
    "enable_progress_bar": True,
    "enable_progress_bar_print": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
    "preserve_insertion_order": False,
    # Each statement would read the end of the file again; a file that was replaced is
    # noticed all the same, and one that was written to by `WatchedFiles`. DuckDB 1.5
    # fails with an internal error then where rows come from a program's own file.
    "parquet_metadata_cache": not duckdb.__version__.startswith("1."),
    "TimeZone": "UTC",
    # Joins are written with the people first and small dictionaries after them. Where
    # DuckDB does not know how many rows a stream has it would hold all people in
    # memory instead: 1.5 GB and three times as slow for 4 million rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
    # Python objects were looked at when the frame came; see sources/dataframes.py.
    "pandas_analyze_sample": 0,
    "allow_persistent_secrets": False,
    "allow_community_extensions": False,
}
"""How our database differs from others."""

SEALED: dict[str, object] = {
    "enable_external_access": False,
    "lock_configuration": True,
}
"""What is set last: files that were not named are out of reach, for good."""

SPILL, OUTPUT = "spill", "output"
"""Folders in our own: what does not fit into memory, and files until they are moved."""

OPENSSL = "httpfs"
"""The extension of DuckDB that brings OpenSSL, whose keys nobody can guess."""

LARGE = 256_000_000
"""Bytes of files from which on a session may well spill."""


class Session(StatementRunner):
    """One in-memory database of our own."""

    dialect = sql.DUCKDB
    failures = (duckdb.Error, pa.ArrowException, OSError)

    def __init__(
        self,
        words: str,
        *,
        reads: Sequence[str] = (),
        attach: tuple[str, str] | None = None,
        memory_limit: str | None = None,
        spill: str | os.PathLike[str] | None = None,
        spill_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(words)
        if spill is not None and not Path(spill).is_dir():
            raise InputError(f"spill must be a folder; {str(spill)!r} is not.")
        self._stops: list[Callable[[], None]] = []
        self.files = WatchedFiles(reads)
        self._folder = ScratchFolder(spill)
        (self._folder.path / OUTPUT).mkdir()
        self.con = self._worker.submit(duckdb.connect).result()
        self._close = weakref.finalize(
            self, _close, self.con, self._folder, self._worker
        )
        wanted = {
            "temp_directory": str(self._folder.path / SPILL),
            "memory_limit": memory_limit,
            "max_temp_directory_size": spill_limit,
            "threads": threads,
        }
        try:
            likely = bool(spill or memory_limit) or _are_large(reads)
            self.run_apart(lambda: self._prepare(wanted, likely, attach, reads))
        except BaseException:
            self.close()
            raise

    def _prepare(
        self,
        wanted: Mapping[str, object],
        likely: bool,
        attach: tuple[str, str] | None,
        reads: Sequence[str],
    ) -> None:
        """Set everything up, and seal it; in this thread."""
        self._configure({**SETTINGS, **wanted})
        self._encrypt_spills(likely)
        if attach is not None:
            self._attach(*attach)
        self._configure({**self._allow(reads), **SEALED})

    def _encrypt_spills(self, likely: bool) -> None:
        """What is spilled can be read by this process only, while it lives.

        DuckDB's own cipher is slow, and draws keys that an expert might guess: where
        OpenSSL is installed it is loaded, which takes a moment.
        """
        if not (likely and self._load_openssl()):
            self.con.execute("SET force_mbedtls_unsafe = true")
        self.con.execute("SET temp_file_encryption = true")

    def _load_openssl(self) -> bool:
        try:
            known = "SELECT installed FROM duckdb_extensions() WHERE extension_name = ?"
            if self.con.execute(known, [OPENSSL]).fetchall() != [(True,)]:
                return False
            self.con.execute(f"LOAD {OPENSSL}")
        except duckdb.Error:
            return False
        return True

    def _attach(self, path: str, name: str) -> None:
        """Open a database file to read it, with the files DuckDB keeps beside it."""
        self.con.execute(
            f"ATTACH {sql.literal(path)} AS {name} (READ_ONLY, TYPE duckdb)"
        )

    def _allow(self, reads: Sequence[str]) -> dict[str, object]:
        """Files that may be read, as they are and as patterns that mean just them."""
        places = [os.path.abspath(path) for path in reads]  # noqa: PTH100 - links stay
        return {
            "allowed_paths": list(dict.fromkeys((*places, *map(glob.escape, places)))),
            "allowed_directories": [f"{self._folder.path / OUTPUT}{os.sep}"],
        }

    @property
    def output(self) -> Path:
        """The folder where statements may write."""
        return self._folder.path / OUTPUT

    @contextmanager
    def stop_also(self, stop: Callable[[], None]) -> Iterator[None]:
        """Whoever interrupts a statement meanwhile also stops what it waits for."""
        self._stops.append(stop)
        try:
            yield
        finally:
            self._stops.remove(stop)

    @contextmanager
    def write_file(self, path: str) -> Iterator[str]:
        """The name under which a statement may write a file, which is moved then.

        Where files go is not known when the database is sealed.
        """
        own = self.output / Path(path).name
        try:
            yield str(own)
            shutil.move(own, path)
        finally:
            own.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database and remove what it spilled; once or more often."""
        self._close()

    def _configure(self, settings: dict[str, object]) -> None:
        for key, value in settings.items():
            if value is None:
                continue
            try:
                self.con.execute(f"SET {key} = {_as_setting(value)}")
            except duckdb.Error:
                if key in PROGRESS:  # in a notebook it asks for ipywidgets
                    continue
                name = OPTIONS.get(key, key)
                raise InputError(
                    f"{name} must be a value DuckDB takes, such as "
                    f"memory_limit='4GB', spill_limit='50GB' or threads=2; "
                    f"got {value!r}."
                ) from None

    def register(self, name: str, frame: object) -> None:
        """Let statements see a frame under a name."""
        self.run_apart(lambda: self.con.register(name, frame))

    def unregister(self, name: str) -> None:
        """Take a frame away again."""
        self.run_apart(lambda: self.con.unregister(name))

    @contextmanager
    def allow_drawing(self) -> Iterator[str]:
        """Let statements draw a number for each row from the system's secure source.

        Gives the name of the function; its argument means nothing.
        """
        self.run_apart(
            lambda: self.con.create_function(
                DRAWN,
                _draw_numbers,
                ["INTEGER"],
                "UBIGINT",
                type=PythonUDFType.ARROW,
                side_effects=True,
            )
        )
        try:
            yield DRAWN
        finally:
            self.run_apart(lambda: self.con.remove_function(DRAWN))

    def run_guarded(self, work: Callable[[], T]) -> T:
        """Run work; what it found counts only if the files stayed as they were."""
        found = super().run_guarded(work)
        self.files.check()
        return found

    def fetch(self, statement: str, most: int | None = None) -> pa.Table:
        """Run a statement in this thread; what it selects, or an empty table.

        A result of more than `most` rows does not fit.
        """
        relation = self.con.sql(statement)
        if relation is None:
            return arrow.frame()
        batches: list[pa.RecordBatch] = []
        rows = 0
        # An open reader would block the connection.
        with closing(relation.to_arrow_reader(ROWS_AT_ONCE)) as reader:
            for batch in reader:
                batches.append(batch)
                rows += len(batch)
                if most is not None and rows > most:
                    raise DoesNotFit
        return pa.Table.from_batches(batches, reader.schema)

    def take_columns(self, statement: str, takers: Sequence[Taker]) -> None:
        """Run a statement in this thread; who takes a column gets it in batches."""
        with closing(self.con.sql(statement).to_arrow_reader(ROWS_AT_ONCE)) as reader:
            for batch in reader:
                for take, column in zip(takers, batch.columns, strict=True):
                    take(np.from_dlpack(column))

    def fill_columns(self, statement: str, arrays: Sequence[NDArray[Any]]) -> int:
        """Run a statement in this thread; its columns go into arrays, each as wide as
        its numbers need. How many rows there were; no more than fit are kept.
        """
        at = 0
        with closing(self.con.sql(statement).to_arrow_reader(ROWS_AT_ONCE)) as reader:
            for batch in reader:
                for into, column in zip(arrays, batch.columns, strict=True):
                    new: NDArray[Any] = np.from_dlpack(column)
                    into[at : at + len(new)] = new[: max(len(into) - at, 0)]
                at += len(batch)
        return at

    def find_possible_kinds(
        self, columns: Sequence[str], *, json: bool, source: str = "pv_people"
    ) -> dict[str, list[str]]:
        """The kinds of `text_types.TEXT_KINDS` that a few texts of each column allow.

        Matching patterns is slow, and most columns of texts are ruled out at once.
        """
        few = self.sample_kinds(columns, json=json, source=source)
        return {c: text_types.list_possible_kinds(*n) for c, n in few.items()}

    def sample_kinds(
        self, columns: Sequence[str], *, json: bool, source: str = "pv_people"
    ) -> dict[str, list[int]]:
        """A few texts of each column: how many there are, and are of each kind."""
        if not columns:
            return {}
        few = f"(SELECT {', '.join(columns)} FROM {source} LIMIT {FEW})"
        tests = ["count(v)", *text_types.count_fitting("v", json=json)[1:]]
        work = partial(self.aggregate_columns, columns, few, tests, rows=FEW)
        return self.run_apart(work)

    def aggregate_columns(
        self,
        columns: Sequence[str],
        source: str,
        tests: Sequence[str],
        rows: int | None = None,
    ) -> dict[str, list[int]]:
        """Numbers of each column, in this thread; tests call its values v.

        Columns stand below each other, so that a scan serves many of them and a test
        is planned once.
        """
        found: dict[str, list[int]] = {}
        share = CELLS_AT_ONCE // (rows or self.total or CELLS_AT_ONCE)
        most = max(MIN_AT_ONCE, min(MAX_AT_ONCE, share))
        for at in range(0, len(columns), most):
            part = columns[at : at + most]
            below = sql.stacked(part, source)
            numbers = self.fetch(
                f"SELECT i, {', '.join(tests)} FROM {below} GROUP BY i"
            )
            lines = zip(
                *(column.to_pylist() for column in numbers.columns), strict=True
            )
            found |= {part[i]: list(n) for i, *n in lines}
        return {c: found.get(c, [0] * len(tests)) for c in columns}

    def run(self, statement: str, run: Run, doing: str, step: tuple[int, int]) -> None:
        """Run a statement whose result nobody wants."""
        self.run_watched(lambda: self.con.execute(statement), run, doing, step)

    def make(
        self, select: str, table: str, run: Run, doing: str, step: tuple[int, int]
    ) -> int:
        """Make a table of what is selected; how many rows it has."""
        create = f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
        made = self.run_watched(
            lambda: self.con.execute(create).fetchall(), run, doing, step
        )
        return int(made[0][0])

    @property
    def room(self) -> int:
        """A part of the memory limit."""
        limit = self.fetch_one("SELECT current_setting('memory_limit')")
        return parse_size(limit) // SHARE

    @property
    def is_open(self) -> bool:
        """Whether the database is open."""
        return self._close.alive

    def explain(self, error: BaseException) -> BaseException:
        """What an error of DuckDB means."""
        meant = explain_error(error, self.words)
        if not isinstance(meant, PrivetError):
            return meant
        return self.files.find_reason() or meant

    def interrupt(self) -> None:
        """Stop the statement that runs, if any does."""
        self.con.interrupt()
        for stop in list(self._stops):
            stop()

    def share(self) -> float | None:
        """How much of the running statement is done."""
        percent = self.con.query_progress()
        return None if percent < 0 else min(percent / 100, 1.0)


DRAWN = "pv_drawn"
"""What statements call the secure source."""


def _draw_numbers(rows: pa.ChunkedArray) -> pa.Array:
    """As many numbers as there are rows; nobody can guess or repeat them."""
    return arrow.integers(np.frombuffer(os.urandom(8 * len(rows)), np.uint64))


OPTIONS = {"max_temp_directory_size": "spill_limit"}
"""What we call DuckDB's settings, where that differs."""


def _as_setting(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(sql.literal, value))}]"
    return sql.literal(value) if isinstance(value, str) else str(value)


def _are_large(paths: Sequence[str]) -> bool:
    with suppress(OSError):
        return sum(Path(path).stat().st_size for path in paths) >= LARGE
    return False


def _close(
    con: duckdb.DuckDBPyConnection, folder: ScratchFolder, worker: ThreadPoolExecutor
) -> None:
    try:
        worker.shutdown(wait=False, cancel_futures=True)
        _close_connection(con)
    finally:
        folder.close()


def _close_connection(con: duckdb.DuckDBPyConnection) -> None:
    """Close it; a statement of which nobody waits for the end is stopped first.

    Whoever is stopped while the worker starts does not know that it has begun.
    """
    for _ in range(CLOSINGS):
        try:
            return con.close()
        except duckdb.Error:
            con.interrupt()
            time.sleep(POLL)
    return con.close()


CLOSINGS = 100
"""How often a busy connection is asked to close."""
