"""A process of another program: its own folder, bounded time and memory, no leftovers.

What it prints is not read. It is ended from outside when its time is over, with all the
processes it began, and its folder is removed whatever happens.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

from privet.engine.protocol import Run
from privet.errors import InputError, Stopped

HERE = Path(__file__).parent
POLL = 0.05
PATIENCE = 300.0
"""Seconds that a program gets where no time limit is set."""

MEMORY = 8 * 2**30
"""Bytes that it may ask for."""

HEAP = "-Xmx4g"


class PeerFailed(InputError):
    """Another program ended without an answer."""


def find_command(program: str, python: str | None, jar: str | None) -> list[str]:
    """How a program is called; an error says what is missing."""
    if program != "arx":
        driver = HERE / "peer_driver.py"
        return [python or sys.executable, "-W", "ignore", str(driver), program]
    named = jar or os.environ.get("PRIVET_ARX")
    if not named:
        raise PeerFailed(
            "The jar of ARX must be named, with --arx-jar (arx_jar=) or PRIVET_ARX in "
            "the environment; it is not."
        )
    if not Path(named).is_file():
        raise PeerFailed(f"The jar of ARX must exist; {named!r} does not.")
    driver = HERE / "ArxDriver.java"
    return ["java", HEAP, "-cp", str(Path(named).resolve()), str(driver)]


def run_process(command: list[str], folder: Path, run: Run) -> None:
    """Run a program in a folder; an error if it does not end well and in time."""
    end = monotonic() + min(PATIENCE, run.left or PATIENCE)
    try:
        process = subprocess.Popen(
            [*command, str(folder)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise PeerFailed(
            f"The program {command[0]!r} must be one that runs; got: {error.strerror}."
        ) from None
    try:
        while (code := _wait(process)) is None:
            if monotonic() > end:
                raise Stopped("It was not done in time.")
    finally:
        _end(process)
    if code:
        raise PeerFailed(f"It ended with an error (exit code {code}).")


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    with suppress(subprocess.TimeoutExpired):
        return process.wait(POLL)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that still runs, and all that it began."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
