"""Red team of randomized response: a collector who guesses each true record.

Answers disguised one by one are guessed together, by a population that is fitted to the
disguised rows. Where answers are flipped together, as in the one-group scheme, one draw
covers all of them, and what is common in the population tells how it fell: the
collector then knows the whole record.
Zhan, Chang, Matwin 2004, section 3.2, hold that the collector cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.engine.protocol import Run
from privet.errors import EmptyTable, InputError
from privet.findings import Basis, Finding, Verdict
from privet.policy import Promise
from privet.responses.channels import Flip, Keep
from privet.responses.design import Design, Group
from privet.responses.recovery.latent_classes import (
    DisguisedRows,
    fit_classes,
    guess_records,
)
from privet.responses.recovery.record_recovery import (
    RecordGuess,
    find_commonest,
    find_reported,
    list_answers,
    recover_records,
)
from privet.responses.release import Responses
from privet.responses.report import say_recovered
from privet.values.adversaries import Collector
from privet.values.beliefs import Belief, Ceiling

Codes = NDArray[np.int64]

LEAST = 1e-9
"""A share that is estimated at zero or less counts as this rare."""

MOST_ROWS = 50_000
"""Rows that are attacked; of more, so many are drawn."""


@dataclass(frozen=True)
class Recovery:
    """How much a collector recovers; estimated, never certain."""

    records: float
    """The share of whole records that are guessed right."""
    spread: float
    """Its standard deviation, as far as drawn populations show it."""
    up_to: float
    """A figure that it is hardly above; policies are judged by it."""
    groups: Mapping[tuple[str, ...], float]
    """The share of people whose answers of a group are guessed right."""
    rows: int
    """How many disguised rows were attacked."""
    model: str = ""
    """The population that was fitted: so many classes, or all cells."""
    few: bool = False
    """Whether the rows are too few to tell it within some points."""
    commonest: float = 0.0
    """The share that is right if everybody is taken for the commonest record."""
    reported: float = 0.0
    """The share that is right if reports are taken as the truth."""
    answers: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    """The share of the commonest answer of each group."""
    guess: RecordGuess | None = field(default=None, repr=False, compare=False)
    """The population that was fitted, for guessing; None where all is flipped."""
    attacked: DisguisedRows | None = field(default=None, repr=False, compare=False)
    """The rows it was fitted to."""

    def guess_codes(self, seen: Codes, *, independently: bool = False) -> Codes:
        """The guessed record of each row of reports, one column per group.

        Reports and guesses are places among the values. `independently` guesses each
        answer by itself, which is the attack to be better than.
        """
        if self.guess is None or self.attacked is None:
            raise InputError("Answers that are flipped together are guessed by group.")
        model = self.guess.population
        if independently:
            model = fit_classes(self.attacked, 1)
        distinct, back = np.unique(seen, axis=0, return_inverse=True)
        rows = DisguisedRows(self.attacked.pieces, distinct, np.ones(len(distinct)))
        return guess_records(model, rows).records[back.ravel()]

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "records": self.records,
            "spread": self.spread,
            "up_to": self.up_to,
            "few": self.few,
            "model": self.model,
            "commonest": self.commonest,
            "reported": self.reported,
            "groups": [
                {
                    "columns": list(c),
                    "recovered": share,
                    "commonest": self.answers.get(c),
                }
                for c, share in self.groups.items()
            ],
            "rows": self.rows,
        }


# Attacking --------------------------------------------------------------------------


def attack_responses(responses: Responses, run: Run | None = None) -> Recovery:
    """Guess every record; which share is right is estimated from the rows, too."""
    design = responses.design
    if not design.drawn:
        raise InputError("A design must disguise something; everything is public.")
    columns = [c for g in design.groups for c in g.columns]
    table, times = responses.list_distinct(list(dict.fromkeys(columns)), run)
    if not times.sum():
        raise EmptyTable("Answers must be there to be attacked; there are none.")
    joint = [g for g in design.drawn if is_joint_flip(g)]
    flipped = {g.columns: recover_flipped(design, g, table, times) for g in joint}
    single = [g for g in design.groups if not is_joint_flip(g)]
    if all(isinstance(g.channel, Keep) for g in single):
        return _combine(None, flipped, int(times.sum()), None)
    rows = gather_rows(design, single, table, times)
    return _combine(recover_records(rows), flipped, int(rows.total), (single, rows))


def is_joint_flip(group: Group) -> bool:
    """Whether several answers are kept or turned round by one draw."""
    return isinstance(group.channel, Flip) and len(group.columns) > 1


def gather_rows(
    design: Design,
    groups: Sequence[Group],
    table: Mapping[str, Codes],
    times: NDArray[Any],
) -> DisguisedRows:
    """Reports as one number per group, each row once, in an order of its own."""
    columns = []
    for group in groups:
        codes = [table[c] for c in group.columns]
        sizes = [len(design.question(c)) for c in group.columns]
        missing = np.any([c < 0 for c in codes], axis=0)
        packed = np.ravel_multi_index([np.maximum(c, 0) for c in codes], sizes)
        columns.append(np.where(missing, -1, packed))
    seen, back = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    counts = np.bincount(back.ravel(), weights=times, minlength=len(seen)).astype(float)
    if counts.sum() > MOST_ROWS:
        rng = np.random.default_rng(2004)
        counts = rng.multinomial(MOST_ROWS, counts / counts.sum()).astype(float)
    pieces = tuple(design.piece(g, g.columns) for g in groups)
    return DisguisedRows(pieces, seen, counts).with_times(counts)


def _combine(
    guess: RecordGuess | None,
    flipped: Mapping[tuple[str, ...], float],
    rows: int,
    single: tuple[Sequence[Group], DisguisedRows] | None,
) -> Recovery:
    """Groups that are flipped together, and all others."""
    share = prod(flipped.values()) if flipped else 1.0
    if guess is None or single is None:
        return Recovery(share, 0.0, 1.0, flipped, rows, "flips", False)
    groups, data = single
    told = {groups[g].columns: both for g, *both in list_answers(guess.classes, data)}
    return Recovery(
        guess.recovered * share,
        guess.spread,
        # A joint flip publishes which answers agree: nothing bounds what that tells.
        1.0 if flipped else guess.up_to,
        {c: right for c, (right, _) in told.items()} | dict(flipped),
        rows,
        guess.model,
        guess.few,
        find_commonest(guess.population, data),
        find_reported(guess.classes, data),
        {c: most for c, (_, most) in told.items()},
        guess,
        data,
    )


# Judging ----------------------------------------------------------------------------


def judge_collector(
    responses: Responses, promises: Sequence[Promise], run: Run, notes: Any
) -> list[Finding]:
    """Judge promises on the share of records guessed right, by its upper figure."""
    found = attack_responses(responses, run)
    return [_judge_recovery(found, p) for p in promises]


def _judge_recovery(found: Recovery, promise: Promise) -> Finding:
    if not isinstance(promise.limit, Ceiling):
        raise InputError(
            "limit must be a Ceiling against collectors: a share of records; got "
            f"{promise.limit!r}."
        )
    # Rounded up to a thousandth: an estimate has no more digits than that.
    most = min(Fraction(ceil(1000 * found.up_to), 1000), Fraction(1))
    guessed = max(found.commonest, 0.0)
    belief = Belief(Fraction(min(ceil(1000 * guessed), 1000), 1000), most)
    verdict = Verdict.SAFE if promise.limit.holds(belief) else Verdict.BREACH
    details = found.to_dict()
    note = say_recovered(details)
    return Finding(promise, verdict, Basis.MODEL, belief, note=note, details=details)


# Joint flips ------------------------------------------------------------------------


def recover_flipped(
    design: Design, group: Group, table: Mapping[str, Codes], times: NDArray[Any]
) -> float:
    """The share of right guesses about a group that is flipped together."""
    columns = np.stack([table[c] for c in group.columns], axis=1)
    there = (columns >= 0).all(axis=1)
    seen, back = np.unique(columns[there], axis=0, return_inverse=True)
    counts = np.bincount(back.ravel(), weights=times[there], minlength=len(seen))
    return estimate_recovered(group, seen, counts.astype(np.int64))


def guess_group(group: Group, seen: Codes, times: Codes | None = None) -> Codes:
    """The likeliest truth of each reported row of a group that is flipped together.

    One row per report, one column per question.
    """
    counted = np.ones(len(seen), dtype=np.int64) if times is None else times
    turned = guess_flipped(group, seen, counted)
    return np.where(turned[:, None], 1 - seen, seen)


def guess_flipped(group: Group, seen: Codes, times: Codes) -> NDArray[np.bool_]:
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


def estimate_recovered(group: Group, seen: Codes, times: Codes) -> float:
    """The share of right guesses, estimated without the truth; within 0 to 1."""
    assert isinstance(group.channel, Flip)
    n = times.sum()
    truth = float(group.channel.truth)
    turned = guess_flipped(group, seen, times)
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
            turned_too = guess_one_flipped(group, opposite, seen, times)
            total += _weigh_unseen(truth, f, turned_too)
    return float(min(max(total, 0.0), 1.0))


def guess_one_flipped(
    group: Group, row: Sequence[int], seen: Codes, times: Codes
) -> bool:
    """Whether a report that did not occur would be taken as turned round."""
    with_it = np.vstack([seen, np.array([row])])
    return bool(guess_flipped(group, with_it, np.append(times, 0))[-1])


def _weigh_unseen(truth: float, f: float, turned: bool) -> float:
    """What a pair counts at a report that did not occur, whose opposite did."""
    if turned:
        return (1 - truth) * (truth * f) / (2 * truth - 1)
    return truth * (-(1 - truth) * f) / (2 * truth - 1)


__all__ = ["Collector", "Recovery", "attack_responses", "judge_collector"]
