"""Scores by halves of the columns equal those that try everything."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.responses import accuracy
from privet.responses.channels import Keep


def study(
    seed: int, *, label: str, wide: int = 5, truth: str = "0.85"
) -> tuple[pv.DisguisedNaiveBayes, pd.DataFrame, pd.Series]:
    """A learner and its disguised test set: two and three values, one column public."""
    rng = np.random.default_rng(seed)
    n = 120
    y = rng.integers(0, 2, n)
    frame = {f"q{i}": (rng.random(n) < 0.25 + 0.5 * y) + 0 for i in range(wide)}
    frame["k"] = rng.integers(0, 3, n)
    frame["open"] = (rng.random(n) < 0.3 + 0.3 * y) + 0
    frame["y"] = y
    questions = [
        pv.Question(c, [str(v) for v in range(3 if c == "k" else 2)]) for c in frame
    ]
    kept = {"open": Keep(), "y": Keep() if label == "public" else pv.KAry("0.9")}
    groups = [pv.Group(q.name, kept.get(q.name, pv.KAry(truth))) for q in questions]
    disguise = pv.RandomizedResponse(design=pv.Design(questions, groups), seed=seed)
    seen = disguise.transform(pd.DataFrame(frame))
    model = pv.DisguisedNaiveBayes(disguise)
    features = [c for c in frame if c != "y"]
    return model.fit(seen[features], seen["y"]), seen[features], seen["y"]


@pytest.mark.parametrize("label", ["public", "disguised"])
@pytest.mark.parametrize("seed", range(4))
def test_halves_equal_trying_everything(
    seed: int, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows, y = study(seed, label=label)
    slow = model.score_disguised(rows, y)
    monkeypatch.setattr(accuracy, "MOST_TURNS", 1)
    fast = model.score_disguised(rows, y)
    assert slow.unbiased == pytest.approx(fast.unbiased, abs=1e-9)
    assert slow.standard_error == pytest.approx(fast.standard_error, abs=1e-9)
    assert slow.sure == fast.sure


def test_sixteen_disguised_columns_are_estimable_if_mostly_true() -> None:
    model, rows, y = study(9, label="public", wide=16, truth="0.98")
    found = model.score_disguised(rows, y)
    assert 0.6 < found.unbiased < 1.1
    assert found.standard_error < 0.15


def test_too_many_columns_are_refused() -> None:
    model, rows, y = study(1, label="public", wide=24)
    with pytest.raises(pv.TooLarge, match="Not estimable"):
        model.score_disguised(rows, y)


def test_much_disguised_columns_say_nothing_and_it_is_said() -> None:
    model, rows, y = study(2, label="disguised", wide=14, truth="0.7")
    found = model.score_disguised(rows, y)
    assert "Not estimable" in found.note
    assert (0.0, 1.0) == found.sure
