"""Text files: comma-separated values with all their dialects, and JSON objects."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import attrs

from privet.engine.protocol import Progress, Run
from privet.engine.sources.encodings import MARKS, detect_encoding, find_encoding
from privet.engine.sources.header_line import (
    MOST_RECORDS,
    decide_header,
    fill_names,
)
from privet.engine.sources.packed_files import DAMAGES, PackedFile, split_endings
from privet.engine.sources.source import Source, TextOptions, differ, refuse_twice
from privet.engine.sources.staged_rows import Staging
from privet.engine.sources.text_pipes import TextPart
from privet.engine.sql import literal, unguarded_name
from privet.errors import EmptyTable, InputError

NATIVE = ("utf-8", "latin-1")
"""Encodings that DuckDB reads itself."""

FIRST_BYTES = 4_096
"""Bytes that tell a list of objects from lines."""

DELIMITERS = (",", ";", "\t", "|")
TABS = (".tsv", ".tab")

FEW_LINES, MOST_LETTERS = 20, 250_000
"""How much of a file is looked at to tell a header from a row."""

MOST_LINE = 1 << 21
"""Letters of a line; longer ones no engine reads."""

OBJECT = re.compile(r'[\s\ufeff]*\[?\s*\{\s*"')
"""How JSON objects begin: who takes the first for a header shows somebody's cells."""

TWO_WORDS = 2
"""So many words may be one value, such as a name."""

FILES = "getvariable('files')"
"""The list of files, as a statement refers to it; the engine sets the variable."""


# Comma-separated values -------------------------------------------------------------


def from_csv(files: Sequence[PackedFile], words: str, text: TextOptions) -> Source:
    """Files of values with delimiters between them."""
    if text.encoding is None:
        text = attrs.evolve(text, encoding=_find_one_encoding(files, words))
    first = FirstLines.read(files[0], text)
    delimiter = first.find_delimiter()
    own, header = first.read_header(delimiter), first.has_header(delimiter)
    for file in files[1:] if header else ():
        if FirstLines.read(file, text).read_header(delimiter) != own:
            raise InputError(
                f"All files of {words} must have the same header; {str(file.path)!r} "
                f"has another one than {str(files[0].path)!r}."
            )
    names = fill_names(own, text, words, header=header)
    if text.guarded:
        names = [unguarded_name(n) for n in names]
    refuse_twice(names, words)
    known = text if header else attrs.evolve(text, header=False)
    found = Source(
        tuple(names),
        csv_scan(len(names), delimiter, text, header=header),
        textual=True,
        words=words,
        guarded=text.guarded,
        text=attrs.evolve(known, delimiter=text.delimiter),
        delimiter=delimiter,
    )
    return _pipe_if_needed(found, files, str(text.encoding))


def _find_one_encoding(files: Sequence[PackedFile], words: str) -> str:
    found = {find_encoding(file) for file in files}
    if len(found) > 1:
        raise InputError(
            f"All files of {words} must have one encoding; got {sorted(found)}. "
            "Convert them to UTF-8."
        )
    return found.pop()


def _pipe_if_needed(
    found: Source, files: Sequence[PackedFile], encoding: str
) -> Source:
    """Text that engines cannot read as it is comes through a pipe."""
    if encoding in NATIVE and all(f.is_unpacked_by_engines for f in files):
        return found
    parts = [TextPart(file, encoding, found.scan) for file in files]
    return replace(found, staging=Staging(parts, found.words))


def csv_scan(columns: int, delimiter: str, text: TextOptions, *, header: bool) -> str:
    """What to select from; a text in quotes never stands for a missing value."""
    names = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(columns))
    encoding = text.encoding if text.encoding in NATIVE else "utf-8"
    nulls = ", ".join(literal(n) for n in dict.fromkeys(("", *text.null)))
    return (
        f"read_csv({FILES}, auto_detect = false, header = {header}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', "
        f"encoding = {literal(str(encoding))}, nullstr = [{nulls}], "
        f"allow_quoted_nulls = false, columns = {{{names}}})"
    )


@dataclass(frozen=True)
class FirstLines:
    """The first lines of a file; they may be about people, and are never shown."""

    file: PackedFile
    """The file."""
    text: TextOptions
    """How it was asked to be read."""
    lines: tuple[str, ...] = field(repr=False)
    """As they stand there; bytes that are no text come as surrogates."""

    @classmethod
    def read(cls, file: PackedFile, text: TextOptions) -> FirstLines:
        """Look at a file; an error quotes nothing of it."""
        encoding = str(text.encoding or "utf-8")
        lines = _read_lines(file, _choose_decoder(file, encoding))
        if not lines:
            raise InputError(
                f"File {str(file.path)!r} must be readable {encoding} text; its first "
                "line is not, or is too long."
            )
        if any("\udc80" <= letter <= "\udcff" for letter in lines[0]):
            raise InputError(
                f"File {str(file.path)!r} must be {encoding} text; its first line is "
                "not. Say another --encoding (encoding=...)."
            )
        return cls(file, text, lines)

    def find_delimiter(self) -> str:
        """What stands between two values."""
        if self.text.delimiter:
            return self.text.delimiter
        if self.file.ending in TABS:
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
                f"File {str(self.file.path)!r} must be readable text; a value of its "
                "first line is too long, or a quote is never closed."
            )
        if not any(records[0]):
            raise EmptyTable(
                f"File {str(self.file.path)!r} must start with a line of values."
            )
        return [c or f"column{i + 1}" for i, c in enumerate(records[0])]

    def split(self, delimiter: str, most: int = MOST_RECORDS) -> list[list[str]]:
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
        place = str(self.file.path)
        if OBJECT.match(self.lines[0]):
            raise InputError(
                f"File {place!r} must hold values with delimiters between them; it "
                "begins like JSON objects, and is not shown for that. Call it .json "
                "or .jsonl."
            )
        return decide_header(self.split(delimiter), self.text, place)


