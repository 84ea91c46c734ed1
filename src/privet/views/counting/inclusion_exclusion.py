"""Possible worlds of any views by inclusion and exclusion over their tuples.

A world is a set of join tuples that leaves no view tuple bare. Count the sets that use
allowed view tuples only, with alternating signs over what is allowed: 2 to the number
of join tuples that are left, a product with one factor per join tuple. View tuples that
are alike (whatever joins one joins the other) count by how many of them are allowed, so
a key of 50 x 50 has two variables, not a hundred. Where everybody has one value, each
person is a factor instead: the values open to them.
Wang, Lakshmanan 2006, section 6, leave K views as future work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.views.counting.elimination import (
    Budget,
    Factor,
    make_table,
    order_variables,
    sum_product,
)

MOST_BITS = 20_000
"""Digits of the largest power of two."""

MOST_OWN = 8
"""View tuples of one person whose subsets are listed."""

EACH = 10
"""Terms that looking at one join tuple takes as long as, about."""

Needed = frozenset[int]
"""The view tuples that a join tuple helps to cover."""

JoinTuple = tuple[Needed, int, int]
"""A join tuple: what it covers, whom it is about, and the private value."""


# Alike ------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlikeTuples:
    """View tuples in classes: those of one class may be exchanged."""

    of: Mapping[int, int]
    """The class of each view tuple."""
    sizes: Mapping[int, int]
    """How many view tuples each class has."""

    def states(self) -> dict[int, int]:
        """How many choices there are of how many are allowed."""
        return {k: n + 1 for k, n in self.sizes.items()}

    def weigh(self) -> list[Factor]:
        """By how many of a class are allowed: the choices, with alternating signs."""
        return [
            (
                (k,),
                make_table([[(-1) ** (n - s) * comb(n, s) for s in range(n + 1)]])[0],
            )
            for k, n in self.sizes.items()
        ]

    def classify(self, needed: Iterable[int]) -> tuple[int, ...]:
        """The classes of what a join tuple needs."""
        return tuple(sorted(self.of[t] for t in needed))


def group_alike(around: Mapping[int, object]) -> AlikeTuples:
    """View tuples with the same surroundings, in one class."""
    numbers: dict[object, int] = {}
    of = {t: numbers.setdefault(near, len(numbers)) for t, near in around.items()}
    return AlikeTuples(of, Counter(of.values()))


def find_alike(allowed: Mapping[Needed, int], tuples: Iterable[int]) -> AlikeTuples:
    """View tuples that the same others are joined with, as often."""
    around: dict[int, Counter[Needed]] = {t: Counter() for t in tuples}
    for needed, n in allowed.items():
        for t in needed:
            around[t][needed - {t}] += n
    return group_alike({t: frozenset(c.items()) for t, c in around.items()})


# Covers -----------------------------------------------------------------------------


def count_covers(
    joined: Sequence[Needed], tuples: Iterable[int], budget: Budget | None = None
) -> int | None:
    """Sets of join tuples that cover all view tuples; None: too many terms to add.

    >>> key = [frozenset({i, 2 + p}) for i in range(2) for p in range(2)]
    >>> count_covers(key, range(4))
    7
    """
    budget = budget or Budget()
    if not budget.affords(EACH * len(joined)):
        return None
    allowed = Counter(joined)
    tuples = list(tuples)
    if set(tuples) - {t for needed in allowed for t in needed}:
        return 0  # nothing covers it
    alike = find_alike(allowed, tuples)
    free = allowed.pop(frozenset(), 0)
    # Join tuples by the classes they need: exchanging alike ones changes no number.
    cells = {alike.classify(needed): n for needed, n in allowed.items()}
    if any(n * prod(alike.sizes[k] for k in ks) > MOST_BITS for ks, n in cells.items()):
        return None
    found = order_variables(alike.states(), cells)
    if found is None or not budget.affords(found[1] * (1 + len(joined) // 10_000)):
        return None
    factors = alike.weigh()
    factors += [(ks, _powers(ks, n, alike.sizes)) for ks, n in cells.items()]
    return sum_product(factors, found[0]) << free


def _powers(
    classes: Sequence[int], times: int, sizes: Mapping[int, int]
) -> NDArray[Any]:
    """2 to the number of join tuples, by how many of each class are allowed."""
    table = np.empty([sizes[k] + 1 for k in classes], dtype=object)
    for at in np.ndindex(*table.shape):
        table[at] = 1 << (times * prod(at))
    return table


# Everybody has one value ------------------------------------------------------------

Option = tuple[int, tuple[int, ...]]
"""One join tuple of a person: which own tuples it needs, as bits, and which classes."""


@dataclass(frozen=True)
class OpenValues:
    """What is open to one person: values, by how they are joined."""

    own: int
    """How many view tuples are this person's alone."""
    values: tuple[tuple[int | None, tuple[Option, ...]], ...]
    """The join tuples of each value; or of each of a class of values, and the class."""

    @property
    def scope(self) -> tuple[int, ...]:
        """The classes of view tuples that matter."""
        found = {k for k, _ in self.values if k is not None}
        found |= {k for _, options in self.values for _, ks in options for k in ks}
        return tuple(sorted(found))

    @property
    def work(self) -> int:
        """Terms of one entry of the table."""
        return (1 << self.own) * sum(len(options) for _, options in self.values)

    def tabulate(self, sizes: Mapping[int, int]) -> NDArray[Any]:
        """Sets of join tuples of one value that cover what is the person's own."""
        scope = self.scope
        table = np.empty([sizes[k] + 1 for k in scope], dtype=object)
        for at in np.ndindex(*table.shape):
            state = dict(zip(scope, at, strict=True))
            # Of a class as many values are open as are allowed.
            table[at] = sum(
                (1 if k is None else state[k]) * self._count_sets(options, state)
                for k, options in self.values
            )
        return table

    def _count_sets(self, options: Sequence[Option], state: Mapping[int, int]) -> int:
        total = 0
        for some in range(1 << self.own):  # of the own tuples only these are allowed
            cells = sum(
                prod(state[k] for k in ks) for bits, ks in options if bits & ~some == 0
            )
            total += (-1) ** (self.own - some.bit_count()) * (1 << cells)
        return total


