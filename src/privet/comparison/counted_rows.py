"""The distinct rows of a table as codes, each with how often it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.table import Table
from privet.values.arrays import Ints
from privet.values.contingency import Domain


@dataclass(frozen=True, eq=False)
class RowCounts:
    """Distinct rows."""

    domains: tuple[Domain, ...]
    """The columns, in the order they were asked for."""
    codes: tuple[Ints, ...]
    """The code of each row's value, one array per column."""
    n: Ints
    """How many rows look like this."""


def count_distinct(table: Table, names: Sequence[str], run: Run) -> RowCounts:
    """Count a table by some columns; no row is fetched."""
    query = CountQuery(tuple(names[:-1]), names[-1])
    parts = [part for _, part in table.count([query], run)]
    of = {d.name: d for d in (*parts[0].by, parts[0].about)}
    codes: dict[str, list[Any]] = {c: [] for c in names}
    for part in parts:
        there = part.n > 0  # rows of weight 0 are nobody
        keys = part.keys.columns() if part.by else ()
        for domain, key in zip(part.by, keys, strict=True):
            codes[domain.name].append(np.asarray(key)[part.group][there])
        codes[part.about.name].append(np.asarray(part.value)[there])
    return RowCounts(
        tuple(of[c] for c in names),
        tuple(np.concatenate(codes[c]).astype(np.int64) for c in names),
        np.concatenate([p.n[p.n > 0] for p in parts]),
    )
