"""Running minima: whether a release stays safe when one of its groups is split.

Per point the least CF1, and per point and value the least CF2 to CF5, over all groups
that ever were. A group that is split need not be taken out again: each of its factors
is at least the least of its parts'. So minima only fall, a split that was refused once
is refused for ever, and a trial costs as much as the parts have values.

Each minimum keeps the counts that attain it; floats only sort out what is far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.audits import odds
from privet.audits.odds import NEAR, Floats, Ints, Point
from privet.beliefs import Belief, Ceiling

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Asked:
    """What must hold: how much an insider knows, and how sure they may be."""

    point: Point
    """Values ruled out, people known, companions."""
    limit: Ceiling
    """How sure they may be."""
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""

    @property
    def theta(self) -> float:
        """The odds at the limit, as a float."""
        level = self.limit.level
        return float((1 - level) / level)

    def holds(self, against: Fraction) -> bool:
        """Whether these odds keep the limit."""
        return self.limit.holds(Belief(0, odds.posterior(against)))


class Least(NamedTuple):
    """The minima of one factor: what they are, and the counts that attain them."""

    factor: Floats
    x: Ints
    """The tail, or the people without the value; -1 where there is nobody yet."""
    a: Ints
    """The people with the value."""

    @classmethod
    def nothing(cls, values: int) -> Least:
        """No group yet."""
        return cls(
            np.full(values, np.inf),
            np.full(values, -1, dtype=np.int64),
            np.ones(values, dtype=np.int64),
        )


@dataclass(frozen=True, eq=False)
class Minimum:
    """The minima of one point."""

    asked: Asked
    values: int
    known: Least
    """CF2: the victim with the people known."""
    companions: Least
    """CF3: the companions by themselves."""
    victim: Least
    """CF4: the victim alone."""
    both: Least
    """CF5: the people known with the companions."""
    together: tuple[int, int, int] | None = None
    """CF1: tail, holders and others of the group where all together do best."""

    @classmethod
    def empty(cls, asked: Asked, values: int) -> Minimum:
        """No group yet."""
        first, second, third, fourth = (Least.nothing(values) for _ in range(4))
        return cls(asked, values, first, second, third, fourth)

    def with_group(self, histogram: Ints) -> Minimum:
        """With one more group; a count per value."""
        s = np.flatnonzero(histogram)
        people = int(histogram.sum())
        tail = tails(histogram[s], s, people, self.asked.point)
        s, tail = _mattering(s, tail, self.asked)
        if not len(s):
            return self
        a = histogram[s]
        b = people - a
        k, m = self.asked.point.k, self.asked.point.m
        return Minimum(
            self.asked,
            self.values,
            _ratio(self.known, s, tail, a, k),
            _lacks(self.companions, s, b, a, 0, m),
            _ratio(self.victim, s, tail, a, 0),
            _lacks(self.both, s, b, a, k, m),
            self._best(tail, a, b),
        )

    def _best(self, tail: Ints, a: Ints, b: Ints) -> tuple[int, int, int]:
        # Within a group the most frequent value is the best, whatever k and m are.
        first = int(np.argmax(a))
        new = int(tail[first]), int(a[first]), int(b[first])
        if self.together is None or new == self.together:
            return new
        k, m = self.asked.point.k, self.asked.point.m
        mine = odds.together(*new, k, m) < odds.together(*self.together, k, m)
        return new if mine else self.together

    def safe(self) -> bool:
        """Whether every attack keeps the limit; decided exactly where it is close."""
        if self.together is None:
            return True
        theta = self.asked.theta
        k, m = self.asked.point.k, self.asked.point.m
        if not self.asked.holds(odds.together(*self.together, k, m)):
            return False
        if m == 0:
            return True
        for left, right, near, far in (
            (self.known, self.companions, k, 0),
            (self.victim, self.both, 0, k),
        ):
            with np.errstate(invalid="ignore"):
                product = left.factor * right.factor
            close = np.flatnonzero(product <= theta * (1 + NEAR))
            for s in close[left.x[close] >= 0].tolist():
                if not self.asked.holds(_product(left, right, s, near, far, m)):
                    return False
        return True

    def odds(self) -> Fraction | None:
        """The least odds, exactly; None while no value that matters was seen."""
        if self.together is None:
            return None
        k, m = self.asked.point.k, self.asked.point.m
        found = [odds.together(*self.together, k, m)]
        for s in np.flatnonzero(self.known.x >= 0).tolist():
            found.append(_product(self.known, self.companions, s, k, 0, m))
            found.append(_product(self.victim, self.both, s, 0, k, m))
        return min(found)


@dataclass(frozen=True, eq=False)
class Minima:
    """The minima of several points about one column.

    >>> from privet.beliefs import Ceiling
    >>> empty = Minima.empty([Asked(Point(0, 0, 0), Ceiling("1/2"))], values=2)
    >>> root = empty.with_groups(np.array([[2, 2]]))
    >>> root.safe(), root.split(np.array([[1, 1], [1, 1]])) is not None
    (True, True)
    >>> root.split(np.array([[2, 0], [0, 2]])) is None
    True
    """

    points: tuple[Minimum, ...]

    @classmethod
    def empty(cls, asked: Sequence[Asked], values: int) -> Minima:
        """No group yet; `values` is how many values the column has."""
        return cls(tuple(Minimum.empty(a, values) for a in asked))

    def with_groups(self, histograms: Ints) -> Minima:
        """With more groups: one row each, a count per value."""
        points = self.points
        for histogram in np.asarray(histograms, dtype=np.int64):
            points = tuple(p.with_group(histogram) for p in points)
        return Minima(points)

    def safe(self) -> bool:
        """Whether every point keeps its limit."""
        return all(p.safe() for p in self.points)

    def split(self, parts: Ints) -> Minima | None:
        """The minima once a group falls into these parts; None if that is unsafe."""
        after = []
        for point in self.points:
            for histogram in np.asarray(parts, dtype=np.int64):
                point = point.with_group(histogram)  # noqa: PLW2901 - grows
            if not point.safe():
                return None
            after.append(point)
        return Minima(tuple(after))

    def beliefs(self) -> list[Fraction]:
        """How sure the insider of each point can be by now."""
        found = [p.odds() for p in self.points]
        return [Fraction(0) if r is None else odds.posterior(r) for r in found]


def tails(a: Ints, s: Ints, people: int, point: Point) -> Ints:
    """T for each value of one group: people with neither it nor one ruled out."""
    if isinstance(point.l, tuple):
        out = np.isin(s, point.l)
        return np.asarray(people - int(a[out].sum()) - np.where(out, 0, a))
    if point.l == 0:
        return people - a
    falling = np.sort(a)[::-1]
    top = falling[: point.l]
    if len(falling) <= point.l:
        return np.zeros(len(a), dtype=np.int64)
    # Ties do not matter: with equal counts, which of them is ruled out is the same.
    inside = a >= falling[point.l]
    gone = int(top.sum())
    return np.where(inside, people - gone - falling[point.l], people - gone - a)


def _mattering(s: Ints, tail: Ints, asked: Asked) -> tuple[Ints, Ints]:
    keep = np.ones(len(s), dtype=bool)
    if asked.protect is not None:
        keep &= np.isin(s, asked.protect)
    if isinstance(asked.point.l, tuple):
        keep &= ~np.isin(s, asked.point.l)
    return s[keep], tail[keep]


def _ratio(least: Least, s: Ints, tail: Ints, a: Ints, k: int) -> Least:
    """CF2 and CF4: integers decide."""
    old = least.x[s]
    new, was = np.maximum(tail - k, 0), np.maximum(old - k, 0)
    lower = (old < 0) | (new * least.a[s] < was * a)
    return _with(least, s[lower], new[lower] / a[lower], tail[lower], a[lower])


def _lacks(least: Least, s: Ints, b: Ints, a: Ints, k: int, m: int) -> Least:
    """CF3 and CF5: floats decide where they are far apart, else fractions."""
    new, old = odds.lacking_floats(a, b, k, m), least.factor[s]
    lower = new < old
    same = (b == least.x[s]) & (a == least.a[s])
    with np.errstate(invalid="ignore"):  # nothing yet is infinite
        close = (np.abs(new - old) <= NEAR * old) & np.isfinite(old) & ~same
    for i in np.flatnonzero(close).tolist():
        mine = odds.lacking(int(a[i]), int(b[i]), k, m)
        theirs = odds.lacking(int(least.a[s[i]]), int(least.x[s[i]]), k, m)
        lower[i] = mine < theirs
    return _with(least, s[lower], new[lower], b[lower], a[lower])


def _with(least: Least, s: Ints, factor: Floats, x: Ints, a: Ints) -> Least:
    if not len(s):
        return least
    after = Least(least.factor.copy(), least.x.copy(), least.a.copy())
    after.factor[s], after.x[s], after.a[s] = factor, x, a
    return after


def _product(
    left: Least, right: Least, s: int, near: int, far: int, m: int
) -> Fraction:
    own = odds.alone(int(left.x[s]), int(left.a[s]), near)
    other = odds.lacking(int(right.a[s]), int(right.x[s]), far, m)
    return own * other
