"""How frequent the values of a sensitive column are: no limit is below the commonest.

Whatever is hidden, somebody who knows nothing of a person guesses the commonest value,
and is right as often as it occurs. Values are named in a draft only where many people
share them, so that nobody's cell stands there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privet.draft.guess_roles import Guess
from privet.engine.protocol import ColumnSummary, CountQuery, Run
from privet.table import Table
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.schema import Roles
from privet.values.windows import NUMBERS, Windows, Within

MANY_PEOPLE = 20
"""So many people must share a value before a draft may name it."""

MOST_PROMISES = 40
"""More sensitive columns have no promise of their own in a draft."""

FEW_NUMBERS = 15
"""Numbers with more values are guarded by windows, not value by value."""

FEW_NAMED = 8
"""More values are not named one by one."""


@dataclass(frozen=True)
class CommonValues:
    """The shares of a sensitive column's values in everybody."""

    most: Fraction
    """Of the commonest value."""
    rarer: Mapping[str, Fraction] | None = None
    """Of all other values, where they are few and many people share each; missing
    values aside. None: they are not named."""
    window: Fraction | None = None
    """Of a number: of the fullest window of `CLOSE`; None: there is none."""


CLOSE = Within.read("10 %")
"""So close to a number is too close, in a draft."""


def count_shares(
    table: Table,
    guesses: Sequence[Guess],
    run: Run,
    columns: Sequence[ColumnSummary] = (),
) -> dict[str, CommonValues]:
    """The shares of values in each column that is guessed to be sensitive.

    People or weights are counted where a column was guessed to tell them. Where most
    rows have a value of their own, none is frequent, and nothing is counted.
    """
    named = {g.role: g.name for g in guesses}
    roles = Roles(unit=named.get("unit"), weight=named.get("weight"))
    plain = roles == Roles()
    spread = {c.name for c in columns if plain and _is_spread(c)}
    counted = table.with_roles(roles)
    secret = [g.name for g in guesses if g.role == "sensitive"][:MOST_PROMISES]
    shares = {name: CommonValues(Fraction(0)) for name in secret if name in spread}
    wide = {c.name for c in columns if has_windows(c)}
    tallies = [CountQuery((), n) for n in secret if n not in spread or n in wide]
    for tally, everybody in counted.count(tallies, run):
        shares[tally.about] = _weigh_values(everybody)
        if tally.about in wide:
            fullest = _weigh_windows(everybody)
            shares[tally.about] = replace(shares[tally.about], window=fullest)
    return shares


def has_windows(column: ColumnSummary) -> bool:
    """Whether a column has so many numbers that being close to one tells enough."""
    return column.kind in NUMBERS and column.distinct > FEW_NUMBERS


def _weigh_windows(everybody: EquivalenceClasses) -> Fraction:
    """The share of everybody in the fullest window."""
    windows = Windows.of(everybody.about, CLOSE)
    counts = np.zeros(len(windows) + 1, dtype=np.int64)
    np.add.at(counts, windows.place[everybody.value], everybody.n)
    before = np.concatenate([[0], np.cumsum(counts)])
    inside = before[windows.stop] - before[np.arange(len(windows))]
    whole = int(everybody.total.sum())
    return Fraction(int(inside.max(initial=0)), whole) if whole else Fraction(0)


def _is_spread(column: ColumnSummary) -> bool:
    """Whether no value can be as frequent as four in ten, by the number of values.

    Of 100 rows with 61 values, 61 rows have one each; 39 are left for the commonest.
    """
    return column.rows >= 1_000 and column.distinct * 10 > column.rows * 6


def _weigh_values(everybody: EquivalenceClasses) -> CommonValues:
    """The shares in the one group that everybody is in."""
    whole, n = int(everybody.total.sum()), everybody.n
    if not whole or not len(n):
        return CommonValues(Fraction(0))
    most, top = Fraction(int(n.max()), whole), int(n.argmax())
    others = {
        everybody.about[everybody.value[at]]: int(n[at])
        for at in range(min(len(n), FEW_NAMED + 3))
        if at != top and n[at]
    }
    others.pop(None, None)
    few = len(n) <= FEW_NAMED + 2 and 0 < len(others) <= FEW_NAMED
    if not few or min(others.values()) < MANY_PEOPLE:
        return CommonValues(most)
    return CommonValues(most, {str(v): Fraction(k, whole) for v, k in others.items()})
