"""Findings of an audit: a verdict, its basis, the belief, the worst case as witness.

The witness of an insider has the attack written out: the background knowledge, who is
known to have what, so that anybody can recount it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import perm, prod
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from privet.display import Displayed, Reportable
from privet.errors import Breach, InputError
from privet.policy import Measure, Promise
from privet.policy.acceptance import Uncovered
from privet.values.beliefs import Belief
from privet.values.converters import freeze
from privet.values.frozen_dict import FrozenDict
from privet.values.windows import Span

if TYPE_CHECKING:
    from rich.console import RenderableType


# Attacks ----------------------------------------------------------------------------

Cell = str | None | tuple[str | None, ...]
"""A value of the sensitive column, or a set of them where it holds sets."""


@attrs.frozen
class AttackedGroup:
    """One equivalence class of the release, and whom of it the insider knows."""

    where: Mapping[str, str | None] = attrs.field(converter=freeze)
    """What its people look like."""
    histogram: Mapping[Cell, int] = attrs.field(converter=freeze)
    """How many of them have each value."""
    known: Mapping[Cell, int] = attrs.field(factory=dict, converter=freeze)
    """People whose value is known: how many have each."""
    companions: int = 0
    """People of it who share the victim's value, if they have it."""
    names: Mapping[str, Cell] = attrs.field(factory=dict, converter=freeze)
    """The people known by name, and their values."""
    companion_names: tuple[str, ...] = ()
    """The companions known by name."""

    def to_dict(self) -> dict[str, Any]:
        """For machines; values as pairs, since a missing value has no text."""
        named = {"names": {n: _as_list(v) for n, v in self.names.items()}}
        called = {"companion_names": list(self.companion_names)}
        return {
            "group": dict(self.where),
            "histogram": _as_pairs(self.histogram),
            "known": _as_pairs(self.known),
            "companions": self.companions,
            **(named if self.names else {}),
            **(called if self.companion_names else {}),
        }


@dataclass(frozen=True)
class Attack:
    """The background knowledge about one victim, and how sure it makes an insider."""

    value: str | None
    """The value believed."""
    rules_out: tuple[str | None, ...]
    """Values the victim does not have."""
    groups: tuple[AttackedGroup, ...]
    """The groups involved, the victim's first."""
    belief: Fraction
    """How sure the insider is."""
    victim: str = ""
    """The victim's name, where one is known."""
    sure: tuple[Fraction, ...] = ()
    """How surely each of these values is ruled out; empty: for certain."""

    @property
    def known(self) -> int:
        """How many other people's values are used."""
        return sum(n for c in self.groups for n in c.known.values())

    @property
    def companions(self) -> int:
        """How many people are used who share the victim's value."""
        return sum(c.companions for c in self.groups)

    def recount(self) -> Fraction:
        """The belief again, by counting the ways to deal values to the people named.

        >>> values = {"Flu": 1, "Cancer": 1, "AIDS": 1, "Cold": 1}
        >>> four = AttackedGroup({}, values, {"Flu": 1})
        >>> Attack("AIDS", ("Cancer",), (four,), Fraction(1, 2)).recount()
        Fraction(1, 2)
        """
        return recount_belief(self.value, self.rules_out, self.groups, self.sure)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        victim = {"victim": self.victim} if self.victim else {}
        sure = {"sure": [str(p) for p in self.sure]} if self.sure else {}
        return {
            **victim,
            "rules_out": list(self.rules_out),
            **sure,
            "groups": [c.to_dict() for c in self.groups],
        }


def recount_belief(
    value: str | None,
    rules_out: Sequence[str | None],
    groups: Sequence[AttackedGroup],
    sure: Sequence[Fraction] = (),
) -> Fraction:
    """How likely the victim, of the first group, has the value.

    If the victim has it, companions may have any value; if not, they all lack it.
    Worlds where the victim has a value that is ruled out weigh what is left of it.
    """
    first, *others = groups
    doubts = [1 - p for p in sure] or [Fraction(0)] * len(rules_out)
    weight = dict(zip(rules_out, doubts, strict=True))
    having, lacking = _count_with_victim(first, value, weight)
    for group in others:
        counts = _remove_known(group)
        everybody = sum(counts.values())
        without = everybody - _count_holders(counts, value)
        having *= _count_deals(group) * perm(everybody, group.companions)
        lacking *= _count_deals(group) * perm(without, group.companions)
    if not having + lacking:
        raise impossible()
    return having / (having + lacking)


