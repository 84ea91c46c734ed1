"""The exponent of a published classifier, fitted: for any number of classes.

Rows show a = k q^b / S of each attribute, q the original shares, k one factor per value
that made its least class 1, S one sum per class; sizes of classes show P^b times all S.
Least squares over the exponent b and a factor per value finds what fits: sums of
classes that are least somewhere are the least share turned round, class sizes must come
out, and no smoothed count is below the smoothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from privet.classifier.scores import Floats

STARTS = (0.03, 0.06, 0.12, 0.2, 0.3, 0.45, 0.65, 1.0)
"""Exponents from which the fit begins."""

FIRST, LAST, ROUNDS = 6, 4, 40
"""Steps from every start; starts that are followed on; and how far."""

LEAST = 1e-4
"""Exponents below this tell nothing that can be undone."""

MOST_VALUES = 60
"""Values of all attributes together that are fitted."""

UNIT, SIZE, FLOOR, EVEN = 0.003, 0.01, 0.02, 1.5
"""How far each residual may be off: sums, class sizes, least counts, and values that
need not be equally common."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What a release shows, in natural logarithms."""

    shares: tuple[Floats, ...]
    """By attribute, (value, class): its share within the class."""
    errors: tuple[Floats, ...]
    """How far each may be off, as a share."""
    sizes: Floats
    """What it shows for the class sizes."""


def find_determined(shares: Floats, errors: Floats) -> list[bool]:
    """The classes of an attribute that surely are the least of some value.

    A value has a least class, and that class is nowhere less. So a value that is the
    least of one class only tells that class; and so does a least that is there twice.
    """
    least = shares.min(axis=0)
    near = shares <= least + 2 * errors + 1e-9  # (values, classes)
    sole = near[near.sum(axis=1) == 1].any(axis=0)
    twice = near.sum(axis=0) >= 2
    return [bool(a or b) for a, b in zip(sole, twice, strict=True)]


def fit_exponent(
    shown: Shown, sizes: Sequence[int], smoothing: float
) -> tuple[float, list[Floats]]:
    """The exponent, and the logarithm of the sum of each class by attribute."""
    problem = _Residuals(shown, np.log(np.array(sizes, dtype=float)), smoothing)
    if problem.ends[-1] > MOST_VALUES:
        return _guess(shown, np.log(np.array(sizes, dtype=float)))
    # A few steps from every start, and the most promising to the end.
    begun = [_minimise(problem, problem.start(b), FIRST) for b in STARTS]
    begun.sort(key=lambda fit: fit[0])
    fits = [_minimise(problem, at, ROUNDS) for _, at in begun[:LAST]]
    _, best = min(fits, key=lambda fit: fit[0])
    return float(np.exp(best[0])), problem.list_sums(best)


def _guess(shown: Shown, sizes: Floats) -> tuple[float, list[Floats]]:
    """As if every class were the least of some value, where there are too many."""
    sums = [-a.min(axis=0) for a in shown.shares]
    lead, apart = shown.sizes - sum(sums), sizes - sizes.mean()
    spread = float(apart @ apart)
    slope = float((lead - lead.mean()) @ apart) / spread if spread > 1e-9 else 1.0
    return min(max(slope, 0.01), 1.0), sums


class _Residuals:
    """What does not fit, for an exponent and a factor per value."""

    def __init__(self, shown: Shown, sizes: Floats, smoothing: float) -> None:
        self.shown, self.sizes, self.smoothing = shown, sizes, smoothing
        pairs = zip(shown.shares, shown.errors, strict=True)
        self.determined = [np.array(find_determined(a, e)) for a, e in pairs]
        self.ends = np.cumsum([1, *(len(a) for a in shown.shares)])

    def start(self, exponent: float) -> Floats:
        """Where a fit begins: values that are equally common."""
        found = np.zeros(self.ends[-1])
        found[0] = log(exponent)
        for a, begin, end in zip(
            self.shown.shares, self.ends, self.ends[1:], strict=False
        ):
            lead = ((a - a.min(axis=0)) / exponent).mean(axis=1)
            found[begin:end] = -lead - log(len(a))
        return found

    def split(self, at: Floats) -> list[Floats]:
        """The factors of each attribute's values."""
        ends = zip(self.ends, self.ends[1:], strict=False)
        return [at[begin:end] for begin, end in ends]

    def list_sums(self, at: Floats) -> list[Floats]:
        """The logarithm of S by attribute and class."""
        exponent = np.exp(at[0])
        pairs = zip(self.shown.shares, self.split(at), strict=True)
        return [-exponent * _log_sum(x[:, None] + a / exponent) for a, x in pairs]

    def __call__(self, at: Floats) -> Floats:
        exponent, sums = np.exp(at[0]), self.list_sums(at)
        found = [self._fit_sizes(exponent, sums)]
        for a, x, s, sure in zip(
            self.shown.shares, self.split(at), sums, self.determined, strict=True
        ):
            least = s + a.min(axis=0)
            off = np.where(sure, least, np.minimum(least, 0.0)) / UNIT
            found.append(_soften(off))
            shares = x[:, None] + (a + s) / exponent  # logarithms of q
            wholes = np.log(np.exp(self.sizes) + self.smoothing * len(a))
            if self.smoothing:
                lack = shares + wholes - log(self.smoothing)
                found.append(np.minimum(lack, 0.0).ravel() / FLOOR)
            mean = _log_sum(shares.T) - log(a.shape[1])
            found.append((mean - mean.mean()) / EVEN)
        return np.concatenate(found)

    def _fit_sizes(self, exponent: float, sums: Sequence[Floats]) -> Floats:
        off: Floats = self.shown.sizes - exponent * self.sizes - sum(sums)
        found: Floats = (off - off.mean()) / SIZE
        return found


def _soften(off: Floats) -> Floats:
    """Residuals of which a few may be far off: a class was taken for determined."""
    found: Floats = np.sign(off) * np.sqrt(np.log1p(off * off))
    return found


def _log_sum(logs: Floats) -> Floats:
    """The logarithm of sums over the first axis."""
    top = logs.max(axis=0)
    found: Floats = top + np.log(np.exp(logs - top).sum(axis=0))
    return found


def _minimise(
    residuals: Callable[[Floats], Floats], at: Floats, rounds: int
) -> tuple[float, Floats]:
    """Least squares by Levenberg and Marquardt's steps."""
    damping, now = 1e-2, residuals(at)
    cost = float(now @ now)
    for _ in range(rounds):
        slopes = _slopes(residuals, at, now)
        square, pull = slopes.T @ slopes, slopes.T @ now
        gained = 0.0
        for _ in range(8):
            step = np.linalg.solve(
                square + damping * np.diag(np.diag(square) + 1e-9), -pull
            )
            new = at + np.clip(step, -1.0, 1.0)
            new[0] = min(max(new[0], log(LEAST)), 0.0)
            then = residuals(new)
            if (worth := float(then @ then)) < cost:
                gained, at, now, cost = cost - worth, new, then, worth
                damping = max(damping / 5, 1e-9)
                break
            damping *= 4
        if gained < 1e-7 * cost + 1e-12:
            break
    return cost, at


def _slopes(residuals: Callable[[Floats], Floats], at: Floats, now: Floats) -> Floats:
    """The derivative of every residual, by small steps."""
    found = np.empty((len(now), len(at)))
    for j in range(len(at)):
        moved = at.copy()
        moved[j] += 1e-6
        found[:, j] = (residuals(moved) - now) / 1e-6
    return found
