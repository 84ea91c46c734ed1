"""Record recovery: which share of whole records a collector guesses right, estimated.

Populations are fitted to the disguised rows, the one that predicts held-out rows best
is taken, and every record is guessed by it. Its own word for the share that is right
is too high, as it knows the rows; a parametric bootstrap tells by how much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from privet.responses.recovery.latent_classes import (
    Codes,
    DisguisedRows,
    Floats,
    LatentClasses,
    Population,
    RecordShares,
    draw_records,
    draw_reports,
    find_chances,
    find_matrix,
    fit_cells,
    fit_classes,
    guess_records,
)

CLASSES = (1, 2, 4, 8, 16, 32)
"""Numbers of classes that are tried."""

STEPS = (20, 60, 200, 800)
"""Steps after which the shares of all records are looked at."""

MOST_RECORDS = 2**16
"""Records whose shares are fitted one by one."""

MOST_VALUES = 4096
"""Values of a group beyond which classes are not told apart."""

TRIALS = 5
"""Populations drawn from the fitted one, disguised and attacked."""

SPREAD = 0.02
"""A standard deviation beyond this says that there are too few rows."""

GAP = 0.05
"""So does an upper figure that lies further beyond the stated one."""


@dataclass(frozen=True)
class RecordGuess:
    """What guessing whole records comes to."""

    recovered: float
    """The share that is right, corrected."""
    spread: float
    """The standard deviation of the correction."""
    up_to: float
    """A figure that the share is hardly above."""
    model: str
    """The population that was fitted."""
    population: Population
    """The same, for more questions."""
    classes: LatentClasses
    """The best mixture of classes."""

    @property
    def few(self) -> bool:
        """Whether the rows are too few to tell it more closely."""
        return self.spread > SPREAD or self.up_to - self.recovered > GAP


def recover_records(rows: DisguisedRows, seed: int = 2004) -> RecordGuess:
    """Fit, choose, guess and correct; the same each time for the same rows."""
    rng = np.random.default_rng(seed)
    number, steps = _choose_population(rows, rng)
    classes = fit_classes(rows, number)
    model, name = _fit_named(rows, number, steps, classes)
    said = guess_records(model, rows).mean(rows.times)
    apart = [_try_once(rows, model, number, steps, rng) for _ in range(TRIALS)]
    stated = min(max(said + float(np.mean(apart)), 0.0), 1.0)
    return RecordGuess(
        stated,
        float(np.std(apart, ddof=1)),
        _find_upper(rows, stated, said),
        name,
        model,
        classes,
    )


def _fit_named(
    rows: DisguisedRows, number: int, steps: int, classes: LatentClasses
) -> tuple[Population, str]:
    if not steps:
        return classes, f"classes({number})"
    return _fit_again(rows, number, steps), f"cells({steps})"


def _fit_again(rows: DisguisedRows, number: int, steps: int) -> Population:
    if not steps:
        return fit_classes(rows, number)
    return fit_cells(rows, fit_classes(rows, 1), [steps])[0]


def _find_upper(rows: DisguisedRows, stated: float, said: float) -> float:
    """The stated share, or what the boldest fit claims: it overstates."""
    if not _has_cells(rows):
        return max(stated, said)
    (bold,) = fit_cells(rows, fit_classes(rows, 1), STEPS[-1:])
    return max(stated, guess_records(bold, rows).mean(rows.times))


def _has_cells(rows: DisguisedRows) -> bool:
    """Whether all records can be listed, and every row tells of all groups."""
    sizes = [p.size for p in rows.pieces]
    small = prod(sizes) <= MOST_RECORDS and max(sizes) <= MOST_VALUES // 4
    return small and bool((rows.seen >= 0).all())


# Choosing ---------------------------------------------------------------------------


def _choose_population(
    rows: DisguisedRows, rng: np.random.Generator
) -> tuple[int, int]:
    """How many classes, and after how many steps all cells, predict held-out rows best.

    0 steps: classes are better.
    """
    half = rng.binomial(rows.times.astype(np.int64), 0.5).astype(float)
    folds = [rows.with_times(half), rows.with_times(rows.times - half)]
    if not all(len(f.seen) for f in folds):
        return 1, 0
    pairs = [(folds[0], folds[1]), (folds[1], folds[0])]
    best, number = -np.inf, 1
    large = max(p.size for p in rows.pieces) > MOST_VALUES
    for k in CLASSES[:1] if large else CLASSES:
        likely = sum(fit_classes(a, k).log_likelihood(b) for a, b in pairs)
        if likely <= best:
            break  # more classes would only learn the rows by heart
        best, number = likely, k
    if not _has_cells(rows):
        return number, 0
    found = np.zeros(len(STEPS))
    for a, b in pairs:
        fitted = fit_cells(a, fit_classes(a, 1), STEPS)
        found += [f.log_likelihood(b) for f in fitted]
    at = int(np.argmax(found))
    return (number, STEPS[at]) if found[at] > best else (number, 0)


# The bootstrap ----------------------------------------------------------------------


def _try_once(
    rows: DisguisedRows,
    model: Population,
    number: int,
    steps: int,
    rng: np.random.Generator,
) -> float:
    """By how much the attack is worse than it says, on people drawn from the model."""
    people = round(rows.total)
    records = draw_records(model, people, rng)
    reports = draw_reports(records, rows.pieces, rng)
    reports[_draw_unasked(rows, people, rng)] = -1
    distinct, back, times = np.unique(
        reports, axis=0, return_inverse=True, return_counts=True
    )
    again = DisguisedRows(rows.pieces, distinct, times.astype(float))
    guesses = guess_records(_fit_again(again, number, steps), again)
    secret = rows.secret
    right = guesses.records[back.ravel()][:, secret] == records[:, secret]
    return float(right.all(axis=1).mean()) - guesses.mean(again.times)


def _draw_unasked(
    rows: DisguisedRows, people: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which groups are not asked, as often as in the rows."""
    if (rows.seen >= 0).all():
        return np.zeros((people, rows.seen.shape[1]), dtype=bool)
    some = rng.choice(len(rows.seen), people, p=rows.times / rows.total)
    return np.asarray(rows.seen[some] < 0)