def count_functional_covers(
    joined: Sequence[JoinTuple], tuples: Iterable[int], budget: Budget | None = None
) -> int | None:
    """Covers in which everybody has one value; None: too many terms to add.

    >>> key = [(frozenset({i, 3 + p}), i, p) for i in range(3) for p in range(2)]
    >>> count_functional_covers(key, range(5))
    6
    """
    budget = budget or Budget()
    if not budget.affords(EACH * len(joined)):
        return None
    tuples = list(tuples)
    joined = _rule_out_values(joined)
    if set(tuples) - {t for needed, _, _ in joined for t in needed}:
        return 0
    owner = _list_few(_find_owners(joined))
    alike = _group_alike_values(joined, owner, tuples)
    people = Counter(_list_open_values(joined, owner, alike).values())
    found = order_variables(alike.states(), (p.scope for p in people))
    if found is None or not budget.affords(
        found[1] + sum(_count_terms(p, alike) for p in people)
    ):
        return None
    factors = alike.weigh()
    whole = 1
    for person, times in people.items():
        table = person.tabulate(alike.sizes)
        if person.scope:
            factors.append((person.scope, table**times))
        else:
            whole *= int(table[()]) ** times
    return whole * sum_product(factors, found[0])


def _rule_out_values(joined: Sequence[JoinTuple]) -> Sequence[JoinTuple]:
    """Without values that cannot be all somebody has: they leave an own tuple bare."""
    while True:
        owner = _find_owners(joined)
        own: dict[int, set[int]] = defaultdict(set)
        for t, person in owner.items():
            own[person].add(t)
        covered: dict[tuple[int, int], set[int]] = defaultdict(set)
        for needed, person, value in joined:
            covered[person, value] |= needed
        kept = [j for j in joined if own[j[1]] <= covered[j[1], j[2]]]
        if len(kept) == len(joined):
            return joined
        joined = kept


