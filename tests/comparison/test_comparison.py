"""compare: what publish gives one by one, ranked, with the Pareto front marked."""

from __future__ import annotations

import json
import random
import signal
import warnings
from fractions import Fraction
from io import StringIO
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

import privet as pv
from privet.comparison.candidate_methods import CANDIDATES
from privet.comparison.method_figures import FIGURES, find_pareto
from privet.demo.tables import clinic_path
from privet.engine.protocol import Progress

from .tables import CANARY, make_policy, read_rows

TABLES = {c.name: c.method for c in CANDIDATES if c.publishes == "table" and c.method}


def publish_alone(table: pv.Table, policy: pv.Policy, method: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        try:
            return pv.publish(table, policy, method=method)
        except pv.PrivetError as error:
            return error


def compare(*given: Any, **more: Any) -> pv.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        return pv.compare(*given, **more)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_publish_gives_one_by_one(seed: int) -> None:
    policy = make_policy("3/5" if seed % 2 else "9/10", None if seed < 2 else 3)
    with read_rows(seed) as table:
        found = compare(table, policy)
        assert {c.name for c in CANDIDATES} == {r.name for r in found.results}
        for name, method in TABLES.items():
            alone, result = publish_alone(table, policy, method), found[name]
            if isinstance(alone, Exception):
                assert str(alone).partition("\n")[0] == result.reason
                assert not result.kept
                continue
            assert alone.verdict.value == result.verdict
            assert alone.utility.to_dict() == result.utility
            assert alone.exposure.to_dict() == result.exposure
            assert float(alone.utility.ncp) == result["ncp"]
            beliefs = [f.belief.posterior for f in alone.audit.findings if f.belief]
            assert float(max(beliefs)) == result["worst"]


def test_the_table_itself_is_the_first_thing_to_compare_with() -> None:
    with read_rows(1) as table:
        policy = make_policy()
        found = compare(table, policy, methods=["as-it-is"])["as-it-is"]
        audit = pv.audit(table, policy)
    assert audit.verdict.value == found.verdict == "breach"
    assert (0, 0) == (found["ncp"], found["cells_changed"])
    assert found.utility is not None
    assert found.utility["accuracy"]["before"] == found.utility["accuracy"]["after"]


def test_no_more_people_are_certain_than_there_are() -> None:
    """Two secrets of everybody are no secrets of twice as many people."""
    rows = pa.table({"job": ["a", "b", "c"], "ill": ["x"] * 3, "debt": ["y"] * 3})
    promises = [
        pv.Promise(pv.Linker(knows=["job"]), pv.Ceiling("1/2"), about, about)
        for about in ("ill", "debt")
    ]
    with pv.read(rows, quasi=["job"], sensitive=["ill", "debt"]) as table:
        found = compare(table, pv.Policy(promises), methods=["as-it-is"])
    assert 3 == found["as-it-is"]["certain"]


def list_front(lines: list[dict[str, float]], aims: list[str]) -> list[bool]:
    """By the definition: nothing else is as good in all and better in one."""

    def beats(one: dict[str, float], other: dict[str, float], aim: str) -> int:
        a, b = one.get(aim), other.get(aim)
        if a is None or b is None:
            return (b is None) - (a is None)
        better = a > b if FIGURES[aim].more else a < b
        return 1 if better else 0 if a == b else -1

    return [
        not any(
            all(beats(other, own, aim) >= 0 for aim in aims)
            and any(beats(other, own, aim) > 0 for aim in aims)
            for other in lines
        )
        for own in lines
    ]


def test_the_front_by_brute_force() -> None:
    rng = random.Random(5)
    for _ in range(300):
        aims = rng.sample(["ncp", "accuracy", "worst", "bits_kept"], rng.randint(1, 4))
        lines = [
            {a: rng.choice([0.1, 0.2, 0.3]) for a in aims if rng.random() < 0.8}
            for _ in range(rng.randint(0, 7))
        ]
        assert list_front(lines, aims) == find_pareto(lines, aims)


def test_the_front_of_a_comparison() -> None:
    with read_rows(3) as table:
        found = compare(table, make_policy("9/10", 2))
    ranked = [r for r in found.results if r.kept and r.publishes == "table"]
    ranked = [r for r in ranked if r.name != "as-it-is"]
    front = list_front([dict(r.figures) for r in ranked], list(found.objectives))
    marked = [r.name for r, best in zip(ranked, front, strict=True) if best]
    assert marked == list(found.pareto)
    assert found.best is ranked[0]
    assert sorted(r["ncp"] or 0 for r in ranked) == [r["ncp"] for r in ranked]
    by_bits = found.rank("bits_kept")
    kept = [r["bits_kept"] for r in by_bits.results if r in ranked]
    assert sorted(kept, key=lambda b: -(b or 0)) == kept


def test_a_classifier_and_answers() -> None:
    promise = pv.Promise(pv.Bayesian(), pv.Ceiling("4/5"))
    with read_rows(2, 200) as table:
        found = compare(table, [promise], methods=["classifier", "answers", "as-it-is"])
    assert found.best is None  # nothing of it is the table
    assert "not applicable" == found["as-it-is"].verdict
    classifier, answers = found["classifier"], found["answers"]
    assert classifier.kept or "infeasible" == classifier.verdict, classifier
    assert "safe" == answers.verdict, answers
    # From an even prior a report of truth 4/5 is believed in 4/5.
    assert "An answer is true in 80 %." == answers.reason
    p, people = 0.8, 200
    worst = (0.25 + p * (1 - p) / (2 * p - 1) ** 2) / people
    assert worst**0.5 == pytest.approx(answers["standard_error"], rel=1e-6)


def test_a_classifier_predicts_as_the_original_does() -> None:
    promise = pv.Promise(pv.Bayesian(), pv.Shift("0.6", "0.95"))
    with read_rows(2, 200) as table:
        found = compare(table, [promise], methods=["classifier"])["classifier"]
    assert found.kept, found
    assert 0.3 < (found["accuracy"] or 0) < 0.7  # who pays is drawn by chance


def test_views() -> None:
    promise = pv.Promise(pv.Reconstructor("restricted"), pv.Ceiling("1/3"))
    roles: Any = {"identifier": "name", "sensitive": "problem"}
    ways = {
        "apart": pv.SplitViews(leave_out=["number", "age", "job"]),
        "more": pv.SplitViews(leave_out=["number", "age"]),
    }
    with pv.read(str(clinic_path()), **roles) as table:
        found = compare(table, [promise], methods=ways)
    assert ("safe", 0.0) == (found["apart"].verdict, found["apart"]["pairs_kept"])
    assert not found["more"].kept or 0 < (found["more"]["pairs_kept"] or 0) < 1


def test_who_cannot_keep_the_policy_is_listed_with_the_reason() -> None:
    with read_rows(0) as table:
        found = compare(table, make_policy("1/10"))
    assert found.best is None
    assert () == found.pareto
    told = found.explain()
    for result in found.results:
        assert not result.kept
        assert result.name in told
        assert result.name == "as-it-is" or result.reason
        assert "\n" not in result.reason
    assert "none gives a table that keeps every promise" in told


def test_it_fits_80_columns_and_names_no_cell() -> None:
    with read_rows(0, canary=CANARY) as table:
        found = compare(table, make_policy("9/10"))
    texts = [found.explain(), json.dumps(found.to_dict()), repr(found)]
    console = Console(width=80, record=True, file=StringIO())
    console.print(found)
    texts.append(console.export_text())
    texts.append(found.to_frame().to_csv())
    texts.append(str(found.to_arrow().to_pylist()))
    for text in texts:
        assert CANARY not in text
    for line in found.explain().splitlines() + texts[3].splitlines():
        assert len(line) <= 80


def test_a_frame_has_a_line_per_method() -> None:
    with read_rows(0) as table:
        found = compare(table, make_policy("9/10"), methods=["mondrian", "views"])
    frame, arrow = found.to_frame(), found.to_arrow()
    assert ["mondrian", "views"] == frame["name"].tolist()
    assert frame["name"].tolist() == arrow["name"].to_pylist()
    assert [True, False] == frame["pareto"].tolist()


def test_methods_of_ones_own_and_people_suppressed() -> None:
    with read_rows(0) as table:
        policy = make_policy("9/10", 4)
        own = {"five": pv.FullDomain(suppress="1/5"), "plain": pv.FullDomain()}
        found = compare(table, policy, methods=own)
        asked = compare(table, policy, methods=["full-domain"], suppress="1/5")
        both = compare(table, policy, methods=own, suppress="1/5")
    assert found["five"].figures["ncp"] == asked["full-domain"].figures["ncp"]
    assert both["five"].figures["ncp"] == both["plain"].figures["ncp"]
    assert found["five"].figures["ncp"] < found["plain"].figures["ncp"]


def test_a_budget_makes_no_method_worse() -> None:
    """Of buckets and cuts by information, wide groups would go for nothing."""
    names = ["mondrian", "buckets", "same-cuts", "full-domain", "subtrees"]
    with read_rows(0) as table:
        policy = make_policy("9/10", 4)
        plain = compare(table, policy, methods=names)
        asked = compare(table, policy, methods=names, suppress="1/5")
    for name in names:
        before, after = (found[name].figures["ncp"] for found in (plain, asked))
        assert after <= before + 1e-9, name


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"methods": ["mondrain"]}, "Did you mean 'mondrian'"),
        ({"methods": {"own": 3}}, "methods must be methods such as"),
        ({"methods": []}, "methods must be one at least"),
        ({"methods": {}}, "methods must be one at least"),
        ({"by": "beauty"}, "by must be a figure"),
        ({"objectives": ["beauty"]}, "objectives must be a figure"),
        ({"suppress": 2, "methods": ["mondrian"]}, "suppress must be from 0"),
        ({"max_seconds": 0}, "max_seconds must be above 0"),
    ],
)
def test_nonsense_is_refused(given: Any, words: str) -> None:
    with read_rows(0) as table, pytest.raises(pv.InputError, match=words):
        pv.compare(table, make_policy(), **given)


