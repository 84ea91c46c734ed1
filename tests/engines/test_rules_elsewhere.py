"""Rows of a table that are looked at for rules between columns, in every place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engines.tables import PLACES, People, opened
from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import Run
from privet.microdata.dependence import derived_columns
from privet.microdata.dependence.derived_columns import find_rules
from privet.values.contingency import Domain

KINDS = ("text", "integer", "text", "text")


def people() -> People:
    draw = np.random.default_rng(6)
    a, b = draw.integers(0, 30, 1500), draw.integers(0, 9, 1500)
    third = (a * 5 + b * 7) % 13
    rows = [
        (f"a{x}", int(x) % 7, f"b{y}", f"c{z}")
        for x, y, z in zip(a, b, third, strict=True)
    ]
    return People(KINDS, rows)


@pytest.mark.parametrize("kind", ["csv", *PLACES])
@pytest.mark.parametrize("most", [50_000, 600])
def test_the_same_rules_are_found(
    kind: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived_columns, "MOST_DRAWN", most)
    monkeypatch.setattr(derived_columns, "LEAST_DRAWN", 100)
    names = people().names
    with opened(people(), "arrow", tmp_path) as here:
        expected = find_rules(here, names)
    with opened(people(), kind, tmp_path) as there:
        found = find_rules(there, names)
    rules = {(r.by, r.column): r.counts for r in expected.told}
    assert ((names[0],), names[1]) in rules
    assert ((names[0], names[2]), names[3]) in rules
    assert rules == {(r.by, r.column): r.counts for r in found.told}


@pytest.mark.parametrize("kind", ["arrow", *PLACES])
def test_rows_are_drawn_by_their_hash(kind: str, tmp_path: Path) -> None:
    names = people().names
    with opened(people(), kind, tmp_path) as table:
        every = table.engine.sample_rows(names, {}, 2000, Run())
        some = table.engine.sample_rows(names, {}, 300, Run())
        again = table.engine.sample_rows(names, {}, 300, Run())
    assert (1500, True) == (every.rows, every.whole)
    assert not some.whole
    assert 100 < some.rows < 600
    drawn = [set(zip(*(d.codes[c] for c in names), strict=True)) for d in (some, again)]
    assert drawn[0] == drawn[1]
    assert drawn[0] <= set(zip(*(every.codes[c] for c in names), strict=True))


def test_of_many_counted_combinations_some_are_drawn() -> None:
    draw = np.random.default_rng(3)
    codes = [draw.integers(0, 90, 40_000), draw.integers(0, 80, 40_000)]
    domains = [Domain(c, [str(i) for i in range(90)]) for c in ("a", "b")]
    key, n = np.unique(codes[0] * 90 + codes[1], return_counts=True)
    held = InMemory(domains, [key // 90, key % 90], n)
    some = held.sample_rows(["b", "a"], {}, 2_000, Run())
    assert not some.whole
    assert 1_000 < some.rows < 3_000
    drawn = dict(zip(some.codes["a"] * 90 + some.codes["b"], some.n, strict=True))
    every = dict(zip(key, n, strict=True))
    assert drawn.items() <= every.items()
    again = held.sample_rows(["b", "a"], {}, 2_000, Run())
    assert np.array_equal(some.codes["a"], again.codes["a"])
    assert held.sample_rows(["a", "b"], {}, 40_000, Run()).whole
