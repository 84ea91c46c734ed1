"""From scores and an exponent to a scorecard with its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp

from privet.errors import InputError
from privet.publishers.certificate import (
    INTEGERS,
    TUPLES,
    Certificate,
    bits_needed,
    margin_of,
    scorecard,
)
from privet.publishers.gap import gap_bound, true_gap
from privet.releases.classifier import ClassifierViews
from privet.releases.scorecard import Scorecard
from privet.releases.scores import Scores

FINER = 12
"""Bits beyond those that keep rankings, so that rounding hardly moves a belief."""

MOST_BITS = 12_000
"""A scorecard with longer numbers is refused."""


@dataclass(frozen=True)
class Flattened:
    """A scorecard and how it was made; all but the card is private."""

    card: Scorecard
    """What is published."""
    views: ClassifierViews
    """The counts it keeps the predictions of: smoothed and with noise, if asked for."""
    proof: Certificate
    """Why the predictions are kept."""
    keeps: str
    """What is kept of the original, in words."""
    margin: float = 0.0
    """Odds within a factor of e to this may change their order; 0: none does."""


def gap_found(original: Scores) -> tuple[int, str]:
    """How close two scores can come, and how that is known."""
    scores = original.with_unknown()
    found = true_gap(scores)
    return (gap_bound(scores), INTEGERS) if found is None else (found, TUPLES)


@dataclass(frozen=True)
class Base:
    """What stays the same while exponents are tried."""

    views: ClassifierViews
    """The counts whose predictions are kept."""
    scores: Scores
    """Their scores, without zeros."""
    gap: int
    """How close two scores of a row can come."""
    how: str
    """How that is known."""
    keeps: str
    """What is kept, in words."""

    def rounded(
        self,
        exponent: Fraction,
        *,
        bits: int | None = None,
        moves: Sequence[float] = (),
        ruled: bool = False,
    ) -> Flattened:
        """A scorecard for an exponent.

        Parameters
        ----------
        exponent
            What scores are raised to.
        bits
            Fewer bits than keep every ranking, if asked for.
        moves
            How far the belief in each class is moved, in doublings.
        ruled
            Whether a declared rule undoes the moves for predictions.
        """
        needed = bits_needed(self.scores, exponent, self.gap)
        used = needed + FINER if bits is None else min(bits, needed + FINER)
        if used > MOST_BITS:
            raise InputError(
                f"The points must have at most {MOST_BITS:,} bits; {used:,} are needed "
                "to keep every ranking. Ask for fewer with bits, or leave out columns."
            )
        views = self.views
        card = scorecard(
            self.scores,
            exponent,
            used,
            target=views.target,
            labels=views.labels,
            attributes=views.attributes,
        )
        shifts = _shifts(moves or [0.0] * len(views.labels), card.scale, len(card.base))
        coarse = used < needed
        margin = margin_of(self.scores, exponent, used) if coarse else 0.0
        proof = Certificate(exponent, used, self.gap, self.how, shifts, coarse)
        keeps = self.keeps
        if coarse:
            odds = _factor(margin * float(exponent))
            keeps += f", but for classes whose published odds are within {odds}"
        return Flattened(_moved(card, shifts, ruled), views, proof, keeps, margin)


def _factor(margin: float) -> str:
    return f"{exp(margin):.7g}" if margin < 700 else f"e to the power {margin:.0f}"


def _moved(card: Scorecard, shifts: tuple[int, ...], ruled: bool) -> Scorecard:
    """Move beliefs; undo it for predictions where there is a rule."""
    if not any(shifts):
        return card
    base = tuple(b + s for b, s in zip(card.base, shifts, strict=True))
    return replace(card, base=base, rule=tuple(-s for s in shifts) if ruled else None)


def _shifts(moves: Sequence[float], scale: int, classes: int) -> tuple[int, ...]:
    """Moves as points, in steps that keep classes apart; any rounding will do."""
    return tuple(classes * int(Fraction(m) * scale / classes) for m in moves)
