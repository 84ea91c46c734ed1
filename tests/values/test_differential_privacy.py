"""How much noise a loss asks for, and which values are selected."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log, sqrt
from pathlib import Path

import pytest

import privet as pv
from privet.values.noise.declared_domain import join_domains
from privet.values.noise.private_selection import PrivateSelection, bound_exp

# Plans ------------------------------------------------------------------------------


def test_two_targets_of_two_rows_and_three_attributes() -> None:
    """The specification's vector: L1 is 12, and L2 squared 24."""
    asked = pv.DifferentialPrivacy(1, rows_per_person=2)
    assert 12 == asked.plan(3 * 2).size
    gauss = pv.DifferentialPrivacy(rho="1/2", rows_per_person=2)
    assert 24 == gauss.plan(3 * 2).size


@pytest.mark.parametrize(
    ("attributes", "gauss", "laplace"), [(3, 7.9, 4.2), (8, 12.8, 11.3), (14, 17, 19.8)]
)
def test_the_smaller_noise_is_taken(
    attributes: int, gauss: float, laplace: float
) -> None:
    asked = {"epsilon": 1, "delta": "1e-6"}
    both = [
        sqrt(pv.DifferentialPrivacy(**asked, noise=kind).plan(attributes).variance)
        for kind in ("gauss", "laplace")
    ]
    assert [gauss, laplace] == pytest.approx(both, abs=0.06)
    found = pv.DifferentialPrivacy(**asked).plan(attributes)
    assert ("gauss" if gauss < laplace else "laplace") == found.noise


def test_laplaces_noise_costs_no_delta() -> None:
    plan = pv.DifferentialPrivacy(1, "1e-6").plan(3)
    assert pv.PrivacyLoss(pure_epsilon=1) == plan.loss


def test_what_is_selected_costs_its_share() -> None:
    asked = pv.DifferentialPrivacy(2, "1e-6", rows_per_person=2, selection="1/4")
    plan = asked.plan(4, selected=3)
    assert plan.selection is not None
    assert Fraction(1, 2) / 6 == plan.selection.epsilon
    assert Fraction(1, 4 * 10**6) / 6 == plan.selection.delta
    assert 8 / Fraction(3, 2) == plan.size
    assert pv.PrivacyLoss(2, 0, Fraction(1, 4 * 10**6)) == plan.loss


def test_gauss_and_a_selection_stay_within_epsilon_and_delta() -> None:
    plan = pv.DifferentialPrivacy(2, "1e-6", noise="gauss").plan(4, selected=2)
    spent = plan.loss.epsilon_at("1e-6")
    assert spent is not None
    assert 1.99 < spent <= 2


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "must have epsilon, or rho"),
        ({"epsilon": 1, "rho": 1}, "must have epsilon, or rho"),
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": 1, "delta": 1}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1, "noise": "uniform"}, "noise must be laplace or gauss"),
        ({"epsilon": 1, "noise": "gauss"}, "must have a delta"),
        ({"rho": 1, "noise": "laplace"}, "rho must go with"),
        ({"epsilon": 1, "rows_per_person": 0}, "rows_per_person must be"),
        ({"epsilon": 1, "heaviest": "1/2"}, "heaviest must be a multiple of grid"),
        ({"epsilon": 1, "heaviest": 0}, "heaviest must be above 0"),
        ({"epsilon": 1, "selection": 0}, "selection must be above 0"),
        ({"epsilon": 1, "seed": -1}, "seed must be"),
        ({"epsilon": 1, "domain": ["a"]}, "domain must be values per column"),
    ],
)
def test_nonsense_is_refused(keys: dict[str, object], said: str) -> None:
    with pytest.raises(pv.InputError, match=said):
        pv.DifferentialPrivacy(**keys)


def test_it_survives_being_written_and_read() -> None:
    asked = pv.DifferentialPrivacy(
        "1/3",
        "1e-9",
        rows_per_person=3,
        heaviest="5/2",
        grid="1/2",
        noise="gauss",
        selection="1/5",
        domain={"a": ["x", None], "b": pv.DeclaredDomain(["y"], "z")},
        seed=0,
    )
    assert asked == pv.DifferentialPrivacy(**asked.to_dict())
    assert pv.DifferentialPrivacy(1) == pv.DifferentialPrivacy(
        **pv.DifferentialPrivacy(1).to_dict()
    )


@pytest.mark.parametrize("noise", ["laplace", "gauss"])
@pytest.mark.parametrize("size", ["1/2", "3", "40/3"])
def test_chances_of_noise_are_those_of_its_formula(noise: str, size: str) -> None:
    scale = float(Fraction(size))
    weigh = {
        "laplace": lambda z: exp(-abs(z) / scale),
        "gauss": lambda z: exp(-z * z / 2 / scale),
    }[noise]
    weights = {z: weigh(z) for z in range(-900, 901)}
    whole = sum(weights.values())

    def total(low: int, high: int) -> float:
        return sum(w for z, w in weights.items() if low <= z <= high) / whole

    asked = {"epsilon": 1, "delta": "0.1", "noise": noise}
    plan = pv.DifferentialPrivacy(**asked).plan(1)
    plan = type(plan)(noise, Fraction(size))
    for below, above in ((0, 0), (1, 1), (0, 3), (7, 2)):
        assert total(-below, above) == pytest.approx(plan.chance_within(below, above))
    assert total(-900, 1) == pytest.approx(plan.chance_within(None, 1))
    apart = sum(max(w, weights.get(z - 1, 0)) for z, w in weights.items()) / whole / 2
    assert apart == pytest.approx(plan.neighbours)


