"""Every call that changes the file system, counted; at one of them something happens.

What happens is a signal to the own process, before the call, or an error in its place.
Before call n + 1 is the same as after call n: nothing else changes in between.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from privet.release import atomic_folder

CHANGING = (
    "rename",
    "replace",
    "link",
    "symlink",
    "unlink",
    "remove",
    "rmdir",
    "mkdir",
    "fsync",
    "write",
    "ftruncate",
    "truncate",
    "chmod",
)
"""Functions of the module os; pathlib and shutil call them."""

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Calls:
    """Counts calls, and acts before one of them, or before it and all that follow."""

    def __init__(self, at: int, act: Callable[[], None], *, onwards: bool) -> None:
        self.at = at
        self.act = act
        self.onwards = onwards
        self.seen = 0
        self.names: list[str] = []

    def install(self) -> None:
        """For the rest of this process."""
        for name in CHANGING:
            setattr(os, name, self._wrap(name, getattr(os, name)))
        plain = self._wrap("open", os.open)
        untouched = os.open

        def open_counted(path: Any, flags: int, *more: Any, **options: Any) -> int:
            chosen = plain if flags & WRITING else untouched
            return int(chosen(path, flags, *more, **options))

        os.open = open_counted
        atomic_folder._swap = self._wrap("swap", atomic_folder._swap)

    def _wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **options: Any) -> Any:
            self.seen += 1
            self.names.append(name)
            if self.seen == self.at or (self.onwards and self.seen > self.at):
                self.act()
            return call(*given, **options)

        return counted


def kill() -> None:
    """Die at once, as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    """What Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def fail(code: int) -> Callable[[], None]:
    """What the system says instead of doing it."""

    def refuse() -> None:
        raise OSError(code, os.strerror(code))

    return refuse
