"""People whose row changed between two deliveries, though the value asked about stayed.

Their old row is among those that left, their new one among those that came. Whoever
knows both, and that the value stayed, looks for a value that both groups have: a cook
with flu or hiv who became a smith with hiv or nothing has hiv. Which of the rows that
left became which of those that came, with equal values, is equally likely for all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, factorial
from typing import Any

from privet.errors import TooLarge
from privet.release.joint.deliveries import Reader

Histogram = tuple[tuple[Hashable, int], ...]
"""How many of a group have each value."""

MOST_PAIRS = 1_000_000
"""Different groups before times different groups now; more are not compared."""
MOST_WORK = 2_000_000
"""Values times the square of people with changed rows; beyond that, bounds do."""


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """The rows that left and those that came, and how many of them changed."""

    gone: Mapping[Any, int]
    new: Mapping[Any, int]
    many: int
    """People whose old row left and whose new one came."""
    read: Reader
    """The group and the value of a row."""

    def find_worst(self, matters: Callable[[object], bool]) -> Fraction:
        """How sure one can be of a value that matters, at worst.

        Raises
        ------
        TooLarge
            Where there are too many different groups.
        """
        before, now = self._list_groups(self.gone), self._list_groups(self.new)
        if len(before) * len(now) > MOST_PAIRS:
            raise TooLarge("There are too many groups to compare before and after.")
        worst = Fraction(0)
        for one in before:
            for other in now:
                worst = max(worst, self._judge_pair(one, dict(other), matters))
        return worst

    def _judge_pair(
        self,
        one: Histogram,
        other: Mapping[Hashable, int],
        matters: Callable[[object], bool],
    ) -> Fraction:
        """Of people who went from one group to another; none can have: 0."""
        least, most = Fraction(0), {}
        for value, n in one:
            if both := n * other.get(value, 0):
                low, high = self._rates[value]
                least += both * low
                most[value] = both * low, both * high
        worst = Fraction(0)
        for value, (low, high) in most.items():
            if high and matters(value):
                worst = max(worst, high / (high + least - low))
        return worst

    def _list_groups(self, rows: Mapping[Any, int]) -> list[Histogram]:
        """The different histograms of the groups, each once."""
        groups: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
        for row, n in rows.items():
            if n:
                group, value = self.read(row)
                groups[group][value] += n
        return list(
            dict.fromkeys(
                tuple(sorted(g.items(), key=lambda each: repr(each[0])))
                for g in groups.values()
            )
        )

    # How many changed rows have each value ------------------------------------------

    @cached_property
    def _sizes(self) -> dict[Hashable, tuple[int, int]]:
        """People with each value who left, and who came."""
        left, came = (self._count_values(rows) for rows in (self.gone, self.new))
        return {v: (n, came[v]) for v, n in left.items() if n and came[v]}

    def _count_values(self, rows: Mapping[Any, int]) -> Counter[Hashable]:
        found: Counter[Hashable] = Counter()
        for row, n in rows.items():
            found[self.read(row)[1]] += n
        return found

    @cached_property
    def _rates(self) -> dict[Hashable, tuple[Fraction, Fraction]]:
        """For each value, the share of pairs of old and new rows that are one person's:
        at least and at most; both alike where that was counted.
        """
        room = {v: min(pair) for v, pair in self._sizes.items()}
        # If more people changed than can have kept their value, some of them did not.
        many = min(self.many, sum(room.values()))
        if len(room) * many**2 > MOST_WORK:
            most = sum(room.values())
            low = {v: Fraction(max(0, many - most + n)) for v, n in room.items()}
            high = {v: Fraction(min(n, many)) for v, n in room.items()}
        else:
            low = high = self._expect(many)
        whole = {v: a * b for v, (a, b) in self._sizes.items()}
        return {v: (low[v] / n, high[v] / n) for v, n in whole.items()}

    def _expect(self, many: int) -> dict[Hashable, Fraction]:
        """People with each value whose row changed, on average.

        k of A old and B new rows are the same people's in C(A, k) C(B, k) k! ways.
        """
        ways = {
            v: [comb(a, k) * comb(b, k) * factorial(k) for k in range(many + 1)]
            for v, (a, b) in self._sizes.items()
        }
        found = {}
        for value, own in ways.items():
            others = [1] + [0] * many
            for v, more in ways.items():
                if v != value:
                    others = _multiply(others, more)
            whole = sum(w * others[many - k] for k, w in enumerate(own))
            some = sum(k * w * others[many - k] for k, w in enumerate(own))
            found[value] = Fraction(some, whole)
        return found


def _multiply(one: list[int], other: list[int]) -> list[int]:
    """The product of two polynomials, up to the degree of the first."""
    return [
        sum(one[i - j] * w for j, w in enumerate(other[: i + 1]) if w)
        for i in range(len(one))
    ]
