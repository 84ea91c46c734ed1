"""Columns of lists end to end: skylines, groups and hidden values, by brute force."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from oracle.test_sets import by_definition, people
from privet.microdata.skyline.skyline_find import find_maximal

CASES = int(os.environ.get("PRIVET_CASES", "3"))

Set = tuple[str, ...]


def read_lists(
    columns: dict[str, list[Any]], sets: list[Set], **roles: Any
) -> pv.Table:
    lists = pa.array([list(s) for s in sets], pa.list_(pa.string()))
    return pv.read(pa.table({**columns, "s": lists}), sensitive="s", **roles)


# The skyline ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_the_skyline_is_that_of_every_world(seed: int) -> None:
    """Points up to two values ruled out, by listing worlds; beyond, by the audit."""
    dice = random.Random(seed)
    rows = people(dice, most=4)
    level = Fraction(dice.choice(["0.6", "0.75", "0.95"]))
    with read_lists({"g": [g for g, _ in rows]}, [s for _, s in rows], quasi="g") as t:
        found = pv.skyline(t, str(level), max_l=2, max_k=2, max_m=1)
    points = [(l, k, m) for l in range(3) for k in range(3) for m in range(2)]
    safe = [p for p in points if by_definition(rows, *p) < level]
    maximal = find_maximal(safe)
    # Nobody rules out more values than there are, or knows more people.
    values, everybody = len({v for _, s in rows for v in s}), len(rows)
    most = [(min(l, values), min(k, everybody), m) for l, k, m in maximal]
    assert find_maximal(most) == found.points
    for corner in found.corners:
        assert corner.exact
        assert by_definition(rows, *corner.point) == corner.belief
        assert corner.attack is not None
        assert corner.belief == corner.attack.recount()


def test_each_point_says_exact_or_bound() -> None:
    sets = [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("a", "b"), ()]
    with read_lists({"g": ["p"] * 8}, sets, quasi="g") as t:
        found = pv.skyline(t, "0.99", max_k=2, max_m=1)
        for corner in found.corners:
            l, k, m = corner.point
            promise = pv.Promise(pv.Insider(l, k, m), pv.Ceiling(below="0.99"))
            judged = pv.audit(t, promise).findings[0]
            assert (l <= 2) == corner.exact
            assert (pv.Basis.EXACT if l <= 2 else pv.Basis.BOUND) is judged.basis
            assert judged.belief is not None
            assert judged.belief.posterior == corner.belief
            assert (corner.attack is not None) == corner.exact
    assert any(not c.exact for c in found.corners)
    assert "upper bound" in found.explain()
    assert "at most" in found.explain()
    told = found.to_dict()
    assert {"exact", "bound"} == {p["basis"] for p in told["points"]}
    assert told["familiar"]["distinct_l_diversity"] is None


# Groups -----------------------------------------------------------------------------


def draw_table(
    dice: random.Random, rows: int
) -> tuple[dict[str, list[Any]], list[Set]]:
    columns: dict[str, list[Any]] = {
        "age": [dice.randint(20, 27) for _ in range(rows)],
        "job": [dice.choice("xyz") for _ in range(rows)],
    }
    items = ["a", "b, c", "it's", 'd"'][: dice.randint(2, 4)]
    sets = [
        tuple(dice.sample(items, dice.choice([0, 0, 1, 1, 2, 2][: 2 + len(items)])))
        for _ in range(rows)
    ]
    return columns, sets


def list_promises(dice: random.Random) -> list[pv.Promise]:
    l, k, m = dice.choice([(0, 0, 0), (1, 0, 0), (1, 1, 1), (2, 0, 1), (3, 0, 1)])
    limit = pv.Ceiling(below=dice.choice(["0.7", "0.9"]))
    return [
        pv.Promise(pv.Linker(), pv.Ceiling("0.8"), {"s": "a"}, name="linker"),
        pv.Promise(pv.Insider(l, k, m), limit, "s", name="insider"),
    ]


@pytest.mark.parametrize("seed", range(CASES))
@pytest.mark.parametrize("form", ["generalised", "buckets"])
def test_groups_of_lists_read_back_are_safe(
    seed: int, form: str, tmp_path: Path
) -> None:
    dice = random.Random(seed)
    columns, sets = draw_table(dice, dice.randint(12, 40))
    promises = list_promises(dice)
    with read_lists(columns, sets, quasi=["age", "job"]) as t:
        try:
            release = pv.publish(t, promises, method=pv.Mondrian(form=form))
        except pv.Infeasible:
            assert not is_safe([list(range(len(sets)))], sets, promises)
            return
        out, vault = tmp_path / "out", tmp_path / "vault"
        release.write(out, custody=vault, format=dice.choice(["parquet", "csv"]))
        found = pv.verify(out)
        assert () == found.problems
        assert found.good
        assert found.audit is not None
        for made, read in zip(
            release.audit.findings, found.audit.findings, strict=True
        ):
            assert made.belief.posterior == read.belief.posterior
            assert made.basis == read.basis
        if form == "generalised":
            assert_no_cut_is_left(release, columns, sets, promises)


def assert_no_cut_is_left(
    release: pv.Release,
    columns: dict[str, list[Any]],
    sets: list[Set],
    promises: list[pv.Promise],
) -> None:
    """Each group cut at the middle of each column breaks a promise somewhere."""
    groups = find_groups(release, columns)
    for group in groups:
        for column in ("age", "job"):
            values = sorted({columns[column][i] for i in group})
            if len(values) != 2:  # the one cut there is; of more, the even one is tried
                continue
            left = [i for i in group if columns[column][i] == values[0]]
            right = [i for i in group if i not in left]
            after = [g for g in groups if g != group] + [left, right]
            assert not is_safe(after, sets, promises), (column, values)


def find_groups(release: pv.Release, columns: dict[str, list[Any]]) -> list[list[int]]:
    """Who is in which group, by the labels that fit."""
    assert release.grouped is not None
    partition = release.grouped.partition
    cells = partition.cells
    of: dict[tuple[Any, ...], int] = {}
    for g, (start, stop, _) in enumerate(partition.leaves.tolist()):
        for row in cells[start:stop].tolist():
            at = tuple(
                a.domain[int(a.codes[row[d]])]
                for d, a in enumerate(partition.attributes)
            )
            of[at] = g
    groups: list[list[int]] = [[] for _ in range(len(partition))]
    for i, at in enumerate(zip(columns["age"], columns["job"], strict=True)):
        groups[of[str(at[0]), at[1]]].append(i)
    return groups


def is_safe(
    groups: list[list[int]], sets: list[Set], promises: list[pv.Promise]
) -> bool:
    """Judged by an audit of the same people in these groups."""
    number = {i: str(g) for g, own in enumerate(groups) for i in own}
    names = [number[i] for i in range(len(sets))]
    with read_lists({"g": names}, sets, quasi="g") as t:
        return pv.audit(t, promises).safe


# Hidden values ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4 * CASES))
def test_insiders_about_members_lead_disclosure(seed: int) -> None:
    """Where everything hidden keeps all, there is a release; no value is left over."""
    dice = random.Random(f"led {seed}")
    columns, sets = draw_table(dice, dice.randint(10, 30))
    columns = {"job": columns["job"], "sex": [dice.choice("mf") for _ in sets]}
    l, k = dice.choice([(0, 0), (1, 0), (1, 1), (2, 0), (3, 0)])
    limit = pv.Ceiling(dice.choice(["0.6", "0.7", "0.8", "0.9"]))
    promises = [
        pv.Promise(pv.Linker(), pv.Ceiling("0.9"), {"s": "a"}, name="linker"),
        pv.Promise(pv.Insider(l, k), limit, "s", name="insider"),
    ]

    def keeps_all(hidden: dict[str, set[Any]]) -> bool:
        shown = {
            c: ["⊥" if v in hidden[c] else v for v in values]
            for c, values in columns.items()
        }
        with read_lists(shown, sets, quasi=["job", "sex"]) as t:
            return pv.audit(t, promises).safe

    everything = {c: set(values) for c, values in columns.items()}
    with read_lists(columns, sets, quasi=["job", "sex"]) as t:
        if not keeps_all(everything):
            with pytest.raises(pv.Infeasible):
                pv.publish(t, promises)
            return
        release = pv.publish(t, promises, method=pv.TopDownDisclosure())
    hidden = {c: set((release.hidden or {}).get(c, ())) for c in columns}
    assert keeps_all(hidden)
    for column, values in hidden.items():
        for value in values:
            assert not keeps_all({**hidden, column: values - {value}})


@pytest.mark.parametrize("seed", range(CASES))
def test_hidden_values_keep_promises_about_members(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    columns, sets = draw_table(dice, dice.randint(10, 40))
    limit = Fraction(dice.choice(["1/2", "2/3", "3/4"]))
    promise = pv.Promise(pv.Linker(), pv.Ceiling(limit), "s", name="members")
    share = max(Fraction(sum(v in s for s in sets), len(sets)) for v in _list(sets))
    with read_lists(columns, sets, quasi=["age", "job"]) as t:
        if share > limit:
            with pytest.raises(pv.Infeasible):
                pv.publish(t, [promise])
            return
        release = pv.publish(t, [promise])
        out = tmp_path / "out"
        release.write(
            out, custody=tmp_path / "v", format=dice.choice(["parquet", "csv"])
        )
        found = pv.verify(out)
        assert found.good, found.problems
        assert found.audit is not None
        made, read = release.audit.findings[0], found.audit.findings[0]
        assert made.belief.posterior == read.belief.posterior


def _list(sets: list[Set]) -> list[str]:
    return sorted({v for s in sets for v in s}) or [""]


# People with several lists ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_people_with_several_lists_are_bounded(seed: int) -> None:
    """Whoever has a value in two lists is one person: never more sure than said."""
    dice = random.Random(seed)
    rows = dice.randint(4, 12)
    ids = [f"p{dice.randint(0, 4)}" for _ in range(rows)]
    groups = [dice.choice("xy") for _ in range(rows)]
    sets = [tuple(dice.sample("abc", dice.randint(0, 2))) for _ in range(rows)]
    expected = Fraction(0)
    for g in set(groups):
        inside = {ids[i] for i in range(rows) if groups[i] == g}
        for v in "abc":
            have = {ids[i] for i in range(rows) if groups[i] == g and v in sets[i]}
            expected = max(expected, Fraction(len(have), len(inside)))
    promise = pv.Promise(pv.Linker(), pv.Ceiling("0.9"), "s")
    with read_lists({"id": ids, "g": groups}, sets, quasi="g", unit="id") as t:
        found = pv.audit(t, promise).findings[0]
    assert found.belief is not None
    assert expected <= found.belief.posterior <= 1
    assert found.basis is not pv.Basis.EXACT or expected == found.belief.posterior
    assert found.verdict is not pv.Verdict.BREACH or expected > Fraction("0.9")
