"""The files of a released table: written, recounted as a stranger would, and opened."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run, WriteQuery
from privet.errors import EngineError, InputError, PrivetError
from privet.findings import Audit
from privet.microdata.recipe import NOT_PROMISED, Cut, Hide, Recipe
from privet.microdata.release import Release, judge_policy
from privet.release.atomic_folder import as_json, make_beside, sync
from privet.release.audit import audit
from privet.release.kinds import Form, Verification
from privet.release.manifest import (
    RECIPE,
    WrittenFile,
    build_manifest,
    describe_columns,
)
from privet.release.note import write_note
from privet.release.verify import (
    compare_findings,
    compare_record,
    digest,
    find_changed_files,
    open_files,
    read_policy,
    read_roles,
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
from privet.table import ReleasedAs, Table
from privet.values.schema import Roles

ROLES = (None, "quasi", "sensitive", "target", "weight", "group")
"""What columns of a table or of buckets may be for."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == (2 if c.get("form") == "buckets" else 1),
    "columns": lambda c: all(a.get("role") in ROLES for a in c["columns"].values()),
}
"""What must hold of the manifest of a table."""


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
    destination = resolve_destination(folder, custody, format)
    _refuse_unwritable(release, destination, replace)
    with explain_refusals(destination), make_beside(destination.folder) as partial:
        written = write_tables(release, destination, partial, run)
        found, kinds = recount(release, destination, partial, written, run)
        content = _build_manifest(release, destination, written, found, kinds, run)
        record, recipe = (
            build_custody_record(release, found),
            {RECIPE: _format_recipe(release)},
        )
        appear(
            partial,
            destination,
            content,
            write_note(content),
            record,
            recipe,
            replace=replace,
        )
    return _attach_manifest(release, content)


def _attach_manifest(release: Release, content: dict[str, Any]) -> Release:
    return replace(release, manifest=content)


def _refuse_unwritable(
    release: Release, destination: Destination, replace_: bool
) -> None:
    if (
        release.grouped is not None
        and len(release.grouped.files) > 1
        and destination.named
    ):
        raise InputError(
            "A release of two tables must be written to a folder; got the name of a "
            f"file, {destination.file!r}."
        )
    refuse_destination(destination, replace_)
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


# Tables -----------------------------------------------------------------------------


def write_tables(
    release: Release, destination: Destination, partial: Path, run: Run
) -> list[WrittenFile]:
    """Write every table of a release."""
    if release.grouped is None:
        weight = release.table.roles.weight
        options = {"columns": release.columns(), "weight": weight}
        return [
            _write_table(
                release.table, destination.file, options, destination, partial, run
            )
        ]
    found = []
    for file in release.grouped.files:
        shown = {"weight": file.weight} if file.weight else {"times": file.times}
        options = {"columns": file.columns, **shown}
        name = destination.name_file(file.stem)
        found.append(_write_table(file.table, name, options, destination, partial, run))
    return found


def _write_table(
    table: Table,
    name: str,
    options: dict[str, Any],
    destination: Destination,
    partial: Path,
    run: Run,
) -> WrittenFile:
    path = partial / name
    writing = WriteQuery(str(path), destination.format, **options)
    try:
        rows = table.engine.write(writing, table.recodings, run)
    except EngineError as error:
        _probe_disk(partial)
        if "moved" not in str(error):  # not about files at all
            raise
        raise OSError(errno.EIO, "") from None
    for part in sorted(path.iterdir()) if path.is_dir() else ():
        sync(part)
    sync(path)
    return WrittenFile(name, rows, digest(path))


def _probe_disk(partial: Path) -> None:
    """Raise what the disk says, where it is the disk that takes no more."""
    if shutil.disk_usage(partial).free < 2**24:
        raise OSError(errno.ENOSPC, "")
    (partial / "probe").write_bytes(bytes(2**20))


