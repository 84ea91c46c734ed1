"""How a column may be shown so that more people share a value: in bins, by levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log

from privet.counts import Domain
from privet.engines.base import Relabel, Run, Tally
from privet.publishers.hierarchies import Hierarchy
from privet.roles import Bins
from privet.table import Table

LEVELS = (16, 8, 4, 2)
"""Into how many bins a number may be cut to be shared."""

MOST_VALUES = 100_000
"""Different values of a column that may be cut into bins, or shown by levels."""


@dataclass(frozen=True)
class Choice:
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
) -> list[Choice]:
    """As it is; of numbers also in fewer and fewer bins, by a hierarchy its levels."""
    domain = table.domains([column], run)[column]
    if hierarchy is not None:
        hierarchy.require(iter(domain.labels), column)
    if column in table.recodings or not 2 < len(domain) <= MOST_VALUES:
        return [Choice()]
    if hierarchy is not None:
        return [Choice(), *_levels(domain, hierarchy)]
    if domain.kind not in ("integer", "number"):
        return [Choice()]
    return [Choice(), *_binned(table, column, domain, run)]


def _levels(domain: Domain, hierarchy: Hierarchy) -> Iterator[Choice]:
    before = len(domain)
    for level in range(1, hierarchy.depth):
        texts = tuple(
            None if v is None else hierarchy.path(v)[level] for v in domain.labels
        )
        left = len(set(texts))
        if 1 < left < before:
            yield Choice(level=level, texts=texts, worth=_worth(left, len(domain)))
            before = left


def _binned(table: Table, column: str, domain: Domain, run: Run) -> Iterator[Choice]:
    ((_, counts),) = table.count([Tally((), column)], run)
    values = [domain[int(v)] for v in counts.value]
    number = [(float(v), int(n)) for v, n in zip(values, counts.n, strict=True) if v]
    number = [(v, n) for v, n in sorted(number) if isfinite(v)]
    for level in LEVELS:
        edges = _edges(number, level)
        if edges and len(edges) + 1 < len(domain):
            yield Choice(Bins(edges), worth=_worth(len(edges) + 1, len(domain)))


def _worth(left: int, of: int) -> Fraction:
    """How much of what values tell is left, if all are as frequent.

    >>> _worth(2, 8)
    Fraction(1, 3)
    """
    return Fraction(log(left) / log(of)).limit_denominator(100)


def _edges(values: Sequence[tuple[float, int]], bins: int) -> list[str]:
    """Cuts that put about as many rows into each bin.

    >>> _edges([(1.0, 2), (2.0, 2), (3.0, 2), (4.0, 2)], 2)
    ['3']
    """
    total, seen = sum(n for _, n in values), 0
    edges: list[str] = []
    for value, n in values:
        share = seen * bins // total
        if seen and share > len(edges):
            edges.append(repr(value).removesuffix(".0"))
        seen += n
    return edges
