"""From promises and a table to cubes: what top-down disclosure works on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from privet.audits.confidence import Question, ask
from privet.beliefs import Ceiling
from privet.counts import Domain, packed
from privet.engines.base import Run, Tally
from privet.grouped import Grouped
from privet.policy import Promise
from privet.publishers.cubes import Cube
from privet.publishers.disclose import Attribute
from privet.publishers.loops import Ints
from privet.table import Table


@dataclass(frozen=True)
class Rule:
    """One value that must not be inferred from one set of columns."""

    qid: tuple[str, ...]
    """The columns known."""
    column: str
    """The column of the value."""
    value: int
    """The value's code."""


@dataclass(frozen=True)
class Setting:
    """A table made ready for disclosure."""

    attributes: tuple[Attribute, ...]
    """The columns that may be hidden, in the order of their first appearance."""
    cubes: tuple[Cube, ...]
    """One per set of columns known."""
    rules: tuple[tuple[Rule, ...], ...]
    """The rules of each cube."""
    promises: tuple[tuple[tuple[Promise, ...], ...], ...]
    """The promises behind each rule of each cube."""
    domains: dict[str, Domain]
    """The values of every column involved."""
    everybody: int
    """How many rows there are."""


def prepare(
    table: Table,
    promises: Sequence[Promise],
    *,
    keep: Sequence[str],
    ordered: Callable[[str, Domain], bool],
    run: Run,
) -> Setting:
    """Count what is needed: each set of columns once, each attribute by class."""
    asked = [ask(promise, table) for promise in promises]
    about = list(dict.fromkeys(q.column for q in asked))
    protected = table.domains(about, run)
    # A promise about values that never occur is kept, whatever is shown.
    questions = [q for q in asked if _values(q, protected[q.column])]
    sets = list(dict.fromkeys(t.by for q in questions for t in q.tallies))
    named = list(dict.fromkeys(c for s in _as_promised(questions) for c in s))
    fixed = {*keep, *table.roles.sensitive, table.roles.target}
    maskable = [c for c in named if c not in fixed]
    domains = {**protected, **table.domains(named, run)}
    tallies = list(dict.fromkeys(t for q in questions for t in q.tallies))
    counted = _count(table, [*tallies, *_by_class(table, maskable)], run)
    attributes = tuple(
        Attribute(
            domains[c],
            _classes(counted[t], domains[c]),
            ordered=ordered(c, domains[c]),
        )
        for c, t in zip(maskable, _by_class(table, maskable), strict=True)
    )
    rules = [_rules(s, questions, domains) for s in sets]
    cubes = tuple(
        _cube(s, list(own), own, counted, maskable)
        for s, own in zip(sets, rules, strict=True)
    )
    return Setting(
        attributes,
        cubes,
        tuple(tuple(own) for own in rules),
        tuple(tuple(tuple(p for p, _ in why) for why in own.values()) for own in rules),
        domains,
        table.engine.rows(run),
    )


def _as_promised(questions: Sequence[Question]) -> list[tuple[str, ...]]:
    """The columns known, in the order the promises name them."""
    known = [getattr(q.promise.against, "knows", None) for q in questions]
    return [
        tuple(k) if k else tuple(c for t in q.tallies for c in t.by)
        for k, q in zip(known, questions, strict=True)
    ]


def _count(table: Table, tallies: Sequence[Tally], run: Run) -> dict[Tally, Grouped]:
    parts: dict[Tally, list[Grouped]] = {}
    for tally, batch in table.count(tallies, run):
        parts.setdefault(tally, []).append(batch)
    return {tally: reduce(add, batches) for tally, batches in parts.items()}


def _by_class(table: Table, columns: Sequence[str]) -> list[Tally]:
    """Each attribute by class; by itself where there is no target."""
    target = table.roles.target
    return [Tally((c,), target) if target else Tally((), c) for c in columns]


def _classes(grouped: Grouped, domain: Domain) -> Ints:
    """Counts of values by class, one row per value."""
    if not grouped.by:
        counts = np.zeros((len(domain), 1), dtype=np.int64)
        counts[grouped.value, 0] = grouped.n
        return counts
    (codes,) = grouped.keys.columns()
    counts = np.zeros((len(domain), len(grouped.about)), dtype=np.int64)
    counts[codes[grouped.group], grouped.value] = grouped.n
    return counts


def _values(question: Question, domain: Domain) -> Sequence[int]:
    """The codes of the values a promise is about, as far as they occur."""
    if question.values is None:
        return range(len(domain))
    codes = (domain.code(v) for v in question.values)
    return [code for code in codes if code is not None]


Why = list[tuple[Promise, Ceiling]]


def _rules(
    known: tuple[str, ...], questions: Sequence[Question], domains: dict[str, Domain]
) -> dict[Rule, Why]:
    """The rules of one set of columns, each with the promises that ask for it."""
    found: dict[Rule, Why] = {}
    for q in questions:
        if known in [t.by for t in q.tallies]:
            for code in _values(q, domains[q.column]):
                rule = Rule(known, q.column, code)
                found.setdefault(rule, []).append((q.promise, q.limit))
    return found


def _cube(
    known: tuple[str, ...],
    rules: Sequence[Rule],
    why: dict[Rule, Why],
    counted: dict[Tally, Grouped],
    maskable: Sequence[str],
) -> Cube:
    """The cube of one set of columns; its rows are the groups over all of them."""
    first = counted[Tally(known, rules[0].column)]
    codes = [np.asarray(c, dtype=np.int64) for c in first.keys.columns()]
    sizes = [len(d) for d in first.by]
    inside = [i for i, c in enumerate(known) if c in maskable]
    outside = [i for i, c in enumerate(known) if c not in maskable]
    fixed = packed([codes[i] for i in outside], [sizes[i] for i in outside], len(first))
    protected = [
        _having(counted[Tally(known, rule.column)], rule.value) for rule in rules
    ]
    return Cube(
        [maskable.index(known[i]) for i in inside],
        [codes[i] for i in inside],
        fixed,
        first.total,
        np.stack(protected, axis=1),
        [[limit for _, limit in why[rule]] for rule in rules],
    )


def _having(grouped: Grouped, value: int) -> Ints:
    """People of each group with one value."""
    rows = np.flatnonzero(grouped.value == value)
    having = np.zeros(len(grouped), dtype=np.int64)
    having[grouped.group[rows]] = grouped.n[rows]
    return having
