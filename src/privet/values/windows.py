"""Windows of a number: who is how sure that it lies within some range of a given width.

`Within` is the width as a policy states it: a number, a share or days. `Windows` are a
column's values in an order in which each window is a run: of a width, from the least to
the largest number; of a share, first the negative ones away from 0, then 0, which is a
window of its own, then the positive ones. Windows that start at a value that occurs
suffice: any other holds no more than the one that starts at its first value.

Numbers are compared as they are shown, digit by digit: of a column of floats that is
the shortest text that gives the same float. So nothing is rounded at a window's edge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import NamedTuple

import numpy as np

from privet.errors import InputError
from privet.values.arrays import Ints
from privet.values.contingency import Domain
from privet.values.exact import Number, all_digits, fraction, quote_value

WIDTH, SHARE, DAYS = "width", "share", "days"
"""What a window's size counts: the number itself, a part of it, or days."""

NUMBERS = ("integer", "number")
DATES = ("date", "datetime")

PLAIN = re.compile(r"(-?)([0-9]{1,300})(\.([0-9]{1,300}))?")
"""A number in digits, with or without a point."""

RULE = 'within must be a width such as 500, a share such as "10 %" or "30 days"'


@dataclass(frozen=True)
class Within:
    """How wide the windows of a number are.

    >>> Within.read("10 %"), Within.read(500).to_dict()
    (Within(size=Fraction(1, 10), unit='share'), {'within': '500'})
    """

    size: Fraction
    """How wide; a tenth for 10 %."""
    unit: str = WIDTH
    """What that counts: `WIDTH`, `SHARE` or `DAYS`."""

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise InputError(
                f"{RULE}, above 0; got {self}. To guard the exact value, name the "
                "column alone."
            )

    @classmethod
    def read(cls, given: Number) -> Within:
        """A width from what a policy says."""
        text = given.strip() if isinstance(given, str) else given
        unit = WIDTH
        if isinstance(text, str) and text.endswith("%"):
            unit = SHARE
        elif isinstance(text, str) and (days := re.fullmatch(r"(.+?)\s*days?", text)):
            text, unit = days.group(1), DAYS
        try:
            size = fraction(text)
        except InputError:
            raise InputError(f"{RULE}; got {quote_value(given)}.") from None
        return cls(size, unit)

    @classmethod
    def from_key(cls, keys: Mapping[str, Number], what: str) -> Within:
        """A width from a table ``{ within = … }``."""
        if set(keys) != {"within"}:
            got = ", ".join(map(repr, keys)) or "nothing"
            raise InputError(
                f"{what} must be a value, several, or a table such as "
                f'{{ within = "10 %" }}; got a table with {got}.'
            )
        return cls.read(keys["within"])

    def to_dict(self) -> dict[str, str]:
        """As a policy writes it."""
        return {"within": str(self)}

    def __str__(self) -> str:
        if self.unit == SHARE:
            return f"{all_digits(self.size * 100)} %"
        days = " day" if self.size == 1 else " days"
        return all_digits(self.size) + (days if self.unit == DAYS else "")

    def covers(self, other: Within) -> bool:
        """Whether every window of the other lies in one of these."""
        return self.unit == other.unit and self.size >= other.size


class Span(NamedTuple):
    """The values of a window that occur: the lowest and the highest."""

    low: str
    high: str

    def __str__(self) -> str:
        return (
            self.low if self.low == self.high else f"between {self.low} and {self.high}"
        )

    def to_dict(self) -> dict[str, str]:
        """For machines."""
        return {"from": self.low, "to": self.high}


