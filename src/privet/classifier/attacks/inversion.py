"""Inversion attack on a published classifier: the original counts, worked out.

A release tells shares of values within classes, to an unknown power, and divided by one
factor per value. Whoever knows the class sizes fits the power; whole numbers that add
up to the sizes give the counts away. The aided attack is told the power and the sums
that shares were divided by: what it gets is what a promise against inversion is judged
by, since a better fit may be found tomorrow.
Mozafari, Zaniolo 2009, section 6.3, hold that the original views cannot be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

import numpy as np

from privet.classifier.attacks.exponent_fit import (
    Shown,
    find_determined,
    fit_exponent,
)
from privet.classifier.attacks.simplest_ratios import solve_simplest
from privet.classifier.attacks.whole_counts import (
    AttributeShown,
    Counts,
    solve_counts,
)
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Floats, Scores, ln_of
from privet.errors import InputError, suggest_names
from privet.values.adversaries import Inverter

Cells = tuple[tuple[tuple[int, ...], ...], ...]
"""Guesses by attribute, value and class."""

ALIKE = 1e-9
"""Class sizes so near to each other tell no exponent."""

WIDEST = 300.0
"""The logarithm of a ratio that no two counts have; an exponent may be fitted so badly
that ratios would be larger than any float."""

SHARP = 1e-5
"""Shares this precise tell whole counts from all others."""

FEW = 5
"""Counts below this are told apart: they are about few people."""

NEAR = Fraction(1, 10)
"""A guess within this share of a count, or within one, is near."""


# What a release shows ---------------------------------------------------------------


def read_shown(release: Any) -> Shown:
    """The shares and class sizes that a release, its scorecard or its counts tell."""
    found = getattr(release, "card", release)
    if isinstance(found, ClassifierViews):
        return _read_counts(found)
    if isinstance(found, Scorecard):
        return _read_card(found)
    raise InputError("An inverter must have a published classifier to attack.")


def _read_counts(views: ClassifierViews) -> Shown:
    sizes = np.array([ln_of(Fraction(p)) for p in views.sizes])
    logs = [_log_counts(table) for table in views.cells]
    return Shown(
        tuple(a - sizes for a in logs),
        tuple(0.5 * np.exp(-np.maximum(a, 0.0)) for a in logs),  # half a row
        sizes,
    )


def _log_counts(table: Sequence[Sequence[Any]]) -> Floats:
    """Logarithms of counts of any length; a count of 0 is less than one row."""
    return np.array([[ln_of(Fraction(n or Fraction(1, 2))) for n in r] for r in table])


def _read_card(card: Scorecard) -> Shown:
    k, ln2 = len(card.labels), log(2)
    points = [
        np.array([[p / card.scale * ln2 for p in row] for row in table])
        for table in card.points
    ]
    sums = [_log_sum(a) for a in points]
    # What ties were decided by, see `round_to_scorecard`: K(n + 2) + 1 points a place.
    head = k * (len(card.points) + 2) + 1
    base = [(b - c * head) / card.scale * ln2 for c, b in enumerate(card.base)]
    error = 2 * k / card.scale * ln2
    return Shown(
        tuple(a - s for a, s in zip(points, sums, strict=True)),
        tuple(np.full(a.shape, error) for a in points),
        np.array(base) + (sum(sums) if sums else 0.0),
    )


def _log_sum(logs: Floats) -> Floats:
    top = logs.max(axis=0)
    found: Floats = top + np.log(np.exp(logs - top).sum(axis=0))
    return found


# The attack -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Aid:
    """What an aided inverter is told."""

    exponent: float
    """What scores were raised to."""
    sums: tuple[Floats, ...]
    """The logarithm of what shares were divided by, by attribute and class."""

    @classmethod
    def of(cls, original: Scores, exponent: Fraction) -> Aid:
        """The truth: from the scores that were flattened."""
        power, sums = float(exponent), []
        for table in original.normalised.factors:
            logs = np.array([[ln_of(x) for x in row] for row in table]) * power
            sums.append(_log_sum(logs - logs.min(axis=1, keepdims=True)))
        return cls(power, tuple(sums))


@dataclass(frozen=True, eq=False)
class RecoveredCounts:
    """What an inverter takes for the original counts. Sensitive where it is right."""

    exponent: float
    """What scores were raised to, as far as the inverter can tell."""
    cells: Cells
    """The counts, guessed."""

    def right(self, truth: ClassifierViews) -> Fraction:
        """The share of the original counts that are guessed exactly."""
        return _count_share(guess == n for guess, n in self._pair(truth))

    def near(self, truth: ClassifierViews, within: Fraction = NEAR) -> Fraction:
        """The share that is guessed within one, or within a share of the count."""
        return _count_share(
            abs(guess - n) <= max(1, within * n) for guess, n in self._pair(truth)
        )

    def right_of_few(self, truth: ClassifierViews) -> Fraction:
        """The share of counts of fewer than five that are guessed exactly."""
        return _count_share(guess == n for guess, n in self._pair(truth) if n < FEW)

    def _pair(self, truth: ClassifierViews) -> Iterator[tuple[int, Any]]:
        for table, true in zip(self.cells, truth.cells, strict=True):
            for row, counts in zip(table, true, strict=True):
                yield from zip(row, counts, strict=True)

    def __repr__(self) -> str:
        return f"Recovered(exponent about {self.exponent:.4g})"


def _count_share(right: Iterator[bool]) -> Fraction:
    found = list(right)
    return Fraction(sum(found), max(len(found), 1))


def invert(
    inverter: Inverter,
    release: Any,
    aid: Aid | None = None,
    solve: Solver | None = None,
) -> RecoveredCounts:
    """Guess every original count from what a release shows, aided or not."""
    solve = solve or solve_best
    shown = read_shown(release)
    card = getattr(release, "card", release)
    sizes = _look_up_sizes(inverter, card.labels)
    smoothing = float(inverter.smoothing)
    found = aid or _fit_all(shown, sizes, smoothing)
    moved = float(inverter.margin) / (len(shown.shares) + 1)
    tables = []
    for a, e, s in zip(shown.shares, shown.errors, found.sums, strict=True):
        # Counts may be larger than any float.
        wholes = np.array(
            [ln_of(Fraction(p) + inverter.smoothing * len(a)) for p in sizes]
        )
        logs = (a + s) / found.exponent + wholes
        one = AttributeShown(
            np.exp(np.minimum(logs - logs.min(axis=1, keepdims=True), WIDEST)),
            e / found.exponent + moved,
            sizes,
            smoothing,
            0.001 if aid and e.max() < SHARP else 0.02,
        )
        tables.append(tuple(solve(one)))
    return RecoveredCounts(found.exponent, tuple(tables))


Solver = Callable[[AttributeShown], list[Counts]]
"""Whole counts of one attribute from what is told of it."""


def solve_best(shown: AttributeShown) -> list[Counts]:
    """By simple ratios where these are sharp, else by what adds up to the sizes.

    Counts that add up can always be found for many values, right or wrong.
    """
    sharp = shown.errors.max(initial=0.0) < SHARP
    return solve_simplest(shown) if sharp else solve_counts(shown)


SOLVERS: tuple[Solver, ...] = (solve_counts, solve_simplest)
"""What an inverter may try; the most that any gets is what a release tells."""


def _look_up_sizes(inverter: Inverter, labels: Sequence[str]) -> list[int]:
    known = inverter.class_sizes or {}
    missing = [c for c in labels if c not in known]
    if missing:
        raise InputError(
            f"class_sizes must name every class; {missing[0]!r} is missing. "
            f"{suggest_names(missing[0], list(known))}"
        )
    return [known[c] for c in labels]


def _fit_all(shown: Shown, sizes: Sequence[int], smoothing: float) -> Aid:
    """Exponent and sums without help: read off where that can be, fitted elsewhere."""
    logs = np.log(np.array(sizes, dtype=float))
    pairs = zip(shown.shares, shown.errors, strict=True)
    # Of two classes each is the least of some value, for both add up to 1.
    sure = len(logs) == 2 or all(all(find_determined(a, e)) for a, e in pairs)
    apart = logs - logs.mean()
    if sure and float(apart @ apart) > ALIKE:
        # Every class is the least of some value, so its least share is one by the sum.
        sums = tuple(-a.min(axis=0) for a in shown.shares)
        lead = shown.sizes - (sum(sums) if sums else 0.0)
        exponent = float((lead - lead.mean()) @ apart / (apart @ apart))
        if exponent > 0:
            return Aid(min(exponent, 1.0), sums)
    exponent, fitted = fit_exponent(shown, sizes, smoothing)
    return Aid(exponent, tuple(fitted))


# What it gets -----------------------------------------------------------------------


@dataclass(frozen=True)
class InversionMeasure:
    """How much of the original counts an inverter works out, as shares of all."""

    exact: Fraction
    """Exactly, told exponent and sums."""
    near: Fraction
    """Within one or a share of the count, told the same."""
    few: Fraction
    """Exactly, of the counts below five."""
    cells: int
    """How many counts there are."""
    baseline: Fraction
    """Exactly, by spreading each class evenly over the values: without a release."""
    baseline_near: Fraction
    """Nearly, by spreading."""
    alone: Fraction | None = None
    """Exactly, by itself; None where that was not tried."""
    alone_near: Fraction | None = None
    """Nearly, by itself."""
    exponent: float | None = None
    """What it takes for the exponent, by itself."""

    def to_dict(self) -> dict[str, Any]:
        """For reports; shares as fractions in text."""
        return {
            k: str(v) if isinstance(v, Fraction) else v for k, v in vars(self).items()
        }


def measure_inversion(
    inverter: Inverter,
    truth: ClassifierViews,
    shown: Sequence[tuple[Any, Aid]],
    within: Fraction = NEAR,
    *,
    only_aided: bool = False,
) -> InversionMeasure:
    """The most that anything shown tells, each attacked with and without aid."""
    aided = [invert(inverter, x, aid, solve) for x, aid in shown for solve in SOLVERS]
    alone = (
        []
        if only_aided
        else [invert(inverter, x, solve=s) for x, _ in shown for s in SOLVERS]
    )
    best = max(alone, key=lambda r: r.right(truth), default=None)
    spread = RecoveredCounts(0.0, _spread_evenly(truth))
    both = [*aided, *alone]  # what is found without aid can be had with it, too
    return InversionMeasure(
        exact=max(r.right(truth) for r in both),
        near=max(r.near(truth, within) for r in both),
        few=max(r.right_of_few(truth) for r in both),
        cells=sum(len(row) for table in truth.cells for row in table),
        baseline=spread.right(truth),
        baseline_near=spread.near(truth, within),
        alone=None if best is None else best.right(truth),
        alone_near=max((r.near(truth, within) for r in alone), default=None),
        exponent=None if best is None else best.exponent,
    )


def _spread_evenly(views: ClassifierViews) -> Cells:
    def spread(values: int) -> Counts:
        return tuple(round(Fraction(p) / values) for p in views.sizes)

    return tuple(tuple(spread(len(table)) for _ in table) for table in views.cells)


def make_inverter(
    views: ClassifierViews, smoothing: Fraction, margin: Fraction | None
) -> Inverter:
    """Somebody who knows the class sizes of a table and how it was released."""
    sizes = dict(zip(views.labels, map(ceil, views.sizes), strict=True))
    return Inverter(sizes, smoothing=smoothing, margin=margin or 0)
