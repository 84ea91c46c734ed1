"""What Mondrian starts from: what must hold, and the distinct rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from privet.engine.counting.in_memory import InMemory
from privet.errors import InputError
from privet.languages import (
    join_words,
)
from privet.microdata.generalisation.constraints import (
    Constraints,
    GroupConstraint,
    MeasureConstraints,
    count_most,
    refuse_more_knowledge,
)
from privet.microdata.generalisation.distinct_rows import (
    DistinctRows,
)
from privet.microdata.generalisation.distributed_rows import (
    DistributedRows,
)
from privet.microdata.generalisation.doubtful_knowledge import steer_doubts
from privet.microdata.generalisation.shown_columns import (
    KnownCells,
    append_cells,
    find_known_cells,
)
from privet.microdata.generalisation.window_constraints import WindowConstraint
from privet.microdata.list_columns import read_sets
from privet.microdata.skyline.set_minima import SetIndex
from privet.policy import Promise
from privet.table import Table
from privet.values.arrays import Ints
from privet.values.contingency import Domain
from privet.values.windows import Windows, Within


@dataclass(frozen=True, eq=False)
class MondrianProblem:
    """What Mondrian starts from."""

    rules: Sequence[GroupConstraint]
    """What must hold."""
    asked: MeasureConstraints
    """What measures ask."""
    cells: DistinctRows | DistributedRows
    """The distinct rows, here or where they were counted."""
    known: Sequence[KnownCells] = ()
    """What linkers know beside groups: the last columns of the cells."""
    sets: Mapping[str, SetIndex] = field(default_factory=dict)
    """The columns of lists that promises are about."""

    def bring_cells(self, same_cuts: bool, table: Table) -> MondrianProblem:
        """With cells here, unless machines that keep them can split them there.

        They cannot where a split of one group changes what others may do.
        """
        if not isinstance(self.cells, DistributedRows):
            return self
        beside = any(rule.beside for rule in self.rules)
        windows = any(isinstance(rule.values, Within) for rule in self.rules)
        apart = same_cuts or beside or windows
        if self.build_constraints().is_by_rules and not apart:
            return self
        return replace(self, cells=self.cells.bring_here(table.options))

    def add_known_cells(self, table: Table) -> MondrianProblem:
        """With the cells of linkers who know columns that are shown as they are."""
        if isinstance(self.cells, DistributedRows):
            return self
        found = find_known_cells(self.rules, self.cells)
        cells = append_cells(self.cells, found, table.options)
        return replace(self, cells=cells, known=found)

    def build_constraints(
        self, everybody: Mapping[str, Ints] | None = None
    ) -> Constraints:
        """Every promise and measure that steers, by the distribution in everybody.

        Where some people are left out, everybody is who is left, by column.
        """
        cells, steered = self.cells, self.asked.steered
        at = {d.name: j for j, d in enumerate(cells.domains)}
        known = [k.as_constraint() for k in self.known]
        values = [r for r in self.rules if not isinstance(r.values, Within)]
        columns = [*(r.column for r in values), *(s.column for s in steered)]
        about = list(dict.fromkeys([*columns, *(k.column for k in known)]))
        domains = [cells.domains[at[c]] for c in about]
        positions = [at[c] for c in about]
        simple = [r for r in self.rules if r.is_simple_window and r.forbids_something]
        windows = {r.windows_name: self._make_windows(r, at) for r in simple}
        for rule in {r.windows_name: r for r in simple}.values():
            domains.append(Domain(rule.windows_name, ["the fullest window"]))
            positions.append(at[rule.column])
        judge = Constraints(
            [*values, *(r.as_fullest() for r in simple)],
            self.asked.least,
            domains,
            positions,
            cells.people,
            windows,
            self.sets,
        )
        judge.windows = self._list_windows(at)
        judge.steering = [
            (
                about.index(s.column),
                s.start(
                    cells.domains[at[s.column]],
                    everybody[s.column]
                    if everybody
                    else cells.sum_by_value(at[s.column]).astype(np.int64),
                ),
            )
            for s in steered
        ]
        judge.steering += [(about.index(k.column), k) for k in known]
        judge.steering += [
            (about.index(r.column), steer_doubts(r, cells.domains[at[r.column]]))
            for r in values
            if r.doubtful and r.forbids_something
        ]
        people = cells.people
        if everybody:
            people = int(next(iter(everybody.values())).sum())
        judge.most_groups = count_most(self.asked.most_groups, people)
        judge.most_alone = count_most(self.asked.most_alone, people)
        return judge

    def _make_windows(self, rule: GroupConstraint, at: Mapping[str, int]) -> Windows:
        assert isinstance(rule.values, Within)
        return Windows.of(self.cells.domains[at[rule.column]], rule.values)

    def _list_windows(self, at: Mapping[str, int]) -> list[WindowConstraint]:
        """The promises about windows for which a group's fullest one is not enough."""
        domains, people = self.cells.domains, self.cells.people
        return [
            WindowConstraint(
                rule,
                self._make_windows(rule, at),
                at[rule.column],
                tuple(tuple(at[c] for c in known) for known in rule.beside),
                tuple(map(len, domains)),
                people,
            )
            for rule in self.rules
            if isinstance(rule.values, Within)
            and rule.forbids_something
            and not rule.is_simple_window
        ]

    def as_table(self, table: Table) -> Table:
        """The same table, counted from memory where the counts are there."""
        if isinstance(self.cells, DistributedRows):
            return table
        rows, domains = self.cells.rows, self.cells.domains
        if isinstance(rows, np.memmap):
            return table
        # In the table's order: of sets of columns that tell as much the first is named.
        names = [d.name for d in domains]
        order = [names.index(c) for c in table.schema.names if c in names]
        codes = [rows[:, j] for j in order]
        n = rows[:, -1].astype(np.int64)
        engine = InMemory([domains[j] for j in order], codes, n)
        return replace(table, engine=engine)

    def as_rows(self, table: Table) -> Table:
        """The same where rows were counted as they are; else the table itself.

        People with several rows, weights and labels given are no counts of rows.
        """
        roles = table.roles
        if roles.unit or roles.weight or table.relabels:
            return table
        return self.as_table(table)


def index_sets(
    rules: Sequence[GroupConstraint],
    cells: DistinctRows | DistributedRows,
    table: Table,
) -> dict[str, SetIndex]:
    """The columns of lists that promises are about, and what each list holds."""
    domains = {d.name: d for d in cells.domains}
    found = {}
    for rule in rules:
        sets = read_sets(table, domains[rule.column])
        if sets is None:
            continue
        found[rule.column] = SetIndex.of(sets)
        if isinstance(rule.promise, Promise):
            refuse_more_knowledge(rule.promise.against, "people have several values")
        if rule.beside:
            raise InputError(
                f"Promise {rule.promise.name!r} must not be about a column of lists "
                f"where somebody knows {join_words(rule.beside[0])}, which groups show "
                "as in the table. Declare what is known as quasi, or drop it."
            )
    return found
