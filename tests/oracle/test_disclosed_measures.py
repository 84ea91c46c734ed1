"""Top-down disclosure that must keep measures and insiders: released rows tell."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from oracle import insiders, measures
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.suppression.cubes import all_classes, scored_cube, sparse_cube
from privet.values.contingency import Counts, Domain
from privet.values.equivalence_classes import group_counts

Row = tuple[Any, ...]
CASES = int(os.environ.get("PRIVET_CASES", "16"))
NAMES = ("a", "b", "c", "ill", "good")
pytestmark = pytest.mark.filterwarnings("ignore:Value .* never occurs")

UNREACHABLE = "cannot be kept by hiding values: even with everything hidden"
QUASI = (0, 1, 2)
HIDDEN = "⊥"
VALUES = (1, 2, 3, 4)
"""What people may have; the third is what linkers must not learn."""

Keeps = Callable[[measures.Rows], bool]


@pytest.fixture(autouse=True, scope="module", params=["whole", "parts"])
def sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Cells are counted both ways, histograms at once or a few at a time."""
    few = request.param == "parts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_cube, "PER_ROW", 0 if few else 10**9)
        patch.setattr(scored_cube, "AT_ONCE", 5 if few else 2_000_000)
        patch.setattr(all_classes, "TABLE", 9 if few else 2_000_000)
        yield


# Measures by their definitions --------------------------------------------------------


def measure_ordered(rows: measures.Rows) -> Fraction:
    """Earth mover's distance over places in line; `oracle.test_measures` proves it."""
    everybody = measures.everybody(rows)
    values = sorted(everybody)
    worst = Fraction(0)
    for alike in measures.groups(rows).values():
        moved, running = Fraction(0), Fraction(0)
        for v in values:
            running += measures.share(alike, v) - measures.share(everybody, v)
            moved += abs(running)
        worst = max(worst, moved / max(len(values) - 1, 1))
    return worst


def find_surest(
    rows: measures.Rows, point: tuple[int, int, int], value: int | None
) -> Fraction:
    """How sure somebody is who knows at most so much, by dealing people to groups."""
    release = [dict(alike) for alike in measures.groups(rows).values()]
    l, k, m = point
    protect = None if value is None else {str(value)}
    known = product(range(k + 1), range(m + 1))
    return max(insiders.allocation(release, l, *few, protect) for few in known)


def draw_insider(dice: random.Random, companions: int = 2) -> tuple[pv.Promise, Keeps]:
    """An insider, and what the promise says."""
    l, k, m = (dice.randint(0, most) for most in (2, 1, companions))
    value = dice.choice([None, VALUES[1]])
    level, strict = Fraction(dice.randint(5, 9), 10), dice.random() < 0.5
    limit = pv.Ceiling(below=level) if strict else pv.Ceiling(level)
    about = "ill" if value is None else {"ill": value}

    def holds(rows: measures.Rows) -> bool:
        belief = find_surest(rows, (l, k, m), value)
        return belief < level if strict else belief <= level

    insider = pv.Insider(rules_out=l, knows_others=k, same_as=m)
    return pv.Promise(insider, limit, about), holds


def draw_beside(dice: random.Random) -> tuple[pv.Promise | pv.Measure, Keeps]:
    """What is asked beside a promise against a linker."""
    return draw_insider(dice) if dice.random() < 0.5 else draw_measure(dice)


def draw_measure(dice: random.Random) -> tuple[pv.Measure, Keeps]:
    """A measure and what it says, by `oracle.measures`."""
    tenths = Fraction(dice.randint(2, 8), 10)
    several, c = dice.randint(2, 3), Fraction(dice.randint(1, 5), 2)
    k = dice.randint(1, 3)
    varied = Fraction(dice.randint(11, 24), 10)

    def is_ordered_close(rows: measures.Rows) -> bool:
        return measure_ordered(rows) <= tenths

    def is_alpha_k(rows: measures.Rows) -> bool:
        return measures.alpha(rows) <= tenths and measures.k_anonymity(rows) >= k

    return dice.choice(
        [
            (
                pv.Measure(distinct_l_diversity=several),
                lambda rows: measures.distinct(rows) >= several,
            ),
            (
                pv.Measure(entropy_l_diversity=varied),
                lambda rows: measures.entropy(rows) >= float(varied) - 1e-12,
            ),
            (
                pv.Measure(recursive_l_diversity=several, c=c),
                lambda rows: measures.recursive(rows, c) >= several,
            ),
            (
                pv.Measure(t_closeness=tenths),
                lambda rows: measures.equal(rows) <= tenths,
            ),
            (pv.Measure(t_closeness=tenths, distance="ordered"), is_ordered_close),
            (
                pv.Measure(beta_likeness=4 * tenths),
                lambda rows: measures.beta(rows) <= 4 * tenths,
            ),
            (
                pv.Measure(enhanced_beta_likeness=4 * tenths),
                lambda rows: measures.enhanced_holds(rows, 4 * tenths),
            ),
            (pv.Measure(alpha_k_anonymity=tenths, k=k), is_alpha_k),
        ]
    )