def test_what_is_no_table_is_refused() -> None:
    groups = pv.Groups.from_histograms([{"flu": 2}])
    with pytest.raises(pv.NoAudit, match="compared on tables"):
        pv.compare(groups, make_policy())


def test_ctrl_c_shows_what_is_ready() -> None:
    seen: list[str] = []

    def stop(event: Progress) -> None:
        if event.doing.startswith("mondrian") and "mondrian" not in seen:
            seen.append("mondrian")
            signal.raise_signal(signal.SIGINT)

    with read_rows(0) as table:
        found = compare(
            table, make_policy("9/10"), methods=["buckets", "mondrian", "same-cuts"],
            progress=stop,
        )  # fmt: skip
        again = compare(table, make_policy("9/10"), methods=["mondrian"])
    assert "interrupted" == found.ended
    assert not found.complete
    assert ["safe", "stopped", "not tried"] == [
        found[n].verdict for n in ("buckets", "mondrian", "same-cuts")
    ]
    assert "Not everything was tried" in found.explain()
    assert again.complete  # the table can still be counted


def test_a_time_limit_shows_what_is_ready() -> None:
    with read_rows(0, 2000) as table:
        found = compare(table, make_policy("9/10"), max_seconds=0.02)
    assert not found.complete
    assert {"not tried", "stopped"} & {r.verdict for r in found.results}
    assert len(CANDIDATES) == len(found.results)


