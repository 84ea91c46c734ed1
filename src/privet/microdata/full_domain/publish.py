"""The method `FullDomain`: each column at one level of its hierarchy, for everybody.

From the promises and measures to the node of the lattice that costs least, or to cuts
of the hierarchies below it, with up to a share of the people suppressed.
Samarati 2001; El Emam and others 2009; LeFevre, DeWitt, Ramakrishnan 2005.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import ClassVar, Self

import attrs
import numpy as np

from privet.engine.protocol import Run
from privet.errors import Infeasible, InputError, TooLarge
from privet.microdata.full_domain.automatic_hierarchies import build_hierarchy
from privet.microdata.full_domain.full_domain_search import (
    FullDomainResult,
    FullDomainSearch,
)
from privet.microdata.full_domain.group_judge import ConstraintJudge
from privet.microdata.full_domain.lattice import Lattice, LevelledColumn
from privet.microdata.full_domain.node_counts import CountCube
from privet.microdata.full_domain.subtrees import SubtreeCut, SubtreeSearch
from privet.microdata.full_domain.suppression_pool import PoolSearch, Suppression
from privet.microdata.full_domain.window_histograms import (
    WindowHistogram,
    make_window_histograms,
)
from privet.microdata.generalisation import domain_order
from privet.microdata.generalisation.constraints import (
    Constraints,
    ScoredMeasure,
    choose_column,
    judge_window,
)
from privet.microdata.generalisation.distinct_rows import DistinctRows
from privet.microdata.generalisation.domain_order import NOBODY, OrderedDomain
from privet.microdata.generalisation.forms import GENERALISED
from privet.microdata.generalisation.infeasible_promises import refuse_infeasible
from privet.microdata.generalisation.mondrian import SplitStep
from privet.microdata.generalisation.mondrian_problem import MondrianProblem
from privet.microdata.generalisation.partition import Partition, format_node
from privet.microdata.generalisation.publish import (
    Mondrian,
    read_hierarchies,
    read_orders,
    read_price,
    read_share,
)
from privet.microdata.generalisation.splits.split_task import LINE
from privet.microdata.level_choice import (
    LEFT_OUT,
    LEVELS,
    STARRED,
    SUBTREES,
    LevelChoice,
)
from privet.microdata.privacy_models.models import is_monotone
from privet.microdata.written_columns import LABELS, MARKED
from privet.policy import Measure, Promise
from privet.release.refine import Refinement, RefinementProgress, Watcher, find_end
from privet.table import Table
from privet.values.arrays import Flags, Ints
from privet.values.contingency import Domain, find_distinct
from privet.values.converters import name_fields
from privet.values.exact import Number, fraction
from privet.values.frozen_dict import FrozenDict
from privet.values.hierarchies import Hierarchy
from privet.values.windows import Within

MOST_CELLS = 2**27
"""Distinct known rows times protected values that are held in memory."""

STARTS = 60
"""The best nodes that subtrees are looked for below."""


def _read_weights(
    given: Mapping[str, Number] | None,
) -> FrozenDict[str, Fraction]:
    found = {c: fraction(w, f"weight of {c!r}") for c, w in (given or {}).items()}
    for column, weight in found.items():
        if weight <= 0:
            raise InputError(f"The weight of {column!r} must be above 0; got {weight}.")
    return FrozenDict(found)


@attrs.frozen(kw_only=True, field_transformer=name_fields)
class FullDomain:
    """Show each column at one level of its hierarchy, the same for everybody.

    Parameters
    ----------
    hierarchies
        By column: an ARX file (a line per value: value;level 1;level 2;…) or the
        levels of each value. Columns without one get periods (dates), round intervals
        (numbers), wider bins, prefixes (codes of one length), else `*` above all.
    order
        For categories with an order of their own: their values in that order, which
        form runs of two, four, eight.
    subtrees
        Whether each branch of a hierarchy may be shown at a level of its own, which
        keeps more.
    suppress
        Which share of the people may be suppressed.
    leave_out
        Whether suppressed people are left out; otherwise they stay, with `*` in every
        known column, and are judged as one more group.
    weights
        How much the precision of columns is worth; 1 unless said.
    price
        What a suppressed person costs, where one costs 1 of whom every column shows
        `*`. Above 1 more is generalised, below 1 more is suppressed.
    """

    kind: ClassVar[str] = "full-domain"
    form: ClassVar[str] = GENERALISED
    hidden: ClassVar[str] = MARKED
    ranges: ClassVar[str] = LABELS
    hide: ClassVar[Mapping[str, tuple[str, ...]]] = FrozenDict({})
    hierarchies: Mapping[str, Hierarchy] = attrs.field(
        default=None, converter=read_hierarchies
    )
    order: Mapping[str, tuple[str, ...]] = attrs.field(
        default=None, converter=read_orders
    )
    subtrees: bool = attrs.field(default=False, converter=bool)
    suppress: Fraction = attrs.field(default=Fraction(0), converter=read_share)
    leave_out: bool = attrs.field(default=False, converter=bool)
    weights: Mapping[str, Fraction] = attrs.field(default=None, converter=_read_weights)
    price: Fraction = attrs.field(default=Fraction(1), converter=read_price)

    def __attrs_post_init__(self) -> None:
        self._as_mondrian()  # refuses what does not go together

    def _as_mondrian(self) -> Mondrian:
        """What both methods ask of a table, and take of its columns."""
        return Mondrian(
            hierarchies=self.hierarchies, order=self.order, suppress=self.suppress
        )

    def for_policy(self, files: Mapping[str, Path]) -> Self:
        """With a policy's hierarchies for the columns that have none here."""
        known = self._as_mondrian().for_policy(files)
        return attrs.evolve(self, hierarchies=known.hierarchies)

    def prepare(
        self,
        table: Table,
        promises: Sequence[Promise],
        measures: Sequence[Measure],
        run: Run,
    ) -> MondrianProblem:
        """What must hold, and the counts of everything that is released."""
        for column in self.weights:
            if column not in table.roles.quasi:
                raise InputError(
                    f"weights must be of quasi columns; {column!r} is none."
                )
        found = self._as_mondrian().prepare(table, promises, measures, run)
        return _judge_every_measure(found, measures, table)

    def check_values(self, prepared: MondrianProblem) -> None:
        """Hierarchies and orders must hold all values, whether or not they are used."""
        self._as_mondrian().check_values(prepared)

    def group(
        self,
        table: Table,
        prepared: MondrianProblem,
        *,
        watcher: Watcher | None = None,
    ) -> tuple[Partition, Refinement[SplitStep]]:
        """The groups, and how they were found; the counts are used up."""
        prepared = prepared.bring_cells(True, table).add_known_cells(table)
        cells = prepared.cells
        assert isinstance(cells, DistinctRows)
        quasi = [d for d in cells.domains if d.name in table.roles.quasi]
        made = [self._order_values(d, table) for d in quasi]
        cells.move_to_positions([a.position for a in made])
        problem = FullDomainProblem(self, made, cells, prepared)
        found, refined = problem.search(watcher)
        released = len(cells.domains) - len(prepared.known)
        return problem.part(found, cells.domains[len(made) : released]), refined

    def list_suppressed(self, partition: Partition) -> Iterator[Partition]:
        """Who is suppressed was chosen by the search."""
        yield partition

    def suppress_nobody(self) -> Self | None:
        """The same with everybody shown."""
        return attrs.evolve(self, suppress=0) if self.suppress else None

    def _order_values(self, domain: Domain, table: Table) -> OrderedDomain:
        name = domain.name
        hierarchy = self.hierarchies.get(name)
        if hierarchy is None:
            if name in self.order:
                domain_order.order_as_given(domain, self.order[name])  # all are there
            bins = None if name in self.order else table.roles.bins.get(name)
            hierarchy = build_hierarchy(domain, self.order.get(name, ()), bins)
        return domain_order.order_by_hierarchy(domain, hierarchy)


