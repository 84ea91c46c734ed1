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
from privet.policy import View
from privet.release.custody_record import describe_table, now, policy_text
from privet.release.destination import Destination
from privet.release.kinds import Form
from privet.release.manifest import (
    ManifestEntries,
    WrittenFile,
    describe_columns,
    is_list,
)
from privet.release.note import write_table_note
from privet.release.verify import find_exact_source
from privet.release.write import ReleaseParts, refuse_release, write_table
from privet.table import open_table
from privet.values.schema import Roles, Schema
from privet.views.release import Views, ViewsRelease

NOT_PROMISED = (
    "protection against somebody who holds some tables for likelier than others",
    "protection against somebody who knows what people have, or have not",
    "protection against a second release of the same people",
)
"""What no promise about views covers."""

ROWS = (
    "The table was split into views: each file shows some of its columns, without "
    "duplicates and in a random order. Which rows belong together is not released."
)
"""What recipients are told of the rows."""


def _are_views(views: Any) -> bool:
    return is_list(views) and all(
        isinstance(v.get("name"), str) and isinstance(v.get("columns"), list)
        for v in views
    )


FORM: Form = {
    "files": lambda c: (
        _are_views(c.get("views")) and len(c["files"]) == len(c["views"])
    ),
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
        """Views must be made here, and safe."""
        made = self.release.views.marker is None
        refuse_release(made=made, safe=self.release.safe)

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """A file per view, without duplicates."""
        views = self.release.views.views
        return [self._write_view(view, draft, run) for view in views]

    def _write_view(self, view: View, draft: Destination, run: Run) -> WrittenFile:
        table = self.release.table
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
        release, table, views = self.release, self.release.table, self.release.views
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
            not_promised=NOT_PROMISED,
            more={"views": [v.to_dict() for v in views.views]},
        )

    def write_note(self, content: Mapping[str, Any]) -> str:
        """What was changed, and what is promised."""
        return write_table_note(content, ROWS)

    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """Source, witnesses, versions, times."""
        policy = self.release.policy
        assert found is not None
        return {
            "sensitive": "This file quotes the private table. It never travels.",
            "made": now(),
            **describe_table(self.release.table),
            "signoff": policy.signoff.to_dict() if policy.signoff else None,
            "method": self.release.method,
            "policy": policy_text(policy),
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
        rows=None,
    )
    table = open_table(both, Roles(), **options)
    roles = _read_roles(content)
    schema = Schema(table.schema.columns, roles)
    return Views(replace(table, schema=schema), *stated, marker=MARKER)


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
    )


def restore_release(views: Views, *, folder: Path, **told: Any) -> ViewsRelease:
    """Views that were loaded."""
    return ViewsRelease(views, **told)


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
    return problems
