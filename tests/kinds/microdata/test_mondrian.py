"""Releases in groups: both forms, whole, readable, and refused where they must be."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import privet as pv
from privet.engine.protocol import CountQuery, Run
from privet.microdata.generalisation.partition import quote_value
from privet.microdata.report import as_text, summarise_release

pytestmark = pytest.mark.engines

FORMS = ["generalised", "buckets"]
QUASI = ["age", "job", "born"]
KNOWN = [*QUASI, "pay", "bed"]
"""All that may be known of a patient."""


def patients(rows: int = 300, seed: int = 1, **roles: Any) -> pv.Table:
    dice = random.Random(seed)
    columns: dict[str, list[Any]] = {
        "name": [f"person {i}" for i in range(rows)],
        "age": [
            dice.randint(17, 90) if dice.random() < 0.95 else None for _ in range(rows)
        ],
        "job": [
            dice.choice(["Cook", "Judge", "a, b", "{x}", "*", None])
            for _ in range(rows)
        ],
        "born": [
            f"19{dice.randint(10, 99)}-0{dice.randint(1, 9)}-01" for _ in range(rows)
        ],
        "ill": [
            dice.choice(["flu", "hiv", "cold", "cancer", "none", "none"])
            for _ in range(rows)
        ],
        "pay": [dice.choice(["low", "high"]) for _ in range(rows)],
        "bed": [dice.randint(1, 4) for _ in range(rows)],
    }
    stated = {"quasi": QUASI, "sensitive": "ill", "target": "pay"}
    stated |= {"identifier": "name", "other": "bed"}
    return pv.read(pa.table(columns), **(stated | roles))


def promises() -> list[Any]:
    return [
        pv.Promise(pv.Linker(QUASI), pv.Ceiling("1/2")),
        pv.Promise(pv.Linker(KNOWN), pv.Ceiling(below=1)),
        pv.Promise(pv.Linker(["age"]), pv.Ceiling("0.4"), {"ill": "hiv"}),
        pv.Promise(pv.Insider(0, 1, 1), pv.Ceiling(below="0.9")),
        pv.Measure(k_anonymity=5),
    ]


def made(**options: Any) -> pv.Release:
    return pv.publish(patients(), promises(), method=pv.Mondrian(**options))


def read(file: Path) -> dict[str, list[Any]]:
    table = pq.read_table(file) if file.suffix == ".parquet" else pa.csv.read_csv(file)
    return table.to_pydict()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_reads_back_verifies_and_is_audited(
    tmp_path: Path, form: str, ending: str
) -> None:
    release = made(form=form)
    release.write(tmp_path / "out", custody=tmp_path / "vault", format=ending)
    found = pv.verify(tmp_path / "out")
    assert ((), True) == (found.problems, found.good)
    loaded = pv.load(tmp_path / "out")
    assert [f.verdict for f in release.audit.findings] == [
        f.verdict for f in loaded.audit.findings
    ]
    policy = pv.Policy(promises=tuple(promises()[:4]))
    assert pv.audit(loaded, policy).safe
    files = {p.name for p in (tmp_path / "out").iterdir()}
    tables = {"people", "values"} if form == "buckets" else {"table"}
    assert {"release.json", "README.txt", *(f"{t}.{ending}" for t in tables)} == files
    assert (
        "name" not in json.loads((tmp_path / "out/release.json").read_text())["columns"]
    )


def test_a_generalised_table_keeps_everybody_and_covers_them(tmp_path: Path) -> None:
    made().write(tmp_path / "out", custody=tmp_path / "vault")
    rows = read(tmp_path / "out" / "table.parquet")
    assert 300 == len(rows["age"])
    assert {"age", "job", "born", "ill", "pay", "bed"} == set(rows)
    assert all(isinstance(bed, int) for bed in rows["bed"])
    known = [age for age in rows["age"] if age and age.startswith("[")]
    assert known
    assert all(low < high for low, high in (json.loads(k) for k in known))


def test_buckets_tell_nobodys_value(tmp_path: Path) -> None:
    made(form="buckets").write(tmp_path / "out", custody=tmp_path / "vault")
    people = read(tmp_path / "out" / "people.parquet")
    values = read(tmp_path / "out" / "values.parquet")
    assert {"group", "age", "job", "born", "pay", "bed"} == set(people)
    assert {"group", "ill", "count"} == set(values)
    assert 300 == len(people["age"]) == sum(values["count"])
    sizes: dict[Any, int] = {}
    for group, count in zip(values["group"], values["count"], strict=True):
        sizes[group] = sizes.get(group, 0) + count
    assert sizes == {g: people["group"].count(g) for g in set(people["group"])}


def test_people_in_another_group_are_noticed(tmp_path: Path) -> None:
    made(form="buckets").write(tmp_path / "out", custody=tmp_path / "v", format="csv")
    file = tmp_path / "out" / "people.csv"
    lines = file.read_text().splitlines()
    first = next(line for line in lines[1:] if line.startswith("1,"))
    lines[lines.index(first)] = "2" + first[1:]
    file.write_text("\n".join(lines) + "\n")
    problems = " ".join(pv.verify(tmp_path / "out").problems)
    assert "as many people as values" in problems
    assert "digest differs" in problems


def test_who_knows_less_is_judged_by_a_bound(tmp_path: Path) -> None:
    made().write(tmp_path / "out", custody=tmp_path / "vault")
    loaded = pv.load(tmp_path / "out")
    knows_age = pv.Promise(pv.Linker(["age"]), pv.Ceiling("1/100"), {"ill": "hiv"})
    knows_all = pv.Promise(pv.Linker(), pv.Ceiling("1/100"), {"ill": "hiv"})
    nobody = pv.Promise(pv.Linker([]), pv.Ceiling("9/10"), {"ill": "hiv"})
    found = pv.audit(loaded, [knows_age, knows_all, nobody]).findings
    assert ["undecided", "breach", "safe"] == [f.verdict.value for f in found]
    assert ["bound", "exact", "exact"] == [f.basis.value for f in found if f.basis]


def test_a_measure_is_enough() -> None:
    release = pv.publish(
        patients(sensitive=()), [pv.Measure(k_anonymity=7)], method=pv.Mondrian()
    )
    assert release.grouped is not None
    assert release.grouped.partition.leaves[:, 2].min() >= 7
    assert {} == release.hidden


def test_weights_are_summed_and_shown(tmp_path: Path) -> None:
    table = patients(weight="bed", other=())
    certain = pv.Promise(pv.Linker([*QUASI, "pay"]), pv.Ceiling(below=1))
    stated = [pv.Measure(k_anonymity=9), certain]
    release = pv.publish(table, stated, method=pv.Mondrian())
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    rows = read(tmp_path / "out" / "table.parquet")
    ((_, everybody),) = table.count([CountQuery((), "pay")])
    assert int(everybody.total[0]) == sum(rows["bed"])
    assert pv.verify(tmp_path / "out").good


def test_the_same_cuts_give_every_value_one_label() -> None:
    release = made(same_cuts=True, utility="information")
    assert release.audit.safe
    partition = release.grouped.partition  # type: ignore[union-attr]
    for d in range(len(partition.attributes)):
        shown = partition.labels[d].of
        seen: dict[int, int] = {}
        for g, (start, stop, _) in enumerate(partition.leaves.tolist()):
            for place in partition.cells[start:stop, d].tolist():
                assert shown[g] == seen.setdefault(place, shown[g])


def test_wide_groups_are_left_out_up_to_a_share() -> None:
    ages = [20 + i % 10 for i in range(95)] + [100, 200, 300, 400, 500]
    table = pv.read(pa.table({"age": ages}), quasi="age")
    measure = [pv.Measure(k_anonymity=5)]
    for share, out in (("0.1", 5), ("0.04", 0)):
        release = pv.publish(
            table, measure, method=pv.Mondrian(suppress=share, leave_out=True)
        )
        partition = release.grouped.partition  # type: ignore[union-attr]
        assert out == partition.suppressed
        assert 100 == partition.people + partition.suppressed
        assert release.audit.safe


@pytest.mark.parametrize(("seed", "out"), [(23, 3), (30, 0)])
def test_suppressing_never_makes_a_table_infeasible(seed: int, out: int) -> None:
    """Without the widest groups what t-closeness is held against moves."""
    dice = random.Random(seed)
    several = dice.randint(12, 30)
    rows = {
        "age": [dice.choice([1, 2, 3, 4, 5, 90, 95]) for _ in range(several)],
        "job": [dice.choice("abcde") for _ in range(several)],
        "ill": [dice.choice(["flu", "flu", "hiv", "none"]) for _ in range(several)],
    }
    table = pv.read(pa.table(rows), quasi=["age", "job"], sensitive="ill")
    asked = [pv.Measure(k_anonymity=2), pv.Measure(t_closeness="0.35")]
    method = pv.Mondrian(suppress="0.25", leave_out=True)
    release = pv.publish(table, asked, method=method, utility=False)
    assert release.grouped is not None
    assert out == release.grouped.partition.suppressed


def test_groups_are_the_same_for_every_memory_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {c: rng.integers(0, 50, 70_000).astype(str) for c in "abc"}
    columns["s"] = rng.integers(0, 5, 70_000).astype(str)
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    found = []
    for limit in (None, "200MB", "5MB"):
        options = {} if limit != "200MB" else {"memory_limit": limit}
        with pv.read(
            tmp_path / "t.parquet", quasi=list("abc"), sensitive="s", **options
        ) as t:
            if limit == "5MB":  # less than DuckDB itself can do with
                t.options["memory_limit"] = limit  # type: ignore[index]
            measures = [pv.Measure(k_anonymity=40)]
            prepared = pv.Mondrian().prepare(t, [], measures, Run())
            on_disk = isinstance(prepared.cells.rows, np.memmap)
            partition, _ = pv.Mondrian().group(t, prepared)
        texts = [[labels.texts[i] for i in labels.of] for labels in partition.labels]
        people = partition.leaves[:, 2].tolist()
        found.append((on_disk, sorted(zip(*texts, people, strict=True), key=str)))
    assert [False, False, True] == [on_disk for on_disk, _ in found]
    assert found[0][1] == found[1][1] == found[2][1]


def test_a_hierarchy_names_what_groups_show(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(
        "Cook;Manual;*\nDriver;Manual;*\nJudge;Law;*\nClerk;Law;*\n"
    )
    jobs = ["Cook", "Driver", "Judge", "Clerk"] * 10
    table = pv.read(pa.table({"job": jobs}), quasi="job")
    measure = [pv.Measure(k_anonymity=15)]
    method = pv.Mondrian(hierarchies={"job": tmp_path / "jobs.csv"})
    release = pv.publish(table, measure, method=method)
    assert {"Manual", "Law"} == set(release.grouped.partition.labels[0].texts)  # type: ignore[union-attr]
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[columns]\nquasi = ["job"]\n[hierarchy]\njob = "jobs.csv"\n'
        "[[measure]]\nk_anonymity = 15\n"
    )
    again = pv.publish(table, pv.Policy.load(policy), method=pv.Mondrian())
    assert {"Manual", "Law"} == set(again.grouped.partition.labels[0].texts)  # type: ignore[union-attr]
    written = again.write(tmp_path / "out", custody=tmp_path / "vault")
    assert "levels" == written.manifest["columns"]["job"]["shown_as"]
    note = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert "job is shown by a level of its hierarchy." in note


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Cook;Manual\nJudge\n", "as many levels"),
        ("Cook;\nJudge;Law\n", "no gaps"),
        ("Cook;Manual\nCook;Law\n", "more than once"),
        ("Cook;Manual;A\nJudge;Manual;B\n", "nested"),
        ("Cook;Judge;A\nJudge;Law;A\n", "one thing"),
        ("", "empty"),
        ("Cook;Manual\n", "1 of them have none"),
    ],
)
def test_bad_hierarchies_are_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "h.csv").write_text(content)
    table = pv.read(pa.table({"job": ["Cook", "Judge"]}), quasi="job")
    with pytest.raises(pv.InputError, match=words):
        pv.publish(
            table,
            [pv.Measure(k_anonymity=1)],
            method=pv.Mondrian(hierarchies={"job": tmp_path / "h.csv"}),
        )


def linker(limit: str = "1/2", about: Any = None, **known: Any) -> pv.Promise:
    return pv.Promise(pv.Linker(**known), pv.Ceiling(limit), about)


@pytest.mark.parametrize(
    ("roles", "stated", "options", "words"),
    [
        ({"unit": "name"}, linker(), {}, "one row per person"),
        ({}, linker(about={"job": "Cook"}), {}, "keeps? as it is|a quasi column"),
        ({}, linker(knows=["age", "name"]), {}, "must not hold an identifier"),
        ({"other": (), "drop": "bed"}, linker(knows=["bed"]), {}, "that is dropped"),
        ({"target": None}, linker(), {"utility": "information"}, "without a target"),
        ({"target": "ill"}, linker(), {"utility": "information"}, "sensitive"),
        ({}, linker(about="pay"), {"form": "buckets"}, "sensitive column for"),
        ({}, linker(), {"order": {"job": ["Cook"]}}, "are not in it"),
        ({}, linker(), {"order": {"ill": ["flu"]}}, "quasi columns"),
    ],
)
def test_what_makes_no_sense_is_refused(
    roles: Any, stated: Any, options: Any, words: str
) -> None:
    with pytest.raises((pv.InputError, pv.PolicyError), match=words):
        pv.publish(patients(**roles), [stated], method=pv.Mondrian(**options))


@pytest.mark.parametrize(
    "options",
    [
        {"utility": "beauty"},
        {"form": "cubes"},
        {"suppress": 1},
        {"suppress": "-1/2"},
        {"hierarchies": {"job": {"Cook": ["a"]}}, "order": {"job": ["Cook"]}},
        {"hierarchies": {"job": 7}},
        {"hierarchies": {"job": "nowhere.csv"}},
    ],
)
def test_nonsense_is_refused_at_birth(options: Any) -> None:
    with pytest.raises(pv.InputError):
        pv.Mondrian(**options)


def test_a_recipe_of_hidden_values_is_refused() -> None:
    with pytest.raises(pv.InputError, match="made anew"):
        pv.publish(patients(), promises(), method=pv.Mondrian(), recipe=pv.Recipe())


def test_cannot_is_an_answer() -> None:
    with pytest.raises(pv.Infeasible, match="one group of everybody") as error:
        pv.publish(patients(), linker("1/100"), method=pv.Mondrian())
    assert error.value.best is not None
    assert error.value.advice
    with pytest.raises(pv.Infeasible, match="only 300"):
        pv.publish(patients(), [pv.Measure(k_anonymity=301)], method=pv.Mondrian())


def test_stopped_anywhere_the_release_is_safe() -> None:
    whole = made()
    for stop in (1, 3, len(whole.steps)):
        release = pv.publish(
            patients(),
            promises(),
            method=pv.Mondrian(),
            watcher=lambda e, stop=stop: e.moves < stop,
        )
        assert release.audit.safe
        assert "callback" == release.ended
        assert stop == len(release.steps)


def test_that_stars_do_not_pay_is_said_where_they_were_tried() -> None:
    method = pv.Mondrian(suppress="0.01")
    for stop in (False, True):
        release = pv.publish(
            patients(),
            [pv.Measure(k_anonymity=2)],
            method=method,
            watcher=lambda e, stop=stop: not stop,
        )
        assert release.grouped is not None
        assert 0 == release.grouped.partition.starred
        told = as_text(summarise_release(release))
        assert stop != ("Nobody is starred" in told)


def test_earlier_releases_leave_doubt(tmp_path: Path) -> None:
    made().write(tmp_path / "out", custody=tmp_path / "vault")
    policy = pv.Policy(
        promises=tuple(promises()[:2]), earlier=(str(tmp_path / "vault"),)
    )
    release = pv.publish(patients(), policy, method=pv.Mondrian())
    assert not release.safe
    with pytest.raises(pv.NotTogether, match="nothing is certain"):
        release.write(tmp_path / "two", custody=tmp_path / "v2")
    shutil.rmtree(tmp_path / "vault")


def test_rows_are_shuffled(tmp_path: Path) -> None:
    orders = []
    for i in range(2):
        made().write(tmp_path / f"out{i}", custody=tmp_path / f"v{i}")
        rows = read(tmp_path / f"out{i}" / "table.parquet")
        orders.append(list(zip(*rows.values(), strict=True)))
    assert orders[0] != orders[1]
    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert sorted(orders[0], key=str) != orders[0]


def test_texts_that_could_be_misread_are_quoted() -> None:
    assert ["Cook", '"a, b"', '"{x}"', '"*"', '""', '"not me"', '" x"'] == [
        quote_value(v) for v in ("Cook", "a, b", "{x}", "*", "", "not me", " x")
    ]


MEASURES = [
    {"alpha_k_anonymity": "0.5", "k": 4},
    {"distinct_l_diversity": 3},
    {"entropy_l_diversity": "2.5"},
    {"recursive_l_diversity": 2, "c": 2},
    {"t_closeness": "0.3"},
    {"beta_likeness": 1},
    {"enhanced_beta_likeness": 1},
    {"prosecutor_risk": "0.2"},
    {"marketer_risk": "0.1"},
    {"sample_uniques": "0.05"},
]


@pytest.mark.parametrize("stated", MEASURES, ids=lambda m: next(iter(m)))
@pytest.mark.parametrize("same_cuts", [False, True])
def test_familiar_measures_steer(stated: Any, same_cuts: bool) -> None:
    measure = pv.Measure(**stated)
    release = pv.publish(patients(), [measure], method=pv.Mondrian(same_cuts=same_cuts))
    assert pv.Verdict.SAFE is release.audit.findings[0].verdict
    assert len(release.grouped.partition) > 1  # type: ignore[union-attr]
    before = release.before
    assert before is not None
    assert pv.Verdict.BREACH is before.findings[0].verdict


def test_what_may_not_steer_is_checked_in_the_end() -> None:
    with pytest.raises(pv.Infeasible, match="delta_disclosure") as error:
        pv.publish(patients(), [pv.Measure(delta_disclosure=1)], method=pv.Mondrian())
    assert "cannot be led by this measure" in error.value.advice[0]


@pytest.mark.parametrize(
    "stated",
    [
        {"distinct_l_diversity": 10**30},
        {"recursive_l_diversity": 10**30, "c": 2},
        {"prosecutor_risk": 0},
    ],
)
def test_what_no_table_reaches(stated: Any) -> None:
    measure = pv.Measure("asked", **stated)
    with pytest.raises(pv.Infeasible, match="'asked' cannot be reached by grouping"):
        pv.publish(patients(), [measure], method=pv.Mondrian())


def test_a_measure_out_of_reach_is_said_so() -> None:
    with pytest.raises(pv.Infeasible, match="one group of everybody"):
        pv.publish(
            patients(), [pv.Measure(entropy_l_diversity=20)], method=pv.Mondrian()
        )


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_small_tables(rows: int) -> None:
    release = pv.publish(
        patients(rows), [pv.Measure(k_anonymity=1)], method=pv.Mondrian()
    )
    assert ("as it is", rows) == (release.method, len(release.table))


@pytest.mark.filterwarnings("ignore::privet.errors.PrivacyWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", [pv.Mondrian(), pv.FullDomain()], ids=str)
def test_an_unchanged_table_recounts_wherever_its_columns_stand(
    tmp_path: Path, method: Any, seed: int
) -> None:
    """Of sets of columns that tell as much the first is named, as they are written."""
    dice = random.Random(seed)
    names = dice.sample(["age", "job", "town", "ill", "pay"], 5)
    rows = pa.table({c: [dice.choice("abc") for _ in range(30)] for c in names})
    with pv.read(
        rows, quasi=["age"], sensitive="ill", target="town", other=["job", "pay"]
    ) as table:
        release = pv.publish(table, [pv.Measure(k_anonymity=2)], method=method)
        assert "as it is" == release.method
        release.write(
            tmp_path / "out", custody=tmp_path / "vault", accept={"ill": "no limit"}
        )
    assert pv.verify(tmp_path / "out").good


CANARY = "CANARY-7f3a"


def test_no_error_quotes_a_cell(tmp_path: Path) -> None:
    """Values without a line, or in no order, are counted, not quoted."""
    table = pv.read(
        pa.table({"job": ["Cook", CANARY] * 9, "ill": [CANARY, "flu"] * 9}),
        quasi="job",
        sensitive="ill",
    )
    (tmp_path / "h.csv").write_text("Cook;any\n")
    failing: list[tuple[Any, dict[str, Any]]] = [
        (pv.Measure(k_anonymity=2), {"hierarchies": {"job": tmp_path / "h.csv"}}),
        (pv.Measure(k_anonymity=2), {"order": {"job": ["Cook"]}}),
        (linker("1/10"), {}),
        (pv.Measure(entropy_l_diversity=9), {}),
        (pv.Measure(k_anonymity=99), {}),
    ]
    for stated, options in failing:
        with pytest.raises(pv.PrivetError) as error:
            pv.publish(table, [stated], method=pv.Mondrian(**options))
        assert CANARY not in str(error.value)
    seen: list[str] = []
    release = pv.publish(
        table,
        [pv.Measure(k_anonymity=2), pv.Promise(pv.Linker(), pv.Ceiling(below=1))],
        method=pv.Mondrian(form="buckets"),
        watcher=lambda event: seen.append(event.doing),
    )
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert seen
    public = (tmp_path / "out/release.json").read_text()
    public += (tmp_path / "out/README.txt").read_text() + "".join(seen)
    assert CANARY not in public


@pytest.mark.parametrize(
    ("limit", "step"),
    [
        (pv.Ceiling("1/3"), "Raise the limit to at least 1."),
        (pv.Ceiling(below=1), "Say at_most = 1."),
    ],
)
def test_advice_never_asks_for_more_than_everybody(limit: Any, step: str) -> None:
    table = pv.read(pa.table({"q": [1, 2], "s": ["x", "x"]}), quasi="q", sensitive="s")
    with pytest.raises(pv.Infeasible) as found:
        pv.publish(table, pv.Promise(pv.Linker(), limit), method=pv.Mondrian())
    assert step == found.value.advice[0]


def test_a_measure_that_hiding_does_not_reach_is_for_groups() -> None:
    table = pv.read(
        pa.table({"q": ["a", "b", "b"], "s": list("xyx")}), quasi="q", sensitive="s"
    )
    stated = [pv.Promise(pv.Linker(), pv.Ceiling(1)), pv.Measure(t_closeness="0.1")]
    method = pv.TopDownDisclosure(paper=True)
    with pytest.raises(pv.Infeasible, match=r"it comes to 0\.333\.$") as found:
        pv.publish(table, stated, method=method)
    assert "--method mondrian" in found.value.advice[0]


def test_numbers_in_an_order_of_ones_own_are_shown_as_sets(tmp_path: Path) -> None:
    """A range would name values that a group does not hold."""
    rows = [(3, "a"), (1, "b"), (2, "a"), (2, "b"), (4, "a"), (4, "b")]
    source = pa.table({"g": [g for g, _ in rows], "s": [s for _, s in rows]})
    table = pv.read(source, quasi="g", sensitive="s")
    promise = pv.Promise(pv.Linker(["g"]), pv.Ceiling("1/2"))
    method = pv.Mondrian(order={"g": ["3", "1", "2", "4"]})
    release = pv.publish(table, promise, method=method)
    release.write(tmp_path / "out", custody=tmp_path / "kept")
    shown = pq.read_table(tmp_path / "out" / "table.parquet")["g"].to_pylist()
    assert {"{1, 3}": 2, "2": 2, "4": 2} == {str(v): shown.count(v) for v in shown}
    assert pv.verify(tmp_path / "out", custody=tmp_path / "kept").good


@pytest.mark.parametrize(
    "stated",
    [
        {"beta_likeness": 2},
        {"enhanced_beta_likeness": 2},
        {"t_closeness": "0.9"},
        {"delta_disclosure": 3},
        {"entropy_l_diversity": "1.1"},
        {"distinct_l_diversity": 2},
        {"k_anonymity": 2},
    ],
)
def test_the_same_cuts_may_fall_between_groups(stated: Any) -> None:
    """A measure alone, and cuts by which no group falls apart."""
    table = pa.table(
        {
            "age": [31, 32, 41, 42, 51, 52],
            "job": ["Cook", "Cook", "Smith", "Smith", "Baker", "Baker"],
            "ill": ["flu", "none", "flu", "none", "cold", "flu"],
        }
    )
    with pv.read(table, quasi=["age", "job"], sensitive="ill") as people:
        made = pv.publish(
            people, [pv.Measure(**stated)], method=pv.Mondrian(same_cuts=True)
        )
        (finding,) = pv.audit(made, [pv.Measure(**stated)]).findings
        assert pv.Verdict.SAFE == finding.verdict