def _judge_every_measure(
    found: MondrianProblem, measures: Sequence[Measure], table: Table
) -> MondrianProblem:
    """With measures that larger groups may worsen: nodes are judged one by one."""
    more = [
        ScoredMeasure(m, choose_column(m, table))
        for m in measures
        if not is_monotone(m) and m.missing == "value"
    ]
    asked = replace(found.asked, steered=(*found.asked.steered, *more))
    return replace(found, asked=asked)


@dataclass(frozen=True, eq=False)
class FoundCut:
    """The level of every value, and which groups are suppressed."""

    cut: SubtreeCut
    """The level of every value."""
    cost: float
    """What it costs."""
    out: Flags
    """Which groups are suppressed, in the order of `CountCube.roll_up`."""
    node: FullDomainResult
    """The best node, and how many were judged."""
    finished: bool = True
    """Whether every step from there was tried."""


@dataclass(frozen=True, eq=False)
class FullDomainProblem:
    """Counts, hierarchies and constraints, ready to be searched."""

    method: FullDomain
    made: Sequence[OrderedDomain]
    cells: DistinctRows
    prepared: MondrianProblem

    @cached_property
    def columns(self) -> list[LevelledColumn]:
        """The known columns with their weights."""
        weights = self.method.weights
        return [
            LevelledColumn(a.name, a.nodes, float(weights.get(a.name, Fraction(1))))
            for a in self.made
        ]

    @property
    def _may_go(self) -> bool:
        """Whether who is left may keep what one group of everybody does not."""
        return self.method.leave_out and self.method.suppress > 0

    @cached_property
    def judge(self) -> Constraints:
        """What must hold; an error where not even one group of everybody keeps it."""
        found = self._values.build_constraints()
        if self._may_go:
            return found
        rows = self.cells.rows
        people = rows[:, -1].astype(np.int64)
        hist = np.zeros(int(found.rules.offset[-1]), dtype=np.int64)
        for j, c in enumerate(found.rules.about.tolist()):
            np.add.at(hist, rows[:, c] + found.rules.offset[j], people)
        found.begin(hist, int(people.sum()), rows)
        return found

    @cached_property
    def _values(self) -> MondrianProblem:
        """What must hold of single values."""
        kept = [r for r in self.prepared.rules if not isinstance(r.values, Within)]
        return replace(self.prepared, rules=kept)

    @cached_property
    def windows(self) -> list[WindowHistogram]:
        """What must hold of numbers within windows; errors as those of `judge`."""
        start = int(self.judge.rules.offset[-1])
        found = make_window_histograms(self.prepared.rules, self.cells, start)
        people = self.cells.rows[:, -1].astype(np.int64)
        broken = [
            beyond
            for window in (() if self._may_go else found)
            for beyond in judge_window(
                window.constraint, window.count_everybody(people)
            )
        ]
        refuse_infeasible(broken, self.judge.least, int(people.sum()))
        return found

    @cached_property
    def base(self) -> tuple[CountCube, Ints]:
        """Distinct known rows with their histograms, and which each cell belongs to."""
        rows, known = self.cells.rows, len(self.made)
        sizes = [c.nodes.shape[1] for c in self.columns]
        codes = [rows[:, c] for c in range(known)]
        first, group = find_distinct(codes, sizes, len(rows))
        values = int(self.judge.rules.offset[-1]) + sum(map(len, self.windows))
        if len(first) * max(values, 1) > MOST_CELLS:
            raise TooLarge(
                "Full-domain search needs distinct known rows times protected values "
                f"of at most {MOST_CELLS:,}; there are {len(first):,} times "
                f"{values:,}. Use --method mondrian, or bin the columns."
            )
        people = rows[:, -1].astype(np.int64)
        hist = np.zeros((len(first), values), dtype=np.int64)
        for j, c in enumerate(self.judge.rules.about.tolist()):
            np.add.at(hist, (group, rows[:, c] + self.judge.rules.offset[j]), people)
        for window in self.windows:
            np.add.at(hist, (group, window.start + window.number), people)
        totals = np.bincount(group, people, minlength=len(first)).astype(np.int64)
        at = rows[first, :known].astype(np.int64)
        return CountCube(at, hist, totals), group.astype(np.int64)

    def search(self, watcher: Watcher | None) -> tuple[FoundCut, Refinement[SplitStep]]:
        """The best node, and where subtrees are asked for the best cut below one."""
        base = self.base[0]
        margins = [
            base.count_margin(i, c.nodes.shape[1]) for i, c in enumerate(self.columns)
        ]
        lattice = Lattice(self.columns, margins)
        semantics = LEFT_OUT if self.method.leave_out else STARRED
        asked = Suppression.share(
            self.method.suppress, base.people, float(self.method.price), semantics
        )
        judge = self._judge_by(self.judge)
        pools = PoolSearch(judge, asked, self._refer)
        stop = _Stop(watcher, len(lattice), half=self.method.subtrees)
        nodes = FullDomainSearch(base, lattice, pools, asked)
        result = nodes.run(stop.after_node)
        if result.node is None or result.pool is None or result.pool.out is None:
            points = [r.point for own in self.judge.apart.values() for r in own]
            points += [w.constraint.point for w in self.windows]
            companions = any(point.m for point in points)
            raise refuse_levels(result, self.method, companions)
        cut = SubtreeCut.of_node(result.node, self.columns)
        # The lowest node's groups stand as they were counted: by position, not label.
        groups = nodes.find_groups(result.node)
        out = np.zeros(len(groups), dtype=bool)
        out[groups.number_groups(cut.number_labels(self.columns))] = result.pool.out
        found = FoundCut(cut, result.cost, out, result)
        if self.method.subtrees:
            stop.go_on()
            below = SubtreeSearch(base, lattice, pools, asked)
            for node in result.best[:STARTS]:
                if stop.is_late() or below.exhausted:
                    break
                best = below.descend(node, stop.is_late)
                assert best.pool.out is not None
                if best.cost < found.cost:
                    found = FoundCut(best.cut, best.cost, best.pool.out, result)
            if stop.is_late() or below.exhausted:
                found = replace(found, finished=False)
        return found, Refinement((), stop.ended)

    def _refer(self, hist: Ints) -> ConstraintJudge:
        """What is left is held against itself, as whoever recounts it would."""
        rules = self.judge.rules
        if not len(rules.about):  # nothing is counted but people
            return self._judge_by(self.judge)
        names = [self.cells.domains[c].name for c in rules.about.tolist()]
        parts = np.split(hist, rules.offset[1:].tolist())[:-1]
        everybody = dict(zip(names, parts, strict=True))
        found = self._values.build_constraints(everybody)
        # Of a number within a window only its own group is a matter.
        return self._judge_by(found)

    def _judge_by(self, constraints: Constraints) -> ConstraintJudge:
        steered = self.prepared.asked.steered
        monotone = all(is_monotone(s.measure) for s in steered)
        return ConstraintJudge(constraints, self.windows, monotone=monotone)

    def part(self, found: FoundCut, others: tuple[Domain, ...]) -> Partition:
        """The groups of a cut, the suppressed ones as one or none."""
        base, of_cell = self.base
        labels = found.cut.number_labels(self.columns)
        group = base.number_groups(labels)
        out = found.out[group][of_cell]
        number = np.where(out, found.out.size, group[of_cell])
        order = np.argsort(number, kind="stable")
        rows = self.cells.rows
        rows[:] = rows[order]
        starts = np.flatnonzero(np.diff(number[order], prepend=-1))
        stops = np.append(starts[1:], len(rows))
        people = np.add.reduceat(rows[:, -1].astype(np.int64), starts)
        leaves = np.column_stack([starts, stops, people])
        starred = bool(out.any())
        gone = int(people[-1]) if starred else 0
        made = Partition(
            tuple(self.made),
            others,
            rows,
            leaves,
            np.empty((0, LINE), dtype=np.int64),
            blocks_of=tuple(labels),
            names_of=tuple(
                _name_blocks(a, own, number)
                for a, own, number in zip(
                    self.made, found.cut.levels, labels, strict=True
                )
            ),
            starred=gone,
            choice=self._describe(found, gone),
        )
        if starred and self.method.leave_out:
            return replace(made, leaves=leaves[:-1], starred=0, suppressed=gone)
        return made

    def _describe(self, found: FoundCut, gone: int) -> LevelChoice:
        levels = {
            c.name: None if len(set(own.tolist())) > 1 else int(own[0])
            for c, own in zip(self.columns, found.cut.levels, strict=True)
        }
        return LevelChoice(
            SUBTREES if self.method.subtrees else LEVELS,
            found.cost,
            found.node.bound,
            found.node.judged,
            found.node.nodes,
            gone,
            LEFT_OUT if self.method.leave_out else STARRED,
            levels,
            found.finished,
        )


