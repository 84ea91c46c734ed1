"""A table about people (microdata): an engine's rows and columns' roles; immutable."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from privet.display import Displayed
from privet.engine.person_statement import PeopleAsked
from privet.engine.protocol import (
    CountQuery,
    CountRequest,
    CountUnit,
    Engine,
    Listener,
    Recoding,
    Relabel,
    Run,
)
from privet.engine.sources.find_source import find_source
from privet.engine.sources.source import Source, TextOptions
from privet.errors import ColumnNotFound, EmptyTable, InputError, suggest_names
from privet.policy.acceptance import DerivedColumn
from privet.values.contingency import Domain
from privet.values.dependencies import Rules
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.person_rows import PeopleMade, PersonRows, read_person
from privet.values.schema import Bins, Edge, Roles, Schema, as_names

if TYPE_CHECKING:
    from privet.microdata.groups import Groups

ENGINES = ("duckdb", "spark")
"""What may read files."""

Names = str | Sequence[str]
"""One column name, or several."""


@dataclass(frozen=True)
class ReleasedAs:
    """How a release shows quasi-identifiers, generalised or as buckets: in groups."""

    known: tuple[str, ...]
    """The columns somebody may know."""
    by: tuple[str, ...]
    """The columns that tell the groups apart: the same, shown coarsely, or others."""
    beside: tuple[str, ...] = ()
    """Columns that stand beside people in another table: they tell no more than the
    group."""


class Onlooker(Protocol):
    """Who looks at counts of a table that are made for somebody else."""

    def look(self, table: Table, tally: CountQuery, groups: EquivalenceClasses) -> None:
        """Some whole groups of a count."""

    def end(self, table: Table, tallies: Sequence[CountQuery]) -> None:
        """These counts are complete."""


@dataclass(frozen=True, eq=False)
class Table(Displayed):
    """Private rows and the roles of their columns."""

    engine: Engine
    """What counts the rows; nothing else touches them."""
    schema: Schema
    """The columns and what they are for."""
    words: str = "the table"
    """How messages call it."""
    relabels: Mapping[str, Relabel] = field(default_factory=dict)
    """What is shown in place of some columns' values."""
    source: Source = field(default_factory=lambda: Source(None), repr=False)
    """Where the rows come from."""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How the source was opened."""
    shown: ReleasedAs | None = None
    """How columns are shown that are known exactly; None: as they are known."""
    derived: tuple[DerivedColumn, ...] = ()
    """Columns that a policy says follow from others, or do not."""
    rules: Rules | None = field(default=None, repr=False)
    """Which columns tell others, in the source; None: to be found when needed."""
    coarse: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    """Columns that do not show each value as it is: the text that stands for several
    values; None: each of their texts may."""
    json_lists: frozenset[str] = field(default=frozenset(), repr=False)
    """Columns whose texts are lists as JSON writes them."""
    onlooker: Onlooker | None = field(default=None, repr=False)
    """Who looks at every count that is made, so that nothing is counted twice."""

    @property
    def roles(self) -> Roles:
        """What the columns are for."""
        return self.schema.roles

    @property
    def recodings(self) -> dict[str, Recoding]:
        """What columns are counted and written as, instead of their own values."""
        return {**self.roles.bins, **self.relabels}

    def meant_by(self, where: Mapping[str, Sequence[object]]) -> Table:
        """The rows with these values only; the table itself if it has no others."""
        stated: dict[str, list[object]] = dict(self.options.get("where", {}))
        both = {**stated, **{c: list(v) for c, v in where.items()}}
        for column in stated.keys() & where.keys():
            wanted_texts = [_as_text(v) for v in where[column]]
            both[column] = [v for v in stated[column] if _as_text(v) in wanted_texts]
        if both == stated:
            return self
        options = {**self.options, "where": both}
        return open_table(self.source, self.roles, **options)

    def select_people(self, only: Mapping[str, Sequence[object]]) -> Table:
        """Those of its rows, or of its people, with these values."""
        known = self.options.get("people")
        if known is None:
            return self.meant_by(only)
        options = {**self.options, "people": replace(known, only=only)}
        return open_table(self.source, self.roles, **options)

    def per_person(self, person: PersonRows | None) -> Table:
        """One row per person, as said or as it was; the table itself if it is so.

        What `where` asks for is asked of the rows before.
        """
        known: PeopleAsked | None = self.options.get("people")
        if person is None and known is None:
            return self
        asked = person or known.person  # type: ignore[union-attr]
        if known is not None and asked.by is None and self.roles.unit is None:
            asked = attrs.evolve(asked, by=known.person.by)
        roles, wanted = _settle_people(self.roles, asked)
        if known is not None and replace(known, only={}) == wanted["people"]:
            return self.with_roles(roles)
        return open_table(self.source, roles, **{**self.options, **wanted})

    @property
    def people_made(self) -> PeopleMade | None:
        """How many rows stood for how many people; None: rows are as they came."""
        return getattr(self.engine, "made", None)

    @property
    def person(self) -> PersonRows | None:
        """How rows became people; None: they are rows as they came."""
        known = self.options.get("people")
        return None if known is None else known.person

    def relabelled(self, relabels: Mapping[str, Relabel]) -> Table:
        """The same rows, with other texts in place of some values."""
        return replace(self, relabels={**self.relabels, **relabels})

    def with_roles(self, roles: Roles) -> Table:
        """The same rows, other roles."""
        return replace(self, schema=Schema(self.schema.columns, roles))

    def __len__(self) -> int:
        return self.engine.rows(Run())

    def to_dict(self) -> dict[str, Any]:
        """For machines: the columns, their types and roles; no cell of a row."""
        columns = [
            {"name": c.name, "type": c.kind, "role": self.schema.role(c.name)}
            for c in self.schema.columns
        ]
        return {"table": self.words, "counted": self.counted, "columns": columns}

    def __repr__(self) -> str:
        columns = [
            f"{c.name} ({role})" if (role := self.schema.role(c.name)) else c.name
            for c in self.schema.columns
        ]
        return f"Table({self.words}: {', '.join(columns)})"

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the rows and of everything the engine spilled."""
        self.engine.close()

    def domains(
        self,
        columns: Sequence[str],
        run: Run | None = None,
        *,
        before: Sequence[CountQuery] = (),
    ) -> dict[str, Domain]:
        """The values some columns take, perhaps before tallies that need them."""
        require_columns(columns, self.schema, "domains")
        rows = self.roles.unit is None and self.roles.weight is None
        soon = before if rows else ()
        return self.engine.domains(columns, self.recodings, run or Run(), soon)

    def count(
        self,
        tallies: Sequence[CountQuery],
        run: Run | None = None,
        *,
        only: Mapping[str, Sequence[object]] | None = None,
    ) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        """Count groups; see `engine/protocol.py: Engine.count`."""
        used = dict.fromkeys(c for t in tallies for c in (*t.by, t.about))
        require_columns(list(used), self.schema, "a tally")
        amount = CountUnit(self.roles.unit, self.roles.weight)
        request = CountRequest(tallies, amount, self.recodings, only)
        if self.onlooker is None or only:
            yield from self.engine.count(request, run or Run())
            return
        for tally, groups in self.engine.count(request, run or Run()):
            self.onlooker.look(self, tally, groups)
            yield tally, groups
        self.onlooker.end(self, tallies)

    def groups(
        self, about: str | None = None, *, progress: Listener | None = None
    ) -> Groups:
        """Equivalence classes over all quasi-identifiers, with a column's histogram."""
        from privet.microdata.groups import Groups

        return Groups.from_table(self, about, run=Run(progress))

    @property
    def counted(self) -> str:
        """What a count counts: rows or people."""
        return "people" if self.roles.unit else "rows"

    def protected(self) -> str:
        """The one sensitive column; an error where there are none or several."""
        sensitive = self.roles.sensitive
        if len(sensitive) != 1:
            have = (
                f"there are {', '.join(map(repr, sensitive))}"
                if sensitive
                else ("no column is declared sensitive")
            )
            raise InputError(f"about must name a column or a value of it; {have}.")
        return sensitive[0]


