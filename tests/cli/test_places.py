"""Commands on rows that stay elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from cli.conftest import BROKEN, COLUMNS
from engines.servers import PASSWORD, postgres, postgres_table, spark
from privet.cli import cli
from privet.demo.tables import bank_path


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(cli, [*map(str, words)], prog_name="privet")
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found.exit_code, found.output + found.stderr


@pytest.mark.postgres
def test_a_database_is_audited_and_published_without_telling_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyarrow import csv

    monkeypatch.chdir(tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(COLUMNS + BROKEN)
    bank = csv.read_csv(str(bank_path()))
    types = ["bigint" if pa.types.is_integer(f.type) else "text" for f in bank.schema]
    with postgres_table(bank, types) as name:
        source = ("--table", name, "-p", policy)
        code, said = run("audit", postgres(), *source)
        assert 1 == code
        assert "4 of 5" in said
        out = ("-o", tmp_path / "out", "--custody", tmp_path / "vault")
        code, more = run("publish", postgres(), *source, *out)
        assert 0 == code, more
        said += more
        code, more = run("init", postgres(), "--table", name)
        said += more
        assert 0 == code
        assert f"--table {name}" in more
        code, more = run("audit", postgres() + "x", "--table", name, "-p", policy)
        assert 2 == code
        said += more
        assert 0 == run("verify", tmp_path / "out")[0]
    for path in [p for p in tmp_path.rglob("*") if p.suffix in (".json", ".txt")]:
        said += path.read_text()
    assert PASSWORD not in said


@pytest.mark.spark
def test_spark_reads_files_for_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark()
    monkeypatch.chdir(tmp_path)
    policy = tmp_path / "policy.toml"
    policy.write_text(COLUMNS + BROKEN)
    bank = str(bank_path())
    asked = ("--engine", "spark", "--master", "local[2]")
    code, said = run("audit", bank, "-p", policy, *asked)
    assert (1, True) == (code, "4 of 5" in said)
    out = ("-o", tmp_path / "out", "--custody", tmp_path / "vault")
    code, said = run("publish", bank, "-p", policy, *asked, *out)
    assert 0 == code, said
    assert 0 == run("verify", tmp_path / "out")[0]
    code, said = run("init", bank, *asked)
    assert (0, True) == (code, "--engine spark" in said)
