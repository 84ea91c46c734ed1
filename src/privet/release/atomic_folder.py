"""Folders that appear whole or not at all, and what interrupted writers left behind."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks
    fcntl = None  # type: ignore[assignment]

SWAP = {"linux": ("renameat2", -100, 2), "darwin": ("renameatx_np", -2, 2)}
"""By system: what exchanges two names, the working folder, and the flag that asks."""


class Busy(Exception):
    """Somebody else holds the lock of a folder."""


@contextmanager
def make_beside(folder: Path) -> Iterator[Path]:
    """A new folder beside the given one, which is gone in the end unless moved.

    It is locked while it is written; the system drops the lock of a process that
    dies. What has no lock is a leftover, and removed by the next writer.
    """
    prefix = f".{folder.name}.partial-"
    _remove_leftovers(folder.parent, prefix)
    with ExitStack() as stack:
        partial = _make_locked_folder(folder.parent, prefix, stack)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _make_locked_folder(parent: Path, prefix: str, stack: ExitStack) -> Path:
    """A new folder with our lock on it, made again if a cleaner was faster."""
    while True:
        partial = parent / f"{prefix}{secrets.token_hex(6)}"
        partial.mkdir(mode=0o700)
        with suppress(Busy, FileNotFoundError):
            handle = stack.enter_context(hold_lock(partial))
            # A cleaner may have removed the folder between its birth and our lock.
            if os.fstat(handle).st_ino == partial.stat().st_ino:
                return partial


@contextmanager
def hold_lock(folder: Path) -> Iterator[int]:
    """Hold the lock of a folder; `Busy` if somebody else does."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take a lock; False where the file system has none."""
    if fcntl is None:  # pragma: no cover - Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Busy from None
    except OSError:
        return False
    return True


def _remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove what dead writers left; never what has, or may have, a living one."""
    for path in parent.iterdir():
        if path.name.startswith(prefix) and path.is_dir() and not path.is_symlink():
            with suppress(OSError, Busy):
                _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        if _lock(handle):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(handle)


# Moving -----------------------------------------------------------------------------


def move(partial: Path, folder: Path, *, replace: bool) -> None:
    """Give a finished folder its name; what it replaces gets the other name."""
    partial.chmod(0o777 & ~_read_umask())
    if not (replace and folder.exists()):
        partial.rename(folder)  # fails if somebody was faster
    elif not _swap(partial, folder):
        _move_over(partial, folder)


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders in one go; False where the system cannot."""
    if sys.platform not in SWAP:  # pragma: no cover - Windows
        return False
    name, here, flag = SWAP[sys.platform]
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:  # pragma: no cover - an old C library
        return False
    return bool(call(here, os.fsencode(one), here, os.fsencode(other), flag) == 0)


def _move_over(partial: Path, folder: Path) -> None:
    """The same in two steps; the old folder is back if the second one fails."""
    old = partial.with_name(f"{partial.name}-old")
    folder.rename(old)
    try:
        partial.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    old.rename(partial)  # to be removed


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Files ------------------------------------------------------------------------------


def save(path: Path, text: str, *, private: bool = False) -> None:
    """Write a new file that is on the disk when this returns."""
    mode = 0o600 if private else 0o666
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Make sure a file or the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def write_private_files(
    folder: Path, texts: Mapping[str, str], *, replace: bool, stay: Callable[[], bool]
) -> Iterator[None]:
    """Files that stay if all goes well; else everything is as it was before.

    `stay` tells, after something went wrong, whether that was too late to matter.
    """
    created = _make_folder(folder)
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder))
            if not replace and any((folder / name).exists() for name in texts):
                raise FileExistsError(errno.EEXIST, "")
            with _replace_files(folder, texts, stay):
                yield
        except BaseException:
            for path in created:
                with suppress(OSError):  # not empty
                    path.rmdir()
            raise


@contextmanager
def _replace_files(
    folder: Path, texts: Mapping[str, str], stay: Callable[[], bool]
) -> Iterator[None]:
    token = secrets.token_hex(6)
    fresh = {name: folder / f".{name}.new-{token}" for name in texts}
    old = {name: folder / f".{name}.old-{token}" for name in texts}
    saved = False
    try:
        for name, text in texts.items():
            save(fresh[name], text, private=True)
        # From here on a new file that is gone has taken its place; before, none has.
        saved = True
        for name in texts:
            with suppress(FileNotFoundError):
                (folder / name).rename(old[name])
            fresh[name].rename(folder / name)
        sync(folder)
        yield
    except BaseException:
        if not stay():
            for name in texts:
                _put_back(folder / name, fresh[name], old[name], saved)
            raise
        _forget(old)
        raise
    _forget(old)


def _forget(old: Mapping[str, Path]) -> None:
    for path in old.values():
        path.unlink(missing_ok=True)


def _put_back(path: Path, fresh: Path, old: Path, saved: bool) -> None:
    """Undo one replacement, however far it came."""
    if saved and not fresh.exists():  # it has its place already
        path.unlink(missing_ok=True)
    fresh.unlink(missing_ok=True)
    if old.exists():
        old.rename(path)


def _make_folder(folder: Path) -> list[Path]:
    """Make a private folder; those that were missing, the innermost first."""
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return missing


def as_json(content: object) -> str:
    """A document as it is written."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
