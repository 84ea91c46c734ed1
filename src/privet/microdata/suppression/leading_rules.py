"""What leads the search beside linkers: measures and insiders who look at one class.

Showing more only splits equivalence classes, and what is here is never worsened by
merging them: what it refuses once, it refuses for ever. Of insiders who know companions
only what they learn within one class leads; everything else is judged in the end.
Wang, Fung, Yu 2007, §3.2 (Corollary 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from privet.engine.protocol import CountQuery
from privet.microdata.list_columns import read_sets
from privet.microdata.privacy_models.class_scores import Batch
from privet.microdata.privacy_models.models import (
    Steering,
    find_steering,
    score_groups,
)
from privet.microdata.skyline.audit import prepare_unnamed, query_for_insider
from privet.microdata.skyline.evidence import ask_before_evidence
from privet.microdata.skyline.named_individuals import is_named
from privet.microdata.skyline.sets import prepare_set_audit
from privet.policy import Measure, Policy, Promise
from privet.table import Table
from privet.values.adversaries import Insider, Linker
from privet.values.arrays import Flags
from privet.values.contingency import Domain
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
        alone = isinstance(stated.against, Insider) and stated.against.same_as == 0
        return alone and _sees_classes(stated, table)
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


def list_quasi(table: Table) -> tuple[str, ...]:
    """The columns that make equivalence classes."""
    return tuple(c for c in table.schema.names if c in table.roles.quasi)


def query_classes(
    table: Table, stated: Iterable[Stated]
) -> dict[CountQuery, list[Stated]]:
    """What to count for what looks at single classes: each column once."""
    found: dict[CountQuery, list[Stated]] = {}
    quasi = list_quasi(table)
    for each in stated if quasi else ():
        query = _query_own(each, quasi, table)
        if query is not None:
            found.setdefault(query, []).append(each)
    return found


def _query_own(
    stated: Stated, quasi: tuple[str, ...], table: Table
) -> CountQuery | None:
    """The classes something looks at; None: it is judged in the end only."""
    if isinstance(stated, Promise):
        alone = _sees_classes(stated, table)
        return query_for_insider(stated, table)[0] if alone else None
    if not _is_scored(stated):
        return None
    about = stated.about or table.protected()
    return None if about in quasi else CountQuery(quasi, about)


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
