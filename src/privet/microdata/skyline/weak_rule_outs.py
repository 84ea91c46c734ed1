"""Values ruled out with a probability: an insider who is only fairly sure.

Somebody who rules a value out with probability p has seen what is 1 - p times as likely
if the victim has it as if the victim has another: people with that value weigh 1 - p.
Of those who lack the value believed, W(j) is the weight that is left once the j
heaviest are known. It takes the place of the tail T - j, and the odds are the least of

* W(k) / a * Q(k + 1, m): the victim, the people known and the companions together;
* W(j) / a * Q'(k - j, m) for any j from 0 to k: j of the people known are with the
  victim, the others with the companions, who are in another group (Q').

Between two of its kinks W falls evenly, and the logarithm of the product is concave:
the least is at a kink, or at 0 or k. For p = 1 this is `skyline.py`, where the ends
suffice.
Beyond Chen, LeFevre, Ramakrishnan 2007, whose values are ruled out for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from math import lcm

import attrs
import numpy as np

from privet.findings import Attack, AttackedGroup, Cell, recount_belief
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Floats, Ints
from privet.microdata.skyline.skyline import (
    RankedValues,
    Rows,
    pareto_front,
    rank_values,
    select_protected_rows,
)
from privet.microdata.skyline.witness import build_attacked_group, count_left
from privet.values.adversaries import Insider
from privet.values.arrays import Flags
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain, find_distinct
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import MAX_COUNT

Weights = tuple[Fraction, ...]


@dataclass(frozen=True)
class WeakPoint:
    """How much an insider knows whose values are ruled out with probabilities."""

    doubts: Weights
    """1 - p of each value: what stays of its likelihood."""
    codes: tuple[int, ...] | None
    """Which values; None: the worst, the surest on the most frequent."""
    k: int
    """Other people whose value is known."""
    m: int
    """People who share the victim's value."""

    @cached_property
    def levels(self) -> Weights:
        """The different weights, rising; the last is 1."""
        return (*sorted({d for d in self.doubts if d < 1}), Fraction(1))

    @cached_property
    def scale(self) -> int:
        """What makes all weights integers."""
        return lcm(*(d.denominator for d in self.levels))

    @cached_property
    def _scaled(self) -> list[int]:
        return [int(d * self.scale) for d in sorted(self.doubts)]

    def weigh_rest(self, others: Sequence[int], known: int) -> int:
        """W of falling counts once so many are known, times `scale`."""
        left, weight = max(sum(others) - known, 0), 0
        for n, own in zip_longest(others, self._scaled[: len(others)]):
            here = min(left, n)  # the most frequent are the lightest, and stay longest
            weight += here * (self.scale if own is None else own)
            left -= here
        return weight

    def weigh_own(self, code: int) -> Fraction:
        """What stays of the likelihood of the value believed."""
        if self.codes is None or code not in self.codes:
            return Fraction(1)
        return self.doubts[self.codes.index(code)]


def read_weak_point(insider: Insider, domain: Domain) -> WeakPoint:
    """What an insider knows who rules values out with probabilities.

    A value that never occurs rules nothing out.
    """
    known = insider.knows_others, insider.same_as
    k, m = (min(n, MAX_COUNT) if isinstance(n, int) else 0 for n in known)
    named = insider.rules_out
    if isinstance(named, int):
        return WeakPoint(insider.list_doubts(len(domain)), None, k, m)
    both = zip(insider.list_doubts(len(named)), map(domain.code, named), strict=True)
    occurring = [(doubt, code) for doubt, code in both if code is not None]
    doubts, codes = [d for d, _ in occurring], [c for _, c in occurring]
    return WeakPoint(tuple(doubts), tuple(codes), k, m)


