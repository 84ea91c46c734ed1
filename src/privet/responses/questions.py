"""A question: its name, and every answer there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privet.errors import InputError, what_exists
from privet.values.adversaries import cell
from privet.values.schema import Bins


@dataclass(frozen=True)
class Question:
    """One question, or one column: its name and every answer there is.

    >>> Question("age", bins=[30, 50]).values
    ('below 30', '30 to below 50', '50 and more')
    """

    name: str
    """The column."""
    values: tuple[str, ...]
    """The answers, declared beforehand: those that occur would tell something."""
    bins: Bins | None = None
    """Cut points of a numeric answer; its ranges are the values then."""
    ask: str = ""
    """The question as a respondent reads it."""
    missing: str | None = None
    """Which of the values a missing answer counts as."""

    def __init__(
        self,
        name: str,
        values: Sequence[object] | None = None,
        *,
        bins: Bins | Sequence[Any] | None = None,
        ask: str = "",
        missing: str | None = None,
    ) -> None:
        _require_text(name, "name of a question")
        _require_text(ask or "-", f"ask of {name!r}")
        cut = Bins(bins) if bins is not None and not isinstance(bins, Bins) else bins
        if (cut is None) == (values is None):
            raise InputError(f"Question {name!r} must have values or bins, and one.")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", _values(name, values, cut))
        object.__setattr__(self, "bins", cut)
        object.__setattr__(self, "ask", ask)
        object.__setattr__(self, "missing", missing)
        if missing is not None and missing not in self.values:
            raise InputError(
                f"missing of {name!r} must be one of its values; got {missing!r}."
            )

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {v: i for i, v in enumerate(self.values)}

    def code(self, value: object) -> int:
        """The place of an answer among the values; an error if it is none."""
        if value is None and self.missing is not None:
            value = self.missing
        label = cell(value) if value is not None else None
        found = self._codes.get(label) if label is not None else None
        if found is None:
            raise InputError(
                f"An answer to {self.name!r} must be one of the declared values. "
                f"{what_exists('', self.values)}"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """As a design file writes it."""
        stated: dict[str, Any] = {"name": self.name}
        if self.ask:
            stated["ask"] = self.ask
        if self.bins is not None:
            stated["bins"] = self.bins.to_list()
        else:
            stated["values"] = list(self.values)
        return stated | ({} if self.missing is None else {"missing": self.missing})


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise InputError(f"The {what} must be text; got {value!r}.")


def _values(name: str, values: Any, cut: Bins | None) -> tuple[str, ...]:
    if cut is not None:
        return cut.labels()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"values of {name!r} must be a list; got {values!r}.")
    found = tuple(cell(v) for v in values)
    if len(found) < 2 or len(set(found)) < len(found):
        raise InputError(
            f"values of {name!r} must be at least two different ones; "
            f"got {len(set(found))} different of {len(found)}."
        )
    return found
