"""The embedded engine: files, data frames and relations, counted by DuckDB.

First come the first steps with a source: attach, register, and learn its columns'
names.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from attrs import evolve

from privet.engine import arrow, sql, text_types
from privet.engine.counting.coded_copy import CodedCopy
from privet.engine.counting.coded_rows import CodedRows
from privet.engine.counting.dense_arrays import MOST_CELLS
from privet.engine.counting.in_memory import InMemory
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
from privet.engine.duckdb.conversion import give_key
from privet.engine.duckdb.session import FEW, Session, too_little_memory
from privet.engine.export.row_writer import RowWriter
from privet.engine.export.shuffle import (
    AS_TEXT,
    is_coded,
    is_streamed,
    write_coded,
    write_stream,
)
from privet.engine.person_statement import (
    ROWS,
    PeopleAsked,
    PersonCell,
    PersonStatement,
    refuse_nobody,
    refuse_varying,
)
from privet.engine.projections import Projection
from privet.engine.protocol import (
    ColumnSummary,
    CountQuery,
    CountUnit,
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
from privet.engine.run import DoesNotFit, TooLittleMemory, check_complete
from privet.engine.sources.dataframes import Stream, StreamColumn
from privet.engine.sources.national_formats import (
    count_spellings,
    decide_spelling,
    find_hints,
    respell,
)
from privet.engine.sources.source import Source
from privet.engine.sources.staged_rows import StagedRows
from privet.engine.sources.text_files import (
    ARRAY,
    LINES,
    check_whole,
    count_others,
    json_scan,
    select_keys,
)
from privet.engine.sql import quoted
from privet.engine.sql_engine import PEOPLE, CountedRows, SqlEngine
from privet.engine.text_types import text_of
from privet.errors import EmptyTable, EngineError, InputError, suggest_names
from privet.values.contingency import Domain
from privet.values.person_rows import PeopleMade
from privet.values.schema import Column

DATABASE = "source_database"
"""What we call a database file that was attached."""

HELD_BYTES = 40
"""What a row in memory takes beside its codes: its key and weight, and sorting them."""

CELL_BYTES = 16
"""What a cell of an array takes that is filled: its count, and where it is."""


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


def open_session(
    source: Source, staged: StagedRows | None = None, **options: Any
) -> Session:
    """A session that reads what a source needs, and nothing else."""
    marks = source.marks
    marked = () if marks is None else (*marks.files, marks.key_file)
    attach = (source.attach, DATABASE) if source.attach else None
    reads = () if source.attach else source.paths
    reads = reads if staged is None else staged.paths
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


def read_json_names(session: Session, source: Source) -> list[str]:
    """All keys of all objects."""
    if others := session.fetch_one(count_others(source.scan)):
        each, several = ROWS_OF_JSON[source.form]
        raise InputError(
            f"Each {each} of {source.words} must be a JSON object; {others} {several} "
            "are not."
        )
    names: list[str] = session.ask(select_keys(source.scan))["k"].to_pylist()
    if not names:
        raise EmptyTable(f"A table must have columns; {source.words} has none.")
    return names


LENGTH = re.compile(r"\[[0-9]+\](?=(\[[0-9]*\])*$)")
"""The length of lists that all have one; Parquet files of them are read by few."""

ROWS_OF_JSON = {LINES: ("line", "lines"), ARRAY: ("value", "values")}
"""What objects are in files of each form."""


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
        people: PeopleAsked | None = None,
    ) -> None:
        options = {
            "memory_limit": memory_limit,
            "spill": spill,
            "spill_limit": spill_limit,
            "threads": threads,
        }
        self._held, self._staged = source.staging, None
        if self._held is not None:
            self._staged = self._held.hold(options)
            source = self._staged.describe(source)
        try:
            session = open_session(source, self._staged, **options)
        except BaseException:
            self._release()
            raise
        session.expected = source.rows
        self._whole = self._staged is not None
        self._gathers = people is not None
        super().__init__(source, where, session, session, people)
        self._cells = Precount(session, self._values)
        self._copy = CodedCopy(session, self._dictionaries)
        self._weights: dict[int, int] = {}  # columns that were checked, and their sums

    def close(self) -> None:
        """Let go of the rows, and of everything that was made or spilled."""
        super().close()
        self._release()

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.release()

    @property
    def source(self) -> Source:
        """Where the rows come from, with what was found there; to be opened again."""
        return self._opened

    def _check_whole(self, run: Run) -> None:
        """Compressed files must be complete; looked at once, before rows are read.

        All files must stay as they are from then on.
        """
        self.session.files.hold()
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

    def list_missing_codes(self, run: Run) -> tuple[str, ...]:
        """Texts of a text file that may stand for missing values."""
        source = self._source
        if not source.textual or source.json:
            return ()
        at = [f"c{c}" for c in range(len(self._columns))]
        tests = text_types.count_missing_codes("v")
        work = partial(self.session.aggregate_columns, at, "pv_people", tests)
        numbers = self.session.run_watched(work, run, "reading columns", (1, 1))
        return text_types.choose_missing_codes(list(numbers.values()))

    def domains(
        self, columns: NameList, recodings: Recodings, run: Run, before: Queries = ()
    ) -> dict[str, Domain]:
        """The values of some columns, and of those that are counted soon."""
        self._check_whole(run)
        soon = [c for t in before for c in (*t.by, t.about)]
        few = self._precount(before, run) if before else None
        if before and few is None and self._copy is not None:
            at = list(dict.fromkeys(map(self._position, (*columns, *soon))))
            orders = [self._order_columns(t) for t in before]
            self._copy.prepare(at, self._source, recodings, run, orders)
        found = super().domains([*columns, *soon], recodings, run)
        return {c: found[c] for c in columns}

    def _order_columns(self, query: CountQuery) -> tuple[int, ...]:
        """The columns of a query, in the order in which they are counted."""
        by = sorted(map(self._position, query.by))
        return *by, self._position(query.about)

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
        if w not in self._weights:
            column = self._columns[w]
            self._weights[w] = check_weights(self.session, w, column, run, step)
        total = self._weights[w]
        return CountedRows(people, total, before + 1, f"CAST(s.c{w} AS BIGINT)")

    def hold_rows(
        self, columns: NameList, amount: CountUnit, recodings: Recodings, run: Run
    ) -> InMemory | None:
        """The codes of all rows in memory, to be counted very often.

        None where they do not fit, or where people have several rows.
        """
        if amount.unit is not None:
            return None
        rows, at = self.rows(run), [self._position(c) for c in columns]
        made = self._code_columns(at, recodings, run)
        domains = [made[c].domain for c in at]
        types = [np.min_scalar_type(max(len(d) - 1, 0)) for d in domains]
        needed = rows * (sum(t.itemsize for t in types) + HELD_BYTES)
        room = self.session.room
        if needed > room:
            return None
        chosen = self._choose_rows(amount, {}, run, 0)
        coded = CodedRows(self.session, made, self._position, run, weight=chosen.weight)
        codes = [np.empty(rows, dtype=t) for t in types]
        n = np.broadcast_to(np.int64(1), rows)
        into = codes
        if chosen.weight:
            n = np.empty(rows, dtype=np.int64)
            into = [*codes, n]
        work = partial(self.session.fill_columns, coded.select(at), into)
        try:
            check_complete(coded.watch(work, (1, 1), "reading rows"), rows)
        except DoesNotFit:
            return None
        if chosen.weight and not (n > 0).all():  # who counts for nobody is not there
            codes, n = [c[n > 0] for c in codes], n[n > 0]
        most = min(MOST_CELLS, (room - needed) // CELL_BYTES)
        return InMemory(domains, codes, n, most_cells=most)

    def write(self, writing: WriteQuery, recodings: Recodings, run: Run) -> int:
        """Write rows out, recoded and shuffled; how many were written."""
        if isinstance(self._source.frame, Stream) and is_streamed(writing):
            return write_stream(self.session, self._source.frame, writing, run)
        held = self._hold_written(writing, recodings, run)
        if held is not None:
            return write_coded(self.session, held, writing, run)
        return super().write(writing, recodings, run)

    def _hold_written(
        self, writing: WriteQuery, recodings: Recodings, run: Run
    ) -> list[tuple[StreamColumn, str]] | None:
        """The codes of what is written, and its types; None where sorting rows is
        better: codes are not known yet, do not tell cells that differ, or do not fit.
        """
        plain = [self._position(c) for c in writing.columns if c not in recodings]
        types = {self._columns[c].name: self._types[c] for c in plain}
        source = self._source
        # In a database equal texts may differ: a collation takes A for a.
        if not source.paths or source.attach or any(map(source.is_text, plain)):
            return None
        if not {*types.values()} <= AS_TEXT or not self._dictionaries.are_made(plain):
            return None
        if not is_coded(writing, self.rows(run)):
            return None
        held = self.hold_rows(writing.columns, CountUnit(), recodings, run)
        if held is None:
            return None
        types = {c: "" if t == "VARCHAR" else t for c, t in types.items()}
        wanted = {**types, **writing.types}
        return [
            (StreamColumn(d.name, d.labels, codes), wanted.get(d.name, ""))
            for d, codes in held.list_codes()
        ]

    def _write_rows(
        self, writing: WriteQuery, made: Mapping[int, Dictionary], run: Run
    ) -> int:
        lists = [i for i, kind in enumerate(self._types) if kind.endswith("]")]
        writer = RowWriter(
            self.session, self._position, made, writing, self._source, lists
        )
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

    # People -------------------------------------------------------------------------

    def _gather_people(self, people: PeopleAsked) -> PeopleMade:
        run = Run()
        people.person.check([c.name for c in self._columns])
        self._check_whole(run)
        statement = self._write_person_statement(people, run)
        statement.refuse_kinds()
        try:
            made = self._make_people(statement, run)
        except DoesNotFit:
            raise too_little_memory() from None
        self._keep_people(people)
        self.session.total = self.session.expected = made.people
        if people.only:
            self.session.make(
                "SELECT * FROM pv_people", "pv_all", run, "choosing", (1, 1)
            )
            self._select("pv_people", people.only, "pv_all", "pv_chosen")
            self.session.total = self.session.expected = None
        return made

    def _write_person_statement(self, people: PeopleAsked, run: Run) -> PersonStatement:
        """The statement for these columns; what texts mean is found out first."""
        source = self._source
        texts = [c for c in range(len(self._columns)) if source.is_text(c)]
        kinds = {c: x.kind for c, x in self._describe_texts(False, run).items()}
        cells = [
            PersonCell(i, kinds.get(i, column.kind), i in texts, source.json)
            for i, column in enumerate(self._columns)
        ]
        person, columns = people.person, self._columns
        return PersonStatement(person, columns, cells, people.withheld)

    def _make_people(self, statement: PersonStatement, run: Run) -> PeopleMade:
        """The table pv_persons of one row each; who has none is refused."""
        session = self.session
        session.make(
            statement.write("pv_people"), "pv_persons", run, "gathering people", (1, 2)
        )
        varying = statement.count_varying()
        asked = [
            "count(*)",
            f"CAST(coalesce(sum({ROWS}), 0) AS BIGINT)",
            f"coalesce(max({ROWS}), 0)",
            f"CAST(coalesce(sum({ROWS}) FILTER (WHERE c{statement.by} IS NULL), 0) "
            "AS BIGINT)",
            *varying.values(),
        ]
        found = session.ask(f"SELECT {', '.join(asked)} FROM pv_persons").to_pylist()
        people, rows, most, nobody, *differ = found[0].values()
        refuse_nobody(nobody, rows, self._columns[statement.by].name)
        refuse_varying(dict(zip(varying, differ, strict=True)), people)
        tied = statement.count_tied("pv_people", "pv_persons")
        if tied:
            work = partial(session.fetch, tied)
            counted = session.run_watched(work, run, "gathering people", (2, 2))
            return PeopleMade(rows, people, most, counted["n"][0].as_py())
        return PeopleMade(rows, people, most)

    def _keep_people(self, people: PeopleAsked) -> None:
        """From now on the rows are people; sets are lists, and counts numbers."""
        names = ", ".join(f"c{i}" for i in range(len(self._columns)))
        self.session.view("pv_people", f"SELECT {names} FROM pv_persons")
        person, source = people.person, self._source
        changed = {} if source.json else dict.fromkeys(person.set, "other")
        changed |= {} if source.json else dict.fromkeys(person.count, "integer")
        self._columns = tuple(
            Column(c.name, changed.get(c.name, c.kind)) for c in self._columns
        )
        self._types = self._describe_scan("pv_people")["column_type"].to_pylist()
        texts = frozenset(
            i
            for i, c in enumerate(self._columns)
            if source.is_text(i) and c.name not in changed
        )
        self._source = replace(
            source, textual=source.json, mixed=texts, frame=None, rows=None
        )
        if source.marks is not None:  # of people, not of their rows
            marked = self._mark_rows(f"SELECT {names} FROM pv_persons", source.marks)
            self.session.view("pv_people", marked)
            self._positions = {c.name: i for i, c in enumerate(self._columns)}
        self._filter = self._make_row_filter()

    # Opening ------------------------------------------------------------------------

    def _look_at(self, source: Source) -> None:
        self._source = source
        scan, names = self._prepare_scan(source)
        self._source = self._opened = source = self._find_spelling(source, scan, names)
        types = self._describe_scan(scan)["column_type"].to_pylist()
        self._types = [LENGTH.sub("[]", type_) for type_ in types]
        self._columns = tuple(
            Column(name, "text" if source.is_text(i) else kind_of(type_))
            for i, (name, type_) in enumerate(zip(names, self._types, strict=True))
        )
        spelled = sql.unguarded if source.guarded else str
        numbers = range(len(names))
        how = source.respelled
        cells = ", ".join(
            f"{respell(spelled(f't.c{i}'), how.get(i), json=source.json)} AS c{i}"
            if self._types[i] == types[i]
            else f"CAST(t.c{i} AS {self._types[i]}) AS c{i}"
            for i in numbers
        )
        renamed = ", ".join(f"c{i}" for i in numbers)
        everybody = f"SELECT {cells} FROM {scan} AS t({renamed})"
        if source.marks is not None and not self._gathers:
            everybody = self._mark_rows(everybody, source.marks)
        self.session.view("pv_everybody", everybody)

    def _find_spelling(self, source: Source, scan: str, names: Sequence[str]) -> Source:
        """The source, with what is to be respelled: decimal commas, national dates."""
        looks = source.textual or "dates" in source.takes
        at = [c for c in range(len(names)) if source.is_text(c)]
        if source.looked_at or source.guarded or not looks or not at:
            return source
        rows = f"{scan} AS t({', '.join(f'c{i}' for i in range(len(names)))})"
        texts = {c: text_of(f"c{c}", textual=True, json=source.json) for c in at}
        hints = self._find_hints(rows, texts)
        if not hints:
            return replace(source, looked_at=True)
        asked = {c: count_spellings(texts[c], hint) for c, hint in hints.items()}
        tests = ", ".join(test for some in asked.values() for test in some)
        table = self.session.ask(f"SELECT {tests} FROM {rows}")
        numbers = iter([column[0].as_py() for column in table.columns])
        counts = {
            c: (hints[c], [next(numbers) for _ in some]) for c, some in asked.items()
        }
        found = decide_spelling(counts, names, source.text, source.delimiter)
        text = evolve(
            source.text,
            dates=source.text.dates or found.order or None,
            decimal=source.text.decimal or found.decimal or None,
        )
        respelled = dict(found.respelled)
        return replace(source, text=text, respelled=respelled, looked_at=True)

    def _find_hints(self, rows: str, texts: Mapping[int, str]) -> dict[int, str]:
        """What a few rows allow; a file that cannot be read tells nothing yet."""
        cells = ", ".join(f"{text} AS c{c}" for c, text in texts.items())
        try:
            few = self.session.ask(f"SELECT {cells} FROM {rows} LIMIT {FEW}")
        except (InputError, EngineError):
            return {}
        columns = {c: few[f"c{c}"].to_pylist() for c in texts}
        source = self._source
        return find_hints(
            columns, source.text, json=source.json, delimiter=source.delimiter
        )

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
        if self._staged is not None:
            give_key(session, self._staged)
            source = replace(source, scan=self._staged.scan)
        elif source.paths:
            name_files(session, source.paths)
        if source.json:
            names = read_json_names(session, source)
            return json_scan(names, source), names
        if source.frame is not None:
            register_frame(session, source)
        return ignore_folder_names(source.scan or "frame"), source.names or ()

    def _describe_scan(self, scan: str) -> pa.Table:
        return self.session.ask(f"DESCRIBE SELECT * FROM {scan}")
