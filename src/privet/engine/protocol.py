"""The protocol of every engine: columns, domains and counts of one source of rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from privet.errors import InputError, Stopped
from privet.languages import mark
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.schema import KINDS, Bins, Column

if TYPE_CHECKING:
    from privet.engine.counting.pairs import DrawnRows
    from privet.engine.digests import DigestQuery
    from privet.engine.duckdb.session import Session
    from privet.engine.projections import Projection
    from privet.engine.randomise.randomise_rows import Cells, Randomisation

TOO_LATE = mark("The time limit ran out before the count was complete.")
"""What is said of work that is stopped."""

ENOUGH_ROWS = 20
"""In fewer rows, many different values mean nothing."""


@dataclass(frozen=True)
class Progress:
    """How far the engine is; sent to the callback a few times a second."""

    doing: str
    """What the statement does, such as "reading values" or "counting"."""
    statement: int
    """Which statement runs, from 1."""
    of: int
    """How many statements are foreseen."""
    share: float | None
    """How much of the statement is done, from 0 to 1; None if the engine can't say.

    It is 1 once: when the statement is over."""
    rows: int | None
    """Rows read by this statement so far, about; None while the total is unknown."""


Listener = Callable[[Progress], None]
"""What takes progress; exceptions it raises stop the work."""


@dataclass(frozen=True)
class TimeLimit:
    """How long a whole piece of work may take, with everything that is in it."""

    began: float
    """When it began, as `time.monotonic` counts."""
    end: float
    """When it must be over."""
    share: float
    """How long what follows a search takes, against all that came before it."""

    @property
    def search_end(self) -> float:
        """When a search must stop now, so that the rest still fits."""
        return self.end - self.share * (monotonic() - self.began)


LIMIT: ContextVar[TimeLimit | None] = ContextVar("privet_limit", default=None)
"""The limit of the work that goes on; every run in it keeps it."""

JUDGING, WRITING = 1.0, 3.0
"""Shares: what was found is judged once more; then it is written, read back and judged.
"""


@contextmanager
def limit_time(max_seconds: float | None, share: float = JUDGING) -> Iterator[None]:
    """Let the work inside take so many seconds at most; then it is `Stopped`.

    A limit that holds already stays.
    """
    if max_seconds is not None and not max_seconds > 0:
        raise InputError(f"max_seconds must be above 0; got {max_seconds!r}.")
    held = LIMIT.get()
    if max_seconds is None or (held and held.end <= monotonic() + max_seconds):
        yield
        return
    now = monotonic()
    token = LIMIT.set(TimeLimit(now, now + max_seconds, share))
    try:
        yield
    finally:
        LIMIT.reset(token)


@dataclass(frozen=True)
class Run:
    """One piece of work: who listens, and when it must stop."""

    listener: Listener | None = None
    """Takes progress, if anybody does."""
    deadline: float | None = None
    """Point in `time.monotonic` after which the work stops."""
    seed: int | None = None
    """Makes draws repeatable; None: they come from the system's secure source."""

    @classmethod
    def start(
        cls,
        listener: Listener | None = None,
        max_seconds: float | None = None,
        seed: int | None = None,
    ) -> Run:
        """A run that starts now and may take so many seconds."""
        if max_seconds is not None and not max_seconds > 0:
            raise InputError(f"max_seconds must be above 0; got {max_seconds!r}.")
        end = None if max_seconds is None else monotonic() + max_seconds
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise InputError(f"seed must be a whole number; got {seed!r}.")
        return cls(listener, end, seed)

    @property
    def end(self) -> float | None:
        """When the work stops: at its own end, or that of all it is part of."""
        limit = LIMIT.get()
        ends = [self.deadline, limit.end if limit else None]
        return min((e for e in ends if e is not None), default=None)

    @property
    def left(self) -> float | None:
        """Seconds until the work stops; None: no end is set."""
        end = self.end
        return None if end is None else max(end - monotonic(), 0.001)

    def check(self) -> None:
        """Raise `Stopped` once the time is over."""
        end = self.end
        if end is not None and monotonic() > end:
            raise Stopped(TOO_LATE)

    def tell(self, progress: Progress) -> None:
        """Pass progress on."""
        if self.listener is not None:
            self.listener(progress)


