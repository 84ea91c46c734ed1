"""Columns of sets: every world of small tables, and the bound beyond two values."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations, permutations, product

import pyarrow as pa
import pytest

import privet as pv

pytestmark = pytest.mark.engines

Row = tuple[str, tuple[str, ...]]


def people(dice: random.Random, most: int = 5) -> list[Row]:
    return [
        (dice.choice("pq"), tuple(sorted(dice.sample("abc", dice.randint(0, 3)))))
        for _ in range(dice.randint(2, most))
    ] + [("p", ("a",))]


def by_definition(rows: list[Row], l: int, k: int, m: int) -> Fraction:
    """The worst belief that a value is in somebody's set."""
    groups = sorted({g for g, _ in rows})
    deals = [
        sorted(set(permutations([s for g, s in rows if g == group])))
        for group in groups
    ]
    worlds = [tuple(s for deal in world for s in deal) for world in product(*deals)]
    ids = range(len(rows))
    sets = sorted({s for _, s in rows})
    values = sorted({v for s in sets for v in s})
    worst = Fraction(0)
    for t in ids:
        others = [i for i in ids if i != t]
        for us in up_to(others, k):
            for ys in product(sets, repeat=len(us)):
                known = [
                    w
                    for w in worlds
                    if all(w[u] == y for u, y in zip(us, ys, strict=True))
                ]
                for vs in up_to([i for i in others if i not in us], m):
                    for s in values:
                        same = [
                            w
                            for w in known
                            if s in w[t] or all(s not in w[v] for v in vs)
                        ]
                        for out in up_to([v for v in values if v != s], l):
                            left = [w for w in same if not set(out) & set(w[t])]
                            if left:
                                have = sum(s in w[t] for w in left)
                                worst = max(worst, Fraction(have, len(left)))
    return worst


def up_to(things, most: int):
    for n in range(min(most, len(things)) + 1):
        yield from combinations(things, n)


def judged(rows: list[Row], l: int, k: int, m: int) -> pv.Finding:
    groups, sets = zip(*rows, strict=True)
    lists = pa.array([list(s) for s in sets], pa.list_(pa.string()))
    with pv.read(pa.table({"g": groups, "s": lists}), quasi="g", sensitive="s") as t:
        return pv.audit(t, pv.Promise(pv.Insider(l, k, m), pv.Ceiling("1/2"))).worst


@pytest.mark.parametrize("seed", range(60))
def test_every_world(seed: int) -> None:
    dice = random.Random(seed)
    rows = people(dice)
    l, k, m = dice.randint(0, 2), dice.randint(0, 2), dice.randint(0, 2)
    expected = by_definition(rows, l, k, m)
    found = judged(rows, l, k, m)
    assert expected == found.belief.posterior, (rows, l, k, m)
    assert pv.Basis.EXACT is found.basis
    if found.witness is not None:
        assert expected == found.witness.attack.recount()


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_never_understates(seed: int) -> None:
    dice = random.Random(seed)
    rows = people(dice)
    found = judged(rows, 3, dice.randint(0, 1), 1)
    expected = by_definition(rows, 3, 0, 1)
    assert expected <= found.belief.posterior
    assert pv.Basis.BOUND is found.basis
    assert found.verdict is not pv.Verdict.BREACH


def test_odd_texts_in_lists() -> None:
    odd = ["a, b", "it's", "[x]", "", " y", "NULL", 'q"q', "b\\s", "é⊥"]
    rows = [("p", tuple(odd)), ("p", ("a",)), ("p", ("b",))]
    for value in odd:
        groups, sets = zip(*rows, strict=True)
        lists = pa.array([list(s) for s in sets], pa.list_(pa.string()))
        table = pa.table({"g": groups, "s": lists})
        with pv.read(table, quasi="g", sensitive="s") as t:
            found = pv.belief(t, pv.Insider(), {"s": value})
        assert Fraction(1, 3) == found.posterior, value


