"""Whatever somebody believed before: how far one report can move the odds.

Exact for any prior over whole records; with Evfimievski et al.'s limit for breaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privet.errors import InputError
from privet.findings import Basis, Finding, Verdict
from privet.policy import Promise
from privet.responses.channels import Keep, Matrix, Replace
from privet.responses.design import Design, Group
from privet.values.beliefs import Belief, Limit, Ratio, Shift
from privet.values.exact import Rows


def reach(
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
        pair = _odds(design, group, column, value)
        others = Fraction(1) if design.one_of else _others(design, group)
        up = _larger(up, pair[0], others)
        down = _larger(down, pair[1], others)
    return up, down


def _larger(
    most: Fraction | None, one: Fraction | None, other: Fraction | None
) -> Fraction | None:
    """The larger of a number and a product, where None is without limit."""
    if most is None or one is None or other is None:
        return None
    return max(most, one * other)


def _others(design: Design, group: Group) -> Fraction | None:
    found = Fraction(1)
    for other in design.groups:
        if other is group or isinstance(other.channel, Keep):
            continue
        grown = other.channel.growth(design.size(other.columns))
        if grown is None:
            return None
        found *= grown
    return found


def _odds(design: Design, group: Group, column: str, value: int) -> tuple[Any, Any]:
    """The same within the column's own group."""
    size = design.size(group.columns)
    after = group.columns[group.columns.index(column) + 1 :]
    step, values = design.size(after), len(design.question(column))
    inside = [x // step % values == value for x in range(size)]
    match group.channel:
        case Replace(truth=truth) as channel:
            shares = channel.shares(size)
            up = _drawn(truth, shares, inside, True)
            return up, _drawn(truth, shares, inside, False)
        case Matrix(rows=rows):
            return _told(rows, inside, True), _told(rows, inside, False)
    grown = group.channel.growth(size)
    return grown, grown


def _drawn(
    truth: Fraction, shares: Sequence[Fraction], inside: Sequence[bool], same: bool
) -> Fraction | None:
    """The truth against the rarest draw that looks like it."""
    rarest = min(q for q, i in zip(shares, inside, strict=True) if i is same)
    low = (1 - truth) * rarest
    return 1 + truth / low if low else None


def _told(rows: Rows, inside: Sequence[bool], same: bool) -> Fraction | None:
    """The best report: its largest chance here over its smallest on the other side."""
    most = Fraction(1)
    for row in rows:
        high = max(p for p, i in zip(row, inside, strict=True) if i is same)
        low = min(p for p, i in zip(row, inside, strict=True) if i is not same)
        if high and not low:
            return None
        most = max(most, high / low if low else most)
    return most


def any_prior(design: Design, column: str, value: int, promise: Promise) -> Finding:
    """Judge one answer against everybody, whatever they believed before."""
    up, down = reach(design, column, value)
    label = design.question(column).values[value]
    found = _furthest(promise.limit, up, down)
    verdict = Verdict.SAFE if found[1] else Verdict.BREACH
    words = "without limit" if up is None else f"by a factor of {up}"
    note = (
        f"Whatever somebody believed before, a report can move the odds that {column} "
        f"is {label} {words}."
    )
    return Finding(promise, verdict, Basis.EXACT, found[0], note=note)


def _furthest(
    limit: Limit, up: Fraction | None, down: Fraction | None
) -> tuple[Belief, bool]:
    """The furthest a belief goes within reach of the limit, and whether that is kept.

    The limits are not attained (a prior just below `start` counts), so reaching the
    end exactly is no breach.
    """
    match limit:
        case Shift(start=start, end=end):
            high = _moved(start, up)
            low = Fraction(0) if down is None else _moved(end, 1 / down)
            if end - low > high - start and low < start:
                return Belief(end, low), False
            return Belief(start, high), high <= end and low >= start
        case Ratio(factor=factor):
            # As the prior goes to 0, posterior ÷ prior goes to the factor of the odds.
            tiny = Fraction(1, 10**6)
            kept = up is not None and down is not None and max(up, down) <= factor
            low = Fraction(0) if down is None else _moved(tiny, 1 / down)
            further = up is not None and (down is None or down > up)
            return Belief(tiny, low if further else _moved(tiny, up)), kept
    raise InputError(
        "A ceiling must be set against a prior that is stated: whoever is sure before "
        "is sure afterwards. Use Shift or Ratio with prior='any'."
    )


def _moved(prior: Fraction, factor: Fraction | None) -> Fraction:
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
