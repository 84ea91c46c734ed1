"""Chen, LeFevre, Ramakrishnan 2007: what their slides say, and where they err."""

from __future__ import annotations

from fractions import Fraction

import pytest

import privet as pv
from oracle.insiders import allocation, brute_force
from oracle.releases import fast, worst
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import APART, TOGETHER, WITH_KNOWN

SIX = dict.fromkeys("abcdef", 1)
SEVEN = {"a": 2, **dict.fromkeys("bcdef", 1)}


def singles(n: int, letter: str = "q") -> dict[str, int]:
    return {f"{letter}{i}": 1 for i in range(n)}


def test_the_case_study_has_seven_points() -> None:
    """The two minimal (3,6)-diverse groups alone give the slides' Adult skyline."""
    groups = pv.Groups.from_histograms([SIX, SEVEN])
    found = pv.skyline(groups, "0.95")
    slides = [(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 2), (2, 1, 3), (4, 0, 3)]
    assert sorted([*slides, (3, 0, 4)]) == found.points
    assert [] == found.at_cap
    assert (6, 6, (3, 6)) == (found.smallest, found.fewest, found.recursive)


CORRECTIONS = [
    # release, (l, k, m), true belief, what the slides' three cases give, shape
    (
        [dict.fromkeys("swxyz", 3), {"s": 3, **singles(10)}],
        (3, 1, 7),
        Fraction(22, 23),
        Fraction(429, 449),
        APART,
    ),
    (
        [{"s": 17, "x": 15, **singles(9)}, {"s": 3, **singles(4, "p")}],
        (1, 1, 1),
        Fraction(34, 43),
        Fraction(663, 839),
        APART,
    ),
]


@pytest.mark.parametrize(("release", "point", "true", "slides", "shape"), CORRECTIONS)
def test_the_third_attack_is_needed(release, point, true, slides, shape) -> None:
    """Literally read, the slides understate the breach: the third case is missing."""
    case = worst(release, Point(*point))
    assert case is not None
    assert true == case.belief == allocation(release, *point)
    assert shape == case.shape
    assert slides == _three_cases(release, *point) < true


def _three_cases(release, l: int, k: int, m: int) -> Fraction:
    """The slides' cases: all together, or the companions alone in another group."""
    together = min(1 / fast([h], l, k, m) - 1 for h in release)
    with_known = []
    for s in {v for h in release for v in h}:
        own = [_odds(h, s, l, k) for h in release if s in h]
        lacking = [1 / _lacking(h, s, m) for h in release if s in h]
        with_known.append(min(own) / max(lacking))
    return 1 / (1 + min(together, *with_known))


def _odds(histogram, s: str, l: int, k: int) -> Fraction:
    others = sorted((n for v, n in histogram.items() if v != s), reverse=True)
    return Fraction(max(sum(others[l:]) - k, 0), histogram[s])


def _lacking(histogram, s: str, m: int) -> Fraction:
    people, a = sum(histogram.values()), histogram[s]
    result = Fraction(1)
    for j in range(m):
        result *= Fraction(people - a - j, people - j)
    return result


THIRTEEN = {"s": 2, "x": 2, "y": 1, "z": 1}


def test_minima_must_be_taken_value_by_value() -> None:
    """13 people: with minima over different values the breach would be overstated."""
    apart = [THIRTEEN, {"r": 3, **singles(4)}]
    assert Fraction(10, 13) == fast(apart, 2, 0, 1) == allocation(apart, 2, 0, 1)
    shared = [THIRTEEN, {"s": 3, **singles(4)}]
    assert Fraction(7, 9) == fast(shared, 2, 0, 1) == allocation(shared, 2, 0, 1)
    case = worst(shared, Point(2, 0, 1))
    assert case is not None
    assert case.shape != TOGETHER
    assert Fraction(10, 13) == max(fast([h], 2, 0, 1) for h in shared)


def test_case_two_is_needed() -> None:
    case = worst([THIRTEEN, {"s": 3, **singles(4)}], Point(2, 0, 1))
    assert case is not None
    assert WITH_KNOWN == case.shape


def test_the_gap_is_not_academic() -> None:
    first = {"s": 379, "x": 362, "y": 361, "z": 361, **singles(638)}
    found = fast([first, {"s": 5, **singles(26, "p")}], 3, 8, 6)
    assert pytest.approx(0.764, abs=5e-4) == float(found)


@pytest.mark.parametrize("people", range(2, 9))
def test_k_anonymity_is_a_point(people: int) -> None:
    """With a value of their own each, N people are safe at (0, k-2, 0) iff N >= k."""
    for k in range(2, 10):
        safe = fast([singles(people)], 0, k - 2, 0) < 1
        assert (people >= k) == safe


@pytest.mark.parametrize("l", range(2, 6))
@pytest.mark.parametrize("c", [Fraction(1, 2), Fraction(2), Fraction(3)])
def test_recursive_diversity_is_a_point(c: Fraction, l: int) -> None:
    import random

    dice = random.Random(l)
    for _ in range(40):
        counts = sorted((dice.randint(1, 9) for _ in range(6)), reverse=True)
        release = [{f"v{i}": n for i, n in enumerate(counts)}]
        diverse = counts[0] < c * sum(counts[l - 1 :])
        assert diverse == (fast(release, l - 2, 0, 0) < c / (c + 1))


def test_certainty_in_closed_form() -> None:
    """Breach 1 iff some group has N - S_{l+1} <= k or N - c_1 <= k + m."""
    import random

    dice = random.Random(0)
    for _ in range(300):
        counts = sorted((dice.randint(1, 4) for _ in range(5)), reverse=True)
        l, k, m = dice.randint(0, 3), dice.randint(0, 4), dice.randint(0, 4)
        people = sum(counts)
        certain = people - sum(counts[: l + 1]) <= k or people - counts[0] <= k + m
        release = [{f"v{i}": n for i, n in enumerate(counts)}]
        assert certain == (fast(release, l, k, m) == 1)


def test_people_are_distinct_people() -> None:
    """A known person who is also a companion would prove everything."""
    release = [{"a": 2, "b": 2, "c": 1}]
    assert Fraction(3, 4) == fast(release, 0, 1, 1) == brute_force(release, 0, 1, 1)
