"""Significance: what the best of many values seems to tell though it tells nothing.

Where a column and the class are independent, 2 N ln 2 times the InfoGain of a value
is about chi-square with C - 1 degrees of freedom (N rows, C classes), and of K values
tried the best one looks good by chance. A gain counts as far as it is above the bar
that chance passes once in twenty columns (Bonferroni).
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, lgamma, log, sqrt

CHANCE = 0.05
"""How often chance alone may pass the bar in a column."""


def find_bar(candidates: int, rows: int, classes: int) -> float:
    """The bits that chance alone may give to the best of so many candidates.

    >>> f"{find_bar(46_071, 10**6, 2):.4e}"
    '1.7147e-05'
    """
    if classes < 2 or rows < 1:
        return 0.0
    bar = find_quantile(CHANCE / max(candidates, 1), classes - 1)
    return bar / (2 * rows * log(2))


@lru_cache(maxsize=4096)
def find_quantile(tail: float, degrees: int) -> float:
    """What chi-square exceeds with a probability of `tail`.

    >>> round(find_quantile(0.05, 1), 6), round(find_quantile(0.01, 4), 6)
    (3.841459, 13.276704)
    """
    low, high = 0.0, float(degrees)
    while compute_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        above = compute_tail(middle, degrees) > tail
        low, high = (middle, high) if above else (low, middle)
    return high


def compute_tail(x: float, degrees: int) -> float:
    """The probability that chi-square exceeds x.

    The upper gamma function, Q(a + 1, y) = Q(a, y) + exp(-y) y^a / Γ(a + 1), begins
    with Q(1/2, y) = erfc(√y) or Q(1, y) = exp(-y).
    """
    y = x / 2
    odd = degrees % 2 == 1
    found, a = (erfc(sqrt(y)), 0.5) if odd else (exp(-y), 1.0)
    while 2 * a < degrees:
        found += exp(a * log(y) - y - lgamma(a + 1)) if y > 0 else 0.0
        a += 1
    return found
