"""Other readings of missing values: rows left out, or values that match any other."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from privet.errors import TooLarge
from privet.microdata.skyline.closed_forms import Ints
from privet.values.contingency import Codes, packed
from privet.values.equivalence_classes import EquivalenceClasses

MOST_GROUPS = 5_000_000
"""Groups that are compared with each other at the most."""


def drop_missing(batch: EquivalenceClasses, *, values: bool) -> EquivalenceClasses:
    """The groups without a missing value, and the rows too where values count."""
    whole = np.ones(len(batch), dtype=bool)
    for domain, codes in zip(batch.by, batch.keys.columns(), strict=True):
        if (gone := domain.code(None)) is not None:
            whole &= codes != gone
    if not whole.all():
        batch = batch.take(np.flatnonzero(whole))
    gone = batch.about.code(None)
    if not values or gone is None or not (batch.value == gone).any():
        return batch
    return _drop_value(batch, gone)


def _drop_value(batch: EquivalenceClasses, code: int) -> EquivalenceClasses:
    """Without the rows of one value; groups that have no other vanish."""
    keep = batch.value != code
    left = np.bincount(batch.group[keep], minlength=len(batch))
    total = batch.total.copy()
    total[batch.group[~keep]] -= batch.n[~keep]
    start = np.concatenate([[0], np.cumsum(left)]).astype(np.intp)
    smaller = replace(
        batch, value=batch.value[keep], n=batch.n[keep], start=start, total=total
    )
    return smaller.take(np.flatnonzero(left > 0))


def match_wildcards(
    batches: list[EquivalenceClasses],
) -> tuple[EquivalenceClasses, Ints]:
    """All groups, and how many people each could be taken for.

    Two people may be the same where they agree in every column that neither lacks.
    """
    if sum(map(len, batches)) > MOST_GROUPS:
        raise TooLarge(
            f"missing = 'wildcard' compares groups with each other; at most "
            f"{MOST_GROUPS:,} are. Use missing = 'value' or 'drop'."
        )
    whole = reduce(add, batches)
    codes = list(whole.keys.columns())
    # (groups, columns): whether a value is missing. Few patterns of that occur, so all
    # pairs of them are tried.
    absent = np.zeros((len(whole), len(codes)), dtype=bool)
    for j, domain in enumerate(whole.by):
        if (missing := domain.code(None)) is not None:
            absent[:, j] = codes[j] == missing
    kinds, pattern = np.unique(absent, axis=0, return_inverse=True)
    alike = np.zeros(len(whole), dtype=np.int64)
    for own, gone in enumerate(kinds):
        for others, gone_too in enumerate(kinds):
            # (1, x) 2 people, (1, missing) 4, (missing, x) 1: the last two share no
            # column that both have, so that each may be any of 7.
            free = np.flatnonzero(~(gone | gone_too)).tolist()
            _add_alike(whole, codes, free, pattern == own, pattern == others, alike)
    return whole, alike


def _add_alike(
    whole: EquivalenceClasses,
    codes: list[Codes],
    free: list[int],
    own: NDArray[np.bool_],
    others: NDArray[np.bool_],
    alike: Ints,
) -> None:
    """Add the people of their groups that agree with these where both say something."""
    sizes = [len(whole.by[j]) for j in free]
    key = packed([codes[j] for j in free], sizes, len(whole))
    names, place = np.unique(key, return_inverse=True)
    people = np.zeros(len(names), dtype=np.int64)
    np.add.at(people, place[others], whole.total[others])
    alike[own] += people[place[own]]
