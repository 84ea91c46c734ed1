"""privet compare: the table, the object, sweeps, stops, and exit codes."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from privet.comparison import comparison

from .conftest import ALL_COLUMNS, BROKEN, KNOWING_ALL, Privet

pytestmark = pytest.mark.engines

FEW = ("--methods", "disclosure,mondrian,buckets")
NAME = "nobody learns a discharge"


@pytest.fixture
def policy(folder: Path) -> str:
    (folder / "all.toml").write_text(ALL_COLUMNS + KNOWING_ALL, encoding="utf-8")
    return "all.toml"


def test_the_table(privet: Privet, policy: str) -> None:
    result = privet("compare", "loans.csv", "-p", policy, *FEW)
    assert 0 == result.exit_code, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Of 3 methods 3 give a table that keeps every promise;")
    assert all(len(line) <= 80 for line in lines)
    assert "Discharged" not in result.stdout
    assert "Keep them where the table is kept" in result.stdout


def test_what_is_not_covered(privet: Privet, folder: Path) -> None:
    (folder / "few.toml").write_text(ALL_COLUMNS + BROKEN, encoding="utf-8")
    found = privet("compare", "loans.csv", "-p", "few.toml", *FEW)
    assert 3 == found.exit_code, found.output
    assert "not covered" in found.stdout


def test_exit_codes(privet: Privet, folder: Path) -> None:
    text = ALL_COLUMNS + '[[promise]]\nagainst = "linker"\nabout = "bankruptcy"\n'
    for level, code in (("0.7", 0), ("0.1", 4)):
        (folder / "p.toml").write_text(f"{text}at_most = {level}\n", encoding="utf-8")
        found = privet("compare", "loans.csv", "-p", "p.toml", *FEW)
        assert code == found.exit_code, found.output
    quiet = privet("compare", "loans.csv", "-p", "p.toml", *FEW, "-q")
    assert (4, "\n") == (quiet.exit_code, quiet.stdout)


def test_the_object(privet: Privet, policy: str) -> None:
    words = ("compare", "loans.csv", "-p", policy, *FEW, "--json", "--by", "bits_kept")
    told = json.loads(privet(*words).stdout)
    assert ("safe", "finished", True) == tuple(
        told[k] for k in ("verdict", "ended", "complete")
    )
    assert told["best"] == told["methods"][0]["name"]
    bits = [m["figures"]["bits_kept"] for m in told["methods"]]
    assert sorted(bits, reverse=True) == bits
    quiet = privet("compare", "loans.csv", "-p", policy, *FEW, "-q")
    assert quiet.stdout.strip() in ("disclosure", "mondrian", "buckets")


def test_a_sweep(privet: Privet, policy: str, folder: Path) -> None:
    swept = ("--sweep", f"{NAME}=0.4:0.8:0.2", "--resume", "r.jsonl")
    words = ("compare", "loans.csv", "-p", policy, "--methods", "mondrian", *swept)
    first = privet(*words)
    assert 0 == first.exit_code, first.output
    assert "at_most" in first.stdout
    size = (folder / "r.jsonl").stat().st_size
    told = json.loads(privet(*words, "--json").stdout)
    assert size == (folder / "r.jsonl").stat().st_size
    assert ["4/5", "3/5", "2/5"] == told["limits"]
    brief = privet(*words, "-q").stdout.splitlines()
    assert ["4/5", "mondrian"] == brief[0].split("\t")[:2]
    assert "Discharged" not in (folder / "r.jsonl").read_text().replace(NAME, "")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--methods", "mondrain"], "Did you mean 'mondrian'"),
        (["--by", "beauty"], "by must be a figure"),
        (["--resume", "r"], "--resume goes with --sweep"),
        (["--sweep", "k"], "A sweep must be NAME="),
        (["--sweep", "k=2"], "must be a promise or measure"),
        (["--sweep", f"{NAME}=0.5", "--with", "arx"], "--with does not go with"),
        (["--arx-jar", "x"], "go with --with"),
        (["--with", "sdc"], "peers must be other programs"),
        (["--suppress", "2"], "suppress must be from 0"),
    ],
)
def test_wrong_use(privet: Privet, policy: str, more: list[str], words: str) -> None:
    result = privet("compare", "loans.csv", "-p", policy, *more)
    assert 2 == result.exit_code
    assert words in result.output


def test_who_is_not_there_gives_a_sentence(privet: Privet, policy: str) -> None:
    result = privet("compare", "loans.csv", "-p", policy, *FEW, "--with", "anonypy,arx")
    assert 0 == result.exit_code, result.output
    assert "pip install anonypy" in " ".join(result.stdout.split())
    assert "The jar of ARX must be named" in " ".join(result.stdout.split())


def test_ctrl_c_shows_what_is_ready(
    privet: Privet, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = comparison.try_method

    def stop(trial: Any, candidate: Any) -> Any:
        if candidate.name == "mondrian":
            signal.raise_signal(signal.SIGINT)
        return attempt(trial, candidate)

    monkeypatch.setattr(comparison, "try_method", stop)
    result = privet("compare", "loans.csv", "-p", policy, *FEW)
    assert 3 == result.exit_code, result.output
    assert "mondrian: stopped. Stopped with Ctrl-C." in result.stdout
    assert "buckets: not tried. Stopped with Ctrl-C." in result.stdout


def test_no_time_at_all(privet: Privet, policy: str) -> None:
    result = privet("compare", "loans.csv", "-p", policy, "--max-seconds", "0.05")
    assert 3 == result.exit_code, result.output
