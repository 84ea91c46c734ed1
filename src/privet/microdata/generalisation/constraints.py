"""What a split of an equivalence class must keep, judged on the whole release.

A linker, or an insider without companions, sees one group: constraints on each group
alone are exact. Companions may be in another group: such insiders are judged by running
minima over all groups (`microdata/skyline/incremental.py`). Merging groups never raises
a belief, so a linker who knows fewer columns is never surer than one who knows all.

Familiar measures (k-anonymity, l-diversity, t-closeness and others) steer Mondrian too.
Some are an insider's knowledge by another name, or a number of people: the loops judge
them. Others are scored as an audit scores them, group by group. Only measures that
merging never worsens may steer; what else a policy asks is checked in the end.
Chen, LeFevre, Ramakrishnan 2007, "Skyline Privacy Criterion", "SkylineAnonymize".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from privet.errors import Infeasible, InputError
from privet.microdata.generalisation import kernels
from privet.microdata.generalisation.kernels import GroupRules
from privet.microdata.linkage import check_known, list_known_beside
from privet.microdata.linkage import read_about as meant
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.privacy_models.models import (
    Steering,
    find_steering,
    score_groups,
)
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.incremental import Requirement, RunningMinima
from privet.policy import Measure, Promise
from privet.policy.promises import select_promises
from privet.table import ReleasedAs, Table, require_columns
from privet.values.adversaries import Insider, Linker
from privet.values.arrays import Ints
from privet.values.beliefs import Ceiling, largest_fraction_within
from privet.values.contingency import Domain
from privet.values.equivalence_classes import ClassKeys, EquivalenceClasses
from privet.values.exact import percent

# From promises to constraints -------------------------------------------------------


@dataclass(frozen=True)
class GroupConstraint:
    """A promise in terms of equivalence classes: a skyline point (l, k, m) and c."""

    promise: Promise | Measure
    column: str
    """What the belief is about."""
    values: tuple[object, ...] | None
    """The values that matter; None: every value."""
    point: Point
    """l, k and m; a linker knows (0, 0, 0)."""
    limit: Ceiling
    beside: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that a linker knows besides, and groups show as they are."""

    def cap_knowledge(self, values: int, people: int) -> GroupConstraint:
        """The same of a column with so many values: nobody knows more people."""
        l, k, m = self.point
        assert isinstance(l, int)
        near = Point(min(l, values), min(k, people), min(m, people))
        return replace(self, point=near)

    def find_codes(self, domain: Domain) -> tuple[int, ...] | None:
        """The values that matter and occur."""
        if self.values is None:
            return None
        found = [domain.code(v) for v in self.values]
        return tuple(c for c in found if c is not None)


def derive_constraints(
    promises: Sequence[Promise], table: Table, shown: ReleasedAs
) -> list[GroupConstraint]:
    """What linkers and insiders must not learn; other adversaries see no groups."""
    looking = select_promises("groups", promises)
    found = [(p, _derive_constraint(p, table, shown)) for p in looking]
    return [rule for p, rule in found if _sees_groups(p, shown)]


def _sees_groups(promise: Promise, shown: ReleasedAs) -> bool:
    """Whether groups are any matter to somebody: not if only clear columns are known.

    Such a promise is judged in the end; no grouping keeps or breaks it.
    """
    who = promise.against
    if not isinstance(who, Linker) or not who.knows:
        return True
    return bool({*who.knows} & {*shown.known, *shown.beside})


def _derive_constraint(
    promise: Promise, table: Table, shown: ReleasedAs
) -> GroupConstraint:
    column, values = meant(promise, None if promise.about else table.protected(), table)
    require_columns([column], table.schema, "about")
    roles = table.roles
    if column in (*roles.withheld, *roles.quasi):
        role = {"identifier": "an identifier", "quasi": "a quasi column"}.get(
            roles.role(column), "dropped"
        )
        raise InputError(
            f"about must be a column that groups keep as it is; {column!r} is {role}. "
            "Groups show such columns coarsely or not at all."
        )
    if not isinstance(promise.limit, Ceiling):
        raise InputError(
            "A promise about groups must be limited by at_most or below; "
            f"got {promise.limit!r}."
        )
    beside: list[tuple[str, ...]] = []
    if isinstance(promise.against, Linker):
        check_known(promise.against.knows or (), column, table)
        beside = list_known_beside(promise.against, column, roles.other, shown)
    return GroupConstraint(
        promise,
        column,
        values,
        _read_point(promise),
        promise.limit,
        tuple(s for s in beside if s),
    )


