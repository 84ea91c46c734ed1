"""Values ruled out with a probability: the formula equals every world, as fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from oracle.knowledge import allocate_doubts, brute_force_doubts
from oracle.releases import LETTERS, fast, matrix, middling, tiny
from privet.microdata.generalisation.doubtful_knowledge import _is_beyond
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.incremental import Requirement, WeakMinima
from privet.microdata.skyline.weak_rule_outs import (
    WeakCheck,
    WeakPoint,
    find_groups_beyond_weakly,
)
from privet.values.contingency import Domain
from privet.values.equivalence_classes import group_histograms

CHANCES = [Fraction(x) for x in ("1/10", "1/3", "1/2", "9/10", "99/100", "1")]


def check(release, doubts, k, m, protect=None, codes=None, parts=1):
    groups = pv.Groups.from_histograms(release)
    known = None
    if protect is not None:
        found = [groups.grouped.about.code(v) for v in sorted(protect)]
        known = tuple(c for c in found if c is not None)
    empty = WeakCheck(WeakPoint(tuple(doubts), codes, k, m), known)
    if parts == 1:
        return empty.add(groups.grouped)
    whole = empty
    for g in range(len(groups)):
        whole = whole | empty.add(groups.grouped.take([g]))
    return whole


@pytest.mark.parametrize("seed", range(5))
def test_every_world_of_tiny_releases(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(25):
        release = tiny(dice, 6)
        l, k, m = (dice.randint(0, 2) for _ in range(3))
        doubts = [1 - dice.choice(CHANCES) for _ in range(l)]
        protect = dice.choice([None, None, {"a"}, {"b", "c"}])
        expected = brute_force_doubts(release, doubts, k, m, protect=protect)
        found = check(release, doubts, k, m, protect)
        assert (expected or 0) == found.belief(), (release, doubts, k, m)
        attack = found.attack()
        if attack is not None:
            assert attack.belief == found.belief() == attack.recount()
            assert attack.known <= k
            assert attack.companions <= m


@pytest.mark.parametrize("seed", range(3))
def test_named_values_may_be_the_victims_after_all(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(25):
        release = tiny(dice, 6)
        values = sorted({v for h in release for v in h})
        out = dice.sample(values, dice.randint(1, min(2, len(values))))
        named = {v: 1 - dice.choice(CHANCES) for v in out}
        k, m = dice.randint(0, 2), dice.randint(0, 2)
        expected = brute_force_doubts(release, (), k, m, named=named)
        domain = pv.Groups.from_histograms(release).grouped.about
        codes = tuple(domain.code(v) for v in out)
        found = check(release, named.values(), k, m, codes=codes)
        assert (expected or 0) == found.belief(), (release, named, k, m)
        attack = found.attack()
        assert attack is None or attack.belief == found.belief()


@pytest.mark.parametrize("seed", range(5))
def test_every_allocation_of_larger_releases(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(40):
        release = middling(dice)
        k, m = dice.randint(0, 4), dice.randint(0, 4)
        doubts = [1 - dice.choice(CHANCES) for _ in range(dice.randint(0, 3))]
        values = sorted({v for h in release for v in h})
        expected = max(allocate_doubts(release, doubts, k, m, s) for s in values)
        found = check(release, doubts, k, m, parts=dice.choice([1, 2]))
        assert expected == found.belief(), (release, doubts, k, m)
        attack = found.attack()
        assert attack is not None
        assert expected == attack.belief == attack.recount()


@pytest.mark.parametrize("seed", range(3))
def test_certain_rule_outs_are_the_skyline(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release = middling(dice)
        l, k, m = dice.randint(0, 3), dice.randint(0, 3), dice.randint(0, 4)
        assert fast(release, l, k, m) == check(release, [0] * l, k, m).belief()


def test_every_number_of_people_known_with_the_victim_matters() -> None:
    """Only at j = 10, a kink of W, is the belief 1827/2087; the ends reach 0.8709."""
    first = {"s": 50, "x": 1000} | {f"y{i}": 1 for i in range(10)}
    second = {"s": 3} | {f"z{i}": 1 for i in range(30)}
    found = check([first, second], [Fraction(1, 100)], 14, 3, {"s"})
    case = found.find_worst()
    assert case is not None
    assert Fraction(1827, 2087) == case.belief
    assert case.near == 10
    assert Fraction(1827, 2087) == found.attack().recount()


@pytest.mark.parametrize("seed", range(3))
def test_merging_never_raises_it(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        first, second, *rest = (middling(dice) * 2)[:3]
        both = {v: first.get(v, 0) + second.get(v, 0) for v in {**first, **second}}
        doubts = [1 - dice.choice(CHANCES) for _ in range(dice.randint(0, 3))]
        k, m = dice.randint(0, 4), dice.randint(0, 4)
        apart = check([first, second, *rest], doubts, k, m).belief()
        assert check([both, *rest], doubts, k, m).belief() <= apart
        with_parent = check([first, second, both, *rest], doubts, k, m).belief()
        assert with_parent == apart


@pytest.mark.parametrize("seed", range(3))
def test_groups_alone_are_judged_alike_one_by_one_and_together(seed: int) -> None:
    dice = random.Random(seed)
    domain = Domain("value", list(LETTERS))
    for _ in range(80):
        parts = matrix(middling(dice))
        doubts = tuple(1 - dice.choice(CHANCES) for _ in range(dice.randint(1, 3)))
        point = WeakPoint(doubts, None, dice.randint(0, 4), dice.randint(0, 4))
        protect = dice.choice([None, (0,), (1, 2, 3)])
        for row in parts:
            group = group_histograms(row[None, :], domain)
            belief = WeakCheck(point, protect).add(group).belief()
            level = dice.choice([belief or Fraction(1), Fraction(1, 2), Fraction(1)])
            for limit in (pv.Ceiling(level), pv.Ceiling(below=level)):
                expected = not limit.holds(pv.Belief(0, belief))
                known = None if protect is None else np.isin(np.arange(10), protect)
                assert expected == _is_beyond(row, known, point, limit)
                slow = find_groups_beyond_weakly(group, point, protect, limit)
                assert [expected] == slow.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_running_minima_decide_as_the_whole_release_does(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(40):
        doubts = tuple(1 - dice.choice(CHANCES) for _ in range(dice.randint(1, 3)))
        k = dice.choice([0, 1, 2, 4, 40])
        point = WeakPoint(doubts, None, k, dice.randint(0, 4))
        protect = dice.choice([None, None, (0,), (1, 2, 3)])
        release = middling(dice)
        shown = None if protect is None else {LETTERS[c] for c in protect}
        expected = check(release, doubts, k, point.m, shown).belief()
        level = dice.choice([expected or Fraction(1), Fraction(1, 2), Fraction(1)])
        for limit in (pv.Ceiling(level), pv.Ceiling(below=level)):
            asked = Requirement(Point(1, k, point.m), limit, protect, point)
            minima = WeakMinima.empty(asked, len(LETTERS))
            for row in matrix(release):
                minima, kept = minima.with_groups(row[None, :])
            assert limit.holds(pv.Belief(0, expected)) == kept == minima.is_safe()
            odds = minima.odds()
            assert expected == (0 if odds is None else 1 / (1 + odds))
