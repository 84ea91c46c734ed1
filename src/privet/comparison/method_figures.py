"""What became of one method: a verdict, its cost, and figures; no cell is in it.

A figure is one number by which methods are compared. Of each it is said whether less or
more of it is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from privet.errors import InputError, suggest_names
from privet.findings import Audit, Finding
from privet.languages import mark
from privet.values.frozen_dict import FrozenDict

TABLE, VIEWS, CLASSIFIER, ANSWERS = "table", "views", "classifier", "answers"
"""What a method would publish."""

KEPT = ("safe", "not covered")
"""Verdicts under which every promise is kept."""

FINISHED, NOT_TRIED = "finished", "not tried"


@dataclass(frozen=True)
class Figure:
    """A number by which methods are compared."""

    words: str
    """What it tells."""
    more: bool = False
    """Whether more of it is better."""


FIGURES: Mapping[str, Figure] = {
    "ncp": Figure(
        mark("normalised certainty penalty, 0 as it was, 1 nothing is shown")
    ),
    "cells_changed": Figure(mark("cells that are not shown as they were")),
    "rows_changed": Figure(mark("rows with such a cell, or left out")),
    "rows_left_out": Figure(mark("rows that are not released")),
    "discernibility": Figure(mark("the sum over rows of how many look alike")),
    "bits_kept": Figure(mark("what released rows tell of whole rows"), more=True),
    "accuracy": Figure(
        mark(
            "how often what was learnt from the release predicts the target of "
            "original rows, held out"
        ),
        more=True,
    ),
    "pairs_kept": Figure(mark("pairs of columns that stand in one view"), more=True),
    "standard_error": Figure(mark("standard error of an estimated share, at worst")),
    "worst": Figure(mark("the highest belief of any promise")),
    "certain": Figure(
        mark("people of whom somebody is certain, in the column where they are most")
    ),
    "unique": Figure(mark("people whom nobody looks like")),
    "seconds": Figure(mark("how long it took")),
}
"""Every figure, by its name."""

OBJECTIVES = ("ncp", "accuracy", "worst")
"""What a release must be best in for nothing to be better in all, unless one says."""


def require_figure(name: str, what: str = "by") -> str:
    """The name of a figure."""
    if name not in FIGURES:
        raise InputError(
            f"{what} must be a figure; got {name!r}. {suggest_names(name, [*FIGURES])}"
        )
    return name


def rank_value(name: str, value: float | None) -> tuple[bool, float]:
    """What sorts the best value first; one that is not there comes last.

    >>> sorted([0.2, None, 0.9], key=lambda v: rank_value("accuracy", v))
    [0.9, 0.2, None]
    """
    if value is None:
        return True, 0.0
    return False, -value if FIGURES[name].more else value


@dataclass(frozen=True)
class MethodResult:
    """One method on one table: what it reached, or why it reached nothing."""

    name: str
    """As `methods` names it."""
    words: str
    """What it does."""
    publishes: str = TABLE
    """What would be published: a table, views, a classifier, answers."""
    verdict: str = NOT_TRIED
    """That of the release; or "infeasible", "refused", "undecided", "stopped", "not
    applicable", "not tried"."""
    reason: str = ""
    """Why there is no release, or what else must be said, in a line."""
    seconds: float = 0.0
    """How long it took."""
    cpu_seconds: float = 0.0
    """How long this process worked on it."""
    ended: str = FINISHED
    """Why its search ended: "finished", or "time" where it was stopped early."""
    figures: Mapping[str, float] = field(default_factory=FrozenDict)
    """Its figures; those that nobody can tell are left out."""
    promises: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    """What became of each promise."""
    hidden: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    """What is not shown as it was, by column: how many values and cells, never which.
    """
    utility: Mapping[str, Any] | None = None
    """All numbers of `Release.utility`."""
    exposure: Mapping[str, Any] | None = None
    """All numbers of `Release.exposure`."""
    by: str = "privet"
    """Who made it."""

    @property
    def kept(self) -> bool:
        """Whether there is a release, and it keeps every promise."""
        return self.verdict in KEPT

    def __getitem__(self, figure: str) -> float | None:
        return self.figures.get(require_figure(figure))

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {f.name: _as_plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MethodResult:
        """What `to_dict` wrote; keys that are not there are as usual."""
        named = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in content.items() if k in named})


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _as_plain(v) for k, v in value.items()}
    return value


def tell_promises(audit: Audit) -> dict[str, dict[str, Any]]:
    """What became of each promise; the witness, which quotes the table, stays here."""
    return {f.promise.name: _tell_finding(f) for f in audit.findings}


def _tell_finding(finding: Finding) -> dict[str, Any]:
    belief = finding.belief
    return {
        "verdict": finding.verdict.value,
        "basis": None if finding.basis is None else finding.basis.value,
        "prior": None if belief is None else str(belief.prior),
        "posterior": None if belief is None else str(belief.posterior),
        "value": None if finding.value is None else str(finding.value),
    }


def find_worst(audit: Audit) -> float | None:
    """The highest belief of any promise that was judged."""
    beliefs = [f.belief.posterior for f in audit.findings if f.belief is not None]
    return float(max(beliefs)) if beliefs else None


UTILITY = (
    *("ncp", "cells_changed", "rows_changed", "rows_left_out"),
    *("discernibility", "bits_kept"),
)
"""Figures that are numbers of every release."""


def list_table_figures(
    utility: Mapping[str, Any] | None, exposure: Mapping[str, Any] | None
) -> dict[str, float]:
    """The figures of a table, from its numbers."""
    found: dict[str, float | None] = {}
    if utility is not None:
        found |= {name: utility[name] for name in UTILITY}
        told = utility["accuracy"]
        found["accuracy"] = told and float(Fraction(told["on_originals"]))
    if exposure is not None:
        # Not the sum: a person may be known in several columns.
        of_columns = (c["certain"] for c in exposure["columns"].values())
        found["certain"] = max(of_columns, default=0)
        found["unique"] = exposure["unique"]
    return drop_missing(found)


def drop_missing(figures: Mapping[str, float | None]) -> dict[str, float]:
    """The figures that there are."""
    return {name: value for name, value in figures.items() if value is not None}


# The Pareto front -------------------------------------------------------------------


def find_pareto(
    lines: Sequence[Mapping[str, float]], objectives: Sequence[str] = OBJECTIVES
) -> list[bool]:
    """Which lines no other is better than in one figure, and as good in all.

    A figure that is not there is worse than any other.

    >>> find_pareto([{"ncp": 0.1}, {"ncp": 0.2}, {"ncp": 0.3, "accuracy": 0.9}])
    [True, False, True]
    """
    ranks = [[rank_value(o, line.get(o)) for o in objectives] for line in lines]
    return [not any(_dominates(other, own) for other in ranks) for own in ranks]


def _dominates(one: Sequence[Any], other: Sequence[Any]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
