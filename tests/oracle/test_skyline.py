"""The closed forms equal enumeration and the allocation program, as fractions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

import privet as pv
from oracle.insiders import allocation, brute_force
from oracle.releases import LETTERS, fast, matrix, middling, tiny, worst
from privet.microdata.skyline import incremental
from privet.microdata.skyline.closed_forms import Point, cf5, cf5_floats
from privet.microdata.skyline.incremental import Requirement, RunningMinima
from privet.microdata.skyline.skyline import SkylineCheck
from privet.microdata.skyline.skyline_find import find_maximal, find_surface


@pytest.mark.parametrize("seed", range(5))
def test_every_world_of_tiny_releases(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(25):
        release = tiny(dice)
        l, k, m = (dice.randint(0, 2) for _ in range(3))
        protect = dice.choice([None, None, {"a"}, {"b", "c"}])
        expected = brute_force(release, l, k, m, protect)
        assert expected == allocation(release, l, k, m, protect), (release, l, k, m)
        assert expected == fast(release, l, k, m, protect), (release, l, k, m)


@pytest.mark.parametrize("seed", range(5))
def test_every_allocation_of_larger_releases(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release = middling(dice)
        l, k, m = dice.randint(0, 3), dice.randint(0, 3), dice.randint(0, 4)
        expected = allocation(release, l, k, m)
        assert expected == fast(release, l, k, m), (release, l, k, m)


@pytest.mark.parametrize("seed", range(4))
def test_the_two_group_attacks_are_met_and_right(seed: int) -> None:
    """A large group where ruling out helps, and a small one to hold companions."""
    dice = random.Random(seed)
    shapes: Counter[str] = Counter()
    for _ in range(40):
        l, k, m = dice.randint(0, 3), dice.randint(0, 2), dice.randint(1, 5)
        held = dice.randint(3, 12)
        first = {"s": held} | {f"x{i}": held for i in range(l)}
        first |= {f"y{i}": 1 for i in range(dice.randint(2, 8))}
        second = {"s": dice.randint(1, 4)} | {f"z{i}": 1 for i in range(8)}
        case = worst([first, second], Point(l, k, m))
        assert case is not None
        shapes[case.shape] += 1
        assert allocation([first, second], l, k, m) == case.belief, (first, second)
    assert len(shapes) > 1


@pytest.mark.parametrize("seed", range(3))
def test_running_minima_are_the_same_minima(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        release = middling(dice)
        points = [
            Point(dice.randint(0, 3), dice.randint(0, 3), dice.randint(0, 3))
            for _ in range(2)
        ]
        limits = [dice.choice(["1/2", "2/3", "3/4"]) for _ in points]
        asked = [
            Requirement(p, pv.Ceiling(below=c))
            for p, c in zip(points, limits, strict=True)
        ]
        running = RunningMinima.empty(asked, len(LETTERS)).with_groups(matrix(release))
        expected = [fast(release, *p) for p in points]
        assert expected == running.beliefs()
        kept = [x < Fraction(c) for x, c in zip(expected, limits, strict=True)]
        assert all(kept) == running.is_safe()


@pytest.mark.parametrize("seed", range(4))
def test_the_parent_may_stay_among_the_minima(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(60):
        first, second = (dict(h) for h in (middling(dice) * 2)[:2])
        both = dict(Counter(first) + Counter(second))
        point = Point(dice.randint(0, 3), dice.randint(0, 3), dice.randint(0, 3))
        asked = [Requirement(point, pv.Ceiling(below=1))]
        root = RunningMinima.empty(asked, len(LETTERS)).with_groups(matrix([both]))
        after = root.with_groups(matrix([first, second]))
        assert [fast([first, second], *point)] == after.beliefs()


@pytest.mark.parametrize("seed", range(3))
def test_the_frontier_is_that_of_full_enumeration(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(8):
        release = middling(dice)
        groups = pv.Groups.from_histograms(release)
        fold = SkylineCheck(range(9)).add(groups.grouped)
        level = Fraction(dice.choice(["1/2", "3/4", "9/10", "1"]))

        def safe(point: Point, fold: SkylineCheck = fold, c: Fraction = level) -> bool:
            return fold.belief(point) < c

        every = [
            (l, k, m)
            for l in range(7)
            for k in range(7)
            for m in range(7)
            if safe(Point(l, k, m))
        ]
        assert find_maximal(every) == find_maximal(find_surface(safe, Point(6, 6, 6)))


def test_floats_are_close_to_fractions() -> None:
    import numpy as np

    dice = random.Random(0)
    for _ in range(200):
        a, b = dice.randint(1, 60), dice.randint(0, 60)
        k, m = dice.randint(0, 20), dice.randint(0, 70)
        (found,) = cf5_floats(np.array([a]), np.array([b]), k, m)
        assert pytest.approx(float(cf5(a, b, k, m)), rel=1e-12) == found


def test_a_tie_with_the_limit_is_decided_exactly() -> None:
    """Doubles would say 0.37499999999999994 < 0.375."""
    release = [{"a": 3, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}]
    assert Fraction(3, 8) == fast(release, 0, 0, 0)
    asked = [Requirement(Point(0, 0, 0), pv.Ceiling(below="0.375"))]
    found = RunningMinima.empty(asked, 6).with_groups(np_row(release[0]))
    assert not found.is_safe()
    allowed = [Requirement(Point(0, 0, 0), pv.Ceiling("0.375"))]
    assert RunningMinima.empty(allowed, 6).with_groups(np_row(release[0])).is_safe()


def np_row(histogram: dict[str, int]):
    return matrix([histogram])[:, :6]


@pytest.mark.parametrize("seed", range(3))
def test_splits_are_decided_alike_without_numba(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    dice = random.Random(seed)
    for _ in range(20):
        release = middling(dice)
        point = Point(dice.randint(0, 2), dice.randint(0, 2), dice.randint(0, 2))
        limit = pv.Ceiling(below=dice.choice(["1/2", "2/3", "3/4", "1"]))
        empty = RunningMinima.empty([Requirement(point, limit)], len(LETTERS))
        fast_one = empty.split(matrix(release))
        with monkeypatch.context() as without:
            without.setattr(incremental, "compile_loops", lambda: None)
            slow_one = empty.split(matrix(release))
        assert (fast_one is None) == (slow_one is None)
        if fast_one is not None and slow_one is not None:
            assert slow_one.beliefs() == fast_one.beliefs()
