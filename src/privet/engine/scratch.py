"""Scratch folders: what does not fit into memory, and what nobody keeps.

Each belongs to one process, which holds a lock on a file in it as long as it lives. A
process that was killed holds none: the next one that makes a folder in the same place
removes what it left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO
from weakref import finalize

fcntl: ModuleType | None
msvcrt: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:  # everything else
    msvcrt = None

PREFIX = "privet-"
"""How the names of all our folders begin."""

OWNER, UNOWNED = "owner", ".owner"
"""The file whose lock says that a process lives, and its name until it is locked."""

_looked_at: set[str] = set()  # places this process has cleaned already


class ScratchFolder:
    """A new folder of this process alone."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        place = os.fspath(tempfile.gettempdir() if parent is None else parent)
        if place not in _looked_at:
            remove_leftovers(place)
            _looked_at.add(place)
        # Without links, for DuckDB compares names of files without links.
        made = tempfile.mkdtemp(prefix=PREFIX, dir=place)
        self.path = Path(os.path.realpath(made))
        # Also removed where somebody forgets to close it, or an error comes between.
        self._remove = finalize(
            self, _remove_own, self.path, _own(self.path), os.getpid()
        )

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove it; once or more often."""
        self._remove()


def _remove_own(folder: Path, lock: IO[bytes] | None, process: int) -> None:
    """Remove the folder of this process; a copy of the process must not."""
    if process != os.getpid():
        return
    if lock is not None:
        lock.close()
    shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(place: str | os.PathLike[str]) -> int:
    """Remove the folders that dead processes left in a place; how many there were."""
    with suppress(OSError), os.scandir(place) as entries:
        return sum(_remove_dead(Path(e.path)) for e in entries if _is_ours(e))
    return 0


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder that a process of this user made."""
    if not entry.name.startswith(PREFIX):
        return False
    with suppress(OSError):
        mine = not hasattr(os, "getuid") or (
            entry.stat(follow_symlinks=False).st_uid == os.getuid()
        )
        return mine and entry.is_dir(follow_symlinks=False)
    return False


def _remove_dead(folder: Path) -> bool:
    """Remove a folder unless a living process holds its lock."""
    try:
        lock = (folder / OWNER).open("r+b")
    except OSError:
        return False  # no lock was ever held: nobody can tell
    with lock:
        if not _lock_file(lock):
            return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


# Locks ------------------------------------------------------------------------------


def _own(folder: Path) -> IO[bytes] | None:
    """Hold the lock of a new folder; None where locks do not work.

    The file gets its name when it is locked: before that, others look past it.
    """
    file = (folder / UNOWNED).open("w+b")
    try:
        if _lock_file(file):
            _name_lock(folder)
            return file
    except OSError:
        pass
    file.close()
    return None


def _name_lock(folder: Path) -> None:
    try:
        (folder / UNOWNED).rename(folder / OWNER)
    except PermissionError:  # Windows renames no open file
        os.link(folder / UNOWNED, folder / OWNER)


def _lock_file(file: IO[bytes]) -> bool:
    """Take a lock that ends with this process; whether nobody else has it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            return False
    except OSError:
        return False
    return True
