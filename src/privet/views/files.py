"""The files of released views: what of writing and opening them is their own.

Opened, all files are one table, whose rows are marked by their view.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run, WriteQuery
from privet.engine.sources.source import Source
from privet.engine.sql import literal
from privet.errors import InputError
from privet.findings import Audit
from privet.languages import mark, say, translate
from privet.policy import Accepted, View
from privet.release.custody_record import (
    describe_table,
    now,
    policy_text,
    record_accepted,
)
from privet.release.destination import Destination
from privet.release.gate import require_decided
from privet.release.history import History, list_open
from privet.release.kinds import Form
from privet.release.manifest import (
    ManifestEntries,
    WrittenFile,
    describe_columns,
    is_list,
    restate_open,
)
from privet.release.note import write_table_note
from privet.release.verify import find_exact_source, find_unbinned
from privet.release.write import ReleaseParts, refuse_release, write_table
from privet.table import open_table
from privet.values.schema import Roles, Schema
from privet.views.release import Views, ViewsRelease

NOT_PROMISED = (
    mark("protection against somebody who holds some tables for likelier than others"),
    mark("protection against somebody who knows what people have, or have not"),
    mark("protection against a second release of the same people"),
)
"""What no promise about views covers."""

ROWS = mark(
    "The table was split into views: each file shows some of its columns, without "
    "duplicates and in a random order. Which rows belong together is not released."
)
"""What recipients are told of the rows."""


def _are_views(views: Any) -> bool:
    return is_list(views) and all(
        isinstance(v.get("name"), str) and isinstance(v.get("columns"), list)
        for v in views
    )


KEYS = ("views", "measures", "accepted")
"""What only manifests of views say."""

ROLES = ("identifier", "quasi", "sensitive", "other", "target", "weight")
"""What columns of views may be for."""

FORM: Form = {
    "files": lambda c: (
        _are_views(c.get("views")) and len(c["files"]) == len(c["views"])
    ),
    "columns": lambda c: all(a.get("role") in ROLES for a in c["columns"].values()),
    "method": lambda c: c["method"] == "views",
}
"""What must hold of the manifest of views."""

# Writing ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ViewsParts(ReleaseParts):
    """What views are written from."""

    release: ViewsRelease
    """What is released."""

    @property
    def several(self) -> str:
        """Views are a file each."""
        return "Views"

    def refuse(self) -> None:
        """Views must be made here, safe, and of columns that all have a role."""
        made = self.release.views.marker is None
        release = self.release
        refuse_release(made=made, audit=release.audit, history=release.history)
        require_decided(self.release.views.table.schema)

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """A file per view, without duplicates."""
        views = self.release.views.views
        return [self._write_view(view, draft, run) for view in views]

    def _write_view(self, view: View, draft: Destination, run: Run) -> WrittenFile:
        table = self.release.views.table
        path = draft.folder / f"{view.name}.{draft.format}"
        columns = tuple(c for c in table.schema.names if c in view.columns)
        weight = table.roles.weight
        query = WriteQuery(str(path), draft.format, columns, distinct=True, only=weight)
        return write_table(
            path, lambda: table.engine.write(query, table.recodings, run)
        )

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """Which views there are."""
        release, table, views = (
            self.release,
            self.release.views.table,
            self.release.views,
        )
        kinds = {c.name: c.kind for c in table.schema.columns}
        names = [c for c in views.columns if c in kinds]
        columns = describe_columns(table.schema, names, kinds)
        for name in table.relabels.keys() & columns.keys():
            columns[name]["shown_as"] = "levels"
        return ManifestEntries(
            "views",
            title=release.policy.title,
            method=release.method,
            columns=columns,
            audit=release.audit,
            not_promised=list_open(NOT_PROMISED, release.history),
            more={
                "views": [v.to_dict() for v in views.views],
                **_describe_accepted(views.accepted),
            },
        )

    @property
    def history(self) -> History | None:
        """What it was judged with."""
        return self.release.history

    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """Source, witnesses, versions, times."""
        policy = self.release.policy
        assert found is not None
        return {
            "sensitive": "This file quotes the private table. It never travels.",
            "made": now(),
            **describe_table(self.release.views.table),
            "signoff": policy.signoff.to_dict() if policy.signoff else None,
            "method": self.release.method,
            "policy": policy_text(policy),
            **record_accepted(policy),
            "after": found.to_dict(),
        }


# Opening ---------------------------------------------------------------------------

MARKER = "\N{SYMBOL FOR UNIT SEPARATOR}view"
"""The column that says which file a row of loaded views is of."""


def open_views(folder: Path, content: Mapping[str, Any], **options: Any) -> Views:
    """The views of a release: the rows of all files, each marked by its view."""
    stated = [View(tuple(v["columns"]), v["name"]) for v in content["views"]]
    sources = [
        find_exact_source(folder / f["path"], "escaped" in content)
        for f in content["files"]
    ]
    names = [c for c in content["columns"] if any(c in v.columns for v in stated)]
    for view, source in zip(stated, sources, strict=True):
        if set(source.names or ()) != set(view.columns):
            raise InputError(f"View {view.name!r} must have the columns it states.")
    parts = " UNION ALL BY NAME ".join(
        f"SELECT {', '.join(_select_columns(names, view, source.names or ()))}, "
        f"'{i}' AS pv_view FROM {_scan(source)} "
        f"AS t({_number_columns(source.names or ())})"
        for i, (view, source) in enumerate(zip(stated, sources, strict=True))
    )
    both = replace(
        sources[0],
        names=(*names, MARKER),
        scan=f"({parts})",
        paths=tuple(p for s in sources for p in s.paths),
        words=f"the views in {folder.name!r}",
        kept=[s.kept for s in sources],
        rows=None,
    )
    table = open_table(both, Roles(), **options)
    roles = _read_roles(content)
    schema = Schema(table.schema.columns, roles)
    accepted = _read_accepted(content.get("accepted", ()))
    views = replace(table, schema=schema)
    return Views(views, *stated, marker=MARKER, accepted=accepted)


def _describe_accepted(accepted: Sequence[Accepted]) -> dict[str, Any]:
    """What of the views was accepted by name, and why; who did stays in custody."""
    public = [a.to_public() for a in accepted if a.of == "worlds"]
    return {"accepted": public} if public else {}


def write_views_note(content: Mapping[str, Any]) -> str:
    """What was changed, and what is promised."""
    return write_table_note(
        content, " ".join([translate(ROWS), *_note_accepted(content)])
    )


def _note_accepted(content: Mapping[str, Any]) -> list[str]:
    """What was accepted of tables over whole tuples, in the words of the note."""
    return [_say_accepted(entry) for entry in content.get("accepted", ())]


def _say_accepted(entry: Mapping[str, Any]) -> str:
    about = entry.get("about") or say("the private column")
    told = {"about": about, "why": entry["why"]}
    if "up_to" in entry:
        most = f"{entry['up_to']:,}"
        return say(
            "Promises about {about} are kept over the columns they are "
            "about; over whole tuples of all views they may not be, which "
            "was accepted, up to {n} people: {why}",
            n=most,
            **told,
        )
    return say(
        "Promises about {about} are kept over the columns they are about; "
        "over whole tuples of all views they may not be, which was accepted: "
        "{why}",
        **told,
    )


def _read_accepted(stated: Any) -> list[Accepted]:
    """The entries of a manifest that are about worlds."""
    if not isinstance(stated, Sequence) or not all(
        isinstance(a, Mapping) for a in stated
    ):
        raise InputError("accepted of release.json must be a list of entries.")
    wanted = ("about", "of", "up_to", "why")
    return [
        Accepted(**{k: v for k, v in a.items() if k in wanted})
        for a in stated
        if a.get("of") == "worlds"
    ]


def _scan(source: Source) -> str:
    """The scan of one file; its path instead of what all files share."""
    path = literal(glob.escape(source.paths[0]))
    return source.scan.replace("getvariable('files')", path)


def _select_columns(names: Sequence[str], view: View, own: Sequence[str]) -> list[str]:
    """The columns of all views, those of others missing."""
    return [
        f"f{list(own).index(n)} AS n{i}" if n in view.columns else f"NULL AS n{i}"
        for i, n in enumerate(names)
    ]


def _number_columns(names: Sequence[str]) -> str:
    return ", ".join(f"f{i}" for i in range(len(names)))


def _read_roles(content: Mapping[str, Any]) -> Roles:
    def find_columns(role: str) -> tuple[str, ...]:
        return tuple(c for c, a in content["columns"].items() if a.get("role") == role)

    return Roles(
        identifier=find_columns("identifier"),
        quasi=find_columns("quasi"),
        sensitive=find_columns("sensitive"),
        other=find_columns("other"),
    )


def restore_release(views: Views, *, folder: Path, **told: Any) -> ViewsRelease:
    """Views that were loaded."""
    return ViewsRelease(views, folder=folder, **told)


def restate(views: Views, folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest must say, given the views and what it states of them."""
    names = {c for v in views.views for c in v.columns}
    files = zip(content["files"], views.views, strict=True)
    told = {
        "not_promised": restate_open(NOT_PROMISED, content),
        "views": [v.to_dict() for v in views.views],
        "files": [f | {"path": v.name + Path(f["path"]).suffix} for f, v in files],
        "columns": {c: a for c, a in content["columns"].items() if c in names},
    }
    if "accepted" in content:
        stated = _read_accepted(content["accepted"])
        told["accepted"] = [a.to_public() for a in stated]
    return told


def find_differences(
    views: Views, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """Rows that are not as many as the manifest says, or not different."""
    problems = []
    for number, (view, file) in enumerate(
        zip(views.views, content["files"], strict=True)
    ):
        rows, different = views.counted(number)
        if rows != file["rows"]:
            problems.append(
                f"{file['path']} must have {file['rows']} rows; has {rows}."
            )
        if rows != different:
            problems.append(f"View {view.name!r} must have no duplicates; it has some.")
    return problems + find_unbinned(views.table, content)
