"""The accuracy on disguised records is unbiased: every disguise is listed."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from oracle import responses as slow
from oracle.designs import designs
from privet.responses.accuracy import LABEL, estimate_accuracy


@settings(max_examples=12)
@given(designs(3), st.data())
def test_the_mean_over_every_disguise_is_the_truth(
    design: pv.Design, data: st.DataObject
) -> None:
    """Any predictor, the last column being the label, disguised with its group."""
    sizes = [len(q) for q in design.questions]
    if len(sizes) < 2:
        return
    people = list(product(*(range(s) for s in sizes)))
    rows = data.draw(st.lists(st.sampled_from(people), min_size=2, max_size=2))
    inputs = list(product(*(range(s) for s in sizes[:-1])))
    answers = data.draw(
        st.lists(
            st.integers(0, sizes[-1] - 1), min_size=len(inputs), max_size=len(inputs)
        )
    )
    predict = dict(zip(inputs, answers, strict=True))
    columns, label = design.columns[:-1], design.columns[-1]

    def correct(table: dict[str, np.ndarray]) -> np.ndarray:
        records = zip(*(table[c].tolist() for c in columns), strict=True)
        found = np.array([predict[r] for r in records])
        return found == table[LABEL]

    def estimated(seen: list[slow.Record]) -> float:
        codes = np.array(seen)
        records = {c: codes[:, i] for i, c in enumerate(columns)}
        return estimate_accuracy(design, records, codes[:, -1], label, correct).unbiased

    truth = sum(predict[r[:-1]] == r[-1] for r in rows) / len(rows)
    mean = sum(float(p) * estimated(seen) for seen, p in slow.disguises(design, rows))
    assert truth == pytest.approx(mean, abs=1e-9)


def test_scores_of_any_classifier() -> None:
    """A classifier that is not ours, on a test set disguised in two groups."""
    rng = np.random.default_rng(3)
    n = 20_000
    a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
    y = ((a + b + rng.integers(0, 2, n)) > 1).astype(int)
    clean = pd.DataFrame({"a": a, "b": b, "y": y})
    disguise = pv.RandomizedResponse(
        0.8, values={"b": [0, 1, 2]}, channels={"y": None}, seed=4
    )
    seen = disguise.transform(clean)

    class Rule:
        def predict(self, frame: pd.DataFrame) -> np.ndarray:
            return (frame["a"] + frame["b"] > 0).to_numpy().astype(int)

    truth = (Rule().predict(clean) == y).mean()
    found = pv.score_disguised(Rule(), seen[["a", "b"]], seen["y"], disguise)
    assert abs(found.unbiased - truth) < 4 * found.standard_error
    assert found.sure[0] < truth < found.sure[1]
    again = pv.DisguisedNaiveBayes(disguise).fit(seen[["a", "b"]], seen["y"])
    mine = again.score_disguised(seen[["a", "b"]], seen["y"])
    other = pv.score_disguised(again, seen[["a", "b"]], seen["y"], disguise)
    assert mine.unbiased == pytest.approx(other.unbiased)


def test_too_many_groups_are_not_estimable() -> None:
    names = [f"q{i}" for i in range(14)]
    frame = pd.DataFrame({c: [0, 1] * 10 for c in names})
    disguise = pv.RandomizedResponse(0.8)
    seen = disguise.transform(frame)
    model = pv.DisguisedNaiveBayes(disguise).fit(seen[names[:-1]], seen[names[-1]])
    tested = seen[names[:-1]], seen[names[-1]]
    with pytest.raises(pv.TooLarge, match="Not estimable"):
        pv.score_disguised(model, *tested, disguise)  # any classifier, as far as known
    assert "Not estimable" in model.score_disguised(*tested).note


def test_joint_flips_cost_two_predictions_however_wide() -> None:
    names = [f"q{i}" for i in range(14)]
    frame = pd.DataFrame({c: [0, 1] * 10 for c in names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        disguise = pv.RandomizedResponse(0.9, groups=[names]).fit(frame)
        seen = disguise.transform(frame)
        model = pv.DisguisedNaiveBayes(disguise).fit(seen[names[:-1]], seen[names[-1]])
        found = model.score_disguised(seen[names[:-1]], seen[names[-1]])
    assert 20 == found.n


def test_a_test_set_of_single_questions_is_not_estimable() -> None:
    questions = [pv.Question("a", ["0", "1"]), pv.Question("y", ["0", "1"])]
    groups = [pv.Group("a", pv.KAry(0.8)), pv.Group("y", pv.KAry(0.8))]
    design = pv.Design(questions, groups, one_of=True)
    with pytest.raises(pv.InputError, match="not estimable"):
        estimate_accuracy(
            design, {"a": np.array([0])}, np.array([0]), "y", lambda t: t["a"] == 0
        )
