"""What a ledger adds: attacks by several releases, for every pair of kinds.

Each is a table of a few rows. Without a ledger the second release is safe, and says
that nothing is known of earlier ones; with one it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from privet.cli import cli

NOTHING_KNOWN = "Nothing is known of earlier releases"


class Steward:
    """Somebody at a command line, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *words: str) -> tuple[int, str]:
        found = CliRunner().invoke(cli, list(words))
        return found.exit_code, found.output

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def write_rows(self, name: str, head: str, rows: Sequence[Sequence[str]]) -> None:
        self.write(name, "\n".join([head, *(",".join(r) for r in rows)]) + "\n")

    def release(
        self, command: str, table: str, policy: str, name: str, *more: str
    ) -> tuple[int, str]:
        places = ("-o", f"out-{name}", "--custody", f"vault-{name}")
        return self.run(command, table, "-p", policy, *places, *more)


@pytest.fixture
def steward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steward:
    monkeypatch.chdir(tmp_path)
    found = Steward(tmp_path)
    assert (0, "0\n") == found.run("ledger", "new", "ledger", "-q")
    return found


LEDGER = ("--ledger", "ledger")

LINKER = """
[columns]
quasi = [{quasi}]
sensitive = ["ill"]
drop = [{drop}]

[[promise]]
name = "ill"
against = "linker"
about = {{ ill = "hiv" }}
at_most = "{limit}"
"""

BAYESIAN = """
[[promise]]
name = "class"
against = "bayesian"
about = "ill"
within = 4

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"
"""


def linker(quasi: str, drop: str = "", limit: str = "1/2") -> str:
    names = [", ".join(f'"{c}"' for c in some.split()) for some in (quasi, drop)]
    return LINKER.format(quasi=names[0], drop=names[1], limit=limit)


def write_jobs(steward: Steward) -> None:
    """Section 7 of the specification: files 19/21, who matches rows 1/2."""
    rows = [("T", "U", "hiv")] * 5 + [("T", "U", "ok")] * 5 + [("A", "V", "hiv")] * 5
    rows += [(j, c, "ok") for j in "ABC" for c in "VWX" for _ in range(10)]
    steward.write_rows("people.csv", "job,city,ill", rows)
    steward.write("jobs.toml", linker("job", "city"))
    steward.write("cities.toml", linker("city", "job"))


# Tables -----------------------------------------------------------------------------


def test_tables_of_the_same_rows(steward: Steward) -> None:
    write_jobs(steward)
    assert 0 == steward.release("publish", "people.csv", "jobs.toml", "1", *LEDGER)[0]
    code, text = steward.release("publish", "people.csv", "cities.toml", "alone")
    assert (0, True) == (code, NOTHING_KNOWN in text)
    code, text = steward.release("publish", "people.csv", "cities.toml", "2", *LEDGER)
    assert (1, True, True) == (code, "90.5 %" in text, NOTHING_KNOWN not in text)
    assert not Path("out-2").exists()
    assert not Path("vault-2").exists()
    _, told = steward.run("ledger", "ledger", "--json")
    assert ["table"] == [r["kind"] for r in json.loads(told)["releases"]]


def test_who_has_the_files_may_know_what_was_known_before(steward: Steward) -> None:
    """An audit of the table asks the ledger, too."""
    write_jobs(steward)
    steward.release("publish", "people.csv", "jobs.toml", "1", *LEDGER)
    code, text = steward.run(
        "audit", "people.csv", "-p", "cities.toml", *LEDGER, "--json"
    )
    told = json.loads(text)
    assert (1, "breach", "19/21") == (
        code,
        told["verdict"],
        told["history"]["findings"][0]["posterior"],
    )


def test_the_same_table_again_tells_nothing_new(steward: Steward) -> None:
    write_jobs(steward)
    for name in ("1", "2"):
        code, text = steward.release(
            "publish", "people.csv", "jobs.toml", name, *LEDGER
        )
        assert 0 == code
    assert "nothing new" in text
    assert (0, "2\n") == steward.run("ledger", "ledger", "-q")


def test_matching_may_be_accepted_by_name(steward: Steward) -> None:
    """Rows px1, py0, qx0, qy1: files 1/2, matched rows 1."""
    rows = [("p", "x", "hiv"), ("p", "y", "ok"), ("q", "x", "ok"), ("q", "y", "hiv")]
    steward.write_rows("people.csv", "a,b,ill", rows)
    steward.write("a.toml", linker("a", "b"))
    steward.write("b.toml", linker("b", "a"))
    accepted = (
        '[[accepted]]\nabout = "ill"\nof = "matching"\nwhy = "sealed"\nwho = "A"\n'
    )
    steward.write("c.toml", linker("b", "a") + accepted)
    assert 0 == steward.release("publish", "people.csv", "a.toml", "1", *LEDGER)[0]
    code, text = steward.release("publish", "people.csv", "b.toml", "2", *LEDGER)
    assert (3, True) == (code, "100 %" in text)
    code, text = steward.release("publish", "people.csv", "c.toml", "2", *LEDGER)
    assert (0, True) == (code, "sealed" in text)


