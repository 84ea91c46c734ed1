"""Sweeps: top-down disclosure that shows the values of a column in batches.

Values of one column interact only through the rest of their group, so one sweep over
the cells shows them as one-by-one disclosure in the same order would, and each state on
the way is safe. *Rounds*: the column with the best Score shows, in the order of Score,
all values whose Score is at least that of the best of other columns, and a quarter of
its own best. A gain counts as far as chance would not give it (see `significance`), and
by the share of rows that it concerns. *In the end* each column is swept once more, the
one with the fewest values first, in it the largest first: then every value was shown
or refused, and what is refused once is for ever.
Wang, Fung, Yu 2007, §4 (Algorithm 4.1), §3.2 (Corollary 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from privet.microdata.suppression.cubes.count_cube import ConfAfterDisclosure
from privet.microdata.suppression.cubes.scored_cube import ScoredCube
from privet.microdata.suppression.cubes.sparse_cube import SparseCube, SweepOutlook
from privet.microdata.suppression.cubes.window_cube import WindowCube
from privet.microdata.suppression.kernels import CubeGroups
from privet.microdata.suppression.significance import find_bar
from privet.microdata.suppression.top_down_disclosure import (
    TIE,
    SuppressedAttribute,
    Utility,
)
from privet.values.arrays import Flags, Floats, Ints

QUARTER = 4
"""A round goes down to this part of its best Score."""


@dataclass(frozen=True)
class SweepOrder:
    """In which order values are shown while showing them is worth something."""

    above_chance: bool = True
    """Whether a gain counts only as far as chance would not give it."""
    single: int = 0
    """How many values are shown one at a time, each the best by then, as the paper
    does; 0: they are shown in rounds."""


@dataclass(frozen=True)
class Sweep:
    """Values of a column to be shown in this order, or cuts to be made."""

    attribute: int
    """Which attribute."""
    codes: Ints
    """The values or nodes, or the values to cut after."""
    gain: Floats
    """What each is worth."""
    loss: Floats
    """PrivLoss of each, before the sweep."""
    column: str
    """The column's name."""
    last: bool = False
    """Whether all values of the level are decided by it."""
    level: int = 0
    """Which level of the column's hierarchy; without one there is but one."""

    def __str__(self) -> str:
        return f"sweeping {self.column}"


@dataclass(frozen=True)
class SweepStep:
    """A sweep that was made."""

    column: str
    """Whose values were shown."""
    values: tuple[str | None, ...]
    """The values or nodes shown, in order; of cuts, the largest below each."""
    cut: bool
    """Whether an ordered column was cut."""
    refused: int
    """How many values would have broken a promise."""
    gain: float
    """What the first was worth."""
    loss: float
    """PrivLoss of the first."""
    score: float
    """Score of the first: gain per loss."""
    confidences: tuple[Fraction, ...]
    """Conf of each promise and set of columns afterwards."""

    def to_dict(self) -> dict[str, Any]:
        """For the custody record."""
        told = {**vars(self), "values": list(self.values)}
        return {**told, "confidences": [str(c) for c in self.confidences]}


# Cubes that are swept ---------------------------------------------------------------


class CubeInSweep(Protocol):
    """A sweep over one cube: values one after the other."""

    broken: Flags

    def begin(self, tried: Flags) -> None:
        """Only some of the values are tried; places are counted among these."""

    def allows(self, i: int, j: int) -> bool:
        """Whether values from i to before j surely keep every promise; one: exactly."""

    def take(self, i: int, j: int) -> None:
        """Show them."""

    def close(self) -> None:
        """No more values come."""


