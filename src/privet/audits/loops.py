"""The loops of the skyline one step at a time, for numba to compile.

They import nothing but numpy and run without numba too, only slowly. What floats
cannot tell apart is left to fractions, so that every decision is the same as without.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

UNSAFE, SAFE, CLOSE = 0, 1, 2
"""What a trial comes to; where it is close, fractions must decide."""


def fold(  # noqa: PLR0912, PLR0915 - numba compiles it whole
    parts: Ints,
    l: int,
    k: int,
    m: int,
    allowed: Flags,
    near: float,
    factor: Floats,
    x: Ints,
    a: Ints,
    best: Ints,
) -> bool:
    """Fold groups into the minima of one point; whether floats could tell them."""
    values = parts.shape[1]
    top = np.zeros(l + 1, dtype=np.int64)
    for c in range(parts.shape[0]):
        top[:] = 0
        people = 0
        first = -1
        for s in range(values):
            n = parts[c, s]
            people += n
            if n > top[l]:
                at = l
                while at > 0 and top[at - 1] < n:
                    top[at] = top[at - 1]
                    at -= 1
                top[at] = n
            if n > 0 and allowed[s] and (first < 0 or n > parts[c, first]):
                first = s
        if first < 0:
            continue
        gone = 0
        for i in range(l):
            gone += top[i]
        n = parts[c, first]
        tail = people - gone - (top[l] if n >= top[l] else n)
        others = people - n
        if best[1] == 0:
            best[0], best[1], best[2] = tail, n, others
        elif best[0] != tail or best[1] != n or best[2] != others:
            new, old = 0.0, 0.0
            if tail > k:
                new = (tail - k) / n
                for j in range(k + 1, k + 1 + m):
                    new = new * (others - j) / (people - j) if others > j else 0.0
            if best[0] > k:
                old = (best[0] - k) / best[1]
                whole = best[1] + best[2]
                for j in range(k + 1, k + 1 + m):
                    old = old * (best[2] - j) / (whole - j) if best[2] > j else 0.0
            if abs(new - old) <= near * old and new + old > 0:
                return False
            if new < old:
                best[0], best[1], best[2] = tail, n, others
        if m == 0:
            continue
        for s in range(values):
            n = parts[c, s]
            if n == 0 or not allowed[s]:
                continue
            tail = people - gone - (top[l] if n >= top[l] else n)
            others = people - n
            for f in range(0, 4, 2):
                less = k if f == 0 else 0
                new_up = max(tail - less, 0)
                old_up = max(x[f, s] - less, 0)
                if x[f, s] < 0 or new_up * a[f, s] < old_up * n:
                    factor[f, s], x[f, s], a[f, s] = new_up / n, tail, n
            for f in range(1, 4, 2):
                if x[f, s] == others and a[f, s] == n:
                    continue
                less = k if f == 3 else 0
                lack = 1.0
                for j in range(less, less + m):
                    lack = lack * (others - j) / (people - j) if others > j else 0.0
                if x[f, s] >= 0:
                    old = factor[f, s]
                    if abs(lack - old) <= near * old and lack + old > 0:
                        return False
                    if lack >= old:
                        continue
                factor[f, s], x[f, s], a[f, s] = lack, others, n
    return True


def verdict(
    k: int, m: int, theta: float, near: float, factor: Floats, x: Ints, best: Ints
) -> int:
    """Whether all attacks keep the limit, as far as floats can tell."""
    if best[1] == 0:
        return SAFE
    low, high = theta * (1 - near), theta * (1 + near)
    least = 0.0
    if best[0] > k:
        least = (best[0] - k) / best[1]
        whole = best[1] + best[2]
        for j in range(k + 1, k + 1 + m):
            least = least * (best[2] - j) / (whole - j) if best[2] > j else 0.0
    if m > 0:
        for s in range(factor.shape[1]):
            if x[0, s] >= 0:
                least = min(least, factor[0, s] * factor[1, s])
                least = min(least, factor[2, s] * factor[3, s])
    if least < low:
        return UNSAFE
    return CLOSE if least <= high else SAFE
