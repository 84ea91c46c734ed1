"""Beliefs in sets of classes: whether any whole tuple passes a limit, by search.

A limit is a level that the belief in a set of classes must not pass. The odds of a set
against the rest are the sum over its classes of one over the sum of the others' odds
against that class; with every open attribute at its best for each pair by itself this
bounds whatever follows, so most partial tuples need not be completed. NP-hard in
general: beyond a budget the answer is that it is not known.
Mozafari, Zaniolo 2009, section 4, equations (5) and (6), for every property Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import exp

import numpy as np
from numpy.typing import NDArray

from privet.classifier.posteriors.posterior_bounds import find_undominated
from privet.classifier.scores import GUARD, Floats, Known, Scores
from privet.values.beliefs import Ceiling, Limit, Ratio

Codes = NDArray[np.intp]

MOST_CLASSES = 10
"""With more classes, not every set of them is looked at."""

MOST_NODES = 1_000_000
"""Partial tuples that are looked at for one exponent."""

MOST_LEADS = 3_000_000
"""Leads of classes over each other, of all values and sets, that are prepared."""

BLOCK = 200_000
"""Odds that are computed at once."""

ALMOST = Fraction(1, 10**9)
"""How far below 1 a belief is that must be below 1."""


# Limits -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SetLimit:
    """How likely some classes together may be at most, for anybody."""

    classes: tuple[int, ...]
    """Some, but not all."""
    level: Fraction
    """From 0 to 1, both excluded."""
    strict: bool
    """Whether the level itself is too much."""

    def is_passed(self, belief: Fraction) -> bool:
        """Whether a belief is too much."""
        return belief >= self.level if self.strict else belief > self.level


def list_set_limits(
    limit: Limit, prior: Sequence[Fraction], about: Sequence[int] | None = None
) -> list[SetLimit] | None:
    """What a limit on beliefs forbids of sets of classes; None: too many sets.

    With `about`, of these classes, each by itself; else of every set of classes.

    >>> third = [Fraction(1, 3)] * 3
    >>> [x.level for x in list_set_limits(Ratio(2), third)[:2]]
    [Fraction(2, 3), Fraction(5, 6)]
    """
    k = len(prior)
    single = range(k) if about is None else about
    if isinstance(limit, Ceiling):
        return [_limit_ceiling(limit, c) for c in single if _forbids(limit)]
    if isinstance(limit, Ratio):
        return [x for c in single for x in _limit_ratio(limit, prior, c)]
    if about is None and k > MOST_CLASSES:
        return None
    sets = _list_all_sets(k) if about is None else _list_single_sets(k, about)
    up = _keep_largest(q for q in sets if _add(prior, q) < limit.start)
    down = _keep_largest(q for q in sets if _add(prior, q) < 1 - limit.end)
    return [
        *(SetLimit(q, limit.end, True) for q in up),
        *(SetLimit(q, 1 - limit.start, True) for q in down),
    ]


def _forbids(limit: Ceiling) -> bool:
    return limit.level < 1 or limit.strict


def _limit_ceiling(limit: Ceiling, c: int) -> SetLimit:
    level = limit.level - ALMOST if limit.level == 1 else limit.level
    return SetLimit((c,), level, limit.strict)


def _limit_ratio(limit: Ratio, prior: Sequence[Fraction], c: int) -> Iterator[SetLimit]:
    """A class at most so likely, and all others at most what leaves it enough."""
    high, low = limit.factor * prior[c], prior[c] / limit.factor
    if high < 1:
        yield SetLimit((c,), high, False)
    others = tuple(d for d in range(len(prior)) if d != c)
    if low > 0:
        yield SetLimit(others, 1 - low, False)


def _list_all_sets(k: int) -> list[tuple[int, ...]]:
    return [q for size in range(1, k) for q in combinations(range(k), size)]


def _list_single_sets(k: int, about: Sequence[int]) -> list[tuple[int, ...]]:
    """Each class, and all but it: what one learns of it either way."""
    rest = [tuple(d for d in range(k) if d != c) for c in about]
    return [*((c,) for c in about), *rest]


def _add(prior: Sequence[Fraction], chosen: tuple[int, ...]) -> Fraction:
    return sum((prior[c] for c in chosen), start=Fraction(0))


def _keep_largest(sets: Iterator[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The sets that are part of no other: with one level for all they decide."""
    found: list[tuple[int, ...]] = []
    for q in sorted(sets, key=len, reverse=True):
        if not any(set(q) < set(other) for other in found):
            found.append(q)
    return found