@dataclass(frozen=True)
class CountQuery:
    """One count: equivalence classes over `by`, with the histogram of `about` each."""

    by: tuple[str, ...]
    """Columns that make the groups; empty: everybody is one group."""
    about: str
    """The column counted in each group; not one of `by`."""

    def __post_init__(self) -> None:
        columns = (*self.by, self.about)
        twice = next((c for c in columns if columns.count(c) > 1), None)
        if twice is not None:
            raise InputError(
                f"A tally must name each column once; got {twice!r} twice."
            )


Queries = Sequence[CountQuery]
"""Several counts."""


@dataclass(frozen=True)
class CountUnit:
    """What is counted: rows, distinct people, or the sum of a column of weights."""

    unit: str | None = None
    """Column that tells people apart."""
    weight: str | None = None
    """Column of multiplicities."""


@dataclass(frozen=True)
class ColumnSummary:
    """What may be known of a column without reading a cell."""

    name: str
    """As the source writes it."""
    kind: str
    """One of `values/schema.py: KINDS`: the kind of all of its values."""
    rows: int
    """How many rows the table has."""
    distinct: int
    """How many different values there are, about; missing counts as a value."""
    missing: int = 0
    """How many rows have no value."""
    nearly: str = field(default="", compare=False)
    """What nearly all texts of a column of texts are, if anything: a kind."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {KINDS}; got {self.kind!r}.")
        if not (0 <= self.distinct <= self.rows and 0 <= self.missing <= self.rows):
            raise InputError(
                f"distinct and missing must be from 0 to rows; "
                f"got {self.distinct} and {self.missing} of {self.rows}."
            )
        if any(unicodedata.category(letter) == "Cs" for letter in self.name):
            raise InputError(f"name must be text UTF-8 can hold; got {self.name!r}.")

    @property
    def telling(self) -> bool:
        """Whether nearly every row has its own value."""
        return self.rows >= ENOUGH_ROWS and self.distinct * 10 >= self.rows * 9

    @property
    def varied(self) -> bool:
        """Whether there are more than half as many values as rows."""
        return self.rows >= ENOUGH_ROWS and self.distinct * 2 > self.rows


@dataclass(frozen=True)
class Relabel:
    """Other texts in place of a column's values, one per code of the original."""

    texts: tuple[str | None, ...]
    """What is shown for each code; codes with the same text become one value."""
    base: Bins | None = None
    """The bins that made the codes, if any did."""


Recoding = Bins | Relabel
"""What a column may be counted and written as, instead of its own values."""

Recodings = Mapping[str, Recoding]
"""The recoding of each column that has one."""

NameList = Sequence[str]
"""Names of columns."""


@dataclass(frozen=True)
class CountRequest:
    """Counts that are made together."""

    tallies: Queries
    """What is counted."""
    amount: CountUnit = CountUnit()
    """Rows, people or weights."""
    recodings: Recodings = field(default_factory=dict)
    """What columns are counted as."""
    only: Mapping[str, Sequence[object]] | None = None
    """Only the rows with one of these values per column."""


CountedClasses = Iterator[tuple[CountQuery, EquivalenceClasses]]
"""The classes of each query; perhaps in several parts, each with whole groups."""


DrawnCells = Mapping[str, Sequence[str | None]]
"""Some rows as they are: the texts of each column, one per row."""


@dataclass(frozen=True)
class Spread:
    """Columns that are written in place of one, whose texts are known."""

    names: tuple[str, ...]
    """What they are called."""
    cells: Mapping[str | None, tuple[str | None, ...]]
    """What stands in them for each text of the column."""
    types: tuple[str, ...]
    """Their types, in files that have some; empty: text."""


