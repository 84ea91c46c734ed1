"""k, l, entropy-l and t together beside one hand-written statement for the same four.

    python benchmarks/measures.py [rows]

CPU seconds (best of three), in one process: DuckDB alone; the measures on counts that
are there; the whole audit, from the file to four findings with witnesses. The bar: the
whole at most 1.5 times the statement. pyCANON is timed beside them on the sizes it
finishes, in an environment of its own below build/, if one can be made; a small run
makes none.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import privet as pv
from measure import SMOKE, cpu, folder, judged, sized

BAR = 1.5
ROWS = sized(5_000_000, 20_000)
QUASI = {"age": 8, "sex": 2, "region": 50, "job": 20}
VALUES = 15
MEASURES = [
    pv.Measure(k_anonymity=2),
    pv.Measure(distinct_l_diversity=2),
    pv.Measure(entropy_l_diversity=2),
    pv.Measure(t_closeness="0.2"),
]
PEER_ROWS = sized(50_000, 5_000)
"""Rows pyCANON is given."""


def make(rows: int) -> Path:
    """A file of skewed categories."""
    path = folder() / f"measures-{rows}.parquet"
    if not path.exists():
        rng = np.random.default_rng(3)
        columns = {c: _column(rng, c, n, rows) for c, n in QUASI.items()}
        columns["illness"] = _column(rng, "illness", VALUES, rows)
        pq.write_table(pa.table(columns), path)
    return path


def _column(rng: np.random.Generator, name: str, values: int, rows: int) -> pa.Array:
    weights = 1 / np.arange(1, values + 1) ** 0.7
    codes = rng.choice(values, rows, p=weights / weights.sum()).astype(np.int32)
    words = pa.array([f"{name} {i:02}" for i in range(values)])
    return pa.DictionaryArray.from_arrays(pa.array(codes), words).cast(pa.string())


def by_hand(path: Path) -> tuple[float, ...]:
    """One statement for all four."""
    quasi = ", ".join(QUASI)
    statement = f"""
        WITH cells AS (
            SELECT {quasi}, illness, count(*) AS n FROM '{path}' GROUP BY ALL
        ), everybody AS (
            SELECT illness, sum(n) AS c, sum(sum(n)) OVER () AS whole
            FROM cells GROUP BY illness
        ), sized AS (
            SELECT {quasi}, sum(n) AS total FROM cells GROUP BY ALL
        ), groups AS (
            SELECT {quasi}, any_value(total) AS k, count(*) AS l,
                   exp(ln(k) - sum(n * ln(n)) / k) AS e,
                   (1 + sum(abs(n / total - c / whole) - c / whole)) / 2 AS t
            FROM cells JOIN sized USING ({quasi}) JOIN everybody USING (illness)
            GROUP BY {quasi}
        )
        SELECT min(k), min(l), min(e), max(t) FROM groups"""
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        return con.sql(statement).fetchall()[0]


def by_privet(path: Path) -> list[float]:
    """Four measures from the file on."""
    with pv.read(str(path), quasi=list(QUASI), sensitive="illness") as table:
        return [float(f.value) for f in pv.audit(table, MEASURES).findings]


PEER = """
import sys, time
import pandas as pd
from pycanon import anonymity
data = pd.read_parquet(sys.argv[1]).head(int(sys.argv[2]))
quasi, sensitive = sys.argv[3].split(","), ["illness"]
start = time.process_time()
found = (
    anonymity.k_anonymity(data, quasi),
    anonymity.l_diversity(data, quasi, sensitive),
    anonymity.entropy_l_diversity(data, quasi, sensitive),
    anonymity.t_closeness(data, quasi, sensitive),
)
print(time.process_time() - start, *found)
"""


def peer(path: Path) -> str:
    """What pyCANON takes, in an environment of its own."""
    place = Path("build/peers/pycanon")
    python = place / "bin" / "python"
    if SMOKE and not python.exists():
        return "left out, since it is not installed"
    try:
        if not python.exists():
            venv.create(place, with_pip=True)
            install = [python, "-m", "pip", "install", "-q", "pycanon", "pyarrow"]
            subprocess.run(install, check=True, capture_output=True, timeout=600)
        done = subprocess.run(
            [python, "-c", PEER, path, str(PEER_ROWS), ",".join(QUASI)],
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"not timed: {type(error).__name__}"
    return done.stdout.strip()


def main(rows: int) -> int:
    path = make(rows)
    expected, found = by_hand(path), by_privet(path)
    assert np.allclose([float(x) for x in expected], found), (expected, found)
    floor, ours = cpu(lambda: by_hand(path)), cpu(lambda: by_privet(path))
    print(f"{rows:,} rows, {len(QUASI)} quasi columns: {found}")
    print(f"  one statement     {floor:7.2f} cpu-s")
    kept = ours <= BAR * floor
    print(
        f"  privet            {ours:7.2f} cpu-s  {ours / floor:.2f} x "
        f"(bar {BAR}: {'kept' if kept else 'MISSED'})"
    )
    print(f"  pyCANON, {PEER_ROWS:,} rows (cpu-s, results): {peer(path)}")
    small = folder() / "measures-small.parquet"
    pq.write_table(pq.read_table(path).slice(0, PEER_ROWS), small)
    print(f"  privet, {PEER_ROWS:,} rows: {cpu(lambda: by_privet(small)):.2f} cpu-s")
    return judged(kept)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
