"""Set-valued columns: a cell holds a list, so that each person has a set of values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

import numpy as np

from privet.engine.protocol import Run
from privet.errors import NoAudit
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

Set = tuple[str | None, ...]


def refuse_lists(table: Table, columns: Iterable[str], run: Run, why: str) -> None:
    """Refuse columns of lists where one value per person is counted."""
    for column in dict.fromkeys(columns):
        if not _may_hold_lists(table, column):
            continue
        domain = table.domains([column], run)[column]
        if read_sets(table, domain) is not None:
            raise NoAudit(f"Column {column!r} has lists of values; {why}")


def list_members(domain: Domain, sets: Sequence[Set]) -> Domain:
    """The single values that lists hold."""
    every = dict.fromkeys(v for own in sets for v in own)
    return Domain(domain.name, list(every))


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
    start = np.searchsorted(group, np.arange(len(batch) + 1))
    return EquivalenceClasses(
        batch.by, inside, batch.keys, batch.total, start, value, counts
    )


def _may_hold_lists(table: Table, column: str) -> bool:
    kind = next((c.kind for c in table.schema.columns if c.name == column), "")
    return kind == "other" or bool(table.source.json)


def read_sets(table: Table, domain: Domain) -> list[Set] | None:
    """The set behind each code; None where the column does not hold lists.

    A missing list is an empty one.
    """
    column = next(c for c in table.schema.columns if c.name == domain.name)
    if domain.name in table.recodings or not _may_hold_lists(table, domain.name):
        return None
    texts = [domain[code] for code in range(len(domain))]
    read = _parse_duckdb_list if column.kind == "other" else _parse_json
    found = [() if text is None else read(text) for text in texts]
    if any(own is None for own in found) or not any(texts):
        return None
    return [tuple(dict.fromkeys(own or ())) for own in found]


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
