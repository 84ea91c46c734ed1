"""The paper's EST as an option: FAIL, what its checks let pass, what it makes."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path

import pytest

import privet as pv
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from oracle.test_safety import every_row, proved
from privet.classifier.scores import Scores
from privet.classifier.transforms import leads
from privet.classifier.transforms.extended_safety_transform import (
    bound_of_statement_14,
    find_flipped_row,
    run_paper_est,
    statement_14_least_log_r,
)
from privet.classifier.transforms.r_closeness import closeness
from privet.errors import TooLarge

ACCEPT = {"inversion": "a test"}
FAR = named((21, 401), [[[1, 400], [20, 1]]])
"""One attribute whose values tell the classes far apart."""
PRIOR = {"c0": "3/4", "c1": "1/4"}


def promise(r: object, prior: object = PRIOR) -> pv.Promise:
    return pv.Promise(pv.Bayesian(prior=prior), pv.Ratio(r))


def paper() -> pv.ExtendedSafetyTransform:
    return pv.ExtendedSafetyTransform(paper=True, zeros="positive")


def test_it_publishes_what_it_keeps(tmp_path: Path) -> None:
    made = pv.publish(FAR, promise(10**6), method=paper())
    assert "paper's extended safety transform" == made.method
    assert [] == proved(made.made, "positive")
    shares = [Fraction(3, 4), Fraction(1, 4)]
    for known in every_row(FAR.scores):
        assert FAR.scores.ranking(known) == made.card.ranking(known)
        assert closeness(made.card.scores.posterior(known), shares) <= 10**6
    made.write(tmp_path / "out", custody=tmp_path / "vault", accept=ACCEPT)
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


def test_it_is_the_closed_form() -> None:
    """Beliefs are the prior to the power 1 - 1/k times scores to the power delta/k."""
    made = pv.publish(FAR, promise(10**6), method=paper())
    found = run_paper_est(
        FAR.scores, FAR.sizes, [Fraction(3, 4), Fraction(1, 4)], Fraction(10**6)
    )
    for t in (0, 1):
        x, p = FAR.scores.of({0: t}), made.card.scores.of({0: t})
        odds = log(x[0] / x[1]) * float(found.exponent) + log(3) * (1 - 1 / found.root)
        assert odds == pytest.approx(log(p[0] / p[1]), rel=1e-3)


def test_fail_is_infeasible_with_what_statement_14_asks_for() -> None:
    with pytest.raises(pv.Infeasible, match=r"FAIL.*Statement 14 asks") as no:
        pv.publish(FAR, promise(100), method=paper())
    least = log(float(no.value.best))
    shares = [Fraction(3, 4), Fraction(1, 4)]
    assert least == pytest.approx(
        statement_14_least_log_r(FAR.scores, FAR.sizes, shares), abs=1e-3
    )
    assert no.value.best >= bound_of_statement_14(1, Fraction(3))
    above = promise(no.value.best * 2)
    assert pv.publish(FAR, above, method=paper()).accept(ACCEPT).safe


def test_what_its_checks_let_pass_is_refused_with_a_row() -> None:
    views = named((5, 25), [[[1, 20], [4, 5]]])
    close = promise(10**6, {"c0": "2/3", "c1": "1/3"})
    with pytest.raises(pv.Infeasible, match=r"checks of the paper's EST pass.*a0 = v1"):
        pv.publish(views, close, method=paper())


def test_a_uniform_prior_is_safety_transform_of_the_paper() -> None:
    views = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
    made = pv.publish(views, promise(2, {"c0": "1/2", "c1": "1/2"}), method=paper())
    assert made.accept(ACCEPT).safe
    assert [] == proved(made.made, "positive")


def test_nothing_goes_with_it() -> None:
    for others in ({"rule": "declared"}, {"bits": 12}):
        with pytest.raises(pv.InputError, match="paper must go with"):
            pv.ExtendedSafetyTransform(paper=True, **others)
    for bits in (0, True, "12", 10**9):
        with pytest.raises(pv.InputError, match="bits must be from 1"):
            pv.ExtendedSafetyTransform(bits=bits)


@pytest.mark.parametrize("seed", range(60))
def test_flips_are_found_where_enumeration_finds_them(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=3)
    scores = named(sizes, cells).smoothed().scores
    shares = [Fraction(dice.randint(1, 4)) for _ in sizes]
    prior = [s / sum(shares) for s in shares]
    found = run_paper_est(
        scores, sizes, prior, Fraction(2), power=dice.randint(1, 9), root=2
    )
    moves = found.moves

    def after(known: dict[int, int]) -> list[int]:
        x = scores.of(known)
        new = [
            float(found.exponent) * log(s) / log(2) + m
            for s, m in zip(x, moves, strict=True)
        ]
        return sorted(range(len(x)), key=lambda c: (round(new[c], 9), c), reverse=True)

    flipped = [k for k in every_row(scores) if after(k) != scores.ranking(k)]
    row = find_flipped_row(scores, found)
    assert bool(flipped) == (row is not None)
    assert row is None or row in flipped


def test_too_many_rows_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leads, "MOST_TUPLES", 1)
    with pytest.raises(TooLarge, match="would have to be looked at"):
        leads.find_narrow_lead(FAR.scores, (0, 1), 1.0)
    with pytest.raises(pv.Infeasible, match="cannot be proved"):
        pv.publish(FAR, promise(10**6), method=paper())


@pytest.mark.parametrize("seed", range(20))
def test_led_by_less_is_the_definition(seed: int) -> None:
    dice = random.Random(seed)
    sizes, cells = random_views(dice, classes=2)
    scores: Scores = named(sizes, cells).smoothed().scores
    for pair, doublings in product([(0, 1), (1, 0)], (0.0, 0.3, 2.0)):
        rows = [
            known
            for known in every_row(scores)
            for x in [scores.of(known)]
            if (x[pair[0]], pair[0]) > (x[pair[1]], pair[1])
            and log(x[pair[0]] / x[pair[1]]) / log(2) < doublings + 1e-9
            and (doublings > 0 or x[pair[0]] == x[pair[1]])
        ]
        found = leads.find_narrow_lead(scores, pair, doublings)
        assert bool(rows) == (found is not None)
