"""An engine in one file: SQLite, of `sqlite.py`, gives the same integers as DuckDB.

What a newcomer adds is that file, and one line in the table of addresses.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.tables import cells, totals
from privet.engine.counting import counter
from privet.engine.counting.strategy import Limits
from privet.engine.protocol import Run
from privet.engine.remote import transfer
from privet.engine.sources import find_source

pytestmark = pytest.mark.engines

NAMES = ["job", "age", "since", "ill", "n", "who"]
TYPES = ["TEXT", "INTEGER", "DATE", "TEXT", "INTEGER", "INTEGER"]
ROLES: dict[str, Any] = {"quasi": ["job", "age", "since"], "sensitive": "ill"}
PROMISE = pv.Promise(pv.Linker(), pv.Ceiling("3/5"))


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a newcomer adds to the package."""
    monkeypatch.setitem(find_source.DATABASES, "sqlite", "engines.sqlite")


def some_rows(seed: int = 1, rows: int = 200) -> list[tuple[Any, ...]]:
    dice = random.Random(seed)
    return [
        (
            dice.choice(["Cook", "Judge", "O'Neil", "=1+1", "", None]),
            dice.choice([30, 40, 50, None]),
            dice.choice([date(2024, 1, 1), date(2023, 5, 2)]),
            dice.choice(["flu", "hiv", "none", "none"]),
            dice.randrange(4),
            dice.randrange(60),
        )
        for _ in range(rows)
    ]


@contextmanager
def both(folder: Path, **options: Any) -> Iterator[tuple[pv.Table, pv.Table]]:
    """The same rows on DuckDB and on SQLite."""
    rows = some_rows()
    path = folder / "people.sqlite3"
    with sqlite3.connect(path) as con:
        columns = ", ".join(f"{n} {t}" for n, t in zip(NAMES, TYPES, strict=True))
        con.execute(f"CREATE TABLE people ({columns})")
        stored = [(*r[:2], r[2].isoformat(), *r[3:]) for r in rows]
        con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", stored)
    con.close()
    here = pa.table([list(c) for c in zip(*rows, strict=True)], names=NAMES)
    options = {**ROLES, **options}
    with (
        pv.read(here, **options) as duckdb,
        pv.read(f"sqlite://{path}", table="people", **options) as sqlite,
    ):
        yield duckdb, sqlite


def test_values_and_columns_are_the_same(tmp_path: Path) -> None:
    with both(tmp_path) as (here, there):
        assert ("sqlite", len(here)) == (there.engine.name, len(there))
        assert here.schema.columns == there.schema.columns
        assert here.engine.describe(Run()) == there.engine.describe(Run())
        for name, domain in here.domains(NAMES).items():
            assert list(domain.labels) == list(there.domains([name])[name].labels)


@pytest.mark.parametrize("amount", [{}, {"unit": "who"}, {"weight": "n"}])
def test_counts_are_the_same(amount: dict[str, str], tmp_path: Path) -> None:
    by = ["job", "age"]
    with both(tmp_path, **amount) as (here, there):
        assert cells(here, by, "ill") == cells(there, by, "ill")
        assert totals(here, by, "ill") == totals(there, by, "ill")
        assert cells(here, [], "ill") == cells(there, [], "ill")


def test_counts_in_parts_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = ["job", "age", "since"]
    with both(tmp_path) as (here, there):
        expected = cells(here, by, "ill")
        monkeypatch.setattr(counter, "LIMITS", Limits(cells_at_once=10))
        monkeypatch.setattr(transfer, "VALUES_AT_ONCE", 2)
        assert expected == cells(there, by, "ill")


def test_some_rows_are_the_same(tmp_path: Path) -> None:
    where = {"job": ["Cook", None], "since": "2024-01-01", "age": [30, 40.0]}
    with both(tmp_path, where=where) as (here, there):
        assert 0 < len(here) == len(there) < 200
        assert cells(here, ["job"], "ill") == cells(there, ["job"], "ill")


def test_the_audit_is_the_same(tmp_path: Path) -> None:
    with both(tmp_path) as (here, there):
        found = [pv.audit(table, PROMISE).to_dict() for table in (here, there)]
        assert found[0] == found[1]
        beliefs = [pv.belief(t, pv.Linker(), {"ill": "hiv"}) for t in (here, there)]
        assert beliefs[0] == beliefs[1]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_the_release_is_the_same(method: Any, form: str, tmp_path: Path) -> None:
    """The same rows are written, in an order of their own; both verify."""
    written = []
    with both(tmp_path, drop=["n", "who"]) as tables:
        for table in tables:
            out = tmp_path / table.engine.name
            release = pv.publish(table, PROMISE, method=method)
            release.write(out, custody=tmp_path / f"{out.name} custody", format=form)
            assert pv.verify(out).good
            written.append(read_rows(out / f"table.{form}"))
    assert 0 < len(written[0])
    assert written[0] == written[1]


def read_rows(path: Path) -> Counter[tuple[str, ...]]:
    read = pq.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
    rows = read(path).to_pylist()
    return Counter(tuple(map(str, row.values())) for row in rows)


def test_disguised_rows_arrive(tmp_path: Path) -> None:
    """Nothing is changed by a draw that gives the truth but once in a billion."""
    question = pv.Question("ill", ["flu", "hiv", "none"])
    design = pv.Design([question], [pv.Group("ill", pv.KAry("0.999999999"))])
    drop = ["n", "who", *ROLES["quasi"]]
    with both(tmp_path, quasi=[], drop=drop) as (here, there):
        expected = cells(here, [], "ill")
        out = tmp_path / "out"
        kept = pv.Promise(pv.Bayesian(), pv.Ratio(2 * 10**9), "ill")  # nearly nothing
        policy = pv.Policy(promises=(kept,))
        pv.disguise(there, design, out, custody=tmp_path / "custody", policy=policy)
    (file,) = out.glob("*.parquet")
    assert expected == read_rows(file)


def test_errors_tell_what_exists_and_no_cell(tmp_path: Path) -> None:
    with both(tmp_path) as (_, there):
        with pytest.raises(pv.InputError, match="Did you mean 'people'"):
            pv.read(f"sqlite://{tmp_path}/people.sqlite3", table="peopel")
        there.close()
        with pytest.raises(pv.InputError, match="was closed"):
            cells(there, ["job"], "ill")
    with pytest.raises(pv.InputError, match="starts with mysql"):
        pv.read("mysql://host/database", table="people")


def test_a_later_delivery_that_stays_there_is_left_open(tmp_path: Path) -> None:
    """The sentence says why, and what to do."""
    pv.Ledger.create(tmp_path / "ledger")
    roles = pv.Roles(quasi=["job", "age", "since"], sensitive="ill", drop=["n", "who"])
    promise = pv.Promise(pv.Linker(), pv.Ceiling("0.99"), {"ill": "hiv"})
    policy = pv.Policy(promises=promise, roles=roles, ledger=str(tmp_path / "ledger"))
    places = [tmp_path / "may", tmp_path / "june"]
    for place in places:
        place.mkdir()
    with both(places[0], where={"age": [30, 40]}) as (here, _):
        release = pv.publish(here, policy)
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    with both(places[1]) as (_, there):
        found = pv.audit(there, policy)
    assert found.history is not None
    (finding,) = found.history.findings
    assert pv.Verdict.UNDECIDED is finding.verdict
    assert "The rows stay elsewhere" in finding.note
    assert "Export it as Parquet first." in finding.note
