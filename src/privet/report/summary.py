"""A finding or an audit as one plain dictionary; everything shown comes from it."""

from __future__ import annotations

from typing import Any

from privet.findings import Audit, Finding
from privet.languages import say, translate
from privet.policy import Measure
from privet.policy.acceptance import Uncovered
from privet.report import words


def finding(found: Finding) -> dict[str, Any]:
    """One finding; probabilities are fractions in text."""
    belief = found.belief
    return {
        "promise": found.promise.name,
        **_split_promise(found.promise.to_dict()),
        "verdict": found.verdict.value,
        "basis": found.basis.value if found.basis else None,
        "prior": str(belief.prior) if belief else None,
        "posterior": str(belief.posterior) if belief else None,
        "at_least": None if found.at_least is None else str(found.at_least),
        "limit": _limit_as_dict(found),
        "measured": None if found.value is None else str(found.value),
        "witness": found.witness.to_dict() if found.witness else None,
        "groups": found.groups,
        "groups_above": found.groups_above,
        "people_above": found.people_above,
        "promised": _describe_promise(found),
        "figures": words.format_figures(found),
        "words": words.explain(found),
        "beyond": words.describe_beyond(found),
        "note": translate(found.note),
        "details": dict(found.details),
    }


def _describe_promise(found: Finding) -> str:
    if isinstance(found.promise, Uncovered):
        return say("nothing")
    return words.describe_promise(found.promise)


def _split_promise(promise: dict[str, Any]) -> dict[str, Any]:
    """The adversary with what it knows, and what the promise is about."""
    if "against" not in promise:
        return {"against": None, "about": promise.get("about")}
    limits = ("at_most", "below", "from", "to", "within", "exactly")
    apart = ("name", "against", "about", *limits)
    known = {k: v for k, v in promise.items() if k not in apart}
    against = {"kind": promise["against"], **known}
    return {"against": against, "about": promise.get("about")}


def _limit_as_dict(found: Finding) -> dict[str, Any]:
    if isinstance(found.promise, Uncovered):
        return {}
    if isinstance(found.promise, Measure):
        stated = found.promise.to_dict()
        return {k: v for k, v in stated.items() if k != "name"}
    return found.promise.limit.to_dict()


def audit(found: Audit) -> dict[str, Any]:
    """The whole audit."""
    return {
        "verdict": found.verdict.value,
        "headline": words.write_headline(found),
        "title": found.title,
        "findings": _number_same_names(
            [finding(f) for f in (*found.findings, *found.uncovered)]
        ),
        "exposure": _summarise_exposure(found),
        "history": None if found.history is None else found.history.to_dict(),
        "notes": [translate(note) for note in found.notes],
        "advice": words.advise(found),
        "reach": words.describe_reach(found),
        "sensitive": translate(words.SENSITIVE),
    }


def _summarise_exposure(found: Audit) -> dict[str, Any] | None:
    """Of how many people something is told; in numbers, and in words."""
    told = found.exposure
    return None if told is None else {**told.to_dict(), "words": told.explain()}


def _number_same_names(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A policy has no two promises of one name; a list of promises may."""
    seen: dict[str, int] = {}
    for found in findings:
        name = found["promise"]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            found["promise"] = f"{name} ({seen[name]})"
    return findings
