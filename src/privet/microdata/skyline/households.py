"""Households: people of whom somebody knows that they belong together, and how.

A column says who belongs together; h_g members of a household are in group g. Worlds
are dealt as ever, and those that do not fit are left out, or weigh less. With c_g(y)
people of g who have y, the weight f(s) of the worlds where the victim has s is

* *share* one value: the product over g of c_g(s) (c_g(s) - 1) … (h_g factors);
* *exclude*, all values different: c_B(s) times what the other members may have of the
  other values, counted by how many of them are placed in each group;
* in *pairs*, by a weight of the victim's value and each other member's: c_B(s) times
  the weights of all ways to choose the others. Alike with probability p is one such: p
  where two values are the same, 1 - p where they are not.

The belief is f(s) / sum of f. Values ruled out count for less in that sum, which is
exact. Somebody who besides knows k people and m companions lowers every other count by
k at most, and the odds by the least Q(k + h, m): a bound. Where all sums are 0, what is
known contradicts the release, and nobody believes it.
Beyond Chen, LeFevre, Ramakrishnan 2007, whose companions are known one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from math import comb, lcm, perm, prod
from typing import Any, Protocol

import numpy as np

from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.skyline import pareto_front
from privet.values.adversaries import Insider
from privet.values.arrays import Ints
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.known_cells import EXCLUDE, SHARE, Members

Pattern = tuple[tuple[int, int], ...]
"""Groups, and how many members of a household are in each."""

Histogram = Mapping[Any, int]
"""How many people of a group have each value."""

Weights = dict[Any, int]
"""f: how much worlds weigh in which the victim has each value."""

MOST_EXCLUDING = 12
"""Members who exclude each other's values; beyond, too many ways are to be counted."""

MOST_PAIRED = 60
"""Members who go in pairs with the victim."""


class TooManyMembers(Exception):
    """A household that is too large to be counted."""


class ContradictedRelease(Exception):
    """What is known of a household fits no table behind the release."""


# What is known of members -----------------------------------------------------------


class Relation(Protocol):
    """What is known of the values of people who belong together."""

    @property
    def symmetric(self) -> bool:
        """Whether every member is believed to have the same, in whatever group."""

    def weigh(self, counts: Sequence[Histogram], members: Sequence[int]) -> Weights:
        """f, with the victim in the first of some groups, who have so many members."""


@dataclass(frozen=True)
class Sharing:
    """All members have one value; of each other value, `less` people are known."""

    less: int = 0
    symmetric: bool = True

    def weigh(self, counts: Sequence[Histogram], members: Sequence[int]) -> Weights:
        """F by value."""
        found = {}
        for value in counts[0]:
            each = (
                perm(max(c.get(value, 0) - self.less, 0), n)
                for c, n in zip(counts, members, strict=True)
            )
            if weight := prod(each):
                found[value] = weight
        return found


@dataclass(frozen=True)
class Excluding:
    """No two members have the same value."""

    symmetric: bool = False

    def weigh(self, counts: Sequence[Histogram], members: Sequence[int]) -> Weights:
        """F by value: the coefficient of a product over values, one of them aside."""
        values = list(dict.fromkeys(v for c in counts for v in c))
        if sum(members) > len(values):
            return {}
        if sum(members) > MOST_EXCLUDING:
            raise TooManyMembers(
                f"members must be at most {MOST_EXCLUDING} where they exclude each "
                f"other's values; a household has {sum(members):,}."
            )
        several = [[c.get(v, 0) for c in counts] for v in values]
        whole = _multiply_placings(several, members)
        wanted = (members[0] - 1, *members[1:])
        found = {}
        for value, here in zip(values, several, strict=True):
            weight = here[0] and here[0] * _divide_placings(whole, here)[wanted]
            if weight:
                found[value] = weight
        return found


def _multiply_placings(
    several: Sequence[Sequence[int]], members: Sequence[int]
) -> dict[tuple[int, ...], int]:
    """Ways to give different values to so many members of each group.

    It is the product over values of 1 + the sum over groups of count * z.
    """
    places = [tuple(p) for p in np.ndindex(*(n + 1 for n in members))]
    found = {p: int(not any(p)) for p in places}
    for here in several:
        # From the most members on, so that nobody has this value twice.
        for p in reversed(places):
            found[p] += sum(
                n * found[_step_back(p, g)] for g, n in enumerate(here) if n and p[g]
            )
    return found


