"""Beliefs of both adversaries equal enumeration; so does the worst case."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import privet as pv
from oracle.classifiers import Cells, Sizes, every_victim, posterior, random_views
from privet.classifier import possible_tables
from privet.classifier.amplification import (
    amplification,
    breach_amplification,
    paper_amplification,
)
from privet.classifier.possible_tables import (
    factor_bound,
    find_worst_odds,
    posterior_worlds,
)
from privet.classifier.posteriors import worst_posteriors
from privet.classifier.posteriors.posterior_bounds import find_extreme_posterior
from privet.classifier.scores import scores_from_counts


def named(sizes: Sizes, cells: Cells) -> pv.ClassifierViews:
    """Views whose internal order is that of the counts: later classes win ties."""
    labels = [f"c{c}" for c in range(len(sizes))]
    return pv.ClassifierViews.from_counts(
        dict(zip(labels, sizes, strict=True)),
        {
            f"a{i}": {
                f"v{t}": dict(zip(labels, row, strict=True))
                for t, row in enumerate(table)
            }
            for i, table in enumerate(cells)
        },
        precedence=labels[::-1],
    )


@pytest.mark.parametrize("seed", range(60))
def test_both_posteriors_of_every_victim(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3, values=2, rows=3)
    views, scores = named(sizes, cells), scores_from_counts(sizes, cells)
    for known in every_victim(cells):
        worlds = posterior_worlds(views, known)
        assert posterior(sizes, cells, known, "worlds") == (worlds and list(worlds))
        rows = scores.posterior(known)
        assert posterior(sizes, cells, known, "rows") == (rows and list(rows))


@pytest.mark.parametrize("seed", range(30))
def test_the_two_adversaries_are_never_a_factor_of_two_apart(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3, rows=6)
    views, scores = named(sizes, cells), scores_from_counts(sizes, cells)
    for known in every_victim(cells):
        rows, worlds = scores.posterior(known), posterior_worlds(views, known)
        for c in range(len(sizes)):
            for d in range(len(sizes)):
                if rows and worlds and rows[c] and rows[d] and c != d:
                    phi = (worlds[c] / worlds[d]) / (rows[c] / rows[d])
                    assert Fraction(1, 2) < phi < 2
                    assert phi <= factor_bound(scores, known)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("most", [None, 1, 2])
def test_the_worst_rows_over_all_victims(seed: int, most: int | None) -> None:
    dice = random.Random(seed)
    for _ in range(10):
        sizes, cells = random_views(dice)
        scores, k = scores_from_counts(sizes, cells), len(sizes)
        found = [scores.posterior(known) for known in every_victim(cells, most)]
        if most is not None:
            found.append(scores.posterior({}))
        beliefs = [p for p in found if p]
        for c in range(k):
            high = find_extreme_posterior(scores, c, highest=True, attributes=most)
            assert (True, max(p[c] for p in beliefs)) == (high.exact, high.value)
            low = find_extreme_posterior(scores, c, highest=False, attributes=most)
            assert (True, min(p[c] for p in beliefs)) == (low.exact, low.value)
        odds = [
            p[c] / p[d] if p[d] else None
            for p in beliefs
            for c in range(k)
            for d in range(k)
            if c != d and p[c]
        ]
        worst = None if None in odds else max(o for o in odds if o)
        assert worst == amplification(scores, most).odds


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("seed", range(6))
def test_many_classes_and_beliefs_next_to_0_and_1(seed: int, most: int | None) -> None:
    """Where floats hardly tell beliefs apart, and where some class never fits."""
    dice = random.Random(seed)
    cells = []
    for _ in range(3):
        few = [[dice.choice([0, 1, 7, 10**9]) for _ in range(9)] for _ in range(2)]
        rest = [10**10 - a - b for a, b in zip(*few, strict=True)]
        cells.append([*few, rest])
    scores = scores_from_counts([10**10] * 9, cells)
    found = [scores.posterior(known) for known in every_victim(cells, most)]
    beliefs = [p for p in found if p]
    if most is not None:
        beliefs.append(scores.posterior({}))
    for c in range(9):
        for highest in (True, False):
            worst = find_extreme_posterior(scores, c, highest=highest, attributes=most)
            wanted = (max if highest else min)(p[c] for p in beliefs)
            assert (True, wanted) == (worst.exact, worst.value)
            assert wanted == scores.posterior(worst.known)[c]


@pytest.mark.parametrize("seed", range(25))
def test_the_worst_worlds_over_all_victims(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3, rows=6)
    views, scores = named(sizes, cells), scores_from_counts(sizes, cells)
    beliefs = [posterior_worlds(views, known) for known in every_victim(cells)]
    for c in range(len(sizes)):
        for d in range(len(sizes)):
            if c == d:
                continue
            odds = [p[c] / p[d] if p[d] else None for p in beliefs if p and p[c]]
            found = find_worst_odds(views, scores, (c, d), budget=10**6)
            worst = None if None in odds else max((o for o in odds if o), default=0)
            assert worst == found.most
            if worst is not None:
                assert found.exact


def test_a_spent_budget_leaves_an_interval() -> None:
    sizes, cells = (9, 7), [[[4, 3], [5, 4]], [[1, 5], [8, 2]], [[2, 2], [7, 5]]]
    views, scores = named(sizes, cells), scores_from_counts(sizes, cells)
    exactly = find_worst_odds(views, scores, (0, 1), budget=10**6)
    short = find_worst_odds(views, scores, (0, 1), budget=1)
    assert exactly.exact
    assert not short.exact
    assert short.most is not None
    assert short.least <= exactly.least <= short.most


@pytest.mark.parametrize("seed", range(20))
def test_counts_too_large_to_average_leave_an_interval_that_holds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if every posterior were too long: bounds for victims, and for the worst."""
    sizes, cells = random_views(random.Random(seed), classes=3, rows=6)
    views, scores = named(sizes, cells), scores_from_counts(sizes, cells)
    exactly = {
        tuple(k.items()): posterior_worlds(views, k) for k in every_victim(cells)
    }
    pairs = [(c, d) for c in range(len(sizes)) for d in range(len(sizes)) if c != d]
    worst = {p: find_worst_odds(views, scores, p, budget=10**6) for p in pairs}
    monkeypatch.setattr(possible_tables, "MOST_STEPS", -1)
    monkeypatch.setattr(worst_posteriors, "MOST_STEPS", -1)
    for pair in pairs:
        found = find_worst_odds(views, scores, pair, budget=10**6)
        if worst[pair].most is None:
            assert found.most is None
        else:
            assert found.least <= worst[pair].least <= found.most
    for row, shares in exactly.items():
        if shares is None:
            continue
        low, high = worst_posteriors._bound_beliefs(scores, views, dict(row))
        assert all(a <= p <= b for a, p, b in zip(low, shares, high, strict=True))
        odds = worst_posteriors.bound_victim_odds(scores, views, dict(row))
        for (c, d), most in odds.items():
            if most is not None and shares[d]:
                assert shares[c] / shares[d] <= most


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("averaging", ["rows", "worlds"])
def test_verdicts_follow_the_beliefs(seed: int, averaging: str) -> None:
    """SAFE and BREACH are never wrong; for single classes rows always decide.

    A shift that no class begins below or above forbids nothing: it does not apply.
    """
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3, rows=5)
    views = named(sizes, cells)
    prior = Fraction(1, len(sizes))
    beliefs = [posterior_worlds(views, k) for k in every_victim(cells)]
    if averaging == "rows":
        beliefs = [views.scores.posterior(k) for k in every_victim(cells)]
    for limit in (pv.Ceiling("0.8"), pv.Ratio("2.5"), pv.Shift("0.4", "0.7")):
        for c, label in enumerate(views.labels):
            bob = pv.Bayesian(averaging=averaging)
            found = pv.audit(views, pv.Promise(bob, limit, label))
            holds = all(limit.holds(pv.Belief(prior, p[c])) for p in beliefs if p)
            if isinstance(limit, pv.Shift) and limit.start <= prior <= limit.end:
                assert holds
                assert "not applicable" == found.verdict
                continue
            assert found.verdict in ("safe" if holds else "breach", "undecided")
            if averaging == "rows" or len(sizes) == 2:
                assert "undecided" != found.verdict


