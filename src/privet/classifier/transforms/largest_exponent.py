"""The largest exponent: how little scores need to be flattened to keep a promise.

The exponent that is safe for whoever knows all is safe for everybody. Where the
reading of the unknown is declared, where the promise is about some classes only, or
where there is a prior, a larger one may do, and the worst belief need not grow with the
exponent; but it moves no faster than the log odds do, so going down from
1 in steps of what is too much by that speed misses none by more than the last step.
Mozafari, Zaniolo 2009, section 6.2.2, Step 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

from privet.classifier.amplification import pair_log_odds
from privet.classifier.audit import find_asked_classes, priors
from privet.classifier.posteriors.worst_posteriors import PosteriorCase, find_cases
from privet.classifier.release import ClassifierViews
from privet.classifier.scores import Scores, log_of
from privet.policy import Promise
from privet.values.beliefs import Ceiling, Ratio

STEP = Fraction(1, 2**10)
"""The least step down; none that is safe is missed by more."""

MOST_STEPS = 2**10
"""Exponents that are tried: as many as least steps lead down to 0."""

OFF = Fraction(1, 10**8)
"""How far beliefs in floats may be off."""


@dataclass(frozen=True, eq=False)
class _FlattenedViews:
    """A classifier whose scores are raised to a power, to about fifteen digits."""

    views: ClassifierViews
    scores: Scores

    @property
    def target(self) -> str:
        return self.views.target

    @property
    def labels(self) -> tuple[str, ...]:
        return self.views.labels

    @property
    def attributes(self) -> Sequence[Any]:
        return self.views.attributes

    @property
    def model(self) -> Scores:
        return self.scores.normalised

    counted: None = None
    slack: Fraction = Fraction(0)
    model_slack: Fraction = Fraction(0)

    def victim(self, known: Mapping[str, str | None]) -> dict[int, int]:
        return self.views.victim(known)

    def victim_index(self, name: str) -> int:
        return self.views.victim_index(name)

    def told(self, known: Mapping[int, int]) -> dict[str, str | None]:
        return self.views.told(known)


def raise_exponent(
    views: ClassifierViews,
    scores: Scores,
    promise: Promise,
    safe: Fraction,
    margin: Fraction = Fraction(0),
) -> Fraction:
    """An exponent above one that is safe for whoever knows all, where there is any.

    Logarithms of odds may be moved by the margin, before the power.
    """
    # Odds that move by a factor of e**x move a belief by x/4 at most.
    speed = _bound_speed(scores) + margin / 4
    tried = Fraction(1)
    for _ in range(MOST_STEPS):
        if tried <= safe:
            return safe
        room = OFF + tried * margin / 4
        excess = _measure_excess(views, flatten(scores, tried), promise, room)
        if excess <= 0:
            return tried
        step = Fraction(int(excess / speed / STEP)) * STEP if speed else STEP
        tried -= max(step, STEP)
    return safe


def _bound_speed(scores: Scores) -> Fraction:
    """How fast a belief moves with the exponent: a quarter of the largest log odds."""
    return Fraction(float(pair_log_odds(scores).max()) * log(2) / 4)


def _measure_excess(
    views: ClassifierViews, scores: Scores, promise: Promise, room: Fraction
) -> Fraction:
    """By how much the worst belief is beyond the limit; 0 or less: it is not."""
    flattened = _FlattenedViews(views, scores)
    prior = priors(promise, views.labels)
    asked = find_asked_classes(views, promise, lambda _: None)
    cases = find_cases(flattened, promise, asked or range(len(prior)), prior, room=room)
    return max(_measure_case(case, promise) for case in cases)


def _measure_case(case: PosteriorCase, promise: Promise) -> Fraction:
    bound, before = case.found.bound, case.prior
    match promise.limit:
        case Ceiling(level=level):
            return bound - level
        case Ratio(factor=factor):
            return max(bound - factor * before, before / factor - bound)
        case shift:
            if shift.holds(case.bound):
                return Fraction(0)
            up = bound - shift.end if before < shift.start else shift.start - bound
            return max(up, STEP)


def flatten(scores: Scores, power: Fraction) -> Scores:
    """Scores to a power, to about fifteen digits."""

    def to_power(x: Fraction) -> Fraction:
        return Fraction(2.0 ** (log_of(x) * float(power)))

    return Scores(
        tuple(map(to_power, scores.weights)),
        tuple(tuple(tuple(map(to_power, row)) for row in t) for t in scores.factors),
    )
