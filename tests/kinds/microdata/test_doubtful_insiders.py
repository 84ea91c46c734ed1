"""Insiders who are only fairly sure, and evidence: audits, releases, refusals."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest

import privet as pv

TWO = [{"flu": 3, "aids": 2, "cancer": 4}, {"flu": 2, "cold": 5, "aids": 3}]


@pytest.fixture(scope="module")
def patients() -> pv.Table:
    dice = random.Random(7)
    ills = ["flu", "cold", "aids", "cancer", "none"]
    rows = [
        {
            "age": dice.randint(20, 60),
            "zip": dice.choice("abcdefgh"),
            "ill": dice.choices(ills, [4, 3, 1, 2, 6])[0],
        }
        for _ in range(400)
    ]
    return pv.read(pd.DataFrame(rows), quasi=["age", "zip"], sensitive="ill")


def test_half_sure_lies_between_knowing_and_not() -> None:
    groups = pv.Groups.from_histograms([{"s": 2, "x": 4, "y": 2}])
    about = {"value": "s"}
    found = [
        pv.belief(groups, pv.Insider(rules_out=1, sure=p), about).posterior
        for p in ("1/1000000", "1/2", "1")
    ]
    # Of x 4 people stay, 2 of them, and none: 2/8, 2/6, 2/4.
    assert Fraction(1, 3) == found[1]
    assert Fraction(1, 2) == found[2]
    assert abs(found[0] - Fraction(1, 4)) < Fraction(1, 10**6)


def test_a_value_ruled_out_by_name_may_be_the_victims() -> None:
    groups = pv.Groups.from_histograms([{"s": 8, "x": 1, "y": 1}])
    who = pv.Insider(rules_out=["s"], sure="3/4")
    assert Fraction(2, 4) == pv.belief(groups, who, {"value": "s"}).posterior
    certain = pv.Insider(rules_out=["s"], sure=1)
    assert 0 == pv.belief(groups, certain, {"value": "s"}).posterior


def test_the_witness_says_how_sure() -> None:
    who = pv.Insider(rules_out=2, sure=["0.9", "1/3"], knows_others=1, same_as=1)
    promise = pv.Promise(who, pv.Ceiling(below="0.8"))
    found = pv.audit(pv.Groups.from_histograms(TWO), promise).findings[0]
    assert found.verdict is pv.Verdict.BREACH
    assert found.witness is not None
    assert found.witness.attack.recount() == found.belief.posterior
    assert "neither aids (of which they are 90 % sure) nor flu" in found.explain()
    assert ["9/10", "1/3"] == found.to_dict()["witness"]["attack"]["sure"]


@pytest.mark.parametrize(
    ("limit", "verdict", "basis"),
    [
        ("4/5", "safe", "bound"),
        ("3/5", "undecided", "bound"),
        ("2/5", "breach", "exact"),
    ],
)
def test_evidence_acquits_and_never_accuses(
    limit: str, verdict: str, basis: str
) -> None:
    """1/2 before, 3/4 at most with evidence of ratio 3."""
    promise = pv.Promise(pv.Insider(evidence=3), pv.Ceiling(limit))
    found = pv.audit(pv.Groups.from_histograms(TWO), promise).findings[0]
    assert (verdict, basis) == (found.verdict.value, found.basis.value)
    assert (
        Fraction(3, 4)
        == pv.belief(pv.Groups.from_histograms(TWO), pv.Insider(evidence=3)).posterior
    )
    assert "would make them at most 75 % sure" in found.explain()


WHO = [
    pv.Insider(rules_out=2, sure="0.9"),
    pv.Insider(rules_out=2, sure=["0.9", "0.5"], knows_others=2, same_as=1),
    pv.Insider(rules_out=1, evidence=2),
]
HOW = [pv.Mondrian(), pv.Mondrian(same_cuts=True), pv.FullDomain(suppress="0.05")]


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("method", HOW)
def test_releases_keep_the_promise_and_are_recounted(
    patients: pv.Table, tmp_path: Path, who: pv.Insider, method: object
) -> None:
    promise = pv.Promise(who, pv.Ceiling(below="0.85"))
    release = pv.publish(patients, [promise], method=method)
    assert release.safe
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    found = pv.verify(tmp_path / "out")
    assert () == found.problems
    assert found.audit.safe
    assert release.audit.findings[0].belief == found.audit.findings[0].belief


@pytest.mark.parametrize("who", WHO)
def test_what_one_group_breaks_is_infeasible(
    patients: pv.Table, who: pv.Insider
) -> None:
    (everybody,) = pv.read(_whole(patients), sensitive="ill").groups().histograms()
    one = pv.Groups.from_histograms([everybody])
    best = pv.belief(one, who).posterior
    with pytest.raises(pv.Infeasible) as caught:
        pv.publish(
            patients, [pv.Promise(who, pv.Ceiling(below=best))], method=pv.Mondrian()
        )
    assert best == caught.value.best
    assert f"Raise the limit above {best}." in caught.value.advice


def _whole(table: pv.Table) -> pd.DataFrame:
    counted = table.groups()
    rows = [v for h in counted.histograms() for v, n in h.items() for _ in range(n)]
    return pd.DataFrame({"ill": rows})


def test_doubts_are_refused_where_they_are_not_weighed() -> None:
    lists = pd.DataFrame({"a": [1, 1, 2], "ill": [["x"], ["y", "x"], ["z"]]})
    table = pv.read(lists, quasi="a", sensitive="ill")
    with pytest.raises(pv.NoAudit, match="several values each"):
        pv.belief(table, pv.Insider(rules_out=1, sure="1/2"))
    pay = pd.DataFrame({"a": [1, 1, 2], "pay": [10, 20, 30], "home": [*"hhi"]})
    table = pv.read(pay, quasi="a", sensitive="pay", identifier="home")
    about = {"pay": {"within": 5}}
    with pytest.raises(pv.NoAudit, match=r"within a window: .* at least as sure"):
        pv.belief(table, pv.Insider(rules_out=1, sure="1/2"), about)
    with pytest.raises(pv.NoAudit, match="not counted there who belongs together"):
        pv.belief(table, pv.Insider(households="home"), about)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"sure": "1/2"}, "one probability, or one for each"),
        ({"rules_out": 3, "sure": ["1/2", "1/3"]}, "got 2 for 3"),
        ({"rules_out": 1, "sure": 0}, "must be above 0"),
        ({"rules_out": 1, "sure": 2}, "sure must lie between"),
        ({"rules_out": 1, "sure": "1/2", "victim": "Ann"}, "where a victim is named"),
        ({"evidence": "1/2"}, "at least 1"),
        ({"members": "exclude"}, "must go with households"),
        ({"households": "h", "members": "hate"}, "members must be"),
        ({"households": "h", "members": 3}, "members must be"),
        ({"households": "h", "members": {"pairs": {}}}, "pairs must be"),
        (
            {"households": "h", "members": {"pairs": {"a": {"b": 0}, "b": {"a": 1}}}},
            "must have one weight",
        ),
        ({"households": "h", "members": "exclude", "same_as": 1}, "must be 0 unless"),
        ({"households": "h", "victim": "Ann"}, "where a victim is named"),
        ({"households": 3}, "must be a name"),
    ],
)
def test_insiders_refuse_nonsense(keys: dict, words: str) -> None:
    with pytest.raises(pv.InputError, match=words):
        pv.Insider(**keys)


def test_more_than_there_is_may_be_known() -> None:
    """Nobody counts ten million doubts one by one."""
    groups = pv.Groups.from_histograms(TWO)
    who = pv.Insider(rules_out=10**9, sure="1/2", knows_others=10**12, same_as=10**12)
    assert 1 == pv.belief(groups, who).posterior
