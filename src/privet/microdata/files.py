"""The files of a released table: what of writing and opening them is its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run, WriteQuery
from privet.errors import InputError
from privet.findings import Audit
from privet.microdata.recipe import NOT_PROMISED, Cut, Hide, Recipe
from privet.microdata.release import Release
from privet.release.atomic_folder import as_json
from privet.release.custody_record import describe_table, now, policy_text
from privet.release.destination import Destination
from privet.release.kinds import Form
from privet.release.manifest import (
    RECIPE,
    ManifestEntries,
    WrittenFile,
    describe_columns,
    public_measures,
)
from privet.release.note import write_table_note
from privet.release.verify import open_files, read_roles
from privet.release.write import ReleaseParts, refuse_release, write_table
from privet.table import ReleasedAs, Table
from privet.values.schema import Roles

ROLES = (None, "quasi", "sensitive", "target", "weight", "group")
"""What columns of a table or of buckets may be for."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == (2 if c.get("form") == "buckets" else 1),
    "columns": lambda c: all(a.get("role") in ROLES for a in c["columns"].values()),
}
"""What must hold of the manifest of a table."""


# Writing ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TableParts(ReleaseParts):
    """What a table or a release in groups is written from."""

    release: Release
    """What is released."""

    @property
    def several(self) -> str:
        """Buckets are two tables."""
        grouped = self.release.grouped
        return "A release of two tables" if grouped and len(grouped.files) > 1 else ""

    def refuse(self) -> None:
        """A table must be made here, safe, and have one row per person."""
        release = self.release
        made = release.recipe is not None or release.grouped is not None
        refuse_release(made=made, safe=release.safe)
        if release.table.roles.unit:
            raise InputError(
                "A table must have one row per person to be released; unit "
                f"{release.table.roles.unit!r} says it may have several."
            )

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """The table, or every table of groups."""
        release = self.release
        if release.grouped is None:
            weight = release.table.roles.weight
            options = {"columns": release.columns(), "weight": weight}
            return [_write_file(release.table, draft, "table", options, run)]
        found = []
        for file in release.grouped.files:
            shown = {"weight": file.weight} if file.weight else {"times": file.times}
            options = {"columns": file.columns, **shown}
            found.append(_write_file(file.table, draft, file.stem, options, run))
        return found

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """How each column is shown, and what form groups have."""
        release = self.release
        columns = _describe_columns(
            release, _read_kinds(release, draft, files, run), run
        )
        more: dict[str, Any] = {}
        if release.grouped is not None:
            more = release.grouped.describe_form()
            columns = release.grouped.describe_columns(columns)
        if measures := public_measures(release.audit):
            more["measures"] = measures
        if release.private.roles.weight:
            more["weight"] = release.private.roles.weight
        return ManifestEntries(
            "groups",
            title=release.policy.title,
            method=release.method,
            columns=columns,
            audit=release.audit,
            not_promised=NOT_PROMISED,
            more=more,
        )

    def write_note(self, content: Mapping[str, Any]) -> str:
        """What was changed, and what is promised."""
        return write_table_note(content)

    def build_record(
        self, content: Mapping[str, Any], found: Audit | None
    ) -> dict[str, Any]:
        """Source, choices, witnesses, versions, times."""
        release = self.release
        policy = release.policy
        assert found is not None
        return {
            "sensitive": "This file quotes the private table. It never travels.",
            "made": now(),
            **describe_table(release.private),
            "signoff": policy.signoff.to_dict() if policy.signoff else None,
            "method": release.method,
            "ended": release.ended,
            "recipe": None if release.recipe is None else release.recipe.to_dict(),
            "steps": [s.to_dict() for s in release.steps],
            "policy": policy_text(policy),
            "before": release.before.to_dict() if release.before else None,
            "after": found.to_dict(),
        }

    def list_private_texts(self) -> dict[str, str]:
        """The recipe, to be applied again."""
        if self.release.grouped is not None:  # may have many lines, which nobody reads
            stated = self.release.grouped.describe_recipe()
            return {RECIPE: json.dumps(stated, ensure_ascii=False) + "\n"}
        assert self.release.recipe is not None
        return {RECIPE: as_json(self.release.recipe.to_dict())}


