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
    other = ["age", "city"]
    with pv.read(table, identifier="name", sensitive="ill", other=other) as read:
        yield read


def promise(limit, model="restricted"):
    return pv.Promise(pv.Reconstructor(model), pv.Ceiling(limit))


OPEN = pv.Accepted("ill", "worlds", why="other columns say nothing of who is ill")


def stated(limit, **more):
    """A policy that leaves worlds over whole tuples open."""
    return pv.Policy(promises=(promise(limit),), accepted=(OPEN,), **more)


def test_every_proposal_keeps_the_promise_and_the_first_keeps_most(people):
    found = pv.SplitViews().propose(people, stated("1/4"))
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


HUGE = [str(2**53 + i) for i in range(8)]
TINY = [f"0.{10**19 + i}" for i in range(8)]
DAYS = [f"2024-02-2{i + 1}" for i in range(8)]
MOMENTS = [f"{day} 12:3{i}:00" for i, day in enumerate(DAYS)]
FAR = ["-1e305", "-2", "-1.5", "0", "1e-7", "2.5", "1e300", "1e305"]
IN_TWO = [["name", "key"], ["key", "ill"]]


def keyed(values):
    rows = [f"n{i},{v},i{i % 4}\n" for i, v in enumerate(values)]
    return "name,key,ill\n" + "".join(rows)


@pytest.mark.parametrize(
    ("values", "edge"),
    [
        (HUGE, HUGE[4]),
        (TINY, TINY[4]),
        (DAYS, DAYS[4]),
        (MOMENTS, DAYS[4]),
        (FAR, "1e-07"),
    ],
    ids=["huge", "tiny", "days", "moments", "far"],
)
def test_bins_are_cut_at_exact_values(values, edge, tmp_path):
    (tmp_path / "t.csv").write_text(keyed(values))
    path = str(tmp_path / "t.csv")
    with pv.read(path, identifier="name", sensitive="ill") as table:
        method = pv.SplitViews(together=IN_TWO)
        (found,) = method.propose(table, [promise("1/4")])
    assert [edge] == found.bins["key"].to_list()


def test_bins_of_moments_are_released_and_verified(tmp_path):
    moments = pa.array(MOMENTS).cast(pa.timestamp("us"))
    sides = {"name": HUGE, "key": moments, "ill": ["i0", "i1", "i2", "i3"] * 2}
    with pv.read(
        pa.table(sides), identifier="name", sensitive="ill", other="key"
    ) as table:
        method = pv.SplitViews(together=IN_TWO)
        kept = pv.publish(table, [promise("1/4")], method=method)
        kept.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    shown = (tmp_path / "out" / "view-1.csv").read_text()
    assert 4 == shown.count("before 2024-02-25") == shown.count("from 2024-02-25")
    assert pv.verify(tmp_path / "out").good


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
    release = pv.publish(people, stated("1/4"), method=pv.SplitViews())
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good


def test_without_acceptance_both_kinds_of_worlds_are_within(people):
    for proposal in pv.SplitViews().propose(people, [promise("1/4")]):
        (found,) = proposal.audit.findings
        worlds = found.details["worlds"]
        assert {"safe"} == {worlds[w]["verdict"] for w in ("projected", "full")}


JOBS = {"Cook": ["Manual"], "Driver": ["Manual"], "Judge": ["Law"], "Clerk": ["Law"]}
SHARED = [["name", "job"], ["job", "ill"]]


@pytest.fixture
def workers():
    rows = range(24)
    table = pa.table(
        {
            "name": [f"n{i}" for i in rows],
            "job": [list(JOBS)[i % 4] for i in rows],
            "ill": [f"i{i // 4 % 2 + i % 2}" for i in rows],
        }
    )
    with pv.read(table, identifier="name", sensitive="ill", other="job") as read:
        yield read


