"""The worst case of a linker over groups: Conf, the highest confidence so far.

It is a fold: it keeps the worst case over equivalence classes, and parts can be merged.
Of a number within a window the window with most people takes the place of a value.
Wang, Fung, Yu 2007, §3 (confidence).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.microdata.window_counts import WindowCounts, count_windows
from privet.values import exact
from privet.values.beliefs import Ceiling
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Span, Windows


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
    span: Span | None = None
    """Of a number within a window: the lowest and the highest in it."""

    @property
    def belief(self) -> Fraction:
        """How sure the adversary is."""
        return Fraction(self.part, self.whole)

    def worse_than(self, other: LinkageCase) -> bool:
        """Surer; of equals, with more people; of those, first in the table's order."""
        self_, other_ = (self.belief, self.part), (other.belief, other.part)
        return self_ > other_ or (self_ == other_ and self.rank < other.rank)


@dataclass(frozen=True)
class WorstLinkage:
    """The worst case among the groups seen so far, and how many are beyond the limit.

    ``WorstLinkage(limit)`` is the empty fold; ``left | right`` merges disjoint groups.
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
        rows = self._select_rows(batch)
        group = batch.group if rows is None else batch.group[rows]
        part = batch.n if rows is None else batch.n[rows]
        whole = batch.total[group]
        compare = exact.reaches if self.limit.strict else exact.exceeds
        # Several values of a group may be beyond the limit; it counts once.
        above = np.zeros(len(batch), dtype=bool)
        above[group[compare(part, whole, self.limit.level)]] = True
        here = replace(
            self,
            case=_find_worst_case(batch, rows, part, whole),
            groups=len(batch),
            groups_above=int(above.sum()),
            people_above=int(batch.total[above].sum()),
        )
        return self | here

    def _select_rows(self, batch: EquivalenceClasses) -> NDArray[np.intp] | None:
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


def _find_worst_case(
    batch: EquivalenceClasses,
    rows: NDArray[np.intp] | None,
    part: NDArray[np.int64],
    whole: NDArray[np.int64],
) -> LinkageCase | None:
    if len(part) == 0:
        return None
    ties = exact.find_highest(part, whole)
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


# A number within a window -----------------------------------------------------------


@dataclass(frozen=True)
class WorstWindow(WorstLinkage):
    """The same for a number: the window of a group that most of its people are in."""

    windows: Windows | None = None
    """The windows of the column."""
    bound: bool = False
    """Whether counts are bounds: of people with several numbers, each is counted."""

    def add(self, batch: EquivalenceClasses) -> WorstWindow:
        """With some more whole groups."""
        assert self.windows is not None
        found = count_windows(batch, self.windows)
        part, whole = found.count, found.whole
        compare = exact.reaches if self.limit.strict else exact.exceeds
        above = np.zeros(len(batch), dtype=bool)
        above[found.group[found.at][compare(part, whole, self.limit.level)]] = True
        here = replace(
            self,
            case=_find_worst_window(batch, found),
            groups=len(batch),
            groups_above=int(above.sum()),
            people_above=int(batch.total[above].sum()),
            bound=self.bound or int(batch.total.sum()) != int(batch.n.sum()),
        )
        return self | here

    def __or__(self, other: WorstLinkage) -> WorstWindow:
        both = super().__or__(other)
        assert isinstance(both, WorstWindow)
        assert isinstance(other, WorstWindow)
        return replace(both, bound=self.bound or other.bound)


def _find_worst_window(
    batch: EquivalenceClasses, found: WindowCounts
) -> LinkageCase | None:
    if len(found.at) == 0:
        return None
    ties = exact.find_highest(found.count, found.whole)
    best = int(ties[np.argmax(found.count[ties])])
    group, span = int(found.group[found.at[best]]), found.name_span(best)
    return LinkageCase(
        int(found.count[best]),
        int(found.whole[best]),
        batch.labels(group),
        str(span),
        (*batch.keys[group], int(found.place[found.at[best]])),
        span,
    )


def count_span(everybody: EquivalenceClasses, windows: Windows, span: Span) -> int:
    """People of one group of everybody whose number lies from the low to the high."""
    ends = [windows.place[windows.domain.code(x)] for x in span]
    place = windows.place[everybody.value]
    inside = (place >= min(ends)) & (place <= max(ends))
    return min(int(everybody.n[inside].sum()), int(everybody.total[0]))
