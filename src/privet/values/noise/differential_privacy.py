"""Differential privacy: how much noise, for what loss, and how much one person adds.

One person has at most so many rows, each counted at most so often, on a grid. In every
attribute's table of counts that moves cells by rows times weight in all; so much noise
hides it. Noise of Laplace's kind has a pure loss; that of Gauss's is concentrated, and
smaller where there are many attributes.
Dwork, Roth 2014, theorem 3.6; Canonne, Kamath, Steinke 2020, theorem 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp
from typing import Any

import attrs

from privet.errors import InputError
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.noise.declared_domain import DeclaredDomain, read_domains
from privet.values.noise.privacy_budget import PrivacyLoss, find_rho, read_delta
from privet.values.noise.private_selection import PrivateSelection

NOISES = ("laplace", "gauss")
"""The kinds of noise there are."""

NUMBERS = ("epsilon", "delta", "rho", "heaviest", "grid", "selection")
"""Fields that are fractions."""


def _read_amount(value: Number, what: str = "number") -> Fraction:
    found = fraction(value, what)
    if not 0 < found <= 10**9:
        raise InputError(f"{what} must be above 0 and at most 1e9; got {value!r}.")
    return found


def _read_weight(value: Number | None, what: str = "number") -> Fraction | None:
    return None if value is None else _read_amount(value, what)


def _read_loss(value: Number | None, what: str = "number") -> Fraction | None:
    if value is None:
        return None
    found = fraction(value, what)
    if not 0 < found <= 1000:
        raise InputError(f"{what} must be above 0 and at most 1000; got {value!r}.")
    return found


@attrs.frozen(field_transformer=name_fields)
class DifferentialPrivacy:
    """Noise on counts, so that nobody can tell whether any one person is in them.

    >>> DifferentialPrivacy(epsilon=1).plan(3)
    NoisePlan(noise='laplace', size=Fraction(3, 1))
    """

    epsilon: Fraction | None = attrs.field(default=None, converter=_read_loss)
    """With a person and without, nothing is more than e to this times as likely."""
    delta: Fraction = attrs.field(default=Fraction(0), converter=read_delta)
    """But for this chance; needed where values are selected, or noise is Gauss's."""
    rho: Fraction | None = attrs.field(default=None, converter=_read_loss)
    """A zero-concentrated loss instead of epsilon; the noise is Gauss's."""
    rows_per_person: int = 1
    """How many rows of a person count; others, drawn at random, are left out."""
    heaviest: Fraction | None = attrs.field(default=None, converter=_read_weight)
    """How much a row may count; what is heavier counts so much. None: 1, and a row that
    stands for several is several."""
    grid: Fraction = attrs.field(default=Fraction(1), converter=_read_amount)
    """Weights are rounded to multiples of this; `heaviest` is one."""
    noise: str | None = None
    """`laplace` or `gauss`; None: whichever is smaller."""
    selection: Fraction = attrs.field(default=Fraction(1, 4), converter=read_delta)
    """Which share of epsilon and delta selects the values that are not declared."""
    domain: Mapping[str, DeclaredDomain] = attrs.field(
        factory=dict, converter=read_domains
    )
    """The values each column may have, and the classes; see `DeclaredDomain`."""
    seed: int | None = None
    """Draw the noise anew from this number; such a release is not publishable."""

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise InputError("Differential privacy must have epsilon, or rho; one.")
        self._check_whole("rows_per_person", 1)
        if self.seed is not None:
            self._check_whole("seed", 0)
        if (self.most / self.grid).denominator != 1:
            raise InputError(
                f"heaviest must be a multiple of grid; got {self.most} and {self.grid}."
            )
        self._check_noise()

    def _check_whole(self, what: str, least: int) -> None:
        value = getattr(self, what)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(
                f"{what} must be a whole number from {least}; got {value!r}."
            )

    def _check_noise(self) -> None:
        if self.noise is not None and self.noise not in NOISES:
            raise InputError(f"noise must be laplace or gauss; got {self.noise!r}.")
        if self.rho is not None and self.noise == "laplace":
            raise InputError("rho must go with noise of Gauss's kind; got 'laplace'.")
        if self.noise == "gauss" and self.rho is None and not self.delta:
            raise InputError("noise of Gauss's kind must have a delta, or rho.")
        if not self.selection:
            raise InputError("selection must be above 0 and below 1; got 0.")

    # What one person changes ----------------------------------------------------------

    @property
    def most(self) -> Fraction:
        """How much one row counts at most."""
        return Fraction(1) if self.heaviest is None else self.heaviest

    def clip(self, weight: Number) -> Fraction:
        """A weight within its limit, on the grid.

        >>> DifferentialPrivacy(1, heaviest=3, grid="1/2").clip(1.3)
        Fraction(3, 2)
        """
        within = max(Fraction(0), min(fraction(weight, "weight"), self.most))
        return min(self.most, round(within / self.grid) * self.grid)

    @property
    def steps(self) -> int:
        """How far one person moves the counts of one attribute, in steps of the grid.

        >>> DifferentialPrivacy(1, rows_per_person=2, heaviest=3, grid="1/2").steps
        12
        """
        return int(self.rows_per_person * self.most / self.grid)

    def plan(self, attributes: int, selected: int = 0) -> NoisePlan:
        """How the loss is spent on tables of so many attributes.

        `selected` columns have values that nobody declared.
        """
        if self.rho is not None:
            self._refuse_selection(selected)
            return self._plan_gauss(attributes, self.rho, PrivacyLoss())
        assert self.epsilon is not None
        if selected and not self.delta:
            self._refuse_selection(selected)
        share = self.selection if selected else Fraction(0)
        chosen = PrivacyLoss.from_epsilon(self.epsilon * share, self.delta * share)
        plans = list(self._list_plans(attributes, chosen))
        best = min(plans, key=lambda plan: plan.variance)
        if not selected:
            return best
        holds = self.rows_per_person * selected
        rule = PrivateSelection.plan(chosen.pure_epsilon / holds, chosen.delta / holds)
        return attrs.evolve(best, selection=rule)

    def _list_plans(self, attributes: int, chosen: PrivacyLoss) -> list[NoisePlan]:
        assert self.epsilon is not None
        left, chance = self.epsilon - chosen.pure_epsilon, self.delta - chosen.delta
        found = []
        if self.noise != "gauss":
            scale = self.steps * attributes / left
            spent = chosen + PrivacyLoss.from_epsilon(left)
            found.append(NoisePlan("laplace", scale, self.grid, spent))
        if self.noise != "laplace" and chance:
            try:
                rho = find_rho(left, chance)
            except InputError:
                if self.noise == "gauss":
                    raise
                return found
            found.append(self._plan_gauss(attributes, rho, chosen))
        return found

    def _plan_gauss(
        self, attributes: int, rho: Fraction, chosen: PrivacyLoss
    ) -> NoisePlan:
        # u rows of weight w move one table by at most u w, also in squares: all of
        # them may fall into one cell.
        variance = self.steps**2 * attributes / (2 * rho)
        spent = chosen + PrivacyLoss.from_rho(rho)
        return NoisePlan("gauss", variance, self.grid, spent)

    def _refuse_selection(self, selected: int) -> None:
        if selected:
            raise InputError(
                f"The values of {selected} columns must be declared, or be selected "
                "with some of epsilon and a delta; they are neither. Declare [domain] "
                "in the policy, or give delta, such as 1e-6."
            )

    # In and out -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """For the custody record, and for a policy; what is as usual is left out."""
        told: dict[str, Any] = {}
        for field in attrs.fields(type(self)):
            value = getattr(self, field.name)
            if field.name == "domain" or value in (None, field.default):
                continue
            told[field.name] = str(value) if field.name in NUMBERS else value
        if self.domain:
            told["domain"] = {c: d.to_key() for c, d in self.domain.items()}
        return told

    def to_public(self) -> dict[str, Any]:
        """What recipients are told: the loss, and whom it is about."""
        told = {k: v for k, v in self.to_dict().items() if k in PUBLIC}
        bounds = {
            "rows_per_person": self.rows_per_person,
            "heaviest": str(self.most),
        }
        return told | bounds


