"""Charts say what was counted, stay small, and name nobody who need not be named."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.classifier.charts import draw_closeness
from privet.demo.tables import bank_path, clinic_path
from privet.display import HOMES
from privet.engine.sql_engine import SqlEngine
from privet.microdata.charts.group_charts import bin_sizes, label_sizes
from privet.microdata.charts.group_counts import (
    count_groups,
    count_uniqueness,
    describe_groups,
    list_surest,
)
from privet.microdata.charts.release_charts import compare_column, compare_pair
from privet.report.belief_charts import accumulate, draw_promises, find_level, find_room
from privet.report.chart_style import AFTER, BEFORE, as_spec, render_inline
from privet.views.charts import MOST_NODES, place_nodes

EVIL = "<script>alert('x')</script> & \"'.[0]"
CANARY = "CANARY-7f3a"


def find_rows(chart: Any) -> list[dict[str, Any]]:
    """All lines of data that stand in a chart."""
    found: list[dict[str, Any]] = []

    def walk(spec: Any) -> None:
        if isinstance(spec, dict):
            found.extend(spec.get("data", {}).get("values", []))
            for value in spec.values():
                walk(value)
        elif isinstance(spec, list):
            for value in spec:
                walk(value)

    walk({k: v for k, v in as_spec(chart).items() if k != "datasets"})
    return found


def make_people(rows: int, seed: int, **roles: Any) -> pv.Table:
    dice = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "job": dice.choice(["Cook", "Judge", "Nurse", None], rows),
            "town": dice.choice(list("abcde"), rows),
            "age": dice.integers(20, 24, rows),
            "ill": dice.choice(["flu", "none", "HIV"], rows, p=[0.3, 0.6, 0.1]),
        }
    )
    stated = {"quasi": ["job", "town", "age"], "sensitive": "ill", **roles}
    return pv.read(frame, **stated)


PROMISE = pv.Promise(pv.Linker(["job", "town"]), pv.Ceiling("2/3"), {"ill": "HIV"})


# Numbers ----------------------------------------------------------------------------


def test_the_points_of_a_promise_are_its_fractions() -> None:
    with make_people(80, 1) as people:
        found = pv.audit(people, [PROMISE])
    told = {
        r["what"]: Fraction(r["exact"]) for r in find_rows(found.chart()) if "what" in r
    }
    belief = found.findings[0].belief
    assert belief is not None
    assert belief.prior == told["knowing nothing"]
    assert belief.posterior == told.get("broken", told.get("kept"))
    assert Fraction(2, 3) == told["limit"]


@pytest.mark.parametrize("seed", range(8))
def test_people_are_as_exposure_counts_them(seed: int) -> None:
    with make_people(60, seed) as people:
        found = pv.audit(people, [PROMISE])
        counted = count_groups(people)
    told = found.exposure.to_dict()["columns"]["ill"]  # type: ignore[union-attr]
    assert tuple(told["own_belief"]) == counted.own
    assert 60 == counted.people
    assert told["unique"] == counted.sizes.get(1, 0)
    assert told["groups"] == sum(counted.sizes.values())
    rows = {
        r["sure"]: r["people"] for r in find_rows(found.chart("beliefs")) if "of" in r
    }
    assert {float(s): n for s, n in accumulate(told["own_belief"])} == rows
    assert told["certain"] == rows[1.0]


@pytest.mark.parametrize("seed", range(8))
def test_uniqueness_follows_its_definition(seed: int) -> None:
    """Brute force: look at every set of columns, row by row."""
    with make_people(40, seed) as people:
        counted = count_groups(people)
    assert counted.groups is not None
    found, note = count_uniqueness(counted.groups)
    assert "" == note
    codes = np.column_stack(counted.groups.keys.columns()).tolist()
    rows = [
        tuple(line)
        for line, n in zip(codes, counted.groups.total.tolist(), strict=True)
        for _ in range(n)
    ]
    names = [d.name for d in counted.groups.by]
    ever: set[int] = set()
    for at, one in enumerate(found, 1):
        best = 0
        for chosen in combinations(range(len(names)), at):
            keys = [tuple(r[i] for i in chosen) for r in rows]
            alone = {i for i, k in enumerate(keys) if keys.count(k) == 1}
            ever |= alone
            best = max(best, len(alone))
            if tuple(names[i] for i in chosen) == one.worst:
                assert one.unique == len(alone)
        assert (at, best, len(ever)) == (one.columns, one.unique, one.any_set)


@pytest.mark.parametrize("limit", [pv.Ceiling("1/4"), pv.Ceiling(below="1/4")])
def test_the_surest_groups_are_the_audit_s(limit: pv.Ceiling) -> None:
    promise = pv.Promise(pv.Linker(["job", "town"]), limit, {"ill": "HIV"})
    with make_people(80, 3) as people:
        found = pv.audit(people, [promise]).findings[0]
        chart = people.chart("nearest", promise=promise)
    told = [r for r in find_rows(chart) if "exact" in r]
    rows = list({r["group"]: r for r in told}.values())  # bars and texts share them
    assert found.belief is not None
    assert found.belief.posterior == Fraction(rows[0]["exact"])
    beyond = [r for r in rows if r["side"] == "beyond the limit"]
    assert 0 < found.groups_above == len(beyond) < len(rows)


def list_sides(groups: pv.Groups, limit: Any) -> list[str]:
    """What the legend of the surest groups tells apart."""
    chart = as_spec(groups.chart("nearest", limit=limit))
    found: list[str] = chart["layer"][0]["encoding"]["color"]["scale"]["domain"]
    return found


def test_who_must_stay_below_a_limit_may_not_reach_it() -> None:
    groups = pv.Groups.from_histograms([{"a": 1, "b": 1}])
    assert ["within the limit"] == list_sides(groups, "1/2")
    assert ["beyond the limit"] == list_sides(groups, pv.Ceiling(below="1/2"))
    mixed = pv.Groups.from_histograms([{"a": 1, "b": 1}, {"a": 1}])
    assert ["within the limit", "beyond the limit"] == list_sides(mixed, "1/2")


def test_groups_of_any_columns_must_be_named() -> None:
    promise = pv.Promise(pv.Linker(knows_any=2), pv.Ceiling("1/4"), {"ill": "HIV"})
    with make_people(80, 3) as people:
        with pytest.raises(pv.InputError, match="Name them with knows"):
            people.chart("nearest", promise=promise)
        chart = people.chart("nearest", promise=promise, knows=["job", "town"])
    assert "job" in find_rows(chart)[0]["group"]


def test_a_corner_is_not_rounded_onto_its_limit() -> None:
    """89.96 % is below 90 %, and the chart says so."""
    groups = pv.Groups.from_histograms([{"x": 30, "y": 28, "z": 31}])
    frontier = pv.skyline(groups, "0.9")
    assert any(float(c.belief) > 0.8995 for c in frontier.corners)
    for attacks in (True, False):
        rows = find_rows(frontier.chart(attacks=attacks))
        said = " ".join(r["said"] for r in rows if "said" in r)
        assert "sure" in said
        assert "90 % sure" not in said


def test_nobody_is_drawn_without_those_they_may_belong_to() -> None:
    """Of many people, whole keys are drawn; the others are left out with theirs."""
    keys, people = 30, 3
    frame = pd.DataFrame(
        {
            "name": [f"person {i:03}" for i in range(keys * people)],
            "zip": [f"zip {i % keys:02}" for i in range(keys * people)],
            "ill": [f"illness {i % 7}" for i in range(keys * people)],
        }
    )
    table = pv.read(frame, identifier="name", quasi="zip", sensitive="ill")
    graph = pv.Views(table, ["name", "zip"], ["zip", "ill"]).connectivity().to_dict()
    placed = {node["number"] for node in place_nodes(graph)}
    assert MOST_NODES >= len(placed) > MOST_NODES / 2
    for a, b in graph["edges"]:
        assert (a in placed) == (b in placed)


def test_what_forbids_nothing_is_not_called_undecided() -> None:
    table = pv.read(
        str(clinic_path()), identifier="name", quasi="age", sensitive="problem"
    )
    views = pv.Views(table, ["name", "age"], ["age", "problem"])
    chart = pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling(1))).chart()
    told = {r["what"] for r in find_rows(chart) if "what" in r}
    assert {"knowing nothing", "not applicable", "limit"} == told


def test_a_release_shows_its_limits_in_words() -> None:
    with make_people(200, 3) as people:
        stated = [PROMISE, pv.Measure(k_anonymity=4)]
        shown = pv.publish(people, stated, method=pv.Mondrian())._repr_html_()
    assert "at least 4" in shown
    assert "at most 2/3" in shown
    assert "k anonymity 4" not in shown


def test_one_group_is_one_group() -> None:
    groups = pv.Groups.from_histograms([{"a": 3}])
    assert ["1 group; 3 people in all."] == as_spec(groups.chart())["title"]["subtitle"]


def test_chances_of_many_answers_are_not_written_over_each_other() -> None:
    def draw(answers: int) -> str:
        question = pv.Question("age", [str(i) for i in range(answers)])
        design = pv.Design([question], [pv.Group("age", pv.KAry("0.3"))])
        return json.dumps(as_spec(design.chart("channel", column="age")))

    assert '"type": "text"' in draw(12)
    assert '"type": "text"' not in draw(13)


def test_bars_of_nobody_begin_at_the_axis() -> None:
    with make_people(80, 1) as people:
        chart = pv.audit(people, [pv.Promise(pv.Linker([]), pv.Ceiling(1))])
    scale = as_spec(chart.chart("people"))["layer"][0]["encoding"]["x"]["scale"]
    assert {"domainMin": 0, "domainMax": 1} == scale


def test_what_was_counted_of_beliefs_is_marked() -> None:
    """The line between two steps is drawn, not counted: it may cross a limit."""
    groups = pv.Groups.from_histograms([{"a": 1, "b": 1}])
    spec = as_spec(groups.chart("beliefs", limit="1/2"))
    assert spec["layer"][0]["mark"]["point"]
    assert any("Counted at each point" in line for line in spec["title"]["subtitle"])


def test_only_the_last_panel_of_hidden_values_has_an_axis() -> None:
    known = ["job", "country"]
    roles = {"quasi": known, "sensitive": "bankruptcy", "weight": "count"}
    with pv.read(bank_path(), **roles, drop=["child", "rating"]) as bank:
        about = {"bankruptcy": "Discharged"}
        promise = pv.Promise(pv.Linker(known), pv.Ceiling("1/2"), about)
        spec = as_spec(pv.publish(bank, [promise]).chart("hidden"))
    first, last = [p["layer"][0]["encoding"]["x"]["axis"] for p in spec["vconcat"]]
    assert first["labels"] is False
    assert "labels" not in last


def test_groups_that_are_written_out() -> None:
    groups = pv.Groups.from_histograms([{"a": 3, "b": 1}, {"a": 1}])
    rows, more = list_surest(groups.grouped, 1)
    assert [("1", 1)] == [(r["share"], r["whole"]) for r in rows]
    assert 1 == more
    assert {4: 1, 1: 1} == dict(describe_groups(groups).sizes)
    rows, more = list_surest(groups.grouped, 5, ["b"])
    assert ["1/4"] == [r["share"] for r in rows]


def test_sizes_are_binned_without_losing_anybody() -> None:
    sizes = {1: 7, 2: 3, 4: 2, 5: 1, 99: 1, 100: 2, 5000: 1}
    assert sum(s * n for s, n in sizes.items()) == sum(bin_sizes(sizes))
    assert len(label_sizes()) == len(bin_sizes(sizes))


@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_distributions_are_those_of_the_table_and_the_release(method: Any) -> None:
    with make_people(300, 5) as people:
        release = pv.publish(people, [PROMISE], method=method)
        told = compare_column(release, "town")
        pair = compare_pair(release, ("town", "ill"))
        turned = compare_pair(release, ("ill", "town"))
        before = {r["value"]: r[BEFORE] for r in told}
        counts = [g for _, g in people.count([_tally("town")])]
        figures = release.utility
    assert pytest.approx(1) == sum(before.values())
    assert pytest.approx(1) == sum(r[AFTER] for r in told)
    (groups,) = counts
    for code, n in zip(groups.value.tolist(), groups.n.tolist(), strict=True):
        assert pytest.approx(n / 300) == before[groups.about[code]]
    assert figures is not None
    moved = sum(abs(r[BEFORE] - r[AFTER]) for r in told) / 2
    assert pytest.approx(figures["town"].moved, abs=1e-9) == moved
    for of in (BEFORE, AFTER):
        assert pytest.approx(1) == float(np.sum(pair[of]))
        assert np.allclose(np.array(pair[of]).T, turned[of])


def _tally(column: str) -> Any:
    from privet.engine.protocol import CountQuery

    return CountQuery((), column)


def test_what_is_nearest_to_breaking_comes_first() -> None:
    def tell(name: str, posterior: str) -> dict[str, Any]:
        return {
            "promise": name,
            "verdict": "safe",
            "prior": "1/10",
            "posterior": posterior,
            "limit": {"at_most": "1/2"},
        }

    findings = [tell("far", "1/5"), tell("near", "12/25"), tell("middle", "1/3")]
    labels = [r["promise"] for r in find_rows(draw_promises(findings)) if "low" in r]
    assert ["near", "middle", "far"] == labels
    assert Fraction(1, 50) == find_room(findings[1])


@pytest.mark.parametrize(
    ("limit", "level"),
    [
        (pv.Ceiling("1/2"), "1/2"),
        (pv.Ceiling(below="0.3"), "3/10"),
        (pv.Shift("0.5", "0.8"), "4/5"),
        (pv.Ratio(3), "3/4"),
        (pv.Ratio(9), "1"),
    ],
)
def test_a_limit_is_drawn_where_it_holds_and_not_beyond(limit: Any, level: str) -> None:
    found = find_level(limit.to_dict(), "1/4")
    assert Fraction(level) == found
    if found < 1:
        assert not limit.holds(pv.Belief("1/4", found + Fraction(1, 1000)))
    assert limit.holds(pv.Belief("1/4", found - Fraction(1, 1000)))


@pytest.mark.parametrize(
    ("limit", "prior", "posterior", "level"),
    [
        (pv.Ratio(3), "3/4", "1/3", "1/4"),
        (pv.Shift("0.5", "0.8"), "9/10", "3/5", "1/2"),
        (pv.Shift("0.5", "0.8"), "2/5", "1/5", "4/5"),  # nothing limits how it falls
    ],
)
def test_a_limit_is_drawn_at_the_end_that_a_falling_belief_comes_near_to(
    limit: Any, prior: str, posterior: str, level: str
) -> None:
    finding = {"limit": limit.to_dict(), "prior": prior, "posterior": posterior}
    found = find_level(*finding.values())
    assert Fraction(level) == found
    assert abs(found - Fraction(posterior)) == find_room(finding)
    assert limit.holds(pv.Belief(prior, posterior))
    if found < Fraction(prior):
        assert not limit.holds(pv.Belief(prior, found - Fraction(1, 1000)))
        assert limit.holds(pv.Belief(prior, found + Fraction(1, 1000)))


def test_the_chart_of_hidden_values_names_columns_of_which_nothing_is_shown() -> None:
    rows = {"age": [21, 21, 58, 58], "job": list("aabb"), "ill": list("xxyy")}
    with pv.read(pd.DataFrame(rows), quasi=["age", "job"], sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"))
        release = pv.publish(table, [promise])
        assert {"job": ["a", "b"]} == release.hidden
        title = as_spec(release.chart("hidden"))["title"]
    assert ["In one interval, of which nothing is shown: age."] == title["subtitle"]


def test_a_chart_says_what_it_must_be_told() -> None:
    smokes = pv.Question("smokes", ["no", "yes"])
    design = pv.Design([smokes], [pv.Group("smokes", pv.KAry("0.75"))])
    with pytest.raises(pv.InputError, match=r"'channel' must be told column: \.chart"):
        design.chart("channel")
    with pytest.raises(pv.InputError, match="told 'column' only; got 'colour'"):
        design.chart("channel", column="smokes", colour="red")
    with pytest.raises(pv.InputError, match="told nothing only; got 'column'"):
        design.chart("disguise", column="smokes")


# Small ------------------------------------------------------------------------------

MOST_BYTES = 60_000


def test_thousands_of_groups_stay_small() -> None:
    rows = 6_000
    frame = pd.DataFrame(
        {
            "zip": [f"{i:05d} {'x' * 200}" for i in range(rows)],
            "age": np.arange(rows) * 10**13,
            "ill": [f"illness {i % 3000}" for i in range(rows)],
        }
    )
    with pv.read(frame, quasi=["zip", "age"], sensitive="ill") as table:
        for which in ("roles", "groups", "beliefs", "uniqueness", "nearest"):
            assert len(render_inline(table.chart(which))) < MOST_BYTES, which


ROLES = {
    "quasi": ["job", "country"],
    "sensitive": "bankruptcy",
    "weight": "count",
    "drop": ["child", "rating"],
}


def test_the_numbers_of_what_is_hidden_are_below_the_last_panel() -> None:
    with pv.read(str(bank_path()), **ROLES) as loans:
        about = {"bankruptcy": "Discharged"}
        promise = pv.Promise(pv.Linker(["job", "country"]), pv.Ceiling("1/2"), about)
        release = pv.publish(loans, [promise], method=pv.TopDownDisclosure())
        *above, last = as_spec(release.chart("hidden"))["vconcat"]
    axes = [panel["layer"][0]["encoding"]["x"]["axis"] for panel in (*above, last)]
    assert [False] * len(above) == [axis["labels"] for axis in axes[:-1]]
    assert above
    assert "labels" not in axes[-1]


def test_hundreds_of_values_stay_small() -> None:
    rows = 400
    frame = pd.DataFrame(
        {
            "zip": [f"{i:05d} {'x' * 200}" for i in range(rows)],
            "age": np.arange(rows) * 10**13,
            "ill": [f"illness {i % 200}" for i in range(rows)],
        }
    )
    with pv.read(frame, quasi=["zip", "age"], sensitive="ill") as table:
        promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"))
        release = pv.publish(table, [promise], method=pv.TopDownDisclosure())
        for which in ("promises", "beliefs", "groups", "hidden", "kept"):
            assert len(render_inline(release.chart(which))) < MOST_BYTES, which
        for column in ("zip", "age", "ill"):
            chart = release.chart("column", column=column)
            assert len(render_inline(chart)) < MOST_BYTES
            assert len({r["value"] for r in find_rows(chart)}) <= 16
        chart = release.chart("pair", columns=["zip", "ill"])
        assert len(render_inline(chart)) < 2 * MOST_BYTES
        found = pv.discover(table, columns=1)
        assert len(render_inline(found.chart())) < MOST_BYTES
        assert "and " in json.dumps(as_spec(release.chart("hidden"))["title"])


def test_hundreds_of_promises_end_in_how_many_more() -> None:
    promises = [
        pv.Promise(pv.Linker(["job"]), pv.Ceiling("1/2"), {"ill": v}, f"no {v} {i}")
        for v in ("flu", "HIV")
        for i in range(60)
    ]
    with make_people(50, 0) as people:
        found = pv.audit(people, promises)
    assert "and 100 more" in json.dumps(as_spec(found.chart())["title"])
    assert len(render_inline(found.chart())) < MOST_BYTES


def test_odd_tables_have_charts() -> None:
    for rows in (1, 2):
        frame = pd.DataFrame({"job": ["Cook"] * rows, "ill": [None] * rows})
        with pv.read(frame, quasi="job", sensitive="ill") as table:
            for which in ("roles", "groups", "beliefs", "uniqueness", "nearest"):
                assert "<svg" in render_inline(table.chart(which))
            assert (
                "<svg"
                in pv.audit(table, pv.Promise(pv.Linker(), pv.Ceiling(1)))._repr_html_()
            )
    huge = pv.Groups.from_histograms([{"a": 10**15, "b": 1}])
    for which in ("groups", "beliefs", "nearest"):
        assert "<svg" in render_inline(huge.chart(which))


def test_a_table_without_a_sensitive_column() -> None:
    with pv.read(pd.DataFrame({"job": ["a", "b"]}), quasi="job") as table:
        assert [2, 2] == [r["people"] for r in find_rows(table.chart("groups"))] * 2
        for which in ("beliefs", "uniqueness"):
            with pytest.raises(pv.InputError, match="sensitive"):
                table.chart(which)


# Nobody is named --------------------------------------------------------------------


def make_canary() -> tuple[pv.Table, pv.Policy]:
    rows = 24
    frame = pd.DataFrame(
        {
            "name": [f"{CANARY} {i}" for i in range(rows)],
            "job": ["Cook"] * 8 + ["Judge"] * 8 + [f"{CANARY} job"] * 8,
            "town": ["a", "b"] * 12,
            "ill": ["flu"] * 10 + ["none"] * 6 + [f"{CANARY} ill"] * 8,
        }
    )
    roles = pv.Roles(identifier="name", quasi=["job", "town"], sensitive="ill")
    promise = pv.Promise(pv.Linker(), pv.Ceiling("1/2"), name="nobody learns it")
    return pv.read(frame, identifier="name", quasi=["job", "town"], sensitive="ill"), (
        pv.Policy(promises=promise, roles=roles)
    )


@pytest.mark.parametrize("method", [pv.TopDownDisclosure(), pv.Mondrian()])
def test_a_release_is_shown_without_what_it_hides(method: Any) -> None:
    table, policy = make_canary()
    with table:
        release = pv.publish(table, policy, method=method)
        shown = (
            repr(release),
            release._repr_html_(),
            str(release.to_frame().to_dict()),
            json.dumps(release.to_dict()),
            *(
                json.dumps(as_spec(release.chart(which)))
                for which in ("promises", "beliefs", "groups", "kept")
            ),
        )
        assert [] == [text for text in shown if CANARY in text]
        if release.grouped is None:
            assert any(CANARY in str(v) for v in (release.hidden or {}).values())
            assert CANARY in json.dumps(as_spec(release.chart("hidden")))


def test_tables_policies_and_views_are_shown_without_a_cell() -> None:
    table, policy = make_canary()
    with table:
        views = pv.Views(table, ["name", "job"], ["job", "ill"])
        groups = table.groups()
        for value in (table, policy, views, groups):
            html = value._repr_html_()
            assert "<svg" in html
            assert CANARY not in html
            assert CANARY not in json.dumps(value.to_dict())
        for which in ("roles", "groups", "beliefs", "uniqueness"):
            assert CANARY not in json.dumps(as_spec(table.chart(which)))
        told = pv.audit(table, policy)
        for which in ("promises", "people", "exposure", "beliefs"):
            assert CANARY not in json.dumps(as_spec(told.chart(which)))
        frontier = pv.skyline(table, "0.99")
        if frontier.safe:
            assert CANARY not in json.dumps(as_spec(frontier.chart()))
        assert CANARY not in json.dumps(as_spec(pv.discover(table).chart()))


def test_showing_a_value_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table, policy = make_canary()
    with table:
        release = pv.publish(table, policy, method=pv.TopDownDisclosure())
        views = pv.Views(table, ["name", "job"], ["job", "ill"])
        shown = [table, policy, views, release, release.audit]

        def refuse(*args: object, **options: object) -> None:
            raise AssertionError("counted")

        monkeypatch.setattr(SqlEngine, "count", refuse)
        monkeypatch.setattr(SqlEngine, "domains", refuse)
        for value in shown:
            assert value._repr_html_()
            repr(value), value.to_dict()
        with pytest.raises(AssertionError, match="counted"):
            table.chart("beliefs")


def test_a_chart_counts_in_one_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    plain = SqlEngine.count

    def watch(self: Any, request: Any, run: Any) -> Any:
        counted.append(len(request.tallies))
        return plain(self, request, run)

    monkeypatch.setattr(SqlEngine, "count", watch)
    with make_people(50, 2) as people:
        for which in ("groups", "beliefs", "uniqueness", "nearest"):
            counted.clear()
            people.chart(which)
            assert [1] == counted, which


# Hostile names ----------------------------------------------------------------------


class Page(HTMLParser):
    """Checks that tags are balanced and gathers the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("br",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()


def make_hostile(folder: Path) -> list[Any]:
    """Every value there is, with names that would be code if they were not escaped."""
    frame = pd.DataFrame(
        {
            f"name{EVIL}": [f"{EVIL}{i}" for i in range(12)],
            f"job{EVIL}": [f"Cook{EVIL}", "Judge", "Nurse"] * 4,
            f"ill{EVIL}": [f"flu{EVIL}", "none", f"flu{EVIL}", "x"] * 3,
        }
    )
    name, job, ill = frame.columns
    table = pv.read(frame, identifier=name, quasi=job, sensitive=ill)
    sure = frame.assign(**{job: frame[ill]})
    telling = pv.read(sure, identifier=name, quasi=job, sensitive=ill)
    promise = pv.Promise(pv.Linker([job]), pv.Ceiling("0.9"), name=f"p{EVIL}")
    policy = pv.Policy(promises=promise, title=EVIL, roles=table.roles)
    found = pv.audit(table, policy)
    release = pv.publish(table, policy)
    views = pv.Views(table, [name, job], [job, ill])
    counts = pv.ClassifierViews.from_counts(
        {f"a{EVIL}": 3, "b": 3}, {f"x{EVIL}": {EVIL: {f"a{EVIL}": 3, "b": 3}}}
    )
    question = pv.Question(EVIL, [f"yes{EVIL}", "no"])
    design = pv.Design([question], [pv.Group(EVIL, pv.Flip("0.8"))], title=EVIL)
    answers = pd.DataFrame({EVIL: [f"yes{EVIL}", "no"] * 20})
    estimates = pv.estimate(answers, design)
    (folder / "t.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    ledger = pv.Ledger.create(folder / "ledger").add(folder / "t.csv", title=EVIL)
    return [
        table,
        policy,
        found,
        found.findings[0],
        found.exposure,
        release,
        release.utility,
        table.groups(),
        pv.skyline(table, "0.99"),
        pv.discover(telling),
        views,
        views.connectivity(),
        counts,
        design,
        pv.Responses(pv.read(answers), design),
        estimates,
        estimates.share(**{EVIL: "no"}),
        ledger,
        pv.compare(table, policy, methods=["disclosure", "mondrian"]),
        pv.Tradeoff.of(table, policy, f"p{EVIL}", ["0.8"], methods=["disclosure"]),
    ]


def test_every_value_escapes_hostile_names(tmp_path: Path) -> None:
    values = make_hostile(tmp_path)
    for value in values:
        html = value._repr_html_()
        page = Page(html)
        assert [] == page.open
        assert "<script" not in html
        assert not page.tags & {"script", "img", "a", "image", "foreignobject"}
        value.to_frame()
        json.dumps(value.to_dict())
        if type(value).__name__ != "Estimates":
            assert "<svg" in html, type(value)
    told = {type(v).__name__ for v in values}
    assert {"ClassifierRelease", "ViewsRelease"} == set(HOMES) - told


# In a notebook ----------------------------------------------------------------------

NOTEBOOK = """
import sys, types

class Shell:
    config = {"IPKernelApp": {}}

sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = lambda: Shell()
sys.modules["ipywidgets"] = None

import pandas as pd
import privet as pv

people = pv.read(pd.DataFrame({"job": ["a", "b"], "ill": ["x", "y"]}),
                 quasi="job", sensitive="ill")
print(pv.audit(people, pv.Promise(pv.Linker(), pv.Ceiling(1))).worst.belief.posterior)
"""


def test_a_notebook_needs_no_widgets() -> None:
    """DuckDB refuses its progress bar there, and with it nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=False
    )
    assert "1" == done.stdout.strip(), done.stderr


# What is written in a chart can be read -----------------------------------------------


def read_subtitle(chart: Any) -> str:
    return " ".join(as_spec(chart)["title"].get("subtitle", []))


def test_several_limits_are_told_as_several() -> None:
    table = make_people(60, 3)
    one = table.chart("beliefs", limit="1/2")
    assert "The upright line is a limit" in read_subtitle(one)
    promises = [
        pv.Promise(pv.Linker(), pv.Ceiling(limit), "ill") for limit in ("1/2", "2/3")
    ]
    several = pv.audit(table, promises).chart("beliefs")
    assert "The upright lines are limits" in read_subtitle(several)


def test_limits_are_named_by_the_values_they_are_about() -> None:
    linker, half = pv.Linker(), pv.Ceiling("1/2")
    promises = [pv.Promise(linker, half, {"ill": v}, name=v) for v in ("flu", "HIV")]
    every = pv.Promise(linker, pv.Ceiling(below="2/3"), "ill")
    found = pv.audit(make_people(60, 3), [*promises, every])
    told = {row["what"] for row in find_rows(found.chart("exposure"))}
    assert {
        "ill is flu: more than 50 % sure",
        "ill is HIV: more than 50 % sure",
        "ill: at least 66.7 % sure",
    } <= told


def test_a_limit_about_one_value_is_not_drawn_for_all_of_them() -> None:
    """Somebody may be surer than that of other values, and nothing is broken."""
    one = pv.Promise(pv.Linker(), pv.Ceiling("1/10"), {"ill": "HIV"})
    every = pv.Promise(pv.Linker(), pv.Ceiling("9/10"), "ill")

    def find_levels(*promises: pv.Promise) -> list[float]:
        found = pv.audit(make_people(60, 3), promises)
        charts = found.chart("beliefs"), found.exposure.chart("beliefs")  # type: ignore[union-attr]
        first, second = (
            [row["level"] for row in find_rows(c) if "level" in row] for c in charts
        )
        assert first == second
        return first

    assert [] == find_levels(one)
    assert [0.9] == find_levels(one, every)


def test_counts_stand_beside_the_bars_and_not_upon_the_limit() -> None:
    groups = pv.Groups.from_histograms([{"a": 4, "b": 6}, {"a": 5, "b": 4}])
    spec = as_spec(groups.chart("nearest", limit="0.4"))
    (words,) = [part for part in spec["layer"] if part["mark"]["type"] == "text"]
    assert spec["width"] == words["encoding"]["x"]["value"]


def test_the_confidence_asked_for_is_told() -> None:
    table = make_people(60, 3)
    drawn = pv.discover(table, columns=2, confidence="0.7").chart("rules")
    assert "the confidence asked for, 70 %" in read_subtitle(drawn)


def make_steps(*places: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        {"r": r, "alike": share, "right": share, "classes": ["c"] * i}
        for i, (r, share) in enumerate(places, 1)
    ]


@pytest.mark.parametrize(("last", "scale"), [(5.0, None), (200.0, "log")])
def test_steps_are_numbered_where_there_is_room(last: float, scale: str | None) -> None:
    steps = make_steps((1.0, 0.2), (1.01, 0.21), (2.0, 0.6), (last, 1.0))
    drawn = draw_closeness(steps)
    rows = [row for row in find_rows(drawn) if "said" in row]
    numbers = [rows[i]["said"] for i in range(4)]
    assert ["1", "", "3", "4"] == numbers
    x = as_spec(drawn)["layer"][0]["encoding"]["x"]
    assert scale == x["scale"].get("type")
