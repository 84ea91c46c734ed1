"""Planning a survey: how many answers it needs, and how much truth an ε leaves.

ε is that of local differential privacy, for one question or for the whole record.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import ceil, inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, PrivacyWarning
from privet.responses.channel_inverse import apply_transpose, weigh_reports
from privet.responses.channels import KAry, Keep
from privet.responses.design import (
    MOST_VALUES,
    Design,
    Group,
    MarginalChannel,
    Question,
)
from privet.responses.expressions import Expression, evaluate_event, express_equalities
from privet.responses.intervals import read_confidence
from privet.values.exact import Number, fraction

DIGITS = 6
"""Digits of a truth that is worked out; rounded down, so that ε is not passed."""


LEAST = Fraction(1, 10**12)
"""The smallest error that is planned for."""

MOST = 100
"""An ε beyond this counts as this one: all digits of the truth are 9 long before, and
the 60 that are worked with still tell it from 1, which would be no disguise."""

NEAR = 1.1
"""More questions per person must make errors smaller by more than this factor: they are
a burden, and answers that were disguised by one draw err together."""


@dataclass(frozen=True)
class SampleSize:
    """How many answers a question needs."""

    about: str
    """What is estimated."""
    answers: int
    """So many answers make the error small enough, whatever the truth is."""
    plain: int
    """So many would do if nothing were disguised."""


def find_sample_size(
    design: Design,
    expression: Expression,
    *,
    error: Number,
    confidence: float = 0.95,
) -> SampleSize:
    """How many answers bring a share's interval down to ± error, at worst."""
    within = fraction(error, "error")
    if not 0 < within < 1:
        raise InputError(f"error must lie between 0 and 1; got {within}.")
    if within < LEAST:
        raise InputError("error must be at least 1 in 10^12; nobody asks so many.")
    z = NormalDist().inv_cdf((1 + read_confidence(confidence)) / 2)
    # ± 5 % with 95 %: (1.96 / 0.05)**2 / 4 = 385 answers; at truth 0.8 a yes counts 4/3
    # and a no -1/3: a variance of 25/36 at most, (1.96 / 0.05)**2 * 25/36 = 1,068.
    many = (z / float(within)) ** 2
    people = ceil(_find_people_variance(design, expression) * many)
    return SampleSize(expression.text, people, ceil(many / 4))


def _find_people_variance(design: Design, expression: Expression) -> float:
    """The largest variance of an estimate of a share, times the number of people."""
    pieces = design.pieces(expression.columns)
    columns = [c for p in pieces for c in p.columns]
    where = evaluate_event(design, columns, expression)
    variance = find_worst_variance(pieces, where.reshape([p.size for p in pieces]))
    return variance * float(_count_people_per_answer(design, columns))


def find_worst_variance(
    pieces: Sequence[MarginalChannel], where: NDArray[np.bool_]
) -> float:
    """The largest variance of what one report counts for an event, whatever is true.

    With w(y) what report y counts, v(x) = Σ M[y][x] w(y)² is its mean square where x
    is true. Among shares s inside of the event the worst put s on the largest v there,
    a, and the rest on the largest outside, b: b + s (a - b) - s², a parabola in s.
    """
    weight = weigh_reports(pieces, where.astype(float))
    square = apply_transpose(pieces, weight * weight)
    if not where.any():  # never true: only the disguise makes it uncertain
        return float(square.max())
    if where.all():
        return float(square.max()) - 1
    a, b = float(square[where].max()), float(square[~where].max())
    share = min(max((a - b) / 2, 0.0), 1.0)
    return b + share * (a - b) - share * share


def _count_people_per_answer(design: Design, columns: Sequence[str]) -> Fraction:
    """How many people there are for one who is asked about some columns."""
    secret = [c for c in columns if c not in design.public]
    if not design.one_of or not secret:  # what is public is asked of everybody
        return Fraction(1)
    return Fraction(len(design.drawn), len(design.asking(secret)))


def list_sample_sizes(design: Design, **wanted: Any) -> list[SampleSize]:
    """The same for the worst value of every disguised question."""
    found = []
    for question in design.questions:
        if question.name in design.public:
            continue
        needs = [
            find_sample_size(
                design, express_equalities(design, {question.name: v}), **wanted
            )
            for v in question.values
        ]
        worst = max(needs, key=lambda n: n.answers)
        found.append(SampleSize(question.name, worst.answers, worst.plain))
    return found


# How much truth ---------------------------------------------------------------------


