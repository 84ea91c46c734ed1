"""Columns of a table that tell others: which rules an attacker may use.

Rows are counted, whatever the weight or the unit: a rule is about values, not about
people. Of a table that is not large all pairs of columns are counted from its rows; of
a large one, some rows drawn by hash say which pairs are surely nothing, and all others
are counted exactly. Two columns together are looked at only where neither of them tells
the third alone, and where a known column is concerned. A value that a file hides says
nothing: rows with the marker are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from itertools import combinations
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.pairs import Cells, DrawnRows
from privet.engine.protocol import CountQuery, Run
from privet.errors import TooLarge
from privet.microdata.written_columns import MARKER
from privet.policy.acceptance import DerivedColumn
from privet.table import Table, require_columns
from privet.values.contingency import Domain
from privet.values.dependencies import (
    Dependency,
    Evidence,
    Ints,
    QuickLook,
    Rule,
    Rules,
    close_known,
    look_quickly,
    measure_dependency,
    measure_ordered,
)

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of values that have an order beyond the alphabet."""
NEARLY_DISTINCT = 20
"""Where all but a twentieth of the rows differ, adjacent rows are compared."""
LEAST_PART_ROWS = 20
"""Fewer rows may repeat a part of a time by accident."""
MOST_PAIRS = 5_000
"""Sets of three columns that are counted at the most."""
MOST_DRAWN, LEAST_DRAWN = 50_000, 10_000
"""Rows of a large table that are looked at first; fewer than the latter say nothing."""
MOST_COLUMNS = 60
"""Columns that are looked at together; known ones first."""
MOST_EXACT = 100
"""Sets of three columns of a large table that are counted exactly, once drawn rows say
that two of them may tell the third; the likeliest first."""
FIRST_ROWS = 5_000
"""Rows that say first whether two columns surely tell nothing of a third."""
FIRST_CELLS = 64
"""Combinations that are tried first: hardly any column repeats a part of another."""

Told = set[tuple[str, str]]
"""Which single column tells which other."""


# Rules ------------------------------------------------------------------------------


def list_published(table: Table) -> list[str]:
    """Columns that a release shows and that may tell others: all but weights."""
    roles = table.roles
    left_out = {*roles.withheld, roles.unit, roles.weight}
    return [c for c in table.schema.names if c not in left_out]


def find_rules(table: Table, known: Collection[str], run: Run | None = None) -> Rules:
    """What the columns of a table tell of each other, once, from its own values.

    What is found, derived or perhaps, and what the policy states, without what it
    denies for a reason. `known` are the columns that somebody is taken to know.
    """
    run, source = run or Run(), _find_source_rows(table)
    published = list_published(table)
    stated = [d for d in table.derived if {*d.by, d.column} <= set(published)]
    first = {*known, *(c for d in stated for c in (*d.by, d.column))}
    order = sorted(published, key=lambda c: c not in first)[:MOST_COLUMNS]
    columns = [c for c in published if c in order]
    drawn = source.engine.sample_rows(columns, source.recodings, MOST_DRAWN, run)
    look = _Look(source, drawn, [c for c in columns if len(drawn.domains[c]) > 1], run)
    single = list(look.measure_single())
    told = {(d.by[0], d.column) for d in single if d.is_told}
    reach = close_known(known, [((a,), b) for a, b in told], "")
    sets = list(look.list_sets(told, reach))
    few = len(sets) <= MOST_PAIRS
    both = list(look.measure_sets(sets)) if few else []
    found = {(d.by, d.column): d for d in (*single, *both)}
    return Rules(
        tuple(_combine_rules(found, stated, look)),
        tuple(d for d in single if d.evidence is Evidence.TOO_FEW),
        tuple((d.by, d.column, d.denied) for d in stated if d.denied),
        pairs=few and len(columns) == len(published),
    )


def _find_source_rows(table: Table) -> Table:
    """The rows as the source has them: nothing hidden, each row once."""
    rows = attrs.evolve(table.roles, unit=None, weight=None)
    return replace(table.with_roles(rows), relabels={}, onlooker=None)


def _combine_rules(
    found: dict[tuple[tuple[str, ...], str], Dependency],
    stated: Sequence[DerivedColumn],
    look: _Look,
) -> Iterator[Rule]:
    """Found or stated, without what is denied; each once."""
    denied = {(frozenset(d.by), d.column) for d in stated if d.denied}
    said = {(frozenset(d.by), d.column): d for d in stated if not d.denied}
    for (by, column), counts in found.items():
        key = frozenset(by), column
        if key in said or (counts.is_told and key not in denied):
            yield Rule(
                by, column, counts.exact, said.pop(key, None) is not None, counts
            )
    for rule in said.values():
        counts = look.measure_stated(rule.by, rule.column)
        yield Rule(rule.by, rule.column, counts.exact, True, counts)


