"""Limited knowledge by its definitions: list the completions, and average them.

Only weights and factors come in, as fractions or floats; nothing of privet is used.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import Any

Number = Any
"""A fraction or a float."""
Factors = Sequence[Sequence[Sequence[Number]]]
"""By attribute, value and class."""
Known = Mapping[int, int]
"""Values by attribute."""


class Listed:
    """Every whole tuple of a classifier, with the belief in each class."""

    def __init__(self, weights: Sequence[Number], factors: Factors) -> None:
        self.sizes = [len(table) for table in factors]
        self.classes = len(weights)
        self.scores: dict[tuple[int, ...], list[Number]] = {}
        for row in product(*map(range, self.sizes)):
            found = [
                w * prod(factors[i][t][c] for i, t in enumerate(row))
                for c, w in enumerate(weights)
            ]
            if sum(found):
                self.scores[row] = found

    def completions(self, known: Known) -> list[tuple[int, ...]]:
        """The tuples that somebody may have of whom this is known."""
        return [
            row for row in self.scores if all(row[i] == t for i, t in known.items())
        ]

    def belief(self, row: tuple[int, ...], chosen: Sequence[int]) -> Number:
        """How likely the classes are for a whole tuple."""
        found = self.scores[row]
        return sum(found[c] for c in chosen) / sum(found)

    def attackers(self, knows: Any) -> Iterator[dict[int, int]]:
        """Everything that may be known: so many attributes, or some of these."""
        names = range(len(self.sizes)) if isinstance(knows, int) else knows
        most = knows if isinstance(knows, int) else len(knows)
        for size in range(min(most, len(self.sizes)) + 1):
            for some in combinations(names, size):
                for values in product(*(range(self.sizes[i]) for i in some)):
                    known = dict(zip(some, values, strict=True))
                    if self.completions(known):
                        yield known

    # Readings -------------------------------------------------------------------------

    def any(self, known: Known, chosen: Sequence[int]) -> tuple[Number, Number]:
        """The least and the most over every distribution: at single completions."""
        found = [self.belief(row, chosen) for row in self.completions(known)]
        return min(found), max(found)

    def model(self, known: Known, chosen: Sequence[int]) -> Number:
        """What the published numbers say: scores added up."""
        rows = [self.scores[row] for row in self.completions(known)]
        return sum(r[c] for r in rows for c in chosen) / sum(map(sum, rows))

    def weighed(
        self, weight: Mapping[tuple[int, ...], Number], known: Known, tilt: Number = 1
    ) -> list[tuple[tuple[int, ...], Number]]:
        """Completions with the most that each may weigh; empty: nothing is declared."""
        rows = self.completions(known)
        whole = sum(weight.get(row, 0) for row in rows)
        return (
            [(row, tilt * weight.get(row, 0) / whole) for row in rows] if whole else []
        )

    def filled(
        self, lines: list[tuple[tuple[int, ...], Number]], chosen: Sequence[int]
    ) -> tuple[Number, Number]:
        """The least and the most where each completion weighs at most so much."""
        ends = []
        for sign in (1, -1):
            left, total = 1, 0
            for row, most in sorted(
                lines, key=lambda x: sign * self.belief(x[0], chosen)
            ):
                part = min(left, most)
                left, total = left - part, total + part * self.belief(row, chosen)
            ends.append(total)
        return ends[0], ends[1]

    def shares(
        self,
        shares: Sequence[Sequence[Number]],
        known: Known,
        chosen: Sequence[int],
        tilt: Number = 1,
    ) -> tuple[Number, Number]:
        """Independent shares of the others, each at most `tilt` times as likely."""
        weight = {
            row: prod(shares[i][t] for i, t in enumerate(row) if i not in known)
            for row in self.completions(known)
        }
        lines = self.weighed(weight, known, tilt)
        return self.filled(lines, chosen) if lines else self.any(known, chosen)

    def table(
        self, rows: Sequence[tuple[int, ...]], known: Known, chosen: Sequence[int]
    ) -> tuple[Number, Number]:
        """The rows of a public table that fit."""
        weight = {row: Fraction(rows.count(row)) for row in set(rows)}
        lines = self.weighed(weight, known)
        return self.filled(lines, chosen) if lines else self.any(known, chosen)

    def marginals(
        self, shares: Sequence[Sequence[Number]], known: Known, chosen: Sequence[int]
    ) -> tuple[float, float]:
        """Every joint distribution with these marginals, by linear programs."""
        from scipy.optimize import linprog

        rows = self.completions(known)
        equal, sums = [[1.0] * len(rows)], [1.0]
        for i, values in enumerate(shares):
            for t, share in enumerate(values):
                if i not in known:
                    equal.append([float(row[i] == t) for row in rows])
                    sums.append(float(share))
        goal = [float(self.belief(row, chosen)) for row in rows]
        ends = []
        for sign in (1, -1):
            found = linprog([sign * g for g in goal], A_eq=equal, b_eq=sums)
            if found.status:
                least, most = self.any(known, chosen)
                return float(least), float(most)
            ends.append(sign * found.fun)
        return ends[0], ends[1]


def random_shares(dice: random.Random, sizes: Sequence[int]) -> list[list[Fraction]]:
    """Shares of every attribute's values; now and then a value has none."""
    found = []
    for n in sizes:
        parts = [dice.randint(0 if n > 1 else 1, 5) for _ in range(n)]
        parts[dice.randrange(n)] += 1
        found.append([Fraction(p, sum(parts)) for p in parts])
    return found
