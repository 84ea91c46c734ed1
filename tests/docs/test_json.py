"""Every field that a command prints as JSON stands on the page; and no other does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner
from making import json_fields as fields

import privet as pv
from privet.cli import cli
from privet.demo.tables import bank_path, clinic_path

BANK, CLINIC = str(bank_path()), str(clinic_path())

RESTRICTED = """
[[promise]]
against = "reconstructor"
model = "restricted"
at_most = "1/2"
"""


def stated(promise: str, **columns: object) -> str:
    """A policy with these columns and what it promises."""
    named = [f"{role} = {json.dumps(names)}" for role, names in columns.items()]
    return "\n".join(["[columns]", *named, promise])


FILES = {
    "linker.toml": stated(
        """
[[promise]]
against = "linker"
about = { bankruptcy = "Discharged" }
at_most = 0.75
""",
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        drop="rating",
        weight="count",
    ),
    "some.toml": stated(
        """
[[promise]]
against = "linker"
knows = ["job"]
about = { bankruptcy = "Discharged" }
at_most = 0.75
""",
        quasi=["job", "country"],
        sensitive="bankruptcy",
        weight="count",
    ),
    "target.toml": stated(
        """
[[promise]]
against = "linker"
about = { bankruptcy = "Discharged" }
at_most = 0.75
""",
        quasi=["job", "country", "child"],
        sensitive="bankruptcy",
        target="rating",
        weight="count",
    ),
    "insider.toml": stated(
        """
[[promise]]
against = "insider"
rules_out = 1
same_as = 1
below = 0.99
[[measure]]
k_anonymity = 2
""",
        quasi="area",
        sensitive="ill",
    ),
    "families.csv": "home,area,ill\nx,1,a\nx,2,a\n,1,a\n,2,a\n,1,b\n,2,b\n",
    "families.toml": stated(
        """
[[promise]]
against = "insider"
rules_out = 1
sure = 0.5
households = "home"
below = 0.99
""",
        identifier="home",
        quasi="area",
        sensitive="ill",
    ),
    "views.toml": stated(RESTRICTED, identifier="area", sensitive="ill"),
    "shown.toml": stated(
        f"""{RESTRICTED}
[[promise]]
name = "everything"
against = "reconstructor"
at_most = "2/3"
[[view]]
columns = ["name", "age"]
[[view]]
columns = ["age", "job", "problem"]
""",
        identifier="name",
        sensitive="problem",
    ),
    **{
        f"{name}.toml": stated(
            f"[[promise]]\nagainst = 'bayesian'\nabout = 'rating'\n{limit}\n"
            "[[accepted]]\nof = 'inversion'\nwhy = 'known'\nwho = 'A. Steward'\n"
            "[domain]\njob = { values = ['Cook'], other = 'x' }\nrating = ['B', 'G']\n",
            quasi="job",
            drop=["country", "child", "bankruptcy"],
            target="rating",
            weight="count",
        )
        for name, limit in {
            "shift": "from = 0.51\nto = 0.9",
            "prior": "prior = { B = 0.4, G = 0.6 }\nwithin = 3",
        }.items()
    },
    "countries.toml": stated(
        "[[promise]]\nagainst = 'bayesian'\nat_most = 0.5\n"
        "[[accepted]]\nof = 'inversion'\nwhy = 'known'\nwho = 'A. Steward'\n",
        quasi="job",
        drop=["rating", "child", "bankruptcy"],
        target="country",
        weight="count",
    ),
    "design.toml": """