# People by weight -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WeighedRows:
    """Rows (group, value, count) with the people of the group who lack the value."""

    point: WeakPoint
    group: Rows
    value: Ints
    a: Ints
    """People with the value."""
    lacking: Ints
    """People without it, by weight: a line per row, a column per level."""

    @classmethod
    def of(
        cls, rows: RankedValues, point: WeakPoint, protect: Sequence[int] | None
    ) -> WeighedRows:
        """The rows of values that matter, and may be the victim's."""
        at = select_protected_rows(rows, protect)
        impossible = [c for c in point.codes or () if not point.weigh_own(c)]
        at = at[~np.isin(rows.value[at], impossible)]
        count = _count_ranked if point.codes is None else _count_named
        light = count(rows, at, point)
        rest = rows.b[at] - light.sum(axis=1)
        lacking = np.column_stack([light, rest])
        return cls(point, rows.group[at], rows.value[at], rows.a[at], lacking)

    @cached_property
    def b(self) -> Ints:
        """People without the value."""
        return np.asarray(self.lacking.sum(axis=1))

    @cached_property
    def own(self) -> Floats:
        """What stays of the likelihood of each row's value."""
        found = np.ones(len(self.a))
        for code in self.point.codes or ():
            found[self.value == code] = float(self.point.weigh_own(code))
        return found

    def take(self, at: Rows) -> WeighedRows:
        """Some of the rows."""
        columns = self.group[at], self.value[at], self.a[at], self.lacking[at]
        return WeighedRows(self.point, *columns)

    def weigh_left(self, j: Ints) -> Floats:
        """W(j) / a: the odds of the victim alone, once the j heaviest are known."""
        left = np.maximum(self.b - j, 0)
        weight = np.zeros(len(self.a))
        for i, level in enumerate(self.point.levels):  # the lightest stay longest
            here = np.minimum(left, self.lacking[:, i])
            weight += float(level) * here
            left = left - here
        return weight / (self.own * self.a)

    def weigh_exactly(self, row: int, j: int) -> Fraction:
        """The same for one row, exactly."""
        counts = self.lacking[row].tolist()
        left, weight = max(sum(counts) - j, 0), Fraction(0)
        for level, n in zip(self.point.levels, counts, strict=True):
            here = min(left, n)
            weight, left = weight + level * here, left - here
        return weight / (self.point.weigh_own(int(self.value[row])) * int(self.a[row]))

    def list_kinks(self) -> Ints:
        """Where W bends, and the ends: a line per row."""
        k = self.point.k
        below = np.cumsum(self.lacking, axis=1)
        kinks = np.clip(self.b[:, None] - below, 0, k)
        return np.column_stack([kinks, np.full((len(self.a), 2), [0, k])])

    def find_different(self) -> Rows:
        """One row of each value and counts; the first."""
        if not len(self.a):
            return np.zeros(0, dtype=np.intp)
        columns = [self.value, self.a, *self.lacking.T]
        sizes = [int(c.max()) + 1 for c in columns]
        return np.sort(find_distinct(columns, sizes, len(self.a))[0])


def _count_ranked(rows: RankedValues, at: Rows, point: WeakPoint) -> Ints:
    """People with the most frequent other values, the lightest level first."""
    levels, doubts = point.levels[:-1], sorted(d for d in point.doubts if d < 1)
    found, first = np.zeros((len(at), len(levels)), dtype=np.int64), 0
    for i, level in enumerate(levels):
        last = first + doubts.count(level)
        found[:, i] = _sum_others(rows, at, last) - _sum_others(rows, at, first)
        first = last
    return found


def _sum_others(rows: RankedValues, at: Rows, several: int) -> Ints:
    """The sum of the largest counts of each row's group, the row's own aside."""
    if not several:
        return np.zeros(len(at), dtype=np.int64)
    group = rows.group[at]
    # Counts 4 3 2 1: two others of the 3 are 4 and 2, of the 1 they are 4 and 3.
    with_own = rows.sum_largest(several + 1)[group] - rows.a[at]
    return np.where(
        rows.rank[at] <= several, with_own, rows.sum_largest(several)[group]
    )


def _count_named(rows: RankedValues, at: Rows, point: WeakPoint) -> Ints:
    """People with other values that are named, by level."""
    assert point.codes is not None
    levels = point.levels[:-1]
    found = np.zeros((len(rows.total), len(levels)), dtype=np.int64)
    own = np.zeros((len(at), len(levels)), dtype=np.int64)
    for code, doubt in zip(point.codes, point.doubts, strict=True):
        if doubt < 1:
            i = levels.index(doubt)
            has = rows.value == code
            np.add.at(found[:, i], rows.group[has], rows.a[has])
            own[:, i] += np.where(rows.value[at] == code, rows.a[at], 0)
    return found[rows.group[at]] - own


# The fold ---------------------------------------------------------------------------


@dataclass(frozen=True)
class WeakCase:
    """The best attack of an insider who is only fairly sure."""

    odds: Fraction
    """Against the value."""
    value: int
    """The code of the value believed."""
    victim: int
    """The victim's group, among those kept."""
    other: int
    """The companions' group, among those kept; the victim's own: all are together."""
    near: int
    """How many of the people known are with the victim."""

    @property
    def belief(self) -> Fraction:
        """How sure the insider is."""
        return closed_forms.belief_from_odds(self.odds)


