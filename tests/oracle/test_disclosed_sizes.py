"""Top-down disclosure that must keep k-anonymity, too: released rows are counted."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import privet as pv

Row = tuple[str, str, str, str]
CASES = int(os.environ.get("PRIVET_CASES", "1"))
NAMES = ("a", "b", "c", "ill")
QUASI = (0, 1, 2)
METHOD = pv.TopDownDisclosure(ordered=())


def draw_rows(dice: random.Random) -> list[Row]:
    wide = dice.randint(2, 5)
    return [
        (
            str(dice.randint(1, wide)),
            dice.choice("xyz"),
            dice.choice("pq"),
            dice.choice(["yes", "no", "no"]),
        )
        for _ in range(dice.randint(12, 40))
    ]


def keeps(
    rows: list[Row],
    hidden: Mapping[int, set[str]],
    known: tuple[int, ...],
    *,
    limit: Fraction,
    k: int,
) -> bool:
    """By the definitions, from the released rows."""
    shown = [
        tuple("⊥" if j in hidden and v in hidden[j] else v for j, v in enumerate(row))
        for row in rows
    ]
    alike = Counter(tuple(row[j] for j in QUASI) for row in shown)
    people = Counter(tuple(row[j] for j in known) for row in shown)
    ill = Counter(tuple(row[j] for j in known) for row in shown if row[3] == "yes")
    sure = max((Fraction(n, people[g]) for g, n in ill.items()), default=Fraction(0))
    return min(alike.values()) >= k and sure <= limit


@pytest.mark.parametrize("seed", range(60))
def test_disclosure_keeps_sizes_and_shows_all_it_may(seed: int) -> None:
    """Where everything hidden keeps all, there is a release; no value is left over."""
    dice = random.Random(f"sizes {seed}")
    rows, k = draw_rows(dice), dice.randint(2, 6)
    known = dice.choice([(0,), (0, 1), (0, 1, 2)])
    limit = Fraction(dice.randint(4, 9), 10)
    asked = {"limit": limit, "k": k}
    everything = {j: {r[j] for r in rows} for j in QUASI}
    table = pv.read(
        pa.table(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))),
        quasi=NAMES[:3],
        sensitive="ill",
        threads=1,
    )
    promise = pv.Promise(
        pv.Linker([NAMES[j] for j in known]), pv.Ceiling(limit), {"ill": "yes"}
    )
    stated = [promise, pv.Measure(k_anonymity=k)]
    if not keeps(rows, everything, known, **asked):
        with pytest.raises(pv.Infeasible):
            pv.publish(table, stated, utility=False)
        return
    release = pv.publish(table, stated, method=METHOD, utility=False)
    assert release.hidden is not None
    hidden = {NAMES.index(c): set(v) for c, v in release.hidden.items()}
    assert keeps(rows, hidden, known, **asked)
    assert all(f.verdict is pv.Verdict.SAFE for f in release.audit.findings)
    if release.ended != "finished":
        return
    for j, values in hidden.items():
        for value in values:
            assert not keeps(rows, {**hidden, j: values - {value}}, known, **asked)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_keep_sizes(seed: int) -> None:
    """A column that is cut into intervals: the written release is counted."""
    dice = random.Random(f"cuts and sizes {seed}")
    ages = [dice.randint(20, 40) for _ in range(60)]
    ill = [dice.choice(["yes", "no", "perhaps"]) for _ in ages]
    sex = [dice.choice("mf") for _ in ages]
    table = pv.read(
        pa.table({"age": ages, "sex": sex, "ill": ill}),
        quasi=["age", "sex"],
        sensitive="ill",
        threads=1,
    )
    k = dice.randint(2, 9)
    promise = pv.Promise(pv.Linker(["age", "sex"]), pv.Ceiling("9/10"), about="ill")
    release = pv.publish(table, [promise, pv.Measure(k_anonymity=k)], utility=False)
    shown = release.to_arrow()
    groups = Counter(
        zip(shown["age"].to_pylist(), shown["sex"].to_pylist(), strict=True)
    )
    assert min(groups.values()) >= k
    assert len(groups) > 1


def test_the_papers_algorithm_knows_no_sizes() -> None:
    """It is judged in the end, and nothing is released."""
    rows = [("1", "x", "no"), ("2", "x", "no"), ("2", "y", "no"), ("1", "y", "yes")]
    named = zip(("a", "b", "ill"), map(list, zip(*rows, strict=True)), strict=True)
    table = pv.read(pa.table(dict(named)), quasi=["a", "b"], sensitive="ill")
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/2"), {"ill": "yes"})
    stated: list[Any] = [promise, pv.Measure(k_anonymity=3)]
    with pytest.raises(pv.Infeasible, match="does not reach 'k_anonymity at least 3'"):
        pv.publish(table, stated, method=pv.TopDownDisclosure(paper=True))
    release = pv.publish(table, stated)
    assert release.hidden is not None
    assert {"a", "b"} == set(release.hidden)


def show(
    rows: Sequence[tuple[str, ...]],
    stated: list[Any],
    method: pv.TopDownDisclosure = METHOD,
) -> Counter[Any] | None:
    """What is released of a table, by the front door; None: nothing is."""
    named = zip(("a", "b", "ill"), map(list, zip(*rows, strict=True)), strict=True)
    roles: dict[str, Any] = {"quasi": ["a", "b"], "sensitive": "ill", "threads": 1}
    with pv.read(pa.table(dict(named)), **roles) as table:
        try:
            release = pv.publish(table, stated, method=method, utility=False)
        except pv.Infeasible:
            return None
    found = release.hidden or {}
    hidden = [found.get("a", ()), found.get("b", ()), ()]
    lines = [
        tuple("⊥" if v in h else v for v, h in zip(row, hidden, strict=True))
        for row in rows
    ]
    return Counter([*lines, ("hidden", str([len(h) for h in hidden]))])


def list_tables(rows: list[Any], shown: Counter[Any]) -> set[tuple[Any, ...]]:
    """Every table that the file allows."""
    seen = [{row[j] for row in shown if row[0] != "hidden"} for j in range(2)]
    values = [sorted({row[j] for row in rows} - seen[j]) for j in range(2)]
    lines = [row for row in shown.elements() if row[0] != "hidden"]
    cells = [
        [values[j] if v == "⊥" else [v] for j, v in enumerate(line[:2])] + [[line[2]]]
        for line in lines
    ]
    ways = product(*(list(product(*c)) for c in cells))
    return {tuple(sorted(way)) for way in ways}


BESIDE = [
    pv.Measure(k_anonymity=2),
    pv.Measure(distinct_l_diversity=2),
    pv.Measure(t_closeness="2/5"),
    pv.Promise(pv.Insider(knows_others=1), pv.Ceiling("9/10"), {"ill": "yes"}),
    pv.Promise(pv.Insider(same_as=1), pv.Ceiling("3/4"), {"ill": "yes"}),
]


@pytest.mark.filterwarnings("ignore:Value 'yes' never occurs")
@pytest.mark.parametrize("paper", [False, True], ids=["sweeps", "paper"])
@pytest.mark.parametrize("beside", BESIDE, ids=lambda asked: asked.name or "insider")
@pytest.mark.parametrize("seed", range(CASES))
def test_who_knows_the_method_knows_what_else_is_asked(
    seed: int, beside: pv.Measure | pv.Promise, paper: bool
) -> None:
    """Every table that the file allows is published, and those count that give it."""
    dice = random.Random(f"known sizes {seed}")
    method = pv.TopDownDisclosure(ordered=(), paper=paper)
    while True:
        rows = [
            (dice.choice("pq"), dice.choice("xyz"), dice.choice(["no", "no", "yes"]))
            for _ in range(4)
        ]
        rows.append(("p", "x", "yes"))
        known = dice.choice([["a"], ["a", "b"]])
        limit = pv.Ceiling(dice.choice(["1/2", "2/3"]))
        stated = [
            pv.Promise(pv.Linker(known), limit, {"ill": "yes"}),
            beside,
        ]
        shown = show(rows, stated, method)
        if shown is None or "⊥" not in {c for line in shown for c in line}:
            continue
        tables = list_tables(rows, shown)
        if len(tables) <= 40:
            break
    named = zip(("a", "b", "ill"), map(list, zip(*rows, strict=True)), strict=True)
    table = pv.read(pa.table(dict(named)), quasi=["a", "b"], sensitive="ill")
    release = pv.publish(table, stated, method=method, utility=False)
    found = pv.Minimality().attack(release)
    assert found.tables == len(tables)
    assert found.fitting == sum(show(t, stated, method) == shown for t in tables)


@pytest.mark.filterwarnings("ignore:Value 'yes' never occurs")
def test_sizes_are_kept_where_nobody_has_what_is_protected() -> None:
    rows = [("p", "x", "no"), ("p", "y", "no"), ("q", "y", "no"), ("q", "y", "no")]
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/2"), {"ill": "yes"})
    shown = show(rows, [promise, pv.Measure(k_anonymity=2)])
    assert shown is not None
    assert min(n for row, n in shown.items() if row[0] != "hidden") >= 2
