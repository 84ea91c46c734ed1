"""A coded copy of a text file: values, codes and rows from one scan.

Splitting lines into texts takes most of the time of a scan. Where the first rows seem
to have all values of the columns, these are coded, and one scan writes the codes of all
rows into a table of our own; the first value that has no code ends it, and the file is
scanned for its values, as others are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from privet.engine import sql
from privet.engine.dictionaries import COLUMNS_AT_ONCE, Dictionaries
from privet.engine.duckdb.session import Session
from privet.engine.protocol import Recodings, Run
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source
from privet.errors import EngineError, InputError

LEAST_BYTES = 64_000_000
"""Smaller files are scanned in no time."""

CODE_SHARE = 4
"""The codes of a file take at most one byte in so many, as far as one can expect."""

COPY = "pv_coded"
"""The table of codes k0, k1, …"""


class CodedCopy:
    """The codes of all rows, where they were worth a copy, until they are counted."""

    def __init__(self, session: Session, dictionaries: Dictionaries) -> None:
        self._session = session
        self._dictionaries = dictionaries
        self._codes: dict[int, str] = {}  # the dictionary of each column in the copy
        self._tried = False

    def covers(self, tables: Mapping[int, str]) -> bool:
        """Whether rows have these codes, by the dictionaries of the columns."""
        return bool(tables) and tables.items() <= self._codes.items()

    def prepare(
        self, columns: Sequence[int], source: Source, recodings: Recodings, run: Run
    ) -> None:
        """Make the copy, once, if the file is large and its values seem to be few."""
        if self._tried or len(columns) > COLUMNS_AT_ONCE or not self._is_worth(source):
            return
        self._tried = True
        made = self._dictionaries.guess_columns(columns, recodings, run)
        if made is None:
            return
        tables = {c: d.table for c, d in made.items()}
        codes = sql.code_all(tables, "pv_people", sql.DUCKDB)
        try:
            rows = self._session.make(codes, COPY, run, "reading values", (1, 2))
        except (DoesNotFit, EngineError, InputError):
            # Values without a code, most likely; other reasons come up again.
            self._dictionaries.forget_guessed()
            return
        self._session.total = rows
        self._codes = tables

    def drop(self) -> None:
        """Let go of the copy: what was to be counted of it was counted."""
        if self._codes:
            self._codes = {}
            self._session.ask(f"DROP TABLE {COPY}")

    def _is_worth(self, source: Source) -> bool:
        if not source.textual or source.json or not source.paths:
            return False
        size = _count_bytes(source.paths)
        return size >= LEAST_BYTES and size // CODE_SHARE <= self._session.room


def _count_bytes(paths: Collection[str]) -> int:
    """The size of some files; nothing where one is no file any more."""
    try:
        return sum(Path(path).stat().st_size for path in paths)
    except OSError:
        return 0