def _divide_placings(
    whole: Mapping[tuple[int, ...], int], here: Sequence[int]
) -> dict[tuple[int, ...], int]:
    """The same without one value."""
    found: dict[tuple[int, ...], int] = {}
    for p, ways in whole.items():  # fewer members come first
        taken = (n * found[_step_back(p, g)] for g, n in enumerate(here) if n and p[g])
        found[p] = ways - sum(taken)
    return found


def _step_back(placed: tuple[int, ...], group: int) -> tuple[int, ...]:
    return (*placed[:group], placed[group] - 1, *placed[group + 1 :])


@dataclass(frozen=True)
class Pairing:
    """Each other member's value goes with the victim's by a weight."""

    weight: Callable[[Any, Any], int]
    symmetric: bool = False

    def weigh(self, counts: Sequence[Histogram], members: Sequence[int]) -> Weights:
        """F by value."""
        if sum(members) > MOST_PAIRED:
            raise TooManyMembers(
                f"members must be at most {MOST_PAIRED} where they go in pairs; a "
                f"household has {sum(members):,}."
            )
        found = {}
        for value, n in counts[0].items():
            others = {**counts[0], value: n - 1}
            ways = n * self._choose(others, members[0] - 1, value)
            for c, m in zip(counts[1:], members[1:], strict=True):
                ways *= self._choose(c, m, value)
            if ways:
                found[value] = ways
        return found

    def _choose(self, counts: Histogram, several: int, value: Any) -> int:
        """The weight of all ways to choose some people beside the victim's value."""
        by_weight: Counter[int] = Counter()
        for other, n in counts.items():
            by_weight[self.weight(value, other)] += n
        # The product of (1 + weight z)^n, of which z^several is wanted.
        found = [1] + [0] * several
        for weight, n in by_weight.items():
            if weight:
                own = [comb(n, i) * weight**i for i in range(several + 1)]
                found = [
                    sum(found[j] * own[i - j] for j in range(i + 1))
                    for i in range(several + 1)
                ]
        return found[several]


@dataclass(frozen=True)
class Alike(Pairing):
    """Each other member has the victim's value, or another one."""

    same: int = 1
    """The weight of the same value."""
    other: int = 1
    """The weight of another."""

    def _choose(self, counts: Histogram, several: int, value: Any) -> int:
        """The same, of which only how many are alike matters."""
        alike = counts.get(value, 0)
        rest = sum(counts.values()) - alike
        return sum(
            comb(alike, i) * self.same**i * comb(rest, j) * self.other**j
            for i, j in ((i, several - i) for i in range(several + 1))
        )


def read_relation(members: Members, name: Callable[[Any], str | None]) -> Relation:
    """What a policy says of members; `name` gives the text of a value."""
    if members == SHARE:
        return Sharing()
    if members == EXCLUDE:
        return Excluding()
    assert isinstance(members, Mapping)
    if "alike" in members:
        alike = members["alike"]
        same, other = alike.numerator, alike.denominator - alike.numerator
        return Alike(lambda v, w: same if v == w else other, same=same, other=other)
    return _read_pairs(members, name)


def _read_pairs(members: Mapping[str, Any], name: Callable[[Any], Any]) -> Pairing:
    pairs, rest = members["pairs"], members["otherwise"]
    given = [p for others in pairs.values() for p in others.values()]
    scale = lcm(*(p.denominator for p in (*given, rest)))

    def weigh(v: Any, w: Any) -> int:
        return int(pairs.get(name(v), {}).get(name(w), rest) * scale)

    return Pairing(weigh)


# Doubts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Doubts:
    """What stays of the likelihood of values that are ruled out."""

    levels: tuple[Fraction, ...] = ()
    """One for each value, rising."""
    named: Mapping[Any, Fraction] | None = None
    """Those of values by their codes, instead of the worst."""

    @cached_property
    def scale(self) -> int:
        """What makes all of them integers."""
        every = (*self.levels, *(self.named or {}).values())
        return lcm(1, *(d.denominator for d in every))

    @cached_property
    def _scaled(self) -> list[int]:
        return [int(d * self.scale) for d in self.levels]

    def weigh_own(self, value: Any) -> int:
        """What counts of the value believed."""
        if self.named is None:
            return self.scale
        return int(self.named.get(value, Fraction(1)) * self.scale)

    def weigh_others(self, others: Weights, value: Any) -> int:
        """What counts of all other values, the largest of them the least."""
        if self.named is not None:
            return sum(self.weigh_own(y) * f for y, f in others.items() if y != value)
        rest = [f for y, f in others.items() if y != value]
        if not self.levels:
            return sum(rest)
        rest.sort(reverse=True)
        few = zip(rest, self._scaled, strict=False)
        return sum(f * w for f, w in few) + self.scale * sum(rest[len(self.levels) :])


