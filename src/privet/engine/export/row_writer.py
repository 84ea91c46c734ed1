"""Writing rows of a release: recoded, shuffled, and safe to open in a spreadsheet.

What is selected is written to a file under the names that its columns have. DuckDB does
not tell `Age` from `age`: where names differ by case only, its COPY calls the second
one `age_1`. Such rows are handed to Arrow, which keeps every name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from privet.engine import arrow, sql, text_types
from privet.engine.dictionaries import Dictionary
from privet.engine.duckdb.session import ROWS_AT_ONCE, Session, too_little_memory
from privet.engine.export.file_kinds import (
    EXACT,
    ROWS,
    kind_of_values,
    select_exactly,
)
from privet.engine.protocol import Run, WriteQuery
from privet.engine.run import DoesNotFit
from privet.engine.sources.source import Source, differ
from privet.errors import InputError

# Selected rows to a file ------------------------------------------------------------


def copy_selected(session: Session, select: str, writing: WriteQuery) -> int:
    """Write what is selected as `o0`, `o1`, …, in this thread; how many rows it has.

    One for each of `writing.names`, as `finish_rows` gives them.
    """
    names = [guard_name(name, writing.format) for name in writing.names]
    if "" in names and writing.format == "csv":
        raise InputError(
            "A column must have a name to be written as CSV; one has none. Name it, or "
            "write Parquet."
        )
    if writing.format in EXACT:
        return _write_exactly(session.con, select, names, writing)
    if "" in names or not differ(names):
        return _stream_rows(session.con, select, names, writing)
    cells = ", ".join(f"o{i} AS {sql.quoted(name)}" for i, name in enumerate(names))
    with session.write_file(writing.path) as path:
        copy = sql.copy(f"SELECT {cells} FROM ({select})", path, writing.format)
        return int(session.con.execute(copy).fetchall()[0][0])


def _stream_rows(
    con: duckdb.DuckDBPyConnection,
    select: str,
    names: Sequence[str],
    writing: WriteQuery,
) -> int:
    if writing.format == "csv":  # Arrow would write numbers and times otherwise
        cells = ", ".join(f"CAST(o{i} AS VARCHAR) AS o{i}" for i in range(len(names)))
        select = f"SELECT {cells} FROM ({select})"
    rows = 0
    with closing(con.sql(select).to_arrow_reader(ROWS_AT_ONCE)) as reader:
        types = [field.type for field in reader.schema]
        schema = pa.schema(list(zip(names, types, strict=True)))
        with open_file(writing.path, writing.format, schema) as file:
            for batch in reader:
                shown = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                file.write_batch(shown)
                rows += len(batch)
    return rows


def _write_exactly(
    con: duckdb.DuckDBPyConnection,
    select: str,
    names: Sequence[str],
    writing: WriteQuery,
) -> int:
    """Write Excel, SPSS or Stata, which know few kinds of values."""
    from privet.engine.export.exact_files import ExactFile

    types = [str(type_) for type_ in con.sql(select).types]
    cells = [select_exactly(f"o{i}", type_) for i, type_ in enumerate(types)]
    chosen = ", ".join(f"{cell} AS o{i}" for i, (cell, _) in enumerate(cells))
    kinds = [kind for _, kind in cells]
    rows = 0
    with (
        closing(
            con.sql(f"SELECT {chosen} FROM ({select})").to_arrow_reader(ROWS)
        ) as reader,
        ExactFile(writing.path, writing.format, names, kinds) as file,
    ):
        for batch in reader:
            file.write_batch(batch)
            rows += len(batch)
    return rows


def guard_name(name: str, format_: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return sql.guarded_name(name) if format_ == "csv" else name


# Files ------------------------------------------------------------------------------


def open_file(path: str, format_: str, schema: pa.Schema) -> Any:
    """A new file that takes batches."""
    if format_ == "csv":
        from pyarrow import csv

        plain = pa.schema([pa.field(f.name, pa.string()) for f in schema])
        return _CsvWriter(csv.CSVWriter(path, plain), plain)
    if format_ in EXACT:
        from privet.engine.export.exact_files import ExactFile

        kinds = [kind_of_values(type_) for type_ in schema.types]
        return ExactFile(path, format_, schema.names, kinds)
    from pyarrow import parquet

    # Of texts that are numbered, statistics would be those of all numbered texts.
    return parquet.ParquetWriter(
        path, schema, compression="zstd", write_statistics=False
    )


class _CsvWriter:
    """Writes CSV, which has no dictionaries."""

    def __init__(self, writer: Any, schema: pa.Schema) -> None:
        self._writer = writer
        self._schema = schema

    def __enter__(self) -> _CsvWriter:
        return self

    def __exit__(self, *_error: object) -> None:
        self._writer.close()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows, every cell as a text."""
        plain = [c.cast(pa.string()) for c in batch.columns]
        self._writer.write_batch(pa.record_batch(plain, schema=self._schema))


