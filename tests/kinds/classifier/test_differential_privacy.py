"""Differential privacy that holds: what is public depends on noise and declarations."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.classifier.count import count_views
from privet.classifier.noise.bounded_count import CountedRow, draw_rows
from privet.classifier.noise.dp_noise import add_noise
from privet.classifier.noise.noisy_inversion import expect_inversion
from privet.engine.randomise.discrete_noise import draw_laplace
from privet.policy import Policy
from privet.values.noise.binomial import bound_by_clopper_pearson

PROMISE = pv.Promise(pv.Bayesian(), pv.Shift(0.51, 0.9), "pay")
JOBS, TOWNS, PAYS = ("cook", "nurse", "pilot"), ("A", "B"), ("high", "low")
DOMAIN = {"job": JOBS, "town": TOWNS, "pay": PAYS}
COLUMNS = ("job", "town", "pay")
Row = tuple[str, ...]


def read(rows: Sequence[Row], names: Sequence[str] = COLUMNS, **roles: Any) -> pv.Table:
    frame = pd.DataFrame(rows, columns=list(names), dtype=str)
    quasi = [c for c in ("job", "town") if c in names]
    return pv.read(frame, quasi=quasi, target="pay", **roles)


def count(
    rows: Sequence[Row],
    privacy: pv.DifferentialPrivacy,
    names: Sequence[str] = COLUMNS,
    **roles: Any,
) -> pv.ClassifierViews:
    with read(rows, names, **roles) as table:
        return count_views(table, privacy=privacy, smoothing=1)


def some_rows(n: int, seed: int = 0, jobs: Sequence[str] = JOBS) -> list[Row]:
    dice = random.Random(seed)
    return [
        (dice.choice(jobs), dice.choice(TOWNS), dice.choice(PAYS)) for _ in range(n)
    ]


def view(rows: Sequence[Row]) -> pv.ClassifierViews:
    return count(rows, pv.DifferentialPrivacy(1))


# Domains ----------------------------------------------------------------------------

POLICY = """
[columns]
quasi  = ["job", "town"]
target = "pay"

[domain]
job  = { values = ["cook", "nurse", "pilot"], other = "another" }
town = ["A", "B"]
pay  = ["high", "low"]

[[promise]]
against = "bayesian"
about   = "pay"
from    = 0.51
to      = 0.9

