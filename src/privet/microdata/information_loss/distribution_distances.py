"""How far a distribution moved, and what two columns still tell of each other.

A table of two columns holds shares that add up to 1: a line per value of the first, a
column per value of the second.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from privet.values.arrays import Floats


def total_variation(before: Floats, after: Floats) -> float:
    """Half the sum of the differences: the share of rows that would have to change.

    >>> total_variation(np.array([0.5, 0.5]), np.array([0.75, 0.25]))
    0.25
    """
    return float(np.abs(before - after).sum() / 2)


def ordered_distance(before: Floats, after: Floats) -> float:
    """The earth mover's distance: how far rows move, of the way from first to last.

    >>> ordered_distance(np.array([1, 0, 0]), np.array([0, 1, 0]))
    0.5
    """
    steps = max(len(before) - 1, 1)
    return float(np.abs(np.cumsum(before - after)[:-1]).sum() / steps)


def measure_entropy(share: Floats) -> float:
    """The entropy of shares in bits.

    >>> measure_entropy(np.array([0.5, 0.5])), measure_entropy(np.array([1.0]))
    (1.0, 0.0)
    """
    there = share[share > 0]
    return max(0.0, float(-(there * np.log2(there)).sum()))


def mutual_information(joint: Floats) -> float:
    """What two columns tell of each other, in bits.

    >>> mutual_information(np.array([[0.5, 0], [0, 0.5]]))
    1.0
    """
    sides = measure_entropy(joint.sum(axis=0)) + measure_entropy(joint.sum(axis=1))
    return max(0.0, sides - measure_entropy(joint.ravel()))


def cramers_v(joint: Floats) -> float | None:
    """Cramér's V: 0 if neither column tells anything of the other, 1 if all.

    None where a column has one value only, of which nothing can be told.

    >>> cramers_v(np.array([[0.5, 0], [0, 0.5]]))
    1.0
    """
    fewest = min(joint.shape) - 1
    if fewest < 1:
        return None
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    joint = joint[rows > 0][:, columns > 0]
    alone = np.outer(rows[rows > 0], columns[columns > 0])
    excess = float((joint**2 / alone).sum()) - 1
    return min(sqrt(max(excess, 0.0) / fewest), 1.0)


def correlate(x: Floats, y: Floats, weight: Floats) -> float | None:
    """Pearson's correlation of numbers with weights; None where one never varies."""
    there = np.isfinite(x) & np.isfinite(y) & (weight > 0)
    x, y, weight = x[there], y[there], weight[there]
    if not len(x) or (x == x[0]).all() or (y == y[0]).all():
        return None
    weight = weight / weight.sum()
    # Numbers near 1e200 would overflow when squared.
    x, y = (_scale(v - (v * weight).sum()) for v in (x, y))
    both = float((weight * x * y).sum())
    spread = sqrt(float((weight * x * x).sum()) * float((weight * y * y).sum()))
    return None if spread == 0 else max(-1.0, min(both / spread, 1.0))


def _scale(numbers: Floats) -> Floats:
    most = float(np.abs(numbers).max())
    return numbers / most if most else numbers
