"""Values are frozen, compare by what they hold, and survive copying and pickling."""

from __future__ import annotations

import copy
import pickle
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

import privet as pv
from privet.errors import Problem
from privet.values.frozen_dict import FrozenDict

PROMISE = pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), {"ill": ["Flu", None]})
WITNESS = pv.Witness({"job": "Cook", "sex": None}, "ill", "Flu", 4, 5, 5, 24)
FINDING = pv.Finding(
    PROMISE, pv.Verdict.BREACH, pv.Basis.EXACT, pv.Belief("5/24", "4/5"), WITNESS
)


def values() -> list[Any]:
    """One of each kind, made anew at every call."""
    return [
        pv.Belief("1/3", 1),
        pv.Ceiling("1/2"),
        pv.Ceiling(below="1/2"),
        pv.Shift("0.51", "0.8"),
        pv.Ratio(2),
        pv.Linker(["job"]),
        pv.Linker(knows_any=2),
        pv.Insider(["x"], {"Ed": "Flu"}, ["Ann"], victim="Tom"),
        pv.Reconstructor("bag"),
        pv.Bayesian(knows={"a": 1}, sees={"b": "x"}, prior={"G": 1}),
        pv.Bins([18, 65]),
        pv.Bins([date(2020, 1, 1)]),
        pv.Roles(quasi="age", sensitive="ill", bins={"age": [18, 65]}),
        pv.Promise(pv.Linker(), pv.Ceiling("1/2"), {"ill": ["Flu", None]}),
        pv.Measure(k_anonymity=3),
        pv.Purpose("distortion"),
        pv.Signoff("A. Steward", "2026-03-31", "research"),
        pv.Policy(PROMISE, pv.Roles(quasi="age"), where={"year": 2024}, title="x"),
        pv.Witness({"job": "Cook"}, "ill", "Flu", 4, 5, 5, 24),
        pv.Finding(PROMISE, pv.Verdict.UNDECIDED, note="no time"),
        pv.Audit([FINDING], "x", ["a note"]),
        FrozenDict({"a": 1}),
    ]


PAIRS = list(zip(values(), values(), strict=True))
KINDS = [type(one).__name__ for one, _ in PAIRS]


@pytest.mark.parametrize(("one", "same"), PAIRS, ids=KINDS)
def test_equal_values_are_equal_everywhere(one: Any, same: Any) -> None:
    assert one is not same
    assert one == same
    assert hash(one) == hash(same)
    assert 1 == len({one, same})


def test_different_values_are_different() -> None:
    assert len(values()) == len(set(values()))


@pytest.mark.parametrize(("one", "same"), PAIRS, ids=KINDS)
def test_values_survive_pickling_and_copying(one: Any, same: Any) -> None:
    for other in (
        pickle.loads(pickle.dumps(one)),
        copy.copy(one),
        copy.deepcopy(one),
    ):
        assert type(one) is type(other)
        assert same == other
        assert hash(same) == hash(other)
        assert repr(same) == repr(other)


@pytest.mark.parametrize("one", values()[:-1], ids=KINDS[:-1])
def test_values_cannot_be_changed(one: Any) -> None:
    for field in type(one).__annotations__:
        held = getattr(one, field)
        with pytest.raises(AttributeError):
            setattr(one, field, held)
        if isinstance(held, dict) and held:
            with pytest.raises(TypeError, match="must not be changed"):
                held.clear()


def test_what_was_handed_over_may_change_without_harm() -> None:
    about, edges, where = {"ill": ["Flu"]}, {"age": [18]}, {"year": ["2024"]}
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), about)
    policy = pv.Policy(promise, pv.Roles(quasi="age", bins=edges), where=where)
    before = policy.to_toml()
    about["ill"].append("Cold")
    edges.clear()
    where["year"].append("2025")
    assert before == policy.to_toml()


def test_every_way_to_change_a_fixed_dictionary_is_refused() -> None:
    fixed = FrozenDict({"a": 1})
    changes = [
        lambda: fixed.__setitem__("a", 2),
        lambda: fixed.__delitem__("a"),
        lambda: fixed.__ior__({"b": 2}),
        fixed.clear,
        lambda: fixed.pop("a"),
        fixed.popitem,
        lambda: fixed.setdefault("b", 2),
        lambda: fixed.update(b=2),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="must not be changed"):
            change()
    assert {"a": 1} == fixed


# Errors -----------------------------------------------------------------------------

PROBLEMS = [Problem("x must be y; got z.", "promise[1].x", 3), Problem("second")]


def test_errors_survive_pickling() -> None:
    policy = pickle.loads(pickle.dumps(pv.PolicyError(PROBLEMS, "p.toml")))
    assert tuple(PROBLEMS) == policy.problems
    assert "p.toml:3: x must be y; got z.\np.toml: second" == str(policy)
    breach = pickle.loads(pickle.dumps(pv.Breach("broken", [FINDING])))
    assert (FINDING,) == breach.findings
    cannot = pv.Infeasible("no", promise=PROMISE, best=Fraction(1, 2), advice=["a"])
    again = pickle.loads(pickle.dumps(cannot))
    assert (PROMISE, Fraction(1, 2), ("a",)) == (
        again.promise,
        again.best,
        again.advice,
    )


def test_a_policy_error_leads_with_its_first_problem() -> None:
    error = pv.PolicyError(PROBLEMS, "p.toml")
    assert ("p.toml", 3, "promise[1].x") == (error.file, error.line, error.key)
    assert "x must be y; got z." == error.rule


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (pv.InputError, ValueError),
        (pv.ColumnNotFound, pv.InputError),
        (pv.RoleConflict, pv.InputError),
        (pv.EmptyTable, pv.InputError),
        (pv.PolicyError, ValueError),
        (pv.NoAudit, TypeError),
        (pv.MissingExtra, ImportError),
        *((e, pv.PrivetError) for e in (pv.Breach, pv.Infeasible, pv.TooLarge)),
        *((e, pv.PrivetError) for e in (pv.Stopped, pv.EngineError, pv.MissingExtra)),
        (pv.PrivacyWarning, UserWarning),
    ],
)
def test_the_tree_of_errors(error: type, base: type) -> None:
    assert issubclass(error, base)
    assert issubclass(error, pv.PrivetError) != issubclass(error, Warning)
