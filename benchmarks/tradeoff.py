"""What each limit costs on the demonstration's table, beside publishing it once.

    python benchmarks/tradeoff.py [rows]

`privet demo` makes the table and its policy (50,000 rows). In one process each, in CPU
seconds: the table published once by Mondrian, from the file to the figures; the
trade-off of nine limits of the policy's widest promise, by the methods that are swept
unless others are named; and every method side by side.

The bars: the trade-off in less than a minute, and in less than nine times five times
the one release, which is what trying every point alone would come to.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import privet as pv
from measure import apart, folder, judged, sized, start

ROWS = sized(50_000, 2_000)
SWEPT = "nobody is sure of any diagnosis"
LIMITS = [f"0.{n}" for n in range(1, 10)]
SECONDS = 60


def make(rows: int) -> Path:
    place = folder() / f"demo-{rows}"
    if not place.exists():
        words = [
            sys.executable,
            "-m",
            "privet",
            "demo",
            str(place),
            "--rows",
            str(rows),
        ]
        subprocess.run(words, check=True, capture_output=True)
    return place


def once(path: str) -> None:
    policy = pv.Policy.load(f"{path}/policy.toml")
    with pv.read(f"{path}/patients.csv") as table:
        assert pv.publish(table, policy, method=pv.Mondrian()).utility


def sweep(path: str) -> None:
    policy = pv.Policy.load(f"{path}/policy.toml")
    with pv.read(f"{path}/patients.csv") as table:
        found = pv.Tradeoff.of(table, policy, SWEPT, LIMITS)
    assert found.complete
    for method in found.methods:
        reached = [b for _, b in found.curve(method) if b is not None]
        assert reached == sorted(reached, reverse=True)
    print(found.explain(), file=sys.stderr)


def compare(path: str) -> None:
    policy = pv.Policy.load(f"{path}/policy.toml")
    with pv.read(f"{path}/patients.csv") as table:
        found = pv.compare(table, policy)
    assert found.complete
    print(found.explain(), file=sys.stderr)


WORK = {"once": once, "sweep": sweep, "compare": compare}


def main(rows: int) -> int:
    path = str(make(rows))
    apart(__file__, "once", path)  # compiles loops where none are kept
    alone = apart(__file__, "once", path)
    swept, all_ = apart(__file__, "sweep", path), apart(__file__, "compare", path)
    most = len(LIMITS) * 5 * alone.cpu
    print(f"{rows:,} rows")
    print(f"  one release    {alone}")
    print(f"  trade-off      {swept}  (bars {SECONDS} s and {most:.0f} s)")
    print(f"  every method   {all_}")
    return judged(swept.cpu < min(SECONDS, most))


if __name__ == "__main__":
    warnings.simplefilter("ignore", pv.PrivacyWarning)
    start(WORK, main, ROWS)
