"""Any set of views: small parts of their join are listed, others bounded or drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privet.errors import InputError
from privet.views.counting.general_join import (
    JoinPart,
    Needing,
    Parts,
    Row,
    check_covered,
    join,
    linked_by_people,
    parts,
)
from privet.views.counting.sampling import ERROR, MOST_TUPLES, Coins, Draws
from privet.views.counting.share import Share, either

TIGHT = Fraction(2, 100)
"""Where coins miss a cover more rarely than this, bounds are tight enough."""

Pair = tuple[int, int]
"""A person and a value."""


@dataclass(frozen=True)
class General:
    """The join of several views."""

    rows: Sequence[Sequence[Row]]
    """The tuples of each view."""
    person: str
    """The column of people."""
    secret: str
    """The private column."""

    @cached_property
    def joined(self) -> list[Needing]:
        """Every tuple that tables may hold."""
        found = join(self.rows)
        if not check_covered(found, self.rows):
            raise InputError(
                "Views must be of one table: every tuple of one view must fit tuples "
                "of the others; some do not."
            )
        return found

    @cached_property
    def parts(self) -> Parts:
        """What is not settled, part by part."""
        return parts(self.joined, self.person, self.secret)

    def supported(self) -> set[Pair]:
        """Who can meet which value at all."""
        return {(row[self.person], row[self.secret]) for row, _ in self.joined}

    def share(self, person: int, value: int) -> Share:
        """The share of tables that hold an association: exact, or bounded."""
        return either(self.parts.share(person, value))

    def is_wide(self, person: int, value: int) -> bool:
        """Whether bounds say little, and draws may say more."""
        near = self._unlisted(person, value)
        return any(j.delta(person, value) > TIGHT for j in near) and all(
            len(j.tuples) <= MOST_TUPLES for j in near
        )

    def _unlisted(self, person: int, value: int) -> list[JoinPart]:
        if (person, value) in self.parts.certain:
            return []
        return [j for j in self.parts.having(person, value) if not j.small]

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
        found = {id(j): j.one_each(person, value) for j in whole}
        if not all(fitting for _, fitting in found.values()):
            return True, None
        (mine,) = [j for j in whole if person in j.people]
        return True, Fraction(*found[id(mine)])

    @cached_property
    def _by_people(self) -> list[JoinPart]:
        return linked_by_people(self.joined, self.person, self.secret)

    # Draws --------------------------------------------------------------------------

    def drawn(
        self, pairs: Iterable[Pair], key: bytes, check: Callable[[], None]
    ) -> tuple[dict[Pair, Share], int]:
        """Shares of associations, from draws of each part; and how many draws.

        All intervals together miss the truth with a probability of at most ERROR.
        """
        asked = [(i, p, self.parts.having(i, p)) for i, p in dict.fromkeys(pairs)]
        error = ERROR / max(sum(len(near) for _, _, near in asked), 1)
        wanted: dict[int, list[Pair]] = defaultdict(list)
        large = {id(j): j for _, _, near in asked for j in near if not j.small}
        for i, p, near in asked:
            for j in near:
                wanted[id(j)].append((i, p))
        found: dict[tuple[int, Pair], Share] = {}
        number = 0
        for k, (at, j) in enumerate(large.items()):
            coins = Coins(j.tuples, key + k.to_bytes(4, "big"), check)
            coins.draw(sorted({e for pair in wanted[at] for e in j.supports[pair]}))
            number = coins.number
            for pair in wanted[at]:
                draws = coins.held(j.supports[pair])
                found[at, pair] = _within(j.bounded(*pair), draws, error)
        return {
            (i, p): either(found.get((id(j), (i, p))) or j.share(i, p) for j in near)
            for i, p, near in asked
        }, number

    def drawn_restricted(
        self, pairs: Iterable[Pair], key: bytes, check: Callable[[], None]
    ) -> tuple[dict[Pair, Share | None], int]:
        """The same among tables in which a person has one value only.

        None where a person is in several parts, or coins did not settle everything.
        """
        asked = list(dict.fromkeys(pairs))
        error = ERROR / max(len(asked), 1)
        made: dict[int, Coins] = {}
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
                made[id(j)] = Coins(j.tuples, key + len(made).to_bytes(4, "big"), check)
                everybody = sorted({e for at in j.supports.values() for e in at})
                made[id(j)].draw(everybody)
            coins = made[id(j)]
            mine = {v: at for (who, v), at in j.supports.items() if who == i}
            if coins.doubtful([e for at in mine.values() for e in at]):
                continue
            number = coins.number
            draws = coins.only(mine, p)
            found[i, p] = _within(Share(Fraction(0), Fraction(1)), draws, error)
        return found, number


def _within(bounds: Share, draws: Draws, error: Fraction) -> Share:
    """What draws say, inside of what is proved."""
    low, high = draws.interval(error)
    low, high = max(low, bounds.low), min(high, bounds.high)
    if low > high:  # as rarely as `error` says
        low, high = bounds.low, bounds.high
    return Share(low, high, sampled=True)
