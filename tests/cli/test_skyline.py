"""privet skyline: the frontier, its names, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from release.test_forged import answers, classifier, views

pytestmark = pytest.mark.engines

POLICY = """
[columns]
quasi = ["group"]
sensitive = "value"

[[promise]]
against = "insider"
below = 0.8
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rows = [("1", v) for v in "abcdef"] + [("2", v) for v in "aabcdef"]
    lines = ["group,value", *(",".join(r) for r in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    return str(tmp_path / "t.csv"), str(tmp_path / "p.toml")


def test_the_seven_points(privet, files: tuple[str, str]) -> None:
    table, policy = files
    result = privet("skyline", table, "-p", policy, "--quiet")
    assert 0 == result.exit_code
    points = [tuple(map(int, line.split())) for line in result.stdout.splitlines()]
    slides = {(0, 4, 0), (1, 3, 1), (2, 2, 2), (3, 1, 2), (2, 1, 3), (4, 0, 3)}
    assert sorted(slides | {(3, 0, 4)}) == points


def test_familiar_names_and_an_example(privet, files: tuple[str, str]) -> None:
    table, policy = files
    text = privet("skyline", table, "-p", policy).stdout
    assert text.startswith("✓ Insiders who know at most one of these 7 combinations")
    assert "6-anonymous, distinct 6-diverse and recursive (3, 6)-diverse" in text
    assert "someone who knows that a person's group is 2" in text


def test_json(privet, files: tuple[str, str]) -> None:
    table, policy = files
    result = privet("skyline", table, "-p", policy, "--json", "--max-k", "2")
    told = json.loads(result.stdout)
    assert "safe" == told["verdict"]
    assert "19/20" == told["confidence"]
    assert ["knows_others"] == told["at_cap"]
    assert {"c": 3, "l": 6} == told["familiar"]["recursive_diversity"]
    assert {"rules_out": 0, "knows_others": 2, "same_as": 0} in told["chart"]
    assert told["points"][0]["attack"]["groups"]


def test_nothing_is_safe(privet, files: tuple[str, str]) -> None:
    table, policy = files
    result = privet("skyline", table, "-p", policy, "--confidence", "0.2")
    assert 1 == result.exit_code
    assert "28.6 % sure of somebody's value; that is not below 20 %" in result.stdout


@pytest.mark.parametrize("level", ["0", "1.5", "x"])
def test_nonsense_is_refused(privet, files: tuple[str, str], level: str) -> None:
    table, policy = files
    result = privet("skyline", table, "-p", policy, "--confidence", level)
    assert 2 == result.exit_code
    assert "confidence must be" in result.stderr


def test_a_table_needs_a_policy(privet, files: tuple[str, str]) -> None:
    result = privet("skyline", files[0])
    assert 2 == result.exit_code
    assert "must have a policy" in result.stderr


@pytest.mark.parametrize("kind", [views, classifier, answers])
def test_other_kinds_of_release_have_no_skyline(privet, tmp_path: Path, kind) -> None:
    kind(tmp_path)
    result = privet("skyline", str(tmp_path / "out"))
    assert 2 == result.exit_code
    assert "must be of a table or of groups; 'out' is a release of" in result.stderr