def test_a_hierarchy_gives_coarser_keys(workers, tmp_path):
    method = pv.SplitViews(hierarchies={"job": JOBS})
    found = method.propose(workers, stated("1/3"))
    assert [{}, {"job": 1}] == [p.levels for p in found]
    assert pv.audit(found[1].views, [promise("1/3")]).safe
    fine = pv.Views(workers, ["name", "job"], ["job", "ill"])
    assert not pv.audit(fine, [promise("1/3")]).safe
    file = tmp_path / "job.csv"
    file.write_text("".join(f"{v};{h[0]}\n" for v, h in JOBS.items()))
    policy = stated("1/3", hierarchies={"job": str(file)})
    again = pv.SplitViews().propose(workers, policy)
    assert [p.levels for p in found] == [p.levels for p in again]


def test_a_coarser_key_is_released_by_its_levels(workers, tmp_path):
    method = pv.SplitViews(hierarchies={"job": JOBS}, together=SHARED)
    release = pv.publish(workers, [promise("1/3")], method=method)
    release.write(tmp_path / "out", custody=tmp_path / "vault", format="csv")
    shown = (tmp_path / "out" / "view-1.csv").read_text()
    assert "Manual" in shown
    assert "Cook" not in shown
    assert "level" in (tmp_path / "out" / "release.json").read_text()
    assert pv.verify(tmp_path / "out").good


def test_a_value_without_a_level_is_refused(workers):
    method = pv.SplitViews(hierarchies={"job": {"Cook": ["Manual"]}})
    with pytest.raises(pv.InputError, match="row for every value"):
        method.propose(workers, [promise("1/3")])


@pytest.mark.parametrize(
    ("limit", "about", "message"),
    [
        ("1/2", "select name, ill from T where age > 30", "share only age"),
        ("1/2", "select name, ill from T", "share no column"),
    ],
)
def test_a_secret_query_may_be_infeasible(people, limit, about, message):
    asked = pv.Promise(pv.Reconstructor(), pv.Ceiling(limit), about)
    with pytest.raises(pv.Infeasible, match=message) as caught:
        pv.SplitViews(max_audits=5).propose(people, asked)
    assert caught.value.best > Fraction(1, 2)


def test_what_a_secret_query_looks_at_is_shared_as_it_is(people):
    about = "select name, ill from T where age > 30"
    asked = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9"), about)
    for proposal in pv.SplitViews().propose(people, asked):
        assert all("age" in v.columns for v in proposal.views.views)
        assert "age" not in proposal.bins
    with pytest.raises(pv.InputError, match="left out"):
        pv.SplitViews(leave_out=["age"]).propose(people, asked)


def test_rules_that_leave_no_safe_pair_are_infeasible(workers):
    with pytest.raises(pv.Infeasible, match="together and apart allow") as caught:
        pv.SplitViews(together=SHARED).propose(workers, [promise("1/3")])
    assert Fraction(1, 2) == caught.value.best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"together": "name"}, "lists of columns"),
        ({"together": [["nobody"]]}, "must exist"),
        ({"together": [["name", "ill"]]}, "who has what"),
        ({"together": [["age", "city"]], "apart": [["age", "city"]]}, "exclude all"),
        ({"proposals": 0}, "whole number"),
        ({"hierarchies": "job.csv"}, "hierarchy per column"),
        ({"hierarchies": {"nobody": JOBS}}, "must exist"),
    ],
)
def test_wrong_use(people, options, message):
    with pytest.raises(pv.InputError, match=message):
        pv.SplitViews(**options).propose(people, [promise("1/2")])


def test_a_promise_against_somebody_else_is_not_enough():
    with pv.read(
        str(clinic_path()),
        identifier="name",
        sensitive="problem",
        other=["age", "job", "number"],
    ) as table:
        with pytest.raises(pv.InputError, match="reconstructor"):
            pv.SplitViews().propose(table, pv.Promise(pv.Linker(), pv.Ceiling(1)))
