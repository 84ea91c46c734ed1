"""How sure an insider can be at worst: a fold over groups that serves every point.

The odds against the victim's value fall to the least of three attacks: everybody who
is known in the victim's group; the companions in another group; the companions and
the people known in another group. Each needs minima per value over the groups, which
only few groups can attain, whatever k and m are. The fold keeps those groups whole.
Chen, LeFevre, Ramakrishnan 2007, corrected: minima per value, and the third attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from privet.audits import odds
from privet.audits.odds import NEAR, Floats, Ints, Point, Ruling
from privet.audits.ranked import Ranked, Rows, lowest, lowest_of_three, ranked
from privet.grouped import Grouped

TOGETHER, WITH_KNOWN, APART = "together", "with known", "apart"
"""Who shares the victim's group: all; those whose value is known; nobody."""


@dataclass(frozen=True)
class Case:
    """The best attack at one point."""

    odds: Fraction
    """Against the value: R."""
    shape: str
    """Who shares the victim's group: `TOGETHER`, `WITH_KNOWN` or `APART`."""
    value: int
    """The code of the value believed."""
    victim: int
    """The victim's group, among those kept."""
    other: int
    """The companions' group, among those kept."""

    @property
    def belief(self) -> Fraction:
        """How sure the insider is."""
        return odds.posterior(self.odds)


@dataclass(frozen=True, eq=False)
class Skyline:
    """The groups that can decide some point, out of all groups seen.

    ``Skyline(range(4))`` is the empty fold for up to three values ruled out;
    ``left | right`` merges disjoint groups.
    """

    rulings: tuple[Ruling, ...]
    """How many values, or which, may be ruled out."""
    protect: tuple[int, ...] | None = None
    """The codes of the values that matter; None: every value."""
    kept: Grouped | None = None
    """The groups that can decide."""
    groups: int = 0
    """Groups seen."""

    def __init__(
        self,
        rulings: Iterable[Ruling],
        protect: Sequence[int] | None = None,
        kept: Grouped | None = None,
        groups: int = 0,
    ) -> None:
        object.__setattr__(self, "rulings", tuple(dict.fromkeys(rulings)))
        shield = None if protect is None else tuple(sorted(set(protect)))
        object.__setattr__(self, "protect", shield)
        object.__setattr__(self, "kept", kept)
        object.__setattr__(self, "groups", groups)

    def add(self, batch: Grouped, rows: Ranked | None = None) -> Skyline:
        """With some more whole groups; `rows` are theirs, where they were ranked."""
        if not len(batch):
            return self
        rows = rows or ranked(batch)
        few = batch.take(deciding(rows, self.rulings, self.protect))
        return self._with(few, len(batch))

    def __or__(self, other: Skyline) -> Skyline:
        if other.kept is None:
            return replace(self, groups=self.groups + other.groups)
        return self._with(other.kept, other.groups)

    def _with(self, few: Grouped, groups: int) -> Skyline:
        if self.kept is not None and len(self.kept):
            both = self.kept + few
            few = both.take(deciding(ranked(both), self.rulings, self.protect))
        return replace(self, kept=few, groups=self.groups + groups)

    @cached_property
    def _rows(self) -> Ranked:
        assert self.kept is not None
        return ranked(self.kept)

    @cached_property
    def _mattering(self) -> Rows:
        return mattering(self._rows, self.protect)

    def _columns(self, ruling: Ruling) -> tuple[Ints, Ints, Ints, Ints]:
        """Value, a, b and tail of the rows that matter; none of them ruled out."""
        rows, at = self._rows, self._mattering
        if isinstance(ruling, tuple):
            at = at[~np.isin(rows.value[at], ruling)]
        return rows.value[at], rows.a[at], rows.b[at], rows.tail(ruling)[at]

    def _groups_of(self, ruling: Ruling) -> Rows:
        rows, at = self._rows, self._mattering
        if isinstance(ruling, tuple):
            at = at[~np.isin(rows.value[at], ruling)]
        return rows.group[at]

    def worst(self, point: Point) -> Case | None:
        """The best attack at a point, exactly; None where no value matters."""
        if self.kept is None:
            return None
        return best_attack(self._columns(point.l), self._groups_of(point.l), point)

    def belief(self, point: Point) -> Fraction:
        """How sure an insider can be at worst; 0 where no value matters."""
        case = self.worst(point)
        return case.belief if case else Fraction(0)


