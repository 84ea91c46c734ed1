"""Channels, estimators and covariances equal enumeration of every disguise."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from oracle import responses as slow
from oracle.designs import designs
from privet.responses.audit import bound_odds
from privet.responses.channel_inverse import (
    apply_channel,
    apply_transpose,
    covariance,
    invert_channel,
    maximise_by_em,
    maximise_k_ary,
    maximise_likelihood,
    project_to_simplex,
    variance,
    weigh_reports,
)
from privet.responses.estimate import estimate_share


def records(design: pv.Design) -> list[slow.Record]:
    return list(product(*(range(len(q)) for q in design.questions)))


def counted(design: pv.Design, pieces: tuple, rows: list[slow.Record]) -> np.ndarray:
    """Counts of reports over the columns of pieces, as fractions."""
    columns = [c for p in pieces for c in p.columns]
    at = [design.columns.index(c) for c in columns]
    counts = np.zeros([len(design.question(c)) for c in columns], dtype=int)
    for r in rows:
        counts[tuple(r[i] for i in at)] += 1
    exact = np.vectorize(Fraction, otypes=[object])(counts)
    return exact.reshape([p.size for p in pieces])


@settings(max_examples=40)
@given(designs(), st.data())
def test_growth_is_the_worst_quotient(design: pv.Design, data: st.DataObject) -> None:
    assert slow.growth(design) == design.growth()


@settings(max_examples=25)
@given(designs(), st.data())
def test_estimates_are_unbiased(design: pv.Design, data: st.DataObject) -> None:
    """The mean over every disguise of a table is the table's own share, exactly."""
    rows = data.draw(st.lists(st.sampled_from(records(design)), min_size=1, max_size=2))
    some = data.draw(st.sets(st.sampled_from(design.columns), min_size=1))
    pieces = design.pieces([c for c in design.columns if c in some])
    truth = counted(design, pieces, rows)
    mean = sum(
        p * invert_channel(pieces, counted(design, pieces, seen))
        for seen, p in slow.disguises(design, rows)
    )
    assert (truth == mean).all()


@settings(max_examples=12)
@given(designs(2), st.data())
def test_the_covariance_of_a_fixed_table(
    design: pv.Design, data: st.DataObject
) -> None:
    """Disguise only: the stated matrix equals the covariance over every disguise."""
    rows = data.draw(st.lists(st.sampled_from(records(design)), min_size=2, max_size=2))
    pieces = design.pieces(design.columns)
    n = len(rows)
    truth = counted(design, pieces, rows).ravel() / n
    found, stated = 0 * np.outer(truth, truth), 0 * np.outer(truth, truth)
    for seen, p in slow.disguises(design, rows):
        shares = counted(design, pieces, seen) / n
        apart = invert_channel(pieces, shares).ravel() - truth
        found = found + p * np.outer(apart, apart)
        stated = stated + p * covariance(pieces, shares, n, disguise_only=True)
    assert (found == stated).all()


@settings(max_examples=15)
@given(designs(1), st.data())
def test_the_covariance_of_a_sample(design: pv.Design, data: st.DataObject) -> None:
    """Sampling and disguise: with n - 1 the stated matrix is right on average."""
    people = records(design)
    wide = st.lists(st.integers(0, 3), min_size=len(people), max_size=len(people))
    parts = data.draw(wide.filter(any))
    shares = {r: Fraction(w, sum(parts)) for r, w in zip(people, parts, strict=True)}
    pieces = design.pieces(design.columns)
    reported: dict[slow.Record, Fraction] = {}
    for r, p in shares.items():
        for seen, q in slow.reports(design, r).items():
            reported[seen] = reported.get(seen, Fraction(0)) + p * q
    n = 3
    truth = np.array([shares[r] for r in people], dtype=object)
    found, stated, each = 0, 0, 0
    event = np.array([1] + [0] * (len(people) - 1)).astype(object)
    for rows, p in slow.tables(reported, n):
        f = counted(design, pieces, rows) / n
        apart = invert_channel(pieces, f).ravel() - truth
        found = found + p * np.outer(apart, apart)
        stated = stated + p * covariance(pieces, f, n)
        weight = weigh_reports(pieces, event.reshape(f.shape))
        each += p * variance(f, weight, n)
    assert (found == stated).all()
    assert found[0][0] == each