def read(
    source: Any,
    *,
    identifier: Names = (),
    quasi: Names = (),
    sensitive: Names = (),
    other: Names = (),
    drop: Names = (),
    target: str | None = None,
    unit: str | None = None,
    weight: str | None = None,
    bins: Mapping[str, Sequence[Edge | str] | Bins] | None = None,
    where: Mapping[str, object] | None = None,
    person: Mapping[str, object] | PersonRows | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    null: Names = (),
    header: bool | None = None,
    names: Sequence[str] | None = None,
    dates: str | None = None,
    decimal: str | None = None,
    memory_limit: str | None = None,
    spill: str | os.PathLike[str] | None = None,
    spill_limit: str | None = None,
    threads: int | None = None,
    engine: str = "duckdb",
    master: str | None = None,
) -> Table:
    """Open a table about people. Nothing is copied; rows are read when counted.

    Parameters
    ----------
    source
        A path, a pattern such as ``"2024-*.csv"``, a folder of Parquet files or a
        list of paths (CSV, TSV, JSON, Parquet; text also as .gz, .zst, .bz2, .xz or
        .zip); an Arrow file; a spreadsheet, a file of SPSS, Stata or SAS; a DuckDB or
        SQLite database file, or the address of a PostgreSQL database
        (``"postgresql://host/database"``), with `table`; a pandas, polars or pyarrow
        table; a DuckDB relation; a Spark DataFrame.
    identifier, quasi, sensitive, target
        What the columns are for.
    other, drop
        Columns that are published as they are, and columns that never are.
    unit
        A column that tells people apart, where somebody may have several rows.
    weight
        A column that says how many rows each row stands for.
    bins
        Public cut points of numeric and date columns, such as ``{"age": [18, 65]}``.
    where
        Only these rows: a value or several per column, such as ``{"year": 2024}``.
    person
        How several rows of a person become one, such as ``{"by": "patient",
        "order": "visit", "last": ["town"], "set": ["illness"]}``.
    table
        The table of a database, the sheet of a spreadsheet, the file in a .zip file.
    delimiter, encoding, null
        How text files are written, where the usual guess is wrong.
    dates, decimal
        How text files write dates (``"dmy"``, ``"mdy"``, ``"ymd"``) and what stands
        before decimals (``","``, ``"."``), where columns do not tell; ``"text"``
        leaves them as they are.
    header, names
        Whether the first line of a text file names its columns; it is looked at
        unless you say so, and doubts are asked. Names for a file without a header, or
        with `header=True` in place of those it has.
    memory_limit, spill, spill_limit, threads
        What DuckDB may use: ``"4GB"``, a folder for what does not fit, how much of it
        (``"50GB"``), how many cores.
    engine, master
        ``engine="spark"`` lets Spark read files, at the address `master` such as
        ``"spark://host:7077"``, ``"sc://host"`` or ``"local[2]"``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"job": ["Cook", "Cook"], "ill": ["yes", None]})
    >>> read(people, quasi="job", sensitive="ill")
    Table(the table: job (quasi), ill (sensitive))
    """
    roles = Roles(
        identifier=as_names(identifier, "identifier"),
        quasi=as_names(quasi, "quasi"),
        sensitive=as_names(sensitive, "sensitive"),
        other=as_names(other, "other"),
        drop=as_names(drop, "drop"),
        target=target,
        unit=unit,
        weight=weight,
        bins={
            c: b if isinstance(b, Bins) else Bins(b) for c, b in (bins or {}).items()
        },
    )
    text = TextOptions(
        delimiter,
        encoding,
        as_names(null, "null"),
        header,
        names,
        dates=dates,
        decimal=decimal,
    )
    found = _find_source(source, table, text, engine, master)
    if found.json or not found.textual:
        text.refuse_given(found.words, found.takes)
    made, asked = _settle_people(roles, read_person(person))
    return open_table(
        found,
        made,
        where={c: as_values(v) for c, v in (where or {}).items()},
        memory_limit=memory_limit,
        spill=spill,
        spill_limit=spill_limit,
        threads=threads,
        **asked,
    )


