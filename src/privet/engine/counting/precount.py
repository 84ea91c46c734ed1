"""Precounts: combinations of values, counted as they are, before anything is coded.

Where few combinations occur, one scan finds the values of the columns and the counts,
and every count of the same columns afterwards reads the few instead of the many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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

Set = frozenset[int]
"""Columns, by their position."""


class Precount:
    """Tables of the combinations of some columns, each with its number of rows."""

    def __init__(self, session: Session, values: DistinctValues) -> None:
        self._session = session
        self._values = values
        self._tables: dict[Set, str] = {}
        self._many: set[Set] = set()  # what was looked at and is not to be counted
        self._lock = Lock()

    def find_table(self, columns: Iterable[int]) -> str | None:
        """A table with these columns and their `n`, if there is one."""
        wanted = frozenset(columns)
        wide = [s for s in self._tables if wanted <= s]
        return self._tables[min(wide, key=len)] if wide else None

    def prepare(self, sets: Collection[Set], run: Run) -> bool:
        """Count combinations, if they are few; whether all of the sets are there."""
        with self._lock:
            new = [s for s in dict.fromkeys(sets) if self.find_table(s) is None]
            if new:
                self._count(self._choose_sets(_select_widest(new), run), run)
                self._many.update(s for s in new if self.find_table(s) is None)
            return all(self.find_table(s) is not None for s in sets)

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
            self._session.make(statement, name, run, "counting", (2, 3))
        except DoesNotFit:
            return
        for i, columns in enumerate(sets):
            own = f"{name}_{i}"
            chosen = ", ".join(f"c{c}" for c in sorted(columns))
            self._session.ask(
                f"CREATE TEMP VIEW {own} AS SELECT {chosen}, n FROM {name} "
                f"WHERE g = {sql.mask(sorted(columns), used)}"
            )
            self._tables[columns] = own
        for c in used:
            self._values.learn(c, self.find_table([c]) or "", run)


def _select_widest(sets: Sequence[Set]) -> list[Set]:
    """The sets that no other one contains."""
    return [s for s in sets if not any(s < other for other in sets)]
