"""Classifiers at the edge: nothing hangs, nothing breaks, every answer is proved."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import privet as pv
from kinds.classifier.test_publish import PROMISE
from oracle.test_classifiers import named
from privet.classifier.posteriors.posterior_bounds import find_undominated
from privet.classifier.report import as_text, summary

SIXTEEN = named((7, 9), [[[1, 4], [2, 3], [4, 2]], [[3, 2], [3, 2], [1, 5]]])
HUGE = named((10**30, 10**30 + 7), [[[10**30 - 5, 3], [5, 10**30 + 4]]])
ZEROS = named((3, 4), [[[3, 0], [0, 4]], [[0, 4], [3, 0]]])
UNICODE = pv.ClassifierViews.from_counts(
    {"ja ✓": 3, "néin\n": 4},
    {'größe "x"': {"日本": {"ja ✓": 1, "néin\n": 2}, None: {"ja ✓": 2, "néin\n": 2}}},
)


def whole_way(
    views: object, place: Path, promise: pv.Promise = PROMISE, **options: object
) -> pv.ClassifierRelease:
    """Publish, write, verify with custody, report."""
    made = pv.publish(views, promise, **options)
    made.write(place / "out", custody=place / "vault", accept={"inversion": "a test"})
    checked = pv.verify(place / "out", custody=place / "vault")
    assert checked.good, checked.problems
    assert as_text(summary(made.accept({"inversion": "a test"}))).startswith("✓ Safe")
    return made


@pytest.mark.parametrize(
    "views",
    [
        pytest.param(HUGE, id="huge"),
        pytest.param(ZEROS, id="zeros everywhere"),
        pytest.param(UNICODE, id="unicode and missing"),
        pytest.param(named((5, 5), [[[5, 5]]]), id="one value"),
        pytest.param(named((5, 5), [[[1, 1]] * 5]), id="ties everywhere"),
        pytest.param(
            pv.ClassifierViews("y", ("a", "b"), (), (3, 4), ()), id="no attribute"
        ),
    ],
)
def test_odd_classifiers_go_the_whole_way(views: object, tmp_path: Path) -> None:
    whole_way(views, tmp_path)


@pytest.mark.parametrize("zeros", ["full", "positive", "positive+top"])
def test_a_prior_and_zeros(zeros: str, tmp_path: Path) -> None:
    near = pv.Promise(pv.Bayesian(prior={"c0": "0.4", "c1": "0.6"}), pv.Ratio(3))
    whole_way(ZEROS, tmp_path, near, method=pv.ExtendedSafetyTransform(zeros=zeros))


@pytest.mark.parametrize(
    "limit", [pv.Ceiling("0.500001"), pv.Shift("0.50000001", "0.50000002")]
)
def test_a_very_tight_limit_takes_no_longer(limit: object, tmp_path: Path) -> None:
    made = whole_way(SIXTEEN, tmp_path, pv.Promise(pv.Bayesian(), limit))
    assert 0 < made.exponent < 1e-5


@pytest.mark.parametrize(
    ("r", "rule"),
    [(10**400, "argmax"), (10**400, "declared"), ("1.0000001", "declared")],
)
def test_factors_of_any_size(r: object, rule: str, tmp_path: Path) -> None:
    near = pv.Promise(pv.Bayesian(prior={"c0": "0.3", "c1": "0.7"}), pv.Ratio(r))
    whole_way(SIXTEEN, tmp_path, near, method=pv.ExtendedSafetyTransform(rule=rule))


def test_thousands_of_values() -> None:
    many = named((1500, 1500), [[[1, 1]] * 1499 + [[1, 1]]])
    made = pv.publish(many, [PROMISE])
    sizes = dict.fromkeys(made.card.labels, 1500)
    assert 1 == pv.Inverter(sizes, smoothing=0).attack(made).right(many)


@pytest.mark.parametrize("columns", [1, 3])
def test_only_rows_that_nothing_beats_are_left(columns: int) -> None:
    """Blocks and strong rows find what comparing all with all finds."""
    dice = np.random.default_rng(columns)
    for rows in (1, 5, 700):
        table = dice.integers(0, 40, (rows, columns)).astype(float)
        table[dice.random(table.shape) < 0.02] = np.inf
        with np.errstate(invalid="ignore"):
            lead = table[None, :, :] - table[:, None, :]
        lead[np.isnan(lead)] = 0
        beaten = (lead > 1e-9).all(axis=2).any(axis=0)
        assert np.flatnonzero(~beaten).tolist() == find_undominated(table)


@pytest.mark.parametrize(
    "setting",
    [
        {"epsilon": 10**9},
        {"epsilon": "x"},
        {"margin": 0},
        {"margin": 1001},
        {"rows": 0},
        {"rows": -5},
        {"rows": 2.5},
        {"rows": True},
        {"seed": "x"},
        {"mode": "tigth"},
        {"zeros": 3},
    ],
)
def test_nonsense_is_refused_at_birth(setting: dict[str, object]) -> None:
    (name,) = setting
    with warnings.catch_warnings(), pytest.raises(pv.InputError, match=name):
        pv.SafetyTransform(**setting)
