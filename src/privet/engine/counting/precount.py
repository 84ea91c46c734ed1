"""Precounts: combinations of values, counted as they are, before anything is coded.

Where few combinations occur, one scan finds the values of the columns and the counts,
and every count of the same columns afterwards reads the few instead of the many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

from privet.engine import sql
from privet.engine.dictionaries import DistinctValues
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Run
from privet.engine.run import DoesNotFit

FEW_ROWS = 20_000
"""Rows that are looked at to guess how many combinations there are."""

LESS = 10
"""So many times fewer combinations than rows are few."""

SETS_AT_ONCE = 64
"""Sets of columns that one statement counts."""

COLUMNS_AT_ONCE = 60
"""Columns per statement; GROUPING_ID takes 63 at the most."""

CELLS_HELD = 1_000_000
"""Values of combinations that are fetched together, to be added up here."""

Set = frozenset[int]
"""Columns, by their position."""


@dataclass(frozen=True)
class CellTable:
    """Combinations of several sets of columns, counted in one scan."""

    name: str
    """What statements call it."""
    rows: int
    """How many combinations it holds."""
    marks: dict[Set, int]
    """What each set of columns is marked by, in `g`."""

    def select(self, columns: Set) -> str:
        """The combinations of one of its sets, and how many rows have each."""
        chosen = ", ".join(f"c{c}" for c in sorted(columns))
        return f"(SELECT {chosen}, n FROM {self.name} WHERE g = {self.marks[columns]})"

    def find_set(self, columns: Iterable[int]) -> Set | None:
        """The narrowest of its sets that has these columns."""
        wanted = frozenset(columns)
        return min((s for s in self.marks if wanted <= s), key=len, default=None)

    def find_mark(self, columns: Iterable[int]) -> int | None:
        """What the narrowest set with these columns is marked by."""
        own = self.find_set(columns)
        return None if own is None else self.marks[own]


class Precount:
    """Tables of the combinations of some columns, each with its number of rows."""

    def __init__(self, session: Session, values: DistinctValues) -> None:
        self._session = session
        self._values = values
        self._tables: list[CellTable] = []
        self._many: set[Set] = set()  # what was looked at and is not to be counted
        self._lock = Lock()

    def find_cells(self, columns: Iterable[int]) -> str | None:
        """What selects the combinations of columns and their `n`, if they are known."""
        wanted = frozenset(columns)
        found = [(t, s) for t in self._tables if (s := t.find_set(wanted)) is not None]
        if not found:
            return None
        table, narrowest = min(found, key=lambda pair: len(pair[1]))
        return table.select(narrowest)

    def find_few(self, sets: Collection[Iterable[int]]) -> CellTable | None:
        """The table that has all of these sets, if it is small enough to be fetched."""
        width = len(Set().union(*sets))
        for table in self._tables:
            known = all(table.find_set(s) is not None for s in sets)
            if known and table.rows * width <= CELLS_HELD:
                return table
        return None

    def prepare(self, sets: Collection[Set], run: Run) -> bool:
        """Count combinations, if they are few; whether all of the sets are there."""
        with self._lock:
            new = [s for s in dict.fromkeys(sets) if self.find_cells(s) is None]
            if new:
                self._count(self._choose_sets(_select_widest(new), run), run)
                self._many.update(s for s in new if self.find_cells(s) is None)
            return all(self.find_cells(s) is not None for s in sets)

    def _choose_sets(self, sets: Sequence[Set], run: Run) -> Sequence[Set]:
        """What to count: all columns together, else set by set, else nothing."""
        union = Set().union(*sets)
        if len(union) > COLUMNS_AT_ONCE or not self._many.isdisjoint(sets):
            return ()
        tried = list(dict.fromkeys([union, *sets[:SETS_AT_ONCE]]))
        statement = sql.count_sampled(tried, "pv_people", FEW_ROWS)
        ask = partial(self._session.fetch, statement)
        try:
            table = self._session.run_watched(ask, run, "reading values", (1, 3))
        except DoesNotFit:
            return ()
        # 2,000 combinations in 20,000 rows are few; of fewer rows any number is.
        rows, *distinct = (column[0].as_py() for column in table.columns)
        few = {
            s
            for s, n in zip(tried, distinct, strict=True)
            if rows < FEW_ROWS or n * LESS <= rows
        }
        if union in few:
            return [union]
        return sets if few.issuperset(sets) else ()

    def _count(self, sets: Sequence[Set], run: Run) -> None:
        """Count sets in one scan; where the result does not fit, nothing is kept."""
        if not sets:
            return
        name = f"pv_cells_{len(self._tables)}"
        used = sorted(Set().union(*sets))
        statement = sql.count_cells([sorted(s) for s in sets], "pv_people")
        try:
            rows = self._session.make(statement, name, run, "counting", (2, 3))
        except DoesNotFit:
            return
        marks = {s: sql.mask(sorted(s), used) for s in sets}
        self._tables.append(CellTable(name, rows, marks))
        for c in used:
            self._values.learn(c, self.find_cells([c]) or "", run)


def _select_widest(sets: Sequence[Set]) -> list[Set]:
    """The sets that no other one contains."""
    return [s for s in sets if not any(s < other for other in sets)]
