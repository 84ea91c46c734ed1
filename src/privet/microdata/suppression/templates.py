"""Privacy templates <QID → value, h> of a table, and the count cubes to judge them on.

A promise against a linker is a template per value it protects: from the columns of the
QID (quasi-identifier) nobody may infer the value with more confidence than h. From the
promises and a table come what top-down disclosure works on: a cube per QID, and each
attribute by class.

Values that can never be disclosed are found before the large counts are made: a value
that breaks a promise when it is the first to be shown breaks it ever after, for showing
others only makes groups smaller. Whether it does follows from the counts of its column
alone. So the rare values of columns that have many, which make cubes large, are counted
as one suppressed value from the start. No move, no score and no belief changes.
Wang, Fung, Yu 2007, §3.1 (privacy templates), §3.2 (Corollary 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod

import numpy as np

from privet.engine.duckdb.session import SHARE
from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import TooLarge
from privet.microdata.generalisation.distinct_rows import find_byte_limit
from privet.microdata.linkage import TemplateQuery, query_templates
from privet.microdata.suppression.count_cube import Cube
from privet.microdata.suppression.top_down_disclosure import SuppressedAttribute
from privet.policy import Promise
from privet.table import Table
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain, packed
from privet.values.equivalence_classes import EquivalenceClasses

MANY = 2_000_000
"""Cubes that can have more cells are made smaller first."""

PER_CELL = 40
"""Bytes a cell of a cube takes, and of what it is made from."""


# Values that can never be disclosed -------------------------------------------------


def may_be_large(
    known: Sequence[str], domains: Mapping[str, Domain], rows: int
) -> bool:
    """Whether a cube can have many cells."""
    return min(rows, prod(len(domains[c]) for c in known)) > MANY


def merge_never_shown(
    table: Table, never: Mapping[str, Flags]
) -> tuple[Table, dict[str, Ints]]:
    """The table with values that are never shown as one; and what codes mean then."""
    relabels, meaning = {}, {}
    for column, flags in never.items():
        if flags.sum() < 2:
            continue
        # Codes 0 and 2 of 4 are one: 0 1 0 3. Counted anew they are 0 1 2, which mean
        # 0 1 3.
        codes = np.arange(len(flags))
        codes[flags] = np.flatnonzero(flags)[0]
        texts = tuple(map(str, codes.tolist()))
        relabels[column] = Relabel(texts, table.roles.bins.get(column))
        meaning[column] = np.array(list(dict.fromkeys(codes.tolist())))
    return table.relabelled(relabels), meaning


def find_never_shown(
    cubes: Mapping[str, Sequence[Cube]], domains: Mapping[str, Domain]
) -> dict[str, Flags]:
    """The values of each column that break a promise when they are shown first."""
    found = {}
    for column, own in cubes.items():
        every = np.ones(len(domains[column]), dtype=bool)
        flags = np.zeros(len(every), dtype=bool)
        for cube in own:
            (outlook,) = cube.look_ahead(cube.view(), [every], [False])
            flags |= outlook.broken
        found[column] = flags
    return found


def count_all(
    table: Table, tallies: Sequence[CountQuery], run: Run, most: int | None = None
) -> dict[CountQuery, EquivalenceClasses]:
    """Count all at once; refuse what does not fit the memory."""
    room = most or find_byte_limit(table.options) * SHARE // PER_CELL
    parts: dict[CountQuery, list[EquivalenceClasses]] = {}
    cells = 0
    for tally, batch in table.count(tallies, run):
        cells += len(batch.n)
        if cells > room:
            raise TooLarge(
                "What somebody may know must have at most "
                f"{room:,} combinations for top-down disclosure in this much memory; "
                "there are more. Put columns with many values into bins, raise "
                "memory_limit, or publish groups: Mondrian keeps what does not fit in "
                "a file."
            )
        parts.setdefault(tally, []).append(batch)
    return {tally: sum_batches(batches) for tally, batches in parts.items()}


def sum_batches(batches: list[EquivalenceClasses]) -> EquivalenceClasses:
    """Parts of one count, put together two by two."""
    while len(batches) > 1:
        pairs = zip_longest(batches[::2], batches[1::2])
        batches = [a if b is None else a + b for a, b in pairs]
    return batches[0]


# Templates and cubes ----------------------------------------------------------------


@dataclass(frozen=True)
class Template:
    """QID → value, not to be inferred from a quasi-identifier; promises say h."""

    qid: tuple[str, ...]
    """The quasi-identifier: the columns known."""
    column: str
    """The sensitive column."""
    value: int
    """The code of the sensitive value, the paper's π."""


