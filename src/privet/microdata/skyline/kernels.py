"""The loops of SkylineCheck one step at a time, for numba to compile.

`fold_best` keeps the minimum of CF1, `fold_factors` those of CF2 to CF5, `judge_minima`
holds them against a limit (for `incremental.py`); `scan` and `attain` find the groups
that can decide (for `skyline.py`). They import nothing but numpy and run without numba
too, only slowly. What floats cannot tell apart is left to fractions, so that every
decision is the same as without.
Chen, LeFevre, Ramakrishnan 2007, "Five Sufficient Statistics".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

UNSAFE, SAFE, CLOSE = 0, 1, 2
"""What a trial comes to; where it is close, fractions must decide."""


def fold_best(
    parts: Ints, l: int, k: int, m: int, allowed: Flags, near: float, best: Ints
) -> bool:
    """The group with the least CF1, all together; False where floats cannot tell."""
    top = np.zeros(l + 1, dtype=np.int64)
    for c in range(parts.shape[0]):
        people, first = find_largest(parts[c], allowed, top)
        if first < 0:
            continue
        n = parts[c, first]
        tail = people - top[:l].sum() - min(n, top[l])
        others = people - n
        if best[1] == 0:
            best[0], best[1], best[2] = tail, n, others
        elif best[0] != tail or best[1] != n or best[2] != others:
            new = cf1(tail, n, others, k, m)
            old = cf1(best[0], best[1], best[2], k, m)
            if abs(new - old) <= near * old and new + old > 0:
                return False
            if new < old:
                best[0], best[1], best[2] = tail, n, others
    return True


def fold_factors(
    parts: Ints,
    l: int,
    k: int,
    m: int,
    allowed: Flags,
    near: float,
    factor: Floats,
    x: Ints,
    a: Ints,
) -> bool:
    """The minima of CF2 to CF5 per value; False where floats cannot tell."""
    top = np.zeros(l + 1, dtype=np.int64)
    for c in range(parts.shape[0]):
        people, _ = find_largest(parts[c], allowed, top)
        gone = top[:l].sum()
        for s in range(parts.shape[1]):
            n = parts[c, s]
            if n == 0 or not allowed[s]:
                continue
            tail, others = people - gone - min(n, top[l]), people - n
            for f in range(0, 4, 2):
                less = k if f == 0 else 0
                new_up, old_up = max(tail - less, 0), max(x[f, s] - less, 0)
                if x[f, s] < 0 or new_up * a[f, s] < old_up * n:
                    factor[f, s], x[f, s], a[f, s] = new_up / n, tail, n
            for f in range(1, 4, 2):
                if x[f, s] == others and a[f, s] == n:
                    continue
                lack = cf5(n, others, k if f == 3 else 0, m)
                if x[f, s] >= 0:
                    old = factor[f, s]
                    if abs(lack - old) <= near * old and lack + old > 0:
                        return False
                    if lack >= old:
                        continue
                factor[f, s], x[f, s], a[f, s] = lack, others, n
    return True


def find_largest(histogram: Ints, allowed: Flags, top: Ints) -> tuple[int, int]:
    """People of a group and its most frequent value that matters, -1 if none does.

    The largest counts go to `top`.
    """
    top[:] = 0
    people, first, last = 0, -1, len(top) - 1
    for s in range(len(histogram)):
        n = histogram[s]
        people += n
        if n > top[last]:
            at = last
            while at > 0 and top[at - 1] < n:
                top[at] = top[at - 1]
                at -= 1
            top[at] = n
        if n > 0 and allowed[s] and (first < 0 or n > histogram[first]):
            first = s
    return people, first


def cf5(a: int, b: int, k: int, m: int) -> float:
    """Q(k, m), hence CF3 and CF5: how likely m people lack the value."""
    result = 1.0
    for j in range(k, k + m):
        result = result * (b - j) / (a + b - j) if b > j else 0.0
    return result


def cf1(tail: int, a: int, b: int, k: int, m: int) -> float:
    """CF1: the victim, the people known and the companions in one group."""
    if tail <= k:
        return 0.0
    return (tail - k) / a * cf5(a, b, k + 1, m)


def judge_minima(
    k: int, m: int, theta: float, near: float, factor: Floats, x: Ints, best: Ints
) -> int:
    """Whether all attacks keep the limit, as far as floats can tell."""
    if best[1] == 0:
        return SAFE
    low, high = theta * (1 - near), theta * (1 + near)
    least = cf1(best[0], best[1], best[2], k, m)
    if m > 0:
        for s in range(factor.shape[1]):
            if x[0, s] >= 0:
                least = min(least, factor[0, s] * factor[1, s])
                least = min(least, factor[2, s] * factor[3, s])
    if least < low:
        return UNSAFE
    return CLOSE if least <= high else SAFE
