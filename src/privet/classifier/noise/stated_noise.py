"""What is said in public of the noise on a classifier: declarations, and no counts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privet.classifier.noise.dp_noise import plan_noise
from privet.classifier.release import ClassifierViews
from privet.languages import mark, say, say_number, translate
from privet.release.manifest import is_count
from privet.values.noise.differential_privacy import NOISES, DifferentialPrivacy

VALUES_ARE = (mark("declared"), mark("selected"))
"""Where the values come from that noise was added to."""

MOST_LETTERS = 100
"""Of a number in a manifest."""


def state_privacy(noise: DifferentialPrivacy, noisy: ClassifierViews) -> dict[str, Any]:
    """What recipients are told of the noise: what was declared, and nothing else."""
    plan = plan_noise(noisy, noise)
    values = "declared" if plan.selection is None else "selected"
    return {**noise.to_public(), "noise": plan.noise, "values": values}


def is_stated(told: Any) -> bool:
    """Whether it is said how much noise there is, and for whom."""
    if not isinstance(told, dict) or not {"epsilon", "rho"} & set(told):
        return False
    numbers = [told.get(k, "1") for k in ("epsilon", "delta", "rho", "heaviest")]
    plain = is_count(told.get("rows_per_person")) and all(map(_is_number, numbers))
    kinds = told.get("noise") in NOISES and told.get("values") in VALUES_ARE
    return plain and kinds


def _is_number(text: Any) -> bool:
    try:
        return (
            isinstance(text, str) and len(text) <= MOST_LETTERS and Fraction(text) >= 0
        )
    except (ValueError, ZeroDivisionError):
        return False


def say_privacy(told: Mapping[str, Any]) -> str:
    """The same in a sentence."""
    loss = ", ".join(
        f"{k} {float(Fraction(told[k])):g}"
        for k in ("epsilon", "delta", "rho")
        if k in told
    )
    rows = told["rows_per_person"]
    several = say_number("one row", "up to {n} rows", rows)
    if told["heaviest"] != "1":
        several = say(
            "{rows} that count up to {weight} each",
            rows=several,
            weight=told["heaviest"],
        )
    return say(
        "Noise was added to the counts: {loss}, for adding or removing a "
        "person with {rows}. Everything here is made of the noisy counts, "
        "and of values that were {values}.",
        loss=loss,
        rows=several,
        values=translate(told["values"]),
    )