@dataclass(frozen=True, eq=False)
class Windows:
    """A column's values in an order in which each window is a run of places.

    >>> column = Domain("pay", ["30", "1", None, "12", "5", "11"], "integer")
    >>> ten = Windows.of(column, Within.read(10))
    >>> ten.place.tolist(), ten.stop.tolist()
    ([4, 0, 5, 3, 1, 2], [3, 4, 4, 4, 5])
    """

    domain: Domain
    """The column's values."""
    within: Within
    """How wide windows are."""
    code: Ints
    """The code of the value at each place."""
    stop: Ints
    """For the window that starts at each place, the first place beyond it."""
    falling: int = 0
    """So many first places stand from the highest number to the lowest."""

    @classmethod
    def of(cls, domain: Domain, within: Within, *, untyped: bool = False) -> Windows:
        """The windows of a column; `untyped`: its texts are numbers if they look so."""
        kind = domain.kind
        # Of nothing, and of moments with a zone, a file of texts tells no kind.
        empty = all(x is None for x in domain.labels)
        zoned = kind == "text" and within.unit == DAYS and _have_zones(domain)
        if empty or zoned or (untyped and kind == "text"):
            kind = DATES[1] if within.unit == DAYS else NUMBERS[1]
        require_kind(domain.name, kind, within)
        read = _read_day if kind in DATES else _read_number
        return cls.from_numbers(domain, within, [read(x) for x in domain.labels])

    @classmethod
    def from_numbers(
        cls, domain: Domain, within: Within, numbers: Sequence[Ratio | str | None]
    ) -> Windows:
        """The same from numbers by code; None: missing, a text: infinite, alone."""
        finite = [(x, c) for c, x in enumerate(numbers) if isinstance(x, tuple)]
        alone = [c for c, x in enumerate(numbers) if isinstance(x, str)]
        # 0.5 and 12 are 5 and 120: whole numbers compare fast, and exactly.
        scale = lcm(*{below for (_, below), _ in finite})
        whole = [(above * (scale // below), c) for (above, below), c in finite]
        if within.unit == SHARE:
            whole.sort(key=lambda each: (each[0] >= 0, abs(each[0]), each[1]))
            falling = sum(x < 0 for x, _ in whole)
        else:
            whole.sort()
            falling = 0
        values = [x for x, _ in whole]
        stop = _find_stops(values, falling, within, scale)
        single = range(len(values) + 1, len(values) + len(alone) + 1)
        return cls(
            domain,
            within,
            np.array([*(c for _, c in whole), *alone], dtype=np.int64),
            np.array([*stop, *single], dtype=np.int64),
            falling,
        )

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def place(self) -> Ints:
        """The place of each code; behind all of them where it is no number."""
        found = np.full(len(self.domain), len(self), dtype=np.int64)
        found[self.code] = np.arange(len(self))
        return found

    @cached_property
    def first(self) -> Ints:
        """For each place the first one whose window holds it."""
        # Stops rise: windows that end at or before a place are all first ones.
        return np.searchsorted(self.stop, np.arange(len(self)), side="right")

    def name_span(self, first: int, last: int) -> Span:
        """The values at two places of one window, the lower one first."""
        ends = [self.domain[int(self.code[p])] or "" for p in (first, last)]
        low, high = reversed(ends) if first < self.falling else ends
        return Span(low, high)

    def list_members(self, start: int) -> Ints:
        """The codes in the window that starts at a place."""
        return self.code[start : int(self.stop[start])]


def require_kind(column: str, kind: str, within: Within) -> None:
    """Only numbers and dates have windows, each of their own widths."""
    if kind not in (*NUMBERS, *DATES):
        raise InputError(
            f"within must be about a column of numbers or dates; {column!r} is {kind}. "
            "Promise something of its values instead, or read it as numbers."
        )
    if (kind in DATES) != (within.unit == DAYS):
        example = '"30 days"' if kind in DATES else '500 or "10 %"'
        raise InputError(
            f"within must be such as {example} for column {column!r}, which holds "
            f"{'dates' if kind in DATES else 'numbers'}; got {str(within)!r}."
        )


def _find_stops(
    values: Sequence[int], falling: int, within: Within, scale: int
) -> list[int]:
    """For each place the first one beyond the window that starts there."""
    if within.unit != SHARE:
        width = within.size * scale
        # 11 is within 10 of 1, also if the width is 10.5: 1 + 10.5 rounds down to 11.
        room = width.numerator // width.denominator
        return [bisect_right(values, x + room) for x in values]
    top, bottom = (1 + within.size).as_integer_ratio()
    sizes = [abs(x) for x in values]  # rise on each side of 0
    return [
        bisect_right(
            sizes,
            x * top // bottom,
            *((0, falling) if i < falling else (falling, len(sizes))),
        )
        for i, x in enumerate(sizes)
    ]


Ratio = tuple[int, int]
"""A number as a ratio of integers, not always in lowest terms."""


def _read_number(text: str | None) -> Ratio | str | None:
    """A cell as a number; infinities stay texts, what is not a number is missing."""
    if text is None:
        return None
    if (plain := PLAIN.fullmatch(text)) is not None:  # 12.5 is 125 tenths
        sign, whole, _, behind = plain.groups(default="")
        return int(sign + whole + behind), 10 ** len(behind)
    try:
        return fraction(text).as_integer_ratio()
    except InputError:
        low = text.strip().lower()
        if low in ("nan", "-nan", ""):
            return None
        if low.lstrip("+-") in ("inf", "infinity"):
            return low
        raise InputError(
            "within must be about a column of numbers; a value of it is none."
        ) from None


_ZONED = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{5,8}(\.[0-9]+)?[+-][0-9]{2}(:[0-9]{2})?"
)


def _have_zones(domain: Domain) -> bool:
    return all(x is None or _ZONED.fullmatch(x) for x in domain.labels)


def _read_day(text: str | None) -> Ratio | str | None:
    """A date or a time as days since the year 1, with parts of a day."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if text.strip().lower().lstrip("+-") in ("inf", "infinity"):
            return text
        raise InputError(
            "within must be about a column of dates from the year 1 to 9999; a value "
            "of it is none."
        ) from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    passed = moment - datetime.min
    second = passed.days * 86_400 + passed.seconds
    return second * 10**6 + passed.microseconds, 86_400 * 10**6
