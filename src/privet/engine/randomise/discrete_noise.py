"""Discrete Laplace and Gaussian noise, drawn exactly: no float decides anything.

Rejection with whole random numbers only. Canonne, Kamath, Steinke 2020, algorithms 1
to 3.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

Below = Callable[[int], int]
"""Draws a whole number from 0 to below a bound, all as likely."""


def draw_laplace(scale: Fraction, below: Below) -> int:
    """An integer with probability proportional to exp(-|z|/scale), exactly."""
    t, s = scale.numerator, scale.denominator  # exp(-s/t) per step
    while True:
        rest = below(t)
        if not _flip_small(Fraction(rest, t), below):
            continue
        whole = 0
        while _flip_small(Fraction(1), below):
            whole += 1
        # x = rest + t whole has a chance like exp(-x/t); s of these are one step.
        size = (rest + t * whole) // s
        negative = below(2) == 1
        # Minus 0 is drawn again, or 0 would be twice as likely.
        if not (negative and size == 0):
            return -size if negative else size


def draw_gaussian(variance: Fraction, below: Below) -> int:
    """An integer with probability proportional to exp(-z**2/(2 variance)), exactly."""
    # Laplace noise of the next whole scale, thinned to the other shape: with a
    # variance of 9 the scale is 4, and z = 5 stays with chance exp(-(5 - 9/4)**2/18).
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        z = draw_laplace(Fraction(scale), below)
        if flip_exp((abs(z) - variance / scale) ** 2 / (2 * variance), below):
            return z


def flip_exp(x: Fraction, below: Below) -> bool:
    """True with probability exp(-x), for any x from 0 on."""
    for _ in range(x.numerator // x.denominator):
        if not _flip_small(Fraction(1), below):
            return False
    return _flip_small(x % 1, below)


def _flip_small(x: Fraction, below: Below) -> bool:
    """The same for x from 0 to 1."""
    # P(k passes m) = x**m / m!, so P(k is odd) = 1 - x + x**2/2 - … = exp(-x).
    k = 1
    while below(x.denominator * k) < x.numerator:
        k += 1
    return k % 2 == 1
