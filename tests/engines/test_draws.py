"""Disguising rows: every source alike, in batches, within memory, and stoppable."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import privet as pv
from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import RandomBits
from privet.responses.disguise import binned, disguise_record, plan_randomisation

pytestmark = pytest.mark.engines

DESIGN = pv.Design(
    [
        pv.Question("smokes", ["0", "1"]),
        pv.Question(
            "town", ["Nürnberg", "=cmd", "a, b", "not said"], missing="not said"
        ),
        pv.Question("age", bins=[30, 50]),
    ],
    [
        pv.Group("smokes", pv.KAry(1)),
        pv.Group("town", pv.KAry(1)),
        pv.Group("age", pv.KAry(1)),
    ],
)
ALONE = pv.Bayesian(unrelated=True)
POLICY = pv.Policy(promises=(pv.Promise(ALONE, pv.Ceiling("0.9"), "smokes"),))
PROMISED = pv.Design(
    [*DESIGN.questions, pv.Question("asthma", ["no", "yes"])],
    [*DESIGN.groups, pv.Group("asthma", pv.KAry("0.6"))],
)
"""The truth keeps no promise that forbids something: one more answer is disguised."""
ASTHMA = pv.Policy(promises=(pv.Promise(ALONE, pv.Ceiling("0.9"), "asthma"),))
ROWS = {
    "smokes": [0, 1, 1, 0],
    "town": ["Nürnberg", "=cmd", None, "a, b"],
    "age": [29, 30, 50, 90],
    "asthma": ["no", "yes", "no", "no"],
    "name": ["Ann", "Bob", "Cem", "Dee"],
}
SHOWN = {
    ("0", "Nürnberg", "below 30"),
    ("1", "=cmd", "30 to below 50"),
    ("1", "not said", "50 and more"),
    ("0", "a, b", "50 and more"),
}


def sources(folder: Path) -> dict[str, Any]:
    table = pa.table(ROWS)
    pq.write_table(table, folder / "t.parquet")
    pd.DataFrame(ROWS).to_csv(folder / "t.csv", index=False)
    pd.DataFrame(ROWS).to_json(folder / "t.jsonl", orient="records", lines=True)
    return {
        "arrow": table,
        "pandas": pd.DataFrame(ROWS),
        "polars": pl.DataFrame(ROWS),
        "parquet": folder / "t.parquet",
        "csv": folder / "t.csv",
        "json": folder / "t.jsonl",
    }


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize(
    "source", ["arrow", "pandas", "polars", "parquet", "csv", "json"]
)
def test_every_source_is_disguised_alike(
    tmp_path: Path, source: str, form: str
) -> None:
    """With the truth at 1 what is reported is what is true, in the design's words."""
    places = {"folder": tmp_path / "out", "custody": tmp_path / "v", "format": form}
    with pv.read(sources(tmp_path)[source], drop="name") as table:
        found = pv.disguise(table, PROMISED, policy=ASTHMA, **places)
    cells = next(iter(found.rows.engine.tabulate([list(DESIGN.columns)], Run())))
    assert SHOWN == {c for c, _ in cells}
    found.close()
    text = (tmp_path / "out" / f"table.{form}").read_bytes()
    assert b"Ann" not in text
    assert pv.verify(tmp_path / "out").good


def test_a_seed_repeats_and_batches_do_not_matter(tmp_path: Path) -> None:
    design = pv.Design(DESIGN.questions[:1], [pv.Group("smokes", pv.KAry("0.7"))])
    rows = pa.table({"smokes": [0] * 1500 + [1] * 500})
    counts = []
    for i in range(2):
        with pv.read(rows, threads=1) as table:
            path = str(tmp_path / f"{i}.parquet")
            plan = plan_randomisation(
                table, design, path, "parquet", bits=RandomBits(b"s")
            )
            assert 2000 == table.engine.draw(plan, {}, Run())
        counts.append(pq.read_table(path)["smokes"].to_pylist())
    assert counts[0] == counts[1]


