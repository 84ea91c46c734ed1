"""Two deliveries of one table: what their difference says of who is new or gone.

Rows were added and removed between the deliveries. Whoever subtracts the files sees
D+, what the second has more of, and D-, what the first has more of. If no row that came
cancels one that left, D+ is exactly the newcomers. Otherwise some `cancelled` people
are hidden in equal rows: the belief then averages over all ways to say which equal rows
are the same person's, given how many people stayed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from privet.errors import InputError, TooLarge

Group = Hashable
Value = Hashable
Cell = tuple[Group, Value]
"""What a row shows to somebody who knows some columns: the group, and a value."""
Shown = Any
"""A row as both files show it; rows cancel only if all of it is equal."""
Weights = Mapping[Shown, Fraction] | Mapping[Shown, int]
"""People by what their rows show, perhaps on average."""
Reader = Callable[[Any], Cell]
"""What of a row somebody who knows some columns goes by."""
Part = Literal["new", "gone", "kept"]

MOST_WORK = 50_000_000
"""Cells times the square of the people who cancel; more is only bounded."""


def _as_it_is(row: Any) -> Cell:
    group, value = row
    return group, value


@dataclass(frozen=True, eq=False)
class Deliveries:
    """The rows of two deliveries, shown alike, and how many people are in both."""

    first: Mapping[Shown, int]
    second: Mapping[Shown, int]
    stayed: int
    """m: people who are in both deliveries with the same row."""
    read: Reader = _as_it_is
    """Where rows show more: the group and the value of a row."""

    def __post_init__(self) -> None:
        most = sum(min(n, self.second.get(c, 0)) for c, n in self.first.items())
        if not 0 <= self.stayed <= most:
            raise InputError(
                f"At most {most} people can be in both deliveries; got {self.stayed}."
            )

    @property
    def cancelled(self) -> int:
        """e: newcomers whose rows cannot be told from those of people who left."""
        shared = sum(min(n, self.second.get(c, 0)) for c, n in self.first.items())
        return shared - self.stayed

    def difference(self, part: Part) -> Counter[Shown]:
        """D+ of the newcomers or D- of those who left, positive parts only."""
        more, less = self._sides(part)
        return Counter(
            {c: n - less.get(c, 0) for c, n in more.items() if n > less.get(c, 0)}
        )

    def _sides(self, part: Part) -> tuple[Mapping[Shown, int], Mapping[Shown, int]]:
        if part == "new":
            return self.second, self.first
        return self.first, self.second

    def beliefs(self, part: Part) -> dict[Group, dict[Value, Fraction]]:
        """How sure one is of each value of somebody who is new, gone, or in both.

        Raises
        ------
        TooLarge
            Where too many people cancel; `bounds` still holds.
        """
        return share_groups(self.expect_people(part), self.read)

    def expect_people(self, part: Part) -> Weights:
        """People of a part by what their rows show, on average, but for a factor."""
        if self.cancelled:
            return self._average_people(part)
        return self._shared if part == "kept" else self.difference(part)

    @property
    def _shared(self) -> Counter[Shown]:
        """Rows that both files have: people who stayed, and pairs that cancel."""
        both = {r: min(n, self.second.get(r, 0)) for r, n in self.first.items()}
        return Counter({r: n for r, n in both.items() if n})

    def bounds(self, part: Part) -> dict[Group, dict[Value, Fraction]]:
        """At most this sure: all who cancel might be one group's, with one value."""
        if part == "kept":
            return self._bound_kept()
        seen, hidden = Counter[Cell](), Counter[Cell]()
        totals: Counter[Group] = Counter()
        more, less = self._sides(part)
        for row, n in more.items():
            cell, both = self.read(row), min(n, less.get(row, 0))
            seen[cell] += n - both
            totals[cell[0]] += n - both
            hidden[cell] += both
        found: dict[Group, dict[Value, Fraction]] = defaultdict(dict)
        for (group, value), n in seen.items():
            unseen = min(self.cancelled, hidden[group, value])
            if whole := totals[group] + unseen:
                found[group][value] = Fraction(n + unseen, whole)
        return dict(found)

    def _bound_kept(self) -> dict[Group, dict[Value, Fraction]]:
        """All who cancel might be of one group, and have other values."""
        found: dict[Group, dict[Value, Fraction]] = {}
        counts: dict[Group, Counter[Value]] = defaultdict(Counter)
        for row, n in self._shared.items():
            group, value = self.read(row)
            counts[group][value] += n
        for group, values in counts.items():
            whole = values.total()
            found[group] = {
                v: Fraction(n, whole - min(self.cancelled, whole - n))
                for v, n in values.items()
            }
        return found

    @cached_property
    def _series(self) -> dict[Shown, list[Fraction]]:
        """For each cell, relative to as many as possible staying, the number of ways
        in which j fewer did; up to all who cancel.

        k of A and B equal rows are the same people's in C(A, k) C(B, k) k! ways. With
        A = 3, B = 2: 6 ways for k = 2, 6 for k = 1, 1 for k = 0, so 1, 1, 1/6.
        """
        if len(self.first) * self.cancelled**2 > MOST_WORK:
            raise TooLarge(
                f"{self.cancelled} people who came cancel as many who left; that is "
                "too many to list who they might be."
            )
        found = {}
        for cell, n in self.first.items():
            m = self.second.get(cell, 0)
            few, apart = min(n, m), abs(n - m)
            ways = [Fraction(1)]
            for j in range(1, min(few, self.cancelled) + 1):
                # C(B, j) / ((A - B + 1) ... (A - B + j)), one factor more each time
                ways.append(ways[-1] * Fraction(few - j + 1, j * (apart + j)))
            found[cell] = ways
        return found

    def _average_people(self, part: Part) -> dict[Shown, Fraction]:
        """People of each cell who are new (or gone, or stayed), but for a factor."""
        degree = self.cancelled
        # Coefficient j: ways to hide j people in equal rows, in all cells together.
        whole = [Fraction(1)] + [Fraction(0)] * degree
        for ways in self._series.values():
            whole = _multiply(whole, ways, degree)
        more, less = self._sides(part)
        found: dict[Shown, Fraction] = {}
        for cell, n in more.items():
            ways = self._series.get(cell, [Fraction(1)])
            # If j are hidden here, degree - j are elsewhere, and left + j are new. 3
            # rows that become 2 and 1 that becomes 2, one hidden: 1 and 2 of 3.
            others = _divide(whole, ways)
            both = min(n, less.get(cell, 0))
            weight = sum(
                (
                    others[degree - j]
                    * w
                    * (both - j if part == "kept" else n - both + j)
                    for j, w in enumerate(ways)
                ),
                Fraction(0),
            )
            if weight:
                found[cell] = weight
        return found


