"""t-closeness: the earth mover's distance of each group's values to everybody's.

Worked out in integers, with equal, ordered and hierarchical ground distances.
Li, Li, Venkatasubramanian 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from weakref import WeakKeyDictionary

import numpy as np

from privet.errors import InputError
from privet.microdata.skyline.closed_forms import Ints
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import fraction

ABSENT = -1
"""Stands for what a value lacks: a place in the order, or an ancestor."""

Ratio = tuple[Ints, Ints]
"""A numerator and a denominator per group."""

Tree = Mapping[str, Sequence[str]]
"""Each value's ancestors, from the nearest to the one that all share."""


def equal_distance(batch: EquivalenceClasses, everybody: Ints) -> Ratio:
    """Earth mover's distance, equal: half the sum of the differences of shares."""
    whole = int(everybody.sum())
    people = batch.total[batch.group]
    share = everybody[batch.value]
    # Values nobody here has differ by all of their share: everybody's less those of
    # values that are here. Only a of a, b (2 each): |8 - 4| - 4 + 8 of 16, so 1/2.
    rows = np.abs(batch.n * whole - share * people) - share * people
    part = np.add.reduceat(rows, batch.start[:-1]) + batch.total * whole
    return part, 2 * batch.total * whole


def ordered_distance(batch: EquivalenceClasses, everybody: Ints) -> Ratio:
    """Ordered distance: the sum of the differences of cumulated shares, in order.

    Between two values of a group its own cumulated share stands still, so that the
    differences are summed by runs: few, however many values there are.
    """
    order = order_codes(batch.about, everybody)
    whole, steps = int(everybody.sum()), max(len(order) - 1, 1)
    place = np.zeros(len(everybody), dtype=np.int64)
    place[order] = np.arange(len(order))
    at, n = _sort_places(batch, place)
    # A run begins with each group, at the lowest value, and with each of its values.
    start = batch.start[:-1] + np.arange(len(batch))
    group = np.insert(batch.group, batch.start[:-1], np.arange(len(batch)))
    low = np.insert(at, batch.start[:-1], 0)
    held = np.cumsum(np.insert(n, batch.start[:-1], 0))
    held -= held[start][group]
    # The last sum is 0, and left out. 3, 4 and 5 of 3 to 11: 3/8, as in the paper.
    high = np.append(low[1:], 0)
    high[np.append(start[1:], len(low)) - 1] = len(order) - 1
    sums = _sum_gaps(held * whole, batch.total[group], low, high, everybody[order])
    return np.add.reduceat(sums, start), batch.total * whole * steps


def _sort_places(batch: EquivalenceClasses, place: Ints) -> tuple[Ints, Ints]:
    """The places of the values of each group, lowest first; and their people."""
    at = place[batch.value]
    rows = np.lexsort((at, batch.group))
    return at[rows], batch.n[rows]


