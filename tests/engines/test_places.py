"""Rows that stay elsewhere: in parts, in one snapshot, stopped, and not allowed."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.servers import PASSWORD, connection, postgres, postgres_table
from engines.tables import PLACES, People, cells, opened
from privet.engine.counting import counter
from privet.engine.counting.strategy import Limits
from privet.engine.protocol import Run
from privet.engine.remote import transfer

ROWS = [(f"job {i % 9}", i % 7, "flu" if i % 4 else "hiv") for i in range(120)]
KINDS = ("text", "integer", "text")


@pytest.mark.parametrize("kind", PLACES)
def test_what_does_not_fit_comes_in_parts(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = People(KINDS, ROWS)
    *by, about = people.names
    with opened(people, "arrow", tmp_path) as here:
        expected = cells(here, by, about)
        alone = cells(here, [], about)
    monkeypatch.setattr(counter, "LIMITS", Limits(cells_at_once=30))
    monkeypatch.setattr(transfer, "VALUES_AT_ONCE", 8)
    said: list[str] = []
    with opened(people, kind, tmp_path) as there:
        there.engine.rows(Run())
        there.domains(people.names, Run(lambda event: said.append(event.doing)))
        assert expected == cells(there, by, about)
        assert alone == cells(there, [], about)
    assert "reading values, part 2 of 8" in said


@pytest.mark.parametrize("kind", PLACES)
def test_a_closed_table_says_so(kind: str, tmp_path: Path) -> None:
    people = People(KINDS, ROWS)
    with opened(people, kind, tmp_path) as table:
        table.close()
        with pytest.raises(pv.InputError, match="was closed"):
            cells(table, [], people.names[0])


@pytest.mark.parametrize("kind", PLACES)
def test_columns_are_described(kind: str, tmp_path: Path) -> None:
    people = People((*KINDS, "decimal"), [(*row, None) for row in ROWS])
    with opened(people, "arrow", tmp_path) as here:
        with opened(people, kind, tmp_path) as there:
            assert here.engine.describe(Run()) == there.engine.describe(Run())


# PostgreSQL -------------------------------------------------------------------------


@pytest.mark.postgres
def test_everything_is_seen_in_one_snapshot() -> None:
    people = People(KINDS, ROWS).arrow().rename_columns(["a", "b", "s"])
    with postgres_table(people, ["text", "bigint", "text"]) as name:
        with pv.read(postgres(), table=name, quasi="a", sensitive="s") as table:
            before = cells(table, ["a"], "s")
            with connection() as cursor:
                cursor.execute(f"INSERT INTO {name} VALUES ('new', 1, 'hiv')")
            assert before == cells(table, ["a"], "s")
            assert 120 == len(table)
        with pv.read(postgres(), table=name) as again:
            assert 121 == len(again)


@pytest.mark.postgres
def test_a_time_limit_stops_the_server_and_the_table_stays_usable() -> None:
    people = People(KINDS, ROWS).arrow().rename_columns(["a", "b", "s"])
    with postgres_table(people, ["text", "bigint", "text"]) as name:
        with connection() as cursor:
            cursor.execute(
                f"CREATE VIEW {name}_slow AS SELECT a, s, "
                f"CASE WHEN pg_sleep(0.1) IS NULL THEN b ELSE b END AS b FROM {name}"
            )
        with pv.read(postgres(), table=f"{name}_slow") as table:
            begin = time.monotonic()
            with pytest.raises(pv.Stopped):
                table.domains(["b"], Run.start(max_seconds=0.5))
            assert time.monotonic() - begin < 8
            assert 2 == len(table.domains(["s"])["s"])


@pytest.mark.postgres
def test_who_may_not_read_is_told_so() -> None:
    people = People(KINDS, ROWS).arrow().rename_columns(["a", "b", "s"])
    with postgres_table(people, ["text", "bigint", "text"]) as name:
        with connection() as cursor:
            cursor.execute("DROP ROLE IF EXISTS guest")
            cursor.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        uri = postgres().replace("steward", "guest")
        with pytest.raises(pv.InputError, match="SELECT and TEMPORARY"):
            pv.read(uri, table=name)
        with connection() as cursor:
            cursor.execute("DROP ROLE guest")


@pytest.mark.postgres
def test_numbers_of_any_length_and_other_types(tmp_path: Path) -> None:
    with connection() as cursor:
        cursor.execute("DROP TABLE IF EXISTS odd CASCADE")
        cursor.execute("DROP TYPE IF EXISTS mood; ")
        cursor.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
        cursor.execute("DROP DOMAIN IF EXISTS age")
        cursor.execute("CREATE DOMAIN age AS int CHECK (VALUE > 0)")
        cursor.execute(
            "CREATE TABLE odd (n numeric, f numeric(6, 2), m mood, a age, j jsonb, "
            "u uuid, t timestamptz, c char(4), l int[], s text)"
        )
        cursor.execute(
            "INSERT INTO odd VALUES "
            "(1.50, 1.5, 'sad', 3, '{\"x\": 1}', gen_random_uuid(), "
            "'2024-05-01 12:00+02', 'ab', '{1,2}', 'x'), "
            "(1.5, 'NaN', 'happy', 3, NULL, NULL, '2024-05-01 10:00+00', 'ab  ', "
            "'{1,2}', 'y'), "
            "(1e40, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x'), "
            "(1e40, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'y')"
        )
    roles = {"quasi": ["n", "a"], "sensitive": "s", "other": list("fmjutcl")}
    with pv.read(postgres(), table="odd", **roles) as table:
        found = {n: list(d.labels) for n, d in table.domains(list("nfmatcls")).items()}
        assert ["1.5", "1" + "0" * 40] == found["n"]
        assert [None, "happy", "sad"] == found["m"]
        assert [None, "3"] == found["a"]
        assert [None, "2024-05-01 10:00:00+00"] == found["t"]
        assert [None, "ab"] == found["c"]
        assert [None, "{1,2}"] == found["l"]
        assert {"1.50", "2.00", "nan"} == set(found["f"])
        kinds = {c.name: c.kind for c in table.schema.columns}
        assert ("number", "integer", "datetime") == tuple(kinds[c] for c in "nat")
        promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/2"), "s")
        # Whatever limits everything would show intervals, not the types there are.
        accept = {"s": "every column is to be written as it was"}
        pv.publish(table, promise).write(
            tmp_path / "out", custody=tmp_path / "v", accept=accept
        )
    shown = pq.read_table(tmp_path / "out" / "table.parquet")
    assert pa.float64() == shown.schema.field("f").type
    with pv.read(postgres(), table="odd", where={"n": 1.5}) as table:
        assert 2 == len(table)
    with pytest.raises(pv.InputError, match="Did you mean 'odd'"):
        pv.read(postgres(), table="od")
