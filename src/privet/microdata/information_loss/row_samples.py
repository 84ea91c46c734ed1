"""Samples of rows that a classifier is trained and tested on, always the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from privet.values.arrays import Flags, Ints

SAMPLE = 10_000
"""About so many rows a classifier is trained and tested on."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows as they are and as they are released, by column."""

    places: Mapping[str, Ints]
    """The place of each value."""
    labels: Mapping[str, Ints]
    """The released text."""
    n: Ints
    """How many rows each line stands for."""
    released: Flags
    """Whether it is released."""
    drawn: bool = False
    """Whether these are only some of the rows."""


def draw_rows(codes: Sequence[Ints], n: Ints) -> Ints:
    """How many rows of each combination are drawn: the same whatever their order.

    A row is drawn by a hash of what it holds. Of 3 alike at a chance of 1/2 one or two
    are drawn: 1.5 and the hash, which is from 0 to 1, rounded down.
    """
    total = int(n.sum())
    if total <= SAMPLE:
        return n
    mixed = np.zeros(len(n), dtype=np.uint64)
    for code in codes:
        mixed = (mixed ^ code.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    chance = mixed / 2.0**64
    return np.floor(n * (SAMPLE / total) + chance).astype(np.int64)