def _read_point(promise: Promise) -> Point:
    who = promise.against
    if isinstance(who, Linker):
        return Point(0, 0, 0)
    assert isinstance(who, Insider)
    numbers = who.rules_out, who.knows_others, who.same_as
    if who.victim is not None or not all(isinstance(n, int) for n in numbers):
        raise InputError(
            "A release must be made against insiders whose knowledge is given as "
            f"numbers; promise {promise.name!r} names a victim or values. Audit it "
            "separately."
        )
    return Point(*numbers)  # type: ignore[arg-type]


# Judging a split --------------------------------------------------------------------


@dataclass(frozen=True)
class SteeringConstraint:
    """What every group must keep, judged on histograms of one column of the cells."""

    column: str
    """What it looks at."""
    keeps: Callable[[Ints], bool]
    """Whether groups with these histograms, one line each, do."""
    refuse: Callable[[Ints], Infeasible]
    """What to raise where not even one group of everybody does."""


class Constraints:
    """Every promise and steering measure, and how close the release is to them."""

    steering: Sequence[tuple[int, SteeringConstraint]] = ()
    """What is judged on histograms, and the column of the cells it looks at."""
    most_groups: int | None = None
    """How many groups there may be."""
    most_alone: int | None = None
    """How many people may be in a group of their own."""
    groups, singles = 1, 0

    def __init__(
        self,
        rules: Sequence[GroupConstraint],
        least: int,
        domains: Sequence[Domain],
        columns: Sequence[int],
        people: int,
    ) -> None:
        """Rules about these columns, which stand at these positions in the cells."""
        at = {d.name: j for j, d in enumerate(domains)}
        stated = [
            r.cap_knowledge(len(domains[at[r.column]]), people)
            for r in rules
            if r.limit.strict or r.limit.level < 1
        ]
        self.alone = [r for r in stated if r.point.m == 0]
        self.least = least
        self.rules = _compile_rules(self.alone, least, domains, columns, people)
        self.worst_found = np.tile(np.array([0, 1]), (len(self.alone), 1))
        self.minima: dict[int, RunningMinima] = {}
        self.apart: dict[int, list[GroupConstraint]] = {}
        for rule in stated:
            if rule.point.m:
                self.apart.setdefault(at[rule.column], []).append(rule)
        for j, several in self.apart.items():
            asked = [
                Requirement(r.point, r.limit, r.find_codes(domains[j])) for r in several
            ]
            self.minima[j] = RunningMinima.empty(asked, len(domains[j]))

    @property
    def is_local(self) -> bool:
        """Whether the loops can judge each group by itself; order is no matter then."""
        overall = self.most_groups is not None or self.most_alone is not None
        return not (self.minima or self.steering or overall)

    def begin(self, hist: Ints, people: int) -> None:
        """Judge everybody as one group; raise what no grouping can mend."""
        broken = []
        for r, rule in enumerate(self.alone):
            a, whole = self._judge_one_group(r, hist, people)
            self.worst_found[r] = a, whole
            if a * int(self.rules.den[r]) > int(self.rules.num[r]) * whole:
                broken.append((rule, Fraction(a, whole)))
        for j, empty in self.minima.items():
            self.minima[j] = empty.with_groups(self._slice_histograms(j, hist[None, :]))
            reached = self.minima[j].beliefs()
            broken += [
                (rule, belief)
                for rule, belief in zip(self.apart[j], reached, strict=True)
                if not _holds(rule.limit, belief)
            ]
        refuse_infeasible(broken, self.least, people)
        self.singles = int(people == 1)
        for j, steering in self.steering:
            everybody = self._slice_histograms(j, hist[None, :])
            if not steering.keeps(everybody):
                raise steering.refuse(everybody)
        if _exceeds(1, self.most_groups) or _exceeds(self.singles, self.most_alone):
            raise Infeasible("One group of everybody is more than a measure allows.")

    def _judge_one_group(self, r: int, hist: Ints, people: int) -> tuple[int, int]:
        j = int(self.rules.of[r])
        part = slice(int(self.rules.offset[j]), int(self.rules.offset[j + 1]))
        return kernels.find_surest_belief(
            hist[part],
            self.rules.mask[r, part],
            int(self.rules.ruled[r]),
            int(self.rules.known[r]),
            people,
        )

    def _slice_histograms(self, j: int, hist: Ints) -> Ints:
        return hist[:, self.rules.offset[j] : self.rules.offset[j + 1]]

    def try_split(self, hist: Ints, left: int, people: int) -> SplitTrial | None:
        """What a split into these two histograms comes to; None if it is unsafe."""
        totals = np.array([left, people - left])
        found = np.zeros((2, len(self.alone), 2), dtype=np.int64)
        if not kernels.is_allowed(hist, totals, self.rules, found):
            return None
        return self._judge_release(hist, totals, found)

    def _judge_release(
        self, hist: Ints, totals: Ints, found: Ints
    ) -> SplitTrial | None:
        """What must hold beyond the rules on single groups."""
        # A group that falls into two had two people or more: no single is lost.
        groups = self.groups + len(totals) // 2
        singles = self.singles + int((totals == 1).sum())
        if _exceeds(groups, self.most_groups) or _exceeds(singles, self.most_alone):
            return None
        if not all(s.keeps(self._slice_histograms(j, hist)) for j, s in self.steering):
            return None
        after: dict[int, RunningMinima] = {}
        for j, minima in self.minima.items():
            split = minima.split(self._slice_histograms(j, hist))
            if split is None:
                return None
            after[j] = split
        return SplitTrial(found, after, groups, singles)

    def try_parts(self, hist: Ints, totals: Ints) -> SplitTrial | None:
        """The same for any number of parts at once, some groups' worth of them."""
        if len(totals) and totals.min() < self.least:
            return None
        found = np.zeros((len(totals), len(self.alone), 2), dtype=np.int64)
        for r in range(len(self.alone)):
            a, whole = self._judge_all_groups(r, hist, totals)
            if (a * self.rules.den[r] > self.rules.num[r] * whole).any():
                return None
            found[:, r, 0], found[:, r, 1] = a, whole
        return self._judge_release(hist, totals, found)

    def _judge_all_groups(self, r: int, hist: Ints, totals: Ints) -> tuple[Ints, Ints]:
        """`kernels.find_surest_belief` for many groups."""
        # of, ruled and known
        j, l, k = (int(x[r]) for x in self.rules[3:6])
        values = self._slice_histograms(j, hist)
        mask = self.rules.mask[r, self.rules.offset[j] : self.rules.offset[j + 1]]
        a = values[:, mask].max(axis=1, initial=0)
        # (groups, l + 1)
        falling = -np.sort(-values, axis=1)[:, : l + 1]
        gone = falling[:, :l].sum(axis=1)
        if falling.shape[1] > l:
            gone = gone + np.minimum(falling[:, l], a)
        whole = a + np.maximum(totals - gone - k, 0)
        return a, np.where(a == 0, 1, whole)

    def accept(self, trial: SplitTrial) -> None:
        """The split was made."""
        kernels.keep_worst(self.worst_found, trial.found)
        self.minima = trial.minima
        self.groups, self.singles = trial.groups, trial.singles

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        alone = [Fraction(int(a), int(whole)) for a, whole in self.worst_found]
        apart = [b for m in self.minima.values() for b in m.beliefs()]
        return max([*alone, *apart], default=Fraction(0))


