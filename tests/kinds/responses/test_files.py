"""One person's report, given again as it was; and a disguise judged by itself."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pandas as pd
import pytest

import privet as pv
from privet.engine.protocol import Run
from privet.responses.files import find_misfits


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


def test_a_memory_holds_no_answer() -> None:
    """A random key, whatever was answered and however often."""
    memory: dict[str, object] = {}
    disguise = pv.RandomizedResponse(design=design())
    disguise.answer(TRUE, memory)
    before = dict(memory)
    disguise.answer({**TRUE, "smokes": "no"}, memory)
    assert before == memory
    (key,) = memory.values()
    assert 64 == len(str(key))
    seeded = pv.RandomizedResponse(design=design(), seed=5)
    one: dict[str, object] = {}
    other: dict[str, object] = {}
    seeded.answer(TRUE, one)
    seeded.answer({**TRUE, "smokes": "no", "age": 20}, other)
    assert one == other  # the same key with the same seed, for any answer


def test_reports_from_keys_follow_the_design() -> None:
    """Over people, each with a key of their own: 0.6, and 0.2 for each other age."""
    disguise = pv.RandomizedResponse(design=design())
    n = 4000
    found = Counter(disguise.answer(TRUE, {})["age"] for _ in range(n))
    for value, share in {"30 to below 50": 0.6, "below 30": 0.2}.items():
        spread = (n * share * (1 - share)) ** 0.5
        assert abs(found[value] - n * share) < 5 * spread
        assert abs(found[value] - n * 1.3 * share) > 5 * spread  # it would be seen


def test_each_question_and_each_answer_has_its_own_chance() -> None:
    """Somebody with the key cannot tell one from how another was reported."""
    same = pv.Design(
        [pv.Question(c, ["0", "1"]) for c in "ab"],
        [pv.Group(c, pv.KAry("0.75")) for c in "ab"],
    )
    disguise = pv.RandomizedResponse(design=same)
    n, kept = 4000, Counter[tuple[bool, bool, bool]]()
    for _ in range(n):
        memory: dict[str, object] = {}
        yes = disguise.answer({"a": "1", "b": "1"}, memory)
        no = disguise.answer({"a": "0", "b": "0"}, memory)
        kept[yes["a"] == "1", yes["b"] == "1", no["a"] == "0"] += 1
    for outcome in product([True, False], repeat=3):
        share = prod(0.75 if one else 0.25 for one in outcome)
        assert abs(kept[outcome] - n * share) < 5 * (n * share) ** 0.5


def test_what_somebody_with_the_key_and_the_report_can_tell() -> None:
    """At 3/4 the other answer is excluded for 5 of 8 people, as the docs say."""
    asked = pv.Design([pv.Question("a", ["0", "1"])], [pv.Group("a", pv.KAry("0.75"))])
    disguise = pv.RandomizedResponse(design=asked)
    n, certain = 4000, 0
    for _ in range(n):
        memory: dict[str, object] = {}
        yes = disguise.answer({"a": "1"}, memory)
        certain += yes != disguise.answer({"a": "0"}, memory)
    assert abs(certain - n * 5 / 8) < 5 * (n * 15 / 64) ** 0.5


def test_a_memory_that_is_none_is_refused() -> None:
    with pytest.raises(pv.InputError, match="as it was left"):
        pv.RandomizedResponse(design=design()).answer(TRUE, {"key": "CANARY"})


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
    assert Fraction(27, 29) == pv.belief(given, pv.Bayesian(), "smokes").posterior
    alone = pv.Bayesian(unrelated=True)
    assert Fraction(3, 5) == pv.belief(given, alone, "smokes").posterior
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("1/2"), "smokes")
    assert not pv.audit(given, promise).safe


@pytest.mark.parametrize("limit", [pv.Ceiling(1), pv.Shift("0.5", "0.8")])
def test_nothing_is_disguised_under_an_empty_promise(
    tmp_path: Path, limit: pv.Limit
) -> None:
    table = pv.read(pd.DataFrame({"smokes": ["yes", "no"] * 5}), sensitive="smokes")
    asked = pv.Design(
        [pv.Question("smokes", ["no", "yes"])], [pv.Group("smokes", pv.KAry("0.8"))]
    )
    promise = pv.Promise(pv.Bayesian(prior="uniform"), limit, "smokes")
    policy = pv.Policy(promises=promise, roles=table.roles)
    with pytest.raises(pv.NotCovered, match="forbids something"):
        pv.disguise(
            table, asked, tmp_path / "out", custody=tmp_path / "v", policy=policy
        )
    assert [] == list(tmp_path.iterdir())


def test_a_companion_that_is_reported_falsely_tells_nothing() -> None:
    """The truth, both at once, with 7/10; else one of the others: a is seen false."""
    questions = [pv.Question(c, ["no", "yes"]) for c in "ab"]
    asked = pv.Design(questions, [pv.Group(["a", "b"], pv.KAry("0.7"))])
    for seen, posterior in (("no", Fraction(1, 2)), ("yes", Fraction(7, 8))):
        knows = pv.Bayesian(
            knows={"a": "yes"}, sees={"a": seen, "b": "yes"}, prior="uniform"
        )
        assert posterior == pv.belief(asked, knows, {"b": "yes"}).posterior


# Rows that a design with one_of cannot give -----------------------------------------


def test_rows_that_answer_more_than_one_group_are_refused() -> None:
    """Two groups in a row tell the product of both; the design states the larger."""
    asked = design(one_of=True)
    full = pd.DataFrame({"smokes": ["no"], "age": ["below 30"], "job": ["clerk"]})
    none = pd.DataFrame({c: pd.Series([None], dtype=object) for c in full})
    good = full.assign(age=None, job=None)
    for bad, word in ((full, "more than one"), (none, "or none")):
        rows = pd.concat([good, good, bad], ignore_index=True)
        with pv.read(rows) as table:
            found = pv.Responses(table, asked)
            assert 1 == found.count_beyond()
            expected = ["Every row must answer one group of the design's questions."]
            assert expected == find_misfits(found, 3, Run())
        with pytest.raises(pv.InputError, match=f"; 1 answer .*{word}"):
            pv.estimate(rows, asked).share(smokes="yes")
        with pytest.raises(pv.InputError, match="Is this the disguised file"):
            pv.DisguisedNaiveBayes(asked).fit(pv.read(rows), "job")
        with pytest.raises(pv.InputError, match="Is this the disguised file"):
            pv.Collector().attack(pv.Responses(pv.read(rows), asked))
    assert 2 == pv.estimate(pd.concat([good, good]), asked).share(smokes="yes").n
    with pv.read(full) as table:
        assert 0 == pv.Responses(table, design()).count_beyond()
