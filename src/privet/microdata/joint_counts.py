"""Labels and counts of a table, for the joint judgement of several releases.

What a recipe shows becomes an outline, a promise against a linker a question, and the
rows one count: of values that no release tells apart one stands for all, and columns
that neither matter to anybody nor tie files together are left out. Counts go as far as
different combinations are moderately many.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import TooLarge
from privet.languages import mark
from privet.microdata.dependence.told_columns import sort_columns
from privet.microdata.exposure.coverage import find_beside
from privet.microdata.linkage import find_table_rules, query_templates
from privet.microdata.list_columns import holds_lists
from privet.microdata.recipe import Recipe
from privet.policy import Accepted, Promise
from privet.release.custody_record import describe_source
from privet.release.joint.joint_results import JointQuestion
from privet.release.joint.labelled_rows import LabelledRows, PseudoTable, split_files
from privet.release.joint.outlines import ReleaseOutline, ShownColumn, Value
from privet.release.joint.same_rows import Labels
from privet.table import Table
from privet.values.adversaries import Linker
from privet.values.contingency import Domain
from privet.values.dependencies import Rules
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Within

LISTS = mark(
    "What several releases tell together of a column of lists is not counted: whoever "
    "has both may know more than each tells alone."
)

MOST_COMBINATIONS = 500_000
"""Combinations of values that are counted to judge several releases."""


# Outlines and questions -------------------------------------------------------------


def list_released(table: Table) -> tuple[str, ...]:
    """The columns that a release of a table shows; weights are counts of rows."""
    roles = table.roles
    dropped = {*roles.withheld, roles.unit, roles.weight}
    return tuple(c for c in table.schema.names if c not in dropped)


def describe_rows(table: Table) -> str:
    """A text that tells the rows of a table from others; empty: they have no file."""
    found = describe_source(table)
    return json.dumps(found, sort_keys=True) if found["files"] else ""


def outline_table(
    table: Table,
    recipe: Recipe,
    *,
    name: str,
    rows: str,
    columns: Sequence[str] | None = None,
    run: Run | None = None,
) -> ReleaseOutline:
    """What a recipe shows of a table, by column."""
    plain = replace(table, relabels={})
    shown = list_released(table) if columns is None else columns
    hidden = [c for c in shown if c in recipe.columns]
    domains = plain.domains(hidden, run) if hidden else {}
    return ReleaseOutline(
        name,
        "table",
        rows,
        {c: show_column(table, recipe, c, domains.get(c)) for c in shown},
        more={"recipe": recipe.to_dict()},
    )


def show_column(
    table: Table, recipe: Recipe, column: str, domain: Domain | None
) -> ShownColumn:
    """Which values of a column a recipe shows alike."""
    bins = table.roles.bins.get(column)
    base = "" if bins is None else json.dumps(bins.to_list())
    if domain is None:
        return ShownColumn((), base)
    texts = recipe.columns[column].texts(domain, recipe.marker)
    alike: dict[str | None, list[Value]] = {}
    for code, text in enumerate(texts):
        alike.setdefault(text, []).append(domain[code])
    return ShownColumn(tuple(tuple(v) for v in alike.values() if len(v) > 1), base)


def ask_promises(
    promises: Sequence[Promise], table: Table, accepted: Sequence[Accepted] = ()
) -> list[JointQuestion]:
    """What must be judged of several releases for each promise about a table.

    The promise that covers a column is judged for whoever has all known columns, too.
    """
    linkers = [p for p in promises if isinstance(p.against, Linker)]
    plain = find_table_rules(replace(table, shown=None), linkers, Run())
    beside = find_beside(promises, plain, accepted)
    return [_ask_promise(p, plain, beside.get(p, ())) for p in promises]


def _ask_promise(
    promise: Promise, table: Table, beside: Sequence[str]
) -> JointQuestion:
    if not isinstance(promise.against, Linker):
        return JointQuestion(promise)
    asked = query_templates(promise, table)
    if holds_lists(table, asked.column, Run()):
        return JointQuestion(promise, about=asked.column, open=LISTS)
    values, within = None, None
    if isinstance(asked.values, Within):
        within = asked.values
    elif asked.values is not None:
        values = tuple(None if v is None else str(v) for v in asked.values)
    known = dict.fromkeys(t.by for t in asked.tallies)
    if beside:
        known |= dict.fromkeys((*s, *beside) for s in list(known))
    sure, guessed = _close_sets(list(known), asked.column, table)
    known |= dict.fromkeys(sure)
    left = tuple(s for s in dict.fromkeys(guessed) if s not in known)
    return JointQuestion(promise, tuple(known), asked.column, values, left, within)


def _close_sets(
    sets: Sequence[tuple[str, ...]], about: str, table: Table
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Known columns with what they tell in every row, and with what they nearly do."""
    rules = table.rules or Rules()
    closed: list[list[tuple[str, ...]]] = [[], []]
    for known in sets:
        for found, exact in zip(closed, (True, False), strict=True):
            told = rules.close(known, about, exact=exact) - set(known)
            if told:
                found.append((*known, *sort_columns(table, told)))
    return closed[0], closed[1]


