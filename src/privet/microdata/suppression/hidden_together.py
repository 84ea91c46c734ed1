"""Values hidden together: a column that tells another hides what the other one hides.

Where `month` hides March, each `time_hour` in March is hidden, too: who knows a month
then sees no more of it than its own column shows. Hiding more merges groups, so that no
promise that held is broken by it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.microdata.dependence.told_columns import (
    select_narrowing,
    select_through,
)
from privet.microdata.recipe import Cut, Hide, Recipe
from privet.table import Table
from privet.values.arrays import Ints
from privet.values.contingency import Domain
from privet.values.dependencies import Rule, Rules

How = Hide | Cut
"""What is done to a column."""

Known = Sequence[tuple[frozenset[str], str]]
"""Sets of columns known with all that they tell, each with the column asked about."""

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of values that can be cut."""


@dataclass(frozen=True)
class Pairs:
    """Which values of two columns occur together, in the source."""

    told: Domain
    """The column that is told."""
    teller: Domain
    """The column that tells it."""
    x: Ints
    """Codes of the one …"""
    c: Ints
    """… with codes of the other."""


def hide_together(
    recipe: Recipe, table: Table, known: Known, fixed: Collection[str], run: Run
) -> Recipe:
    """A recipe that hides whatever tells what it hides; columns may be `fixed`."""
    rules = (table.rules or Rules()).told
    pairs: dict[Rule, Pairs] = {}
    while True:
        needed = [r for r in _list_needed(recipe, rules, known) if r.column not in r.by]
        single = [r for r in needed if len(r.by) == 1 and r.by[0] not in fixed]
        pairs |= _count_pairs(table, [r for r in single if r not in pairs], run)
        columns = dict(recipe.columns)
        for rule in single:
            (c,) = rule.by
            more = cover(columns[rule.column], columns.get(c), pairs[rule], recipe)
            if more is not None:
                columns[c] = more
        for rule in (r for r in needed if len(r.by) == 2):
            columns |= _hide_one_of_two(rule, columns, table, known, fixed, run)
        for shown in _list_narrowing(recipe, rules, known):
            columns |= _hide_one(shown - set(fixed), columns, table, run)
        if columns == recipe.columns:
            return recipe
        recipe = replace(recipe, columns=columns)


def _list_needed(recipe: Recipe, rules: Sequence[Rule], known: Known) -> Iterator[Rule]:
    """The rules that show what is hidden to somebody who knows its values."""
    told = [r for r in rules if r.column in recipe.columns]
    hidden = recipe.columns.keys()
    found = [select_through(told, k, about, hidden) for k, about in known]
    return iter(dict.fromkeys(r for several in found for r in several))


def _list_narrowing(
    recipe: Recipe, rules: Sequence[Rule], known: Known
) -> Iterator[frozenset[str]]:
    """Columns that together leave few values for what is hidden and known."""
    for columns, about in known:
        for r in select_narrowing(rules, columns, about, recipe.columns):
            yield frozenset((r.column, *r.by)) - columns


def _count_pairs(table: Table, rules: Iterable[Rule], run: Run) -> dict[Rule, Pairs]:
    """The values that occur together, for rules of one column each."""
    of = {CountQuery((r.column,), r.by[0]): r for r in rules}
    found: dict[Rule, Pairs] = {}
    for query, groups in table.count(list(of), run) if of else ():
        (x,) = groups.keys.columns()
        here = Pairs(
            groups.by[0],
            groups.about,
            x[groups.group].astype(np.int64),
            groups.value.astype(np.int64),
        )
        if (before := found.get(of[query])) is not None:
            x_, c_ = np.append(before.x, here.x), np.append(before.c, here.c)
            here = replace(here, x=x_, c=c_)
        found[of[query]] = here
    return found