def _name_blocks(
    attribute: OrderedDomain, levels: Ints, labels: Ints
) -> tuple[str | None, ...]:
    """What each label is called: the name its hierarchy has for it."""
    found: list[str | None] = []
    # Labels are numbered from 0 on, none left out.
    for position in np.unique(labels, return_index=True)[1].tolist():
        level = int(levels[position])
        name = attribute.names[level][int(attribute.nodes[level, position])]
        if level and name != NOBODY:
            found.append(format_node(name))
        elif attribute.texts[position] is None:
            found.append(None)
        else:
            found.append(attribute.spelled[position])
    return tuple(found)


class _Stop:
    """When to stop: at the end of the time, or when who watches says so."""

    def __init__(self, watcher: Watcher | None, nodes: int, *, half: bool) -> None:
        """The first half of the time is for nodes, where something comes after them."""
        self._watcher = watcher
        self._nodes = nodes
        self._last = self._end = find_end(None)
        if half and self._last is not None:
            self._end = (monotonic() + self._last) / 2
        self._late = False
        self.ended = "finished"

    def go_on(self) -> None:
        """Nodes have had their time; what comes now has the rest."""
        self._end, self._late = self._last, self.ended == "callback"

    def is_late(self) -> bool:
        """Whether the time is over."""
        if self._end is not None and monotonic() > self._end:
            self.ended, self._late = "time", True
        return self._late

    def after_node(self, judged: int, best: float | None, least: float) -> bool:
        """Tell how far it is; whether to stop with what there is."""
        if best is None:  # nothing safe is in hand yet, to be shown when time is over
            Run().check()
            return False
        if self._watcher is not None:
            cost = best if isfinite(best) else 1.0
            doing = f"judging levels; cost {cost:.4f}, at least {least:.4f}"
            progress = RefinementProgress(
                judged, doing, Fraction(0), self._nodes - judged
            )
            if self._watcher(progress) is False:
                self.ended, self._late = "callback", True
        return self.is_late()


def refuse_levels(
    result: FullDomainResult, method: FullDomain, companions: bool
) -> Infeasible:
    """What was found; only a search that tries everything may say "cannot".

    Of all sets of people to suppress few are tried, and companions may be bounded.
    """
    if method.suppress or companions:
        others = "the others are finer than one that fails. Another choice may be safe"
        found = "No level of the hierarchies was found to keep every promise"
    else:
        others = "the others cannot"
        found = "No level of the hierarchies keeps every promise"
    share = f" with at most {float(method.suppress):.3g} of the people suppressed"
    more = share if method.suppress else ""
    return Infeasible(
        f"{found}{more}: {result.judged:,} of {result.nodes:,} combinations were "
        f"judged, and {others}.",
        best=None,
        advice=[
            "Allow more to be suppressed, with --suppress 0.05 (suppress=0.05).",
            "Give the hierarchies a coarser level.",
            "Use --method mondrian (Mondrian()), which makes groups of their own.",
        ],
    )
