"""What each privacy model comes to in each equivalence class, exactly.

k-anonymity, (alpha, k)-anonymity; distinct, entropy and recursive (c, l)-diversity;
t-closeness, beta-likeness, enhanced beta-likeness, delta-disclosure; prosecutor,
journalist and marketer risk, and sample uniques: `SCORES` has a function for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError, TooLarge
from privet.microdata.privacy_models import t_closeness
from privet.microdata.privacy_models.t_closeness import Ratio
from privet.microdata.skyline.closed_forms import NEAR, Floats, Ints
from privet.microdata.skyline.skyline import RankedValues, rank_values
from privet.policy import Measure
from privet.policy.measures import AT_LEAST
from privet.values import logarithms
from privet.values.equivalence_classes import EquivalenceClasses
from privet.values.exact import exceeds, find_highest_among

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some equivalence classes, and how many of everybody have each value."""

    groups: EquivalenceClasses
    everybody: Ints | None = None
    """A count per code; None where no measure asks for it."""
    sizes: Ints | None = None
    """People each group could be taken for, where that is not its own number."""

    @cached_property
    def rows(self) -> RankedValues:
        """The histograms, most frequent value first."""
        return rank_values(self.groups)

    @cached_property
    def modes(self) -> Ints:
        """The count of each group's most frequent value."""
        return self.rows.a[self.rows.start[:-1]]

    @property
    def people(self) -> Ints:
        """How many look alike, group by group."""
        return self.groups.total if self.sizes is None else self.sizes

    @property
    def matches(self) -> Fraction:
        """Rows somebody gets right on average who matches all of them."""
        if self.sizes is None:
            return Fraction(len(self.groups))
        sizes, at = np.unique(self.sizes, return_inverse=True)
        rows = np.zeros(len(sizes), dtype=np.int64)
        np.add.at(rows, at, self.groups.total)
        each = zip(rows.tolist(), sizes.tolist(), strict=True)
        return sum((Fraction(n, size) for n, size in each), Fraction(0))

    def require_one_value(self) -> None:
        """Shares of values need people who have just one each."""
        if int(self.groups.n.sum()) != int(self.groups.total.sum()):
            raise InputError(
                "Each person must have one value to be compared with everybody; some "
                "have several."
            )

    def distribution(self) -> Ints:
        """How many of everybody have each value, where everybody has just one."""
        assert self.everybody is not None
        self.require_one_value()
        most = int(self.groups.total.max()) * int(self.everybody.sum())
        if most * 4 * len(self.everybody) >= 2**63:
            raise TooLarge(
                "A group must not be so large that its comparison with everybody "
                f"passes 64 bits; got {int(self.groups.total.max()):,} people in one."
            )
        return self.everybody


@dataclass(frozen=True, eq=False)
class GroupScores:
    """One number per group, as a fraction, and which groups are beyond the level."""

    part: Ints
    whole: Ints
    beyond: Flags

    def find_worst(self, smallest: bool) -> int:
        """The group with the worst number, the first of equals; exactly."""
        part = -self.part if smallest else self.part
        share = part / self.whole
        top = share.max()
        near = np.flatnonzero(share >= top - NEAR * abs(top))
        return int(find_highest_among(part, self.whole, near)[0])


def score_groups(measure: Measure, batch: Batch) -> GroupScores:
    """Measure every group of a batch."""
    return SCORES[measure.kind](measure, batch)


def _score_ratio(part: Ints, whole: Ints, measure: Measure) -> GroupScores:
    if measure.sense == AT_LEAST:  # these are whole numbers
        return GroupScores(part, whole, part < int(measure.level))
    return GroupScores(part, whole, exceeds(part, whole, measure.level))


def _k_anonymity(measure: Measure, batch: Batch) -> GroupScores:
    """k-anonymity: how many people the group has."""
    return _score_ratio(batch.people, _broadcast_one(batch.people), measure)


def _broadcast_one(numbers: Ints) -> Ints:
    """What whole numbers are divided by; it takes no room."""
    return np.broadcast_to(np.int64(1), numbers.shape)


def _alpha_k_anonymity(measure: Measure, batch: Batch) -> GroupScores:
    """(alpha, k)-anonymity: the share of the mode, in groups of at least k."""
    found = _score_ratio(batch.modes, batch.groups.total, measure)
    small = batch.groups.total < (measure.k or 1)
    return GroupScores(found.part, found.whole, found.beyond | small)


def _distinct_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Distinct l-diversity: how many different values the group has."""
    several = np.diff(batch.groups.start).astype(np.int64)
    return _score_ratio(several, _broadcast_one(several), measure)


def _recursive_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Recursive (c, l)-diversity: the largest l with c_1 < c (r_l + … + r_d)."""
    assert measure.c is not None
    rows = batch.rows
    before = np.cumsum(rows.a) - rows.a
    tail = batch.groups.total[rows.group] - (
        before - before[rows.start[:-1]][rows.group]
    )
    modes = batch.modes[rows.group]
    holds = exceeds(np.maximum(tail, 0), modes, 1 / measure.c)
    several = np.add.reduceat(holds.astype(np.int64), rows.start[:-1])
    return _score_ratio(several, _broadcast_one(several), measure)


