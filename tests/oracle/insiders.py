"""An insider's worst case by definition, and by dealing people to groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb

Histogram = dict[str, int]
Release = Sequence[Histogram]
INFINITE = Fraction(10**9)


# By definition: every world, every piece of knowledge --------------------------------


def brute_force(
    release: Release, l: int, k: int, m: int, protect: set[str] | None = None
) -> Fraction:
    """The worst belief over all knowledge, by listing all worlds."""
    people = [(g, i) for g, h in enumerate(release) for i in range(sum(h.values()))]
    worlds = [dict(zip(people, world, strict=True)) for world in _worlds(release)]
    values = sorted({v for h in release for v in h})
    worst = Fraction(0)
    for t in _one_per_group(people):
        others = [p for p in people if p != t]
        for us in _up_to(others, k):
            rest = [p for p in others if p not in us]
            for vs in _up_to(rest, m):
                for ys in product(values, repeat=len(us)):
                    fitting = [w for w in worlds if _has(w, us, ys)]
                    if fitting:
                        found = _beliefs(fitting, t, vs, values, l, protect)
                        worst = max(worst, found)
    return worst


def _beliefs(
    worlds: list[dict[tuple[int, int], str]],
    t: tuple[int, int],
    vs: Sequence[tuple[int, int]],
    values: Sequence[str],
    l: int,
    protect: set[str] | None,
) -> Fraction:
    worst = Fraction(0)
    for s in values:
        if protect is not None and s not in protect:
            continue
        same = [w for w in worlds if w[t] == s or all(w[v] != s for v in vs)]
        having = sum(w[t] == s for w in same)
        if not having:
            continue
        for out in _up_to([v for v in values if v != s], l):
            left = sum(w[t] not in out for w in same)
            worst = max(worst, Fraction(having, left))
    return worst


def _has(
    world: dict[tuple[int, int], str],
    us: Sequence[tuple[int, int]],
    ys: Sequence[str],
) -> bool:
    return all(world[u] == y for u, y in zip(us, ys, strict=True))


def _up_to(things: Sequence, most: int) -> Iterator[tuple]:
    for n in range(min(most, len(things)) + 1):
        yield from combinations(things, n)


def _one_per_group(people: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [p for p in people if p[1] == 0]


def _worlds(release: Release) -> Iterator[tuple[str, ...]]:
    deals = [
        sorted(set(permutations([v for v, n in h.items() for _ in range(n)])))
        for h in release
    ]
    for world in product(*deals):
        yield tuple(v for group in world for v in group)


# By dealing the victim, the known and the companions to groups ------------------------


def allocation(
    release: Release, l: int, k: int, m: int, protect: set[str] | None = None
) -> Fraction:
    """The worst belief over all ways to spread people over groups; no theorem used."""
    values = {v for h in release for v in h}
    found = [
        _least_odds(release, s, l, k, m)
        for s in values
        if protect is None or s in protect
    ]
    odds = [r for r in found if r is not None]
    return 1 / (1 + min(odds)) if odds else Fraction(0)


def _least_odds(release: Release, s: str, l: int, k: int, m: int) -> Fraction | None:
    """Deal group after group; the state is who is left to be placed."""
    sized = [tuple(sorted(Counter(h).items())) for h in release]

    @cache
    def least(g: int, ks: int, ms: int, placed: bool) -> Fraction:
        if g == len(sized):
            return Fraction(1) if placed else INFINITE
        best = INFINITE
        for here in (False, True) if not placed else (False,):
            for i in range(ks + 1):
                for j in range(ms + 1):
                    own = _group_odds(sized[g], s, l, i, j, here)
                    if own is not None:
                        rest = least(g + 1, ks - i, ms - j, placed or here)
                        best = min(best, own * rest)
        return best

    result = least(0, k, m, False)
    return None if result >= INFINITE else result


@cache
def _group_odds(
    cells: tuple[tuple[str, int], ...], s: str, l: int, k: int, m: int, victim: bool
) -> Fraction | None:
    """The factor of one group: least over the values the known people have."""
    histogram = dict(cells)
    people = sum(histogram.values())
    if k + m + victim > people:
        return None
    best: Fraction | None = None
    for left in _without(tuple(sorted(histogram.items())), k):
        factor = _factor(dict(left), s, l, m, victim)
        if factor is not None and (best is None or factor < best):
            best = factor
    return best


@cache
def _without(cells: tuple, k: int) -> tuple:
    """Every histogram left when k people with any values are taken out."""
    if k == 0:
        return (cells,)
    found = set()
    for left in _without(cells, k - 1):
        for value, n in left:
            if n:
                found.add(tuple((v, c - (v == value)) for v, c in left))
    return tuple(sorted(found))


def _factor(
    histogram: Histogram, s: str, l: int, m: int, victim: bool
) -> Fraction | None:
    """Ways that m companions lack s (and t has another value) over ways t has s."""
    people, a = sum(histogram.values()), histogram.get(s, 0)
    if not victim:
        return Fraction(comb(people - a, m), comb(people, m))
    if not a:
        return None
    others = sorted((n for v, n in histogram.items() if v != s), reverse=True)
    tail = sum(others[l:])
    # t has one of the tail's values, then the companions lack s among the rest.
    lacking = tail * comb(people - a - 1, m) if people - a >= 1 else 0
    having = a * comb(people - 1, m)
    return Fraction(lacking, having)
