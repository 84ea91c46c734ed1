"""The fast top-down disclosure makes the moves its definition asks for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracle.disclosure import Disclosure, Row, Step, Template, order
from privet.microdata.suppression import group_histograms
from privet.microdata.suppression.cubes.count_cube import Cube
from privet.microdata.suppression.group_histograms import GroupHistograms
from privet.microdata.suppression.top_down_disclosure import (
    DisclosureState,
    SuppressedAttribute,
    Utility,
)
from privet.release.refine import refine
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain


@pytest.fixture(
    autouse=True, scope="module", params=["by histograms", "by rows", "both"]
)
def per_row(request: pytest.FixtureRequest) -> Iterator[str]:
    """Histograms of groups whatever their size; never; or until they grow too large."""
    sizes = {"by histograms": 10**9, "by rows": 0, "both": 40}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_histograms, "PER_ROW", sizes[request.param])
        yield request.param


def random_case(dice: random.Random, *, ordered: bool) -> Disclosure:
    values = {
        "a": ["p", "q", "r", "s"][: dice.randint(1, 4)],
        "b": ["x", "y", "z", None][: dice.randint(1, 4)],
        "c": list(range(dice.randint(1, 6))),
        "f": ["u", "v"],
        "s": ["flu", "hiv", "none"],
        "k": ["good", "bad", "ugly"][: dice.randint(1, 3)],
    }
    rows = [
        {**{j: dice.choice(v) for j, v in values.items()}, "n": dice.randint(1, 4)}
        for _ in range(dice.randint(1, 16))
    ]
    sets = [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"), ("c",), ("a", "f")]
    templates = [
        Template(
            qid,
            "s",
            dice.choice(["flu", "hiv"]),
            Fraction(dice.randint(2, 10), 10),
            dice.random() < 0.3,
        )
        for qid in dice.sample(sets, dice.randint(1, 3))
    ]
    return Disclosure(
        rows,
        templates,
        "k",
        fixed=frozenset("f"),
        ordered=frozenset("c") if ordered else frozenset(),
        utility=dice.choice(["information", "information", "distortion"]),
        split=dice.choice(["infogain", "valid"]),
        weighted=dice.random() < 0.2,
    )


def build(case: Disclosure, *, maximal: bool) -> DisclosureState:
    """The same problem for the fast implementation, coded by hand."""
    names = case.attributes()
    domains = {
        j: sorted({r[j] for r in case.rows}, key=order) for j in (*names, "f", "k")
    }
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
    cubes = [cube(case, qid, names, domains) for qid in qids(case)]
    everybody = sum(r["n"] for r in case.rows) if case.weighted else 0
    return DisclosureState(
        attributes,
        cubes,
        utility=Utility(case.utility, everybody),
        maximal=maximal,
        split=case.split,
    )


def qids(case: Disclosure) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(sorted(t.qid)) for t in case.templates))


def cube(
    case: Disclosure,
    qid: tuple[str, ...],
    names: list[str],
    domains: dict[str, list[Any]],
) -> Cube:
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for r in case.rows:
        cells.setdefault(tuple(r[j] for j in qid), []).append(r)
    mine = [t for t in case.templates if tuple(sorted(t.qid)) == qid]
    rules = list(dict.fromkeys((t.column, t.value) for t in mine))
    limits = [
        [
            Ceiling(below=t.limit) if t.strict else Ceiling(t.limit)
            for t in mine
            if (t.column, t.value) == rule
        ]
        for rule in rules
    ]
    maskable = [j for j in qid if j in names]
    fixed = [j for j in qid if j not in names]
    return Cube(
        [names.index(j) for j in maskable],
        [
            np.array([domains[j].index(k[qid.index(j)]) for k in cells])
            for j in maskable
        ],
        np.array(
            [sum(domains[j].index(k[qid.index(j)]) for j in fixed) for k in cells]
        ),
        np.array([sum(r["n"] for r in rows) for rows in cells.values()]),
        np.array(
            [
                [sum(r["n"] for r in rows if r[c] == v) for c, v in rules]
                for rows in cells.values()
            ]
        ),
        limits,
    )


def every_state_holds(case: Disclosure, steps: list[Step]) -> bool:
    """Whether each template holds after each step, by the rule it belongs to."""
    rules = [t.rule for t in case.rules()]
    return all(
        t.holds(step.confidences[rules.index(t.rule)])
        for step in steps
        for t in case.templates
    )


def told(value: Any) -> str | None:
    return None if value is None else str(value)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("maximal", [False, True])
@pytest.mark.parametrize("seed", range(45))
def test_greedy_equals_its_definition(seed: int, maximal: bool, ordered: bool) -> None:
    for i in range(12):
        dice = random.Random(f"{seed} {i} {maximal} {ordered}")
        case = random_case(dice, ordered=ordered)
        fast = build(case, maximal=maximal)
        assert case.feasible() == all(c.holds() for c in fast.cubes)
        if not case.feasible():
            continue
        slow = case.run(maximal=maximal).steps
        steps = refine(fast).steps
        assert [(s.attribute, told(s.value)) for s in slow] == [
            (s.column, s.value) for s in steps
        ]
        for expected, actual in zip(slow, steps, strict=True):
            assert expected.gain == pytest.approx(actual.gain, abs=1e-9)
            assert expected.loss == pytest.approx(actual.loss, abs=1e-9)
            assert expected.score == pytest.approx(actual.score, abs=1e-9)
            assert sorted(expected.confidences) == sorted(actual.confidences)
        assert every_state_holds(case, slow)


def test_only_the_rows_of_the_smaller_parts_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 64 rows, 8 with each value: all are counted once, then those 8."""
    monkeypatch.setattr(group_histograms, "PER_ROW", 100)
    rng = np.random.default_rng(2)
    codes = [np.arange(64) % 8, np.arange(64) // 8]
    total = rng.integers(5, 9, 64)
    cube = Cube(
        [0, 1], codes, np.zeros(64), total, (total > 5)[:, None], [[Ceiling("1/2")]]
    )
    counted = list[int]()
    count = GroupHistograms._count

    def look_on(self: GroupHistograms, groups: Any) -> Any:
        counted.append(int((groups.stop - groups.start).sum()))
        return count(self, groups)

    monkeypatch.setattr(GroupHistograms, "_count", look_on)
    wanted = [np.ones(8, dtype=bool)] * 2
    cube.look_ahead(cube.view(), wanted, [False, False])
    for attribute, code in [(0, 3), (1, 2), (0, 5)]:
        cube.look_ahead(cube.split(attribute, code, code), wanted, [False, False])
    assert [64, 8, 8, 8] == counted
