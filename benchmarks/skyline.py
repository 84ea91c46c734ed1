"""An insider's worst case beside the bare count of (group, value), and beside a DP.

    python benchmarks/skyline.py [rows ...]

100,000 groups, 30 skewed values, an insider with l = k = m = 10. In one process, one
after the other, in CPU seconds (best of three):

- the bare DuckDB count of (group, value);
- the arithmetic of the check on that count, with numpy alone and with numba;
- the whole audit, from the file to the verdict with its witness;
- the dynamic program of Martin et al. (floats, compiled), which assumes nothing about
  where people are; once on all groups, then for l = 0 to 10 on a tenth, scaled.

The bar: the check costs at most 1.5 times the bare count with numba, 4 times without.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet as pv
from measure import folder
from privet.engine.protocol import CountQuery
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import SkylineCheck, rank_values
from privet.values import jit

GROUPS, VALUES, KNOWN = 100_000, 30, 10
FAST, PLAIN = 1.5, 4.0
PART = 10
"""The dynamic program is run on this part of the groups, but once on all."""


def make(rows: int) -> Path:
    """A file of groups and skewed values."""
    path = folder() / f"skyline-{rows}.parquet"
    if not path.exists():
        rng = np.random.default_rng(7)
        weights = 1 / np.arange(1, VALUES + 1) ** 0.8
        codes = rng.choice(VALUES, rows, p=weights / weights.sum())
        names = np.array([f"illness {i:02}" for i in range(VALUES)])
        table = pa.table(
            {
                "g": pa.array(rng.integers(0, GROUPS, rows).astype(np.int32)),
                "s": pa.DictionaryArray.from_arrays(
                    pa.array(codes.astype(np.int32)), pa.array(names)
                ).cast(pa.string()),
            }
        )
        pq.write_table(table, path)
    return path


def cpu(work: Callable[[], object], times: int = 3) -> float:
    """The fewest CPU seconds of a few runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def bare(path: Path) -> None:
    """The floor."""
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        statement = f"SELECT g, s, count(*) AS n FROM '{path}' GROUP BY g, s"
        con.sql(statement).to_arrow_table()


def audit(path: Path) -> None:
    """From the file to the verdict."""
    with pv.read(str(path), quasi="g", sensitive="s") as table:
        insider = pv.Insider(KNOWN, KNOWN, KNOWN)
        pv.audit(table, pv.Promise(insider, pv.Ceiling(below="0.9")))


def check(batch: object, l: int) -> None:
    """The arithmetic alone."""
    fold = SkylineCheck([l]).add(batch)
    fold.belief(Point(l, KNOWN, KNOWN))


def with_numba(on: bool) -> None:
    os.environ[jit.SWITCH] = "1" if on else "0"
    jit.compile_loop.cache_clear()


# The dynamic program ----------------------------------------------------------------


def program() -> Callable[..., float]:
    """The least odds about each value over all ways to spread people, compiled."""
    import numba

    @numba.njit
    def least(start, value, count, total, tails, values, most):
        best = np.inf
        for s in range(values):
            open_, done = (
                np.ones((most + 1, most + 1)),
                np.full((most + 1, most + 1), np.inf),
            )
            for g in range(len(total)):
                row = -1
                for i in range(start[g], start[g + 1]):
                    if value[i] == s:
                        row = i
                if row < 0:
                    continue
                a, n = count[row], total[g]
                b = n - a
                lack = np.empty((most + 1, most + 1))
                own = np.empty((most + 1, most + 1))
                for k in range(most + 1):
                    q = 1.0
                    r = max(tails[row] - k, 0) / a
                    for m in range(most + 1):
                        lack[k, m], own[k, m] = q, r
                        q = q * (b - k - m) / (n - k - m) if b - k - m > 0 else 0.0
                        j = k + 1 + m
                        r = r * (b - j) / (n - j) if b - j > 0 else 0.0
                for k in range(most, -1, -1):
                    for m in range(most, -1, -1):
                        first, second = np.inf, np.inf
                        for i in range(k + 1):
                            for j in range(m + 1):
                                here = open_[k - i, m - j]
                                first = min(first, here * lack[i, j])
                                second = min(second, here * own[i, j])
                                second = min(second, done[k - i, m - j] * lack[i, j])
                        open_[k, m], done[k, m] = first, second
            best = min(best, done[most, most])
        return best

    return least


def by_program(run: Callable[..., float], batch: object, l: int, groups: int) -> float:
    few = batch.take(np.arange(groups))
    rows = rank_values(few)
    return run(rows.start, rows.value, rows.a, rows.total, rows.tail(l), VALUES, KNOWN)


def costs(path: Path, batch: object) -> bool:
    """Print the check beside the bare count; whether it keeps the bar."""
    floor, good = cpu(lambda: bare(path)), True
    print(f"  bare count     {floor:7.2f} cpu-s")
    for name, bar in (("numpy", PLAIN), ("numba", FAST)):
        with_numba(name == "numba")
        check(batch, KNOWN)
        own, whole = cpu(lambda: check(batch, KNOWN)), cpu(lambda: audit(path))
        kept = own <= bar * floor
        good &= kept
        print(
            f"  check, {name}   {own:7.2f} cpu-s  {own / floor:5.2f} x the count "
            f"(bar {bar}: {'kept' if kept else 'MISSED'}); from file to verdict "
            f"{whole:.2f}, {whole / floor:.2f} x"
        )
    return good


def beside_program(batch: object, run: Callable[..., float]) -> None:
    """Print the dynamic program beside the check, value after value ruled out."""
    whole, part = len(batch), len(batch) // PART
    by_program(run, batch, KNOWN, 10)  # compiles it
    found: list[float] = []
    slow = cpu(lambda: found.append(by_program(run, batch, KNOWN, whole)), 1)
    exact = SkylineCheck([KNOWN]).add(batch).belief(Point(KNOWN, KNOWN, KNOWN))
    assert abs(1 / (1 + found[0]) - float(exact)) < 1e-9, "the program disagrees"
    own = cpu(lambda: check(batch, KNOWN))
    print(f"  dynamic program {slow:7.2f} cpu-s, {slow / own:.0f} x the check")
    print(f"  the same on {part:,} groups, scaled to {whole:,}:")
    for l in range(KNOWN + 1):
        slow = cpu(lambda l=l: by_program(run, batch, l, part), 1) * whole / part
        own = cpu(lambda l=l: check(batch, l), 1)
        print(f"    l = {l:2}: {slow:8.1f} cpu-s, {slow / own:6.0f} x the check")


def main(sizes: list[int]) -> int:
    run, good = program(), True
    for rows in sizes:
        path = make(rows)
        with pv.read(str(path), quasi="g", sensitive="s") as table:
            ((_, batch),) = table.count([CountQuery(("g",), "s")])
        print(f"\n{rows:,} rows, {len(batch):,} groups, {len(batch.n):,} counts")
        good &= costs(path, batch)
        beside_program(batch, run)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main([int(n) for n in sys.argv[1:]] or [1_000_000, 2_000_000, 5_000_000]))
