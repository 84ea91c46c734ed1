"""Inversion: what the attack finds, and what is promised against it."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privet as pv
from oracle.test_classifiers import named
from privet.classifier import publish as publish_module
from privet.classifier.attacks.inversion import SOLVERS, Aid, invert
from privet.classifier.files import read_custody
from privet.classifier.transforms.synthetic import make_synthetic_table
from privet.release.manifest import digest_content

PROMISE = pv.Promise(pv.Bayesian(), pv.Ceiling("0.8"), name="no mind is moved")
WHY = {"inversion": "a test"}

TABLES = int(os.environ.get("PRIVET_TABLES", "5"))
"""Random tables that are attacked; of 48 the exponent is found in 46."""


def random_table(seed: int) -> pv.ClassifierViews:
    """Three to six classes, five attributes, 150 to 900 rows a class."""
    dice = np.random.default_rng(seed)
    sizes = [int(n) for n in dice.integers(150, 900, int(dice.integers(3, 7)))]
    cells = []
    for _ in range(5):
        values = int(dice.integers(2, 7))
        common = dice.dirichlet(np.full(values, 2.0))
        columns = [dice.multinomial(n, dice.dirichlet(common * 8 + 0.3)) for n in sizes]
        cells.append(np.array(columns).T.tolist())
    return named(tuple(sizes), cells).smoothed()


def sizes_of(views: pv.ClassifierViews) -> dict[str, int]:
    return dict(zip(views.labels, views.sizes, strict=True))


def shown_rows(views: pv.ClassifierViews, rows: int) -> tuple[Any, Fraction]:
    made = pv.SafetyTransform().apply(views, [PROMISE])
    table = make_synthetic_table(made, [PROMISE], rows)
    return table.views, table.exponent


@pytest.mark.parametrize(("classes", "cases"), [(2, 20), (3, 2)])
def test_sizes_that_do_not_fit_give_a_guess_all_the_same(
    classes: int, cases: int
) -> None:
    # Under noise the sizes that are told differ from those the attack is told, and
    # hardly any exponent may explain both.
    dice = np.random.default_rng(classes)
    for _ in range(cases):
        sizes = [int(n) for n in dice.integers(2, 30, classes)]
        cells = [
            np.array([dice.multinomial(n, [0.2, 0.3, 0.5]) for n in sizes]).T.tolist()
            for _ in range(2)
        ]
        views = named(tuple(sizes), cells).smoothed()
        made = pv.SafetyTransform().apply(views, [PROMISE])
        told = {c: int(dice.integers(1, 30)) for c in views.labels}
        guesses = [invert(pv.Inverter(told), made, solve=s) for s in SOLVERS]
        assert all(
            0 <= n <= told[c]
            for found in guesses
            for table in found.cells
            for row in table
            for c, n in zip(views.labels, row, strict=True)
        )


@pytest.fixture(scope="module")
def attacked() -> list[tuple[pv.ClassifierViews, Any, Fraction]]:
    found = []
    for seed in range(TABLES):
        views = random_table(seed)
        found.append((views, *shown_rows(views, 10**6)))
    return found


def test_the_exponent_is_found_without_help(attacked: list[Any]) -> None:
    found = [
        pv.Inverter(sizes_of(views)).attack(rows).exponent / float(exponent)
        for views, rows, exponent in attacked
    ]
    assert 10 * sum(abs(ratio - 1) <= 0.2 for ratio in found) >= 9 * TABLES


def test_the_exponent_of_a_scorecard_is_found_without_help() -> None:
    found = []
    for seed in range(TABLES):
        views = random_table(seed)
        made = pv.SafetyTransform().apply(views, [PROMISE])
        guess = pv.Inverter(sizes_of(views)).attack(made.card).exponent
        found.append(guess / float(made.proof.exponent))
    assert 10 * sum(abs(ratio - 1) <= 0.2 for ratio in found) >= 9 * TABLES


def test_a_million_rows_tell_every_count_to_whoever_is_told_the_rest(
    attacked: list[Any],
) -> None:
    for views, rows, exponent in attacked:
        aid = Aid.of(views.scores, exponent)
        found = invert(pv.Inverter(sizes_of(views)), rows, aid)
        assert 1 == found.right(views)
        assert 1 == found.near(views)


def test_few_rows_tell_less() -> None:
    views = random_table(3)
    shares = []
    for rows in (10**5, 10**3):
        shown, exponent = shown_rows(views, rows)
        aid = Aid.of(views.scores, exponent)
        shares.append(invert(pv.Inverter(sizes_of(views)), shown, aid).right(views))
    assert shares[0] > 2 * shares[1]


# Promises -----------------------------------------------------------------------------


def small() -> pv.ClassifierViews:
    cells = [[[30, 12], [10, 28], [7, 9]], [[25, 14], [22, 35]]]
    return named((47, 49), cells).smoothed()


def test_nothing_is_written_without_a_promise_or_somebody_who_accepts(
    tmp_path: Path,
) -> None:
    release = pv.publish(small(), [PROMISE])
    assert "not covered" == release.verdict.value
    assert not release.safe
    with pytest.raises(pv.NotCovered, match=r"told the exponent.*gets 100 %"):
        release.write(tmp_path / "out", custody=tmp_path / "vault")
    assert not (tmp_path / "out").exists()
    with pytest.raises(pv.InputError, match="accept must be"):
        release.write(tmp_path / "out", custody=tmp_path / "v", accept={"pay": "x"})
    release.write(tmp_path / "out", custody=tmp_path / "vault", accept=WHY)
    content = json.loads((tmp_path / "out" / "release.json").read_text())
    assert [{"of": "inversion", "why": "a test"}] == content["accepted"]
    assert "that was accepted: a test" in (tmp_path / "out" / "README.txt").read_text()
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good


def test_the_headline_names_inversion() -> None:
    release = pv.publish(small(), [PROMISE])
    first = release.audit.explain().splitlines()[0]
    assert (
        "! Not covered: no promise covers inversion, and nobody accepted that." == first
    )
    with pytest.raises(pv.Breach, match="accepted; no promise covers inversion"):
        release.audit.require_safe()


@pytest.mark.parametrize("up_to", [0, 10])
def test_so_many_counts_may_be_accepted(up_to: int) -> None:
    entry = pv.Accepted(of="inversion", up_to=up_to, why="known", who="A. Steward")
    release = pv.publish(small(), pv.Policy([PROMISE], accepted=(entry,)))
    assert ("safe" if up_to == 10 else "not covered") == release.verdict.value


def test_the_promise_is_kept_on_the_written_files(tmp_path: Path) -> None:
    views = random_table(1)
    near = {"within": "10 %", "at_most": "0.6"}
    secret = pv.Promise(pv.Inverter(near=near), pv.Ceiling("0.1"), name="secret")
    release = pv.publish(views, [PROMISE, secret])
    assert release.safe
    (judged,) = [f for f in release.audit.findings if f.promise is secret]
    assert "attack" == judged.basis.value
    assert judged.belief.posterior <= Fraction(1, 10)
    assert Fraction(judged.details["near"]) <= Fraction(6, 10)
    release.write(tmp_path / "out", custody=tmp_path / "vault", counts=True)
    assert pv.verify(tmp_path / "out", custody=tmp_path / "vault").good
    exactly, nearly = measure_written(tmp_path, views)
    assert exactly <= Fraction(1, 10)
    assert nearly <= Fraction(6, 10)
    public = (tmp_path / "out" / "release.json").read_text()
    (stated,) = json.loads(public)["inversion"]
    assert {"name", "exactly", "near", "verdict", "basis"} == set(stated)
    note = (tmp_path / "out" / "README.txt").read_text()
    assert "is not proved" in note


def test_a_stronger_way_follows_one_whose_draws_tell_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What kept a promise when it was tried may not keep it when it is drawn again."""
    weak, strong = (pv.SafetyTransform(margin=m) for m in ("0.000001", "1.5"))
    secret = pv.Promise(pv.Inverter(), pv.Ceiling("0.2"), name="secret")
    monkeypatch.setattr(publish_module, "TRIES", 1)
    monkeypatch.setattr(publish_module, "list_cheapest", lambda *_: [weak, strong])
    release = pv.publish(random_table(1), [PROMISE, secret])
    assert release.safe
    assert "3/2" == release.options["margin"]
    monkeypatch.setattr(publish_module, "list_cheapest", lambda *_: [weak])
    with pytest.raises(pv.Infeasible, match="No mitigation keeps 'secret'"):
        pv.publish(random_table(1), [PROMISE, secret])