[[accepted]]
of  = "inversion"
why = "noise"
who = "A. Steward"
"""

ASTRONAUT = ("astronaut", "B", "high")
"""Somebody whose job nobody else has."""


def publish_files(rows: Sequence[Row], policy: Policy, place: Path) -> Path:
    """A release by the same steps as the command."""
    from privet.classifier.publish import publish_classifier

    place.mkdir()
    with read(rows) as table:
        views = count_views(table, privacy=policy.privacy, smoothing=1)
        release = publish_classifier(views, policy, table=table)
        release.write(place / "out", custody=place / "vault")
    return place / "out"


def describe_shape(folder: Path) -> Any:
    """Everything public but for numbers: files, keys, words, values, types."""
    card = json.loads((folder / "scorecard.json").read_text("utf-8"))
    manifest = json.loads((folder / "release.json").read_text("utf-8"))
    steady = ("kind", "title", "method", "columns", "flattened", "privacy", "covers")
    values = [
        (a["name"], a["type"], [v["value"] for v in a["values"]])
        for a in card["attributes"]
    ]
    return json.dumps(
        [
            sorted(p.name for p in folder.iterdir()),
            sorted(card),
            card["classes"],
            values,
            sorted(manifest),
            {k: manifest.get(k) for k in steady},
            [sorted(p) for p in manifest["promises"]],
            manifest["not_promised"],
        ],
        sort_keys=True,
    )


@pytest.mark.parametrize("noise", ["epsilon = 1", "rho = 0.5"])
def test_one_person_changes_no_public_files_set_of_values(
    tmp_path: Path, noise: str
) -> None:
    """With a declared domain, whoever is added or removed, and at every draw."""
    policy = Policy.from_toml(f"{POLICY}\n[privacy]\n{noise}\n")
    rows = some_rows(40)
    others = [rows, [*rows, ASTRONAUT], rows[1:], [r for r in rows if r[0] != "pilot"]]
    shapes = set()
    for i, table in enumerate(others):
        for draw in range(4):
            place = tmp_path / f"{i}-{draw}"
            folder = publish_files(table, policy, place)
            shapes.add(describe_shape(folder))
            assert pv.verify(folder, custody=place / "vault").good
            assert "astronaut" not in (folder / "scorecard.json").read_text("utf-8")
    assert 1 == len(shapes)


def test_without_noise_the_astronaut_appears(tmp_path: Path) -> None:
    """The test above has the power to see somebody."""
    policy = Policy.from_toml(POLICY)
    shapes = {
        describe_shape(publish_files(rows, policy, tmp_path / str(i)))
        for i, rows in enumerate([some_rows(40), [*some_rows(40), ASTRONAUT]])
    }
    assert 2 == len(shapes)


def test_every_declared_cell_has_noise_also_without_a_row() -> None:
    views = view([("cook", "A", "high")] * 30 + [("cook", "A", "low")] * 30)
    privacy = pv.DifferentialPrivacy(1, domain=DOMAIN)
    seen = Counter()
    for _ in range(60):
        noisy = add_noise(views, privacy)
        assert JOBS == noisy.attributes[0].values
        seen.update((v, c) for v in range(3) for c in range(2) if noisy.cells[0][v][c])
    assert {(v, c) for v in range(3) for c in range(2)} == set(seen)


def test_values_outside_are_an_error_that_does_not_show_them() -> None:
    views = view([*some_rows(9), ASTRONAUT])
    with pytest.raises(
        pv.InputError, match="Every value of 'job' must be in its"
    ) as no:
        add_noise(views, pv.DifferentialPrivacy(1, domain=DOMAIN))
    assert "astronaut" not in str(no.value)
    strange = view([*some_rows(9), ("cook", "A", "secret")])
    with pytest.raises(
        pv.InputError, match="Every value of 'pay' must be in its"
    ) as no:
        add_noise(strange, pv.DifferentialPrivacy(1, domain=DOMAIN))
    assert "secret" not in str(no.value)


def test_other_takes_them() -> None:
    views = view([("spy", "A", "high")] * 500 + [("cook", "B", "none")] * 500)
    pays = pv.DeclaredDomain(["high"], "another")
    jobs = pv.DeclaredDomain(["cook"], "else")
    domain = {"job": jobs, "town": TOWNS, "pay": pays}
    noisy = add_noise(views, pv.DifferentialPrivacy(10, domain=domain))
    assert ("high", "another") == noisy.labels  # the first in the alphabet wins ties
    (cook, other) = noisy.cells[0]
    assert [500, 0] == pytest.approx([cook[1], cook[0]], abs=60)
    assert [500, 0] == pytest.approx([other[0], other[1]], abs=60)


def test_cut_points_declare_bins() -> None:
    frame = pd.DataFrame({"age": [20] * 9 + [40] * 9})
    model = pv.NaiveBayes(bins={"age": [30, 60]}).fit(frame, ["a", "b"] * 9)
    privacy = pv.DifferentialPrivacy(1, domain={"class": ["a", "b"]})
    noisy = add_noise(model.views_, privacy)
    labels = ("below 30", "30 to below 60", "60 and more")
    assert labels == noisy.attributes[0].values


def test_several_target_columns_are_declared_each() -> None:
    frame = pd.DataFrame(some_rows(60), columns=list(COLUMNS))
    with pv.read(frame, quasi="job", drop=[]) as table:
        views = count_views(table, target=["town", "pay"], attributes=["job"])
    domain = {
        "job": JOBS,
        "town": pv.DeclaredDomain(["A"], "far"),
        "pay": [*PAYS, "none"],
    }
    privacy = pv.DifferentialPrivacy(1, domain=domain)
    noisy = add_noise(views, privacy)
    pairs = {f"{t} + {p}" for t in ("A", "far") for p in (*PAYS, "none")}
    assert pairs == set(noisy.labels)
    # Joined columns are one class: one person still moves one cell per attribute.
    assert 1 == privacy.plan(1).size
    for row in SORTS:
        more = pd.concat([frame, pd.DataFrame([row], columns=list(COLUMNS))])
        with pv.read(more, quasi="job", drop=[]) as table:
            new = count_views(table, target=["town", "pay"], attributes=["job"])
        assert (1, 1) == measure(views, new)


def test_neither_declared_nor_a_delta_says_what_to_do() -> None:
    with pytest.raises(pv.InputError, match="'town' must be declared, or be selected"):
        add_noise(
            view(some_rows(9)),
            pv.DifferentialPrivacy(1, domain={"job": JOBS, "pay": PAYS}),
        )
    with pytest.raises(pv.InputError, match="give epsilon with a delta, such as 1e-6"):
        add_noise(view(some_rows(9)), pv.DifferentialPrivacy(rho=1, delta="1e-6"))


def test_a_selection_shows_what_many_hold_and_never_the_astronaut() -> None:
    rows = [*some_rows(600), ASTRONAUT]
    privacy = pv.DifferentialPrivacy(4, "1e-6", domain={"town": TOWNS})
    views = view(rows)
    for _ in range(50):
        noisy = add_noise(views, privacy)
        assert (*JOBS, "other") == noisy.attributes[0].values
        assert {"high", "low"} == set(noisy.labels)


def test_too_few_people_for_two_classes_is_infeasible() -> None:
    privacy = pv.DifferentialPrivacy(1, "1e-9", domain={"town": TOWNS, "job": JOBS})
    with pytest.raises(pv.Infeasible, match="Fewer than two classes of 'pay'"):
        add_noise(view(some_rows(20)), privacy)


# Sensitivity ------------------------------------------------------------------------


SORTS = [("cook", "A", "high"), ("cook", "A", "low"), ("nurse", "B", "low")]


def list_people(most: int) -> Iterator[list[Row]]:
    """Everybody there could be: up to so many rows, of every sort."""
    for n in range(1, most + 1):
        yield from map(list, combinations_with_replacement(SORTS, n))


def flatten(views: pv.ClassifierViews) -> Counter[tuple[int, Any, str]]:
    return Counter(
        {
            (i, value, label): Fraction(n)
            for i, (a, table) in enumerate(
                zip(views.attributes, views.cells, strict=True)
            )
            for value, row in zip(a.values, table, strict=True)
            for label, n in zip(views.labels, row, strict=True)
        }
    )


def measure(old: pv.ClassifierViews, new: pv.ClassifierViews) -> tuple[Any, Any]:
    one, two = flatten(old), flatten(new)
    moved = [abs(one[k] - two[k]) for k in {*one, *two}]
    return sum(moved), sum(x * x for x in moved)


@pytest.mark.parametrize(
    ("keys", "most"),
    [
        ({}, 2),
        ({"rows_per_person": 2}, 3),
        ({"heaviest": 3}, 1),
        ({"heaviest": "3/2", "grid": "1/2"}, 1),
    ],
)
def test_no_person_moves_counts_further_than_the_noise_is_for(
    keys: dict[str, Any], most: int
) -> None:
    """By listing all people: the plan's sensitivities are reached and never passed."""
    privacy = pv.DifferentialPrivacy(1, **keys)
    last = "weight" if "heaviest" in keys else "unit"
    base = [(*row, f"{i + 1}") for i, row in enumerate(some_rows(6))]
    old = count(base, privacy, (*COLUMNS, last), **{last: last})
    linear, squares = [], []
    for person in list_people(most):
        for cell in ("1", "9") if last == "weight" else ("new",):
            rows = [*base, *((*row, cell) for row in person)]
            new = count(rows, privacy, (*COLUMNS, last), **{last: last})
            found = measure(old, new)
            linear.append(found[0])
            squares.append(found[1])
    steps = privacy.steps * privacy.grid
    assert (2 * steps, 2 * steps**2) == (max(linear), max(squares))
    assert privacy.plan(2).size * privacy.grid == max(linear)
    gauss = pv.DifferentialPrivacy(rho="1/2", **keys).plan(2)
    assert gauss.size * privacy.grid**2 == max(squares)