class SweptWindows:
    """A cube for numbers within a window, swept value by value."""

    one_by_one = False

    def __init__(self, cube: WindowCube) -> None:
        self.attributes, self.rules = cube.attributes, cube.rules
        self._cube = cube

    @property
    def confidences(self) -> list[Fraction]:
        """Conf of the rule now."""
        return self._cube.confidences

    @property
    def rows(self) -> int:
        """How many rows of numbers there are."""
        return len(self._cube._place)

    def worst_group(self, rule: int) -> tuple[int, int]:
        """The counts of the group that attains the confidence."""
        return self._cube.worst_group(rule)

    def copy(self) -> SweptWindows:
        """The same state, on its own."""
        other = copy(self._cube)
        other._rows = other._rows._replace(order=other._rows.order.copy())
        other._worst = [*other._worst]
        return SweptWindows(other)

    def look(
        self, attribute: int, wanted: Flags, groups: CubeGroups, *, cuts: bool
    ) -> ConfAfterDisclosure:
        """What showing each wanted value, or each cut, would do to some groups."""
        at = self.attributes.index(attribute)
        several = range(len(self.attributes))
        asked = [wanted if i == at else wanted[:0] for i in several]
        ordered = [cuts and i == at for i in several]
        return self._cube.look_ahead(groups, asked, ordered)[at]

    def look_at_values(self, attribute: int, place: Ints, several: int) -> SweepOutlook:
        """See `SparseCube`; candidates are single values."""
        codes = find_single(place, several)
        found = self.look(attribute, place >= 0, self._cube.view(), cuts=False)
        return SweepOutlook(found.confidence[:, codes], found.broken[codes])

    def look_at_cuts(self, attribute: int, asked: Flags) -> SweepOutlook:
        """See `SparseCube`."""
        every = np.ones_like(asked)
        found = self.look(attribute, every, self._cube.view(), cuts=True)
        return SweepOutlook(found.confidence, found.broken)

    def open_sweep(self, attribute: int, place: Ints, several: int) -> WindowsInSweep:
        """See `SparseCube`."""
        return WindowsInSweep(self, attribute, place, several)

    def part(self, attribute: int, side: Ints) -> None:
        """See `SparseCube`; all sides but the first are runs of values."""
        for s in range(1, int(side.max()) + 1):
            codes = np.flatnonzero(side == s)
            if len(codes):
                self._cube.split(attribute, int(codes[0]), int(codes[-1]))


class WindowsInSweep:
    """A sweep over windows: after each value the groups it split are looked at."""

    def __init__(
        self, cube: SweptWindows, attribute: int, place: Ints, several: int
    ) -> None:
        self._cube, self._attribute = cube, attribute
        self._codes, self._wanted = find_single(place, several), place >= 0
        self.broken = cube.look_at_values(attribute, place, several).broken

    def begin(self, tried: Flags) -> None:
        """See `CubeInSweep`."""
        self._codes, self.broken = self._codes[tried], self.broken[tried]

    def allows(self, i: int, j: int) -> bool:
        """See `CubeInSweep`."""
        return j - i == 1 and not self.broken[i]

    def take(self, i: int, j: int) -> None:
        """See `CubeInSweep`."""
        code = int(self._codes[i])
        self._wanted[code] = False
        parts = self._cube._cube.split(self._attribute, code, code)
        found = self._cube.look(self._attribute, self._wanted, parts, cuts=False)
        self.broken |= found.broken[self._codes]

    def close(self) -> None:
        """Nothing is left to do."""


def find_single(place: Ints, several: int) -> Ints:
    """The value of each candidate, where candidates are values."""
    codes = np.zeros(several, dtype=np.int64)
    own = np.flatnonzero(place >= 0)
    codes[place[own]] = own
    return codes


SweptCube = SparseCube | SweptWindows


# The state --------------------------------------------------------------------------


@dataclass(frozen=True)
class Offers:
    """What a column offers: values or cuts that keep every promise, best first."""

    sweep: Sweep
    score: Floats

    def take(self, least: float, most: int | None = None) -> Sweep:
        """Those with at least this Score, and no more than so many."""
        some = np.flatnonzero(self.score >= least)[:most]
        s = self.sweep
        return replace(s, codes=s.codes[some], gain=s.gain[some], loss=s.loss[some])


class OfferedCuts(NamedTuple):
    """The cuts of one interval, and what each is worth."""

    low: int
    """The first cut."""
    worth: Floats

    def choose(self, allowed: Flags, split: str) -> int | None:
        """The best that is allowed; or the best of all, if it is."""
        open_ = allowed[self.low : self.low + len(self.worth)]
        if not open_.any():
            return None
        among = np.where(open_, self.worth, -np.inf) if split == "valid" else self.worth
        best = int(np.flatnonzero(among >= among.max() - TIE)[0])
        return self.low + best if open_[best] else None

    def list_best(self, allowed: Flags, best: int, few: int) -> Ints:
        """The best, and some of those that are allowed and may come next."""
        open_ = np.flatnonzero(allowed[self.low : self.low + len(self.worth)])
        several = min(few, len(open_))
        next_ = open_[np.argpartition(-self.worth[open_], several - 1)[:several]]
        return np.union1d(self.low + next_, best)