# Selection --------------------------------------------------------------------------


def test_the_specifications_thresholds() -> None:
    fine = PrivateSelection.plan(Fraction(1), Fraction(1, 10**6))
    assert (14, 28) == (fine.even, fine.certain)


@pytest.mark.parametrize("epsilon", ["1/100", "1/3", "1", "5"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-3", "1/2"])
def test_nobody_tells_whether_one_more_holds_a_value(epsilon: str, delta: str) -> None:
    """The definition, at every number of holders, both ways and for both answers."""
    e, d = Fraction(epsilon), Fraction(delta)
    rule = PrivateSelection.plan(e, d)
    assert 0 == rule.chance(0)
    assert 1 == rule.chance(rule.certain)
    growth = exp(float(e)) * (1 + 1e-12)
    chances = [rule.chance(k) for k in range(rule.certain + 2)]
    for one, more in pairwise(chances):
        for a, b in (
            (one, more),
            (more, one),
            (1 - one, 1 - more),
            (1 - more, 1 - one),
        ):
            assert float(a - d) <= growth * float(b)


def test_no_rule_selects_more() -> None:
    """One holder: exactly delta; and each step is as large as the loss allows."""
    rule = PrivateSelection.plan(Fraction(1), Fraction(1, 1000))
    assert float(rule.chance(1)) == pytest.approx(1 / 1000)
    for k in range(1, rule.certain - 1):
        now, more = float(rule.chance(k)), float(rule.chance(k + 1))
        most = min(exp(1) * now + 1e-3, 1 - exp(-1) * (1 - now - 1e-3), 1)
        assert most == pytest.approx(more, rel=1e-9)


def test_e_is_bounded_from_below() -> None:
    for x in ("1/1000", "1", "30"):
        found = bound_exp(Fraction(x))
        assert log(found) == pytest.approx(float(Fraction(x)), rel=1e-9)
        assert found < exp(float(Fraction(x))) * (1 + 1e-13)


def test_a_loss_too_small_to_select_by_is_refused() -> None:
    with pytest.raises(pv.InputError, match="must be larger"):
        PrivateSelection.plan(Fraction(1, 10**9), Fraction(1, 10**12))


# Domains ----------------------------------------------------------------------------


def test_what_is_outside_counts_as_other() -> None:
    found = pv.DeclaredDomain(["f", "m"], "x")
    assert ("f", "m", "x") == found.listed
    assert [0, 1, 2, 2] == [found.find(v) for v in ("f", "m", "x", None)]
    assert None is pv.DeclaredDomain(["f", "m"]).find("x")
    assert 1 == pv.DeclaredDomain(["f", None]).find(None)


def test_values_are_texts() -> None:
    assert ("1", "2.5", "true") == pv.DeclaredDomain([1, 2.5, True]).values


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("private.txt", "must be a list of values, or 'public from FILE'"),
        ("public from ", "must be a list of values"),
        (["a", "a"], "each value once"),
        ([], "must have values"),
        ({"value": ["a"]}, "Did you mean 'values'"),
        ({"values": ["a"], "other": ""}, "other must be a value"),
        ({"values": ["a"], "missing": "no"}, "missing must be true or false"),
        (3, "must be a list of values"),
    ],
)
def test_odd_domains_are_refused(key: object, said: str) -> None:
    with pytest.raises(pv.InputError, match=said):
        pv.DeclaredDomain.from_key(key)


@pytest.mark.parametrize(
    "key",
    [
        ["a", "b"],
        "public from a.txt",
        {"values": ["a"], "other": "o"},
        {"values": "public from b.csv", "other": "o", "missing": True},
        {"other": "o"},
    ],
)
def test_domains_survive_being_written_and_read(key: object) -> None:
    assert key == pv.DeclaredDomain.from_key(key).to_key()


def test_public_files(tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text("nurse\n\ncook \nnurse\n", "utf-8")
    (tmp_path / "census.csv").write_text("n,job\n3,nurse\n4,\n5,pilot\n", "utf-8")
    key = {"values": "public from jobs.txt", "missing": True}
    lines = pv.DeclaredDomain.from_key(key).resolve("job", tmp_path)
    assert ("nurse", "cook", None) == lines.values
    table = pv.DeclaredDomain(file="census.csv", other="x").resolve("job", tmp_path)
    assert ("nurse", "pilot", "x") == table.listed
    with pytest.raises(pv.InputError, match="must have a column 'town'"):
        pv.DeclaredDomain(file="census.csv").resolve("town", tmp_path)
    with pytest.raises(pv.InputError, match="must be readable"):
        pv.DeclaredDomain(file="gone.txt").resolve("job", tmp_path)
    (tmp_path / "empty.txt").write_text("\n", "utf-8")
    with pytest.raises(pv.InputError, match="must list values"):
        pv.DeclaredDomain(file="empty.txt").resolve("job", tmp_path)


def test_joined_columns_have_every_pair() -> None:
    both = join_domains([pv.DeclaredDomain(["f"], "x"), pv.DeclaredDomain([1, 2])], "+")
    assert ("f+1", "f+2", "x+1", "x+2") == both.values
