"""Scorecard: a naive Bayes classifier as whole points to add up; the largest sum wins.

The belief it expresses in a class, an adversary's posterior, is two to the power of its
sum divided by `scale`, relative to the other classes. Whatever is unknown of a person
adds nothing; points are gauged so that this is what the same model as counts or rows
says of somebody of whom it is unknown. Not in the paper: the form in which
NBC-equivalence survives rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log
from typing import Any

import numpy as np

from privet.classifier.class_labels import TEXT, read_classes
from privet.classifier.release import (
    Attribute,
    describe_known,
    describe_type,
    index_of,
)
from privet.classifier.scores import GUARD, Scores
from privet.errors import InputError
from privet.values.logarithms import is_at_most_log

FORM = "privet scorecard 1"
"""What the file says it is."""

MOST_DOUBLINGS = 50_000
"""A card with larger points is refused: it may have been made to fill the memory."""

Points = tuple[tuple[tuple[int, ...], ...], ...]
"""By attribute, value and class."""


Gauge = tuple[tuple[int, ...], ...]
"""Points moved from values to the base, by attribute and class."""


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points per class, attribute and value.

    >>> card = Scorecard("pay", ("low", "high"), (Attribute("home", ("W", "P")),),
    ...                  (6, 1), (((0, 8), (2, 0)),), 4)
    >>> card.predict({"home": "W"}), card.predict({"home": "P"}), card.predict({})
    ('high', 'low', 'low')
    """

    target: str
    """What is predicted."""
    labels: tuple[str, ...]
    """The classes."""
    attributes: tuple[Attribute, ...]
    """The columns that predict it."""
    base: tuple[int, ...]
    """Points of each class before anything is known."""
    points: Points
    """Points of each class for each value."""
    scale: int
    """So many points double a belief."""
    rule: tuple[int, ...] | None = None
    """Points added for the prediction only, not for the belief: the declared rule."""
    target_type: str = TEXT
    """What the classes are: text, integer, number or boolean; labels name them."""

    def __post_init__(self) -> None:
        if self.scale < 1 or len(self.base) != len(self.labels) or not self.labels:
            raise InputError("A scorecard must have a scale and points per class.")
        read_classes(self.labels, self.target_type)
        rows = (row for table in self.points for row in table)
        most = max(map(abs, (*self.base, *(p for row in rows for p in row))))
        if most > MOST_DOUBLINGS * self.scale:
            raise InputError(
                f"Points must be at most {MOST_DOUBLINGS:,} times the scale; a belief "
                "in such a card would be a number nobody can hold."
            )

    # Predicting -----------------------------------------------------------------------

    def totals(self, known: Mapping[int, int]) -> list[int]:
        """The sums that are compared, for values by index."""
        rows = [self.points[i][t] for i, t in known.items()]
        rule = self.rule or (0,) * len(self.base)
        start = [b + r for b, r in zip(self.base, rule, strict=True)]
        return [b + sum(row[c] for row in rows) for c, b in enumerate(start)]

    def ranking(self, known: Mapping[int, int]) -> list[int]:
        """The classes for values by index, the best first."""
        totals = self.totals(known)
        return sorted(range(len(totals)), key=lambda c: (totals[c], c), reverse=True)

    def predict(self, known: Mapping[str, str | None]) -> str:
        """The best label; values that are not on the card add nothing."""
        found = {
            i: t
            for i, a in enumerate(self.attributes)
            if a.name in known and (t := a.code(known[a.name])) is not None
        }
        return self.labels[self.ranking(found)[0]]

    # What an adversary sees -----------------------------------------------------------

    @cached_property
    def scores(self) -> Scores:
        """The beliefs as numbers, correct to about fifteen digits."""
        low = min(self.base)
        return Scores(
            tuple(self.power(b - low) for b in self.base),
            tuple(
                tuple(tuple(map(self.power, row)) for row in table)
                for table in self.points
            ),
            realistic=True,  # what is unknown adds nothing, so nothing is summed over
        )

    @cached_property
    def model(self) -> Scores:
        """The same, where what is not known is summed over, as counts and rows do."""
        return Scores(self.scores.weights, self.scores.factors).normalised

    @cached_property
    def model_slack(self) -> Fraction:
        """How far beliefs may be off the model's where points are added up.

        Nearly nothing on a gauged card: one half of K points per attribute and class.
        """
        sums = [self._sum_beliefs(i) for i in range(len(self.points))]
        apart = sum(max(s) - min(s) for s in sums)
        # Odds that are off by a factor of e**x move a belief by x/4 at most.
        return Fraction(min(1.0, apart * log(2) / 4))

    def _sum_beliefs(self, i: int) -> list[float]:
        """Of each class, the sum over all values of an attribute, in doublings."""
        doublings = np.array([[p / self.scale for p in row] for row in self.points[i]])
        top = doublings.max(axis=0)
        found: list[float] = (top + np.log2(np.exp2(doublings - top).sum(0))).tolist()
        return found

    def apply_gauge(self) -> tuple[Scorecard, Gauge]:
        """The card whose beliefs also hold where values are unknown; what was moved.

        Of each attribute and class as many points go from the values to the base as
        make the beliefs of the values add up to 1. Sums of whole rows stay the same.
        """
        k = len(self.labels)
        gauge = tuple(
            tuple(k * round(Fraction(s) * self.scale / k) for s in self._sum_beliefs(i))
            for i in range(len(self.points))
        )
        return self.move_gauge(gauge, 1), gauge

    def move_gauge(self, gauge: Gauge, sign: int) -> Scorecard:
        """Move points from values to the base, or back with a sign of -1."""
        moved = [sign * sum(by[c] for by in gauge) for c in range(len(self.base))]
        return replace(
            self,
            base=tuple(b + m for b, m in zip(self.base, moved, strict=True)),
            points=tuple(
                tuple(
                    tuple(p - sign * g for p, g in zip(row, by, strict=True))
                    for row in table
                )
                for table, by in zip(self.points, gauge, strict=True)
            ),
        )

    @property
    def slack(self) -> Fraction:
        """How far a posterior of these scores may be off."""
        return Fraction(1, 10**10)

    @property
    def counted(self) -> None:
        """There are no counts to average over."""
        return None

    def power(self, points: int) -> Fraction:
        """What points stand for, to about fifteen digits."""
        # 13 points of scale 4 are 2**3 * 2**(1/4). Only the second part is rounded, and
        # the first never overflows.
        whole, rest = divmod(points, self.scale)
        return Fraction(2.0 ** (rest / self.scale)) * Fraction(2) ** whole

    def gains(self) -> dict[tuple[int, int], int]:
        """The most points by which the belief in one class can lead another's."""
        return self._gains

    @cached_property
    def _gains(self) -> dict[tuple[int, int], int]:
        k = range(len(self.labels))
        found = {(c, d): self.base[c] - self.base[d] for c in k for d in k if c != d}
        for table in self.points:
            about = np.array([[p / self.scale for p in row] for row in table])
            for c, d in found:
                leads = about[:, c] - about[:, d]
                # Floats find the candidates; whole points decide.
                top = leads.max() - GUARD * (1 + abs(leads.max()))
                near = np.flatnonzero(leads >= top).tolist()
                best = max(table[t][c] - table[t][d] for t in near)
                # What is unknown adds nothing, so an attribute need not lower a lead.
                found[c, d] += max(0, best)
        return found

    def is_within(self, odds: Fraction | None) -> bool:
        """Whether no belief leads another by more than these odds, exactly."""
        most = max(self.gains().values(), default=0)
        return odds is None or is_at_most_log(Fraction(most, self.scale), odds)

    def find_surest(self, twice: int = 1) -> tuple[int, Fraction, dict[int, int]]:
        """The class somebody can be surest of, how sure at most, and of whom.

        The bound is attained with two classes; it is rounded up.
        """
        gains = self.gains()
        k = range(len(self.labels))

        def share(c: int) -> float:
            # In the example 7 points of scale 4: odds of 2**1.75 = 3.36, so 77 %.
            leads = [gains[c, d] / self.scale for d in k if d != c]
            return float(1 / (1 + sum(2.0**-lead for lead in leads) / twice))

        label = max(k, key=share)
        rival = max((d for d in k if d != label), key=lambda d: gains[label, d])
        known = {}
        for i, table in enumerate(self.points):
            leads = [row[label] - row[rival] for row in table]
            if max(leads) > 0:
                known[i] = leads.index(max(leads))
        # 1e-3 of a billionth is far more than floats are off here.
        bound = Fraction(ceil(share(label) * 10**9 + 1e-3), 10**9)
        return label, min(bound, Fraction(1)), known

    @property
    def tells_apart(self) -> bool:
        """Whether no two classes can ever have the same sum, whatever is known."""
        k = len(self.labels)
        start = self.totals({})
        # Points of values are multiples of K, so sums have the remainders of the start.
        # In the example 6 and 1 by 2: one sum is even and the other odd, always.
        even = all(p % k == 0 for t in self.points for row in t for p in row)
        return even and len({b % k for b in start}) == k

    # Names ----------------------------------------------------------------------------

    def victim_index(self, name: str) -> int:
        """Where an attribute stands; an error where there is none."""
        return index_of(self.attributes, name)

    def victim(self, known: Mapping[str, str | None]) -> dict[int, int]:
        """What is known of a person, by index; every value must be on the card."""
        found = {self.victim_index(n): v for n, v in known.items()}
        codes = {i: self.attributes[i].code(v) for i, v in found.items()}
        if None in codes.values():
            raise InputError("What is known must be on the scorecard; a value is not.")
        return {i: t for i, t in codes.items() if t is not None}

    def told(self, known: Mapping[int, int]) -> dict[str, str | None]:
        """What is known of a person, in names and values."""
        return describe_known(self.attributes, known)

    # In and out -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The public file."""
        rule = (
            {} if self.rule is None else {"rule": _label_points(self.labels, self.rule)}
        )
        return {
            "form": FORM,
            "how": HOW,
            "target": self.target,
            **describe_type(self.target_type),
            "classes": list(self.labels),
            "scale": self.scale,
            "base": _label_points(self.labels, self.base),
            **rule,
            "attributes": [
                {
                    "name": a.name,
                    "type": a.kind,
                    **({"edges": list(a.edges)} if a.edges else {}),
                    "values": [
                        {"value": v, "points": list(row)}
                        for v, row in zip(a.values, table, strict=True)
                    ],
                }
                for a, table in zip(self.attributes, self.points, strict=True)
            ],
        }

    @classmethod
    def from_dict(cls, stated: Any) -> Scorecard:
        """Read what `to_dict` wrote; anything else is refused."""
        try:
            found = cls._read(stated)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                "scorecard.json must be a scorecard that privet wrote; it is not."
            ) from None
        return found

    @classmethod
    def _read(cls, stated: Any) -> Scorecard:
        if stated["form"] != FORM:
            raise ValueError("another form")
        labels = tuple(_require_text(c) for c in stated["classes"])
        attributes = tuple(
            Attribute(
                _require_text(a["name"]),
                tuple(
                    None if v["value"] is None else _require_text(v["value"])
                    for v in a["values"]
                ),
                a.get("type", "text"),
                tuple(a.get("edges", ())),
            )
            for a in stated["attributes"]
        )
        points = tuple(
            tuple(tuple(_require_whole(p) for p in v["points"]) for v in a["values"])
            for a in stated["attributes"]
        )
        if any(len(row) != len(labels) for table in points for row in table):
            raise ValueError("points per class")
        rule = stated.get("rule")
        return cls(
            _require_text(stated["target"]),
            labels,
            attributes,
            tuple(_require_whole(stated["base"][c]) for c in labels),
            points,
            _require_whole(stated["scale"]),
            None if rule is None else tuple(_require_whole(rule[c]) for c in labels),
            _require_text(stated.get("target_type", TEXT)),
        )

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self.attributes)
        return f"Scorecard({names} → {self.target}: {len(self.labels)} classes)"


HOW = (
    "For each class add its base and its points for every value of a row; a value that "
    "is not listed adds nothing, and stands for what the others of its attribute come "
    "to on average. With a rule, add that too. The largest sum is the "
    "prediction. The belief in a class is 2 to the power of its sum without the rule "
    "divided by scale, relative to the other classes. Whole numbers may be long."
)
"""How to use the file, said in the file."""


def _label_points(labels: Sequence[str], numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(labels, numbers, strict=True))


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _require_whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number")
    return value
