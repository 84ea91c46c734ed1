"""The distinct rows of a table as small integers, in memory or in a file of our own.

The engine counts them. What does not fit the memory limit is kept in a file that has
no name any more: the groups of Mondrian lie side by side in it, so that a group is read
from one end to the other, and the groups are the same for every memory limit. Beside it
the distinct rows of a partition over some of its columns (`sum_partition_rows`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privet.engine.duckdb.session import SHARE, memory_here, parse_size
from privet.engine.protocol import CountQuery, Run
from privet.errors import TooLarge
from privet.microdata.generalisation.partition import Partition
from privet.table import Table
from privet.values import contingency
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

AT_ONCE = 2**15
"""Lines that are written column by column while they are in the processor's cache."""

MOST_PEOPLE = 2**31
"""Products of two counts must fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Codes of some columns, and how many people have each combination."""

    domains: tuple[Domain, ...]
    """The columns."""
    rows: NDArray[Any]
    """One line per combination: its codes, and last how many people have it."""

    @property
    def people(self) -> int:
        """How many there are in all."""
        return int(self.rows[:, -1].sum(dtype=np.int64))

    def sum_by_value(
        self, column: int, inside: tuple[int, int] | None = None
    ) -> Floats:
        """People with each value of a column; of those with one value of another."""
        rows = self.rows
        if inside is not None:
            rows = rows[rows[:, inside[0]] == inside[1]]
        size = len(self.domains[column])
        (found,) = contingency.sum_columns([rows[:, column]], [size], rows[:, -1])
        return found

    def move_to_positions(self, positions: Sequence[Ints]) -> None:
        """Let positions stand for the codes of the first columns."""
        replace_codes(self.rows, positions)

    def gather_rows(self, _options: Any) -> NDArray[Any]:
        """All lines, those of a group side by side."""
        return self.rows


def count_distinct_rows(table: Table, columns: Sequence[str], run: Run) -> DistinctRows:
    """Count the combinations of some columns."""
    tally = CountQuery(tuple(columns[:-1]), columns[-1])
    domains = table.domains(list(columns), run, before=[tally])
    store = RowStore(len(columns) + 1, table.options)
    for _, batch in table.count([tally], run):
        store.add(batch, columns)
    rows = store.rows()
    found = DistinctRows(tuple(domains[c] for c in columns), rows)
    check_people(found.people)
    return found


def check_people(people: int) -> None:
    """Refuse more people than products of counts allow."""
    if people >= MOST_PEOPLE:
        raise TooLarge(
            f"A table must have fewer than {MOST_PEOPLE:,} people to be published in "
            f"groups; it has {people:,}."
        )


def allocate_rows(lines: int, width: int, options: Any) -> NDArray[Any]:
    """Room for so many lines: in memory, or in a file where they do not fit."""
    shape, most = (lines, width), find_byte_limit(options)
    if lines * width * 4 <= most:
        return np.empty(shape, dtype=np.int32)
    with tempfile.TemporaryFile(prefix="privet-", dir=options.get("spill")) as file:
        return np.memmap(file, np.int32, "w+", shape=shape)  # it keeps the file


def find_byte_limit(options: Any) -> int:
    """What cells may take of the memory limit, or else of the machine's memory."""
    limit = options.get("memory_limit")
    return (memory_here() if limit is None else parse_size(limit)) // SHARE