def recount(
    release: Release,
    destination: Destination,
    partial: Path,
    written: Sequence[WrittenFile],
    run: Run,
) -> tuple[Audit, dict[str, str]]:
    """Read what was written, as a stranger would, and judge it again."""
    kinds: dict[str, str] = {}
    found: Audit | None = None
    for (stem, columns, table), file in zip(
        _iterate_tables(release), written, strict=True
    ):
        path = partial / destination.name_file(stem)
        try:
            with open_files(
                path,
                table.roles,
                guarded=destination.format == "csv",
                shown=table.shown,
            ) as opened:
                if table is release.table:
                    found = judge_policy(opened, release.policy, run=run)
                names, rows = opened.schema.names, opened.engine.rows(run)
                kinds |= {c.name: c.kind for c in opened.schema.columns}
        except InputError:
            raise EngineError(MISCOUNTED) from None
        if (names, rows, digest(path)) != (columns, file.rows, file.sha256):
            raise EngineError(MISCOUNTED)
    if found is None or _list_outcomes(release.audit) != _list_outcomes(found):
        raise EngineError(MISCOUNTED)
    return found, kinds


def _iterate_tables(release: Release) -> Iterator[tuple[str, tuple[str, ...], Table]]:
    """The tables a release has: file, columns, and what they are for when read."""
    if release.grouped is None:
        yield "table", release.columns(), release.table
        return
    for file in release.grouped.files:
        yield file.stem, file.columns, file.table


def _list_outcomes(audit: Audit) -> list[tuple[object, ...]]:
    """What must recount. Of equally bad cases any may be the witness, whose prior
    may be another: the file has its values in another order.
    """
    return [
        (f.verdict, f.belief and f.belief.posterior, f.value) for f in audit.findings
    ]


# Documents --------------------------------------------------------------------------


def count_hidden_cells(release: Release, run: Run) -> dict[str, int]:
    """How many cells of each column show the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    found = {}
    for tally, counts in release.table.count(_query_marked_columns(recipe), run):
        code = counts.about.code(recipe.marker)
        shown = counts.value == (-1 if code is None else code)
        found[tally.about] = int(counts.n[shown].sum())
    return found


def count_hidden_values(release: Release, run: Run) -> dict[str, int]:
    """How many values of each column are shown as the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    plain, found = replace(release.table, relabels={}), {}
    for tally, counts in plain.count(_query_marked_columns(recipe), run):
        how = recipe.columns[tally.about]
        texts = how.texts(counts.about, recipe.marker)
        values = np.unique(counts.value).tolist()
        found[tally.about] = sum(texts[code] == recipe.marker for code in values)
    return found


def _query_marked_columns(recipe: Recipe) -> list[CountQuery]:
    """What to count of the columns that show the marker."""
    columns = recipe.columns.items()
    return [
        CountQuery((), c)
        for c, how in columns
        if isinstance(how, Hide) or not how.after
    ]


def _build_manifest(
    release: Release,
    destination: Destination,
    written: Sequence[WrittenFile],
    found: Audit,
    kinds: dict[str, str],
    run: Run,
) -> dict[str, Any]:
    from privet import __version__

    table, recipe = release.private, release.recipe or Recipe()
    domains = replace(table, relabels={}).domains(list(recipe.columns), run)
    if destination.format == "csv":  # which has no types of its own
        kinds = kinds | _read_source_kinds(table, run)
    kinds = kinds | {c: d.kind for c, d in domains.items()}
    shown = _describe_columns(recipe, count_hidden_values(release, run))
    columns = describe_columns(table.schema, release.columns(), kinds, shown)
    more: dict[str, Any] = {}
    if release.grouped is not None:
        more = release.grouped.describe_form()
        columns = release.grouped.describe_columns(columns)
    return build_manifest(
        "groups",
        version=__version__,
        title=release.policy.title,
        method=release.method,
        files=written,
        columns=columns,
        weight=table.roles.weight,
        escaped=destination.format == "csv",
        audit=found,
        not_promised=NOT_PROMISED,
        more=more,
    )