def draw_rows(dice: random.Random, least: int = 12, most: int = 40) -> list[Row]:
    wide = dice.randint(2, 5)
    weights = [dice.randint(1, 4) for _ in VALUES]
    return [
        (
            str(dice.randint(1, wide)),
            dice.choice(["x", "y", "z", None]),
            dice.choice("pq"),
            dice.choices(VALUES, weights)[0],
            dice.choice(["yes", "no"]),
        )
        for _ in range(dice.randint(least, most))
    ]


def show(rows: Sequence[Row], hidden: Mapping[int, set[Any]]) -> list[Row]:
    return [
        tuple(HIDDEN if v in hidden.get(j, ()) else v for j, v in enumerate(row))
        for row in rows
    ]


def keeps_all(
    shown: Sequence[Row], known: tuple[int, ...], limit: Fraction, measure: Keeps
) -> bool:
    """By the definitions, from the released rows."""
    people = Counter(tuple(row[j] for j in known) for row in shown)
    ill = Counter(tuple(row[j] for j in known) for row in shown if row[3] == VALUES[2])
    sure = max((Fraction(n, people[g]) for g, n in ill.items()), default=Fraction(0))
    alike = [(repr([row[j] for j in QUASI]), str(row[3])) for row in shown]
    return sure <= limit and measure(alike)


def read(rows: Sequence[Row], **roles: Any) -> pv.Table:
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    asked = {"quasi": NAMES[:3], "sensitive": "ill", "target": "good", **roles}
    return pv.read(pa.table(columns), threads=1, **asked)


def shown_as(release: pv.Release, table: pv.Table, column: str) -> dict[Any, Any]:
    """What each value of a column is shown as."""
    domain, recipe = table.domains([column])[column], release.recipe
    if recipe is None or column not in recipe.columns:
        return dict(zip(domain.labels, domain.labels, strict=True))
    shown = recipe.columns[column].show(domain, recipe.marker)
    return dict(zip(domain.labels, shown, strict=True))


