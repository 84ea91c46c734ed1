"""The loops of top-down disclosure in `kernels.py` one step at a time, for numba.

They import nothing but numpy and run without numba too, only slowly.
Wang, Fung, Yu 2007, §4.2, §4.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def look_ahead(  # noqa: PLR0912 - numba compiles it whole
    codes: Codes,
    counts: Ints,
    order: Ints,
    start: Ints,
    stop: Ints,
    people: Ints,
    asked: Ints,
    offset: Ints,
    wanted: Flags,
    rule: Ints,
    near: Floats,
    num: Ints,
    den: Ints,
    strict: Flags,
    confidence: Floats,
    broken: Flags,
) -> None:
    """Look ahead, group by group; see `kernels.look`."""
    columns = counts.shape[1]
    inside = np.zeros((len(wanted), columns), dtype=np.int64)
    seen = np.zeros(len(wanted), dtype=np.int64)
    for g in range(len(start)):
        several = 0
        for i in range(start[g], stop[g]):
            row = order[i]
            for a in asked:
                v = offset[a] + codes[row, a]
                if wanted[v]:
                    if inside[v, 0] == 0:
                        seen[several] = v
                        several += 1
                    for c in range(columns):
                        inside[v, c] += counts[row, c]
        for s in range(several):
            v = seen[s]
            whole = inside[v, 0]
            rest = people[g, 0] - whole
            for r in range(columns - 1):
                held = people[g, r + 1]
                if rest > 0 and held > 0:
                    one = inside[v, r + 1]
                    other = held - one
                    first, second = one / whole, other / rest
                    ahead = max(first, second)
                    confidence[r, v] = max(confidence[r, v], ahead)
                    for k in range(len(rule)):
                        if rule[k] == r and ahead >= near[k]:
                            over = ahead > near[k]
                            if first == near[k]:
                                gap = one * den[k] - whole * num[k]
                                over = over or gap > 0 or (strict[k] and gap == 0)
                            if second == near[k]:
                                gap = other * den[k] - rest * num[k]
                                over = over or gap > 0 or (strict[k] and gap == 0)
                            broken[v] = broken[v] or over
            inside[v, :] = 0


def split(
    attribute: int,
    low: int,
    high: int,
    codes: Codes,
    counts: Ints,
    order: Ints,
    start: Ints,
    stop: Ints,
    moved: Ints,
    people: Ints,
) -> None:
    """Part groups, one by one; see `kernels.split`."""
    columns, longest = counts.shape[1], 0
    for g in range(len(start)):
        longest = max(longest, stop[g] - start[g])
    behind = np.empty(longest, dtype=np.int64)
    for g in range(len(start)):
        inside = 0
        for i in range(start[g], stop[g]):
            code = codes[order[i], attribute]
            if low <= code <= high:
                inside += 1
        if inside in (0, stop[g] - start[g]):
            continue
        moved[g] = inside
        stay, move = start[g], 0
        for i in range(start[g], stop[g]):
            row = order[i]
            if low <= codes[row, attribute] <= high:
                behind[move] = row
                move += 1
                for c in range(columns):
                    people[g, c] += counts[row, c]
            else:
                order[stay] = row
                stay += 1
        for i in range(move):
            order[stay + i] = behind[i]
