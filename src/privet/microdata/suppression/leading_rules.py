"""What leads the search beside linkers: measures and insiders who look at one class.

Showing more only splits equivalence classes, and what is here is never worsened by
merging them: what it refuses once, it refuses for ever. Insiders who know companions
look at all classes at once; everything else is judged in the end.
Wang, Fung, Yu 2007, §3.2 (Corollary 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from privet.engine.protocol import CountQuery
from privet.microdata.dependence.finer_groups import find_asked
from privet.microdata.dependence.told_columns import close_for_hiding
from privet.microdata.list_columns import read_sets
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.privacy_models.models import (
    Steering,
    find_steering,
    score_groups,
)
from privet.microdata.skyline.audit import (
    prepare_unnamed,
    query_for_insider,
)
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.skyline.evidence import ask_before_evidence
from privet.microdata.skyline.incremental import Requirement
from privet.microdata.skyline.named_individuals import is_named
from privet.microdata.skyline.sets import prepare_set_audit
from privet.policy import Measure, Policy, Promise
from privet.table import Table
from privet.values.adversaries import Insider, Linker
from privet.values.arrays import Flags
from privet.values.beliefs import Belief
from privet.values.contingency import Domain
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.windows import Within

Stated = Promise | Measure

FindBeyond = Callable[[Batch], Flags]
"""Which of some equivalence classes break a rule by themselves."""


def list_beside(policy: Policy) -> list[Stated]:
    """All that a policy asks of groups but promises against linkers."""
    promises = policy.promises_about("groups")
    others = [p for p in promises if not isinstance(p.against, Linker)]
    return [*others, *policy.measures]


def find_least_size(stated: Iterable[Stated]) -> int:
    """How many people must look alike by the measures that say so."""
    return max([1, *(s.least_size for m in stated if (s := _find_own(m)))])


def is_led_by(stated: Stated, table: Table) -> bool:
    """Whether something leads with all that it asks for."""
    if isinstance(stated, Promise):
        return _sees_classes(stated, table) and _is_certain(stated)
    steering = _find_own(stated)
    if steering is None or not steering.possible:
        return False
    return _is_scored(stated) or steering == Steering(least_size=steering.least_size)


def _is_scored(measure: Measure) -> bool:
    """Whether each equivalence class is scored by its sensitive values."""
    steering = _find_own(measure)
    return steering is not None and (steering.scored or steering.point is not None)


def _find_own(stated: Stated) -> Steering | None:
    if isinstance(stated, Promise) or stated.population is not None:
        return None
    return find_steering(stated)


def _sees_classes(promise: Promise, table: Table) -> bool:
    """Whether an insider is told something by each class, whose people count alike."""
    who = promise.against
    if not isinstance(who, Insider) or who.households is not None or is_named(promise):
        return False
    query, values = query_for_insider(promise, table)
    return not isinstance(values, Within) and query.about not in table.roles.quasi


def _is_certain(promise: Promise) -> bool:
    """Whether running minima judge companions: values ruled out by number, surely."""
    who = promise.against
    assert isinstance(who, Insider)
    return who.same_as == 0 or (isinstance(who.rules_out, int) and not who.doubts)


def list_known(
    table: Table, stated: Stated | None, fixed: Collection[str]
) -> tuple[str, ...]:
    """The quasi columns with all that they tell, and what shows them and is `fixed`.

    What something is about parts no classes; without it, no sensitive column does.
    """
    asked = find_asked(stated, table) if stated else table.roles.sensitive
    quasi = tuple(c for c in table.schema.names if c in table.roles.quasi)
    if not quasi:
        return ()
    sets = close_for_hiding(table, [quasi], asked[0] if asked else "", fixed)
    return tuple(c for c in sets.exact[0] if c in quasi or c not in asked)


@dataclass(frozen=True)
class LookAlikes:
    """Who looks alike in some columns, whatever else they have."""

    known: tuple[str, ...]
    """The columns."""
    query: CountQuery
    """What is to be counted for it."""

    @classmethod
    def of(cls, table: Table, fixed: Collection[str]) -> LookAlikes | None:
        """Those who look alike in the quasi columns; None where there are none."""
        known = list_known(table, None, fixed)
        if not known:
            return None
        gone = {*known, *table.roles.withheld, table.roles.unit, table.roles.weight}
        about = next((c for c in table.schema.names if c not in gone), None)
        *others, last = known
        own = CountQuery(known, about) if about else CountQuery(tuple(others), last)
        return cls(known, own)

    def group(self, grouped: EquivalenceClasses) -> EquivalenceClasses:
        """The classes of what was counted."""
        return (
            grouped
            if self.query.by == self.known
            else grouped.split_by_value(self.known)
        )


def query_classes(
    table: Table, stated: Iterable[Stated], fixed: Collection[str]
) -> dict[CountQuery, list[Stated]]:
    """What to count for what looks at single classes: each column once."""
    found: dict[CountQuery, list[Stated]] = {}
    for each in stated if table.roles.quasi else ():
        about = _find_about(each, table)
        if about is not None:
            query = CountQuery(list_known(table, each, fixed), about)
            found.setdefault(query, []).append(each)
    return found


def list_known_beside(
    table: Table, stated: Sequence[Stated], fixed: Collection[str]
) -> list[tuple[frozenset[str], str]]:
    """What whoever leads is taken to know, each with the column asked about."""
    led = query_classes(table, stated, fixed)
    known = [(frozenset(query.by), query.about) for query in led]
    if find_least_size(stated) > 1:
        known.append((frozenset(list_known(table, None, fixed)), ""))
    return known


def _find_about(stated: Stated, table: Table) -> str | None:
    """The column whose values classes are judged by; None: in the end only."""
    if isinstance(stated, Promise):
        alone = _sees_classes(stated, table)
        return query_for_insider(stated, table)[0].about if alone else None
    if not _is_scored(stated):
        return None
    about = stated.about or table.protected()
    return None if about in table.roles.quasi else about


def read_rule(stated: Stated, table: Table, about: Domain) -> FindBeyond:
    """How classes are judged by something that looks at each by itself."""
    if isinstance(stated, Measure):
        return lambda batch: score_groups(stated, batch).beyond
    query, values = query_for_insider(stated, table)
    sets = read_sets(table, about)
    if sets is not None:
        assert not isinstance(values, Within)  # a list is no number
        members = prepare_set_audit(ask_before_evidence(stated), query, values, sets)
        return lambda batch: members.find_beyond(batch.groups)
    audit = prepare_unnamed(stated, query, values, about)
    return lambda batch: audit.find_beyond(batch.groups, batch.rows)


def read_companions(
    stated: Stated, table: Table, about: Domain, people: int
) -> Requirement | None:
    """What somebody may not learn of all classes at once; None: of one they may not."""
    if isinstance(stated, Measure) or not _is_certain(stated):
        return None
    if read_sets(table, about) is not None:  # members of lists: in the end only
        return None
    audit = prepare_unnamed(stated, *query_for_insider(stated, table), about)
    l, k, m = audit.point
    if not m or audit.limit.holds(Belief(0, 1)):
        return None
    # Nobody knows more people than there are.
    point = Point(l, min(k, people), min(m, people))
    return Requirement(point, audit.limit, audit.protect)
