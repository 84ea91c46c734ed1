"""Doubtful knowledge and households by definition: every world with its weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import comb

from oracle.insiders import INFINITE, Release, _has, _up_to, _without, _worlds

Person = tuple[int, int]
World = dict[Person, str]
Weight = Callable[[World, Person], Fraction]


def list_worlds(release: Release) -> list[World]:
    people = list_people(release)
    return [dict(zip(people, world, strict=True)) for world in _worlds(release)]


def list_people(release: Release) -> list[Person]:
    return [(g, i) for g, h in enumerate(release) for i in range(sum(h.values()))]


def list_likelihoods(
    values: Sequence[str], s: str, doubts: Sequence[Fraction]
) -> Iterator[Mapping[str, Fraction]]:
    """Every way to rule out values other than s, each with its doubt."""
    others = [v for v in values if v != s]
    several = min(len(doubts), len(others))
    for left in _up_to(range(len(doubts)), several):
        for out in permutations(others, len(left)):
            yield {x: doubts[i] for x, i in zip(out, left, strict=True)}


def believe(
    worlds: Sequence[World],
    weigh: Weight,
    t: Person,
    s: str,
    likelihood: Mapping[str, Fraction],
) -> Fraction | None:
    """How likely t has s; None where nothing fits."""
    having = lacking = Fraction(0)
    for world in worlds:
        weight = weigh(world, t) * likelihood.get(world[t], 1)
        if world[t] == s:
            having += weight
        else:
            lacking += weight
    return having / (having + lacking) if having + lacking else None


def brute_force_doubts(
    release: Release,
    doubts: Sequence[Fraction],
    k: int,
    m: int,
    *,
    members: Sequence[Person] = (),
    weigh: Weight = lambda world, t: Fraction(1),
    named: Mapping[str, Fraction] | None = None,
    protect: set[str] | None = None,
) -> Fraction | None:
    """The worst belief about anybody, or about the first of some members."""
    worlds = list_worlds(release)
    people, values = list_people(release), sorted({v for h in release for v in h})
    victims = members or [p for p in people if p[1] == 0]
    worst: Fraction | None = None
    for t in victims:
        others = [p for p in people if p != t and p not in members]
        for us in _up_to(others, k):
            for ys in product(values, repeat=len(us)):
                fitting = [w for w in worlds if _has(w, us, ys)]
                rest = [p for p in others if p not in us]
                for vs, s in product(_up_to(rest, m), values):
                    if protect is not None and s not in protect:
                        continue
                    same = [
                        w for w in fitting if w[t] == s or all(w[v] != s for v in vs)
                    ]
                    told = [named] if named is not None else None
                    for out in told or list_likelihoods(values, s, doubts):
                        found = believe(same, weigh, t, s, out)
                        if found is not None and (worst is None or found > worst):
                            worst = found
    return worst


# Dealing people to groups -------------------------------------------------------------


def allocate_doubts(
    release: Release, doubts: Sequence[Fraction], k: int, m: int, s: str
) -> Fraction:
    """The worst belief in s over all ways to spread people; no theorem used."""
    sized = [tuple(sorted(Counter(h).items())) for h in release]
    falling = tuple(sorted(doubts))

    @cache
    def least(g: int, ks: int, ms: int, placed: bool) -> Fraction:
        if g == len(sized):
            return Fraction(1) if placed else INFINITE
        best = INFINITE
        for here in (False, True) if not placed else (False,):
            for i, j in product(range(ks + 1), range(ms + 1)):
                own = _doubtful_odds(sized[g], s, falling, i, j, here)
                if own is not None:
                    best = min(best, own * least(g + 1, ks - i, ms - j, placed or here))
        return best

    odds = least(0, k, m, False)
    return Fraction(0) if odds >= INFINITE else 1 / (1 + odds)


@cache
def _doubtful_odds(
    cells: tuple[tuple[str, int], ...],
    s: str,
    doubts: tuple[Fraction, ...],
    k: int,
    m: int,
    victim: bool,
) -> Fraction | None:
    if k + m + victim > sum(n for _, n in cells):
        return None
    found = [
        _weigh_odds(dict(left), s, doubts, m, victim) for left in _without(cells, k)
    ]
    return min((f for f in found if f is not None), default=None)


def _weigh_odds(
    histogram: Mapping[str, int],
    s: str,
    doubts: Sequence[Fraction],
    m: int,
    victim: bool,
) -> Fraction | None:
    people, a = sum(histogram.values()), histogram.get(s, 0)
    if not victim:
        return Fraction(comb(people - a, m), comb(people, m))
    if not a:
        return None
    others = sorted((n for v, n in histogram.items() if v != s), reverse=True)
    weights = [*doubts, *[Fraction(1)] * len(others)]
    tail = sum((w * n for w, n in zip(weights, others, strict=False)), Fraction(0))
    lacking = tail * comb(people - a - 1, m) if people - a >= 1 else Fraction(0)
    return lacking / (a * comb(people - 1, m))
