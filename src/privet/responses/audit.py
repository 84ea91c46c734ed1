"""Beliefs of a collector: the posterior from one report, and how far any prior moves.

The channel alone decides; no row is counted. For a stated prior the worst report is
found exactly; for any prior over whole records the amplification of the channel says
how far one report moves the odds, which is what rho1-to-rho2 breaches and local
differential privacy limit.
Zhan, Chang, Matwin 2004, section 3, corrected as documented; Evfimievski, Gehrke,
Srikant 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

from privet.engine.protocol import Run
from privet.errors import InputError, TooLarge, suggest_names
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.responses.channels import Channel, Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, Question
from privet.responses.release import Responses
from privet.values.adversaries import Bayesian
from privet.values.beliefs import Belief, Ceiling, Limit, Ratio, Shift
from privet.values.exact import Rows


def bound_odds(
    design: Design, column: str, value: int
) -> tuple[Fraction | None, Fraction | None]:
    """By how much the odds of a value can grow, and shrink; None: without limit.

    Over all reports and everything somebody may have believed about whole records.
    """
    if column in design.public:
        return None, None
    up: Fraction | None = Fraction(1)
    down: Fraction | None = Fraction(1)
    for group in design.groups:
        if column not in group.columns:
            continue
        # A prior may tie the columns of other groups to this one, so that their
        # reports speak about it, too: factors of independent groups multiply.
        pair = _bound_in_group(design, group, column, value)
        others = Fraction(1) if design.one_of else _multiply_others(design, group)
        up = _take_larger(up, pair[0], others)
        down = _take_larger(down, pair[1], others)
    return up, down


def _take_larger(
    most: Fraction | None, one: Fraction | None, other: Fraction | None
) -> Fraction | None:
    """The larger of a number and a product, where None is without limit."""
    if most is None or one is None or other is None:
        return None
    return max(most, one * other)


def _multiply_others(design: Design, group: Group) -> Fraction | None:
    found = Fraction(1)
    for other in design.groups:
        if other is group or isinstance(other.channel, Keep):
            continue
        grown = other.channel.growth(design.size(other.columns))
        if grown is None:
            return None
        found *= grown
    return found


def _bound_in_group(
    design: Design, group: Group, column: str, value: int
) -> tuple[Any, Any]:
    """The same within the column's own group."""
    size = design.size(group.columns)
    after = group.columns[group.columns.index(column) + 1 :]
    step, values = design.size(after), len(design.question(column))
    # Combination x of the group, the last column varying fastest: of 2 and 3 values
    # the first column is x // 3 % 2.
    inside = [x // step % values == value for x in range(size)]
    match group.channel:
        case Replace(truth=truth) as channel:
            shares = channel.shares(size)
            up = _bound_replaced(truth, shares, inside, True)
            return up, _bound_replaced(truth, shares, inside, False)
        case Matrix(rows=rows):
            return _bound_matrix(rows, inside, True), _bound_matrix(rows, inside, False)
    grown = group.channel.growth(size)
    return grown, grown


def _bound_replaced(
    truth: Fraction, shares: Sequence[Fraction], inside: Sequence[bool], same: bool
) -> Fraction | None:
    """The truth against the rarest draw that looks like it."""
    rarest = min(q for q, i in zip(shares, inside, strict=True) if i is same)
    low = (1 - truth) * rarest
    return 1 + truth / low if low else None


def _bound_matrix(rows: Rows, inside: Sequence[bool], same: bool) -> Fraction | None:
    """The best report: its largest chance here over its smallest on the other side."""
    most = Fraction(1)
    for row in rows:
        high = max(p for p, i in zip(row, inside, strict=True) if i is same)
        low = min(p for p, i in zip(row, inside, strict=True) if i is not same)
        if high and not low:
            return None
        most = max(most, high / low if low else most)
    return most


# Any prior --------------------------------------------------------------------------


def judge_any_prior(
    design: Design, column: str, value: int, promise: Promise
) -> Finding:
    """Judge one answer against everybody, whatever they believed before."""
    up, down = bound_odds(design, column, value)
    label = design.question(column).values[value]
    found = _find_furthest(promise.limit, up, down)
    verdict = Verdict.SAFE if found[1] else Verdict.BREACH
    words = "without limit" if up is None else f"by a factor of {up}"
    note = (
        f"Whatever somebody believed before, a report can move the odds that {column} "
        f"is {label} {words}."
    )
    return Finding(promise, verdict, Basis.EXACT, found[0], note=note)


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
            high = _move_belief(start, up)
            low = Fraction(0) if down is None else _move_belief(end, 1 / down)
            if end - low > high - start and low < start:
                return Belief(end, low), False
            return Belief(start, high), high <= end and low >= start
        case Ratio(factor=factor):
            # As the prior goes to 0, posterior ÷ prior goes to the factor of the odds.
            tiny = Fraction(1, 10**6)
            kept = up is not None and down is not None and max(up, down) <= factor
            low = Fraction(0) if down is None else _move_belief(tiny, 1 / down)
            further = up is not None and (down is None or down > up)
            return Belief(tiny, low if further else _move_belief(tiny, up)), kept
    raise InputError(
        "A ceiling must be set against a prior that is stated: whoever is sure before "
        "is sure afterwards. Use Shift or Ratio with prior='any'."
    )


def _move_belief(prior: Fraction, factor: Fraction | None) -> Fraction:
    """A belief whose odds are multiplied."""
    if factor is None:
        return Fraction(1)
    return factor * prior / (factor * prior + 1 - prior)


def breach_limit(start: Fraction, end: Fraction) -> Fraction:
    """The largest e^ε that moves nobody from below `start` to `end` or more.

    >>> breach_limit(Fraction(1, 2), Fraction(4, 5))
    Fraction(4, 1)
    """
    return end * (1 - start) / (start * (1 - end))


MOST_CASES = 2_000_000
"""Reports and knowledge that are tried for one promise."""


# A stated prior ---------------------------------------------------------------------


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
    return [_judge_promise(design, p) for p in promises]


def _judge_promise(design: Design, promise: Promise) -> Finding:
    assert isinstance(promise.against, Bayesian)
    if promise.against.prior == "any":
        found = [
            judge_any_prior(design, c, v, promise)
            for c, v in _list_answers(design, promise)
        ]
        return max(found, key=_weigh_finding)
    worst: tuple[tuple[bool, Fraction], Belief, Witness] | None = None
    for column, value in _list_answers(design, promise):
        shares = _prior(design.question(column), promise.against)
        for case in list_cases(design, column, promise.against):
            total = sum(p * q for p, q in zip(shares, case.likely, strict=True))
            if not total:
                continue  # nobody with this prior expects to see that
            found_belief = Belief(
                shares[value], shares[value] * case.likely[value] / total
            )
            bad = not promise.limit.holds(found_belief)
            key = (bad, _weigh_belief(promise.limit, found_belief))
            if worst is None or key > worst[0]:
                label = design.question(column).values[value]
                worst = (
                    key,
                    found_belief,
                    _make_witness(column, label, found_belief, case),
                )
    if worst is None:
        raise InputError(
            "A prior must allow the report that is seen; this one does not."
        )
    verdict = Verdict.BREACH if worst[0][0] else Verdict.SAFE
    return Finding(promise, verdict, Basis.EXACT, worst[1], worst[2])


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


def _prior(question: Question, against: Bayesian) -> list[Fraction]:
    if not isinstance(against.prior, Mapping):
        return [Fraction(1, len(question))] * len(question)
    for value in against.prior:
        if value not in question.values:
            raise InputError(
                f"prior must be over the answers to {question.name!r}; got {value!r}. "
                f"{suggest_names(value, question.values)}"
            )
    return [against.prior.get(v, Fraction(0)) for v in question.values]


# What can be seen -------------------------------------------------------------------


def list_cases(design: Design, column: str, against: Bayesian) -> Iterator[ReportCase]:
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
            for known in _list_known(design, group, column, against):
                yield from _list_group_cases(design, group, column, sees, known)


Known = Mapping[str, str | None]
"""Companions whose truth is known; None: any, the worst counts."""


def _list_known(
    design: Design, group: Group, column: str, against: Bayesian
) -> Iterator[Known]:
    others = [c for c in group.columns if c != column]
    match against.knows:
        case None:
            yield dict.fromkeys(others)
        case int(most):
            # The worst value of a companion tells at least as much as not knowing it,
            # so only the largest sets need trying.
            yield from map(
                dict.fromkeys, _list_largest_sets(design, group, others, most)
            )
        case Mapping() as row:
            yield {c: row[c] for c in others if c in row}
        case names:
            yield {c: None for c in others if c in names}


def _list_largest_sets(
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


def _list_group_cases(
    design: Design, group: Group, column: str, sees: Mapping[str, int], known: Known
) -> Iterator[ReportCase]:
    match group.channel:
        case Keep():
            yield from _list_public_cases(design, column, sees)
        case Flip(truth=truth) if known:
            yield from _list_flipped_cases(design, group, column, sees, known)
        case Flip(truth=truth):
            yield from _list_even_cases(design, column, sees, {}, truth, 1 - truth)
        case KAry(truth=truth) as channel:
            other = channel.other(design.size(group.columns))
            unknown = [c for c in group.columns if c != column and c not in known]
            # What is unknown is reported, too, and truly so in one case of so many:
            # truth 0.7 over 2 x 2 values, 0.1 + 0.6/2 = 0.4.
            same = other + (truth - other) / design.size(unknown)
            yield from _list_even_cases(design, column, sees, known, same, other)
        case Replace() | Matrix():
            yield from _list_all_cases(design, group, column, sees, known)


def _list_public_cases(
    design: Design, column: str, sees: Mapping[str, int]
) -> Iterator[ReportCase]:
    question = design.question(column)
    for y in _list_reports(question, sees):
        likely = tuple(Fraction(x == y) for x in range(len(question)))
        yield ReportCase(likely, {column: question.values[y]})


def _list_even_cases(
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
    companions = {c: _choose_value(design, c, v, sees) for c, v in known.items()}
    for y in _list_reports(question, sees):
        likely = tuple(same if x == y else other for x in range(len(question)))
        yield ReportCase(likely, {column: question.values[y], **companions}, companions)


def _choose_value(
    design: Design, column: str, value: str | None, sees: Mapping[str, int]
) -> str:
    """A value a companion may have; the one that is seen, where one is."""
    values = design.question(column).values
    return value if value is not None else values[sees.get(column, 0)]


def _list_flipped_cases(
    design: Design, group: Group, column: str, sees: Mapping[str, int], known: Known
) -> Iterator[ReportCase]:
    """A companion's truth tells whether the whole group was turned round."""
    assert isinstance(group.channel, Flip)
    companion = next(iter(known))
    values = design.question(companion).values
    true = _choose_value(design, companion, known[companion], {})
    for turned in (False, True):
        if not (1 - group.channel.truth if turned else group.channel.truth):
            continue
        shown = values[values.index(true) ^ turned]
        if companion in sees and values[sees[companion]] != shown:
            continue
        for y in _list_reports(design.question(column), sees):
            likely = tuple(Fraction(x == y ^ turned) for x in range(2))
            label = design.question(column).values[y]
            yield ReportCase(
                likely, {column: label, companion: shown}, {companion: true}
            )


def _list_all_cases(
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
    entry = _make_lookup(group.channel, size)
    # Combinations in the order of the channel's rows and columns.
    index = {x: i for i, x in enumerate(product(*(range(len(q)) for q in questions)))}
    place = group.columns.index(column)
    for fixed in product(*(truths[i] for i in at)):
        people = [x for x in index if tuple(x[i] for i in at) == fixed]
        for y, row in index.items():
            if any(c in sees and sees[c] != y[i] for i, c in enumerate(group.columns)):
                continue
            likely = [Fraction(0)] * len(questions[place])
            for x in people:
                # All companions that are unknown count the same.
                likely[x[place]] += entry(row, index[x])
            yield ReportCase(
                tuple(likely),
                {q.name: q.values[y[i]] for i, q in enumerate(questions)},
                {
                    questions[i].name: questions[i].values[v]
                    for i, v in zip(at, fixed, strict=True)
                },
            )


def _make_lookup(channel: Channel, size: int) -> Callable[[int, int], Fraction]:
    if isinstance(channel, Matrix):
        return lambda y, x: channel.rows[y][x]
    assert isinstance(channel, Replace)
    rest = [(1 - channel.truth) * q for q in channel.shares(size)]
    return lambda y, x: rest[y] + (channel.truth if x == y else 0)


def _list_reports(question: Question, sees: Mapping[str, int]) -> Sequence[int]:
    return [sees[question.name]] if question.name in sees else range(len(question))
