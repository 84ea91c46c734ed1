"""The files of released views, opened as one table, and held against their manifest."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet.engine.sources.source import Source
from privet.engine.sql import literal
from privet.errors import InputError
from privet.findings import Audit
from privet.policy import View
from privet.release.verify import _exactly, unlike_findings
from privet.table import open_table
from privet.values.schema import Roles, Schema
from privet.views.release import Views

MARKER = "\N{SYMBOL FOR UNIT SEPARATOR}view"
"""The column that says which file a row of loaded views is of."""


@contextmanager
def opened_views(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Iterator[Views]:
    """The views of a release, closed in the end."""
    views = open_views(folder, content, **options)
    try:
        yield views
    finally:
        views.table.close()


def open_views(folder: Path, content: Mapping[str, Any], **options: Any) -> Views:
    """The views of a release: the rows of all files, each marked by its view."""
    stated = [View(tuple(v["columns"]), v["name"]) for v in content["views"]]
    sources = [
        _exactly(folder / f["path"], "escaped" in content) for f in content["files"]
    ]
    names = [c for c in content["columns"] if any(c in v.columns for v in stated)]
    for view, source in zip(stated, sources, strict=True):
        if set(source.names or ()) != set(view.columns):
            raise InputError(f"View {view.name!r} must have the columns it states.")
    parts = " UNION ALL BY NAME ".join(
        f"SELECT {', '.join(_called(names, view, source.names or ()))}, "
        f"'{i}' AS pv_view FROM {_scan(source)} AS t({_numbered(source.names or ())})"
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
    roles = _roles(content)
    schema = Schema(table.schema.columns, roles)
    return Views(replace(table, schema=schema), *stated, marker=MARKER)


def _scan(source: Source) -> str:
    """The scan of one file; its path instead of what all files share."""
    path = literal(glob.escape(source.paths[0]))
    return source.scan.replace("getvariable('files')", path)


def _called(names: Sequence[str], view: View, own: Sequence[str]) -> list[str]:
    """The columns of all views, those of others missing."""
    return [
        f"f{list(own).index(n)} AS n{i}" if n in view.columns else f"NULL AS n{i}"
        for i, n in enumerate(names)
    ]


def _numbered(names: Sequence[str]) -> str:
    return ", ".join(f"f{i}" for i in range(len(names)))


def _roles(content: Mapping[str, Any]) -> Roles:
    def having(role: str) -> tuple[str, ...]:
        return tuple(c for c, a in content["columns"].items() if a.get("role") == role)

    return Roles(
        identifier=having("identifier"),
        quasi=having("quasi"),
        sensitive=having("sensitive"),
    )


def differences(views: Views, found: Audit, content: Mapping[str, Any]) -> list[str]:
    """What is not as the manifest says."""
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
    return problems + unlike_findings(content["promises"], found.findings)
