"""Questions about several releases together, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privet.errors import InputError
from privet.findings import Basis, Finding, Verdict, Witness
from privet.policy import Promise
from privet.policy.acceptance import Accepted
from privet.release.joint.outlines import ReleaseOutline, Value
from privet.report import joint_reasons as words
from privet.values.beliefs import Belief, Ceiling
from privet.values.windows import Span, Within


@dataclass(frozen=True)
class JointQuestion:
    """What must be judged of several releases to keep one promise."""

    promise: Promise
    """What was promised."""
    known: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that somebody may know; the worst counts."""
    about: str = ""
    """The column asked about."""
    values: tuple[Value, ...] | None = None
    """The values that matter; None: every value."""
    guessed: tuple[tuple[str, ...], ...] = ()
    """Sets of columns with what they tell in nearly all rows, but not in all."""
    within: Within | None = None
    """Of a number within a window: how wide it is."""
    priors: tuple[Fraction, ...] = ()
    """Of somebody who sees disguised answers: how likely each value was before."""
    open: str = ""
    """Why there is no arithmetic for it, and it is left open; empty: there is."""


@dataclass(frozen=True)
class JointWitness:
    """Whose files tell most: what is known of the person, and what each file counts."""

    knows: dict[str, Value]
    """What is known, column by column; a value may stand for others shown like it."""
    column: str
    """The column asked about."""
    value: Value
    """The value believed."""
    counts: tuple[tuple[str, int, int], ...] = ()
    """For each file: its release, rows that fit and have the value, rows that fit."""
    window: Span | None = None
    """Of a number within a window: the lowest and the highest in it."""


@dataclass(frozen=True)
class JointResult:
    """What became of one promise against somebody who has several releases."""

    promise: Promise
    """What was promised."""
    verdict: Verdict
    """What became of it; not applicable where nothing new is told and none counted."""
    nothing_new: bool = False
    """Whether one release can be computed from the others."""
    files: Fraction | None = None
    """How sure the files alone make somebody, at worst."""
    basis: Basis | None = None
    """Whether that is exact or a bound."""
    matching: Fraction | None = None
    """How sure somebody is who can match rows."""
    people_beyond: int = 0
    """People of whom the files alone tell too much."""
    matched_beyond: int = 0
    """People of whom matched rows tell too much."""
    witness: JointWitness | None = None
    """The case the files decide by."""
    prior: Fraction = Fraction(0)
    """The share of the value in everybody."""
    reason: str = ""
    """What must be said."""
    between: tuple[str, ...] = ()
    """The releases that leave something open."""
    acceptable: str = ""
    """What a policy may accept by name: "matching", or nothing."""
    ask: str = ""
    """Whose own arithmetic must judge all of them as one: "views", "deliveries"."""

    @property
    def passes(self) -> bool:
        """Whether nothing stands against a release."""
        return self.verdict in (Verdict.SAFE, Verdict.NOT_APPLICABLE)

    def to_finding(self) -> Finding:
        """For an audit: what somebody could learn who has all of them."""
        details = {
            "matching": None if self.matching is None else str(self.matching),
            "matched_beyond": self.matched_beyond,
            "nothing_new": self.nothing_new,
            "releases": list(self.between),
            "acceptable": self.acceptable,
            "files": [
                {"release": name, "count": part, "of": whole}
                for name, part, whole in (self.witness.counts if self.witness else ())
            ],
        }
        return Finding(
            self.promise,
            self.verdict,
            basis=self.basis,
            belief=None if self.files is None else Belief(self.prior, self.files),
            witness=self._as_witness(),
            people_above=self.people_beyond,
            note=self.reason,
            details=details,
        )

    def _as_witness(self) -> Witness | None:
        found, files = self.witness, self.files
        if found is None or files is None or self.basis is not Basis.EXACT:
            return None
        return Witness(
            knows=found.knows,
            column=found.column,
            value=found.value,
            part=files.numerator,
            whole=files.denominator,
            prior_part=self.prior.numerator,
            prior_whole=self.prior.denominator,
            counted="chances",
            window=found.window,
        )


def leave_open(
    question: JointQuestion,
    left: Sequence[ReleaseOutline],
    reason: str,
    **more: Any,
) -> JointResult:
    """What could not be judged, and between which releases."""
    between = tuple(r.name for r in left)
    return JointResult(
        question.promise, Verdict.UNDECIDED, reason=reason, between=between, **more
    )


def require_ceiling(question: JointQuestion) -> Ceiling:
    """The limit, which must be a ceiling."""
    if not isinstance(question.promise.limit, Ceiling):
        raise InputError(
            f"A promise against a {question.promise.against.kind} must be limited by "
            f"at_most or below; got {question.promise.limit!r}."
        )
    return question.promise.limit


def accept_matching(
    result: JointResult, about: str, accepted: Sequence[Accepted]
) -> JointResult:
    """A result that only matched rows leave open, if a policy accepts that by name."""
    if result.acceptable != "matching":
        return result
    for entry in accepted:
        fits = entry.of == "matching" and entry.about == about
        if fits and entry.covers(result.matched_beyond):
            said = words.say_accepted(entry.why, result.reason)
            return replace(result, verdict=Verdict.SAFE, reason=said)
    return result
