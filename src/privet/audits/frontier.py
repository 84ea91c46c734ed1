"""The frontier: every most knowing insider who stays unsure, at one confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from privet.audits.odds import Point

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Caps:
    """How far to look."""

    l: int
    k: int
    m: int


def maximal(points: Sequence[Triple]) -> list[Triple]:
    """The points no other point has at least as much of everything as.

    >>> maximal([(0, 4, 0), (0, 3, 0), (1, 3, 1)])
    [(0, 4, 0), (1, 3, 1)]
    """

    def below(p: Triple, q: Triple) -> bool:
        return p != q and all(x <= y for x, y in zip(p, q, strict=True))

    return sorted(p for p in set(points) if not any(below(p, q) for q in points))


def frontier(safe: Callable[[Point], bool], caps: Caps) -> list[Triple]:
    """The maximal safe points within the caps.

    Safety falls in each coordinate, so for each (l, m) the largest safe k lies at or
    below those of (l - 1, m) and (l, m - 1); it is found by halving.
    """
    if not safe(Point(0, 0, 0)):
        return []
    found: list[Triple] = []
    before: dict[int, int] = {}
    for l in range(caps.l + 1):
        here: dict[int, int] = {}
        for m in range(caps.m + 1):
            most = min(before.get(m, caps.k if l == 0 else -1), here.get(m - 1, caps.k))
            k = _largest(lambda k, l=l, m=m: safe(Point(l, k, m)), most)  # type: ignore[misc]
            if k < 0:
                break
            here[m] = k
            found.append((l, k, m))
        if not here:
            break
        before = here
    return maximal(found)


def _largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that holds, or -1; small ones are likelier."""
    if most < 0 or not holds(0):
        return -1
    if holds(most):
        return most
    low = 0
    for step in (2**i for i in count()):
        high = min(low + step, most)
        if high == most or not holds(high):
            break
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
