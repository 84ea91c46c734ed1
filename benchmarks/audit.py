"""An audit with three promises beside the same GROUP BY statements sent to DuckDB.

    python benchmarks/audit.py [rows]

Both read the same Parquet file of 9 text columns in processes of their own, one after
the other, three times. The bar: at most the CPU time, and at most 300 MiB more memory
than DuckDB alone.
"""

from __future__ import annotations

from pathlib import Path

from measure import TIMES, folder, in_turns, judged, sized, start

CARDS = {"job": 20, "city": 40, "sex": 3, "year": 60, "school": 8}
CARDS |= {"ward": 12, "race": 5, "family": 6, "illness": 15}
SETS = (
    ("job", "city"),
    ("sex", "year", "school", "ward"),
    ("job", "city", "sex", "year", "school", "race", "family"),
)
ABOUT = "illness"
ROWS = sized(10_000_000, 20_000)
TIME, MEMORY = 1.0, 300


def make(rows: int) -> Path:
    """A file of skewed, partly missing categories."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder() / f"people-{rows}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    schema = pa.schema([(c, pa.string()) for c in CARDS])
    beside = path.with_suffix(".part")
    with pq.ParquetWriter(beside, schema, compression="zstd") as writer:
        for start in range(0, rows, 1_000_000):
            n = min(1_000_000, rows - start)
            writer.write_table(
                pa.table({c: _column(rng, c, k, n) for c, k in CARDS.items()})
            )
    beside.rename(path)
    return path


def _column(rng: object, name: str, values: int, n: int) -> object:
    import numpy as np
    import pyarrow as pa

    weights = 1 / np.arange(1, values + 1) ** 1.2
    codes = rng.choice(values, n, p=weights / weights.sum()).astype(np.int32)
    missing = rng.random(n) < 0.01
    words = pa.array([f"{name} {i:03d}" for i in range(values)])
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing), words).cast(
        pa.string()
    )


def by_duckdb(path: str) -> None:
    """The floor: the same groups, counted by hand-written statements."""
    import duckdb

    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    for columns in SETS:
        names = ", ".join((*columns, ABOUT))
        con.sql(
            f"SELECT {names}, count(*) AS n FROM '{path}' GROUP BY {names}"
        ).to_arrow_table()
    con.close()


def by_privet(path: str) -> None:
    """Three promises, from the file to verdicts with witnesses."""
    import privet as pv

    quasi = [c for c in CARDS if c != ABOUT]
    with pv.read(path, quasi=quasi, sensitive=ABOUT) as table:
        found = pv.audit(
            table,
            [pv.Promise(pv.Linker(knows), pv.Ceiling("0.9")) for knows in SETS],
            exposure=False,  # which would count more than the statements do
        )
    assert all(f.witness for f in found.findings)


def main(rows: int) -> int:
    path = str(make(rows))
    floor, ours = in_turns(__file__, "duckdb", "privet", path)
    print(f"{rows:,} rows, {len(CARDS)} columns, {len(SETS)} promises; best of {TIMES}")
    print(f"  DuckDB, the same GROUP BYs   {floor}")
    print(f"  privet.audit                 {ours}")
    print(
        f"  ratio of CPU time {ours.cpu / floor.cpu:.2f} (bar {TIME}), "
        f"memory {ours.peak - floor.peak:+.0f} MiB (bar +{MEMORY})"
    )
    good = ours.cpu <= TIME * floor.cpu and ours.peak <= floor.peak + MEMORY
    return judged(good)


if __name__ == "__main__":
    start({"duckdb": by_duckdb, "privet": by_privet}, main, ROWS)
