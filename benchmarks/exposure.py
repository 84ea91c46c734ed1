"""An audit of a promise about all known columns, with exposure and without it.

    python benchmarks/exposure.py [rows]

Both read the file of `audit.py` in processes of their own, one after the other, three
times. Exposure is counted from the groups that the promise needs anyway. The bar: at
most 1.3 times the time of the same audit with `exposure=False`. What at most two and
three columns tell comes after the verdict; here there are too many groups for it.
"""

from __future__ import annotations

from audit import ABOUT, ROWS, SETS, make
from measure import TIMES, in_turns, judged, start

KNOWN = SETS[-1]
TIME = 1.3


def _audit(path: str, *, exposure: bool) -> object:
    import privet as pv

    promise = pv.Promise(pv.Linker(), pv.Ceiling("0.9"))
    roles = {"quasi": KNOWN, "sensitive": ABOUT, "drop": ["ward"]}
    with pv.read(path, **roles) as table:
        return pv.audit(table, promise, exposure=exposure)


def by_promise(path: str) -> None:
    """The promise alone."""
    assert _audit(path, exposure=False).findings[0].witness


def by_exposure(path: str) -> None:
    """The promise, and of how many people something is told."""
    found = _audit(path, exposure=True)
    (told,) = found.exposure.columns
    assert told.people
    assert told.beyond[0].people == found.findings[0].people_above


def main(rows: int) -> int:
    path = str(make(rows))
    floor, ours = in_turns(__file__, "promise", "exposure", path)
    print(f"{rows:,} rows, {len(KNOWN)} known columns; best of {TIMES}")
    print(f"  privet.audit, exposure=False {floor}")
    print(f"  privet.audit                 {ours}")
    print(f"  ratio {ours.seconds / floor.seconds:.2f} (bar {TIME})")
    return judged(ours.seconds <= TIME * floor.seconds)


if __name__ == "__main__":
    start({"promise": by_promise, "exposure": by_exposure}, main, ROWS)