class _Look:
    """Looks at some columns of one table; those of one value are left out."""

    def __init__(
        self, table: Table, drawn: DrawnRows, columns: Sequence[str], run: Run
    ) -> None:
        self.table = table
        self.drawn = drawn
        self.columns = columns
        self.run = run
        self.few = (
            drawn.draw_some(FIRST_ROWS) if len(drawn.n) > 4 * FIRST_ROWS else None
        )
        self.usable = drawn.whole or drawn.rows >= LEAST_DRAWN

    def measure_single(self) -> Iterator[Dependency]:
        """What each column tells of each other, unless that is surely nothing."""
        left: list[CountQuery] = []
        for a, b in combinations(self.columns, 2):
            self.run.check()
            if not self.usable:
                left.append(CountQuery((a,), b))
                continue
            cells = self.drawn.count_cells((a,), b, MARKER)
            ways = [(a, b, cells), (b, a, cells.turn())]
            drawn = not self.drawn.whole
            ways = [w for w in ways if not _look(w[2]).is_none(drawn=drawn)]
            if self.drawn.whole:
                domains = self.drawn.domains
                yield from (_measure(domains[x], domains[c], k) for x, c, k in ways)
            elif ways:
                left.append(CountQuery((a,), b))
        for _, (one, other), cells in _count_cells(self.table, left, self.run):
            yield _measure(one, other, cells)
            yield _measure(other, one, cells.turn())

    def list_sets(self, told: Told, reach: Collection[str]) -> Iterator[CountQuery]:
        """Two columns and a third: where known ones tell it, or where it is known."""
        for a, b in combinations(self.columns, 2):
            for c in self.columns:
                if c in (a, b) or (a, c) in told or (b, c) in told:
                    continue
                if c in reach or (a in reach and b in reach):
                    yield CountQuery((a, b), c)

    def measure_sets(self, sets: Sequence[CountQuery]) -> Iterator[Dependency]:
        """What two columns tell of a third, where anything speaks for it."""
        if not self.usable:
            yield from _measure_sets(self.table, sets[:MOST_EXACT], self.run)
            return
        likely: list[tuple[Fraction, CountQuery]] = []
        for query in sets:
            self.run.check()
            if self.few is not None:
                cells = self.few.count_cells(query.by, query.about, MARKER)
                if _look(cells).is_none(drawn=True):
                    continue
            cells = self.drawn.count_cells(query.by, query.about, MARKER)
            quick = _look(cells)
            if quick.says_little or quick.is_none(drawn=not self.drawn.whole):
                continue
            found = measure_dependency(query.by, query.about, cells.x, cells.c, cells.n)
            if self.drawn.whole:
                yield found
            elif found.ratio is not None and found.ratio <= Fraction(1, 8):
                likely.append((found.ratio, query))
        likely.sort(key=lambda both: both[0])
        queries = [query for _, query in likely[:MOST_EXACT]]
        yield from _measure_sets(self.table, queries, self.run)

    def measure_stated(self, by: tuple[str, ...], column: str) -> Dependency:
        """What the counts say of a rule that the policy states."""
        (found,) = _measure_sets(self.table, [CountQuery(by, column)], self.run)
        return found


def _look(cells: Cells) -> QuickLook:
    return look_quickly(cells.x, cells.c, cells.n)


def _measure_sets(
    table: Table, queries: Sequence[CountQuery], run: Run
) -> Iterator[Dependency]:
    for query, _, cells in _count_cells(table, queries, run):
        yield measure_dependency(query.by, query.about, cells.x, cells.c, cells.n)


# All counts ---------------------------------------------------------------------------


def find_dependencies(
    table: Table, columns: Sequence[str], run: Run | None = None, *, pairs: bool = True
) -> list[Dependency]:
    """What each of these columns tells of the others, and what two tell together.

    Everything that is measured comes out, derived or not, except where two columns
    need not be looked at because one of them tells the third already.
    """
    require_columns(columns, table.schema, "derived columns")
    rows = _find_source_rows(table)
    found = list(_measure_single(rows, columns, run or Run()))
    if pairs:
        told = {(d.by[0], d.column) for d in found if d.is_told}
        found += _measure_pairs(rows, columns, told, run or Run())
    return found


def _measure_single(
    table: Table, columns: Sequence[str], run: Run
) -> Iterator[Dependency]:
    queries = [CountQuery((a,), b) for a, b in combinations(columns, 2)]
    for _, (one, other), cells in _count_cells(table, queries, run):
        if len(other) > 1:  # one value for everybody is told by nothing
            yield _measure(one, other, cells)
        if len(one) > 1:
            yield _measure(other, one, cells.turn())


def _measure(x: Domain, c: Domain, cells: Cells) -> Dependency:
    """By rows that share a value of x; by adjacent rows where hardly any do."""
    rows = int(cells.n.sum())
    if rows >= LEAST_PART_ROWS and is_part(x, c, cells):
        return Dependency(
            (x.name,), c.name, rows, Fraction(0), Fraction(1), part=True, exact=True
        )
    # 100 rows with 96 values or more: hardly any two can be compared.
    if x.kind in ORDERED and rows < len(x) + rows / NEARLY_DISTINCT:
        order = np.lexsort((cells.c, cells.x))
        return measure_ordered(x.name, c.name, cells.c[order], cells.n[order])
    return measure_dependency((x.name,), c.name, cells.x, cells.c, cells.n)


