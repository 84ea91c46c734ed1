"""Splits of several groups tried ahead in numpy, where minima are carried in order.

An insider's companions make the order of splits a matter: minima over all groups only
fall, so that what is refused now is refused for ever, but what is allowed now may be
refused later. So groups are split level by level by what the minima are now, which
refuses nothing that would be allowed in its turn; each split is made in its turn, and
only those that lower a minimum must be judged again then (most lower none).
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from privet.microdata.generalisation.splits.prefix_cuts import FindFailing
from privet.microdata.generalisation.splits.split_levels import Levels
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    LEFT,
    START,
    STOP,
    Cells,
    SplitTask,
)
from privet.values.arrays import Flags, Ints


class SplitsAhead(NamedTuple):
    """How one group would be split as far as it goes."""

    lines: Ints
    """Its tree, the group first; rows are numbered from the group's first one."""
    order: Ints
    """The rows as they lie then."""
    hist: Ints
    """The protected values of each line's group."""
    lowers: Flags
    """Whether the split of a line may lower a minimum."""


def split_ahead(
    cells: Cells,
    spans: Sequence[tuple[int, int, int]],
    task: SplitTask,
    fails: FindFailing,
    lowers: Callable[[Ints], Flags],
) -> list[SplitsAhead]:
    """Split groups (start, stop, people) as far as they go; the cells stay as they are.

    `fails` tells groups that no release may have any more, `lowers` those that may
    lower a minimum.
    """
    rows = np.concatenate([cells[start:stop] for start, stop, _ in spans])
    levels = Levels(rows, task, fails)
    edges = np.append(0, np.cumsum([stop - start for start, stop, _ in spans]))
    people = np.array([own for *_, own in spans], dtype=np.int64)
    lines = levels.split_groups(np.column_stack([edges[:-1], edges[1:], people]))
    hist = _count_lines(levels, lines)
    split = lines[:, COLUMN] >= 0
    falls, left = lowers(hist), lines[split, LEFT]
    lowering = np.zeros(len(lines), dtype=bool)
    lowering[split] = falls[left] | falls[left + 1]
    root = np.searchsorted(edges, lines[:, START], side="right") - 1
    by_root = np.argsort(root, kind="stable")
    ends = np.searchsorted(root[by_root], np.arange(len(spans) + 1))
    found = []
    for r, (low, high) in enumerate(pairwise(edges.tolist())):
        own = by_root[ends[r] : ends[r + 1]]  # rising: a part follows its group
        tree = lines[own]
        tree[:, [START, STOP]] -= low
        tree[:, LEFT] = np.searchsorted(own, tree[:, LEFT])
        order = levels.order[low:high] - low
        found.append(SplitsAhead(tree, order, hist[own], lowering[own]))
    return found


def _count_lines(levels: Levels, lines: Ints) -> Ints:
    """The protected values of every group there ever was."""
    leaves = lines[lines[:, COLUMN] < 0]
    leaves = leaves[np.argsort(leaves[:, START])]
    # Groups are runs of leaves: of 2, 3 and 1 holders the last two have 6 - 2.
    sums = np.cumsum(levels.count_leaves(leaves), axis=0)
    sums = np.concatenate([np.zeros_like(sums[:1]), sums])
    first = np.searchsorted(leaves[:, START], lines[:, START])
    last = np.searchsorted(leaves[:, START], lines[:, STOP])
    return np.asarray(sums[last] - sums[first])
