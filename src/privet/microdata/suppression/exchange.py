"""Exchange: hide a shown value or two again where that lets more be shown.

Greedy disclosure is not optimal. After it, shown values are tried, those worth least
first, one by one and then in pairs: hide them, refill every column by sweeps without
them, then with them. What is found is kept only if it tells at least as much about the
class and hides no more cells, and is better in one of the two; so it ends. Each state
is made by sweeps, and is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf
from time import monotonic
from typing import Any

import numpy as np

from privet.microdata.suppression.sweeps import SweepState
from privet.microdata.suppression.top_down_disclosure import (
    TIE,
    SuppressedAttribute,
    compute_entropy,
)
from privet.release.refine import RefinementProgress, Watcher, find_end
from privet.values.arrays import Ints

TRIALS = 48
"""Exchanges that are tried without being asked for …"""
WORK = 200_000
"""… on cubes of so many rows together."""

Shown = tuple[int, int]
"""A shown value: attribute and code."""


@dataclass(frozen=True)
class Worth:
    """What a state is worth to the analyst."""

    bits: float
    """What its columns tell about the class, each by itself, added up."""
    cells: float
    """Cells that are shown; of intervals, the share of the column they leave out."""

    def beats(self, other: Worth) -> bool:
        """Whether it is better in one respect and not worse in the other."""
        near = TIE * max(abs(other.bits), 1.0), TIE * max(other.cells, 1.0)
        if self.bits < other.bits - near[0] or self.cells < other.cells - near[1]:
            return False
        return self.bits > other.bits + near[0] or self.cells > other.cells + near[1]


def measure_worth(attributes: Sequence[SuppressedAttribute], *, bits: bool) -> Worth:
    """What is shown of all columns is worth."""
    cells = sum(map(_count_shown, attributes))
    return Worth(sum(map(measure_bits, attributes)) if bits else 0.0, cells)


def _count_shown(attribute: SuppressedAttribute) -> float:
    rows = attribute.classes.sum(axis=1)
    if attribute.taxonomy is not None:
        return _count_nodes(attribute, rows)
    if not attribute.ordered:
        hidden = attribute.hidden if attribute.hidden.sum() > 1 else np.zeros(1, bool)
        return float((rows * ~hidden).sum())
    of = max(len(attribute) - 1, 1)
    return sum(
        float(rows[low : high + 1].sum()) * (1 - (high - low) / of)
        for low, high in attribute.list_intervals()
    )


def _count_nodes(attribute: SuppressedAttribute, rows: Ints) -> float:
    """The same where nodes are shown: each by the values it leaves out."""
    there = rows > 0
    label, of = np.unique(attribute.number_labels()[there], return_inverse=True)
    size = np.bincount(of)
    width = (size - 1) / max(int(there.sum()) - 1, 1)
    width[(label == 0) & (size > 1)] = 1.0
    return float((rows[there] * (1 - width[of])).sum())


def measure_bits(attribute: SuppressedAttribute) -> float:
    """The mutual information of what is shown and the class, in bits of a row."""
    found, label = np.unique(attribute.number_labels(), return_inverse=True)
    parts = np.zeros((len(found), attribute.classes.shape[1]), dtype=np.int64)
    np.add.at(parts, label, attribute.classes)
    whole = parts.sum()
    left = (parts.sum(axis=1) / max(whole, 1) * compute_entropy(parts)).sum()
    return float(compute_entropy(parts.sum(axis=0)[None, :])[0] - left)


@dataclass(frozen=True)
class ExchangeStep:
    """An exchange that was made."""

    hidden: tuple[tuple[str, str | None], ...]
    """Columns and values that were hidden, or shown only after all others."""
    cells: float
    """How many cells more are shown."""
    bits: float
    """How many bits more are told about the class."""
    confidences: tuple[Fraction, ...]
    """Conf of each promise and set of columns afterwards."""

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        hidden = [{"column": c, "value": v} for c, v in self.hidden]
        told = {"exchange": hidden, "cells": self.cells, "bits": self.bits}
        return {**told, "confidences": [str(c) for c in self.confidences]}


def improve(
    state: SweepState, *, thorough: bool, watcher: Watcher | None = None
) -> tuple[list[ExchangeStep], str]:
    """Exchange values while that makes the release better; and why that ended.

    A few are tried, or, `thorough`, all until none helps or somebody stops it.
    """
    search, steps = _Search(state, thorough, watcher), list[ExchangeStep]()
    while (found := search.find()) is not None:
        steps.append(found)
    return steps, search.ended


class _Search:
    """The exchanges that are left to try."""

    def __init__(
        self, state: SweepState, thorough: bool, watcher: Watcher | None
    ) -> None:
        self._state, self._watcher = state, watcher
        self._end, self._tried = find_end(None), 0
        self.ended = "finished"
        self._bits = state.utility.kind == "information"
        rows = sum(cube.rows for cube in state.start)
        self._most = inf if thorough else min(TRIALS, WORK // max(rows, 1))

    def find(self) -> ExchangeStep | None:
        """Make the first exchange that helps; None: none does, or the time is over."""
        if self._state.utility.yours is not None:
            return None
        now = measure_worth(self._state.attributes, bits=self._bits)
        for taken in self._list_exchanges():
            if self._tried >= self._most or self._is_stopped():
                return None
            self._tried += 1
            found = self._state.refill(taken)
            then = measure_worth(found.attributes, bits=self._bits)
            if then.beats(now):
                self._state.adopt(found)
                return self._describe(taken, now, then)
        return None

    def _is_stopped(self) -> bool:
        """Whether the time is over, or somebody wants no more."""
        if self._end is not None and monotonic() > self._end:
            self.ended = "improved"
        elif self._watcher is not None:
            worst = self._state.find_worst_belief()
            told = RefinementProgress(self._tried, "exchanging values", worst)
            if self._watcher(told) is False:
                self.ended = "improved"
        return self.ended != "finished"

    def _describe(
        self, taken: Sequence[Shown], now: Worth, then: Worth
    ) -> ExchangeStep:
        domains = [self._state.attributes[a].domain for a, _ in taken]
        hidden = [(d.name, d[c]) for d, (_, c) in zip(domains, taken, strict=True)]
        confidences = [c for cube in self._state.cubes for c in cube.confidences]
        return ExchangeStep(
            tuple(hidden),
            then.cells - now.cells,
            then.bits - now.bits,
            tuple(confidences),
        )

    def _list_exchanges(self) -> Iterator[tuple[Shown, ...]]:
        """One shown value, then two; those worth least first."""
        shown = self._list_shown()
        if not any(self._state.count_hidden()):
            return
        for several in (1, 2):
            yield from combinations(shown, several)

    def _list_shown(self) -> list[Shown]:
        rows = [a.classes.sum(axis=1) for a in self._state.attributes]
        shown: list[tuple[int, int, int]] = []
        for a, attribute in enumerate(self._state.attributes):
            if not attribute.ordered and attribute.taxonomy is None:
                there: Ints = np.flatnonzero(~attribute.hidden & (rows[a] > 0))
                shown += [(int(rows[a][c]), a, c) for c in there.tolist()]
        return [(a, c) for _, a, c in sorted(shown)]