def impossible() -> InputError:
    """What is known contradicts the release, or itself."""
    return InputError(
        "What an insider knows must fit some table that would give this release; "
        "it fits none."
    )


def _count_with_victim(
    group: AttackedGroup, value: str | None, weight: Mapping[str | None, Fraction]
) -> tuple[Fraction, Fraction]:
    """Ways to deal the victim's group where the victim has the value, and not."""
    counts = _remove_known(group)
    having = lacking = Fraction(0)
    for cell, n in counts.items():
        likely = prod((w for x, w in weight.items() if has(cell, x)), start=Fraction(1))
        if not n or not likely:
            continue
        rest = sum(counts.values()) - 1
        if has(cell, value):
            having += likely * n * perm(rest, group.companions)
        else:
            rest -= _count_holders(counts, value)
            lacking += likely * n * perm(rest, group.companions)
    return _count_deals(group) * having, _count_deals(group) * lacking


def _remove_known(group: AttackedGroup) -> dict[Cell, int]:
    """How many have each value, once the people known have theirs."""
    counts = dict(group.histogram)
    for cell, n in group.known.items():
        counts[cell] = max(counts.get(cell, 0) - n, 0)
    return counts


def _count_deals(group: AttackedGroup) -> int:
    """Ways to give the people known their values; 0 where there are too few."""
    ways = 1
    for cell, n in group.known.items():
        ways *= perm(group.histogram.get(cell, 0), n)
    return ways


def _count_holders(counts: Mapping[Cell, int], value: str | None) -> int:
    return sum(n for cell, n in counts.items() if has(cell, value))


def has(cell: Cell, value: str | None) -> bool:
    """Whether somebody with this cell has the value."""
    return value in cell if isinstance(cell, tuple) else cell == value


def _as_list(cell: Cell) -> Any:
    return list(cell) if isinstance(cell, tuple) else cell


def _as_pairs(counts: Mapping[Cell, int]) -> list[list[Any]]:
    return [[_as_list(v), n] for v, n in counts.items()]


# Findings ---------------------------------------------------------------------------


class Verdict(StrEnum):
    """What became of a promise."""

    SAFE = "safe"
    BREACH = "breach"
    UNDECIDED = "undecided"
    NOT_COVERED = "not covered"
    NOT_APPLICABLE = "not applicable"


class Basis(StrEnum):
    """How a belief was found. A bound may not accuse; the others may."""

    EXACT = "exact"
    BOUND = "bound"
    SAMPLED = "sampled"
    MODEL = "model"
    ATTACK = "attack"


@attrs.frozen
class Witness:
    """The case that decides: whom, knowing what, by which counts."""

    knows: Mapping[str, str | None] = attrs.field(converter=freeze)
    """What the adversary knows of the victim, column by column; None: missing."""
    column: str
    """What the belief is about; empty for a measure."""
    value: str | None
    """The value believed."""
    part: int
    """People who fit and have the value …"""
    whole: int
    """… out of the people who fit."""
    prior_part: int
    """People with the value …"""
    prior_whole: int
    """… out of everybody."""
    counted: str = "rows"
    """What the counts count: rows or people; "chances" where nothing was counted."""
    attack: Attack | None = attrs.field(default=None, repr=False)
    """What an insider knows besides; the belief then is the attack's."""
    sees: Mapping[str, str] = attrs.field(factory=dict, converter=freeze)
    """The disguised row that is seen, where there is one."""
    window: Span | None = attrs.field(default=None, repr=False)
    """Of a number within a window: the lowest and the highest that lie in it; `value`
    says it in words."""

    def __attrs_post_init__(self) -> None:
        shares = ((self.part, self.whole), (self.prior_part, self.prior_whole))
        if not all(0 <= part <= whole for part, whole in shares):
            raise InputError(
                "A witness must count a part of a whole; got "
                + " and ".join(f"{part} of {whole}" for part, whole in shares)
                + "."
            )

    @property
    def belief(self) -> Belief:
        """The belief these counts amount to."""
        sure = self.attack.belief if self.attack else Fraction(self.part, self.whole)
        return Belief(Fraction(self.prior_part, self.prior_whole), sure)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        people = {"count": self.part, "of": self.whole, "counted": self.counted}
        if not self.column:  # a measure: people who look alike, and nothing about them
            return {"knows": dict(self.knows), **people}
        return {
            "knows": dict(self.knows),
            **({"sees": dict(self.sees)} if self.sees else {}),
            "about": {self.column: self._describe_value()},
            **people,
            "prior_count": self.prior_part,
            "prior_of": self.prior_whole,
            **({"attack": self.attack.to_dict()} if self.attack else {}),
        }

    def _describe_value(self) -> Any:
        return self.value if self.window is None else self.window.to_dict()


