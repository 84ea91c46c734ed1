"""`privet demo`: a folder of its own, made again on request, nothing else touched."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.conftest import Privet

pytestmark = pytest.mark.engines
FEW = ("--rows", "1000")


def test_a_demo_shows_a_breach_and_a_release(privet: Privet) -> None:
    result = privet("demo", *FEW)
    assert 0 == result.exit_code
    assert result.stdout.startswith("✗ Breach: 5 of 6 promises are broken.\n")
    assert "zip is 04417 and occupation is Fire fighter" in result.stdout
    assert "✓ SAFE  the insurer learns of no HIV" in result.stdout
    assert "✓ Safe: every promise is kept (6)." in result.stdout
    assert result.stdout.endswith("Verified.\n")
    made = {p.name for p in Path("privet-demo").iterdir()}
    assert {"patients.csv", "policy.toml", "release", "custody", ".privet-demo"} == made


def test_the_release_of_a_demo_covers_everybody(privet: Privet) -> None:
    assert 0 == privet("demo", "d", *FEW).exit_code
    told = json.loads(Path("d/release/release.json").read_text(encoding="utf-8"))
    exposure, column = told["exposure"], told["exposure"]["columns"]["diagnosis"]
    assert ["diagnosis"] == list(exposure["columns"])
    assert (1000, 0) == (exposure["people"], exposure["unique"])
    assert (1000, 0, 0) == tuple(column[k] for k in ("people", "unique", "certain"))
    assert 7 == len(column["known"])
    assert [0] * 4 == [limit["people"] for limit in column["beyond"]]
    assert {"safe"} == {p["verdict"] for p in told["promises"] + told["measures"]}
    assert not told.get("accepted")
    assert not {"ward", "nights", "cost", "name", "patient_id"} & set(told["columns"])
    assert 0 == privet("verify", "d/release").exit_code


def test_what_a_demo_repeats_makes_the_same_release(privet: Privet) -> None:
    told = privet("demo", "d", *FEW).stderr.splitlines()
    (line,) = (line for line in told if line.startswith("privet publish"))
    words = line.replace("d/release", "again").replace("d/custody", "kept").split()
    assert 0 == privet(*words[1:]).exit_code
    first, second = (
        Counter(map(str, pq.read_table(f"{out}/table.parquet").to_pylist()))
        for out in ("d/release", "again")
    )
    assert first == second  # in an order of its own


def test_messages_go_to_standard_error_and_can_be_repeated(privet: Privet) -> None:
    result = privet("demo", "my demo", *FEW)
    assert [
        "Made my demo/patients.csv: 1,000 patients who never lived.",
        "Made my demo/policy.toml: what the hospital promises its patients.",
        "privet audit 'my demo/patients.csv' -p 'my demo/policy.toml'",
        "privet skyline 'my demo/patients.csv' -p 'my demo/policy.toml'",
        "privet publish 'my demo/patients.csv' -p 'my demo/policy.toml' "
        "-o 'my demo/release' --custody 'my demo/custody' --method mondrian",
        "privet verify 'my demo/release'",
    ] == [line for line in result.stderr.splitlines() if line]
    again = privet("audit", "my demo/patients.csv", "-p", "my demo/policy.toml")
    assert result.stdout.startswith(again.stdout)
    assert 0 == privet("verify", "my demo/release").exit_code


def test_a_demo_is_not_written_over_unless_asked(privet: Privet) -> None:
    privet("demo", "d", *FEW)
    Path("d/notes.txt").write_text("mine", encoding="utf-8")
    Path("d/policy.toml").write_text("changed", encoding="utf-8")
    result = privet("demo", "d", *FEW)
    assert 2 == result.exit_code
    assert "it holds an earlier demo. Give --replace" in result.stderr
    assert "changed" == Path("d/policy.toml").read_text(encoding="utf-8")
    assert 0 == privet("demo", "d", "--replace", *FEW).exit_code
    assert "mine" == Path("d/notes.txt").read_text(encoding="utf-8")
    assert "changed" != Path("d/policy.toml").read_text(encoding="utf-8")


def test_a_folder_of_others_is_left_alone(privet: Privet) -> None:
    Path("d").mkdir()
    Path("d/precious").touch()
    result = privet("demo", "d", "--replace", *FEW)
    assert 2 == result.exit_code
    assert "it holds something else. Name another one." in result.stderr
    assert [Path("d/precious")] == list(Path("d").iterdir())


def test_an_empty_folder_will_do(privet: Privet) -> None:
    Path("d").mkdir()
    assert 0 == privet("demo", "d", *FEW).exit_code


def test_a_file_is_no_folder(privet: Privet) -> None:
    result = privet("demo", "loans.csv")
    assert 2 == result.exit_code
    assert "is a file" in result.stderr


def test_a_folder_that_cannot_be_made(privet: Privet) -> None:
    result = privet("demo", "loans.csv/d", *FEW)
    assert 2 == result.exit_code
    assert "must be one that can be made; got: Not a directory." in result.stderr
