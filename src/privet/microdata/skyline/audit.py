"""Promises against insiders, judged on a table or on groups from one count.

An insider has background knowledge: values ruled out, people known, companions. They
see the equivalence classes (QI-groups) over all quasi-identifiers and who is in which;
the values of a group are dealt to its people in any order, all equally likely. Numbers
(l, k, m) stand for the worst knowledge of that size, names for the knowledge itself.
Chen, LeFevre, Ramakrishnan 2007, "Three-dimensional knowledge expression".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.engine.protocol import CountQuery, Run
from privet.errors import InputError, NoAudit
from privet.findings import Attack, Basis, Finding, Verdict, Witness
from privet.microdata.groups import Groups
from privet.microdata.linkage import (
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
from privet.microdata.skyline.witness import build_attack
from privet.policy import Promise
from privet.release.kinds import Warn
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import MAX_COUNT


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
        above = find_groups_beyond(rows, self.protect, self.point, self.limit)
        self.above += len(above)
        self.people_above += int(batch.total[above].sum())

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
            groups=0 if self.named else self.fold.groups,
            groups_above=self.above,
            people_above=self.people_above,
            details=describe_floor(everybody, self.protect, self.limit),
        )


def judge_table(
    table: Table, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge an insider's promises on a table, from one count."""
    wanted = [query_for_insider(p, table) for p in promises]
    everybody = {t.about: CountQuery((), t.about) for t, _ in wanted}
    tallies = list(dict.fromkeys([*(t for t, _ in wanted), *everybody.values()]))
    domains = table.domains(list(everybody), run, before=tallies)
    judged: list[InsiderAudit | SetInsiderAudit] = []
    for promise, (tally, values) in zip(promises, wanted, strict=True):
        sets = read_sets(table, domains[tally.about])
        if sets is not None:
            judged.append(prepare_set_audit(promise, tally, values, sets))
            continue
        named = None
        if are_named(_require_insider(promise)):
            named = find_people(_require_insider(promise), table, tally, run)
        judged.append(
            _prepare_audit(promise, tally, values, domains[tally.about], warn, named)
        )
    overall: dict[str, EquivalenceClasses] = {}
    people: dict[CountQuery, int] = {}
    for tally, batch in table.count(tallies, run):
        if not tally.by:
            overall[tally.about] = batch
        people[tally] = people.get(tally, 0) + int(batch.total.sum())
        _add_batch(batch, [j for j in judged if j.tally == tally])
    for j in judged:
        refuse_in_several_groups(people[j.tally], overall[j.tally.about], table)
    return [j.finding(overall[j.tally.about], table.counted) for j in judged]


def judge_groups(
    groups: Groups, promises: Sequence[Promise], run: Run, warn: Warn
) -> list[Finding]:
    """Judge an insider's promises on groups."""
    found = []
    tally = CountQuery(groups.quasi, groups.about)
    for promise in promises:
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
        j = _prepare_audit(promise, tally, values, groups.grouped.about, warn, None)
        _add_batch(groups.grouped, [j])
        found.append(j.finding(groups.everybody, groups.counted))
    return found


def _add_batch(
    batch: EquivalenceClasses, judged: Sequence[InsiderAudit | SetInsiderAudit]
) -> None:
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
            "have several. Make one row per person, with a list of values."
        )


# From a promise to what is counted --------------------------------------------------


def _require_insider(promise: Promise) -> Insider:
    assert isinstance(promise.against, Insider)
    return promise.against


def query_for_insider(
    promise: Promise, table: Table
) -> tuple[CountQuery, tuple[object, ...] | None]:
    """The groups an insider sees, and the values the promise is about."""
    column, values = read_released_about(promise, table)
    by = [c for c in table.schema.names if c in table.roles.quasi and c != column]
    return CountQuery(tuple(by), column), values


def _prepare_audit(
    promise: Promise,
    tally: CountQuery,
    values: tuple[object, ...] | None,
    domain: Domain,
    warn: Warn,
    named: NamedPeople | None,
) -> InsiderAudit:
    insider = _require_insider(promise)
    protect = find_codes(values, domain, warn)
    ruling: Ruling
    if isinstance(insider.rules_out, int):
        ruling = min(insider.rules_out, len(domain))
    else:
        ruling = tuple(_find_ruled_codes(insider.rules_out, domain, warn))
    k, m = cap_people(insider.knows_others), cap_people(insider.same_as)
    if named is not None:
        labels = None if protect is None else (domain[c] for c in protect)
        named.protect = None if labels is None else frozenset(labels)
    fold = SkylineCheck([ruling], protect)
    limit = require_ceiling(promise)
    return InsiderAudit(
        promise, tally, Point(ruling, k, m), limit, protect, fold, named
    )


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
            f"column {table.roles.unit!r} have rows that look different. Make one row "
            "per person first."
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


def build_witness(
    column: str, found: Attack, everybody: EquivalenceClasses, counted: str
) -> Witness:
    """The attack beside how many have the value, in the group and in all."""
    own = found.groups[0]
    code = everybody.about.code(found.value)
    having = int(everybody.n[everybody.value == code].sum())
    return Witness(
        knows=own.where,
        column=column,
        value=found.value,
        part=own.histogram.get(found.value, 0),
        whole=sum(own.histogram.values()),
        prior_part=having,
        prior_whole=int(everybody.total[0]),
        counted=counted,
        attack=found,
    )
