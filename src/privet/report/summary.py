"""A finding or an audit as one plain dictionary; everything shown comes from it."""

from __future__ import annotations

from typing import Any

from privet import exact
from privet.finding import Audit, Finding
from privet.policy import Measure
from privet.report import words


def finding(found: Finding) -> dict[str, Any]:
    """One finding; probabilities are fractions in text."""
    stated = found.promise.to_dict()
    belief, measure = found.belief, isinstance(found.promise, Measure)
    return {
        "promise": found.promise.name,
        "against": None if measure else _adversary(found),
        "about": stated.get("about"),
        "verdict": found.verdict.value,
        "basis": found.basis.value if found.basis else None,
        "prior": str(belief.prior) if belief else None,
        "posterior": str(belief.posterior) if belief else None,
        "limit": _limit(found),
        "measured": None if found.value is None else str(found.value),
        "witness": found.witness.to_dict() if found.witness else None,
        "groups": found.groups,
        "groups_above": found.groups_above,
        "people_above": found.people_above,
        "promised": words.promised(found.promise),
        "words": found.explain(),
        "beyond": words.beyond(found),
        "note": found.note,
    }


def _adversary(found: Finding) -> dict[str, Any]:
    assert not isinstance(found.promise, Measure)
    return found.promise.against.to_dict()


def _limit(found: Finding) -> dict[str, Any]:
    if isinstance(found.promise, Measure):
        return {found.promise.kind: int(found.promise.level)}
    return found.promise.limit.to_dict()


def audit(found: Audit) -> dict[str, Any]:
    """The whole audit."""
    return {
        "verdict": found.verdict.value,
        "headline": words.headline(found),
        "title": found.title,
        "findings": [f.to_dict() for f in found.findings],
        "notes": list(found.notes),
        "advice": words.advice(found),
        "reach": words.reach(found),
        "sensitive": words.SENSITIVE,
    }


def shown_percent(text: str | None) -> str:
    """A fraction in text as people read it; nothing for nothing."""
    return "" if text is None else exact.percent(exact.fraction(text))
