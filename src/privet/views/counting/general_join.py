"""Possible worlds behind any set of views: the tuples of their join, part by part.

A possible world is a set of join tuples that leaves no view tuple bare. Tuples that a
view cannot do without are in every world; what they cover is settled. Parts of the rest
that share no view tuple are independent. The worlds of small parts are listed; for
others the share of interesting worlds is bounded by Harris' inequality below and a
union bound above, or drawn.
Wang, Lakshmanan 2006, section 3.2, for two views; section 6 leaves K views open.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, TooLarge
from privet.views.counting.bag_matchings import count_matchings
from privet.views.counting.elimination import Budget
from privet.views.counting.inclusion_exclusion import (
    AlikeTuples,
    count_covers,
    count_functional_covers,
    find_alike,
)
from privet.views.counting.sampling import ERROR, MOST_TUPLES, Draws, WorldSampler
from privet.views.counting.share import (
    Share,
    combine_independent,
    harris_bounds,
    union_bound,
)

MOST_LISTED = 18
"""Join tuples of a part whose subsets are listed."""

MOST_JOINED = 300_000
"""Join tuples that are looked at."""

Row = Mapping[str, int]
"""A tuple, by column."""

Kind = tuple[object, ...]
"""What tells questions apart that have different answers."""

Needing = tuple[Row, tuple[int, ...]]
"""A join tuple, with the numbers of the view tuples it needs."""

Asking = tuple[Row, tuple[int, ...], bool]
"""The same, and whether it satisfies what is asked."""


@dataclass(frozen=True, eq=False)
class JoinPart:
    """A part of a join: its possible worlds do not depend on other parts."""

    tuples: tuple[tuple[int, ...], ...]
    """For each join tuple the numbers of the view tuples it helps to cover."""
    people: tuple[int, ...]
    """For each join tuple whom it is about …"""
    values: tuple[int, ...]
    """… and the private value."""
    fits: tuple[bool, ...]
    """Whether each satisfies what is asked."""

    @property
    def small(self) -> bool:
        """Whether all tables can be listed."""
        return len(self.tuples) <= MOST_LISTED

    @cached_property
    def supports(self) -> dict[tuple[int, int], list[int]]:
        """The positions of each association's tuples, of those that fit."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for at, pair in enumerate(zip(self.people, self.values, strict=True)):
            if self.fits[at]:
                found[pair].append(at)
        return dict(found)

    @cached_property
    def of_person(self) -> dict[int, dict[int, list[int]]]:
        """The positions of the tuples of each person, by value."""
        found: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for at, (i, p) in enumerate(zip(self.people, self.values, strict=True)):
            found[i][p].append(at)
        return dict(found)

    @cached_property
    def sizes(self) -> dict[int, int]:
        """How many join tuples cover each view tuple."""
        found: dict[int, int] = defaultdict(int)
        for needed in self.tuples:
            for t in needed:
                found[t] += 1
        return dict(found)

    # Listed -------------------------------------------------------------------------

    @cached_property
    def worlds(self) -> NDArray[np.uint32]:
        """All possible worlds, as bit masks: join tuples that cover the view tuples."""
        # (2**tuples,), bit e for join tuple e: of 16 subsets of a 2 x 2 key 7 are left.
        found = np.arange(1 << len(self.tuples), dtype=np.uint32)
        needs: dict[int, int] = defaultdict(int)
        for bit, needed in enumerate(self.tuples):
            for t in needed:
                needs[t] |= 1 << bit
        for mask in needs.values():
            found = found[(found & np.uint32(mask)) != 0]
        return found

    # Counted ------------------------------------------------------------------------

    def count_without(
        self, places: Collection[int], budget: Budget, kind: Kind | None = None
    ) -> int | None:
        """The worlds without some join tuples; None where they are not counted.

        What is of one kind has as many.
        """
        if self.small:
            mask = np.uint32(sum(1 << at for at in places))
            return int(((self.worlds & mask) == 0).sum())
        if kind is None and len(places) < 2:
            kind = ("without", *map(self._classify, places))
        if kind is None or kind not in self._counted:
            gone = set(places)
            left = [n for at, n in enumerate(self._needed) if at not in gone]
            found = count_covers(left, self.sizes, budget)
            if kind is None or found is None:
                return found
            self._counted[kind] = found
        return self._counted[kind]

    @cached_property
    def _needed(self) -> list[frozenset[int]]:
        return [frozenset(needed) for needed in self.tuples]

    @cached_property
    def _counted(self) -> dict[Kind, int]:
        return {}

    @cached_property
    def _alike(self) -> AlikeTuples:
        return find_alike(Counter(self._needed), self.sizes)

    def _classify(self, place: int) -> tuple[int, ...]:
        """What tells a join tuple from those it may be exchanged with."""
        return self._alike.classify(self.tuples[place])

    def _classify_person(self, person: int, value: int) -> Kind | None:
        """The same of somebody whose join tuples are those of one view tuple, and of
        the one of them that has the value.
        """
        own = self.of_person[person]
        places = [at for some in own.values() for at in some]
        common = frozenset.intersection(*(self._needed[at] for at in places))
        mine = sorted(t for t in common if self.sizes[t] == len(places))
        if not mine or len(own.get(value, ())) != 1:
            return None
        (at,) = own[value]
        return ("only", self._alike.of[mine[0]], self._classify(at))

    def share(self, person: int, value: int, budget: Budget | None = None) -> Share:
        """Interesting among possible worlds: exact, or bounded."""
        if (person, value) not in self.supports:
            return Share.of(Fraction(0))
        if (person, value) not in self._shares:
            self._shares[person, value] = self._find_share(person, value, budget)
        return self._shares[person, value]

    @cached_property
    def _shares(self) -> dict[tuple[int, int], Share]:
        return {}

    def _find_share(self, person: int, value: int, budget: Budget | None) -> Share:
        budget = budget or Budget()
        whole = self.count_without((), budget)
        missed = whole and self.count_without(self.supports[person, value], budget)
        if whole is None or missed is None:
            return self.bound_share(person, value)
        return Share.of(1 - Fraction(missed, whole))

    def count_restricted(
        self, person: int, value: int, budget: Budget, *, avoiding: bool = False
    ) -> int | None:
        """Restricted worlds: a person has no other value; perhaps none that fits."""
        own = self.of_person.get(person, {})
        others = [at for p, places in own.items() if p != value for at in places]
        if avoiding:
            others += self.supports.get((person, value), ())
        kind = self._classify_person(person, value) if own and not avoiding else None
        return self.count_without(others, budget, kind)

    def count_functional(self, budget: Budget) -> int | None:
        """Worlds in which everybody has one value; None where that is too much."""
        if ("functional",) not in self._counted:
            found = self._count_functional((), budget)
            if found is None:
                return None
            self._counted["functional",] = found
        return self._counted["functional",]

    def count_functional_with(
        self, person: int, value: int, budget: Budget
    ) -> int | None:
        """Those in which a person has a value, by a tuple that fits."""
        own = self.of_person.get(person, {})
        others = [at for p, places in own.items() if p != value for at in places]
        found = self._count_functional(others, budget)
        asked = self.supports.get((person, value), ())
        if found is None or len(asked) == len(own.get(value, ())):
            return found
        missed = self._count_functional([*others, *asked], budget)
        return None if missed is None else found - missed

    def _count_functional(self, without: Collection[int], budget: Budget) -> int | None:
        gone = set(without)
        left = [
            (needed, i, p)
            for at, (needed, i, p) in enumerate(
                zip(self._needed, self.people, self.values, strict=True)
            )
            if at not in gone
        ]
        return count_functional_covers(left, self.sizes, budget)

    # Bounded ------------------------------------------------------------------------

    def delta(self, person: int, value: int) -> Fraction:
        """How unlikely it is, at most, that fair coins cover all without it."""
        kept = dict(self.sizes)
        for at in self.supports.get((person, value), ()):
            for t in self.tuples[at]:
                kept[t] -= 1
        return union_bound(Counter(kept.values()))

    def bound_share(self, person: int, value: int) -> Share:
        """Harris below, a union bound over view tuples above."""
        supports = len(self.supports.get((person, value), ()))
        return harris_bounds(supports, self.delta(person, value))