def _are_regular(records: Sequence[Sequence[str]]) -> bool:
    """Whether blanks cut every line into as many parts, at least three."""
    widths = {len(record) for record in records}
    if len(records) == 1 or len(widths) > 1 or min(widths) <= TWO_WORDS:
        return False
    return all(all(record) for record in records)


def _are_spaced(records: Sequence[Sequence[str]]) -> bool:
    """Whether a blank follows every comma, so that it belongs to it."""
    return all(cell[:1] == " " for record in records for cell in record[1:])


def _read_lines(file: PackedFile, encoding: str) -> tuple[str, ...]:
    """Some lines; none where not even the first can be read."""
    kept: list[str] = []
    letters = 0
    with (
        suppress(*DAMAGES),
        io.TextIOWrapper(
            file.open(), encoding, errors="surrogateescape", newline=""
        ) as lines,
    ):
        while line := lines.readline(MOST_LINE):
            if len(line) == MOST_LINE:
                break
            kept.append(line)
            letters += len(line)
            many = letters > MOST_LETTERS and len(kept) > FEW_LINES
            if many or len(kept) > MOST_RECORDS:
                break
    return tuple(kept)


def _choose_decoder(file: PackedFile, encoding: str) -> str:
    """The decoder of a file that may begin with a mark, which must not deny it."""
    try:
        with file.open() as stream:
            mark = bytes(stream.read(4))
    except DAMAGES:
        mark = b""
    told = detect_encoding(mark).name if mark.startswith(tuple(MARKS)) else ""
    if told and told != "utf-8" and not encoding.startswith(told[:5]):
        raise InputError(
            f"File {str(file.path)!r} must be {encoding} text; it begins as "
            f"{told.upper()}. Say --encoding {told} (encoding={told!r})."
        )
    if encoding == "utf-16" and not told:
        return "utf-16-le"
    return "utf-8-sig" if encoding == "utf-8" else encoding


# JSON objects -----------------------------------------------------------------------

LINES, ARRAY = "newline_delimited", "array"
"""How DuckDB calls files of one object per line, and of one list of objects."""


def from_json(files: Sequence[PackedFile], words: str) -> Source:
    """Files of JSON objects: one per line, or all in one list."""
    forms = {_find_form(file) for file in files}
    if len(forms) > 1:
        raise InputError(
            f"All files of {words} must have one form; some are lists of JSON objects "
            "and others have one object per line."
        )
    form = forms.pop()
    found = Source(
        None, scan=list_objects(form), json=True, textual=True, words=words, form=form
    )
    return _pipe_if_needed(found, files, "utf-8")


def _find_form(file: PackedFile) -> str:
    """Whether a file is one list; only those that end in .json may be."""
    if file.ending != ".json":
        return LINES
    try:
        with file.open() as stream:
            first = bytes(stream.read(FIRST_BYTES)).removeprefix(codecs.BOM_UTF8)
    except DAMAGES:
        return LINES
    return ARRAY if first.lstrip()[:1] == b"[" else LINES


def list_objects(form: str) -> str:
    """The objects of files, each as one JSON value called `json`."""
    return f"read_json_objects({FILES}, format = '{form}', hive_partitioning = false)"


def select_keys(objects: str) -> str:
    """All keys of all objects, in about the order they stand there."""
    return (
        "SELECT k, avg(p) AS p FROM (SELECT unnest(keys) AS k, "
        "unnest(range(len(keys))) AS p FROM (SELECT json_keys(json) AS keys "
        f"FROM {objects} WHERE json_type(json) = 'OBJECT')) GROUP BY k ORDER BY p, k"
    )


def count_others(objects: str) -> str:
    """How many values are no objects."""
    return f"SELECT count(*) FROM {objects} WHERE json_type(json) <> 'OBJECT'"


def json_scan(names: Sequence[str], source: Source) -> str:
    """JSON objects with every value as its JSON text; missing and null are NULL.

    DuckDB's names do not tell `a` from `A`, its paths into an object do.
    """
    if "" not in names and differ(names) and source.scan == list_objects(source.form):
        columns = ", ".join(f"{literal(n)}: 'JSON'" for n in names)
        return (
            f"read_json({FILES}, format = '{source.form}', "
            f"columns = {{{columns}}}, hive_partitioning = false)"
        )
    paths = ", ".join(literal("/" + _escape_pointer(n)) for n in names)
    cells = ", ".join(f"nullif(v[{i + 1}], 'null') AS c{i}" for i in range(len(names)))
    values = f"SELECT json_extract(json, [{paths}]) AS v FROM {source.scan}"
    return f"(SELECT {cells} FROM ({values}))"


def _escape_pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


# Whole files ------------------------------------------------------------------------


def check_whole(paths: Sequence[str], run: Run) -> None:
    """A compressed file must be complete: engines take half a file for a whole one."""
    files = [PackedFile(p, *split_endings(p)) for p in map(Path, paths)]
    packed = [file for file in files if file.packed]
    for i, file in enumerate(packed):
        run.tell(Progress("checking files", i + 1, len(packed), 0.0, None))
        if not _is_whole(file, run):
            raise InputError(
                f"File {str(file.path)!r} must be a whole {file.packed} file; "
                "it is cut short or damaged."
            )


def _is_whole(file: PackedFile, run: Run) -> bool:
    try:
        with file.open() as stream:
            while stream.read(1 << 22):
                run.check()
    except DAMAGES:
        return False
    return True
