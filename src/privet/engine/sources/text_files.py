"""Text files: comma-separated values with all their dialects, and JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import attrs
import pyarrow as pa

from privet.engine.protocol import Progress, Run
from privet.engine.sources.header_line import weigh_header
from privet.engine.sources.source import (
    ENCODINGS,
    Source,
    TextOptions,
    differ,
    refuse_twice,
)
from privet.engine.sql import literal, unguarded_name
from privet.errors import EmptyTable, InputError

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Compressions by the ending of the name."""

DELIMITERS = (",", ";", "\t", "|")
TABS = (".tsv", ".tab")

MOST_LINES, FEW_LINES, MOST_LETTERS = 1_000, 20, 250_000
"""How much of a file is looked at to tell a header from a row."""

TWO_WORDS = 2
"""So many words may be one value, such as a name."""

FILES = "getvariable('files')"
"""The list of files, as a statement refers to it; the engine sets the variable."""


def split_endings(path: Path) -> tuple[str, str]:
    """The ending that names the format, and the one that names the compression.

    >>> split_endings(Path("people.csv.gz"))
    ('.csv', '.gz')
    """
    packed = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    inner = Path(path.stem) if packed else path
    return inner.suffix.lower(), packed


# Comma-separated values -------------------------------------------------------------


def from_csv(paths: list[Path], words: str, text: TextOptions) -> Source:
    """Files of values with delimiters between them."""
    first = FirstLines.read(paths[0], text)
    delimiter = first.find_delimiter()
    own, header = first.read_header(delimiter), first.has_header(delimiter)
    for path in paths[1:] if header else ():
        if FirstLines.read(path, text).read_header(delimiter) != own:
            raise InputError(
                f"All files of {words} must have the same header; {str(path)!r} "
                f"has another one than {str(paths[0])!r}."
            )
    if text.names and len(text.names) != len(own):
        raise InputError(
            f"names must be one for each of the {len(own)} columns of {words}; got "
            f"{len(text.names)}."
        )
    names = list(text.names or (own if header else _number_names(len(own))))
    if text.guarded:
        names = [unguarded_name(n) for n in names]
    refuse_twice(names, words)
    scan = csv_scan(len(names), delimiter, text, header=header)
    return Source(
        tuple(names),
        scan,
        textual=True,
        words=words,
        guarded=text.guarded,
        text=text if header else attrs.evolve(text, header=False),
    )


def _number_names(columns: int) -> list[str]:
    return [f"column{i + 1}" for i in range(columns)]


def describe_doubt(place: str) -> str:
    """The question whether a file has a header; what may be a person is not shown."""
    return (
        f"The first line of {place!r} must be known to name columns or to be a row; it "
        "looks like the rows below it, and is not shown for that. Say --header "
        "(header=True) if it names columns, --no-header (header=False) if it is a row, "
        "or --names a,b,c (names=[...]) to name the columns of a file without a header."
    )


def csv_scan(columns: int, delimiter: str, text: TextOptions, *, header: bool) -> str:
    """What to select from; a text in quotes never stands for a missing value."""
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
    nulls = ", ".join(literal(n) for n in dict.fromkeys(("", *text.null)))
    return (
        f"read_csv({FILES}, auto_detect = false, header = {header}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', "
        f"encoding = {literal(text.encoding)}, nullstr = [{nulls}], "
        f"allow_quoted_nulls = false, columns = {{{names}}})"
    )


def find_delimiter(path: Path, text: TextOptions) -> str:
    """What stands between two values of a file."""
    return FirstLines.read(path, text).find_delimiter()


@dataclass(frozen=True)
class FirstLines:
    """The first lines of a file; they may be about people, and are never shown."""

    path: Path
    """The file."""
    text: TextOptions
    """How it was asked to be read."""
    lines: tuple[str, ...] = field(repr=False)
    """As they stand there; bytes that are no text come as surrogates."""

    @classmethod
    def read(cls, path: Path, text: TextOptions) -> FirstLines:
        """Look at a file; an error quotes nothing of it."""
        lines = _read_lines(path, _detect_encoding(path, text.encoding))
        if not lines:
            raise InputError(
                f"File {str(path)!r} must be readable {text.encoding} text; its first "
                "line is not."
            )
        if any("\udc80" <= letter <= "\udcff" for letter in lines[0]):
            raise InputError(
                f"File {str(path)!r} must be {text.encoding} text; its first line is "
                f"not. Give the encoding: one of {', '.join(ENCODINGS)}."
            )
        return cls(path, text, lines)

    def find_delimiter(self) -> str:
        """What stands between two values."""
        if self.text.delimiter:
            return self.text.delimiter
        if split_endings(self.path)[0] in TABS:
            return "\t"
        found = {d: len(self.read_header(d)) for d in DELIMITERS}
        best = max(found, key=lambda d: found[d])
        if found[best] == 1:
            return " " if _are_regular(self.split(" ")) else best
        return ", " if best == "," and _are_spaced(self.split(",")) else best

    def read_header(self, delimiter: str) -> list[str]:
        """The values of the first line, each with a name at least."""
        records = self.split(delimiter, most=1)
        if not records:
            raise InputError(
                f"File {str(self.path)!r} must be readable text; a value of its first "
                "line is too long, or a quote is never closed."
            )
        if not any(records[0]):
            raise EmptyTable(
                f"File {str(self.path)!r} must start with a line of values."
            )
        return [c or f"column{i + 1}" for i, c in enumerate(records[0])]

    def split(self, delimiter: str, most: int = MOST_LINES) -> list[list[str]]:
        """The first records; fewer where a quote is never closed."""
        if len(delimiter) > 1:
            plain = (line.rstrip("\r\n") for line in self.lines[:most])
            split = [[c.strip('"') for c in line.split(delimiter)] for line in plain]
        else:
            split = []
            with suppress(csv.Error):
                split.extend(islice(csv.reader(self.lines, delimiter=delimiter), most))
        return [*split[:1], *(r for r in split[1:] if any(r))]

    def has_header(self, delimiter: str) -> bool:
        """Whether the first line names the columns; where that is in doubt, ask."""
        if self.text.header is not None:
            return self.text.header
        records, names = self.split(delimiter), self.text.names
        evidence = weigh_header(records, self.text.null)
        if names is None:
            if evidence.is_doubtful:
                raise InputError(describe_doubt(str(self.path)))
            return True
        if list(names) == [c.strip() for c in records[0]]:
            return True
        if evidence.is_sure:
            raise InputError(
                f"The first line of {str(self.path)!r} seems to name columns. Say "
                "--header (header=True) too if your names are to take its place, or "
                "--no-header (header=False) if it is a row like the others."
            )
        return False


