"""A privacy budget across releases: spent by noise, and refused when it is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import privet as pv

from .conftest import Privet

pytestmark = pytest.mark.engines

POLICY = """
ledger = "ledger"

[columns]
quasi  = ["home", "age"]
target = "pay"

[domain]
home = ["P", "W"]
age  = [30, 40]
pay  = ["50K", "70K"]

[budget]
epsilon = 2
delta   = "1e-6"

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"

[[promise]]
name    = "no mind is moved"
against = "bayesian"
about   = "pay"
from    = 0.51
to      = 0.9
"""


@pytest.fixture
def files(folder: Path, privet: Privet) -> Path:
    rows = ["home,age,pay"]
    rows += ["W,40,70K"] * 40 + ["P,30,70K", "W,40,50K", "P,30,50K"] * 9
    (folder / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "p.toml").write_text(POLICY, encoding="utf-8")
    assert 0 == privet("ledger", "new", "ledger").exit_code
    return folder


def publish(privet: Privet, name: str, *more: str) -> tuple[int, str]:
    places = ("-o", name, "--custody", f"vault-{name}")
    done = privet("classifier", "t.csv", "-p", "p.toml", *places, *more)
    return done.exit_code, done.output


def test_refused_when_it_is_spent(files: Path, privet: Privet) -> None:
    assert 0 == publish(privet, "one", "--epsilon", "0.75")[0]
    code, said = publish(privet, "two", "--epsilon", "0.75")
    assert (0, True) == (code, "limited by the budget" in said)
    before = pv.Ledger.open("ledger").head
    code, said = publish(privet, "three", "--epsilon", "0.75")
    assert 4 == code
    assert "of epsilon 2, 0.5 is left, and this release would cost 0.75" in said
    assert "Nothing was drawn." in said
    assert not (files / "three").exists()
    assert not (files / "vault-three").exists()
    assert before == pv.Ledger.open("ledger").head
    assert 0 == publish(privet, "last", "--epsilon", "1/2")[0]
    assert 4 == publish(privet, "more", "--epsilon", "1/1000")[0]


def test_the_ledger_says_what_is_spent_and_left(files: Path, privet: Privet) -> None:
    empty = privet("ledger", "-p", "p.toml")
    assert "Spent on noise: epsilon 0 at delta 1e-06; of 2, 2 is left." in empty.output
    publish(privet, "one", "--epsilon", "0.75")
    listed = privet("ledger", "-p", "p.toml")
    assert "Noise: epsilon 0.75." in listed.output
    assert "epsilon 0.75 at delta 1e-06; of 2, 1.25 is left." in listed.output
    bare = privet("ledger", "ledger")
    assert "Spent on noise: epsilon 0.75." in bare.output
    told = json.loads(privet("ledger", "-p", "p.toml", "--json").output)
    assert "3/4" == told["spent"]["epsilon"]
    assert "5/4" == told["spent"]["left"]
    assert {"pure_epsilon": "3/4"} == told["releases"][0]["loss"]


def test_concentrated_losses_add_up_as_such(files: Path, privet: Privet) -> None:
    """Each of rho 0.02 is an epsilon of 0.9 by itself; four of them are not 3.6."""
    for name in ("one", "two", "three"):
        assert 0 == publish(privet, name, "--rho", "0.02")[0]
    told = json.loads(privet("ledger", "-p", "p.toml", "--json").output)["spent"]
    assert "3/50" == told["rho"]
    spent = pv.PrivacyLoss.from_rho("0.06").epsilon_at("1e-6")
    assert str(spent) == told["epsilon"]
    assert 1.6 < spent < 1.7
    code, said = publish(privet, "four", "--rho", "0.04")
    assert (4, True) == (code, "must not be overdrawn" in said)


def test_without_noise_nothing_is_released(files: Path, privet: Privet) -> None:
    code, said = publish(privet, "one")
    assert (2, True) == (code, "must have noise under a policy with [budget]" in said)
    places = ("-o", "one", "--custody", "vault-one")
    table = POLICY + (
        '\n[[promise]]\nname = "t"\nagainst = "linker"\nabout = "pay"\nat_most = 1\n'
    )
    (files / "p.toml").write_text(table.replace('target = "pay"', 'sensitive = "pay"'))
    done = privet("publish", "t.csv", "-p", "p.toml", *places)
    assert 2 == done.exit_code
    assert "A table must have noise under a policy with [budget]" in done.output
    assert [] == list(pv.Ledger.open("ledger").entries)


def test_without_a_budget_two_releases_stay_open(files: Path, privet: Privet) -> None:
    head, _, tail = POLICY.partition("[budget]")
    without = head + "[[accepted]]" + tail.partition("[[accepted]]")[2]
    (files / "p.toml").write_text(without, encoding="utf-8")
    assert 0 == publish(privet, "one", "--epsilon", "1")[0]
    code, said = publish(privet, "two", "--epsilon", "1")
    assert (3, True) == (code, "declare a [budget] for them" in said)
    assert not (files / "two").exists()


@pytest.mark.parametrize("section", ["[privacy]", "[budget]"])
def test_views_and_answers_have_no_noise(
    files: Path, privet: Privet, section: str
) -> None:
    views = f"""
