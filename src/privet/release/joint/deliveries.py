"""Two deliveries of one table: what their difference says of who is new or gone.

Rows were added and removed between the deliveries. Whoever subtracts the files sees
D+, what the second has more of, and D-, what the first has more of. If no row that came
cancels one that left, D+ is exactly the newcomers. Otherwise some `cancelled` people
are hidden in equal rows: the belief then averages over all ways to say which equal rows
are the same person's, given how many people stayed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from privet.errors import InputError, TooLarge

Group = Hashable
Value = Hashable
Cell = tuple[Group, Value]
"""What a row shows to somebody who knows some columns: the group, and a value."""
Part = Literal["new", "gone"]

MOST_WORK = 50_000_000
"""Cells times the square of the people who cancel; more is only bounded."""


@dataclass(frozen=True, eq=False)
class Deliveries:
    """The rows of two deliveries, shown alike, and how many people are in both."""

    first: Mapping[Cell, int]
    second: Mapping[Cell, int]
    stayed: int
    """m: people who are in both deliveries with the same row."""

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

    def difference(self, part: Part) -> Counter[Cell]:
        """D+ of the newcomers or D- of those who left, positive parts only."""
        more, less = self._sides(part)
        return Counter(
            {c: n - less.get(c, 0) for c, n in more.items() if n > less.get(c, 0)}
        )

    def _sides(self, part: Part) -> tuple[Mapping[Cell, int], Mapping[Cell, int]]:
        if part == "new":
            return self.second, self.first
        return self.first, self.second

    def beliefs(self, part: Part) -> dict[Group, dict[Value, Fraction]]:
        """How sure one is of each value of somebody who is new, or gone.

        Raises
        ------
        TooLarge
            Where too many people cancel; `bounds` still holds.
        """
        expected = self._expect_people(part) if self.cancelled else None
        return _share_groups(expected or self.difference(part))

    def bounds(self, part: Part) -> dict[Group, dict[Value, Fraction]]:
        """At most this sure: all who cancel might be one group's, with one value."""
        seen = self.difference(part)
        totals: Counter[Group] = Counter()
        for (group, _), n in seen.items():
            totals[group] += n
        found: dict[Group, dict[Value, Fraction]] = defaultdict(dict)
        more, less = self._sides(part)
        for (group, value), n in more.items():
            hidden = min(self.cancelled, n, less.get((group, value), 0))
            if whole := totals[group] + hidden:
                share = Fraction(seen[group, value] + hidden, whole)
                found[group][value] = share
        return dict(found)

    @cached_property
    def _series(self) -> dict[Cell, list[Fraction]]:
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

    def _expect_people(self, part: Part) -> dict[Cell, Fraction]:
        """People of each cell who are new (or gone), on average, but for a factor."""
        degree = self.cancelled
        # Coefficient j: ways to hide j people in equal rows, in all cells together.
        whole = [Fraction(1)] + [Fraction(0)] * degree
        for ways in self._series.values():
            whole = _multiply(whole, ways, degree)
        more, less = self._sides(part)
        found: dict[Cell, Fraction] = {}
        for cell, n in more.items():
            ways = self._series.get(cell, [Fraction(1)])
            # If j are hidden here, degree - j are elsewhere, and left + j are new. 3
            # rows that become 2 and 1 that becomes 2, one hidden: 1 and 2 of 3.
            others = _divide(whole, ways)
            left = n - min(n, less.get(cell, 0))
            weight = sum(
                (others[degree - j] * w * (left + j) for j, w in enumerate(ways)),
                Fraction(0),
            )
            if weight:
                found[cell] = weight
        return found


def _share_groups(
    people: Mapping[Cell, Fraction] | Mapping[Cell, int],
) -> dict[Group, dict[Value, Fraction]]:
    totals: dict[Group, Fraction] = defaultdict(Fraction)
    for (group, _), n in people.items():
        totals[group] += n
    found: dict[Group, dict[Value, Fraction]] = defaultdict(dict)
    for (group, value), n in people.items():
        found[group][value] = Fraction(n) / totals[group]
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
