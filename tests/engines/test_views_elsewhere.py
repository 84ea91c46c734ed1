"""Views of rows that stay elsewhere: the same findings and files as of rows here."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import privet as pv
from engines.tables import PLACES, People, opened
from privet.engine.remote import transfer

KINDS = ("text", "date", "decimal", "text", "integer")
WHO, DAY, PAID, ILL, TIMES = (f"{kind} {i}" for i, kind in enumerate(KINDS))


def some_people(seed: int, rows: int = 60) -> People:
    rng = random.Random(seed)

    def one() -> tuple[Any, ...]:
        cells = (
            rng.choice(["Ann", "ann", "Änn", " Ann", "O'Neil", "\U0001f984", "Bo\tb"])
            + str(rng.randrange(4)),
            date(2020, 1, 1 + rng.randrange(3)),
            Decimal(rng.randrange(3)) / 4,
            rng.choice(["flu", "Flu", "hiv", "=1+1", "", "日本"]),
            rng.randrange(3),
        )
        return tuple(
            None if rng.random() < 0.07 and i < 4 else c for i, c in enumerate(cells)
        )

    return People(KINDS, [one() for _ in range(rows)])


TWO = ([WHO, DAY, PAID], [DAY, PAID, ILL])
THREE = ([WHO, DAY], [DAY, PAID], [PAID, ILL])
ROLES = {"identifier": WHO, "sensitive": ILL}


def promises() -> Iterator[tuple[tuple[list[str], ...], pv.Promise]]:
    def promise(model: str, about: object = None, **more: Any) -> pv.Promise:
        return pv.Promise(pv.Reconstructor(model, **more), pv.Ceiling("0.8"), about)

    yield TWO, promise("unrestricted")
    yield TWO, promise("restricted")
    yield TWO, promise("bag", {WHO: "*", ILL: "hiv"})
    yield TWO, promise("functional")
    query = f'SELECT "{WHO}", "{ILL}" FROM T WHERE "{DAY}" >= \'2020-01-02\''
    yield TWO, promise("unrestricted", query)
    yield (TWO[0], [PAID, ILL]), promise("unrestricted", worlds="full")
    yield THREE, promise("unrestricted")


def findings(table: pv.Table) -> list[dict[str, Any]]:
    found = []
    for views, promise in promises():
        told = pv.audit(pv.Views(table, *views), promise, seed=1).findings[0].to_dict()
        found.append(told)
    return found


@pytest.mark.parametrize("kind", PLACES)
def test_tuples_may_come_in_parts(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = some_people(6)
    monkeypatch.setattr(transfer, "TUPLES_AT_ONCE", 20)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.8"))
    said: list[str] = []
    told = []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **ROLES) as table:
            views = pv.Views(table, *TWO)
            found = pv.audit(views, promise, progress=lambda e: said.append(e.doing))
            told.append(found.to_dict())
    assert told[0] == told[1]
    assert "reading views, part 2 of 8" in said


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("weight", [None, TIMES])
def test_every_finding_is_the_same(
    kind: str, weight: str | None, tmp_path: Path
) -> None:
    people = some_people(1 + (weight is None))
    with opened(people, "arrow", tmp_path, weight=weight, **ROLES) as here:
        expected = findings(here)
    with opened(people, kind, tmp_path, weight=weight, **ROLES) as there:
        for mine, theirs in zip(expected, findings(there), strict=True):
            assert mine == theirs


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_files_are_the_same(kind: str, form: str, tmp_path: Path) -> None:
    people = some_people(9)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.95"))
    written = {}
    for where in ("arrow", kind):
        options = {"weight": TIMES, "other": [DAY, PAID], "bins": {PAID: ["0.25"]}}
        with opened(people, where, tmp_path, **options, **ROLES) as table:
            release = pv.publish(pv.Views(table, *TWO), [promise])
            folder = tmp_path / where
            release.write(folder, custody=tmp_path / f"{where} vault", format=form)
        found = pv.verify(folder)
        assert found.good, found.problems
        written[where] = [_rows(folder / f"view-{i}.{form}") for i in (1, 2)]
    assert written["arrow"] == written[kind]


def _rows(path: Path) -> Counter[Any]:
    if path.suffix == ".csv":
        return Counter(path.read_text(encoding="utf-8").splitlines())
    table = pq.read_table(path)
    return Counter(zip(*(map(str, c.to_pylist()) for c in table.columns), strict=True))


@pytest.mark.parametrize("kind", PLACES)
def test_views_are_proposed_there_too(kind: str, tmp_path: Path) -> None:
    people = some_people(4, 30)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.97"))
    method = pv.SplitViews(leave_out=[TIMES], max_audits=4, proposals=1)
    told = []
    for where in ("arrow", kind):
        with opened(people, where, tmp_path, **ROLES) as table:
            (found,) = method.propose(table, promise)
            told.append((repr(found.views), found.audit.worst.belief))
    assert told[0] == told[1]
