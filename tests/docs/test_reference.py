"""The generated pages are current, and nothing public is missing from them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import click
import examples
import generate
import jsonschema
import pyarrow as pa
import pytest
from making import classifier_fields as fields
from making import python_page, release_page
from making.exit_page import CODES
from making.policy_page import EXAMPLES

import privet as pv
from privet.cli import cli
from privet.cli.terminal import BUG, EXIT, INFEASIBLE, INTERRUPTED, WRONG
from privet.policy.file_keys import FREE, SECTIONS, schema

KEYS = [
    f"{section}.{key}" if section else key
    for section, keys in SECTIONS.items()
    for key in keys
]
A_MEASURE = "\n[[measure]]\nk_anonymity = 2\n"


def complete(example: str) -> str:
    """An example as a policy of its own: it must hold a promise or a measure."""
    alone = "[[promise]]" in example or "k_anonymity" in example
    return example + ("" if alone else A_MEASURE)


def page(name: str) -> str:
    return (generate.REFERENCE / name).read_text(encoding="utf-8")


MADE = generate.pages()


@pytest.mark.parametrize("name", MADE)
def test_the_page_is_current(name: str) -> None:
    assert MADE[name] == page(name), "Run: make docs-pages"


@pytest.mark.parametrize("name", pv.__all__)
def test_every_public_name_has_a_section(name: str) -> None:
    assert 1 == page("python.md").count(f"{{ #{python_page.anchor(name)} }}")


@pytest.mark.parametrize("name", pv.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(pv, name)
    assert isinstance(value, str) or (value.__doc__ or "").strip()


def test_no_name_is_left_without_a_shelf() -> None:
    assert ["__version__"] == python_page.shelves()["More"]


@pytest.mark.parametrize("key", [*KEYS, *FREE])
def test_every_policy_key_has_a_section(key: str) -> None:
    assert f"{{ #{key} }}" in page("policy.md")


@pytest.mark.parametrize("key", [*KEYS, *FREE])
def test_every_policy_key_has_an_example_that_works(key: str) -> None:
    text = EXAMPLES[key]
    assert key.rpartition(".")[2] in text
    policy = pv.Policy.from_toml(complete(text))
    assert policy.promises or policy.measures


def test_there_is_no_example_of_a_key_that_is_gone() -> None:
    assert set(EXAMPLES) == {*KEYS, *FREE}


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(cli)
    names = cli.list_commands(context)
    return [(n, cli.commands[n]) for n in names]


@pytest.mark.parametrize(("name", "command"), commands())
def test_every_option_has_its_line(name: str, command: click.Command) -> None:
    text = page("command-line.md")
    section = text.partition(f"## `privet {name}`")[2].partition("\n## ")[0]
    options = [o for p in command.params for o in p.opts if o.startswith("-")]
    assert section
    assert [] == [o for o in options if not re.search(rf"`[^`]*{o}\b", section)]


def test_every_exit_code_is_explained() -> None:
    codes = {*EXIT.values(), WRONG, INFEASIBLE, BUG, INTERRUPTED}
    assert codes == set(CODES)


def paths(content: object, *below: str) -> set[str]:
    """The fields of a document, with a dot for *inside*."""
    assert isinstance(content, dict)
    inside = {
        f"{key}.{field}"
        for key in below
        for part in (
            content[key].values() if isinstance(content[key], dict) else content[key]
        )
        for field in part
    }
    return {*content, *inside}


RELEASED = release_page.release_sample()

RARE = {"person", "columns.lists", "columns.written_as"}
"""What the manifest of people with lists, and ranges in two columns, has besides."""


def test_every_field_of_the_manifest_is_explained() -> None:
    manifest, _, _ = RELEASED
    rare = {"measures", "accepted", "columns.bins", "columns.target", *RARE}
    found = paths(manifest, "files", "columns", "promises")
    assert set(release_page.MANIFEST_FIELDS) == found | rare


def test_every_field_of_groups_is_explained() -> None:
    found = set()
    for form in ("generalised", "buckets"):
        manifest = release_page.groups_sample(form)
        found |= paths(manifest, "files", "columns", "measures")
    found |= {f"chosen.{key}" for key in release_page.groups_sample("levels")["chosen"]}
    explained = {*release_page.MANIFEST_FIELDS, *release_page.GROUPS_FIELDS}
    assert found - {"measures.k_anonymity"} <= explained
    assert set(release_page.GROUPS_FIELDS) - RARE <= found


def test_every_field_of_people_and_ranges_is_explained(tmp_path: Path) -> None:
    rows = {
        "id": [0, *range(12)],
        "age": [20, *range(20, 32)],
        "ill": ["cold", *["flu", "hiv", "flu"] * 4],
    }
    person = {"by": "id", "set": "ill"}
    roles = {"quasi": "age", "sensitive": "ill"}
    promise = pv.Promise(pv.Linker(["age"]), pv.Ceiling("1/2"), {"ill": "hiv"})
    accepted = [pv.Accepted(about="ill", why="no secret", who="Ada")]
    with pv.read(pa.table(rows), person=person, **roles) as table:
        policy = pv.Policy([promise], accepted=accepted)
        method = pv.TopDownDisclosure(ranges="columns")
        release = pv.publish(table, policy, method=method)
        release.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    found = paths(manifest, "files", "columns", "promises")
    assert set(release_page.MANIFEST_FIELDS) >= found >= RARE
    custody = json.loads((tmp_path / "vault" / "custody.json").read_text())
    assert set(release_page.CUSTODY_FIELDS) == set(custody)


def test_every_field_of_disguised_answers_is_explained() -> None:
    manifest = release_page.responses_sample()
    found = paths(manifest, "files", "columns", "promises")
    found |= {f"privacy.{key}" for key in manifest["privacy"]}
    explained = set(release_page.MANIFEST_FIELDS) | set(release_page.RESPONSES_FIELDS)
    assert found <= explained
    assert set(release_page.RESPONSES_FIELDS) <= found


def test_every_field_of_a_classifier_is_explained() -> None:
    rows = pv.SafetyTransform(rows=60)
    methods = [
        {"method": rows},
        *(
            {"method": pv.SafetyTransform(privacy=pv.DifferentialPrivacy(**keys))}
            for keys in ({"epsilon": 1, "delta": "1e-6"}, {"rho": 1})
        ),
    ]
    plain, *others = (fields.classifier_sample(**m) for m in ({}, *methods))
    found = set()
    for manifest, _, _ in (plain, *others):
        found |= paths(manifest, "files", "columns", "promises", "covers", "accepted")
        found |= {f"synthetic.{k}" for k in manifest.get("synthetic", {})}
        found |= {f"privacy.{k}" for k in manifest.get("privacy", {})}
    assert found <= set(release_page.MANIFEST_FIELDS) | set(fields.CLASSIFIER_FIELDS)
    rare = {"promises.prior", "promises.within", "covers.knows_all"}
    rare |= {f for f in fields.CLASSIFIER_FIELDS if f.startswith("inversion")}
    assert set(fields.CLASSIFIER_FIELDS) - rare <= found
    _, card, custody = plain
    inside = {f"attributes.values.{k}" for k in card["attributes"][0]["values"][0]}
    rare = {"rule", "attributes.edges", "target_type"}
    assert set(fields.SCORECARD_FIELDS) == paths(card, "attributes") | inside | rare
    proof = {f"certificate.{k}" for k in custody["certificate"]}
    assert set(fields.CUSTODY_FIELDS) == set(custody) | proof


def test_every_field_of_the_custody_record_is_explained() -> None:
    _, custody, _ = RELEASED
    assert set(release_page.CUSTODY_FIELDS) == {*custody, "people"}


def test_every_field_of_the_recipe_is_explained() -> None:
    _, custody, _ = RELEASED
    cuts = {"columns.cut_after", "columns.kind"}
    assert set(release_page.RECIPE_FIELDS) == paths(custody["recipe"], "columns") | cuts


# The schema -------------------------------------------------------------------------

REFUSED = {"docs/how-to/write-a-policy.md": {"wrong.toml"}}
"""Policies that are shown because they are wrong."""


def policies() -> list[tuple[str, str]]:
    """Every policy that stands on a page, with the page."""
    return [
        (str(p.relative_to(examples.ROOT)), block["body"])
        for p in examples.pages()
        for block in examples.FENCE.finditer(p.read_text(encoding="utf-8"))
        if (title := examples.TITLE.search(block["info"]))
        and title[1].endswith(".toml")
        and title[1] not in REFUSED.get(str(p.relative_to(examples.ROOT)), ())
        and "[[question]]" not in block["body"]  # a design, which its page runs
    ]


CHECK = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema() == json.loads(page("policy.schema.json"))


@pytest.mark.parametrize(("where", "text"), policies())
def test_the_schema_accepts_the_policies_shown(where: str, text: str) -> None:
    CHECK.validate(tomllib.loads(text))
    assert pv.Policy.from_toml(text, file=where)


@pytest.mark.parametrize("key", [*KEYS, *FREE])
def test_the_schema_accepts_the_examples(key: str) -> None:
    CHECK.validate(tomllib.loads(complete(EXAMPLES[key])))


def test_the_schema_refuses_a_slip() -> None:
    with pytest.raises(jsonschema.ValidationError):
        CHECK.validate(tomllib.loads(A_MEASURE + '[columns]\nsensitve = ["x"]'))


# What writes the pages --------------------------------------------------------------


def test_a_docstring_becomes_markdown() -> None:
    text = "Sums up.\n\nParameters\n----------\na, b\n    Two\n    numbers.\n\n"
    text += "Examples\n--------\n>>> 1\n1"
    made = python_page.docstring(text)
    assert "Sums up.\n\n- `a`, `b`: Two numbers.\n\n```pycon\n>>> 1\n1\n```" == made


def test_writing_twice_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(generate, "pages", lambda: MADE)
    generate.main()
    assert len(MADE) == capsys.readouterr().out.count("written")
    generate.main()
    assert "" == capsys.readouterr().out
