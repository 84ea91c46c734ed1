"""Plans: the wanted ε is kept, and what errs least is proposed."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.responses.planning import (
    find_sample_size,
    find_truth,
    list_sample_sizes,
    plan_design,
)


def asked(number: int, size: int = 2, **public: bool) -> pv.Design:
    from privet.responses.channels import Keep

    values = [str(v) for v in range(size)]
    names = [f"q{i}" for i in range(number)]
    questions = [pv.Question(c, values) for c in (*names, *public)]
    groups = [pv.Group(c, pv.KAry("0.9")) for c in names]
    return pv.Design(questions, [*groups, *(pv.Group(c, Keep()) for c in public)])


@pytest.mark.parametrize("epsilon", ["0.000001", "0.1", "1", "3.5", "8", "20"])
@pytest.mark.parametrize("target", [None, "q3"])
def test_the_wanted_epsilon_is_kept(epsilon: str, target: str | None) -> None:
    with pytest.warns(pv.PrivacyWarning) if epsilon == "0.000001" else _nothing():
        found = plan_design(asked(8), epsilon, target).design
    assert found.epsilon() <= float(epsilon)
    assert found.epsilon() == pytest.approx(float(epsilon), rel=0.05)


def _nothing() -> object:
    from contextlib import nullcontext

    return nullcontext()


def test_truth_for_is_the_largest_in_six_digits() -> None:
    for size in (2, 4, 30):
        for epsilon in ("0.01", "1", "2.5", "9"):
            found = find_truth(epsilon, size)
            step = Fraction(1, 10**6)
            assert pv.KAry(found).growth(size) <= exp(float(epsilon)) * (1 + 1e-12)
            if found + step < 1:
                assert pv.KAry(found + step).growth(size) > exp(float(epsilon))


@pytest.mark.parametrize(
    ("epsilon", "most"), [("0.5", 1), ("1", 1), ("4", 3), ("8", 8)]
)
def test_the_larger_epsilon_is_the_more_is_asked(epsilon: str, most: int) -> None:
    plan = plan_design(asked(14), epsilon)
    assert plan.design.one_of
    assert 1 <= plan.asked <= most
    assert plan.one_of < plan.together
    if epsilon == "8":
        assert plan.asked > 3


def test_the_stated_error_is_that_of_one_answer() -> None:
    """One of 14 yes-or-no questions with all of ε: √14 / (2 (p - r))."""
    plan = plan_design(asked(14), "1")
    p = float(find_truth("1", 2))
    assert plan.one_of == pytest.approx(sqrt(14) / (2 * (2 * p - 1)))
    part = float(find_truth(Fraction(1, 14), 2))
    assert plan.together == pytest.approx(1 / (2 * (2 * part - 1)))


class Labels(np.ndarray):
    """Labels that know which question they answer."""

    name = "q5"

    def __new__(cls, values: np.ndarray) -> Labels:
        return np.asarray(values).view(cls)


def test_a_target_is_asked_of_everybody() -> None:
    plan = plan_design(asked(6), "1", "q5")
    assert all("q5" in g.columns for g in plan.design.groups)
    assert 5 == len(plan.design.groups)
    rng = np.random.default_rng(3)
    label = (rng.random(8_000) < 0.4).astype(int)
    table = {f"q{i}": (rng.random(8_000) < 0.3 + 0.4 * label) + 0 for i in range(5)}
    disguise = pv.RandomizedResponse(design=plan.design, seed=4)
    seen = disguise.transform(pa.table({**table, "q5": label}))
    model = pv.DisguisedNaiveBayes(disguise)
    model.fit(seen.select(list(table)), Labels(seen["q5"].to_numpy()))
    right = (model.predict(pa.table(table)) == label).mean()
    assert right > 0.75


def test_public_columns_stay_public() -> None:
    plan = plan_design(asked(3, y=True), "2", "y")
    assert ("y",) == plan.design.public
    assert not plan.design.one_of
    with pytest.raises(pv.InputError, match="more than its target"):
        plan_design(asked(1), "1", "q0")
    with pytest.raises(pv.ColumnNotFound):
        plan_design(asked(2), "1", "income")


def test_answers_needed_count_who_is_asked() -> None:
    """A column in every group is asked of everybody, one in a group of its share."""
    questions = [pv.Question(c, ["0", "1"]) for c in ("a", "b", "y")]
    pair = pv.KAry("0.8")
    groups = [pv.Group([c, "y"], pair) for c in ("a", "b")]
    design = pv.Design(questions, groups, one_of=True)
    needs = {n.about: n.answers for n in list_sample_sizes(design, error="0.05")}
    assert needs["a"] == needs["b"]
    assert 2 * needs["y"] == pytest.approx(needs["a"], abs=2)
    from privet.responses.expressions import express_equalities

    every = find_sample_size(
        design, express_equalities(design, {"y": "1"}), error="0.05"
    )
    assert needs["y"] == every.answers
