"""Store of disguised answers: a DuckDB file that others may read meanwhile.

An answer is confirmed once it is on the disk, and one that comes twice is stored once.
The file is open for a moment only, so that estimates can be made, and other services
write, while answers come in; no time, address, token or key is kept with an answer.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import finalize

import duckdb

from privet.engine.scratch import ScratchFolder
from privet.engine.sources.source import differ
from privet.engine.sql import literal, quoted
from privet.errors import EngineError, InputError
from privet.release.atomic_folder import sync
from privet.responses.collect.submission import Submission, digest_token
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

Waiting = tuple[Submission, Future[None]]
"""What is to be written, and who waits for it."""


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
        if not design.drawn:
            raise InputError(
                "A survey must disguise something; every question of this design is "
                "public, and the page says that answers are disguised."
            )
        self.path = path
        self.design = design
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._prepare()
        self._writer = Thread(target=self._write_all, daemon=True)
        self._writer.start()

    def _prepare(self) -> None:
        text = json.dumps(self.design.to_dict(), ensure_ascii=False)
        with open_database(self.path, read_only=False) as con:
            con.execute("CREATE TABLE IF NOT EXISTS privet_design (design VARCHAR)")
            con.execute("CREATE TABLE IF NOT EXISTS privet_tokens (digest BLOB)")
            con.execute("CREATE TABLE IF NOT EXISTS privet_issued (number BIGINT)")
            con.execute("CREATE TABLE IF NOT EXISTS privet_submissions (digest BLOB)")
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
        sync(self.path.resolve().parent)  # a new file's name is on the disk, too

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

    def submit(self, submission: Submission) -> Future[None]:
        """Keep an answer; done when it is on the disk, or will never be."""
        done: Future[None] = Future()
        self._queue.put((submission, done))
        return done

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._queue.put(None)
        self._writer.join(3 * PATIENCE)

    # Writing ------------------------------------------------------------------------

    def _write_all(self) -> None:
        while True:
            found, last = self._take_waiting()
            # From here on nobody can take an answer back.
            waiting = [w for w in found if w[1].set_running_or_notify_cancel()]
            if waiting:
                self._write(waiting)
            if last:
                return

    def _take_waiting(self) -> tuple[list[Waiting], bool]:
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

    def _write(self, waiting: Sequence[Waiting]) -> None:
        try:
            with open_database(self.path, read_only=False) as con:
                con.begin()
                # Tokens, keys and answers in one transaction: all or none.
                refused = self._write_new(con, [s for s, _ in waiting])
                con.commit()  # on the disk now
        except BaseException as error:  # whoever waits must hear of it
            for _, done in waiting:
                done.set_exception(error)
            return
        for place, (_, done) in enumerate(waiting):
            if place in refused:
                done.set_exception(RefusedToken())
            else:
                done.set_result(None)

    def _write_new(self, con: Any, found: Sequence[Submission]) -> set[int]:
        """Write what is not there yet; the places of those whose token is refused."""
        known = _find_keys(con, [s.key for s in found])
        new: list[Submission] = []
        refused: set[int] = set()
        for place, submission in enumerate(found):
            if submission.key in known:
                continue  # the reply was lost: it is told the same as the first time
            if submission.token is None or _use_up(con, submission.token):
                known.add(submission.key)
                new.append(submission)
            else:
                refused.add(place)
        if new:
            self._insert(con, new)
        return refused

    def _insert(self, con: Any, new: Sequence[Submission]) -> None:
        import pyarrow as pa

        columns = {
            c: pa.array([s.report.get(c) for s in new], pa.string())
            for c in self.design.columns
        }
        # In another order than the answers they came with.
        keys = sorted(s.key for s in new)
        with _lend(con, "pv_new", pa.table(columns)):
            con.execute("INSERT INTO answers SELECT * FROM pv_new")
        with _lend(con, "pv_keys", pa.table({"digest": pa.array(keys, pa.binary())})):
            con.execute("INSERT INTO privet_submissions SELECT digest FROM pv_keys")


@contextmanager
def _lend(con: Any, name: str, table: Any) -> Iterator[None]:
    con.register(name, table)
    try:
        yield
    finally:
        con.unregister(name)


def _find_keys(con: Any, keys: Sequence[bytes]) -> set[bytes]:
    """Those of some keys whose answers were written."""
    import pyarrow as pa

    with _lend(con, "pv_keys", pa.table({"digest": pa.array(keys, pa.binary())})):
        found = con.execute(
            "SELECT DISTINCT s.digest FROM privet_submissions s"
            " SEMI JOIN pv_keys k ON s.digest = k.digest"
        ).fetchall()
    return {row[0] for row in found}


def _use_up(con: Any, token: bytes) -> bool:
    """Whether a token is good; from then on it is not."""
    gone = con.execute(
        "DELETE FROM privet_tokens WHERE digest = ? RETURNING 1", [token]
    )
    return bool(gone.fetchall())


def read_answers(
    path: Path, design: Design | None = None, *, memory_limit: str | None = None
) -> Responses:
    """The answers that a service collected so far, also while it runs.

    They are copied to a scratch file, however many there are, so that the service can
    write on; it is removed with the rows.
    """
    if not path.is_file():
        raise InputError(f"The answers {str(path)!r} must exist.")
    scratch = ScratchFolder()
    copy = scratch.path / "answers.parquet"
    with open_database(path, read_only=True) as con:
        known = _try_query(lambda: con.execute("SELECT design FROM privet_design"))
        if known is None:
            raise InputError(
                f"{str(path)!r} must be a file that privet collect wrote. For another "
                "database, name its table with --table, and the design with -d."
            )
        stated = Design.from_dict(json.loads(known.fetchall()[0][0]))
        con.execute("SET preserve_insertion_order = false")  # nothing piles up
        con.execute(f"COPY answers TO {literal(str(copy))} (FORMAT parquet)")
    if design is not None and design.to_dict() != stated.to_dict():
        raise InputError("The design must be the one the answers were collected with.")
    rows = read(copy, memory_limit=memory_limit)
    finalize(rows.engine, scratch.close)
    return Responses(rows, stated)


def _try_query(work: Callable[[], T]) -> T | None:
    with suppress(duckdb.CatalogException):
        return work()
    return None
