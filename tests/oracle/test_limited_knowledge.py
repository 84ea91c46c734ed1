"""Limited knowledge equals enumeration: what is SAFE is passed by nobody it covers."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import privet as pv
from oracle.classifiers import Cells, Sizes, random_views
from oracle.readings import Listed, random_shares
from oracle.test_classifiers import named
from privet.classifier.transforms.synthetic import (
    make_table_counts,
    make_whole_counts,
    scores_from_card,
)

CASES = int(os.environ.get("PRIVET_CASES", "60"))

READINGS = ("any", "model", "shares", "tilt", "marginals", "table")


class Attacker:
    """A random reading of the unknown: as privet has it, and by its definition."""

    def __init__(self, dice: random.Random, views: pv.ClassifierViews) -> None:
        self.sizes = [len(a.values) for a in views.attributes]
        n = len(self.sizes)
        self.reading = dice.choice(READINGS)
        some = sorted(dice.sample(range(n), dice.randint(0, n)))
        self.knows: Any = dice.choice([dice.randint(0, n), some])
        self.tilt = Fraction(dice.randint(3, 8), 2) if self.reading == "tilt" else 1
        self.shares = random_shares(dice, self.sizes)
        self.rows = [
            tuple(dice.randrange(s) for s in self.sizes)
            for _ in range(dice.randint(1, 6))
        ]
        names = self.knows
        if not isinstance(self.knows, int):
            names = [views.attributes[i].name for i in self.knows]
        self.adversary = pv.Bayesian(names, unknown=self.told(views), tilt=self.tilt)

    def told(self, views: pv.ClassifierViews) -> Any:
        if self.reading in ("any", "model"):
            return self.reading
        if self.reading == "table":
            rows = [
                {
                    a.name: a.values[t]
                    for a, t in zip(views.attributes, row, strict=True)
                }
                for row in self.rows
            ]
            return {"table": rows}
        each = {
            a.name: dict(zip(a.values, shares, strict=True))
            for a, shares in zip(views.attributes, self.shares, strict=True)
        }
        return {"marginals" if self.reading == "marginals" else "shares": each}

    def extremes(self, listed: Listed, chosen: Sequence[int]) -> tuple[Any, Any]:
        """The least and the most that anybody covered believes."""
        ends = [
            self.one(listed, known, chosen) for known in listed.attackers(self.knows)
        ]
        return min(e[0] for e in ends), max(e[1] for e in ends)

    def one(
        self, listed: Listed, known: dict[int, int], chosen: Any
    ) -> tuple[Any, Any]:
        if self.reading == "any":
            return listed.any(known, chosen)
        if self.reading == "model":
            return (listed.model(known, chosen),) * 2
        if self.reading == "table":
            return listed.table(self.rows, known, chosen)
        if self.reading == "marginals":
            return listed.marginals(self.shares, known, chosen)
        return listed.shares(self.shares, known, chosen, self.tilt)


def random_case(seed: int) -> tuple[random.Random, Sizes, Cells, pv.ClassifierViews]:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3)
    views = named(sizes, cells)
    return dice, sizes, cells, views.smoothed(1) if dice.random() < 0.7 else views


def listed_of(views: pv.ClassifierViews) -> Listed:
    return Listed(views.scores.weights, views.scores.factors)


@pytest.mark.parametrize("seed", range(CASES))
def test_beliefs_are_those_of_the_reading(seed: int) -> None:
    dice, _, _, views = random_case(seed)
    attacker, listed = Attacker(dice, views), listed_of(views)
    for c, label in enumerate(views.labels):
        found = pv.belief(views, attacker.adversary, about=label).posterior
        _, most = attacker.extremes(listed, [c])
        if attacker.reading == "marginals":
            assert abs(found - most) < 1e-8
        else:
            assert most == found


MET = 6787
"""Marginals of one value: a ratio that is met exactly, which floats cannot tell."""


@pytest.mark.parametrize("seed", [*range(CASES), *([MET] if MET >= CASES else [])])
def test_safe_is_never_exceeded_and_a_breach_is_one(seed: int) -> None:
    dice, _, _, views = random_case(seed)
    attacker, listed = Attacker(dice, views), listed_of(views)
    k = len(views.labels)
    limit = dice.choice(
        [
            pv.Ceiling(Fraction(dice.randint(11, 19), 20)),
            pv.Ratio(Fraction(dice.randint(11, 40), 10)),
            pv.Shift(
                Fraction(1, k) + Fraction(1, 50), Fraction(dice.randint(14, 19), 20)
            ),
        ]
    )
    (found,) = pv.audit(views, pv.Promise(attacker.adversary, limit)).findings
    broken = []
    for c in range(k):
        before = Fraction(1, k)
        for chosen, prior in (
            ([c], before),
            ([d for d in range(k) if d != c], 1 - before),
        ):
            if len(chosen) > 1 and not isinstance(limit, pv.Shift):
                continue
            ends = attacker.extremes(listed, chosen)
            broken += [e for e in ends if not limit.holds(pv.Belief(prior, _near(e)))]
    if found.verdict.value == "safe":
        assert not broken
    elif found.verdict.value == "breach":
        assert broken
    else:  # floats cannot tell a linear program from a limit that it meets
        assert found.verdict.value == "undecided"
        assert attacker.reading == "marginals" or k > 2


def _near(x: Any) -> Fraction:
    return (
        x if isinstance(x, Fraction) else Fraction(round(x, 9)).limit_denominator(10**9)
    )


@pytest.mark.parametrize("seed", range(CASES // 4))
def test_card_counts_and_rows_agree_and_keep_the_promise(seed: int) -> None:
    dice, _, _, views = random_case(seed)
    attacker = Attacker(dice, views)
    limit = pv.Ceiling(Fraction(dice.randint(12, 19), 20))
    try:
        release = pv.publish(views, pv.Promise(attacker.adversary, limit))
    except pv.Infeasible:
        return
    card = release.card
    points = [
        [[2.0 ** (p / card.scale) for p in row] for row in t] for t in card.points
    ]
    low = min(card.base)
    told = Listed([2.0 ** ((b - low) / card.scale) for b in card.base], points)
    exact = scores_from_card(card)
    counts = make_whole_counts(exact, card)
    shown = listed_of(counts)
    rows = make_table_counts(exact, card, 10**7)
    for c, label in enumerate(card.labels):
        _, most = attacker.extremes(told, [c])
        assert most <= float(limit.level) + 1e-9
        assert attacker.extremes(shown, [c])[1] <= limit.level + Fraction(1, 10**12)
        for known in told.attackers(len(card.attributes)):
            # Adding up the points of what is known is what the model says of it.
            added = _add_up(card, known)
            assert abs(added[c] - told.model(known, [c])) < 1e-5
            assert abs(added[c] - float(shown.model(known, [c]))) < 1e-5
        beliefs = [
            float(pv.belief(x, attacker.adversary, about=label).posterior)
            for x in (card, counts, rows)
        ]
        assert max(beliefs) - min(beliefs) < 1e-4
    assert pv.audit(counts, pv.Promise(attacker.adversary, limit)).safe


def _add_up(card: Any, known: dict[int, int]) -> list[float]:
    totals = [
        (b - min(card.base) + sum(card.points[i][t][c] for i, t in known.items()))
        / card.scale
        for c, b in enumerate(card.base)
    ]
    beliefs = [2.0**t for t in totals]
    return [b / sum(beliefs) for b in beliefs]
