"""Earlier releases of the same rows: what files alone and matched rows tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import privet as pv
from privet.engine.protocol import Run
from privet.findings import Basis, Finding, Verdict
from privet.microdata import joint_counts
from privet.microdata.joint_counts import outline_table
from privet.microdata.recipe import Cut, Recipe
from privet.policy.acceptance import Accepted
from privet.release.joint.joint_results import accept_matching
from privet.release.joint.joint_verdict import judge_together
from privet.release.joint.outlines import ReleaseOutline, ShownColumn


def write_table(path: Path, rows: Sequence[tuple[str, ...]], header: str) -> pv.Table:
    path.write_text("\n".join([header, *(",".join(r) for r in rows)]) + "\n", "utf-8")
    return pv.read(str(path), quasi=["job", "city"], sensitive="ill")


def job_and_city() -> list[tuple[str, ...]]:
    """Everybody in T and U, half of them with hiv; five with hiv in A and V."""
    rows: list[tuple[str, ...]] = [("T", "U", "hiv"), ("T", "U", "ok")] * 5
    rows += [("A", "V", "hiv")] * 5
    for cell in product("ABC", "VWX"):
        rows += [(*cell, "ok")] * 10
    return rows


def promise(limit: str = "1/2", *known: str) -> pv.Promise:
    return pv.Promise(
        pv.Linker(knows=list(known or ("job", "city"))),
        pv.Ceiling(limit),
        {"ill": "hiv"},
    )


def show(table: pv.Table, name: str, **columns: ShownColumn) -> ReleaseOutline:
    return ReleaseOutline(name, "table", "rows", columns, more={})


S = ShownColumn()


def judge(
    table: pv.Table, releases: Sequence[ReleaseOutline], *accepted: Accepted
) -> Finding:
    """What somebody learns who has all of these, by the counts of the engine."""
    questions = joint_counts.ask_promises([promise()], table)
    rows = joint_counts.count_rows(table, releases, questions, Run())
    (found,) = judge_together(releases, questions, rows)
    return accept_matching(found, "ill", accepted).to_finding()


def test_files_alone_break_what_matching_kept(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", job_and_city(), "job,city,ill")
    releases = [show(table, "jobs", job=S, ill=S), show(table, "cities", city=S, ill=S)]
    found = judge(table, releases)
    assert (Verdict.BREACH, Basis.EXACT) == (found.verdict, found.basis)
    assert found.belief is not None
    assert Fraction(19, 21) == found.belief.posterior
    assert "1/2" == found.details["matching"]
    assert found.witness is not None
    assert {"job": "T", "city": "U"} == found.witness.knows
    told = [{"release": r, "count": 5, "of": 10} for r in ("jobs", "cities")]
    assert told == found.details["files"]


def test_matching_alone_is_open_until_it_is_accepted(tmp_path: Path) -> None:
    cells = [("p", "x", "hiv"), ("p", "y", "ok"), ("q", "x", "ok"), ("q", "y", "hiv")]
    table = write_table(tmp_path / "t.csv", cells, "job,city,ill")
    releases = [show(table, "jobs", job=S, ill=S), show(table, "cities", city=S, ill=S)]
    found = judge(table, releases)
    assert Verdict.UNDECIDED is found.verdict
    assert "would hold 100 %; the files alone give 50 %" in found.note
    entry = Accepted("ill", "matching", 2, why="rows are shuffled")
    again = judge(table, releases, entry)
    assert Verdict.SAFE is again.verdict
    assert again.note.endswith("Accepted: rows are shuffled")
    still = judge(table, releases, Accepted("ill", "matching", 1, why="no"))
    assert Verdict.UNDECIDED is still.verdict


def custody(
    folder: Path, table: pv.Table, recipe: Recipe | None, **more: object
) -> str:
    from privet.release.custody_record import describe_table

    folder.mkdir()
    record = {
        "custody": 1,
        **describe_table(table),
        "recipe": None if recipe is None else recipe.to_dict(),
        **more,
    }
    (folder / "custody.json").write_text(json.dumps(record), "utf-8")
    return str(folder)


def test_counts_and_cuts_come_from_the_engine(tmp_path: Path) -> None:
    rows = [("17", "x", "hiv"), ("40", "x", "ok"), ("70", "y", "ok"), ("18", "y", "ok")]
    table = write_table(tmp_path / "t.csv", rows, "job,city,ill")
    cut = outline_table(table, Recipe({"job": Cut(("18",))}), name="c", rows="r")
    assert (("17", "18"), ("40", "70")) == cut.columns["job"].merged
    question = joint_counts.ask_promises([promise()], table)
    found = joint_counts.count_rows(table, [cut], question)
    values = [found.list_values(c) for c in found.columns]
    told = {
        tuple(v[c] for v, c in zip(values, row, strict=True)): n
        for row, n in found.rows.items()
    }
    assert {
        ("17", "x", "hiv"): 1,
        ("40", "x", "ok"): 1,
        ("40", "y", "ok"): 1,
        ("17", "y", "ok"): 1,
    } == told


def test_too_many_combinations_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint_counts, "MOST_COMBINATIONS", 3)
    table = write_table(tmp_path / "t.csv", job_and_city(), "job,city,ill")
    releases = [show(table, "jobs", job=S, ill=S), show(table, "cities", city=S, ill=S)]
    with pytest.raises(pv.TooLarge, match="At most 3 combinations"):
        judge(table, releases)


def publish(table: pv.Table, *earlier: Path, method: object = None) -> None:
    policy = pv.Policy(promise(), earlier=[str(e) for e in earlier])
    pv.publish(table, policy, method=method)  # type: ignore[call-overload]


def test_what_is_no_earlier_table_is_refused_in_words(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", job_and_city(), "job,city,ill")
    with pytest.raises(pv.InputError, match="must exist; it does not"):
        publish(table, tmp_path / "gone")
    with pytest.raises(pv.InputError, match="must exist; it does not"):
        publish(table, tmp_path / "gone", method=pv.Mondrian())
    custody(tmp_path / "groups", table, None)
    with pytest.raises(pv.InputError, match="must say what it shows"):
        publish(table, tmp_path / "groups")
    views = tmp_path / "views"
    views.mkdir()
    (views / "custody.json").write_text('{"custody": 1}', "utf-8")
    with pytest.raises(pv.InputError, match="must say what it shows"):
        publish(table, views)
    (views / "custody.json").write_text('{"custody"', "utf-8")
    with pytest.raises(pv.InputError, match="cannot be read as one"):
        publish(table, views)
