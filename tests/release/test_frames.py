"""Frames go in with a policy's roles, and come out as a written release would be."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.demo.tables import clinic_path

CANARY = "Wilhelmina Canary"

ROWS = {
    "name": [CANARY, *(f"person {i}" for i in range(11))],
    "zip": ["01234"] * 12,
    "age": [5, 7, 10, 12] * 3,
    "ill": ["flu", "flu", "hiv", "none"] * 3,
    "score": [*[0.1 + 0.2] * 4, *[None] * 4, *[1 / 3] * 4],
    "visits": [*[2**60 + 1] * 4, *[None] * 4, *[4] * 4],
}

POLICY = pv.Policy(
    promises=[pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "flu"})],
    roles=pv.Roles(
        identifier=["name"],
        quasi=["zip", "age"],
        sensitive=["ill"],
        other=["score", "visits"],
    ),
)

FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": lambda rows: pa.table(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "objects": lambda rows: pd.DataFrame(rows).astype(object),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "batch": lambda rows: pa.table(rows).to_batches()[0],
    "duckdb": lambda rows: duckdb.from_arrow(pa.table(rows)),
}

pytestmark = pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))


def written(release: Any, place: Path, name: str = "table") -> pa.Table:
    release.write(place / "out", custody=place / "vault")
    return pq.read_table(place / "out" / f"{name}.parquet")


# In ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_judged_and_published_as_its_table_is(
    kind: str, tmp_path: Path
) -> None:
    frame = FRAMES[kind](ROWS)
    read = pv.audit(pv.read(FRAMES[kind](ROWS)), POLICY)
    found = pv.audit(frame, POLICY)
    assert read.to_dict() == found.to_dict()
    release = pv.publish(frame, POLICY)
    assert release.safe
    assert "name" not in written(release, tmp_path).column_names
    assert pv.verify(tmp_path / "out").good


def test_a_frame_needs_a_policy_with_roles() -> None:
    frame = pd.DataFrame(ROWS)
    for stated in (POLICY.promises[0], pv.Policy(POLICY.promises)):
        with pytest.raises(pv.InputError, match="must be read first; got DataFrame"):
            pv.audit(frame, stated)
        with pytest.raises(pv.InputError, match="give a policy that says so"):
            pv.publish(frame, stated)
    with pytest.raises(pv.InputError, match="must be read first; got str"):
        pv.audit("people.csv", POLICY)  # type: ignore[arg-type]
    with pytest.raises(pv.InputError, match="must be read first"):
        pv.belief(frame, pv.Linker())


def test_texts_of_pandas_are_looked_at_as_those_of_files_are(tmp_path: Path) -> None:
    texts = {
        "age": ["5", "7", "10", "12"],
        "zip": ["01", "02", "03", "04"],
        "day": ["2020-01-31", "1999-12-01", None, "2001-01-01"],
        "share": ["0.5", "1.50", "2", None],
        "word": ["a", "1", "2", "3"],
    }
    path = tmp_path / "people.csv"
    pd.DataFrame(texts).to_csv(path, index=False)
    with pv.read(str(path)) as file:
        expected = [(c.name, c.kind) for c in file.engine.describe(pv_run())]
    for frame in (pd.DataFrame(texts), pd.DataFrame(texts, dtype=object)):
        with pv.read(frame) as table:
            kinds = [(c.name, c.kind) for c in table.engine.describe(pv_run())]
            assert expected == kinds
            assert ["5", "7", "10", "12"] == list(table.domains(["age"])["age"].labels)


def pv_run() -> Any:
    from privet.engine.protocol import Run

    return Run()


def test_views_and_a_disguise_take_frames(tmp_path: Path) -> None:
    clinic = pd.read_csv(clinic_path())
    views = pv.Views(clinic, ["name", "age"], ["age", "job", "problem"])
    promise = pv.Promise(
        pv.Reconstructor("restricted"),
        pv.Ceiling("1/2"),
        {"name": "George", "problem": "HIV"},
    )
    policy = pv.Policy(
        [promise],
        roles=pv.Roles(
            identifier=["name"], sensitive=["problem"], other=["age", "job", "number"]
        ),
    )
    release = pv.publish(views, policy)
    assert release.safe
    design = pv.Design(
        [pv.Question("smokes", ["0", "1"])], [pv.Group("smokes", pv.KAry("3/4"))]
    )
    told = pv.Policy([pv.Promise(pv.Bayesian(), pv.Ratio("9"), about="smokes")])
    found = pv.disguise(
        pl.DataFrame({"smokes": [0, 1, 1, 0]}),
        design,
        tmp_path / "out",
        custody=tmp_path / "vault",
        policy=told,
    )
    file = pq.read_table(tmp_path / "out" / "table.parquet")
    assert rows_of(file) == rows_of(found.to_arrow())
    assert rows_of(file) == rows_of(pa.table(found))
    assert [("smokes", pa.int64())] == [
        (f.name, f.type) for f in found.to_arrow().schema
    ]
    found.close()


# Out --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [None, pv.Mondrian()])
def test_frames_hold_what_the_file_holds(method: Any, tmp_path: Path) -> None:
    release = pv.publish(pa.table(ROWS), POLICY, method=method)
    file = written(release, tmp_path)
    found = release.to_arrow()
    assert file.schema.remove_metadata() == found.schema.remove_metadata()
    assert rows_of(file) == rows_of(found)
    pandas = release.to_pandas()
    assert file.column_names == list(pandas.columns)
    assert Counter(file["visits"].to_pylist()) == Counter(
        None if pd.isna(v) else v for v in pandas["visits"]
    )
    assert rows_of(file) == rows_of(release.to_polars().to_arrow())
    assert rows_of(file) == rows_of(pa.table(release))
    assert rows_of(file) == rows_of(pl.DataFrame(release).to_arrow())
    counted = duckdb.sql("SELECT count(*), count(visits) FROM release").fetchall()
    assert [(12, 12 - file["visits"].null_count)] == counted
    loaded = pv.load(tmp_path / "out")
    assert rows_of(file) == rows_of(loaded.to_arrow())
    assert rows_of(file) == rows_of(pa.table(loaded))
    loaded.table.close()


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_frames_of_a_loaded_release_have_types(form: str, tmp_path: Path) -> None:
    release = pv.publish(pa.table(ROWS), POLICY)
    release.write(tmp_path / "out", custody=tmp_path / "vault", format=form)
    loaded = pv.load(tmp_path / "out")
    found = loaded.to_arrow()
    if form == "csv":  # texts of more than 15 digits stay texts
        at = found.column_names.index("score")
        found = found.set_column(at, "score", found["score"].cast(pa.float64()))
    assert rows_of(release.to_arrow()) == rows_of(found)
    loaded.table.close()


def test_several_tables_are_asked_for_by_name(tmp_path: Path) -> None:
    release = pv.publish(pa.table(ROWS), POLICY, method=pv.Mondrian(form="buckets"))
    with pytest.raises(pv.InputError, match="'people', 'values'"):
        release.to_arrow()
    with pytest.raises(pv.InputError, match="got 'persons'"):
        release.to_polars("persons")
    with pytest.raises(pv.InputError, match="file must name one"):
        pa.table(release)
    for name in ("people", "values"):
        assert "name" not in release.to_arrow(name).column_names
    file = written(release, tmp_path, "people")
    assert rows_of(file) == rows_of(release.to_arrow("people"))


def test_what_may_not_be_written_is_not_handed_out() -> None:
    promise = pv.Promise(pv.Linker(knows=["zip"]), pv.Ceiling("3/4"), {"ill": "flu"})
    policy = pv.Policy([promise], roles=POLICY.roles)
    release = pv.publish(pa.table(ROWS), policy)
    with pytest.raises(pv.NotCovered):
        release.to_arrow()
    with pytest.raises(pv.NotCovered):
        pa.table(release)
    accepted = release.accept({"ill": "nobody knows ages"})
    assert 12 == accepted.to_arrow().num_rows


def test_rows_that_no_ledger_knows_are_warned_of(tmp_path: Path) -> None:
    import attrs

    policy = attrs.evolve(POLICY, ledger=str(tmp_path / "ledger"))
    pv.Ledger.create(tmp_path / "ledger")
    release = pv.publish(pa.table(ROWS), policy)
    with pytest.warns(pv.PrivacyWarning, match="not entered in the ledger"):
        release.to_arrow()
    kept = release.write(tmp_path / "out", custody=tmp_path / "vault")
    with warnings.catch_warnings(action="error"):
        kept.to_arrow()


# The table of a release -------------------------------------------------------------


def list_reachable(value: Any, depth: int = 3) -> list[Any]:
    """What a person may reach in a notebook by attributes without an underscore."""
    found, left = [value], [(value, depth)]
    while left:
        one, more = left.pop()
        if not more or isinstance(one, str | bytes | int | float | type(None)):
            continue
        for name in dir(one):
            if name.startswith("_") or callable(getattr(type(one), name, None)):
                continue
            try:
                inner = getattr(one, name)
            except Exception:
                continue
            if not callable(inner):
                found.append(inner)
                left.append((inner, more - 1))
    return found


@pytest.mark.parametrize("method", [None, pv.Mondrian()])
def test_the_table_of_a_release_is_what_readers_see(method: Any) -> None:
    release = pv.publish(pa.table(ROWS), POLICY, method=method)
    table = release.table
    assert "name" not in table.schema.names
    assert () == table.roles.identifier
    assert rows_of(release.to_arrow().select(["ill"])) == Counter(
        (v,) for v in ROWS["ill"]
    )
    shown = set(release.to_arrow()["age"].to_pylist())
    assert shown == set(table.domains(["age"])["age"].labels) or None in shown
    for reached in list_reachable(table):
        assert CANARY not in repr(reached)
        assert "name (identifier)" not in repr(reached)
    assert not hasattr(release, "private")
    assert not hasattr(release, "origin")
    assert release.table is table


def test_the_table_of_views_is_what_readers_see() -> None:
    with pv.read(
        str(clinic_path()),
        identifier="name",
        sensitive="problem",
        other=["age", "job", "number"],
    ) as patients:
        promise = pv.Promise(
            pv.Reconstructor("restricted"),
            pv.Ceiling("1/2"),
            {"name": "George", "problem": "HIV"},
        )
        views = pv.Views(patients, ["name", "age"], ["age", "problem"])
        release = pv.publish(views, [promise])
        assert "job" not in release.table.schema.names
        with pytest.raises(pv.InputError, match="'view-1', 'view-2'"):
            release.to_arrow()
        assert ["name", "age"] == release.to_arrow("view-1").column_names
        problems = release.to_pandas("view-2")
        assert len(problems) == len(problems.drop_duplicates())


@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_lists_of_one_length_are_released_as_lists(method: Any) -> None:
    """DuckDB writes them, missing ones included, as few can read: it was a crash."""
    pairs = pa.array([[1, 2], [3, 4], None] * 4, pa.list_(pa.int64(), 2))
    frame = pa.table({"age": ["a", "b", "c"] * 4, "ill": pairs})
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), "ill")
    with pv.read(frame, quasi="age", sensitive="ill") as table:
        shown = pv.publish(table, promise, method=method).to_arrow()["ill"].to_pylist()
    assert 4 == shown.count(None)
    assert {1, 2, 3, 4} == {int(v) for own in shown for v in own or ()}


@pytest.mark.parametrize("make", [list, tuple, set, np.array], ids=str)
def test_lists_of_pandas_are_lists(make: Any) -> None:
    cells = [make(["HIV", "flu"]), make(["HIV"]), None, make(["cold"])]
    frame = pd.DataFrame({"job": ["Cook"] * 4, "ill": pd.Series(cells, dtype=object)})
    people = pv.read(frame, quasi="job", sensitive="ill")
    assert Fraction(1, 2) == pv.belief(people, pv.Linker(), {"ill": "HIV"}).posterior


def test_a_missing_extra_says_nothing_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"job": ["a"] * 4, "ill": ["x", "y"] * 2})
    people = pv.read(rows, quasi="job", sensitive="ill")
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "x"})
    release = pv.publish(people, promise)
    release.write(tmp_path / "out", custody=tmp_path / "kept", format="sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(pv.MissingExtra, match="extra 'files'"):
        pv.verify(tmp_path / "out")
