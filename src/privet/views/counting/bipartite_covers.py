"""Possible and interesting worlds of two views: covers of a complete 2-partite graph.

The connectivity graph of one key of the join has m nodes for people and n for
properties. A table that gives both views is a cover: a set of edges that leaves no node
bare (Lemmas 5.1 and 5.3). Counted exactly, in one sum where Lemma 5.2 has two; beyond
the paper also blocks of nodes, forbidden edges, duplicates, and stars of several views.
Wang, Lakshmanan 2006, sections 5 and 6; corrected as documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, prod

from privet.errors import TooLarge

MOST_TERMS = 200_000
"""Terms of a sum over several sizes; more would take minutes."""

MOST_BITS = 500_000_000
"""Terms of such a sum times the digits of the longest; more would take minutes, too."""

MOST_ROWS = 16
"""Rows of one person whose subsets are listed."""

MOST_PAIRS = 2_000
"""Pairs of tuples of a key in which some are forbidden one by one."""


@lru_cache(maxsize=100_000)
def upw(m: int, n: int) -> int:
    """Unrestricted possible worlds (Lemma 5.2): edge sets that cover all nodes.

    >>> upw(3, 3), upw(2, 2), upw(1, 9), upw(0, 0), upw(3, 0)
    (265, 7, 1, 1, 0)
    """
    few, many = sorted((m, n))
    # Each of the many takes a set, not empty, of i of the few: 2 x 2 is 3**2 - 2 * 1.
    return sum(
        (-1) ** (few - i) * comb(few, i) * ((1 << i) - 1) ** many
        for i in range(few + 1)
    )


@lru_cache(maxsize=100_000)
def uiw(m: int, n: int) -> int:
    """Unrestricted interesting worlds (Lemma 5.2): covers that hold a given edge.

    >>> uiw(3, 3), uiw(2, 2), uiw(1, 9)
    (161, 5, 1)
    """
    # Covers without the edge are those with it in which nothing needs it. So UIW is
    # half of UPW and of those where it is needed: 2 x 2 is (7 + 1 + 1 + 1) / 2 = 5.
    return (upw(m, n) + upw(m - 1, n) + upw(m, n - 1) + upw(m - 1, n - 1)) // 2


def riw(m: int, n: int) -> int:
    """Restricted interesting worlds (Lemma 5.4): a person has one given property."""
    return upw(m - 1, n) + upw(m - 1, n - 1)


def rpw(m: int, n: int) -> int:
    """Restricted possible worlds (Lemma 5.4): a given person has one property.

    >>> rpw(2, 2), rpw(1, 2)
    (4, 0)
    """
    return n * riw(m, n)


def fpw(m: int, n: int) -> int:
    """Functional possible worlds: every person has one property, and each occurs."""
    # Maps of m people onto n values: 3 onto 2 are 2**3 - 2 * 1**3 = 6.
    return sum((-1) ** (n - k) * comb(n, k) * k**m for k in range(n + 1))


def rho(m: int, n: int) -> Fraction:
    """The unrestricted breach probability UIW/UPW of one association.

    >>> rho(2, 2), rho(2, 3), rho(3, 3)
    (Fraction(5, 7), Fraction(17, 25), Fraction(161, 265))
    """
    return Fraction(uiw(m, n), upw(m, n))


def count_covers_avoiding(m: int, n: int, s: int, t: int) -> int:
    """Covers without an edge between s given people nodes and t property nodes.

    >>> count_covers_avoiding(2, 2, 1, 1) == upw(2, 2) - uiw(2, 2)
    True
    """
    # i of the given people and k of the others are used; t columns meet only the k.
    return sum(
        (-1) ** (m - i - k)
        * comb(s, i)
        * comb(m - s, k)
        * ((1 << k) - 1) ** t
        * ((1 << (i + k)) - 1) ** (n - t)
        for i in range(s + 1)
        for k in range(m - s + 1)
    )


def count_covers_avoiding_edges(m: int, n: int, forbidden: Sequence[int]) -> int:
    """Covers without some edges: a bit mask of forbidden people nodes per column.

    Only the people nodes that occur in a mask are listed; the others go by binomials.
    """
    rows = max((mask.bit_length() for mask in forbidden), default=0)
    if rows > MOST_ROWS or m * n > MOST_PAIRS:
        raise TooLarge(
            f"At most {MOST_ROWS} rows of one person, in keys of at most {MOST_PAIRS} "
            "pairs of tuples, are compared with a condition over both views; there "
            f"are {rows} rows in {m} x {n}."
        )
    free = n - len(forbidden)
    # `some` of the listed people and k others are used; a column meets those of them
    # that its mask allows. 2 x 2 with one edge forbidden: 3 * 1 - 1 * 1 = 7 - 5.
    return sum(
        (-1) ** (m - some.bit_count() - k)
        * comb(m - rows, k)
        * ((1 << (some.bit_count() + k)) - 1) ** free
        * prod((1 << ((some & ~mask).bit_count() + k)) - 1 for mask in forbidden)
        for some in range(1 << rows)
        for k in range(m - rows + 1)
    )


def count_covers_with_one_value(m: int, n: int, s: int, t: int) -> int:
    """Covers in which the s nodes of a person meet only the t nodes of one property.

    >>> count_covers_with_one_value(3, 3, 1, 1) == riw(3, 3)
    True
    """
    return sum(
        (-1) ** (n - j - k)
        * comb(t, j)
        * comb(n - t, k)
        * ((1 << j) - 1) ** s
        * ((1 << (j + k)) - 1) ** (m - s)
        for j in range(t + 1)
        for k in range(n - t + 1)
    )


def bag(rows: int, having: int, own: int) -> Fraction:
    """Views with duplicates, rows matched at random within a key.

    The chance that one of a person's rows of the key meets the property.

    >>> bag(3, 1, 1), bag(4, 2, 2)
    (Fraction(1, 3), Fraction(5, 6))
    """
    return 1 - Fraction(comb(rows - having, own), comb(rows, own))


def weighted_rho(m: int, n: int, weight: Fraction) -> Fraction:
    """The share of the worlds with an edge, where each edge counts `weight` times.

    >>> weighted_rho(3, 3, Fraction(1))
    Fraction(161, 265)
    """
    around = sum(
        _count_weighted_covers(a, b, weight) for a in (m, m - 1) for b in (n, n - 1)
    )
    return weight / (1 + weight) * around / _count_weighted_covers(m, n, weight)


def _count_weighted_covers(m: int, n: int, weight: Fraction) -> Fraction:
    # (1 + w)**i - 1 weighs all sets, not empty, of i edges; w = 1 gives `upw`.
    few, many = sorted((m, n))
    return sum(
        (
            (-1) ** (few - i) * comb(few, i) * ((1 + weight) ** i - 1) ** many
            for i in range(few + 1)
        ),
        Fraction(0),
    )


# Stars: a key with several views, all of whose tuples are told apart ----------------


def star_upw(sizes: Sequence[int]) -> int:
    """Sets of tuples that use every value of every coordinate."""
    *outer, last = sorted(sizes)  # the largest costs one power instead of a sum
    _refuse_long(outer, prod(sizes))
    return sum(
        sign * ((1 << prod(chosen)) - 1) ** last
        for sign, chosen in _list_choices(outer)
    )


def star_rho(sizes: Sequence[int]) -> Fraction:
    """The share of those in which the first two coordinates meet in given values.

    >>> star_rho([2, 2, 2]), star_rho([2, 2, 3]), star_rho([2, 2, 2, 2])
    (Fraction(161, 193), Fraction(2981, 3271), Fraction(60311, 63775))
    """
    first, second, *others = sizes
    *inner, last = sorted(others) or [1]
    outer = [first - 1, second - 1, *inner]
    _refuse_long(outer, prod(sizes))
    without = 0
    # Each given value used or not, but no tuple with both: 32 of 193 for (2, 2, 2).
    for left in (0, 1):
        for right in (0, 1):
            sign = (-1) ** (left + right)
            for ways, (i, j, *rest) in _list_choices(outer):
                pairs = (i + left) * (j + right) - left * right
                # Any tuples, but some for each value of the last coordinate.
                without += sign * ways * ((1 << (pairs * prod(rest))) - 1) ** last
    return 1 - Fraction(without, star_upw(sizes))


def _refuse_long(sizes: Sequence[int], digits: int) -> None:
    """Refuse a sum whose numbers are too long to be added."""
    if prod(n + 1 for n in sizes) * digits > MOST_BITS:
        raise TooLarge(
            f"Views of one key ask for sums of {prod(n + 1 for n in sizes):,} numbers "
            f"with {digits:,} binary digits; they are too long to be added."
        )


def _list_choices(sizes: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    """Every choice of some values of each coordinate, by size, with its sign."""
    if prod(n + 1 for n in sizes) > MOST_TERMS:
        raise TooLarge(
            f"Views of one key with {', '.join(map(str, sizes))} tuples ask for "
            f"{prod(n + 1 for n in sizes)} terms; at most {MOST_TERMS} are added."
        )
    found: list[tuple[int, tuple[int, ...]]] = [(1, ())]
    for n in sizes:
        found = [
            (sign * (-1) ** (n - i) * comb(n, i), (*chosen, i))
            for sign, chosen in found
            for i in range(n + 1)
        ]
    return found
