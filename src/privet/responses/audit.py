"""What a collector may believe of one person, seeing that person's disguised row.

The channel alone decides; no row is counted. Zhan, Chang, Matwin 2004, section 3, with
the posterior and the amplification of ``spec/responses`` in place of its claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

from privet.engine.protocol import Run
from privet.errors import InputError, TooLarge, what_exists
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, Question
from privet.responses.reach import any_prior
from privet.responses.release import Responses
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Ceiling, Limit

MOST_CASES = 2_000_000
"""Reports and knowledge that are tried for one promise."""


@dataclass(frozen=True)
class ReportCase:
    """One report that somebody may see, and how likely it is for each truth."""

    likely: tuple[Fraction, ...]
    """The probability of the report for each value of the column, up to a factor."""
    sees: Mapping[str, str] = field(default_factory=dict)
    """The report."""
    knows: Mapping[str, str] = field(default_factory=dict)
    """What is known besides."""


def judge(
    release: Responses | Design,
    promises: Sequence[Promise],
    run: Run,
    notes: Callable[[str], None],
) -> list[Finding]:
    """Judge promises about single answers by the design they were disguised with."""
    design = release.design if isinstance(release, Responses) else release
    return [_judged(design, p) for p in promises]


def _judged(design: Design, promise: Promise) -> Finding:
    assert isinstance(promise.against, Bayesian)
    if promise.against.prior == "any":
        found = [any_prior(design, c, v, promise) for c, v in _about(design, promise)]
        return max(found, key=_gravity)
    worst: tuple[tuple[bool, Fraction], Belief, Witness] | None = None
    for column, value in _about(design, promise):
        shares = _prior(design.question(column), promise.against)
        for case in cases(design, column, promise.against):
            total = sum(p * q for p, q in zip(shares, case.likely, strict=True))
            if not total:
                continue  # nobody with this prior expects to see that
            found_belief = Belief(
                shares[value], shares[value] * case.likely[value] / total
            )
            bad = not promise.limit.holds(found_belief)
            key = (bad, _apart(promise.limit, found_belief))
            if worst is None or key > worst[0]:
                label = design.question(column).values[value]
                worst = key, found_belief, _witness(column, label, found_belief, case)
    if worst is None:
        raise InputError(
            "A prior must allow the report that is seen; this one does not."
        )
    verdict = Verdict.BREACH if worst[0][0] else Verdict.SAFE
    return Finding(promise, verdict, Basis.EXACT, worst[1], worst[2])


def _apart(limit: Limit, belief: Belief) -> Fraction:
    """How bad a belief is, by the limit that is set to it."""
    if isinstance(limit, Ceiling):
        return belief.posterior
    low, high = sorted((belief.prior, belief.posterior))
    return high / low if low else Fraction(high > 0) * 10**9


def _gravity(finding: Finding) -> tuple[bool, Fraction]:
    assert finding.belief is not None
    return finding.verdict is Verdict.BREACH, finding.belief.posterior


def _witness(column: str, value: str, belief: Belief, case: ReportCase) -> Witness:
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


def _about(design: Design, promise: Promise) -> list[tuple[str, int]]:
    about: Any = promise.about
    if about is None:
        about = _only(design)
    if isinstance(about, tuple):
        about = {_only(design): about}
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


def _only(design: Design) -> str:
    secret = [c for c in design.columns if c not in design.public]
    if len(secret) != 1:
        raise InputError(
            "about must name a question or an answer to it; the design disguises "
            f"{', '.join(map(repr, secret)) or 'none'}."
        )
    return secret[0]


def _prior(question: Question, against: Bayesian) -> list[Fraction]:
    if not isinstance(against.prior, Mapping):
        return [Fraction(1, len(question))] * len(question)
    for value in against.prior:
        if value not in question.values:
            raise InputError(
                f"prior must be over the answers to {question.name!r}; got {value!r}. "
                f"{what_exists(value, question.values)}"
            )
    return [against.prior.get(v, Fraction(0)) for v in question.values]


# What can be seen -------------------------------------------------------------------


def cases(design: Design, column: str, against: Bayesian) -> Iterator[ReportCase]:
    """Every report somebody may see that says something about a column.

    Other groups say nothing more: they are disguised independently, and the prior is
    over this column given what is known. Companions in its group that are not known
    are taken as equally likely.
    """
    sees = {c: design.question(c).code(v) for c, v in (against.sees or {}).items()}
    if against.sees is not None and column not in sees:
        yield ReportCase(
            (Fraction(1),) * len(design.question(column)), dict(against.sees)
        )
        return
    for group in design.groups:
        if column in group.columns:
            for known in _known(design, group, column, against):
                yield from _grouped(design, group, column, sees, known)


Known = Mapping[str, str | None]
"""Companions whose truth is known; None: any, the worst counts."""


def _known(
    design: Design, group: Group, column: str, against: Bayesian
) -> Iterator[Known]:
    others = [c for c in group.columns if c != column]
    match against.knows:
        case None:
            yield dict.fromkeys(others)
        case int(most):
            # The worst value of a companion tells at least as much as not knowing it,
            # so only the largest sets need trying.
            yield from map(dict.fromkeys, _largest(design, group, others, most))
        case Mapping() as row:
            yield {c: row[c] for c in others if c in row}
        case names:
            yield {c: None for c in others if c in names}


def _largest(
    design: Design, group: Group, others: Sequence[str], most: int
) -> Iterator[tuple[str, ...]]:
    """The sets of so many companions that may tell the most."""
    number = min(most, len(others))
    if isinstance(group.channel, Matrix | Replace):
        sets, size = comb(len(others), number), design.size(group.columns)
        if sets * size * size > MOST_CASES:
            raise TooLarge(
                f"{sets:,} sets of {number} columns are too many to be tried on a "
                f"channel over {size:,} values; name the columns that are known."
            )
        yield from combinations(others, number)
        return
    # What is left unknown hides the more the more values it has.
    by_size = sorted(others, key=lambda c: -len(design.question(c)))
    yield tuple(by_size[:number])


def _grouped(
    design: Design, group: Group, column: str, sees: Mapping[str, int], known: Known
) -> Iterator[ReportCase]:
    match group.channel:
        case Keep():
            yield from _plain(design, column, sees)
        case Flip(truth=truth) if known:
            yield from _turned(design, group, column, sees, known)
        case Flip(truth=truth):
            yield from _even(design, column, sees, {}, truth, 1 - truth)
        case KAry(truth=truth) as channel:
            other = channel.other(design.size(group.columns))
            unknown = [c for c in group.columns if c != column and c not in known]
            same = other + (truth - other) / design.size(unknown)
            yield from _even(design, column, sees, known, same, other)
        case Replace() | Matrix():
            yield from _listed(design, group, column, sees, known)


def _plain(
    design: Design, column: str, sees: Mapping[str, int]
) -> Iterator[ReportCase]:
    question = design.question(column)
    for y in _reports(question, sees):
        likely = tuple(Fraction(x == y) for x in range(len(question)))
        yield ReportCase(likely, {column: question.values[y]})


def _even(
    design: Design,
    column: str,
    sees: Mapping[str, int],
    known: Known,
    same: Fraction,
    other: Fraction,
) -> Iterator[ReportCase]:
    """Reports that are the truth with one probability and anything else with another.

    Known companions, where there are any, are reported as they are: that is the case
    which says most.
    """
    question = design.question(column)
    companions = {c: _some(design, c, v, sees) for c, v in known.items()}
    for y in _reports(question, sees):
        likely = tuple(same if x == y else other for x in range(len(question)))
        yield ReportCase(likely, {column: question.values[y], **companions}, companions)


def _some(
    design: Design, column: str, value: str | None, sees: Mapping[str, int]
) -> str:
    """A value a companion may have; the one that is seen, where one is."""
    values = design.question(column).values
    return value if value is not None else values[sees.get(column, 0)]


def _turned(
    design: Design, group: Group, column: str, sees: Mapping[str, int], known: Known
) -> Iterator[ReportCase]:
    """A companion's truth tells whether the whole group was turned round."""
    assert isinstance(group.channel, Flip)
    companion = next(iter(known))
    values = design.question(companion).values
    true = _some(design, companion, known[companion], {})
    for turned in (False, True):
        if not (1 - group.channel.truth if turned else group.channel.truth):
            continue
        shown = values[values.index(true) ^ turned]
        if companion in sees and values[sees[companion]] != shown:
            continue
        for y in _reports(design.question(column), sees):
            likely = tuple(Fraction(x == y ^ turned) for x in range(2))
            label = design.question(column).values[y]
            yield ReportCase(
                likely, {column: label, companion: shown}, {companion: true}
            )