def mattering(rows: Ranked, protect: Sequence[int] | None) -> Rows:
    """The rows whose value is protected."""
    if protect is None:
        return np.arange(len(rows.a))
    return np.flatnonzero(np.isin(rows.value, protect))


def deciding(
    rows: Ranked, rulings: Iterable[Ruling], protect: Sequence[int] | None
) -> Rows:
    """Groups that attain some minimum, for whatever k and m."""
    at = mattering(rows, protect)
    value, a, b = rows.value[at], rows.a[at], rows.b[at]
    found = [rows.group[at[lowest(value, a, b)]]]
    for ruling in rulings:
        tail = rows.tail(ruling)[at]
        some = np.arange(len(at))
        if isinstance(ruling, tuple):
            some = np.flatnonzero(~np.isin(value, ruling))
        steps = some[lowest(value[some], a[some], tail[some])]
        # The most frequent value of a group is its best for the attack in one group.
        modes = rows.first(at[some])
        own = np.searchsorted(at, modes)
        front = own[_triples(a[own], b[own], tail[own])]
        found += [rows.group[at[steps]], rows.group[at[front]]]
    return np.unique(np.concatenate(found))


def _triples(a: Ints, b: Ints, tail: Ints) -> Rows:
    """The front of (a, b, tail), each triple looked at once."""
    _, first = np.unique(np.stack([a, b, tail]), axis=1, return_index=True)
    first = np.sort(first)
    found: Rows = first[lowest_of_three(a[first], b[first], tail[first])]
    return found


# From groups to the best attack -----------------------------------------------------


def best_attack(
    columns: tuple[Ints, Ints, Ints, Ints], group: Rows, point: Point
) -> Case | None:
    """The exact least odds over the rows (value, a, b, tail)."""
    value, a, b, tail = columns
    if not len(value):
        return None
    k, m = point.k, point.m
    one = odds.together_floats(tail, a, b, k, m)
    with_known = _Two(value, odds.alone_floats(tail, a, k), _lacks(a, b, 0, m))
    apart = _Two(value, odds.alone_floats(tail, a, 0), _lacks(a, b, k, m))
    least = min(one.min(), with_known.least, apart.least)
    found = [
        (_exact(tail, a, b, r, point), 0, int(value[r]), r, r)
        for r in np.flatnonzero(one <= _near(least)).tolist()
    ]
    for order, (two, near, far) in enumerate([(with_known, k, 0), (apart, 0, k)], 1):
        for s in two.values(least):
            own = [
                (odds.alone(int(tail[r]), int(a[r]), near), int(r))
                for r in two.near(s, two.left)
            ]
            others = [
                (odds.lacking(int(a[r]), int(b[r]), far, m), int(r))
                for r in two.near(s, two.right)
            ]
            (x, r), (y, o) = min(own), min(others)
            found.append((x * y, order, s, r, o))
    best, order, s, r, o = min(found)
    shape = (TOGETHER, WITH_KNOWN, APART)[order]
    return Case(best, shape, s, int(group[r]), int(group[o]))


def _exact(tail: Ints, a: Ints, b: Ints, row: int, point: Point) -> Fraction:
    own = int(tail[row]), int(a[row]), int(b[row])
    return odds.together(*own, point.k, point.m)


def _lacks(a: Ints, b: Ints, k: int, m: int) -> Floats:
    return odds.lacking_floats(a, b, k, m)


def _near(least: float) -> float:
    return float(least * (1 + NEAR))


class _Two:
    """The minima per value of an attack on two groups, as floats."""

    def __init__(self, value: Ints, left: Floats, right: Floats) -> None:
        self.value, self.left, self.right = value, left, right
        several = int(value.max()) + 1
        self._lefts = np.full(several, np.inf)
        self._rights = np.full(several, np.inf)
        np.minimum.at(self._lefts, value, left)
        np.minimum.at(self._rights, value, right)
        self._present = np.flatnonzero(np.isfinite(self._lefts))
        self._products = self._lefts[self._present] * self._rights[self._present]
        self.least = float(self._products.min())

    def values(self, least: float) -> list[int]:
        """The values whose product may be the least."""
        found: list[int] = self._present[self._products <= _near(least)].tolist()
        return found

    def near(self, s: int, factor: Floats) -> list[int]:
        """The rows of a value whose factor may be its least."""
        rows = np.flatnonzero(self.value == s)
        return rows[factor[rows] <= _near(factor[rows].min())].tolist()  # type: ignore[no-any-return]
