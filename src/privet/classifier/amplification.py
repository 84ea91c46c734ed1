"""Amplification: the worst posterior odds of two classes, over all one may know.

The odds of two classes, over every quasi-identifier an adversary may know, are highest
for some whole tuple: the one that takes the largest ratio of each attribute. A limit on
beliefs, such as no L1-to-L2 privacy breach, is turned into the amplification it allows.
Mozafari, Zaniolo 2009, sections 4 and 5; equation (8) is the amplification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from privet.classifier.scores import GUARD, Floats, Scores
from privet.errors import Infeasible
from privet.values.beliefs import Ceiling, Limit, Ratio, Shift


@dataclass(frozen=True)
class Odds:
    """The highest odds of one class against another, and who has them."""

    odds: Fraction | None
    """None: infinite, for a value of the first class never occurs in the second."""
    classes: tuple[int, int]
    """The class believed, and the one it is held against."""
    known: Mapping[int, int]
    """The victim: what the adversary knows, by attribute."""


def amplification(scores: Scores, attributes: int | None = None) -> Odds:
    """The amplification: the highest odds between any two classes, exactly.

    Parameters
    ----------
    scores
        The classifier.
    attributes
        How many attributes somebody may know at most; None: all.

    Examples
    --------
    >>> from privet.classifier.scores import scores_from_counts
    >>> views = [[[1, 4], [1, 1]], [[1, 4], [1, 1]]]
    >>> amplification(scores_from_counts([2, 5], views)).odds
    Fraction(32, 5)
    """
    if scores.classes == 1:
        return Odds(Fraction(1), (0, 0), {})
    view = scores if attributes is None else scores.normalised
    logs = pair_log_odds(view, attributes)
    near = np.argwhere(logs >= logs.max() - GUARD) if np.isfinite(logs.max()) else None
    if near is None:
        near = np.argwhere(np.isposinf(logs))[:1]
    # Of the example: 5/2 * 8/5 * 8/5 = 32/5 for the second class against the first,
    # and 2/5 * 5/2 * 5/2 = 5/2 the other way round.
    pairs = [(int(c), int(d)) for c, d in near]
    found = [pair_odds(view, pair, attributes) for pair in pairs]
    return max(found, key=lambda o: (o.odds is None, o.odds or Fraction(0)))


def pair_log_odds(view: Scores, attributes: int | None = None) -> Floats:
    """Logarithms of the highest odds of each class against each other, about."""
    best = np.array([_gains(table) for table in view.log_factors])
    # (attributes, class believed, other class), also if there is no attribute.
    best = best.reshape(-1, view.classes, view.classes)
    if attributes is not None:
        # Ratios below 1 are left unknown; of the others the largest so many count.
        best = np.sort(np.maximum(best, 0), axis=0)[::-1][:attributes]
    with np.errstate(invalid="ignore"):
        logs: Floats = best.sum(axis=0) + np.subtract.outer(
            view.log_weights, view.log_weights
        )
    logs[np.isnan(logs)] = -np.inf
    np.fill_diagonal(logs, -np.inf)
    return logs


def _gains(table: Floats) -> Floats:
    """The largest log ratio of one attribute, class against class."""
    with np.errstate(invalid="ignore"):
        ratio = table[:, :, None] - table[:, None, :]
    ratio[np.isnan(ratio)] = -np.inf  # both never occur
    found: Floats = ratio.max(axis=0)
    return found


def pair_odds(
    view: Scores, pair: tuple[int, int], attributes: int | None = None
) -> Odds:
    """The highest odds of one class against another, exactly, with a victim."""
    gains = [_find_largest_ratio(view, i, pair) for i in range(view.attributes)]
    if any(g is None for g in gains):  # nobody fits both
        return Odds(Fraction(0), pair, {})
    told = [(i, *g) for i, g in enumerate(gains) if g is not None]
    if attributes is not None:
        told = [g for g in told if g[2] is None or g[2] > 1]
        told.sort(key=lambda g: (g[2] is None, g[2] or Fraction(0)), reverse=True)
        told = told[:attributes]
    known = {i: t for i, t, _ in sorted(told)}
    odds = view.weights[pair[0]] / view.weights[pair[1]]
    for _, _, ratio in told:
        if ratio is None:
            return Odds(None, pair, known)
        odds *= ratio
    return Odds(odds, pair, known)


def _find_largest_ratio(
    view: Scores, attribute: int, pair: tuple[int, int]
) -> tuple[int, Fraction | None] | None:
    """The value of one attribute with the largest ratio; None: no value fits."""
    c, d = pair
    table = view.factors[attribute]
    logs = view.log_factors[attribute]
    with np.errstate(invalid="ignore"):
        ratio = logs[:, c] - logs[:, d]
    ratio[np.isnan(ratio)] = -np.inf
    top = ratio.max(initial=-np.inf)
    if np.isneginf(top):
        return None
    if np.isposinf(top):
        return int(np.argmax(ratio)), None
    # Floats leave a few values that may be the largest; fractions decide.
    near = np.flatnonzero(ratio >= top - GUARD).tolist()
    best = max(near, key=lambda t: table[t][c] / table[t][d])
    return best, table[best][c] / table[best][d]


# Limits as amplification ------------------------------------------------------------


def breach_amplification(shift: Shift) -> Fraction:
    """The amplification under which no L1-to-L2 breach occurs, for every prior.

    >>> breach_amplification(Shift("1/4", "2/3"))
    Fraction(6, 1)
    """
    return shift.end * (1 - shift.start) / (shift.start * (1 - shift.end))


def paper_amplification(shift: Shift, classes: int) -> Fraction:
    """The paper's equation (7) solved, rounded down to a billionth.

    Correct, for a uniform prior only, and stricter than needed with three classes or
    more: 4 instead of 6 for from 1/4 to 2/3.

    >>> paper_amplification(Shift("1/4", "2/3"), 3)
    Fraction(4, 1)
    """
    g, k = breach_amplification(shift), classes - 1
    root = (g - 1) ** 2 + 4 * g * k * k
    scaled = root * 10**18
    return (g - 1 + Fraction(isqrt(int(scaled)), 10**9)) / (2 * k)


def allowed_amplification(
    limit: Limit, classes: int, *, paper: bool = False
) -> Fraction | None:
    """The amplification a limit allows to a Bayesian adversary, uniform beforehand.

    None where any is allowed; `Infeasible` where not even equal scores keep the limit.
    """
    if classes == 1:
        return None
    match limit:
        case Shift():
            if paper:
                return paper_amplification(limit, classes)
            return breach_amplification(limit)
        case Ceiling(level=level):
            return _ceiling_amplification(limit, level, classes)
        case Ratio(factor=factor):
            # With amplification a beliefs lie from 1/(1 + a(K - 1)) to a/(a + K - 1).
            # Within 2 of 1/3: a is at most (6 - 1)/2 = 5/2, and at most 2 * 2/1 = 4.
            low = (factor * classes - 1) / (classes - 1)
            if factor >= classes:
                return low
            return min(low, factor * (classes - 1) / (classes - factor))


def _ceiling_amplification(
    limit: Ceiling, level: Fraction, classes: int
) -> Fraction | None:
    if level == 1 and not limit.strict:
        return None
    if level == 1:
        level -= Fraction(1, 10**9)
    least = Fraction(1, classes)
    if level < least or (level == least and limit.strict):
        raise Infeasible(
            f"A limit of {level} must be at least 1/{classes} for {classes} classes: "
            "somebody who guesses is right that often.",
            best=least,
            advice=(f"Allow at least 1/{classes}.",),
        )
    # a/(a + K - 1) = level, solved for a: 4/5 of two classes are odds of 4.
    odds = level * (classes - 1) / (1 - level)
    return odds * (1 - Fraction(1, 10**9)) if limit.strict else odds