def share_groups(
    people: Weights, read: Reader = _as_it_is
) -> dict[Group, dict[Value, Fraction]]:
    """The share of each value in each group."""
    totals: dict[Group, Fraction] = defaultdict(Fraction)
    cells: dict[Cell, Fraction] = defaultdict(Fraction)
    for row, n in people.items():
        cell = read(row)
        totals[cell[0]] += n
        cells[cell] += n
    found: dict[Group, dict[Value, Fraction]] = defaultdict(dict)
    for (group, value), weight in cells.items():
        if weight:
            found[group][value] = weight / totals[group]
    return dict(found)


def _multiply(
    one: list[Fraction], other: list[Fraction], degree: int
) -> list[Fraction]:
    """The product of two power series, up to a degree."""
    return [
        sum((one[i - j] * w for j, w in enumerate(other[: i + 1])), Fraction(0))
        for i in range(degree + 1)
    ]


def _divide(whole: list[Fraction], part: list[Fraction]) -> list[Fraction]:
    """The series that gives `whole` when multiplied by `part`, which begins with 1."""
    found: list[Fraction] = []
    for i, n in enumerate(whole):
        known = sum(
            (found[i - j] * w for j, w in enumerate(part[1 : i + 1], 1)), Fraction(0)
        )
        found.append(n - known)
    return found