# Deliveries -------------------------------------------------------------------------


def write_deliveries(steward: Steward) -> None:
    kept = [("n", "Cook", "UK", "ok")] * 4 + [("m", "Cook", "UK", "hiv")] * 2
    kept += [("q", "Smith", "US", "ok")] * 4 + [("r", "Smith", "US", "hiv")] * 2
    kept += [("z", "Spy", "US", "ok"), ("z", "Spy", "UK", "hiv")]
    people = [(f"{n}{i}", *rest) for i, (n, *rest) in enumerate(kept)]
    new = [("x", "Spy", "UK", "hiv")]
    more = [(f"s{i}", "Cook", "UK", ill) for i, ill in enumerate(["ok"] * 3 + ["hiv"])]
    head = "name,job,country,ill"
    steward.write_rows("may.csv", head, people)
    steward.write_rows("june.csv", head, people + new)
    steward.write_rows("july.csv", head, people + new + more)
    stated = linker("job country").replace(
        "[columns]", '[columns]\nidentifier = ["name"]'
    )
    steward.write("policy.toml", stated)
    assert 0 == steward.release("publish", "may.csv", "policy.toml", "may", *LEDGER)[0]


RECIPE = ("--recipe", "vault-may/recipe.json")


def test_a_single_newcomer_is_seen(steward: Steward) -> None:
    write_deliveries(steward)
    Path("may.csv").rename("elsewhere.csv")  # so that the ledger alone must tell
    code, text = steward.release(
        "publish", "june.csv", "policy.toml", "june", *LEDGER, *RECIPE
    )
    assert (1, True) == (code, "1 rows new, 14 kept, 0 gone" in text)
    assert not Path("out-june").exists()


def test_a_single_newcomer_cannot_be_hidden(steward: Steward) -> None:
    write_deliveries(steward)
    code, text = steward.release(
        "publish", "june.csv", "policy.toml", "june", *LEDGER, *RECIPE
    )
    assert (4, True) == (code, "Hold new rows back" in text)


def test_a_newcomer_is_held_back(steward: Steward) -> None:
    write_deliveries(steward)
    code, text = steward.release(
        "publish", "june.csv", "policy.toml", "june", *LEDGER, *RECIPE, "--hold-back"
    )
    manifest = json.loads(Path("out-june/release.json").read_text("utf-8"))
    assert (0, 14) == (code, manifest["files"][0]["rows"])
    assert "Held back: 1 of 1 new rows wait for a later delivery." in text


def test_enough_newcomers_are_released(steward: Steward) -> None:
    write_deliveries(steward)
    code, text = steward.release(
        "publish", "july.csv", "policy.toml", "july", *LEDGER, *RECIPE
    )
    assert (0, True) == (code, "5 rows new, 14 kept, 0 gone" in text)


def test_a_recipe_names_its_release(steward: Steward) -> None:
    """Without a ledger, and with other rows: custody tells where they were."""
    write_deliveries(steward)
    code, text = steward.release("publish", "july.csv", "policy.toml", "july", *RECIPE)
    assert (0, True) == (code, "5 rows new, 14 kept, 0 gone" in text)
    Path("may.csv").unlink()
    code, text = steward.release("publish", "july.csv", "policy.toml", "again", *RECIPE)
    assert (3, True) == (code, "cannot be told" in text)


# Views ------------------------------------------------------------------------------

VIEWS = """
ledger = "ledger"

[columns]
identifier = ["name"]
sensitive = ["ill"]
quasi = ["age", "job"]

[[view]]
name = "one"
columns = [{one}]

[[view]]
name = "two"
columns = [{two}]

[[promise]]
name = "who has what"
against = "reconstructor"
model = "restricted"
about = {{ name = "*", ill = "*" }}
at_most = "1/2"
"""


def test_views_and_views(steward: Steward) -> None:
    """Names with jobs; then names with ages, and jobs with illnesses.

    Each release alone leaves 33 %, both together 100 %.
    """
    rows = [("Ann", "30", "x", "flu"), ("Ben", "30", "y", "hiv")]
    rows += [("Cid", "30", "z", "ok")]
    steward.write_rows("people.csv", "name,age,job,ill", rows)
    first = VIEWS.format(one='"name", "job"', two='"age", "ill"')
    second = VIEWS.format(one='"name", "age"', two='"job", "age", "ill"')
    steward.write("first.toml", first)
    steward.write("second.toml", second)
    steward.write("alone.toml", second.replace('ledger = "ledger"', ""))
    code, text = steward.release("views", "people.csv", "first.toml", "1")
    assert 0 == code, text
    code, text = steward.release("views", "people.csv", "alone.toml", "alone")
    assert (0, True, True) == (code, "33.3 %" in text, NOTHING_KNOWN in text)
    code, text = steward.release("views", "people.csv", "second.toml", "2")
    assert (1, True) == (code, "100 %" in text)
    assert not Path("out-2").exists()
    assert (0, "1\n") == steward.run("ledger", "ledger", "-q")


