"""Mozafari, Zaniolo 2009: Figure 1, and what they say of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import privet as pv

HOME, AGE = ("W", "P"), ("40", "30")


def views(poor: int, rich: int) -> pv.ClassifierViews:
    """All but one of the rich live on Westwood and are 40; of two poor, one does."""
    rows = {
        first: {"50K": 1, "70K": rich - 1}
        if first in ("W", "40")
        else {"50K": 1, "70K": 1}
        for first in (*HOME, *AGE)
    }
    counts = {"Adr": {v: rows[v] for v in HOME}, "Age": {v: rows[v] for v in AGE}}
    return pv.ClassifierViews.from_counts({"50K": poor, "70K": rich}, counts)


ALICE = {"Adr": "W", "Age": "40"}


@pytest.mark.parametrize(
    ("rich", "averaging", "posterior"),
    [
        (5, "worlds", "22/25"),  # the paper's figure (a): 88 %
        (3, "worlds", "7/9"),  # figure (b): 78 %
        (5, "rows", "32/37"),
        (3, "rows", "8/11"),
    ],
)
def test_figure_1(rich: int, averaging: str, posterior: str) -> None:
    bob = pv.Bayesian(knows=ALICE, averaging=averaging)
    found = pv.belief(views(2, rich), bob, about="70K")
    assert pv.Belief("1/2", posterior) == found


def test_the_two_classifiers_of_figure_1_agree() -> None:
    for adr, age in product(HOME, AGE):
        known = {"Adr": adr, "Age": age}
        assert views(2, 5).predict(known) == views(2, 3).predict(known)
    assert "50K" == views(2, 5).predict({"Adr": "P", "Age": "30"})


@pytest.mark.parametrize(
    ("rich", "limit", "verdict"),
    [
        (5, ("0.51", "0.8"), "breach"),
        (3, ("0.51", "0.8"), "safe"),
        (5, ("0.51", "0.6"), "breach"),
        (3, ("0.51", "0.6"), "breach"),
    ],
)
def test_section_4_breaches(rich: int, limit: tuple[str, str], verdict: str) -> None:
    promise = pv.Promise(pv.Bayesian(averaging="worlds"), pv.Shift(*limit))
    assert verdict == pv.audit(views(2, rich), promise).verdict


def test_the_witness_is_alice() -> None:
    promise = pv.Promise(pv.Bayesian(averaging="worlds"), pv.Shift("0.51", "0.8"))
    worst = pv.audit(views(2, 5), promise).worst
    assert ALICE == dict(worst.witness.knows)
    assert (
        "Someone who has the classifier and knows that a person's Adr is W and Age is "
        "40 can be 88 % sure that class is 70K. Before, 50 %." == worst.explain()
    )


def test_the_prior_of_the_introduction() -> None:
    """From 5/7 to 88 %: more than a factor of 1.2."""
    bob = pv.Bayesian(
        knows=ALICE, averaging="worlds", prior={"70K": "5/7", "50K": "2/7"}
    )
    found = pv.belief(views(2, 5), bob, about="70K")
    assert pv.Belief("5/7", "22/25") == found
    assert not pv.Ratio("1.2").holds(found)


def test_the_average_is_not_0_875() -> None:
    tables = [Fraction(4, 5), *[Fraction(3, 4)] * 4, *[Fraction(1)] * 5]
    assert Fraction(22, 25) == sum(tables) / 10
