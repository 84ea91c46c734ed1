"""A folder with the loans of 24 bank customers and policies for them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import as_file
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from privet.cli import cli
from privet.demo.tables import bank_path

COLUMNS = """\
[columns]
quasi = ["job", "country"]
sensitive = "bankruptcy"
drop = ["child", "rating"]
weight = "count"
"""
"""What the promises below name is all that is shown and may be known."""

ALL_COLUMNS = """\
[columns]
quasi = ["job", "country", "child"]
sensitive = "bankruptcy"
target = "rating"
weight = "count"
"""

BROKEN = """\
[[promise]]
name = "nobody learns a discharge"
against = "linker"
knows = ["job", "country"]
about = { bankruptcy = "Discharged" }
at_most = 0.5
"""

KNOWING_ALL = BROKEN.replace('"country"]', '"country", "child", "rating"]')
"""The same against somebody who has every column of `ALL_COLUMNS`."""

KEPT = BROKEN.replace("0.5", "0.8").replace("nobody", "nearly nobody")

Privet = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: loans.csv, broken.toml, kept.toml."""
    with as_file(bank_path()) as bank:
        shutil.copy(bank, tmp_path / "loans.csv")
    (tmp_path / "broken.toml").write_text(COLUMNS + BROKEN, encoding="utf-8")
    (tmp_path / "kept.toml").write_text(COLUMNS + KEPT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def privet(folder: Path) -> Privet:
    """Runs a command as the shell would, in the folder, without a new process."""
    return lambda *words: CliRunner().invoke(
        cli, [*map(str, words)], prog_name="privet"
    )


Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def process(folder: Path) -> Process:
    """Runs a command line in a shell of its own."""

    def run(line: str, **keys: object) -> subprocess.CompletedProcess[str]:
        command = f"{Path(sys.executable).parent / 'privet'}"
        return subprocess.run(
            ["bash", "-c", line.replace("PRIVET", command)],
            cwd=folder,
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
            **keys,
        )

    return run
