"""Two deliveries: beliefs about who came and went equal a listing of who is who."""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction

import pytest

from privet.errors import InputError, TooLarge
from privet.release.joint.deliveries import Cell, Deliveries, Part

CASES = int(os.environ.get("PRIVET_CASES", "400"))

Matching = frozenset[tuple[int, int]]


def list_matchings(first: list[Cell], second: list[Cell]) -> Iterator[Matching]:
    """Every way to say which rows of two files are the same people's."""

    def go(i: int, free: frozenset[int]) -> Iterator[Matching]:
        if i == len(first):
            yield frozenset()
            return
        yield from go(i + 1, free)
        for j in free:
            if second[j] == first[i]:
                for rest in go(i + 1, free - {j}):
                    yield rest | {(i, j)}

    return go(0, frozenset(range(len(second))))


def believe(
    first: list[Cell], second: list[Cell], stayed: int, part: Part
) -> dict[object, dict[object, Fraction]]:
    found: dict[object, Counter[object]] = defaultdict(Counter)
    side = second if part == "new" else first
    for matching in list_matchings(first, second):
        if len(matching) == stayed:
            same = {pair[part == "new"] for pair in matching}
            for i, (group, value) in enumerate(side):
                if i not in same:
                    found[group][value] += 1
    return {
        g: {v: Fraction(n, values.total()) for v, n in values.items()}
        for g, values in found.items()
    }


def draw_file(draw: random.Random) -> list[Cell]:
    size = draw.randint(0, 6)
    return [(draw.choice("gh"), draw.choice("01")) for _ in range(size)]


@pytest.mark.parametrize("part", ["new", "gone"])
def test_beliefs_equal_a_listing(part: Part) -> None:
    draw = random.Random(3)
    for _ in range(CASES):
        first, second = draw_file(draw), draw_file(draw)
        shared = (Counter(first) & Counter(second)).total()
        stayed = draw.randint(0, shared)
        found = Deliveries(Counter(first), Counter(second), stayed)
        slow = believe(first, second, stayed, part)
        assert slow == found.beliefs(part)
        most = found.bounds(part)
        for group, values in slow.items():
            for value, belief in values.items():
                assert belief <= most[group][value]


@pytest.mark.parametrize(("stayed", "belief"), [(3, "1"), (2, "3/5"), (1, "5/9")])
def test_the_fewer_stayed_the_less_is_seen(stayed: int, belief: str) -> None:
    first = Counter({("g", "0"): 2, ("g", "1"): 1})
    second = Counter({("g", "0"): 2, ("g", "1"): 2})
    found = Deliveries(first, second, stayed).beliefs("new")
    assert Fraction(belief) == found["g"]["1"]


def test_a_single_newcomer_is_seen() -> None:
    first = Counter({("Spy", "Flu"): 4})
    second = first + Counter({("Spy", "HIV"): 1})
    assert {"Spy": {"HIV": 1}} == Deliveries(first, second, 4).beliefs("new")


def test_hiding_more_may_show_more() -> None:
    """New HIV and ok in one group, gone ok in another: as one group, the ok cancels."""
    first = {("g2", "ok"): 3, ("g1", "ok"): 1}
    second = {("g1", "hiv"): 1, ("g1", "ok"): 2, ("g2", "ok"): 2}
    apart = Deliveries(first, second, 3)
    assert Fraction(1, 2) == apart.beliefs("new")["g1"]["hiv"]
    assert (0, {"g1": {"hiv": Fraction(1, 2), "ok": Fraction(1, 2)}}) == (
        apart.cancelled,
        apart.beliefs("new"),
    )
    as_one = Deliveries({("g", "ok"): 4}, {("g", "hiv"): 1, ("g", "ok"): 4}, 4)
    assert Fraction(1) == as_one.beliefs("new")["g"]["hiv"]


def test_more_people_than_rows_cannot_have_stayed() -> None:
    with pytest.raises(InputError, match="At most 1 people"):
        Deliveries({("g", "0"): 1}, {("g", "0"): 2}, 2)


def test_too_many_who_cancel_are_bounded() -> None:
    many = Deliveries({("g", "0"): 20_000}, {("g", "0"): 20_001, ("g", "1"): 1}, 1)
    with pytest.raises(TooLarge, match="too many to list"):
        many.beliefs("new")
    assert Fraction(20000, 20001) == many.bounds("new")["g"]["0"]
