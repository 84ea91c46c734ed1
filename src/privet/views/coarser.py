"""How a column may be shown so that more people share a value: in bins, by levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import log
from typing import Any

from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import InputError
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.exact import fraction
from privet.values.hierarchies import Hierarchy
from privet.values.schema import LARGEST_EDGE, Bins

LEVELS = (16, 8, 4, 2)
"""Into how many bins a number or a date may be cut to be shared."""

NUMBERS = ("integer", "number")
DATES = ("date", "datetime")
"""The kinds of columns that are cut into bins."""

Edge = Any
"""A fraction, or a date: in one column all are of one kind."""

MOST_VALUES = 100_000
"""Different values of a column that may be cut into bins, or shown by levels."""


@dataclass(frozen=True)
class Coarsening:
    """How a column is shared: as it is, in bins, or at a level of its hierarchy."""

    bins: Bins | None = None
    """Where it is cut."""
    level: int = 0
    """The level of its hierarchy; 0: as it is."""
    texts: tuple[str | None, ...] = ()
    """What is shown at that level, by code."""
    worth: Fraction = Fraction(1)
    """How much of the column is left."""

    @property
    def relabel(self) -> Relabel | None:
        """What the engine shows instead of values."""
        return Relabel(self.texts) if self.level else None


def choices(
    table: Table, column: str, hierarchy: Hierarchy | None, run: Run
) -> list[Coarsening]:
    """As it is; also in fewer and fewer bins, or by the levels of a hierarchy."""
    domain = table.domains([column], run)[column]
    if hierarchy is not None:
        hierarchy.require(iter(domain.labels), column)
    if column in table.recodings or not 2 < len(domain) <= MOST_VALUES:
        return [Coarsening()]
    if hierarchy is not None:
        return [Coarsening(), *_levels(domain, hierarchy)]
    if domain.kind not in NUMBERS + DATES:
        return [Coarsening()]
    return [Coarsening(), *_binned(table, column, domain, run)]


def _levels(domain: Domain, hierarchy: Hierarchy) -> Iterator[Coarsening]:
    before = len(domain)
    for level in range(1, hierarchy.depth):
        texts = tuple(
            None if v is None else hierarchy.path(v)[level] for v in domain.labels
        )
        left = len(set(texts))
        if 1 < left < before:
            yield Coarsening(level=level, texts=texts, worth=_worth(left, len(domain)))
            before = left


def _binned(
    table: Table, column: str, domain: Domain, run: Run
) -> Iterator[Coarsening]:
    read = _date if domain.kind in DATES else _number
    ((_, counts),) = table.count([CountQuery((), column)], run)
    rows: Counter[Edge] = Counter()
    for code, n in zip(counts.value, counts.n, strict=True):
        text = domain[int(code)]
        if text is not None and (value := read(text)) is not None:
            rows[value] += int(n)
    for level in LEVELS:
        edges = _edges(sorted(rows.items()), level)
        if edges and len(edges) + 1 < len(domain):
            yield Coarsening(Bins(edges), worth=_worth(len(edges) + 1, len(domain)))


def _number(text: str) -> Edge | None:
    """A number as its digits say; None: nothing is cut there.

    >>> _number("9007199254740993"), _number("nan")
    (Fraction(9007199254740993, 1), None)
    """
    try:
        value = fraction(text)
    except InputError:
        return None
    return value if abs(value) <= LARGEST_EDGE else None


def _date(text: str) -> Edge | None:
    """The day of a date or a moment; None: nothing is cut there."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _worth(left: int, of: int) -> Fraction:
    """How much of what values tell is left, if all are as frequent.

    >>> _worth(2, 8)
    Fraction(1, 3)
    """
    return Fraction(log(left) / log(of)).limit_denominator(100)


def _edges(values: Sequence[tuple[Edge, int]], bins: int) -> list[Edge]:
    """Cuts that put about as many rows into each bin.

    >>> _edges([(1, 2), (2, 2), (3, 2), (4, 2)], 2)
    [3]
    """
    total, seen = sum(n for _, n in values), 0
    edges: list[Edge] = []
    for value, n in values:
        share = seen * bins // total
        if seen and share > len(edges):
            edges.append(value)
        seen += n
    return edges
