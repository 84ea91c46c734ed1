"""The levelwise search for rules (columns → value): small sets of columns first.

A rule: some group of the columns with at least `support` people has a share of the
value above the confidence. It is minimal if no smaller set of its columns is a rule for
the value. One count of a set serves all values. Three things are left out, and each is
right for rows, weights and people alike:

- supersets of a rule, which are not minimal, by the definition;
- values whose share in everybody is above the confidence: the empty set is their rule;
- supersets of a set none of whose groups has both `support` people and more than
  confidence · `support` with the value: parts of a group have no more of either.

"A large set is safe, so its subsets are" is never used: it fails for a support above 1,
since a large set may be safe because its groups are small, and for people with several
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import CountQuery, Progress, Run
from privet.errors import TooLarge
from privet.microdata.list_columns import Set, count_by_member, list_members, read_sets
from privet.microdata.worst_linkage import LinkageCase
from privet.table import Table
from privet.values import exact
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Columns = tuple[str, ...]

MOST_SETS = 200_000
"""Sets of columns that one search may have to look at."""

MOST_RULES = 50_000
"""Rules that are kept; the search ends there."""

SETS_AT_ONCE = 32
"""Sets of columns that a database counts together; twice as many for people."""

DOING = "looking for rules"
"""What progress says."""


@dataclass(frozen=True)
class Sought:
    """What is looked for."""

    known: Mapping[str, Columns]
    """For each column that may be given away, the columns that may be known."""
    values: Mapping[str, tuple[object, ...] | None]
    """The values of it that matter; None: every value."""
    confidence: Fraction
    """A rule is surer than this."""
    columns: int
    """Known columns of a rule, at the most."""
    support: int
    """People of a group, at the least."""

    def count_sets(self, size: int) -> int:
        """How many sets of so many columns there are, over all columns given away."""
        return sum(comb(len(known), size) for known in self.known.values())

    def list_sizes(self) -> range:
        """How many columns are known, from one."""
        longest = max((len(k) for k in self.known.values()), default=0)
        return range(1, min(self.columns, longest) + 1)


@dataclass(frozen=True)
class FoundRule:
    """One minimal rule, as it was counted."""

    columns: Columns
    about: str
    case: LinkageCase
    """The group that gives most away."""
    people: int
    """People of all groups beyond the confidence that are large enough."""
    groups: int
    """How many groups these are."""
    audited: Fraction
    """The highest share in any group, however small."""


@dataclass
class ValueTally:
    """What one value comes to in the groups of one set."""

    people: int = 0
    groups: int = 0
    case: LinkageCase | None = None
    audited: Fraction = Fraction(0)

    def add(self, case: LinkageCase | None, people: int, groups: int) -> None:
        """Some more groups that are large enough, the worst of them first."""
        self.people += people
        self.groups += groups
        if case is not None and (self.case is None or case.worse_than(self.case)):
            self.case = case


@dataclass
class SetFold:
    """The groups of one set of columns as they pass by."""

    sought: Sought
    open: Flags
    """Values that no smaller set gives away."""
    found: dict[int, ValueTally] = field(default_factory=dict)
    """By value, where some group is beyond the confidence."""
    alive: Flags | None = None
    """Values that some group has often enough to be a rule of a larger set."""

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        whole = batch.total[batch.group]
        wanted = self.open[batch.value]
        self._note_alive(batch, whole, wanted)
        above = wanted & exact.exceeds(batch.n, whole, self.sought.confidence)
        rows = np.flatnonzero(above)
        # Rows of each value together, in the order of the table within it.
        rows = rows[np.argsort(batch.value[rows], kind="stable")]
        edges = np.flatnonzero(np.diff(batch.value[rows])) + 1
        for own in np.split(rows, edges) if len(rows) else ():
            self._add_value(batch, own, whole[own])

    def _note_alive(
        self, batch: EquivalenceClasses, whole: Ints, wanted: Flags
    ) -> None:
        support, level = self.sought.support, self.sought.confidence
        if support == 1:  # one person with the value is enough
            self.alive = self.open
            return
        if self.alive is None:
            self.alive = np.zeros(len(self.open), dtype=bool)
        # More than level · support of them: 3 of 6 at support 4 and level 1/2.
        least = int(level * support) + 1
        enough = wanted & (whole >= support) & (batch.n >= least)
        self.alive[batch.value[enough]] = True

    def _add_value(
        self, batch: EquivalenceClasses, rows: NDArray[np.intp], whole: Ints
    ) -> None:
        tally = self.found.setdefault(int(batch.value[rows[0]]), ValueTally())
        worst = _find_worst(batch, rows, whole)
        tally.audited = max(tally.audited, worst.belief)
        large = whole >= self.sought.support
        if not large.any():
            return
        if not large.all():
            rows, whole = rows[large], whole[large]
            worst = _find_worst(batch, rows, whole)
        tally.add(worst, int(whole.sum()), len(rows))

    def list_rules(self, columns: Columns, about: str) -> Iterator[FoundRule]:
        """The values that this set gives away, in the order of their codes."""
        for _, tally in sorted(self.found.items()):
            if tally.case is not None:
                yield FoundRule(
                    columns,
                    about,
                    tally.case,
                    tally.people,
                    tally.groups,
                    tally.audited,
                )

    def select_open(self) -> Flags:
        """The values that larger sets may give away first."""
        left = self.open & (self.alive if self.alive is not None else False)
        gone = [code for code, tally in self.found.items() if tally.case is not None]
        left[gone] = False
        return left


def _find_worst(
    batch: EquivalenceClasses, rows: NDArray[np.intp], whole: Ints
) -> LinkageCase:
    """The surest of some rows; of equals the largest, of those the first."""
    part = batch.n[rows]
    ties = exact.find_highest(part, whole)
    best = ties[np.argmax(part[ties])]
    row = int(rows[best])
    group, value = int(batch.group[row]), int(batch.value[row])
    return LinkageCase(
        int(part[best]),
        int(whole[best]),
        batch.labels(group),
        batch.about[value],
        (*batch.keys[group], value),
    )


class LevelwiseSearch:
    """Looks at one size of sets after the other; what is found is final at any time."""

    def __init__(self, table: Table, sought: Sought, run: Run) -> None:
        self._table = table
        self._sought = sought
        self._run = run
        self._open: dict[tuple[Columns, str], Flags] = {}
        self._lists: dict[str, tuple[list[Set], Domain]] = {}
        self.everybody: dict[str, EquivalenceClasses] = {}
        """The one group of everybody, for each column that may be given away."""
        self.rules: list[FoundRule] = []
        """What is found so far."""
        self.looked = dict.fromkeys(sought.list_sizes(), 0)
        """Sets of each size that were looked at, or needed no look."""
        self.counted = 0
        """Sets that were counted."""
        number = sum(map(sought.count_sets, sought.list_sizes()))
        if number > MOST_SETS:
            raise TooLarge(
                f"Up to {sought.columns} known columns are {number:,} sets of columns; "
                f"at most {MOST_SETS:,} are looked at. Lower columns, or name those "
                "that may be known."
            )

    @property
    def is_full(self) -> bool:
        """Whether no more rules are kept."""
        return len(self.rules) >= MOST_RULES

    # Everybody ------------------------------------------------------------------------

    def count_everybody(self, domains: Mapping[str, Domain]) -> None:
        """The share of each value in everybody; values beyond need no column."""
        for column in self._sought.known:
            if (sets := read_sets(self._table, domains[column])) is not None:
                self._lists[column] = (sets, list_members(domains[column], sets))
        for query, batch in self._count([((), a) for a in self._sought.known]):
            self.everybody[query.about] = batch
        for column, batch in self.everybody.items():
            fold = SetFold(self._sought, self.select_asked(column, batch.about))
            fold.add(batch)
            # A share above the confidence is everybody's, whatever the support is.
            for code in fold.found:
                fold.open[code] = False
            self._open[(), column] = fold.select_open()

    def select_asked(self, column: str, domain: Domain) -> Flags:
        """The values of a column that matter."""
        values = self._sought.values[column]
        if values is None:
            return np.ones(len(domain), dtype=bool)
        chosen = np.zeros(len(domain), dtype=bool)
        codes = (domain.code(v) for v in values)
        chosen[[c for c in codes if c is not None]] = True
        return chosen

    # Levels ---------------------------------------------------------------------------

    def walk(self) -> None:
        """Look at all sets; whatever stops it, what was found stays."""
        for size in self._sought.list_sizes():
            self._walk_level(size)

    def _walk_level(self, size: int) -> None:
        before, self._open = self._open, {}
        todo: dict[tuple[Columns, str], Flags] = {}
        skipped = 0
        at_once = 1 if isinstance(self._table.engine, InMemory) else SETS_AT_ONCE
        for columns, about in self._list_sets(size):
            open_ = _intersect_open(before, columns, about)
            if open_ is None or not open_.any():
                skipped += 1
                continue
            todo[columns, about] = open_
            if len(todo) >= at_once:
                self._look_at(todo, size, skipped)
                todo, skipped = {}, 0
                if self.is_full:
                    return
        self._look_at(todo, size, skipped)

    def _list_sets(self, size: int) -> Iterator[tuple[Columns, str]]:
        every = dict.fromkeys(c for k in self._sought.known.values() for c in k)
        names = [c for c in self._table.schema.names if c in every]
        for columns in combinations(names, size):
            for about, known in self._sought.known.items():
                if set(columns) <= set(known):
                    yield columns, about

    def _look_at(
        self, todo: Mapping[tuple[Columns, str], Flags], size: int, skipped: int
    ) -> None:
        """Count some sets; only when all are counted is anything changed."""
        self._tell(size)
        folds = {
            CountQuery(columns, about): SetFold(self._sought, open_)
            for (columns, about), open_ in todo.items()
        }
        if todo:
            for query, batch in self._count(list(todo)):
                folds[query].add(batch)
        found = [r for q, f in folds.items() for r in f.list_rules(q.by, q.about)]
        if size < self._sought.columns:
            for query, fold in folds.items():
                self._open[query.by, query.about] = fold.select_open()
        # In this order: whoever stops between two lines is told of less, never of more.
        self.rules += found
        self.counted += len(folds)
        self.looked[size] += len(folds) + skipped

    def _count(
        self, sets: Sequence[tuple[Columns, str]]
    ) -> Iterator[tuple[CountQuery, EquivalenceClasses]]:
        self._run.check()
        for query, batch in self._table.count(
            [CountQuery(columns, about) for columns, about in sets], self._run
        ):
            if query.about in self._lists:
                yield query, count_by_member(batch, *self._lists[query.about])
            else:
                yield query, batch

    def _tell(self, size: int) -> None:
        """How much of this level is done."""
        sizes = self._sought.list_sizes()
        share = self.looked[size] / max(self._sought.count_sets(size), 1)
        self._run.tell(Progress(DOING, size, sizes[-1], min(share, 0.99), None))


def _intersect_open(
    before: Mapping[tuple[Columns, str], Flags], columns: Columns, about: str
) -> Flags | None:
    """The values that no subset gives away; None where a subset has none left."""
    left: Flags | None = None
    for smaller in combinations(columns, len(columns) - 1):
        own = before.get((smaller, about))
        if own is None:
            return None
        left = own.copy() if left is None else left & own
    return left
