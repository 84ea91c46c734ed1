"""Findings about views, from breach probabilities (shares of interesting worlds)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from privet.findings import Basis, Finding, Reconstruction, Verdict
from privet.values.beliefs import Belief
from privet.views.counting.share import Share, key_share
from privet.views.private_associations import PrivateAssociation

ROUNDED = "The share is rounded up; it is known to more than 60 digits."
FLOOR = (
    "In the unrestricted model whoever may have a value has it in at least half of all "
    "tables, whatever is published: no limit of 1/2 or less can be kept while the "
    "views can be joined. Look at the restricted model, or allow more than 1/2."
)
BETWEEN = "Tables are too many to count; the share lies between {low} and {high}."
REFUTED = (
    "The views themselves refute that {who} one value: the {model} model has no table "
    "for them, and says nothing. Judge them by the unrestricted model."
)


MOST_TOLD = 100
"""Associations that a report lists."""


def describe_association(
    person: str | None, value: str | None, found: Share, **more: bool
) -> dict[str, Any]:
    """One association and its share, for machines."""
    share_ = format_share(found)
    return {"person": person, "value": value, "share": share_, **more}


def format_share(found: Share) -> str:
    """A share as a fraction, or rounded up where that has many digits."""
    if found.exact and found.high.denominator < 10**40:
        return str(found.high)
    return format_bounds(found)[1]


def make_undecided(secret: PrivateAssociation, note: str) -> Finding:
    """Neither kept nor broken."""
    return Finding(secret.promise, Verdict.UNDECIDED, note=note)


def explain_refuted(secret: PrivateAssociation, people: int) -> str:
    """What to say where people cannot have one value each."""
    who = "one person has" if people == 1 else f"{people:,} people have"
    return REFUTED.format(who=who, model=secret.model)


def prior_share(secret: PrivateAssociation, people: int, values: int) -> Share:
    """The prior: what somebody believes who sees both columns, and no link."""
    if secret.model == "unrestricted":
        return key_share(people, values)
    return Share.of(Fraction(1, values))


def decide_verdict(share_: Share, secret: PrivateAssociation) -> Verdict:
    """What a breach probability makes of a promise."""
    beyond = share_.is_beyond(secret.limit)
    if beyond is None:
        return Verdict.UNDECIDED
    return Verdict.BREACH if beyond else Verdict.SAFE


def make_finding(
    secret: PrivateAssociation,
    worst: Share,
    before: Share,
    witness: Reconstruction | None,
    *,
    bounded: bool = False,
    notes: Sequence[str] = (),
    verdict_: Verdict | None = None,
    counts: tuple[int, int, int] = (0, 0, 0),
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """A judged promise; `counts` are groups, groups above, people above."""
    found = verdict_ or decide_verdict(worst, secret)
    said = list(notes)
    if not worst.exact and not worst.sampled:
        low, high = format_bounds(worst)
        said.append(BETWEEN.format(low=low, high=high) if bounded else ROUNDED)
    level = secret.limit.level
    if secret.model == "unrestricted" and level <= Fraction(1, 2) and worst.high:
        said.append(FLOOR)
    return Finding(
        promise=secret.promise,
        verdict=found,
        basis=_basis(worst, bounded),
        belief=Belief(before.high, worst.high),
        witness=witness,
        groups=counts[0],
        groups_above=counts[1],
        people_above=counts[2],
        note=" ".join(said),
        at_least=None if worst.exact else worst.low,
        details=details or {},
    )


def format_bounds(worst: Share) -> tuple[str, str]:
    """Bounds as they are written, rounded outwards.

    >>> format_bounds(Share(Fraction(1, 3), Fraction(2, 3)))
    ('0.333333', '0.666667')
    """
    scale = 10**6
    low, high = floor(worst.low * scale), ceil(worst.high * scale)
    return f"{low / scale:.6f}", f"{high / scale:.6f}"


def _basis(worst: Share, bounded: bool) -> Basis:
    if worst.sampled:
        return Basis.SAMPLED
    return Basis.BOUND if bounded and not worst.exact else Basis.EXACT


NO_SUPPORT = "No table that gives these views holds such an association: 0 %."


def make_unsupported(secret: PrivateAssociation, note: str = NO_SUPPORT) -> Finding:
    """No association asked for is in any association cover: no join tuple has it."""
    return Finding(
        secret.promise,
        Verdict.SAFE,
        basis=Basis.EXACT,
        belief=Belief(0, 0),
        note=note,
    )
