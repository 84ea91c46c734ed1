"""Values that can never be shown are counted as one; the release is the same."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from engines.tables import PLACES, People, opened
from privet.engine.counting import counter, precount
from privet.engine.counting.strategy import Limits
from privet.engine.protocol import CountQuery
from privet.microdata.suppression import templates
from privet.values.equivalence_classes import EquivalenceClasses

KINDS = ("text", "text", "integer", "text", "text")
NAMES = [f"{kind} {i}" for i, kind in enumerate(KINDS)]
ROLES: dict[str, Any] = {
    "quasi": NAMES[:3],
    "sensitive": NAMES[3],
    "target": NAMES[4],
}


def some_people(rows: int, seed: int) -> People:
    """Two columns of many values, of which most are rare."""
    rng = Random(seed)

    def rare(size: int) -> str | None:
        at = int(rng.paretovariate(0.8)) % size
        return None if at == 3 else f"v{at}"

    ills = ["flu", "flu", "cold", "hiv"]
    return People(
        KINDS,
        [
            (
                rare(40),
                rare(25),
                rng.randrange(20, 26),
                rng.choice(ills),
                rng.choice(["yes", "no"]),
            )
            for _ in range(rows)
        ],
    )


def published(table: pv.Table, limit: str, **options: Any) -> tuple[Any, ...]:
    promises = [
        pv.Promise(pv.Linker(NAMES[:2]), pv.Ceiling(limit), NAMES[3]),
        pv.Promise(pv.Linker(NAMES[:3]), pv.Ceiling("9/10"), {NAMES[3]: "hiv"}),
    ]
    release = pv.publish(table, promises, method=pv.TopDownDisclosure(**options))
    findings = [f.to_dict() for f in release.audit.findings]
    return release.hidden, release.intervals, release.steps, findings


@settings(max_examples=8)
@given(
    seed=st.integers(0, 10_000),
    limit=st.sampled_from(["3/5", "2/3", "9/10"]),
    options=st.sampled_from(
        [{}, {"paper": True}, {"keep": NAMES[1]}, {"utility": "distortion"}]
    ),
)
def test_the_release_is_the_same(
    seed: int, limit: str, options: dict[str, Any]
) -> None:
    with opened(some_people(100, seed), "arrow", Path(), **ROLES) as table:
        try:
            expected = published(table, limit, **options)
        except pv.Infeasible as no:
            expected = (str(no),)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(templates, "MANY", 5)
            try:
                found = published(table, limit, **options)
            except pv.Infeasible as no:
                found = (str(no),)
    assert expected == found


def test_fewer_cells_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    count = templates.count_all

    def counted(*words: Any, **options: Any) -> dict[Any, EquivalenceClasses]:
        found = count(*words, **options)
        seen.append(max(len(g.n) for g in found.values()))
        return found

    monkeypatch.setattr(templates, "count_all", counted)
    rng = Random(1)
    rows = [
        (f"v{rng.randrange(5000)}", rng.choice("ab"), *row[2:])
        for row in some_people(300, 1).rows
    ]
    with opened(People(KINDS, rows), "arrow", tmp_path, **ROLES) as table:
        published(table, "2/3")
        before = max(seen)
        seen.clear()
        monkeypatch.setattr(templates, "MANY", 5)
        published(table, "2/3")
    assert seen[-1] < before / 3


def test_what_does_not_fit_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"a": [f"{i}" for i in range(300)], "s": ["x", "y", "z"] * 100})
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("1/2"), "s")
    monkeypatch.setattr(templates, "PER_CELL", 10**9)
    with pv.read(rows, quasi="a", sensitive="s", memory_limit="50GB") as table:
        with pytest.raises(pv.TooLarge, match="at most 50 combinations"):
            pv.publish(table, promise)


def test_counts_in_parts_are_put_together(tmp_path: Path) -> None:
    people = some_people(80, 2)
    with opened(people, "arrow", tmp_path, **ROLES) as table:
        expected = published(table, "3/4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counter, "LIMITS", Limits(cells_at_once=25))
        patch.setattr(precount, "CELLS_HELD", 0)
        with opened(people, "arrow", tmp_path, **ROLES) as table:
            assert len(list(table.count([CountQuery((NAMES[0],), NAMES[3])]))) > 2
            assert expected == published(table, "3/4")


@pytest.mark.parametrize("kind", PLACES)
def test_places_count_fewer_cells_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = some_people(150, 3)
    with opened(people, "arrow", tmp_path, **ROLES) as table:
        expected = published(table, "2/3")
    monkeypatch.setattr(templates, "MANY", 5)
    with opened(people, kind, tmp_path, **ROLES) as table:
        assert expected == published(table, "2/3")
