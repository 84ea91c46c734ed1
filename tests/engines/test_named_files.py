"""Foreign files are kept in their place: what was not named cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import privet as pv
from privet.engine.protocol import WriteQuery
from privet.engine.run import Run
from privet.engine.sources.source import Source
from privet.table import open_table
from privet.values.schema import Roles

pytestmark = pytest.mark.engines

SECRET = "SECRET-91c2"

VIEWS = {
    "text": "SELECT content AS a, 'x' AS b FROM read_text('{secret}')",
    "blob": "SELECT CAST(content AS VARCHAR) AS a, 'x' AS b FROM read_blob('{secret}')",
    "csv": "SELECT a, 'x' AS b FROM read_csv('{secret}', header = false, "
    "columns = {{'a': 'VARCHAR'}}, auto_detect = false)",
    "plain": "SELECT a, 'x' AS b FROM '{secret}'",
    "json": "SELECT CAST(json AS VARCHAR) AS a, 'x' AS b "
    "FROM read_json_objects('{json}')",
    "parquet": "SELECT a, 'x' AS b FROM read_parquet('{parquet}')",
    "listed": "SELECT file AS a, 'x' AS b FROM glob('{folder}/*')",
    "pattern": "SELECT content AS a, 'x' AS b FROM read_text('{folder}/sec*.csv')",
    "sniffed": "SELECT CAST(columns AS VARCHAR) AS a, 'x' AS b "
    "FROM sniff_csv('{secret}')",
    "metadata": "SELECT file_name AS a, 'x' AS b FROM parquet_metadata('{parquet}')",
    "device": "SELECT content AS a, 'x' AS b FROM read_text('/proc/self/environ')",
    "inside": "SELECT (SELECT max(content) FROM read_text('{secret}')) AS a, b FROM t",
    "asked": "SELECT a, 'x' AS b FROM "
    "query('SELECT content AS a FROM read_text(''{secret}'')')",
}
"""What a view inside a database file may try."""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.csv").write_text(f"a\n{SECRET}\n")
    (private / "secret.json").write_text(f'{{"a": "{SECRET}"}}\n')
    parquet = private / "secret.parquet"
    duckdb.sql(f"SELECT '{SECRET}' AS a").write_parquet(str(parquet))
    return {
        "folder": str(private),
        "secret": str(private / "secret.csv"),
        "json": str(private / "secret.json"),
        "parquet": str(parquet),
    }


@pytest.fixture
def foreign(tmp_path: Path, places: dict[str, str]) -> Path:
    """A database from elsewhere, with a table and views that look around."""
    path = tmp_path / "foreign.duckdb"
    con = duckdb.connect(str(path))
    con.execute("CREATE TABLE t AS SELECT 'p' AS a, 'q' AS b")
    con.execute("CREATE VIEW own AS SELECT a, b FROM t")
    for name, select in VIEWS.items():
        con.execute(f"CREATE VIEW {name} AS {select.format(**places)}")
    con.close()
    return path


def say(error: BaseException) -> str:
    return f"{error}{error.__cause__}{error.__context__}"


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_foreign_database_reads_nothing_else(
    foreign: Path, view: str
) -> None:
    with pytest.raises((pv.InputError, pv.EngineError)) as raised:  # noqa: PT012
        with pv.read(foreign, table=view, quasi="a", sensitive="b") as table:
            found = table.domains(["a"])
            pytest.fail(f"It read {len(found)} columns.")
    assert SECRET not in say(raised.value)
    assert "own database" in str(raised.value) or "could not read" in str(raised.value)


def test_its_own_tables_and_views_are_read(foreign: Path) -> None:
    for name in ("t", "own"):
        with pv.read(foreign, table=name, quasi="a", sensitive="b") as table:
            assert [1, ["p"]] == [len(table), list(table.domains(["a"])["a"].labels)]


def test_a_database_that_was_not_closed_is_read(tmp_path: Path) -> None:
    """DuckDB keeps rows in a second file until they are merged."""
    path = tmp_path / "open.duckdb"
    con = duckdb.connect(str(path))
    con.execute("PRAGMA disable_checkpoint_on_shutdown")
    con.execute("CREATE TABLE t AS SELECT range AS a, 'q' AS b FROM range(7)")
    con.close()
    assert (tmp_path / "open.duckdb.wal").exists()
    with pv.read(path, table="t", quasi="a", sensitive="b") as table:
        assert 7 == len(table)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Any]:
    """The session of a table from a file with an ordinary name."""
    (tmp_path / "people.csv").write_text("a,b\n1,x\n2,y\n")
    with pv.read(tmp_path / "people.csv", quasi="a", sensitive="b") as table:
        yield table.engine.session  # type: ignore[attr-defined]


ATTEMPTS = (
    "SELECT * FROM read_text('{secret}')",
    "ATTACH '{folder}/other.duckdb' AS other",
    "ATTACH 'https://localhost/x.duckdb' AS other",
    "COPY (SELECT 1 AS a) TO '{folder}/copied.csv'",
    "COPY (SELECT 1 AS a) TO '{folder}/copied.parquet'",
    "EXPORT DATABASE '{folder}/all'",
    "CREATE TEMP TABLE x AS FROM read_csv('{secret}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_csv('https://localhost/x.csv')",
    "LOAD httpfs",
    "INSTALL httpfs",
    "LOAD '{folder}/evil.duckdb_extension'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET allowed_paths = ['{secret}']",
    "SET allowed_directories = ['/']",
    "SET temp_file_encryption = false",
    "SET temp_directory = '{folder}'",
    "RESET enable_external_access",
    "SET autoload_known_extensions = true",
    "SET memory_limit = '1TB'",
)


@pytest.mark.parametrize("statement", ATTEMPTS)
def test_no_statement_reaches_beyond(
    session: Any, places: dict[str, str], statement: str
) -> None:
    before = sorted(Path(places["folder"]).iterdir())
    with pytest.raises(duckdb.Error):
        session.con.execute(statement.format(**places))
    assert before == sorted(Path(places["folder"]).iterdir())


def test_links_in_the_folder_for_outputs_lead_nowhere(
    session: Any, places: dict[str, str]
) -> None:
    with session.write_file(f"{places['folder']}/new.csv") as path:
        Path(path).symlink_to(places["secret"])
        with pytest.raises(duckdb.Error):
            session.con.execute(f"SELECT * FROM read_text('{path}')")
        Path(path).unlink()
        Path(path).write_text("a\n")
    assert "a\n" == (Path(places["folder"]) / "new.csv").read_text()


@pytest.mark.parametrize(
    "name", ["a[b]c.csv", "x*.csv", "w?.csv", "it's.csv", "é .csv"]
)
def test_names_that_look_like_patterns_are_read_and_stand_for_themselves(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xyz.csv").write_text("a,b\n5,z\n5,z\n")
    (tmp_path / name).write_text("a,b\n1,x\n")
    with pv.read(tmp_path / name, quasi="a", sensitive="b") as table:
        assert 1 == len(table)
    monkeypatch.chdir(tmp_path)
    with pv.read([name], quasi="a", sensitive="b") as table:
        monkeypatch.chdir("/")  # rows are read when they are counted
        assert 1 == len(table)


def test_linked_files_and_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text("a,b\n1,x\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "data" / "people.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "data")
    for path in (tmp_path / "link.csv", tmp_path / "folder" / "people.csv"):
        with pv.read(path, quasi="a", sensitive="b") as table:
            assert 1 == len(table)


def test_a_recipients_file_is_opened_the_same_way(
    tmp_path: Path, places: dict[str, str]
) -> None:
    """A release's file: verified in a session that reads this one file."""
    (tmp_path / "people.csv").write_text("a,b\n1,x\n1,y\n")
    policy = [pv.Promise(against=pv.Linker(["a"]), about="b", limit=pv.Ceiling("1/2"))]
    with pv.read(tmp_path / "people.csv", quasi="a", sensitive="b") as table:
        release = pv.publish(table, policy)
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    with pv.load(tmp_path / "out").table as loaded:
        con = loaded.engine.session.con
        for path in (places["secret"], tmp_path / "people.csv", "/etc/passwd"):
            with pytest.raises(duckdb.Error):
                con.execute(f"SELECT * FROM read_text('{path}')")
        assert 2 == len(loaded)


