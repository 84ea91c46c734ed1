"""Writing a release: beside its place, read back, recounted, then moved there whole."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privet.engines.base import Run, Tally, Writing
from privet.errors import EngineError, InputError
from privet.finding import Audit
from privet.publishers.earlier import same_source
from privet.publishers.note import note
from privet.publishers.reading import MANIFEST, digest, open_files
from privet.publishers.release import Release, judged
from privet.releases.manifest import Written, columns_of, manifest
from privet.releases.recipe import Cut, Hide

FORMATS = ("parquet", "csv")
CUSTODY, RECIPE, NOTE = "custody.json", "recipe.json", "README.txt"


@dataclass(frozen=True)
class Place:
    """Where a release goes."""

    folder: Path
    """The release."""
    file: str
    """The table's file in it."""
    format: str
    """How the table is written."""
    custody: Path
    """Where the private record is kept."""


def write(
    release: Release,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    format: str | None,  # noqa: A002 - the word users know
    replace: bool,
    run: Run,
) -> Release:
    """Write a release; it appears whole or not at all."""
    place = _place(folder, custody, format)
    _refuse(release, place, replace)
    with _explained(place), _beside(place.folder) as partial:
        written = _table(release, place, partial, run)
        found = _recount(release, place, partial, run)
        content = _manifest(release, place, written, found, run)
        _save(partial / MANIFEST, _json(content))
        _save(partial / NOTE, note(content))
        _sync(partial)
        with _kept(release, place, content, found, replace):
            _move(partial, place.folder, replace)
    return _published(release, content)


def _published(release: Release, content: dict[str, Any]) -> Release:
    return replace(release, manifest=content)


# Where ------------------------------------------------------------------------------


def _place(
    folder: str | PathLike[str], custody: str | PathLike[str], format_: str | None
) -> Place:
    path, kept = Path(folder).expanduser(), Path(custody).expanduser()
    ending = path.suffix.lower().removeprefix(".")
    file = path.name if ending in FORMATS else ""
    chosen = format_ or (ending if file else "parquet")
    if chosen not in FORMATS or (file and ending != chosen):
        raise InputError(
            f"format must be one of {', '.join(FORMATS)}, and fit the file's name; "
            f"got {chosen!r}."
        )
    place = path.parent if file else path
    return Place(place, file or f"table.{chosen}", chosen, kept)


def _refuse(release: Release, place: Place, replace_: bool) -> None:
    folder, kept = place.folder.resolve(), place.custody.resolve()
    if kept == folder or folder in kept.parents:
        raise InputError(
            "The custody folder must not be inside the release; it never travels. Got "
            f"{str(place.custody)!r} for a release in {str(place.folder)!r}."
        )
    if release.recipe is None:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not release.safe:
        raise InputError("A release must keep every promise to be written.")
    full = place.folder.exists() and (
        not place.folder.is_dir() or any(place.folder.iterdir())
    )
    if full and not (replace_ and (place.folder / MANIFEST).is_file()):
        raise InputError(
            f"{str(place.folder)!r} must not exist yet, or hold a release that replace "
            "allows to write over."
        )
    for name in (CUSTODY, RECIPE):
        if (place.custody / name).exists() and not replace_:
            raise InputError(
                f"{str(place.custody / name)!r} must not exist yet: it belongs to "
                "another release. Choose another custody folder, or allow to replace it."
            )


@contextmanager
def _explained(place: Place) -> Iterator[None]:
    """What the system refuses, in words; nothing is left behind."""
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOSPC: "the disk is full",
            errno.EFBIG: "the file would be larger than allowed",
            errno.EROFS: "the folder is read-only",
            errno.EACCES: "there is no permission",
            errno.EPERM: "there is no permission",
            errno.ENOTEMPTY: "another release has just been written there",
            errno.EEXIST: "another release has just been written there",
        }
        why = reasons.get(error.errno or 0, error.strerror or type(error).__name__)
        raise InputError(
            f"The release {str(place.folder)!r} could not be written: {why}. Nothing "
            "was left behind."
        ) from None


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A new folder beside the release, which is gone in the end unless it was moved."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.parent / f".{folder.name}.partial-{secrets.token_hex(6)}"
    partial.mkdir(mode=0o700)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


# What -------------------------------------------------------------------------------


def _table(release: Release, place: Place, partial: Path, run: Run) -> Written:
    path = partial / place.file
    writing = Writing(
        str(path),
        place.format,
        release.columns(),
        secrets.token_bytes(32),
        release.table.roles.weight,
    )
    try:
        rows = release.table.engine.write(writing, release.table.recodings, run)
    except EngineError:
        free = shutil.disk_usage(partial).free
        raise OSError(errno.ENOSPC if free < 2**24 else errno.EIO, "") from None
    _sync(path)
    return Written(place.file, rows, digest(path))