def test_warnings_are_said_once() -> None:
    promise = pv.Promise(pv.Linker(), pv.Ceiling("9/10"), {"ill": "measles"})
    with read_rows(0) as table, pytest.warns(pv.PrivacyWarning) as caught:
        found = pv.compare(table, [promise], methods=["mondrian", "same-cuts"])
    said = [str(w.message) for w in caught]
    assert sorted(set(said)) == sorted(said)
    assert set(found.notes) == set(said)


def make_odd_tables() -> dict[str, dict[str, list[Any]]]:
    one = {"age": [30], "ill": ["flu"]}
    wide = {"age": [*range(600)], "ill": ["flu", "no", "asthma"] * 200}
    huge = {"age": [10**17 + i for i in range(8)], "ill": ["flu", "no"] * 4}
    text = {"age": ["ä\u202e{x}, [1", "*", "⊥", None] * 4, "ill": ["flu", None] * 8}
    same = {"age": [30] * 9, "ill": ["flu"] * 9}
    return {"one": one, "wide": wide, "huge": huge, "text": text, "same": same}


@pytest.mark.parametrize("name", ["one", "wide", "huge", "text", "same"])
def test_odd_tables(name: str) -> None:
    import pyarrow as pa

    roles: Any = {"quasi": "age", "sensitive": "ill"}
    promise = pv.Promise(pv.Linker(), pv.Ceiling("3/5"), "ill")
    with pv.read(pa.table(make_odd_tables()[name]), **roles) as table:
        found = compare(table, [promise])
    assert len(CANDIDATES) == len(found.results)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.explain()
    for result in found.results:
        if result.kept and result.promises:
            told = result.promises[promise.name]
            assert Fraction(told["posterior"]) <= Fraction(3, 5)
