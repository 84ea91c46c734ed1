"""Adversaries: what they may know, in values and in words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privet import Bayesian, InputError, Insider, Linker, Reconstructor


def test_a_linker_knows_columns() -> None:
    assert ("job",) == Linker("job").knows
    assert ("job", "country") == Linker(["job", "country"]).knows
    assert () == Linker([]).knows
    assert None is Linker().knows
    assert 3 == Linker(knows_any=np.int64(3)).knows_any


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (Linker, {"knows": ["a"], "knows_any": 1}),
        (Linker, {"knows": ["a", "a"]}),
        (Linker, {"knows": {"a": "x"}}),
        (Linker, {"knows": [1]}),
        (Linker, {"knows_any": 0}),
        (Linker, {"knows_any": 1.0}),
        (Linker, {"knows_any": True}),
        (Linker, {"knows_any": "2"}),
        (Insider, {"rules_out": -1}),
        (Insider, {"rules_out": 1.5}),
        (Insider, {"rules_out": None}),
        (Insider, {"rules_out": True}),
        (Insider, {"rules_out": ["Flu", "Flu"]}),
        (Insider, {"knows_others": ["Ed"]}),
        (Insider, {"knows_others": {1: "Flu"}}),
        (Insider, {"knows_others": {"Ed": None}}),
        (Insider, {"same_as": [1]}),
        (Insider, {"victim": 1}),
        (Insider, {"same_as": ["Ann"]}),
        (Insider, {"knows_others": {"Ed": "Flu"}}),
        (Insider, {"same_as": ["Tom"], "victim": "Tom"}),
        (
            Insider,
            {"same_as": ["Ed"], "knows_others": {"Ed": "Flu"}, "victim": "Tom"},
        ),
        (Reconstructor, {"model": "unrestrictd"}),
        (Reconstructor, {"model": ""}),
        (Reconstructor, {"model": "bag", "one_row_per_id": True}),
        (Reconstructor, {"one_row_per_id": "yes"}),
        (Bayesian, {"averaging": "row"}),
        (Bayesian, {"knows": -1}),
        (Bayesian, {"knows": True}),
        (Bayesian, {"knows": {"Adr": None}}),
        (Bayesian, {"sees": ["W"]}),
        (Bayesian, {"prior": "flat"}),
        (Bayesian, {"prior": None}),
        (Bayesian, {"prior": {}}),
        (Bayesian, {"prior": {"a": 0.5, "b": 0.4}}),
        (Bayesian, {"prior": {"a": 1.5, "b": -0.5}}),
        (Bayesian, {"prior": {1: 1}}),
    ],
)
def test_nonsense_is_refused(make: type, keys: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"must .*; got"):
        make(**keys)


def test_a_choice_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'unrestricted'"):
        Reconstructor("unrestrictd")


def test_knowledge_is_kept_as_text_and_cannot_change() -> None:
    facts = {"Adr": "W", "Age": 40, "ill": True}
    bayesian = Bayesian(knows=facts)
    facts["Adr"] = "P"
    assert {"Adr": "W", "Age": "40", "ill": "true"} == bayesian.knows
    with pytest.raises(TypeError, match="must not be changed"):
        bayesian.knows["Adr"] = "P"


def test_a_prior_is_exact() -> None:
    prior = Bayesian(prior={"G": 0.6, "B": "2/5"}).prior
    assert {"G": Fraction(3, 5), "B": Fraction(2, 5)} == prior


def test_one_row_per_id_is_short_for_a_model() -> None:
    assert Reconstructor("restricted") == Reconstructor(one_row_per_id=True)
    assert Reconstructor() == Reconstructor(one_row_per_id=False)
    assert "unrestricted" == Reconstructor().model


@pytest.mark.parametrize(
    ("adversary", "words"),
    [
        (Linker(), "someone who knows every quasi and other column of a person"),
        (Linker([]), "someone who knows nothing about a person but the table"),
        (Linker(["job"]), "someone who knows a person's job"),
        (Linker(["a", "b", "c"]), "someone who knows a person's a, b and c"),
        (Linker(knows_any=1), "someone who knows any one column of a person"),
        (Linker(knows_any=3), "someone who knows any 3 columns of a person"),
        (
            Insider(),
            "someone who can rule out no values, knows the value of no other people "
            "and knows no people with the victim's own value",
        ),
        (
            Insider(1, 2, 1),
            "someone who can rule out one value, knows the value of 2 other people "
            "and knows one person with the victim's own value",
        ),
    ],
)
def test_each_says_what_it_knows(adversary: Linker | Insider, words: str) -> None:
    assert words == adversary.words()
