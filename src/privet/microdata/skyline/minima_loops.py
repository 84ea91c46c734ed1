"""The compiled loops of running minima: splits are tried, tested, and undone.

Floats only sort out what is far apart; what is close is decided in long integers, so
that the loops and numpy decide alike. See `incremental.py`.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from privet.microdata.skyline.closed_forms import NEAR
from privet.values.arrays import Flags, Floats, Ints
from privet.values.jit import compile_together, import_numba, jit

# Tables for loops -------------------------------------------------------------------

BITS = 30
"""Long integers are digits of so many bits, the lowest first."""


class MinimaTables(NamedTuple):
    """The minima of several points, a line each, as loops take them."""

    begin: Ints
    """Where the values of each point's column begin in a histogram; …"""
    end: Ints
    """… and where they end."""
    l: Ints
    k: Ints
    m: Ints
    theta: Floats
    """The odds at the limit."""
    strict: Flags
    """Whether the odds must be above it."""
    above: Ints
    """The same odds as a fraction of long integers: the numerator …"""
    below: Ints
    """… and the denominator."""
    allowed: Flags
    """Which values matter."""
    factor: Floats
    """CF2 to CF5 of each value; see `PointMinima`."""
    x: Ints
    a: Ints
    best: Ints
    log: Ints
    """What a trial wrote: point, factor, value, and x and a before; no room: it is not
    to be undone."""
    was: Floats
    """The factors before."""


def write_digits(numbers: Sequence[int]) -> Ints:
    """Long integers in digits, a line each."""
    most = max((n.bit_length() for n in numbers), default=0) // BITS + 1
    digits = [[n >> BITS * i & 2**BITS - 1 for i in range(most)] for n in numbers]
    return np.array(digits, dtype=np.int64).reshape(-1, most)


# Loops for numba --------------------------------------------------------------------


@cache
def compile_loops() -> Mapping[str, Any] | None:
    """The loops below, compiled; None without numba."""
    if import_numba() is None:
        return None
    return compile_together({loop.__name__: loop for loop in LOOPS}, jit)


def lower_minima(parts: Ints, tables: MinimaTables, force: bool) -> int:
    """Let minima fall to those of more groups: how many entries were logged.

    -1 where a limit is broken; then nothing has changed, if there was room to undo it,
    unless minima fall by force.
    """
    used, safe = 0, True
    for p in range(len(tables.l)):  # refuses most
        for c in range(parts.shape[0]):
            own = parts[c, tables.begin[p] : tables.end[p]]
            if safe or force:
                safe = is_mode_safe(own, p, tables) and safe
    for p in range(len(tables.l)):
        for c in range(parts.shape[0] if tables.m[p] > 0 else 0):
            own = parts[c, tables.begin[p] : tables.end[p]]
            if safe or force:
                used, kept = lower_factors(own, p, tables, used, force)
                safe = kept and safe
    if not (safe or force):
        restore_minima(tables, used)
        return -1
    for p in range(len(tables.l)):
        for c in range(parts.shape[0]):
            keep_best(parts[c, tables.begin[p] : tables.end[p]], p, tables)
    return used if safe else -1


def restore_minima(tables: MinimaTables, used: int) -> None:
    """Undo what a trial wrote, the last first."""
    if len(tables.log) > 0:
        for i in range(used - 1, -1, -1):
            p, f, s = tables.log[i, 0], tables.log[i, 1], tables.log[i, 2]
            tables.factor[p, f, s] = tables.was[i]
            tables.x[p, f, s], tables.a[p, f, s] = tables.log[i, 3], tables.log[i, 4]


def find_mode(own: Ints, p: int, tables: MinimaTables) -> tuple[int, int, int]:
    """Tail, holders and others of a group's most frequent value that matters."""
    top = np.zeros(tables.l[p] + 1, dtype=np.int64)  # the largest counts
    people, first = find_largest(own, tables.allowed[p], top)
    if first < 0:
        return 0, 0, 0
    n = own[first]
    # Counts 4 3 2 1, l = 1, n = 2: 10 - 4 - min(2, 3) = 4.
    return people - top[:-1].sum() - min(n, top[-1]), n, people - n


