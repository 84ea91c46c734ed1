"""Coded rows: a small integer in place of each value, ready to be counted.

A row's codes make one key in mixed radix, the last column varying fastest: with sizes
(3, 4, 2) the codes (2, 1, 1) are the key (2·4 + 1)·2 + 1 = 19 of 24.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from math import prod
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from privet.engine import arrow, sql
from privet.engine.counting.coded_copy import COPY, CodedCopy
from privet.engine.counting.precount import Precount
from privet.engine.dictionaries import Dictionary
from privet.engine.protocol import CountQuery, CountUnit, Run
from privet.engine.run import StatementRunner
from privet.errors import TooLarge
from privet.values.contingency import MOST_KEYS, Domain

T = TypeVar("T")

Order = tuple[int, ...]
"""Columns counted together, by their position; the one counted in groups is last."""

Tables = dict[Order, pa.Table]
"""What was counted of each set of columns: key and n, by increasing keys.

Codes k0, k1, … and n, in any order, where the keys of a set do not pack.
"""

Step = tuple[int, int]
"""Which statement runs, of how many; for progress."""

MOST_COLUMNS = 100
"""Columns of one group; planning more joins than that takes longer than counting."""


class CodedRows:
    """The rows of one source over its coded columns, and what is counted of them."""

    def __init__(
        self,
        session: StatementRunner,
        dictionaries: Mapping[int, Dictionary],
        position: Callable[[str], int],
        run: Run,
        *,
        amount: CountUnit | None = None,
        people: str = "pv_people",
        weight: str = "",
        precount: Precount | None = None,
        copy: CodedCopy | None = None,
    ) -> None:
        """Read from `people`, each with a `weight`; or from what was counted before.

        A `copy` that has the codes of the columns stands for plain rows.
        """
        self.session = session
        self.dialect = session.dialect
        self.precount = precount
        self._copy = copy
        self.unit = amount.unit if amount else None
        self._dictionaries = dictionaries
        self._position = position
        self._run = run
        self._people = people
        self._weight = weight
        self.is_weighted = bool(weight) or precount is not None
        self.sums = sql.amounts(bool(self.unit), self.is_weighted, self.dialect)

    # What is there to count -----------------------------------------------------------

    def list_sets(self, query: CountQuery) -> list[Order]:
        """What a query needs counted; the groups by themselves for people."""
        if len(query.by) > MOST_COLUMNS:
            raise TooLarge(
                f"Groups must be made by at most {MOST_COLUMNS} columns; "
                f"got {len(query.by)}. Name those that somebody may know."
            )
        by = tuple(sorted(self._position(c) for c in query.by))
        cells = (*by, self._position(query.about))
        # People of a group are not the sum over its values: somebody may have two.
        return [cells, by] if self.unit else [cells]

    def list_all_sets(self, queries: Iterable[CountQuery]) -> list[Order]:
        """What several queries need counted, each set once."""
        return list(dict.fromkeys(o for q in queries for o in self.list_sets(q)))

    @cached_property
    def sizes(self) -> dict[int, int]:
        """How many codes each column has."""
        return {c: len(d.domain) for c, d in self._dictionaries.items()}

    def count_cells(self, order: Order) -> int:
        """How many combinations of codes some columns could have."""
        return prod(self.sizes[c] for c in order)

    def packs(self, order: Order) -> bool:
        """Whether the codes of some columns fit one 64-bit integer."""
        return self.count_cells(order) < MOST_KEYS

    def domains(self, order: Order) -> tuple[Domain, ...]:
        """The values of some columns."""
        return tuple(self._dictionaries[c].domain for c in order)

    @property
    def total(self) -> int:
        """How many rows there are; 0 where nobody knows."""
        return self.session.total or 0

    @cached_property
    def is_plain(self) -> bool:
        """Whether rows are in this process, and each counts as one."""
        return self.dialect.at_hand and not self.unit and not self.is_weighted

    # Statements -----------------------------------------------------------------------

    def select(self, columns: Sequence[int]) -> str:
        """The codes of some columns, with their weight `w` or the person `u`."""
        extra, people = "", self._people
        if self.precount is not None:
            extra, people = "s.n AS w", self.precount.find_cells(columns) or people
        if self.unit:
            extra = f"s.c{self._position(self.unit)} AS u"
        if self._weight:
            extra = f"{self._weight} AS w"
        tables = {c: self._dictionaries[c].table for c in columns}
        if self._copy is not None and not extra and self._copy.covers(tables):
            return self._copy.select(columns)
        return sql.coded(tables, people, extra, self.dialect)

    def select_cells(self, cells: str, columns: Sequence[int]) -> str:
        """The codes of combinations that were counted, with their mark and number."""
        tables = {c: self._dictionaries[c].table for c in columns}
        return sql.code_cells(tables, cells, self.dialect)

    def select_keys(self, sets: Sequence[Order]) -> str:
        """One key per row and set of columns."""
        used = sorted({c for o in sets for c in o})
        if self._has_copied_key(sets):
            return f"SELECT key AS key0 FROM {COPY}"
        return sql.select_keys(sets, self.sizes, self.select(used), self.dialect)

    def _has_copied_key(self, sets: Sequence[Order]) -> bool:
        """Whether the copy of the rows has the very key that is asked for."""
        if self._copy is None or len(sets) > 1 or not self._copy.has_key(sets[0]):
            return False
        tables = {c: self._dictionaries[c].table for c in sets[0]}
        return self.is_plain and self._copy.covers(tables)

    def fetch_keys(
        self, sets: Sequence[Order], step: Step, only: str = ""
    ) -> list[NDArray[np.int64]]:
        """The keys of all rows: for each set an array as long as the table."""
        statement = f"{self.select_keys(sets)} {only}"
        found = self.fetch(statement, None, step)
        return [arrow.numbers(column) for column in found.columns]

    def fetch(
        self, statement: str, most: int | None, step: Step, doing: str = "counting"
    ) -> pa.Table:
        """What a statement counts, unless it has more than so many lines."""
        work = partial(self.session.fetch, statement, most=most)
        return self.watch(work, step, doing)

    def watch(self, work: Callable[[], T], step: Step, doing: str = "counting") -> T:
        """Do something in the session's thread, with progress."""
        return self.session.run_watched(work, self._run, doing, step)


def numbers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of a count."""
    return arrow.numbers(table[column]).astype(np.int64, copy=False)


def make_table(**columns: NDArray[np.int64]) -> pa.Table:
    """A count of some columns."""
    return arrow.frame(**{c: arrow.integers(v) for c, v in columns.items()})
