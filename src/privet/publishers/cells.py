"""The distinct rows of a table as small integers, in memory or in a file of our own.

The engine counts them. What does not fit the memory limit is kept in a file that has
no name any more: the groups of Mondrian lie side by side in it, so that a group is read
from one end to the other, and the groups are the same for every memory limit.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from privet.counts import Domain
from privet.engines.base import Run, Tally
from privet.errors import InputError, TooLarge
from privet.grouped import Grouped
from privet.publishers.loops import Floats, Ints
from privet.table import Table

SHARE = 4
"""Cells may take one part in so many of the memory limit."""

MOST_PEOPLE = 2**31
"""Products of two counts must fit into 64 bits."""

UNITS = {
    "": 1,
    "B": 1,
    **{f"{p}B": 1000**i for i, p in enumerate("KMGT", 1)},
    **{f"{p}IB": 1024**i for i, p in enumerate("KMGT", 1)},
}


@dataclass(frozen=True, eq=False)
class Counted:
    """Codes of some columns, and how many people have each combination."""

    domains: tuple[Domain, ...]
    """The columns."""
    rows: NDArray[Any]
    """One line per combination: its codes, and last how many people have it."""

    @property
    def people(self) -> int:
        """How many there are in all."""
        return int(self.rows[:, -1].sum(dtype=np.int64))

    def sums(self, column: int, inside: tuple[int, int] | None = None) -> Floats:
        """People with each value of a column; of those with one value of another."""
        rows = self.rows
        if inside is not None:
            rows = rows[rows[:, inside[0]] == inside[1]]
        weights = rows[:, -1].astype(np.float64)
        size = len(self.domains[column])
        found = np.bincount(rows[:, column], weights=weights, minlength=size)
        return found.astype(np.float64)

    def place(self, places: Sequence[Ints]) -> None:
        """Let places stand for the codes of the first columns."""
        placed(self.rows, places)

    def ordered(self, _options: Any) -> NDArray[Any]:
        """All lines, those of a group side by side."""
        return self.rows


def counted(table: Table, columns: Sequence[str], run: Run) -> Counted:
    """Count the combinations of some columns."""
    tally = Tally(tuple(columns[:-1]), columns[-1])
    domains = table.domains(list(columns), run, before=[tally])
    store = Store(len(columns) + 1, table.options)
    for _, batch in table.count([tally], run):
        store.add(batch, columns)
    rows = store.rows()
    found = Counted(tuple(domains[c] for c in columns), rows)
    check_people(found.people)
    return found


def check_people(people: int) -> None:
    """Refuse more people than products of counts allow."""
    if people >= MOST_PEOPLE:
        raise TooLarge(
            f"A table must have fewer than {MOST_PEOPLE:,} people to be published in "
            f"groups; it has {people:,}."
        )


def room(lines: int, width: int, options: Any) -> NDArray[Any]:
    """Room for so many lines: in memory, or in a file where they do not fit."""
    shape, most = (lines, width), most_bytes(options)
    if lines * width * 4 <= most:
        return np.empty(shape, dtype=np.int32)
    with tempfile.TemporaryFile(prefix="privet-", dir=options.get("spill")) as file:
        return np.memmap(file, np.int32, "w+", shape=shape)  # it keeps the file


def most_bytes(options: Any) -> int:
    """What cells may take of the memory limit, or else of the machine's memory."""
    limit = options.get("memory_limit")
    return (memory_here() if limit is None else size_of(limit)) // SHARE


def memory_here() -> int:
    """The bytes of memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Store:
    """Lines that are added block by block, in memory or in a file."""

    def __init__(self, width: int, options: Any) -> None:
        self._most = most_bytes(options)
        self._spill = options.get("spill")
        self._width = width
        self._blocks: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._lines = 0

    def add(self, batch: Grouped, columns: Sequence[str]) -> None:
        """Take the cells of some more groups."""
        block = np.empty((len(batch.n), self._width), dtype=np.int32)
        columns_of = batch.keys.columns()
        keys = {d.name: codes for d, codes in zip(batch.by, columns_of, strict=True)}
        for j, column in enumerate(columns):
            at_value = column == batch.about.name
            block[:, j] = batch.value if at_value else keys[column][batch.group]
        if len(batch.n) and batch.n.max() >= MOST_PEOPLE:
            raise TooLarge(f"A table must have fewer than {MOST_PEOPLE:,} people.")
        block[:, -1] = batch.n
        self._lines += len(block)
        if self._file is None and self._fits():
            self._blocks.append(block)
            return
        self._to_file()
        assert self._file is not None
        self._file.write(block.data)

    def _fits(self) -> bool:
        return self._lines * self._width * 4 <= self._most

    def _to_file(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(  # noqa: SIM115 - outlives this call
                prefix="privet-", dir=self._spill
            )
        while self._blocks:
            self._file.write(self._blocks.pop(0).data)

    def rows(self) -> NDArray[Any]:
        """All lines; those in a file are mapped, not read."""
        if self._file is None:
            return self._together()
        self._file.flush()
        shape = (self._lines, self._width)
        with self._file as file:  # the map keeps it for itself
            return np.memmap(file, np.int32, "r+", shape=shape)

    def _together(self) -> NDArray[Any]:
        """The blocks as one array, as narrow as the numbers in it allow."""
        top = max((int(b.max(initial=0)) for b in self._blocks), default=0)
        narrow = np.int16 if top < 2**15 else np.int32
        whole = np.empty((self._lines, self._width), dtype=narrow)
        at = 0
        while self._blocks:
            block = self._blocks.pop(0)
            whole[at : at + len(block)] = block
            at += len(block)
        return whole


def size_of(limit: str) -> int:
    """Bytes of a memory limit as DuckDB takes it.

    >>> size_of("4GB"), size_of("1.5 KiB")
    (4000000000, 1536)
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(limit))
    unit = found[2].upper() if found else "?"
    if found is None or unit not in UNITS:
        raise InputError(f"memory_limit must be a size such as 4GB; got {limit!r}.")
    return int(float(found[1]) * UNITS[unit])


def placed(rows: NDArray[Any], places: Sequence[Ints]) -> None:
    """Replace the codes of the first columns by their places, some lines at a time."""
    for start in range(0, len(rows), 2**20):
        block = rows[start : start + 2**20]
        for d, place in enumerate(places):
            block[:, d] = place[block[:, d]]