class SweepState:
    """The state of a disclosure in sweeps; see `privet.release.refine`."""

    def __init__(
        self,
        attributes: Sequence[SuppressedAttribute],
        cubes: Sequence[SweptCube],
        *,
        utility: Utility,
        maximal: bool,
        split: str,
        order: SweepOrder | None = None,
    ) -> None:
        self.attributes = list(attributes)
        self.cubes = list(cubes)
        self.utility = utility
        self.maximal = maximal
        self.split = split
        self.order = order or SweepOrder()
        self.start = [cube.copy() for cube in cubes]
        """The cubes with everything hidden, to begin anew."""
        self._rounds, self._moves = True, 0
        self._done = set[tuple[int, int]]()
        for a, attribute in enumerate(self.attributes):
            for level in self._list_levels(a):
                # What breaks a promise when it is shown first does so for ever.
                self._look(a, level, attribute.list_nodes(level))

    def _list_levels(self, a: int) -> Sequence[int]:
        """The levels of a column, from coarse to fine; an ordered one has none."""
        attribute = self.attributes[a]
        return () if attribute.ordered else range(len(attribute.levels))

    def _find_cubes(self, a: int) -> list[SweptCube]:
        return [c for c in self.cubes if a in c.attributes]

    def find_worst_belief(self) -> Fraction:
        """The highest confidence of any promise."""
        confidences = [c for cube in self.cubes for c in cube.confidences]
        return max(confidences, default=Fraction(0))

    # Choosing -----------------------------------------------------------------------

    def find_best_move(self) -> Sweep | None:
        """The best offers of a column; once nothing is worth it, a column to finish."""
        each = range(len(self.attributes)) if self._rounds else ()
        offers = [o for o in map(self._list_offers, each) if o]
        single, self._moves = self.order.single, self._moves + 1
        self._rounds = bool(offers) and (not single or self._moves <= single)
        if self._rounds:
            offers.sort(key=lambda o: (-o.score[0], o.sweep.loss[0]))
            best, *others = offers
            top = float(best.score[0])
            if single:
                return best.take(top, 1)
            rival = max((float(o.score[0]) for o in others), default=0.0)
            return best.take(min(max(rival, top / QUARTER), top) - TIE * top)
        return self._find_last_sweep() if self.maximal else None

    def _list_offers(self, a: int) -> Offers | None:
        """What of a column is worth something and allowed; of nodes the coarsest."""
        if self.attributes[a].ordered:
            return self._choose_offers(a, -1, *self._list_cuts(a))
        for level in self._list_levels(a):
            nodes = self.attributes[a].list_nodes(level)
            worth = self._compute_node_worth(self.attributes[a], level, nodes)
            found = self._choose_offers(a, level, nodes, worth)
            if found is not None:
                return found
        return None

    def _choose_offers(
        self, a: int, level: int, codes: Ints, gain: Floats
    ) -> Offers | None:
        """Those that are worth something and keep every promise, best first."""
        some = np.flatnonzero(gain > 0)
        if not len(some):
            return None
        codes, gain = codes[some], gain[some]
        loss, broken = self._look(a, level, codes)
        fine = np.flatnonzero(~broken)
        if not len(fine):
            return None
        codes, gain, loss = codes[fine], gain[fine], loss[fine]
        score = gain / (loss + 1)
        order = np.lexsort((codes, loss, -score))
        name = self.attributes[a].domain.name
        sweep = Sweep(
            a, codes[order], gain[order], loss[order], name, level=max(level, 0)
        )
        return Offers(sweep, score[order])

    def _compute_node_worth(
        self, attribute: SuppressedAttribute, level: int, nodes: Ints
    ) -> Floats:
        """What taking each node out of what is wholly hidden is worth above chance."""
        pool = attribute.find_open(0)
        own = np.where(pool, attribute.levels[level], -1)
        some = np.flatnonzero(own >= 0)
        if not len(nodes) or not len(some):
            return np.zeros(len(nodes))
        there, of = np.unique(own[some], return_inverse=True)
        classes = np.zeros((len(there), attribute.classes.shape[1]), dtype=np.int64)
        np.add.at(classes, of, attribute.classes[some])
        if not self.utility.is_beneficial(classes):
            return np.zeros(len(nodes))
        gain = self._discount(
            self.utility.compute_value_gains(classes),
            classes.sum(axis=0),
            len(there),
        )
        at = np.searchsorted(there, nodes)
        at[at == len(there)] = 0
        return np.where(there[at] == nodes, gain[at], 0.0)

    def _discount(self, gain: Floats, pool: Ints, candidates: int) -> Floats:
        """Gains as far as they are above chance; only information knows chance."""
        if self.utility.kind != "information" or not self.order.above_chance:
            return gain
        rows, several = int(pool.sum()), int((pool > 0).sum())
        bar = find_bar(candidates, rows, several)
        # Gains are in shares of the pool already where they are weighted.
        of = self.utility.of_everybody
        return gain - (bar * rows / of if of else bar)

    def _look(self, a: int, level: int, codes: Ints) -> tuple[Floats, Flags]:
        """PrivLoss of some nodes or cuts, and which are refused, for ever then."""
        refused = self.attributes[a].refusals[level]
        rise, broken = np.zeros(len(codes)), refused[codes]
        rules = 0
        for cube in self._find_cubes(a):
            found = self._look_at(cube, a, level, codes)
            now = np.array(list(map(float, cube.confidences))).reshape(-1, 1)
            rise += np.maximum(found.confidence - now, 0).sum(axis=0)
            broken |= found.broken
            rules += cube.rules
        refused[codes[broken]] = True
        return rise / max(rules, 1), broken

    def _look_at(
        self, cube: SweptCube, a: int, level: int, codes: Ints
    ) -> SweepOutlook:
        attribute = self.attributes[a]
        if not attribute.ordered:
            place = attribute.place(level, codes)
            return cube.look_at_values(a, place, len(codes))
        asked = np.zeros(len(attribute), dtype=bool)
        asked[codes] = True
        found = cube.look_at_cuts(a, asked)
        return SweepOutlook(found.confidence[:, codes], found.broken[codes])

    # Cuts ---------------------------------------------------------------------------

    def _list_cuts(self, a: int, *, even: bool = False) -> tuple[Ints, Floats]:
        """One cut per interval: the most informative, or the best valid one."""
        attribute = self.attributes[a]
        allowed = self._find_allowed_cuts(a, one_by_one=False)
        offered = [
            OfferedCuts(low, self._compute_cut_worth(attribute, low, high, even=even))
            for low, high in attribute.list_intervals()
            if low < high and allowed[low:high].any()
        ]
        sure, few = np.zeros(len(attribute), dtype=bool), 1
        while asked := self._choose_cuts(a, offered, sure, few):
            some = np.concatenate(asked)
            self._refuse_cuts(a, some)
            sure[some] = True
            few *= QUARTER
        chosen = [o.choose(~attribute.refused, self.split) for o in offered]
        pairs = zip(offered, chosen, strict=True)
        best = [(c, float(o.worth[c - o.low])) for o, c in pairs if c is not None]
        codes, worth = [c for c, _ in best], [w for _, w in best]
        return np.array(codes, dtype=np.int64), np.array(worth)

    def _choose_cuts(
        self, a: int, offered: Sequence[OfferedCuts], sure: Flags, few: int
    ) -> list[Ints]:
        """The best cuts of intervals whose best is not known to be allowed."""
        if not any(cube.one_by_one for cube in self._find_cubes(a)):
            return []
        allowed, found = ~self.attributes[a].refused, list[Ints]()
        for own in offered:
            best = own.choose(allowed, self.split)
            if best is not None and not sure[best]:
                found.append(own.list_best(allowed & ~sure, best, few))
        return found

    def _refuse_cuts(self, a: int, codes: Ints) -> None:
        """Refuse those of some cuts that a cube refuses which looks at each."""
        attribute = self.attributes[a]
        asked = np.zeros(len(attribute), dtype=bool)
        asked[codes] = True
        for cube in self._find_cubes(a):
            if cube.one_by_one:
                broken = cube.look_at_cuts(a, asked).broken
                np.logical_or(attribute.refused, broken, out=attribute.refused)

    def _find_allowed_cuts(self, a: int, *, one_by_one: bool = True) -> Flags:
        """The cuts that keep all; `one_by_one`: whether each is looked at, too."""
        attribute = self.attributes[a]
        for cube in self._find_cubes(a):
            if not cube.one_by_one:
                every = np.ones(len(attribute), dtype=bool)
                broken = cube.look_at_cuts(a, every).broken
                np.logical_or(attribute.refused, broken, out=attribute.refused)
        if one_by_one:
            self._refuse_cuts(a, np.flatnonzero(~attribute.refused))
        return np.asarray(~attribute.refused)

    def _compute_cut_worth(
        self, attribute: SuppressedAttribute, low: int, high: int, *, even: bool
    ) -> Floats:
        """What each cut of an interval is worth; in the end, how even it is."""
        classes = attribute.classes[low : high + 1]
        below = np.cumsum(classes.sum(axis=1))
        balance = np.minimum(below, below[-1] - below)[:-1].astype(np.float64)
        if self.utility.kind == "distortion" or (even and self.split == "valid"):
            return np.asarray(balance)
        gain = self.utility.compute_cut_gains(classes)
        if even:
            return gain
        if not self.utility.is_beneficial(classes):
            return np.zeros(len(gain))
        return self._discount(gain, classes.sum(axis=0), len(attribute) - 1)

    # The end ------------------------------------------------------------------------

    def _find_last_sweep(self) -> Sweep | None:
        """Everything left of the column with the fewest values; nodes before values."""
        for a, level in self._order_levels():
            attribute = self.attributes[a]
            if attribute.ordered:
                codes, worth = self._list_cuts(a, even=True)
            else:
                codes = attribute.list_nodes(level)
                place = attribute.place(level, codes)
                worth = np.zeros(len(codes))
                some = np.flatnonzero(place >= 0)
                np.add.at(worth, place[some], attribute.classes[some].sum(axis=1))
            if len(codes):
                order = np.lexsort((codes, -worth))
                none = np.zeros(len(codes))
                name = attribute.domain.name
                return Sweep(a, codes[order], none, none, name, last=True, level=level)
            self._done.add((a, level))
        return None

    def _order_levels(self) -> list[tuple[int, int]]:
        """Levels that are not finished, of columns with the fewest values first."""
        several = [int(a.classes.any(axis=1).sum()) for a in self.attributes]
        every = sorted(range(len(several)), key=lambda a: (several[a], a))
        levels = [(a, level) for a in every for level in self._list_levels(a) or (0,)]
        return [each for each in levels if each not in self._done]

    def count_left(self) -> dict[str, int]:
        """How many values or cuts of each column are neither shown nor refused."""
        found = {}
        for a, attribute in enumerate(self.attributes):
            if attribute.ordered:
                spans = attribute.list_intervals()
                left = sum(
                    int((~attribute.refused[low:high]).sum()) for low, high in spans
                )
            else:
                left = int((attribute.hidden & ~attribute.refused).sum())
            levels = self._list_levels(a) or (0,)
            if left and any((a, level) not in self._done for level in levels):
                found[attribute.domain.name] = left
        return found

    def may_show_more(self) -> bool:
        """Whether a value or a cut is left that would break no promise."""
        for a, attribute in enumerate(self.attributes):
            if attribute.ordered:
                allowed = self._find_allowed_cuts(a)
                spans = attribute.list_intervals()
                if any(allowed[low:high].any() for low, high in spans):
                    return True
            # The last hidden value of a column is shown whatever comes.
            elif attribute.hidden.sum() > 1:
                for level in self._list_levels(a):
                    nodes = attribute.list_nodes(level)
                    if len(nodes) and not self._look(a, level, nodes)[1].all():
                        return True
        return False

    # Moving -------------------------------------------------------------------------

    def apply(self, move: Sweep) -> SweepStep:
        """Show the values one after the other, as far as every promise holds."""
        attribute = self.attributes[move.attribute]
        shown = self._cut(move) if attribute.ordered else self._show(move)
        gain, loss = float(move.gain[0]), float(move.loss[0])
        return SweepStep(
            attribute.domain.name,
            attribute.name_nodes(
                -1 if attribute.ordered else move.level, move.codes[shown]
            ),
            attribute.ordered,
            int((~shown).sum()),
            gain,
            loss,
            gain / (loss + 1),
            tuple(c for cube in self.cubes for c in cube.confidences),
        )

    def _show(self, move: Sweep) -> Flags:
        attribute, several = self.attributes[move.attribute], len(move.codes)
        place = attribute.place(move.level, move.codes)
        shown = sweep_values(
            [
                cube.open_sweep(move.attribute, place, several)
                for cube in self._find_cubes(move.attribute)
            ],
            several,
        )
        attribute.show(move.level, move.codes[shown])
        attribute.refusals[move.level][move.codes[~shown]] = True
        if move.last:
            self._done.add((move.attribute, move.level))
        return shown

    def _cut(self, move: Sweep) -> Flags:
        """Cuts of different intervals touch different groups, and go together.

        Unless somebody looks at all groups at once: then each is tried.
        """
        attribute, a = self.attributes[move.attribute], move.attribute
        cubes = self._find_cubes(a)
        counted = [c for c in cubes if isinstance(c, ScoredCube) and c.counts_all]
        made = np.ones(len(move.codes), dtype=bool)
        several = 1 if counted else max(len(move.codes), 1)
        for i in range(0, len(move.codes), several):
            codes = move.codes[i : i + several].tolist()
            attribute.cuts.extend(codes)
            sides = attribute.number_labels()
            if all(cube.allows_sides(a, sides) for cube in counted):
                for cube in cubes:
                    cube.part(a, sides)
            else:
                attribute.cuts.remove(codes[0])
                attribute.refused[codes[0]], made[i] = True, False
        return made

    # Beginning anew -----------------------------------------------------------------

    def begin_anew(self, order: SweepOrder, utility: Utility) -> SweepState:
        """The state that shows nothing yet, to be searched in another order."""
        attributes = [a.copy() for a in self.attributes]
        for attribute in attributes:
            attribute.hide_all()
        return SweepState(
            attributes,
            [cube.copy() for cube in self.start],
            utility=utility,
            maximal=self.maximal,
            split=self.split,
            order=order,
        )

    def count_hidden(self) -> list[int]:
        """How many values of each column are hidden, or share an interval."""
        return [
            len(a) - 1 - len(a.cuts) if a.ordered else int(a.hidden.sum()) - 1
            for a in self.attributes
            if a.ordered or a.hidden.sum() > 1
        ]

    def refill(self, taken: Sequence[tuple[int, int]]) -> SweepState:
        """A state with some values hidden again, and then as much shown as may be.

        First without them, then with them.
        """
        other = copy(self)
        other.attributes = [a.copy() for a in self.attributes]
        for a, code in taken:
            other.attributes[a].hidden[code] = True
        other.cubes = [cube.copy() for cube in self.start]
        for a, attribute in enumerate(other.attributes):
            for cube in other._find_cubes(a):
                cube.part(a, attribute.number_labels())
        other._rounds, other.maximal = False, True
        for held in (taken, ()):
            for a, attribute in enumerate(other.attributes):
                attribute.forget_refused()
                attribute.refused[[c for b, c in held if a == b]] = True
            other._done = set()
            while (move := other.find_best_move()) is not None:
                other.apply(move)
        return other

    def adopt(self, other: SweepState) -> None:
        """Become another state of the same columns."""
        for mine, its in zip(self.attributes, other.attributes, strict=True):
            mine.adopt(its)
            mine.refusals = its.refusals
        self.cubes = other.cubes


def sweep_values(cubes: Sequence[CubeInSweep], values: int) -> Flags:
    """Which of the values are shown, one after the other.

    What fits together is taken together: runs grow while they fit, and are cut down to
    single values where they may not.
    """
    shown = np.ones(values, dtype=bool)
    for cube in cubes:
        shown &= ~cube.broken
    for cube in cubes:
        cube.begin(shown.copy())
    tried = np.flatnonzero(shown)
    i, many = 0, 1
    while i < len(tried):
        j = min(i + many, len(tried))
        if all(cube.allows(i, j) for cube in cubes):
            for cube in cubes:
                cube.take(i, j)
            i, many = j, 2 * many
        elif j - i > 1:
            many = max((j - i) // QUARTER, 1)
        else:
            shown[tried[i]] = False
            i += 1
    for cube in cubes:
        cube.close()
    return shown
