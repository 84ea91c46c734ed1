"""Unrelated-question model with two samples, where nobody knows its prevalence.

Somebody answers the question that is meant with one probability, else the unrelated
one; in the second sample with another probability.
Zhan, Chang, Matwin 2004, section 4.3.3, name the model for truth 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

from privet.errors import InputError
from privet.responses.estimate import (
    Estimate,
    clip_interval,
    cut_interval,
    spread_interval,
)
from privet.responses.intervals import hoeffding, read_confidence
from privet.values.exact import Number, probability

Sample = tuple[int, int]
"""How many said yes, of how many."""


def estimate_from_two_samples(
    first: Sample,
    second: Sample,
    truths: tuple[Number, Number],
    *,
    confidence: Number = 0.95,
) -> tuple[Estimate, Estimate]:
    """The share of yes to the question that is meant, and to the unrelated one.

    >>> samples = (46, 100), (42, 100)
    >>> meant, unrelated = estimate_from_two_samples(*samples, ("0.7", "0.3"))
    >>> round(meant.unbiased, 3), round(unrelated.unbiased, 3)
    (0.49, 0.39)
    """
    p, q = probability(truths[0], "truth"), probability(truths[1], "truth")
    if p == q:
        raise InputError(
            f"The truths of two samples must differ; got {p} twice. Otherwise nothing "
            "tells the two questions apart."
        )
    for yes, n in (first, second):
        if not 0 <= yes <= n or n < 2:
            raise InputError(
                "A sample must be how many said yes, of how many, of at least two; "
                f"got {yes} of {n}."
            )
    best, other = _find_likeliest(first, second, float(p), float(q))
    wanted = read_confidence(confidence)
    # f = p x + (1 - p) y and g = q x + (1 - q) y, solved: what f and g count for x
    # and for y. Truths 0.7 and 0.3: x = (0.7 f - 0.3 g) / 0.4.
    meant = (1 - q) / (p - q), (p - 1) / (p - q)
    unrelated = -q / (p - q), p / (p - q)
    return (
        _estimate(best, meant, first, second, wanted),
        _estimate(other, unrelated, first, second, wanted),
    )


def _estimate(
    value: float,
    weight: tuple[Fraction, Fraction],
    first: Sample,
    second: Sample,
    confidence: float,
) -> Estimate:
    raw = sum(w * Fraction(yes, n) for w, (yes, n) in zip(weight, (first, second)))  # noqa: B905
    spread, reach = 0.0, 0.0
    for w, (yes, n) in zip(weight, (first, second), strict=True):
        share = yes / n
        spread += float(w) ** 2 * share * (1 - share) / (n - 1)
        # n answers that reach over w/n each: n (w/n)**2.
        reach += float(w) ** 2 / n
    error, z = sqrt(spread), NormalDist().inv_cdf((1 + confidence) / 2)
    usual = spread_interval(float(raw), z * error)
    half = hoeffding(sqrt(reach), 1, confidence)  # of both samples' numbers together
    sure = clip_interval(spread_interval(float(raw), half))
    return Estimate(
        value,
        float(raw),
        error,
        cut_interval(usual, sure),
        usual,
        confidence,
        first[1] + second[1],
        sure=sure,
    )


def _find_likeliest(
    first: Sample, second: Sample, p: float, q: float
) -> tuple[float, float]:
    """The likeliest pair of shares from 0 to 1: inside, or on an edge of the square."""
    f, g = first[0] / first[1], second[0] / second[1]
    meant = (f * (1 - q) - g * (1 - p)) / (p - q)
    other = (g * p - f * q) / (p - q)
    if 0 <= meant <= 1 and 0 <= other <= 1:
        return meant, other

    def likely(x: float, y: float) -> float:
        return sum(
            _log(yes, t * x + (1 - t) * y) + _log(n - yes, 1 - t * x - (1 - t) * y)
            for t, (yes, n) in ((p, first), (q, second))
        )

    # The logarithm is concave, so outside of the square means on its edge.
    edges = [
        *((end, _find_highest(lambda y, e=end: likely(e, y))) for end in (0.0, 1.0)),  # type: ignore[misc]
        *((_find_highest(lambda x, e=end: likely(x, e)), end) for end in (0.0, 1.0)),  # type: ignore[misc]
    ]
    return max(edges, key=lambda pair: likely(*pair))


def _log(times: int, p: float) -> float:
    if not times:
        return 0.0
    return times * log(p) if p > 1e-300 else -1e300


def _find_highest(of: Callable[[float], float]) -> float:
    """Where a function with one hill is highest, by thirds."""
    low, high = 0.0, 1.0
    # (2/3)**120 is below 1e-21.
    for _ in range(120):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if of(a) < of(b) else (low, b)
    return (low + high) / 2