@attrs.frozen(eq=False)
class WeakCheck:
    """The groups that can decide, out of all groups seen; `left | right` merges."""

    point: WeakPoint
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""
    kept: EquivalenceClasses | None = None
    """The groups that can decide."""
    groups: int = 0
    """Groups seen."""

    def add(self, batch: EquivalenceClasses) -> WeakCheck:
        """With some more whole groups."""
        if not len(batch):
            return self
        here = attrs.evolve(self, kept=self._select(batch), groups=len(batch))
        return self | here

    def __or__(self, other: WeakCheck) -> WeakCheck:
        if self.kept is None or other.kept is None:
            return self if other.kept is None else other
        both, groups = self.kept + other.kept, self.groups + other.groups
        return attrs.evolve(self, kept=self._select(both), groups=groups)

    def _weigh(self, batch: EquivalenceClasses) -> WeighedRows:
        return WeighedRows.of(rank_values(batch), self.point, self.protect)

    def _select(self, batch: EquivalenceClasses) -> EquivalenceClasses:
        return batch.take(self.find_deciding(batch))

    def find_deciding(self, batch: EquivalenceClasses) -> Rows:
        """The groups that attain some minimum of this point."""
        rows = self._weigh(batch)
        rows = rows.take(rows.find_different())
        found = [np.zeros(0, dtype=np.intp), _find_together(rows)]
        if self.point.m:
            found += [_find_companions(rows), _find_victims(rows)[0]]
        return np.unique(rows.group[np.concatenate(found)])

    def find_worst(self) -> WeakCase | None:
        """The best attack, exactly; None where no value matters."""
        if self.kept is None:
            return None
        rows = self._weigh(self.kept)
        found = list(_list_together(rows))
        if self.point.m and found:
            found += _list_apart(rows, float(min(c.odds for c in found)))
        return min(found, key=lambda c: c.odds, default=None)

    def belief(self) -> Fraction:
        """How sure the insider can be at worst; 0 where no value matters."""
        case = self.find_worst()
        return case.belief if case else Fraction(0)

    def attack(self) -> Attack | None:
        """The best attack, as anybody can recount it."""
        case = self.find_worst()
        if case is None or self.kept is None:
            return None
        return build_weak_attack(case, self.kept, self.point)


def _compute_together(rows: WeighedRows) -> Floats:
    k, m = rows.point.k, rows.point.m
    alone = rows.weigh_left(np.full(len(rows.a), k))
    return alone * closed_forms.cf5_floats(rows.a, rows.b, k + 1, m)


def _find_together(rows: WeighedRows) -> Rows:
    """The rows where everybody in one group may be the best attack."""
    odds = _compute_together(rows)
    return np.flatnonzero(odds <= odds.min(initial=np.inf) * (1 + NEAR))


def _list_together(rows: WeighedRows) -> list[WeakCase]:
    k, m = rows.point.k, rows.point.m
    found = []
    for r in _find_together(rows).tolist():
        a, b = int(rows.a[r]), int(rows.b[r])
        odds = rows.weigh_exactly(r, k) * closed_forms.cf5(a, b, k + 1, m)
        group = int(rows.group[r])
        found.append(WeakCase(odds, int(rows.value[r]), group, group, k))
    return found


def _find_companions(rows: WeighedRows) -> Rows:
    """The rows where companions alone, or with people known, may be best."""
    return pareto_front(rows.value, rows.a, rows.b)


