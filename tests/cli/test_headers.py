"""Files without a header on the command line, and a policy that remembers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import COLUMNS, KEPT, Privet

COMMANDS = (
    ["init", "bare.csv"],
    ["init", "bare.csv", "--json"],
    ["audit", "bare.csv", "-p", "kept.toml"],
    ["audit", "bare.csv", "-p", "kept.toml", "--json"],
    ["publish", "bare.csv", "-p", "kept.toml", "--dry-run"],
    ["skyline", "bare.csv", "-p", "kept.toml"],
    ["views", "bare.csv", "-p", "kept.toml"],
    ["classifier", "bare.csv", "-p", "kept.toml", "--dry-run"],
)


@pytest.fixture
def bare(privet: Privet) -> str:
    """The loans without their header; the names it had."""
    header, rows = Path("loans.csv").read_text().split("\n", maxsplit=1)
    Path("bare.csv").write_text(f"Astronaut,Iceland,No,Discharged,G,1\n{rows}")
    return header


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_asks(privet: Privet, bare: str, command: list[str]) -> None:
    asked = privet(*command)
    assert 2 == asked.exit_code
    said = asked.stdout + asked.stderr
    assert [] == [o for o in ("--header", "--no-header", "--names") if o not in said]
    assert "Astronaut" not in said
    assert "Iceland" not in said


def test_a_policy_remembers_how_the_file_is_read(privet: Privet, bare: str) -> None:
    """Drafted once, used again without a word about it."""
    made = privet("init", "bare.csv", "-o", "drafted.toml", "--names", bare)
    assert 0 == made.exit_code
    assert "Astronaut" not in Path("drafted.toml").read_text()
    names = ", ".join(f'"{n}"' for n in bare.split(","))
    Path("p.toml").write_text(f"{COLUMNS}\n[file]\nnames = [{names}]\n\n{KEPT}")
    by_policy = privet("audit", "bare.csv", "-p", "p.toml", "--json")
    by_option = privet(
        "audit", "bare.csv", "-p", "kept.toml", "--names", bare, "--json"
    )
    found, expected = json.loads(by_policy.stdout), json.loads(by_option.stdout)
    assert expected["findings"] == found["findings"]
    with_header = privet("audit", "loans.csv", "-p", "kept.toml", "--json")
    assert found["findings"] != json.loads(with_header.stdout)["findings"]  # one more


def test_what_is_said_now_goes_before_what_the_policy_says(
    privet: Privet, bare: str
) -> None:
    Path("p.toml").write_text(f"{COLUMNS}\n[file]\nheader = false\n\n{KEPT}")
    assert 2 == privet("audit", "loans.csv", "-p", "p.toml").exit_code
    assert 0 == privet("audit", "loans.csv", "-p", "p.toml", "--header").exit_code


def test_a_policy_for_a_text_file_serves_another_format(privet: Privet) -> None:
    import duckdb

    duckdb.sql("SELECT * FROM 'loans.csv'").write_parquet("loans.parquet")
    Path("p.toml").write_text(f"{COLUMNS}\n[file]\nheader = true\n\n{KEPT}")
    assert 0 == privet("audit", "loans.parquet", "-p", "p.toml").exit_code


def test_custody_remembers_and_a_recipe_is_used_again(
    privet: Privet, bare: str
) -> None:
    names = ", ".join(f'"{n}"' for n in bare.split(","))
    Path("p.toml").write_text(f"{COLUMNS}\n[file]\nnames = [{names}]\n\n{KEPT}")
    publish = ["publish", "bare.csv", "-p", "p.toml"]
    made = privet(*publish, "-o", "out", "--custody", "vault")
    assert 0 == made.exit_code, made.stderr
    record = json.loads(Path("vault/custody.json").read_text())
    assert {"names": bare.split(","), "header": False} == record["rows_from"]["reading"]
    assert 0 == privet("verify", "out", "--custody", "vault").exit_code
    for file in Path("out").rglob("*"):
        assert b"Astronaut,Iceland" not in file.read_bytes()
    Path("may.csv").write_text(Path("bare.csv").read_text())
    again = ["publish", "may.csv", "-p", "p.toml", "--recipe", "vault/recipe.json"]
    later = privet(*again, "-o", "may", "--custody", "vault-may", "--since", "bare.csv")
    assert 0 == later.exit_code, later.stderr


def test_both_answers_are_drafted(privet: Privet, bare: str) -> None:
    for option, line in (
        ("--no-header", "header = false"),
        ("--header", "header = true"),
    ):
        drafted = privet("init", "bare.csv", option)
        assert 0 == drafted.exit_code
        assert f"[file]\n{line}\n" in drafted.stdout
