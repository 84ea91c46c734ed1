"""Rules of a table are the same wherever its rows are counted."""

from __future__ import annotations

import random
import sqlite3
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import privet as pv
from engines.tables import PLACES, People, opened
from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import CountUnit, Run
from privet.engine.sources import find_source
from privet.microdata.discovery import levelwise_search

pytestmark = pytest.mark.engines

KINDS = ("text", "integer", "text", "date", "text", "integer", "integer")


def people(rows: int = 240) -> People:
    dice = random.Random(5)
    made = [
        (
            dice.choice(["Cook", "Judge", "O'Neil", "=1+1", "", None]),
            dice.choice([30, 40, 50, None]),
            dice.choice(["Bonn", "Rome"]),
            dice.choice([date(2024, 1, 1), date(2023, 5, 2), None]),
            dice.choice(["flu", "hiv", "none", "none", None]),
            dice.randrange(4),
            dice.randrange(200),
        )
        for _ in range(rows)
    ]
    return People(KINDS, made)


def roles(counted: str) -> dict[str, Any]:
    *known, ill, weight, unit = people(1).names
    extra = {"rows": {}, "weight": {"weight": weight}, "unit": {"unit": unit}}[counted]
    gone = [c for c in (weight, unit) if c not in extra.values()]
    return {"quasi": known, "sensitive": ill, "drop": gone, **extra}


def rules(table: pv.Table, support: int) -> list[tuple[Any, ...]]:
    found = pv.discover(table, confidence="0.45", support=support)
    assert found.complete
    return [(r.columns, r.witness, r.people, r.groups, r.audited) for r in found.rules]


@pytest.mark.parametrize("counted", ["rows", "weight", "unit"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "relation", *PLACES])
def test_rules_are_the_same_everywhere(kind: str, counted: str, tmp_path: Path) -> None:
    with opened(people(), "arrow", tmp_path, **roles(counted)) as here:
        expected = {n: rules(here, n) for n in (1, 3)}
    assert all(expected.values())
    with opened(people(), kind, tmp_path, **roles(counted)) as there:
        assert expected == {n: rules(there, n) for n in (1, 3)}


@pytest.mark.parametrize("counted", ["rows", "weight", "unit"])
def test_an_engine_that_only_counts_finds_them(
    counted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite, of `sqlite.py`: no grouping sets, no rows at hand."""
    monkeypatch.setitem(find_source.DATABASES, "sqlite", "engines.sqlite")
    monkeypatch.setattr(levelwise_search, "SETS_AT_ONCE", 5)
    given = people(60)
    path, names = tmp_path / "people.db", ", ".join(f'"{n}"' for n in given.names)
    types = ("TEXT", "INTEGER", "TEXT", "DATE", "TEXT", "INTEGER", "INTEGER")
    declared = ", ".join(f'"{n}" {t}' for n, t in zip(given.names, types, strict=True))
    con = sqlite3.connect(path)
    con.execute(f"CREATE TABLE people ({declared})")
    rows = [
        tuple(str(v) if i == 3 and v else v for i, v in enumerate(r))
        for r in given.rows
    ]
    con.executemany(f"INSERT INTO people ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    con.commit()
    con.close()
    with opened(given, "arrow", tmp_path, **roles(counted)) as here:
        expected = rules(here, 2)
    with pv.read(f"sqlite://{path}", table="people", **roles(counted)) as there:
        assert expected == rules(there, 2)
    assert expected


def test_rows_are_held_once_where_they_fit(tmp_path: Path) -> None:
    with opened(people(), "parquet", tmp_path, **roles("rows")) as table:
        names = [*table.roles.quasi, *table.roles.sensitive]
        held = table.engine.hold_rows(names, CountUnit(), {}, Run())
        assert isinstance(held, InMemory)
        assert 240 == held.rows(Run())
        unit = CountUnit(unit=people(1).names[-1])
        assert table.engine.hold_rows(names, unit, {}, Run()) is None


def test_rows_that_do_not_fit_are_counted_by_the_database(tmp_path: Path) -> None:
    """A quarter of 4 MB has no room for 40 bytes of 100,000 rows."""
    dice = random.Random(1)
    table = pa.table(
        {
            "a": [dice.choice("xyz") for _ in range(100_000)],
            "b": [dice.choice("pq") for _ in range(100_000)],
            "s": [dice.choice("uvw") for _ in range(100_000)],
        }
    )
    given = {"quasi": ["a", "b"], "sensitive": "s"}
    with (
        pv.read(table, **given) as here,
        pv.read(table, memory_limit="12MB", **given) as small,
    ):
        amount, columns = CountUnit(), ["a", "b", "s"]
        assert small.engine.hold_rows(columns, amount, {}, Run()) is None
        assert pv.discover(here, confidence="1/3") == pv.discover(
            small, confidence="1/3"
        )
