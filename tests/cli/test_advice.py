"""Advice that holds: where hiding cannot help, limits that can be kept, empty ones."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from cli.conftest import COLUMNS, KEPT, Privet
from privet.policy import Policy

COMMON = "job,town,ill\n" + "A,x,no\nA,x,no\nA,y,no\nB,y,no\nB,x,yes\nB,y,no\n"

ANY_VALUE = """\
[columns]
quasi = ["job", "town"]
sensitive = "ill"

[[promise]]
name = "any value"
against = "{against}"
about = "ill"
at_most = 0.5
"""


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


# Hiding cannot help -----------------------------------------------------------------


@pytest.mark.parametrize("against", ["linker", "insider"])
def test_a_common_value_cannot_be_hidden(
    privet: Privet, folder: Path, against: str
) -> None:
    """Five of six are well: whatever is hidden, everybody is 83 % sure of that."""
    table = write(folder, "people.csv", COMMON)
    policy = write(folder, "p.toml", ANY_VALUE.format(against=against))
    result = privet("audit", table, "-p", policy)
    assert 1 == result.exit_code
    assert (
        "Hiding cannot help: ill is no for 83.3 % of everybody (5 of 6), so no coarser "
        "table keeps the promise."
    ) in result.stdout
    assert "privet publish" not in result.stdout
    assert (
        4
        == privet(
            "publish", table, "-p", policy, "--dry-run", *method(against)
        ).exit_code
    )


def method(against: str) -> list[str]:
    return ["--method", "mondrian"] if against == "insider" else []


@pytest.mark.parametrize("against", ["linker", "insider"])
def test_a_rare_value_can_be(privet: Privet, folder: Path, against: str) -> None:
    table = write(folder, "people.csv", COMMON)
    text = ANY_VALUE.format(against=against).replace('"ill"\nat', '{ ill = "yes" }\nat')
    policy = write(folder, "p.toml", text.replace("0.5", "0.2"))
    result = privet("audit", table, "-p", policy)
    assert 1 == result.exit_code
    assert "Hiding cannot help" not in result.stdout
    assert "privet publish" in result.stdout


# Drafts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("well", "limit"), [(1, 0.5), (5, 0.9), (30, 0.99), (300, None)]
)
def test_a_drafted_limit_is_above_the_commonest_share(
    privet: Privet, folder: Path, well: int, limit: float | None
) -> None:
    """One or two with each other value, and so many who are well."""
    rows = [f"{'AB'[i % 2]},none" for i in range(well)]
    rows += ["A,flu"] + (["B,hiv"] if well == 1 else [])
    table = write(folder, "people.csv", "\n".join(["job,diagnosis", *rows, ""]))
    result = privet("init", table, "-o", "draft.toml")
    assert 0 == result.exit_code
    text = (folder / "draft.toml").read_text(encoding="utf-8")
    drafted = tomllib.loads(text).get("promise", [])
    assert ([] if limit is None else [limit]) == [p["at_most"] for p in drafted]
    lifted = limit not in (0.5, None)
    assert lifted == ("its commonest value alone is at" in text)
    assert (limit is None) == ("Name the values that nobody should learn" in text)
    assert "none" not in text.replace("none was guessed", "")


# Empty promises ---------------------------------------------------------------------

EMPTY = KEPT.replace("0.8", "1").replace("nearly nobody", "anybody")


def test_a_ceiling_of_one_is_empty(privet: Privet, folder: Path) -> None:
    policy = write(folder, "empty.toml", COLUMNS + EMPTY)
    result = privet("audit", "loans.csv", "-p", policy, "--json")
    told = json.loads(result.stdout)
    assert result.exit_code != 0
    assert "safe" != told["verdict"]
    (found,) = (f for f in told["findings"] if f["promise"].startswith("anybody"))
    assert "not applicable" == found["verdict"]
    assert (
        "It forbids nothing, so keeping it proves nothing: nobody is surer than that."
    ) == found["note"]
    assert "4/5" == found["posterior"]


def test_empty_promises_fail_under_strict(privet: Privet, folder: Path) -> None:
    policy = write(folder, "empty.toml", COLUMNS + EMPTY)
    result = privet("audit", "loans.csv", "-p", policy, "--strict")
    assert 2 == result.exit_code
    assert "must forbid something; nobody is surer than that." in result.stderr


@pytest.mark.parametrize(
    ("key", "level", "empty"),
    [
        ("k_anonymity", 1, True),
        ("k_anonymity", 2, False),
        ("prosecutor_risk", 1, True),
        ("prosecutor_risk", "0.9", False),
        ("t_closeness", 1, True),
        ("entropy_l_diversity", 1, True),
        ("distinct_l_diversity", 1, True),
        ("alpha_k_anonymity", 1, True),
    ],
)
def test_measures_that_every_table_reaches(
    key: str, level: object, empty: bool
) -> None:
    from privet import Measure

    assert empty != Measure(**{key: level}).forbids_something()


def test_a_policy_of_empty_promises_is_read(folder: Path) -> None:
    """Reading says nothing yet: whether a limit is empty may depend on the table."""
    Policy.load(folder / write(folder, "empty.toml", COLUMNS + EMPTY))
