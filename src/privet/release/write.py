"""How every release is written: `write`, top to bottom.

Files, manifest and note are written to a folder beside the destination, opened and
recounted there as a recipient would, by the very code of `verify`, and then moved to
their place whole, after the private record. What is of one kind of release only is in
the `ReleaseParts` of its `files.py`.
"""

from __future__ import annotations

import errno
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

from privet.engine.protocol import Listener, Run
from privet.errors import EngineError, InputError
from privet.findings import Audit
from privet.release.atomic_folder import (
    as_json,
    make_beside,
    move,
    save,
    sync,
    write_private_files,
)
from privet.release.destination import (
    NOTE,
    Destination,
    explain_refusals,
    refuse_destination,
    refuse_foreign,
    resolve_destination,
)
from privet.release.kinds import find_judging_kind
from privet.release.manifest import ManifestEntries, WrittenFile, build_manifest
from privet.release.verify import (
    CUSTODY,
    MANIFEST,
    digest,
    find_changed_files,
    read_manifest,
    recount,
)


class ReleaseParts(ABC):
    """What one kind of release does of its own, in the order `write` asks for it.

    A draft is the destination with the folder that is worked in for its folder.
    """

    promised: ClassVar[str] = "what was promised"
    """What the files must recount to."""

    @property
    def several(self) -> str:
        """What is to be written, where it is several files, which need a folder."""
        return ""

    def refuse(self) -> None:  # noqa: B027 - some refuse nothing
        """Raise `InputError` where there is nothing that may be written."""

    @abstractmethod
    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """Write everything but manifest and note."""

    @abstractmethod
    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """What is said of it in the manifest."""

    @abstractmethod
    def write_note(self, content: Mapping[str, Any]) -> str:
        """What recipients should know, from the public manifest alone."""

    @abstractmethod
    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """What the steward keeps, given the manifest and the recount."""

    def list_private_texts(self) -> dict[str, str]:
        """Other files that are kept beside the record, by name."""
        return {}


def write(
    parts: ReleaseParts, destination: Destination, *, replace: bool, run: Run
) -> dict[str, Any]:
    """Write a release, whole or not at all; its manifest comes out."""
    if destination.named and parts.several:
        raise InputError(
            f"{parts.several} must be written to a folder; got the name of a file, "
            f"{destination.file!r}."
        )
    refuse_destination(destination, replace)
    parts.refuse()
    with explain_refusals(destination), make_beside(destination.folder) as partial:
        draft = changed(destination, folder=partial)
        files = parts.write_files(draft, run)
        with _refuse_miscounted(parts.promised):
            entries = parts.describe(draft, files, run)
            content = build_manifest(entries, files, escaped=draft.format == "csv")
            save(partial / MANIFEST, as_json(content))
            save(partial / NOTE, parts.write_note(content))
            found = _read_back(partial, run)
        record = {
            "custody": 1,
            **parts.build_record(content, found),
            "manifest_sha256": digest(partial / MANIFEST),
        }
        kept = {**parts.list_private_texts(), CUSTODY: as_json(record)}
        appear(partial, destination, kept, replace=replace)
    return content


def _read_back(partial: Path, run: Run) -> Audit | None:
    """Read what was written, as a stranger would, and judge it again."""
    content = read_manifest(partial)
    problems = find_changed_files(partial, content)
    with closing(recount(partial, content, progress=run.listener)) as found:
        problems += found.problems
    if problems:
        raise InputError("\n".join(problems))
    return found.audit


@contextmanager
def _refuse_miscounted(promised: str) -> Iterator[None]:
    """A publisher never signs its own work: what cannot be recounted is no release."""
    try:
        yield
    except InputError:
        raise EngineError(
            f"What was written does not recount to {promised}; nothing is released. "
            "Please report this as a bug."
        ) from None


def appear(
    partial: Path, destination: Destination, kept: Mapping[str, str], *, replace: bool
) -> None:
    """Let a release appear whole, after what is kept of it in custody; or neither.

    This is the only place where either does.
    """
    sync(partial)
    manifest = digest(partial / MANIFEST)

    def has_appeared() -> bool:
        path = destination.folder / MANIFEST
        return path.is_file() and digest(path) == manifest

    with write_private_files(
        destination.custody, kept, replace=replace, stay=has_appeared
    ):
        refuse_foreign(destination.folder, replace)
        move(partial, destination.folder, replace=replace)
    with suppress(OSError):  # it is there; only its name may not be on disk yet
        sync(destination.folder.parent)


def refuse_release(*, made: bool, safe: bool) -> None:
    """Only what was made here, and keeps every promise, is written."""
    if not made:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not safe:
        raise InputError("A release must keep every promise to be written.")


# Tables -----------------------------------------------------------------------------


class TableRelease:
    """A release that is written as one table or several."""

    def write(
        self,
        folder: str | PathLike[str],
        *,
        custody: str | PathLike[str],
        format: str | None = None,  # noqa: A002 - the word users know
        replace: bool = False,
        progress: Listener | None = None,
    ) -> Self:
        """Write the release to a new folder, whole or not at all.

        What was written is read back and audited before it counts as a release.
        """
        destination = resolve_destination(folder, custody, format)
        found = find_judging_kind(self)
        assert found is not None
        parts = found[0].parts(self)
        content = write(parts, destination, replace=replace, run=Run(progress))
        itself: Any = self  # a dataclass, which has a manifest
        written: Self = changed(itself, manifest=content)
        return written


def write_table(path: Path, write_rows: Callable[[], int]) -> WrittenFile:
    """Have an engine write a table, and make sure that it is on the disk."""
    try:
        rows = write_rows()
    except EngineError as error:
        _probe_disk(path.parent)
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    for part in sorted(path.iterdir()) if path.is_dir() else ():
        sync(part)
    sync(path)
    return describe_file(path, rows)


def _probe_disk(folder: Path) -> None:
    """Raise what the disk says, where it is the disk that takes no more."""
    if shutil.disk_usage(folder).free < 2**24:
        raise OSError(errno.ENOSPC, "")
    (folder / "probe").write_bytes(bytes(2**20))


def describe_file(path: Path, rows: int = 0) -> WrittenFile:
    """A file that was written, with its digest."""
    return WrittenFile(path.name, rows, digest(path))