# Counting ---------------------------------------------------------------------------


def count_rows(
    table: Table,
    releases: Sequence[ReleaseOutline],
    questions: Sequence[JointQuestion],
    run: Run | None = None,
) -> LabelledRows:
    """The rows of a table by what the releases show of them, in one count.

    Raises
    ------
    TooLarge
        Where there are too many different combinations.
    """
    plain, files = (
        replace(table, relabels={}),
        [f for r in releases for f in split_files(r)],
    )
    columns = _choose_columns(plain, releases, files, questions)
    domains = plain.domains(columns, run)
    labels = {c: _label_jointly(domains[c], files) for c in columns}
    bins = plain.roles.bins
    counted = plain.relabelled(
        {c: Relabel(tuple(map(str, labels[c])), bins.get(c)) for c in columns}
    )
    rows: Counter[Labels] = Counter()
    for _, batch in counted.count([CountQuery(tuple(columns[:-1]), columns[-1])], run):
        rows.update(_read_batch(batch))
        if len(rows) > MOST_COMBINATIONS:
            raise TooLarge(
                f"At most {MOST_COMBINATIONS:,} combinations of values can be counted "
                "to judge several releases together; there are more."
            )
    values = tuple(tuple(domains[c].labels) for c in columns)
    return LabelledRows(tuple(columns), values, rows)


def _choose_columns(
    table: Table,
    releases: Sequence[ReleaseOutline],
    files: Sequence[PseudoTable],
    questions: Sequence[JointQuestion],
) -> list[str]:
    """What is known or asked about, and what ties files together."""
    asked = {q.about for q in questions if q.about}
    asked |= {c for q in questions for c in chain.from_iterable(q.known)}
    views = {c for r in releases if not r.counted for c in r.columns}
    boxed = {c for r in releases for c in r.boxed}
    several = {
        c for f in files for c in f.columns if sum(c in g.columns for g in files) > 1
    }
    wanted = asked | views | boxed | several
    return [c for c in table.schema.names if c in wanted]


def _label_jointly(domain: Domain, files: Sequence[PseudoTable]) -> list[int]:
    """For each value the first that all files show like it."""
    values = list(domain.labels)
    shown = [
        f.columns[domain.name].label_values(values)
        for f in files
        if domain.name in f.columns and domain.name not in _list_boxed(f)
    ]
    if any(domain.name in _list_boxed(f) for f in files):
        return list(range(len(values)))
    first: dict[tuple[int, ...], int] = {}
    return [first.setdefault(tuple(s[i] for s in shown), i) for i in range(len(values))]


def _list_boxed(file: PseudoTable) -> Sequence[str]:
    return tuple(file.boxes[0]) if file.boxes else ()


def _read_batch(batch: EquivalenceClasses) -> dict[Labels, int]:
    """The rows of a count, by the places that texts of values say."""
    places = [
        _read_places(d)[k] for d, k in zip(batch.by, batch.keys.columns(), strict=True)
    ]
    columns = [p[batch.group] for p in places]
    columns.append(_read_places(batch.about)[batch.value])
    lines = zip(*(c.tolist() for c in columns), strict=True)
    return dict(zip(lines, batch.n.tolist(), strict=True))


def _read_places(domain: Domain) -> Any:
    return np.array([int(text) for text in domain.labels if text is not None])
