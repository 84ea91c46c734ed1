"""What became of a promise about households: the surest one, written out as an attack.

Everybody is judged as by the same insider without households first; who belongs to
nobody is covered by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import attrs

from privet.engine.protocol import CountQuery
from privet.errors import InputError, suggest_names
from privet.findings import Attack, Audit, Basis, Finding, Verdict
from privet.languages import mark, say, translate
from privet.microdata.skyline.households import (
    Doubts,
    HouseholdCase,
    HouseholdCheck,
    HouseholdTally,
    join_groups,
    locate_members,
    read_relation,
)
from privet.microdata.skyline.witness import (
    build_attacked_group,
    build_witness,
    select_most_frequent,
)
from privet.policy import Promise
from privet.table import Table
from privet.values.adversaries import Insider
from privet.values.beliefs import Belief, Ceiling
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.known_cells import SHARE, Members

BOUND = mark(
    "Other people may be known besides: this is an upper bound on how sure somebody "
    "can be who knows who belongs together; of that alone it is {least}."
)

NOT_THERE = mark(
    "Column {column!r}, which says who belongs together, is not in {what}: nobody can "
    "count this promise there. It is judged on the private table."
)


BLURRED = mark(
    "Column {column!r}, which says who belongs together, parts the groups, or is in "
    "bins: nobody can count this promise there. Declare it as an identifier, or drop "
    "it."
)


@dataclass(frozen=True)
class HouseholdAttack(Attack):
    """What is known of a household, and how sure it makes somebody of one member."""

    column: str = ""
    """The column that says who belongs together."""
    members: tuple[int, ...] = ()
    """How many of them are in each group, the victim included."""
    relation: Members = SHARE
    """What is known of their values."""

    def recount(self) -> Fraction:
        """The belief again, from the histograms of the groups."""
        relation = read_relation(self.relation, lambda value: value)
        counts: Any = [g.histogram for g in self.groups]
        weights = relation.weigh(counts, self.members)
        sure = self.sure or (Fraction(1),) * len(self.rules_out)
        named = {v: 1 - p for v, p in zip(self.rules_out, sure, strict=True)}
        doubts = Doubts(named=named)
        own = doubts.weigh_own(self.value) * weights.get(self.value, 0)
        return Fraction(own, own + doubts.weigh_others(weights, self.value))

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        known = Insider(households=self.column, members=self.relation).to_dict()
        told = {"households": self.column, "relation": known.get("members", SHARE)}
        return {**super().to_dict(), **told, "members": list(self.members)}


def build_household_attack(
    case: HouseholdCase, groups: EquivalenceClasses, insider: Insider
) -> HouseholdAttack:
    """The attack behind a case, as anybody can recount it."""
    value = groups.about[case.value]
    attacked = tuple(build_attacked_group(groups, g) for g, _ in case.pattern)
    members = tuple(n for _, n in case.pattern)
    relation = read_relation(insider.members, lambda v: v)
    counts: Any = [g.histogram for g in attacked]
    weights = relation.weigh(counts, members)
    out = insider.rules_out
    ruled = select_most_frequent(weights, value, out) if isinstance(out, int) else out
    # The surest on the most likely value, and so on.
    doubts = insider.list_doubts(len(ruled))
    if isinstance(out, int):
        doubts = tuple(sorted(doubts))[: len(ruled)]
    sure = tuple(1 - d for d in doubts) if insider.doubts else ()
    return HouseholdAttack(
        value,
        ruled,
        attacked,
        case.belief,
        sure=sure,
        column=insider.households or "",
        members=members,
        relation=insider.members,
    )


# The audit --------------------------------------------------------------------------


class OtherwiseJudged(Protocol):
    """The same insider without households, while groups pass by."""

    promise: Promise
    tally: CountQuery
    limit: Ceiling
    protect: tuple[int, ...] | None

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""

    def finding(self, everybody: EquivalenceClasses, counted: str) -> Finding:
        """What became of the promise."""


@dataclass
class HouseholdAudit:
    """One promise about households while groups and members pass by."""

    base: OtherwiseJudged
    insider: Insider
    parts: list[EquivalenceClasses] = field(default_factory=list)
    """The groups with the values of their people."""
    homes: list[EquivalenceClasses] = field(default_factory=list)
    """The same groups with the households of their people."""

    @property
    def tally(self) -> CountQuery:
        """What is counted of values."""
        return self.base.tally

    @property
    def home(self) -> CountQuery:
        """What is counted of households."""
        assert self.insider.households is not None
        return CountQuery(self.tally.by, self.insider.households)

    def add(self, batch: EquivalenceClasses) -> None:
        """Some more whole groups."""
        self.base.add(batch)
        self.parts.append(batch)

    def add_homes(self, batch: EquivalenceClasses) -> None:
        """The households of some more whole groups."""
        self.homes.append(batch)

    def finding(self, everybody: EquivalenceClasses, counted: str) -> Finding:
        """What became of the promise."""
        found = self.base.finding(everybody, counted)
        groups = join_groups(self.parts)
        people = int(everybody.total[0])
        if sum(int(h.n.sum()) for h in self.homes) != people:
            raise InputError(
                f"Each person must have one {self.insider.households!r} to be judged "
                "with those who have the same; some have several."
            )
        patterns = locate_members(groups, self.homes)
        check = HouseholdCheck(groups, patterns, self.insider, self.base.protect)
        return weigh_households(found, check, self.base, everybody)


def weigh_households(
    found: Finding,
    check: HouseholdCheck,
    base: OtherwiseJudged,
    everybody: EquivalenceClasses,
) -> Finding:
    """What was found without households, with them."""
    limit = base.limit
    tally = check.judge(lambda belief: limit.holds(Belief(0, belief)))
    details = {**found.details, "households": tally.describe()}
    found = replace(found, details=details)
    assert found.belief is not None
    if tally.exact is not None and tally.exact.belief > found.belief.posterior:
        attack = build_household_attack(tally.exact, check.groups, check.insider)
        counted = found.witness.counted if found.witness else "rows"
        witness = build_witness(base.tally.about, attack, everybody, counted)
        kept = limit.holds(witness.belief)
        found = replace(
            found,
            verdict=Verdict.SAFE if kept else Verdict.BREACH,
            belief=witness.belief,
            witness=witness,
        )
    return _weigh_bound(found, tally, limit)


def _weigh_bound(found: Finding, tally: HouseholdTally, limit: Ceiling) -> Finding:
    """What is not exact may acquit, and never accuses; so may what is not judged."""
    assert found.belief is not None
    least = found.belief.posterior
    if found.verdict is Verdict.BREACH:
        return found
    if tally.unjudged:
        note = say("Not everything was judged: {why}", why=translate(tally.unjudged))
        nothing: dict[str, Any] = {"basis": None, "belief": None, "witness": None}
        return replace(found, verdict=Verdict.UNDECIDED, note=note, **nothing)
    if tally.bound <= least:
        return found
    belief = Belief(found.belief.prior, tally.bound)
    return replace(
        found,
        verdict=Verdict.SAFE if limit.holds(belief) else Verdict.UNDECIDED,
        basis=Basis.BOUND,
        belief=belief,
        at_least=least,
        witness=None,
        note=say(BOUND, least=least),
    )


# Whether households can be counted --------------------------------------------------


def find_unjudged(promise: Promise, table: Table) -> Finding | None:
    """A promise about households that a table does not have; None: it can be judged."""
    column = _find_column(promise)
    if column is None:
        return None
    if column not in table.schema.names:
        note = say(NOT_THERE, column=column, what=table.words)
        near = suggest_names(column, table.schema.names)
        if near.startswith("Did"):
            note = f"{note} {near}"
        return Finding(promise, Verdict.UNDECIDED, note=note)
    if column in (*table.roles.quasi, *table.roles.bins, *table.relabels):
        note = say(BLURRED, column=column)
        return Finding(promise, Verdict.UNDECIDED, note=note)
    if column in (table.roles.weight, *_list_asked(promise, table)):
        raise InputError(
            "households must not be the weight, nor what the promise is about; got "
            f"{column!r}."
        )
    return None


def _find_column(promise: Promise) -> str | None:
    return promise.against.households if isinstance(promise.against, Insider) else None


def _list_asked(promise: Promise, table: Table) -> tuple[str, ...]:
    about = promise.about
    if isinstance(about, Mapping):
        return tuple(about)
    return (about,) if isinstance(about, str) else table.roles.sensitive


def asks_households(promise: object) -> bool:
    """Whether a promise is about people who belong together."""
    return isinstance(promise, Promise) and _find_column(promise) is not None


def open_households(audit: Audit, released: Sequence[str]) -> Audit:
    """An audit as a stranger can recount it, who is not told who belongs together.

    What was judged with the private column stays open in public: nobody who has the
    release alone could check it.
    """
    found = [
        Finding(f.promise, Verdict.UNDECIDED)
        if isinstance(f.promise, Promise)
        and (column := _find_column(f.promise)) is not None
        and column not in released
        else f
        for f in audit.findings
    ]
    return attrs.evolve(audit, findings=tuple(found))