@dataclass(frozen=True, eq=False)
class SplitTrial:
    """What the release comes to after a split."""

    found: Ints
    minima: dict[int, RunningMinima]
    groups: int
    singles: int


def _exceeds(number: int, most: int | None) -> bool:
    return most is not None and number > most


def infeasible_measure(measure: Measure) -> Infeasible:
    """What no grouping reaches."""
    return Infeasible(
        f"Measure {measure.name!r} cannot be reached by grouping: one group of "
        "everybody does not.",
        promise=measure,
        advice=["Ask for less, or merge values of the sensitive column."],
    )


def _holds(limit: Ceiling, belief: Fraction) -> bool:
    return belief < limit.level if limit.strict else belief <= limit.level


def _compile_rules(
    rules: Sequence[GroupConstraint],
    least: int,
    domains: Sequence[Domain],
    columns: Sequence[int],
    people: int,
) -> GroupRules:
    sizes = [len(d) for d in domains]
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = {d.name: j for j, d in enumerate(domains)}
    of = np.array([at[r.column] for r in rules], dtype=np.int64)
    # Among at most 10 people 0.333 means 3/10: small terms, and just as strict.
    limits = [largest_fraction_within(r.limit, people) for r in rules]
    # (rules, values of all protected columns)
    mask = np.zeros((len(rules), int(offset[-1])), dtype=bool)
    for i, rule in enumerate(rules):
        codes = rule.find_codes(domains[of[i]])
        inside = slice(None) if codes is None else list(codes)
        mask[i, offset[of[i]] : offset[of[i] + 1]][inside] = True
    return GroupRules(
        np.array(columns, dtype=np.int64),
        offset,
        least,
        of,
        np.array([r.point.l for r in rules], dtype=np.int64),
        np.array([r.point.k for r in rules], dtype=np.int64),
        np.array([m.numerator for m in limits], dtype=np.int64),
        np.array([m.denominator for m in limits], dtype=np.int64),
        mask,
    )


