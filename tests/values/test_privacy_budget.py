"""Privacy losses add up, and a budget is refused when it is spent."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

import privet as pv
from privet.values.noise.privacy_budget import (
    PrivacyBudget,
    PrivacyLoss,
    bound_epsilon,
    bound_spent,
    find_rho,
)

MILLIONTH = Fraction(1, 10**6)


def search_epsilon(rho: float, delta: float) -> float:
    """The corollary by trying many orders, in floats."""
    orders = (1 + exp(k / 200) for k in range(-1600, 3000))
    return min(
        a * rho + (-log(delta) - log(a - 1) + a * log(1 - 1 / a)) / (a - 1)
        for a in orders
    )


@pytest.mark.parametrize("rho", ["1/1000", "0.02", "1/2", "7"])
@pytest.mark.parametrize("delta", ["1/10", "1/1000000", "1/1000000000000"])
def test_epsilon_of_a_concentrated_loss(rho: str, delta: str) -> None:
    found = float(bound_epsilon(Fraction(rho), Fraction(delta)))
    expected = max(0.0, search_epsilon(float(Fraction(rho)), float(Fraction(delta))))
    # Orders between those that were tried may do a little better.
    assert expected - 1e-4 <= found <= expected + 1e-6


def test_the_figure_that_is_known() -> None:
    assert 5.2215 < bound_epsilon(Fraction(1, 2), MILLIONTH) < 5.2225


@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_rho_is_the_largest_that_fits(epsilon: str) -> None:
    wanted = Fraction(epsilon)
    rho = find_rho(wanted, MILLIONTH)
    assert bound_epsilon(rho, MILLIONTH) <= wanted
    assert bound_epsilon(rho * Fraction("1.001"), MILLIONTH) > wanted


def test_losses_add_up() -> None:
    pure = [PrivacyLoss.from_epsilon(1), PrivacyLoss.from_epsilon("1/2", "1/1000")]
    assert bound_spent(pure, Fraction(0)) is None
    assert bound_spent(pure, Fraction(1, 1000)) == Fraction(3, 2)
    # Many small pure losses come to less as concentrated ones.
    many = [PrivacyLoss.from_epsilon("0.1")] * 100
    assert bound_spent(many, Fraction(0)) == 10
    assert bound_spent(many, MILLIONTH) == bound_epsilon(Fraction(1, 2), MILLIONTH)
    mixed = [PrivacyLoss.from_rho("1/100"), PrivacyLoss.from_epsilon(5)]
    straight = 5 + bound_epsilon(Fraction(1, 100), MILLIONTH)
    assert bound_spent(mixed, MILLIONTH) == min(
        straight, bound_epsilon(Fraction(1, 100) + Fraction(25, 2), MILLIONTH)
    )
    assert bound_spent([PrivacyLoss.from_rho(1)], Fraction(0)) is None


def test_a_budget_is_spent() -> None:
    budget = PrivacyBudget(1, "1/1000000")
    once = [PrivacyLoss.from_rho(find_rho(Fraction(1), MILLIONTH))]
    left = budget.left(once)
    assert left is not None
    assert 0 <= left < Fraction(1, 1000)
    assert budget.left(once * 2) is None
    assert budget.left([]) == 1


def test_a_loss_survives_being_written() -> None:
    loss = PrivacyLoss.from_epsilon("1/3") + PrivacyLoss.from_rho("1/7")
    assert loss.to_dict() == {"pure_epsilon": "1/3", "rho": "1/7"}
    assert PrivacyLoss(**loss.to_dict()) == loss


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 0}, "above 0; got 0"),
        ({"epsilon": -1}, "epsilon must be from 0 to 1000; got -1"),
        ({"epsilon": 1, "delta": 1}, "delta must be at least 0 and below 1; got 1"),
    ],
)
def test_odd_budgets(wrong: dict[str, int], words: str) -> None:
    with pytest.raises(pv.InputError, match=words):
        PrivacyBudget(**wrong)


def test_gaussian_noise_needs_a_delta() -> None:
    with pytest.raises(pv.InputError, match="delta must be above 0 and below 1"):
        find_rho(Fraction(1), Fraction(0))
