"""People whose row changed while a value stayed: the formula equals a listing."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from privet.release.joint import changed_rows
from privet.release.joint.changed_rows import ChangedRows

CASES = int(os.environ.get("PRIVET_CASES", "300"))

Cell = tuple[str, str]


def list_worst(gone: Sequence[Cell], new: Sequence[Cell], many: int) -> Fraction:
    """Every way in which so many of the old rows became new ones with equal values."""
    ways: dict[tuple[str, str, str], int] = defaultdict(int)
    for some in combinations(range(len(gone)), many):
        for others in permutations(range(len(new)), many):
            pairs = [(gone[g], new[n]) for g, n in zip(some, others, strict=True)]
            if all(old[1] == now[1] for old, now in pairs):
                for old, now in pairs:
                    ways[old[0], now[0], old[1]] += 1
    whole: Counter[tuple[str, str]] = Counter()
    for (before, now, _), n in ways.items():
        whole[before, now] += n
    return max(Fraction(n, whole[b, a]) for (b, a, _), n in ways.items())


def draw_case(draws: random.Random) -> tuple[list[Cell], list[Cell], int]:
    gone = [
        (draws.choice("ab"), draws.choice("vw")) for _ in range(draws.randint(1, 4))
    ]
    new = [
        (draws.choice("cd"), draws.choice("vwx")) for _ in range(draws.randint(1, 4))
    ]
    room = Counter(v for _, v in gone) & Counter(v for _, v in new)
    return gone, new, draws.randint(1, room.total()) if room else 0


@pytest.mark.parametrize("bounded", [False, True])
def test_the_formula_equals_a_listing(
    bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bounded:
        monkeypatch.setattr(changed_rows, "MOST_WORK", 0)
    draws = random.Random(16)
    judged = 0
    for _ in range(CASES):
        gone, new, many = draw_case(draws)
        if not many:
            continue
        judged += 1
        asked = ChangedRows(Counter(gone), Counter(new), many, lambda cell: cell)
        found, wanted = asked.find_worst(lambda v: True), list_worst(gone, new, many)
        assert found >= wanted if bounded else found == wanted, (gone, new, many)
    assert judged > CASES // 2
