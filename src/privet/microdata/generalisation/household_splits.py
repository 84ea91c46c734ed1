"""Households in a release that is made in groups: judged with the private column.

The column that says who belongs together is counted beside the known columns, and its
people are looked up among the groups. Unlike other beliefs a household's may rise where
groups merge: {a, b} and {a: 2, b: 1} with a member in each give 2/3, merged 3/4. So no
split is judged by it; after the search splits above a household that is beyond the
limit are undone until all hold, at worst down to one group of everybody. What comes out
is safe, and need not be as fine as it could be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import attrs
import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import Infeasible
from privet.findings import Audit, Finding, Verdict
from privet.languages import mark, say
from privet.microdata.dependence.finer_groups import list_finer
from privet.microdata.generalisation.distinct_rows import sum_partition_rows
from privet.microdata.generalisation.mondrian import SplitStep
from privet.microdata.generalisation.partition import Partition
from privet.microdata.generalisation.splits.split_task import (
    COLUMN,
    LEFT,
    PEOPLE,
    START,
    STOP,
)
from privet.microdata.linkage import find_codes, read_about, require_ceiling
from privet.microdata.skyline.audit import judge_members
from privet.microdata.skyline.evidence import ask_before_evidence, sway
from privet.microdata.skyline.household_findings import (
    asks_households,
    find_unjudged,
)
from privet.microdata.skyline.households import (
    HouseholdCheck,
    Pattern,
    find_patterns,
)
from privet.policy import Policy, Promise
from privet.release.refine import Refinement
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.arrays import Ints
from privet.values.beliefs import Belief
from privet.values.contingency import Counts, Domain, packed
from privet.values.equivalence_classes import EquivalenceClasses, group_counts
from privet.values.exact import percent
from privet.values.windows import Within

UNDONE = "households"
"""Why a search ended: splits were undone for households."""

FINER = mark(
    "Columns that are shown beside the groups tell what these hide, and households are "
    "not judged in finer groups. Declare {columns} as quasi, or drop it."
)


def list_household_promises(policy: Policy) -> list[Promise]:
    """The promises about people who belong together."""
    return [p for p in policy.promises if asks_households(p)]


# Where people are -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MembersOfCells:
    """Who belongs together, by the known values of each."""

    household: Ints
    """The code of a household."""
    place: Ints
    """Where its people stand among the cells of a partition."""
    n: Ints
    """How many of them have these known values."""

    @classmethod
    def count(
        cls, table: Table, partition: Partition, column: str, run: Run
    ) -> MembersOfCells:
        """Count households, and find each among the cells by what is known of it."""
        attributes = partition.attributes
        tally = CountQuery(tuple(a.name for a in attributes), column)
        sizes = [len(a) for a in attributes]
        parts: list[tuple[list[Ints], Ints, Ints]] = []
        for _, batch in table.count([tally], run):
            codes = batch.keys.take(batch.group).columns()
            found = [
                _find_positions(a.domain, a.position, d)[c]
                for a, d, c in zip(attributes, batch.by, codes, strict=True)
            ]
            nobody = batch.about.code(None)
            some = batch.value != (-1 if nobody is None else nobody)
            own = [c[some] for c in found]
            parts.append((own, batch.value[some].astype(np.int64), batch.n[some]))
        known = [np.concatenate(c) for c in zip(*(p[0] for p in parts), strict=True)]
        cells = [partition.cells[:, d].astype(np.int64) for d in range(len(sizes))]
        both = [np.concatenate(pair) for pair in zip(cells, known, strict=True)]
        key = packed(both, sizes, len(both[0]))
        own_key, asked = key[: len(cells[0])], key[len(cells[0]) :]
        order = np.argsort(own_key, kind="stable")
        place = order[np.searchsorted(own_key[order], asked)]
        household = np.concatenate([p[1] for p in parts])
        return cls(household, place, np.concatenate([p[2] for p in parts]))

    def find_patterns(self, leaves: Ints, group: Ints) -> Counter[Pattern]:
        """Households by the groups of their members; `group` numbers the leaves.

        Who is in no group is not in the release.
        """
        at = np.searchsorted(leaves[:, 0], self.place, side="right") - 1
        inside = (at >= 0) & (self.place < leaves[np.maximum(at, 0), 1])
        home, n = self.household[inside], self.n[inside]
        own = group[at[inside]].astype(np.int64)
        order = np.lexsort((own, home))
        home, own, n = home[order], own[order], n[order]
        new = np.ones(len(home), dtype=bool)
        new[1:] = (home[1:] != home[:-1]) | (own[1:] != own[:-1])
        if not len(home):
            return Counter()
        sums = np.add.reduceat(n, np.flatnonzero(new))
        return find_patterns(home[new], own[new], sums)


def _find_positions(domain: Domain, position: Ints, counted: Domain) -> Ints:
    """The position of each value that was counted."""
    codes = [domain.code(counted[c]) for c in range(len(counted))]
    return position[np.array([0 if c is None else c for c in codes], dtype=np.int64)]


# Groups of a partition --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartitionGroups:
    """The groups of a partition, those that look alike as one."""

    groups: EquivalenceClasses
    """With the values of one column."""
    everybody: EquivalenceClasses
    """The same people as one group."""
    leaf: Ints
    """The group of each leaf."""

    @classmethod
    def of(
        cls, partition: Partition, column: str, known: Sequence[str]
    ) -> PartitionGroups:
        """By what known columns show; without any, as buckets, by number."""
        at = [d.name for d in partition.others].index(column)
        leaf, (code,), n = sum_partition_rows(
            partition, [len(partition.attributes) + at]
        )
        shown = [
            (Domain(a.name, labels.texts), labels.of.astype(np.int64))
            for a, labels in zip(partition.attributes, partition.labels, strict=True)
            if a.name in known
        ]
        if not shown:
            numbers = np.arange(len(partition))
            names = list(map(str, range(1, len(partition) + 1)))
            shown = [(Domain("group", names), numbers)]
        domains = (*(d for d, _ in shown), partition.others[at])
        codes = (*(of[leaf] for _, of in shown), code.astype(np.int64))
        counts = Counts(domains, codes, n)
        groups = group_counts(counts, [d.name for d, _ in shown], column)
        place = {groups.keys[g]: g for g in range(len(groups))}
        keys = zip(*(of.tolist() for _, of in shown), strict=True)
        own = np.array([place[tuple(key)] for key in keys], dtype=np.int64)
        return cls(groups, group_counts(counts, [], column), own)


def judge_partition(
    after: Audit,
    partition: Partition,
    table: Table,
    counted: Table,
    run: Run,
) -> Audit:
    """An audit with what became of households, which the release does not tell."""
    found = [
        _judge_promise(f.promise, partition, table, counted, run)
        if isinstance(f.promise, Promise) and _is_hidden(f.promise, counted)
        else f
        for f in after.findings
    ]
    return attrs.evolve(after, findings=tuple(found))


def _is_hidden(promise: Promise, counted: Table) -> bool:
    """Whether a release does not tell who belongs together."""
    return asks_households(promise) and find_unjudged(promise, counted) is not None


def _judge_promise(
    promise: Promise, partition: Partition, table: Table, counted: Table, run: Run
) -> Finding:
    assert isinstance(promise.against, Insider)
    assert promise.against.households is not None
    only = None if promise.about else table.protected()
    column, values = read_about(promise, only)
    if (missing := find_unjudged(promise, table)) is not None:
        return missing
    if finer := list_finer(counted, promise, run):
        note = say(FINER, columns=" and ".join(map(repr, finer)))
        return Finding(promise, Verdict.UNDECIDED, note=note)
    # Groups that look alike are one, unless they are told apart by number.
    shown = PartitionGroups.of(partition, column, counted.schema.names)
    members = MembersOfCells.count(table, partition, promise.against.households, run)
    patterns = members.find_patterns(partition.leaves, shown.leaf)
    return judge_members(
        promise, values, shown.groups, shown.everybody, patterns, table.counted
    )


# Undoing splits ---------------------------------------------------------------------


def undo_splits(
    partition: Partition,
    refined: Refinement[SplitStep],
    table: Table,
    policy: Policy,
    run: Run,
) -> tuple[Partition, Refinement[SplitStep]]:
    """The partition with splits undone until no household is beyond a limit."""
    every = list_household_promises(policy)
    asked = [p for p in every if find_unjudged(p, table) is None]
    if not asked or not len(partition.tree):
        return partition, refined
    tree = UndoableSplits(partition)
    checks = [_LimitedHouseholds.of(p, partition, table, run) for p in asked]
    undone = False
    while True:
        run.check()
        beyond = [leaf for c in checks for leaf in c.find_beyond(tree)]
        if not beyond:
            break
        tree.collapse(beyond)
        undone = True
    if not undone:
        return partition, refined
    return tree.as_partition(), replace(refined, ended=UNDONE)


class UndoableSplits:
    """The tree of splits, of which some are undone."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.lines = partition.tree.copy()
        split = np.flatnonzero(self.lines[:, COLUMN] >= 0)
        self.parent = np.full(len(self.lines), -1, dtype=np.int64)
        for child in (self.lines[split, LEFT], self.lines[split, LEFT] + 1):
            self.parent[child] = split

    @property
    def leaves(self) -> Ints:
        """The lines of the groups, in the order of the cells."""
        at, found = np.array([0]), []
        while len(at):
            whole = self.lines[at, COLUMN] < 0
            found.append(at[whole])
            left = self.lines[at[~whole], LEFT]
            at = np.concatenate([left, left + 1])
        lines = np.concatenate(found)
        return lines[np.argsort(self.lines[lines, START])]

    def collapse(self, leaves: Sequence[int]) -> None:
        """Undo the split above each of these groups."""
        self.lines[np.unique(self.parent[list(leaves)]), COLUMN] = -1

    def as_partition(self) -> Partition:
        """The groups that are left."""
        leaves = self.lines[self.leaves][:, [START, STOP, PEOPLE]]
        return replace(self.partition, leaves=leaves, tree=self.lines)


