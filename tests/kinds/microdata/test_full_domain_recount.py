"""Full-domain releases, recounted from their files as a stranger would."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv

CASES = int(os.environ.get("PRIVET_CASES", "2"))

JOBS = {
    "Cook": ["Service", "Manual"],
    "Maid": ["Service", "Manual"],
    "Smith": ["Craft", "Manual"],
    "Judge": ["Law", "Office"],
}
QUASI = ("age", "job", "born", "zip")

Rows = list[dict[str, Any]]


def draw_rows(dice: random.Random) -> dict[str, list[Any]]:
    """Numbers, categories, dates, codes; some missing; a column beside them."""
    several = dice.randint(3, 40)
    first = date(2020, 1, 1)
    span = dice.choice([3, 400])
    ages = dice.choice([[20, 21], [18, 23, 35, 36, 61, None]])
    return {
        "age": [dice.choice(ages) for _ in range(several)],
        "job": [dice.choice([*JOBS, None]) for _ in range(several)],
        "born": [first + timedelta(dice.randrange(span)) for _ in range(several)],
        "zip": [f"10{dice.randrange(20):03d}" for _ in range(several)],
        "club": [dice.choice(["chess", "golf"]) for _ in range(several)],
        "ill": [dice.choice(["flu", "flu", "hiv", "none"]) for _ in range(several)],
    }


def draw_promises(dice: random.Random) -> dict[str, Any]:
    """Limits to be kept; what is left out is not promised."""
    every = {
        "k": dice.choice([2, 3, 4]),
        "distinct": 2,
        "t": Fraction(dice.choice(["0.3", "0.45"])),
        "sure": Fraction(dice.choice(["0.6", "0.75", "0.9"])),
        "insider": (dice.choice([0, 1]), dice.choice([0, 1]), dice.choice([0, 1])),
        "beside": Fraction("0.85"),
    }
    return {key: every[key] for key in dice.sample(sorted(every), dice.randint(1, 3))}


def state(asked: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    if "k" in asked:
        found.append(pv.Measure(k_anonymity=asked["k"]))
    if "distinct" in asked:
        found.append(pv.Measure(distinct_l_diversity=asked["distinct"]))
    if "t" in asked:
        found.append(pv.Measure(t_closeness=asked["t"], distance="equal"))
    if "sure" in asked:
        found.append(pv.Promise(pv.Linker(), pv.Ceiling(asked["sure"]), "ill"))
    if "insider" in asked:
        l, k, m = asked["insider"]
        who = pv.Insider(rules_out=l, knows_others=k, same_as=m)
        found.append(pv.Promise(who, pv.Ceiling(Fraction(9, 10)), "ill"))
    if "beside" in asked:
        who = pv.Linker(["age", "club"])
        found.append(pv.Promise(who, pv.Ceiling(asked["beside"]), "ill"))
    return found


def group(rows: Rows, by: tuple[str, ...]) -> list[Counter[str]]:
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for row in rows:
        found.setdefault(tuple(row[c] for c in by), Counter())[row["ill"]] += 1
    return list(found.values())


def find_surest(own: Counter[str], l: int = 0, k: int = 0) -> Fraction:
    """The surest belief of somebody who rules out l values and knows k people."""
    surest = Fraction(0)
    for value, a in own.items():
        others = sorted((n for v, n in own.items() if v != value), reverse=True)
        surest = max(surest, Fraction(a, a + max(sum(others[l:]) - k, 0)))
    return surest


def find_farthest(groups: list[Counter[str]]) -> Fraction:
    """t-closeness where all values are as far from each other."""
    everybody = sum(groups, Counter[str]())
    whole = everybody.total()
    return max(
        sum(
            abs(Fraction(own[v], own.total()) - Fraction(n, whole))
            for v, n in everybody.items()
        )
        / 2
        for own in groups
    )


def recount(rows: Rows, asked: dict[str, Any], beside: tuple[str, ...]) -> None:
    """`beside` is what tells the groups of somebody who knows age and club."""
    groups = group(rows, QUASI)
    if "k" in asked:
        assert asked["k"] <= min(g.total() for g in groups)
    if "distinct" in asked:
        assert asked["distinct"] <= min(map(len, groups))
    if "t" in asked:
        assert find_farthest(groups) <= asked["t"]
    if "sure" in asked:
        # Who knows all known columns knows what stands beside them, too.
        known = group(rows, (*QUASI, "club"))
        assert max(map(find_surest, known)) <= asked["sure"]
    if "insider" in asked:
        l, k, _ = asked["insider"]
        assert max(find_surest(g, l, k) for g in groups) <= Fraction(9, 10)
    if "beside" in asked:
        own = group(rows, beside)
        assert max(map(find_surest, own)) <= asked["beside"]


@pytest.mark.parametrize("subtrees", [False, True])
@pytest.mark.parametrize("leave_out", [False, True])
def test_the_file_keeps_every_promise(
    tmp_path: Path, subtrees: bool, leave_out: bool
) -> None:
    """Groups of equal labels, starred people among them, by the definitions."""
    dice, made = random.Random(f"{subtrees} {leave_out}"), 0
    for case in range(CASES):
        drawn, asked = draw_rows(dice), draw_promises(dice)
        bins = {"age": [21, 36]} if dice.random() < 0.3 else {}
        people = len(drawn["ill"])
        table = pv.read(
            pa.table(drawn), quasi=QUASI, sensitive="ill", other=["club"], bins=bins
        )
        share = dice.choice(["0", "0.1", "0.3"])
        method = pv.FullDomain(
            hierarchies={"job": JOBS},
            suppress=share,
            subtrees=subtrees,
            leave_out=leave_out,
            price=dice.choice([1, "0.5", 2]),
            weights={"zip": 3} if dice.random() < 0.3 else {},
        )
        try:
            release = pv.publish(table, state(asked), method=method, utility=False)
        except pv.Infeasible:
            continue
        out = tmp_path / str(case)
        release.accept({"ill": "a test"}).write(out, custody=tmp_path / f"{case} kept")
        assert pv.verify(out).good
        rows = pq.read_table(out / "table.parquet").to_pylist()
        blurred = release.method == "full-domain"
        recount(rows, asked, (*(QUASI if blurred else ("age",)), "club"))
        if blurred:
            made += 1
            told = json.loads((out / "release.json").read_text())["chosen"]
            check_suppressed(rows, people, Fraction(share), told)
    assert made >= CASES // 4


def check_suppressed(
    rows: Rows, people: int, share: Fraction, told: dict[str, Any]
) -> None:
    starred = sum({"*"} == {row[c] for c in QUASI} for row in rows)
    if starred == len(rows):  # one group of everybody
        starred = 0
    gone = people - len(rows)
    assert starred + gone <= share * people
    assert told["suppressed"] == starred + gone
    assert not (starred and gone)
    if told["suppressed"]:
        assert told["shown_as"] == ("starred" if starred else "left out")