@dataclass(frozen=True)
class DisclosureProblem:
    """A table made ready for disclosure."""

    attributes: tuple[SuppressedAttribute, ...]
    """The columns that may be hidden, in the order of their first appearance."""
    cubes: tuple[Cube, ...]
    """One per quasi-identifier (QID)."""
    rules: tuple[tuple[Template, ...], ...]
    """The templates of each cube."""
    promises: tuple[tuple[tuple[Promise, ...], ...], ...]
    """The promises behind each template of each cube."""
    domains: dict[str, Domain]
    """The values of every column involved."""
    everybody: int
    """How many rows there are."""


def prepare_disclosure(
    table: Table,
    promises: Sequence[Promise],
    *,
    keep: Sequence[str],
    ordered: Callable[[str, Domain], bool],
    run: Run,
    withheld: Callable[[Domain], Flags] | None = None,
) -> DisclosureProblem:
    """Count what is needed: each set of columns once, each attribute by class.

    `withheld` says which values of a column, or cuts after them, stay out of question.
    """
    fixed = list_fixed(table, keep)
    asked = [query_templates(promise, table, hiding=fixed) for promise in promises]
    about = list(dict.fromkeys(q.column for q in asked))
    soon = [t for q in asked for t in q.tallies]
    protected = table.domains(about, run, before=soon)
    # A promise about values that never occur is kept, whatever is shown.
    questions = [q for q in asked if _find_codes(q, protected[q.column])]
    sets = list(dict.fromkeys(t.by for q in questions for t in q.tallies))
    named = list(dict.fromkeys(c for s in _list_known_columns(questions) for c in s))
    maskable = [c for c in named if c not in fixed]
    domains = {**protected, **table.domains(named, run)}
    tallies = list(dict.fromkeys(t for q in questions for t in q.tallies))
    rules = {s: _collect_templates(s, questions, domains) for s in sets}
    never = {}
    if withheld is None:
        never = _screen_values(table, rules, maskable, domains, ordered, run)
    by_class = _query_by_class(table, maskable)
    counted, meaning = _count_merged(table, tallies, by_class, never, run)
    attributes = tuple(
        SuppressedAttribute(
            domains[c],
            _tabulate_by_class(counted[t], domains[c]),
            ordered=ordered(c, domains[c]),
            never=never.get(c) if withheld is None else withheld(domains[c]),
        )
        for c, t in zip(maskable, by_class, strict=True)
    )
    cubes = tuple(_build_cube(s, rules[s], counted, maskable, meaning) for s in sets)
    return DisclosureProblem(
        attributes,
        cubes,
        tuple(tuple(rules[s]) for s in sets),
        tuple(tuple(tuple(p for p, _ in w) for w in rules[s].values()) for s in sets),
        domains,
        table.engine.rows(run),
    )


def list_fixed(table: Table, keep: Sequence[str]) -> set[str]:
    """Columns that are never hidden."""
    target = {table.roles.target} if table.roles.target else set()
    return {*keep, *table.roles.sensitive, *target}


def _screen_values(
    table: Table,
    rules: Mapping[tuple[str, ...], dict[Template, Why]],
    maskable: Sequence[str],
    domains: Mapping[str, Domain],
    ordered: Callable[[str, Domain], bool],
    run: Run,
) -> dict[str, Flags]:
    """Values that are never shown, where cubes may be large; see `find_never_shown`."""
    rows = table.engine.rows(run)
    large = [s for s in rules if may_be_large(s, domains, rows)]
    about = {rule.column for own in rules.values() for rule in own}
    loose = [
        c
        for c in maskable
        if not (ordered(c, domains[c]) or c in about or c in table.relabels)
    ]
    alone: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {}
    for s in large:
        outside = [c for c in s if c not in maskable]
        for c in (c for c in s if c in loose):
            # With all else suppressed a group is one value and what cannot be hidden.
            alone[s, c] = tuple(k for k in s if k == c or k in outside)
    tallies = dict.fromkeys(
        CountQuery(by, rule.column) for (s, _), by in alone.items() for rule in rules[s]
    )
    counted = count_all(table, list(tallies), run) if tallies else {}
    cubes: dict[str, list[Cube]] = {}
    for (s, c), by in alone.items():
        cubes.setdefault(c, []).append(_build_cube(by, rules[s], counted, [c], {}))
    return find_never_shown(cubes, domains)


