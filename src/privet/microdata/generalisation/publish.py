"""The method `Mondrian`: tables in equivalence classes, generalised or bucketized.

Its options, the groups it arrives at, and the release: from the promises (k-anonymity,
l-diversity, linkers, insiders) to groups that keep them, by local recoding or, with
`same_cuts`, by global recoding; a few people in the widest groups may be suppressed.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm"; LeFevre, DeWitt,
Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np

from privet.engine.counting.in_memory import InMemory
from privet.engine.protocol import Run
from privet.errors import InputError, NoAudit
from privet.microdata.generalisation import distributed_rows, domain_order, kernels
from privet.microdata.generalisation.constraints import (
    Constraints,
    GroupConstraint,
    MeasureConstraints,
    count_most,
    derive_constraints,
    derive_measure_constraints,
)
from privet.microdata.generalisation.distinct_rows import (
    DistinctRows,
    count_distinct_rows,
)
from privet.microdata.generalisation.distributed_rows import (
    DistributedRows,
    hold_distinct_rows,
)
from privet.microdata.generalisation.domain_order import RANGES, OrderedDomain
from privet.microdata.generalisation.forms import (
    BUCKETS,
    FORMS,
    GENERALISED,
    build_form,
    closing,
)
from privet.microdata.generalisation.global_recoding import RecodingState
from privet.microdata.generalisation.kernels import LINE
from privet.microdata.generalisation.mondrian import MondrianState, SplitStep
from privet.microdata.generalisation.partition import Partition
from privet.microdata.generalisation.shown_columns import (
    KnownCells,
    append_cells,
    find_known_cells,
)
from privet.microdata.linkage import settle_rules
from privet.microdata.release import (
    Release,
    judge_before,
    judge_policy,
    refuse_unsafe,
)
from privet.microdata.several_releases.outline import judge_release
from privet.policy import Measure, Policy, Promise
from privet.release.refine import Refinement, Watcher, refine
from privet.table import ReleasedAs, Table, require_columns
from privet.values.arrays import Floats
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.frozen_dict import FrozenDict
from privet.values.hierarchies import Given, Hierarchy, read_hierarchy
from privet.values.schema import as_names

UTILITIES = ("ncp", "information")


def _require_choice(_method: Any, field: attrs.Attribute[Any], value: object) -> None:
    known = {"utility": UTILITIES, "form": FORMS}[field.name]
    if value not in known:
        raise InputError(
            f"{field.name} must be one of {', '.join(known)}; got {value!r}."
        )


def _read_hierarchies(
    given: Mapping[str, Given | Hierarchy] | None,
) -> FrozenDict[str, Hierarchy]:
    return FrozenDict(
        {
            c: read_hierarchy(h, f"The hierarchy of {c!r}")
            for c, h in (given or {}).items()
        }
    )


def _read_values(
    given: Mapping[str, Sequence[str]] | None, what: str = "values"
) -> FrozenDict[str, tuple[str, ...]]:
    return FrozenDict(
        {
            c: as_names(v, f"{what} of {c!r}", noun="value")
            for c, v in (given or {}).items()
        }
    )


def _read_share(suppress: Number) -> Fraction:
    share = fraction(suppress, "suppress")
    if not 0 <= share < 1:
        raise InputError(f"suppress must be from 0 to below 1; got {suppress!r}.")
    return share


@attrs.frozen(kw_only=True, field_transformer=name_fields)
class Mondrian:
    """Split everybody into groups as small as every promise allows.

    Parameters
    ----------
    utility
        "ncp": even splits through the widest columns keep ranges and sets small;
        "information": splits that tell most about the target.
    form
        "generalised": ranges and sets in place of values; "buckets": one table of
        known values by group, another of each group's sensitive values.
    hierarchies
        For categories: an ARX file (a line per value: value;level 1;level 2;…) or the
        levels of each value, by column. Without one, categories form sets.
    order
        For categories with an order of their own: their values in that order.
    same_cuts
        Whether everybody has the same ranges and sets, which are easier to analyse;
        otherwise each group has its own, which are narrower.
    suppress
        Which share of the people may be left out, in the widest groups.
    hide
        Values that no group may name, by column: where one would be named, `*` stands.
        Groups that look alike then are one, and everything is judged again.
    """

    kind: ClassVar[str] = "mondrian"
    utility: str = attrs.field(default="ncp", validator=_require_choice)
    form: str = attrs.field(default=GENERALISED, validator=_require_choice)
    hierarchies: Mapping[str, Hierarchy] = attrs.field(
        default=None, converter=_read_hierarchies
    )
    order: Mapping[str, tuple[str, ...]] = attrs.field(
        default=None, converter=_read_values
    )
    same_cuts: bool = attrs.field(default=False, converter=bool)
    suppress: Fraction = attrs.field(default=Fraction(0), converter=_read_share)
    hide: Mapping[str, tuple[str, ...]] = attrs.field(
        default=None, converter=_read_values
    )

    def __attrs_post_init__(self) -> None:
        if both := sorted(self.hierarchies.keys() & self.order.keys()):
            raise InputError(
                f"Column {both[0]!r} must have a hierarchy or an order; got both."
            )
        if self.hide and self.form == BUCKETS:
            raise InputError(
                "hide must be left out for buckets: they show known values as they are."
            )

    def for_policy(self, files: Mapping[str, Path]) -> Mondrian:
        """With a policy's hierarchies for the columns that have none here."""
        given = {*self.hierarchies, *self.order}
        more = {c: Hierarchy.load(f) for c, f in files.items() if c not in given}
        return attrs.evolve(self, hierarchies={**self.hierarchies, **more})

    def prepare(
        self,
        table: Table,
        promises: Sequence[Promise],
        measures: Sequence[Measure],
        run: Run,
    ) -> MondrianProblem:
        """What must hold, and the counts of everything that is released."""
        self._check(table)
        wanted = derive_measure_constraints(measures, table)
        shown = self._show_columns(table)
        rules = [*derive_constraints(promises, table, shown), *wanted.rules]
        about = [*(r.column for r in rules), *(s.column for s in wanted.steered)]
        self._check_about(about, table)
        columns = _list_columns(table, about)
        cells = hold_distinct_rows(table, columns, run) or count_distinct_rows(
            table, columns, run
        )
        return MondrianProblem(rules, wanted, cells)

    def group(
        self,
        table: Table,
        prepared: MondrianProblem,
        *,
        watcher: Watcher | None = None,
    ) -> tuple[Partition, Refinement[SplitStep]]:
        """The groups, and how they were found; the counts are used up."""
        prepared = prepared.bring_cells(self.same_cuts, table)
        prepared = prepared.add_known_cells(table)
        cells, released = prepared.cells, len(prepared.cells.domains)
        released -= len(prepared.known)
        quasi = sum(d.name in table.roles.quasi for d in cells.domains)
        made = self._order_attributes(cells, quasi, table)
        cells.move_to_positions([a.position for a in made])
        state = self._build_state(table, prepared, made)
        refined: Refinement[SplitStep]
        if isinstance(state, RecodingState):
            refined = refine(state, watcher=watcher)
            tree, blocks = np.empty((0, LINE), dtype=np.int64), tuple(state.blocks)
        else:
            refined = refine(state, watcher=watcher)
            tree, blocks = state.tree, ()
        partition = Partition(
            tuple(made),
            cells.domains[len(made) : released],
            cells.gather_rows(table.options),
            state.collect_leaves(),
            tree,
            blocks_of=blocks,
        )
        return self._suppress_outliers(partition), refined

    def _show_columns(self, table: Table) -> ReleasedAs:
        """Which columns groups blur, and which buckets show beside people."""
        roles = table.roles
        if self.form == GENERALISED:
            return ReleasedAs(roles.quasi, roles.quasi)
        beside = [c for c in _list_columns(table, ()) if c not in roles.sensitive]
        return ReleasedAs(
            roles.quasi, (), tuple(c for c in beside if c not in roles.quasi)
        )

    def _check(self, table: Table) -> None:
        if not table.roles.quasi:
            raise InputError("A table must have quasi columns to be put into groups.")
        given = [*self.hierarchies, *self.order, *self.hide]
        require_columns(given, table.schema, "hierarchies, order and hide")
        for column in given:
            if column not in table.roles.quasi:
                raise InputError(
                    "hierarchies, order and hide must be of quasi columns; "
                    f"{column!r} is none."
                )
        if self.utility == "information":
            _check_target(table)

    def _check_about(self, about: Sequence[str], table: Table) -> None:
        """Buckets part sensitive values from people; all others stay with them."""
        for column in about:
            if self.form == BUCKETS and column not in table.roles.sensitive:
                raise InputError(
                    "about must be a sensitive column for a release in buckets; "
                    f"{column!r} is none, and would stand beside each person."
                )

    def _build_state(
        self,
        table: Table,
        prepared: MondrianProblem,
        made: Sequence[OrderedDomain],
    ) -> MondrianState | RecodingState:
        cells = prepared.cells
        at = {d.name: j for j, d in enumerate(cells.domains)}
        judge = prepared.build_constraints()
        target = at[table.roles.target or ""] if self.utility == "information" else -1
        classes = len(cells.domains[target]) if target >= 0 else 1
        aim = kernels.make_criterion(target, classes)
        form, names = domain_order.pack_domains(made), tuple(a.name for a in made)
        if isinstance(cells, DistributedRows):
            cutter = cells.make_kernels(judge.rules.about.tolist(), target)
            return MondrianState(
                cells, form, aim, judge, cutter, names, distributed_rows.AT_ONCE
            )
        if self.same_cuts:
            return RecodingState(cells.rows, list(made), aim, judge)
        cutter = kernels.choose_kernels(len(cells.rows))
        return MondrianState(cells.rows, form, aim, judge, cutter, names)

    # Columns ------------------------------------------------------------------------

    def _order_attributes(
        self, cells: DistinctRows | DistributedRows, quasi: int, table: Table
    ) -> list[OrderedDomain]:
        made = [self._order_values(cells, d, table) for d in range(quasi)]
        return [
            domain_order.hide_values(a, self.hide[a.name]) if a.name in self.hide else a
            for a in made
        ]

    def _order_values(
        self, cells: DistinctRows | DistributedRows, d: int, table: Table
    ) -> OrderedDomain:
        domain = cells.domains[d]
        if domain.name in self.hierarchies:
            return domain_order.order_by_hierarchy(
                domain, self.hierarchies[domain.name]
            )
        if domain.name in self.order:
            return domain_order.order_as_given(domain, self.order[domain.name])
        if domain.kind in RANGES or domain.name in table.roles.bins:
            return domain_order.order_by_value(domain)
        return domain_order.order_by_frequency(
            domain, self._score_categories(cells, d, table)
        )

    def _score_categories(
        self, cells: DistinctRows | DistributedRows, d: int, table: Table
    ) -> Floats:
        """Which categories stand first: frequent ones, or those of the main class.

        Even splits then leave frequent values alone, which are shown as they are;
        splits by information part the values by what they tell.
        """
        often = cells.sum_by_value(d)
        if self.utility != "information":
            return often
        at = [x.name for x in cells.domains].index(table.roles.target or "")
        main = int(np.argmax(cells.sum_by_value(at)))
        return np.asarray(cells.sum_by_value(d, (at, main)) / np.maximum(often, 1))

    # Outliers -----------------------------------------------------------------------

    def _suppress_outliers(self, partition: Partition) -> Partition:
        """Leave out groups at least twice as wide as the average, the widest first.

        Without some of its groups a release tells nobody more about the others.
        """
        most = int(self.suppress * partition.people)
        if not most:
            return partition
        loss, people = partition.loss, partition.leaves[:, 2]
        wide = loss >= 2 * (loss * people).sum() / people.sum()
        order = np.argsort(-loss, kind="stable")
        order = order[wide[order] & (loss[order] > 0)]
        out = order[np.cumsum(people[order]) <= most]
        if len(out) == len(partition):
            return partition
        kept = np.delete(partition.leaves, out, axis=0)
        return replace(partition, leaves=kept, suppressed=int(people[out].sum()))