def _are_regular(records: Sequence[Sequence[str]]) -> bool:
    """Whether blanks cut every line into as many parts, at least three."""
    widths = {len(record) for record in records}
    if len(records) == 1 or len(widths) > 1 or min(widths) <= TWO_WORDS:
        return False
    return all(all(record) for record in records)


def _are_spaced(records: Sequence[Sequence[str]]) -> bool:
    """Whether a blank follows every comma, so that it belongs to it."""
    return all(cell[:1] == " " for record in records for cell in record[1:])


def _read_lines(path: Path, encoding: str) -> tuple[str, ...]:
    """Some lines; none where not even the first can be read."""
    kept: list[str] = []
    letters = 0
    with (
        suppress(OSError, EOFError, pa.ArrowException, UnicodeError),
        io.TextIOWrapper(
            open_unpacked(path), encoding, errors="surrogateescape", newline=""
        ) as lines,
    ):
        for line in lines:
            kept.append(line)
            letters += len(line)
            many = letters > MOST_LETTERS and len(kept) > FEW_LINES
            if many or len(kept) > MOST_LINES:
                break
    return tuple(kept)


def _detect_encoding(path: Path, encoding: str) -> str:
    """The encoding, told apart by the mark a file may begin with."""
    with open_unpacked(path) as file:
        mark = file.read(2)
    if mark == b"\xfe\xff":
        raise InputError(
            f"File {str(path)!r} must not be big-endian UTF-16. Convert it to UTF-8."
        )
    if mark == b"\xff\xfe" and encoding != "utf-16":
        raise InputError(
            f"File {str(path)!r} must be {encoding} text; it begins as UTF-16. "
            "Give encoding='utf-16'."
        )
    if encoding == "utf-16":
        return "utf-16" if mark == b"\xff\xfe" else "utf-16-le"
    return "utf-8-sig" if encoding == "utf-8" else encoding


def open_unpacked(path: Path) -> pa.NativeFile:
    """The bytes of a file, unpacked."""
    return pa.input_stream(str(path), compression=PACKED.get(split_endings(path)[1]))


# JSON lines -------------------------------------------------------------------------

OBJECTS = (
    f"read_json_objects({FILES}, format = 'newline_delimited', "
    "hive_partitioning = false)"
)
"""The lines, each as one JSON value called `json`."""

JSON_KEYS = (
    "SELECT k, avg(p) AS p FROM (SELECT unnest(keys) AS k, "
    "unnest(range(len(keys))) AS p FROM (SELECT json_keys(json) AS keys "
    f"FROM {OBJECTS} WHERE json_type(json) = 'OBJECT')) GROUP BY k ORDER BY p, k"
)
"""All keys of all objects, in about the order they stand there."""

OTHER_LINES = f"SELECT count(*) FROM {OBJECTS} WHERE json_type(json) <> 'OBJECT'"
"""How many lines are no objects."""


def json_scan(names: Sequence[str]) -> str:
    """JSON lines with every value as its JSON text; missing and null are NULL.

    DuckDB's names do not tell `a` from `A`, its paths into an object do.
    """
    if "" not in names and differ(names):
        columns = ", ".join(f"{literal(n)}: 'JSON'" for n in names)
        return (
            f"read_json({FILES}, format = 'newline_delimited', "
            f"columns = {{{columns}}}, hive_partitioning = false)"
        )
    paths = ", ".join(literal("/" + _escape_pointer(n)) for n in names)
    cells = ", ".join(f"nullif(v[{i + 1}], 'null') AS c{i}" for i in range(len(names)))
    return f"(SELECT {cells} FROM (SELECT json_extract(json, [{paths}]) AS v FROM {OBJECTS}))"  # noqa: E501


def _escape_pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


# Whole files ------------------------------------------------------------------------


def check_whole(paths: Sequence[str], run: Run) -> None:
    """A compressed file must be complete: engines take half a file for a whole one."""
    packed = [p for p in map(Path, paths) if split_endings(p)[1]]
    for i, path in enumerate(packed):
        run.tell(Progress("checking files", i + 1, len(packed), 0.0, None))
        if not _is_whole(path, run):
            raise InputError(
                f"File {str(path)!r} must be a whole {split_endings(path)[1]} file; "
                "it is "
                "cut short or damaged."
            )


def _is_whole(path: Path, run: Run) -> bool:
    try:
        with open_unpacked(path) as file:
            while file.read(1 << 22):
                run.check()
    except (OSError, EOFError, pa.ArrowException):
        return False
    return True
