"""Writing rows of a place: recoded there, shuffled, and written here or by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from privet.engine import arrow, sql, text_types
from privet.engine.dictionaries import Dictionary
from privet.engine.duckdb.session import Session, too_little_memory
from privet.engine.export.row_writer import (
    copy_selected,
    finish_rows,
    spread_cells,
    sum_weights,
)
from privet.engine.protocol import Run, WriteQuery
from privet.engine.remote.connection import Connection
from privet.engine.remote.transfer import upload_selected
from privet.engine.run import DoesNotFit
from privet.errors import EngineError

ROWS_PER_FILE = 4_000_000
"""Up to this many rows a release is one file."""


class RemoteWriter:
    """Writes the people of one place."""

    def __init__(
        self,
        connection: Connection,
        local: Session,
        position: Callable[[str], int],
        dictionaries: Mapping[int, Dictionary],
        writing: WriteQuery,
        people: str,
        *,
        json: bool = False,
    ) -> None:
        self._connection = connection
        self._local = local
        self._position = position
        self._dictionaries = dictionaries
        self._writing = writing
        self._people = people
        self._json = json

    def write(self, typed: Callable[[int], str], rows: int, run: Run) -> int:
        """Write the file, or a folder of files; how many rows there are."""
        for c, made in self._dictionaries.items():
            self._send_labels(c, made)
        try:
            return self._write_rows(typed, rows, run)
        except DoesNotFit:
            raise too_little_memory() from None
        finally:
            for c in self._dictionaries:
                self._connection.drop(f"pv_shown_{c}")

    def _write_rows(self, typed: Callable[[int], str], rows: int, run: Run) -> int:
        path, columns = Path(self._writing.path), list(self._writing.columns)
        types = self._find_types(typed)  # asked now: a stream lets nothing else run
        many = self._writing.format == "parquet" and rows > ROWS_PER_FILE
        if many and not self._writing.distinct:
            plain = not (self._json or any(types.values()) or self._writing.spread)
            parts = -(-rows // ROWS_PER_FILE)
            work = partial(
                self._connection.write_parts, self._select_rows(), columns, path, parts
            )
            if plain and (
                n := self._connection.run_watched(work, run, "writing", (1, 1))
            ):
                return self._check_written(n, rows)
        with self._connection.stream(
            self._select_rows(), path.with_name(f".{path.name}.rows"), run
        ) as stream:
            self._local.register("pv_stream", stream)
            try:
                return self._check_written(self._copy_rows(types, run), rows)
            finally:
                self._local.unregister("pv_stream")

    def _check_written(self, written: int, rows: int) -> int:
        some = self._writing.weight or self._writing.only or self._writing.distinct
        return written if some else require_complete(written, rows)

    def _find_types(self, typed: Callable[[int], str]) -> dict[str, str]:
        """The types that texts have in a file, of columns that stay as they are."""
        if self._writing.format == "csv":
            return {}
        at = {c: self._position(c) for c in self._writing.columns}
        changed = {self._writing.weight}
        changed |= {c for c, i in at.items() if i in self._dictionaries}
        return {c: typed(i) for c, i in at.items() if c not in changed}

    def _copy_rows(self, types: Mapping[str, str], run: Run) -> int:
        """Shuffle and write what comes, as rows of files are written."""
        writing = self._writing
        with spread_cells(self._local, writing), self._local.allow_drawing() as drawn:
            shuffled = sql.shuffled(self._select_arrived(types), drawn)
            select = finish_rows(shuffled, writing)
            work = partial(copy_selected, self._local, select, writing)
            return self._local.run_watched(work, run, "writing", (1, 1))

    def _select_arrived(self, types: Mapping[str, str]) -> str:
        """The rows that come, with texts as they are meant."""
        columns, weight = self._writing.columns, self._writing.weight
        cells = ", ".join(
            f"{self._cast_cell(i, name, types.get(name, ''))} AS o{i}"
            for i, name in enumerate(columns)
        )
        if self._writing.distinct:  # texts that differ may be one number
            return f"SELECT DISTINCT {cells} FROM pv_stream"
        rows = f"SELECT {cells} FROM pv_stream"
        if weight is None or not self._json:
            return rows
        return sum_weights(rows, len(columns), columns.index(weight))  # a and "\u0061"

    def _cast_cell(self, i: int, name: str, wanted: str) -> str:
        shown = self._position(name) in self._dictionaries
        raw = self._json and not shown and name != self._writing.weight
        text = text_types.text_of(f"o{i}", textual=True, json=raw)
        return f"CAST({text} AS {wanted})" if wanted else text

    def _select_rows(self) -> str:
        """The rows to write; those that look alike once, where they are counted."""
        dialect, writing = self._connection.dialect, self._writing
        joins = " ".join(
            f"JOIN pv_shown_{c} d{c} ON "
            + dialect.same.format(a=f"s.c{c}", b=f"d{c}.v")
            for c in self._dictionaries
        )
        cells = ", ".join(
            f"{self._select_cell(name)} AS o{i}"
            for i, name in enumerate(writing.columns)
        )
        small = sql.hint_small([f"d{c}" for c in self._dictionaries], dialect)
        some = " WHERE s.w > 0" if writing.only else ""
        rows = f"SELECT {small}{cells} FROM {self._people} s {joins}{some}"
        if writing.distinct:
            return f"SELECT DISTINCT * FROM ({rows}) r"
        if writing.weight is None:
            return rows
        return sum_weights(
            rows, len(writing.columns), writing.columns.index(writing.weight)
        )

    def _select_cell(self, name: str) -> str:
        c = self._position(name)
        if c in self._dictionaries:
            return f"d{c}.label"
        return "s.w" if name == self._writing.weight else f"s.c{c}"

    def _send_labels(self, c: int, made: Dictionary) -> None:
        """Let the place know what is shown for each value."""
        codes = arrow.integers(np.arange(len(made.domain), dtype=np.uint32))
        labels = arrow.frame(code=codes, label=arrow.texts(made.domain.labels))
        self._local.register("pv_labels", labels)
        shown = f"SELECT d.v, l.label FROM {made.table} d JOIN pv_labels l USING (code)"
        self._connection.drop(f"pv_shown_{c}")
        upload_selected(self._connection, self._local, f"pv_shown_{c}", shown, c)
        self._local.unregister("pv_labels")


def require_complete(written: int, rows: int) -> int:
    """Everybody must have been written once."""
    if written != rows:
        raise EngineError(
            f"{rows} rows had to be written; {written} arrived. Either the table "
            "changed meanwhile, or the folder of the release is not shared with the "
            "machines that write it."
        )
    return written
