"""Weighted cells: rows that look alike, counted by the engine, for learners to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import TooLarge
from privet.table import Table
from privet.values.contingency import Domain

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

ORDERED = ("integer", "number", "date", "datetime")
"""Kinds of columns whose codes are in the order of their values."""

MOST_NUMBERS = 200_000_000
"""Numbers a matrix may hold: 800 MB."""

MOST_DEALT = 10**9
"""From here on rows are put into folds one by one: numpy deals no larger packs."""


@dataclass(frozen=True, eq=False)
class ClassCells:
    """Combinations of values that occur together with a class, and how often."""

    domains: tuple[Domain, ...]
    """One per column."""
    codes: tuple[Ints, ...]
    """The code of each cell, one array per column."""
    target: Domain
    """What is to be explained."""
    classes: Ints
    """The code of the target in each cell."""
    n: Ints
    """Rows (or summed weights) of each cell; positive."""

    def __len__(self) -> int:
        return len(self.n)

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.n.sum())

    def codes_of(self, column: str) -> Ints:
        """The codes of one column."""
        return self.codes[[d.name for d in self.domains].index(column)]

    def over(self, columns: Sequence[str]) -> ClassCells:
        """Only some columns; cells that look alike now stay apart."""
        at = [[d.name for d in self.domains].index(c) for c in columns]
        return replace(
            self,
            domains=tuple(self.domains[j] for j in at),
            codes=tuple(self.codes[j] for j in at),
        )

    def relabelled(self, relabels: Mapping[str, Relabel]) -> ClassCells:
        """The same cells as a release shows them."""
        pairs = [
            _shown(d, c, relabels[d.name].texts) if d.name in relabels else (d, c)
            for d, c in zip(self.domains, self.codes, strict=True)
        ]
        return replace(
            self,
            domains=tuple(d for d, _ in pairs),
            codes=tuple(c for _, c in pairs),
        )

    def matrix(self) -> Floats:
        """One row per cell: ordered columns by rank, others one column per value."""
        width = sum(1 if d.kind in ORDERED else len(d) for d in self.domains)
        if len(self) * width > MOST_NUMBERS:
            raise TooLarge(
                f"A classifier of {len(self)} different rows and {width} values would "
                f"need {len(self) * width} numbers; at most {MOST_NUMBERS} are held. "
                "Bin or leave out the columns with the most values."
            )
        numbers = np.zeros((len(self), width), dtype=np.float32)
        at = 0
        for domain, codes in zip(self.domains, self.codes, strict=True):
            if domain.kind in ORDERED:
                numbers[:, at] = codes
                at += 1
            else:
                numbers[np.arange(len(self)), at + codes] = 1
                at += len(domain)
        return numbers


def _shown(
    domain: Domain, codes: Ints, texts: Sequence[str | None]
) -> tuple[Domain, Ints]:
    """A column with other texts; it stays ordered if the texts are."""
    labels = list(dict.fromkeys(texts))
    code = {text: i for i, text in enumerate(labels)}
    new = np.array([code[text] for text in texts], dtype=np.int64)
    ordered = domain.kind in ORDERED and bool((np.diff(new) >= 0).all())
    kind = domain.kind if ordered else "text"
    return Domain(domain.name, labels, kind), new[codes]


def cells_of(
    table: Table, columns: Sequence[str], target: str, run: Run | None = None
) -> ClassCells:
    """Count a table's rows by some columns and the target; no row is fetched."""
    tally = CountQuery(tuple(columns), target)
    grouped = reduce(add, (part for _, part in table.count([tally], run or Run())))
    there = np.flatnonzero(grouped.n)  # rows of weight 0 are nobody
    group = grouped.group[there]
    found = ClassCells(
        grouped.by,
        tuple(
            np.asarray(c, dtype=np.int64)[group]
            for c in (grouped.keys.columns() if grouped.by else ())
        ),
        grouped.about,
        np.asarray(grouped.value, dtype=np.int64)[there],
        grouped.n[there],
    )
    return found.over(columns)


def split(cells: ClassCells, folds: int, seed: int = 0) -> Ints:
    """Each row put into one of several folds by chance: rows of each cell per fold.

    Every fold gets its share of each class, give or take a row: in a small table the
    commonest class would else change with the fold that is left out.
    """
    rng = np.random.default_rng(seed)
    parts = np.zeros((folds, len(cells)), dtype=np.int64)
    for label in np.unique(cells.classes):
        here = np.flatnonzero(cells.classes == label)
        parts[:, here] = _dealt(cells.n[here], folds, rng)
    return parts


def _dealt(n: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """Rows of some cells dealt into folds of the same size, as from a shuffled pack."""
    if n.sum() >= MOST_DEALT:
        return np.asarray(rng.multinomial(n, np.full(folds, 1 / folds)).T)
    parts, left = [], n.copy()
    for fold in range(folds):
        size = int(left.sum()) // (folds - fold)
        part = rng.multivariate_hypergeometric(left, size, method="marginals")
        parts.append(part)
        left = left - part
    return np.array(parts)
