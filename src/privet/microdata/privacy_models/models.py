"""The privacy models: one record each, with everything privet knows of it.

k-anonymity, (alpha, k)-anonymity; distinct, entropy and recursive (c, l)-diversity;
t-closeness, beta-likeness, enhanced beta-likeness, delta-disclosure; prosecutor,
journalist and marketer risk, and sample uniques. A record says what a policy may ask,
how a class is scored, whether merging classes may worsen it, what a search must keep,
and what a report says. The policy, the audit, the search and the report read it; no
other file names a model. A new one is one more record in `MODELS`, with its score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from privet.languages import mark
from privet.microdata.privacy_models import t_closeness
from privet.microdata.privacy_models.class_scores import (
    Batch,
    GroupScores,
    as_float,
    as_ratio,
    broadcast_one,
    compare_shares,
    find_largest,
    score_ratio,
)
from privet.microdata.skyline.closed_forms import NEAR, Point
from privet.policy import Measure
from privet.policy.measures import AT_MOST, BELOW, MeasureKind
from privet.values import logarithms
from privet.values.beliefs import Ceiling
from privet.values.exact import exceeds
from privet.values.frozen_dict import FrozenDict


@dataclass(frozen=True, kw_only=True)
class Steering:
    """What a measure asks of a search that splits equivalence classes."""

    possible: bool = True
    """Whether any table keeps it."""
    least_size: int = 1
    """How many people every class must have."""
    point: Point | None = None
    """The measure as an insider's knowledge (l, k, m) …"""
    limit: Ceiling | None = None
    """… and how sure this insider may be of any value."""
    scored: bool = False
    """Whether every class is scored, as an audit does, by its sensitive values."""
    most_groups: Fraction | None = None
    """How many classes there may be, as a share of the people."""
    most_alone: Fraction | None = None
    """How many people may be in a class of their own, as a share of the people."""


@dataclass(frozen=True, kw_only=True)
class PrivacyModel(MeasureKind):
    """Everything privet knows of one measure."""

    score: Callable[[Measure, Batch], GroupScores]
    """A number for each class, and which classes are beyond the level."""
    sentence: str
    """What was found, in a report. {value} is the worst number, {who} the class it is
    of, in brackets; or {people} and {facts}: its number and what they have in common.
    {values}: "value" or "values"; {c} and {k}: those options."""
    monotone: bool
    """Whether merging two classes never worsens it, where missing values are values.
    `tests/oracle/test_merging.py` tries to refute it, and to refute its contrary."""
    against_everybody: bool = False
    """Whether a class is compared with everybody."""
    overall: Callable[[Batch], Fraction] | None = None
    """Where it is one figure of the whole release: how many rows count, of all rows.
    The worst class only illustrates it."""
    steer: Callable[[Measure], Steering] | None = None
    """What a search must keep; None: it is only checked in the end."""

    def __post_init__(self) -> None:
        if self.steer is not None and not self.monotone:
            raise ValueError(
                f"A model that steers must be monotone; {self.key} says it is not."
            )


def find_model(measure: Measure) -> PrivacyModel:
    """The record of the model a measure asks for."""
    return MODELS[measure.kind]


def score_groups(measure: Measure, batch: Batch) -> GroupScores:
    """Measure every group of a batch."""
    return find_model(measure).score(measure, batch)


def is_monotone(measure: Measure) -> bool:
    """Whether merging groups never worsens a measure, as it is read here.

    Rows that are left out, or look like any other, may come back as themselves when
    their class is merged with another: then nothing is certain.
    """
    return find_model(measure).monotone and measure.missing == "value"


def find_steering(measure: Measure) -> Steering | None:
    """What a measure asks of a search; None: it can only be checked in the end."""
    steer = find_model(measure).steer
    return steer(measure) if steer is not None and is_monotone(measure) else None


# One number per class ---------------------------------------------------------------


def _score_k_anonymity(measure: Measure, batch: Batch) -> GroupScores:
    """k-anonymity: how many people the group has."""
    return score_ratio(batch.people, broadcast_one(batch.people), measure)


def _score_alpha_k_anonymity(measure: Measure, batch: Batch) -> GroupScores:
    """(alpha, k)-anonymity: the share of the mode, in groups of at least k."""
    found = score_ratio(batch.modes, batch.groups.total, measure)
    small = batch.groups.total < (measure.k or 1)
    return GroupScores(found.part, found.whole, found.beyond | small)


def _score_distinct_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Distinct l-diversity: how many different values the group has."""
    several = np.diff(batch.groups.start).astype(np.int64)
    return score_ratio(several, broadcast_one(several), measure)


def _score_recursive_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Recursive (c, l)-diversity: the largest l with c_1 < c (r_l + … + r_d)."""
    assert measure.c is not None
    rows = batch.rows
    # tail at rank l - 1 is r_l + … + r_d, and falls. Counts 3 2 1: tails 6 3 1; with
    # c = 2 above 3/2 are two of them, so l is 2.
    before = np.cumsum(rows.a) - rows.a
    tail = batch.groups.total[rows.group] - (
        before - before[rows.start[:-1]][rows.group]
    )
    modes = batch.modes[rows.group]
    holds = exceeds(np.maximum(tail, 0), modes, 1 / measure.c)
    several = np.add.reduceat(holds.astype(np.int64), rows.start[:-1])
    return score_ratio(several, broadcast_one(several), measure)


