"""How near to a prior powers with weights come: found, or proved not to be there.

Scores are raised to a power and every class is weighed. That all rankings stay (or the
best of some classes) is linear in the logarithms; that every belief stays within a
factor of the prior is not. Boxes of powers and weights are halved: one goes where some
condition fails on all of it, for some tuple; the middle of one that keeps everything is
an answer. No box left: there is none. What is too small to halve is left open.
Not in the paper: it leaves open what lies between any release and small powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, log2, prod

import numpy as np
from numpy.typing import NDArray

from privet.classifier.scores import GUARD, Floats, Scores
from privet.classifier.transforms.leads import TupleLeads

MOST_TUPLES = 300_000
"""Whole tuples that are looked at one by one."""

MOST_BOXES = 40_000
"""Boxes that are looked at for one factor."""

TINY = 2e-5
"""A box that moves no log odds by more than this is not halved."""

INSIDE = 1e-7
"""How far inside an answer is, so that rounding does not lead out of it."""

FLATTEST = 30
"""Halvings of a power that are tried."""

RAISES = 10
"""How often a larger power is tried."""

FITS = 20
"""How often weights are moved to fit a power."""

ROUGHLY = 1.001
"""How close the ends of a bracket come."""


@dataclass(frozen=True)
class Weighing:
    """A power and weights, as natural logarithms, by class."""

    power: float
    weights: tuple[float, ...]

    @property
    def moves(self) -> list[float]:
        """By how many doublings each class is moved."""
        return [w / log(2) for w in self.weights]


@dataclass(frozen=True)
class ClosenessAnswer:
    """What was found out about one factor."""

    found: Weighing | None
    """A power and weights that keep to it."""
    settled: bool
    """Whether it is proved that there is none, where none was found."""
    boxes: int
    """Boxes that were looked at."""


@dataclass(frozen=True, eq=False)
class ClosenessSearch:
    """Powers and weights that keep predictions and stay within a factor of a prior."""

    scores: Scores
    """Without zeros."""
    prior: Sequence[Fraction]
    """What is believed of each class beforehand; above 0."""
    predicted: tuple[int, ...] | None = None
    """Only the best of these classes is kept for each tuple; None: all rankings."""

    # What must hold -------------------------------------------------------------------

    @cached_property
    def rows(self) -> TupleLeads:
        """Every whole tuple, and what must stay above what there."""
        return TupleLeads(self.scores, self.predicted)

    @property
    def is_small(self) -> bool:
        """Whether every tuple can be looked at, again and again."""
        return prod(len(t) for t in self.scores.factors) <= MOST_TUPLES

    @cached_property
    def log_prior(self) -> Floats:
        """The prior, natural logarithms."""
        return np.array([log(f) for f in self.prior])

    # One power and weights ------------------------------------------------------------

    def measure(self, at: Weighing) -> float:
        """The factor a power and weights keep to, from every tuple."""
        return float(np.exp(self._measure_tuples(at, self.rows.logs).max()))

    def _measure_tuples(self, at: Weighing, logs: Floats) -> Floats:
        """The logarithm of the factor, by tuple."""
        found: Floats = np.abs(self._measure_classes(at, logs)).max(axis=1)
        return found

    def _measure_classes(self, at: Weighing, logs: Floats | None = None) -> Floats:
        """Logarithms of beliefs by the prior, by tuple and class."""
        rows = self.rows.logs if logs is None else logs
        sums = at.power * rows + np.array(at.weights)
        top = sums.max(axis=1, keepdims=True)
        whole = top + np.log(np.exp(sums - top).sum(axis=1, keepdims=True))
        found: Floats = sums - whole - self.log_prior
        return found

    def keeps_order(self, at: Weighing) -> bool:
        """Whether no weight undoes what must stay above."""
        w = np.array(at.weights)
        gained = w[None, :] - w[:, None]  # of the second class on the first
        finite = np.isfinite(self.rows.leads) & ((gained > 0) | (self.rows.leads < 0))
        after = at.power * self.rows.leads[finite] - gained[finite]
        return at.power > 0 and bool((after > INSIDE * (at.power + 1e-3)).all())

    # The search -----------------------------------------------------------------------

    def settle(
        self, r: float, least: float = 0.0, budget: int | None = None
    ) -> ClosenessAnswer:
        """Powers of at least so much and weights that keep to a factor, or none."""
        boxes, active = _Boxes.start(self, r, least), self._list_first()
        looked, settled = 0, self.rows.is_sure
        most = MOST_BOXES if budget is None else budget
        while len(boxes.low):
            looked += len(boxes.low)
            if looked > most:
                return ClosenessAnswer(None, False, looked)
            boxes = boxes.drop(self, active, log(r))
            found, active = self._try_middles(boxes, active, log(r))
            if found is not None:
                return ClosenessAnswer(found, True, looked)
            boxes, small = boxes.halve(float(self.rows.spread.max()))
            settled = settled and not small
        return ClosenessAnswer(None, settled, looked)

    def _list_first(self) -> Floats:
        """The tuples of the largest leads: the first to be looked at."""
        pairs = [(a - b).argmax() for a in self.rows.logs.T for b in self.rows.logs.T]
        found: Floats = self.rows.logs[sorted(set(map(int, pairs)))]
        return found

    def _try_middles(
        self, boxes: _Boxes, active: Floats, log_r: float
    ) -> tuple[Weighing | None, Floats]:
        """The middle of a box that keeps everything; else more tuples to look at."""
        for middle in boxes.middles():
            at = self._repair(middle)
            if at is None or self._measure_tuples(at, active).max() > log_r - INSIDE:
                continue
            each = self._measure_tuples(at, self.rows.logs)
            if each.max() <= log_r - INSIDE:
                return at, active
            worst = self.rows.logs[[int(each.argmax())]]
            active = np.vstack([active, worst])
        return None, active

    def _repair(self, middle: Floats) -> Weighing | None:
        """The same, with classes made alike whose weights would change places."""
        power, weights = float(middle[0]), [*middle[1:].tolist(), 0.0]
        for _ in range(len(weights)):
            at = Weighing(power, tuple(weights))
            if self.keeps_order(at):
                return at
            weights = self._make_alike(at)
        return None

    def _make_alike(self, at: Weighing) -> list[float]:
        w = np.array(at.weights)
        gained = w[None, :] - w[:, None]
        wrong = np.isfinite(self.rows.leads) & (
            at.power * self.rows.leads - gained <= 0
        )
        for c, d in np.argwhere(wrong & (gained > 0)):
            w[w == w[d]] = w[w == w[c]] = (w[c] + w[d]) / 2
        return [float(x) for x in w]

    # Brackets -------------------------------------------------------------------------

    def bracket(self, low: float, high: float) -> tuple[float, float, Weighing | None]:
        """Between which factors the least one lies that is reached.

        Parameters
        ----------
        low
            A factor that is not reached.
        high
            One that is reached, or come near to.
        """
        best = None
        while high / low > ROUGHLY:
            middle = (low * high) ** 0.5
            answer = self.settle(middle)
            if answer.found is not None:
                best, high = answer.found, min(middle, self.measure(answer.found))
            elif answer.settled:
                low = middle
            else:
                break
        return low, high, best

    def start_flat(self, weights: Sequence[float], r: float) -> Weighing | None:
        """The largest of ever smaller powers that keeps to a factor with weights."""
        logs = tuple(log(w) for w in weights)
        tried = (Weighing(0.5**j, logs) for j in range(FLATTEST))
        return next((at for at in tried if self._is_inside(at, r)), None)

    def _is_inside(self, at: Weighing, r: float) -> bool:
        within = self._measure_tuples(at, self.rows.logs).max() <= log(r) - INSIDE
        return bool(within) and self.keeps_order(at)

    def bound_power(self, r: float) -> float:
        """What no power passes that keeps to a factor, whatever the weights."""
        wide = float((self.rows.spread + self.rows.spread.T).max())
        # Where everybody has the same odds, weights do whatever a power does.
        return 4 * log(r) / wide if wide > GUARD else 1.0

    def raise_power(self, at: Weighing, r: float, most: float = 1.0) -> Weighing:
        """A larger power with weights of its own that keeps to a factor, if any."""
        low, high = at.power, min(most, self.bound_power(r))
        for _ in range(RAISES):
            if high <= low * 1.01:
                break
            middle = (low * high) ** 0.5
            more = self._fit(Weighing(middle, at.weights), r)
            more = more or self.settle(r, middle, MOST_BOXES // 10).found
            if more is not None and more.power <= most:
                at, low = more, more.power
            else:
                high = middle
        return at

    def _fit(self, start: Weighing, r: float) -> Weighing | None:
        """Weights for a power, moved until every class is as far off up as down."""
        weights = np.array(start.weights)
        for _ in range(FITS):
            last = weights - weights[-1]
            at = self._repair(np.array([start.power, *last[:-1]]))
            if at is not None and self._is_inside(at, r):
                return at
            off = self._measure_classes(Weighing(start.power, tuple(weights)))
            weights = weights - (off.min(axis=0) + off.max(axis=0)) / 2
        return None


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes of powers and weights: a row each, the power first, then weights."""

    low: Floats
    high: Floats

    @classmethod
    def start(cls, search: ClosenessSearch, r: float, least: float) -> _Boxes:
        """One box with everything that may keep to a factor."""
        k, spread, logs = search.scores.classes, search.rows.spread, search.log_prior
        # beta M_cd + v_c - v_d <= log(r^2 F_c/F_d), also the other way round.
        room = 2 * log(r) + logs[:, None] - logs[None, :]
        most = search.bound_power(r)
        up = room[:-1, k - 1] + most * np.maximum(0, -spread[:-1, k - 1])
        down = room[k - 1, :-1] + most * np.maximum(0, -spread[k - 1, :-1])
        if least > most:
            return cls(np.zeros((0, k)), np.zeros((0, k)))
        return cls(
            np.concatenate([[least], -down])[None, :],
            np.concatenate([[most], up])[None, :],
        )

    def _weights(self) -> tuple[Floats, Floats]:
        """The weights of all classes, the last one's 0."""
        none = np.zeros((len(self.low), 1))
        return (
            np.hstack([self.low[:, 1:], none]),
            np.hstack([self.high[:, 1:], none]),
        )

    def drop(self, search: ClosenessSearch, active: Floats, log_r: float) -> _Boxes:
        """Those on which no condition surely fails."""
        kept = self._keep(self._fails_order(search) | self._fails_pairs(search, log_r))
        return kept._keep(kept._fails_closeness(search, active, log_r))

    def _keep(self, gone: NDArray[np.bool_]) -> _Boxes:
        return _Boxes(self.low[~gone], self.high[~gone])

    def _fails_order(self, search: ClosenessSearch) -> NDArray[np.bool_]:
        low, high = self._weights()
        ahead = np.where(np.isfinite(search.rows.leads), search.rows.leads, 0.0)
        # The most that is left of each lead anywhere in the box.
        power = np.where(ahead[None] > 0, self.high[:, :1, None], self.low[:, :1, None])
        left = power * ahead[None] + high[:, :, None] - low[:, None, :]
        wrong = (left < -GUARD * (1 + np.abs(left))) & np.isfinite(search.rows.leads)[
            None
        ]
        return np.asarray(wrong.any(axis=(1, 2)))

    def _fails_pairs(self, search: ClosenessSearch, log_r: float) -> NDArray[np.bool_]:
        low, high = self._weights()
        spread = search.rows.spread[None]
        power = np.where(spread > 0, self.low[:, :1, None], self.high[:, :1, None])
        least = power * spread + low[:, :, None] - high[:, None, :]
        room = 2 * log_r + search.log_prior[:, None] - search.log_prior[None, :]
        return np.asarray((least > room[None] + GUARD).any(axis=(1, 2)))

    def _fails_closeness(
        self, search: ClosenessSearch, active: Floats, log_r: float
    ) -> NDArray[np.bool_]:
        """Whether some belief is too small, or too large, all over the box."""
        found = np.zeros(len(self.low), dtype=bool)
        low, high = self._weights()
        for c, f in enumerate(search.log_prior.tolist()):
            # Tuples by other classes: how far they are ahead.
            ahead = active - active[:, [c]]
            ends = self.low[:, :1, None] * ahead, self.high[:, :1, None] * ahead
            least = np.minimum(*ends) + (low - high[:, [c]])[:, None, :]
            most = np.maximum(*ends) + (high - low[:, [c]])[:, None, :]
            least[:, :, c] = most[:, :, c] = 0.0
            largest = -_log_sum(least)  # log of the belief, at most
            smallest = -_log_sum(most)
            found |= (largest < f - log_r - GUARD).any(axis=1)
            found |= (smallest > f + log_r + GUARD).any(axis=1)
        return found

    def middles(self) -> Floats:
        """Their middles."""
        found: Floats = (self.low + self.high) / 2
        return found

    def halve(self, spread: float) -> tuple[_Boxes, bool]:
        """Halves along the side of largest effect; and whether some were too small."""
        effect = (self.high - self.low) * np.array(
            [spread, *[1.0] * (self.low.shape[1] - 1)]
        )
        large = effect.max(axis=1) > TINY
        low, high, side = (
            self.low[large],
            self.high[large],
            effect[large].argmax(axis=1),
        )
        rows = np.arange(len(low))
        cut = (low[rows, side] + high[rows, side]) / 2
        left, right = high.copy(), low.copy()
        left[rows, side] = right[rows, side] = cut
        halves = _Boxes(np.vstack([low, right]), np.vstack([left, high]))
        return halves, not bool(large.all())


def _log_sum(logs: Floats) -> Floats:
    top = logs.max(axis=2, keepdims=True)
    found: Floats = (top + np.log(np.exp(logs - top).sum(axis=2, keepdims=True)))[
        ..., 0
    ]
    return found


def to_grid(power: float) -> Fraction:
    """A power as a fraction with 30 bits: as near as the room inside allows."""
    bits = 30 - int(np.floor(log2(power)))
    return Fraction(int(power * 2**bits), 2**bits)
