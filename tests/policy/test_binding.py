"""A policy is held against the columns of a table, all of it at once, with lines."""

from __future__ import annotations

import pytest

from policy.examples import DESIGN
from privet import Ceiling, Linker, Policy, PolicyError, Promise, Roles
from privet.values.schema import Column, Schema

LOANS = ("name", "job", "country", "child", "bankruptcy", "rating")


def schema(*columns: str, roles: Roles | None = None) -> Schema:
    return Schema(tuple(Column(c) for c in columns or LOANS), roles or Roles())


def problems(text: str, *columns: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, file="p.toml").bind(schema(*columns))
    return str(caught.value).splitlines()


def test_a_policy_that_fits_gives_its_roles() -> None:
    policy = Policy.from_toml(DESIGN)
    assert policy.roles == policy.bind(schema())


def test_a_policy_without_roles_leaves_those_of_the_table() -> None:
    policy = Policy(Promise(Linker(), Ceiling("1/2")))
    own = Roles(quasi="job", sensitive="bankruptcy")
    assert own == policy.bind(schema(roles=own))


def test_every_column_that_is_not_there_is_said_with_its_line() -> None:
    text = """\
[columns]
identifier = "nam"
quasi = ["jop", "country", "chld"]
sensitive = "bankrupcy"
target = "ratng"
[bins]
age = [18]
[where]
year = 2024
[[promise]]
against = "linker"
knows = ["job", "cuntry"]
about = "bankrupcy"
at_most = 0.5
[[promise]]
against = "insider"
about = { bankrupcy = "Discharged" }
below = 0.5
[[promise]]
against = "reconstructor"
about = { nam = "Tom", job = "Cook" }
below = 0.5
"""
    said = problems(text)
    expected = [
        (2, "columns.identifier", "nam", "name"),
        (3, "columns.quasi", "jop", "job"),
        (3, "columns.quasi", "chld", "child"),
        (4, "columns.sensitive", "bankrupcy", "bankruptcy"),
        (5, "columns.target", "ratng", "rating"),
        (7, "bins.age", "age", "name"),
        (9, "where.year", "year", None),
        (12, "promise[1].knows", "cuntry", "country"),
        (13, "promise[1].about", "bankrupcy", "bankruptcy"),
        (17, "promise[2].about", "bankrupcy", "bankruptcy"),
        (21, "promise[3].about", "nam", "name"),
    ]
    assert len(expected) == len(said)
    for line, (number, key, got, near) in zip(said, expected, strict=True):
        rule = f"p.toml:{number}: {key} must name columns of the table; got {got!r}. "
        assert line.startswith(rule)
        assert near is None or f"{near!r}" in line


def test_what_a_bayesian_is_about_may_be_a_class() -> None:
    text = "[[promise]]\nagainst = 'bayesian'\nabout = '70K'\nfrom = 0.5\nto = 0.8"
    assert Roles() == Policy.from_toml(text).bind(schema())


COLUMNS = """\
[columns]
identifier = "name"
quasi = ["job", "country"]
sensitive = ["bankruptcy", "rating"]
unit = "name"
[[promise]]
against = "linker"
about = "bankruptcy"
"""


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "knows = 'name'",
            "9: promise[1].knows must not hold an identifier; got 'name",
        ),
        ("knows = ['job', 'bankruptcy']", "9: promise[1].knows must not hold what the"),
    ],
)
def test_what_a_linker_may_know(keys: str, said: str) -> None:
    first, *_ = problems(f"{COLUMNS}{keys}\nat_most = 0.5")
    assert first.startswith(f"p.toml:{said}")


def test_it_must_not_be_about_an_identifier() -> None:
    text = COLUMNS.replace('about = "bankruptcy"', 'about = "name"')
    first, *_ = problems(text + "at_most = 0.5")
    assert "p.toml:8: promise[1].about must not be an identifier; got 'name'." == first


def test_weights_and_units_are_nothing_to_know() -> None:
    text = (
        "[columns]\nquasi = 'job'\nsensitive = 'rating'\nweight = 'child'\n"
        "[[promise]]\nagainst = 'linker'\nknows = 'child'\nat_most = 0.5\n"
        "[[promise]]\nagainst = 'linker'\nabout = 'child'\nat_most = 0.5\n"
    )
    assert [
        "p.toml:7: promise[1].knows must not hold the unit or weight; got 'child'.",
        "p.toml:11: promise[2].about must not be the unit or weight; got 'child'.",
    ] == problems(text)


def test_what_must_be_said_when_columns_do_not() -> None:
    text = (
        "[columns]\nsensitive = ['bankruptcy', 'rating']\n"
        "[[promise]]\nagainst = 'linker'\nwithin = 2\n"
        "[[promise]]\nagainst = 'insider'\nat_most = 0.5\n"
    )
    assert [
        "p.toml:3: promise[1].about must name a column unless one is sensitive; "
        "got 'bankruptcy', 'rating'.",
        "p.toml:3: promise[1].knows must name columns unless some are quasi; got none.",
        "p.toml:5: promise[1] must be limited by at_most or below against a linker; "
        "got within.",
        "p.toml:6: promise[2].about must name a column unless one is sensitive; "
        "got 'bankruptcy', 'rating'.",
    ] == problems(text)


def test_a_policy_made_in_python_has_no_lines() -> None:
    policy = Policy(Promise(Linker("jop"), Ceiling("1/2"), "rating"))
    with pytest.raises(PolicyError) as caught:
        policy.bind(schema())
    assert None is caught.value.line
    assert str(caught.value).startswith("promise[1].knows must name columns of the ta")
