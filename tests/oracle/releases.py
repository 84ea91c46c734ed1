"""Small random releases, and the fast answer about them."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np

import privet as pv
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import InsiderCase, SkylineCheck

LETTERS = "abcdefghij"


def tiny(dice: random.Random, most: int = 7) -> list[dict[str, int]]:
    """A few people, few enough to list all worlds."""
    release, left = [], dice.randint(2, most)
    while left:
        size = dice.randint(1, left)
        left -= size
        release.append(dict(Counter(dice.choice("abcd") for _ in range(size))))
    return release


def middling(dice: random.Random) -> list[dict[str, int]]:
    """Tens of people in a few groups that share values."""
    return [
        {
            v: dice.randint(1, dice.choice([1, 1, 2, 5, 9]))
            for v in dice.sample(LETTERS, dice.randint(2, 9))
        }
        for _ in range(dice.randint(2, 4))
    ]


def matrix(release: list[dict[str, int]]) -> np.ndarray:
    return np.array([[h.get(v, 0) for v in LETTERS] for h in release])


def worst(
    release: list[dict[str, int]], point: Point, protect: set[str] | None = None
) -> InsiderCase | None:
    groups = pv.Groups.from_histograms(release)
    codes = None
    if protect is not None:
        found = [groups.grouped.about.code(v) for v in sorted(protect)]
        codes = [c for c in found if c is not None]
    return SkylineCheck([point.l], codes).add(groups.grouped).find_worst(point)


def fast(
    release: list[dict[str, int]],
    l: int,
    k: int,
    m: int,
    protect: set[str] | None = None,
) -> Fraction:
    case = worst(release, Point(l, k, m), protect)
    return case.belief if case else Fraction(0)
