"""Packed files: one text file inside of .gz, .zst, .bz2, .xz or .zip."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from privet.errors import InputError, suggest_names

PACKED = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""Compressions, as names of files end."""

UNPACKED_BY_ENGINES = {".gz": "gzip", ".zst": "zstd"}
"""Those that engines unpack themselves, and what Arrow calls them."""

XZ_MEMORY = 256 << 20
"""Bytes that a .xz file may ask for to be unpacked; 65 MB are usual at the most."""

BLOCK = 1 << 16
"""Bytes of a .xz file that are unpacked together."""

DAMAGES = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    pa.ArrowException,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
)
"""What goes wrong in a file that is cut short, damaged, locked or of another kind."""


def split_endings(path: Path) -> tuple[str, str]:
    """The ending that names the format, and the one that names the compression.

    >>> split_endings(Path("people.csv.gz")), split_endings(Path("people.zip"))
    (('.csv', '.gz'), ('', '.zip'))
    """
    packed = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    inner = Path(path.stem) if packed else path
    return inner.suffix.lower(), packed


@dataclass(frozen=True)
class PackedFile:
    """A file that may be packed, and which part of it is meant."""

    path: Path
    """The file."""
    ending: str
    """The ending that names its format."""
    packed: str = ""
    """The ending that names its compression; empty: it has none."""
    member: str = ""
    """The file inside of a .zip file that is meant."""

    @classmethod
    def find(
        cls, path: Path, member: str | None = None, known: Collection[str] = ()
    ) -> PackedFile:
        """A file by its name; of a .zip file the member that has a known ending."""
        ending, packed = split_endings(path)
        if packed != ".zip":
            return cls(path, ending, packed)
        inside = find_member(path, member, known)
        return cls(path, PurePosixPath(inside).suffix.lower(), packed, inside)

    @property
    def is_unpacked_by_engines(self) -> bool:
        """Whether an engine reads it as it is."""
        return not self.packed or self.packed in UNPACKED_BY_ENGINES

    def open(self) -> IO[bytes]:
        """Its bytes, unpacked as they are read."""
        openers: dict[str, Callable[[], Any]] = {
            ".bz2": partial(bz2.open, self.path, "rb"),
            ".xz": partial(_open_xz, self.path),
            ".zip": partial(_open_member, self.path, self.member),
        }
        if self.packed in openers:
            opened: IO[bytes] = openers[self.packed]()
            return opened
        how = UNPACKED_BY_ENGINES.get(self.packed)
        stream: IO[bytes] = pa.input_stream(str(self.path), compression=how)
        return stream


# zip --------------------------------------------------------------------------------


def find_member(path: Path, wanted: str | None, known: Collection[str]) -> str:
    """The file of a .zip file that is meant; asked, if several may be."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [i.filename for i in archive.infolist() if not i.is_dir()]
    except DAMAGES:
        inside = None
    if inside is None:
        raise InputError(
            f"File {str(path)!r} must be a whole .zip file; it is cut short or damaged."
        )
    if wanted is not None:
        if wanted not in inside:
            raise InputError(
                f"File {wanted!r} must exist in {str(path)!r}. "
                f"{suggest_names(wanted, inside)}"
            )
        return wanted
    fits = [name for name in inside if _is_data(name, known)]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise InputError(
            f"File {str(path)!r} must hold a text file that ends in one of "
            f"{', '.join(known)}; it has none."
        )
    raise InputError(
        f"table must name one file of {str(path)!r}, which holds several. "
        f"{suggest_names('', fits)}"
    )


def _is_data(name: str, known: Collection[str]) -> bool:
    """Whether a file is meant to be read, and not what an archiver put beside it."""
    parts = PurePosixPath(name).parts
    beside = any(part == "__MACOSX" or part.startswith(".") for part in parts)
    return not beside and PurePosixPath(name).suffix.lower() in known


def _open_member(path: Path, member: str) -> io.BufferedReader:
    return io.BufferedReader(_Member(path, member))


class _Member(io.RawIOBase):
    """One file of a .zip file, which is closed with it."""

    def __init__(self, path: Path, member: str) -> None:
        self._archive = zipfile.ZipFile(path)
        try:
            self._file = self._archive.open(member)
        except BaseException:
            self._archive.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._file.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
            self._archive.close()
        super().close()


# xz ---------------------------------------------------------------------------------


def _open_xz(path: Path) -> io.BufferedReader:
    return io.BufferedReader(_Xz(path))


class _Xz(io.RawIOBase):
    """A .xz file, unpacked with little memory whatever it asks for."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._unpacker = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
        self._before = b""  # what was read and not unpacked yet

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = b""
        while not found:
            if self._unpacker.eof and not self._begin_next():
                return 0
            given = b""
            if self._unpacker.needs_input:
                given = self._before or self._file.read(BLOCK)
                self._before = b""
                if not given:
                    raise EOFError
            found = self._unpacker.decompress(given, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def _begin_next(self) -> bool:
        """Several packed files may stand one after the other; zeros fill up."""
        left = self._unpacker.unused_data or self._file.read(BLOCK)
        while left and not left.strip(b"\0"):
            left = self._file.read(BLOCK)
        if not left:
            return False
        self._before = left.lstrip(b"\0")
        self._unpacker = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
