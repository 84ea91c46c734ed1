"""The last steps of a release: its documents, its private record, then its place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet.publishers.commit import CUSTODY, NOTE, refuse_foreign
from privet.publishers.folders import as_json, move, private_files, save, sync
from privet.publishers.reading import MANIFEST, digest
from privet.publishers.recounting import Place
from privet.table import Table


def appear(
    partial: Path,
    place: Place,
    content: Mapping[str, Any],
    note: str,
    record: Mapping[str, Any],
    *,
    replace: bool,
) -> None:
    """Let a release appear whole, after its private record; or neither."""
    manifest = as_json(content)
    save(partial / MANIFEST, manifest)
    save(partial / NOTE, note)
    sync(partial)

    def appeared() -> bool:
        path = place.folder / MANIFEST
        return path.is_file() and path.read_text(encoding="utf-8") == manifest

    kept = {CUSTODY: as_json({**record, "manifest_sha256": _digest(manifest)})}
    with private_files(place.custody, kept, replace=replace, stay=appeared):
        refuse_foreign(place.folder, replace)
        move(partial, place.folder, replace=replace)
    with suppress(OSError):  # it is there; only its name may not be on disk yet
        sync(place.folder.parent)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """When something was made, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def files_of(table: Table) -> list[dict[str, str]]:
    """The files a table was read from, and their digests."""
    return [{"path": p, "sha256": digest(Path(p))} for p in table.source.paths]
