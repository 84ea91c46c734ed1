"""Odd input on the command line: names that cannot be seen, long numbers, passwords."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from .conftest import COLUMNS, KEPT, Privet

JOB, TOWN, ILL = "job\u202exyz", "to\x1b[31mwn", "ill\u2066\u200b"

ROWS = [
    *("Cook,Bonn,flu", "Cook,Bonn,none", "Smith,Bonn,cold"),
    *("Smith,Rome,flu", "Smith,Rome,none", "Cook,Rome,cold"),
] * 3


def quote(name: str) -> str:
    return json.dumps(name)


POLICY = f"""
title = "t\\u202Eitle"
[columns]
quasi = [{quote(JOB)}, {quote(TOWN)}]
sensitive = {quote(ILL)}
target = {quote(ILL)}
[[promise]]
name = "p\\u202Ename"
against = "linker"
knows = [{quote(JOB)}, {quote(TOWN)}]
about = {quote(ILL)}
at_most = 0.9
[[promise]]
against = "reconstructor"
about = {{ {quote(JOB)} = "Cook", {quote(ILL)} = "flu" }}
at_most = 0.9
[[view]]
columns = [{quote(JOB)}, {quote(TOWN)}]
[[view]]
columns = [{quote(TOWN)}, {quote(ILL)}]
[[measure]]
k_anonymity = 2
"""

COMMANDS = (
    "init odd.csv",
    "audit odd.csv -p odd.toml",
    "discover odd.csv -p odd.toml",
    "skyline odd.csv -p odd.toml",
    "views odd.csv -p odd.toml",
    "publish odd.csv -p odd.toml --dry-run",
    "publish odd.csv -p odd.toml -o out --custody vault --format csv",
    "publish odd.csv -p odd.toml -o out --custody vault --method mondrian",
    "audit odd.csv -p odd.toml --where none=1",
)


def unseen(text: str) -> set[str]:
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    return {c for c in text if unicodedata.category(c) in kinds} - {"\n", "\t"}


@pytest.mark.parametrize("as_json", [[], ["--json"]])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_seen_is_escaped(
    privet: Privet, command: str, as_json: list[str]
) -> None:
    lines = [",".join((JOB, TOWN, ILL)), *ROWS]
    Path("odd.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("odd.toml").write_text(POLICY, encoding="utf-8")
    result = privet(*command.split(), *as_json)
    assert result.exit_code in (0, 1, 2)
    assert set() == unseen(result.stdout + result.stderr)
    if as_json and result.exit_code < 2:
        json.loads(result.stdout)
    for file in (*Path().glob("out/*.json"), *Path().glob("*/*.txt")):
        assert set() == unseen(file.read_text(encoding="utf-8"))
    if Path("out").exists():
        stated = json.loads(Path("out/release.json").read_text(encoding="utf-8"))
        assert {JOB, TOWN, ILL} == set(stated["columns"])
        assert 0 == privet("verify", "out", "--custody", "vault").exit_code


LONG = "0." + "3" * 5_000


@pytest.mark.parametrize("chance", [LONG, f'"1/{"3" * 4_200}"', f'"{LONG}"', "1e-5000"])
def test_a_chance_of_thousands_of_digits_is_refused(
    privet: Privet, chance: str
) -> None:
    Path("design.toml").write_text(
        '[[question]]\nname = "smokes"\nask = "Do you smoke?"\n'
        f'values = ["yes", "no"]\ntruth = {chance}\n'
    )
    planned = privet("plan", "design.toml")
    assert 2 == planned.exit_code
    assert "truth must" in planned.stderr
    assert len(planned.stderr) < 400
    Path("long.toml").write_text(COLUMNS + KEPT.replace("0.8", chance))
    judged = privet("audit", "loans.csv", "-p", "long.toml")
    assert 2 == judged.exit_code
    assert len(judged.stderr) < 400


@pytest.mark.parametrize("command", ["audit", "init", "publish", "skyline"])
@pytest.mark.parametrize(
    "table",
    [
        "host=h password=hunter2 dbname=x",
        "ann:hunter2@host/db",
        "postgresql://ann:hunter2@localhost:1/db?password=hunter2",
        "mysql://ann:hunter2@localhost:1/db",
    ],
)
def test_a_password_is_not_echoed(privet: Privet, command: str, table: str) -> None:
    more = [] if command == "init" else ["-p", "kept.toml"]
    more += ["--dry-run"] if command == "publish" else []
    for asked in ([], ["--json"], ["--table", "people"]):
        told = privet(command, table, *more, *asked)
        assert 2 == told.exit_code
        assert "hunter2" not in told.stdout + told.stderr


def test_a_password_in_place_of_a_folder_is_not_echoed(privet: Privet) -> None:
    address = "postgresql://ann:hunter2@localhost:1/db"
    for words in (["verify", address], ["audit", "loans.csv", "-p", address]):
        told = privet(*words)
        assert 2 == told.exit_code
        assert "hunter2" not in told.stdout + told.stderr


def test_a_custody_of_groups_is_told_for_what_it_is(privet: Privet) -> None:
    Path("k.toml").write_text(f"{COLUMNS}{KEPT}[[measure]]\nk_anonymity = 2\n")
    places = ["-o", "out", "--custody", "vault"]
    made = privet(
        "publish", "loans.csv", "-p", "k.toml", "--method", "mondrian", *places
    )
    assert 0 == made.exit_code, made.stderr
    Path("e.toml").write_text(f'{COLUMNS}{KEPT}[[earlier]]\ncustody = "vault"\n')
    told = privet("publish", "loans.csv", "-p", "e.toml", "--dry-run")
    assert 2 == told.exit_code
    assert (
        "must be that of a table with values hidden; it is that of a table of people "
        "in groups, as mondrian makes it." in told.stderr
    )
