"""An audit, and the same audit with its report written as one page.

    python benchmarks/report.py [rows]

Both read the file of `audit.py` in processes of their own, one after the other, three
times. A report counts nothing again: it takes what the audit found, hashes the file,
and draws its charts. The bar: it adds at most a fifth to the audit's time, and the page
has less than 2 MB.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from audit import ABOUT, ROWS, SETS, make
from measure import TIMES, in_turns, judged, start

KNOWN = SETS[-1]
TIME = 1.2
LARGEST = 2_000_000


def _audit(path: str, report: Path | None = None) -> object:
    import privet as pv

    promise = pv.Promise(pv.Linker(), pv.Ceiling("0.9"))
    policy = pv.Policy([promise], title="Ten million people")
    roles = {"quasi": KNOWN, "sensitive": ABOUT, "drop": ["ward"]}
    with pv.read(path, **roles) as table:
        found = pv.audit(table, policy)
        if report is not None:
            found.report(report, of=table, policy=policy)
        return found


def by_audit(path: str) -> None:
    """The audit alone."""
    assert _audit(path).findings[0].witness


def by_report(path: str) -> None:
    """The audit, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        assert _audit(path, page).findings[0].witness
        assert page.stat().st_size < LARGEST


def main(rows: int) -> int:
    path = str(make(rows))
    floor, ours = in_turns(__file__, "audit", "report", path)
    print(f"{rows:,} rows, {len(KNOWN)} known columns; best of {TIMES}")
    print(f"  privet.audit             {floor}")
    print(f"  privet.audit and .report {ours}")
    print(f"  ratio {ours.seconds / floor.seconds:.2f} (bar {TIME})")
    return judged(ours.seconds <= TIME * floor.seconds)


if __name__ == "__main__":
    start({"audit": by_audit, "report": by_report}, main, ROWS)
