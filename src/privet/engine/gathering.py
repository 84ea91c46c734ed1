"""The distinct values of columns, gathered in as few scans as fit into memory."""

from __future__ import annotations

from collections.abc import Sequence

from privet.engine import sql
from privet.engine.duckdb.session import Session
from privet.engine.failures import DoesNotFit
from privet.engine.protocol import Run

COLUMNS_AT_ONCE = 32
"""Columns whose values one statement collects; GROUPING_ID takes 63 at the most."""

PARTS = (8, 64, 512)
"""Into how many parts a column is cut when its values are not found at once."""


class DistinctValues:
    """Tables of the values of each column: pv_values_0, pv_values_1, …"""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._collected: set[int] = set()

    def gather(self, columns: Sequence[int], run: Run) -> None:
        """Gather the values of columns that are not known yet."""
        fresh = [c for c in dict.fromkeys(columns) if c not in self._collected]
        scans = range(0, len(fresh), COLUMNS_AT_ONCE)
        for i, start in enumerate(scans):
            few = fresh[start : start + COLUMNS_AT_ONCE]
            self._collect(few, run, (i + 1, len(scans) + 1))

    def learn(self, c: int, cells: str, run: Run) -> None:
        """Take the values of a column from combinations that were counted."""
        if c in self._collected:
            return
        found = f"SELECT c{c} AS v, CAST(sum(n) AS BIGINT) AS n FROM {cells} GROUP BY v"
        self._session.make(found, f"pv_values_{c}", run, "reading values", (3, 3))
        total = self._session.one(f"SELECT CAST(sum(n) AS BIGINT) FROM pv_values_{c}")
        self._session.total = int(total or 0)
        self._collected.add(c)

    def _collect(self, columns: Sequence[int], run: Run, step: tuple[int, int]) -> None:
        """Gather the distinct values of columns, in one scan where that fits."""
        try:
            values = sql.values_of(columns, "pv_people")
            self._session.make(values, "pv_found", run, "reading values", step)
        except DoesNotFit:
            self._collect_less(columns, run, step)
            return
        for c in columns:
            own = f"SELECT c{c} AS v FROM pv_found WHERE g = {sql.mask([c], columns)}"
            self._session.make(own, f"pv_values_{c}", run, "reading values", step)
        whole = sql.mask([], columns)
        count = self._session.ask(f"SELECT n FROM pv_found WHERE g = {whole}")
        self._session.total = int(count["n"][0].as_py()) if len(count) else 0
        self._session.ask("DROP TABLE pv_found")
        self._collected.update(columns)

    def _collect_less(
        self, columns: Sequence[int], run: Run, step: tuple[int, int]
    ) -> None:
        """The same for half of the columns at a time; a single one in hash parts."""
        half = len(columns) // 2
        if half:
            self._collect(columns[:half], run, step)
            self._collect(columns[half:], run, step)
            return
        for parts in PARTS:
            try:
                self._collect_parts(columns[0], parts, run, step)
                return
            except DoesNotFit:
                continue
        raise DoesNotFit

    def _collect_parts(
        self, c: int, parts: int, run: Run, step: tuple[int, int]
    ) -> None:
        self._session.ask(
            f"CREATE OR REPLACE TEMP TABLE pv_values_{c} AS "
            f"SELECT c{c} AS v, count(*) AS n FROM pv_people WHERE false GROUP BY c{c}"
        )
        for part in range(parts):
            values = sql.values_in_part(c, part, parts, sql.DUCKDB)
            insert = f"INSERT INTO pv_values_{c} {values}"
            doing = f"reading values, part {part + 1} of {parts}"
            self._session.run(insert, run, doing, step)
        total = self._session.one(f"SELECT CAST(sum(n) AS BIGINT) FROM pv_values_{c}")
        self._session.total = int(total or 0)
        self._collected.add(c)
