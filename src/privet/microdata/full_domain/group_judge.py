"""Which groups of a release fail by themselves, and whether the whole is safe.

The search asks nothing else of promises and measures. `Constraints` answers by what
Mondrian's splits are judged by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from privet.microdata.full_domain.window_histograms import WindowHistogram
from privet.microdata.generalisation.constraints import Constraints
from privet.microdata.generalisation.splits.tallies import breaks_rule
from privet.values.arrays import Flags, Ints


class GroupJudge(Protocol):
    """Judges groups by their histograms of protected values, a line per group."""

    @property
    def monotone(self) -> bool:
        """Whether groups that keep everything still do when some of them merge."""

    def find_failing(self, hist: Ints, totals: Ints) -> Flags:
        """Groups that no release may hold, whatever else it holds."""

    def find_small(self, hist: Ints, totals: Ints) -> Flags:
        """Groups that fail by a criterion under which failing rows never rise.

        That is a number of people, or of different values: a group that merges with
        one that passes passes.
        """

    def is_safe(self, hist: Ints, totals: Ints) -> bool:
        """Whether groups that pass by themselves are safe together."""


class ConstraintJudge:
    """Promises and measures that steer Mondrian, group by group."""

    def __init__(
        self,
        constraints: Constraints,
        windows: Sequence[WindowHistogram] = (),
        *,
        monotone: bool = True,
    ) -> None:
        """Mondrian's constraints are monotone; not so each measure a node may have."""
        self._constraints = constraints
        self._windows = windows
        # With companions, windows are judged by a bound.
        self._monotone = monotone and not any(w.constraint.point.m for w in windows)
        rules = constraints.rules
        # Below certainty of any value: at least l + 2 different values.
        self._distinct = [
            r
            for r, rule in enumerate(constraints.alone)
            if rule.values is None and rule.limit.strict and rule.limit.level == 1
        ]
        self._least = int(rules.least)

    @property
    def monotone(self) -> bool:
        """Whether a coarser node of a safe one is safe, too."""
        return self._monotone

    def find_failing(self, hist: Ints, totals: Ints) -> Flags:
        """Groups that are too small, tell too much, or are beyond a measure."""
        failing = self._constraints.find_failing(hist, totals)
        for window in self._windows:
            failing |= window.find_failing(hist)
        return failing

    def find_small(self, hist: Ints, totals: Ints) -> Flags:
        """Groups with too few people, or too few different values."""
        failing = totals < self._least
        rules = self._constraints.rules
        for r in self._distinct:
            failing |= breaks_rule(hist, totals, rules, r)
        return failing

    def is_safe(self, hist: Ints, totals: Ints) -> bool:
        """What depends on all groups: companions, and numbers of groups."""
        return self._constraints.is_safe_together(hist, totals) and all(
            window.is_safe(hist) for window in self._windows
        )
