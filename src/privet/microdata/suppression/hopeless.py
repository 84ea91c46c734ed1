"""Values that can never be shown, found before the large counts are made.

A value that breaks a promise when it is the first to be shown breaks it ever after:
showing others only makes groups smaller. Whether it does follows from the counts of its
column alone. So the rare values of columns that have many, which make cubes large, are
counted as one hidden value from the start. No move, no score and no belief changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import prod

import numpy as np

from privet.engine.duckdb.session import SHARE
from privet.engine.protocol import CountQuery, Relabel, Run
from privet.errors import TooLarge
from privet.microdata.generalisation.distinct_rows import most_bytes
from privet.microdata.suppression.count_cube import Cube
from privet.microdata.suppression.disclosure_loops import Flags, Ints
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

MANY = 2_000_000
"""Cubes that can have more cells are made smaller first."""

PER_CELL = 40
"""Bytes a cell of a cube takes, and of what it is made from."""


def may_be_large(
    known: Sequence[str], domains: Mapping[str, Domain], rows: int
) -> bool:
    """Whether a cube can have many cells."""
    return min(rows, prod(len(domains[c]) for c in known)) > MANY


def merged(table: Table, never: Mapping[str, Flags]) -> tuple[Table, dict[str, Ints]]:
    """The table with values that are never shown as one; and what codes mean then."""
    relabels, meaning = {}, {}
    for column, flags in never.items():
        if flags.sum() < 2:
            continue
        codes = np.arange(len(flags))
        codes[flags] = np.flatnonzero(flags)[0]
        texts = tuple(map(str, codes.tolist()))
        relabels[column] = Relabel(texts, table.roles.bins.get(column))
        meaning[column] = np.array(list(dict.fromkeys(codes.tolist())))
    return table.relabelled(relabels), meaning


def never_shown(
    cubes: Mapping[str, Sequence[Cube]], domains: Mapping[str, Domain]
) -> dict[str, Flags]:
    """The values of each column that break a promise when they are shown first."""
    found = {}
    for column, own in cubes.items():
        every = np.ones(len(domains[column]), dtype=bool)
        flags = np.zeros(len(every), dtype=bool)
        for cube in own:
            (outlook,) = cube.outlooks(cube.view(), [every], [False])
            flags |= outlook.broken
        found[column] = flags
    return found


def count(
    table: Table, tallies: Sequence[CountQuery], run: Run, most: int | None = None
) -> dict[CountQuery, EquivalenceClasses]:
    """Count all at once; refuse what does not fit the memory."""
    room = most or most_bytes(table.options) * SHARE // PER_CELL
    parts: dict[CountQuery, list[EquivalenceClasses]] = {}
    cells = 0
    for tally, batch in table.count(tallies, run):
        cells += len(batch.n)
        if cells > room:
            raise TooLarge(
                "What somebody may know must have at most "
                f"{room:,} combinations for top-down disclosure in this much memory; "
                "there are more. Put columns with many values into bins, raise "
                "memory_limit, or publish groups: Mondrian keeps what does not fit in "
                "a file."
            )
        parts.setdefault(tally, []).append(batch)
    return {tally: sum_of(batches) for tally, batches in parts.items()}


def sum_of(batches: list[EquivalenceClasses]) -> EquivalenceClasses:
    """Parts of one count, put together two by two."""
    while len(batches) > 1:
        pairs = zip_longest(batches[::2], batches[1::2])
        batches = [a if b is None else a + b for a, b in pairs]
    return batches[0]