def join_views(views: Sequence[Sequence[Row]]) -> list[Needing]:
    """The natural join, each tuple with the numbers of the view tuples it needs."""
    found: list[Needing] = [({}, ())]
    offset = 0
    for view in views:
        shared = sorted(set(found[0][0]) & set(view[0])) if found and view else []
        # View tuples are numbered through: after a view of 3 the next begins with 3.
        by: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number, row in enumerate(view):
            by[tuple(row[c] for c in shared)].append(number)
        more: list[Needing] = []
        for left, needed in found:
            for number in by[tuple(left[c] for c in shared)]:
                more.append(({**left, **view[number]}, (*needed, offset + number)))
            if len(more) > MOST_JOINED:
                raise TooLarge(
                    "More than two views that no key links are judged up to "
                    f"{MOST_JOINED} tuples of their join; there are more."
                )
        found, offset = more, offset + len(view)
    return found


@dataclass(frozen=True)
class JoinParts:
    """What a join comes apart into."""

    certain: frozenset[tuple[int, int]]
    """Associations that every table holds, by a tuple that satisfies what is asked."""
    near: Mapping[int, Sequence[JoinPart]]
    """The parts with tuples of each person."""
    given: frozenset[tuple[int, int]] = frozenset()
    """Associations that every table holds, whatever is asked."""

    def share(
        self, person: int, value: int, budget: Budget | None = None
    ) -> list[Share]:
        """The share in each part; an association holds if it does in one of them."""
        if (person, value) in self.certain:
            return [Share.of(Fraction(1))]
        return [j.share(person, value, budget) for j in self.find_parts(person, value)]

    def find_parts(self, person: int, value: int) -> list[JoinPart]:
        """The parts that support an association."""
        return [j for j in self.near.get(person, ()) if (person, value) in j.supports]

    def list_open_values(self, person: int) -> set[int]:
        """The values that could be all somebody has."""
        near = self.near.get(person, ())
        given = {p for i, p in self.given if i == person}
        values = given or {p for j in near for p in j.of_person[person]}
        # What every table holds rules other values out; two such values rule out all.
        return {
            p for p in values if given <= {p} and self._leaves_none(near, person, p)
        }

    @staticmethod
    def _leaves_none(near: Sequence[JoinPart], person: int, value: int) -> bool:
        """Whether everything is covered if a person has one value: all tables may be
        as large as the join is.
        """
        for j in near:
            gone = Counter(
                t
                for p, places in j.of_person[person].items()
                if p != value
                for at in places
                for t in j.tuples[at]
            )
            if any(j.sizes[t] == n for t, n in gone.items()):
                return False
        return True

    def restricted(
        self, person: int, value: int, budget: Budget
    ) -> tuple[bool, Fraction | None]:
        """Among restricted worlds (the person has one value): whether that is counted,
        and the share; None: there is no such world.
        """
        open_ = self.list_open_values(person)
        weights = {p: self._weigh(person, p, budget) for p in open_}
        if any(w is None for w in weights.values()):
            return False, None
        whole = sum(w for w in weights.values() if w is not None)
        if not whole:
            return True, None
        if value not in open_:
            return True, Fraction(0)
        missed = self._weigh(person, value, budget, avoiding=True)
        part = weights[value]
        if missed is None or part is None:
            return False, None
        return True, Fraction(part - missed, whole)

    def _always_fits(self, person: int, value: int) -> bool:
        """Whether whoever has the value has it by a tuple that fits."""
        return (person, value) in self.certain or all(
            j.fits[at]
            for j in self.near.get(person, ())
            for at in j.of_person[person].get(value, ())
        )

    def _weigh(
        self, person: int, value: int, budget: Budget, *, avoiding: bool = False
    ) -> int | None:
        """Worlds of the person's parts in which there is no other value."""
        if avoiding and self._always_fits(person, value):
            return 0
        whole = 1
        for j in self.near.get(person, ()):
            found = j.count_restricted(person, value, budget, avoiding=avoiding)
            if found is None:
                return None
            whole *= found
        return whole


