"""Which views bear on an association, and which of their columns."""

from __future__ import annotations

from dataclasses import dataclass

from privet.errors import InputError
from privet.views.release import Views


@dataclass(frozen=True)
class RemainingView:
    """What is left of a view."""

    number: int
    """The number of the view."""
    columns: frozenset[str]
    """The columns that matter."""


def reduced(
    views: Views, person: str, secret: str, *, full: bool
) -> list[RemainingView]:
    """The views that matter for an association, with the columns that do.

    A column of one view only, which is not asked about, is projected away (unless
    worlds are over whole tuples); a view that another one contains adds nothing.
    """
    parts = [RemainingView(i, frozenset(v.columns)) for i, v in enumerate(views.views)]
    while True:
        kept = _without_contained(parts)
        if not full:
            kept = _connected(_projected(kept, {person, secret}), {person, secret})
        if kept == parts:
            return parts
        parts = kept


def _without_contained(parts: list[RemainingView]) -> list[RemainingView]:
    kept: list[RemainingView] = []
    for i, part in enumerate(parts):
        others = [p.columns for j, p in enumerate(parts) if j != i]
        twin = any(part.columns == p.columns for p in parts[:i])
        inside = any(part.columns < o for o in others)
        if not (twin or inside):
            kept.append(part)
    return kept


def _projected(parts: list[RemainingView], asked: set[str]) -> list[RemainingView]:
    kept = []
    for i, part in enumerate(parts):
        others = frozenset().union(*(p.columns for j, p in enumerate(parts) if j != i))
        columns = part.columns & (others | asked)
        if columns or len(parts) == 1:
            kept.append(RemainingView(part.number, columns or part.columns))
    return kept


def _connected(parts: list[RemainingView], asked: set[str]) -> list[RemainingView]:
    """Views that a chain of shared columns leads to from what is asked."""
    reached = set(asked)
    while more := {
        c for p in parts if p.columns & reached for c in p.columns if c not in reached
    }:
        reached |= more
    return [p for p in parts if p.columns & reached]


def check_condition(used: set[str], parts: list[RemainingView], full: bool) -> None:
    """A condition may look only at what worlds are made of."""
    known = frozenset().union(*(p.columns for p in parts))
    if wrong := sorted(used - known):
        hint = (
            "No view shows it."
            if full
            else "The others are projected away; ask with worlds = 'full'."
        )
        raise InputError(
            f"The condition of a secret query must use {', '.join(sorted(known))}; it "
            f"uses {wrong[0]!r}. {hint}"
        )
