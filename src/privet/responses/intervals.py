"""Confidence intervals of a share: Wilson's, and others that hold for any numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log, log1p, sqrt

from privet.errors import InputError
from privet.values.exact import Number, fraction, quote_value

MOST_EXACT = 20_000
"""Up to so many answers the exact interval of a binomial share is worked out."""

SUREST = 1 - 1e-12
"""A confidence beyond this is none that floats can tell from certainty."""

TINY = 1e-300


def read_confidence(confidence: Number) -> float:
    """How often an interval shall hold."""
    found = float(fraction(confidence, "confidence"))
    if not 0 < found <= SUREST:
        raise InputError(
            f"confidence must lie between 0 and 1; got {quote_value(confidence)}."
        )
    return found


def wilson(part: int, whole: int, z: float) -> tuple[float, float]:
    """Wilson's interval of a binomial share: close to what it says, on average.

    >>> [round(end, 4) for end in wilson(8, 10, 1.96)]
    [0.4902, 0.9433]
    """
    share = part / whole
    scale = 1 + z * z / whole
    middle = (share + z * z / (2 * whole)) / scale
    half = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) / scale
    return middle - half, middle + half


def sure_interval(part: int, whole: int, confidence: float) -> tuple[float, float]:
    """An interval of a binomial share that holds at least as often as it says.

    Clopper and Pearson's for up to `MOST_EXACT` answers. Beyond, Chernoff's, which is
    wider by two fifths and needs no sums.

    >>> [round(end, 4) for end in sure_interval(8, 10, 0.95)]
    [0.4439, 0.9748]
    """
    miss = (1 - confidence) / 2
    if whole > MOST_EXACT:
        return _chernoff(part, whole, miss)
    low = high = 0.0
    if part > 0:
        low = _find_root(lambda p: beta_below(part, whole - part + 1, p) - miss)
    if part < whole:
        high = _find_root(lambda p: beta_below(part + 1, whole - part, p) - (1 - miss))
    return low, high if part < whole else 1.0


def hoeffding(reach: float, n: int, confidence: float) -> float:
    """Half of an interval about a mean of n numbers that lie within a reach."""
    return reach * sqrt(log(2 / (1 - confidence)) / (2 * n))


def _chernoff(part: int, whole: int, miss: float) -> tuple[float, float]:
    share, most = part / whole, -log(miss) / whole
    low = (
        _find_root(lambda p: most - _divergence(share, p), 0.0, share) if part else 0.0
    )
    high = _find_root(lambda p: _divergence(share, p) - most, share, 1.0)
    return low, high if part < whole else 1.0


def _divergence(share: float, p: float) -> float:
    """The divergence of two coins."""
    if not 0 < p < 1:
        return inf if share != p else 0.0
    found = share * log(share / p) if share > 0 else 0.0
    return found + ((1 - share) * log((1 - share) / (1 - p)) if share < 1 else 0.0)


def _find_root(
    rises: Callable[[float], float], low: float = 0.0, high: float = 1.0
) -> float:
    """Where a rising function crosses zero, by halving."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) < 0 else (low, middle)
    return (low + high) / 2


def beta_below(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_below(b, a, 1 - x)
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    found, c, d = 1.0, 1.0, 0.0
    for i in range(100_000):
        m = i // 2
        if i == 0:
            part = 1.0
        elif i % 2 == 0:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + part * d or TINY)
        c = 1 + part / c or TINY
        found *= c * d
        if abs(1 - c * d) < 1e-14:
            break
    return exp(front) * (found - 1) / a
