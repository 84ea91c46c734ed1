"""Columns of a table that tell others: which rules an attacker may use.

All pairs of columns are counted, in as few scans as the engine needs; two columns
together are looked at only where neither of them tells the third alone. Rows are
counted, whatever the weight or the unit: a rule is about values, not about people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import combinations
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Run
from privet.errors import TooLarge
from privet.table import Table, require_columns
from privet.values.contingency import Domain
from privet.values.dependencies import (
    Dependency,
    Evidence,
    Ints,
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


@dataclass(frozen=True)
class Cells:
    """How many rows have each combination of two columns that occurs."""

    x: Ints
    c: Ints
    n: Ints


def find_dependencies(
    table: Table, columns: Sequence[str], run: Run | None = None, *, pairs: bool = True
) -> list[Dependency]:
    """What each of these columns tells of the others, and what two tell together.

    Everything that is measured comes out, derived or not, except where two columns
    need not be looked at because one of them tells the third already.
    """
    require_columns(columns, table.schema, "derived columns")
    rows = table.with_roles(attrs.evolve(table.roles, unit=None, weight=None))
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
        turned = Cells(cells.c, cells.x, cells.n)
        if len(other) > 1:  # one value for everybody is told by nothing
            yield _measure(one, other, cells)
        if len(one) > 1:
            yield _measure(other, one, turned)


def _measure(x: Domain, c: Domain, cells: Cells) -> Dependency:
    """By rows that share a value of x; by adjacent rows where hardly any do."""
    rows = int(cells.n.sum())
    if rows >= LEAST_PART_ROWS and is_part(x, c, cells):
        return Dependency((x.name,), c.name, rows, Fraction(0), Fraction(1), part=True)
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
    pairs = [(x[int(a)], c[int(b)]) for a, b in zip(cells.x, cells.c, strict=True)]
    pairs = [(a, b) for a, b in pairs if a is not None]
    if len({b for _, b in pairs}) < 2 or None in {b for _, b in pairs}:
        return False
    if x.kind in ("date", "datetime"):
        return any(_repeats(pairs, part) for part in PARTS.values())
    return x.kind == "text" and _begins_with(pairs)


def _repeats(
    pairs: Sequence[tuple[str | None, str | None]], part: Callable[[datetime], object]
) -> bool:
    return all(str(part(datetime.fromisoformat(str(a)))) == b for a, b in pairs)


def _begins_with(pairs: Sequence[tuple[str | None, str | None]]) -> bool:
    """Whether each text begins with the other one, which is always as long."""
    sizes = {len(b or "") for _, b in pairs}
    if len(sizes) != 1 or 0 in sizes:
        return False
    return all((a or "").startswith(b or "") for a, b in pairs) and any(
        a != b for a, b in pairs
    )


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
        key = _number_keys(groups.keys.columns(), groups.keys.sizes)
        cells = Cells(key[groups.group], groups.value.astype(np.int64), groups.n)
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