# Rows of a source -------------------------------------------------------------------

CASTS = {"number": "DOUBLE", "date": "DATE", "datetime": "TIMESTAMP"}
"""What texts of a kind are written as where the format has types."""

ZONELESS = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMP", "TIMESTAMPTZ_NS": "TIMESTAMP_NS"}
"""Moments for Excel, SPSS and Stata, which know no zones: there they are in UTC."""


class RowWriter:
    """Writes the people of one source."""

    def __init__(
        self,
        session: Session,
        position: Callable[[str], int],
        dictionaries: Mapping[int, Dictionary],
        writing: WriteQuery,
        source: Source,
        lists: Collection[int] = (),
    ) -> None:
        self._session = session
        self._position = position
        self._dictionaries = dictionaries
        self._writing = writing
        self._source = source
        self._lists = lists

    def write(self, run: Run) -> int:
        """Write the file; how many rows it has."""
        for c, made in self._dictionaries.items():
            labels = arrow.frame(
                code=arrow.integers(np.arange(len(made.domain), dtype=np.uint32)),
                label=arrow.texts(made.domain.labels),
            )
            self._session.register(f"labels_{c}", labels)
        try:
            with (
                spread_cells(self._session, self._writing),
                self._session.allow_drawing() as drawn,
            ):
                statement = self._build_statement(drawn, run)
                rows = self._session.run_watched(
                    partial(self._copy_rows, statement), run, "writing", (1, 1)
                )
        except DoesNotFit:
            raise too_little_memory() from None
        finally:
            for c in self._dictionaries:
                self._session.unregister(f"labels_{c}")
        return rows

    def _copy_rows(self, statement: str) -> int:
        """Write what a statement selects; how many rows that are."""
        return copy_selected(self._session, statement, self._writing)

    def _build_statement(self, drawn: str, run: Run) -> str:
        types = self._find_types(run)
        cells = [self._select_cell(c, types) for c in self._writing.columns]
        if self._writing.times is None:
            shuffled = sql.shuffled(self._select_rows(cells, "pv_people"), drawn)
        else:  # shuffled before values are looked up, which may be long
            shuffled = self._select_rows(
                cells, f"({sql.shuffled(self._repeat_rows(), drawn)})"
            )
        return finish_rows(shuffled, self._writing)

    def _select_rows(self, cells: list[str], people: str) -> str:
        """The rows to write; those that look alike once, where they are counted."""
        joins = " ".join(
            f"JOIN {d.table} d{c} ON "
            + sql.DUCKDB.same.format(a=f"s.c{c}", b=f"d{c}.v")
            + f" JOIN labels_{c} l{c} ON d{c}.code = l{c}.code"
            for c, d in self._dictionaries.items()
        )
        named = ", ".join(f"{cell} AS o{i}" for i, cell in enumerate(cells))
        rows = f"SELECT {named} FROM {people} s {joins}"
        if self._writing.only is not None:
            rows += (
                f" WHERE CAST(s.c{self._position(self._writing.only)} AS BIGINT) > 0"
            )
        if self._writing.distinct:
            return f"SELECT DISTINCT * FROM ({rows})"
        if self._writing.weight is None:
            return rows
        return sum_weights(
            rows, len(cells), self._writing.columns.index(self._writing.weight)
        )

    def _repeat_rows(self) -> str:
        """The rows of the source, each as often as it is written."""
        assert self._writing.times is not None
        times = f"CAST(c{self._position(self._writing.times)} AS BIGINT)"
        return f"SELECT *, unnest(range({times})) AS pv_again FROM pv_people"

    def _select_cell(self, name: str, types: Mapping[str, str]) -> str:
        c = self._position(name)
        if c in self._dictionaries:
            return f"l{c}.label"
        if name == self._writing.weight:
            return f"CAST(s.c{c} AS BIGINT)"
        if c in self._lists and self._writing.format != "parquet":
            return write_list(f"s.c{c}")
        text = text_types.text_of(f"s.c{c}", textual=True, json=self._source.json)
        wanted = types.get(f"c{c}")
        return f"CAST({text} AS {wanted})" if wanted else text

    def _find_types(self, run: Run) -> dict[str, str]:
        """The types of texts that are written as they are."""
        if self._writing.format == "csv":
            return {}
        plain = [n for n in self._writing.columns if n not in self._writing.types]
        shown = {self._position(n) for n in plain} - {*self._dictionaries}
        cells = [f"c{c}" for c in sorted(shown) if self._source.is_text(c)]
        json = self._source.json
        return find_file_types(self._session, cells, "pv_people", run, json=json)


def write_list(cell: str) -> str:
    """A list as JSON has it, each value as a text; so files without lists hold any."""
    json = f"CAST(to_json(CAST({cell} AS VARCHAR[])) AS VARCHAR)"
    return f"CASE WHEN {cell} IS NULL THEN NULL ELSE {json} END"


