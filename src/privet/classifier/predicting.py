"""Predictions for many rows: floats where they are sure, fractions elsewhere."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.classifier.scores import GUARD, Floats, Known, Scores

Codes = NDArray[np.int64]


class Ranking(Protocol):
    """What ranks classes exactly."""

    def ranking(self, known: Known) -> list[int]:
        """The classes for values by index, the best first."""


def predicted(
    scores: Scores, codes: Codes, exactly: Ranking | None = None
) -> NDArray[np.int64]:
    """The best class of each row, exactly; code -1 is a value that tells nothing."""
    logs = log_rows(scores, codes)
    best: NDArray[np.int64] = logs.shape[1] - 1 - np.argmax(logs[:, ::-1], axis=1)
    if logs.shape[1] == 1 or not len(logs):
        return best
    top = np.sort(logs, axis=1)
    with np.errstate(invalid="ignore"):
        close = ~(top[:, -1] - top[:, -2] > GUARD * (1 + codes.shape[1]))
    rows, first = np.unique(codes[close], axis=0, return_inverse=True)
    judge = exactly if exactly is not None else scores
    answers = [judge.ranking(_known(row))[0] for row in rows]
    if answers:
        best[close] = np.array(answers)[first.ravel()]
    return best


def _known(row: Codes) -> dict[int, int]:
    return {i: t for i, t in enumerate(row.tolist()) if t >= 0}


def log_rows(scores: Scores, codes: Codes) -> Floats:
    """Binary logarithms of the scores of each row."""
    found = np.tile(scores.log_weights, (len(codes), 1))
    for i, table in enumerate(scores.log_factors):
        padded = np.vstack([table, np.zeros(scores.classes)])  # the last is for -1
        found += padded[codes[:, i]]
    return found


def exp_rows(scores: Scores, codes: Codes) -> Floats:
    """Beliefs of each row; where nothing fits, the prediction is certain."""
    logs = log_rows(scores, codes)
    none = np.isneginf(logs).all(axis=1)
    logs[none, -1] = 0
    found = np.exp2(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares
