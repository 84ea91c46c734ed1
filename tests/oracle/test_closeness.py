"""r-closeness: what no release can reach, and what ours do."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import log

import pytest

import privet as pv
from oracle.classifiers import Cells, Sizes, difference, random_views
from oracle.test_classifiers import named
from oracle.test_safety import every_row, proved
from privet.classifier.transforms.r_closeness import (
    closeness,
    find_crossing_blocks,
    find_least_r,
    least_r_for_ranking,
    least_r_for_top,
    limit_r,
    staircase,
)


def random_prior(dice: random.Random, k: int) -> list[Fraction]:
    parts = [dice.randint(1, 6) for _ in range(k)]
    return [Fraction(p, sum(parts)) for p in parts]


def published(
    sizes: Sizes, cells: Cells, prior: list[Fraction], r: object, rule: str
) -> object:
    views = named(sizes, cells)
    stated = dict(zip(views.labels, prior, strict=True))
    promise = pv.Promise(pv.Bayesian(prior=stated), pv.Ratio(r))
    made = pv.publish(views, promise, method=pv.ExtendedSafetyTransform(rule=rule))
    return made.accept({"inversion": "a test"})


@pytest.mark.parametrize("rule", ["argmax", "declared"])
@pytest.mark.parametrize("seed", range(25))
def test_what_is_published_is_close_and_ranks_alike(seed: int, rule: str) -> None:
    dice = random.Random(seed)
    for _ in range(3):
        sizes, cells = random_views(dice, classes=3)
        prior = random_prior(dice, len(sizes))
        r = Fraction(dice.choice(["1.2", "2", "4"]))
        try:
            made = published(sizes, cells, prior, r, rule)
        except (pv.Infeasible, pv.Undecided) as error:
            no = error
        else:
            no = None
        if no is not None:
            assert "argmax" == rule
            assert no.best > r * (1 - Fraction(1, 10**6))
            continue
        original, card = made.made.views.scores, made.card
        for known in every_row(original):
            assert not difference(original.of(known), card.totals(known), "full")
            found = card.scores.posterior(known)
            assert closeness(found, prior) <= r * (1 + Fraction(1, 10**8))
        assert [] == proved(made.made, "smooth")


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_for_every_belief_with_that_ranking(seed: int) -> None:
    """Look at a fine grid of beliefs: none with the ranking is closer."""
    dice = random.Random(seed)
    k, parts = dice.choice([2, 3]), 24
    prior = random_prior(dice, k)
    for numbers in product(range(1, parts), repeat=k):
        if sum(numbers) != parts or len(set(numbers)) < k:
            continue
        belief = [Fraction(n, parts) for n in numbers]
        ranking = sorted(range(k), key=lambda c: -belief[c])
        r = float(closeness(belief, prior)) * (1 + 1e-12)
        assert least_r_for_ranking(prior, ranking) <= r
        assert least_r_for_top(prior, ranking[0]) <= r


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_ordered_and_the_limit_is_above_the_bound(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=4)
    scores = named(sizes, cells).smoothed().scores
    prior = random_prior(dice, len(sizes))
    blocks = find_crossing_blocks(scores)
    assert sorted(range(len(sizes))) == sorted(c for b in blocks for c in b)
    for known in every_row(scores):
        if len(known) == len(cells):
            order = scores.ranking(known)
            places = [next(j for j, b in enumerate(blocks) if c in b) for c in order]
            assert sorted(places) == places
    assert find_least_r(scores, prior).r <= limit_r(prior, blocks) * (1 + 1e-9)


def test_two_classes_need_one_over_twice_the_smaller_prior() -> None:
    sizes, cells = (5, 5), [[[4, 1], [1, 4]]]
    prior = [Fraction(3, 4), Fraction(1, 4)]
    with pytest.raises(pv.Infeasible, match="cannot be kept by any release") as no:
        published(sizes, cells, prior, "1.99", "argmax")
    assert 2 == no.value.best
    assert published(sizes, cells, prior, "2.01", "argmax").safe
    assert published(sizes, cells, prior, "1.01", "declared").safe


def test_the_staircase_ends_where_every_class_is_predicted() -> None:
    points = staircase([Fraction(3, 4), Fraction(1, 4)])
    assert [(1.0, (0,)), (2.0, (0, 1))] == points


@pytest.mark.parametrize("seed", range(12))
def test_stairs_are_what_restricted_classifiers_predict(seed: int) -> None:
    """Weigh every tuple by its score; predict some classes only; compare."""
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=4)
    views = named(sizes, cells).smoothed()
    prior = random_prior(dice, len(sizes))
    method = pv.ExtendedSafetyTransform()
    found = method.staircase(views, dict(zip(views.labels, prior, strict=True)))
    assert len(sizes) == len(found)
    assert found == sorted(found, key=lambda s: s.r)
    assert (1, 1.0) == (found[0].r, pytest.approx(found[-1].alike))
    scores = views.scores
    for step in found:
        chosen = [views.labels.index(c) for c in step.classes]
        total = alike = right = Fraction(0)
        for row in product(*(range(len(t)) for t in cells)):
            x = scores.of(dict(enumerate(row)))
            best = max(chosen, key=lambda c: (x[c], c))
            top = max(range(len(x)), key=lambda c: (x[c], c))
            total += sum(x)
            alike += sum(x) * (best == top)
            right += x[best]
        assert step.alike == pytest.approx(float(alike / total))
        assert step.right == pytest.approx(float(right / total))
        assert set(step.to_dict()) == {"r", "classes", "alike", "right"}


@pytest.mark.parametrize("seed", range(15))
def test_two_classes_with_a_rule_use_all_the_room_there_is(seed: int) -> None:
    """Flattened a little less, and moved as one likes, somebody is no longer close."""
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=2)
    prior, r = random_prior(dice, 2), Fraction(dice.choice(["1.1", "1.3", "2"]))
    made = published(sizes, cells, prior, r, "declared")
    scores = made.made.views.scores
    odds = [x[1] / x[0] for known in every_row(scores) for x in [scores.of(known)]]
    spread = log(max(odds)) - log(min(odds))
    low = max(prior[1] / r, 1 - r * prior[0])
    high = min(r * prior[1], 1 - prior[0] / r)
    if made.exponent < 1 and 0 < low < high < 1:
        room = log(high / (1 - high)) - log(low / (1 - low))
        assert room == pytest.approx(float(made.exponent) * spread, rel=0.05)
        assert float(made.exponent) * spread <= room * (1 + 1e-6)


def test_infeasible_says_what_is_left() -> None:
    with pytest.raises(pv.Infeasible) as no:
        published(
            (5, 5),
            [[[4, 1], [1, 4]]],
            [Fraction(3, 4), Fraction(1, 4)],
            "1.5",
            "argmax",
        )
    assert "no more can be predicted than c0" in no.value.advice[-1]
    assert "50 % of people" in no.value.advice[-1]


def test_a_ceiling_needs_no_prior() -> None:
    views = named((5, 5), [[[4, 1], [1, 4]]])
    promise = pv.Promise(
        pv.Bayesian(prior={"c0": "3/4", "c1": "1/4"}), pv.Ceiling("0.9")
    )
    with pytest.raises(pv.InputError, match="a ceiling needs no prior"):
        pv.publish(views, promise)
