"""Whatever goes wrong is one clear message, an exit code, and nobody's data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import Privet, Process

CANARY = "canary-cell-9351"


# Wrong use --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "loans.csv"], "Missing option '--policy'"),
        (["audit", "loan.csv"], "Did you mean 'loans.csv'?"),
        (["skyline", "loan.csv"], "Did you mean 'loans.csv'?"),
        (["skyline", "loans.csv"], "A table must have a policy"),
        (["audit", "-p", "kept.toml"], "Missing argument 'TABLE'"),
        (["audt"], "No such command 'audt'"),
        (["audit", "loans.csv", "-p", "kept.toml", "--jsn"], "No such option"),
        (["audit", "loan.csv", "-p", "kept.toml"], "Did you mean 'loans.csv'?"),
        (["audit", "loans.csv", "-p", "kep.toml"], "Did you mean 'kept.toml'"),
        (["audit", "loans.csv", "-p", "."], "must be a file; it is a folder"),
        (["audit", ".", "-p", "kept.toml"], "must hold Parquet files"),
        (["audit", "loans.csv", "-p", "loans.csv"], "A policy must be TOML; got"),
        (["audit", "kept.toml", "-p", "kept.toml"], "must end in one of"),
        (["audit", "loans.csv", "-p", "kept.toml", "--threads", "0"], "--threads"),
        (["audit", "loans.csv", "-p", "kept.toml", "--max-seconds", "0"], "x>0"),
        (["audit", "loans.csv", "-p", "kept.toml", "--max-seconds", "nan"], "seconds"),
        (["audit", "loans.csv", "-p", "kept.toml", "--engine", "sas"], "'duckdb'"),
        (["audit", "loans.csv", "-p", "kept.toml", "--spill", "no"], "does not exist"),
        (["audit", "loans.csv", "-p", "kept.toml", "--encoding", "x"], "encoding must"),
        (["audit", "loans.csv", "-p", "kept.toml", "--memory-limit", "x"], "such as"),
        (["init", "loan.csv"], "Did you mean 'loans.csv'?"),
        (["demo", "--rows", "3"], "x>=1000"),
        (["completion", "tcsh"], "'bash', 'zsh', 'fish'"),
    ],
)
def test_wrong_use_exits_with_2(privet: Privet, words: list[str], said: str) -> None:
    result = privet(*words)
    assert 2 == result.exit_code
    assert "" == result.stdout
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_every_problem_of_a_policy_is_printed(privet: Privet) -> None:
    Path("bad.toml").write_text("titel = 1\n[bins]\nage = [2, 1]\n", encoding="utf-8")
    result = privet("audit", "loans.csv", "-p", "bad.toml")
    assert [
        "privet: bad.toml:1: 'titel' is not a section or key of a policy. Did you mean "
        "'title'?",
        "bad.toml:3: bins.age: bins must be increasing edges; got 2, 1.",
    ] == result.stderr.splitlines()


def test_a_table_without_rows_exits_with_2(privet: Privet) -> None:
    Path("empty.csv").write_text("job,country\n", encoding="utf-8")
    result = privet("audit", "empty.csv", "-p", "kept.toml")
    assert 2 == result.exit_code
    assert "must have rows" in result.stderr


# The machine ------------------------------------------------------------------------


def test_what_the_machine_refuses_is_said(
    privet: Privet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/secret/place")

    monkeypatch.setattr("duckdb.connect", refuse)
    result = privet("audit", "loans.csv", "-p", "kept.toml")
    assert 2 == result.exit_code
    assert "privet: '/secret/place': Permission denied.\n" == result.stderr


def test_too_little_memory_is_said(
    privet: Privet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("duckdb.connect", refuse)
    result = privet("audit", "loans.csv", "-p", "kept.toml")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "too little memory" in result.stderr


@pytest.fixture
def broken_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that raises what it never should, quoting a cell."""

    def fail(*_: object, **__: object) -> None:
        cell = CANARY
        raise ZeroDivisionError(f"cannot divide {cell}")

    monkeypatch.setattr("duckdb.connect", fail)