def is_mode_safe(own: Ints, p: int, tables: MinimaTables) -> bool:
    """Whether CF1 keeps the limit: of all values that of the mode is the least."""
    tail, n, others = find_mode(own, p, tables)
    if n == 0:
        return True
    k, m = tables.k[p], tables.m[p]
    odds = cf1_loop(tail, n, others, k, m)
    theta = tables.theta[p]
    if abs(odds - theta) > NEAR * theta:
        return bool(odds > theta)
    up, down = start_terms(min(n, m) + 1)
    up[0], down[0] = max(tail - k, 0), n
    add_terms(n, others, k + 1, m, up[1:], down[1:])
    return is_above(up, down, p, tables)


def keep_best(own: Ints, p: int, tables: MinimaTables) -> None:
    """Remember the group with the least CF1."""
    tail, n, others = find_mode(own, p, tables)
    best, k, m = tables.best[p], tables.k[p], tables.m[p]
    if n == 0 or (best[0] == tail and best[1] == n and best[2] == others):
        return
    if best[1] > 0:
        new = cf1_loop(tail, n, others, k, m)
        old = cf1_loop(best[0], best[1], best[2], k, m)
        if abs(new - old) > NEAR * old:
            if new > old:
                return
        else:
            up, down = start_terms(min(n, m) + min(best[1], m) + 2)
            up[0], down[0] = max(tail - k, 0), n
            up[1], down[1] = best[1], max(best[0] - k, 0)
            add_terms(n, others, k + 1, m, up[2:], down[2:])
            at = 2 + min(n, m)
            add_terms(best[1], best[2], k + 1, m, down[at:], up[at:])
            if compare_products(up, down) >= 0:
                return
    best[0], best[1], best[2] = tail, n, others


def lower_factors(
    own: Ints, p: int, tables: MinimaTables, used: int, force: bool
) -> tuple[int, bool]:
    """Let CF2 to CF5 fall to those of a group; whether what fell keeps the limit."""
    k, m, safe = tables.k[p], tables.m[p], True
    top = np.zeros(tables.l[p] + 1, dtype=np.int64)
    people, _ = find_largest(own, tables.allowed[p], top)
    gone = top[:-1].sum()
    factor, x, a = tables.factor[p], tables.x[p], tables.a[p]
    for s in range(len(own)):
        n = own[s]
        if n == 0 or not tables.allowed[p, s]:
            continue
        tail, others, fell = people - gone - min(n, top[-1]), people - n, False
        for f in range(4):
            less = k if f in (0, 3) else 0
            if f % 2 == 0:
                # CF2 and CF4: x / a is lower where x * a' < x' * a, in integers.
                new_up, old_up = max(tail - less, 0), max(x[f, s] - less, 0)
                if x[f, s] >= 0 and new_up * a[f, s] >= old_up * n:
                    continue
                value, count = new_up / n, tail
            else:
                value, count = cf5_loop(n, others, less, m), others
                if not is_lower(
                    value, n, others, less, m, factor[f, s], a[f, s], x[f, s]
                ):
                    continue
            if len(tables.log) > 0:
                tables.log[used, 0], tables.log[used, 1], tables.log[used, 2] = p, f, s
                tables.log[used, 3], tables.log[used, 4] = x[f, s], a[f, s]
                tables.was[used] = factor[f, s]
                used += 1
            factor[f, s], x[f, s], a[f, s] = value, count, n
            fell = True
        if fell and not (
            is_pair_safe(s, 0, p, tables) and is_pair_safe(s, 2, p, tables)
        ):
            safe = False
            if not force:
                break
    return used, safe


def is_lower(
    new: float, n: int, others: int, k: int, m: int, old: float, a: int, x: int
) -> bool:
    """Whether CF3 or CF5 of n holders and others is below that of a and x."""
    if x < 0:
        return True
    if x == others and a == n:
        return False
    if abs(new - old) > NEAR * old:
        return new < old
    up, down = start_terms(min(n, m) + min(a, m))
    add_terms(n, others, k, m, up, down)
    at = min(n, m)
    add_terms(a, x, k, m, down[at:], up[at:])
    return bool(compare_products(up, down) < 0)


