"""Text pipes: packed or foreign text, unpacked into UTF-8 while the engine reads it.

Nothing is written to the disk: a named pipe leads from a thread of ours, which
unpacks, to the engine's own reader.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from privet.engine.sources.packed_files import DAMAGES, PackedFile
from privet.engine.sources.source import Feed, StagingRoom
from privet.errors import InputError

PIECE = 1 << 18
"""Bytes that are unpacked together."""

WAIT = 0.05
"""Seconds between two looks whether the feeder has ended."""


@dataclass(frozen=True)
class TextPart:
    """A text file that the engine cannot read where it is."""

    file: PackedFile
    """The file."""
    encoding: str
    """The encoding of its text."""
    scan: str
    """What to select from; the file is a variable."""

    @contextmanager
    def open(self, place: Path, room: StagingRoom) -> Iterator[Feed]:
        """Its text, through a pipe in a folder."""
        pipe = place / "pipe"
        _make_pipe(pipe, self.file.path)
        feeder = _Feeder(self, pipe, room.disk)
        feeder.start()
        try:
            yield Feed(self.scan, feeder.stop, str(pipe))
        finally:
            feeder.end()
            pipe.unlink(missing_ok=True)
            if feeder.failure is not None:
                raise feeder.failure


def _make_pipe(pipe: Path, path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        raise InputError(
            f"File {str(path)!r} must be unpacked and converted to UTF-8 first: this "
            "system has no named pipes."
        )
    os.mkfifo(pipe, 0o600)


class _Feeder(Thread):
    """Unpacks a file into a pipe."""

    def __init__(self, part: TextPart, pipe: Path, most: int) -> None:
        super().__init__(name="privet-feeder", daemon=True)
        self._part, self._pipe, self._left = part, pipe, most
        self.failure: InputError | None = None

    def run(self) -> None:
        """Feed until the file ends, or nobody reads any more."""
        with suppress(BrokenPipeError), self._pipe.open("wb") as pipe:
            try:
                self._unpack(pipe)
            except BrokenPipeError:
                raise
            except InputError as error:
                self.failure = error
            except UnicodeError:
                self.failure = self._refuse_letters()
            except DAMAGES:
                self.failure = self._refuse_damage()

    def _unpack(self, pipe: Any) -> None:
        with self._part.file.open() as file:
            for piece in _transcode(file, self._part.encoding):
                self._left -= len(piece)
                if self._left < 0:
                    raise InputError(
                        f"File {str(self._part.file.path)!r} must have room when it is "
                        "unpacked; it is larger than what may be spilled. Raise "
                        "spill_limit if it is meant to be so large."
                    )
                pipe.write(piece)

    def _refuse_letters(self) -> InputError:
        return InputError(
            f"File {str(self._part.file.path)!r} must be {self._part.encoding} text; "
            "it is not. Say another --encoding (encoding=...)."
        )

    def _refuse_damage(self) -> InputError:
        file = self._part.file
        what = f"a whole {file.packed} file" if file.packed else "readable"
        return InputError(
            f"File {str(file.path)!r} must be {what}; it is cut short, damaged or "
            "locked by a password."
        )

    def end(self) -> None:
        """Wait until it has ended; nobody reads any more."""
        while self.is_alive():
            self.stop()
            self.join(WAIT)

    def stop(self) -> None:
        """End it, also where nobody ever opened the pipe's other end."""
        with suppress(OSError):
            os.close(os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK))


def _transcode(file: Any, encoding: str) -> Iterator[bytes]:
    """The text of a file in UTF-8, without the mark it may begin with."""
    piece = bytes(file.read(PIECE))
    marked = piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    name = "utf-16-le" if encoding == "utf-16" and not marked else encoding
    decoder = codecs.getincrementaldecoder(name)()
    text = decoder.decode(piece).removeprefix("\ufeff")
    while piece:
        yield text.encode()
        piece = bytes(file.read(PIECE))
        text = decoder.decode(piece, final=not piece)
    yield text.encode()
