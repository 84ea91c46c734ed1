"""What a person sees in a real terminal, of any width, and what a pipe gets."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pexpect
import pyarrow.parquet
import pytest

from cli.conftest import Process
from privet import __version__
from privet.demo.patients import make_patients

PRIVET = str(Path(sys.executable).parent / "privet")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[(?:\d;)?3\d")


def seen(folder: Path, words: list[str], width: int, **env: str) -> tuple[str, int]:
    """Everything a terminal of this width is sent, and the exit code."""
    terminal = spawn(folder, words, width, **env)
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.before, terminal.exitstatus


def spawn(folder: Path, words: list[str], width: int, **env: str) -> Any:
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    return pexpect.spawn(
        PRIVET,
        words,
        cwd=folder,
        dimensions=(40, width),
        encoding="utf-8",
        codec_errors="replace",  # Ctrl-C drops what was not shown yet, bytes and all
        env={**clean, "TERM": "xterm-256color", **env},
        timeout=60,
        preexec_fn=hear_ctrl_c,
    )


def hear_ctrl_c() -> None:
    """Who starts this in the background may have switched Ctrl-C off for it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def report(sent: str) -> list[str]:
    """The lines that stay on the screen: the report, without the bar before it."""
    plain = ESCAPES.sub("", sent).replace("\r\n", "\n")
    lines = [line.rsplit("\r", maxsplit=1)[-1].rstrip() for line in plain.split("\n")]
    start = next(i for i, line in enumerate(lines) if line[:1] in ("✗", "✓", "?"))
    return lines[start:]


AUDIT = ["audit", "loans.csv", "-p", "broken.toml"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_report_fits_the_terminal(folder: Path, width: int) -> None:
    sent, code = seen(folder, AUDIT, width)
    lines = report(sent)
    assert 1 == code
    assert "✗ Breach: the promise is broken." == lines[0]
    assert max(map(len, lines)) <= min(width, 100)
    assert "is Trader and country is UK can be 80 %" in " ".join(
        line.strip() for line in lines
    )


def test_colour_and_a_bar_in_a_terminal(folder: Path) -> None:
    sent, _ = seen(folder, AUDIT, 80)
    assert "\x1b[1;31m✗ Breach" in sent
    assert "\x1b[?25l" in sent  # the cursor is hidden while the bar moves …
    assert "\x1b[?25h" in sent  # … and comes back
    assert "opening" in sent


def test_no_colour_where_none_is_wanted(folder: Path) -> None:
    sent, _ = seen(folder, AUDIT, 80, NO_COLOR="1")
    assert [] == COLOURS.findall(sent)
    assert "✗ BREACH  nobody learns a discharge" in report(sent)


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_no_bar_where_it_would_disturb(folder: Path, option: str) -> None:
    sent, _ = seen(folder, [*AUDIT, option], 80)
    assert "\x1b" not in sent


def test_no_bar_and_no_colour_in_a_pipe(process: Process) -> None:
    result = process("PRIVET audit loans.csv -p broken.toml")
    assert "" == result.stderr
    assert "\x1b" not in result.stdout


def test_ctrl_c_while_counting_brings_the_cursor_back(folder: Path) -> None:
    table = make_patients(150_000)  # some seconds of counting
    pyarrow.parquet.write_table(table, folder / "patients.parquet")
    others = [c for c in table.column_names if c not in ("name", "diagnosis")]
    (folder / "wide.toml").write_text(  # hundreds of counts
        f"[columns]\nquasi = {others}\n[[promise]]\nagainst = 'linker'\n"
        "knows_any = 5\nabout = 'diagnosis'\nat_most = 0.5\n",
        encoding="utf-8",
    )
    words = ["audit", "patients.parquet", "-p", "wide.toml"]
    terminal = spawn(folder, words, 80)
    terminal.expect("counting")
    terminal.sendintr()
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert 130 == terminal.exitstatus
    assert "privet: Stopped before it was done." in terminal.before
    assert "\x1b[?25h" in terminal.before
    assert "Traceback" not in terminal.before


# Help, version, completion ----------------------------------------------------------


def test_the_version(process: Process) -> None:
    assert f"privet, version {__version__}\n" == process("PRIVET --version").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script(process: Process, shell: str) -> None:
    script = process(f"PRIVET completion {shell}").stdout
    assert "_PRIVET_COMPLETE" in script


def test_completion_completes(process: Process) -> None:
    asked = {
        "COMP_WORDS": "privet audit --j",
        "COMP_CWORD": "2",
        "_PRIVET_COMPLETE": "bash_complete",
    }
    assert "plain,--json\n" == process("PRIVET", env={**os.environ, **asked}).stdout


def test_help_shows_every_command(process: Process) -> None:
    shown = process("PRIVET --help").stdout
    for command in ("demo", "init", "audit", "completion"):
        assert f"\n  {command} " in shown
    assert "..." not in shown.split("Commands:")[1]
    assert max(map(len, shown.splitlines())) <= 80


def test_the_package_is_a_command_too(process: Process) -> None:
    module = f"{sys.executable} -m privet audit loans.csv -p broken.toml -q"
    found = process(module)
    assert (1, "breach\n", "") == (found.returncode, found.stdout, found.stderr)
