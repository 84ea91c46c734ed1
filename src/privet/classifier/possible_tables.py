"""Posteriors averaged over possible worlds: every table behind NBC-enabling views.

This adversary is the paper's Bob, with a quasi-identifier as background knowledge.
Within a class each column is an independent arrangement of its values, so the number of
rows that look like the victim is the size of an intersection of independent random sets
of rows. Its distribution follows from a chain of hypergeometric steps, in integers.
Mozafari, Zaniolo 2009, section 4, equation (4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import comb, gcd, lcm, prod
from typing import Protocol

import numpy as np

from privet.classifier.scores import Known, Scores

MOST_STEPS = 2_000_000
"""Products of large integers that one exact posterior may take."""


NEARLY = 1 + Fraction(1, 10**9)
"""Victims come in the order of floats, which may be wrong by less than this."""


class WholeCounts(Protocol):
    """NBC-enabling views with whole counts."""

    @property
    def sizes(self) -> Sequence[int]:
        """Rows per class."""

    @property
    def cells(self) -> Sequence[Sequence[Sequence[int]]]:
        """Rows per attribute, value and class."""


def count_matches(size: int, counts: Sequence[int]) -> list[int]:
    """In how many arrangements so many rows of a class look like the victim.

    >>> count_matches(5, [4, 4])  # of 5 * 5 ways: 4 rows alike in 5, 3 rows in 20
    [0, 0, 0, 20, 5]
    """
    first, *rest = counts or [size]
    # ways[h]: arrangements of the columns so far in which h rows fit them all.
    ways = [0] * first + [comb(size, first)]
    for n in rest:
        most = min(len(ways) - 1, n)
        new = [0] * (most + 1)
        for h, w in enumerate(ways):
            if w:
                for k in range(max(0, n - size + h), min(h, n) + 1):
                    # Of the n rows with the value k are among the h, the rest not.
                    new[k] += w * comb(h, k) * comb(size - h, n - k)
        ways = new
    return ways


def posterior_worlds(views: WholeCounts, known: Known) -> tuple[Fraction, ...] | None:
    """The posterior of each class over all possible worlds, exactly; None: nobody fits.

    E[M_c/M | M >= 1] with M_c rows of class c that fit and M their sum: the integral
    over z from 0 to 1 of G_c'(z) prod G_d(z), all terms of one sign.
    """
    ways = [  # by class: arrangements with k rows that fit, the coefficients of G_c
        _shortened(count_matches(p, [views.cells[i][t][c] for i, t in known.items()]))
        for c, p in enumerate(views.sizes)
    ]
    # Figure 1: 1 + z and 4 z**3 + z**4, ten tables together. For the second class
    # (12 z**2 + 4 z**3)(1 + z) has the integral 12/3 + 16/4 + 4/5 = 8.8: 22/25.
    everybody = _product(ways)
    whole = sum(everybody) - prod(w[0] for w in ways)
    if not whole:
        return None
    # The integral of z**k is 1/(k + 1): whole numbers in units of 1/scale.
    scale = lcm(*range(1, len(everybody) + 1))
    parts = [scale // (k + 1) for k in range(len(everybody))]
    found = []
    for own in ways:
        slope = [k * w for k, w in enumerate(own)][1:]
        terms = _multiply(slope, _divide(everybody, own))
        integral = sum(x * part for x, part in zip(terms, parts, strict=False))
        found.append(Fraction(integral, scale * whole))
    return tuple(found)


def _shortened(ways: list[int]) -> list[int]:
    """The same proportions in smaller integers."""
    common = gcd(*ways)
    return [w // common for w in ways]


@dataclass(frozen=True, eq=False)
class AveragedPosteriors:
    """Counts, and posteriors over their worlds: each victim is looked at once."""

    sizes: Sequence[int]
    """Rows per class."""
    cells: Sequence[Sequence[Sequence[int]]]
    """Rows per attribute, value and class."""
    found: dict[tuple[tuple[int, int], ...], tuple[Fraction, ...] | None] = field(
        default_factory=dict, repr=False
    )
    """The posterior of each victim so far."""

    @classmethod
    def of(
        cls, views: WholeCounts, kept: Sequence[int] | None = None
    ) -> AveragedPosteriors:
        """The counts of some attributes; None: of all."""
        cells = views.cells if kept is None else [views.cells[i] for i in kept]
        return views if isinstance(views, cls) else cls(views.sizes, cells)

    def posterior(self, known: Known) -> tuple[Fraction, ...] | None:
        """See `posterior_worlds`."""
        victim = tuple(sorted(known.items()))
        if victim not in self.found:
            self.found[victim] = posterior_worlds(self, known)
        return self.found[victim]


def estimate_steps(views: WholeCounts, known: Known) -> int:
    """How many products an exact posterior would take, about."""
    least = [
        min([p, *(views.cells[i][t][c] for i, t in known.items())])
        for c, p in enumerate(views.sizes)
    ]
    chain = len(known) * sum(m * m for m in least)
    # Large integers: a product costs as much more as they are long.
    return (chain + sum(least) ** 2) * (1 + sum(views.sizes) // 500)


def _product(polynomials: Sequence[list[int]]) -> list[int]:
    found = [1]
    for p in polynomials:
        found = _multiply(found, p)
    return found


def _multiply(a: list[int], b: list[int]) -> list[int]:
    found = [0] * max(len(a) + len(b) - 1, 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                found[i + j] += x * y
    return found


def _divide(product: list[int], by: list[int]) -> list[int]:
    """What a product is of, besides one factor; its lowest terms tell.

    >>> _divide(_multiply([0, 2, 3], [5, 7]), [0, 2, 3])
    [5, 7]
    """
    low = next(i for i, x in enumerate(by) if x)
    first, *rest = by[low:]
    found: list[int] = []
    for whole in product[low : len(product) - len(rest)]:
        # found[m] * first + found[m - 1] * rest[0] + … is the product's term, and the
        # division leaves no rest: the product was made with this factor.
        known = zip(rest, reversed(found), strict=False)
        found.append((whole - sum(a * b for a, b in known)) // first)
    return found


def factor_bound(scores: Scores, known: Known) -> Fraction:
    """How far the odds of the two adversaries may be apart: never more than 2.

    With m the expected number of rows that fit, also 1 + 3(1 + m)/m^2, where many fit,
    and 1 + m, where hardly any does. The weights must be the sizes of the classes.
    """
    mean = sum(scores.normalised.of(known))
    if not mean:
        return Fraction(2)
    return min(Fraction(2), 1 + mean, 1 + 3 * (1 + mean) / (mean * mean))


# The worst case over everything that may be known -----------------------------------


@dataclass(frozen=True)
class WorstOdds:
    """The highest odds of one class against another, or an interval for them."""

    least: Fraction
    """`known` has at least these; the worst there is if `most` is the same."""
    most: Fraction | None
    """Proved never to be passed; None: infinite."""
    known: Mapping[int, int]
    """The victim."""
    classes: tuple[int, int]
    """The class believed, and the one it is held against."""

    @property
    def exact(self) -> bool:
        """Whether the worst case is known exactly."""
        return self.most == self.least


def find_worst_odds(
    views: WholeCounts,
    scores: Scores,
    pair: tuple[int, int],
    *,
    attributes: int | None = None,
    budget: int = 200,
) -> WorstOdds:
    """Search the victims of one pair of classes in the order of the row odds.

    The odds of the averaging adversary are less than twice those, so the search may
    stop as soon as twice the next ones cannot pass the best found.

    Parameters
    ----------
    views, scores
        The counts, and the same as scores whose weights are the sizes of the classes.
    pair
        The class believed and the other one.
    attributes
        How many attributes may be known at most; None: all.
    budget
        How many victims may be looked at; afterwards the answer is an interval.
    """
    told = AveragedPosteriors.of(views)
    least, most, victim = Fraction(0), Fraction(0), dict[int, int]()
    for looked, (row_odds, known) in enumerate(_rank_victims(scores, pair, attributes)):
        if row_odds is None:  # nobody of the other class fits
            return WorstOdds(Fraction(1), None, known, pair)
        if 2 * row_odds * NEARLY <= least:
            break
        if looked >= budget:
            # Of all that are left none has higher row odds than this one.
            most = max(most, 2 * row_odds * NEARLY)
            break
        low, high = _bound_odds(told, scores, pair, row_odds, known)
        most = max(most, high)
        if low > least:
            least, victim = low, known
    return WorstOdds(least, most, victim, pair)


def _bound_odds(
    told: AveragedPosteriors,
    scores: Scores,
    pair: tuple[int, int],
    row_odds: Fraction,
    known: Known,
) -> tuple[Fraction, Fraction]:
    """The odds of one victim; bounds on them where the counts are too large."""
    if estimate_steps(told, known) > MOST_STEPS:
        apart = factor_bound(scores, known)
        return row_odds / apart, row_odds * apart
    found = told.posterior(known)
    assert found is not None  # row odds are finite, so both classes fit
    odds = found[pair[0]] / found[pair[1]]
    return odds, odds


Option = tuple[int | None, Fraction | None, float]
"""A value or None for unknown, its ratio or None for infinite, and its logarithm."""


def _list_options(view: Scores, attribute: int, pair: tuple[int, int]) -> list[Option]:
    """What may be known of one attribute, the most telling first."""
    c, d = pair
    found: list[Option] = [(None, Fraction(1), 0.0)]
    for t, row in enumerate(view.factors[attribute]):
        logs = view.log_factors[attribute][t]
        if row[c] and row[d]:
            found.append((t, row[c] / row[d], float(logs[c] - logs[d])))
        elif row[c]:
            found.append((t, None, np.inf))
    return sorted(found, key=lambda o: -o[2])


def _rank_victims(
    scores: Scores, pair: tuple[int, int], attributes: int | None
) -> Iterator[tuple[Fraction | None, dict[int, int]]]:
    """Victims with their row odds (None: infinite), the highest odds first."""
    view = scores.normalised
    lists = [_list_options(view, i, pair) for i in range(view.attributes)]
    base = view.weights[pair[0]] / view.weights[pair[1]]

    # at[i] is the place of what is known of attribute i, 0 the most telling. A step
    # down any list never raises the odds, so the top of the heap is the next victim:
    # the k best sums of several sorted lists.
    def logs(at: tuple[int, ...]) -> float:
        return -sum(lists[i][k][2] for i, k in enumerate(at))

    start = (0,) * len(lists)
    heap, seen = [(logs(start), start)], {start}
    while heap:
        _, at = heappop(heap)
        chosen = [lists[i][k] for i, k in enumerate(at)]
        known = {i: o[0] for i, o in enumerate(chosen) if o[0] is not None}
        if known and (attributes is None or len(known) <= attributes):
            yield _multiply_odds(base, chosen), known
        for i, k in enumerate(at):
            following = (*at[:i], k + 1, *at[i + 1 :])
            if k + 1 < len(lists[i]) and following not in seen:
                seen.add(following)
                heappush(heap, (logs(following), following))


def _multiply_odds(base: Fraction, chosen: Sequence[Option]) -> Fraction | None:
    ratios = [ratio for _, ratio, _ in chosen]
    if any(r is None for r in ratios):
        return None
    return prod((r for r in ratios if r is not None), start=base)
