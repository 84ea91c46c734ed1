"""Promises against insiders, judged on a table or on groups from one count.

An insider has background knowledge: values ruled out, people known, companions. They
see the equivalence classes (QI-groups) over all quasi-identifiers and who is in which;
the values of a group are dealt to its people in any order, all equally likely. Numbers
(l, k, m) stand for the worst knowledge of that size, names for the knowledge itself.
Chen, LeFevre, Ramakrishnan 2007, "Three-dimensional knowledge expression".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit
from privet.findings import Attack, Basis, Finding, Verdict
from privet.microdata.groups import Groups
from privet.microdata.linkage import (
    Asked,
    describe_floor,
    find_codes,
    read_about,
    read_released_about,
    require_ceiling,
    say_never_occurs,
)
from privet.microdata.list_columns import read_sets
from privet.microdata.skyline import closed_forms
from privet.microdata.skyline.closed_forms import NEAR, Point, Ruling
from privet.microdata.skyline.evidence import ask_before_evidence, weigh_evidence
from privet.microdata.skyline.household_findings import (
    HouseholdAudit,
    find_unjudged,
    weigh_households,
)
from privet.microdata.skyline.households import HouseholdCheck, Pattern
from privet.microdata.skyline.named_individuals import (
    NamedPeople,
    are_named,
    find_people,
)
from privet.microdata.skyline.sets import SetInsiderAudit, prepare_set_audit
from privet.microdata.skyline.skyline import (
    RankedValues,
    Rows,
    SkylineCheck,
    find_modes,
    rank_values,
)
from privet.microdata.skyline.weak_rule_outs import (
    WeakCheck,
    find_groups_beyond_weakly,
    read_weak_point,
)
from privet.microdata.skyline.window_insiders import WindowInsiderAudit
from privet.microdata.skyline.witness import build_attack, build_witness
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.arrays import Flags
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import MAX_COUNT
from privet.values.windows import Windows, Within


@dataclass
class InsiderAudit:
    """SkylineCheck of one promise (a basic 3D criterion) while groups pass by."""

    promise: Promise
    tally: CountQuery
    point: Point
    """Rulings are codes here; what is named is left to `named`."""
    limit: Ceiling
    protect: tuple[int, ...] | None
    fold: SkylineCheck
    named: NamedPeople | None = None
    above: int = 0
    people_above: int = 0

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        if self.named is not None:
            self.fold = self.named.add(batch, self.fold)
            return
        rows = rank_values(batch)
        self.fold = self.fold.add(batch, rows)
        self._count_above(batch, self.find_beyond(batch, rows))

    def find_beyond(
        self, batch: EquivalenceClasses, rows: RankedValues | None = None
    ) -> Flags:
        """Which groups break the limit by the attack inside one group, exactly."""
        rows = rows or rank_values(batch)
        found = np.zeros(len(batch), dtype=bool)
        found[find_groups_beyond(rows, self.protect, self.point, self.limit)] = True
        return found

    def _count_above(self, batch: EquivalenceClasses, above: Flags) -> None:
        self.above += int(above.sum())
        self.people_above += int(batch.total[above].sum())

    @property
    def groups(self) -> int:
        """Groups seen."""
        return self.fold.groups

    def attack(self) -> Attack | None:
        """The best attack; None where no value matters."""
        if self.named is not None:
            return self.named.attack(self.fold, self.point)
        case = self.fold.find_worst(self.point)
        if case is None or self.fold.kept is None:
            return None
        return build_attack(case, self.fold.kept, self.point)

    def finding(self, everybody: EquivalenceClasses, counted: str) -> Finding:
        """What became of the promise."""
        found = self.attack()
        belief, witness = Belief(0, 0), None
        if found is not None:
            witness = build_witness(self.tally.about, found, everybody, counted)
            belief = witness.belief
        kept = self.limit.holds(belief)
        return Finding(
            promise=self.promise,
            verdict=Verdict.SAFE if kept else Verdict.BREACH,
            basis=Basis.EXACT,
            belief=belief,
            witness=witness,
            groups=0 if self.named else self.groups,
            groups_above=self.above,
            people_above=self.people_above,
            details=describe_floor(everybody, self.protect, self.limit),
        )


@dataclass
class WeakInsiderAudit(InsiderAudit):
    """The same of an insider who rules values out with probabilities."""

    weak: WeakCheck = field(kw_only=True)

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        self.weak = self.weak.add(batch)
        self._count_above(batch, self.find_beyond(batch))

    def find_beyond(
        self, batch: EquivalenceClasses, rows: RankedValues | None = None
    ) -> Flags:
        """See `InsiderAudit`."""
        point = self.weak.point
        return find_groups_beyond_weakly(batch, point, self.protect, self.limit)

    @property
    def groups(self) -> int:
        """Groups seen."""
        return self.weak.groups

    def attack(self) -> Attack | None:
        """The best attack; None where no value matters."""
        return self.weak.attack()


Judging = InsiderAudit | SetInsiderAudit | WindowInsiderAudit | HouseholdAudit
"""A promise that is judged while groups pass by."""


def judge_table(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge an insider's promises on a table, from one count."""
    unjudged = [find_unjudged(p, table) for p in promises]
    open_ = [p for p, f in zip(promises, unjudged, strict=True) if f is None]
    counted = iter(_judge_counted(table, open_, run, warn) if open_ else ())
    return [next(counted) if f is None else f for f in unjudged]


