"""Beliefs of a collector: the posterior from one report, and how far any prior moves.

The channel alone decides; no row is counted. Answers may hang together: whoever knows
how learns from the whole record what one report tells of each answer, and is judged
first. For a stated prior of one question the worst joint prior is found exactly; for
any prior the amplification of the channel says how far one report moves the odds, which
is what rho1-to-rho2 breaches and local differential privacy limit.
Zhan, Chang, Matwin 2004, section 3, corrected as documented; Evfimievski, Gehrke,
Srikant 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import attrs

from privet.engine.protocol import Run
from privet.errors import InputError
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.responses.design import Design
from privet.responses.likelihood_bounds import (
    ReportCase,
    find_known,
    list_cases,
    read_prior,
)
from privet.responses.release import Responses
from privet.responses.report import say_odds
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Ceiling, Limit, Ratio, Shift


def bound_odds(
    design: Design, column: str, value: int, against: Bayesian | None = None
) -> tuple[Fraction | None, Fraction | None]:
    """By how much the odds of a value can grow, and shrink; None: without limit.

    Over all reports and everything somebody may have believed about whole records.
    """
    if column in design.public:
        return None, None
    up: Fraction | None = Fraction(1)
    down: Fraction | None = Fraction(1)
    for case in list_cases(design, column, against or Bayesian()):
        rest = [x for x in range(len(case.high)) if x != value]
        up = _take_larger(up, case.high[value], min(case.low[x] for x in rest))
        down = _take_larger(down, max(case.high[x] for x in rest), case.low[value])
    return up, down


def _take_larger(
    most: Fraction | None, high: Fraction, low: Fraction
) -> Fraction | None:
    """The larger of a number and a quotient, where None is without limit."""
    if most is None or (high and not low):
        return None
    return max(most, high / low) if low else most


# Any prior --------------------------------------------------------------------------


def judge_any_prior(
    design: Design, column: str, value: int, promise: Promise
) -> Finding:
    """Judge one answer against everybody, whatever they believed before."""
    assert isinstance(promise.against, Bayesian)
    up, down = bound_odds(design, column, value, promise.against)
    found = _find_furthest(promise.limit, up, down)
    verdict = Verdict.SAFE if found[1] else Verdict.BREACH
    words = {"column": column, "value": design.question(column).values[value]}
    alone, record = (
        bound_odds(
            design, column, value, attrs.evolve(promise.against, unrelated=apart)
        )
        for apart in (True, False)
    )
    details = {
        **words,
        "odds": _format_factor(up),
        "record": _format_factor(record[0]),
        "alone": _format_factor(alone[0]),
        "unrelated": has_unrelated(design, column, promise.against),
    }
    note = say_odds(details)
    return Finding(promise, verdict, Basis.EXACT, found[0], note=note, details=details)


def _format_factor(factor: Fraction | None) -> str | None:
    return None if factor is None else str(factor)


def has_unrelated(design: Design, column: str, against: Bayesian) -> bool:
    """Whether answers that are disguised besides are taken to say nothing more."""
    secret = {c for c in design.columns if c not in design.public}
    return bool(secret & set(find_known(design, column, against)))


def _find_furthest(
    limit: Limit, up: Fraction | None, down: Fraction | None
) -> tuple[Belief, bool]:
    """The furthest a belief goes within reach of the limit, and whether that is kept.

    The limits are not attained (a prior just below `start` counts), so reaching the
    end exactly is no breach.
    """
    match limit:
        case Shift(start=start, end=end):
            # From 1/2 a factor of 4 leads to 4/5: odds of 1 become odds of 4.
            high = move_belief(start, up)
            low = Fraction(0) if down is None else move_belief(end, 1 / down)
            if end - low > high - start and low < start:
                return Belief(end, low), False
            return Belief(start, high), high <= end and low >= start
        case Ratio(factor=factor):
            # As the prior goes to 0, posterior ÷ prior goes to the factor of the odds.
            tiny = Fraction(1, 10**6)
            kept = up is not None and down is not None and max(up, down) <= factor
            low = Fraction(0) if down is None else move_belief(tiny, 1 / down)
            further = up is not None and (down is None or down > up)
            return Belief(tiny, low if further else move_belief(tiny, up)), kept
    raise InputError(
        "A ceiling must be set against a prior that is stated: whoever is sure before "
        "is sure afterwards. Use Shift or Ratio with prior='any'."
    )


def move_belief(prior: Fraction, factor: Fraction | None) -> Fraction:
    """A belief whose odds are multiplied; None: without limit."""
    if factor is None:
        return Fraction(1)
    return factor * prior / (factor * prior + 1 - prior)


def breach_limit(start: Fraction, end: Fraction) -> Fraction:
    """The largest e^ε that moves nobody from below `start` to `end` or more.

    >>> breach_limit(Fraction(1, 2), Fraction(4, 5))
    Fraction(4, 1)
    """
    return end * (1 - start) / (start * (1 - end))


# A stated prior ---------------------------------------------------------------------


def judge(
    release: Responses | Design,
    promises: Sequence[Promise],
    run: Run,
    notes: Callable[[str], None],
) -> list[Finding]:
    """Judge promises about single answers by the design they were disguised with."""
    design = release.design if isinstance(release, Responses) else release
    return [_judge_promise(design, p) for p in promises]


def _judge_promise(design: Design, promise: Promise) -> Finding:
    assert isinstance(promise.against, Bayesian)
    if promise.against.prior == "any":
        found = [
            judge_any_prior(design, c, v, promise)
            for c, v in _list_answers(design, promise)
        ]
        return max(found, key=_weigh_finding)
    bad, belief, witness = _find_worst(design, promise, promise.against)
    alone, record = (
        _find_worst(design, promise, attrs.evolve(promise.against, unrelated=apart))[1]
        for apart in (True, False)
    )
    verdict = Verdict.BREACH if bad else Verdict.SAFE
    details = {
        "record": str(record.posterior),
        "alone": str(alone.posterior),
        "unrelated": has_unrelated(design, witness.column, promise.against),
    }
    return Finding(promise, verdict, Basis.EXACT, belief, witness, details=details)


def _find_worst(
    design: Design, promise: Promise, against: Bayesian
) -> tuple[bool, Belief, Witness]:
    """The worst belief by the limit, whether it breaks it, and who holds it."""
    worst: tuple[tuple[bool, Fraction], Belief, Witness] | None = None
    for column, value in _list_answers(design, promise):
        question = design.question(column)
        shares = read_prior(question, against)
        for case in list_cases(design, column, against):
            for belief in _list_beliefs(shares, value, case):
                bad = not promise.limit.holds(belief)
                key = (bad, _weigh_belief(promise.limit, belief))
                if worst is None or key > worst[0]:
                    label = question.values[value]
                    worst = key, belief, _make_witness(column, label, belief, case)
    if worst is None:
        raise InputError(
            "A prior must allow the report that is seen; this one does not."
        )
    return worst[0][0], worst[1], worst[2]


def _list_beliefs(
    shares: Sequence[Fraction], value: int, case: ReportCase
) -> Iterator[Belief]:
    """The highest and the lowest belief over all joint priors with these shares.

    Highest: all of the value's share lies on its likeliest record, and that of every
    other on its least likely one. Three tied answers at truth 3/4: 27 to 1.
    """
    for mine, theirs in ((case.high, case.low), (case.low, case.high)):
        own = shares[value] * mine[value]
        total = own + sum(
            p * q
            for x, (p, q) in enumerate(zip(shares, theirs, strict=True))
            if x != value
        )
        if total:  # otherwise nobody with this prior expects to see that
            yield Belief(shares[value], own / total)


def _weigh_belief(limit: Limit, belief: Belief) -> Fraction:
    """How bad a belief is, by the limit that is set to it."""
    if isinstance(limit, Ceiling):
        return belief.posterior
    # A billion stands for a factor without limit.
    low, high = sorted((belief.prior, belief.posterior))
    return high / low if low else Fraction(high > 0) * 10**9


def _weigh_finding(finding: Finding) -> tuple[bool, Fraction]:
    assert finding.belief is not None
    return finding.verdict is Verdict.BREACH, finding.belief.posterior


def _make_witness(column: str, value: str, belief: Belief, case: ReportCase) -> Witness:
    return Witness(
        case.knows,
        column,
        value,
        belief.posterior.numerator,
        belief.posterior.denominator,
        belief.prior.numerator,
        belief.prior.denominator,
        counted="chances",
        sees=case.sees,
    )


# What it is about -------------------------------------------------------------------


def _list_answers(design: Design, promise: Promise) -> list[tuple[str, int]]:
    about: Any = promise.about
    if about is None:
        about = _find_only_question(design)
    if isinstance(about, tuple):
        about = {_find_only_question(design): about}
    if isinstance(about, str):
        about = {about: "*"}
    found = []
    for column, values in about.items():
        question = design.question(column)
        several = values if isinstance(values, tuple) else (values,)
        if values == "*":
            several = question.values
        found += [(column, question.code(v)) for v in several]
    return found


def _find_only_question(design: Design) -> str:
    secret = [c for c in design.columns if c not in design.public]
    if len(secret) != 1:
        raise InputError(
            "about must name a question or an answer to it; the design disguises "
            f"{', '.join(map(repr, secret)) or 'none'}."
        )
    return secret[0]
