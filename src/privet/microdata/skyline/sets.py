"""SkylineCheck for a set-valued sensitive attribute: sets are dealt, values believed.

An insider rules out single values, knows other people's whole sets, and knows people v
with "if s is in v's set, it is in the victim's". For up to two values ruled out every
choice is tried; beyond, a sound bound: nobody is sure of more than it says.
Chen, LeFevre, Ramakrishnan 2007, set-valued attributes (whole sets are permuted).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
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
from privet.languages import mark
from privet.microdata.linkage import require_ceiling
from privet.microdata.list_columns import Set
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.set_counts import EXACT, GroupSets, index_sets
from privet.microdata.skyline.skyline import APART, TOGETHER, WITH_KNOWN
from privet.microdata.skyline.witness import place_people
from privet.policy import Promise
from privet.values.adversaries import Insider
from privet.values.arrays import Flags
from privet.values.beliefs import Belief, Ceiling
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import MAX_COUNT

BOUND = mark(
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


SetCase = tuple[Fraction, "str | None", str, Entry, Entry]
"""The least odds, the value, the shape of the attack, and its groups."""


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
        values, has = index_sets(map(_as_set, group.histogram))
        counts = GroupSets(has, np.array(list(group.histogram.values()), np.int64))
        for j, s in enumerate(values):
            if self.protect is None or s in self.protect:
                for entry in self._build_entries(counts, j, values, at):
                    used |= self._keep(s, entry)
        if used:
            self.kept.append(group)

    def _build_entries(
        self, counts: GroupSets, j: int, values: list[str | None], at: int
    ) -> Iterator[Entry]:
        a = int(counts.having[j])
        b = counts.people - a
        if self.given is None:
            found = counts.list_choices(j, self.several).keep_best()
        elif values[j] in self.given:
            return
        else:
            out = [i for i, v in enumerate(values) if v in self.given]
            found = counts.rule_out(j, out)
        for tail, holders, ruled in zip(*found, strict=True):
            gone = tuple(values[x] for x in ruled.tolist() if x >= 0)
            yield Entry(int(tail), int(holders), a, b, self.given or gone, at)

    def _keep(self, s: str | None, new: Entry) -> bool:
        """Keep an entry unless another is at least as good for every k and m."""
        own = self.entries.setdefault(s, [])
        if any(_beats(old, new) for old in own):
            return False
        own[:] = [old for old in own if not _beats(new, old)]
        own.append(new)
        return True

    def find_worst(self) -> SetCase | None:
        """The least odds, the value, the shape of the attack, and its groups."""
        k, m = self.point.k, self.point.m
        found = []
        # Of values as likely the first of the alphabet, in whatever order they came.
        for s, own in sorted(
            self.entries.items(), key=lambda e: (e[0] or "", e[0] is None)
        ):
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


@dataclass(frozen=True)
class SetSkyline:
    """SkylineCheck for every l at once, from which the skyline of lists is found."""

    sets: Sequence[Set]
    """The set each code stands for."""
    checks: tuple[SetSkylineCheck, ...]
    """One per number of values ruled out."""
    groups: int = 0
    people: int = 0
    smallest: int = 0
    """People of the smallest group."""

    @classmethod
    def start(cls, sets: Sequence[Set], caps: Point) -> SetSkyline:
        """No group yet; nobody rules out more values than there are."""
        assert isinstance(caps.l, int)
        values = {v for own in sets for v in own}
        rulings = range(min(caps.l, len(values)) + 1)
        return cls(sets, tuple(SetSkylineCheck(Point(l, 0, 0)) for l in rulings))

    def add(self, batch: EquivalenceClasses) -> SetSkyline:
        """Some more whole groups."""
        for group in list_groups(batch, self.sets):
            for check in self.checks:
                check.add(group)
        least = int(batch.total.min()) if len(batch) else self.smallest
        return replace(
            self,
            groups=self.groups + len(batch),
            people=self.people + int(batch.total.sum()),
            smallest=min(self.smallest or least, least),
        )

    def is_exact(self, l: int) -> bool:
        """Whether so many values ruled out are tried one by one."""
        return l <= EXACT

    def _find_worst(self, point: Point) -> SetCase | None:
        assert isinstance(point.l, int)
        return replace(self.checks[point.l], point=point).find_worst()

    def belief(self, point: Point) -> Fraction:
        """How sure an insider can be; of more than two values ruled out, at most."""
        case = self._find_worst(point)
        return Fraction(0) if case is None else closed_forms.belief_from_odds(case[0])

    def build_attack(self, point: Point) -> Attack | None:
        """The case that attains it; a bound has none."""
        assert isinstance(point.l, int)
        case = self._find_worst(point)
        if case is None or not self.is_exact(point.l):
            return None
        return build_set_attack(case, self.checks[point.l].kept, point)


def list_groups(
    batch: EquivalenceClasses, sets: Sequence[Set]
) -> Iterator[AttackedGroup]:
    """Groups with how many people have each set."""
    names = [d.name for d in batch.by]
    for g in range(len(batch)):
        part = slice(batch.start[g], batch.start[g + 1])
        counts: dict[Cell, int] = {}
        for code, n in zip(batch.value[part], batch.n[part], strict=True):
            own = sets[int(code)]
            counts[own] = counts.get(own, 0) + int(n)
        where = dict(zip(names, batch.labels(g), strict=True))
        yield AttackedGroup(where, counts)


def build_set_attack(
    case: SetCase, kept: Sequence[AttackedGroup], point: Point
) -> Attack:
    """Who knows what in the worst case, recounted from its groups."""
    _, s, shape, first, second = case
    victim, other = kept[first.group], kept[second.group]
    groups = place_people(victim, other, s, first.ruled, point, shape)
    return Attack(s, first.ruled, groups, recount_belief(s, first.ruled, groups))


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
    known: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)
    """Groups that were judged by themselves, by the codes and counts of their sets."""

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        for group in list_groups(batch, self.sets):
            self.fold.add(group)

    def find_beyond(self, batch: EquivalenceClasses) -> Flags:
        """Which groups break the limit by the attack inside one group.

        A search asks for the same groups again, each of which takes a while.
        """
        parts = [slice(*batch.start[g : g + 2]) for g in range(len(batch))]
        keys = [(batch.value[p].tobytes(), batch.n[p].tobytes()) for p in parts]
        new = [g for g, key in enumerate(keys) if key not in self.known]
        few = batch.take(np.array(new, dtype=np.intp))
        for g, group in zip(new, list_groups(few, self.sets), strict=True):
            self.known[keys[g]] = self._breaks_alone(group)
        return np.array([self.known[key] for key in keys], dtype=bool)

    def _breaks_alone(self, group: AttackedGroup) -> bool:
        fold = SetSkylineCheck(self.fold.point, self.fold.given, self.fold.protect)
        fold.add(group)
        case = fold.find_worst()
        if case is None:
            return False
        belief = Belief(0, closed_forms.belief_from_odds(case[0]))
        return not self.limit.holds(belief)

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
        case: SetCase,
        everybody: EquivalenceClasses,
        counted: str,
    ) -> Witness:
        _, s, _, first, _ = case
        attack = build_set_attack(case, self.fold.kept, self.fold.point)
        return Witness(
            knows=attack.groups[0].where,
            column=self.tally.about,
            value=s,
            part=first.a,
            whole=first.a + first.b,
            prior_part=self._count_holders(s, everybody),
            prior_whole=int(everybody.total[0]),
            counted=counted,
            attack=attack,
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