def _settle_people(
    roles: Roles, person: PersonRows | None
) -> tuple[Roles, dict[str, Any]]:
    """The roles of people, and what an engine is asked; of rows nothing."""
    if person is None:
        return roles, {}
    asked = person.resolve(roles)
    withheld = tuple(c for c in roles.withheld if c != asked.by)
    return person.settle(roles), {"people": PeopleAsked(asked, withheld)}


def _find_source(
    source: Any, table: str | None, text: TextOptions, engine: str, master: str | None
) -> Source:
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {ENGINES}; got {engine!r}.")
    if master is not None and engine != "spark":
        raise InputError(
            f"master must be left out unless engine is 'spark'; got {master!r}."
        )
    files = source if isinstance(source, list | tuple) else [source]
    named = all(isinstance(f, str | os.PathLike) for f in files)
    if engine == "duckdb" or not named:
        return find_source(source, table=table, text=text)
    from privet.engine.remote.spark import from_cluster

    if table is not None:
        raise InputError(
            f"table must be left out where Spark reads files; got {table!r}. Hand over "
            "spark.table(…) in Python instead."
        )
    return from_cluster(source, master, text)


def open_table(source: Source, roles: Roles, **options: Any) -> Table:
    """Open a source that was found; see `read` for the options."""
    engine = _open_engine(source, options)
    try:
        schema = Schema(engine.columns(), roles)
        _refuse_empty(engine, source.words, bool(options.get("where")))
    except BaseException:
        engine.close()
        raise
    known = getattr(engine, "source", source)  # what was found when it was opened
    return Table(engine, schema, source.words, source=known, options=options)


def _open_engine(source: Source, options: Mapping[str, Any]) -> Engine:
    if source.address is not None:
        from privet.engine.remote.engine import Remote

        return Remote(source, **options)
    from privet.engine.duckdb.engine import DuckDB

    return DuckDB(source, **options)


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def as_values(value: object) -> list[object]:
    """The values one column of `where` may have."""
    several = isinstance(value, list | tuple | set | frozenset)
    return list(value) if several else [value]  # type: ignore[call-overload]


def _refuse_empty(engine: Any, words: str, filtered: bool) -> None:
    if engine.is_empty():
        rows = "rows that where lets through" if filtered else "rows"
        raise EmptyTable(f"A table must have {rows}; {words} has none.")


def require_columns(columns: Sequence[str], schema: Schema, what: str) -> None:
    """Each column must exist."""
    known = schema.names
    for column in columns:
        if column not in known:
            raise ColumnNotFound(
                f"Column {column!r} of {what} must exist in the table. "
                f"{suggest_names(column, known)}"
            )
