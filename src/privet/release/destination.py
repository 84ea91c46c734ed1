"""Where a release goes: folder, file and custody, and what the place must be like."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from privet.errors import InputError
from privet.release.commit.claims import Busy
from privet.release.commit.intent import place_claim
from privet.release.manifest import RECIPE
from privet.release.verify import CUSTODY, MANIFEST, OWN, read_manifest

FORMATS = ("parquet", "csv", "xlsx", "sav", "dta")
"""How tables are written."""


@dataclass(frozen=True)
class Destination:
    """Where a release goes."""

    folder: Path
    """The release."""
    file: str
    """The table's file in it."""
    format: str
    """How the table is written."""
    custody: Path
    """Where the private record is kept."""
    named: bool = False
    """Whether the file's name was chosen."""

    def name_file(self, stem: str) -> str:
        """The file of one of several tables."""
        return self.file if stem == "table" else f"{stem}.{self.format}"


def resolve_destination(
    folder: str | PathLike[str], custody: str | PathLike[str], format_: str | None
) -> Destination:
    """Where tables go; the folder may be the name of the one file instead."""
    path = Path(folder).expanduser().resolve()
    kept = Path(custody).expanduser().resolve()
    ending = path.suffix.lower().removeprefix(".")
    file = path.name if ending in FORMATS else ""
    chosen = format_ or (ending if file else "parquet")
    if chosen not in FORMATS or (file and ending != chosen):
        raise InputError(
            f"format must be one of {', '.join(FORMATS)}, and fit the file's name; "
            f"got {chosen!r}."
        )
    place = path.parent if file else path
    return Destination(place, file or f"table.{chosen}", chosen, kept, bool(file))


def refuse_destination(destination: Destination, replace_: bool) -> None:
    """Where a release and its custody may go; the same for every kind of release."""
    folder, kept = destination.folder, destination.custody
    if kept == folder or folder in kept.parents:
        raise InputError(
            "The custody folder must not be inside the release; it never travels. Got "
            f"{str(kept)!r} for a release in {str(folder)!r}."
        )
    if not folder.parent.is_dir():
        raise InputError(f"The folder {str(folder.parent)!r} must exist.")
    if kept.exists() and not kept.is_dir():
        raise InputError(f"The custody {str(kept)!r} must be a folder; it is not.")
    refuse_foreign(folder, replace_)
    for name in (CUSTODY, RECIPE):
        if (kept / name).exists() and not replace_:
            raise InputError(
                f"{str(kept / name)!r} must not exist yet: it belongs to "
                "another release. Choose another custody folder, or allow to replace."
            )


@contextmanager
def explain_refusals(destination: Destination) -> Iterator[None]:
    """What the system refuses, in words; nothing is left behind."""
    try:
        yield
    except Busy:
        raise InputError(
            f"The folder {str(destination.folder)!r} and the custody folder "
            f"{str(destination.custody)!r} must not be in use; another release is "
            "being written. Wait for it, or choose other folders."
        ) from None
    except OSError as error:
        reasons = {
            errno.ENOSPC: "the disk is full",
            errno.EDQUOT: "the disk quota is used up",
            errno.EFBIG: "the file would be larger than allowed",
            errno.EIO: "the disk is full, or the source was changed meanwhile",
            errno.EROFS: "the folder is read-only",
            errno.EACCES: "there is no permission",
            errno.EPERM: "there is no permission",
            errno.ENOTEMPTY: "another release has just been written there",
            errno.EEXIST: "another release has just been written there",
        }
        why = reasons.get(error.errno or 0, error.strerror or type(error).__name__)
        raise InputError(
            f"The release {str(destination.folder)!r} could not be written: {why}. "
            f"{_describe_rest(destination.folder)}"
        ) from None


def _describe_rest(folder: Path) -> str:
    """What an error left: nothing, unless undoing it failed as well."""
    if place_claim(folder).exists():
        return "What is left of it is removed by the next command that looks there."
    return "Nothing was left behind."


def refuse_foreign(folder: Path, replace_: bool) -> None:
    """Only an empty place is filled, and only a release is ever replaced."""
    if not folder.exists():
        return
    found = {p.name for p in folder.iterdir()} if folder.is_dir() else {""}
    if not found:
        return
    if not (replace_ and MANIFEST in found):
        raise InputError(
            f"{str(folder)!r} must not exist yet; it holds "
            + ("a release. " if MANIFEST in found else "other files. ")
            + "Choose another folder, or replace a release with --replace "
            "(replace=True)."
        )
    own = {*OWN, *(f["path"] for f in read_manifest(folder)["files"])}
    if foreign := sorted(found - own):
        raise InputError(
            f"{str(folder)!r} must hold nothing but a release to be replaced; "
            f"{foreign[0]!r} is none of its files. Move it elsewhere first."
        )
