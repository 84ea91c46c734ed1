"""Beliefs and the three limits set to them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Belief, Ceiling, InputError, Ratio, Shift
from privet.values.beliefs import Limit, read_limit

shares = st.fractions(0, 1, max_denominator=60)
levels = st.fractions(Fraction(1, 60), 1, max_denominator=60)
beliefs = st.builds(Belief, shares, shares)
limits: st.SearchStrategy[Limit] = st.one_of(
    levels.map(Ceiling),
    levels.map(lambda level: Ceiling(below=level)),
    st.tuples(levels, levels)
    .filter(lambda p: p[0] != p[1] and max(p) < 1)
    .map(lambda p: Shift(*sorted(p))),
    st.fractions(1, 10).map(Ratio),
)


def test_a_belief_is_exact() -> None:
    belief = Belief("5/24", 0.8)
    assert (Fraction(5, 24), Fraction(4, 5)) == (belief.prior, belief.posterior)
    assert "Belief(prior=Fraction(5, 24), posterior=Fraction(4, 5))" == repr(belief)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "x", None, float("nan"), True])
def test_a_belief_is_a_probability(wrong: object) -> None:
    for both in ((wrong, 0), (0, wrong)):
        with pytest.raises(InputError, match=r"(prior|posterior) must .*; got"):
            Belief(*both)


# Ceilings ---------------------------------------------------------------------------


def test_at_most_and_below() -> None:
    half = Belief(0, "1/2")
    assert Ceiling("1/2").holds(half)
    assert not Ceiling(below="1/2").holds(half)
    assert Ceiling(below="0.8").holds(Belief(1, "0.79999"))
    assert not Ceiling("1/2").holds(Belief(0, Fraction(1, 2) + Fraction(1, 10**30)))


@pytest.mark.parametrize(
    "level", [0, -1, "1.0001", 2, "0 %", float("nan"), float("inf"), True, "x", "", []]
)
def test_ceilings_lie_above_0_and_at_most_at_1(level: object) -> None:
    with pytest.raises(InputError, match=r"^at_most must .*; got"):
        Ceiling(level)
    with pytest.raises(InputError, match=r"^below must .*; got"):
        Ceiling(below=level)


def test_a_ceiling_has_one_level() -> None:
    with pytest.raises(InputError, match="one of at_most and below; got none"):
        Ceiling()
    with pytest.raises(InputError, match="one of at_most and below; got both"):
        Ceiling(0.5, below=0.5)


def test_the_highest_ceiling_is_1() -> None:
    assert Ceiling(1).holds(Belief(0, 1))
    assert not Ceiling(below=1).holds(Belief(0, 1))


def test_a_ceiling_shows_how_to_make_it() -> None:
    for ceiling in (Ceiling("1/2"), Ceiling(below=0.8)):
        assert ceiling == eval(repr(ceiling))


# Shifts and ratios ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "posterior", "kept"),
    [
        ("0.5", "0.79", True),
        ("0.5", "0.8", False),
        ("0.51", "0.9", True),
        ("0.81", "0.51", False),
        ("0.8", "0.1", True),
    ],
)
def test_no_mind_is_moved_across(prior: str, posterior: str, kept: bool) -> None:
    assert kept == Shift("0.51", "0.8").holds(Belief(prior, posterior))


@pytest.mark.parametrize(("start", "end"), [(0.8, 0.5), (0.5, 0.5), (0, 0.5), (0.5, 1)])
def test_shifts_go_up_inside(start: float, end: float) -> None:
    with pytest.raises(InputError, match="0 < from < to < 1; got from = "):
        Shift(start, end)


@pytest.mark.parametrize("factor", [0, "0.99", -2, float("inf"), True, None])
def test_ratios_are_at_least_1(factor: object) -> None:
    with pytest.raises(InputError, match=r"within must .*; got"):
        Ratio(factor)


def test_a_ratio_works_both_ways() -> None:
    assert Ratio(2).holds(Belief("1/4", "1/2"))
    assert Ratio(2).holds(Belief("1/2", "1/4"))
    assert not Ratio(2).holds(Belief("1/4", "0.51"))
    assert not Ratio(2).holds(Belief(0, "1/1000"))
    assert Ratio(1).holds(Belief(0, 0))


# Laws -------------------------------------------------------------------------------


@given(limits)
def test_limits_survive_being_written(limit: Limit) -> None:
    assert limit == read_limit(limit.to_dict())


@given(levels, beliefs)
def test_below_is_stricter_than_at_most(level: Fraction, belief: Belief) -> None:
    below, at_most = Ceiling(below=level), Ceiling(level)
    if below.holds(belief):
        assert at_most.holds(belief)
    assert at_most.holds(belief) == (below.holds(belief) or belief.posterior == level)


@given(limits, beliefs)
def test_a_mind_that_does_not_move_breaks_no_shift_and_no_ratio(
    limit: Limit, belief: Belief
) -> None:
    same = Belief(belief.prior, belief.prior)
    if not isinstance(limit, Ceiling):
        assert limit.holds(same)
