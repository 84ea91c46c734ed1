"""Every closed sum against all edge sets, one by one."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from oracle.tables import covers as listed
from privet.values.beliefs import Ceiling
from privet.views.counting import bipartite_covers, share

SMALL = [(m, n) for m in range(1, 21) for n in range(1, 21) if m * n <= 20]
SMALLER = [(m, n) for m, n in SMALL if m * n <= 12]


def all_covers(m: int, n: int) -> np.ndarray:
    """Bit masks of all covers; edge (a, b) is bit a * n + b."""
    found = np.arange(1 << m * n, dtype=np.uint32)
    rows = [sum(1 << (a * n + b) for b in range(n)) for a in range(m)]
    columns = [sum(1 << (a * n + b) for a in range(m)) for b in range(n)]
    for mask in rows + columns:
        found = found[(found & np.uint32(mask)) != 0]
    return found


@pytest.mark.parametrize(("m", "n"), SMALL)
def test_all_sizes_up_to_twenty_edges(m, n):
    masks = all_covers(m, n)
    row = masks & np.uint32((1 << n) - 1)  # the edges of the first person
    assert len(masks) == bipartite_covers.upw(m, n)
    assert int((masks & 1).sum()) == bipartite_covers.uiw(m, n)
    assert int((row == 1).sum()) == bipartite_covers.riw(m, n)
    one = sum(int((row == 1 << b).sum()) for b in range(n))
    assert one == bipartite_covers.rpw(m, n)


@pytest.mark.parametrize(("m", "n"), SMALLER)
def test_the_fast_listing_is_the_slow_one(m, n):
    assert listed(m, n) == len(all_covers(m, n))


@pytest.mark.parametrize(("m", "n"), SMALLER)
def test_everybody_has_one_value(m, n):
    def functional(edges):
        return len(edges) == len({a for a, _ in edges})

    assert listed(m, n, functional) == bipartite_covers.fpw(m, n)


@pytest.mark.parametrize(("m", "n"), SMALLER)
def test_blocks_of_nodes(m, n):
    masks = all_covers(m, n)
    for s, t in product(range(1, m + 1), range(1, n + 1)):
        block = sum(1 << (a * n + b) for a in range(s) for b in range(t))
        avoided = int(((masks & np.uint32(block)) == 0).sum())
        assert avoided == bipartite_covers.count_covers_avoiding(m, n, s, t)
        assert avoided == bipartite_covers.count_covers_avoiding_edges(
            m, n, [(1 << s) - 1] * t
        )
        others = sum(1 << (a * n + b) for a in range(s) for b in range(t, n))
        only = int(((masks & np.uint32(others)) == 0).sum())
        assert only == bipartite_covers.count_covers_with_one_value(m, n, s, t)
        whole = Fraction(len(masks) - avoided, len(masks))
        assert share.Share.of(whole) == share.block_share(m, n, s, t)


def test_any_edges_of_one_person():
    rng = random.Random(1)
    for _ in range(200):
        m, n = rng.choice(SMALLER)
        masks = all_covers(m, n)
        rows, columns = rng.randint(1, m), rng.randint(1, n)
        forbidden = [rng.randrange(1 << rows) for _ in range(columns)]
        edges = sum(
            1 << (a * n + b)
            for b, mask in enumerate(forbidden)
            for a in range(rows)
            if mask >> a & 1
        )
        avoided = int(((masks & np.uint32(edges)) == 0).sum())
        assert avoided == bipartite_covers.count_covers_avoiding_edges(m, n, forbidden)


@pytest.mark.parametrize(
    "sizes",
    [(2, 2, 2), (2, 2, 3), (1, 2, 3), (2, 3, 2), (3, 2, 2), (2, 1, 4), (2, 2, 2, 2)],
)
def test_stars(sizes):
    cells = list(product(*(range(n) for n in sizes)))
    found = np.arange(1 << len(cells), dtype=np.uint32)
    for k, n in enumerate(sizes):
        for v in range(n):
            mask = sum(1 << j for j, cell in enumerate(cells) if cell[k] == v)
            found = found[(found & np.uint32(mask)) != 0]
    meet = sum(1 << j for j, cell in enumerate(cells) if cell[:2] == (0, 0))
    having = int(((found & np.uint32(meet)) != 0).sum())
    assert len(found) == bipartite_covers.star_upw(sizes)
    assert Fraction(having, len(found)) == bipartite_covers.star_rho(sizes)


def test_weighted_edges():
    for m, n in [(2, 2), (2, 3), (3, 3)]:
        for weight in (Fraction(1), Fraction(1, 2), Fraction(3)):
            whole = part = Fraction(0)
            for mask in all_covers(m, n).tolist():
                w = weight ** mask.bit_count()
                whole += w
                part += w * (mask & 1)
            assert part / whole == bipartite_covers.weighted_rho(m, n, weight)


# Too large to count -----------------------------------------------------------------


def pairs() -> list[tuple[int, int]]:
    """More than a thousand pairs of sizes, small ones and long thin ones."""
    rng = random.Random(2)
    near = [(m, n) for m in range(2, 33) for n in range(2, 33)]
    thin = [(rng.randint(2, 12), rng.randint(30, 400)) for _ in range(150)]
    return near + thin + [(60, 60), (84, 90), (100, 100)]


def test_the_error_bound_holds_against_exact_integers():
    assert len(pairs()) > 1000
    for m, n in pairs():
        truth = 2 * bipartite_covers.rho(m, n) - 1
        f, e = share.excess(m, n)
        error = abs(Fraction(f) * Fraction(2) ** e - truth) / truth
        assert error < Fraction(share.RELATIVE_ERROR), (m, n)


def test_enclosures_enclose_exact_integers_tightly():
    for m, n in pairs():
        truth = (2 * bipartite_covers.rho(m, n) - 1) * 2 ** min(m, n)
        low, high = share.enclose_excess(m, n)
        assert low <= truth * 2**share.BITS <= high, (m, n)
        assert high - low < 2**40, (m, n)


def test_a_wrong_term_would_be_seen():
    """The comparison has power: the neighbour's value fails it by far."""
    truth = 2 * bipartite_covers.rho(12, 13) - 1
    f, e = share.excess(12, 14)
    assert abs(Fraction(f) * Fraction(2) ** e - truth) / truth > share.RELATIVE_ERROR


