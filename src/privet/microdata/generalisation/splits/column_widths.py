"""How wide columns are in many groups at once, told from the values that occur.

A column of few values is one bit per value, and several columns share a word: the words
of a group's rows, taken together by `or`, are the values that occur. Of an ordered
column the first and the last will do. Nothing is counted: cuts are looked for in the
widest column only, and in the next where that one has none.
LeFevre, DeWitt, Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.microdata.generalisation.domain_order import ORDERED, TREE, DomainArrays
from privet.microdata.generalisation.splits.prefix_cuts import (
    OccurringPlaces,
    list_places,
    measure_places,
)
from privet.microdata.generalisation.splits.split_task import NONE
from privet.values.arrays import Flags, Floats, Ints

WORD = 64
"""Values of several columns that fit one word."""

Word = NDArray[np.uint64]


class WidthTable(NamedTuple):
    """How wide each column (a line) is in each group (a column)."""

    width: Floats
    """From 0 to 1."""
    several: Flags
    """Whether more than one value occurs."""

    def rank_columns(self) -> Ints:
        """The columns of each group, the widest first; a line per rank."""
        return np.argsort(
            np.where(self.several, -self.width, 1.0), axis=0, kind="stable"
        )


class _Bits(NamedTuple):
    """Where a column's values stand in the words."""

    word: int
    shift: int


class ColumnWidths:
    """Tells how wide columns are in groups of their rows."""

    def __init__(self, columns: NDArray[Any], shape: DomainArrays) -> None:
        self._columns, self._shape = columns, shape
        self._bits = _assign_bits(shape)
        words = 1 + max((b.word for b in self._bits.values()), default=-1)
        self._words = np.zeros((words, columns.shape[1]), dtype=np.uint64)
        for d, (word, shift) in self._bits.items():
            at = np.arange(shift, shift + int(shape.size[d]), dtype=np.uint64)
            self._words[word] |= np.left_shift(np.uint64(1), at)[columns[d]]

    def measure(self, row: Ints, begin: Ints) -> WidthTable:
        """The widths in groups of rows, each of which begins where it is said."""
        many = len(self._shape.kind), len(begin)
        found = WidthTable(np.zeros(many), np.zeros(many, dtype=bool))
        words = [np.bitwise_or.reduceat(w[row], begin) for w in self._words]
        for d in range(len(self._shape.kind)):
            if d in self._bits:
                own = _read_bits(words, self._bits[d], int(self._shape.size[d]))
                found.width[d], found.several[d] = self._measure_bits(d, own)
            elif self._shape.kind[d] == ORDERED:
                found.width[d], found.several[d] = self._measure_ends(d, row, begin)
            else:
                places = self._list_places(d, row, begin)
                found.width[d], found.several[d] = self._measure_places(d, places)
        return found

    def _measure_bits(self, d: int, own: Word) -> tuple[Floats, Flags]:
        if self._shape.kind[d] == TREE:
            return self._measure_places(d, _list_bits(own, int(self._shape.size[d])))
        values = np.bitwise_count(own).astype(np.int64)
        return (values - 1) / max(int(self._shape.size[d]) - 1, 1), values > 1

    def _measure_ends(self, d: int, row: Ints, begin: Ints) -> tuple[Floats, Flags]:
        own = self._columns[d][row]
        low = np.minimum.reduceat(own, begin)
        high = np.maximum.reduceat(own, begin)
        return self._shape.at[d, high] - self._shape.at[d, low], high > low

    def _measure_places(self, d: int, places: OccurringPlaces) -> tuple[Floats, Flags]:
        begin = places.begin
        several = np.diff(begin, append=len(places.group)) > 1
        return measure_places(places, begin, d, self._shape)[1], several

    def _list_places(self, d: int, row: Ints, begin: Ints) -> OccurringPlaces:
        """The positions of a column of many values."""
        size = int(self._shape.size[d])
        spans = np.diff(begin, append=len(row))
        keys = np.repeat(np.arange(len(begin)) * size, spans) + self._columns[d][row]
        return list_places(keys, size, np.ones_like(keys), len(begin), 1)


def _assign_bits(shape: DomainArrays) -> dict[int, _Bits]:
    """Columns that are not ordered and have few values, the smallest first."""
    fit = [d for d in range(len(shape.kind)) if shape.kind[d] != ORDERED]
    fit = [d for d in fit if shape.size[d] <= WORD]
    return dict(_fill_words(sorted(fit, key=lambda d: int(shape.size[d])), shape))


def _fill_words(columns: list[int], shape: DomainArrays) -> Iterator[tuple[int, _Bits]]:
    word, used = 0, 0
    for d in columns:
        size = int(shape.size[d])
        if used + size > WORD:
            word, used = word + 1, 0
        yield d, _Bits(word, used)
        used += size


def _read_bits(words: list[Word], at: _Bits, size: int) -> Word:
    """The values of a column that occur in each group."""
    mask = np.uint64(2**size - 1)
    return np.asarray((words[at.word] >> np.uint64(at.shift)) & mask)


def _list_bits(own: Word, size: int) -> OccurringPlaces:
    """The positions whose bits are set, group by group."""
    there = (own[:, None] >> np.arange(size, dtype=np.uint64)) & np.uint64(1)
    group, place = np.nonzero(there)
    return OccurringPlaces(group, place, NONE)
