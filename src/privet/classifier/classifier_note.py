"""The note that travels with a released classifier: how to use it, what is promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.classifier.noise.stated_noise import say_privacy
from privet.classifier.transforms.zero_counts import say_kept
from privet.languages import mark, say, translate
from privet.release.note import describe_limit, write_note
from privet.values.exact import fraction, percent

CARD = "scorecard.json"
"""The file that says in itself how to predict with it."""

MISSING = mark(
    "A value that is missing, or not listed, counts as what the published model "
    "expects on average; the original may predict otherwise there."
)
"""What a missing value predicts."""


def write_classifier_note(content: Mapping[str, Any]) -> str:
    """How to use it, and what is promised."""
    use = [say("{file} says in itself how to predict with it.", file=CARD)]
    use += [say("It keeps {what}.", what=say_kept(content["keeps"]))]
    use += [translate(content["flattened"]), translate(MISSING)]
    if "privacy" in content:
        use += [say_privacy(content["privacy"])]
    if "synthetic" in content:
        rows, odds = content["synthetic"]["rows"], content["synthetic"]["odds"]
        use += [
            say(
                "The {rows} synthetic rows keep the order of classes with "
                "odds over {odds} on the scorecard.",
                rows=f"{rows:,}",
                odds=odds,
            )
        ]
    covers = {c["promise"]: c for c in content.get("covers", ())}
    promised = [
        _say_promised(p, covers.get(p["name"]))
        for p in content["promises"]
        if "worst" in p
    ]
    promised += [_say_inversion(p) for p in content.get("inversion", ())]
    sections = {mark("How to use it"): use, mark("What is promised"): promised}
    if content.get("accepted"):
        sections[mark("What it tells all the same")] = [
            say(
                "No promise limits how many of the original counts can be "
                "worked out; that was accepted: {why}",
                why=a["why"],
            )
            for a in content["accepted"]
        ]
    last = [mark("Check it yourself: privet verify <this folder>")]
    return write_note(content, mark("A released classifier"), sections, last)


def _say_promised(promise: Mapping[str, Any], covered: Mapping[str, Any] | None) -> str:
    said = say(
        "{name}: {limit}; the worst case is {worst}.",
        name=promise["name"],
        limit=describe_limit(promise),
        worst=percent(fraction(promise["worst"])),
    )
    return f"{said}{_say_covered(covered)}"


def _say_inversion(promise: Mapping[str, Any]) -> str:
    level = promise.get("exactly", promise.get("below"))
    near = promise.get("near")
    told = {"name": promise["name"], "share": percent(fraction(level))}
    if near is None:
        return say(
            "{name}: at most {share} of the original counts are worked out "
            "exactly, by the best attack there was; that nobody can work out "
            "more is not proved.",
            **told,
        )
    close = {k: percent(fraction(near[k])) for k in ("at_most", "within")}
    return say(
        "{name}: at most {share} of the original counts are worked out "
        "exactly, and at most {at_most} within one or {within}, by the best "
        "attack there was; that nobody can work out more is not proved.",
        **told,
        **close,
    )


def _say_covered(covered: Mapping[str, Any] | None) -> str:
    """The same in a note, where less than everybody is covered."""
    if covered is None or "knows_all" not in covered:
        return ""
    sure = percent(fraction(covered["knows_all"]))
    return " " + say(
        "That is for {whom}; somebody who knows all attributes can be up to "
        "{sure} sure.",
        whom=covered["who"],
        sure=sure,
    )
