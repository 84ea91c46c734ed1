"""The study of classifiers says what the specification measured."""

from __future__ import annotations

import pytest
import uci

import classifier as study

FOLDER = uci.find_folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason=uci.HOW_TO_GET)


@pytest.fixture(scope="module")
def parts() -> tuple[object, object]:
    assert FOLDER is not None
    return study.rows(FOLDER)


@pytest.mark.parametrize(
    ("mode", "alpha", "k", "log_loss"),
    [
        ("tight", 2, 16.6, 0.6404),
        ("tight", 10, 5.0, 0.5498),
        ("paper", 2, 395, 0.6907),
        ("paper", 10, 119, 0.6852),
    ],
)
def test_three_raw_attributes(
    parts: tuple[object, object], mode: str, alpha: int, k: float, log_loss: float
) -> None:
    train, test = parts
    model = study.trained("3 raw", train)
    found = study.measured("3 raw", mode, alpha, model, test)
    assert 1 == found.same
    assert 0.7971 == pytest.approx(found.accuracy, abs=5e-5)
    assert k == pytest.approx(found.k, rel=0.01)
    assert log_loss == pytest.approx(found.log_loss, abs=2e-4)
    assert 2 <= found.r
    assert 0.5 < found.recovered < 1


def test_k_anonymous_rows_lose_recall(parts: tuple[object, object]) -> None:
    train, test = parts
    ours = study.measured("3 raw", "tight", 2, study.trained("3 raw", train), test)
    _, _, recall = study.anonymous(50, train, test)
    assert recall < ours.recall


def test_r_of_1_3_is_refused_with_a_row(parts: tuple[object, object]) -> None:
    import privet as pv

    train, _ = parts
    model = study.trained("3 raw", train)
    promise = pv.Promise(pv.Bayesian(prior=study.PRIOR), pv.Ratio("1.3"))
    with pytest.raises(pv.Infeasible, match="cannot be kept by any release") as no:
        pv.publish(model, promise)
    assert 2 == no.value.best
    declared = pv.ExtendedSafetyTransform(rule="declared")
    assert pv.publish(model, promise, method=declared).safe
