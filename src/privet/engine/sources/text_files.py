"""Text files: comma-separated values with all their dialects, and JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from privet.engine.protocol import Progress, Run
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
    delimiter = find_delimiter(paths[0], text)
    names = list(text.header or _read_header(paths[0], delimiter, text))
    for path in [] if text.header else paths[1:]:
        if _read_header(path, delimiter, text) != names:
            raise InputError(
                f"All files of {words} must have the same header; {str(path)!r} "
                f"has another one than {str(paths[0])!r}."
            )
    if text.guarded:
        names = [unguarded_name(n) for n in names]
    refuse_twice(names, words)
    scan = csv_scan(len(names), delimiter, text)
    return Source(tuple(names), scan, textual=True, words=words, guarded=text.guarded)


def csv_scan(columns: int, delimiter: str, text: TextOptions) -> str:
    """What to select from; a text in quotes never stands for a missing value."""
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
    nulls = ", ".join(literal(n) for n in dict.fromkeys(("", *text.null)))
    return (
        f"read_csv({FILES}, auto_detect = false, header = {text.header is None}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', "
        f"encoding = {literal(text.encoding)}, nullstr = [{nulls}], "
        f"allow_quoted_nulls = false, columns = {{{names}}})"
    )


def find_delimiter(path: Path, text: TextOptions) -> str:
    """What stands between two values of a file."""
    if text.delimiter:
        return text.delimiter
    if split_endings(path)[0] in TABS:
        return "\t"
    found = {d: len(_read_header(path, d, text)) for d in DELIMITERS}
    return max(found, key=lambda d: found[d])


def _read_header(path: Path, delimiter: str, text: TextOptions) -> list[str]:
    try:
        cells = _read_first_record(path, text, delimiter)
    except (OSError, EOFError, pa.ArrowException, csv.Error, UnicodeError):
        cells = None
    if cells is None:
        raise InputError(
            f"File {str(path)!r} must be readable {text.encoding} text; its first "
            "line is not."
        )
    if any("\udc80" <= letter <= "\udcff" for cell in cells for letter in cell):
        raise InputError(
            f"File {str(path)!r} must be {text.encoding} text; its first line is not. "
            f"Give the encoding: one of {', '.join(ENCODINGS)}."
        )
    if not any(cells):
        raise EmptyTable(f"File {str(path)!r} must start with a line of values.")
    return [c or f"column{i + 1}" for i, c in enumerate(cells)]


def _read_first_record(path: Path, text: TextOptions, delimiter: str) -> list[str]:
    """The first record; bytes that are no text come as surrogates."""
    encoding = _detect_encoding(path, text.encoding)
    with io.TextIOWrapper(
        open_unpacked(path), encoding=encoding, errors="surrogateescape", newline=""
    ) as lines:
        if len(delimiter) == 1:
            return next(csv.reader(lines, delimiter=delimiter), [])
        line = lines.readline().rstrip("\r\n")
        return [c.strip('"') for c in line.split(delimiter)]


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
