"""Closeness to a prior against what can be predicted: a staircase.

A class is predicted at all only if beliefs may be as far from the prior as that needs;
this holds for any release whose most believed class is its prediction. So what can be
had jumps: with each more class that is predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.classifier.agreement import People
from privet.classifier.release import ClassifierViews
from privet.classifier.transforms.r_closeness import staircase


@dataclass(frozen=True)
class AccuracyStep:
    """One step: from this closeness on, these classes can be predicted."""

    r: float
    """Beliefs within this factor of the prior; exact with two classes, else reached."""
    classes: tuple[str, ...]
    """What is predicted, the likeliest beforehand first."""
    alike: float
    """Share of people predicted as the original does, as the counts have them."""
    right: float
    """Share of people predicted rightly, as the counts have them."""

    def to_dict(self) -> dict[str, Any]:
        """A row for a chart."""
        return {**vars(self), "classes": list(self.classes)}


def stairs(views: ClassifierViews, prior: Sequence[Fraction]) -> list[AccuracyStep]:
    """The steps of a classifier for a prior, the closest first."""
    people = People.of(views.scores)
    found = []
    for r, classes in staircase(prior):
        alike, right = people.restricted(classes)
        ordered = sorted(classes, key=lambda c: (-prior[c], c))
        named = tuple(views.labels[c] for c in ordered)
        found.append(AccuracyStep(r, named, alike, right))
    return found
