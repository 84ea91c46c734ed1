"""The exponent with three and more classes is the largest that keeps a promise."""

from __future__ import annotations

import random
from bisect import bisect_left
from fractions import Fraction
from itertools import combinations
from math import floor, log2, prod
from pathlib import Path
from typing import Any

import pytest

import privet as pv
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from oracle.test_safety import every_row
from privet.classifier.amplification import amplification
from privet.classifier.posteriors import set_beliefs
from privet.classifier.posteriors.set_beliefs import (
    BeliefSearch,
    list_set_limits,
    passes,
)
from privet.classifier.scores import Scores
from privet.classifier.transforms.largest_exponent import raise_exponent
from privet.classifier.transforms.tight_exponent import TightExponent, search_exponent

LIMITS = (
    pv.Ceiling("0.8"),
    pv.Ceiling(below="0.6"),
    pv.Ratio("1.5"),
    pv.Ratio(2),
    pv.Shift("0.5", "0.8"),
    pv.Shift("0.4", "0.7"),
    pv.Shift("0.6", "0.9"),
)
WHY = {"inversion": "a test"}

# By the definition ------------------------------------------------------------------


def beliefs(scores: Scores, row: dict[int, int], exponent: Fraction) -> list[Any]:
    """The posterior of a whole tuple, scores to a power; exact for a power of 1."""
    x = scores.of(row)
    raised = x if exponent == 1 else [float(s) ** float(exponent) for s in x]
    return [s / sum(raised) for s in raised]


def keeps(limit: pv.Limit, scores: Scores, exponent: Fraction) -> bool:
    """Whether every belief of everybody is within a limit; of a shift also of sets."""
    k = scores.classes
    sizes = range(1, k) if isinstance(limit, pv.Shift) else [1]
    sets = [q for size in sizes for q in combinations(range(k), size)]
    return all(
        limit.holds(pv.Belief(Fraction(len(q), k), min(1, sum(p[c] for c in q))))
        for p in (beliefs(scores, row, exponent) for row in every_row(scores))
        for q in sets
    )


def grid() -> list[Fraction]:
    """Every exponent that is tried: 512 to 1024 of 1024, and halves of them."""
    found = {Fraction(k, 1024 << j) for j in range(8) for k in range(512, 1025)}
    return sorted(found)


def largest_by_definition(limit: pv.Limit, scores: Scores) -> Fraction:
    """The largest exponent of the grid, by halving and looking at every tuple."""
    ways = grid()
    at = bisect_left(ways, True, key=lambda beta: not keeps(limit, scores, beta))
    return ways[at - 1]


def views_with(seed: int, classes: int = 4) -> pv.ClassifierViews:
    """A smoothed random classifier of three classes or more."""
    dice = random.Random(seed)
    while True:
        sizes, cells = random_views(dice, classes=classes, rows=30)
        if len(sizes) > 2 and prod(map(len, cells)) > 1:
            return named(sizes, cells).smoothed()


# The search -------------------------------------------------------------------------


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("seed", range(12))
def test_the_exponent_is_the_one_of_the_definition(limit: pv.Limit, seed: int) -> None:
    scores = views_with(seed).scores
    promise = pv.Promise(pv.Bayesian(), limit)
    found = search_exponent(scores, promise, Fraction(1, 256))
    if list_set_limits(limit, [Fraction(1, scores.classes)] * scores.classes):
        assert largest_by_definition(limit, scores) == found.exponent
        assert found.exact
    if found.beyond is not None:
        assert found.known is not None
        assert found.passed is not None
        assert not keeps(limit, scores, found.beyond)
        after = beliefs(scores, dict(found.known), found.beyond)
        assert sum(after[c] for c in found.passed.classes) >= found.passed.level
        assert [] == list(found.check(scores, found.exponent))
        assert found == TightExponent.from_dict(found.to_dict())


