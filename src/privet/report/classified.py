"""A published classifier in one plain dictionary, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.audits.inversion import Inverter, Recovered
from privet.exact import fraction, percent
from privet.publishers.models import ClassifierRelease
from privet.releases.classifier import ClassifierViews
from privet.releases.manifest import FLATTENED
from privet.report import words
from privet.report.summary import finding

SENSITIVE = (
    "This report tells of the private table. Keep it where the table is kept; do not "
    "send it along with a release."
)


def summary(release: ClassifierRelease) -> dict[str, Any]:
    """What was promised, reached, kept and given up."""
    before = release.before or release.audit
    pairs = zip(before.findings, release.audit.findings, strict=True)
    return {
        "verdict": release.audit.verdict.value,
        "title": release.policy.title,
        "method": release.method,
        "target": release.card.target,
        "classes": list(release.card.labels),
        "attributes": [a.name for a in release.card.attributes],
        "exponent": None if release.exponent is None else str(release.exponent),
        "keeps": release.keeps,
        "promises": [_promise(finding(was), finding(now)) for was, now in pairs],
        "flattened": FLATTENED,
        "reach": words.reach(release.audit),
        "inverter": _inverted(release),
        "sensitive": SENSITIVE,
    }


def _promise(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "promise": now["promise"],
        "verdict": now["verdict"],
        "limit": now["limit"],
        "before": was["posterior"],
        "after": now["posterior"],
        "words": now["words"],
        "note": now["note"],
    }


def _inverted(release: ClassifierRelease) -> str | None:
    """The share of counts the inverter finds; None with nothing to compare."""
    if release.private is None or release.made is None:
        return None
    return str(attacked(release.card, release.private, release.made.views)[1])


def attacked(
    card: Any, private: ClassifierViews, prepared: ClassifierViews
) -> tuple[Recovered, Any]:
    """What somebody recovers who knows the class sizes, and how much of it is right."""
    sizes = dict(zip(private.labels, map(int, private.sizes), strict=True))
    found = Inverter(sizes, smoothing=prepared.smoothing).attack(card)
    return found, found.right(private)


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    kept = sum(p["verdict"] == "safe" for p in told["promises"])
    lines = [f"✓ Safe: every promise about the classifier is kept ({kept})."]
    for p in told["promises"]:
        lines += ["", f"{words.plain(p['promise'])}"]
        if p["before"] is not None and p["after"] is not None:
            lines.append(f"  Worst case: {_share(p['before'])} → {_share(p['after'])}.")
        lines.append(f"  {p['note'] or p['words']}")
    lines += ["", f"It keeps {told['keeps']}.", told["flattened"], *told["reach"]]
    if told["inverter"] is not None:
        lines.append(inverter_words(fraction(told["inverter"])))
    return "\n".join(lines)


def inverter_words(share: Any) -> str:
    """What the red team found, in a sentence."""
    much = "all" if share == 1 else f"at least {percent(share)}"
    return (
        "Somebody who knows how it was made, and how many rows each class has, works "
        f"out {much} of the original counts exactly."
    )


def _share(value: str) -> str:
    return percent(fraction(value))
