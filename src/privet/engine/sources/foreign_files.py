"""Files of other programs: spreadsheets, statistics packages, SQLite databases.

They are read by a process of their own, `reader_process`, which is ended when nobody
wants its rows any more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from privet.engine.sources.source import Feed, StagingRoom
from privet.errors import EmptyTable, EngineError, InputError, MissingExtra

NEEDS = {
    "spreadsheet": ("python_calamine", "Spreadsheets need"),
    "statistics": ("pyreadstat", "Files of SPSS, Stata and SAS need"),
    "sqlite": ("adbc_driver_sqlite", "SQLite databases need"),
}
"""The package that reads each kind of file, and how to say so."""

CALLED = {
    "spreadsheet": "a spreadsheet that can be read",
    "statistics": "a file of SPSS, Stata or SAS that can be read",
    "sqlite": "a SQLite database that can be read",
}
"""What messages call them."""

MODULE = "privet.engine.sources.reader_process"

ADDRESSES = 2 << 30
"""Bytes of addresses that libraries reserve and hardly use."""


@dataclass(frozen=True)
class ForeignPart:
    """A file that another program wrote."""

    reader: str
    """What reads it, one of `NEEDS`."""
    path: Path
    """The file."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How it was asked to be read."""

    @contextmanager
    def open(self, place: Path, room: StagingRoom) -> Iterator[Feed]:
        """Its rows, as a process of their own hands them over."""
        require_reader(self.reader)
        process = self._start(room.memory)
        rows = _Rows(self, process, room.disk)
        try:
            yield self._begin(process, rows)
        finally:
            failure = rows.failure
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            if failure is not None:
                raise failure

    def _start(self, memory: int) -> subprocess.Popen[bytes]:
        home = str(Path(__file__).parents[3])
        known = os.environ.get("PYTHONPATH")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # it may quote people's data
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, (home, known))),
            },
            start_new_session=True,  # Ctrl-C is heard here, and it is ended then
        )
        request = {
            "reader": self.reader,
            "path": str(self.path.resolve()),
            "called": str(self.path),
            "memory": memory + ADDRESSES,
            **self.options,
        }
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        return process

    def _begin(self, process: subprocess.Popen[bytes], rows: _Rows) -> Feed:
        head = rows.read_head()
        return Feed(
            "pv_feed",
            partial(_end, process),
            frame=pa.RecordBatchReader.from_batches(rows.schema, rows.read_batches()),
            names=tuple(head["names"]),
            mixed=frozenset(head["mixed"]),
            labels=head["labels"],
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        process.kill()


class _Rows:
    """What comes out of the process."""

    def __init__(
        self, part: ForeignPart, process: subprocess.Popen[bytes], most: int
    ) -> None:
        assert process.stdout is not None
        self._part, self._out, self._left = part, process.stdout, most
        self.failure: Exception | None = None
        self.schema: pa.Schema = None

    def read_head(self) -> dict[str, Any]:
        """What the process says before the rows."""
        head = self._listen()
        if "names" not in head:
            raise self._explain(head)
        try:
            self._stream = pa.ipc.open_stream(self._out)
        except (pa.ArrowException, OSError, EOFError):
            self._stream = None
        if self._stream is None:
            raise self._explain({"ended": True})
        self.schema = self._stream.schema
        return head

    def read_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows; what ends them too early is remembered."""
        ended: dict[str, Any] = {"ended": True}
        try:
            for batch in self._stream:
                self._left -= batch.nbytes
                if self._left < 0:
                    ended = {"large": True}
                    break
                yield batch
            else:
                ended = self._listen()
        except (pa.ArrowException, OSError, EOFError):
            pass
        if ended:
            self.failure = self._explain(ended)
            raise self.failure

    def _listen(self) -> dict[str, Any]:
        try:
            found = json.loads(self._out.readline() or b'{"ended": true}')
        except ValueError:
            found = {"ended": True}
        return found if isinstance(found, dict) else {"ended": True}

    def _explain(self, said: Mapping[str, Any]) -> Exception:
        """Why there are no rows."""
        called = str(self._part.path)
        if "error" in said:
            return (EmptyTable if said.get("empty") else InputError)(said["error"])
        if "large" in said:
            return InputError(
                f"File {called!r} must have room when it is unpacked; it is larger "
                "than what may be spilled. Raise spill_limit if it is meant to be so."
            )
        if "memory" in said:
            return EngineError(
                f"File {called!r} needs more memory than the limit to be read. Raise "
                "memory_limit, or save it as CSV or Parquet."
            )
        return InputError(
            f"File {called!r} must be {CALLED[self._part.reader]}; it is not, is "
            "damaged or needs more memory than there is."
        )


def require_reader(reader: str) -> None:
    """Refuse files whose package is not installed."""
    package, words = NEEDS[reader]
    if find_spec(package) is None:
        raise MissingExtra(f"{words} the extra 'files': pip install 'privet[files]'.")
