"""t-closeness: the earth mover's distance of each group's values to everybody's.

Worked out in integers, with equal, ordered and hierarchical ground distances.
Li, Li, Venkatasubramanian 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from privet.errors import InputError
from privet.microdata.skyline.closed_forms import Ints
from privet.microdata.skyline.skyline import Rows
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import fraction

AT_ONCE = 4_000_000
"""Cells of a table of groups by values that is filled at once."""

Ratio = tuple[Ints, Ints]
"""A numerator and a denominator per group."""


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
    """Ordered distance: the sum of the differences of cumulated shares, in order."""
    order = order_codes(batch.about, everybody)
    whole, steps = int(everybody.sum()), max(len(order) - 1, 1)
    parts = []
    for table, total in _fill_tables(batch, order):
        # (groups, values), times people and everybody. The last sum is 0. 3, 4 and 5 of
        # 3 to 11: 3/8, as in the paper.
        gap = table * whole - everybody[order] * total[:, None]
        parts.append(np.abs(np.cumsum(gap, axis=1)[:, :-1]).sum(axis=1))
    return np.concatenate(parts), batch.total * whole * steps


def order_codes(domain: Domain, everybody: Ints) -> Rows:
    """The codes of the values that occur, lowest first."""
    codes = np.flatnonzero(everybody)
    labels = [domain[int(code)] for code in codes]
    if None in labels:
        raise InputError(
            f"Values of {domain.name!r} must be there to be ordered; some are missing. "
            "Use missing = 'drop', or another distance."
        )
    texts = [str(label) for label in labels]
    if domain.kind in ("integer", "number"):
        numbers = [_parse_number(text, domain.name) for text in texts]
        return codes[sorted(range(len(texts)), key=numbers.__getitem__)]
    if domain.kind in ("date", "datetime"):
        return codes[sorted(range(len(texts)), key=texts.__getitem__)]
    raise InputError(
        f"The ordered distance must be for numbers or dates; {domain.name!r} holds "
        f"{domain.kind}. Use the equal or the hierarchical distance."
    )


def _parse_number(text: str, column: str) -> Fraction | float:
    """A label as a number; the infinite ones come first and last."""
    if "inf" in text.lower():
        return float(text)
    if text.lower() == "nan":
        raise InputError(
            f"Values of {column!r} must be numbers to be ordered; some are NaN. Read "
            "them as missing, or use another distance."
        )
    return fraction(text)


def hierarchical_distance(
    batch: EquivalenceClasses, everybody: Ints, tree: Mapping[str, Sequence[str]]
) -> Ratio:
    """Hierarchical distance: what moves under each ancestor, times its height."""
    order = np.flatnonzero(everybody)
    levels = list(_iterate_levels(batch.about, order, tree))
    whole, height = int(everybody.sum()), len(levels)
    parts = []
    for table, total in _fill_tables(batch, order):
        # (nodes, groups)
        extra = (table * whole - everybody[order] * total[:, None]).T
        cost = np.zeros(len(total), dtype=np.int64)
        for h, parent in enumerate(levels, 1):
            above = np.zeros((int(parent.max()) + 1, len(total)), dtype=np.int64)
            below = np.zeros_like(above)
            np.add.at(above, parent, np.maximum(extra, 0))
            np.add.at(below, parent, np.maximum(-extra, 0))
            # What meets under a node moves there, the rest goes up. Half of a group
            # moved to a sibling, at height 1 of 2: 1/4.
            cost += h * np.minimum(above, below).sum(axis=0)
            extra = above - below
        parts.append(cost)
    return np.concatenate(parts), batch.total * whole * height


def _iterate_levels(
    domain: Domain, order: Rows, tree: Mapping[str, Sequence[str]]
) -> Iterator[Rows]:
    """For each height, the parent of every node below it, numbered."""
    labels = [domain[int(code)] for code in order]
    if wrong := sum(label not in tree for label in labels):
        raise InputError(
            f"hierarchy must have every value of {domain.name!r}; {wrong} of "
            f"{len(labels)} have no ancestors in it."
        )
    nodes: list[str] = [str(label) for label in labels]
    above = {node: tuple(tree[node]) for node in nodes}
    height = len(above[nodes[0]])
    for h in range(height):
        parents = {node: above[node][0] for node in nodes}
        names = list(dict.fromkeys(parents.values()))
        yield np.array([names.index(parents[node]) for node in nodes])
        above = {parents[node]: above[node][1:] for node in nodes}
        nodes = names
        if h + 1 < height and not all(above[n] for n in nodes):
            return


def _fill_tables(batch: EquivalenceClasses, order: Rows) -> Iterator[tuple[Ints, Ints]]:
    """Groups by values as tables, a part of the groups at a time."""
    column = np.zeros(int(order.max(initial=0)) + 1, dtype=np.intp)
    column[order] = np.arange(len(order))
    step = max(AT_ONCE // max(len(order), 1), 1)
    for first in range(0, len(batch), step):
        last = min(first + step, len(batch))
        rows = slice(batch.start[first], batch.start[last])
        table = np.zeros((last - first, len(order)), dtype=np.int64)
        table[batch.group[rows] - first, column[batch.value[rows]]] = batch.n[rows]
        yield table, batch.total[first:last]
