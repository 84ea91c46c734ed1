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
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, TooLarge
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

Needing = tuple[Row, tuple[int, ...]]
"""A join tuple, with the numbers of the view tuples it needs."""


@dataclass(frozen=True, eq=False)
class JoinPart:
    """A part of a join: its possible worlds do not depend on other parts."""

    tuples: tuple[tuple[int, ...], ...]
    """For each join tuple the numbers of the view tuples it helps to cover."""
    people: tuple[int, ...]
    """For each join tuple whom it is about …"""
    values: tuple[int, ...]
    """… and the private value."""

    @property
    def small(self) -> bool:
        """Whether all tables can be listed."""
        return len(self.tuples) <= MOST_LISTED

    @cached_property
    def supports(self) -> dict[tuple[int, int], list[int]]:
        """The positions of the tuples of each association."""
        found: dict[tuple[int, int], list[int]] = defaultdict(list)
        for at, pair in enumerate(zip(self.people, self.values, strict=True)):
            found[pair].append(at)
        return dict(found)

    @cached_property
    def sizes(self) -> dict[int, int]:
        """How many join tuples cover each view tuple."""
        found: dict[int, int] = defaultdict(int)
        for needed in self.tuples:
            for t in needed:
                found[t] += 1
        return dict(found)

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

    def mask(self, person: int, value: int | None = None) -> int:
        """The join tuples of a person, perhaps with one value."""
        return sum(
            1 << bit
            for (i, p), bits in self.supports.items()
            if i == person and value in (None, p)
            for bit in bits
        )

    def share(self, person: int, value: int) -> Share:
        """Interesting among possible worlds: exact, or bounded."""
        if (person, value) not in self.supports:
            return Share.of(Fraction(0))
        if self.small:
            having = (self.worlds & np.uint32(self.mask(person, value))) != 0
            return Share.of(Fraction(int(having.sum()), len(self.worlds)))
        return self.bound_share(person, value)

    def count_restricted(self, person: int, value: int) -> int:
        """Restricted interesting worlds: no other value; the part must be small."""
        others = np.uint32(self.mask(person) & ~self.mask(person, value))
        return int(((self.worlds & others) == 0).sum())

    def count_functional(self, person: int, value: int) -> tuple[int, int]:
        """Functional worlds (everybody has one value): interesting, and possible."""
        fits = np.ones(len(self.worlds), dtype=bool)
        for i in set(self.people):
            # (worlds,): whether all tuples of i there are of one value.
            own = self.worlds & np.uint32(self.mask(i))
            one = np.zeros(len(own), dtype=bool)
            for p in set(self.values):
                one |= (own & np.uint32(self.mask(i, p))) == own
            fits &= one
        left = self.worlds[fits]
        having = (left & np.uint32(self.mask(person, value))) != 0
        return int(having.sum()), len(left)

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
    """Associations that every table holds."""
    near: Mapping[int, Sequence[JoinPart]]
    """The parts with tuples of each person."""

    def share(self, person: int, value: int) -> list[Share]:
        """The share in each part; an association holds if it does in one of them."""
        if (person, value) in self.certain:
            return [Share.of(Fraction(1))]
        return [j.share(person, value) for j in self.find_parts(person, value)]

    def find_parts(self, person: int, value: int) -> list[JoinPart]:
        """The parts that support an association."""
        return [j for j in self.near.get(person, ()) if (person, value) in j.supports]

    def restricted(self, person: int, value: int) -> Fraction | None:
        """Among restricted worlds (the person has one value); None: there is none."""
        near = self.near.get(person, ())
        given = {p for i, p in self.certain if i == person}
        values = given or {p for j in near for i, p in j.supports if i == person}
        # What every table holds rules other values out; two such values rule out all.
        weights = {p: 1 if given <= {p} else 0 for p in values}
        for j in near:
            for p in weights:
                weights[p] *= j.count_restricted(person, p)
        whole = sum(weights.values())
        return Fraction(weights.get(value, 0), whole) if whole else None