columns = {{ identifier = "home", sensitive = "pay", drop = "age" }}
view = [{{ columns = ["home"] }}, {{ columns = ["pay"] }}]
[[promise]]
against = "reconstructor"
model = "restricted"
about = {{ home = "*", pay = "*" }}
at_most = 0.9
{section}
epsilon = 1
"""
    (files / "v.toml").write_text(views, encoding="utf-8")
    places = ("-o", "one", "--custody", "vault-one")
    done = privet("views", "t.csv", "-p", "v.toml", *places)
    assert 2 == done.exit_code
    assert f"Views must have noise under a policy with {section}" in done.output
    asked = '[[question]]\nname = "pay"\nvalues = ["50K", "70K"]\ntruth = 0.8\n'
    (files / "d.toml").write_text(asked, encoding="utf-8")
    answers = f"""
columns = {{ drop = ["home", "age"] }}
[[promise]]
against = "bayesian"
about = "pay"
within = 9
{section}
epsilon = 1
"""
    (files / "a.toml").write_text(answers, encoding="utf-8")
    done = privet("disguise", "t.csv", "-d", "d.toml", "-p", "a.toml", *places)
    assert 2 == done.exit_code
    assert "Disguised answers must have noise" in done.output
    assert not (files / "one").exists()


def test_a_budget_needs_its_ledger(files: Path, privet: Privet) -> None:
    without = POLICY.replace('ledger = "ledger"', "")
    (files / "p.toml").write_text(without, encoding="utf-8")
    code, said = publish(privet, "one", "--epsilon", "1")
    assert (2, True) == (code, "A budget must go with a ledger" in said)
    assert 0 == publish(privet, "one", "--epsilon", "1", "--ledger", "ledger")[0]


def test_what_has_no_noise_is_covered_by_no_budget(files: Path, privet: Privet) -> None:
    pv.Ledger.open("ledger").add("t.csv", title="theirs")
    code, said = publish(privet, "one", "--epsilon", "1")
    assert 4 == code
    assert "'1. theirs' is in the ledger, too, and has none" in said


def test_a_policy_says_it_all(files: Path, privet: Privet) -> None:
    more = '[privacy]\nepsilon = 1\ndelta = "1e-7"\nnoise = "gauss"\n\n[[accepted]]'
    text = POLICY.replace("[[accepted]]", more)
    (files / "p.toml").write_text(text, encoding="utf-8")
    assert 0 == publish(privet, "one")[0]
    manifest = json.loads((files / "one" / "release.json").read_text("utf-8"))
    assert ("1", "gauss") == tuple(manifest["privacy"][k] for k in ("epsilon", "noise"))
    assert 0 == publish(privet, "two", "--epsilon", "1/4")[0]
    checked = privet("verify", "two", "--custody", "vault-two")
    assert 0 == checked.exit_code, checked.output
