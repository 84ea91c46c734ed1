"""Familiar measures by their definitions, row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log

Rows = list[tuple[str, str]]
"""(group, value) of every person."""


def groups(rows: Rows) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for g, v in rows:
        found.setdefault(g, Counter())[v] += 1
    return found


def share(counts: Counter[str], value: str) -> Fraction:
    return Fraction(counts[value], sum(counts.values()))


def everybody(rows: Rows) -> Counter[str]:
    return Counter(v for _, v in rows)


def k_anonymity(rows: Rows) -> int:
    return min(sum(h.values()) for h in groups(rows).values())


def alpha(rows: Rows) -> Fraction:
    return max(share(h, v) for h in groups(rows).values() for v in h)


def distinct(rows: Rows) -> int:
    return min(len(h) for h in groups(rows).values())


def entropy(rows: Rows) -> float:
    def diverse(h: Counter[str]) -> float:
        return exp(-sum(float(share(h, v)) * log(float(share(h, v))) for v in h))

    return min(map(diverse, groups(rows).values()))


def recursive(rows: Rows, c: Fraction) -> int:
    """The largest l with r_1 < c (r_l + … + r_d) in every group."""

    def largest(h: Counter[str]) -> int:
        r = sorted(h.values(), reverse=True)
        holds = [l for l in range(1, len(r) + 1) if r[0] < c * sum(r[l - 1 :])]
        return max(holds, default=0)

    return min(map(largest, groups(rows).values()))


def equal(rows: Rows) -> Fraction:
    q = everybody(rows)
    return max(
        sum(abs(share(h, v) - share(q, v)) for v in q) / 2
        for h in groups(rows).values()
    )


def transport(p: list[Fraction], q: list[Fraction], ground: list[list[Fraction]]):
    """The least cost to turn p into q, by linear programming over integers."""
    import numpy as np
    from scipy.optimize import linprog

    n = len(p)
    cost = np.array([[float(x) for x in row] for row in ground]).ravel()
    rows_, right = [], []
    for i in range(n):
        out, into = np.zeros((n, n)), np.zeros((n, n))
        out[i, :], into[:, i] = 1, 1
        rows_ += [out.ravel(), into.ravel()]
        right += [float(p[i]), float(q[i])]
    found = linprog(cost, A_eq=np.array(rows_), b_eq=right, bounds=(0, None))
    return found.fun


def moved(rows: Rows, ground: dict[tuple[str, str], Fraction]) -> float:
    """The largest earth mover's distance of a group, for any ground distance."""
    q = everybody(rows)
    values = sorted(q)
    table = [[ground[a, b] for b in values] for a in values]
    return max(
        transport([share(h, v) for v in values], [share(q, v) for v in values], table)
        for h in groups(rows).values()
    )


def beta(rows: Rows) -> Fraction:
    q = everybody(rows)
    return max(
        (share(h, v) - share(q, v)) / share(q, v)
        for h in groups(rows).values()
        for v in h
    )


def enhanced_holds(rows: Rows, level: Fraction) -> bool:
    q = everybody(rows)
    for h in groups(rows).values():
        for v in h:
            gain = (share(h, v) - share(q, v)) / share(q, v)
            if gain > 0 and gain > min(level, -log(float(share(q, v)))):
                return False
    return True


def delta(rows: Rows) -> float:
    q = everybody(rows)
    return max(
        abs(log(float(share(h, v) / share(q, v))))
        for h in groups(rows).values()
        for v in h
    )


def alike_with_wildcards(rows: list[tuple[str | None, ...]]) -> list[int]:
    """For every row, how many rows could be the same person."""

    def fits(a: tuple, b: tuple) -> bool:
        return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))

    return [sum(fits(a, b) for b in rows) for a in rows]
