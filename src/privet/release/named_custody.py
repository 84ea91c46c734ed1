"""Earlier releases that a policy names by their custody folders: a short ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.engine.protocol import Run
from privet.engine.sources.find_source import TextOptions, find_source
from privet.errors import InputError
from privet.release.commit.intent import recover
from privet.release.custody_record import describe_source
from privet.release.joint.outlines import ReleaseOutline
from privet.release.ledger import LedgerEntry
from privet.release.verify import CUSTODY, digest
from privet.table import Table, open_table

if TYPE_CHECKING:
    from privet.release.history import EarlierRelease


def relate_custody(
    path: Path, table: Table, new: ReleaseOutline, key: Path, run: Run
) -> EarlierRelease:
    """An earlier release as its custody record tells it, beside a new one.

    What it was made from tells whether rows are the same; where those files are still
    there, also who is new, stayed or left.
    """
    from privet.release.history import SAME, UNKNOWN, place_entry, relate_entry

    record = read_custody(path)
    entry = _read_entry(path, record, new)
    here = describe_source(table) if table.source.paths else {}
    if here and here == record.get("rows_from"):
        return place_entry(entry, SAME, None)
    before = _open_source(table, record)
    if before is None:
        return place_entry(entry, UNKNOWN, None)
    with before:
        entry = _digest_again(entry, before, key)
    return relate_entry(entry, table, key.read_text(encoding="ascii").strip(), run)


def find_delivery(custody: Path, table: Table) -> str | None:
    """The one file another delivery was made from, if it is where it was."""
    recover(custody=custody.resolve())
    if not (custody / CUSTODY).is_file():
        return None
    record = read_custody(custody)
    files = _list_source(record)
    if len(files) != 1 or not table.source.paths:
        return None
    path = Path(files[0]["path"])
    if not path.is_file() or digest(path) != files[0]["sha256"]:
        return None
    # The table is not bound to its policy yet, so its rows are no people yet.
    known = {k: v for k, v in record.get("rows_from", {}).items() if k != "person"}
    same = describe_source(table) == known
    return None if same else str(path)


def _open_source(table: Table, record: Mapping[str, Any]) -> Table | None:
    """The rows an earlier release was made from, if their files are still there."""
    stated = _list_source(record)
    files, kept = [Path(f["path"]) for f in stated], [f["sha256"] for f in stated]
    there = bool(files) and all(f.is_file() for f in files)
    if not there or [digest(f) for f in files] != kept:
        return None
    where = {c: sorted(map(str, v)) for c, v in _list_filter(table).items()}
    if record.get("rows_from", {}).get("where", {}) != where:
        return None
    person = table.person.to_dict() if table.person else None
    if record.get("rows_from", {}).get("person") != person:
        return None
    how = record.get("rows_from", {}).get("reading", {})
    part = record.get("rows_from", {}).get("table") or None
    try:
        named = [str(f) for f in files]
        found = find_source(named, table=part, text=TextOptions(**how))
    except (InputError, TypeError):
        return None
    names = table.source.names if found.names is None else found.names
    if (names, found.scan) != (table.source.names, table.source.scan):
        return None  # other columns, or read in another way
    return open_table(found, table.roles, **table.options)


def _list_source(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files that a custody record names, with their digests."""
    found = record.get("source")
    return found if isinstance(found, list) else []


def _list_filter(table: Table) -> Mapping[str, Any]:
    found: Mapping[str, Any] = table.options.get("where") or {}
    return dict(sorted(found.items()))


def _digest_again(entry: LedgerEntry, before: Table, key: Path) -> LedgerEntry:
    """The entry as a ledger would have it, for as long as it is judged."""
    from privet.release.history import History

    number = -len(list(key.parent.iterdir()))  # none that a ledger has
    folder = key.parent / f"custody-{number}"
    folder.mkdir(mode=0o700)
    history = History(entry.outline, before)
    history.write_digests_to(folder, key)
    made = history.draft_entry(entry.title, Path(), Path(entry.custody), entry.manifest)
    return replace(made, folder=folder, number=number, made=entry.made, place="")


def read_custody(path: Path) -> dict[str, Any]:
    """The private record of a release, from its folder or the file itself."""
    recover(custody=(path if path.is_dir() else path.parent).resolve())
    file = path / CUSTODY if path.is_dir() else path
    if not file.exists():
        raise InputError(
            f"The custody {str(path)!r} of an earlier release must exist; it does not."
        )
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or record.get("custody") != 1:
        raise InputError(
            f"{str(file)!r} must be the custody record of a release made here; it "
            "cannot be read as one."
        )
    return record


def _read_entry(
    path: Path, record: Mapping[str, Any], new: ReleaseOutline
) -> LedgerEntry:
    outline = _read_outline(path, record, new)
    if outline.kind not in ("table", new.kind):
        fitting = " or ".join(dict.fromkeys(_PLURAL[k] for k in ("table", new.kind)))
        raise InputError(
            f"The custody {str(path)!r} of an earlier release must be that of "
            f"{fitting}; it is that of {_PLURAL[outline.kind]}. A ledger takes every "
            "kind: name one with ledger in the policy, or --ledger."
        )
    return LedgerEntry(
        outline,
        title=path.name,
        made=str(record.get("made", "")),
        custody=str(path.resolve()),
        manifest=str(record.get("manifest_sha256", "")),
    )


def _read_outline(
    path: Path, record: Mapping[str, Any], new: ReleaseOutline
) -> ReleaseOutline:
    stated = record.get("outline")
    if isinstance(stated, Mapping):
        return ReleaseOutline.from_dict(stated)
    recipe = record.get("recipe")
    if not isinstance(recipe, Mapping) or new.kind != "table":
        raise InputError(
            f"The custody {str(path)!r} of an earlier release must say what it shows; "
            "an older version of privet wrote it, which did so only for tables with "
            "values hidden."
        )
    return replace(new, more={"recipe": dict(recipe)})


_PLURAL = {
    "table": "a table with values hidden",
    "groups": "a table of people in groups, as mondrian makes it",
    "views": "views",
    "classifier": "a classifier",
    "responses": "disguised rows",
}