def test_files_are_moved_whole_to_where_they_belong(tmp_path: Path) -> None:
    """Also to another disk; and nothing stays behind where that fails."""
    (tmp_path / "people.csv").write_text("a,b\n1,x\n2,y\n")
    spill = tmp_path / "spill"
    spill.mkdir()
    people = tmp_path / "people.csv"
    with pv.read(people, quasi="a", sensitive="b", spill=spill) as table:
        writing = WriteQuery(str(tmp_path / "out.csv"), "csv", ("a", "b"))
        assert 2 == table.engine.write(writing, {}, Run())
        gone = WriteQuery(str(tmp_path / "none" / "out.csv"), "csv", ("a", "b"))
        with pytest.raises(pv.PrivetError):
            table.engine.write(gone, {}, Run())
        assert [] == list(spill.rglob("*.csv"))
    assert ["1,x", "2,y", "a,b"] == sorted((tmp_path / "out.csv").read_text().split())


def test_frames_are_read_without_any_file(places: dict[str, str]) -> None:
    import pandas as pd

    frame = Source(("a", "b"), frame=pd.DataFrame({"c0": [1, 2], "c1": ["x", "y"]}))
    with open_table(frame, Roles(quasi=("a",), sensitive=("b",))) as table:
        assert 2 == len(table)
        with pytest.raises(duckdb.Error):
            table.engine.session.con.execute(  # type: ignore[attr-defined]
                f"SELECT * FROM read_text('{places['secret']}')"
            )