def test_rows_beyond_those_that_count_are_drawn_fairly() -> None:
    one, two, three = (CountedRow((j,), ("x",), Fraction(1)) for j in JOBS)
    rows, dice = Counter({one: 1, two: 2, three: 3}), random.Random(1)
    seen: Counter[CountedRow] = Counter()
    for _ in range(6000):
        kept = draw_rows(rows, 2, dice)
        assert 2 == kept.total()
        assert kept <= rows
        seen.update(kept)
    # Each of six rows is one of two that count in a third of all draws.
    assert 2000 == pytest.approx(seen[one], abs=250)
    assert 4000 == pytest.approx(seen[two], abs=300)
    assert rows == draw_rows(rows, 6, dice)


def test_a_unit_is_counted_up_to_its_limit() -> None:
    rows = [("cook", "A", "high", "p")] * 9 + [("nurse", "B", "low", "q")]
    for most in (1, 4):
        privacy = pv.DifferentialPrivacy(1, rows_per_person=most)
        assert most + 1 == count(rows, privacy, (*COLUMNS, "who"), unit="who").rows
    with pytest.raises(pv.InputError, match="must have one row per person"):
        pv.NaiveBayes().fit_table(read(rows, (*COLUMNS, "who"), unit="who"))


def test_everybody_must_be_told_apart() -> None:
    frame = pd.DataFrame([*SORTS, *SORTS], columns=list(COLUMNS))
    frame["who"] = ["p", "q", None, "r", "s", "t"]
    with pv.read(frame, quasi=["job", "town"], target="pay", unit="who") as table:
        with pytest.raises(pv.InputError, match="'who' must have a value in every row"):
            count_views(table, privacy=pv.DifferentialPrivacy(1))


