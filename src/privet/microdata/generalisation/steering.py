"""Familiar measures as rules that steer Mondrian.

Some are an insider's knowledge by another name, or a number of people: the loops judge
them. Others are scored as an audit scores them, group by group. Only measures that
merging never worsens may steer; what else a policy asks is checked in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from privet.errors import InputError
from privet.microdata.generalisation.constraints import (
    GroupConstraint,
    MeasureConstraint,
    never,
)
from privet.microdata.privacy_models.audit import OVERALL, is_monotone
from privet.microdata.privacy_models.models import Batch, scores
from privet.microdata.skyline.closed_forms import Point
from privet.microdata.suppression.disclosure_loops import Ints
from privet.policy import Measure
from privet.policy.measures import KINDS
from privet.table import Table, require_columns
from privet.values.beliefs import Ceiling
from privet.values.contingency import Domain
from privet.values.equivalence_classes import ClassKeys, EquivalenceClasses

SIZES = ("k_anonymity", "alpha_k_anonymity", "prosecutor_risk")
"""Measures that ask for a number of people."""

LATER = ("journalist_risk",)
"""Measures of people who are in no group."""


@dataclass(frozen=True)
class ScoredMeasure:
    """A measure that is scored group by group."""

    measure: Measure
    column: str

    def start(self, domain: Domain, everybody: Ints) -> MeasureConstraint:
        """The measure for a column with these values."""

        def keeps(parts: Ints) -> bool:
            found = scores(self.measure, Batch(as_groups(parts, domain), everybody))
            return not bool(found.beyond.any())

        return MeasureConstraint(self.measure, self.column, keeps)


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


def asked(measures: Sequence[Measure], table: Table) -> MeasureConstraints:
    """Sort measures by how they are judged."""
    steering = [m for m in measures if is_monotone(m) and m.kind not in LATER]
    return MeasureConstraints(
        max([1, *(_least(m) for m in steering if m.kind in SIZES)]),
        tuple(r for m in steering for r in _rules(m, table)),
        tuple(
            ScoredMeasure(m, _column(m, table))
            for m in steering
            if KINDS[m.kind].sensitive and not _rules(m, table)
        ),
        _lowest(steering, "marketer_risk"),
        _lowest(steering, "sample_uniques"),
    )


def _least(measure: Measure) -> int:
    if measure.kind == "alpha_k_anonymity":
        return measure.k or 1
    if measure.kind == "prosecutor_risk":
        if not measure.level:
            raise never(measure)
        return ceil(1 / measure.level)
    return int(measure.level)


def _rules(measure: Measure, table: Table) -> list[GroupConstraint]:
    """Chen, LeFevre, Ramakrishnan 2007: familiar measures as points."""
    level, kind = measure.level, measure.kind
    if kind == "alpha_k_anonymity" and level > 0:
        point, limit = Point(0, 0, 0), Ceiling(level)
    elif kind == "distinct_l_diversity" and level >= 2:
        point, limit = Point(int(level) - 2, 0, 0), Ceiling(below=1)
    elif kind == "recursive_l_diversity" and level >= 2 and measure.c:
        share = measure.c / (measure.c + 1)
        point, limit = Point(int(level) - 2, 0, 0), Ceiling(below=share)
    else:
        return []
    return [GroupConstraint(measure, _column(measure, table), None, point, limit)]


def _column(measure: Measure, table: Table) -> str:
    column = measure.about or table.protected()
    require_columns([column], table.schema, "about")
    if column in (*table.roles.quasi, *table.roles.identifier):
        raise InputError(
            f"about must be a column that groups keep as it is; got {column!r}."
        )
    return column


def _lowest(measures: Sequence[Measure], kind: str) -> Fraction | None:
    assert kind in OVERALL
    return min((m.level for m in measures if m.kind == kind), default=None)


def most_of(share: Fraction | None, people: int) -> int | None:
    """So many out of so many people."""
    return None if share is None else floor(share * people)


def as_groups(parts: Ints, domain: Domain) -> EquivalenceClasses:
    """Histograms, one line each, as groups."""
    group, value = np.nonzero(parts)
    start = np.searchsorted(group, np.arange(len(parts) + 1))
    names = Domain("group", [str(i) for i in range(len(parts))])
    keys = ClassKeys.of([np.arange(len(parts))], [len(parts)], len(parts))
    return EquivalenceClasses(
        (names,),
        domain,
        keys,
        parts.sum(axis=1),
        start.astype(np.intp),
        value,
        parts[group, value],
    )
