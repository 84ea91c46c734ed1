"""Any other evidence, by its likelihood ratio: what it makes of a belief at most.

Evidence that is at most L times likelier in one world than in another multiplies the
odds for a value by at most L, whatever it is about: a belief b becomes at most
L b / (L b + 1 - b). Whether somebody has such evidence nobody can count, so that this
is a bound: it may acquit, and never accuses.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import attrs

from privet.findings import Basis, Finding, Verdict
from privet.policy import Promise
from privet.values.adversaries import Insider
from privet.values.beliefs import Belief, Ceiling


def sway(belief: Fraction, ratio: Fraction) -> Fraction:
    """What a belief becomes at most by evidence of this ratio.

    >>> sway(Fraction(1, 2), Fraction(3)), sway(Fraction(1), Fraction(3))
    (Fraction(3, 4), Fraction(1, 1))
    """
    return ratio * belief / (ratio * belief + 1 - belief)


def tighten(limit: Ceiling, ratio: Fraction) -> Ceiling:
    """The limit for a belief before the evidence.

    >>> tighten(Ceiling("3/4"), Fraction(3))
    Ceiling('1/2')
    """
    if ratio == 1:
        return limit
    level = limit.level / (limit.level + ratio * (1 - limit.level))
    return Ceiling(below=level) if limit.strict else Ceiling(level)


def find_ratio(promise: Promise) -> Fraction:
    """How strong the evidence of a promise's insider may be; 1: there is none."""
    who = promise.against
    return who.evidence if isinstance(who, Insider) else Fraction(1)


def ask_before_evidence(promise: Promise) -> Promise:
    """The promise as it must hold before the evidence."""
    ratio = find_ratio(promise)
    if ratio == 1 or not isinstance(promise.limit, Ceiling):
        return promise
    return attrs.evolve(promise, limit=tighten(promise.limit, ratio))


def weigh_evidence(found: Finding, promise: Promise) -> Finding:
    """What was found before the evidence, with it."""
    ratio = find_ratio(promise)
    if ratio == 1 or found.belief is None:
        return replace(found, promise=promise)
    before = found.belief
    after = Belief(before.prior, sway(before.posterior, ratio))
    least = before.posterior if found.basis is Basis.EXACT else found.at_least
    if least is not None and not promise.limit.holds(Belief(0, least)):
        return replace(found, promise=promise, verdict=Verdict.BREACH)
    kept = promise.limit.holds(after)
    return replace(
        found,
        promise=promise,
        verdict=Verdict.SAFE if kept else Verdict.UNDECIDED,
        basis=Basis.BOUND,
        belief=after,
        at_least=least,
    )
