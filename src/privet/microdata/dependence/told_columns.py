"""Columns that undo hiding: what known columns tell, and what shown ones tell of them.

*Down*: whoever knows `time_hour` knows `month`, so that a promise is judged by all that
is told by what is known. *Up*: where `month` is hidden and known, a `time_hour` that is
shown tells it all the same, unless both are hidden together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import attrs
import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.languages import (
    join_words,
    say,
)
from privet.microdata.dependence.derived_columns import find_rules, list_published
from privet.microdata.written_columns import MARKER
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.dependencies import Rule, Rules
from privet.values.exact import fraction, percent

Columns = tuple[str, ...]
"""A set of columns, in the order of the table."""


def with_rules(
    table: Table, wanted: Collection[tuple[Columns, str]], run: Run
) -> Table:
    """The table with its rules, if it has columns besides those known and asked about.

    `wanted` are the sets of columns known, each with the column asked about.
    """
    if table.rules is not None:
        return table
    published = set(list_published(table))
    if not any(published - {*known, about} for known, about in wanted):
        return table
    known = dict.fromkeys(c for columns, _ in wanted for c in columns)
    rules = find_rules(table, list(known), run)
    return replace(table, rules=rules, coarse=_find_marked(table, rules, run))


def _find_marked(table: Table, rules: Rules, run: Run) -> Mapping[str, str | None]:
    """Columns of a file that hide values, by the marker that privet writes."""
    if is_coarse(table):
        return table.coarse
    used = dict.fromkeys(c for r in rules.told for c in (r.column, *r.by))
    domains = table.domains(list(used), run) if used else {}
    return {c: MARKER for c, d in domains.items() if d.code(MARKER) is not None}


def phrase_rule(told: Mapping[str, Any]) -> str:
    """What tells what, and by which counts, from a rule as machines read it.

    >>> phrase_rule({"column": "month", "by": ["day"], "exact": True, "checks": 90,
    ...              "misses": "0", "ratio": "0"})
    'month follows from day (0 of 90 checks fail)'
    """
    by = join_words(list(told["by"]))
    follows = say("{column} follows from {by}", column=told["column"], by=by)
    if "checks" not in told:
        return follows
    misses = float(fraction(told["misses"]))
    checks = {"misses": f"{misses:,.0f}", "checks": f"{told['checks']:,}"}
    failed = say("{misses} of {checks} checks fail", **checks)
    if misses and told["ratio"] is not None:
        share = percent(fraction(told["ratio"]))
        often = say("{share} of what chance would give", share=share)
        failed = f"{failed}, {often}"
    return f"{follows} ({failed})"


# Down -------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownSets:
    """The sets of columns that a promise is judged by."""

    exact: tuple[Columns, ...]
    """What is known, with what it tells in every row."""
    bounds: tuple[Columns, ...] = ()
    """With what is told nearly always, or shows through: these bound a belief."""
    rules: tuple[Rule, ...] = ()
    """The rules that were used."""
    through: tuple[Rule, ...] = ()
    """Rules by which what is shown tells what is hidden and known."""


@dataclass(frozen=True)
class UndoneRules:
    """Rules by which a release shows what it hides."""

    through: Sequence[Rule] = ()
    """What is shown tells what is hidden."""
    narrowed: Sequence[Rule] = ()
    """What is shown leaves few values for what is hidden."""


def find_undone(table: Table, run: Run) -> UndoneRules:
    """The rules of a table by which it shows what it hides."""
    return UndoneRules(find_through(table, run), find_narrowing(table, run))


def close_sets(
    table: Table,
    sets: Iterable[Columns],
    about: str,
    undone: UndoneRules | None = None,
) -> KnownSets:
    """Sets of known columns with all that they tell; each once.

    Nothing is added in a table that hides nothing for what is told in every row: who
    agrees in what is known agrees in that, too.
    """
    hidden = undone or UndoneRules()
    rules = table.rules or Rules()
    exact: dict[Columns, None] = {}
    bounds: dict[Columns, None] = {}
    used: dict[Rule, None] = {}
    shown: dict[Rule, None] = {}
    for known in sets:
        sure = rules.close(known, about, exact=True)
        wide = rules.close(known, about)
        if table.roles.unit:
            exact[sort_columns(table, known)] = None
        exact[sort_columns(table, sure if is_coarse(table) else known)] = None
        seen, used_up = wide, list[Rule]()
        while more := [
            *select_through(hidden.through, seen, about, table.coarse),
            *select_narrowing(hidden.narrowed, seen, about, table.coarse),
        ]:
            used_up += more
            told = {c for r in more for c in (*r.by, r.column)}
            seen = rules.close(seen | told, about)
        if seen != sure:
            bounds[sort_columns(table, seen)] = None
        used |= dict.fromkeys(rules.list_used(known, wide))
        shown |= dict.fromkeys(used_up)
    left = tuple(b for b in bounds if b not in exact)
    return KnownSets(tuple(exact), left, tuple(used), tuple(shown))


def close_for_hiding(
    table: Table, sets: Iterable[Columns], about: str, fixed: Collection[str]
) -> KnownSets:
    """Sets of known columns as a search must judge them: with all that is told.

    A column that cannot be hidden, and tells a known one, is taken as known: whatever
    is hidden would show through it.
    """
    rules = table.rules or Rules()
    found: dict[Columns, None] = {}
    for known in sets:
        closed = rules.close(known, about)
        while more := (
            _find_unhidable(rules.told, closed, about, fixed)
            or _find_narrowing(rules.told, closed, about, fixed)
        ):
            closed = rules.close(closed | more, about)
        found[sort_columns(table, closed)] = None
    return KnownSets(tuple(found))


def _find_unhidable(
    rules: Sequence[Rule], known: Collection[str], about: str, fixed: Collection[str]
) -> set[str]:
    """Columns that must stay as they are and tell what is known, or what tells it."""
    wanted, size = set(known), -1
    while size != len(wanted):
        size = len(wanted)
        for r in rules:
            rest = set(r.by) - set(known)
            if r.column in wanted - set(fixed) and rest and about not in r.by:
                if rest <= set(fixed):
                    return rest
                wanted |= rest - set(fixed)
    return set()


def _find_narrowing(
    rules: Sequence[Rule], known: Collection[str], about: str, fixed: Collection[str]
) -> set[str]:
    """The same for rules used backwards: what must stay narrows what is known."""
    for r in select_narrowing(rules, known, about, set(known) - set(fixed)):
        rest = {*r.by, r.column} - set(known)
        if rest <= set(fixed):
            return rest
    return set()


def sort_columns(table: Table, columns: Collection[str]) -> Columns:
    """Columns in the order of the table, without those it does not have."""
    return tuple(c for c in table.schema.names if c in columns)


def is_coarse(table: Table) -> bool:
    """Whether some column does not show each value as it is."""
    return bool(table.coarse or table.relabels or table.shown)


# Up ---------------------------------------------------------------------------------


def select_through(
    rules: Sequence[Rule], known: Collection[str], about: str, coarse: Collection[str]
) -> list[Rule]:
    """Rules by which shown columns tell what is known and hidden, through any number.

    What is hidden together with something may be told by a third column in turn.
    """
    wanted = set(known)
    found: list[Rule] = []
    while True:
        new = [
            r
            for r in rules
            if r.column in wanted
            and r not in found
            and about not in (r.column, *r.by)
            and not set(r.by) <= set(known)
        ]
        if not new:
            return found
        found += new
        wanted |= {c for r in new for c in r.by if c in coarse}


def select_narrowing(
    rules: Sequence[Rule], known: Collection[str], about: str, coarse: Collection[str]
) -> list[Rule]:
    """Rules of two columns, one of them hidden and known, used backwards.

    If job and place tell the union, job and union are shown and places hidden: whoever
    knows a person's place leaves out all rows whose job has another union there.
    """
    return [
        r
        for r in rules
        if len(r.by) == 2
        and about not in (r.column, *r.by)
        and any(c in known and c in coarse for c in r.by)
        and not {r.column, *r.by} <= set(known)
    ]


def find_narrowing(table: Table, run: Run) -> list[Rule]:
    """Rules of two columns, one hidden in part, whose other columns are shown."""
    rules, names = table.rules or Rules(), set(table.schema.names)
    pairs = [
        r for r in rules.told if len(r.by) == 2 and names.issuperset((r.column, *r.by))
    ]
    columns = list(dict.fromkeys(c for r in pairs for c in (r.column, *r.by)))
    domains = table.domains(columns, run) if columns else {}
    coarse = {c for c in columns if find_coarse_codes(table, domains[c])}
    return [
        r
        for r in pairs
        if any(
            c in coarse
            and all(len(domains[o]) > 1 for o in (r.column, *r.by) if o != c)
            for c in r.by
        )
    ]


def find_through(table: Table, run: Run) -> list[Rule]:
    """Rules whose column is hidden in part while what tells it is not with it."""
    rules = table.rules or Rules()
    names = set(table.schema.names)
    at_hand = [r for r in rules.told if names.issuperset((r.column, *r.by))]
    if not at_hand:
        return []
    columns = dict.fromkeys(c for r in at_hand for c in (r.column, *r.by))
    domains = table.domains(list(columns), run)
    coarse = {c: find_coarse_codes(table, domains[c]) for c in columns}
    open_ = [r for r in at_hand if len(coarse[r.column])]
    single = [r for r in open_ if len(r.by) == 1]
    # Of two columns one must be hidden wholly: then they tell what the other one does.
    both = [
        r for r in open_ if len(r.by) == 2 and all(len(domains[c]) > 1 for c in r.by)
    ]
    apart = set(_find_apart(table, single, coarse, run))
    return [r for r in single if (r.by[0], r.column) in apart] + both


def find_coarse_codes(table: Table, domain: Domain) -> frozenset[int]:
    """The codes of a column that stand for several values."""
    if domain.name in table.coarse:
        text = table.coarse[domain.name]
        code = None if text is None else domain.code(text)
        if text is None:
            return frozenset(range(len(domain)))
        return frozenset() if code is None else frozenset([code])
    if domain.name in table.relabels:
        often = Counter(table.relabels[domain.name].texts)
        several = [text for text, times in often.items() if times > 1]
        codes = (domain.code(t) for t in several)
        return frozenset(c for c in codes if c is not None)
    return frozenset()


def _find_apart(
    table: Table,
    rules: Sequence[Rule],
    coarse: Mapping[str, frozenset[int]],
    run: Run,
) -> Iterator[tuple[str, str]]:
    """What tells a column whose hidden values it does not show alike."""
    queries = dict.fromkeys(CountQuery((r.column,), r.by[0]) for r in rules)
    if not queries:
        return
    plain = attrs.evolve(table.roles, unit=None, weight=None)
    rows = replace(table.with_roles(plain), onlooker=None)
    for query, groups in rows.count(list(queries), run):
        (code,) = groups.keys.columns()
        hidden = np.isin(code, list(coarse[query.by[0]]))
        # One text for all rows that hide the value, and nothing is told of it.
        if (np.diff(groups.start)[hidden] > 1).any():
            yield query.about, query.by[0]
