"""Counts: an integer contingency table whose cells are small integer codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError
from privet.values.exact import fraction

MOST_KEYS = 2**62
"""Keys are packed into one integer while there are fewer of them than this."""

Codes = NDArray[np.integer[Any]]
"""Codes of one column, one per row of the count; as narrow as the column allows."""


class Domain:
    """The values one column takes, each at its code, as the source wrote them.

    >>> d = Domain("job", ["Clerk", None, "Cook"])
    >>> d.code("Cook"), d.code("Judge"), d[1] is None
    (2, None, True)
    """

    def __init__(
        self, name: str, labels: Sequence[str | None], kind: str = "text"
    ) -> None:
        self.name = name
        self.kind = kind
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, code: int) -> str | None:
        return self.labels[int(code)]

    def __repr__(self) -> str:
        return f"Domain({self.name!r}, {len(self)} values, {self.kind})"

    @cached_property
    def _codes(self) -> dict[str | None, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def code(self, value: object) -> int | None:
        """The code of a value, or None where it never occurs."""
        if value is None:
            return self._codes.get(None)
        if (found := self._codes.get(str(value))) is not None:
            return found
        if self.kind in ("integer", "number"):
            return self._codes.get(_find_same_number(value, self._codes))
        return None


def _find_same_number(value: object, known: Mapping[str | None, int]) -> str | None:
    try:
        wanted = fraction(value)  # type: ignore[arg-type]
    except InputError:
        return ""
    for label in known:
        try:
            if label is not None and fraction(label) == wanted:
                return label
        except InputError:
            continue
    return ""


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each combination of codes occurs; those that never do are absent."""

    domains: tuple[Domain, ...]
    """One per column, in the order of the columns."""
    codes: tuple[Codes, ...]
    """One array per column, all as long as `n`."""
    n: NDArray[np.int64]
    """Rows (or people, or summed weights) per combination; positive."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(d.name for d in self.domains)

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.n.sum())

    def __len__(self) -> int:
        return len(self.n)

    def __repr__(self) -> str:
        return (
            f"Counts({', '.join(self.columns)}: {len(self)} cells, {self.total} in all)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        same = self.columns == other.columns
        return same and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[tuple[str | None, ...], int]:
        """Every cell by its values; for small tables."""
        return dict(zip(self._list_cells(), self.n.tolist(), strict=True))

    def _list_cells(self) -> Iterator[tuple[str | None, ...]]:
        columns = [
            [d[c] for c in codes.tolist()]
            for d, codes in zip(self.domains, self.codes, strict=True)
        ]
        return zip(*columns, strict=True) if columns else iter([()] * len(self))

    @classmethod
    def from_cells(
        cls, columns: Sequence[str], cells: Mapping[tuple[str | None, ...], int]
    ) -> Counts:
        """Counts written out by hand.

        >>> Counts.from_cells(["job"], {("Cook",): 4, ("Clerk",): 4})
        Counts(job: 2 cells, 8 in all)
        """
        if any(n < 0 for n in cells.values()):
            raise InputError("A count must not be negative.")
        kept = {cell: n for cell, n in cells.items() if n}
        domains = tuple(
            Domain(name, _sorted({cell[j] for cell in kept}))
            for j, name in enumerate(columns)
        )
        codes = tuple(
            np.array([d.code(cell[j]) for cell in kept], dtype=np.int64)
            for j, d in enumerate(domains)
        )
        return cls(domains, codes, np.array(list(kept.values()), dtype=np.int64))

    def __add__(self, other: Counts) -> Counts:
        """Counts of two parts of a table are the counts of the whole."""
        if self.columns != other.columns:
            raise InputError(
                f"Counts must have the same columns to be added; got {self.columns} "
                f"and {other.columns}."
            )
        merged = self.to_dict()
        for cell, n in other.to_dict().items():
            merged[cell] = merged.get(cell, 0) + n
        return Counts.from_cells(self.columns, merged)

    def over(self, columns: Sequence[str]) -> Counts:
        """The marginal over some of the columns.

        >>> two = Counts.from_cells(["a", "b"], {("x", "y"): 2, ("x", "z"): 3})
        >>> two.over(["a"]).to_dict()
        {('x',): 5}
        """
        at = [self.columns.index(c) for c in columns]
        domains = tuple(self.domains[j] for j in at)
        codes = [self.codes[j] for j in at]
        fewer, n = sum_equal_rows(codes, [len(d) for d in domains], self.n)
        return Counts(domains, tuple(fewer), n)


def _sorted(labels: set[str | None]) -> list[str | None]:
    return sorted(labels, key=lambda v: (v is not None, v or ""))


# Codes packed into one integer ------------------------------------------------------


def packed(
    codes: Sequence[Codes], sizes: Sequence[int], rows: int
) -> NDArray[np.int64]:
    """One integer per row that orders rows as their codes do, column by column.

    Where the product of the sizes would pass `MOST_KEYS`, the columns packed so far are
    replaced by their ranks (at most as many as there are rows).
    """
    # Sizes 5 3 4: the codes 1 2 3 are (1 * 3 + 2) * 4 + 3 = 23.
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for column, size in zip(codes, sizes, strict=True):
        if span * size >= MOST_KEYS:
            _, key = np.unique(key, return_inverse=True)
            span = rows
        key = key * size + column
        span *= size
    return key


def find_distinct(
    codes: Sequence[Codes], sizes: Sequence[int], rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each distinct combination, and the combination of each row."""
    key = packed(codes, sizes, rows)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group.ravel()


