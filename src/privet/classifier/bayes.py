"""Promises against somebody who learns from a published classifier.

Mozafari, Zaniolo 2009, sections 4 and 7; r-closeness is a limit of kind `Ratio`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from privet.classifier.amplification import allowed, gain_allowed, pair_odds
from privet.classifier.audit import (
    Classifier,
    PosteriorCase,
    cases_of,
    known_to,
    most_odds,
    sure_odds,
)
from privet.classifier.posterior_bounds import PosteriorBound
from privet.classifier.scorecard import Scorecard
from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, nearest, what_exists
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Shift

MOST_CLASSES = 10
"""With more classes, not every set of them is looked at."""

Warn = Callable[[str], None]


def judge(
    views: Classifier, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises against a Bayesian on a classifier."""
    return [_judged(views, p, run, warn) for p in promises]


def judge_card(
    card: Scorecard, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises on a scorecard: in whole points first, which is exact."""
    return [_within(card, p) or _judged(card, p, run, warn) for p in promises]


def _within(card: Scorecard, promise: Promise) -> Finding | None:
    """Safe, where no class leads another by more than the limit allows to anybody."""
    against, k = promise.against, len(card.labels)
    assert isinstance(against, Bayesian)
    if against.prior != "uniform" or isinstance(against.knows, Mapping):
        return None
    twice = 2 if against.averaging == "worlds" else 1  # as sure as anybody averaging is
    try:
        odds = allowed(promise.limit, k)
    except Infeasible:
        return None
    if k == 1 or not card.within(None if odds is None else odds / twice):
        return None
    label, bound, known = card.surest(twice)
    prior = Fraction(1, k)
    case = PosteriorCase(label, prior, PosteriorBound(bound, bound, known))
    return _finding(card, promise, case, Verdict.SAFE, Basis.BOUND)


def _judged(views: Classifier, promise: Promise, run: Run, warn: Warn) -> Finding:
    prior = priors(promise, views.labels)
    asked = _asked(views, promise, warn)
    run.check()
    cases = list(cases_of(views, promise, asked, prior))
    if not cases:
        return Finding(promise, Verdict.SAFE, Basis.EXACT, Belief(0, 0))
    worst = max(cases, key=lambda c: c.gravity(promise.limit))
    wrong, unsure, _ = worst.gravity(promise.limit)
    if wrong:
        return _finding(views, promise, worst, Verdict.BREACH, Basis.EXACT)
    together = not unsure and promise.about is None
    if together and (sets := _sets_crossing(views, promise, prior, cases)):
        return sets
    basis = Basis.EXACT if all(c.found.exact for c in cases) else Basis.BOUND
    verdict = Verdict.UNDECIDED if unsure else Verdict.SAFE
    return _finding(views, promise, worst, verdict, basis)


def priors(promise: Promise, labels: Sequence[str]) -> list[Fraction]:
    """What is believed of each class beforehand."""
    against = promise.against
    assert isinstance(against, Bayesian)
    if isinstance(against.prior, str):
        return [Fraction(1, len(labels))] * len(labels)
    missing = [c for c in labels if c not in against.prior]
    if missing:
        raise InputError(
            f"prior must give every class a probability; {missing[0]!r} has none."
        )
    return [against.prior[c] for c in labels]


def _asked(views: Classifier, promise: Promise, warn: Warn) -> list[int]:
    """The classes a promise is about, by index."""
    about: Any = promise.about
    if isinstance(about, Mapping):
        if set(about) != {views.target}:
            got = ", ".join(map(repr, about))
            raise InputError(
                f"about must be the class {views.target!r} or a label; got {got}."
            )
        about = about[views.target]
    if about is None or about in ("*", views.target):
        return list(range(len(views.labels)))
    asked = list(about) if isinstance(about, tuple) else [about]
    for label in asked:
        if label not in views.labels:
            close = nearest(str(label), views.labels)
            hint = f" {what_exists(str(label), views.labels)}" if close else ""
            warn(f"Class {label!r} never occurs in {views.target!r}.{hint}")
    return [views.labels.index(c) for c in asked if c in views.labels]


# Sets of classes --------------------------------------------------------------------


def _sets_crossing(
    views: Classifier,
    promise: Promise,
    prior: Sequence[Fraction],
    cases: Sequence[PosteriorCase],
) -> Finding | None:
    """A set of classes whose probability crosses, or may, where single ones do not.

    None where it is proved that none does: by the amplification, or set by set.
    """
    shift, k, against = promise.limit, len(views.labels), promise.against
    assert isinstance(against, Bayesian)
    if k < 3 or not isinstance(shift, Shift):
        return None
    for case in cases:  # everything but one class
        if not shift.holds(case.others.belief):
            named = f"anything but {views.labels[case.label]}"
            return _finding(
                views, promise, case.others, Verdict.BREACH, Basis.EXACT, named=named
            )
    odds = _all_pairs(views, against, cases[0].found.known)
    gain = gain_allowed(shift)
    if all(
        o is not None and o * prior[d] <= gain * prior[c] for (c, d), o in odds.items()
    ):
        return None
    if k <= MOST_CLASSES and all(
        _set_is_safe(shift, prior, odds, chosen, k)
        for size in range(1, k)
        for chosen in combinations(range(k), size)
    ):
        return None
    worst = max(cases, key=lambda c: c.gravity(shift))
    note = (
        "No single class crosses the limit; whether a set of classes does could not "
        "be decided."
    )
    return _finding(views, promise, worst, Verdict.UNDECIDED, Basis.BOUND, note)


def _all_pairs(
    views: Classifier, against: Bayesian, victim: Mapping[int, int]
) -> dict[tuple[int, int], Fraction | None]:
    """The highest odds of each class against each other, or a bound on them."""
    if isinstance(against.knows, Mapping):
        if against.averaging == "rows":
            return sure_odds(views.scores, victim)
        return most_odds(views.scores, views.counted, victim)
    kept, at_most = known_to(views, against)
    view = views.scores if kept is None else views.scores.over(kept)
    view = view if at_most is None else view.normalised
    twice = 2 if against.averaging == "worlds" else 1
    found = {}
    for c in range(view.classes):
        for d in range(view.classes):
            if c != d:
                odds = pair_odds(view, (c, d), at_most).odds
                found[c, d] = None if odds is None else twice * odds
    return found


def _set_is_safe(
    shift: Shift,
    prior: Sequence[Fraction],
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> bool:
    """Whether a set of classes surely crosses neither way; its complement does both."""
    before, reach = sum(prior[c] for c in chosen), _reach(odds, chosen, classes)
    up = before < shift.start and reach >= shift.end
    down = before < 1 - shift.end and reach >= 1 - shift.start
    return not (up or down)


def _reach(
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> Fraction:
    """What the probability of a set of classes never passes."""
    others = [d for d in range(classes) if d not in chosen]
    total = Fraction(0)
    for c in chosen:
        finite = [o for d in others if (o := odds[c, d]) is not None]
        rest = sum((1 / o for o in finite if o), start=Fraction(0))
        if not rest or any(o == 0 for o in finite):
            if any(o == 0 for o in finite):
                continue  # it never occurs together with one of the others
            return Fraction(1)
        total += 1 / rest
    return total / (1 + total)


# Findings ---------------------------------------------------------------------------


def _finding(
    views: Classifier,
    promise: Promise,
    worst: PosteriorCase,
    verdict: Verdict,
    basis: Basis,
    note: str = "",
    named: str = "",
) -> Finding:
    shown = worst.belief if verdict is Verdict.BREACH else worst.bound
    witness = Witness(
        knows=views.told(worst.found.known),
        column=views.target,
        value=named or views.labels[worst.label],
        part=shown.posterior.numerator,
        whole=shown.posterior.denominator,
        prior_part=worst.prior.numerator,
        prior_whole=worst.prior.denominator,
        counted="chances",
    )
    if verdict is Verdict.UNDECIDED and not note:
        note = (
            f"The belief is at least {float(worst.belief.posterior):.4g} and at most "
            f"{float(worst.bound.posterior):.4g}; the limit lies between."
        )
    return Finding(promise, verdict, basis, shown, witness, note=note)
