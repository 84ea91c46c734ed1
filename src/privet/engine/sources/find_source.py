"""What `read` accepts: files and folders of several formats, frames, relations."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from privet.engine.sources.arrow_files import from_arrow_file
from privet.engine.sources.dataframes import from_frame
from privet.engine.sources.foreign_files import ForeignPart, require_reader
from privet.engine.sources.packed_files import PACKED, PackedFile, split_endings
from privet.engine.sources.source import TEXT_KEYS, Source, TextOptions, refuse_twice
from privet.engine.sources.staged_rows import Staging
from privet.engine.sources.text_files import FILES, from_csv, from_json
from privet.engine.sql import quoted
from privet.errors import EmptyTable, InputError, find_nearest
from privet.values.visible_text import hide_secrets

__all__ = ["Source", "TextOptions", "find_source"]

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
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "spreadsheet"),
    **dict.fromkeys((".sav", ".zsav", ".por", ".dta"), "statistics"),
    **dict.fromkeys((".sas7bdat", ".xpt"), "statistics"),
}
"""File formats by the ending of the name, before that of a compression."""

TEXTS = tuple(ending for ending, form in FORMATS.items() if form in ("csv", "json"))
"""Endings of files that may be packed."""

TAKES = {
    "csv": TEXT_KEYS,
    "json": ("dates",),
    "spreadsheet": ("header", "names", "dates", "decimal"),
    "statistics": ("encoding", "dates", "decimal"),
    "sqlite": ("dates", "decimal"),
}
"""Which options of text files each format takes: it has texts that may mean more."""

TABLES = ("database", "sqlite", "spreadsheet", ".zip")
"""Formats of files that hold several tables."""

PARQUET = (".parquet", ".pq")

MAGIC = b"SQLite format 3\0"
"""What databases of SQLite begin with, whatever they are called."""

DATABASES = {
    "postgresql": "privet.engine.remote.postgres",
    "postgres": "privet.engine.remote.postgres",
}
"""What stands before :// in an address, and the module that has its `from_address`."""


def find_source(
    source: Any, *, table: str | None = None, text: TextOptions | None = None
) -> Source:
    """Recognise what was handed over."""
    text = text or TextOptions()
    if isinstance(source, str) and (module := _find_database(source)):
        found: Source = import_module(module).from_address(source, table)
        return found
    if isinstance(source, str | os.PathLike):
        called = os.fspath(source)
        return _from_files(_find_paths(called), find_root(called), called, table, text)
    if isinstance(source, list | tuple):
        return _from_list(source, table, text)
    found = replace(from_frame(source), text=text)
    _refuse_table(table, found.words)
    return found


def list_options(path: str) -> tuple[str, ...]:
    """Which options of text files a file takes, by its name.

    >>> list_options("people.json"), list_options("people.parquet")
    (('dates',), ())
    """
    ending, packed = split_endings(Path(path))
    unknown = TAKES["csv"] if packed == ".zip" and ending not in FORMATS else ()
    if _is_sqlite(ending, Path(path)):
        return TAKES["sqlite"]
    return TAKES.get(FORMATS.get(ending, ""), unknown)


def _find_database(address: str) -> str:
    """The module that knows the database at an address; empty: it is none."""
    scheme, leads, _ = address.partition("://")
    return DATABASES.get(scheme, "") if leads else ""


def _from_list(sources: Sequence[Any], table: str | None, text: TextOptions) -> Source:
    if not sources or not all(isinstance(s, str | os.PathLike) for s in sources):
        kinds = ", ".join(sorted({type(s).__name__ for s in sources})) or "none"
        raise InputError(f"A list of sources must be a list of paths; got {kinds}.")
    called = [os.fspath(s) for s in sources]
    paths = [p for c in called for p in _find_paths(c)]
    if len(set(paths)) < len(paths):
        twice = next(p for p in paths if paths.count(p) > 1)
        raise InputError(f"Each file must be given once; {str(twice)!r} is twice.")
    return _from_files(paths, find_root(*called), called[0], table, text)


# Which files ------------------------------------------------------------------------


def require_there(path: str) -> None:
    """Refuse a path where nothing is; an address may lead to a database."""
    if "://" not in path:
        _find_paths(path)


def _find_paths(path: str) -> list[Path]:
    if "://" in path:
        scheme = path.split("://", maxsplit=1)[0]
        raise InputError(
            f"A source must be a file, a folder or a table in memory; got an address "
            f"that starts with {scheme}://. Download it first."
        )
    place = Path(path).expanduser()
    if place.is_dir():
        return _find_in_folder(place)
    if place.exists():
        return [place]
    if glob.has_magic(path):
        found = [Path(p) for p in sorted(glob.glob(str(place), recursive=True))]  # noqa: PTH207 - a pattern may be absolute
        if not found:
            raise InputError(
                f"Pattern {hide_secrets(path)!r} must match a file; nothing matches."
            )
        return [f for p in found for f in (_find_in_folder(p) if p.is_dir() else [p])]
    raise InputError(
        f"File {hide_secrets(path)!r} must exist. {hide_secrets(_suggest_files(place))}"
    )