def split_join(
    joined: Iterable[Needing],
    person: str,
    secret: str,
    fits: Collection[int] | None = None,
) -> JoinParts:
    """A join without what is settled, in connected parts.

    `fits` are the numbers of the tuples that satisfy what is asked; None: all do.
    """
    rows = list(joined)
    forced, settled = _find_forced_tuples([needed for _, needed in rows])
    near: dict[int, list[JoinPart]] = defaultdict(list)
    # A forced tuple is in every world: what it covers asks nothing of the others.
    left = [
        (row, tuple(t for t in needed if t not in settled), fits is None or at in fits)
        for at, (row, needed) in enumerate(rows)
        if at not in forced
    ]
    for group in split_connected(left):
        part = _make_part(group, person, secret)
        for i in dict.fromkeys(part.people):
            near[i].append(part)
    held = {at: (rows[at][0][person], rows[at][0][secret]) for at in forced}
    certain = frozenset(pair for at, pair in held.items() if fits is None or at in fits)
    return JoinParts(certain, dict(near), frozenset(held.values()))


def _find_forced_tuples(tuples: Sequence[tuple[int, ...]]) -> tuple[set[int], set[int]]:
    """Join tuples that a view cannot do without, and the view tuples they cover."""
    only: dict[int, list[int]] = defaultdict(list)
    for at, needed in enumerate(tuples):
        for t in needed:
            only[t].append(at)
    forced = {ats[0] for ats in only.values() if len(ats) == 1}
    return forced, {t for at in forced for t in tuples[at]}


