"""Breaches by a published classifier: what a Bayesian adversary believes of a victim.

Whom the adversary can be surest about, and whether that keeps every promise: a breach
from L1 to L2 is a limit of kind `Shift`, r-closeness one of kind `Ratio`.
Mozafari, Zaniolo 2009, sections 4 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from privet.classifier.amplification import (
    allowed_amplification,
    amplification,
    breach_amplification,
)
from privet.classifier.limited_knowledge import DeclaredReading
from privet.classifier.posteriors.posterior_bounds import PosteriorBound
from privet.classifier.posteriors.set_beliefs import (
    MOST_CLASSES,
    MOST_NODES,
    BeliefSearch,
    SearchAnswer,
    SetLimit,
    list_set_limits,
)
from privet.classifier.posteriors.worst_posteriors import (
    Classifier,
    PosteriorCase,
    bound_all_pairs,
    find_all_known,
    find_cases,
    widened,
)
from privet.classifier.scorecard import Scorecard
from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, find_nearest
from privet.findings import Basis, Finding, Verdict, Witness
from privet.languages import (
    join_alternatives,
    say,
)
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.values.adversaries import (
    Bayesian,
)
from privet.values.beliefs import Belief, Shift
from privet.values.known_cells import READINGS

# Promises ---------------------------------------------------------------------------


def judge(
    views: Classifier, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises against a Bayesian on a classifier."""
    refuse_survey_keys(promises)
    return [_judge_promise(views, p, run, warn) for p in promises]


