"""Claims: small locked files that say who is writing to a folder, and what.

The system drops the lock of a process that dies; its claim stays, with what it was
about to do. Whoever takes the claim next reads that and settles it.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

fcntl: ModuleType | None
msvcrt: ModuleType | None
try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

FAR = 2**30
"""The byte that is locked where locks are of bytes: others may read what is before."""

MOST = 2**20
"""Bytes of a claim; no more than that is ever read."""


class Busy(Exception):
    """Somebody else holds the claim of a folder."""


class Claim:
    """A claim that this process holds."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self.handle = handle
        self.found = _read_content(handle)
        """What a process that died wrote into it; None: nothing."""
        self.keep = False
        """Whether it stays when it is let go: something is not settled yet."""

    def write(self, content: dict[str, Any]) -> None:
        """Say what will be done; it is on the disk when this returns."""
        text = json.dumps({**_name_process(), **content}, ensure_ascii=False)
        os.ftruncate(self.handle, 0)
        os.lseek(self.handle, 0, os.SEEK_SET)
        os.write(self.handle, text.encode())
        os.fsync(self.handle)

    def let_go(self) -> None:
        """Remove it, unless it is kept; where open files cannot be removed, later."""
        if not self.keep and not self._remove():
            os.close(self.handle)  # Windows removes no open file
            self._remove()
            return
        os.close(self.handle)

    def _remove(self) -> bool:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            return True
        return False


@contextmanager
def hold_claim(path: Path) -> Iterator[Claim]:
    """Hold a claim; `Busy` if a living process does."""
    claim = take_claim(path)
    try:
        yield claim
    finally:
        claim.let_go()


def take_claim(path: Path) -> Claim:
    """Take a claim, to be let go; `Busy` if a living process holds it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        handle = os.open(path, flags, 0o600)
        try:
            locked = _lock(handle)
            # Its last owner may have removed it between our look and our lock.
            if _is_same(handle, path):
                claim = Claim(path, handle)
                if not locked and claim.found is None:
                    claim.write({})
                return claim
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def read_claim(path: Path) -> dict[str, Any] | None:
    """What a claim says, whoever holds it; None: there is none, or it says nothing."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        return _read_content(handle)
    finally:
        os.close(handle)


def _read_content(handle: int) -> dict[str, Any] | None:
    """What is in a claim; one that was half-written says nothing."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "a claim must be a regular file")
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        content = json.loads(os.read(handle, MOST))
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _is_same(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.lstat())
    return False


# Locks ------------------------------------------------------------------------------


def _lock(handle: int) -> bool:
    """Take the lock of an open file, `Busy` if a living process may have it.

    False where there are no locks.
    """
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        except OSError:
            return _refuse_living(handle)
        return True
    if msvcrt is None:
        return _refuse_living(handle)
    os.lseek(handle, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError:
        raise Busy from None
    return True


def _name_process() -> dict[str, Any]:
    return {"process": os.getpid(), "machine": socket.gethostname()}


def _refuse_living(handle: int) -> bool:
    """Where there are no locks, a claim is its writer's for as long as that runs."""
    content = _read_content(handle)
    if content is None:
        return False
    process, here = content.get("process"), socket.gethostname()
    if content.get("machine") != here or _is_running(process):
        raise Busy
    return False


def _is_running(process: object) -> bool:
    if not isinstance(process, int) or process <= 0 or os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
