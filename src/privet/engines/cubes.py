"""Counts of codes as arrays with one axis per column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engines import arrays

Order = tuple[int, ...]
"""Columns counted together, by their position; the one counted in groups is last."""


def widest(order: Order, orders: Sequence[Order]) -> Order:
    """The order itself, or one of more columns that has all of its columns."""
    return max((o for o in orders if {*order} <= {*o}), key=len)


def projected(cube: NDArray[np.int64], wide: Order, order: Order) -> NDArray[np.int64]:
    """The counts of some columns, from those of more."""
    if wide == order:
        return cube
    rest = tuple(i for i, c in enumerate(wide) if c not in order)
    kept = [c for c in wide if c in order]
    fewer: NDArray[np.int64] = cube.sum(axis=rest)
    return fewer.transpose([kept.index(c) for c in order])


def nonzero(cube: NDArray[np.int64]) -> pa.Table:
    """The cells that somebody is in: their packed keys, in order, and counts."""
    n = cube.ravel()
    key = np.flatnonzero(n)
    return arrays.frame(key=arrays.integers(key), n=arrays.integers(n[key]))


def runs(keys: NDArray[np.int64]) -> pa.Table:
    """The different keys, in order, and how often each occurs."""
    key = np.sort(keys)
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]][: len(key)])
    n = np.diff(np.r_[first, len(key)])
    return arrays.frame(key=arrays.integers(key[first]), n=arrays.integers(n))
