"""CF1 to CF5: the closed forms of an insider's odds in one QI-group, exactly.

With s the value believed, a group (equivalence class) has N people, a of them with s
and b = N - a without, and T of them with neither s nor a value that is ruled out. R,
the odds against s, falls as knowledge grows; the belief is 1 / (1 + R). With Q(k, m)
from `cf5`:

* CF1 = (T - k) / a * Q(k + 1, m): the victim, those known and companions together;
* CF2 = (T - k) / a: the victim with those known; CF4 = T / a: the victim alone;
* CF3 = Q(0, m): the companions alone; CF5 = Q(k, m): companions with those known.

Chen, LeFevre, Ramakrishnan 2007, "Five Sufficient Statistics"; the formulas, which the
slides leave out, are worked out anew and checked against enumeration.
"""

from __future__ import annotations

from fractions import Fraction
from math import perm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Ruling = int | tuple[int, ...]
"""How many values are ruled out (the worst ones), or the codes of those that are."""

NEAR = 1e-9
"""Floats closer than this, relatively, are told apart by fractions."""

SMALL = 10_000
"""Factors of a product that are put into one table."""


class Point(NamedTuple):
    """A point (l, k, m): how much background knowledge an insider has."""

    l: Ruling
    """Values the victim does not have."""
    k: int
    """Other people whose value is known."""
    m: int
    """People who share the victim's value."""


def cf5(a: int, b: int, k: int, m: int) -> Fraction:
    """Q(k, m), hence CF3 and CF5: m people lack s, once k without s are known.

    >>> cf5(1, 5, 0, 2), cf5(1, 5, 4, 2)
    (Fraction(2, 3), Fraction(0, 1))
    """
    if m == 0:
        return Fraction(1)
    if b - k < m:
        return Fraction(0)
    return Fraction(perm(b - k, m), perm(a + b - k, m))


def cf2(tail: int, a: int, k: int) -> Fraction:
    """CF2, and CF4 where k = 0: the victim with the people known."""
    return Fraction(max(tail - k, 0), a)


def cf1(tail: int, a: int, b: int, k: int, m: int) -> Fraction:
    """CF1: the victim, the people known and the companions in one group."""
    if tail <= k:
        return Fraction(0)
    # k + 1: the victim, who lacks s here, is one more whose value is settled. Six
    # values once each, k = m = 1: 4/1 * 3/4 = 3, a belief of 1/4.
    return cf2(tail, a, k) * cf5(a, b, k + 1, m)


def belief_from_odds(odds: Fraction) -> Fraction:
    """The belief that goes with the odds against it."""
    return 1 / (1 + odds)


# The same for many groups at once, as floats ----------------------------------------


def cf5_floats(a: Ints, b: Ints, k: int, m: int) -> Floats:
    """Q(k, m), CF3 and CF5 for many groups; within (m + 2) rounding errors."""
    if m == 0:
        return np.ones(len(a))
    if m * len(a) < SMALL:
        # A line per companion, a column per group.
        left = np.maximum(b - k - np.arange(m)[:, None], 0)
        return np.asarray(np.prod(left / np.maximum(a + left, 1), axis=0))
    result = np.zeros(len(a))
    # Where fewer than m people are left who lack s, Q stays 0.
    some = np.flatnonzero(b - k >= m)
    few = some[a[some] <= m]
    result[few] = _multiply_holders(a[few], b[few] - k, m)
    many = some[a[some] > m]
    result[many] = _multiply_companions(a[many], b[many] - k, m)
    return result


def _multiply_companions(a: Ints, b: Ints, m: int) -> Floats:
    """The product over the companions: m factors."""
    result, n = np.ones(len(a)), a + b
    if len(a):
        for j in range(m):
            result *= (b - j) / (n - j)
    return result


def _multiply_holders(a: Ints, b: Ints, m: int) -> Floats:
    """The same product over the holders of s: a factors, of which there are fewer.

    With n = a + b: perm(b, m) / perm(n, m) = perm(n - m, a) / perm(n, a).
    """
    # a = 2, b = 4, m = 3: 3/6 * 2/5 = 1/5, for 4/6 * 3/5 * 2/4.
    result, n = np.ones(len(a)), a + b
    for i in range(int(a.max(initial=0))):
        # Groups with fewer holders are done: their n - i may be 0, and is not used.
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = (n - m - i) / (n - i)
        result *= np.where(i < a, factor, 1.0)
    return result


def cf2_floats(tail: Ints, a: Ints, k: int) -> Floats:
    """CF2 and CF4 for many groups."""
    return np.asarray(np.maximum(tail - k, 0) / a, dtype=np.float64)


def cf1_floats(tail: Ints, a: Ints, b: Ints, k: int, m: int) -> Floats:
    """CF1 for many groups."""
    return cf2_floats(tail, a, k) * cf5_floats(a, b, k + 1, m)
