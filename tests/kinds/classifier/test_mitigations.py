"""What helps against inversion: each way does what it says, and shows what it costs."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path

import attrs
import pytest

import privet as pv
from kinds.classifier.test_publish import PROMISE, adults
from oracle.classifiers import random_views
from oracle.test_classifiers import named
from oracle.test_safety import every_row, proved
from privet.classifier import agreement
from privet.classifier.agreement import WeightedTuples
from privet.classifier.attacks import mitigations as module
from privet.classifier.attacks.mitigations import compare_mitigations
from privet.classifier.publish import read_method
from privet.classifier.transforms.synthetic import make_whole_counts, scores_from_card

SIXTEEN = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])


@pytest.fixture(scope="module")
def model() -> pv.NaiveBayes:
    return pv.NaiveBayes().fit(*adults(rows=2000))


# Margin jitter ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mode", ["tight", "declared"])
def test_odds_beyond_the_margin_keep_their_order(seed: int, mode: str) -> None:
    dice = random.Random(seed)
    margin = dice.choice([Fraction(1, 10), Fraction(1, 2), Fraction(3)])
    method = pv.SafetyTransform(mode=mode, margin=margin, seed=seed)
    for _ in range(4):
        sizes, cells = random_views(dice)
        found = method.apply(named(sizes, cells), [PROMISE])
        assert [] == proved(found, "smooth")
        assert found.card.tells_apart
        assert pv.audit(found.card, PROMISE).safe
        assert found.margin <= margin
        original, odds = found.views.scores, exp(margin)
        for known in every_row(original):
            x, after = original.of(known), found.card.totals(known)
            for c, d in product(range(len(x)), repeat=2):
                if x[c] > x[d] * Fraction(odds):
                    assert after[c] > after[d]


def test_every_number_is_moved_and_none_too_far() -> None:
    plain = pv.SafetyTransform().apply(SIXTEEN, [PROMISE])
    moved = [
        pv.SafetyTransform(margin="0.3").apply(SIXTEEN, [PROMISE]) for _ in range(2)
    ]
    assert moved[0].card.points != moved[1].card.points  # drawn from a secure source
    assert moved[0].proof.jitter > 0
    assert moved[0].proof.exponent <= plain.proof.exponent
    for found in moved:
        worse = pv.SafetyTransform(margin="0.3").apply(SIXTEEN, [PROMISE]).proof
        assert worse.jitter == found.proof.jitter


def test_a_move_beyond_the_certificate_is_refused() -> None:
    from dataclasses import replace

    found = pv.SafetyTransform(margin="0.3", seed=1).apply(SIXTEEN, [PROMISE])
    assert [] == proved(found, "smooth")
    half = replace(found.proof, jitter=found.proof.jitter // 4)
    assert proved(replace(found, proof=half), "smooth")
    exactly = replace(found.proof, coarse=False)
    assert proved(replace(found, proof=exactly), "smooth")
    points = [[list(row) for row in table] for table in found.card.points]
    points[0][0][0] += 1  # not a multiple of the classes
    card = replace(found.card, points=tuple(tuple(map(tuple, t)) for t in points))
    assert proved(replace(found, card=card), "smooth")


# Small tables -------------------------------------------------------------------------


@pytest.mark.engines
def test_only_rows_tell_no_more_than_the_rows(
    model: pv.NaiveBayes, tmp_path: Path
) -> None:
    method = pv.SafetyTransform(rows=400)
    safe = pv.publish(model, [PROMISE], method=method)
    table = safe.made.table
    assert 400 == table.views.rows
    for known in every_row(table.views.scores):
        assert table.views.scores.ranking(known) == safe.card.ranking(known)
    safe.write(
        tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "a test"}
    )
    assert {"table.parquet", "scorecard.json"} < {
        p.name for p in (tmp_path / "out").iterdir()
    }
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    assert "within" in pv.load(tmp_path / "out").keeps
    with pytest.raises(pv.InputError, match="has them already"):
        safe.write(
            tmp_path / "other",
            custody=tmp_path / "safe",
            accept={"inversion": "a test"},
            rows=500,
        )


def test_rows_go_alone() -> None:
    for others in ({"bits": 8}, {"margin": "0.1"}, {"mode": "declared"}):
        with pytest.raises(pv.InputError, match="rows must go without"):
            pv.SafetyTransform(rows=100, **others)


def test_counts_tell_as_much_as_the_card_and_few_rows_less(
    model: pv.NaiveBayes,
) -> None:
    views = model.views_
    sizes = dict(zip(views.labels, views.sizes, strict=True))
    safe = pv.publish(model, [PROMISE])
    attacker = pv.Inverter(sizes)
    card = attacker.attack(safe).right(views)
    counts = attacker.attack(
        make_whole_counts(scores_from_card(safe.card), safe.card)
    ).right(views)
    assert abs(card - counts) < Fraction(1, 8)  # both know as many digits
    assert attacker.attack(safe.table(100).views).right(views) < card


# Side by side -------------------------------------------------------------------------


def test_each_way_by_name(model: pv.NaiveBayes) -> None:
    lines = compare_mitigations(model.views_, [PROMISE])
    precise = lines[0]
    assert ("precise points", 1.0) == (precise.name, precise.agreement)
    assert {"noise first", "margin jitter", "coarse points", "small table"} == {
        x.name for x in lines[1:]
    }
    for line in lines[1:]:
        assert 0.5 < line.agreement <= 1
        assert line.recovered <= precise.recovered
    assert any(x.agreement < 1 for x in lines)


def test_a_way_that_cannot_be_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", (3,))
    (line,) = [
        x for x in compare_mitigations(SIXTEEN, [PROMISE]) if x.name == "small table"
    ]
    assert (None, None) == (line.agreement, line.recovered)
    assert "must have at least 6 rows" in line.note


def test_extended_has_coarse_points_only() -> None:
    close = pv.Promise(pv.Bayesian(prior={"c0": "0.4", "c1": "0.6"}), pv.Ratio(3))
    names = {x.name for x in compare_mitigations(SIXTEEN, [close])}
    assert {"precise points", "coarse points"} == names


def test_agreement_is_the_share_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weigh every tuple by the classifier's own probability; drawing comes near."""
    other = named((9, 7), [[[4, 1], [3, 2], [2, 4]], [[2, 3], [2, 3], [5, 1]]])
    scores = SIXTEEN.scores
    total = same = Fraction(0)
    for chosen in product(range(3), range(3)):
        known = dict(enumerate(chosen))
        x = sum(scores.of(known))
        total += x
        same += x * (scores.ranking(known)[0] == other.scores.ranking(known)[0])
    assert float(same / total) == pytest.approx(
        WeightedTuples.of(scores).agreement(other)
    )
    monkeypatch.setattr(agreement, "MOST_TUPLES", 8)
    drawn = WeightedTuples.of(scores)
    assert 8 == len(drawn.codes[0])


def test_methods_survive_the_custody_record() -> None:
    for method in (
        pv.SafetyTransform(epsilon="1/3", margin="0.1", bits=9),
        pv.SafetyTransform(rows=77, zeros="positive"),
        pv.SafetyTransform(mode="declared"),
        pv.ExtendedSafetyTransform(rule="declared", bits=20),
        pv.ExtendedSafetyTransform(paper=True),
    ):
        stated = attrs.asdict(method, recurse=False)
        options = {k: str(v) for k, v in stated.items() if v is not None}
        assert method == read_method(method.kind, options)
