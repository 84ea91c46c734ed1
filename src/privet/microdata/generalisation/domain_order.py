"""Quasi-identifiers as Mondrian splits them: values at positions of an ordered domain.

Every value has a position, from 0. Values that belong together stand side by side, so
that a split is at a position: what stands at or before it goes left. Numbers and dates
stand in their order; categories by falling frequency, or below their hierarchy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError
from privet.microdata.generalised_values import ANY, BEGINS, MISSING
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain
from privet.values.hierarchies import TOP, Hierarchy

ORDERED, FLAT, TREE = 0, 1, 2
"""Split anywhere and as wide as its ends are apart; anywhere and as wide as it has
values; between the children of the lowest node above all values."""

NOBODY = "\0missing"
"""The node above missing values in a tree."""

NUMBERS = ("integer", "number")
RANGES = (*NUMBERS, "date", "datetime")
"""Kinds whose values are shown as ranges."""


@dataclass(frozen=True, eq=False)
class OrderedDomain:
    """A quasi-identifier: a column with its values in an order that can be split."""

    domain: Domain
    """Its values."""
    kind: int
    """How it is split: `ORDERED`, `FLAT` or `TREE`."""
    position: Ints
    """The position of each value, by its code."""
    at: Floats
    """Where each position lies between 0 and 1; of an ordered column."""
    nodes: NDArray[np.int32]
    """Of a tree: the node above each position at each level, the values first."""
    names: tuple[tuple[str, ...], ...] = ()
    """Of a tree: what the nodes of each level are called."""
    hidden: frozenset[int] = frozenset()
    """Places whose values are never named."""

    def __len__(self) -> int:
        return len(self.position)

    @property
    def name(self) -> str:
        """The column."""
        return self.domain.name

    @cached_property
    def as_ranges(self) -> bool:
        """Whether several values are shown as a range: numbers in their own order."""
        numeric = self.kind == ORDERED and self.domain.kind in RANGES
        return numeric and bool((self.position == np.arange(len(self))).all())

    @cached_property
    def codes(self) -> Ints:
        """The code of the value at each position."""
        found = np.empty(len(self), dtype=np.int64)
        found[self.position] = np.arange(len(self))
        return found

    @cached_property
    def texts(self) -> list[str | None]:
        """The value at each position."""
        return [self.domain[code] for code in self.codes.tolist()]

    @cached_property
    def spelled(self) -> list[str]:
        """What is written for the value at each position."""
        return [MISSING if v is None else quote_value(v) for v in self.texts]

    @cached_property
    def rank(self) -> list[int]:
        """Where each position stands in a set: by what is written, missing last."""
        texts, size = self.spelled, len(self)
        order = sorted(range(size), key=lambda p: (self.texts[p] is None, texts[p]))
        found = np.empty(size, dtype=np.int64)
        found[order] = np.arange(size)
        return found.tolist()


def _explain_unnamed(values: Sequence[str]) -> str:
    return " A missing value has no name to be hidden." if "" in values else ""


def hide_values(attribute: OrderedDomain, values: Sequence[str]) -> OrderedDomain:
    """The same column, some of whose values are never named."""
    codes = [attribute.domain.code(v) for v in values]
    if never := codes.count(None):
        raise InputError(
            f"hide must name values of column {attribute.name!r}; "
            f"{never} of {len(codes)} never occur.{_explain_unnamed(values)}"
        )
    return replace(
        attribute,
        hidden=frozenset(int(attribute.position[c]) for c in codes if c is not None),
    )


def order_by_value(domain: Domain) -> OrderedDomain:
    """Numbers, dates, or texts whose order means something: in the engine's order."""
    size = len(domain)
    position = np.arange(size)
    return OrderedDomain(
        domain, ORDERED, position, _scale_values(domain), _no_nodes(size)
    )


def order_as_given(domain: Domain, order: Sequence[str]) -> OrderedDomain:
    """Values in an order that is given; missing comes first."""
    rank = {value: i + 1 for i, value in enumerate(order)}
    rank_of = [0 if v is None else rank.get(v, -1) for v in domain.labels]
    if missing := sum(r < 0 for r in rank_of):
        raise InputError(
            f"order of column {domain.name!r} must hold all of its values; "
            f"{missing} are not in it."
        )
    position = _rank_numbers(np.array(rank_of))
    size = len(domain)
    steps = np.arange(size) / max(size - 1, 1)
    return OrderedDomain(domain, ORDERED, position, steps, _no_nodes(size))


def order_by_frequency(domain: Domain, first: Floats) -> OrderedDomain:
    """Categories: those with the highest numbers first, equal ones by their code."""
    position = _rank_numbers(-first)
    size = len(domain)
    return OrderedDomain(domain, FLAT, position, np.zeros(size), _no_nodes(size))