def judge_card(
    card: Scorecard, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge promises on a scorecard: in whole points first, which is exact."""
    refuse_survey_keys(promises)
    return [
        _judge_in_points(card, p) or _judge_promise(card, p, run, warn)
        for p in promises
    ]


def refuse_survey_keys(promises: Sequence[Promise]) -> None:
    """What only disguised rows have must not be promised of a classifier, for it would
    mean nothing there; and a prior of "any" would be taken for another one.
    """
    for promise in promises:
        against = promise.against
        assert isinstance(against, Bayesian)
        stated = {
            "sees": against.sees is not None,
            "unrelated": bool(against.unrelated),
            'prior = "any"': against.prior == "any",
        }
        for key in (key for key, given in stated.items() if given):
            raise InputError(
                f"Promise {promise.name!r} must leave out {key} to be about a "
                "classifier; that is for disguised rows only."
            )


def keeps_with_room(card: Scorecard, promise: Promise, room: Fraction) -> bool:
    """Whether beliefs stay so much below a limit, for whoever has the card."""
    found = _judge_in_points(card, promise, room)
    search = None if found is not None else _make_search(card, promise, room)
    answer = None if search is None else search.run(Fraction(1), JUDGED)
    if answer is not None and answer.is_safe:
        return True
    if answer is not None and answer.finished and _is_of_rows(promise):
        return False  # somebody passes it, exactly
    if found is None:
        found = _judge_promise(card, promise, Run(), lambda _: None, room)
    return found.verdict is Verdict.SAFE


def _is_of_rows(promise: Promise) -> bool:
    return isinstance(promise.against, Bayesian) and promise.against.averaging == "rows"


def _judge_in_points(
    card: Scorecard, promise: Promise, room: Fraction = Fraction(0)
) -> Finding | None:
    """Safe, where no class leads another by more than the limit allows to anybody."""
    against, k = promise.against, len(card.labels)
    assert isinstance(against, Bayesian)
    if against.reading != "any" or isinstance(against.knows, Mapping):
        return None
    odds = _find_allowed_odds(promise, k, room)
    if odds is None or not card.is_within(odds[0]):
        return None
    label, bound, known = card.find_surest(2 if against.averaging == "worlds" else 1)
    prior = Fraction(1, k)
    case = PosteriorCase(label, prior, PosteriorBound(bound, bound, known))
    if not room:
        case = _find_surest_case(card, promise, case)
    return _make_finding(card, promise, case, Verdict.SAFE, Basis.BOUND)


def _find_surest_case(
    card: Scorecard, promise: Promise, case: PosteriorCase
) -> PosteriorCase:
    """The worst case by search, where that tells more than the odds of two classes."""
    asked = find_asked_classes(card, promise, lambda _: None)
    if len(asked) == len(card.labels) == 2:
        return case
    prior = [case.prior] * len(card.labels)
    cases = list(find_cases(card, promise, asked, prior))
    limit = promise.limit
    if not cases or not all(limit.holds(c.bound) for c in cases):
        return case
    return max(cases, key=lambda c: c.found.bound)


def _find_allowed_odds(
    promise: Promise, classes: int, room: Fraction = Fraction(0)
) -> tuple[Fraction | None] | None:
    """The odds between classes that surely keep a promise; None where none are known.

    Odds of None in the answer: any do.
    """
    against = promise.against
    assert isinstance(against, Bayesian)
    if against.prior != "uniform" or classes == 1:
        return None
    try:
        odds = allowed_amplification(promise.limit, classes)
    except Infeasible:
        return None
    # Whoever averages over tables is at most twice as sure.
    twice = 2 if against.averaging == "worlds" else 1
    return (None if odds is None else odds / twice * (1 - room),)


def _judge_promise(
    views: Classifier,
    promise: Promise,
    run: Run,
    warn: Warn,
    room: Fraction = Fraction(0),
) -> Finding:
    prior = priors(promise, views.labels)
    asked = find_asked_classes(views, promise, warn)
    run.check()
    cases = list(find_cases(views, promise, asked, prior, room=room))
    if not cases:
        return Finding(promise, Verdict.SAFE, Basis.EXACT, Belief(0, 0))
    worst = max(cases, key=lambda c: c.gravity(promise.limit))
    wrong, unsure, _ = worst.gravity(promise.limit)
    if wrong:
        return _make_finding(views, promise, worst, Verdict.BREACH, Basis.EXACT)
    basis = Basis.EXACT if all(c.found.exact for c in cases) else Basis.BOUND
    safe = _make_finding(views, promise, worst, Verdict.SAFE, basis)
    together = not unsure and promise.about is None
    if together:
        safe = _find_crossing_set(views, promise, prior, cases) or safe
    if (unsure or safe.verdict is not Verdict.SAFE) and safe.verdict.value != "breach":
        undecided = safe
        if unsure:
            undecided = _make_finding(views, promise, worst, Verdict.UNDECIDED, basis)
        return (
            _judge_by_search(views, promise, worst, room)
            or _judge_by_pairs(views, promise, worst, room)
            or undecided
        )
    return safe


# Where the search for the worst belief is not finished ------------------------------

SEARCH_ROOM = Fraction(1, 10**10)
"""How far below a limit beliefs are proved to be, so that they can be told."""

JUDGED = 2 * MOST_NODES
"""Partial tuples that are looked at: more than for an exponent that is chosen."""

GAUGED = Fraction(1, 10**6)
"""Where adding up what is known is so near to the model, completions decide."""


def _make_search(
    views: Classifier, promise: Promise, room: Fraction
) -> BeliefSearch | None:
    """What finds whoever passes a limit, of all who may know all; None: nothing."""
    against = promise.against
    assert isinstance(against, Bayesian)
    asked = None
    if promise.about is not None:
        asked = find_asked_classes(views, promise, lambda _: None)
    limits = list_set_limits(promise.limit, priors(promise, views.labels), asked)
    everybody = against.reading == "any" and not isinstance(against.knows, Mapping)
    if not everybody or not limits or views.scores.has_zeros:
        return None
    # What the model makes of somebody is an average over completions, so on a gauged
    # card those who know less are covered, but for what the gauge is off.
    off = views.model_slack if views.slack else Fraction(0)
    gauged = off <= GAUGED
    search = BeliefSearch(
        views.scores,
        tuple(limits),
        skips=not gauged,
        twice=2 if against.averaging == "worlds" else 1,
        room=views.slack + room + SEARCH_ROOM + (off if gauged else 0),
    )
    return search if search.is_affordable else None


def _judge_by_search(
    views: Classifier, promise: Promise, worst: PosteriorCase, room: Fraction
) -> Finding | None:
    """Safe, or a breach, where somebody who passes was looked for; None: not known."""
    search = _make_search(views, promise, room)
    found = None if search is None else search.run(Fraction(1), JUDGED)
    if search is None or found is None or not found.finished:
        return None
    if found.is_safe:
        proved = _clamp(worst, search.limits, len(views.labels))
        return _make_finding(views, promise, proved, Verdict.SAFE, Basis.BOUND)
    return _make_set_breach(views, promise, found)


def _clamp(
    case: PosteriorCase, limits: Sequence[SetLimit], classes: int
) -> PosteriorCase:
    """A case with a bound that is within the limits, which are proved to be kept."""
    bound = case.found.bound
    for limit in limits:
        if limit.classes == (case.label,):
            bound = min(bound, limit.level - SEARCH_ROOM)
        elif len(limit.classes) == classes - 1 and case.label not in limit.classes:
            bound = max(bound, 1 - limit.level + SEARCH_ROOM)
    found = PosteriorBound(case.found.value, bound, case.found.known)
    return PosteriorCase(case.label, case.prior, found)


def _make_set_breach(
    views: Classifier, promise: Promise, found: SearchAnswer
) -> Finding | None:
    """What somebody believes who passes a limit surely; None: not for sure."""
    assert found.passed is not None
    assert found.known is not None
    beliefs = views.scores.posterior(found.known)
    chosen, against = found.passed.classes, promise.against
    assert isinstance(against, Bayesian)
    if beliefs is None or against.averaging == "worlds":
        return None
    value = sum((beliefs[c] for c in chosen), start=-views.slack)
    if not found.passed.is_passed(value):
        return None
    prior = priors(promise, views.labels)
    before = sum((prior[c] for c in chosen), start=Fraction(0))
    case = PosteriorCase(chosen[0], before, PosteriorBound(value, value, found.known))
    named = " or ".join(views.labels[c] for c in chosen)
    return _make_finding(views, promise, case, Verdict.BREACH, Basis.EXACT, named=named)


def _judge_by_pairs(
    views: Classifier, promise: Promise, worst: PosteriorCase, room: Fraction
) -> Finding | None:
    """Safe by the odds between two classes, where a search did not finish."""
    odds = _find_allowed_odds(promise, len(views.labels), room)
    if odds is None:
        return None
    found = amplification(
        views.scores, views.scores.attributes if views.slack else None
    )
    if odds[0] is not None and (found.odds is None or found.odds > odds[0]):
        return None
    return _make_finding(views, promise, worst, Verdict.SAFE, Basis.BOUND)


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


def find_asked_classes(views: Classifier, promise: Promise, warn: Warn) -> list[int]:
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
            told = {"label": repr(label), "column": repr(views.target)}
            said = say("Class {label} never occurs in {column}.", **told)
            if close := find_nearest(str(label), views.labels):
                names = join_alternatives([*map(repr, close)])
                said = f"{said} {say('Did you mean {names}?', names=names)}"
            warn(said)
    return [views.labels.index(c) for c in asked if c in views.labels]


# Sets of classes --------------------------------------------------------------------


def _find_crossing_set(
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
        if case.others.gravity(shift)[0]:
            named = f"anything but {views.labels[case.label]}"
            return _make_finding(
                views, promise, case.others, Verdict.BREACH, Basis.EXACT, named=named
            )
    if against.reading not in READINGS:
        return _find_declared_set(views, promise, prior, cases)
    odds = bound_all_pairs(views, against, cases[0].found.known)
    # Mediant inequality: where every p_c/p_d is within the gain of F_c/F_d, so are
    # the odds of every set of classes against the rest.
    gain = breach_amplification(shift)
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
    return _make_finding(views, promise, worst, Verdict.UNDECIDED, Basis.BOUND, SETS)


SETS = (
    "No single class crosses the limit; whether a set of classes does could not be "
    "decided."
)


def _find_declared_set(
    views: Classifier,
    promise: Promise,
    prior: Sequence[Fraction],
    cases: Sequence[PosteriorCase],
) -> Finding | None:
    """The same under a declared reading of the unknown: set by set."""
    against, k = promise.against, len(views.labels)
    assert isinstance(against, Bayesian)
    reading = DeclaredReading(views, against)
    for size in range(2, k - 1 if k <= MOST_CLASSES else 2):
        for chosen in combinations(range(k), size):
            before = sum((prior[c] for c in chosen), start=Fraction(0))
            found = widened(
                reading.find_extreme(chosen, highest=True, before=before),
                views.slack,
                highest=True,
            )
            case = PosteriorCase(chosen[0], before, found)
            wrong, unsure, _ = case.gravity(promise.limit)
            if wrong or unsure:
                named = " or ".join(views.labels[c] for c in chosen)
                verdict = Verdict.BREACH if wrong else Verdict.UNDECIDED
                basis = Basis.EXACT if wrong else Basis.BOUND
                return _make_finding(views, promise, case, verdict, basis, named=named)
    if k <= MOST_CLASSES:
        return None
    worst = max(cases, key=lambda c: c.gravity(promise.limit))
    return _make_finding(views, promise, worst, Verdict.UNDECIDED, Basis.BOUND, SETS)


def _set_is_safe(
    shift: Shift,
    prior: Sequence[Fraction],
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> bool:
    """Whether a set of classes surely crosses neither way; its complement does both."""
    before, reach = sum(prior[c] for c in chosen), _bound_set(odds, chosen, classes)
    up = before < shift.start and reach >= shift.end
    down = before < 1 - shift.end and reach >= 1 - shift.start
    return not (up or down)


def _bound_set(
    odds: Mapping[tuple[int, int], Fraction | None],
    chosen: tuple[int, ...],
    classes: int,
) -> Fraction:
    """What the probability of a set of classes never passes."""
    others = [d for d in range(classes) if d not in chosen]
    total = Fraction(0)
    for c in chosen:
        # p_d >= p_c / o for every other d: p_c is at most p(others) / rest. Odds of 2
        # against each of two others: rest = 1, so p_c is at most 1/2.
        finite = [o for d in others if (o := odds[c, d]) is not None]
        rest = sum((1 / o for o in finite if o), start=Fraction(0))
        if not rest or any(o == 0 for o in finite):
            if any(o == 0 for o in finite):
                continue  # it never occurs together with one of the others
            return Fraction(1)
        total += 1 / rest
    return total / (1 + total)


# Findings ---------------------------------------------------------------------------


def _make_finding(
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
        note = say(
            "The belief is at least {least} and at most {most}; the limit "
            "lies between.",
            least=f"{float(worst.belief.posterior):.4g}",
            most=f"{float(worst.bound.posterior):.4g}",
        )
    details = (
        {"knows_all": str(sure)}
        if (sure := find_all_known(views, promise, worst))
        else {}
    )
    return Finding(promise, verdict, basis, shown, witness, note=note, details=details)