def _sum_gaps(own: Ints, people: Ints, low: Ints, high: Ints, counts: Ints) -> Ints:
    """Sums of abs(own - people * cumulated counts) over places from low to high."""
    cumulated = np.cumsum(counts)
    before = np.append(0, np.cumsum(cumulated))
    # Counts 2 1 3 are 2 3 6: own 8 of 2 people is above 2 * 2 and 2 * 3, not 2 * 6.
    turn = np.searchsorted(cumulated, own // people, side="right")
    turn = np.clip(turn, low, np.maximum(low, high))
    above = own * (turn - low) - people * (before[turn] - before[low])
    below = people * (before[high] - before[turn]) - own * (high - turn)
    return np.where(high > low, above + below, 0)


_IN_ORDER: WeakKeyDictionary[Domain, Ints] = WeakKeyDictionary()
"""Of each domain, its codes in order: a search asks many times."""


def order_codes(domain: Domain, everybody: Ints) -> Ints:
    """The codes of the values that occur, lowest first."""
    if domain not in _IN_ORDER:
        _IN_ORDER[domain] = _sort_labels(domain)
    codes = _IN_ORDER[domain]
    found = codes[everybody[codes] > 0]
    if len(found) == np.count_nonzero(everybody):
        return found
    missing = domain.code(None)
    if missing is not None and everybody[missing]:
        raise InputError(
            f"Values of {domain.name!r} must be there to be ordered; some are missing. "
            "Use missing = 'drop', or another distance."
        )
    raise InputError(
        f"Values of {domain.name!r} must be numbers to be ordered; some are NaN. Read "
        "them as missing, or use another distance."
    )


def _sort_labels(domain: Domain) -> Ints:
    """The codes of a domain, lowest first; without missing values and NaN."""
    texts = {c: v for c, v in enumerate(domain.labels) if v is not None}
    codes = [c for c, text in texts.items() if text.lower() != "nan"]
    if domain.kind in ("integer", "number"):
        numbers = {c: _parse_number(texts[c]) for c in codes}
        return np.array(sorted(codes, key=numbers.__getitem__), dtype=np.int64)
    if domain.kind in ("date", "datetime"):
        return np.array(sorted(codes, key=texts.__getitem__), dtype=np.int64)
    raise InputError(
        f"The ordered distance must be for numbers or dates; {domain.name!r} holds "
        f"{domain.kind}. Use the equal or the hierarchical distance."
    )


def _parse_number(text: str) -> Fraction | float:
    """A label as a number; the infinite ones come first and last."""
    return float(text) if "inf" in text.lower() else fraction(text)


def hierarchical_distance(
    batch: EquivalenceClasses, everybody: Ints, tree: Tree
) -> Ratio:
    """Hierarchical distance: what moves under each ancestor, times its height.

    Nothing moves under a node that the group has nobody below.
    """
    levels = _find_parents(batch.about, everybody, tree)
    whole, height = int(everybody.sum()), len(levels)
    group, node, n = batch.group, np.asarray(batch.value, dtype=np.int64), batch.n
    counts, cost = everybody, np.zeros(len(batch), dtype=np.int64)
    for h, parent in enumerate(levels, 1):
        there = parent >= 0
        above = np.zeros(int(parent.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(above, parent[there], counts[there])
        extra = n * whole - counts[node] * batch.total[group]
        key, of = np.unique(group * len(above) + parent[node], return_inverse=True)
        more, people = np.zeros((2, len(key)), dtype=np.int64)
        np.add.at(more, of, np.maximum(extra, 0))
        np.add.at(people, of, n)
        group, node, n, counts = key // len(above), key % len(above), people, above
        # What meets under a node moves there, the rest goes up. Half of a group
        # moved to a sibling, at height 1 of 2: 1/4.
        left = n * whole - counts[node] * batch.total[group]
        np.add.at(cost, group, h * np.minimum(more, more - left))
    return cost, batch.total * whole * height


_PARENTS: WeakKeyDictionary[Domain, list[tuple[Tree, list[Ints]]]]
_PARENTS = WeakKeyDictionary()
"""Of each domain, what hierarchies make of it: a search asks many times."""


def _find_parents(domain: Domain, everybody: Ints, tree: Tree) -> list[Ints]:
    """For each height, the parent of every node below it, numbered."""
    known = _PARENTS.setdefault(domain, [])
    levels = next((levels for given, levels in known if given is tree), None)
    if levels is None:
        levels = list(_iterate_levels(domain, tree))
        known.append((tree, levels))
    there = np.flatnonzero(everybody)
    if wrong := int((levels[0][there] == ABSENT).sum()):
        raise InputError(
            f"hierarchy must have every value of {domain.name!r}; {wrong} of "
            f"{len(there)} have no ancestors in it."
        )
    return levels


def _iterate_levels(domain: Domain, tree: Tree) -> Iterator[Ints]:
    """For each height, the parent of every node below it; a value may have none."""
    paths = {v: tuple(tree[v]) for v in domain.labels if v is not None and v in tree}
    nodes: list[str | None] = list(domain.labels)
    height = max(map(len, paths.values()), default=1)
    for _ in range(height):
        parents = [paths[v][0] if v in paths else None for v in nodes]
        names = list(dict.fromkeys(p for p in parents if p is not None))
        number = {name: i for i, name in enumerate(names)}
        places = [ABSENT if p is None else number[p] for p in parents]
        yield np.array(places, dtype=np.int64)
        paths = {paths[v][0]: paths[v][1:] for v in nodes if v in paths}
        nodes = [*names]
