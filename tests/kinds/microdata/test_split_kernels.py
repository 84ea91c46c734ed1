"""The loops of Mondrian: numpy, the plain loops and numba all make the same groups."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.engine.duckdb.session import parse_size
from privet.microdata.generalisation import domain_order, mondrian
from privet.microdata.generalisation.splits import kernels, prefix_cuts
from privet.microdata.generalisation.splits import split_loops as loops
from privet.microdata.generalisation.splits import split_task as tasks
from privet.values.beliefs import NEVER, Ceiling, largest_fraction_within
from privet.values.contingency import Domain
from privet.values.hierarchies import Hierarchy
from privet.values.jit import SWITCH

STEP_BY_STEP = kernels.link_loops("python", lambda loop: loop)
PATHS = {
    f"v{i}": [f"m{i // 3}", f"t{min(i // 3, 1)}"] for i in (3, 4, 5, 0, 1, 2, 6, 7)
}


@pytest.fixture(scope="module")
def compiled() -> kernels.SplitKernels:
    found = kernels.compile_kernels()
    if found is None:
        pytest.skip("numba is not installed, or switched off")
    return found


@pytest.fixture(scope="module")
def ways() -> list[kernels.SplitKernels]:
    """numpy, the loops as Python runs them and, where there is numba, compiled."""
    found = kernels.compile_kernels()
    return [kernels.NUMPY, STEP_BY_STEP, *([found] if found else [])]


def random_cells(rng: np.random.Generator, lines: int) -> tuple[Any, Any]:
    domains = [
        Domain("x", [str(i) for i in range(400)], "integer"),
        Domain("c", [None, *"abcdefg"]),
        Domain("h", [None, *PATHS]),
    ]
    made = [
        domain_order.order_by_value(domains[0]),
        domain_order.order_by_frequency(domains[1], rng.random(8)),
        domain_order.order_by_hierarchy(domains[2], Hierarchy(PATHS)),
    ]
    codes = [rng.integers(0, len(d), lines) for d in domains]
    placed = [a.position[c] for a, c in zip(made, codes, strict=True)]
    others = [rng.integers(0, 5, lines), rng.integers(0, 3, lines)]
    rows = np.column_stack([*placed, *others, rng.integers(1, 4, lines)])
    return domain_order.pack_domains(made), rows.astype(np.int16)


def random_rules(rng: np.random.Generator) -> tasks.GroupRules:
    """Two rules about one column, and in half of the cases one about its windows."""
    rules = _rules_about_values(rng)
    if rng.random() < 0.5:
        return rules
    # Codes 0 to 4 are the numbers 4 1 2 and 0, and none; windows hold two or three.
    return rules._replace(
        about=np.array([3, 3]),
        offset=np.array([0, 5, 6]),
        of=np.array([0, 1]),
        ruled=np.array([int(rng.integers(0, 3)), 0]),
        den=np.array([4, 13]),
        num=np.array([3, 10]),
        mask=np.column_stack([rules.mask, [False, True]]),
        window=np.array([-1, 0]),
        place=np.array([3, 1, 2, 0, -1]),
        stop=np.array([2, 4, 4, 4, 0]),
    )


def _rules_about_values(rng: np.random.Generator) -> tasks.GroupRules:
    return tasks.GroupRules(
        np.array([3]),
        np.array([0, 5]),
        int(rng.integers(1, 8)),
        np.zeros(2, dtype=np.int64),
        rng.integers(0, 3, 2),
        rng.integers(0, 3, 2),
        np.array([3, 9]),
        np.array([4, 10]),
        rng.random((2, 5)) < 0.7,
    )


@pytest.mark.parametrize("target", [-1, 4])
@pytest.mark.parametrize("seed", range(15))
def test_all_ways_make_the_same_tree(
    seed: int, target: int, ways: list[kernels.SplitKernels]
) -> None:
    rng = np.random.default_rng(seed)
    shape, rows = random_cells(rng, int(rng.integers(1, 120)))
    aim = tasks.make_criterion(target, 3)
    task = tasks.SplitTask(shape, aim, random_rules(rng))
    found = []
    for way in ways:
        cells, worst = rows.copy(), np.tile([0, 1], (2, 1))
        lines = way.finish(cells, 0, len(cells), task, worst)
        assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, cells.tolist()))
        found.append((lines.tolist(), [Fraction(a, b) for a, b in worst.tolist()]))
    assert [found[0]] * len(ways) == found


@pytest.mark.parametrize("seed", range(5))
def test_all_ways_see_and_count_the_same(
    seed: int, ways: list[kernels.SplitKernels]
) -> None:
    rng = np.random.default_rng(seed)
    shape, rows = random_cells(rng, 30)
    rules = random_rules(rng)
    for target in (-1, 4):
        aim = tasks.make_criterion(target, 3)
        seen = [
            [array.tolist() for array in way.survey(rows, 3, 28, shape, aim)]
            for way in ways
        ]
        assert [seen[0]] * len(ways) == seen
    tallies = [way.tally(rows, 3, 28, 0, 200, rules) for way in ways]
    counted = [(hist.tolist(), left) for hist, left in tallies]
    assert [counted[0]] * len(ways) == counted


def test_numbers_beyond_the_table_have_logarithms_too() -> None:
    logs = tasks.make_criterion(0, 2).logs
    numbers = np.array([0, 1, 8, 2**20, 2**40 + 12345])
    found = prefix_cuts.times_log(numbers, logs)
    assert [0, 0, 24, 20 * 2**20] == found[:4].tolist()
    assert found[4] == pytest.approx(40 * 2.0**40, rel=1e-6)
    plain = [loops.times_log_loop(int(n), logs) for n in numbers]
    assert plain == found.tolist()


def test_small_fractions_decide_as_the_limit_does() -> None:
    dice = random.Random(1)
    for _ in range(400):
        people = dice.randint(1, 25)
        level = Fraction(dice.randint(1, 60), dice.randint(60, 90))
        strict = dice.random() < 0.5
        limit = Ceiling(below=level) if strict else Ceiling(level)
        shares = {Fraction(a, b) for b in range(1, people + 1) for a in range(b + 1)}
        kept = [s for s in shares if (s < level if strict else s <= level)]
        assert max(kept, default=NEVER) == largest_fraction_within(limit, people)


def test_sizes_of_memory() -> None:
    assert [1000, 2**20, 3 * 10**9] == [parse_size(s) for s in ("1kB", "1 MiB", "3GB")]


# Whole releases, and who runs them --------------------------------------------------


@pytest.fixture
def fresh() -> Iterator[None]:
    """Forget which loops were chosen, before and after."""
    kernels.compile_kernels.cache_clear()
    yield
    kernels.compile_kernels.cache_clear()


def published(seed: int) -> tuple[object, ...]:
    dice = random.Random(seed)
    rows = [
        {
            "job": dice.choice("abcdef"),
            "age": dice.randint(20, 60),
            "ill": dice.choice("uvwxyz"),
        }
        for _ in range(300)
    ]
    promises = [
        pv.Measure(k_anonymity=3),
        pv.Promise(pv.Insider(1, 1, seed % 2), pv.Ceiling("0.8")),
    ]
    people = pa.Table.from_pylist(rows)
    with pv.read(people, quasi=["job", "age"], sensitive="ill") as table:
        release = pv.publish(table, promises, method=pv.Mondrian())
    assert release.grouped is not None
    return release.grouped.partition.leaves.tolist(), release.steps


def test_releases_are_the_same_with_and_without_numba(
    compiled: kernels.SplitKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [published(seed) for seed in range(6)]
    monkeypatch.setattr(kernels, "WORTH", 0)
    used = []
    monkeypatch.setattr(kernels, "compile_kernels", lambda: used.append(1) or compiled)
    assert expected == [published(seed) for seed in range(6)]
    assert used


@pytest.mark.parametrize(
    ("cells", "ahead"), [(30, 1), (30, 100), (30, 100_000), (10_000, 100_000)]
)
def test_companions_in_order_are_the_same_loop_or_tried_ahead(
    cells: int, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of a large table are finished from left to right, minima carried along.

    So they are where numpy tries splits of several groups ahead.
    """
    monkeypatch.setattr(mondrian, "AHEAD", ahead)
    monkeypatch.setattr(mondrian, "LARGE", 0)
    monkeypatch.setattr(mondrian, "IN_ORDER", cells)
    expected = [published(seed) for seed in range(1, 7, 2)]
    monkeypatch.setattr(kernels, "choose_kernels", lambda *_: STEP_BY_STEP)
    assert expected == [published(seed) for seed in range(1, 7, 2)]
    assert any(step.groups > 2 for step in expected[0][1])  # type: ignore[attr-defined]


def test_small_tables_do_without_numba() -> None:
    assert kernels.NUMPY is kernels.choose_kernels(kernels.WORTH - 1)


def test_the_switch_turns_numba_off(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert kernels.NUMPY is kernels.choose_kernels(10**9)


def test_without_numba_numpy_does_it(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert kernels.NUMPY is kernels.choose_kernels(10**9)


def test_importing_mondrian_does_not_import_numba() -> None:
    code = (
        "import sys, privet.microdata.generalisation.publish;"
        "sys.exit('numba' in sys.modules)"
    )
    assert 0 == subprocess.run([sys.executable, "-c", code], check=False).returncode


STOPPED_LOOPS = """
import random, signal, time
import numpy as np
from privet.microdata.generalisation import domain_order
from privet.microdata.generalisation.splits import kernels
from privet.microdata.generalisation.splits import split_task as tasks
from privet.values.contingency import Domain

made = kernels.compile_kernels()
domains = [Domain(c, [str(i) for i in range(30)], "integer") for c in "ab"]
shape = domain_order.pack_domains([domain_order.order_by_value(d) for d in domains])
cells = np.random.default_rng(1).integers(0, 30, (300, 3)).astype(np.int16)
aim = tasks.SplitCriterion(-1, 1, np.zeros(1))
rules = tasks.GroupRules(
    *(np.array([1]), np.array([0, 30]), 2, np.zeros(1, dtype=np.int64)),
    *(np.array([0]), np.array([0]), np.array([9]), np.array([10])),
    np.ones((1, 30), dtype=bool),
)


def work():
    made.survey(cells, 0, len(cells), shape, aim)
    made.tally(cells, 0, len(cells), 0, 15, rules)
    made.part(cells, 0, len(cells), 0, 15)
    worst = np.tile(np.array([0, 1]), (1, 1))
    made.finish(cells.copy(), 0, 40, tasks.SplitTask(shape, aim, rules), worst)


def stop(number, frame):
    raise KeyboardInterrupt


work()
signal.signal(signal.SIGALRM, stop)
dice, stopped = random.Random(1), 0
for _ in range(3000):
    try:
        end = time.monotonic() + 5  # Python may lose one while it throws objects away
        signal.setitimer(signal.ITIMER_REAL, dice.uniform(0.00001, 0.0005))
        while time.monotonic() < end:
            work()
    except KeyboardInterrupt:
        stopped += 1
print(stopped)
"""


def test_compiled_loops_survive_ctrl_c(compiled: kernels.SplitKernels) -> None:
    """Numba crashes where Python raises while it hands a result over."""
    code = [sys.executable, "-c", STOPPED_LOOPS]
    done = subprocess.run(code, check=False, capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr
    assert int(done.stdout) >= 2990
