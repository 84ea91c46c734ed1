"""Agreement of two naive Bayes classifiers: what share of people both predict alike.

What is left where NBC-equivalence, the same ranking for every tuple, is given up. A
classifier keeps counts and no rows: its own scores say how common each tuple is, and
how likely each class is there.
Mozafari, Zaniolo 2009, section 6.1, Definition 2, for NBC-equivalence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from privet.classifier.release import ClassifierViews
from privet.classifier.scorecard import Scorecard
from privet.classifier.scores import Floats, Scores, pick_best_classes

MOST_TUPLES = 200_000
"""Tuples that are weighed one by one; of more, this many are drawn."""


@dataclass(frozen=True, eq=False)
class WeightedTuples:
    """Tuples, how many people each stands for, and what they are predicted to be."""

    codes: tuple[Any, ...]
    """The values of one attribute each, by index."""
    weights: Floats
    """How common each tuple is; they add up to 1."""
    leads: Floats
    """The original's scores, as logarithms, by tuple and class."""

    @classmethod
    def of(cls, scores: Scores) -> WeightedTuples:
        """Every tuple as often as its scores say; or many that are drawn like that."""
        view = scores.normalised
        domains = [len(t) for t in view.factors]
        if (tuples := prod(domains)) <= MOST_TUPLES:
            # One array per attribute, the last varying fastest: of 2 and of 3 values
            # 0 0 0 1 1 1 and 0 1 2 0 1 2.
            codes = tuple(np.indices(domains).reshape(len(domains), tuples))
            logs = _sum_scores(view.log_weights, view.log_factors, codes)
            # (tuples, classes): a tuple is as common as its scores are together. Less
            # the maximum, for exp2 of a large number is infinite.
            weights = np.exp2(logs - logs.max()).sum(axis=1)
        else:
            codes = _draw_tuples(view, MOST_TUPLES)
            weights = np.ones(MOST_TUPLES)
        leads = _sum_scores(scores.log_weights, scores.log_factors, codes)
        return cls(codes, weights / weights.sum(), leads)

    def agreement(self, made: Scorecard | ClassifierViews) -> float:
        """The share of people for whom another classifier predicts the same."""
        if isinstance(made, Scorecard):
            base = np.array([t / made.scale for t in made.totals({})])
            tables = [
                np.array([[p / made.scale for p in row] for row in t])
                for t in made.points
            ]
            found = pick_best_classes(_sum_scores(base, tables, self.codes))
        else:
            scores = made.scores
            found = pick_best_classes(
                _sum_scores(scores.log_weights, scores.log_factors, self.codes)
            )
        return self._measure_agreement(found)

    def score_restricted(self, classes: Sequence[int]) -> tuple[float, float]:
        """Where some classes only are predicted: the share alike, and that is right."""
        only = np.full(self.leads.shape[1], -np.inf)
        only[list(classes)] = 0
        found = pick_best_classes(self.leads + only)
        # P(class | tuple), as the original has it: how often what is found is right. If
        # all scores of a tuple are 0, so are its shares, and nothing is.
        top = self.leads.max(axis=1, keepdims=True)
        shares = np.exp2(self.leads - np.where(np.isfinite(top), top, 0))
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        right = shares[np.arange(len(found)), found]
        return self._measure_agreement(found), float((self.weights * right).sum())

    def _measure_agreement(self, found: Any) -> float:
        other = found != pick_best_classes(self.leads)
        return max(0.0, 1 - float(self.weights[other].sum()))


def _sum_scores(
    start: Floats, tables: Sequence[Floats], codes: Sequence[Any]
) -> Floats:
    found: Floats = start[None, :] + sum(
        table[at] for table, at in zip(tables, codes, strict=True)
    )
    return found


def _draw_tuples(view: Scores, rows: int) -> tuple[Any, ...]:
    """Tuples drawn as the classifier has them: a class first, then each attribute."""
    dice = np.random.default_rng(0)
    # All columns hold the classes in the same order, `sizes` rows of each, so that
    # the values of one row are drawn for one class.
    shares = np.exp2(view.log_weights - view.log_weights.max())
    sizes = dice.multinomial(rows, shares / shares.sum())
    columns = []
    for table in view.log_factors:
        parts = []
        for c, size in enumerate(sizes):
            p = np.exp2(table[:, c])
            parts.append(dice.choice(len(table), size, p=p / p.sum()))
        columns.append(np.concatenate(parts))
    return tuple(columns)
