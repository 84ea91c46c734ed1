"""What charts of groups need, counted by the engine in one statement each.

One count of all groups tells how large they are, of how many people somebody is how
sure, where that is most, and how many people are unique on fewer columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import comb
from operator import add
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.languages import say
from privet.microdata.exposure.exposure import (
    BINS,
    MOST_SETS,
    ColumnExposure,
    number_keys,
)
from privet.microdata.exposure.exposure_count import ExposureWatch
from privet.microdata.groups import Groups
from privet.table import Table, require_columns
from privet.values.contingency import packed
from privet.values.equivalence_classes import EquivalenceClasses


@dataclass(frozen=True, eq=False)
class CountedGroups:
    """All groups of people who look alike, as far as charts must know them."""

    about: str | None
    """The sensitive column; None: no column is."""
    known: tuple[str, ...]
    """The columns somebody knows."""
    counted: str
    """What is counted: rows or people."""
    sizes: Mapping[int, int]
    """How many groups there are of each size."""
    own: tuple[int, ...] = (0,) * (BINS + 1)
    """People by how sure one is of their own value, as exposure counts them."""
    groups: EquivalenceClasses | None = field(default=None, repr=False)
    """The groups themselves; None: too many to keep, or nothing is sensitive."""

    @property
    def people(self) -> int:
        """How many people there are in all groups."""
        return sum(size * n for size, n in self.sizes.items())


def count_groups(table: Table, about: str | None = None) -> CountedGroups:
    """Count the groups of all known columns, with one column's histogram each."""
    watch, run = ExposureWatch(table, (), (), True), Run()
    column = about or next(iter(table.roles.sensitive), None)
    if column is None:
        return _count_known(table, run)
    if column not in watch.columns:
        require_columns([column], table.schema, "about")
        raise InputError(f"about must be a sensitive column; {column!r} is none.")
    at, sizes = watch.columns[column], Counter[int]()
    for _, groups in watch.watched.count([at.tally], run):
        sizes += count_sizes(groups)
    assert at.fold is not None
    kept = reduce(add, at.kept) if at.kept else None
    return CountedGroups(
        column, at.known, table.counted, sizes, at.fold.own, groups=kept
    )


def _count_known(table: Table, run: Run) -> CountedGroups:
    """The groups of a table without a sensitive column."""
    known = [c for c in table.schema.names if c in table.roles.list_known(None)]
    if not known:
        raise InputError("A table must have columns somebody may know; it has none.")
    *first, last = known
    sizes = Counter[int]()
    for _, groups in table.count([CountQuery(tuple(first), last)], run):
        sizes.update(map(int, groups.n))
    return CountedGroups(None, tuple(known), table.counted, sizes)


def describe_groups(groups: Groups) -> CountedGroups:
    """The same of groups that are counted already."""
    grouped = groups.grouped
    fold = ColumnExposure(groups.about).add(grouped)
    sizes = count_sizes(grouped)
    return CountedGroups(
        groups.about, groups.quasi, groups.counted, sizes, fold.own, grouped
    )


def count_sizes(groups: EquivalenceClasses) -> Counter[int]:
    """How many groups there are of each size."""
    size, n = np.unique(groups.total, return_counts=True)
    return Counter(dict(zip(size.tolist(), n.tolist(), strict=True)))


# Where somebody is surest -----------------------------------------------------------


def list_surest(
    groups: EquivalenceClasses, most: int, values: Sequence[object] | None = None
) -> tuple[list[dict[str, Any]], int]:
    """The groups in which somebody is surest of a value, and how many more there are.

    Of equally sure ones the larger comes first. `values` are the values it is about;
    None: any.
    """
    share = groups.n / groups.total[groups.group]
    order = np.lexsort((-groups.total[groups.group], -share))
    if values is not None:
        codes = [groups.about.code(v) for v in values]
        order = order[np.isin(groups.value[order], [c for c in codes if c is not None])]
    there = len(np.unique(groups.group[order]))
    rows: list[dict[str, Any]] = []
    seen: set[int] = set()
    for row in order.tolist():
        group = int(groups.group[row])
        if group in seen:
            continue
        seen.add(group)
        known = zip(groups.by, groups.keys[group], strict=True)
        rows.append(
            {
                "knows": {d.name: d[c] for d, c in known},
                "value": groups.about[int(groups.value[row])],
                "part": int(groups.n[row]),
                "whole": int(groups.total[group]),
                "share": str(Fraction(int(groups.n[row]), int(groups.total[group]))),
            }
        )
        if len(rows) == most:
            break
    return rows, there - len(rows)


# Fewer columns ----------------------------------------------------------------------


@dataclass(frozen=True)
class UniqueAt:
    """How many people are unique to somebody who knows so many columns."""

    columns: int
    """How many columns are known."""
    any_set: int
    """People who are unique on some set of so many columns, or fewer."""
    worst: tuple[str, ...]
    """The set on which most people are unique."""
    unique: int
    """How many those are."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "columns": self.columns,
            "any_set": self.any_set,
            "worst": list(self.worst),
            "unique": self.unique,
        }


def count_uniqueness(
    groups: EquivalenceClasses, check: Callable[[], None] = lambda: None
) -> tuple[list[UniqueAt], str]:
    """Unique people by number of known columns, from all groups at once.

    Ends where there are too many sets of columns, and says so; the last number, all
    columns, is always there.
    """
    names = [d.name for d in groups.by]
    codes, lengths = groups.keys.columns(), groups.keys.sizes
    marks = np.zeros(len(groups), dtype=bool)
    found: list[UniqueAt] = []
    looked, note = 0, ""
    for size in range(1, len(names) + 1):
        looked += comb(len(names), size)
        if looked > MOST_SETS and size < len(names):
            note = say(
                "Sets of {n} columns and more are too many, but for all of them.",
                n=size,
            )
            continue
        worst: tuple[int, tuple[int, ...]] = (-1, ())
        for chosen in combinations(range(len(names)), size):
            check()
            alone = _find_unique(groups, chosen, codes, lengths)
            marks |= alone
            worst = max(worst, (int(alone.sum()), chosen), key=lambda w: w[0])
        label = tuple(names[i] for i in worst[1])
        found.append(UniqueAt(size, int(marks.sum()), label, worst[0]))
    return found, note


def _find_unique(
    groups: EquivalenceClasses,
    chosen: Sequence[int],
    codes: Sequence[Any],
    lengths: Sequence[int],
) -> Any:
    """Which groups hold one person whom nobody looks like on some columns."""
    key = packed([codes[i] for i in chosen], [lengths[i] for i in chosen], len(groups))
    kept, at = number_keys(key)
    total = np.bincount(at, weights=groups.total, minlength=len(kept))
    return total[at] == 1
