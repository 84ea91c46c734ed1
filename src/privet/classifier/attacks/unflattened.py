"""The red team on published counts: the scorecard behind them.

Counts are made of a card's beliefs, scaled to the classes. The least belief of every
value is 1, so the least count of a class is what 1 was scaled to: dividing by it gives
the card back, as far as whole rows tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard

SCALE = 2**44
"""Points of the card that double a belief."""

Doubts = list[list[float]]
"""How far a ratio of two classes may be off, by attribute and value; as a share."""


def card_behind(views: ClassifierViews) -> tuple[Scorecard, Doubts]:
    """The card that published counts were made of, and how precisely it is known."""
    k = range(len(views.labels))
    base = [log2(p) for p in views.sizes]
    tables: list[list[list[float]]] = []
    doubts: Doubts = []
    for table in views.cells:
        ones = [_one([row[c] for row in table]) for c in k]
        tables.append([[log2(row[c]) - ones[c] for c in k] for row in table])
        doubts.append([sum(0.5 / max(n, 1) for n in row) for row in table])
        for c in k:  # take the sum of the beliefs off the class size
            base[c] -= log2(sum(row[c] for row in table)) - ones[c]
    card = Scorecard(
        views.target,
        views.labels,
        views.attributes,
        tuple(map(_points, base)),
        tuple(tuple(tuple(map(_points, row)) for row in t) for t in tables),
        SCALE,
    )
    return card, doubts


def _one(counts: Sequence[int]) -> float:
    """What a belief of 1 was scaled to, as a logarithm: the least count, evened out."""
    least = min(counts)
    alike = [n for n in counts if n <= least + 1]
    whole = sum(alike)
    return log2(whole) - log2(len(alike)) if whole else 0.0


def _points(doublings: float) -> int:
    return round(doublings * SCALE)
