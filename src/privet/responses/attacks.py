"""Red team of randomized response: a collector who guesses each true answer.

Where answers are flipped together, as in the one-group scheme, one draw covers all of
them, and what is common in the population tells how it fell: the collector then knows
the whole record.
Zhan, Chang, Matwin 2004, section 3.2, hold that the collector cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.responses.channel_inverse import invert_channel, maximise_likelihood
from privet.responses.channels import Flip, KAry, Keep, Matrix, Replace
from privet.responses.design import Design, Group, MarginalChannel
from privet.responses.release import Responses, find_code

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAST = 1e-9
"""A share that is estimated at zero or less counts as this rare."""


@dataclass(frozen=True)
class Recovery:
    """How much a collector recovers."""

    groups: Mapping[tuple[str, ...], float]
    """The share of people whose answers of a group are guessed right, estimated."""
    rows: int
    """From how many disguised rows."""

    @property
    def records(self) -> float:
        """The share of whole records, if groups are guessed independently."""
        return float(np.prod(list(self.groups.values())))

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "groups": [
                {"columns": list(c), "recovered": share}
                for c, share in self.groups.items()
            ],
            "records": self.records,
            "rows": self.rows,
        }


@dataclass(frozen=True)
class Collector:
    """Somebody who holds the disguised rows and the design, and nothing else."""

    def attack(self, responses: Responses, *, run: Run | None = None) -> Recovery:
        """Guess every answer; which share is right is estimated from the rows, too."""
        design, found, rows = responses.design, {}, 0
        secret = [g for g in design.groups if not isinstance(g.channel, Keep)]
        cells = responses.rows.engine.tabulate(
            [list(g.columns) for g in secret], run or Run()
        )
        for group, values in zip(secret, cells, strict=True):
            kept = [(v, n) for v, n in values if None not in v]
            seen, times = _encode_rows(design, group, kept)
            found[group.columns] = estimate_recovered(design, group, seen, times)
            rows = max(rows, int(times.sum()))
        return Recovery(found, rows)

    def guess(
        self, design: Design, group: Group, seen: Codes, times: Codes | None = None
    ) -> Codes:
        """The likeliest truth of each reported row of a group.

        One row per report, one column per question.
        """
        counted = np.ones(len(seen), dtype=np.int64) if times is None else times
        if isinstance(group.channel, Flip):
            turned = guess_flipped(design, group, seen, counted)
            return np.where(turned[:, None], 1 - seen, seen)
        return _guess_likeliest(design, group, seen, counted)


def _encode_rows(
    design: Design, group: Group, values: Sequence[tuple[Any, int]]
) -> tuple[Codes, Codes]:
    questions = [design.question(c) for c in group.columns]
    rows = [
        [find_code(q, v) for q, v in zip(questions, r, strict=True)] for r, _ in values
    ]
    shape = (len(rows), len(questions))
    codes = np.array(rows, dtype=np.int64).reshape(shape)
    return codes, np.array([n for _, n in values], dtype=np.int64)


def guess_flipped(
    design: Design, group: Group, seen: Codes, times: Codes
) -> NDArray[np.bool_]:
    """Which rows of a flipped group were turned round, by what is common.

    Each answer's share is estimated (the paper's Eq. 2); the log-odds of the reported
    answers are added up, and their sign decides.
    """
    assert isinstance(group.channel, Flip)
    truth = float(group.channel.truth)
    if truth in (0.0, 1.0):
        return np.full(len(seen), truth == 0.0)
    # seen: (rows, questions), 0 or 1. 58 % said yes at truth 0.6: 0.18/0.2 = 90 %.
    ones = (seen * times[:, None]).sum(axis=0) / times.sum()
    share = np.clip((ones - (1 - truth)) / (2 * truth - 1), LEAST, 1 - LEAST)
    odds = np.log(share) - np.log1p(-share)
    # Log-odds that a row was kept. If it was turned, the opposite answers are true,
    # which have the opposite odds.
    score = log(truth / (1 - truth)) + np.where(seen == 1, odds, -odds).sum(axis=1)
    return np.asarray(score < 0)


def _guess_likeliest(design: Design, group: Group, seen: Codes, times: Codes) -> Codes:
    sizes = [len(design.question(c)) for c in group.columns]
    pieces = (design.piece(group, group.columns),)
    # (rows,): a report as one number, the last question varying fastest.
    flat = np.ravel_multi_index(tuple(seen.T), sizes)
    counts = np.bincount(flat, weights=times, minlength=pieces[0].size)
    best = _choose_truths(pieces, maximise_likelihood(pieces, counts))
    return np.stack(np.unravel_index(best[flat], sizes), axis=1)


def _choose_truths(pieces: Any, shares: Floats) -> Codes:
    """For each report the truth that makes it likeliest, times its share."""
    (piece,) = pieces
    if isinstance(piece.channel, Matrix):
        return np.asarray(np.argmax(_to_dense(piece) * shares, axis=1))
    # A report is its own truth, or any other: the commonest of them.
    row, more = _split_channel(piece)
    first, second = np.argsort(-shares, kind="stable")[:2]
    own = np.arange(piece.size)
    other = np.where(own == first, second, first)
    own_share, other_share = (row + more) * shares, row * shares[other]
    tied = (own_share == other_share) & (own < other)
    return np.where((own_share > other_share) | tied, own, other)


def _to_dense(piece: MarginalChannel) -> Floats:
    return np.array(piece.channel.matrix(piece.size), dtype=float)


def _split_channel(piece: MarginalChannel) -> tuple[Floats, float]:
    """Chances of a report whatever is true, and how much more if it is."""
    match piece.channel:
        case KAry(truth=p) as even:
            other = even.other(piece.size)
            return np.full(piece.size, float(other)), float(p - other)
        case Replace(truth=p) as drawn:
            shares = np.array([float(q) for q in drawn.shares(piece.size)])
            return float(1 - p) * shares, float(p)
    raise AssertionError(piece.channel)


def _compute_chances(piece: MarginalChannel, truth: Codes) -> Floats:
    """The chance of each report where a certain value is true."""
    own = np.arange(piece.size)
    if isinstance(piece.channel, Matrix):
        return np.asarray(_to_dense(piece)[own, truth])
    row, more = _split_channel(piece)
    return np.asarray(row + more * (truth == own))


def estimate_recovered(
    design: Design, group: Group, seen: Codes, times: Codes
) -> float:
    """The share of right guesses, estimated without the truth; within 0 to 1."""
    n = times.sum()
    if not isinstance(group.channel, Flip):
        sizes = [len(design.question(c)) for c in group.columns]
        pieces = (design.piece(group, group.columns),)
        flat = np.ravel_multi_index(tuple(seen.T), sizes)
        counts = np.bincount(flat, weights=times, minlength=pieces[0].size)
        shares = invert_channel(pieces, counts / n)
        best = _choose_truths(pieces, maximise_likelihood(pieces, counts))
        # By report y: the share of the guessed truth, times P(y | that truth).
        right = float((shares[best] * _compute_chances(pieces[0], best)).sum())
        return min(max(right, 0.0), 1.0)
    truth = float(group.channel.truth)
    turned = guess_flipped(design, group, seen, times)
    counted: dict[tuple[int, ...], float] = {}
    for row, k in zip(map(tuple, seen.tolist()), times.tolist(), strict=True):
        counted[row] = counted.get(row, 0.0) + k / n
    guessed = dict(zip(map(tuple, seen.tolist()), turned.tolist(), strict=True))
    total = 0.0
    for row, f in counted.items():
        opposite = tuple(1 - v for v in row)
        other = counted.get(opposite, 0.0)
        # Share of the guess, times the chance of this report where it is true. The
        # share of y is (p f(y) - (1 - p) f(opposite)) / (2p - 1).
        if guessed[row]:
            total += (1 - truth) * (truth * other - (1 - truth) * f) / (2 * truth - 1)
        else:
            total += truth * (truth * f - (1 - truth) * other) / (2 * truth - 1)
        if opposite not in counted:  # a report nobody gave, but somebody might have
            total += _weigh_unseen(
                truth, f, guess_one_flipped(design, group, opposite, seen, times)
            )
    return float(min(max(total, 0.0), 1.0))


def guess_one_flipped(
    design: Design, group: Group, row: Sequence[int], seen: Codes, times: Codes
) -> bool:
    """Whether a report that did not occur would be taken as turned round."""
    with_it = np.vstack([seen, np.array([row])])
    return bool(guess_flipped(design, group, with_it, np.append(times, 0))[-1])


def _weigh_unseen(truth: float, f: float, turned: bool) -> float:
    """What a pair counts at a report that did not occur, whose opposite did."""
    if turned:
        return (1 - truth) * (truth * f) / (2 * truth - 1)
    return truth * (-(1 - truth) * f) / (2 * truth - 1)