def _find_in_folder(folder: Path) -> list[Path]:
    inside = [p for p in folder.rglob("*") if p.is_file()]
    found = sorted(p for p in inside if p.suffix.lower() in PARQUET)
    if not found:
        others = sorted({p.suffix.lower() for p in inside} & set(FORMATS))
        hint = f" Give a pattern such as '*{others[0]}' for others." if others else ""
        raise InputError(
            f"Folder {str(folder)!r} must hold Parquet files; it has none.{hint}"
        )
    return found


def _suggest_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {str(path.parent)!r} does not exist either."
    near = find_nearest(path.name, [p.name for p in path.parent.iterdir()])
    if near:
        return "Did you mean " + " or ".join(repr(n) for n in near) + "?"
    return f"Nothing in {str(path.parent)!r} has a similar name."


def find_root(*called: str) -> Path:
    """The folder the user named; what is below it was found."""
    roots = []
    for path in called:
        parts = Path(path).expanduser().parts
        fixed = [i for i, part in enumerate(parts) if glob.has_magic(part)]
        place = Path(*parts[: fixed[0]]) if fixed else Path(path).expanduser()
        roots.append(str(place if place.is_dir() else place.parent))
    return Path(os.path.commonpath([os.path.abspath(r) for r in roots]))  # noqa: PTH100 - links stay


def _recognise_format(file: PackedFile) -> str:
    form = FORMATS.get(file.ending, "")
    if not form or (file.packed and form not in ("csv", "json")):
        raise InputError(
            f"File {file.path.name!r} must end in one of {', '.join(FORMATS)} "
            f"(text files also with {', '.join(PACKED)})."
        )
    return "sqlite" if _is_sqlite(file.ending, file.path) else form


def _is_sqlite(ending: str, path: Path) -> bool:
    """Whether a file that may be of DuckDB or SQLite is of the latter."""
    return ending == ".db" and _begins_with(path, MAGIC)


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


def _from_files(
    paths: list[Path], root: Path, called: str, table: str | None, text: TextOptions
) -> Source:
    words = repr(called)
    for path in paths:
        _check_readable(path)
    files = [PackedFile.find(path, table, TEXTS) for path in paths]
    formats = {_recognise_format(file) for file in files}
    if len(formats) > 1:
        raise InputError(
            f"All files of {words} must have one format; got {sorted(formats)}."
        )
    form = formats.pop()
    if form not in TABLES and not any(file.member for file in files):
        _refuse_table(table, words)
    match form:
        case "parquet":
            found = _from_parquet(paths, root, words)
        case "csv":
            found = from_csv(files, words, text)
        case "json":
            found = replace(from_json(files, words), text=text)
        case "database":
            found = _from_database(paths, table)
        case "arrow":
            found = from_arrow_file(_require_one(paths, "Arrow"), words)
        case _:
            found = _from_foreign(form, paths, table, text)
    return replace(
        found,
        paths=tuple(map(str, paths)),
        table=table or "",
        takes=TAKES.get(form, ()),
    )


def _require_one(paths: list[Path], what: str) -> Path:
    if len(paths) > 1:
        raise InputError(f"{what} files must be given one at a time.")
    return paths[0]


def _from_foreign(
    form: str, paths: list[Path], table: str | None, text: TextOptions
) -> Source:
    """A file that its own library reads, while it is converted."""
    path = _require_one(paths, form.capitalize())
    require_reader(form)
    part = ForeignPart(form, path, {"table": table, **text.to_dict()})
    called = "" if table is None else f"table {table!r} of "
    words = f"{called}{path.name!r}"
    return Source(None, staging=Staging([part], words), words=words, text=text)


def _refuse_table(table: str | None, words: str) -> None:
    if table is not None:
        raise InputError(
            f"table must be left out for {words}, which holds one table only; got "
            f"{table!r}."
        )


def _check_readable(path: Path) -> None:
    if not path.is_file():
        raise InputError(
            f"File {str(path)!r} must be a regular file: it is read several times."
        )
    if not os.access(path, os.R_OK):
        raise InputError(f"File {str(path)!r} must be readable; it may not be read.")
    if path.stat().st_size == 0:
        raise EmptyTable(f"File {str(path)!r} must have rows; it is empty.")


# Parquet ----------------------------------------------------------------------------


def _from_parquet(paths: list[Path], root: Path, words: str) -> Source:
    footers = [Footer.read(path) for path in paths]
    names = footers[0].names
    for footer in footers:
        refuse_twice(footer.names, words)
    for path, footer in zip(paths[1:], footers[1:], strict=True):
        _check_same(footers[0].types, footer.types, paths[0], path)
        _check_order(footers[0], footer, paths[0], path)
    hive = _find_hive_columns(paths, root, words)
    _refuse_alike(hive, names)
    return Source(
        (*names, *(k for k in hive if k not in names)),
        _hive_scan(paths[0], hive, names),
        words=words,
        rows=sum(f.rows for f in footers),
    )