def refuse_infeasible(
    broken: Sequence[tuple[Any, Any]], least: int, people: int
) -> None:
    """Raise where even one group of everybody breaks a promise."""
    if people < least:
        raise Infeasible(
            f"Groups of {least} people cannot be made: there are only {people}.",
            best=people,
            advice=["Collect more rows, or lower k_anonymity."],
        )
    if not broken:
        return
    kept = [b for b in broken if not isinstance(b[0].promise, Measure)]
    if not kept:
        raise infeasible_measure(broken[0][0].promise)
    lines = [
        f"Promise {rule.promise.name!r} cannot be kept by grouping: even in one "
        f"group of everybody the belief is {belief} ({percent(belief)})."
        for rule, belief in kept
    ]
    rule, belief = max(kept, key=lambda b: b[1])
    raise Infeasible(
        "\n".join(lines),
        promise=rule.promise,
        best=belief,
        advice=[
            advise_limit(rule.promise, belief),
            "Leave the sensitive column out, or merge its values.",
            *(["Let the insider know less."] if rule.point != (0, 0, 0) else []),
        ],
    )


def advise_limit(promise: Promise | Measure, belief: Fraction) -> str:
    """A limit that could be kept, if any can."""
    limit = promise.limit if isinstance(promise, Promise) else None
    if not (isinstance(limit, Ceiling) and limit.strict):
        return f"Raise the limit to at least {belief}."
    return f"Raise the limit above {belief}." if belief < 1 else "Say at_most = 1."


# Measures that steer ----------------------------------------------------------------


@dataclass(frozen=True)
class ScoredMeasure:
    """A measure that is scored group by group."""

    measure: Measure
    column: str

    def start(self, domain: Domain, everybody: Ints) -> SteeringConstraint:
        """The measure for a column with these values."""

        def keeps(parts: Ints) -> bool:
            if not len(parts):  # a cut between groups, none of which falls apart
                return True
            found = score_groups(
                self.measure, Batch(as_groups(parts, domain), everybody)
            )
            return not bool(found.beyond.any())

        return SteeringConstraint(
            self.column, keeps, lambda _: infeasible_measure(self.measure)
        )


@dataclass(frozen=True)
class MeasureConstraints:
    """What the measures of a policy ask of groups."""

    least: int
    """How many people every group must have."""
    rules: tuple[GroupConstraint, ...]
    """What is an insider's knowledge by another name."""
    steered: tuple[ScoredMeasure, ...]
    """What is scored group by group."""
    most_groups: Fraction | None
    """How many groups there may be, as a share of the people."""
    most_alone: Fraction | None
    """How many people may be alone, as a share of the people."""


def derive_measure_constraints(
    measures: Sequence[Measure], table: Table
) -> MeasureConstraints:
    """Sort measures by how they are judged, as their models' records say."""
    found = [(m, find_steering(m)) for m in measures]
    asked = [(m, s) for m, s in found if s is not None]
    for measure, steering in asked:
        if not steering.possible:
            raise infeasible_measure(measure)
    return MeasureConstraints(
        max([1, *(s.least_size for _, s in asked)]),
        tuple(r for m, s in asked for r in _derive_rules(m, s, table)),
        tuple(ScoredMeasure(m, _choose_column(m, table)) for m, s in asked if s.scored),
        _find_lowest(s.most_groups for _, s in asked),
        _find_lowest(s.most_alone for _, s in asked),
    )


def _derive_rules(
    measure: Measure, steering: Steering, table: Table
) -> list[GroupConstraint]:
    if steering.point is None or steering.limit is None:
        return []
    column = _choose_column(measure, table)
    return [GroupConstraint(measure, column, None, steering.point, steering.limit)]


def _choose_column(measure: Measure, table: Table) -> str:
    column = measure.about or table.protected()
    require_columns([column], table.schema, "about")
    if column in (*table.roles.quasi, *table.roles.withheld):
        raise InputError(
            f"about must be a column that groups keep as it is; got {column!r}."
        )
    return column


def _find_lowest(levels: Iterable[Fraction | None]) -> Fraction | None:
    return min((level for level in levels if level is not None), default=None)


def count_most(share: Fraction | None, people: int) -> int | None:
    """So many out of so many people."""
    return None if share is None else floor(share * people)


def as_groups(parts: Ints, domain: Domain) -> EquivalenceClasses:
    """Histograms, one line each, as groups."""
    group, value = np.nonzero(parts)
    # np.nonzero goes line by line, so that groups rise.
    start = np.searchsorted(group, np.arange(len(parts) + 1))
    names = Domain("group", [str(i) for i in range(len(parts))])
    keys = ClassKeys.from_codes([np.arange(len(parts))], [len(parts)], len(parts))
    return EquivalenceClasses(
        (names,),
        domain,
        keys,
        parts.sum(axis=1),
        start.astype(np.intp),
        value,
        parts[group, value],
    )
