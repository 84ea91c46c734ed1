"""Findings and audits: what may accuse, what is worst, and when to raise."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privet import (
    Audit,
    Basis,
    Belief,
    Breach,
    Ceiling,
    Finding,
    InputError,
    Linker,
    Promise,
    Verdict,
    Witness,
)

BREACH, SAFE = Verdict.BREACH, Verdict.SAFE
UNDECIDED, NONE = Verdict.UNDECIDED, Verdict.NOT_APPLICABLE


def finding(verdict: Verdict, posterior: str = "0", name: str = "x") -> Finding:
    judged = verdict in (BREACH, SAFE)
    return Finding(
        Promise(Linker(), Ceiling("1/2"), "ill", name),
        verdict,
        Basis.EXACT if judged else None,
        Belief(0, posterior) if judged else None,
        note="" if judged else "why",
    )


@pytest.mark.parametrize("basis", [None, Basis.BOUND])
def test_only_what_was_counted_or_sampled_may_accuse(basis: Basis | None) -> None:
    promise = Promise(Linker(), Ceiling("1/2"))
    with pytest.raises(InputError, match="must rest on an exact or a sampled belief"):
        Finding(promise, BREACH, basis, Belief(0, 1))
    assert SAFE is Finding(promise, SAFE, Basis.BOUND, Belief(0, 0)).verdict
    assert BREACH is Finding(promise, BREACH, Basis.SAMPLED, Belief(0, 1)).verdict


@pytest.mark.parametrize("counts", [(5, 4, 0, 1), (-1, 4, 0, 1), (1, 4, 3, 2)])
def test_a_witness_counts_parts_of_wholes(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(InputError, match="must count a part of a whole; got"):
        Witness({}, "ill", "Flu", *counts)


def test_a_witness_amounts_to_a_belief() -> None:
    belief = Witness({"job": "Cook"}, "ill", "Flu", 4, 5, 5, 24).belief
    assert Belief(Fraction(5, 24), Fraction(4, 5)) == belief


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([SAFE], SAFE),
        ([SAFE, NONE], SAFE),
        ([SAFE, UNDECIDED, NONE], UNDECIDED),
        ([UNDECIDED, BREACH, SAFE], BREACH),
        ([NONE], NONE),
    ],
)
def test_breach_over_undecided_over_safe(
    verdicts: list[Verdict], expected: Verdict
) -> None:
    audit = Audit([finding(v) for v in verdicts])
    assert expected is audit.verdict
    assert (expected is SAFE) == audit.safe


def test_the_worst_is_gravest_then_surest() -> None:
    few = [finding(SAFE, "1"), finding(BREACH, "3/5"), finding(BREACH, "4/5", "y")]
    assert "y" == Audit(few).worst.promise.name
    assert UNDECIDED is Audit([finding(SAFE, "1"), finding(UNDECIDED)]).worst.verdict


def test_an_audit_has_findings() -> None:
    with pytest.raises(InputError, match="must have findings; got none"):
        Audit([])


def test_require_safe_gives_the_audit_back() -> None:
    audit = Audit([finding(SAFE), finding(NONE)])
    assert audit is audit.require_safe()


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([BREACH, SAFE], "1 of 2 is broken: 'x0'."),
        ([BREACH, BREACH], "2 of 2 are broken: 'x0', 'x1'."),
        ([SAFE, UNDECIDED], "1 of 2 is undecided: 'x1'."),
        ([NONE], "1 of 1 is not applicable here: 'x0'."),
    ],
)
def test_require_safe_raises_what_is_not(verdicts: list[Verdict], words: str) -> None:
    audit = Audit([finding(v, name=f"x{i}") for i, v in enumerate(verdicts)])
    with pytest.raises(Breach) as caught:
        audit.require_safe()
    assert f"Every promise must be kept; {words}" == str(caught.value)
    assert {audit.verdict} == {f.verdict for f in caught.value.findings}