# Beside it --------------------------------------------------------------------------


def find_commonest(model: Population, rows: DisguisedRows) -> float:
    """The share of the commonest secret record: guessing it for everybody."""
    if isinstance(model, RecordShares):
        open_ = tuple(g for g in range(len(rows.pieces)) if g not in rows.secret)
        return float(model.shares.sum(axis=open_).max())
    found = 0.0
    for c in range(len(model.weights)):
        chances = model.weights.copy()
        for g in rows.secret:
            chances = chances * model.shares[g][np.argmax(model.shares[g][:, c])]
        found = max(found, float(chances.sum()))
    return found


def find_reported(model: LatentClasses, rows: DisguisedRows) -> float:
    """The share of records that are reported as they are."""
    kept = model.weights.copy()
    for g in rows.secret:
        piece = rows.pieces[g]
        if piece.size <= 1024:
            same = np.diag(find_matrix(piece))
        else:
            own = np.arange(piece.size)
            same = find_chances(piece, own, own)
        kept = kept * (same @ model.shares[g])
    return float(kept.sum())


def list_answers(
    model: LatentClasses, rows: DisguisedRows
) -> Iterator[tuple[int, float, float]]:
    """For each secret group: the share guessed right, and its commonest value's."""
    scores = model.score_rows(rows)
    membership = np.exp(scores - scores.max(axis=1, keepdims=True))
    membership /= membership.sum(axis=1, keepdims=True)
    for g in rows.secret:
        marginal = model.shares[g] @ model.weights
        right = _guess_group(model, rows, g, membership)
        yield g, right, float(marginal.max())


def _guess_group(
    model: LatentClasses, rows: DisguisedRows, g: int, membership: Floats
) -> float:
    """The mean posterior of the likeliest value of one group."""
    piece, share, total = rows.pieces[g], model.shares[g], 0.0
    for y in np.unique(rows.seen[:, g]):
        at: Codes = np.flatnonzero(rows.seen[:, g] == y)
        likely = np.ones(piece.size)
        if y >= 0:
            values = np.arange(piece.size)
            likely = find_chances(piece, np.full(piece.size, y), values)
        expected = share * likely[:, None]  # values x classes
        expected /= np.maximum(expected.sum(axis=0), 1e-300)
        best = (membership[at] @ expected.T).max(axis=1)
        total += float((best * rows.times[at]).sum())
    return total / rows.total
