"""Latent classes: a population fitted through the channel that disguised it.

A mixture of classes in each of which answers are independent, fitted to disguised rows
by expectation and maximisation; or all cells of the table of records, stopped early,
which is its smoothing. What is fitted is a prior of whole records, as good as the data
make it. Reports are whole numbers, one axis per group; -1 where it was not asked.
Zhan, Chang, Matwin 2004, section 3.2, hold that a collector cannot know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.responses.channel_inverse import apply_channel, apply_transpose
from privet.responses.channels import Keep
from privet.responses.design import MarginalChannel

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

PSEUDO = 0.01
"""Added to every expected count, so that no share vanishes."""

APART = 0.25
"""How far classes start from the marginal shares."""

MOST_STEPS = 200
"""Steps of expectation and maximisation for a mixture."""

GROWTH = 1e-6
"""A mixture is fitted once ten steps gain less than this per row."""

DENSE = 64
"""Values of a group whose rows are summed by one product of matrices."""

TINY = 1e-300


@dataclass(frozen=True, eq=False)
class DisguisedRows:
    """Different rows of reports, how often each came, and how they were disguised."""

    pieces: tuple[MarginalChannel, ...]
    """The channel of each group, what is public included."""
    seen: Codes
    """One row per report, one column per group; -1: not asked."""
    times: Floats
    """How often each came."""

    @property
    def total(self) -> float:
        """How many rows there are."""
        return float(self.times.sum())

    @property
    def secret(self) -> list[int]:
        """The groups that are guessed."""
        return [g for g, p in enumerate(self.pieces) if not isinstance(p.channel, Keep)]

    def slice(self, first: int, last: int) -> DisguisedRows:
        """The rows from one place to another."""
        some = slice(first, last)
        return DisguisedRows(self.pieces, self.seen[some], self.times[some])

    def with_times(self, times: Floats) -> DisguisedRows:
        """Some of the rows."""
        kept = times > 0
        return DisguisedRows(self.pieces, self.seen[kept], times[kept])


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """A mixture of classes whose answers are independent."""

    weights: Floats
    """The share of each class."""
    shares: tuple[Floats, ...]
    """For each group the shares of its values, one column per class."""

    def score_rows(self, rows: DisguisedRows) -> Floats:
        """The logarithm of each class with each row: rows x classes."""
        found: Floats = np.tile(np.log(self.weights), (len(rows.seen), 1))
        for piece, share, column in zip(
            rows.pieces, self.shares, rows.seen.T, strict=True
        ):
            likely = np.log(np.maximum(apply_channel((piece,), share), TINY))
            told = np.vstack([likely, np.zeros(len(self.weights))])
            found += told[column]  # -1 is the last row: nothing was reported
        return found

    def log_likelihood(self, rows: DisguisedRows) -> float:
        """The mean logarithm of a row's probability."""
        return float((rows.times * _log_sum(self.score_rows(rows))).sum() / rows.total)


@dataclass(frozen=True, eq=False)
class RecordShares:
    """A share for every record there may be."""

    shares: Floats
    """One axis per group."""

    def log_likelihood(self, rows: DisguisedRows) -> float:
        """The mean logarithm of a row's probability."""
        likely = apply_channel(rows.pieces, self.shares)[tuple(rows.seen.T)]
        return float((rows.times * np.log(np.maximum(likely, TINY))).sum() / rows.total)


Population = LatentClasses | RecordShares
"""What was fitted."""


def _log_sum(scores: Floats) -> Floats:
    most = scores.max(axis=1)
    found: Floats = most + np.log(np.exp(scores - most[:, None]).sum(axis=1))
    return found


# Fitting ----------------------------------------------------------------------------


