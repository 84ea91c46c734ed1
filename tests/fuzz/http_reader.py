"""A survey service that runs, and whatever is sent to its socket."""

from __future__ import annotations

import atexit
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

DESIGN = """\
question = [
    { name = "smokes", values = ["no", "yes"], truth = 0.8 },
    { name = "age", bins = [30, 50], truth = 0.7 },
]
"""
MOST_BYTES = 2**18
PATIENCE = 10.0
"""Seconds that a service may take to answer."""
WAIT = 0.5
"""Seconds until it is told that nothing more comes; a half head is waited for less."""


class Survey:
    """`privet collect` as a process of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="survey"))
        (self.folder / "design.toml").write_text(DESIGN, encoding="utf-8")
        with (self.folder / "said").open("wb") as said:
            self.process = self._start(said)
        self.port = self._find_port()
        self.heard = 0
        atexit.register(self.stop)

    def _start(self, said: IO[bytes]) -> subprocess.Popen[bytes]:
        command = ["-m", "privet", "collect", "design.toml", "--port", "0"]
        source = str(Path(__file__).parents[2] / "src")
        path = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.folder,
            stdout=said,
            stderr=said,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
        )

    def _find_port(self) -> int:
        for _ in range(600):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
            if found := re.search(r"127\.0\.0\.1:(\d+)", self.list_said()):
                return int(found[1])
            if self.process.poll() is not None:
                break
        raise AssertionError(f"the survey must open; it said {self.list_said()}")

    def list_said(self) -> str:
        """All it has printed."""
        return (self.folder / "said").read_text("utf-8", "replace")

    def stop(self) -> None:
        """End it, as Ctrl-C would."""
        self.process.terminate()
        self.process.wait(30)

    def send(self, data: bytes) -> bytes:
        """What comes back for some bytes."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as line:
            with suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(data)
            return _receive(line, WAIT if b"\r\n\r\n" in data else WAIT / 10)


def _receive(line: socket.socket, wait: float) -> bytes:
    """One whole answer, or all there is until the line is closed."""
    heard, waited = b"", False
    line.settimeout(wait)
    while len(heard) < MOST_BYTES and not _is_whole(heard):
        try:
            piece = line.recv(65536)
        except TimeoutError:
            if waited:
                raise
            waited = True  # it waits for more: tell it that there is none
            with suppress(OSError):
                line.shutdown(socket.SHUT_WR)
            line.settimeout(PATIENCE)
            continue
        except ConnectionResetError:
            break
        if not piece:
            break
        heard += piece
    return heard


def _is_whole(heard: bytes) -> bool:
    head, end, body = heard.partition(b"\r\n\r\n")
    size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return bool(end and size and len(body) >= int(size[1]))


@cache
def open_survey() -> Survey:
    """One for all requests."""
    return Survey()


def read_request(data: bytes, folder: Any) -> Sequence[str]:
    """Send a request; said is what comes back, and what the service printed."""
    survey = open_survey()
    place = f"127.0.0.1:{survey.port}".encode()
    answer = survey.send(data.replace(b"{HOST}", place))
    assert survey.process.poll() is None, "the service must go on"
    survey.heard += 1
    if not answer or survey.heard % 50 == 0:
        _require_answer(survey, place)
    if answer.startswith(b"HTTP/"):
        status = answer.split(b" ", 2)[1]
        assert status != b"500", f"nothing may break the service; got {answer[:500]!r}"
    return [answer.decode("utf-8", "replace"), survey.list_said()]


def _require_answer(survey: Survey, place: bytes) -> None:
    """After whatever was sent, others are served."""
    good = b"GET /design.json HTTP/1.1\r\nHost: " + place + b"\r\n\r\n"
    answer = survey.send(good)
    assert answer.startswith(b"HTTP/1.1 200"), f"it must serve; got {answer[:200]!r}"