def sum_weights(rows: str, columns: int, weight: int) -> str:
    """Rows that look alike, once each, with the sum of their weights."""
    others = ", ".join(f"o{i}" for i in range(columns) if i != weight)
    chosen = ", ".join(
        f"CAST(sum(o{i}) AS BIGINT) AS o{i}" if i == weight else f"o{i}"
        for i in range(columns)
    )
    by = f"GROUP BY {others}" if others else ""
    return f"SELECT {chosen} FROM ({rows}) r {by} HAVING sum(o{weight}) > 0"


def guard_cell(cell: str, name: str, writing: WriteQuery) -> str:
    """A cell that a spreadsheet does not take for a formula."""
    if writing.format != "csv" or name == writing.weight:
        return cell
    return sql.guarded(cell)


# Columns in place of others ---------------------------------------------------------


@contextmanager
def spread_cells(session: Session, writing: WriteQuery) -> Iterator[None]:
    """Let a session know what stands in columns that are written in place of others."""
    made = []
    try:
        for i, name in enumerate(writing.columns):
            if name not in writing.spread:
                continue
            cells = writing.spread[name].cells
            several = range(len(writing.spread[name].names))
            lists = [[c[j] for c in cells.values()] for j in several]
            parts = {f"p{j}": arrow.texts(texts) for j, texts in enumerate(lists)}
            frame = arrow.frame(label=arrow.texts(cells), **parts)
            session.register(f"pv_spread_{i}", frame)
            made.append(f"pv_spread_{i}")
        yield
    finally:
        for name in made:
            session.unregister(name)


def finish_rows(rows: str, writing: WriteQuery) -> str:
    """Rows as they are written: `o0`, `o1`, … for each of the file's columns.

    `rows` has one such cell for each of the columns that are asked for.
    """
    typed, cells, joins = writing.format != "csv", [], []
    for i, name in enumerate(writing.columns):
        spread = writing.spread.get(name)
        if spread is None:
            wanted = writing.types.get(name, "") if typed else ""
            cells.append(guard_cell(cast_cell(f"r.o{i}", wanted), name, writing))
            continue
        joins.append(
            f"LEFT JOIN pv_spread_{i} p{i} ON "
            + sql.DUCKDB.same.format(a=f"r.o{i}", b=f"p{i}.label")
        )
        for j, wanted in enumerate(spread.types):
            known = ZONELESS.get(wanted, wanted) if writing.format in EXACT else wanted
            cell = cast_cell(f"p{i}.p{j}", known if typed else "")
            cells.append(guard_cell(cell, spread.names[j], writing))
    chosen = ", ".join(f"{cell} AS o{i}" for i, cell in enumerate(cells))
    return f"SELECT {chosen} FROM ({rows}) r {' '.join(joins)}"


def cast_cell(cell: str, wanted: str) -> str:
    """A text as a type; as it is where none is wanted."""
    return f"CAST({cell} AS {wanted})" if wanted else cell


# Types ------------------------------------------------------------------------------


def find_file_types(
    session: Session,
    cells: Sequence[str],
    source: str,
    run: Run,
    *,
    json: bool = False,
) -> dict[str, str]:
    """What all texts of each column are, where the format has types; empty: text."""
    wanted = dict.fromkeys(cells, "")
    possible = session.find_possible_kinds(cells, json=json, source=source)
    among = sorted({tuple(kinds_) for kinds_ in possible.values() if kinds_})
    for step, of in enumerate(among, start=1):
        alike = [c for c in cells if tuple(possible[c]) == of]
        tests = [
            "count(v)",
            "count(TRY_CAST(v AS BIGINT))" if "integer" in of else "0",
            f"count(*) FILTER (WHERE {_keeps_digits('v')})" if "number" in of else "0",
            *text_types.count_fitting("v", json=json, among=of),
        ]
        work = partial(session.aggregate_columns, alike, source, tests)
        found = session.run_watched(work, run, "reading columns", (step, len(among)))
        wanted |= {c: _choose_type(*numbers) for c, numbers in found.items()}
    return wanted


def _keeps_digits(cell: str) -> str:
    """Whether a float keeps every digit, and numbers that differ different.

    Fifteen digits are kept, away from the smallest and the largest floats.
    """
    digits = (
        f"length(ltrim(regexp_replace(regexp_replace({cell}, '[eE].*', ''), "
        "'[^0-9]', '', 'g'), '0'))"
    )
    value = f"abs(TRY_CAST({cell} AS DOUBLE))"
    return f"{digits} = 0 OR ({digits} <= 15 AND {value} BETWEEN 1e-290 AND 1e290)"


def _choose_type(texts: int, whole: int, kept: int, *fits: int) -> str:
    kind = text_types.recognise_kind(texts, *fits)
    if kind == "integer" and whole == texts:
        return "BIGINT"
    if kind == "number" and kept < texts:
        return ""
    return CASTS.get(kind, "")
