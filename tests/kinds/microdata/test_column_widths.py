"""Widths of columns and their most even cuts: many groups at once, and one by one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from privet.microdata.generalisation import domain_order
from privet.microdata.generalisation.splits import kernels, prefix_cuts
from privet.microdata.generalisation.splits.column_widths import ColumnWidths
from privet.microdata.generalisation.splits.split_task import make_criterion
from privet.values.contingency import Domain
from privet.values.hierarchies import Hierarchy

PATHS = {f"v{i}": [f"m{i // 4}", f"t{i // 8}"] for i in range(16)}


def random_rows(rng: np.random.Generator, lines: int) -> tuple[Any, Any]:
    """An ordered column, sets of 40, 30, 7 and 90 values, and a hierarchy."""
    domains = [Domain("x", [str(i) for i in range(200)], "integer")]
    domains += [Domain(f"c{n}", [f"{i:03}" for i in range(n)]) for n in (40, 30, 7, 90)]
    domains.append(Domain("h", sorted(PATHS)))
    made = [
        domain_order.order_by_value(domains[0]),
        *(domain_order.order_by_frequency(d, rng.random(len(d))) for d in domains[1:5]),
        domain_order.order_by_hierarchy(domains[5], Hierarchy(PATHS)),
    ]
    codes = [rng.integers(0, len(d), lines) for d in domains]
    placed = [a.position[c] for a, c in zip(made, codes, strict=True)]
    rows = np.column_stack([*placed, rng.integers(1, 4, lines)])
    return domain_order.pack_domains(made), rows.astype(np.int16)


def random_groups(rng: np.random.Generator, lines: int) -> Any:
    inner = rng.choice(np.arange(1, lines), int(rng.integers(0, 12)), replace=False)
    return np.array([0, *sorted(inner.tolist()), lines])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("at_once", [0, 2**21])
def test_widths_and_even_cuts_are_those_of_each_group_alone(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefix_cuts, "AT_ONCE", at_once)  # 0: only what occurs
    rng = np.random.default_rng(seed)
    shape, rows = random_rows(rng, 60)
    edges = random_groups(rng, len(rows))
    columns, every = np.ascontiguousarray(rows.T), np.arange(len(rows))
    widths = ColumnWidths(columns, shape).measure(every, edges[:-1])
    alone = [
        kernels.survey(rows, a, b, shape, make_criterion(-1, 1))
        for a, b in pairwise(edges.tolist())
    ]
    assert [s.width.tolist() for s in alone] == widths.width.T.tolist()
    assert [(s.cut >= 0).tolist() for s in alone] == widths.several.T.tolist()
    ranked = [[d for d in r if alone[g].cut[d] >= 0] for g, r in _ranks(widths)]
    assert [s.rank_columns() for s in alone] == ranked
    _check_cuts(rng, shape, rows, edges, alone)


def _ranks(widths: Any) -> Any:
    return enumerate(widths.rank_columns().T.tolist())


def _check_cuts(
    rng: np.random.Generator, shape: Any, rows: Any, edges: Any, alone: Any
) -> None:
    """Of a column per group that may be cut anywhere, the most even cut."""
    column = rng.integers(0, 5, len(edges) - 1)
    base = np.append(0, np.cumsum(shape.size[column]))
    group = np.repeat(np.arange(len(column)), np.diff(edges))
    keys = base[group] + rows[np.arange(len(rows)), column[group]]
    people = np.add.reduceat(rows[:, -1].astype(np.int64), edges[:-1])
    found = prefix_cuts.find_even_cuts(keys, rows[:, -1].astype(float), base, people)
    for g, d in enumerate(column.tolist()):
        if alone[g].cut[d] >= 0:
            assert (alone[g].cut[d], alone[g].left[d]) == (found.cut[g], found.left[g])
        else:  # one value: everybody would go left
            assert people[g] == found.left[g]
