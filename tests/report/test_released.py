"""A release in words: what the worst case was before, and what it is now."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import privet as pv
from privet.microdata.report import as_text, summarise_release
from privet.release.note import write_table_note
from report.releases import make_release


def test_measures_are_no_shares() -> None:
    people = pa.table({"age": [1, 2, 3, 4], "ill": ["x", "y", "x", "y"]})
    with pv.read(people, quasi="age", sensitive="ill") as table:
        promises = [
            pv.Promise(pv.Linker(), pv.Ceiling("1/2")),
            pv.Measure(k_anonymity=2),
        ]
        told = summarise_release(pv.publish(table, promises, method=pv.Mondrian()))
    assert ["100 % → 50 %", "1 → 2"] == [p["change"] for p in told["promises"]]
    assert "  Worst case: 1 → 2.\n" in as_text(told)


def test_a_belief_below_a_limit_is_not_rounded_onto_it() -> None:
    groups = ["a"] * 2001
    people = pa.table({"job": groups, "ill": ["x"] * 1000 + ["y"] * 1001})
    with pv.read(people, quasi="job", sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": "x"})
        told = summarise_release(pv.publish(table, [promise]))
    assert "49.98 % → 49.98 %" == told["promises"][0]["change"]


def test_one_group_and_one_move_are_told_in_the_singular() -> None:
    people = pa.table({c: ["a", "b"] for c in ("job", "ill")})
    with pv.read(people, quasi="job", sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"))
        told = summarise_release(pv.publish(table, [promise], method=pv.Mondrian()))
    assert "without_role" not in told
    assert "One group of everybody (2 in all)." in as_text(told)
    assert as_text(told).endswith("\nNo group can be split further.")
    shown = told | {"groups": None}
    assert as_text(shown | {"moves": 1}).endswith("(1 move)")
    assert as_text(shown | {"moves": 1234}).endswith("(1,234 moves)")


def test_the_note_does_not_round_a_belief_onto_its_limit() -> None:
    stated = {"name": "no", "below": "99/100", "worst": "98/99"}
    content = {"title": "", "columns": {}, "kind": "groups", "not_promised": []}
    told = write_table_note(content | {"promises": [stated]})
    assert "- no: below 99 %; the worst case in this table is 98.99 %." in told


def test_the_report_of_a_loaded_classifier_says_what_an_inverter_recovers(
    tmp_path: Path,
) -> None:
    """The record has the counts: what was accepted is not told without how much."""
    folder = make_release("classifier", tmp_path)
    release = pv.load(folder / "out")
    report = release.report(folder / "report.html", custody=folder / "vault")
    said = report.read_text(encoding="utf-8")
    assert "Somebody who knows how it was made" in said
    assert "How much each attribute moves a belief, before and after." in said
    alone = release.report(folder / "alone.html").read_text(encoding="utf-8")
    assert "Somebody who knows how it was made" not in alone
