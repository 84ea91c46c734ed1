"""The method `Mondrian`: tables in equivalence classes, generalised or bucketized.

Its options, the groups it arrives at, and the release: from the promises (k-anonymity,
l-diversity, linkers, insiders) to groups that keep them, by local recoding or, with
`same_cuts`, by global recoding; a few people may be suppressed, as stars or left out.
Chen, LeFevre, Ramakrishnan 2007, "SkylineAnonymize Algorithm"; LeFevre, DeWitt,
Ramakrishnan 2006, Mondrian.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import attrs
import numpy as np

from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, NoAudit
from privet.languages import mark
from privet.microdata.full_domain.suppression_pool import Suppression
from privet.microdata.generalisation import distributed_rows, domain_order
from privet.microdata.generalisation.constraints import (
    Constraints,
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
from privet.microdata.generalisation.domain_order import OrderedDomain
from privet.microdata.generalisation.forms import (
    BUCKETS,
    FORMS,
    GENERALISED,
    build_form,
    closing,
)
from privet.microdata.generalisation.global_recoding import RecodingState
from privet.microdata.generalisation.household_splits import (
    judge_partition,
    list_household_promises,
    undo_splits,
)
from privet.microdata.generalisation.mondrian import MondrianState, SplitStep
from privet.microdata.generalisation.mondrian_problem import (
    MondrianProblem,
    index_sets,
)
from privet.microdata.generalisation.partition import Partition
from privet.microdata.generalisation.splits import kernels
from privet.microdata.generalisation.splits.split_task import LINE, make_criterion
from privet.microdata.generalisation.starred_cuts import (
    StarredState,
    can_star,
    refine_with_stars,
)
from privet.microdata.generalisation.starred_outliers import star_outliers
from privet.microdata.linkage import settle_rules
from privet.microdata.release import (
    Release,
    judge_before,
    judge_policy,
    refuse_unsafe,
)
from privet.microdata.several_releases.outline import judge_release
from privet.microdata.skyline.household_findings import asks_households
from privet.microdata.unchanged_table import keeps_all, publish_unchanged
from privet.microdata.written_columns import (
    HIDDEN,
    LABELS,
    MARKED,
    NULL,
    RANGES,
    refuse_taken,
    require_choice,
)
from privet.policy import Measure, Policy, Promise
from privet.release.refine import Refinement, Watcher, refine
from privet.table import ReleasedAs, Table, require_columns
from privet.values.arrays import Floats, Ints
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.frozen_dict import FrozenDict
from privet.values.hierarchies import Given, Hierarchy, read_hierarchy
from privet.values.schema import as_names

UTILITIES = ("ncp", "information")


def _require_choice(_method: Any, field: attrs.Attribute[Any], value: object) -> None:
    known = {"utility": UTILITIES, "form": FORMS, "hidden": HIDDEN, "ranges": RANGES}
    require_choice(value, field.name, known[field.name])


def read_hierarchies(
    given: Mapping[str, Given | Hierarchy] | None,
) -> FrozenDict[str, Hierarchy]:
    """The hierarchies of some columns, each from a file or written out."""
    return FrozenDict(
        {
            c: read_hierarchy(h, f"The hierarchy of {c!r}")
            for c, h in (given or {}).items()
        }
    )


def read_orders(
    given: Mapping[str, Sequence[str]] | None, what: str = "values"
) -> FrozenDict[str, tuple[str, ...]]:
    """Some values of each column, in the order given."""
    return FrozenDict(
        {
            c: as_names(v, f"{what} of {c!r}", noun="value")
            for c, v in (given or {}).items()
        }
    )


def read_share(suppress: Number) -> Fraction:
    """The share of the people that may be suppressed."""
    share = fraction(suppress, "suppress")
    if not 0 <= share < 1:
        raise InputError(f"suppress must be from 0 to below 1; got {suppress!r}.")
    return share


def read_price(price: Number) -> Fraction:
    """What a suppressed person costs."""
    found = fraction(price, "price")
    if found < 0:
        raise InputError(f"price must be 0 or more; got {price!r}.")
    return found


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
        Which share of the people may be suppressed. They are starred: they show `*` in
        every known column, and are one more group. Nobody is where stars would hide
        more than others gain. With information and in buckets, and where people belong
        to households, the widest groups are left out.
    leave_out
        Whether the widest groups are left out instead of starring people.
    price
        What a starred person costs, where one costs 1 of whom every column shows `*`.
        Below 1 more are starred.
    hide
        Values that no group may name, by column: where one would be named, `*` stands.
        Groups that look alike then are one, and everything is judged again.
    hidden
        "marker": where nothing is told, `*` stands; "null": the cell is empty, like a
        missing value's, and a column that shows single values only keeps its type.
    ranges
        "labels": ranges are texts; "columns": numbers and dates are written as two
        columns with the ends, such as age_from and age_to, of the column's type.
    """

    kind: ClassVar[str] = "mondrian"
    utility: str = attrs.field(default="ncp", validator=_require_choice)
    form: str = attrs.field(default=GENERALISED, validator=_require_choice)
    hierarchies: Mapping[str, Hierarchy] = attrs.field(
        default=None, converter=read_hierarchies
    )
    order: Mapping[str, tuple[str, ...]] = attrs.field(
        default=None, converter=read_orders
    )
    same_cuts: bool = attrs.field(default=False, converter=bool)
    suppress: Fraction = attrs.field(default=Fraction(0), converter=read_share)
    leave_out: bool = attrs.field(default=False, converter=bool)
    price: Fraction = attrs.field(default=Fraction(1), converter=read_price)
    hide: Mapping[str, tuple[str, ...]] = attrs.field(
        default=None, converter=read_orders
    )
    hidden: str = attrs.field(default=MARKED, validator=_require_choice)
    ranges: str = attrs.field(default=LABELS, validator=_require_choice)

    def __attrs_post_init__(self) -> None:
        if both := sorted(self.hierarchies.keys() & self.order.keys()):
            raise InputError(
                f"Column {both[0]!r} must have a hierarchy or an order; got both."
            )
        if self.hide and self.form == BUCKETS:
            raise InputError(
                "hide must be left out for buckets: they show known values as they are."
            )
        if self.price != 1 and self.suppress and not self._asks_stars:
            raise InputError(
                "price must be left out where the widest groups are left out: by "
                "information, in buckets, and with leave_out. Nobody is starred there."
            )
        written = (self.hidden, self.ranges)
        if self.form == BUCKETS and written != (MARKED, LABELS):
            raise InputError(
                "hidden and ranges must be left out for buckets: they show known "
                "values as they are."
            )

    def for_policy(self, files: Mapping[str, Path]) -> Self:
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
        return MondrianProblem(
            rules, wanted, cells, sets=index_sets(rules, cells, table)
        )

    def group(
        self,
        table: Table,
        prepared: MondrianProblem,
        *,
        watcher: Watcher | None = None,
    ) -> tuple[Partition, Refinement[SplitStep]]:
        """The groups, and how they were found; the counts are used up."""
        stars, blank = self._may_star(prepared), self.hidden == NULL
        prepared = prepared.bring_cells(self.same_cuts or stars, table)
        prepared = prepared.add_known_cells(table)
        cells, released = prepared.cells, len(prepared.cells.domains)
        released -= len(prepared.known)
        quasi = sum(d.name in table.roles.quasi for d in cells.domains)
        made = self._order_attributes(cells, quasi, table)
        cells.move_to_positions([a.position for a in made])
        state = self._build_state(table, prepared, made)
        refined: Refinement[SplitStep]
        tree, starred = np.empty((0, LINE), dtype=np.int64), 0
        blocks: tuple[Ints, ...] = ()
        lines: tuple[int, ...] = ()
        if isinstance(state, StarredState):
            assert isinstance(cells, DistinctRows)
            even = make_criterion(-1, 1)
            plain = RecodingState(cells.rows, list(made), even, state.judge)
            state, refined = refine_with_stars(state, plain, watcher, blank=blank)
            blocks = tuple(state.blocks)
            leaves, starred = state.collect_leaves()
        elif isinstance(state, RecodingState):
            refined, blocks = refine(state, watcher=watcher), tuple(state.blocks)
            leaves = state.collect_leaves()
        else:
            stop = self._limit_stars(cells.people if stars else 0)
            refined = refine(state, watcher=watcher)
            groups, refined = star_outliers(
                state, made, stop, refined, watcher, blank=blank
            )
            (leaves, starred, lines), tree = groups, state.tree
        partition = Partition(
            tuple(made),
            cells.domains[len(made) : released],
            cells.gather_rows(table.options),
            leaves,
            tree,
            blocks_of=blocks,
            starred=starred,
            stars=isinstance(state, StarredState) or (stars and not self.same_cuts),
            starred_lines=lines,
            blank=blank,
        )
        return partition, refined

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
    ) -> MondrianState | RecodingState | StarredState:
        cells = prepared.cells
        at = {d.name: j for j, d in enumerate(cells.domains)}
        judge = prepared.build_constraints()
        target = at[table.roles.target or ""] if self.utility == "information" else -1
        classes = len(cells.domains[target]) if target >= 0 else 1
        aim = make_criterion(target, classes)
        form, names = domain_order.pack_domains(made), tuple(a.name for a in made)
        if isinstance(cells, DistributedRows):
            cutter = cells.make_kernels(judge.rules.about.tolist(), target)
            return MondrianState(
                cells, form, aim, judge, cutter, names, distributed_rows.AT_ONCE
            )
        stars = self._limit_stars(cells.people)
        if self.same_cuts and self._stars_cuts(prepared, cells, judge):
            return StarredState(cells.rows, list(made), judge, stars)
        if self.same_cuts:
            return RecodingState(cells.rows, list(made), aim, judge)
        cutter = kernels.choose_kernels(len(cells.rows), not judge.is_local)
        return MondrianState(cells.rows, form, aim, judge, cutter, names)

    @property
    def stars(self) -> bool:
        """Whether people that may be suppressed are starred, where that keeps more."""
        plain = self.utility == "ncp" and self.form == GENERALISED
        return plain and not self.leave_out

    @property
    def _asks_stars(self) -> bool:
        return self.stars and self.suppress > 0

    def _limit_stars(self, people: int) -> Suppression:
        """How many of so many people may be starred, and what each costs."""
        return Suppression(int(self.suppress * people), float(self.price))

    def _may_star(self, prepared: MondrianProblem) -> bool:
        """Whether people are starred where some may be suppressed.

        Cuts by information keep all labels, buckets have none, and for households
        splits are undone: there wide groups are left out afterwards.
        """
        homes = any(
            isinstance(r.promise, Promise) and asks_households(r.promise)
            for r in prepared.rules
        )
        return self._asks_stars and not homes

    def _stars_cuts(
        self, prepared: MondrianProblem, cells: DistinctRows, judge: Constraints
    ) -> bool:
        """Whether cuts for everybody are chosen together with who is starred."""
        few = can_star(cells.rows, len(cells.domains), judge)
        return (
            self._may_star(prepared) and few and int(self.suppress * cells.people) > 0
        )

    # Columns ------------------------------------------------------------------------

    def check_values(self, prepared: MondrianProblem) -> None:
        """Hierarchies and orders must hold all values, whether or not they are used."""
        for domain in prepared.cells.domains:
            if domain.name in self.hierarchies:
                self.hierarchies[domain.name].require(domain.labels, domain.name)
            elif domain.name in self.order:
                domain_order.order_as_given(domain, self.order[domain.name])

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
        if domain.kind in domain_order.RANGES or domain.name in table.roles.bins:
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

    def list_suppressed(self, partition: Partition) -> Iterator[Partition]:
        """The groups without the widest, without half of those, …, and all of them.

        Without some of its groups a release tells nobody more about the others; but
        what they are held against moves with each, so that fewer may have to go.
        Where it was chosen with the cuts who is starred, that is it.
        """
        none = np.empty(0, dtype=np.int64)
        out = none if partition.stars else self._find_outliers(partition)
        while len(out):
            gone = int(partition.leaves[out, 2].sum())
            kept = np.delete(partition.leaves, out, axis=0)
            yield replace(partition, leaves=kept, suppressed=gone)
            out = out[: len(out) // 2]
        yield partition

    def suppress_nobody(self) -> Self | None:
        """The same with everybody shown, where who is suppressed was chosen early."""
        return attrs.evolve(self, suppress=0) if self._asks_stars else None

    def _find_outliers(self, partition: Partition) -> Ints:
        """Groups at least twice as wide as the average, the widest first."""
        most = int(self.suppress * partition.people)
        if not most:
            return np.empty(0, dtype=np.int64)
        loss, people = partition.loss, partition.leaves[:, 2]
        wide = loss >= 2 * (loss * people).sum() / people.sum()
        order = np.argsort(-loss, kind="stable")
        order = order[wide[order] & (loss[order] > 0)]
        out = order[np.cumsum(people[order]) <= most]
        return np.asarray(out[: len(partition) - 1])


def _check_target(table: Table) -> None:
    target = table.roles.target
    if target is None:
        raise InputError(
            mark(
                "utility must be 'ncp' for a table without a target; got "
                "'information'. Declare a target, or choose ncp."
            )
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


class GroupingMethod(Protocol):
    """A way to put people into groups."""

    kind: ClassVar[str]

    @property
    def form(self) -> str:
        """How groups are shown."""

    @property
    def ranges(self) -> str:
        """How ranges are written."""

    @property
    def hide(self) -> Mapping[str, tuple[str, ...]]:
        """Values that no group may name."""

    def for_policy(self, files: Mapping[str, Path]) -> Self:
        """With the hierarchies of a policy."""

    def prepare(
        self,
        table: Table,
        promises: Sequence[Promise],
        measures: Sequence[Measure],
        run: Run,
    ) -> MondrianProblem:
        """What must hold, and the counts."""

    def check_values(self, prepared: MondrianProblem) -> None:
        """Hierarchies and orders must hold all values."""

    def group(
        self, table: Table, prepared: MondrianProblem, *, watcher: Watcher | None
    ) -> tuple[Partition, Refinement[SplitStep]]:
        """The groups, and how they were found."""

    def list_suppressed(self, partition: Partition) -> Iterator[Partition]:
        """The groups as they may be released; the last if no other is safe."""

    def suppress_nobody(self) -> Self | None:
        """The same without suppression, where that may find what this does not."""


def publish_groups(
    table: Table,
    policy: Policy,
    method: GroupingMethod,
    *,
    run: Run,
    watcher: Watcher | None,
) -> Release:
    """Make a release in groups; or raise `Infeasible`.

    Some measures are judged in the end only: with people suppressed the search may go
    where one fails, though it is kept without.
    """
    try:
        return _publish_groups(table, policy, method, run=run, watcher=watcher)
    except Infeasible as found:
        other = method.suppress_nobody()
        if other is None:
            raise
        try:
            return _publish_groups(table, policy, other, run=run, watcher=watcher)
        except Infeasible:
            raise found from None


def _publish_groups(
    table: Table,
    policy: Policy,
    method: GroupingMethod,
    *,
    run: Run,
    watcher: Watcher | None,
) -> Release:
    _refuse_nothing_to_judge(policy)
    method = method.for_policy(policy.hierarchy_files())
    prepared = method.prepare(table, policy.promises, policy.measures, run)
    stated: list[Promise | Measure] = [*policy.promises, *policy.measures]
    table = settle_rules(table, stated, run, prepared.as_rows(table))
    with warnings.catch_warnings():
        # Who belongs together is not among the counts: that is no released column.
        homes = list_household_promises(policy)
        counted = table if homes else prepared.as_table(table)
        before = judge_before(counted, policy, run=run)
    if keeps_all(before) and not method.hide:
        method.check_values(prepared)
        return publish_unchanged(table, policy, before, run, counted)
    if not table.roles.quasi:
        raise InputError(
            "A table must have quasi columns to be put into groups. It does not keep "
            "every promise as it is, and groups blur quasi columns only."
        )
    partition, refined = method.group(table, prepared, watcher=watcher)
    if homes:
        partition, refined = undo_splits(partition, refined, table, policy, run)
    for shown in method.list_suppressed(partition):
        grouped = build_form(shown, table, method.form, method.ranges)
        with closing(grouped):
            for file in grouped.files:
                refuse_taken(file.spread, file.columns)
            with warnings.catch_warnings(action="ignore"):  # said once, above
                counts = grouped.files[-1].counts
                after = judge_policy(counts, policy, run=run)
                if homes:
                    after = judge_partition(after, shown, table, counts, run)
        if keeps_all(after) or shown is partition:
            break
        grouped.close()
    with closing(grouped):
        release = Release(
            _table=grouped.table,
            policy=policy,
            audit=after,
            method=method.kind,
            steps=refined.steps,
            before=before,
            ended=refined.ended,
            left=refined.left,
            grouped=grouped,
            _origin=table,
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
