"""Sweeps show what one-by-one disclosure in the same order shows, and end maximal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracle.disclosure import Disclosure, Template, order
from privet.microdata.suppression.cubes import sparse_cube
from privet.microdata.suppression.cubes.protected_counts import ProtectedPeople
from privet.microdata.suppression.cubes.sparse_cube import SparseCube
from privet.microdata.suppression.sweeps import SweepState
from privet.microdata.suppression.top_down_disclosure import (
    SuppressedAttribute,
    Utility,
)
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain

SETS = [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"), ("c",), ("a", "f")]


@pytest.fixture(autouse=True, scope="module", params=[0, 10**9])
def per_row(request: pytest.FixtureRequest) -> Iterator[None]:
    """Cells of a cube are counted one way, and the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_cube, "PER_ROW", request.param)
        yield


@dataclass(frozen=True)
class Rule:
    """A promise: no value of several may be inferred from a set of columns."""

    qid: tuple[str, ...]
    values: tuple[str, ...]
    limit: Fraction
    strict: bool

    def templates(self) -> list[Template]:
        return [
            Template(self.qid, "s", v, self.limit, self.strict) for v in self.values
        ]


def random_rules(dice: random.Random) -> list[Rule]:
    return [
        Rule(
            qid,
            tuple(dice.sample(["flu", "hiv", "none"], dice.randint(1, 3))),
            Fraction(dice.randint(4, 10), 10),
            dice.random() < 0.3,
        )
        for qid in dice.sample(SETS, dice.randint(1, 3))
    ]


def random_case(
    dice: random.Random, rules: list[Rule], *, ordered: bool, heavy: int = 4
) -> Disclosure:
    values: dict[str, list[Any]] = {
        "a": ["p", "q", "r", "s", "t"][: dice.randint(1, 5)],
        "b": ["x", "y", "z", None][: dice.randint(1, 4)],
        "c": list(range(dice.randint(1, 6))),
        "f": ["u", "v"],
        "s": ["flu", "hiv", "none", "cold"],
        "k": ["good", "bad", "ugly"][: dice.randint(1, 3)],
    }
    rows = [
        {**{j: dice.choice(v) for j, v in values.items()}, "n": dice.randint(1, heavy)}
        for _ in range(dice.randint(1, 20))
    ]
    return Disclosure(
        rows,
        [t for r in rules for t in r.templates()],
        "k",
        fixed=frozenset("f"),
        ordered=frozenset("c") if ordered else frozenset(),
        utility=dice.choice(["information", "distortion"]),
        split=dice.choice(["infogain", "valid", "valid"]),
    )


def build(case: Disclosure, rules: list[Rule]) -> SweepState:
    """The same problem for the fast implementation, coded by hand."""
    names = case.attributes()
    domains = {j: sorted({r[j] for r in case.rows}, key=order) for j in (*names, "f")}
    classes = sorted({r["k"] for r in case.rows})
    attributes = []
    for j in names:
        counts = np.zeros((len(domains[j]), len(classes)), dtype=np.int64)
        for r in case.rows:
            counts[domains[j].index(r[j]), classes.index(r["k"])] += r["n"]
        labels = [None if v is None else str(v) for v in domains[j]]
        attributes.append(
            SuppressedAttribute(Domain(j, labels), counts, ordered=j in case.ordered)
        )
    sets = list(dict.fromkeys(tuple(sorted(r.qid)) for r in rules))
    return SweepState(
        attributes,
        [cube(case, qid, rules, names, domains) for qid in sets],
        utility=Utility(case.utility, sum(r["n"] for r in case.rows)),
        maximal=True,
        split=case.split,
    )


def cube(
    case: Disclosure,
    qid: tuple[str, ...],
    rules: list[Rule],
    names: list[str],
    domains: dict[str, list[Any]],
) -> SparseCube:
    cells = list(dict.fromkeys(tuple(r[j] for j in qid) for r in case.rows))
    of = [cells.index(tuple(r[j] for j in qid)) for r in case.rows]
    mine = [r for r in rules if tuple(sorted(r.qid)) == qid]
    maskable = [j for j in qid if j in names]
    fixed = [j for j in qid if j not in names]
    total = np.zeros(len(cells), dtype=np.int64)
    np.add.at(total, of, [r["n"] for r in case.rows])
    return SparseCube(
        [names.index(j) for j in maskable],
        [
            np.array([domains[j].index(k[qid.index(j)]) for k in cells])
            for j in maskable
        ],
        np.array(
            [sum(domains[j].index(k[qid.index(j)]) for j in fixed) for k in cells]
        ),
        total,
        [people(case, rule, of) for rule in mine],
        [[Ceiling(below=r.limit) if r.strict else Ceiling(r.limit)] for r in mine],
    )


def people(case: Disclosure, rule: Rule, of: list[int]) -> ProtectedPeople:
    there = [
        (i, r) for i, r in zip(of, case.rows, strict=True) if r["s"] in rule.values
    ]
    return ProtectedPeople(
        np.array([i for i, _ in there], dtype=np.int64),
        np.array([rule.values.index(r["s"]) for _, r in there], dtype=np.int64),
        np.array([r["n"] for _, r in there], dtype=np.int64),
        len(rule.values),
    )


def holds(case: Disclosure) -> bool:
    table = case.table()
    return all(t.holds(case.confidence(t, table)) for t in case.templates)


def confidences(case: Disclosure, rules: list[Rule]) -> list[Fraction]:
    table = case.table()
    return sorted(
        max(case.confidence(t, table) for t in rule.templates()) for rule in rules
    )


def replay(case: Disclosure, name: str, values: list[Any]) -> list[Any]:
    """Values shown, or cuts made, one by one in this order, where it is allowed."""
    shown = []
    for value in values:
        hidden, cuts = case.after(name, value)
        if case.valid(hidden, cuts, name):
            case.hidden, case.cuts = hidden, cuts
            shown.append(value)
    return shown


def told(value: Any) -> str | None:
    return None if value is None else str(value)


def is_maximal(case: Disclosure) -> bool:
    """Whether every further value, and every further cut, breaks a promise."""
    for j in case.attributes():
        if j in case.ordered:
            points = sorted({r[j] for r in case.rows}, key=order)[:-1]
            open_ = [v for v in points if v not in case.cuts[j]]
        else:
            open_ = list(case.hidden[j]) if len(case.hidden[j]) > 1 else []
        if any(case.valid(*case.after(j, v), j) for v in open_):
            return False
    return True


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_sweeps_are_sequential_safe_and_maximal(seed: int, ordered: bool) -> None:
    for i in range(12):
        dice = random.Random(f"{seed} {i} {ordered}")
        rules = random_rules(dice)
        heavy = dice.choice([1, 4, 4, 2**40])
        case = random_case(dice, rules, ordered=ordered, heavy=heavy)
        state = build(case, rules)
        if not case.feasible():
            continue
        names = case.attributes()
        while (move := state.find_best_move()) is not None:
            name = names[move.attribute]
            domain = sorted({r[name] for r in case.rows}, key=order)
            expected = replay(case, name, [domain[int(c)] for c in move.codes])
            step = state.apply(move)
            assert [told(v) for v in expected] == list(step.values)
            assert len(move.codes) - len(expected) == step.refused
            assert holds(case)
            found = [c for cube in state.cubes for c in cube.confidences]
            assert confidences(case, rules) == sorted(found)
        assert case.split == "infogain" or is_maximal(case)
