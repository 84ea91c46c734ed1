"""How several rows of a person could become one: a rule for each column that differs.

Columns that stay the same within each person need none, which is counted. Of the
others, what may be known is taken from the last row, or where nothing puts rows in
order the commonest value; of what nobody should learn, all values are kept as a list,
and of numbers the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.draft.common_values import has_windows
from privet.draft.guess_roles import Guess
from privet.engine.protocol import ColumnSummary, Run
from privet.table import Table
from privet.values.person_rows import PersonRows
from privet.values.windows import NUMBERS

RELEASED = ("quasi", "sensitive", "other", "target")
"""Roles of columns that are released."""

DATES = ("date", "datetime")
"""Kinds of columns that put rows in order before any number does."""

MOST_COLUMNS = 40
"""Of wider tables nobody counts which columns differ; a person says it."""


def draft_people(
    table: Table, columns: Sequence[ColumnSummary], guesses: Sequence[Guess], run: Run
) -> PersonRows | None:
    """The rules for a table of which one column tells people apart; else None."""
    unit = next((g.name for g in guesses if g.role == "unit"), None)
    released = [g for g in guesses if g.role in RELEASED]
    if unit is None or len(released) > MOST_COLUMNS:
        return None
    people = table.engine.count_combinations([unit], run)
    apart = {
        g.name: table.engine.count_combinations([unit, g.name], run)
        for g in guesses
        if g.name != unit
    }
    varying = [g for g in guesses if apart.get(g.name, 0) > people]
    kinds = {c.name: c for c in columns}
    able = [kinds[g.name] for g in varying if g.role != "sensitive"]
    order = _find_order([c for c in able if _may_order(c, apart[c.name])], apart)
    rules: dict[str, list[str]] = {}
    for guess in varying:
        if guess.role in RELEASED:
            rule = _choose_rule(guess, kinds[guess.name], bool(order))
            rules.setdefault(rule, []).append(guess.name)
    asked = order if "last" in rules else ()
    return PersonRows(unit, order=asked, **{r: tuple(c) for r, c in rules.items()})


def _find_order(
    columns: Sequence[ColumnSummary], apart: Mapping[str, int]
) -> tuple[str, ...]:
    """The column that tells most rows of a person apart: a date, else a number."""
    dates = [c for c in columns if c.kind in DATES]
    best = max(dates or columns, key=lambda c: apart[c.name], default=None)
    return () if best is None else (best.name,)


def _may_order(column: ColumnSummary, pairs: int) -> bool:
    """Whether a column may say which row is the last: a date in each row, or a number
    that no two rows of a person share, as of waves and years, not of sizes.
    """
    if column.missing:
        return False
    placed = column.kind in NUMBERS and pairs == column.rows
    return column.kind in DATES or placed


def _choose_rule(guess: Guess, column: ColumnSummary, ordered: bool) -> str:
    if guess.role == "sensitive":
        return "most" if has_windows(column) else "set"
    return "last" if ordered else "commonest"
