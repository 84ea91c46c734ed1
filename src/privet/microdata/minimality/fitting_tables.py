"""Private tables behind a release: those for which the method gives exactly it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod

import attrs
import numpy as np

from privet.engine.protocol import Run
from privet.errors import Infeasible, Stopped, TooLarge
from privet.microdata.generalisation.forms import build_form
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.linkage import TemplateQuery
from privet.microdata.minimality.release_view import (
    ReleasedColumn,
    ReleaseView,
    Row,
    RowsAlike,
    count_rows,
)
from privet.microdata.release import judge_before
from privet.microdata.suppression.leading_rules import is_led_by, list_beside
from privet.microdata.suppression.publish import (
    ORDERED,
    TopDownDisclosure,
    build_recipe,
)
from privet.microdata.suppression.top_down_disclosure import (
    Disclosure,
    DisclosureState,
)
from privet.microdata.unchanged_table import keeps_all
from privet.table import Table
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain
from privet.values.windows import Windows, Within

AT_ONCE = 4_096
"""Tables whose counts are held at the same time."""


# Listing ----------------------------------------------------------------------------


@dataclass(frozen=True)
class FittingTables:
    """How many private tables the file allows, and for which the method gives it."""

    tables: int
    fitting: int
    expected: Mapping[Row, int]
    """People by private row, added up over all worlds of the tables that fit."""


def list_fitting(view: ReleaseView, most: int, run: Run) -> FittingTables:
    """Run the method on every table that the file allows."""
    tables = prod(c.tables for c in view.classes)
    if tables > most:
        raise TooLarge(
            f"A release must have at most {most:,} private tables behind it to be "
            f"listed; there would be {_count_roughly(tables)}."
        )
    rows = list(dict.fromkeys(o for c in view.classes for o in c.options))
    fits = _make_test(view, rows)
    expected = dict.fromkeys(rows, 0)
    fitting, seen = 0, set[bytes]()
    people = factorial(sum(c.n for c in view.classes))
    for counts in _list_tables(view.classes, rows):
        for table in counts[fits.screen(counts)]:
            _check_time(run)
            # Ranges overlap, so that one table may be listed twice.
            if (key := table.tobytes()) in seen:
                continue
            seen.add(key)
            cells = {rows[i]: int(table[i]) for i in np.flatnonzero(table).tolist()}
            if not fits.gives_release(cells):
                continue
            fitting += 1
            worlds = people // prod(factorial(n) for n in cells.values())
            for row, n in cells.items():
                expected[row] += worlds * n
    return FittingTables(tables, fitting, expected)


def _check_time(run: Run) -> None:
    try:
        run.check()
    except Stopped:
        raise Stopped(
            "The time limit ran out before every private table was listed."
        ) from None


def _count_roughly(number: int) -> str:
    """A large number, not all of whose digits matter.

    >>> _count_roughly(120_000), _count_roughly(3 * 10**40)
    ('120,000', 'about 10^40')
    """
    digits = len(str(number)) - 1
    return f"{number:,}" if digits < 15 else f"about 10^{digits}"


def _list_tables(classes: Sequence[RowsAlike], rows: Sequence[Row]) -> Iterator[Ints]:
    """Every table the file allows, as people per private row: some at a time."""
    at = {row: i for i, row in enumerate(rows)}
    # One matrix per class: a line for each way to give its people rows.
    ways = [_list_ways(c, at, len(rows)) for c in classes]
    sizes = [len(w) for w in ways]
    for first in range(0, prod(sizes), AT_ONCE):
        index = np.arange(first, min(first + AT_ONCE, prod(sizes)))
        chosen = np.unravel_index(index, sizes)
        yield sum(
            (w[k] for w, k in zip(ways, chosen, strict=True)),
            np.zeros((len(index), len(rows)), dtype=np.int64),
        )


def _list_ways(alike: RowsAlike, at: Mapping[Row, int], width: int) -> Ints:
    own = [at[o] for o in alike.options]
    chosen = list(combinations_with_replacement(own, alike.n))
    ways = np.zeros((len(chosen), width), dtype=np.int64)
    for line, columns in enumerate(chosen):
        np.add.at(ways[line], list(columns), 1)
    return ways


# Whether the method gives the release -----------------------------------------------


def _make_test(view: ReleaseView, rows: Sequence[Row]) -> _Disclosed | _Grouped:
    if isinstance(view.method, Mondrian):
        return _Grouped(view, view.method)
    return _Disclosed(view, view.method, rows)


def _is_published_unchanged(
    view: ReleaseView, table: Table, cells: Mapping[Row, int]
) -> bool:
    """Whether a table is safe as it is, and so would not be what was released."""
    if {c.shown: c.n for c in view.classes} == dict(cells):
        return False
    if not (isinstance(view.method, Mondrian) or _looks_at_all(view, table)):
        return False
    with warnings.catch_warnings(action="ignore"):
        return keeps_all(judge_before(table, view.policy, run=Run()))


def _looks_at_all(view: ReleaseView, table: Table) -> bool:
    """Whether nothing else is promised, which may be of columns not looked at."""
    return all(is_led_by(each, table) for each in list_beside(view.policy))


class _Grouped:
    """Whether Mondrian gives the release."""

    def __init__(self, view: ReleaseView, method: Mondrian) -> None:
        self._view, self._method = view, method
        self._wanted = {c.shown: c.n for c in view.classes}

    def screen(self, counts: Ints) -> Flags:
        """All tables are tried."""
        return np.ones(len(counts), dtype=bool)

    def gives_release(self, cells: Mapping[Row, int]) -> bool:
        view, method, run = self._view, self._method, Run()
        table, policy = view.build_table(cells), view.policy
        prepared = method.prepare(table, policy.promises, policy.measures, run)
        partition, _ = method.group(table, prepared)
        shown = build_form(partition, table, method.form).files[-1].counts
        same = count_rows(shown, view.names, run) == self._wanted
        return same and not _is_published_unchanged(view, table, cells)


class _Disclosed:
    """Whether top-down disclosure gives the release."""

    def __init__(
        self, view: ReleaseView, method: TopDownDisclosure, rows: Sequence[Row]
    ) -> None:
        self._view = view
        self._method = attrs.evolve(
            method,
            keep=tuple(c for c in method.keep if c in view.names),
            ordered=method.ordered
            and tuple(c for c in method.ordered if c in view.names),
            hierarchies={
                c: h for c, h in method.hierarchies.items() if c in view.names
            },
        )
        self._labels = _map_labels(view)
        self._beside = list_beside(view.policy)
        self._blocks = _find_blocks(view, method, rows, self._labels)
        self._hidden = [
            (j, c.hidden) for j, c in enumerate(view.columns) if c.hidden is not None
        ]

    def screen(self, counts: Ints) -> Flags:
        """Tables in which every hidden value that is there would break a promise."""
        fine = np.ones(len(counts), dtype=bool)
        # A value may be hidden for a measure alone, or for an insider.
        told = self._method.maximal and not self._beside
        for block in self._blocks if told else ():
            fine &= block.find_blocked(counts)
        return fine

    def gives_release(self, cells: Mapping[Row, int]) -> bool:
        for j, hidden in self._hidden:
            labels = self._labels[j]
            if len({row[j] for row in cells if labels[row[j]] != row[j]}) != hidden:
                return False
        table = self._view.build_table(cells)
        linkers = [q.promise for q in self._view.questions]
        try:
            setting, state = self._method.prepare(
                table, linkers, run=Run(), beside=self._beside
            )
        except Infeasible:
            return False
        if isinstance(state, DisclosureState):
            if not self._follows(state):
                return False
        else:
            self._method.search(state)
        recipe = build_recipe(setting.attributes, self._method.marker)
        for j, column in enumerate(self._view.columns):
            domain = table.domains([column.name])[column.name]
            how = recipe.columns.get(column.name)
            shown = how.show(domain, recipe.marker) if how else domain.labels
            found = dict(zip(domain.labels, shown, strict=True))
            if any(self._labels[j][row[j]] != found[row[j]] for row in cells):
                return False
        return not _is_published_unchanged(self._view, table, cells)

    def _follows(self, state: DisclosureState) -> bool:
        """Make moves while they show no more than the release does."""
        while (move := state.find_best_move()) is not None:
            if not self._is_shown(state, move):
                return False
            state.apply(move)
        return True

    def _is_shown(self, state: DisclosureState, move: Disclosure) -> bool:
        attribute = state.attributes[move.attribute]
        labels = self._labels[self._view.names.index(move.column)]
        value = attribute.domain[move.code]
        if attribute.ordered:
            # Of an empty bin the file says nothing; the end decides.
            ends = value, attribute.domain[move.code + 1]
            return not labels.keys() >= {*ends} or labels[ends[0]] != labels[ends[1]]
        return labels[value] == value


def _map_labels(view: ReleaseView) -> list[dict[str | None, str | None]]:
    """What each value is shown as, by column."""
    found: list[dict[str | None, str | None]] = [{} for _ in view.columns]
    for alike in view.classes:
        for row in alike.options:
            for j, value in enumerate(row):
                found[j][value] = alike.shown[j]
    return found


@dataclass(frozen=True, eq=False)
class HiddenValue:
    """A value that is not shown, and the groups its disclosure would split."""

    there: Ints
    """Per private row, whether it has the value."""
    split: Ints
    """Per group and private row, whether the row would be split off …"""
    having: Ints
    """… and has the protected value."""
    total: Ints
    """People per group."""
    protected: Ints
    """People with the protected value."""
    limits: tuple[Ceiling, ...]
    """The limit of each group."""

    def find_blocked(self, counts: Ints) -> Flags:
        """Tables in which showing the value breaks a promise, or that lack it."""
        part, having = counts @ self.split.T, counts @ self.having.T
        rest, other = self.total - part, self.protected - having
        # Limits are small fractions and tables small: products fit, or are objects.
        level = np.array([c.level.numerator for c in self.limits], dtype=object)
        whole = np.array([c.level.denominator for c in self.limits], dtype=object)
        strict = np.array([c.strict for c in self.limits], dtype=bool)
        broken = np.zeros(part.shape, dtype=bool)
        for n, h in ((part, having), (rest, other)):
            left, right = h * whole, n * level
            beyond = np.where(strict, left >= right, left > right).astype(bool)
            broken |= beyond & (part > 0) & (rest > 0)
        return np.asarray(broken.any(axis=1) | ~(counts @ self.there > 0))


def _find_blocks(
    view: ReleaseView,
    method: TopDownDisclosure,
    rows: Sequence[Row],
    labels: Sequence[Mapping[str | None, str | None]],
) -> list[HiddenValue]:
    """What must hold of every hidden value, since the search went on till the end."""
    found = []
    for j, column in enumerate(view.columns):
        hidden = [v for v, label in labels[j].items() if label == method.marker]
        if column.hidden is None or _is_ordered(column, method):
            continue
        found += [_find_splits(view, rows, labels, j, v) for v in hidden]
    return found


def _is_ordered(column: ReleasedColumn, method: TopDownDisclosure) -> bool:
    if method.ordered is not None:
        return column.name in method.ordered
    return column.kind in ORDERED and column.bins is None


def _find_splits(
    view: ReleaseView,
    rows: Sequence[Row],
    labels: Sequence[Mapping[str | None, str | None]],
    j: int,
    value: str | None,
) -> HiddenValue:
    shown = [tuple(labels[i][v] for i, v in enumerate(row)) for row in rows]
    there = np.array([row[j] == value for row in rows], dtype=np.int64)
    split, having, total, protected, limits = [], [], [], [], []
    for known, about, secret, limit in _list_templates(view):
        if j not in known:
            continue
        groups = dict.fromkeys(tuple(s[i] for i in known) for s in shown)
        holder = np.array([row[about] in secret for row in rows], dtype=np.int64)
        for group in groups:
            inside = [tuple(s[i] for i in known) == group for s in shown]
            split.append(there * inside)
            having.append(there * inside * holder)
            alike = [
                c for c in view.classes if tuple(c.shown[i] for i in known) == group
            ]
            total.append(sum(c.n for c in alike))
            protected.append(sum(c.n for c in alike if c.shown[about] in secret))
            limits.append(limit)
    width = (len(split), len(rows))
    return HiddenValue(
        there,
        np.array(split, dtype=np.int64).reshape(width),
        np.array(having, dtype=np.int64).reshape(width),
        np.array(total, dtype=np.int64),
        np.array(protected, dtype=np.int64),
        tuple(limits),
    )


def _list_templates(
    view: ReleaseView,
) -> Iterator[tuple[tuple[int, ...], int, Secret, Ceiling]]:
    """QID, column, values and limit of every privacy template, columns by number."""
    names = view.names
    for question in view.questions:
        about = names.index(question.column)
        for tally in question.tallies:
            known = tuple(names.index(c) for c in tally.by)
            for secret, _ in list_secrets(view, question):
                yield known, about, secret, question.limit


Secret = frozenset[str | None]
"""A value that must not be learnt, or the numbers of a window."""


def list_secrets(
    view: ReleaseView, question: TemplateQuery
) -> list[tuple[Secret, str | None]]:
    """What a promise is about, as the file has it: values or windows, with a name."""
    about = view.names.index(question.column)
    seen = {c.shown[about] for c in view.classes}
    column = view.columns[about]
    domain = Domain(column.name, column.sort(seen), column.kind)
    if isinstance(question.values, Within):
        return _list_windows(Windows.of(domain, question.values))
    labels = list(domain.labels)
    if question.values is not None:
        codes = (domain.code(v) for v in question.values)
        labels = [domain[code] for code in codes if code is not None]
    return [(frozenset([v]), v) for v in labels]


def _list_windows(windows: Windows) -> list[tuple[Secret, str | None]]:
    """Each window that starts at a number of the file."""
    found: list[tuple[Secret, str | None]] = []
    for start, stop in enumerate(windows.stop.tolist()):
        inside = [windows.domain[int(c)] for c in windows.list_members(start)]
        found.append((frozenset(inside), str(windows.name_span(start, stop - 1))))
    return found
