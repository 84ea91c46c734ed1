"""Linkers who know columns that a release in groups shows as they are.

Whoever knows `ward` beside the columns that groups blur looks at the people of one
group and one ward. Each group is therefore judged by its cells (known values, sensitive
value), exactly. The cells are one more column of the distinct rows, which is never
released: its histogram in a group has all that is needed. Splitting a group splits its
cells, and never lowers the worst of them: a split refused once is refused for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.errors import Infeasible, TooLarge
from privet.languages import (
    join_words,
)
from privet.microdata.generalisation.constraints import (
    GroupConstraint,
    SteeringConstraint,
)
from privet.microdata.generalisation.distinct_rows import DistinctRows, allocate_rows
from privet.microdata.generalisation.infeasible_promises import refuse_beside
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import largest_fraction_within
from privet.values.contingency import Domain, packed
from privet.values.windows import Within

MOST_CELLS = 50_000
"""Cells of known values and sensitive value: every split counts all of them."""


@dataclass(frozen=True, eq=False)
class KnownCells:
    """A promise, and the cells of what is known beside groups and asked about."""

    rule: GroupConstraint
    """What must hold in every group."""
    beside: tuple[str, ...]
    """The columns known, which groups show as they are."""
    number: Ints
    """The cell of each distinct row; cells with the same known values are adjacent."""
    start: Ints
    """The first cell of each combination of known values."""
    known: Ints
    """The combination each cell belongs to."""
    matters: Flags
    """Whether each cell has a value the promise is about."""
    most: Fraction
    """The highest share that keeps the limit, in small terms."""

    def __len__(self) -> int:
        return len(self.known)

    @property
    def domain(self) -> Domain:
        """The cells as a column, whose values nobody sees."""
        names = (self.rule.promise.name, *self.beside)
        cells = [str(cell) for cell in range(len(self))]
        return Domain("\N{SYMBOL FOR UNIT SEPARATOR}".join(names), cells)

    def find_beyond(self, parts: Ints) -> Flags:
        """Which groups with these counts of cells, one line each, break the limit."""
        held, whole = self._match(parts)
        # Both terms of `most` are below 2**31, as all counts are.
        beyond = held * self.most.denominator > whole * self.most.numerator
        return np.asarray(beyond.any(axis=1))

    def _match(self, parts: Ints) -> tuple[Ints, Ints]:
        """People in each cell that matters, and with the same known values."""
        whole = np.add.reduceat(parts, self.start, axis=1)[:, self.known]
        return parts[:, self.matters], whole[:, self.matters]

    def refuse(self, parts: Ints) -> Infeasible:
        """That not even one group of everybody keeps the promise."""
        held, whole = (x.ravel().tolist() for x in self._match(parts))
        belief = max(Fraction(a, b) for a, b in zip(held, whole, strict=True) if b)
        return refuse_beside(self.rule, self.beside, belief)

    def as_constraint(self) -> SteeringConstraint:
        """What every split must keep."""
        return SteeringConstraint(self.domain.name, self.find_beyond, self.refuse)


def find_known_cells(
    rules: Sequence[GroupConstraint], cells: DistinctRows
) -> list[KnownCells]:
    """The cells of every linker who knows columns that are shown as they are."""
    found = [
        _number_cells(rule, beside, cells)
        for rule in rules
        if rule.forbids_something and not isinstance(rule.values, Within)
        for beside in rule.beside
    ]
    for made in found:
        _check(made, cells.rows[:, -1])
    return found


def _number_cells(
    rule: GroupConstraint, beside: tuple[str, ...], cells: DistinctRows
) -> KnownCells:
    at = {d.name: j for j, d in enumerate(cells.domains)}
    own = [at[c] for c in beside]
    codes = [cells.rows[:, j] for j in own]
    sizes = [len(cells.domains[j]) for j in own]
    _, known = np.unique(packed(codes, sizes, len(cells.rows)), return_inverse=True)
    about = cells.domains[at[rule.column]]
    # Known values first: of 3 sensitive values, value 2 in combination 5 has key 17.
    keys = known * len(about) + cells.rows[:, at[rule.column]]
    used, number = np.unique(keys, return_inverse=True)
    of, value = np.divmod(used, len(about))
    codes_asked = rule.find_codes(about)
    matters = np.ones(len(used), dtype=bool)
    if codes_asked is not None:
        matters = np.isin(value, codes_asked)
    return KnownCells(
        rule,
        beside,
        number.astype(np.int64),
        np.flatnonzero(np.diff(of, prepend=-1)),
        of.astype(np.int64),
        matters,
        largest_fraction_within(rule.limit, cells.people),
    )


def _check(made: KnownCells, people: Ints) -> None:
    """Refuse what no grouping can mend, and what would take too long."""
    weights = people.astype(np.float64)  # exact below 2**53
    everybody = np.bincount(made.number, weights=weights, minlength=len(made))
    counted = everybody.astype(np.int64)[None, :]
    if made.find_beyond(counted).any():
        raise made.refuse(counted)
    if len(made) > MOST_CELLS:
        raise TooLarge(
            f"{join_words(made.beside)} must have at most {MOST_CELLS:,} combinations "
            f"with {made.rule.column} where somebody knows them beside groups; there "
            f"are {len(made):,}. Declare them as quasi, put them into bins, or drop "
            "them."
        )


def append_cells(
    cells: DistinctRows, found: Sequence[KnownCells], options: Any
) -> DistinctRows:
    """The distinct rows with the cells as more columns behind all others."""
    if not found:
        return cells
    lines, width = cells.rows.shape
    rows = allocate_rows(lines, width + len(found), options)
    rows[:, : width - 1] = cells.rows[:, :-1]
    for j, made in enumerate(found):
        rows[:, width - 1 + j] = made.number
    rows[:, -1] = cells.rows[:, -1]
    return DistinctRows((*cells.domains, *(made.domain for made in found)), rows)
