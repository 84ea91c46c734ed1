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

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from typing import NamedTuple

import numpy as np

from privet.engine.duckdb.session import SHARE
from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import InputError, TooLarge
from privet.microdata.generalisation.distinct_rows import find_byte_limit
from privet.microdata.linkage import TemplateQuery, query_templates
from privet.microdata.list_columns import list_members, read_sets
from privet.microdata.suppression.cubes.count_cube import Cube
from privet.microdata.suppression.cubes.protected_counts import ProtectedPeople
from privet.microdata.suppression.cubes.scored_cube import ScoredCube
from privet.microdata.suppression.cubes.sparse_cube import SparseCube
from privet.microdata.suppression.cubes.window_cube import WindowCube
from privet.microdata.suppression.kernels import concatenate_ranges
from privet.microdata.suppression.leading_rules import (
    LookAlikes,
    Stated,
    find_least_size,
    query_classes,
    read_companions,
    read_rule,
)
from privet.microdata.suppression.sweeps import SweptCube, SweptWindows
from privet.microdata.suppression.taxonomy import Taxonomy
from privet.microdata.suppression.top_down_disclosure import SuppressedAttribute
from privet.policy import Promise
from privet.table import Table
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain, packed
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Windows, Within

AnyCube = Cube | SweptCube
"""A cube for moves one by one, or for sweeps."""

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
    cubes: Mapping[str, Sequence[SweptCube]], domains: Mapping[str, Domain]
) -> dict[str, Flags]:
    """The values of each column that break a promise when they are shown first."""
    found = {}
    for column, own in cubes.items():
        values = len(domains[column])
        flags = np.zeros(values, dtype=bool)
        for cube in own:
            flags |= cube.look_at_values(0, np.arange(values), values).broken
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
    value: int | Within | tuple[int, ...]
    """The code of the sensitive value, the paper's π; or how wide windows are; or the
    codes of all values of a promise, which is one rule then."""


@dataclass(frozen=True)
class DisclosureProblem:
    """A table made ready for disclosure."""

    attributes: tuple[SuppressedAttribute, ...]
    """The columns that may be hidden, in the order of their first appearance."""
    cubes: tuple[AnyCube, ...]
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
    by_promise: bool = False,
    taxonomy: Callable[[Domain], Taxonomy | None] | None = None,
    beside: Sequence[Stated] = (),
) -> DisclosureProblem:
    """Count what is needed: each set of columns once, each attribute by class.

    `withheld` says which values of a column, or cuts after them, stay out of question;
    `by_promise`, whether a promise about many values is one rule, as sweeps take it;
    `taxonomy`, which nodes stand above a column's values; `beside`, what else is to be
    kept: as far as sweeps are made, and it may lead them.
    """
    fixed = list_fixed(table, keep)
    asked = [query_templates(promise, table, hiding=fixed) for promise in promises]
    about = list(dict.fromkeys(q.column for q in asked))
    soon = [t for q in asked for t in q.tallies]
    protected, holders = _find_members(table, table.domains(about, run, before=soon))
    # A promise about values that never occur is kept, whatever is shown.
    questions = [q for q in asked if _find_codes(q, protected[q.column])]
    sets = list(dict.fromkeys(t.by for q in questions for t in q.tallies))
    led = LedBeside.of(table, beside if by_promise else (), fixed, run)
    known = [*_list_known_columns(questions), *led.known]
    named = list(dict.fromkeys(c for s in known for c in s))
    maskable = [c for c in named if c not in fixed]
    domains = table.domains(named, run)
    wanted = [t for q in questions for t in q.tallies]
    tallies = list(dict.fromkeys(wanted + led.queries))
    collect = _collect_promises if by_promise else _collect_templates
    rules = {s: collect(s, questions, protected) for s in sets}
    builder = CubeBuilder(questions, protected, holders)
    never = {}
    nodes = {c: taxonomy(domains[c]) if taxonomy else None for c in maskable}
    _refuse_windows(nodes, questions)
    if withheld is None:
        asked_for = {s: _collect_promises(s, questions, protected) for s in sets}

        def stays(c: str, domain: Domain) -> bool:
            # What is never shown is merged, but not across the nodes of a hierarchy.
            return ordered(c, domain) or nodes[c] is not None

        never = _screen_values(table, asked_for, maskable, domains, stays, builder, run)
    by_class = _query_by_class(table, maskable)
    counted, meaning = _count_merged(table, tallies, by_class, never, run)
    attributes = tuple(
        SuppressedAttribute(
            domains[c],
            _tabulate_by_class(counted[t], domains[c]),
            ordered=ordered(c, domains[c]),
            never=never.get(c) if withheld is None else withheld(domains[c]),
            taxonomy=nodes[c],
        )
        for c, t in zip(maskable, by_class, strict=True)
    )
    built = [
        each
        for s in sets
        for each in builder.build(
            s, rules[s], counted, maskable, meaning, swept=by_promise
        )
    ]
    built += [(cube, {}) for cube in led.build(table, counted, maskable, meaning)]
    return DisclosureProblem(
        attributes,
        tuple(cube for cube, _ in built),
        tuple(tuple(why) for _, why in built),
        tuple(tuple(tuple(p for p, _ in w) for w in why.values()) for _, why in built),
        domains,
        table.engine.rows(run),
    )


