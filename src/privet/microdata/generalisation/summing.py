"""The different rows of a partition over some of its columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.microdata.generalisation.partition import Partition
from privet.microdata.suppression.disclosure_loops import Ints
from privet.values import contingency


def summed(
    partition: Partition, columns: Sequence[int]
) -> tuple[Ints, list[Ints], Ints]:
    """The group, codes and people of each different row over some columns."""
    sizes = [_size(partition, c) for c in columns]
    parts = []
    for groups, cells, starts in partition.blocks():
        spans = np.diff([*starts, len(cells)])
        group = np.repeat(np.arange(groups.start, groups.stop), spans)
        codes = [group, *(cells[:, c].astype(np.int64) for c in columns)]
        parts.append(_different(codes, sizes, cells[:, -1].astype(np.int64)))
    joined = [np.concatenate(p) for p in zip(*parts, strict=True)]
    return joined[0], joined[1:-1], joined[-1]


def _size(partition: Partition, column: int) -> int:
    known = len(partition.attributes)
    if column < known:
        return len(partition.attributes[column])
    return len(partition.others[column - known])


def _different(codes: list[Ints], sizes: Sequence[int], n: Ints) -> list[Ints]:
    """Lines that are alike once, with the sum of their numbers."""
    spans = [int(codes[0].max()) + 1, *sizes]
    different, people = contingency.summed(codes, spans, n)
    narrow: list[Ints] = [c.astype(np.int32) for c in different]
    return [*narrow, people]
