"""The highest and lowest posterior of one class, over everything that may be known.

With two classes the worst odds tell; with more the problem is NP-hard, and this is a
best-first search, exact unless it grows too large.
Mozafari, Zaniolo 2009, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from privet.releases.scores import GUARD, Floats, Scores

MOST_NODES = 20_000
"""Partial victims that a search for one posterior may look at."""


@dataclass(frozen=True)
class Extreme:
    """The highest or lowest posterior of a class over everything that may be known."""

    value: Fraction
    """Attained by `known`."""
    bound: Fraction
    """Proved never to be passed; the same as `value` where the search was finished."""
    known: Mapping[int, int]
    """The victim."""

    @property
    def exact(self) -> bool:
        """Whether the search was finished."""
        return self.value == self.bound


def extreme(
    scores: Scores,
    label: int,
    *,
    highest: bool,
    attributes: int | None = None,
    budget: int = MOST_NODES,
) -> Extreme:
    """The highest or lowest posterior of a class, by best-first search.

    With two classes one victim is enough. With more the problem is NP-hard; beyond the
    budget the answer is what was found and what was proved.
    """
    search = _Search(scores.normalised, label, highest, attributes)
    best: tuple[Fraction, Mapping[int, int]] | None = None
    for nodes, (bound, known) in enumerate(search.run()):
        if best is not None and search.worse(bound, best[0]):
            return Extreme(best[0], best[0], best[1])
        if known is not None:
            value = _share(scores, label, known)
            if value is not None and (best is None or (value > best[0]) == highest):
                best = value, known
        if nodes > budget:
            return search.unfinished(best, bound)
    if best is None:
        share = Fraction(0)
        return Extreme(share, share, {})
    return Extreme(best[0], best[0], best[1])


def _share(scores: Scores, label: int, known: Mapping[int, int]) -> Fraction | None:
    found = scores.posterior(known)
    return None if found is None else found[label]


Option = tuple[int | None, Floats, tuple[Fraction | None, ...]]
"""A value or None for unknown; the others' odds against a class as logarithms, and
exactly (None: infinite)."""


class _Search:
    """Best-first over attributes: the sum of the other classes' odds against one."""

    def __init__(
        self, view: Scores, label: int, highest: bool, attributes: int | None
    ) -> None:
        self.sign = 1 if highest else -1
        self.most = view.attributes if attributes is None else attributes
        self.others = [d for d in range(view.classes) if d != label]
        self.view, self.label = view, label
        self.start = view.log_weights[self.others] - view.log_weights[label]
        self.options = [
            self._options(i, free=attributes is not None)
            for i in range(view.attributes)
        ]
        rest = np.zeros((view.attributes + 1, len(self.others)))
        for i in range(view.attributes - 1, -1, -1):
            rows = np.array([row for _, row, _ in self.options[i]])
            extreme_row = rows.min(axis=0) if highest else rows.max(axis=0)
            rest[i] = _added(rest[i + 1], extreme_row)
        self.rest = rest

    def _options(self, i: int, free: bool) -> list[Option]:
        """The values of one attribute that no other beats in every class."""
        table, logs = self.view.factors[i], self.view.log_factors[i]
        rows: list[Option] = []
        for t, row in enumerate(table):
            own, others = row[self.label], [row[d] for d in self.others]
            if own:
                ratios = tuple(x / own for x in others)
                rows.append((t, logs[t, self.others] - logs[t, self.label], ratios))
            elif self.sign < 0 and any(others):  # a posterior of 0 is the lowest
                sure = np.where(np.isneginf(logs[t, self.others]), -np.inf, np.inf)
                rows.append((t, sure, tuple(None if x else x for x in others)))
        if free:  # an attribute may be left unknown because others are better
            unknown = (Fraction(1),) * len(self.others)
            rows.append((None, np.zeros(len(self.others)), unknown))
        return [
            row
            for row in rows
            if row[0] is None or not any(self._beats(o, row) for o in rows)
        ]

    def _beats(self, one: Option, other: Option) -> bool:
        """Whether one value is better than another in every class, or the same."""
        if one is other or one[0] is None:
            return False
        with np.errstate(invalid="ignore"):
            lead = np.nan_to_num((other[1] - one[1]) * self.sign, nan=0.0)
        if (lead < -GUARD).any():
            return False
        signs = [
            _sign(other[2][k], one[2][k]) * self.sign
            for k in np.flatnonzero(lead <= GUARD).tolist()
        ]
        if min(signs, default=1) < 0:
            return False
        same = len(signs) == len(lead) and not any(signs)
        return not same or (other[0] is not None and one[0] < other[0])

    def _sum(self, logs: Floats) -> float:
        with np.errstate(over="ignore"):
            return float(np.exp2(logs).sum())

    def run(self) -> Iterator[tuple[float, dict[int, int] | None]]:
        """Bounds on the sum in the order of promise, and victims where complete."""
        heap: list[tuple[float, int, int, Floats, tuple[int | None, ...]]] = []
        count = 0
        first = self._sum(self.start + self.rest[0])
        heappush(heap, (self.sign * first, count, 0, self.start, ()))
        while heap:
            bound, _, used, logs, chosen = heappop(heap)
            depth = len(chosen)
            if depth == self.view.attributes:
                known = {i: t for i, t in enumerate(chosen) if t is not None}
                yield self.sign * bound, known
                continue
            yield self.sign * bound, None
            for t, row, _ in self.options[depth]:
                spent = used + (t is not None)
                if spent > self.most:
                    continue
                new = _added(logs, row)
                whole = _added(new, self.rest[depth + 1])
                count += 1
                item = (self.sign * self._sum(whole), count, spent, new, (*chosen, t))
                heappush(heap, item)

    def worse(self, bound: float, best: Fraction) -> bool:
        """Whether nothing from here on can pass what was found, guard included."""
        if np.isinf(bound):
            return False
        value = 1 / (1 + bound)
        return self.sign * (value - float(best)) < -GUARD

    def unfinished(
        self, best: tuple[Fraction, Mapping[int, int]] | None, bound: float
    ) -> Extreme:
        """What is known when the budget is spent."""
        reach = Fraction(0) if np.isinf(bound) else Fraction(1 / (1 + bound))
        slack = Fraction(self.sign, 10**9)
        edge = min(max(reach + slack, Fraction(0)), Fraction(1))
        value, known = best if best is not None else (edge, {})
        return Extreme(value, edge, known)


def _sign(a: Fraction | None, b: Fraction | None) -> int:
    """Whether a is more (1), the same (0) or less (-1) than b; None is infinite."""
    if a is None or b is None:
        return (a is None) - (b is None)
    return (a > b) - (a < b)


def _added(a: Floats, b: Floats) -> Floats:
    """Sums of logarithms, where what never occurs stays so."""
    with np.errstate(invalid="ignore"):
        total: Floats = a + b
    total[np.isnan(total)] = -np.inf
    return total