@dataclass(frozen=True, eq=False)
class _LimitedHouseholds:
    """A promise about households, for whatever splits are left."""

    promise: Promise
    """As it must hold before evidence."""
    ratio: Fraction
    insider: Insider
    members: MembersOfCells
    codes: Ints
    """The value of each cell."""
    people: Ints
    """How many people each cell has."""
    domain: Domain
    protect: tuple[int, ...] | None

    @classmethod
    def of(
        cls, promise: Promise, partition: Partition, table: Table, run: Run
    ) -> _LimitedHouseholds:
        who = promise.against
        assert isinstance(who, Insider)
        assert who.households is not None
        only = None if promise.about else table.protected()
        column, values = read_about(promise, only)
        assert not isinstance(values, Within)  # refused when it was prepared
        at = [d.name for d in partition.others].index(column)
        domain = partition.others[at]
        # What never occurs is said when it is judged.
        protect = find_codes(values, domain, lambda words: None)
        return cls(
            ask_before_evidence(promise),
            who.evidence,
            who,
            MembersOfCells.count(table, partition, who.households, run),
            partition.cells[:, len(partition.attributes) + at].astype(np.int64),
            partition.cells[:, -1].astype(np.int64),
            domain,
            protect,
        )

    @cached_property
    def _names(self) -> list[str]:
        return [str(i) for i in range(len(self.codes))]

    def find_beyond(self, tree: UndoableSplits) -> list[int]:
        """A leaf to be merged for each household beyond the limit."""
        lines = tree.leaves
        leaves = tree.lines[lines][:, [START, STOP, PEOPLE]]
        of = np.repeat(np.arange(len(lines)), leaves[:, 1] - leaves[:, 0])
        groups = Domain("group", self._names[: len(lines)])
        counts = Counts((groups, self.domain), (of, self.codes), self.people)
        patterns = self.members.find_patterns(leaves, np.arange(len(lines)))
        grouped = group_counts(counts, ["group"], self.domain.name)
        check = HouseholdCheck(grouped, patterns, self.insider, self.protect)
        limit = require_ceiling(self.promise)
        tally = check.judge(lambda belief: limit.holds(Belief(0, belief)))
        return [
            self._choose_leaf(pattern, lines, leaves, tally.bound)
            for pattern in tally.patterns_beyond
        ]

    def _choose_leaf(
        self, pattern: Pattern, lines: Ints, leaves: Ints, belief: Fraction
    ) -> int:
        """The smallest group of a household's members; it cannot be everybody's."""
        smallest = min((g for g, _ in pattern), key=lambda g: int(leaves[g, 2]))
        if len(lines) == 1:
            raise self._refuse(sway(belief, self.ratio))
        return int(lines[smallest])

    def _refuse(self, belief: Fraction) -> Infeasible:
        return Infeasible(
            f"Promise {self.promise.name!r} cannot be kept by undoing splits: even in "
            f"one group of everybody somebody who knows a household may be {belief} "
            f"({percent(belief)}) sure.",
            promise=self.promise,
            best=belief,
            advice=[
                "Allow more, or leave the sensitive column out, or merge its values.",
                "Let the insider know less of households.",
            ],
        )
