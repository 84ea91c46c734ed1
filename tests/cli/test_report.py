"""`privet report`: what is written, to whom, and what the exit code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Privet

PUBLISH = ("publish", "loans.csv", "-p", "broken.toml", "-o", "out")


@pytest.fixture
def released(folder: Path, privet: Privet) -> Path:
    """A release in out, its record in vault."""
    assert 0 == privet(*PUBLISH, "--custody", "vault", "-q").exit_code
    return folder


@pytest.mark.parametrize(("policy", "code"), [("broken", 1), ("kept", 0)])
def test_a_table_is_judged_and_reported(
    folder: Path, privet: Privet, policy: str, code: int
) -> None:
    found = privet("report", "loans.csv", "-p", f"{policy}.toml", "-o", "a.html")
    assert code == found.exit_code
    assert "Written: a.html." in found.output
    assert "It is private" in found.stderr
    assert "<!DOCTYPE html>" in (folder / "a.html").read_text("utf-8")


def test_a_release_is_reported_with_its_record(released: Path, privet: Privet) -> None:
    found = privet("report", "out", "--custody", "vault", "-o", "r.json", "--json")
    assert 0 == found.exit_code
    assert {
        "file": "r.json",
        "format": "json",
        "private": True,
        "verdict": "safe",
    } == json.loads(found.stdout)
    record = json.loads((released / "r.json").read_text("utf-8"))
    assert record["private"]
    assert "80 %" in json.dumps(record["sections"], ensure_ascii=False)


def test_a_release_is_judged_by_another_policy(released: Path, privet: Privet) -> None:
    found = privet("report", "out", "-p", "kept.toml", "-o", "r.md", "-q")
    assert (0, "r.md\n") == (found.exit_code, found.stdout)
    text = (released / "r.md").read_text("utf-8")
    assert "nearly nobody learns a discharge" in text


def test_a_public_note_needs_the_folder_alone(released: Path, privet: Privet) -> None:
    found = privet("report", "out", "--public", "-o", "n.html")
    assert 0 == found.exit_code
    assert "" == found.stderr
    assert "PRIVATE" not in (released / "n.html").read_text("utf-8")


def test_a_catalogue_is_told_what_was_stated(released: Path, privet: Privet) -> None:
    state = ("--state", "license=https://example.org/l", "--state", "creator=A = B")
    found = privet("report", "out", "--format", "croissant", "-o", "c.json", *state)
    assert 0 == found.exit_code
    assert "give them with --state: url, published" in found.stderr
    told = json.loads((released / "c.json").read_text("utf-8"))
    assert "https://example.org/l" == told["license"]
    assert "A = B" == told["creator"]["name"]


def test_a_ledger_is_reported(folder: Path, privet: Privet) -> None:
    privet("ledger", "new", "book")
    found = privet("report", "book", "-o", "l.md")
    assert 0 == found.exit_code
    assert "Ledger of releases" in (folder / "l.md").read_text("utf-8")


def test_a_comparison_is_reported(folder: Path, privet: Privet) -> None:
    call = ("compare", "loans.csv", "-p", "kept.toml", "--methods", "mondrian", "-q")
    privet(*call, "--report", "c.md")
    assert "Comparison of methods" in (folder / "c.md").read_text("utf-8")
    again = privet(*call, "--report", "c.md")
    assert 2 == again.exit_code
    assert "must not exist yet" in again.stderr


WRONG = {
    "no policy": (["loans.csv", "-o", "a.html"], "Missing option '--policy'"),
    "nothing there": (["none.csv", "-o", "a.html"], "must exist"),
    "an unknown ending": (["loans.csv", "-o", "a.doc"], "must end in one of"),
    "a record of a table": (
        ["loans.csv", "-p", "kept.toml", "--custody", "v", "-o", "a.html"],
        "--custody goes with the folder of a release",
    ),
    "a note of a table": (
        ["loans.csv", "-p", "kept.toml", "--public", "-o", "a.html"],
        "A public note is of a release",
    ),
    "a note with a record": (
        ["out", "--public", "--custody", "vault", "-o", "a.html"],
        "A public note is made without -p and --custody",
    ),
    "something stated of a page": (
        ["out", "--state", "license=x", "-o", "a.html"],
        "--state goes with --format croissant and dcat",
    ),
    "something without a name": (
        ["out", "--format", "dcat", "--state", "x", "-o", "a.json"],
        "--state must be KEY=TEXT",
    ),
    "an unknown statement": (
        ["out", "--format", "dcat", "--state", "licence=x", "-o", "a.json"],
        "must be one of license, url, creator, published",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_told_and_nothing_is_written(
    released: Path, privet: Privet, case: str
) -> None:
    words, said = WRONG[case]
    before = {p.name for p in released.iterdir()}
    found = privet("report", *words)
    assert 2 == found.exit_code
    assert said in found.stderr
    assert before == {p.name for p in released.iterdir()}


def test_nothing_is_written_over(released: Path, privet: Privet) -> None:
    call = ("report", "out", "--public", "-o", "n.md")
    assert 0 == privet(*call).exit_code
    assert 2 == privet(*call).exit_code
    assert 0 == privet(*call, "--replace").exit_code
