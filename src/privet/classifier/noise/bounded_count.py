"""Counts of a table in which one person adds no more than a privacy loss allows for.

Rows beyond the first so many of a person, drawn at random, are left out, and weights
are clipped; both look at that person alone. So adding or removing somebody changes
their own rows and nothing else.
Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson 2020, section 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from random import Random, SystemRandom

import attrs

from privet.classifier.release import Value
from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError
from privet.table import Table
from privet.values.exact import fraction
from privet.values.noise.differential_privacy import DifferentialPrivacy

Label = tuple[Value, ...]
"""The values of the target columns."""


@dataclass(frozen=True)
class CountedRow:
    """Rows of one person that look alike."""

    values: tuple[Value, ...]
    """The attributes' values."""
    label: Label
    """Its class."""
    weight: Fraction
    """How much each of them counts."""


Cells = dict[tuple[Value, Label], Fraction]
"""Counts by value and class."""


@dataclass(frozen=True)
class BoundedCounts:
    """Counts by attribute, value and class, and how many people have each."""

    cells: tuple[Cells, ...]
    """One for every attribute."""
    values: tuple[Counter[Value], ...]
    """People by value, for every attribute."""
    labels: Counter[Label]
    """People by class."""
    missing: int
    """Rows that have no class; they count nowhere."""


def is_bounded(table: Table, privacy: DifferentialPrivacy | None) -> bool:
    """Whether what one person adds must be limited row by row."""
    weighted = table.roles.weight is not None and getattr(privacy, "heaviest", None)
    return privacy is not None and bool(table.roles.unit or weighted)


def count_bounded(
    table: Table,
    columns: Sequence[str],
    targets: Sequence[str],
    privacy: DifferentialPrivacy,
    run: Run,
) -> BoundedCounts:
    """Count a table with at most so many rows of each person."""
    cells: tuple[Cells, ...] = tuple({} for _ in columns)
    values: tuple[Counter[Value], ...] = tuple(Counter() for _ in columns)
    labels: Counter[Label] = Counter()
    rows = _read_rows(table, columns, targets, privacy, run)
    missing, classed = _leave_out_missing(rows)
    for kept in _list_people(table, privacy, classed):
        for row, often in kept.items():
            for found, value in zip(cells, row.values, strict=True):
                key = value, row.label
                found[key] = found.get(key, Fraction(0)) + often * row.weight
        counted = [row for row in kept if row.weight]
        for i, people in enumerate(values):
            people.update({row.values[i] for row in counted})
        labels.update({row.label for row in counted})
    return BoundedCounts(cells, values, labels, missing)


Rows = list[tuple[Value, CountedRow, int]]
"""Each person's different rows, and how many there are of each."""


def _leave_out_missing(
    rows: Iterator[tuple[Value, CountedRow, int]],
) -> tuple[int, Rows]:
    """How many rows have no class, and the others."""
    missing, found = 0, []
    for person, row, often in rows:
        if None in row.label:
            missing += often
        else:
            found.append((person, row, often))
    return missing, found


def _list_people(
    table: Table, privacy: DifferentialPrivacy, classed: Rows
) -> Iterator[Counter[CountedRow]]:
    """The rows of each person that count."""
    unit = table.roles.unit
    dice = SystemRandom() if privacy.seed is None else Random(privacy.seed)
    people: defaultdict[Value, Counter[CountedRow]] = defaultdict(Counter)
    for person, row, often in classed:
        if unit is None:
            yield from (Counter({row: 1}) for _ in range(often))
        else:
            people[person][row] += often
    for rows in people.values():
        yield draw_rows(rows, privacy.rows_per_person, dice)


def draw_rows(
    rows: Counter[CountedRow], most: int, dice: Random
) -> Counter[CountedRow]:
    """At most so many of a person's rows, any as likely as any other."""
    if rows.total() <= most:
        return rows
    # Rows 3, 1 and 2 of a kind end before 3, 4 and 6; the fifth is of the third kind.
    kinds, ends = list(rows), list(accumulate(rows.values()))
    drawn = dice.sample(range(rows.total()), most)
    return Counter(
        kinds[next(i for i, end in enumerate(ends) if at < end)] for at in drawn
    )


def _read_rows(
    table: Table,
    columns: Sequence[str],
    targets: Sequence[str],
    privacy: DifferentialPrivacy,
    run: Run,
) -> Iterator[tuple[Value, CountedRow, int]]:
    """Each person's different rows, and how many there are of each."""
    roles = table.roles
    special = [c for c in (roles.unit, roles.weight) if c is not None]
    plain = table.with_roles(attrs.evolve(roles, unit=None, weight=None))
    query = CountQuery((*special, *columns, *targets[:-1]), targets[-1])
    for _, part in plain.count([query], run):
        texts = [
            [domain[code] for code in keys.tolist()]
            for domain, keys in zip(part.by, part.keys.columns(), strict=True)
        ]
        names = [domain.name for domain in part.by]
        at = [texts[names.index(c)] for c in query.by]
        about = [part.about[v] for v in part.value.tolist()]
        for g, last, n in zip(part.group.tolist(), about, part.n.tolist(), strict=True):
            cells = [column[g] for column in at]
            person = _require(cells.pop(0), roles.unit) if roles.unit else None
            weight = _require(cells.pop(0), roles.weight) if roles.weight else "1"
            values, label = cells[: len(columns)], (*cells[len(columns) :], last)
            amount, often = _weigh(weight, n, privacy)
            yield person, CountedRow(tuple(values), label, amount), often


def _require(cell: Value, column: str) -> str:
    if cell is None:
        raise InputError(
            f"Column {column!r} must have a value in every row; some have none."
        )
    return cell


def _weigh(weight: str, n: int, privacy: DifferentialPrivacy) -> tuple[Fraction, int]:
    """How much a row counts, and how many rows it is."""
    if privacy.heaviest is not None:
        return privacy.clip(weight), n
    return Fraction(1), n * int(fraction(weight, "weight"))
