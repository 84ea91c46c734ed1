"""Values ruled out with probabilities, as a constraint on each group by itself.

Without companions that is all there is to judge; with them the whole release is judged
besides, by the running minima.
"""

from __future__ import annotations

from fractions import Fraction
from math import perm

import numpy as np

from privet.errors import Infeasible
from privet.microdata.generalisation.constraints import (
    GroupConstraint,
    SteeringConstraint,
)
from privet.microdata.generalisation.infeasible_promises import describe_infeasible
from privet.microdata.skyline.weak_rule_outs import (
    WeakCheck,
    WeakPoint,
    find_groups_beyond_weakly,
)
from privet.values.arrays import Flags, Ints
from privet.values.beliefs import Belief, Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import group_histograms

FEW = 64
"""Groups that are judged one by one: a split has two, and arrays would cost more."""


def steer_doubts(rule: GroupConstraint, domain: Domain) -> SteeringConstraint:
    """What each group must keep of a promise, whatever else the release holds."""
    asked = rule.require(domain)
    weak, protect = asked.weak, asked.protect
    assert weak is not None

    allowed = None if protect is None else np.isin(np.arange(len(domain)), protect)

    def find_beyond(parts: Ints) -> Flags:
        if len(parts) <= FEW and weak.codes is None:
            every = (_is_beyond(row, allowed, weak, asked.limit) for row in parts)
            return np.fromiter(every, dtype=bool, count=len(parts))
        groups = group_histograms(parts, domain)
        return find_groups_beyond_weakly(groups, weak, protect, asked.limit)

    def refuse(everybody: Ints) -> Infeasible:
        found = WeakCheck(weak, protect).add(group_histograms(everybody, domain))
        return describe_infeasible([(rule, Fraction(found.belief()))])

    return SteeringConstraint(rule.column, find_beyond, refuse)


def _is_beyond(
    row: Ints, allowed: Flags | None, point: WeakPoint, limit: Ceiling
) -> bool:
    """Whether one group breaks the limit by itself, in integers.

    Its most frequent value that matters is the best to believe: whatever others there
    are, they weigh the least beside it.
    """
    counts = row.tolist() if allowed is None else row[allowed].tolist()
    most = max(counts, default=0)
    if not most or limit.holds(Belief(0, 1)):
        return False
    others = row.tolist()
    others.remove(most)
    lacking = sum(others)
    weight = point.weigh_rest(sorted(others, reverse=True), point.k)
    known = point.k + 1
    # Odds of weight / (scale * most) times Q, beside (1 - c) / c.
    q = (
        perm(max(lacking - known, 0), point.m),
        perm(max(lacking + most - known, 0), point.m),
    )
    if not weight or not q[0]:
        return True
    level = limit.level
    odds = weight * q[0] * level.numerator
    bar = point.scale * most * q[1] * (level.denominator - level.numerator)
    return odds <= bar if limit.strict else odds < bar