def test_a_million_by_a_million_takes_less_than_a_millisecond():
    import time

    def seconds(work):
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    calls = [
        lambda: share.excess(10**6, 10**6),
        lambda: share.enclose_excess(10**6, 10**6),
    ]
    for call in calls:
        assert min(seconds(call) for _ in range(5)) < 1e-3
    assert -999_999 == share.log2_excess(10**6, 10**6)
    huge = share.key_share(10**6, 10**6)
    assert huge.low == Fraction(1, 2) < huge.high < Fraction(1, 2) + Fraction(1, 2**200)


def test_shares_at_a_limit_are_decided():
    at_most, below = Ceiling("161/265"), Ceiling(below="161/265")
    assert share.key_share(3, 3).is_beyond(at_most) is False
    assert share.key_share(3, 3).is_beyond(below) is True
    assert share.key_share(10**6, 10**6).is_beyond(Ceiling("1/2")) is True
    assert share.key_share(10**6, 10**6).is_beyond(Ceiling("0.5000001")) is False
    both = share.combine_independent([share.key_share(10**6, 10**6)] * 2)
    assert both.is_beyond(Ceiling("3/4")) is True
    assert both.is_beyond(Ceiling("0.7500001")) is False


def test_large_blocks_are_bounded(monkeypatch):
    for m, n, s, t in [(8, 9, 2, 1), (10, 10, 2, 2), (9, 12, 1, 3)]:
        exact = share.block_share(m, n, s, t)
        assert exact.exact
        with monkeypatch.context() as patched:
            patched.setattr(share, "EXACT_BITS", 0)
            found = share.block_share(m, n, s, t)
        assert found.low <= exact.low <= found.high < found.low + Fraction(1, 10)


def test_any_edges_of_large_keys_are_bounded():
    rng = random.Random(8)
    for _ in range(40):
        m, n, rows = rng.randint(3, 8), rng.randint(3, 8), rng.randint(1, 3)
        masks = [rng.randrange(1, 1 << rows) for _ in range(rng.randint(1, n))]
        found = share.edges_share(m, n, masks)
        truth = 1 - Fraction(
            bipartite_covers.count_covers_avoiding_edges(m, n, masks),
            bipartite_covers.upw(m, n),
        )
        assert found.low <= truth <= found.high
