"""What an attacker sees of a release: columns, labels, and what may lie behind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import comb, prod

import numpy as np

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit
from privet.microdata.generalisation.forms import GENERALISED
from privet.microdata.generalisation.publish import Mondrian
from privet.microdata.generalised_values import find_allowed_values
from privet.microdata.linkage import (
    TemplateQuery,
    query_templates,
    read_released_about,
)
from privet.microdata.list_columns import refuse_lists
from privet.microdata.recipe import Cut, Place, choose_order
from privet.microdata.release import Release
from privet.microdata.suppression.leading_rules import (
    find_least_size,
    list_beside,
    list_known,
    query_classes,
)
from privet.microdata.suppression.publish import TopDownDisclosure
from privet.microdata.suppression.templates import list_fixed
from privet.microdata.written_columns import Ends, read_interval
from privet.policy import Policy
from privet.table import Table
from privet.values.adversaries import Linker
from privet.values.contingency import Domain
from privet.values.schema import Bins, Roles, Schema

Row = tuple[str | None, ...]
"""Values of the columns that matter to the method, in the order of the file."""

Values = tuple[str | None, ...]
Method = TopDownDisclosure | Mondrian


@dataclass(frozen=True)
class ReleasedColumn:
    """A column that matters to the method."""

    name: str
    kind: str
    """What its values are, before anything was hidden."""
    values: Values | None
    """Which it may have, in order; None where it is shown as it is."""
    hidden: int | None = None
    """How many of them the manifest says are hidden; None: it does not."""
    bins: Bins | None = None
    """The public bins its values are."""

    @cached_property
    def place(self) -> Place:
        """What orders values as engines do."""
        if self.bins is None:
            return choose_order(self.kind)
        labels = self.bins.labels()
        return lambda v: (0, 0) if v is None else (2, labels.index(v))

    def sort(self, values: Collection[str | None]) -> list[str | None]:
        """Values as engines order them."""
        return sorted(values, key=self.place)

    def list_domain(self, there: Collection[str | None]) -> list[str | None]:
        """The values an engine would list: all bins, or those that are there."""
        return self.sort([None, *self.bins.labels()] if self.bins else there)


@dataclass(frozen=True)
class RowsAlike:
    """Released rows that look alike, and the rows that may lie behind each."""

    shown: Row
    n: int
    cells: tuple[Values, ...]
    """What may lie behind each cell."""

    @cached_property
    def options(self) -> tuple[Row, ...]:
        """The rows; ten hidden columns of fifty values have too many to be listed."""
        return tuple(product(*self.cells))

    @property
    def tables(self) -> int:
        """How many ways there are, people aside; counted, not listed."""
        return comb(self.n + prod(map(len, self.cells)) - 1, self.n)


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """A released file with everything the attacker is granted."""

    columns: tuple[ReleasedColumn, ...]
    classes: tuple[RowsAlike, ...]
    questions: tuple[TemplateQuery, ...]
    """The promises against linkers."""
    policy: Policy
    roles: Roles
    method: Method

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(c.name for c in self.columns)

    def build_table(self, cells: Mapping[Row, int]) -> Table:
        """A private table of these rows, as an engine would have read it."""
        domains, codes = [], []
        for j, column in enumerate(self.columns):
            labels = column.list_domain({row[j] for row in cells})
            at = {label: code for code, label in enumerate(labels)}
            domains.append(Domain(column.name, labels, column.kind))
            codes.append(np.array([at[row[j]] for row in cells]))
        engine = InMemory(domains, codes, np.array(list(cells.values())))
        return Table(engine, Schema(engine.columns(), self.roles))


def view_release(
    release: Release,
    policy: Policy,
    method: Method,
    granted: Mapping[str, Values],
    run: Run,
) -> ReleaseView:
    """A release as the attacker sees it, with what may lie behind each label."""
    table = release._table
    if release._private.roles.weight or table.roles.unit:
        raise NoAudit("A release must have one row per person to list its tables.")
    about = [read_released_about(p, table)[0] for p in policy.promises_about("groups")]
    refuse_lists(table, about, run, "its tables are not listed.")
    if isinstance(method, Mondrian) and method.form != GENERALISED:
        raise NoAudit("Groups must be generalised to list their tables; got buckets.")
    linkers = [p for p in policy.promises if isinstance(p.against, Linker)]
    questions = tuple(query_templates(p, table) for p in linkers)
    names = _list_columns(table, questions, method, policy)
    columns = tuple(_describe_column(c, release, granted, run) for c in names)
    rows = count_rows(table, names, run)
    options = _Options(columns, rows, method)
    return ReleaseView(
        columns,
        tuple(RowsAlike(row, n, options.list(row)) for row, n in rows.items()),
        questions,
        policy,
        _select_roles(table.roles, columns),
        method,
    )


def _list_columns(
    table: Table, questions: Sequence[TemplateQuery], method: Method, policy: Policy
) -> list[str]:
    """What the method looks at; all other columns change nothing."""
    known = {c for q in questions for t in q.tallies for c in (*t.by, t.about)}
    if isinstance(method, Mondrian):
        known |= {*table.roles.quasi, *table.roles.sensitive}
    else:
        fixed = list_fixed(table, method.keep)
        led = query_classes(table, list_beside(policy), fixed)
        known |= {c for query in led for c in (*query.by, query.about)}
        if find_least_size(policy.measures) > 1:
            known |= {*list_known(table, None, fixed)}
    if table.roles.target:
        known.add(table.roles.target)
    return [c for c in table.schema.names if c in known]


def count_rows(table: Table, names: Sequence[str], run: Run) -> dict[Row, int]:
    """The released rows, each with its number."""
    *by, about = names
    found: dict[Row, int] = {}
    for _, batch in table.count([CountQuery(tuple(by), about)], run):
        order = [d.name for d in batch.by]
        codes = [column.tolist() for column in batch.keys.columns()]
        for row, value in enumerate(batch.value.tolist()):
            group = int(batch.group[row])
            at = {
                c: d[k[group]] for c, d, k in zip(order, batch.by, codes, strict=True)
            }
            cells = (*(at[c] for c in by), batch.about[value])
            found[cells] = found.get(cells, 0) + int(batch.n[row])
    return found


def _select_roles(roles: Roles, columns: Sequence[ReleasedColumn]) -> Roles:
    names = [c.name for c in columns]
    return Roles(
        quasi=[c for c in roles.quasi if c in names],
        sensitive=[c for c in roles.sensitive if c in names],
        target=roles.target,
        bins={c.name: c.bins for c in columns if c.bins is not None},
    )


def _describe_column(
    name: str, release: Release, granted: Mapping[str, Values], run: Run
) -> ReleasedColumn:
    if release.folder is None:
        return _describe_own_column(name, release, granted, run)
    about = release.manifest["columns"][name]
    bins = Bins(about["bins"]) if "bins" in about else None
    shown, kind = about.get("shown_as"), about["type"]
    if shown is None:
        return ReleasedColumn(name, kind, None, bins=bins)
    if name not in granted:
        raise InputError(
            f"domain must list the values that column {name!r} may have, since some "
            "are not shown. Give them with domain (--domain COLUMN=VALUE), or the "
            "custody folder, which names those that are hidden."
        )
    column = ReleasedColumn(name, kind, (), about.get("hidden_values"), bins)
    return replace(column, values=_sort_granted(column, granted[name]))


def _describe_own_column(
    name: str, release: Release, granted: Mapping[str, Values], run: Run
) -> ReleasedColumn:
    """Of a release that was just made, its table tells what is not granted."""
    private = replace(release._private, relabels={})
    domain = private.domains([name], run)[name]
    bins = private.roles.bins.get(name)
    changed = (
        release._table.relabels if release.recipe else release._private.roles.quasi
    )
    if name not in changed:
        return ReleasedColumn(name, domain.kind, None, bins=bins)
    how = release.recipe.columns[name] if release.recipe else None
    hidden = None
    if how is not None and not (isinstance(how, Cut) and how.after):
        there = _list_values(domain, private, run)
        hidden = len(there if isinstance(how, Cut) else there & {*how.hidden})
    column = ReleasedColumn(name, domain.kind, (), hidden, bins)
    own = tuple(domain.labels)
    return replace(column, values=_sort_granted(column, granted.get(name, own)))


def _list_values(domain: Domain, table: Table, run: Run) -> set[str | None]:
    """The values of a column that occur; of its bins, some may be empty."""
    counted = table.count([CountQuery((), domain.name)], run)
    return {domain[code] for _, batch in counted for code in batch.value.tolist()}


def _sort_granted(column: ReleasedColumn, values: Values) -> Values:
    try:
        return tuple(column.sort(set(values)))
    except ValueError:
        raise InputError(
            f"domain of {column.name!r} must hold values of kind {column.kind}."
        ) from None


class _Options:
    """What may lie behind the cells of a released row."""

    def __init__(
        self, columns: Sequence[ReleasedColumn], rows: Mapping[Row, int], method: Method
    ) -> None:
        self._columns, self._method = columns, method
        self._seen = [{row[j] for row in rows} for j in range(len(columns))]

    def list(self, row: Row) -> tuple[Values, ...]:
        cells = tuple(self._list_values(j, label) for j, label in enumerate(row))
        for column, values in zip(self._columns, cells, strict=True):
            if not values:
                raise InputError(
                    f"domain of {column.name!r} must have a value for every cell of "
                    "the file; for one it has none."
                )
        return cells

    def _list_values(self, j: int, label: str | None) -> Values:
        column = self._columns[j]
        if column.values is None:
            return (label,)
        if isinstance(self._method, Mondrian):
            domain = Domain(column.name, column.values, column.kind)
            allowed = find_allowed_values(label, domain)
            return tuple(v for v, a in zip(column.values, allowed, strict=True) if a)
        if label == self._method.marker:
            # A value that is shown somewhere is hidden nowhere.
            return tuple(v for v in column.values if v not in self._seen[j])
        ends = None if column.hidden is not None else read_interval(label)
        if ends is None:
            return (label,)
        # A value that stands alone in its interval is shown, and behind no other.
        alone = {v for v in self._seen[j] if read_interval(v) is None}
        free = [v for v in column.values if v not in alone]
        return tuple(v for v in free if _is_inside(v, ends, column))


def _is_inside(value: str | None, interval: Ends, column: ReleasedColumn) -> bool:
    """Whether a value is in an interval."""
    low, high, missing = interval
    if value is None or (missing and low is high is None):
        return missing and value is None
    place = column.place
    above = low is None or place(value) > place(low)
    return above and (high is None or place(value) <= place(high))
