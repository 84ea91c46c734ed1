"""Hierarchies for columns that have none: dates, numbers, codes and texts.

Dates go from the day to month, quarter, year, decade; numbers to round intervals, each
made of whole finer ones; bins to two neighbours, four, eight; codes of one length, such
as postal codes, to shorter and shorter prefixes; ordered values to runs of two, four,
eight; all others to `*` at once. What a label says follows from the value alone (but
for runs), so that a later delivery has the same labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import count, pairwise

from privet.values.contingency import Domain
from privet.values.hierarchies import TOP, Hierarchy
from privet.values.schema import Bins

NUMBERS = ("integer", "number")
DATES = ("date", "datetime")

CODE = re.compile(r"[0-9A-Z][0-9A-Z -]{2,9}")
"""What postal codes and other codes look like: letters and digits, three to ten."""

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
"""How dates and times begin."""

FEWER = 0.9
"""A level of intervals has at most so many of those below it."""

Label = Callable[[str], str]
"""What a value is called at a level."""


def build_hierarchy(
    domain: Domain, order: Sequence[str] = (), bins: Bins | None = None
) -> Hierarchy:
    """The levels above the values of a column, by what they are.

    >>> ages = Domain("age", ["17", "18", "21", "27", "38"], "integer")
    >>> build_hierarchy(ages).path("21")
    ('21', '20 to below 25', '20 to below 30', '*')
    >>> zips = Domain("zip", [None, "01234", "01299", "99999"])
    >>> build_hierarchy(zips).path("01299")
    ('01299', '012…', '*')
    """
    values = [v for v in domain.labels if v is not None]
    taken = set(values)
    levels: Iterable[dict[str, str]]
    if bins is not None:
        levels = _merge_bins(bins, values)
    elif order:
        levels = _build_runs([v for v in order if v in taken])
    elif domain.kind in NUMBERS:
        levels = _list_intervals(values)
    else:
        named = (map(label, values) for label in _list_labels(domain, values))
        levels = (dict(zip(values, own, strict=True)) for own in named)
    # Where a value is called *, another word stands for anything.
    top = next(name for name in _list_tops() if name not in taken)
    kept = _drop_idle(levels, values, top)
    paths = {v: (*(own[v] for own in kept), top) for v in values}
    return Hierarchy(paths or {"": (TOP,)}, f"The hierarchy of {domain.name!r}")


def _list_tops() -> Iterator[str]:
    yield TOP
    yield "any value"
    for n in count(2):
        yield f"any value ({n})"


def _list_labels(domain: Domain, values: Sequence[str]) -> list[Label]:
    if domain.kind in DATES:
        plain = all(DAY.match(v) for v in values)  # not infinity, nor the year 12024
        return list(_list_periods()) if plain else []
    if values and all(CODE.fullmatch(v) and any(map(str.isdigit, v)) for v in values):
        lengths = {len(v) for v in values}
        if len(lengths) == 1:
            return [_cut_prefix(n) for n in range(lengths.pop() - 1, 0, -1)]
    return []


def _drop_idle(
    levels: Iterable[dict[str, str]], values: Sequence[str], top: str
) -> list[dict[str, str]]:
    """Without levels that merge nothing, and those that merge everything: `*` does.

    Nor has a hierarchy levels with a name that means something else elsewhere.
    """
    found: list[dict[str, str]] = []
    below, taken = {v: v for v in values}, {*values, top}
    before = len(values)
    for own in levels:
        names = set(own.values())
        if not 1 < len(names) < before:
            continue
        # A run of one value may be called as it is: it means the same.
        if all(_means_same(name, below, own) for name in names & taken):
            found.append(own)
            below, before = own, len(names)
            taken |= names
    return found


def _means_same(name: str, below: dict[str, str], own: dict[str, str]) -> bool:
    """Whether a name stands for the same values at two levels."""
    inside = {v for v, called in below.items() if called == name}
    return inside == {v for v, called in own.items() if called == name}


# Dates ------------------------------------------------------------------------------


def _list_periods() -> Iterator[Label]:
    """Day (of a time), month, quarter, year, decade."""
    yield lambda v: v[:10]
    yield lambda v: v[:7]
    yield lambda v: f"{v[:4]} quarter {(date.fromisoformat(v[:10]).month + 2) // 3}"
    yield lambda v: f"year {v[:4]}"
    yield lambda v: f"{v[:3]}0s"
    yield lambda v: f"century {v[:2]}00"


# Numbers ----------------------------------------------------------------------------


def _list_intervals(values: Sequence[str]) -> Iterator[dict[str, str]]:
    """Intervals of 5, 10, 50, 100, …, from the first that is wider than a gap."""
    read = [Decimal(v) for v in values]
    if not all(n.is_finite() for n in read):
        return
    # As whole numbers of the last digit that any has: 2.5 and 0.25 are 250 and 25.
    last = min((int(n.as_tuple().exponent) for n in read), default=0)
    whole = [_count_units(n, last) for n in read]
    numbers = sorted(set(whole))
    if len(numbers) < 2:
        return
    gap = min(b - a for a, b in pairwise(numbers))
    span, before = numbers[-1] - numbers[0], len(numbers)
    for power in count(len(str(gap)) - 1):
        for digit in (5, 10):
            step = digit * 10**power
            several = len({n // step for n in numbers})
            if several <= before * FEWER:
                before = several
                yield _cut_intervals(values, whole, digit, (power, last))
            if step > 2 * span:
                return


def _count_units(number: Decimal, last: int) -> int:
    """A number in units of a power of ten, exactly."""
    sign, digits, exponent = number.as_tuple()
    size: int = int("".join(map(str, digits))) * 10 ** (int(exponent) - last)
    return -size if sign else size


def _cut_intervals(
    values: Sequence[str], whole: Sequence[int], digit: int, power: tuple[int, int]
) -> dict[str, str]:
    step, written = digit * 10 ** power[0], sum(power)
    low = [number // step for number in whole]
    named = {
        n: f"{_write(n * digit, written)} to below {_write((n + 1) * digit, written)}"
        for n in set(low)
    }
    return {value: named[n] for value, n in zip(values, low, strict=True)}


def _write(number: int, power: int) -> str:
    """Plain digits: 25 and -1 are 2.5."""
    text = f"{Decimal(f'{number}E{power}'):f}"
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text


# Codes and runs ---------------------------------------------------------------------


def _cut_prefix(length: int) -> Label:
    return lambda value: f"{value[:length]}…"


def _merge_bins(bins: Bins, values: Sequence[str]) -> list[dict[str, str]]:
    """Two neighbouring bins, four, eight, …, named as bins are."""
    place = {label: i for i, label in enumerate(bins.labels())}
    if not place.keys() >= set(values):
        return []
    found, size = list[dict[str, str]](), 2
    while edges := bins.edges[size - 1 :: size]:
        names = Bins(edges).labels()
        found.append({v: names[place[v] // size] for v in values})
        size *= 2
    return found


def _build_runs(order: Sequence[str]) -> list[dict[str, str]]:
    """Two neighbours, four, eight, …: from the first to the last of each run."""
    found, size = list[dict[str, str]](), 2
    while size < len(order):
        runs = {}
        for i, value in enumerate(order):
            first = i - i % size
            last = min(first + size, len(order)) - 1
            alone = first == last
            runs[value] = value if alone else f"{order[first]} to {order[last]}"
        found.append(runs)
        size *= 2
    return found