@dataclass(frozen=True)
class WriteQuery:
    """How rows are written out."""

    path: str
    """The file; it must not exist yet."""
    format: str
    """`csv`, `parquet`, `xlsx`, `sav` or `dta`."""
    columns: tuple[str, ...]
    """Which columns, in this order."""
    weight: str | None = None
    """A column of multiplicities: rows that look alike are written once, summed."""
    times: str | None = None
    """A column, itself not written, that says how often each row is written."""
    distinct: bool = False
    """Whether rows that look alike are written once."""
    only: str | None = None
    """A column of multiplicities, itself not written: rows without any are left out."""
    spread: Mapping[str, Spread] = field(default_factory=dict)
    """Columns in whose place others are written."""
    types: Mapping[str, str] = field(default_factory=dict)
    """The types of columns that are texts here, in files that have some."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the file has."""
        own = [self.spread[c].names if c in self.spread else (c,) for c in self.columns]
        return tuple(name for several in own for name in several)


class Engine(Protocol):
    """A source of rows that can be counted. One engine serves one source."""

    name: str
    """As the command line calls it."""
    version: str
    """Which version of the software counts."""

    def columns(self) -> tuple[Column, ...]:
        """The columns of the source, in its order."""

    def list_types(self) -> dict[str, str]:
        """DuckDB's types of the columns that have one: texts may mean more."""

    def rows(self, run: Run) -> int:
        """How many rows there are."""

    def is_empty(self) -> bool:
        """Whether there are no rows at all."""

    def describe(self, run: Run) -> tuple[ColumnSummary, ...]:
        """Every column with its kind and numbers of values."""

    def domains(
        self, columns: NameList, recodings: Recodings, run: Run, before: Queries = ()
    ) -> dict[str, Domain]:
        """The values of some columns, coded once and for all.

        `before` some rows are counted: an engine may find both in one scan.
        """

    def count(self, request: CountRequest, run: Run) -> CountedClasses:
        """Count; a tally may come in several parts, each with whole groups."""

    def sample_rows(
        self, columns: NameList, recodings: Recodings, most: int, run: Run
    ) -> DrawnRows:
        """The codes of all rows, or of about so many that a hash draws."""

    def sample_cells(self, by: NameList, most: int, run: Run) -> DrawnCells:
        """The texts of all rows, or of about so many that a hash of `by` draws."""

    def count_combinations(self, columns: NameList, run: Run) -> int:
        """How many different rows there are, looking at some columns only."""

    def write(self, writing: WriteQuery, recodings: Recodings, run: Run) -> int:
        """Write rows out, recoded and shuffled; how many were written."""

    def draw(self, drawing: Randomisation, recodings: Recodings, run: Run) -> int:
        """Write rows out, disguised by exact draws; how many were written."""

    def digest(self, query: DigestQuery, run: Run) -> int:
        """Write keyed digests of the rows; how many people they are."""

    def tabulate(self, sets: Sequence[NameList], run: Run) -> Iterator[Cells]:
        """Rows per combination of few values as texts, for each set of columns."""

    def close(self) -> None:
        """Let go of everything, temporary files included."""


@runtime_checkable
class HoldingEngine(Protocol):
    """An engine that can hold the codes of its rows in memory."""

    def hold_rows(
        self, columns: NameList, amount: CountUnit, recodings: Recodings, run: Run
    ) -> Engine | None:
        """An engine of the codes of all rows; None where they do not fit."""


@runtime_checkable
class JoiningEngine(Protocol):
    """An engine whose rows, or tuples of them, can be joined in a session of DuckDB."""

    session: Session
    """Where statements about a projection run."""

    def open_projection(
        self, columns: NameList, weight: str | None, recodings: Recodings, run: Run
    ) -> Projection:
        """Some columns, and how many rows each tuple stands for; to be closed."""
