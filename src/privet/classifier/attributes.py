"""The columns a classifier looks at, and who somebody is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from privet.errors import InputError, what_exists

Value = str | None
"""A value as text; None: missing."""


@dataclass(frozen=True)
class Attribute:
    """A column a classifier looks at."""

    name: str
    """As the table calls it."""
    values: tuple[Value, ...]
    """The values it takes, as texts; None: missing."""
    kind: str = "text"
    """What the texts are, as `privet.roles.KINDS` has it."""
    edges: tuple[str, ...] = ()
    """Public cut points, where the values are bins."""

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values) or not self.values:
            raise InputError(f"Attribute {self.name!r} must have values, each once.")

    def code(self, value: object) -> int | None:
        """Where a value stands; None if it never occurs."""
        return self._codes.get(value)  # type: ignore[call-overload, no-any-return]

    @cached_property
    def _codes(self) -> dict[Value, int]:
        return {v: t for t, v in enumerate(self.values)}


def index_of(attributes: Sequence[Attribute], name: str) -> int:
    """Where an attribute stands; an error where there is none."""
    names = [a.name for a in attributes]
    if name not in names:
        raise InputError(
            f"Attribute {name!r} must be one the classifier looks at. "
            f"{what_exists(name, names)}"
        )
    return names.index(name)


def told_of(
    attributes: Sequence[Attribute], known: Mapping[int, int]
) -> dict[str, Value]:
    """What is known of a person by index, in names and values."""
    return {attributes[i].name: attributes[i].values[t] for i, t in known.items()}
