"""The registry: every kind of release has its record, and the verbs go by it."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from fractions import Fraction

import pyarrow as pa
import pytest

import privet as pv
from privet.policy import Measure
from privet.release.kinds import HOMES, find_judging_kind, import_kind, list_kinds
from privet.values.adversaries import KINDS as ADVERSARIES
from privet.views.split import Proposal

ROWS = pa.table(
    {
        "name": list("abcdef"),
        "job": ["Cook", "Cook", "Cook", "Judge", "Judge", "Judge"],
        "ill": ["Flu", "Cold", "Flu", "Cold", "Flu", "Cold"],
    }
)
LINKED = pv.Promise(pv.Linker(["job"]), pv.Ceiling(1), "ill")


def table() -> pv.Table:
    return pv.read(ROWS, identifier="name", quasi="job", sensitive="ill")


@pytest.mark.parametrize("name", HOMES)
def test_a_record_is_of_the_kind_it_is_found_by(name: str) -> None:
    kind = import_kind(name)
    assert name == kind.name
    assert {value for value, _ in kind.judges} == set(kind.values)
    for sort in {sort for _, sort in kind.judges} - {Measure}:
        assert name in sort.looks_at
    assert kind.sentences


def test_every_adversary_is_judged_where_it_looks() -> None:
    looked = {(k.name, sort) for k in list_kinds() for _, sort in k.judges}
    for adversary in ADVERSARIES.values():
        for name in adversary.looks_at:
            assert (name, adversary) in looked


def test_sentences_stand_once_for_every_adversary_and_for_measures() -> None:
    sorts = Counter(sort for kind in list_kinds() for sort in kind.sentences)
    others = {"measure", "responses", "uncovered", "inversion"}
    assert {*ADVERSARIES, *others} == set(sorts)
    assert {1} == set(sorts.values())


def test_a_release_is_judged_by_what_it_shows() -> None:
    with table() as rows:
        release = pv.publish(rows, [LINKED])
        views = pv.Views(rows, ["job", "ill"])
        assert (import_kind("groups"), release._table) == find_judging_kind(release)
        assert (import_kind("views"), views) == find_judging_kind(views)
    assert find_judging_kind(object()) is None


def test_what_cannot_be_audited_is_told_what_can() -> None:
    with pytest.raises(
        pv.NoAudit, match=r"int cannot be audited\. There is arithmetic"
    ):
        pv.audit(5, LINKED)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "method", [pv.SafetyTransform(), "mondrian"], ids=["classifier's", "text"]
)
def test_a_table_is_not_published_by_the_method_of_another_kind(method: object) -> None:
    words = "It takes: TopDownDisclosure, Mondrian, FullDomain, SplitViews"
    with table() as rows, pytest.raises(pv.InputError, match=words):
        pv.publish(rows, [LINKED], method=method)  # type: ignore[call-overload]


def test_views_take_no_method_and_no_recipe() -> None:
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1))
    with table() as rows:
        views = pv.Views(rows, ["name", "job"], ["job", "ill"])
        with pytest.raises(pv.InputError, match="method must be left out for views"):
            pv.publish(views, [promise], method=pv.SplitViews())  # type: ignore[call-overload]
        with pytest.raises(pv.InputError, match="recipe must be left out for a"):
            pv.publish(views, [promise], recipe=pv.Recipe())  # type: ignore[call-overload]


def test_knowing_is_asked_of_a_table() -> None:
    groups = pv.Groups.from_histograms([{"Flu": 2, "Cold": 1}])
    views = pv.ClassifierViews.from_counts(
        {"y": 1, "n": 1}, {"a": {"b": {"y": 1, "n": 1}}}
    )
    for release in (groups, views):
        with pytest.raises(pv.NoAudit, match="knowing must be asked of a table"):
            pv.belief(release, pv.Insider(victim="a"), knowing=lambda has: True)


class OurTable(pv.Table):
    """A subclass, as a user may make one."""


def test_a_subclass_is_judged_as_what_it_extends() -> None:
    with table() as rows:
        ours = OurTable(**{f.name: getattr(rows, f.name) for f in fields(rows)})
        promises = [LINKED, pv.Measure(k_anonymity=2)]
        assert pv.audit(rows, promises).to_dict() == pv.audit(ours, promises).to_dict()


def test_what_is_proposed_is_judged_by_what_it_shows() -> None:
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9"))
    with table() as rows:
        views = pv.Views(rows, ["name", "job"], ["job", "ill"])
        found = Proposal(views, Fraction(1), pv.audit(views, promise))
        assert found.audit.to_dict() == pv.audit(found, promise).to_dict()
    counts = pv.ClassifierViews.from_counts(
        {"y": 6, "n": 4}, {"a": {"b": {"y": 5, "n": 1}, "c": {"y": 1, "n": 3}}}
    )
    moved = pv.Promise(pv.Bayesian(), pv.Shift("0.51", "0.8"))
    flat = pv.SafetyTransform().apply(counts, [moved])
    assert pv.audit(flat.card, moved).to_dict() == pv.audit(flat, moved).to_dict()
