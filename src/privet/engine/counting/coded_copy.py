"""A coded copy of a text file: values, codes and rows from one scan.

Splitting lines into texts takes most of the time of a scan. Where the first rows seem
to have all values of the columns, these are coded, and one scan writes the codes of all
rows into a table of our own, or the one key that is to be counted; the first value that
has no code ends it, and the file is scanned for its values, as others are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from pathlib import Path

from privet.engine import sql
from privet.engine.dictionaries import COLUMNS_AT_ONCE, Dictionaries
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Recodings, Run
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import EngineError, InputError
from privet.values.contingency import MOST_KEYS

LEAST_BYTES = 64_000_000
"""Smaller files are scanned in no time."""

CODE_SHARE = 4
"""The codes of a file take at most one byte in so many, as far as one can expect."""

COPY = "pv_coded"
"""The table of codes k0, k1, …; or of their key."""

Order = tuple[int, ...]
"""Columns counted together, by their position."""


class CodedCopy:
    """The codes of all rows, where they were worth a copy, until they are counted."""

    def __init__(self, session: Session, dictionaries: Dictionaries) -> None:
        self._session = session
        self._dictionaries = dictionaries
        self._codes: dict[int, str] = {}  # the dictionary of each column in the copy
        self._key: dict[int, int] = {}  # the columns of the key, if any: their sizes
        self._tried = False

    def covers(self, tables: Mapping[int, str]) -> bool:
        """Whether rows have these codes, by the dictionaries of the columns."""
        return bool(tables) and tables.items() <= self._codes.items()

    def select(self, columns: Sequence[int]) -> str:
        """The codes of some columns."""
        codes = [f"k{c}" for c in columns]
        if self._key:
            codes = [f"{sql.unpacked(c, self._key)} AS k{c}" for c in columns]
        return f"SELECT {', '.join(codes)} FROM {COPY}"

    def has_key(self, order: Order) -> bool:
        """Whether it has the key of just these columns in this order."""
        return bool(self._key) and order == tuple(self._key)

    def prepare(
        self,
        columns: Sequence[int],
        source: Source,
        recodings: Recodings,
        run: Run,
        orders: Collection[Order] = (),
    ) -> None:
        """Make the copy, once, if the file is large and its values seem to be few.

        Of one order of all columns that is to be counted, their key is enough: it is
        faster to write than ten codes, and need not be worked out again.
        """
        if self._tried or len(columns) > COLUMNS_AT_ONCE or not self._is_worth(source):
            return
        self._tried = True
        made = self._dictionaries.guess_columns(columns, recodings, run)
        if made is None:
            return
        tables = {c: d.table for c, d in made.items()}
        copied = sql.code_all(tables, "pv_people", sql.DUCKDB)
        key = _choose_key({c: len(d.domain) for c, d in made.items()}, orders)
        if key:
            copied = (
                f"SELECT {sql.packed([*key], key, sql.DUCKDB)} AS key FROM ({copied})"
            )
        try:
            rows = self._session.make(copied, COPY, run, "reading values", (1, 2))
        except (DoesNotFit, EngineError, InputError):
            # Values without a code, most likely; other reasons come up again.
            self._dictionaries.forget_guessed()
            return
        self._session.total = rows
        self._codes, self._key = tables, key

    def drop(self) -> None:
        """Let go of the copy: what was to be counted of it was counted."""
        if self._codes:
            self._codes, self._key = {}, {}
            self._session.ask(f"DROP TABLE {COPY}")

    def _is_worth(self, source: Source) -> bool:
        if not source.textual or source.json or not source.paths:
            return False
        size = _count_bytes(source.paths)
        return size >= LEAST_BYTES and size // CODE_SHARE <= self._session.room


def _choose_key(sizes: Mapping[int, int], orders: Collection[Order]) -> dict[int, int]:
    """The columns of a key, in order, and their sizes; empty: codes are copied."""
    first, *others = dict.fromkeys(orders) or [()]
    if others or {*first} != {*sizes} or prod(sizes.values()) >= MOST_KEYS:
        return {}
    return {c: sizes[c] for c in first}


def _count_bytes(paths: Collection[str]) -> int:
    """The size of some files; nothing where one is no file any more."""
    try:
        return sum(Path(path).stat().st_size for path in paths)
    except OSError:
        return 0
