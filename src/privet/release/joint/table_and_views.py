"""A table and views of the same rows: at most how sure somebody is who has both.

Views tell which rows occur, not how often. A raw row is allowed if every view holds
what it would show. Of the people of one class of the table at most all have a known
value and a value asked about, if an allowed row of the class has both, and at least all
of them, if all allowed rows do. Where few worlds are left they are listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

from privet.errors import TooLarge
from privet.release.joint.labelled_rows import LabelledRows, PseudoTable
from privet.release.joint.same_rows import Labels

MOST_WORLDS = 1_000_000
"""Worlds, and allowed rows, that are listed."""


@dataclass(frozen=True, eq=False)
class TableAndViews:
    """A table that counts rows, and views of them that only tell which occur."""

    source: LabelledRows
    table: PseudoTable
    views: tuple[PseudoTable, ...]
    columns: tuple[str, ...]
    """The columns that matter: those of views, those known, the one asked about."""

    @cached_property
    def _rows(self) -> Counter[Labels]:
        at = [self.source.columns.index(c) for c in self.columns]
        found: Counter[Labels] = Counter()
        for row, n in self.source.rows.items():
            found[tuple(row[i] for i in at)] += n
        return found

    def _label(self, file: PseudoTable) -> list[tuple[int, Labels]]:
        """Which columns a file shows, and the labels of their values."""
        return [
            (i, file.columns[c].label_values(self.source.list_values(c)))
            for i, c in enumerate(self.columns)
            if c in file.columns
        ]

    @staticmethod
    def _show(shown: Sequence[tuple[int, Labels]], row: Labels) -> Labels:
        return tuple(labels[row[i]] for i, labels in shown)

    @cached_property
    def people(self) -> Counter[Labels]:
        """M: people of each class of the table."""
        found: Counter[Labels] = Counter()
        shown = self._label(self.table)
        for row, n in self._rows.items():
            found[self._show(shown, row)] += n
        return found

    @cached_property
    def _told(self) -> list[tuple[list[tuple[int, Labels]], set[Labels]]]:
        """What each view shows of which columns."""
        shown = [self._label(v) for v in self.views]
        return [(s, {self._show(s, row) for row in self._rows}) for s in shown]

    @cached_property
    def allowed(self) -> dict[Labels, list[Labels]]:
        """The raw rows of each class that every view holds.

        Raises
        ------
        TooLarge
            Where too many raw rows would have to be looked at.
        """
        sizes = [len(self.source.list_values(c)) for c in self.columns]
        if prod(sizes) > MOST_WORLDS:
            raise TooLarge(
                f"At most {MOST_WORLDS} combinations of values can be looked at; the "
                f"columns of a table and its views have {prod(sizes)}."
            )
        table, found = self._label(self.table), defaultdict(list)
        for row in product(*map(range, sizes)):
            at = self._show(table, row)
            if at in self.people and all(
                self._show(s, row) in t for s, t in self._told
            ):
                found[at].append(row)
        return dict(found)

    def _find_fits(
        self, known: Sequence[int], about: int
    ) -> Iterator[tuple[int, set[tuple[Labels, int]]]]:
        """People of each class, and the known values and values they may have."""
        for at, rows in self.allowed.items():
            fits = {(tuple(row[i] for i in known), row[about]) for row in rows}
            yield self.people[at], fits

    def bounds(
        self, known: Sequence[str], about: str
    ) -> dict[Labels, dict[int, Fraction]]:
        """For each known raw row: no belief in a value is above this."""
        at, asked = [self.columns.index(c) for c in known], self.columns.index(about)
        most: dict[Labels, Counter[int]] = defaultdict(Counter)
        least: dict[Labels, Counter[int]] = defaultdict(Counter)
        for people, fits in self._find_fits(at, asked):
            for values, value in fits:
                most[values][value] += people
                if len(fits) == 1:
                    least[values][value] += people
        return {
            values: {
                v: Fraction(n, n + least[values].total() - least[values][v])
                for v, n in counts.items()
            }
            for values, counts in most.items()
        }

    @cached_property
    def worlds(self) -> int:
        """How many ways there are to give the people of each class allowed rows."""
        return prod(
            comb(len(rows) + self.people[at] - 1, self.people[at])
            for at, rows in self.allowed.items()
        )

    def beliefs(
        self, known: Sequence[str], about: str
    ) -> dict[Labels, dict[int, Fraction]]:
        """For each known raw row how sure one is of each value, by listing.

        Raises
        ------
        TooLarge
            Where too many worlds would have to be listed.
        """
        if self.worlds > MOST_WORLDS:
            raise TooLarge(
                f"At most {MOST_WORLDS} worlds can be listed; {self.worlds} fit the "
                "table."
            )
        at, asked = [self.columns.index(c) for c in known], self.columns.index(about)
        found: dict[Labels, Counter[int]] = defaultdict(Counter)
        for ways, world in self._list_worlds():
            for row in world:
                found[tuple(row[i] for i in at)][row[asked]] += ways
        return {
            values: {v: Fraction(n, counts.total()) for v, n in counts.items()}
            for values, counts in found.items()
        }

    def _list_worlds(self) -> Iterator[tuple[int, list[Labels]]]:
        """Everybody's rows, and in how many ways people may have them."""
        choices = [
            combinations_with_replacement(rows, self.people[at])
            for at, rows in self.allowed.items()
        ]
        for chosen in product(*choices):
            world = [row for rows in chosen for row in rows]
            if all({self._show(s, row) for row in world} == t for s, t in self._told):
                yield prod(map(_count_orders, chosen)), world


def _count_orders(rows: Sequence[Labels]) -> int:
    """In how many ways people may have these rows: a, a, b in three."""
    same = prod(factorial(n) for n in Counter(rows).values())
    return factorial(len(rows)) // same
