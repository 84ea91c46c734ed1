"""Contingency tables of pairs of columns, added up for several pairs at once.

Each look at millions of rows takes as long for four columns as for two, and a table of
four has six pairs in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from privet.values.arrays import Floats, Ints
from privet.values.contingency import sum_tables

Pair = tuple[str, str]

MOST_CELLS = 2**16
"""Cells of a table that the columns of several pairs share."""


def sum_pairs(
    codes: Mapping[str, Ints], sizes: Mapping[str, int], n: Ints, pairs: Sequence[Pair]
) -> dict[Pair, Floats]:
    """Numbers by two columns at a time, for all pairs that fit a table they share."""
    names = list(codes)
    sets = cover_pairs(pairs, sizes)
    at = [[names.index(c) for c in own] for own in sets]
    tables = sum_tables(list(codes.values()), [sizes[c] for c in names], n, at)
    found: dict[Pair, Floats] = {}
    for own, table in zip(sets, tables, strict=True):
        for a, b in (p for p in pairs if {*p} <= {*own} and p not in found):
            others = tuple(i for i, c in enumerate(own) if c not in (a, b))
            pair = table.sum(axis=others)
            found[a, b] = pair if own.index(a) < own.index(b) else pair.T
    return found


def cover_pairs(
    pairs: Sequence[Pair], sizes: Mapping[str, int], most: int = MOST_CELLS
) -> list[list[str]]:
    """Sets of columns, few of them, that have each pair together in one.

    Pairs of which a table would be too large are left out.

    >>> cover_pairs([("a", "b"), ("b", "c"), ("a", "c")], {"a": 9, "b": 9, "c": 9})
    [['a', 'b', 'c']]
    """
    left = {p: None for p in pairs if sizes[p[0]] * sizes[p[1]] <= most}
    found = []
    while left:
        own = list(next(iter(left)))
        while more := _find_wider(own, left, sizes, most):
            own.append(more)
        found.append(own)
        left = {p: None for p in left if not {*p} <= {*own}}
    return found


def _find_wider(
    own: Sequence[str], left: Mapping[Pair, None], sizes: Mapping[str, int], most: int
) -> str:
    """The column that has most pairs with some others; empty: none fits, or has any."""
    room = most // prod(sizes[c] for c in own)
    gain: dict[str, int] = {}
    for pair in left:
        new = [c for c in pair if c not in own]
        if len(new) == 1 and sizes[new[0]] <= room:
            gain[new[0]] = gain.get(new[0], 0) + 1
    return max(gain, key=lambda c: gain[c], default="")
