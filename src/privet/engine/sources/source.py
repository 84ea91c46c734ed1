"""Where rows come from, and how text files are written."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from privet.errors import InputError

if TYPE_CHECKING:
    from privet.engine.digests import RowMarks

ENCODINGS = ("utf-8", "latin-1", "utf-16")
ALIASES = {"utf-8-sig": "utf-8", "ascii": "utf-8", "utf-16-le": "utf-16"}
"""Encodings that one of `ENCODINGS` reads as well."""

LONGEST_DELIMITER = 4
"""Bytes; DuckDB takes no longer one."""


class Address(Protocol):
    """Where rows stay that are counted elsewhere: a database, a cluster."""

    def open(self, words: str) -> Any:
        """A `Connection` to there; messages call the rows by these words."""


def _recognise_encoding(wanted: str) -> str:
    try:
        name = codecs.lookup(wanted).name
    except (LookupError, TypeError):
        name = ""
    known = {codecs.lookup(e).name: ALIASES.get(e, e) for e in (*ENCODINGS, *ALIASES)}
    if name not in known:
        raise InputError(
            f"encoding must be one of {', '.join(ENCODINGS)}; got {wanted!r}. "
            "Convert the file to UTF-8 if it is none of them."
        )
    return known[name]


def _as_names(names: Any) -> tuple[str, ...] | None:
    if names is None:
        return None
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if not listed or not names or not all(isinstance(n, str) and n for n in names):
        raise InputError(f"names must be a list of column names; got {names!r}.")
    return tuple(names)


@attrs.frozen
class TextOptions:
    """How text files are written, where the usual guess is wrong."""

    delimiter: str | None = None
    """Between two values; None: the likeliest of comma, semicolon, tab, bar, blank."""
    encoding: str = attrs.field(default="utf-8", converter=_recognise_encoding)
    """One of `ENCODINGS`."""
    null: tuple[str, ...] = ()
    """Texts that stand for a missing value, besides nothing at all."""
    header: bool | None = None
    """Whether the first line names the columns; None: it is looked at."""
    names: tuple[str, ...] | None = attrs.field(default=None, converter=_as_names)
    """Column names, in place of those a file has, or where it has none."""
    guarded: bool = False
    """Whether `privet` wrote the file with texts guarded against spreadsheets."""

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
        usual, told = TextOptions(), ("delimiter", "encoding", "header", "names")
        given = {key: getattr(self, key) for key in (*told, "null")}
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in given.items()
            if value != getattr(usual, key)
        }

    def refuse_given(self, words: str) -> None:
        """These options must not be given for a source that is not a text file."""
        given = {
            "delimiter": self.delimiter,
            "null": self.null,
            "header": self.header,
            "names": self.names,
            "encoding": self.encoding if self.encoding != ENCODINGS[0] else None,
        }
        for name, value in given.items():
            if value not in (None, ()):
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
    mixed: frozenset[int] = frozenset()
    """Columns of a frame whose objects had no type in common and are texts now."""
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
    text: TextOptions = TextOptions()
    """How text files were asked to be read; without a header, that is said here."""

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