def test_a_views_custody_named_to_publish(steward: Steward) -> None:
    write_jobs(steward)
    steward.write(
        "policy.toml", linker("job", "city") + '[[earlier]]\ncustody = "no"\n'
    )
    code, text = steward.release("publish", "people.csv", "policy.toml", "1")
    assert (2, True) == (code, "must exist" in text)
    stated = linker("job", "city") + '[[earlier]]\ncustody = "vault-groups"\n'
    steward.write("policy.toml", stated)
    mondrian = ("--method", "mondrian", "--hide", "job=T")
    assert (
        0
        == steward.release("publish", "people.csv", "jobs.toml", "groups", *mondrian)[0]
    )
    code, text = steward.release("publish", "people.csv", "policy.toml", "1")
    assert (2, True) == (code, "it is that of a table of people in groups" in text)
    assert not Path("out-1").exists()


# Every pair of kinds ----------------------------------------------------------------

PAIRED = """
[columns]
identifier = ["name"]
quasi = ["job", "city"]
sensitive = ["ill"]
target = "ill"

[[view]]
name = "people"
columns = ["name", "city"]

[[view]]
name = "ills"
columns = ["city", "ill"]

[[promise]]
name = "linked"
against = "linker"
about = { ill = "*" }
at_most = "3/4"

[[promise]]
name = "worlds"
against = "reconstructor"
model = "restricted"
about = { name = "*", ill = "*" }
at_most = "3/4"

[[promise]]
name = "guessed"
against = "bayesian"
about = "ill"
from = 0.6
to = 0.9

[[accepted]]
of  = "inversion"
why = "the counts are public"
who = "A. Steward"
"""

DESIGN = """
[[question]]
name = "ill"
values = ["hiv", "ok"]
truth = "5/8"
"""

KINDS = {
    "table": ("publish",),
    "groups": ("publish", "--method", "mondrian"),
    "views": ("views",),
    "classifier": ("classifier",),
    "responses": ("disguise", "-d", "design.toml"),
}

NEW = {  # what becomes of the second of two releases
    ("table", "table"): 0,
    ("table", "groups"): 0,
    ("table", "views"): 3,
    ("table", "classifier"): 0,
    ("table", "responses"): 3,
    ("groups", "table"): 0,
    ("groups", "groups"): 0,
    ("groups", "views"): 3,
    ("groups", "classifier"): 0,
    ("groups", "responses"): 3,
    ("views", "table"): 3,
    ("views", "groups"): 3,
    ("views", "views"): 0,
    ("views", "classifier"): 3,
    ("views", "responses"): 3,
    ("classifier", "table"): 0,
    ("classifier", "groups"): 0,
    ("classifier", "views"): 3,
    ("classifier", "classifier"): 0,
    ("classifier", "responses"): 3,
    ("responses", "table"): 3,
    ("responses", "groups"): 3,
    ("responses", "views"): 3,
    ("responses", "classifier"): 3,
    ("responses", "responses"): 0,
}
"""0: nothing new, or judged and within the limit; 3: no arithmetic, or too much."""


def release_kind(steward: Steward, kind: str, name: str, *more: str) -> tuple[int, str]:
    command, *options = KINDS[kind]
    return steward.release(command, "people.csv", "p.toml", name, *options, *more)


@pytest.mark.parametrize(("first", "second"), list(NEW))
def test_every_pair_of_kinds(steward: Steward, first: str, second: str) -> None:
    rows = [(job, city, ill) for job in "ab" for city in "xy" for ill in ("hiv", "ok")]
    people = [(f"p{i}", *row) for i, row in enumerate(rows * 3)]
    steward.write_rows("people.csv", "name,job,city,ill", people)
    steward.write("p.toml", PAIRED)
    steward.write("design.toml", DESIGN)
    code, text = release_kind(steward, first, "1", *LEDGER)
    assert 0 == code, text
    if first == second:
        code, text = release_kind(steward, second, "alone")
        assert (0, True) == (code, NOTHING_KNOWN in text), text
    code, text = release_kind(steward, second, "2", *LEDGER)
    assert NEW[first, second] == code, text
    assert (code == 0) == Path("out-2").exists()
    assert (0, "2\n" if code == 0 else "1\n") == steward.run("ledger", "ledger", "-q")
