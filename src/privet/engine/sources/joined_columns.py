"""Columns of a file that are read as one: what they say together, as a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from privet.engine.sources.source import Source
from privet.errors import InputError


@dataclass(frozen=True)
class JoinedColumn:
    """A column that is read from others of a file."""

    parts: tuple[str, ...]
    """The columns of the file."""
    write: Callable[[Sequence[str]], str]
    """SQL for its text, from the texts of those columns; different cells must give
    different texts, or somebody could tell apart what is counted as one."""


def join_columns(source: Source, joined: Mapping[str, JoinedColumn]) -> Source:
    """The same rows, with some columns of the file read as one each."""
    names = list(source.names or ())
    taken = {p: name for name, j in joined.items() for p in j.parts}
    lacking = [p for p in taken if p not in names]
    if lacking:
        raise InputError(f"Column {lacking[0]!r} must exist in {source.words}.")
    if twice := [name for name in joined if name in names and name not in taken]:
        raise InputError(f"Column {twice[0]!r} must stand once in {source.words}.")
    at = {n: f"CAST(t.c{i} AS VARCHAR)" for i, n in enumerate(names)}
    cells: dict[str, str] = {}
    for i, name in enumerate(names):
        whole = taken.get(name, name)
        column = joined.get(whole)
        if column is None:
            cells[name] = f"t.c{i}"
        else:
            cells.setdefault(whole, column.write([at[p] for p in column.parts]))
    renamed = ", ".join(f"c{i}" for i in range(len(names)))
    chosen = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells.values()))
    scan = f"(SELECT {chosen} FROM {source.scan} AS t({renamed}))"
    return replace(source, names=tuple(cells), scan=scan)
