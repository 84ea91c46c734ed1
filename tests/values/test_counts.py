"""Codes packed into integers, summed, and unpacked again: by plain counting."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest

from privet.values.contingency import (
    JOINT_CELLS,
    MOST_KEYS,
    Counts,
    Domain,
    packed,
    share_tables,
    sum_by_key,
    sum_columns,
    sum_equal_rows,
    sum_tables,
    unpacked,
)
from privet.values.equivalence_classes import EquivalenceClasses, group_counts

SMALL, WIDE, HUGE = [3, 1, 4], [40_000, 70_000, 5], [2**31, 2**31, 3]
"""Sizes that fit 32 bits, 64 bits, and neither."""


def lines(sizes: list[int], rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.integers(0, min(s, 3), rows) + max(s - 3, 0) for s in sizes]


@pytest.mark.parametrize("sizes", [SMALL, WIDE, [2**20, 2**20, 2**20], [5], []])
def test_what_is_packed_unpacks(sizes: list[int]) -> None:
    codes = lines(sizes, 50, np.random.default_rng(1))
    back = unpacked(packed(codes, sizes, 50), sizes)
    assert [c.tolist() for c in codes] == [c.tolist() for c in back]


def test_nobody_unpacks_to_nobody() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert [len(c) for c in unpacked(none, [0, 3])] == [0, 0]
    assert [len(c) for c in sum_by_key(none, none)] == [0, 0]


@pytest.mark.parametrize("sizes", [SMALL, WIDE, HUGE])
@pytest.mark.parametrize("heaviest", [1, 1000, 2**50])
def test_equal_lines_are_summed_in_order(sizes: list[int], heaviest: int) -> None:
    rng = np.random.default_rng(2)
    codes = lines(sizes, 200, rng)
    n = rng.integers(1, heaviest + 1, 200)
    expected = Counter[tuple[int, ...]]()
    for line, many in zip(zip(*codes, strict=True), n.tolist(), strict=True):
        expected[tuple(map(int, line))] += many
    found, people = sum_equal_rows(codes, sizes, n)
    keys = [tuple(map(int, line)) for line in zip(*found, strict=True)]
    assert keys == sorted(expected)
    assert people.tolist() == [expected[k] for k in keys]


@pytest.mark.parametrize("sizes", [SMALL, WIDE, HUGE])
def test_groups_from_counts_at_hand(sizes: list[int]) -> None:
    rng = np.random.default_rng(3)
    codes = lines(sizes, 120, rng)
    n = rng.integers(1, 9, 120)
    assert (prod(sizes) >= MOST_KEYS) == (sizes is HUGE)
    domains = tuple(_Numbers(f"c{j}", s) for j, s in enumerate(sizes))
    counts = Counts(domains, tuple(codes), n)  # type: ignore[arg-type]
    fast = group_counts(counts, ["c2", "c0"], "c1")
    slow = EquivalenceClasses.from_counts(
        counts.over(["c2", "c0", "c1"]), ["c2", "c0"], "c1"
    )
    assert [fast.keys[g] for g in range(len(fast))] == [
        slow.keys[g] for g in range(len(slow))
    ]
    for name in ("total", "start", "value", "n"):
        assert getattr(fast, name).tolist() == getattr(slow, name).tolist()


class _Numbers(Domain):
    """A domain that is larger than anybody would write down."""

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name, range(size))  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [0, 1, 70_000])
def test_tables_of_columns_are_sums_over_rows(rows: int) -> None:
    rng = np.random.default_rng(4)
    sizes = [74, 7, 300, 2, 41]
    codes = [rng.integers(0, s, rows).astype(np.int16) for s in sizes]
    n = rng.integers(0, 4, rows)
    sets = [[0, 1], [2], [4, 3, 1]]
    for own, found in zip(sets, sum_tables(codes, sizes, n, sets), strict=True):
        expected = np.zeros([sizes[c] for c in own])
        np.add.at(expected, tuple(codes[c] for c in own), n)
        assert np.array_equal(expected, found)
    for c, found in enumerate(sum_columns(codes, sizes, n)):
        assert np.array_equal(np.bincount(codes[c], n, sizes[c]), found)


def test_columns_share_tables_as_far_as_they_fit() -> None:
    sizes = [74, 7, 300_000, 16, 2, 41, 6]
    shared = share_tables(sizes)
    assert list(range(7)) == sorted(c for own in shared for c in own)
    assert [2] == shared[0]  # too large for any company
    assert all(prod(sizes[c] for c in own) <= JOINT_CELLS for own in shared[1:])
    assert len(shared) == 3
