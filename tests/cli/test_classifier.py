"""privet classifier, from a file to a release that was attacked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from privet.classifier.transforms import closeness_search

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


@pytest.fixture
def three(files: Path) -> Path:
    """Three classes whose closeness lies between any release and small powers."""
    rows = ["home,age,pay"]
    at_home, of_age = ((20, 27, 9), (20, 20, 16))
    for label, whole, home, age in zip(
        "abc", (40, 36, 36), at_home, of_age, strict=True
    ):
        homes = ["W"] * home + ["P"] * (whole - home)
        ages = ["40"] * age + ["30"] * (whole - age)
        # One column turned round: only the counts of each by itself matter here.
        rows += [f"{h},{a},{label}" for h, a in zip(homes, ages[::-1], strict=True)]
    (files / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return files


def ask_for(files: Path, factor: str) -> None:
    close = POLICY.replace("from    = 0.51\nto      = 0.7", f"within = {factor}")
    close += "prior = { a = 0.5, b = 0.25, c = 0.25 }\n"
    (files / "p.toml").write_text(close, encoding="utf-8")


def test_between_any_release_and_small_powers(three: Path, privet: Privet) -> None:
    ask_for(three, "1.42")
    no = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 4 == no.exit_code
    assert "which is proved: the closest has a factor from" in no.output
    assert "Allow a factor of 1.4" in no.output
    ask_for(three, "1.46")
    done = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 0 == done.exit_code, done.output
    assert "It keeps the ranking of all classes for every row." in done.output
    assert 0 == privet("verify", "out", "--custody", "vault").exit_code


def test_the_advice_can_be_followed(three: Path, privet: Privet) -> None:
    """Every option that a refusal names exists, and does what it says."""
    ask_for(three, "1.2")
    no = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 4 == no.exit_code
    said = [line for line in no.output.splitlines() if "--" in line]
    assert ["--method closeness-declared", "--step 1"] == [
        line[line.index("--") :].partition(",")[0] for line in said
    ]
    for place, line in enumerate(said):
        words = line[line.index("--") :].partition(",")[0].split()
        to = ("-o", f"out{place}", "--custody", f"vault{place}")
        done = privet("classifier", "t.csv", "-p", "p.toml", *to, *words)
        assert 0 == done.exit_code, done.output
        checked = privet("verify", f"out{place}", "--custody", f"vault{place}")
        assert 0 == checked.exit_code, checked.output
    assert "It keeps the original's best of a for every row." in done.output


def test_what_is_not_settled_is_undecided(
    three: Path, privet: Privet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closeness_search, "MOST_BOXES", 5)
    ask_for(three, "1.45")
    no = privet("classifier", "t.csv", "-p", "p.toml", *WRITE)
    assert 3 == no.exit_code, no.output
    assert "was not settled" in no.output
    assert "1. Allow a factor above 1.5" in no.output
    assert not (three / "out").exists()


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
        ([*WRITE, "--method", "tight", "--step", "1"], "--step must go with --method"),
        ([*WRITE, "--step", "1", "--margin", "1"], "--margin must go with"),
        ([*WRITE, "--step", "1", "--bits", "9"], "step must go with rule='argmax'"),
    ],
)
def test_wrong_use(files: Path, privet: Privet, words: list[str], said: str) -> None:
    done = privet("classifier", "t.csv", "-p", "p.toml", *words)
    assert 2 == done.exit_code
    assert said in done.output
    assert not (files / "out").exists()
    assert not (files / "vault").exists()


# A dry run refuses what the run refuses ----------------------------------------------

OPEN = POLICY.replace(
    POLICY[POLICY.index("[[accepted]]") : POLICY.index("[[promise")], ""
)
CLOSE = POLICY.replace("from    = 0.51\nto      = 0.7", "within = 1.3")
CLOSE += "prior = { 70K = 0.25, 50K = 0.75 }\n"


@pytest.mark.parametrize(
    ("policy", "words", "code", "said"),
    [
        (POLICY, ["--rows", "2"], 2, "must have at least 4 rows"),
        (OPEN, [], 3, ""),
        (CLOSE, [], 4, "cannot be kept by any release"),
        (POLICY, ["--method", "declared", "--counts"], 2, "published as a scorecard"),
        (POLICY, ["-o", "no/out"], 2, "must exist"),
        (POLICY, ["--custody", "out/vault"], 2, "must not be inside the release"),
        (POLICY, ["-o", "full"], 2, "must not exist yet; it holds other files"),
        (POLICY.replace('"age"', '"age", "nope"'), [], 2, "nope"),
    ],
)
def test_a_dry_run_refuses_what_the_run_refuses(
    files: Path, privet: Privet, policy: str, words: list[str], code: int, said: str
) -> None:
    (files / "p.toml").write_text(policy, encoding="utf-8")
    (files / "full").mkdir()
    (files / "full" / "other.txt").write_text("", encoding="utf-8")
    asked = ("classifier", "t.csv", "-p", "p.toml", *WRITE, *words)
    dry, done = privet(*asked, "--dry-run"), privet(*asked)
    assert (code, code) == (dry.exit_code, done.exit_code)
    assert done.stderr == dry.stderr
    assert said in dry.stderr
    assert not (files / "out").exists()


# Rows without a class ---------------------------------------------------------------


def test_rows_without_a_class_are_refused_or_left_out(
    files: Path, privet: Privet
) -> None:
    plain = privet("classifier", "t.csv", "-p", "p.toml", *WRITE, "--json")
    whole = json.loads(Path("out/scorecard.json").read_text())
    assert 0 == json.loads(plain.stdout)["dropped"]
    rows = (files / "t.csv").read_text() + "W,99,\nP,30,\n"
    (files / "t.csv").write_text(rows)
    asked = ("classifier", "t.csv", "-p", "p.toml", *WRITE, "--replace")
    no = privet(*asked)
    assert 2 == no.exit_code
    assert "'pay' must have a value in every row; 2 have none." in no.stderr
    assert "--drop-missing-target" in no.stderr
    done = privet(*asked, "--drop-missing-target")
    assert 0 == done.exit_code, done.output
    assert "2 rows were left out: pay has no value there." in done.stdout
    assert whole == json.loads(Path("out/scorecard.json").read_text())
    kept = json.loads(Path("vault/custody.json").read_text())
    assert (2, 2) == (kept["counts"]["dropped"], kept["prepared"]["dropped"])
    assert "dropped" not in Path("out/release.json").read_text()
    assert 0 == privet("verify", "out", "--custody", "vault").exit_code
    told = json.loads(privet(*asked, "--drop-missing-target", "--json").stdout)
    assert 2 == told["dropped"]


def test_a_target_without_any_value_is_refused(files: Path, privet: Privet) -> None:
    (files / "t.csv").write_text("home,age,pay\nW,40,\nP,30,\n")
    asked = ("classifier", "t.csv", "-p", "p.toml", "--dry-run")
    no = privet(*asked, "--drop-missing-target")
    assert 2 == no.exit_code
    assert "must have a value in some row; none has" in no.stderr