[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.8
""",
    "answers.toml": "[[promise]]\nagainst = 'bayesian'\nabout = 'smokes'\nwithin = 4",
    "answers.csv": "smokes\n" + "yes\nno\nno\n" * 20,
    "pair.toml": """
[[question]]
name = "smokes"
values = ["no", "yes"]
truth = 0.8
[[question]]
name = "ill"
values = ["no", "yes"]
truth = 0.8
""",
    "pair.csv": "smokes,ill\n" + "yes,yes\nno,no\nno,yes\n" * 20,
    "dated.csv": "visit_date,sex,diagnosis\n"
    + "".join(f"2024-01-{i:02},{'fm'[i % 2]},d{i % 5}\n" for i in range(1, 29)),
    "ill.csv": "area,ill\n" + "".join(f"a{i % 2},i{i % 5}\n" for i in range(20)),
}
DRAWN = ["-o", "d", "--custody", "dv"]
OUT = ["-o", "out", "--custody", "vault"]
NOISY = ["-o", "out-1", "--custody", "vault-1", "--ledger", "noisy"]

TABLE = ["-o", "table", "--custody", "kept", "--sign", "signing-key.pem"]
PAIR = ["pair.csv", "-d", "pair.toml"]

SWEPT = ["--sweep", "linker about bankruptcy = Discharged=0.5,0.75"]

RUNS: dict[str, list[list[str]]] = {
    "keys": [["keys", "new", "--name", "Loans desk"]],
    "init": [["init", BANK], ["init", "dated.csv"]],
    "audit": [
        ["audit", BANK, "-p", "linker.toml"],
        ["audit", "ill.csv", "-p", "insider.toml"],
        ["audit", "families.csv", "-p", "families.toml"],
        ["audit", BANK, "-p", "some.toml"],
    ],
    "discover": [
        ["discover", BANK, "-p", "linker.toml"],
        ["discover", BANK, "-p", "linker.toml", "--confidence", "0.4"],
    ],
    "compare": [
        ["compare", BANK, "-p", "target.toml", "--methods", "disclosure,mondrian"],
    ],
    "compare --sweep": [
        ["compare", BANK, "-p", "linker.toml", "--methods", "mondrian", *SWEPT],
    ],
    "skyline": [["skyline", "ill.csv", "-p", "insider.toml", "--confidence", "0.99"]],
    "views": [["views", CLINIC, "-p", "shown.toml"]],
    "views --propose": [["views", "ill.csv", "-p", "views.toml", "--propose"]],
    "publish": [
        ["publish", BANK, "-p", "linker.toml", *TABLE],
        ["publish", BANK, "-p", "linker.toml", "--dry-run", "--method", "mondrian"],
        ["publish", BANK, "-p", "target.toml", "--dry-run"],
    ],
    "verify": [["verify", "table"]],
    "classifier": [
        ["classifier", BANK, "-p", "shift.toml", *OUT, "--mitigations"],
        ["classifier", BANK, "-p", "prior.toml", "--dry-run"],
        ["classifier", BANK, "-p", "countries.toml", "--dry-run"],
        ["classifier", BANK, "-p", "shift.toml", *NOISY, "--epsilon", "1"],
    ],
    "ledger": [
        ["ledger", "new", "ledger"],
        ["ledger", "add", BANK, "--ledger", "ledger"],
        ["ledger", "noisy"],
    ],
    "report": [["report", BANK, "-p", "linker.toml", "-o", "report.md"]],
    "audit --as inverter": [["audit", "out", "--as", "inverter", "--custody", "vault"]],
    "disguise": [
        ["disguise", "answers.csv", "-d", "design.toml", "-p", "answers.toml", *DRAWN]
    ],
    "estimate": [["estimate", "d"]],
    "learn": [["learn", *PAIR, "--target", "ill", "-o", "m.json"]],
    "score": [["score", "m.json", *PAIR]],
    "audit --as collector": [["audit", "d", "--as", "collector"]],
    "plan": [["plan", "design.toml"]],
}
"""Commands that print every field between them, in an order that works."""

RARE = {
    "publish": {"columns.*.intervals", "columns.*.labels"}
    | {"uncovered.about", "uncovered.words"},
}
"""What is printed in rarer cases."""

WHOLE = {
    "discover": {
        "known",
        "matrix",
        "rules.about",
        "rules.witness",
        "everybody.about",
    },
    "compare": {
        *("methods.figures", "methods.promises", "methods.hidden"),
        *("methods.utility", "methods.exposure"),
    },
    "compare --sweep": {"points.figures"},
    "skyline": {"caps", "points.attack", "familiar.recursive_diversity", "chart"},
    "views --propose": {"proposals.bins", "proposals.levels"},
    "publish": {"promises.limit", "groups.width", "together", "exposure", "history"},
    "classifier": {"promises.limit", "history", "tight.knows"},
    "verify": {"audit"},
    "disguise": {"privacy", "history"},
    "ledger": {"releases.loss"},
    "plan": {"design"},
    "learn": {"classes"},
    "score": {"accuracy"},
}
"""Fields whose inside is described in words, or elsewhere."""


def inside(content: Any, meanings: dict[str, str], whole: set[str]) -> Iterator[str]:
    """The paths of a document's fields; a star stands for names that are data."""

    def walk(found: Any, at: str) -> Iterator[str]:
        for part in found if isinstance(found, list) else [found]:
            if not isinstance(part, dict) or at in whole:
                continue
            named = any(k.startswith(f"{at}.*") for k in meanings)
            for key, below in part.items():
                path = f"{at}.{'*' if named else key}" if at else key
                if not named:
                    yield path
                yield from walk(below, path)

    yield from walk(content, "")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What every command prints."""
    folder = tmp_path_factory.mktemp("json")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        pv.Ledger.create("noisy")
        return {name: [run(words) for words in runs] for name, runs in RUNS.items()}


def run(words: list[str]) -> Any:
    found = CliRunner().invoke(cli, [*words, "--json"])
    assert found.exit_code in (0, 1, 3), found.output
    return json.loads(found.stdout)


def test_every_command_that_prints_json_is_here() -> None:
    context = click.Context(cli)
    known = {name.split()[0] for name in RUNS}
    for name in cli.list_commands(context):
        options = [o for p in cli.commands[name].params for o in p.opts]
        assert ("--json" in options) == (name in known), name
    assert set(RUNS) == {*fields.COMMANDS, "audit", "views"}


@pytest.mark.parametrize("name", fields.COMMANDS)
def test_every_field_of_a_command_is_explained(
    name: str, printed: dict[str, list[Any]]
) -> None:
    meanings = fields.COMMANDS[name]
    found: set[str] = set()
    for content in printed[name]:
        found |= set(inside(content, meanings, WHOLE.get(name, set())))
    starred = {k.partition(".*")[0] for k in meanings if ".*" in k}
    found = {k for k in found if k not in starred} | starred
    assert set() == found - set(meanings), "not explained"
    assert set() == set(meanings) - found - RARE.get(name, set()), "not printed"


PARTS = {
    "finding": (fields.FINDING_FIELDS, {"against", "about", "limit", "witness"}),
    "witness": (
        fields.WITNESS_FIELDS,
        {"knows", "sees", "about", "attack.groups.group", "attack.groups.names"}
        | {"keys", "shares"},
    ),
    "details": (
        fields.DETAIL_FIELDS,
        {"worst_keys.key", "derived.rules", "derived.shows_through"},
    ),
    "exposure": (fields.EXPOSURE_FIELDS, {"columns.*.beyond.limit", "accepted"}),
}
RARE_PARTS = {
    "witness": {"sees", "attack.victim", "attack.groups.names"}
    | {"attack.groups.companion_names"},
    "details": {"draws", "error", "seed", "derived.pairs"}
    | {"worlds.full.at_least", "worlds.projected.at_least"},
}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_an_audit_is_explained(
    part: str, printed: dict[str, list[Any]]
) -> None:
    audits = printed["audit"] + printed["views"]
    assert all(set(fields.FIELDS) == set(a) for a in audits)
    findings = [f for a in audits for f in a["findings"]]
    content = findings
    if part == "exposure":
        content = [a["exposure"] for a in printed["audit"]]
    elif part != "finding":
        content = [f[part] for f in findings if f[part]]
    meanings, whole = PARTS[part]
    found = set(inside(content, meanings, {*whole, "details"}))
    assert set() == found - set(meanings), "not explained"
    assert set() == set(meanings) - found - RARE_PARTS.get(part, set()), "not printed"
