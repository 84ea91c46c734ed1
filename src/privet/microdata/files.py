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
from privet.microdata.exposure.exposure import Exposure
from privet.microdata.generalisation.forms import (
    BUCKETS,
    GENERALISED,
    NOT_PROMISED_OF_GROUPS,
)
from privet.microdata.generalisation.partition import GRAMMAR
from privet.microdata.recipe import NOT_PROMISED, Cut, Hide, Recipe
from privet.microdata.release import Release
from privet.policy import Accepted
from privet.release.atomic_folder import as_json
from privet.release.custody_record import describe_table, now, policy_text
from privet.release.destination import Destination
from privet.release.gate import require_decided
from privet.release.history import History, list_open
from privet.release.kinds import Form
from privet.release.manifest import (
    RECIPE,
    ManifestEntries,
    WrittenFile,
    describe_columns,
    public_measures,
    restate_open,
)
from privet.release.verify import find_unbinned, open_files, read_roles
from privet.release.write import (
    ReleaseParts,
    refuse_release,
    refuse_uncovered,
    write_table,
)
from privet.table import ReleasedAs, Table
from privet.values.dependencies import Rule, Rules
from privet.values.schema import Bins, Roles
from privet.values.visible_text import escape_json

HIDDEN, GROUPED = ("top-down disclosure", "recipe"), ("mondrian",)
"""How tables are made: by hiding values, or in groups."""

ROLES = ("quasi", "sensitive", "other", "target", "weight", "group")
"""What columns of a table or of buckets may be for."""


def _is_rule(stated: Mapping[str, Any]) -> bool:
    by, column = stated.get("by"), stated.get("column")
    texts = isinstance(by, list) and all(isinstance(c, str) for c in (*by, column))
    return texts and 1 <= len(by or ()) <= 2 and isinstance(stated.get("exact"), bool)


KEYS = (
    *("form", "group", "count", "labels", "measures", "derived", "weight"),
    *("exposure", "accepted"),
)
"""What only manifests of tables say."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == (2 if c.get("form") == "buckets" else 1),
    "columns": lambda c: all(a.get("role") in ROLES for a in c["columns"].values()),
    "derived": lambda c: all(map(_is_rule, c["derived"])),
    "method": lambda c: c["method"] in (GROUPED if "form" in c else HIDDEN),
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
        """A table must be made here, safe, decided, and have one row per person."""
        release = self.release
        made = release.recipe is not None or release.grouped is not None
        if made:
            refuse_uncovered(release.audit)
        refuse_release(made=made, audit=release.audit, history=release.history)
        require_decided(release.private.schema)
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
            stated = list_open(more["not_promised"], release.history)
            more["not_promised"] = stated
            columns = release.grouped.describe_columns(columns)
        if measures := public_measures(release.audit):
            more["measures"] = measures
        more["derived"] = [
            _state_rule(r) for r in (release.table.rules or Rules()).told
        ]
        if release.private.roles.weight:
            more["weight"] = release.private.roles.weight
        if release.exposure is not None:
            more |= describe_public_exposure(release.exposure)
        return ManifestEntries(
            "groups",
            title=release.policy.title,
            method=release.method,
            columns=columns,
            audit=release.audit,
            not_promised=list_open(NOT_PROMISED, release.history),
            more=more,
        )

    @property
    def history(self) -> History | None:
        """What it was judged with."""
        return self.release.history

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
            "columns": list(release.columns()),
            "ended": release.ended,
            "left": dict(release.left),
            "recipe": None if release.recipe is None else release.recipe.to_dict(),
            "steps": [s.to_dict() for s in release.steps],
            "policy": policy_text(policy),
            "accepted": [a.to_dict() for a in policy.accepted],
            "before": release.before.to_dict() if release.before else None,
            "after": found.to_dict(),
        }

    def list_private_texts(self) -> dict[str, str]:
        """The recipe, to be applied again."""
        if self.release.grouped is not None:  # may have many lines, which nobody reads
            stated = self.release.grouped.describe_recipe()
            return {RECIPE: escape_json(json.dumps(stated, ensure_ascii=False)) + "\n"}
        assert self.release.recipe is not None
        return {RECIPE: as_json(self.release.recipe.to_dict())}


def _write_file(
    table: Table, draft: Destination, stem: str, options: Mapping[str, Any], run: Run
) -> WrittenFile:
    path = draft.folder / draft.name_file(stem)
    query = WriteQuery(str(path), draft.format, **options)
    return write_table(path, lambda: table.engine.write(query, table.recodings, run))


def _state_rule(rule: Rule) -> dict[str, Any]:
    """What the manifest says of columns that tell others: no counts of the source."""
    return {"column": rule.column, "by": list(rule.by), "exact": rule.exact}


def describe_public_exposure(told: Exposure) -> dict[str, Any]:
    """What the manifest says of exposure: numbers, and what was accepted and why."""
    counted = told.to_dict()
    accepted = counted.pop("accepted")
    del counted["notes"]
    return {"exposure": counted} | ({"accepted": accepted} if accepted else {})


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
        shown = ReleasedAs(roles.quasi, group, _list_beside_people(content))
        roles = Roles(quasi=group, sensitive=roles.sensitive, weight=content["count"])
    table = open_files(path, roles, guarded=guarded, shown=shown, **options)
    if "derived" not in content:  # by an earlier version: found from the file itself
        return table
    rules = Rules(tuple(Rule.from_dict(r) for r in content["derived"]))
    return replace(table, rules=rules, coarse=_read_coarse(content))


def _read_coarse(content: Mapping[str, Any]) -> dict[str, str | None]:
    """The columns that do not show each value, and the text that hides them."""
    columns = content["columns"].items()
    return {
        c: about["shown_as"] if "hidden_values" in about else None
        for c, about in columns
        if "shown_as" in about
    }


def _list_beside_people(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that buckets show beside each person, known ones aside."""
    stem = content["files"][0]["path"].partition(".")[0]
    columns = content["columns"].items()
    beside = [c for c, a in columns if a.get("file") == stem]
    return tuple(c for c in beside if content["columns"][c].get("role") != "quasi")


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
    return problems + find_unbinned(table, content)


