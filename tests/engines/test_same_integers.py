"""Every source of the same table gives the same integers: those one gets by looking."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from engines.tables import (
    EVERYWHERE,
    KINDS,
    PLACES,
    TYPED,
    People,
    cells,
    opened,
    values,
)

pytestmark = [
    pytest.mark.engines,
    # Whole numbers with missing ones are floats to pandas, and it says so.
    pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning"),
]

# Without digits: a column of texts that all look like numbers is one of numbers.
LETTERS = "aAbÄßé世😀 '\",;|\t\n\r\\%_-.=?#"

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(LETTERS, max_size=6),
    "integer": st.sampled_from(
        [0, 1, -1, 7, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**63)]
    ),
    "big": st.sampled_from([0, 5, 2**63, 2**63 + 1, 2**64 + 1, -(2**70), 10**37]),
    "float": st.sampled_from([0.0, -0.0, 0.1, 0.1 + 2**-54, 1.5, -2.0, 1e-300, 1e300])
    | st.floats(allow_nan=False, allow_infinity=False, width=32),
    "decimal": st.decimals(-10_000, 10_000, places=2).map(lambda d: d + Decimal(0)),
    "date": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "moment": st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)),
    "truth": st.booleans(),
}


@st.composite
def tables(draw: st.DrawFn, *, kinds: list[str] | None = None) -> People:
    """Few columns with few values each, so that groups have several rows."""
    chosen = draw(
        st.lists(st.sampled_from(kinds or list(VALUES)), min_size=1, max_size=3)
    )
    domains = [draw(st.lists(VALUES[kind], min_size=1, max_size=4)) for kind in chosen]
    row = st.tuples(*(st.sampled_from([None, *domain]) for domain in domains))
    return People(tuple(chosen), draw(st.lists(row, min_size=1, max_size=12)))


def counted(people: People, kind: str, folder: Path) -> dict[tuple[Any, ...], int]:
    *by, about = people.names
    with opened(people, kind, folder) as table:
        assert len(people.rows) == len(table)
        return values(cells(table, by, about), people.kinds)


@settings(max_examples=8)
@given(people=tables())
def test_every_source_counts_what_is_there(
    people: People, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("same")
    expected = dict(people.counted())
    for kind in KINDS:
        assert expected == counted(people, kind, folder), kind


@pytest.mark.postgres
@settings(max_examples=25)
@given(people=tables())
def test_postgres_codes_and_counts_like_duckdb(people: People) -> None:
    codes_and_counts_like_duckdb("postgres", people)


@pytest.mark.spark
@settings(max_examples=12)  # a second each
@given(people=tables())
def test_spark_codes_and_counts_like_duckdb(people: People) -> None:
    codes_and_counts_like_duckdb("spark", people)


def codes_and_counts_like_duckdb(kind: str, people: People) -> None:
    """The same labels in the same order, and the same integers."""
    *by, about = people.names
    nowhere = Path()
    with (
        opened(people, "arrow", nowhere) as here,
        opened(people, kind, nowhere) as there,
    ):
        expected, found = here.domains(people.names), there.domains(people.names)
        assert {n: list(d.labels) for n, d in expected.items()} == {
            n: list(d.labels) for n, d in found.items()
        }
        assert {n: d.kind for n, d in expected.items()} == {
            n: d.kind for n, d in found.items()
        }
        assert cells(here, by, about) == cells(there, by, about)
        assert len(here) == len(there)


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_one_column_and_one_row(kind: str, tmp_path: Path) -> None:
    people = People(("text",), [("only",)])
    assert {("only",): 1} == counted(people, kind, tmp_path)


@pytest.mark.parametrize(
    "kind", [*(k for k in TYPED if not k.startswith("pandas")), *PLACES]
)
def test_floats_that_are_no_numbers(kind: str, tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    rows = [(x, "s") for x in (nan, -nan, nan, inf, -inf, 0.0, -0.0, None, 1.5)]
    people = People(("float", "text"), rows)
    expected = {
        ("nan", "s"): 3,
        (inf, "s"): 1,
        (-inf, "s"): 1,
        (0.0, "s"): 2,
        (None, "s"): 1,
        (1.5, "s"): 1,
    }
    assert expected == counted(people, kind, tmp_path)


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_the_audit_is_the_same(kind: str, tmp_path: Path) -> None:
    rows = [
        ("Cook", 40, "flu"),
        ("Cook", 40, "flu"),
        ("Cook", 40, None),
        ("Judge", None, "flu"),
        ("Judge", None, ""),
        (None, 40, "flu"),
        (None, 40, "hiv"),
    ]
    people = People(("text", "integer", "text"), rows)
    options = {"quasi": people.names[:2], "sensitive": people.names[2]}
    with opened(people, kind, tmp_path, **options) as table:
        found = pv.audit(
            table, pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"text 2": "flu"})
        )
        assert {"text 0": "Cook", "integer 1": "40"} == found.worst.witness.knows
        assert (2, 3) == (found.worst.witness.part, found.worst.witness.whole)
        assert 1 == found.worst.groups_above
        belief = pv.belief(table, pv.Linker(), {"text 2": None})
        assert "1/3" == str(belief.posterior)
        assert "1/7" == str(belief.prior)
        groups = table.groups()
        assert [
            {"flu": 1, "hiv": 1},
            {None: 1, "flu": 2},
            {"": 1, "flu": 1},
        ] == list(groups.histograms())
