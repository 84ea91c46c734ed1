"""The best class offsets of a declared rule: potentials of the largest mean cycle.

If offsets for the prediction are published, the weights of the beliefs are free; the
odds between classes then cannot be pushed below the largest mean of a cycle of them.
"""

from __future__ import annotations

import numpy as np

from privet.classifier.amplification import pair_logs
from privet.classifier.scores import Floats, Scores


def balanced(scores: Scores) -> tuple[list[float], float]:
    """How far to move each class's belief, in doublings, and the odds that are left."""
    logs = pair_logs(scores)
    mean = largest_mean_cycle(logs)
    moves = np.zeros(scores.classes)
    for _ in range(scores.classes):
        reach = (logs - mean + moves[None, :]).max(axis=1)
        moves = np.maximum(moves, reach)
    return [-float(m) for m in moves], mean


def largest_mean_cycle(logs: Floats) -> float:
    """Karp's algorithm on a complete graph; the diagonal is minus infinity.

    >>> largest_mean_cycle(np.array([[-np.inf, 3.0], [1.0, -np.inf]]))
    2.0
    """
    k = len(logs)
    walks = np.full((k + 1, k), -np.inf)
    walks[0, 0] = 0
    for length in range(1, k + 1):
        walks[length] = (walks[length - 1][:, None] + logs).max(axis=0)
    means = []
    for end in range(k):
        if np.isneginf(walks[k, end]):
            continue
        shorter = [
            (walks[k, end] - walks[length, end]) / (k - length)
            for length in range(k)
            if not np.isneginf(walks[length, end])
        ]
        means.append(min(shorter))
    return float(max(means))
