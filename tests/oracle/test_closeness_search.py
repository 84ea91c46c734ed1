"""Between what any release needs and small powers reach: found, or proved absent."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet as pv
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from oracle.test_closeness import random_prior
from oracle.test_safety import every_row, proved
from privet.classifier.scores import Scores
from privet.classifier.transforms import closeness_search
from privet.classifier.transforms.closeness_search import ClosenessSearch, Weighing
from privet.classifier.transforms.r_closeness import (
    find_crossing_blocks,
    find_least_r,
    limit_r,
    staircase,
)
from privet.classifier.transforms.rounding import check_certificate

WHY = {"inversion": "a test"}
HALF = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]

# By the definition ------------------------------------------------------------------


def tables_of(*by_class: list[tuple[int, ...]]) -> Any:
    return [[list(x) for x in zip(*table, strict=True)] for table in by_class]


EASY = named(
    (40, 30, 30),
    tables_of([(20, 20), (20, 10), (10, 20)], [(20, 20), (18, 12), (12, 18)]),
)
HARD = named(
    (40, 36, 36),
    tables_of([(20, 20), (27, 9), (9, 27)], [(20, 20), (20, 16), (16, 20)]),
)


def beliefs(scores: Scores, at: Weighing, row: dict[int, int]) -> list[float]:
    logs = [np.log(float(x)) * at.power for x in scores.of(row)]
    sums = np.exp(np.array(logs) + np.array(at.weights))
    found: list[float] = (sums / sums.sum()).tolist()
    return found


def factor(scores: Scores, at: Weighing, prior: list[Fraction]) -> float:
    """How far the beliefs of anybody are from the prior."""
    return max(
        max(p / float(f), float(f) / p)
        for row in every_row(scores)
        for p, f in zip(beliefs(scores, at, row), prior, strict=True)
    )


def ranks_alike(scores: Scores, at: Weighing) -> bool:
    for row in every_row(scores):
        p, old = beliefs(scores, at, row), scores.ranking(row)
        if any(p[a] < p[b] - 1e-12 for a, b in pairwise(old)):
            return False
    return True


def close(views: pv.ClassifierViews, prior: list[Fraction], r: object) -> pv.Promise:
    stated = dict(zip(views.labels, prior, strict=True))
    return pv.Promise(pv.Bayesian(prior=stated), pv.Ratio(r))


def open_zones(seed: int) -> tuple[Scores, list[Fraction], float, float]:
    """Three classes whose limit is above what any release needs."""
    dice = random.Random(seed)
    while True:
        sizes, cells = random_views(dice, classes=3, attributes=2, rows=30)
        views = named(sizes, cells).smoothed()
        if len(sizes) != 3 or prod(map(len, cells)) < 2:
            continue
        prior = random_prior(dice, 3)
        needed = find_least_r(views.scores, prior).r
        limit = limit_r(prior, find_crossing_blocks(views.scores))
        if limit > needed * 1.03:
            return views.scores, prior, needed, limit


# The search -------------------------------------------------------------------------


def test_what_is_reached_of_the_first_example() -> None:
    search = ClosenessSearch(EASY.scores, HALF)
    found = search.settle(1.4144).found
    assert found is not None
    assert factor(EASY.scores, found, HALF) <= 1.4144
    assert ranks_alike(EASY.scores, found)
    assert search.measure(found) == pytest.approx(factor(EASY.scores, found, HALF))
    assert search.settle(1.4141) == replace(search.settle(1.4141), found=None)


def test_the_optimum_of_the_second_is_bracketed() -> None:
    search = ClosenessSearch(HARD.scores, HALF)
    none = search.settle(1.4383)
    assert (None, True) == (none.found, none.settled)
    found = search.settle(1.4397).found
    assert found is not None
    assert factor(HARD.scores, found, HALF) <= 1.4397
    assert ranks_alike(HARD.scores, found)
    low, high, best = search.bracket(2**0.5, 1.5)
    assert best is not None
    assert 1.437 < low < high < 1.441
    assert high / low <= 1.001
    assert high == pytest.approx(factor(HARD.scores, best, HALF))


@pytest.mark.parametrize("seed", range(25))
def test_found_is_close_and_none_is_not_found_by_trying(seed: int) -> None:
    scores, prior, needed, limit = open_zones(seed)
    dice = random.Random(seed)
    r = needed + (limit - needed) * dice.random()
    search = ClosenessSearch(scores, prior)
    answer = search.settle(r)
    assert answer.settled or answer.boxes > closeness_search.MOST_BOXES / 2
    if answer.found is not None:
        assert factor(scores, answer.found, prior) <= r
        assert ranks_alike(scores, answer.found)
        return
    most = 4 * np.log(r) / max(search.rows.spread.max() * 2, 1e-9)
    rng = np.random.default_rng(seed)
    for _ in range(3000):
        at = Weighing(
            float(rng.uniform(0, most)), (*rng.normal(0, 0.3, 2).tolist(), 0.0)
        )
        if search.keeps_order(at):
            assert search.measure(at) > r


@pytest.mark.parametrize("seed", range(10))
def test_a_larger_power_is_as_close(seed: int) -> None:
    scores, prior, _, limit = open_zones(seed)
    search = ClosenessSearch(scores, prior)
    r = limit * 1.2
    start = search.settle(r).found
    assert start is not None
    more = search.raise_power(start, r)
    assert start.power <= more.power <= max(1.0, start.power)
    assert factor(scores, more, prior) <= r
    assert ranks_alike(scores, more)


# Through the front door -------------------------------------------------------------


@pytest.mark.parametrize(("views", "r"), [(EASY, "1.4144"), (HARD, "1.44")])
def test_what_was_refused_is_published(
    views: pv.ClassifierViews, r: str, tmp_path: Path
) -> None:
    release = pv.publish(views, [close(views, HALF, r)]).accept(WHY)
    assert release.safe
    for row in every_row(views.scores):
        assert views.scores.ranking(row) == release.card.ranking(row)
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


def test_a_refusal_has_a_proof_and_a_bracket() -> None:
    with pytest.raises(pv.Infeasible, match="which is proved") as no:
        pv.publish(HARD, [close(HARD, HALF, "1.43")])
    assert 1.4383 < float(no.value.best) < 1.441
    assert "Any release needs at least 1.4142" in str(no.value)
    better = pv.publish(HARD, [close(HARD, HALF, no.value.best)])
    assert pv.Verdict.SAFE is better.audit.findings[0].verdict


def test_what_is_not_settled_is_not_called_infeasible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closeness_search, "MOST_TUPLES", 3)
    with pytest.raises(pv.Undecided, match="was not settled") as no:
        pv.publish(HARD, [close(HARD, HALF, "1.44")])
    assert Fraction(3, 2) == no.value.best
    assert float(no.value.needed) == pytest.approx(2**0.5, abs=1e-5)
    assert not isinstance(no.value, pv.Infeasible)


# Steps ------------------------------------------------------------------------------


def best_of(scores: Scores, row: dict[int, int], classes: tuple[int, ...]) -> int:
    x = scores.of(row)
    return max(classes, key=lambda c: (x[c], c))


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_every_step_can_be_published(seed: int, step: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    sizes, cells = (0,), []
    while len(sizes) != 3:
        sizes, cells = random_views(dice, classes=3)
    views = named(sizes, cells).smoothed()
    prior = random_prior(dice, 3)
    limit, classes = staircase(prior)[step - 1]
    r = Fraction(limit * 1.02).limit_denominator(10**6)
    method = pv.ExtendedSafetyTransform(step=step)
    release = pv.publish(views, [close(views, prior, r)], method=method).accept(WHY)
    assert release.safe
    scores = release.made.views.scores
    for row in every_row(scores):
        assert best_of(scores, row, classes) == release.card.ranking(row)[0]
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    found = method.staircase(views, dict(zip(views.labels, prior, strict=True)))
    assert set(found[step - 1].classes) == {views.labels[c] for c in classes}


def test_a_step_is_proved_to_be_the_one_it_says() -> None:
    method = pv.ExtendedSafetyTransform(step=1)
    made = method.apply(HARD, [close(HARD, HALF, "1.2")])
    assert [] == proved(made, "smooth")
    scores = made.views.scores
    for other in (None, (1,), (0, 1)):
        forged = replace(made.proof, predicted=other)
        assert list(check_certificate(made.card, scores, scores, forged))


def test_a_step_needs_what_any_release_needs() -> None:
    method = pv.ExtendedSafetyTransform(step=3)
    with pytest.raises(pv.Infeasible, match="by any release that predicts") as no:
        pv.publish(HARD, [close(HARD, HALF, "1.1")], method=method)
    assert "--step 1" in no.value.advice[-1]
    with pytest.raises(pv.InputError, match="step must be at most 3; got 4"):
        pv.publish(
            HARD,
            [close(HARD, HALF, "2")],
            method=pv.ExtendedSafetyTransform(step=4),
        )
    with pytest.raises(pv.InputError, match="step must go with"):
        pv.ExtendedSafetyTransform(step=1, rule="declared")