def _make_part(group: Sequence[Asking], person: str, secret: str) -> JoinPart:
    return JoinPart(
        tuple(needed for _, needed, _ in group),
        tuple(row[person] for row, _, _ in group),
        tuple(row[secret] for row, _, _ in group),
        tuple(fits for _, _, fits in group),
    )


def split_by_people(
    joined: Iterable[Needing],
    person: str,
    secret: str,
    fits: Collection[int] | None = None,
) -> list[JoinPart]:
    """A join in parts that share neither view tuples nor people."""
    # Below 0, where no view tuple is: as if a person's tuples shared one more.
    marked = [
        (row, (*needed, -1 - row[person]), fits is None or at in fits)
        for at, (row, needed) in enumerate(joined)
    ]
    groups = [
        [(row, needed[:-1], ok) for row, needed, ok in group]
        for group in split_connected(marked)
    ]
    return [_make_part(group, person, secret) for group in groups]


def split_connected(rows: Sequence[Asking]) -> list[list[Asking]]:
    """Tuples that share what they need, directly or through others."""
    root: dict[int, int] = {}

    def find(t: int) -> int:
        while root.setdefault(t, t) != t:
            root[t] = root[root[t]]
            t = root[t]
        return t

    for _, needed, _ in rows:
        for t in needed[1:]:
            root[find(t)] = find(needed[0])
    groups: dict[int, list[Asking]] = defaultdict(list)
    alone: list[list[Asking]] = []
    for row in rows:
        if row[1]:
            groups[find(row[1][0])].append(row)
        else:
            alone.append([row])
    return [*groups.values(), *alone]


def is_covered(joined: Collection[Needing], views: Sequence[Sequence[Row]]) -> bool:
    """Whether every view tuple occurs in the join; else no table gives the views."""
    used = {t for _, needed in joined for t in needed}
    return len(used) == sum(len(view) for view in views)