# Search -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchAnswer:
    """What a search found out about an exponent."""

    nodes: int
    """Partial tuples that were looked at."""
    passed: SetLimit | None = None
    """The limit that is passed, as far as floats tell; None: none is."""
    known: Known | None = None
    """Who passes it."""
    finished: bool = True
    """Whether everything was looked at; if not, nothing is known."""

    @property
    def is_safe(self) -> bool:
        """Whether it is proved that no limit is passed."""
        return self.finished and self.passed is None


@dataclass(frozen=True, eq=False)
class BeliefSearch:
    """Whether scores to a power pass limits on sets of classes, for any whole tuple."""

    scores: Scores
    """Without zeros."""
    limits: tuple[SetLimit, ...]
    """What must not be passed."""
    skips: bool = False
    """Whether an attribute may add nothing, as on a scorecard."""
    twice: int = 1
    """By how much odds may be larger than these scores have them: 2 for worlds."""
    margin: float = 0.0
    """By how much logarithms of odds may be moved, before the power."""
    room: Fraction = Fraction(0)
    """How far below a level beliefs must stay."""

    def run(self, exponent: Fraction, budget: int = MOST_NODES) -> SearchAnswer:
        """Look at one exponent: the first limit that is passed, or none."""
        nodes = 0
        for limit, branch in zip(self.limits, self._branches, strict=True):
            level = limit.level - self.room
            if level <= 0:
                return SearchAnswer(nodes, limit, {})
            most = _odds_of(level) * self.allow_part(exponent)
            asked = limit if exponent == 1 and self._is_plain else None
            seen, finished, known = branch.run(
                float(exponent), most, budget - nodes, asked
            )
            nodes += seen
            if known is not None or not finished:
                passed = limit if known is not None else None
                return SearchAnswer(nodes, passed, known, finished)
        return SearchAnswer(nodes)

    def allow_part(self, exponent: Fraction) -> float:
        """What part of a limit's odds these scores may have: the rest may be added."""
        return exp(-float(exponent) * self.margin) / self.twice

    def find_again(self, exponent: Fraction, seen: SearchAnswer) -> bool:
        """Whether somebody found at one exponent passes the limit at another one."""
        if seen.passed is None or seen.known is None or not self._is_plain:
            return False
        branch = self._branches[self.limits.index(seen.passed)]
        odds = branch.odds_of(seen.known, float(exponent))
        return odds > _odds_of(seen.passed.level) * (1 + GUARD)

    @property
    def is_affordable(self) -> bool:
        """Whether what the search starts from is not too much by itself."""
        pairs = sum(len(x.classes) * self._count_others(x) for x in self.limits)
        return pairs * sum(map(len, self.scores.factors)) <= MOST_LEADS

    def _count_others(self, limit: SetLimit) -> int:
        return self.scores.classes - len(limit.classes)

    @property
    def _is_plain(self) -> bool:
        """Whether beliefs are held against the levels as they are."""
        return self.twice == 1 and not self.margin and not self.room

    @cached_property
    def _branches(self) -> tuple[_Branch, ...]:
        return tuple(_Branch(self.scores, x.classes, self.skips) for x in self.limits)


def passes(
    scores: Scores,
    limit: SetLimit,
    known: Known,
    exponent: Fraction,
    part: float = 1.0,
) -> bool:
    """Whether somebody passes a part of a limit's odds, scores raised to a power.

    Next to the limit, where floats cannot tell, this says yes.
    """
    odds = _Branch(scores, limit.classes, False).odds_of(known, float(exponent))
    return odds > _odds_of(limit.level) * part * (1 - GUARD)


def _odds_of(level: Fraction) -> float:
    """A belief as odds; beyond what floats hold, the largest round number."""
    return float(min(level / (1 - level), Fraction(10**300)))