def _write_file(
    table: Table, draft: Destination, stem: str, options: Mapping[str, Any], run: Run
) -> WrittenFile:
    path = draft.folder / draft.name_file(stem)
    query = WriteQuery(str(path), draft.format, **options)
    return write_table(path, lambda: table.engine.write(query, table.recodings, run))


# Columns ----------------------------------------------------------------------------


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


def _read_kinds(
    release: Release, draft: Destination, files: Sequence[WrittenFile], run: Run
) -> dict[str, str]:
    """The kind of each column's values; of CSV, which has no types, the source's."""
    kinds: dict[str, str] = {}
    for file in files:
        path = draft.folder / file.path
        with open_files(path, Roles(), guarded=draft.format == "csv") as table:
            kinds |= {c.name: c.kind for c in table.schema.columns}
    source = release.private
    if draft.format != "csv":
        return kinds
    if source.source.textual:  # whose texts are looked at
        return kinds | {c.name: c.kind for c in source.engine.describe(run)}
    return kinds | {c.name: c.kind for c in source.schema.columns}


def _describe_columns(
    release: Release, kinds: Mapping[str, str], run: Run
) -> dict[str, Any]:
    """What the manifest says of the columns, hidden values and intervals included."""
    table, recipe = release.private, release.recipe or Recipe()
    domains = replace(table, relabels={}).domains(list(recipe.columns), run)
    shown: dict[str, dict[str, Any]] = {
        name: {"hidden_values": hidden, "shown_as": recipe.marker}
        for name, hidden in count_hidden_values(release, run).items()
    }
    shown |= {
        name: {"shown_as": "intervals"}
        for name, how in recipe.columns.items()
        if isinstance(how, Cut) and how.after
    }
    own = {c: d.kind for c, d in domains.items()}
    return describe_columns(table.schema, release.columns(), {**kinds, **own}, shown)


# Opening ----------------------------------------------------------------------------


def open_judged_table(
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


def restore_release(table: Table, **told: Any) -> Release:
    """A table that was loaded."""
    return Release(table=table, **told)


def find_differences(
    table: Table, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """Rows and columns that are not as the manifest says."""
    problems = []
    rows, claimed = len(table), content["files"][-1]["rows"]
    if rows != claimed:
        problems.append(f"The table must have {claimed} rows; it has {rows}.")
    columns = set(table.schema.names)
    if "group" in content:
        problems += _find_misfitting_people(table, folder, content)
        columns |= set(content["columns"])
    if columns != set(content["columns"]):
        problems.append("The table must have the columns the manifest names.")
    return problems


def _find_misfitting_people(
    values: Table, folder: Path, content: Mapping[str, Any]
) -> list[str]:
    """Whether the people of buckets are as many in each group as their values."""
    group, file = content["group"], content["files"][0]
    roles = Roles(quasi=(group,), weight=content.get("weight"))
    path = folder / file["path"]
    with open_files(path, roles, guarded="escaped" in content) as people:
        sizes = [_count_group_sizes(table, group) for table in (people, values)]
        rows, names = len(people), set(people.schema.names)
    problems = []
    if rows != file["rows"]:
        problems.append(f"{file['path']} must have {file['rows']} rows; it has {rows}.")
    both = names | set(values.schema.names)
    if both != set(content["columns"]):
        problems.append("The tables must have the columns the manifest names.")
    if sizes[0] != sizes[1]:
        problems.append("Each group must have as many people as values; one has not.")
    return problems


def _count_group_sizes(table: Table, group: str) -> dict[str | None, int]:
    ((_, counts),) = table.count([CountQuery((), group)])
    return counts.histogram(0)
