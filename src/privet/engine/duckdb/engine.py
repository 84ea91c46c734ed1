"""The embedded engine: files, data frames and relations, counted by DuckDB.

First come the first steps with a source: attach, register, and learn its columns'
names.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from privet.engine import arrow, sql, text_types
from privet.engine.counting.precount import Precount
from privet.engine.counting.weights import check_weights
from privet.engine.describe import kind_of, summarise_column
from privet.engine.dictionaries import COLUMNS_AT_ONCE, Dictionary
from privet.engine.digests import (
    DigestQuery,
    RowMarks,
    mark_rows,
    write_cell,
    write_digests,
)
from privet.engine.duckdb.session import Session
from privet.engine.export.row_writer import RowWriter
from privet.engine.export.shuffle import is_streamed, write_stream
from privet.engine.projections import Projection
from privet.engine.protocol import (
    ColumnSummary,
    NameList,
    Queries,
    Recodings,
    Run,
    WriteQuery,
)
from privet.engine.randomise.randomise_rows import (
    Cells,
    DisguiseBatches,
    Randomisation,
    RowRandomiser,
    tabulate_cells,
)
from privet.engine.run import TooLittleMemory
from privet.engine.sources.dataframes import Stream
from privet.engine.sources.source import Source
from privet.engine.sources.text_files import (
    JSON_KEYS,
    OTHER_LINES,
    check_whole,
    json_scan,
)
from privet.engine.sql import quoted
from privet.engine.sql_engine import PEOPLE, CountedRows, SqlEngine
from privet.errors import EmptyTable, EngineError, InputError, suggest_names
from privet.values.contingency import Domain
from privet.values.schema import Column

DATABASE = "source_database"
"""What we call a database file that was attached."""


# Files ------------------------------------------------------------------------------


def name_files(session: Session, paths: Sequence[str]) -> None:
    """Tell the engine which files, outside of any statement.

    Folders such as ``city=Bonn`` hold values; and a name may look like a pattern.
    """
    files = arrow.frame(
        path=arrow.texts(glob.escape(os.path.abspath(p)) for p in paths)  # noqa: PTH100 - links stay
    )
    session.register("paths", files)
    session.ask("SET VARIABLE files = (SELECT list(path) FROM paths)")
    session.unregister("paths")


def ignore_folder_names(scan: str) -> str:
    """A scan for which the names of folders mean nothing, unless it says so."""
    if not scan.startswith("read_") or "hive_partitioning" in scan:
        return scan
    return scan.removesuffix(")") + ", hive_partitioning = false)"


# Databases --------------------------------------------------------------------------


def open_session(source: Source, **options: Any) -> Session:
    """A session that reads what a source needs, and nothing else."""
    marks = source.marks
    marked = () if marks is None else (*marks.files, marks.key_file)
    attach = (source.attach, DATABASE) if source.attach else None
    reads = () if source.attach else source.paths
    try:
        return Session(source.words, reads=(*reads, *marked), attach=attach, **options)
    except EngineError as error:
        if not source.attach or "could not read" not in str(error):
            raise
    raise InputError(
        f"File {source.attach!r} must be a DuckDB database that this version of "
        "DuckDB reads; it is not."
    )


def attached_table(session: Session, path: str, table: str) -> str:
    """The table of the database file; an error lists those there are."""
    return _find_table(_list_tables(session), table, path)


def _list_tables(session: Session) -> dict[str, str]:
    """What tables and views are called, and how a statement calls them."""
    rows = session.ask(
        "SELECT schema_name AS s, table_name AS t FROM duckdb_tables() "
        f"WHERE database_name = '{DATABASE}' AND NOT internal UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() "
        f"WHERE database_name = '{DATABASE}' AND NOT internal ORDER BY s, t"
    ).to_pylist()
    return {
        row["t"] if row["s"] == "main" else f"{row['s']}.{row['t']}": ".".join(
            quoted(part) for part in (DATABASE, row["s"], row["t"])
        )
        for row in rows
    }


def _find_table(tables: dict[str, str], table: str, path: str) -> str:
    if not tables:
        raise EmptyTable(f"Database {path!r} must have tables; it has none.")
    for name in (table, table.removeprefix("main.")):
        if name in tables:
            return tables[name]
    if not table:
        raise InputError(
            f"table must name a table of the database {path!r}; got none. "
            f"{suggest_names('', list(tables))}"
        )
    raise InputError(
        f"Table {table!r} must exist in {path!r}. {suggest_names(table, list(tables))}"
    )


# JSON and frames --------------------------------------------------------------------


def read_json_names(session: Session, words: str) -> list[str]:
    """All keys of all objects."""
    if others := session.fetch_one(OTHER_LINES):
        raise InputError(
            f"Each line of {words} must be a JSON object; {others} lines are not."
        )
    names: list[str] = session.ask(JSON_KEYS)["k"].to_pylist()
    if not names:
        raise EmptyTable(f"A table must have columns; {words} has none.")
    return names


def register_frame(session: Session, source: Source) -> None:
    """Let statements see a frame; an error names the columns that do not fit."""
    try:
        session.register("frame", source.frame)
        session.ask("DESCRIBE SELECT * FROM frame")
        return
    except TooLittleMemory:
        raise
    except EngineError:
        wrong = [
            n for i, n in enumerate(source.names or ()) if not _fits(session, source, i)
        ]
    if not wrong:
        raise InputError(f"DuckDB must be able to read {source.words}; it is not.")
    raise InputError(
        "Columns must have types that DuckDB reads; "
        + ", ".join(map(repr, wrong))
        + " have others. Convert them to text."
    )


def _fits(session: Session, source: Source, column: int) -> bool:
    frame = source.frame
    if isinstance(frame, pa.Table):
        one = frame.select([column]).slice(0, 0)
    elif hasattr(frame, "iloc"):
        one = frame.iloc[:0, [column]]
    else:
        one = pa.schema([frame.schema.field(column)]).empty_table()
    try:
        session.register("one_column", one)
        session.ask("DESCRIBE SELECT * FROM one_column")
    except EngineError:
        return False
    return True


# The engine -------------------------------------------------------------------------


class DuckDB(SqlEngine):
    """One source of rows in one private in-memory database."""

    name = "duckdb"
    version = duckdb.__version__

    def __init__(
        self,
        source: Source,
        *,
        where: Mapping[str, Sequence[object]] | None = None,
        memory_limit: str | None = None,
        spill: str | os.PathLike[str] | None = None,
        spill_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        session = open_session(
            source,
            memory_limit=memory_limit,
            spill=spill,
            spill_limit=spill_limit,
            threads=threads,
        )
        session.expected = source.rows
        super().__init__(source, where, session, session)
        self._whole = False
        self._cells = Precount(session, self._values)

    def _check_whole(self, run: Run) -> None:
        """Compressed files must be complete; looked at once, before rows are read."""
        if not self._whole:
            check_whole(self._source.paths, run)
            self._whole = True

    def _describe_texts(self, precise: bool, run: Run) -> dict[int, ColumnSummary]:
        """Columns of texts: those that may be of the same kinds share scans."""
        json = self._source.json
        at = {f"c{c}": c for c in range(len(self._columns)) if self._source.is_text(c)}
        few = self.session.sample_kinds(list(at), json=json)
        possible = {c: text_types.list_possible_kinds(*n) for c, n in few.items()}
        distinct = (
            "count(DISTINCT v)" if precise else sql.DUCKDB.distinct.format(column="v")
        )
        found: dict[int, ColumnSummary] = {}
        for among in sorted({tuple(p) for p in possible.values()}):
            alike = [c for c in at if tuple(possible[c]) == among]
            fits = text_types.count_fitting("v", json=json, among=among)
            tests = ["count(*)", "count(v)", distinct, *fits]
            work = partial(self.session.aggregate_columns, alike, "pv_people", tests)
            step = (len(found) + len(alike), len(self._columns))
            numbers = self.session.run_watched(work, run, "reading columns", step)
            for c, (rows, present, values, *n) in numbers.items():
                kind = text_types.recognise_kind(present, *n)
                name = self._columns[at[c]].name
                close = text_types.find_near_kind(
                    present, *n[1:]
                ) or text_types.find_near_kind(*few[c])
                one = summarise_column(name, kind, rows, present, values)
                found[at[c]] = replace(one, nearly=close if kind == "text" else "")
        return found

    def domains(
        self, columns: NameList, recodings: Recodings, run: Run, before: Queries = ()
    ) -> dict[str, Domain]:
        """The values of some columns, and of those that are counted soon."""
        self._check_whole(run)
        if before:
            self._precount(before, run)
        soon = [c for t in before for c in (*t.by, t.about)]
        found = super().domains([*columns, *soon], recodings, run)
        return {c: found[c] for c in columns}

    def _precount(self, tallies: Queries, run: Run) -> Precount | None:
        """Combinations of values as they are, where they are few.

        A query of the user's would be run once more to see whether they are.
        """
        if not self._source.paths and self._source.rows is None:
            return None
        sets = [frozenset(map(self._position, (*t.by, t.about))) for t in tallies]
        return self._cells if self._cells.prepare(sets, run) else None

    def _count_scans(self, columns: int) -> int:
        return max(1, -(-columns // COLUMNS_AT_ONCE))

    def _weigh_rows(self, name: str, people: str, run: Run, before: int) -> CountedRows:
        w, step = self._position(name), (before + 1, before + 2)
        total = check_weights(self.session, w, self._columns[w], run, step)
        return CountedRows(people, total, before + 1, f"CAST(s.c{w} AS BIGINT)")

    def write(self, writing: WriteQuery, recodings: Recodings, run: Run) -> int:
        """Write rows out, recoded and shuffled; how many were written."""
        if isinstance(self._source.frame, Stream) and is_streamed(writing):
            return write_stream(self.session, self._source.frame, writing, run)
        return super().write(writing, recodings, run)

    def _write_rows(
        self, writing: WriteQuery, made: Mapping[int, Dictionary], run: Run
    ) -> int:
        writer = RowWriter(self.session, self._position, made, writing, self._source)
        return writer.write(run)

    def _write_reports(
        self, codes: str, change: DisguiseBatches, drawing: Randomisation, run: Run
    ) -> int:
        return RowRandomiser(self.session, change, drawing.bits).write(codes, run)

    def _write_digests(self, query: DigestQuery, run: Run) -> int:
        def call_cell(name: str) -> str:
            c, source = self._position(name), self._source
            return write_cell(f"s.c{c}", textual=source.is_text(c), json=source.json)

        return write_digests(self.session, query, PEOPLE, call_cell, run)

    def tabulate(self, sets: Sequence[NameList], run: Run) -> Iterator[Cells]:
        """Rows per combination of few values, for each set of columns."""
        self._check_whole(run)
        at = [[self._position(c) for c in columns] for columns in sets]
        return tabulate_cells(self.session, at, self._source, run)

    def open_projection(
        self, columns: NameList, weight: str | None, recodings: Recodings, run: Run
    ) -> Projection:
        """The rows as they are, all of their columns."""
        self._check_whole(run)
        source, made = self._source, self._dictionaries
        return Projection(self.session, self._columns, source, made)

    # Opening ------------------------------------------------------------------------

    def _look_at(self, source: Source) -> None:
        self._source = source
        scan, names = self._prepare_scan(source)
        self._types = self._describe_scan(scan)["column_type"].to_pylist()
        self._columns = tuple(
            Column(name, "text" if source.is_text(i) else kind_of(type_))
            for i, (name, type_) in enumerate(zip(names, self._types, strict=True))
        )
        spelled = sql.unguarded if source.guarded else str
        numbers = range(len(names))
        cells = ", ".join(f"{spelled(f't.c{i}')} AS c{i}" for i in numbers)
        renamed = ", ".join(f"c{i}" for i in numbers)
        everybody = f"SELECT {cells} FROM {scan} AS t({renamed})"
        if source.marks is not None:
            everybody = self._mark_rows(everybody, source.marks)
        self.session.view("pv_everybody", everybody)

    def _mark_rows(self, rows: str, marks: RowMarks) -> str:
        """The rows with columns that say which files of digests have them."""
        source, at = self._source, {c.name: i for i, c in enumerate(self._columns)}

        def call_cell(name: str) -> str:
            c = at[name]
            return write_cell(f"s.c{c}", textual=source.is_text(c), json=source.json)

        marked = mark_rows(rows, marks, at, call_cell, textual=source.textual)
        kind, type_ = ("text", "VARCHAR") if source.textual else ("integer", "BIGINT")
        self._types = [*self._types, *(type_ for _ in marks.names)]
        more = (Column(name, kind) for name in marks.names)
        self._columns = (*self._columns, *more)
        return marked

    def _prepare_scan(self, source: Source) -> tuple[str, Sequence[str]]:
        """What to select from, and the names of its columns."""
        session = self.session
        if source.attach:
            scan = attached_table(session, source.attach, source.scan)
            return scan, self._describe_scan(scan)["column_name"].to_pylist()
        if source.paths:
            name_files(session, source.paths)
        if source.json:
            names = read_json_names(session, source.words)
            return json_scan(names), names
        if source.frame is not None:
            register_frame(session, source)
        return ignore_folder_names(source.scan or "frame"), source.names or ()

    def _describe_scan(self, scan: str) -> pa.Table:
        return self.session.ask(f"DESCRIBE SELECT * FROM {scan}")
