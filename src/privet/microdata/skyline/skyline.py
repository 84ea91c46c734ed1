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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Floats, Ints, Point, Ruling
from privet.microdata.skyline.ranked import (
    RankedValues,
    Rows,
    lowest,
    lowest_of_three,
    ranked,
)
from privet.values.contingency import distinct
from privet.values.equivalence_classes import EquivalenceClasses

if TYPE_CHECKING:
    from privet.microdata.skyline.scanning import Scan

TOGETHER, WITH_KNOWN, APART = "together", "with known", "apart"
"""Who shares the victim's group: all; those whose value is known; nobody."""


@dataclass(frozen=True)
class InsiderCase:
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
        return closed_forms.posterior(self.odds)


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
    kept: EquivalenceClasses | None = None
    """The groups that can decide."""
    groups: int = 0
    """Groups seen."""
    people: int = 0
    """People seen."""
    smallest: int = 0
    """People of the smallest group."""
    fewest: int = 0
    """The fewest different values of a group."""

    def __init__(
        self,
        rulings: Iterable[Ruling],
        protect: Sequence[int] | None = None,
        kept: EquivalenceClasses | None = None,
        groups: int = 0,
        people: int = 0,
        smallest: int = 0,
        fewest: int = 0,
    ) -> None:
        object.__setattr__(self, "rulings", tuple(dict.fromkeys(rulings)))
        shield = None if protect is None else tuple(sorted(set(protect)))
        object.__setattr__(self, "protect", shield)
        object.__setattr__(self, "kept", kept)
        for name, number in (
            ("groups", groups),
            ("people", people),
            ("smallest", smallest),
            ("fewest", fewest),
        ):
            object.__setattr__(self, name, number)

    def add(self, batch: EquivalenceClasses, scan: Scan | None = None) -> Skyline:
        """With some more whole groups; `scan` is theirs, where there is one."""
        from privet.microdata.skyline.scanning import Scan

        if not len(batch):
            return self
        scan = scan or Scan(batch, self.protect)
        few = batch.take(scan.deciding(self.rulings))
        here = replace(
            self,
            kept=few,
            groups=len(batch),
            people=int(batch.total.sum()),
            smallest=int(batch.total.min()),
            fewest=int(np.diff(batch.start).min()),
        )
        return self | here

    def __or__(self, other: Skyline) -> Skyline:
        if self.kept is None or other.kept is None:
            return self if other.kept is None else other
        both = self.kept + other.kept
        few = both.take(deciding(ranked(both), self.rulings, self.protect))
        return replace(
            self,
            kept=few,
            groups=self.groups + other.groups,
            people=self.people + other.people,
            smallest=min(self.smallest, other.smallest),
            fewest=min(self.fewest, other.fewest),
        )

    @cached_property
    def _rows(self) -> RankedValues:
        assert self.kept is not None
        return ranked(self.kept)

    def _at(self, ruling: Ruling) -> Rows:
        """The rows that can decide; worked out once per ruling."""
        known: dict[Ruling, Rows] = self.__dict__.setdefault("_known", {})
        if ruling not in known:
            parts = fronts(self._rows, ruling, self.protect)
            known[ruling] = np.unique(np.concatenate(parts))
        return known[ruling]

    def worst(self, point: Point) -> InsiderCase | None:
        """The best attack at a point, exactly; None where no value matters."""
        if self.kept is None:
            return None
        rows, at = self._rows, self._at(point.l)
        if isinstance(point.l, tuple):
            at = at[~np.isin(rows.value[at], point.l)]
        columns = rows.value[at], rows.a[at], rows.b[at], rows.tail(point.l)[at]
        return best_attack(columns, rows.group[at], point)

    def belief(self, point: Point) -> Fraction:
        """How sure an insider can be at worst; 0 where no value matters."""
        case = self.worst(point)
        return case.belief if case else Fraction(0)


def mattering(rows: RankedValues, protect: Sequence[int] | None) -> Rows:
    """The rows whose value is protected."""
    if protect is None:
        return np.arange(len(rows.a))
    return np.flatnonzero(np.isin(rows.value, protect))


