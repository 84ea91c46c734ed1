"""What all engines that count by SQL do alike; each says where its statements run.

Small statements, such as those that make dictionaries, run in a DuckDB session of our
own. Those about all rows run in the place of the rows, which may be that session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from privet.engine import sql
from privet.engine.counting.coded_copy import CodedCopy
from privet.engine.counting.coded_rows import CodedRows
from privet.engine.counting.counter import Counter
from privet.engine.counting.pairs import DrawnRows, number_rows
from privet.engine.counting.precount import Precount
from privet.engine.describe import (
    PRECISE_ROWS,
    count_values,
    read_json_cell,
    summarise_column,
)
from privet.engine.dictionaries import Dictionaries, Dictionary, DistinctValues
from privet.engine.digests import DigestQuery
from privet.engine.duckdb.session import Session
from privet.engine.person_statement import PeopleAsked
from privet.engine.protocol import (
    ColumnSummary,
    CountedClasses,
    CountRequest,
    CountUnit,
    DrawnCells,
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
    count_cells,
)
from privet.engine.row_filter import RowFilter
from privet.engine.run import StatementRunner
from privet.engine.sources.source import Source
from privet.errors import InputError
from privet.values.contingency import Domain
from privet.values.person_rows import PeopleMade
from privet.values.schema import Column

PEOPLE = "pv_people"
"""What statements call the rows."""

CELL_LETTERS = 400
"""How much of a cell is looked at."""


class CountedRows(NamedTuple):
    """The rows that a count reads."""

    people: str
    """What they are selected from, as `s`."""
    total: int | None
    """How many there are, or the sum of their weights; None: nobody knows yet."""
    statements: int
    """How many statements were run before; for progress."""
    weight: str = ""
    """How many a row `s` stands for; empty: one."""


class SqlEngine:
    """One source of rows, counted by statements."""

    name: str
    """As the command line calls it."""
    version: str
    """Which version of the software counts."""
    session: Session
    """Where small statements run."""
    made: PeopleMade | None
    """How many rows stood for how many people; None: they are rows as they came."""
    _connection: StatementRunner  # where statements about all rows run
    _source: Source
    _columns: tuple[Column, ...]
    _types: Sequence[str]  # what DuckDB calls the types of the columns

    def __init__(
        self,
        source: Source,
        where: Mapping[str, Sequence[object]] | None,
        session: Session,
        connection: StatementRunner,
        people: PeopleAsked | None = None,
    ) -> None:
        self.session = session
        self._connection = connection
        self.made: PeopleMade | None = None
        self._copy: CodedCopy | None = None
        try:
            self._look_at(source)
            self._positions = {c.name: i for i, c in enumerate(self._columns)}
            self._filter = self._make_row_filter()
            self._select("pv_people", where or {}, "pv_everybody", "pv_wanted")
            if people is not None:
                self.made = self._gather_people(people)
        except BaseException:
            self.close()
            raise
        self._values = self._make_distinct_values()
        self._dictionaries = Dictionaries(
            session, self._columns, self._source, self._values
        )

    def close(self) -> None:
        """Let go of the rows, and of everything that was made or spilled."""
        self._connection.close()
        self.session.close()

    # What each engine does in its own way -------------------------------------------

    def _look_at(self, source: Source) -> None:
        """Call the rows pv_everybody; know the source, its columns and their types."""
        raise NotImplementedError

    def _gather_people(self, people: PeopleAsked) -> PeopleMade:
        """Make one row per person of the rows, and call them pv_people."""
        raise InputError(
            f"Rows must be read here to become one per person; those of "
            f"{self._source.words} stay in {self.name}. Make a view of one row per "
            "person there, or export them."
        )

    def _make_row_filter(self) -> RowFilter:
        """What finds rows by their values."""
        return RowFilter(self.session, self._source, self._columns, self._types)

    def _make_distinct_values(self) -> DistinctValues:
        """What gathers the values of columns."""
        return DistinctValues(self.session)

    def _check_whole(self, run: Run) -> None:
        """What must hold before rows are read."""

    def _precount(self, tallies: Queries, run: Run) -> Precount | None:
        """Combinations of values that were counted as they are, if they are few."""
        return None

    def _describe_texts(self, precise: bool, run: Run) -> dict[int, ColumnSummary]:
        """Columns of texts that are described together."""
        return {}

    def _count_scans(self, columns: int) -> int:
        """How many statements read the values of so many columns."""
        return columns

    def _code_columns(
        self, columns: Sequence[int], recodings: Recodings, run: Run
    ) -> dict[int, Dictionary]:
        """Dictionaries that statements about all rows can use."""
        return self._dictionaries.code_columns(columns, recodings, run)

    def _weigh_rows(self, name: str, people: str, run: Run, before: int) -> CountedRows:
        """People with their weight, which must be whole numbers."""
        raise NotImplementedError

    def _write_rows(
        self, writing: WriteQuery, made: Mapping[int, Dictionary], run: Run
    ) -> int:
        """Write rows whose changed columns have dictionaries."""
        raise NotImplementedError

    def _write_reports(
        self, codes: str, change: DisguiseBatches, drawing: Randomisation, run: Run
    ) -> int:
        """Write what is reported instead of the codes that a statement selects."""
        raise NotImplementedError

    def _write_digests(self, query: DigestQuery, run: Run) -> int:
        """Write keyed digests of the rows; how many people they are."""
        raise NotImplementedError

    # What all of them do alike --------------------------------------------------------

    def columns(self) -> tuple[Column, ...]:
        """The columns of the source, in its order."""
        return self._columns

    def list_types(self) -> dict[str, str]:
        """The types of the columns that have one: texts may mean more."""
        both = zip(self._columns, self._types, strict=True)
        named = enumerate((c.name, type_) for c, type_ in both)
        return {c: type_ for i, (c, type_) in named if not self._source.is_text(i)}

    def rows(self, run: Run) -> int:
        """How many rows there are; counted once."""
        self._check_whole(run)
        connection = self._connection
        if connection.total is None:
            ask = partial(connection.fetch, "SELECT count(*) AS n FROM pv_people")
            table = connection.run_watched(ask, run, "counting rows", (1, 1))
            connection.total = int(table["n"][0].as_py())
        return connection.total

    def is_empty(self) -> bool:
        """Whether there are no rows at all."""
        return len(self._connection.ask("SELECT 1 AS one FROM pv_people LIMIT 1")) == 0

    def describe(self, run: Run) -> tuple[ColumnSummary, ...]:
        """Every column with its kind and numbers of values."""
        precise = self.rows(run) <= PRECISE_ROWS
        texts = self._describe_texts(precise, run)
        return tuple(
            texts.get(c) or self._summarise(c, precise, run)
            for c in range(len(self._columns))
        )

    def _summarise(self, c: int, precise: bool, run: Run) -> ColumnSummary:
        column, step = self._columns[c], (c + 1, len(self._columns))
        numbers = count_values(self._connection, c, precise, run, step)
        textual = self._source.is_text(c)
        kind = self._dictionaries.find_kind(c, run) if textual else column.kind
        return summarise_column(column.name, kind, *numbers)

    def list_missing_codes(self, run: Run) -> tuple[str, ...]:
        """Texts that may stand for missing values; none where nobody looked."""
        return ()

    def domains(
        self, columns: NameList, recodings: Recodings, run: Run, before: Queries = ()
    ) -> dict[str, Domain]:
        """The values of some columns, coded once; NULL has a code of its own."""
        self._check_whole(run)
        at = {c: self._position(c) for c in columns}
        made = self._dictionaries.code_columns(list(at.values()), recodings, run)
        return {c: made[i].domain for c, i in at.items()}

    def count(self, request: CountRequest, run: Run) -> CountedClasses:
        """Count; a tally may come in several parts, each with whole groups."""
        self._check_whole(run)
        amount, only = request.amount, request.only
        wanted = list(dict.fromkeys(request.tallies))
        names = dict.fromkeys(c for t in wanted for c in (*t.by, t.about))
        at = [self._position(c) for c in names]
        plain = not only and amount == CountUnit()
        cells = self._precount(wanted, run) if plain else None
        made = self._code_columns(at, request.recodings, run)
        rows = self._choose_rows(amount, only or {}, run, self._count_scans(len(at)))
        coded = CodedRows(
            self._connection,
            made,
            self._position,
            run,
            amount=amount,
            people=rows.people,
            weight=rows.weight,
            precount=cells,
            copy=self._copy if plain else None,
        )
        expected = None if only else rows.total
        yield from Counter(coded).count(wanted, expected, rows.statements)
        if self._copy is not None:
            self._copy.drop()

    def _choose_rows(
        self,
        amount: CountUnit,
        only: Mapping[str, Sequence[object]],
        run: Run,
        before: int,
    ) -> CountedRows:
        """The rows that a count reads: those with some values, and their weights."""
        people = PEOPLE
        if only:
            people = self._select("pv_some", only, PEOPLE, "pv_only")
        if amount.weight is not None:
            return self._weigh_rows(amount.weight, people, run, before)
        return CountedRows(people, self._connection.total, before)

    def sample_rows(
        self, columns: NameList, recodings: Recodings, most: int, run: Run
    ) -> DrawnRows:
        """The codes of all rows, or of about so many drawn by a hash of their values.

        Rows that agree in every column are drawn together, or not at all.
        """
        rows = self.rows(run)
        at = [self._position(c) for c in columns]
        made = self._code_columns(at, recodings, run)
        share, people = -(-rows // most), PEOPLE
        if share > 1:
            names = ", ".join(f"p.c{c}" for c in at)
            key = self._connection.dialect.hash.format(columns=names)
            people = f"(SELECT p.* FROM {PEOPLE} p WHERE {key} % {share} = 0)"
        coded = CodedRows(self._connection, made, self._position, run, people=people)
        few = f" LIMIT {4 * most}" if share > 1 else ""
        table = coded.fetch(coded.select(at) + few, None, (1, 1), "looking at columns")
        return number_rows(table, [made[c].domain for c in at], whole=share <= 1)

    def sample_cells(self, by: NameList, most: int, run: Run) -> DrawnCells:
        """The texts of all rows, or of about so many drawn by a hash of some columns.

        Where a few combinations of `by` have all rows, the hash may draw too few of
        them, and the first rows are taken. Columns of other kinds are left out.
        """
        share = max(1, self.rows(run) // most)
        names = ", ".join(f"p.c{self._position(c)}" for c in by)
        key = self._connection.dialect.hash.format(columns=names)
        drawn = f"WHERE {key} % {share} = 0" if share > 1 and by else ""
        table = self._fetch_cells(drawn, most, run)
        if drawn and len(table) * 4 < most:
            table = self._fetch_cells("", most, run)
        found = {}
        for field in table.column_names:
            c = int(field.removeprefix("t"))
            cells = table[field].to_pylist()
            read = read_json_cell if self._source.json else None
            textual = self._source.is_text(c)
            found[self._columns[c].name] = (
                [read(cell) for cell in cells] if read and textual else cells
            )
        return found

    def _fetch_cells(self, drawn: str, most: int, run: Run) -> pa.Table:
        text = self._connection.dialect.text
        chosen = ", ".join(
            f"substr(CAST(p.c{c} AS {text}), 1, {CELL_LETTERS}) AS t{c}"
            for c, column in enumerate(self._columns)
            if column.kind != "other"
        )
        if not chosen:
            return pa.table({})
        statement = f"SELECT {chosen} FROM {PEOPLE} p {drawn} LIMIT {most}"
        ask = partial(self._connection.fetch, statement)
        return self._connection.run_watched(ask, run, "looking at values", (1, 1))

    def count_combinations(self, columns: NameList, run: Run) -> int:
        """How many different rows there are, looking at some columns only."""
        self._check_whole(run)
        names = ", ".join(f"c{self._position(c)}" for c in columns)
        statement = f"SELECT count(*) AS n FROM (SELECT DISTINCT {names} FROM {PEOPLE})"
        ask = partial(self._connection.fetch, f"{statement} q")
        table = self._connection.run_watched(
            ask, run, "counting different rows", (1, 1)
        )
        return int(table["n"][0].as_py())

    def write(self, writing: WriteQuery, recodings: Recodings, run: Run) -> int:
        """Write rows out, recoded and shuffled; how many were written."""
        self._check_whole(run)
        changed = [self._position(c) for c in writing.columns if c in recodings]
        made = self._dictionaries.code_columns(changed, recodings, run)
        return self._write_rows(writing, made, run)

    def draw(self, drawing: Randomisation, recodings: Recodings, run: Run) -> int:
        """Write rows out, disguised by exact draws; how many were written."""
        self._check_whole(run)
        at = [self._position(c) for c in drawing.columns]
        made = self._code_columns(at, recodings, run)
        change = DisguiseBatches(drawing, self._position)
        tables = {c: made[c].table for c in change.columns}
        codes = sql.coded(tables, PEOPLE, "", self._connection.dialect)
        return self._write_reports(codes, change, drawing, run)

    def digest(self, query: DigestQuery, run: Run) -> int:
        """Write keyed digests of the rows; how many people they are."""
        self._check_whole(run)
        return self._write_digests(query, run)

    def tabulate(self, sets: Sequence[NameList], run: Run) -> Iterator[Cells]:
        """Rows per combination of few values, for each set of columns."""
        return count_cells(self, sets, run)

    # Pieces -------------------------------------------------------------------------

    def _position(self, name: str) -> int:
        return self._positions[name]

    def _select(
        self,
        name: str,
        only: Mapping[str, Sequence[object]],
        people: str,
        table: str,
    ) -> str:
        """Call those people by a name who have some values; small tables say which."""
        condition = self._filter.write_condition(only, table, people)
        self._connection.view(name, f"SELECT * FROM {people} e {condition}")
        return name