def test_a_row_that_stands_for_several_is_several_people() -> None:
    rows = [("cook", "A", "high", "5"), ("nurse", "B", "low", "2")]
    views = count(rows, pv.DifferentialPrivacy(1), (*COLUMNS, "w"), weight="w")
    assert 7 == views.rows
    clipped = pv.DifferentialPrivacy(1, heaviest=3)
    assert 5 == count(rows, clipped, (*COLUMNS, "w"), weight="w").rows


def test_people_and_not_rows_hold_a_value() -> None:
    rows = [("p", "cook", "A", "high")] * 9 + [("q", "nurse", "B", "low")]
    privacy = pv.DifferentialPrivacy(1, rows_per_person=5)
    views = count(rows, privacy, ("who", *COLUMNS), unit="who")
    assert views.holders is not None
    assert {"cook": 1, "nurse": 1} == dict(views.holders.values[0])
    assert {"high": 1, "low": 1} == dict(views.holders.labels)
    assert 6 == views.rows


def test_weights_of_a_model_are_clipped_on_a_grid() -> None:
    x, y = np.array([["a"], ["b"], ["a"]]), ["u", "v", "v"]
    privacy = pv.DifferentialPrivacy(1, heaviest=2, grid="1/2")
    model = pv.NaiveBayes(privacy=privacy).fit(x, y, sample_weight=[7.3, 0.7, 1.1])
    assert [2.0, 1.5] == model.class_count_.tolist()
    domain = {"x0": ["a", "b"], "class": ["u", "v"]}
    asked = pv.DifferentialPrivacy(100, heaviest=2, grid="1/2", domain=domain)
    assert 2 <= add_noise(model.views_, asked).rows <= 6


def test_weights_that_nobody_limited_are_refused() -> None:
    x, y = np.array([["a"], ["b"], ["a"]]), ["u", "v", "v"]
    model = pv.NaiveBayes().fit(x, y, sample_weight=[7.3, 0.7, 1.1])
    domain = {"x0": ["a", "b"], "class": ["u", "v"]}
    with pytest.raises(pv.InputError, match="Counts must be made under the limits"):
        add_noise(model.views_, pv.DifferentialPrivacy(1, domain=domain))
    several = count(
        [("p", *r) for r in some_rows(9)],
        pv.DifferentialPrivacy(1, rows_per_person=3),
        ("who", *COLUMNS),
        unit="who",
    )
    with pytest.raises(pv.InputError, match="rows_per_person 1 and heaviest 1"):
        add_noise(several, pv.DifferentialPrivacy(1, domain=DOMAIN))


