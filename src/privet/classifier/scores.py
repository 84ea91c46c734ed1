"""Scores of a naive Bayesian classifier: a weight per class, a factor per value.

The score of a tuple and a class is the product of the class's weight and of its factors
for the tuple's values. Labels are ranked by score; of equals the one with the larger
index comes first. Classifiers that rank all labels alike on every tuple are
NBC-equivalent. Everything is a fraction; logarithms only find candidates.
Mozafari, Zaniolo 2009, sections 3, equation (2), and 6.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log, log2, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError

Floats = NDArray[np.float64]

Known = Mapping[int, int]
"""A victim, as background knowledge has it: the paper's quasi-identifier I = I0.

The value of some attributes, both by their index.
"""

GUARD = 1e-9
"""Logarithms closer than this are compared as fractions instead."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Weights and factors, exact. Attribute, value, class: ``factors[i][t][c]``."""

    weights: tuple[Fraction, ...]
    """One per class; positive."""
    factors: tuple[tuple[tuple[Fraction, ...], ...], ...]
    """One per attribute, value and class; not negative."""
    realistic: bool = field(default=False, repr=False)
    """Whether the factors of each attribute and class are known to add up to 1."""

    def __post_init__(self) -> None:
        if not self.weights or any(w <= 0 for w in self.weights):
            raise InputError("A classifier must have classes, each with rows.")

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.weights)

    @property
    def attributes(self) -> int:
        """How many attributes there are."""
        return len(self.factors)

    @cached_property
    def log_weights(self) -> Floats:
        """Binary logarithms of the weights, for finding candidates."""
        return np.array([log_of(w) for w in self.weights])

    @cached_property
    def log_factors(self) -> tuple[Floats, ...]:
        """Binary logarithms of the factors: one array per attribute, value by class."""
        return tuple(
            np.array([[log_of(x) for x in row] for row in table]).reshape(
                len(table), self.classes
            )
            for table in self.factors
        )

    @property
    def has_zeros(self) -> bool:
        """Whether some factor is 0."""
        return not all(x.numerator for t in self.factors for row in t for x in row)

    def of(self, known: Known) -> tuple[Fraction, ...]:
        """The score of each class for the values known; others count as 1."""
        rows = [self.factors[i][t] for i, t in known.items()]
        return tuple(
            w * prod((row[c] for row in rows), start=Fraction(1))
            for c, w in enumerate(self.weights)
        )

    def posterior(self, known: Known) -> tuple[Fraction, ...] | None:
        """The posterior of a Bayesian adversary: the victim is a random row that fits.

        None where nobody can fit. Exact at every size of the table.
        """
        found = self.normalised.of(known)
        total = sum(found)
        return tuple(x / total for x in found) if total else None

    def ranking(self, known: Known) -> list[int]:
        """Labels for the values known, the best first; NBC-equivalence keeps this."""
        found = self.of(known)
        return sorted(range(self.classes), key=lambda c: (found[c], c), reverse=True)

    @cached_property
    def normalised(self) -> Scores:
        """The same scores with factors that add up to 1 per attribute and class.

        Scores of whole tuples stay what they are; those of partial tuples become the
        sums over the tuples that extend them. The paper's Step 3, Figure 5.
        """
        if self.realistic:
            return self
        sums = [
            [sum(col) for col in zip(*table, strict=True)] for table in self.factors
        ]
        # sums[i][c]. Factors 2 and 1 become 2/3 and 1/3, and the weight takes the 3.
        weights = tuple(
            w * prod((s[c] for s in sums), start=Fraction(1))
            for c, w in enumerate(self.weights)
        )
        factors = tuple(
            tuple(
                tuple(x / total for x, total in zip(row, s, strict=True))
                for row in table
            )
            for table, s in zip(self.factors, sums, strict=True)
        )
        return Scores(weights, factors, realistic=True)

    def over(self, attributes: Sequence[int]) -> Scores:
        """The classifier that uses some of the attributes only."""
        view = self.normalised
        return Scores(
            view.weights, tuple(view.factors[i] for i in attributes), realistic=True
        )


def log_of(x: Fraction) -> float:
    """The binary logarithm of a fraction of any size; of 0 minus infinity.

    >>> log_of(Fraction(1, 2**5000))
    -5000.0
    """
    return log2(x.numerator) - log2(x.denominator) if x else -np.inf


def ln_of(x: Fraction) -> float:
    """The natural logarithm, the same way."""
    return log_of(x) * log(2)


def pick_best_classes(sums: Floats) -> NDArray[np.intp]:
    """The best class of each row of scores; of those nearly equal the last.

    >>> pick_best_classes(np.array([[3.0, 1.0], [2.0, 2.0]]))
    array([0, 1])
    """
    # (rows, classes): argmax from the back finds the last class that is near.
    near = sums >= sums.max(axis=1, keepdims=True) - GUARD
    found: NDArray[np.intp] = sums.shape[1] - 1 - np.argmax(near[:, ::-1], axis=1)
    return found


def scores_from_counts(
    sizes: Sequence[int], cells: Sequence[Sequence[Sequence[int]]]
) -> Scores:
    """Scores of counts as they are: class sizes, and cells by attribute and value."""
    return scores_with_smoothing(sizes, cells, Fraction(0))


def scores_with_smoothing(
    sizes: Sequence[Any],
    cells: Sequence[Sequence[Sequence[Any]]],
    smoothing: Fraction,
    prior: Sequence[Fraction] | None = None,
) -> Scores:
    """Scores with `smoothing` added to every cell, and perhaps another class prior."""
    weights = tuple(map(Fraction, sizes)) if prior is None else tuple(prior)
    some, parts = smoothing.numerator, smoothing.denominator
    factors = []
    for table in cells:
        # (n + 1/2)/(P + |A|/2) is made as (2n + 1)/(2P + |A|): one fraction per cell.
        whole = [p * parts + some * len(table) for p in sizes]
        factors.append(
            tuple(
                tuple(
                    Fraction(n * parts + some, w)
                    for n, w in zip(row, whole, strict=True)
                )
                for row in table
            )
        )
    return Scores(weights, tuple(factors), realistic=True)
