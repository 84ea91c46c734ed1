"""Rows become people: odd input, what is refused, and what a release tells of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import privet as pv

ROWS: dict[str, list[Any]] = {
    "id": [1, 1, 2, 2, 3, 4],
    "visit": [2, 1, 1, 5, 1, 1],
    "sex": ["m", "m", "f", "f", "f", "m"],
    "town": ["Ely", "Bath", "Ely", "Ely", "Ely", "Ely"],
    "ill": ["flu", "cold", "flu", "flu", "hiv", "flu"],
}

PERSON = {"by": "id", "order": "visit", "last": "town", "set": "ill"}

ROLES: dict[str, Any] = {"quasi": ["sex", "town"], "sensitive": "ill", "drop": "visit"}

PROMISE = pv.Promise(
    pv.Linker(["sex", "town"]), pv.Ceiling("1/2"), {"ill": "hiv"}, name="hiv"
)


def read(person: dict[str, Any], rows: dict[str, list[Any]], **roles: Any) -> pv.Table:
    return pv.read(pa.table(rows), **{**ROLES, **roles}, person=person)


def people(table: pv.Table) -> list[dict[str, Any]]:
    names = table.schema.names
    rows = table.engine.session.ask("SELECT * FROM pv_people ORDER BY c0").to_pylist()
    return [dict(zip(names, row.values(), strict=True)) for row in rows]


# What is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("person", "words"),
    [
        ({**PERSON, "by": None}, "person must have by"),
        ({**PERSON, "last": ["town", "age"]}, "Column 'age' of person must exist"),
        ({**PERSON, "first": "town"}, "must have one rule; got first and last"),
        ({"by": "id", "last": "town"}, "order must name the columns"),
        ({**PERSON, "order": "ill"}, "order of person must be columns of numbers"),
        ({"by": "id", "most": "town"}, "most of person must be columns of numbers"),
        ({"by": "id", "mean": "visit"}, "'mean' is not a key of person"),
        ({"by": "id", "count": "id"}, "must only tell people apart"),
        ({"by": "id", "order": "visit", "last": "ill"}, "'town'.*1 of 4 people"),
        ({"by": "sex"}, "by of person must not be released; 'sex' is quasi"),
        (["id"], "person must be a dictionary"),
    ],
)
def test_what_is_refused(person: Any, words: str) -> None:
    with pytest.raises(pv.InputError, match=words):
        read(person, ROWS)


def test_rows_of_nobody_are_counted_and_refused() -> None:
    with pytest.raises(pv.InputError, match="2 of 6 rows have nothing in 'id'"):
        read(PERSON, {**ROWS, "id": [1, 1, 2, None, None, 4]})


def test_a_weight_does_not_go_with_people() -> None:
    rows = {**ROWS, "n": [1] * 6}
    with pytest.raises(pv.InputError, match="weight must be left out"):
        read(PERSON, rows, weight="n")


def test_a_unit_must_be_the_same_column() -> None:
    with pytest.raises(pv.InputError, match="by of person must be the unit"):
        read(PERSON, ROWS, unit="visit", drop=())


def test_no_cell_is_in_an_error() -> None:
    rows = {**ROWS, "town": ["CANARY", "other", *ROWS["town"][2:]]}
    with pytest.raises(pv.InputError) as error:
        read({"by": "id", "set": "ill"}, rows)
    assert "CANARY" not in str(error.value)


# Odd input --------------------------------------------------------------------------


def test_one_person_and_one_row_each() -> None:
    one = {c: v[:2] for c, v in ROWS.items()}
    with read(PERSON, one) as table:
        assert 1 == len(table)
        assert ["cold", "flu"] == people(table)[0]["ill"]
    each = {c: v[3:] for c, v in ROWS.items()}
    with read(PERSON, each) as table:
        assert table.people_made is not None
        assert (3, 3, 1) == (table.people_made.rows, len(table), table.people_made.most)


def test_odd_names_and_texts() -> None:
    rows = {
        "Straße": [1, 1, 2],
        'say "x"': [1, 2, 1],
        "ill ;--": ["é⊥", "'", "\u200b"],
    }
    person = {"by": "Straße", "order": 'say "x"', "last": "ill ;--"}
    with pv.read(pa.table(rows), drop='say "x"', person=person) as table:
        assert ["'", "\u200b"] == [p["ill ;--"] for p in people(table)]


def test_numbers_are_one_however_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n1,1.50,9\n1,1.5,10\n2,7,+3\n2,12,3\n", encoding="utf-8")
    person = {"by": "id", "set": "x", "least": "y"}
    with pv.read(path, person=person) as table:
        found = people(table)
    assert [["1.5"], ["7", "12"]] == [p["x"] for p in found]
    assert ["9", "+3"] == [p["y"] for p in found]


def test_where_is_before_and_bins_are_after() -> None:
    person = {"by": "id", "count": "visit", "last": "town", "set": "ill"}
    rows = {**ROWS, "when": ROWS["visit"]}
    roles = {"drop": "when", "other": "visit", "bins": {"visit": [2]}}
    person["order"] = "when"
    with pv.read(
        pa.table(rows), **{**ROLES, **roles}, where={"sex": "f"}, person=person
    ) as table:
        assert 2 == len(table)
        assert ["1", "2"] == [str(p["visit"]) for p in people(table)][::-1]
        labels = table.domains(["visit"])["visit"].labels
    assert (None, "below 2", "2 and more") == tuple(labels)


# Releases ---------------------------------------------------------------------------


def write(table: Any, policy: Any, folder: Path, **how: Any) -> dict[str, Any]:
    release = pv.publish(table, policy, **how)
    release.write(folder / "out", custody=folder / "vault")
    found = pv.verify(folder / "out", custody=folder / "vault")
    assert found.good, found.problems
    manifest: dict[str, Any] = json.loads((folder / "out" / "release.json").read_text())
    return manifest


@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_people_are_published_and_rows_are_not_told(
    method: Any, tmp_path: Path
) -> None:
    accepted = [pv.Accepted(about="ill", why="because", who="Ada")]
    roles = pv.Roles(**{**ROLES, "unit": "id"})
    person = {k: v for k, v in PERSON.items() if k != "by"}
    policy = pv.Policy([PROMISE], roles, person=person, accepted=accepted)
    with pv.read(pa.table(ROWS)) as table:
        manifest = write(table, policy, tmp_path, method=method)
        again = pv.audit(table, policy)
    assert {"order": ["visit"], "last": ["town"], "set": ["ill"]} == manifest["person"]
    assert "several rows" not in " ".join(manifest["not_promised"])
    assert 4 == manifest["files"][0]["rows"]
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text())
    told = {"rows": 6, "people": 4, "most": 2, "tied": 0}
    assert told == custody["people"]
    public = (tmp_path / "out" / "release.json").read_text()
    assert '"most": 2' not in public
    assert "tied" not in public
    assert "6 rows stood for 4 people, up to 2 for one." in again.notes
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "Of ill it shows the list of different values." in note


@pytest.mark.parametrize("format_", ["xlsx", "sav", "dta"])
def test_lists_in_files_that_know_none_are_json(format_: str, tmp_path: Path) -> None:
    accepted = [pv.Accepted(about="ill", why="because", who="Ada")]
    policy = pv.Policy([PROMISE], pv.Roles(**ROLES), accepted=accepted)
    with read(PERSON, ROWS) as table:
        release = pv.publish(table, policy)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format=format_)
    found = pv.verify(tmp_path / "out", custody=tmp_path / "vault")
    assert found.good, found.problems
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert "json" == manifest["columns"]["ill"]["lists"]
    assert "each written as JSON" in (tmp_path / "out" / "README.txt").read_text()


def test_without_person_a_unit_is_refused_with_advice() -> None:
    with pv.read(pa.table(ROWS), **ROLES, unit="id") as table:
        with pytest.raises(pv.InputError, match=r"\[person\] in the policy"):
            pv.publish(table, [PROMISE])
        assert "people" == table.counted


def test_a_policy_survives_its_file() -> None:
    policy = pv.Policy([PROMISE], pv.Roles(unit="id"), person=PERSON)
    assert policy == pv.Policy.from_toml(policy.to_toml())
    text = policy.to_toml().replace('set = ["ill"]', 'set = ["ill"]\nmean = "x"')
    with pytest.raises(pv.PolicyError, match="'mean' is not a key of person"):
        pv.Policy.from_toml(text)


def test_a_policy_names_the_line_of_a_column_that_is_missing() -> None:
    stated = pv.Policy([PROMISE], pv.Roles(**ROLES), person={**PERSON, "most": "age"})
    policy = pv.Policy.from_toml(stated.to_toml())
    with pv.read(pa.table(ROWS)) as table:
        with pytest.raises(pv.PolicyError, match=r"person\.most must name columns"):
            pv.audit(table, policy)


def test_a_ledger_knows_people_by_their_column(tmp_path: Path) -> None:
    """A second release of the same people is found to be of the same people."""
    path = tmp_path / "visits.csv"
    names = list(ROWS)
    lines = [",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
    path.write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
    roles = pv.Roles(**{**ROLES, "unit": "id"})
    pv.Ledger.create(tmp_path / "ledger")
    single = {"order": "visit", "last": ["town", "ill"]}
    policy = pv.Policy([PROMISE], roles, person=single, ledger=str(tmp_path / "ledger"))
    for name in ("one", "two"):
        with pv.read(path) as table:
            release = pv.publish(table, policy)
            assert release.history is not None
            release.write(tmp_path / name, custody=tmp_path / f"v-{name}")
            assert release.history.safe
    assert 1 == len(release.history.earlier)


def test_lists_with_an_earlier_release_are_left_open(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with read(PERSON, ROWS) as table:
        made = pa.Table.from_pylist(people(table)).drop_columns(["id", "visit"])
    pa.parquet.write_table(made, path)
    roles = pv.Roles(quasi=["sex", "town"], sensitive="ill")
    pv.Ledger.create(tmp_path / "ledger")
    policy = pv.Policy([PROMISE], roles, ledger=str(tmp_path / "ledger"))
    with pv.read(path) as table:
        pv.publish(table, policy).write(tmp_path / "one", custody=tmp_path / "v")
        second = pv.publish(table, policy)
    assert second.history is not None
    assert pv.Verdict.UNDECIDED is second.history.verdict


def test_views_and_disguises_are_of_people(tmp_path: Path) -> None:
    person = {**PERSON, "last": ["town", "ill"], "set": ()}
    with read(person, ROWS) as table:
        views = pv.Views(table, ["sex", "town"], ["town", "ill"])
        assert 4 == len(views.table)
    roles = pv.Roles(quasi=["sex", "town"], sensitive="ill", drop="visit", unit="id")
    promise = pv.Promise(pv.Bayesian(), pv.Ratio(9), "sex", name="sex")
    policy = pv.Policy(
        [promise], roles, person={k: person[k] for k in ("order", "last")}
    )
    (tmp_path / "design.toml").write_text(
        '[[question]]\nname = "sex"\nvalues = ["f", "m"]\ntruth = 0.8\n'
    )
    design = pv.Design.load(tmp_path / "design.toml")
    with pv.read(pa.table(ROWS)) as rows:
        found = pv.disguise(
            rows, design, tmp_path / "out", custody=tmp_path / "vault", policy=policy
        )
        assert 4 == found.manifest["files"][0]["rows"]
        found.close()


@pytest.mark.parametrize("hold_back", [False, True])
def test_a_later_delivery_is_of_people(hold_back: bool, tmp_path: Path) -> None:
    person = {"order": "visit", "last": ["town", "ill"]}
    roles = pv.Roles(**{**ROLES, "unit": "id"})
    policy = pv.Policy([PROMISE], roles, person=person)
    more = {
        "id": [5, 5, 6],
        "visit": [1, 2, 1],
        "sex": ["m", "m", "f"],
        "town": ["Bath", "Ely", "Ely"],
        "ill": ["hiv", "flu", "flu"],
    }
    later = {c: [*v, *more[c]] for c, v in ROWS.items()}
    with pv.read(pa.table(ROWS)) as one, pv.read(pa.table(later)) as two:
        first = pv.publish(one, policy)
        second = pv.publish(
            two, policy, recipe=first.recipe, since=one, hold_back=hold_back
        )
        assert second.safe
        waiting = second.held_back[0] if second.held_back else 0
        assert 6 - waiting == len(second.table)
        second.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good