@pytest.mark.parametrize("seed", range(40))
def test_no_set_of_classes_crosses_a_kept_shift(seed: int) -> None:
    from itertools import combinations

    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=4, rows=8)
    views, k = named(sizes, cells), len(sizes)
    shift = pv.Shift(dice.choice(["0.3", "0.5"]), dice.choice(["0.6", "0.9"]))
    found = pv.audit(views, pv.Promise(pv.Bayesian(), shift))
    crossed = any(
        not shift.holds(pv.Belief(Fraction(size, k), sum(p[c] for c in chosen)))
        for p in map(views.scores.posterior, every_victim(cells))
        if p
        for size in range(1, k)
        for chosen in combinations(range(k), size)
    )
    begins = [Fraction(size, k) for size in range(1, k)]
    if all(shift.start <= p <= shift.end for p in begins):
        assert not crossed
        assert "not applicable" == found.verdict
    else:
        assert found.verdict in ("breach" if crossed else "safe", "undecided")


@pytest.mark.parametrize("classes", [2, 3, 5, 10])
@pytest.mark.parametrize("levels", [("1/4", "2/3"), ("0.51", "0.8"), ("0.1", "0.9")])
def test_the_sharp_rule_allows_at_least_what_the_paper_does(
    classes: int, levels: tuple[str, str]
) -> None:
    shift = pv.Shift(*levels)
    sharp, theirs = breach_amplification(shift), paper_amplification(shift, classes)
    assert theirs <= sharp
    left = (theirs + theirs**2 * (classes - 1)) / (theirs + classes - 1)
    assert sharp * (1 - Fraction(1, 10**6)) < left <= sharp
    if classes == 2:
        assert abs(sharp - theirs) < Fraction(1, 10**8)
