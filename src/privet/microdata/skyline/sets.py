"""SkylineCheck for a set-valued sensitive attribute: sets are dealt, values believed.

An insider rules out single values, knows other people's whole sets, and knows people v
with "if s is in v's set, it is in the victim's". For up to two values ruled out every
choice is tried; beyond, a sound bound: nobody is sure of more than it says.
Chen, LeFevre, Ramakrishnan 2007, set-valued attributes (whole sets are permuted).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privet.engine.protocol import CountQuery
from privet.errors import NoAudit
from privet.findings import (
    Attack,
    AttackedGroup,
    Basis,
    Cell,
    Finding,
    Verdict,
    Witness,
    has,
    recount_belief,
)
from privet.microdata.linkage import require_ceiling
from privet.microdata.list_columns import Set
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.skyline import APART, TOGETHER, WITH_KNOWN
from privet.microdata.skyline.witness import place_people
from privet.policy import Promise
from privet.values.adversaries import Insider
from privet.values.beliefs import Belief, Ceiling
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import MAX_COUNT

EXACT = 2
"""Values ruled out up to which every choice is tried."""

BOUND = (
    "People have several values each and more than two are ruled out: this is an upper "
    "bound on how sure somebody can be."
)


class Entry(NamedTuple):
    """What one group offers an attack on one value."""

    tail: int
    """People with neither the value nor one ruled out."""
    holders: int
    """People with the value and none ruled out."""
    a: int
    """People with the value."""
    b: int
    """People without it."""
    ruled: Set
    """The values ruled out."""
    group: int
    """The group, among those kept."""


@dataclass
class SetSkylineCheck:
    """The fold of SkylineCheck: entries of all groups that can decide, per value."""

    point: Point
    given: Set | None = None
    """The values ruled out, where they are given."""
    protect: frozenset[str | None] | None = None
    kept: list[AttackedGroup] = field(default_factory=list)
    entries: dict[str | None, list[Entry]] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether the answer is exact, not a bound."""
        return self.given is not None or self.several <= EXACT

    @property
    def several(self) -> int:
        """How many values may be ruled out."""
        return self.point.l if isinstance(self.point.l, int) else len(self.point.l)

    def add(self, group: AttackedGroup) -> None:
        """One more group."""
        at = len(self.kept)
        used = False
        values = dict.fromkeys(v for cell in group.histogram for v in _as_set(cell))
        for s in values:
            if self.protect is None or s in self.protect:
                for entry in self._build_entries(group, s, list(values), at):
                    used |= self._keep(s, entry)
        if used:
            self.kept.append(group)

    def _build_entries(
        self, group: AttackedGroup, s: str | None, values: list[str | None], at: int
    ) -> Iterator[Entry]:
        counts = group.histogram
        a = sum(n for cell, n in counts.items() if has(cell, s))
        b = sum(counts.values()) - a
        # Too few in the tail and too many holders make the odds too low: a bound.
        if not self.exact:
            yield Entry(self._bound_tail(counts, s, b), a, a, b, (), at)
            return
        # Ruling out x takes holders of s away too: those with {s, x}.
        for out in self._list_rulings(s, values):
            left = {c: n for c, n in counts.items() if not any(has(c, x) for x in out)}
            holders = sum(n for cell, n in left.items() if has(cell, s))
            if holders:
                yield Entry(sum(left.values()) - holders, holders, a, b, out, at)

    def _list_rulings(self, s: str | None, values: list[str | None]) -> Iterable[Set]:
        if self.given is not None:
            return [] if s in self.given else [self.given]
        others = [v for v in values if v != s]
        several = range(min(self.several, len(others)) + 1)
        return [out for n in several for out in combinations(others, n)]

    def _bound_tail(self, counts: Mapping[Cell, int], s: str | None, b: int) -> int:
        """People without s, less the most any l values could rule out."""
        lacking: dict[str | None, int] = {}
        for cell, n in counts.items():
            if not has(cell, s):
                for v in _as_set(cell):
                    lacking[v] = lacking.get(v, 0) + n
        # Who has two of the values is counted twice, which only lowers the tail.
        most = sorted(lacking.values(), reverse=True)[: self.several]
        return max(b - sum(most), 0)

    def _keep(self, s: str | None, new: Entry) -> bool:
        """Keep an entry unless another is at least as good for every k and m."""
        own = self.entries.setdefault(s, [])
        if any(_beats(old, new) for old in own):
            return False
        own[:] = [old for old in own if not _beats(new, old)]
        own.append(new)
        return True

    def find_worst(self) -> tuple[Fraction, str | None, str, Entry, Entry] | None:
        """The least odds, the value, the shape of the attack, and its groups."""
        k, m = self.point.k, self.point.m
        found = []
        for s, own in self.entries.items():
            for e in own:
                both = _compute_cf2(e, k) * _compute_cf5(e, k + 1, m)
                found.append((both, s, TOGETHER, e, e))
            # CF2 CF3, then CF4 CF5: each factor may have a group of its own.
            for shape, near, far in ((WITH_KNOWN, k, 0), (APART, 0, k)):
                first = min(own, key=partial(_compute_cf2, k=near))
                other = min(own, key=partial(_compute_cf5, k=far, m=m))
                both = _compute_cf2(first, near) * _compute_cf5(other, far, m)
                found.append((both, s, shape, first, other))
        return min(found, key=lambda case: case[0]) if found else None


