"""Which groups of a node are suppressed, and what that costs.

*starred*: suppressed rows stay, with `*` in every known column. They are one more group
that is judged like any other, so that no reference distribution moves. Who knows a
starred person's values sees that no shown group fits, and hence this one.
*left out*: suppressed rows go; what is left is judged by itself, as whoever recounts
the file would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privet.microdata.full_domain.group_judge import GroupJudge
from privet.microdata.full_domain.node_counts import CountCube
from privet.microdata.level_choice import LEFT_OUT, NEAR, STARRED
from privet.values.arrays import Flags, Floats, Ints

LISTED = 10
"""Groups of which every choice is looked at, and choices that are judged."""

FEW = 32
"""Groups that fail beside what is left, and go one by one."""

Refer = Callable[[Ints], GroupJudge]
"""A judge for what is left of everybody: takes their histogram."""


@dataclass(frozen=True)
class Suppression:
    """What may be suppressed, how, and at what price."""

    budget: int
    """How many people at most."""
    price: float = 1.0
    """What a suppressed row costs, where the widest label of all columns costs 1."""
    semantics: str = STARRED
    """`STARRED` or `LEFT_OUT`."""

    @property
    def floor(self) -> float:
        """A row costs at least so much of what it would cost as it is shown."""
        return min(self.price, 1.0)

    @classmethod
    def share(
        cls, share: Fraction, people: int, price: float, semantics: str
    ) -> Suppression:
        """A share of the people."""
        return cls(int(share * people), price, semantics)


@dataclass(frozen=True, eq=False)
class Pool:
    """What a node comes to: who is suppressed, or that nothing will do."""

    too_fine: bool
    """Whether finer nodes are unsafe, too: small groups alone exceed the budget, or
    nobody may be suppressed and merging groups never makes a release unsafe."""
    small: int
    """People in groups that are too small or too alike."""
    bound: float
    """No choice of suppressed groups costs less; infinite: none keeps everything."""
    cost: float = float("inf")
    """What the choice below costs; infinite: none was found."""
    out: Flags | None = None
    """The groups that are suppressed."""

    @property
    def feasible(self) -> bool:
        """Whether a safe release was found at this node."""
        return self.out is not None


class PoolSearch:
    """Chooses suppressed groups, node by node."""

    def __init__(
        self, judge: GroupJudge, suppression: Suppression, refer: Refer | None = None
    ) -> None:
        """A judge whose reference is everybody, and one for what is left."""
        self._judge = judge
        self._refer = refer
        self._asked = suppression

    def choose(self, cube: CountCube, widths: Floats) -> Pool:
        """The cheapest choice that is found for some groups."""
        small = int(cube.totals[self._judge.find_small(cube.hist, cube.totals)].sum())
        if small > self._asked.budget:
            return Pool(True, small, float("inf"))
        if not self._asked.budget:
            return self._judge_whole(cube, widths)
        if self._asked.semantics == LEFT_OUT:
            return self._choose_left_out(cube, widths, small)
        failing = self._judge.find_failing(cube.hist, cube.totals)
        if int(cube.totals[failing].sum()) > self._asked.budget:
            return Pool(False, small, float("inf"))
        bound = self._find_bound(cube, widths, failing)
        found = [
            out
            for out in self._list_starred(cube, widths, failing)
            if self._is_safe(cube, out)
        ]
        pool = self._pick(cube, widths, found, small, bound)
        return pool if pool.cost <= bound + NEAR else self._prove(cube, widths, pool)

    def _judge_whole(self, cube: CountCube, widths: Floats) -> Pool:
        """Everybody is shown; where that is unsafe, finer nodes often are, too."""
        failing = self._judge.find_failing(cube.hist, cube.totals)
        if failing.any() or not self._judge.is_safe(cube.hist, cube.totals):
            return Pool(self._judge.monotone, 0, float("inf"))
        cost = self._find_cost(cube, widths, failing)
        return Pool(False, 0, cost, cost, failing)

    def _prove(self, cube: CountCube, widths: Floats, pool: Pool) -> Pool:
        """The same with a better bound; or the best, where few groups may join."""
        failing = self._judge.find_failing(cube.hist, cube.totals)
        price, able = self._weigh(cube, widths, failing)
        if able.sum() <= LISTED:
            found = self._list_every(cube, failing, able, price)
            for tries, out in enumerate(found):
                if tries >= LISTED:
                    break
                if self._is_safe(cube, out):
                    cost = self._find_cost(cube, widths, out)
                    return replace(pool, bound=cost, cost=cost, out=out)
            else:
                return replace(pool, bound=float("inf"))
        if self._is_safe(cube, failing):
            return pool
        # At least one more must join those that fail.
        more = np.maximum(price[able], 0.0).min(initial=float("inf")) / cube.people
        return replace(pool, bound=min(pool.bound + float(more), pool.cost))

    def _weigh(
        self, cube: CountCube, widths: Floats, failing: Flags
    ) -> tuple[Floats, Flags]:
        """What it costs to star each group, and which may be beside the failing."""
        price = (self._asked.price - widths) * cube.totals
        room = self._asked.budget - int(cube.totals[failing].sum())
        return price, ~failing & (cube.totals <= room)

    def _list_every(
        self, cube: CountCube, failing: Flags, able: Flags, price: Floats
    ) -> Iterator[Flags]:
        """Every choice within the budget whose starred group passes, cheapest first."""
        some = np.flatnonzero(able)
        # Of three groups: 000, 100, 010, 110, …
        joins = (np.arange(2 ** len(some))[:, None] >> np.arange(len(some))) & 1
        hist = cube.hist[failing].sum(axis=0) + joins @ cube.hist[some]
        totals = cube.totals[failing].sum() + joins @ cube.totals[some]
        fine = totals <= self._asked.budget
        own = fine & (totals > 0)
        fine[own] = ~self._judge.find_failing(hist[own], totals[own])
        cost = np.where(fine, joins @ price[some], np.inf)
        for i in np.argsort(cost, kind="stable")[: int(fine.sum())]:
            yield _add(failing, some[joins[i] > 0])

    def _pick(
        self,
        cube: CountCube,
        widths: Floats,
        found: list[Flags],
        small: int,
        bound: float,
    ) -> Pool:
        if not found:
            return Pool(False, small, bound)
        costs = [self._find_cost(cube, widths, out) for out in found]
        best = int(np.argmin(costs))
        return Pool(False, small, bound, costs[best], found[best])

    def _find_cost(self, cube: CountCube, widths: Floats, out: Flags) -> float:
        each = np.where(out, self._asked.price, widths)
        return float((cube.totals * each).sum()) / cube.people

    def _find_bound(self, cube: CountCube, widths: Floats, failing: Flags) -> float:
        """Who fails is suppressed; everybody else costs the less of both."""
        each = np.minimum(widths, self._asked.price)
        each = np.where(failing, self._asked.price, each)
        return float((cube.totals * each).sum()) / cube.people

    # Starred ------------------------------------------------------------------------

    def _list_starred(
        self, cube: CountCube, widths: Floats, failing: Flags
    ) -> list[Flags]:
        """Choices worth judging: those that fail, and others with them.

        Groups that would be cheaper starred go first; where the starred group fails,
        others join it, the cheapest first, or the one that mends it at once.
        """
        budget = self._asked.budget - int(cube.totals[failing].sum())
        price, able = self._weigh(cube, widths, failing)
        order = np.flatnonzero(able)[np.argsort(price[able], kind="stable")]
        room = np.cumsum(cube.totals[order]) <= budget
        order = order[: int(np.argmin(room)) if not room.all() else len(order)]
        # Only the first ones of a negative price are worth more than they cost.
        gain = int((price[order] < 0).sum())
        start = self._find_passing(cube, failing, order, gain)
        found = [] if start is None else [_add(failing, order[:start])]
        if failing.any() and (one := self._find_mending(cube, failing, able, price)):
            found.append(one[0])
        if not self._judge.is_safe(cube.hist, cube.totals) or not found:
            found += self._list_by_belief(cube, failing, order)
        return found

    def _find_passing(
        self, cube: CountCube, failing: Flags, order: Ints, gain: int
    ) -> int | None:
        """How many groups of an order must join the starred ones; None: no number."""
        whole = cube.hist[failing].sum(axis=0)
        hist = np.vstack([whole, whole + np.cumsum(cube.hist[order], axis=0)])
        first = int(cube.totals[failing].sum())
        totals = np.concatenate([[first], first + np.cumsum(cube.totals[order])])
        fine = np.ones(len(totals), dtype=bool)
        some = totals > 0  # nobody starred is fine
        fine[some] = ~self._judge.find_failing(hist[some], totals[some])
        passing = np.flatnonzero(fine)
        if not len(passing):
            return None
        # The largest gain there is, else the fewest.
        worth = passing[passing <= gain]
        return int(worth[-1]) if len(worth) else int(passing[0])

    def _find_mending(
        self, cube: CountCube, failing: Flags, able: Flags, price: Floats
    ) -> tuple[Flags] | None:
        """The cheapest single group with which the starred ones pass."""
        some = np.flatnonzero(able)
        whole, first = cube.hist[failing].sum(axis=0), cube.totals[failing].sum()
        fine = ~self._judge.find_failing(
            cube.hist[some] + whole, cube.totals[some] + first
        )
        if not fine.any():
            return None
        best = some[fine][np.argmin(price[some[fine]])]
        return (_add(failing, np.array([best])),)

    def _list_by_belief(
        self, cube: CountCube, failing: Flags, order: Ints
    ) -> list[Flags]:
        """More and more groups, where what is shown together is unsafe."""
        steps = [2**i for i in range(len(order).bit_length())]
        return [_add(failing, order[:n]) for n in (*steps, len(order)) if n]

    def _is_safe(self, cube: CountCube, out: Flags) -> bool:
        hist, totals = star(cube, out)
        if self._judge.find_failing(hist, totals).any():
            return False
        return self._judge.is_safe(hist, totals)

    # Left out -----------------------------------------------------------------------

    def _choose_left_out(self, cube: CountCube, widths: Floats, small: int) -> Pool:
        """Groups that fail go; what is left is judged by itself, until all pass.

        The reference moves with each that goes, so that another may pass again: they
        go one by one, the one with the fewest people first, or half of many.
        """
        out = self._judge.find_small(cube.hist, cube.totals)
        bound = self._find_bound(cube, widths, out)
        while True:
            kept = ~out
            if cube.totals[out].sum() > self._asked.budget or not kept.any():
                return Pool(False, small, bound)
            hist, totals = cube.hist[kept], cube.totals[kept]
            judge = self._judge
            if self._refer is not None:
                judge = self._refer(hist.sum(axis=0))
            failing = judge.find_failing(hist, totals)
            if failing.any():
                beyond = np.flatnonzero(kept)[failing]
                order = beyond[np.argsort(cube.totals[beyond], kind="stable")]
                out = _add(out, order[: len(order) // 2 if len(order) > FEW else 1])
                continue
            if not judge.is_safe(hist, totals):
                return Pool(False, small, bound)
            return self._pick(cube, widths, [out], small, bound)


def star(cube: CountCube, out: Flags) -> tuple[Ints, Ints]:
    """Histograms and numbers of the groups once some are one group of stars."""
    hist, totals = cube.hist[~out], cube.totals[~out]
    if not out.any():
        return hist, totals
    whole = cube.hist[out].sum(axis=0)
    return np.vstack([hist, whole]), np.append(totals, cube.totals[out].sum())


def _add(out: Flags, more: Ints) -> Flags:
    found = out.copy()
    found[more] = True
    return found
