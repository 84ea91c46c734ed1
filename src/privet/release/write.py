"""The steps every release is written by: its place, its documents, its private record.

A release is written beside its place, read back and recounted, and then moved there
whole; what is written, and how it recounts, is in the `files.py` of its kind.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from privet.errors import InputError
from privet.policy import Policy
from privet.release.atomic_folder import (
    Busy,
    as_json,
    move,
    save,
    sync,
    write_private_files,
)
from privet.release.manifest import RECIPE
from privet.release.verify import CUSTODY, MANIFEST, digest, read_manifest
from privet.table import Table

NOTE = "README.txt"
"""What a release says to whoever receives it."""

FORMATS = ("parquet", "csv")
"""How tables are written."""

MISCOUNTED = (
    "What was written does not recount to what was promised; nothing is released. "
    "Please report this as a bug."
)


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


def appear(
    partial: Path,
    destination: Destination,
    content: Mapping[str, Any],
    note: str,
    record: Mapping[str, Any],
    beside: Mapping[str, str] | None = None,
    *,
    replace: bool,
) -> None:
    """Let a release appear whole, after its private record; or neither.

    Other private texts may be kept beside the record, by the name of their file.
    """
    manifest = as_json(content)
    save(partial / MANIFEST, manifest)
    save(partial / NOTE, note)
    sync(partial)

    def has_appeared() -> bool:
        path = destination.folder / MANIFEST
        return path.is_file() and path.read_text(encoding="utf-8") == manifest

    whole = {**record, "manifest_sha256": _digest(manifest)}
    kept = {**(beside or {}), CUSTODY: as_json(whole)}
    with write_private_files(
        destination.custody, kept, replace=replace, stay=has_appeared
    ):
        refuse_foreign(destination.folder, replace)
        move(partial, destination.folder, replace=replace)
    with suppress(OSError):  # it is there; only its name may not be on disk yet
        sync(destination.folder.parent)


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
    own = {MANIFEST, NOTE, *(f["path"] for f in read_manifest(folder)["files"])}
    if foreign := sorted(found - own):
        raise InputError(
            f"{str(folder)!r} must hold nothing but a release to be replaced; "
            f"{foreign[0]!r} is none of its files. Move it elsewhere first."
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """When something was made, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_files(table: Table) -> list[dict[str, str]]:
    """The files a table was read from, and their digests."""
    return [{"path": p, "sha256": digest(Path(p))} for p in table.source.paths]


def describe_source(table: Table) -> dict[str, Any]:
    """What tells the rows of a table from others: files, filter and bins."""
    where = table.options.get("where") or {}
    return {
        "files": sorted(digest(Path(p)) for p in table.source.paths),
        "table": table.source.scan if table.source.attach else "",
        "where": {c: sorted(map(str, v)) for c, v in sorted(where.items())},
        "bins": {c: b.to_list() for c, b in sorted(table.roles.bins.items())},
    }


def policy_text(policy: Policy) -> Any:
    """The policy as it was written, or as a file would have it."""
    if policy.origin:
        return policy.origin.text
    try:
        return policy.to_toml()
    except InputError:  # a promise about missing values, which TOML cannot write
        promises = [p.to_dict() for p in policy.promises]
        return promises + [m.to_dict() for m in policy.measures]


# Where ------------------------------------------------------------------------------


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
            f"The custody folder {str(destination.custody)!r} must not be in use; "
            "another release is being written. Wait for it, or choose another folder."
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
            "Nothing was left behind."
        ) from None
