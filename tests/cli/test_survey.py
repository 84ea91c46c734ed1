"""disguise, estimate, plan and verify as a steward runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import privet as pv
from privet.cli import cli

pytestmark = pytest.mark.engines

DESIGN = """
title = "Habits"

[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.8

[[question]]
name = "age"
bins = [30, 50]
truth = 0.7
"""

JOINT = """
[[question]]
name = "a"
values = ["0", "1"]
[[question]]
name = "b"
values = ["0", "1"]
[[question]]
name = "c"
values = ["0", "1"]
[[together]]
columns = ["a", "b", "c"]
flip = 0.6
"""

KEPT = """
[[promise]]
against = "bayesian"
about = "{column}"
within = 5
unrelated = true
"""

POLICY = """
[[promise]]
name = "nobody is sure"
against = "bayesian"
about = "smokes"
at_most = {limit}
{more}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{'yes' if i % 4 == 0 else 'no'},{15 + i % 60},n{i}" for i in range(2000)]
    Path("a.csv").write_text("smokes,age,name\n" + "\n".join(rows) + "\n")
    Path("d.toml").write_text(DESIGN)
    Path("kept.toml").write_text(KEPT.format(column="smokes"))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


PLACES = ("-o", "out", "--custody", "vault")
NAMELESS = ("disguise", "a.csv", "-d", "d.toml", "-p", "kept.toml", *PLACES)
DISGUISE = (*NAMELESS, "--drop", "name")


def test_disguised_verified_estimated(here: Path) -> None:
    made = run(*DISGUISE)
    assert 0 == made.exit_code, made.output
    assert "2,000 disguised rows" in made.output
    record, alone = made.output.split("one answer,")
    assert "odds times 18.67 at most (ε 2.93)" in record
    assert "what was thought even becomes 95 % at most" in record
    assert "smokes: odds times 4 at most (ε 1.39)" in alone
    note = (here / "out/README.txt").read_text()
    assert note.index("hang together: seeing a row") < note.index("One answer, for")
    assert "1 in 100 becomes 16 % at most, 1 in 10 becomes 68 % at most" in note
    assert 0 == run("verify", "out").exit_code
    found = run("estimate", "out", "--json")
    told = {e["share"]: e for e in json.loads(found.output)["estimates"]}
    assert abs(told["smokes = yes"]["value"] - 0.25) < 0.08
    assert set(told) == {
        "smokes = no",
        "smokes = yes",
        "age = below 30",
        "age = 30 to below 50",
        "age = 50 and more",
    }
    both = run("estimate", "out", "smokes = yes and age in ('below 30')", "--quiet")
    assert 0 <= float(both.output) <= 1
    table = pv.read("out/table.parquet")
    assert ("smokes", "age") == table.schema.names
    manifest = json.loads((here / "out/release.json").read_text())
    assert "56/3" == manifest["privacy"]["growth"]
    assert "n17" not in (here / "out/release.json").read_text()


def test_promises_are_kept_or_nothing_is_written(here: Path) -> None:
    Path("p.toml").write_text(POLICY.format(limit=0.75, more="unrelated = true"))
    refused = run(*DISGUISE, "-p", "p.toml")
    assert 4 == refused.exit_code
    assert "one can be 80 % sure" in refused.output
    Path("p.toml").write_text(POLICY.format(limit=0.8, more=""))
    refused = run(*DISGUISE, "-p", "p.toml")
    assert 4 == refused.exit_code
    assert "one can be 94.9 % sure" in refused.output
    assert "knows how the answers hang together" in refused.output
    assert "unrelated = true" in refused.output
    assert not (here / "out").exists()
    assert not (here / "vault").exists()
    Path("p.toml").write_text(POLICY.format(limit=0.8, more="unrelated = true"))
    assert 0 == run(*DISGUISE, "-p", "p.toml").exit_code
    (promise,) = json.loads((here / "out/release.json").read_text())["promises"]
    assert ("safe", "4/5") == (promise["verdict"], promise["worst"])
    verified = run("verify", "out")
    assert 0 == verified.exit_code
    assert "assumes that the answers declared unrelated" in verified.output


@pytest.mark.parametrize("change", ["growth", "rows", "cell", "design"])
def test_a_changed_release_is_refused(here: Path, change: str) -> None:
    run(*DISGUISE, "--format", "csv")
    path = here / "out/release.json"
    content = json.loads(path.read_text())
    if change == "growth":
        content["privacy"]["growth"] = "2"
    elif change == "rows":
        content["files"][0]["rows"] -= 1
    elif change == "design":
        content["design"]["question"][0]["truth"] = "9/10"
    else:
        table = here / "out/table.csv"
        table.write_text(table.read_text().replace("yes", "maybe", 1))
    path.write_text(json.dumps(content))
    assert 1 == run("verify", "out").exit_code
    assert 2 == run("estimate", "out").exit_code


def test_a_plan_says_why_public_questions_cost_nothing(here: Path) -> None:
    town = '[[question]]\nname = "town"\nvalues = ["a", "b"]\npublic = true\n'
    Path("t.toml").write_text(DESIGN + town)
    plain, found = (
        run("plan", f, "--epsilon", "1", "-o", f"{f}.new") for f in ("d.toml", "t.toml")
    )
    assert 0 == found.exit_code, found.output
    assert "Public and asked of everybody: town." in found.output
    assert "takes no part of ε" in found.output
    needs = [r.output.split("whatever the truth is:")[1] for r in (plain, found)]
    assert needs[0] == needs[1]
    assert pv.Design.load("t.toml.new").one_of


def test_nothing_is_written_over(here: Path) -> None:
    assert 0 == run(*DISGUISE).exit_code
    assert 2 == run(*DISGUISE).exit_code
    assert 0 == run(*DISGUISE, "--replace").exit_code
    assert [] == [p.name for p in here.iterdir() if p.name.startswith(".")]


def test_disguising_twice_warns(here: Path) -> None:
    run(*DISGUISE)
    Path("d2.toml").write_text(
        DESIGN.replace(
            "bins = [30, 50]", 'values = ["below 30", "30 to below 50", "50 and more"]'
        )
    )
    again = run(
        "disguise",
        "out/table.parquet",
        "-d",
        "d2.toml",
        "-p",
        "kept.toml",
        "-o",
        "o2",
        "--custody",
        "v2",
    )
    assert 0 == again.exit_code, again.output
    assert "disguised already" in again.output


def test_values_nobody_declared_are_refused_and_not_quoted(here: Path) -> None:
    Path("a.csv").write_text("smokes,age\nCANARY-9,40\nno,20\n")
    refused = run(*NAMELESS)
    assert 2 == refused.exit_code
    assert "CANARY" not in refused.output
    assert "1 of its 2 values are not declared" in refused.output
    Path("a.csv").write_text("smokes,age\nno,\nyes,20\n")
    assert 2 == run(*NAMELESS).exit_code
    assert not (here / "out").exists()


def test_the_collector_recovers_joint_flips(here: Path) -> None:
    rows = ["1,1,0,0", "1,1,0,1"] * 4_500 + ["1,0,0,0"] * 1_000
    Path("a.csv").write_text("a,b,c,d\n" + "\n".join(rows) + "\n")
    alone = '[[question]]\nname = "d"\nvalues = ["0", "1"]\ntruth = 0.8\n'
    Path("d.toml").write_text(alone + JOINT)
    # No limit holds of answers that are flipped together: it is of the other one.
    Path("kept.toml").write_text(KEPT.format(column="d"))
    made = run(*NAMELESS)
    assert "flipped together" in made.output
    assert "infinite" in made.output
    told = json.loads(run("audit", "out", "--as", "collector", "--json").output)
    shares = {tuple(g["columns"]): g["recovered"] for g in told["groups"]}
    assert shares["a", "b", "c"] > 0.9
    assert 1 == told["up_to"]


def test_plans(here: Path) -> None:
    found = run("plan", "d.toml", "--error", "0.02")
    assert "smokes: 6,670 (undisguised: 2,401)" in found.output
    assert 0 == run("plan", "d.toml", "--epsilon", "1", "-o", "new.toml").exit_code
    proposed = pv.Design.load("new.toml")
    assert proposed.one_of
    assert proposed.epsilon() <= 1
    assert 2 == run("plan", "d.toml", "--epsilon", "0").exit_code
    assert 2 == run("plan", "d.toml", "--error", "2").exit_code


def test_one_answer_is_told_in_strict_json(here: Path) -> None:
    Path("a.csv").write_text("smokes,age\nyes,40\n")
    assert "1 disguised row in" in run(*NAMELESS).output

    def refuse(name: str) -> None:
        raise AssertionError(name)

    told = run("estimate", "out", "smokes = yes", "--json").output
    (found,) = json.loads(told, parse_constant=refuse)["estimates"]
    assert (None, 1) == (found["standard_error"], found["n"])
    assert "1 answer)" in run("estimate", "out").output


def test_a_target_is_planned_for(here: Path) -> None:
    words = ("plan", "d.toml", "--epsilon", "1", "--target", "smokes")
    assert "disguise all answers as one" in run(*words, "-o", "new.toml").output
    assert not pv.Design.load("new.toml").one_of
    assert 2 == run("plan", "d.toml", "--target", "smokes").exit_code
    assert "got -1." in run("plan", "d.toml", "--epsilon", "-1").output


def test_a_plan_is_carried_out(here: Path) -> None:
    """One question per person, disguised and estimated."""
    run("plan", "d.toml", "--epsilon", "1", "-o", "new.toml")
    words = [word.replace("d.toml", "new.toml") for word in DISGUISE]
    assert 0 == run(*words).exit_code
    assert 0 == run("verify", "out").exit_code
    told = json.loads(run("estimate", "out", "--json").output)["estimates"]
    assert 700 < told[0]["n"] < 1300
    both = run("estimate", "out", "smokes = yes and age = 'below 30'")
    assert 2 == both.exit_code
    assert "not estimable" in both.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[question]]\nname = 'a'\nvalues = ['0', '1']\ntruth = 0.5\n", "truth 1/2"),
        ("[[question]]\nname = 'a'\nvalues = ['0']\ntruth = 0.9\n", "two different"),
        ("[[question]]\nname = 'a'\nvalues = ['0', '1']\n", "must have one of"),
        ("[[question]]\nnam = 'a'\n", "Did you mean 'name'?"),
        (
            "[[question]]\nname = 'a'\nvalues = ['0', '1']\nreplace = 0\n",
            "truth above 0",
        ),
        (
            "[[question]]\nname = 'a'\nvalues = ['0', '1']\n"
            "matrix = [[0.5, 0.5], [0.5, 0.5]]\n",
            "determinant 0",
        ),
        ("= 1", "must be TOML"),
        ("", "must have questions"),
    ],
)
def test_bad_designs_are_explained(here: Path, text: str, words: str) -> None:
    Path("d.toml").write_text(text)
    found = run("plan", "d.toml")
    assert 2 == found.exit_code
    assert words in found.output


