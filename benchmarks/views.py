"""Every association of two views beside the bare GROUP BY with its distinct counts.

    python benchmarks/views.py [rows]

Both read the same Parquet file in processes of their own, one right after the other,
five times; the median of the five ratios of CPU time counts, for a machine that is busy
slows both of a pair down. Of the people 5 % are in several keys, of the keys 1 % are
missing. Then every association of a tenth of the rows under three promises, one for
each attack model that speaks of such a table, from the file to the verdicts with all
that is imported on the way, three times; the best counts. The bars: at most 1.2 times
the CPU time of DuckDB alone, and 5 CPU seconds for the three.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import (
    TIMES,
    best,
    folder,
    judged,
    median_ratio,
    side_by_side,
    sized,
    start,
)

ROWS, KEYS, PROBLEMS = sized((10_000_000, 50_000, 30), (20_000, 500, 30))
FEWER, MODELS = sized(1_000_000, 20_000), ("unrestricted", "restricted", "bag")
TIME, SECONDS, PAIRS = 1.2, 5, sized(5, 1)


def make(rows: int) -> Path:
    """Patients with a zip code and a problem; some have moved."""
    import duckdb

    path = folder() / f"moved-{rows}.parquet"
    if path.exists():
        return path
    beside = path.with_suffix(".part")
    duckdb.sql(
        f"""COPY (SELECT
            CASE WHEN hash(i, 1) % 18 = 0 THEN CAST(hash(i, 2) % {rows} AS BIGINT)
                ELSE i END AS patient,
            CASE WHEN hash(i, 3) % 100 > 0
                THEN printf('%05d', hash(i, 4) % {KEYS}) END AS zip,
            'problem ' || CAST(hash(i, 5) % {PROBLEMS} AS VARCHAR) AS problem
            FROM range({rows}) t(i)) TO '{beside}' (FORMAT parquet, COMPRESSION zstd)"""
    )
    beside.rename(path)
    return path


def shares(path: str) -> tuple[float, float]:
    """How many people are in several keys, and how many keys are missing."""
    import duckdb

    several = duckdb.sql(
        "SELECT avg(CAST(k > 1 AS INTEGER)) FROM (SELECT patient, count(DISTINCT "
        f"coalesce(zip, '')) AS k FROM '{path}' GROUP BY patient)"
    ).fetchall()[0]
    missing = duckdb.sql(f"SELECT 1 - count(zip) / count(*) FROM '{path}'").fetchall()[
        0
    ]
    return several[0], missing[0]


def by_duckdb(path: str) -> None:
    """The floor: people and problems of each zip code, counted by hand."""
    import duckdb

    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    con.sql(
        "SELECT zip, count(DISTINCT patient) AS m, count(DISTINCT problem) AS n "
        f"FROM '{path}' GROUP BY zip"
    ).to_arrow_table()
    con.close()


def by_privet(path: str) -> None:
    """One promise about every association, from the file to a verdict."""
    import privet as pv

    with pv.read(path, identifier="patient", sensitive="problem") as table:
        views = pv.Views(table, ["patient", "zip"], ["zip", "problem"])
        promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9"))
        found = pv.audit(views, promise).findings[0]
    assert found.witness
    print(f"{found.belief.posterior} {found.people_above}", file=sys.stderr)


def by_models(path: str) -> None:
    """Three promises about every association, from the file to verdicts."""
    import privet as pv

    promises = [
        pv.Promise(pv.Reconstructor(model=model), pv.Ceiling("0.9")) for model in MODELS
    ]
    with pv.read(path, identifier="patient", sensitive="problem") as table:
        views = pv.Views(table, ["patient", "zip"], ["zip", "problem"])
        found = pv.audit(views, promises).findings
    assert all(f.witness for f in found)


def main(rows: int) -> int:
    path, fewer = str(make(rows)), str(make(min(rows, FEWER)))
    pairs = side_by_side(__file__, "duckdb", "privet", path, PAIRS)
    ratios = ", ".join(f"{ours.cpu / floor.cpu:.2f}" for floor, ours in pairs)
    several, missing = shares(path)
    print(f"{rows:,} rows, {KEYS:,} keys; best of {PAIRS}")
    print(f"  {several:.1%} of the people in several keys, {missing:.1%} keys missing")
    print(f"  DuckDB, the bare GROUP BY    {best([floor for floor, _ in pairs])}")
    print(f"  privet.audit of the views    {best([ours for _, ours in pairs])}")
    ratio = median_ratio(pairs)
    print(f"  ratio of CPU time {ratio:.2f}, the median of {ratios} (bar {TIME})")
    few = side_by_side(__file__, "duckdb", "models", fewer, TIMES)
    three = best([ours for _, ours in few])
    print(f"{min(rows, FEWER):,} rows, {', '.join(MODELS)}: bar {SECONDS} cpu-s")
    print(f"  DuckDB, the bare GROUP BY    {best([floor for floor, _ in few])}")
    print(f"  privet.audit of the views    {three}")
    print(
        f"  ratio of CPU time {median_ratio(few):.1f}, the median of {TIMES} (no bar)"
    )
    return judged(ratio <= TIME and three.cpu <= SECONDS)


if __name__ == "__main__":
    work = {"duckdb": by_duckdb, "privet": by_privet, "models": by_models}
    start(work, main, ROWS)
