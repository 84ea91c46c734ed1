"""Store of disguised answers: a DuckDB file that others may read meanwhile.

An answer is confirmed once it is on the disk. The file is open for a moment only, so
that estimates can be made while answers come in; no time, address or token is kept
with an answer.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

import duckdb

from privet.engine.sources.source import differ
from privet.engine.sql import quoted
from privet.errors import EngineError, InputError
from privet.responses.design import Design
from privet.responses.release import Responses
from privet.table import read

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds to wait for somebody else who has the file open."""

WAIT = 20.0
"""Seconds an answer waits for its turn; then it is taken back."""

AT_ONCE = 1000
"""Answers that are written together."""

Report = Mapping[str, str | None]
"""A disguised answer, by question."""


class RefusedToken(Exception):
    """An answer whose token is unknown or was used."""


@contextmanager
def open_database(
    path: Path, *, read_only: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database, as soon as nobody else has it open."""
    end = monotonic() + PATIENCE
    _refuse_other(path)
    while True:
        try:
            con = duckdb.connect(str(path), read_only=read_only)
            break
        except duckdb.Error as error:
            if not _in_use(error):
                raise InputError(
                    f"{str(path)!r} must be a DuckDB database that can be opened"
                    f"{'' if read_only else ' for writing, in a folder that exists'}; "
                    "it is not."
                ) from None
            if monotonic() > end:
                raise EngineError(
                    f"The answers {str(path)!r} must not be in use; another program "
                    "has them open for writing."
                ) from None
            sleep(0.02)
    try:
        yield con
    finally:
        con.close()


def _refuse_other(path: Path) -> None:
    """DuckDB opens files of other kinds, too, and forgets what is written to them."""
    if path.is_file():
        with path.open("rb") as file:
            # A checksum of 8 bytes, then the four letters.
            if file.read(12)[8:] != b"DUCK":
                raise InputError(
                    f"{str(path)!r} must be a new file, or a DuckDB database that "
                    "privet collect made; it is another file."
                )


def _in_use(error: duckdb.Error) -> bool:
    """Whether another program, or another part of this one, has the file open."""
    if isinstance(error, duckdb.ConnectionException):
        return True
    return isinstance(error, duckdb.IOException) and " lock " in str(error)


class Store:
    """Writes answers, many at once where many come; one thread does it all."""

    def __init__(self, path: Path, design: Design) -> None:
        if not differ(design.columns):
            raise InputError(
                "Questions must have names that differ by more than case to be "
                "collected, since DuckDB takes 'Age' and 'age' for one column; got "
                f"{', '.join(map(repr, design.columns))}."
            )
        self.path = path
        self.design = design
        self._queue: SimpleQueue[tuple[Report, bytes | None, Future[None]] | None] = (
            SimpleQueue()
        )
        self._prepare()
        self._writer = Thread(target=self._write_all, daemon=True)
        self._writer.start()

    def _prepare(self) -> None:
        text = json.dumps(self.design.to_dict(), ensure_ascii=False)
        with open_database(self.path, read_only=False) as con:
            con.execute("CREATE TABLE IF NOT EXISTS privet_design (design VARCHAR)")
            con.execute("CREATE TABLE IF NOT EXISTS privet_tokens (digest BLOB)")
            con.execute("CREATE TABLE IF NOT EXISTS privet_issued (number BIGINT)")
            rows = con.execute("SELECT design FROM privet_design").fetchall()
            if rows and json.loads(rows[0][0]) != json.loads(text):
                raise InputError(
                    f"{str(self.path)!r} must hold answers to the same design; it was "
                    "made with another one. Choose another file."
                )
            if not rows:
                con.execute("INSERT INTO privet_design VALUES (?)", [text])
            columns = ", ".join(f"{quoted(c)} VARCHAR" for c in self.design.columns)
            con.execute(f"CREATE TABLE IF NOT EXISTS answers ({columns})")

    def issue(self, number: int) -> list[str]:
        """New one-time tokens; only their digests are kept."""
        tokens = [secrets.token_urlsafe(16) for _ in range(number)]
        with open_database(self.path, read_only=False) as con:
            con.executemany(
                "INSERT INTO privet_tokens VALUES (?)",
                [[digest_token(t)] for t in tokens],
            )
            con.execute("INSERT INTO privet_issued VALUES (?)", [number])
        return tokens

    @property
    def wants_tokens(self) -> bool:
        """Whether answers need a token: once any were issued, used up or not."""
        with open_database(self.path, read_only=True) as con:
            known = (
                "SELECT (SELECT count(*) FROM privet_tokens)"
                " + (SELECT count(*) FROM privet_issued)"
            )
            return bool(con.execute(known).fetchall()[0][0])

    def add(self, report: Report, digest: bytes | None = None) -> None:
        """Keep an answer; returns when it is on the disk, or will never be."""
        done: Future[None] = Future()
        self._queue.put((report, digest, done))
        try:
            done.result(WAIT)
        except TimeoutError:
            if done.cancel():
                raise
            done.result()  # it is being written: wait for how that ends

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._queue.put(None)
        self._writer.join(3 * PATIENCE)

    # Writing ------------------------------------------------------------------------

    def _write_all(self) -> None:
        while True:
            found, last = self._take_waiting()
            # From here on nobody can take an answer back; see `add`.
            waiting = [w for w in found if w[2].set_running_or_notify_cancel()]
            if waiting:
                self._write(waiting)
            if last:
                return

    def _take_waiting(self) -> tuple[list[Any], bool]:
        first = self._queue.get()
        found = [] if first is None else [first]
        while first is not None and len(found) < AT_ONCE:
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
            if item is None:
                return found, True
            found.append(item)
        return found, first is None

    def _write(self, waiting: Sequence[Any]) -> None:
        try:
            with open_database(self.path, read_only=False) as con:
                con.begin()
                # Tokens and answers in one transaction: both or neither.
                kept = [w for w in waiting if self._admit(con, w)]
                if kept:
                    self._insert(con, [report for report, _, _ in kept])
                con.commit()  # on the disk now
        except BaseException as error:  # whoever waits must hear of it
            for _, _, done in waiting:
                if not done.done():
                    done.set_exception(error)
            return
        for _, _, done in kept:
            done.set_result(None)

    def _admit(self, con: Any, item: Any) -> bool:
        """Use up the token of an answer; without a good one it is refused."""
        _, digest, done = item
        if digest is None:
            return True
        gone = con.execute(
            "DELETE FROM privet_tokens WHERE digest = ? RETURNING 1", [digest]
        )
        if gone.fetchall():
            return True
        done.set_exception(RefusedToken())
        return False

    def _insert(self, con: Any, reports: Sequence[Report]) -> None:
        import pyarrow as pa

        columns = {
            c: pa.array([r.get(c) for r in reports], pa.string())
            for c in self.design.columns
        }
        con.register("pv_new", pa.table(columns))
        con.execute("INSERT INTO answers SELECT * FROM pv_new")
        con.unregister("pv_new")


def digest_token(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).digest()


def read_answers(path: Path, design: Design | None = None) -> Responses:
    """The answers that a service collected so far, also while it runs."""
    if not path.is_file():
        raise InputError(f"The answers {str(path)!r} must exist.")
    with open_database(path, read_only=True) as con:
        known = _try_query(lambda: con.execute("SELECT design FROM privet_design"))
        if known is None:
            raise InputError(
                f"{str(path)!r} must be a file that privet collect wrote. For another "
                "database, name its table with --table, and the design with -d."
            )
        stated = Design.from_dict(json.loads(known.fetchall()[0][0]))
        rows = con.sql("SELECT * FROM answers").to_arrow_table()
    if design is not None and design.to_dict() != stated.to_dict():
        raise InputError("The design must be the one the answers were collected with.")
    return Responses(read(rows), stated)


def _try_query(work: Callable[[], T]) -> T | None:
    with suppress(duckdb.CatalogException):
        return work()
    return None
