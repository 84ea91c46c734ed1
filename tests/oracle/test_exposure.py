"""Exposure: the figures equal a count by definition, person by person."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest

from privet.errors import TooLarge
from privet.microdata.exposure.exposure import (
    Beyond,
    ColumnExposure,
    expose_few_columns,
)
from privet.values.beliefs import Ceiling
from privet.values.contingency import Counts
from privet.values.equivalence_classes import EquivalenceClasses, group_counts

CASES = int(os.environ.get("PRIVET_CASES", "400"))

Row = tuple[str | None, ...]
"""The known columns, and last the sensitive one."""

TABLE: list[Row] = [
    *[("1", "x", "i"), ("1", "x", "j"), ("1", "y", "i")],
    *[("2", "x", "j"), ("2", "x", "j"), (None, "y", "i")],
]


def group(rows: Sequence[Row]) -> EquivalenceClasses:
    names = [f"c{i}" for i in range(len(rows[0]) - 1)]
    cells: dict[Row, int] = {}
    for row in rows:
        cells[row] = cells.get(row, 0) + 1
    return group_counts(Counts.from_cells([*names, "s"], cells), names, "s")


def look_like(rows: Sequence[Row], row: Row, known: Sequence[int]) -> list[Row]:
    return [r for r in rows if all(r[i] == row[i] for i in known)]


def is_certain(rows: Sequence[Row], row: Row, known: Sequence[int]) -> bool:
    values = {r[-1] for r in look_like(rows, row, known)}
    return len(values) == 1 and None not in values


def is_beyond(
    rows: Sequence[Row], row: Row, known: Sequence[int], value: str, limit: Ceiling
) -> bool:
    share = share_of(rows, row, known, value)
    return share >= limit.level if limit.strict else share > limit.level


def share_of(
    rows: Sequence[Row], row: Row, known: Sequence[int], value: str | None
) -> Fraction:
    alike = look_like(rows, row, known)
    return Fraction(sum(r[-1] == value for r in alike), len(alike))


def draw_rows(draw: random.Random) -> list[Row]:
    columns = draw.randint(1, 3)
    return [
        (
            *(draw.choice(["1", "2", None]) for _ in range(columns)),
            draw.choice(["i", "j", None]),
        )
        for _ in range(draw.randint(1, 9))
    ]


def draw_limit(draw: random.Random) -> Ceiling:
    level = Fraction(draw.randint(1, 6), 6)
    return Ceiling(below=level) if draw.random() < 0.5 else Ceiling(level)


def test_figures_of_all_known_columns_equal_the_definition() -> None:
    draw = random.Random(1)
    for _ in range(CASES):
        rows, limit = draw_rows(draw), draw_limit(draw)
        groups, known = group(rows), range(len(rows[0]) - 1)
        code = groups.about.code("i")
        watched = Beyond(limit, () if code is None else (code,))
        found = ColumnExposure("s", (watched,)).add(groups)
        assert len(rows) == found.people
        alone = [r for r in rows if len(look_like(rows, r, known)) == 1]
        assert len(alone) == found.unique
        assert sum(is_certain(rows, r, known) for r in rows) == found.certain
        over = [r for r in rows if is_beyond(rows, r, known, "i", limit)]
        assert (len(over), sum(r[-1] == "i" for r in over)) == (
            found.beyond[0].people,
            found.beyond[0].true,
        )
        own = [0] * 21
        for row in rows:
            own[int(share_of(rows, row, known, row[-1]) * 20)] += 1
        assert own == list(found.own)


def test_figures_of_few_columns_are_unions_over_sets() -> None:
    draw = random.Random(2)
    for _ in range(CASES // 2):
        rows, limit = draw_rows(draw), draw_limit(draw)
        groups, columns = group(rows), len(rows[0]) - 1
        code = groups.about.code("i")
        watched = Beyond(limit, () if code is None else (code,))
        for found in expose_few_columns(groups, [watched]):
            few = [
                s
                for size in range(found.columns + 1)
                for s in combinations(range(columns), size)
            ]
            certain = sum(any(is_certain(rows, r, s) for s in few) for r in rows)
            beyond = sum(
                any(is_beyond(rows, r, s, "i", limit) for s in few) for r in rows
            )
            assert (certain, (beyond,)) == (found.certain, found.beyond)
            exactly = [
                sum(is_certain(rows, r, s) for r in rows)
                for s in combinations(range(columns), found.columns)
            ]
            assert max(exactly) == found.worst_certain


def test_more_people_may_be_beyond_with_fewer_columns() -> None:
    """The worst belief grows with what is known; the number of people need not."""
    groups = group(TABLE)
    code = groups.about.code("i")
    assert code is not None
    watched = Beyond(Ceiling("3/5"), (code,))
    found = ColumnExposure("s", (watched,)).add(groups)
    assert (6, 2, 4, 2) == (
        found.people,
        found.unique,
        found.certain,
        found.beyond[0].people,
    )
    assert [2, 4] == [found.own[10], found.own[20]]
    (one,) = expose_few_columns(groups, [watched], sizes=[1])
    assert (4, (4,), 3) == (one.certain, one.beyond, one.worst_certain)


def test_figures_add_over_disjoint_groups() -> None:
    whole = group(TABLE)
    watched = Beyond(Ceiling("3/5"))
    fold = ColumnExposure("s", (watched,))
    parts = [whole.take([g]) for g in range(len(whole))]  # type: ignore[arg-type]
    for part in parts:
        fold = fold.add(part)
    assert ColumnExposure("s", (watched,)).add(whole) == fold


def test_too_many_sets_are_refused() -> None:
    rows = [tuple(["1"] * 40 + ["i"])]
    with pytest.raises(TooLarge, match="9880 sets"):
        list(expose_few_columns(group(rows), [], sizes=[1, 2, 3]))
