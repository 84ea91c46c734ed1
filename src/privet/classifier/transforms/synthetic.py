"""Synthetic tables: counts of so many rows that keep every promise, too.

Mozafari, Zaniolo 2009, section 6.2.4, Step 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log

from privet.classifier.release import ClassifierViews
from privet.classifier.scores import Scores
from privet.classifier.transforms.flattening import (
    FlattenedCard,
    FlatteningBase,
    SyntheticTable,
    factor_words,
    gap_found,
)
from privet.classifier.transforms.tables import (
    factor,
    flips,
    margin,
    margin_words,
    ratios,
    table_counts,
)
from privet.errors import Infeasible
from privet.policy import Promise
from privet.release.audit import audit


def synthetic(
    made: FlattenedCard,
    promises: Sequence[Promise],
    rows: int,
    also: Callable[[ClassifierViews], bool] = lambda _: True,
) -> SyntheticTable:
    """A table of so many rows that keeps every promise, and whatever else must hold.

    Rounding to rows moves beliefs a little; the exponent is lowered until all is kept.
    """
    exact = ratios(made.card)
    steepness = Fraction(1)
    for _ in range(60):
        scores = exact if steepness == 1 else _flatter(exact, steepness)
        views = table_counts(scores, made.card, rows)
        if audit(views, list(promises)).safe and also(views):
            drift = margin(scores, views.scores)
            exponent = made.proof.exponent * steepness
            return SyntheticTable(
                views,
                margin_words(drift, exponent) + made.margin,
                factor(margin_words(drift, Fraction(1))),
                flips(exact, views.scores),
                exponent,
            )
        steepness *= Fraction(98, 100)
    raise Infeasible(
        f"A table of {rows:,} rows does not keep every promise: whole rows are too "
        "coarse.",
        advice=("Ask for more rows, or publish the scorecard.",),
    )


def _flatter(scores: Scores, power: Fraction) -> Scores:
    """Scores to a power, to about fifteen digits: rows are far coarser than that."""

    def to(x: Fraction) -> Fraction:
        return Fraction(float(x) ** float(power))

    return Scores(
        tuple(map(to, scores.weights)),
        tuple(tuple(tuple(map(to, row)) for row in t) for t in scores.factors),
    )


def only_rows(
    made: FlattenedCard, promises: Sequence[Promise], rows: int
) -> FlattenedCard:
    """The scorecard of a synthetic table: it tells no more than the rows do."""

    def card(views: ClassifierViews, keeps: str = "") -> FlattenedCard:
        base = FlatteningBase(views, views.scores, *gap_found(views.scores), keeps)
        return base.rounded(Fraction(1))

    table = synthetic(
        made, promises, rows, lambda v: audit(card(v).card, list(promises)).safe
    )
    odds = factor_words(log(table.drift))
    keeps = f"{made.keeps}, but for classes whose published odds are within {odds}"
    return replace(card(table.views, keeps), margin=table.margin, table=table)
