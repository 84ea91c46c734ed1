"""Privacy loss under differential privacy, and how losses of several releases add up.

A pure loss adds its epsilon. A zero-concentrated one adds its rho, and a pure epsilon
is at most epsilon**2/2 of it. What rho means at a given delta is bounded from above in
fractions: no float decides whether a budget is spent.
Canonne, Kamath, Steinke 2020, corollary 13; Bun, Steinke 2016, propositions 1.4, 1.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, exp, log, log1p

import attrs

from privet.errors import InputError
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.logarithms import natural_log_bracket

FINE = 10**9
"""Epsilons are rounded up, and rhos down, to multiples of one in this."""

BITS = 96
"""How finely logarithms are enclosed; far finer than what is rounded."""

ORDERS = 400
"""How many orders of Rényi divergence are looked at for the best one."""


def _read_loss(value: Number, what: str = "number") -> Fraction:
    found = fraction(value, what)
    if not 0 <= found <= 1000:
        raise InputError(f"{what} must be from 0 to 1000; got {value!r}.")
    return found


def read_delta(value: Number, what: str = "number") -> Fraction:
    """A chance that may be 0, but not 1; exactly."""
    found = fraction(value, what)
    if not 0 <= found < 1:
        raise InputError(f"{what} must be at least 0 and below 1; got {value!r}.")
    return found


@attrs.frozen(field_transformer=name_fields)
class PrivacyLoss:
    """What releases may tell of any one person, whoever looks at them.

    >>> PrivacyLoss.from_epsilon(1) + PrivacyLoss.from_epsilon("0.5")
    PrivacyLoss(pure_epsilon=Fraction(3, 2), rho=Fraction(0, 1), delta=Fraction(0, 1))
    """

    pure_epsilon: Fraction = attrs.field(default=Fraction(0), converter=_read_loss)
    """By mechanisms with a loss that is never passed."""
    rho: Fraction = attrs.field(default=Fraction(0), converter=_read_loss)
    """By mechanisms with a zero-concentrated loss."""
    delta: Fraction = attrs.field(default=Fraction(0), converter=read_delta)
    """How likely it is that all this does not hold at all."""

    @classmethod
    def from_epsilon(cls, epsilon: Number, delta: Number = 0) -> PrivacyLoss:
        """The loss of noise of Laplace's kind, or of a private selection."""
        return cls(pure_epsilon=epsilon, delta=delta)

    @classmethod
    def from_rho(cls, rho: Number) -> PrivacyLoss:
        """The loss of noise of Gauss's kind."""
        return cls(rho=rho)

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """Both releases together, about the same people."""
        return PrivacyLoss(
            self.pure_epsilon + other.pure_epsilon,
            self.rho + other.rho,
            self.delta + other.delta,
        )

    def epsilon_at(self, delta: Number) -> Fraction | None:
        """An epsilon that holds but for a chance of `delta`; None where none does.

        >>> float(PrivacyLoss.from_rho("1/2").epsilon_at("1e-6"))
        5.221534445
        """
        left = fraction(delta, "delta") - self.delta
        if left < 0:
            return None
        if not self.rho:
            return self.pure_epsilon
        if not left:
            return None
        # Pure losses may be counted by themselves, or as concentrated ones.
        apart = self.pure_epsilon + bound_epsilon(self.rho, left)
        together = self.rho + self.pure_epsilon**2 / 2
        return min(apart, bound_epsilon(together, left))

    def to_dict(self) -> dict[str, str]:
        """As it is kept in manifests and ledgers; what is 0 is left out."""
        return {name: str(x) for name, x in attrs.asdict(self).items() if x}


def total_loss(losses: Sequence[PrivacyLoss]) -> PrivacyLoss:
    """What several releases about the same people come to.

    Losses that are pure are added as pure ones; many small ones may come to less as
    concentrated ones, which `epsilon_at` cannot tell any more: the least bound of both
    ways counts.
    """
    found = PrivacyLoss()
    for loss in losses:
        found += loss
    return found