def is_pair_safe(s: int, f: int, p: int, tables: MinimaTables) -> bool:
    """Whether an attack on two groups about a value keeps the limit."""
    factor, x, a = tables.factor[p], tables.x[p], tables.a[p]
    odds, theta = factor[f, s] * factor[f + 1, s], tables.theta[p]
    if abs(odds - theta) > NEAR * theta:
        return bool(odds > theta)
    k, m = tables.k[p], tables.m[p]
    up, down = start_terms(min(a[f + 1, s], m) + 1)
    up[0], down[0] = max(x[f, s] - (k if f == 0 else 0), 0), a[f, s]
    add_terms(a[f + 1, s], x[f + 1, s], k if f == 2 else 0, m, up[1:], down[1:])
    return is_above(up, down, p, tables)


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
            # Into the falling counts, the least of which drops out.
            at = last
            while at > 0 and top[at - 1] < n:
                top[at] = top[at - 1]
                at -= 1
            top[at] = n
        if n > 0 and allowed[s] and (first < 0 or n > histogram[first]):
            first = s
    return people, first


def cf5_loop(a: int, b: int, k: int, m: int) -> float:
    """Q(k, m), hence CF3 and CF5: how likely m people lack the value."""
    if b - k < m:
        return 1.0 if m == 0 else 0.0
    result = 1.0
    if m <= a:
        for j in range(k, k + m):
            result = result * (b - j) / (a + b - j)
    else:  # the same product over the holders, of whom there are fewer
        for i in range(k, k + a):
            result = result * (a + b - m - i) / (a + b - i)
    return result


def cf1_loop(tail: int, a: int, b: int, k: int, m: int) -> float:
    """CF1: the victim, the people known and the companions in one group."""
    if tail <= k:
        return 0.0
    return (tail - k) / a * cf5_loop(a, b, k + 1, m)


# Exactly, in long integers ----------------------------------------------------------


def start_terms(many: int) -> tuple[Ints, Ints]:
    """Room for the factors of a fraction's two terms."""
    return np.ones(many, dtype=np.int64), np.ones(many, dtype=np.int64)


def add_terms(a: int, b: int, k: int, m: int, up: Ints, down: Ints) -> None:
    """Write down the factors of Q(k, m), at most as many as holders."""
    if b - k < m:
        if m > 0 and a > 0:
            up[0] = 0
        return
    for i in range(min(a, m)):
        up[i] = b - k - i if m <= a else a + b - k - m - i
        down[i] = a + b - k - i


def is_above(up: Ints, down: Ints, p: int, tables: MinimaTables) -> bool:
    """Whether a fraction keeps the limit of a point."""
    room = 2 * len(up) + tables.above.shape[1] + tables.below.shape[1] + 2
    left = np.zeros(room, dtype=np.int64)
    right = np.zeros(room, dtype=np.int64)
    for i in range(tables.below.shape[1]):
        left[i] = tables.below[p, i]
    for i in range(tables.above.shape[1]):
        right[i] = tables.above[p, i]
    multiply_digits(left, up)
    multiply_digits(right, down)
    sign = compare_digits(left, right)
    return sign > 0 or (sign == 0 and not tables.strict[p])


def compare_products(up: Ints, down: Ints) -> int:
    """Whether a product is below (-1), equal to (0) or above (1) another one."""
    left = np.zeros(2 * len(up) + 2, dtype=np.int64)
    right = np.zeros(2 * len(up) + 2, dtype=np.int64)
    left[0], right[0] = 1, 1
    multiply_digits(left, up)
    multiply_digits(right, down)
    return compare_digits(left, right)


def multiply_digits(digits: Ints, factors: Ints) -> None:
    """Multiply a long integer by factors below 2**31."""
    for i in range(len(factors)):
        carry = 0
        for j in range(len(digits)):
            product = digits[j] * factors[i] + carry
            digits[j] = product & ((1 << BITS) - 1)
            carry = product >> BITS


def compare_digits(left: Ints, right: Ints) -> int:
    """The sign of a difference of long integers."""
    for i in range(len(left) - 1, -1, -1):
        if left[i] != right[i]:
            return 1 if left[i] > right[i] else -1
    return 0


LOOPS = (
    *(lower_minima, restore_minima, find_mode, is_mode_safe, keep_best, lower_factors),
    *(is_lower, is_pair_safe, find_largest, cf5_loop, cf1_loop, start_terms, add_terms),
    *(is_above, compare_products, multiply_digits, compare_digits),
)
"""What is compiled together."""
