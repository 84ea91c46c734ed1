"""The last steps of a release: its documents, its private record, then its place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet.errors import InputError
from privet.microdata.files import Destination
from privet.release.atomic_folder import as_json, move, private_files, save, sync
from privet.release.verify import CUSTODY, MANIFEST, digest, read_manifest
from privet.table import Table

NOTE = "README.txt"
"""What a release says to whoever receives it."""


def appear(
    partial: Path,
    place: Destination,
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

    def appeared() -> bool:
        path = place.folder / MANIFEST
        return path.is_file() and path.read_text(encoding="utf-8") == manifest

    whole = {**record, "manifest_sha256": _digest(manifest)}
    kept = {**(beside or {}), CUSTODY: as_json(whole)}
    with private_files(place.custody, kept, replace=replace, stay=appeared):
        refuse_foreign(place.folder, replace)
        move(partial, place.folder, replace=replace)
    with suppress(OSError):  # it is there; only its name may not be on disk yet
        sync(place.folder.parent)


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


def files_of(table: Table) -> list[dict[str, str]]:
    """The files a table was read from, and their digests."""
    return [{"path": p, "sha256": digest(Path(p))} for p in table.source.paths]
