"""The loops of disclosure: numpy, the plain loops and numba all say the same."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.suppression import disclosure_loops, kernels
from privet.microdata.suppression.kernels import (
    ConfidenceLimits,
    CubeGroups,
    CubeRows,
    DisclosureKernels,
    SplitOff,
    ValuesToTry,
)
from privet.values.beliefs import Ceiling
from privet.values.jit import SWITCH


def _split(
    attribute: int, low: int, high: int, rows: CubeRows, groups: CubeGroups
) -> SplitOff:
    moved = SplitOff(np.zeros_like(groups.start), np.zeros_like(groups.counts))
    disclosure_loops.split(
        attribute, low, high, *rows, groups.start, groups.stop, *moved
    )
    return moved


STEP_BY_STEP = DisclosureKernels(
    "python",
    lambda rows, groups, asked, limits, confidence, broken: disclosure_loops.look_ahead(
        *rows, *groups, *asked, *limits, confidence, broken
    ),
    _split,
)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forget which loops were chosen, before and after."""
    kernels.compile_kernels.cache_clear()
    yield
    kernels.compile_kernels.cache_clear()


@pytest.fixture
def numba(fresh: None) -> DisclosureKernels:
    pytest.importorskip("numba", reason="the extra 'fast' is not installed")
    found = kernels.compile_kernels()
    assert found is not None
    return found


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
    how: DisclosureKernels,
    rows: CubeRows,
    groups: CubeGroups,
    asked: ValuesToTry,
    limits: ConfidenceLimits,
) -> Looked:
    confidence = np.zeros((rows.counts.shape[1] - 1, len(asked.wanted)))
    broken = np.zeros(len(asked.wanted), dtype=bool)
    how.look(rows, groups, asked, limits, confidence, broken)
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
        assert expected == looked(kernels.PLAIN, rows, groups, asked, limits)


@pytest.mark.parametrize("seed", range(200))
def test_loops_look_as_numpy_does(seed: int) -> None:
    given = case(seed)
    assert looked(kernels.PLAIN, *given) == looked(STEP_BY_STEP, *given)


def test_compiled_loops_look_as_numpy_does(numba: DisclosureKernels) -> None:
    for seed in range(3000):
        given = case(seed)
        assert looked(kernels.PLAIN, *given) == looked(numba, *given), seed


def test_sorting_counts_as_a_table_does(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [looked(kernels.PLAIN, *case(seed)) for seed in range(200)]
    monkeypatch.setattr(kernels, "DENSE", 0)
    assert expected == [looked(kernels.PLAIN, *case(seed)) for seed in range(200)]


Parted = tuple[list[int], list[int], list[list[int]]]


def parted(how: DisclosureKernels, seed: int) -> Parted:
    rows, groups, *_ = case(seed)
    dice = random.Random(seed)
    attribute = dice.randrange(rows.codes.shape[1])
    low = dice.randint(0, 5)
    moved = how.split(attribute, low, dice.randint(low, 5), rows, groups)
    return rows.order.tolist(), moved.rows.tolist(), moved.counts.tolist()


@pytest.mark.parametrize("seed", range(200))
def test_split_puts_rows_behind_and_sums_them(seed: int) -> None:
    rows, groups, *_ = case(seed)
    dice = random.Random(seed)
    attribute, low = dice.randrange(rows.codes.shape[1]), dice.randint(0, 5)
    high = dice.randint(low, 5)
    order, count, counts = parted(kernels.PLAIN, seed)
    for g, (start, stop) in enumerate(zip(groups.start, groups.stop, strict=True)):
        own = rows.order[start:stop].tolist()
        inside = [r for r in own if low <= rows.codes[r, attribute] <= high]
        if len(inside) == len(own):
            inside = []
        stay = [r for r in own if r not in inside]
        assert stay + inside == order[start:stop]
        assert len(inside) == count[g]
        assert rows.counts[inside].sum(axis=0).tolist() == counts[g]


@pytest.mark.parametrize("seed", range(200))
def test_loops_split_as_numpy_does(seed: int) -> None:
    assert parted(kernels.PLAIN, seed) == parted(STEP_BY_STEP, seed)


def test_compiled_loops_split_as_numpy_does(numba: DisclosureKernels) -> None:
    for seed in range(3000):
        assert parted(kernels.PLAIN, seed) == parted(numba, seed), seed


def test_a_limit_of_many_digits_is_decided_exactly() -> None:
    """1/3 is beyond a limit of twenty-two threes, although both round to one float."""
    third = Ceiling("0.3333333333333333333333")
    limits = kernels.compile_limits([[third]], 2**52)
    assert object == limits.den.dtype
    part, whole = np.array([10**15, 10**15]), np.array([3 * 10**15, 3 * 10**15 + 1])
    actual = kernels.find_beyond(part / whole, part, whole, limits, 0)
    assert [True, False] == actual.tolist()
    assert kernels.PLAIN is kernels.choose_kernels(10**9, limits)


# Whole releases ---------------------------------------------------------------------


def people(seed: int) -> pa.Table:
    dice = random.Random(seed)
    rows = [
        {
            "job": dice.choice("abcdef"),
            "city": dice.choice("uvwxyz"),
            "age": dice.randint(20, 40),
            "ill": dice.choice(["flu", "hiv", "none", "none", "none"]),
            "class": dice.choice("yn"),
        }
        for _ in range(400)
    ]
    return pa.Table.from_pylist(rows)


def published(seed: int) -> tuple[object, ...]:
    known = ["job", "city", "age"]
    promises = [
        pv.Promise(pv.Linker(known), pv.Ceiling("0.6"), about={"ill": "hiv"}),
        pv.Promise(pv.Linker(["job", "city"]), pv.Ceiling("0.4"), about={"ill": "flu"}),
    ]
    with pv.read(people(seed), quasi=known, sensitive="ill", target="class") as table:
        release = pv.publish(table, promises)
    return release.recipe, release.steps


def test_releases_are_the_same_with_and_without_numba(
    numba: DisclosureKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [published(seed) for seed in range(5)]
    monkeypatch.setattr(kernels, "WORTH", 0)
    used = []
    monkeypatch.setattr(kernels, "compile_kernels", lambda: used.append(1) or numba)
    assert expected == [published(seed) for seed in range(5)]
    assert used


# Choosing ---------------------------------------------------------------------------


def test_small_cubes_do_without_numba() -> None:
    limits = kernels.compile_limits([[Ceiling("0.9")]], 100)
    assert kernels.PLAIN is kernels.choose_kernels(kernels.WORTH - 1, limits)


def test_the_switch_turns_numba_off(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, "0")
    limits = kernels.compile_limits([[Ceiling("0.9")]], 100)
    assert kernels.PLAIN is kernels.choose_kernels(10**9, limits)


def test_without_numba_numpy_does_it(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    limits = kernels.compile_limits([[Ceiling("0.9")]], 100)
    assert kernels.PLAIN is kernels.choose_kernels(10**9, limits)


def test_importing_privet_does_not_import_numba() -> None:
    code = (
        "import sys, privet, privet.microdata.suppression.count_cube;"
        "privet.publish; sys.exit('numba' in sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode
