"""Full-domain search against every node and every set of suppressed groups."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest

from privet.microdata.full_domain import full_domain_search, node_counts
from privet.microdata.full_domain.full_domain_search import FullDomainSearch
from privet.microdata.full_domain.lattice import Lattice, LevelledColumn, Node, NodeBox
from privet.microdata.full_domain.node_counts import CountCube
from privet.microdata.full_domain.subtrees import SubtreeSearch
from privet.microdata.full_domain.suppression_pool import (
    PoolSearch,
    Suppression,
    star,
)
from privet.microdata.level_choice import LEFT_OUT, SEMANTICS, STARRED
from privet.values.arrays import Flags, Ints

CASES = int(os.environ.get("PRIVET_CASES", "60"))

Row = tuple[tuple[int, ...], int]
"""Positions in the known columns, and the protected value."""


@dataclass(frozen=True)
class Asked:
    """k-anonymity, distinct l-diversity, a ceiling on beliefs, t-closeness.

    And delta-disclosure of the values that a group has, which merging may worsen.
    """

    k: int = 1
    l: int = 1
    alpha: Fraction = Fraction(1)
    t: Fraction = Fraction(1)
    values: int = 2
    delta: Fraction | None = None

    @property
    def monotone(self) -> bool:
        """Whether merging groups never worsens it."""
        return self.delta is None

    def passes(self, group: list[int], everybody: Counter[int]) -> bool:
        """Whether a group of protected values does, by definition."""
        n, own = len(group), Counter(group)
        if n < self.k or len(own) < self.l:
            return False
        if Fraction(max(own.values()), n) > self.alpha:
            return False
        whole = sum(everybody.values())
        if self.delta is not None:
            ratios = [
                Fraction(c, n) / Fraction(everybody[v], whole)
                for v, c in own.items()
                if c
            ]
            if any(not 1 / self.delta < r < self.delta for r in ratios):
                return False
        far = sum(
            abs(Fraction(own[v], n) - Fraction(everybody[v], whole))
            for v in range(self.values)
        )
        return far / 2 <= self.t


class Judge:
    """The same, on histograms."""

    def __init__(self, asked: Asked, everybody: Ints) -> None:
        self.asked, self.monotone = asked, asked.monotone
        self.everybody = Counter(dict(enumerate(everybody.tolist())))

    def find_failing(self, hist: Ints, totals: Ints) -> Flags:
        groups = [list(Counter(dict(enumerate(h))).elements()) for h in hist.tolist()]
        passing = [self.asked.passes(g, self.everybody) for g in groups]
        return ~np.array(passing, dtype=bool)

    def find_small(self, hist: Ints, totals: Ints) -> Flags:
        few = (hist > 0).sum(axis=1) < self.asked.l
        return np.asarray((totals < self.asked.k) | few)

    def is_safe(self, hist: Ints, totals: Ints) -> bool:
        return True


def random_column(dice: random.Random, name: str) -> LevelledColumn:
    """A hierarchy of two to four levels over at most four values."""
    values = dice.randint(1, 4)
    lines = [list(range(values))]
    for _ in range(dice.randint(0, 2)):
        # Neighbouring nodes merge; nodes are numbered as they stand.
        above, number = [], -1
        for i, node in enumerate(lines[-1]):
            fresh = i == 0 or (node != lines[-1][i - 1] and dice.random() < 0.5)
            number += fresh
            above.append(number)
        lines.append(above)
    if values > 1:
        lines.append([0] * values)
    return LevelledColumn(name, np.array(lines, dtype=np.int32), dice.choice([1, 2]))


def random_case(
    dice: random.Random, most: int = 9
) -> tuple[list[LevelledColumn], list[Row], Asked]:
    columns = [random_column(dice, str(c)) for c in range(dice.randint(1, 3))]
    values = dice.randint(2, 3)
    rows = [
        (
            tuple(dice.randrange(c.nodes.shape[1]) for c in columns),
            dice.randrange(values),
        )
        for _ in range(dice.randint(2, most))
    ]
    asked = Asked(
        dice.choice([1, 2, 2, 3]),
        dice.choice([1, 1, 2]),
        dice.choice([Fraction(1), Fraction(1, 2), Fraction(2, 3)]),
        dice.choice([Fraction(1), Fraction(1, 3), Fraction(1, 2)]),
        values,
    )
    return columns, rows, asked


def count(columns: list[LevelledColumn], rows: list[Row], values: int) -> CountCube:
    cells = sorted({known for known, _ in rows})
    hist = np.zeros((len(cells), values), dtype=np.int64)
    for known, value in rows:
        hist[cells.index(known), value] += 1
    at = np.array(cells, dtype=np.int64).reshape(len(cells), len(columns))
    return CountCube(at, hist, hist.sum(axis=1))


def cost_of(
    columns: list[LevelledColumn], rows: list[Row], node: Node, price: Fraction
) -> dict[tuple[int, ...], Fraction]:
    """What a row of each group costs."""
    whole = sum(Fraction(c.weight) for c in columns)
    found = {}
    for known, _ in rows:
        label = tuple(
            int(c.nodes[l, p]) for c, l, p in zip(columns, node, known, strict=True)
        )
        width = Fraction(0)
        for c, l, own in zip(columns, node, label, strict=True):
            size = c.nodes.shape[1]
            leaves = int((c.nodes[l] == own).sum())
            if size > 1:
                width += Fraction(c.weight) / whole * Fraction(leaves - 1, size - 1)
        found[label] = width
    return found


def subsets(labels: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], ...]]:
    return chain.from_iterable(combinations(labels, n) for n in range(len(labels) + 1))


def list_releases(
    columns: list[LevelledColumn],
    rows: list[Row],
    asked: Asked,
    budget: int,
    price: Fraction,
    semantics: str,
) -> Iterator[tuple[Node, Fraction]]:
    """Every safe release: its node and its cost."""
    for node in product(*(range(c.levels) for c in columns)):
        groups: dict[tuple[int, ...], list[int]] = {}
        for known, value in rows:
            label = tuple(
                int(c.nodes[l, p]) for c, l, p in zip(columns, node, known, strict=True)
            )
            groups.setdefault(label, []).append(value)
        width = cost_of(columns, rows, node, price)
        for out in subsets(sorted(groups)):
            starred = [v for label in out for v in groups[label]]
            if len(starred) > budget:
                continue
            shown = [g for label, g in groups.items() if label not in out]
            if semantics == STARRED:
                judged = shown + ([starred] if starred else [])
                everybody = Counter(v for _, v in rows)
            else:
                judged = shown
                everybody = Counter(v for g in shown for v in g)
                if not shown:
                    continue
            if all(asked.passes(g, everybody) for g in judged):
                kept = sum(
                    len(g) * width[label]
                    for label, g in groups.items()
                    if label not in out
                )
                yield node, (kept + price * len(starred)) / len(rows)


def search(
    columns: list[LevelledColumn], base: CountCube, asked: Asked, given: Suppression
) -> tuple[FullDomainSearch, Lattice, PoolSearch]:
    everybody = base.hist.sum(axis=0)
    pools = PoolSearch(Judge(asked, everybody), given, lambda e: Judge(asked, e))
    margins = [base.count_margin(i, c.nodes.shape[1]) for i, c in enumerate(columns)]
    lattice = Lattice(columns, margins)
    return FullDomainSearch(base, lattice, pools, given), lattice, pools


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("price", [Fraction(1, 2), Fraction(1), Fraction(3, 2)])
def test_the_best_node_is_the_best_of_all(semantics: str, price: Fraction) -> None:
    dice = random.Random(f"{semantics} {price}")
    optimal = 0
    for _ in range(CASES):
        columns, rows, asked = random_case(dice)
        budget = dice.randint(0, len(rows) // 2)
        base = count(columns, rows, asked.values)
        given = Suppression(budget, float(price), semantics)
        run, *_ = search(columns, base, asked, given)
        found = run.run()
        every = dict[Node, Fraction]()
        for node, cost in list_releases(columns, rows, asked, budget, price, semantics):
            every[node] = min(cost, every.get(node, cost))
        least = min(every.values(), default=None)
        if least is None:
            assert found.node is None
            continue
        assert found.bound <= float(least) + 1e-9
        if found.node is not None:
            assert float(every[found.node]) <= found.cost + 1e-9
            assert found.cost >= float(least) - 1e-9
        if found.optimal:
            optimal += 1
            assert found.cost == pytest.approx(float(least))
    # Few groups may join those that fail: every choice is looked at.
    assert optimal > CASES / 4


def test_what_is_found_is_safe() -> None:
    dice = random.Random(5)
    for _ in range(CASES):
        columns, rows, asked = random_case(dice)
        base = count(columns, rows, asked.values)
        given = Suppression(dice.randint(0, len(rows)))
        run, *_ = search(columns, base, asked, given)
        found = run.run()
        if found.node is None:
            continue
        assert found.pool is not None
        assert found.pool.out is not None
        cube = run.find_groups(found.node)
        hist, totals = star(cube, found.pool.out)
        assert int(totals.sum()) == len(rows)
        assert int(cube.totals[found.pool.out].sum()) <= given.budget
        everybody = base.hist.sum(axis=0)
        assert not Judge(asked, everybody).find_failing(hist, totals).any()


@pytest.mark.parametrize("delta", [None, Fraction(3, 2), Fraction(2)])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_without_a_budget_the_best_node_is_always_proved(
    semantics: str, delta: Fraction | None
) -> None:
    """By what each unsafe node says of finer ones, or where it says nothing by all."""
    dice = random.Random(f"6 {semantics} {delta}")
    for _ in range(CASES):
        columns, rows, asked = random_case(dice)
        asked = replace(asked, delta=delta)
        base = count(columns, rows, asked.values)
        run, *_ = search(columns, base, asked, Suppression(0, 1.0, semantics))
        found = run.run()
        listed = list_releases(columns, rows, asked, 0, Fraction(1), STARRED)
        least = min((cost for _, cost in listed), default=None)
        assert (found.node is None) == (least is None)
        if least is not None:
            assert found.optimal
            assert found.cost == pytest.approx(float(least))


def test_without_a_budget_few_nodes_are_judged() -> None:
    """Each unsafe node rules out all finer ones, also where groups are large."""
    nodes = np.array([[i // 2**level for i in range(32)] for level in range(6)])
    columns = [LevelledColumn(str(c), nodes.astype(np.int32)) for c in range(4)]
    dice = random.Random(9)
    rows = [(tuple(dice.randrange(32) for _ in columns), i % 3) for i in range(400)]
    base, asked = count(columns, rows, 3), Asked(alpha=Fraction(1, 2), values=3)
    found = search(columns, base, asked, Suppression(0))[0].run()
    assert found.optimal
    assert 6**4 == found.nodes
    assert found.judged < 150


def test_a_search_that_is_stopped_early_has_something_to_show() -> None:
    """The walk down comes first: what is found is far below the top."""
    nodes = np.array([[i // 2**level for i in range(32)] for level in range(6)])
    columns = [LevelledColumn(str(c), nodes.astype(np.int32)) for c in range(4)]
    dice = random.Random(10)
    rows = [(tuple(dice.randrange(32) for _ in columns), i % 3) for i in range(400)]
    base, asked = count(columns, rows, 3), Asked(alpha=Fraction(1, 2), values=3)
    run, *_ = search(columns, base, asked, Suppression(20))
    found = run.run(lambda judged, *_: judged >= 24)
    assert ("time", 24) == (found.ended, found.judged)
    assert found.bound < found.cost < 0.8


def list_box(box: NodeBox) -> list[Node]:
    levels = (range(a, b + 1) for a, b in zip(box.low, box.high, strict=True))
    return list(product(*levels))


def is_finer(node: Node, other: Node) -> bool:
    return all(a <= b for a, b in zip(node, other, strict=True))


def test_boxes_hold_what_is_left_once() -> None:
    """A node and all finer ones are gone, and no other; nothing is in two boxes."""
    dice = random.Random(7)
    for _ in range(CASES):
        columns, rows, asked = random_case(dice)
        base = count(columns, rows, asked.values)
        *_, lattice, _ = search(columns, base, asked, Suppression(0))
        low = tuple(dice.randint(0, top) for top in lattice.top)
        high = tuple(dice.randint(a, b) for a, b in zip(low, lattice.top, strict=True))
        out = tuple(dice.randint(a, b) for a, b in zip(low, lattice.top, strict=True))
        box = NodeBox(low, high)
        left = [n for n in list_box(box) if not is_finer(n, out)]
        parts = list(box.part(out))
        assert sorted(left) == sorted(chain(*map(list_box, parts)))
        for part in parts:
            assert all(
                lattice.blur(n) >= lattice.blur(part.low) for n in list_box(part)
            )
        assert len(lattice) == len(list_box(lattice.whole))


def test_subtrees_never_cost_more_than_their_node_and_are_safe() -> None:
    dice = random.Random(8)
    better = 0
    for _ in range(CASES):
        columns, rows, asked = random_case(dice, most=40)
        base = count(columns, rows, asked.values)
        given = Suppression(dice.randint(0, len(rows) // 2))
        run, lattice, pools = search(columns, base, asked, given)
        found = run.run()
        if found.node is None:
            continue
        below = SubtreeSearch(base, lattice, pools, given).descend(found.node)
        better += below.cost < found.cost - 1e-12
        assert below.cost <= found.cost + 1e-12
        assert below.pool.out is not None
        hist, totals = star(below.cube, below.pool.out)
        judge = Judge(asked, base.hist.sum(axis=0))
        assert not judge.find_failing(hist, totals).any()
        for c, own in zip(columns, below.cut.levels, strict=True):
            for p, level in enumerate(own.tolist()):
                inside = c.nodes[level] == c.nodes[level, p]
                assert (own[inside] == level).all()
    assert better > 0


def test_the_vectors_of_the_specification() -> None:
    """Age {1, 2}, {3, 4}, *; sex *; k = 2."""
    age = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.int32)
    sex = np.array([[0, 1], [0, 0]], dtype=np.int32)
    columns = [LevelledColumn("age", age), LevelledColumn("sex", sex)]
    text = "1ma 1mb 2ma 2mc 3fa 3fb 4fc 4fa 1fb 4mc"
    rows = [
        ((int(r[0]) - 1, "mf".index(r[1])), "abc".index(r[2])) for r in text.split()
    ]
    base = count(columns, rows, 3)
    asked = Asked(k=2, values=3)
    none = search(columns, base, asked, Suppression(0))[0].run()
    assert none.node in {(0, 1), (2, 0)}  # both cost 1/2
    assert Fraction(1, 2) == Fraction(none.cost)
    two = search(columns, base, asked, Suppression(2))[0].run()
    assert ((0, 0), pytest.approx(0.2)) == (two.node, two.cost)
    assert two.pool is not None
    assert two.pool.out is not None
    assert 2 == int(base.totals[two.pool.out].sum())


def test_left_out_rows_move_the_reference() -> None:
    """Two of three rows left: their own distribution is what they are held against."""
    column = LevelledColumn("x", np.array([[0, 1], [0, 0]], dtype=np.int32))
    rows = [((0,), 0), ((0,), 0), ((1,), 1)]
    base, asked = count([column], rows, 2), Asked(t=Fraction(1, 4))
    starred = search([column], base, asked, Suppression(1))[0].run()
    assert (1,) == starred.node
    left = search([column], base, asked, Suppression(1, 1.0, LEFT_OUT))[0].run()
    assert ((0,), pytest.approx(1 / 3)) == (left.node, left.cost)


@pytest.mark.parametrize("seed", range(CASES // 3))
def test_sparse_histograms_add_up_as_dense_ones_do(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(f"sparse {seed}")
    columns, rows, asked = random_case(dice, most=40)
    node = tuple(dice.randrange(c.levels) for c in columns)
    labels = [c.nodes[level] for c, level in zip(columns, node, strict=True)]
    dense = count(columns, rows, asked.values).roll_up(labels)
    monkeypatch.setattr(node_counts, "LARGE", 0)
    monkeypatch.setattr(node_counts, "SPARSE", 0)
    sparse = count(columns, rows, asked.values).roll_up(labels)
    assert dense.hist.tolist() == sparse.hist.tolist()
    assert dense.totals.tolist() == sparse.totals.tolist()
    assert dense.positions.tolist() == sparse.positions.tolist()


def test_nodes_by_the_thousand_are_ruled_out_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 5**8 nodes few are judged; the clock is looked at where none is, too."""
    monkeypatch.setattr(full_domain_search, "GLANCE", 1)
    nodes = np.array([[i // 2**level for i in range(16)] for level in range(5)])
    columns = [LevelledColumn(str(c), nodes.astype(np.int32)) for c in range(8)]
    dice = random.Random(12)
    rows = [(tuple(min(dice.randrange(16), 3) for _ in columns), 0) for _ in range(300)]
    run, *_ = search(columns, count(columns, rows, 1), Asked(k=30), Suppression(0))
    seen: list[int] = []
    found = run.run(lambda judged, *_: bool(seen.append(judged)))
    assert found.optimal
    assert 5**8 == found.nodes
    assert 100 * found.judged < found.nodes
    assert any(a == b for a, b in pairwise(seen))
