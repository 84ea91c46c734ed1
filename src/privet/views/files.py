"""The files of released views: written without duplicates, recounted, and opened.

Opened, all files are one table, whose rows are marked by their view.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from dataclasses import replace as changed
from os import PathLike
from pathlib import Path
from typing import Any

from privet.engine.protocol import Run, WriteQuery
from privet.engine.sources.source import Source
from privet.engine.sql import literal
from privet.errors import EngineError, InputError, PrivetError
from privet.findings import Audit
from privet.policy import View
from privet.release.atomic_folder import make_beside, sync
from privet.release.audit import audit as judge
from privet.release.kinds import Form, Verification
from privet.release.manifest import (
    WrittenFile,
    build_manifest,
    describe_columns,
    is_list,
)
from privet.release.note import write_note
from privet.release.verify import (
    compare_findings,
    compare_record,
    digest,
    find_changed_files,
    find_exact_source,
    read_policy,
)
from privet.release.write import (
    MISCOUNTED,
    Destination,
    appear,
    describe_source,
    digest_files,
    explain_refusals,
    now,
    policy_text,
    refuse_destination,
    resolve_destination,
)
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


def write(
    release: ViewsRelease,
    folder: str | PathLike[str],
    *,
    custody: str | PathLike[str],
    format: str | None,  # noqa: A002 - the word users know
    replace: bool,
    run: Run,
) -> ViewsRelease:
    """Write a file per view; they appear whole or not at all."""
    destination = resolve_destination(folder, custody, format)
    _refuse(release, destination, replace)
    with explain_refusals(destination), make_beside(destination.folder) as partial:
        written = [
            _write_view(release, v, destination, partial, run)
            for v in release.views.views
        ]
        content = _build_manifest(release, destination, written)
        found = _recount(release, partial, content, run)
        record = _build_custody_record(release, found)
        appear(
            partial,
            destination,
            content,
            write_note(content, ROWS),
            record,
            replace=replace,
        )
    return changed(release, manifest=content)


def _refuse(release: ViewsRelease, destination: Destination, replace_: bool) -> None:
    if destination.named:
        raise InputError(
            "Views must be written to a folder; got the name of a file, "
            f"{destination.file!r}."
        )
    refuse_destination(destination, replace_)
    if release.views.marker:
        raise InputError(
            "A release that was loaded from files is written already; copy the folder."
        )
    if not release.safe:
        raise InputError("A release must keep every promise to be written.")


def _write_view(
    release: ViewsRelease, view: View, destination: Destination, partial: Path, run: Run
) -> WrittenFile:
    table, name = release.views.table, f"{view.name}.{destination.format}"
    path = partial / name
    columns = tuple(c for c in table.schema.names if c in view.columns)
    writing = WriteQuery(
        str(path), destination.format, columns, distinct=True, only=table.roles.weight
    )
    rows = table.engine.write(writing, table.recodings, run)
    sync(path)
    return WrittenFile(name, rows, digest(path))


def _build_manifest(
    release: ViewsRelease, destination: Destination, written: Sequence[WrittenFile]
) -> dict[str, Any]:
    from privet import __version__

    table, views = release.views.table, release.views
    kinds = {c.name: c.kind for c in table.schema.columns}
    names = [c for c in views.columns if c in kinds]
    columns = describe_columns(table.schema, names, kinds)
    for name in table.relabels.keys() & columns.keys():
        columns[name]["shown_as"] = "levels"
    content = build_manifest(
        "views",
        version=__version__,
        title=release.policy.title,
        method=release.method,
        files=written,
        columns=columns,
        weight=None,
        escaped=destination.format == "csv",
        audit=release.audit,
        not_promised=NOT_PROMISED,
        more={"views": [v.to_dict() for v in views.views]},
    )
    return {k: v for k, v in content.items() if k != "measures"}


def _recount(
    release: ViewsRelease, partial: Path, content: Mapping[str, Any], run: Run
) -> Audit:
    """Read what was written, as a stranger would, and judge it again."""
    try:
        with opened_views(partial, content) as views:
            promises = list(release.policy.promises)
            found = judge(views, promises, progress=run.listener)
            problems = find_differences(views, found, content)
    except InputError:
        problems = [""]
    if problems:
        raise EngineError(MISCOUNTED)
    return found


def _build_custody_record(release: ViewsRelease, found: Audit) -> dict[str, Any]:
    """What the steward keeps: source, witnesses, versions, times."""
    table = release.views.table
    return {
        "custody": 1,
        "sensitive": "This file quotes the private table. It never travels.",
        "made": now(),
        "source": digest_files(table),
        "rows": table.engine.rows(Run()),
        "rows_from": describe_source(table),
        "engine": {table.engine.name: table.engine.version},
        "signoff": release.policy.signoff.to_dict() if release.policy.signoff else None,
        "method": release.method,
        "policy": policy_text(release.policy),
        "after": found.to_dict(),
    }


# Loading ----------------------------------------------------------------------------


def load_views(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> ViewsRelease:
    """Views from their public files; an error where something differs."""
    for problem in find_changed_files(folder, content):
        raise InputError(problem)
    views = open_views(folder, content, **options)
    policy = read_policy(content)
    try:
        found = judge(views, list(policy.promises))
        problems = find_differences(views, found, content)
    except BaseException:
        views.table.close()
        raise
    if problems:
        views.table.close()
        raise InputError("\n".join(problems))
    method = content.get("method", "views")
    return ViewsRelease(views, policy, found, method, manifest=content)


def verify_views(
    folder: Path, content: Mapping[str, Any], custody: Path | None, **options: Any
) -> Verification:
    """Recount views against their manifest."""
    problems = compare_record(folder, custody) + find_changed_files(folder, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        with opened_views(folder, content, **options) as views:
            found = judge(views, list(read_policy(content).promises))
            problems += find_differences(views, found, content)
    except PrivetError as error:
        return Verification((*problems, str(error)), None)
    return Verification(tuple(problems), found)


# Opening ---------------------------------------------------------------------------

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


def find_differences(
    views: Views, found: Audit, content: Mapping[str, Any]
) -> list[str]:
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
    return problems + compare_findings(content["promises"], found.findings)
