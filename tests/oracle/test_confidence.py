"""Fast answers equal the definitions on thousands of small random tables."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from oracle.by_definition import (
    Row,
    all_sets,
    confidence,
    confidence_of_people,
    repeated,
)
from privet.release import enumeration

pytestmark = pytest.mark.engines

VALUES: dict[str, list[str | None]] = {
    "a": ["x", "y", "z", None],
    "b": ["1", "2", ""],
    "c": ["p", "q", None],
    "s": ["flu", "hiv", "none", None],
}


def random_rows(dice: random.Random, most: int = 14) -> list[Row]:
    rows = [
        {c: dice.choice(values) for c, values in VALUES.items()}
        for _ in range(dice.randint(1, most))
    ]
    rows[0]["s"] = "flu"  # some tests are about it
    return rows


def frame(rows: list[Row], **more: list[object]) -> pa.Table:
    columns: dict[str, object] = {
        c: pa.array([r[c] for r in rows], pa.string()) for c in rows[0]
    }
    return pa.table({**columns, **more})


def read(rows: list[Row], **options: object) -> pv.Table:
    more = options.pop("more", {})
    return pv.read(frame(rows, **more), quasi=["a", "b", "c"], sensitive="s", **options)


@pytest.mark.parametrize("seed", range(20))
def test_every_set_of_columns_and_every_value(seed: int) -> None:
    dice = random.Random(seed)
    rows = random_rows(dice)
    present = sorted({r["s"] for r in rows}, key=str)
    sets = list(all_sets(["a", "b", "c"], 3))
    with read(rows) as table:
        promises = [
            pv.Promise(pv.Linker(knows=knows), pv.Ceiling(1), about)
            for knows in sets
            for about in ("s", *({"s": v} for v in present))
        ]
        findings = pv.audit(table, promises).findings
    expected = [
        confidence(rows, knows, "s", wanted)
        for knows in sets
        for wanted in (None, *({v} for v in present))
    ]
    assert expected == [f.belief.posterior for f in findings]


@pytest.mark.parametrize("seed", range(20))
def test_the_witness_can_be_counted_again(seed: int) -> None:
    dice = random.Random(1000 + seed)
    rows = random_rows(dice)
    with read(rows) as table:
        finding = pv.audit(
            table, pv.Promise(pv.Linker(knows_any=2), pv.Ceiling("1/2"))
        ).findings[0]
    w = finding.witness
    alike = [r for r in rows if all(r[c] == v for c, v in w.knows.items())]
    have = [r for r in alike if r[w.column] == w.value]
    overall = [r for r in rows if r[w.column] == w.value]
    assert (w.part, w.whole) == (len(have), len(alike))
    assert (w.prior_part, w.prior_whole) == (len(overall), len(rows))
    assert finding.belief == pv.Belief(
        Fraction(len(overall), len(rows)), Fraction(len(have), len(alike))
    )


@pytest.mark.parametrize("seed", range(12))
def test_any_columns_up_to_a_number(seed: int) -> None:
    dice = random.Random(2000 + seed)
    rows = random_rows(dice)
    most = dice.randint(1, 3)
    with read(rows) as table:
        found = pv.belief(table, pv.Linker(knows_any=most), {"s": "flu"})
    expected = max(
        confidence(rows, s, "s", {"flu"}) for s in all_sets(["a", "b", "c"], most)
    )
    assert expected == found.posterior


@pytest.mark.parametrize("seed", range(12))
def test_weights_are_repeated_rows(seed: int) -> None:
    dice = random.Random(3000 + seed)
    rows = random_rows(dice)
    times = [dice.randint(0, 4) for _ in rows]
    times[0] = max(times[0], 1)
    many = repeated(rows, times)
    with read(rows, more={"n": times}, weight="n") as table:
        findings = [
            pv.belief(table, pv.Linker(knows=k), "s")
            for k in all_sets(["a", "b", "c"], 3)
        ]
    for knows, found in zip(all_sets(["a", "b", "c"], 3), findings, strict=True):
        assert confidence(many, knows, "s", None) == found.posterior


@pytest.mark.parametrize("seed", range(12))
def test_people_with_several_rows(seed: int) -> None:
    dice = random.Random(4000 + seed)
    rows = random_rows(dice)
    who = [dice.choice(["ann", "bob", "cid", "dan", "eve"]) for _ in rows]
    told = [{**r, "who": w} for r, w in zip(rows, who, strict=True)]
    options = {"more": {"who": who}, "unit": "who", "identifier": ["who"]}
    with read(rows, **options) as table:
        for knows in all_sets(["a", "b", "c"], 3):
            found = pv.belief(table, pv.Linker(knows=knows), {"s": "flu"})
            slow = confidence_of_people(told, knows, "s", {"flu"}, "who")
            assert slow == found.posterior
        most = dice.randint(1, 3)
        found = pv.belief(table, pv.Linker(knows_any=most), {"s": "flu"})
    slow = max(
        confidence_of_people(told, s, "s", {"flu"}, "who")
        for s in all_sets(["a", "b", "c"], most)
    )
    assert slow == found.posterior


@pytest.mark.parametrize("seed", range(12))
def test_listing_the_worlds_gives_the_same_belief(seed: int) -> None:
    dice = random.Random(5000 + seed)
    rows = random_rows(dice, most=7)
    with read(rows) as table:
        groups = table.groups()
    listed = max(
        enumeration.belief(list(groups.histograms()), (g, 0), value)
        for g, histogram in enumerate(groups.histograms())
        for value in histogram
    )
    assert listed == pv.belief(groups, pv.Linker()).posterior


@pytest.mark.parametrize("seed", range(10))
def test_groups_and_table_agree(seed: int) -> None:
    rows = random_rows(random.Random(6000 + seed))
    with read(rows) as table:
        on_table = pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling("1/2")))
        on_groups = pv.audit(table.groups(), pv.Promise(pv.Linker(), pv.Ceiling("1/2")))
    a, b = on_table.findings[0], on_groups.findings[0]
    assert (a.belief, a.witness, a.verdict) == (b.belief, b.witness, b.verdict)
    assert (a.groups, a.groups_above, a.people_above) == (
        b.groups,
        b.groups_above,
        b.people_above,
    )


@pytest.mark.parametrize("seed", range(12))
def test_groups_beyond_the_limit_are_counted(seed: int) -> None:
    dice = random.Random(7000 + seed)
    rows = random_rows(dice)
    level = Fraction(dice.randint(1, 6), 6)
    knows = ["a", "b"]
    groups: dict[tuple[str | None, ...], list[str | None]] = {}
    for r in rows:
        groups.setdefault(tuple(r[c] for c in knows), []).append(r["s"])
    for strict in (False, True):
        limit = pv.Ceiling(below=level) if strict else pv.Ceiling(level)
        above = {
            key: who
            for key, who in groups.items()
            if any(
                not limit.holds(pv.Belief(0, Fraction(who.count(v), len(who))))
                for v in who
            )
        }
        with read(rows) as table:
            f = pv.audit(table, pv.Promise(pv.Linker(knows), limit)).findings[0]
        assert (len(groups), len(above)) == (f.groups, f.groups_above)
        assert sum(map(len, above.values())) == f.people_above
        assert bool(above) == (f.verdict is pv.Verdict.BREACH)


@pytest.mark.parametrize("seed", range(10))
def test_k_anonymity_is_the_smallest_group(seed: int) -> None:
    rows = random_rows(random.Random(8000 + seed))
    sizes: dict[tuple[str | None, ...], int] = {}
    for r in rows:
        key = (r["a"], r["b"], r["c"])
        sizes[key] = sizes.get(key, 0) + 1
    with read(rows) as table:
        on_table = pv.audit(table, pv.Measure(k_anonymity=2)).findings[0]
        on_groups = pv.audit(table.groups(), pv.Measure(k_anonymity=2)).findings[0]
    assert min(sizes.values()) == on_table.value == on_groups.value
    small = [n for n in sizes.values() if n < 2]
    assert (len(small), sum(small)) == (on_table.groups_above, on_table.people_above)
    assert sizes[tuple(on_table.witness.knows.values())] == on_table.value