@pytest.mark.usefixtures("broken_engine")
def test_a_bug_is_called_one_and_quotes_nobody(privet: Privet) -> None:
    result = privet("audit", "loans.csv", "-p", "kept.toml")
    assert 70 == result.exit_code
    assert "This is a bug in privet: ZeroDivisionError." in result.stderr
    assert "PRIVET_DEBUG=1" in result.stderr
    assert CANARY not in result.output
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("broken_engine")
def test_a_bug_can_be_looked_into(
    privet: Privet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_DEBUG", "1")
    result = privet("audit", "loans.csv", "-p", "kept.toml")
    assert 70 == result.exit_code
    assert "Traceback (most recent call last)" in result.stderr
    assert CANARY in result.stderr
    assert "" == result.stdout


# Pipes ------------------------------------------------------------------------------


def test_a_reader_who_has_seen_enough_is_no_error(process: Process) -> None:
    line = (
        "PRIVET audit loans.csv -p broken.toml --json | head -1; echo ${PIPESTATUS[0]}"
    )
    result = process(line)
    assert "{\n1\n" == result.stdout
    assert "" == result.stderr


@pytest.mark.parametrize(
    "command", ["audit loans.csv -p broken.toml", "init loans.csv"]
)
def test_a_reader_who_is_gone_is_no_error(process: Process, command: str) -> None:
    result = process(f"PRIVET {command} -q | true; echo ${{PIPESTATUS[0]}}")
    expected = {"a": "1\n", "i": "0\n"}[command[0]]
    assert (expected, "") == (result.stdout, result.stderr)


def test_a_full_disk_is_said(process: Process) -> None:
    result = process("PRIVET audit loans.csv -p kept.toml > /dev/full")
    assert 2 == result.returncode
    assert "privet: 'standard output': No space left on device.\n" == result.stderr


def test_closed_streams_do_no_harm(process: Process) -> None:
    assert 1 == process("PRIVET audit loans.csv -p broken.toml >&-").returncode
    result = process("PRIVET audit loans.csv -p broken.toml -q 2>&-")
    assert (1, "breach\n") == (result.returncode, result.stdout)
    assert 2 == process("PRIVET audit no.csv -p broken.toml 2>&-").returncode


@pytest.mark.parametrize(
    ("option", "city"), [("", "\\u0141ód\\u017a"), ("--json", "\\u0141\\u00f3d\\u017a")]
)
def test_streams_of_other_encodings_take_any_text(
    process: Process, folder: Path, option: str, city: str
) -> None:
    (folder / "cities.csv").write_text("city,ill\nŁódź,x\n", encoding="utf-8")
    (folder / "cities.toml").write_text(
        '[[promise]]\nagainst = "linker"\nknows = "city"\nabout = "ill"\nbelow = 1\n',
        encoding="utf-8",
    )
    line = f"PRIVET audit cities.csv -p cities.toml {option} | iconv -f latin1 -t utf8"
    result = process(line, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert "" == result.stderr
    assert city in result.stdout
    assert option or result.stdout.startswith("x Breach: ")


# Ctrl-C -----------------------------------------------------------------------------


def test_ctrl_c_exits_with_130(folder: Path) -> None:
    """The policy is a pipe that nobody writes to, so the command waits."""
    os.mkfifo(folder / "pipe.toml")
    privet = Path(sys.executable).parent / "privet"
    with subprocess.Popen(
        [privet, "audit", "loans.csv", "-p", "pipe.toml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        writer = opened_for_writing(folder / "pipe.toml")
        waiting.send_signal(signal.SIGINT)
        stdout, stderr = waiting.communicate(timeout=20)
        os.close(writer)
    assert 130 == waiting.returncode
    assert ("", "privet: Stopped before it was done.\n") == (stdout, stderr)


def opened_for_writing(pipe: Path) -> int:
    """Open a pipe as soon as somebody reads from it."""
    for _ in range(200):
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(pipe)
