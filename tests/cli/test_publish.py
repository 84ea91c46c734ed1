"""Making a release and checking it, as a steward and a recipient would."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.conftest import ALL_COLUMNS, KNOWING_ALL, Privet, Process

SIGNED = """
[signoff]
name = "Ada"
date = 2026-03-31
purpose = "research on loans"
"""


@pytest.fixture
def policy(folder: Path) -> str:
    """A policy that hiding two countries keeps."""
    text = ALL_COLUMNS + KNOWING_ALL.replace("0.5", "0.75") + SIGNED
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return "policy.toml"


def released(privet: Privet, *more: str, out: str = "out", kept: str = "vault") -> None:
    result = privet(
        "publish", "loans.csv", "-p", "policy.toml", "-o", out, "--custody", kept, *more
    )
    assert 0 == result.exit_code, result.output


def delivered(row: str, to: str) -> str:
    """The loans with another row."""
    Path(to).write_text(f"{Path('loans.csv').read_text('utf-8')}{row}\n", "utf-8")
    return to


def extended(policy: str, more: str, to: str) -> str:
    """A policy that says more."""
    text = Path(policy).read_text("utf-8") + f"\n{more}\n"
    Path(to).write_text(text, encoding="utf-8")
    return to


def test_a_release_is_made_and_verified(
    privet: Privet, policy: str, folder: Path
) -> None:
    result = privet(
        "publish", "loans.csv", "-p", policy, "-o", "out", "--custody", "vault"
    )
    assert (0, "✓ Safe: every promise is kept (1).") == (
        result.exit_code,
        result.stdout.splitlines()[0],
    )
    assert "country: 2 of 4 values (10 of 24 cells)" in result.stdout
    assert "80 % → 66.7 %" in result.stdout
    assert {"release.json", "table.parquet", "README.txt"} == {
        p.name for p in (folder / "out").iterdir()
    }
    assert {"custody.json", "recipe.json"} == {
        p.name for p in (folder / "vault").iterdir()
    }
    assert [] == [p.name for p in folder.iterdir() if p.name.startswith(".")]
    checked = privet("verify", "out")
    assert 0 == checked.exit_code
    assert checked.stdout.startswith("✓ Verified")
    again = privet("audit", "out", "-p", policy)
    assert (0, True) == (again.exit_code, again.stdout.startswith("✓ Safe"))


def test_the_sign_off_is_kept_in_custody_only(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    record = json.loads((folder / "vault/custody.json").read_text("utf-8"))
    assert "Ada" == record["signoff"]["name"]
    assert not any(b"Ada" in path.read_bytes() for path in (folder / "out").iterdir())


def test_without_a_sign_off_one_is_asked_for(privet: Privet, folder: Path) -> None:
    result = privet("publish", "loans.csv", "-p", "kept.toml", "--dry-run")
    assert 0 == result.exit_code
    assert "no [signoff]" in result.stderr


def test_a_dry_run_writes_nothing(privet: Privet, policy: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = privet("publish", "loans.csv", "-p", policy, "--dry-run", "--json")
    told = json.loads(result.stdout)
    assert ("safe", "4/5", "2/3") == (
        told["verdict"],
        told["promises"][0]["before"],
        told["promises"][0]["after"],
    )
    assert 10 == told["columns"]["country"]["hidden_cells"]
    assert before == sorted(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "no/out"], "must exist"),
        (["--custody", "out/vault"], "must not be inside the release"),
        (["-o", "full"], "must not exist yet; it holds other files"),
        (["-o", "out.csv", "--format", "parquet"], "fit the file's name"),
        (["-o", "x.csv", "--method", "mondrian", "--form", "buckets"], "to a folder"),
        (["--keep", "nope"], "nope"),
    ],
)
def test_a_dry_run_refuses_what_the_run_refuses(
    privet: Privet, policy: str, folder: Path, words: list[str], said: str
) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "other.txt").write_text("", encoding="utf-8")
    asked = ("publish", "loans.csv", "-p", policy, "-o", "out", "--custody", "vault")
    dry, done = (privet(*asked, *words, *more) for more in (["--dry-run"], []))
    assert (2, 2) == (dry.exit_code, done.exit_code)
    assert done.stderr == dry.stderr
    assert said in dry.stderr


def test_places_must_be_given(privet: Privet, policy: str) -> None:
    result = privet("publish", "loans.csv", "-p", policy, "-o", "out")
    assert 2 == result.exit_code
    assert "--custody" in result.stderr


def test_infeasible_says_the_floor_and_writes_nothing(
    privet: Privet, policy: str, folder: Path
) -> None:
    text = Path(policy).read_text("utf-8").replace("0.75", "0.2")
    Path("strict.toml").write_text(text, encoding="utf-8")
    result = privet(
        "publish", "loans.csv", "-p", "strict.toml", "-o", "out", "--custody", "vault"
    )
    assert 4 == result.exit_code
    # The rating stays: 5 of the 15 who have a good one are discharged.
    assert "Raise the limit to at least 1/3." in result.stderr
    assert not (folder / "out").exists()
    assert not (folder / "vault").exists()


def test_nothing_is_written_over_unless_asked(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    first = (folder / "out/release.json").read_bytes()
    words = ("publish", "loans.csv", "-p", policy, "-o", "out", "--custody", "vault")
    assert 2 == privet(*words).exit_code
    assert first == (folder / "out/release.json").read_bytes()
    assert 0 == privet(*words, "--replace", "--format", "csv").exit_code
    assert (folder / "out/table.csv").exists()
    assert not (folder / "out/table.parquet").exists()
    assert 0 == privet("verify", "out").exit_code


def test_the_file_s_name_may_choose_the_format(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet, out="out/loans.csv")
    assert "⊥" in (folder / "out/loans.csv").read_text("utf-8")
    assert 0 == privet("verify", "out").exit_code


def test_a_recipe_is_applied_to_a_later_delivery(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    later = delivered("Cook,US,No,Never,G,3", "later.csv")
    words = ("-p", policy, "-o", "may", "--custody", "vault-may")
    recipe = ("--recipe", "vault/recipe.json")
    assert 0 == privet("publish", later, *words, *recipe).exit_code
    table = pq.read_table(folder / "may/table.parquet")
    assert 27 == sum(table["count"].to_pylist())
    assert {"US", "France", "⊥"} == set(table["country"].to_pylist())


def test_a_recipe_that_breaks_a_promise_now_is_refused(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    later = delivered("Cook,US,No,Discharged,G,90", "later.csv")
    result = privet(
        *("publish", later, "-p", policy, "-o", "may", "--custody", "v2"),
        *("--recipe", "vault/recipe.json"),
    )
    assert 4 == result.exit_code
    assert not (folder / "may").exists()


def test_an_earlier_release_is_judged_together(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    second = extended(policy, '[[earlier]]\ncustody = "vault"', "second.toml")
    words = ("-p", second, "-o", "out2", "--custody", "vault2", "--json")
    result = privet("publish", "loans.csv", *words)
    told = json.loads(result.stdout)
    assert (0, "safe") == (result.exit_code, told["verdict"])
    assert ["exact"] == [f["basis"] for f in told["together"]]
    assert "nothing new" in told["together"][0]["note"]


@pytest.mark.parametrize(
    ("past", "code", "said"),
    [
        ("Never", 0, "even so everybody stays within the limit"),
        ("Discharged", 1, "a person came with the later delivery can be 100 % sure"),
    ],
)
def test_who_came_since_an_earlier_release_is_judged(
    past: str, code: int, said: str, privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    later = delivered(f"Cook,US,No,{past},G,1", "more.csv")
    second = extended(policy, '[[earlier]]\ncustody = "vault"', "second.toml")
    places = ("-o", "out2", "--custody", "vault2")
    result = privet("publish", later, "-p", second, *places)
    assert code == result.exit_code
    assert "1 rows new, 24 kept, 0 gone" in result.stdout
    assert said in result.stdout
    assert (code == 0) == (folder / "out2").exists()


def test_an_earlier_release_of_other_rows_leaves_it_undecided(
    privet: Privet, policy: str, folder: Path
) -> None:
    """The earlier rows are gone, hence nobody can tell who came and who left."""
    released(privet)
    later = delivered("Cook,US,No,Never,G,1", "more.csv")
    Path("loans.csv").unlink()
    second = extended(policy, '[[earlier]]\ncustody = "vault"', "second.toml")
    result = privet(
        *("publish", later, "-p", second),
        *("-o", "out2", "--custody", "vault2"),
    )
    assert 3 == result.exit_code
    assert "Undecided" in result.stdout
    assert not (folder / "out2").exists()


def test_a_changed_release_is_refused(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet, "--format", "csv")
    table = folder / "out/table.csv"
    table.write_text(table.read_text("utf-8").replace("France", "Spain"), "utf-8")
    result = privet("verify", "out")
    assert 1 == result.exit_code
    assert "digest differs" in result.stdout
    assert json.loads(privet("verify", "out", "--json").stdout)["problems"]


def test_a_manifest_that_claims_too_much_is_refused(
    privet: Privet, policy: str, folder: Path
) -> None:
    released(privet)
    path = folder / "out/release.json"
    content = json.loads(path.read_text("utf-8"))
    content["promises"][0]["worst"] = "1/2"
    path.write_text(json.dumps(content), encoding="utf-8")
    result = privet("verify", "out", "-q")
    assert (1, "refused") == (result.exit_code, result.stdout.strip())


def test_no_release_no_verification(privet: Privet, folder: Path) -> None:
    (folder / "empty").mkdir()
    result = privet("verify", "empty")
    assert 2 == result.exit_code
    assert "release.json" in result.stderr


@pytest.mark.parametrize(
    ("more", "options", "code", "said"),
    [
        ('name = "insiders"\nbelow = 0.9', [], 0, []),
        (
            'name = "insiders"\nbelow = 0.9',
            ["--paper"],
            4,
            ["does not reach 'insiders'", "--method mondrian"],
        ),
        (
            'victim = "Tom"\nat_most = 1',
            [],
            2,
            ["by name must not be in a policy that is published"],
        ),
    ],
    ids=["insiders lead", "insiders in the end", "people by name"],
)
def test_some_promises_stop_a_release(
    privet: Privet,
    policy: str,
    more: str,
    options: list[str],
    code: int,
    said: list[str],
) -> None:
    stated = extended(policy, f'[[promise]]\nagainst = "insider"\n{more}', "more.toml")
    result = privet("publish", "loans.csv", "-p", stated, "--dry-run", *options)
    assert code == result.exit_code
    assert all(words in result.stderr for words in said)


def test_promises_against_insiders_are_kept_and_verified(
    privet: Privet, policy: str, folder: Path
) -> None:
    insider = "[[promise]]\nagainst = 'insider'\nat_most = 1\n"
    insider += "about = { bankruptcy = 'Discharged' }"
    kept = extended(policy, insider, policy)
    made = privet("publish", "loans.csv", "-p", kept, "-o", "o", "--custody", "v")
    assert 0 == made.exit_code
    assert 0 == privet("verify", "o").exit_code


def test_in_a_shell_of_its_own(process: Process, policy: str, folder: Path) -> None:
    done = process(
        "PRIVET publish loans.csv -p policy.toml -o out --custody vault -q "
        "&& PRIVET verify out -q"
    )
    assert (0, "safe\nverified\n", "") == (done.returncode, done.stdout, done.stderr)


def disclose(privet: Privet, *more: str) -> dict[str, object]:
    """What a dry run says, as JSON."""
    result = privet(
        "publish", "loans.csv", "-p", "policy.toml", "--dry-run", "--json", *more
    )
    assert 0 == result.exit_code, result.output
    told: dict[str, object] = json.loads(result.stdout)
    return told


@pytest.mark.usefixtures("policy")
def test_the_search_has_options(privet: Privet, folder: Path) -> None:
    usual = disclose(privet)
    paper = disclose(privet, "--paper")
    assert ("finished", "chosen") == (usual["ended"], paper["ended"])
    assert {"country"} == set(usual["columns"])  # type: ignore[call-overload]
    assert {"job", "country"} == set(paper["columns"])  # type: ignore[call-overload]
    plain = disclose(privet, "--improve", "no", "--unweighted", "--split", "infogain")
    assert {"job", "country"} == set(plain["columns"])  # type: ignore[call-overload]
    cells = disclose(privet, "--utility", "distortion", "--ordered", "")
    assert "finished" == cells["ended"]
    lines = ["Canada;America;*", "US;America;*", "France;Europe;*", "UK;Europe;*"]
    (folder / "countries.csv").write_text("\n".join(lines), encoding="utf-8")
    nodes = disclose(privet, "--hierarchy", "country=countries.csv")
    country = nodes["columns"]["country"]  # type: ignore[index]
    assert (0, 1) == (country["hidden_values"], country["labels"])


@pytest.mark.usefixtures("policy")
def test_options_that_do_not_go_together_are_refused(
    privet: Privet, folder: Path
) -> None:
    for method, option in (
        ("mondrian", ["--paper"]),
        ("mondrian", ["--unweighted"]),
        ("full-domain", ["--ordered", "job"]),
    ):
        given = ["publish", "loans.csv", "-p", "policy.toml", "--dry-run"]
        result = privet(*given, "--method", method, *option)
        assert 2 == result.exit_code
        assert f"does not go with --method {method}" in result.output
    released(privet)
    again = ["publish", "loans.csv", "-p", "policy.toml", "--dry-run"]
    for name, value in (("improve", "no"), ("marker", "##"), ("keep", "job")):
        result = privet(*again, "--recipe", "vault/recipe.json", f"--{name}", value)
        assert 2 == result.exit_code
        assert f"--{name} does not go with --recipe" in result.output
    assert not (folder / "second").exists()


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "full-domain", "--leave-out"], "must go with --suppress"),
        (["--method", "subtrees", "--price", "0.5"], "must go with --suppress"),
        (["--paper", "--improve", "thorough"], "--improve must be no with --paper"),
        (["--paper", "--split", "valid"], "--split must be infogain with --paper"),
        (["--hierarchy", "bankruptcy=auto"], "'bankruptcy' is shown as it is"),
        (["--ordered", "bankruptcy"], "'bankruptcy' is shown as it is"),
        (["--keep", "job", "--ordered", "job"], "'job' is shown as it is"),
        (
            ["--method", "mondrian", "--form", "buckets", "--hidden", "null"],
            "left out for buckets",
        ),
        (
            ["--method", "mondrian", "--form", "buckets", "--ranges", "columns"],
            "left out for buckets",
        ),
    ],
)
def test_nothing_is_asked_for_in_vain(
    privet: Privet, options: list[str], words: str
) -> None:
    result = privet("publish", "loans.csv", "-p", "policy.toml", "--dry-run", *options)
    assert 2 == result.exit_code
    assert words in " ".join(result.output.split())