class RowStore:
    """Lines that are added block by block, in memory or in a file."""

    def __init__(self, width: int, options: Any) -> None:
        self._most = find_byte_limit(options)
        self._spill = options.get("spill")
        self._width = width
        self._blocks: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._lines = 0

    def add(self, batch: EquivalenceClasses, columns: Sequence[str]) -> None:
        """Take the cells of some more groups."""
        if len(batch.n) and batch.n.max() >= MOST_PEOPLE:
            raise TooLarge(f"A table must have fewer than {MOST_PEOPLE:,} people.")
        sizes = [len(d) for d in (*batch.by, batch.about)]
        # Most tables fit into half of the memory.
        narrow = max(*sizes, int(batch.n.max(initial=0))) < 2**15
        kind = np.int16 if narrow and self._file is None else np.int32
        # A line per cell: a code per column, then how many people.
        block = np.empty((len(batch.n), self._width), dtype=kind)
        at = [columns.index(d.name) for d in (*batch.by, batch.about)]
        for start in range(0, len(block), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            codes = batch.keys.take(batch.group[part]).columns()
            for j, code in zip(at, (*codes, batch.value[part]), strict=True):
                block[part, j] = code
        block[:, -1] = batch.n
        self._lines += len(block)
        if self._file is None and self._fits():
            self._blocks.append(block)
            return
        self._move_to_file()
        assert self._file is not None
        self._file.write(block.astype(np.int32, copy=False).data)

    def _fits(self) -> bool:
        return self._lines * self._width * 4 <= self._most

    def _move_to_file(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(  # noqa: SIM115 - outlives this call
                prefix="privet-", dir=self._spill
            )
        while self._blocks:
            self._file.write(self._blocks.pop(0).astype(np.int32, copy=False).data)

    def rows(self) -> NDArray[Any]:
        """All lines; those in a file are mapped, not read."""
        if self._file is None:
            return self._join_blocks()
        self._file.flush()
        shape = (self._lines, self._width)
        with self._file as file:  # the map keeps it for itself
            return np.memmap(file, np.int32, "r+", shape=shape)

    def _join_blocks(self) -> NDArray[Any]:
        """The blocks as one array, as wide as the widest."""
        if len(self._blocks) == 1:
            return self._blocks.pop()
        kind = max((b.dtype for b in self._blocks), default=np.dtype(np.int16))
        whole = np.empty((self._lines, self._width), dtype=kind)
        at = 0
        while self._blocks:
            block = self._blocks.pop(0)
            whole[at : at + len(block)] = block
            at += len(block)
        return whole


def replace_codes(rows: NDArray[Any], positions: Sequence[Ints]) -> None:
    """Replace codes of the first columns by their positions, some lines at a time."""
    for start in range(0, len(rows), 2**20):
        block = rows[start : start + 2**20]
        for d, position in enumerate(positions):
            block[:, d] = position[block[:, d]]


# Distinct rows of a partition -------------------------------------------------------


class PartitionRows(NamedTuple):
    """The different rows of each group over some columns, group by group."""

    group: Ints
    """The group of each; they rise."""
    codes: list[Ints]
    """Its codes, an array per column, by which the rows of a group rise."""
    n: Ints
    """How many people have it."""

    def list_lines(self, groups: Ints) -> Ints:
        """Where the rows of all groups stand, the groups in another order.

        >>> rows = PartitionRows(np.array([0, 0, 0, 1, 1]), [], np.ones(5))
        >>> rows.list_lines(np.array([1, 0]))
        array([3, 4, 0, 1, 2])
        """
        many = np.bincount(self.group, minlength=len(groups))
        begin = np.cumsum(many) - many
        spans = many[groups]
        shift = begin[groups] - (np.cumsum(spans) - spans)
        return np.repeat(shift, spans) + np.arange(len(self.group))


def sum_partition_rows(partition: Partition, columns: Sequence[int]) -> PartitionRows:
    """The group, codes and people of each different row over some columns."""
    sizes = [_count_values(partition, c) for c in columns]
    parts = []
    for groups, cells, starts in partition.blocks():
        # Groups are never cut between blocks, so that no row comes up in two.
        spans = np.diff([*starts, len(cells)])
        group = np.repeat(np.arange(groups.start, groups.stop), spans)
        codes = [group, *(cells[:, c].astype(np.int64) for c in columns)]
        parts.append(_sum_alike_rows(codes, sizes, cells[:, -1].astype(np.int64)))
    joined = [np.concatenate(p) for p in zip(*parts, strict=True)]
    return PartitionRows(joined[0], joined[1:-1], joined[-1])


def _count_values(partition: Partition, column: int) -> int:
    known = len(partition.attributes)
    if column < known:
        return len(partition.attributes[column])
    return len(partition.others[column - known])


def _sum_alike_rows(codes: list[Ints], sizes: Sequence[int], n: Ints) -> list[Ints]:
    """Lines that are alike once, with the sum of their numbers."""
    spans = [int(codes[0].max()) + 1, *sizes]
    different, people = contingency.sum_equal_rows(codes, spans, n)
    narrow: list[Ints] = [c.astype(np.int32) for c in different]
    return [*narrow, people]
