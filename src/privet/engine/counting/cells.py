"""Counts of codes: as arrays with one axis per column, or as keys and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow

Order = tuple[int, ...]
"""Columns counted together, by their position; the one counted in groups is last."""


def find_widest(order: Order, orders: Sequence[Order]) -> Order:
    """The order itself, or one of more columns that has all of its columns."""
    return max((o for o in orders if {*order} <= {*o}), key=len)


def project_counts(
    cube: NDArray[np.int64], wide: Order, order: Order
) -> NDArray[np.int64]:
    """The counts of some columns, from those of more."""
    if wide == order:
        return cube
    rest = tuple(i for i, c in enumerate(wide) if c not in order)
    kept = [c for c in wide if c in order]
    fewer: NDArray[np.int64] = cube.sum(axis=rest)
    return fewer.transpose([kept.index(c) for c in order])


def find_nonzero(cube: NDArray[np.int64]) -> pa.Table:
    """The cells that somebody is in: their packed keys, in order, and counts."""
    n = cube.ravel()
    key = np.flatnonzero(n)
    return arrow.frame(key=arrow.integers(key), n=arrow.integers(n[key]))


def count_keys(keys: NDArray[np.int64]) -> pa.Table:
    """The different keys, in order, and how often each occurs."""
    return _count_sorted(np.sort(keys))


def _count_sorted(keys: NDArray[np.int64]) -> pa.Table:
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    n = np.diff(np.r_[first, len(keys)])
    return arrow.frame(key=arrow.integers(keys[first]), n=arrow.integers(n))


def count_in_blocks(
    keys: NDArray[np.int64], size: int, most: int
) -> Iterator[pa.Table]:
    """The same, so many keys at a time, but those of a group together.

    A group has so many keys, one after the other; a larger one comes by itself.
    """
    ordered, start = np.sort(keys), 0
    while start < len(ordered):
        stop = min(start + most, len(ordered))
        if stop < len(ordered):
            group = ordered[stop] // size
            edges = np.searchsorted(ordered, [group * size, (group + 1) * size])
            stop = int(edges[0] if edges[0] > start else edges[1])
        yield _count_sorted(ordered[start:stop])
        start = stop


def merge_parts(parts: Sequence[pa.Table]) -> pa.Table:
    """Parts of one count put together: what two parts have in common is added."""
    if len(parts) == 1:
        return parts[0]
    whole = pa.concat_tables(parts)
    key, at = np.unique(numbers(whole, "key"), return_inverse=True)
    columns = {"key": key}
    for name in whole.column_names[1:]:
        columns[name] = np.zeros(len(key), dtype=np.int64)
        np.add.at(columns[name], at, numbers(whole, name))
    return arrow.frame(**{c: arrow.integers(v) for c, v in columns.items()})


def sort_by_key(counted: pa.Table) -> pa.Table:
    """The same by increasing keys."""
    order = np.argsort(numbers(counted, "key"), kind="stable")
    columns = {c: numbers(counted, c)[order] for c in counted.column_names}
    return arrow.frame(**{c: arrow.integers(v) for c, v in columns.items()})


def numbers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of a count."""
    return arrow.numbers(table[column]).astype(np.int64, copy=False)
