"""Roles and entries of a policy that say what is left open."""

from __future__ import annotations

import pytest

import privet as pv

TEXT = """
title = "Ward list"
ledger = "book"

[columns]
identifier = ["name"]
quasi = ["age"]
sensitive = ["illness"]
other = ["ward", "month"]
drop = ["note"]

[derived]
month = "admitted"
ward = { not_from = ["age", "month"], why = "wards are given by lot" }

[[promise]]
name = "nobody learns an illness"
against = "linker"
about = "illness"
at_most = "1/2"

[[accepted]]
about = "illness"
up_to = 12
why = "the ward agreed"
who = "Dr. A"

[[accepted]]
of = "inversion"
why = "the counts are public"
who = "Dr. A"
"""


def test_a_policy_with_them_survives_a_round_trip() -> None:
    policy = pv.Policy.from_toml(TEXT)
    assert ("ward", "month") == policy.roles.other
    assert ("note",) == policy.roles.drop
    assert "book" == policy.ledger
    assert (
        pv.Accepted("illness", up_to=12, why="the ward agreed", who="Dr. A"),
        pv.Accepted(of="inversion", why="the counts are public", who="Dr. A"),
    ) == policy.accepted
    assert (
        pv.DerivedColumn("month", "admitted"),
        pv.DerivedColumn("ward", ["age", "month"], denied="wards are given by lot"),
    ) == policy.derived
    assert policy == pv.Policy.from_toml(policy.to_toml())


def test_an_entry_covers_so_many_people() -> None:
    entry = pv.Accepted("illness", up_to=12, why="x")
    assert [True, False] == [entry.covers(12), entry.covers(13)]
    assert pv.Accepted("illness", why="x").covers(10**9)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"about": "a"}, "why must give a reason"),
        ({"about": "a", "why": "x", "of": "luck"}, "of must be one of"),
        ({"why": "x"}, "about must name a column"),
        ({"about": "a", "why": "x", "up_to": -1}, "up_to must be a number of people"),
        ({"about": "a", "why": "x", "up_to": True}, "up_to must be"),
    ],
)
def test_nonsense_is_refused_at_birth(given: dict[str, object], rule: str) -> None:
    with pytest.raises(pv.InputError, match=rule):
        pv.Accepted(**given)


def test_the_file_tells_its_problems_with_their_lines() -> None:
    text = TEXT.replace('why = "the ward agreed"\n', "").replace(
        '"admitted"', '["a", "b", "c"]'
    )
    with pytest.raises(pv.PolicyError) as caught:
        pv.Policy.from_toml(text, file="p.toml")
    said = str(caught.value)
    assert "accepted[1] must have why." in said
    assert "derived.month: A derived column must be told by one or two" in said
    assert [13, 22] == [p.line for p in caught.value.problems]


def test_known_columns_are_those_somebody_may_have() -> None:
    roles = pv.Roles(
        quasi=["age"], sensitive=["ill"], other=["ward"], drop=["x"], target="grade"
    )
    assert ("age", "ward", "grade") == roles.list_known("ill")
    assert ("age", "ward") == roles.list_known("grade")


def test_roles_exclude_each_other() -> None:
    with pytest.raises(pv.RoleConflict, match="got other and drop"):
        pv.Roles(other=["a"], drop=["a"])
