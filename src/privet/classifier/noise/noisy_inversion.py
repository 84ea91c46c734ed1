"""Inversion under noise: what undoing a release tells, by the noisy counts alone.

Whoever undoes everything that was made of noisy counts has those, and guesses that the
original ones are the same. How often that is right follows from the noise, and from how
many counts are 0, where noise that would go below is cut off. The noisy counts stand in
for the original ones: so neither the figure nor what is refused because of it tells
more of a person than the noise allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privet.classifier.attacks.inversion import NEAR, InversionMeasure
from privet.classifier.attacks.inversion_promise import judge_measure
from privet.classifier.noise.dp_noise import plan_noise
from privet.classifier.release import ClassifierViews
from privet.findings import Finding
from privet.policy import Promise
from privet.values.adversaries import Inverter
from privet.values.noise.differential_privacy import DifferentialPrivacy, NoisePlan

DIGITS = 10**6
"""Shares are rounded up to one in this."""


def expect_inversion(
    noisy: ClassifierViews, plan: NoisePlan, within: Fraction = NEAR
) -> InversionMeasure:
    """The shares of counts that are expected to be right, or nearly."""
    counts = [int(n) for table in noisy.cells for row in table for n in row]
    few = [n for n in counts if n < 5]
    spread = _spread(noisy)
    return InversionMeasure(
        exact=_mean([_chance(n, 0, plan) for n in counts]),
        near=_mean([_chance(n, _tolerate(n, within), plan) for n in counts]),
        few=_mean([_chance(n, 0, plan) for n in few]),
        cells=len(counts),
        baseline=_mean([float(g == n) for g, n in spread]),
        baseline_near=_mean(
            [float(abs(g - n) <= _tolerate(n, within)) for g, n in spread]
        ),
    )


def _tolerate(n: int, within: Fraction) -> int:
    return max(1, int(n * within))


def _chance(n: int, off: int, plan: NoisePlan) -> float:
    """How likely a count of n is seen within so many of itself."""
    steps = int(off / plan.grid)
    # What would be below 0 is seen as 0: with n = 1, off by one covers all of it.
    return plan.chance_within(None if n <= off else steps, steps)


def _mean(chances: Sequence[float]) -> Fraction:
    """The mean, rounded up; 0 of none."""
    if not chances:
        return Fraction(0)
    up = -int(-sum(chances) / len(chances) * DIGITS // 1)
    return min(Fraction(1), Fraction(up, DIGITS))


def _spread(noisy: ClassifierViews) -> list[tuple[int, int]]:
    """Each count with what spreading its class evenly over the values gives."""
    return [
        (round(size / len(table)), int(n))
        for table in noisy.cells
        for row in table
        for size, n in zip(noisy.sizes, row, strict=True)
    ]


def judge_noisy(
    promises: Sequence[Promise], noisy: ClassifierViews, privacy: DifferentialPrivacy
) -> list[Finding]:
    """Each promise against inversion, by what is expected."""
    plan, found = plan_noise(noisy, privacy), []
    for promise in promises:
        assert isinstance(promise.against, Inverter)
        near: Any = promise.against.near
        within = NEAR if near is None else near["within"]
        measured = expect_inversion(noisy, plan, within)
        found.append(
            judge_measure(promise, measured, describe_expected(measured, plan))
        )
    return found


def describe_expected(found: InversionMeasure, plan: NoisePlan) -> str:
    """What undoing everything is expected to give, in words."""
    exact, near = (f"{float(x) * 100:.3g} %" for x in (found.exact, found.near))
    return (
        "Whoever undoes everything that was made of the noisy counts is expected to "
        f"have {exact} of {found.cells:,} original counts exactly and {near} nearly. "
        "Between two neighbouring counts that are as likely to them, they find the "
        f"right one with a chance of at most {plan.neighbours * 100:.3g} %."
    )
