"""The groups that can decide, found by compiled loops where numba is installed.

The same groups as `privet.audits.skyline.deciding` finds with numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.microdata.skyline.closed_forms import Ints, Point, Ruling
from privet.microdata.skyline.ranked import DENSE, RankedValues, Rows, ranked
from privet.microdata.skyline.skyline import Modes, deciding, modes_of, triples
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.jit import compiled

WORTH = 50_000
"""Batches with fewer rows are done before numba is imported."""

NOTHING = np.iinfo(np.int64).max


class Scan:
    """One batch, looked through once per ruling."""

    def __init__(
        self, batch: EquivalenceClasses, protect: Sequence[int] | None
    ) -> None:
        self.batch, self._protect = batch, protect
        self._seen: dict[int, tuple[Ints, Ints, Ints]] = {}

    @cached_property
    def rows(self) -> RankedValues:
        """The rows, sorted; only where numpy must do it."""
        return ranked(self.batch)

    @cached_property
    def _fast(self) -> bool:
        batch = self.batch
        if len(batch.n) < WORTH:
            return False
        room = DENSE // max(len(batch.about), 1)
        return int(batch.n.max()) < room and compiled("scan") is not None

    @cached_property
    def _columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        batch = self.batch
        value = batch.value.astype(np.int64, copy=False)
        return batch.start.astype(np.int64, copy=False), value, batch.n, batch.total

    def _tables(self, ruling: int) -> tuple[Ints, Ints, Ints]:
        """The least b and tail per (value, a), and each group's mode."""
        if ruling not in self._seen:
            several, most = len(self.batch.about), int(self.batch.n.max())
            lacking = np.full((several, most + 1), NOTHING)
            tails = np.full((several, most + 1), NOTHING)
            modes = np.zeros((len(self.batch), 3), dtype=np.int64)
            allowed = np.ones(several, dtype=bool)
            if self._protect is not None:
                allowed = np.isin(np.arange(several), self._protect)
            scan = compiled("scan")
            assert scan is not None
            scan(*self._columns, ruling, allowed, lacking, tails, modes)
            self._seen[ruling] = lacking, tails, modes
        return self._seen[ruling]

    def deciding(self, rulings: Sequence[Ruling]) -> Rows:
        """Groups that attain some minimum, for whatever k and m."""
        if not self._fast or not all(isinstance(r, int) for r in rulings):
            return deciding(self.rows, rulings, self._protect)
        found = np.zeros(len(self.batch), dtype=bool)
        attain = compiled("attain")
        assert attain is not None
        for ruling in rulings:
            assert isinstance(ruling, int)
            lacking, tails, modes = self._tables(ruling)
            fronts = _front(lacking), _front(tails)
            attain(*self._columns, ruling, *fronts, found)
            there = np.flatnonzero(modes[:, 0])
            a, b, tail = modes[there].T
            found[there[triples(a, b, tail)]] = True
        return np.flatnonzero(found)

    def modes(self, point: Point) -> Modes:
        """Tail, a and b of the most frequent value that matters in each group."""
        if not self._fast or not isinstance(point.l, int):
            return modes_of(self.rows, point.l, self._protect)
        modes = self._tables(point.l)[2]
        there = np.flatnonzero(modes[:, 0])
        a, b, tail = modes[there].T
        return Modes(there, a, b, tail)


def _front(least: Ints) -> NDArray[np.int64]:
    """What no larger a makes superfluous; -1 elsewhere."""
    above = np.minimum.accumulate(least[:, ::-1], axis=1)[:, ::-1]
    kept = least.copy()
    kept[least == NOTHING] = -1
    beaten = np.zeros(least.shape, dtype=bool)
    beaten[:, :-1] = least[:, :-1] >= above[:, 1:]
    kept[beaten] = -1
    return kept