def order_by_hierarchy(domain: Domain, hierarchy: Hierarchy) -> OrderedDomain:
    """Categories below a hierarchy, in the order of its lines; missing comes last."""
    hierarchy.require(domain.labels, domain.name)
    line = {value: i for i, value in enumerate(hierarchy.levels)}
    paths = [_find_path(value, hierarchy) for value in domain.labels]
    first: list[dict[tuple[str, ...], int]] = [{} for _ in range(hierarchy.depth)]
    lines = [len(line) if v is None else line[v] for v in domain.labels]
    for code in np.argsort(lines, kind="stable"):
        path = paths[code]
        for level in range(len(path)):
            first[level].setdefault(path[level:], len(first[level]))
    # Sorted from the top down by which node came first, each node is one stretch.
    # A line per level, the lowest first; a column per value.
    ids = np.array([[first[i][p[i:]] for p in paths] for i in range(hierarchy.depth)])
    # lexsort goes by its last line first: the top.
    order = np.lexsort(ids)
    position = np.empty(len(domain), dtype=np.int64)
    position[order] = np.arange(len(domain))
    nodes = np.ascontiguousarray(ids[:, order], dtype=np.int32)
    names = tuple(tuple(p[0] for p in level) for level in first)
    return OrderedDomain(domain, TREE, position, np.zeros(len(domain)), nodes, names)


def _find_path(value: str | None, hierarchy: Hierarchy) -> tuple[str, ...]:
    """Missing stands beside all other values, below the top."""
    if value is not None:
        return hierarchy.path(value)
    top = next(iter(hierarchy.levels.values()))[-1:] or (TOP,)
    return (*[NOBODY] * (hierarchy.depth - 1), *top)


def _rank_numbers(numbers: NDArray[np.generic]) -> Ints:
    position = np.empty(len(numbers), dtype=np.int64)
    position[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return position


def _no_nodes(size: int) -> NDArray[np.int32]:
    return np.zeros((0, size), dtype=np.int32)


def _scale_values(domain: Domain) -> Floats:
    """Where values lie between the first and the last; missing one step before."""
    size = len(domain)
    steps = np.arange(size) / max(size - 1, 1)
    if domain.kind not in RANGES:
        return steps
    numbers = [parse_number(v, domain.kind) for v in domain.labels if v is not None]
    if len(numbers) < 2 or not all(map(math.isfinite, numbers)):
        return steps
    values = np.array(numbers)
    span = values[-1] - values[0]
    if not (math.isfinite(span) and span > 0):
        return steps
    # 20, 30 and 60 lie at 0, 0.25 and 1.
    at = (values - values[0]) / span
    if len(at) < size:  # missing is the first code
        # With a missing value before 20, 30, 60: 0, 1/3, 1/2, 1.
        step = 1 / (len(at) - 1)
        at = np.concatenate([[-step], at])
        at = (at + step) / (1 + step)
    return np.maximum.accumulate(at)


def parse_number(label: str, kind: str) -> float:
    """A number, or a date as days or seconds; not a number where it is none."""
    try:
        if kind in NUMBERS:
            return float(label)
        if kind == "date":
            return float(date.fromisoformat(label).toordinal())
        return _to_seconds(datetime.fromisoformat(label))
    except (ValueError, OverflowError):
        return math.nan


def _to_seconds(when: datetime) -> float:
    day = when.toordinal() * 86_400.0
    return day + when.hour * 3600 + when.minute * 60 + when.second


# Domains in arrays ------------------------------------------------------------------


class DomainArrays(NamedTuple):
    """All quasi-identifiers in arrays, as the loops want them."""

    kind: Ints
    """How each attribute is split."""
    size: Ints
    """How many values it has."""
    at: Floats
    """Where positions lie, one row per attribute."""
    first: Ints
    """Where the levels of each attribute begin in `nodes`."""
    levels: Ints
    """How many levels it has."""
    nodes: NDArray[np.int32]
    """The node above each position, one row per level."""
    spread: Ints
    """How many values each of those nodes has."""


def pack_domains(attributes: Sequence[OrderedDomain]) -> DomainArrays:
    """Attributes in arrays."""
    longest = max((len(a) for a in attributes), default=1)
    at = np.zeros((len(attributes), longest))
    for i, a in enumerate(attributes):
        at[i, : len(a)] = a.at
    levels = np.array([len(a.nodes) for a in attributes], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(levels)])[:-1].astype(np.int64)
    nodes = np.zeros((max(int(levels.sum()), 1), longest), dtype=np.int32)
    spread = np.zeros(nodes.shape, dtype=np.int64)
    for i, a in enumerate(attributes):
        for level, above in enumerate(a.nodes):
            # Levels of all attributes one below the other, the lowest of each first.
            row = first[i] + level
            nodes[row, : len(a)] = above
            spread[row, : len(a)] = np.bincount(above)[above]
    kind = np.array([a.kind for a in attributes], dtype=np.int64)
    size = np.array([len(a) for a in attributes], dtype=np.int64)
    return DomainArrays(kind, size, at, first, levels, nodes, spread)


def quote_value(value: str) -> str:
    """A text, in quotes where it could be taken for something else.

    >>> quote_value("Cook"), quote_value("a, b"), quote_value("missing")
    ('Cook', '"a, b"', '"missing"')
    """
    plain = value and value == value.strip() and not set(value) & set('{}[]",')
    if plain and value != ANY and not value.startswith((MISSING, "not ", BEGINS)):
        return value
    return json.dumps(value, ensure_ascii=False)
