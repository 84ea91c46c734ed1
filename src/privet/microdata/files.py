"""The files of a released table: what of writing and opening them is its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from privet.engine.describe import read_parquet_kinds
from privet.engine.protocol import CountQuery, Run, Spread, WriteQuery
from privet.errors import InputError
from privet.findings import Audit
from privet.microdata.exposure.exposure import Exposure
from privet.microdata.generalisation.forms import (
    BUCKETS,
    GENERALISED,
    NOT_PROMISED_OF_GROUPS,
)
from privet.microdata.generalisation.partition import explain_labels, explain_levels
from privet.microdata.generalised_values import ANY
from privet.microdata.level_choice import STARRED, is_public_choice
from privet.microdata.list_columns import holds_lists
from privet.microdata.recipe import (
    NOT_PROMISED,
    SEVERAL_ROWS,
    UNCHANGED,
    Cut,
    Hide,
    Recipe,
    shows_labels,
)
from privet.microdata.release import Release
from privet.microdata.skyline.household_findings import (
    asks_households,
    open_households,
)
from privet.microdata.suppression.written_cells import list_changed, spread_suppressed
from privet.microdata.written_columns import (
    MARKER,
    NULL,
    describe_ends,
    find_unlike_ends,
    join_written,
)
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
from privet.values.person_rows import RULES
from privet.values.schema import Bins, Roles
from privet.values.visible_text import escape_json

HIDDEN = ("top-down disclosure", "recipe", UNCHANGED)
LEVELLED = "full-domain"
GROUPED = ("mondrian", LEVELLED)
"""How tables are made: by hiding values, or in groups."""

ROLES = ("quasi", "sensitive", "other", "target", "weight", "group")
"""What columns of a table or of buckets may be for."""


def _is_rule(stated: Mapping[str, Any]) -> bool:
    by, column = stated.get("by"), stated.get("column")
    texts = isinstance(by, list) and all(isinstance(c, str) for c in (*by, column))
    return texts and 1 <= len(by or ()) <= 2 and isinstance(stated.get("exact"), bool)


def _is_column(about: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether a column has a role, and is shown and written as its kind may be."""
    shown, written = about.get("shown_as"), about.get("written_as")
    if "hidden_values" in about:
        fits = written in (None, NULL) and (written is None or shown == NULL)
    else:
        ways = ("ranges", "sets", "levels") if "form" in content else ("intervals",)
        fits = written is None or shown in ways
    return fits and about.get("role") in ROLES


def _is_method(content: Mapping[str, Any]) -> bool:
    """Whether the method goes with the form, and levels say what was chosen."""
    method, levels = content["method"], content["method"] == LEVELLED
    fits = method in (GROUPED if "form" in content else HIDDEN)
    return fits and levels == ("chosen" in content)


KEYS = (
    *("form", "group", "count", "labels", "measures", "derived", "weight"),
    *("exposure", "accepted", "person", "chosen"),
)
"""What only manifests of tables say."""

