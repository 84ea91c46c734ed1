"""What full-domain search chose: levels, who is suppressed and how, and how good it is.

The public part is what a manifest and its note say; costs, bounds and how much was
tried are private.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

STARRED, LEFT_OUT = "starred", "left out"
SEMANTICS = (STARRED, LEFT_OUT)
"""What becomes of suppressed rows."""

LEVELS, SUBTREES = "levels", "subtrees"
PROVED, LOCAL, OPEN = "proved", "local", "open"
WITHIN = re.compile(r"within (100|[1-9]?[0-9]) %")
"""How far the cost may be above the least one, at most."""

NEAR = 1e-12
"""Costs closer than this are one."""


@dataclass(frozen=True)
class LevelChoice:
    """The outcome of a search over levels of hierarchies."""

    by: str
    """`LEVELS`: one per column; or `SUBTREES`: each branch at its own."""
    cost: float
    """Mean NCP of all people, suppressed ones at their price."""
    bound: float
    """No choice of levels costs less."""
    judged: int
    """How many combinations of levels were judged."""
    nodes: int
    """How many there are."""
    suppressed: int
    """How many people are suppressed."""
    semantics: str
    """What became of them: `STARRED` or `LEFT_OUT`."""
    levels: Mapping[str, int | None]
    """The level of each column, 0 for the values themselves; None: of subtrees."""
    finished: bool = True
    """Of subtrees: whether every single step was tried in the end."""

    @property
    def optimum(self) -> str:
        """`PROVED`, or how far from it at most; of subtrees `LOCAL` or `OPEN`."""
        if self.by == SUBTREES:
            return LOCAL if self.finished else OPEN
        if self.cost <= self.bound + NEAR:
            return PROVED
        return f"within {min(ceil(100 * (1 - self.bound / self.cost)), 100)} %"

    def to_public(self) -> dict[str, Any]:
        """What the manifest says."""
        return {
            "by": self.by,
            "optimum": self.optimum,
            "suppressed": self.suppressed,
            "shown_as": self.semantics,
        }

    def to_dict(self) -> dict[str, Any]:
        """For the report and the custody record."""
        return {
            **self.to_public(),
            "cost": round(self.cost, 6),
            "bound": round(self.bound, 6),
            "judged": self.judged,
            "combinations": self.nodes,
            "levels": dict(self.levels),
        }


def is_public_choice(stated: Any) -> bool:
    """Whether a manifest says of a choice what `LevelChoice.to_public` would."""
    if not isinstance(stated, dict) or len(stated) != 4:
        return False
    by, optimum, people = (stated.get(k) for k in ("by", "optimum", "suppressed"))
    if by not in (LEVELS, SUBTREES) or stated.get("shown_as") not in SEMANTICS:
        return False
    number = isinstance(people, int) and not isinstance(people, bool) and people >= 0
    if by == SUBTREES:
        return number and optimum in (LOCAL, OPEN)
    known = isinstance(optimum, str) and WITHIN.fullmatch(optimum) is not None
    return number and (optimum == PROVED or known)