@dataclass(frozen=True)
class Footer:
    """What a Parquet file says of itself."""

    names: list[str]
    """The columns."""
    types: dict[str, str]
    """How each value is stored, by its path, such as ``address.city``."""
    rows: int
    """How many there are."""

    @classmethod
    def read(cls, path: Path) -> Footer:
        """The footer of a file; an error if that is no Parquet file."""
        try:
            found = pq.read_metadata(path)
            columns = [found.schema.column(i) for i in range(found.num_columns)]
            types = {c.path: f"{c.physical_type} {c.logical_type}" for c in columns}
            return cls(found.schema.to_arrow_schema().names, types, found.num_rows)
        except (OSError, ValueError, KeyError, pa.ArrowException):
            pass
        raise InputError(
            f"File {str(path)!r} must be a Parquet file; it cannot be read as one."
        )


def _check_same(
    known: dict[str, str], other: dict[str, str], first: Path, path: Path
) -> None:
    """All files must have the first one's columns: DuckDB would round 1.5 to 2."""
    for name in dict.fromkeys((*known, *other)):
        if known.get(name) != other.get(name):
            raise InputError(
                f"All files must have the same columns; {name!r} is "
                f"{known.get(name, 'missing')} in {str(first)!r} and "
                f"{other.get(name, 'missing')} in {str(path)!r}."
            )


def _check_order(known: Footer, other: Footer, first: Path, path: Path) -> None:
    """Names that are alike but for case must stand in one order: DuckDB calls the
    second of them another name in each file, and would take one for the other.
    """
    if list(known.types) == list(other.types):
        return
    levels = {".".join(c.split(".")[:n]) for c in known.types for n in _count_levels(c)}
    if alike := find_alike(sorted(levels)):
        raise InputError(
            f"Columns {alike[0]!r} and {alike[1]!r}, whose names are alike but for "
            "case, must stand in the same order in all files; they do not in "
            f"{str(first)!r} and {str(path)!r}. Rename one of them."
        )


def _count_levels(column: str) -> range:
    """The levels of a nested column: of ``address.city`` 1 and 2."""
    return range(1, column.count(".") + 2)


def find_alike(names: Sequence[str]) -> tuple[str, str] | None:
    """Two names that differ in nothing but case, if there are any.

    >>> find_alike(["age", "job", "Age"])
    ('age', 'Age')
    """
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.casefold(), name)) != name:
            return other, name
    return None


def _find_hive_columns(paths: list[Path], root: Path, words: str) -> list[str]:
    """The columns that folders such as ``year=2024`` below the root stand for."""
    keys = {tuple(_read_folder_keys(_cut_root(p, root).parts[:-1])) for p in paths}
    if len(keys) > 1:
        raise InputError(
            f"All files of {words} must lie in folders of the same columns; got "
            + " and ".join(sorted("/".join(k) or "none" for k in keys))
            + "."
        )
    return list(keys.pop())


def _refuse_alike(hive: list[str], names: list[str]) -> None:
    """DuckDB would take the value of the folder for that of the column."""
    for key in hive:
        alike = [n for n in names if n != key and n.casefold() == key.casefold()]
        if alike:
            raise InputError(
                f"Folders such as '{key}=…' must not be named like the column "
                f"{alike[0]!r} but for case. Rename the folders or the column."
            )


def _cut_root(path: Path, root: Path) -> Path:
    return Path(os.path.abspath(path)).relative_to(root)  # noqa: PTH100 - links stay


def _read_folder_keys(folders: Iterable[str]) -> list[str]:
    return [f.split("=", maxsplit=1)[0] for f in folders if "=" in f]


def _hive_scan(path: Path, hive: list[str], names: list[str]) -> str:
    if not hive:
        return f"read_parquet({FILES}, hive_partitioning = false)"
    above = [
        k for k in dict.fromkeys(_read_folder_keys(path.parts[:-1])) if k not in hive
    ]
    if hidden := set(above) & set(names):
        raise InputError(
            f"Folder names above the files must not be columns; {min(hidden)!r} is one."
        )
    added = [k for k in hive if k not in names]
    without = ", ".join(map(quoted, (*above, *added)))
    chosen = ", ".join(
        [f"* EXCLUDE ({without})" if without else "*", *map(quoted, added)]
    )
    return (
        f"(SELECT {chosen} FROM read_parquet({FILES}, hive_partitioning = true, "
        "hive_types_autocast = false))"
    )


# Databases --------------------------------------------------------------------------


def _from_database(paths: list[Path], table: str | None) -> Source:
    path = _require_one(paths, "Database")
    called = "" if table is None else f"table {table!r} of "
    return Source(
        None,
        table or "",
        attach=str(path),
        words=f"{called}{path.name!r}",
    )