def measure_written(
    place: Path, views: pv.ClassifierViews
) -> tuple[Fraction, Fraction]:
    """The most that any written file tells, read as a recipient would: aided."""
    kept = read_custody(place / "vault")
    margin = getattr(kept.method, "margin", 0) or 0
    attacker = pv.Inverter(sizes_of(views), margin=margin)
    found = [
        invert(attacker, shown, Aid.of(kept.prepared.scores, exponent), solve)
        for shown, exponent in list_written(place / "out", kept)
        for solve in SOLVERS
    ]
    return max(r.right(views) for r in found), max(r.near(views) for r in found)


def list_written(out: Path, kept: Any) -> list[tuple[Any, Fraction]]:
    """Everything that was written, and what its scores were raised to."""
    found: list[tuple[Any, Fraction]] = []
    if not getattr(kept.method, "rows", None):  # else the card is that of the rows
        found.append((pv.load(out).card, kept.proof.exponent))
    if (out / "counts.json").exists():
        counts = json.loads((out / "counts.json").read_text())
        found.append((pv.ClassifierViews.from_dict(counts), kept.proof.exponent))
    if (out / "table.parquet").exists():
        names = [a.name for a in kept.counts.attributes]
        with pv.read(out / "table.parquet", quasi=names, target="class") as table:
            rows = pv.NaiveBayes(alpha=0).fit_table(table).views_
        found.append((rows, kept.table.exponent))
    return found


