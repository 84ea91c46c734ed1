"""Folders that get their name whole, and files that are on the disk once written.

Not every system has every call: what one refuses, another one does for it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from privet.values.visible_text import escape_json

SWAP = {"linux": ("renameat2", -100, 2), "darwin": ("renameatx_np", -2, 2)}
"""By system: what exchanges two names, the working folder, and the flag that asks."""


# Moving -----------------------------------------------------------------------------


def move(partial: Path, folder: Path, *, replace: bool) -> None:
    """Give a finished folder its name; what it replaces gets the other name."""
    partial.chmod(0o777 & ~_read_umask())
    if not (replace and folder.exists()):
        _name_folder(partial, folder)
    elif not _swap(partial, folder):
        _move_over(partial, folder)


def _name_folder(partial: Path, folder: Path) -> None:
    """Fails if somebody was faster; an empty folder gives way on every system."""
    try:
        partial.rename(folder)
    except OSError:
        if not folder.is_dir() or any(folder.iterdir()):
            raise
        folder.rmdir()
        partial.rename(folder)


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders in one go; False where the system cannot."""
    if sys.platform not in SWAP:
        return False
    name, here, flag = SWAP[sys.platform]
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:
        return False
    return bool(call(here, os.fsencode(one), here, os.fsencode(other), flag) == 0)


def _name_old(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}-old")


def _move_over(partial: Path, folder: Path) -> None:
    """The same in two steps; the old folder is back if the second one fails."""
    old = _name_old(partial)
    folder.rename(old)
    try:
        partial.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    old.rename(partial)  # to be removed


def move_back(partial: Path, folder: Path, *, appeared: bool) -> None:
    """Remove what a move left; an old folder that has no name any more gets it back."""
    old = _name_old(partial)
    if old.is_dir() and not appeared and not folder.exists():
        old.rename(folder)
    for path in (partial, old):
        remove_tree(path)
    with suppress(OSError):  # it is there; only its name may not be on disk yet
        sync(folder.parent)


def remove_tree(path: Path) -> bool:
    """Remove a folder; False if something of it cannot be removed."""
    for _ in range(2):  # a scanner or an indexer may have held a file
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return True
    return False


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Files ------------------------------------------------------------------------------


def save(path: Path, text: str, *, private: bool = False) -> None:
    """Write a new file that is on the disk when this returns."""
    mode = 0o600 if private else 0o666
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Make sure a file or the names in a folder are on the disk.

    Windows opens no folder, and flushes only what may be written to; some network
    folders know no flushing. Such systems keep the order of names themselves.
    """
    folder = path.is_dir()
    try:
        handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    except PermissionError:
        if folder:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if not folder or error.errno not in UNFLUSHED:
            raise
    finally:
        os.close(handle)


UNFLUSHED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES)
"""What systems answer that cannot flush a folder."""


def hash_text(text: str) -> str:
    """The digest of a file that `save` writes."""
    return hashlib.sha256(text.encode()).hexdigest()


def as_json(content: object) -> str:
    """A document as it is written."""
    return escape_json(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"
