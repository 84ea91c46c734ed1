"""Publishing groups from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import ALL_COLUMNS, Privet

STATED = """
[[promise]]
name = "nobody is sure"
against = "linker"
knows = ["job", "country", "child", "rating"]
about = { bankruptcy = "Discharged" }
at_most = 0.75

[[measure]]
k_anonymity = 3
"""


@pytest.fixture
def policy(folder: Path) -> str:
    text = ALL_COLUMNS + STATED
    (folder / "groups.toml").write_text(text, encoding="utf-8")
    return "groups.toml"


def publish(privet: Privet, *more: str) -> tuple[int, str]:
    result = privet(
        "publish", "loans.csv", "-p", "groups.toml", "--method", "mondrian", *more
    )
    return result.exit_code, result.output


@pytest.mark.parametrize("form", ["generalised", "buckets"])
def test_groups_are_published_verified_and_audited(
    privet: Privet, policy: str, folder: Path, form: str
) -> None:
    code, shown = publish(privet, "-o", "out", "--custody", "vault", "--form", form)
    assert 0 == code, shown
    assert "✓ Safe: every promise is kept (2)." in shown
    assert " groups of " in shown
    assert "No group can be split further." in shown
    assert 0 == privet("verify", "out").exit_code
    assert 0 == privet("verify", "out", "--custody", "vault", "-q").exit_code
    refused = privet("audit", "out")
    assert (2, True) == (refused.exit_code, "privet verify out" in refused.output)
    result = privet("audit", "out", "-p", policy)
    assert 0 == result.exit_code, result.output
    public = (folder / "out" / "README.txt").read_text(encoding="utf-8")
    assert "k_anonymity at least 3" in public


def test_one_object_tells_about_groups(privet: Privet, policy: str) -> None:
    code, shown = publish(privet, "--dry-run", "--json", "--same-cuts")
    assert 0 == code, shown
    told = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    assert "mondrian" == told["method"]
    groups = told["groups"]
    assert 24 == groups["people"]
    assert groups["smallest"] >= 3
    assert {"job", "country", "child"} == set(groups["width"])


def test_hierarchies_come_with_the_call(
    privet: Privet, policy: str, folder: Path
) -> None:
    jobs = "Clerk;Office\nCook;Kitchen\nTrader;Office\nManager;Office\n"
    (folder / "jobs.csv").write_text(jobs, encoding="utf-8")
    code, shown = publish(privet, "--dry-run", "--hierarchy", "job=jobs.csv")
    assert 0 == code or "must have a row for every value" in shown
    code, shown = publish(privet, "--dry-run", "--hierarchy", "job")
    assert 2 == code
    assert "COLUMN=FILE" in shown


@pytest.mark.parametrize(
    "words",
    [
        ("--keep", "job"),
        ("--marker", "#"),
        ("--utility", "beauty"),
        ("--suppress", "2"),
        ("--hide", "job="),
        ("--hide", "job"),
    ],
)
def test_wrong_use_is_explained(
    privet: Privet, policy: str, words: tuple[str, str]
) -> None:
    code, _ = publish(privet, "--dry-run", *words)
    assert 2 == code


def test_options_of_groups_need_the_method(privet: Privet, policy: str) -> None:
    result = privet(
        "publish", "loans.csv", "-p", policy, "--dry-run", "--form", "buckets"
    )
    assert 2 == result.exit_code
    assert "--form does not go with --method disclose" in result.output


def test_what_cannot_be_kept_says_so(privet: Privet, policy: str, folder: Path) -> None:
    text = (folder / policy).read_text().replace("0.75", "0.01")
    (folder / policy).write_text(text, encoding="utf-8")
    code, shown = publish(privet, "--dry-run")
    assert 4 == code
    assert "one group of everybody" in " ".join(shown.split())


def test_two_tables_need_a_folder(privet: Privet, policy: str) -> None:
    code, shown = publish(
        privet, "-o", "out/t.csv", "--custody", "vault", "--form", "buckets"
    )
    assert 2 == code
    assert "folder" in shown
