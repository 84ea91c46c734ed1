"""Rounding scores to whole points: NBC-equivalence kept, with a certificate of it.

Step 2 of SafetyTransform raises scores to a power; here they become a scorecard. Every
point is the logarithm of a score's factor, times the exponent, rounded up by less than
a little more than one; classes that win ties get a head start larger than all roundings
together. How many bits that takes depends on the gap, how close two different scores of
one tuple can be. Finding the least ratio is NP-hard; integers bound it, and where half
of the attributes have few combinations, the true one is found by meeting in the middle.
Mozafari, Zaniolo 2009, section 6.2.2; replaces its Statements 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import repeat
from math import ceil, exp, lcm, log, log2, prod
from random import Random, SystemRandom
from typing import Any

import numpy as np

from privet.classifier.amplification import pair_odds
from privet.classifier.release import Attribute, ClassifierViews
from privet.classifier.scorecard import Gauge, Points, Scorecard
from privet.classifier.scores import Floats, Scores, ln_of
from privet.classifier.transforms.leads import TupleLeads, find_narrow_lead
from privet.classifier.transforms.tight_exponent import TightExponent
from privet.errors import InputError, TooLarge
from privet.values.logarithms import Logs

# The gap ----------------------------------------------------------------------------

MOST_HALF = 1_000_000
"""Combinations of one half of the attributes that are listed."""

MOST_NEAR = 20_000
"""Tuples so near to a tie that they are compared as fractions."""

NEAR, NOISE = 1e-10, 1e-12
"""Natural logarithms this close need fractions; and how wrong a sum of them may be."""


def gap_bound(scores: Scores) -> int:
    """B such that different positive scores of a tuple differ by at least 1 + 1/B.

    Two scores multiplied out are integers, so they differ by at least one.
    """
    whole = [_IntegerScores(scores, c) for c in range(scores.classes)]
    pairs = [(a, b) for a in whole for b in whole if a is not b]
    return max((a.bound(b) for a, b in pairs), default=1)


class _IntegerScores:
    """The scores of one class as integers times one fraction."""

    def __init__(self, scores: Scores, c: int) -> None:
        self.unit = scores.weights[c]
        self.numbers: list[list[int]] = []
        for table in scores.factors:
            # 1/3 and 1/6 of one attribute: 2 and 1, and the unit takes 1/6.
            common = lcm(*(row[c].denominator for row in table))
            self.unit /= common
            column = [
                row[c].numerator * (common // row[c].denominator) for row in table
            ]
            self.numbers.append(column)
        self.largest = [max(column) for column in self.numbers]
        self.zeros = any(n == 0 for column in self.numbers for n in column)

    def bound(self, other: _IntegerScores) -> int:
        """What a tuple's scores multiplied out never pass, where both are positive."""
        ratio = self.unit / other.unit
        tops = list(zip(self.largest, other.largest, strict=True))
        if self.zeros or other.zeros:
            tops = []
            for self_, other_ in zip(self.numbers, other.numbers, strict=True):
                both = [(a, b) for a, b in zip(self_, other_, strict=True) if a and b]
                if not both:
                    return 1  # no tuple has both
                tops.append((max(a for a, _ in both), max(b for _, b in both)))
        # Of two integers a > b: a/b >= 1 + 1/b, and b is within both bounds: within
        # its own, and below a.
        return min(
            ratio.numerator * prod(t[0] for t in tops),
            ratio.denominator * prod(t[1] for t in tops),
        )


