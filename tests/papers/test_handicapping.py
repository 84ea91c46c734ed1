"""Wang, Fung, Yu 2007: the bank table and what they say of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

import privet as pv
from privet.demo.tables import bank_path

pytestmark = pytest.mark.engines


@pytest.fixture
def bank() -> pv.Table:
    return pv.read(
        str(bank_path()),
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
        weight="count",
    )


def test_example_1_traders_in_the_uk(bank: pv.Table) -> None:
    promise = pv.Promise(
        against=pv.Linker(knows=["job", "country"]),
        about={"bankruptcy": "Discharged"},
        limit=pv.Ceiling("1/2"),
    )
    audit = pv.audit(bank, [promise])
    assert not audit.safe
    assert pv.Belief(Fraction(5, 24), Fraction(4, 5)) == audit.worst.belief
    assert {"job": "Trader", "country": "UK"} == dict(audit.worst.witness.knows)
    assert (4, 5) == (audit.worst.witness.part, audit.worst.witness.whole)
    assert (
        "Someone who knows that a person's job is Trader and country is UK can be 80 % "
        "sure (4 of 5 rows) that bankruptcy is Discharged. Without that, 20.8 % "
        "(5 of 24). Too few rows to tell whether child follows."
        == audit.worst.explain()
    )


@pytest.mark.parametrize(
    ("level", "verdict"), [("4/5", "safe"), ("0.75", "breach"), (0.8, "safe")]
)
def test_example_2_the_limit_decides(
    bank: pv.Table, level: object, verdict: str
) -> None:
    promises = [
        pv.Promise(pv.Linker(known), pv.Ceiling(level), {"bankruptcy": "Discharged"})
        for known in (["job", "country"], ["job", "country", "child", "rating"])
    ]
    found = pv.audit(bank, promises)
    assert [verdict] * 2 == [f.verdict for f in found.findings]
    assert verdict == found.verdict


def test_example_3_two_templates_at_one_half(bank: pv.Table) -> None:
    templates = [
        pv.Promise(pv.Linker(k), pv.Ceiling("1/2"), {"bankruptcy": "Discharged"})
        for k in (["job", "country"], ["job", "child"])
    ]
    found = pv.audit(bank, templates).findings
    assert [Fraction(4, 5), Fraction(2, 3)] == [f.belief.posterior for f in found]
    assert ["breach", "breach"] == [f.verdict.value for f in found]


def test_a_table_of_everybody_alike_has_the_prior(bank: pv.Table) -> None:
    """Section 3: the most suppressed table has the least confidence, 5 of 24."""
    assert (
        Fraction(5, 24)
        == pv.belief(bank, pv.Linker([]), {"bankruptcy": "Discharged"}).posterior
    )


def test_the_suppressed_table_is_safe_at_75_percent() -> None:
    """Table 2: Trader and Clerk, UK and Canada hidden; ⊥ is a value like others."""
    import pyarrow as pa

    rows = [
        ("Cook", "US", "No", "Current", 4),
        ("Artist", "France", "No", "Current", 4),
        ("Doctor", "US", "Yes", "Never", 6),
        ("⊥", "⊥", "No", "Never", 5),
        ("⊥", "⊥", "No", "Discharged", 5),
    ]
    names = ["job", "country", "child", "bankruptcy", "count"]
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    with pv.read(table, quasi=names[:3], sensitive=names[3], weight="count") as people:
        found = pv.belief(
            people, pv.Linker(["job", "country"]), {"bankruptcy": "Discharged"}
        )
    assert pv.Belief("5/24", "1/2") == found


def test_theorem_3_1_more_columns_never_lower_the_confidence(bank: pv.Table) -> None:
    chain = [[], ["job"], ["job", "country"], ["job", "country", "child"]]
    found = [
        pv.belief(bank, pv.Linker(k), {"bankruptcy": "Discharged"}).posterior
        for k in chain
    ]
    assert [Fraction(5, 24), Fraction(2, 3), Fraction(4, 5), Fraction(4, 5)] == found


def test_any_two_columns_the_worst_pair_is_named(bank: pv.Table) -> None:
    found = pv.audit(
        bank,
        pv.Promise(
            pv.Linker(knows_any=2), pv.Ceiling("1/2"), {"bankruptcy": "Discharged"}
        ),
    ).worst
    assert {"job": "Trader", "country": "UK"} == dict(found.witness.knows)
