"""Columns that tell other columns: is `month` known to whoever knows `time_hour`?

A column is derived from another one, or from two, if rows that agree in the first agree
in the second far more often than two rows drawn at random do, over enough rows for that
to be no accident. What is known then is the closure of what an attacker was said to
know. A pair proves something only where rows share a value of it, so each row is
compared with the *other* rows of its value: a value that stands alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

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
    exact: bool = False
    """Whether each value of `by` occurs with one value of the column only."""

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
    exact = len(sizes) == len(n)
    if not rows:
        return Dependency(by, column, checks, Fraction(0), Fraction(0), exact=exact)
    chance = _share_disagreeing(c[supported], agreeing, rows)
    disagreeing = rows - _sum_agreeing(of_size, agreeing)
    misses = disagreeing / rows * checks
    return Dependency(by, column, checks, misses, chance, exact=exact)


@dataclass(frozen=True)
class QuickLook:
    """How far x tells c, in floats: to leave out what need not be measured exactly."""

    checks: float
    """E."""
    misses: float
    """F."""
    chance: float
    """D0."""

    def is_none(self, *, drawn: bool) -> bool:
        """Whether x surely does not tell c.

        By a margin that no rounding uses up; of drawn rows, sure to 99.9 % that rows
        disagree more than an eighth as often as by chance.
        """
        luck = float(DEVIATIONS) * max(self.misses, 0) ** 0.5 + ALLOWANCE
        return self.misses - (luck if drawn else 0) > self.checks * self.chance / 8

    @property
    def says_little(self) -> bool:
        """Whether it is surely neither derived nor maybe: too few rows to tell."""
        return self.checks * self.chance < LEAST_CHANCE_MISSES - 0.1


def look_quickly(x: Ints, c: Ints, n: Ints) -> QuickLook:
    """What `measure_dependency` measures, in floats."""
    at = _number(x)
    sizes = np.bincount(at, weights=n)
    own = sizes[at]
    supported = own >= 2
    rows, checks = float(sizes[sizes >= 2].sum()), float(n.sum()) - len(sizes)
    if rows < 2:
        return QuickLook(checks, 0.0, 0.0)
    here, of_size = n[supported].astype(float), own[supported]
    disagree = 1 - float((here * (here - 1) / (of_size - 1)).sum()) / rows
    totals = np.bincount(c[supported], weights=here)
    chance = 1 - float((totals * (totals - 1)).sum()) / (rows * (rows - 1))
    return QuickLook(checks, disagree * checks, chance)


def _number(x: Ints) -> Ints:
    """Codes without gaps; those in order need no sorting."""
    if len(x) and (x[1:] >= x[:-1]).all():
        return np.cumsum(np.r_[False, x[1:] != x[:-1]])
    return np.unique(x, return_inverse=True)[1]


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


# Rules ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """That some columns tell another one, as far as an attacker is taken to know."""

    by: tuple[str, ...]
    """The column, or the two, that tell."""
    column: str
    """What they tell."""
    exact: bool
    """Whether they do so in every row; otherwise they only nearly do."""
    stated: bool = False
    """Whether the policy says so."""
    counts: Dependency | None = None
    """The counts that say so; None where a manifest does."""

    def to_dict(self) -> dict[str, Any]:
        """For machines: what tells what, with E, F and r where they were counted."""
        told: dict[str, Any] = {
            "column": self.column,
            "by": list(self.by),
            "exact": self.exact,
        }
        if self.stated:
            told["stated"] = True
        if (counts := self.counts) is not None:
            ratio = counts.ratio
            told |= {
                "evidence": "part" if counts.part else counts.evidence.value,
                "checks": counts.checks,
                "misses": str(counts.misses),
                "ratio": None if ratio is None else str(ratio),
            }
        return told

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Rule:
        """Read what a manifest says of a rule."""
        return cls(tuple(told["by"]), told["column"], bool(told["exact"]))


@dataclass(frozen=True)
class Rules:
    """Which columns of a table tell others."""

    told: tuple[Rule, ...] = ()
    """What an attacker is taken to know."""
    too_few: tuple[Dependency, ...] = ()
    """What there are too few rows to tell; single columns only."""
    denied: tuple[tuple[tuple[str, ...], str, str], ...] = ()
    """What the policy denies, by and column, each with its reason."""
    pairs: bool = True
    """Whether two columns together were looked at."""

    def close(
        self, known: Iterable[str], about: str, *, exact: bool = False
    ) -> frozenset[str]:
        """Everything that known columns tell; only what they tell for sure if asked."""
        rules = [(r.by, r.column) for r in self.told if r.exact or not exact]
        return close_known(known, rules, about)

    def list_used(self, known: Collection[str], closed: Collection[str]) -> list[Rule]:
        """The rules that lead from known columns to what they tell."""
        told = set(closed) - set(known)
        return [r for r in self.told if r.column in told and set(r.by) <= set(closed)]


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
