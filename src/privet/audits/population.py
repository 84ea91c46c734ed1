"""How many people of a population look like each group of a sample."""

from __future__ import annotations

import numpy as np

from privet.audits.odds import Ints
from privet.engines.base import Run, Tally
from privet.errors import InputError, TooLarge
from privet.grouped import Grouped
from privet.roles import Roles
from privet.table import Table, read

MOST_GROUPS = 5_000_000
"""Groups of a population that are held at once."""


def sizes_in(path: str, groups: Grouped, sample: Table, run: Run) -> Ints:
    """The population's number of people for each group."""
    columns = tuple(d.name for d in groups.by)
    held: dict[tuple[str | None, ...], int] = {}
    with read(path, quasi=columns) as people:
        bins = {c: b for c, b in sample.roles.bins.items() if c in columns}
        binned = people.with_roles(Roles(quasi=columns, bins=bins))
        *rest, last = columns
        for _, batch in binned.count([Tally(tuple(rest), last)], run):
            if len(held) + len(batch.n) > MOST_GROUPS:
                raise TooLarge(
                    f"population must have at most {MOST_GROUPS:,} groups of people "
                    "who look alike; it has more. Bin its columns."
                )
            for row, g in enumerate(batch.group.tolist()):
                label = batch.about[int(batch.value[row])]
                held[*batch.labels(g), label] = int(batch.n[row])
    sizes = [held.get(groups.labels(g), 0) for g in range(len(groups))]
    found = np.array(sizes, dtype=np.int64)
    if (found < groups.total).any():
        raise InputError(
            "population must hold everybody of the table; some groups have fewer "
            "people there."
        )
    return found
