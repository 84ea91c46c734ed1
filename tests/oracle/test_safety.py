"""A flattened classifier ranks as the original does, and is as flat as it says."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log

import pytest

import privet as pv
from oracle.classifiers import difference, random_views
from oracle.test_classifiers import named
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Scores, scores_from_counts
from privet.classifier.transforms.rounding import check_certificate, gap_bound, true_gap
from privet.classifier.transforms.safety_transform import (
    MODES,
    ZEROS,
    FlattenedCard,
    SafetyTransform,
)
from privet.classifier.transforms.zero_counts import fill_zeros, replace_zeros

KEPT = {"smooth": "full"}
LIMITS = (
    pv.Shift("0.3", "0.6"),
    pv.Shift("0.51", "0.8"),
    pv.Ratio("1.5"),
    pv.Ceiling("0.8"),
    pv.Ceiling(below="0.9"),
)


def every_row(scores: Scores) -> list[dict[int, int]]:
    """Every whole tuple."""
    ways = [range(len(table)) for table in scores.factors]
    return [dict(enumerate(chosen)) for chosen in product(*ways)]


def proved(found: FlattenedCard, zeros: str) -> list[str]:
    original = found.views.scores
    return list(
        check_certificate(
            found.card, original, fill_zeros(original, zeros), found.proof
        )
    )


def odds_of(card: Scorecard, rows: list[dict[int, int]]) -> list[float]:
    """The worst odds of beliefs in each row."""
    leads = []
    for known in rows:
        sums = [
            b + sum(card.points[i][t][c] for i, t in known.items())
            for c, b in enumerate(card.base)
        ]
        leads.append((max(sums) - min(sums)) / card.scale)
    return leads


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(8))
def test_every_ranking_is_kept(mode: str, zeros: str, seed: int) -> None:
    dice = random.Random(f"{mode} {zeros} {seed}")
    for _ in range(12):
        sizes, cells = random_views(dice)
        views, limit = named(sizes, cells), dice.choice(LIMITS)
        promise = pv.Promise(pv.Bayesian(), limit)
        found = SafetyTransform(mode=mode, zeros=zeros).apply(views, [promise])
        original, rows = found.views.scores, every_row(views.scores)
        for known in rows:
            before, after = original.of(known), found.card.totals(known)
            assert not difference(before, after, KEPT.get(zeros, zeros))
        assert [] == proved(found, zeros)
        assert found.card.tells_apart
        kept = pv.audit(found.card, promise).verdict
        # A shift that no uniform prior can begin is kept, and told as empty.
        assert kept in (pv.Verdict.SAFE, pv.Verdict.NOT_APPLICABLE)
        read = Scorecard.from_dict(found.card.to_dict())
        assert all(read.totals(k) == found.card.totals(k) for k in rows)
        worst = max(found.card.gains().values()) / found.card.scale
        assert worst == pytest.approx(max(odds_of(found.card, rows)))


@pytest.mark.parametrize("seed", range(40))
def test_the_gap_is_the_least_ratio(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice)
    scores = scores_from_counts(sizes, cells)
    ratios = [
        x[c] / x[d]
        for known in every_row(scores)
        for x in [scores.of(known)]
        for c in range(len(x))
        for d in range(len(x))
        if x[c] > x[d] > 0
    ]
    bound, true = gap_bound(scores), true_gap(scores)
    assert true is not None
    if ratios:
        least = min(ratios)
        assert 1 + Fraction(1, bound) <= least
        assert 1 + Fraction(1, true) <= least
        assert true <= 1.001 / log(least) + 1


@pytest.mark.parametrize("seed", range(30))
def test_a_certificate_changed_by_one_unit_is_refused(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice)
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.8"))
    found = SafetyTransform().apply(named(sizes, cells), [promise])
    card, c = found.card, dice.randrange(len(sizes))
    base = list(card.base)
    base[c] += 1
    assert proved(replace(found, card=replace(card, base=tuple(base))), "smooth")
    i = dice.randrange(len(card.points))
    t = dice.randrange(len(card.points[i]))
    for step in (1, len(sizes)):
        points = [[list(row) for row in table] for table in card.points]
        points[i][t][c] += step
        changed = tuple(tuple(map(tuple, table)) for table in points)
        assert proved(replace(found, card=replace(card, points=changed)), "smooth")
    proof = found.proof
    for other in (
        replace(proof, bits=proof.bits - 1),
        replace(proof, gap=proof.gap - 1),
        replace(proof, exponent=proof.exponent * Fraction(7, 8)),
        replace(proof, exponent=Fraction(0)),
    ):
        assert proved(replace(found, proof=other), "smooth")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("how", ["full", "positive+top", "positive"])
def test_zeros_are_replaced_as_they_say(seed: int, how: str) -> None:
    dice = random.Random(seed)
    for _ in range(40):
        sizes, cells = random_views(dice)
        before = scores_from_counts(sizes, cells)
        after = replace_zeros(before, how)
        assert not after.has_zeros
        for chosen in product(*(range(len(t)) for t in cells)):
            known = dict(enumerate(chosen))
            assert not difference(before.of(known), after.of(known), how)


def test_the_tight_exponent_is_the_largest_of_its_grid() -> None:
    sizes, cells = (7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]]
    views = named(sizes, cells)
    promise = pv.Promise(pv.Bayesian(), pv.Shift("1/2", "2/3"))
    proof = SafetyTransform(zeros="positive").apply(views, [promise]).proof
    from privet.classifier.amplification import amplification

    worst = amplification(views.scores).odds
    assert worst is not None
    p, q = proof.exponent.numerator, proof.exponent.denominator
    assert worst**p <= Fraction(2) ** q
    step = proof.exponent + Fraction(2, 1024)
    assert worst**step.numerator > Fraction(2) ** step.denominator


def test_a_safe_classifier_is_left_as_it_is() -> None:
    views = named((10, 10), [[[9, 9], [1, 1]]])
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.01", "0.99"))
    assert 1 == SafetyTransform().apply(views, [promise]).proof.exponent


def test_fewer_bits_keep_what_is_further_apart_than_the_margin() -> None:
    dice = random.Random(4)
    for _ in range(60):
        sizes, cells = random_views(dice)
        promise = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.8"))
        found = SafetyTransform(bits=dice.randint(7, 12)).apply(
            named(sizes, cells), [promise]
        )
        original = found.views.scores
        for known in every_row(original):
            x, after = original.of(known), found.card.totals(known)
            for c in range(len(x)):
                for d in range(len(x)):
                    if x[d] and float(x[c] / x[d]) > 2.718281828459045**found.margin:
                        assert after[c] > after[d]


@pytest.mark.parametrize("knows", [1, 2, ["a0"]])
def test_whoever_takes_the_unknown_for_the_model_may_be_told_more(
    knows: object,
) -> None:
    views = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
    limit = pv.Shift("0.51", "0.6")
    everything = pv.Promise(pv.Bayesian(), limit)
    little = pv.Promise(pv.Bayesian(knows=knows, unknown="model"), limit)
    a = SafetyTransform().apply(views, [everything])
    b = SafetyTransform().apply(views, [little])
    assert a.proof.exponent <= b.proof.exponent
    assert pv.audit(b.card, little).safe
    if knows != 2:
        assert a.proof.exponent < b.proof.exponent
        assert "breach" == pv.audit(b.card, everything).verdict


@pytest.mark.parametrize("knows", [0, 1, ["a0"]])
def test_knowing_little_is_no_excuse_where_nothing_is_declared(knows: object) -> None:
    views = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
    limit = pv.Shift("0.51", "0.6")
    found = [
        SafetyTransform().apply(views, [pv.Promise(who, limit)]).proof.exponent
        for who in (pv.Bayesian(), pv.Bayesian(knows=knows))
    ]
    assert found[0] == found[1]


def test_nothing_can_be_kept_below_a_guess() -> None:
    views = named((3, 3, 3), [[[1, 2, 0], [2, 1, 3]]])
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.3"))
    with pytest.raises(pv.Infeasible) as no:
        SafetyTransform().apply(views, [promise])
    assert Fraction(1, 3) == no.value.best
