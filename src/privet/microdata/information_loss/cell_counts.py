"""What is counted of a table beside its release: columns, their cells, whole rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privet.microdata.generalisation.domain_order import parse_number
from privet.microdata.information_loss.value_sets import ValueSets
from privet.values.arrays import Flags, Floats, Ints
from privet.values.contingency import (
    Domain,
)

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of columns whose codes are in the order of their values."""


@dataclass(frozen=True, eq=False)
class MeasuredColumn:
    """A column, and what each of its released texts stands for."""

    name: str
    """As the table calls it."""
    domain: Domain
    """Its values."""
    codes: Ints
    """The code of the value at each place."""
    sets: ValueSets
    """What the released texts stand for, in places."""
    ordered: bool
    """Whether places are in an order that means something."""
    known: bool
    """Whether it may be known from outside: only these make groups."""
    parted: bool = False
    """Whether buckets show its values apart from people."""
    label: Ints | None = None
    """The released text of each place, where that depends on nothing else."""

    @property
    def places(self) -> int:
        """How many values it has."""
        return len(self.domain)

    @cached_property
    def numbers(self) -> Floats | None:
        """The number at each place, missing ones aside; None: it has no numbers."""
        if not self.ordered or self.domain.kind not in ORDERED:
            return None
        labels = [self.domain[int(code)] for code in self.codes]
        found = np.array(
            [np.nan if v is None else parse_number(v, self.domain.kind) for v in labels]
        )
        there = found[[v is not None for v in labels]]
        fine = bool(len(there)) and bool(np.isfinite(there).all())
        return found if fine and bool((np.diff(there) >= 0).all()) else None

    @cached_property
    def midpoints(self) -> Floats | None:
        """Halfway between the least and the largest number each text stands for."""
        numbers, sets = self.numbers, self.sets
        if numbers is None:
            return None
        missing = int(np.isnan(numbers[0]))
        start, last = np.maximum(sets.start, missing), sets.stop - 1
        there = last >= start
        low, high = np.full(sets.count, np.inf), np.full(sets.count, -np.inf)
        owner = sets.owner[there]
        np.minimum.at(low, owner, numbers[start[there]])
        np.maximum.at(high, owner, numbers[last[there]])
        found, some = np.full(sets.count, np.nan), low <= high
        found[some] = low[some] / 2 + high[some] / 2
        return found


@dataclass(frozen=True, eq=False)
class CellCounts:
    """How many rows have which values, and how many show which texts, in one or two
    columns; the same may stand in several lines.
    """

    places: tuple[Ints, ...]
    """The place of the value, one array per column."""
    n: Ints
    """How many rows have it."""
    labels: tuple[Ints, ...]
    """The released text, one array per column."""
    released: Ints
    """How many released rows show it."""
    apart: tuple[Ints, ...] = ()
    """Of two columns that buckets show together: the places of released values."""
    joint: Floats | None = None
    """Rows by their values, an axis per column, where they were added up already."""
    shown: Floats | None = None
    """Released rows by their texts, the same."""


@dataclass(frozen=True, eq=False)
class WholeRows:
    """What only whole rows tell."""

    groups: Ints | None
    """The sizes of groups of released rows that look alike in the known columns; None:
    no column may be known."""
    blank: Ints | None
    """Those of them that show nothing in any of them."""
    changed: int
    """Released rows with a cell that is not as it was."""
    before: Ints | None = None
    """Rows of the table that are alike in all columns; None: not counted."""
    after: Ints | None = None
    """Released rows that are alike in all columns."""
    parted: float = 0.0
    """Bits, of all rows together, that tell who has which of a group's values: buckets
    do not."""


def number_texts(texts: Sequence[str | None]) -> tuple[dict[str | None, int], Ints]:
    """The number of each different text, in the order they come, and of each text."""
    numbers: dict[str | None, int] = {}
    label = [numbers.setdefault(text, len(numbers)) for text in texts]
    return numbers, np.array(label, dtype=np.int64)


def find_changed(column: MeasuredColumn) -> Flags:
    """Which released texts are not the one value they stand for."""
    sets = column.sets
    return np.asarray(sets.blank | (sets.size > 1))
