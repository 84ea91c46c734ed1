"""Lower bounds of a binomial share that hold as often as they say, floats included.

Somebody saw `part` hits in `whole` draws. A share is too low if so many hits, or more,
are less likely than `miss` under it; the largest float that surely is too low is the
bound. An upper bound is 1 less the lower bound of what did not hit. The tail itself is
here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, isqrt, lgamma, log, log1p

import numpy as np

SLIP = 1e-14
"""What floats may be wrong by, of the largest number in a sum; some 45 roundings."""


def bound_by_clopper_pearson(part: int, whole: int, miss: float) -> float:
    """The exact bound: the tail of the binomial distribution is summed up.

    >>> round(bound_by_clopper_pearson(8, 10, 0.025), 4)
    0.4439
    """
    if part == 0:
        return 0.0
    most = lgamma(whole + 1)
    choices = most - lgamma(part + 1) - lgamma(whole - part + 1)
    # From the share up terms only shrink: after 10 roots of n by e**-200.
    at = np.arange(part, min(whole, part + 50 + 10 * isqrt(whole)))
    # A binomial over the one before: C(10, 9) / C(10, 8) = (10 - 8) / (8 + 1) = 2/9.
    steps = (whole - at) / (at + 1)
    limit = log(miss) - SLIP * (10 + most)

    def is_too_low(p: float) -> bool:
        first = choices + part * log(p) + (whole - part) * log1p(-p)
        tail = 1 + float(np.cumprod(steps * (p / (1 - p))).sum())
        return first + log(tail) <= limit

    return _find_largest(is_too_low, part / whole)


def bound_by_chernoff(part: int, whole: int, miss: float) -> float:
    """A lower one without sums: n draws reach a share q of hits with probability
    e**(-n D(q, p)) at most.

    >>> round(bound_by_chernoff(8, 10, 0.025), 4)
    0.3802
    """
    if part == 0:
        return 0.0
    # 8 of 10 at p = 0.3802: 10 D(0.8, p) = 3.69 = -log(0.025).
    share, need = part / whole, -log(miss) / whole

    def is_too_low(p: float) -> bool:
        far = _divergence(share, p)
        return far - SLIP * (1 + far) >= need

    return _find_largest(is_too_low, share)


def _divergence(q: float, p: float) -> float:
    """D(q, p) of two coins, in natural units; p below q."""
    rest = (1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0
    return q * log(q / p) + rest


def _find_largest(is_too_low: Callable[[float], bool], high: float) -> float:
    """The largest share found to be too low, by halving; 0 always is."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_low(middle) else (low, middle)
    return low


def tail_logarithm(part: int, whole: int, share: float) -> float:
    """The natural logarithm of the probability of so many hits, or more.

    Terms are summed up outwards from the largest, so nothing is lost to rounding.

    >>> round(tail_logarithm(8, 10, 0.5), 6), tail_logarithm(0, 10, 0.5)
    (-2.90612, 0.0)
    """
    if part <= 0:
        return 0.0
    if part > whole or share <= 0:
        return -inf
    if share >= 1:
        return 0.0
    if part <= share * whole:  # the larger tail: what is missing is the smaller one
        rest = tail_logarithm(whole - part + 1, whole, 1 - share)
        return log1p(-exp(rest)) if rest < 0 else -inf
    first = lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)
    first += part * log(share) + (whole - part) * log1p(-share)
    at = np.arange(part, min(whole, part + 50 + 10 * isqrt(whole)))
    steps = (whole - at) / (at + 1) * (share / (1 - share))
    return min(first + log(1 + float(np.cumprod(steps).sum())), 0.0)
