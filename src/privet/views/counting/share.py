"""Breach probabilities as shares of worlds, also of too many to count: proved bounds.

With k = min(m, n) the share UIW/UPW is 1/2 and about 2**-k more, so what matters is
that excess. `excess` gives it in floats at once; `enclose_excess` between two integers,
which no machine rounds differently. So m and n may be as large as tables are.
Wang, Lakshmanan 2006, section 6, leave large UPW and UIW as future work.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from privet.values.beliefs import Ceiling
from privet.views.counting import bipartite_covers

RELATIVE_ERROR = 1.2e-14
"""Proved for `excess`; below 5e-16 wherever it was compared with exact integers."""

BITS = 256
"""Binary digits of shares that are enclosed."""

EXACT_BITS = 10_000
"""Worlds are counted exactly while their number has fewer digits than this."""

EXACT_WORK = 20_000_000
"""And while the sum takes no longer than a few hundredths of a second."""


@dataclass(frozen=True)
class Share:
    """A breach probability, a share of worlds: exact, or between two bounds."""

    low: Fraction
    """Not less than this."""
    high: Fraction
    """Not more than this."""
    above: bool = False
    """Whether it is known to be above `low`, not only at it."""
    sampled: bool = False
    """Whether the bounds rest on draws; they hold but for a small chance then."""

    @classmethod
    def of(cls, share: Fraction) -> Share:
        """A share that is known."""
        return cls(share, share)

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.low == self.high

    def is_beyond(self, limit: Ceiling) -> bool | None:
        """Whether a limit is passed; None where the bounds do not tell."""
        level = limit.level
        if self.high < level or (self.high == level and not limit.strict):
            return False
        if self.low > level or (self.low == level and (limit.strict or self.above)):
            return True
        return None


def combine_independent(shares: Iterable[Share]) -> Share:
    """The chance that at least one of independent things is so."""
    given = list(shares)
    if all(share.low is share.high for share in given):  # as `of` makes them
        met = 1 - _chance_to_miss([share.low for share in given])
        found = _rounded(met, met, False)
    else:
        low = _chance_to_miss([share.low for share in given])
        high = _chance_to_miss([share.high for share in given])
        above = any(share.above and share.low < 1 for share in given)
        found = _rounded(1 - low, 1 - high, above)
    sampled = any(share.sampled for share in given)
    return replace(found, sampled=True) if sampled else found


def _chance_to_miss(chances: Iterable[Fraction]) -> Fraction:
    """That none of independent things is so; reduced once, at the end."""
    part, whole = 1, 1
    for chance in chances:
        part *= chance.denominator - chance.numerator
        whole *= chance.denominator
    return Fraction(part, whole)


def _rounded(low: Fraction, high: Fraction, above: bool) -> Share:
    """Bounds with few digits; an exact share stays as it is."""
    if (low is high or low == high) and low.denominator.bit_length() <= EXACT_BITS:
        return Share(low, high)
    scale = 1 << BITS
    down = Fraction(math.floor(low * scale), scale)
    up = Fraction(math.ceil(high * scale), scale)
    return Share(down, up, above or down < low)


# Two views --------------------------------------------------------------------------


@lru_cache(maxsize=100_000)
def key_share(m: int, n: int) -> Share:
    """UIW/UPW: the share of the worlds of an m x n key that hold a given edge."""
    if min(m, n) == 1:
        return Share.of(Fraction(1))
    if m * n <= EXACT_BITS and m * n * min(m, n) <= EXACT_WORK:
        return Share.of(bipartite_covers.rho(m, n))
    low, high = enclose_excess(m, n)
    shift = BITS + min(m, n) + 1  # 2 share - 1 = high / 2**(BITS + k)
    half = 1 << (BITS - 1)
    down = half + (low << BITS >> shift)
    up = half - (-(high << BITS) >> shift)
    # UPW is odd, so no share below 1 is a multiple of 2**-BITS: it is above `down`.
    return Share(Fraction(down, 1 << BITS), Fraction(up, 1 << BITS), True)


def block_share(m: int, n: int, s: int, t: int) -> Share:
    """The share of the worlds with an edge between s and t given nodes."""
    if (s, t) == (1, 1):
        return key_share(m, n)
    if s == m or t == n:
        return Share.of(Fraction(1))
    if m * n <= EXACT_BITS and s * m * m * n <= EXACT_WORK * 10:
        whole = bipartite_covers.upw(m, n)
        return Share.of(
            1 - Fraction(bipartite_covers.count_covers_avoiding(m, n, s, t), whole)
        )
    # Nodes by the edges they have left outside of the block of s x t.
    left = Counter({n - t: s}) + Counter({m - s: t})
    left += Counter({n: m - s}) + Counter({m: n - t})
    return harris_bounds(s * t, union_bound(left))


def edges_share(m: int, n: int, masks: Sequence[int]) -> Share:
    """Bounds on the share of the worlds with one of some edges, which are given as a
    bit mask of people nodes per value node.
    """
    rows = max(mask.bit_length() for mask in masks)
    taken_by = [sum(mask >> a & 1 for mask in masks) for a in range(rows)]
    left = Counter(n - taken for taken in taken_by)
    left += Counter(m - mask.bit_count() for mask in masks)
    left += Counter({n: m - rows}) + Counter({m: n - len(masks)})
    return harris_bounds(sum(taken_by), union_bound(left))


def union_bound(left: Mapping[int, int]) -> Fraction:
    """The sum of 2**-k, rounded up, over view tuples with k join tuples left.

    >>> union_bound({1: 1, 2: 2})
    Fraction(1, 1)
    """
    scale = 1 << BITS
    return Fraction(sum(n * max(scale >> k, 1) for k, n in left.items()), scale)


def harris_bounds(supports: int, delta: Fraction) -> Share:
    """Harris: 1 - 2**-B and more; but not more than 1 - 2**-B (1 - delta)."""
    if not supports:
        return Share.of(Fraction(0))
    low = 1 - Fraction(1, 1 << min(supports, BITS))
    miss = 1 - low if supports < BITS else Fraction(0)
    return Share(low, 1 - miss * max(Fraction(0), 1 - delta))


# In floats --------------------------------------------------------------------------


def _log(j: int) -> float:
    """log(1 - 2**-j)."""
    return math.log1p(-math.ldexp(1.0, -j)) if j < 1074 else 0.0


def _series(m: int, n: int) -> float:
    """The worlds of an m x n key over (2**m - 1)**n; n >= m - 1. Of 3 x 3: 265/343."""
    total = term = 1.0
    for k in range(1, m):
        # C(m, k) ((2**(m - k) - 1) / (2**m - 1))**n, signs alternating
        term *= (m - k + 1) / k
        power = math.exp(n * (_log(m - k) - _log(m)))
        # 2**-(k n) exactly; far below the smallest float the exponent does not matter.
        part = math.ldexp(term * power, -min(k * n, 10**6))
        total += -part if k & 1 else part
        if part < 2.0**-60:
            break
    return total


def excess(m: int, n: int) -> tuple[float, int]:
    """(f, e) such that 2 share - 1 = f * 2**e, within `RELATIVE_ERROR`.

    >>> f, e = excess(3, 3)
    >>> round(f * 2**e, 12) == round(2 * 161 / 265 - 1, 12)
    True
    """
    m, n = min(m, n), max(m, n)
    if m == 1:
        return 1.0, 0
    a = 1.0 / (-math.expm1(-m * math.log(2)) if m < 1074 else 1.0)
    d = _log(m - 1) - _log(m)
    # (UPW(m, n - 1) + UPW(m - 1, n) + UPW(m - 1, n - 1)) / UPW(m, n), times 2**m; of
    # 3 x 3: 8 (25 + 25 + 7)/265
    f = (
        a * _series(m, n - 1)
        + math.ldexp(math.exp(n * d) * _series(m - 1, n), -min(n - m, 2000))
        + math.ldexp(
            math.exp((n - 1) * d) * a * _series(m - 1, n - 1), -min(n - 1, 2000)
        )
    ) / _series(m, n)
    return f, -m


def log2_excess(m: int, n: int) -> float:
    """How far the share is above 1/2: the logarithm of 2 share - 1 to base 2."""
    f, e = excess(m, n)
    return e + math.log2(f)


# Between integers -------------------------------------------------------------------

Bounds = tuple[int, int]
"""Below and above, in units of 2**-BITS."""

ONE = 1 << BITS


def enclose_excess(m: int, n: int) -> Bounds:
    """2**k (2 share - 1) with k = min(m, n) >= 2, in units of 2**-BITS."""
    m, n = min(m, n), max(m, n)
    whole, ratio = _almost_one(m), _divide(_almost_one(m - 1), _almost_one(m))
    parts = [  # the three of `excess`
        _divide(_sum(m, n - 1), whole),
        _shift(_multiply(_power(ratio, n), _sum(m - 1, n)), n - m),
        _shift(
            _divide(_multiply(_power(ratio, n - 1), _sum(m - 1, n - 1)), whole), n - 1
        ),
    ]
    total = (sum(low for low, _ in parts), sum(high for _, high in parts))
    return _divide(total, _sum(m, n))


def _almost_one(j: int) -> Bounds:
    """1 - 2**-j."""
    return (ONE - (ONE >> j),) * 2 if j <= BITS else (ONE - 1, ONE)


def _multiply(a: Bounds, b: Bounds) -> Bounds:
    return a[0] * b[0] >> BITS, -(-(a[1] * b[1]) >> BITS)


def _divide(a: Bounds, b: Bounds) -> Bounds:
    # Outwards: -(-x // y) rounds up.
    return (a[0] << BITS) // b[1], -((-a[1] << BITS) // b[0])


def _shift(a: Bounds, k: int) -> Bounds:
    return a[0] >> k, -(-a[1] >> k)


def _power(base: Bounds, n: int) -> Bounds:
    result: Bounds = (ONE, ONE)
    while n:
        if n & 1:
            result = _multiply(result, base)
        base, n = _multiply(base, base), n >> 1
    return result


@lru_cache(maxsize=10_000)
def _sum(m: int, n: int) -> Bounds:
    """The alternating sum; its partial sums enclose it, since terms decrease."""
    # 3 x 3: 1 - 3 (3/7)**3 + 3 (1/7)**3 = 265/343.
    low = high = ONE
    whole = _almost_one(m)
    for k in range(1, m):
        power = _power(_divide(_almost_one(m - k), whole), n)
        times = math.comb(m, k)
        part = _shift((times * power[0], times * power[1]), k * n)
        # The rest alternates and decreases from here: one unit either way.
        if part[1] <= 1:
            return low - 1, high + 1
        if k & 1:
            part = -part[1], -part[0]
        low, high = low + part[0], high + part[1]
    return low, high
