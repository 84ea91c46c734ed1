"""Weighted cells of a table, as they are and as a release shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.microdata.utility import ClassCells
from privet.values.contingency import Domain

Ints = NDArray[np.int64]

MARKER = "⊥"
"""How a release shows a hidden value."""


def cells_of(
    rows: pa.Table, columns: Sequence[str], target: str, weight: str
) -> ClassCells:
    """The cells of a table whose rows have weights."""
    coded = [_coded(rows, c) for c in columns]
    labels, classes = _coded(rows, target)
    found = ClassCells(
        tuple(d for d, _ in coded),
        tuple(codes for _, codes in coded),
        labels,
        classes,
        rows[weight].to_numpy(),
    )
    return _together(found)


def _coded(rows: pa.Table, column: str) -> tuple[Domain, Ints]:
    values, codes = np.unique(rows[column].to_pylist(), return_inverse=True)
    kind = "number" if pa.types.is_floating(rows[column].type) else "text"
    return Domain(column, [str(v) for v in values], kind), codes


def _together(cells: ClassCells) -> ClassCells:
    """Cells that look alike put together, in the order of their codes."""
    keys = np.stack([*cells.codes, cells.classes], axis=1)
    order = np.lexsort(keys.T[::-1])
    keys, n = keys[order], cells.n[order]
    new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    first = np.flatnonzero(new)
    columns = keys[first].T
    return replace(
        cells,
        codes=tuple(columns[:-1]),
        classes=columns[-1],
        n=np.add.reduceat(n, first),
    )


def shown(
    cells: ClassCells,
    hidden: Mapping[str, Sequence[str | None]],
    cuts: Mapping[str, Sequence[str | None]],
) -> ClassCells:
    """The cells as a release shows them: values hidden, or in intervals."""
    domains, columns = [], []
    for domain, codes in zip(cells.domains, cells.codes, strict=True):
        texts = list(domain.labels)
        if domain.name in hidden:
            out = set(hidden[domain.name])
            texts = [MARKER if t in out else t for t in texts]
        if domain.name in cuts:
            texts = _intervals(texts, cuts[domain.name])
        labels = list(dict.fromkeys(texts))
        new = np.array([labels.index(t) for t in texts])
        kind = domain.kind if texts == list(domain.labels) else "text"
        domains.append(Domain(domain.name, labels, kind))
        columns.append(new[codes])
    return _together(replace(cells, domains=tuple(domains), codes=tuple(columns)))


def _intervals(texts: Sequence[str], after: Sequence[str | None]) -> list[str]:
    """The interval of each number; no cut hides them all."""
    ends = [float(a) for a in after if a is not None]
    if not ends:
        return [MARKER] * len(texts)
    return [str(np.searchsorted(ends, float(t))) for t in texts]