# What Mondrian starts from ----------------------------------------------------------


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

    def bring_cells(self, same_cuts: bool, table: Table) -> MondrianProblem:
        """With cells here, unless machines that keep them can split them there.

        They cannot where a split of one group changes what others may do.
        """
        if not isinstance(self.cells, DistributedRows):
            return self
        beside = any(rule.beside for rule in self.rules)
        if self.build_constraints().is_local and not (same_cuts or beside):
            return self
        return replace(self, cells=self.cells.bring_here(table.options))

    def add_known_cells(self, table: Table) -> MondrianProblem:
        """With the cells of linkers who know columns that are shown as they are."""
        if isinstance(self.cells, DistributedRows):
            return self
        found = find_known_cells(self.rules, self.cells)
        cells = append_cells(self.cells, found, table.options)
        return replace(self, cells=cells, known=found)

    def build_constraints(self) -> Constraints:
        """Every promise and measure that steers."""
        cells, steered = self.cells, self.asked.steered
        at = {d.name: j for j, d in enumerate(cells.domains)}
        known = [k.as_constraint() for k in self.known]
        columns = [*(r.column for r in self.rules), *(s.column for s in steered)]
        about = list(dict.fromkeys([*columns, *(k.column for k in known)]))
        domains = [cells.domains[at[c]] for c in about]
        positions = [at[c] for c in about]
        judge = Constraints(
            self.rules, self.asked.least, domains, positions, cells.people
        )
        judge.steering = [
            (
                about.index(s.column),
                s.start(
                    cells.domains[at[s.column]],
                    cells.sum_by_value(at[s.column]).astype(np.int64),
                ),
            )
            for s in steered
        ]
        judge.steering += [(about.index(k.column), k) for k in known]
        judge.most_groups = count_most(self.asked.most_groups, cells.people)
        judge.most_alone = count_most(self.asked.most_alone, cells.people)
        return judge

    def as_table(self, table: Table) -> Table:
        """The same table, counted from memory where the counts are there."""
        if isinstance(self.cells, DistributedRows):
            return table
        rows = self.cells.rows
        if isinstance(rows, np.memmap):
            return table
        codes = [rows[:, j] for j in range(len(self.cells.domains))]
        n = rows[:, -1].astype(np.int64)
        return replace(table, engine=InMemory(self.cells.domains, codes, n))