def find_truth(epsilon: Number, size: int) -> Fraction:
    """The largest truth, in six digits, whose ε is not above the wanted one.

    >>> find_truth("1.0986", 2)
    Fraction(749997, 1000000)
    """
    wanted = fraction(epsilon, "epsilon")
    if wanted <= 0:
        raise InputError(f"epsilon must be above 0; got {wanted}.")
    with localcontext() as context:
        context.prec = 60
        within = min(wanted, Fraction(MOST))
        grown = (Decimal(within.numerator) / Decimal(within.denominator)).exp()
        share = grown / (grown + size - 1)
        for digits in range(DIGITS, 40):  # a small ε needs more of them
            steps = (share * 10**digits).to_integral_value(ROUND_FLOOR)
            # Truth 1/size says nothing; it must be beyond by 100 last digits.
            if size * (int(steps) - 100) > 10**digits:
                return Fraction(int(steps), 10**digits)
    raise InputError(f"epsilon must be larger; got {float(wanted):g}.")


@dataclass(frozen=True)
class Plan:
    """A design with a wanted ε, and how its errors compare."""

    design: Design
    """What is recommended."""
    together: float
    """The worst standard error of one person's answer if everybody answers all."""
    one_of: float
    """The same if each answers a part of the questions, drawn at random, or all of
    them as one."""
    asked: int
    """How many of the questions each person answers."""


def plan_design(design: Design, epsilon: Number, target: str | None = None) -> Plan:
    """The same questions with ε for the whole record, asked in the way that errs least.

    Either everybody answers everything, each question with its part of ε; or each
    person answers some questions, drawn at random, as one k-ary answer with all of ε.
    With a small ε that is one question each, with a large one several. With a target
    what counts are shares of a value and a class together, which naive Bayes needs:
    the target is asked of everybody then.
    """
    if (whole := fraction(epsilon, "epsilon")) <= 0:
        raise InputError(f"epsilon must be above 0; got {whole}.")
    secret = [q for q in design.questions if q.name not in design.public]
    if not secret:
        raise InputError("A design must disguise something; everything is public.")
    if target is not None:
        design.question(target)
    wanted = [q.name for q in secret if q.name != target]
    if not wanted:
        raise InputError(f"A design must disguise more than its target {target!r}.")
    pairs = [(c,) if target is None else (c, target) for c in wanted]
    split = _split_epsilon(design, secret, epsilon)
    together = _find_worst_error(split, pairs)
    found: list[tuple[float, Design]] = []
    for parts in range(len(wanted), 0, -1):
        drawn = _draw_parts(design, wanted, target, parts, epsilon)
        if drawn is not None:
            found.append((_find_worst_error(drawn, pairs), drawn))
    least = min((error for error, _ in found), default=inf)
    near = (f for f in found if f[0] <= least * NEAR)  # the fewest questions come first
    one_of, drawn = next(near, (inf, split))
    best = drawn if one_of < together else split
    chosen = Design(best.questions, best.groups, title=best.title, one_of=best.one_of)
    asked = max(len(g.columns) for g in chosen.drawn) if chosen.one_of else len(secret)
    return Plan(chosen, together, one_of, asked)


def _split_epsilon(
    design: Design, secret: Sequence[Question], epsilon: Number
) -> Design:
    """Everybody answers everything, each question with its part of ε."""
    part = fraction(epsilon, "epsilon") / len(secret)
    groups = [Group(q.name, KAry(find_truth(part, len(q)))) for q in secret]
    groups += [Group(c, Keep()) for c in design.public]
    return _make_candidate(design, groups)


def _draw_parts(
    design: Design,
    columns: Sequence[str],
    target: str | None,
    parts: int,
    epsilon: Number,
) -> Design | None:
    """Each person answers one of so many parts of the questions; None: too large."""
    groups = []
    for i in range(parts):
        # Five columns in two parts: 0 to 2 and 2 to 5.
        first, last = len(columns) * i // parts, len(columns) * (i + 1) // parts
        joint = () if target is None or target in design.public else (target,)
        some = (*columns[first:last], *joint)
        size = design.size(some)
        if size > MOST_VALUES:
            return None
        groups.append(Group(some, KAry(find_truth(epsilon, size))))
    # What is public is no part of ε, and asked of everybody.
    groups += [Group(c, Keep()) for c in design.public]
    return _make_candidate(design, groups, one_of=parts > 1)


def _make_candidate(design: Design, groups: Sequence[Group], **more: bool) -> Design:
    """A candidate; what would be said of it is said once it is chosen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Design(design.questions, groups, title=design.title, **more)


def _find_worst_error(design: Design, sets: Sequence[tuple[str, ...]]) -> float:
    """The largest standard error of a share of some columns, from one person."""
    # Any value will do: of a k-ary channel all are alike.
    found = []
    for columns in sets:
        values: dict[str, object] = {c: design.question(c).values[0] for c in columns}
        found.append(_find_people_variance(design, express_equalities(design, values)))
    return sqrt(max(found))
