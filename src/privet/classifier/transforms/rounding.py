"""Scores to a power, rounded to whole points so that no ranking changes; and the proof.

Every point is the logarithm of a score's factor, times the exponent, rounded up by less
than a little more than one; classes that win ties get a head start larger than all
roundings together. Mozafari, Zaniolo 2009, section 6.2.2; replaces Statement 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from math import log
from typing import Any

from privet.classifier.amplification import pair_odds
from privet.classifier.attributes import Attribute
from privet.classifier.scorecard import Points, Scorecard
from privet.classifier.scores import Scores
from privet.classifier.transforms.gap import gap_bound, led_by_less, true_gap
from privet.errors import TooLarge
from privet.values.logarithms import Logs

EXTRA = 24
"""Bits beyond those of the points, so that rounding is by hardly more than one."""


@dataclass(frozen=True)
class Certificate:
    """Why a scorecard ranks as the original does. Private: it undoes the exponent."""

    exponent: Fraction
    """What the scores were raised to."""
    bits: int
    """Points are logarithms times two to this."""
    gap: int
    """B: different scores of the original differ by at least a factor of 1 + 1/B."""
    how: str
    """How the gap is known: from integers, or from the tuples."""
    shifts: tuple[int, ...] = ()
    """Points by which the belief in each class was moved, undone by a declared rule."""
    coarse: bool = False
    """Whether close calls may flip: fewer bits were asked for, or points were moved."""
    jitter: int = 0
    """Every point was moved at random, by at most this much."""

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        return {
            "exponent": str(self.exponent),
            "bits": self.bits,
            "gap": str(self.gap),
            "gap_from": self.how,
            "shifts": list(self.shifts),
            "coarse": self.coarse,
            "jitter": self.jitter,
        }

    @classmethod
    def from_dict(cls, stated: Any) -> Certificate:
        """Read what `to_dict` wrote."""
        return cls(
            Fraction(stated["exponent"]),
            int(stated["bits"]),
            int(stated["gap"]),
            stated["gap_from"],
            tuple(int(s) for s in stated["shifts"]),
            bool(stated["coarse"]),
            int(stated.get("jitter", 0)),
        )


def bits_needed(scores: Scores, exponent: Fraction, gap: int) -> int:
    """How many bits of a logarithm keep every ranking."""
    steps = scores.classes * (scores.attributes + 2) * (gap + 1)
    ratio = Fraction(steps) / exponent
    return max(1, (ratio.numerator // ratio.denominator).bit_length() + 1)


def margin_of(scores: Scores, exponent: Fraction, bits: int, jitter: int = 0) -> float:
    """Natural logarithm of the odds that surely keep their order with so few bits."""
    steps = _steps(scores, jitter)
    return float(Fraction(steps, 2**bits) / exponent) * log(2)


def jitter_of(scores: Scores, exponent: Fraction, bits: int, margin: Fraction) -> int:
    """By how much points may be moved so that odds beyond a margin keep their order."""
    points = float(margin * exponent) / log(2) * (1 - 1e-9)
    most = int(Fraction(points) * 2**bits) - _steps(scores)
    return max(0, most // (2 * (scores.attributes + 1)))


def _steps(scores: Scores, jitter: int = 0) -> int:
    """Points by which all roundings, head starts and moves may change a lead."""
    n = scores.attributes
    return scores.classes * (n + 2) + 2 * (n + 1) * jitter


def scorecard(
    scores: Scores,
    exponent: Fraction,
    bits: int,
    *,
    target: str,
    labels: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    moved: Iterator[int] | None = None,
) -> Scorecard:
    """Round scores to a power to points; without zeros, and exponent above 0.

    Every point is then moved by the next of `moved`, if there are any.
    """
    k, head = scores.classes, scores.attributes + 2
    points, by = RoundedScores(scores, exponent, bits), moved or repeat(0)
    base = [points.of(w) + c * head + next(by) for c, w in enumerate(scores.weights)]
    low = min(base)
    rows: Points = tuple(
        tuple(_from_zero([points.of(x) + next(by) for x in row], k) for row in table)
        for table in scores.factors
    )
    return Scorecard(
        target,
        labels,
        attributes,
        tuple(k * (b - low) + c for c, b in enumerate(base)),
        rows,
        k << bits,
    )


def _from_zero(row: Sequence[int], classes: int) -> tuple[int, ...]:
    """Points of a value with the least at 0: only differences matter."""
    low = min(row)
    return tuple(classes * (z - low) for z in row)


class RoundedScores:
    """Logarithms of factors, times the exponent, rounded up to whole points."""

    def __init__(self, scores: Scores, exponent: Fraction, bits: int) -> None:
        self.exponent = exponent
        self.fine = EXTRA + max(exponent.numerator.bit_length(), 1)
        numbers = [*scores.weights, *(x for t in scores.factors for r in t for x in r)]
        self.logs = Logs(numbers, bits + self.fine)
        self.parts = exponent.denominator << self.fine
        self.known: dict[tuple[int, int], int] = {}

    def of(self, x: Fraction) -> int:
        """The points: at least the exact ones, and at most 1 + 2**-20 above."""
        key = x.numerator, x.denominator  # a fraction's own hash is slow
        found = self.known.get(key)
        if found is None:
            _, high = self.logs.of(x)
            found = self.known[key] = -(-high * self.exponent.numerator // self.parts)
        return found


# Checking ---------------------------------------------------------------------------


def problems(
    card: Scorecard, original: Scores, filled: Scores, proof: Certificate
) -> Iterator[str]:
    """What keeps a scorecard from being proved to rank as the original does.

    Looks at every number once and at no tuple.

    Parameters
    ----------
    card
        What was published.
    original, filled
        The scores before and after zeros were replaced.
    proof
        The certificate.
    """
    k, head = filled.classes, filled.attributes + 2
    if proof.exponent <= 0:
        yield "The exponent must be above 0."
        return
    if proof.gap < gap_of(original, proof.how):
        yield "The gap must be one that the counts have; they can come closer."
    needed = bits_needed(filled, proof.exponent, proof.gap)
    if not proof.coarse and (proof.bits < needed or proof.jitter):
        yield "The points must have more bits to keep every ranking; they have too few."
    if card.scale != k << proof.bits:
        yield "The scale must be the one of the certificate; it is not."
    points = RoundedScores(filled, proof.exponent, proof.bits)
    base = [points.of(w) + c * head for c, w in enumerate(filled.weights)]
    moved = proof.shifts or (0,) * k
    if len(moved) != k:
        yield "The certificate must say of every class how its belief was moved."
        return
    if card.rule is not None and tuple(card.rule) != tuple(-m for m in moved):
        yield "The declared rule must undo how beliefs were moved; it does not."
    total = [t - m for t, m in zip(card.totals({}), _unruled(card, moved), strict=True)]
    if not _moves_nothing(filled, _unruled(card, moved), proof):
        yield "Beliefs must be moved only where no ranking changes."
    slack = 2 * k * proof.jitter
    if proof.jitter < 0 or not _fits(total, base, k, range(k), slack):
        yield "The base points must be those of the class weights; they are not."
    for attribute, table, rows in zip(
        card.attributes, card.points, filled.factors, strict=True
    ):
        wanted = [[points.of(x) for x in row] for row in rows]
        found = zip(table, wanted, strict=True)
        if not all(_fits(row, want, k, [0] * k, slack) for row, want in found):
            yield (
                f"The points of attribute {attribute.name!r} must be those of its "
                "counts; they are not."
            )


def _unruled(card: Scorecard, moved: Sequence[int]) -> Sequence[int]:
    """What moves predictions: nothing where a rule undoes it."""
    return (0,) * len(moved) if card.rule is not None else moved


def _moves_nothing(scores: Scores, moved: Sequence[int], proof: Certificate) -> bool:
    """Whether no class that gains on another gets past it."""
    classes = range(scores.classes)
    return all(
        _never_above(scores, c, d) or _stays_below(scores, (c, d), moved, proof)
        for c in classes
        for d in classes
        if moved[d] > moved[c]
    )


def _stays_below(
    scores: Scores, pair: tuple[int, int], moved: Sequence[int], proof: Certificate
) -> bool:
    """Whether the first class leads by more than the second gains, wherever it leads.

    Looks at every row, if there are few enough. All roundings and head starts together
    are less than K(n + 2) points, and moves less than 2(n + 1) times the largest.
    """
    k = scores.classes
    rounded = k * _steps(scores, proof.jitter)
    gained = Fraction(moved[pair[1]] - moved[pair[0]] + rounded, k << proof.bits)
    try:
        led = led_by_less(scores, pair, float(gained / proof.exponent) * (1 + 1e-9))
    except TooLarge:
        return False
    return led is None


def _never_above(scores: Scores, c: int, d: int) -> bool:
    """Whether class c ranks below class d for every row, known in full or in part."""
    odds = pair_odds(scores.with_unknown(), (c, d)).odds
    return odds is not None and (odds < 1 or (odds == 1 and c < d))


def gap_of(original: Scores, how: str) -> int:
    """The gap of scores, from integers or from tuples; unknown values count, too."""
    scores = original.with_unknown()
    found = true_gap(scores) if how == TUPLES else None
    return gap_bound(scores) if found is None else found


INTEGERS, TUPLES = "integers", "tuples"
"""How a gap is known."""


def _fits(
    row: Sequence[int],
    wanted: Sequence[int],
    classes: int,
    rest: Sequence[int],
    slack: int,
) -> bool:
    """Whether points are the wanted ones but for a constant, with their remainders.

    Moves may be as far apart as the slack.
    """
    off = [p - classes * w - r for p, w, r in zip(row, wanted, rest, strict=True)]
    alike = len({d % classes for d in off}) == 1
    return alike and max(off) - min(off) <= slack
