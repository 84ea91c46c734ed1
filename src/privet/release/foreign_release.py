"""What others published about the same people, entered in a ledger by hand.

If the private table is named, the file must show its rows as they are: then it is
judged like a release made here. Otherwise whether it is about the same people is not
known, and whatever is released later stays undecided.
"""

from __future__ import annotations

import secrets
from os import PathLike
from pathlib import Path
from typing import Any

from privet.engine.digests import KEY_LETTERS, compare_digests, compare_distinct
from privet.engine.protocol import Run
from privet.engine.scratch import ScratchFolder
from privet.errors import InputError
from privet.release.custody_record import now
from privet.release.history import History, choose_columns, count_people, write_digests
from privet.release.joint.outlines import ReleaseOutline, ShownColumn
from privet.release.ledger import Ledger, LedgerEntry
from privet.release.verify import is_release, read_manifest
from privet.report.ledger_words import ASSUMED
from privet.table import Table, read


def enter_published(
    ledger: Ledger,
    file: str | PathLike[str],
    *,
    of: Table | None = None,
    title: str = "",
) -> Ledger:
    """Enter a table or a view that somebody published; the ledger with it comes out."""
    place = Path(file).expanduser()
    if not place.exists():
        raise InputError(f"What others published must exist; {str(place)!r} does not.")
    outline = _outline_unknown(place) if of is None else _outline_known(place, of)
    columns, person = ((), ()) if of is None else choose_columns(of)
    entry = LedgerEntry(
        outline,
        title=title,
        made=now(),
        place=str(place.resolve()),
        columns=columns,
        person=person,
        people=None if of is None else count_people(of, Run()),
        assumed=ASSUMED if of is None else "",
    )
    history = History(outline, of, ledger)
    write_files = (lambda folder: None) if of is None else history.write_files
    ledger.enter(entry, write_files)
    return Ledger.open(ledger.folder)


def _outline_unknown(place: Path) -> ReleaseOutline:
    """The columns it shows; how, and of whom, is not known."""
    if is_release(place):
        content = read_manifest(place)
        names = list(content["columns"])
        kind: Any = "table" if content["kind"] == "groups" else content["kind"]
    else:
        with read(str(place)) as table:
            names, kind = list(table.schema.names), "table"
    return ReleaseOutline("", kind, "", {c: ShownColumn() for c in names})


def _outline_known(place: Path, table: Table) -> ReleaseOutline:
    """A table or a view that shows the rows of a private table as they are."""
    with (
        read(str(place)) as shown,
        ScratchFolder() as scratch,
    ):
        names = shown.schema.names
        strange = [c for c in names if c not in table.schema.names]
        if strange:
            raise InputError(
                f"What others published must have columns of {table.words}; "
                f"{strange[0]!r} is none. {ALONE}"
            )
        key = secrets.token_hex(KEY_LETTERS // 2)
        files = [scratch / f"{i}.parquet" for i in range(2)]
        for path, rows in zip(files, (table, shown), strict=True):
            write_digests(rows, path, key, names, ())
        bag = compare_digests(*files).same_rows
        if not bag and not compare_distinct(*files):
            raise InputError(
                f"What others published must show the rows of {table.words} as they "
                f"are; it does not. {ALONE}"
            )
    columns = {c: ShownColumn() for c in names}
    if bag:
        return ReleaseOutline("", "table", "", columns, more={"recipe": None})
    return ReleaseOutline("", "views", "", columns, (tuple(names),), counted=False)


ALONE = (
    "Enter it without naming a table: then whether it is about the same people is not "
    "known."
)