def test_more_rows_than_memory(tmp_path: Path) -> None:
    """3 million rows of 8 columns with 300 MB for the engine."""
    path = tmp_path / "t.parquet"
    cells = ", ".join(f"hash(i, {j}) % 5 AS q{j}" for j in range(8))
    duckdb.execute(f"COPY (SELECT {cells} FROM range(3000000) r(i)) TO '{path}'")
    questions = [pv.Question(f"q{j}", [str(v) for v in range(5)]) for j in range(8)]
    design = pv.Design(questions, [pv.Group(q.name, pv.KAry("0.6")) for q in questions])
    with pv.read(path, memory_limit="300MB") as table:
        plan = plan_randomisation(table, design, str(tmp_path / "o.parquet"), "parquet")
        recodings = binned(table, design).recodings
        assert 3_000_000 == table.engine.draw(plan, recodings, Run())
    kept = duckdb.sql(
        f"SELECT avg(CAST(q0 = 0 AS INT)) FROM '{tmp_path}/o.parquet'"
    ).fetchall()[0][0]
    assert abs(kept - 0.2) < 0.01


def test_a_time_limit_stops_and_leaves_nothing(tmp_path: Path) -> None:
    rows = pa.table({"smokes": [0, 1] * 500_000})
    design = pv.Design(DESIGN.questions[:1], [pv.Group("smokes", pv.KAry("0.7"))])

    def stop(_progress: object) -> None:
        raise KeyboardInterrupt

    options = {"policy": POLICY, "progress": stop}
    with pv.read(rows) as table, pytest.raises(KeyboardInterrupt):
        pv.disguise(table, design, tmp_path / "out", custody=tmp_path / "v", **options)
    assert [] == list(tmp_path.iterdir())


def test_missing_values_of_binned_columns_are_refused(tmp_path: Path) -> None:
    rows = pa.table({"age": pa.array([20, None, 40])})
    design = pv.Design(DESIGN.questions[2:], [pv.Group("age", pv.KAry("0.7"))])
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(10), "age")
    options = {"policy": pv.Policy(promises=(promise,)), "custody": tmp_path / "v"}
    with pv.read(rows) as table, pytest.raises(pv.InputError, match="missing values"):
        pv.disguise(table, design, tmp_path / "out", **options)
    assert [] == list(tmp_path.iterdir())


def test_the_same_answer_is_reported_the_same_way() -> None:
    design = pv.Design(DESIGN.questions[:1], [pv.Group("smokes", pv.KAry("0.6"))])
    memory: dict[str, Any] = {}
    first = disguise_record(design, {"smokes": 1}, memory)
    assert all(
        first == disguise_record(design, {"smokes": 1}, memory) for _ in range(20)
    )
    without = {disguise_record(design, {"smokes": 1})["smokes"] for _ in range(60)}
    assert {"0", "1"} == without


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_combinations_are_counted_alike(kind: str, tmp_path: Path) -> None:
    """Set by set where columns are stored apart, at one go in a text file."""
    rows = [("x", "1"), ("x", "2"), (None, "1"), ("ü, '", None), ("x", "1")]
    table = pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    source: object = table
    if kind == "csv":
        source = tmp_path / "t.csv"
        csv.write_csv(table, source)
    elif kind == "parquet":
        source = tmp_path / "t.parquet"
        pq.write_table(table, source)
    sets = [["a"], ["b"], ["b", "a"], ["a"], ["a", "b"]]
    with pv.read(source) as people:
        found = list(people.engine.tabulate(sets, Run()))
    at = {"a": 0, "b": 1}
    for columns, cells in zip(sets, found, strict=True):
        wanted = Counter(tuple(r[at[c]] for c in columns) for r in rows)
        assert wanted == dict(cells)
        assert len(wanted) == len(cells)
