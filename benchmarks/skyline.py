"""An insider's worst case beside the bare count of (group, value), and beside a DP.

    python benchmarks/skyline.py [rows ...]

100,000 groups, 30 skewed values, an insider with l = k = m = 10. One after the other,
in CPU seconds (best of three):

- the bare DuckDB count of (group, value);
- the check on groups that are counted already;
- the whole audit, from the file to the verdict with its witness;
- the dynamic program of Martin et al. (floats, compiled), which assumes nothing about
  where people are; once on all groups, then for l = 0 to 10 on a tenth, scaled.

The bar: the check costs at most 1.5 times the bare count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet as pv
from measure import cpu, folder, judged, sized

GROUPS, VALUES, KNOWN = sized(100_000, 1_000), 30, 10
ROWS = sized([1_000_000, 2_000_000, 5_000_000], [20_000])
BAR = 1.5
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


def groups_of(path: Path) -> pv.Groups:
    """The groups, counted."""
    with pv.read(str(path), quasi="g", sensitive="s") as table:
        return table.groups()


def check(groups: pv.Groups, l: int) -> float:
    """The same promise as in `audit`, on groups that are counted: the worst belief."""
    promise = pv.Promise(pv.Insider(l, KNOWN, KNOWN), pv.Ceiling(below="0.9"))
    return float(pv.audit(groups, promise).worst.belief.posterior)


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


@dataclass(frozen=True)
class Ranked:
    """Rows (group, value, count) by group, the most frequent value first."""

    start: np.ndarray
    """Where each group begins; one entry more than there are groups."""
    value: np.ndarray
    """The value's code."""
    count: np.ndarray
    """People of the group who have it."""

    @classmethod
    def of(cls, path: Path) -> Ranked:
        """Counted by DuckDB."""
        with duckdb.connect() as con:
            con.execute("SET enable_progress_bar = false")
            found = con.sql(
                f"SELECT g, s, count(*) AS n FROM '{path}' GROUP BY g, s "
                "ORDER BY g, n DESC, s"
            ).fetchnumpy()
        first = np.flatnonzero(np.diff(found["g"], prepend=-1))
        values = np.unique(found["s"].astype(str), return_inverse=True)[1]
        return cls(np.append(first, len(values)), values, found["n"])

    def __len__(self) -> int:
        return len(self.start) - 1

    def few(self, groups: int) -> Ranked:
        """The first groups only."""
        last = self.start[groups]
        return Ranked(self.start[: groups + 1], self.value[:last], self.count[:last])

    @property
    def total(self) -> np.ndarray:
        """People of each group."""
        return np.add.reduceat(self.count, self.start[:-1])

    def tail(self, l: int) -> np.ndarray:
        """People with neither the row's value nor one of the l most frequent others."""
        group = np.repeat(np.arange(len(self)), np.diff(self.start))
        rank = np.arange(len(self.count)) - self.start[group]
        before = np.append(0, np.cumsum(self.count))

        def largest(several: int) -> np.ndarray:
            stop = np.minimum(self.start[:-1] + several, self.start[1:])
            return (before[stop] - before[self.start[:-1]])[group]

        gone = np.where(rank <= l, largest(l + 1), largest(l) + self.count)
        return self.total[group] - gone


def by_program(run: Callable[..., float], rows: Ranked, l: int) -> float:
    tail = rows.tail(l)
    return run(rows.start, rows.value, rows.count, rows.total, tail, VALUES, KNOWN)


def costs(path: Path, groups: pv.Groups) -> bool:
    """Print the check beside the bare count; whether it keeps the bar."""
    floor, own = cpu(lambda: bare(path)), cpu(lambda: check(groups, KNOWN))
    whole, kept = cpu(lambda: audit(path)), own <= BAR * floor
    print(f"  bare count     {floor:7.2f} cpu-s")
    print(
        f"  check          {own:7.2f} cpu-s  {own / floor:5.2f} x the count "
        f"(bar {BAR}: {'kept' if kept else 'MISSED'}); from file to verdict "
        f"{whole:.2f}, {whole / floor:.2f} x"
    )
    return kept


def beside_program(path: Path, groups: pv.Groups, run: Callable[..., float]) -> None:
    """Print the dynamic program beside the check, value after value ruled out."""
    rows = Ranked.of(path)
    assert len(rows) == len(groups)
    some = rows.few(len(rows) // PART)
    by_program(run, rows.few(10), KNOWN)  # compiles it
    found: list[float] = []
    slow = cpu(lambda: found.append(by_program(run, rows, KNOWN)), 1)
    exact = check(groups, KNOWN)
    assert abs(1 / (1 + found[0]) - exact) < 1e-9, "the program disagrees"
    own = cpu(lambda: check(groups, KNOWN))
    print(f"  dynamic program {slow:7.2f} cpu-s, {slow / own:.0f} x the check")
    print(f"  the same on {len(some):,} groups, scaled to {len(rows):,}:")
    for l in range(KNOWN + 1):
        scale = len(rows) / len(some)
        slow = cpu(lambda l=l: by_program(run, some, l), 1) * scale
        own = cpu(lambda l=l: check(groups, l), 1)
        print(f"    l = {l:2}: {slow:8.1f} cpu-s, {slow / own:6.0f} x the check")


def main(sizes: list[int]) -> int:
    run, good = program(), True
    for rows in sizes:
        path = make(rows)
        groups = groups_of(path)
        print(f"\n{rows:,} rows, {len(groups):,} groups")
        good &= costs(path, groups)
        beside_program(path, groups, run)
    return judged(good)


if __name__ == "__main__":
    sys.exit(main([int(n) for n in sys.argv[1:]] or ROWS))
