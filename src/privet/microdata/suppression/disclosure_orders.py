"""Other orders: what a small table shows if it is disclosed one value at a time.

Sweeps ask of a gain that chance would not give it, and show many values at once. On a
table of a few hundred rows hardly a gain is above chance, and the values that one would
do without go first. So a small table is disclosed again, one value at a time whatever
chance would give, with gains weighted and as the paper has them; the order that tells
most about the class wins. What chance gives to a column of many values is taken off
there, so that a thousand zip codes do not outbid a column of two values.
Wang, Fung, Yu 2007, §4 (Algorithm 4.1), §4.1 (Score).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import log
from typing import Any

import numpy as np

from privet.microdata.suppression.exchange import (
    Worth,
    measure_bits,
    measure_worth,
)
from privet.microdata.suppression.sweeps import SweepOrder, SweepState
from privet.microdata.suppression.top_down_disclosure import (
    TIE,
    SuppressedAttribute,
    Utility,
)
from privet.release.refine import Refinement, Watcher, refine
from privet.values.arrays import Floats, Ints

ROWS = 20_000
"""Cubes of so many rows together are small."""
MOVES = 200
"""How many values are shown one at a time at most; the others are swept …"""
WORK = 1_000_000
"""… and so many rows of cubes are looked at for them."""
PER_VALUE = 30
"""Rows per value below which a column has many values."""


def try_orders(
    state: SweepState,
    found: Refinement[Any],
    *,
    weighted: bool | None,
    watcher: Watcher | None = None,
) -> Refinement[Any]:
    """Take the order that is worth most; the state is then what that one reached."""
    rows = sum(cube.rows for cube in state.start)
    if rows > ROWS:
        return found
    order = SweepOrder(above_chance=False, single=min(MOVES, WORK // max(rows, 1)))
    best = _measure(state)
    for utility in _list_utilities(state.utility, weighted):
        other = state.begin_anew(order, utility)
        refined: Refinement[Any] = refine(other, watcher=watcher)
        if refined.ended != "finished":
            return replace(found, ended="improved")
        worth = _measure(other)
        if _is_better(worth, best):
            best, found = worth, refined
            state.adopt(other)
    return found


def _list_utilities(utility: Utility, weighted: bool | None) -> Iterator[Utility]:
    """How gains are counted: as somebody asked for, or weighted and not."""
    if utility.yours is not None:
        return
    yield utility
    if utility.kind == "information" and weighted is None:
        yield replace(utility, of_everybody=0)


def _measure(state: SweepState) -> Worth:
    bits = state.utility.kind == "information"
    found = measure_worth(state.attributes, bits=False)
    told = sum(map(measure_above_chance, state.attributes)) if bits else 0.0
    return replace(found, bits=told)


def _is_better(one: Worth, other: Worth) -> bool:
    """Whether it tells more about the class; where it tells the same, shows more."""
    near = TIE * max(abs(other.bits), 1.0)
    if abs(one.bits - other.bits) > near:
        return one.bits > other.bits
    return one.cells > other.cells + TIE * max(other.cells, 1.0)


def measure_above_chance(attribute: SuppressedAttribute) -> float:
    """The bits a column tells; of one with many values, less what chance gives."""
    bits = measure_bits(attribute)
    rows, there = attribute.classes.sum(axis=1), attribute.classes.any(axis=1)
    if int(there.sum()) * PER_VALUE <= rows.sum():
        return bits
    _, label = np.unique(attribute.number_labels()[there], return_inverse=True)
    size: Floats = np.bincount(label, weights=rows[there]).astype(np.float64)
    return bits - find_chance(size, attribute.classes.sum(axis=0))


def find_chance(size: Floats, classes: Ints) -> float:
    """The bits that labels of these sizes seem to tell though they tell nothing.

    N people of classes with shares p seem less mixed than all are, on average by about
    (C - 1) / (2 N ln 2) + (sum of 1 / p - 1) / (12 N² ln 2) bits.

    >>> round(find_chance(np.array([4.0] * 500), np.array([1000, 1000])), 3)
    0.203
    """
    share = classes[classes > 0] / classes.sum()
    mixed = float(-(share * np.log2(share)).sum())

    def find_deficit(people: Floats) -> Floats:
        first = (len(share) - 1) / (2 * people * log(2))
        second = ((1 / share).sum() - 1) / (12 * people**2 * log(2))
        return np.asarray(np.minimum(first + second, mixed))

    everybody = size.sum()
    inside = float((size / everybody * find_deficit(size)).sum())
    return inside - float(find_deficit(np.array([everybody]))[0])