def _entropy_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Entropy l-diversity: the exponential of the entropy of the group's values."""
    groups = batch.groups
    batch.require_one_value()
    logs = np.add.reduceat(groups.n * np.log(groups.n), groups.start[:-1])
    diverse = np.exp(np.log(groups.total) - logs / groups.total)
    level = _to_float(measure.level)
    beyond = diverse < level
    for g in np.flatnonzero(np.abs(diverse - level) <= NEAR * level).tolist():
        counts = groups.n[groups.start[g] : groups.start[g + 1]].tolist()
        beyond[g] = not logarithms.entropy_reaches(counts, measure.level)
    return GroupScores(*_as_ratio(diverse), beyond)


def _to_float(level: Fraction) -> float:
    """A level as a float, or one that no logarithm of counts reaches."""
    return float(min(level, Fraction(2**100)))


SHOWN = 10**9
"""Numbers that are no fractions are shown to so many parts."""


def _as_ratio(x: Floats) -> Ratio:
    part = np.rint(x * SHOWN).astype(np.int64)
    return part, np.full_like(part, SHOWN)


def _t_closeness(measure: Measure, batch: Batch) -> GroupScores:
    """t-closeness: the earth mover's distance to everybody's values."""
    everybody = batch.distribution()
    if measure.distance == "ordered":
        ratio = t_closeness.ordered_distance(batch.groups, everybody)
    elif measure.distance == "hierarchical":
        assert measure.hierarchy is not None
        tree = measure.hierarchy
        ratio = t_closeness.hierarchical_distance(batch.groups, everybody, tree)
    else:
        ratio = t_closeness.equal_distance(batch.groups, everybody)
    return _score_ratio(*ratio, measure)


def _compare_shares(batch: Batch) -> tuple[Ints, Ints, Ints]:
    """p/q of every row as a fraction, and the share of its value as a count."""
    groups, everybody = batch.groups, batch.distribution()
    share = everybody[groups.value]
    part = groups.n * int(everybody.sum())
    return part, share * groups.total[groups.group], share


def _beta_likeness(measure: Measure, batch: Batch) -> GroupScores:
    """beta-likeness: the largest relative gain of a value's share."""
    part, whole, _ = _compare_shares(batch)
    at = _find_largest(part / whole, batch.groups.start)
    return _score_ratio(part[at] - whole[at], whole[at], measure)


def _enhanced_beta_likeness(measure: Measure, batch: Batch) -> GroupScores:
    """Enhanced beta-likeness: no gain above beta, nor above -ln q."""
    part, whole, share = _compare_shares(batch)
    everybody = int(batch.distribution().sum())
    gain = part - whole
    bad = exceeds(gain, whole, measure.level)
    limit = -np.log(share / everybody)
    ratio = gain / whole
    bad |= (ratio > limit) & (gain > 0)
    for i in np.flatnonzero((np.abs(ratio - limit) <= NEAR) & (gain > 0)).tolist():
        own = Fraction(int(gain[i]), int(whole[i]))
        inverse = Fraction(everybody, int(share[i]))
        bad[i] = own > measure.level or not logarithms.log_reaches(inverse, own)
    beyond = np.zeros(len(batch.groups), dtype=bool)
    beyond[batch.groups.group[bad]] = True
    at = _find_largest(ratio + np.where(bad, 1e9, 0.0), batch.groups.start)
    return GroupScores(gain[at], whole[at], beyond)


def _delta_disclosure(measure: Measure, batch: Batch) -> GroupScores:
    """delta-disclosure: the largest logarithm of how a value's share changes."""
    part, whole, _ = _compare_shares(batch)
    ratio = part / whole
    at = _find_largest(np.maximum(ratio, 1 / ratio), batch.groups.start)
    moved = np.abs(np.log(ratio[at]))
    level = _to_float(measure.level)
    beyond = moved >= level
    for g in np.flatnonzero(np.abs(moved - level) <= NEAR * max(level, NEAR)).tolist():
        own = Fraction(int(part[at[g]]), int(whole[at[g]]))
        beyond[g] = logarithms.log_reaches(max(own, 1 / own), measure.level)
    return GroupScores(*_as_ratio(moved), beyond)


def _find_largest(x: Floats, start: NDArray[np.intp]) -> NDArray[np.intp]:
    """The row of each group with the largest number, the first of equals."""
    most = np.maximum.reduceat(x, start[:-1])
    size = np.diff(start)
    top = np.flatnonzero(x == np.repeat(most, size))
    group = np.repeat(np.arange(len(size)), size)[top]
    first = np.ones(len(top), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    return top[first]


def _reidentification_risk(measure: Measure, batch: Batch) -> GroupScores:
    """Prosecutor and journalist risk: one in the people a row could be of."""
    return _score_ratio(np.ones_like(batch.people), batch.people, measure)


SCORES: dict[str, Callable[[Measure, Batch], GroupScores]] = {
    "k_anonymity": _k_anonymity,
    "alpha_k_anonymity": _alpha_k_anonymity,
    "distinct_l_diversity": _distinct_l_diversity,
    "entropy_l_diversity": _entropy_l_diversity,
    "recursive_l_diversity": _recursive_l_diversity,
    "t_closeness": _t_closeness,
    "beta_likeness": _beta_likeness,
    "enhanced_beta_likeness": _enhanced_beta_likeness,
    "delta_disclosure": _delta_disclosure,
    "prosecutor_risk": _reidentification_risk,
    "journalist_risk": _reidentification_risk,
    "marketer_risk": _reidentification_risk,
    "sample_uniques": _reidentification_risk,
}
