"""Counts that do not fit, progress, time limits, Ctrl-C, and what is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot

import privet as pv
from privet.engine import sql
from privet.engine.counting import counter
from privet.engine.counting.grouping_sets import GroupingSets
from privet.engine.counting.strategy import Limits
from privet.engine.duckdb.engine import DuckDB
from privet.engine.protocol import CountQuery, Engine, Progress, Run
from privet.engine.remote import postgres, spark

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose groups are nearly as many as its rows."""
    rng = np.random.default_rng(1)
    n = 400_000
    table = pa.table(
        {
            "a": rng.integers(0, 3000, n),
            "b": rng.integers(0, 3000, n),
            "s": rng.integers(0, 40, n),
            "who": rng.integers(0, n // 2, n),
            "w": rng.integers(0, 5, n),
        }
    )
    path = tmp_path_factory.mktemp("large") / "t.parquet"
    pq.write_table(table, path)
    return path


def counted(table: pv.Table) -> tuple[int, dict[Any, Any]]:
    parts = [g for _, g in table.count([CountQuery(("a", "b"), "s")])]
    found: dict[Any, Any] = {}
    for g in parts:
        keys = list(zip(*(c.tolist() for c in g.keys.columns()), strict=True))
        assert not found.keys() & set(keys)  # no group in two parts
        found |= {
            k: (int(g.total[i]), int(g.n[g.start[i] : g.start[i + 1]].sum()))
            for i, k in enumerate(keys)
        }
    return len(parts), found


ROLES = [{}, {"unit": "who"}, {"weight": "w"}]


@pytest.mark.parametrize("roles", ROLES, ids=["rows", "people", "weights"])
def test_too_many_cells_are_counted_in_parts(
    roles: dict[str, str], large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pv.read(large, **roles) as table:
        one, whole = counted(table)
    few = Limits(cells_at_once=30_000, keys_at_once=0)
    monkeypatch.setattr(counter, "LIMITS", few)
    with pv.read(large, **roles) as table:
        parts, cut = counted(table)
    assert one == 1 < parts
    assert whole == cut


def test_queries_go_one_by_one_where_a_sample_says_that_one_has_too_many_cells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    columns = {c: rng.integers(0, 300, 20_000) for c in "ab"}
    rows = pa.table({**columns, "s": rng.integers(0, 9, 20_000)})
    queries = [
        CountQuery(("a", "b"), "s"),
        CountQuery((), "s"),
        CountQuery(("a",), "s"),
    ]

    def count_all() -> dict[Any, list[tuple[int, ...]]]:
        found: dict[Any, list[tuple[int, ...]]] = {q: [] for q in queries}
        with pv.read(rows) as table:
            for query, g in table.count(queries):
                keys = zip(*(c.tolist() for c in g.keys.columns()), strict=True)
                names = list(keys) if query.by else [()] * len(g.total)
                for i, key in enumerate(names):
                    values = slice(g.start[i], g.start[i + 1])
                    held = (*g.value[values].tolist(), *g.n[values].tolist())
                    found[query].append((*key, *held))
        return {q: sorted(lines) for q, lines in found.items()}

    whole = count_all()
    few = Limits(cells_at_once=8_000, keys_at_once=0, sampled_rows=2_000)
    monkeypatch.setattr(counter, "LIMITS", few)

    def refuse(*_: object) -> None:
        raise AssertionError("one statement was tried for all")

    monkeypatch.setattr(GroupingSets, "count", refuse)
    assert whole == count_all()


def test_where_spilling_gives_up_the_count_is_done_in_parts(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pv.read(large) as table:
        _, whole = counted(table)
    monkeypatch.setattr(counter, "LIMITS", Limits(keys_at_once=0))
    options = {"memory_limit": "22MB", "spill_limit": "0KB", "threads": 1}
    with pv.read(large, **options) as table:
        parts, cut = counted(table)
    assert parts > 1
    assert whole == cut


def test_where_nothing_helps_the_memory_limit_is_named(large: Path) -> None:
    options = {"memory_limit": "10MB", "spill_limit": "0KB", "threads": 1}
    with pytest.raises(pv.PrivetError, match="memory"):
        with pv.read(large, **options) as table:
            counted(table)


@pytest.mark.parametrize("limit", ["1KB", "300KB", "1MB", "3MB"])
def test_a_tiny_limit_is_named_or_suffices(limit: str) -> None:
    """Whatever step it is that does not fit; a small table may."""
    rows = pa.table({"g": ["p", "q"] * 50, "h": [1, 2, 3, 4] * 25, "s": ["x"] * 100})
    stated = [pv.Measure(k_anonymity=2)]
    try:
        table = pv.read(rows, quasi=["g", "h"], sensitive="s", memory_limit=limit)
        with table:
            release = pv.publish(table, stated, method=pv.Mondrian())
            assert "safe" == release.audit.findings[0].verdict
    except pv.EngineError as error:
        assert "memory limit is too low" in str(error)  # noqa: PT017 - it may suffice


def test_many_values_that_do_not_pack_into_64_bits() -> None:
    n, names = 60, [f"c{i}" for i in range(14)]
    rng = np.random.default_rng(3)
    columns = {c: rng.integers(0, 50, n) for c in names}
    columns["s"] = rng.integers(0, 2, n)
    with pv.read(pa.table(columns)) as table:
        found = pv.belief(table, pv.Linker(names), "s")
        ((_, g),) = table.count([CountQuery(tuple(names), "s")])
    assert (1, n) == (found.posterior, int(g.total.sum()))


def test_progress_is_told(large: Path) -> None:
    events: list[Progress] = []
    with pv.read(large, sensitive="s", quasi=["a", "b"]) as table:
        pv.audit(
            table, pv.Promise(pv.Linker(), pv.Ceiling("1/2")), progress=events.append
        )
    assert {"reading values", "counting"} <= {e.doing for e in events}
    assert all(1 <= e.statement <= e.of for e in events)


def test_a_callback_that_raises_stops_the_work(large: Path) -> None:
    class Enough(Exception):
        pass

    def stop(event: Progress) -> None:
        raise Enough

    with pv.read(large, sensitive="s", quasi=["a", "b"]) as table:
        with pytest.raises(Enough):
            pv.belief(table, pv.Linker(), progress=stop)
        assert pv.belief(table, pv.Linker(["a"])).posterior > 0  # still usable


def test_time_runs_out(large: Path) -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"))
    with pv.read(large, sensitive="s", quasi=["a", "b"]) as table:
        found = pv.audit(table, promise, max_seconds=1e-9)
        assert pv.Verdict.UNDECIDED is found.verdict
        with pytest.raises(pv.InputError):
            pv.audit(table, promise, max_seconds=float("nan"))


SLOW = """
import sys, duckdb, privet as pv
rows = duckdb.connect().sql(
    "SELECT hash(range) % 10000000 AS a, range % 7 AS s FROM range(400000000)"
)
print("ready", flush=True)
with pv.read(rows, quasi="a", sensitive="s", spill=sys.argv[1]) as table:
    pv.belief(table, pv.Linker())
"""


def test_ctrl_c_stops_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "ready" == process.stdout.readline().strip()
    time.sleep(1.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - begin < 20
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert [] == list(tmp_path.iterdir())


class Watched:
    """A connection that notes what is called where."""

    def __init__(self, con: Any) -> None:
        self.con, self.busy = con, 0
        self.called: list[tuple[str, bool]] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.con, name)

        def call(*given: Any, **named: Any) -> Any:
            main = threading.current_thread() is threading.main_thread()
            self.called.append((name, main))
            if name == "close" and self.busy:
                self.busy -= 1
                raise duckdb.InvalidInputException("busy")
            return found(*given, **named)

        return call


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[Watched]:
    made: list[Watched] = []
    connect = duckdb.connect

    def note(*given: Any) -> Watched:
        made.append(Watched(connect(*given)))
        return made[-1]

    monkeypatch.setattr(duckdb, "connect", note)
    return made


def test_the_main_thread_leaves_statements_to_the_worker(
    watched: list[Watched], tmp_path: Path
) -> None:
    """There DuckDB would hear Ctrl-C itself, and call it an error of its own."""
    frame = pa.table({"a": ["1", "2", "2"], "s": ["x", "y", "y"]})
    path = tmp_path / "t.csv"
    path.write_text("a,s\n1,x\n2,y\n2,y\n", encoding="utf-8")
    for source in (frame, path):
        with pv.read(source, quasi="a", sensitive="s") as table:
            pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling("1")))
    quick = {"interrupt", "query_progress", "close"}
    called = [call for w in watched for call in w.called]
    assert {"execute", "sql", "register"} <= {name for name, _ in called}
    assert set() == {name for name, main in called if main} - quick


def test_a_busy_connection_is_stopped_and_closed(watched: list[Watched]) -> None:
    frame = pa.table({"a": ["1"], "s": ["x"]})
    with pv.read(frame, quasi="a", sensitive="s") as table:
        len(table)
        watched[0].busy = 2
    names = [name for name, _ in watched[0].called]
    assert ["close", "interrupt", "close", "interrupt", "close"] == names[-5:]


def test_the_spill_folder_is_removed(large: Path, tmp_path: Path) -> None:
    with pv.read(large, sensitive="s", spill=tmp_path) as table:
        assert 1 == len(list(tmp_path.iterdir()))
        pv.belief(table, pv.Linker(["a"]))
    assert [] == list(tmp_path.iterdir())
    with pytest.raises(pv.InputError, match="folder"):
        pv.read(large, spill=tmp_path / "none")


def test_a_file_that_changes_between_two_looks_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,s\n" + "x,u\n" * 10, encoding="utf-8")
    with pv.read(path, quasi="a", sensitive="s") as table:
        table.domains(["a", "s"])
        path.write_text("a,s\n" + "x,u\n" * 12, encoding="utf-8")
        with pytest.raises(pv.EngineError, match="changed"):
            pv.belief(table, pv.Linker())


def test_duckdb_is_an_engine() -> None:
    wanted = [
        n
        for n in vars(Engine)
        if not n.startswith("_") and n not in ("name", "version")
    ]
    assert [] == [n for n in wanted if not callable(getattr(DuckDB, n, None))]
    assert 0 < Run.start(max_seconds=5).deadline


def test_statements_parse() -> None:
    rows = sql.coded({0: "d_0", 2: "d_1"}, "people", "s.c1 AS u", sql.DUCKDB)
    sizes, amounts = {0: 3, 2: 4}, {"n": "count(*)"}
    statements = [
        sql.select_values([0, 2], "people"),
        sql.count_sets([(0, 2), (2,)], sizes, rows, amounts, sql.DUCKDB),
        sql.count_set((0, 2), "", rows, amounts, "", sql.DUCKDB),
    ]
    for statement in statements:
        assert sqlglot.parse_one(statement, read="duckdb") is not None


@pytest.mark.parametrize(
    ("dialect", "name"), [(spark.DIALECT, "spark"), (postgres.DIALECT, "postgres")]
)
def test_statements_parse_elsewhere(dialect: sql.Dialect, name: str) -> None:
    rows = sql.coded({0: "d_0", 2: "d_1"}, "people", "s.c1 AS u", dialect)
    people = sql.amounts(unit=True, weight=False, dialect=dialect)
    part = sql.Part(3, 8).only(sql.hashed(["k0"], dialect))
    statements = [
        sql.select_values_in_part(2, sql.Part(3, 8), dialect),
        sql.count_set((0, 2), "", rows, people, part, dialect),
        sql.describe("c0", "people", [], precise=False, dialect=dialect),
    ]
    for statement in statements:
        assert sqlglot.parse_one(statement, read=name) is not None
