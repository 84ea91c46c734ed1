"""Findings about views, from breach probabilities (shares of interesting worlds)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from privet.findings import Basis, Finding, Reconstruction, Verdict
from privet.languages import mark, say, say_number, translate
from privet.policy import Accepted
from privet.values.beliefs import Belief
from privet.values.exact import percent
from privet.views.counting.share import Share, key_share
from privet.views.private_associations import PrivateAssociation

ROUNDED = mark("The share is rounded up; it is known to more than 60 digits.")
FLOOR = mark(
    "In the unrestricted model whoever may have a value has it in at least half of all "
    "tables, whatever is published: no limit of 1/2 or less can be kept while the "
    "views can be joined. Look at the restricted model, or allow more than 1/2."
)
BETWEEN = mark("Tables are too many to count; the share lies between {low} and {high}.")
NO_TABLE = mark(
    "No table gives these views in the {model} model: they refute that everybody has "
    "one value. The model says nothing then; judge them by the unrestricted model."
)
DISTINCT = mark(
    "The views were published without duplicates; the bag model needs to know how "
    "often each row stood in the table."
)
NOT_COUNTED = mark(
    "Tables behind {n} views are not counted in the {model} model here: too many view "
    "tuples hang together."
)
FULL_BEYOND = mark(
    "Over the columns asked about the promise is kept ({projected}); over whole tuples "
    "of all views it is {full}, beyond the limit. That is less an attack than a "
    "consequence of holding all tables for equally likely, so it does not accuse; nor "
    "does it acquit. Publish fewer columns or views, or accept it by name: "
    '[[accepted]] about = {about}, of = "worlds".'
)
FULL_OPEN = mark(
    "Over the columns asked about the promise is kept ({projected}); over whole tuples "
    "of all views it is not known: {why}"
)
FULL_ACCEPTED = mark(
    "Over whole tuples of all views it is {full}, beyond the limit; that was accepted: "
    "{why}"
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
    return say_number(
        "The views themselves refute that one person has one value: the "
        "{model} model has no table for them, and says nothing. Judge them "
        "by the unrestricted model.",
        "The views themselves refute that {n} people have one value: the "
        "{model} model has no table for them, and says nothing. Judge them "
        "by the unrestricted model.",
        people,
        model=secret.model,
    )


def explain_no_table(secret: PrivateAssociation) -> str:
    """What to say where no table at all is left by a model."""
    return say(NO_TABLE, model=secret.model)


# Two kinds of worlds ----------------------------------------------------------------


def combine_worlds(
    secret: PrivateAssociation,
    projected: Finding,
    full: Finding,
    accepted: Sequence[Accepted] = (),
) -> Finding:
    """One finding of two: over the columns asked about, and over whole tuples.

    Projected beyond the limit is a breach; full alone beyond it is undecided, unless
    somebody accepted it by name; only both within it are safe.
    """
    told = full if secret.full else projected
    worlds = {
        "projected": _describe_worlds(projected),
        "full": _describe_worlds(full),
    }
    details = {**told.details, "worlds": worlds}
    verdict, notes = projected.verdict, [told.note]
    basis = told.basis
    if verdict is Verdict.SAFE and full.verdict is not Verdict.SAFE:
        verdict, note = _doubt_full(secret, projected, full, accepted)
        notes.append(note)
    elif verdict is Verdict.SAFE:
        basis = _weakest((projected.basis, full.basis))
    elif told is full and projected.note != full.note:
        notes.append(projected.note)
    if verdict is Verdict.BREACH:
        told = projected
        basis = projected.basis
    return replace(
        told,
        verdict=verdict,
        basis=basis,
        note=" ".join(translate(n) for n in notes if n),
        details=details,
    )


def _doubt_full(
    secret: PrivateAssociation,
    projected: Finding,
    full: Finding,
    accepted: Sequence[Accepted],
) -> tuple[Verdict, str]:
    """What worlds over whole tuples make of a promise that is kept otherwise."""
    within = _say_share(projected)
    if full.verdict is not Verdict.BREACH:
        why = translate(full.note) or _say_share(full)
        return Verdict.UNDECIDED, say(FULL_OPEN, projected=within, why=why)
    for entry in accepted:
        named = entry.of == "worlds" and entry.about in ("", secret.secret)
        if named and entry.covers(full.people_above):
            note = say(FULL_ACCEPTED, full=_say_share(full), why=entry.why)
            return Verdict.SAFE, note
    beyond = say(
        FULL_BEYOND,
        projected=within,
        full=_say_share(full),
        about=json.dumps(secret.secret),
    )
    return Verdict.UNDECIDED, beyond


def keeps_projected(found: Finding) -> bool:
    """Whether a promise is kept over the columns asked about, whatever else is so."""
    worlds = found.details.get("worlds")
    verdict = worlds["projected"]["verdict"] if worlds else found.verdict.value
    return bool(verdict not in (Verdict.BREACH.value, Verdict.UNDECIDED.value))


def _describe_worlds(found: Finding) -> dict[str, Any]:
    """One of the two numbers, for machines."""
    share = found.belief
    told: dict[str, Any] = {
        "verdict": found.verdict.value,
        "share": None if share is None else _shorten(share.posterior),
        "people_above": found.people_above,
    }
    if found.at_least is not None:
        told["at_least"] = _shorten(found.at_least)
    return told


def _say_share(found: Finding) -> str:
    """A share in words: 71.4 %, or at least that."""
    if found.at_least is not None:
        return say("at least {share}", share=percent(found.at_least))
    return say("unknown") if found.belief is None else percent(found.belief.posterior)


def _shorten(share: Fraction) -> str:
    return format_share(Share.of(share))


def _weakest(given: Sequence[Basis | None]) -> Basis | None:
    """What both rest on: draws, else a bound, else exact counts."""
    order = (Basis.SAMPLED, Basis.BOUND, Basis.EXACT)
    return next((b for b in order if b in given), None)


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
        said.append(say(BETWEEN, low=low, high=high) if bounded else ROUNDED)
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
        note=" ".join(map(translate, said)),
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


NO_SUPPORT = mark("No table that gives these views holds such an association: 0 %.")


def make_unsupported(secret: PrivateAssociation, note: str = NO_SUPPORT) -> Finding:
    """No association asked for is in any association cover: no join tuple has it."""
    return Finding(
        secret.promise,
        Verdict.SAFE,
        basis=Basis.EXACT,
        belief=Belief(0, 0),
        note=note,
    )