@settings(max_examples=40)
@given(designs(2), st.data())
def test_posteriors_follow_bayes(design: pv.Design, data: st.DataObject) -> None:
    """The worst posterior about a value, over every report and every known record."""
    column = data.draw(st.sampled_from(design.columns))
    i = design.columns.index(column)
    value = data.draw(st.integers(0, len(design.question(column)) - 1))
    worst = Fraction(0)
    others = [range(len(q)) for j, q in enumerate(design.questions) if j != i]
    size = len(design.question(column))
    for known in product(*others):
        prior = {(*known[:i], v, *known[i:]): Fraction(1, size) for v in range(size)}
        for seen in records(design):
            found = slow.posterior(design, prior, seen)
            worst = max([worst, *(p for x, p in found.items() if x[i] == value)])
    label = design.question(column).values[value]
    belief = pv.belief(design, pv.Bayesian(unrelated=True), about={column: label})
    assert worst == belief.posterior
    assert Fraction(1, size) == belief.prior


@settings(max_examples=25)
@given(designs(2), st.data())
def test_posteriors_without_knowledge(design: pv.Design, data: st.DataObject) -> None:
    """Knowing nothing else, all answers equally likely: never beyond what is stated."""
    column = data.draw(st.sampled_from(design.columns))
    i = design.columns.index(column)
    seen = data.draw(st.sampled_from(records(design)))
    everything = records(design)
    prior = {r: Fraction(1, len(everything)) for r in everything}
    found = slow.posterior(design, prior, seen)
    if not found:
        return
    sees = {q.name: q.values[v] for q, v in zip(design.questions, seen, strict=True)}
    for value, label in enumerate(design.question(column).values):
        expected = sum(p for x, p in found.items() if x[i] == value)
        against = pv.Bayesian(knows=[], sees=sees)
        assert expected <= pv.belief(design, against, {column: label}).posterior


@settings(max_examples=25)
@given(designs(2), st.data())
def test_the_reach_of_any_prior(design: pv.Design, data: st.DataObject) -> None:
    """Odds grow most between the two records that a report tells apart best."""
    column = data.draw(st.sampled_from(design.columns))
    if column in design.public or design.public:
        return
    i = design.columns.index(column)
    value = data.draw(st.integers(0, len(design.question(column)) - 1))
    with_, without = (
        [slow.reports(design, r) for r in records(design) if (r[i] == value) is same]
        for same in (True, False)
    )

    def most(ours: list[slow.Outcomes], theirs: list[slow.Outcomes]) -> Fraction | None:
        quotients = [
            None if y not in other else p / other[y]
            for one in ours
            for y, p in one.items()
            for other in theirs
        ]
        return None if None in quotients else max([Fraction(1), *quotients])

    assert (most(with_, without), most(without, with_)) == bound_odds(
        design, column, value
    )


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=6).filter(any),
    st.integers(0, 20),
)
def test_the_closed_form_has_the_largest_likelihood(
    counts: list[int], twentieths: int
) -> None:
    """For k-ary channels: equal to the iteration, which has its own stopping rule."""
    k, p = len(counts), Fraction(twentieths, 20)
    channel = pv.KAry(p)
    if channel.refusal(k):
        return
    question = pv.Question("q", [str(i) for i in range(k)])
    pieces = pv.Design([question], [pv.Group("q", channel)]).pieces(["q"])
    exact = np.array([Fraction(c) for c in counts], dtype=object)
    closed = maximise_k_ary(exact, p, channel.other(k))
    assert 1 == sum(closed)
    assert min(closed) >= 0
    seen = pieces[0].channel.matrix(k)
    lam = [sum(seen[y][x] * closed[x] for x in range(k)) for y in range(k)]
    shares = np.array(counts) / sum(counts)
    gains = [
        sum(
            Fraction(counts[y], sum(counts)) * seen[y][x] / lam[y]
            for y in range(k)
            if counts[y]
        )
        for x in range(k)
    ]
    assert max(gains) <= 1  # the optimality condition, as fractions
    if 0 < p < 1:
        again = maximise_by_em(pieces, shares)
        assert np.allclose(
            _log_likelihood(shares, seen, closed), _log_likelihood(shares, seen, again)
        )