def _refuse_windows(
    nodes: Mapping[str, Taxonomy | None], questions: Sequence[TemplateQuery]
) -> None:
    """Windows are counted for single values, not for nodes."""
    if any(nodes.values()) and any(isinstance(q.values, Within) for q in questions):
        raise InputError(
            "hierarchies must be left out where a promise is about a number within a "
            "window."
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
    builder: CubeBuilder,
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
    cubes: dict[str, list[SweptCube]] = {}
    for (s, c), by in alone.items():
        for cube, _ in builder.build(by, rules[s], counted, [c], {}, swept=True):
            assert isinstance(cube, SweptCube)
            cubes.setdefault(c, []).append(cube)
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


@dataclass(frozen=True)
class LedBeside:
    """What leads the search beside promises against linkers, by what is counted."""

    least: int
    """How many people must look alike."""
    alike: LookAlikes | None
    """Who does; None: enough people do."""
    classes: Mapping[CountQuery, Sequence[Stated]]
    """Classes, and what looks at each of them by itself."""

    @classmethod
    def of(
        cls,
        table: Table,
        beside: Sequence[Stated],
        fixed: Collection[str],
        run: Run,
    ) -> LedBeside:
        """What of all that is asked beside may lead."""
        least = find_least_size(beside)
        alike = _find_alike(table, least, fixed, run)
        return cls(least, alike, query_classes(table, beside, fixed))

    @property
    def queries(self) -> list[CountQuery]:
        """What is to be counted."""
        alike = [self.alike.query] if self.alike else []
        return [*alike, *self.classes]

    @property
    def known(self) -> list[tuple[str, ...]]:
        """What makes classes."""
        alike = [self.alike.known] if self.alike else []
        return alike + [query.by for query in self.classes]

    def build(
        self,
        table: Table,
        counted: Mapping[CountQuery, EquivalenceClasses],
        maskable: Sequence[str],
        meaning: Mapping[str, Ints],
    ) -> Iterator[SparseCube]:
        """A cube for each of these that the table as it is does not keep."""
        if self.alike:
            grouped = self.alike.group(counted[self.alike.query])
            axes = _Axes.of(self.alike.known, grouped, maskable, meaning)
            yield _build_size_cube(axes, grouped, self.least)
        for query, own in self.classes.items():
            grouped = counted[query]
            rules = [read_rule(each, table, grouped.about) for each in own]
            people = int(grouped.total.sum())
            asked = [read_companions(e, table, grouped.about, people) for e in own]
            both = rules, [each for each in asked if each is not None]
            if ScoredCube.is_needed(grouped, *both):
                axes = _Axes.of(query.by, grouped, maskable, meaning)
                yield ScoredCube(*axes, grouped, *both)


def _find_alike(
    table: Table, least: int, fixed: Collection[str], run: Run
) -> LookAlikes | None:
    """Who looks alike; None: enough people do as it is, and then whatever is hidden."""
    found = LookAlikes.of(table, fixed) if least > 1 else None
    if found is None:
        return None
    people = found.group(count_all(table, [found.query], run)[found.query]).total
    return found if len(people) and people.min() < least else None


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


def _find_codes(
    question: TemplateQuery, domain: Domain
) -> Sequence[int] | Sequence[Within]:
    """The codes of the values a promise is about, as far as they occur; windows."""
    if question.values is None:
        return range(len(domain))
    if isinstance(question.values, Within):
        return [question.values]
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


def _collect_promises(
    known: tuple[str, ...],
    questions: Sequence[TemplateQuery],
    domains: dict[str, Domain],
) -> dict[Template, Why]:
    """The same with one rule for all values of a promise."""
    found: dict[Template, Why] = {}
    for q in questions:
        if known in [t.by for t in q.tallies]:
            codes = _find_codes(q, domains[q.column])
            window = isinstance(q.values, Within)
            value = q.values if isinstance(q.values, Within) else tuple(codes)
            assert window or codes
            rule = Template(known, q.column, value)  # type: ignore[arg-type]
            found.setdefault(rule, []).append((q.promise, q.limit))
    return found


class CubeBuilder:
    """Cubes of one QID: one for all values that are asked about, one per window."""

    def __init__(
        self,
        questions: Sequence[TemplateQuery],
        domains: Mapping[str, Domain],
        holders: Holders,
    ) -> None:
        self._holders = holders
        self._windows = {
            (q.column, q.values): Windows.of(domains[q.column], q.values)
            for q in questions
            if isinstance(q.values, Within)
        }

    def build(
        self,
        known: tuple[str, ...],
        why: dict[Template, Why],
        counted: Mapping[CountQuery, EquivalenceClasses],
        maskable: Sequence[str],
        meaning: Mapping[str, Ints],
        *,
        swept: bool,
    ) -> list[tuple[AnyCube, dict[Template, Why]]]:
        """The cubes of a QID, each with its templates."""
        values = {r: w for r, w in why.items() if not isinstance(r.value, Within)}
        found: list[tuple[AnyCube, dict[Template, Why]]] = []
        if values:
            first = counted[CountQuery(known, next(iter(values)).column)]
            axes = _Axes.of(known, first, maskable, meaning)
            build = _build_sparse_cube if swept else _build_cube
            found.append((build(known, axes, values, counted, self._holders), values))
        for rule, asked in why.items():
            if isinstance(rule.value, Within):
                grouped = counted[CountQuery(known, rule.column)]
                axes = _Axes.of(known, grouped, maskable, meaning)
                windows = self._windows[rule.column, rule.value]
                limits = [limit for _, limit in asked]
                cube = _build_window_cube(axes, grouped, windows, limits)
                found.append((SweptWindows(cube) if swept else cube, {rule: asked}))
        return found


class _Axes(NamedTuple):
    """The columns of a QID, code by code: those that may be hidden, and the rest."""

    attributes: list[int]
    codes: list[Ints]
    fixed: Ints
    """Columns that stay as they are part the rows from the start: one number for all.
    """

    @classmethod
    def of(
        cls,
        known: tuple[str, ...],
        first: EquivalenceClasses,
        maskable: Sequence[str],
        meaning: Mapping[str, Ints],
    ) -> _Axes:
        codes = [np.asarray(c, dtype=np.int64) for c in first.keys.columns()]
        codes = [
            meaning[c][k] if c in meaning else k
            for c, k in zip(known, codes, strict=True)
        ]
        sizes = [len(d) for d in first.by]
        inside = [i for i, c in enumerate(known) if c in maskable]
        outside = [i for i, c in enumerate(known) if c not in maskable]
        fixed = packed(
            [codes[i] for i in outside], [sizes[i] for i in outside], len(first)
        )
        return cls(
            [maskable.index(known[i]) for i in inside],
            [codes[i] for i in inside],
            fixed,
        )


def _build_cube(
    known: tuple[str, ...],
    axes: _Axes,
    why: dict[Template, Why],
    counted: Mapping[CountQuery, EquivalenceClasses],
    holders: Holders,
) -> Cube:
    """The cube of one QID; its rows are the equivalence classes over its columns."""
    rules = list(why)
    protected = []
    for rule in rules:
        assert isinstance(rule.value, int)
        grouped = counted[CountQuery(known, rule.column)]
        lists = holders.get(rule.column)
        held = rule.value if lists is None else lists[rule.value]
        protected.append(_count_holders(grouped, held))
    return Cube(
        axes.attributes,
        axes.codes,
        axes.fixed,
        counted[CountQuery(known, rules[0].column)].total,
        np.stack(protected, axis=1),
        [[limit for _, limit in why[rule]] for rule in rules],
    )


def _build_sparse_cube(
    known: tuple[str, ...],
    axes: _Axes,
    why: dict[Template, Why],
    counted: Mapping[CountQuery, EquivalenceClasses],
    holders: Holders,
) -> SparseCube:
    """The same cube for sweeps: one rule per promise, people in sparse rows."""
    protected = []
    for rule in why:
        assert isinstance(rule.value, tuple)
        grouped = counted[CountQuery(known, rule.column)]
        protected.append(_list_protected(grouped, rule.value, holders.get(rule.column)))
    return SparseCube(
        axes.attributes,
        axes.codes,
        axes.fixed,
        counted[CountQuery(known, next(iter(why)).column)].total,
        protected,
        [[limit for _, limit in asked] for asked in why.values()],
    )


def _build_size_cube(
    axes: _Axes, grouped: EquivalenceClasses, least: int
) -> SparseCube:
    """A cube in which nobody may be picked out of fewer than so many people.

    Each combination has one person with a value that nobody else has: of a group of n
    people one can be 1/n sure who that is, and 1/least at most.
    """
    each = np.arange(len(grouped))
    somebody = ProtectedPeople(each, each, np.ones_like(each), len(each))
    return SparseCube(*axes, grouped.total, [somebody], [[Ceiling(f"1/{least}")]])


def _list_protected(
    grouped: EquivalenceClasses, codes: Sequence[int], lists: Sequence[Ints] | None
) -> ProtectedPeople:
    """The rows of groups with protected values; of lists, one per member."""
    if lists is None:
        at, number = np.array(codes, dtype=np.int64), np.arange(len(codes))
    else:
        at = np.concatenate([lists[c] for c in codes])
        number = np.repeat(np.arange(len(codes)), [len(lists[c]) for c in codes])
    # Per value of the column: which numbers it has, one after the other.
    order = np.argsort(at, kind="stable")
    start = np.searchsorted(at[order], np.arange(len(grouped.about) + 1))
    value = np.asarray(grouped.value, dtype=np.int64)
    several = np.where(grouped.n > 0, np.diff(start)[value], 0)
    row = np.repeat(np.arange(len(value)), several)
    own = concatenate_ranges(start[value], start[value] + several)
    return ProtectedPeople(
        grouped.group[row].astype(np.int64),
        number[order[own]],
        grouped.n[row],
        len(codes),
    )


def _build_window_cube(
    axes: _Axes,
    grouped: EquivalenceClasses,
    windows: Windows,
    limits: Sequence[Ceiling],
) -> WindowCube:
    """The cube for windows; its rows are the numbers of each equivalence class."""
    group = grouped.group
    # Each class counts once, with its first number.
    people = np.zeros(len(group), dtype=np.int64)
    people[grouped.start[:-1]] = grouped.total
    return WindowCube(
        axes.attributes,
        [c[group] for c in axes.codes],
        axes.fixed[group],
        people,
        windows.place[grouped.value],
        grouped.n,
        windows,
        limits,
    )


def _count_holders(grouped: EquivalenceClasses, value: int | Ints) -> Ints:
    """People of each group with one value, or with one of several lists."""
    rows = np.flatnonzero(np.isin(grouped.value, value))
    having = np.zeros(len(grouped), dtype=np.int64)
    np.add.at(having, grouped.group[rows], grouped.n[rows])
    return having


Holders = Mapping[str, Sequence[Ints]]
"""Of each column of lists, the codes of the lists that hold each member."""


def _find_members(
    table: Table, domains: Mapping[str, Domain]
) -> tuple[dict[str, Domain], Holders]:
    """What may be believed of each column: its values, or the members of its lists."""
    found, holders = dict(domains), dict[str, Sequence[Ints]]()
    for column, domain in domains.items():
        sets = read_sets(table, domain)
        if sets is not None:
            found[column] = inside = list_members(domain, sets)
            codes: list[list[int]] = [[] for _ in range(len(inside))]
            for code, own in enumerate(sets):
                for member in own:
                    codes[inside.code(member)].append(code)  # type: ignore[index]
            holders[column] = [np.array(c, dtype=np.int64) for c in codes]
    return found, holders