def unpacked(keys: NDArray[np.int64], sizes: Sequence[int]) -> list[NDArray[Any]]:
    """The codes of keys that were packed, unsigned and as narrow as is fast to divide.

    >>> [c.tolist() for c in unpacked(np.array([1 * 12 + 2 * 4 + 3]), [5, 3, 4])]
    [[1], [2], [3]]
    """
    rest, span, codes = keys.view(np.uint64), prod(sizes), []
    for size in reversed(sizes):
        # What is left is below `span`, so no digit is lost.
        if span < 2**32:
            rest = rest.astype(np.uint32, copy=False)
        by = rest.dtype.type(max(size, 1))
        whole = rest // by
        codes.append(rest - whole * by)
        rest, span = whole, span // max(size, 1)
    return codes[::-1]


def sum_by_key(
    keys: NDArray[np.int64], n: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different keys in order, and the sum of the numbers of each.

    A key and its number are sorted as one integer where they fit into one, which takes
    a third of the time of sorting positions.
    """
    many = int(n.max(initial=0)) + 1
    if int(keys.max(initial=0)) < 2**63 // many:
        # Keys 7 4 7 with 2 5 1, many = 6: 44 29 43, sorted 29 43 44; sums 5 and 1 + 2.
        both = np.sort((keys * many + n).view(np.uint64))
        high = both // np.uint64(many)
        keys, n = high.view(np.int64), (both - high * np.uint64(many)).view(np.int64)
    else:
        order = np.argsort(keys)
        keys, n = keys[order], n[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    return keys[first], np.add.reduceat(n, first) if len(first) else n


JOINT_CELLS = 2**14
"""Cells of a table that several columns share: as many as stay in the cache."""

JOINT_ROWS = 2**16
"""Rows that are added up together, for the same reason."""


def share_tables(sizes: Sequence[int], most: int = JOINT_CELLS) -> list[list[int]]:
    """Columns that are counted together, by their number, the largest first.

    >>> share_tables([74, 7, 300_000, 16])
    [[2], [0, 3, 1]]
    """
    shared: list[list[int]] = []
    for at in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        room = (s for s in shared if prod(sizes[i] for i in [*s, at]) <= most)
        if (first := next(room, None)) is None:
            shared.append(first := [])
        first.append(at)
    return shared


def sum_tables(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    n: NDArray[Any],
    sets: Sequence[Sequence[int]],
) -> list[NDArray[np.float64]]:
    """The sums of numbers by some sets of columns: an array each, an axis per column.

    Sums of whole numbers below 2**53 are exact, so that blocks of rows can be added up.

    >>> two = np.array([0, 1, 1]), np.array([2, 0, 0])
    >>> sum_tables(two, [2, 3], np.array([1, 5, 6]), [[0, 1]])[0]
    array([[ 0.,  0.,  1.],
           [11.,  0.,  0.]])
    """
    shapes = [tuple(sizes[c] for c in s) for s in sets]
    found = [np.zeros(prod(shape)) for shape in shapes]
    step = max(JOINT_ROWS, 4 * max(map(len, found), default=0))
    for start in range(0, len(n), step):
        rows = slice(start, start + step)
        for i, own in enumerate(sets):
            narrow = np.dtype(np.int32 if len(found[i]) < 2**31 else np.int64)
            key: NDArray[Any] = columns[own[0]][rows].astype(narrow)
            for c in own[1:]:
                key *= sizes[c]
                key += columns[c][rows].astype(narrow, copy=False)
            found[i] += np.bincount(key, weights=n[rows], minlength=len(found[i]))
    return [s.reshape(shape) for s, shape in zip(found, shapes, strict=True)]


def sum_columns(
    columns: Sequence[Codes], sizes: Sequence[int], n: NDArray[Any]
) -> list[NDArray[np.float64]]:
    """The sums of numbers by each column alone; several share one look at the rows."""
    found: dict[int, NDArray[np.float64]] = {}
    sets = share_tables(sizes)
    for own, table in zip(sets, sum_tables(columns, sizes, n, sets), strict=True):
        for axis, c in enumerate(own):
            others = tuple(i for i in range(len(own)) if i != axis)
            found[c] = table.sum(axis=others) if others else table
    return [found[c] for c in range(len(columns))]


def sum_equal_rows(
    codes: Sequence[Codes], sizes: Sequence[int], n: NDArray[np.int64]
) -> tuple[list[Codes], NDArray[np.int64]]:
    """Each different line of codes once, in order, with the sum of its numbers."""
    if prod(sizes) < MOST_KEYS:
        keys, people = sum_by_key(packed(codes, sizes, len(n)), n)
        return [c.astype(np.int64) for c in unpacked(keys, sizes)], people
    first, line = find_distinct(codes, sizes, len(n))
    people = np.zeros(len(first), dtype=np.int64)
    np.add.at(people, line, n)
    return [c[first] for c in codes], people
