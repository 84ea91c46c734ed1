"""Columns that tell others, found in tables."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.derived_columns import find_dependencies, list_told, list_untold


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
