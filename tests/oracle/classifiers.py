"""Naive Bayes views by the definitions: list the tables, the tuples, the rankings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import prod

Column = tuple[int, ...]
Sizes = tuple[int, ...]
Cells = list[list[list[int]]]
"""Counts by attribute, value and class."""
Known = dict[int, int]
"""Values by attribute."""


def arrangements(counts: Sequence[int]) -> set[Column]:
    """Every column of values that has these counts."""
    values = [t for t, n in enumerate(counts) for _ in range(n)]
    return set(permutations(values))


def tables(sizes: Sizes, cells: Cells) -> Iterator[list[list[Column]]]:
    """Every table behind the views: its columns, class by class."""
    inside = [
        [arrangements([row[c] for row in attribute]) for attribute in cells]
        for c in range(len(sizes))
    ]
    by_class = [list(product(*columns)) for columns in inside]
    for chosen in product(*by_class):
        yield [list(columns) for columns in chosen]


def matches(table: list[list[Column]], c: int, rows: int, known: Known) -> int:
    """Rows of one class that look like the victim."""
    return sum(
        all(table[c][i][row] == t for i, t in known.items()) for row in range(rows)
    )


def posterior(
    sizes: Sizes, cells: Cells, known: Known, averaging: str
) -> list[Fraction] | None:
    """What an adversary believes of each class; None where nobody fits."""
    total, weight = [Fraction(0)] * len(sizes), Fraction(0)
    for table in tables(sizes, cells):
        found = [matches(table, c, n, known) for c, n in enumerate(sizes)]
        fits = sum(found)
        if not fits:
            continue
        per = Fraction(1, fits) if averaging == "worlds" else Fraction(1)
        total = [t + m * per for t, m in zip(total, found, strict=True)]
        weight += fits * per
    return [t / weight for t in total] if weight else None


def every_victim(cells: Cells, most: int | None = None) -> Iterator[Known]:
    """Everything that may be known of somebody, at least one attribute."""
    ways = [[None, *range(len(attribute))] for attribute in cells]
    for chosen in product(*ways):
        known = {i: t for i, t in enumerate(chosen) if t is not None}
        if known and (most is None or len(known) <= most):
            yield known


def scores_of(sizes: Sizes, cells: Cells, row: Sequence[int]) -> list[Fraction]:
    """The paper's scores of a whole tuple, equation (2)."""
    return [
        Fraction(prod(cells[i][t][c] for i, t in enumerate(row)), p ** (len(cells) - 1))
        for c, p in enumerate(sizes)
    ]


def ranking(found: Sequence[Fraction | int]) -> list[int]:
    """Labels by score, the best first; of equals the one with the larger index."""
    return sorted(range(len(found)), key=lambda c: (found[c], c), reverse=True)


def difference(
    before: Sequence[Fraction], after: Sequence[Fraction | int], mode: str
) -> bool:
    """Whether two scores of one tuple differ in what the mode keeps."""
    old, new = ranking(before), ranking(after)
    alive = {c for c, x in enumerate(before) if x > 0}
    positive = [c for c in old if c in alive] != new[: len(alive)]
    top = old[0] != new[0]
    return {
        "full": old != new,
        "positive": positive,
        "top": top,
        "positive+top": positive or top,
        "postop": bool(alive) and top,
    }[mode]


def random_views(
    dice: random.Random,
    *,
    classes: int = 4,
    attributes: int = 3,
    values: int = 3,
    rows: int = 8,
) -> tuple[Sizes, Cells]:
    """Counts of a small random table; zeros are common."""
    k, n = dice.randint(2, classes), dice.randint(1, attributes)
    sizes = tuple(dice.randint(1, rows) for _ in range(k))
    cells = []
    for _ in range(n):
        domain = dice.randint(1, values)
        table = [[0] * k for _ in range(domain)]
        for c, p in enumerate(sizes):
            for _ in range(p):
                table[dice.randrange(domain)][c] += 1
        cells.append(table)
    return sizes, cells


def tuples(cells: Cells) -> Iterator[tuple[int, ...]]:
    """Every tuple of the product domain."""
    return product(*(range(len(attribute)) for attribute in cells))
