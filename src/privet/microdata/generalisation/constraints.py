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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from privet.errors import Infeasible, InputError
from privet.microdata.generalisation.infeasible_promises import (
    infeasible_measure,
    refuse_beside,
    refuse_infeasible,
)
from privet.microdata.generalisation.splits.split_task import GroupRules
from privet.microdata.generalisation.splits.tallies import (
    find_beyond,
    find_surest_beliefs,
    keep_surest,
)
from privet.microdata.generalisation.window_constraints import (
    Parted,
    WindowConstraint,
    WindowsSoFar,
)
from privet.microdata.linkage import (
    Asked,
    check_known,
    list_known_beside,
    read_released_about,
)
from privet.microdata.linkage import read_about as meant
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.privacy_models.models import (
    Steering,
    find_steering,
    score_groups,
)
from privet.microdata.skyline.audit import explain_unfit
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.evidence import find_ratio, tighten
from privet.microdata.skyline.incremental import (
    PointMinima,
    Requirement,
    RunningMinima,
    pack_minima,
)
from privet.microdata.skyline.minima_loops import MinimaTables
from privet.microdata.skyline.set_minima import SetIndex, SetMinima
from privet.microdata.skyline.weak_rule_outs import read_weak_point
from privet.policy import Measure, Promise
from privet.policy.promises import select_promises
from privet.table import ReleasedAs, Table, require_columns
from privet.values.adversaries import Insider, Linker
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Ceiling, largest_fraction_within
from privet.values.contingency import Domain
from privet.values.equivalence_classes import group_histograms
from privet.values.windows import Windows, Within

Minima = RunningMinima | SetMinima
"""How close a release is to what is promised of a column."""

# From promises to constraints -------------------------------------------------------


