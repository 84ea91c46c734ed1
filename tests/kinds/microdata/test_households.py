"""Promises about households: audits, releases that keep them, and what stays open."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import privet as pv
from privet.cli import cli

ILLS = ["flu", "cold", "aids", "cancer", "none"]


def make_people(seed: int, people: int = 300) -> pd.DataFrame:
    dice, rows, home = random.Random(seed), [], 0
    while len(rows) < people:
        home += 1
        ill = dice.choices(ILLS, [4, 3, 1, 2, 6])[0]
        rows += [
            {
                "age": dice.randint(20, 60),
                "zip": dice.choice("abcdefgh"),
                "home": f"canary{home}" if dice.random() < 0.9 else None,
                "ill": ill if dice.random() < 0.6 else dice.choice(ILLS),
            }
            for _ in range(dice.randint(1, 3))
        ]
    return pd.DataFrame(rows)


def read(frame: pd.DataFrame, **roles: object) -> pv.Table:
    given = {"identifier": "home", "quasi": ["age", "zip"], "sensitive": "ill"}
    return pv.read(frame, **{**given, **roles})


def promise(limit: str = "0.9", **known: object) -> pv.Promise:
    who = pv.Insider(households="home", **known)
    return pv.Promise(who, pv.Ceiling(below=limit), name="families")


TWO = pd.DataFrame(
    {
        "home": ["x", "y", "x", "z", "z"],
        "age": [1, 1, 2, 2, 2],
        "ill": ["a", "b", "a", "a", "b"],
    }
)


def test_the_vector_of_the_specification() -> None:
    """{a, b} and {a: 2, b: 1}, a member in each: 2/3; as one group 3/4."""
    who = pv.Insider(households="home")
    frame = TWO[TWO.home != "none"].assign(home=["x", None, "x", None, None])
    apart = read(frame, quasi="age")
    assert Fraction(2, 3) == pv.belief(apart, who, {"ill": "a"}).posterior
    merged = read(frame.drop(columns="age"), quasi=())
    assert Fraction(3, 4) == pv.belief(merged, who, {"ill": "a"}).posterior


def test_the_witness_is_a_household_in_words() -> None:
    frame = pd.DataFrame(
        {
            "home": ["x", None, None, "x", None, None, "w", "w"],
            "age": [1, 1, 1, 2, 2, 2, 3, 3],
            "ill": list("aabaabcd"),
        }
    )
    about = {"ill": "a"}
    who = pv.Insider(households="home")
    asked = pv.Promise(who, pv.Ceiling(below="0.6"), about)
    found = pv.audit(read(frame, quasi="age"), asked).findings[0]
    assert found.verdict is pv.Verdict.BREACH
    attack = found.witness.attack
    assert attack.recount() == found.belief.posterior == Fraction(4, 5)
    words = found.explain()
    assert "that they have the same home as one other whose age is" in words
    assert "that all of them share one ill" in words
    told = found.to_dict()
    assert {"households": 2, "beyond": 1, "people": 2, "contradicted": 1} == (
        told["details"]["households"]
    )
    assert ["home", "share", [1, 1]] == [
        told["witness"]["attack"][k] for k in ("households", "relation", "members")
    ]


def test_who_belongs_to_nobody_is_judged_as_ever() -> None:
    frame = TWO.assign(home=None)
    plain = pv.belief(read(frame, quasi="age"), pv.Insider())
    assert plain == pv.belief(read(frame, quasi="age"), pv.Insider(households="home"))


def test_a_column_that_is_not_there_leaves_the_promise_open() -> None:
    table = read(TWO.drop(columns="home"), identifier=(), quasi="age")
    found = pv.audit(table, promise()).findings[0]
    assert found.verdict is pv.Verdict.UNDECIDED
    assert "It is judged on the private table" in found.note
    with pytest.raises(pv.NoAudit, match="is not in"):
        pv.belief(table, pv.Insider(households="home"))


def test_blurred_columns_are_refused() -> None:
    table = read(TWO, identifier=(), quasi=["age", "home"])
    found = pv.audit(table, promise()).findings[0]
    assert found.verdict is pv.Verdict.UNDECIDED
    assert "Declare it as an identifier" in found.note
    with pytest.raises(pv.NoAudit, match="who belongs together"):
        pv.belief(pv.Groups.from_histograms([{"a": 1}]), pv.Insider(households="home"))


def test_large_households_leave_the_promise_open() -> None:
    values = [f"v{i}" for i in range(20)]
    frame = pd.DataFrame({"age": 1, "ill": values, "home": ["h"] * 13 + [None] * 7})
    found = pv.audit(read(frame, quasi="age"), promise(members="exclude")).findings[0]
    assert found.verdict is pv.Verdict.UNDECIDED
    assert "at most 12" in found.note


def test_people_known_besides_make_a_bound() -> None:
    table = read(make_people(1), quasi=())
    found = pv.audit(table, promise("0.99", knows_others=1)).findings[0]
    assert (found.verdict.value, found.basis.value) == ("safe", "bound")
    exact = pv.belief(table, pv.Insider(households="home")).posterior
    assert exact == found.at_least <= found.belief.posterior
    assert found.witness is None
    assert str(exact) in found.note


# Releases -----------------------------------------------------------------------------

KNOWN = [
    {},
    {"members": {"alike": "0.8"}, "rules_out": 1, "sure": "1/2"},
    {"members": "exclude"},
    {"knows_others": 1},
    {"evidence": 2},
]


def recount(release: pv.Release, frame: pd.DataFrame, asked: pv.Promise) -> Fraction:
    """Who is in which group, by the labels that were written; judged as a table."""
    cells = release.grouped.partition
    number: dict[tuple, int] = {}
    for g in range(len(cells)):
        start, stop, _ = cells.leaves[g].tolist()
        for row in cells.cells[start:stop]:
            known = [a.texts[row[d]] for d, a in enumerate(cells.attributes)]
            number[tuple(known)] = g
    names = [a.name for a in cells.attributes]
    look = [
        tuple(
            labels.texts[labels.of[number[tuple(map(str, key))]]]
            for labels in cells.labels
        )
        for key in frame[names].itertuples(index=False)
    ]
    shown = frame.assign(group=[str(x) for x in look])[["group", "home", "ill"]]
    table = pv.read(shown, identifier="home", quasi="group", sensitive="ill")
    return pv.audit(table, asked, exposure=False).findings[0].belief.posterior


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("seed", range(2))
def test_mondrian_undoes_splits_until_households_hold(seed: int, known: dict) -> None:
    frame = make_people(seed)
    asked = promise("0.85", **known)
    release = pv.publish(read(frame), [asked], method=pv.Mondrian())
    assert release.safe
    found = release.audit.findings[0]
    assert asked.limit.holds(found.belief)
    assert recount(release, frame, asked) == found.belief.posterior
    if release.ended == "households":
        assert "groups might be split otherwise" in pv_text(release)


def pv_text(release: pv.Release) -> str:
    from privet.microdata.report import as_text, summarise_release

    return as_text(summarise_release(release))


@pytest.mark.parametrize("form", ["generalised", "buckets"])
def test_what_recipients_cannot_count_is_undecided(form: str, tmp_path: Path) -> None:
    asked = [promise(), pv.Promise(pv.Insider(), pv.Ceiling(below="0.9"), name="all")]
    release = pv.publish(read(make_people(3)), asked, method=pv.Mondrian(form=form))
    assert release.safe
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    stated = json.loads((tmp_path / "out" / "release.json").read_text())["promises"]
    assert ["undecided", "safe"] == [p["verdict"] for p in stated]
    assert "worst" not in stated[0]
    found = pv.verify(tmp_path / "out", custody=tmp_path / "vault")
    assert () == found.problems
    assert not found.good
    assert found.open
    assert found.audit.verdict is pv.Verdict.UNDECIDED
    kept = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert ["safe"] == [f["verdict"] for f in kept["households"]]
    told = CliRunner().invoke(cli, ["verify", str(tmp_path / "out")])
    assert 3 == told.exit_code
    assert "? Undecided: the release is what its manifest says" in told.output
    assert "is not in" in told.output
    public = b"".join(f.read_bytes() for f in (tmp_path / "out").iterdir())
    assert b"canary" not in public


def test_a_released_column_is_recounted(tmp_path: Path) -> None:
    frame = make_people(4)
    frame["home"] = [f"h{i % 50}" for i in range(len(frame))]
    table = read(frame, identifier=(), other="home")
    asked = promise(members={"alike": "0.6"})
    accepted = pv.publish(table, [asked], method=pv.Mondrian())
    accepted = accepted.accept({"ill": "the families agreed"})
    accepted.write(tmp_path / "out", custody=tmp_path / "vault")
    found = pv.verify(tmp_path / "out")
    assert () == found.problems
    assert found.audit.findings[0].verdict is pv.Verdict.SAFE


def test_what_everybody_breaks_is_infeasible() -> None:
    whole = read(make_people(5), quasi=())
    best = pv.belief(whole, pv.Insider(households="home")).posterior
    assert pv.belief(whole, pv.Insider()).posterior < best
    with pytest.raises(pv.Infeasible, match="one group of everybody") as caught:
        pv.publish(read(make_people(5)), [promise(str(best))], method=pv.Mondrian())
    assert best == caught.value.best


@pytest.mark.parametrize("method", [pv.Mondrian(same_cuts=True), pv.FullDomain()])
def test_other_methods_judge_households_in_the_end(method: object) -> None:
    table = read(make_people(6))
    with pytest.raises(pv.Infeasible) as caught:
        pv.publish(table, [promise("0.7")], method=method)
    assert any("undoes splits" in step for step in caught.value.advice)


def test_hidden_values_are_judged_with_the_private_column(tmp_path: Path) -> None:
    linker = pv.Promise(pv.Linker(), pv.Ceiling("0.4"), name="linkers")
    table = read(make_people(7), quasi="zip", drop="age")
    release = pv.publish(table, [promise("0.97"), linker])
    assert release.safe
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").audit.verdict is pv.Verdict.UNDECIDED
