"""Outlines: what a release of any kind shows of each column, without a single count.

Whether a later release tells anything new is decided by what both show, not by the
counts they happen to have. An outline says that in a few neutral words: which values of
a column cannot be told apart, which columns are told together, whether counts are told
or only what occurs, whether anything was changed at random. Every kind of release can
supply one, and a ledger keeps it as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from privet.errors import InputError
from privet.values.exact import fraction

Value = str | None
"""A value as the source writes it; None: missing."""
OutlineKind = Literal["table", "groups", "views", "classifier", "responses"]

KINDS: tuple[OutlineKind, ...] = (
    "table",
    "groups",
    "views",
    "classifier",
    "responses",
)


LOSS = "loss"
"""What of `more` says how much the noise of a release costs."""


@dataclass(frozen=True)
class ShownColumn:
    """How a release shows one column: which values it does not tell apart.

    >>> ages = ShownColumn((("17", "18"), ("40", "65")))
    >>> ages.label_values(["17", "18", "30", "40", "65"])
    (0, 0, 2, 3, 3)
    >>> ages.is_told_by(ShownColumn()), ShownColumn().is_told_by(ages)
    (True, False)
    """

    merged: tuple[tuple[Value, ...], ...] = ()
    """Values shown alike, one tuple per label; any other value is shown as it is."""
    base: str = ""
    """The bins that made the values, as text; columns of other bins cannot be
    compared value by value."""

    def __post_init__(self) -> None:
        values = [v for label in self.merged for v in label]
        if len(values) != len(set(values)):
            raise InputError(
                "Each value of a column must have one label; one has several."
            )

    @cached_property
    def _label_of(self) -> dict[Value, int]:
        return {v: i for i, label in enumerate(self.merged) for v in label}

    def label_values(self, values: Sequence[Value]) -> tuple[int, ...]:
        """A label for each value: the place of the first one that looks like it."""
        first: dict[int, int] = {}
        return tuple(
            i if (m := self._label_of.get(v)) is None else first.setdefault(m, i)
            for i, v in enumerate(values)
        )

    def is_told_by(self, other: ShownColumn) -> bool:
        """Whether whoever sees a label of the other column knows this one's."""
        if self.base != other.base:
            return False
        return all(
            len({self._label_of.get(v, -1) for v in label}) == 1
            and (label[0] in self._label_of or len(label) == 1)
            for label in other.merged
        )

    def to_dict(self) -> dict[str, Any]:
        """For a ledger."""
        based = {"bins": self.base} if self.base else {}
        return {"merged": [list(label) for label in self.merged]} | based

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ShownColumn:
        """Read what `to_dict` wrote."""
        return cls(
            tuple(tuple(label) for label in content["merged"]), content.get("bins", "")
        )


Box = Mapping[str, tuple[Value, ...]]
"""The values of each quasi column that a group allows."""


@dataclass(frozen=True, eq=False)
class ReleaseOutline:
    """What one release shows, by recipe and not by counts."""

    name: str
    """How reports call it: where it lies, or when it was made."""
    kind: OutlineKind
    """What it is."""
    rows: str
    """What tells its rows from others: equal texts, the same rows; empty: unknown."""
    columns: Mapping[str, ShownColumn]
    """Every column it shows anything of."""
    sets: tuple[tuple[str, ...], ...] = ()
    """Columns told together; empty: all of them, row by row."""
    counted: bool = True
    """Whether it tells how often a row occurs; views only tell which do."""
    transformed: bool = False
    """Whether counts or rows were changed: noise, a transform, a disguise."""
    attributable: bool = False
    """Whether somebody may know whose row of it is whose."""
    gamma: Fraction | None = None
    """Of disguised rows, how many times likelier one answer is for one value than for
    another, at most."""
    boxes: tuple[Box, ...] = ()
    """Of groups whose columns are not recoded one by one: the values each allows."""
    digest: str = ""
    """What tells its content from others; equal texts, the same content."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What its own kind needs besides, such as a recipe; never looked at here."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS}; got {self.kind!r}.")
        if self.gamma is not None and self.gamma < 1:
            raise InputError(f"gamma must be at least 1; got {self.gamma}.")
        strange = {c for s in self.sets for c in s} - set(self.columns)
        if strange:
            raise InputError(
                f"sets must name columns of the outline; got {sorted(strange)[0]!r}."
            )

    @property
    def told_together(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each of its files."""
        return self.sets or (tuple(self.columns),)

    @property
    def loss(self) -> Mapping[str, str] | None:
        """What its noise costs, as `PrivacyLoss` writes it; None: it has none."""
        found: Mapping[str, str] | None = self.more.get(LOSS)
        return found

    @property
    def boxed(self) -> tuple[str, ...]:
        """The columns that its groups show as boxes."""
        return tuple(self.boxes[0]) if self.boxes else ()

    def to_dict(self) -> dict[str, Any]:
        """For a ledger, as JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "rows": self.rows,
            "columns": {c: s.to_dict() for c, s in self.columns.items()},
            "sets": [list(s) for s in self.sets],
            "counted": self.counted,
            "transformed": self.transformed,
            "attributable": self.attributable,
            "gamma": None if self.gamma is None else str(self.gamma),
            "boxes": [{c: list(v) for c, v in box.items()} for box in self.boxes],
            "digest": self.digest,
            "more": dict(self.more),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ReleaseOutline:
        """Read what `to_dict` wrote."""
        try:
            columns = content["columns"].items()
            gamma = content["gamma"]
            return cls(
                name=content["name"],
                kind=content["kind"],
                rows=content["rows"],
                columns={c: ShownColumn.from_dict(s) for c, s in columns},
                sets=tuple(map(tuple, content["sets"])),
                counted=content["counted"],
                transformed=content["transformed"],
                attributable=content["attributable"],
                gamma=None if gamma is None else fraction(gamma, "gamma"),
                boxes=tuple(
                    {c: tuple(v) for c, v in box.items()} for box in content["boxes"]
                ),
                digest=content["digest"],
                more=content["more"],
            )
        except (KeyError, TypeError, AttributeError):
            raise InputError(
                "An outline must be one that privet wrote; this is none."
            ) from None