FORM: Form = {
    "files": lambda c: len(c["files"]) == (2 if c.get("form") == "buckets" else 1),
    "columns": lambda c: all(_is_column(a, c) for a in c["columns"].values()),
    "derived": lambda c: all(map(_is_rule, c["derived"])),
    "person": lambda c: _is_person(c["person"], c["columns"]),
    "method": _is_method,
    "chosen": lambda c: is_public_choice(c["chosen"]),
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
        require_decided(release._private.schema)
        if release._table.roles.unit:
            raise InputError(
                "A table must have one row per person to be released; unit "
                f"{release._table.roles.unit!r} says it may have several."
            )

    def write_files(self, draft: Destination, run: Run) -> list[WrittenFile]:
        """The table, or every table of groups."""
        release, options = self.release, dict[str, Any]()
        if release.grouped is None:
            weight = release._table.roles.weight
            spread = _spread_columns(release, run)
            columns = release.columns()
            options = {"columns": columns, "weight": weight, "spread": spread}
            return [_write_file(release._table, draft, "table", options, run)]
        found = []
        for file in release.grouped.files:
            shown = {"weight": file.weight} if file.weight else {"times": file.times}
            options = {"columns": file.columns, **shown}
            options |= {"spread": file.spread, "types": file.types}
            found.append(_write_file(file.table, draft, file.stem, options, run))
        return found

    def describe(
        self, draft: Destination, files: Sequence[WrittenFile], run: Run
    ) -> ManifestEntries:
        """How each column is shown, and what form groups have."""
        release = self.release
        columns = _describe_columns(
            release, _read_kinds(release, draft, files, run), draft.format, run
        )
        more: dict[str, Any] = {}
        if release.grouped is not None:
            more = release.grouped.describe_form()
            lines = _list_not_promised(more["not_promised"], release._private.person)
            stated = list_open(lines, release.history)
            more["not_promised"] = stated
            columns = release.grouped.describe_columns(columns)
        if measures := public_measures(release.audit):
            more["measures"] = measures
        more["derived"] = [
            _state_rule(r) for r in (release._table.rules or Rules()).told
        ]
        if release._private.roles.weight:
            more["weight"] = release._private.roles.weight
        if release._private.person is not None:
            more["person"] = describe_public_person(release._private, release.columns())
        if release.exposure is not None:
            more |= describe_public_exposure(release.exposure)
        return ManifestEntries(
            "groups",
            title=release.policy.title,
            method=release.method,
            columns=columns,
            audit=open_households(release.audit, release.columns()),
            not_promised=list_open(
                _list_not_promised(NOT_PROMISED, release._private.person),
                release.history,
            ),
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
            **describe_table(release._private),
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
            "households": [
                f.to_dict()
                for f in release.audit.findings
                if asks_households(f.promise)
            ],
            "utility": release.utility.to_dict() if release.utility else None,
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


def _list_not_promised(lines: Sequence[str], person: object) -> list[str]:
    """What no promise covers; that people have several rows, unless they became one."""
    return [x for x in lines if person is None or x != SEVERAL_ROWS]


def describe_public_person(table: Table, columns: Sequence[str]) -> dict[str, Any]:
    """What the manifest says of people: how rows became them, not how many rows."""
    assert table.person is not None
    told = table.person.to_dict()
    shown = {r: [c for c in told[r] if c in columns] for r in RULES if r in told}
    ordered = {"order": told["order"]} if "order" in told else {}
    return ordered | {rule: names for rule, names in shown.items() if names}


def _is_person(stated: Any, columns: Mapping[str, Any]) -> bool:
    """Whether a manifest says of each rule which released columns it was used for."""
    if not isinstance(stated, dict) or not set(stated) <= {"order", *RULES}:
        return False
    texts = all(
        isinstance(v, list) and v and all(isinstance(c, str) for c in v)
        for v in stated.values()
    )
    named = [c for rule in RULES for c in stated.get(rule, ())] if texts else []
    return texts and set(named) <= set(columns) and len(set(named)) == len(named)


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
    for tally, counts in release._table.count(_query_marked_columns(release), run):
        code = counts.about.code(recipe.marker)
        shown = counts.value == (-1 if code is None else code)
        found[tally.about] = int(counts.n[shown].sum())
    return found


def count_hidden_values(release: Release, run: Run) -> dict[str, int]:
    """How many values of each column are shown as the marker."""
    recipe = release.recipe
    if recipe is None:
        return {}
    plain, found = replace(release._table, relabels={}), {}
    for tally, counts in plain.count(_query_marked_columns(release), run):
        how = recipe.columns[tally.about]
        texts = how.texts(counts.about, recipe.marker)
        values = np.unique(counts.value).tolist()
        found[tally.about] = sum(texts[code] == recipe.marker for code in values)
    return found


def _query_marked_columns(release: Release) -> list[CountQuery]:
    """What to count of the columns that show the marker."""
    changed = list_changed(release).items()
    return [
        CountQuery((), c)
        for c, how in changed
        if isinstance(how, Hide) or not how.after
    ]


def _read_kinds(
    release: Release, draft: Destination, files: Sequence[WrittenFile], run: Run
) -> dict[str, str]:
    """The kind of each column's values; of CSV, which has no types, the source's."""
    kinds: dict[str, str] = {}
    for file in files:
        kinds |= _read_file_kinds(draft.folder / file.path, draft.format)
    spread = _spread_columns(release, run)
    kinds |= {c: kinds[made.names[0]] for c, made in spread.items()}
    source = release._private
    if draft.format != "csv":
        return kinds
    if source.source.textual or source.source.mixed:  # whose texts are looked at
        return kinds | {c.name: c.kind for c in source.engine.describe(run)}
    return kinds | {c.name: c.kind for c in source.schema.columns}


def _read_file_kinds(path: Path, format_: str) -> dict[str, str]:
    plain = read_parquet_kinds(path) if format_ == "parquet" else None
    if plain is not None:
        return plain
    with open_files(path, Roles(), guarded=format_ == "csv") as table:
        return {c.name: c.kind for c in table.schema.columns}


def _describe_columns(
    release: Release, kinds: Mapping[str, str], format_: str, run: Run
) -> dict[str, Any]:
    """What the manifest says of the columns, hidden values and intervals included."""
    table, recipe = release._private, release.recipe or Recipe()
    spread = _spread_columns(release, run)
    domains = replace(table, relabels={}).domains(list(recipe.columns), run)
    shown: dict[str, dict[str, Any]] = {
        name: {"hidden_values": hidden, **_describe_hidden(name, recipe)}
        for name, hidden in count_hidden_values(release, run).items()
    }
    shown |= {
        name: {"shown_as": "intervals", **describe_ends(spread.get(name))}
        for name, how in list_changed(release).items()
        if isinstance(how, Cut) and how.after
    }
    own = {c: d.kind for c, d in domains.items()}
    for column in (c for c in release.columns() if c not in shown):
        if column in table.schema.names and holds_lists(table, column, run):
            # Without a type of its own a list is written as JSON has it.
            typed = kinds[column] == "other" and format_ == "parquet"
            shown[column] = {"lists": "typed" if typed else "json"}
    return describe_columns(table.schema, release.columns(), {**kinds, **own}, shown)


def _describe_hidden(column: str, recipe: Recipe) -> dict[str, str]:
    """How hidden cells are shown, and written."""
    if shows_labels(recipe.columns[column]):
        return {"shown_as": "levels"}
    if recipe.hidden == NULL:
        return {"shown_as": NULL, "written_as": NULL}
    return {"shown_as": recipe.marker}


def _spread_columns(release: Release, run: Run) -> dict[str, Spread]:
    """The columns in whose place others are written."""
    if release.grouped is not None:
        return {c: s for f in release.grouped.files for c, s in f.spread.items()}
    return spread_suppressed(release, run)


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
    joined = join_written(content["columns"])
    table = open_files(
        path, roles, guarded=guarded, shown=shown, joined=joined, **options
    )
    table = replace(table, json_lists=_list_json_lists(content))
    if "derived" not in content:  # by an earlier version: found from the file itself
        return table
    rules = Rules(tuple(Rule.from_dict(r) for r in content["derived"]))
    return replace(table, rules=rules, coarse=_read_coarse(content))


def _list_json_lists(content: Mapping[str, Any]) -> frozenset[str]:
    """The columns whose texts are lists as JSON writes them."""
    columns = content["columns"].items()
    return frozenset(c for c, about in columns if about.get("lists") == "json")


def _read_coarse(content: Mapping[str, Any]) -> dict[str, str | None]:
    """The columns that do not show each value, and the text that hides them."""
    columns = content["columns"].items()
    texts = {
        c: MARKER if about.get("written_as") == NULL else about["shown_as"]
        for c, about in columns
        if "hidden_values" in about and about.get("shown_as", "levels") != "levels"
    }
    return {c: texts.get(c) for c, about in columns if "shown_as" in about}


def _list_beside_people(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns that buckets show beside each person, known ones aside."""
    stem = content["files"][0]["path"].partition(".")[0]
    columns = content["columns"].items()
    beside = [c for c, a in columns if a.get("file") == stem]
    return tuple(c for c in beside if content["columns"][c].get("role") != "quasi")


def restore_release(table: Table, **told: Any) -> Release:
    """A table that was loaded."""
    return Release(table, **told)


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
    problems += _find_unlike_cells(folder, content)
    return problems + find_unbinned(table, content)


def _find_unlike_cells(folder: Path, content: Mapping[str, Any]) -> list[str]:
    """Columns of ranges that do not hold what the manifest says."""
    columns = content["columns"]
    if not any(isinstance(a.get("written_as"), list) for a in columns.values()):
        return []
    path = folder / content["files"][-1]["path"]
    with open_files(path, Roles(), guarded="escaped" in content) as table:
        return find_unlike_ends(table, columns)


def restate(table: Table, folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest must say, given the table and what it states of it."""
    grouped = content.get("form")
    lines = _list_not_promised(
        NOT_PROMISED_OF_GROUPS if grouped else NOT_PROMISED, content.get("person")
    )
    rules = [_state_rule(Rule.from_dict(r)) for r in content["derived"]]
    weights = [c for c, a in content["columns"].items() if a.get("role") == "weight"]
    counted = content.get("count" if "group" in content else "weight")
    told: dict[str, Any] = {
        "not_promised": restate_open(lines, content),
        "labels": _restate_labels(table, content) if grouped == GENERALISED else None,
        "derived": rules,
        "columns": _restate_columns(table, content),
        "group": content.get("group") if grouped == BUCKETS else None,
        "count": content.get("count") if grouped == BUCKETS else None,
    }
    if weights != ([] if counted is None else [counted]):
        told["weight"] = weights
    if "chosen" in content:
        told["chosen"] = _restate_choice(table, content)
    if "accepted" in content:
        told["accepted"] = [Accepted(**a).to_dict() for a in content["accepted"]]
    return told


def _restate_choice(table: Table, content: Mapping[str, Any]) -> dict[str, Any]:
    """What was chosen, with the number of people who are starred in the file."""
    stated, starred = content["chosen"], _count_starred(table)
    if stated["shown_as"] != STARRED:
        # Who is left out cannot be counted; but then nobody is starred.
        return {**stated, "shown_as": STARRED} if starred else dict(stated)
    return {**stated, "suppressed": starred}


def _count_starred(table: Table) -> int:
    """People with `*` in every known column; where all are, that is the one group."""
    if not table.roles.quasi:  # whatever a forged manifest says was chosen
        return 0
    *by, about = table.roles.quasi
    ((_, counts),) = table.count([CountQuery(tuple(by), about)])
    code = counts.about.code(ANY)
    hidden = np.ones(len(counts), dtype=bool)
    for domain, own in zip(counts.by, counts.keys.columns(), strict=True):
        any_ = domain.code(ANY)
        hidden &= own == (-1 if any_ is None else any_)
    shown = hidden[counts.group] & (counts.value == (-1 if code is None else code))
    starred = int(counts.n[shown].sum())
    return 0 if starred == int(counts.total.sum()) else starred


def _restate_labels(table: Table, content: Mapping[str, Any]) -> dict[str, str]:
    """How to read the labels that columns of the file show."""
    if "chosen" in content:
        return explain_levels()
    columns = content["columns"].items()
    shown = [c for c, about in columns if about.get("shown_as") == "sets"]
    domains = table.domains([c for c in shown if c in table.schema.names], Run())
    return explain_labels(text for d in domains.values() for text in d.labels)


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
