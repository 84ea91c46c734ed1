"""Every engine disguises each row once, by the law of the design."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.tables import PLACES, People, opened
from privet.engine.protocol import Run
from privet.engine.randomise.exact_sampling import RandomBits
from privet.responses.channels import Keep
from privet.responses.disguise import plan_randomisation

SIDE = 60
"""Rows are told apart by two columns of so many values."""


def design() -> pv.Design:
    sides = [f"v{i:02}" for i in range(SIDE)]
    return pv.Design(
        [
            pv.Question("text 0", sides),
            pv.Question("text 1", sides),
            pv.Question("text 2", ["no", "yes"]),
        ],
        [
            pv.Group("text 0", Keep()),
            pv.Group("text 1", Keep()),
            pv.Group("text 2", pv.Flip("0.8")),
        ],
    )


def people() -> People:
    rows = [
        (f"v{i:02}", f"v{j:02}", "yes" if i < SIDE // 3 else "no")
        for i in range(SIDE)
        for j in range(SIDE)
    ]
    return People(("text", "text", "text"), rows)


# PySpark says that it does not know the newest pandas, which we do not use.
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["arrow", *PLACES])
def test_each_row_is_drawn_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "reports.parquet"
    with opened(people(), kind, tmp_path) as table:
        what = plan_randomisation(table, design(), str(path), "parquet")
        assert SIDE**2 == table.engine.draw(what, {}, Run())
    found = pq.read_table(path)
    judge(found)
    assert [path] == [p for p in tmp_path.iterdir() if "reports" in p.name]


def judge(found: pa.Table) -> None:
    """Each row once, and a fifth of the answers turned round, give or take chance."""
    rows = [tuple(r.values()) for r in found.to_pylist()]
    assert {1} == set(Counter(r[:2] for r in rows).values())
    assert SIDE**2 == len(rows)
    truth = {row[:2]: row[2] for row in people().rows}
    turned = sum(truth[r[:2]] != r[2] for r in rows)
    spread = sqrt(SIDE**2 * 0.2 * 0.8)
    assert abs(turned - 0.2 * SIDE**2) < 5 * spread


def turned(found: pa.Table) -> dict[tuple[str, str], bool]:
    """Whether each row's answer was turned round."""
    truth = {row[:2]: row[2] for row in people().rows}
    rows = [tuple(r.values()) for r in found.to_pylist()]
    return {r[:2]: truth[r[:2]] != r[2] for r in rows}


def agree(one: dict[tuple[str, str], bool], other: dict[tuple[str, str], bool]) -> bool:
    """Whether rows of one half are turned as those at their place in the other half.

    Of independent draws 0.8² + 0.2² = 68 % are: 1224 of 1800, give or take 20.
    """
    half = SIDE // 2
    pairs = [(f"v{i:02}", f"v{i + half:02}") for i in range(half)]
    sides = [f"v{j:02}" for j in range(SIDE)]
    same = sum(one[a, j] == other[b, j] for a, b in pairs for j in sides)
    return same > 1224 + 6 * 20


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.spark
def test_every_partition_has_a_stream_of_its_own(tmp_path: Path) -> None:
    found = []
    for i in range(2):
        with opened(people(), "spark", tmp_path) as table:
            path = tmp_path / f"reports {i}.parquet"
            what = plan_randomisation(table, design(), str(path), "parquet")
            table.engine.draw(what, {}, Run())
        found.append(turned(pq.read_table(path)))
    once, again = found
    assert not agree(once, once), "two partitions drew the same"
    assert sum(once[k] == again[k] for k in once) < 0.72 * SIDE**2, "drawn twice alike"


def test_streams_that_are_the_same_are_noticed(tmp_path: Path) -> None:
    """The power of the test above: both halves drawn from one seed."""
    rows, half = people().rows, SIDE**2 // 2
    found: dict[tuple[str, str], bool] = {}
    for i, part in enumerate((rows[:half], rows[half:])):
        with opened(People(("text",) * 3, part), "arrow", tmp_path) as table:
            path = tmp_path / f"half {i}.parquet"
            what = plan_randomisation(
                table, design(), str(path), "parquet", bits=RandomBits(b"seed")
            )
            table.engine.draw(what, {}, Run())
        found |= turned(pq.read_table(path))
    assert agree(found, found)


@pytest.mark.spark
def test_a_seed_cannot_go_to_a_cluster(tmp_path: Path) -> None:
    with opened(people(), "spark", tmp_path) as table:
        path = str(tmp_path / "reports.parquet")
        what = plan_randomisation(
            table, design(), path, "parquet", bits=RandomBits(b"seed")
        )
        with pytest.raises(pv.InputError, match="seed"):
            table.engine.draw(what, {}, Run())
