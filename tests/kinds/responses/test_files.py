"""One person's report, given again as it was; and a disguise judged by itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest

import privet as pv


def design(*, one_of: bool = False) -> pv.Design:
    questions = [
        pv.Question("smokes", ["no", "yes"]),
        pv.Question("age", bins=[30, 50]),
        pv.Question("job", ["clerk", "trader", "none"], missing="none"),
    ]
    groups = [pv.Group(q.name, pv.KAry("0.6")) for q in questions]
    return pv.Design(questions, groups, one_of=one_of)


TRUE = {"smokes": "yes", "age": 42, "job": None}


@pytest.mark.parametrize("one_of", [False, True])
def test_the_same_answer_is_reported_the_same_way(one_of: bool) -> None:
    disguise = pv.RandomizedResponse(design=design(one_of=one_of))
    memory: dict[str, object] = {}
    first = disguise.answer(TRUE, memory)
    assert all(first == disguise.answer(TRUE, memory) for _ in range(30))
    other = {**TRUE, "smokes": "no"}
    again = disguise.answer(other, memory)
    assert (first["age"], first["job"]) == (again["age"], again["job"])
    assert first == disguise.answer(TRUE, memory)
    answered = sum(v is not None for v in first.values())
    assert (1 if one_of else 3) == answered


def test_without_a_memory_every_report_is_drawn_anew() -> None:
    disguise = pv.RandomizedResponse(design=design())
    found = Counter(disguise.answer(TRUE)["age"] for _ in range(300))
    assert {"below 30", "30 to below 50", "50 and more"} == set(found)
    assert "30 to below 50" == found.most_common(1)[0][0]


def test_another_design_does_not_reuse_what_was_reported() -> None:
    memory: dict[str, object] = {}
    pv.RandomizedResponse(design=design()).answer(TRUE, memory)
    certain = pv.Design(
        [pv.Question("smokes", ["no", "yes"])], [pv.Group("smokes", pv.KAry(1))]
    )
    found = pv.RandomizedResponse(design=certain).answer({"smokes": "yes"}, memory)
    assert {"smokes": "yes"} == found


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({**TRUE, "smokes": "CANARY-1"}, "declared values"),
        ({**TRUE, "age": "CANARY-1"}, "numbers or dates"),
        ({**TRUE, "car": "CANARY-1"}, "must be a question"),
        ({"smokes": "yes"}, "declared values"),
    ],
)
def test_what_is_no_answer_is_refused(record: dict[str, object], words: str) -> None:
    with pytest.raises(pv.InputError, match=words) as error:
        pv.RandomizedResponse(design=design()).answer(record, {})
    assert "CANARY" not in str(error.value)


def test_a_disguise_is_judged_by_its_design() -> None:
    disguise = pv.RandomizedResponse(truth="0.8")
    with pytest.raises(pv.InputError, match="has disguised rows"):
        pv.belief(disguise, pv.Bayesian())
    disguise.transform(pd.DataFrame({"smokes": [0, 1]}))
    found = pv.belief(disguise, pv.Bayesian(sees={"smokes": 1}), {"smokes": 1})
    assert pv.Belief("1/2", "4/5") == found
    given = pv.RandomizedResponse(design=design())
    assert Fraction(3, 5) == pv.belief(given, pv.Bayesian(), "smokes").posterior
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("1/2"), "smokes")
    assert not pv.audit(given, promise).safe
