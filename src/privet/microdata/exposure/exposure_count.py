"""The count behind exposure: beside the judges where it can be, of its own else.

Promises about all known columns count the very groups that exposure is about. So the
table that is judged is watched, and only what nobody counted is counted afterwards.
Two and three columns come last, since nothing waits for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import comb
from operator import add

from privet.engine.protocol import CountQuery, Run
from privet.errors import Stopped, TooLarge
from privet.findings import Finding
from privet.languages import mark
from privet.microdata.exposure.coverage import (
    find_uncovered,
    list_accepted,
    list_limits,
)
from privet.microdata.exposure.exposure import (
    MOST_SETS,
    MOST_WORK,
    Beyond,
    ColumnExposure,
    Exposure,
    FewColumns,
    expose_few_columns,
)
from privet.microdata.groups import Groups
from privet.microdata.list_columns import (
    HeldMembers,
    Set,
    count_by_member,
    list_members,
    read_sets,
)
from privet.policy import Accepted, Measure, Promise
from privet.table import Table
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Windows, Within

MOST_KEPT = 4_000_000
"""Rows of histograms that are kept for sets of two and three columns."""

FEW = (1, 2, 3)
"""How many columns somebody knows at the most, where few are known."""

NO_TIME = mark("The time ran out before what few columns tell was counted.")
TOO_MANY = mark(
    "What at most two or three columns tell was not counted: there are too many "
    "groups. Give --max-seconds to allow the time."
)
BOXES = mark(
    "Groups overlap for somebody who knows fewer columns, who is certain of no more "
    "people than somebody who knows all."
)
SEVERAL_ROWS = mark(
    "Somebody with several rows is counted in each of their groups, so that the "
    "figures are upper bounds."
)


@dataclass
class ColumnCount:
    """One sensitive column while groups pass by."""

    tally: CountQuery
    """The groups of all known columns."""
    known: tuple[str, ...]
    """The known columns, as people call them."""
    limits: tuple[Beyond, ...]
    """What the policy limits, before values have codes."""
    fold: ColumnExposure | None = None
    """What was counted so far."""
    complete: bool = False
    """Whether all groups were seen."""
    kept: list[EquivalenceClasses] = field(default_factory=list)
    """The groups, as long as they are not too many."""
    rows: int = 0
    """Rows of histograms seen."""
    sets: tuple[Domain, list[Set]] | None = None
    """The members of a column of lists."""

    def add(self, groups: EquivalenceClasses) -> None:
        """Some more whole groups."""
        held = None
        if self.sets is not None:
            lists, (members, sets) = groups, self.sets
            groups = count_by_member(lists, sets, members)
            held = HeldMembers.of(lists, sets, groups)
        if self.fold is None:
            self.fold = self._start(groups.about)
        self.fold = self.fold.add(groups, held)
        self.rows += len(groups.n)
        if self.rows <= MOST_KEPT:
            self.kept.append(groups)
        else:
            self.kept.clear()

    def _start(self, domain: Domain) -> ColumnExposure:
        beyond = tuple(
            replace(b, values=None if b.about is None else _find_codes(b.about, domain))
            for b in self.limits
        )
        return ColumnExposure(self.tally.about, beyond, self.known)

    def forget(self) -> None:
        """Begin anew: a count was given up half-way."""
        self.fold, self.rows = None, 0
        self.kept.clear()


def _find_codes(
    values: Sequence[object] | Within, domain: Domain
) -> tuple[int, ...] | Windows:
    if isinstance(values, Within):  # judges refuse texts of tables before
        return Windows.of(domain, values, untyped=True)
    codes = (domain.code(v) for v in values)
    return tuple(c for c in codes if c is not None)


@dataclass(eq=False)
class ExposureWatch:
    """Counts what a table exposes while its promises are judged."""

    table: Table
    """What is judged."""
    stated: Sequence[Promise | Measure]
    """What is promised of it."""
    accepted: Sequence[Accepted]
    """What is not, and accepted by name."""
    wanted: bool
    """Whether anything is to be counted."""

    def __post_init__(self) -> None:
        roles = self.table.roles
        self.columns: dict[str, ColumnCount] = {}
        for column in roles.sensitive if self.wanted else ():
            limits = list_limits(self.stated, column, roles.sensitive)
            self.columns[column] = ColumnCount(
                CountQuery(self._list_known(column), column),
                self._name_known(column),
                tuple(Beyond(limit, about=values) for limit, values in limits),
            )

    @property
    def watched(self) -> Table:
        """The table, whose counts are looked at from here."""
        return replace(self.table, onlooker=self) if self.columns else self.table

    # What is counted for others -----------------------------------------------------

    def look(self, table: Table, tally: CountQuery, groups: EquivalenceClasses) -> None:
        """Take the groups of all known columns, whoever they were counted for."""
        if (at := self._find(table, tally)) is not None:
            if at.fold is None:
                self._read_sets(at, groups.about)
            at.add(groups)

    def end(self, table: Table, tallies: Sequence[CountQuery]) -> None:
        """These counts are complete."""
        for tally in tallies:
            if (at := self._find(table, tally)) is not None:
                at.complete = True

    def _find(self, table: Table, tally: CountQuery) -> ColumnCount | None:
        """The column whose groups these are, unless they were seen before."""
        at = self.columns.get(tally.about)
        same = table.roles == self.table.roles
        same = same and table.relabels == self.table.relabels
        if at is None or at.complete or at.tally != tally or not same:
            return None
        return at

    def _read_sets(self, at: ColumnCount, domain: Domain) -> None:
        sets = read_sets(self.table, domain)
        at.sets = None if sets is None else (list_members(domain, sets), sets)

    # What is left to count ----------------------------------------------------------

    def finish(self, run: Run) -> tuple[Exposure | None, list[Finding]]:
        """What is exposed, and what of it no promise covers."""
        told = self._count(run) if self.wanted else None
        given = (self.table, self.stated, self.accepted)
        if told is not None:
            told = replace(told, accepted=tuple(list_accepted(*given, told)))
        return told, find_uncovered(*given, told)

    def _count(self, run: Run) -> Exposure:
        left = [at for at in self.columns.values() if not at.complete]
        for at in left:
            at.forget()
        notes: dict[str, None] = {}
        if left:
            plain = replace(self.table, onlooker=self)
            try:
                for _ in plain.count([at.tally for at in left], run):
                    pass
            except Stopped as stop:
                notes[str(stop)] = None
        found = [
            self._add_few(at, run, notes)
            for at in self.columns.values()
            if at.complete and at.fold is not None
        ]
        if not self.columns:
            return self._count_unique(run)
        if any(c.at_most for c in found):
            notes[SEVERAL_ROWS] = None
        return self._put_together(found, tuple(notes))

    def _count_unique(self, run: Run) -> Exposure:
        """How many people are unique where no column is sensitive."""
        *first, last = self._list_known() or (None,)
        if last is None:
            return Exposure()
        people = unique = 0
        try:
            for _, groups in self.table.count([CountQuery(tuple(first), last)], run):
                people += int(groups.total.sum())
                unique += int((groups.n == 1).sum())
        except Stopped as stop:
            return Exposure(known=(*first, last), notes=(str(stop),))
        return Exposure((), people, unique, (*first, last))

    def _list_known(self, about: str | None = None) -> tuple[str, ...]:
        """The known columns, in the order of the table, as judges name them."""
        names = self.table.schema.names
        known = self.table.roles.list_known(about)
        return tuple(sorted((c for c in known if c in names), key=names.index))

    def _name_known(self, about: str | None = None) -> tuple[str, ...]:
        """The known columns by their own names, where a release shows others."""
        known, shown = self._list_known(about), self.table.shown
        if shown is None:
            return known
        beside = (c for c in known if c not in shown.by)
        return tuple(dict.fromkeys((*shown.known, *beside)))

    def _put_together(
        self, found: Sequence[ColumnExposure], notes: tuple[str, ...]
    ) -> Exposure:
        """One value; people are told apart best by the largest set of columns."""
        return Exposure(
            tuple(found),
            max((c.people for c in found), default=0),
            max((c.unique for c in found), default=0),
            self._name_known(),
            notes,
        )

    def _add_few(
        self, at: ColumnCount, run: Run, notes: dict[str, None]
    ) -> ColumnExposure:
        """With what at most one, two and three columns tell."""
        assert at.fold is not None
        whole = replace(at.fold, at_most=self.table.roles.unit is not None)
        if len(at.tally.by) <= 1 or whole.at_most:
            return whole
        if self.table.shown is not None:
            notes[BOXES] = None
            return whole
        return replace(whole, few=tuple(count_few(at.kept, whole, run, notes)))


def count_few(
    kept: Sequence[EquivalenceClasses],
    whole: ColumnExposure,
    run: Run,
    notes: dict[str, None],
) -> Iterator[FewColumns]:
    """What few columns tell, as far as time and memory allow."""
    columns = len(whole.known)
    sets = sum(comb(columns, n) for n in FEW if n <= columns)
    too_long = sets * whole.groups > MOST_WORK and run.deadline is None
    if not kept or too_long or sets > MOST_SETS:
        notes[TOO_MANY] = None
        return
    try:
        groups = reduce(add, kept)
        yield from expose_few_columns(groups, whole.beyond, FEW, check=run.check)
    except Stopped:
        notes[NO_TIME] = None
    except TooLarge as error:
        notes[str(error)] = None


# Groups -----------------------------------------------------------------------------


@dataclass(eq=False)
class GroupsWatch:
    """What groups expose, which were written out by hand or counted before."""

    watched: Groups
    """What is judged."""
    stated: Sequence[Promise | Measure]
    """What is promised of it."""
    accepted: Sequence[Accepted]
    """Groups are not written, so that nothing needs to be accepted."""
    wanted: bool
    """Whether anything is to be counted."""

    def finish(self, run: Run) -> tuple[Exposure | None, list[Finding]]:
        """What is exposed; groups have no column beside those they are judged by."""
        if not self.wanted:
            return None, []
        groups, notes = self.watched, dict[str, None]()
        limits = list_limits(self.stated, groups.about, (groups.about,))
        at = ColumnCount(
            CountQuery(groups.quasi, groups.about),
            groups.quasi,
            tuple(Beyond(limit, about=values) for limit, values in limits),
        )
        at.add(groups.grouped)
        assert at.fold is not None
        few = () if len(groups.quasi) <= 1 else count_few(at.kept, at.fold, run, notes)
        whole = replace(at.fold, few=tuple(few))
        told = Exposure((whole,), whole.people, whole.unique, groups.quasi)
        return replace(told, notes=tuple(notes)), []
