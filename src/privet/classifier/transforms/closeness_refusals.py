"""Refusals of a closeness to a prior: what is proved, what is reached, what to do.

`Infeasible` is said with a proof only: no release whatsoever, or no power with weights.
What was not settled is `Undecided`, with what any release needs and what was reached.
Mozafari, Zaniolo 2009, section 7.2; the paper's EST says FAIL for all of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import NoReturn

from privet.classifier.release import ClassifierViews
from privet.classifier.transforms.r_closeness import (
    AccuracyStep,
    Prior,
    RequiredCloseness,
    accuracy_steps,
)
from privet.errors import Infeasible, Undecided
from privet.policy import Promise

DECLARED = (
    "Or publish with a declared rule: --method closeness-declared, or rule='declared' "
    "in Python."
)


@dataclass(frozen=True)
class ClosenessRefusal:
    """What is asked, of whom; and the words for why it is refused."""

    views: ClassifierViews
    promise: Promise
    prior: Prior
    r: Fraction
    """The factor that is promised."""

    def say_impossible(self, needed: RequiredCloseness) -> Infeasible:
        """No release has these predictions so close."""
        best = round_up(needed.r)
        row = describe_row(self.views, needed.known)
        return Infeasible(
            f"Promise {self.promise.name!r} cannot be kept by any release with the "
            f"same predictions: within a factor of {float(self.r):.4g} of the prior, a "
            "row that is predicted against the prior could not be predicted so "
            f"({row}). At least {float(best):.4g} is needed.",
            promise=self.promise,
            best=best,
            advice=self._advise(best),
        )

    def say_not_predicted(self, needed: float, classes: str) -> Infeasible:
        """No release predicts these classes so close."""
        best = round_up(needed)
        return Infeasible(
            f"Promise {self.promise.name!r} cannot be kept by any release that "
            f"predicts {classes}: at least a factor of {float(best):.4g} is needed.",
            promise=self.promise,
            best=best,
            advice=self._advise(best),
        )

    def say_limit(self, needed: float, limit: float) -> Infeasible:
        """Two classes: what any release needs is what smaller powers come near to."""
        best = round_up(limit)
        return Infeasible(
            f"Promise {self.promise.name!r} is not reached: any release needs a factor "
            f"of {needed:.4g}, and flattening comes near to {limit:.4g} but not below.",
            promise=self.promise,
            best=best,
            advice=(
                f"Allow a factor above {limit:.4g}: within in the policy.",
                *self._advise(best)[1:],
            ),
        )

    def say_none(self, needed: float, low: float, high: float) -> Infeasible:
        """No power with weights is so close; another release might be."""
        best = round_up(high)
        return Infeasible(
            f"Promise {self.promise.name!r} is kept by no power of the scores with "
            f"weights for the classes, which is proved: the closest has a factor from "
            f"{low:.5g} to {high:.5g}. Any release needs at least {needed:.5g}.",
            promise=self.promise,
            best=best,
            advice=self._advise(best),
        )

    def say_open(self, needed: float, reached: float) -> Undecided:
        """Neither found nor proved not to be there."""
        best = round_up(reached)
        return Undecided(
            f"Whether promise {self.promise.name!r} can be kept was not settled: any "
            f"release needs a factor of at least {needed:.5g}, and {reached:.5g} is "
            "what was come near to.",
            promise=self.promise,
            best=best,
            needed=round_up(needed),
            advice=(
                f"Allow a factor above {float(best):.5g}: within in the policy.",
                *self._advise(best)[1:],
            ),
        )

    def refuse_open(self, needed: float, reached: float) -> NoReturn:
        """Raise it."""
        raise self.say_open(needed, reached)

    def _advise(self, best: Fraction) -> tuple[str, ...]:
        steps = accuracy_steps(self.views, self.prior)
        left = [
            _describe_step(s, number, self.r)
            for number, s in enumerate(steps, 1)
            if s.r < self.r
        ]
        allow = f"Allow a factor of {float(best):.5g} or more: within in the policy."
        return (allow, DECLARED, *left[-1:])


def describe_row(views: ClassifierViews, known: Mapping[int, int]) -> str:
    """A row in words."""
    told = views.told(known)
    return ", ".join(f"{c} = {v}" for c, v in told.items()) or "anybody"


def round_up(r: float) -> Fraction:
    """A factor with six digits after the point."""
    return Fraction(ceil(r * 10**6), 10**6)


def _describe_step(stair: AccuracyStep, number: int, r: Fraction) -> str:
    some = ", ".join(stair.classes)
    return (
        f"Within a factor of {float(r):.4g} no more can be predicted than {some}: that "
        f"is the original's prediction for {floor(1000 * stair.alike) / 10:g} % of "
        f"people. Publish that with --step {number}, or step={number} in Python."
    )
