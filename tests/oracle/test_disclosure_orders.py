"""Another order ends safe and maximal, is never worth less, and may be the paper's."""

from __future__ import annotations

import random
from copy import copy
from dataclasses import replace
from fractions import Fraction

import pytest

from oracle.disclosure import Disclosure
from oracle.test_exchange import take_over
from oracle.test_sweeps import (
    Rule,
    build,
    confidences,
    holds,
    is_maximal,
    random_case,
    random_rules,
    told,
)
from privet.microdata.suppression.disclosure_orders import (
    measure_above_chance,
    try_orders,
)
from privet.microdata.suppression.exchange import measure_worth
from privet.microdata.suppression.sweeps import SweepOrder, SweepState
from privet.microdata.suppression.top_down_disclosure import Utility
from privet.release.refine import refine

WIDE = [Rule(("a", "b"), ("hiv",), Fraction(1, 2), False)]


def measure(case: Disclosure, state: SweepState) -> tuple[float, float]:
    """What is compared, from what is shown."""
    bits = 0.0
    if case.utility == "information":
        bits = sum(map(measure_above_chance, state.attributes))
    return bits, measure_worth(state.attributes, bits=False).cells


@pytest.mark.parametrize("seed", range(30))
def test_orders_are_safe_maximal_and_never_worth_less(seed: int) -> None:
    for i in range(4):
        dice = random.Random(f"orders {seed} {i}")
        rules = random_rules(dice)
        case = random_case(dice, rules, ordered=i % 2 == 1)
        state = build(case, rules)
        if not case.feasible():
            continue
        first = refine(state)
        before = measure(case, state)
        found = try_orders(state, first, weighted=dice.choice([None, True]))
        after = measure(case, state)
        assert "finished" == found.ended
        assert after[0] >= before[0] - 1e-9
        assert after[0] > before[0] + 1e-9 or after[1] >= before[1] - 1e-9
        assert (found is first) or after != before
        take_over(case, state)
        assert holds(case)
        # The steps are those of the order that was taken.
        if found.steps:
            assert confidences(case, rules) == sorted(found.steps[-1].confidences)
        assert case.split == "infogain" or is_maximal(case)


@pytest.mark.parametrize("seed", range(60))
def test_one_value_at_a_time_shows_the_best_each_time(seed: int) -> None:
    """A protected value per promise: the paper's Score, counted from released rows."""
    dice = random.Random(f"paper's order {seed}")
    rules = [replace(r, values=r.values[:1]) for r in random_rules(dice)]
    case = random_case(dice, rules, ordered=False)
    case.utility, case.split = "information", "infogain"
    if not case.feasible():
        return
    state = build(case, rules).begin_anew(
        SweepOrder(above_chance=False, single=1000), Utility("information")
    )
    state.maximal = False
    values = {j: {told(r[j]): r[j] for r in case.rows} for j in case.attributes()}
    for step in refine(state).steps:
        (value,) = step.values
        own = values[step.column][value]
        shown = copy(case)
        shown.steps = []
        assert shown.step()
        assert pytest.approx(shown.steps[0].score) == step.score
        case.hidden, case.cuts = case.after(step.column, own)
    case.steps = []
    assert not case.step() or abs(case.steps[0].gain) < 1e-9


def test_a_thousand_values_that_tell_nothing_do_not_win() -> None:
    """What chance gives to a column of many values is taken off."""
    dice = random.Random("noise")
    rows = [
        {"a": f"{i % 500:03}", "b": "xy"[i % 2], "c": 0, "f": "u", "s": "none"}
        | {"k": dice.choice(["good", "bad"]), "n": 1}
        for i in range(2000)
    ]
    case = Disclosure(rows, [t for r in WIDE for t in r.templates()], "k")
    state = build(case, WIDE)
    noise = state.attributes[0]
    noise.hidden[:] = False
    bits = measure_worth([noise], bits=True).bits
    assert bits > 0.15
    assert abs(measure_above_chance(noise)) < bits / 5
    assert 0 <= measure_above_chance(state.attributes[1]) < 0.01
