"""Levels that keep promises about windows of numbers and lists, by definition."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from oracle.windows import belief, share

CASES = int(os.environ.get("PRIVET_CASES", "12"))

AGES = {"20": ["young"], "21": ["young"], "60": ["old"], "61": ["old"]}
JOBS = {"cook": ["manual"], "smith": ["manual"], "judge": ["office"]}
QUASI = ("age", "job")
Person = tuple[tuple[str, str], str | None]
"""Age and job, and the number as a text."""


def draw_people(dice: random.Random) -> list[Person]:
    pay = dice.choice([["1", "2", "9"], ["0", "10", "11", "12.5", "40", None]])
    return [
        ((dice.choice([*AGES]), dice.choice([*JOBS])), dice.choice(pay))
        for _ in range(dice.randint(3, 12))
    ]


def read(people: list[Person]) -> pv.Table:
    return pv.read(
        pa.table(
            {
                "age": [known[0] for known, _ in people],
                "job": [known[1] for known, _ in people],
                "pay": [None if pay is None else float(pay) for _, pay in people],
            }
        ),
        quasi=QUASI,
        sensitive="pay",
    )


def climb(value: str, levels: dict[str, list[str]], level: int) -> str:
    return (value, *levels[value], "*")[level]


def list_costs(
    people: list[Person], limit: Fraction, within: str, l: int, k: int, budget: int
) -> Iterator[Fraction]:
    """What each safe choice of levels and starred groups costs."""
    each = [{known[c] for known, _ in people} for c in (0, 1)]
    for node in product(range(3), range(3)):
        groups: dict[tuple[str, str], list[Person]] = {}
        for person in people:
            (age, job), _ = person
            label = climb(age, AGES, node[0]), climb(job, JOBS, node[1])
            groups.setdefault(label, []).append(person)
        for out in chain.from_iterable(
            combinations(groups, n) for n in range(len(groups) + 1)
        ):
            starred = [p for label in out for p in groups[label]]
            kept = [g for label, g in groups.items() if label not in out]
            if len(starred) > budget:
                continue
            shown = [_count(g) for g in [*kept, starred] if g]
            if belief(shown, within, l, k) <= limit:
                wide = sum(_width(p, node, each) for g in kept for p in g)
                yield (wide + len(starred)) / len(people)


def _count(group: list[Person]) -> dict[str | None, int]:
    return {pay: sum(p[1] == pay for p in group) for pay in {p[1] for p in group}}


def _width(person: Person, node: tuple[int, ...], each: list[set[str]]) -> Fraction:
    found = Fraction(0)
    for value, levels, level, occur in zip(
        person[0], (AGES, JOBS), node, each, strict=True
    ):
        label = climb(value, levels, level)
        leaves = sum(climb(v, levels, level) == label for v in occur)
        if len(occur) > 1:
            found += Fraction(leaves - 1, len(occur) - 1) / 2
    return found


@pytest.mark.parametrize("seed", range(CASES))
def test_the_best_levels_for_a_window(seed: int) -> None:
    dice = random.Random(seed)
    people = draw_people(dice)
    within = dice.choice(["1", "10 %", "2"])
    l, k = dice.choice([(0, 0), (0, 0), (1, 0), (0, 1)])
    limit = Fraction(dice.choice(["1/2", "2/3", "3/4"]))
    share_out = dice.choice(["0", "0.3"])
    who: Any = pv.Insider(l, k, 0) if l or k else pv.Linker()
    promise = pv.Promise(who, pv.Ceiling(limit), {"pay": {"within": within}})
    method = pv.FullDomain(hierarchies={"age": AGES, "job": JOBS}, suppress=share_out)
    budget = int(Fraction(share_out) * len(people))
    least = min(list_costs(people, limit, within, l, k, budget), default=None)
    with read(people) as table:
        try:
            release = pv.publish(table, promise, method=method, utility=False)
        except pv.Infeasible:
            assert least is None
            return
    assert least is not None
    if release.method != "full-domain":  # safe as it is
        assert 0 == least
        return
    assert release.grouped is not None
    choice = release.grouped.partition.choice
    assert choice is not None
    assert choice.bound <= float(least) + 1e-9
    assert choice.cost >= float(least) - 1e-9
    if choice.optimum == "proved":
        assert choice.cost == pytest.approx(float(least))


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("subtrees", [False, True])
def test_the_file_keeps_windows(seed: int, subtrees: bool, tmp_path: Path) -> None:
    """With a column beside that somebody knows, companions, and people left out."""
    dice = random.Random(seed)
    people = draw_people(dice) * dice.choice([1, 3])
    clubs = [dice.choice(["chess", "golf"]) for _ in people]
    limit = pv.Ceiling(dice.choice(["0.7", "0.85"]))
    about = {"pay": {"within": "2"}}
    promises = [
        pv.Promise(pv.Linker(), limit, about, name="everything"),
        pv.Promise(pv.Linker(["age", "club"]), limit, about, name="beside"),
        pv.Promise(pv.Insider(0, 0, 1), pv.Ceiling("0.9"), about, name="companion"),
    ]
    table = pv.read(
        pa.table(
            {
                "age": [known[0] for known, _ in people],
                "job": [known[1] for known, _ in people],
                "club": clubs,
                "pay": [None if pay is None else float(pay) for _, pay in people],
            }
        ),
        quasi=QUASI,
        sensitive="pay",
        other=["club"],
    )
    method = pv.FullDomain(
        hierarchies={"age": AGES, "job": JOBS},
        subtrees=subtrees,
        suppress="0.3",
        leave_out=dice.random() < 0.5,
    )
    try:
        release = pv.publish(table, promises, method=method, utility=False)
    except pv.Infeasible:
        return
    out = tmp_path / "out"
    release.accept({"pay": "a test"}).write(out, custody=tmp_path / "kept")
    assert pv.verify(out).good
    written = pq.read_table(out / "table.parquet").to_pylist()
    rows = [
        (r["age"], r["job"], r["club"], None if r["pay"] is None else str(r["pay"]))
        for r in written
    ]
    assert share(rows, "2") <= limit.level


def draw_lists(dice: random.Random) -> list[tuple[tuple[str, str], tuple[str, ...]]]:
    return [
        (
            (dice.choice([*AGES]), dice.choice([*JOBS])),
            tuple(dice.sample(["a", "b", "c"], dice.choice([0, 0, 1, 1, 2]))),
        )
        for _ in range(dice.randint(6, 20))
    ]


@pytest.mark.parametrize("seed", range(CASES))
def test_the_file_keeps_lists(seed: int, tmp_path: Path) -> None:
    """A member of somebody's list, counted in the groups that were written."""
    dice = random.Random(seed)
    people = draw_lists(dice)
    limit = Fraction(dice.choice(["0.6", "0.75"]))
    promises = [
        pv.Promise(pv.Linker(), pv.Ceiling(limit), "s", name="members"),
        pv.Promise(pv.Insider(1, 0, 1), pv.Ceiling("0.95"), "s", name="insider"),
    ]
    columns = pa.table(
        {
            "age": [known[0] for known, _ in people],
            "job": [known[1] for known, _ in people],
            "s": pa.array([list(s) for _, s in people], pa.list_(pa.string())),
        }
    )
    method = pv.FullDomain(hierarchies={"age": AGES, "job": JOBS}, suppress="0.3")
    with pv.read(columns, quasi=QUASI, sensitive="s") as table:
        try:
            release = pv.publish(table, promises, method=method, utility=False)
        except pv.Infeasible:
            return
        release.write(tmp_path / "out", custody=tmp_path / "kept")
    assert pv.verify(tmp_path / "out").good
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for row in pq.read_table(tmp_path / "out" / "table.parquet").to_pylist():
        groups.setdefault((row["age"], row["job"]), []).append(row["s"])
    for own in groups.values():
        for member in {m for s in own for m in s}:
            assert Fraction(sum(member in s for s in own), len(own)) <= limit


def test_a_window_beside_a_measure_keeps_its_reference() -> None:
    """People are left out: t-closeness is held against those who stay."""
    people = [(("20", "cook"), "1"), (("21", "cook"), "9")] * 4
    people += [(("60", "judge"), "1")]
    about = {"pay": {"within": "1"}}
    asked = [
        pv.Promise(pv.Linker(), pv.Ceiling("0.6"), about),
        pv.Measure(t_closeness="0.2", about="pay"),
    ]
    method = pv.FullDomain(
        hierarchies={"age": AGES, "job": JOBS}, suppress="0.2", leave_out=True
    )
    with read(people) as table:
        release = pv.publish(table, asked, method=method, utility=False)
    assert release.audit.safe
