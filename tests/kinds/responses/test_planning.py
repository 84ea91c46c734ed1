"""Plans: the wanted ε is kept, and what errs least is proposed."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from oracle.designs import designs
from privet.responses.channel_inverse import apply_channel, weigh_reports
from privet.responses.channels import Keep
from privet.responses.planning import (
    find_sample_size,
    find_truth,
    find_worst_variance,
    list_sample_sizes,
    plan_design,
)
from privet.responses.report import describe_disclosure, describe_promised


def asked(number: int, size: int = 2, **public: bool) -> pv.Design:
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


def sized(*sizes: int, public: int = 0) -> pv.Design:
    """A question per size, and public ones beside them."""

    questions = [
        pv.Question(f"q{i}", [str(v) for v in range(k)]) for i, k in enumerate(sizes)
    ]
    groups = [pv.Group(q.name, pv.KAry("0.9")) for q in questions]
    known = [pv.Question(f"p{i}", ["0", "1", "2"]) for i in range(public)]
    shown = [pv.Group(q.name, Keep()) for q in known]
    return pv.Design([*questions, *known], [*groups, *shown])


@pytest.mark.parametrize("public", [0, 1, 2])
def test_public_questions_change_no_plan(public: int) -> None:
    """4 questions at ε 2, the largest of 20 values: 132,120 answers, asked one each."""
    plan = plan_design(sized(2, 3, 5, 20, public=public), "2")
    assert plan.design.one_of
    assert 1 == plan.asked
    needs = list_sample_sizes(plan.design, error="0.02")
    # The specification's truth has no digits cut off: 0.28, and 132,120.
    assert 132_120 == pytest.approx(max(n.answers for n in needs), rel=1e-4)
    assert [f"q{i}" for i in range(4)] == [n.about for n in needs]
    assert float(plan.design.growth() or 0) <= exp(2)


@pytest.mark.parametrize(("truth", "answers"), [("0.0798", 714_867), ("0.28", 33_030)])
def test_the_worst_case_is_exact(truth: str, answers: int) -> None:
    """Of 20 values, within 2 %; a quarter of the squared range said 2.4 million."""
    question = pv.Question("q", [str(v) for v in range(20)])
    design = pv.Design([question], [pv.Group("q", pv.KAry(truth))])
    (need,) = list_sample_sizes(design, error="0.02")
    assert answers == pytest.approx(need.answers, rel=0.003)


@settings(max_examples=60)
@given(designs(2), st.data())
def test_no_truth_varies_more(design: pv.Design, data: st.DataObject) -> None:
    """The stated variance is reached by two values, and exceeded by no shares."""
    columns = sorted(data.draw(st.sets(st.sampled_from(design.columns), min_size=1)))
    pieces = design.pieces(columns)
    shape = tuple(p.size for p in pieces)
    cells = int(np.prod(shape))
    chosen = data.draw(st.lists(st.booleans(), min_size=cells, max_size=cells))
    where = np.array(chosen).reshape(shape)
    stated = find_worst_variance(pieces, where)
    weight = weigh_reports(pieces, where.astype(float))
    rng, most = np.random.default_rng(len(chosen)), 0.0

    def varies(shares: np.ndarray) -> float:
        seen = apply_channel(pieces, shares.reshape(shape))
        mean = (seen * weight).sum()
        return float((seen * weight**2).sum() - mean**2)

    for shares in rng.dirichlet(np.full(cells, 0.3), size=50):
        assert varies(shares) <= stated * (1 + 1e-9) + 1e-9
    for i in range(cells):
        for j in range(cells):
            for share in np.linspace(0, 1, 101):
                two = np.zeros(cells)
                two[i] += share
                two[j] += 1 - share
                most = max(most, varies(two))
    assert stated == pytest.approx(most, rel=1e-3, abs=1e-6)


def test_what_is_public_is_reported_by_everybody(tmp_path: Path) -> None:
    """In memory, of one record, and in a file; and estimated with the others."""
    plan = plan_design(sized(2, 2, public=1), "1")
    assert plan.design.one_of
    rng = np.random.default_rng(5)
    town = rng.integers(0, 3, 6_000)
    rows = pa.table(
        {
            "q0": (rng.random(6_000) < 0.2 + 0.3 * town).astype(int),
            "q1": rng.integers(0, 2, 6_000),
            "p0": town,
        }
    )
    disguise = pv.RandomizedResponse(design=plan.design, seed=6)
    seen = disguise.transform(rows)
    assert rows["p0"] == seen["p0"]
    assert 6_000 == seen["q0"].null_count + seen["q1"].null_count
    found = pv.estimate(seen, plan.design)
    assert found.share(p0="2").value == pytest.approx((town == 2).mean())
    among = found.share("q0 = 1", given="p0 = 2")
    assert among.interval[0] < 0.8 < among.interval[1]
    one = disguise.answer({"q0": 1, "q1": 0, "p0": 2})
    assert "2" == one["p0"]
    assert 1 == [one["q0"], one["q1"]].count(None)
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(3), "q0")
    with pv.read(rows) as table:
        made = pv.disguise(
            table,
            plan.design,
            tmp_path / "out",
            custody=tmp_path / "vault",
            policy=pv.Policy([promise]),
        )
        made.close()
    assert pv.verify(tmp_path / "out").good


def test_public_columns_stay_public() -> None:
    plan = plan_design(asked(3, y=True), "2", "y")
    assert ("y",) == plan.design.public
    assert 3 == len(plan.design.drawn)
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


def test_the_record_is_told_first_in_the_note_and_by_verify(tmp_path: Path) -> None:
    """One of two is asked: odds times 9 for the record, and age alone times 2."""
    questions = [
        pv.Question("smokes", ["no", "yes"]),
        pv.Question("age", bins=[30, 50]),
        pv.Question("ward", ["A", "B"]),
    ]
    groups = [
        pv.Group("smokes", pv.KAry("0.9")),
        pv.Group("age", pv.KAry("0.5")),
        pv.Group("ward", Keep()),
    ]
    design = pv.Design(questions, groups, one_of=True)
    table = {"smokes": ["yes", "no"] * 50, "age": [20, 60] * 50, "ward": ["A"] * 100}
    promise = pv.Promise(pv.Bayesian(prior="any"), pv.Ratio(9), about="age")
    out, vault = tmp_path / "out", tmp_path / "vault"
    with pv.read(pa.table(table)) as rows:
        policy = pv.Policy([promise])
        pv.disguise(rows, design, out, custody=vault, policy=policy).close()
    note = (out / "README.txt").read_text(encoding="utf-8")
    promised = " ".join(note.split("What is promised")[1].split())
    record = promised.index("anything about its person that is not public by 9 at most")
    assert record < promised.index("smokes by 9") < promised.index("age by 2")
    told = pv.verify(out).audit.findings[0].explain()
    assert told.index("by a factor of 9") < told.index("by a factor of 2")


def test_a_design_that_hides_nothing_promises_nothing() -> None:
    open_ = pv.Design([pv.Question("a", ["0", "1"])], [pv.Group("a", Keep())])
    assert ["Nothing: every column is public."] == describe_promised(open_)
    assert "Nothing is disguised; public: a." == describe_disclosure(open_)


@pytest.mark.parametrize("epsilon", ["30", "140", "200", "1000", "1e9", "1e400"])
@pytest.mark.parametrize("size", [2, 3, 1000])
def test_a_large_epsilon_is_kept_and_leaves_some_disguise(
    epsilon: str, size: int
) -> None:
    """At 140 and more all of 60 digits were 9, which was rounded to no disguise."""
    truth = find_truth(epsilon, size)
    grown = pv.KAry(truth).growth(size)
    assert grown is not None
    assert Fraction(999_999, 10**6) == truth
    assert Fraction(log(grown)) <= Fraction(epsilon)


@pytest.mark.parametrize("error", ["1e-13", "1e-400"])
def test_an_error_nobody_can_reach_is_refused(error: str) -> None:
    with pytest.raises(pv.InputError, match="at least 1 in"):
        list_sample_sizes(asked(1), error=error)
    (need,) = list_sample_sizes(asked(1), error="1e-12")
    assert need.answers > 10**24
