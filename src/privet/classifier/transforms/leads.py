"""Leads of classes over each other, tuple by tuple: what weights must not undo.

Where the beliefs in some classes are moved, a class that is above another for some
tuple must stay so. Every whole tuple is looked at; where floats cannot tell two scores
apart, fractions do. Of equals the class with the larger index is above.
Mozafari, Zaniolo 2009, section 6.1, Definition 2, and section 7.2, Lemma 12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from privet.classifier.scores import GUARD, Floats, Scores
from privet.errors import TooLarge

MOST_TUPLES = 1_000_000
"""Tuples that are looked at one by one."""

MOST_TIES = 20_000
"""Tuples so near to a tie that they are compared as fractions."""


def find_narrow_lead(
    scores: Scores, pair: tuple[int, int], doublings: float
) -> Mapping[int, int] | None:
    """A row where the first class is above the second by less than so many doublings.

    None where there is none; `TooLarge` where there are too many rows to look at.
    """
    c, d = pair
    # Leads by attribute and value, in doublings.
    tables = [t[:, c] - t[:, d] for t in scores.log_factors]
    if (whole := prod(map(len, tables))) > MOST_TUPLES:
        raise TooLarge(f"{whole:,} rows would have to be looked at one by one.")
    leads: Floats = np.array([scores.log_weights[c] - scores.log_weights[d]])
    for table in tables:
        leads = np.add.outer(leads, table).ravel()
    near = np.flatnonzero((leads >= -GUARD) & (leads < max(doublings, GUARD)))
    for index in sorted(near[:MOST_TIES].tolist(), key=lambda i: -leads[i]):
        at = np.unravel_index(index, [len(t) for t in tables])
        known = {i: int(t) for i, t in enumerate(at)}
        x = scores.of(known)
        if (x[c], c) > (x[d], d):
            return known
    if len(near) > MOST_TIES:
        raise TooLarge(f"{len(near):,} rows are too near to a tie.")
    return None


@dataclass(frozen=True, eq=False)
class TupleLeads:
    """The scores of every whole tuple, and what must stay above what."""

    scores: Scores
    """Without zeros."""
    predicted: tuple[int, ...] | None = None
    """Only the best of these classes must stay best; None: every ranking stays."""

    @property
    def is_small(self) -> bool:
        """Whether every tuple can be looked at."""
        return prod(len(t) for t in self.scores.factors) <= MOST_TUPLES

    @cached_property
    def logs(self) -> Floats:
        """Scores of all tuples, natural logarithms: tuples by classes."""
        found: Floats = self.scores.log_weights[None, :]
        for table in self.scores.log_factors:
            found = (found[:, None, :] + table[None, :, :]).reshape(-1, found.shape[1])
        return found * log(2)

    @cached_property
    def spread(self) -> Floats:
        """The largest lead of each class over each other."""
        return np.array([[(a - b).max() for b in self.logs.T] for a in self.logs.T])

    @cached_property
    def leads(self) -> Floats:
        """The least lead of a class over another wherever it must be above it.

        Infinite where it never must. After the power, weights may not undo it.
        """
        k = self.scores.classes
        found = np.full((k, k), np.inf)
        for c in range(k):
            for d in range(k):
                if c != d:
                    found[c, d] = self._find_least_lead(c, d)
        return found

    def _find_least_lead(self, c: int, d: int) -> float:
        ahead = self.logs[:, c] - self.logs[:, d]
        if self.predicted is not None:
            there = self._best == c
            return float(ahead[there].min(initial=np.inf))
        for row in np.flatnonzero(np.abs(ahead) <= GUARD)[:MOST_TIES].tolist():
            x = self._score_exactly(row)
            if (x[c], c) > (x[d], d):
                return 0.0
        return float(ahead[ahead > GUARD].min(initial=np.inf))

    def _score_exactly(self, row: int) -> tuple[Fraction, ...]:
        """The scores of a tuple that floats cannot tell apart."""
        at = np.unravel_index(row, [len(t) for t in self.scores.factors])
        return self.scores.of({i: int(t) for i, t in enumerate(at)})

    @cached_property
    def is_sure(self) -> bool:
        """Whether every tuple next to a tie is looked at in fractions."""
        pairs = combinations(self.logs.T, 2)
        near = (int((np.abs(a - b) <= GUARD).sum()) for a, b in pairs)
        return max(near, default=0) <= MOST_TIES

    @cached_property
    def _best(self) -> NDArray[np.intp]:
        """The best of the classes that are predicted, by tuple; of equals the last."""
        assert self.predicted is not None
        chosen = np.array(self.predicted)
        sums = self.logs[:, chosen]
        near = sums >= sums.max(axis=1, keepdims=True) - GUARD
        found: NDArray[np.intp] = chosen[len(chosen) - 1 - near[:, ::-1].argmax(axis=1)]
        for row in np.flatnonzero(near.sum(axis=1) > 1)[:MOST_TIES].tolist():
            x = self._score_exactly(row)
            found[row] = max(self.predicted, key=lambda c: (x[c], c))
        return found

    def list_best(self) -> list[int]:
        """The classes that are the best of those predicted for some tuple."""
        found: list[int] = np.unique(self._best).tolist()
        return found
