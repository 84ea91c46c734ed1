"""`privet audit RELEASE --as minimality`: what whoever knows the method learns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Privet

PEOPLE = """\
job,town,ill
Clerk,Rome,no
Clerk,Oslo,no
Baker,Bonn,no
Clerk,Bonn,yes
"""

POLICY = """\
[columns]
quasi = ["job", "town"]
sensitive = "ill"

[[promise]]
name = "half"
against = "linker"
knows = ["job", "town"]
about = { ill = "yes" }
at_most = 0.5
"""

ATTACK = ("audit", "out", "--as", "minimality", "-p", "policy.toml")


@pytest.fixture
def released(privet: Privet, folder: Path) -> Privet:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    place = ("-o", "out", "--custody", "vault")
    made = privet("publish", "people.csv", "-p", "policy.toml", *place)
    assert 0 == made.exit_code, made.output
    assert "Of 8 tables that this file allows, 1 would give it." in made.stdout
    return privet


def test_accuses_with_1(released: Privet) -> None:
    assert 0 == released("audit", "out", "-p", "policy.toml").exit_code
    result = released(*ATTACK, "--custody", "vault")
    assert 1 == result.exit_code
    assert (
        "Whoever also knows that a person's job is Clerk and town is Bonn can be 100 % "
        "sure (1) that ill is yes; from the file alone 50 % (1/2). Limit: at most 50 %."
    ) in result.stdout
    assert "1 of 2 beliefs is beyond a limit." in result.stdout


def test_dictionaries_can_be_named(released: Privet) -> None:
    named = [w for t in ("Bonn", "Rome") for w in ("--domain", f"town={t}")]
    told = json.loads(released(*ATTACK, *named, "--json").stdout)
    assert ("minimality", "breach", "attack") == (
        told["as"],
        told["verdict"],
        told["basis"],
    )
    assert ("1/2", "1") == (told["beliefs"][0]["without"], told["beliefs"][0]["with"])
    assert (8, 1) == (told["tables"], told["fitting"])


def test_nothing_beyond_is_no_verdict(released: Privet, folder: Path) -> None:
    """An attack that finds nothing proves nothing: there is no word for it."""
    rows = [
        f"{'AB'[i % 2]},{'xy'[i // 2]},{'yes' if i < 2 else 'no'}" for i in range(4)
    ]
    lines = "job,town,ill\n" + "\n".join([*rows, *rows[2:]]) + "\n"
    (folder / "more.csv").write_text(lines, encoding="utf-8")
    place = ("-o", "more", "--custody", "kept")
    made = released("publish", "more.csv", "-p", "policy.toml", *place)
    assert 0 == made.exit_code
    result = released("audit", "more", *ATTACK[2:], "--custody", "kept", "--json")
    assert 0 == result.exit_code
    assert json.loads(result.stdout)["verdict"] is None
    assert "proves nothing" in json.loads(result.stdout)["words"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (ATTACK, "--domain COLUMN=VALUE"),
        (("audit", "people.csv", *ATTACK[2:]), "attacks the folder of a release"),
        (("audit", "out", "-p", "policy.toml", "--domain", "a=b"), "--as minimality"),
        ((*ATTACK, "--domain", "town"), "--domain must be COLUMN=VALUE"),
        ((*ATTACK, "--custody", "nowhere"), "must be a recipe"),
    ],
)
def test_wrong_use(released: Privet, words: tuple[str, ...], said: str) -> None:
    result = released(*words)
    assert 2 == result.exit_code
    assert said in result.stderr


def test_no_time_exits_with_3(released: Privet) -> None:
    result = released(*ATTACK, "--custody", "vault", "--max-seconds", "1e-9")
    assert 3 == result.exit_code
    assert "The time limit ran out" in result.stderr
