"""Groups: equivalence classes, each with the multiset of one column's values.

It is what an adversary sees of a table, however the groups were made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from privet.display import Displayed
from privet.engine.protocol import CountQuery, Run
from privet.errors import EmptyTable, InputError
from privet.microdata.list_columns import refuse_lists
from privet.table import Table, require_columns
from privet.values.contingency import Counts, Domain
from privet.values.equivalence_classes import EquivalenceClasses, group_counts

LISTS = "groups count one value per person. Audit the table itself."

LABEL = "group"
"""What groups without columns of their own are told apart by."""


@dataclass(frozen=True, eq=False)
class Groups(Displayed):
    """What an adversary sees of a table: who looks like whom, and which values occur.

    >>> two = Groups.from_histograms([{"flu": 2, "aids": 2}, {"flu": 1}])
    >>> two
    Groups(2 groups of 5 people, about value)
    """

    grouped: EquivalenceClasses
    """The counts."""
    everybody: EquivalenceClasses
    """The same people as one group."""
    counted: str = "people"
    """What is counted: rows or people."""

    def __post_init__(self) -> None:
        if len(self.grouped) == 0:
            raise EmptyTable("A release must have groups with people; got none.")

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that make the groups."""
        return tuple(d.name for d in self.grouped.by)

    @property
    def about(self) -> str:
        """The column whose values are counted."""
        return self.grouped.about.name

    @property
    def people(self) -> int:
        """How many there are in all groups."""
        return int(self.grouped.total.sum())

    def __len__(self) -> int:
        return len(self.grouped)

    def __repr__(self) -> str:
        return (
            f"Groups({len(self)} groups of {self.people} {self.counted}, "
            f"about {self.about})"
        )

    def to_dict(self) -> dict[str, Any]:
        """For machines: how many groups there are of each size; no cell of a row."""
        sizes, n = np.unique(self.grouped.total, return_counts=True)
        counted = zip(sizes.tolist(), n.tolist(), strict=True)
        return {
            "about": self.about,
            "quasi": list(self.quasi),
            "groups": len(self),
            "people": self.people,
            "counted": self.counted,
            "sizes": {str(size): number for size, number in counted},
        }

    def histograms(self) -> Iterator[dict[str | None, int]]:
        """The histogram of each group."""
        return (self.grouped.histogram(g) for g in range(len(self)))

    @classmethod
    def from_histograms(
        cls,
        histograms: Sequence[Mapping[str, int]] | Mapping[str, Mapping[str, int]],
        *,
        about: str = "value",
    ) -> Groups:
        """Groups written out by hand, numbered from 1 or named."""
        named = (
            dict(histograms)
            if isinstance(histograms, Mapping)
            else {str(i): h for i, h in enumerate(histograms, 1)}
        )
        cells: dict[tuple[str | None, ...], int] = {}
        for group, histogram in named.items():
            for value, n in histogram.items():
                if isinstance(n, bool) or not isinstance(n, int) or n < 0:
                    raise InputError(
                        f"A histogram must hold whole numbers; got {n!r} in group "
                        f"{group!r}."
                    )
                cells[group, str(value)] = n
        counts = _reorder_groups(Counts.from_cells([LABEL, about], cells), list(named))
        return cls(
            group_counts(counts, [LABEL], about), group_counts(counts, [], about)
        )

    @classmethod
    def from_table(cls, table: Table, about: str | None, *, run: Run) -> Groups:
        """The groups of all quasi columns of a table."""
        column = about or table.protected()
        require_columns([column], table.schema, "about")
        refuse_lists(table, [column], run, LISTS)
        by = tuple(c for c in table.roles.quasi if c != column)
        parts, everybody = [], CountQuery((), column)
        for tally, batch in table.count([CountQuery(by, column), everybody], run):
            if tally == everybody:
                overall = batch
            if tally.by == by:
                parts.append(batch)
        return cls(reduce(add, parts), overall, table.counted)


def _reorder_groups(counts: Counts, names: Sequence[str]) -> Counts:
    """Number the groups as they were given instead of by the alphabet."""
    old = counts.domains[0]
    kept = [n for n in names if old.code(n) is not None]
    new = Domain(LABEL, kept)
    # code[old] is new: of z, a the alphabet says a 0, z 1, so that code is 1 0.
    code = np.array([new.code(old[c]) for c in range(len(old))], dtype=np.int64)
    return Counts(
        (new, counts.domains[1]), (code[counts.codes[0]], counts.codes[1]), counts.n
    )
