"""`privet audit`: verdicts, exit codes, and what goes where."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest

from cli.conftest import BROKEN, COLUMNS, KEPT, Privet

pytestmark = pytest.mark.engines


def policy(text: str, name: str = "other.toml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


# Verdicts ---------------------------------------------------------------------------


def test_a_breach_exits_with_1(privet: Privet) -> None:
    result = privet("audit", "loans.csv", "-p", "broken.toml")
    assert 1 == result.exit_code
    assert result.stdout.startswith("✗ Breach: the promise is broken.\n")
    assert (
        "Someone who knows that a person's job is Trader and country is UK can be 80 % "
        "sure (4 of 5 rows) that bankruptcy is Discharged. Without that, 20.8 % (5 of "
        "24)."
    ) in result.stdout
    assert "" == result.stderr


def test_safety_exits_with_0(privet: Privet) -> None:
    result = privet("audit", "loans.csv", "-p", "kept.toml")
    assert 0 == result.exit_code
    assert result.stdout.startswith("✓ Safe: the promise is kept.\n")


def test_insiders_are_judged(privet: Privet) -> None:
    insider = '[[promise]]\nagainst = "insider"\nrules_out = 1\nbelow = 0.5\n'
    both = policy(COLUMNS + KEPT + insider)
    result = privet("audit", "loans.csv", "-p", both)
    assert 1 == result.exit_code
    assert "✗ Breach: 1 of 2 promises is broken." in result.stdout


def test_no_time_exits_with_3(privet: Privet) -> None:
    result = privet("audit", "loans.csv", "-p", "kept.toml", "--max-seconds", "1e-9")
    assert 3 == result.exit_code
    assert "The time limit ran out" in result.stderr


def test_nothing_to_judge_exits_with_2(privet: Privet) -> None:
    text = '[[promise]]\nagainst = "bayesian"\nwithin = 2\n'
    result = privet("audit", "loans.csv", "-p", policy(text))
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert "privet: No promise can be judged" in result.stderr


@pytest.mark.parametrize("promise", ["broken", "kept"])
def test_quiet_prints_the_verdict_only(privet: Privet, promise: str) -> None:
    result = privet("audit", "loans.csv", "-p", f"{promise}.toml", "--quiet")
    expected = {"broken": "breach\n", "kept": "safe\n"}[promise]
    assert expected == result.stdout
    assert "" == result.stderr


def test_json_is_one_object(privet: Privet) -> None:
    result = privet("audit", "loans.csv", "-p", "broken.toml", "--json")
    found = json.loads(result.stdout)
    assert "" == result.stderr
    assert 1 == result.exit_code
    assert "breach" == found["verdict"]
    (finding,) = found["findings"]
    assert ("5/24", "4/5") == (finding["prior"], finding["posterior"])
    assert {"at_most": "1/2"} == finding["limit"]
    assert "Trader" == finding["witness"]["knows"]["job"]


# Values that never occur ------------------------------------------------------------

NEVER = "Value 'Dischargd' never occurs in column 'bankruptcy'."


@pytest.fixture
def misspelt(folder: Path) -> str:
    return policy(COLUMNS + BROKEN.replace("Discharged", "Dischargd"))


def test_a_value_that_never_occurs_is_a_note(privet: Privet, misspelt: str) -> None:
    result = privet("audit", "loans.csv", "-p", misspelt)
    assert 0 == result.exit_code
    assert "" == result.stderr
    assert 1 == result.stdout.count(NEVER)
    assert "Did you mean 'Discharged'?" in result.stdout
    assert "nothing to be sure of: 0 %" in result.stdout


def test_the_note_is_in_the_json_and_nowhere_else(
    privet: Privet, misspelt: str
) -> None:
    result = privet("audit", "loans.csv", "-p", misspelt, "--json")
    (note,) = json.loads(result.stdout)["notes"]
    assert note.startswith(NEVER)
    assert "" == result.stderr


def test_a_verdict_alone_does_not_hide_the_note(privet: Privet, misspelt: str) -> None:
    result = privet("audit", "loans.csv", "-p", misspelt, "-q")
    assert "safe\n" == result.stdout
    assert 1 == result.stderr.count(NEVER)


def test_strict_makes_it_an_error(privet: Privet, misspelt: str) -> None:
    result = privet("audit", "loans.csv", "-p", misspelt, "--strict")
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert f"privet: {NEVER}" in result.stderr


# Which rows -------------------------------------------------------------------------


def verdict(privet: Privet, policy: str, *where: str) -> str:
    tests = [word for test in where for word in ("--where", test)]
    result = privet("audit", "loans.csv", "-p", policy, "-q", *tests)
    return result.stdout.strip() or result.stderr


def test_rows_are_chosen(privet: Privet) -> None:
    assert "safe" == verdict(privet, "broken.toml", "job=Clerk")
    assert "breach" == verdict(privet, "broken.toml", "job=Clerk", "job=Trader")
    assert "safe" == verdict(privet, "broken.toml", "job=Trader", "country=Canada")


def test_the_policy_chooses_rows_too(privet: Privet) -> None:
    clerks = policy(COLUMNS + BROKEN + "[where]\njob = ['Clerk', 'Doctor']\n")
    assert "safe" == verdict(privet, clerks)
    assert "safe" == verdict(privet, clerks, "country=US")
    assert "safe" == verdict(privet, clerks, "job=Doctor", "job=Trader")


def test_the_command_line_only_narrows_what_the_policy_means(privet: Privet) -> None:
    clerks = policy(COLUMNS + BROKEN + "[where]\njob = 'Clerk'\n")
    said = verdict(privet, clerks, "job=Trader")
    assert (
        "privet: --where must choose among the rows the policy means; it means job to "
        "be 'Clerk'.\n"
    ) == said


def test_missing_values_can_be_chosen(privet: Privet) -> None:
    Path("loans.csv").write_text(
        "job,country,child,bankruptcy,rating,count\n"
        "Cook,UK,No,Never,G,1\n,UK,No,Never,G,2\n",
        encoding="utf-8",
    )
    result = privet(
        "audit", "loans.csv", "-p", "kept.toml", "--where", "job=", "--json"
    )
    (finding,) = json.loads(result.stdout)["findings"]
    assert 1 == finding["groups"]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (["jop=Clerk"], "Column 'jop' of where must exist. Did you mean 'job'?"),
        (["job=Astronaut"], "must have rows"),
        (["job"], "--where must be COLUMN=VALUE; got 'job'."),
    ],
)
def test_rows_that_cannot_be_chosen(
    privet: Privet, where: list[str], said: str
) -> None:
    result = privet("audit", "loans.csv", "-p", "kept.toml", "--where", *where)
    assert 2 == result.exit_code
    assert said in result.stderr


def test_wrong_columns_are_said_with_lines_whatever_rows_are_meant(
    privet: Privet,
) -> None:
    text = "[where]\nyear = 2024\n" + (COLUMNS + KEPT).replace('"job"', '"jop"')
    result = privet("audit", "loans.csv", "-p", policy(text))
    assert 2 == result.exit_code
    lines = result.stderr.splitlines()
    assert "privet: other.toml:2: where.year must name columns of the table" in lines[0]
    assert 3 == len(lines)


# Sources ----------------------------------------------------------------------------


@pytest.fixture
def sources(folder: Path) -> dict[str, list[str]]:
    """The same loans in every format there is."""
    loans = pyarrow.csv.read_csv("loans.csv")
    pyarrow.parquet.write_table(loans, "loans.parquet")
    with duckdb.connect("loans.duckdb") as con:
        con.execute("CREATE TABLE loans AS FROM read_csv('loans.csv')")
    rows = [json.dumps(row) for row in loans.to_pylist()]
    Path("loans.jsonl").write_text("\n".join(rows), encoding="utf-8")
    first, *rest = Path("loans.csv").read_text(encoding="utf-8").splitlines()
    for name, some in (("part-1.csv", rest[:4]), ("part-2.csv", rest[4:])):
        Path(name).write_text("\n".join([first, *some]), encoding="utf-8")
    semicolons = "\n".join([first, *rest]).replace(",", ";").encode("utf-16")
    Path("loans.txt").write_bytes(semicolons)
    return {
        "csv": ["loans.csv"],
        "parquet": ["loans.parquet"],
        "jsonl": ["loans.jsonl"],
        "duckdb": ["loans.duckdb", "--table", "loans"],
        "pattern": ["part-*.csv"],
        "text": ["loans.txt", "--encoding", "utf-16", "--delimiter", ";"],
    }


@pytest.mark.parametrize(
    "kind", ["csv", "parquet", "jsonl", "duckdb", "pattern", "text"]
)
def test_every_format_gives_the_same_answer(
    privet: Privet, sources: dict[str, list[str]], kind: str
) -> None:
    limits = ["--memory-limit", "500MB", "--threads", "1", "--spill", "."]
    result = privet("audit", *sources[kind], "-p", "broken.toml", "--json", *limits)
    (finding,) = json.loads(result.stdout)["findings"]
    assert ("5/24", "4/5") == (finding["prior"], finding["posterior"])


def test_files_without_a_header(privet: Privet) -> None:
    header, rows = Path("loans.csv").read_text().split("\n", maxsplit=1)
    Path("bare.csv").write_text(rows)
    words = ["audit", "bare.csv", "-p", "broken.toml", "--json", "--names", header]
    (finding,) = json.loads(privet(*words).stdout)["findings"]
    assert ("5/24", "4/5") == (finding["prior"], finding["posterior"])


def test_texts_may_stand_for_missing_values(privet: Privet) -> None:
    result = privet(
        "audit", "loans.csv", "-p", "broken.toml", "--null", "Trader", "--json"
    )
    (finding,) = json.loads(result.stdout)["findings"]
    assert {"job": None, "country": "UK"} == finding["witness"]["knows"]
