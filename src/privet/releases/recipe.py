"""What a release shows in place of a column's values; a value, private.

A recipe can be applied again to a later delivery of the same table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from privet.counts import Domain
from privet.engines.base import Relabel
from privet.errors import InputError
from privet.roles import Bins

MARKER = "⊥"
"""How a hidden value is shown unless another text is chosen."""


@dataclass(frozen=True)
class Hide:
    """Some values of a column are hidden, the others shown."""

    hidden: tuple[str | None, ...]
    """The hidden values."""

    def texts(self, domain: Domain, marker: str) -> list[str | None]:
        """What is shown for each value."""
        hidden = set(self.hidden)
        return [marker if label in hidden else label for label in domain.labels]

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        return {"hide": list(self.hidden)}


@dataclass(frozen=True)
class Cut:
    """An ordered column is shown as intervals that end at these values."""

    after: tuple[str | None, ...]
    """The last value of each interval but the last, in order."""

    def texts(self, domain: Domain, marker: str) -> list[str | None]:
        """The interval of each value; the marker where nothing is cut."""
        if not self.after:
            return [marker] * len(domain)
        ends = [self._end(domain, value) for value in self.after]
        labels = interval_labels([domain[e] for e in ends])
        return [labels[sum(code > e for e in ends)] for code in range(len(domain))]

    def _end(self, domain: Domain, value: str | None) -> int:
        code = domain.code(value)
        if code is None:
            raise InputError(
                f"Column {domain.name!r} must still have every value it was cut at; "
                "one is gone. Publish it anew instead of applying the recipe."
            )
        return code

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        return {"cut_after": list(self.after)}


def interval_labels(ends: Sequence[str | None]) -> list[str]:
    """Intervals in words, from the values they end at; nothing else is told.

    >>> interval_labels(["18", "65"])
    ['up to 18', 'above 18 up to 65', 'above 65']
    >>> interval_labels([None, "65"])
    ['missing', 'up to 65', 'above 65']
    """
    labels, before = [], None
    for end in ends:
        if end is None:
            labels.append("missing")
        else:
            low = f"above {before} " if before is not None else ""
            labels.append(f"{low}up to {end}")
        before = end
    labels.append(f"above {before}" if before is not None else "not missing")
    return labels


@dataclass(frozen=True)
class Recipe:
    """What is shown of each column that is not shown as it is."""

    columns: Mapping[str, Hide | Cut] = field(default_factory=dict)
    """What is hidden or cut, by column."""
    marker: str = MARKER
    """How a hidden value is shown."""

    def __post_init__(self) -> None:
        if not self.marker or self.marker != self.marker.strip():
            raise InputError(
                f"marker must be a visible text without blanks around it; "
                f"got {self.marker!r}."
            )

    def relabels(
        self, domains: Mapping[str, Domain], bins: Mapping[str, Bins]
    ) -> dict[str, Relabel]:
        """The recipe for a table with these values."""
        return {
            c: Relabel(tuple(self._texts(how, domains[c])), bins.get(c))
            for c, how in self.columns.items()
            if c in domains
        }

    def _texts(self, how: Hide | Cut, domain: Domain) -> list[str | None]:
        if domain.code(self.marker) is not None:
            raise InputError(
                f"marker must not be a value of the table; {self.marker!r} is one of "
                f"column {domain.name!r}. Choose another marker."
            )
        return how.texts(domain, self.marker)

    def to_dict(self) -> dict[str, Any]:
        """For the recipe file."""
        columns = {c: how.to_dict() for c, how in self.columns.items()}
        return {"recipe": 1, "marker": self.marker, "columns": columns}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Recipe:
        """Read what `to_dict` wrote."""
        if content.get("recipe") != 1 or not isinstance(content.get("columns"), dict):
            raise InputError("A recipe must be a file that privet wrote; this is none.")
        columns: dict[str, Hide | Cut] = {
            c: Cut(tuple(how["cut_after"]))
            if "cut_after" in how
            else Hide(tuple(how["hide"]))
            for c, how in content["columns"].items()
        }
        return cls(columns, content.get("marker", MARKER))