def _recount(release: Release, place: Place, partial: Path, run: Run) -> Audit:
    """Read what was written, as a stranger would, and judge it again."""
    roles = release.table.roles
    table = open_files(partial / place.file, roles, guarded=place.format == "csv")
    with table:
        found = judged(table, release.policy, run=run)
    expected = [(f.verdict, f.belief, f.value) for f in release.audit.findings]
    if expected != [(f.verdict, f.belief, f.value) for f in found.findings]:
        raise EngineError(
            "What was written does not recount to what was promised; nothing is "
            "released. Please report this as a bug."
        )
    return found


def hidden_cells(release: Release, run: Run) -> dict[str, int]:
    """How many cells of each column show the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    columns = [
        c
        for c, how in recipe.columns.items()
        if isinstance(how, Hide) or (isinstance(how, Cut) and not how.after)
    ]
    found = {}
    for tally, counts in release.table.count([Tally((), c) for c in columns], run):
        code = counts.about.code(recipe.marker)
        at = np.flatnonzero(counts.value == code)
        found[tally.about] = int(counts.n[at].sum())
    return found


def _manifest(
    release: Release, place: Place, written: Written, found: Audit, run: Run
) -> dict[str, Any]:
    from privet import __version__

    table, recipe = release.table, release.recipe
    assert recipe is not None
    plain = replace(table, relabels={})
    domains = plain.domains(list(recipe.columns), run)
    hidden = {
        c: len(how.hidden) if isinstance(how, Hide) else len(domains[c])
        for c, how in recipe.columns.items()
    }
    kinds = {c.name: c.kind for c in table.schema.columns}
    kinds |= {c: d.kind for c, d in domains.items()}
    return manifest(
        version=__version__,
        title=release.policy.title,
        method=release.method,
        files=[written],
        columns=columns_of(table.schema, release.columns(), kinds, recipe, hidden),
        weight=table.roles.weight,
        escaped=place.format == "csv",
        audit=found,
    )


@contextmanager
def _kept(
    release: Release,
    place: Place,
    content: dict[str, Any],
    found: Audit,
    replace_: bool,
) -> Iterator[None]:
    """The private record, written before the release appears; gone if it does not."""
    place.custody.mkdir(parents=True, exist_ok=True, mode=0o700)
    assert release.recipe is not None
    record = custody_record(release, content, found)
    documents = {RECIPE: release.recipe.to_dict(), CUSTODY: record}
    saved: list[Path] = []
    old = {
        n: (place.custody / n).read_bytes()
        for n in documents
        if replace_ and (place.custody / n).exists()
    }
    try:
        for name, document in documents.items():
            partial = place.custody / f".{name}.{secrets.token_hex(6)}"
            saved.append(partial)
            _save(partial, _json(document), private=True)
            partial.rename(place.custody / name)
            saved[-1] = place.custody / name
        _sync(place.custody)
        yield
    except BaseException:
        for path in saved:
            path.unlink(missing_ok=True)
        for name, content_ in old.items():
            (place.custody / name).write_bytes(content_)
        raise


def custody_record(
    release: Release, content: dict[str, Any], found: Audit
) -> dict[str, Any]:
    """What the steward keeps: source, choices, witnesses, versions, times."""
    import duckdb

    table = release.table
    return {
        "custody": 1,
        "sensitive": "This file quotes the private table. It never travels.",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": [{"path": p, "sha256": digest(Path(p))} for p in table.source.paths],
        "rows": table.engine.rows(Run()),
        "rows_from": same_source(replace(table, relabels={})),
        "engine": {table.engine.name: duckdb.__version__},
        "signoff": release.policy.signoff.to_dict() if release.policy.signoff else None,
        "method": release.method,
        "ended": release.ended,
        "recipe": None if release.recipe is None else release.recipe.to_dict(),
        "steps": [_step(s) for s in release.steps],
        "policy": release.policy.origin.text
        if release.policy.origin
        else (release.policy.to_toml()),
        "before": release.before.to_dict() if release.before else None,
        "after": found.to_dict(),
        "manifest_sha256": hashlib.sha256(_json(content).encode()).hexdigest(),
    }


def _step(step: Any) -> dict[str, Any]:
    return {
        "column": step.column,
        "value": step.value,
        "cut": step.cut,
        "gain": step.gain,
        "loss": step.loss,
        "score": step.score,
        "confidences": [str(c) for c in step.confidences],
    }


# How --------------------------------------------------------------------------------


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _save(path: Path, text: str, *, private: bool = False) -> None:
    mode = 0o600 if private else 0o666
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> None:
    """Make sure a file or the names in a folder are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move(partial: Path, folder: Path, replace_: bool) -> None:
    partial.chmod(0o777 & ~_umask())
    old = None
    if replace_ and folder.exists():
        old = folder.parent / f".{folder.name}.old-{secrets.token_hex(6)}"
        folder.rename(old)
    try:
        partial.rename(folder)
    except OSError:
        if old is not None:
            old.rename(folder)
        raise
    _sync(folder.parent)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