def _listed(
    design: Design, group: Group, column: str, sees: Mapping[str, int], known: Known
) -> Iterator[ReportCase]:
    """Any channel: every report and everything known is tried."""
    questions = [design.question(c) for c in group.columns]
    size = design.size(group.columns)
    truths = [
        [q.code(known[q.name])] if known.get(q.name) is not None else range(len(q))
        for q in questions
    ]
    at = [i for i, q in enumerate(questions) if q.name in known]
    if size * size > MOST_CASES:
        raise TooLarge(
            f"A channel over {size:,} values has too many cases to be tried."
        )
    entry = _entry(group.channel, size)
    index = {x: i for i, x in enumerate(product(*(range(len(q)) for q in questions)))}
    place = group.columns.index(column)
    for fixed in product(*(truths[i] for i in at)):
        people = [x for x in index if tuple(x[i] for i in at) == fixed]
        for y, row in index.items():
            if any(c in sees and sees[c] != y[i] for i, c in enumerate(group.columns)):
                continue
            likely = [Fraction(0)] * len(questions[place])
            for x in people:
                likely[x[place]] += entry(row, index[x])
            yield ReportCase(
                tuple(likely),
                {q.name: q.values[y[i]] for i, q in enumerate(questions)},
                {
                    questions[i].name: questions[i].values[v]
                    for i, v in zip(at, fixed, strict=True)
                },
            )


def _entry(channel: Channel, size: int) -> Callable[[int, int], Fraction]:
    if isinstance(channel, Matrix):
        return lambda y, x: channel.rows[y][x]
    assert isinstance(channel, Replace)
    rest = [(1 - channel.truth) * q for q in channel.shares(size)]
    return lambda y, x: rest[y] + (channel.truth if x == y else 0)


def _reports(question: Question, sees: Mapping[str, int]) -> Sequence[int]:
    return [sees[question.name]] if question.name in sees else range(len(question))
