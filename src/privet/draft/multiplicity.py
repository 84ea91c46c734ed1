"""Do the numbers bear it out that a row stands for several people, or a person has
several rows? Counted by statements, of the few columns whose names suggest it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privet.draft.vocabulary import (
    FILLERS,
    MULTIPLE,
    NUMBER,
    PERSON,
    Vocabulary,
    split_words,
)
from privet.engine.protocol import ColumnSummary, CountQuery, Run
from privet.table import Table

FEW_COLUMNS = 6
"""So many columns are asked whether they stay the same within a person."""

MANY_ROWS = 1_000_000
"""In larger tables only half as many."""

MOST_WEIGHTS = 100_000
"""More different numbers are no multiplicities."""


@dataclass(frozen=True)
class Multiplicity:
    """What was counted of a column that may tell people or rows apart."""

    weight: str = ""
    """Why it says how many rows each row stands for; empty: it does not."""
    person: str = ""
    """Why it tells people apart who have several rows; empty: it does not."""
    against: str = ""
    """What speaks against what its name suggests; empty: nothing."""


def find_personal(words: Sequence[str], kind: Vocabulary) -> str:
    """Give the word of this kind, if all the others are words for people."""
    parts = words[:-1] or words
    others = [word for word in parts if not kind.find([word])]
    return kind.find(parts) if all(PERSON.find([word]) for word in others) else ""


def find_multiple(column: ColumnSummary) -> str:
    """The word that says a column counts rows, if it is nothing else."""
    words = split_words(column.name)
    parts = words[:-1] or words
    only = all(MULTIPLE.find([word]) or FILLERS.find([word]) for word in parts)
    return MULTIPLE.find(parts) if only and column.kind == "integer" else ""


def count_multiplicities(
    table: Table, columns: Sequence[ColumnSummary], run: Run
) -> dict[str, Multiplicity]:
    """Count for each column whose name suggests weights or people."""
    found = {}
    for column in columns:
        words = split_words(column.name)
        if find_multiple(column):
            found[column.name] = _check_weight(table, column, columns, run)
        elif find_personal(words, NUMBER) and 1 < column.distinct < column.rows:
            found[column.name] = _check_person(table, column, columns, run)
    return found


def _check_weight(
    table: Table, weight: ColumnSummary, columns: Sequence[ColumnSummary], run: Run
) -> Multiplicity:
    """A weight adds up to more than the rows, and no row stands twice beside it."""
    others = [c for c in columns if c is not weight]
    unique = [c for c in others if c.distinct * 2 > c.rows]
    if not others or weight.missing or weight.distinct > MOST_WEIGHTS:
        return Multiplicity(against="not every row has a number")
    if unique and (len(others) > 1 or unique[0].kind != "text"):
        return Multiplicity(
            against=f"{unique[0].name!r} tells nearly every row apart, as no count does"
        )
    total = _add_up(table, weight.name, run)
    if total is None or total <= weight.rows:
        return Multiplicity(against="its numbers do not add up to more than the rows")
    different = table.engine.count_combinations([c.name for c in others], run)
    if different < weight.rows:
        twice = weight.rows - different
        return Multiplicity(against=f"{twice:,} rows are like another one without it")
    return Multiplicity(
        weight=f"no row is like another one without it, and it adds up to {total:,}"
    )


def _add_up(table: Table, name: str, run: Run) -> int | None:
    """The sum of whole numbers; None: one is below zero."""
    total = 0
    for _, batch in table.count([CountQuery((), name)], run):
        for code, n in zip(batch.value, batch.n, strict=True):
            number = int(batch.about[code] or 0)
            if number < 0:
                return None
            total += number * int(n)
    return total


def _check_person(
    table: Table, person: ColumnSummary, columns: Sequence[ColumnSummary], run: Run
) -> Multiplicity:
    """Of a person something stays the same, such as sex, in all of their rows."""
    if person.telling:  # about: distinct values of large tables are not exact
        return Multiplicity(against="hardly a value stands twice")
    people = table.engine.count_combinations([person.name], run)
    if person.rows - people < max(3, person.rows // 20):
        return Multiplicity(against="hardly a value stands twice")
    most = FEW_COLUMNS if person.rows <= MANY_ROWS else FEW_COLUMNS // 2
    asked = [
        c
        for c in columns
        if c is not person and 2 <= c.distinct <= 200 and c.kind != "other"
    ][:most]
    steady = [
        c.name
        for c in asked
        if table.engine.count_combinations([person.name, c.name], run) == people
    ]
    if not steady:
        return Multiplicity(against="nothing stays the same in the rows of one value")
    more = len(steady) - 1
    same = f"{steady[0]!r} and {more} more never differ" if more else ""
    return Multiplicity(
        person=f"{people:,} values in {person.rows:,} rows, and "
        f"{same or f'{steady[0]!r} never differs'} in the rows of one"
    )
