"""People instead of rows, multiplicities, and only some of the rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from engines.tables import EVERYWHERE, PLACES, People, cells, opened, totals

pytestmark = pytest.mark.engines

# People -----------------------------------------------------------------------------

VISITS = [
    ("Cook", "flu", 1),
    ("Cook", "flu", 1),
    ("Cook", "hiv", 1),
    ("Cook", "flu", 2),
    ("Judge", "flu", 1),
    (None, "hiv", 3),
    ("Cook", "hiv", None),
    ("Cook", "hiv", None),
    ("Judge", None, None),
]
"""Job, illness and patient; somebody has no number."""


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_people_are_counted_once_per_group(kind: str, tmp_path: Path) -> None:
    people = People(("text", "text", "integer"), VISITS)
    job, ill, who = people.names
    with opened(people, kind, tmp_path, unit=who) as table:
        expected = {
            (None, "hiv"): 1,
            ("Cook", "flu"): 2,
            ("Cook", "hiv"): 2,  # patient 1, and the one without a number
            ("Judge", "flu"): 1,
            ("Judge", None): 1,
        }
        assert expected == cells(table, [job], ill)
        sizes = {(None,): 1, ("Cook",): 3, ("Judge",): 2}
        assert sizes == totals(table, [job], ill)
        assert {(): 4} == totals(table, [], ill)
        assert "people" == table.counted
        assert len(VISITS) == len(table)


@settings(max_examples=25)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from(["x", "y", None]),
            st.sampled_from([1, 2, 3, 4, None]),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_people_by_definition(rows: list[tuple[Any, ...]]) -> None:
    having, among = defaultdict(set), defaultdict(set)
    for group, value, who in rows:
        having[group, value].add(who)
        among[group,].add(who)
    table = pa.table(
        {
            "g": pa.array([r[0] for r in rows], pa.string()),
            "v": pa.array([r[1] for r in rows], pa.string()),
            "u": pa.array([r[2] for r in rows], pa.int64()),
        }
    )
    with pv.read(table, unit="u") as people:
        assert {k: len(v) for k, v in having.items()} == cells(people, ["g"], "v")
        assert {k: len(v) for k, v in among.items()} == totals(people, ["g"], "v")


# Weights ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_weights_are_added(kind: str, tmp_path: Path) -> None:
    rows = [
        ("Cook", "flu", 2),
        ("Cook", "flu", 3),
        ("Cook", "hiv", 0),
        (None, "flu", 1),
    ]
    people = People(("text", "text", "integer"), rows)
    job, ill, n = people.names
    with opened(people, kind, tmp_path, weight=n, quasi=job, sensitive=ill) as table:
        assert {("Cook", "flu"): 5, (None, "flu"): 1} == cells(table, [job], ill)
        assert {(): 6} == totals(table, [], ill)
        assert 1 == pv.belief(table, pv.Linker()).posterior


@pytest.mark.parametrize(
    ("weights", "bad"),
    [
        (["1", "-1", "2"], 1),
        (["1", "x", ""], 2),
        (["1.5", "1", "1"], 1),
        (["1e400", "1", "1"], 1),
        (["nan", "inf", "1"], 2),
        ([1, None, 3], 1),
        ([1.0, 2.5, float("nan")], 2),
        ([float("inf"), -1.0, 0.0], 2),
        ([Decimal("1.00"), Decimal("1.01"), None], 2),
    ],
)
def test_weights_must_be_whole_numbers(
    weights: list[Any], bad: int, tmp_path: Path
) -> None:
    source: Any = pa.table({"a": ["x", "y", "z"], "w": weights})
    if isinstance(weights[0], str):
        source = tmp_path / "t.csv"
        lines = (f"{a},{w}\n" for a, w in zip("xyz", weights, strict=True))
        source.write_text("a,w\n" + "".join(lines))
    words = f"whole numbers of at least 0; {bad} row"
    header = {"header": True} if isinstance(source, Path) else {}
    with pv.read(source, weight="w", **header) as table:
        with pytest.raises(pv.InputError, match=words):
            cells(table, [], "a")


def test_weights_that_are_whole_however_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,w\nx,2.0\nx,1e1\ny,+3\n")
    with pv.read(tmp_path / "t.csv", weight="w") as table:
        assert {("x",): 12, ("y",): 3} == cells(table, [], "a")
    whole = pa.table({"a": ["x", "y"], "w": [2.0, 0.0]})
    with pv.read(whole, weight="w") as table:
        assert {("x",): 2} == cells(table, [], "a")


@pytest.mark.parametrize(
    "weights", [[2**52, 2**52], [2**53, 0], [2**62] * 5, ["9" * 38] * 9]
)
def test_sums_that_floats_cannot_hold_are_refused(
    weights: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,w\n" + "".join(f"x,{w}\n" for w in weights))
    with pv.read(path, weight="w") as table:
        with pytest.raises(pv.InputError, match=r"less than 2\*\*53"):
            cells(table, [], "a")
    path.write_text(f"a,w\nx,{2**53 - 2}\ny,1\n")
    with pv.read(path, weight="w") as table:
        assert {("x",): 2**53 - 2, ("y",): 1} == cells(table, [], "a")


def test_weights_that_count_nobody_or_are_no_numbers() -> None:
    with pv.read(pa.table({"a": ["x"], "w": [0]}), weight="w") as table:
        with pytest.raises(pv.EmptyTable, match="all weights are 0"):
            cells(table, [], "a")
    for wrong, kind in ((date(2020, 1, 1), "date"), (True, "boolean")):
        with pv.read(pa.table({"a": ["x"], "w": [wrong]}), weight="w") as table:
            with pytest.raises(pv.InputError, match=f"values of kind {kind}"):
                cells(table, [], "a")


# Only some rows ---------------------------------------------------------------------

ROWS = [
    ("a", 2024, Decimal("1.50"), date(2024, 1, 1), datetime(2024, 1, 1), True),
    ("a'; --", 2025, Decimal("2.00"), date(2024, 1, 2), datetime(2024, 1, 1, 5), False),
    ("", None, None, None, None, None),
    (None, 7, Decimal("0.10"), date(1950, 1, 1), datetime(1950, 1, 1), True),
]
COLUMNS = ("text", "integer", "decimal", "date", "moment", "truth")


@pytest.mark.parametrize("kind", EVERYWHERE)
@pytest.mark.parametrize(
    ("column", "wanted", "rows"),
    [
        (0, "a", [0]),
        (0, "a'; --", [1]),
        (0, "", [2]),
        (0, None, [3]),
        (0, ["a", None], [0, 3]),
        (1, 2024, [0]),
        (1, 2024.0, [0]),
        (1, np.int64(2024), [0]),
        (1, {2024, 7}, [0, 3]),
        (1, (2025, None), [1, 2]),
        (2, 1.5, [0]),
        (2, Decimal("1.500"), [0]),
        (2, [2, 0.1], [1, 3]),
        (3, date(2024, 1, 2), [1]),
        (3, "2024-01-02", [1]),
        (4, datetime(1950, 1, 1), [3]),
        (5, True, [0, 3]),
        (5, [False, None], [1, 2]),
    ],
)
def test_where(
    kind: str, column: int, wanted: object, rows: list[int], tmp_path: Path
) -> None:
    people = People(COLUMNS, ROWS)
    name = people.names[column]
    if kind == "json lines" and isinstance(wanted, datetime):
        wanted = wanted.isoformat()  # as the file has it
    with opened(people, kind, tmp_path, where={name: wanted}) as table:
        found = list(cells(table, people.names[1:2], people.names[0]))
        expected = [
            (None if ROWS[r][1] is None else str(ROWS[r][1]), ROWS[r][0]) for r in rows
        ]
        assert Counter(expected) == Counter(found)
        assert len(rows) == len(table)


@pytest.mark.parametrize(
    "kind", ["csv", "json lines", "arrow", "relation", "polars", *PLACES]
)
def test_where_that_lets_nobody_through(kind: str, tmp_path: Path) -> None:
    people = People(COLUMNS, ROWS)
    wrong = {
        "text 0": ["b", "A", 5],
        "integer 1": [2024.5, "x", 2**70, "2024-01-01"],
        "decimal 2": [1.501, 150],
        "date 3": ["2024", "soon"],
        "truth 5": ["maybe"],
    }
    for name, values in wrong.items():
        with pytest.raises(pv.EmptyTable, match="where lets through"):
            with opened(people, kind, tmp_path, where={name: values}):
                pass


def test_where_on_several_columns_and_on_columns_that_are_not_there() -> None:
    table = pa.table({"a": ["x", "x", "y"], "b": [1, 2, 1], "s": ["p", "q", "r"]})
    with pv.read(table, where={"a": "x", "b": [1, 5]}) as people:
        assert {("p",): 1} == cells(people, [], "s")
    with pytest.raises(pv.ColumnNotFound, match=r"'bb' of where .* mean 'b'\?"):
        pv.read(table, where={"bb": 1})
    with pytest.raises(pv.InputError, match="must give a value for column 'a'"):
        pv.read(table, where={"a": []})


def test_where_keeps_codes_and_numbers_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,s\n00501,a\n501,b\n501.0,c\n5.01e2,d\n")
    with pv.read(tmp_path / "t.csv", where={"zip": "501"}) as table:
        assert {("b",): 1} == cells(table, [], "s")
    with pv.read(tmp_path / "t.csv", where={"zip": 501}) as table:
        assert {("b",): 1, ("c",): 1, ("d",): 1} == cells(table, [], "s")
