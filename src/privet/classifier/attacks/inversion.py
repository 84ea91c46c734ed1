"""Inversion attack on a published classifier: the original counts, worked out.

A scorecard tells the ratios of the original counts, to an unknown power. Whoever knows
the class sizes reads the power off the base points, and ratios of whole numbers give
away the numbers. Published counts and synthetic rows tell what the scorecard behind
them tells, as far as whole rows do: the least belief of every value is 1, so the least
count of a class is what 1 was scaled to, and dividing by it gives the card back. A red
team, not part of any promise; so that stewards see what is not promised.
Mozafari, Zaniolo 2009, section 6.3, hold that the original views cannot be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from typing import Any

import attrs
import numpy as np

from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.errors import InputError, suggest_names
from privet.values import exact
from privet.values.exact import Number

# The card behind published counts ---------------------------------------------------

SCALE = 2**44
"""Points of the card that double a belief."""

Doubts = list[list[float]]
"""How far a ratio of two classes may be off, by attribute and value; as a share."""


def reconstruct_card(views: ClassifierViews) -> tuple[Scorecard, Doubts]:
    """The card that published counts were made of, and how precisely it is known."""
    k = range(len(views.labels))
    base = [log2(p) for p in views.sizes]
    tables: list[list[list[float]]] = []
    doubts: Doubts = []
    for table in views.cells:
        # N = unit * belief for each value. The belief of a class is its size divided by
        # the sums of its beliefs, one sum per attribute: Step 3 undone.
        ones = [_estimate_log_unit([row[c] for row in table]) for c in k]
        tables.append([[log2(row[c]) - ones[c] for c in k] for row in table])
        # A count is off by at most 1/2, and in a ratio these shares add up.
        doubts.append([sum(0.5 / max(n, 1) for n in row) for row in table])
        for c in k:  # take the sum of the beliefs off the class size
            base[c] -= log2(sum(row[c] for row in table)) - ones[c]
    card = Scorecard(
        views.target,
        views.labels,
        views.attributes,
        tuple(map(_to_points, base)),
        tuple(tuple(tuple(map(_to_points, row)) for row in t) for t in tables),
        SCALE,
    )
    return card, doubts


def _estimate_log_unit(counts: Sequence[int]) -> float:
    """What a belief of 1 was scaled to, as a logarithm: the least count, evened out."""
    least = min(counts)
    alike = [n for n in counts if n <= least + 1]
    whole = sum(alike)
    return log2(whole) - log2(len(alike)) if whole else 0.0


def _to_points(doublings: float) -> int:
    return round(doublings * SCALE)


# The attack -------------------------------------------------------------------------

Cells = tuple[tuple[tuple[int | None, ...], ...], ...]
"""Guesses by attribute, value and class; None: no guess."""


MOST_GUESSES = 200_000
"""Counts that may be guessed while exponents are tried."""

ALIKE = 1e-9
"""Class sizes so near to each other tell no exponent."""


@dataclass(frozen=True, eq=False)
class RecoveredCounts:
    """What an inverter takes for the original counts. Sensitive where it is right."""

    exponent: float
    """What scores were raised to, as far as the inverter can tell."""
    cells: Cells
    """The counts, guessed."""

    def right(self, truth: ClassifierViews) -> Fraction:
        """The share of the original counts that are guessed exactly."""
        pairs = [
            (guess, n)
            for table, true in zip(self.cells, truth.cells, strict=True)
            for row, counts in zip(table, true, strict=True)
            for guess, n in zip(row, counts, strict=True)
        ]
        return Fraction(sum(g == n for g, n in pairs), max(len(pairs), 1))

    def __repr__(self) -> str:
        return f"Recovered(exponent about {self.exponent:.4g})"


@attrs.frozen(init=False)
class Inverter:
    """Somebody who knows how a classifier was flattened, and the class sizes.

    >>> Inverter({"50K": 2, "70K": 5}).words()
    'someone who knows how the classifier was made, and the size of each class'
    """

    class_sizes: Mapping[str, int]
    """Rows per class: often public."""
    smoothing: Fraction
    """What was added to every count; 1 is the usual choice."""
    margin: Fraction
    """How far numbers were moved at random, as the release declares."""

    def __init__(
        self,
        class_sizes: Mapping[str, int],
        *,
        smoothing: Number = 1,
        margin: Number = 0,
    ) -> None:
        if not class_sizes or any(n <= 0 for n in class_sizes.values()):
            raise InputError("class_sizes must be rows per class, each above 0.")
        self.__attrs_init__(
            dict(class_sizes),
            exact.fraction(smoothing, "smoothing"),
            exact.fraction(margin, "margin"),
        )

    def words(self) -> str:
        """Who this is, as a noun phrase."""
        return (
            "someone who knows how the classifier was made, and the size of each class"
        )

    def attack(self, release: Any) -> RecoveredCounts:
        """Guess every original count from a release, its scorecard, or its counts."""
        card = getattr(release, "card", release)
        doubts: Doubts | None = None
        if isinstance(card, ClassifierViews):
            card, doubts = reconstruct_card(card)
        if not isinstance(card, Scorecard):
            raise InputError("An inverter must have a published classifier to attack.")
        sizes = self._look_up_sizes(card.labels)
        beta = self._estimate_exponent(card, sizes)
        tables = [
            self._recover_attribute(card, i, sizes, beta, doubts[i] if doubts else None)
            for i in range(len(card.attributes))
        ]
        return RecoveredCounts(beta, tuple(tables))

    def _look_up_sizes(self, labels: Sequence[str]) -> list[int]:
        missing = [c for c in labels if c not in self.class_sizes]
        if missing:
            known = list(self.class_sizes)
            raise InputError(
                f"class_sizes must name every class; {missing[0]!r} is missing. "
                f"{suggest_names(missing[0], known)}"
            )
        return [self.class_sizes[c] for c in labels]

    def _estimate_exponent(self, card: Scorecard, sizes: Sequence[int]) -> float:
        """From base points and class sizes; by trial where all classes are alike."""
        start = card.totals({})
        c, d = int(np.argmax(sizes)), int(np.argmin(sizes))
        apart = log2(sizes[c]) - log2(sizes[d])
        if apart > ALIKE:
            # What ties were decided by, see `round_to_scorecard`: K(n + 2) + 1 points
            # per place. Of two classes and three attributes 2 * 5 + 1 = 11.
            head = (c - d) * len(sizes) * (len(card.attributes) + 2) + (c - d)
            lead = (start[c] - start[d] - head) / card.scale
            return max(lead / apart, 1e-6)
        cells = len(sizes) * sum(map(len, card.points))
        steps = min(400, max(20, MOST_GUESSES // cells))
        tried = [k / steps for k in range(1, steps + 1)]
        return max(tried, key=lambda b: (self._score_exponent(card, sizes, b), b))

    def _score_exponent(
        self, card: Scorecard, sizes: Sequence[int], beta: float
    ) -> float:
        """How well an exponent makes counts that add up; the best is the truth."""
        misses = [
            abs(sum(row[c] or 0 for row in table) - n) / n
            for i in range(len(card.attributes))
            for table in [self._recover_attribute(card, i, sizes, beta)]
            for c, n in enumerate(sizes)
        ]
        return -round(sum(misses), 6)

    def _recover_attribute(
        self,
        card: Scorecard,
        i: int,
        sizes: Sequence[int],
        beta: float,
        doubts: Sequence[float] | None = None,
    ) -> tuple[tuple[int | None, ...], ...]:
        """Counts of one attribute: ratios of whole numbers that add up to the sizes."""
        extra = self.smoothing * len(card.points[i])
        wholes = [Fraction(n) + extra for n in sizes]
        per = [float(w / wholes[0]) for w in wholes]
        # (values, classes): the smoothed count in a class per one in the first.
        ratios = [
            [
                _power((row[c] - row[0]) / card.scale / beta) * per[c]
                for c in range(len(sizes))
            ]
            for row in card.points[i]
        ]
        sure = _precision(card, beta) + float(self.margin) / (len(card.points) + 1)
        precision = [sure + d / beta for d in doubts or [0.0] * len(ratios)]
        scales = self._solve_scales(ratios, wholes, precision)
        return tuple(
            tuple(self._round_count(s * x, n) for x, n in zip(row, sizes, strict=True))
            for s, row in zip(scales, ratios, strict=True)
        )

    def _round_count(self, smoothed: float, size: int) -> int | None:
        if not abs(smoothed) < 2**53:
            return None
        count = round(smoothed - float(self.smoothing))
        return count if 0 <= count <= size else None

    def _solve_scales(
        self,
        ratios: list[list[float]],
        wholes: Sequence[Fraction],
        precision: Sequence[float],
    ) -> list[float]:
        """The first class's smoothed count of each value."""
        if len(ratios) <= len(wholes):  # as many equations as unknowns
            # Row c: the sum over values of scale * ratio is the whole of class c.
            matrix = np.array(ratios).T
            found = np.linalg.lstsq(matrix, np.array(wholes, dtype=float), rcond=None)
            return [float(s) for s in found[0]]
        unit = self.smoothing.denominator
        most = max(1, int(wholes[0] * unit))
        least = [
            _find_denominator(row, most, p) / unit
            for row, p in zip(ratios, precision, strict=True)
        ]
        return _fit_scales(least, ratios, [float(w) for w in wholes])


