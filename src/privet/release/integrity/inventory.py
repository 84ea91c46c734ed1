"""What is in the folder of a release: the regular files it lists, and nothing else.

A link leads out of the folder, a pipe never ends, a device is not a file: none of them
is opened. A file is taken by its handle, so that what is looked at is what is read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.engine.sources.file_stamps import Stamp, take_stamp

CHUNK = 2**20
"""Bytes that are read at once."""

SPARE = 2**20
"""Bytes more than are stated with which a file is still looked into."""

MOST_NAMED = 3
"""Strange files that are named; of the others only how many they are."""

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe is opened, and refused, at once
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegular(Exception):
    """What is there is not a regular file; says what it is."""


@contextmanager
def open_regular(path: Path) -> Iterator[int]:
    """A handle on a regular file, which is no link; `NotRegular` for all else."""
    refuse_irregular(path.lstat())  # first: opening a device may do something
    try:
        handle = os.open(path, _FLAGS)
    except OSError:
        raise NotRegular("unreadable") from None
    try:
        refuse_irregular(os.fstat(handle))
        yield handle
    finally:
        os.close(handle)


def refuse_irregular(found: os.stat_result) -> None:
    """Raise `NotRegular` for anything but a regular file."""
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular(name_kind(found))


def name_kind(found: os.stat_result) -> str:
    """What sort of thing is there."""
    kinds = (words for fits, words in _KINDS if fits(found.st_mode))
    return next(kinds, "a file")


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file; `ValueError` where there are more."""
    with open_regular(path) as handle:
        if os.fstat(handle).st_size > most:
            raise ValueError(f"it has more than {most:,} bytes")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return data


# Files ------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoundFile:
    """A file, or a folder of parts, as it is on the disk."""

    size: int
    """How many bytes it has."""
    sha256: str
    """The digest of its bytes."""
    stamps: Mapping[Path, Stamp]
    """When it was read."""


def measure_file(path: Path, most: int | None = None) -> FoundFile:
    """A regular file, or a folder of Parquet parts; `NotRegular` for all else.

    The digest of a folder is that of the lines that sha256sum lists for it. What has
    more bytes than `most` is not read.
    """
    if path.suffix.lower() != ".parquet" or not stat.S_ISDIR(path.lstat().st_mode):
        return _measure_regular(path, most)
    parts = {p.name: _measure_regular(p, most) for p in sorted(path.iterdir())}
    lines = "".join(f"{part.sha256}  {name}\n" for name, part in parts.items())
    stamps = {p: s for part in parts.values() for p, s in part.stamps.items()}
    return FoundFile(
        sum(part.size for part in parts.values()),
        hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest(),
        {path: take_stamp(path.lstat()), **stamps},
    )


def _measure_regular(path: Path, most: int | None) -> FoundFile:
    digest, size = hashlib.sha256(), 0
    with open_regular(path) as handle:
        before = take_stamp(os.fstat(handle))
        if most is not None and before[2] > most:
            raise NotRegular(f"{before[2]:,} bytes long")
        while chunk := os.read(handle, CHUNK):
            digest.update(chunk)
            size += len(chunk)
        if take_stamp(os.fstat(handle)) != before or size != before[2]:
            raise NotRegular("a file that is being changed")
    return FoundFile(size, digest.hexdigest(), {path: before})


# The folder -------------------------------------------------------------------------


@dataclass(frozen=True)
class Inventory:
    """The folder of a release, held against what its manifest lists."""

    folder: Path
    """Where it is."""
    problems: tuple[str, ...]
    """What is missing, changed, or more than is listed."""
    whole: bool
    """Whether every listed file is there, so that it can be opened."""
    stamps: Mapping[Path, Stamp]
    """The files as they were when they were read."""

    def find_changes(self) -> list[str]:
        """Files that were changed since they were read."""
        changed = [p for p, stamp in self.stamps.items() if _stamp_now(p) != stamp]
        return [
            f"File {p.name!r} must stay as it is while it is checked; it was changed."
            for p in changed
        ]


def _stamp_now(path: Path) -> Stamp | None:
    try:
        return take_stamp(path.lstat())
    except OSError:
        return None


def take_inventory(
    folder: Path, files: Collection[Mapping[str, Any]], own: Collection[str]
) -> Inventory:
    """Look at everything in a folder; `own` may be there besides the listed files."""
    there = {p.name: p.lstat() for p in folder.iterdir()}
    listed = {file["path"] for file in files}
    problems = _refuse_strange({n: s for n, s in there.items() if n not in listed}, own)
    stamps: dict[Path, Stamp] = {}
    whole = True
    for file in files:
        name = file["path"]
        if name not in there:  # on disks that know no case, too
            problems.append(f"File {name!r} of the release must exist.")
            whole = False
            continue
        try:
            found = measure_file(folder / name, file["bytes"] + SPARE)
        except NotRegular as error:
            problems.append(
                f"File {name!r} must be a regular file of {file['bytes']:,} bytes; it "
                f"is {error}."
            )
            whole = False
            continue
        stamps |= found.stamps
        problems += _compare_file(file, found)
    return Inventory(folder, tuple(problems), whole, stamps)


def _compare_file(file: Mapping[str, Any], found: FoundFile) -> list[str]:
    if found.sha256 == file["sha256"] and found.size == file["bytes"]:
        return []
    what = "its digest differs"
    if found.size != file["bytes"]:
        what = f"it has {found.size:,} bytes in place of {file['bytes']:,}, and {what}"
    return [f"File {file['path']!r} must be as it was released; {what}."]


def _refuse_strange(
    there: Mapping[str, os.stat_result], own: Collection[str]
) -> list[str]:
    """Whatever nobody lists: a table with names in it, left there by mistake."""
    strange = sorted(name for name in there if name not in own)
    if not strange:
        return []
    named = [
        f"{name!r}, {_name_strange(name, there[name])}" for name in strange[:MOST_NAMED]
    ]
    if more := len(strange) - len(named):
        named.append(f"and {more:,} more")
    return [
        "The folder must hold nothing but the files that the manifest lists; it holds "
        f"{len(strange):,} besides: {'; '.join(named)}. Nobody vouches for them: look "
        "at them, and take them out."
    ]


def _name_strange(name: str, found: os.stat_result) -> str:
    kind = name_kind(found)
    return kind.replace("a ", "a hidden ", 1) if name.startswith(".") else kind
