"""Writing the tables of a release, and reading them back as a stranger would."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run, WriteQuery
from privet.errors import EngineError, InputError
from privet.findings import Audit
from privet.microdata.release import Release, judged
from privet.release.atomic_folder import sync
from privet.release.manifest import WrittenFile
from privet.release.verify import digest, open_files
from privet.table import Table


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

    def file_of(self, stem: str) -> str:
        """The file of one of several tables."""
        return self.file if stem == "table" else f"{stem}.{self.format}"


def write_tables(
    release: Release, place: Destination, partial: Path, run: Run
) -> list[WrittenFile]:
    """Write every table of a release."""
    if release.grouped is None:
        weight = release.table.roles.weight
        options = {"columns": release.columns(), "weight": weight}
        return [_table(release.table, place.file, options, place, partial, run)]
    found = []
    for file in release.grouped.files:
        shown = {"weight": file.weight} if file.weight else {"times": file.times}
        options = {"columns": file.columns, **shown}
        name = place.file_of(file.stem)
        found.append(_table(file.table, name, options, place, partial, run))
    return found


def _table(
    table: Table,
    name: str,
    options: dict[str, Any],
    place: Destination,
    partial: Path,
    run: Run,
) -> WrittenFile:
    path = partial / name
    writing = WriteQuery(str(path), place.format, **options)
    try:
        rows = table.engine.write(writing, table.recodings, run)
    except EngineError as error:
        _probe(partial)
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    for part in sorted(path.iterdir()) if path.is_dir() else ():
        sync(part)
    sync(path)
    return WrittenFile(name, rows, digest(path))


def _probe(partial: Path) -> None:
    """Raise what the disk says, where it is the disk that takes no more."""
    if shutil.disk_usage(partial).free < 2**24:
        raise OSError(errno.ENOSPC, "")
    (partial / "probe").write_bytes(bytes(2**20))


def recount(
    release: Release,
    place: Destination,
    partial: Path,
    written: Sequence[WrittenFile],
    run: Run,
) -> tuple[Audit, dict[str, str]]:
    """Read what was written, as a stranger would, and judge it again."""
    kinds: dict[str, str] = {}
    found: Audit | None = None
    for (stem, columns, table), file in zip(_stated(release), written, strict=True):
        path = partial / place.file_of(stem)
        try:
            with open_files(
                path, table.roles, guarded=place.format == "csv", shown=table.shown
            ) as opened:
                if table is release.table:
                    found = judged(opened, release.policy, run=run)
                names, rows = opened.schema.names, opened.engine.rows(run)
                kinds |= {c.name: c.kind for c in opened.schema.columns}
        except InputError:
            raise _miscounted() from None
        if (names, rows, digest(path)) != (columns, file.rows, file.sha256):
            raise _miscounted()
    if found is None or _outcome(release.audit) != _outcome(found):
        raise _miscounted()
    return found, kinds


def _stated(release: Release) -> Iterator[tuple[str, tuple[str, ...], Table]]:
    """The tables a release has: file, columns, and what they are for when read."""
    if release.grouped is None:
        yield "table", release.columns(), release.table
        return
    for file in release.grouped.files:
        yield file.stem, file.columns, file.table


def _outcome(audit: Audit) -> list[tuple[object, ...]]:
    """What must recount. Of equally bad cases any may be the witness, whose prior
    may be another: the file has its values in another order.
    """
    return [
        (f.verdict, f.belief and f.belief.posterior, f.value) for f in audit.findings
    ]


def _miscounted() -> EngineError:
    return EngineError(
        "What was written does not recount to what was promised; nothing is "
        "released. Please report this as a bug."
    )