def true_gap(scores: Scores) -> int | None:
    """The same B, from the tuples themselves; None where that is too much work."""
    pairs = [(c, d) for c in range(scores.classes) for d in range(c)]
    found = 1
    for c, d in pairs:
        b = _find_pair_gap(scores, c, d, MOST_HALF // max(1, len(pairs) // 4))
        if b is None:
            return None
        found = max(found, b)
    return found


def _find_pair_gap(scores: Scores, c: int, d: int, most: int) -> int | None:
    if _count_combinations(scores, c, d) > 2 * log2(most):
        return None
    ratios = [
        list({row[c] / row[d] for row in table if row[c] and row[d]})
        for table in scores.factors
    ]
    if not all(ratios):
        return 1
    # An attribute whose values all have one ratio is a constant.
    left, right = _split_in_halves([r for r in ratios if len(r) > 1])
    single = prod((r[0] for r in ratios if len(r) == 1), start=Fraction(1))
    start = single * scores.weights[c] / scores.weights[d]
    if max(prod(map(len, left)), prod(map(len, right))) > most:
        return None
    sums, others = _sum_logs(left) + ln_of(start), _sum_logs(right)
    # Both in order: looking for one after the other is faster than here and there.
    orders = np.argsort(sums), np.argsort(others)
    parts = (left, right, start)
    return _find_nearest_tie(sums[orders[0]], others[orders[1]], orders, parts)


def _count_combinations(scores: Scores, c: int, d: int) -> float:
    """How many combinations two halves have together at least, in doublings."""
    found = 0.0
    for table in scores.log_factors:
        with np.errstate(invalid="ignore"):
            ratios = table[:, c] - table[:, d]
        seen = np.unique(ratios[np.isfinite(ratios)].round(9))
        found += log2(max(len(seen), 1))
    return found


def _split_in_halves(
    ratios: list[list[Fraction]],
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Two lists of attributes with about as many combinations each."""
    halves: tuple[list[list[Fraction]], list[list[Fraction]]] = ([], [])
    sizes = [1, 1]
    for r in sorted(ratios, key=len, reverse=True):
        at = sizes.index(min(sizes))
        halves[at].append(r)
        sizes[at] *= len(r)
    return halves


def _sum_logs(ratios: list[list[Fraction]]) -> Floats:
    """Logarithms of all products, the last attribute varying fastest."""
    found: Floats = np.zeros(1)
    for r in ratios:
        found = np.add.outer(found, np.array([ln_of(x) for x in r])).ravel()
    return found


Exactly = tuple[list[list[Fraction]], list[list[Fraction]], Fraction]


def _find_nearest_tie(
    sums: Floats, others: Floats, orders: tuple[Any, Any], parts: Exactly
) -> int | None:
    # Log-odds are a sum of one half and one of the other; others[low:high] make ties.
    low = np.searchsorted(others, -sums - NEAR)
    high = np.searchsorted(others, -sums + NEAR)
    # The nearest that are no candidates, others[low - 1] and others[high]; with one
    # more at each end there always is one. e**x >= 1 + x, so B is 1/x.
    padded = np.concatenate([[-np.inf], others, [np.inf]])
    outside = np.minimum(-(sums + padded[low]), sums + padded[high + 1]).min()
    found = ceil(1 / (outside - NOISE)) if np.isfinite(outside) else 1
    near = high - low
    if near.sum() > MOST_NEAR:
        return None
    left, right, start = parts
    for i in np.flatnonzero(near).tolist():
        first = start * _product(left, int(orders[0][i]))
        for j in range(int(low[i]), int(high[i])):
            ratio = first * _product(right, int(orders[1][j]))
            if ratio != 1:
                found = max(found, ceil(1 / (max(ratio, 1 / ratio) - 1)))
    return max(found, 1)


def _product(ratios: list[list[Fraction]], index: int) -> Fraction:
    found = Fraction(1)
    for r in reversed(ratios):
        # The digits of the index, the last attribute's first; see `_sum_logs`.
        index, at = divmod(index, len(r))
        found *= r[at]
    return found


# Points and their certificate -------------------------------------------------------

EXTRA = 24
"""Bits beyond those of the points, so that rounding is by hardly more than one."""


@dataclass(frozen=True)
class Certificate:
    """Why a scorecard is NBC-equivalent. Private: it undoes the exponent."""

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
    gauge: Gauge = ()
    """Points that went from values to the base, by attribute and class."""
    tight: TightExponent | None = None
    """Why the exponent is not larger, where it was searched for."""
    predicted: tuple[int, ...] | None = None
    """The classes of which the best is kept; None: all rankings are."""

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
            "gauge": [list(row) for row in self.gauge],
            "tight": None if self.tight is None else self.tight.to_dict(),
            "predicted": None if self.predicted is None else list(self.predicted),
        }

    @classmethod
    def from_dict(cls, stated: Any) -> Certificate:
        """Read what `to_dict` wrote."""
        tight, predicted = stated.get("tight"), stated.get("predicted")
        return cls(
            Fraction(stated["exponent"]),
            int(stated["bits"]),
            int(stated["gap"]),
            stated["gap_from"],
            tuple(int(s) for s in stated["shifts"]),
            bool(stated["coarse"]),
            int(stated.get("jitter", 0)),
            tuple(tuple(map(int, row)) for row in stated.get("gauge", ())),
            None if tight is None else TightExponent.from_dict(tight),
            None if predicted is None else tuple(map(int, predicted)),
        )


def bits_needed(scores: Scores, exponent: Fraction, gap: int) -> int:
    """How many bits of a logarithm keep every ranking."""
    # A gap of 1 + 1/B is 1/(B + 1) doublings at least; all roundings must be less.
    steps = scores.classes * (scores.attributes + 2) * (gap + 1)
    # Two classes, three attributes, B = 100, exponent 1/10: 2 * 5 * 101 * 10 = 10,100
    # steps. They need 14 bits, and one is to spare.
    ratio = Fraction(steps) / exponent
    return max(1, (ratio.numerator // ratio.denominator).bit_length() + 1)


def margin_of(scores: Scores, exponent: Fraction, bits: int, jitter: int = 0) -> float:
    """Natural logarithm of the odds that surely keep their order with so few bits."""
    steps = _bound_lead_change(scores, jitter)
    return float(Fraction(steps, 2**bits) / exponent) * log(2)


def jitter_of(scores: Scores, exponent: Fraction, bits: int, margin: Fraction) -> int:
    """By how much points may be moved so that odds beyond a margin keep their order."""
    points = float(margin * exponent) / log(2) * (1 - 1e-9)
    most = int(Fraction(points) * 2**bits) - _bound_lead_change(scores)
    return max(0, most // (2 * (scores.attributes + 1)))


def _bound_lead_change(scores: Scores, jitter: int = 0) -> int:
    """Points by which all roundings, head starts and moves may change a lead."""
    n = scores.attributes
    return scores.classes * (n + 2) + 2 * (n + 1) * jitter


def round_to_scorecard(
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
    # n + 1 points of a sum are each rounded up by hardly more than one, so n + 2 of
    # head start decide every tie; with the bits needed K(n + 2) is less than any gap.
    k, head = scores.classes, scores.attributes + 2
    points, by = RoundedScores(scores, exponent, bits), moved or repeat(0)
    base = [points.of(w) + c * head + next(by) for c, w in enumerate(scores.weights)]
    low = min(base)
    rows: Points = tuple(
        tuple(
            _shift_to_zero([points.of(x) + next(by) for x in row], k) for row in table
        )
        for table in scores.factors
    )
    return Scorecard(
        target,
        labels,
        attributes,
        # Divided by K a sum of class c leaves c: no two are ever equal.
        tuple(k * (b - low) + c for c, b in enumerate(base)),
        rows,
        k << bits,
    )


def _shift_to_zero(row: Sequence[int], classes: int) -> tuple[int, ...]:
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
        # The bracket is a few units wide; times the numerator and divided by this it
        # is below 2**-20 points.
        self.parts = exponent.denominator << self.fine
        self.known: dict[tuple[int, int], int] = {}

    def of(self, x: Fraction) -> int:
        """The points: at least the exact ones, and at most 1 + 2**-20 above."""
        key = x.numerator, x.denominator  # a fraction's own hash is slow
        found = self.known.get(key)
        if found is None:
            _, high = self.logs.bracket(x)
            found = self.known[key] = -(-high * self.exponent.numerator // self.parts)
        return found


# Checking ---------------------------------------------------------------------------


def check_certificate(
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
    if proof.gauge and [len(g) for g in proof.gauge] != [k] * filled.attributes:
        yield "The gauge must be points per attribute and class; it is not."
        return
    if proof.gauge:
        card = card.move_gauge(proof.gauge, -1)
    if proof.gap < gap_of(original, proof.how):
        yield "The gap must be one that the counts have; they can come closer."
    needed = bits_needed(filled, proof.exponent, proof.gap)
    if not proof.coarse and (proof.bits < needed or proof.jitter):
        yield "The points must have more bits to keep every ranking; they have too few."
    if card.scale != k << proof.bits:
        yield "The scale must be the one of the certificate; it is not."
    tight = proof.tight
    yield from () if tight is None else tight.check(filled, proof.exponent)
    points = RoundedScores(filled, proof.exponent, proof.bits)
    base = [points.of(w) + c * head for c, w in enumerate(filled.weights)]
    moved = proof.shifts or (0,) * k
    if len(moved) != k:
        yield "The certificate must say of every class how its belief was moved."
        return
    if card.rule is not None and tuple(card.rule) != tuple(-m for m in moved):
        yield "The declared rule must undo how beliefs were moved; it does not."
    total = [
        t - m
        for t, m in zip(card.totals({}), _drop_ruled_moves(card, moved), strict=True)
    ]
    if not _keeps_rankings(filled, _drop_ruled_moves(card, moved), proof):
        yield "Beliefs must be moved only where no ranking changes."
    # Two moves are at most 2 jitter apart, and each counts K on the card.
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


def _drop_ruled_moves(card: Scorecard, moved: Sequence[int]) -> Sequence[int]:
    """What moves predictions: nothing where a rule undoes it."""
    return (0,) * len(moved) if card.rule is not None else moved


def _keeps_rankings(scores: Scores, moved: Sequence[int], proof: Certificate) -> bool:
    """Whether no class that gains on another gets past it."""
    classes = range(scores.classes)
    if proof.predicted is not None:
        return _keeps_best(scores, moved, proof, proof.predicted)
    return all(
        _is_never_above(scores, c, d) or _stays_below(scores, (c, d), moved, proof)
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
    rounded = k * _bound_lead_change(scores, proof.jitter)
    gained = Fraction(moved[pair[1]] - moved[pair[0]] + rounded, k << proof.bits)
    try:
        led = find_narrow_lead(
            scores, pair, float(gained / proof.exponent) * (1 + 1e-9)
        )
    except TooLarge:
        return False
    return led is None


def _keeps_best(
    scores: Scores,
    moved: Sequence[int],
    proof: Certificate,
    predicted: tuple[int, ...],
) -> bool:
    """Whether the best of some classes stays above all others, wherever it is best."""
    rows = TupleLeads(scores, predicted)
    if not rows.is_small or not rows.is_sure:
        return False
    rounded = _bound_lead_change(scores, proof.jitter)
    by = np.array([float(Fraction(m, scores.classes << proof.bits)) for m in moved])
    lost = by[None, :] - by[:, None] + float(Fraction(rounded, 1 << proof.bits))
    left = float(proof.exponent) * rows.leads / log(2) - lost
    # A class that gains nothing on another stays below it, as rankings do.
    gains = (by[None, :] > by[:, None]) | (rows.leads < 0)
    return bool((left[gains & np.isfinite(rows.leads)] > NOISE).all())


def _is_never_above(scores: Scores, c: int, d: int) -> bool:
    """Whether class c ranks below class d for every row."""
    odds = pair_odds(scores, (c, d)).odds
    return odds is not None and (odds < 1 or (odds == 1 and c < d))


def gap_of(original: Scores, how: str) -> int:
    """The gap of the scores of whole rows, from integers or from tuples."""
    found = true_gap(original) if how == TUPLES else None
    return gap_bound(original) if found is None else found


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


# From scores and an exponent to a scorecard -----------------------------------------

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


def find_gap(original: Scores) -> tuple[int, str]:
    """How close two scores can come, and how that is known."""
    found = true_gap(original)
    return (gap_bound(original), INTEGERS) if found is None else (found, TUPLES)


@dataclass(frozen=True)
class Jitter:
    """How far every number of a card is moved at random: drawn once, for any scale."""

    margin: Fraction
    """Odds of the original beyond a factor of e to this keep their order."""
    draws: tuple[int, ...]
    """A number of 64 bits for every point."""

    @classmethod
    def draw(cls, margin: Fraction, scores: Scores, seed: int | None) -> Jitter:
        """From the operating system's secure source, unless there is a seed."""
        dice: Random = SystemRandom() if seed is None else Random(seed)
        points = scores.classes * (1 + sum(map(len, scores.factors)))
        return cls(margin, tuple(dice.getrandbits(64) for _ in range(points)))

    def moves(self, most: int) -> Iterator[int]:
        """Whole numbers from minus to plus the most, all alike."""
        return iter((u * (2 * most + 1) >> 64) - most for u in self.draws)


@dataclass(frozen=True)
class CardRounder:
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

    def round_card(
        self,
        exponent: Fraction,
        *,
        bits: int | None = None,
        moves: Sequence[float] = (),
        ruled: bool = False,
        finer: int = FINER,
        predicted: tuple[int, ...] | None = None,
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
        finer
            Bits beyond those that keep rankings.
        predicted
            The classes of which the best is kept, where that is not all of them.
        """
        needed = bits_needed(self.scores, exponent, self.gap)
        used = needed + finer if bits is None else min(bits, needed + finer)
        if used > MOST_BITS:
            raise InputError(
                f"The points must have at most {MOST_BITS:,} bits; {used:,} are needed "
                "to keep every ranking. Ask for fewer with bits, or leave out columns."
            )
        views, scores = self.views, self.scores
        most = 0
        if self.jitter is not None:
            most = jitter_of(scores, exponent, used, self.jitter.margin)
        card = round_to_scorecard(
            scores,
            exponent,
            used,
            target=views.target,
            labels=views.labels,
            attributes=views.attributes,
            moved=None if self.jitter is None else self.jitter.moves(most),
        )
        shifts = _moves_to_points(
            moves or [0.0] * len(views.labels), card.scale, len(card.base)
        )
        coarse = used < needed or most > 0
        margin = margin_of(scores, exponent, used, most) if coarse else 0.0
        card = replace(card, target_type=views.target_type)
        card, gauge = _move_beliefs(card, shifts, ruled).apply_gauge()
        proof = Certificate(
            exponent,
            used,
            self.gap,
            self.how,
            shifts,
            coarse,
            most,
            gauge,
            predicted=predicted,
        )
        keeps = self.keeps
        if coarse:
            odds = factor_words(margin * float(exponent))
            keeps += f", but for classes whose published odds are within {odds}"
        return FlattenedCard(card, views, proof, keeps, margin)


def factor_words(margin: float) -> str:
    """A margin as odds, in words."""
    return f"{exp(margin):.7g}" if margin < 700 else f"e to the power {margin:.0f}"


def _move_beliefs(card: Scorecard, shifts: tuple[int, ...], ruled: bool) -> Scorecard:
    """Move beliefs; undo it for predictions where there is a rule."""
    if not any(shifts):
        return card
    base = tuple(b + s for b, s in zip(card.base, shifts, strict=True))
    return replace(card, base=base, rule=tuple(-s for s in shifts) if ruled else None)


def _moves_to_points(
    moves: Sequence[float], scale: int, classes: int
) -> tuple[int, ...]:
    """Moves as points, in steps that keep classes apart; any rounding will do."""
    return tuple(classes * int(Fraction(m) * scale / classes) for m in moves)