# What is hidden -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(CASES))
def test_disclosure_keeps_measures_and_shows_all_it_may(seed: int) -> None:
    """Where everything hidden keeps all, there is a release; no value is left over."""
    dice = random.Random(f"measures {seed}")
    rows = draw_rows(dice)
    beside, keeps = draw_beside(dice)
    known = dice.choice([(0,), (0, 1), (0, 1, 2)])
    limit = Fraction(dice.randint(4, 9), 10)
    asked = known, limit, keeps
    everything = {j: {r[j] for r in rows} for j in QUASI}
    promise = pv.Promise(
        pv.Linker([NAMES[j] for j in known]), pv.Ceiling(limit), {"ill": VALUES[2]}
    )
    method = pv.TopDownDisclosure(
        ordered=(), utility=dice.choice(["information", "distortion"])
    )
    alone = dice.random() < 0.2
    if alone:
        asked = known, Fraction(1), keeps
    table, stated = read(rows), [beside] if alone else [promise, beside]
    if not keeps_all(show(rows, everything), *asked):
        with pytest.raises(pv.Infeasible, match=UNREACHABLE):
            pv.publish(table, stated, method=method, utility=False)
        return
    release = pv.publish(table, stated, method=method, utility=False)
    hidden = {NAMES.index(c): set(v) for c, v in (release.hidden or {}).items()}
    assert keeps_all(show(rows, hidden), *asked)
    assert all(f.verdict is pv.Verdict.SAFE for f in release.audit.findings)
    if release.ended != "finished":
        return
    for j, values in hidden.items():
        for value in values:
            more = show(rows, {**hidden, j: values - {value}})
            assert not keeps_all(more, *asked)


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_intervals_keep_measures_and_no_cut_is_left(seed: int) -> None:
    """A column that is cut: every other cut would break something."""
    dice = random.Random(f"cuts and measures {seed}")
    ages = sorted({dice.randint(20, 60) for _ in range(9)})
    rows = [(dice.choice(ages), None, *row[2:]) for row in draw_rows(dice, 20, 50)]
    beside, keeps = draw_beside(dice)
    limit = Fraction(dice.randint(5, 9), 10)
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling(limit), {"ill": VALUES[2]})
    method = pv.TopDownDisclosure(ordered=["a"], keep=["c"], utility="distortion")
    table, known = read(rows), (0,)

    def keeps_cut(starts: set[int]) -> bool:
        place = {a: sum(s <= a for s in starts) for a in ages}
        shown = [(place[row[0]], *row[1:]) for row in rows]
        return keeps_all(shown, known, limit, keeps)

    if not keeps_cut(set()):
        with pytest.raises(pv.Infeasible, match=UNREACHABLE):
            pv.publish(table, [promise, beside], method=method, utility=False)
        return
    release = pv.publish(table, [promise, beside], method=method, utility=False)
    domain = table.domains(["a"])["a"]
    labels = [shown_as(release, table, "a")[v] for v in domain.labels]
    there = [int(a) for a in domain.labels if a is not None]
    starts = {there[i] for i in range(1, len(there)) if labels[i] != labels[i - 1]}
    assert keeps_cut(starts)
    for more in {*there[1:]} - starts:
        assert not keeps_cut({*starts, more})


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_nodes_of_hierarchies_keep_measures(seed: int) -> None:
    """The written cells are scored."""
    dice = random.Random(f"nodes and measures {seed}")
    rows = draw_rows(dice, 20, 60)
    above = {v: ["odd" if int(v) % 2 else "even", "*"] for v in "12345"}
    beside, keeps = draw_beside(dice)
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("9/10"), {"ill": VALUES[2]})
    method = pv.TopDownDisclosure(hierarchies={"a": above}, utility="distortion")
    table = read(rows)
    try:
        release = pv.publish(table, [promise, beside], method=method, utility=False)
    except pv.Infeasible:
        everything = {j: {r[j] for r in rows} for j in QUASI}
        shown = show(rows, everything)
        assert not keeps_all(shown, (0,), Fraction(9, 10), keeps)
        return
    labels = [shown_as(release, table, c) for c in NAMES[:3]]
    shown = [
        (
            *(labels[j][None if v is None else str(v)] for j, v in enumerate(row[:3])),
            row[3],
        )
        for row in rows
    ]
    assert keeps_all(shown, (0,), Fraction(9, 10), keeps)


