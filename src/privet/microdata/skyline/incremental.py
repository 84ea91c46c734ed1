"""SkylineCheck under splits: whether a release stays safe once a group is split.

Running minima: per point the least CF1, and per point and value the least CF2 to CF5,
over all groups that ever were. A group that is split need not be taken out again: each
of its factors is at least the least of its parts'. So minima only fall, a split that
was refused once is refused for ever, and a trial costs as much as the parts have
values.

Each minimum keeps the counts that attain it; floats only sort out what is far apart.
Hence numpy and the compiled loops decide alike.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm": the check it asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Point
from privet.values.arrays import Flags, Floats, Ints
from privet.values.beliefs import Belief, Ceiling
from privet.values.jit import compile_together, import_numba, jit

KNOWN, COMPANIONS, VICTIM, BOTH = range(4)
"""CF2 to CF5: the victim with the known, companions alone, the victim alone, both."""

UNSAFE, SAFE, CLOSE = 0, 1, 2
"""What a trial comes to; where it is close, fractions must decide."""


@dataclass(frozen=True)
class Requirement:
    """A skyline point (l, k, m, c): how much an insider knows, how sure they may be."""

    point: Point
    """Values ruled out, people known, companions."""
    limit: Ceiling
    """How sure they may be."""
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""

    @cached_property
    def theta(self) -> float:
        """The odds at the limit, as a float."""
        level = self.limit.level
        return float((1 - level) / level)

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
        (l, k, m), loops = self.asked.point, compile_loops()
        after = self.copy()
        if not isinstance(l, int) or not loops or not after._fold_by(loops, parts):
            # The loops may have written some minima before floats came too close.
            after = self.copy()
            after._fold_all(parts)
        if not loops:
            return after, after.is_safe()
        minima = after.factor, after.x, after.best
        status = loops["judge_minima"](k, m, self.asked.theta, NEAR, *minima)
        return after, status == SAFE or (status == CLOSE and after.is_safe())

    def _fold_by(self, loops: Mapping[str, Any], parts: Ints) -> bool:
        """Fold by compiled loops; False where floats are close."""
        l, k, m = self.asked.point
        if not loops["fold_best"](parts, l, k, m, self.allowed, NEAR, self.best):
            return False
        tables = self.factor, self.x, self.a
        return not m or bool(
            loops["fold_factors"](parts, l, k, m, self.allowed, NEAR, *tables)
        )

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

    def odds(self) -> Fraction | None:
        """The least odds, exactly; None while no value that matters was seen."""
        if self.best[1] == 0:
            return None
        found = [_cf1(self.best, self.asked.point.k, self.asked.point.m)]
        for s in np.flatnonzero(self.x[KNOWN] >= 0).tolist():
            found += self._compute_attacks(s)
        return min(found)


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

    points: tuple[PointMinima, ...]

    @classmethod
    def empty(cls, asked: Sequence[Requirement], values: int) -> RunningMinima:
        """No group yet; `values` is how many values the column has."""
        return cls(tuple(PointMinima.empty(a, values) for a in asked))

    def with_groups(self, histograms: Ints) -> RunningMinima:
        """With more groups: one row each, a count per value."""
        parts = np.ascontiguousarray(histograms, dtype=np.int64)
        return RunningMinima(tuple(p.with_groups(parts)[0] for p in self.points))

    def is_safe(self) -> bool:
        """Whether every point keeps its limit."""
        return all(p.is_safe() for p in self.points)

    def split(self, parts: Ints) -> RunningMinima | None:
        """The minima once a group falls into these parts; None if that is unsafe."""
        histograms, after = np.ascontiguousarray(parts, dtype=np.int64), []
        for point in self.points:
            folded, kept = point.with_groups(histograms)
            if not kept:
                return None
            after.append(folded)
        return RunningMinima(tuple(after))

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


# Loops for numba --------------------------------------------------------------------


@cache
def compile_loops() -> Mapping[str, Any] | None:
    """The loops below, compiled; None without numba."""
    if import_numba() is None:
        return None
    return compile_together({loop.__name__: loop for loop in LOOPS}, jit)


def fold_best(
    parts: Ints, l: int, k: int, m: int, allowed: Flags, near: float, best: Ints
) -> bool:
    """The group with the least CF1, all together; False where floats cannot tell."""
    top = np.zeros(l + 1, dtype=np.int64)  # the largest counts of a group
    for c in range(parts.shape[0]):  # parts: a line per group, a column per value
        people, first = find_largest(parts[c], allowed, top)
        if first < 0:
            continue
        n = parts[c, first]
        # Counts 4 3 2 1, l = 1, n = 2: 10 - 4 - min(2, 3) = 4.
        tail = people - top[:l].sum() - min(n, top[l])
        others = people - n
        if best[1] == 0:
            best[0], best[1], best[2] = tail, n, others
        elif best[0] != tail or best[1] != n or best[2] != others:
            new = cf1_loop(tail, n, others, k, m)
            old = cf1_loop(best[0], best[1], best[2], k, m)
            # Two zeros are equal for certain; any other tie is left to fractions.
            if abs(new - old) <= near * old and new + old > 0:
                return False
            if new < old:
                best[0], best[1], best[2] = tail, n, others
    return True


def fold_factors(
    parts: Ints,
    l: int,
    k: int,
    m: int,
    allowed: Flags,
    near: float,
    factor: Floats,
    x: Ints,
    a: Ints,
) -> bool:
    """The minima of CF2 to CF5 per value; False where floats cannot tell."""
    top = np.zeros(l + 1, dtype=np.int64)
    for c in range(parts.shape[0]):
        people, _ = find_largest(parts[c], allowed, top)
        gone = top[:l].sum()
        for s in range(parts.shape[1]):
            n = parts[c, s]
            if n == 0 or not allowed[s]:
                continue
            tail, others = people - gone - min(n, top[l]), people - n
            # CF2 and CF4: x / a is lower where x * a' < x' * a, in integers.
            for f in range(0, 4, 2):
                less = k if f == 0 else 0
                new_up, old_up = max(tail - less, 0), max(x[f, s] - less, 0)
                if x[f, s] < 0 or new_up * a[f, s] < old_up * n:
                    factor[f, s], x[f, s], a[f, s] = new_up / n, tail, n
            # CF3 and CF5: floats, unless two are too close.
            for f in range(1, 4, 2):
                if x[f, s] == others and a[f, s] == n:
                    continue
                lack = cf5_loop(n, others, k if f == 3 else 0, m)
                if x[f, s] >= 0:
                    old = factor[f, s]
                    if abs(lack - old) <= near * old and lack + old > 0:
                        return False
                    if lack >= old:
                        continue
                factor[f, s], x[f, s], a[f, s] = lack, others, n
    return True


def find_largest(histogram: Ints, allowed: Flags, top: Ints) -> tuple[int, int]:
    """People of a group and its most frequent value that matters, -1 if none does.

    The largest counts go to `top`.
    """
    top[:] = 0
    people, first, last = 0, -1, len(top) - 1
    for s in range(len(histogram)):
        n = histogram[s]
        people += n
        if n > top[last]:
            # Into the falling counts, the least of which drops out.
            at = last
            while at > 0 and top[at - 1] < n:
                top[at] = top[at - 1]
                at -= 1
            top[at] = n
        if n > 0 and allowed[s] and (first < 0 or n > histogram[first]):
            first = s
    return people, first


def cf5_loop(a: int, b: int, k: int, m: int) -> float:
    """Q(k, m), hence CF3 and CF5: how likely m people lack the value."""
    result = 1.0
    for j in range(k, k + m):
        result = result * (b - j) / (a + b - j) if b > j else 0.0
    return result


def cf1_loop(tail: int, a: int, b: int, k: int, m: int) -> float:
    """CF1: the victim, the people known and the companions in one group."""
    if tail <= k:
        return 0.0
    return (tail - k) / a * cf5_loop(a, b, k + 1, m)


def judge_minima(
    k: int, m: int, theta: float, near: float, factor: Floats, x: Ints, best: Ints
) -> int:
    """Whether all attacks keep the limit, as far as floats can tell."""
    if best[1] == 0:
        return SAFE
    # Odds of at least theta keep the limit: 1/3 for a belief of 3/4.
    low, high = theta * (1 - near), theta * (1 + near)
    least = cf1_loop(best[0], best[1], best[2], k, m)
    if m > 0:
        for s in range(factor.shape[1]):
            if x[0, s] >= 0:
                least = min(least, factor[0, s] * factor[1, s])
                least = min(least, factor[2, s] * factor[3, s])
    if least < low:
        return UNSAFE
    return CLOSE if least <= high else SAFE


LOOPS = (fold_best, fold_factors, judge_minima, find_largest, cf1_loop, cf5_loop)
