"""Both kinds of worlds, models that no table fits, and what is accepted by name."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic

import pyarrow as pa
import pytest

import privet as pv
from privet.demo.tables import clinic_path
from privet.views.audit import join_views
from privet.views.counting import chains

pytestmark = pytest.mark.engines

STAR = (["who", "x"], ["x", "ill"], ["x", "b"])


def opened(columns, **more):
    roles = {"identifier": "who", "sensitive": "ill", **more}
    return pv.read(pa.table(columns), **roles)


@pytest.fixture
def star():
    rows = {"who": [*"ABAB"], "x": ["u"] * 4, "ill": [*"fgfg"], "b": [*"klkl"]}
    with opened(rows, other=["x", "b"]) as table:
        yield table


def promise(limit, model="unrestricted", about=None, **more):
    return pv.Promise(pv.Reconstructor(model, **more), pv.Ceiling(limit), about)


# Two kinds of worlds ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [("0.7", "breach"), ("0.75", "undecided"), ("0.9", "safe")],
)
@pytest.mark.parametrize("worlds", ["projected", "full"])
def test_a_view_that_does_not_bear_on_it(star, limit, verdict, worlds):
    """Two views give 5/7, all three 161/193; before, 5/7 alone was SAFE at 3/4."""
    found = pv.audit(pv.Views(star, *STAR), promise(limit, worlds=worlds))
    told = found.findings[0].details["worlds"]
    assert verdict == found.verdict.value
    assert ("5/7", "161/193") == (told["projected"]["share"], told["full"]["share"])
    assert "71 %; over whole tuples of all views: 83 %" in found.explain()


def test_an_earlier_release_counts(star):
    """Safe by itself, and not together with what was published before."""
    new = pv.Views(star, ["who", "x"], ["x", "ill"])
    assert pv.audit(new, promise("0.75")).safe
    both = join_views(new, pv.Views(star, ["x", "b"]), pv.Views(star, ["ill", "x"]))
    assert 3 == len(both)
    assert pv.Verdict.UNDECIDED is pv.audit(both, promise("0.75")).verdict


def test_two_releases_together_give_it_away(star):
    """Each by itself says nothing of who is ill; joined they do."""
    rows = {"who": [*"ABCD"], "x": [*"uuvv"], "y": [*"1212"], "ill": [*"fghi"]}
    with opened(rows, other=["x", "y"]) as table:
        first = pv.Views(table, ["who", "x"], ["x", "ill"])
        second = pv.Views(table, ["who", "y"], ["y", "ill"])
        for alone in (first, second):
            assert pv.audit(alone, promise("3/4")).safe
        both = join_views(first, second)
        assert pv.Verdict.BREACH is pv.audit(both, promise("3/4")).verdict


def test_a_release_that_was_loaded_is_compared(star, tmp_path):
    asked = promise("1/2", about={"who": "*", "ill": "*"})
    earlier = pv.publish(pv.Views(star, ["x", "b"]), [asked])
    earlier.write(tmp_path / "out", custody=tmp_path / "vault")
    loaded = pv.load(tmp_path / "out")
    new = pv.Views(star, ["who", "x"], ["x", "ill"])
    assert pv.audit(join_views(new, loaded.views), promise("0.75")).verdict is (
        pv.Verdict.UNDECIDED
    )
    with pytest.raises(pv.InputError, match="at hand"):
        join_views(loaded.views, new)
    other = {"who": [*"AB"], "x": [*"uv"], "ill": [*"fg"], "b": [*"kl"]}
    with (
        opened(other) as table,
        pytest.raises(pv.InputError, match="what the table gives"),
    ):
        join_views(pv.Views(table, ["who", "x"]), loaded.views)
    loaded.table.close()


@pytest.mark.parametrize(("up_to", "safe"), [(None, True), (2, True), (1, False)])
def test_it_may_be_accepted_by_name(star, up_to, safe):
    entry = pv.Accepted("ill", "worlds", up_to, why="b is random", who="the officer")
    policy = pv.Policy(promises=(promise("0.75"),), accepted=(entry,))
    found = pv.audit(pv.Views(star, *STAR), policy)
    assert safe is found.safe
    assert ("b is random" in found.findings[0].note) is safe


def test_what_was_accepted_is_released_with_its_reason(star, tmp_path):
    entry = pv.Accepted("ill", "worlds", why="b is random", who="the officer")
    policy = pv.Policy(roles=star.roles, promises=(promise("0.75"),), accepted=(entry,))
    views = pv.Views(star, *STAR)
    with pytest.raises(pv.Infeasible, match="over whole tuples"):
        pv.publish(views, [promise("0.75")])
    pv.publish(views, policy).write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out").good
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "b is random" in note
    assert "officer" not in note
    assert "officer" in (tmp_path / "vault" / "custody.json").read_text()


def test_bags_have_one_kind_of_worlds(star):
    told = pv.audit(pv.Views(star, *STAR), promise("0.9", "bag")).findings[0].details
    assert told["worlds"]["projected"] == told["worlds"]["full"]


def test_many_associations_over_whole_tuples_are_bounded(monkeypatch):
    from privet.views import two_views

    monkeypatch.setattr(two_views, "MOST_LISTED", 3)
    rows = {"who": [*"ABAB"], "x": ["u"] * 4, "ill": [*"ffgg"], "b": [*"klmn"]}
    with opened(rows) as table:
        views = pv.Views(table, ["who", "x"], ["x", "ill", "b"])
        beyond = pv.audit(views, promise("0.72")).findings[0]
        assert "at least 75 %" in beyond.note
        within = pv.audit(views, promise("0.8")).findings[0]
        assert "are listed up to 3" in within.note
        assert {pv.Verdict.UNDECIDED} == {beyond.verdict, within.verdict}
        plain = pv.Views(table, ["who", "x"], ["x", "ill"])
        assert pv.audit(plain, promise("0.72")).safe


# No table ---------------------------------------------------------------------------


def test_a_crowded_key_elsewhere_leaves_no_functional_table():
    """Key v has one person and two values; before, 1/2 in key u was SAFE."""
    rows = {"who": [*"ABCC"], "x": [*"uuvv"], "ill": [*"fgfg"]}
    with opened(rows) as table:
        views = pv.Views(table, ["who", "x"], ["x", "ill"])
        about = {"who": "A", "ill": "f"}
        found = pv.audit(views, promise("9/10", "functional", about)).findings[0]
        assert pv.Verdict.UNDECIDED is found.verdict
        assert "No table gives these views in the functional model" in found.note


def test_no_model_acquits_somebody_it_has_no_table_for():
    """A has f and g; a third value is in no table, nor is there any table."""
    rows = {"who": [*"AAB"], "x": [*"uuv"], "ill": [*"fgh"]}
    with opened(rows) as table:
        views = pv.Views(table, ["who", "x"], ["x", "ill"])
        about = {"who": "A", "ill": "h"}
        for model in ("restricted", "functional"):
            found = pv.audit(views, promise("9/10", model, about))
            assert pv.Verdict.UNDECIDED is found.verdict
        assert pv.audit(views, promise("9/10", "unrestricted", about)).safe


def test_functional_with_a_person_in_two_keys():
    """A must have the value both keys have: then B has g, and C h."""
    rows = {"who": [*"ABAC"], "x": [*"uuvv"], "ill": [*"fgfh"]}
    with opened(rows) as table:
        views = pv.Views(table, ["who", "x"], ["x", "ill"])

        def sure(who, ill):
            about = {"who": who, "ill": ill}
            return pv.belief(views, pv.Reconstructor("functional"), about).posterior

        assert [1, 1, 1] == [sure("A", "f"), sure("B", "g"), sure("C", "h")]
        assert 0 == sure("B", "f")


# Long questions ---------------------------------------------------------------------

MANY = range(200)


@pytest.mark.parametrize(
    "where",
    [
        " or ".join(f"age = {n}" for n in MANY),
        f"age in ({', '.join(map(str, MANY))})",
        " and ".join(f"age <> {n + 1000}" for n in MANY),
    ],
)
def test_many_values_are_one_list(where):
    with pv.read(str(clinic_path()), identifier="name", sensitive="problem") as table:
        views = pv.Views(table, ["name", "age"], ["age", "problem"])
        about = f"select name, problem from T where {where}"
        found = pv.belief(views, pv.Reconstructor(), about)
    assert 1 == found.posterior  # Bill is alone at 30


def test_what_cannot_be_simplified_is_refused_at_once():
    with pv.read(str(clinic_path()), identifier="name", sensitive="problem") as table:
        views = pv.Views(table, ["name", "age"], ["age", "problem"])
        where = " or ".join(f"age > {n}" for n in MANY)
        begun = monotonic()
        with pytest.raises(pv.InputError, match="at most 64 comparisons"):
            pv.belief(
                views, pv.Reconstructor(), f"select name, problem from T where {where}"
            )
    assert monotonic() - begun < 10


def test_large_chains_come_apart_in_one_pass():
    keys = range(20_000)
    begun = monotonic()
    edges = [(b, c % len(keys)) for b in keys for c in (b, b + 1)]
    sizes = dict.fromkeys(keys, 2)
    assert 1 == len(chains.split_chain_graphs(sizes, sizes, edges))
    assert monotonic() - begun < 20


# Graph and cover --------------------------------------------------------------------


def test_the_paper_s_graph_and_cover():
    """Figure 4: three names and three problems at 45; and Alan's cover is Cold."""
    with pv.read(str(clinic_path()), identifier="name", sensitive="problem") as table:
        views = pv.Views(table, ["name", "age"], ["age", "job", "problem"])
        graph = views.connectivity({"name": "George", "problem": "HIV"})
        assert isinstance(graph, pv.ConnectivityGraph)
        assert (6, 9) == (len(graph), len(graph.edges))
        told = graph.to_dict()
        assert [["age", "name"], ["age", "problem"]] == told["views"]
        assert {"45"} == {n["cells"]["age"] for n in told["nodes"]}
        assert 10 == len(views.connectivity({"name": "*", "problem": "*"}))
        cover = views.cover({"name": "Alan", "problem": "HIV"})
        assert isinstance(cover, pv.AssociationCover)
        assert ("Cold",) == cover.values
        assert "HIV" not in cover
        assert {"person": "Alan", "column": "problem", "values": ["Cold"]} == (
            cover.to_dict()
        )
        with pytest.raises(pv.InputError, match="one person"):
            views.cover({"name": "*", "problem": "HIV"})
        with pytest.raises(pv.InputError, match="do not show both"):
            pv.Views(table, ["name", "age"]).connectivity(
                {"name": "George", "problem": "HIV"}
            )


def test_the_graph_of_three_views(star):
    rows = {"who": [*"AB"], "b": [*"uv"], "c": [*"xx"], "ill": [*"fg"]}
    with opened(rows) as table:
        chain = pv.Views(table, ["who", "b"], ["b", "c"], ["c", "ill"])
        graph = chain.connectivity({"who": "A", "ill": "f"})
    assert 6 == len(graph)
    assert (3, 2 + 4) == (len(graph.views), len(graph.edges))
    about = {"who": "A", "ill": "f"}
    found = pv.belief(pv.Views(star, *STAR), pv.Reconstructor(), about)
    assert Fraction(5, 7) == found.posterior