PUBLIC = ("epsilon", "delta", "rho")


@attrs.frozen
class NoisePlan:
    """How much noise is drawn, and what it costs.

    >>> round(float(DifferentialPrivacy(1, "1e-6").plan(14).variance) ** 0.5, 2)
    16.95
    """

    noise: str
    """`laplace` or `gauss`."""
    size: Fraction
    """Laplace's scale, or Gauss's variance, in steps of the grid."""
    grid: Fraction = attrs.field(default=Fraction(1), repr=False)
    """How much a step is."""
    loss: PrivacyLoss = attrs.field(factory=PrivacyLoss, repr=False)
    """What it costs, the selection of values among it."""
    selection: PrivateSelection | None = attrs.field(default=None, repr=False)
    """How values are selected that nobody declared; None: there are none."""

    @property
    def variance(self) -> Fraction:
        """Of one cell, in steps; of Laplace's noise a little more than it is."""
        return 2 * self.size**2 if self.noise == "laplace" else self.size

    @property
    def neighbours(self) -> float:
        """How likely the better guess between two counts is right that differ by one.

        >>> round(DifferentialPrivacy(epsilon=1).plan(1).neighbours, 3)
        0.731
        """
        apart = ceil(1 / self.grid)
        # The lower one is likelier up to the middle: with Laplace's noise and one
        # attribute that comes to e**epsilon/(1 + e**epsilon).
        odds = NoiseChances(self.noise, float(self.size))
        middle = -(-apart // 2) - 1
        return (1 + odds.sum_to(middle) - odds.sum_to(middle - apart)) / 2

    def chance_within(self, below: int | None, above: int) -> float:
        """How likely noise is from minus `below`, None: any, to `above` steps."""
        odds = NoiseChances(self.noise, float(self.size))
        return odds.sum_to(above) - (0.0 if below is None else odds.sum_to(-below - 1))


@dataclass(frozen=True)
class NoiseChances:
    """The distribution of discrete noise, as floats, for what is only reported."""

    noise: str
    """Its kind."""
    size: float
    """Its scale or variance."""

    def sum_to(self, z: int) -> float:
        """How likely it is at most z."""
        if z < 0:
            return 1 - self.sum_to(-z - 1)
        if self.noise == "laplace":
            # exp(-|z|/s) over all z comes to (1 + a)/(1 - a), with a = exp(-1/s).
            a = exp(-1 / self.size)
            return 1 - a ** (z + 1) / (1 + a)
        return (1 + self._middle(z)) / 2

    def _middle(self, z: int) -> float:
        """How likely Gauss's noise is from -z to z."""
        inner = sum(self._weights[1 : z + 1])
        return float((1 + 2 * inner) / (1 + 2 * sum(self._weights[1:])))

    @cached_property
    def _weights(self) -> list[float]:
        last = int(12 * self.size**0.5) + 12
        return [exp(-(k**2) / 2 / self.size) for k in range(last + 1)]
