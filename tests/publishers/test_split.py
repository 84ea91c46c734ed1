"""Proposed views keep the promises, the most useful first; or it cannot be done."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from privet.demo.tables import clinic_path

pytestmark = pytest.mark.engines

AGES = [20, 21, 22, 23, 30, 31, 32, 33] * 4


@pytest.fixture
def people():
    rows = range(len(AGES))
    table = pa.table(
        {
            "name": [f"n{i}" for i in rows],
            "age": AGES,
            "city": ["Bonn" if i % 2 else "Ulm" for i in rows],
            "ill": [f"i{i * 7 % 5}" for i in rows],
        }
    )
    with pv.read(table, identifier="name", sensitive="ill") as read:
        yield read


def promise(limit, model="restricted"):
    return pv.Promise(pv.Reconstructor(model), pv.Ceiling(limit))


def test_every_proposal_keeps_the_promise_and_the_first_keeps_most(people):
    found = pv.SplitViews().propose(people, [promise("1/4")])
    assert found
    for proposal in found:
        assert pv.audit(proposal.views, [promise("1/4")]).safe
    kept = [p.kept for p in found]
    assert kept == sorted(kept, reverse=True)


def test_a_coarser_key_is_proposed_where_a_finer_one_fails(people):
    fine = pv.Views(people, ["name", "age", "city"], ["age", "city", "ill"])
    limit = "1/5"
    assert not pv.audit(fine, [promise(limit)]).safe
    found = pv.SplitViews(together=[["name", "age"]]).propose(people, [promise(limit)])
    assert any(p.bins for p in found)


def test_rules_are_kept(people):
    method = pv.SplitViews(together=[["name", "city"]], apart=[["age", "ill"]])
    for proposal in method.propose(people, [promise("1/2")]):
        left, right = (set(v.columns) for v in proposal.views.views)
        assert {"name", "city"} <= left
        assert not {"age", "ill"} <= right


def test_the_floor_is_named_where_nothing_helps(people):
    with pytest.raises(pv.Infeasible, match="share no column") as caught:
        pv.SplitViews().propose(people, [promise("1/2", "unrestricted")])
    assert Fraction(1, 2) < caught.value.best < Fraction(52, 100)
    assert caught.value.advice


def test_it_is_a_method_of_publish(people, tmp_path):
    release = pv.publish(people, [promise("1/4")], method=pv.SplitViews())
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"together": "name"}, "lists of columns"),
        ({"together": [["nobody"]]}, "must exist"),
        ({"together": [["name", "ill"]]}, "who has what"),
        ({"together": [["age", "city"]], "apart": [["age", "city"]]}, "exclude all"),
        ({"proposals": 0}, "whole number"),
    ],
)
def test_wrong_use(people, options, message):
    with pytest.raises(pv.InputError, match=message):
        pv.SplitViews(**options).propose(people, [promise("1/2")])


def test_a_promise_against_somebody_else_is_not_enough():
    with pv.read(str(clinic_path()), identifier="name", sensitive="problem") as table:
        with pytest.raises(pv.InputError, match="reconstructor"):
            pv.SplitViews().propose(table, pv.Promise(pv.Linker(), pv.Ceiling(1)))