def test_what_is_set_too_weakly_is_infeasible() -> None:
    secret = pv.Promise(pv.Inverter(), pv.Ceiling("0.1"))
    with pytest.raises(pv.Infeasible, match="does not reach"):
        pv.publish(small(), [PROMISE, secret], method=pv.SafetyTransform(bits=20))


def test_a_custody_record_whose_promise_is_broken_is_told(tmp_path: Path) -> None:
    secret = pv.Promise(pv.Inverter(), pv.Ceiling("0.9"), name="secret")
    coarse = pv.SafetyTransform(bits=4)
    release = pv.publish(small(), [PROMISE, secret], method=coarse)
    release.write(tmp_path / "out", custody=tmp_path / "vault")
    path = tmp_path / "out" / "release.json"
    content = json.loads(path.read_text())
    for stated in (*content["promises"], *content["inversion"]):
        if "exactly" in stated:
            stated["exactly"] = "1/1000"
    content["digest"] = digest_content(content)
    path.write_text(json.dumps(content))
    found = pv.verify(tmp_path / "out", custody=tmp_path / "vault")
    assert any("must be kept against inversion" in p for p in found.problems)


def test_a_promise_that_forbids_nothing_covers_nothing() -> None:
    empty = pv.Promise(pv.Inverter(), pv.Ceiling(1), name="empty")
    assert "not covered" == pv.publish(small(), [PROMISE, empty]).verdict.value


def test_rows_beside_the_card_are_attacked_too(tmp_path: Path) -> None:
    views = random_table(2)
    secret = pv.Promise(pv.Inverter(), pv.Ceiling("0.8"), name="secret")
    release = pv.publish(views, [PROMISE, secret], method=pv.SafetyTransform(bits=8))
    where = {"custody": tmp_path / "vault"}
    release.write(tmp_path / "out", rows=10**4, **where)
    assert pv.verify(tmp_path / "out", **where).good  # rows of a coarse card are coarse
    assert 2 == len(list_written(tmp_path / "out", read_custody(tmp_path / "vault")))
    assert measure_written(tmp_path, views)[0] <= Fraction(8, 10)


def test_counts_as_they_are_tell_everything() -> None:
    secret = pv.Promise(pv.Inverter(), pv.Ceiling("0.9"))
    assert "breach" == pv.audit(small(), [PROMISE, secret]).verdict.value


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: pv.Promise(pv.Inverter(), pv.Ratio(2)), "must be a Ceiling"),
        (lambda: pv.Inverter(near={"within": "10 %"}), "near must be within and at"),
        (lambda: pv.Inverter({}), "class_sizes must be"),
        (lambda: pv.Inverter({"c0": 1}).attack(small()), "must name every class"),
    ],
)
def test_nonsense_is_refused(make: Any, rule: str) -> None:
    with pytest.raises(pv.InputError, match=rule):
        make()


def test_the_keys_of_the_policy() -> None:
    text = """
[[promise]]
name    = "secret"
against = "inverter"
exactly = 0.1
near    = { within = "10 %", at_most = 0.3 }
"""
    policy = pv.Policy.from_toml(text)
    (promise,) = policy.promises
    assert pv.Ceiling("0.1") == promise.limit
    assert {
        "within": Fraction(1, 10),
        "at_most": Fraction(3, 10),
    } == promise.against.near
    assert policy == pv.Policy.from_toml(policy.to_toml())
    for wrong in (
        'against = "linker"\nexactly = 0.1',
        'against = "inverter"\nat_most = 1',
    ):
        with pytest.raises(pv.PolicyError, match="must have exactly against"):
            pv.Policy.from_toml(f"[[promise]]\n{wrong}\n")