def _freeze_each(
    keys: Iterable[Mapping[str, str | None]],
) -> tuple[FrozenDict[str, str | None], ...]:
    return tuple(map(freeze, keys))


@attrs.frozen
class Reconstruction(Witness):
    """An association that the tables behind some views may hold.

    Of `whole` tables that would give the views, `part` hold it.
    """

    model: str = "unrestricted"
    """Which tables count as possible."""
    views: int = 2
    """How many views bear on it."""
    keys: tuple[Mapping[str, str | None], ...] = attrs.field(
        default=(), converter=_freeze_each
    )
    """The values of the shared columns in which both meet: with the two of them, the
    tuples of the join that support it."""
    sizes: tuple[tuple[int, int], ...] = ()
    """People and values of those keys."""
    cover: tuple[str | None, ...] = ()
    """Values that the join gives the person; not all of very many."""
    covered: int = 0
    """How many values that are."""
    shares: Mapping[str, Fraction | None] = attrs.field(factory=dict, converter=freeze)
    """The belief by model; None where the views refute the model."""
    alone: bool = False
    """Whether no other key leaves a choice: then these are all tables there are."""
    listed: bool = False
    """Whether associations were looked at one by one, rather than whole keys."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        shares = {m: None if s is None else str(s) for m, s in self.shares.items()}
        return {
            "knows": dict(self.knows),
            "about": {self.column: self.value},
            "count": self.part,
            "of": self.whole,
            "counted": self.counted,
            "model": self.model,
            "keys": [dict(k) for k in self.keys],
            "sizes": [list(s) for s in self.sizes],
            "cover": list(self.cover),
            "cover_size": self.covered,
            "shares": shares,
        }


@dataclass(frozen=True)
class Finding(Displayed):
    """What was found about one promise or one measure."""

    promise: Promise | Measure | Uncovered
    """What was promised; or what nothing was promised about."""
    verdict: Verdict
    """What became of it."""
    basis: Basis | None = None
    """How that is known; None where nothing was counted."""
    belief: Belief | None = None
    """The worst belief; None for measures, and where nothing was counted."""
    witness: Witness | None = None
    """The case that attains it."""
    groups: int = 0
    """Equivalence classes, groups who look alike to the adversary of the worst case."""
    groups_above: int = 0
    """How many of them are beyond the limit."""
    people_above: int = 0
    """How many people these groups hold."""
    value: Fraction | None = None
    """What a measure measures."""
    note: str = ""
    """What else must be said."""
    at_least: Fraction | None = None
    """Where the belief is a bound: another one, below."""
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """More that was counted, for machines."""

    def __post_init__(self) -> None:
        if self.verdict is Verdict.BREACH and not self._may_accuse():
            raise InputError(
                "A breach must rest on an exact or a sampled belief; "
                f"got {self.basis and self.basis.value!r}."
            )

    def _may_accuse(self) -> bool:
        """Only what is exact or sampled, or bounded from below beyond the limit."""
        if self.basis in _ACCUSING:
            return True
        if self.at_least is None or not isinstance(self.promise, Promise):
            return False
        return not self.promise.limit.holds(Belief(0, self.at_least))

    def explain(self) -> str:
        """The finding in plain words."""
        from privet.report import words

        return words.explain(self)

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        from privet.report import summary

        return summary.finding(self)

    def __repr__(self) -> str:
        from privet.report import render

        return render.finding_as_text(self.to_dict())

    def __rich__(self) -> RenderableType:
        from privet.report import render

        return render.finding_as_rich(self.to_dict())


class Exposed(Protocol):
    """What a release exposes, as its kind counts it."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""

    def explain(self) -> list[str]:
        """In plain words, a line each."""