def test_lists_in_json_lines(tmp_path) -> None:
    rows = [("p", ["flu", "hiv"]), ("p", ["flu"]), ("p", []), ("q", ["hiv"])]
    lines = [json.dumps({"g": g, "s": s}) for g, s in rows]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pv.read(str(path), quasi="g", sensitive="s") as t:
        assert Fraction(2, 3) == pv.belief(t, pv.Insider(), {"s": "flu"}).posterior
        assert 1 == pv.belief(t, pv.Insider(), {"s": "hiv"}).posterior


def test_names_are_refused() -> None:
    lists = pa.array([["a"], ["b"]], pa.list_(pa.string()))
    table = pa.table({"n": ["Tom", "Ed"], "g": ["p", "p"], "s": lists})
    with pv.read(table, identifier="n", quasi="g", sensitive="s") as t:
        with pytest.raises(pv.NoAudit, match="holds sets"):
            pv.belief(t, pv.Insider(victim="Tom"))


def with_lists(rows: list[tuple[str, str, tuple[str | None, ...] | None]]) -> pv.Table:
    g, h, sets = zip(*rows, strict=True)
    lists = pa.array([s and list(s) for s in sets], pa.list_(pa.string()))
    columns = pa.table({"g": g, "h": h, "s": lists})
    return pv.read(columns, quasi=["g", "h"], sensitive="s")


@pytest.mark.parametrize("seed", range(12))
def test_linkers_believe_single_values(seed: int) -> None:
    """A linker counts the people whose list holds a value, as an insider does."""
    dice = random.Random(seed)
    values = ["a", "b", "c, d", "it's"]
    rows = [
        (dice.choice("pq"), dice.choice("xy"), tuple(dice.sample(values, several)))
        for several in (2, *(dice.randint(0, 3) for _ in range(8)))
    ]

    def share(people: list, value: str) -> Fraction:
        return Fraction(sum(value in r[2] for r in people), len(people))

    def worst(group, wanted: list[str]) -> Fraction:
        keys = {group(r) for r in rows}
        alike = [[r for r in rows if group(r) == k] for k in keys]
        return max(share(people, v) for people in alike for v in wanted)

    held = [v for v in values if any(v in r[2] for r in rows)]
    with with_lists(rows) as table:
        everything = pv.belief(table, pv.Linker()).posterior
        assert worst(lambda r: r[:2], held) == everything
        assert pv.belief(table, pv.Insider()).posterior == everything
        some = pv.belief(table, pv.Linker(["g"]), {"s": held[-1]})
    assert worst(lambda r: r[0], held[-1:]) == some.posterior
    assert share(rows, held[-1]) == some.prior


def test_lists_are_published_and_not_measured() -> None:
    """Whole lists all differ here; half of the people have a value in common."""
    rows = [(str(i // 2), "x", ("a", f"u{i}")[i % 2 :]) for i in range(20)]
    promise = pv.Promise(pv.Insider(1, 1, 1), pv.Ceiling("0.51"), {"s": "a"})
    with with_lists(rows) as table:
        assert not pv.audit(table, promise).safe
        linker = pv.Promise(pv.Linker(), pv.Ceiling("0.9"), {"s": "a"}, name="linker")
        for method in (pv.Mondrian(), pv.TopDownDisclosure()):
            assert pv.publish(table, linker, method=method).safe
        insider = pv.Promise(pv.Insider(1, 1, 1), pv.Ceiling("0.9"), {"s": "a"})
        assert pv.publish(table, [linker, insider], method=pv.Mondrian()).safe
        recipe = pv.publish(table, linker).recipe
        with pytest.raises(pv.NoAudit, match="'s' has lists of values; what two"):
            pv.publish(table, linker, recipe=recipe, since=table)
        measured = pv.Policy([linker], measures=pv.Measure(distinct_l_diversity=2))
        with pytest.raises(pv.NoAudit, match="one value per person"):
            pv.publish(table, measured)
        with pytest.raises(pv.NoAudit, match="one value per person"):
            pv.audit(table, pv.Measure(distinct_l_diversity=2))
        with pytest.raises(pv.NoAudit, match="groups count one value"):
            table.groups()
        assert 2 == pv.audit(table, pv.Measure(k_anonymity=1)).findings[0].value
