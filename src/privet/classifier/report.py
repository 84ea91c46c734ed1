"""A published classifier in one plain dictionary, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from privet.classifier.attacks.mitigations import (
    MitigationCost,
    compare_mitigations,
    measure_release,
)
from privet.classifier.files import FLATTENED, list_shown
from privet.classifier.publish import ClassifierRelease, Method, read_method
from privet.classifier.transforms.extended_safety_transform import shared_prior
from privet.classifier.transforms.r_closeness import accuracy_steps
from privet.classifier.transforms.safety_transform import (
    SafetyTransform,
    bayesian_promises,
)
from privet.findings import Finding
from privet.policy import Promise
from privet.release.kinds import Sentences
from privet.report import words
from privet.report.summary import finding
from privet.values.beliefs import Ceiling
from privet.values.exact import fraction, percent

BAR = 20
"""How long the bars of a chart are."""

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
        "promises": [_compare_findings(was, now) for was, now in pairs],
        "flattened": FLATTENED,
        "reach": words.describe_reach(release.audit),
        "staircase": _list_steps(release),
        "inverter": _invert_release(release),
        "sensitive": SENSITIVE,
    }


def _list_steps(release: ClassifierRelease) -> list[dict[str, Any]]:
    """What can be predicted at which closeness to a prior of somebody's own."""
    if release.made is None or release.method == SafetyTransform().kind:
        return []
    prior = shared_prior(bayesian_promises(release.policy), release.card.labels)
    return [s.to_dict() for s in accuracy_steps(release.made.views, prior)]


def compare_release(
    release: ClassifierRelease, method: Method | None = None
) -> list[dict[str, Any]]:
    """A release, and every mitigation: what each costs, and what it leaves."""
    assert release.private is not None
    method = method or read_method(release.method, release.options)
    stated = bayesian_promises(release.policy)
    this, found = (
        _measure_release(release, method),
        compare_mitigations(release.private, stated, method),
    )
    others = found if this.setting else found[1:]  # the first has no mitigation
    return [m.to_dict() for m in (this, *others)]


def _measure_release(release: ClassifierRelease, method: Method) -> MitigationCost:
    assert release.private is not None
    return measure_release(release.private, method, list_shown(release))


def _compare_findings(before: Finding, after: Finding) -> dict[str, Any]:
    was, now = finding(before), finding(after)
    return {
        "promise": now["promise"],
        "verdict": now["verdict"],
        "limit": now["limit"],
        "ceiling": isinstance(getattr(after.promise, "limit", None), Ceiling),
        "before": was["posterior"],
        "after": now["posterior"],
        "words": now["words"],
        "note": now["note"],
    }


def _invert_release(release: ClassifierRelease) -> dict[str, Any] | None:
    """What the inverter finds; None with nothing to compare."""
    if release.private is None or release.made is None:
        return None
    method = read_method(release.method, release.options)
    return _measure_release(release, method).to_dict()


def as_text(told: Mapping[str, Any]) -> str:
    """Plain text, verdict first."""
    kept = sum(p["verdict"] == "safe" for p in told["promises"])
    lines = [f"✓ Safe: every promise about the classifier is kept ({kept})."]
    for p in told["promises"]:
        lines += ["", f"{words.escape_name(p['promise'])}"]
        if p["before"] is not None and p["after"] is not None:
            either = len(told["classes"]) == 2 and not p["ceiling"]
            before, after = (_format_belief(p[k], either) for k in ("before", "after"))
            lines.append(f"  Worst case: {before} → {after}.")
        lines.append(f"  {p['note'] or p['words']}")
    lines += ["", f"It keeps {told['keeps']}.", told["flattened"], *told["reach"]]
    if told.get("staircase"):
        lines += ["", *draw_chart(told["staircase"]), ""]
    if told["inverter"] is not None:
        lines += inverter_words(told["inverter"])
    if told.get("mitigations"):
        lines += ["", *format_mitigations(told["mitigations"])]
    return "\n".join(lines)


def inverter_words(found: Mapping[str, Any]) -> list[str]:
    """What the red team found, and what predictions changed, in sentences."""
    share, same = found["recovered"], found["agreement"]
    much = {0: "none", 1: "all"}.get(share, f"at least {_format_percent(share)}")
    said = [
        "Somebody who knows how it was made, and how many rows each class has, works "
        f"out {much} of the original counts exactly."
    ]
    if same < 1:
        said.append(
            f"It predicts as the original does for {_format_percent(same)} of people."
        )
    return said


def draw_chart(stairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The staircase: how close to the prior, and how many are predicted alike."""
    wide = max(len(", ".join(s["classes"])) for s in stairs)
    lines = [
        "The most believed class is the prediction. From this factor on, of these:"
    ]
    for s in stairs:
        full = round(BAR * s["alike"])
        lines.append(
            f"  within {s['r']:<6.4g} {', '.join(s['classes']):{wide}} "
            f"{'█' * full}{'░' * (BAR - full)} {_format_percent(s['alike']):>6} alike"
        )
    return lines


def format_mitigations(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mitigations side by side: what each costs, and what it leaves to an inverter."""
    heads = ("what is published", "predicts alike", "counts recovered")
    rows = [
        (
            f"{x['name']}{', ' if x['setting'] else ''}{x['setting']}",
            "—" if x["agreement"] is None else _format_percent(x["agreement"]),
            "—" if x["recovered"] is None else _format_percent(x["recovered"]),
        )
        for x in lines
    ]
    wide = [max(len(r[i]) for r in (heads, *rows)) for i in range(3)]
    return [
        f"{a:{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}" for a, b, c in (heads, *rows)
    ]


def _format_percent(share: float) -> str:
    """A measured share, rounded down so that all is said of all only."""
    return f"{floor(share * 1000 + 1e-9) / 10:g} %"


def _format_belief(value: str, either: bool) -> str:
    """A belief; of two classes, in the likelier one where either may be learnt."""
    found = fraction(value)
    return percent(max(found, 1 - found) if either else found)


def explain(finding: Finding) -> str:
    """What somebody makes of a published classifier."""
    w, stated = finding.witness, finding.promise
    assert w is not None
    assert isinstance(stated, Promise)
    known = (
        f" and knows that a person's {words.format_facts(w.knows)}" if w.knows else ""
    )
    return (
        f"Someone who has the classifier{known} can be "
        f"{words.format_posterior(w.belief, stated.limit)} sure that "
        f"{words.escape_name(w.column)} is "
        f"{words.format_cell(w.value)}. Before, {percent(w.belief.prior)}."
    )


SENTENCES = {
    "bayesian": Sentences(
        reach="Covered: someone who takes the published numbers of the classifier at "
        "face value, whatever they know of a person's attributes. Not covered: what "
        "the predictions themselves tell of a person; attributes other than the class; "
        "someone who knows rows of the table, or several releases of it; and someone "
        "who works out the original counts from how the release was made.",
        explain=explain,
        beyond=words.describe_groups_beyond,
        subject="classifier as it is",
        offers=lambda finding: ("Or let privet classifier flatten its numbers.",),
    ),
}
"""What is said of findings about classifiers."""
