"""Journalist risk: how many people of a population look like each equivalence class.

The release is a sample of the population, which comes as a table of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit, TooLarge
from privet.microdata.generalised_values import find_allowed_values
from privet.microdata.skyline.closed_forms import Ints
from privet.table import Table, read
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.schema import Roles

MOST_GROUPS = 5_000_000
"""Groups of a population that are held at once."""

MOST_PAIRS = 2_000_000_000
"""Pairs of a group's labels and a population's values that are looked at."""


def count_in_population(
    path: str, groups: EquivalenceClasses, sample: Table, run: Run
) -> Ints:
    """The population's number of people for each group."""
    columns = tuple(d.name for d in groups.by)
    shown = sample.shown
    if shown is not None and shown.by != shown.known:
        raise NoAudit(
            "A population must be compared by what somebody may know; this release "
            "shows it apart from its groups. Audit the table it was made from."
        )
    with read(path, quasi=columns) as people:
        bins = {c: b for c, b in sample.roles.bins.items() if c in columns}
        binned = people.with_roles(Roles(quasi=columns, bins=bins))
        parts = _count_population(binned, columns, run)
        found = (_count_identical if shown is None else _count_covered)(groups, parts)
    if (found < groups.total).any():
        raise InputError(
            "population must hold everybody of the table; some groups have fewer "
            "people there."
        )
    return found


def _count_population(
    people: Table, columns: Sequence[str], run: Run
) -> list[EquivalenceClasses]:
    """Everybody who looks alike, in parts."""
    *rest, last = columns
    parts: list[EquivalenceClasses] = []
    for _, batch in people.count([CountQuery(tuple(rest), last)], run):
        parts.append(batch)
        if sum(len(p.n) for p in parts) > MOST_GROUPS:
            raise TooLarge(
                f"population must have at most {MOST_GROUPS:,} groups of people "
                "who look alike; it has more. Bin its columns."
            )
    return parts


def _count_identical(
    groups: EquivalenceClasses, parts: Sequence[EquivalenceClasses]
) -> Ints:
    """People with the very values of each group."""
    held: dict[tuple[str | None, ...], int] = {}
    for batch in parts:
        for row, g in enumerate(batch.group.tolist()):
            label = batch.about[int(batch.value[row])]
            held[*batch.labels(g), label] = int(batch.n[row])
    sizes = [held.get(groups.labels(g), 0) for g in range(len(groups))]
    return np.array(sizes, dtype=np.int64)


def _count_covered(
    groups: EquivalenceClasses, parts: Sequence[EquivalenceClasses]
) -> Ints:
    """People whose values each group's labels allow."""
    if len(groups) * sum(len(p.n) for p in parts) > MOST_PAIRS:
        raise TooLarge(
            f"A release's groups times a population's must be at most {MOST_PAIRS:,} "
            "to be compared; there are more. Audit the table it was made from."
        )
    found = np.zeros(len(groups), dtype=np.int64)
    for batch in parts:
        codes = [*(c[batch.group] for c in batch.keys.columns()), batch.value]
        domains = [*batch.by, batch.about]
        allowed = [
            np.array([find_allowed_values(label, here) for label in shown.labels])
            for shown, here in zip(groups.by, domains, strict=True)
        ]
        for g, keys in enumerate(zip(*groups.keys.columns(), strict=True)):
            inside = np.ones(len(batch.n), dtype=bool)
            for may, key, code in zip(allowed, keys, codes, strict=True):
                # may: (labels of the release, values of the population)
                inside &= may[key][code]
            found[g] += int(batch.n[inside].sum())
    return found
