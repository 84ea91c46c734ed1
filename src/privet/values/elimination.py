"""Whether a matrix of fractions can be inverted, and its inverse; exactly."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

Rows = tuple[tuple[Fraction, ...], ...]
"""A matrix, row by row."""

EXACT = 40
"""Rows up to which an inverse is worked out in fractions; beyond, they grow long."""

PRIMES = (2**31 - 1, 2**31 - 19, 2**31 - 61)


def inverted(rows: Rows) -> Rows | None:
    """The inverse of a matrix by elimination in fractions; None if it has none."""
    size = len(rows)
    work = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in _at(rows)]
    for i in range(size):
        pivot = next((j for j in range(i, size) if work[j][i]), None)
        if pivot is None:
            return None
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [v / work[i][i] for v in work[i]]
        for j, row in _at(work):
            if j != i and row[i]:
                work[j] = [a - row[i] * b for a, b in zip(row, work[i], strict=True)]
    return tuple(tuple(row[size:]) for row in work)


def _at(rows: Any) -> list[tuple[int, Any]]:
    return list(enumerate(rows))


def is_singular(rows: Rows) -> bool:
    """Whether the determinant is 0.

    If it is not 0 modulo one prime it is not 0. If it is 0 modulo three of 31 bits,
    a small matrix is worked out, and a large one taken as singular.
    """
    if all(_vanishes(rows, prime) for prime in PRIMES):
        return len(rows) > EXACT or inverted(rows) is None
    return False


def _vanishes(rows: Rows, prime: int) -> bool:
    """Whether the determinant, times a number, is 0 modulo a prime."""
    whole = [[_whole(row, lcm(*(v.denominator for v in row)), prime)] for row in rows]
    work = np.array(whole, dtype=np.int64).reshape(len(rows), len(rows))
    for i in range(len(rows)):
        found = np.flatnonzero(work[i:, i])
        if not len(found):
            return True
        pivot = i + int(found[0])
        work[[i, pivot]] = work[[pivot, i]]
        work[i] = work[i] * pow(int(work[i, i]), -1, prime) % prime
        below = work[i + 1 :, i : i + 1]
        work[i + 1 :] = (work[i + 1 :] - below * work[i] % prime) % prime
    return False


def _whole(row: tuple[Fraction, ...], scale: int, prime: int) -> list[int]:
    return [v.numerator * (scale // v.denominator) % prime for v in row]