def _count_merged(
    table: Table,
    tallies: Sequence[CountQuery],
    by_class: Sequence[CountQuery],
    never: Mapping[str, Flags],
    run: Run,
) -> tuple[dict[CountQuery, EquivalenceClasses], dict[str, Ints]]:
    """All counts, and what codes mean where values were merged."""
    fewer, meaning = merge_never_shown(table, never)
    if not meaning:
        return count_all(table, [*tallies, *by_class], run), {}
    classes = count_all(table, by_class, run)
    return classes | count_all(fewer, tallies, run), meaning


def _list_known_columns(questions: Sequence[TemplateQuery]) -> list[tuple[str, ...]]:
    """The columns known, in the order the promises name them; then what they tell."""
    known = [getattr(q.promise.against, "knows", None) or () for q in questions]
    return [
        tuple(dict.fromkeys((*k, *(c for t in q.tallies for c in t.by))))
        for k, q in zip(known, questions, strict=True)
    ]


def _query_by_class(table: Table, columns: Sequence[str]) -> list[CountQuery]:
    """Each attribute by class; by itself where there is no target."""
    target = table.roles.target
    return [CountQuery((c,), target) if target else CountQuery((), c) for c in columns]


def _tabulate_by_class(grouped: EquivalenceClasses, domain: Domain) -> Ints:
    """Counts of values by class, one row per value."""
    if not grouped.by:
        counts = np.zeros((len(domain), 1), dtype=np.int64)
        counts[grouped.value, 0] = grouped.n
        return counts
    (codes,) = grouped.keys.columns()
    counts = np.zeros((len(domain), len(grouped.about)), dtype=np.int64)
    counts[codes[grouped.group], grouped.value] = grouped.n
    return counts


def _find_codes(question: TemplateQuery, domain: Domain) -> Sequence[int]:
    """The codes of the values a promise is about, as far as they occur."""
    if question.values is None:
        return range(len(domain))
    codes = (domain.code(v) for v in question.values)
    return [code for code in codes if code is not None]


Why = list[tuple[Promise, Ceiling]]


def _collect_templates(
    known: tuple[str, ...],
    questions: Sequence[TemplateQuery],
    domains: dict[str, Domain],
) -> dict[Template, Why]:
    """The templates of one QID, each with the promises that ask for it."""
    found: dict[Template, Why] = {}
    for q in questions:
        if known in [t.by for t in q.tallies]:
            for code in _find_codes(q, domains[q.column]):
                rule = Template(known, q.column, code)
                found.setdefault(rule, []).append((q.promise, q.limit))
    return found


def _build_cube(
    known: tuple[str, ...],
    why: dict[Template, Why],
    counted: Mapping[CountQuery, EquivalenceClasses],
    maskable: Sequence[str],
    meaning: Mapping[str, Ints],
) -> Cube:
    """The cube of one QID; its rows are the equivalence classes over its columns."""
    rules = list(why)
    first = counted[CountQuery(known, rules[0].column)]
    codes = [np.asarray(c, dtype=np.int64) for c in first.keys.columns()]
    codes = [
        meaning[c][k] if c in meaning else k for c, k in zip(known, codes, strict=True)
    ]
    sizes = [len(d) for d in first.by]
    inside = [i for i, c in enumerate(known) if c in maskable]
    outside = [i for i, c in enumerate(known) if c not in maskable]
    # Columns that stay as they are part the rows from the start: one number for all.
    fixed = packed([codes[i] for i in outside], [sizes[i] for i in outside], len(first))
    protected = [
        _count_holders(counted[CountQuery(known, rule.column)], rule.value)
        for rule in rules
    ]
    return Cube(
        [maskable.index(known[i]) for i in inside],
        [codes[i] for i in inside],
        fixed,
        first.total,
        np.stack(protected, axis=1),
        [[limit for _, limit in why[rule]] for rule in rules],
    )


def _count_holders(grouped: EquivalenceClasses, value: int) -> Ints:
    """People of each group with one value."""
    rows = np.flatnonzero(grouped.value == value)
    having = np.zeros(len(grouped), dtype=np.int64)
    having[grouped.group[rows]] = grouped.n[rows]
    return having