def read_doubts(insider: Insider, domain: Domain) -> Doubts:
    """How surely an insider rules values out; those that occur."""
    out = insider.rules_out
    if isinstance(out, int):
        return Doubts(tuple(sorted(insider.list_doubts(len(domain)))))
    both = zip(out, insider.list_doubts(len(out)), strict=True)
    codes = {domain.code(v): doubt for v, doubt in both}
    return Doubts(named={c: d for c, d in codes.items() if c is not None})


# The worst household ----------------------------------------------------------------


@dataclass(frozen=True)
class HouseholdCase:
    """A household whose members can be believed to have a value."""

    odds: Fraction
    """Against the value."""
    pattern: Pattern
    """The groups of its members, the victim's first."""
    value: int
    """The code of the value believed."""

    @property
    def belief(self) -> Fraction:
        """How sure somebody can be."""
        return closed_forms.belief_from_odds(self.odds)


@dataclass
class HouseholdTally:
    """What was found of all households."""

    exact: HouseholdCase | None = None
    """The surest, by what is known of members and of values ruled out."""
    bound: Fraction = Fraction(0)
    """Nobody is surer who knows other people besides."""
    households: int = 0
    """Of two members or more."""
    contradicted: int = 0
    """Those whose groups do not fit what is known."""
    beyond: int = 0
    """Those beyond the limit."""
    people_beyond: int = 0
    """Their members."""
    patterns_beyond: list[Pattern] = field(default_factory=list)
    """Where they are."""
    unjudged: str = ""
    """Why some were not judged."""

    def describe(self) -> dict[str, int]:
        """For machines."""
        return {
            "households": self.households,
            "beyond": self.beyond,
            "people": self.people_beyond,
            "contradicted": self.contradicted,
        }


