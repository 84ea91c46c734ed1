"""`privet init`: a draft that can be used, and never over another file."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import duckdb
import pyarrow.csv
import pyarrow.parquet
import pytest

from cli.conftest import Privet, Process
from privet import Policy
from privet.demo.patients import make_patients

pytestmark = pytest.mark.engines


@pytest.fixture
def hospital(folder: Path) -> dict[str, list[str]]:
    """A small hospital in every format."""
    table = make_patients(1_000)
    pyarrow.csv.write_csv(table, "patients.csv")
    pyarrow.parquet.write_table(table, "patients.parquet")
    with duckdb.connect("hospital.duckdb") as con:
        con.execute("CREATE TABLE visits AS FROM read_parquet('patients.parquet')")
    rows = [json.dumps(row, default=str) for row in table.to_pylist()]
    Path("patients.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return {
        "csv": ["patients.csv"],
        "parquet": ["patients.parquet"],
        "jsonl": ["patients.jsonl"],
        "duckdb": ["hospital.duckdb", "--table", "visits"],
    }


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "duckdb"])
def test_a_draft_can_be_used_at_once(
    privet: Privet, hospital: dict[str, list[str]], kind: str
) -> None:
    drafted = privet("init", *hospital[kind], "-o", "draft.toml")
    assert (0, "") == (drafted.exit_code, drafted.stdout)
    policy = Policy.load("draft.toml")
    assert {"patient_id", "name"} == set(policy.roles.identifier)
    assert ("diagnosis", "nights", "cost", "outcome") == policy.roles.sensitive
    judged = privet("audit", *hospital[kind], "-p", "draft.toml", "--quiet")
    assert (1, "breach\n") == (judged.exit_code, judged.stdout)


def test_a_draft_goes_to_standard_output(privet: Privet) -> None:
    drafted = privet("init", "loans.csv")
    policy = Policy.from_toml(drafted.stdout)
    assert "Policy for loans.csv" == policy.title
    assert "count" == policy.roles.weight


def test_doubts_and_the_next_step_go_to_standard_error(privet: Privet) -> None:
    Path("my table.csv").write_text("sex,wibble\nF,1.5\nM,2.5\n", encoding="utf-8")
    drafted = privet("init", "my table.csv", "-o", "p.toml")
    assert [
        'In doubt: "wibble": sensitive; nothing says what it is for, and the table is '
        "about people",
        "Read the draft, correct it, then: privet audit 'my table.csv' -p p.toml",
    ] == drafted.stderr.splitlines()


def test_quiet_keeps_doubts_to_the_draft(privet: Privet) -> None:
    drafted = privet("init", "loans.csv", "-q")
    assert "" == drafted.stderr
    assert drafted.stdout.startswith("# A first draft")


def test_guesses_as_json(privet: Privet) -> None:
    found = json.loads(privet("init", "loans.csv", "--json").stdout)
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert "sensitive" == roles["bankruptcy"]
    fields = {"name", "role", "reason", "confidence", "sure"}
    assert fields == set(found["columns"][0])
    assert {"law", "item", "columns"} == set(found["checklist"][0])
    assert [] == found["doubts"]
    assert Policy.from_toml(found["policy"]).promises


def test_nothing_is_written_over(privet: Privet) -> None:
    before = Path("kept.toml").read_text(encoding="utf-8")
    drafted = privet("init", "loans.csv", "-o", "kept.toml")
    assert 2 == drafted.exit_code
    assert "'kept.toml' must not exist yet; nothing is written over" in drafted.stderr
    assert before == Path("kept.toml").read_text(encoding="utf-8")


def test_not_even_where_a_link_leads(privet: Privet) -> None:
    Path("link.toml").symlink_to("nowhere.toml")
    assert 2 == privet("init", "loans.csv", "-o", "link.toml").exit_code
    assert not Path("nowhere.toml").exists()


def test_existing_files_are_refused_before_the_table_is_read(privet: Privet) -> None:
    drafted = privet("init", "missing.csv", "-o", "kept.toml")
    assert "must not exist yet" in drafted.stderr


def test_a_folder_that_is_not_there(privet: Privet) -> None:
    drafted = privet("init", "loans.csv", "-o", "no/draft.toml")
    assert 2 == drafted.exit_code
    assert "privet: 'no/draft.toml': No such file or directory.\n" == drafted.stderr


def test_a_full_disk_leaves_no_half_of_a_file(process: Process, folder: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    result = process("PRIVET init loans.csv -o draft.toml", preexec_fn=small_files)
    assert 2 == result.returncode
    assert "File too large." in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "draft.toml").exists()


def test_a_draft_without_a_secret_still_measures(privet: Privet) -> None:
    Path("t.csv").write_text("sex,zip\nF,01234\nM,01234\n", encoding="utf-8")
    privet("init", "t.csv", "-o", "draft.toml")
    judged = privet("audit", "t.csv", "-p", "draft.toml", "-q")
    assert (1, "breach\n") == (judged.exit_code, judged.stdout)


def test_time_may_run_out(privet: Privet) -> None:
    drafted = privet("init", "loans.csv", "--max-seconds", "1e-9")
    assert 3 == drafted.exit_code
    assert "privet: The time limit ran out" in drafted.stderr


def test_some_rows_only(privet: Privet) -> None:
    drafted = privet("init", "loans.csv", "--where", "job=Clerk", "--json")
    country = json.loads(drafted.stdout)["columns"][1]
    assert "the same in every row" == country["reason"]


def test_the_draft_remembers_how_the_table_was_read(privet: Privet) -> None:
    Path("bare.txt").write_text("Cook;?\nJudge;flu\n")
    words = ["--names", "job,the illness", "--null", "?", "--delimiter", ";"]
    said = privet("init", "bare.txt", "-o", "bare.toml", *words).stderr
    assert "audit bare.txt -p bare.toml" == said.split("then: privet ")[1].strip()
    drafted = Path("bare.toml").read_text()
    expected = """
[file]
delimiter = ";"
names = ["job", "the illness"]
null = ["?"]
"""
    assert expected in drafted


def test_what_was_found_in_a_file_stands_in_the_draft(privet: Privet) -> None:
    lines = ["name;geboren;betrag;code"]
    lines += [f"Müller;{day}.12.1980;3,{day};NA" for day in range(11, 31)]
    lines += ["Weiß;13.01.1981;2,5;-99", "Jäger;14.01.1981;2,5;7"]
    Path("p.csv").write_bytes("\n".join(lines).encode("cp1252"))
    done = privet("init", "p.csv", "-o", "p.toml")
    assert "read as cp1252" in done.stderr
    drafted = Path("p.toml").read_text()
    expected = """
[file]
encoding = "cp1252"
dates = "dmy"
decimal = ","
# These texts may stand for missing values. They are values like others until
# you take the # away.
#null = ["NA", "-99"]
"""
    assert expected in drafted
    said = privet("audit", "p.csv", "-p", "p.toml").stderr
    assert "read as" not in said


def test_an_order_of_dates_is_asked(privet: Privet) -> None:
    Path("p.csv").write_text("name;born\nA;03.04.1980\nB;05.06.1981\n")
    assert "--dates dmy" in privet("init", "p.csv").stderr
    privet("init", "p.csv", "--dates", "mdy", "-o", "p.toml")
    assert 'dates = "mdy"' in Path("p.toml").read_text()
