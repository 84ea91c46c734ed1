"""Promises against inversion: judged by the aided attack, and who must have one.

What a release tells of the original counts is measured by the best attack there is
here, told the exponent and what shares were divided by. That it gets no more than a
promise allows is no proof that nobody can; without a promise, or somebody who accepts
it by name, no classifier is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privet.classifier.attacks.inversion import (
    NEAR,
    Aid,
    InversionMeasure,
    make_inverter,
    measure_inversion,
)
from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.transforms.rounding import FlattenedCard, SyntheticTable
from privet.classifier.transforms.zero_counts import fill_zeros
from privet.engine.protocol import Run
from privet.findings import Basis, Finding, Verdict
from privet.languages import mark, say
from privet.policy import Accepted, Promise
from privet.policy.acceptance import Uncovered
from privet.release.kinds import Warn
from privet.values.adversaries import Inverter
from privet.values.beliefs import Belief

Attacked = Sequence[tuple[Any, Aid]]
"""What is shown, each with what an aided inverter is told of it."""

ELSEWHERE = mark(
    "How much of the original counts can be worked out is judged where those are kept: "
    "while it is published, and by verify with the custody record."
)


def list_attacked(
    made: FlattenedCard,
    private: ClassifierViews,
    method: Any,
    more: Sequence[SyntheticTable] = (),
) -> list[tuple[Any, Aid]]:
    """Everything a release shows; of counts, what the card behind them tells."""
    noisy = method.noise is not None and made.table is None
    prepared = made.views if noisy else _prepare(private, method)
    original = fill_zeros(prepared.scores, method.zeros)
    tables = [t for t in (made.table, *more) if t is not None]
    found: list[tuple[Any, Aid]] = [
        (t.views, Aid.of(original, t.exponent)) for t in tables
    ]
    if made.table is None:
        found.append((made.card, Aid.of(original, made.proof.exponent)))
    return found


def _prepare(private: ClassifierViews, method: Any) -> ClassifierViews:
    smooth = method.zeros == "smooth" and private.scores.has_zeros
    return private.smoothed(1) if smooth else private


def measure_release(
    attacked: Attacked,
    private: ClassifierViews,
    method: Any,
    within: Fraction = NEAR,
    *,
    only_aided: bool = False,
) -> InversionMeasure:
    """How much of the original counts a release tells."""
    smoothing = _prepare(private, method).smoothing
    who = make_inverter(private, smoothing, getattr(method, "margin", None))
    return measure_inversion(who, private, attacked, within, only_aided=only_aided)


# Promises ---------------------------------------------------------------------------


def select_inversion(promises: Sequence[Any]) -> list[Promise]:
    """The promises against an inverter that forbid something."""
    return [
        p
        for p in promises
        if isinstance(p, Promise)
        and isinstance(p.against, Inverter)
        and p.limit.forbids_something()
    ]


def judge_inversion(
    promises: Sequence[Promise],
    attacked: Attacked,
    private: ClassifierViews,
    method: Any,
    *,
    only_aided: bool = False,
) -> list[Finding]:
    """Each promise, by what the aided attack gets; and the other, unless left out."""
    found = []
    for promise in promises:
        assert isinstance(promise.against, Inverter)
        near = promise.against.near
        within = NEAR if near is None else near["within"]
        measured = measure_release(
            attacked, private, method, within, only_aided=only_aided
        )
        note = describe_measure(measured, within)
        found.append(judge_measure(promise, measured, note))
    return found


def judge_measure(promise: Promise, measured: InversionMeasure, note: str) -> Finding:
    """Whether what is worked out stays within what a promise allows."""
    assert isinstance(promise.against, Inverter)
    near = promise.against.near
    kept = promise.limit.holds(Belief(0, measured.exact)) and (
        near is None or measured.near <= near["at_most"]
    )
    return Finding(
        promise,
        Verdict.SAFE if kept else Verdict.BREACH,
        Basis.ATTACK,
        Belief(measured.baseline, measured.exact),
        note=note,
        details=measured.to_dict(),
    )


def describe_measure(found: InversionMeasure, within: Fraction = NEAR) -> str:
    """What the attack gets, in words."""

    def share(x: Fraction) -> str:
        return f"{float(x) * 100:.3g} %"

    said = [
        say(
            "The best attack there is here, told the exponent and what "
            "shares were divided by, gets {exact} of {cells} original counts "
            "exactly ({few} of those below 5) and {near} within one or "
            "{within}.",
            exact=share(found.exact),
            cells=f"{found.cells:,}",
            few=share(found.few),
            near=share(found.near),
            within=share(within),
        )
    ]
    if found.alone is not None and found.alone_near is not None:
        alone, near = share(found.alone), share(found.alone_near)
        said.append(
            say("By itself it gets {exact} and {near}.", exact=alone, near=near)
        )
    before, near = share(found.baseline), share(found.baseline_near)
    said.append(
        say(
            "Without the release, spreading classes evenly, one gets {exact} "
            "and {near}.",
            exact=before,
            near=near,
        )
    )
    return " ".join(said)


def judge_shown(
    card: Scorecard, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Of a card alone it cannot be told what the original counts were."""
    return [Finding(p, Verdict.NOT_APPLICABLE, note=ELSEWHERE) for p in promises]


def judge_counts(
    views: ClassifierViews, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Counts that are published as they are tell all of themselves."""
    note = say("Counts that are published as they are need no working out.")
    return [
        Finding(
            p,
            Verdict.SAFE if p.limit.holds(Belief(0, 1)) else Verdict.BREACH,
            Basis.EXACT,
            Belief(0, 1),
            note=note,
        )
        for p in promises
    ]


def settle_findings(
    findings: Sequence[Finding], judged: Sequence[Finding]
) -> Iterator[Finding]:
    """Findings with those that needed the original counts in their place."""
    by_name = {f.promise.name: f for f in judged}
    for f in findings:
        yield by_name.get(f.promise.name, f)


def hide_findings(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings as recipients see them: how much is right is told to nobody."""
    for f in findings:
        if f.basis is Basis.ATTACK:
            yield replace(
                f,
                verdict=Verdict.NOT_APPLICABLE,
                basis=None,
                belief=None,
                note=ELSEWHERE,
                details={},
            )
        else:
            yield f


# Without a promise ------------------------------------------------------------------


def find_uncovered(
    promises: Sequence[Promise],
    accepted: Sequence[Accepted],
    measured: InversionMeasure,
    target: str,
    words: str = "",
) -> list[Finding]:
    """That inversion is neither promised nor accepted; nothing where it is."""
    if promises:
        return []
    entry = next((a for a in accepted if a.of == "inversion"), None)
    cells = int(measured.exact * measured.cells)
    if entry is not None and entry.covers(cells):
        return []
    details = {
        **measured.to_dict(),
        "recovered": cells,
        "accepted_up_to": None if entry is None else entry.up_to,
        "words": words or describe_measure(measured),
    }
    return [
        Finding(Uncovered(target, "inversion"), Verdict.NOT_COVERED, details=details)
    ]