def deciding(
    rows: RankedValues, rulings: Iterable[Ruling], protect: Sequence[int] | None
) -> Rows:
    """Groups that attain some minimum, for whatever k and m."""
    at = mattering(rows, protect)
    found = [lacking_front(rows, at)]
    for ruling in rulings:
        found += tail_fronts(rows, at, ruling)
    return np.unique(rows.group[np.concatenate(found)])


def fronts(
    rows: RankedValues, ruling: Ruling, protect: Sequence[int] | None
) -> list[Rows]:
    """The rows that attain some minimum of a ruling, for whatever k and m."""
    at = mattering(rows, protect)
    return [lacking_front(rows, at), *tail_fronts(rows, at, ruling)]


def lacking_front(rows: RankedValues, at: Rows) -> Rows:
    """The rows where the companions' attacks may be best: CF3 and CF5."""
    return at[lowest(rows.value[at], rows.a[at], rows.b[at])]


def tail_fronts(rows: RankedValues, at: Rows, ruling: Ruling) -> list[Rows]:
    """The rows where the victim's group may be best: CF2 and CF4; CF1."""
    if isinstance(ruling, tuple):
        at = at[~np.isin(rows.value[at], ruling)]
    tail = rows.tail(ruling)
    steps = at[lowest(rows.value[at], rows.a[at], tail[at])]
    # The most frequent value of a group is its best for the attack in one group.
    modes = rows.first(at)
    return [steps, modes[triples(rows.a[modes], rows.b[modes], tail[modes])]]


class Modes(NamedTuple):
    """The most frequent value that matters, group by group."""

    group: Rows
    a: Ints
    b: Ints
    tail: Ints


def modes_of(
    rows: RankedValues, ruling: Ruling, protect: Sequence[int] | None
) -> Modes:
    """The best row of each group for the attack inside it."""
    at = mattering(rows, protect)
    if isinstance(ruling, tuple):
        at = at[~np.isin(rows.value[at], ruling)]
    at = rows.first(at)
    return Modes(rows.group[at], rows.a[at], rows.b[at], rows.tail(ruling)[at])


def triples(a: Ints, b: Ints, tail: Ints) -> Rows:
    """The front of (a, b, tail), each triple looked at once."""
    first = (
        np.sort(
            distinct([a, b, tail], [int(c.max()) + 1 for c in (a, b, tail)], len(a))[0]
        )
        if len(a)
        else np.zeros(0, dtype=np.intp)
    )
    found: Rows = first[lowest_of_three(a[first], b[first], tail[first])]
    return found


# From groups to the best attack -----------------------------------------------------


def best_attack(
    columns: tuple[Ints, Ints, Ints, Ints], group: Rows, point: Point
) -> InsiderCase | None:
    """The exact least odds over the rows (value, a, b, tail)."""
    value, a, b, tail = columns
    if not len(value):
        return None
    k, m = point.k, point.m
    one = closed_forms.together_floats(tail, a, b, k, m)
    with_known = _Two(value, closed_forms.alone_floats(tail, a, k), _lacks(a, b, 0, m))
    apart = _Two(value, closed_forms.alone_floats(tail, a, 0), _lacks(a, b, k, m))
    least = min(one.min(), with_known.least, apart.least)
    found = [
        (_exact(tail, a, b, r, point), 0, int(value[r]), r, r)
        for r in np.flatnonzero(one <= _near(least)).tolist()
    ]
    for order, (two, near, far) in enumerate([(with_known, k, 0), (apart, 0, k)], 1):
        for s in two.values(least):
            own = [
                (closed_forms.alone(int(tail[r]), int(a[r]), near), int(r))
                for r in two.near(s, two.left)
            ]
            others = [
                (closed_forms.lacking(int(a[r]), int(b[r]), far, m), int(r))
                for r in two.near(s, two.right)
            ]
            (x, r), (y, o) = min(own), min(others)
            found.append((x * y, order, s, r, o))
    best, order, s, r, o = min(found)
    shape = (TOGETHER, WITH_KNOWN, APART)[order]
    return InsiderCase(best, shape, s, int(group[r]), int(group[o]))


def _exact(tail: Ints, a: Ints, b: Ints, row: int, point: Point) -> Fraction:
    own = int(tail[row]), int(a[row]), int(b[row])
    return closed_forms.together(*own, point.k, point.m)


def _lacks(a: Ints, b: Ints, k: int, m: int) -> Floats:
    return closed_forms.lacking_floats(a, b, k, m)


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
