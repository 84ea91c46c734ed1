"""Where rows come from, and how text files are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs

from privet.engine.sources.encodings import name_encoding
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.engine.digests import RowMarks
    from privet.engine.sources.staged_rows import Staging

LONGEST_DELIMITER = 4
"""Bytes; DuckDB takes no longer one."""


class Address(Protocol):
    """Where rows stay that are counted elsewhere: a database, a cluster."""

    def open(self, words: str) -> Any:
        """A `Connection` to there; messages call the rows by these words."""


@dataclass(frozen=True)
class Feed:
    """Rows on their way into the engine, while they are converted."""

    scan: str
    """What to select them from."""
    stop: Callable[[], None]
    """Lets nobody wait for further rows."""
    path: str = ""
    """The pipe they come through as text; empty: they are a frame."""
    frame: Any = None
    """The frame they come as, called `pv_feed`; None: they are text."""
    names: tuple[str, ...] | None = None
    """The columns; None: as the source says."""
    mixed: frozenset[int] = frozenset()
    """Columns of texts that may mean more."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the file says of columns, in words."""


class StagingRoom(NamedTuple):
    """What converting a file may take."""

    disk: int
    """Bytes of its rows when they are unpacked."""
    memory: int
    """Bytes of memory of whoever reads it."""


class FilePart(Protocol):
    """One file whose rows no engine reads, and which are converted for that."""

    def open(self, place: Path, room: StagingRoom) -> AbstractContextManager[Feed]:
        """Its rows, with a folder to work in."""


def _name_encoding(wanted: Any) -> str | None:
    return None if wanted is None else name_encoding(wanted)


def _as_names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if not listed or not names or not all(isinstance(n, str) and n for n in names):
        raise InputError(f"names must be a list of column names; got {names!r}.")
    return tuple(names)


TEXT_KEYS = ("delimiter", "encoding", "header", "names", "null", "dates", "decimal")
"""What `TextOptions` has that a policy remembers."""

DATES = ("dmy", "mdy", "ymd", "text")
DECIMALS = (",", ".", "text")
"""The last means: left as the texts they are."""


def _check_among(name: str, known: Sequence[str]) -> Callable[[Any, Any, Any], None]:
    def check(_options: Any, _field: Any, value: object) -> None:
        if value not in known:
            raise InputError(
                f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}."
            )

    return check


@attrs.frozen
class TextOptions:
    """How text files are written, where the usual guess is wrong."""

    delimiter: str | None = None
    """Between two values; None: the likeliest of comma, semicolon, tab, bar, blank."""
    encoding: str | None = attrs.field(default=None, converter=_name_encoding)
    """As Python calls it; None: it is detected."""
    null: tuple[str, ...] = ()
    """Texts that stand for a missing value, besides nothing at all."""
    header: bool | None = None
    """Whether the first line names the columns; None: it is looked at."""
    names: tuple[str, ...] | None = attrs.field(default=None, converter=_as_names)
    """Column names, in place of those a file has, or where it has none."""
    guarded: bool = False
    """Whether `privet` wrote the file with texts guarded against spreadsheets."""
    dates: str | None = attrs.field(
        default=None, validator=attrs.validators.optional(_check_among("dates", DATES))
    )
    """The order of day and month, one of `DATES`; None: columns are looked at."""
    decimal: str | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(_check_among("decimal", DECIMALS)),
    )
    """What stands before decimals, one of `DECIMALS`; None: columns are looked at."""

    def __attrs_post_init__(self) -> None:
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.header is not None and not isinstance(self.header, bool):
            raise InputError(
                "header must be true, false or left out; got "
                f"{type(self.header).__name__}. Give the names of columns as names."
            )

    def to_dict(self) -> dict[str, Any]:
        """What differs from the usual, under the names that `read` has for it."""
        given = {key: getattr(self, key) for key in TEXT_KEYS}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in given.items()
            if value not in (None, ()) and (key, value) != ("encoding", "utf-8")
        }

    def refuse_given(self, words: str, but: Collection[str] = ()) -> None:
        """Options must not be given for a source that is not a text file, but these."""
        for name, value in self.to_dict().items():
            if name not in but:
                raise InputError(
                    f"{name} must be left out for {words}, which is not a text file "
                    f"of values; got {value!r}."
                )


def _check_delimiter(delimiter: object) -> None:
    fits = isinstance(delimiter, str) and not set(delimiter) & set('"\r\n')
    if not fits or not 0 < len(str(delimiter).encode()) <= LONGEST_DELIMITER:
        raise InputError(
            f"delimiter must be one to {LONGEST_DELIMITER} letters, and neither a "
            f"quote nor a line end; got {delimiter!r}."
        )


@dataclass(frozen=True)
class Source:
    """Where rows come from, as far as an engine needs to know."""

    names: tuple[str, ...] | None
    """The column names; None: ask the engine."""
    scan: str = ""
    """What to select from; of a database file, the name of a table."""
    frame: Any = None
    """A frame in memory, or a stream that can be read again."""
    textual: bool = False
    """Whether every value arrives as the text the file has."""
    json: bool = False
    """Whether those texts are JSON: quoted where the file has a text."""
    form: str = ""
    """How JSON objects stand in the file: one per line, or as a list."""
    delimiter: str = ""
    """What stands between two values of a text file."""
    mixed: frozenset[int] = frozenset()
    """Columns of a frame that are texts which may mean more, as those of files do."""
    address: Address | None = None
    """Where rows stay that are counted elsewhere."""
    attach: str = ""
    """A database file to open first."""
    words: str = "the table"
    """How messages call the source."""
    paths: tuple[str, ...] = ()
    """The files the rows come from."""
    guarded: bool = False
    """Whether texts were guarded against spreadsheets, which is undone."""
    marks: RowMarks | None = None
    """Further columns: how often files of digests have each row."""
    rows: int | None = None
    """How many rows there are, where the source tells without being read."""
    kept: Any = None
    """What must live as long as the source does: the folders of its files."""
    text: TextOptions = TextOptions()
    """How text files were asked to be read, and what was found in them."""
    staging: Staging | None = None
    """Converts rows that no engine reads where they are."""
    table: str = ""
    """Which sheet, table or member of the file is meant."""
    takes: tuple[str, ...] = ()
    """Which options of text files it takes, though it is none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the file says of its columns, in words."""
    respelled: Mapping[int, str] = field(default_factory=dict)
    """How cells of some columns are spelled here; {} stands for the cell."""
    looked_at: bool = False
    """Whether that was looked for already."""

    def list_found(self) -> dict[str, Any]:
        """How text is written, as it was found: encoding, dates and decimals."""
        if not self.takes:
            return {}
        known = self.text.to_dict()
        return {k: known[k] for k in ("encoding", "dates", "decimal") if k in known}

    def is_text(self, column: int) -> bool:
        """Whether the values of a column arrive as texts that may mean more."""
        return self.textual or column in self.mixed


def differ(names: Sequence[str]) -> bool:
    """Whether DuckDB tells all names apart; it minds no case.

    >>> differ(["age", "job"]), differ(["Age", "age"])
    (True, False)
    """
    return len({n.casefold() for n in names}) == len(names)


def refuse_twice(names: Sequence[str], words: str) -> None:
    """Column names must differ."""
    twice = sorted(n for n, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(
            f"Column names of {words} must differ; "
            + ", ".join(repr(n) for n in twice)
            + (" stands" if len(twice) == 1 else " stand")
            + " there more than once."
        )
