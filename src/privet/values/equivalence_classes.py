"""Equivalence classes: groups of people who look alike, with a column's histogram each.

Elsewhere they are called groups; the skyline paper says QI-groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.values.contingency import (
    MOST_KEYS,
    Codes,
    Counts,
    Domain,
    packed,
    sum_by_key,
    unpacked,
)


def group_counts(counts: Counts, by: Sequence[str], about: str) -> EquivalenceClasses:
    """Counts as equivalence classes over `by`, with a histogram of `about` each."""
    at = [counts.columns.index(c) for c in (*by, about)]
    domains = [counts.domains[j] for j in at]
    sizes = [len(d) for d in domains]
    if prod(sizes) >= MOST_KEYS:
        return EquivalenceClasses.from_counts(counts.over([*by, about]), by, about)
    cells = packed([counts.codes[j] for j in at], sizes, len(counts))
    return EquivalenceClasses.from_sorted(domains, *sum_by_key(cells, counts.n))


@dataclass(frozen=True, eq=False)
class ClassKeys:
    """The codes that describe each group, packed into one integer where they fit."""

    sizes: tuple[int, ...]
    """How many values each column has."""
    packed: NDArray[np.int64] | None = None
    """Codes in mixed radix, the last column varying fastest."""
    plain: tuple[Codes, ...] = ()
    """One array per column, where packing would overflow."""
    groups: int = 0
    """How many groups there are, where nothing is packed."""

    @classmethod
    def from_codes(
        cls, columns: Sequence[Codes], sizes: Sequence[int], groups: int
    ) -> ClassKeys:
        """Keys from codes, one array per column."""
        if prod(sizes) >= MOST_KEYS:
            return cls(tuple(sizes), None, tuple(columns), groups)
        return cls(tuple(sizes), packed(columns, sizes, groups))

    def __len__(self) -> int:
        return self.groups if self.packed is None else len(self.packed)

    def __getitem__(self, group: int) -> tuple[int, ...]:
        if self.packed is None:
            return tuple(int(column[group]) for column in self.plain)
        return tuple(int(c[0]) for c in self.take(np.array([group])).columns())

    def columns(self) -> tuple[Codes, ...]:
        """The codes, one array per column."""
        if self.packed is None:
            return self.plain
        return tuple(c.astype(np.int64) for c in unpacked(self.packed, self.sizes))

    def take(self, groups: NDArray[np.intp]) -> ClassKeys:
        """The keys of some groups."""
        if self.packed is None:
            plain = tuple(column[groups] for column in self.plain)
            return ClassKeys(self.sizes, None, plain, len(groups))
        return ClassKeys(self.sizes, self.packed[groups])


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """Equivalence classes: people who look alike, with the histogram of one column.

    Groups stand in the order of their codes. Row r of the histogram belongs to group
    g when ``start[g] <= r < start[g + 1]``.
    """

    by: tuple[Domain, ...]
    """The columns that make the groups."""
    about: Domain
    """The column whose values are counted in each group."""
    keys: ClassKeys
    """The codes that describe each group."""
    total: NDArray[np.int64]
    """People per group: the sum of its histogram, unless somebody has two values."""
    start: NDArray[np.intp]
    """Where each group's histogram begins; one entry more than there are groups."""
    value: Codes
    """The code of `about` in each row of the histogram."""
    n: NDArray[np.int64]
    """People of the group with that value."""

    def __len__(self) -> int:
        return len(self.total)

    def split_by_value(self, columns: Sequence[str]) -> EquivalenceClasses:
        """Each (group, value) as a group of its own, by all columns in this order."""
        domains = {d.name: d for d in (*self.by, self.about)}
        by = tuple(domains[c] for c in columns)
        sizes = tuple(len(d) for d in by)
        whole = self.keys.packed
        ordered = tuple(domains) == tuple(columns)
        if ordered and whole is not None and prod(sizes) < MOST_KEYS:
            keys = ClassKeys(sizes, whole[self.group] * sizes[-1] + self.value)
        else:
            plain = [c[self.group] for c in self.keys.columns()]
            codes = dict(zip(domains, [*plain, self.value], strict=True))
            keys = ClassKeys.from_codes([codes[c] for c in columns], sizes, len(self.n))
        start = np.arange(len(self.n) + 1)
        return EquivalenceClasses(
            by, self.about, keys, self.n, start, self.value, self.n
        )

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The group of each row of the histogram."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        by: Sequence[str],
        about: str,
        totals: Counts | None = None,
    ) -> EquivalenceClasses:
        """Group counts; `totals` where people, not rows, are counted."""
        at = [counts.columns.index(c) for c in (*by, about)]
        domains = [counts.domains[j] for j in at]
        codes = [counts.codes[j] for j in at]
        cell = packed(codes, [len(d) for d in domains], len(counts))
        order = np.argsort(cell)
        # The value is the last digit, even where columns before it became ranks.
        key = cell[order] // max(len(domains[-1]), 1)
        start = _find_starts(key)
        first = order[start[:-1]]
        sizes = tuple(len(d) for d in domains[:-1])
        keys = ClassKeys.from_codes([c[first] for c in codes[:-1]], sizes, len(first))
        n = counts.n[order]
        total = None if totals is None else _sort_totals(totals, by)
        return cls._build(domains, keys, start, codes[-1][order], n, total)

    @classmethod
    def from_sorted(
        cls,
        domains: Sequence[Domain],
        cell: NDArray[np.int64],
        n: NDArray[np.int64],
        total: NDArray[np.int64] | None = None,
    ) -> EquivalenceClasses:
        """Groups from packed cells in increasing order, the value counted last."""
        sizes = tuple(len(d) for d in domains)
        size = max(sizes[-1], 1)
        key = (cell.view(np.uint64) // np.uint64(size)).view(np.int64)
        value = cell - key * size
        start = _find_starts(key)
        keys = ClassKeys(sizes[:-1], key[start[:-1]])
        return cls._build(domains, keys, start, value, n, total)

    @classmethod
    def _build(
        cls,
        domains: Sequence[Domain],
        keys: ClassKeys,
        start: NDArray[np.intp],
        value: Codes,
        n: NDArray[np.int64],
        total: NDArray[np.int64] | None,
    ) -> EquivalenceClasses:
        if total is None:
            # No group is empty: of equal starts `reduceat` would take a row, not 0.
            total = np.add.reduceat(n, start[:-1]) if len(keys) else n
        return cls(tuple(domains[:-1]), domains[-1], keys, total, start, value, n)

    def labels(self, g: int) -> tuple[str | None, ...]:
        """The values that describe group g."""
        return tuple(d[k] for d, k in zip(self.by, self.keys[g], strict=True))

    def histogram(self, g: int) -> dict[str | None, int]:
        """How often each value occurs in group g."""
        rows = slice(self.start[g], self.start[g + 1])
        pairs = zip(self.value[rows].tolist(), self.n[rows].tolist(), strict=True)
        return {self.about[v]: n for v, n in pairs}

    def take(self, groups: NDArray[np.intp]) -> EquivalenceClasses:
        """Some of the groups."""
        inside = np.zeros(len(self), dtype=bool)
        inside[groups] = True
        rows = inside[self.group]
        sizes = np.diff(self.start)[inside]
        return EquivalenceClasses(
            self.by,
            self.about,
            self.keys.take(np.flatnonzero(inside)),
            self.total[inside],
            np.r_[0, np.cumsum(sizes)].astype(np.intp),
            self.value[rows],
            self.n[rows],
        )

    def __add__(self, other: EquivalenceClasses) -> EquivalenceClasses:
        """Disjoint groups of one table, put together."""
        both = (self, other)
        counts = [
            Counts(
                (*g.by, g.about),
                (*(k[g.group] for k in g.keys.columns()), g.value),
                g.n,
            )
            for g in both
        ]
        names = [d.name for d in self.by]
        joined = Counts(
            counts[0].domains,
            tuple(
                np.concatenate([a.astype(np.int64), b.astype(np.int64)])
                for a, b in zip(counts[0].codes, counts[1].codes, strict=True)
            ),
            np.concatenate([c.n for c in counts]),
        )
        whole = EquivalenceClasses.from_counts(joined, names, self.about.name)
        return replace(whole, total=_merge_totals(whole, both))


def group_histograms(parts: NDArray[np.int64], domain: Domain) -> EquivalenceClasses:
    """Histograms, a line per group and a column per value, as groups."""
    group, value = np.nonzero(parts)
    # np.nonzero goes line by line, so that groups rise.
    start = np.searchsorted(group, np.arange(len(parts) + 1))
    names = Domain("group", [str(i) for i in range(len(parts))])
    keys = ClassKeys.from_codes([np.arange(len(parts))], [len(parts)], len(parts))
    return EquivalenceClasses(
        (names,),
        domain,
        keys,
        parts.sum(axis=1),
        start.astype(np.intp),
        value,
        parts[group, value],
    )


def _merge_totals(
    whole: EquivalenceClasses, parts: Sequence[EquivalenceClasses]
) -> NDArray[np.int64]:
    """The totals of the parts in the order of the whole."""
    columns = [
        np.concatenate(c) for c in zip(*(p.keys.columns() for p in parts), strict=True)
    ]
    total = np.concatenate([p.total for p in parts])
    return total[np.argsort(packed(columns, whole.keys.sizes, len(total)))]


def _find_starts(key: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each run of equal keys begins, and the end of the last."""
    # Keys 3 3 5 8 8: 0 2 3 and 5.
    changes = np.flatnonzero(key[1:] != key[:-1]) + 1
    return np.concatenate([[0] if len(key) else [], changes, [len(key)]]).astype(
        np.intp
    )


def _sort_totals(totals: Counts, by: Sequence[str]) -> NDArray[np.int64]:
    """The counts in the order of their codes."""
    at = [totals.columns.index(c) for c in by]
    codes, sizes = [totals.codes[j] for j in at], [len(totals.domains[j]) for j in at]
    return totals.n[np.argsort(packed(codes, sizes, len(totals)))]