@dataclass(frozen=True, eq=False)
class HouseholdCheck:
    """Everybody's household, judged on the groups of a release."""

    groups: EquivalenceClasses
    patterns: Mapping[Pattern, int]
    """Households of two or more, by the groups of their members; how many of each."""
    insider: Insider
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""

    @cached_property
    def _relation(self) -> Relation:
        return read_relation(self.insider.members, self.groups.about.__getitem__)

    @cached_property
    def _doubts(self) -> Doubts:
        return read_doubts(self.insider, self.groups.about)

    @cached_property
    def _known(self) -> tuple[int, int]:
        most = int(self.groups.total.sum())
        k, m = self.insider.knows_others, self.insider.same_as
        assert isinstance(k, int)
        assert isinstance(m, int)
        return min(k, most), min(m, most)

    @cached_property
    def _counts(self) -> dict[int, dict[int, int]]:
        return {}

    def _count(self, group: int) -> dict[int, int]:
        """The histogram of a group, by codes."""
        if group not in self._counts:
            at = slice(self.groups.start[group], self.groups.start[group + 1])
            values, n = self.groups.value[at].tolist(), self.groups.n[at].tolist()
            self._counts[group] = dict(zip(values, n, strict=True))
        return self._counts[group]

    def judge(self, holds: Callable[[Fraction], bool]) -> HouseholdTally:
        """The surest household, and how many are beyond a limit."""
        found = HouseholdTally()
        for pattern, several in self.patterns.items():
            found.households += several
            try:
                case, most = self._judge_pattern(pattern)
            except TooManyMembers as error:
                found.unjudged = str(error)
                continue
            except ContradictedRelease:
                found.contradicted += several
                continue
            if case is None:  # members may have no value that matters
                continue
            if found.exact is None or case.odds < found.exact.odds:
                found.exact = case
            found.bound = max(found.bound, most)
            if not holds(most):
                found.beyond += several
                found.people_beyond += several * sum(n for _, n in pattern)
                found.patterns_beyond.append(pattern)
        return found

    def _judge_pattern(self, pattern: Pattern) -> tuple[HouseholdCase | None, Fraction]:
        """The best attack on a member, and a bound with people known besides."""
        best: HouseholdCase | None = None
        most, possible = Fraction(0), False
        for i in range(1 if self._relation.symmetric else len(pattern)):
            turned = (pattern[i], *pattern[:i], *pattern[i + 1 :])
            counts = [self._count(g) for g, _ in turned]
            members = [n for _, n in turned]
            own = self._relation.weigh(counts, members)
            possible |= any(map(self._doubts.weigh_own, own))
            for value, odds in self._list_odds(own, own):
                if best is None or odds < best.odds:
                    best = HouseholdCase(odds, turned, value)
            most = max(most, self._bound(counts, members, own))
        if not possible:
            raise ContradictedRelease
        return best, max(most, best.belief) if best else most

    def _bound(
        self, counts: Sequence[Histogram], members: Sequence[int], own: Weights
    ) -> Fraction:
        k, m = self._known
        if not k and not m:
            return Fraction(0)
        others = Sharing(k).weigh(counts, members)
        lack = sum(members) + k
        odds = (
            r * self._find_lacking(value, lack, m)
            for value, r in self._list_odds(own, others, every=True)
        )
        least = min(odds, default=None)
        return Fraction(0) if least is None else closed_forms.belief_from_odds(least)

    def _list_odds(
        self, own: Weights, others: Weights, *, every: bool = False
    ) -> Iterator[tuple[int, Fraction]]:
        """The odds against values that matter; of all, only the least may be needed."""
        values = [v for v in own if self.protect is None or v in self.protect]
        values = [v for v in values if self._doubts.weigh_own(v)]
        if values and not every and self._doubts.named is None:
            values = [max(values, key=own.__getitem__)]
        for v in values:
            rest = self._doubts.weigh_others(others, v)
            yield v, Fraction(rest, self._doubts.weigh_own(v) * own[v])

    @cached_property
    def _lacking(self) -> dict[tuple[int, int], Fraction]:
        return {}

    @cached_property
    def _front(self) -> tuple[Ints, Ints, Ints]:
        """Value, a and b of the rows where companions may tell most."""
        rows = self.groups
        a = rows.n.astype(np.int64)
        b = rows.total[rows.group] - a
        few = pareto_front(rows.value.astype(np.int64), a, b)
        return rows.value[few].astype(np.int64), a[few], b[few].astype(np.int64)

    def _find_lacking(self, value: int, known: int, m: int) -> Fraction:
        """The least Q(k + h, m) of any group."""
        if not m:
            return Fraction(1)
        if (value, known) not in self._lacking:
            values, a, b = self._front
            own = np.flatnonzero(values == value).tolist()
            each = (closed_forms.cf5(int(a[r]), int(b[r]), known, m) for r in own)
            self._lacking[value, known] = min(each, default=Fraction(1))
        return self._lacking[value, known]


# Who belongs together ---------------------------------------------------------------


def find_patterns(household: Ints, group: Ints, n: Ints) -> Counter[Pattern]:
    """Households of two or more by the groups of their members.

    >>> home, group, n = np.array([[7, 7, 8, 9], [0, 2, 1, 1], [1, 2, 1, 3]])
    >>> find_patterns(home, group, n)
    Counter({((0, 1), (2, 2)): 1, ((1, 3),): 1})
    """
    order = np.lexsort((group, household))
    household = household[order]
    cells = list(zip(group[order].tolist(), n[order].tolist(), strict=True))
    new = np.flatnonzero(np.append(True, household[1:] != household[:-1]))
    edges = [*new.tolist(), len(cells)] if cells else [0]
    found: Counter[Pattern] = Counter()
    for start, stop in pairwise(edges):
        pattern = tuple(cells[start:stop])
        if len(pattern) > 1 or pattern[0][1] > 1:
            found[pattern] += 1
    return found


def join_groups(parts: Sequence[EquivalenceClasses]) -> EquivalenceClasses:
    """Parts of a count, put together."""
    return reduce(lambda one, other: one + other, parts)


def locate_members(
    groups: EquivalenceClasses, parts: Sequence[EquivalenceClasses]
) -> Counter[Pattern]:
    """Who belongs together, of counts of households in the same groups.

    Who has no value in that column belongs to nobody.
    """
    at = {groups.keys[g]: g for g in range(len(groups))}
    columns: list[tuple[Ints, Ints, Ints]] = []
    for part in parts:
        place = np.array([at[part.keys[g]] for g in range(len(part))], dtype=np.int64)
        nobody = part.about.code(None)
        some = part.value != (-1 if nobody is None else nobody)
        home = part.value[some].astype(np.int64)
        columns.append((home, place[part.group[some]], part.n[some]))
    joined = [np.concatenate(c) for c in zip(*columns, strict=True)]
    return find_patterns(*joined)