# Parts of times and texts -----------------------------------------------------------

PARTS: dict[str, Callable[[datetime], object]] = {
    "year": lambda t: t.year,
    "month": lambda t: t.month,
    "day": lambda t: t.day,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "weekday": lambda t: t.weekday(),
    "weekday from 1": lambda t: t.isoweekday(),
    "weekday in words": lambda t: t.strftime("%A"),
    "date": lambda t: t.date().isoformat(),
}
"""What a column may repeat of a time in another one."""


def is_part(x: Domain, c: Domain, cells: Cells) -> bool:
    """Whether c repeats a part of x in every row: of a time, or the first letters."""
    if x.kind not in ("date", "datetime", "text"):
        return False
    if len(np.unique(cells.c)) < 2:
        return False
    k = FIRST_CELLS
    first = Cells(cells.x[:k], cells.c[:k], cells.n[:k])
    return _repeats_part(x, c, first) and _repeats_part(x, c, cells)


def _repeats_part(x: Domain, c: Domain, cells: Cells) -> bool:
    pairs = [(x[int(a)], c[int(b)]) for a, b in zip(cells.x, cells.c, strict=True)]
    pairs = [(a, b) for a, b in pairs if a is not None]
    if None in {b for _, b in pairs}:
        return False
    if x.kind in ("date", "datetime"):
        return any(_repeats(pairs, part) for part in PARTS.values())
    return _begins_with(pairs)


def _repeats(
    pairs: Sequence[tuple[str | None, str | None]], part: Callable[[datetime], object]
) -> bool:
    return all(str(part(datetime.fromisoformat(str(a)))) == b for a, b in pairs)


def _begins_with(pairs: Sequence[tuple[str | None, str | None]]) -> bool:
    """Whether each text begins with the other one, which is always as long."""
    sizes = {len(b or "") for _, b in pairs}
    if len(sizes) != 1 or 0 in sizes:
        return False
    return all((a or "").startswith(b or "") for a, b in pairs)


# Two columns ------------------------------------------------------------------------


def _measure_pairs(
    table: Table, columns: Sequence[str], told: set[tuple[str, str]], run: Run
) -> Iterator[Dependency]:
    queries = [
        CountQuery((a, b), c)
        for a, b in combinations(columns, 2)
        for c in columns
        if c not in (a, b) and (a, c) not in told and (b, c) not in told
    ]
    if len(queries) > MOST_PAIRS:
        raise TooLarge(
            f"{len(columns)} columns have {len(queries)} sets of three that would have "
            f"to be counted; at most {MOST_PAIRS} are. Name fewer columns, or say "
            "pairs=False."
        )
    for query, domains, cells in _count_cells(table, queries, run):
        assert len(domains) == 3
        yield measure_dependency(query.by, query.about, cells.x, cells.c, cells.n)


def _count_cells(
    table: Table, queries: Sequence[CountQuery], run: Run
) -> Iterator[tuple[CountQuery, tuple[Domain, ...], Cells]]:
    """Each query's cells; an engine gives them in one part or in several."""
    parts: dict[CountQuery, list[Cells]] = {}
    domains: dict[CountQuery, tuple[Domain, ...]] = {}
    for query, groups in table.count(queries, run):
        codes = groups.keys.columns()
        key = _number_keys(codes, groups.keys.sizes)
        hidden = [d.code(MARKER) for d in (*groups.by, groups.about)]
        kept = groups.value != (-1 if hidden[-1] is None else hidden[-1])
        for column, code in zip(codes, hidden, strict=False):
            kept &= column[groups.group] != (-1 if code is None else code)
        value = groups.value.astype(np.int64)
        cells = Cells(key[groups.group][kept], value[kept], groups.n[kept])
        parts.setdefault(query, []).append(cells)
        domains[query] = (*groups.by, groups.about)
    for query, several in parts.items():
        yield (
            query,
            domains[query],
            Cells(
                np.concatenate([p.x for p in several]),
                np.concatenate([p.c for p in several]),
                np.concatenate([p.n for p in several]),
            ),
        )


def _number_keys(codes: Sequence[NDArray[Any]], sizes: Sequence[int]) -> Ints:
    """One integer for each combination of at most two columns' codes."""
    key: Ints = codes[0].astype(np.int64)
    for column, size in zip(codes[1:], sizes[1:], strict=True):
        key = key * size + column
    return key


def list_told(found: Iterable[Dependency]) -> list[tuple[tuple[str, ...], str]]:
    """The rules that an attacker is taken to know."""
    return [(d.by, d.column) for d in found if d.is_told]


def list_untold(found: Iterable[Dependency]) -> list[Dependency]:
    """What there are too few rows to tell."""
    return [d for d in found if d.evidence is Evidence.TOO_FEW]
