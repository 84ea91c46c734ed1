"""Columns that tell others: the fast counts equal the definition, row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.values.dependencies import (
    Dependency,
    Evidence,
    close_known,
    measure_dependency,
    measure_ordered,
)

Rows = list[tuple[int, int]]


def count(rows: Rows) -> Dependency:
    cells = sorted(Counter(rows).items())
    x = np.array([a for (a, _), _ in cells], dtype=np.int64)
    c = np.array([b for (_, b), _ in cells], dtype=np.int64)
    n = np.array([k for _, k in cells], dtype=np.int64)
    return measure_dependency(("x",), "c", x, c, n)


def by_definition(rows: Rows) -> tuple[int, Fraction, Fraction]:
    """Checks, misses and chance, from every pair of rows."""
    alike = {x: [c for a, c in rows if a == x] for x, _ in rows}
    supported = [(x, c) for x, c in rows if len(alike[x]) >= 2]
    checks = len(rows) - len(alike)
    if not supported:
        return checks, Fraction(0), Fraction(0)
    misses = [
        Fraction(sum(c != d for d in alike[x]), len(alike[x]) - 1) for x, c in supported
    ]
    pairs = list(combinations([c for _, c in supported], 2))
    chance = Fraction(sum(a != b for a, b in pairs), len(pairs))
    return checks, sum(misses) / len(supported) * checks, chance


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30)


@given(rows)
@settings(max_examples=500)
def test_the_counts_equal_the_definition(rows: Rows) -> None:
    found = count(rows)
    assert by_definition(rows) == (found.checks, found.misses, found.chance)


@pytest.mark.parametrize(
    ("rows", "checks", "chance", "evidence"),
    [
        (280, 140, Fraction(140, 279), Evidence.DERIVED),
        (278, 139, 1 - Fraction(140 * 139 + 138 * 137, 278 * 277), Evidence.MAYBE),
        (8, 4, Fraction(4, 7), Evidence.TOO_FEW),
    ],
)
def test_so_many_checks_are_no_accident(
    rows: int, checks: int, chance: Fraction, evidence: Evidence
) -> None:
    found = count([(i // 2, i // 2 % 2) for i in range(rows)])
    assert (checks, 0, chance) == (found.checks, found.misses, found.chance)
    assert evidence == found.evidence


def test_values_that_stand_alone_prove_nothing() -> None:
    found = count([(i, i % 7) for i in range(1000)])
    assert (0, None, Evidence.TOO_FEW) == (found.checks, found.ratio, found.evidence)


def test_one_large_constant_group_proves_nothing() -> None:
    found = count([(0, 0)] * 500 + [(i, i) for i in range(1, 500)])
    assert (None, Evidence.TOO_FEW) == (found.ratio, found.evidence)


def test_a_nearly_constant_column_is_not_told_by_everything() -> None:
    draw = np.random.default_rng(5)
    told = [
        count([(int(a), int(b)) for a, b in zip(x, c, strict=True)]).evidence
        for x, c in (
            (draw.integers(0, 50, 2000), draw.random(2000) < 0.01) for _ in range(50)
        )
    ]
    assert {Evidence.NONE} == set(told)


def test_independent_columns_disagree_as_by_chance() -> None:
    """Small groups have no bias: on average the misses are those of chance."""
    draw = np.random.default_rng(8)
    c = np.repeat(np.arange(4), 25)
    x = np.arange(100) // 3
    ratios = []
    for _ in range(400):
        draw.shuffle(c)
        found = count([(int(a), int(b)) for a, b in zip(x, c, strict=True)])
        assert found.ratio is not None
        ratios.append(float(found.ratio))
    assert abs(np.mean(ratios) - 1) < 0.02


def test_numbers_beyond_int64_are_summed_exactly() -> None:
    n = np.array([3_000_000_000, 1], dtype=np.int64)
    zero, codes = np.zeros(2, dtype=np.int64), np.arange(2)
    found = measure_dependency(("x",), "c", zero, codes, n)
    big = 3_000_000_000
    assert Fraction(2 * big, (big + 1) * big) == found.chance == found.misses / big


def test_adjacent_rows_of_an_order_are_compared() -> None:
    hours = np.repeat(np.arange(24), 40)
    found = measure_ordered("time", "hour", hours, np.ones_like(hours))
    assert (959, 23) == (found.checks, found.misses)
    assert Evidence.DERIVED == found.evidence
    mixed = np.tile(np.arange(24), 40)
    noise = measure_ordered("time", "gate", mixed, np.ones_like(mixed))
    assert Evidence.NONE == noise.evidence


@given(
    st.sets(st.sampled_from("abcdef")),
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcdef"), min_size=1, max_size=2).map(tuple),
            st.sampled_from("abcdef"),
        ),
        max_size=8,
    ),
)
def test_a_closure_is_the_least_fixed_point(
    known: set[str], rules: list[tuple[tuple[str, ...], str]]
) -> None:
    """Among all sets that hold what is known and obey every rule, the smallest."""
    told = [(by, c) for by, c in rules if c != "f"]
    closed = [
        set(s)
        for size in range(7)
        for s in combinations("abcdef", size)
        if known <= set(s) and all(c in s for by, c in told if set(by) <= set(s))
    ]
    found = close_known(known, rules, "f")
    assert set.intersection(*closed) == found
    assert found == close_known(found, rules, "f")
