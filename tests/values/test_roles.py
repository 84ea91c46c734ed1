"""What columns are for: roles that exclude each other, bins, and names."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet import Bins, InputError, RoleConflict, Roles
from privet.errors import ColumnNotFound
from privet.values.schema import Column, Schema, as_names

# Bins -------------------------------------------------------------------------------


def test_edges_are_exact() -> None:
    assert (Fraction(1, 10), Fraction(1, 2)) == Bins([0.1, "1/2"]).edges
    assert (date(1960, 1, 1), date(1980, 1, 1)) == Bins(
        ["1960-01-01", date(1980, 1, 1)]
    ).edges


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ([18], ("below 18", "18 and more")),
        ([18, 65.5], ("below 18", "18 to below 65.5", "65.5 and more")),
        ([1_234_567.5], ("below 1234567.5", "1234567.5 and more")),
        (["1/3"], ("below 1/3", "1/3 and more")),
        ([2**53 + 1], ("below 9007199254740993", "9007199254740993 and more")),
        (
            ["-0.10000000000000000001"],
            ("below -0.10000000000000000001", "-0.10000000000000000001 and more"),
        ),
        (["2020-01-01"], ("before 2020-01-01", "from 2020-01-01")),
    ],
)
def test_labels(edges: list[object], labels: tuple[str, ...]) -> None:
    assert labels == Bins(edges).labels()


@pytest.mark.parametrize(
    "edges",
    [
        [],
        (),
        "18",
        18,
        None,
        {18, 65},
        [65, 18],
        [18, 18],
        [18, "x"],
        [True],
        [float("nan")],
        [float("inf")],
        ["1e301"],
        ["2020-01-01", 5],
        ["2020-13-45"],
        [date(2020, 1, 1), datetime(2021, 1, 1, 12, 30)],
        ["2021-01-01", "2020-01-01"],
    ],
)
def test_edges_that_are_none(edges: object) -> None:
    with pytest.raises(InputError, match=r"bins must|edge of bins must"):
        Bins(edges)


def test_a_small_number_is_no_date() -> None:
    bins = Bins([Fraction(-1, 48828125)])
    assert ["-2.048e-08"] == bins.to_list()
    assert bins == Bins(bins.to_list())


@given(st.lists(st.fractions(-(10**9), 10**9), min_size=1, max_size=6, unique=True))
def test_bins_survive_being_written(edges: list[Fraction]) -> None:
    bins = Bins(sorted(edges))
    assert bins == Bins(bins.to_list())
    assert len(edges) + 1 == len(set(bins.labels()))


@given(st.lists(st.dates(), min_size=1, max_size=6, unique=True))
def test_bins_of_dates_survive_being_written(edges: list[date]) -> None:
    bins = Bins(sorted(edges))
    assert bins.are_dates
    assert bins == Bins(bins.to_list())


# Roles ------------------------------------------------------------------------------


def test_one_name_is_a_list_of_one() -> None:
    assert Roles(quasi=("job",)) == Roles(quasi="job") == Roles(quasi=["job"])


@pytest.mark.parametrize(
    "roles",
    [
        {"identifier": "x", "quasi": "x"},
        {"quasi": "x", "sensitive": "x"},
        {"identifier": "x", "sensitive": "x"},
        {"identifier": "x", "target": "x"},
        {"weight": "x", "target": "x"},
        {"weight": "x", "quasi": "x"},
        {"unit": "x", "quasi": "x"},
        {"unit": "x", "target": "x"},
        {"unit": "x", "weight": "x"},
        {"unit": "x", "weight": "y"},
        {"sensitive": "x", "unit": "x", "target": "x"},
    ],
)
def test_roles_that_exclude_each_other(roles: dict[str, str]) -> None:
    with pytest.raises(RoleConflict, match="must"):
        Roles(**roles)


@pytest.mark.parametrize(
    "roles",
    [
        {"sensitive": "x", "target": "x"},
        {"quasi": "x", "target": "x"},
        {"identifier": "x", "unit": "x"},
    ],
)
def test_roles_that_go_together(roles: dict[str, str]) -> None:
    assert ("x",) == Roles(**roles).columns()


def test_every_conflict_is_said() -> None:
    with pytest.raises(RoleConflict) as caught:
        Roles(identifier=["a", "b"], quasi=["a", "c"], sensitive=["b", "c"])
    assert [
        "Column 'a' must have one role; got identifier and quasi.",
        "Column 'b' must have one role; got identifier and sensitive.",
        "Column 'c' must have one role; got quasi and sensitive.",
    ] == str(caught.value).splitlines()


@pytest.mark.parametrize(
    "roles",
    [
        {"quasi": 5},
        {"quasi": ["a", None]},
        {"quasi": {"a": 1}},
        {"quasi": ["a", "a"]},
        {"target": ["a"]},
        {"target": ""},
        {"unit": 1},
        {"weight": b"n"},
        {"bins": [18]},
        {"bins": {"age": "18"}},
    ],
)
def test_roles_that_are_none(roles: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"must .*; got"):
        Roles(**roles)


def test_names_from_a_set_are_in_order() -> None:
    assert ("a", "b", "c") == as_names({"c", "a", "b"}, "quasi")


# Schemas ----------------------------------------------------------------------------


def test_a_schema_knows_each_role() -> None:
    columns = tuple(Column(c) for c in "abcdefg")
    roles = Roles(
        identifier="a", quasi="b", sensitive="c", target="d", unit="e", bins={"f": [1]}
    )
    schema = Schema(columns, roles)
    expected = ["identifier", "quasi", "sensitive", "target", "unit", "", ""]
    assert expected == [schema.role(c) for c in "abcdefg"]


def test_a_schema_names_every_missing_column() -> None:
    with pytest.raises(ColumnNotFound) as caught:
        Schema((Column("job"), Column("country")), Roles(quasi=["jop", "contry"]))
    assert [
        "Column 'jop' must exist. Did you mean 'job'?",
        "Column 'contry' must exist. Did you mean 'country'?",
    ] == str(caught.value).splitlines()
