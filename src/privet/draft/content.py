"""What a bounded sample of a column's values looks like; no value is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from privet.draft.topics import (
    MARITAL_VALUES,
    ORIGIN_VALUES,
    PLACES,
    SEX_VALUES,
    STATES,
    Topic,
    find_value_topic,
    measure_words,
)
from privet.draft.value_patterns import (
    FREE_TEXT,
    FULL_NAMES,
    GIVEN,
    MOST,
    Pattern,
    find_hidden,
    find_pattern,
    measure_fit,
)
from privet.draft.vocabulary import strip_accents
from privet.engine.protocol import ColumnSummary, Run
from privet.table import Table

SAMPLE_ROWS = 2_000
"""About so many rows are looked at, drawn by a hash; all rows of smaller tables."""

SAMPLE_CELLS = 500_000
"""In wide tables fewer rows, so that no more cells than this are looked at."""

LEAST_ROWS = 50
"""But not fewer rows than this."""

QUANTILES = 20
"""The distribution of numbers and dates is kept at so many steps."""


@dataclass(frozen=True)
class Content:
    """What the values of one column look like."""

    pattern: Pattern | None = None
    """The form of most values, where it tells who somebody is."""
    hidden: str = ""
    """What stands inside of some values, though not of most."""
    free_text: bool = False
    """Whether most values are sentences."""
    names: bool = False
    """Whether most values look like names of people."""
    topic: Topic | None = None
    """What nobody should learn, as the values' words tell."""
    known: str = ""
    """What others may know, as the values tell: sexes, places and the like."""
    quantiles: tuple[float, ...] = ()
    """Numbers, or dates as days: the distribution in equal shares; empty: no order."""
    whole: bool = False
    """Whether all numbers are whole."""
    same_length: bool = False
    """Whether all numbers have as many digits, and at least five."""
    looked_at: int = 0
    """How many values there were in the sample."""

    @property
    def spread(self) -> tuple[float, float]:
        """About the least and the largest number; nothing shows them."""
        return (self.quantiles[0], self.quantiles[-1]) if self.quantiles else (0.0, 0.0)

    @property
    def like_ages(self) -> bool:
        """Whether the numbers may be ages of people."""
        least, most = self.spread
        return bool(self.quantiles) and least >= 0 and 5 < most <= 120


def look_at(
    table: Table, columns: Sequence[ColumnSummary], run: Run
) -> dict[str, Content]:
    """Look at the values of a sample of rows, column by column."""
    share = SAMPLE_CELLS // max(1, len(columns))
    most = max(LEAST_ROWS, min(SAMPLE_ROWS, share))
    cells = table.engine.sample_cells(_choose_drawn(columns), most, run)
    return {
        c.name: describe_values(c, cells[c.name]) for c in columns if c.name in cells
    }


def _choose_drawn(columns: Sequence[ColumnSummary]) -> list[str]:
    """By which columns rows are drawn: one that tells most apart, or several."""
    simple = [c for c in columns if c.kind != "other"]
    varied = sorted(simple, key=lambda c: (-c.distinct, c.kind == "text"))[:4]
    alone = [c for c in varied if c.varied]
    alone.sort(key=lambda c: c.kind == "text")  # a number is hashed faster
    return [c.name for c in (alone[:1] or varied)]


def describe_values(column: ColumnSummary, cells: Sequence[str | None]) -> Content:
    """What some values of a column look like."""
    present = [cell for cell in cells if cell is not None and cell.strip()]
    different = list(dict.fromkeys(present))
    if column.kind in ("text", "other"):
        found = _describe_texts(column, different)
    elif column.kind == "integer" and _are_long(different):
        pattern = find_pattern(different)
        found = replace(_measure(column.kind, present), pattern=pattern)
    else:
        found = _measure(column.kind, present)
    return replace(found, looked_at=len(present))


def _describe_texts(column: ColumnSummary, values: Sequence[str]) -> Content:
    pattern = find_pattern(values)
    unique = column.rows >= LEAST_VALUES and column.distinct * 5 >= column.rows * 4
    return Content(
        pattern=pattern,
        hidden="" if pattern else find_hidden(values),
        free_text=measure_fit(FREE_TEXT, values) >= 0.5 and len(values) > 5,
        names=(unique and measure_fit(FULL_NAMES, values) >= MOST)
        or (len(values) >= LEAST_VALUES and measure_fit(GIVEN, values) >= 0.5),
        topic=_topic(values),
        known=_find_known(values),
    )


LEAST_VALUES = 10
"""Of fewer values nobody can tell that they are names."""


def _topic(values: Sequence[str]) -> Topic | None:
    found = find_value_topic(values)
    return found[0] if found else None


def _find_known(values: Sequence[str]) -> str:
    """Sexes, origins, states, places: what the values say others may know."""
    plain = {strip_accents(v).casefold().strip().rstrip(".") for v in values}
    if len(plain) <= 4 and len(plain & SEX_VALUES) >= 2:
        return "sexes"
    if measure_words(values, MARITAL_VALUES) >= 0.5:
        return "marital status"
    if 1 < len(plain) <= 30 and measure_words(values, ORIGIN_VALUES) >= 0.5:
        return "origins"
    if len(plain & STATES) >= 2 and len(plain & STATES) * 5 >= len(plain) * 4:
        return "states"
    if plain and len(plain & PLACES) * 2 >= len(plain):
        return "places"
    return ""


def _are_long(values: Sequence[str]) -> bool:
    """Whether whole numbers are long enough to be numbers of people."""
    return bool(values) and all(len(value) >= 9 for value in values[:20])


def _measure(kind: str, cells: Sequence[str]) -> Content:
    """The distribution of numbers or dates."""
    read = (_read(kind, cell) for cell in cells if kind != "boolean")
    numbers = sorted(n for n in read if n is not None)
    if not numbers:
        return Content()
    last = len(numbers) - 1
    digits = {len(cell.lstrip("+-")) for cell in cells}
    return Content(
        quantiles=tuple(numbers[at * last // QUANTILES] for at in range(QUANTILES + 1)),
        whole=kind != "number" or all(n == int(n) for n in numbers),
        same_length=kind == "integer" and len(digits) == 1 and min(digits) >= 5,
    )


def _read(kind: str, cell: str) -> float | None:
    """A number, or the day of a date; None: infinite, or no number."""
    try:
        if kind in ("date", "datetime"):
            return float(datetime.fromisoformat(cell[:10]).toordinal())
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e300 else None
