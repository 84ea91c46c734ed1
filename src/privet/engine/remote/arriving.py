"""Different tuples of some columns, counted in a place and brought here as codes.

Views are joined here, by the same statements as those of files; rows stay where they
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count

from privet.engine import sql
from privet.engine.dictionaries import Dictionaries, Dictionary
from privet.engine.duckdb.session import Session, too_little_memory
from privet.engine.failures import DoesNotFit
from privet.engine.gathering import PARTS
from privet.engine.projections import Projection
from privet.engine.protocol import Recoding, Run
from privet.engine.remote.connection import Connection
from privet.engine.sources.source import Source
from privet.values.schema import Column

TUPLES_AT_ONCE = 2_000_000
"""Tuples that come together."""

_numbers = count()


class FetchedTuples(Projection):
    """Columns whose tuples are here: in codes k0, k1, …, each with its number n."""

    holds_codes = True

    def __init__(
        self,
        session: Session,
        columns: Sequence[Column],
        source: Source,
        dictionaries: Dictionaries,
        made: Mapping[int, Dictionary],
        total: int | None,
    ) -> None:
        super().__init__(session, columns, source, dictionaries)
        self._made = made
        self._total = total
        self.people = f"pv_arrived_{next(_numbers)}"

    @property
    def total(self) -> int | None:
        """How many rows the place has."""
        return self._total

    def coded(
        self, names: Sequence[str], recodings: Mapping[str, Recoding], run: Run
    ) -> dict[str, Dictionary]:
        """Dictionaries of all columns that are here."""
        return {n: self._made[self.position(n)] for n in dict.fromkeys(names)}

    every = coded

    def weight(self, name: str | None) -> str:
        """How many rows a tuple stands for."""
        return "s.n"

    def bring(
        self, place: Connection, people: str, weighted: bool, run: Run
    ) -> FetchedTuples:
        """Fill the table with the tuples of some people of a place."""
        for parts in (1, *PARTS):
            try:
                for part in range(parts):
                    self._bring_part(place, people, weighted, run, (part, parts))
            except DoesNotFit:
                continue
            return self
        raise too_little_memory()

    def _bring_part(
        self,
        place: Connection,
        people: str,
        weighted: bool,
        run: Run,
        part: tuple[int, int],
    ) -> None:
        number, of = part
        dialect, codes = place.dialect, list(self._made)
        tables = {c: made.table for c, made in self._made.items()}
        rows = sql.coded(tables, people, "s.w AS w" if weighted else "", dialect)
        key = sql.hashed([f"k{c}" for c in codes], dialect)
        only = f"WHERE {key} % {of} = {number}" if of > 1 else ""
        amounts = sql.amounts(False, weighted, dialect)
        statement = sql.count_set(codes, "", rows, amounts, only, dialect)
        doing = "reading views"
        if of > 1:
            doing += f", part {number + 1} of {of}"
        most = TUPLES_AT_ONCE if of < PARTS[-1] else None
        work = partial(place.fetch, statement, most=most)
        found = place.watched(work, run, doing, (1, 2))
        self.session.register("pv_arriving", found)
        head = f"INSERT INTO {self.people} " if number else ""
        if not head:
            head = f"CREATE OR REPLACE TEMP TABLE {self.people} AS "
        try:
            select = f"{head}SELECT * FROM pv_arriving"
            self.session.run(select, run, doing, (1, 2))
        finally:
            self.session.unregister("pv_arriving")
