"""privet views: judge, release, propose."""

from __future__ import annotations

import json
import shutil
from importlib.resources import as_file
from pathlib import Path

import pytest

from privet.demo.tables import clinic_path

pytestmark = pytest.mark.engines

POLICY = """\
title = "Clinic"
[columns]
identifier = "name"
sensitive = "problem"
other = ["age", "job", "number"]

[[view]]
name = "ages"
columns = ["name", "age"]

[[view]]
columns = ["age", "job", "problem"]

[[promise]]
name = "George"
against = "reconstructor"
about = { name = "George", problem = "HIV" }
at_most = LIMIT
"""


@pytest.fixture
def clinic(folder: Path) -> Path:
    with as_file(clinic_path()) as path:
        shutil.copy(path, folder / "clinic.csv")
    (folder / "good.toml").write_text(POLICY.replace("LIMIT", "0.7"))
    (folder / "bad.toml").write_text(POLICY.replace("LIMIT", "0.5"))
    return folder


def test_a_verdict_with_the_words_of_the_paper(clinic, privet):
    done = privet("views", "clinic.csv", "-p", "good.toml")
    assert 0 == done.exit_code, done.output
    assert "  265 tables would give these two views; in 161 of them" in done.output


def test_a_breach_and_its_floor(clinic, privet):
    done = privet("views", "clinic.csv", "-p", "bad.toml")
    assert 1 == done.exit_code
    assert "no limit of 1/2 or less can be kept" in done.output
    assert "Do not release the views as they are." in done.output
    assert "--propose" in done.output


def test_json(clinic, privet):
    done = privet("views", "clinic.csv", "-p", "good.toml", "--json")
    found = json.loads(done.output)["findings"][0]
    assert "161/265" == found["posterior"]
    assert {"unrestricted": "161/265", "restricted": "1/3", "bag": "1/3"} == (
        found["witness"]["shares"]
    )


def test_quiet(clinic, privet):
    assert "safe\n" == privet("views", "clinic.csv", "-p", "good.toml", "-q").output


def test_release_verify_audit(clinic, privet):
    done = privet(
        "views", "clinic.csv", "-p", "good.toml", "-o", "out", "--custody", "vault"
    )
    assert 0 == done.exit_code, done.output
    assert (clinic / "out" / "ages.parquet").is_file()
    assert 0 == privet("verify", "out").exit_code
    assert 0 == privet("audit", "out", "-p", "good.toml").exit_code
    assert 1 == privet("audit", "out", "-p", "bad.toml").exit_code


def test_nothing_is_released_on_a_breach(clinic, privet):
    words = ("views", "clinic.csv", "-p", "bad.toml", "-o", "out", "--custody", "vault")
    assert 1 == privet(*words).exit_code
    assert not (clinic / "out").exists()
    assert not (clinic / "vault").exists()


def test_every_association_and_its_histogram(clinic, privet):
    text = POLICY.replace("LIMIT", "1.0").replace(
        'about = { name = "George", problem = "HIV" }\n', ""
    )
    (clinic / "all.toml").write_text(text)
    done = privet("views", "clinic.csv", "-p", "all.toml")
    assert "1 and more: 2 keys, 2 associations" in done.output


def test_proposals_can_be_pasted_into_a_policy(clinic, privet):
    import tomllib

    text = POLICY.replace("LIMIT", "0.4").replace(
        'against = "reconstructor"', 'against = "reconstructor"\nmodel = "restricted"'
    )
    text = text.replace(', "number"]', ']\ndrop = "number"')  # fewer columns to try
    (clinic / "p.toml").write_text(text)
    done = privet("views", "clinic.csv", "-p", "p.toml", "--propose", "-q")
    assert 0 == done.exit_code, done.output
    first = done.output.split("\n\n")[0]
    views = tomllib.loads(first)["view"]
    assert 2 == len(views)
    assert all("number" not in view["columns"] for view in views)


def test_a_value_that_never_occurs_is_told_with_proposals(clinic, privet):
    text = POLICY.replace("LIMIT", "0.4").replace(
        'against = "reconstructor"', 'against = "reconstructor"\nmodel = "restricted"'
    )
    text = text.replace(', "number"]', ']\ndrop = "number"').replace("HIV", "HIX")
    (clinic / "p.toml").write_text(text)
    judged = privet("views", "clinic.csv", "-p", "p.toml", "--json")
    (note,) = json.loads(judged.stdout)["notes"]
    done = privet("views", "clinic.csv", "-p", "p.toml", "--propose")
    assert 0 == done.exit_code, done.output
    assert f"note: {note}\n" == done.stderr


def test_the_first_proposal_is_released(clinic, privet):
    text = POLICY.replace("LIMIT", "0.4").replace(
        'against = "reconstructor"', 'against = "reconstructor"\nmodel = "restricted"'
    )
    (clinic / "p.toml").write_text(text.replace(', "number"', ""))
    rows = (clinic / "clinic.csv").read_text().splitlines()
    cut = [",".join(row.split(",")[1:]) for row in rows]  # fewer columns to try
    (clinic / "clinic.csv").write_text("\n".join(cut))
    places = ("-o", "out", "--custody", "vault")
    done = privet("views", "clinic.csv", "-p", "p.toml", "--propose", *places)
    assert 0 == done.exit_code, done.output
    assert "Released the first: out" in done.output
    assert 0 == privet("verify", "out").exit_code


def test_infeasible(clinic, privet):
    done = privet("views", "clinic.csv", "-p", "bad.toml", "--propose")
    assert 4 == done.exit_code
    assert "No two views keep" in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"name", "age"', '"name", "agee"'), "view[1].columns"),
        (('columns = ["name", "age"]', ""), "must have columns"),
        (('name = "ages"', 'name = "../x"'), "file is called so"),
        (('name = "ages"', 'name = "view-2"'), "its own name"),
        (("at_most = 0.7", "within = 2"), "at_most or below"),
    ],
)
def test_policies_that_cannot_be_used(clinic, privet, change, message):
    text = (clinic / "good.toml").read_text().replace(*change)
    (clinic / "wrong.toml").write_text(text)
    done = privet("views", "clinic.csv", "-p", "wrong.toml")
    assert 2 == done.exit_code
    assert message in done.stderr


def test_a_policy_without_views(clinic, privet):
    text = "\n".join(
        line
        for line in (clinic / "good.toml").read_text().splitlines()
        if not line.startswith(("[[view]]", "columns = ", 'name = "ages"'))
    )
    (clinic / "none.toml").write_text(text)
    done = privet("views", "clinic.csv", "-p", "none.toml")
    assert 2 == done.exit_code
    assert "[[view]]" in done.stderr


def test_both_folders_are_needed(clinic, privet):
    done = privet("views", "clinic.csv", "-p", "good.toml", "-o", "out")
    assert 2 == done.exit_code
