"""Households: what members share, exclude or pair equals every world, as fractions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest

import privet as pv
from oracle.knowledge import brute_force_doubts, list_people
from oracle.releases import fast, tiny
from privet.microdata.skyline.households import HouseholdCheck

CHANCES = [Fraction(x) for x in ("1/10", "1/3", "1/2", "9/10", "1")]


def check(release, members, insider, protect=None):
    """The tally of one household; members are people (group, number)."""
    groups = pv.Groups.from_histograms(release).grouped
    pattern = tuple(sorted(Counter(g for g, _ in members).items()))
    codes = None
    if protect is not None:
        found = [groups.about.code(v) for v in sorted(protect)]
        codes = tuple(c for c in found if c is not None)
    judge = HouseholdCheck(groups, {pattern: 1}, insider, codes)
    return judge.judge(lambda belief: True)


def deal(dice: random.Random, most: int = 6, members: int = 3):
    release = tiny(dice, most)
    people = list_people(release)
    return release, dice.sample(people, min(len(people), dice.randint(2, members)))


def share(members):
    return lambda world, t: Fraction(len({world[p] for p in members}) == 1)


def exclude(members):
    return lambda world, t: Fraction(len({world[p] for p in members}) == len(members))


def pair(members, weight):
    def weigh(world, t):
        total = Fraction(1)
        for p in members:
            if p != t:
                total *= weight(world[t], world[p])
        return total

    return weigh


def expected_of_any(release, doubts, more):
    return brute_force_doubts(release, doubts, 0, 0, **{**more, "protect": None})


def compare(release, members, insider, weigh, doubts=(), protect=None, named=None):
    more = {"members": members, "weigh": weigh, "protect": protect, "named": named}
    expected = brute_force_doubts(release, doubts, 0, 0, **more)
    found = check(release, members, insider, protect)
    if not expected:
        assert found.exact is None or found.exact.belief == 0
        assert found.contradicted == (expected_of_any(release, doubts, more) is None)
    else:
        assert found.exact is not None, (release, members)
        assert expected == found.exact.belief, (release, members, insider)
        assert expected == found.bound


@pytest.mark.parametrize("seed", range(4))
def test_members_share_one_value(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release, members = deal(dice)
        doubts = [1 - dice.choice(CHANCES) for _ in range(dice.randint(0, 2))]
        sure = [1 - d for d in doubts] or None
        who = pv.Insider(rules_out=len(doubts), sure=sure, households="h")
        protect = dice.choice([None, {"a"}, {"b", "c"}])
        compare(release, members, who, share(members), doubts, protect)


@pytest.mark.parametrize("seed", range(4))
def test_members_exclude_each_other(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release, members = deal(dice, members=4)
        doubts = [1 - dice.choice(CHANCES) for _ in range(dice.randint(0, 2))]
        sure = [1 - d for d in doubts] or None
        who = pv.Insider(
            rules_out=len(doubts), sure=sure, households="h", members="exclude"
        )
        compare(release, members, who, exclude(members), doubts)


@pytest.mark.parametrize("seed", range(4))
def test_members_are_alike_with_a_probability(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release, members = deal(dice)
        p = dice.choice([Fraction(0), *CHANCES])
        who = pv.Insider(households="h", members={"alike": p})
        weigh = pair(members, lambda v, w, p=p: p if v == w else 1 - p)
        compare(release, members, who, weigh)


@pytest.mark.parametrize("seed", range(4))
def test_members_go_in_pairs(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release, members = deal(dice)
        rest = dice.choice([Fraction(0), Fraction(1, 3), Fraction(1)])
        pairs: dict = {}
        for v, w in dice.sample([*combinations("abcd", 2), ("a", "a"), ("b", "b")], 4):
            pairs.setdefault(v, {})[w] = dice.choice([Fraction(0), *CHANCES])
        who = pv.Insider(
            households="h", members={"pairs": pairs, "otherwise": str(rest)}
        )

        def weight(v, w, pairs=pairs, rest=rest):
            return pairs.get(v, {}).get(w, pairs.get(w, {}).get(v, rest))

        compare(release, members, who, pair(members, weight))


def test_values_ruled_out_by_name() -> None:
    dice = random.Random(5)
    for _ in range(60):
        release, members = deal(dice)
        values = sorted({v for h in release for v in h})
        named = {dice.choice(values): 1 - dice.choice(CHANCES)}
        sure = [1 - d for d in named.values()]
        who = pv.Insider(rules_out=list(named), sure=sure, households="h")
        compare(release, members, who, share(members), named=named)


@pytest.mark.parametrize("seed", range(4))
def test_other_people_are_bounded(seed: int) -> None:
    """Never too low, and nearly always what every world gives."""
    dice = random.Random(seed)
    same = every = 0
    for _ in range(25):
        release, members = deal(dice, 6, 2)
        k, m = dice.randint(0, 2), dice.randint(0, 1)
        doubts = [1 - dice.choice(CHANCES) for _ in range(dice.randint(0, 1))]
        sure = [1 - d for d in doubts] or None
        who = pv.Insider(len(doubts), k, m, sure=sure, households="h")
        expected = brute_force_doubts(
            release, doubts, k, m, members=members, weigh=share(members)
        )
        found = check(release, members, who)
        if expected is not None:
            assert expected <= found.bound, (release, members, k, m, doubts)
            same, every = same + (expected == found.bound), every + 1
    assert same >= 0.8 * every


def test_no_companion_covers_a_household() -> None:
    release = [{"s": 5} | {f"x{i}": 1 for i in range(10)}]
    found = check(release, [(0, 0), (0, 1)], pv.Insider(households="h"))
    assert 1 == found.exact.belief
    assert Fraction(7, 16) == fast(release, 0, 0, 1, {"s"})


def test_merging_can_raise_it() -> None:
    who = pv.Insider(households="h")
    apart = check([{"a": 1, "b": 1}, {"a": 2, "b": 1}], [(0, 0), (1, 0)], who)
    merged = check([{"a": 3, "b": 2}], [(0, 0), (0, 1)], who)
    assert Fraction(2, 3) == apart.exact.belief
    assert Fraction(3, 4) == merged.exact.belief


def test_what_contradicts_the_release_is_believed_by_nobody() -> None:
    found = check([{"a": 1, "b": 1}], [(0, 0), (0, 1)], pv.Insider(households="h"))
    assert found.exact is None
    assert 1 == found.contradicted


def test_large_households() -> None:
    values = {f"v{i}": 2 for i in range(20)}
    who = pv.Insider(households="h", members="exclude")
    found = check([values], [(0, i) for i in range(13)], who)
    assert "at most 12" in found.unjudged
    assert not check([values], [(0, i) for i in range(12)], who).unjudged
    # More members than values contradict the release, however many they are.
    assert 1 == check([values], [(0, i) for i in range(30)], who).contradicted