def _describe_columns(
    recipe: Recipe, hidden: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """How the columns of a recipe are shown."""
    marked = {
        name: {"hidden_values": hidden[name], "shown_as": recipe.marker}
        for name in hidden
    }
    cut = {
        name: {"shown_as": "intervals"}
        for name, how in recipe.columns.items()
        if isinstance(how, Cut) and how.after
    }
    return marked | cut


def _read_source_kinds(table: Table, run: Run) -> dict[str, str]:
    """The kind of each column's values; texts are looked at."""
    if table.source.textual:
        return {c.name: c.kind for c in table.engine.describe(run)}
    return {c.name: c.kind for c in table.schema.columns}


def _format_recipe(release: Release) -> str:
    if release.grouped is not None:  # may have many lines, which nobody reads
        return json.dumps(release.grouped.describe_recipe(), ensure_ascii=False) + "\n"
    assert release.recipe is not None
    return as_json(release.recipe.to_dict())


def build_custody_record(release: Release, found: Audit) -> dict[str, Any]:
    """What the steward keeps: source, choices, witnesses, versions, times."""
    table = release.private
    return {
        "custody": 1,
        "sensitive": "This file quotes the private table. It never travels.",
        "made": now(),
        "source": digest_files(table),
        "rows": table.engine.rows(Run()),
        "rows_from": describe_source(replace(table, relabels={})),
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


# Opening ----------------------------------------------------------------------------


def load_table(folder: Path, content: Mapping[str, Any], **options: Any) -> Release:
    """A table from its public files; an error where something differs."""
    for problem in find_changed_files(folder, content):
        raise InputError(problem)
    release = _open_release(folder, content, **options)
    if problems := _find_differences(release, content):
        release.table.close()
        raise InputError("\n".join(problems))
    return release


def verify_table(
    folder: Path, content: Mapping[str, Any], custody: Path | None, **options: Any
) -> Verification:
    """Recount a table against its manifest."""
    problems = compare_record(folder, custody) + find_changed_files(folder, content)
    if any("must exist" in p for p in problems):
        return Verification(tuple(problems), None)
    try:
        release = _open_release(folder, content, **options)
        with release.table:
            problems += _find_differences(release, content)
    except PrivetError as error:
        return Verification((*problems, str(error)), None)
    return Verification(tuple(problems), release.audit)


def _open_release(folder: Path, content: Mapping[str, Any], **options: Any) -> Release:
    policy = read_policy(content)
    table = _open_judged_table(folder, content, **options)
    try:
        found = audit(table, [*policy.promises, *policy.measures])
    except BaseException:
        table.close()
        raise
    return Release(
        table=table,
        policy=policy,
        audit=found,
        method=content.get("method", ""),
        manifest=content,
        folder=folder,
    )


def _open_judged_table(
    folder: Path, content: Mapping[str, Any], **options: Any
) -> Table:
    """The table of a release that promises are judged on."""
    roles, guarded = read_roles(content), "escaped" in content
    path, shown = folder / content["files"][-1]["path"], None
    if "form" in content:
        shown = ReleasedAs(roles.quasi, roles.quasi)
    if "group" in content:
        group = (content["group"],)
        shown = ReleasedAs(roles.quasi, group)
        roles = Roles(quasi=group, sensitive=roles.sensitive, weight=content["count"])
    return open_files(path, roles, guarded=guarded, shown=shown, **options)


def _find_differences(release: Release, content: Mapping[str, Any]) -> list[str]:
    problems = []
    rows, claimed = len(release.table), content["files"][-1]["rows"]
    if rows != claimed:
        problems.append(f"The table must have {claimed} rows; it has {rows}.")
    columns = set(release.table.schema.names)
    if "group" in content:
        problems += _find_misfitting_people(release, content)
        columns |= set(content["columns"])
    if columns != set(content["columns"]):
        problems.append("The table must have the columns the manifest names.")
    stated = [*content["promises"], *content.get("measures", ())]
    return problems + compare_findings(stated, release.audit.findings)


def _find_misfitting_people(release: Release, content: Mapping[str, Any]) -> list[str]:
    """Whether the people of buckets are as many in each group as their values."""
    group, file = content["group"], content["files"][0]
    if release.folder is None:
        return []
    roles = Roles(quasi=(group,), weight=content.get("weight"))
    path = release.folder / file["path"]
    with open_files(path, roles, guarded="escaped" in content) as people:
        sizes = [_count_group_sizes(table, group) for table in (people, release.table)]
        rows, names = len(people), set(people.schema.names)
    problems = []
    if rows != file["rows"]:
        problems.append(f"{file['path']} must have {file['rows']} rows; it has {rows}.")
    both = names | set(release.table.schema.names)
    if both != set(content["columns"]):
        problems.append("The tables must have the columns the manifest names.")
    if sizes[0] != sizes[1]:
        problems.append("Each group must have as many people as values; one has not.")
    return problems


def _count_group_sizes(table: Table, group: str) -> dict[str | None, int]:
    ((_, counts),) = table.count([CountQuery((), group)])
    return counts.histogram(0)
