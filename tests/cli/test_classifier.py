"""privet classifier, from a file to a release that was attacked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Privet

pytestmark = pytest.mark.engines

POLICY = """
[columns]
quasi  = ["home", "age"]
target = "pay"

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"

[domain]
home = ["P", "W"]
age  = "public from ages.txt"
pay  = ["50K", "70K"]

[[promise]]
name    = "no mind is moved"
against = "bayesian"
about   = "pay"
from    = 0.51
to      = 0.7
"""


@pytest.fixture
def files(folder: Path) -> Path:
    rows = ["home,age,pay"]
    rows += ["W,40,70K"] * 4 + ["P,30,70K", "W,40,50K", "P,30,50K"]
    (folder / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "p.toml").write_text(POLICY, encoding="utf-8")
    (folder / "ages.txt").write_text("30\n40\n50\n", encoding="utf-8")
    return folder


WRITE = ("-o", "out", "--custody", "vault")


def test_from_file_to_release(files: Path, privet: Privet) -> None:
    done = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 0 == done.exit_code, done.output
    assert done.output.startswith("✓ Safe: every promise about the classifier is kept")
    assert "It keeps the ranking of all classes for every row." in done.output
    assert "flattened" in done.output
    assert "Not covered" in done.output
    assert "of the original counts exactly" in done.output
    checked = privet("verify", "out", "--custody", "vault")
    assert 0 == checked.exit_code, checked.output
    judged = privet("audit", "out", "-p", "p.toml", "-q")
    assert (0, "safe\n") == (judged.exit_code, judged.output)


def test_the_red_team(files: Path, privet: Privet) -> None:
    privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    done = privet("audit", "out", "--as", "inverter", "--custody", "vault", "--json")
    told = json.loads(done.output)
    assert {"as", "exponent", "recovered", "agreement", "words"} <= set(told)
    assert 1 == told["agreement"]
    names = {m["name"] for m in told["mitigations"]}
    assert {"noise first", "margin jitter", "coarse points", "small table"} == names
    shown = privet("audit", "out", "--as", "inverter", "--custody", "vault").output
    assert "predicts alike" in shown
    assert "noise first, epsilon 0.1" in shown
    alone = privet("audit", "out", "--as", "inverter")
    assert 2 == alone.exit_code
    assert "Give --custody" in alone.output


def test_a_dry_run_writes_nothing(files: Path, privet: Privet) -> None:
    before = sorted(p.name for p in files.iterdir())
    done = privet("classifier", "t.csv", "-p", "p.toml", "--dry-run", "--json")
    told = json.loads(done.output)
    assert ("safe", "pay") == (told["verdict"], told["target"])
    assert before == sorted(p.name for p in files.iterdir())


@pytest.mark.parametrize(
    "more",
    [
        ["--method", "declared"],
        ["--method", "paper"],
        ["--zeros", "positive+top"],
        ["--epsilon", "1"],
        ["--epsilon", "1", "--delta", "1e-6", "--mitigations"],
        ["--rho", "0.5", "--bits", "6"],
        ["--method", "declared", "--rho", "1/2"],
        ["--method", "closeness-declared", "--epsilon", "2"],
        ["--counts", "--rows", "200"],
        ["--rows", "200", "--views"],
        ["--rows", "200", "--only-rows", "--views", "--epsilon", "1"],
        ["--margin", "0.2"],
        ["--attribute", "age", "--precedence", "70K"],
    ],
)
def test_every_way(files: Path, privet: Privet, more: list[str]) -> None:
    done = privet("classifier", "t.csv", "-p", "p.toml", *WRITE, *more, "-q")
    assert (0, "safe\n") == (done.exit_code, done.output)
    assert 0 == privet("verify", "out", "--custody", "vault", "-q").exit_code


def test_mitigations_side_by_side(files: Path, privet: Privet) -> None:
    words = ("--dry-run", "--mitigations")
    done = privet("classifier", "t.csv", "-p", "p.toml", *words)
    assert 0 == done.exit_code, done.output
    assert "what is published" in done.output
    assert "margin jitter, margin 0.5" in done.output
    told = json.loads(
        privet("classifier", "t.csv", "-p", "p.toml", *words, "--json").output
    )
    assert "this release" == told["mitigations"][0]["name"]


def test_the_paper_fails_by_name(files: Path, privet: Privet) -> None:
    close = POLICY.replace("from    = 0.51\nto      = 0.7", "within = 3")
    close += "prior = { 70K = 0.25, 50K = 0.75 }\n"
    (files / "p.toml").write_text(close, encoding="utf-8")
    words = ["--method", "closeness-paper"]
    no = privet("classifier", "t.csv", "-p", "p.toml", *WRITE, *words)
    assert 4 == no.exit_code
    assert "the paper's EST fails (FAIL)" in no.output
    assert "Statement 14" in no.output
    assert not (files / "out").exists()


def test_a_prior_of_its_own(files: Path, privet: Privet) -> None:
    close = POLICY.replace("from    = 0.51\nto      = 0.7", "within = 1.3")
    close += "prior = { 70K = 0.25, 50K = 0.75 }\n"
    (files / "p.toml").write_text(close, encoding="utf-8")
    no = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 4 == no.exit_code
    assert "cannot be kept by any release with the same predictions" in no.output
    assert "no more can be predicted than 50K" in no.output
    words = ["--method", "closeness-declared"]
    done = privet("classifier", "t.csv", "-p", "p.toml", *WRITE, *words)
    assert 0 == done.exit_code
    assert "within 2      50K, 70K ████████████████████  100 % alike" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give -o and --custody, or --dry-run."),
        ([*WRITE, "--views"], "--views needs --rows"),
        ([*WRITE, "--target", "nope"], "must exist"),
        ([*WRITE, "--attribute", "pay"], "must not hold the target"),
        ([*WRITE, "--precedence", "90K"], "precedence must hold classes"),
        ([*WRITE, "--epsilon", "0"], "epsilon must be above 0"),
        ([*WRITE, "--delta", "0.1"], "must have epsilon, or rho; one"),
        ([*WRITE, "--epsilon", "1", "--rho", "1"], "must have epsilon, or rho; one"),
        ([*WRITE, "--epsilon", "1", "--delta", "2"], "delta must be at least 0"),
        ([*WRITE, "--rows", "2"], "must have at least"),
        ([*WRITE, "--only-rows"], "--only-rows needs --rows"),
        ([*WRITE, "--margin", "-1"], "margin must be above 0"),
        ([*WRITE, "--margin", "x"], "margin must be"),
        ([*WRITE, "--method", "closeness", "--margin", "1"], "--margin must go with"),
    ],
)
def test_wrong_use(files: Path, privet: Privet, words: list[str], said: str) -> None:
    done = privet("classifier", "t.csv", "-p", "p.toml", *words)
    assert 2 == done.exit_code
    assert said in done.output
    assert not (files / "out").exists()
    assert not (files / "vault").exists()
