"""Mondrian on a cluster: distinct rows are split on the machines that counted them.

Where every constraint looks at one group alone, the order of splits is no matter: large
groups are split from sums that the machines send, one after the other; groups that are
small enough for one machine are handed to the machines, all at once, and each is split
as far as it goes. Splits, groups and labels are those that one machine arrives at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.engine.protocol import CountUnit, Run
from privet.engine.remote.partitioned_counts import (
    ColumnPair,
    Histogram,
    LeafResults,
    Lines,
    PartitionedCounts,
    PartitionedEngine,
    SplitTree,
)
from privet.errors import EngineError
from privet.microdata.generalisation.distinct_rows import (
    DistinctRows,
    allocate_rows,
    check_people,
)
from privet.microdata.generalisation.domain_order import DomainArrays
from privet.microdata.generalisation.splits import kernels
from privet.microdata.generalisation.splits.kernels import SplitKernels, Sweep
from privet.microdata.generalisation.splits.prefix_cuts import (
    CutRows,
    find_cuts,
    list_places,
)
from privet.microdata.generalisation.splits.split_loops import keep_worst
from privet.microdata.generalisation.splits.split_task import (
    LINE,
    BestSplits,
    Cells,
    GroupRules,
    SplitCriterion,
    SplitTask,
)
from privet.table import Table
from privet.values.arrays import Floats, Ints
from privet.values.contingency import Domain

HERE = 8_000_000
"""Up to this many cells are brought here and split here, which is faster."""

AT_ONCE = 1_000_000
"""Cells of a group that one machine of many splits as far as it goes."""


def hold_distinct_rows(
    table: Table, columns: Sequence[str], run: Run
) -> DistributedRows | DistinctRows | None:
    """The combinations of some columns, where they are; here if they are few.

    None where there are no machines to keep them, or clearly no need.
    """
    engine = table.engine
    if not isinstance(engine, PartitionedEngine) or engine.rows(run) <= HERE:
        return None
    domains = table.domains(list(columns), run)
    amount = CountUnit(table.roles.unit, table.roles.weight)
    held = engine.hold(columns, amount, table.recodings, run)
    if held is None:
        return None
    check_people(held.people)
    found = DistributedRows(tuple(domains[c] for c in columns), held, run)
    if held.lines > HERE:
        return found
    return found.bring_here(table.options)


class DistributedRows:
    """The distinct rows of a table, kept elsewhere."""

    def __init__(
        self, domains: tuple[Domain, ...], held: PartitionedCounts, run: Run
    ) -> None:
        self.domains = domains
        self._held = held
        self._run = run
        self._leaves = _Leaves(held.lines)
        self._partners: tuple[int, ...] = (-1,)
        self._seen: dict[int, dict[ColumnPair, Histogram]] = {}
        self._worked: list[LeafResults] = []
        self._told: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._held.lines

    @property
    def people(self) -> int:
        """How many there are in all."""
        return self._held.people

    def sum_by_value(
        self, column: int, inside: tuple[int, int] | None = None
    ) -> Floats:
        """People with each value of a column; of those with one value of another."""
        pair = ColumnPair(column, -1 if inside is None else inside[0])
        found = self._held.count(None, [0], [pair], self._run)[0, pair]
        kept = slice(None) if inside is None else found.second == inside[1]
        size = len(self.domains[column])
        weights = found.n[kept].astype(np.float64)
        made = np.bincount(found.first[kept], weights=weights, minlength=size)
        return made.astype(np.float64)

    def bring_here(self, options: Any) -> DistinctRows:
        """All cells, here."""
        rows = self._fetch_rows(options)
        self.close()
        return DistinctRows(self.domains, rows)

    def move_to_positions(self, positions: Sequence[Ints]) -> None:
        """Let positions stand for the codes of the first columns."""
        self._held.move_to_positions(positions)

    def close(self) -> None:
        """Let the machines forget the cells."""
        for worked in self._worked:
            worked.close()
        self._held.close()

    def gather_rows(self, options: Any) -> Cells:
        """All cells, those of a group side by side; the machines forget them."""
        rows = self._fetch_rows(options)
        self.close()
        return rows

    def _fetch_rows(self, options: Any) -> Cells:
        rows = allocate_rows(len(self), len(self.domains) + 1, options)
        filled = {
            leaf: start for leaf, (start, _) in self._leaves.list_leaves().items()
        }

        def take(leaf: int, lines: Lines) -> None:
            start = filled[leaf]
            rows[start : start + len(lines)] = lines
            filled[leaf] = start + len(lines)

        left = [leaf for leaf in filled if leaf not in self._told]
        for worked in self._worked:
            worked.fetch_blocks(self._run, take)
        if left:
            self._held.fetch_blocks(self._leaves.build_tree(), left, self._run, take)
        if any(
            filled[leaf] != stop
            for leaf, (_, stop) in self._leaves.list_leaves().items()
        ):
            raise EngineError("A part of the counts did not arrive whole. Try again.")
        return rows

    # The loops ------------------------------------------------------------------------

    def make_kernels(self, about: Sequence[int], target: int) -> SplitKernels:
        """The loops of Mondrian, on what the machines tell."""
        partners = [*about, *([target] if target >= 0 else [])]
        self._partners = tuple(dict.fromkeys(partners)) or (-1,)
        return SplitKernels(
            "distributed",
            self.survey,
            self.tally,
            self.sweep,
            self.part,
            self.finish,
        )

    def _fetch_histograms(self, leaf: int) -> dict[ColumnPair, Histogram]:
        """What is known of a leaf; asked for together with that of others as large."""
        if leaf not in self._seen:
            spans = self._leaves.list_leaves()
            fresh = [i for i in spans if i not in self._seen and _is_large(*spans[i])]
            wanted = sorted({leaf, *fresh})
            known = range(len(self._held.meant.positions))
            pairs = [ColumnPair(d, j) for d in known for j in self._partners]
            found = self._held.count(
                self._leaves.build_tree(), wanted, pairs, self._run
            )
            for i in wanted:
                self._seen[i] = {p: found[i, p] for p in pairs}
        return self._seen[leaf]

    def survey(
        self,
        _cells: Any,
        start: int,
        stop: int,
        shape: DomainArrays,
        aim: SplitCriterion,
    ) -> BestSplits:
        """See `kernels.survey`: cells with one column each do."""
        leaf = self._leaves.find_leaf(start, stop)
        columns, width = len(shape.kind), len(self.domains) + 1
        found = BestSplits.of(columns)
        partner = aim.target if aim.target >= 0 else self._partners[0]
        for d in range(columns):
            seen = self._fetch_histograms(leaf)[ColumnPair(d, partner)]
            # People by position and class stand in for the rows of the leaf.
            cells = np.zeros((len(seen.n), width), dtype=np.int64)
            cells[:, d], cells[:, -1] = seen.first, seen.n
            if aim.target >= 0:
                cells[:, aim.target] = seen.second
            own = kernels.survey(cells, 0, len(cells), shape, aim)
            for whole, part in zip(found, own, strict=True):
                whole[d] = part[d]
        return found

    def tally(
        self,
        _cells: Any,
        start: int,
        stop: int,
        column: int,
        cut: int,
        rules: GroupRules,
    ) -> tuple[Ints, int]:
        """See `kernels.tally`."""
        seen = self._fetch_histograms(self._leaves.find_leaf(start, stop))
        hist = np.zeros((2, int(rules.offset[-1])), dtype=np.int64)
        for j, c in enumerate(rules.about.tolist()):
            own = seen[ColumnPair(column, c)]
            # People by position and protected value: 0 is left of the cut, 1 right.
            right = (own.first > cut).astype(np.int64)
            np.add.at(hist, (right, rules.offset[j] + own.second), own.n)
        any_ = seen[ColumnPair(column, self._partners[0])]
        return hist, int(any_.n[any_.first <= cut].sum())

    def sweep(
        self, _cells: Any, start: int, stop: int, column: int, task: SplitTask
    ) -> Sweep:
        """See `kernels.sweep`: people by position and value stand in for rows."""
        shape, aim, rules = task
        seen = self._fetch_histograms(self._leaves.find_leaf(start, stop))
        partner = aim.target if aim.target >= 0 else self._partners[0]
        own = seen[ColumnPair(column, partner)]
        keys = own.first * aim.classes + (own.second if aim.target >= 0 else 0)
        places = list_places(keys, int(shape.size[column]), own.n, 1, aim.classes)

        def fetch(j: int) -> CutRows:
            of = seen[ColumnPair(column, int(rules.about[j]))]
            return CutRows(np.zeros_like(of.first), of.first, of.second, of.n)

        return find_cuts(places, column, shape, aim)[0], fetch

    def part(self, _cells: Any, start: int, stop: int, column: int, cut: int) -> int:
        """See `kernels.part`: no row is moved before all are."""
        leaf = self._leaves.find_leaf(start, stop)
        own = self._fetch_histograms(leaf)[ColumnPair(column, self._partners[0])]
        # Distinct rows, not people: where the cells will lie.
        left = int(own.lines[own.first <= cut].sum())
        self._leaves.split_leaf(leaf, column, cut, start + left)
        del self._seen[leaf]
        return start + left

    def finish(
        self, _cells: Any, start: int, stop: int, task: SplitTask, worst: Ints
    ) -> Ints:
        """See `kernels.finish`; all small groups at once."""
        leaf = self._leaves.find_leaf(start, stop)
        if leaf not in self._told:
            self._finish_small(FinishSplits(task))
        # (rules, 2) of the surest beliefs, then lines of the tree from row 0 on.
        said = np.frombuffer(self._told[leaf], dtype=np.int64)
        keep_worst(worst, said[: worst.size].reshape(1, *worst.shape))
        lines = said[worst.size :].reshape(-1, LINE).copy()
        lines[:, :2] += start
        return lines

    def _finish_small(self, work: FinishSplits) -> None:
        """Hand all groups to the machines that are small enough."""
        spans, tree = self._leaves.list_leaves(), self._leaves.build_tree()
        small = [i for i in spans if not _is_large(*spans[i]) and i not in self._told]
        worked = self._held.map_leaves(tree, small, work, self._run)
        self._worked.append(worked)
        self._told |= worked.fetch_results(self._run)


def _is_large(start: int, stop: int) -> bool:
    return stop - start > AT_ONCE


@dataclass(frozen=True, eq=False)
class FinishSplits:
    """Split one group as far as it goes, on the machine that has it."""

    task: SplitTask

    def __call__(self, lines: Lines) -> bytes:
        """The surest belief of each rule, and the tree of splits."""
        worst = np.tile(np.array([0, 1]), (len(self.task.rules.of), 1))
        cutter = kernels.choose_kernels(len(lines))
        tree = cutter.finish(lines, 0, len(lines), self.task, worst)
        return worst.tobytes() + tree.tobytes()


class _Leaves:
    """The leaves of the split tree so far, by where their cells will lie."""

    def __init__(self, lines: int) -> None:
        self._column, self._cut, self._left = [-1], [0], [0]
        self._span = [(0, lines)]
        self._node = {(0, lines): 0}

    def find_leaf(self, start: int, stop: int) -> int:
        return self._node[start, stop]

    def list_leaves(self) -> dict[int, tuple[int, int]]:
        """Where each leaf begins and ends."""
        return {i: s for i, s in enumerate(self._span) if self._column[i] < 0}

    def build_tree(self) -> SplitTree:
        return SplitTree(
            np.array(self._column), np.array(self._cut), np.array(self._left)
        )

    def split_leaf(self, leaf: int, column: int, cut: int, middle: int) -> None:
        start, stop = self._span[leaf]
        self._column[leaf], self._cut[leaf] = column, cut
        self._left[leaf] = len(self._column)
        for span in ((start, middle), (middle, stop)):
            self._node[span] = len(self._column)
            self._column.append(-1)
            self._cut.append(0)
            self._left.append(0)
            self._span.append(span)
