"""Drafts for several rows per person and for numbers: they parse, audit and publish."""

from __future__ import annotations

import datetime as dt
import random
import tomllib
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import privet as pv

Row = dict[str, Any]
ILL = ("flu", "hiv", "asthma", "cancer", "none")


def draw_visits(people: int = 60, **more: Any) -> list[Row]:
    """One to four visits of each patient; `more` is drawn for each row."""
    dice = random.Random(19)
    rows = []
    for who in range(people):
        same = {"patient_id": who, "sex": dice.choice("FM")}
        for visit in range(dice.randint(1, 4)):
            day = dt.date(2024, 1, 1) + dt.timedelta(dice.randrange(300))
            seen = {"visit_date": day, "year": 2000 + visit, "ward": dice.choice("ABC")}
            found = {"diagnosis": dice.choice(ILL), "income": dice.randrange(900, 9000)}
            drawn = {name: draw(dice) for name, draw in more.items()}
            rows.append({**same, **seen, **found, **drawn})
    return rows


def draft(rows: list[Row], *left_out: str) -> tuple[pa.Table, pv.PolicyDraft]:
    frame = pa.Table.from_pylist(rows).drop_columns(list(left_out))
    with pv.read(frame) as table:
        return frame, pv.draft_policy(table)


def read_person(drafted: pv.PolicyDraft) -> dict[str, list[str]] | None:
    person = tomllib.loads(drafted.text).get("person")
    kept = drafted.policy.person
    assert person == (None if kept is None else dict(kept.to_dict()))
    return person


def test_each_column_that_differs_has_a_rule_and_no_other() -> None:
    """By date: the last; lists of what is sensitive, the largest of its numbers."""
    _, drafted = draft(draw_visits())
    person = read_person(drafted)
    assert person is not None
    assert ["visit_date"] == person["order"]
    assert {"visit_date", "year", "ward"} == set(person["last"])
    assert (["diagnosis"], ["income"]) == (person["set"], person["most"])
    assert {"order", "last", "set", "most"} == set(person)


def test_a_number_orders_rows_only_if_each_row_of_a_person_has_its_own() -> None:
    size = {"height": lambda dice: dice.choice([150, 160, 170, 180])}
    _, years = draft(draw_visits(**size), "visit_date")
    assert ["year"] == (read_person(years) or {})["order"]
    _, none = draft(draw_visits(**size), "visit_date", "year")
    person = read_person(none)
    assert person is not None
    assert {"ward", "height"} == set(person["commonest"])
    assert not {"order", "last"} & set(person)


def test_where_nothing_differs_no_rule_is_drafted() -> None:
    rows = [r for r in draw_visits() for _ in range(2)]
    one = {r["patient_id"]: r for r in rows}
    _, drafted = draft([one[r["patient_id"]] for r in rows])
    assert not read_person(drafted)


def test_without_a_unit_rows_are_people() -> None:
    _, drafted = draft(draw_visits(), "patient_id")
    assert read_person(drafted) is None
    assert "[person]" not in drafted.text


def test_of_wide_tables_a_person_says_it() -> None:
    wide = {f"answer_{i}": lambda dice: dice.choice("abc") for i in range(45)}
    frame, drafted = draft(draw_visits(30, **wide))
    assert "patient_id" == drafted.policy.roles.unit
    assert read_person(drafted) is None
    assert "\n#[person]\n" in drafted.text
    with pytest.raises(pv.InputError, match="Say how rows become people"):
        pv.publish(frame, drafted.policy)


def test_missing_ids_do_not_stop_a_draft() -> None:
    rows = draw_visits()
    for row in rows[::10]:
        row["patient_id"] = None
    frame, drafted = draft(rows)
    assert pv.audit(frame, drafted.policy).findings


@pytest.mark.parametrize("method", [None, pv.Mondrian()])
def test_a_draft_for_visits_is_published(method: Any) -> None:
    frame, drafted = draft(draw_visits(), "year")
    audit = pv.audit(frame, drafted.policy)
    assert pv.Verdict.BREACH is audit.verdict
    release = pv.publish(frame, drafted.policy, method=method, utility=False)
    assert release.audit.safe
    assert 60 == release.audit.exposure.people


@pytest.mark.parametrize("seed", range(4))
def test_no_window_of_everybody_is_fuller_than_the_drafted_limit(seed: int) -> None:
    dice = random.Random(seed)
    crowd = dice.choice([0.1, 0.4, 0.65, 0.85])
    pay = [
        dice.randint(1000, 1090) if dice.random() < crowd else dice.randint(900, 90_000)
        for _ in range(80)
    ]
    frame = pa.table({"sex": ["F", "M"] * 40, "salary": pay})
    with pv.read(frame) as table:
        (stated,) = pv.draft_policy(table).policy.promises
    assert "10 %" == str(stated.about["salary"])
    fullest = max(sum(a <= b <= a * Fraction(11, 10) for b in pay) for a in pay)
    assert Fraction(fullest, len(pay)) < stated.limit.level
    everybody = pv.Promise(pv.Linker(knows=[]), stated.limit, stated.about)
    roles = {"quasi": "sex", "sensitive": "salary"}
    found = pv.audit(pv.read(frame, **roles), everybody, exposure=False).findings[0]
    assert pv.Verdict.SAFE is found.verdict


def test_a_fine_sensitive_target_does_not_stand_in_the_way() -> None:
    """As the target it would be known, and tell nearly everybody apart."""
    dice = random.Random(3)
    rows = [
        {
            "age": dice.randint(20, 60),
            **{c: dice.choice(ILL) for c in ("diagnosis", "treatment", "dose")},
            "y": dice.randint(0, 60),
        }
        for _ in range(60)
    ]
    frame, drafted = draft(rows)
    assert {"diagnosis", "treatment", "dose", "y"} == {*drafted.policy.roles.sensitive}
    assert drafted.policy.roles.target is None
    assert pv.publish(frame, drafted.policy, utility=False).audit.safe
