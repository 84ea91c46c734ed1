"""Columns that tell other columns: is `month` known to whoever knows `time_hour`?

A column is derived from another one, or from two, if rows that agree in the first agree
in the second far more often than two rows drawn at random do, over enough rows for that
to be no accident. What is known then is the closure of what an attacker was said to
know. A pair proves something only where rows share a value of it, so each row is
compared with the *other* rows of its value: a value that stands alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SURE_RATIO, LIKELY_RATIO = Fraction(1, 20), Fraction(1, 10)
"""How much rarer misses must be than by chance: for derived, and for maybe."""
DEVIATIONS, ALLOWANCE = Fraction(31, 10), 7
"""So many misses may have been luck: 99.9 % of a Poisson number lie below
F + 3.1 sqrt(F) + 7."""
LEAST_CHANCE_MISSES = 5
"""Fewer misses than this by chance alone, and their absence says nothing."""


class Evidence(Enum):
    """What the rows say about one column telling another."""

    DERIVED = "derived"
    """Told, at most one time in ten otherwise, 99.9 % sure."""
    MAYBE = "maybe"
    """It looks so; too few rows to be sure. Taken as told, on the safe side."""
    TOO_FEW = "too few rows to tell"
    """Nothing speaks against it, and hardly anything for it."""
    NONE = "not derived"
    """Misses are too frequent."""


@dataclass(frozen=True)
class Dependency:
    """How far `by` tells `column`, and the counts that say so.

    >>> x = np.arange(140)
    >>> measure_dependency(("x",), "c", x, x % 2, np.full(140, 2)).evidence.value
    'derived'
    """

    by: tuple[str, ...]
    """The column, or the two, that tell."""
    column: str
    """What they tell."""
    checks: int
    """E: comparisons there were, every row but the first of its value."""
    misses: Fraction
    """F: of these, how many disagree on average over the order of rows."""
    chance: Fraction
    """D0: how often two of these rows disagree if drawn at random."""
    part: bool = False
    """Whether the column repeats a part of the other in every row, as `month` of a
    date; that needs no other evidence."""

    @property
    def ratio(self) -> Fraction | None:
        """r: how often rows disagree, as a share of chance; None without evidence."""
        by_chance = self.checks * self.chance
        return self.misses / by_chance if by_chance else None

    @property
    def evidence(self) -> Evidence:
        """What the counts come to."""
        if self.part:
            return Evidence.DERIVED
        ratio, by_chance = self.ratio, self.checks * self.chance
        if ratio is None:
            return Evidence.TOO_FEW
        if ratio > LIKELY_RATIO:
            return Evidence.NONE
        if ratio <= SURE_RATIO and self._is_no_accident():
            return Evidence.DERIVED
        return Evidence.MAYBE if by_chance >= LEAST_CHANCE_MISSES else Evidence.TOO_FEW

    def _is_no_accident(self) -> bool:
        """F + 3.1 sqrt(F) + 7 <= E D0 / 10; the root by squaring."""
        # Without a miss, 70 of them by chance are enough: 70 / 10 - 7 = 0.
        room = self.checks * self.chance / 10 - ALLOWANCE - self.misses
        return room >= 0 and DEVIATIONS**2 * self.misses <= room**2

    @property
    def is_told(self) -> bool:
        """Whether an attacker who knows `by` is taken to know the column."""
        return self.evidence in (Evidence.DERIVED, Evidence.MAYBE)


def measure_dependency(
    by: tuple[str, ...], column: str, x: Ints, c: Ints, n: Ints
) -> Dependency:
    """Measure how far x tells c, from the number of rows of each (x, c) that occurs.

    Four rows of x = 0 with c = a, a, a, b: of the other three each a sees one b (1/3),
    b sees three a (1): 2 misses in 4 rows, so D = 1/2.
    """
    _, at = np.unique(x, return_inverse=True)
    sizes = np.zeros(int(at.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(sizes, at, n)
    # A row per (x, c) that occurs; `sizes` has one entry per value of x.
    checks = int(n.sum()) - len(sizes)
    supported = sizes[at] >= 2
    of_size, at, agreeing = sizes[at][supported], at[supported], n[supported]
    rows = int(sizes[sizes >= 2].sum())
    if not rows:
        return Dependency(by, column, checks, Fraction(0), Fraction(0))
    chance = _share_disagreeing(c[supported], agreeing, rows)
    disagreeing = rows - _sum_agreeing(of_size, agreeing)
    return Dependency(by, column, checks, disagreeing / rows * checks, chance)


def _sum_agreeing(of_size: Ints, n: Ints) -> Fraction:
    """The sum of n (n - 1) / (size - 1) over cells; one fraction per size."""
    sizes, at = np.unique(of_size, return_inverse=True)
    # Cells of a large table: n (n - 1) may pass 2**63 when summed, so sum as objects
    # once per size; there are at most sqrt(2 N) different sizes.
    pairs = [0] * len(sizes)
    order = np.argsort(at, kind="stable")
    edges = np.searchsorted(at[order], np.arange(len(sizes) + 1))
    for i in range(len(sizes)):
        here = n[order[edges[i] : edges[i + 1]]]
        pairs[i] = _sum_pairs(here)
    parts = [Fraction(p, int(s) - 1) for p, s in zip(pairs, sizes, strict=True)]
    return _add_in_halves(parts)


def _add_in_halves(parts: list[Fraction]) -> Fraction:
    """A sum with few additions of long numbers; one by one, all of them would be."""
    if len(parts) < 2:
        return sum(parts, Fraction(0))
    middle = len(parts) // 2
    return _add_in_halves(parts[:middle]) + _add_in_halves(parts[middle:])


def _sum_pairs(n: Ints) -> int:
    """The sum of n (n - 1), exactly; int64 holds it below three billion rows."""
    if int(n.sum()) < 3_000_000_000:
        return int((n * (n - 1)).sum())
    return sum(k * (k - 1) for k in n.tolist())


def _share_disagreeing(c: Ints, n: Ints, rows: int) -> Fraction:
    """D0: of two of these rows drawn at random, how often they differ in c."""
    _, at = np.unique(c, return_inverse=True)
    totals = np.zeros(int(at.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(totals, at, n)
    return 1 - Fraction(_sum_pairs(totals), rows * (rows - 1))


def measure_ordered(by: str, column: str, c: Ints, n: Ints) -> Dependency:
    """Measure how far an ordered x tells c, from the rows sorted by x.

    Times down to the second hardly repeat, so adjacent rows are compared instead:
    `c` and `n` are runs of rows in the order of x. A change of c is a miss.
    """
    rows = int(n.sum())
    if rows < 2:
        return Dependency((by,), column, 0, Fraction(0), Fraction(0))
    changes = int((c[1:] != c[:-1]).sum())
    chance = _share_disagreeing(c, n, rows)
    return Dependency((by,), column, rows - 1, Fraction(changes), chance)


def close_known(
    known: Iterable[str], rules: Iterable[tuple[tuple[str, ...], str]], about: str
) -> frozenset[str]:
    """Everything that known columns tell, through as many rules as it takes.

    The column asked about never enters: that it is told is what an audit finds out.

    >>> rules = [(("time",), "day"), (("day", "place"), "weather")]
    >>> sorted(close_known(["time", "place"], rules, "income"))
    ['day', 'place', 'time', 'weather']
    """
    found = set(known)
    waiting = [(set(by), column) for by, column in rules if column != about]
    while True:
        told = {column for by, column in waiting if by <= found} - found
        if not told:
            return frozenset(found)
        found |= told