def _judge_counted(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    wanted = [query_for_insider(p, table) for p in promises]
    everybody = {t.about: CountQuery((), t.about) for t, _ in wanted}
    tallies = list(dict.fromkeys([*(t for t, _ in wanted), *everybody.values()]))
    domains = table.domains(list(everybody), run, before=tallies)
    asked = [ask_before_evidence(p) for p in promises]
    judged = [
        _prepare_for_table(promise, query, domains, table, run, warn)
        for promise, query in zip(asked, wanted, strict=True)
    ]
    homes = [j for j in judged if isinstance(j, HouseholdAudit)]
    overall: dict[str, EquivalenceClasses] = {}
    people: dict[CountQuery, int] = {}
    for tally, batch in table.count([*tallies, *_list_homes(homes, tallies)], run):
        if not tally.by:
            overall[tally.about] = batch
        people[tally] = people.get(tally, 0) + int(batch.total.sum())
        _add_batch(batch, [j for j in judged if j.tally == tally])
        for home in homes:
            if home.home == tally:
                home.add_homes(batch)
    for j in judged:
        refuse_in_several_groups(people[j.tally], overall[j.tally.about], table)
    found = [j.finding(overall[j.tally.about], table.counted) for j in judged]
    return [weigh_evidence(f, p) for f, p in zip(found, promises, strict=True)]


def _list_homes(
    homes: Sequence[HouseholdAudit], tallies: Sequence[CountQuery]
) -> list[CountQuery]:
    """What is counted of households, each once."""
    return [q for q in dict.fromkeys(j.home for j in homes) if q not in tallies]


def _prepare_for_table(
    promise: Promise,
    query: tuple[CountQuery, Asked],
    domains: Mapping[str, Domain],
    table: Table,
    run: Run,
    warn: Warn,
) -> Judging:
    tally, values = query
    insider, domain = _require_insider(promise), domains[tally.about]
    sets = read_sets(table, domain)
    if sets is not None:
        _refuse_more_knowledge(promise, "people have several values each")
        assert not isinstance(values, Within)  # a list is no number
        return prepare_set_audit(promise, tally, values, sets)
    named = find_people(insider, table, tally, run) if are_named(insider) else None
    j = _prepare_audit(promise, tally, values, domain, warn, named)
    if insider.households is None or isinstance(j, WindowInsiderAudit):
        return j
    return HouseholdAudit(j, insider)


def judge_groups(
    groups: Groups, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge an insider's promises on groups."""
    found = []
    tally = CountQuery(groups.quasi, groups.about)
    for promise in promises:
        if _require_insider(promise).households is not None:
            raise NoAudit(
                "Groups do not tell who belongs together: audit the table itself for "
                "an insider who knows households."
            )
        if are_named(_require_insider(promise)):
            raise NoAudit(
                "Groups have no names: audit the table itself for an insider who "
                "knows people by name."
            )
        column, values = read_about(promise, groups.about)
        if column != groups.about:
            raise InputError(
                f"about must be {groups.about!r}, which these groups count; "
                f"got {column!r}."
            )
        domain, asked = groups.grouped.about, ask_before_evidence(promise)
        j = _prepare_audit(asked, tally, values, domain, warn, None, untyped=True)
        _add_batch(groups.grouped, [j])
        counted = j.finding(groups.everybody, groups.counted)
        found.append(weigh_evidence(counted, promise))
    return found


def judge_members(
    promise: Promise,
    values: Asked,
    groups: EquivalenceClasses,
    everybody: EquivalenceClasses,
    patterns: Mapping[Pattern, int],
    counted: str,
) -> Finding:
    """Judge a promise about households on groups whose members are known here."""
    insider = _require_insider(promise)
    tally = CountQuery(tuple(d.name for d in groups.by), groups.about.name)
    j = prepare_unnamed(promise, tally, values, groups.about)
    _add_batch(groups, [j])
    check = HouseholdCheck(groups, patterns, insider, j.protect)
    found = weigh_households(j.finding(everybody, counted), check, j, everybody)
    return weigh_evidence(found, promise)


def prepare_unnamed(
    promise: Promise, tally: CountQuery, values: Asked, about: Domain
) -> InsiderAudit:
    """What judges groups of people with one value each, for an insider by numbers."""
    asked = ask_before_evidence(promise)
    j = _prepare_audit(asked, tally, values, about, lambda words: None, None)
    assert isinstance(j, InsiderAudit)
    return j


def _add_batch(batch: EquivalenceClasses, judged: Sequence[Judging]) -> None:
    if not judged or not len(batch):
        return
    refuse_several_values(batch)
    for j in judged:
        j.add(batch)


def refuse_several_values(batch: EquivalenceClasses) -> None:
    """Nobody may be counted with two values."""
    if int(batch.total.sum()) != int(batch.n.sum()):
        raise InputError(
            "Each person must have one value to be judged against an insider; some "
            "have several. Make a set of them: [person] in the policy says so."
        )


# From a promise to what is counted --------------------------------------------------


def _require_insider(promise: Promise) -> Insider:
    assert isinstance(promise.against, Insider)
    return promise.against


def query_for_insider(promise: Promise, table: Table) -> tuple[CountQuery, Asked]:
    """The groups an insider sees, and the values the promise is about."""
    column, values = read_released_about(promise, table)
    by = [c for c in table.schema.names if c in table.roles.quasi and c != column]
    return CountQuery(tuple(by), column), values


def _prepare_audit(
    promise: Promise,
    tally: CountQuery,
    values: Asked,
    domain: Domain,
    warn: Warn,
    named: NamedPeople | None,
    *,
    untyped: bool = False,
) -> InsiderAudit | WindowInsiderAudit:
    insider = _require_insider(promise)
    ruling: Ruling
    if isinstance(insider.rules_out, int):
        ruling = min(insider.rules_out, len(domain))
    else:
        ruling = tuple(_find_ruled_codes(insider.rules_out, domain, warn))
    if isinstance(values, Within):
        _refuse_more_knowledge(promise, "a number lies within a window")
    k, m = cap_people(insider.knows_others), cap_people(insider.same_as)
    if isinstance(values, Within):
        windows = Windows.of(domain, values, untyped=untyped)
        point, limit = Point(ruling, k, m), require_ceiling(promise)
        return WindowInsiderAudit(promise, tally, point, limit, windows, named)
    protect = find_codes(values, domain, warn)
    if named is not None:
        labels = None if protect is None else (domain[c] for c in protect)
        named.protect = None if labels is None else frozenset(labels)
    fold = SkylineCheck([ruling], protect)
    limit = require_ceiling(promise)
    common = promise, tally, Point(ruling, k, m), limit, protect, fold, named
    if not insider.doubts:
        return InsiderAudit(*common)
    weak = WeakCheck(read_weak_point(insider, domain), protect)
    return WeakInsiderAudit(*common, weak=weak)


def _refuse_more_knowledge(promise: Promise, where: str) -> None:
    if words := explain_unfit(_require_insider(promise), where):
        raise NoAudit(words)


def explain_unfit(insider: Insider, where: str) -> str:
    """Doubts and households are for people who have one value, looked at by itself."""
    if insider.doubts:
        return (
            f"sure must be left out where {where}: values are ruled out for certain "
            "there. Whoever rules out a number of them for certain is at least as sure "
            "as with doubts."
        )
    if insider.households is not None:
        return (
            f"households must be left out where {where}: it is not counted there who "
            "belongs together."
        )
    return ""


def cap_people(number: object) -> int:
    """How many people a number means; there are never more than can be counted."""
    return min(number, MAX_COUNT) if isinstance(number, int) else 0


def _find_ruled_codes(
    values: Sequence[str], domain: Domain, warn: Warn
) -> Iterator[int]:
    for value in values:
        code = domain.code(value)
        if code is None:
            warn(say_never_occurs(value, domain))
        else:
            yield code


def refuse_in_several_groups(
    people: int, everybody: EquivalenceClasses, table: Table
) -> None:
    """Nobody may be counted in two groups."""
    if people != int(everybody.total[0]):
        raise InputError(
            "Each person must be in one group to be judged against an insider; some of "
            f"column {table.roles.unit!r} have rows that look different. Say how rows "
            "become people: [person] in the policy, or person=… of pv.read."
        )


# From groups to a finding -----------------------------------------------------------


def find_groups_beyond(
    rows: RankedValues, protect: Sequence[int] | None, point: Point, limit: Ceiling
) -> Rows:
    """The groups where the attack inside one group breaks the limit, exactly."""
    if limit.holds(Belief(0, 1)):  # nobody can be surer than that
        return np.zeros(0, dtype=np.intp)
    group, a, b, tail = find_modes(rows, point.l, protect)
    against = closed_forms.cf1_floats(tail, a, b, point.k, point.m)
    # A belief of 3/4 is odds of 1/3 against the value.
    theta = float((1 - limit.level) / limit.level)
    bad = against < theta
    # Below 1 means theta = 0: NEAR**2 is the room in which odds of 0 are found.
    for i in np.flatnonzero(
        np.abs(against - theta) <= NEAR * max(theta, NEAR)
    ).tolist():
        own = int(tail[i]), int(a[i]), int(b[i])
        exactly = closed_forms.belief_from_odds(
            closed_forms.cf1(*own, point.k, point.m)
        )
        bad[i] = not limit.holds(Belief(0, exactly))
    return group[bad]