@pytest.mark.parametrize("seed", range(CASES // 2))
def test_columns_that_are_told_are_hidden_too(seed: int) -> None:
    """A column beside the quasi columns splits the groups of whoever knows the rule."""
    dice = random.Random(f"told and measures {seed}")
    rows = [row for row in draw_rows(dice, 30, 60) if row[1] is not None]
    beside, keeps = draw_beside(dice)
    promise = pv.Promise(pv.Linker(["c"]), pv.Ceiling(1), {"ill": VALUES[2]})
    block = {"1": "low", "2": "low", "3": "low", "4": "high", "5": "high"}
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    columns["block"] = [block[a] for a in columns["a"]]
    roles = {"quasi": NAMES[:3], "sensitive": "ill", "target": "good"}
    table = pv.read(pa.table(columns), other="block", threads=1, **roles)
    if not keeps([("everybody", str(row[3])) for row in rows]):
        with pytest.raises(pv.Infeasible):
            pv.publish(table, [promise, beside], utility=False)
        return
    release = pv.publish(table, [promise, beside], utility=False)
    of_linker, of_beside = release.audit.findings
    assert of_linker.verdict is pv.Verdict.NOT_APPLICABLE
    assert of_beside.verdict is pv.Verdict.SAFE
    hidden = {NAMES.index(c): set(v) for c, v in release.hidden.items() if c != "block"}
    assert keeps_all(show(rows, hidden), (2,), Fraction(1), keeps)


def test_a_table_without_other_columns_is_made_anonymous() -> None:
    columns = {"job": list("aabbbc"), "sex": list("pqpqpq")}
    table = pv.read(pa.table(columns), quasi=["job", "sex"], threads=1)
    release = pv.publish(
        table, pv.Measure(k_anonymity=2), method=pv.TopDownDisclosure(), utility=False
    )
    assert {"job": ["a", "b", "c"]} == release.hidden


def test_nothing_is_published_that_nothing_leads() -> None:
    rows = draw_rows(random.Random(1))
    with pytest.raises(pv.NoAudit, match="got delta_disclosure"):
        pv.publish(
            read(rows), pv.Measure(delta_disclosure=1), method=pv.TopDownDisclosure()
        )


def test_what_the_papers_search_does_not_look_at_might_be_hidden() -> None:
    """It hides all of a, which a linker knows; b it never hides, though that helps."""
    people = [("1", "x", 3), ("1", "y", 3), ("2", "x", 1), ("2", "y", 1), ("2", "z", 1)]
    rows = [(a, b, "p", ill, "yes") for a, b, ill in people]
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling("2/5"), {"ill": VALUES[2]})
    stated = [promise, pv.Measure(k_anonymity=2)]
    with pytest.raises(pv.Infeasible, match="does not reach"):
        pv.publish(read(rows), stated, method=pv.TopDownDisclosure(paper=True))
    release = pv.publish(read(rows), stated, utility=False)
    assert {"a", "b"} == set(release.hidden)


def test_what_nothing_reaches_is_refused_with_what_to_do() -> None:
    rows = [(i, j, "p", 1 + j, "yes") for i in range(4) for j in range(2)]
    promise = pv.Promise(pv.Linker(["a"]), pv.Ceiling(1), "ill")
    for beside, reached, advice in (
        (pv.Measure(distinct_l_diversity=3), 2, "Ask for less."),
        (pv.Measure(k_anonymity=9), 8, "Ask for less."),
        (
            pv.Promise(pv.Insider(same_as=2), pv.Ceiling("1/2"), "ill"),
            Fraction(7, 8),
            "Raise the limit to at least 7/8.",
        ),
    ):
        with pytest.raises(pv.Infeasible, match=UNREACHABLE) as found:
            pv.publish(read(rows), [promise, beside])
        assert reached == found.value.best
        assert advice == found.value.advice[0]


# How much is judged -------------------------------------------------------------------


def build_cube(zips: int, values: int, judged: list[int]) -> scored_cube.ScoredCube:
    """Two people in each zip but the first, whose one is too few; who was judged."""

    def find_beyond(batch: Batch) -> np.ndarray:
        judged.append(len(batch.groups.n))
        return np.asarray(batch.groups.total < 2)

    zip_ = np.repeat(np.arange(zips), 2)[1:]
    ill = np.arange(len(zip_)) % values
    names = [str(i) for i in range(max(zips, values))]
    domains = Domain("zip", names[:zips]), Domain("ill", names[:values])
    counts = Counts(domains, (zip_, ill), np.ones(len(zip_), dtype=np.int64))
    grouped = group_counts(counts, ["zip"], "ill")
    fixed = np.zeros(zips, dtype=np.int64)
    codes = [np.arange(zips)]
    return scored_cube.ScoredCube([0], codes, fixed, grouped, [find_beyond])


def test_rests_of_a_group_are_tried_together() -> None:
    """Not one histogram of all values for each of many that may be shown."""
    judged: list[int] = []
    cube = build_cube(300, 50, judged)
    found = cube.look_at_values(0, np.arange(300), 300)
    assert [0] == np.flatnonzero(found.broken).tolist()
    # Each zip by itself, the first alone, and two halves of all people.
    assert sum(judged) <= 599 + 1 + 2 * 50


def test_cuts_are_judged_as_far_as_they_are_asked_for() -> None:
    judged: list[int] = []
    cube = build_cube(300, 50, judged)
    asked = np.isin(np.arange(300), [0, 149])
    found = cube.look_at_cuts(0, asked)
    assert [0] == np.flatnonzero(found.broken).tolist()
    assert sum(judged) <= 2 * 3 * 50