def _log_likelihood(shares: np.ndarray, seen: object, pi: object) -> float:
    lam = np.array(seen, dtype=float) @ np.array(pi, dtype=float)
    some = shares > 0
    return float((shares[some] * np.log(lam[some])).sum())


@settings(max_examples=25)
@given(st.lists(st.integers(0, 20), min_size=6, max_size=6).filter(any))
def test_any_channel_reaches_the_optimum(counts: list[int]) -> None:
    questions = [pv.Question("a", ["0", "1"]), pv.Question("b", ["0", "1", "2"])]
    design = pv.Design(
        questions, [pv.Group("a", pv.Flip(0.7)), pv.Group("b", pv.KAry(0.6))]
    )
    pieces = design.pieces(["a", "b"])
    tensor = np.array(counts).reshape(2, 3)
    found = maximise_likelihood(pieces, tensor)
    assert found.min() >= 0
    assert 1 == pytest.approx(found.sum())
    plain = invert_channel(pieces, tensor / tensor.sum())
    if plain.min() >= 0:
        assert np.allclose(plain, found)
    matrix = np.kron(
        np.array(pieces[0].channel.matrix(2), dtype=float),
        np.array(pieces[1].channel.matrix(3), dtype=float),
    )
    lam = matrix @ found.ravel()
    gain = matrix.T @ ((tensor.ravel() / tensor.sum()) / lam)
    assert gain.max() <= 1 + 1e-7


@given(st.lists(st.floats(-1, 2), min_size=2, max_size=5))
def test_projections_are_the_nearest_shares(values: list[float]) -> None:
    found = project_to_simplex(np.array(values))
    assert found.min() >= 0
    assert 1 == pytest.approx(found.sum())
    rng = np.random.default_rng(0)
    others = rng.dirichlet(np.ones(len(values)), size=200)
    mine = ((found - values) ** 2).sum()
    assert (((others - values) ** 2).sum(axis=1) >= mine - 1e-9).all()


def test_a_single_answer() -> None:
    design = pv.Design([pv.Question("a", ["0", "1"])], [pv.Group("a", pv.Flip(0.8))])
    pieces = design.pieces(["a"])
    found = estimate_share(
        pieces, np.array([0, 1]), np.array([False, True]), confidence=0.95
    )
    assert 1 == found.value
    assert pytest.approx(0.8 / 0.6) == found.unbiased
    assert float("inf") == found.standard_error


def test_many_cells_are_likeliest_within_the_gap() -> None:
    """900 cells, most of them 0: no direction makes the reports likelier."""
    rng = np.random.default_rng(0)
    questions = [pv.Question(c, [str(v) for v in range(30)]) for c in "ab"]
    design = pv.Design(questions, [pv.Group(c, pv.KAry("0.6")) for c in "ab"])
    pieces = design.pieces("ab")
    true = rng.dirichlet(np.full(900, 0.05)).reshape(30, 30)
    counts = rng.multinomial(20_000, apply_channel(pieces, true).ravel()).reshape(
        30, 30
    )
    found = maximise_likelihood(pieces, counts)
    seen = apply_channel(pieces, found)
    gain = apply_transpose(pieces, counts / counts.sum() / seen)
    assert 1 == pytest.approx(found.sum())
    assert found.min() >= 0
    assert gain.max() - 1 < 2e-9
