"""Posteriors at their worst: the highest and lowest of a class over all one may know.

The Bayesian adversary takes the victim for a random row that fits. With two classes the
worst odds tell; with more the problem is NP-hard, and this is a best-first search,
exact unless it grows too large.
Mozafari, Zaniolo 2009, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import log2

import numpy as np
from numpy.typing import NDArray

from privet.classifier.scores import GUARD, Floats, Scores, log_of

MOST_NODES = 20_000
"""Partial victims that a search for one posterior may look at."""


@dataclass(frozen=True)
class PosteriorBound:
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


def find_extreme_posterior(
    scores: Scores,
    label: int,
    *,
    highest: bool,
    attributes: int | None = None,
    budget: int = MOST_NODES,
) -> PosteriorBound:
    """The highest or lowest posterior of a class, by best-first search.

    With two classes one victim is enough. With more the problem is NP-hard; beyond the
    budget the answer is what was found and what was proved.
    """
    if scores.classes == 1:  # everybody is of it
        return PosteriorBound(Fraction(1), Fraction(1), {})
    search = _BoundSearch(scores.normalised, label, highest, attributes)
    best: tuple[Fraction, Mapping[int, int]] | None = None
    for nodes, bound, known in search.run():
        if best is not None and search.is_worse(bound, best[0]):
            return PosteriorBound(best[0], best[0], search.shorten_victim(*best))
        if known is not None:
            value = _class_posterior(scores, label, known)
            if value is not None and (best is None or (value > best[0]) == highest):
                best = value, known
        if nodes > budget:
            return search.bound_unfinished(best, bound)
    if best is None:
        share = Fraction(0)
        return PosteriorBound(share, share, {})
    return PosteriorBound(best[0], best[0], best[1])


def _class_posterior(
    scores: Scores, label: int, known: Mapping[int, int]
) -> Fraction | None:
    found = scores.posterior(known)
    return None if found is None else found[label]


class _BoundSearch:
    """Best-first over attributes: the sum of the other classes' odds against one."""

    def __init__(
        self, view: Scores, label: int, highest: bool, attributes: int | None
    ) -> None:
        self.sign = 1 if highest else -1
        self.most = view.attributes if attributes is None else attributes
        self.others = [d for d in range(view.classes) if d != label]
        self.view, self.label = view, label
        # Log-odds of the other classes against this one: before anything is known …
        self.start = view.log_weights[self.others] - view.log_weights[label]
        self.free = attributes is not None
        options = [self._list_options(i) for i in range(view.attributes)]
        self.values = [values for values, _ in options]
        self.rows = [rows for _, rows in options]  # … values x others, by attribute
        # … and, from each attribute on, the best that values can do for each by itself.
        rest = np.zeros((view.attributes + 1, len(self.others)))
        for i in range(view.attributes - 1, -1, -1):
            best = self.rows[i].min(axis=0) if highest else self.rows[i].max(axis=0)
            rest[i] = _add_logs(rest[i + 1], best)
        self.rest = rest

    def _list_options(self, i: int) -> tuple[list[int | None], Floats]:
        """The values of one attribute that no other beats in every class.

        The others' odds against the class, as logarithms. A value that the class never
        has makes its posterior 0: the lowest there is, and of no use for the highest.
        """
        logs = self.view.log_factors[i]
        own = logs[:, [self.label]]
        with np.errstate(invalid="ignore"):
            rows = logs[:, self.others] - own
        never = np.isneginf(own).ravel()
        # Of a value that the class never has: others that have it are infinitely ahead,
        # others that have it not are as impossible.
        rows[never] = np.where(
            np.isneginf(logs[never][:, self.others]), -np.inf, np.inf
        )
        usable = ~never if self.sign > 0 else ~np.isneginf(logs).all(axis=1)
        there = np.flatnonzero(usable)
        there = there[find_undominated(rows[there] * self.sign)]
        found = self._drop_duplicates(i, there.tolist(), rows)
        values: list[int | None] = list(found)
        rows = rows[found]
        if self.free:  # an attribute may be left unknown because others are better
            values, rows = [*values, None], np.vstack([rows, np.zeros(rows.shape[1])])
        return values, rows

    def _drop_duplicates(self, i: int, values: list[int], rows: Floats) -> list[int]:
        """One value of those that tell exactly the same."""
        seen: dict[bytes, list[int]] = {}
        table = self.view.factors[i]

        def same(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> bool:
            in_a, in_b = a[self.label], b[self.label]
            if not in_a or not in_b:
                return not in_a and not in_b
            return all(a[d] * in_b == b[d] * in_a for d in self.others)

        for t in values:
            # Nine digits find the candidates, fractions decide; + 0.0 because the bytes
            # of -0.0 are others.
            alike = seen.setdefault((rows[t].round(9) + 0.0).tobytes(), [])
            if not any(same(table[t], table[u]) for u in alike):
                alike.append(t)
        return sorted(t for alike in seen.values() for t in alike)

    def run(self) -> Iterator[tuple[int, float, dict[int, int] | None]]:
        """How much work it was; bounds on the sum, the most promising first; victims
        where they are complete.
        """
        # Bound, number (so that arrays are never compared), attributes known, log-odds
        # of the others so far, values chosen. A posterior is 1/(1 + the sum of the odds
        # of the others): 1/2 and 1/4 make 4/7.
        heap: list[tuple[float, int, int, Floats, tuple[int | None, ...]]] = []
        with np.errstate(over="ignore"):
            first = float(np.exp2(_add_logs(self.start, self.rest[0])).sum())
        heappush(heap, (self.sign * first, 0, 0, self.start, ()))
        count = 0
        while heap:
            bound, _, used, logs, chosen = heappop(heap)
            depth = len(chosen)
            if depth == self.view.attributes:
                known = {i: t for i, t in enumerate(chosen) if t is not None}
                yield count, self.sign * bound, known
                continue
            yield count, self.sign * bound, None
            new = _add_logs(logs[None, :], self.rows[depth])  # values x others
            with np.errstate(over="ignore"):
                # The rest is at its best for each of the others by itself, so no victim
                # below has a better sum.
                sums = np.exp2(_add_logs(new, self.rest[depth + 1][None, :])).sum(
                    axis=1
                )
            for t, row, total in zip(
                self.values[depth], new, sums.tolist(), strict=True
            ):
                spent = used + (t is not None)
                if spent <= self.most:
                    count += 1
                    item = (self.sign * total, count, spent, row, (*chosen, t))
                    heappush(heap, item)

    def is_worse(self, bound: float, best: Fraction) -> bool:
        """Whether nothing from here on can pass what was found, guard included.

        Logarithms of the odds tell beliefs apart that are as good as 0 or 1.
        """
        if best == self.sign > 0 or best == 0 > self.sign:
            return True
        if np.isinf(bound) or not bound:
            return False
        odds = log_of((1 - best) / best) if best else np.inf
        return bool(self.sign * (log2(bound) - odds) > GUARD)

    def shorten_victim(
        self, value: Fraction, known: Mapping[int, int]
    ) -> Mapping[int, int]:
        """Of what rules a class out, one attribute, where others may be unknown."""
        if value or not self.free:
            return known
        ruling = (i for i, t in known.items() if not self._factor(i, t))
        i = next(ruling)
        return {i: known[i]}

    def _factor(self, attribute: int, value: int) -> Fraction:
        return self.view.factors[attribute][value][self.label]

    def bound_unfinished(
        self, best: tuple[Fraction, Mapping[int, int]] | None, bound: float
    ) -> PosteriorBound:
        """What is known when the budget is spent."""
        reach = Fraction(0) if np.isinf(bound) else Fraction(1 / (1 + bound))
        slack = Fraction(self.sign, 10**9)
        edge = min(max(reach + slack, Fraction(0)), Fraction(1))
        value, known = best if best is not None else self._find_greedy_victim()
        return PosteriorBound(value, edge, known)

    def _find_greedy_victim(self) -> tuple[Fraction, Mapping[int, int]]:
        """Some victim: attribute by attribute the best for the sum so far."""
        logs, known = self.start, dict[int, int]()
        options = zip(self.values, self.rows, strict=True)
        for depth, (values, rows) in enumerate(options):
            new = _add_logs(logs[None, :], rows)
            with np.errstate(over="ignore"):
                at = int(np.argmin(self.sign * np.exp2(new).sum(axis=1)))
            value = values[at]
            if value is not None and len(known) < self.most:
                known[depth], logs = value, new[at]
        found = self.view.posterior(known)
        share = Fraction(0) if found is None else found[self.label]
        return share, known


STRONG, BLOCK = 64, 256
"""Rows that are compared with all others first; and rows compared at once."""


def find_undominated(table: Floats) -> list[int]:
    """The rows that no other is smaller than in every column, by more than noise."""
    left = np.arange(len(table))
    if table.shape[1] == 1 and len(table):
        # Two classes: the least is the only one, but for what floats cannot tell.
        column = table[:, 0]
        return [int(t) for t in left[~(column > column.min() + GUARD)]]
    if len(left) > BLOCK:  # a few strong rows beat most of thousands
        sums = np.nan_to_num(table, posinf=1e9, neginf=-1e9).sum(axis=1)
        strong = np.argsort(sums)[:STRONG]
        left = left[~_find_beaten(table, table[strong])]
    found: list[int] = left[~_find_beaten(table[left], table[left])].tolist()
    return found


def _find_beaten(table: Floats, by: Floats) -> NDArray[np.bool_]:
    """Whether one of some rows is smaller in every column."""
    found = np.zeros(len(table), dtype=bool)
    for start in range(0, len(by), BLOCK):
        part = by[start : start + BLOCK]
        with np.errstate(invalid="ignore"):
            lead = table[None, :, :] - part[:, None, :]  # part x table x columns
        found |= ((lead > GUARD) & ~np.isnan(lead)).all(axis=2).any(axis=0)
    return found


def _add_logs(a: Floats, b: Floats) -> Floats:
    """Sums of logarithms, where what never occurs stays so."""
    with np.errstate(invalid="ignore"):
        total: Floats = a + b
    total[np.isnan(total)] = -np.inf
    return total