@dataclass(frozen=True)
class GroupConstraint:
    """A promise in terms of equivalence classes: a skyline point (l, k, m) and c."""

    promise: Promise | Measure
    column: str
    """What the belief is about."""
    values: Asked
    """The values that matter, or how wide windows are; None: every value."""
    point: Point
    """l, k and m; a linker knows (0, 0, 0)."""
    limit: Ceiling
    beside: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that a linker knows besides, and groups show as they are."""
    doubtful: Insider | None = None
    """An insider who rules values out with probabilities."""
    evidence: Fraction = Fraction(1)
    """How strong other evidence may be; the limit allows for it already."""

    @property
    def is_simple_window(self) -> bool:
        """Whether the fullest window of each group decides: nothing is ruled out, and
        nobody knows companions or columns beside the groups.
        """
        simple = self.point.l == 0 and self.point.m == 0 and not self.beside
        return isinstance(self.values, Within) and simple

    @property
    def forbids_something(self) -> bool:
        """Whether any belief is too much."""
        return self.limit.strict or self.limit.level < 1

    def as_fullest(self) -> GroupConstraint:
        """The same about the one value of a column of windows."""
        return replace(self, column=self.windows_name, values=None)

    @property
    def windows_name(self) -> str:
        """How the column of windows is called; no table has such a one."""
        return f"{self.column}\N{SYMBOL FOR UNIT SEPARATOR}{self.values}"

    def cap_knowledge(self, values: int, people: int) -> GroupConstraint:
        """The same of a column with so many values: nobody knows more people."""
        l, k, m = self.point
        assert isinstance(l, int)
        near = Point(min(l, values), min(k, people), min(m, people))
        return replace(self, point=near)

    def require(self, domain: Domain) -> Requirement:
        """What is asked of the values of a column."""
        who = self.doubtful
        weak = None if who is None else read_weak_point(who, domain)
        return Requirement(self.point, self.limit, self.find_codes(domain), weak)

    def find_codes(self, domain: Domain) -> tuple[int, ...] | None:
        """The values that matter and occur."""
        if self.values is None:
            return None
        assert not isinstance(self.values, Within)
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
    if isinstance(values, Within):
        read_released_about(promise, table)
    if not isinstance(promise.limit, Ceiling):
        raise InputError(
            "A promise about groups must be limited by at_most or below; "
            f"got {promise.limit!r}."
        )
    who, ratio = promise.against, find_ratio(promise)
    doubtful = who if isinstance(who, Insider) and who.doubts else None
    if isinstance(values, Within):
        refuse_more_knowledge(who, "a number lies within a window")
    beside: list[tuple[str, ...]] = []
    if isinstance(promise.against, Linker):
        check_known(promise.against.knows or (), column, table)
        beside = list_known_beside(promise.against, column, roles.other, shown)
    return GroupConstraint(
        promise,
        column,
        values,
        _read_point(promise),
        tighten(promise.limit, ratio),
        tuple(s for s in beside if s),
        doubtful,
        ratio,
    )


def refuse_more_knowledge(who: object, where: str) -> None:
    """Doubts and households are for people who have one value, looked at by itself."""
    if isinstance(who, Insider) and (words := explain_unfit(who, where)):
        raise InputError(words)


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
    find_beyond: Callable[[Ints], Flags]
    """Which groups with these histograms, one line each, do not."""
    refuse: Callable[[Ints], Infeasible]
    """What to raise where not even one group of everybody does."""

    def keeps(self, parts: Ints) -> bool:
        """Whether all groups with these histograms do."""
        return not bool(self.find_beyond(parts).any())


class Constraints:
    """Every promise and steering measure, and how close the release is to them."""

    steering: Sequence[tuple[int, SteeringConstraint]] = ()
    """What is judged on histograms, and the column of the cells it looks at."""
    windows: Sequence[WindowConstraint] = ()
    """Promises about numbers within windows, judged on rows."""
    so_far: tuple[WindowsSoFar, ...] = ()
    """What these have come to."""
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
        windows: Mapping[str, Windows] | None = None,
        sets: Mapping[str, SetIndex] | None = None,
    ) -> None:
        """Rules about these columns, which stand at these positions in the cells.

        A column of `windows` has one value: whoever lies in the fullest of them. Some
        may be columns of `sets`, whose members are believed.
        """
        at, sets = {d.name: j for j, d in enumerate(domains)}, sets or {}
        inside = {c: i.members(c) for c, i in sets.items()}
        stated = [
            r.cap_knowledge(len(inside.get(r.column, domains[at[r.column]])), people)
            for r in rules
            if r.forbids_something and not isinstance(r.values, Within)
        ]
        self.alone = [
            r
            for r in stated
            if r.point.m == 0 and r.column not in sets and not r.doubtful
        ]
        self.least = least
        self.rules = _compile_rules(self.alone, least, domains, columns, people)
        self.rules = _add_windows(self.rules, domains, windows or {})
        self.worst_found = np.tile(np.array([0, 1]), (len(self.alone), 1))
        self.minima: dict[int, Minima] = {}
        self.apart: dict[int, list[GroupConstraint]] = {}
        for rule in stated:
            if rule.point.m or rule.column in sets:
                self.apart.setdefault(at[rule.column], []).append(rule)
        for j, several in self.apart.items():
            column = domains[j].name
            domain = inside.get(column, domains[j])
            asked = [r.require(domain) for r in several]
            self.minima[j] = (
                SetMinima.empty(asked, sets[column])
                if column in sets
                else RunningMinima.empty(asked, len(domain))
            )

    @property
    def is_local(self) -> bool:
        """Whether histograms judge each group by itself; order is no matter then."""
        overall = self.most_groups is not None or self.most_alone is not None
        return not (self.minima or self.windows or overall)

    @property
    def is_by_rules(self) -> bool:
        """Whether the loops can judge each group by itself."""
        return self.is_local and not self.steering

    @property
    def is_by_minima(self) -> bool:
        """Whether the loops can judge splits one after the other, by running minima."""
        overall = self.most_groups is not None or self.most_alone is not None
        if not self.minima or self.windows or self.steering or overall:
            return False
        return all(
            isinstance(m, RunningMinima) and len(m.certain) == len(m.points)
            for m in self.minima.values()
        )

    def pack_minima(self) -> MinimaTables:
        """The minima of all points, for loops that split a group in two."""
        points, begin = list[PointMinima](), list[int]()
        for j, minima in self.minima.items():
            assert isinstance(minima, RunningMinima)
            points += minima.certain
            begin += [int(self.rules.offset[j])] * len(minima.points)
        return pack_minima(points, begin, 2)

    def take_minima(self, tables: MinimaTables) -> None:
        """The splits of a loop were made."""
        first, after = 0, dict[int, Minima]()
        for j, minima in self.minima.items():
            assert isinstance(minima, RunningMinima)
            after[j] = minima.take(tables, first)
            first += len(minima.points)
        self.minima = after

    @property
    def is_exhausted(self) -> bool:
        """Whether there may be no more groups at all."""
        return _exceeds(self.groups + 1, self.most_groups)

    def begin(self, hist: Ints, people: int, rows: Any = None) -> None:
        """Judge everybody as one group; raise what no grouping can mend."""
        broken: list[tuple[GroupConstraint, Fraction]] = []
        for r, rule in enumerate(self.alone):
            one = find_surest_beliefs(hist[None, :], np.array([people]), self.rules, r)
            a, whole = (int(x[0]) for x in one)
            self.worst_found[r] = a, whole
            if a * int(self.rules.den[r]) > int(self.rules.num[r]) * whole:
                broken.append((rule, Fraction(a, whole)))
        for j, empty in self.minima.items():
            self.minima[j] = empty.with_groups(self.slice_histograms(j, hist[None, :]))
            reached = self.minima[j].beliefs()
            broken += [
                (rule, belief)
                for rule, belief in zip(self.apart[j], reached, strict=True)
                if not _holds(rule.limit, belief)
            ]
        for each in self.windows:
            broken += judge_window(each, rows)
        refuse_infeasible(broken, self.least, people)
        self.so_far = self._try_windows(lambda: (rows, _one_part(rows), 1)) or ()
        self.singles = int(people == 1)
        for j, steering in self.steering:
            everybody = self.slice_histograms(j, hist[None, :])
            if not steering.keeps(everybody):
                raise steering.refuse(everybody)
        if _exceeds(1, self.most_groups) or _exceeds(self.singles, self.most_alone):
            raise Infeasible("One group of everybody is more than a measure allows.")

    def _try_windows(self, parted: Parted | None) -> tuple[WindowsSoFar, ...] | None:
        """What promises about windows come to with new groups; None: unsafe."""
        if not self.windows:
            return ()
        assert parted is not None
        rows, part, parts = parted()
        found = []
        for i, each in enumerate(self.windows):
            before = self.so_far[i] if self.so_far else WindowsSoFar()
            after = each.try_parts(rows, part, parts, before)
            if after is None:
                return None
            found.append(after)
        return tuple(found)

    def slice_histograms(self, j: int, hist: Ints) -> Ints:
        """The part of histograms that is about one protected column."""
        return hist[:, self.rules.offset[j] : self.rules.offset[j + 1]]

    def _judge_release(
        self, hist: Ints, totals: Ints, parted: Parted | None, more: int
    ) -> SplitTrial | None:
        """What must hold beyond the rules on single groups."""
        # A group that falls into two had two people or more: no single is lost.
        groups = self.groups + more
        singles = self.singles + int((totals == 1).sum())
        if _exceeds(groups, self.most_groups) or _exceeds(singles, self.most_alone):
            return None
        if not all(s.keeps(self.slice_histograms(j, hist)) for j, s in self.steering):
            return None
        after: dict[int, Minima] = {}
        for j, minima in self.minima.items():
            split: Minima | None = minima.split(self.slice_histograms(j, hist))
            if split is None:
                return None
            after[j] = split
        windows = self._try_windows(parted)
        if windows is None:
            return None
        return SplitTrial(hist, totals, after, groups, singles, windows)

    def try_parts(
        self, hist: Ints, totals: Ints, parted: Parted | None = None
    ) -> SplitTrial | None:
        """What the release comes to if groups fall into these parts; None: unsafe.

        A line of the histograms per part, two parts per group.
        """
        return self.try_groups(hist, totals, parted, len(totals) // 2)

    def try_groups(
        self, hist: Ints, totals: Ints, parted: Parted | None, more: int
    ) -> SplitTrial | None:
        """The same if these groups take the place of others; so many are more."""
        if find_beyond(hist, totals, self.rules).any():
            return None
        return self._judge_release(hist, totals, parted, more)

    def find_failing(self, hist: Ints, totals: Ints) -> Flags:
        """Which groups are too small, tell too much, or are beyond a measure."""
        failing = find_beyond(hist, totals, self.rules)
        for j, steering in self.steering:
            failing |= steering.find_beyond(self.slice_histograms(j, hist))
        for j, minima in self.minima.items():
            if isinstance(minima, SetMinima):
                own = self.slice_histograms(j, hist)
                failing |= minima.find_unsafe(own, ~failing)
        return failing

    def find_hopeless(self, hist: Ints, totals: Ints) -> Flags:
        """Which groups no release may have from now on, whatever is split before.

        Where everything is by minima; others may have to be refused in their turn.
        """
        hopeless = find_beyond(hist, totals, self.rules)
        for j, minima in self.minima.items():
            assert isinstance(minima, RunningMinima)
            hopeless |= minima.find_hopeless(self.slice_histograms(j, hist))
        return hopeless

    def find_lowering(self, hist: Ints) -> Flags:
        """Which groups may lower a minimum: the others are safe in their turn."""
        lowering = np.zeros(len(hist), dtype=bool)
        for j, minima in self.minima.items():
            assert isinstance(minima, RunningMinima)
            lowering |= minima.find_lowering(self.slice_histograms(j, hist))
        return lowering

    def is_safe_together(self, hist: Ints, totals: Ints) -> bool:
        """Whether groups that keep the rules by themselves are safe together."""
        alone = int((totals == 1).sum())
        if _exceeds(len(totals), self.most_groups) or _exceeds(alone, self.most_alone):
            return False
        return all(
            minima.without_groups()
            .with_groups(self.slice_histograms(j, hist))
            .is_safe()
            for j, minima in self.minima.items()
        )

    def accept(self, trial: SplitTrial) -> None:
        """The split was made."""
        keep_surest(self.worst_found, trial.hist, trial.totals, self.rules)
        self.minima = trial.minima
        self.so_far = trial.windows
        self.groups, self.singles = trial.groups, trial.singles

    def find_worst_belief(self) -> Fraction:
        """The highest belief of any promise."""
        alone = [Fraction(int(a), int(whole)) for a, whole in self.worst_found]
        apart = [b for m in self.minima.values() for b in m.beliefs()]
        windows = [w.belief for w in self.so_far]
        return max([*alone, *apart, *windows], default=Fraction(0))


@dataclass(frozen=True, eq=False)
class SplitTrial:
    """What the release comes to after a split."""

    hist: Ints
    totals: Ints
    minima: dict[int, Minima]
    groups: int
    singles: int
    windows: tuple[WindowsSoFar, ...] = ()


def judge_window(
    each: WindowConstraint, rows: Any
) -> list[tuple[GroupConstraint, Fraction]]:
    """A promise about windows, and the belief, if one group of everybody breaks it."""
    belief = each.find_belief(rows)
    if not _holds(each.rule.limit, belief):
        return [(each.rule, belief)]
    for known, names in zip(each.beside, each.rule.beside, strict=True):
        belief = each.find_belief(rows, known)
        if not _holds(each.rule.limit, belief):
            raise refuse_beside(each.rule, names, belief)
    return []


def _one_part(rows: Any) -> Ints:
    return np.zeros(len(rows), dtype=np.int64)


def _exceeds(number: int, most: int | None) -> bool:
    return most is not None and number > most


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


def _add_windows(
    rules: GroupRules, domains: Sequence[Domain], windows: Mapping[str, Windows]
) -> GroupRules:
    """With the windows of columns, one after the other."""
    if not windows:
        return rules
    begin, place, stop, used = [], [], [], 0
    for domain in domains:
        if (own := windows.get(domain.name)) is None:
            begin.append(-1)
            continue
        begin.append(used)
        size = len(own.domain)
        place.append(np.where(own.place < len(own), own.place, -1))
        stop.append(np.concatenate([own.stop, np.zeros(size - len(own), np.int64)]))
        used += size
    return rules._replace(
        window=np.array(begin, dtype=np.int64),
        place=np.concatenate(place),
        stop=np.concatenate(stop),
    )


# Measures that steer ----------------------------------------------------------------


@dataclass(frozen=True)
class ScoredMeasure:
    """A measure that is scored group by group."""

    measure: Measure
    column: str

    def start(self, domain: Domain, everybody: Ints) -> SteeringConstraint:
        """The measure for a column with these values."""

        def find_beyond(parts: Ints) -> Flags:
            if not len(parts):  # a cut between groups, none of which falls apart
                return np.zeros(0, dtype=bool)
            groups = group_histograms(parts, domain)
            return score_groups(self.measure, Batch(groups, everybody)).beyond

        return SteeringConstraint(
            self.column, find_beyond, lambda _: infeasible_measure(self.measure)
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
        tuple(ScoredMeasure(m, choose_column(m, table)) for m, s in asked if s.scored),
        _find_lowest(s.most_groups for _, s in asked),
        _find_lowest(s.most_alone for _, s in asked),
    )


def _derive_rules(
    measure: Measure, steering: Steering, table: Table
) -> list[GroupConstraint]:
    if steering.point is None or steering.limit is None:
        return []
    column = choose_column(measure, table)
    return [GroupConstraint(measure, column, None, steering.point, steering.limit)]


def choose_column(measure: Measure, table: Table) -> str:
    """The column a measure is about."""
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
