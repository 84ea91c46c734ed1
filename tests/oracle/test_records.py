"""Whole records: no joint prior, however answers hang together, believes more."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import privet as pv
from oracle import responses as slow
from oracle.designs import designs
from privet.responses.audit import bound_odds
from privet.responses.channels import CHANNELS

SHARES = st.lists(st.integers(0, 5), min_size=3, max_size=3)


def asked_one_of(design: pv.Design) -> pv.Design:
    """The same groups, one of them drawn for each person, if any is disguised."""
    if not design.drawn:
        return design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.Design(design.questions, design.groups, one_of=True)


def prior_of(design: pv.Design, column: str, weights: list[int]) -> list[Fraction]:
    some = weights[: len(design.question(column))]
    some = some if any(some) else [1] * len(some)
    return [Fraction(w, sum(some)) for w in some]


def stated(design: pv.Design, column: str, value: int, **more: object) -> pv.Belief:
    label = design.question(column).values[value]
    return pv.belief(design, pv.Bayesian(**more), about={column: label})


@settings(max_examples=120)
@given(designs(3), st.booleans(), SHARES, st.data())
def test_the_stated_record_belief_is_the_worst_of_all_joint_priors(
    design: pv.Design, one_of: bool, weights: list[int], data: st.DataObject
) -> None:
    """Equal to enumeration: for every channel, and where one group is asked."""
    design = asked_one_of(design) if one_of else design
    column = data.draw(st.sampled_from(design.columns))
    if column in design.public:
        return
    prior = prior_of(design, column, weights)
    labels = design.question(column).values
    worst = slow.most_believed(design, column, prior)
    against = {"prior": dict(zip(labels, prior, strict=True))}
    for v, (high, _) in enumerate(worst):
        assert high == stated(design, column, v, **against).posterior


LOOK = settings(max_examples=2_000, phases=[Phase.generate])
"""To find one is enough, be it large."""


@pytest.mark.parametrize("kind", CHANNELS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("width", [1, 2])
def test_every_channel_is_among_the_designs(kind: type, width: int) -> None:
    """Alone and in a group, beside others: so that what is below tries them all."""

    def is_there(design: pv.Design) -> bool:
        own = [g for g in design.groups if isinstance(g.channel, kind)]
        return any(len(g.columns) == width for g in own) and len(design.groups) > 1

    assert is_there(find(designs(3), is_there, settings=LOOK))


@settings(max_examples=60)
@given(designs(3), st.booleans(), st.integers(0, 10**6), st.data())
def test_no_random_joint_prior_exceeds_it(
    design: pv.Design, one_of: bool, seed: int, data: st.DataObject
) -> None:
    design = asked_one_of(design) if one_of else design
    column = data.draw(st.sampled_from(design.columns))
    if design.public:
        return
    i, rng = design.columns.index(column), random.Random(seed)
    records = list(product(*(range(len(q)) for q in design.questions)))
    likely = {r: slow.whole_reports(design, r) for r in records}
    for _ in range(5):
        # Few records with some weight: answers that hang together.
        weight = {r: rng.choice([0, 0, 1, 5]) for r in records}
        weight[rng.choice(records)] += 1
        total = sum(weight.values())
        labels = design.question(column).values
        prior = {
            label: Fraction(sum(w for r, w in weight.items() if r[i] == v), total)
            for v, label in enumerate(labels)
        }
        for v in range(len(labels)):
            most = stated(design, column, v, prior=prior).posterior
            for y in {y for told in likely.values() for y in told}:
                joint = {
                    r: w * likely[r].get(y, Fraction(0)) for r, w in weight.items()
                }
                if whole := sum(joint.values()):
                    part = sum(p for r, p in joint.items() if r[i] == v)
                    assert part / whole <= most


@settings(max_examples=60)
@given(designs(3), st.booleans(), st.data())
def test_the_reach_of_any_prior_over_records(
    design: pv.Design, one_of: bool, data: st.DataObject
) -> None:
    """Odds grow most between the two records that a report tells apart best."""
    design = asked_one_of(design) if one_of else design
    column = data.draw(st.sampled_from(design.columns))
    if design.public:
        return
    i = design.columns.index(column)
    value = data.draw(st.integers(0, len(design.question(column)) - 1))
    everything = list(product(*(range(len(q)) for q in design.questions)))
    with_, without = (
        [slow.whole_reports(design, r) for r in everything if (r[i] == value) is same]
        for same in (True, False)
    )

    def most(ours: list[dict], theirs: list[dict]) -> Fraction | None:
        quotients = [
            None if y not in other else p / other[y]
            for one in ours
            for y, p in one.items()
            for other in theirs
        ]
        return None if None in quotients else max([Fraction(1), *quotients])

    found = bound_odds(design, column, value)
    assert (most(with_, without), most(without, with_)) == found


@settings(max_examples=60)
@given(designs(3), SHARES, st.data())
def test_unrelated_answers_say_nothing_more(
    design: pv.Design, weights: list[int], data: st.DataObject
) -> None:
    """Declared unrelated: the worst over priors in which the column is independent."""
    column = data.draw(st.sampled_from(design.columns))
    if design.public:
        return
    i = design.columns.index(column)
    prior = prior_of(design, column, weights)
    labels = design.question(column).values
    others = [range(len(q)) for j, q in enumerate(design.questions) if j != i]
    worst = [Fraction(0)] * len(prior)
    # A mixture of independent others is never beyond the best of them.
    for rest in product(*others):
        joint = {(*rest[:i], v, *rest[i:]): p for v, p in enumerate(prior)}
        seen = {y for r in joint for y in slow.whole_reports(design, r)}
        for y in seen:
            for r, p in slow.posterior(design, joint, y).items():
                worst[r[i]] = max(worst[r[i]], p)
    against = {"prior": dict(zip(labels, prior, strict=True)), "unrelated": True}
    for v, high in enumerate(worst):
        assert high == stated(design, column, v, **against).posterior


@settings(max_examples=80)
@given(designs(3), SHARES, st.booleans(), st.data())
def test_partial_reports_and_known_answers(
    design: pv.Design, weights: list[int], by_name: bool, data: st.DataObject
) -> None:
    """A row that is seen in part, by somebody who knows some answers.

    Where only their names are given, whatever is true of them counts.
    """
    if design.public:
        return
    columns = design.columns
    column = data.draw(st.sampled_from(columns))
    shown = sorted(data.draw(st.sets(st.sampled_from(columns))))
    others = [c for c in columns if c != column]
    knows = data.draw(st.sets(st.sampled_from(others))) if others else set()
    true = {c: data.draw(st.integers(0, len(design.question(c)) - 1)) for c in knows}
    seen = {c: data.draw(st.integers(0, len(design.question(c)) - 1)) for c in shown}
    prior = prior_of(design, column, weights)
    wanted = tuple(seen[c] for c in shown)

    def likely(record: slow.Record) -> dict[tuple, Fraction]:
        found = slow.partly_seen(design, record, shown)
        return {y: p for y, p in found.items() if y == wanted}

    known = sorted(knows)
    ranges = [range(len(design.question(c))) if by_name else [true[c]] for c in known]
    at = [columns.index(c) for c in known]
    each = [
        slow.most_believed(design, column, prior, likely, dict(zip(at, v, strict=True)))
        for v in product(*ranges)
    ]
    worst = [
        (max(high for high, _ in some), min(low for _, low in some))
        for some in zip(*each, strict=True)
    ]
    labels = design.question(column).values

    def named(codes: dict[str, int]) -> dict[str, str]:
        return {c: design.question(c).values[v] for c, v in codes.items()}

    against = {
        "prior": dict(zip(labels, prior, strict=True)),
        "sees": named(seen),
        "knows": tuple(known) if by_name else named(true),
    }
    for v, (high, low) in enumerate(worst):
        if high < low:  # nobody gives that report, or nobody expects it
            return
        assert high == stated(design, column, v, **against).posterior


@settings(max_examples=60)
@given(designs(3), st.booleans(), SHARES, st.integers(1, 40), st.data())
def test_ratios_hold_in_both_directions(
    design: pv.Design, one_of: bool, weights: list[int], quarters: int, data: object
) -> None:
    design = asked_one_of(design) if one_of else design
    column = data.draw(st.sampled_from(design.columns))  # type: ignore[attr-defined]
    if design.public:
        return
    prior = prior_of(design, column, weights)
    worst = slow.most_believed(design, column, prior)
    labels = design.question(column).values
    against = pv.Bayesian(prior=dict(zip(labels, prior, strict=True)))
    factor = 1 + Fraction(quarters, 4)
    kept = all(
        high <= factor * p and p <= factor * low
        for p, (high, low) in zip(prior, worst, strict=True)
    )
    assert kept == pv.audit(design, pv.Promise(against, pv.Ratio(factor), column)).safe


def bits(number: int, truth: str, **more: bool) -> pv.Design:
    names = [f"q{i}" for i in range(number)]
    return pv.Design(
        [pv.Question(n, ["no", "yes"]) for n in names],
        [pv.Group(n, pv.KAry(truth)) for n in names],
        **more,
    )


def test_three_tied_answers_are_nearly_certain() -> None:
    """The issue's example: 27/28, where each question's line said 3/4."""
    design = bits(3, "3/4")
    assert pv.Belief("1/2", "27/28") == stated(design, "q0", 1)
    assert pv.Belief("1/2", "3/4") == stated(design, "q0", 1, unrelated=True)
    assert pv.Belief("1/2", "9/10") == stated(design, "q0", 1, unrelated=["q2"])
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("3/4"), "q0")
    found = pv.audit(design, promise)
    assert not found.safe
    assert "96.4 %" in found.worst.explain()
    assert "knows how the answers hang together" in found.worst.explain()
    assert "say nothing about this one: 75 %" in found.worst.explain()
    kept = pv.Promise(pv.Bayesian(unrelated=True), pv.Ceiling("3/4"), "q0")
    assert pv.audit(design, kept).safe
    assert "declared unrelated" in pv.audit(design, kept).findings[0].explain()


def test_a_group_that_does_not_ask_still_tells() -> None:
    """Of 3/5 and 9/10, one of them asked: 9, where 3/2 was told."""
    questions = [pv.Question(n, ["no", "yes"]) for n in "ab"]
    groups = [pv.Group("a", pv.KAry("3/5")), pv.Group("b", pv.KAry("9/10"))]
    design = pv.Design(questions, groups, one_of=True)
    assert (9, 9) == bound_odds(design, "a", 1)
    assert pv.Belief("1/2", "9/10") == stated(design, "a", 1)
    assert pv.Belief("1/2", "3/5") == stated(design, "a", 1, unrelated=["b"])


def test_what_is_seen_counts_and_nothing_else() -> None:
    design = bits(3, "3/4")
    one = stated(design, "q0", 1, sees={"q0": "yes"})
    assert Fraction(3, 4) == one.posterior
    both = stated(design, "q0", 1, sees={"q0": "yes", "q1": "no"})
    assert Fraction(9, 10) == both.posterior
    other = stated(design, "q0", 1, sees={"q1": "no"})
    assert Fraction(3, 4) == other.posterior
    known = stated(design, "q0", 1, knows={"q1": "yes", "q2": "no"})
    assert Fraction(3, 4) == known.posterior


@pytest.mark.parametrize("channel", [pv.KAry("7/8"), pv.Replace("5/6")])
def test_a_companion_known_to_be_reported_untruly_says_nothing(
    channel: object,
) -> None:
    """Disguised together: where one was changed, all was drawn, and evenly."""
    questions = [pv.Question(n, ["no", "yes"]) for n in "ab"]
    design = pv.Design(questions, [pv.Group(["a", "b"], channel)])
    sees = {"a": "yes", "b": "yes"}
    sure = stated(design, "a", 1, sees=sees, knows={"b": "yes"})
    assert Fraction(21, 22) == sure.posterior  # 7/8 against 1/24
    even = stated(design, "a", 1, sees=sees, knows={"b": "no"})
    assert Fraction(1, 2) == even.posterior
    # Either may be what is known: of no, the second is the worse.
    assert sure == stated(design, "a", 1, sees=sees, knows=("b",))
    assert Fraction(1, 2) == stated(design, "a", 0, sees=sees, knows=("b",)).posterior
    promise = pv.Promise(
        pv.Bayesian(sees=sees, knows=("b",)), pv.Ceiling("1/3"), {"a": "no"}
    )
    worst = pv.audit(design, promise).worst
    assert {"b": "no"} == dict(worst.witness.knows)


def test_a_number_of_columns_is_at_most_so_many() -> None:
    design = bits(3, "3/4")
    found = [stated(design, "q0", 1, knows=n).posterior for n in (0, 1, 2)]
    assert [Fraction(27, 28)] * 3 == found


def test_an_unknown_question_is_refused() -> None:
    with pytest.raises(pv.ColumnNotFound, match="q9"):
        stated(bits(2, "3/4"), "q0", 1, unrelated=["q9"])
