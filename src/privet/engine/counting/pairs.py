"""Counts of two and three columns from rows at hand: all rows, or some drawn by hash.

Which columns tell others takes very many small counts. Codes of the rows are fetched
once, all of them of a table that is not large; of a large one those whose hash says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow
from privet.values.contingency import Counts, Domain, packed, sum_by_key

Ints = NDArray[np.int64]

DENSE = 8
"""So many times as many cells as rows are counted in an array of all that could be."""


@dataclass(frozen=True)
class Cells:
    """How many rows have each combination of x and c that occurs."""

    x: Ints
    """One integer for each value of the column, or of the two, that may tell."""
    c: Ints
    """The code of the value that may be told."""
    n: Ints
    """How many rows have both."""

    def turn(self) -> Cells:
        """The same with the columns' parts exchanged."""
        return Cells(self.c, self.x, self.n)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Codes of rows, each standing for so many alike."""

    domains: Mapping[str, Domain]
    """The values of each column."""
    codes: Mapping[str, Ints]
    """The codes of each column, all as long as `n`."""
    n: Ints
    """How many rows each stands for."""
    whole: bool
    """Whether these are all rows."""

    @classmethod
    def from_counts(cls, counts: Counts) -> DrawnRows:
        """All rows of a count."""
        codes = {
            c: k.astype(np.int64)
            for c, k in zip(counts.columns, counts.codes, strict=True)
        }
        domains = dict(zip(counts.columns, counts.domains, strict=True))
        return cls(domains, codes, counts.n, True)

    @cached_property
    def _found(self) -> dict[tuple[str, str], int | None]:
        return {}

    def _find_code(self, column: str, text: str) -> int | None:
        """The code of a text; looked up once, since hardly any column has it."""
        key = column, text
        if key not in self._found:
            self._found[key] = self.domains[column].code(text)
        return self._found[key]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.n.sum())

    def draw_some(self, most: int) -> DrawnRows:
        """So many of these, always the same, drawn evenly."""
        at = np.random.default_rng(0).permutation(len(self.n))[:most]
        codes = {c: k[at] for c, k in self.codes.items()}
        return DrawnRows(self.domains, codes, self.n[at], False)

    def count_cells(self, by: Sequence[str], column: str, without: str = "") -> Cells:
        """How often each value of a column comes with each of some others.

        Rows that have the text `without` in one of these columns are left out.
        """
        names = (*by, column)
        sizes = [len(self.domains[c]) for c in names]
        key = packed([self.codes[c] for c in names], sizes, len(self.n))
        rows = self.n
        for c in names:
            if without and (code := self._find_code(c, without)) is not None:
                rows = np.where(self.codes[c] == code, 0, rows)
        if rows is not self.n:
            key, rows = key[rows > 0], rows[rows > 0]
        most = int(key.max(initial=-1)) + 1
        if most <= DENSE * len(key):
            sums = np.bincount(key, weights=rows, minlength=most)
            found = np.flatnonzero(sums)
            n = sums[found].astype(np.int64)
        else:
            found, n = sum_by_key(key, rows)
        # The last digit of the key is the value that may be told.
        size = max(sizes[-1], 1)
        return Cells(found // size, found % size, n)


def number_rows(
    table: pa.Table, domains: Sequence[Domain], *, whole: bool
) -> DrawnRows:
    """Rows from a table of codes, one column per domain."""
    codes = {
        d.name: arrow.numbers(column).astype(np.int64, copy=False)
        for d, column in zip(domains, table.columns, strict=True)
    }
    ones = np.ones(len(table), dtype=np.int64)
    return DrawnRows({d.name: d for d in domains}, codes, ones, whole)
