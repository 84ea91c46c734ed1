"""SkylineCheck under splits: whether a release stays safe once a group is split.

Running minima: per point the least CF1, and per point and value the least CF2 to CF5,
over all groups that ever were. A group that is split need not be taken out again: each
of its factors is at least the least of its parts'. So minima only fall, a split that
was refused once is refused for ever, and a trial costs as much as the parts have
values.

Each minimum keeps the counts that attain it; floats only sort out what is far apart,
integers of any length decide the rest. Hence numpy and the compiled loops decide alike.
A trial of the loops writes only what falls, tests only that, and undoes it if refused.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm": the check it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np

from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Point
from privet.microdata.skyline.minima_loops import (
    MinimaTables,
    cf5_loop,
    compile_loops,
    write_digits,
)
from privet.microdata.skyline.weak_rule_outs import WeakCheck, WeakPoint
from privet.values.arrays import Flags, Floats, Ints
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import group_histograms

KNOWN, COMPANIONS, VICTIM, BOTH = range(4)
"""CF2 to CF5: the victim with the known, companions alone, the victim alone, both."""


@dataclass(frozen=True)
class Requirement:
    """A skyline point (l, k, m, c): how much an insider knows, how sure they may be."""

    point: Point
    """Values ruled out, people known, companions."""
    limit: Ceiling
    """How sure they may be."""
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""
    weak: WeakPoint | None = None
    """The point of an insider who rules values out with probabilities."""

    @cached_property
    def odds(self) -> Fraction:
        """The odds at the limit."""
        return (1 - self.limit.level) / self.limit.level

    @cached_property
    def theta(self) -> float:
        """The same as a float."""
        return float(self.odds)

    def holds(self, against: Fraction) -> bool:
        """Whether these odds keep the limit."""
        return self.limit.holds(Belief(0, closed_forms.belief_from_odds(against)))


@dataclass(frozen=True, eq=False)
class PointMinima:
    """The minima of one skyline point; each row of the tables is one of CF2 to CF5."""

    asked: Requirement
    allowed: Flags
    """Which values matter."""
    factor: Floats
    """The minima, per factor and value."""
    x: Ints
    """The tail, or the people without the value; -1 where there is nobody yet."""
    a: Ints
    """The people with the value."""
    best: Ints
    """CF1: tail, holders and others of the best group; no holders: none yet."""

    @classmethod
    def empty(cls, asked: Requirement, values: int) -> PointMinima:
        """No group yet."""
        allowed = np.ones(values, dtype=bool)
        if asked.protect is not None:
            allowed = np.isin(np.arange(values), asked.protect)
        if isinstance(asked.point.l, tuple):
            allowed &= ~np.isin(np.arange(values), asked.point.l)
        return cls(
            asked,
            allowed,
            # A line per factor, CF2 to CF5; a column per value.
            np.full((4, values), np.inf),
            np.full((4, values), -1, dtype=np.int64),
            np.ones((4, values), dtype=np.int64),
            np.zeros(3, dtype=np.int64),
        )

    def copy(self) -> PointMinima:
        """Minima of their own."""
        arrays = self.factor.copy(), self.x.copy(), self.a.copy(), self.best.copy()
        return PointMinima(self.asked, self.allowed, *arrays)

    def with_groups(self, parts: Ints) -> tuple[PointMinima, bool]:
        """With more groups, one row each; and whether the limit is kept."""
        loops, after = compile_loops(), self.copy()
        if loops is None or not isinstance(self.asked.point.l, int):
            after._fold_all(parts)
            return after, after.is_safe()
        tables = pack_minima([after], [0], 0)
        kept = loops["lower_minima"](parts, tables, True) >= 0
        after._take(tables, 0)
        return after, kept

    def split(self, parts: Ints) -> PointMinima | None:
        """With more groups; None if they break the limit, be others as they may."""
        loops = compile_loops()
        if loops is None or not isinstance(self.asked.point.l, int):
            after, kept = self.with_groups(parts)
            return after if kept else None
        tables = pack_minima([self], [0], 0)
        if loops["lower_minima"](parts, tables, False) < 0:
            return None
        after = self.copy()
        after._take(tables, 0)
        return after

    def _take(self, tables: MinimaTables, p: int) -> None:
        """Take the minima of a line of tables over."""
        values = len(self.allowed)
        self.factor[:] = tables.factor[p, :, :values]
        self.x[:], self.a[:] = tables.x[p, :, :values], tables.a[p, :, :values]
        self.best[:] = tables.best[p]

    def _fold_all(self, parts: Ints) -> None:
        for histogram in parts:
            self._fold(histogram)

    def _fold(self, histogram: Ints) -> None:
        everything = np.flatnonzero(histogram)
        people = int(histogram.sum())
        tail = count_tails(histogram[everything], everything, people, self.asked.point)
        inside = self.allowed[everything]
        s, tail = everything[inside], tail[inside]
        if not len(s):
            return
        a = histogram[s]
        b = people - a
        k, m = self.asked.point.k, self.asked.point.m
        self._fold_cf1(tail, a, b)
        # Without companions CF3 = CF5 = 1, and CF2 and CF4 of no value are below CF1
        # of the most frequent one.
        if m:
            self._fold_cf2_cf4(KNOWN, s, tail, a, k)
            self._fold_cf3_cf5(COMPANIONS, s, b, a, 0)
            self._fold_cf2_cf4(VICTIM, s, tail, a, 0)
            self._fold_cf3_cf5(BOTH, s, b, a, k)

    def _fold_cf1(self, tail: Ints, a: Ints, b: Ints) -> None:
        # Within a group the most frequent value is the best, whatever k and m are.
        first = int(np.argmax(a))
        new = np.array([tail[first], a[first], b[first]])
        k, m = self.asked.point.k, self.asked.point.m
        if self.best[1] == 0 or _cf1(new, k, m) < _cf1(self.best, k, m):
            self.best[:] = new

    def _fold_cf2_cf4(self, f: int, s: Ints, tail: Ints, a: Ints, k: int) -> None:
        """CF2 and CF4: integers decide."""
        old = self.x[f, s]
        new, was = np.maximum(tail - k, 0), np.maximum(old - k, 0)
        # Of 3/2 and 4/3 the second is lower: 4 * 2 < 3 * 3.
        lower = (old < 0) | (new * self.a[f, s] < was * a)
        self._put(f, s[lower], new[lower] / a[lower], tail[lower], a[lower])

    def _fold_cf3_cf5(self, f: int, s: Ints, b: Ints, a: Ints, k: int) -> None:
        """CF3 and CF5: floats decide where they are far apart, else fractions."""
        m = self.asked.point.m
        new, old = closed_forms.cf5_floats(a, b, k, m), self.factor[f, s]
        lower = new < old
        same = (b == self.x[f, s]) & (a == self.a[f, s])
        with np.errstate(invalid="ignore"):  # what nobody attains yet is infinite
            close = (np.abs(new - old) <= NEAR * old) & np.isfinite(old) & ~same
        for i in np.flatnonzero(close).tolist():
            own = closed_forms.cf5(int(a[i]), int(b[i]), k, m)
            lower[i] = own < self._compute_cf5(f, int(s[i]), k)
        self._put(f, s[lower], new[lower], b[lower], a[lower])

    def _put(self, f: int, s: Ints, factor: Floats, x: Ints, a: Ints) -> None:
        self.factor[f, s], self.x[f, s], self.a[f, s] = factor, x, a

    # Exactly --------------------------------------------------------------------------

    def _compute_cf5(self, f: int, s: int, k: int) -> Fraction:
        a, b = int(self.a[f, s]), int(self.x[f, s])
        return closed_forms.cf5(a, b, k, self.asked.point.m)

    def _compute_cf2(self, f: int, s: int, k: int) -> Fraction:
        return closed_forms.cf2(int(self.x[f, s]), int(self.a[f, s]), k)

    def _compute_attacks(self, s: int) -> tuple[Fraction, Fraction]:
        """The odds of the two attacks on two groups about a value."""
        k = self.asked.point.k
        with_known = self._compute_cf2(KNOWN, s, k) * self._compute_cf5(
            COMPANIONS, s, 0
        )
        return with_known, self._compute_cf2(VICTIM, s, 0) * self._compute_cf5(
            BOTH, s, k
        )

    def is_safe(self) -> bool:
        """Whether every attack keeps the limit, exactly."""
        if self.best[1] == 0:
            return True
        if not self.asked.holds(
            _cf1(self.best, self.asked.point.k, self.asked.point.m)
        ):
            return False
        # Products that floats put clearly above theta need no fractions.
        near = self.asked.theta * (1 + NEAR)
        with np.errstate(invalid="ignore"):
            first = self.factor[KNOWN] * self.factor[COMPANIONS] <= near
            second = self.factor[VICTIM] * self.factor[BOTH] <= near
        close = np.flatnonzero((first | second) & (self.x[KNOWN] >= 0))
        return all(
            self.asked.holds(min(self._compute_attacks(s))) for s in close.tolist()
        )

    # Many groups at once --------------------------------------------------------------

    def find_hopeless(self, groups: Ints) -> Flags:
        """Which groups break the limit beyond doubt, a line each: by floats."""
        point, below = self.asked.point, self.asked.theta * (1 - NEAR)
        some = _SeveralGroups.of(groups, self.allowed, point)
        hopeless = np.zeros(len(groups), dtype=bool)
        hopeless[some.group[some.cf1(point) < below]] = True
        if point.m:
            least = np.minimum(some.factors(point), self.factor[:, some.s])
            odds = np.minimum(
                least[KNOWN] * least[COMPANIONS], least[VICTIM] * least[BOTH]
            )
            hopeless[some.group[odds < below]] = True
        return hopeless

    def find_lowering(self, groups: Ints) -> Flags:
        """Which groups may lower a minimum: floats that are close count as lower."""
        point = self.asked.point
        some = _SeveralGroups.of(groups, self.allowed, point)
        lower = np.zeros(len(some.group), dtype=bool)
        if point.m:
            new = some.factors(point)
            for f, less in ((KNOWN, point.k), (VICTIM, 0)):
                old, a = self.x[f, some.s], self.a[f, some.s]
                own, was = np.maximum(some.tail - less, 0), np.maximum(old - less, 0)
                lower |= (old < 0) | (own * a < was * some.a)
            for f in (COMPANIONS, BOTH):
                old, a = self.x[f, some.s], self.a[f, some.s]
                same = (some.b == old) & (some.a == a)
                above = new[f] > self.factor[f, some.s] * (1 + NEAR)
                lower |= (old < 0) | ~(same | above)
        # The best group's odds keep the limit, so that no higher ones break it.
        best = _cf1(self.best, point.k, point.m) if self.best[1] else None
        same = (some.tail == self.best[0]) & (some.a == self.best[1])
        same &= some.b == self.best[2]
        if best is None:
            lower[:] = True
        else:
            lower |= ~same & ~(some.cf1(point) > float(best) * (1 + NEAR))
        lowering = np.zeros(len(groups), dtype=bool)
        lowering[some.group[lower]] = True
        return lowering

    def odds(self) -> Fraction | None:
        """The least odds, exactly; None while no value that matters was seen."""
        if self.best[1] == 0:
            return None
        found = [_cf1(self.best, self.asked.point.k, self.asked.point.m)]
        for s in np.flatnonzero(self.x[KNOWN] >= 0).tolist():
            found += self._compute_attacks(s)
        return min(found)


@dataclass(frozen=True, eq=False)
class _SeveralGroups:
    """What CF1 to CF5 are made of, for each value that matters of several groups."""

    group: Ints
    s: Ints
    tail: Ints
    a: Ints
    b: Ints

    @classmethod
    def of(cls, groups: Ints, allowed: Flags, point: Point) -> _SeveralGroups:
        """Of histograms, a line each; l is a number of values."""
        assert isinstance(point.l, int)
        people = groups.sum(axis=1)
        falling = -np.sort(-groups, axis=1)
        gone = falling[:, : point.l].sum(axis=1)
        last = np.zeros_like(people)
        if groups.shape[1] > point.l:
            last = falling[:, point.l]
        group, s = np.nonzero((groups > 0) & allowed)
        a, whole = groups[group, s], people[group]
        tail = whole - gone[group] - np.minimum(a, last[group])
        return cls(group, s, tail, a, whole - a)

    def cf1(self, point: Point) -> Floats:
        """CF1 of each value; that of the most frequent one is the least."""
        return closed_forms.cf1_floats(self.tail, self.a, self.b, point.k, point.m)

    def factors(self, point: Point) -> Floats:
        """CF2 to CF5, a line each."""
        k, m = point.k, point.m
        return np.stack(
            [
                closed_forms.cf2_floats(self.tail, self.a, k),
                closed_forms.cf5_floats(self.a, self.b, 0, m),
                closed_forms.cf2_floats(self.tail, self.a, 0),
                closed_forms.cf5_floats(self.a, self.b, k, m),
            ]
        )


MOST_KNOWN = 32
"""People known for whom minima are kept number by number."""

MOST_PENDING = 256
"""Groups that wait to be sorted out until fractions must decide."""


@dataclass(frozen=True, eq=False)
class WeakMinima:
    """The same for values ruled out with probabilities, for every j of `WeakPoint`.

    A group that is split need not be taken out here either: of two groups W(j) adds up
    to at most that of their union. Floats sort out what is far apart; where they are
    close the groups that may decide are judged in fractions.
    """

    asked: Requirement
    allowed: Flags
    """Which values matter."""
    domain: Domain
    """The values, which need no names here."""
    deciding: Ints
    """The histograms of groups that attain some minimum, one row each …"""
    pending: tuple[Ints, ...]
    """… and of those that may."""
    victim: Floats
    """W(j) / a, per value and j; no columns: too many j to keep them."""
    lacking: Floats
    """Q(j, m), per value and j."""
    together: float = np.inf
    """The least odds of an attack inside one group."""

    @classmethod
    def empty(cls, asked: Requirement, values: int) -> WeakMinima:
        """No group yet."""
        assert asked.weak is not None
        weak, allowed = asked.weak, np.ones(values, dtype=bool)
        if asked.protect is not None:
            allowed = np.isin(np.arange(values), asked.protect)
        few = weak.k <= MOST_KNOWN and weak.codes is None
        minima = np.full((values, weak.k + 1 if few else 0), np.inf)
        domain = Domain("value", [str(i) for i in range(values)])
        nobody = np.zeros((0, values), dtype=np.int64)
        return cls(asked, allowed, domain, nobody, (), minima, minima)

    def with_groups(self, parts: Ints) -> tuple[WeakMinima, bool]:
        """With more groups, one row each; and whether the limit is kept."""
        after = replace(self, pending=(*self.pending, parts))
        if len(after.pending) > MOST_PENDING:
            after = after._sort_out()
        if not self.victim.shape[1]:
            return after, after.is_safe()
        after = after._fold(parts)
        # The j people with the victim and the k - j with the companions.
        products = after.victim * after.lacking[:, ::-1]
        least = min(after.together, products.min(initial=np.inf))
        theta = self.asked.theta
        if abs(least - theta) <= NEAR * theta or not least:
            return after, after.is_safe()
        return after, bool(least > theta)

    def split(self, parts: Ints) -> WeakMinima | None:
        """With more groups; None if they break the limit."""
        after, kept = self.with_groups(parts)
        return after if kept else None

    def _fold(self, parts: Ints) -> WeakMinima:
        victim, lacking = self.victim.copy(), self.lacking.copy()
        together, weak = self.together, self.asked.weak
        assert weak is not None
        several, m = range(weak.k + 1), weak.m
        for row in parts:
            counts = sorted(row.tolist(), reverse=True)
            people = sum(counts)
            for s in np.flatnonzero((row > 0) & self.allowed).tolist():
                a = int(row[s])
                others = counts.copy()
                others.remove(a)
                own = [weak.weigh_rest(others, j) / (weak.scale * a) for j in several]
                lack = [cf5_loop(a, people - a, j, m) for j in several]
                victim[s] = np.minimum(victim[s], own)
                lacking[s] = np.minimum(lacking[s], lack)
                together = min(
                    together, own[-1] * cf5_loop(a, people - a, weak.k + 1, m)
                )
        return replace(self, victim=victim, lacking=lacking, together=together)

    def _sort_out(self) -> WeakMinima:
        """The groups that may decide, of all that came."""
        both = np.concatenate([self.deciding, *self.pending])
        few = self._check.find_deciding(group_histograms(both, self.domain))
        return replace(self, deciding=both[few], pending=())

    @property
    def _check(self) -> WeakCheck:
        assert self.asked.weak is not None
        return WeakCheck(self.asked.weak, self.asked.protect)

    def is_safe(self) -> bool:
        """Whether every attack keeps the limit, exactly."""
        odds = self.odds()
        return odds is None or self.asked.holds(odds)

    def odds(self) -> Fraction | None:
        """The least odds, exactly; None while no value that matters was seen."""
        groups = group_histograms(self._sort_out().deciding, self.domain)
        case = attrs.evolve(self._check, kept=groups).find_worst()
        return None if case is None else case.odds


@dataclass(frozen=True, eq=False)
class RunningMinima:
    """The minima of several points about one column.

    >>> from privet.values.beliefs import Ceiling
    >>> asked = [Requirement(Point(0, 0, 0), Ceiling("1/2"))]
    >>> empty = RunningMinima.empty(asked, values=2)
    >>> root = empty.with_groups(np.array([[2, 2]]))
    >>> root.is_safe(), root.split(np.array([[1, 1], [1, 1]])) is not None
    (True, True)
    >>> root.split(np.array([[2, 0], [0, 2]])) is None
    True
    """

    points: tuple[PointMinima | WeakMinima, ...]

    @classmethod
    def empty(cls, asked: Sequence[Requirement], values: int) -> RunningMinima:
        """No group yet; `values` is how many values the column has."""
        return cls(
            tuple(
                PointMinima.empty(a, values)
                if a.weak is None
                else WeakMinima.empty(a, values)
                for a in asked
            )
        )

    def without_groups(self) -> RunningMinima:
        """The same points, no group yet."""
        asked, values = [p.asked for p in self.points], len(self.points[0].allowed)
        return RunningMinima.empty(asked, values)

    def with_groups(self, histograms: Ints) -> RunningMinima:
        """With more groups: one row each, a count per value."""
        parts = np.ascontiguousarray(histograms, dtype=np.int64)
        return RunningMinima(tuple(p.with_groups(parts)[0] for p in self.points))

    def is_safe(self) -> bool:
        """Whether every point keeps its limit."""
        return all(p.is_safe() for p in self.points)

    def split(self, parts: Ints) -> RunningMinima | None:
        """The minima once a group falls into these parts; None if that is unsafe."""
        histograms = np.ascontiguousarray(parts, dtype=np.int64)
        after: list[PointMinima | WeakMinima] = []
        for point in self.points:
            folded = point.split(histograms)
            if folded is None:
                return None
            after.append(folded)
        return RunningMinima(tuple(after))

    def find_hopeless(self, groups: Ints) -> Flags:
        """Which groups break a limit from now on, each looked at by itself."""
        return np.asarray(
            np.logical_or.reduce([p.find_hopeless(groups) for p in self.certain])
        )

    def find_lowering(self, groups: Ints) -> Flags:
        """Which groups may lower a minimum of some point."""
        return np.asarray(
            np.logical_or.reduce([p.find_lowering(groups) for p in self.certain])
        )

    def take(self, tables: MinimaTables, first: int) -> RunningMinima:
        """The same points with the minima of tables, from a line on."""
        found = [p.copy() for p in self.certain]
        for i, point in enumerate(found):
            point._take(tables, first + i)
        return RunningMinima(tuple(found))

    @property
    def certain(self) -> list[PointMinima]:
        """The points without doubts, which loops can judge."""
        return [p for p in self.points if isinstance(p, PointMinima)]

    def beliefs(self) -> list[Fraction]:
        """How sure the insider of each point can be by now."""
        found = [p.odds() for p in self.points]
        return [
            Fraction(0) if r is None else closed_forms.belief_from_odds(r)
            for r in found
        ]


def count_tails(a: Ints, s: Ints, people: int, point: Point) -> Ints:
    """T for each value of one group: people with neither it nor one ruled out."""
    if isinstance(point.l, tuple):
        out = np.isin(s, point.l)
        return np.asarray(people - int(a[out].sum()) - np.where(out, 0, a))
    falling = np.sort(a)[::-1]
    if len(falling) <= point.l:
        return np.zeros(len(a), dtype=np.int64)
    # Ties do not matter: of equal counts, any may be ruled out.
    # Counts 4 3 2 1 and one value ruled out: T is 3 3 4 5.
    gone, last = int(falling[: point.l].sum()), int(falling[point.l])
    return people - gone - np.minimum(a, last)


def _cf1(counts: Ints, k: int, m: int) -> Fraction:
    tail, a, b = counts.tolist()
    return closed_forms.cf1(tail, a, b, k, m)


def pack_minima(
    points: Sequence[PointMinima], begin: Sequence[int], parts: int
) -> MinimaTables:
    """Points whose values begin there, with room to undo so many parts."""
    values = max((len(p.allowed) for p in points), default=0)
    shape = len(points), 4, values
    factor, x = np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64)
    a, allowed = np.ones(shape, dtype=np.int64), np.zeros(shape[::2], dtype=bool)
    for i, p in enumerate(points):
        own = len(p.allowed)
        allowed[i, :own], factor[i, :, :own] = p.allowed, p.factor
        x[i, :, :own], a[i, :, :own] = p.x, p.a
    first = np.array(begin, dtype=np.int64)
    sizes = np.array([len(p.allowed) for p in points], dtype=np.int64)
    knowledge = np.array([p.asked.point for p in points], dtype=np.int64)
    l, k, m = np.ascontiguousarray(knowledge.reshape(-1, 3).T)
    odds = [p.asked.odds for p in points]
    return MinimaTables(
        first,
        first + sizes,
        l,
        k,
        m,
        np.array([p.asked.theta for p in points], dtype=np.float64),
        np.array([p.asked.limit.strict for p in points], dtype=bool),
        write_digits([o.numerator for o in odds]),
        write_digits([o.denominator for o in odds]),
        allowed,
        factor,
        x,
        a,
        np.array([p.best for p in points], dtype=np.int64).reshape(-1, 3),
        np.zeros((parts * x.size, 5), dtype=np.int64),
        np.zeros(parts * x.size),
    )
