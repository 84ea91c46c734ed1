"""The loops of disclosure say what their definitions say."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from privet.microdata.suppression import kernels
from privet.microdata.suppression.kernels import (
    ConfidenceLimits,
    CubeGroups,
    CubeRows,
    ValuesToTry,
)
from privet.values.beliefs import Ceiling


def random_rows(rng: np.random.Generator, values: list[int], rules: int) -> CubeRows:
    n = int(rng.integers(1, 60))
    codes = np.column_stack([rng.integers(0, k, n) for k in values]).astype(np.int32)
    total = rng.integers(1, 12, n)
    having = [rng.integers(0, total + 1) * (rng.random(n) < 0.4) for _ in range(rules)]
    counts = np.column_stack([total, *having]).astype(np.int64)
    return CubeRows(codes, counts, rng.permutation(n))


def random_groups(rng: np.random.Generator, rows: CubeRows) -> CubeGroups:
    """Some groups of the rows, side by side or not."""
    n = len(rows.order)
    edges = np.unique(np.r_[0, rng.integers(0, n, rng.integers(0, 8)), n])
    start, stop = edges[:-1], edges[1:]
    sums = np.add.reduceat(rows.counts[rows.order], start)
    some = rng.random(len(start)) < 0.8
    some[rng.integers(len(some))] = True
    return CubeGroups(start[some], stop[some], sums[some])


def random_asked(rng: np.random.Generator, values: list[int]) -> ValuesToTry:
    wanted = rng.random(sum(values)) < rng.choice([0.3, 0.8, 1])
    offset = np.cumsum([0, *values])
    some = [a for a in range(len(values)) if wanted[offset[a] : offset[a + 1]].any()]
    return ValuesToTry(np.array(some, dtype=np.int64), offset, wanted)


def random_limits(dice: random.Random, rules: int) -> ConfidenceLimits:
    levels = [Fraction(dice.randint(1, k), k) for k in (2, 3, 4, 5, 7, 10)]
    ceilings = [
        [
            Ceiling(below=level) if dice.random() < 0.4 else Ceiling(level)
            for level in dice.sample(levels, dice.randint(1, 3))
        ]
        for _ in range(rules)
    ]
    return kernels.compile_limits(ceilings, 10_000)


def case(seed: int) -> tuple[CubeRows, CubeGroups, ValuesToTry, ConfidenceLimits]:
    rng, dice = np.random.default_rng(seed), random.Random(seed)
    values = [int(k) for k in rng.integers(1, 7, rng.integers(1, 4))]
    rules = int(rng.integers(1, 4))
    rows = random_rows(rng, values, rules)
    groups = random_groups(rng, rows)
    return rows, groups, random_asked(rng, values), random_limits(dice, rules)


Looked = tuple[list[list[float]], list[bool]]


def looked(
    rows: CubeRows,
    groups: CubeGroups,
    asked: ValuesToTry,
    limits: ConfidenceLimits,
) -> Looked:
    confidence = np.zeros((rows.counts.shape[1] - 1, len(asked.wanted)))
    broken = np.zeros(len(asked.wanted), dtype=bool)
    kernels.look_ahead(rows, groups, asked, limits, confidence, broken)
    return confidence.tolist(), broken.tolist()


def by_definition(
    rows: CubeRows, groups: CubeGroups, asked: ValuesToTry, limits: ConfidenceLimits
) -> Looked:
    """Each group parted in two for each value, in fractions."""
    rules = rows.counts.shape[1] - 1
    shares: list[list[list[Fraction]]] = [
        [[] for _ in asked.wanted] for _ in [0] * rules
    ]
    for start, stop in zip(groups.start, groups.stop, strict=True):
        own = rows.order[start:stop]
        for a in range(rows.codes.shape[1]):
            for v in set(rows.codes[own, a].tolist()):
                has = rows.codes[own, a] == v
                at = int(asked.offset[a]) + v
                if has.all() or not asked.wanted[at]:
                    continue
                for part in (rows.counts[own[has]], rows.counts[own[~has]]):
                    whole, *having = part.sum(axis=0).tolist()
                    for r in range(rules):
                        shares[r][at].append(Fraction(having[r], whole))
    confidence = [[float(max(s, default=0)) for s in of_rule] for of_rule in shares]
    broken = [
        any(
            share >= Fraction(int(n), int(d))
            if strict
            else share > Fraction(int(n), int(d))
            for r, n, d, strict in zip(
                limits.rule, limits.num, limits.den, limits.strict, strict=True
            )
            for share in shares[r][v]
        )
        for v in range(len(asked.wanted))
    ]
    return confidence, broken


def harmful(groups: CubeGroups) -> CubeGroups:
    """Groups with people of every rule: what is looked at is then defined for all."""
    return groups.take((groups.counts[:, 1:] > 0).all(axis=1))


@pytest.mark.parametrize("seed", range(300))
def test_looking_ahead_equals_its_definition(seed: int) -> None:
    rows, groups, asked, limits = case(seed)
    groups = harmful(groups)
    if len(groups.start):
        expected = by_definition(rows, groups, asked, limits)
        assert expected == looked(rows, groups, asked, limits)


def test_sorting_counts_as_a_table_does(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [looked(*case(seed)) for seed in range(200)]
    monkeypatch.setattr(kernels, "DENSE", 0)
    assert expected == [looked(*case(seed)) for seed in range(200)]


Parted = tuple[list[int], list[int], list[list[int]]]


def parted(seed: int) -> Parted:
    rows, groups, *_ = case(seed)
    dice = random.Random(seed)
    attribute = dice.randrange(rows.codes.shape[1])
    low = dice.randint(0, 5)
    moved = kernels.split(attribute, low, dice.randint(low, 5), rows, groups)
    return rows.order.tolist(), moved.rows.tolist(), moved.counts.tolist()


@pytest.mark.parametrize("seed", range(200))
def test_split_puts_rows_behind_and_sums_them(seed: int) -> None:
    rows, groups, *_ = case(seed)
    dice = random.Random(seed)
    attribute, low = dice.randrange(rows.codes.shape[1]), dice.randint(0, 5)
    high = dice.randint(low, 5)
    order, count, counts = parted(seed)
    for g, (start, stop) in enumerate(zip(groups.start, groups.stop, strict=True)):
        own = rows.order[start:stop].tolist()
        inside = [r for r in own if low <= rows.codes[r, attribute] <= high]
        if len(inside) == len(own):
            inside = []
        stay = [r for r in own if r not in inside]
        assert stay + inside == order[start:stop]
        assert len(inside) == count[g]
        assert rows.counts[inside].sum(axis=0).tolist() == counts[g]


def test_a_limit_of_many_digits_is_decided_exactly() -> None:
    """1/3 is beyond a limit of twenty-two threes, although both round to one float."""
    third = Ceiling("0.3333333333333333333333")
    limits = kernels.compile_limits([[third]], 2**52)
    assert object == limits.den.dtype
    part, whole = np.array([10**15, 10**15]), np.array([3 * 10**15, 3 * 10**15 + 1])
    actual = kernels.find_beyond(part / whole, part, whole, limits, 0)
    assert [True, False] == actual.tolist()
