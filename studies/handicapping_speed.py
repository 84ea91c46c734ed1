"""How the time of a disclosure grows with the rows: the paper's Figure 4, done again.

    PRIVET_DATA=folder python studies/handicapping_speed.py [--sets 30]

Adult, expanded to 226,110 up to 994,884 rows as in the paper, a limit of 90 %. (a) one
attacker who knows seven columns; (b) the mean over random choices of three to six
attackers who know two to five of them. From the Parquet file to a release that was
written, read back and recounted, in CPU seconds of a process of its own; beside it a
GROUP BY of the seven columns, which is the least that counting costs. The table and the
promises are those of `benchmarks/disclosure.py`. Wang, Fung, Yu 2007, section 5.4.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import result_files
import uci
from skyline_speed import import_benchmark

SCALES = uci.sized((5, 9, 13, 18, 22), (1,))
"""How many rows are made of each of Adult's 45,222: the paper has 200,000 to a
million."""
LIMIT = "0.9"
SETS = uci.sized(30, 1)


def measure(bench: Any, scale: int, sets: int) -> list[result_files.Row]:
    """One size: the floor, one attacker, and the mean over several."""
    path, rows = str(bench.made(scale)), scale * bench.ROWS

    def take(who: str, known: Any = None) -> float:
        task = {"sets": known, "limit": LIMIT, "paper": True}
        cost = bench.apart(bench.__file__, who, path, json.dumps(task))
        return float(cost.cpu)

    drawn = bench.some_sets(sets)
    found = {
        "count": min(take("duckdb") for _ in range(bench.TIMES)),
        "one": min(take("privet", [bench.KNOWN]) for _ in range(bench.TIMES)),
        "several": sum(take("privet", known) for known in drawn) / len(drawn),
    }
    return [{"rows": rows, "of": of, "seconds": s} for of, s in found.items()]


def main() -> int:
    """Time every size, and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=SETS)
    sets = parser.parse_args().sets
    if uci.find_checked() is None:
        return 0
    bench = import_benchmark("disclosure")
    speed = []
    for scale in SCALES:
        for row in measure(bench, scale, sets):
            speed.append(row)
            print(f"{row['rows']:>9,} rows, {row['of']:8} {row['seconds']:6.2f} cpu-s")
    command = f"python studies/handicapping_speed.py --sets {sets}"
    result = result_files.Result.of(command, {"speed": speed}, {"speed": None})
    return 0 if result_files.keep("handicapping_speed", result) else 1


if __name__ == "__main__":
    sys.exit(main())
