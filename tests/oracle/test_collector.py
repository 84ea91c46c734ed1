"""The collector: fits equal enumeration, and what is stated is what is recovered."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from time import monotonic

import numpy as np
import pyarrow as pa
import pytest

import privet as pv
from privet.responses.channels import Keep
from privet.responses.recovery.attacks import estimate_recovered, gather_rows
from privet.responses.recovery.latent_classes import (
    DisguisedRows,
    LatentClasses,
    RecordShares,
    draw_records,
    draw_reports,
    fit_cells,
    fit_classes,
    guess_records,
)

MATRIX = pv.Matrix([[0.7, 0.1, 0.2], [0.2, 0.8, 0.1], [0.1, 0.1, 0.7]])
CHANNELS = [pv.KAry("0.7"), pv.Replace("0.5", ["1/2", "1/4", "1/4"]), MATRIX]


def design(*channels: object, sizes: tuple[int, ...] | None = None) -> pv.Design:
    asked = sizes or (3,) * len(channels)
    names = [f"q{i}" for i in range(len(channels))]
    questions = [
        pv.Question(c, [str(v) for v in range(k)])
        for c, k in zip(names, asked, strict=True)
    ]
    groups = [pv.Group(c, m) for c, m in zip(names, channels, strict=True)]
    return pv.Design(questions, groups)


def rows_of(asked: pv.Design, seen: np.ndarray) -> DisguisedRows:
    table = {c: seen[:, i] for i, c in enumerate(asked.columns)}
    return gather_rows(asked, asked.groups, table, np.ones(len(seen)))


def mixture(sizes: tuple[int, ...], classes: int, seed: int) -> LatentClasses:
    rng = np.random.default_rng(seed)
    shares = tuple(rng.dirichlet(np.ones(k), classes).T for k in sizes)
    return LatentClasses(rng.dirichlet(np.ones(classes)), shares)


def in_full(model: LatentClasses) -> np.ndarray:
    """The share of every record, by the definition of a mixture."""
    sizes = [s.shape[0] for s in model.shares]
    found = np.zeros(sizes)
    for x in product(*(range(k) for k in sizes)):
        parts = [s[v] for s, v in zip(model.shares, x, strict=True)]
        found[x] = (model.weights * np.prod(parts, axis=0)).sum()
    return found


@pytest.mark.parametrize("seed", range(3))
def test_guesses_have_the_posterior_they_say(seed: int) -> None:
    """Cells: the likeliest record by enumeration. Classes: its posterior is right."""
    asked = design(*CHANNELS)
    model = mixture((3, 3, 3), 3, seed)
    full = in_full(model)
    reports = np.array(list(product(range(3), repeat=3)))
    rows = rows_of(asked, reports)
    matrices = [np.array(m.matrix(3), dtype=float) for m in CHANNELS]
    cells = guess_records(RecordShares(full), rows)
    classes = guess_records(model, rows)
    for i, y in enumerate(rows.seen):
        joint = full.copy()
        for x in product(range(3), repeat=3):
            joint[x] *= np.prod([m[y[g], x[g]] for g, m in enumerate(matrices)])
        assert cells.sure[i] == pytest.approx(joint.max() / joint.sum())
        found = joint[tuple(classes.records[i])] / joint.sum()
        assert classes.sure[i] == pytest.approx(found)
        assert joint[tuple(cells.records[i])] == pytest.approx(joint.max())
    likely = sum(
        np.log(
            sum(
                full[x] * np.prod([m[y[g], x[g]] for g, m in enumerate(matrices)])
                for x in product(range(3), repeat=3)
            )
        )
        for y in rows.seen
    )
    assert likely / 27 == pytest.approx(model.log_likelihood(rows))
    assert likely / 27 == pytest.approx(RecordShares(full).log_likelihood(rows))


def test_every_step_makes_the_rows_likelier() -> None:
    asked = design(*CHANNELS)
    rng = np.random.default_rng(5)
    rows0 = rows_of(asked, rng.integers(0, 3, (10, 3)))
    true = draw_records(mixture((3, 3, 3), 2, 1), 2_000, rng)
    rows = rows_of(asked, draw_reports(true, rows0.pieces, rng))
    one, two = fit_classes(rows, 1), fit_classes(rows, 2)
    assert two.log_likelihood(rows) > one.log_likelihood(rows)
    fitted = fit_cells(rows, one, (20, 60, 200))
    likely = [f.log_likelihood(rows) for f in fitted]
    assert likely == sorted(likely)
    for f in fitted:
        assert 1 == pytest.approx(f.shares.sum())


def attack(asked: pv.Design, seen: np.ndarray) -> object:
    frame = pa.table({c: seen[:, i] for i, c in enumerate(asked.columns)})
    with pv.read(frame) as table:
        return pv.Collector().attack(pv.Responses(table, asked))


def really(
    found: object, asked: pv.Design, seen: np.ndarray, true: np.ndarray
) -> float:
    """The share of people whose whole record is guessed by what was fitted."""
    rows = rows_of(asked, seen)
    guesses = guess_records(found.guess.population, rows).records
    known = {tuple(r): g for r, g in zip(rows.seen.tolist(), guesses, strict=True)}
    told = np.array([known[tuple(r)] for r in seen.tolist()])
    return float((told == true).all(axis=1).mean())


@pytest.mark.parametrize("seed", range(2))
def test_tied_answers_are_recovered_as_stated(seed: int) -> None:
    """Three answers that always agree, at 3/4: 84 %, where one by one is 42 %."""
    asked = design(*[pv.KAry("3/4")] * 3, sizes=(2, 2, 2))
    rng = np.random.default_rng(100 + seed)
    true = np.stack([rng.integers(0, 2, 4_000)] * 3, axis=1)
    pieces = rows_of(asked, true).pieces
    seen = draw_reports(true, pieces, rng)
    found = attack(asked, seen)
    real = really(found, asked, seen, true)
    assert 0.84 == pytest.approx(real, abs=0.02)
    assert abs(found.records - real) <= 0.05
    assert found.up_to >= real - 0.02
    assert not found.few
    assert 0.42 == pytest.approx(found.reported, abs=0.01)
    assert 0.5 == pytest.approx(found.commonest, abs=0.05)
    assert all(share > 0.8 for share in found.groups.values())
    assert found.to_dict() == attack(asked, seen).to_dict()  # the same each time


def test_classes_are_found_where_there_are_some() -> None:
    """Twelve answers of two sorts of people: better than one by one, and stated so."""
    asked = design(*[pv.KAry("0.8")] * 12, sizes=(2,) * 12)
    rng = np.random.default_rng(7)
    sort = rng.random(4_000) < 0.4
    true = (rng.random((4_000, 12)) < np.where(sort, 0.95, 0.05)[:, None]).astype(int)
    pieces = rows_of(asked, true).pieces
    seen = draw_reports(true, pieces, rng)
    found = attack(asked, seen)
    real = really(found, asked, seen, true)
    rows = rows_of(asked, seen)
    alone = guess_records(fit_classes(rows, 1), rows)
    assert real > alone.mean(rows.times) + 0.2
    assert abs(found.records - real) <= 0.05
    assert found.up_to >= real - 0.02


def test_too_few_rows_are_told() -> None:
    rng = np.random.default_rng(8)
    shares = rng.dirichlet(np.ones(64))
    true = np.stack(np.unravel_index(rng.choice(64, 150, p=shares), (2,) * 6), axis=1)
    asked = design(*[pv.KAry("3/4")] * 6, sizes=(2,) * 6)
    seen = draw_reports(true, rows_of(asked, true).pieces, rng)
    found = attack(asked, seen)
    assert found.few
    assert found.up_to >= found.records
    from privet.responses.report import describe_attack

    assert "too few" in describe_attack(found)


def test_public_columns_help_and_one_group_each_is_attacked() -> None:
    values = ["0", "1"]
    questions = [pv.Question(c, values) for c in ("a", "b", "town")]
    groups = [pv.Group("a", pv.KAry("0.6")), pv.Group("b", pv.KAry("0.6"))]
    shown = pv.Group("town", Keep())
    rng = np.random.default_rng(9)
    town = rng.integers(0, 2, 3_000)
    true = pa.table({"a": town, "b": 1 - town, "town": town})
    for one_of in (False, True):
        asked = pv.Design(questions, [*groups, shown], one_of=one_of)
        seen = pv.RandomizedResponse(design=asked, seed=1).transform(true)
        with pv.read(seen) as table:
            found = pv.Collector().attack(pv.Responses(table, asked))
        assert found.records > 0.9  # the town tells it, whatever is disguised
        assert {("a",), ("b",)} == set(found.groups)


# Promises ---------------------------------------------------------------------------


def test_a_promise_is_judged_by_the_upper_figure() -> None:
    asked = design(*[pv.KAry("3/4")] * 2, sizes=(2, 2))
    rng = np.random.default_rng(10)
    true = rng.integers(0, 2, (2_000, 2))
    seen = draw_reports(true, rows_of(asked, true).pieces, rng)
    frame = pa.table({c: seen[:, i] for i, c in enumerate(asked.columns)})
    with pv.read(frame) as table:
        responses = pv.Responses(table, asked)
        found = pv.Collector().attack(responses)
        for limit, safe in ((found.up_to + 0.002, True), (found.up_to - 0.002, False)):
            promise = pv.Promise(pv.Collector(), pv.Ceiling(str(round(limit, 4))))
            audit = pv.audit(responses, promise)
            assert safe == audit.safe
            assert "model" == audit.findings[0].basis
            assert "collector guesses" in audit.findings[0].explain()
        with pytest.raises(pv.InputError, match="Ceiling"):
            pv.audit(responses, pv.Promise(pv.Collector(), pv.Ratio(2)))


def test_a_policy_names_a_collector(tmp_path: Path) -> None:
    text = (
        '[[promise]]\nagainst = "bayesian"\nabout = "q0"\nwithin = 9\n'
        '[[promise]]\nname = "few records"\nagainst = "collector"\nat_most = {}\n'
    )
    asked = design(*[pv.KAry("3/4")] * 2, sizes=(2, 2))
    rng = np.random.default_rng(11)
    rows = pa.table({c: rng.integers(0, 2, 2_000) for c in asked.columns})
    for i, (limit, kept) in enumerate(((0.9, True), (0.2, False))):
        path = tmp_path / f"{i}.toml"
        path.write_text(text.format(limit))
        policy = pv.Policy.load(path)
        out = tmp_path / f"out{i}"
        options = {"custody": tmp_path / f"vault{i}", "policy": policy}
        with pv.read(rows) as table:
            if kept:
                pv.disguise(table, asked, out, **options).close()
                assert pv.verify(out).good
                with pv.load(out).rows as shown:
                    audit = pv.audit(pv.Responses(shown, asked), policy)
                    assert audit.safe
                continue
            with pytest.raises(pv.Infeasible, match="few records"):
                pv.disguise(table, asked, out, **options)
            assert not out.exists()


# Joint flips ------------------------------------------------------------------------


def test_joint_flips_are_recovered_and_nothing_bounds_it() -> None:
    names = [f"q{i}" for i in range(8)]
    questions = [pv.Question(c, ["0", "1"]) for c in names]
    with pytest.warns(pv.PrivacyWarning):
        asked = pv.Design(questions, [pv.Group(names, pv.Flip("0.7"))])
    rng = np.random.default_rng(12)
    true = (rng.random((2_000, 8)) < 0.1).astype(int)
    turned = rng.random(2_000) < 0.3
    seen = np.where(turned[:, None], 1 - true, true)
    found = attack(asked, seen)
    assert found.records > 0.95
    assert 1 == found.up_to
    right = (pv.Collector().guess(asked.groups[0], seen) == true).all(axis=1).mean()
    assert right == pytest.approx(found.records, abs=0.02)
    group = asked.groups[0]
    again = estimate_recovered(group, seen, np.ones(len(seen), dtype=np.int64))
    assert again == pytest.approx(found.records)


def test_sixty_thousand_values_are_attacked_in_time() -> None:
    questions = [pv.Question(c, [str(v) for v in range(250)]) for c in "ab"]
    asked = pv.Design(questions, [pv.Group(["a", "b"], pv.KAry("0.9"))])
    seen = np.random.default_rng(1).integers(0, 250, (2_000, 2))
    start = monotonic()
    found = attack(asked, seen)
    assert 0 <= found.records <= 1
    assert monotonic() - start < 120