@pytest.mark.parametrize("seed", range(30))
def test_sets_of_classes_are_bounded_as_listed(seed: int) -> None:
    """The limits on the largest sets say what the limit says of every set."""
    dice = random.Random(seed)
    k = dice.randint(2, 6)
    weights = [dice.randint(1, 9) for _ in range(k)]
    prior = [Fraction(w, sum(weights)) for w in weights]
    low = dice.randint(1, 18)
    limit = dice.choice(
        [
            pv.Shift(Fraction(low, 20), Fraction(dice.randint(low + 1, 19), 20)),
            pv.Ratio(Fraction(dice.randint(5, 15), 5)),
        ]
    )
    listed = list_set_limits(limit, prior)
    assert listed is not None
    sizes = range(1, k) if isinstance(limit, pv.Shift) else [1]
    for _ in range(200):
        parts = [dice.randint(1, 99) ** 3 for _ in range(k)]
        after = [Fraction(x, sum(parts)) for x in parts]
        broken = any(x.is_passed(sum(after[c] for c in x.classes)) for x in listed)
        holds = all(
            limit.holds(pv.Belief(sum(prior[c] for c in q), sum(after[c] for c in q)))
            for size in sizes
            for q in combinations(range(k), size)
        )
        assert holds == (not broken)


def test_more_sets_than_can_be_listed_are_left_to_the_odds_of_pairs() -> None:
    assert list_set_limits(pv.Shift("0.5", "0.8"), [Fraction(1, 12)] * 12) is None
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.5", "0.8"))
    sizes = tuple(range(10, 22))
    views = named(sizes, [[[n // 2 for n in sizes], [n - n // 2 for n in sizes]]])
    found = search_exponent(views.scores, promise, Fraction(1, 3))
    assert TightExponent(Fraction(1, 3)) == found


def test_what_is_too_much_to_prepare_is_left_to_them_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.8"))
    monkeypatch.setattr(set_beliefs, "MOST_LEADS", 100)
    found = search_exponent(example().scores, promise, Fraction(1, 3))
    assert TightExponent(Fraction(1, 3)) == found
    release = pv.publish(example(), [promise])
    assert release.exponent is not None
    assert Fraction(1, 2) < release.exponent < Fraction(759, 1024)
    assert pv.Verdict.SAFE is release.audit.findings[0].verdict


@pytest.mark.parametrize("seed", range(8))
def test_a_spent_budget_is_no_proof(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = views_with(seed).scores
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.5"))
    whole = search_exponent(scores, promise, Fraction(1, 256))
    run = BeliefSearch.run
    monkeypatch.setattr(BeliefSearch, "run", lambda self, beta, _: run(self, beta, 6))
    found = search_exponent(scores, promise, Fraction(1, 256))
    assert found.exponent <= whole.exponent
    assert keeps(pv.Ceiling("0.5"), scores, found.exponent)
    assert found.exact == (found.beyond is None or found.passed is not None)
    if found.exponent < whole.exponent:
        assert not found.exact


def test_averaging_over_tables_leaves_half_of_the_odds() -> None:
    scores = example().scores
    rows, worlds = (
        search_exponent(
            scores,
            pv.Promise(pv.Bayesian(averaging=way), pv.Ceiling("0.8")),
            Fraction(1, 256),
        ).exponent
        for way in ("rows", "worlds")
    )
    assert worlds < rows
    assert keeps(pv.Ceiling("2/3"), scores, worlds)


# Through the front door ---------------------------------------------------------------


def example() -> pv.ClassifierViews:
    """Four classes: the gain rule stops at 291 of 1024, and 759 are safe."""
    first = [(24, 9, 4, 3), (6, 30, 14, 10), (10, 5, 25, 10), (5, 6, 4, 15)]
    last = [(30, 10), (20, 40), (25, 25), (3, 27)]
    cells = [
        [list(x) for x in zip(*table, strict=True)] for table in (first, first, last)
    ]
    return named((40, 60, 50, 30), cells)


def test_the_example(tmp_path: Path) -> None:
    views = example()
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.8"))
    release = pv.publish(views, [promise])
    assert Fraction(759, 1024) == release.exponent
    worst = amplification(views.scores).odds
    assert worst is not None
    assert 291 == floor(1024 * 2 / log2(worst))  # odds of 4: from 0.5 to 0.8
    for row in every_row(views.scores):
        assert views.scores.ranking(row) == release.card.ranking(row)
    release.write(
        tmp_path / "out",
        custody=tmp_path / "vault",
        accept=WHY,
        counts=True,
        rows=100_000,
    )
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    proof = release.made.proof if release.made else None
    assert proof is not None
    assert proof.tight is not None
    assert Fraction(760, 1024) == proof.tight.beyond
    assert proof == type(proof).from_dict(proof.to_dict())


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_a_release_is_as_little_flattened_as_its_promise_allows(
    limit: pv.Limit, seed: int
) -> None:
    views = views_with(100 + seed)
    promise = pv.Promise(pv.Bayesian(), limit)
    prior = [Fraction(1, len(views.labels))] * len(views.labels)
    if not list_set_limits(limit, prior):
        pytest.skip("forbids nothing of so few classes")
    release = pv.publish(views, [promise])
    best = largest_by_definition(limit, views.scores)
    assert release.exponent is not None
    # Cards stay a billionth below, which at most costs a step.
    assert best - Fraction(1, 1024) <= release.exponent <= best
    assert keeps(limit, views.scores, release.exponent)
    for row in every_row(views.scores):
        assert views.scores.ranking(row) == release.card.ranking(row)


@pytest.mark.parametrize("seed", range(20))
def test_a_margin_leaves_room_for_what_is_moved(seed: int) -> None:
    views = views_with(seed)
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.6"))
    method = pv.SafetyTransform(margin="0.3", seed=seed)
    made = method.apply(views, [promise])
    assert pv.audit(made.card, promise).safe
    assert made.proof.tight is None or made.proof.exponent == made.proof.tight.exponent


@pytest.mark.parametrize("seed", range(25))
def test_sets_of_classes_are_decided(seed: int) -> None:
    """No verdict is left open where every tuple can be looked at."""
    dice = random.Random(seed)
    views = views_with(seed, classes=6)
    start = Fraction(dice.randint(6, 14), 20)
    limit = pv.Shift(start, start + Fraction(dice.randint(1, 4), 20))
    found = pv.audit(views, pv.Promise(pv.Bayesian(), limit))
    if found.verdict is not pv.Verdict.NOT_APPLICABLE:
        kept = keeps(limit, views.scores, Fraction(1))
        assert (pv.Verdict.SAFE if kept else pv.Verdict.BREACH) is found.verdict


def test_what_the_search_says_of_somebody_is_what_passes_says() -> None:
    scores = example().scores
    listed = list_set_limits(pv.Ceiling("0.8"), [Fraction(1, 4)] * 4)
    assert listed is not None
    search = BeliefSearch(scores, tuple(listed))
    found = search.run(Fraction(1))
    assert found.passed is not None
    assert found.known is not None
    assert passes(scores, found.passed, found.known, Fraction(1))
    assert not passes(scores, found.passed, found.known, Fraction(1, 2))
    assert search.run(Fraction(1, 2)).is_safe
    assert not search.run(Fraction(1), budget=3).finished


# One class, or a prior ----------------------------------------------------------------


def worst_of(scores: Scores, label: int, exponent: Fraction) -> float:
    return max(
        float(beliefs(scores, row, exponent)[label]) for row in every_row(scores)
    )


@pytest.mark.parametrize("seed", range(15))
def test_one_named_class_may_be_flattened_less(seed: int) -> None:
    """Its worst belief need not grow with the exponent; none is missed by a step."""
    views = views_with(seed)
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("0.5"), about=views.labels[0])
    everybody = pv.Promise(pv.Bayesian(), pv.Ceiling("0.5"))
    safe = search_exponent(views.scores, everybody, Fraction(1, 256)).exponent
    found = raise_exponent(views, views.scores, promise, safe)
    assert worst_of(views.scores, 0, found) <= 0.5 + 1e-7
    larger = (Fraction(k, 1024) for k in range(floor(found * 1024) + 2, 1025))
    assert all(worst_of(views.scores, 0, beta) > 0.5 - 1e-7 for beta in larger)
    release = pv.publish(views, [promise])
    assert pv.Verdict.SAFE is release.audit.findings[0].verdict
    assert release.exponent is not None
    assert found - Fraction(1, 1024) <= release.exponent <= found


def test_a_prior_with_an_exponent_alone() -> None:
    views = named((20, 30, 50), [[[10, 14, 30], [10, 16, 20]]]).smoothed()
    shares = dict(zip(views.labels, map(Fraction, ("1/5", "3/10", "1/2")), strict=True))
    promise = pv.Promise(pv.Bayesian(prior=shares), pv.Ratio("1.5"))
    release = pv.publish(views, [promise], method=pv.SafetyTransform())
    assert pv.Verdict.SAFE is release.audit.findings[0].verdict
    assert 1 == release.exponent
    close = pv.Promise(pv.Bayesian(prior=shares), pv.Ratio("1.01"))
    with pytest.raises(pv.Infeasible, match="by no exponent alone") as no:
        pv.publish(views, [close], method=pv.SafetyTransform())
    assert "--method closeness" in no.value.advice[0]