def restate(table: Table, folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest must say, given the table and what it states of it."""
    grouped = content.get("form")
    lines = NOT_PROMISED_OF_GROUPS if grouped else NOT_PROMISED
    rules = [_state_rule(Rule.from_dict(r)) for r in content["derived"]]
    weights = [c for c, a in content["columns"].items() if a.get("role") == "weight"]
    counted = content.get("count" if "group" in content else "weight")
    told: dict[str, Any] = {
        "not_promised": restate_open(lines, content),
        "labels": dict(GRAMMAR) if grouped == GENERALISED else None,
        "derived": rules,
        "columns": _restate_columns(table, content),
        "group": content.get("group") if grouped == BUCKETS else None,
        "count": content.get("count") if grouped == BUCKETS else None,
    }
    if weights != ([] if counted is None else [counted]):
        told["weight"] = weights
    if "accepted" in content:
        told["accepted"] = [Accepted(**a).to_dict() for a in content["accepted"]]
    return told


def _restate_columns(table: Table, content: Mapping[str, Any]) -> dict[str, Any]:
    """The columns with the types that a file with types has, where they are shown."""
    columns = _restate_files(table, content)
    for about in columns.values():
        if "bins" in about:
            about["bins"] = Bins(about["bins"]).to_list()
    if "escaped" in content:
        return columns
    kinds = {c.name: c.kind for c in table.schema.columns}
    hidden = {c for c, a in columns.items() if {"shown_as", "bins"} & set(a)}
    plain = {c for c, a in columns.items() if a.get("role") != "quasi"} - hidden
    return {
        c: about | ({"type": kinds[c]} if c in plain and c in kinds else {})
        for c, about in columns.items()
    }


def _restate_files(table: Table, content: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of buckets with the file each stands in; of one table, in none."""
    columns = {
        c: {key: value for key, value in about.items() if key != "file"}
        for c, about in content["columns"].items()
    }
    if "group" not in content:
        return columns
    people, values = (f["path"].partition(".")[0] for f in content["files"])
    counted = {*table.schema.names} - {content.get("weight")}
    for c, about in columns.items():
        if c != content["group"]:
            about["file"] = values if c in counted else people
    return columns


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