# The parts together -----------------------------------------------------------------

TIGHT = Fraction(2, 100)
"""Where coins miss a cover more rarely than this, bounds are tight enough."""

Pair = tuple[int, int]
"""A person and a value."""


@dataclass(frozen=True)
class GeneralJoin:
    """The join of several views, and what its possible worlds say."""

    rows: Sequence[Sequence[Row]]
    """The tuples of each view."""
    person: str
    """The column of people."""
    secret: str
    """The private column."""
    condition: Callable[[Sequence[Row]], Collection[int]] | None = None
    """Which of the tuples of the join satisfy what is asked; None: all."""
    times: Sequence[Sequence[int]] = ()
    """Of each view how many rows each tuple stands for, where that is known."""
    budget: Budget = field(default_factory=Budget)
    """How much may still be counted."""

    @cached_property
    def joined(self) -> list[Needing]:
        """Every tuple that possible worlds may hold."""
        found = join_views(self.rows)
        if not is_covered(found, self.rows):
            raise InputError(
                "Views must be of one table: every tuple of one view must fit tuples "
                "of the others; some do not."
            )
        return found

    @cached_property
    def parts(self) -> JoinParts:
        """What is not settled, part by part."""
        return split_join(self.joined, self.person, self.secret, self.fits)

    @cached_property
    def fits(self) -> Collection[int] | None:
        """The numbers of the join tuples that satisfy what is asked; None: all."""
        if self.condition is None:
            return None
        return set(self.condition([row for row, _ in self.joined]))

    def find_supported(self) -> set[Pair]:
        """Who can meet which value at all."""
        return {
            (row[self.person], row[self.secret])
            for at, (row, _) in enumerate(self.joined)
            if self.fits is None or at in self.fits
        }

    def find_refuted(self) -> set[int]:
        """People who cannot have one value only: no table has them so."""
        people = {row[self.person] for row, _ in self.joined}
        return {i for i in people if not self.parts.list_open_values(i)}

    def share(self, person: int, value: int) -> Share:
        """The share of tables that hold an association: exact, or bounded."""
        return combine_independent(self.parts.share(person, value, self.budget))

    def is_wide(self, person: int, value: int) -> bool:
        """Whether bounds say little, and draws may say more."""
        near = self._find_unlisted(person, value)
        return any(j.delta(person, value) > TIGHT for j in near) and all(
            len(j.tuples) <= MOST_TUPLES for j in near
        )

    def _find_unlisted(self, person: int, value: int) -> list[JoinPart]:
        if (person, value) in self.parts.certain:
            return []
        near = self.parts.find_parts(person, value)
        return [j for j in near if not j.share(person, value, self.budget).exact]

    # One value per person -------------------------------------------------------------

    def restricted(self, person: int, value: int) -> tuple[bool, Fraction | None]:
        """Whether it is counted; the share, None where there is no such table."""
        return self.parts.restricted(person, value, self.budget)

    def functional(self, person: int, value: int) -> tuple[bool, Fraction | None]:
        """The same, where everybody has one value only."""
        (home,) = [j for j in self._by_people if person in j.of_person]
        whole = home.count_functional(self.budget)
        part = home.count_functional_with(person, value, self.budget)
        if whole is None or part is None:
            return False, None
        return True, Fraction(part, whole) if whole else None

    def is_functional(self) -> bool | None:
        """Whether any table gives the views in which everybody has one value; None
        where that is not known.
        """
        known = [j.count_functional(self.budget) for j in self._by_people]
        if any(n == 0 for n in known):
            return False
        return None if any(n is None for n in known) else True

    def bag(self, person: int, value: int) -> tuple[bool, Fraction | None]:
        """Whether it is counted; the share, where rows are matched at random."""
        if self._matchings is None:
            return False, None
        fits = self.fits
        left = [
            needed
            for at, (row, needed) in enumerate(self.joined)
            if (row[self.person], row[self.secret]) != (person, value)
            or (fits is not None and at not in fits)
        ]
        missed = count_matchings(left, self._rows_of, self.budget)
        if missed is None:
            return False, None
        return True, 1 - Fraction(missed, self._matchings)

    @cached_property
    def _matchings(self) -> int | None:
        everything = [needed for _, needed in self.joined]
        return count_matchings(everything, self._rows_of, self.budget)

    @cached_property
    def _rows_of(self) -> dict[int, int]:
        return dict(enumerate(n for view in self.times for n in view))

    @cached_property
    def _by_people(self) -> list[JoinPart]:
        return split_by_people(self.joined, self.person, self.secret, self.fits)

    # Draws --------------------------------------------------------------------------

    def draw_shares(
        self, pairs: Iterable[Pair], key: bytes, check: Callable[[], None]
    ) -> tuple[dict[Pair, Share], int]:
        """Shares of associations, from draws of each part; and how many draws.

        All intervals together miss the truth with a probability of at most ERROR.
        """
        asked = [(i, p, self.parts.find_parts(i, p)) for i, p in dict.fromkeys(pairs)]
        error = ERROR / max(sum(len(near) for _, _, near in asked), 1)
        wanted: dict[int, list[Pair]] = defaultdict(list)
        large = {
            id(j): j
            for i, p, near in asked
            for j in near
            if not j.share(i, p, self.budget).exact
        }
        for i, p, near in asked:
            for j in near:
                wanted[id(j)].append((i, p))
        found: dict[tuple[int, Pair], Share] = {}
        number = 0
        for k, (at, j) in enumerate(large.items()):
            coins = WorldSampler(j.tuples, key + k.to_bytes(4, "big"), check)
            coins.draw(sorted({e for pair in wanted[at] for e in j.supports[pair]}))
            number = coins.number
            for pair in wanted[at]:
                draws = coins.count_held(j.supports[pair])
                found[at, pair] = _intersect_bounds(j.bound_share(*pair), draws, error)
        return {
            (i, p): combine_independent(
                found.get((id(j), (i, p))) or j.share(i, p, self.budget) for j in near
            )
            for i, p, near in asked
        }, number

    def draw_restricted(
        self, pairs: Iterable[Pair], key: bytes, check: Callable[[], None]
    ) -> tuple[dict[Pair, Share | None], int]:
        """The same among tables in which a person has one value only.

        None where a person is in several parts, or coins did not settle everything.
        """
        asked = list(dict.fromkeys(pairs))
        error = ERROR / max(len(asked), 1)
        made: dict[int, WorldSampler] = {}
        found: dict[Pair, Share | None] = {}
        number = 0
        for i, p in asked:
            near = self.parts.near.get(i, ())
            found[i, p] = None
            if (
                self.fits is not None
                or len(near) != 1
                or len(near[0].tuples) > MOST_TUPLES
                or any(who == i for who, _ in self.parts.certain)
            ):
                continue
            (j,) = near
            if id(j) not in made:
                made[id(j)] = WorldSampler(
                    j.tuples, key + len(made).to_bytes(4, "big"), check
                )
                everybody = sorted({e for at in j.supports.values() for e in at})
                made[id(j)].draw(everybody)
            coins = made[id(j)]
            supports = {v: at for (who, v), at in j.supports.items() if who == i}
            # Draws in doubt cannot be left out: the rest would be no fair sample.
            if coins.count_doubtful([e for at in supports.values() for e in at]):
                continue
            number = coins.number
            draws = coins.count_restricted(supports, p)
            found[i, p] = _intersect_bounds(
                Share(Fraction(0), Fraction(1)), draws, error
            )
        return found, number


def _intersect_bounds(bounds: Share, draws: Draws, error: Fraction) -> Share:
    """What draws say, inside of what is proved."""
    low, high = draws.interval(error)
    low, high = max(low, bounds.low), min(high, bounds.high)
    if low > high:  # as rarely as `error` says
        low, high = bounds.low, bounds.high
    return Share(low, high, sampled=True)