def _compute_cf2(entry: Entry, k: int) -> Fraction:
    return closed_forms.cf2(entry.tail, entry.holders, k)


def _compute_cf5(entry: Entry, k: int, m: int) -> Fraction:
    return closed_forms.cf5(entry.a, entry.b, k, m)


def _beats(one: Entry, other: Entry) -> bool:
    """Whether one entry's odds are never above the other's."""
    return (
        one.tail <= other.tail
        and one.holders >= other.holders
        and one.a >= other.a
        and one.b <= other.b
    )


def _as_set(cell: Cell) -> Set:
    return cell if isinstance(cell, tuple) else (cell,)


# Judging ----------------------------------------------------------------------------


@dataclass
class SetInsiderAudit:
    """One promise about a column of sets while groups pass by."""

    promise: Promise
    tally: CountQuery
    limit: Ceiling
    sets: Sequence[Set]
    """The set each code stands for."""
    fold: SetSkylineCheck

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        names = [d.name for d in batch.by]
        for g in range(len(batch)):
            part = slice(batch.start[g], batch.start[g + 1])
            counts: dict[Cell, int] = {}
            for code, n in zip(batch.value[part], batch.n[part], strict=True):
                own = self.sets[int(code)]
                counts[own] = counts.get(own, 0) + int(n)
            where = dict(zip(names, batch.labels(g), strict=True))
            self.fold.add(AttackedGroup(where, counts))

    def finding(self, everybody: EquivalenceClasses, counted: str) -> Finding:
        """What became of the promise; a bound never accuses."""
        case = self.fold.find_worst()
        belief, witness = Belief(0, 0), None
        if case is not None:
            prior = self._compute_prior(case[1], everybody)
            belief = Belief(prior, closed_forms.belief_from_odds(case[0]))
            witness = (
                self._build_witness(case, everybody, counted)
                if self.fold.exact
                else None
            )
        kept = self.limit.holds(belief)
        broken = Verdict.BREACH if self.fold.exact else Verdict.UNDECIDED
        return Finding(
            promise=self.promise,
            verdict=Verdict.SAFE if kept else broken,
            basis=Basis.EXACT if self.fold.exact else Basis.BOUND,
            belief=belief,
            witness=witness,
            groups=0,
            note="" if self.fold.exact else BOUND,
        )

    def _compute_prior(self, s: str | None, everybody: EquivalenceClasses) -> Fraction:
        return Fraction(self._count_holders(s, everybody), int(everybody.total[0]))

    def _count_holders(self, s: str | None, everybody: EquivalenceClasses) -> int:
        having = np.array([has(own, s) for own in self.sets])
        return int(everybody.n[having[everybody.value]].sum())

    def _build_witness(
        self,
        case: tuple[Fraction, str | None, str, Entry, Entry],
        everybody: EquivalenceClasses,
        counted: str,
    ) -> Witness:
        _, s, shape, first, second = case
        victim, other = self.fold.kept[first.group], self.fold.kept[second.group]
        groups = place_people(victim, other, s, first.ruled, self.fold.point, shape)
        belief = recount_belief(s, first.ruled, groups)
        return Witness(
            knows=victim.where,
            column=self.tally.about,
            value=s,
            part=first.a,
            whole=first.a + first.b,
            prior_part=self._count_holders(s, everybody),
            prior_whole=int(everybody.total[0]),
            counted=counted,
            attack=Attack(s, first.ruled, groups, belief),
        )


def prepare_set_audit(
    promise: Promise,
    tally: CountQuery,
    values: tuple[object, ...] | None,
    sets: Sequence[Set],
) -> SetInsiderAudit:
    """Prepare a promise about a column of sets."""
    insider = promise.against
    assert isinstance(insider, Insider)
    k, m, out = insider.knows_others, insider.same_as, insider.rules_out
    if insider.victim is not None or not isinstance(k, int) or not isinstance(m, int):
        raise NoAudit(
            "People cannot be known by name where a column holds sets; give numbers."
        )
    given = None if isinstance(out, int) else tuple(out)
    several = out if isinstance(out, int) else len(out)
    point = Point(*(min(n, MAX_COUNT) for n in (several, k, m)))
    wanted = (
        None
        if values is None
        else frozenset(None if v is None else str(v) for v in values)
    )
    fold = SetSkylineCheck(point, given, wanted)
    return SetInsiderAudit(promise, tally, require_ceiling(promise), sets, fold)
