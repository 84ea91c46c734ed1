"""An audit, and the same audit with its report written as one page.

    python benchmarks/report.py [rows]

Both judge the file of `audit.py`, in turns, nine times each: by its three promises, and
by the widest of them alone; as commands, `privet audit` and `privet report`, and in
Python, `pv.audit` with and without `.report(path)`. A report counts nothing again: it
takes what the audit found, hashes the file, and draws its charts, which takes about
0.4 s whatever the rows, half of it the start of what draws. The bar: it adds at most a
fifth to the audit's time, in each of the four; and the page has less than 2 MB.

The audit of one file takes 2.3 s now and 3.0 s a minute later, on a machine that others
share; so the ratio is that of a pair, the first of which is now this, now that, and the
middle one of nine counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

from audit import ABOUT, CARDS, ROWS, SETS, make
from measure import Cost, alternate, best, judged, side_by_side, sized, start

TIME = 1.2
LARGEST = 2_000_000
PAIRS = sized(9, 1)
QUASI = [c for c in CARDS if c != ABOUT]


Known = Sequence[Sequence[str]]
"""What is known, promise by promise."""

AUDITS: dict[str, Known] = {"three promises": SETS, "one promise": SETS[-1:]}


def write_policy(sets: Known) -> str:
    """Promises as the commands read them."""
    promises = [
        f'[[promise]]\nagainst = "linker"\nknows = {json.dumps(knows)}\nat_most = 0.9\n'
        for knows in sets
    ]
    return (
        'title = "Ten million people"\n\n'
        f'[columns]\nquasi = {json.dumps(QUASI)}\nsensitive = ["{ABOUT}"]\n\n'
        + "\n".join(promises)
    )


# As commands ------------------------------------------------------------------------


def run_command(*words: str) -> Cost:
    """What a command costs from its start to its end; it finds a breach."""
    began, wall = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "privet", *words], check=False, capture_output=True
    )
    ended, seconds = os.times(), time.perf_counter() - wall
    assert done.returncode == 1, done.stderr.decode()
    cpu = ended.children_user + ended.children_system
    cpu -= began.children_user + began.children_system
    return Cost(seconds, cpu, 0)


def by_commands(path: str, sets: Known) -> list[tuple[Cost, Cost]]:
    """Both commands, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        policy, page = Path(folder) / "policy.toml", Path(folder) / "report.html"
        policy.write_text(write_policy(sets), encoding="utf-8")

        def report() -> Cost:
            page.unlink(missing_ok=True)
            told = run_command("report", path, "-p", str(policy), "-o", str(page))
            assert page.stat().st_size < LARGEST
            return told

        audit = partial(run_command, "audit", path, "-p", str(policy))
        return alternate(audit, report, PAIRS)


# In Python --------------------------------------------------------------------------


def _audit(path: str, sets: Known, report: Path | None = None) -> object:
    import privet as pv

    promises = [pv.Promise(pv.Linker(knows), pv.Ceiling("0.9")) for knows in sets]
    policy = pv.Policy(promises, title="Ten million people")
    with pv.read(path, quasi=QUASI, sensitive=ABOUT) as table:
        found = pv.audit(table, policy)
        if report is not None:
            found.report(report, of=table, policy=policy)
        return found


def by_audit(path: str, sets: Known) -> None:
    """The audit alone."""
    assert _audit(path, sets).findings[0].witness


def by_report(path: str, sets: Known) -> None:
    """The audit, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        assert _audit(path, sets, page).findings[0].witness
        assert page.stat().st_size < LARGEST


WORK = {
    f"{what} of {name}": partial(do, sets=sets)
    for name, sets in AUDITS.items()
    for what, do in (("audit", by_audit), ("report", by_report))
}


def show(name: str, pairs: list[tuple[Cost, Cost]]) -> float:
    """Print the best of each; the middle one of the ratios of their seconds."""
    floor, ours = best([f for f, _ in pairs]), best([o for _, o in pairs])
    ratio = median(o.seconds / f.seconds for f, o in pairs)
    print(f"  {name}")
    for what, cost in (("audit", floor), ("with its report", ours)):
        print(f"    {what:16} {cost.seconds:5.2f} s  {cost.cpu:5.2f} cpu-s")
    print(f"    {ratio:.2f} times the seconds, the median of {len(pairs)} pairs")
    return ratio


def main(rows: int) -> int:
    path, ratios = str(make(rows).resolve()), []
    print(f"{rows:,} rows, bar {TIME}")
    for name, sets in AUDITS.items():
        ratios.append(show(f"{name}, commands", by_commands(path, sets)))
        names = f"audit of {name}", f"report of {name}"
        pairs = side_by_side(__file__, *names, path, PAIRS)
        ratios.append(show(f"{name}, in Python", pairs))
    return judged(max(ratios) <= TIME)


if __name__ == "__main__":
    start(WORK, main, ROWS)
