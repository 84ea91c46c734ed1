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
from privet.engines.base import Run
from privet.engines.chance import Bits
from privet.publishers.disguise import drawing
from privet.releases.channels import Keep

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
        what = drawing(table, design(), str(path), "parquet")
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


@pytest.mark.spark
def test_a_seed_cannot_go_to_a_cluster(tmp_path: Path) -> None:
    with opened(people(), "spark", tmp_path) as table:
        path = str(tmp_path / "reports.parquet")
        what = drawing(table, design(), path, "parquet", bits=Bits(b"seed"))
        with pytest.raises(pv.InputError, match="seed"):
            table.engine.draw(what, {}, Run())