def test_a_class_prior_is_no_count() -> None:
    x, y = np.array([["a"], ["b"], ["a"]]), ["u", "v", "v"]
    model = pv.NaiveBayes(class_prior=[0.5, 0.5]).fit(x, y)
    with pytest.raises(pv.InputError, match="class_prior must be left out with noise"):
        add_noise(model.views_, pv.DifferentialPrivacy(1, "1e-6"))


# The loss, audited ------------------------------------------------------------------

RUNS = 3_000


def loses_more_than(
    epsilon: float, privacy: pv.DifferentialPrivacy, rows: int = 1
) -> bool:
    """Whether counts with a person and without give a larger loss away, for certain.

    The person's rows are in one cell; the event is that the noisy count is at least
    what it is with them.
    """
    base = pv.ClassifierViews.from_counts(
        {"a": 1000, "b": 1000},
        {"x": {"u": {"a": 500, "b": 500}, "v": {"a": 500, "b": 500}}},
    )
    more = pv.ClassifierViews.from_counts(
        {"a": 1000 + rows, "b": 1000},
        {"x": {"u": {"a": 500 + rows, "b": 500}, "v": {"a": 500, "b": 500}}},
    )
    method = pv.SafetyTransform(privacy=privacy)

    def count_events(views: pv.ClassifierViews) -> int:
        return sum(
            method.prepared(views).cells[0][0][1] >= 500 + rows for _ in range(RUNS)
        )

    miss = 1e-6 / 2
    low = bound_by_clopper_pearson(count_events(more), RUNS, miss)
    high = 1 - bound_by_clopper_pearson(RUNS - count_events(base), RUNS, miss)
    return log(low / high) > epsilon


AUDITED = {"x": ["u", "v"], "class": ["a", "b"]}


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's source, the same in every run: its power is 0.997, not 1."""
    drawn = random.Random(7).getrandbits
    monkeypatch.setattr(random.SystemRandom, "getrandbits", lambda _, k: drawn(k))


@pytest.mark.usefixtures("steady")
def test_an_audit_of_epsilon_through_the_front_door() -> None:
    assert not loses_more_than(1, pv.DifferentialPrivacy(1, domain=AUDITED))
    # Noise that is too small by a factor of 1.3 is seen.
    assert loses_more_than(1, pv.DifferentialPrivacy("1.3", domain=AUDITED))


@pytest.mark.usefixtures("steady")
def test_an_audit_sees_rows_that_were_not_planned_for() -> None:
    two = pv.DifferentialPrivacy(1, rows_per_person=2, domain=AUDITED)
    assert not loses_more_than(1, two, rows=2)
    assert loses_more_than(1, pv.DifferentialPrivacy(1, domain=AUDITED), rows=2)


# What is public ---------------------------------------------------------------------


def noisy_method(kind: type, **more: Any) -> Any:
    return kind(privacy=pv.DifferentialPrivacy(1, domain=DOMAIN, **more))


@pytest.mark.parametrize("kind", [pv.SafetyTransform, pv.ExtendedSafetyTransform])
def test_the_report_is_made_of_noisy_counts(kind: type) -> None:
    """Nothing but the custody record tells what the counts were."""
    from privet.classifier.report import summary

    stated = pv.Promise(pv.Bayesian(), pv.Ratio(4), "pay")
    method = noisy_method(kind, seed=4)
    one = pv.publish(view(some_rows(50)), [stated], method=method)
    told = summary(one)
    again = kind().apply(one.made.views, [stated])
    assert one.card.to_dict() == again.card.to_dict()
    assert one.before.to_dict() == pv.audit(one.made.views, [stated]).to_dict()
    assert told["inverter"]["note"] == "Expected, by the noisy counts alone."
    assert "as the counts with noise have it" in told["keeps"]


def test_a_promise_against_inversion_is_judged_by_the_noisy_counts() -> None:
    inverter = pv.Promise(pv.Inverter(), pv.Ceiling("0.4"))
    method = noisy_method(pv.SafetyTransform, seed=1)
    rows = some_rows(400)
    kept = pv.publish(view(rows), [PROMISE, inverter], method=method)
    (found,) = (f for f in kept.audit.findings if f.promise == inverter)
    plan = method.noise.plan(2)
    expected = expect_inversion(kept.made.views, plan).exact
    assert expected == found.belief.posterior
    strict = pv.Promise(pv.Inverter(), pv.Ceiling("0.01"))
    with pytest.raises(pv.Infeasible, match="is expected to have"):
        pv.publish(view(rows), [PROMISE, strict], method=method)


