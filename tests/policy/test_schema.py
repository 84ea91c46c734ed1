"""The JSON Schema says what the reader says."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from policy.examples import DESIGN, PROMISE
from policy.strategies import policies
from privet import Policy, PolicyError
from privet.demo.patients import POLICY
from privet.policy.file_keys import FREE, MEANINGS, SECTIONS, fits, form_words, schema

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def as_json(text: str) -> Any:
    """A policy file as JSON has it: numbers, texts, lists, objects."""
    return json.loads(json.dumps(tomllib.loads(text), default=str))


def accepted(text: str) -> bool:
    return VALIDATOR.is_valid(as_json(text))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA == json.loads(json.dumps(SCHEMA))


@pytest.mark.parametrize("text", [DESIGN, POLICY, PROMISE])
def test_good_policies_are_accepted(text: str) -> None:
    assert [] == [e.message for e in VALIDATOR.iter_errors(as_json(text))]


@settings(max_examples=40)
@given(policies())
def test_written_policies_are_accepted(policy: Policy) -> None:
    text = policy.to_toml()
    assert [] == [e.message for e in VALIDATOR.iter_errors(as_json(text))]


SHAPELESS = [
    "",
    "promise = []",
    "titel = 'x'\n" + PROMISE,
    "title = 5\n" + PROMISE,
    "columns = 5\n" + PROMISE,
    "[promise]",
    "promise = [1]",
    "[[promises]]\n" + PROMISE,
    "[[promise]]\nat_most = 0.5",
    "[[promise]]\nagainst = 'linkr'\nat_most = 0.5",
    "[[promise]]\nagainst = 'linker'",
    PROMISE + "below = 0.5",
    PROMISE + "from = 0.5",
    PROMISE + "from = 0.5\nto = 0.8",
    PROMISE + "model = 'bag'",
    PROMISE + "rules_out = 1",
    PROMISE + "knows = [1]",
    PROMISE + "knows = -1",
    PROMISE + "knows_any = 0",
    PROMISE + "name = 5",
    PROMISE + "know = 'x'",
    "[[promise]]\nagainst = 'linker'\nat_most = 0",
    "[[promise]]\nagainst = 'linker'\nat_most = 1.5",
    "[[promise]]\nagainst = 'linker'\nat_most = true",
    "[[promise]]\nagainst = 'linker'\nabout = []\nat_most = 0.5",
    "[[promise]]\nagainst = 'linker'\nabout = {}\nat_most = 0.5",
    "[[promise]]\nagainst = 'linker'\nabout = { a = [] }\nat_most = 0.5",
    "[[promise]]\nagainst = 'bayesian'\nwithin = 0.5",
    "[[promise]]\nagainst = 'bayesian'\nprior = 'flat'\nwithin = 2",
    "[[promise]]\nagainst = 'bayesian'\nprior = { a = 2 }\nwithin = 2",
    "[[promise]]\nagainst = 'bayesian'\naveraging = 'row'\nwithin = 2",
    "[[promise]]\nagainst = 'bayesian'\nsees = { a = [1] }\nwithin = 2",
    "[[promise]]\nagainst = 'insider'\nrules_out = -1\nbelow = 0.5",
    "[[promise]]\nagainst = 'insider'\nknows_others = ['Ed']\nbelow = 0.5",
    "[[promise]]\nagainst = 'reconstructor'\nmodel = 'x'\nbelow = 0.5",
    "[[promise]]\nagainst = 'reconstructor'\none_row_per_id = 1\nbelow = 0.5",
    "[[measure]]",
    "[[measure]]\nk_anonymity = 0",
    "[[measure]]\nk_anonimity = 5",
    "[[measure]]\nrecursive_l_diversity = 2",
    "[[measure]]\nk_anonymity = 5\nc = 2",
    "[[measure]]\nt_closeness = 0.2\nhierarchy = { Flu = ['any'] }",
    PROMISE + "[columns]\nquasi = 5",
    PROMISE + "[columns]\nquasy = 'x'",
    PROMISE + "[columns]\ntarget = ''",
    PROMISE + "[columns]\ntarget = ['x']",
    PROMISE + "[bins]\nage = 5",
    PROMISE + "[bins]\nage = []",
    PROMISE + "[bins]\nage = [true]",
    PROMISE + "[where]\nyear = []",
    PROMISE + "[where]\nyear = { a = 1 }",
    PROMISE + "[purpose]\nutility = 'fun'",
]


@pytest.mark.parametrize("text", SHAPELESS)
def test_what_the_reader_refuses_by_form_the_schema_refuses(text: str) -> None:
    with pytest.raises(PolicyError):
        Policy.from_toml(text)
    assert not accepted(text)


def described(form: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every property of a schema and its description."""
    for name, inner in form.get("properties", {}).items():
        if "description" in inner or "type" in inner or "anyOf" in inner:
            yield f"{at}.{name}", inner.get("description", "")
            yield from described(inner.get("items", inner), f"{at}.{name}")


def test_every_key_has_a_meaning() -> None:
    found = dict(described(SCHEMA))
    expected = {f".{s}.{k}" if s else f".{k}" for s in SECTIONS for k in SECTIONS[s]}
    assert expected | {f".{s}" for s in MEANINGS} == set(found)
    assert [] == [key for key, meaning in found.items() if not meaning]
    assert {*SECTIONS, *FREE} - {""} == set(MEANINGS)


def test_every_form_has_words() -> None:
    keys = [*FREE.values(), *(k for s in SECTIONS.values() for k in s.values())]
    assert all(form_words(key.form) for key in keys)


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (True, {"type": "integer", "minimum": 0}, False),
        (5, {"type": "boolean"}, False),
        ("x", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
        ([1], {"enum": ["a"]}, False),
    ],
)
def test_fits(value: object, form: dict[str, Any], expected: bool) -> None:
    assert expected == fits(value, form)
