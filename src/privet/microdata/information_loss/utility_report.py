"""What a release keeps of its table, as numbers: one frozen value, for text and JSON.

Private: every figure compares with the source, and so tells of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.display import Displayed
from privet.microdata.information_loss.held_out_accuracy import HeldOutAccuracy
from privet.values.exact import percent

DIGITS = 6
"""Digits of figures for machines."""


def shorten(number: float | Fraction | None) -> float | None:
    """A figure as machines get it."""
    return None if number is None else round(float(number), DIGITS)


@dataclass(frozen=True)
class ColumnUtility:
    """What a release keeps of one column."""

    name: str
    """As the table calls it."""
    rows: int
    """All rows of the table."""
    changed: int
    """Cells that are not shown as they were, rows left out included."""
    ncp: Fraction | None
    """The normalised certainty penalty, from 0 (as it was) to 1 (nothing is shown);
    None: not a column that may be known."""
    bits: float
    """The column's entropy in the table."""
    bits_kept: float
    """What the released cells tell of it; never more."""
    moved: float
    """Total variation distance of its values before and after, from 0 to 1."""
    moved_in_order: float | None
    """Earth mover's distance of the same, from 0 to 1; None: they have no order."""

    @property
    def changed_share(self) -> Fraction:
        """The share of its cells that changed."""
        return Fraction(self.changed, max(self.rows, 1))

    @property
    def kept_share(self) -> float:
        """The share of its entropy that is kept; all of a column that has none."""
        return self.bits_kept / self.bits if self.bits else 1.0

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "cells_changed": self.changed,
            "ncp": shorten(self.ncp),
            "bits": shorten(self.bits),
            "bits_kept": shorten(self.bits_kept),
            "moved": shorten(self.moved),
            "moved_in_order": shorten(self.moved_in_order),
        }


@dataclass(frozen=True)
class PairUtility:
    """What a release keeps of two columns together."""

    columns: tuple[str, str]
    """Their names."""
    moved: float
    """Total variation distance of their pairs of values before and after."""
    cramers_v: tuple[float | None, float | None]
    """Cramér's V before and after; None: one of them has a single value."""
    bits: tuple[float, float]
    """Mutual information before and after."""
    correlation: tuple[float | None, float | None] | None = None
    """Pearson's correlation before and after; None: they are not both numbers, or
    dates. Of either, None: a column does not vary."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        numbers = self.correlation
        return {
            "columns": list(self.columns),
            "moved": shorten(self.moved),
            "cramers_v": [shorten(v) for v in self.cramers_v],
            "bits": [shorten(v) for v in self.bits],
            "correlation": None if numbers is None else [shorten(v) for v in numbers],
        }


@dataclass(frozen=True)
class UtilityReport(Displayed):
    """What a release keeps of its table, in numbers. Private: it tells of the table.

    What changed most comes first, columns and pairs.
    """

    rows: int
    """All rows of the table."""
    rows_changed: int
    """Rows with a cell that is not shown as it was, those left out included."""
    rows_left_out: int
    """Rows that are not released."""
    columns: tuple[ColumnUtility, ...]
    """Every column that is released."""
    ncp: Fraction | None
    """The average over the columns that may be known; None: there are none."""
    groups: int | None
    """Groups of released rows that look alike in the columns that may be known."""
    average_group: Fraction | None
    """Released rows per group."""
    discernibility: int | None
    """The sum over rows of how many look alike; all rows for one that shows nothing."""
    bits: float | None
    """The entropy of whole rows in the table; None: not counted."""
    bits_kept: float | None
    """What the released rows tell of it."""
    pairs: tuple[PairUtility, ...]
    """Pairs of columns of which one changed."""
    pairs_same: int
    """Pairs that are released as they were: neither column changed."""
    pairs_left_out: tuple[tuple[str, str], ...]
    """Pairs that were too many, or have too many values."""
    accuracy: HeldOutAccuracy | None
    """How well the target can still be predicted; None: see the notes."""
    notes: tuple[str, ...] = ()
    """What was not measured, and why."""

    def __getitem__(self, name: str) -> ColumnUtility:
        return next(c for c in self.columns if c.name == name)

    def __repr__(self) -> str:
        parts = [f"{self.rows_changed} of {self.rows} rows changed"]
        if self.ncp is not None:
            parts.append(f"NCP {percent(self.ncp)}")
        if self.accuracy is not None:
            parts.append(str(self.accuracy))
        return f"UtilityReport({'; '.join(parts)})"

    @property
    def cells_changed(self) -> int:
        """Cells of all columns that are not shown as they were."""
        return sum(c.changed for c in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "rows": self.rows,
            "rows_changed": self.rows_changed,
            "rows_left_out": self.rows_left_out,
            "cells_changed": self.cells_changed,
            "ncp": shorten(self.ncp),
            "groups": self.groups,
            "average_group": shorten(self.average_group),
            "discernibility": self.discernibility,
            "bits": shorten(self.bits),
            "bits_kept": shorten(self.bits_kept),
            "columns": {c.name: c.to_dict() for c in self.columns},
            "pairs": [p.to_dict() for p in self.pairs],
            "pairs_same": self.pairs_same,
            "pairs_left_out": [list(p) for p in self.pairs_left_out],
            "accuracy": self.accuracy and self.accuracy.to_dict(),
            "notes": list(self.notes),
        }
