"""Differentially private naive Bayes: discrete Laplace noise on the counts.

Adding or removing one row changes one count of each attribute by one, so discrete
Laplace noise of scale n/epsilon on every cell has a privacy loss of epsilon. Class
sizes are then read off the noisy cells. Everything later is post-processing.
Canonne, Kamath, Steinke 2020, algorithm 2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random, SystemRandom

from privet.classifier.release import ClassifierViews
from privet.engine.randomise.discrete_noise import draw_laplace


def add_noise(
    views: ClassifierViews, epsilon: Fraction, *, seed: int | None = None
) -> ClassifierViews:
    """The counts, differentially private: whole, and at least 0, in every cell.

    The values and classes themselves are taken for public.
    """
    dice: Random = SystemRandom() if seed is None else Random(seed)
    scale = len(views.attributes) / epsilon
    cells = [
        [
            [max(0, int(n) + draw_laplace(scale, dice.randrange)) for n in row]
            for row in t
        ]
        for t in views.cells
    ]
    # (attributes, classes): noise makes the sums differ; their mean is the size.
    sums = [[sum(col) for col in zip(*table, strict=True)] for table in cells]
    sizes = [
        max(1, round(sum(s[c] for s in sums) / len(sums)))
        for c in range(len(views.labels))
    ]
    fitted = tuple(
        _fit_to_sizes(table, s, sizes) for table, s in zip(cells, sums, strict=True)
    )
    return replace(views, sizes=tuple(sizes), cells=fitted, prior=None)


def _fit_to_sizes(
    table: list[list[int]], sums: list[int], sizes: list[int]
) -> tuple[tuple[int, ...], ...]:
    """Cells that add up to the class sizes again, by largest remainders."""
    columns = []
    for c, size in enumerate(sizes):
        column = [row[c] for row in table]
        if not sums[c]:
            column = [1] * len(column)
        columns.append(apportion([Fraction(n) for n in column], size))
    return tuple(zip(*columns, strict=True))


def apportion(shares: list[Fraction], total: int) -> list[int]:
    """Whole numbers in the proportion of the shares that add up to the total.

    >>> apportion([Fraction(1), Fraction(1), Fraction(2)], 7)
    [2, 2, 3]
    """
    whole = sum(shares)
    exact = [s * total / whole for s in shares]
    down = [int(x) for x in exact]
    # The largest remainders first; 1.75, 1.75 and 3.5 give the first two one more.
    rest = sorted(range(len(shares)), key=lambda i: (down[i] - exact[i], i))
    for i in rest[: total - sum(down)]:
        down[i] += 1
    return down
