"""Every rule of a large table beside coding its columns and counting some of its sets.

    python benchmarks/discovery.py [rows]

15 columns of 2 to 100 values may be known, up to three at a time (575 sets); 14 values
may be given away. In one process each, one after the other, in CPU seconds:

- the floor: DuckDB codes the columns once, as small integers in a table of its own, and
  counts a sample of the sets with a bare GROUP BY each; its time for all sets is worked
  out from the sample;
- the discovery, from the file to the ranked rules.

The bars: at most half of the floor's time, 90 seconds for 10 million rows, and 2 GiB.
"""

from __future__ import annotations

import json
import time
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet as pv
from measure import apart, folder, judged, sized, start

ROWS = sized(10_000_000, 20_000)
SIZES = (2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 73, 100)
VALUES = 14
SAMPLED = sized(24, 4)
"""Sets that the floor counts; every so-manieth of them all."""
SHARE, SECONDS, MEMORY = 0.5, 90, 2048
LEVEL = "0.5"


def make(rows: int) -> Path:
    """A file of skewed columns; a few of them lean towards some illness."""
    path = folder() / f"discovery-{rows}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(3)
    codes = {f"c{i}": skew(rng, size, rows) for i, size in enumerate(SIZES)}
    ill = skew(rng, VALUES, rows)
    # Whoever has the last values of two columns mostly has the rarest illness.
    marked = (codes["c7"] == SIZES[7] - 1) & (codes["c9"] == SIZES[9] - 1)
    ill[marked & (rng.random(rows) < 0.8)] = VALUES - 1
    columns = {name: spell(c, "v") for name, c in codes.items()}
    pq.write_table(pa.table({**columns, "ill": spell(ill, "illness ")}), path)
    return path


def skew(rng: np.random.Generator, size: int, rows: int) -> np.ndarray:
    weights = 1 / np.arange(1, size + 1) ** 0.6
    return rng.choice(size, rows, p=weights / weights.sum()).astype(np.int32)


def spell(codes: np.ndarray, word: str) -> pa.Array:
    names = pa.array([f"{word}{i}" for i in range(int(codes.max()) + 1)])
    return pa.DictionaryArray.from_arrays(pa.array(codes), names).cast(pa.string())


def sets() -> list[tuple[str, ...]]:
    names = [f"c{i}" for i in range(len(SIZES))]
    return [s for size in (1, 2, 3) for s in combinations(names, size)]


def floor(path: str) -> None:
    """Code once, then one GROUP BY per set of a sample; the scaled time is printed."""
    begin, every = time.process_time(), sets()
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        names = [*(f"c{i}" for i in range(len(SIZES))), "ill"]
        for name in names:
            con.execute(
                f"CREATE TABLE d_{name} AS SELECT v, row_number() OVER () - 1 AS code "
                f"FROM (SELECT DISTINCT {name} AS v FROM '{path}')"
            )
        codes = ", ".join(f"CAST(d_{n}.code AS UTINYINT) AS {n}" for n in names)
        joins = " ".join(f"JOIN d_{n} ON s.{n} = d_{n}.v" for n in names)
        con.execute(f"CREATE TABLE coded AS SELECT {codes} FROM '{path}' s {joins}")
        coded = time.process_time() - begin
        begin, some = time.process_time(), every[:: max(len(every) // SAMPLED, 1)]
        for chosen in some:
            by = ", ".join([*chosen, "ill"])
            statement = f"SELECT {by}, count(*) AS n FROM coded GROUP BY {by}"
            con.sql(statement).to_arrow_table()
        counted = (time.process_time() - begin) / len(some) * len(every)
    file = Path(f"{path}.floor.json")
    file.write_text(json.dumps({"coded": coded, "counted": counted}), "utf-8")


def search(path: str) -> None:
    """From the file to the rules."""
    with pv.read(path, sensitive="ill") as table:
        found = pv.discover(table, confidence=LEVEL)
    assert found.complete
    assert tuple(of for _, of in found.sets.values()) == (15, 105, 455)
    wanted = {("c7", "c9"), ("c7",), ("c9",)}
    rare = {r.columns for r in found.rules if r.value == f"illness {VALUES - 1}"}
    assert rare & wanted, "the planted rule was not found"


WORK = {"floor": floor, "search": search}


def main(rows: int) -> int:
    path = str(make(rows))
    apart(__file__, "floor", path)
    least = json.loads(Path(f"{path}.floor.json").read_text("utf-8"))
    ours = apart(__file__, "search", path)
    whole = least["coded"] + least["counted"]
    share = ours.cpu / whole
    print(f"{rows:,} rows, {len(sets())} sets of columns, {VALUES} values")
    print(f"  coding once    {least['coded']:7.1f} cpu-s")
    print(f"  bare counts    {least['counted']:7.1f} cpu-s, from a sample of {SAMPLED}")
    print(f"  discovery      {ours}  {share:5.2f} x both (bar {SHARE})")
    good = share <= SHARE and ours.cpu <= SECONDS and ours.peak <= MEMORY
    return judged(good)


if __name__ == "__main__":
    start(WORK, main, ROWS)
