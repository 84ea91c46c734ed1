"""Writing a release: beside its place, read back, recounted, then moved there whole.

The last steps of a release: its documents, its private record, then its place.
"""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.findings import Audit
from privet.microdata.earlier_releases import same_source
from privet.microdata.files import Destination, recount, write_tables
from privet.microdata.recipe import RECIPE, Hide, Recipe
from privet.microdata.release import Release
from privet.policy import Policy
from privet.release.atomic_folder import (
    Busy,
    as_json,
    beside,
    move,
    private_files,
    save,
    sync,
)
from privet.release.manifest import WrittenFile, columns_of, manifest
from privet.release.note import note
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


FORMATS = ("parquet", "csv")


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
    with explained(place), beside(place.folder) as partial:
        written = write_tables(release, place, partial, run)
        found, kinds = recount(release, place, partial, written, run)
        content = _manifest(release, place, written, found, kinds, run)
        record, recipe = custody_record(release, found), {RECIPE: _recipe(release)}
        appear(partial, place, content, note(content), record, recipe, replace=replace)
    return _published(release, content)


def _published(release: Release, content: dict[str, Any]) -> Release:
    return replace(release, manifest=content)


# Where ------------------------------------------------------------------------------


def _place(
    folder: str | PathLike[str], custody: str | PathLike[str], format_: str | None
) -> Destination:
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


def refuse_place(place: Destination, replace_: bool) -> None:
    """Where a release and its custody may go; the same for every kind of release."""
    folder, kept = place.folder, place.custody
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


def _refuse(release: Release, place: Destination, replace_: bool) -> None:
    if release.grouped is not None and len(release.grouped.files) > 1 and place.named:
        raise InputError(
            "A release of two tables must be written to a folder; got the name of a "
            f"file, {place.file!r}."
        )
    refuse_place(place, replace_)
    if release.recipe is None and release.grouped is None:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not release.safe:
        raise InputError("A release must keep every promise to be written.")
    if release.table.roles.unit:
        raise InputError(
            "A table must have one row per person to be released; unit "
            f"{release.table.roles.unit!r} says it may have several."
        )


@contextmanager
def explained(place: Destination) -> Iterator[None]:
    """What the system refuses, in words; nothing is left behind."""
    try:
        yield
    except Busy:
        raise InputError(
            f"The custody folder {str(place.custody)!r} must not be in use; another "
            "release is being written. Wait for it, or choose another folder."
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
            f"The release {str(place.folder)!r} could not be written: {why}. Nothing "
            "was left behind."
        ) from None


# What -------------------------------------------------------------------------------


def hidden_cells(release: Release, run: Run) -> dict[str, int]:
    """How many cells of each column show the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    found = {}
    for tally, counts in release.table.count(_marked(recipe), run):
        code = counts.about.code(recipe.marker)
        shown = counts.value == (-1 if code is None else code)
        found[tally.about] = int(counts.n[shown].sum())
    return found


def hidden_values(release: Release, run: Run) -> dict[str, int]:
    """How many values of each column are shown as the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    plain, found = replace(release.table, relabels={}), {}
    for tally, counts in plain.count(_marked(recipe), run):
        how = recipe.columns[tally.about]
        texts = how.texts(counts.about, recipe.marker)
        values = np.unique(counts.value).tolist()
        found[tally.about] = sum(texts[code] == recipe.marker for code in values)
    return found


def _marked(recipe: Recipe) -> list[CountQuery]:
    """What to count of the columns that show the marker."""
    columns = recipe.columns.items()
    return [
        CountQuery((), c)
        for c, how in columns
        if isinstance(how, Hide) or not how.after
    ]


def _manifest(
    release: Release,
    place: Destination,
    written: Sequence[WrittenFile],
    found: Audit,
    kinds: dict[str, str],
    run: Run,
) -> dict[str, Any]:
    from privet import __version__

    table, recipe = release.private, release.recipe or Recipe()
    domains = replace(table, relabels={}).domains(list(recipe.columns), run)
    if place.format == "csv":  # which has no types of its own
        kinds = kinds | _kinds_of_source(table, run)
    kinds = kinds | {c: d.kind for c, d in domains.items()}
    hidden = hidden_values(release, run)
    columns = columns_of(table.schema, release.columns(), kinds, recipe, hidden)
    more: dict[str, Any] = {}
    if release.grouped is not None:
        more = release.grouped.manifest()
        columns = release.grouped.columns(columns)
    return manifest(
        version=__version__,
        title=release.policy.title,
        method=release.method,
        files=written,
        columns=columns,
        weight=table.roles.weight,
        escaped=place.format == "csv",
        audit=found,
        more=more,
    )


def _kinds_of_source(table: Table, run: Run) -> dict[str, str]:
    """The kind of each column's values; texts are looked at."""
    if table.source.textual:
        return {c.name: c.kind for c in table.engine.describe(run)}
    return {c.name: c.kind for c in table.schema.columns}


def _recipe(release: Release) -> str:
    if release.grouped is not None:  # may have many lines, which nobody reads
        return json.dumps(release.grouped.recipe(), ensure_ascii=False) + "\n"
    assert release.recipe is not None
    return as_json(release.recipe.to_dict())


def custody_record(release: Release, found: Audit) -> dict[str, Any]:
    """What the steward keeps: source, choices, witnesses, versions, times."""
    table = release.private
    return {
        "custody": 1,
        "sensitive": "This file quotes the private table. It never travels.",
        "made": now(),
        "source": files_of(table),
        "rows": table.engine.rows(Run()),
        "rows_from": same_source(replace(table, relabels={})),
        "engine": {table.engine.name: table.engine.version},
        "signoff": release.policy.signoff.to_dict() if release.policy.signoff else None,
        "method": release.method,
        "ended": release.ended,
        "recipe": None if release.recipe is None else release.recipe.to_dict(),
        "steps": [s.to_dict() for s in release.steps],
        "policy": policy_text(release.policy),
        "before": release.before.to_dict() if release.before else None,
        "after": found.to_dict(),
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


# How --------------------------------------------------------------------------------