def _score_entropy_l_diversity(measure: Measure, batch: Batch) -> GroupScores:
    """Entropy l-diversity: the exponential of the entropy of the group's values."""
    groups = batch.groups
    batch.require_one_value()
    # Two values twice each: exp(ln 4 - 4 ln 2 / 4) = 2.
    logs = np.add.reduceat(groups.n * np.log(groups.n), groups.start[:-1])
    diverse = np.exp(np.log(groups.total) - logs / groups.total)
    level = as_float(measure.level)
    beyond = diverse < level
    for g in np.flatnonzero(np.abs(diverse - level) <= NEAR * level).tolist():
        counts = groups.n[groups.start[g] : groups.start[g + 1]].tolist()
        beyond[g] = not logarithms.entropy_reaches(counts, measure.level)
    return GroupScores(*as_ratio(diverse), beyond)


def _score_t_closeness(measure: Measure, batch: Batch) -> GroupScores:
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
    return score_ratio(*ratio, measure)


def _score_beta_likeness(measure: Measure, batch: Batch) -> GroupScores:
    """beta-likeness: the largest relative gain of a value's share."""
    part, whole, _ = compare_shares(batch)
    # 3 of 4 where 2 of 4 of everybody have it: 12/8, a gain of 4/8.
    at = find_largest(part / whole, batch.groups.start)
    return score_ratio(part[at] - whole[at], whole[at], measure)


def _score_enhanced_beta_likeness(measure: Measure, batch: Batch) -> GroupScores:
    """Enhanced beta-likeness: no gain above beta, nor above -ln q."""
    part, whole, share = compare_shares(batch)
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
    # The limit hangs on the value: one that is beyond it illustrates first.
    at = find_largest(ratio + np.where(bad, 1e9, 0.0), batch.groups.start)
    return GroupScores(gain[at], whole[at], beyond)


def _score_delta_disclosure(measure: Measure, batch: Batch) -> GroupScores:
    """delta-disclosure: the largest logarithm of how a value's share changes."""
    part, whole, _ = compare_shares(batch)
    ratio = part / whole
    at = find_largest(np.maximum(ratio, 1 / ratio), batch.groups.start)
    moved = np.abs(np.log(ratio[at]))
    level = as_float(measure.level)
    beyond = moved >= level
    for g in np.flatnonzero(np.abs(moved - level) <= NEAR * max(level, NEAR)).tolist():
        own = Fraction(int(part[at[g]]), int(whole[at[g]]))
        beyond[g] = logarithms.log_reaches(max(own, 1 / own), measure.level)
    return GroupScores(*as_ratio(moved), beyond)


def _score_reidentification_risk(measure: Measure, batch: Batch) -> GroupScores:
    """Prosecutor and journalist risk: one in the people a row could be of."""
    return score_ratio(np.ones_like(batch.people), batch.people, measure)


# What a search must keep ------------------------------------------------------------


def _steer_by_score(measure: Measure) -> Steering:
    return Steering(scored=True)


def _steer_by_size(measure: Measure) -> Steering:
    return Steering(least_size=int(measure.level))


def _steer_by_risk(measure: Measure) -> Steering:
    if not measure.level:
        return Steering(possible=False)
    return Steering(least_size=ceil(1 / measure.level))


def _steer_by_alpha(measure: Measure) -> Steering:
    least = measure.k or 1
    if not measure.level:
        return Steering(least_size=least, scored=True)
    limit = Ceiling(measure.level)
    return Steering(least_size=least, point=Point(0, 0, 0), limit=limit)


def _steer_by_diversity(measure: Measure) -> Steering:
    """(c, l)-diversity is the point (l - 2, 0, 0) at c / (c + 1); distinct: any c."""
    if measure.level < 2:
        return Steering(scored=True)
    share = Fraction(1) if measure.c is None else measure.c / (measure.c + 1)
    point = Point(int(measure.level) - 2, 0, 0)
    return Steering(point=point, limit=Ceiling(below=share))


# The records ------------------------------------------------------------------------

_ONE = Fraction(1)

