"""Confidence intervals of a share: Wilson's, and others that hold for any numbers."""

from __future__ import annotations

from math import log, nextafter, sqrt

from privet.errors import InputError
from privet.values.exact import Number, fraction, quote_value
from privet.values.noise.binomial import bound_by_chernoff, bound_by_clopper_pearson

MOST_EXACT = 20_000
"""Up to so many answers the exact interval of a binomial share is worked out."""

SUREST = 1 - 1e-12
"""A confidence beyond this is none that floats can tell from certainty."""


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
    bound = bound_by_chernoff if whole > MOST_EXACT else bound_by_clopper_pearson
    miss = (1 - confidence - 2**-52) / 2  # 0.95 is a little more, or less, as a float
    low, rest = (bound(hits, whole, miss) for hits in (part, whole - part))
    return low, min(nextafter(1 - rest, 2), 1.0)


def hoeffding(reach: float, n: int, confidence: float) -> float:
    """Half of an interval about a mean of n numbers that lie within a reach."""
    # A reach of 1, 1000 numbers, 95 %: sqrt(ln(40) / 2000) = 0.043.
    return reach * sqrt(log(2 / (1 - confidence)) / (2 * n))
