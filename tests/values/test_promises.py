"""Promises, measures, purposes and policies refuse nonsense and name themselves."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from privet import (
    Ceiling,
    InputError,
    Insider,
    Linker,
    Measure,
    Policy,
    Promise,
    Purpose,
)

HALF = Ceiling("1/2")


def promise(about: object = None, **keys: Any) -> Promise:
    return Promise(**{"against": Linker(), "limit": HALF, "about": about, **keys})


# What a promise is about ------------------------------------------------------------


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (None, None),
        ("ill", "ill"),
        ({"ill": "Flu"}, {"ill": "Flu"}),
        ({"ill": "*"}, {"ill": "*"}),
        ({"ill": None}, {"ill": None}),
        ({"ill": ["Flu", None]}, {"ill": ("Flu", None)}),
        (["Flu", "Cold"], ("Flu", "Cold")),
        ({"Flu", "Cold"}, ("Cold", "Flu")),
        ({"age": 40}, {"age": "40"}),
        ({"age": np.int8(40)}, {"age": "40"}),
        ({"cost": Decimal("1.50")}, {"cost": "1.50"}),
        ({"cost": 2.5}, {"cost": "2.5"}),
        ({"dead": True}, {"dead": "true"}),
        ({"born": date(2020, 1, 2)}, {"born": "2020-01-02"}),
        ({"seen": datetime(2020, 1, 2, 3, 4)}, {"seen": "2020-01-02 03:04:00"}),
        ({"a": "x", "b": "y"}, {"a": "x", "b": "y"}),
    ],
)
def test_what_it_is_about_becomes_text(about: object, expected: object) -> None:
    assert expected == promise(about).about


@pytest.mark.parametrize(
    "about", [{}, [], (), set(), 5, True, {"a": []}, {"a": {}}, {"a": object()}, {1: 2}]
)
def test_it_must_be_about_something(about: object) -> None:
    with pytest.raises(InputError, match=r"must .*; got"):
        promise(about)


@pytest.mark.parametrize(
    "keys", [{"against": "linker"}, {"limit": "1/2"}, {"limit": 0.5}, {"name": 5}]
)
def test_parts_are_what_they_must_be(keys: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"must be .*; got"):
        promise(**keys)


# Names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        (promise(), "linker about the sensitive column"),
        (promise("ill"), "linker about ill"),
        (promise({"ill": "Flu"}), "linker about ill = Flu"),
        (promise({"ill": "*"}), "linker about ill = any value"),
        (promise(["Flu", None]), "linker about Flu or missing"),
        (
            promise("ill", against=Linker(["job", "sex"])),
            "linker (knows job, sex) about ill",
        ),
        (
            promise("ill", against=Linker(knows_any=2)),
            "linker (knows_any 2) about ill",
        ),
        (
            promise("ill", against=Insider(1, {"Ed": "Flu"}, victim="Tom")),
            "insider (rules_out 1; knows_others Ed = Flu; victim Tom) about ill",
        ),
        (promise("ill", name="mine"), "mine"),
        (Measure(k_anonymity=5), "k_anonymity at least 5"),
        (Measure("mine", k_anonymity=5), "mine"),
    ],
)
def test_names(stated: Promise | Measure, name: str) -> None:
    assert name == stated.name


# Measures and purposes --------------------------------------------------------------


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"k_anonymity": 0},
        {"k_anonymity": 2.0},
        {"k_anonymity": True},
        {"k_anonimity": 5},
        {"k_anonymity": 5, "other": 2},
        {"name": 3, "k_anonymity": 5},
    ],
)
def test_measures_that_are_none(keys: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"must be .*; got"):
        Measure(**keys)


def test_a_misspelt_measure_is_answered() -> None:
    with pytest.raises(InputError, match="Did you mean 'k_anonymity'"):
        Measure(k_anonimity=5)


def test_a_purpose_is_known() -> None:
    with pytest.raises(InputError, match="utility must be one of"):
        Purpose("profit")


# Policies ---------------------------------------------------------------------------


def test_a_policy_takes_one_promise_or_several() -> None:
    one = promise("ill")
    assert Policy((one,)) == Policy(one) == Policy([one])


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"promises": []},
        {"promises": ["x"]},
        {"promises": [promise(), promise()]},
        {"promises": promise(name="a"), "measures": Measure("a", k_anonymity=2)},
        {"promises": promise(), "measures": promise()},
        {"promises": promise(), "roles": {"quasi": "job"}},
        {"promises": promise(), "title": None},
        {"promises": promise(), "where": ["year"]},
        {"promises": promise(), "where": {"year": []}},
        {"promises": promise(), "where": {1: "x"}},
        {"promises": promise(), "purpose": "information"},
        {"promises": promise(), "signoff": "me"},
        {"promises": promise(), "earlier": ["vault", "vault"]},
        {"promises": promise(), "earlier": [""]},
    ],
)
def test_policies_that_are_none(keys: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"must .*; got"):
        Policy(**keys)


def test_rows_are_chosen_by_text() -> None:
    where = Policy(promise(), where={"year": 2024, "dead": [True, None]}).where
    assert {"year": ("2024",), "dead": ("true", None)} == where
