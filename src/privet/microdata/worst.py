"""The fold every audit is: keep the worst case over groups; parts can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.values import exact
from privet.values.beliefs import Ceiling
from privet.values.equivalence_classes import EquivalenceClasses


@dataclass(frozen=True)
class LinkageCase:
    """One person an adversary looks at: what is known, what is believed, how surely."""

    part: int
    """People who fit and have the value …"""
    whole: int
    """… out of those who fit."""
    known: tuple[str | None, ...]
    """The values known, in the order of the columns."""
    value: str | None
    """The value believed."""
    rank: tuple[int, ...]
    """Where the case stands in the table's own order; settles ties."""

    @property
    def belief(self) -> Fraction:
        """How sure the adversary is."""
        return Fraction(self.part, self.whole)

    def worse_than(self, other: LinkageCase) -> bool:
        """Surer; of equals, with more people; of those, first in the table's order."""
        mine, theirs = (self.belief, self.part), (other.belief, other.part)
        return mine > theirs or (mine == theirs and self.rank < other.rank)


@dataclass(frozen=True)
class WorstLinkage:
    """The worst case among the groups seen so far, and how many are beyond the limit.

    ``Worst(limit)`` is the empty fold; ``left | right`` merges disjoint groups.
    """

    limit: Ceiling
    """What a belief is held against, to count the groups beyond it."""
    values: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""
    case: LinkageCase | None = None
    """The worst so far."""
    groups: int = 0
    """Groups seen."""
    groups_above: int = 0
    """Groups beyond the limit."""
    people_above: int = 0
    """People in them."""

    def add(self, batch: EquivalenceClasses) -> WorstLinkage:
        """With some more whole groups."""
        rows = self._rows(batch)
        group = batch.group if rows is None else batch.group[rows]
        part = batch.n if rows is None else batch.n[rows]
        whole = batch.total[group]
        compare = exact.reaches if self.limit.strict else exact.exceeds
        above = np.zeros(len(batch), dtype=bool)
        above[group[compare(part, whole, self.limit.level)]] = True
        here = replace(
            self,
            case=_worst_of(batch, rows, part, whole),
            groups=len(batch),
            groups_above=int(above.sum()),
            people_above=int(batch.total[above].sum()),
        )
        return self | here

    def _rows(self, batch: EquivalenceClasses) -> NDArray[np.intp] | None:
        """The rows whose value matters; None: all of them."""
        if self.values is None:
            return None
        return np.flatnonzero(np.isin(batch.value, self.values))

    def __or__(self, other: WorstLinkage) -> WorstLinkage:
        if self.case is None or (
            other.case is not None and other.case.worse_than(self.case)
        ):
            case = other.case
        else:
            case = self.case
        return replace(
            self,
            case=case,
            groups=self.groups + other.groups,
            groups_above=self.groups_above + other.groups_above,
            people_above=self.people_above + other.people_above,
        )


def _worst_of(
    batch: EquivalenceClasses,
    rows: NDArray[np.intp] | None,
    part: NDArray[np.int64],
    whole: NDArray[np.int64],
) -> LinkageCase | None:
    if len(part) == 0:
        return None
    ties = exact.highest(part, whole)
    # Groups are in the table's order, so the first of the largest settles the tie.
    best = ties[np.argmax(part[ties])]
    row = int(best if rows is None else rows[best])
    group = int(batch.group[row])
    return LinkageCase(
        int(part[best]),
        int(whole[best]),
        batch.labels(group),
        batch.about[int(batch.value[row])],
        (*batch.keys[group], int(batch.value[row])),
    )
