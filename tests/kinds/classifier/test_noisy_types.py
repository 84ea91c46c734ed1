"""With noise, nobody's cell tells what classes are; rows without one are left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import privet as pv
from privet.cli import cli

POLICY = """\
[columns]
quasi = ["job"]
target = "ill"
{unit}
[domain]
job = ["cook", "nurse"]
ill = {ill}

[privacy]
epsilon = 5
{rows}
[[promise]]
against = "bayesian"
from = 0.51
to = 0.9

[[accepted]]
of = "inversion"
why = "nobody lives here"
who = "nobody"
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lay_out(ills: list[Any], domain: str, *, unit: bool = False) -> None:
    """Two rows of each person where there is a unit."""
    jobs = ["cook", "nurse", "cook"]
    rows = [f"{jobs[i % 3]},{ill}" for i, ill in enumerate(ills)]
    head = "job,ill"
    if unit:
        rows, head = [f"p{i // 2},{row}" for i, row in enumerate(rows)], f"id,{head}"
    Path("people.csv").write_text("\n".join([head, *rows]) + "\n", "utf-8")
    text = POLICY.format(
        ill=domain,
        unit='unit = "id"\n' if unit else "",
        rows="rows_per_person = 2\n" if unit else "",
    )
    Path("p.toml").write_text(text, "utf-8")


def publish(*more: str) -> Result:
    words = ["classifier", "people.csv", "-p", "p.toml", "-o", "out"]
    return CliRunner().invoke(cli, [*words, "--custody", "vault", *more])


def read_type() -> str:
    manifest = json.loads(Path("out/release.json").read_text("utf-8"))
    return str(manifest["columns"]["ill"]["type"])


@pytest.mark.parametrize("ills", [[0, 1] * 30, [0, 1] * 30 + [0.5]])
def test_one_person_does_not_change_the_type(ills: list[Any]) -> None:
    lay_out(ills, '["0", "0.5", "1"]')
    done = publish()
    assert 0 == done.exit_code, done.output
    assert "number" == read_type()
    assert [0, 0.5, 1] == pv.load("out").classifier().classes_.tolist()


def test_a_text_beside_numbers_makes_texts_whether_it_occurs_or_not() -> None:
    lay_out([0, 1] * 30, '{ values = ["0", "1"], other = "another" }')
    done = publish()
    assert 0 == done.exit_code, done.output
    assert "text" == read_type()


@pytest.mark.parametrize("unit", [False, True])
def test_rows_without_a_class_count_nowhere(unit: bool) -> None:
    lay_out([0, 1] * 30 + ["", ""], '["0", "1"]', unit=unit)
    done = publish()
    assert 2 == done.exit_code
    assert "2 have none" in done.output
    assert not Path("out").exists()
    done = publish("--drop-missing-target")
    assert 0 == done.exit_code, done.output
    public = "".join(p.read_text("utf-8") for p in Path("out").iterdir())
    assert "dropped" not in public
    assert '"dropped": 2' in Path("vault/custody.json").read_text("utf-8")
