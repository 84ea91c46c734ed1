"""What a classifier of the target, or disguised answers to it, would give instead.

A classifier that keeps its promises predicts as the original does, so its accuracy is
that of naive Bayes on rows held out. Of disguised answers the most truthful design is
looked for that keeps every promise, and how large errors are with as many people.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from privet.classifier.count import count_views
from privet.classifier.publish import ClassifierRelease, publish_classifier
from privet.engine.protocol import Listener, Run
from privet.errors import Infeasible, InputError, PrivacyWarning
from privet.findings import Audit
from privet.languages import mark, say
from privet.microdata.information_loss.held_out_accuracy import (
    cross_validate_bayes,
    explain_unfit,
)
from privet.microdata.information_loss.released_cells import open_cells
from privet.microdata.release import Release
from privet.policy import Policy, Promise
from privet.release.audit import audit
from privet.responses.channels import KAry
from privet.responses.design import Design, Group, Question
from privet.responses.planning import find_worst_variance
from privet.table import Table
from privet.values.adversaries import Bayesian
from privet.values.exact import percent

STEPS = 1000
"""Truths of a design are tried in thousandths."""


def publish_model(
    table: Table, policy: Policy, progress: Listener | None
) -> ClassifierRelease:
    """A classifier of the target that keeps every promise."""
    if table.roles.target is None:
        raise InputError(mark("A classifier must have a target; the table has none."))
    _require_bayesian(policy, "classifier")
    run = Run(progress)
    views = count_views(table, smoothing=1, privacy=policy.privacy, run=run)
    return publish_classifier(views, policy, table=table, progress=progress)


def _require_bayesian(policy: Policy, kind: str) -> list[Promise]:
    stated = [p for p in policy.promises_about(kind) if isinstance(p.against, Bayesian)]
    if not stated:
        raise InputError(
            mark(
                "The policy must hold a promise against a bayesian for this; it has "
                "none."
            )
        )
    return stated


def predict_held_out(release: Release, progress: Listener | None) -> float | None:
    """How often naive Bayes is right about rows it was not trained on.

    Learnt from the columns of a table that may be known, as they are; the folds are
    those by which every release is measured. None where that cannot be told.
    """
    run, target = Run(progress), release.policy.roles.target
    cells = open_cells(release, run)
    known = (*release.policy.roles.quasi, target)
    columns = [c for c in cells.columns if c.name in known]
    aim = next((c for c in columns if c.name == target), None)
    if target is None or aim is None or len(columns) < 2:
        return None
    sample = cells.sample(run)
    if sample is None or explain_unfit(aim.places, int(sample.n.sum())):
        return None
    counts = cells.count_columns(run)
    return float(cross_validate_bayes(columns, counts, target, sample).before)


# Disguised answers ------------------------------------------------------------------


@dataclass(frozen=True)
class AnswersPlan:
    """The most truthful answers that keep every promise."""

    truth: Fraction
    """How often an answer is the true one."""
    standard_error: float
    """Of the share of one value, at worst, with as many people as the table has."""
    audit: Audit
    """What one answer tells."""

    @property
    def words(self) -> str:
        """What it comes to."""
        return say("An answer is true in {share}.", share=percent(self.truth))


def plan_answers(
    table: Table, policy: Policy, progress: Listener | None = None
) -> AnswersPlan:
    """The most truthful answers to the target that keep the policy's promises."""
    target = table.roles.target
    if target is None:
        raise InputError(
            mark("Disguised answers must have a target; the table has none.")
        )
    stated = _require_bayesian(policy, "responses")
    run = Run(progress)
    values = [v for v in table.domains([target], run)[target].labels if v is not None]
    if len(values) < 2:
        raise InputError(mark("A question must have two answers at least; it has one."))
    found = _find_truest(target, values, stated, run)
    design = _make_design(target, values, found)
    where = np.arange(len(values)) == 0
    variance = find_worst_variance(design.pieces([target]), where)
    people = table.engine.rows(run)
    return AnswersPlan(
        found, sqrt(variance / max(people, 1)), _judge_design(design, stated)
    )


def _find_truest(
    target: str, values: list[str], stated: list[Promise], run: Run
) -> Fraction:
    """The largest truth, in thousandths, whose design keeps every promise."""
    least = STEPS // len(values) + 1  # an answer by chance is true in 1 of them
    low, high = least - 1, STEPS - 1
    while low < high:
        run.check()
        middle = (low + high + 1) // 2
        design = _make_design(target, values, Fraction(middle, STEPS))
        low, high = (
            (middle, high) if _judge_design(design, stated).safe else (low, middle - 1)
        )
    if low < least:
        raise Infeasible(mark("No answer that tells anything keeps every promise."))
    return Fraction(low, STEPS)


def _make_design(target: str, values: list[str], truth: Fraction) -> Design:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return Design([Question(target, values)], [Group(target, KAry(truth))])


def _judge_design(design: Design, stated: list[Promise]) -> Audit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return audit(design, stated)
