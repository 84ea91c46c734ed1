"""More than two views: graphs of chains, parts of joins, and draws, by definition."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest

import privet as pv
from oracle import tables
from oracle.test_worlds import CHAIN, CYCLE, LONG, opened, people, small, values
from privet.errors import NoAudit
from privet.findings import Basis, Verdict
from privet.views.counting import chains, elimination, general_join, sampling
from privet.views.counting.chains import ChainGraph

pytestmark = pytest.mark.engines

COLUMNS = {"who": "ABCD", "b": "uv", "c": "xy", "x": "kl", "ill": "fgh"}


def some_rows(rng, most=7):
    return [
        {c: rng.choice(letters) for c, letters in COLUMNS.items()}
        for _ in range(rng.randint(2, most))
    ]


def cases(number, shape, seed):
    rng = random.Random(seed)
    found = []
    while len(found) < number:
        rows = some_rows(rng)
        if small(rows, shape, most=10):
            found.append(rows)
    return found


@pytest.mark.parametrize("model", ["restricted", "functional"])
@pytest.mark.parametrize("shape", [CHAIN, CYCLE, LONG])
def test_one_value_per_person_on_any_views(shape, model):
    compared = 0
    for rows in cases(3, shape, f"{shape} {model}"):
        kept = tables.kept(shape, {"who", "ill"}, full=False)
        met = {(r["who"], r["ill"]) for r in tables.join(rows, kept)}
        views = pv.Views(opened(rows), *shape)
        for i in people(rows):
            for p in values(rows):
                if (i, p) not in met:
                    continue
                truth = tables.share(rows, shape, ("who", i), ("ill", p), model)
                about = {"who": i, "ill": p}
                try:
                    found = pv.belief(views, pv.Reconstructor(model), about).posterior
                except NoAudit:  # the views refute the model
                    assert truth is None, (rows, i, p)
                    continue
                assert truth == found, (rows, i, p)
                compared += 1
    assert compared


# Graphs of chains -------------------------------------------------------------------


def some_graph(rng):
    bs, cs = range(rng.randint(1, 3)), range(rng.randint(1, 3))
    edges = [(b, c) for b in bs for c in cs if rng.random() < 0.8]
    if {b for b, _ in edges} != set(bs) or {c for _, c in edges} != set(cs):
        return some_graph(rng)
    size = lambda: rng.choice([1, 1, 2, 3])  # noqa: E731
    made = chains.split_chain_graphs(
        {b: size() for b in bs}, {c: size() for c in cs}, edges
    )
    return made[0]


def by_listing(graph: ChainGraph, mine, theirs, cells) -> int:
    """The sum over all choices, as the specification writes it."""
    states = graph._list_states(set(mine), set(theirs))
    total = 0
    for choice in product(*states.values()):
        at = dict(zip(states, choice, strict=True))
        term = prod(w for _, _, w in choice)
        for b, c in graph.edges:
            (s, e, _), (r, f, _) = at[0, b], at[1, c]
            term *= 2 ** cells(s, e, r, f) - 1
        total += term
    return total


def test_graphs_with_and_without_cycles_are_summed_key_by_key():
    rng = random.Random(20)
    for _ in range(60):
        graph = some_graph(rng)
        mine = {b for b in graph.people if rng.random() < 0.6}
        theirs = {c for c in graph.values if rng.random() < 0.6}
        assert by_listing(graph, (), (), lambda s, e, r, f: s * r) == graph.whole
        missed = by_listing(graph, mine, theirs, lambda s, e, r, f: s * r - e * f)
        if graph.meets(mine, theirs):
            truth = 1 - Fraction(missed, graph.whole)
            share = graph.share(mine, theirs)
            assert truth == share.low == share.high
            bounds = graph.bound_share(mine, theirs)
            assert bounds.low <= truth <= bounds.high
        only = by_listing(graph, mine, theirs, lambda s, e, r, f: (s - e) * r + e * f)
        assert only == graph.count_restricted(mine, theirs)


def test_a_ring_of_keys_and_a_long_path_are_counted():
    ring = [(b, c % 40) for b in range(40) for c in (b, b + 1)]
    (graph,) = chains.split_chain_graphs(
        dict.fromkeys(range(40), 3), dict.fromkeys(range(40), 3), ring
    )
    share = graph.share({0}, {0})
    assert share.exact
    assert Fraction(1, 2) < share.low < Fraction(52, 100)
    path = [(b, c) for b in range(3000) for c in (b, b + 1) if c < 3000]
    (graph,) = chains.split_chain_graphs(
        dict.fromkeys(range(3000), 2), dict.fromkeys(range(3000), 1), path
    )
    assert graph.share({7}, {7}) == graph.share({8}, {9})


def test_like_two_views_at_any_size():
    (one,) = chains.split_chain_graphs({0: 5}, {0: 30_000, 1: 7}, [(0, 0), (0, 1)])
    assert one.share({0}, {0}).low > Fraction(1, 2)
    thin = chains.split_chain_graphs(
        {0: 1, 1: 1}, {0: 9_000, 1: 3}, [(0, 0), (1, 0), (1, 1)]
    )[0]
    assert one.share({0}, {1}).high < Fraction(517, 1000)
    assert abs(thin.share({0}, {0}).low - Fraction(2, 3)) < Fraction(1, 2**200)


def test_too_much_work_leaves_bounds(monkeypatch):
    monkeypatch.setattr(chains, "MOST_WORK", 0)
    monkeypatch.setattr(elimination, "MOST_STEPS", 0)
    monkeypatch.setattr(general_join, "MOST_LISTED", 0)
    rows = cases(1, CHAIN, "bounds")[0]
    views = pv.Views(opened(rows), *CHAIN)
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.9999"))
    found = pv.audit(views, promise, seed=1).findings[0]
    truth = max(
        tables.share(rows, CHAIN, ("who", i), ("ill", p))
        for i in people(rows)
        for p in values(rows)
    )
    assert found.belief.posterior >= truth


# Draws ------------------------------------------------------------------------------


def some_part(rng, most=10):
    """A random join of a few tuples, in its largest part."""
    while True:
        kept = tables.kept(CYCLE, {"who", "ill"}, full=False)
        rows = some_rows(rng, 6)
        seen = [
            [
                dict(zip(v, (ord(x) for x in t), strict=True))
                for t in sorted(tables.project(rows, v))
            ]
            for v in kept
        ]
        found = general_join.split_join(general_join.join_views(seen), "who", "ill")
        large = [j for near in found.near.values() for j in near]
        if large and 4 <= len(max(large, key=lambda j: len(j.tuples)).tuples) <= most:
            return max(large, key=lambda j: len(j.tuples))


def test_draws_are_tables_all_as_likely():
    rng = random.Random(30)
    for n in range(6):
        part = some_part(rng)
        drawn = sampling.WorldSampler(part.tuples, sampling.make_key(n), draws=1 << 14)
        assert drawn.draw(range(len(part.tuples))) == 0
        seen = np.zeros(drawn.number, dtype=np.uint32)
        for e, bits in enumerate(drawn.surely):
            here = np.frombuffer(bits.to_bytes(drawn.number // 8, "big"), np.uint8)
            seen |= np.unpackbits(here).astype(np.uint32) << np.uint32(e)
        assert set(seen.tolist()) <= set(part.worlds.tolist())
        assert _fits(seen, part.worlds)
        wrong = rng.choice(part.worlds.tolist())  # one table drawn a third too often
        more = np.full(drawn.number // len(part.worlds) // 3 + 40, wrong, np.uint32)
        assert not _fits(np.concatenate([seen, more]), part.worlds)


def _fits(seen, worlds) -> bool:
    """No table is drawn much more often or more rarely than others."""
    number = np.array([(seen == w).sum() for w in worlds])
    wanted = len(seen) / len(worlds)
    return bool((abs(number - wanted) < 4.5 * np.sqrt(wanted) + 5).all())


def test_intervals_hold_the_truth_and_a_wrong_one_would_be_seen():
    rng = random.Random(31)
    missed = 0
    for n in range(20):
        part = some_part(rng, 12)
        drawn = sampling.WorldSampler(part.tuples, sampling.make_key(n), draws=1 << 12)
        drawn.draw(range(len(part.tuples)))
        for pair, at in part.supports.items():
            low, high = drawn.count_held(at).interval(sampling.ERROR)
            truth = part.share(*pair).low
            assert low <= truth <= high
            missed += not low <= truth - Fraction(1, 5) <= high
    assert missed > 20


@pytest.mark.parametrize("draws", [1, 8, 100, 103])
def test_every_draw_gets_its_coins(draws):
    part = some_part(random.Random(5), 12)
    drawn = sampling.WorldSampler(part.tuples, sampling.make_key(1), draws=draws)
    drawn.draw(range(len(part.tuples)))
    assert drawn.number >= draws
    assert drawn.surely == drawn.possibly


def test_doubt_widens_intervals():
    sure, unsure = sampling.Draws(1000, 600, 600), sampling.Draws(1000, 600, 800)
    error = Fraction(1, 1000)
    assert sure.interval(error)[0] == unsure.interval(error)[0]
    assert sure.interval(error)[1] < Fraction(8, 10) < unsure.interval(error)[1]


@pytest.mark.parametrize(("hits", "number"), [(0, 50), (7, 50), (50, 50), (25, 50)])
def test_the_interval_is_wider_than_the_exact_one(hits, number):
    """At its ends, what was seen is rarer than the error by the binomial itself."""
    error = Fraction(1, 100)
    low, high = sampling.Draws(number, hits, hits).interval(error)

    def tail(p, ks):
        return sum(comb(number, k) * p**k * (1 - p) ** (number - k) for k in ks)

    assert tail(low, range(hits, number + 1)) <= error / 2 or low == 0
    assert tail(high, range(hits + 1)) <= error / 2 or high == 1


def large_views(n=5):
    """Four views in a row whose keys make a ring: no sum fits, bounds say little."""
    rows = [
        {"who": f"w{k}{j}", "b": f"b{k}", "c": f"c{c}", "x": f"x{c}", "ill": f"p{c}{v}"}
        for k in range(n)
        for c in (k, (k + 1) % n)
        for j in range(2)
        for v in range(2)
    ]
    return pv.Views(opened(rows), *LONG)


@pytest.fixture
def uncountable(monkeypatch):
    """As if no sum were short enough."""
    monkeypatch.setattr(elimination, "MOST_STEPS", 0)


@pytest.mark.usefixtures("uncountable")
def test_large_view_sets_are_drawn_and_say_so():
    views = large_views()
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"))
    first, again = (pv.audit(views, promise, seed=3).findings[0] for _ in range(2))
    assert first.belief == again.belief
    assert first.verdict is Verdict.SAFE
    assert Fraction(1, 2) < first.at_least < first.belief.posterior < Fraction(6, 10)
    other = pv.audit(views, promise).findings[0]
    for found in (first, other):
        assert found.basis is Basis.SAMPLED
        assert "drawn at random" in found.note
        assert found.at_least <= found.belief.posterior
        assert found.details["draws"] >= sampling.FEW
    assert "seed 3" in first.note
    assert "seed" not in other.note
    assert first.at_least <= other.belief.posterior
    assert other.at_least <= first.belief.posterior


def test_draws_agree_with_what_is_counted(monkeypatch):
    rows = cases(3, CYCLE, "drawn")
    for some in rows:
        views = pv.Views(opened(some), *CYCLE)
        about = {"who": people(some)[0], "ill": values(some)[0]}
        promise = pv.Promise(pv.Reconstructor(), pv.Ceiling(1), about)
        truth = tables.share(some, CYCLE, ("who", about["who"]), ("ill", about["ill"]))
        with monkeypatch.context() as patched:
            patched.setattr(general_join, "MOST_LISTED", 1)
            patched.setattr(elimination, "MOST_STEPS", 0)
            found = pv.audit(views, promise, seed=4).findings[0]
        if found.basis is Basis.SAMPLED:
            assert found.at_least <= truth <= found.belief.posterior
        else:
            assert truth <= found.belief.posterior


@pytest.mark.usefixtures("uncountable")
def test_what_was_only_drawn_is_not_released():
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"))
    with pytest.raises(pv.Infeasible, match="by proof") as caught:
        pv.publish(large_views(), [promise])
    assert Fraction(1, 2) < caught.value.best < Fraction(6, 10)


@pytest.mark.usefixtures("uncountable")
def test_a_limit_inside_the_interval_is_undecided():
    views = large_views()
    first = pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7")), seed=3)
    inside = (first.worst.at_least + first.worst.belief.posterior) / 2
    found = pv.audit(views, pv.Promise(pv.Reconstructor(), pv.Ceiling(inside)), seed=3)
    assert found.verdict is Verdict.UNDECIDED


def test_restricted_draws(monkeypatch):
    rng = random.Random(33)
    compared = 0
    for n in range(12):
        rows = some_rows(rng, 6)
        kept = tables.kept(CYCLE, {"who", "ill"}, full=False)
        seen = [
            [dict(zip(v, t, strict=True)) for t in sorted(tables.project(rows, v))]
            for v in kept
        ]
        found = general_join.GeneralJoin(seen, "who", "ill")
        with monkeypatch.context() as patched:
            patched.setattr(general_join, "MOST_LISTED", 1)
            patched.setattr(elimination, "MOST_STEPS", 0)
            shares, _ = found.draw_restricted(
                found.find_supported(), sampling.make_key(n), lambda: None
            )
        for (i, p), share in shares.items():
            counted, truth = found.restricted(i, p)
            if share is not None and counted and truth is not None:
                assert share.low <= truth <= share.high
                compared += 1
    assert compared > 10


def test_a_seed_is_a_whole_number():
    views = large_views()
    promise = pv.Promise(pv.Reconstructor(), pv.Ceiling("0.7"))
    with pytest.raises(pv.InputError, match="seed"):
        pv.audit(views, promise, seed="x")
