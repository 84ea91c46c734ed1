"""Columns that tell others, found in tables."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.dependence.derived_columns import (
    find_dependencies,
    find_rules,
    list_told,
    list_untold,
)
from privet.values.dependencies import Rules


def find(columns: dict[str, Any], **options: Any) -> set[tuple[tuple[str, ...], str]]:
    table = pv.read(pa.table(columns))
    return set(list_told(find_dependencies(table, list(columns), **options)))


@pytest.fixture(scope="module")
def flights() -> dict[str, Any]:
    draw = np.random.default_rng(4)
    start = datetime(2024, 1, 1)
    times = [
        start + timedelta(hours=int(h)) for h in np.sort(draw.integers(0, 1500, 4000))
    ]
    return {
        "time_hour": times,
        "month": [t.month for t in times],
        "hour": [t.hour for t in times],
        "carrier": draw.choice(["AA", "UA", "DL"], 4000).tolist(),
        "origin": draw.choice(["EWR", "JFK", "LGA"], 4000).tolist(),
    }


def test_a_time_tells_its_parts_and_nothing_else(flights: dict[str, Any]) -> None:
    told = find(flights, pairs=False)
    assert {(("time_hour",), "month"), (("time_hour",), "hour")} == told


def test_nearly_distinct_times_are_compared_with_their_neighbours(
    flights: dict[str, Any],
) -> None:
    draw = np.random.default_rng(9)
    exact = [
        t + timedelta(seconds=int(draw.integers(3600))) for t in flights["time_hour"]
    ]
    shift = [(t.month + 3) % 12 for t in exact]  # no part of the time, but told by it
    told = find({"time": exact, "term": shift, "carrier": flights["carrier"]})
    assert {(("time",), "term")} == told


def test_two_columns_tell_what_neither_does() -> None:
    draw = np.random.default_rng(2)
    a, b = draw.integers(0, 12, 3000), draw.integers(0, 12, 3000)
    columns = {"a": a.tolist(), "b": b.tolist(), "c": ((a * 5 + b * 7) % 13).tolist()}
    told = find(columns)
    assert (("a", "b"), "c") in told
    assert not any(len(by) == 1 for by, _ in told)


def test_first_letters_are_a_part_even_where_nothing_repeats() -> None:
    codes = [f"{c}{i:03}" for i, c in enumerate("ABCDE" * 5)]
    told = find({"postcode": codes, "region": [c[0] for c in codes]})
    assert (("postcode",), "region") in told


def test_few_rows_are_too_few_to_tell() -> None:
    table = pv.read(pa.table({"x": ["a", "a", "b", "b"], "c": ["1", "1", "2", "2"]}))
    found = find_dependencies(table, ["x", "c"])
    assert [] == list_told(found)
    assert {("x",), ("c",)} == {d.by for d in list_untold(found)}


def test_a_column_of_one_value_is_told_by_nothing() -> None:
    assert set() == find(
        {"year": ["2013"] * 500, "x": [str(i % 9) for i in range(500)]}
    )


def test_weights_and_units_do_not_change_what_values_tell() -> None:
    rows = pa.table(
        {
            "x": [str(i % 40) for i in range(400)],
            "c": [str(i % 40 % 7) for i in range(400)],
            "w": [1000 if i == 0 else 1 for i in range(400)],
        }
    )
    plain = find_dependencies(pv.read(rows), ["x", "c"])
    weighed = find_dependencies(pv.read(rows, weight="w"), ["x", "c"])
    assert plain == weighed
    assert [(("x",), "c")] == list_told(plain)


# Real tables --------------------------------------------------------------------------

ADULT = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital"),
    *("occupation", "relationship", "race", "sex", "gain", "loss", "hours"),
    *("country", "income"),
]
TRULY = {(("education",), "education-num"), (("education-num",), "education")}
"""What tells what in the census, and nothing else does."""


@pytest.fixture(scope="module")
def adult() -> pa.Table:
    path = Path(os.environ.get("PRIVET_DATA", "nowhere")) / "adult.data"
    if not path.exists():
        pytest.skip("the census of Adult is not here")
    rows = [line.split(", ") for line in path.read_text().splitlines() if line]
    return pa.table(dict(zip(ADULT, map(list, zip(*rows, strict=True)), strict=True)))


def find_derived(frame: pa.Table, known: list[str]) -> Rules:
    with pv.read(frame) as table:
        return find_rules(table, known)


def test_of_the_census_only_what_is_so_is_found(adult: pa.Table) -> None:
    found = find_derived(adult, ["age", "education", "sex"])
    single = {(r.by, r.column): r for r in found.told if len(r.by) == 1}
    assert single.keys() == TRULY
    assert all(r.exact for r in single.values())
    # Weights were made from age, sex and race, so with one of them they tell more.
    both = [r for r in found.told if len(r.by) == 2]
    assert all("fnlwgt" in r.by for r in both)


def test_few_rows_of_the_census_give_no_false_finding(adult: pa.Table) -> None:
    draw = np.random.default_rng(7)
    columns = [c for c in ADULT if c not in ("age", "fnlwgt", "hours", "gain", "loss")]
    whole = pv.read(adult.select(columns))
    truth = {
        (d.by, d.column): d.ratio
        for d in find_dependencies(whole, columns, pairs=False)
    }
    for size in (30, 100, 300, 1000, 3000):
        rows = draw.choice(len(adult), size, replace=False)
        found = find_derived(adult.select(columns).take(pa.array(rows)), ["education"])
        sure = [
            r for r in found.told if r.counts and r.counts.evidence.value == "derived"
        ]
        single = {(r.by, r.column) for r in sure if len(r.by) == 1}
        assert all((truth[key] or 0) <= Fraction(1, 10) for key in single)
        told = {(r.by, r.column) for r in found.told}
        untold = {(d.by, d.column) for d in found.too_few}
        assert told | untold >= TRULY
        if size == 3000:
            assert single == TRULY


@pytest.mark.parametrize("name", ["wine", "breast_cancer", "diabetes", "digits"])
def test_measurements_tell_each_other_nothing(name: str) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    loaded = getattr(datasets, f"load_{name}")()
    frame = {
        str(c): loaded.data[:, i].tolist()
        for i, c in enumerate(list(loaded.feature_names)[:12])
    }
    frame["target"] = [str(v) for v in loaded.target]
    found = find_derived(pa.table(frame), ["target"])
    assert not [
        r for r in found.told if r.counts and r.counts.evidence.value == "derived"
    ]


def test_rules_are_what_is_measured_one_by_one(flights: dict[str, Any]) -> None:
    table = pv.read(pa.table(flights))
    found = find_rules(table, list(flights))
    slowly = find_dependencies(table, list(flights))
    measured = {(d.by, d.column): d for d in slowly if d.is_told}
    assert measured == {(r.by, r.column): r.counts for r in found.told}
    untold = {(d.by, d.column) for d in list_untold(slowly) if len(d.by) == 1}
    assert untold == {(d.by, d.column) for d in found.too_few}