class Judged(Protocol):
    """What is known of earlier releases, judged together with the new one."""

    @property
    def verdict(self) -> Verdict:
        """What they come to together."""

    def to_dict(self) -> dict[str, Any]:
        """For machines, and in words."""


@attrs.frozen
class Audit(Reportable):
    """What was found about every promise; sensitive, for it quotes the table."""

    findings: tuple[Finding, ...] = attrs.field(converter=tuple[Finding, ...])
    """One per promise and measure, in the order of the policy."""
    title: str = ""
    """The policy's title."""
    notes: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])
    """Warnings that came up."""
    uncovered: tuple[Finding, ...] = attrs.field(
        default=(), converter=tuple[Finding, ...]
    )
    """One per sensitive column that no promise covers, and nobody accepted; of a
    classifier one for inversion."""
    exposure: Exposed | None = attrs.field(default=None, eq=False, repr=False)
    """Of how many people something is told, promised or not; None: not counted."""
    history: Judged | None = attrs.field(default=None, eq=False, repr=False)
    """What earlier releases add; None: nobody asked for them."""

    def __attrs_post_init__(self) -> None:
        if not self.findings:
            raise InputError("An audit must have findings; got none.")

    @property
    def verdict(self) -> Verdict:
        """Breach over undecided over not covered over safe; earlier ones included."""
        found = [f.verdict for f in (*self.findings, *self.uncovered)]
        if self.history is not None and self.history.verdict is not Verdict.SAFE:
            found.append(self.history.verdict)
        return max(found, key=_ORDER.index)

    @property
    def safe(self) -> bool:
        """Whether every promise that applies is kept."""
        return self.verdict is Verdict.SAFE

    @property
    def worst(self) -> Finding:
        """The finding to look at first: gravest verdict, then highest belief."""
        return max(self.findings, key=_gravity)

    def require_safe(self) -> Audit:
        """The audit itself if it is safe; otherwise `Breach` is raised."""
        if self.safe:
            return self
        if self.verdict is Verdict.NOT_COVERED:
            raise Breach(
                "What a release tells must be covered by a promise, or accepted; "
                f"{'; '.join(f.promise.name for f in self.uncovered)}.",
                self.uncovered,
            )
        bad = [f for f in self.findings if f.verdict is self.verdict]
        if not bad:
            raise Breach(
                "Every promise must be kept with the earlier releases, too; together "
                f"they are {_BAD[self.verdict]}.",
                bad,
            )
        names = ", ".join(repr(f.promise.name) for f in bad)
        raise Breach(
            f"Every promise must be kept; {len(bad)} of {len(self.findings)} "
            f"{'is' if len(bad) == 1 else 'are'} {_BAD[self.verdict]}: {names}.",
            bad,
        )

    def explain(self) -> str:
        """The whole audit in plain words."""
        from privet.report import render

        return render.as_text(self.to_dict(), whole=True)

    def to_dict(self) -> dict[str, Any]:
        """For machines, probabilities as fractions in text."""
        from privet.report import summary

        return summary.audit(self)

    def __repr__(self) -> str:
        from privet.report import render

        return render.as_text(self.to_dict())

    def __rich__(self) -> RenderableType:
        from privet.report import render

        return render.as_rich(self.to_dict())


_BAD = {
    Verdict.BREACH: "broken",
    Verdict.UNDECIDED: "undecided",
    Verdict.NOT_COVERED: "not covered",
    Verdict.NOT_APPLICABLE: "not applicable here",
}
_ACCUSING = (Basis.EXACT, Basis.SAMPLED, Basis.ATTACK, Basis.MODEL)
_ORDER = (
    Verdict.NOT_APPLICABLE,
    Verdict.SAFE,
    Verdict.NOT_COVERED,
    Verdict.UNDECIDED,
    Verdict.BREACH,
)
"""From the lightest to the gravest."""


def _gravity(finding: Finding) -> tuple[int, Fraction]:
    posterior = finding.belief.posterior if finding.belief else Fraction(0)
    return _ORDER.index(finding.verdict), posterior
