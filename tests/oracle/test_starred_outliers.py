"""Groups of their own with a budget: safe, within it, never worse, and nothing is left
that pays: every cut of every group is tried, each side of it among the starred people.

Each is judged as an audit judges a table of its own, and weighed by the definition of
NCP; nothing of what the search goes by takes part.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle.test_every_cut import (
    HOMES,
    STATED,
    Line,
    cut_group,
    draw_people,
    is_safe,
    list_cuts,
    list_groups,
)
from privet.engine.protocol import Run
from privet.microdata.generalisation import distinct_rows, starred_outliers
from privet.microdata.generalisation.domain_order import ORDERED, TREE
from privet.microdata.generalisation.splits import tallies

ROLES: dict[str, Any] = {
    "quasi": ["age", "job", "home"],
    "sensitive": ["ill", "pay"],
    "target": "class",
    "weight": "n",
}
COMPANIONS = {"companions", "window companions"}
"""Starred people of earlier rounds stay among the minima: more is refused than must."""

KINDS = {**STATED, "k": [pv.Measure(k_anonymity=2)]}


def make(people: pa.Table, stated: Any, **options: Any) -> pv.Release | None:
    method = pv.Mondrian(hierarchies={"home": HOMES}, **options)
    with pv.read(people, **ROLES) as table:
        try:
            return pv.publish(table, stated, method=method, utility=False)
        except pv.Infeasible:
            return None


@dataclass
class Starred:
    """The groups of a release, the starred people, and what both cost."""

    release: pv.Release
    groups: list[list[Line]]
    stars: list[Line]
    price: float

    @classmethod
    def of(cls, release: pv.Release, price: float) -> Starred:
        assert release.grouped is not None
        partition = release.grouped.partition
        groups = list_groups(release)
        stars = groups.pop() if partition.starred else []
        assert partition.starred == count(stars)
        assert 0 == partition.suppressed
        return cls(release, groups, stars, price)

    @property
    def cost(self) -> float:
        """In columns' widths, of all people."""
        known = sum(count(g) * self.measure(g) for g in self.groups)
        return known + count(self.stars) * self.price * 3

    def measure(self, group: list[Line]) -> float:
        """How wide the columns of a group are, together."""
        assert self.release.grouped is not None
        attributes = self.release.grouped.partition.attributes
        return sum(
            measure_width(a, {line[d] for line in group})
            for d, a in enumerate(attributes)
        )

    def list_sheds(self, left: int) -> Iterator[list[list[Line]]]:
        """The groups after each shed that pays, the starred ones as the last."""
        for i, group in enumerate(self.groups):
            others = self.groups[:i] + self.groups[i + 1 :]
            for d, place in list_cuts(self.release, group):
                parts = cut_group(group, d, place)
                for stay, goes in (parts, parts[::-1]):
                    gain = count(stay) * (self.measure(group) - self.measure(stay))
                    lost = count(goes) * (3 * self.price - self.measure(group))
                    if count(goes) <= left and gain - lost > 1e-6:
                        yield [*others, stay, self.stars + goes]

    @property
    def all_groups(self) -> list[list[Line]]:
        return [*self.groups, self.stars] if self.stars else self.groups


def count(lines: list[Line]) -> int:
    return sum(line[-1] for line in lines)


