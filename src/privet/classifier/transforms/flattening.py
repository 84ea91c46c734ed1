"""From scores and an exponent to a scorecard with its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from random import Random, SystemRandom

from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Scores
from privet.classifier.transforms.gap import gap_bound, true_gap
from privet.classifier.transforms.rounding import (
    INTEGERS,
    TUPLES,
    Certificate,
    bits_needed,
    jitter_of,
    margin_of,
    scorecard,
)
from privet.errors import InputError

FINER = 12
"""Bits beyond those that keep rankings, so that rounding hardly moves a belief."""

MOST_BITS = 12_000
"""A scorecard with longer numbers is refused."""


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Counts of a table that stands for a classifier, and how close it comes."""

    views: ClassifierViews
    """The counts; every value occurs in every class."""
    margin: float
    """Original odds within a factor of e to this may change their order; private."""
    drift: float
    """Published odds within a factor of this may change their order."""
    flipped: tuple[int, int] | None
    """Tuples that predict otherwise, of how many; None: too many to look at."""
    exponent: Fraction
    """What scores were raised to; private."""


@dataclass(frozen=True)
class FlattenedCard:
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
    table: SyntheticTable | None = None
    """The synthetic table it is the card of, where only that is published."""


def gap_found(original: Scores) -> tuple[int, str]:
    """How close two scores can come, and how that is known."""
    scores = original.with_unknown()
    found = true_gap(scores)
    return (gap_bound(scores), INTEGERS) if found is None else (found, TUPLES)


@dataclass(frozen=True)
class Jitter:
    """How far every number of a card is moved at random: drawn once, for any scale."""

    margin: Fraction
    """Odds of the original beyond a factor of e to this keep their order."""
    draws: tuple[int, ...]
    """A number of 64 bits for every point."""

    @classmethod
    def drawn(cls, margin: Fraction, scores: Scores, seed: int | None) -> Jitter:
        """From the operating system's secure source, unless there is a seed."""
        dice: Random = SystemRandom() if seed is None else Random(seed)
        points = scores.classes * (1 + sum(map(len, scores.factors)))
        return cls(margin, tuple(dice.getrandbits(64) for _ in range(points)))

    def moves(self, most: int) -> Iterator[int]:
        """Whole numbers from minus to plus the most, all alike."""
        return iter((u * (2 * most + 1) >> 64) - most for u in self.draws)


@dataclass(frozen=True)
class FlatteningBase:
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
    jitter: Jitter | None = None
    """How points are moved at random, if they are."""

    def rounded(
        self,
        exponent: Fraction,
        *,
        bits: int | None = None,
        moves: Sequence[float] = (),
        ruled: bool = False,
    ) -> FlattenedCard:
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
        views, scores = self.views, self.scores
        most = 0
        if self.jitter is not None:
            most = jitter_of(scores, exponent, used, self.jitter.margin)
        card = scorecard(
            scores,
            exponent,
            used,
            target=views.target,
            labels=views.labels,
            attributes=views.attributes,
            moved=None if self.jitter is None else self.jitter.moves(most),
        )
        shifts = _shifts(moves or [0.0] * len(views.labels), card.scale, len(card.base))
        coarse = used < needed or most > 0
        margin = margin_of(scores, exponent, used, most) if coarse else 0.0
        proof = Certificate(exponent, used, self.gap, self.how, shifts, coarse, most)
        keeps = self.keeps
        if coarse:
            odds = factor_words(margin * float(exponent))
            keeps += f", but for classes whose published odds are within {odds}"
        return FlattenedCard(_moved(card, shifts, ruled), views, proof, keeps, margin)


def factor_words(margin: float) -> str:
    """A margin as odds, in words."""
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
