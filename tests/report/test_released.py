"""A release in words: what the worst case was before, and what it is now."""

from __future__ import annotations

import pyarrow as pa

import privet as pv
from privet.report.released import as_text, summary


def test_measures_are_no_shares() -> None:
    people = pa.table({"age": [1, 2, 3, 4], "ill": ["x", "y", "x", "y"]})
    with pv.read(people, quasi="age", sensitive="ill") as table:
        promises = [
            pv.Promise(pv.Linker(), pv.Ceiling("1/2")),
            pv.Measure(k_anonymity=2),
        ]
        told = summary(pv.publish(table, promises, method=pv.Mondrian()))
    assert ["100 % → 50 %", "1 → 2"] == [p["change"] for p in told["promises"]]
    assert "  Worst case: 1 → 2.\n" in as_text(told)


def test_a_belief_below_a_limit_is_not_rounded_onto_it() -> None:
    groups = ["a"] * 2001
    people = pa.table({"job": groups, "ill": ["x"] * 1000 + ["y"] * 1001})
    with pv.read(people, quasi="job", sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "x"})
        told = summary(pv.publish(table, [promise]))
    assert "49.98 % → 49.98 %" == told["promises"][0]["change"]