def measure_width(attribute: Any, places: set[int]) -> float:
    """The share of a column that a label with these values is about."""
    if len(places) == 1:
        return 0.0
    if attribute.kind == ORDERED:
        return float(attribute.at[max(places)] - attribute.at[min(places)])
    if attribute.kind != TREE:
        return (len(places) - 1) / (len(attribute) - 1)
    paths = {p: attribute.nodes[:, p].tolist() for p in range(len(attribute))}
    depth = next(
        i
        for i in range(len(attribute.nodes))
        if len({tuple(paths[p][i + 1 :]) for p in places}) == 1
    )
    own = {tuple(paths[p][depth:]) for p in places}
    inside = [p for p, path in paths.items() if tuple(path[depth:]) in own]
    return (len(inside) - 1) / (len(attribute) - 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_starred_is_safe_and_nothing_that_pays_is_left(
    seed: int, kind: str
) -> None:
    dice = random.Random(f"{seed} {kind}")
    people, stated = draw_people(dice), KINDS[kind]
    price, share = dice.choice([1, 0.5, 0.2]), dice.choice(["0.15", "0.4"])
    plain = make(people, stated)
    release = make(people, stated, suppress=share, price=price)
    assert (plain is None) == (release is None)
    if release is None or release.grouped is None:
        return
    assert plain is not None
    made = Starred.of(release, price)
    budget = int(Fraction(share) * sum(people["n"].to_pylist()))
    assert count(made.stars) <= budget
    assert is_safe(release, made.all_groups, stated)
    assert made.cost <= Starred.of(plain, price).cost + 1e-9
    if made.stars:
        assert made.cost < Starred.of(plain, price).cost - 1e-9
    if kind in COMPANIONS:
        return
    for groups in made.list_sheds(budget - count(made.stars)):
        assert not is_safe(release, groups, stated), groups
    for i, group in enumerate(made.groups):
        others = [g for j, g in enumerate(made.all_groups) if j != i]
        for d, place in list_cuts(release, group):
            parts = cut_group(group, d, place)
            assert not is_safe(release, [*others, *parts], stated), (i, d, place)


AGES = [20, 21, 22, 23, 24, 25, 26, 27, 28, 29] * 3


def publish_ages(place: Path, **options: Any) -> pv.Release:
    """Two people of 90 keep a group of five wide, two of 5 another one."""
    table = pa.table({"age": [*AGES, 90, 90, 5, 5], "ill": list("ab" * 17)})
    with pv.read(table, quasi="age", sensitive="ill") as people:
        asked = [pv.Measure(k_anonymity=3)]
        release = pv.publish(people, asked, method=pv.Mondrian(**options))
        release.write(
            place / "out", custody=place / "vault", accept={"ill": "no limit"}
        )
    return release


def count_ages(place: Path) -> Counter[str]:
    return Counter(pv.load(place / "out").to_arrow()["age"].to_pylist())


EACH = {str(age): 3 for age in range(20, 30)}


@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
def test_outliers_are_starred_so_that_all_others_show_their_age(tmp_path: Path) -> None:
    """Starred alone, the two of 90 would be too few; those of 5 join them."""
    release = publish_ages(tmp_path, suppress="0.2")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    assert {"*": 4, **EACH} == count_ages(tmp_path)
    partition = release.grouped.partition  # type: ignore[union-attr]
    assert (4, 0, 11) == (partition.starred, partition.suppressed, len(partition))
    # Nor does what is said of the table tell what stars stand for; digests may be any.
    said = [tmp_path / "out" / name for name in ("README.txt", "release.json")]
    whole = "".join(f.read_text(encoding="utf-8") for f in said)
    assert "90" not in re.sub(r"\b[0-9a-f]{64}\b", "", whole)
    recipe = json.loads((tmp_path / "vault" / "recipe.json").read_text())
    assert 2 == len(recipe["starred"])


@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"suppress": "0.1"},  # 3 people; 4 would have to go
        {"suppress": "0.2", "price": 2},  # stars cost more than they save
        {},
    ],
)
def test_nobody_is_starred_beyond_the_budget_or_for_nothing(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    release = publish_ages(tmp_path, **options)
    wide = {"[5, 20]": 5, "[29, 90]": 5}
    assert {**wide, **{str(age): 3 for age in range(21, 29)}} == count_ages(tmp_path)
    assert 0 == release.grouped.partition.starred  # type: ignore[union-attr]


@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
def test_the_widest_groups_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    publish_ages(tmp_path, suppress="0.2", leave_out=True)
    left = {"[5, 20]": 5, **{str(age): 3 for age in range(21, 29)}}
    assert left == count_ages(tmp_path)


@pytest.mark.parametrize(
    "options", [{"leave_out": True}, {"form": "buckets"}, {"utility": "information"}]
)
def test_a_price_is_refused_where_nobody_is_starred(options: dict[str, Any]) -> None:
    with pytest.raises(pv.InputError, match="price must be left out where the widest"):
        pv.Mondrian(suppress="0.1", price="0.5", **options)


def test_who_is_starred_is_the_same_where_cells_are_in_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows are moved a few at a time, in place."""
    dice = random.Random(4)
    rows = 3_000
    table = pa.table(
        {
            "age": [int(dice.expovariate(0.03)) for _ in range(rows)],
            "job": [dice.choice("aaaabbbccd") for _ in range(rows)],
            "ill": [dice.choice("xyz") for _ in range(rows)],
        }
    )
    found = []
    for on_disk in (False, True):
        if on_disk:
            monkeypatch.setattr(starred_outliers, "AT_ONCE", 7)
            monkeypatch.setattr(distinct_rows, "find_byte_limit", lambda _: 1_000)
        with pv.read(table, quasi=["age", "job"], sensitive="ill") as people:
            method = pv.Mondrian(suppress="0.05", price="0.02")
            prepared = method.prepare(people, [], [pv.Measure(k_anonymity=4)], Run())
            assert on_disk == isinstance(prepared.cells.rows, np.memmap)
            partition, _ = method.group(people, prepared)
        assert 0 < partition.starred <= rows // 20
        texts = [[labels.texts[i] for i in labels.of] for labels in partition.labels]
        people_of = partition.leaves[:, 2].tolist()
        cells = [partition.cells[a:b] for a, b, _ in partition.leaves.tolist()]
        rows_of = [sorted(map(tuple, own.tolist())) for own in cells]
        found.append(sorted(zip(*texts, people_of, rows_of, strict=True)))
    assert found[0] == found[1]
    for *_, people_in, own in found[0]:
        assert people_in == sum(row[-1] for row in own)


def group_many(method: pv.Mondrian, **measure: Any) -> tuple[Any, Any]:
    """People of many ages and values, put into groups."""
    dice = random.Random(11)
    table = pa.table(
        {
            "age": [int(dice.expovariate(0.001)) for _ in range(600)],
            "ill": [str(dice.randrange(100)) for _ in range(600)],
        }
    )
    with pv.read(table, quasi="age", sensitive="ill") as people:
        asked = [pv.Measure(about="ill", **measure)]
        prepared = method.prepare(people, [], asked, Run())
        return method.group(people, prepared)


def test_who_is_starred_is_looked_for_until_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is found by then is a release: the clock is looked at between groups."""
    clock, looked = iter(range(1_000)), list[int]()
    weigh = starred_outliers.OutlierSearch._weigh

    def watch(*given: Any) -> Any:
        looked.append(1)
        return weigh(*given)

    monkeypatch.setattr(starred_outliers, "AT_ONCE", 7)
    monkeypatch.setattr(starred_outliers, "monotonic", lambda: next(clock))
    monkeypatch.setattr(starred_outliers, "find_end", lambda _: 5)
    monkeypatch.setattr(starred_outliers.OutlierSearch, "_weigh", watch)
    method = pv.Mondrian(suppress="0.3", price="0.001")
    partition, refined = group_many(method, distinct_l_diversity=3)
    assert ("time", 0) == (refined.ended, partition.starred)
    assert 0 < len(looked) <= 6


def test_of_many_values_few_are_counted_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Histograms of all groups together would not fit where there are many values."""
    counted, count = list[int](), tallies.count_parts

    def watch(*given: Any) -> Any:
        counted.append(count(*given).size)
        return count(*given)

    monkeypatch.setattr(starred_outliers, "AT_ONCE", 1_000)
    monkeypatch.setattr(starred_outliers, "MOST_COUNTS", 1_000)
    monkeypatch.setattr(starred_outliers, "count_parts", watch)
    method = pv.Mondrian(suppress="0.3", price="0.001")
    partition, _ = group_many(method, distinct_l_diversity=3)
    assert 0 < partition.starred
    assert max(counted) <= 1_100


def test_of_a_group_of_many_ages_not_every_cut_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each costs all rows of the group: to try them all would take their square."""
    tried, weigh = list[int](), starred_outliers.OutlierSearch._weigh

    def watch(own: Any, sheds: Any, least: float) -> Any:
        tried.append(len(sheds.line))
        return weigh(own, sheds, least)

    monkeypatch.setattr(starred_outliers.OutlierSearch, "_weigh", watch)
    method = pv.Mondrian(suppress="0.9", price="0.01")
    group_many(method, t_closeness="0.001")
    assert 2 * 64 < sum(tried) < 2 * 64 + 2 * 32 * 4


def sum_widths(release: pv.Release, price: float) -> float:
    """What all people lose, as the release shows them."""
    assert release.grouped is not None
    partition = release.grouped.partition
    loss, people = partition.loss, partition.leaves[:, 2]
    if partition.starred:
        loss[-1] = price * len(partition.attributes)
    return float((loss * people).sum())


@pytest.mark.parametrize("same_cuts", [False, True])
def test_stars_as_empty_cells_cost_what_missing_values_told(same_cuts: bool) -> None:
    """A group of people without an age shows so, but not beside starred people."""
    dice, starred = random.Random(f"blank {same_cuts}"), 0
    for _ in range(14):
        rows, price = dice.randint(12, 30), dice.choice([1, 0.2, 0.05])
        people = pa.table(
            {
                "age": [dice.choice([None, None, 20, 21, 30, 90]) for _ in range(rows)],
                "job": [dice.choice([None, "a", "a", "b", "c"]) for _ in range(rows)],
                "ill": [dice.choice("xyz") for _ in range(rows)],
            }
        )
        made = []
        for share in ("0", "0.4"):
            method = pv.Mondrian(
                hidden="null", same_cuts=same_cuts, suppress=share, price=price
            )
            with pv.read(people, quasi=["age", "job"], sensitive="ill") as table:
                asked = [pv.Measure(k_anonymity=3)]
                made.append(pv.publish(table, asked, method=method, utility=False))
        plain, release = made
        assert release.grouped is not None
        starred += release.grouped.partition.starred > 0
        assert sum_widths(release, price) <= sum_widths(plain, price) + 1e-9
    assert starred > 0