def split_join(joined: Iterable[Needing], person: str, secret: str) -> JoinParts:
    """A join without what is settled, in connected parts."""
    rows = list(joined)
    forced, settled = _find_forced_tuples([needed for _, needed in rows])
    near: dict[int, list[JoinPart]] = defaultdict(list)
    # A forced tuple is in every world: what it covers asks nothing of the others.
    left = [
        (row, tuple(t for t in needed if t not in settled))
        for at, (row, needed) in enumerate(rows)
        if at not in forced
    ]
    for group in split_connected(left):
        part = _make_part(group, person, secret)
        for i in dict.fromkeys(part.people):
            near[i].append(part)
    certain = frozenset((rows[at][0][person], rows[at][0][secret]) for at in forced)
    return JoinParts(certain, dict(near))


def _find_forced_tuples(tuples: Sequence[tuple[int, ...]]) -> tuple[set[int], set[int]]:
    """Join tuples that a view cannot do without, and the view tuples they cover."""
    only: dict[int, list[int]] = defaultdict(list)
    for at, needed in enumerate(tuples):
        for t in needed:
            only[t].append(at)
    forced = {ats[0] for ats in only.values() if len(ats) == 1}
    return forced, {t for at in forced for t in tuples[at]}


def _make_part(group: Sequence[Needing], person: str, secret: str) -> JoinPart:
    return JoinPart(
        tuple(needed for _, needed in group),
        tuple(row[person] for row, _ in group),
        tuple(row[secret] for row, _ in group),
    )


def split_by_people(
    joined: Iterable[Needing], person: str, secret: str
) -> list[JoinPart]:
    """A join in parts that share neither view tuples nor people."""
    # Below 0, where no view tuple is: as if a person's tuples shared one more.
    marked = [(row, (*needed, -1 - row[person])) for row, needed in joined]
    groups = [
        [(row, needed[:-1]) for row, needed in group]
        for group in split_connected(marked)
    ]
    return [_make_part(group, person, secret) for group in groups]


def split_connected(rows: Sequence[Needing]) -> list[list[Needing]]:
    """Tuples that share what they need, directly or through others."""
    root: dict[int, int] = {}

    def find(t: int) -> int:
        while root.setdefault(t, t) != t:
            root[t] = root[root[t]]
            t = root[t]
        return t

    for _, needed in rows:
        for t in needed[1:]:
            root[find(t)] = find(needed[0])
    groups: dict[int, list[Needing]] = defaultdict(list)
    alone: list[list[Needing]] = []
    for row, needed in rows:
        if needed:
            groups[find(needed[0])].append((row, needed))
        else:
            alone.append([(row, needed)])
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
        return split_join(self.joined, self.person, self.secret)

    def find_supported(self) -> set[Pair]:
        """Who can meet which value at all."""
        return {(row[self.person], row[self.secret]) for row, _ in self.joined}

    def share(self, person: int, value: int) -> Share:
        """The share of tables that hold an association: exact, or bounded."""
        return combine_independent(self.parts.share(person, value))

    def is_wide(self, person: int, value: int) -> bool:
        """Whether bounds say little, and draws may say more."""
        near = self._find_unlisted(person, value)
        return any(j.delta(person, value) > TIGHT for j in near) and all(
            len(j.tuples) <= MOST_TUPLES for j in near
        )

    def _find_unlisted(self, person: int, value: int) -> list[JoinPart]:
        if (person, value) in self.parts.certain:
            return []
        return [j for j in self.parts.find_parts(person, value) if not j.small]

    # One value per person -------------------------------------------------------------

    def restricted(self, person: int, value: int) -> tuple[bool, Fraction | None]:
        """Whether it is counted; the share, None where there is no such table."""
        if not all(j.small for j in self.parts.near.get(person, ())):
            return False, None
        return True, self.parts.restricted(person, value)

    def functional(self, person: int, value: int) -> tuple[bool, Fraction | None]:
        """The same, where everybody has one value only."""
        whole = self._by_people
        if not all(j.small for j in whole):
            return False, None
        found = {id(j): j.count_functional(person, value) for j in whole}
        if not all(fitting for _, fitting in found.values()):
            return True, None
        (home,) = [j for j in whole if person in j.people]
        return True, Fraction(*found[id(home)])

    @cached_property
    def _by_people(self) -> list[JoinPart]:
        return split_by_people(self.joined, self.person, self.secret)

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
        large = {id(j): j for _, _, near in asked for j in near if not j.small}
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
                found.get((id(j), (i, p))) or j.share(i, p) for j in near
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
                len(near) != 1
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
