"""Promises that no grouping keeps: what not even one group of everybody reaches."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privet.errors import Infeasible
from privet.languages import (
    join_words,
)
from privet.microdata.skyline.evidence import sway
from privet.policy import Measure, Promise
from privet.values.beliefs import Ceiling
from privet.values.exact import percent


def infeasible_measure(measure: Measure) -> Infeasible:
    """What no grouping reaches."""
    return Infeasible(
        f"Measure {measure.name!r} cannot be reached by grouping: one group of "
        "everybody does not.",
        promise=measure,
        advice=["Ask for less, or merge values of the sensitive column."],
    )


def refuse_infeasible(
    broken: Sequence[tuple[Any, Any]], least: int, people: int
) -> None:
    """Raise where even one group of everybody breaks a promise."""
    if people < least:
        raise Infeasible(
            f"Groups of {least} people cannot be made: there are only {people}.",
            best=people,
            advice=["Collect more rows, or lower k_anonymity."],
        )
    if not broken:
        return
    raise describe_infeasible(broken)


def describe_infeasible(broken: Sequence[tuple[Any, Any]]) -> Infeasible:
    """What even one group of everybody breaks; evidence is added to beliefs."""
    kept = [
        (rule, sway(belief, rule.evidence))
        for rule, belief in broken
        if not isinstance(rule.promise, Measure)
    ]
    if not kept:
        return infeasible_measure(broken[0][0].promise)
    lines = [
        f"Promise {rule.promise.name!r} cannot be kept by grouping: even in one "
        f"group of everybody the belief is {belief} ({percent(belief)})."
        for rule, belief in kept
    ]
    rule, belief = max(kept, key=lambda b: b[1])
    knows = rule.point != (0, 0, 0) or rule.evidence > 1
    return Infeasible(
        "\n".join(lines),
        promise=rule.promise,
        best=belief,
        advice=[
            advise_limit(rule.promise, belief),
            "Leave the sensitive column out, or merge its values.",
            *(["Let the insider know less."] if knows else []),
        ],
    )


def refuse_beside(rule: Any, beside: Sequence[str], belief: Fraction) -> Infeasible:
    """That not even one group of everybody keeps a promise, by columns beside it."""
    named = join_words(beside)
    return Infeasible(
        f"Promise {rule.promise.name!r} cannot be kept by grouping: even in one group "
        f"of everybody who knows {named} holds a belief of {belief} "
        f"({percent(belief)}), and groups show {named} as in the table.",
        promise=rule.promise,
        best=belief,
        advice=[
            f"Declare {named} as quasi, so that groups blur it, or drop it.",
            advise_limit(rule.promise, belief),
        ],
    )


def advise_limit(promise: Promise | Measure, belief: Fraction) -> str:
    """A limit that could be kept, if any can."""
    limit = promise.limit if isinstance(promise, Promise) else None
    if not (isinstance(limit, Ceiling) and limit.strict):
        return f"Raise the limit to at least {belief}."
    return f"Raise the limit above {belief}." if belief < 1 else "Say at_most = 1."
