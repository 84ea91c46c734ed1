"""A policy that is written and read again is the same policy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from policy.examples import DESIGN
from policy.strategies import names, policies
from privet import Bayesian, Ceiling, InputError, Linker, Policy, Promise, Roles
from privet.policy.toml import quote, quote_key

HALF = Ceiling("1/2")


@settings(max_examples=80)
@given(policies())
def test_policies_survive_being_written(policy: Policy) -> None:
    assert policy == Policy.from_toml(policy.to_toml())


def test_the_design_survives_being_written() -> None:
    policy = Policy.from_toml(DESIGN)
    assert policy == Policy.from_toml(policy.to_toml())


@given(names)
def test_texts_are_written_on_one_visible_line(name: str) -> None:
    assert quote(name).isprintable()
    assert quote_key(name).isprintable()


@pytest.mark.parametrize(
    "keys",
    [
        {"promises": Promise(Linker(), HALF, {"ill": None})},
        {"promises": Promise(Linker(), HALF, {"ill": ["Flu", None]})},
        {"promises": Promise(Linker(), HALF, ["Flu", None])},
        {"promises": Promise(Linker(), HALF, "ill"), "where": {"ward": None}},
    ],
)
def test_a_missing_value_cannot_be_written(keys: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"got None \(missing\), which TOML cannot"):
        Policy(**keys).to_toml()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(Promise(Linker(), HALF, "\ud800")),
        Policy(Promise(Linker(["\udfff"]), HALF, "ill")),
        Policy(Promise(Bayesian(sees={"\ud8ff": "x"}), HALF)),
        Policy(Promise(Linker(), HALF), Roles(bins={"\udc00": [1]})),
    ],
)
def test_what_utf8_cannot_hold_cannot_be_written(policy: Policy) -> None:
    with pytest.raises(InputError, match="must be text UTF-8 can hold"):
        policy.to_toml()


def test_numbers_of_bins_are_written_as_numbers() -> None:
    roles = Roles(bins={"age": [18, 65.5], "share": ["1/3"], "born": ["1960-01-01"]})
    text = Policy(Promise(Linker(), HALF), roles).to_toml()
    assert "age = [18, 65.5]\n" in text
    assert 'share = ["1/3"]\n' in text
    assert 'born = ["1960-01-01"]\n' in text