def test_expressions_are_explained(here: Path) -> None:
    run(*DISGUISE)
    for text, words in {
        "smokes": "after 'smokes' there must be",
        "smokez = yes": "Did you mean 'smokes'?",
        "smokes = perhaps": "declared values",
        "(smokes = yes": "bracket is not closed",
        "smokes = yes yes": "is too much",
        "smokes = 'yes' and": "a column is missing",
    }.items():
        found = run("estimate", "out", text)
        assert 2 == found.exit_code
        assert words in found.output


def test_a_disguised_release_is_judged_by_a_policy(here: Path) -> None:
    run(*DISGUISE)
    for limit, code in ((0.8, 0), (0.75, 1)):
        Path("p.toml").write_text(POLICY.format(limit=limit, more="unrelated = true"))
        found = run("audit", "out", "-p", "p.toml")
        assert code == found.exit_code, found.output
    words = run("audit", "out", "--as", "collector").output
    # The disguise is drawn anew each time, and the fitted classes may add a little.
    guessed = re.search(r"smokes: ([\d.]+) % of people", words)
    assert guessed, words
    assert 78 <= float(guessed[1]) <= 84


def test_no_confidence_is_rounded_to_certainty(here: Path) -> None:
    told = run("plan", "d.toml", "--error", "0.0005", "--confidence", "0.999")
    assert "error of ± 0.05 % with 99.9 % confidence" in told.output