def _find_victims(rows: WeighedRows) -> tuple[Rows, Ints, Floats]:
    """Rows and numbers of people known with the victim that may be best.

    Of the rows of a value that bend at the same number, the least.
    """
    kinks = rows.list_kinks()
    row = np.repeat(np.arange(len(rows.a)), kinks.shape[1])
    j = kinks.ravel()
    odds = rows.take(row).weigh_left(j)
    order = np.lexsort((odds, j, rows.value[row]))
    row, j, odds = row[order], j[order], odds[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (j[1:] != j[:-1]) | (rows.value[row[1:]] != rows.value[row[:-1]])
    least = odds[new][np.cumsum(new) - 1] if len(row) else odds
    near = odds <= least * (1 + NEAR)
    return row[near], j[near], odds[near]


def _list_apart(rows: WeighedRows, least: float) -> list[WeakCase]:
    """Attacks with the companions in another group that may beat the least odds."""
    k, m = rows.point.k, rows.point.m
    front = _find_companions(rows)
    row, near, odds = _find_victims(rows)
    found = []
    for s in np.unique(rows.value[row]).tolist():
        own = front[rows.value[front] == s]
        mine = rows.value[row] == s
        for j in np.unique(near[mine]).tolist():
            at = np.flatnonzero(mine & (near == j))
            lack = closed_forms.cf5_floats(rows.a[own], rows.b[own], k - j, m)
            product = odds[at].min() * lack.min()
            if product > least * (1 + NEAR):
                continue
            least = min(least, float(product))
            others = own[lack <= lack.min() * (1 + NEAR)]
            x, r = min((rows.weigh_exactly(r, j), r) for r in row[at].tolist())
            y, o = min(
                (closed_forms.cf5(int(rows.a[o]), int(rows.b[o]), k - j, m), o)
                for o in others.tolist()
            )
            if rows.group[r] != rows.group[o]:  # else the attack in one group is better
                found.append(
                    WeakCase(x * y, s, int(rows.group[r]), int(rows.group[o]), j)
                )
    return found


# Groups by themselves ---------------------------------------------------------------


def find_groups_beyond_weakly(
    batch: EquivalenceClasses,
    point: WeakPoint,
    protect: Sequence[int] | None,
    limit: Ceiling,
) -> Flags:
    """Which groups break the limit by the attack inside one group, exactly."""
    found = np.zeros(len(batch), dtype=bool)
    if limit.holds(Belief(0, 1)):
        return found
    rows = WeighedRows.of(rank_values(batch), point, protect)
    odds = _compute_together(rows)
    theta = float((1 - limit.level) / limit.level)
    beyond = odds < theta
    k, m = point.k, point.m
    for r in np.flatnonzero(np.abs(odds - theta) <= NEAR * max(theta, NEAR)).tolist():
        a, b = int(rows.a[r]), int(rows.b[r])
        exact = rows.weigh_exactly(r, k) * closed_forms.cf5(a, b, k + 1, m)
        belief = closed_forms.belief_from_odds(exact)
        beyond[r] = not limit.holds(Belief(0, belief))
    found[rows.group[beyond]] = True
    return found


# Witness ----------------------------------------------------------------------------


def build_weak_attack(
    case: WeakCase, kept: EquivalenceClasses, point: WeakPoint
) -> Attack:
    """The attack behind a case, as anybody can recount it."""
    value = kept.about[case.value]
    victim = build_attacked_group(kept, case.victim)
    ruled, doubts = _choose_ruled_out(victim, value, point, kept.about)
    k, m = point.k, point.m
    weight: dict[Cell, Fraction] = dict(zip(ruled, doubts, strict=True))
    own, without = _know_heaviest(victim, value, weight, case.near)
    groups: tuple[AttackedGroup, ...]
    if case.other == case.victim:
        sure = not _weigh_rest(own, value, weight)
        more = 0 if sure else min(m, without)
        groups = (attrs.evolve(own, companions=more),)
    else:
        other = build_attacked_group(kept, case.other)
        far, room = _know_heaviest(other, value, {}, k - case.near)
        groups = own, attrs.evolve(far, companions=min(m, room + 1))
    sure_of = tuple(1 - d for d in doubts)
    belief = recount_belief(value, ruled, groups, sure_of)
    return Attack(value, ruled, groups, belief, sure=sure_of)


def _choose_ruled_out(
    victim: AttackedGroup, value: str | None, point: WeakPoint, domain: Domain
) -> tuple[tuple[str | None, ...], Weights]:
    if point.codes is not None:
        return tuple(domain[c] for c in point.codes), point.doubts
    counts = victim.histogram
    others = sorted((c for c in counts if c != value), key=lambda c: -counts[c])
    several = min(len(others), len(point.doubts))
    doubts = tuple(sorted(point.doubts))[:several]
    return tuple(others[:several]), doubts  # type: ignore[arg-type]


def _know_heaviest(
    group: AttackedGroup, value: str | None, weight: Mapping[Cell, Fraction], n: int
) -> tuple[AttackedGroup, int]:
    """The group with so many people known, and how many are left who lack the value."""
    lacking = {c: x for c, x in group.histogram.items() if c != value and x}

    def order(cell: Cell) -> tuple[Fraction, int]:
        return -weight.get(cell, Fraction(1)), -lacking[cell]

    known: dict[Cell, int] = {}
    for cell in sorted(lacking, key=order):
        if n:
            known[cell] = min(n, lacking[cell])
            n -= known[cell]
    left = sum(lacking.values()) - sum(known.values())
    return attrs.evolve(group, known=known), left


def _weigh_rest(
    group: AttackedGroup, value: str | None, weight: Mapping[Cell, Fraction]
) -> bool:
    """Whether anybody is left who lacks the value and may be the victim."""
    return any(
        n and weight.get(c, Fraction(1))
        for c, n in count_left(group).items()
        if c != value
    )