@attrs.frozen(field_transformer=name_fields)
class PrivacyBudget:
    """How much all releases about the same people may tell of any one of them.

    >>> budget = PrivacyBudget(epsilon=1)
    >>> budget.left([PrivacyLoss.from_epsilon("0.75")])
    Fraction(1, 4)
    """

    epsilon: Fraction = attrs.field(converter=_read_loss)
    """The largest loss."""
    delta: Fraction = attrs.field(default=Fraction(0), converter=read_delta)
    """But for this chance."""

    def __attrs_post_init__(self) -> None:
        if not self.epsilon:
            raise InputError("A privacy budget must have an epsilon above 0; got 0.")

    def to_dict(self) -> dict[str, str]:
        """As a policy writes it."""
        delta = {"delta": str(self.delta)} if self.delta else {}
        return {"epsilon": str(self.epsilon), **delta}

    def spent(self, losses: Sequence[PrivacyLoss]) -> Fraction | None:
        """The epsilon of all these; None where they are beyond any."""
        return bound_spent(losses, self.delta)

    def left(self, losses: Sequence[PrivacyLoss]) -> Fraction | None:
        """What is left of it; None where it is overdrawn."""
        spent = self.spent(losses)
        if spent is None or spent > self.epsilon:
            return None
        return self.epsilon - spent


def bound_spent(losses: Sequence[PrivacyLoss], delta: Fraction) -> Fraction | None:
    """The least proved epsilon of some releases at a delta; None: there is none."""
    straight = total_loss(losses).epsilon_at(delta)
    # A pure epsilon is rho = epsilon**2/2: a hundred of 0.1 are 10 one way, and
    # rho = 1/2 the other, which is 5.2 at a delta of one in a million.
    rho = sum((x.rho + x.pure_epsilon**2 / 2 for x in losses), Fraction(0))
    lost = sum((x.delta for x in losses), Fraction(0))
    found = [straight] if straight is not None else []
    if rho and lost < delta:
        found.append(bound_epsilon(rho, delta - lost))
    return min(found, default=None)


# Concentrated losses ------------------------------------------------------------------


def bound_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """An upper bound of the epsilon that rho amounts to at a delta.

    The order is searched in floats; what it gives is then bounded for certain.
    """
    order = Fraction(_find_order(float(rho), float(delta))).limit_denominator(10**6)
    order = max(order, Fraction(10**6 + 1, 10**6))
    # order rho + (-ln delta - ln(order - 1) + order ln(1 - 1/order)) / (order - 1)
    rest = (
        -_log_below(delta) - _log_below(order - 1) + order * _log_above(1 - 1 / order)
    )
    return max(
        Fraction(0), Fraction(ceil((order * rho + rest / (order - 1)) * FINE), FINE)
    )


def find_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, on a grid, that is proved to amount to at most an epsilon.

    >>> float(find_rho(Fraction(1), Fraction(1, 10**6)))
    0.02435597
    """
    if not 0 < delta < 1:
        raise InputError(
            f"delta must be above 0 and below 1 for noise of Gauss's kind; got {delta}."
        )
    # A pure epsilon is no more than that rho, and rho is never below epsilon's share.
    low, high = 0, ceil(epsilon * FINE)
    while high - low > 1:
        middle = (low + high) // 2
        fits = bound_epsilon(Fraction(middle, FINE), delta) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    if not low:
        raise InputError(
            f"epsilon must be larger for noise of Gauss's kind at this delta; got "
            f"{epsilon}."
        )
    return Fraction(low, FINE)


def _find_order(rho: float, delta: float) -> float:
    """The order above 1 at which epsilon is least, nearly."""
    low, high = log(1e-4), log(1e9)
    golden = (5**0.5 - 1) / 2

    def epsilon(x: float) -> float:
        a = exp(x)  # the order less 1
        order = a + 1
        return order * rho + (-log(delta) - x + order * (x - log1p(a))) / a

    for _ in range(ORDERS):
        one, two = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, two) if epsilon(one) < epsilon(two) else (one, high)
    return 1 + exp((low + high) / 2)


def _log_below(x: Fraction) -> Fraction:
    return natural_log_bracket(x, BITS)[0]


def _log_above(x: Fraction) -> Fraction:
    return natural_log_bracket(x, BITS)[1]
