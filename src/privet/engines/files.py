"""What `read` accepts: files of several formats, frames in memory, relations."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from privet.engines.sql import literal, quoted
from privet.errors import EmptyTable, InputError, nearest

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".duckdb": "database",
    ".ddb": "database",
    ".db": "database",
}
"""File formats by the ending of the name, before .gz or .zst."""

PACKED = {".gz": "gzip", ".zst": "zstd"}
DATABASE = "source_database"
ENCODINGS = ("utf-8", "latin-1", "utf-16")


@dataclass(frozen=True)
class TextOptions:
    """How text files are written, where the usual guess is wrong."""

    delimiter: str | None = None
    """Between two values; None: the likeliest of comma, semicolon, tab and bar."""
    encoding: str = "utf-8"
    """One of `ENCODINGS`."""
    null: tuple[str, ...] = ()
    """Texts that stand for a missing value, besides nothing at all."""
    header: Sequence[str] | None = None
    """Column names of a file without a header line."""
    guarded: bool = False
    """Whether `privet` wrote the file with texts guarded against spreadsheets."""

    def __post_init__(self) -> None:
        try:
            name = codecs.lookup(self.encoding).name
        except LookupError:
            name = ""
        known = {codecs.lookup(e).name: e for e in ENCODINGS}
        if name not in known:
            raise InputError(
                f"encoding must be one of {', '.join(ENCODINGS)}; "
                f"got {self.encoding!r}."
            )
        object.__setattr__(self, "encoding", known[name])


@dataclass(frozen=True)
class Source:
    """Where rows come from, as far as an engine needs to know."""

    names: tuple[str, ...] | None
    """The column names; None: ask the engine."""
    scan: str = ""
    """What to select from; empty where `frame` is given."""
    frame: Any = None
    """A frame in memory, or a stream that can be read again."""
    textual: bool = False
    """Whether every value arrives as the text the file has."""
    attach: str = ""
    """A database file to open first, as `DATABASE`."""
    json: str = ""
    """Files of JSON lines, whose columns the engine finds out; see `json_scan`."""
    words: str = "the table"
    """How messages call the source."""
    paths: tuple[str, ...] = ()
    """The files the rows come from."""
    guarded: bool = False
    """Whether texts were guarded against spreadsheets, which is undone."""


def find_source(
    source: Any, *, table: str | None = None, text: TextOptions | None = None
) -> Source:
    """Recognise what was handed over."""
    if isinstance(source, str | os.PathLike):
        return _from_path(os.fspath(source), table, text or TextOptions())
    if isinstance(source, list | tuple) and source:
        paths = [p for s in source for p in _paths(os.fspath(s))]
        return _from_files(paths, str(paths[0]), text or TextOptions())
    return _from_frame(source)


# Files ------------------------------------------------------------------------------


def _from_path(path: str, table: str | None, text: TextOptions) -> Source:
    if "://" in path:
        scheme = path.split("://", maxsplit=1)[0]
        raise InputError(
            f"A source must be a file, a folder or a table in memory; got an address "
            f"that starts with {scheme}://."
        )
    paths = _paths(path)
    if table is not None or _format(paths[0]) == "database":
        return _from_database(paths, table)
    return _from_files(paths, path, text)


def _paths(path: str) -> list[Path]:
    place = Path(path).expanduser()
    if place.is_dir():
        found = sorted(p for p in place.rglob("*") if p.suffix in (".parquet", ".pq"))
        if not found:
            raise InputError(f"Folder {path!r} must hold Parquet files; it has none.")
        return found
    if place.exists():
        return [place]
    if glob.has_magic(path):
        found = [Path(p) for p in sorted(glob.glob(str(place), recursive=True))]  # noqa: PTH207 - a pattern may be absolute
        if not found:
            raise InputError(f"Pattern {path!r} must match a file; nothing matches.")
        return found
    raise InputError(f"File {path!r} must exist. {_what_is_there(place)}")


def _what_is_there(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {str(path.parent)!r} does not exist either."
    near = nearest(path.name, [p.name for p in path.parent.iterdir()])
    if near:
        return "Did you mean " + " or ".join(repr(n) for n in near) + "?"
    return f"Nothing in {str(path.parent)!r} has a similar name."


def _endings(path: Path) -> tuple[str, str]:
    """The ending that names the format, and the one that names the compression."""
    packed = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    inner = Path(path.stem) if packed else path
    return inner.suffix.lower(), packed


def _format(path: Path) -> str:
    ending, _ = _endings(path)
    if ending not in FORMATS:
        raise InputError(
            f"File {path.name!r} must end in one of {', '.join(FORMATS)} "
            "(text files also with .gz or .zst)."
        )
    return FORMATS[ending]


def _from_files(paths: list[Path], called: str, text: TextOptions) -> Source:
    formats = {_format(p) for p in paths}
    if len(formats) > 1:
        raise InputError(
            f"All files of {called!r} must have one format; got {sorted(formats)}."
        )
    for path in paths:
        if path.stat().st_size == 0:
            raise EmptyTable(f"File {str(path)!r} must have rows; it is empty.")
    words = repr(called)
    files = "[" + ", ".join(literal(str(p)) for p in paths) + "]"
    found = _from_format(formats.pop(), paths, files, words, text)
    return replace(found, paths=tuple(map(str, paths)))


def _from_format(
    form: str, paths: list[Path], files: str, words: str, text: TextOptions
) -> Source:
    match form:
        case "parquet":
            return _from_parquet(paths, files, words)
        case "csv":
            return _from_csv(paths, files, words, text)
        case "json":
            return Source(None, json=files, textual=True, words=words)
        case _:
            raise InputError("Database files must be given one at a time.")


def _from_parquet(paths: list[Path], files: str, words: str) -> Source:
    try:
        names = pq.read_schema(paths[0]).names
    except (pa.ArrowException, OSError):
        raise InputError(
            f"File {str(paths[0])!r} must be a Parquet file; it cannot be read as one."
        ) from None
    refuse_twice(names, words)
    hive = any("=" in part for part in paths[0].parts[:-1])
    options = ", hive_partitioning = true, hive_types_autocast = false" if hive else ""
    return Source(None, f"read_parquet({files}{options})", words=words)


def _from_csv(paths: list[Path], files: str, words: str, text: TextOptions) -> Source:
    delimiter = text.delimiter or _delimiter(paths[0], text)
    names = list(text.header or _header(paths[0], delimiter, text))
    for path in [] if text.header else paths[1:]:
        if _header(path, delimiter, text) != names:
            raise InputError(
                f"All files of {words} must have the same header; {str(path)!r} "
                f"has another one than {str(paths[0])!r}."
            )
    refuse_twice(names, words)
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    nulls = ", ".join(literal(n) for n in ("", *text.null))
    scan = (
        f"read_csv({files}, auto_detect = false, header = {text.header is None}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', "
        f"encoding = {literal(text.encoding)}, nullstr = [{nulls}], "
        f"allow_quoted_nulls = {not text.guarded}, "
        f"columns = {{{columns}}})"
    )
    return Source(tuple(names), scan, textual=True, words=words, guarded=text.guarded)


def json_scan(files: str, names: Sequence[str] | None = None) -> str:
    """JSON lines: with every value as text once the names are known."""
    if names is None:
        kinds = "sample_size = -1"
    else:
        columns = ", ".join(f"{literal(n)}: 'VARCHAR'" for n in names)
        kinds = f"columns = {{{columns}}}"
    return f"read_json({files}, format = 'newline_delimited', {kinds})"


def _first_record(path: Path, text: TextOptions, delimiter: str) -> list[str]:
    """The first record of a text file, which may be compressed."""
    _, packed = _endings(path)
    raw = pa.input_stream(str(path), compression=PACKED.get(packed))
    encoding = "utf-8-sig" if text.encoding == "utf-8" else text.encoding
    with io.TextIOWrapper(raw, encoding=encoding, newline="") as lines:
        if len(delimiter) == 1:
            return next(csv.reader(lines, delimiter=delimiter), [])
        line = lines.readline().rstrip("\r\n")
        return [c.strip('"') for c in line.split(delimiter)] if line else []


def _header(path: Path, delimiter: str, text: TextOptions) -> list[str]:
    try:
        cells = _first_record(path, text, delimiter)
    except UnicodeDecodeError:
        raise InputError(
            f"File {str(path)!r} must be {text.encoding} text; its first line is not. "
            f"Give the encoding: one of {', '.join(ENCODINGS)}."
        ) from None
    except (OSError, pa.ArrowException, csv.Error):
        raise InputError(
            f"File {str(path)!r} must be readable; its first line is not."
        ) from None
    if not cells:
        raise EmptyTable(f"File {str(path)!r} must start with a header line.")
    return [c or f"column{i + 1}" for i, c in enumerate(cells)]


def _delimiter(path: Path, text: TextOptions) -> str:
    if _endings(path)[0] in (".tsv", ".tab"):
        return "\t"
    found = {d: len(_header(path, d, text)) for d in (",", ";", "\t", "|")}
    return max(found, key=lambda d: found[d])


def _from_database(paths: list[Path], table: str | None) -> Source:
    if len(paths) > 1:
        raise InputError("Database files must be given one at a time.")
    if table is None:
        raise InputError(
            f"table must name a table of the database {paths[0].name!r}; got none."
        )
    scan = ".".join(quoted(part) for part in (DATABASE, *table.split(".")))
    return Source(
        None,
        scan,
        attach=str(paths[0]),
        paths=(str(paths[0]),),
        words=f"table {table!r} of {paths[0].name!r}",
    )


# Frames -----------------------------------------------------------------------------


class Again:
    """A relation of another connection as a stream that can be read repeatedly."""

    def __init__(self, relation: Any) -> None:
        self.relation = relation

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = self.relation.to_arrow_reader(100_000)
        return reader.__arrow_c_stream__(requested_schema)


def _from_frame(frame: Any) -> Source:
    kind = type(frame)
    maker = kind.__module__.split(".")[0]
    if maker == "polars" and kind.__name__ == "DataFrame":
        import polars as pl

        frame = frame.to_arrow(compat_level=pl.CompatLevel.newest())
        return _from_arrow(frame)
    if maker == "pyarrow":
        return _from_arrow(frame)
    if maker == "pandas" and kind.__name__ == "DataFrame":
        names = [str(c) for c in frame.columns]
        refuse_twice(names, "the data frame")
        renamed = frame.set_axis([f"c{i}" for i in range(len(names))], axis=1)
        return Source(tuple(names), frame=renamed, words="the data frame")
    if kind.__name__ == "DuckDBPyRelation":
        names = list(frame.columns)
        refuse_twice(names, "the relation")
        return Source(tuple(names), frame=Again(frame), words="the relation")
    raise InputError(
        "A source must be a path, a list of paths, a pandas, polars or pyarrow table "
        f"or a DuckDB relation; got {maker}.{kind.__name__}."
        + (" Call collect() first." if kind.__name__ == "LazyFrame" else "")
    )


def _from_arrow(frame: Any) -> Source:
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()  # a stream can be read once only
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    names = list(frame.schema.names)
    refuse_twice(names, "the table")
    if isinstance(frame, pa.Table):
        frame = frame.rename_columns([f"c{i}" for i in range(len(names))])
    return Source(tuple(names), frame=frame, words="the table")


def refuse_twice(names: Sequence[str], words: str) -> None:
    """Column names must differ."""
    twice = sorted({n for n in names if list(names).count(n) > 1})
    if twice:
        raise InputError(
            f"Column names of {words} must differ; "
            + ", ".join(repr(n) for n in twice)
            + (" stands" if len(twice) == 1 else " stand")
            + " there more than once."
        )
