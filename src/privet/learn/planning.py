"""Before anything is collected: how many answers are needed, and how much truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from privet.errors import InputError
from privet.exact import Number, fraction
from privet.learn.expressions import Expression, equalities, event
from privet.releases.channels import KAry, Keep
from privet.releases.design import Design, Group
from privet.releases.inverse import weights

DIGITS = 6
"""Digits of a truth that is worked out; rounded down, so that ε is not passed."""


@dataclass(frozen=True)
class Need:
    """How many answers a question needs."""

    about: str
    """What is estimated."""
    answers: int
    """So many answers make the error small enough, whatever the truth is."""
    plain: int
    """So many would do if nothing were disguised."""


def answers_needed(
    design: Design,
    expression: Expression,
    *,
    error: Number,
    confidence: float = 0.95,
) -> Need:
    """How many answers bring a share's interval down to ± error, at worst.

    What a report counts lies between two numbers, so the variance of the mean is at
    most a quarter of their squared distance, divided by n.
    """
    within = fraction(error, "error")
    if not 0 < within < 1:
        raise InputError(f"error must lie between 0 and 1; got {within}.")
    pieces = design.pieces(expression.columns)
    columns = [c for p in pieces for c in p.columns]
    where = event(design, columns, expression).reshape([p.size for p in pieces])
    weight = weights(pieces, where.astype(float))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    half = z / (2 * float(within))
    asked = len(design.groups) if design.one_of else 1
    spread = float(weight.max() - weight.min())
    return Need(expression.text, asked * ceil((half * spread) ** 2), ceil(half**2))


def every_answer(design: Design, **wanted: Any) -> list[Need]:
    """The same for the worst value of every disguised question."""
    found = []
    for question in design.questions:
        if question.name in design.public:
            continue
        needs = [
            answers_needed(design, equalities(design, {question.name: v}), **wanted)
            for v in question.values
        ]
        worst = max(needs, key=lambda n: n.answers)
        found.append(Need(question.name, worst.answers, worst.plain))
    return found


# How much truth ---------------------------------------------------------------------


def truth_for(epsilon: Number, size: int) -> Fraction:
    """The largest truth, in six digits, whose ε is not above the wanted one.

    >>> truth_for("1.0986", 2)
    Fraction(749997, 1000000)
    """
    wanted = fraction(epsilon, "epsilon")
    if wanted <= 0:
        raise InputError(f"epsilon must be above 0; got {wanted}.")
    with localcontext() as context:
        context.prec = 60
        grown = (Decimal(wanted.numerator) / Decimal(wanted.denominator)).exp()
        share = grown / (grown + size - 1)
        steps = (share * 10**DIGITS).to_integral_value(ROUND_FLOOR)
    return Fraction(int(steps), 10**DIGITS)


@dataclass(frozen=True)
class Plan:
    """A design with a wanted ε, and how its errors compare."""

    design: Design
    """What is recommended."""
    together: float
    """The worst standard error of one person's answer if everybody answers all."""
    one_of: float
    """The same if each answers one question, drawn at random."""


def designed(design: Design, epsilon: Number) -> Plan:
    """The same questions with ε for the whole record: each with a part, or one of them.

    With a small ε it is better to ask each person one question with all of it.
    """
    secret = [q for q in design.questions if q.name not in design.public]
    if not secret:
        raise InputError("A design must disguise something; everything is public.")
    part = fraction(epsilon, "epsilon") / len(secret)
    split = [Group(q.name, KAry(truth_for(part, len(q)))) for q in secret]
    public = [Group(c, Keep()) for c in design.public]
    whole = [Group(q.name, KAry(truth_for(epsilon, len(q)))) for q in secret]
    errors = _worst(design, split), _worst(design, whole) * np.sqrt(len(secret))
    if errors[1] < errors[0] and not public:
        chosen = Design(design.questions, whole, title=design.title, one_of=True)
    else:
        chosen = Design(design.questions, [*split, *public], title=design.title)
    return Plan(chosen, float(errors[0]), float(errors[1]))


def _worst(design: Design, groups: Sequence[Group]) -> float:
    """The largest standard error of a share from one answer."""
    found = []
    for group in groups:
        size = design.size(group.columns)
        assert isinstance(group.channel, KAry)
        apart = float(group.channel.truth - group.channel.other(size))
        found.append(1 / (2 * apart))
    return max(found)
