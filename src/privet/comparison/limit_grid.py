"""A limit of a policy swept over a grid: k, l, t, c, or how sure somebody may be.

``"k_anonymity=2:10:2"`` sweeps a measure from 2 to 10 in steps of 2, ``"nobody learns
HIV=0.1,0.25,0.5"`` the limit of the promise of that name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import attrs

from privet.errors import InputError, suggest_names
from privet.policy import Measure, Policy, Promise
from privet.policy.measures import AT_LEAST
from privet.values.beliefs import Ceiling
from privet.values.exact import Number, fraction

MOST_LIMITS = 1000
"""Limits of one sweep."""

LEVEL, FACTOR, LEAST = "", "c", "k"
"""What of a measure is swept: its level, the factor of recursive diversity, or the
people beside alpha."""


@dataclass(frozen=True)
class LimitGrid:
    """The limits that one promise or measure is tried with, the loosest first."""

    policy: Policy
    """The policy; all else stays as it is."""
    name: str
    """The promise or measure, as the policy calls it."""
    option: str
    """What of a measure is swept; empty: its level."""
    limits: tuple[Fraction, ...]
    """Each once, the loosest first."""

    @classmethod
    def build(cls, policy: Policy, name: str, over: Iterable[Number]) -> LimitGrid:
        """The grid of a promise, or of a measure by its name or its key."""
        stated, option = _find_stated(policy, name)
        _refuse_unjudged(stated)
        if isinstance(over, str):
            raise InputError(
                "over must be a list of limits such as ['0.1', '0.5']; got a text."
            )
        given = list(over)
        if not 1 <= len(given) <= MOST_LIMITS:
            raise InputError(
                f"over must have from 1 to {MOST_LIMITS} limits; got {len(given)}."
            )
        limits = sorted({fraction(v, "over") for v in given})
        if not _grows_stricter(stated, option):
            limits.reverse()
        grid = cls(policy, stated.name, option, tuple(limits))
        for limit in limits:
            grid.set_limit(limit)  # what makes no sense is refused before anything runs
        return grid

    @property
    def key(self) -> str:
        """What the limit is called: at_most, below, or the measure's key."""
        stated = self._find()
        if isinstance(stated, Measure):
            return f"{stated.kind}.{self.option}" if self.option else stated.kind
        return next(iter(stated.limit.to_dict()))

    def set_limit(self, limit: Fraction) -> Policy:
        """The policy with another limit."""
        changed = _change(self._find(), self.option, limit)
        if isinstance(changed, Measure):
            measures = [
                changed if m.name == self.name else m for m in self.policy.measures
            ]
            return attrs.evolve(self.policy, measures=measures)
        promises = [changed if p.name == self.name else p for p in self.policy.promises]
        return attrs.evolve(self.policy, promises=promises)

    def find_place(self) -> int:
        """Which of the policy's promises and measures it is, as an audit lists them."""
        return [s.name for s in _list_stated(self.policy)].index(self.name)

    def _find(self) -> Promise | Measure:
        return _list_stated(self.policy)[self.find_place()]


def parse_sweep(text: str) -> tuple[str, list[Fraction]]:
    """A name and its limits: ``NAME=first:last:step`` or ``NAME=one,two,three``.

    >>> parse_sweep("k_anonymity=2:6:2")
    ('k_anonymity', [Fraction(2, 1), Fraction(4, 1), Fraction(6, 1)])
    """
    name, sign, listed = text.rpartition("=")
    if not sign or not name or not listed:
        raise InputError(
            f"A sweep must be NAME=FIRST:LAST:STEP or NAME=LIMIT,LIMIT; got {text!r}."
        )
    if ":" not in listed:
        return name, [fraction(part.strip(), "a limit") for part in listed.split(",")]
    parts = [fraction(part.strip(), "a limit") for part in listed.split(":")]
    if len(parts) not in (2, 3):
        raise InputError(f"A sweep must be FIRST:LAST:STEP; got {listed!r}.")
    first, last, step = (*parts, Fraction(1))[:3]
    if step <= 0 or last < first or (last - first) / step > MOST_LIMITS:
        raise InputError(
            "A sweep must go up from FIRST to LAST in steps above 0, at most "
            f"{MOST_LIMITS}; got {listed!r}."
        )
    return name, [first + step * i for i in range(int((last - first) / step) + 1)]


def _list_stated(policy: Policy) -> list[Promise | Measure]:
    return [*policy.promises, *policy.measures]


def _find_stated(policy: Policy, name: str) -> tuple[Promise | Measure, str]:
    """The promise or measure of that name; a measure also by its key."""
    both = _list_stated(policy)
    for stated in both:
        if stated.name == name:
            return stated, LEVEL
    kind, _, option = name.partition(".")
    same = [m for m in policy.measures if kind in (m.kind, m.name)]
    if len(same) == 1 and option in (LEVEL, *_list_options(same[0])):
        return same[0], option
    known = [s.name for s in both] + [m.kind for m in policy.measures]
    raise InputError(
        f"What is swept must be a promise or measure of the policy; got {name!r}. "
        f"{suggest_names(name, known)}"
    )


def _refuse_unjudged(stated: Promise | Measure) -> None:
    """A limit that no table is judged by would cost nothing, whatever it is."""
    if isinstance(stated, Promise) and "groups" not in stated.against.looks_at:
        raise InputError(
            "What is swept must be judged on tables; "
            f"{stated.name!r} is against a {stated.against.kind}, who does not look at "
            "them."
        )


def _list_options(measure: Measure) -> list[str]:
    return [o for o in (FACTOR, LEAST) if getattr(measure, o) is not None]


def _grows_stricter(stated: Promise | Measure, option: str) -> bool:
    """Whether the larger limit is the stricter one."""
    if isinstance(stated, Promise):
        return False
    if option:
        return option == LEAST
    return stated.sense == AT_LEAST


def _change(
    stated: Promise | Measure, option: str, limit: Fraction
) -> Promise | Measure:
    """The same promise or measure with another limit."""
    if isinstance(stated, Measure):
        return _change_measure(stated, option, limit)
    if not isinstance(stated.limit, Ceiling):
        raise InputError(
            "A limit that is swept must be at_most or below; that of "
            f"{stated.name!r} is {next(iter(stated.limit.to_dict()))}."
        )
    key = "below" if stated.limit.strict else "at_most"
    changed = Ceiling(**{key: limit})
    return Promise(stated.against, changed, stated.about, stated.name)


def _change_measure(stated: Measure, option: str, limit: Fraction) -> Measure:
    keys = stated.to_dict()
    plain = Measure(**{k: v for k, v in keys.items() if k != "name"})
    if plain.name == stated.name:  # it says its level
        del keys["name"]
    at = option or stated.kind
    whole = option == LEAST or (isinstance(keys[at], int) and limit.denominator == 1)
    keys[at] = int(limit) if whole and limit.denominator == 1 else str(limit)
    return Measure(**keys)
