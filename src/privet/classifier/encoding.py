"""Columns of arrays and frames as the texts and codes that counts are kept by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.classifier.class_labels import text_of
from privet.classifier.release import Attribute
from privet.errors import InputError
from privet.values.exact import fraction
from privet.values.schema import Bins

Codes = NDArray[np.int64]


def encode_column(column: NDArray[Any]) -> tuple[list[str | None], Codes]:
    """The values of a column, as texts, and the code of each cell."""
    if column.dtype.kind in "biufUS":
        distinct, inverse = np.unique(column, return_inverse=True)
        cells = [text_of(v) for v in distinct.tolist()]
        values = list(dict.fromkeys(cells))
        at = {v: i for i, v in enumerate(values)}
        # inverse: from a cell to its distinct value; codes: from that to its text.
        codes = np.array([at[v] for v in cells], dtype=np.int64)
        return values, codes[inverse.ravel()] if cells else codes
    known: dict[str | None, int] = {}
    found = [known.setdefault(text_of(v), len(known)) for v in column.tolist()]
    return list(known), np.array(found, dtype=np.int64)


def sort_values(values: Sequence[str | None]) -> list[str | None]:
    """Values in order: numbers by size, then texts, then missing."""
    return sorted(values, key=lambda v: (v is None, *_parse_number(v), v or ""))


def _parse_number(value: str | None) -> tuple[bool, float]:
    try:
        number = float(value or "x")
    except ValueError:
        return True, 0.0
    return (False, number) if np.isfinite(number) else (True, 0.0)


def bins_of(edges: Sequence[str]) -> Bins:
    """Bins from the texts of their edges."""
    return Bins([e if "-" in e[1:] else fraction(e) for e in edges])


def sort_bins(values: Sequence[str | None], edges: Sequence[str]) -> list[str | None]:
    """Bins from the lowest to the highest, and missing."""
    labels = bins_of(edges).labels()
    return sorted(values, key=lambda v: len(labels) if v is None else labels.index(v))


def bin_values(values: Sequence[str | None], edges: Sequence[str]) -> list[str | None]:
    """Values as the bins they fall into."""
    bins = bins_of(edges)
    labels = bins.labels()
    cuts: Sequence[Any] = bins.to_list() if bins.are_dates else bins.edges
    found: list[str | None] = []
    for value in values:
        if value is None:
            found.append(None)
            continue
        try:
            number: Any = value if bins.are_dates else fraction(value)
        except InputError:
            raise InputError(
                "A column with bins must hold numbers or dates; it holds others, too."
            ) from None
        # A cut point belongs to the bin above it: 30 is in "30 to below 50".
        found.append(labels[bisect_right(cuts, number)])
    return found


class Encoder:
    """Rows as codes of a classifier's attributes; -1 for values it does not know."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = attributes
        self.known = [_index_values(a) for a in attributes]

    def encode(self, matrix: NDArray[Any]) -> Codes:
        """One row per row, one column per attribute."""
        found = np.empty(matrix.shape, dtype=np.int64)
        for i, attribute in enumerate(self.attributes):
            values, codes = encode_column(matrix[:, i])
            if attribute.edges:
                values = bin_values(values, attribute.edges)
            # at: from the column's own codes to those of the attribute, or to -1.
            at = np.array([self._find_code(i, v) for v in values], dtype=np.int64)
            found[:, i] = at[codes] if len(at) else codes
        return found

    def _find_code(self, i: int, value: str | None) -> int:
        known = self.known[i]
        if value in known:
            return known[value]
        return known.get(_normalise_number(value), -1)


def _index_values(attribute: Attribute) -> Mapping[str | None, int]:
    found: dict[str | None, int] = {v: t for t, v in enumerate(attribute.values)}
    if attribute.kind in ("integer", "number"):
        for t, v in enumerate(attribute.values):
            found.setdefault(_normalise_number(v), t)
    return found


def _normalise_number(value: str | None) -> str | None:
    """A number's own text, so that 39, 39.0 and 3.9e1 are found alike."""
    if value is None:
        return "\0 missing"
    try:
        return text_of(float(value))
    except ValueError:
        return value.strip()
