"""Columns beside groups: rules used backwards, and groups that others make finer."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import privet as pv
from privet.microdata.recipe import Hide, Recipe

HIV = {"ill": "hiv"}

# Job and place tell the union. Places are hidden; whoever knows that somebody is in
# Rome leaves out cooks of union 1 and smiths of union 2, which are in Bonn.
UNIONS = {("cook", "Bonn"): "1", ("cook", "Rome"): "2"} | {
    ("smith", "Bonn"): "2",
    ("smith", "Rome"): "1",
}
PEOPLE = [
    ("cook", "Bonn", "ok"),
    ("cook", "Rome", "hiv"),
    ("smith", "Bonn", "ok"),
    ("smith", "Rome", "hiv"),
]


def make_table() -> pv.Table:
    rows = PEOPLE * 2
    columns = {
        "job": [job for job, _, _ in rows],
        "place": [place for _, place, _ in rows],
        "union": [UNIONS[job, place] for job, place, _ in rows],
        "ill": [ill for _, _, ill in rows],
    }
    roles = {"quasi": "place", "other": ["job", "union"], "sensitive": "ill"}
    return pv.read(pa.table(columns), **roles)


def make_policy(table: pv.Table, limit: str) -> pv.Policy:
    return pv.Policy(
        promises=pv.Promise(pv.Linker(knows=["place"]), pv.Ceiling(limit), HIV),
        roles=table.roles,
        derived=[pv.DerivedColumn("union", ["job", "place"])],
        accepted=[pv.Accepted("ill", why="a test")],
    )


def test_a_rule_used_backwards_narrows_what_is_hidden() -> None:
    table = make_table()
    policy = make_policy(table, "1/2")
    release = pv.publish(table, policy)
    assert release.safe
    # Hiding places alone would leave one in two by the column, and all by the rule.
    assert release.hidden is not None
    assert {"place"} < set(release.hidden)
    seen = [r for r in list_shown(release) if may_be_in_rome(r)]
    assert 2 * sum(ill == "hiv" for *_, ill in seen) <= len(seen)


def list_shown(release: pv.Release) -> list[tuple[str, ...]]:
    hidden = release.hidden or {}
    return [
        tuple(
            "⊥" if v in hidden.get(c, ()) else v
            for c, v in (("job", job), ("union", UNIONS[job, place]), ("ill", ill))
        )
        for job, place, ill in PEOPLE * 2
    ]


def may_be_in_rome(row: tuple[str, ...]) -> bool:
    return "⊥" in row or UNIONS[row[0], "Rome"] == row[1]


def test_a_file_that_hides_only_the_known_column_is_undecided() -> None:
    rows = PEOPLE * 2
    columns = {
        "job": [job for job, _, _ in rows],
        "place": ["⊥"] * 8,
        "union": [UNIONS[job, place] for job, place, _ in rows],
        "ill": [ill for _, _, ill in rows],
    }
    table = pv.read(
        pa.table(columns), quasi="place", other=["job", "union"], sensitive="ill"
    )
    found = pv.audit(table, make_policy(table, "1/2")).findings[0]
    assert pv.Verdict.UNDECIDED is found.verdict
    assert "union follows from job and place" in found.note


# Insiders and measures --------------------------------------------------------------


def make_towns() -> dict[str, list[object]]:
    """Forty areas in ten towns: whoever knows the area knows the town."""
    draw = random.Random(1)
    areas = [draw.randint(0, 39) for _ in range(400)]
    return {
        "area": areas,
        "town": [f"town {a // 4}" for a in areas],
        "age": [draw.randint(20, 60) for _ in areas],
        "ill": [draw.choice(["flu", "hiv", "ok"]) for _ in areas],
    }


STATED = [
    ([], [pv.Measure(k_anonymity=5)]),
    ([pv.Promise(pv.Insider(rules_out=1), pv.Ceiling("0.8"), "ill")], []),
]


@pytest.mark.parametrize(("promises", "measures"), STATED)
@pytest.mark.parametrize("role", [{"other": "town"}, {"target": "town"}])
def test_towns_beside_groups_of_areas_split_them(
    promises: list[pv.Promise], measures: list[pv.Measure], role: dict[str, str]
) -> None:
    table = pv.read(
        pa.table(make_towns()), quasi=["area", "age"], sensitive="ill", **role
    )
    policy = pv.Policy(
        promises=promises,
        measures=measures,
        roles=table.roles,
        accepted=[pv.Accepted("ill", why="a test")],
    )
    with pytest.raises(pv.Infeasible, match="'town' as known, too, sees finer groups"):
        pv.publish(table, policy, method=pv.Mondrian())


def test_towns_that_are_grouped_or_dropped_split_nothing() -> None:
    for roles in (
        {"quasi": ["area", "age", "town"]},
        {"quasi": ["area", "age"], "drop": "town"},
    ):
        table = pv.read(pa.table(make_towns()), sensitive="ill", **roles)
        policy = pv.Policy(
            measures=[pv.Measure(k_anonymity=5)],
            roles=table.roles,
            accepted=[pv.Accepted("ill", why="a test")],
        )
        assert pv.publish(table, policy, method=pv.Mondrian()).audit.safe


def test_towns_split_hidden_areas_in_a_release() -> None:
    """Areas are hidden: 400 look alike by the quasi column, and 32 with the town."""
    columns = make_towns()
    table = pv.read(
        pa.table({c: columns[c] for c in ("area", "town", "ill")}),
        quasi="area",
        other="town",
        sensitive="ill",
    )
    policy = pv.Policy(
        promises=pv.Promise(pv.Linker(knows=["area"]), pv.Ceiling("0.9"), "ill"),
        measures=[pv.Measure(k_anonymity=100)],
        roles=table.roles,
        accepted=[pv.Accepted("ill", why="a test")],
    )
    recipe = Recipe({"area": Hide(tuple(map(str, range(40))), ())})
    with pytest.raises(pv.Infeasible, match="it comes to 32"):
        pv.publish(table, policy, recipe=recipe)
