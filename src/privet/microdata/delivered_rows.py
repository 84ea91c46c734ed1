"""Whole rows of deliveries: who came, stayed and left.

A person is a whole row, columns that name people included: a changed row is one that
left and one that came. Deliveries are counted, each in one scan, and compared; that
goes as far as different rows are moderately many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, TooLarge
from privet.microdata.joint_counts import MOST_COMBINATIONS, list_released
from privet.microdata.recipe import Recipe, sort_values
from privet.release.joint.delivery_history import DeliveryHistory, Presence
from privet.release.joint.outlines import Value
from privet.release.joint.same_rows import JointColumn, Labels
from privet.table import Table
from privet.values.contingency import Domain

WholeRow = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class DeliveredRows:
    """One delivery: how it shows values, and its rows, counted."""

    name: str
    """What it is called."""
    recipe: Recipe
    """What it hides."""
    released: tuple[str, ...]
    """The columns it shows."""
    columns: tuple[str, ...]
    """The columns counted: those it shows, and those that name people."""
    names: tuple[str, ...]
    """Columns that name people."""
    rows: Mapping[WholeRow, int]
    """How many people have each row."""
    kinds: Mapping[str, str]
    """The kind of values of each column."""


def count_delivery(
    table: Table, recipe: Recipe, name: str, run: Run | None = None
) -> DeliveredRows:
    """Count the whole rows of a delivery.

    Raises
    ------
    TooLarge
        Where there are too many different rows.
    """
    plain, released = replace(table, relabels={}), list_released(table)
    columns = (*released, *table.roles.identifier)
    found: Counter[WholeRow] = Counter()
    kinds: dict[str, str] = {}
    for _, batch in plain.count([CountQuery(columns[:-1], columns[-1])], run):
        domains = [*batch.by, batch.about]
        kinds |= {d.name: d.kind for d in domains}
        codes = [k[batch.group] for k in batch.keys.columns()] + [batch.value]
        texts = [
            [d[c] for c in code.tolist()]
            for d, code in zip(domains, codes, strict=True)
        ]
        for row, n in zip(zip(*texts, strict=True), batch.n.tolist(), strict=True):
            found[row] += n
        if len(found) > MOST_COMBINATIONS:
            raise TooLarge(
                f"At most {MOST_COMBINATIONS:,} different rows can be compared between "
                "deliveries; there are more."
            )
    named = table.roles.identifier
    return DeliveredRows(name, recipe, released, columns, named, found, kinds)


def find_presence(
    deliveries: Sequence[DeliveredRows],
) -> dict[Presence, Counter[WholeRow]]:
    """For each set of deliveries, the rows that are in just these.

    Two equal rows in the first and one in the second: one stayed, one left.
    """
    columns = deliveries[0].columns
    if any(set(d.columns) != set(columns) for d in deliveries):
        raise InputError(
            "Deliveries must have the same columns to be compared; these do not."
        )
    found: dict[Presence, Counter[WholeRow]] = {}
    several = [_reorder_columns(d, columns) for d in deliveries]
    for row in dict.fromkeys(r for rows in several for r in rows):
        counts = [rows.get(row, 0) for rows in several]
        before = 0
        for level in sorted(set(counts) - {0}):
            presence = tuple(k for k, n in enumerate(counts) if n >= level)
            found.setdefault(presence, Counter())[row] += level - before
            before = level
    return found


def _reorder_columns(
    delivery: DeliveredRows, columns: Sequence[str]
) -> Mapping[WholeRow, int]:
    if delivery.columns == tuple(columns):
        return delivery.rows
    at = [delivery.columns.index(c) for c in columns]
    return {tuple(row[i] for i in at): n for row, n in delivery.rows.items()}


def build_history(deliveries: Sequence[DeliveredRows]) -> DeliveryHistory:
    """Everybody ever delivered, ready to be judged; the newest delivery last."""
    presence = find_presence(deliveries)
    counted = deliveries[0].columns
    shown = tuple(c for c in counted if any(c in d.released for d in deliveries))
    domains = {c: merge_domains(c, deliveries) for c in shown}
    columns = tuple(
        JointColumn(c, tuple(_label_values(domains[c], d) for d in deliveries))
        for c in shown
    )
    at = [counted.index(c) for c in shown]
    codes = [{v: i for i, v in enumerate(domains[c].labels)} for c in shown]
    people: dict[Presence, Counter[Labels]] = {}
    for present, rows in presence.items():
        people[present] = Counter()
        for row, n in rows.items():
            coded = tuple(code[row[i]] for code, i in zip(codes, at, strict=True))
            people[present][coded] += n
    names = tuple(d.name for d in deliveries)
    values = {c: list(d.labels) for c, d in domains.items()}
    pairs = combinations(range(len(deliveries)), 2)
    changed = {(i, j): count_changed(deliveries[i], deliveries[j]) for i, j in pairs}
    return DeliveryHistory(columns, people, names, values, changed)


def count_changed(first: DeliveredRows, second: DeliveredRows) -> int:
    """People whom their names find in both, with another row."""
    if not first.names:
        return 0
    one, other = _count_names(first), _count_names(second)
    both = sum(min(n, other[who]) for who, n in one.items())
    rows = _reorder_columns(second, first.columns)
    return both - sum(min(n, rows.get(row, 0)) for row, n in first.rows.items())


def _count_names(delivery: DeliveredRows) -> Counter[WholeRow]:
    at = [delivery.columns.index(c) for c in delivery.names]
    found: Counter[WholeRow] = Counter()
    for row, n in delivery.rows.items():
        found[tuple(row[i] for i in at)] += n
    return found


def merge_domains(column: str, deliveries: Sequence[DeliveredRows]) -> Domain:
    """All values of a column in any delivery, in their own order."""
    kinds = {d.kinds[column] for d in deliveries}
    numbers = len(kinds) > 1 and kinds <= {"integer", "number"}
    kind = kinds.pop() if len(kinds) == 1 else "number" if numbers else "text"
    values: dict[Value, None] = {}
    for d in deliveries:
        at = d.columns.index(column)
        values |= dict.fromkeys(row[at] for row in d.rows)
    return Domain(column, sort_values(list(values), kind), kind)


def _label_values(domain: Domain, delivery: DeliveredRows) -> Labels:
    """A label for each value: the place of the first that looks like it."""
    if domain.name not in delivery.released:
        return (0,) * len(domain)
    how = delivery.recipe.columns.get(domain.name)
    texts = list(domain.labels)
    if how is not None:
        texts = how.texts(domain, delivery.recipe.marker)
    first: dict[Value, int] = {}
    return tuple(first.setdefault(text, i) for i, text in enumerate(texts))
