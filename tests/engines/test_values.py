"""What is one value and what are two, in which order they stand, and public bins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from engines.tables import EVERYWHERE, PLACES, READ, People, cells, opened

pytestmark = pytest.mark.engines


def labels(path: Path, texts: Sequence[str]) -> list[str | None]:
    """The values of a column of a CSV file, in their order."""
    path.write_bytes(("x,y\n" + "".join(f"{t},1\n" for t in texts)).encode())
    with pv.read(path) as table:
        return list(table.domains(["x"])["x"].labels)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1.50", "1.5", "+1.5", "01.5"], ["+1.5", "01.5", "1.5", "1.50"]),
        (["1.50", "1.5", "+1.5"], ["+1.5"]),
        (["10", "9", "-1", "+9", ""], [None, "-1", "+9", "10"]),
        (["1e3", "1000", "1000.0", "1E+3", "999.99"], ["999.99", "1000"]),
        (["0", "-0", "0.0", "-0.000", "0e5", ".5"], ["-0", ".5"]),
        (["012345", "12345"], ["012345", "12345"]),
        (["0.1", "0.10000000000000000001"], ["0.1", "0.10000000000000000001"]),
        (["-0.1", "-0.10000000000000000001"], ["-0.10000000000000000001", "-0.1"]),
        (["9007199254740993", "9007199254740992"], None),
        (["340282366920938463463374607431768211457", "5"], None),
        ([f"{10**45 + 1}", f"{10**45}", "7"], None),
        (["2024-02-01", "2023-12-31"], None),
        (["2024-02-01T10:00", "2024-02-01 10:00:00"], ["2024-02-01 10:00:00"]),
        (["2024-02-30", "2024-02-01"], None),
        (["1e400", "1"], None),
        (["nan", "1"], None),
        ([".", "1"], None),
        (["1 ", "1"], None),
        (["1,5".replace(",", "_"), "1"], None),
        (["b", "a", "B", "é", '""', ""], [None, "", "B", "a", "b", "é"]),
    ],
)
def test_texts_are_grouped_by_what_they_mean(
    texts: list[str], expected: list[str | None] | None, tmp_path: Path
) -> None:
    found = labels(tmp_path / "t.csv", texts)
    if expected is None:  # all of them, in order
        numbers = all(t.isdigit() for t in texts)
        expected = sorted(texts, key=int if numbers else str)
    assert expected == found


NUMBERS = st.from_regex(
    r"\A[+-]?(0|[1-9][0-9]{0,25})(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?\Z"
)


@settings(max_examples=15)
@given(
    texts=st.lists(NUMBERS | st.sampled_from(["0", "-0.0", "1e1", "10"]), min_size=2)
)
def test_numbers_are_the_fractions_their_digits_mean(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = labels(tmp_path_factory.mktemp("n") / "t.csv", texts)
    expected = sorted({Fraction(t) for t in texts})
    assert expected == [Fraction(str(t)) for t in found]
    assert set(found) <= set(texts)


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_missing_and_empty_are_two_values(kind: str, tmp_path: Path) -> None:
    people = People(("text", "text"), [(None, "s"), ("", "s"), ("", None), ("x", "")])
    with opened(people, kind, tmp_path) as table:
        assert [None, "", "x"] == list(table.domains(["text 0"])["text 0"].labels)
        expected = {
            (None, "s"): 1,
            ("", None): 1,
            ("", "s"): 1,
            ("x", ""): 1,
        }
        assert expected == cells(table, ["text 0"], "text 1")


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_values_stand_in_their_own_order(kind: str, tmp_path: Path) -> None:
    rows = [
        (10, Decimal("10.50"), date(2024, 1, 10), datetime(2024, 1, 2, 3, 4, 5, 600)),
        (9, Decimal("9.00"), date(2024, 1, 9), datetime(2024, 1, 1)),
        (None, None, None, None),
        (-1, Decimal("-1.25"), date(1950, 1, 1), datetime(1950, 6, 7, 8, 9)),
    ]
    people = People(("integer", "decimal", "date", "moment"), rows)
    with opened(people, kind, tmp_path) as table:
        for i, (name, domain) in enumerate(table.domains(people.names).items()):
            first, *texts = domain.labels
            assert first is None, name
            expected = sorted(v for v in people.column(i) if v is not None)
            assert expected == [READ[people.kinds[i]](str(t)) for t in texts]


def test_labels_are_as_the_source_wrote_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "d": pa.array([Decimal("1.50")], pa.decimal128(9, 2)),
            "z": pa.array([-0.0]),
            "t": pa.array([datetime(2024, 5, 1)], pa.timestamp("us", "Europe/Paris")),
            "f": pa.array([0.1], pa.float32()),
            "l": [[1, 2]],
            "b": [b"\x00a"],
        }
    )
    expected = {
        "d": "1.50",
        "z": "0.0",
        "t": "2024-05-01 00:00:00+00",
        "f": "0.1",
        "l": "[1, 2]",
        "b": "\\x00a",
    }
    with pv.read(table) as people:
        shown = {c: d[0] for c, d in people.domains(list(expected)).items()}
    assert expected == shown


def test_a_value_is_found_by_what_it_means(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,s\nx,1.50\nx,2\nx,\n")
    with pv.read(tmp_path / "t.csv", quasi="a", sensitive="s") as table:
        for value in ("1.50", 1.5, Decimal("1.5")):
            belief = pv.belief(table, pv.Linker(), {"s": value})
            assert Fraction(1, 3) == belief.posterior
        assert Fraction(1, 3) == pv.belief(table, pv.Linker(), {"s": None}).posterior


# Bins -------------------------------------------------------------------------------

EDGES = ["-1", "0", "0.1", "0.3", "1/3", "18", "65", "9007199254740993"]


def in_bin(value: Any, edges: Sequence[str]) -> int:
    """Which bin a value is in, by the digits it is written with."""
    return sum(Fraction(str(value)) >= Fraction(e) for e in edges)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([17, 18, 64, 65, -1, -2, 0, None, 2**53, 2**53 + 1, 2**53 + 2]),
        pa.array([0.1, 0.3, 0.3 - 2**-54, 1 / 3, 0.1 + 2**-55, -0.0, -1e-300, 1e300]),
        pa.array([0.1, 0.3, 17.999999, 18], pa.float32()),
        pa.array([Decimal("17.99"), Decimal("18.00"), None], pa.decimal128(9, 2)),
        pa.array([255, 0, 18], pa.uint8()),
        ["0.1", "0.10", "0.09999999999999999999", "1e-1", "0.3333333333333333333333"],
        ["9007199254740992.99999", "9007199254740993.0", "-1", "-1.0000000000000001"],
    ],
)
def test_bins_hold_their_lower_edge_exactly(column: Any, tmp_path: Path) -> None:
    given: Any = pa.table({"x": column})
    shown = (
        [None if v is None else str(v) for v in column.to_pylist()]
        if isinstance(column, pa.Array)
        else column
    )
    if isinstance(column, list):
        given = tmp_path / "t.csv"
        given.write_text("x\n" + "".join(f"{t}\n" for t in column))
    elif pa.types.is_float32(column.type):
        shown = ["0.1", "0.3", "17.999999", "18.0"]
    names = pv.Bins(EDGES).labels()
    expected: dict[Any, int] = {}
    for text in shown:
        key = (None if text is None else names[in_bin(text, EDGES)],)
        expected[key] = expected.get(key, 0) + 1
    with pv.read(given, bins={"x": EDGES}) as table:
        assert [None, *names] == list(table.domains(["x"])["x"].labels)
        assert expected == cells(table, [], "x")


def test_what_is_no_number_is_missing_from_bins() -> None:
    inf = float("inf")
    table = pa.table({"x": [float("nan"), None, inf, -inf, 0.5]})
    with pv.read(table, bins={"x": [0, 1]}) as people:
        expected = {
            (None,): 2,
            ("1 and more",): 1,
            ("below 0",): 1,
            ("0 to below 1",): 1,
        }
        assert expected == cells(people, [], "x")


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_bins_of_dates_and_moments(kind: str, tmp_path: Path) -> None:
    rows = [
        (date(1959, 12, 31), datetime(1959, 12, 31, 23, 59, 59, 999999)),
        (date(1960, 1, 1), datetime(1960, 1, 1)),
        (None, None),
        (date(2020, 2, 29), datetime(2020, 2, 29, 12)),
    ]
    people = People(("date", "moment"), rows)
    edges = [date(1960, 1, 1), "2020-02-29"]
    options = {"bins": dict.fromkeys(people.names, edges)}
    with opened(people, kind, tmp_path, **options) as table:
        expected = {
            ("before 1960-01-01",) * 2: 1,
            ("1960-01-01 to before 2020-02-29",) * 2: 1,
            ("from 2020-02-29",) * 2: 1,
            (None, None): 1,
        }
        assert expected == cells(table, people.names[:1], people.names[1])


@pytest.mark.parametrize(
    "kind", ["csv", "json lines", "arrow", "pandas, objects", *PLACES]
)
def test_texts_cannot_be_binned(kind: str, tmp_path: Path) -> None:
    people = People(("text", "date"), [("secret", date(2020, 1, 1)), ("7", None)])
    for name in people.names:
        with opened(people, kind, tmp_path, bins={name: [1]}) as table:
            with pytest.raises(pv.InputError, match="must hold numbers") as error:
                table.domains([name])
            assert "secret" not in str(error.value)
    with opened(people, kind, tmp_path, bins={"text 0": ["2020-01-01"]}) as table:
        with pytest.raises(pv.InputError, match="must hold dates"):
            table.domains(["text 0"])


def test_a_column_without_values_can_be_binned(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n,1\n,1\n")
    with pv.read(tmp_path / "t.csv", bins={"x": [1]}) as table:
        assert {(None, "1"): 2} == cells(table, ["x"], "y")


def test_thousands_of_values_and_of_columns(tmp_path: Path) -> None:
    many = pa.table({"x": [f"v{i:05}" for i in range(30_000)], "s": ["a"] * 30_000})
    with pv.read(many, quasi="x", sensitive="s") as table:
        domain = table.domains(["x"])["x"]
        assert (30_000, "v00000", "v29999") == (len(domain), domain[0], domain[29_999])
        assert ["v00007", "v00009"] == list(domain.labels[7:10:2])
        assert ["v29999", "v29998"] == list(domain.labels[:-3:-1])
        assert 1 == pv.belief(table, pv.Linker()).posterior
    names = [f"column {i}" for i in range(3_000)]
    (tmp_path / "wide.csv").write_text(
        ",".join(names) + "\n" + ",".join(["a"] * 3_000) + "\n" + "b," * 2_999 + "b\n"
    )
    with pv.read(tmp_path / "wide.csv", quasi=names[:70], sensitive=names[-1]) as table:
        assert 3_000 == len(table.schema.names)
        assert 1 == pv.belief(table, pv.Linker()).posterior
    with pv.read(
        tmp_path / "wide.csv", quasi=names[:101], sensitive=names[-1]
    ) as table:
        with pytest.raises(pv.TooLarge, match="at most 100 columns; got 101"):
            pv.belief(table, pv.Linker())


def test_large_domains_are_fetched_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from privet.engine import dictionaries

    monkeypatch.setattr(dictionaries, "LABELS_AT_ONCE", 10)
    with pv.read(pa.table({"x": range(35)})) as table:
        domain = table.domains(["x"])["x"]
        assert [str(i) for i in range(35)] == list(domain.labels)
        assert ["12", "13", "14"] == list(domain.labels[12:15])
        assert [] == list(domain.labels[5:5])
        assert "34" == domain[34]
        assert 20 == domain.code("20")
        with pytest.raises(IndexError):
            domain.labels[35]