def _power(doublings: float) -> float:
    """Two to a power; a wrong exponent may ask for the impossible."""
    return float(2.0 ** min(max(doublings, -200.0), 200.0))


def _precision(card: Scorecard, beta: float) -> float:
    """How far a ratio may be off: points are rounded up, and then raised."""
    return max(2 * len(card.labels) / card.scale / beta, 1e-13)


def _find_denominator(row: Sequence[float], most: int, precision: float) -> int:
    """The least whole number that makes whole numbers of all ratios, nearly."""
    best = 1
    for x in row[1:]:
        # 2/3 asks for 3; then 3/4 * 3 = 9/4 asks for 4 times as much: 12.
        off = min(2 * precision, 0.5)
        _, found = _find_simplest_fraction(x * best * (1 - off), x * best * (1 + off))
        if found * best > most:
            found = (
                Fraction(x * best).limit_denominator(max(1, most // best)).denominator
            )
        best *= found
    return best


def _find_simplest_fraction(
    low: float, high: float, depth: int = 60
) -> tuple[int, int]:
    """The fraction between two positive numbers with the least denominator.

    >>> between = (0.33, 0.34), (2.9, 3.1), (0.142857, 0.142858)
    >>> [_find_simplest_fraction(low, high) for low, high in between]
    [(1, 3), (3, 1), (1, 7)]
    """
    whole = ceil(low)
    if whole <= high or not depth or low > 2**40:
        return whole, 1
    # No whole number lies between: take the whole part off and turn it round.
    # Of 0.33 to 0.34 that is 2.94 to 3.03, where 3 lies: 1/3.
    below = whole - 1
    part, parts = _find_simplest_fraction(
        1 / (high - below), 1 / (low - below), depth - 1
    )
    return below * part + parts, part


def _fit_scales(
    least: list[float], ratios: list[list[float]], wholes: Sequence[float]
) -> list[float]:
    """Multiply some of the numbers so that all add up to what is known."""
    scales = list(least)
    for _ in range(len(least)):
        missing = [
            w - sum(s * row[c] for s, row in zip(scales, ratios, strict=True))
            for c, w in enumerate(wholes)
        ]
        if missing[0] < 0.5:
            break
        # A value whose true count is a multiple of the least one: it fills what is
        # missing in the first class, and so in the last.
        fits = [
            (abs(round(missing[0] / s) * s * row[c] - missing[c]), t, missing[0] / s)
            for c in (len(wholes) - 1,)
            for t, (s, row) in enumerate(zip(least, ratios, strict=True))
            if abs(missing[0] / s - round(missing[0] / s)) < 1e-3
        ]
        close = [f for f in fits if f[0] < 0.5]
        if not close:
            break
        _, t, times = min(close)
        scales[t] += round(times) * least[t]
    return scales
