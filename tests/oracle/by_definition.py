"""Slow answers that follow the definitions, row by row; nothing here is clever."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Row = dict[str, str | None]


def confidence(
    rows: Sequence[Row],
    knows: Sequence[str],
    column: str,
    values: set[str | None] | None,
) -> Fraction:
    """The largest share of a value among the rows that look like some row."""
    best = Fraction(0)
    for victim in rows:
        alike = [r for r in rows if all(r[c] == victim[c] for c in knows)]
        for value in {r[column] for r in alike}:
            if values is None or value in values:
                have = sum(r[column] == value for r in alike)
                best = max(best, Fraction(have, len(alike)))
    return best


def confidence_of_people(
    rows: Sequence[Row],
    knows: Sequence[str],
    column: str,
    values: set[str | None] | None,
    unit: str,
) -> Fraction:
    """The same, where distinct people are counted and not their rows."""
    best = Fraction(0)
    for victim in rows:
        alike = [r for r in rows if all(r[c] == victim[c] for c in knows)]
        people = {r[unit] for r in alike}
        for value in {r[column] for r in alike}:
            if values is None or value in values:
                have = {r[unit] for r in alike if r[column] == value}
                best = max(best, Fraction(len(have), len(people)))
    return best


def repeated(rows: Sequence[Row], times: Sequence[int]) -> list[Row]:
    """Each row as often as its weight says."""
    return [row for row, n in zip(rows, times, strict=True) for _ in range(n)]


def all_sets(columns: Sequence[str], most: int) -> Iterable[tuple[str, ...]]:
    """Every set of at most so many columns."""
    for size in range(most + 1):
        yield from combinations(columns, size)