def _count_terms(person: OpenValues, alike: AlikeTuples) -> int:
    """Terms of the table of what is open to somebody."""
    return person.work * prod(alike.sizes[k] + 1 for k in person.scope)


def _find_owners(joined: Sequence[JoinTuple]) -> dict[int, int]:
    """View tuples all of whose join tuples are one person's."""
    found: dict[int, set[int]] = defaultdict(set)
    for needed, person, _ in joined:
        for t in needed:
            found[t].add(person)
    return {t: min(people) for t, people in found.items() if len(people) == 1}


def _list_few(owner: Mapping[int, int]) -> dict[int, int]:
    """Of each person as many own tuples as are listed; the others are variables."""
    count: Counter[int] = Counter()
    found = {}
    for t, person in sorted(owner.items()):
        count[person] += 1
        if count[person] <= MOST_OWN:
            found[t] = person
    return found


def _group_alike_values(
    joined: Sequence[JoinTuple], owner: Mapping[int, int], tuples: Iterable[int]
) -> AlikeTuples:
    """View tuples that are nobody's own; alike if they are but for the value."""
    only = _find_only_tuples(joined, owner)
    around: dict[int, set[object]] = {t: set() for t in tuples if t not in owner}
    for needed, person, value in joined:
        for t in needed:
            if t not in owner:
                # The value tells nothing where this tuple is all it has.
                label = None if only.get(value) == t else value
                around[t].add((person, label, needed - {t}))
    values = set(only.values())
    return group_alike({t: (t in values, frozenset(a)) for t, a in around.items()})


def _find_only_tuples(
    joined: Sequence[JoinTuple], owner: Mapping[int, int]
) -> dict[int, int]:
    """For each value the view tuple that all of its join tuples need, and no other."""
    common: dict[int, frozenset[int]] = {}
    shared: dict[int, set[int]] = defaultdict(set)
    for needed, _, value in joined:
        common[value] = common.get(value, needed) & needed
        for t in needed:
            shared[t].add(value)
    return {
        value: min(own)
        for value, ts in common.items()
        if (own := [t for t in ts if t not in owner and shared[t] == {value}])
    }


def _list_open_values(
    joined: Sequence[JoinTuple], owner: Mapping[int, int], alike: AlikeTuples
) -> dict[int, OpenValues]:
    """What is open to each person; people with the same are equal."""
    only = _find_only_tuples(joined, owner)
    bit: dict[int, int] = {}
    count: Counter[int] = Counter()
    for t, person in sorted(owner.items()):
        bit[t] = 1 << count[person]
        count[person] += 1
    open_: dict[int, dict[int, list[Option]]] = defaultdict(lambda: defaultdict(list))
    for needed, person, value in joined:
        bits = sum(bit[t] for t in needed if t in bit)
        rest = [t for t in needed if t not in bit and t != only.get(value)]
        open_[person][value].append((bits, alike.classify(rest)))
    found = {}
    for person, values in open_.items():
        listed: set[tuple[int | None, tuple[Option, ...]]] = set()
        several: list[tuple[int | None, tuple[Option, ...]]] = []
        for value, options in values.items():
            mine = tuple(sorted(set(options)))  # alike ones are one
            if value in only:  # of a class one stands for all
                listed.add((alike.of[only[value]], mine))
            else:
                several.append((None, mine))
        ordered = sorted(listed) + sorted(several, key=lambda v: v[1])
        found[person] = OpenValues(count[person], tuple(ordered))
    return found
