"""Several rows per person, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Privet

VISITS = """\
patient,visit,born,town,ill
1,2024-01-08,1961,Ely,flu
1,2024-03-02,1961,Bath,asthma
2,2024-02-11,1984,Ely,flu
3,2024-01-20,1984,Ely,hiv
4,2024-04-17,1961,Bath,flu
5,2024-02-03,1984,Ely,flu
"""

POLICY = """\
[columns]
unit = "patient"
quasi = ["born", "town"]
sensitive = "ill"
drop = "visit"
[person]
order = "visit"
last = "town"
set = "ill"
[[promise]]
name = "hiv"
against = "linker"
knows = ["born", "town"]
about = { ill = "hiv" }
at_most = 0.4
"""


@pytest.fixture
def visits(folder: Path) -> Path:
    (folder / "visits.csv").write_text(VISITS, encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_are_audited_published_and_verified_as_people(
    privet: Privet, visits: Path, form: str
) -> None:
    audited = privet("audit", "visits.csv", "-p", "policy.toml")
    assert "6 rows stood for 5 people, up to 2 for one." in audited.output
    where = ["-o", "out", "--custody", "vault", "--format", form, "--json"]
    made = privet("publish", "visits.csv", "-p", "policy.toml", *where)
    assert 0 == made.exit_code, made.output
    told = json.loads(made.stdout)
    assert 5 == told["people"]["people"]
    assert "stood for" in told["people"]["words"]
    checked = privet("verify", "out", "--custody", "vault")
    assert 0 == checked.exit_code, checked.output
    judged = privet("audit", "out", "-p", "policy.toml")
    assert 0 == judged.exit_code, judged.output
    found = privet("skyline", "out", "--json", "--confidence", "0.99")
    assert "basis" in found.output or '"points": []' in found.output


def test_a_column_that_varies_is_named_and_counted(
    privet: Privet, visits: Path
) -> None:
    text = POLICY.replace('last = "town"\n', "")
    (visits / "policy.toml").write_text(text, encoding="utf-8")
    found = privet("audit", "visits.csv", "-p", "policy.toml")
    assert 2 == found.exit_code
    assert "'town' (it differs for 1 of 5 people)" in found.output
    assert "Bath" not in found.output


def test_without_person_the_refusal_names_it(privet: Privet, visits: Path) -> None:
    text = POLICY.replace(POLICY[POLICY.index("[person]") : POLICY.index("[[")], "")
    (visits / "policy.toml").write_text(text, encoding="utf-8")
    where = ["-o", "out", "--custody", "vault"]
    found = privet("publish", "visits.csv", "-p", "policy.toml", *where)
    assert 2 == found.exit_code
    assert "[person] in the policy" in found.output
    assert not (visits / "out").exists()