def test_what_is_expected_comes_true() -> None:
    """Noise drawn on known counts leaves as many as they are as was expected."""
    views = view(some_rows(40))
    counts = [n for t in views.cells for row in t for n in row]
    plan = pv.DifferentialPrivacy(2, domain=DOMAIN).plan(2)
    found = expect_inversion(views, plan)
    dice, right, near, draws = random.Random(5), 0, 0, 3000
    for _ in range(draws):
        for n in counts:
            seen = max(0, n + draw_laplace(plan.size, dice.randrange))
            right += seen == n
            near += abs(seen - n) <= max(1, n // 10)
    cells = draws * len(counts)
    assert right / cells == pytest.approx(float(found.exact), abs=0.01)
    assert near / cells == pytest.approx(float(found.near), abs=0.01)


def test_nothing_promised_against_inversion_is_not_covered(tmp_path: Path) -> None:
    method = noisy_method(pv.SafetyTransform)
    release = pv.publish(view(some_rows(60)), [PROMISE], method=method)
    with pytest.raises(pv.NotCovered, match="neighbouring counts"):
        release.write(tmp_path / "out", custody=tmp_path / "vault")


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("kind", [pv.SafetyTransform, pv.ExtendedSafetyTransform])
def test_seeded_noise_is_not_publishable(tmp_path: Path, kind: type, seed: int) -> None:
    stated = pv.Promise(pv.Bayesian(), pv.Ratio(4), "pay")
    release = pv.publish(
        view(some_rows(60)), [stated], method=noisy_method(kind, seed=seed)
    )
    with pytest.raises(pv.InputError, match="seed must not be published"):
        release.write(
            tmp_path / "out", custody=tmp_path / "vault", accept={"inversion": "noise"}
        )


@pytest.mark.parametrize("kind", [pv.SafetyTransform, pv.ExtendedSafetyTransform])
@pytest.mark.parametrize(
    "keys",
    [
        {"epsilon": 2},
        {"epsilon": 2, "delta": "1e-6", "noise": "gauss"},
        {"rho": "1/2", "rows_per_person": 2, "heaviest": 3},
    ],
)
def test_written_noise_is_verified(
    tmp_path: Path, kind: type, keys: dict[str, Any]
) -> None:
    privacy = pv.DifferentialPrivacy(**keys, domain=DOMAIN)
    stated = pv.Promise(pv.Bayesian(), pv.Ratio(4), "pay")
    inverter = pv.Promise(pv.Inverter(), pv.Ceiling("0.9"))
    made = pv.publish(
        view(some_rows(300)), [stated, inverter], method=kind(privacy=privacy)
    )
    written = made.write(tmp_path / "out", custody=tmp_path / "vault")
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    told = written.manifest["privacy"]
    named = {k: str(Fraction(v)) for k, v in keys.items() if k in ("epsilon", "rho")}
    assert named.items() <= told.items()
    assert keys.get("rows_per_person", 1) == told["rows_per_person"]
    note = (tmp_path / "out" / "README.txt").read_text("utf-8")
    assert "Noise was added to the counts:" in note
    assert "values that were declared" in note


def test_the_short_form_takes_the_policys_limits() -> None:
    policy = Policy.from_toml(
        f"{POLICY}\n[privacy]\nepsilon = 1\nrows_per_person = 3\n"
    )
    made = pv.publish(
        view(some_rows(90)), policy, method=pv.SafetyTransform(epsilon="1/2")
    )
    assert made.noise is not None
    assert (Fraction(1, 2), 3) == (made.noise.epsilon, made.noise.rows_per_person)
    assert ("cook", "nurse", "pilot", "another") == made.card.attributes[0].values


def test_two_ways_to_say_it_are_one_too_many() -> None:
    with pytest.raises(pv.InputError, match="epsilon must go without privacy"):
        pv.SafetyTransform(epsilon=1, privacy=pv.DifferentialPrivacy(1))
    with pytest.raises(pv.InputError, match="privacy must be a DifferentialPrivacy"):
        pv.ExtendedSafetyTransform(privacy=1)
