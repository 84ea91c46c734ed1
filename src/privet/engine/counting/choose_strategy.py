"""The one choice among the ways to count; see `choose_strategy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privet.engine.counting.arrays_and_keys import ArraysAndKeys, split_widths
from privet.engine.counting.coded_rows import CodedRows, Order
from privet.engine.counting.counted_cells import CountedCells
from privet.engine.counting.dense_arrays import DenseArrays
from privet.engine.counting.grouping_sets import GroupingSets
from privet.engine.counting.hash_partitions import (
    FinerPartitions,
    HashPartitions,
    MergedPartitions,
)
from privet.engine.counting.precount import COLUMNS_AT_ONCE
from privet.engine.counting.sorted_keys import SortedBlocks, SortedKeys
from privet.engine.counting.strategy import LIMITS, CountStrategy, Limits


@dataclass(frozen=True)
class CountTask:
    """What is known of a count before it is made."""

    cells: tuple[int, ...]
    """For each set of columns, how many cells it could have: 3·4·2 = 24."""
    grouped: bool
    """Whether people are in groups; else everybody is one group."""
    rows: int
    """How many rows there are."""
    plain: bool
    """Whether rows are in this process and each counts as one: no weights, no people
    with several rows, and no combinations that were counted before."""
    one_statement: bool
    """Whether `fits_one_statement`."""
    few_cells: bool = False
    """Whether combinations of all sets were counted before, together, and are few."""
    tried_sets: int = 0
    """For how many sets of columns, these and others, one statement did not fit."""


def choose_strategy(
    task: CountTask,
    *,
    room: Callable[[], int],
    mostly_differ: Callable[[], bool],
    limits: Limits = LIMITS,
) -> type[CountStrategy]:
    """How something is counted: by the first line that holds.

    ===========================================  ================  ====================
    when                                         strategy          why
    ===========================================  ================  ====================
    tried in one statement, did not fit memory
    … one set of columns, tried alone            FinerPartitions   the whole is known
                                                                   not to fit
    … several sets, tried together               HashPartitions    each may fit alone
    not one statement (see below)                HashPartitions    a plain GROUP BY
                                                                   works everywhere
    either, and everybody is one group           MergedPartitions  one group cannot be
                                                                   cut, its values can
    plain rows
    … at most 4 cells per row, 8 million in all  DenseArrays       one addition a row
    … at most 8 million keys (rows · sets)       SortedKeys        sorting beats
                                                                   grouping rows that
                                                                   mostly differ
    … some sets that are narrow, 8 million keys  ArraysAndKeys     each its own way,
      of wide ones, or 32 that fit the room                        in one scan
    … one set with groups, keys fit the room,    SortedBlocks      grouping would hold
      most of the first million rows differ                        as many cells
    few combinations that were counted before    CountedCells      planning a statement
                                                                   per set takes longer
    anything else: weights, people with several  GroupingSets      all sets in one
    rows, precounts, many rows that are alike                      scan, by the database
    ===========================================  ================  ====================

    Parameters
    ----------
    room
        Bytes that keys may take; asked only where it matters: it takes a statement.
    mostly_differ
        Whether most rows are like no other; asked only then, too.
    """
    if task.tried_sets or not task.one_statement:
        parts = FinerPartitions if task.tried_sets == 1 else HashPartitions
        return parts if task.grouped else MergedPartitions
    if task.few_cells:
        return CountedCells
    if not task.plain:
        return GroupingSets
    return _choose_for_plain(task, room, mostly_differ, limits)


def _choose_for_plain(
    task: CountTask,
    room: Callable[[], int],
    mostly_differ: Callable[[], bool],
    limits: Limits,
) -> type[CountStrategy]:
    if sum(task.cells) <= min(limits.cells_at_once, limits.cells_per_row * task.rows):
        return DenseArrays
    if task.rows * len(task.cells) <= limits.keys_at_once:
        return SortedKeys
    narrow, wide = split_widths(task.cells, task.rows, limits)
    keys = task.rows * len(wide)
    few = keys <= limits.keys_at_once
    if narrow and (few or _fits_room(keys, room, limits)):
        return ArraysAndKeys
    one = len(task.cells) == 1 and task.grouped
    if one and task.rows * limits.key_bytes <= room() and mostly_differ():
        return SortedBlocks
    return GroupingSets


def _fits_room(keys: int, room: Callable[[], int], limits: Limits) -> bool:
    """Whether so many keys may be sorted beside arrays."""
    return keys <= limits.keys_in_room and keys * limits.key_bytes <= room()


def fits_one_statement(rows: CodedRows, sets: Sequence[Order]) -> bool:
    """Whether one statement with grouping sets can count all of these columns.

    The database must do that well, its GROUPING_ID has room for so many columns, every
    key must fit an integer; and combinations that were counted before must have all of
    the columns, or be few.
    """
    used = {c for o in sets for c in o}
    cells = rows.precount
    if cells and cells.find_cells(used) is None and cells.find_few(sets) is None:
        return False
    fits = len(used) <= COLUMNS_AT_ONCE and all(map(rows.packs, sets))
    return fits and rows.dialect.grouping_sets