def _check_target(table: Table) -> None:
    target = table.roles.target
    if target is None:
        raise InputError(
            "utility must be 'ncp' for a table without a target; got 'information'. "
            "Declare a target, or choose ncp."
        )
    if target in table.roles.sensitive:
        raise InputError(
            "utility 'information' must not be about a sensitive column: cuts are "
            f"chosen by it, and {target!r} is sensitive. Choose ncp."
        )


def _list_columns(table: Table, about: Sequence[str]) -> list[str]:
    """What is counted: known columns first, then all others that are released."""
    roles = table.roles
    dropped = {*roles.withheld, roles.unit, roles.weight}
    quasi = [c for c in table.schema.names if c in roles.quasi]
    others = [c for c in table.schema.names if c not in {*dropped, *roles.quasi}]
    missing = [c for c in about if c not in others]
    if missing:
        raise InputError(
            f"about must be a column that is released; got {missing[0]!r}."
        )
    return [*quasi, *others]


# Publishing -------------------------------------------------------------------------


def publish_groups(
    table: Table,
    policy: Policy,
    method: Mondrian,
    *,
    run: Run,
    watcher: Watcher | None,
) -> Release:
    """Make a release in groups; or raise `Infeasible`."""
    _refuse_nothing_to_judge(policy)
    method = method.for_policy(policy.hierarchy_files())
    prepared = method.prepare(table, policy.promises, policy.measures, run)
    table = settle_rules(table, [*policy.promises, *policy.measures], run)
    with warnings.catch_warnings():
        counted = prepared.as_table(table)
        before = judge_before(counted, policy, run=run)
    partition, refined = method.group(table, prepared, watcher=watcher)
    grouped = build_form(partition, table, method.form)
    with closing(grouped):
        with warnings.catch_warnings(action="ignore"):  # said once, above
            after = judge_policy(grouped.files[-1].counts, policy, run=run)
        release = Release(
            table=grouped.table,
            policy=policy,
            audit=after,
            method=method.kind,
            steps=refined.steps,
            before=before,
            ended=refined.ended,
            left=refined.left,
            grouped=grouped,
            origin=table,
            made_by=method,
        )
        refuse_unsafe(release)
        return judge_release(release, run)


def _refuse_nothing_to_judge(policy: Policy) -> None:
    if not policy.promises_about("groups") and not policy.measures:
        kinds = sorted({p.against.kind for p in policy.promises})
        raise NoAudit(
            "A table must have promises against a linker or an insider, or measures, "
            f"to be published in groups; got {', '.join(kinds)}."
        )