def cover(how: How, now: How | None, pairs: Pairs, recipe: Recipe) -> How | None:
    """What must be done to a column that tells another one; None: nothing.

    Each text that stands for several values of the one must come with a single text of
    the other. Months cut after 6 cut days after 30 June; where no cut does that, the
    whole column is hidden.
    """
    if isinstance(how, Hide):
        texts = how.texts(pairs.told, recipe.marker)
        own = zip(texts, pairs.told.labels, strict=True)
        hidden = np.array([t != v for t, v in own], dtype=bool)
        codes = np.unique(pairs.c[hidden[pairs.x]])
        return _hide_values(codes, now, pairs.teller) if len(codes) else None
    cuts = _find_cuts(how, pairs, recipe)
    ordered = pairs.teller.kind in ORDERED and not isinstance(now, Hide)
    if not how.after or cuts is None or not ordered:
        return _hide_wholly(now, pairs.teller)
    if isinstance(now, Cut):
        return _agree(now, cuts, pairs.teller)
    return Cut(cuts, pairs.teller.kind)


def _hide_values(codes: Ints, now: How | None, domain: Domain) -> How | None:
    if isinstance(now, Cut):
        return _hide_wholly(now, domain)
    before = set() if now is None else set(now.hidden)
    if now is not None and now.shown is not None:
        before |= set(domain.labels) - set(now.shown)
    called = {} if now is None else now.called
    before -= set(called)
    hidden = before | {domain[int(code)] for code in codes}
    # A node with a value that must be hidden is hidden whole, so that groups merge.
    names = {called[v] for v in hidden if v in called}
    hidden |= {v for v, name in called.items() if name in names}
    if hidden == before:
        return None
    kept = tuple(v for v in domain.labels if v not in hidden and v not in called)
    left = {v: name for v, name in called.items() if v not in hidden}
    return Hide(tuple(v for v in domain.labels if v in hidden), kept, left)


def _hide_wholly(now: How | None, domain: Domain) -> How | None:
    """Nothing of the column is shown."""
    if isinstance(now, Cut):
        return Cut((), now.kind) if now.after else None
    if now is not None and now.shown == () and not now.called:
        return None
    return Hide(tuple(domain.labels), ())


def _find_cuts(how: Cut, pairs: Pairs, recipe: Recipe) -> tuple[str | None, ...] | None:
    """Where to cut the teller so that each interval of the told is one; None: nowhere.

    Intervals of the told by the teller's codes, 0 0 1 1 1 2: cut after the second and
    the fifth. 0 1 0 cannot be cut, nor can a value that occurs in two intervals.
    """
    texts = how.texts(pairs.told, recipe.marker)
    number = {t: i for i, t in enumerate(dict.fromkeys(texts))}
    interval = np.array([number[t] for t in texts])[pairs.x]
    order = np.argsort(pairs.c, kind="stable")
    c, part = pairs.c[order], interval[order]
    same = c[1:] == c[:-1]
    turns = np.flatnonzero(part[1:] != part[:-1])
    if same[turns].any() or len(turns) + 1 != len(set(part.tolist())):
        return None
    return tuple(pairs.teller[int(code)] for code in c[turns])


def _agree(now: Cut, cuts: tuple[str | None, ...], domain: Domain) -> Cut | None:
    """The cuts that are left where both are made; None: all of them."""
    allowed = {domain.code(v) for v in cuts}
    left = tuple(v for v in now.after if domain.code(v) in allowed)
    return None if left == now.after else Cut(left, now.kind)


def _hide_one_of_two(
    rule: Rule,
    columns: Mapping[str, How],
    table: Table,
    known: Known,
    fixed: Collection[str],
    run: Run,
) -> dict[str, How]:
    """Hide one of two columns that tell a third together; the one with fewer values.

    Rather one that nobody is taken to know: hiding what is known leaves it known.
    """
    mine = {
        c
        for c in rule.by
        if any(c in k for k, _ in known if rule.column in k and not set(rule.by) <= k)
    }
    return _hide_one({*rule.by} - {*fixed} - mine, columns, table, run)


def _hide_one(
    free: Collection[str], columns: Mapping[str, How], table: Table, run: Run
) -> dict[str, How]:
    """Hide the one of some columns that has fewest values, unless one is hidden."""
    if not free or any(_is_hidden_wholly(columns.get(c)) for c in free):
        return {}
    domains = table.domains(list(free), run)
    least = min(sorted(free), key=lambda c: len(domains[c]))
    more = _hide_wholly(columns.get(least), domains[least])
    return {} if more is None else {least: more}


def _is_hidden_wholly(how: How | None) -> bool:
    if isinstance(how, Cut):
        return not how.after
    return how is not None and how.shown == () and not how.called
