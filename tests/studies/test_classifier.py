"""The study of classifiers says what the specification measured."""

from __future__ import annotations

import classifier_epsilon
import classifier_others as others
import many_classes
import numpy as np
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


def test_many_alike_lose_recall(parts: tuple[object, object]) -> None:
    """Learnt from 500-anonymous rows of our own anonymizer; ours has 0.4233."""
    train, test = parts
    found = others.anonymous(500, train, test, same_cuts=True)
    assert 0.78 < found.accuracy < 0.79
    assert 0.3 < found.recall < 0.36


def test_a_released_range_is_read_as_it_is_meant() -> None:
    assert (20, 39) == others.ends("[20, 39]", 90)
    assert (22, 22) == others.ends("22", 90)
    assert (0, 90) == others.ends("*", 90)


@pytest.mark.parametrize(("epsilon", "least"), [("1", 0.815)])
def test_noise_first_stays_accurate(
    parts: tuple[object, object],
    epsilon: str,
    least: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(others, "DRAWS", 2)
    train, test = parts
    case = "13 binned"
    found = others.noisy(case, epsilon, study.trained(case, train), test)
    assert least < found.accuracy < 0.825


def test_the_staircase_has_a_step_per_class(parts: tuple[object, object]) -> None:
    train, test = parts
    steps = others.staircase("income", study.RAW, train, test)
    assert [1, 2] == [len(s.classes) for s in steps]
    assert [1.0, pytest.approx(2.0763, abs=1e-4)] == [s.r for s in steps]
    assert 0.7638 == pytest.approx(steps[0].accuracy, abs=5e-5)
    assert 0.7971 == pytest.approx(steps[1].accuracy, abs=5e-5)


def test_r_of_1_3_is_refused_with_a_row(parts: tuple[object, object]) -> None:
    import privet as pv

    train, _ = parts
    model = study.trained("3 raw", train)
    promise = pv.Promise(pv.Bayesian(prior=study.PRIOR), pv.Ratio("1.3"))
    with pytest.raises(pv.Infeasible, match="cannot be kept by any release") as no:
        pv.publish(model, promise)
    assert 2 == no.value.best
    declared = pv.ExtendedSafetyTransform(rule="declared")
    made = pv.publish(model, promise, method=declared)
    assert made.accept({"inversion": "it is a study"}).safe


def test_more_than_two_classes_need_less_flattening(
    parts: tuple[object, object],
) -> None:
    train, test = parts
    found = many_classes.measured("relationship", train, test)
    assert found.same
    assert 6 == found.classes
    assert 0.077 == pytest.approx(found.gain, abs=5e-4)
    assert 0.182 == pytest.approx(found.tight, abs=5e-4)
    assert 1.580 == pytest.approx(found.by_gain, abs=5e-4)
    assert 1.371 == pytest.approx(found.by_search, abs=5e-4)


def test_peers_counts_without_noise_predict_as_the_original(
    parts: tuple[object, object],
) -> None:
    train, test = parts
    model = classifier_epsilon.trained(train)
    tables = classifier_epsilon.count_declared(model)
    flat = np.concatenate([counts.ravel() for _, _, counts in tables]).tolist()
    codes = classifier_epsilon.encode(tables, test)
    truth = test["income"].to_numpy()
    found = classifier_epsilon.read_off(tables, codes, flat, truth)
    # Declared values that nobody has make the shares of others a little smaller.
    assert classifier_epsilon.score(model, test) == pytest.approx(found, abs=5e-4)


def test_noise_with_declared_values_keeps_most_of_it(
    parts: tuple[object, object],
) -> None:
    train, test = parts
    model = classifier_epsilon.trained(train)
    for noise in classifier_epsilon.NOISES:
        made = classifier_epsilon.published(model, "1", noise, 0)
        assert 0.81 < classifier_epsilon.score(made, test)