def fit_classes(rows: DisguisedRows, number: int, seed: int = 2004) -> LatentClasses:
    """The likeliest mixture of so many classes, from a start that is always one."""
    model = _start_classes(rows, number, np.random.default_rng(seed))
    sums = [_Summing(rows.seen[:, g], p.size) for g, p in enumerate(rows.pieces)]
    before = -np.inf
    for step in range(MOST_STEPS if number > 1 else MOST_STEPS // 4):
        scores = model.score_rows(rows)
        whole = _log_sum(scores)
        likely = float((rows.times * whole).sum() / rows.total)
        if step % 10 == 9:
            if likely - before < GROWTH:
                break
            before = likely
        model = _step(rows, model, np.exp(scores - whole[:, None]), sums)
    return model


class _Summing:
    """Sums of rows by their report in one group."""

    def __init__(self, column: Codes, size: int) -> None:
        self._there = column >= 0
        self._column, self._size = column[self._there], size
        self._all = bool(self._there.all())
        self._hot: Floats | None = None
        if size <= DENSE:
            self._hot = (np.arange(size)[:, None] == self._column).astype(float)

    def add(self, numbers: Floats) -> Floats:
        """(values, classes) from (rows, classes)."""
        some = numbers if self._all else numbers[self._there]
        if self._hot is not None:
            found: Floats = self._hot @ some
            return found
        return np.stack(
            [
                np.bincount(self._column, weights=c, minlength=self._size)
                for c in some.T
            ],
            axis=1,
        )


def _step(
    rows: DisguisedRows,
    model: LatentClasses,
    membership: Floats,
    sums: Sequence[_Summing],
) -> LatentClasses:
    """Expected counts of every class and value, as the next shares."""
    counted = membership * rows.times[:, None]
    weights = counted.sum(axis=0) + PSEUDO
    shares = []
    for piece, share, adder in zip(rows.pieces, model.shares, sums, strict=True):
        # Of report y a class expects its value x with P(x) M[y][x] / (M P)[y].
        by_report = adder.add(counted)
        seen = np.maximum(apply_channel((piece,), share), TINY)
        expected = share * apply_transpose((piece,), by_report / seen) + PSEUDO
        shares.append(expected / expected.sum(axis=0))
    return LatentClasses(weights / weights.sum(), tuple(shares))


def _start_classes(
    rows: DisguisedRows, number: int, rng: np.random.Generator
) -> LatentClasses:
    """Marginal shares, moved a little for each class."""
    shares = []
    for g, piece in enumerate(rows.pieces):
        there = rows.seen[:, g] >= 0
        counts = np.bincount(
            rows.seen[there, g], weights=rows.times[there], minlength=piece.size
        ).astype(float)
        share = _find_marginal(piece, counts)[:, None]
        if number > 1:
            moved = rng.uniform(-APART, APART, (piece.size, number))
            share = np.clip(share + moved * (2 / piece.size), 0.01 / piece.size, None)
        shares.append(share / share.sum(axis=0))
    return LatentClasses(np.full(number, 1 / number), tuple(shares))


def _find_marginal(piece: MarginalChannel, counts: Floats) -> Floats:
    """The likeliest shares of one group, with a little added to all."""
    share = np.full(piece.size, 1 / piece.size)
    total = max(counts.sum(), 1.0)
    for _ in range(200):
        seen = np.maximum(apply_channel((piece,), share), TINY)
        share = share * apply_transpose((piece,), counts / total / seen)
        share = (share * total + PSEUDO) / (share.sum() * total + PSEUDO * piece.size)
    return share


def fit_cells(
    rows: DisguisedRows, start: LatentClasses, steps: Sequence[int]
) -> list[RecordShares]:
    """Shares of all records after so many steps each, from independent answers."""
    shape = [p.size for p in rows.pieces]
    alone = np.ones(1)
    for share in start.shares:
        alone = np.multiply.outer(alone, share[:, 0])
    pi = 0.9 * alone.reshape(shape) + 0.1 / prod(shape)
    counts = np.zeros(shape)
    np.add.at(counts, tuple(rows.seen.T), rows.times / rows.total)
    found, done = [], 0
    for wanted in steps:
        for _ in range(wanted - done):
            seen = apply_channel(rows.pieces, pi)
            ratio = np.divide(counts, seen, out=np.zeros(shape), where=counts > 0)
            pi = pi * apply_transpose(rows.pieces, ratio)
        done = wanted
        found.append(RecordShares(pi / pi.sum()))
    return found


# Guessing ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Guesses:
    """The likeliest record of each row, and how likely it is."""

    records: Codes
    """One row per report, one column per group."""
    sure: Floats
    """The posterior of each."""

    def mean(self, times: Floats) -> float:
        """The share that is right, by the model's own word."""
        return float((self.sure * times).sum() / times.sum())


AT_ONCE = 2048
"""Rows that are guessed together."""


def guess_records(model: Population, rows: DisguisedRows) -> Guesses:
    """The record with the largest posterior for each row; of classes, nearly."""
    starts = range(0, len(rows.seen), AT_ONCE)
    some = [rows.slice(i, i + AT_ONCE) for i in starts]
    if isinstance(model, LatentClasses):
        parts = [_guess_by_classes(model, r) for r in some]
    else:
        parts = [_guess_by_cells(model, r) for r in some]
    return Guesses(
        np.concatenate([p.records for p in parts]),
        np.concatenate([p.sure for p in parts]),
    )


def _guess_by_classes(model: LatentClasses, rows: DisguisedRows) -> Guesses:
    """Each class's best record; the one that is likeliest under the mixture."""
    whole = _log_sum(model.score_rows(rows))
    best = np.full(len(rows.seen), -np.inf)
    records = np.zeros(rows.seen.shape, dtype=np.int64)
    truths = [
        _find_best_truths(p, s) for p, s in zip(rows.pieces, model.shares, strict=True)
    ]
    for c in range(len(model.weights)):
        guess = np.stack([t[rows.seen[:, g], c] for g, t in enumerate(truths)], axis=1)
        score = _score_guess(model, rows, guess)
        better = score > best
        best = np.where(better, score, best)
        records[better] = guess[better]
    return Guesses(records, np.exp(np.minimum(best - whole, 0.0)))


def _score_guess(model: LatentClasses, rows: DisguisedRows, guess: Codes) -> Floats:
    """The logarithm of a guess and the report together, under the mixture."""
    scores = np.tile(np.log(model.weights), (len(guess), 1))
    chance = np.zeros(len(guess))
    for g, piece in enumerate(rows.pieces):
        share = model.shares[g][guess[:, g]]
        scores += np.log(np.maximum(share, TINY))
        there = rows.seen[:, g] >= 0
        likely = find_chances(piece, rows.seen[there, g], guess[there, g])
        chance[there] += np.log(np.maximum(likely, TINY))
    return _log_sum(scores) + chance


def find_matrix(piece: MarginalChannel) -> Floats:
    """``M[y][x]`` of a channel, in floats."""
    return np.asarray(apply_channel((piece,), np.eye(piece.size)))


def find_chances(piece: MarginalChannel, seen: Codes, truth: Codes) -> Floats:
    """The probability of each report where some value is true."""
    if isinstance(piece.channel, Keep):
        return np.asarray(seen == truth, dtype=float)
    if piece.size <= 1024:
        dense = find_matrix(piece)
        return np.asarray(dense[seen, truth])
    # Large channels have one chance for the truth and another for all else.
    other = _find_other(piece)
    own = apply_channel((piece,), np.full(piece.size, 1 / piece.size))
    same = own * piece.size - other * (piece.size - 1)
    return np.asarray(np.where(seen == truth, same[seen], other[seen]))


def _find_other(piece: MarginalChannel) -> Floats:
    """The chance of each report where another value is true."""
    first, second = np.zeros(piece.size), np.zeros(piece.size)
    first[0], second[1] = 1.0, 1.0
    found = apply_channel((piece,), first)
    found[0] = apply_channel((piece,), second)[0]
    return np.asarray(found)


def _find_best_truths(piece: MarginalChannel, share: Floats) -> Codes:
    """The likeliest value of each report, for each class; the last row: not asked."""
    alone = np.argmax(share, axis=0)
    if piece.size <= 1024:
        dense = find_matrix(piece)
        told = np.stack([np.argmax(dense * s, axis=1) for s in share.T], axis=1)
        return np.vstack([told, alone])
    own = np.arange(piece.size)
    other = _find_other(piece)
    same = find_chances(piece, own, own)
    told = np.empty((piece.size, share.shape[1]), dtype=np.int64)
    for c, s in enumerate(share.T):
        first, second = np.argsort(-s, kind="stable")[:2]
        rest = np.where(own == first, second, first)
        told[:, c] = np.where(same * s >= other * s[rest], own, rest)
    return np.vstack([told, alone])


def _guess_by_cells(model: RecordShares, rows: DisguisedRows) -> Guesses:
    """The likeliest record, exactly: every record is weighed for every row."""
    flat, shape = model.shares.ravel(), model.shares.shape
    dense = [find_matrix(p) for p in rows.pieces]
    best, sure = np.zeros(len(rows.seen), dtype=np.int64), np.zeros(len(rows.seen))
    for i, y in enumerate(rows.seen):
        likely = np.ones(1)
        for matrix, at in zip(dense, y, strict=True):
            likely = np.outer(likely, matrix[at]).ravel()
        joint = flat * likely
        best[i] = np.argmax(joint)
        sure[i] = joint[best[i]] / max(float(joint.sum()), TINY)
    return Guesses(np.stack(np.unravel_index(best, shape), axis=1), sure)


# Drawing ----------------------------------------------------------------------------


def draw_records(model: Population, rows: int, rng: np.random.Generator) -> Codes:
    """So many records of the population that was fitted."""
    if isinstance(model, RecordShares):
        flat = rng.choice(model.shares.size, rows, p=model.shares.ravel())
        return np.stack(np.unravel_index(flat, model.shares.shape), axis=1)
    classes = rng.choice(len(model.weights), rows, p=model.weights)
    columns = [_draw_columns(share, classes, rng) for share in model.shares]
    return np.stack(columns, axis=1)


def _draw_columns(shares: Floats, at: Codes, rng: np.random.Generator) -> Codes:
    """A value for each row, with the chances in its own column of a table."""
    found = np.zeros(len(at), dtype=np.int64)
    for c in np.unique(at):
        some = np.flatnonzero(at == c)
        steps = np.cumsum(shares[:, c])
        found[some] = np.searchsorted(steps, rng.random(len(some)) * steps[-1])
    return np.minimum(found, len(shares) - 1)


def draw_reports(
    records: Codes, pieces: Sequence[MarginalChannel], rng: np.random.Generator
) -> Codes:
    """A disguise of records, for trying an attack; not for people's answers."""
    columns = []
    for piece, true in zip(pieces, records.T, strict=True):
        if isinstance(piece.channel, Keep):
            columns.append(true)
            continue
        if piece.size <= 1024:
            columns.append(_draw_columns(find_matrix(piece), true, rng))
            continue
        columns.append(_draw_large(piece, true, rng))
    return np.stack(columns, axis=1)


def _draw_large(piece: MarginalChannel, true: Codes, rng: np.random.Generator) -> Codes:
    """The truth with its own chance, else any by theirs."""
    other = _find_other(piece)
    extra = find_chances(piece, true, true) - other[true]
    drawn = rng.choice(piece.size, len(true), p=other / other.sum())
    return np.where(rng.random(len(true)) < extra, true, drawn)
