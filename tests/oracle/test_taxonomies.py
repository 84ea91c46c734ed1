"""Nodes of a hierarchy are shown as one by one would be, safely, until none is left."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from oracle.disclosure import Disclosure
from oracle.test_sweeps import Rule, cube
from privet.microdata.suppression.exchange import improve, measure_worth
from privet.microdata.suppression.sweeps import SweepState
from privet.microdata.suppression.taxonomy import Taxonomy
from privet.microdata.suppression.top_down_disclosure import (
    SuppressedAttribute,
    Utility,
)
from privet.release.refine import refine
from privet.values.contingency import Domain
from privet.values.hierarchies import Hierarchy

import numpy as np  # isort: skip

PATHS = {
    "p": ["left", "west", "*"],
    "q": ["left", "west", "*"],
    "r": ["right", "west", "*"],
    "s": ["far", "east", "*"],
    "t": ["far", "east", "*"],
    "u": ["near", "east", "*"],
}
Node = tuple[int, str]
"""A level from fine to coarse, and a name; values are of level 0."""


def find_label(value: str | None, shown: set[Node]) -> Any:
    """The lowest shown node of a value."""
    path = [value, *PATHS.get(value or "", ["*"])[:-1]]
    for level, name in enumerate(path):
        if (level, name) in shown:
            return level, name
    return "⊥"


class Released:
    """Two columns with shown nodes, counted as they are released."""

    def __init__(self, rows: list[dict[str, Any]], rules: list[Rule]) -> None:
        self.rows, self.rules = rows, rules
        self.shown: dict[str, set[Node]] = {"a": set(), "b": set()}

    def confidence(self, rule: Rule, shown: dict[str, set[Node]]) -> Fraction:
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in self.rows:
            key = tuple(find_label(row[j], shown[j]) for j in rule.qid)
            groups.setdefault(key, []).append(row)
        return max(
            Fraction(
                sum(r["n"] for r in group if r["s"] == v), sum(r["n"] for r in group)
            )
            for group in groups.values()
            for v in rule.values
        )

    def holds(self, shown: dict[str, set[Node]]) -> bool:
        found = [(r, self.confidence(r, shown)) for r in self.rules]
        return all(c < r.limit if r.strict else c <= r.limit for r, c in found)

    def after(self, j: str, node: Node) -> dict[str, set[Node]]:
        return {**self.shown, j: self.shown[j] | {node}}

    def nodes(self, j: str) -> set[Node]:
        values = {r[j] for r in self.rows}
        found = {(0, v) for v in values}
        if j == "a":
            paths = [PATHS[v] for v in values if v is not None]
            found |= {(i, p[i - 1]) for p in paths for i in (1, 2)}
        return found


def random_released(dice: random.Random) -> Released:
    rows = [
        {
            "a": dice.choice([*PATHS, *PATHS, None]),
            "b": dice.choice("xyz"),
            "f": "",
            "s": dice.choice(["flu", "hiv", "none", "none"]),
            "k": dice.choice(["good", "bad"]),
            "n": dice.randint(1, 4),
        }
        for _ in range(dice.randint(3, 24))
    ]
    values = tuple(dice.sample(["flu", "hiv", "none"], dice.randint(1, 2)))
    limit = Fraction(dice.randint(4, 9), 10)
    rules = [Rule(("a", "b"), values, limit, dice.random() < 0.3)]
    if dice.random() < 0.4:
        rules.append(Rule(("a",), ("hiv",), Fraction(dice.randint(3, 9), 10), False))
    return Released(rows, rules)


def build(made: Released, utility: str) -> SweepState:
    domains: dict[str, list[Any]] = {
        j: sorted({r[j] for r in made.rows}, key=lambda v: (v is not None, v))
        for j in "ab"
    }
    classes = sorted({r["k"] for r in made.rows})
    attributes = []
    for j in "ab":
        counts = np.zeros((len(domains[j]), len(classes)), dtype=np.int64)
        for r in made.rows:
            counts[domains[j].index(r[j]), classes.index(r["k"])] += r["n"]
        domain = Domain(j, domains[j])
        nodes = Taxonomy.build(Hierarchy(PATHS), domain) if j == "a" else None
        attributes.append(
            SuppressedAttribute(domain, counts, ordered=False, taxonomy=nodes)
        )
    case = Disclosure(made.rows, [t for r in made.rules for t in r.templates()], "k")
    sets = list(dict.fromkeys(r.qid for r in made.rules))
    domains["f"] = [""]
    return SweepState(
        attributes,
        [cube(case, qid, made.rules, ["a", "b"], domains) for qid in sets],
        utility=Utility(utility, sum(r["n"] for r in made.rows)),
        maximal=True,
        split="valid",
    )


def number_level(attribute: SuppressedAttribute, level: int, name: str | None) -> Node:
    """The level of a node as the definition counts it: values are 0."""
    if level == len(attribute.levels) - 1:
        return 0, name  # type: ignore[return-value]
    path = next(p for p in PATHS.values() if name in p)
    return path.index(name) + 1, name  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("seed", range(25))
def test_nodes_are_shown_one_by_one_safely_until_none_is_left(seed: int) -> None:
    for i in range(8):
        dice = random.Random(f"taxonomy {seed} {i}")
        made = random_released(dice)
        state = build(made, dice.choice(["information", "distortion"]))
        if not made.holds(made.shown):
            continue
        while (move := state.find_best_move()) is not None:
            attribute = state.attributes[move.attribute]
            names = attribute.name_nodes(move.level, move.codes)
            j, expected = "ab"[move.attribute], []
            for name in names:
                node = number_level(attribute, move.level, name)
                after = made.after(j, node)
                if made.holds(after):
                    made.shown = after
                    expected.append(name)
            step = state.apply(move)
            assert tuple(expected) == step.values
            found = sorted(c for each in state.cubes for c in each.confidences)
            assert sorted(made.confidence(r, made.shown) for r in made.rules) == found
        for j in "ab":
            for node in made.nodes(j) - made.shown[j]:
                finer = made.after(j, node)
                same = all(
                    find_label(r[j], finer[j]) == find_label(r[j], made.shown[j])
                    for r in made.rows
                )
                alone = j == "b" and len(made.nodes(j) - made.shown[j]) == 1
                assert same or alone or not made.holds(finer)


@pytest.mark.parametrize("seed", range(12))
def test_written_labels_are_recounted(seed: int, tmp_path: Path) -> None:
    """Through the front door: labels, the file, and what verify makes of it."""
    dice = random.Random(f"written taxonomy {seed}")
    rows = 60
    table = pa.table(
        {
            "a": [dice.choice([*PATHS, None]) for _ in range(rows)],
            "b": [dice.choice("xyz") for _ in range(rows)],
            "s": [dice.choice(["hiv", "none", "none", "flu"]) for _ in range(rows)],
        }
    )
    source = pv.read(table, quasi=["a", "b"], sensitive="s")
    promise = pv.Promise(pv.Linker(["a", "b"]), pv.Ceiling("3/5"), about="s")
    method = pv.TopDownDisclosure(hierarchies={"a": PATHS})
    release = pv.publish(source, [promise], method=method)
    assert release.safe
    release.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    assert () == pv.verify(tmp_path / "out", custody=tmp_path / "vault").problems
    shown = (
        pv.read(tmp_path / "out" / "table.csv", header=True).domains(["a"])["a"].labels
    )
    names = {n for p in PATHS.values() for n in p} | {*PATHS, "⊥", None}
    assert {str(v).removeprefix("other ") for v in shown} <= {str(n) for n in names}
    recipe = pv.Recipe.load(tmp_path / "vault")
    assert release.recipe == recipe
    again = pv.publish(source, [promise], recipe=recipe)
    assert again.recipe == release.recipe


def test_exchange_keeps_nodes() -> None:
    """Refilling begins anew with the nodes that are shown, and stays safe."""

    for i in range(40):
        dice = random.Random(f"exchange of nodes {i}")
        made = random_released(dice)
        state = build(made, "distortion")
        if not made.holds(made.shown):
            continue
        refine(state)
        before = measure_worth(state.attributes, bits=False)
        improve(state, thorough=False)
        after = measure_worth(state.attributes, bits=False)
        assert after.cells >= before.cells - 1e-9

        made.shown = {"a": set(), "b": set()}
        for j, attribute in zip("ab", state.attributes, strict=True):
            for code, value in enumerate(attribute.domain.labels):
                level = int(attribute.climbed[code])
                if not attribute.hidden[code]:
                    made.shown[j].add((0, value))  # type: ignore[arg-type]
                elif level >= 0:
                    node = attribute.levels[level][[code]]
                    (name,) = attribute.name_nodes(level, node)
                    made.shown[j].add(number_level(attribute, level, name))
        assert made.holds(made.shown)
