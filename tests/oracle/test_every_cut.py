"""No group of a finished release can be split further: every cut of every one is tried.

Each cut is made on a copy of the release, which is audited from scratch as a table of
its own: nothing of what Mondrian judges by takes part.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.generalisation.domain_order import TREE
from privet.microdata.generalisation.splits import kernels

HOMES = {"p": ["u", "v"], "q": ["u", "v"], "r": ["w", "v"], "s": ["x", "y"]}
WINDOW = {"pay": {"within": 2}}
STATED: dict[str, list[pv.Promise | pv.Measure]] = {
    "linker": [pv.Promise(pv.Linker(), pv.Ceiling("0.6"), {"ill": "hiv"})],
    "two promises": [
        pv.Promise(pv.Linker(), pv.Ceiling("0.7"), "ill"),
        pv.Promise(pv.Insider(1, 1, 0), pv.Ceiling("0.9"), "ill"),
        pv.Measure(k_anonymity=2),
    ],
    "companions": [pv.Promise(pv.Insider(1, 0, 1), pv.Ceiling("0.9"), "ill")],
    "distinct l": [pv.Measure(distinct_l_diversity=2, about="ill")],
    "entropy l": [pv.Measure(entropy_l_diversity=2, about="ill")],
    "t": [
        pv.Measure(k_anonymity=2),
        pv.Measure(t_closeness="0.35", about="ill"),
    ],
    "window": [pv.Promise(pv.Linker(), pv.Ceiling("0.7"), WINDOW)],
    "window ruled out": [pv.Promise(pv.Insider(1, 0, 0), pv.Ceiling("0.9"), WINDOW)],
    "window companions": [pv.Promise(pv.Insider(0, 0, 1), pv.Ceiling("0.9"), WINDOW)],
}

Line = list[int]


def draw_people(dice: random.Random) -> pa.Table:
    rows = dice.randint(10, 28)
    ages, jobs = dice.randint(3, 9), dice.randint(2, 5)
    return pa.table(
        {
            "age": [dice.choice([None, *range(20, 20 + ages)]) for _ in range(rows)],
            "job": [dice.choice("abcde"[:jobs]) for _ in range(rows)],
            "home": [dice.choice([*HOMES]) for _ in range(rows)],
            "ill": [dice.choice(["flu", "flu", "hiv", "cold"]) for _ in range(rows)],
            "pay": [dice.randint(0, 9) for _ in range(rows)],
            "class": [dice.choice("yn") for _ in range(rows)],
            "n": [dice.choice([1, 1, 2]) for _ in range(rows)],
        }
    )


def publish(people: pa.Table, stated: Any, dice: random.Random) -> pv.Release | None:
    method = pv.Mondrian(
        utility=dice.choice(["ncp", "information"]), hierarchies={"home": HOMES}
    )
    roles: dict[str, Any] = {"quasi": ["age", "job", "home"], "target": "class"}
    with pv.read(people, sensitive=["ill", "pay"], weight="n", **roles) as table:
        try:
            return pv.publish(table, stated, method=method)
        except pv.Infeasible:
            return None


def list_groups(release: pv.Release) -> list[list[Line]]:
    assert release.grouped is not None
    partition = release.grouped.partition
    return [partition.cells[a:b].tolist() for a, b, _ in partition.leaves.tolist()]


def list_cuts(release: pv.Release, group: list[Line]) -> Iterator[tuple[int, int]]:
    """Every column, and position before which a group may be cut."""
    assert release.grouped is not None
    for d, attribute in enumerate(release.grouped.partition.attributes):
        places = sorted({line[d] for line in group})
        if attribute.kind != TREE:
            yield from ((d, p) for p in places[1:])
            continue
        paths = {p: attribute.nodes[:, p].tolist() for p in places}
        depth = next(
            i
            for i in range(len(attribute.nodes))
            if len({tuple(path[i + 1 :]) for path in paths.values()}) == 1
        )
        for before, p in pairwise(places):
            if paths[before][depth:] != paths[p][depth:]:
                yield d, p


def is_safe(release: pv.Release, groups: list[list[Line]], stated: Any) -> bool:
    """Whether groups keep everything, as a table with a group's number per row."""
    assert release.grouped is not None
    others = release.grouped.partition.others
    known = len(release.grouped.partition.attributes)
    rows: list[dict[str, Any]] = []
    for number, group in enumerate(groups):
        for line in group:
            row = {d.name: d[line[known + j]] for j, d in enumerate(others)}
            pay = int(row["pay"] or 0)
            rows.append(
                {"g": f"g{number}", "ill": row["ill"], "pay": pay, "n": line[-1]}
            )
    roles: dict[str, Any] = {"quasi": "g", "sensitive": ["ill", "pay"], "weight": "n"}
    with pv.read(pa.Table.from_pylist(rows), **roles) as table:
        found = {f.verdict for f in pv.audit(table, stated).findings}
    return found <= {pv.Verdict.SAFE, pv.Verdict.NOT_APPLICABLE}


def cut_group(group: list[Line], d: int, place: int) -> list[list[Line]]:
    left = [line for line in group if line[d] < place]
    return [left, [line for line in group if line[d] >= place]]


@pytest.mark.parametrize("loops", ["numpy", "loops"])
@pytest.mark.parametrize("kind", STATED)
@pytest.mark.parametrize("seed", range(3))
def test_no_cut_of_any_group_is_left(
    seed: int, kind: str, loops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loops == "loops":  # the loops that numba compiles, step by step
        plain = kernels.link_loops("python", lambda loop: loop)
        monkeypatch.setattr(kernels, "choose_kernels", lambda *_: plain)
    dice = random.Random(f"{seed} {kind}")
    stated = STATED[kind]
    release = publish(draw_people(dice), stated, dice)
    if release is None or release.grouped is None:  # nothing is safe, or everything
        return
    groups = list_groups(release)
    assert is_safe(release, groups, stated)
    for i, group in enumerate(groups):
        others = groups[:i] + groups[i + 1 :]
        for d, place in list_cuts(release, group):
            parts = cut_group(group, d, place)
            assert not is_safe(release, [*others, *parts], stated), (i, d, place)


def test_an_uneven_cut_is_found() -> None:
    """1 to 8 with x y x y x x x x: two kinds of values fall apart at 2 or 3 only."""
    ages = {"age": range(1, 9), "s": list("xyxyxxxx")}
    rows = pa.table({"age": list(ages["age"]), "s": ages["s"]})
    with pv.read(rows, quasi="age", sensitive="s") as table:
        measure = pv.Measure(distinct_l_diversity=2)
        release = pv.publish(table, [measure], method=pv.Mondrian())
    assert release.grouped is not None
    assert 2 == len(release.grouped.partition)