_RECORDS = (
    PrivacyModel(
        key="k_anonymity",
        meaning="the smallest number of people who look alike in every quasi column",
        whole=True,
        least=_ONE,
        sensitive=False,
        score=_score_k_anonymity,
        monotone=True,
        steer=_steer_by_size,
        sentence=mark(
            "The table is {value}-anonymous: the smallest group of people who "
            "look alike in every quasi column has {people}{facts}."
        ),
    ),
    PrivacyModel(
        key="alpha_k_anonymity",
        meaning="the largest share of one value among people who look alike, who "
        "must be at least k",
        sense=AT_MOST,
        most=_ONE,
        share=True,
        options=("k",),
        score=_score_alpha_k_anonymity,
        monotone=True,
        steer=_steer_by_alpha,
        sentence=mark(
            "Among people who look alike, one value is had by up to {value}{who}{k}."
        ),
    ),
    PrivacyModel(
        key="distinct_l_diversity",
        meaning="the fewest different values among people who look alike",
        whole=True,
        least=_ONE,
        score=_score_distinct_l_diversity,
        monotone=True,
        steer=_steer_by_diversity,
        sentence=mark(
            "People who look alike have at least {value} different {values}{who}."
        ),
    ),
    PrivacyModel(
        key="entropy_l_diversity",
        meaning="the least exponential of the entropy of the values of people who "
        "look alike",
        least=_ONE,
        score=_score_entropy_l_diversity,
        monotone=True,
        steer=_steer_by_score,
        sentence=mark(
            "The values of people who look alike are as varied as {value} "
            "equally frequent ones, at the least{who}."
        ),
    ),
    PrivacyModel(
        key="recursive_l_diversity",
        meaning="the largest l such that the most frequent value is rarer than c "
        "times all from the l-th most frequent on",
        whole=True,
        least=_ONE,
        options=("c",),
        required=FrozenDict(c="3"),
        score=_score_recursive_l_diversity,
        monotone=True,
        steer=_steer_by_diversity,
        sentence=mark("The table is recursively ({c}, {value})-diverse{who}."),
    ),
    PrivacyModel(
        key="t_closeness",
        meaning="the largest distance between the values of people who look alike "
        "and those of everybody",
        sense=AT_MOST,
        most=_ONE,
        options=("distance", "hierarchy"),
        score=_score_t_closeness,
        monotone=True,
        against_everybody=True,
        steer=_steer_by_score,
        sentence=mark(
            "The values of people who look alike are up to {value} away from "
            "those of everybody{who}."
        ),
    ),
    PrivacyModel(
        key="beta_likeness",
        meaning="the largest relative gain of a value's share among people who "
        "look alike",
        sense=AT_MOST,
        score=_score_beta_likeness,
        monotone=True,
        against_everybody=True,
        steer=_steer_by_score,
        sentence=mark(
            "Among people who look alike, a value's share grows by up to {value}{who}."
        ),
    ),
    PrivacyModel(
        key="enhanced_beta_likeness",
        meaning="the same, and no gain above minus the logarithm of the value's share",
        sense=AT_MOST,
        score=_score_enhanced_beta_likeness,
        monotone=True,
        against_everybody=True,
        steer=_steer_by_score,
        sentence=mark(
            "Among people who look alike, a value's share grows by up to "
            "{value}{who}; frequent values may grow less than rare ones."
        ),
    ),
    PrivacyModel(
        key="delta_disclosure",
        meaning="the largest logarithm of how a value's share changes, up or down",
        sense=BELOW,
        score=_score_delta_disclosure,
        # A value that only one of two classes has is rarer in both together: half of
        # everybody have it, a quarter of q, none of p, and a fifth of both.
        monotone=False,
        against_everybody=True,
        sentence=mark(
            "Among people who look alike, the logarithm of a value's share "
            "moves by up to {value}{who}."
        ),
    ),
    PrivacyModel(
        key="prosecutor_risk",
        meaning="the largest chance to pick the right row of a person known to be "
        "in the table",
        sense=AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
        score=_score_reidentification_risk,
        monotone=True,
        steer=_steer_by_risk,
        sentence=mark(
            "Who knows that a person is in the table finds the right row with "
            "a chance of up to {value}{who}."
        ),
    ),
    PrivacyModel(
        key="journalist_risk",
        meaning="the largest chance to pick the right person of the population for "
        "a row",
        sense=AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
        options=("population",),
        score=_score_reidentification_risk,
        # It does not steer: a search does not count the population.
        monotone=True,
        sentence=mark(
            "Who takes a row finds the right person of the population with a "
            "chance of up to {value}{who}."
        ),
    ),
    PrivacyModel(
        key="marketer_risk",
        meaning="the share of rows somebody gets right who matches all of them",
        sense=AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
        score=_score_reidentification_risk,
        monotone=True,
        overall=lambda batch: batch.matches,
        steer=lambda measure: Steering(most_groups=measure.level),
        sentence=mark("Who matches every row gets {value} of them right."),
    ),
    PrivacyModel(
        key="sample_uniques",
        meaning="the share of rows that look like no other row",
        sense=AT_MOST,
        most=_ONE,
        sensitive=False,
        share=True,
        score=_score_reidentification_risk,
        monotone=True,
        overall=lambda batch: batch.uniques,
        steer=lambda measure: Steering(most_alone=measure.level),
        sentence=mark("{value} of the rows look like no other row."),
    ),
)

MODELS: dict[str, PrivacyModel] = {model.key: model for model in _RECORDS}
"""The privacy models there are, by the key a policy uses."""
