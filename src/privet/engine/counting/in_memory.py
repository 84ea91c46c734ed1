"""An engine in memory: counts that are at hand already, counted further.

There are no rows, and nothing to open; or the codes of all rows, held because very many
sets of columns are to be counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.dense_arrays import BLOCK, MOST_CELLS, CodeTally
from privet.engine.counting.pairs import DrawnRows
from privet.engine.protocol import (
    ColumnSummary,
    CountedClasses,
    CountRequest,
    DrawnCells,
    NameList,
    Queries,
    Recodings,
    Run,
    WriteQuery,
)
from privet.engine.randomise.randomise_rows import Cells, Randomisation
from privet.errors import InputError
from privet.values.contingency import Counts, Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.schema import Column

SCATTER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 over the golden ratio: products with it have high bits that look drawn."""


class InMemory:
    """An engine of one coded count; whatever it stands for was recoded before."""

    name = "memory"
    version = "1"

    def __init__(
        self,
        domains: Sequence[Domain],
        codes: Sequence[NDArray[Any]],
        n: Any,
        *,
        most_cells: int = MOST_CELLS,
    ):
        """Codes of each column, and how many rows have each combination.

        Arrays of at most so many cells are filled to count them.
        """
        self._domains = {d.name: d for d in domains}
        self._counts = Counts(tuple(domains), tuple(codes), n)
        self._tally = CodeTally(self._counts, most_cells)

    def columns(self) -> tuple[Column, ...]:
        """The columns of the count."""
        return tuple(Column(d.name, d.kind) for d in self._domains.values())

    def list_codes(self) -> list[tuple[Domain, NDArray[Any]]]:
        """Each column's values, and the codes of its rows."""
        return list(zip(self._counts.domains, self._counts.codes, strict=True))

    def list_sizes(self) -> NDArray[np.int64]:
        """How many rows each combination of codes stands for."""
        return self._counts.n

    def list_types(self) -> dict[str, str]:
        """None: values are kept as texts."""
        return {}

    def rows(self, run: Run) -> int:
        """How many rows were counted."""
        return self._counts.total

    def is_empty(self) -> bool:
        """Whether there are no rows at all."""
        return len(self._counts) == 0

    def describe(self, run: Run) -> tuple[ColumnSummary, ...]:
        """Every column with its kind and numbers of values."""
        raise _no_rows()

    def domains(
        self, columns: NameList, recodings: Recodings, run: Run, before: Queries = ()
    ) -> dict[str, Domain]:
        """The values of some columns."""
        return {c: self._domains[c] for c in columns}

    def count(self, request: CountRequest, run: Run) -> CountedClasses:
        """Count; multiplicities are in the count already."""
        if request.only:
            raise InputError("Counts must be counted whole; single people are not.")
        order = list(self._domains)
        for tally in dict.fromkeys(request.tallies):
            run.check()
            by = sorted(tally.by, key=order.index)
            yield tally, self._group(by, tally.about)

    def _group(self, by: NameList, about: str) -> EquivalenceClasses:
        if not self._tally.packs([*by, about]):
            whole = self._counts.over([*by, about])
            return EquivalenceClasses.from_counts(whole, by, about)
        domains = [self._domains[c] for c in (*by, about)]
        return EquivalenceClasses.from_sorted(domains, *self._tally.count([*by, about]))

    def sample_rows(
        self, columns: NameList, recodings: Recodings, most: int, run: Run
    ) -> DrawnRows:
        """All rows: they are counted already; of very many combinations, some.

        Those drawn stand for about so many rows, and are always the same.
        """
        share = -(-self._counts.total // most)
        if len(self._counts) <= most or share <= 1:
            return DrawnRows.from_counts(self._counts.over(columns))
        return self._draw_rows(columns, share)

    def _draw_rows(self, columns: NameList, share: int) -> DrawnRows:
        """One combination in so many, by a hash of some columns' codes."""
        own = dict(zip(self._counts.columns, self._counts.codes, strict=True))
        parts = []
        for start in range(0, len(self._counts), BLOCK):
            key = np.zeros(min(BLOCK, len(self._counts) - start), dtype=np.uint64)
            for c in columns:
                key += own[c][start : start + BLOCK].astype(np.uint64)
                key *= SCATTER
            chosen = (key >> np.uint64(32)) % np.uint64(share) == 0
            parts.append(start + np.flatnonzero(chosen))
        drawn = np.concatenate(parts)
        codes = [own[c][drawn].astype(np.int64) for c in columns]
        domains = {c: self._domains[c] for c in columns}
        n = self._counts.n[drawn]
        return DrawnRows(domains, dict(zip(columns, codes, strict=True)), n, False)

    def sample_cells(self, by: NameList, most: int, run: Run) -> DrawnCells:
        """Counts have no rows to look at; the table they were made from does."""
        raise _no_rows()

    def count_combinations(self, columns: NameList, run: Run) -> int:
        """Counts are counted as they are."""
        raise _no_rows()

    def write(self, writing: WriteQuery, recodings: Recodings, run: Run) -> int:
        """Counts are not written; the rows they stand for are."""
        raise _no_rows()

    def draw(self, drawing: Randomisation, recodings: Recodings, run: Run) -> int:
        """Counts are not disguised; the rows they stand for are."""
        raise _no_rows()

    def digest(self, query: object, run: Run) -> int:
        """Digests are made of the private table, not of counts of it."""
        raise _no_rows()

    def tabulate(self, sets: Sequence[NameList], run: Run) -> Iterator[Cells]:
        """Counts are tabulated by the table they were made from."""
        raise _no_rows()

    def close(self) -> None:
        """There is nothing to let go of."""


def _no_rows() -> InputError:
    return InputError("Counts must be used through the table they were made from.")