class _Branch:
    """The odds of one set of classes against the rest, attribute by attribute."""

    def __init__(self, scores: Scores, chosen: tuple[int, ...], skips: bool) -> None:
        self.scores, self.chosen = scores, chosen
        self.others = [d for d in range(scores.classes) if d not in chosen]
        # Leads of every other class over every chosen one, in doublings: chosen by
        # others, flat.
        self.start = self._lead(scores.log_weights[None, :])[0]
        options = [self._list_values(i, skips) for i in range(scores.attributes)]
        widths = [float(np.ptp(rows, axis=0).sum()) for _, rows in options]
        self.order = sorted(range(len(options)), key=lambda i: -widths[i])
        self.values = [options[i][0] for i in self.order]
        self.rows = [options[i][1] for i in self.order]
        # From each attribute on, the least that values make of each lead by itself.
        rest = np.zeros((len(options) + 1, len(self.start)))
        for at in range(len(options) - 1, -1, -1):
            rest[at] = rest[at + 1] + self.rows[at].min(axis=0)
        self.rest = rest

    def _lead(self, logs: Floats) -> Floats:
        """(rows, classes) to (rows, chosen times others)."""
        ahead = logs[:, None, self.others] - logs[:, list(self.chosen), None]
        found: Floats = ahead.reshape(len(logs), -1)
        return found

    def _list_values(self, i: int, skips: bool) -> tuple[list[int], Floats]:
        """The values of an attribute that no other beats in every lead; -1: unknown."""
        rows = self._lead(self.scores.log_factors[i])
        codes = list(range(len(rows)))
        if skips:
            rows, codes = np.vstack([rows, np.zeros(rows.shape[1])]), [*codes, -1]
        kept = find_undominated(rows)
        return [codes[t] for t in kept], rows[kept]

    def _odds(self, leads: Floats) -> Floats:
        """Odds of the set, from leads of the others: (rows, chosen times others)."""
        with np.errstate(over="ignore", divide="ignore"):
            powers = np.exp2(leads).reshape(len(leads), len(self.chosen), -1)
            found: Floats = (1 / powers.sum(axis=2)).sum(axis=1)
        return found

    def odds_of(self, known: Known, exponent: float) -> float:
        """The odds of the set for somebody."""
        logs = self.scores.log_weights + sum(
            self.scores.log_factors[i][t] for i, t in known.items()
        )
        return float(self._odds(self._lead(logs[None, :]) * exponent)[0])

    def run(
        self, power: float, most: float, budget: int, asked: SetLimit | None
    ) -> tuple[int, bool, Known | None]:
        """How many nodes, whether all, and who passes the odds.

        With `asked`, whoever is next to the odds is held against it in fractions.
        """
        first = self._odds((self.start + self.rest[0])[None, :] * power)
        if first[0] <= most * (1 - GUARD):
            return 1, True, None
        nodes, stack = 1, [(0, self.start[None, :], np.zeros((1, 0), dtype=np.intp))]
        while stack:
            depth, leads, codes = stack.pop()
            if depth == len(self.rows):
                known = self._find_passing(codes, power, most, asked)
                if known is not None:
                    return nodes, True, known
                continue
            nodes += len(leads) * len(self.rows[depth])
            if nodes > budget:
                return nodes, False, None
            stack.extend(self._expand(depth, leads, codes, power, most))
        return nodes, True, None

    def _expand(
        self, depth: int, leads: Floats, codes: Codes, power: float, most: float
    ) -> Iterator[tuple[int, Floats, Codes]]:
        """Every value of the next attribute, but for what cannot pass; best last."""
        rows = self.rows[depth]
        new = (leads[:, None, :] + rows[None, :, :]).reshape(-1, rows.shape[1])
        bound = self._odds((new + self.rest[depth + 1]) * power)
        kept = np.flatnonzero(bound > most * (1 - GUARD))
        kept = kept[np.argsort(bound[kept])]
        parent, value = np.divmod(kept, len(rows))
        longer = np.column_stack([codes[parent], value])
        after = len(self.rows[depth + 1]) if depth + 1 < len(self.rows) else 1
        size = max(1, BLOCK // (after * rows.shape[1]))
        for at in range(0, len(kept), size):
            yield depth + 1, new[kept[at : at + size]], longer[at : at + size]

    def _find_passing(
        self, codes: Codes, power: float, most: float, asked: SetLimit | None
    ) -> Known | None:
        """The first of whole tuples that passes; next to the odds it counts as such."""
        for row in codes[::-1].tolist():
            named = zip(self.order, row, strict=True)
            chosen = {i: self.values[at][t] for at, (i, t) in enumerate(named)}
            known = {i: t for i, t in sorted(chosen.items()) if t >= 0}
            surely = self.odds_of(known, power) > most * (1 + GUARD)
            if surely or asked is None or self._passes(known, asked):
                return known
        return None

    def _passes(self, known: Known, limit: SetLimit) -> bool:
        found = self.scores.of(known)
        return limit.is_passed(_add(found, self.chosen) / sum(found))
