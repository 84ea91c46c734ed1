"""r-closeness: how near to a prior the posteriors of a classifier can be made at all.

Lower bounds hold for any release whatsoever whose best label is the original's; limits
are what scores to a small power reach.

If offsets for the prediction are published (a declared rule), the weights of the
beliefs are free. The odds between classes then cannot be pushed below the largest mean
of a cycle of them, and its potentials are the best offsets.

A class is predicted at all only if beliefs may be as far from the prior as that needs;
this holds for any release whose most believed class is its prediction. So what can be
had jumps with each more class that is predicted: closeness against accuracy is a
staircase. Mozafari, Zaniolo 2009, section 7.1, Definition 5; the bounds are not theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from typing import Any

import numpy as np

from privet.classifier.agreement import WeightedTuples
from privet.classifier.amplification import pair_log_odds, pair_odds
from privet.classifier.release import ClassifierViews
from privet.classifier.scores import Floats, Scores

Prior = Sequence[Fraction]


def closeness(posterior: Sequence[Fraction], prior: Prior) -> Fraction:
    """The least r for which a belief is r-close to the prior; single classes decide.

    >>> closeness([Fraction(1, 2), Fraction(1, 2)], [Fraction(3, 4), Fraction(1, 4)])
    Fraction(2, 1)
    """
    pairs = zip(posterior, prior, strict=True)
    return max(max(p / f, f / p) for p, f in pairs)


def least_r_for_top(prior: Prior, label: int) -> float:
    """What any release needs that has this class on top for somebody."""
    own = prior[label]
    return max(sqrt(max(prior) / own), float(1 / sum(min(f, own) for f in prior)))


def least_r_for_ranking(prior: Prior, ranking: Sequence[int]) -> float:
    """What any release needs that ranks the classes like this for somebody."""
    ordered = [prior[c] for c in ranking]
    # Posteriors fall along the ranking, so the j-th is at least low[j]/r and at most
    # r high[j]. Prior 3/4, 1/4, the second on top: max(sqrt(3), 3/2, 2) = 2.
    low = list(accumulate(reversed(ordered), max))[::-1]
    high = list(accumulate(ordered, min))
    worst = max(lo / hi for lo, hi in zip(low, high, strict=True))
    return max(sqrt(worst), float(sum(low)), float(1 / sum(high)))


@dataclass(frozen=True)
class RequiredCloseness:
    """A lower bound on r, and the row that forces it."""

    r: float
    """No release with the same predictions has less."""
    known: Mapping[int, int]
    """The row."""
    label: int
    """What it is predicted as."""


def find_least_r(scores: Scores, prior: Prior) -> RequiredCloseness:
    """The best lower bound over the rows with the highest odds of each pair."""
    best = RequiredCloseness(1.0, {}, 0)
    for c in range(scores.classes):
        for d in range(scores.classes):
            if c == d:
                continue
            known = pair_odds(scores, (c, d)).known
            ranking = scores.ranking(known)
            found = least_r_for_ranking(prior, ranking)
            if found > best.r:
                best = RequiredCloseness(found, known, ranking[0])
    return best


def find_crossing_blocks(scores: Scores) -> list[list[int]]:
    """Classes that beat each other for different rows, together; the best block first.

    Blocks are ordered: every class of an earlier one is above every later one always.
    """
    k = scores.classes
    beats = np.array(
        [[c != d and _is_ever_above(scores, c, d) for d in range(k)] for c in range(k)]
    )
    # (classes, classes): in row c whom c is above for somebody.
    reach = beats | np.eye(k, dtype=bool)
    for _ in range(k):  # who is above whom, directly or through others
        reach = reach | ((reach.astype(int) @ reach.astype(int)) > 0)
    mutual = reach & reach.T
    blocks = {tuple(np.flatnonzero(row).tolist()) for row in mutual}
    # A block reaches itself and all below it, so the first reaches the most.
    ordered = sorted(blocks, key=lambda b: -int(reach[b[0]].sum()))
    return [list(b) for b in ordered]


def _is_ever_above(scores: Scores, c: int, d: int) -> bool:
    odds = pair_odds(scores, (c, d)).odds
    return odds is None or odds > 1 or (odds == 1 and c > d)


def limit_r(prior: Prior, blocks: Sequence[Sequence[int]]) -> float:
    """The r that scores to smaller and smaller powers come near to, ranking kept."""
    low, high, sizes = _bound_blocks(prior, blocks)
    # Prior 1/2, 1/4, 1/4 in one block: max(sqrt(2), 3 * 1/2, 1/(3 * 1/4)) = 3/2.
    worst = max(lo / hi for lo, hi in zip(low, high, strict=True))
    total_low = sum(s * lo for s, lo in zip(sizes, low, strict=True))
    total_high = sum(s * hi for s, hi in zip(sizes, high, strict=True))
    return max(sqrt(worst), float(total_low), float(1 / total_high))


def _bound_blocks(
    prior: Prior, blocks: Sequence[Sequence[int]]
) -> tuple[list[Fraction], list[Fraction], list[int]]:
    low = [max(prior[c] for b in blocks[j:] for c in b) for j in range(len(blocks))]
    high = [
        min(prior[c] for b in blocks[: j + 1] for c in b) for j in range(len(blocks))
    ]
    return low, high, [len(b) for b in blocks]


def block_weights(
    prior: Prior, blocks: Sequence[Sequence[int]], r: float
) -> list[float] | None:
    """Beliefs of each class that are r-close and fall along the blocks; None: none."""
    low, high, sizes = _bound_blocks(prior, blocks)
    ends = [
        sum(s * float(lo) / r for s, lo in zip(sizes, low, strict=True)),
        sum(s * float(hi) * r for s, hi in zip(sizes, high, strict=True)),
    ]
    if not ends[0] <= 1 <= ends[1]:
        return None
    # Each between lo/r and hi * r, all by the same part, so that beliefs sum to 1.
    part = (1 - ends[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0
    found = [0.0] * len(prior)
    for block, lo, hi in zip(blocks, low, high, strict=True):
        for c in block:
            found[c] = (1 - part) * float(lo) / r + part * float(hi) * r
    return found


def staircase(prior: Prior) -> list[tuple[float, tuple[int, ...]]]:
    """How near to the prior releases come that predict ever more classes.

    One point per number of classes, the most probable first: the r that is reached in
    the limit, and the classes that are predicted. Exact for two classes.
    """
    order = sorted(range(len(prior)), key=lambda c: (-prior[c], c))
    points = []
    for j in range(1, len(order) + 1):
        top = order[:j]
        least, most = min(prior[c] for c in top), max(prior)
        rest = sum(prior[c] for c in order[j:])
        r = max(
            sqrt(most / least),
            float(j * most + rest) if j > 1 else 1.0,
            float(1 / sum(min(f, least) for f in prior)) if j > 1 else 1.0,
        )
        points.append((r if j > 1 else 1.0, tuple(sorted(top))))
    return points


STEPS = 400
"""How finely the belief of the classes that are predicted is tried."""


def step_weights(
    prior: Prior, predicted: Sequence[int], r: float
) -> list[float] | None:
    """Beliefs that are r-close, alike for some classes and less for all others.

    None where there are none. Of all beliefs that some classes may have the one in the
    middle is taken, so that there is room for what is known of people.
    """
    shares = [float(f) for f in prior]
    own = [shares[c] for c in predicted]
    others = [d for d in range(len(prior)) if d not in predicted]
    found = []
    tried = np.linspace(max(own) / r, min(own) * r, STEPS).tolist()
    for part in tried if others else [1 / len(own)]:
        low = [shares[d] / r for d in others]
        high = [min(shares[d] * r, part * (1 - 1e-3)) for d in others]
        left = 1 - part * len(own)
        if all(a <= b for a, b in zip(low, high, strict=True)) and (
            sum(low) <= left + 1e-12 and left <= sum(high) + 1e-12
        ):
            found.append((part, low, high, left))
    if max(own) / r > min(own) * r or not found:
        return None
    part, low, high, left = found[len(found) // 2]
    wide = sum(high) - sum(low)
    by = (left - sum(low)) / wide if wide > 0 else 0.0
    made = dict.fromkeys(predicted, part)
    made |= {d: a + by * (b - a) for d, a, b in zip(others, low, high, strict=True)}
    return [made[c] for c in range(len(prior))]


def certify_r(
    scores: Scores, exponent: float, moves: Sequence[float], prior: Prior
) -> float:
    """An r that scores to a power, moved by so many doublings, surely keep to."""
    logs = pair_log_odds(scores) * exponent
    logs = logs + np.subtract.outer(np.array(moves), np.array(moves))
    np.fill_diagonal(logs, -np.inf)
    found = 1.0
    for c, f in enumerate(map(float, prior)):
        others = [d for d in range(len(prior)) if d != c]
        # Every pair at its worst at once: no victim is beyond these.
        high = 1 / (1 + np.exp2(-logs[c, others]).sum())
        low = 1 / (1 + np.exp2(logs[others, c]).sum())
        found = max(found, high / f, f / low)
    return float(found)


# Class offsets of a declared rule ---------------------------------------------------


def balance_classes(scores: Scores) -> tuple[list[float], float]:
    """How far to move each class's belief, in doublings, and the odds that are left."""
    logs = pair_log_odds(scores)
    mean = largest_mean_cycle(logs)
    moves = np.zeros(scores.classes)
    # Longest paths: with the mean off no cycle is above 0, so K rounds are enough.
    # 3 and 1 doublings: mean 2, moves of -1 and 0, and then 2 both ways.
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
    if k == 1:  # no pair of classes, nothing to balance
        return 0.0
    # walks[m, v]: the heaviest walk of m steps from class 0 to v. The largest mean
    # is the largest over v of the least (walks[k, v] - walks[m, v]) / (k - m).
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


# Closeness against accuracy ---------------------------------------------------------


@dataclass(frozen=True)
class AccuracyStep:
    """One step: from this closeness on, these classes can be predicted."""

    r: float
    """Beliefs within this factor of the prior; exact with two classes, else reached."""
    classes: tuple[str, ...]
    """What is predicted, the likeliest beforehand first."""
    alike: float
    """Share of people predicted as the original does, as the counts have them."""
    right: float
    """Share of people predicted rightly, as the counts have them."""

    def to_dict(self) -> dict[str, Any]:
        """A row for a chart."""
        return {**vars(self), "classes": list(self.classes)}


def accuracy_steps(
    views: ClassifierViews, prior: Sequence[Fraction]
) -> list[AccuracyStep]:
    """The steps of a classifier for a prior, the closest first."""
    people = WeightedTuples.of(views.scores)
    found = []
    for r, classes in staircase(prior):
        alike, right = people.score_restricted(classes)
        ordered = sorted(classes, key=lambda c: (-prior[c], c))
        named = tuple(views.labels[c] for c in ordered)
        found.append(AccuracyStep(r, named, alike, right))
    return found
