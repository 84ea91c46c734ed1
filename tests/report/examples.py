"""Findings made by hand, for reports to show."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privet import (
    Audit,
    Basis,
    Belief,
    Ceiling,
    Finding,
    Linker,
    Measure,
    Promise,
    Verdict,
    Witness,
)

TRADER = Witness(
    {"job": "Trader", "country": "UK"}, "bankruptcy", "Discharged", 4, 5, 5, 24
)


def promise(name: str = "nobody learns a discharge", **keys: Any) -> Promise:
    keys = {"against": Linker(["job", "country"]), "limit": Ceiling("1/2"), **keys}
    return Promise(**{"about": {"bankruptcy": "Discharged"}, **keys}, name=name)


def judged(witness: Witness = TRADER, **keys: Any) -> Finding:
    """A promise that was judged by its witness; keys go to the finding or promise."""
    own = {
        k: keys.pop(k) for k in ("groups", "groups_above", "people_above") if k in keys
    }
    stated = promise(**keys)
    kept = stated.limit.holds(witness.belief)
    return Finding(
        stated,
        Verdict.SAFE if kept else Verdict.BREACH,
        Basis.EXACT,
        witness.belief,
        witness,
        **own,
    )


def undecided(name: str = "later") -> Finding:
    return Finding(promise(name), Verdict.UNDECIDED, note="The time limit ran out.")


def not_applicable(name: str = "elsewhere") -> Finding:
    return Finding(promise(name), Verdict.NOT_APPLICABLE, note="It looks elsewhere.")


def measured(size: int, level: int = 5, **keys: Any) -> Finding:
    return Finding(
        Measure(k_anonymity=level),
        Verdict.SAFE if size >= level else Verdict.BREACH,
        Basis.EXACT,
        value=Fraction(size),
        witness=Witness({"job": "Judge"}, "", None, size, size, 0, 1),
        **keys,
    )


def audit(*findings: Finding, **keys: Any) -> Audit:
    return Audit(findings, **keys)


def nobody() -> Finding:
    """A promise about a value that never occurs."""
    return Finding(promise("rare"), Verdict.SAFE, Basis.EXACT, Belief(0, 0), groups=3)
