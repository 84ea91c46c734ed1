"""Set-valued columns: a cell holds a list, so that each person has a set of values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privet.engine.protocol import Run
from privet.errors import NoAudit
from privet.languages import mark
from privet.table import Table
from privet.values.arrays import Flags, Ints
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

Set = tuple[str | None, ...]

SEVERAL_LISTS = mark(
    "Some people have several lists, and are counted with a value for each list that "
    "has it: this is an upper bound. Say how rows become people to count exactly: "
    "[person] in the policy, or person=… of pv.read."
)


def refuse_lists(table: Table, columns: Iterable[str], run: Run, why: str) -> None:
    """Refuse columns of lists where one value per person is counted."""
    for column in dict.fromkeys(columns):
        if holds_lists(table, column, run):
            raise NoAudit(f"Column {column!r} has lists of values; {why}")


def holds_lists(table: Table, column: str, run: Run) -> bool:
    """Whether the cells of a column are lists."""
    if not _may_hold_lists(table, column):
        return False
    return read_sets(table, table.domains([column], run)[column]) is not None


def list_members(domain: Domain, sets: Sequence[Set]) -> Domain:
    """The single values that lists hold, in the order of the alphabet."""
    every = {v for own in sets for v in own}
    return Domain(domain.name, sorted(every, key=lambda v: (v is not None, v or "")))


def count_by_member(
    batch: EquivalenceClasses, sets: Sequence[Set], inside: Domain
) -> EquivalenceClasses:
    """The same people, counted once with each value that their list holds.

    >>> from privet.values.contingency import Counts
    >>> from privet.values.equivalence_classes import group_counts
    >>> lists = Counts.from_cells(["s"], {("[a, b]",): 2, ("[a]",): 3, ("[]",): 1})
    >>> batch = group_counts(lists, [], "s")
    >>> read = {"[a, b]": ("a", "b"), "[a]": ("a",), "[]": ()}
    >>> sets = [read[batch.about[i]] for i in range(3)]
    >>> count_by_member(batch, sets, Domain("s", ["a", "b"])).histogram(0)
    {'a': 5, 'b': 2}
    """
    held = [np.array([inside.code(v) for v in own], dtype=np.intp) for own in sets]
    several = np.array([len(own) for own in held], dtype=np.intp)
    # A row per member: 2 people with [a, b] are 2 with a and 2 with b. A group's total
    # stays 2, and its counts sum to 4.
    times = several[batch.value]
    group = np.repeat(batch.group, times)
    n = np.repeat(batch.n, times)
    rows = [held[code] for code in batch.value.tolist()]
    value = np.concatenate([*rows, np.zeros(0, dtype=np.intp)])
    # One number per (group, member), so that sorting keeps groups together.
    cell, place = np.unique(group * max(len(inside), 1) + value, return_inverse=True)
    counts = np.zeros(len(cell), dtype=np.int64)
    np.add.at(counts, place, n)
    group, value = np.divmod(cell, max(len(inside), 1))
    # Who has several lists is counted with each; nobody is more than all of a group.
    counts = np.minimum(counts, batch.total[group])
    start = np.searchsorted(group, np.arange(len(batch) + 1))
    return EquivalenceClasses(
        batch.by, inside, batch.keys, batch.total, start, value, counts
    )


@dataclass(frozen=True, eq=False)
class HeldMembers:
    """Which values the lists of some groups hold, to count people and not values.

    Two people with [a, b] are two people, though they are counted with a and with b.
    """

    lists: EquivalenceClasses
    """The groups with a histogram of whole lists each."""
    row: Ints
    """For each value of each list the row of the histogram of lists it is in."""
    place: Ints
    """The row of the histogram of single values where it is counted."""

    @classmethod
    def of(
        cls, lists: EquivalenceClasses, sets: Sequence[Set], single: EquivalenceClasses
    ) -> HeldMembers:
        """From both counts of the same groups, by list and by single value."""
        held = [[single.about.code(v) for v in own] for own in sets]
        times = np.array([len(own) for own in held], dtype=np.int64)[lists.value]
        row = np.repeat(np.arange(len(lists.value)), times)
        value = [code for own in lists.value.tolist() for code in held[own]]
        span = max(len(single.about), 1)
        cell = lists.group[row] * span + np.array(value, dtype=np.int64)
        place = np.searchsorted(single.group * span + single.value, cell)
        return cls(lists, row, place)

    def mark_holders(self, marked: Flags) -> Flags:
        """The rows of the histogram of lists that hold one of some marked values."""
        found: Flags = np.zeros(len(self.lists.n), dtype=bool)
        found[self.row[marked[self.place]]] = True
        return found

    def find_commonest(self, n: Ints) -> Ints:
        """For each list the count of that of its values which most people have."""
        found = np.zeros(len(self.lists.n), dtype=np.int64)
        np.maximum.at(found, self.row, n[self.place])
        return found


def has_several_lists(batch: EquivalenceClasses) -> bool:
    """Whether somebody of a group was counted with two different lists."""
    return int(batch.total.sum()) != int(batch.n.sum())


def _may_hold_lists(table: Table, column: str) -> bool:
    kind = next((c.kind for c in table.schema.columns if c.name == column), "")
    known = column in table.json_lists
    return known or kind == "other" or bool(table.source.json)


def read_sets(table: Table, domain: Domain) -> list[Set] | None:
    """The set behind each code; None where the column does not hold lists.

    A missing list is an empty one.
    """
    column = next(c for c in table.schema.columns if c.name == domain.name)
    known = domain.name in table.json_lists
    if not _may_hold_lists(table, domain.name):
        return None
    if domain.name in table.recodings and not known:
        return None
    texts = [domain[code] for code in range(len(domain))]
    listed = column.kind == "other" and not known
    read = _parse_duckdb_list if listed else _parse_json
    found = [() if text is None else read(text) for text in texts]
    if any(own is None for own in found) or not (known or any(texts)):
        return None
    return [tuple(dict.fromkeys(own or ())) for own in found]


LISTS = "lists"
"""The kind of a domain whose texts are lists as JSON writes them."""


def write_lists(table: Table, domain: Domain) -> Domain:
    """A domain of lists as JSON writes them; any other as it is."""
    sets = read_sets(table, domain)
    if sets is None:
        return domain
    texts = [
        None if domain[code] is None else json.dumps(list(own), ensure_ascii=False)
        for code, own in enumerate(sets)
    ]
    return Domain(domain.name, texts, LISTS)


def _parse_json(text: str) -> Set | None:
    if not text.startswith("["):
        return None
    try:
        listed = json.loads(text)
    except ValueError:
        return None
    return tuple(None if v is None else str(v) for v in listed)


_ITEM = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|([^,']*?))\s*(,|$)", re.DOTALL)


def _parse_duckdb_list(text: str) -> Set | None:
    r"""A list as DuckDB writes it: items with odd letters stand in quotes.

    >>> tuple(_parse_duckdb_list(x) for x in ("[Flu, 'a, b', NULL]", "[]", "x"))
    (('Flu', 'a, b', None), (), None)
    """
    if not (text.startswith("[") and text.endswith("]")):
        return None
    inner = text[1:-1]
    if not inner.strip():
        return ()
    found: list[str | None] = []
    at = 0
    while at <= len(inner):
        item = _ITEM.match(inner, at)
        if item is None:
            return None
        quoted, bare, end = item.groups()
        if quoted is not None:
            found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            found.append(None if bare == "NULL" else bare)
        at = item.end()
        if not end:
            return tuple(found)
    return tuple(found)
